//! A file's bytes in a form in which unlike spellings are equal, and the way back to the original bytes.
//!
//! It compares; it never changes a file.

use std::ops::Range;

use memchr::memmem;

/// What is taken as equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// `\r\n` and `\n`.
    LineEnds,
    /// Also every run of blanks, and a line end with blanks before it and one without.
    Blanks,
}

/// Folded bytes with their places in the original.
#[derive(Debug)]
pub struct Folded {
    bytes: Vec<u8>,
    /// Where one folded byte stands for other than one original byte; in order.
    marks: Vec<Mark>,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    at: usize,
    start: usize,
    end: usize,
}

impl Folded {
    /// Folds `content`.
    pub fn new(content: &[u8], fold: Fold) -> Self {
        let mut folded = Self { bytes: Vec::with_capacity(content.len()), marks: Vec::new() };
        let mut at = 0;
        while let Some(rest) = content.get(at..).filter(|rest| !rest.is_empty()) {
            let (byte, length) = step(rest, fold);
            if length != 1 || Some(&byte) != rest.first() {
                folded.marks.push(Mark { at: folded.bytes.len(), start: at, end: at + length });
            }
            folded.bytes.push(byte);
            at += length;
        }
        folded
    }

    /// Where `needle` (folded alike) stands, as ranges of original bytes that do not overlap; the first `most` of them.
    pub fn hits(&self, needle: &Self, most: usize) -> Vec<Range<usize>> {
        let length = needle.bytes.len();
        memmem::find_iter(&self.bytes, &needle.bytes)
            .take(most)
            .map(|start| self.original(start).start..self.original(start + length - 1).end)
            .collect()
    }

    /// The original bytes that `needle` (folded alike, not empty) stands for at the end, where it does.
    pub fn at_end(&self, needle: &Self) -> Option<Range<usize>> {
        let last = self.bytes.len().checked_sub(1)?;
        let start = self.bytes.strip_suffix(needle.bytes.as_slice())?.len();
        Some(self.original(start).start..self.original(last).end)
    }

    /// The original bytes of one folded byte.
    fn original(&self, at: usize) -> Range<usize> {
        let after = self.marks.partition_point(|mark| mark.at <= at);
        match after.checked_sub(1).and_then(|index| self.marks.get(index)) {
            None => at..at + 1,
            Some(mark) if mark.at == at => mark.start..mark.end,
            Some(mark) => {
                let start = mark.end + (at - mark.at - 1);
                start..start + 1
            }
        }
    }
}

/// The length in bytes of the line end that `bytes` begin with; 0 where they do not.
pub fn line_end(bytes: &[u8]) -> usize {
    match bytes {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}

/// The length in bytes of the blanks that `bytes` begin with.
pub fn blanks(bytes: &[u8]) -> usize {
    let mut length = 0;
    loop {
        let next = blank(bytes.get(length..).unwrap_or_default());
        if next == 0 {
            return length;
        }
        length += next;
    }
}

/// One step of folding: the folded byte, and how many original bytes it stands for.
fn step(rest: &[u8], fold: Fold) -> (u8, usize) {
    let blanks = match fold {
        Fold::LineEnds => 0,
        Fold::Blanks => blanks(rest),
    };
    match (line_end(rest.get(blanks..).unwrap_or_default()), blanks, rest.first()) {
        (0, 0, Some(byte)) => (*byte, 1),
        (0, _, _) => (b' ', blanks),
        (end, _, _) => (b'\n', blanks + end),
    }
}

/// Space, tab, and the spaces of Unicode (category Zs), as UTF-8.
fn blank(bytes: &[u8]) -> usize {
    match bytes {
        [b' ' | b'\t', ..] => 1,
        [0xc2, 0xa0, ..] => 2,
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..] => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hits(content: &str, needle: &str, fold: Fold) -> Vec<(usize, usize)> {
        let hits = Folded::new(content.as_bytes(), fold).hits(&Folded::new(needle.as_bytes(), fold), usize::MAX);
        hits.into_iter().map(|hit| (hit.start, hit.end)).collect()
    }

    #[test]
    fn ranges_are_of_the_original() {
        assert_eq!(hits("a\r\nb\r\nc", "b\nc", Fold::LineEnds), [(3, 7)]);
        assert_eq!(hits("a\r\nb\r\nc", "\nb", Fold::LineEnds), [(1, 4)]);
        assert_eq!(hits("if\n\treturn \u{a0} 1  \nx", "    return 1\nx", Fold::Blanks), [(3, 19)]);
        assert_eq!(hits("foo  \nfoo\n", "foo", Fold::Blanks), [(0, 3), (6, 9)]);
    }

    #[test]
    fn every_unicode_space_is_a_blank() {
        let spaces: String = ('\0'..=char::MAX).filter(|c| c.is_whitespace() && !c.is_control()).collect();
        let expected = spaces.replace(['\u{2028}', '\u{2029}'], "");
        assert_eq!(blanks(expected.as_bytes()), expected.len());
    }

    proptest! {
        #[test]
        fn a_piece_is_found_where_it_was_taken(before in "[a \t\r\nß\u{a0}]{0,12}", piece in "[b \t\r\n\u{a0}]{0,8}", after in "[a \t\r\n\u{2003}]{0,12}") {
            // Framed by letters, so that no run of blanks and no line end is cut in two.
            let piece = format!("x{piece}y");
            let content = format!("{before}{piece}{after}");
            for fold in [Fold::LineEnds, Fold::Blanks] {
                prop_assert_eq!(hits(&content, &piece, fold), vec![(before.len(), before.len() + piece.len())]);
            }
        }
    }
}
