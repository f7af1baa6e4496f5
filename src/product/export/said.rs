//! What a transcript tells, whatever it is written in: who spoke when, and how arguments are best read. Pure.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::{Filter, Head, Transcript};
use crate::base::text::{cut, visible};
use crate::model::message::Image;
use crate::product::session::entry::{Content, Kind, MessageLine, Role, SummaryLine};
use crate::product::session::name;

/// How much of the first question stands for a name, in characters.
const TITLE_CHARS: usize = 80;

/// One entry of a transcript.
pub enum Entry {
    /// Somebody said something.
    Message(u64, MessageLine),
    /// What came before was summed up.
    Summary(SummaryLine),
}

/// The entry that a line is; nothing where a later version knows what it is.
pub fn entry(kind: Kind, record: Value) -> Option<Entry> {
    let id = record.get("id").and_then(Value::as_u64).unwrap_or_default();
    match kind {
        Kind::Message => serde_json::from_value(record).ok().map(|line| Entry::Message(id, line)),
        Kind::Summary => serde_json::from_value(record).ok().map(Entry::Summary),
        Kind::Session
        | Kind::Label
        | Kind::Name
        | Kind::Model
        | Kind::Grant
        | Kind::Refused
        | Kind::Prune
        | Kind::Leaf
        | Kind::Checkpoint
        | Kind::Unknown => None,
    }
}

/// What a session is called: by its name, else by its first question, else by its id.
pub fn title(transcript: &Transcript, head: &Head, filter: &Filter<'_>) -> String {
    if let Some(name) = &head.name {
        return name.clone();
    }
    let mut found = None;
    // Ends at the first question; that it ends early is no failure.
    let _ = transcript.each(filter, &mut |kind, record| {
        let Some(Entry::Message(_, line)) = entry(kind, record) else { return Ok(()) };
        if line.role != Role::User {
            return Ok(());
        }
        // What stands before the last text is context that the agent put there.
        let texts = line.content.iter().rev().filter_map(|part| match part {
            Content::Text { text, .. } => text.as_deref(),
            Content::Image { .. }
            | Content::Reasoning { .. }
            | Content::ToolUse { .. }
            | Content::ToolResult { .. }
            | Content::Unknown => None,
        });
        found = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).find(|text| !text.is_empty());
        if found.is_some() { Err(std::io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    });
    found.map_or_else(|| format!("Session {}", head.id), |text| cut::ellipsis(&text, TITLE_CHARS))
}

/// Text of several lines as a transcript shows it: with everything in it to be seen.
pub fn shown(text: &str) -> String {
    visible::lines(&text.replace("\r\n", "\n")).into_owned()
}

/// What `product::prompt` puts around its block.
const SURROUNDINGS: (&str, &str) = ("<environment>\n", "\n</environment>");

/// The parts of a message as a transcript has them: without the block about the surroundings that the agent put before the
/// words of a person. Directory, model and time stand above the transcript.
pub fn parts(line: &MessageLine) -> &[Content] {
    let (first, rest) = match line.content.split_first() {
        Some((Content::Text { text: Some(first), .. }, rest)) if line.role == Role::User => (first, rest),
        Some(_) | None => return &line.content,
    };
    let inner = first.trim_end().strip_prefix(SURROUNDINGS.0).and_then(|inner| inner.strip_suffix(SURROUNDINGS.1));
    // A message that is nothing else was written by somebody.
    let is_block = !rest.is_empty() && inner.is_some_and(|inner| !inner.contains(SURROUNDINGS.1));
    if is_block { rest } else { &line.content }
}

/// As [`shown`], on one line.
pub fn shown_line(text: &str) -> Cow<'_, str> {
    visible::line(text)
}

/// Who says a message.
pub fn speaker(line: &MessageLine) -> String {
    match line.role {
        Role::User => "User".to_owned(),
        Role::Assistant => {
            let (provider, model) = (line.provider.as_deref(), line.model.as_deref());
            let named = format!("{}/{}", provider.unwrap_or_default(), model.unwrap_or_default());
            match named.trim_matches('/') {
                "" => "Assistant".to_owned(),
                named => format!("Assistant ({named})"),
            }
        }
        Role::Tool => "Tool".to_owned(),
        Role::Unknown => "Somebody".to_owned(),
    }
}

/// When something was said; empty where nobody knows.
pub fn time(moment: i64) -> String {
    if moment > 0 { name::readable(moment) } else { String::new() }
}

/// What an image is, and its bytes.
pub fn picture(media_type: &str, data: Option<&str>) -> Image {
    let data = data.and_then(|data| BASE64.decode(data).ok()).unwrap_or_default();
    Image { media_type: media_type.to_owned(), data: data.into() }
}

/// The tools behind the ids of calls.
#[derive(Default)]
pub struct Tools(HashMap<String, String>);

impl Tools {
    /// Learns the names of the calls in a message.
    pub fn learn(&mut self, content: &[Content]) {
        for part in content {
            if let Content::ToolUse { id, name, .. } = part {
                self.0.insert(id.clone(), name.clone());
            }
        }
    }

    /// The tool that a result is from.
    pub fn name<'a>(&'a self, call_id: &'a str) -> &'a str {
        self.0.get(call_id).map_or(call_id, String::as_str)
    }
}

/// A piece of a call's arguments.
pub struct Argument {
    /// Of a text of several lines: its parameter.
    pub name: Option<String>,
    /// JSON, or that text.
    pub text: String,
}

/// The arguments of a call: short ones together as JSON, texts of several lines as they are.
pub fn arguments(input: &Value, raw: Option<&str>) -> Vec<Argument> {
    if let Some(raw) = raw {
        return vec![Argument { name: None, text: shown(raw) }];
    }
    let mut rest = input.clone();
    let mut long = Vec::new();
    if let Some(fields) = rest.as_object_mut() {
        fields.retain(|name, field| match field.as_str() {
            Some(text) if text.contains('\n') => {
                long.push(Argument { name: Some(name.clone()), text: shown(text) });
                false
            }
            Some(_) | None => true,
        });
    }
    let is_empty = rest.as_object().is_some_and(serde_json::Map::is_empty);
    if !is_empty || long.is_empty() {
        let text = shown(&serde_json::to_string_pretty(&rest).unwrap_or_default());
        long.insert(0, Argument { name: None, text });
    }
    long
}
