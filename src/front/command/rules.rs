//! `agent config show --rules`: what the model is told of `AGENTS.md` and its like here, from which file, and why.
//!
//! Shows the text as it is sent; what is in it is found out below.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::{DONE, Form, written};
use crate::base::path::shown;
use crate::base::text::numbers::grouped;
use crate::base::text::visible;
use crate::product::error::Error;
use crate::product::rules::{BUDGET_BYTES, Loaded, Told};

/// Prints the rules: to `out` what is sent, to `err` what a person should know of it.
///
/// # Errors
///
/// When it cannot be printed.
pub fn run(
    loaded: &Loaded,
    home: Option<&Path>,
    form: Form,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    written(show(loaded, home, form, out, err))
}

fn show(loaded: &Loaded, home: Option<&Path>, form: Form, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    match form {
        Form::Json => writeln!(out, "{}", as_json(loaded))?,
        Form::Text => {
            for notice in &loaded.notices {
                writeln!(err, "notice: {}", visible::line(&notice.text))?;
            }
            out.write_all(as_text(loaded, home).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(DONE)
}

/// Bytes of rules that are sent.
fn kept(loaded: &Loaded) -> u64 {
    loaded.files.iter().map(|file| file.kept as u64).sum()
}

fn as_json(loaded: &Loaded) -> Value {
    let files = loaded.files.iter().map(|file| {
        let Told { path, bytes, kept, is_cut, why, imported_by } = file;
        json!({"path": path, "why": why.as_str(), "imported_by": imported_by, "bytes": bytes, "kept": kept, "cut": is_cut})
    });
    json!({
        "files": files.collect::<Vec<_>>(),
        "kept": kept(loaded),
        "budget": BUDGET_BYTES,
        "notices": loaded.notices.iter().map(|notice| notice.text.as_str()).collect::<Vec<_>>(),
        "text": loaded.text,
    })
}

fn as_text(loaded: &Loaded, home: Option<&Path>) -> String {
    if loaded.files.is_empty() {
        return "no rules are sent here: there is no AGENTS.md or CLAUDE.md between the repository's root and this folder\n"
            .to_owned();
    }
    let names: Vec<String> = loaded.files.iter().map(|file| shown(&file.path, home)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (file, name) in loaded.files.iter().zip(&names) {
        let sizes = match file.is_cut {
            true => format!("{} of {} bytes", grouped(file.kept as u64), grouped(file.bytes)),
            false => format!("{} bytes", grouped(file.bytes)),
        };
        text.push_str(&format!("{name:<width$}  {sizes:<24}  {}\n", why(file, home)));
    }
    let (kept, budget) = (grouped(kept(loaded)), grouped(BUDGET_BYTES as u64));
    text.push_str(&format!(
        "{:<width$}  {kept} of at most {budget} bytes\n\n{}\n",
        "in all",
        visible::lines(&loaded.text)
    ));
    text
}

fn why(file: &Told, home: Option<&Path>) -> String {
    match &file.imported_by {
        Some(by) => format!("imported by {}", shown(by, home)),
        None => file.why.as_str().to_owned(),
    }
}
