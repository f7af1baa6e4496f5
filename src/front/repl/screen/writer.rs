//! Bytes for a terminal whose cursor is followed: moves by rows and to columns, text, and what is erased.
//!
//! Only what leaves the scrollback alone: no absolute rows, no clearing of the screen, no scroll regions, no other screen.

use crossterm::Command;
use crossterm::cursor::{Hide, MoveDown, MoveToColumn, MoveUp, Show};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate,
};
use ratatui::text::Line;

use super::pen::{Colours, Pen};
use super::row::{Glyph, Row};

/// Appends to a buffer and knows where the cursor is.
pub struct Writer<'a> {
    out: &'a mut String,
    pen: Pen,
    /// Rows below the live region's top.
    row: usize,
    /// `None` where terminals may disagree: behind wide characters, and in the last column, where the next character
    /// would wrap.
    column: Option<usize>,
}

impl<'a> Writer<'a> {
    /// The cursor is in this row of the live region and in this column.
    pub fn new(out: &'a mut String, row: usize, column: Option<usize>) -> Self {
        Self { out, pen: Pen::default(), row, column }
    }

    fn put(&mut self, command: impl Command) {
        // Writing into a string cannot fail.
        let _ = command.write_ansi(self.out);
    }

    /// Holds the picture until [`Self::end`], in terminals that can (mode 2026).
    pub fn begin(&mut self) {
        self.put(BeginSynchronizedUpdate);
    }

    /// Shows the picture.
    pub fn end(&mut self) {
        self.put(EndSynchronizedUpdate);
    }

    /// Hides the cursor.
    pub fn hide(&mut self) {
        self.put(Hide);
    }

    /// Shows the cursor.
    pub fn show(&mut self) {
        self.put(Show);
    }

    /// Goes to a row that exists and to a column.
    pub fn go(&mut self, row: usize, column: usize) {
        if row < self.row {
            self.put(MoveUp(number(self.row - row)));
        } else if row > self.row {
            self.put(MoveDown(number(row - self.row)));
        }
        self.row = row;
        if self.column != Some(column) {
            if column == 0 {
                self.out.push('\r');
            } else {
                self.put(MoveToColumn(number(column)));
            }
            self.column = Some(column);
        }
    }

    /// Goes to the first column of the row below, which is made where the screen ends.
    pub fn new_row(&mut self) {
        self.out.push_str("\r\n");
        self.row += 1;
        self.column = Some(0);
    }

    /// Goes to an empty row's first column, wherever the cursor is: as many spaces as there are columns wrap from all
    /// columns but the first. What stood before the cursor stays.
    pub fn fresh_row(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
        self.out.push('\r');
        self.row = 0;
        self.column = Some(0);
        self.erase_region();
    }

    /// Erases from the cursor to the end of the screen; the cursor must not be behind a full row, or its last character
    /// would go, too.
    pub fn erase_below(&mut self) {
        self.put(Clear(ClearType::FromCursorDown));
    }

    /// Empties the region from its first row on, and goes to its first column. What is below is erased from the second
    /// column on: tmux takes a screen that is erased from its very first cell for one to be kept, and moves it into the
    /// scrollback.
    pub fn erase_region(&mut self) {
        self.wipe(0);
        self.go(0, 1);
        self.erase_below();
        self.go(0, 0);
    }

    /// Empties a row and goes to its first column.
    pub fn wipe(&mut self, row: usize) {
        self.go(row, 0);
        // From the first column on: tmux would go on counting a row as long as it was if only its end were erased.
        self.put(Clear(ClearType::UntilNewLine));
    }

    /// Writes a row from its `first` character on, where that stands; the cursor must be in the row.
    pub fn row(&mut self, row: &Row, first: usize, columns: usize) {
        let wraps = row.widest() > columns;
        if wraps {
            // A terminal that takes more columns for an emoji must not spill over into the next row.
            self.put(DisableLineWrap);
        }
        let mut is_ascii = true;
        for glyph in row.glyphs_from(first) {
            self.glyph(&glyph);
            is_ascii &= glyph.text.is_ascii();
        }
        self.reset();
        if wraps {
            self.put(EnableLineWrap);
        }
        // Where the caret goes from here must not depend on how wide the terminal takes a `·` to be.
        if !is_ascii || row.width() >= columns {
            self.column = None;
        }
    }

    fn glyph(&mut self, glyph: &Glyph<'_>) {
        // A run of wide characters is written in one go; what follows is put where we think it belongs.
        if glyph.certain {
            self.go(self.row, glyph.column);
        }
        self.pen.switch(glyph.pen, self.out);
        self.out.push_str(glyph.text);
        self.column = glyph.certain.then_some(glyph.column + 1);
    }

    /// Writes a line that is finished, of any length: the terminal wraps it, so that it is one line when it is copied.
    pub fn finished(&mut self, line: &Line<'_>, colours: Colours) {
        for span in &line.spans {
            self.pen.switch(Pen::new(line.style.patch(span.style), colours), self.out);
            self.text(&span.content);
        }
        self.reset();
        // After a full row the cursor waits behind its last character; a return and a line feed go on from there as from
        // anywhere else, so that no row is empty and none is lost.
        self.out.push_str("\r\n");
        self.column = Some(0);
    }

    /// Text without control characters. It has none when it comes here, but if one got through, it would drive the terminal.
    fn text(&mut self, text: &str) {
        if text.chars().any(char::is_control) {
            let spaced = text.chars().map(|character| if character == '\t' { ' ' } else { character });
            self.out.extend(spaced.filter(|character| !character.is_control()));
        } else {
            self.out.push_str(text);
        }
    }

    fn reset(&mut self) {
        self.pen.switch(Pen::default(), self.out);
    }
}

/// Rows and columns as the terminal counts them; no screen has more.
fn number(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
