//! What each [`Edit`] does. Lines are those of the draft, not rows of a screen.

use std::ops::Range;

use super::text::Text;
use super::undo::{Join, Undo};
use super::{Editor, Last, segment};
use crate::front::repl::key::action::Edit;

/// On which side of the caret something is cut out: it goes to that side of what was cut out right before.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

impl Editor {
    /// Carries an edit out.
    pub fn edit(&mut self, edit: Edit) {
        let last = self.fresh();
        let (text, caret) = (self.text.as_str(), self.caret);
        match edit {
            Edit::Newline => self.change(caret..caret, &Text::typed("\n"), Join::Typing),
            Edit::Left => self.go(segment::previous(text, caret)),
            Edit::Right => self.go(segment::next(text, caret)),
            Edit::WordLeft => self.go(segment::word_left(text, caret)),
            Edit::WordRight => self.go(segment::word_right(text, caret)),
            Edit::LineStart => self.go(segment::line_start(text, caret)),
            Edit::LineEnd => self.go(segment::line_end(text, caret)),
            Edit::DraftStart => self.go(0),
            Edit::DraftEnd => self.go(text.len()),
            Edit::DeleteLeft => self.erase(segment::previous(text, caret)..caret),
            Edit::DeleteRight => self.erase(caret..segment::next(text, caret)),
            Edit::KillWordLeft => self.kill(segment::word_left(text, caret)..caret, Side::Left, &last),
            Edit::KillBlankWordLeft => self.kill(segment::blank_word_left(text, caret)..caret, Side::Left, &last),
            Edit::KillWordRight => self.kill(caret..segment::word_right(text, caret), Side::Right, &last),
            Edit::KillToEnd => {
                let end = segment::line_end(text, caret);
                let end = if end == caret { segment::next(text, caret) } else { end };
                self.kill(caret..end, Side::Right, &last);
            }
            Edit::KillToStart => {
                let start = segment::line_start(text, caret);
                let start = if start == caret { segment::previous(text, caret) } else { start };
                self.kill(start..caret, Side::Left, &last);
            }
            Edit::Yank => self.yank(caret..caret, 0),
            Edit::YankPop => match last {
                Last::Yank { start, back } => self.yank(start..caret, back + 1),
                Last::Kill | Last::Other => {}
            },
            Edit::Undo => self.travel(Undo::undo),
            Edit::Redo => self.travel(Undo::redo),
            Edit::Transpose => self.transpose(),
            Edit::Upper => self.respell(|letter, word| word.extend(letter.to_uppercase())),
            Edit::Lower => self.respell(|letter, word| word.extend(letter.to_lowercase())),
            Edit::Capitalize => self.respell(capitalized()),
        }
        self.settle();
    }

    fn erase(&mut self, range: Range<usize>) {
        self.change(range, &Text::default(), Join::Erasing);
    }

    fn kill(&mut self, range: Range<usize>, side: Side, last: &Last) {
        let gone = self.text.slice(&range);
        if !gone.is_empty() {
            match (last, side) {
                (Last::Kill, Side::Left) => self.kills.join_left(&gone),
                (Last::Kill, Side::Right) => self.kills.join_right(&gone),
                (Last::Other | Last::Yank { .. }, _) => self.kills.push(gone, false),
            }
            self.change(range, &Text::default(), Join::Alone);
        }
        self.last = Last::Kill;
    }

    fn yank(&mut self, range: Range<usize>, back: usize) {
        let Some(kill) = self.kills.get(back) else { return };
        let (start, text) = (range.start, kill.text.clone());
        self.change(range, &text, Join::Alone);
        self.last = Last::Yank { start, back };
    }

    /// Swaps the graphemes around the caret, or those before it at the end of a line, and goes behind both.
    fn transpose(&mut self) {
        let text = self.text.as_str();
        let middle = match self.caret {
            caret if caret == segment::line_end(text, caret) => segment::previous(text, caret),
            caret => caret,
        };
        let range = segment::previous(text, middle)..segment::next(text, middle);
        if middle <= segment::line_start(text, self.caret) {
            return;
        }
        let mut swapped = self.text.slice(&(middle..range.end));
        swapped.push(&self.text.slice(&(range.start..middle)));
        self.change(range, &swapped, Join::Alone);
    }

    /// Spells what is left of the word at or after the caret anew, and goes behind it.
    fn respell(&mut self, spell: impl FnMut(char, &mut String)) {
        let end = segment::word_right(self.text.as_str(), self.caret);
        self.respell_range(self.caret..end, spell);
    }

    /// Spells a part anew. Every character keeps its origin.
    pub(super) fn respell_range(&mut self, range: Range<usize>, spell: impl FnMut(char, &mut String)) {
        let old = self.text.slice(&range);
        let with = old.spelt(spell);
        if with == old {
            self.go(range.end);
        } else {
            self.change(range, &with, Join::Alone);
        }
    }
}

/// A spelling of each letter, with an upper case one for the first.
fn capitalized() -> impl FnMut(char, &mut String) {
    let mut begun = false;
    move |letter, word| {
        if begun {
            word.extend(letter.to_lowercase());
        } else {
            begun = letter.is_alphanumeric();
            word.extend(letter.to_uppercase());
        }
    }
}
