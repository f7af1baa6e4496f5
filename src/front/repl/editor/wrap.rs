//! A draft in rows of a given width: where each begins, and what its grapheme clusters look like.
//!
//! Looks only at what it is asked for: a line longer than [`STRETCH`] is wrapped in stretches, each of which begins a row,
//! so that no question about a row reads a megabyte. Knows no colours.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::segment;
use super::text::{CHIP, Text};
use crate::base::text::{cut, visible, width};

/// Bytes of a line that are wrapped at a time: about half a screen of text.
const STRETCH: usize = 2 * 1024;

/// Where a grapheme cluster is longer than this in bytes, a stretch ends within it. Less than [`STRETCH`].
const LONGEST_CLUSTER: usize = 256;

/// Characters of a grapheme cluster that are shown: what UAX #15 allows in a stream, and one to carry them.
const SHOWN_OF_CLUSTER: usize = 31;

/// Columns from one tab stop to the next.
const TAB: usize = 4;

/// The columns before each row: the mark of the first one, and nothing below it.
pub const INDENT: usize = 2;

/// Narrower screens have no room for [`INDENT`].
const NARROW: usize = 6;

/// A draft on a screen of a given width.
#[derive(Clone, Copy, Debug)]
pub struct Wrap<'a> {
    text: &'a Text,
    /// Columns for text.
    room: usize,
    caret: usize,
}

/// A grapheme cluster on the screen.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    /// Where it begins in the text, in bytes.
    pub at: usize,
    /// What is shown for it.
    pub shown: Cow<'a, str>,
    /// Columns it takes.
    pub width: usize,
    /// Whether it is a chip.
    pub chip: bool,
}

/// Columns before the rows of a screen that is `width` columns wide.
pub fn indent(width: usize) -> usize {
    if width < NARROW { 0 } else { INDENT }
}

impl<'a> Wrap<'a> {
    /// On a screen of `width` columns, the indentation among them.
    pub fn new(text: &'a Text, width: usize, caret: usize) -> Self {
        Self { text, room: width.saturating_sub(indent(width)).max(1), caret }
    }

    /// On a screen so wide that each line is a row.
    pub fn endless(text: &'a Text, caret: usize) -> Self {
        Self { text, room: usize::MAX, caret }
    }

    /// The row that holds the caret.
    pub fn caret_row(&self) -> Range<usize> {
        self.rows(self.caret).into_iter().rfind(|row| row.start <= self.caret).unwrap_or(self.caret..self.caret)
    }

    /// The row that holds `at`, and those around it: all of its stretch.
    pub fn rows(&self, at: usize) -> Vec<Range<usize>> {
        let stretch = self.stretch(at);
        let (mut rows, mut start, mut column) = (Vec::new(), stretch.start, 0);
        for cell in self.cells(&stretch) {
            let mut columns = self.columns(&cell, column);
            if columns > self.room.saturating_sub(column) && cell.at > start {
                rows.push(start..cell.at);
                (start, column) = (cell.at, 0);
                columns = self.columns(&cell, column);
            }
            column += columns;
        }
        rows.push(start..stretch.end);
        let at_end = self.caret == stretch.end && segment::line_end(self.text.as_str(), stretch.end) == stretch.end;
        if at_end && column >= self.room {
            rows.push(stretch.end..stretch.end);
        }
        rows
    }

    /// Rows directly above a row: all of their stretch, or none.
    pub fn rows_above(&self, row: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.stretch(row.start).start == row.start;
        let mut rows = match row.start.checked_sub(usize::from(first)) {
            Some(at) => self.rows(at),
            None => Vec::new(),
        };
        rows.retain(|other| other.start < row.start);
        rows
    }

    /// Rows directly below a row: all of their stretch, or none.
    pub fn rows_below(&self, row: &Range<usize>) -> Vec<Range<usize>> {
        let text = self.text.as_str();
        // The last row of a stretch ends with it, and so does one that is full and has the caret behind it.
        if row.end < self.stretch(row.start).end || (row.end == self.caret && !row.is_empty()) {
            let mut rows = self.rows(row.start);
            rows.retain(|other| other.start > row.start);
            if !rows.is_empty() {
                return rows;
            }
        }
        let ends = segment::line_end(text, row.end) == row.end;
        let below = row.end + usize::from(ends);
        if below > text.len() || below == row.start { Vec::new() } else { self.rows(below) }
    }

