//! What there is to know of a job or a service: its kind, how it stands, what is new of it.
//!
//! Plain values; nothing here starts, reads or ends anything.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::kernel::tool::Captured;
use crate::product::sandbox::Process;
use crate::product::sandbox::capture::Outcome;
use crate::product::sandbox::process::Ending;

/// What becomes of something when its agent ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It ends, too.
    Job,
    /// It stays.
    Service,
}

impl Kind {
    /// The word of the event vocabulary.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Service => "service",
        }
    }
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It runs.
    Running,
    /// It was ended.
    Stopped,
    /// It has ended by itself; how is unknown of a service of an earlier run.
    Exited(Option<Ending>),
}

impl Status {
    /// The word of the event vocabulary.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Exited(_) => "exited",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(Some(Ending::Exited(code))) => write!(f, "exited, exit code: {code}"),
            Self::Exited(Some(Ending::Signalled(number))) => write!(f, "exited, killed by signal {number}"),
            Self::Running | Self::Stopped | Self::Exited(None | Some(Ending::TimedOut | Ending::Interrupted)) => {
                f.write_str(self.as_str())
            }
        }
    }
}

/// What there is to know of one, without its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFacts {
    /// Its id: `j1` within this run, `s-1a2b` for services.
    pub id: String,
    /// Its shell line, without known secrets.
    pub command: String,
    /// What becomes of it.
    pub kind: Kind,
    /// How it stands.
    pub status: Status,
}

impl JobFacts {
    /// What to tell a model of one that has ended by itself, in a sentence.
    pub fn news(&self) -> String {
        let Self { id, kind, status, command: _ } = self;
        format!("The {} {id} has ended by itself ({status}); job_output shows what it printed.", kind.as_str())
    }
}

/// What is new of one.
#[derive(Debug)]
pub struct Look {
    /// Which, and how it stands.
    pub facts: JobFacts,
    /// What it has printed since the last look, cleaned and masked; the middle is missing where it was long.
    pub text: Captured,
    /// Where all of that is, if it was long; else what the disk said.
    pub full_output: io::Result<Option<PathBuf>>,
    /// Of the whole text and the status.
    pub fingerprint: u64,
    /// The log of a service.
    pub log: Option<PathBuf>,
    /// Bytes of the log before the text that are not shown.
    pub skipped: u64,
    /// What would not end.
    pub left: Vec<Process>,
}

impl Look {
    pub(super) fn new(
        outcome: Outcome,
        skipped: u64,
        facts: JobFacts,
        log: Option<PathBuf>,
        left: Vec<Process>,
    ) -> Self {
        let Outcome { text, full_output, fingerprint } = outcome;
        let full_output = if log.is_some() { Ok(log.clone()) } else { full_output };
        Self { facts, text, full_output, fingerprint, log, skipped, left }
    }

    pub(super) fn unreadable(error: &io::Error, facts: JobFacts, log: &Path) -> Self {
        let text = Captured::whole(format!("the log cannot be read: {error}\n"));
        Self { text, ..Self::empty(facts, Some(log.to_owned())) }
    }

    pub(super) fn empty(facts: JobFacts, log: Option<PathBuf>) -> Self {
        let text = Captured::default();
        Self { facts, text, full_output: Ok(None), fingerprint: 0, log, skipped: 0, left: Vec::new() }
    }

    /// Whether nothing was printed.
    pub fn is_silent(&self) -> bool {
        self.text.head.is_empty() && self.text.gap.is_none()
    }
}
