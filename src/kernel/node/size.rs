//! How many tokens a conversation takes: what a provider counted, and a guess for what came since.

use super::{Node, task};
use crate::model::message::Message;
use crate::model::usage::Usage;

/// A rule of thumb for English and code, used until a provider has counted.
pub const CHARS_PER_TOKEN: u64 = 4;
/// The rule of thumb may be wrong by so much, in thousandths: Chinese takes about a token a character, spaces nearly none.
const WRONG: std::ops::RangeInclusive<u64> = 300..=6_000;
/// Below so many guessed tokens a count says more about the provider's own additions than about the text.
const TELLING: u64 = 500;

/// What is known about the size of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gauge {
    /// What answers before this place counted says nothing any more.
    fresh_from: usize,
    /// Counted tokens for a guessed one, in thousandths: learned from what the provider counts.
    correction: u64,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { fresh_from: 0, correction: 1000 }
    }
}

impl Gauge {
    /// What the first `messages` counted says nothing any more.
    pub(super) fn stale(&mut self, messages: usize) {
        self.fresh_from = messages;
    }

    /// Characters for a token, in thousandths.
    pub(super) fn token_chars(&self) -> u64 {
        CHARS_PER_TOKEN * 1_000_000 / self.correction
    }

    fn corrected(&self, tokens: u64) -> u64 {
        tokens.saturating_mul(self.correction) / 1000
    }
}

impl Node {
    /// Tokens of the next request: what the last answer counted, and a guess for what came after it.
    pub fn context_tokens(&self) -> u64 {
        let mut guessed_chars = 0;
        for (place, message) in self.history.iter().enumerate().rev() {
            if let Message::Assistant(answer) = &**message
                && answer.usage.context() > 0
                && place >= self.gauge.fresh_from
            {
                return answer.usage.context().saturating_add(self.gauge.corrected(guessed_chars / CHARS_PER_TOKEN));
            }
            guessed_chars += task::chars(message);
        }
        self.gauge.corrected(self.settings.overhead_tokens + guessed_chars / CHARS_PER_TOKEN)
    }

    /// A guess at the tokens of a message.
    pub(super) fn tokens_of(&self, message: &Message) -> u64 {
        self.gauge.corrected(task::chars(message) / CHARS_PER_TOKEN)
    }

    /// A guess at the tokens of a request with these messages, whatever was counted.
    pub(super) fn guess<'a>(&self, messages: impl IntoIterator<Item = &'a Message>) -> u64 {
        let chars: u64 = messages.into_iter().map(task::chars).sum();
        self.gauge.corrected(self.settings.overhead_tokens + chars / CHARS_PER_TOKEN)
    }

    /// Compares what a provider has counted for the first `messages` with the guess.
    pub(super) fn learn(&mut self, messages: usize, counted: &Usage) {
        let chars: u64 = self.history.iter().take(messages).map(|message| task::chars(message)).sum();
        let guessed = self.settings.overhead_tokens + chars / CHARS_PER_TOKEN;
        if counted.sent() > 0 && guessed >= TELLING {
            let correction = counted.sent().saturating_mul(1000) / guessed;
            self.gauge.correction = correction.clamp(*WRONG.start(), *WRONG.end());
        }
    }

    /// Learns from the last answer that counted what is still sent, after a resume.
    pub(super) fn learn_from_history(&mut self) {
        let counted = self.history.iter().enumerate().rev().find_map(|(place, message)| match message.as_ref() {
            Message::Assistant(answer) if place >= self.gauge.fresh_from && answer.usage.sent() > 0 => {
                Some((place, answer.usage))
            }
            Message::Assistant(_) | Message::User(_) | Message::Tool(_) => None,
        });
        if let Some((place, usage)) = counted {
            self.learn(place, &usage);
        }
    }
}
