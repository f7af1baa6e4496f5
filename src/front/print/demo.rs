//! `agent demo` without a terminal: the recorded repair, printed as one-shot prints.

use std::path::Path;

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::front::out::Out;
use crate::front::stdin::Reading;
use crate::front::stop::Stop;
use crate::product::app::plan::Mode;
use crate::product::app::{Parts, Which, headless};
use crate::product::config::load;
use crate::product::demo::{self, Demo};
use crate::product::error::Error;
use crate::product::job::Jobs;
use crate::product::journal::Journal;
use crate::product::provider::choose::choose;

use super::one_shot::{self, Asked, Goal};
use super::{Printer, Style, Talk};

/// Unpacks the project, plays the repair, and shows what it changed. The exit code is 0 only if the project's tests ran
/// green at the end.
///
/// # Errors
///
/// When the project cannot be unpacked, or stdout cannot be written.
pub fn run(
    keep: Option<&Path>,
    style: Style,
    env: &Env,
    clock: Clock,
    stop: &Stop,
    out: &mut Out<'_>,
) -> Result<u8, Error> {
    let demo = Demo::unpack(keep.map(|folder| env.absolute(folder)).as_deref())?;
    let env = demo.surroundings(env);
    let loaded = load(&env, &demo.flags())?;
    let choice = choose(&loaded, &env, stop.cancel())?;
    // It leaves no trace.
    let (journal, jobs) = (Journal::default(), Jobs::new(&loaded.paths.data_dir, clock));
    let (session, mode) = (Which::Unkept, Mode::Work);
    let parts = Parts { loaded: &loaded, choice, env: &env, clock, session, journal, mode, jobs };
    let assembled = headless(parts)?;
    let prompt = demo::PROMPT;
    out.talk(&format!("A small project with a failing test lies in {}. Now: {prompt}", demo.project.display()));
    let asked =
        Asked { prompt: Some(prompt.to_owned()), expanded: None, reading: Reading::Never, pictures: Vec::new() };
    let code = one_shot::run(assembled, &asked, &Goal::GreenCommand, stop, &mut Printer::new(out, style))?;
    out.talk(demo.changes().trim_end());
    if code == 0 && style.talk != Talk::Quiet {
        out.talk(demo::NEXT);
    }
    if keep.is_some() {
        out.talk(&format!("The project is kept in {}.", demo.project.display()));
    }
    Ok(code)
}
