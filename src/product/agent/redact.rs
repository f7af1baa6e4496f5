//! Keeps the values of known secrets out of everything that tools return, and out of what is kept and shown of the rest
//! (see `conceal`).

use std::sync::Arc;

use crate::base::text::mask::Mask;
use crate::kernel::port::Hooks;
use crate::kernel::tool::{Change, Output};
use crate::model::message::ToolCall;

/// Replaces known secret values in outputs and progress.
#[derive(Default)]
pub struct Redactor {
    mask: Mask,
}

impl Redactor {
    /// A redactor of what `mask` hides.
    pub fn new(mask: Mask) -> Self {
        Self { mask }
    }

    /// The mask, which can be added to.
    pub fn mask(&self) -> Mask {
        self.mask.clone()
    }

    /// Whether there is nothing to replace.
    pub fn is_empty(&self) -> bool {
        self.mask.is_empty()
    }

    /// Replaces every known value in `text`.
    pub fn redact(&self, text: &mut String) {
        self.mask.apply(text);
    }

    /// Replaces every known value in what was done to a file.
    pub fn change(&self, change: &mut Arc<Change>) {
        if self.is_empty() {
            return;
        }
        let Change { path, before, after } = Arc::make_mut(change);
        before.iter_mut().chain([path, after]).for_each(|text| self.redact(text));
    }
}

impl Hooks for Redactor {
    fn tool_progress(&self, text: &mut String) {
        self.mask.apply(text);
    }

    fn tool_finished(&self, _: &ToolCall, output: &mut Output) {
        self.mask.apply(&mut output.text.head);
        self.mask.apply(&mut output.text.tail);
        for text in [&mut output.footer, &mut output.appendix].into_iter().flatten() {
            self.mask.apply(text);
        }
        if let Some(change) = &mut output.change {
            self.change(change);
        }
    }
}
