//! `agent trust [DIR]`: shows what a project would bring in, and asks.
//!
//! Starts with a configuration that is broken; grants nothing without a clear yes.

use std::io::{self, BufRead, Write};
use std::path::Path;

use super::{DONE, NO, says_yes, written};
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::text::visible;
use crate::product::config::trust::{self, Trust};
use crate::product::config::{Flags, Loaded, ProjectTrust, inspect};
use crate::product::error::Error;

/// Shows and asks. The answer is one line of `input`; an end without one is a no.
///
/// Returns 0 when the project is trusted or needs no trust, 1 when the answer was no.
///
/// # Errors
///
/// Usage: a folder that does not exist. Failed: a record that cannot be written.
pub fn run(
    folder: Option<&Path>,
    env: &Env,
    flags: &Flags,
    clock: Clock,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<u8, Error> {
    let mut env = env.clone();
    if let Some(folder) = folder {
        env.cwd = env.absolute(folder);
        if !env.cwd.is_dir() {
            return Err(Error::usage(format!("{}: no such folder", folder.display())));
        }
    }
    let flags = Flags { project: ProjectTrust::AsRecorded, ..flags.clone() };
    let loaded = inspect(&env, &flags);
    let root = &loaded.project.root;
    match loaded.trust {
        Trust::NotNeeded => written(
            writeln!(out, "{} brings nothing that needs trust", visible::line(&root.display().to_string()))
                .map(|()| DONE),
        ),
        Trust::Given => written(
            writeln!(out, "{} is trusted as it stands", visible::line(&root.display().to_string())).map(|()| DONE),
        ),
        Trust::Missing | Trust::Changed | Trust::ThisRun => {
            let answer = match ask(&loaded, input, out) {
                Ok(answer) => answer,
                Err(error) => return written(Err(error)),
            };
            if !answer {
                return written(writeln!(out, "not trusted").map(|()| NO));
            }
            trust::give(&loaded.paths.data_dir, root, &loaded.withheld, clock)
                .map_err(|error| Error::failed(error.to_string()))?;
            written(writeln!(out, "trusted until it changes").map(|()| DONE))
        }
    }
}

fn ask(loaded: &Loaded, input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<bool> {
    let root = loaded.project.root.display().to_string();
    let root = visible::line(&root);
    let what = match loaded.trust {
        Trust::Changed => "has changed since you trusted it, and would now bring in",
        Trust::NotNeeded | Trust::Missing | Trust::ThisRun | Trust::Given => "would bring in",
    };
    write!(out, "{root} {what}:\n\n{}\nTrust this project? [y/N] ", loaded.withheld.shown())?;
    out.flush()?;
    let is_sure = says_yes(input);
    // Piped input is not echoed: the next words would stand in the same line.
    writeln!(out)?;
    Ok(is_sure)
}
