//! `agent demo` on a terminal: the recorded repair, played in the ordinary chat.

use std::path::Path;

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::front::out::{Colour, Out};
use crate::front::stop::Stop;
use crate::product::app::Which;
use crate::product::config::load;
use crate::product::demo::{self, Demo};
use crate::product::error::Error;
use crate::product::journal::Journal;

use super::run::{self, Chat};

/// Unpacks the project and plays the repair; it ends by itself. The exit code is 0 only if the project's tests ran green
/// at the end, and 130 if somebody stopped it.
///
/// # Errors
///
/// When the project cannot be unpacked, or there is no terminal to be had.
pub fn run(
    keep: Option<&Path>,
    colour: Colour,
    env: &Env,
    clock: Clock,
    stop: &Stop,
    out: &mut Out<'_>,
) -> Result<u8, Error> {
    let demo = Demo::unpack(keep.map(|folder| env.absolute(folder)).as_deref())?;
    let (env, flags) = (demo.surroundings(env), demo.flags());
    let loaded = load(&env, &flags)?;
    // It leaves no trace.
    let journal = Journal::default();
    let (session, first) = (Which::Unkept, Some(demo::PROMPT.to_owned()));
    let code = run::run(
        Chat {
            loaded,
            flags,
            env,
            clock,
            session,
            first,
            pictures: Vec::new(),
            colour,
            performs: true,
            until: None,
            plan: false,
            journal,
        },
        stop,
    )?;
    out.talk("");
    if keep.is_some() {
        out.talk(&format!("The project is kept in {}.", demo.project.display()));
    }
    if code == 0 {
        out.talk(demo::NEXT);
    }
    Ok(code)
}
