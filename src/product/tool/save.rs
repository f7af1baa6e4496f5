//! Replacing a file's content so that nobody ever sees half of it, and so that a failure leaves the old content.
//!
//! The usual way is a temporary file beside the target, synced, renamed over it. Where that would make another file of
//! it (hard links, a foreign owner, a folder that takes no new files, a mount point), the file is written in place: its
//! room is reserved first, and the old content is written back if anything fails. What somebody else wrote meanwhile is
//! not replaced: the file is looked at once more right before. A change in the instant between that look and the rename
//! goes unnoticed, as no system call renames on a condition. It never decides what may be written.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::FallocateFlags;
use tempfile::NamedTempFile;

use crate::base::path::canonical;

/// What a new file may be at most; the process's umask takes away from it.
const NEW_MODE: u32 = 0o666;
/// While it is filled, a copy of an existing file is nobody else's to read.
const PRIVATE_MODE: u32 = 0o600;
/// All permission bits, with set-user-id and the like.
const MODE_BITS: u32 = 0o7777;

/// How often a file that somebody else changes meanwhile is read and written anew before the call gives up.
pub const ATTEMPTS: usize = 3;

/// A file as it was when it was read, by which a later change of it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    /// Seconds since 1970 and nanoseconds, in which two changes of one tick of the kernel's clock are equal.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of a file that was looked at before its content was read.
    pub fn new(file: &Metadata) -> Self {
        Self {
            device: file.dev(),
            inode: file.ino(),
            bytes: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }
}

/// Why a file was not written.
#[derive(Debug)]
pub enum Problem {
    /// Somebody else changed it since, or put a link in its place or its folder's.
    Changed,
    /// What the system said.
    System(io::Error),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Writes `content` to `path`, whose links have been followed; makes its folders. Keeps mode and owner of what was there.
/// `before` is what was there when the content was made, `None` for nothing.
///
/// # Errors
///
/// Why not; the old content is still there then, and no temporary file.
pub fn save(path: &Path, content: &[u8], before: Option<Stamp>) -> Result<(), Problem> {
    let old = unchanged(path, before)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    match &old {
        Some(old) if old.nlink() > 1 => return in_place(path, content, before),
        // A rename asks for the folder's permission only; the file's own is respected here.
        Some(_) => rustix::fs::access(path, rustix::fs::Access::WRITE_OK).map_err(io::Error::from)?,
        None => std::fs::create_dir_all(folder)?,
    }
    match beside(path, folder, content, old.as_ref())? {
        Saved::Done => Ok(()),
        Saved::NeedsPlace => in_place(path, content, before),
    }
}

/// What is at the path, if it is what was there before and the path still leads to nowhere else.
fn unchanged(path: &Path, before: Option<Stamp>) -> Result<Option<Metadata>, Problem> {
    let now = match path.symlink_metadata() {
        Ok(now) => Some(now),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    if now.as_ref().map(Stamp::new) != before || canonical(path) != path {
        return Err(Problem::Changed);
    }
    Ok(now)
}

/// What the system said, in words for a model: without the number, lower case.
pub fn words(error: &io::Error) -> String {
    if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return "no space left on the disk".to_owned();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

enum Saved {
    Done,
    /// The file cannot be replaced by another one without losing what it is.
    NeedsPlace,
}

fn beside(path: &Path, folder: &Path, content: &[u8], old: Option<&Metadata>) -> Result<Saved, Problem> {
    let mode = if old.is_some() { PRIVATE_MODE } else { NEW_MODE };
    let mut temporary = match tempfile::Builder::new()
        .prefix(".")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
    {
        Ok(temporary) => temporary,
        Err(error) if old.is_some() && takes_no_files(&error) => return Ok(Saved::NeedsPlace),
        Err(error) => return Err(error.into()),
    };
    temporary.write_all(content)?;
    if let Some(old) = old
        && !adopt(&temporary, old)?
    {
        return Ok(Saved::NeedsPlace);
    }
    temporary.as_file().sync_all()?;
    unchanged(path, old.map(Stamp::new))?;
    match temporary.persist(path) {
        Ok(_) => {}
        Err(error) if old.is_some() && error.error.kind() == io::ErrorKind::ResourceBusy => {
            return Ok(Saved::NeedsPlace);
        }
        Err(error) => return Err(error.error.into()),
    }
    // The content is safe by now; that the folder cannot be synced (some file systems refuse) loses nothing but time.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(Saved::Done)
}

fn takes_no_files(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Gives the new file the old one's owner, group and mode; `false` where the owner cannot be kept.
fn adopt(temporary: &NamedTempFile, old: &Metadata) -> io::Result<bool> {
    let file = temporary.as_file();
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid())
        && std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid())).is_err()
    {
        return Ok(false);
    }
    // After the owner: changing that clears the set-user-id bits.
    file.set_permissions(Permissions::from_mode(old.mode() & MODE_BITS))?;
    Ok(true)
}

fn in_place(path: &Path, content: &[u8], before: Option<Stamp>) -> Result<(), Problem> {
    unchanged(path, before)?;
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).write(true).custom_flags(no_link).open(path)?;
    if Some(Stamp::new(&file.metadata()?)) != before {
        return Err(Problem::Changed);
    }
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    if content.len() > old.len() {
        // A file system that cannot reserve says so; then only the attempt itself can tell.
        let room = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, content.len() as u64);
        if let Err(error @ (rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT)) = room {
            file.set_len(old.len() as u64)?;
            return Err(io::Error::from(error).into());
        }
    }
    let written = overwrite(&file, content).inspect_err(|_| {
        // Best effort: the room for the old content was its own a moment ago.
        let _ = overwrite(&file, &old);
    });
    Ok(written?)
}

