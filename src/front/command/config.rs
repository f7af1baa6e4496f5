//! `agent config show|path|init|get|set`: the settings that hold, where each is from, and changing the user's file.
//!
//! Starts with a configuration that is broken, says what is wrong with it, and shows no secret.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{DONE, Form, written};
use crate::base::env::Env;
use crate::base::json::Object;
use crate::base::text::visible;
use crate::product::config::keys::{self, KEYS, Key, KeyPath, Place};
use crate::product::config::kind::Kind;
use crate::product::config::layer::{Held, Problem, Source};
use crate::product::config::mask::masked;
use crate::product::config::{Flags, Loaded, inspect};
use crate::product::error::{self, Error};
use crate::product::files;

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Every value with its origin; with a key only what is at or below it, and what each layer says.
    Show {
        /// Spelt with dots.
        key: Option<String>,
        /// For programs or for people.
        form: Form,
    },
    /// Where the files are.
    Path,
    /// Make a file to begin with, unless there is one.
    Init,
    /// One value.
    Get {
        /// Spelt with dots.
        key: String,
        /// For programs or for people.
        form: Form,
    },
    /// Change one value in the user's file.
    Set {
        /// Spelt with dots.
        key: String,
        /// As typed; `null` takes the setting out.
        value: String,
    },
}

/// Carries an action out. `out` gets the answer, `err` what is wrong with the configuration.
///
/// # Errors
///
/// Usage: a key that is not known, a value it does not take. Failed: a file that cannot be written.
pub fn run(action: &Action, env: &Env, flags: &Flags, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Error> {
    let loaded = inspect(env, flags);
    match action {
        Action::Show { key, form } => {
            let path = key.as_deref().map(known).transpose()?.unwrap_or_default();
            written(complain(&loaded, err).and_then(|()| show(&loaded, &path, *form, out)))
        }
        Action::Path => written(writeln!(out, "{}", loaded.user_file.display()).map(|()| DONE)),
        Action::Init => init(&loaded, out),
        Action::Get { key, form } => {
            let path = known(key)?;
            written(complain(&loaded, err).and_then(|()| match loaded.problems.is_empty() {
                true => get(&loaded, &path, *form, out),
                // A script would take the default for what the user has set.
                false => Ok(error::Kind::Usage.exit_code()),
            }))
        }
        Action::Set { key, value } => set(&loaded, key, value, out),
    }
}

/// Says what is wrong with the configuration, a line each.
///
/// # Errors
///
/// When it cannot be written.
pub fn complain(loaded: &Loaded, err: &mut dyn Write) -> io::Result<()> {
    for Problem { message, hint } in &loaded.problems {
        writeln!(err, "error: {message}")?;
        if let Some(hint) = hint {
            writeln!(err, "hint: {hint}")?;
        }
    }
    for notice in &loaded.notices {
        writeln!(err, "notice: {}", notice.text)?;
    }
    Ok(())
}

fn known(key: &str) -> Result<KeyPath, Error> {
    let path = keys::path(key);
    match keys::place(&path) {
        Place::Key(_) | Place::Group => Ok(path),
        Place::Unknown => Err(unknown(&path)),
    }
}

fn unknown(path: &[String]) -> Error {
    let error = Error::usage(format!("unknown key `{}`", keys::shown(&path.join("."))));
    match keys::nearest(path) {
        Some(known) => error.hint(format!("did you mean `{}`?", keys::shown(&known))),
        None => error.hint("`agent config show` lists the keys"),
    }
}

fn show(loaded: &Loaded, path: &[String], form: Form, out: &mut dyn Write) -> io::Result<u8> {
    let rows: Vec<_> = rows(loaded).into_iter().filter(|row| row.path.starts_with(path)).collect();
    match form {
        Form::Json => {
            let all: Object = rows.iter().map(|row| (row.path.join("."), row.json())).collect();
            writeln!(out, "{}", pretty(&Value::Object(all)))?;
        }
        Form::Text => {
            let widths = [
                rows.iter().map(|row| row.path.join(".").chars().count()).max().unwrap_or(0),
                rows.iter().map(|row| row.text().chars().count()).max().unwrap_or(0).min(MAX_COLUMN),
            ];
            for row in &rows {
                let [name, value] = widths;
                writeln!(out, "{:name$}  {:value$}  {}", visible::line(&row.path.join(".")), row.text(), row.origin())?;
                if !path.is_empty() {
                    row.write_said(out)?;
                }
            }
        }
    }
    out.flush()?;
    Ok(DONE)
}

/// A longer value pushes its origin to the right, in its own row alone.
const MAX_COLUMN: usize = 44;

/// A key, and what holds for it.
struct Row<'a> {
    path: KeyPath,
    key: &'static Key,
    held: Option<&'a Held>,
}

