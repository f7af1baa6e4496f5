//! The two things that can happen to a draft: a part of it is replaced, or the caret moves. Everything else is made of these.

use std::ops::Range;

use super::text::Text;
use super::undo::{Change, Join, Undo};
use super::{Editor, Last, segment};

impl Editor {
    /// Replaces a part; the caret stands behind what is new.
    pub(super) fn change(&mut self, range: Range<usize>, with: &Text, join: Join) {
        let range = self.text.clamp(&range);
        if range.is_empty() && with.is_empty() {
            return;
        }
        let (before, at) = (self.caret, range.start);
        let removed = self.text.splice(&range, with);
        self.caret = segment::snap(self.text.as_str(), at + with.len());
        self.undo.record(Change { at, removed, inserted: with.clone() }, before, self.caret, join);
        if let Some(vi) = &mut self.vi {
            vi.changed(at);
        }
    }

    /// The caret goes to `at`; what is typed there begins a step.
    pub(super) fn go(&mut self, at: usize) {
        self.caret = segment::snap(self.text.as_str(), at);
        self.undo.seal();
        if let Some(vi) = &mut self.vi {
            vi.moved(self.caret);
        }
    }

    /// Forgets what was done last, and says it.
    pub(super) fn fresh(&mut self) -> Last {
        self.goal = None;
        std::mem::take(&mut self.last)
    }

    /// Takes a step back or makes it again; the caret goes where it was then.
    pub(super) fn travel(&mut self, step: impl Fn(&mut Undo, &mut Text) -> Option<usize>) {
        if let Some(caret) = step(&mut self.undo, &mut self.text) {
            self.go(caret);
        }
    }
}
