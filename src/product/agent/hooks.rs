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
use crate::product::rules::touched::Touched;

/// The hooks of a conversation.
pub struct Watching {
    /// Hides secrets.
    pub redactor: Arc<Redactor>,
    /// Keeps files, where changes of them can be taken back.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// Knows what rules were told.
    pub touched: Arc<Touched>,
}

impl Hooks for Watching {
    fn tool_starting(&self, call: &PendingCall) {
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.starting(call);
        }
        self.touched.starting(&call.call.id, &call.subject);
    }

    fn tool_progress(&self, text: &mut String) {
        self.redactor.tool_progress(text);
    }

    fn tool_finished(&self, call: &ToolCall, output: &mut Output) {
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.finished(&call.id);
        }
        if let Some(rules) = self.touched.finished(&call.id) {
            output.append(&rules);
        }
        self.redactor.tool_finished(call, output);
    }
}
