//! What hears of a call besides the tool: first what keeps files before they are changed, then what knows the rules of the
//! folders it reaches, then what hides secrets.
//!
//! Decides nothing, and stops no call.

use std::sync::Arc;

use super::redact::Redactor;
use crate::kernel::port::{Hooks, PendingCall};
use crate::kernel::tool::Output;
use crate::model::message::ToolCall;
use crate::product::checkpoint::record::Checkpoints;
use crate::product::job::Jobs;
use crate::product::rules::touched::Touched;

/// The hooks of a conversation.
pub struct Watching {
    /// Hides secrets.
    pub redactor: Arc<Redactor>,
    /// Keeps files, where changes of them can be taken back.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// Knows what rules were told.
    pub touched: Arc<Touched>,
    /// What runs in the background, where this conversation is told of it.
    pub jobs: Option<Jobs>,
    /// What stands before the ids of calls: several workers may use the same ones.
    pub whose: String,
}

impl Watching {
    fn id(&self, call: &str) -> String {
        format!("{}{call}", self.whose)
    }
}

impl Hooks for Watching {
    fn tool_starting(&self, pending: &PendingCall) {
        if let Some(checkpoints) = &self.checkpoints {
            let call = ToolCall { id: self.id(&pending.call.id), ..pending.call.clone() };
            checkpoints.starting(&PendingCall { call, ..pending.clone() });
        }
        self.touched.starting(&pending.call.id, &pending.subject);
    }

    fn tool_progress(&self, text: &mut String) {
        self.redactor.tool_progress(text);
    }

    fn tool_finished(&self, call: &ToolCall, output: &mut Output) {
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.finished(&self.id(&call.id));
        }
        if let Some(rules) = self.touched.finished(&call.id) {
            output.append(&rules);
        }
        for ended in self.jobs.iter().flat_map(Jobs::take_ended) {
            output.append(&ended.news());
        }
        self.redactor.tool_finished(call, output);
    }
}