    /// Columns from the beginning of `row` to `at`.
    pub fn column(&self, row: &Range<usize>, at: usize) -> usize {
        let before = self.cells(row).take_while(|cell| cell.at < at);
        before.fold(0, |column, cell| column + self.columns(&cell, column))
    }

    /// The place in `row` that is nearest to `goal`, a column, and not right of it.
    pub fn at_column(&self, row: &Range<usize>, goal: usize) -> usize {
        let mut column = 0;
        let mut last = row.start;
        for cell in self.cells(row) {
            last = cell.at;
            column += self.columns(&cell, column);
            if column > goal {
                return last;
            }
        }
        // Where a row goes on below, its end is the beginning of that one.
        if segment::line_end(self.text.as_str(), row.end) == row.end { row.end } else { last }
    }

    /// What is shown of a part of the text, tabs apart: how wide they are is for [`Wrap::columns`] to say.
    pub fn cells(&self, range: &Range<usize>) -> impl Iterator<Item = Cell<'a>> {
        let (text, room, start) = (self.text, self.room, range.start);
        let part = text.as_str().get(range.clone()).unwrap_or_default();
        part.grapheme_indices(true).map(move |(offset, cluster)| cell(text, start + offset, cluster, room))
    }

    /// Columns of a cell that begins at `column` of its row.
    pub fn columns(&self, cell: &Cell<'_>, column: usize) -> usize {
        if cell.shown == "\t" { (TAB - column % TAB).min(self.room.saturating_sub(column)).max(1) } else { cell.width }
    }

    /// The part of the line of `at` that is wrapped by itself.
    fn stretch(&self, at: usize) -> Range<usize> {
        let text = self.text.as_str();
        let line = segment::line_start(text, at)..segment::line_end(text, at);
        let mut number = at.saturating_sub(line.start) / STRETCH;
        // Its beginning may be after `at`, or, at the end of the line, nothing may be left for it.
        while number > 0 && (at < cut_at(text, &line, number) || cut_at(text, &line, number) == line.end) {
            number -= 1;
        }
        cut_at(text, &line, number)..cut_at(text, &line, number + 1)
    }
}

/// Where the stretch of this number begins.
fn cut_at(text: &str, line: &Range<usize>, number: usize) -> usize {
    let at = line.start.saturating_add(number.saturating_mul(STRETCH));
    if at >= line.end || number == 0 {
        return at.min(line.end);
    }
    // Never less than `at`, or two stretches would both claim it.
    let at = (at..line.end).find(|at| text.is_char_boundary(*at)).unwrap_or(line.end);
    // Only the surroundings are looked at: a cluster, or a row of flags, may be a megabyte.
    let window = segment::before(text, at - LONGEST_CLUSTER).len()..segment::before(text, at + LONGEST_CLUSTER).len();
    let near = text.get(window.clone()).unwrap_or_default();
    let snapped = window.start + segment::snap(near, at - window.start);
    if snapped == window.end { at } else { snapped.min(line.end) }
}

fn cell<'a>(text: &'a Text, at: usize, cluster: &'a str, room: usize) -> Cell<'a> {
    if let [b'\t' | b' '..=b'~'] = cluster.as_bytes() {
        return Cell { at, shown: Cow::Borrowed(cluster), width: 1, chip: false };
    }
    if let Some(label) = cluster.starts_with(CHIP).then(|| text.label(at)).flatten() {
        let shown = width::cut(&label, room, "…");
        return Cell { at, width: width::width(&shown), shown: Cow::Owned(shown), chip: true };
    }
    let cluster = cut::split_chars(cluster, SHOWN_OF_CLUSTER).0;
    if is_joiner_in_place(text.as_str(), at, cluster) {
        return Cell { at, shown: Cow::Borrowed(cluster), width: 0, chip: false };
    }
    let mut shown = visible::line(cluster);
    if width::width(&shown) == 0 {
        shown = Cow::Owned(shown.escape_unicode().to_string());
    }
    if width::width(&shown) > room {
        shown = Cow::Owned(width::cut(&shown, room, "…"));
    }
    Cell { at, width: width::width(&shown), shown, chip: false }
}

/// Whether `cluster` is a space of no width, or a joiner, where a script needs it, as `base::text::visible` sees it.
fn is_joiner_in_place(text: &str, at: usize, cluster: &str) -> bool {
    let mut letters = cluster.chars();
    let joiner = matches!((letters.next(), letters.next()), (Some('\u{200b}'..='\u{200d}'), None));
    joiner && segment::before(text, at).chars().next_back().is_some_and(|letter| !letter.is_ascii() && letter != CHIP)
}
