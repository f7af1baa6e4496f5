//! Layers: where settings come from, what each says, and how they add up.
//!
//! Opens no files and decides no trust.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::keys::{self, Key, KeyPath, Place};
use super::kind::Kind;
use crate::base::env::Env;
use crate::base::json::Object;

/// Where a value comes from. Later ones win; the order of the variants is the order of the layers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Built in.
    Default,
    /// What is known about a provider.
    Preset(String),
    /// The user's file.
    User(PathBuf),
    /// The project's file.
    Project(PathBuf),
    /// An environment variable.
    Variable(String),
    /// An option of the command line.
    Option(String),
}

impl Source {
    /// The number of the first layer that somebody writes.
    pub const USER: u8 = 3;

    /// The layer's number, from 1 to 6.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Default => 1,
            Self::Preset(_) => 2,
            Self::User(_) => 3,
            Self::Project(_) => 4,
            Self::Variable(_) => 5,
            Self::Option(_) => 6,
        }
    }

    /// The layer's name for programs.
    pub fn layer(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Preset(_) => "preset",
            Self::User(_) => "user",
            Self::Project(_) => "project",
            Self::Variable(_) => "environment",
            Self::Option(_) => "command line",
        }
    }

    /// What precisely within the layer: a path, a variable, an option; nothing for defaults.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Default => None,
            Self::Preset(name) | Self::Variable(name) | Self::Option(name) => Some(name.clone()),
            Self::User(path) | Self::Project(path) => Some(path.display().to_string()),
        }
    }
}

impl fmt::Display for Source {
    /// As messages name it: the file, the variable, the option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::User(path) | Self::Project(path) => write!(f, "{}", path.display()),
            Self::Variable(name) | Self::Option(name) => f.write_str(name),
        }
    }
}

/// One setting as somebody wrote it, known to be of its kind.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its place.
    pub path: KeyPath,
    /// The setting.
    pub key: &'static Key,
    /// Its value.
    pub value: Value,
    /// Who wrote it.
    pub source: Source,
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where and what: one line, lower case, no full stop.
    pub message: String,
    /// What to do, where that is known.
    pub hint: Option<String>,
}

/// Checks a file's object and takes it apart. `text` is what it was read from; problems name the line.
pub fn flatten(object: &Object, text: &str, source: &Source) -> (Vec<Entry>, Vec<Problem>) {
    let mut flat = Flat { text, source, entries: Vec::new(), problems: Vec::new() };
    flat.walk(object, &mut Vec::new());
    (flat.entries, flat.problems)
}

/// So many problems of one file are told: finding the line and the meaning of each takes time.
const MAX_PROBLEMS: usize = 50;

struct Flat<'a> {
    text: &'a str,
    source: &'a Source,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

impl Flat<'_> {
    fn walk(&mut self, object: &Object, path: &mut KeyPath) {
        for (name, value) in object {
            path.push(name.clone());
            // `null` is how some write "not set".
            if !value.is_null() {
                self.visit(path, value);
            }
            path.pop();
        }
    }

    fn visit(&mut self, path: &mut KeyPath, value: &Value) {
        match (keys::place(path), value) {
            (Place::Key(key), value) => match key.kind.check(value) {
                Ok(()) => self.entries.push(Entry {
                    path: path.clone(),
                    key,
                    value: value.clone(),
                    source: self.source.clone(),
                }),
                Err(expected) => self.report(path, &format!("`{}`: expected {expected}", shown(path)), None),
            },
            (Place::Group, Value::Object(inner)) => self.walk(inner, path),
            (Place::Group, _) => self.report(path, &format!("`{}`: expected an object", shown(path)), None),
            (Place::Unknown, _) => {
                let is_told = self.problems.len() < MAX_PROBLEMS;
                let meant = if is_told { keys::nearest(path) } else { None };
                let hint = meant.map(|known| format!("did you mean `{}`?", keys::shown(&known)));
                self.report(path, &format!("unknown key `{}`", shown(path)), hint);
            }
        }
    }

    fn report(&mut self, path: &[String], what: &str, hint: Option<String>) {
        match self.problems.len() {
            0..MAX_PROBLEMS => {}
            MAX_PROBLEMS => {
                let message = format!("{}: more of its keys cannot be used", self.source);
                return self.problems.push(Problem { message, hint: None });
            }
            _ => return,
        }
        let place = match locate(self.text, path) {
            Some(line) => format!("{}:{line}", self.source),
            None => self.source.to_string(),
        };
        self.problems.push(Problem { message: format!("{place}: {what}"), hint });
    }
}

