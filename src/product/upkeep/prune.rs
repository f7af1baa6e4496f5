//! Removes what nobody needs any more: old output and logs, blobs that no session names, what killed writers left. Sessions stay, and so do locks,
//! which somebody may be about to take.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::clock::Clock;
use crate::base::lock;
use crate::base::path::is_absent;
use crate::product::checkpoint::{
    self,
    prune::{Limits, Pruned},
};
use crate::product::error::Error;
use crate::product::job::{self, record};
use crate::product::journal;
use crate::product::session::blob::Swept;
use crate::product::session::store::Store;

/// How long what commands printed in full is kept, and what happened: nobody looks for what is a month old.
const OLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// A file that is being made is not older than this.
const UNFINISHED: Duration = Duration::from_secs(24 * 60 * 60);
/// How deep unfinished files are looked for: below a folder of sessions.
const DEPTH: usize = 3;
/// These have unfinished files of their own, and look after them.
const OTHERS: [&str; 2] = ["blobs", "checkpoints"];
/// The ending of files that are being made.
const FRESH: &str = "new";

/// What was removed of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// What it was, for people: a noun.
    pub what: &'static str,
    /// How many.
    pub files: u64,
    /// What they held, in bytes.
    pub bytes: u64,
    /// Why more of it could not be removed.
    pub problem: Option<String>,
}

/// Removes what is old or left over in a data folder; `now_ms` counts from 1970.
pub fn prune(data_dir: &Path, now_ms: i64) -> Vec<Removed> {
    let old = |found: &Metadata| is_older(found, OLD, now_ms);
    let is_old_log = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // The one that is written stays.
        name.starts_with(&format!("{}.", journal::NAME)) && name != format!("{}.log", journal::NAME)
    };
    // A service that has nothing to say still holds its log.
    let is_running =
        |path: &Path| path.file_stem().and_then(|id| id.to_str()).is_some_and(|id| record::is_kept(data_dir, id));
    let unfinished = |path: &Path, found: &Metadata| {
        is_older(found, UNFINISHED, now_ms) && is_unfinished(path, found) && is_free(path)
    };
    vec![
        remove("old output", &data_dir.join("output"), 1, |_, found| old(found)),
        remove("old log", &data_dir.join(journal::FOLDER), 1, |path, found| is_old_log(path) && old(found)),
        remove("old service log", &data_dir.join(job::LOGS), 1, |path, found| old(found) && !is_running(path)),
        remove("unfinished file", data_dir, DEPTH, unfinished),
        sweep(data_dir, now_ms),
        checkpoints(data_dir, now_ms),
    ]
}

/// Removes the blobs that no session names.
fn sweep(data_dir: &Path, now_ms: i64) -> Removed {
    let store = Store::new(data_dir, Clock::System);
    let swept = store.named_blobs().and_then(|keep| {
        let cannot = |error| Error::failed("blobs cannot be removed").caused_by(error);
        store.blobs().sweep(&keep, now_ms).map_err(cannot)
    });
    let (Swept { blobs: files, bytes }, problem) = match swept {
        Ok(swept) => (swept, None),
        Err(error) => (Swept::default(), Some(error.to_string())),
    };
    Removed { what: "unnamed blob", files, bytes, problem }
}

/// Removes what undo would need of old turns, and what is too much.
fn checkpoints(data_dir: &Path, now_ms: i64) -> Removed {
    let (pruned, problem) = match checkpoint::prune(data_dir, now_ms, Limits::default()) {
        Ok(pruned) => (pruned, None),
        Err(error) => (Pruned::default(), Some(error.to_string())),
    };
    Removed { what: "old checkpoint", files: pruned.sessions as u64, bytes: pruned.bytes, problem }
}

/// A file that its writer never finished: beside its name, or a name that was never filled.
fn is_unfinished(path: &Path, found: &Metadata) -> bool {
    let has = |ending: &str| path.extension().is_some_and(|extension| extension == ending);
    has(FRESH) || found.len() == 0 && has("jsonl")
}

/// Whether no process holds its lock.
fn is_free(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| lock::exclusive(&file, Duration::ZERO).unwrap_or(false))
}

fn is_older(found: &Metadata, age: Duration, now_ms: i64) -> bool {
    let modified_ms = found.mtime().saturating_mul(1000);
    now_ms.saturating_sub(modified_ms) > i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
}

