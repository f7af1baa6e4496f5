//! What a model answered to one request.

use super::message::AssistantPart;
use super::usage::Usage;

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Reasoning, text and calls, in the order they came.
    pub content: Vec<AssistantPart>,
    /// Why the answer ended.
    pub stop: StopReason,
    /// What it took; zeros where the provider does not say.
    pub usage: Usage,
    /// Whether its calls were written as text and taken for calls.
    pub written: bool,
}

/// A piece of an answer, as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More of the answer.
    Text(&'a str),
    /// More of the reasoning.
    Reasoning(&'a str),
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model had said what it wanted to say.
    Stop,
    /// The model wants tools to run.
    ToolUse,
    /// The output limit cut the answer; a call in it is not to be executed.
    Length,
    /// The model's window was full before the answer was whole; as with the limit, nothing in it is to be executed.
    Window,
    /// The provider wants the answer back so that the model can go on with it.
    Pause,
    /// The model or a filter refused.
    Refusal,
    /// Anything else, in the provider's word.
    Other(String),
}

impl StopReason {
    /// The word of the event vocabulary and of session files.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::ToolUse => "tool_use",
            Self::Length => "length",
            Self::Window => "context_window",
            Self::Pause => "pause_turn",
            Self::Refusal => "refusal",
            Self::Other(word) => word,
        }
    }

    /// The reverse of [`StopReason::as_str`].
    pub fn from_word(word: &str) -> Self {
        match word {
            "stop" => Self::Stop,
            "tool_use" => Self::ToolUse,
            "length" => Self::Length,
            "context_window" => Self::Window,
            "pause_turn" => Self::Pause,
            "refusal" => Self::Refusal,
            other => Self::Other(other.to_owned()),
        }
    }
}
