//! `auth.json`: keys by provider, in a file of the user's own.
//!
//! `{"openai": {"type": "api_key", "key": "…"}}`. Reads it; writing goes through [`crate::product::files::update`].

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::secret::Secret;
use crate::base::json::Object;
use crate::base::text::visible;
use crate::product::files;

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
    fn a_key_that_is_not_used_is_still_a_secret() {
        let keys: Vec<_> = store(r#"{"x": {"type": "oauth", "key": "k-3"}}"#).keys().collect();
        assert_eq!(keys, [Secret::new("k-3")]);
    }
}
