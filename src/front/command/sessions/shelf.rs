//! `agent sessions rm`, `name` and `stats`: what is done to the shelf, and what it comes to.
//!
//! Only words and questions; what is done is done by `product::session`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, Write};

use serde_json::{Map, Value, json};

use super::{cost, print};
use crate::base::text::numbers::{count, size, tokens};
use crate::base::text::visible;
use crate::front::command::{DONE, Form, NO, says_yes};
use crate::product::error::Error;
use crate::product::session::shelf::Meant;
use crate::product::session::spent::Tally;
use crate::product::session::stats::{Folder, Stats};
use crate::product::session::store::Store;

/// How many days are listed for people; all of them are in the JSON form.
const DAYS_SHOWN: usize = 14;

/// Who says that sessions may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sure {
    /// The command itself.
    Said,
    /// Somebody who is asked.
    Asked,
}

/// Deletes sessions, by ids or their beginnings, once somebody is sure. The answer is one line of `input`.
///
/// Returns 0 when they are gone, 1 when the answer was no.
///
/// # Errors
///
/// Before anything is deleted: no such session, or several could be meant. After the others were: one that is open, or
/// cannot be deleted.
pub fn remove(
    store: &Store,
    ids: &[String],
    sure: Sure,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<u8, Error> {
    let mut seen = BTreeSet::new();
    let mut meant = ids.iter().map(|id| store.meant(id)).collect::<Result<Vec<Meant>, Error>>()?;
    meant.retain(|meant| seen.insert(meant.id.clone()));
    if sure == Sure::Asked {
        let lines: String = meant.iter().map(|Meant { id, title, .. }| format!("{id}  {}\n", shown(title))).collect();
        let what = if meant.len() == 1 { "this session".to_owned() } else { count(meant.len() as u64, "session") };
        print(out, &format!("{lines}delete {what} for good? [y/N] "))?;
        let is_sure = says_yes(input);
        // Piped input is not echoed: the next words would stand in the same line.
        print(out, "\n")?;
        if !is_sure {
            print(out, "nothing was deleted\n")?;
            return Ok(NO);
        }
    }
    let mut failed = Vec::new();
    for Meant { id, .. } in meant {
        match store.remove(&id) {
            Ok(_) => print(out, &format!("deleted {id}\n"))?,
            Err(error) => failed.push(error),
        }
    }
    let mut failed = failed.into_iter();
    match failed.next() {
        None => Ok(DONE),
        // Each further one would be told with the first.
        Some(error) => Err(failed.fold(error, |error, other| error.hint(format!("also: {other}")))),
    }
}

/// Gives a session a name.
///
/// # Errors
///
/// As [`Store::rename`].
pub fn name(store: &Store, id: &str, name: &str, out: &mut dyn Write) -> Result<u8, Error> {
    let id = store.rename(id, name)?;
    print(out, &format!("named {id}\n"))?;
    Ok(DONE)
}

/// Prints what all sessions come to.
///
/// # Errors
///
/// When it cannot be printed; after it was, also when there may be more sessions than could be seen.
pub fn stats(store: &Store, form: Form, out: &mut dyn Write) -> Result<u8, Error> {
    let stats = store.stats();
    let text = match form {
        Form::Json => format!("{}\n", stats_json(&stats)),
        Form::Text => stats_text(&stats),
    };
    print(out, &text)?;
    stats.unread.map_or(Ok(DONE), Err)
}

fn stats_json(stats: &Stats) -> Value {
    let Stats { sessions, messages, spent, days, folders, unread: _ } = stats;
    let models = spent.models.iter().map(|(origin, tally)| {
        let mut row = tally_json(tally);
        row.insert("provider".to_owned(), json!(origin.provider));
        row.insert("id".to_owned(), json!(origin.model));
        Value::Object(row)
    });
    let days = days.iter().map(|(day, tally)| {
        let mut row = tally_json(tally);
        row.insert("day".to_owned(), json!(day));
        Value::Object(row)
    });
    let disk: Map<String, Value> = folders
        .iter()
        .map(|Folder { name, path, files, bytes }| {
            ((*name).to_owned(), json!({"path": path.display().to_string(), "files": files, "bytes": bytes}))
        })
        .collect();
    json!({
        "sessions": sessions, "messages": messages, "total": tally_json(&spent.total()),
        "models": models.collect::<Vec<_>>(), "days": days.collect::<Vec<_>>(), "disk": disk,
    })
}

/// In the words of the event vocabulary.
fn tally_json(tally: &Tally) -> Map<String, Value> {
    let Tally { answers, usage, dollars, unpriced } = tally;
    let fields = [
        ("answers", json!(answers)),
        ("input_tokens", json!(usage.input)),
        ("output_tokens", json!(usage.output)),
        ("cache_read_tokens", json!(usage.cache_read)),
        ("cache_write_tokens", json!(usage.cache_write)),
        ("reasoning_tokens", json!(usage.reasoning)),
        ("cost_usd", json!(tally.cost())),
        ("known_cost_usd", json!(dollars)),
        ("unpriced", json!(unpriced)),
    ];
    fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

fn stats_text(stats: &Stats) -> String {
    let Stats { sessions, messages, spent, days, folders, unread: _ } = stats;
    let mut text = format!("{}, {}\n", count(*sessions, "session"), count(*messages, "message"));
    if !spent.models.is_empty() {
        let models = spent.models.iter().map(|(origin, tally)| {
            (format!("{}/{}", origin.provider, origin.model).trim_matches('/').to_owned(), *tally)
        });
        table(&mut text, "model", models.chain([("all".to_owned(), spent.total())]).collect());
        let recent = days.len().saturating_sub(DAYS_SHOWN);
        table(&mut text, "day", days.iter().skip(recent).map(|(day, tally)| (day.clone(), *tally)).collect());
        if recent > 0 {
            let _ = writeln!(text, "{} before; --json has all", count(recent as u64, "more day"));
        }
    }
    text.push('\n');
    for Folder { name, path, files, bytes } in folders.iter().filter(|folder| folder.files > 0) {
        let path = path.display().to_string();
        let files = count(*files, "file");
        let _ = writeln!(text, "{name:<11}  {:>9}  {files:>13}  {}", size(*bytes), shown(&path));
    }
    text
}

fn table(text: &mut String, what: &str, rows: Vec<(String, Tally)>) {
    let rows: Vec<_> = rows.into_iter().map(|(name, tally)| (shown(&name), tally)).collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).chain([what.len()]).max().unwrap_or_default();
    let _ = writeln!(
        text,
        "\n{what:<width$}  {:>7}  {:>7}  {:>7}  {:>7}  {:>9}",
        "answers", "input", "cached", "output", "cost"
    );
    for (name, tally) in rows {
        let usage = &tally.usage;
        let (input, cached) = (tokens(usage.input.saturating_add(usage.cache_write)), tokens(usage.cache_read));
        let (output, cost) = (tokens(usage.output), cost(&tally));
        let _ = writeln!(text, "{name:<width$}  {:>7}  {input:>7}  {cached:>7}  {output:>7}  {cost:>9}", tally.answers);
    }
}

fn shown(text: &str) -> String {
    visible::line(text).into_owned()
}
