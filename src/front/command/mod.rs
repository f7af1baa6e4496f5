//! Commands that are no task: each a function from its arguments to what it writes and an exit code.
//!
//! Reads the terminal only through what it is given, and never the environment.

pub mod auth;
pub mod chains;
pub mod completions;
pub mod config;
pub mod doctor;
pub mod jobs;
pub mod models;
pub mod rules;
pub mod sessions;
pub mod skills;
pub mod slash;
pub mod tools;
pub mod trust;
pub mod undo;

use std::io::{self, BufRead};

use crate::product::error::Error;

/// The exit code of a command that did what it was asked.
pub const DONE: u8 = 0;
/// The exit code of a command whose answer is no.
pub const NO: u8 = 1;

/// For whom something is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// People.
    #[default]
    Text,
    /// Programs: one JSON value.
    Json,
}

/// The largest answer to a yes-or-no question that is read, in bytes.
const MAX_ANSWER: u64 = 4096;

/// Whether the next line of `input` says yes. What is no text is no yes, and neither is the end.
fn says_yes(input: &mut dyn BufRead) -> bool {
    let mut answer = String::new();
    let read = io::Read::take(input, MAX_ANSWER).read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// A failure to write what a command has to say. A reader that left early is none.
pub fn written(outcome: io::Result<u8>) -> Result<u8, Error> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(DONE),
        Err(error) => Err(Error::failed("the output could not be written").caused_by(error)),
        Ok(code) => Ok(code),
    }
}

#[cfg(test)]
mod tests;
