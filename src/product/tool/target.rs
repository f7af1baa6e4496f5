//! What stands at a path, and why a tool that works on text files must leave it alone.

use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::missing::Wanted;
use super::workspace::Workspace;
use super::{missing, save};
use crate::base::path::canonical;

/// A path a model named.
pub struct Target {
    /// Absolute, links followed.
    pub path: PathBuf,
    /// As it is shown to the model.
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
        let shown = workspace.shown(&named);
        if !workspace.may_read(&named) {
            return Err(format!("reading {shown} is closed by sandbox.deny_read"));
        }
        Ok(Self { path: canonical(&named), shown, named })
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
            Err(error) if is_missing(&error) => return Ok(Found::Nothing),
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

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Whether a file is inside of a folder that does not take it: a parent that is a file.
pub fn blocking_parent(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|parent| parent.exists()).filter(|parent| !parent.is_dir())
}
