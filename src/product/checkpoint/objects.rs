//! Contents of files, each kept once under its SHA-256, shared by all sessions.
//!
//! An object is written beside its place and renamed into it, so that what has its name is whole; it is hashed again when
//! it is read. What nobody refers to any more is for `prune` to remove.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

use super::state::Digest;

/// The most of one file that is copied, in bytes (what git has anyway is had from there): ten times what people write by hand, and what a diff could show.
pub const FILE_BYTES: u64 = 10 << 20;

/// Files from this size on are cloned where the file system can, which costs no room; below, a copy is as quick.
const CLONE_BYTES: u64 = 64 << 10;
/// How much of a clone is read at a time, in bytes.
const READ_BYTES: usize = 256 << 10;
/// Only the user may read or write: there is work in there, and now and then a secret.
const FILE_MODE: u32 = 0o600;
/// The same for folders.
const FOLDER_MODE: u32 = 0o700;

/// The store of contents.
#[derive(Debug)]
pub struct Objects {
    folder: PathBuf,
    /// Whether nothing has said yet that the file system cannot clone.
    clones: AtomicBool,
}

/// Whether the id that git would give a content is wanted too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// Only the hash under which it is kept.
    Own,
    /// Also git's, in a repository whose ids are SHA-1 or SHA-256, told by their length in digits.
    Git(usize),
}

/// A content that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// Its hash.
    pub digest: Digest,
    /// Git's id for it, if that was wanted.
    pub git: Option<String>,
}

impl Objects {
    /// The objects below the folder of checkpoints, which need not exist.
    pub fn new(checkpoints: &Path) -> Self {
        Self { folder: checkpoints.join("objects"), clones: AtomicBool::new(cfg!(target_os = "linux")) }
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where one is.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        let (first, rest) = name.split_at_checked(2).unwrap_or((&name, ""));
        self.folder.join(first).join(rest)
    }

    /// Keeps a content.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn put(&self, content: &[u8]) -> io::Result<Digest> {
        let digest = hash(content);
        let path = self.path(&digest);
        if is_there(&path, content.len() as u64) {
            return Ok(digest);
        }
        let (temporary, mut file) = fresh(&path)?;
        let written = file.write_all(content).and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written.map(|()| digest)
    }

    /// Keeps what a file holds. `None` where that is more than [`FILE_BYTES`].
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn put_file(&self, file: &mut File, bytes: u64, ids: Ids) -> io::Result<Option<Put>> {
        if bytes > FILE_BYTES {
            return Ok(None);
        }
        if bytes >= CLONE_BYTES
            && self.clones.load(Ordering::Relaxed)
            && let Some(put) = self.clone_of(file, ids)?
        {
            return Ok(Some(put));
        }
        let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default() + 1);
        file.rewind()?;
        file.take(FILE_BYTES + 1).read_to_end(&mut content)?;
        if content.len() as u64 > FILE_BYTES {
            return Ok(None);
        }
        let git = match ids {
            Ids::Own => None,
            Ids::Git(digits) => Some(git_id(&content, digits)),
        };
        Ok(Some(Put { digest: self.put(&content)?, git }))
    }

    /// Reads an object.
    ///
    /// # Errors
    ///
    /// What the system said; that it is not what it was.
    pub fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        // What came from git may be larger than what is copied.
        File::open(self.path(digest))?.read_to_end(&mut content)?;
        if hash(&content) == *digest {
            Ok(content)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "what was kept is damaged"))
        }
    }

    /// Whether an object is there.
    pub fn has(&self, digest: &Digest) -> bool {
        self.path(digest).symlink_metadata().is_ok()
    }

    /// Keeps a clone that shares its room with the file; `None` where the file system has no such thing.
    #[cfg(target_os = "linux")]
    fn clone_of(&self, file: &File, ids: Ids) -> io::Result<Option<Put>> {
        let (temporary, mut clone) = fresh(&self.folder.join("clone"))?;
        let put = (|| {
            if rustix::fs::ioctl_ficlone(&clone, file).is_err() {
                self.clones.store(false, Ordering::Relaxed);
                return Ok(None);
            }
            let bytes = clone.metadata()?.len();
            let (digest, git) = hashes(&mut clone, bytes, ids)?;
            let path = self.path(&digest);
            if !is_there(&path, bytes) {
                create_folder(path.parent().unwrap_or(&self.folder))?;
                fs::rename(&temporary, &path)?;
            }
            Ok(Some(Put { digest, git }))
        })();
        // Where it has its name by now, there is nothing left to remove.
        let _ = fs::remove_file(&temporary);
        put
    }

    #[cfg(not(target_os = "linux"))]
    fn clone_of(&self, _: &File, _: Ids) -> io::Result<Option<Put>> {
        Ok(None)
    }
}

