//! Calls that a model wrote as text: what its server's template or parser did not turn into calls.
//!
//! Only an answer that is nothing but calls counts, and only tools that were offered; the same within a sentence or a
//! fence is something to read. Nothing is repaired: what cannot be read to its end stays text.

mod grammar;

use std::mem;

use super::Deltas;
use crate::model::message::{AssistantPart, ToolCall};
use crate::model::reply::{Delta, Reply, StopReason};
use crate::model::request::{Offer, Request, ToolChoice};

use super::compat::Compat;
use grammar::Reading;

/// Up to here, in bytes, an answer is looked at with every piece of it; a longer one after it has grown by an eighth,
/// so that a file written as text is not read anew with each of its tokens.
const LOOKED_AT_ALWAYS: usize = 2 << 10;

/// The calls of an answer that consists of calls alone, without ids.
pub fn calls(text: &str, offers: &[Offer]) -> Option<Vec<ToolCall>> {
    match grammar::read(text, offers, grammar::End::Here) {
        Reading::Calls(calls) => Some(calls),
        Reading::Begun | Reading::Text => None,
    }
}

/// Whether an answer that begins with `text` may still turn out to consist of calls alone.
pub fn may_become_calls(text: &str, offers: &[Offer]) -> bool {
    match grammar::read(text, offers, grammar::End::Open) {
        Reading::Calls(_) | Reading::Begun => true,
        Reading::Text => false,
    }
}

/// Keeps the text of an answer back as long as it may turn out to be calls: nobody is to read those.
pub struct Hold<'a> {
    offers: &'a [Offer],
    /// `None` once the answer is text, or where text is always text.
    held: Option<String>,
    /// How long the text was when it was last looked at.
    looked: usize,
}

impl<'a> Hold<'a> {
    /// For the answer to `request`, from a provider like this.
    pub fn new(request: &'a Request, compat: &Compat) -> Self {
        let may_call = match request.tool_choice {
            ToolChoice::Auto => compat.text_calls && !request.tools.is_empty(),
            ToolChoice::None => false,
        };
        Self { offers: &request.tools, held: may_call.then(String::new), looked: 0 }
    }

    /// Takes a piece of the answer, and hands on what can be shown.
    pub fn pass(&mut self, delta: Delta<'_>, deltas: Deltas<'_>) {
        let (Some(held), Delta::Text(more)) = (&mut self.held, delta) else { return deltas(delta) };
        held.push_str(more);
        if held.len() > LOOKED_AT_ALWAYS && held.len() < self.looked + self.looked / 8 {
            return;
        }
        self.looked = held.len();
        if !may_become_calls(held, self.offers) {
            self.release(deltas);
        }
    }

    /// The answer is whole: turns its text into calls if it is nothing else, and hands on what was kept back if it is
    /// not. An answer that was cut, or that holds a call of its own, stays as it is.
    pub fn settle(mut self, reply: &mut Reply, deltas: Deltas<'_>) {
        let is_whole = match reply.stop {
            StopReason::Stop | StopReason::ToolUse | StopReason::Other(_) => true,
            StopReason::Length | StopReason::Window | StopReason::Pause | StopReason::Refusal => false,
        };
        let has_calls = reply.content.iter().any(|part| matches!(part, AssistantPart::ToolUse(_)));
        let found = match &self.held {
            Some(_) if is_whole && !has_calls => calls(&text_of(reply), self.offers),
            Some(_) | None => None,
        };
        match found {
            Some(calls) => {
                reply.content.retain(|part| !matches!(part, AssistantPart::Text(_)));
                reply.content.extend(calls.into_iter().map(AssistantPart::ToolUse));
                reply.stop = StopReason::ToolUse;
                reply.written = true;
            }
            None => self.release(deltas),
        }
    }

    fn release(&mut self, deltas: Deltas<'_>) {
        let held = mem::take(&mut self.held).unwrap_or_default();
        if !held.is_empty() {
            deltas(Delta::Text(&held));
        }
    }
}

fn text_of(reply: &Reply) -> String {
    let texts = reply.content.iter().filter_map(|part| match part {
        AssistantPart::Text(text) => Some(text.as_str()),
        AssistantPart::Reasoning(_) | AssistantPart::ToolUse(_) => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests;
