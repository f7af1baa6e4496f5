//! What stands at a path, and why a tool that works on text files must leave it alone.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::missing::Wanted;
use super::save::Stamp;
use super::workspace::Workspace;
use super::{missing, save};
use crate::base::path::{canonical, is_absent};
use crate::kernel::tool::Subject;

/// A path a model named.
pub struct Target {
    /// Absolute, links followed.
    pub path: PathBuf,
    /// As a message to the model names it.
    pub shown: String,
    named: PathBuf,
}

/// What stands there.
pub enum Found {
    /// A regular file.
    File(Metadata),
    /// Nothing.
    Nothing,
}

impl Target {
    /// The target of a path as the model wrote it.
    ///
    /// # Errors
    ///
    /// The path is closed by `sandbox.deny_read`.
    pub fn new(workspace: &Workspace, path: &str) -> Result<Self, String> {
        let named = workspace.resolve(path);
        let shown = workspace.named(&named);
        if !workspace.may_read(&named) {
            return Err(format!("reading {shown} is closed by sandbox.deny_read"));
        }
        Ok(Self { path: canonical(&named), shown, named })
    }

    /// As [`Target::new`], for a call that writes and was permitted for `subject`.
    ///
    /// # Errors
    ///
    /// Also when the path leads elsewhere by now: the permission was for another file.
    pub fn permitted(workspace: &Workspace, path: &str, subject: &Subject) -> Result<Self, String> {
        let target = Self::new(workspace, path)?;
        match subject {
            Subject::Write(paths) if paths.contains(&target.path) => Ok(target),
            Subject::Write(_)
            | Subject::Read(_)
            | Subject::Command(_)
            | Subject::Url(_)
            | Subject::Task(_)
            | Subject::Other => Err(format!(
                "{} leads elsewhere than when the call was permitted, and was not written; if that is meant, call again",
                target.shown
            )),
        }
    }

    /// Looks what is there, without opening it.
    ///
    /// # Errors
    ///
    /// It is no regular file, or cannot be looked at.
    pub fn look(&self) -> Result<Found, String> {
        let shown = &self.shown;
        let found = match self.path.metadata() {
            Ok(found) => found,
            // Links of /proc lead to what has no path, such as the pipe a program reads from.
            Err(error) if is_absent(&error) => match self.named.metadata() {
                Ok(nameless) if nameless.is_file() => return Err(format!("{shown} is a file that has been removed")),
                Ok(nameless) => nameless,
                Err(_) => return Ok(Found::Nothing),
            },
            Err(error) => return Err(format!("{shown}: {}", save::words(&error))),
        };
        let kind = found.file_type();
        if kind.is_file() {
            return Ok(Found::File(found));
        }
        if kind.is_dir() {
            return Err(format!("{shown} is a directory; list_files shows what is in it"));
        }
        let kind = if kind.is_fifo() {
            "a named pipe"
        } else if kind.is_socket() {
            "a socket"
        } else if kind.is_char_device() || kind.is_block_device() {
            "a device"
        } else {
            "of an unknown kind"
        };
        Err(format!("{shown} is {kind}, not a regular file"))
    }

    /// Opens the file for reading, also one that has something to read only now and then, such as `/proc/kmsg`.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn open(&self) -> io::Result<Steady> {
        // Somebody may have put a pipe there since it was looked at.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(&self.path)?;
        Ok(Steady { file, ran_dry: false })
    }

    /// As [`Target::look`], for a file that has to be there.
    ///
    /// # Errors
    ///
    /// Also when nothing is there: with the names that are near.
    pub fn existing(&self, workspace: &Workspace) -> Result<Metadata, String> {
        match self.look()? {
            Found::File(found) => Ok(found),
            Found::Nothing => Err(missing::explain(workspace, &self.named, Wanted::File)),
        }
    }
}

/// A file that is read without ever waiting for somebody to write to it.
///
/// A file system that does not know how to, such as a remote one, may still wait for its own reasons.
pub struct Steady {
    file: File,
    ran_dry: bool,
}

impl Steady {
    /// The file as it is before anything more is read.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn stamp(&self) -> io::Result<Stamp> {
        self.file.metadata().map(|file| Stamp::new(&file))
    }

    /// Whether it ended only because there was nothing to read just then.
    pub fn ran_dry(&self) -> bool {
        self.ran_dry
    }
}

impl Read for Steady {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ran_dry {
            return Ok(0);
        }
        match self.file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.ran_dry = true;
                Ok(0)
            }
            read => read,
        }
    }
}

/// Whether a file is inside of a folder that does not take it: a parent that is a file.
pub fn blocking_parent(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|parent| parent.exists()).filter(|parent| !parent.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FileType, Mode};
    use std::io::Write as _;

    #[test]
    fn what_has_no_path_is_named() {
        use std::os::fd::AsRawFd as _;
        let (reader, _writer) = io::pipe().unwrap();
        let workspace = Workspace::new("/".into(), None, &[]).unwrap();
        let target = Target::new(&workspace, &format!("/proc/self/fd/{}", reader.as_raw_fd())).unwrap();
        assert!(target.look().is_err_and(|told| told.ends_with(" is a named pipe, not a regular file")));
    }

    #[test]
    fn what_has_nothing_to_read_now_is_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let mut writer = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let target = Target { shown: "pipe".into(), named: path.clone(), path };
        let mut text = String::new();
        writer.write_all(b"some").unwrap();
        let mut steady = target.open().unwrap();
        steady.read_to_string(&mut text).unwrap();
        assert!(text == "some" && steady.ran_dry());
        writer.write_all(b"more").unwrap();
        assert_eq!(steady.read(&mut [0; 8]).unwrap(), 0, "an end is an end");
    }
}
