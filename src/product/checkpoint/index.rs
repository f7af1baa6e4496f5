//! A workspace as it was when it was looked at last: what stands at each path, and by what a change of it is noticed.
//!
//! On disk a line of JSON for each path. Nothing here looks at the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::state::{Name, State};
use crate::base::jsonl::Reader;

/// Only the user may read or write.
const FILE_MODE: u32 = 0o600;
/// The permission bits that are kept.
const MODE_BITS: u32 = 0o777;

/// What stat told of a file: as long as all of it is the same, so is the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// When its content was changed, in nanoseconds since 1970.
    pub modified: i64,
    /// When anything about it was changed, likewise.
    pub changed: i64,
    /// Its size.
    pub bytes: u64,
    /// Its number in the file system.
    pub inode: u64,
    /// Its permission bits.
    pub mode: u32,
}

impl Stamp {
    /// What stat told.
    pub fn new(found: &Metadata) -> Self {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            modified: nanos(found.mtime(), found.mtime_nsec()),
            changed: nanos(found.ctime(), found.ctime_nsec()),
            bytes: found.len(),
            inode: found.ino(),
            mode: found.mode() & MODE_BITS,
        }
    }
}

/// A path that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// By what a change is noticed.
    pub stamp: Stamp,
    /// What stood there.
    pub state: State,
    /// Whether a later change must show in the stamp: what was changed within the same tick of the clock need not.
    pub is_settled: bool,
}

/// A workspace as it was when it was looked at last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The root of the workspace.
    pub root: PathBuf,
    /// What was looked at, relative to the root of the workspace: the root itself, or where that is too large, the folder the
    /// agent works in.
    pub area: PathBuf,
    /// What there is in it.
    pub known: BTreeMap<Name, Known>,
    /// Ignored paths that a tool or a command named.
    pub named: BTreeSet<Name>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Area {
        root: Name,
        path: Name,
    },
    Path {
        path: Name,
        stamp: Stamp,
        state: State,
        settled: bool,
    },
    Named {
        path: Name,
    },
    /// The last one: without it the file is not whole.
    End {
        paths: usize,
    },
}

impl Index {
    /// Reads a file that [`Index::write`] wrote of the workspace at `root`. `None` where there is none, or it is damaged.
    pub fn read(path: &Path, root: &Path) -> Option<Self> {
        let mut reader = Reader::new(BufReader::with_capacity(256 << 10, File::open(path).ok()?), 0);
        let mut index = Self::default();
        let mut is_whole = false;
        while let Some(record) = reader.read::<Line>().ok()? {
            match record.value {
                Line::Area { root, path } => (index.root, index.area) = (root.0, path.0),
                Line::Path { path, stamp, state, settled } => {
                    index.known.insert(path, Known { stamp, state, is_settled: settled });
                }
                Line::Named { path } => {
                    index.named.insert(path);
                }
                Line::End { paths } => is_whole = paths == index.known.len(),
            }
        }
        (is_whole && reader.broken() == 0 && index.root == root).then_some(index)
    }

    /// Replaces the file at `path`, whose folder exists.
    ///
    /// # Errors
    ///
    /// What the system said; the old file is there then.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let fresh = path.with_extension("new");
        let written = (|| {
            let file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&fresh)?;
            let mut file = BufWriter::with_capacity(256 << 10, file);
            let mut line = |line: &Line| -> io::Result<()> {
                serde_json::to_writer(&mut file, line)?;
                file.write_all(b"\n")
            };
            line(&Line::Area { root: Name(self.root.clone()), path: Name(self.area.clone()) })?;
            for (path, Known { stamp, state, is_settled }) in &self.known {
                let (path, state) = (path.clone(), state.clone());
                line(&Line::Path { path, stamp: *stamp, state, settled: *is_settled })?;
            }
            self.named.iter().try_for_each(|path| line(&Line::Named { path: path.clone() }))?;
            line(&Line::End { paths: self.known.len() })?;
            file.flush()?;
            fs::rename(&fresh, path)
        })();
        if written.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        written
    }

    /// What stands at a path, as far as was looked.
    pub fn state(&self, path: &Name) -> State {
        self.known.get(path).map_or(State::Absent, |known| known.state.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::{Content, Digest};
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn an_index_survives_being_written_down() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.jsonl");
        assert_eq!(Index::read(&path, "/w".as_ref()), None);
        let odd = Name(std::ffi::OsString::from_vec(b"odd \xff\n".to_vec()).into());
        let stamp = Stamp { modified: -1, changed: 2, bytes: 3, inode: 4, mode: 0o644 };
        let file = State::File { content: Content::Kept(Digest([7; 32])), mode: 0o644 };
        let known = [(odd.clone(), file), (Name("d".into()), State::Folder)];
        let known = known.map(|(path, state)| (path, Known { stamp, state, is_settled: true })).into();
        let index = Index { root: "/w".into(), area: "sub".into(), known, named: [odd].into() };
        index.write(&path).unwrap();
        assert_eq!(Index::read(&path, "/other".as_ref()), None);
        assert_eq!(Index::read(&path, "/w".as_ref()), Some(index));
        let text = fs::read(&path).unwrap();
        fs::write(&path, &text[..text.len() - 9]).unwrap();
        assert_eq!(Index::read(&path, "/w".as_ref()), None);
    }
}
