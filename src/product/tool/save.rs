//! Replacing a file's content so that nobody ever sees half of it, and so that a failure leaves the old content.
//!
//! The usual way is a temporary file beside the target, synced, renamed over it. Where that would make another file of
//! it (hard links, a foreign owner, a folder that takes no new files, a mount point), the file is written in place: its
//! room is reserved first, and the old content is written back if anything fails. It never decides what may be written.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::FallocateFlags;
use tempfile::NamedTempFile;

/// What a new file may be at most; the process's umask takes away from it.
const NEW_MODE: u32 = 0o666;
/// While it is filled, a copy of an existing file is nobody else's to read.
const PRIVATE_MODE: u32 = 0o600;
/// All permission bits, with set-user-id and the like.
const MODE_BITS: u32 = 0o7777;

/// Writes `content` to `path`, whose links have been followed; makes its folders. Keeps mode and owner of what was there.
///
/// # Errors
///
/// What the system said; the old content is still there then, and no temporary file.
pub fn save(path: &Path, content: &[u8]) -> io::Result<()> {
    let old = match path.metadata() {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    match &old {
        Some(old) if old.nlink() > 1 => return in_place(path, content),
        // A rename asks for the folder's permission only; the file's own is respected here.
        Some(_) => rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?,
        None => std::fs::create_dir_all(folder)?,
    }
    match beside(path, folder, content, old.as_ref())? {
        Saved::Done => Ok(()),
        Saved::NeedsPlace => in_place(path, content),
    }
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

fn beside(path: &Path, folder: &Path, content: &[u8], old: Option<&Metadata>) -> io::Result<Saved> {
    let mode = if old.is_some() { PRIVATE_MODE } else { NEW_MODE };
    let mut temporary = match tempfile::Builder::new()
        .prefix(".")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
    {
        Ok(temporary) => temporary,
        Err(error) if old.is_some() && takes_no_files(&error) => return Ok(Saved::NeedsPlace),
        Err(error) => return Err(error),
    };
    temporary.write_all(content)?;
    if let Some(old) = old
        && !adopt(&temporary, old)?
    {
        return Ok(Saved::NeedsPlace);
    }
    temporary.as_file().sync_all()?;
    match temporary.persist(path) {
        Ok(_) => {}
        Err(error) if old.is_some() && error.error.kind() == io::ErrorKind::ResourceBusy => {
            return Ok(Saved::NeedsPlace);
        }
        Err(error) => return Err(error.error),
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

fn in_place(path: &Path, content: &[u8]) -> io::Result<()> {
    let old = std::fs::read(path)?;
    let file = OpenOptions::new().write(true).open(path)?;
    if content.len() > old.len() {
        // A file system that cannot reserve says so; then only the attempt itself can tell.
        let room = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, content.len() as u64);
        if let Err(error @ (rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT)) = room {
            file.set_len(old.len() as u64)?;
            return Err(error.into());
        }
    }
    overwrite(&file, content).inspect_err(|_| {
        // Best effort: the room for the old content was its own a moment ago.
        let _ = overwrite(&file, &old);
    })
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
            save(&one, content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&two).unwrap(), content);
        }
        assert_eq!(one.metadata().unwrap().nlink(), 2);
        assert_eq!(names(folder.path()), ["one", "two"]);
    }

    #[test]
    fn modes_are_kept_and_new_files_honour_the_umask() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/script.sh");
        save(&path, b"one").unwrap();
        let reference = folder.path().join("reference");
        std::fs::write(&reference, "").unwrap();
        assert_eq!(path.metadata().unwrap().mode(), reference.metadata().unwrap().mode());
        std::fs::set_permissions(&path, Permissions::from_mode(0o4751)).unwrap();
        save(&path, b"two").unwrap();
        assert_eq!(path.metadata().unwrap().mode() & MODE_BITS, 0o4751);
        assert_eq!(names(path.parent().unwrap()), ["script.sh"]);
    }

    #[test]
    fn a_failed_rename_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("target")).unwrap();
        assert!(save(&folder.path().join("target"), b"x").is_err());
        assert_eq!(names(folder.path()), ["target"]);
    }

    #[test]
    fn errors_are_words() {
        assert_eq!(words(&io::Error::from_raw_os_error(28)), "no space left on the disk");
        assert_eq!(words(&io::Error::from_raw_os_error(13)), "permission denied");
    }
}
