//! Takes out of the conversation what a provider has refused to take back, so that one bad part never ends a session.
//!
//! Changes only what is sent from now on; what was written down stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::words::MISSED;
use super::{Effects, Node, notice};
use crate::kernel::effect::Effect;
use crate::kernel::event::NoticeCode;
use crate::model::message::{Assistant, AssistantPart, Message, Part, ToolResult};

/// `parts` with a stub for every picture that `refused` holds.
pub(super) fn without_refused(parts: Vec<Part>, refused: &BTreeSet<String>) -> Vec<Part> {
    if refused.is_empty() {
        return parts;
    }
    let replaced = parts.into_iter().map(|part| match part {
        Part::Image(image) if refused.contains(&image.id()) => Part::Text(image.refused_stub()),
        Part::Image(_) | Part::Text(_) => part,
    });
    replaced.collect()
}

impl Node {
    /// Makes a message part of the conversation, but for what was refused before; what is written down is the whole.
    pub(super) fn keep(&mut self, message: Message, effects: &mut Effects) {
        let mut missed = false;
        let message = Arc::new(match message {
            Message::User(parts) => {
                let sent = without_refused(parts.clone(), &self.refused);
                missed = sent != parts;
                Message::User(sent)
            }
            Message::Assistant(_) | Message::Tool(_) => message,
        });
        let sent = if self.unsealed { without_reasoning(&message).map(Arc::new) } else { None };
        self.history.push(sent.unwrap_or_else(|| Arc::clone(&message)));
        effects.push(Effect::Keep(message));
        if missed {
            notice(NoticeCode::Session, MISSED, effects);
        }
    }

    /// Leaves out all reasoning, from now on too. Returns whether there was any.
    pub(super) fn drop_reasoning(&mut self) -> bool {
        self.unsealed = true;
        let mut dropped = false;
        for message in &mut self.history {
            if let Some(bare) = without_reasoning(message) {
                *message = Arc::new(bare);
                dropped = true;
            }
        }
        dropped
    }

    /// Puts stubs in the place of the pictures that the model has not yet answered to, or of all if it has answered to
    /// each. Returns the pictures' ids; none if there is no picture left.
    pub(super) fn drop_pictures(&mut self) -> Vec<String> {
        let answered = self.history.iter().rposition(|message| match message.as_ref() {
            Message::Assistant(answer) => answer.origin == self.info.origin,
            Message::User(_) | Message::Tool(_) => false,
        });
        let fresh = pictures(self.history.get(answered.map_or(0, |place| place + 1)..).unwrap_or_default());
        let refused = if fresh.is_empty() { pictures(&self.history) } else { fresh };
        self.refused.extend(refused.iter().cloned());
        self.mend_refused();
        refused.into_iter().collect()
    }

    /// Puts stubs in the place of all refused pictures.
    pub(super) fn mend_refused(&mut self) {
        if self.refused.is_empty() {
            return;
        }
        for message in &mut self.history {
            if let Some(mended) = mended(message, &self.refused) {
                *message = Arc::new(mended);
            }
        }
    }
}

/// An answer without its reasoning; `None` if it has none.
fn without_reasoning(message: &Message) -> Option<Message> {
    let is_reasoning = |part: &AssistantPart| matches!(part, AssistantPart::Reasoning(_));
    match message {
        Message::Assistant(answer) if answer.content.iter().any(is_reasoning) => {
            let content = answer.content.iter().filter(|part| !is_reasoning(part)).cloned().collect();
            Some(Message::Assistant(Assistant { content, ..answer.clone() }))
        }
        Message::Assistant(_) | Message::User(_) | Message::Tool(_) => None,
    }
}

/// The ids of all pictures in `messages`.
fn pictures(messages: &[Arc<Message>]) -> BTreeSet<String> {
    fn add(parts: &[Part], ids: &mut BTreeSet<String>) {
        ids.extend(parts.iter().filter_map(|part| match part {
            Part::Image(image) => Some(image.id()),
            Part::Text(_) => None,
        }));
    }
    let mut ids = BTreeSet::new();
    for message in messages {
        match message.as_ref() {
            Message::User(parts) => add(parts, &mut ids),
            Message::Tool(results) => results.iter().for_each(|result| add(&result.content, &mut ids)),
            Message::Assistant(_) => {}
        }
    }
    ids
}

/// A message without the pictures that `refused` holds; `None` if it has none of them.
fn mended(message: &Message, refused: &BTreeSet<String>) -> Option<Message> {
    let has = |parts: &[Part]| {
        parts.iter().any(|part| match part {
            Part::Image(image) => refused.contains(&image.id()),
            Part::Text(_) => false,
        })
    };
    match message {
        Message::User(parts) if has(parts) => Some(Message::User(without_refused(parts.clone(), refused))),
        Message::Tool(results) if results.iter().any(|result| has(&result.content)) => {
            let without = |result: &ToolResult| ToolResult {
                content: without_refused(result.content.clone(), refused),
                ..result.clone()
            };
            Some(Message::Tool(results.iter().map(without).collect()))
        }
        Message::User(_) | Message::Tool(_) | Message::Assistant(_) => None,
    }
}
