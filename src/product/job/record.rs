//! What is written down of jobs and services, so that another process finds them: a small JSON file each in `jobs/`.
//!
//! A number is trusted only with the moment its holder started. What no longer runs is forgotten when it is met.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::product::files;
use crate::product::sandbox::known::Known;

/// Where they are, below the data folder.
const FOLDER: &str = "jobs";

/// How long the jobs of a killed agent may take to end.
const ORPHAN_GRACE: Duration = Duration::from_millis(500);

/// The variable that marks the processes of a service.
pub(super) const MARK: &str = "VIOLA_SERVICE";

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its id; that of a job is its agent's alone.
    pub id: String,
    /// What becomes of it when its agent ends.
    pub kind: Kind,
    /// Its shell line, without known secrets.
    pub command: String,
    /// Where it was started.
    pub cwd: PathBuf,
    /// When, in milliseconds since 1970.
    pub since_ms: i64,
    /// Where its output goes; only a service has one.
    pub log: Option<PathBuf>,
    /// Its processes.
    pub(super) process: Numbers,
    /// The agent that started it.
    pub(super) owner: Numbers,
}

/// What a process is known by; see [`Known`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Numbers {
    pid: u32,
    started: u64,
    boot: String,
}

impl Numbers {
    pub(super) fn of(pid: u32) -> Option<Self> {
        let Known { pid, started, boot, mark: _ } = Known::of(pid, String::new())?;
        Some(Self { pid, started, boot })
    }

    /// A process that had the same number.
    #[cfg(test)]
    pub(super) fn begun_earlier(&self) -> Self {
        Self { started: self.started - 1, ..self.clone() }
    }

    fn known(&self, mark: String) -> Known {
        Known { pid: self.pid, started: self.started, boot: self.boot.clone(), mark }
    }
}

impl Record {
    /// What there is to say of a process that has just been started. None where the system tells too little of processes
    /// to find one again.
    pub(super) fn of(new: New<'_>) -> Option<Self> {
        let New { pid, id, kind, command, cwd, since_ms, log } = new;
        Some(Self {
            id: id.to_owned(),
            kind,
            command: command.to_owned(),
            cwd: cwd.to_owned(),
            since_ms,
            log: log.map(Path::to_owned),
            process: Numbers::of(pid)?,
            owner: Numbers::of(std::process::id())?,
        })
    }

    /// Writes it down.
    pub(super) fn keep(&self, data_dir: &Path) -> io::Result<()> {
        let path = self.path(data_dir);
        if let Some(folder) = path.parent() {
            files::create_folder(folder)?;
        }
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        files::replace(&path, text.as_bytes())
    }

    /// Forgets it.
    pub(super) fn forget(&self, data_dir: &Path) {
        // One that is gone has been forgotten by somebody else.
        let _ = fs::remove_file(self.path(data_dir));
    }

    /// Its processes.
    pub(super) fn known(&self) -> Known {
        let mark = match self.kind {
            Kind::Service => format!("{MARK}={}", self.id),
            Kind::Job => String::new(),
        };
        self.process.known(mark)
    }

    fn path(&self, data_dir: &Path) -> PathBuf {
        let name = match self.kind {
            Kind::Service => self.id.clone(),
            Kind::Job => format!("{}-{}", self.owner.pid, self.id),
        };
        data_dir.join(FOLDER).join(format!("{name}.json"))
    }
}

/// What a record is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct New<'a> {
    pub(super) pid: u32,
    pub(super) id: &'a str,
    pub(super) kind: Kind,
    pub(super) command: &'a str,
    pub(super) cwd: &'a Path,
    pub(super) since_ms: i64,
    pub(super) log: Option<&'a Path>,
}

/// The services that run, oldest first. Those that have ended meanwhile are forgotten; jobs whose agent was killed before
/// it could end them are ended now.
pub fn services(data_dir: &Path) -> Vec<Record> {
    let mut running = Vec::new();
    for record in all(data_dir) {
        match record.kind {
            Kind::Service if record.known().is_running() => running.push(record),
            Kind::Service => record.forget(data_dir),
            Kind::Job if record.owner.known(String::new()).is_running() => {}
            Kind::Job => {
                let _ = record.known().end(ORPHAN_GRACE);
                record.forget(data_dir);
            }
        }
    }
    running.sort_by(|one, two| (one.since_ms, &one.id).cmp(&(two.since_ms, &two.id)));
    running
}

/// Whether anything is written down.
pub(super) fn is_any(data_dir: &Path) -> bool {
    fs::read_dir(data_dir.join(FOLDER)).is_ok_and(|mut entries| entries.next().is_some())
}

/// Whether a service of this name is written down, running or not.
pub fn is_kept(data_dir: &Path, id: &str) -> bool {
    data_dir.join(FOLDER).join(format!("{id}.json")).exists()
}

/// Everything that is written down and can be read. A file that cannot is left alone.
pub(super) fn all(data_dir: &Path) -> Vec<Record> {
    let Ok(entries) = fs::read_dir(data_dir.join(FOLDER)) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let records = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    records
        .filter_map(|path| {
            let object = files::read(&path).ok()??.object;
            let record: Record = serde_json::from_value(object.into()).ok()?;
            // What says it is another one would have that one's file removed.
            (record.path(data_dir) == path).then_some(record)
        })
        .collect()
}