/// Removes the files that go, down to so many folders.
fn remove(what: &'static str, folder: &Path, depth: usize, goes: impl Fn(&Path, &Metadata) -> bool) -> Removed {
    let mut removed = Removed { what, files: 0, bytes: 0, problem: None };
    let mut folders: Vec<(PathBuf, usize)> = vec![(folder.to_owned(), depth)];
    let mut failed = |path: &Path, error: &io::Error| {
        // What is gone already has been removed by somebody else.
        if !is_absent(error) {
            removed.problem.get_or_insert(format!("{}: {error}", path.display()));
        }
    };
    let (mut files, mut bytes) = (0, 0);
    while let Some((folder, depth)) = folders.pop() {
        let entries = fs::read_dir(&folder).inspect_err(|error| failed(&folder, error));
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.metadata() {
                Ok(found) if found.is_dir() => {
                    if depth > 1 && !OTHERS.iter().any(|other| path.ends_with(other)) {
                        folders.push((path, depth - 1));
                    }
                }
                Ok(found) if found.is_file() && goes(&path, &found) => match fs::remove_file(&path) {
                    Ok(()) => {
                        files += 1;
                        bytes += found.len();
                    }
                    Err(error) => failed(&path, &error),
                },
                Ok(_) => {}
                Err(error) => failed(&path, &error),
            }
        }
    }
    Removed { files, bytes, ..removed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// Makes a file of so many bytes that was written so many days ago.
    fn file(folder: &Path, path: &str, length: usize, days: u32) -> PathBuf {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x".repeat(length)).unwrap();
        File::options().append(true).open(&path).unwrap().set_modified(moment() - DAY * days).unwrap();
        path
    }

    /// When it is.
    fn moment() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_070_000)
    }

    #[test]
    fn what_is_old_or_left_over_goes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let gone = [
            file(top, "output/1.txt", 10, 31),
            file(top, "logs/agent.3.log", 20, 40),
            file(top, "logs/services/s-1a2b.log", 6, 40),
            file(top, "sessions/a/20260101-000000-0000.new", 5, 2),
            file(top, "sessions/a/20260101-000000-0000.jsonl", 0, 2),
            file(top, ".trust.json.new", 3, 2),
        ];
        let names = |digit: char| String::from(digit).repeat(64);
        let blob = |digit: char| format!("blobs/{digit}{digit}/{}", &names(digit)[2..]);
        let orphan = file(top, &blob('a'), 30, 2);
        let named = file(top, &blob('b'), 30, 2);
        let line = format!(r#"{{"type":"message","content":[{{"type":"text","blob":"{}"}}]}}"#, names('b'));
        file(top, "sessions/b/1.jsonl", 0, 0);
        fs::write(top.join("sessions/b/1.jsonl"), line).unwrap();
        let held = file(top, "sessions/a/held.new", 5, 2);
        let kept = [
            file(top, "output/2.txt", 10, 29),
            file(top, "logs/agent.log", 20, 400),
            file(top, "logs/agent.1.log", 20, 2),
            file(top, "logs/services/s-2b3c.log", 6, 40),
            file(top, "jobs/s-2b3c.json", 2, 40),
            file(top, "sessions/a/20250101-000000-0000.jsonl", 7, 999),
            file(top, "sessions/a/20260101-000001-0000.jsonl", 0, 0),
            file(top, "sessions/a/20260101-000001-0000.new", 7, 0),
            file(top, "trust.json.lock", 0, 999),
            file(top, "history.jsonl", 9, 999),
            held.clone(),
        ];
        let lock = File::open(&held).unwrap();
        assert!(lock::exclusive(&lock, Duration::ZERO).unwrap());
        let removed = prune(top, 1_796_070_000_000);
        let told: Vec<_> = removed.iter().map(|removed| (removed.what, removed.files, removed.bytes)).collect();
        assert_eq!(
            told,
            [
                ("old output", 1, 10),
                ("old log", 1, 20),
                ("old service log", 1, 6),
                ("unfinished file", 3, 8),
                ("unnamed blob", 1, 30),
                ("old checkpoint", 0, 0)
            ]
        );
        assert!(removed.iter().all(|removed| removed.problem.is_none()));
        assert!(!orphan.exists() && named.exists());
        assert!(gone.iter().all(|path| !path.exists()) && kept.iter().all(|path| path.exists()));
        assert!(prune(&top.join("nowhere"), 0).iter().all(|removed| removed.files == 0 && removed.problem.is_none()));
    }
}
