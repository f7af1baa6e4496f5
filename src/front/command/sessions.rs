//! `agent sessions list` and `agent sessions show`: what there is, and what was said; the other commands are below.
//!
//! Only words and columns; what is known of a session comes from `product::session`.

pub mod export;
pub mod import;
pub mod search;
mod shelf;

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::Form;
use crate::base::text::numbers::{count, dollars};
use crate::base::text::{cut, visible};
use crate::model::message::Image;
use crate::product::error::Error;
use crate::product::session::given;
use crate::product::session::list::Info;
use crate::product::session::look::Depth;
use crate::product::session::name::readable;
use crate::product::session::notes::{self, Notes};
use crate::product::session::picks::called;
use crate::product::session::shelf::{Listed, Scope as Where};
use crate::product::session::spent::{self, Tally};
use crate::product::session::store::{History, Selector, Store};

pub use shelf::{Sure, name, remove, stats};

/// How much of a directory is shown in a list: its end tells directories apart.
const CWD_CHARS: usize = 40;
/// How much of a result is shown; the whole is in the JSON form.
const RESULT_LINES: usize = 20;

/// How the end of an answer is written that somebody interrupted.
const INTERRUPTED: &str = "aborted";

/// Which sessions are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of the working directory.
    Here,
    /// Those of all directories.
    All,
}

/// Prints the sessions there are, the one with the last activity first.
///
/// # Errors
///
/// When it cannot be printed; after it was, also when there may be more sessions than could be seen.
pub fn list(store: &Store, cwd: &Path, scope: Scope, form: Form, out: &mut dyn Write) -> Result<(), Error> {
    let within = match scope {
        Scope::Here => Where::Directory(cwd),
        Scope::All => Where::All,
    };
    let Listed { mut infos, unread } = store.listed(within, Depth::Whole);
    for info in infos.iter_mut().filter(|info| given::folder(&info.path).is_dir()) {
        info.spent = Some(spent::of(&info.path));
    }
    let text = match form {
        Form::Json => format!("{}\n", Value::from(infos.iter().map(info_json).collect::<Vec<_>>())),
        Form::Text if infos.is_empty() && unread.is_some() => String::new(),
        Form::Text if infos.is_empty() => match scope {
            Scope::Here => {
                "No sessions in this directory; `agent sessions list --all` shows those of others.\n".to_owned()
            }
            Scope::All => "No sessions.\n".to_owned(),
        },
        Form::Text => infos.iter().map(|info| info_line(info, scope)).collect(),
    };
    print(out, &text)?;
    unread.map_or(Ok(()), Err)
}

/// Prints a conversation, from its beginning to where it stands.
///
/// # Errors
///
/// When there is no such session, it cannot be read, or it cannot be printed.
pub fn show(store: &Store, selector: &Selector, cwd: &Path, form: Form, out: &mut dyn Write) -> Result<(), Error> {
    let Some(history) = store.history(selector, cwd)? else {
        return Err(Error::usage("this directory has no session"));
    };
    // What was said is there all the same.
    let notes = notes::read(&history.path).unwrap_or_default();
    let text = match form {
        Form::Json => format!("{}\n", history_json(&history, &notes)),
        Form::Text => history_text(&history, &notes),
    };
    print(out, &text)
}

/// The session as the vocabulary of the wire knows it.
pub fn info_json(info: &Info) -> Value {
    let Info { id, path: _, name, title, cwd, created_at, updated_at, model, messages, parent, spent } = info;
    json!({
        "id": id, "name": name, "title": title, "parent": parent, "cwd": cwd, "created_at": created_at, "updated_at": updated_at,
        "model": format!("{}/{}", model.provider, model.model), "messages": messages,
        "cost_usd": spent.as_ref().and_then(|spent| spent.total().cost()),
    })
}

fn info_line(info: &Info, scope: Scope) -> String {
    let when = readable(info.updated_at);
    let place = match scope {
        Scope::Here => String::new(),
        Scope::All => format!("{:<CWD_CHARS$}  ", visible::line(cut::tail(&info.cwd, CWD_CHARS))),
    };
    let cost = info.spent.as_ref().map_or_else(|| "unknown".to_owned(), |spent| cost(&spent.total()));
    let messages = count(info.messages, "message");
    format!("{}  {when}  {messages:>14}  {cost:>8}  {place}{}\n", info.id, visible::line(called(info)))
}