/// The SHA-256 of a content.
pub fn hash(content: &[u8]) -> Digest {
    let mut context = Context::new(&SHA256);
    context.update(content);
    finished(context)
}

/// Git's id for a content, of so many digits: the hash over a small header and the content (gitformat-loose).
pub fn git_id(content: &[u8], digits: usize) -> String {
    let mut context = git_context(content.len() as u64, digits);
    context.update(content);
    hex(context)
}

#[cfg(target_os = "linux")]
fn hashes(file: &mut File, bytes: u64, ids: Ids) -> io::Result<(Digest, Option<String>)> {
    let mut own = Context::new(&SHA256);
    let mut git = match ids {
        Ids::Own => None,
        Ids::Git(digits) => Some(git_context(bytes, digits)),
    };
    let mut buffer = vec![0; READ_BYTES];
    file.rewind()?;
    loop {
        let read = file.read(&mut buffer)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else { break };
        own.update(piece);
        if let Some(git) = &mut git {
            git.update(piece);
        }
    }
    Ok((finished(own), git.map(hex)))
}

fn git_context(bytes: u64, digits: usize) -> Context {
    const SHA1_DIGITS: usize = 40;
    let mut context = Context::new(if digits == SHA1_DIGITS { &SHA1_FOR_LEGACY_USE_ONLY } else { &SHA256 });
    context.update(format!("blob {bytes}\0").as_bytes());
    context
}

fn finished(context: Context) -> Digest {
    let mut digest = [0; 32];
    digest.iter_mut().zip(context.finish().as_ref()).for_each(|(to, from)| *to = *from);
    Digest(digest)
}

fn hex(context: Context) -> String {
    use std::fmt::Write as _;
    context.finish().as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether an object is there; if so it counts as used now, so that nobody prunes it before somebody refers to it.
fn is_there(path: &Path, bytes: u64) -> bool {
    let there = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == bytes);
    if there {
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        };
        let _ = rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW);
    }
    there
}

/// A new file beside `path`, to be renamed.
fn fresh(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(FILE_MODE);
    let temporary = path.with_file_name(format!(".{:016x}.new", fastrand::u64(..)));
    match options.open(&temporary) {
        Ok(file) => Ok((temporary, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folder(path.parent().unwrap_or(Path::new("/")))?;
            options.open(&temporary).map(|file| (temporary, file))
        }
        Err(error) => Err(error),
    }
}

fn create_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn contents_are_kept_once_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::new(folder.path());
        let digest = objects.put(b"hello").unwrap();
        assert_eq!(digest.to_string(), "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
        assert_eq!((objects.put(b"hello").unwrap(), objects.get(&digest).unwrap()), (digest, b"hello".to_vec()));
        let path = objects.path(&digest);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(objects.folder()).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(&path, "hallo").unwrap();
        assert!(objects.get(&digest).is_err());
        assert!(objects.get(&Digest([0; 32])).is_err() && !objects.has(&Digest([0; 32])));
    }

    #[test]
    fn files_of_any_size_are_kept_up_to_the_cap() {
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::new(&folder.path().join("checkpoints"));
        for size in [0, 1, 100_000, usize::try_from(FILE_BYTES).unwrap()] {
            let content = vec![b'x'; size];
            let path = folder.path().join("file");
            fs::write(&path, &content).unwrap();
            let put = objects.put_file(&mut File::open(&path).unwrap(), size as u64, Ids::Git(40)).unwrap().unwrap();
            assert_eq!(put.digest, hash(&content));
            assert_eq!(put.git.unwrap(), git_id(&content, 40));
            assert_eq!(objects.get(&put.digest).unwrap(), content);
        }
        let mut file = File::open(folder.path().join("file")).unwrap();
        assert_eq!(objects.put_file(&mut file, FILE_BYTES + 1, Ids::Own).unwrap(), None);
        // A file that has grown since it was looked at.
        fs::write(folder.path().join("file"), vec![b'x'; 1 + usize::try_from(FILE_BYTES).unwrap()]).unwrap();
        assert_eq!(objects.put_file(&mut file, 3, Ids::Own).unwrap(), None);
    }

    #[test]
    fn git_would_give_the_same_ids() {
        assert_eq!(git_id(b"", 40), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(git_id(b"", 64), "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
    }
}
