//! What a process is born with: environment, working directory, home. Read once in `main` and passed down.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::path::open_home;

/// The process's surroundings, as a value.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// All environment variables.
    pub vars: BTreeMap<OsString, OsString>,
    /// The working directory, absolute; empty where it no longer exists or may not be read.
    pub cwd: PathBuf,
    /// The user's home directory, where one is known.
    pub home: Option<PathBuf>,
}

impl Env {
    /// Reads the real surroundings. A home directory that is not absolute is none.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system")]
    pub fn real() -> Self {
        let home = dirs::home_dir().filter(|home| home.is_absolute());
        Self { vars: std::env::vars_os().collect(), cwd: std::env::current_dir().unwrap_or_default(), home }
    }

    /// A variable's value, if it is set, not empty, and UTF-8.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(OsStr::new(name)).and_then(|value| value.to_str()).filter(|value| !value.is_empty())
    }

    /// `path` with a leading `~` replaced by the home directory, made absolute against the working directory.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        open_home(path, &self.cwd, self.home.as_deref())
    }
}
