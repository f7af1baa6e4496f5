//! Trust in projects: what a user is shown, and the record of having agreed to exactly that.
//!
//! Decides nothing about keys; see [`super::project`].

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::layer::Entry;
use super::project::{MCP_FILE, Project};
use crate::base::clock::Clock;
use crate::base::text::visible;
use crate::product::files::{self, FileError};

/// The record's name in the data folder.
const STORE: &str = "trust.json";
/// A notice names this many settings; a hostile project may have thousands.
const MAX_NAMED: usize = 20;
/// A name or value longer than this, in characters, is cut in a notice.
const MAX_NAME: usize = 80;

/// Everything a project would bring in that needs trust.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Withheld {
    /// Names and values: a key of the project's file, or a file of its own.
    items: Vec<(String, Value)>,
}

impl Withheld {
    /// The settings that need trust, and the files beside them that do.
    pub fn new(entries: &[Entry], project: &Project) -> Self {
        let mut items: Vec<_> = entries.iter().map(|entry| (entry.path.join("."), entry.value.clone())).collect();
        let beside = project.root.join(MCP_FILE);
        match files::read_text(&beside) {
            Ok(None) => {}
            // What does not parse is shown as it stands: it may parse for another reader.
            Ok(Some(text)) => {
                items.push((MCP_FILE.to_owned(), serde_json::from_str(&text).unwrap_or(Value::String(text))));
            }
            // Where not even its name can be looked up, it is there for nobody.
            Err(_) if beside.symlink_metadata().is_err() => {}
            Err(error) => items.push((MCP_FILE.to_owned(), Value::String(error.to_string()))),
        }
        Self { items }
    }

    /// Whether nothing needs trust.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What is asked about: each name with its value, as JSON, safe to print.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.items {
            let value = serde_json::to_string_pretty(value).unwrap_or_default().replace('\n', "\n  ");
            // Writing to a String cannot fail.
            let name = visible::line(name);
            let _ = writeln!(text, "  {name}: {}", visible::lines(&value));
        }
        text
    }

    /// The names, for a notice.
    pub fn named(&self) -> String {
        let named = self.items.iter().take(MAX_NAMED).map(|(name, value)| {
            let full = match (name.as_str(), value) {
                ("model" | "provider", value) => format!("{name} {value}"),
                _ => name.clone(),
            };
            let cut: String = full.chars().take(MAX_NAME).collect();
            visible::line(&cut).into_owned()
        });
        let mut names = named.collect::<Vec<_>>().join(", ");
        if let Some(more) = self.items.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
            let _ = write!(names, " and {more} more");
        }
        names
    }

    /// A hash of exactly the names and values that [`Withheld::shown`] shows. SHA-256: whoever writes the project must
    /// not be able to make two contents that share it.
    fn fingerprint(&self) -> String {
        let spelt = json!(self.items.iter().map(|(name, value)| json!([name, value])).collect::<Vec<_>>()).to_string();
        let digest = ring::digest::digest(&ring::digest::SHA256, spelt.as_bytes());
        digest.as_ref().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// What is known of a project's trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Trust {
    /// It brings nothing that needs any.
    #[default]
    NotNeeded,
    /// Nobody has agreed to it.
    Missing,
    /// Somebody has agreed to something else than what it brings now.
    Changed,
    /// Agreed for this run.
    ThisRun,
    /// Agreed to exactly this.
    Given,
}

impl Trust {
    /// Whether what it brings counts.
    pub fn is_given(self) -> bool {
        match self {
            Self::NotNeeded | Self::ThisRun | Self::Given => true,
            Self::Missing | Self::Changed => false,
        }
    }
}

/// The record of a data folder.
pub fn store(data_dir: &Path) -> PathBuf {
    data_dir.join(STORE)
}

/// Looks a project up.
///
/// # Errors
///
/// A record that cannot be read; it then trusts nobody.
pub fn look_up(data_dir: &Path, root: &Path, withheld: &Withheld) -> Result<Trust, FileError> {
    if withheld.is_empty() {
        return Ok(Trust::NotNeeded);
    }
    let Some(record) = files::read(&store(data_dir))? else { return Ok(Trust::Missing) };
    let agreed = record.object.get(&key_of(root)).and_then(|entry| entry.get("sha256")).and_then(Value::as_str);
    Ok(match agreed {
        None => Trust::Missing,
        Some(agreed) if agreed == withheld.fingerprint() => Trust::Given,
        Some(_) => Trust::Changed,
    })
}

/// Records that the user agreed to exactly this.
///
/// # Errors
///
/// A record that cannot be read or written.
pub fn give(data_dir: &Path, root: &Path, withheld: &Withheld, clock: Clock) -> Result<(), FileError> {
    let entry = json!({"sha256": withheld.fingerprint(), "trusted_at": clock.now_ms()});
    files::update(&store(data_dir), |object| {
        object.insert(key_of(root), entry);
    })
}

/// A root's name in the record. Bytes that are no UTF-8 are spelt out, so that two roots never share a name.
fn key_of(root: &Path) -> String {
    root.to_str().map_or_else(|| format!("{:?}", root.as_os_str()), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_even_be_looked_up_needs_no_trust() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        let beside = |root: &str| Withheld::new(&[], &Project { root: folder.path().join(root), ..Project::default() });
        assert!(beside("loop").is_empty());
        std::os::unix::fs::symlink("loop", folder.path().join(MCP_FILE)).unwrap();
        assert_eq!(beside(".").named(), MCP_FILE, "this one is there, whatever it holds");
    }
}
