//! What was said: the conversation, independent of any wire or file format.

use std::sync::Arc;

use serde_json::Value;
use twox_hash::XxHash3_128;

use crate::base::json::Object;
use crate::base::raster;

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
    /// What tells this picture from others, and stays the same wherever it is written and read: 32 hex digits.
    pub fn id(&self) -> String {
        let Self { media_type, data } = self;
        let mut hasher = XxHash3_128::new();
        hasher.write(media_type.as_bytes());
        hasher.write(&[0]);
        hasher.write(data);
        format!("{:032x}", hasher.finish_128())
    }

    /// Type and size, such as `image/png 640×480`; the type alone where the bytes do not begin with a size that is known
    /// here, which is that of PNG and JPEG.
    pub fn label(&self) -> String {
        let Self { media_type, data } = self;
        raster::header(data).map_or_else(
            || media_type.clone(),
            |raster::Header { width, height, .. }| format!("{media_type} {width}×{height}"),
        )
    }

    /// What stands for this picture once a provider has refused it.
    pub fn refused_stub(&self) -> String {
        format!("[a picture was here ({}); it was refused by the provider and is not sent again]", self.label())
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
    fn a_picture_has_a_name_of_its_own() {
        let image = |media_type: &str, data: &[u8]| Image { media_type: media_type.into(), data: data.into() };
        let picture = image("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0");
        // Kept in sessions: it must never become another.
        assert_eq!(image("image/png", b"x").id(), "beb6023b93e4a48f7d123b2b3dc71ab5");
        assert_ne!(image("image/jpeg", b"x").id(), image("image/png", b"x").id());
        assert_ne!(image("image/png", b"y").id(), image("image/png", b"x").id());
        assert_eq!(picture.label(), "image/png 640×480");
        assert_eq!(image("image/webp", b"RIFF").label(), "image/webp");
        assert!(picture.refused_stub().contains("(image/png 640×480)"));
    }

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
