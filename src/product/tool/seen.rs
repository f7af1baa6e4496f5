//! What this session knows of files: a hash of the content its tools last read or wrote.
//!
//! It judges by content alone; time stamps change without reason and stay the same without one. Only of what an earlier
//! run of the session saw no content is known any more, and the time of the file's last change has to do.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
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
    /// What was read or written as a file.
    content: Content,
    /// A later content of which only a region was shown: enough to edit by, not to replace the whole.
    glimpsed: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    /// The content with this hash.
    Hash(u64),
    /// Whatever the file held then, in milliseconds since 1970.
    AsOf(i64),
}

/// The tools after whose calls the session knows the file in `path`.
const TOOLS: [&str; 3] = ["read_file", "write_file", "edit_file"];

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
            Some(known) if known.content.is_still(path, hash) => Standing::Current,
            Some(known) if known.glimpsed == Some(hash) => Standing::Glimpsed,
            Some(_) => Standing::Changed,
        }
    }

    /// The file was read, or written as a whole, with this content.
    pub fn record(&self, path: &Path, hash: u64) {
        self.lock().insert(path.to_owned(), Known { content: Content::Hash(hash), glimpsed: None });
    }

    /// An earlier run of the session called `tool` with success on the file; it was done at `at_ms`, in milliseconds since
    /// 1970. A tool that neither reads nor writes whole files says nothing.
    pub fn recall(&self, tool: &str, path: &Path, at_ms: i64) {
        if TOOLS.contains(&tool) {
            self.lock().insert(path.to_owned(), Known { content: Content::AsOf(at_ms), glimpsed: None });
        }
    }

    /// A part of this content was shown. Nothing is kept of a file that was never read.
    pub fn glimpse(&self, path: &Path, hash: u64) {
        if let Some(known) = self.lock().get_mut(path) {
            known.glimpsed = Some(hash);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Known>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Content {
    /// Whether the file, whose content has this hash, holds this content.
    fn is_still(self, path: &Path, hash: u64) -> bool {
        match self {
            Self::Hash(known) => known == hash,
            // The time of the last change to content, name or mode: no program can set it back. That a mode counts too
            // costs a needless reading, no file.
            Self::AsOf(moment) => path.metadata().is_ok_and(|file| {
                file.ctime().saturating_mul(1_000).saturating_add(file.ctime_nsec() / 1_000_000) <= moment
            }),
        }
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

    #[test]
    fn what_an_earlier_run_saw_counts_until_the_file_changes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (seen, path) = (Seen::new(), file.path());
        seen.recall("search_files", path, i64::MAX);
        assert_eq!(seen.standing(path, 1), Standing::Unknown);
        seen.recall("read_file", path, i64::MAX);
        assert_eq!(seen.standing(path, 1), Standing::Current);
        seen.recall("edit_file", path, 1);
        assert_eq!(seen.standing(path, 1), Standing::Changed);
        seen.glimpse(path, 1);
        assert_eq!(seen.standing(path, 1), Standing::Glimpsed);
        seen.record(path, 1);
        assert_eq!((seen.standing(path, 1), seen.standing(path, 2)), (Standing::Current, Standing::Changed));
    }
}
