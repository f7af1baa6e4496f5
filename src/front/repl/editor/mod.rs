//! The input line: a draft that is edited, its caret, what was done to it and what was cut out. Pure; it knows neither keys'
//! bytes nor the screen.
//!
//! [`Editor`] is one draft; [`walk`] goes through earlier ones, [`search`] finds one, [`complete`] is the draft as
//! those see it who complete its words. The caret always stands between grapheme clusters. A long paste, or a picture, is one character of it,
//! its chip.

mod change;
mod command;
pub mod complete;
pub mod draft;
mod kill;
pub mod layout;
pub mod search;
mod segment;
#[cfg(test)]
mod tests;
mod text;
mod undo;
pub mod vi;
pub mod walk;
mod wrap;

use std::ops::Range;
use std::sync::Arc;

use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::view::Look;
use draft::{Draft, Picture};
use kill::Kills;
use layout::{Laid, Sheet};
use text::{CHIP, Text};
use undo::{Join, Undo};
use vi::Vi;
use wrap::Wrap;

/// How a draft is edited (`ui.editing`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Editing {
    /// Without modes, with the keys of Emacs.
    #[default]
    Emacs,
    /// With the modes of vi.
    Vi,
}

/// A draft under the pen.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    text: Text,
    /// Bytes from the beginning; between grapheme clusters.
    caret: usize,
    /// The column that going up and down aims at.
    goal: Option<usize>,
    last: Last,
    undo: Undo,
    kills: Kills,
    vi: Option<Vi>,
}

/// What was done last, for what depends on it.
#[derive(Clone, Debug, Default)]
enum Last {
    #[default]
    Other,
    /// Something was cut out.
    Kill,
    /// The text that is `back` before the newest of the kill ring was put in; it begins at `start`.
    Yank { start: usize, back: usize },
}

impl Editor {
    /// An empty draft.
    pub fn new(editing: Editing) -> Self {
        let vi = match editing {
            Editing::Emacs => None,
            Editing::Vi => Some(Vi::default()),
        };
        let mut editor = Self { vi, ..Self::default() };
        editor.begin();
        editor
    }

    /// Types a text: one character or several.
    pub fn insert(&mut self, text: &str) {
        self.fresh();
        self.change(self.caret..self.caret, &Text::typed(text), Join::Typing);
        self.settle();
    }

    /// Pastes a text. Above 10 lines or 1,000 characters it becomes a chip.
    pub fn paste(&mut self, text: &str) {
        self.fresh();
        self.change(self.caret..self.caret, &Text::paste(text), Join::Alone);
        self.settle();
    }

    /// Puts pictures in at the caret, in their order: a chip each.
    pub fn insert_pictures(&mut self, pictures: &[Arc<Picture>]) {
        self.fresh();
        self.change(self.caret..self.caret, &chips(pictures), Join::Alone);
        self.settle();
    }

    /// Puts pictures in the place of a text that was pasted, if it still stands as it came; `false` if it does not.
    pub fn replace_pasted(&mut self, text: &str, pictures: &[Arc<Picture>]) -> bool {
        let Some(place) = self.text.find_pasted(text) else { return false };
        let (chips, caret, end) = (chips(pictures), self.caret, place.end);
        let behind = place.start + chips.len();
        self.fresh();
        self.change(place, &chips, Join::Alone);
        self.caret = if caret > end { caret - end + behind } else { self.caret };
        self.settle();
        true
    }

    /// Makes text of the chip right or left of the caret, else of the last one; `false` if there is none.
    pub fn expand_chip_at_caret(&mut self) -> bool {
        let left = segment::previous(self.text.as_str(), self.caret);
        let chips = self.text.as_str().rmatch_indices(CHIP).map(|(at, _)| at);
        let places = [self.caret, left].into_iter().chain(chips);
        let Some((at, chip)) = places.into_iter().find_map(|at| Some((at, self.text.chip(at)?))) else {
            return false;
        };
        let (chip, caret) = (Text::pasted(chip), self.caret);
        self.fresh();
        self.change(at..at + CHIP.len_utf8(), &chip, Join::Alone);
        let caret = if caret > at { caret - CHIP.len_utf8() + chip.len() } else { caret };
        // What was apart from the chip may be of one cluster with its text.
        self.caret = segment::snap(self.text.as_str(), caret);
        self.settle();
        true
    }

