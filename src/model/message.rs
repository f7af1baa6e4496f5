//! What was said: the conversation, independent of any wire or file format.

use std::sync::Arc;

use serde_json::Value;
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::base::json::Object;

use super::reply::StopReason;
use super::usage::Usage;

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// What a person, or the agent itself on the person's behalf, said.
    User(Vec<Part>),
    /// What the model answered.
    Assistant(Assistant),
    /// What tools returned, in the order of the calls they answer.
    Tool(Vec<ToolResult>),
}

impl Message {
    /// A message of a person, of one piece of text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Part::Text(text.into())])
    }
}

/// A piece of what a person said or a tool returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// A picture.
    Image(Image),
}

/// A picture, as bytes of the format that `media_type` names.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    /// The file's bytes.
    pub data: Arc<[u8]>,
}

impl Image {
    /// The same for equal pictures, and for no others: a hash in 32 hexadecimal digits.
    pub fn id(&self) -> String {
        let Self { media_type, data } = self;
        let seed = XxHash3_64::oneshot(media_type.as_bytes());
        format!("{:032x}", XxHash3_128::oneshot_with_seed(seed, data))
    }
}

/// Which provider and model something came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The model's id at that provider.
    pub model: String,
}

/// An answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Assistant {
    /// Reasoning, text and calls, in the order they came.
    pub content: Vec<AssistantPart>,
    /// Who answered: reasoning goes back only to the one it came from.
    pub origin: Arc<Origin>,
    /// Why the answer ended.
    pub stop: StopReason,
    /// What it took.
    pub usage: Usage,
}

impl Assistant {
    /// All text of the answer, reasoning left out.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            AssistantPart::Text(text) => Some(text.as_str()),
            AssistantPart::Reasoning(_) | AssistantPart::ToolUse(_) => None,
        });
        texts.collect()
    }

    /// The calls of the answer, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|part| match part {
            AssistantPart::ToolUse(call) => Some(call),
            AssistantPart::Reasoning(_) | AssistantPart::Text(_) => None,
        })
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AssistantPart {
    /// What the model thought; not part of the answer.
    Reasoning(Reasoning),
    /// What the model said.
    Text(String),
    /// What the model wants done.
    ToolUse(ToolCall),
}

/// A piece of reasoning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasoning {
    /// What may be shown; empty where the provider keeps it to itself.
    pub text: String,
    /// The provider's seal, without which it does not take the text back.
    pub signature: Option<String>,
    /// What the provider wants back verbatim and nobody else can read, such as a redacted block.
    pub opaque: Option<Value>,
}

/// A call the model made.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Unique within the conversation.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// What the model passed.
    pub input: ToolInput,
}

/// The arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolInput {
    /// A JSON object; an empty text counts as the empty object.
    Object(Object),
    /// Something else: what was written, and what is wrong with it. Never executed, and sent back as an empty object.
    Invalid {
        /// The text as it came.
        raw: String,
        /// The parser's complaint.
        problem: String,
    },
}

impl ToolInput {
    /// Reads the text a wire delivered, strictly: nothing is repaired.
    pub fn parse(raw: &str) -> Self {
        if raw.trim().is_empty() {
            return Self::Object(Object::new());
        }
        match serde_json::from_str::<Value>(raw) {
            Ok(Value::Object(object)) => Self::Object(object),
            // Some servers encode the object twice.
            Ok(Value::String(inner)) => match serde_json::from_str::<Object>(&inner) {
                Ok(object) => Self::Object(object),
                Err(_) => Self::invalid(raw, "a string instead of an object"),
            },
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                Self::invalid(raw, "not a JSON object")
            }
            Err(error) => Self::invalid(raw, &error.to_string()),
        }
    }

    fn invalid(raw: &str, problem: &str) -> Self {
        Self::Invalid { raw: raw.to_owned(), problem: problem.to_owned() }
    }

    /// The object, if it is one.
    pub fn object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            Self::Invalid { .. } => None,
        }
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The call's id.
    pub call_id: String,
    /// What the model gets to see.
    pub content: Vec<Part>,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolResult {
    /// A result of one piece of text.
    pub fn text(call_id: impl Into<String>, text: impl Into<String>, is_error: bool) -> Self {
        Self { call_id: call_id.into(), content: vec![Part::Text(text.into())], is_error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_strictly() {
        assert_eq!(ToolInput::parse(" "), ToolInput::Object(Object::new()));
        assert!(ToolInput::parse(r#"{"a": 1}"#).object().is_some());
        assert_eq!(ToolInput::parse(r#""{\"a\": 1}""#), ToolInput::parse(r#"{"a":1}"#));
        for bad in [r#"{"a": 1"#, "[1]", "null", "\"x\"", "{'a': 1}"] {
            assert!(ToolInput::parse(bad).object().is_none(), "{bad}");
        }
    }
}
