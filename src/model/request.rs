//! What a model is asked.

use std::sync::Arc;

use serde_json::Value;

use super::message::{Message, Part};

/// One request, independent of any wire.
///
/// `messages` is legal history: every call has exactly one result, right after its message, in call order.
#[derive(Clone, Debug)]
pub struct Request {
    /// The system prompt.
    pub system: Arc<str>,
    /// The conversation.
    pub messages: Vec<Arc<Message>>,
    /// The tools on offer, in an order that never changes within a session.
    pub tools: Arc<[Offer]>,
    /// Whether the model may call them.
    pub tool_choice: ToolChoice,
    /// How the answer is to be made.
    pub options: Options,
}

impl Request {
    /// Whether a picture is among the messages.
    pub fn holds_picture(&self) -> bool {
        let picture = |parts: &[Part]| parts.iter().any(|part| matches!(part, Part::Image(_)));
        self.messages.iter().any(|message| match &**message {
            Message::User(parts) => picture(parts),
            Message::Tool(results) => results.iter().any(|result| picture(&result.content)),
            Message::Assistant(_) => false,
        })
    }
}

/// How an answer is to be made; what is `None` is left to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// How many tokens the answer may have at most.
    pub max_tokens: Option<u64>,
    /// From 0 to 2.
    pub temperature: Option<f64>,
    /// How much to reason.
    pub effort: Option<Effort>,
    /// The session's id, for providers that route their caches by such a key.
    pub cache_key: Option<String>,
}

/// A tool, as it is offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does and how to use it.
    pub description: String,
    /// A JSON Schema whose root is an object.
    pub parameters: Value,
}

/// Whether a model may call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it sees fit.
    Auto,
    /// It has to answer in words.
    None,
}

/// How much a model is to reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Not at all.
    Off,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}
