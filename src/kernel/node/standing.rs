//! What the model has written down for itself: its plan is told word for word, however often the conversation is
//! summarised.

use std::sync::Arc;

use super::Node;
use crate::model::message::{Message, Part};

/// What stands around a plan that is told again.
const PLAN: &str = "The plan as it stands:\n\n<plan>\n";
const PLAN_END: &str = "\n</plan>";

impl Node {
    /// What a conversation is opened with whose messages before `from` are no longer sent.
    pub(super) fn opening_before(&self, from: usize) -> Option<String> {
        let plan = self.plan_before(from).map(|plan| format!("{PLAN}{plan}{PLAN_END}"));
        let parts: Vec<String> = self.opening.iter().cloned().chain(plan).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// The newest plan, if it stands before `from` and none behind.
    fn plan_before(&self, from: usize) -> Option<String> {
        let tool = self.settings.compaction.plan_tool?;
        for (place, message) in self.history.iter().enumerate().rev() {
            let Message::Assistant(answer) = message.as_ref() else { continue };
            let results = self.history.get(place + 1).map(Arc::as_ref);
            let calls: Vec<_> = answer.calls().filter(|call| call.name == tool).collect();
            if let Some(plan) = calls.iter().rev().find_map(|call| result(results?, &call.id)) {
                return (place < from).then_some(plan);
            }
        }
        told(self.history.first()?)
    }
}

/// What a call came to, if it succeeded.
fn result(message: &Message, call: &str) -> Option<String> {
    let Message::Tool(results) = message else { return None };
    let result = results.iter().find(|result| result.call_id == call && !result.is_error)?;
    result.content.iter().find_map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Image(_) => None,
    })
}

/// The plan that a conversation was opened with when it was summarised.
fn told(message: &Message) -> Option<String> {
    let Message::User(parts) = message else { return None };
    let Some(Part::Text(opening)) = parts.first() else { return None };
    let (_, plan) = opening.rsplit_once(PLAN)?;
    plan.strip_suffix(PLAN_END).map(str::to_owned)
}
