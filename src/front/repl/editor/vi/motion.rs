//! Where vi's motions go. Nothing moves here.

use std::ops::Range;

use super::parse::{Find, Motion, Words};
use crate::front::repl::editor::text::CHIP;
use crate::front::repl::editor::wrap::Wrap;
use crate::front::repl::editor::{Editor, segment};

/// Where a motion goes, and what an operator takes of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The place.
    pub to: usize,
    /// How much of it belongs to the way.
    pub extent: Extent,
}

/// What belongs to the way from the caret to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All before the one that is further right.
    Exclusive,
    /// The character there too.
    Inclusive,
    /// The lines of both.
    Lines,
}

/// What words are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A blank.
    Blank,
    /// A line break, or the end.
    Break,
    /// Letters, digits and `_`.
    Word,
    /// Everything else.
    Mark,
    /// A chip: a word of its own.
    Chip,
}

impl Editor {
    /// Where `motion` goes from the caret; nowhere if it cannot. An operator may take the last character of a line.
    pub(super) fn reach(&self, motion: Motion, count: Option<usize>, goal: usize) -> Option<Reach> {
        let (text, caret, times) = (self.text.as_str(), self.caret, count.unwrap_or(1));
        let to = |to, extent| Some(Reach { to, extent });
        match motion {
            Motion::Left => {
                let start = segment::line_start(text, caret);
                let left = steps(caret, times, |at| segment::previous(text, at).max(start));
                (left < caret).then_some(Reach { to: left, extent: Extent::Exclusive })
            }
            Motion::Right => {
                let end = segment::line_end(text, caret);
                let right = steps(caret, times, |at| segment::next(text, at).min(end));
                (right > caret).then_some(Reach { to: right, extent: Extent::Exclusive })
            }
            Motion::Up => self.line_above(times, goal).map(|to| Reach { to, extent: Extent::Lines }),
            Motion::Down => self.line_below(times, goal).map(|to| Reach { to, extent: Extent::Lines }),
            Motion::WordForward(words) => {
                to(steps(caret, times, |at| word_forward(text, at, words)), Extent::Exclusive)
            }
            Motion::WordBackward(words) => {
                to(steps(caret, times, |at| word_backward(text, at, words)), Extent::Exclusive)
            }
            Motion::WordEnd(words) => to(steps(caret, times, |at| word_end(text, at, words)), Extent::Inclusive),
            Motion::LineStart => to(segment::line_start(text, caret), Extent::Exclusive),
            Motion::LineFilled => to(segment::first_filled(text, caret), Extent::Exclusive),
            Motion::LineEnd => to(line_end_below(text, caret, times.saturating_sub(1)), Extent::Exclusive),
            Motion::FirstLine => to(line_number(text, count.unwrap_or(1)), Extent::Lines),
            Motion::LastLine => to(line_number(text, count.unwrap_or(usize::MAX)), Extent::Lines),
            Motion::Find(find) => self.find(find, times, caret),
            Motion::FindAgain { reverse } => {
                let find = self.vi.as_ref()?.find?;
                let find = Find { backward: find.backward != reverse, ..find };
                // Before the character that was found, the search for the next one begins behind it.
                let skipped = if find.backward { segment::previous(text, caret) } else { segment::next(text, caret) };
                self.find(find, times, if find.till { skipped } else { caret })
            }
        }
    }

    /// The column of the caret within its line.
    pub(super) fn line_column(&self) -> usize {
        let wrap = Wrap::endless(&self.text, self.caret);
        wrap.column(&line(self.text.as_str(), self.caret), self.caret)
    }

    fn line_above(&self, times: usize, goal: usize) -> Option<usize> {
        let text = self.text.as_str();
        let start = segment::line_start(text, self.caret);
        let above = steps(start, times, |start| segment::line_start(text, start.saturating_sub(1)));
        (start > 0).then(|| self.in_line(above, goal))
    }

    fn line_below(&self, times: usize, goal: usize) -> Option<usize> {
        let text = self.text.as_str();
        let end = segment::line_end(text, self.caret);
        let below = line_end_below(text, self.caret, times);
        (end < text.len()).then(|| self.in_line(below, goal))
    }

    fn in_line(&self, at: usize, goal: usize) -> usize {
        Wrap::endless(&self.text, self.caret).at_column(&line(self.text.as_str(), at), goal)
    }

