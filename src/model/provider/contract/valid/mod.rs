//! What a strict server of each wire says about a body: nothing, if it is as the wire's documents want it.
//!
//! Written from the documents and from what servers were seen to refuse, never from what the adapters write.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::collections::HashSet;

use serde_json::Value;

pub use anthropic::check as anthropic;
pub use chat::check as chat;
pub use gemini::check as gemini;
pub use responses::check as responses;

/// What was found wrong.
#[derive(Default)]
struct Complaints {
    said: Vec<String>,
    /// Ids of all calls so far: none may come twice.
    ids: HashSet<String>,
    /// Calls that still wait for their results: id and name.
    open: Vec<(String, String)>,
}

impl Complaints {
    fn say(&mut self, place: &str, what: &str) {
        self.said.push(format!("{place}: {what}"));
    }

    fn check(&mut self, holds: bool, place: &str, what: &str) {
        if !holds {
            self.say(place, what);
        }
    }

    /// The value is an object, has all fields of `must`, and besides them at most those of `may`.
    fn fields(&mut self, value: &Value, place: &str, must: &[&str], may: &[&str]) {
        let Some(object) = value.as_object() else { return self.say(place, &format!("{value} is no object")) };
        for name in must {
            self.check(object.contains_key(*name), place, &format!("no `{name}`"));
        }
        for (name, value) in object {
            let known = must.contains(&name.as_str()) || may.contains(&name.as_str());
            self.check(known, place, &format!("unknown field `{name}`: {value}"));
        }
    }

    /// The value is a text of more than blanks.
    fn words<'a>(&mut self, value: &'a Value, place: &str) -> &'a str {
        let text = value.as_str().unwrap_or_default();
        self.check(!text.trim().is_empty(), place, &format!("{value} where words are due"));
        text
    }

    /// The value is a list of at least one item.
    fn list<'a>(&mut self, value: &'a Value, place: &str) -> &'a [Value] {
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        self.check(!items.is_empty(), place, &format!("{value} where a list of something is due"));
        items
    }

    /// The name of a tool: letters, digits, `_` and `-`, not more than 64.
    fn name(&mut self, value: &Value, place: &str) -> String {
        let name = value.as_str().unwrap_or_default();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        self.check(begins && name.len() <= 64 && name.chars().all(fits), place, &format!("{value} is no tool's name"));
        name.to_owned()
    }

    /// The id of a new call: of at most so many letters, digits, `_` and `-`.
    fn new_id(&mut self, value: &Value, longest: usize, place: &str) -> String {
        let id = value.as_str().unwrap_or_default().to_owned();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let legal = (1..=longest).contains(&id.len()) && id.chars().all(fits);
        self.check(legal, place, &format!("{value} is no id"));
        let new = self.ids.insert(id.clone());
        self.check(new, place, &format!("the id {value} comes twice"));
        id
    }

    /// A result has come: it is that of the first call that waits.
    fn result(&mut self, id: &Value, place: &str) {
        match self.open.first() {
            Some((due, _)) if id.as_str() == Some(due) => drop(self.open.remove(0)),
            Some((due, _)) => {
                let what = format!("a result of {id} where that of {due} is due");
                self.say(place, &what);
            }
            None => self.say(place, &format!("a result of {id}, which nobody waits for")),
        }
    }

    /// Something else than a result has come: none may be due.
    fn settled(&mut self, place: &str) {
        for (id, _) in std::mem::take(&mut self.open) {
            self.say(place, &format!("no result of the call {id} before this"));
        }
    }

    /// A picture's type is one that every vision model takes, and its data is base64 of it.
    fn picture(&mut self, media_type: &Value, data: &Value, place: &str) {
        let types = ["image/png", "image/jpeg", "image/gif", "image/webp"];
        self.check(types.iter().any(|known| media_type == known), place, &format!("{media_type} is no picture"));
        let data = data.as_str().unwrap_or_default();
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
        let coded = !data.is_empty() && data.len().is_multiple_of(4) && data.chars().all(letters);
        self.check(coded, place, "a picture's data is no base64");
    }

    /// The root of a tool's parameters is an object.
    fn schema(&mut self, value: &Value, place: &str) {
        let kind = value["type"].as_str().unwrap_or_default();
        self.check(kind.eq_ignore_ascii_case("object"), place, &format!("a schema whose root is {}", value["type"]));
    }

    /// No text anywhere holds what servers refuse or cut at.
    fn texts(&mut self, value: &Value, place: &str) {
        match value {
            Value::String(text) => self.check(!text.contains('\0'), place, "a text with NUL"),
            Value::Array(items) => items.iter().for_each(|item| self.texts(item, place)),
            Value::Object(object) => object.iter().for_each(|(name, item)| {
                self.check(!name.contains('\0'), place, "a name with NUL");
                self.texts(item, name);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
