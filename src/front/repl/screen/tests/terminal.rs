//! A terminal as a model: its rows, its scrollback, and what it does to both when its size changes. It knows exactly the
//! sequences the painter may use, and panics at any other.

use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::width::grapheme_width;
use crate::front::term::reflow::Reflow;

/// How a terminal behaves.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub reflow: Reflow,
    /// With fewer rows, whether what is below the cursor goes even if it is not blank (xterm, tmux) or stays (VTE).
    pub drops_text: bool,
    /// With more rows, whether lines come back from the scrollback.
    pub pulls: bool,
}

/// What is in a cell; empty if nothing was written, and behind the first half of a wide character.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    pub text: String,
    half: bool,
    pub style: String,
}

#[derive(Clone, Debug, Default)]
struct Line {
    cells: Vec<Cell>,
    /// Whether the next row belongs to it.
    wrapped: bool,
}

pub struct Terminal {
    kind: Kind,
    pub columns: usize,
    pub rows: usize,
    /// The scrollback, then the screen, from `top` on.
    lines: Vec<Line>,
    top: usize,
    /// Row among `lines`, and column.
    pub cursor: (usize, usize),
    pending: bool,
    wraps: bool,
    pub visible: bool,
    style: Vec<String>,
    /// Whether a picture is being held.
    held: bool,
    /// How often the cursor was shown or hidden.
    pub flickers: usize,
}

impl Line {
    fn trimmed(&self) -> &[Cell] {
        let used = self.cells.iter().rposition(|cell| !cell.text.is_empty() || cell.half).map_or(0, |at| at + 1);
        &self.cells[..used]
    }

    fn text(&self) -> String {
        let cell = |cell: &Cell| if cell.text.is_empty() && !cell.half { " ".to_owned() } else { cell.text.clone() };
        self.trimmed().iter().map(cell).collect()
    }
}

impl Terminal {
    pub fn new(kind: Kind, columns: usize, rows: usize) -> Self {
        let mut terminal = Self {
            kind,
            columns,
            rows,
            lines: Vec::new(),
            top: 0,
            cursor: (0, 0),
            pending: false,
            wraps: true,
            visible: true,
            style: Vec::new(),
            held: false,
            flickers: 0,
        };
        terminal.fill();
        terminal
    }