    fn find(&self, find: Find, times: usize, from: usize) -> Option<Reach> {
        let text = self.text.as_str();
        let line = line(text, self.caret);
        let wanted = times.saturating_sub(1);
        let matches = |at: &usize| segment::grapheme(text, *at).starts_with(find.letter);
        if find.backward {
            let walk = std::iter::successors(Some(from), |at| (*at > line.start).then(|| segment::previous(text, *at)));
            let at = walk.skip(1).filter(matches).nth(wanted)?;
            let to = if find.till { segment::next(text, at) } else { at };
            return Some(Reach { to, extent: Extent::Exclusive });
        }
        let walk = std::iter::successors(Some(from), |at| Some(segment::next(text, *at)).filter(|at| *at < line.end));
        let at = walk.skip(1).filter(matches).nth(wanted)?;
        let to = if find.till { segment::previous(text, at) } else { at };
        Some(Reach { to, extent: Extent::Inclusive })
    }
}

/// The line that holds `at`, without its line break.
pub fn line(text: &str, at: usize) -> Range<usize> {
    segment::line_start(text, at)..segment::line_end(text, at)
}

/// The end of the line that is so many lines below that of `at`, or of the last one.
pub fn line_end_below(text: &str, at: usize, lines: usize) -> usize {
    let below = |end| if end < text.len() { segment::line_end(text, end + 1) } else { end };
    steps(segment::line_end(text, at), lines, below)
}

/// `step` so many times, as long as it leads anywhere.
pub fn steps(from: usize, times: usize, step: impl Fn(usize) -> usize) -> usize {
    let mut at = from;
    for _ in 0..times {
        let to = step(at);
        if to == at {
            break;
        }
        at = to;
    }
    at
}

/// The class of the character at `at`.
pub fn class(text: &str, at: usize, words: Words) -> Class {
    match segment::after(text, at).chars().next() {
        None | Some('\n') => Class::Break,
        Some(CHIP) => Class::Chip,
        Some(letter) if letter.is_whitespace() => Class::Blank,
        Some(letter) if letter.is_alphanumeric() || letter == '_' || words == Words::Big => Class::Word,
        Some(_) => Class::Mark,
    }
}

/// The last character of the run of one class that holds `at`.
pub fn run_end(text: &str, at: usize, words: Words) -> usize {
    let own = class(text, at, words);
    let mut last = at;
    loop {
        let next = segment::next(text, last);
        if next >= text.len() || own == Class::Chip || class(text, next, words) != own {
            return last;
        }
        last = next;
    }
}

/// The first character of the run of one class that holds `at`.
pub fn run_start(text: &str, at: usize, words: Words) -> usize {
    let own = class(text, at, words);
    let mut first = at;
    while first > 0 && own != Class::Chip {
        let previous = segment::previous(text, first);
        if class(text, previous, words) != own {
            break;
        }
        first = previous;
    }
    first
}

/// The beginning of the next word, or an empty line.
pub fn word_forward(text: &str, from: usize, words: Words) -> usize {
    let mut at = from;
    match class(text, at, words) {
        Class::Blank | Class::Break => {}
        Class::Word | Class::Mark | Class::Chip => at = segment::next(text, run_end(text, at, words)),
    }
    while at < text.len() {
        match class(text, at, words) {
            Class::Break if at != from && segment::line_start(text, at) == at => break,
            Class::Blank | Class::Break => at = segment::next(text, at),
            Class::Word | Class::Mark | Class::Chip => break,
        }
    }
    at
}

/// The beginning of this word, or of the one before it, or an empty line.
fn word_backward(text: &str, from: usize, words: Words) -> usize {
    let mut at = segment::previous(text, from);
    while at > 0 {
        match class(text, at, words) {
            Class::Break if segment::line_start(text, at) == at => return at,
            Class::Blank | Class::Break => at = segment::previous(text, at),
            Class::Word | Class::Mark | Class::Chip => break,
        }
    }
    match class(text, at, words) {
        Class::Blank | Class::Break => at,
        Class::Word | Class::Mark | Class::Chip => run_start(text, at, words),
    }
}

/// The last character of this word, or of the next one.
pub fn word_end(text: &str, from: usize, words: Words) -> usize {
    let mut at = segment::next(text, from);
    while at < text.len() {
        match class(text, at, words) {
            Class::Blank | Class::Break => at = segment::next(text, at),
            Class::Word | Class::Mark | Class::Chip => return run_end(text, at, words),
        }
    }
    segment::previous(text, text.len()).max(from)
}

/// The first character that is no blank of the line with this number, from 1, or of the last line.
fn line_number(text: &str, number: usize) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes());
    let start = breaks.map(|at| at + 1).take(number.saturating_sub(1)).last().unwrap_or(0);
    segment::first_filled(text, start)
}