/// Every key, also those without a value, in the order of the table.
fn rows(loaded: &Loaded) -> Vec<Row<'_>> {
    let held = loaded.values.in_order();
    let mut rows = Vec::new();
    for key in KEYS {
        let mine = held.iter().filter(|(_, held)| std::ptr::eq(held.key, key));
        let before = rows.len();
        rows.extend(mine.map(|(path, held)| Row { path: (*path).clone(), key, held: Some(held) }));
        if rows.len() == before && !key.name.contains('*') {
            rows.push(Row { path: keys::path(key.name), key, held: None });
        }
    }
    rows
}

impl Row<'_> {
    fn value(&self) -> Value {
        self.held.map_or(Value::Null, |held| masked(&self.path, &held.value))
    }

    fn text(&self) -> String {
        let text = match (self.held, self.value()) {
            (None, _) => "-".to_owned(),
            (Some(_), Value::String(text)) if !text.is_empty() => visible::line(&text).into_owned(),
            (Some(_), value) => visible::line(&value.to_string()).into_owned(),
        };
        if self.key.is_built { text } else { format!("{text} (not built)") }
    }

    fn origin(&self) -> String {
        let Some(Held { source, .. }) = self.held else { return "not set".to_owned() };
        match source.detail() {
            Some(detail) => format!("{}: {}", source.layer(), visible::line(&detail)),
            None => source.layer().to_owned(),
        }
    }

    fn write_said(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "    {} ({})", self.key.doc, self.key.kind.expected())?;
        let said = self.held.map(|held| held.said.as_slice()).unwrap_or_default();
        for (source, value) in said.iter().rev() {
            let value = masked(&self.path, value).to_string();
            writeln!(out, "    {} says {}", visible::line(&source.to_string()), visible::line(&value))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let source = self.held.map(|held| &held.source);
        let mut object = json!({
            "value": self.value(),
            "layer": source.map(Source::layer),
            "origin": source.and_then(Source::detail),
        });
        if !self.key.is_built {
            object["built"] = Value::Bool(false);
        }
        object
    }
}

fn get(loaded: &Loaded, path: &[String], form: Form, out: &mut dyn Write) -> io::Result<u8> {
    let below: Vec<_> = rows(loaded).into_iter().filter(|row| row.path.starts_with(path)).collect();
    let value = match below.as_slice() {
        [row] if row.path == path => row.value(),
        rows => nested(rows, path.len()),
    };
    match (form, &value) {
        // A script tells "not set" from an empty text by the exit code.
        (Form::Text, Value::Null) => return Ok(super::NO),
        (Form::Text, Value::String(text)) => writeln!(out, "{text}")?,
        (Form::Text | Form::Json, value) => writeln!(out, "{}", pretty(value))?,
    }
    out.flush()?;
    Ok(DONE)
}

