//! One line of a session on its way out: what is kept elsewhere is put in, and secrets are put out.
//!
//! Nothing is read or written but through what is given.

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use super::Filter;
use crate::base::text::mask::Mask;

/// Stands for something that is kept outside of the file and is not there.
const MISSING: &str = "[this was kept outside of the session's file and could not be found]";

/// A line with all that belongs to it, and without secrets.
pub fn cleared(mut record: Value, filter: &Filter<'_>) -> Value {
    if let Some(fields) = record.as_object_mut() {
        for (name, field) in fields.iter_mut() {
            match field {
                Value::Array(parts) if name == "content" => parts.iter_mut().for_each(|part| clear_part(part, filter)),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_) => hide(field, filter.mask),
            }
        }
    }
    record
}

fn clear_part(part: &mut Value, filter: &Filter<'_>) {
    let Some(fields) = part.as_object_mut() else { return hide(part, filter.mask) };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind.as_str() {
        "text" => put_in(fields, "text", filter, |bytes| String::from_utf8_lossy(&bytes).into_owned()),
        "image" => {
            put_in(fields, "data", filter, |bytes| BASE64.encode(bytes));
            if fields.get("data").and_then(Value::as_str).is_some_and(|data| BASE64.decode(data).is_ok()) {
                // A picture says nothing that could be hidden; whatever its letters spell is chance.
                let data = fields.insert("data".to_owned(), Value::Null);
                hide(part, filter.mask);
                if let (Some(fields), Some(data)) = (part.as_object_mut(), data) {
                    fields.insert("data".to_owned(), data);
                }
                return;
            }
        }
        "tool_result" => {
            if let Some(Value::Array(parts)) = fields.get_mut("content") {
                parts.iter_mut().for_each(|part| clear_part(part, filter));
                let parts = fields.insert("content".to_owned(), Value::Null);
                hide(part, filter.mask);
                if let (Some(fields), Some(parts)) = (part.as_object_mut(), parts) {
                    fields.insert("content".to_owned(), parts);
                }
                return;
            }
        }
        _ => {}
    }
    hide(part, filter.mask);
}

/// Puts what is kept under a hash into the field it was taken from.
fn put_in(fields: &mut Map<String, Value>, name: &str, filter: &Filter<'_>, read: impl Fn(Vec<u8>) -> String) {
    if fields.get(name).is_some_and(Value::is_string) {
        return;
    }
    let Some(Value::String(hash)) = fields.remove("blob") else { return };
    match (filter.resolve)(&hash) {
        Some(bytes) => {
            fields.insert(name.to_owned(), read(bytes).into());
        }
        None => {
            *fields = Map::new();
            fields.insert("type".to_owned(), "text".into());
            fields.insert("text".to_owned(), MISSING.into());
        }
    }
}

/// Hides secrets in every text, also where they name something.
fn hide(value: &mut Value, mask: &Mask) {
    if mask.is_empty() {
        return;
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => mask.apply(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, mask)),
        Value::Object(fields) => {
            let old = std::mem::take(fields);
            fields.extend(old.into_iter().map(|(mut name, mut field)| {
                mask.apply(&mut name);
                hide(&mut field, mask);
                (name, field)
            }));
        }
    }
}

/// Writes a value on one line that drives no terminal.
pub fn write_line(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    let mut line = harmless(serde_json::to_string(value)?);
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// Spells what would drive a terminal or turn the reading direction as JSON does, so that the value stays the same.
fn harmless(json: String) -> String {
    let is_wild = |letter: char| {
        matches!(letter, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if !json.contains(is_wild) {
        return json;
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if is_wild(letter) {
            // All of them are in the first plane, and stand inside of strings.
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}
