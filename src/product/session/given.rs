//! What was kept of work that a session gave away: the conversations of its sub-agents, in a folder beside its file.
//!
//! They are no sessions of their own: no list holds them, and they go with the session they belong to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::list;

/// What the folder's name ends in; before it stands the session's id.
const ENDING: &str = "agents";

/// The folder of a session's file, whether it is there or not.
pub fn folder(session: &Path) -> PathBuf {
    session.with_extension(ENDING)
}

/// Whether this is the file of a worker: its session is then the parent it names.
pub fn is_one(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.extension().is_some_and(|ending| ending == ENDING))
}

/// The files of a session's workers, the oldest first; as far as it can be looked into.
pub fn files(session: &Path) -> Vec<PathBuf> {
    let found = list::files(&folder(session)).unwrap_or_default();
    let mut files: Vec<PathBuf> = found.into_iter().map(|file| file.path).collect();
    files.sort_unstable();
    files
}

/// Removes them.
///
/// # Errors
///
/// When they stay.
pub fn remove(session: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder(session)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_lie_beside_their_session_and_go_with_it() {
        let top = tempfile::tempdir().unwrap();
        let session = top.path().join("20261130-120000-abcd.jsonl");
        assert_eq!((files(&session), remove(&session).is_ok()), (Vec::new(), true));
        fs::create_dir(folder(&session)).unwrap();
        let names = ["20261130-120002-0001.jsonl", "20261130-120001-0002.jsonl", "notes.txt"];
        for name in names {
            fs::write(folder(&session).join(name), "").unwrap();
        }
        assert_eq!(files(&session), [names[1], names[0]].map(|name| folder(&session).join(name)));
        assert!(is_one(&files(&session)[0]) && !is_one(&session));
        remove(&session).unwrap();
        assert!(!folder(&session).exists());
    }
}
