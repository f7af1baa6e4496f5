//! What the data folder holds, and `agent doctor --prune`: what nobody needs any more goes.
//!
//! Asks nothing, and never touches a session.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::Section;
use crate::base::clock::Clock;
use crate::base::json::Object;
use crate::base::text::numbers::{self, count};
use crate::base::text::visible;
use crate::front::command::{DONE, Form, NO, written};
use crate::product::error::Error;
use crate::product::upkeep::prune::{self, Removed};
use crate::product::upkeep::size::Size;

/// The section's title.
pub(super) const TITLE: &str = "storage";
/// So much altogether is worth a remark: more than years of work take.
const MUCH_BYTES: u64 = 5_000_000_000;

pub(super) fn section(sizes: &[Size]) -> Section {
    let mut section = Section::new(TITLE);
    for Size { part, bytes, files, is_whole } in sizes {
        let least = if *is_whole { "" } else { "at least " };
        section.line(part, format!("{least}{} in {}", numbers::size(*bytes), count(*files, "file")));
    }
    if sizes.iter().map(|size| size.bytes).sum::<u64>() > MUCH_BYTES {
        section.remark("`agent doctor --prune` removes what nobody needs any more");
    }
    section
}

pub(super) fn as_json(sizes: &[Size]) -> Value {
    let one = |size: &Size| {
        let Size { part, bytes, files, is_whole } = *size;
        (part.to_owned(), json!({"bytes": bytes, "files": files, "whole": is_whole}))
    };
    Value::Object(sizes.iter().map(one).collect())
}

/// Removes what nobody needs any more and says what it was. Returns 0, or 1 when something could not be removed.
///
/// # Errors
///
/// When it cannot be written.
pub fn prune(data_dir: &Path, clock: Clock, form: Form, out: &mut dyn Write) -> Result<u8, Error> {
    let removed = prune::prune(data_dir, clock.now_ms());
    let bytes = removed.iter().map(|removed| removed.bytes).sum();
    let told = match form {
        Form::Json => writeln!(out, "{}", freed_as_json(&removed, bytes)),
        Form::Text => freed(&removed, bytes, out),
    };
    let failed = removed.iter().any(|removed| removed.problem.is_some());
    written(told.map(|()| if failed { NO } else { DONE }))
}

fn freed(removed: &[Removed], bytes: u64, out: &mut dyn Write) -> std::io::Result<()> {
    for Removed { what, files, bytes, problem } in removed {
        if *files > 0 {
            writeln!(out, "removed {}, {}", count(*files, what), numbers::size(*bytes))?;
        }
        if let Some(problem) = problem {
            writeln!(out, "could not remove every {what}: {}", visible::line(problem))?;
        }
    }
    match removed.iter().any(|removed| removed.files > 0) {
        true => writeln!(out, "{} freed", numbers::size(bytes)),
        false => writeln!(out, "nothing to remove"),
    }
}

fn freed_as_json(removed: &[Removed], bytes: u64) -> Value {
    let one = |removed: &Removed| {
        let Removed { what, files, bytes, problem } = removed;
        ((*what).to_owned(), json!({"files": files, "bytes": bytes, "problem": problem}))
    };
    json!({"bytes": bytes, "removed": removed.iter().map(one).collect::<Object>()})
}
