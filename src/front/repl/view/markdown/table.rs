//! Tables (GitHub Flavored Markdown 4.10): aligned while they fit the width, else a record for each row.
//!
//! Where a table begins and ends is decided by [`super::blocks`].

use super::super::Look;
use super::inline::{self, Spans};
use ratatui::style::Modifier;
use ratatui::text::Span;

/// More columns than this are no table anybody could read.
const MOST_COLUMNS: usize = 64;
/// Rows after which a table is committed as far as it is, so that a long one shows and stays cheap.
const MOST_ROWS: usize = 200;
/// Bytes after which the same happens.
const MOST_BYTES: usize = 64 * 1024;
/// Blanks between two columns.
const GAP: &str = "  ";

/// A table that may go on.
#[derive(Clone, Debug)]
pub struct Table {
    names: Vec<String>,
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
    bytes: usize,
    /// Decided with the first part that is committed.
    layout: Option<Layout>,
}

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Middle,
    Right,
}

#[derive(Clone, Debug)]
enum Layout {
    /// The widths of the columns.
    Aligned(Vec<usize>),
    Records,
}

impl Table {
    /// The table that begins with these two lines, if they begin one.
    pub fn begin(names: &str, delimiters: &str) -> Option<Self> {
        if !names.contains('|') && !delimiters.contains('|') {
            return None;
        }
        let sides: Vec<Side> = cells(delimiters).iter().map(|cell| side(cell)).collect::<Option<_>>()?;
        let names = cells(names);
        let is_table = names.len() == sides.len() && names.len() <= MOST_COLUMNS;
        is_table.then(|| Self { names, sides, rows: Vec::new(), bytes: 0, layout: None })
    }

    /// Another row. Whether it is time to [`Table::take`] what there is.
    pub fn push(&mut self, row: &str) -> bool {
        self.bytes += row.len();
        let mut row = cells(row);
        row.truncate(self.names.len());
        self.rows.push(row);
        self.layout.is_some() || self.rows.len() >= MOST_ROWS || self.bytes >= MOST_BYTES
    }

    /// Whether a part of it was taken.
    pub fn is_begun(&self) -> bool {
        self.layout.is_some()
    }

    /// The lines of all rows since the last time, and the first time those of the head; at most `room` columns wide when
    /// they are aligned.
    pub fn take(&mut self, room: usize, look: &Look) -> Vec<Spans> {
        let text = look.theme.agent;
        let rows = std::mem::take(&mut self.rows);
        let rows: Vec<Vec<Spans>> =
            rows.iter().map(|row| row.iter().map(|cell| inline::line(cell, text, look)).collect()).collect();
        let strong = text.patch(look.theme.heading).add_modifier(Modifier::BOLD);
        let is_first = self.layout.is_none();
        // After the first part an aligned table needs no names, and records only those of the cells they have.
        let needed = match &self.layout {
            None => self.names.len(),
            Some(Layout::Aligned(_)) => 0,
            Some(Layout::Records) => rows.iter().map(Vec::len).max().unwrap_or(0),
        };
        let names: Vec<Spans> = self.names.iter().take(needed).map(|name| inline::line(name, strong, look)).collect();
        self.bytes = 0;
        let layout = self.layout.take().unwrap_or_else(|| layout(&names, &rows, room));
        let lines = match &layout {
            Layout::Aligned(widths) => self.aligned(&names, &rows, widths, is_first, look),
            Layout::Records => records(&names, &rows, is_first),
        };
        self.layout = Some(layout);
        lines
    }

    fn aligned(&self, names: &[Spans], rows: &[Vec<Spans>], widths: &[usize], head: bool, look: &Look) -> Vec<Spans> {
        let mut lines = Vec::with_capacity(rows.len() + 2);
        if head {
            lines.push(self.row(names, widths));
            let rules: Vec<String> = widths.iter().map(|width| look.glyphs.rule.repeat(*width)).collect();
            lines.push(vec![Span::styled(rules.join(GAP), look.theme.dim)]);
        }
        lines.extend(rows.iter().map(|row| self.row(row, widths)));
        lines
    }

    fn row(&self, cells: &[Spans], widths: &[usize]) -> Spans {
        let mut line: Spans = Vec::new();
        for (at, ((cell, room), side)) in cells.iter().zip(widths).zip(&self.sides).enumerate() {
            let left = room.saturating_sub(inline::columns(cell));
            let before = match side {
                Side::Left => 0,
                Side::Middle => left / 2,
                Side::Right => left,
            };
            let gap = if at > 0 { GAP.len() } else { 0 };
            blanks(&mut line, gap + before);
            line.extend(cell.iter().cloned());
            blanks(&mut line, left - before);
        }
        inline::trim_end(&mut line);
        line
    }
}

fn layout(names: &[Spans], rows: &[Vec<Spans>], room: usize) -> Layout {
    // A rule of no columns would be none.
    let mut widths: Vec<usize> = names.iter().map(|name| inline::columns(name).max(1)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = inline::columns(cell).max(*width);
        }
    }
    let total = widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1);
    if total <= room { Layout::Aligned(widths) } else { Layout::Records }
}

/// `name: value`, line by line, and an empty line between two rows.
fn records(names: &[Spans], rows: &[Vec<Spans>], is_first: bool) -> Vec<Spans> {
    let mut lines: Vec<Spans> = Vec::new();
    for row in rows {
        let filled: Vec<(&Spans, &Spans)> = names.iter().zip(row).filter(|(_, cell)| !cell.is_empty()).collect();
        if !filled.is_empty() && (!is_first || !lines.is_empty()) {
            lines.push(Vec::new());
        }
        for (name, cell) in filled {
            let mut line = name.clone();
            if let Some(last) = line.last_mut() {
                last.content.to_mut().push(':');
                line.push(Span::raw(" "));
            }
            line.extend(cell.iter().cloned());
            lines.push(line);
        }
    }
    if rows.is_empty() && is_first {
        lines.extend(names.iter().filter(|name| !name.is_empty()).cloned());
    }
    lines
}

fn blanks(line: &mut Spans, count: usize) {
    if count > 0 {
        line.push(Span::raw(" ".repeat(count)));
    }
}

/// `---`, `:--`, `:-:`, `--:`
fn side(cell: &str) -> Option<Side> {
    let dashes = cell.trim_start_matches(':').trim_end_matches(':');
    let (left, right) = (cell.starts_with(':'), cell.ends_with(':'));
    let colons = usize::from(left) + usize::from(right);
    let is_delimiter =
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-') && dashes.len() + colons == cell.len();
    is_delimiter.then_some(match (left, right) {
        (true, true) => Side::Middle,
        (false, true) => Side::Right,
        (true | false, false) => Side::Left,
    })
}

/// The cells of a row: what stands between `|` that no backslash precedes.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'|') => cell.extend(letters.next()),
            '|' if letters.peek().is_none() || cells.len() > MOST_COLUMNS => break,
            '|' => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    cells.push(cell);
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}
