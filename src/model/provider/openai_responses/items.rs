//! The items of one answer, put together from their pieces.
//!
//! They are told apart by their place in the answer and their kind, never by their ids: gateways send another id with
//! every event. What an item is when it is done counts; what came before may be less.

use serde_json::Value;

use crate::model::message::{AssistantPart, Reasoning, ToolCall, ToolInput};
use crate::model::provider::Deltas;
use crate::model::reply::Delta;

use super::kept::{self, Kind};

/// The items so far.
#[derive(Debug, Default)]
pub struct Items {
    items: Vec<Item>,
    /// Whether any of it was a refusal.
    pub refused: bool,
}

#[derive(Debug)]
struct Item {
    index: Option<u64>,
    body: Body,
    done: bool,
}

#[derive(Debug)]
enum Body {
    Message { text: String, next: Value },
    Reasoning { text: String, part: Option<ThoughtPart>, item: Option<Value> },
    Call { call_id: String, name: String, streamed: String, given: String, settled: bool, next: Value },
    Unknown,
}

/// Which part of a reasoning item a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThoughtPart {
    /// One of the summary, by its number.
    Summary(Option<u64>),
    /// One of the reasoning itself, by its number.
    Content(Option<u64>),
}

impl Body {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Message => Self::Message { text: String::new(), next: Value::Null },
            Kind::Reasoning => Self::Reasoning { text: String::new(), part: None, item: None },
            Kind::Call => Self::Call {
                call_id: String::new(),
                name: String::new(),
                streamed: String::new(),
                given: String::new(),
                settled: false,
                next: Value::Null,
            },
            Kind::Unknown => Self::Unknown,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Message { .. } => Kind::Message,
            Self::Reasoning { .. } => Kind::Reasoning,
            Self::Call { .. } => Kind::Call,
            Self::Unknown => Kind::Unknown,
        }
    }

    /// Whether a done item is this one again, nothing new in it.
    fn is_same(&self, item: &Value) -> bool {
        match self {
            _ if self.kind() != Kind::of(item) => false,
            Self::Message { text, next } => {
                // Without an id, another may well say the same.
                let is_it = !string(next, "id").is_empty() && *next == kept::next(item);
                is_it && text.trim_end() == whole_text(item, Kind::Message).trim_end()
            }
            Self::Reasoning { item: known, .. } => known.as_ref() == Some(item) && !string(item, "id").is_empty(),
            Self::Call { call_id, name, streamed, given, settled, .. } => {
                let same = |known: &str, field| !known.is_empty() && known == string(item, field);
                same(call_id, "call_id") && same(name, "name") && {
                    let told = written(item.get("arguments"));
                    told.is_empty() || told == passed(streamed, given, *settled)
                }
            }
            Self::Unknown => false,
        }
    }
}

impl Items {
    /// How many there are so far.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Takes a piece of a message.
    pub fn text(&mut self, index: Option<u64>, piece: &str, deltas: Deltas<'_>) {
        let place = self.place(index, Kind::Message);
        self.say(place, piece, deltas);
    }

    fn say(&mut self, place: usize, piece: &str, deltas: Deltas<'_>) {
        if piece.is_empty() {
            return;
        }
        let (before, rest) = self.items.split_at_mut(place);
        let Some(Item { body: Body::Message { text, .. }, .. }) = rest.first_mut() else { return };
        if text.is_empty() {
            let finished = before.iter_mut().rev().filter(|item| item.done).find_map(|item| match &mut item.body {
                Body::Message { text, .. } => Some(text).filter(|text| !text.is_empty()),
                Body::Reasoning { .. } | Body::Call { .. } | Body::Unknown => None,
            });
            // Two messages of one answer are paragraphs to whoever reads on.
            if let Some(earlier) = finished.filter(|earlier| !earlier.ends_with('\n')) {
                earlier.push_str(PARAGRAPH);
                deltas(Delta::Text(PARAGRAPH));
            }
        }
        text.push_str(piece);
        deltas(Delta::Text(piece));
    }

    /// Takes a piece of the reasoning.
    pub fn thought(&mut self, index: Option<u64>, of: ThoughtPart, piece: &str, deltas: Deltas<'_>) {
        let place = self.place(index, Kind::Reasoning);
        let Some(Item { body: Body::Reasoning { text, part, .. }, .. }) = self.items.get_mut(place) else { return };
        match (*part, of) {
            _ if piece.is_empty() => return,
            // The same in other words, or even in the same.
            (Some(ThoughtPart::Summary(_)), ThoughtPart::Content(_))
            | (Some(ThoughtPart::Content(_)), ThoughtPart::Summary(_)) => return,
            (Some(before), _) if before != of => {
                text.push_str(PARAGRAPH);
                deltas(Delta::Reasoning(PARAGRAPH));
            }
            (Some(_) | None, _) => {}
        }
        *part = Some(of);
        text.push_str(piece);
        deltas(Delta::Reasoning(piece));
    }