    /// The caret goes up a row of a screen that is `width` columns wide; `false` if it is in the first one.
    pub fn up(&mut self, width: usize) -> bool {
        let to = self.vertical(width, |wrap, row| wrap.rows_above(row).pop());
        // A row can begin within an endless cluster; the caret cannot.
        let text = self.text.as_str();
        self.arrive(to.map(|(to, goal)| (segment::floor(text, to), goal)))
    }

    /// The caret goes down a row; `false` if it is in the last one.
    pub fn down(&mut self, width: usize) -> bool {
        let to = self.vertical(width, |wrap, row| wrap.rows_below(row).into_iter().next());
        self.arrive(to)
    }

    /// Makes a line break of a typed `\` left of the caret, for those whose terminal has no other way. A `\` that another
    /// one precedes is meant as it is. `false` if there is none.
    pub fn break_at_backslash(&mut self) -> bool {
        let before = segment::before(self.text.as_str(), self.caret);
        let escapes = before.len() - before.trim_end_matches('\\').len();
        let at = self.caret - escapes.min(1);
        if escapes.is_multiple_of(2) || !self.text.is_typed(at) {
            return false;
        }
        self.fresh();
        self.change(at..self.caret, &Text::typed("\n"), Join::Alone);
        self.settle();
        true
    }

    /// What is written, as it will be sent.
    pub fn draft(&self) -> Draft {
        self.text.draft()
    }

    /// What is written, and an empty draft in its place: what was cut out stays, everything else begins anew.
    pub fn take(&mut self) -> Draft {
        let draft = self.text.draft();
        let vi = self.vi.as_ref().map(Vi::anew);
        *self = Self { kills: std::mem::take(&mut self.kills), vi, ..Self::default() };
        self.begin();
        draft
    }

    /// Puts a draft in the place of this one, with the caret at its end. It can be taken back.
    pub fn set(&mut self, draft: &Draft) {
        let text = Text::from_draft(draft);
        self.fresh();
        self.undo.seal();
        if text != self.text {
            self.change(0..self.text.len(), &text, Join::Alone);
        }
        self.go(self.text.len());
        self.settle();
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether nothing is written but blanks.
    pub fn is_blank(&self) -> bool {
        let blank = |letter: char| letter.is_whitespace() || letter == CHIP;
        self.text.as_str().chars().all(blank) && self.text.draft().is_blank()
    }

    /// Whether the draft begins with this, typed: `!` for a line for the shell.
    pub fn begins_with(&self, typed: &str) -> bool {
        self.text.as_str().starts_with(typed) && self.text.is_typed(0)
    }

    /// Whether the caret stands behind everything.
    pub fn is_at_end(&self) -> bool {
        self.caret == self.text.len()
    }

    /// The draft on a screen as `look` has it, in at most `most_rows` rows. `prompt` stands before the first one, in two
    /// columns. On more rows than that, those around the caret are shown, and how many lines there are above and below.
    pub fn layout(&self, look: &Look, prompt: &Span<'static>, most_rows: usize) -> Laid {
        let marked = self.selection().map(|part| (part, Style::new().add_modifier(Modifier::REVERSED)));
        Sheet { text: &self.text, caret: self.caret, marked, prompt, most_rows }.lay(look)
    }

    /// The place in the row that `towards` leads to, and the column that was aimed at.
    fn vertical(
        &self,
        width: usize,
        towards: impl Fn(&Wrap<'_>, &Range<usize>) -> Option<Range<usize>>,
    ) -> Option<(usize, usize)> {
        let wrap = Wrap::new(&self.text, width, self.caret);
        let row = wrap.caret_row();
        let goal = self.goal.unwrap_or_else(|| wrap.column(&row, self.caret));
        towards(&wrap, &row).map(|target| (wrap.at_column(&target, goal), goal))
    }

    fn arrive(&mut self, at: Option<(usize, usize)>) -> bool {
        let Some((to, goal)) = at else { return false };
        self.fresh();
        self.go(to);
        self.goal = Some(goal);
        self.settle();
        true
    }
}

/// Chips of pictures, a blank between two of them.
fn chips(pictures: &[Arc<Picture>]) -> Text {
    let mut text = Text::default();
    for picture in pictures {
        if !text.is_empty() {
            text.push(&Text::typed(" "));
        }
        text.push(&Text::picture(Arc::clone(picture)));
    }
    text
}
