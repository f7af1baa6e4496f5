//! What people say, and what is left of an answer that was interrupted, as parts of the conversation.

use std::sync::Arc;

use super::{Effects, Node, Phase};
use crate::kernel::effect::Effect;
use crate::kernel::event::Event;
use crate::kernel::inbox::Letter;
use crate::model::message::{Assistant, AssistantPart, Message, Part};
use crate::model::reply::StopReason;
use crate::model::request::ToolChoice;

impl Node {
    /// Makes what a person said in this task part of the conversation; it outlives every compaction of the task.
    pub(super) fn say(&mut self, message: Message, effects: &mut Effects) {
        self.task.said.push(self.history.len());
        self.keep(message, effects);
    }

    /// Goes on with the task that was over, unless a limit forbids it.
    pub(super) fn go_on(&mut self, message: Message, effects: &mut Effects) -> Phase {
        if let Some(end) = self.limit() {
            return self.finish(end, effects);
        }
        self.say(message, effects);
        self.ask(ToolChoice::Auto, effects)
    }

    /// Makes what was said meanwhile part of the conversation.
    pub(super) fn heard(&mut self, letters: Vec<Letter>, effects: &mut Effects) {
        for Letter { id, said } in letters {
            let last = said.iter().rev().find_map(|part| match part {
                Part::Text(text) => Some(text.clone()),
                Part::Image(_) => None,
            });
            let text = last.unwrap_or_default();
            self.say(Message::User(said), effects);
            effects.push(Effect::Emit(Event::Steered { id, text }));
        }
    }

    /// What was shown of an interrupted answer stays part of the conversation.
    pub(super) fn keep_partial(&mut self, partial: String, effects: &mut Effects) {
        if partial.trim().is_empty() {
            return;
        }
        self.task.text.clone_from(&partial);
        let answer = Assistant {
            content: vec![AssistantPart::Text(partial)],
            origin: Arc::clone(&self.info.origin),
            stop: StopReason::Other("aborted".to_owned()),
            usage: Default::default(),
        };
        self.keep(Message::Assistant(answer), effects);
    }
}