    /// Scrollback and screen, a text a row, without blank rows at the end.
    pub fn all(&self) -> Vec<String> {
        let mut rows: Vec<_> = self.lines.iter().map(Line::text).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// The same with everything there is to a cell.
    pub fn cells(&self) -> Vec<Vec<Cell>> {
        let mut rows: Vec<_> = self.lines.iter().map(|line| line.trimmed().to_vec()).collect();
        while rows.last().is_some_and(Vec::is_empty) {
            rows.pop();
        }
        rows
    }

    /// Logical lines: rows that the terminal has wrapped are joined.
    pub fn joined(&self) -> Vec<String> {
        let mut lines = vec![String::new()];
        for line in &self.lines {
            let last = lines.len() - 1;
            lines[last] += &line.text();
            if !line.wrapped {
                lines.push(String::new());
            }
        }
        lines
    }

    /// Where the cursor is on the screen.
    pub fn cursor_row(&self) -> usize {
        self.cursor.0 - self.top
    }

    pub fn feed(&mut self, bytes: &str) {
        let mut rest = bytes;
        while let Some(at) = rest.find(|character: char| character.is_control()) {
            self.write(&rest[..at]);
            rest = &rest[at..];
            rest = match rest.as_bytes()[0] {
                b'\r' => {
                    (self.cursor.1, self.pending) = (0, false);
                    &rest[1..]
                }
                b'\n' => {
                    self.feed_line();
                    &rest[1..]
                }
                _ => self.sequence(rest),
            };
        }
        self.write(rest);
        assert!(!self.held, "a picture is held for ever");
        assert!(self.wraps, "wrapping stays off");
        assert_eq!(self.style, [""; 0], "a style stays on");
    }

    fn sequence<'a>(&mut self, text: &'a str) -> &'a str {
        let body = text.strip_prefix("\x1b[").unwrap_or_else(|| panic!("not a CSI: {text:?}"));
        let end = body.find(|character: char| ('@'..='~').contains(&character)).unwrap();
        let (parameters, last) = (&body[..end], &body[end..=end]);
        let begins = (parameters, last) == ("?2026", "h");
        assert!(self.held || begins, "CSI {parameters}{last} outside of a picture");
        let count = || parameters.parse::<usize>().unwrap_or_else(|_| panic!("{parameters:?}{last}"));
        match (parameters, last) {
            ("?2026", "h" | "l") => {
                assert_ne!(self.held, last == "h");
                self.held = last == "h";
            }
            ("?25", "h" | "l") => {
                assert_ne!(self.visible, last == "h", "it is so already");
                self.visible = last == "h";
                self.flickers += 1;
            }
            ("?7", "h" | "l") => self.wraps = last == "h",
            ("", "J") => {
                self.erase();
                let below = self.cursor.0 + 1;
                self.lines.truncate(below);
                self.fill();
            }
            ("", "K") => self.erase(),
            (_, "m") => self.style(parameters),
            (_, "A") => {
                self.cursor.0 = self.cursor.0.saturating_sub(count()).max(self.top);
                self.pending = false;
            }
            (_, "B") => {
                self.cursor.0 = (self.cursor.0 + count()).min(self.top + self.rows - 1);
                self.pending = false;
            }
            (_, "G") => (self.cursor.1, self.pending) = ((count() - 1).min(self.columns - 1), false),
            _ => panic!("forbidden: CSI {parameters}{last}"),
        }
        &body[end + 1..]
    }

    fn style(&mut self, parameters: &str) {
        let mut numbers = parameters.split(';');
        while let Some(number) = numbers.next() {
            match number {
                "" | "0" => self.style.clear(),
                "39" => self.style.retain(|known| !known.starts_with("fg")),
                "49" => self.style.retain(|known| !known.starts_with("bg")),
                "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" => self.style.push(number.to_owned()),
                _ => {
                    let value: u8 = number.parse().unwrap();
                    let is_background = matches!(value, 40..=48 | 100..=107);
                    let group = if is_background { "bg" } else { "fg" };
                    let more = match value {
                        38 | 48 if numbers.next() == Some("5") => 1,
                        38 | 48 => 3,
                        _ => 0,
                    };
                    let more: Vec<_> = numbers.by_ref().take(more).collect();
                    self.style.retain(|known| !known.starts_with(group));
                    self.style.push(format!("{group} {value} {more:?}"));
                }
            }
        }
        self.style.sort();
        self.style.dedup();
    }

    fn write(&mut self, text: &str) {
        for grapheme in text.graphemes(true) {
            let width = grapheme_width(grapheme);
            if width > self.columns {
                continue;
            }
            if self.pending || self.cursor.1 + width > self.columns {
                if self.wraps {
                    self.lines[self.cursor.0].wrapped = true;
                    self.feed_line();
                    (self.cursor.1, self.pending) = (0, false);
                } else {
                    self.cursor.1 = self.columns - width;
                }
            }
            let (row, column) = self.cursor;
            let cells = &mut self.lines[row].cells;
            let style = self.style.join(" ");
            cells[column] = Cell { text: grapheme.to_owned(), half: false, style: style.clone() };
            if width == 2 {
                cells[column + 1] = Cell { text: String::new(), half: true, style };
            }
            self.cursor.1 += width;
            if self.cursor.1 == self.columns {
                (self.cursor.1, self.pending) = (self.columns - 1, self.wraps);
            }
        }
    }

    fn feed_line(&mut self) {
        self.cursor.0 += 1;
        if self.cursor.0 == self.top + self.rows {
            self.top += 1;
        }
        self.fill();
    }

    /// From the cursor to the end of its row; behind a full row that takes the last character, as in xterm.
    fn erase(&mut self) {
        let (row, column) = self.cursor;
        self.lines[row].cells[column..].fill(Cell::default());
        self.lines[row].wrapped = false;
    }

    fn fill(&mut self) {
        let columns = self.columns;
        self.lines.truncate(self.top + self.rows);
        self.lines.resize_with(self.top + self.rows, Line::default);
        for line in &mut self.lines {
            line.cells.resize(columns, Cell::default());
        }
    }

    pub fn resize(&mut self, columns: usize, rows: usize) {
        if columns != self.columns {
            self.widen(columns);
        }
        self.heighten(rows);
        self.pending = false;
        self.cursor.1 = self.cursor.1.min(columns - 1);
        assert!((self.top..self.top + self.rows).contains(&self.cursor.0));
    }

    fn heighten(&mut self, rows: usize) {
        if rows < self.rows {
            let is_droppable = |line: &Line| self.kind.drops_text || line.trimmed().is_empty();
            let below = &self.lines[self.cursor.0 + 1..];
            let droppable = below.iter().rev().take_while(|line| is_droppable(line)).count();
            let surplus = self.rows - rows;
            let dropped = surplus.min(droppable);
            self.lines.truncate(self.lines.len() - dropped);
            self.top += surplus - dropped;
            self.cursor.0 = self.cursor.0.max(self.top);
        } else if self.kind.pulls {
            self.top -= self.top.min(rows - self.rows);
        }
        self.rows = rows;
        self.fill();
    }

    fn widen(&mut self, columns: usize) {
        let old = std::mem::take(&mut self.lines);
        let before = self.cursor;
        let below = old.len() - before.0;
        let (mut lines, mut at) = (Vec::new(), 0);
        while at < old.len() {
            let length = old[at..].iter().position(|line| !line.wrapped).map_or(old.len() - at, |last| last + 1);
            let group = &old[at..at + length];
            let own = before.0.checked_sub(at).filter(|row| *row < length);
            let first = lines.len();
            let stays = match self.kind.reflow {
                Reflow::Never => true,
                Reflow::AboveCaret => own.is_some(),
                Reflow::Always => false,
            };
            if stays {
                lines.extend(group.iter().cloned());
                if let Some(row) = own {
                    self.cursor = (first + row, before.1.min(columns - 1));
                }
            } else {
                let offset = own.map(|row| row * self.columns + before.1);
                let place = rewrap(group, columns, offset, &mut lines);
                if own.is_some() {
                    self.cursor = (first + place.0, place.1);
                }
            }
            at += length;
        }
        self.lines = lines;
        self.columns = columns;
        if self.kind.reflow != Reflow::Never {
            // As many rows below the cursor as before, as far as there is text; the rest comes from the scrollback.
            let text = self.lines.iter().rposition(|line| !line.trimmed().is_empty()).map_or(0, |last| last + 1);
            let end =
                text.max(self.cursor.0 + below.min(self.rows) * usize::from(!self.kind.pulls)).max(self.cursor.0 + 1);
            self.top = end.saturating_sub(self.rows).min(self.cursor.0);
        }
        self.fill();
        for line in &mut self.lines {
            line.cells.truncate(columns);
        }
    }
}

