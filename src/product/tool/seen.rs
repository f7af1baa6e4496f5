//! What this session knows of files: a hash of the content its tools last read or wrote.
//!
//! It judges by content alone; time stamps change without reason and stay the same without one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use twox_hash::XxHash3_64;

/// The files one session has read or written. Shared by its file tools, on any thread.
#[derive(Debug, Default)]
pub struct Seen {
    files: Mutex<HashMap<PathBuf, Known>>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// The content that was read or written as a file.
    content: u64,
    /// A later content of which only a region was shown: enough to edit by, not to replace the whole.
    glimpsed: u64,
}

/// What a session knows of a file, measured against what the file holds now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has neither been read nor written.
    Unknown,
    /// It is as it was last read or written.
    Current,
    /// It has changed since; the change was shown in part, by the error or the result of an edit.
    Glimpsed,
    /// It has changed since, and nothing of that was shown.
    Changed,
}

impl Seen {
    /// A session that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// How what is known of `path` (canonical) stands to a content with this [`hash`].
    pub fn standing(&self, path: &Path, hash: u64) -> Standing {
        match self.lock().get(path) {
            None => Standing::Unknown,
            Some(known) if known.content == hash => Standing::Current,
            Some(known) if known.glimpsed == hash => Standing::Glimpsed,
            Some(_) => Standing::Changed,
        }
    }

    /// The file was read, or written as a whole, with this content.
    pub fn record(&self, path: &Path, hash: u64) {
        self.lock().insert(path.to_owned(), Known { content: hash, glimpsed: hash });
    }

    /// A part of this content was shown. Nothing is kept of a file that was never read.
    pub fn glimpse(&self, path: &Path, hash: u64) {
        if let Some(known) = self.lock().get_mut(path) {
            known.glimpsed = hash;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Known>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hash contents are compared by: xxh3, 64 bits, seed 0.
pub fn hash(content: &[u8]) -> u64 {
    XxHash3_64::oneshot(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glimpse_allows_edits_and_no_more() {
        let seen = Seen::new();
        let path = Path::new("/f");
        seen.glimpse(path, 1);
        assert_eq!(seen.standing(path, 1), Standing::Unknown);
        seen.record(path, 1);
        assert_eq!(seen.standing(path, 1), Standing::Current);
        assert_eq!(seen.standing(path, 2), Standing::Changed);
        seen.glimpse(path, 2);
        assert_eq!(seen.standing(path, 2), Standing::Glimpsed);
        assert_eq!(seen.standing(path, 3), Standing::Changed);
        seen.record(path, 3);
        assert_eq!(seen.standing(path, 2), Standing::Changed);
    }
}
