//! `agent completions SHELL`: what a shell needs to complete our command line.
//!
//! The command line itself is declared elsewhere and passed in.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::product::error::Error;

/// Writes the script for a shell.
///
/// # Errors
///
/// When it cannot be written.
pub fn run(shell: Shell, mut command: clap::Command, out: &mut dyn Write) -> Result<u8, Error> {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut script);
    super::written(write_all(out, &script))
}

fn write_all(out: &mut dyn Write, script: &[u8]) -> io::Result<u8> {
    out.write_all(script)?;
    out.flush()?;
    Ok(super::DONE)
}
