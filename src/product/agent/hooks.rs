//! What hears of a call besides the tool: first what keeps files before they are changed, then what hides secrets.
//!
//! Decides nothing, and stops no call.

use std::sync::Arc;

use super::redact::Redactor;
use crate::kernel::port::{Hooks, PendingCall};
use crate::kernel::tool::Output;
use crate::model::message::ToolCall;
use crate::product::checkpoint::record::Checkpoints;

/// The hooks of a conversation whose changes of files can be taken back.
pub struct Watching {
    /// Hides secrets.
    pub redactor: Arc<Redactor>,
    /// Keeps files.
    pub checkpoints: Arc<Checkpoints>,
}

impl Hooks for Watching {
    fn tool_starting(&self, call: &PendingCall) {
        self.checkpoints.starting(call);
    }

    fn tool_progress(&self, text: &mut String) {
        self.redactor.tool_progress(text);
    }

    fn tool_finished(&self, call: &ToolCall, output: &mut Output) {
        self.checkpoints.finished(&call.id);
        self.redactor.tool_finished(call, output);
    }
}
