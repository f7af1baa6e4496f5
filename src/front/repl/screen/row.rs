//! A row of the live region: which character stands in which column, and where it goes when a terminal wraps it anew.
//! It never writes.

use ratatui::text::Line;
use unicode_width::UnicodeWidthChar;

use super::pen::{Colours, Pen};
use crate::base::text::width::clusters;

/// A grapheme cluster in its place.
#[derive(Clone, Copy, Debug)]
pub struct Glyph<'a> {
    /// What is written.
    pub text: &'a str,
    /// How it looks.
    pub pen: Pen,
    /// Its first column.
    pub column: usize,
    /// Whether terminals agree on its width.
    pub certain: bool,
}

/// A laid out row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    text: String,
    cells: Vec<Cell>,
    /// Columns up to the end of the last visible character.
    width: usize,
    /// As `width`, for a terminal that shows every part of each cluster for itself.
    widest: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    /// Where its text ends, in bytes.
    end: usize,
    /// Columns: 1 or 2.
    width: usize,
    /// Columns where the terminal knows nothing of clusters.
    widest: usize,
    certain: bool,
    pen: Pen,
}

impl Row {
    /// Lays a line out in at most `columns`; what does not fit is left out, and so are blanks at the end.
    pub fn new(line: &Line<'_>, columns: usize, colours: Colours) -> Self {
        let mut row = Self::default();
        let mut taken = 0;
        'line: for span in &line.spans {
            let pen = Pen::new(line.style.patch(span.style), colours);
            for (text, width) in clusters(&span.content) {
                let (text, width) = if text == "\t" { (" ", 1) } else { (text, width) };
                if width == 0 {
                    continue;
                }
                taken += width;
                if taken > columns {
                    break 'line;
                }
                row.text.push_str(text);
                row.cells.push(Cell::new(text, row.text.len(), width, pen));
            }
        }
        row.trim();
        row.width = row.cells.iter().map(|cell| cell.width).sum();
        row.widest = row.cells.iter().map(|cell| cell.widest).sum();
        row
    }

    /// Drops blanks at the end: a terminal that wraps anew counts what was written, not what is seen.
    fn trim(&mut self) {
        while let Some(last) = self.cells.last()
            && self.text.ends_with(' ')
            && last.pen.is_blank()
        {
            self.text.pop();
            self.cells.pop();
        }
    }

    /// Columns up to the end of the last visible character.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Columns in a terminal that shows every part of each cluster for itself, such as the three people of a family.
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// Whether terminals agree on where each character stands.
    pub fn is_certain(&self) -> bool {
        self.cells.iter().all(|cell| cell.certain)
    }

    /// The characters from this one on.
    pub fn glyphs_from(&self, first: usize) -> impl Iterator<Item = Glyph<'_>> {
        let (mut start, mut column) = (0, 0);
        let glyphs = self.cells.iter().map(move |cell| {
            let text = self.text.get(start..cell.end).unwrap_or_default();
            let glyph = Glyph { text, pen: cell.pen, column, certain: cell.certain };
            start = cell.end;
            column += cell.width;
            glyph
        });
        glyphs.skip(first)
    }

    /// How many characters at the beginning are the same.
    pub fn common(&self, other: &Self) -> usize {
        let same = |(one, two): &(Glyph<'_>, Glyph<'_>)| {
            one.text == two.text && one.pen == two.pen && one.column == two.column
        };
        self.glyphs_from(0).zip(other.glyphs_from(0)).take_while(same).count()
    }

    /// The column after this many characters.
    pub fn column_after(&self, count: usize) -> usize {
        self.cells.iter().take(count).map(|cell| cell.width).sum()
    }

    /// How many rows of the screen it takes once a terminal has wrapped it anew.
    pub fn folds(&self, columns: usize) -> usize {
        self.fold_at(self.width, columns) + 1
    }

    /// In which of these rows a column of it is. Behind the text that is the last one: some terminals put the cursor
    /// there, others one further down, and to think it is higher up erases too little rather than too much.
    pub fn fold_at(&self, column: usize, columns: usize) -> usize {
        let (mut fold, mut used, mut passed) = (0, 0, 0);
        for cell in &self.cells {
            let width = cell.width.min(columns);
            if used + width > columns {
                fold += 1;
                used = 0;
            }
            used += width;
            passed += cell.width;
            if passed > column {
                break;
            }
        }
        fold
    }
}

impl Cell {
    fn new(text: &str, end: usize, width: usize, pen: Pen) -> Self {
        let parts = text.chars().count();
        let certain = parts == 1 && width == 1;
        let widest = if certain { width } else { text.chars().map(|part| part.width().unwrap_or(0)).sum() };
        // An emoji selector makes two columns of one where it is understood.
        let widest = if text.contains('\u{fe0f}') { widest + 1 } else { widest };
        Self { end, width, widest: widest.max(width), certain, pen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str, columns: usize) -> Row {
        Row::new(&Line::raw(text.to_owned()), columns, Colours::Shown)
    }

    #[test]
    fn rows_are_clipped_between_characters_and_have_no_blanks_at_the_end() {
        for (text, columns, kept, width) in [
            ("abc", 3, "abc", 3),
            ("abcd", 3, "abc", 3),
            ("ab天", 3, "ab", 2),
            ("ab   ", 80, "ab", 2),
            ("a\u{1b}[31m\tb\n\u{9b}", 80, "a[31m b", 7),
            ("e\u{301}e", 1, "e\u{301}", 1),
            ("天", 1, "", 0),
        ] {
            let row = row(text, columns);
            assert_eq!((row.text.as_str(), row.width()), (kept, width), "{text:?} in {columns}");
        }
    }

    #[test]
    fn folds_are_counted_as_terminals_wrap() {
        for (text, columns, folds) in
            [("", 5, 1), ("abcde", 5, 1), ("abcdef", 5, 2), ("abcd天e", 5, 2), ("天天天", 5, 2), ("天天天天天", 3, 5)]
        {
            assert_eq!(row(text, 80).folds(columns), folds, "{text:?} in {columns}");
        }
        let row = row("abcdefghij", 80);
        let at = |column| row.fold_at(column, 5);
        assert_eq!([at(0), at(4), at(5), at(9), at(10), at(70)], [0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn what_terminals_disagree_on_is_known() {
        for (text, certain, widest) in
            [("abc ›", true, 5), ("天", false, 2), ("👩‍💻", false, 4), ("⚠\u{fe0f}", false, 2), ("e\u{301}", false, 1)]
        {
            let row = row(text, 80);
            assert_eq!((row.is_certain(), row.widest()), (certain, widest), "{text:?}");
        }
    }
}
