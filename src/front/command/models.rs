//! `agent models`: who can be asked, what that costs, and what stands in the way of others.
//!
//! Only words and columns; what there is comes from `product::provider`. Shows no key.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{DONE, Form, NO, written};
use crate::base::text::numbers::{count, tokens};
use crate::base::text::visible;
use crate::base::text::width::width;
use crate::product::catalogue::{self, Cost};
use crate::product::error::Error;
use crate::product::provider::facts::Facts;
use crate::product::provider::listing::{Listing, Locked, Scope};
use crate::product::provider::{Listed, Place};

/// What is not known.
const UNKNOWN: &str = "-";

/// Prints the models whose provider, id and name hold every word of `pattern`, upper case or lower; what is wrong goes to
/// `err`. The answer is no where there is none.
///
/// # Errors
///
/// When it cannot be printed.
pub fn run(
    listing: &Listing,
    pattern: Option<&str>,
    form: Form,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let words: Vec<String> = pattern.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let fits = |model: &&Listed| {
        let whole = format!("{}/{} {}", model.provider, model.id, model.label).to_lowercase();
        words.iter().all(|word| whole.contains(word.as_str()))
    };
    let models: Vec<&Listed> = listing.models.iter().filter(fits).collect();
    let text = match form {
        Form::Json => format!("{}\n", value(listing, &models)),
        Form::Text => page(listing, &models, words.is_empty()),
    };
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()).and_then(|()| {
        complain(listing, models.is_empty() && !words.is_empty(), err)?;
        Ok(if models.is_empty() && !words.is_empty() { NO } else { DONE })
    }))
}

fn complain(listing: &Listing, none_fits: bool, err: &mut dyn Write) -> io::Result<()> {
    for problem in &listing.problems {
        writeln!(err, "notice: {}", visible::line(problem))?;
    }
    if let Some(why) = &listing.nobody {
        writeln!(err, "notice: no model would be asked now: {}", visible::line(why))?;
    }
    if none_fits {
        let more = match listing.scope {
            Scope::Usable => "; --all looks at providers without a key, too",
            Scope::All => "",
        };
        writeln!(err, "notice: no model fits{more}")?;
    }
    Ok(())
}

/// One value; fields are only added.
fn value(listing: &Listing, models: &[&Listed]) -> Value {
    let Listing { models: all, locked, problems, nobody, scope: _ } = listing;
    let now = all.iter().find(|model| model.is_current);
    let locked = locked.iter().map(
        |Locked { provider, variable, models }| json!({"provider": provider, "variable": variable, "models": models}),
    );
    json!({
        "models": models.iter().map(|model| entry(model)).collect::<Vec<_>>(),
        "default": now.map(|model| json!({"provider": model.provider, "id": model.id})),
        "nobody": nobody,
        "locked": locked.collect::<Vec<_>>(),
        "problems": problems,
        "catalogue": {"source": catalogue::source(), "date": catalogue::date()},
    })
}

fn entry(model: &Listed) -> Value {
    let Listed { provider, id, label: _, info: _, facts, from, is_current } = model;
    let Facts { label, window, max_output, cost, images, reasoning, tools, until, next } = facts;
    let Cost { input, output, cache_read, cache_write } = cost;
    let cost = (*cost != Cost::default())
        .then(|| json!({"input": input, "output": output, "cache_read": cache_read, "cache_write": cache_write}));
    json!({
        "provider": provider, "id": id, "name": label, "window": window, "max_output": max_output, "cost": cost,
        "images": images, "reasoning": reasoning, "tools": tools, "until": until, "next": next,
        "from": from.as_str(), "current": is_current,
    })
}

fn page(listing: &Listing, models: &[&Listed], is_whole: bool) -> String {
    let rows: Vec<[String; 7]> = models.iter().map(|model| row(model)).collect();
    let mut text = match rows.as_slice() {
        [] => String::new(),
        _ => table(&rows),
    };
    if is_whole {
        text.push_str(&below(listing, models));
    }
    text
}

fn row(model: &Listed) -> [String; 7] {
    let Listed { provider, id, label: _, info: _, facts, from, is_current } = model;
    let number = |number: Option<u64>| number.map_or(UNKNOWN.to_owned(), tokens);
    let dollars = |dollars: Option<f64>| dollars.map_or(UNKNOWN.to_owned(), |dollars| dollars.to_string());
    let able = [(facts.images, "images"), (facts.reasoning, "reasoning"), (facts.tools, "tools")];
    let able: Vec<&str> = able.into_iter().filter(|(is, _)| *is == Some(true)).map(|(_, name)| name).collect();
    let end = facts.until.map(|until| match facts.next {
        Some(next) => format!(", until {until}, then {next}"),
        None => format!(", until {until}"),
    });
    [
        format!("{} {}", if *is_current { "*" } else { " " }, visible::line(&format!("{provider}/{id}"))),
        number(facts.window),
        number(facts.max_output),
        dollars(facts.cost.input),
        dollars(facts.cost.output),
        able.join(" "),
        format!("{}{}", from.as_str(), end.unwrap_or_default()),
    ]
}

/// Columns as wide as what is in them; numbers to the right.
fn table(rows: &[[String; 7]]) -> String {
    const HEAD: [&str; 7] = ["  model", "window", "output", "$ in", "$ out", "can", "from"];
    const NUMBERS: std::ops::Range<usize> = 1..5;
    let head = HEAD.map(str::to_owned);
    let all = || std::iter::once(&head).chain(rows);
    let widths: [usize; 7] = std::array::from_fn(|column| all().map(|row| width(&row[column])).max().unwrap_or(0));
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, columns))| {
            let blank = " ".repeat(columns - width(cell));
            if NUMBERS.contains(&column) { format!("{blank}{cell}") } else { format!("{cell}{blank}") }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    all().map(line).collect()
}

/// What the columns mean, and what a key would add.
fn below(listing: &Listing, models: &[&Listed]) -> String {
    let mut text = String::new();
    if !models.is_empty() {
        text.push_str(
            "\n* would be asked now. Window and output in tokens, prices in US dollars for a million tokens.\n",
        );
    }
    if models.iter().any(|model| model.from == Place::Catalogue) {
        let (source, date) = (catalogue::source(), catalogue::date());
        text.push_str(&format!(
            "The catalogue was made of {source} on {date}; `providers.NAME.models` goes before it.\n"
        ));
    }
    if !listing.locked.is_empty() {
        text.push_str(match listing.scope {
            Scope::Usable => "\nWith a key there would be more; --all lists them:\n",
            Scope::All => "\nThese have no key:\n",
        });
    }
    for Locked { provider, variable, models } in &listing.locked {
        let models = if *models == 0 { "its models".to_owned() } else { count(*models as u64, "model") };
        text.push_str(&format!("  {provider:<11} {models:<10} {variable}\n"));
    }
    text
}

#[cfg(test)]
mod tests;
