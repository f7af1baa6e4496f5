//! Keeps the values of known secrets out of everything that tools return.

use crate::base::text::mask::Mask;
use crate::kernel::port::Hooks;
use crate::kernel::tool::Output;
use crate::model::message::ToolCall;

/// Replaces known secret values in outputs and progress.
pub struct Redactor {
    mask: Mask,
}

impl Redactor {
    /// A redactor of what `mask` hides.
    pub fn new(mask: Mask) -> Self {
        Self { mask }
    }
}

impl Hooks for Redactor {
    fn tool_progress(&self, text: &mut String) {
        self.mask.apply(text);
    }

    fn tool_finished(&self, _: &ToolCall, output: &mut Output) {
        self.mask.apply(&mut output.text.head);
        self.mask.apply(&mut output.text.tail);
        if let Some(footer) = &mut output.footer {
            self.mask.apply(footer);
        }
    }
}
