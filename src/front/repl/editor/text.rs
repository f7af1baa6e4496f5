//! The text of a draft, and of every part of it where it came from: typed, pasted, or a long paste or a picture
//! that stands as one character, its chip.
//!
//! Knows no caret and no history. Ranges are bytes; what lies outside or within a character is moved, never a panic.

use std::ops::Range;
use std::sync::Arc;

use super::draft::{self, Draft, Picture, Piece};
use crate::base::text::cut;

/// Stands for a chip. It is assigned to nothing, and UAX #29 has it as a control: no neighbour joins it to a cluster. Only
/// the runs say what is a chip; the same character in somebody's text is text.
pub const CHIP: char = '\u{fff0}';

/// A text with the origin of its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    string: String,
    /// Together as long as the string. Neighbours differ, unless they are chips; none is empty.
    runs: Vec<Run>,
}

#[derive(Clone, Debug, PartialEq)]
struct Run {
    /// Bytes.
    length: usize,
    origin: Origin,
}

/// Where a part of a text came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The keyboard.
    Typed,
    /// A paste that is shown as it is.
    Pasted,
    /// A paste that is shown as [`CHIP`].
    Chip(Arc<str>),
    /// A picture, which is shown as [`CHIP`].
    Picture(Arc<Picture>),
}

impl Text {
    /// A text from the keyboard.
    pub fn typed(text: &str) -> Self {
        Self::of(broken_by_lf(text), Origin::Typed)
    }

    /// A text from the clipboard, long or short.
    pub fn pasted(text: &str) -> Self {
        Self::of(broken_by_lf(text), Origin::Pasted)
    }

    /// A text from the clipboard: a chip if it is long.
    pub fn paste(text: &str) -> Self {
        if !draft::is_long(text) {
            return Self::pasted(text);
        }
        Self::of(CHIP.to_string(), Origin::Chip(broken_by_lf(text).into()))
    }

    /// A picture: a chip.
    pub fn picture(picture: Arc<Picture>) -> Self {
        Self::of(CHIP.to_string(), Origin::Picture(picture))
    }

    fn of(string: String, origin: Origin) -> Self {
        let length = string.len();
        Self { string, runs: if length == 0 { Vec::new() } else { vec![Run { length, origin }] } }
    }

    /// What is edited: [`CHIP`] for each chip.
    pub fn as_str(&self) -> &str {
        &self.string
    }

    /// Bytes of what is edited.
    pub fn len(&self) -> usize {
        self.string.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.string.is_empty()
    }

    /// Bytes of what it stands for.
    pub fn weight(&self) -> usize {
        let chips = self.runs.iter().map(|run| match &run.origin {
            Origin::Typed | Origin::Pasted => 0,
            Origin::Chip(text) => text.len(),
            Origin::Picture(picture) => picture.image.as_ref().map_or(0, |image| image.data.len()),
        });
        self.string.len() + chips.sum::<usize>()
    }

    /// Where the character at `at` came from; nothing at the end.
    pub fn origin(&self, at: usize) -> Option<&Origin> {
        let mut end = 0;
        let found = self.runs.iter().find(|run| {
            end += run.length;
            at < end
        });
        found.map(|run| &run.origin)
    }

    /// The pasted text of the chip at `at`, if there is one.
    pub fn chip(&self, at: usize) -> Option<&Arc<str>> {
        match self.origin(at)? {
            Origin::Chip(text) => Some(text),
            Origin::Typed | Origin::Pasted | Origin::Picture(_) => None,
        }
    }

    /// What the chip at `at` says, if there is one.
    pub fn label(&self, at: usize) -> Option<String> {
        match self.origin(at)? {
            Origin::Typed | Origin::Pasted => None,
            Origin::Chip(text) => Some(draft::label(text)),
            Origin::Picture(picture) => {
                let before = self.slice(&(0..at));
                let pictures = before.runs.iter().filter(|run| matches!(run.origin, Origin::Picture(_)));
                Some(picture.numbered(pictures.count() + 1))
            }
        }
    }

