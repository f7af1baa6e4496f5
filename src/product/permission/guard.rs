//! Where the file tools may write: the workspace, the temp folder, and what the user opened; and which files there make
//! a write as dangerous as a command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::kernel::port::PendingCall;
use crate::kernel::tool::{Risk, Subject};

/// The name under which the guard's denials are listed.
pub(super) const OUTSIDE: &str = "outside the workspace";

/// Folders whose files make programs run: git's hooks and configuration, our own chains and plugins.
const STARTING_FOLDERS: [&str; 2] = [".git", ".viola"];

/// Files that do: they name commands, or allow them.
const STARTING_FILES: [&str; 2] = [".viola.json", ".mcp.json"];

/// The places that file tools may write to.
#[derive(Debug)]
pub struct Writable {
    root: PathBuf,
    places: Places,
}

#[derive(Debug)]
enum Places {
    Anywhere,
    Only { folders: Vec<PathBuf>, globs: GlobSet },
}

impl Writable {
    /// The workspace at `root`, the folders `more`, and `globs`; all absolute, links followed.
    ///
    /// # Errors
    ///
    /// The glob that is none, and why.
    pub fn only(root: PathBuf, more: Vec<PathBuf>, globs: &[String]) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            for glob in [glob.clone(), format!("{}/**", glob.trim_end_matches('/'))] {
                let built = GlobBuilder::new(&glob).literal_separator(true).build();
                set.add(built.map_err(|error| format!("{glob}: {}", error.kind()))?);
            }
        }
        let globs = set.build().map_err(|error| error.to_string())?;
        let folders = [vec![root.clone()], more].concat();
        Ok(Self { root, places: Places::Only { folders, globs } })
    }

    /// Everywhere, because the user switched the sandbox off.
    pub fn anywhere(root: PathBuf) -> Self {
        Self { root, places: Places::Anywhere }
    }

    /// The workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The risk of a call: its tool's, and of a write that makes programs run later that of running them.
    pub fn risk(&self, call: &PendingCall) -> Risk {
        if self.starting(call).is_some() { Risk::Dangerous } else { call.risk }
    }

    /// What a call is, for the model: a verb and its risk.
    pub(super) fn described(&self, call: &PendingCall) -> String {
        match self.starting(call) {
            Some(path) => {
                let (path, risk) = (path.display(), Risk::Dangerous.as_str());
                format!("counts as {risk}, since what {path} holds can make commands run")
            }
            None => format!("is {}", call.risk.as_str()),
        }
    }

    /// The file a call would write that makes programs run.
    fn starting<'a>(&self, call: &'a PendingCall) -> Option<&'a Path> {
        let Subject::Write(paths) = &call.subject else { return None };
        // Some file systems do not tell cases apart.
        let is = |name: &OsStr, known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        paths.iter().map(PathBuf::as_path).find(|path| {
            // A workspace may itself lie in such a folder.
            path.strip_prefix(&self.root).unwrap_or(path).iter().any(|name| is(name, &STARTING_FOLDERS))
                || path.file_name().is_some_and(|name| is(name, &STARTING_FILES))
        })
    }

    /// Whether a path, absolute and with its links followed, may be written.
    pub fn covers(&self, path: &Path) -> bool {
        match &self.places {
            Places::Anywhere => true,
            Places::Only { folders, globs } => {
                folders.iter().any(|folder| path.starts_with(folder)) || globs.is_match(path)
            }
        }
    }
}
