//! What a model is told of commands in the background.
//!
//! Ids, paths and times are in footers alone: none of them makes two equal results differ.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

use crate::kernel::tool::Output;
use crate::product::job::{JobFacts, Kind, Look, Status};
use crate::product::sandbox::Process;
use crate::product::sandbox::process::Ending;
use crate::product::tool::bash::still_running;
use crate::product::tool::save::words;

/// That a command goes on without its call.
pub(in crate::product::tool) const MOVED: &str = "moved to the background by the user";

/// The same, and how it is reached from now on.
pub(in crate::product::tool) fn moved(id: &str) -> String {
    format!(
        "moved to the background as job {id} by the user: it goes on; job_output shows what it prints, job_stop ends it"
    )
}

/// What has been started, as it stands a moment later.
pub(in crate::product::tool) fn started(look: Look) -> Output {
    let JobFacts { id, kind, status, .. } = &look.facts;
    let noun = match kind {
        Kind::Job => format!("job {id}"),
        Kind::Service => format!("service, id {id}"),
    };
    let log = look.log.as_ref().map_or_else(String::new, |log| format!("; its output goes to {}", log.display()));
    let footer = match status {
        Status::Running => {
            format!("started {noun}{log}: it runs on; job_output shows what it prints, job_stop ends it")
        }
        Status::Stopped | Status::Exited(_) => {
            format!("started {noun}{log}; it has ended already\n{}", ending(*status))
        }
    };
    // How much a command prints in its first moment differs from run to run.
    let fingerprint = if *status == Status::Running { hash(kind.as_str()) } else { look.fingerprint };
    let is_error = !is_fine(*status);
    Output { is_error, ..shown(look, footer, fingerprint) }
}

/// What is new of one.
pub(in crate::product::tool) fn looked(look: Look) -> Output {
    let JobFacts { id, kind, status, .. } = &look.facts;
    let silent = if look.is_silent() { "nothing new was printed\n" } else { "" };
    let skipped = match look.skipped {
        0 => String::new(),
        bytes => format!("{bytes} bytes before this were skipped; the log has them\n"),
    };
    let left = if look.left.is_empty() { String::new() } else { format!("{}\n", still_running(&look.left)) };
    let footer = format!("{silent}{skipped}{left}{} {id}: {}", kind.as_str(), ending(*status));
    let fingerprint = look.fingerprint;
    shown(look, footer, fingerprint)
}

/// That one was ended.
pub(in crate::product::tool) fn stopped(before: &JobFacts, left: &[Process]) -> Output {
    let JobFacts { id, kind, status, .. } = before;
    let kind = kind.as_str();
    match (status, left) {
        (Status::Running, []) => Output::ok(format!("stopped {kind} {id}: it and all it started were ended")),
        (Status::Running, left) => Output::error(format!("{kind} {id} would not end: {}", still_running(left))),
        (Status::Stopped | Status::Exited(_), _) => {
            Output::ok(format!("{kind} {id} had ended already: {}", ending(*status)))
        }
    }
}

fn shown(look: Look, footer: String, fingerprint: u64) -> Output {
    let Look { text, full_output, .. } = look;
    let (full_output, not_kept) = match full_output {
        Ok(path) => (path, None),
        Err(error) => (None, Some(words(&error))),
    };
    Output { text, footer: Some(footer), full_output, not_kept, fingerprint: Some(fingerprint), ..Output::default() }
}

fn ending(status: Status) -> String {
    match status {
        Status::Exited(Some(Ending::Exited(code))) => format!("exit code: {code}"),
        Status::Exited(None) => "it has ended; how is not known".to_owned(),
        Status::Running | Status::Stopped | Status::Exited(Some(_)) => status.to_string(),
    }
}

fn is_fine(status: Status) -> bool {
    match status {
        Status::Running | Status::Exited(Some(Ending::Exited(0)) | None) => true,
        Status::Stopped | Status::Exited(Some(_)) => false,
    }
}

fn hash(text: &str) -> u64 {
    let mut hash = XxHash3_64::new();
    hash.write(text.as_bytes());
    hash.finish()
}
