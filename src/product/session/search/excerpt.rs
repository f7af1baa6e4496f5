//! What stands around words that were found: the line they are on, as far as it fits. Pure.

use std::ops::Range;

use crate::base::text::cut;

/// How much is shown on each side, in characters: together with the words about as much as a line of a terminal.
const SIDE_CHARS: usize = 60;
/// How much is shown of the words themselves.
const WORDS_CHARS: usize = 200;

/// Words and what stands around them, on one line each: blanks of any kind are single ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// What stands before.
    pub before: String,
    /// The words, as they were found.
    pub words: String,
    /// What stands behind.
    pub after: String,
}

impl Excerpt {
    /// What stands around `range`, in bytes, which begins and ends between characters.
    pub(super) fn new(text: &str, range: Range<usize>) -> Self {
        let (start, words, end) = (
            text.get(..range.start).unwrap_or_default(),
            text.get(range.clone()).unwrap_or_default(),
            text.get(range.end..).unwrap_or_default(),
        );
        let line = start.rsplit('\n').next().unwrap_or_default();
        let before = cut::tail(line, SIDE_CHARS);
        let rest = end.split('\n').next().unwrap_or_default();
        let after = cut::head(rest, SIDE_CHARS);
        let cut_before = if before.len() < line.len() { "…" } else { "" };
        let cut_after = if after.len() < rest.len() { "…" } else { "" };
        Self {
            before: format!("{cut_before}{}", single(before).trim_start()),
            words: cut::ellipsis(&single(words), WORDS_CHARS),
            after: format!("{}{cut_after}", single(after).trim_end()),
        }
    }
}

/// Every run of blanks as one space.
fn single(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_whitespace() {
            true if shown.ends_with(' ') => {}
            true => shown.push(' '),
            false => shown.push(letter),
        }
    }
    shown
}