    /// Bytes that the chip at `at` has in [`Draft::text`], if there is one.
    pub fn written(&self, at: usize) -> Option<usize> {
        match self.origin(at)? {
            Origin::Typed | Origin::Pasted => None,
            Origin::Chip(text) => Some(text.len()),
            Origin::Picture(picture) => Some(picture.label().len()),
        }
    }

    /// Where a pasted text still stands as it came: the last such place.
    pub fn find_pasted(&self, text: &str) -> Option<Range<usize>> {
        let text = broken_by_lf(text);
        let mut end = self.len();
        self.runs.iter().rev().find_map(|run| {
            let range = end - run.length..end;
            end = range.start;
            match &run.origin {
                Origin::Pasted => {
                    let at = range.start + self.string.get(range)?.rfind(&text)?;
                    Some(at..at + text.len())
                }
                Origin::Chip(pasted) => (**pasted == *text).then_some(range),
                Origin::Typed | Origin::Picture(_) => None,
            }
        })
    }

    /// Whether the character at `at` was typed.
    pub fn is_typed(&self, at: usize) -> bool {
        self.origin(at) == Some(&Origin::Typed)
    }

    /// The nearest range that there is, between characters.
    pub fn clamp(&self, range: &Range<usize>) -> Range<usize> {
        let floor = |at| cut::head_bytes(&self.string, at).len();
        let start = floor(range.start);
        start..floor(range.end).max(start)
    }

    /// A part.
    pub fn slice(&self, range: &Range<usize>) -> Self {
        let range = self.clamp(range);
        let mut runs = Vec::new();
        self.copy_runs(&range, &mut runs);
        Self { string: self.string.get(range).unwrap_or_default().to_owned(), runs }
    }

    /// Puts `with` in the place of a part, and returns that part.
    pub fn splice(&mut self, range: &Range<usize>, with: &Self) -> Self {
        let range = self.clamp(range);
        let removed = self.slice(&range);
        let mut runs = Vec::with_capacity(self.runs.len() + with.runs.len() + 1);
        self.copy_runs(&(0..range.start), &mut runs);
        with.copy_runs(&(0..with.len()), &mut runs);
        self.copy_runs(&(range.end..self.len()), &mut runs);
        self.runs = runs;
        self.string.replace_range(range, &with.string);
        removed
    }

    /// Appends.
    pub fn push(&mut self, other: &Self) {
        let end = self.len();
        self.splice(&(end..end), other);
    }

    /// Puts before.
    pub fn push_front(&mut self, other: &Self) {
        self.splice(&(0..0), other);
    }

    /// With each character spelt anew by what `spell` appends; chips stay.
    pub fn spelt(&self, mut spell: impl FnMut(char, &mut String)) -> Self {
        let mut spelt = Self::default();
        let mut start = 0;
        for run in &self.runs {
            let end = start + run.length;
            let part = self.string.get(start..end).unwrap_or_default();
            start = end;
            let mut string = String::with_capacity(part.len());
            match run.origin {
                Origin::Typed | Origin::Pasted => part.chars().for_each(|letter| spell(letter, &mut string)),
                Origin::Chip(_) | Origin::Picture(_) => string.push_str(part),
            }
            spelt.push(&Self::of(string, run.origin.clone()));
        }
        spelt
    }

    /// So many times one after the other, as far as `most` bytes go; once in any case.
    pub fn repeated(&self, times: usize, most: usize) -> Self {
        let mut text = self.clone();
        let fitting = most.checked_div(self.weight()).unwrap_or_default();
        (1..times.min(fitting)).for_each(|_| text.push(self));
        text
    }

