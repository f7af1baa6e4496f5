//! Where the file tools may write: the workspace, the temp folder, and what the user opened.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The name under which the guard's denials are listed.
pub(super) const OUTSIDE: &str = "outside the workspace";

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
