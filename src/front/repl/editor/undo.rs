//! What was changed, so that it can be taken back and made again. Typing joins to a step a word, a row of deletions to one
//! step.
//!
//! Does not know why something was changed, and holds no more than [`STEPS`] and [`BYTES`].

use std::collections::VecDeque;

use super::segment;
use super::text::Text;

/// Steps that can be taken back: a day at one prompt.
const STEPS: usize = 1_000;

/// Bytes all steps may hold; the newest one is kept even when it alone is bigger.
const BYTES: usize = 8 * 1024 * 1024;

/// A part of the text that was replaced.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where.
    pub at: usize,
    /// What was there.
    pub removed: Text,
    /// What is there now.
    pub inserted: Text,
}

/// Which changes of a kind make one step together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// None.
    Alone,
    /// Text typed on and on, up to the next word.
    Typing,
    /// One character after the other deleted.
    Erasing,
}

#[derive(Clone, Debug)]
struct Step {
    changes: Vec<Change>,
    /// The caret before the first change.
    before: usize,
    /// The caret after the last change.
    after: usize,
    join: Join,
}

/// The changes of a draft.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    done: VecDeque<Step>,
    undone: Vec<Step>,
    /// What `done` holds.
    bytes: usize,
    /// Whether the next change may join the last step.
    joining: bool,
    /// Whether changes of all kinds are one step until [`Undo::end`].
    grouping: bool,
}

impl Undo {
    /// Takes note of a change that has been made, with the caret before and after it.
    pub fn record(&mut self, change: Change, before: usize, after: usize, join: Join) {
        self.undone.clear();
        self.bytes += change.weight();
        let last = self.done.back_mut().filter(|_| self.joining);
        match last.filter(|step| step.belongs(&change, join, self.grouping)) {
            Some(step) => step.take(change, after),
            None => self.done.push_back(Step { changes: vec![change], before, after, join }),
        }
        self.joining = true;
        while self.done.len() > 1 && (self.done.len() > STEPS || self.bytes > BYTES) {
            let gone = self.done.pop_front().map_or(0, |step| step.weight());
            self.bytes = self.bytes.saturating_sub(gone);
        }
    }

    /// The next change begins a step.
    pub fn seal(&mut self) {
        self.joining = false;
    }

    /// The next change begins a step, and all after it belong to it.
    pub fn begin(&mut self) {
        self.seal();
        self.grouping = true;
    }

    /// Ends what [`Undo::begin`] began.
    pub fn end(&mut self) {
        self.seal();
        self.grouping = false;
    }

    /// Takes the last step back; the caret as it was before, or `None` if there is nothing to take back.
    pub fn undo(&mut self, text: &mut Text) -> Option<usize> {
        self.seal();
        let step = self.done.pop_back()?;
        self.bytes = self.bytes.saturating_sub(step.weight());
        for change in step.changes.iter().rev() {
            text.splice(&(change.at..change.at + change.inserted.len()), &change.removed);
        }
        let caret = step.before;
        self.undone.push(step);
        Some(caret)
    }

    /// Makes the step again that was taken back last.
    pub fn redo(&mut self, text: &mut Text) -> Option<usize> {
        self.seal();
        let step = self.undone.pop()?;
        self.bytes += step.weight();
        for change in &step.changes {
            text.splice(&(change.at..change.at + change.removed.len()), &change.inserted);
        }
        let caret = step.after;
        self.done.push_back(step);
        Some(caret)
    }
}

impl Change {
    fn weight(&self) -> usize {
        self.removed.weight() + self.inserted.weight()
    }

    /// Whether this and the change after it can be told as one.
    fn touches(&self, next: &Self) -> bool {
        let typed_on = next.removed.is_empty() && next.at == self.at + self.inserted.len();
        let erased_on = self.inserted.is_empty()
            && next.inserted.is_empty()
            && (next.at == self.at || next.at + next.removed.len() == self.at);
        typed_on || erased_on
    }

    /// Makes one change of this and the one after it, which touches it.
    fn join(&mut self, next: &Self) {
        if next.removed.is_empty() {
            self.inserted.push(&next.inserted);
        } else if next.at == self.at {
            self.removed.push(&next.removed);
        } else {
            self.removed.push_front(&next.removed);
            self.at = next.at;
        }
    }
}

impl Step {
    /// Whether a change made right after this step is a part of it.
    fn belongs(&self, change: &Change, join: Join, grouping: bool) -> bool {
        let Some(last) = self.changes.last() else { return false };
        let alike = join == self.join && last.touches(change);
        grouping
            || match join {
                Join::Alone => false,
                Join::Typing => alike && !begins_word(last, change),
                Join::Erasing => alike,
            }
    }

    fn take(&mut self, change: Change, after: usize) {
        self.after = after;
        match self.changes.last_mut().filter(|last| last.touches(&change)) {
            Some(last) => last.join(&change),
            None => self.changes.push(change),
        }
    }

    fn weight(&self) -> usize {
        self.changes.iter().map(Change::weight).sum()
    }
}

/// Whether a word begins with what is typed after `last`.
fn begins_word(last: &Change, change: &Change) -> bool {
    let typed = last.inserted.as_str();
    let end = segment::after(typed, segment::previous(typed, typed.len()));
    end.starts_with(char::is_whitespace) && !change.inserted.as_str().starts_with(char::is_whitespace)
}
