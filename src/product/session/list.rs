//! The files that may be sessions, and the one in which something was said last.
//!
//! Files that are no sessions are passed over in silence; nothing is changed.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::base::path::is_absent;
use crate::model::message::Origin;
use crate::product::error::Error;

use super::look::{self, Depth, Look, Stamp};
use super::name;
use super::spent::Spent;

/// How much is read of each end; nearly every record is smaller.
pub(super) const END_BYTES: u64 = 64 * 1024;

/// A file that may be a session.
#[derive(Debug)]
pub struct Candidate {
    /// The file.
    pub path: PathBuf,
    /// When it was last written, in milliseconds since 1970.
    pub modified: i64,
    /// By what it is told from what it was.
    pub stamp: Stamp,
}

impl Candidate {
    fn new(path: PathBuf, metadata: &Metadata) -> Self {
        let stamp = Stamp::from(metadata);
        Self { path, modified: stamp.modified_ns / 1_000_000, stamp }
    }
}

/// What a list says about a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// The name it was given; of a large file that was not read whole, as far as it stands near either end.
    pub name: Option<String>,
    /// A title made of the first question, on one line.
    pub title: Option<String>,
    /// The folder it works in.
    pub cwd: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// When something was last said, in milliseconds since 1970.
    pub updated_at: i64,
    /// Who answered last, or will answer first.
    pub model: Origin,
    /// How many messages there are, on all branches. Of a file that was not read whole, the highest id, which counts up.
    pub messages: u64,
    /// The id of the session it was copied from.
    pub parent: Option<String>,
    /// What its answers took, where the file was read whole.
    pub spent: Option<Spent>,
}

/// The entries of a folder; none where there is no folder.
///
/// # Errors
///
/// When it is there, or may be, and cannot be looked into.
pub fn entries(folder: &Path) -> Result<impl Iterator<Item = fs::DirEntry>, Unread> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => Some(entries),
        Err(error) if is_absent(&error) => None,
        Err(error) => return Err(Unread { path: folder.to_owned(), error }),
    };
    Ok(entries.into_iter().flatten().flatten())
}

/// A place where sessions may be that nobody could look into.
#[derive(Debug)]
pub struct Unread {
    /// The folder or file.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
}

impl From<Unread> for Error {
    fn from(Unread { path, error }: Unread) -> Self {
        Self::failed(format!("cannot look for sessions in {}", path.display())).caused_by(error)
    }
}

/// The files of a folder that are named like sessions.
///
/// # Errors
///
/// As [`entries`].
pub fn files(folder: &Path) -> Result<Vec<Candidate>, Unread> {
    let named = entries(folder)?.filter(|entry| name::id_of(&entry.path()).is_some());
    let file = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok().filter(Metadata::is_file)?;
        Some(Candidate::new(entry.path(), &metadata))
    };
    Ok(named.filter_map(file).collect())
}

/// One file.
///
/// # Errors
///
/// When the system says nothing about it.
pub(super) fn candidate(path: &Path) -> io::Result<Candidate> {
    Ok(Candidate::new(path.to_owned(), &fs::metadata(path)?))
}

/// The session of a folder in which something was said last.
///
/// A file is written when something is said, so files that were written earlier need not be looked into.
///
/// # Errors
///
/// As [`entries`]; also where there is no other session than one that cannot be read.
pub fn newest(folder: &Path) -> Result<Option<PathBuf>, Unread> {
    let mut files = files(folder)?;
    let mut unread = None;
    files.sort_by(|one, other| (other.modified, &other.path).cmp(&(one.modified, &one.path)));
    let mut newest: Option<Info> = None;
    for file in files {
        if newest.as_ref().is_some_and(|info| info.updated_at >= file.modified) {
            break;
        }
        let Some(Look { info, .. }) = read(&file, Depth::Ends, None, &mut unread) else {
            continue;
        };
        if newest.as_ref().is_none_or(|newest| info.updated_at > newest.updated_at) {
            newest = Some(info);
        }
    }
    match (newest, unread) {
        (None, Some(unread)) => Err(unread),
        (newest, _) => Ok(newest.map(|info| info.path)),
    }
}

/// Looks into a file. Why one cannot be read is put into `unread`, if nothing is there yet.
pub(super) fn read(file: &Candidate, depth: Depth, known: Option<&Look>, unread: &mut Option<Unread>) -> Option<Look> {
    look::look(file, depth, known).unwrap_or_else(|error| {
        // One that was removed meanwhile is missed by nobody.
        if !is_absent(&error) {
            unread.get_or_insert(Unread { path: file.path.clone(), error });
        }
        None
    })
}
