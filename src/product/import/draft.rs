//! A session while it is being read: lines, what they follow, and what they were called where they are from. Pure.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use serde_json::Value;

use crate::model::message::{Assistant, AssistantPart, Image, Origin, Part, Reasoning};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use crate::product::session::adopt::{Line, Said, Whole};

/// A number below this counts seconds since 1970, not milliseconds: it would be a moment in 1973.
const LEAST_MS: i64 = 100_000_000_000;

/// A session while it is being read.
#[derive(Debug, Default)]
pub struct Draft {
    /// What is there so far.
    pub whole: Whole,
    /// Where the conversation stands: the next line follows this one.
    pub at: Option<usize>,
    /// Where the lines stand, by what they are called where they are from.
    places: HashMap<String, Spot>,
    left_out: BTreeMap<String, u64>,
}

/// Where something foreign stands.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The last line at it or before it.
    pub line: Option<usize>,
    /// The first line at it or after it.
    pub next: usize,
}

impl Draft {
    /// Adds a line behind the last one.
    pub fn add(&mut self, at_ms: i64, said: Said) -> usize {
        let place = self.whole.lines.len();
        self.whole.lines.push(Line { parent: self.at, at_ms, said });
        self.at = Some(place);
        place
    }

    /// Goes on behind what is called so; nothing is the beginning, and what is not known is where it stands now.
    pub fn follow(&mut self, parent: Option<&str>) {
        self.at = match parent {
            None => None,
            Some(name) => self.places.get(name).map_or(self.at, |spot| spot.line),
        };
    }

    /// Remembers what the last line is called. Where nothing was added since, a name stands for what is before it.
    pub fn call(&mut self, name: &str, next: usize) {
        self.places.insert(name.to_owned(), Spot { line: self.at, next });
    }

    /// Where something stands.
    pub fn spot(&self, name: &str) -> Option<Spot> {
        self.places.get(name).copied()
    }

    /// Counts a record that has no place here.
    pub fn leave_out(&mut self, kind: &str) {
        *self.left_out.entry(kind.to_owned()).or_default() += 1;
    }

    /// Counts a part of a type that has no place here, and gives nothing.
    pub fn unknown(&mut self, kind: &str) -> Vec<Part> {
        self.leave_out(&format!("part of type {kind}"));
        Vec::new()
    }

    /// A picture, or its absence counted under `missing`.
    pub fn seen(&mut self, picture: Option<Part>, missing: &str) -> Vec<Part> {
        if picture.is_none() {
            self.leave_out(missing);
        }
        picture.into_iter().collect()
    }

    /// What came of it.
    pub fn finish(self) -> (Whole, BTreeMap<String, u64>) {
        let Self { mut whole, at, places: _, left_out } = self;
        whole.leaf = at;
        if whole.begun == 0 {
            whole.begun = whole.lines.iter().map(|line| line.at_ms).find(|moment| *moment > 0).unwrap_or_default();
        }
        for line in &mut whole.lines {
            // Nothing is older than the session.
            line.at_ms = line.at_ms.max(whole.begun);
        }
        (whole, left_out)
    }
}

/// A field that is text.
pub fn string<'a>(record: &'a Value, key: &str) -> &'a str {
    record.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A field that counts something.
pub fn number(record: &Value, key: &str) -> u64 {
    record.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// A moment in milliseconds since 1970, from a date (RFC 3339) or a number; 0 where it is neither.
pub fn moment(value: Option<&Value>) -> i64 {
    match value {
        Some(Value::String(text)) => text.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond),
        Some(Value::Number(number)) => match number.as_i64().unwrap_or_default().max(0) {
            seconds if seconds < LEAST_MS => seconds * 1000,
            milliseconds => milliseconds,
        },
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => 0,
    }
}

/// Text as a list of parts; none where it is blank.
pub fn text_parts(text: &str) -> Vec<Part> {
    if text.trim().is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] }
}

/// The parts of a content: of the one text that it is, or what `part` makes of each of its items.
pub fn parts(content: Option<&Value>, part: impl FnMut(&Value) -> Vec<Part>) -> Vec<Part> {
    match content {
        Some(Value::String(text)) => text_parts(text),
        Some(Value::Array(items)) => items.iter().flat_map(part).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    }
}

/// A picture of a type and base64; nothing where it is no such thing.
pub fn picture(media_type: &str, data: &str) -> Option<Part> {
    let data = BASE64.decode(data.trim()).ok().filter(|data| !data.is_empty())?;
    media_type
        .starts_with("image/")
        .then(|| Part::Image(Image { media_type: media_type.to_owned(), data: data.into() }))
}

/// A thought without the seal of whoever had it: that one took it for another conversation.
pub fn thought(text: &str) -> Option<AssistantPart> {
    let reasoning = Reasoning { text: text.to_owned(), signature: None, opaque: None };
    (!text.trim().is_empty()).then_some(AssistantPart::Reasoning(reasoning))
}

/// An answer.
pub fn answer(content: Vec<AssistantPart>, origin: &Arc<Origin>, stop: Option<StopReason>, usage: Usage) -> Assistant {
    let calls = content.iter().any(|part| match part {
        AssistantPart::ToolUse(_) => true,
        AssistantPart::Text(_) | AssistantPart::Reasoning(_) => false,
    });
    let stop = stop.unwrap_or(if calls { StopReason::ToolUse } else { StopReason::Stop });
    Assistant { content, origin: Arc::clone(origin), stop, usage }
}