fn shown(path: &[String]) -> String {
    keys::shown(&path.join("."))
}

/// The line, from 1, on which the key at `path` stands in a JSON text.
fn locate(text: &str, path: &[String]) -> Option<usize> {
    let found = Locate { path }.deserialize(&mut serde_json::Deserializer::from_str(text)).err()?;
    (found.line() > 0).then(|| found.line())
}

/// Walks down to a key and fails there on purpose: the parser adds the place to the error.
struct Locate<'a> {
    path: &'a [String],
}

impl<'de> DeserializeSeed<'de> for Locate<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Locate<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match self.path.split_first() {
                Some((first, [])) if *first == name => return Err(serde::de::Error::custom("here")),
                Some((first, rest)) if *first == name => map.next_value_seed(Locate { path: rest })?,
                Some(_) | None => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }
}

/// Variables of this program that are no settings.
const NOT_SETTINGS: [&str; 3] = ["VIOLA_CONFIG_DIR", "VIOLA_DATA_DIR", "VIOLA_API_KEY"];
const PREFIX: &str = "VIOLA_";

/// What the environment sets: `VIOLA_BASH__TIMEOUT=60`. Also the problems, and the names that mean nothing.
pub fn environment(env: &Env) -> (Vec<Entry>, Vec<Problem>, Vec<Problem>) {
    let (mut entries, mut problems, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    // The map is sorted: all names with the prefix stand together.
    for (name, text) in env.vars.range(std::ffi::OsString::from(PREFIX)..) {
        if !name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            break;
        }
        let name = &*name.to_string_lossy();
        if NOT_SETTINGS.contains(&name) || text.is_empty() {
            continue;
        }
        let path = keys::path(&name[PREFIX.len()..].to_lowercase().replace("__", "."));
        let key = match keys::place(&path) {
            Place::Key(key) => key,
            Place::Group => {
                let hint = keys::one_of(&path).map(|key| format!("one of them is `{}`", keys::shown(&variable(&key))));
                let message = format!("{}: this is a group of settings, and no setting", keys::shown(name));
                unknown.push(Problem { message, hint });
                continue;
            }
            Place::Unknown => {
                let hint = keys::nearest(&path).map(|known| format!("did you mean `{}`?", variable(&known)));
                unknown.push(Problem { message: format!("{}: no setting has this name", keys::shown(name)), hint });
                continue;
            }
        };
        match text.to_str().ok_or_else(|| "UTF-8 text".to_owned()).and_then(|text| key.kind.parse(text)) {
            Ok(value) => entries.push(Entry { path, key, value, source: Source::Variable(name.to_owned()) }),
            Err(expected) => {
                problems.push(Problem { message: format!("{}: expected {expected}", keys::shown(name)), hint: None });
            }
        }
    }
    (entries, problems, unknown)
}

/// The variable that sets a key.
pub fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_uppercase().replace('.', "__"))
}

/// A setting that holds: its value, where it is from, and what it overrides.
#[derive(Clone, Debug)]
pub struct Held {
    /// The setting.
    pub key: &'static Key,
    /// The value that counts.
    pub value: Value,
    /// The last layer that had a say.
    pub source: Source,
    /// What each layer said, lowest first; the last is the source's own.
    pub said: Vec<(Source, Value)>,
}

