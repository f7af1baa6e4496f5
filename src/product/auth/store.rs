//! `auth.json`: keys by provider, in a file of the user's own.
//!
//! `{"openai": {"type": "api_key", "key": "…"}}`. Entries of other kinds are kept as they are.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::secret::Secret;
use crate::base::json::Object;
use crate::base::text::visible;
use crate::product::error::Error;
use crate::product::files::{self, FileError};

/// The file's name in the configuration folder.
pub const FILE: &str = "auth.json";

/// What an entry has to look like.
const ENTRY: &str = r#"{"type": "api_key", "key": "…"}"#;

/// What the file held.
#[derive(Clone, Debug, Default)]
pub struct Store {
    path: PathBuf,
    entries: Object,
    problem: Option<String>,
    open_to_others: bool,
}

impl Store {
    /// Reads it. A file that cannot be used holds nothing and is a [`Store::problem`], like an entry that is no key.
    pub fn open(config_dir: &Path) -> Self {
        let path = config_dir.join(FILE);
        match files::read(&path) {
            Ok(None) => Self { path, ..Self::default() },
            Ok(Some(document)) => {
                let open_to_others = files::is_open_to_others(&path);
                let problem = unusable(&path, &document.object);
                Self { path, entries: document.object, problem, open_to_others }
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

    /// All keys, also those of entries that cannot be used: they are secrets, too.
    pub fn keys(&self) -> impl Iterator<Item = Secret> {
        self.entries.values().filter_map(|entry| entry.get("key")?.as_str()).map(Secret::new)
    }

    /// The providers that have one.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|(_, entry)| key_of(entry).is_some()).map(|(name, _)| name.as_str())
    }

    /// Why it could not be read, or which of its entries are no keys; one line that names the file.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Whether other users may read it.
    pub fn is_open_to_others(&self) -> bool {
        self.open_to_others
    }
}

/// Keeps a provider's key, beside whatever else the file holds and others write meanwhile.
///
/// # Errors
///
/// Usage: the file does not parse, and stays as it is. Failed: it cannot be written.
pub fn put(config_dir: &Path, provider: &str, key: &Secret) -> Result<(), Error> {
    let entry = json!({"type": "api_key", "key": key.expose()});
    change(config_dir, |entries| drop(entries.insert(provider.to_owned(), entry)))
}

/// Takes a provider's entry out. Returns whether there was one.
///
/// # Errors
///
/// As [`put`].
pub fn forget(config_dir: &Path, provider: &str) -> Result<bool, Error> {
    // What is not there needs no file made for it.
    let path = config_dir.join(FILE);
    match files::read(&path).map_err(|error| unreadable(&error))? {
        Some(document) if document.object.contains_key(provider) => {
            change(config_dir, |entries| entries.shift_remove(provider).is_some())
        }
        Some(_) | None => Ok(false),
    }
}

/// Whether the file could be changed, as far as its content goes.
///
/// # Errors
///
/// Usage: it does not parse. Failed: it cannot be read.
pub fn readable(config_dir: &Path) -> Result<(), Error> {
    files::read(&config_dir.join(FILE)).map(|_| ()).map_err(|error| unreadable(&error))
}

fn change<T>(config_dir: &Path, change: impl FnOnce(&mut Object) -> T) -> Result<T, Error> {
    files::update(&config_dir.join(FILE), change).map_err(|error| unreadable(&error))
}

fn unreadable(error: &FileError) -> Error {
    match error {
        FileError::Syntax { .. } | FileError::Shape { .. } => {
            Error::usage(error.to_string()).hint("mend or remove the file; it was left as it is")
        }
        FileError::Locked { .. } | FileError::System { .. } => Error::failed(error.to_string()),
    }
}

/// Which entries are no keys, if any.
fn unusable(path: &Path, entries: &Object) -> Option<String> {
    let bad: Vec<_> = entries.iter().filter(|(_, entry)| key_of(entry).is_none()).map(|(name, _)| name).collect();
    let names = bad.iter().map(|name| format!("`{}`", visible::line(name))).collect::<Vec<_>>().join(", ");
    let (entry, is) = if bad.len() == 1 { ("entry", "is no key and is") } else { ("entries", "are no keys and are") };
    (!bad.is_empty()).then(|| format!("{}: the {entry} {names} {is} not used; expected {ENTRY}", path.display()))
}

/// The key of one entry. One of another type is for a program that knows it.
fn key_of(entry: &Value) -> Option<Secret> {
    let is_key = entry.get("type").is_none_or(|kind| kind == "api_key");
    let key = entry.get("key").and_then(Value::as_str).map(Secret::new);
    key.filter(|key| is_key && !key.expose().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(content: &str) -> Store {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), content).unwrap();
        Store::open(folder.path())
    }

    #[test]
    fn an_entry_that_is_no_key_is_named() {
        let good = store(r#"{"a": {"type": "api_key", "key": " k-1 "}, "b": {"key": "k-2"}}"#);
        assert_eq!((good.key("a").unwrap().expose(), good.key("b").unwrap().expose()), ("k-1", "k-2"));
        assert_eq!(good.problem(), None);
        for entry in [
            "5",
            "null",
            r#""k-3""#,
            r#"{"type": "api_key"}"#,
            r#"{"type": "api_key", "key": " "}"#,
            r#"{"type": "x", "key": "k-3"}"#,
            r#"{"type": 1, "key": "k-3"}"#,
            r#"{"key": 3}"#,
        ] {
            let store = store(&format!(r#"{{"mock": {entry}, "a": {{"type": "api_key", "key": "k-1"}}}}"#));
            let problem = store.problem().unwrap();
            assert!(problem.contains("auth.json") && problem.contains("`mock`"), "{entry}: {problem}");
            assert!(!problem.contains("k-3") && !problem.contains('\n'), "{problem}");
            assert!(store.key("mock").is_none() && store.key("a").is_some(), "{entry}");
        }
    }

    #[test]
    fn keys_come_and_go_beside_what_others_keep() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, path) = (folder.path().join("config"), folder.path().join("config").join(FILE));
        assert!(!forget(&dir, "a").unwrap() && !path.exists(), "nothing is made for nothing");
        put(&dir, "a", &Secret::new("k-1")).unwrap();
        put(&dir, "b", &Secret::new("k-2")).unwrap();
        assert!(!files::is_open_to_others(&path));
        std::fs::write(&path, r#"{"x": {"type": "oauth", "token": "t"}, "a": {"key": "k-0"}, "b": 5}"#).unwrap();
        put(&dir, "a", &Secret::new("k-3")).unwrap();
        assert!(forget(&dir, "b").unwrap(), "also what is no key");
        let text: String = std::fs::read_to_string(&path).unwrap().split_whitespace().collect();
        assert_eq!(text, r#"{"x":{"type":"oauth","token":"t"},"a":{"type":"api_key","key":"k-3"}}"#);
        assert!(!files::is_open_to_others(&path), "it is closed when it is written");
        for broken in ["{\n oops", "[]"] {
            std::fs::write(&path, broken).unwrap();
            for error in [
                put(&dir, "a", &Secret::new("k")).unwrap_err(),
                forget(&dir, "a").unwrap_err(),
                readable(&dir).unwrap_err(),
            ] {
                assert!(error.message.contains("auth.json:") && !error.hints.is_empty(), "{error}");
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
        }
    }

    #[test]
    fn a_key_that_is_not_used_is_still_a_secret() {
        let keys: Vec<_> = store(r#"{"x": {"type": "oauth", "key": "k-3"}}"#).keys().collect();
        assert_eq!(keys, [Secret::new("k-3")]);
    }
}
