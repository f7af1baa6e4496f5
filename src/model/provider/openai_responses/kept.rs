//! What of an answer's items has to go back to its model besides the words: sealed reasoning, and of the item it led to
//! the id and the phase. All of it is kept in the `opaque` of a reasoning part that stands before that item.
//!
//! Only the shape is here; what is sent is decided in `encode`.

use serde_json::Value;

const REASONING: &str = "reasoning";
const NEXT: &str = "next";

/// Items are known by at most as many characters; gateways that encrypt the ids make longer ones, which are refused.
const LONGEST_ID: usize = 64;

/// What an item is, as far as it matters for what goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words of the model.
    Message,
    /// What it thought.
    Reasoning,
    /// A call.
    Call,
    /// Anything else; it is passed over.
    Unknown,
}

impl Kind {
    /// The kind of an item, by its `type`.
    pub fn of(item: &Value) -> Self {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning,
            Some("function_call") => Self::Call,
            Some(_) | None => Self::Unknown,
        }
    }

    /// How the ids of its items begin; any other is refused.
    fn prefix(self) -> Option<&'static str> {
        match self {
            Self::Message => Some("msg"),
            Self::Reasoning => Some("rs"),
            Self::Call => Some("fc"),
            Self::Unknown => None,
        }
    }
}

/// The `opaque` of a reasoning part that holds this item; none if the item holds nothing that could be read back.
pub fn sealed(item: Value) -> Option<Value> {
    let some = seal_of(&item).is_some() || !list_of(&item, "content").is_empty();
    some.then(|| single(REASONING, item))
}

/// The reasoning itself, encrypted.
pub fn seal_of(item: &Value) -> Option<&str> {
    item.get("encrypted_content").and_then(Value::as_str).filter(|seal| !seal.is_empty())
}

/// A list in an item.
pub fn list_of<'a>(item: &'a Value, name: &str) -> &'a [Value] {
    item.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What of an item that is no reasoning is to be kept: its type, id and phase.
pub fn next(item: &Value) -> Value {
    let fields = ["type", "id", "phase"].into_iter();
    let told =
        fields.filter_map(|name| Some((name.to_owned(), item.get(name).filter(|value| value.is_string())?.clone())));
    Value::Object(told.collect())
}

/// The `opaque` of a part that only says what the item after it was.
pub fn only_next(next: Value) -> Value {
    single(NEXT, next)
}

/// Adds to an `opaque` what followed the reasoning in it.
pub fn lead_to(opaque: &mut Value, next: Value) {
    if let Some(object) = opaque.as_object_mut() {
        object.insert(NEXT.to_owned(), next);
    }
}

/// The reasoning item in an `opaque`.
pub fn reasoning_of(opaque: &Value) -> Option<&Value> {
    opaque.get(REASONING).filter(|item| item.is_object())
}

/// What an `opaque` says of the item after it.
pub fn next_of(opaque: &Value) -> Option<&Value> {
    opaque.get(NEXT)
}

/// The id of an item, if it may be sent.
pub fn id_of(item: &Value) -> Option<&str> {
    let prefix = Kind::of(item).prefix()?;
    let plain = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    item.get("id").and_then(Value::as_str).filter(|id| id.starts_with(prefix) && id.len() <= LONGEST_ID && plain(id))
}

fn single(name: &str, value: Value) -> Value {
    Value::Object([(name.to_owned(), value)].into_iter().collect())
}
