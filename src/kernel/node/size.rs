//! How many tokens a conversation takes: what a provider counted, and a guess for what came since.

use super::{Node, task};
use crate::model::message::Message;

/// A rule of thumb for English and code, used only until a provider has counted.
pub const CHARS_PER_TOKEN: u64 = 4;

/// What is known about the size of the conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Gauge {
    /// What answers before this place counted says nothing any more.
    fresh_from: usize,
}

impl Gauge {
    /// What the first `messages` counted says nothing any more.
    pub(super) fn stale(&mut self, messages: usize) {
        self.fresh_from = messages;
    }
}

impl Node {
    /// Tokens of the next request: what the last answer counted, and a guess for what came after it.
    pub(super) fn context_tokens(&self) -> u64 {
        let mut guessed_chars = 0;
        for (place, message) in self.history.iter().enumerate().rev() {
            if let Message::Assistant(answer) = &**message
                && answer.usage.context() > 0
                && place >= self.gauge.fresh_from
            {
                return answer.usage.context() + guessed_chars / CHARS_PER_TOKEN;
            }
            guessed_chars += task::chars(message);
        }
        self.settings.overhead_tokens + guessed_chars / CHARS_PER_TOKEN
    }
}