    /// Takes a piece of a call's arguments.
    pub fn arguments(&mut self, index: Option<u64>, piece: &str) {
        let place = self.place(index, Kind::Call);
        if let Some(Item { body: Body::Call { streamed, .. }, .. }) = self.items.get_mut(place) {
            streamed.push_str(piece);
        }
    }

    /// Takes the whole arguments of a call.
    pub fn settle(&mut self, index: Option<u64>, arguments: Option<&Value>) {
        let place = self.place(index, Kind::Call);
        if let Some(Item { body: Body::Call { given, settled, .. }, .. }) = self.items.get_mut(place) {
            let whole = written(arguments);
            if !whole.is_empty() {
                (*given, *settled) = (whole, true);
            }
        }
    }

    /// An item begins. What it holds already may be half of it.
    pub fn open(&mut self, index: Option<u64>, item: &Value) {
        let kind = Kind::of(item);
        let id = string(item, "call_id");
        let same = |known: &Item| match &known.body {
            Body::Call { call_id, .. } => call_id.is_empty() || call_id == id,
            Body::Message { .. } | Body::Reasoning { .. } | Body::Unknown => true,
        };
        let known = self.items.iter().rposition(|known| {
            index.is_some() && known.index == index && known.body.kind() == kind && !known.done && same(known)
        });
        let place = known.unwrap_or_else(|| self.push(index, kind));
        if let Some(Item { body: Body::Call { call_id, name, given, .. }, .. }) = self.items.get_mut(place) {
            id.clone_into(call_id);
            string(item, "name").clone_into(name);
            *given = written(item.get("arguments"));
        }
    }

    /// An item is done, and as it is to stay.
    pub fn close(&mut self, index: Option<u64>, item: &Value, deltas: Deltas<'_>) {
        let kind = Kind::of(item);
        let id = string(item, "call_id");
        if self.items.iter().any(|known| known.done && known.index == index && known.body.is_same(item)) {
            // Said twice, as proxies do that connect anew in the middle of a stream.
            return;
        }
        // Where the numbers do not tell, a call's own id does, which gateways leave alone.
        let numbered = |known: &Item| known.index == index || known.index.is_none() || index.is_none();
        let called = self.items.iter().rposition(|known| match &known.body {
            Body::Call { call_id, .. } => !id.is_empty() && call_id == id && !known.done && numbered(known),
            Body::Message { .. } | Body::Reasoning { .. } | Body::Unknown => false,
        });
        let place = called.unwrap_or_else(|| match self.find(index, kind) {
            Some(place) if self.items.get(place).is_some_and(|known| !known.done) => place,
            Some(_) | None => self.push(index, kind),
        });
        let told = whole_text(item, kind);
        self.refused |= kind == Kind::Message && has_refusal(item);
        let Some(known) = self.items.get_mut(place) else { return };
        known.done = true;
        match &mut known.body {
            Body::Message { text, next } => {
                *next = kept::next(item);
                let rest = told.strip_prefix(text.as_str()).unwrap_or_default().to_owned();
                self.say(place, &rest, deltas);
            }
            Body::Reasoning { text, item: whole, .. } => {
                *whole = Some(item.clone());
                if let Some(rest) = told.strip_prefix(text.as_str()).filter(|rest| !rest.is_empty()) {
                    deltas(Delta::Reasoning(rest));
                    *text = told;
                }
            }
            Body::Call { call_id, name, given, settled, next, .. } => {
                *next = kept::next(item);
                for (field, told) in [(call_id, id), (name, string(item, "name"))] {
                    if !told.is_empty() {
                        told.clone_into(field);
                    }
                }
                let whole = written(item.get("arguments"));
                if !whole.is_empty() {
                    (*given, *settled) = (whole, true);
                }
            }
            Body::Unknown => {}
        }
    }

    /// The answer is over, and this is what its items are said to have been. It counts for those of which nothing better
    /// is known.
    pub fn complete(&mut self, output: &[Value], deltas: Deltas<'_>) {
        let nothing_came = self.items.is_empty();
        for (item, index) in output.iter().zip(0u64..) {
            let waits = self
                .items
                .iter()
                .any(|known| known.index == Some(index) && known.body.kind() == Kind::of(item) && !known.done);
            if nothing_came || waits || self.lacks(index, item, output) {
                self.close(Some(index), item, deltas);
            }
        }
    }

