//! The project's layer: which folder is the project, and what of its file counts before anybody trusts it.
//!
//! Pure but for looking for the file: it neither asks nor remembers whom to trust.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::keys::Project as Policy;
use super::layer::{Entry, Values};
use super::naming;
use crate::product::repository;

/// The project's settings.
pub const FILE: &str = ".viola.json";
/// MCP servers, as other programs write them too.
pub const MCP_FILE: &str = ".mcp.json";

/// Where the project is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// The folder its settings are about, links followed: that of the file, else the repository's, else the working
    /// directory.
    pub root: PathBuf,
    /// Its settings, where it has any.
    pub file: Option<PathBuf>,
    /// How far its texts may reach: the repository's root, else `root`.
    pub reach: PathBuf,
}

/// Finds the project of a working directory: the nearest `.viola.json` up to the root of the repository. Outside a
/// repository only the working directory itself counts, so that a stray file in a parent folder does nothing.
pub fn find(cwd: &Path) -> Project {
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let top = repository::root(&cwd).unwrap_or(&cwd);
    let inside = cwd.ancestors().take_while(|folder| folder.starts_with(top));
    let file = inside.map(|folder| folder.join(FILE)).find(|file| file.symlink_metadata().is_ok());
    let root = file.as_deref().and_then(Path::parent).unwrap_or(top).to_owned();
    Project { root, file, reach: top.to_owned() }
}

/// Parts a project's settings into those that count for anybody, and those that need trust. `below` is what holds
/// without the project.
pub fn part(entries: Vec<Entry>, below: &Values) -> (Vec<Entry>, Vec<Entry>) {
    entries.into_iter().partition(|entry| counts(entry, below))
}

fn counts(entry: &Entry, below: &Values) -> bool {
    let set = below.at(&entry.path.iter().map(String::as_str).collect::<Vec<_>>()).map(|held| &held.value);
    let set_number = set.and_then(Value::as_f64);
    let lowers = |limit: Option<f64>| match (entry.value.as_f64(), limit) {
        (Some(value), Some(limit)) => value <= limit,
        (Some(_), None) => true,
        (None, _) => false,
    };
    match entry.key.project {
        Policy::Free | Policy::Add => true,
        Policy::Never => false,
        Policy::Lower => lowers(set_number),
        Policy::LowerWhatIsSet => set_number.is_some() && lowers(set_number),
        // 0 is no limit: the highest there is.
        Policy::LowerFromZero => {
            let limit = set_number.filter(|limit| *limit != 0.0);
            if entry.value.as_f64() == Some(0.0) { limit.is_none() } else { lowers(limit) }
        }
        Policy::Model => naming::specs(&entry.value).all(|spec| naming::stays(spec, below)),
    }
}
