//! What is counted while one task runs.

use crate::kernel::effect::DeniedCall;
use crate::kernel::loop_guard::LoopGuard;
use crate::model::message::{AssistantPart, Message, Part, ToolInput};
use crate::model::usage::Usage;

/// The task at hand.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// Model calls begun.
    pub(super) turns: u32,
    /// What all answers took.
    pub(super) usage: Usage,
    /// What they cost, in US dollars; nothing once a price was unknown.
    pub(super) cost: Option<f64>,
    /// The last answer's text.
    pub(super) text: String,
    /// What a paused answer has said so far; the next one goes on with it.
    pub(super) paused: String,
    /// Calls that were not permitted.
    pub(super) denied: Vec<DeniedCall>,
    /// The ring of calls and results.
    pub(super) guard: LoopGuard,
    /// Whether a provider has taken more than its window holds, and it was said.
    pub(super) overflown: bool,
    /// Where in the conversation stands what a person has said in this task.
    pub(super) said: Vec<usize>,
    /// Whether the last answer is being asked for, since the limit of model calls is reached.
    pub(super) closing: bool,
    /// Requests since the last answer that did not fit.
    pub(super) overflows: u32,
    /// Compactions that came to nothing, in a row.
    pub(super) failed_folds: u32,
    /// Whether a provider has counted no tokens, and it was said.
    pub(super) uncounted: bool,
}

/// How long a message is, in bytes: good enough to guess its tokens.
pub(super) fn chars(message: &Message) -> u64 {
    let parts = |parts: &[Part]| -> usize {
        let lengths = parts.iter().map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Image(_) => IMAGE_CHARS,
        });
        lengths.sum()
    };
    let chars = match message {
        Message::User(content) => parts(content),
        Message::Tool(results) => results.iter().map(|result| parts(&result.content)).sum(),
        Message::Assistant(answer) => return answer_chars(&answer.content),
    };
    chars as u64
}

/// How long an answer is, in bytes.
pub(super) fn answer_chars(content: &[AssistantPart]) -> u64 {
    let lengths = content.iter().map(|part| match part {
        AssistantPart::Text(text) => text.len(),
        AssistantPart::Reasoning(reasoning) => reasoning.text.len(),
        AssistantPart::ToolUse(call) => match &call.input {
            ToolInput::Object(object) => object.iter().map(|(key, value)| key.len() + value.to_string().len()).sum(),
            ToolInput::Invalid { raw, .. } => raw.len(),
        },
    });
    lengths.sum::<usize>() as u64
}

/// A picture weighs about 1,500 tokens at the sizes that are sent.
const IMAGE_CHARS: usize = 6_000;
