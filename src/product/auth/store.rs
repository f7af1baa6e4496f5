//! `auth.json`: keys by provider, in a file of the user's own.
//!
//! `{"openai": {"type": "api_key", "key": "…"}}`. Reads it; writing goes through [`crate::product::files::update`].

use std::path::{Path, PathBuf};

use super::key_of;
use super::secret::Secret;
use crate::base::json::Object;
use crate::product::files;

/// The file's name in the configuration folder.
pub const FILE: &str = "auth.json";

/// What the file held.
#[derive(Debug, Default)]
pub struct Store {
    path: PathBuf,
    entries: Object,
    problem: Option<String>,
    open_to_others: bool,
}

impl Store {
    /// Reads it. A file that cannot be used holds nothing and is a [`Store::problem`].
    pub fn open(config_dir: &Path) -> Self {
        let path = config_dir.join(FILE);
        match files::read(&path) {
            Ok(None) => Self { path, ..Self::default() },
            Ok(Some(document)) => {
                let open_to_others = files::is_open_to_others(&path);
                Self { path, entries: document.object, problem: None, open_to_others }
            }
            Err(error) => Self { path, problem: Some(error.to_string()), ..Self::default() },
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A provider's key.
    pub fn key(&self, provider: &str) -> Option<Secret> {
        self.entries.get(provider).and_then(key_of)
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = Secret> {
        self.entries.values().filter_map(key_of)
    }

    /// The providers that have one.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|(_, entry)| key_of(entry).is_some()).map(|(name, _)| name.as_str())
    }

    /// Why it could not be read.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Whether other users may read it.
    pub fn is_open_to_others(&self) -> bool {
        self.open_to_others
    }
}
