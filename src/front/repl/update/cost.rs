//! What `/cost` tells: tokens and money of the last turn, of the session, and of today, model by model.

use std::fmt::Write as _;

use crate::base::text::numbers::{grouped, tokens};
use crate::base::text::width::{cut, width};
use crate::front::repl::message::Cmd;
use crate::front::repl::state::{Spending, State};
use crate::model::message::Origin;
use crate::model::usage::Usage;
use crate::product::session::spent::{Spent, Tally};

use super::command::report;

/// `/cost`: what is on disk has to be asked for.
pub(super) fn ask(state: &State) -> Vec<Cmd> {
    let kept = state.session.as_ref().filter(|session| session.kept).map(|session| session.id.clone());
    vec![Cmd::AddUp(kept)]
}

/// What answers took is known.
pub(super) fn shown(state: &mut State, session: Spent, today: Spent) -> Vec<Cmd> {
    let is_kept = state.session.as_ref().is_some_and(|session| session.kept);
    let Spending { last, here } = &state.spending;
    let (session, mut today) = (if is_kept { session } else { here.clone() }, today);
    if !is_kept {
        today.join(here);
    }
    let mut rows = Vec::new();
    if let Some((origin, tally)) = last {
        rows.push(Row { name: "last turn".to_owned(), tally: *tally, of: Some(origin.clone()) });
    }
    rows.extend(section("session", &session));
    rows.extend(section("today", &today));
    if rows.is_empty() {
        return report(state, "Nothing has been asked yet today.");
    }
    let mut text = if state.look.width >= TABLE_COLUMNS { table(&rows) } else { list(&rows, state.look.width) };
    if rows.iter().any(|row| (1..row.tally.answers).contains(&row.tally.unpriced)) {
        text.push_str("+ some answers have no known price\n");
    }
    report(state, &text)
}

/// What one line tells.
struct Row {
    name: String,
    tally: Tally,
    /// The model, where it is one that answered.
    of: Option<Origin>,
}

/// The sum, and below it the models, if there are several.
fn section(name: &str, spent: &Spent) -> Vec<Row> {
    if spent.models.is_empty() {
        return Vec::new();
    }
    let only = match spent.models.as_slice() {
        [(origin, _)] => Some(origin.clone()),
        [] | [_, ..] => None,
    };
    let mut rows = vec![Row { name: name.to_owned(), tally: spent.total(), of: only }];
    if spent.models.len() > 1 {
        let models = spent.models.iter();
        rows.extend(models.map(|(origin, tally)| Row {
            name: format!("  {}", model(origin)),
            tally: *tally,
            of: None,
        }));
    }
    rows
}

fn model(origin: &Origin) -> String {
    format!("{}/{}", origin.provider, origin.model)
}

/// Screens of fewer columns get lines in place of columns.
const TABLE_COLUMNS: usize = 76;
/// Columns of a name at most, and of each number.
const NAME: usize = 30;
const NUMBER: usize = 10;

fn table(rows: &[Row]) -> String {
    let names: Vec<String> = rows.iter().map(|row| cut(&named(row), NAME, "…")).collect();
    let wide = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let mut text = format!("{:wide$}{:>NUMBER$}{:>NUMBER$}{:>NUMBER$}  {:>9}\n", "", "in", "cached", "out", "cost");
    for (name, row) in names.iter().zip(rows) {
        let Usage { input, output, cache_read, cache_write, reasoning: _ } = row.tally.usage;
        let [new, cached, out] = [input + cache_write, cache_read, output].map(grouped);
        let gap = " ".repeat(wide - width(name));
        let _ = writeln!(text, "{name}{gap}{new:>NUMBER$}{cached:>NUMBER$}{out:>NUMBER$}  {:>9}", money(&row.tally));
    }
    text
}

fn list(rows: &[Row], columns: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let Usage { input, output, cache_read, cache_write, reasoning: _ } = row.tally.usage;
        let name = cut(&named(row), columns.saturating_sub(2), "…");
        let [new, cached, out] = [input + cache_write, cache_read, output].map(tokens);
        let _ = writeln!(text, "{name}\n    {new} in, {cached} cached, {out} out, {}", priced(&row.tally));
    }
    text
}

/// What it cost, where no heading says that this is a price.
fn priced(tally: &Tally) -> String {
    let money = money(tally);
    if money.starts_with('$') { money } else { format!("price {money}") }
}

/// A sum names its model where there is only one.
fn named(row: &Row) -> String {
    match &row.of {
        Some(origin) => format!("{} {}", row.name, model(origin)),
        None => row.name.clone(),
    }
}

/// Dollars; a `+` behind them says that not all prices are known. Nothing is free only because nobody knows its price.
fn money(tally: &Tally) -> String {
    let known = if tally.dollars > 0.0 && tally.dollars < 1.0 {
        format!("${:.4}", tally.dollars)
    } else {
        format!("${:.2}", tally.dollars)
    };
    match tally.answers - tally.unpriced {
        _ if tally.unpriced == 0 => known,
        0 => "unknown".to_owned(),
        _ => format!("{known}+"),
    }
}