fn nested(rows: &[Row<'_>], depth: usize) -> Value {
    let mut all = Object::new();
    for row in rows.iter().filter(|row| row.held.is_some()) {
        if let Some((last, parents)) = row.path[depth..].split_last()
            && let Some(group) = descend(&mut all, parents)
        {
            group.insert(last.clone(), row.value());
        }
    }
    Value::Object(all)
}

/// The object at a path, made where there is none; `None` where something else is in the way.
fn descend<'a>(object: &'a mut Object, path: &[String]) -> Option<&'a mut Object> {
    let Some((first, rest)) = path.split_first() else { return Some(object) };
    let inner = object.entry(first.clone()).or_insert_with(|| Value::Object(Object::new()));
    if inner.is_null() {
        *inner = Value::Object(Object::new());
    }
    descend(inner.as_object_mut()?, rest)
}

fn set(loaded: &Loaded, name: &str, text: &str, out: &mut dyn Write) -> Result<u8, Error> {
    let path = keys::path(name);
    let key = match keys::place(&path) {
        Place::Key(key) => key,
        Place::Group => return Err(Error::usage(format!("`{name}` is a group of settings")).hint(members(&path))),
        Place::Unknown => return Err(unknown(&path)),
    };
    let value = if text == "null" { None } else { Some(parse(key, name, text)?) };
    let change = |object: &mut Object| {
        let (last, parents) = path.split_last()?;
        let group = descend(object, parents)?;
        match value {
            Some(value) => group.insert(last.clone(), value),
            None => group.shift_remove(last),
        };
        Some(())
    };
    let file = &loaded.user_file;
    match files::update(file, change).map_err(|error| Error::usage(error.to_string()))? {
        None => Err(Error::usage(format!("{}: something that is no object stands above `{name}`", file.display()))),
        Some(()) => {
            let after = loaded.values.get(name).filter(|held| held.source.rank() > USER_RANK);
            written(confirm(file, after, out))
        }
    }
}

/// The rank of the user's file among the layers.
const USER_RANK: u8 = 3;

fn confirm(file: &std::path::Path, above: Option<&Held>, out: &mut dyn Write) -> io::Result<u8> {
    writeln!(out, "written to {}", file.display())?;
    if let Some(held) = above {
        writeln!(out, "here {} overrides it", visible::line(&held.source.to_string()))?;
    }
    out.flush()?;
    Ok(DONE)
}

fn parse(key: &Key, name: &str, text: &str) -> Result<Value, Error> {
    key.kind.parse(text).map_err(|expected| {
        // What was typed may be a key that went to the wrong place, or hold a proxy's password.
        let hides = matches!(key.kind, Kind::Secret | Kind::Proxy);
        let shown = if hides { String::new() } else { format!(", not `{}`", visible::line(text)) };
        Error::usage(format!("`{name}`: expected {expected}{shown}"))
    })
}

fn members(path: &[String]) -> String {
    let inside = KEYS.iter().filter(|key| {
        let mut segments = key.name.split('.');
        path.iter().all(|name| segments.next().is_some_and(|segment| segment == "*" || segment == name))
    });
    format!("it has {}", inside.map(|key| key.name).collect::<Vec<_>>().join(", "))
}

fn init(loaded: &Loaded, out: &mut dyn Write) -> Result<u8, Error> {
    let file = &loaded.user_file;
    let is_new = files::update(file, |object| {
        let is_new = object.is_empty();
        if is_new {
            object.insert("provider".to_owned(), "anthropic".into());
            object.insert("model".to_owned(), "claude-sonnet-4-5".into());
            object.insert("permissions".to_owned(), json!({"allow": [], "ask": [], "deny": []}));
        }
        is_new
    });
    let is_new = is_new.map_err(|error| Error::usage(error.to_string()))?;
    let said = if is_new { "made" } else { "left as it is:" };
    written(writeln!(out, "{said} {}", file.display()).map(|()| DONE))
}

fn pretty(value: &Value) -> String {
    // A Value always has a spelling.
    serde_json::to_string_pretty(value).unwrap_or_default()
}