    /// As it will be sent.
    pub fn draft(&self) -> Draft {
        let mut draft = Draft::default();
        let mut start = 0;
        for run in &self.runs {
            let end = start + run.length;
            let text = self.string.get(start..end).unwrap_or_default();
            start = end;
            draft.push(match &run.origin {
                Origin::Typed => Piece::Typed(text.to_owned()),
                Origin::Pasted => Piece::Pasted(text.to_owned()),
                Origin::Chip(text) => Piece::Pasted(text.to_string()),
                Origin::Picture(picture) => Piece::Picture(Arc::clone(picture)),
            });
        }
        draft
    }

    /// A draft that comes back; its long pastes are chips again.
    pub fn from_draft(draft: &Draft) -> Self {
        let mut text = Self::default();
        for piece in &draft.pieces {
            text.push(&match piece {
                Piece::Typed(piece) => Self::typed(piece),
                Piece::Pasted(piece) => Self::paste(piece),
                Piece::Picture(picture) => Self::picture(Arc::clone(picture)),
            });
        }
        text
    }

    /// Appends the runs of a part to `runs`.
    fn copy_runs(&self, range: &Range<usize>, runs: &mut Vec<Run>) {
        let mut start = 0;
        for run in &self.runs {
            let end = start + run.length;
            let length = end.min(range.end).saturating_sub(start.max(range.start));
            start = end;
            if length == 0 {
                continue;
            }
            match (runs.last_mut(), &run.origin) {
                (Some(last), Origin::Typed | Origin::Pasted) if last.origin == run.origin => last.length += length,
                _ => runs.push(Run { length, origin: run.origin.clone() }),
            }
        }
    }
}

/// With `\n` for every line end: nothing else ends a line of a draft.
fn broken_by_lf(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_follow_the_text() {
        let mut text = Text::typed("see: ");
        text.push(&Text::paste("pasted"));
        text.push(&Text::typed("!"));
        text.splice(&(7..9), &Text::typed("XY"));
        let pieces = |text: &Text| text.draft().pieces;
        let (typed, pasted) = (|text: &str| Piece::Typed(text.into()), |text: &str| Piece::Pasted(text.into()));
        assert_eq!(pieces(&text), [typed("see: "), pasted("pa"), typed("XY"), pasted("ed"), typed("!")]);
        let removed = text.splice(&(3..10), &Text::default());
        assert_eq!(pieces(&removed), [typed(": "), pasted("pa"), typed("XY"), pasted("e")]);
        assert_eq!(pieces(&text), [typed("see"), pasted("d"), typed("!")]);
        text.splice(&(3..4), &Text::default());
        assert_eq!(pieces(&text), [typed("see!")]);
    }

    #[test]
    fn long_pastes_are_chips() {
        let is_chip = |text: &str| Text::paste(text).chip(0).is_some();
        assert!(!is_chip(&"line\n".repeat(10)) && !is_chip(&"天".repeat(1_000)));
        assert!(is_chip(&("line\n".repeat(10) + "x")) && is_chip(&"天".repeat(1_001)));
        let mut text = Text::paste(&"a\r\n".repeat(20));
        text.push(&Text::paste(&"b".repeat(2_000)));
        assert_eq!((text.as_str(), text.weight()), ("\u{fff0}\u{fff0}", 6 + 40 + 2_000));
        assert_eq!(text.draft().text(), "a\n".repeat(20) + &"b".repeat(2_000));
        assert_eq!(text.draft().pieces.len(), 1);
        let literal = Text::typed("\u{fff0}");
        assert_eq!((literal.chip(0), literal.draft().text()), (None, "\u{fff0}".to_owned()));
    }

    #[test]
    fn odd_ranges_do_no_harm() {
        let mut text = Text::typed("天天");
        assert_eq!(text.slice(&(1..4)).as_str(), "天");
        #[expect(clippy::reversed_empty_ranges, reason = "what a caller should not give")]
        text.splice(&(5..1), &Text::typed("x"));
        text.splice(&(90..99), &Text::typed("y"));
        assert_eq!(text.as_str(), "天x天y");
    }
}
