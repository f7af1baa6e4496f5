//! `agent sessions search`: what was found, for people and for programs.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::Scope;
use crate::base::text::numbers::count;
use crate::base::text::{cut, visible};
use crate::front::command::{DONE, Form, NO, written};
use crate::product::error::Error;
use crate::product::session::name;
use crate::product::session::search::{Case, Excerpt, Found, Hit, Needle, Resolve};
use crate::product::session::store::Store;

/// How much of a session's title is shown, in characters.
const TITLE_CHARS: usize = 60;

/// What is looked for, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The words.
    pub words: String,
    /// Whether capitals tell them apart.
    pub case: Case,
    /// In which sessions.
    pub scope: Scope,
    /// How many hits are shown at most.
    pub limit: usize,
    /// For whom.
    pub form: Form,
}

/// Prints where words were said, the newest first. Returns 1 where they were not.
///
/// # Errors
///
/// When there are no words, or it cannot be printed; after it was, also when there may be more than could be seen.
pub fn run(
    store: &Store,
    wanted: &Search,
    resolve: Resolve<'_>,
    cwd: &Path,
    out: &mut dyn Write,
    talk: &mut dyn Write,
) -> Result<u8, Error> {
    let Search { words, case, scope, limit, form } = wanted;
    let within = match scope {
        Scope::Here => Some(cwd),
        Scope::All => None,
    };
    let Found { hits, total, unread } = store.search(within, &Needle::new(words, *case)?, *limit, resolve);
    let shown = match form {
        Form::Json => format!("{}\n", Value::from(hits.iter().map(hit_json).collect::<Vec<_>>())),
        Form::Text => hits.iter().map(hit_text).collect(),
    };
    let more = total.saturating_sub(hits.len()) as u64;
    let mut print = || -> io::Result<u8> {
        out.write_all(shown.as_bytes())?;
        out.flush()?;
        if total == 0 {
            writeln!(talk, "nothing found")?;
        } else if more > 0 {
            writeln!(talk, "{} not shown; --limit shows more", count(more, "older hit"))?;
        }
        Ok(if total == 0 { NO } else { DONE })
    };
    let code = written(print())?;
    unread.map_or(Ok(code), Err)
}

fn hit_json(hit: &Hit) -> Value {
    let Hit { session, entry_id, at_ms, source, excerpt: Excerpt { before, words, after } } = hit;
    json!({
        "session": session.id, "name": session.name, "title": session.title, "cwd": session.cwd,
        "entry_id": entry_id, "timestamp": at_ms, "role": source.as_str(),
        "before": before, "match": words, "after": after,
    })
}

fn hit_text(hit: &Hit) -> String {
    let Hit { session, entry_id: _, at_ms, source, excerpt: Excerpt { before, words, after } } = hit;
    let when = name::readable(*at_ms);
    let title = session.name.as_deref().or(session.title.as_deref()).unwrap_or_default();
    let title = cut::ellipsis(title, TITLE_CHARS);
    let mut text = format!("{}  {when}  {:<9}  {}\n", session.id, source.as_str(), visible::line(&title));
    let [before, words, after] = [before, words, after].map(|part| visible::line(part));
    let _ = writeln!(text, "    {before}»{words}«{after}");
    text
}