impl Held {
    /// The last layer that lists `item`; without one, or where none does, the last that had a say. Joined lists hold
    /// items of several.
    fn source_of(&self, item: Option<&str>) -> &Source {
        let lists = |value: &Value| {
            value.as_array().is_some_and(|items| items.iter().any(|one| item.is_some() && one.as_str() == item))
        };
        self.said.iter().rev().find(|(_, value)| lists(value)).map_or(&self.source, |(source, _)| source)
    }
}

/// All settings that hold, by place.
#[derive(Clone, Debug, Default)]
pub struct Values {
    map: BTreeMap<KeyPath, Held>,
}

impl Values {
    /// Lays entries over each other in the order given.
    pub fn merge(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut values = Self::default();
        for Entry { path, key, value, source } in entries {
            values.lay(path, key, value, source);
        }
        values
    }

    /// The value at a place spelt with dots.
    pub fn get(&self, name: &str) -> Option<&Held> {
        self.map.get(&keys::path(name))
    }

    /// How a complaint about a key's value begins, or about one item of its list: with who wrote it.
    pub fn blamed(&self, name: &str, item: Option<&str>) -> String {
        match self.get(name).map(|held| held.source_of(item)) {
            None | Some(Source::Default) => name.to_owned(),
            Some(source) => format!("{source}: {name}"),
        }
    }

    /// Whether an item of a key's list was written by the project.
    pub fn is_of_project(&self, name: &str, item: &str) -> bool {
        self.get(name).is_some_and(|held| matches!(held.source_of(Some(item)), Source::Project(_)))
    }

    /// The value at a place.
    pub fn at(&self, path: &[&str]) -> Option<&Held> {
        self.map.get(&path.iter().map(|&name| name.to_owned()).collect::<KeyPath>())
    }

    /// All of them that lie at or below a place, sorted by it.
    pub fn below<'a>(&'a self, path: &[&str]) -> impl Iterator<Item = (&'a KeyPath, &'a Held)> + use<'a> {
        let path: KeyPath = path.iter().map(|&name| name.to_owned()).collect();
        self.map.range(path.clone()..).take_while(move |(place, _)| place.starts_with(&path))
    }

    /// All of them, in the order of the table.
    pub fn in_order(&self) -> Vec<(&KeyPath, &Held)> {
        let mut all: Vec<_> = self.map.iter().collect();
        all.sort_by_key(|(_, held)| keys::KEYS.iter().position(|key| std::ptr::eq(key, held.key)));
        all
    }

    fn lay(&mut self, path: KeyPath, key: &'static Key, value: Value, source: Source) {
        let said = (source.clone(), value.clone());
        match self.map.entry(path) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(Held { key, value, source, said: vec![said] });
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let held = place.get_mut();
                held.value = combine(key, held.value.take(), value, &source);
                held.source = source;
                held.said.push(said);
            }
        }
    }
}

/// Lists of rules are joined and objects merged; everything else is replaced.
fn combine(key: &Key, below: Value, above: Value, source: &Source) -> Value {
    // Trusted or not: trust covers what was shown, and a project's own lists of this kind are never shown.
    let adds = matches!(source, Source::Project(_)) && key.project == keys::Project::Add;
    match (below, above) {
        (Value::Array(mut items), Value::Array(more)) if adds || key.name.starts_with("permissions.") => {
            for item in more {
                if !items.contains(&item) {
                    items.push(item);
                }
            }
            Value::Array(items)
        }
        (Value::Object(below), Value::Object(above)) if key.kind == Kind::Table => Value::Object(deep(below, above)),
        (_, above) => above,
    }
}

fn deep(mut below: Object, above: Object) -> Object {
    for (name, value) in above {
        let held = below.entry(name).or_insert(Value::Null);
        *held = match (held.take(), value) {
            (Value::Object(inner), Value::Object(value)) => Value::Object(deep(inner, value)),
            (_, value) => value,
        };
    }
    below
}

#[cfg(test)]
#[path = "layer/tests.rs"]
mod tests;
