//! Putting something at a path of a workspace, or taking it away, without ever being led out of it by a link.
//!
//! Every folder on the way is opened by its own name, links are not followed, and a file is written beside its place and
//! renamed into it. Whether it should be done is decided elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::objects::Objects;
use super::state::{Content, Name, State};

/// While it is filled, a file is nobody else's to read.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);
/// What a new folder may be at most; the process's umask takes away from it.
const NEW_FOLDER: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);

/// The workspace things are put in.
pub struct Place<'a> {
    root: OwnedFd,
    objects: &'a Objects,
}

impl<'a> Place<'a> {
    /// The workspace at `root`.
    ///
    /// # Errors
    ///
    /// When it is no folder any more.
    pub fn open(root: &Path, objects: &'a Objects) -> io::Result<Self> {
        Ok(Self { root: rustix::fs::openat(CWD, root, folder_flags(), Mode::empty())?, objects })
    }

    /// Takes away what stands at a path. A folder goes only if it is empty; what is not there is gone.
    ///
    /// # Errors
    ///
    /// What the system said; that the way leads through a link.
    pub fn remove(&self, path: &Name, now: &State) -> io::Result<()> {
        let flags = match now {
            State::Folder => AtFlags::REMOVEDIR,
            State::Absent | State::Link { .. } | State::File { .. } | State::Special => AtFlags::empty(),
        };
        let removed = self
            .parent(path, Missing::Stop)
            .and_then(|(folder, name)| Ok(rustix::fs::unlinkat(&folder, &name, flags)?));
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Puts something at a path, in place of a file or link that stands there. Folders on the way are made.
    ///
    /// # Errors
    ///
    /// What the system said; that the way leads through a link; that a content is not kept.
    pub fn put(&self, path: &Name, then: &State) -> io::Result<()> {
        let (folder, name) = self.parent(path, Missing::Make)?;
        match then {
            State::Absent | State::Special => Ok(()),
            State::Folder => match rustix::fs::mkdirat(&folder, &name, NEW_FOLDER) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error.into()),
            },
            State::Link { target } => {
                let fresh = fresh_name();
                rustix::fs::symlinkat(&target.0, &folder, &fresh)?;
                renamed(&folder, &fresh, &name)
            }
            State::File { content: Content::Kept(digest), mode } => {
                file(&folder, &name, &self.objects.get(digest)?, *mode)
            }
            State::File { .. } => Err(io::Error::new(io::ErrorKind::NotFound, "its content is not kept")),
        }
    }

    /// The folder of a path, and the path's last name.
    fn parent(&self, path: &Name, missing: Missing) -> io::Result<(OwnedFd, OsString)> {
        if !path.is_inner() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut folder = self.root.try_clone()?;
        for part in path.0.parent().into_iter().flat_map(Path::components) {
            let name = part.as_os_str();
            let open =
                |folder: &OwnedFd| rustix::fs::openat(folder, name, folder_flags() | OFlags::NOFOLLOW, Mode::empty());
            let found = match (open(&folder), missing) {
                (Err(Errno::NOENT), Missing::Make) => {
                    rustix::fs::mkdirat(&folder, name, NEW_FOLDER)?;
                    open(&folder)
                }
                (found, Missing::Make | Missing::Stop) => found,
            };
            folder = found?;
        }
        Ok((folder, path.0.file_name().unwrap_or_default().to_owned()))
    }
}

#[derive(Clone, Copy)]
enum Missing {
    Make,
    Stop,
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

fn file(folder: &OwnedFd, name: &OsStr, content: &[u8], mode: u32) -> io::Result<()> {
    let fresh = fresh_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(folder, &fresh, flags, PRIVATE)?);
    let written = file.write_all(content).and_then(|()| {
        adopt(folder, name, &file);
        #[expect(clippy::useless_conversion, reason = "the type differs between systems")]
        let mode = Mode::from_bits_truncate(mode.try_into().unwrap_or_default());
        rustix::fs::fchmod(&file, mode)?;
        renamed(folder, &fresh, name)
    });
    if written.is_err() {
        let _ = rustix::fs::unlinkat(folder, &fresh, AtFlags::empty());
    }
    written
}

/// Gives a file the owner of the one it replaces, where that is allowed.
fn adopt(folder: &OwnedFd, name: &OsStr, file: &File) {
    use std::os::unix::fs::MetadataExt as _;
    let own = file.metadata().ok();
    let Ok(old) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
    if own.as_ref().map(Metadata::uid) != Some(old.st_uid) || own.as_ref().map(Metadata::gid) != Some(old.st_gid) {
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        let _ = rustix::fs::fchown(file, Some(owner), Some(group));
    }
}

fn renamed(folder: &OwnedFd, fresh: &OsStr, name: &OsStr) -> io::Result<()> {
    rustix::fs::renameat(folder, fresh, folder, name).map_err(|error| {
        let _ = rustix::fs::unlinkat(folder, fresh, AtFlags::empty());
        error.into()
    })
}

fn fresh_name() -> OsString {
    format!(".viola-{:016x}.tmp", fastrand::u64(..)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn nothing_is_put_outside_by_way_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/f"), "mine").unwrap();
        symlink("../outside", root.join("link")).unwrap();
        symlink("../outside/f", root.join("f")).unwrap();
        let objects = Objects::new(&folder.path().join("data"));
        let file = State::File { content: Content::Kept(objects.put(b"new").unwrap()), mode: 0o754 };
        let place = Place::open(&root, &objects).unwrap();
        let name = |path: &str| Name(path.into());
        for path in ["link/f", "link/new/x", "../x", "/tmp/x", ".git/config"] {
            assert!(place.put(&name(path), &file).is_err() && place.remove(&name(path), &file).is_err(), "{path}");
        }
        place.put(&name("f"), &file).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("outside/f")).unwrap(), "mine");
        let found = fs::symlink_metadata(root.join("f")).unwrap();
        assert!(found.is_file() && found.permissions().mode() & 0o777 == 0o754);
        place.put(&name("a/b/c"), &State::Link { target: name("x") }).unwrap();
        assert_eq!(fs::read_link(root.join("a/b/c")).unwrap(), Path::new("x"));
        assert!(place.remove(&name("a/b"), &State::Folder).is_err(), "it is not empty");
        place.remove(&name("a/b/c"), &file).unwrap();
        place.remove(&name("a/b"), &State::Folder).unwrap();
        place.remove(&name("a/b/c"), &file).unwrap();
        let left: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "{left:?}");
    }
}