/// Wraps a logical line anew; returns the row and column of what was at `offset`, where rows were all full.
fn rewrap(group: &[Line], columns: usize, offset: Option<usize>, lines: &mut Vec<Line>) -> (usize, usize) {
    let mut cells = Vec::new();
    let mut place = (0, 0);
    for line in group {
        cells.extend_from_slice(if line.wrapped { &line.cells } else { line.trimmed() });
    }
    let mut rows = vec![Line::default()];
    for (at, cell) in cells.iter().enumerate() {
        let width = 1 + usize::from(cells.get(at + 1).is_some_and(|next| next.half));
        let row = rows.last_mut().unwrap();
        if !cell.half && row.cells.len() + width > columns {
            row.wrapped = true;
            row.cells.resize(columns, Cell::default());
            rows.push(Line::default());
        }
        let last = rows.len() - 1;
        if offset.is_some_and(|offset| at <= offset) {
            place = (last, rows[last].cells.len());
        }
        rows[last].cells.push(cell.clone());
    }
    if let Some(beyond) = offset.and_then(|offset| (offset + 1).checked_sub(cells.len())) {
        let beyond = if cells.is_empty() { beyond - 1 } else { beyond };
        place.1 = (place.1 + beyond).min(columns - 1);
    }
    for row in &mut rows {
        row.cells.resize(columns, Cell::default());
    }
    lines.append(&mut rows);
    place
}