    /// Whether nothing came of this item of a whole output. Numbers may be wrong, and ids others by now: there have to be
    /// fewer of its kind as well.
    fn lacks(&self, index: u64, item: &Value, output: &[Value]) -> bool {
        let kind = Kind::of(item);
        let known = || self.items.iter().filter(|known| known.body.kind() == kind);
        if known().count() >= output.iter().filter(|item| Kind::of(item) == kind).count() {
            return false;
        }
        let (id, told) = (string(item, "call_id"), whole_text(item, kind));
        let is_it = |known: &Item| match &known.body {
            Body::Call { call_id, .. } => !id.is_empty() && call_id == id,
            // Without numbers, several may have become one.
            Body::Message { text, .. } | Body::Reasoning { text, .. } => {
                text.trim_end() == told.trim_end() || known.index.is_none() && text.contains(told.trim_end())
            }
            Body::Unknown => false,
        };
        !known().any(|known| known.index == Some(index) || is_it(known))
    }

    /// The item of this place and kind; made if its beginning was left out.
    fn place(&mut self, index: Option<u64>, kind: Kind) -> usize {
        self.find(index, kind).unwrap_or_else(|| self.push(index, kind))
    }

    fn find(&self, index: Option<u64>, kind: Kind) -> Option<usize> {
        self.items.iter().rposition(|item| (index.is_none() || item.index == index) && item.body.kind() == kind)
    }

    fn push(&mut self, index: Option<u64>, kind: Kind) -> usize {
        self.items.push(Item { index, body: Body::new(kind), done: false });
        self.items.len() - 1
    }

    /// The answer's parts, in its order.
    pub fn finish(mut self) -> Vec<AssistantPart> {
        if self.items.iter().all(|item| item.index.is_some()) {
            self.items.sort_by_key(|item| item.index);
        }
        let mut content = Vec::new();
        for item in self.items {
            match item.body {
                Body::Message { text, next } if !text.is_empty() => {
                    lead(&mut content, next);
                    content.push(AssistantPart::Text(text));
                }
                Body::Reasoning { text, item, .. } => {
                    let opaque = item.and_then(kept::sealed);
                    if !text.is_empty() || opaque.is_some() {
                        content.push(AssistantPart::Reasoning(Reasoning { text, signature: None, opaque }));
                    }
                }
                Body::Call { call_id: id, name, streamed, given, settled, next } => {
                    lead(&mut content, next);
                    let input = ToolInput::parse(passed(&streamed, &given, settled));
                    content.push(AssistantPart::ToolUse(ToolCall { id, name, input }));
                }
                // What the reasoning before it led to is not kept, and the reasoning could not go back without it.
                Body::Message { .. } | Body::Unknown => {
                    if let Some(AssistantPart::Reasoning(before)) = content.last_mut() {
                        before.opaque = None;
                    }
                }
            }
        }
        content
    }
}

const PARAGRAPH: &str = "\n\n";

/// Keeps what is to be known of the next part: with the reasoning before it, else, where there is a phase, on its own.
fn lead(content: &mut Vec<AssistantPart>, next: Value) {
    match content.last_mut() {
        // An item that was never done.
        _ if next.is_null() => {}
        Some(AssistantPart::Reasoning(Reasoning { opaque: Some(opaque), .. })) => kept::lead_to(opaque, next),
        _ if next.get("phase").is_some() => {
            let opaque = Some(kept::only_next(next));
            content.push(AssistantPart::Reasoning(Reasoning { opaque, ..Reasoning::default() }));
        }
        _ => {}
    }
}

fn string<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What a call passes, as far as it is known.
fn passed<'a>(streamed: &'a str, given: &'a str, settled: bool) -> &'a str {
    if settled || streamed.is_empty() { given } else { streamed }
}

/// Arguments as text; some servers give the object itself.
fn written(arguments: Option<&Value>) -> String {
    match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(object @ (Value::Object(_) | Value::Array(_))) => object.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => String::new(),
    }
}

/// All words of a done item.
fn whole_text(item: &Value, kind: Kind) -> String {
    let texts = |list: &str| -> Vec<&str> {
        let texts = kept::list_of(item, list)
            .iter()
            .filter_map(|part| part.get("text").or_else(|| part.get("refusal"))?.as_str());
        texts.filter(|text| !text.is_empty()).collect()
    };
    match kind {
        Kind::Message => match item.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(_) | None => texts("content").concat(),
        },
        Kind::Reasoning => {
            let summary = texts("summary");
            if summary.is_empty() { texts("content").join(PARAGRAPH) } else { summary.join(PARAGRAPH) }
        }
        Kind::Call | Kind::Unknown => String::new(),
    }
}

fn has_refusal(item: &Value) -> bool {
    kept::list_of(item, "content")
        .iter()
        .any(|part| string(part, "type") == "refusal" && !string(part, "refusal").is_empty())
}