fn overwrite(mut file: &File, content: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(content)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(path: &Path) -> Option<Stamp> {
        path.symlink_metadata().ok().map(|file| Stamp::new(&file))
    }

    fn save_over(path: &Path, content: &[u8]) -> Result<(), Problem> {
        save(path, content, stamp(path))
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn hard_links_stay_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        std::fs::write(&one, "a longer old content").unwrap();
        std::fs::hard_link(&one, &two).unwrap();
        for content in ["short", "quite a bit longer than what was there before"] {
            save_over(&one, content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&two).unwrap(), content);
        }
        assert_eq!(one.metadata().unwrap().nlink(), 2);
        assert_eq!(names(folder.path()), ["one", "two"]);
    }

    #[test]
    fn modes_are_kept_and_new_files_honour_the_umask() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/script.sh");
        save_over(&path, b"one").unwrap();
        let reference = folder.path().join("reference");
        std::fs::write(&reference, "").unwrap();
        assert_eq!(path.metadata().unwrap().mode(), reference.metadata().unwrap().mode());
        std::fs::set_permissions(&path, Permissions::from_mode(0o4751)).unwrap();
        save_over(&path, b"two").unwrap();
        assert_eq!(path.metadata().unwrap().mode() & MODE_BITS, 0o4751);
        assert_eq!(names(path.parent().unwrap()), ["script.sh"]);
    }

    #[test]
    fn a_failed_rename_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("target")).unwrap();
        assert!(save_over(&folder.path().join("target"), b"x").is_err());
        assert_eq!(names(folder.path()), ["target"]);
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, outside) = (folder.path().join("log"), folder.path().join("outside"));
        std::fs::write(&path, "one\n").unwrap();
        let before = stamp(&path);
        let appended = OpenOptions::new().append(true).open(&path).unwrap().write_all(b"two\n");
        appended.unwrap();
        assert!(matches!(save(&path, b"1\n", before), Err(Problem::Changed)));
        assert!(matches!(save(&path, b"1\n", None), Err(Problem::Changed)), "it was not there before");
        assert!(matches!(in_place(&path, b"1\n", before), Err(Problem::Changed)));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        // A link in the file's place, or its folder's, leads nowhere.
        let before = stamp(&path);
        std::fs::rename(&path, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        assert!(matches!(save(&path, b"1\n", before), Err(Problem::Changed)));
        assert!(save(&path, b"1\n", stamp(&path)).is_err());
        std::fs::create_dir(folder.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
        assert!(matches!(save(&folder.path().join("link/new"), b"1\n", None), Err(Problem::Changed)));
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "one\ntwo\n");
        assert_eq!(names(folder.path()), ["link", "log", "outside", "real"]);
    }

    #[test]
    fn errors_are_words() {
        assert_eq!(words(&io::Error::from_raw_os_error(28)), "no space left on the disk");
        assert_eq!(words(&io::Error::from_raw_os_error(13)), "permission denied");
    }
}