/// What a session cost; a `+` behind what is known says that some of it is not.
fn cost(tally: &Tally) -> String {
    match (tally.answers, tally.unpriced) {
        (0, _) => "-".to_owned(),
        (_, 0) => dollars(tally.dollars),
        (answers, unpriced) if answers == unpriced => "unknown".to_owned(),
        (_, _) => format!("{}+", dollars(tally.dollars)),
    }
}

fn history_json(history: &History, notes: &Notes) -> Value {
    let History { id, path: _, name, header, records, broken: _, blobs: _ } = history;
    let Notes { labels, branches } = notes;
    let labels: Vec<_> = labels.iter().map(|(id, label)| json!({"target_id": id, "label": label})).collect();
    json!({
        "labels": labels, "branches": branches,
        "id": id, "name": name, "cwd": header.cwd, "created_at": header.created_at, "parent": header.parent,
        "provider": header.provider, "model": header.model, "messages": records,
    })
}

fn history_text(history: &History, notes: &Notes) -> String {
    let History { id, path, name, header, records, broken, blobs } = history;
    let mut text = format!("session  {id}\n");
    let mut line = |key: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{key:<8} {}", visible::line(value));
        }
    };
    line("name", name.as_deref().unwrap_or_default());
    line("in", &header.cwd);
    line("begun", &readable(header.created_at));
    line("model", format!("{}/{}", header.provider, header.model).trim_matches('/'));
    let parent = if given::is_one(path) { "part of" } else { "copy of" };
    line(parent, header.parent.as_deref().unwrap_or_default());
    if notes.branches > 1 {
        line("branches", &format!("{}; this is the one it stands on", notes.branches));
    }
    line("file", &path.display().to_string());
    if *broken > 0 {
        line("damage", &format!("{} could not be read in full", count(*broken as u64, "line")));
    }
    for record in records {
        record_text(&blobs.filled(record), notes, &mut text);
    }
    text
}

fn record_text(record: &Value, notes: &Notes, text: &mut String) {
    let label = record.get("id").and_then(Value::as_u64).and_then(|id| notes.labels.get(&id));
    let label = label.map(|label| format!(" [{}]", visible::line(label))).unwrap_or_default();
    if record.get("type").and_then(Value::as_str) == Some("summary") {
        let _ = write!(text, "\n── summary of what came before ──{label}\n");
        push_visible(text, string(record, "text"));
        return;
    }
    let role = string(record, "role");
    // Results follow their calls without a heading of their own.
    if role != "tool" || !label.is_empty() {
        let _ = write!(text, "\n── {} ──{label}\n", visible::line(role));
    }
    for part in record.get("content").and_then(Value::as_array).into_iter().flatten() {
        part_text(part, text);
    }
    if string(record, "stop_reason") == INTERRUPTED {
        text.push_str("(interrupted)\n");
    }
}

fn part_text(part: &Value, text: &mut String) {
    match string(part, "type") {
        "text" => push_visible(text, string(part, "text")),
        "reasoning" => {
            for line in string(part, "text").lines() {
                let _ = writeln!(text, "  | {}", visible::line(line));
            }
        }
        "image" => {
            // Its bytes say how large it is, where they are here.
            let data = BASE64.decode(string(part, "data")).unwrap_or_default();
            let image = Image { media_type: string(part, "media_type").to_owned(), data: data.into() };
            let _ = writeln!(text, "[picture: {}]", visible::line(&image.label()));
        }
        "tool_use" => {
            let input = part.get("input").map(Value::to_string).unwrap_or_default();
            let raw = part.get("raw").and_then(Value::as_str).unwrap_or(&input);
            let _ = writeln!(text, "> {} {}", visible::line(string(part, "name")), visible::line(raw));
        }
        "tool_result" => result_text(part, text),
        other => {
            let _ = writeln!(text, "[{}]", visible::line(other));
        }
    }
}

fn result_text(result: &Value, text: &mut String) {
    if result.get("is_error").and_then(Value::as_bool) == Some(true) {
        text.push_str("  (failed)\n");
    }
    for part in result.get("content").and_then(Value::as_array).into_iter().flatten() {
        let mut inner = String::new();
        part_text(part, &mut inner);
        let lines = inner.lines().count();
        for line in inner.lines().take(RESULT_LINES) {
            let _ = writeln!(text, "  {line}");
        }
        if lines > RESULT_LINES {
            let _ = writeln!(text, "  … {}", count((lines - RESULT_LINES) as u64, "more line"));
        }
    }
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn push_visible(text: &mut String, said: &str) {
    for line in said.lines() {
        let _ = writeln!(text, "{}", visible::line(line));
    }
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), Error> {
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(|error| Error::failed("cannot print").caused_by(error))
}

#[cfg(test)]
mod tests;
