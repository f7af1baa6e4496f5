//! How much each part of the data folder takes. Looks at names and sizes alone, and no longer than it may.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::product::journal;

/// How long all parts together may be looked at: who asks waits for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The folders that grow, in the data folder: conversations, what is too long for them, the state of files for undo,
/// what commands printed, and what happened.
pub const PARTS: [&str; 5] = ["sessions", "blobs", "checkpoints", "output", journal::FOLDER];

/// How much a part takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The folder's name.
    pub part: &'static str,
    /// What its files hold, in bytes.
    pub bytes: u64,
    /// How many there are.
    pub files: u64,
    /// Whether all of it was looked at.
    pub is_whole: bool,
}

/// How much each part of a data folder takes, which need not exist. What cannot be looked into takes nothing.
pub fn sizes(data_dir: &Path) -> [Size; 5] {
    let deadline = Instant::now() + PATIENCE;
    PARTS.map(|part| size(data_dir, part, deadline))
}

fn size(data_dir: &Path, part: &'static str, deadline: Instant) -> Size {
    let mut size = Size { part, bytes: 0, files: 0, is_whole: true };
    let mut folders: Vec<PathBuf> = vec![data_dir.join(part)];
    while let Some(folder) = folders.pop() {
        if Instant::now() > deadline {
            size.is_whole = false;
            break;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Of links only they themselves.
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => {
                    size.bytes += found.len();
                    size.files += 1;
                }
                Err(_) => {}
            }
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_added_up() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sizes(folder.path()).iter().all(|size| (size.bytes, size.files, size.is_whole) == (0, 0, true)));
        for (path, length) in [("sessions/a/1.jsonl", 10), ("sessions/b/2.jsonl", 20), ("logs/agent.log", 5)] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x".repeat(length)).unwrap();
        }
        let told: Vec<_> = sizes(folder.path()).iter().map(|size| (size.part, size.bytes, size.files)).collect();
        let expected = [("sessions", 30, 2), ("blobs", 0, 0), ("checkpoints", 0, 0), ("output", 0, 0), ("logs", 5, 1)];
        assert_eq!(told, expected);
        let late = size(folder.path(), "sessions", Instant::now() - Duration::from_secs(1));
        assert!(!late.is_whole);
    }
}
