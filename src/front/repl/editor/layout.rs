//! A draft as rows of the screen, with the place of the caret among them: only as many as are seen are made.
//!
//! Does not decide how many rows there are for it, nor what stands before them.

use std::collections::VecDeque;
use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::segment;
use super::text::Text;
use super::wrap::{self, Wrap};
use crate::base::text::{numbers, width};
use crate::front::repl::view::{Caret, Look};

/// Below this height all rows are text: there is none to spare for saying that there is more.
const ROWS_FOR_MARKS: usize = 3;

/// A draft on the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Laid {
    /// The rows, none wider than the screen; at least one.
    pub rows: Vec<Line<'static>>,
    /// Where the caret is, from the first of the rows.
    pub caret: Caret,
    /// Lines of the draft above what is shown, whole or in part.
    pub more_above: usize,
    /// Lines of the draft below what is shown, whole or in part.
    pub more_below: usize,
}

/// What is to be shown.
#[derive(Clone, Debug)]
pub(super) struct Sheet<'a> {
    /// The text.
    pub text: &'a Text,
    /// Where its caret is.
    pub caret: usize,
    /// A part that looks different.
    pub marked: Option<(Range<usize>, Style)>,
    /// Stands before the first row, in two columns; left out on a screen with no room for it.
    pub prompt: &'a Span<'static>,
    /// At most so many rows.
    pub most_rows: usize,
}

/// The rows of text that are seen.
struct Window {
    rows: Vec<Range<usize>>,
    /// Which of them has the caret.
    caret: usize,
    /// Whether a row above them says how much is hidden there.
    mark_above: bool,
    mark_below: bool,
}

impl Sheet<'_> {
    /// Lays it out so that the caret is seen: in the middle, or nearer to an end of the text.
    pub fn lay(&self, look: &Look) -> Laid {
        if look.width == 0 {
            return Laid { rows: vec![Line::default()], ..Laid::default() };
        }
        let wrap = Wrap::new(self.text, look.width, self.caret);
        let window = self.window(&wrap);
        let text = self.text.as_str();
        let more_above = window.rows.first().map_or(0, |row| lines_above(text, row.start));
        let more_below = window.rows.last().map_or(0, |row| lines_below(text, row.end));
        let indent = wrap::indent(look.width);
        let mut rows = Vec::with_capacity(window.rows.len() + 2);
        if window.mark_above {
            rows.push(hidden(more_above, indent, look));
        }
        rows.extend(window.rows.iter().map(|row| self.line(&wrap, row, indent, look)));
        if window.mark_below {
            rows.push(hidden(more_below, indent, look));
        }
        if let Some(first) = rows.first_mut().and_then(|row| row.spans.first_mut()) {
            let prompt = width::head(&self.prompt.content, indent);
            *first = Span::styled(format!("{prompt}{}", blank(indent - width::width(prompt))), self.prompt.style);
        }
        let column = indent + window.rows.get(window.caret).map_or(0, |row| wrap.column(row, self.caret));
        let column = column.min(look.width.saturating_sub(1));
        let caret = Caret { row: small(window.caret + usize::from(window.mark_above)), column: small(column) };
        Laid { rows, caret, more_above, more_below }
    }

    fn window(&self, wrap: &Wrap<'_>) -> Window {
        let most = self.most_rows.max(1);
        let mut rows: VecDeque<Range<usize>> = wrap.rows(self.caret).into();
        let mut caret = rows.iter().rposition(|row| row.start <= self.caret).unwrap_or(0);
        while caret < most {
            let above = rows.front().map(|first| wrap.rows_above(first)).unwrap_or_default();
            if above.is_empty() {
                break;
            }
            caret += above.len();
            above.into_iter().rev().for_each(|row| rows.push_front(row));
        }
        while rows.len() <= caret + most {
            let below = rows.back().map(|last| wrap.rows_below(last)).unwrap_or_default();
            if below.is_empty() {
                break;
            }
            rows.extend(below);
        }
        let top = caret.saturating_sub(most / 2).min(rows.len().saturating_sub(most));
        let mut seen: Vec<_> = rows.into_iter().skip(top).take(most).collect();
        // The caret has a row above it that can be given away where there is more, and one below it.
        let marks = most >= ROWS_FOR_MARKS;
        let mark_above = marks && seen.first().is_some_and(|row| row.start > 0);
        let mark_below = marks && seen.last().is_some_and(|row| row.end < self.text.len());
        seen.drain(..usize::from(mark_above));
        seen.truncate(seen.len() - usize::from(mark_below));
        Window { rows: seen, caret: caret - top - usize::from(mark_above), mark_above, mark_below }
    }

    fn line(&self, wrap: &Wrap<'_>, row: &Range<usize>, indent: usize, look: &Look) -> Line<'static> {
        let mut spans = vec![Span::raw(blank(indent))];
        let (mut open, mut style) = (String::new(), Style::new());
        let mut column = 0;
        for cell in wrap.cells(row) {
            let mut own = if cell.chip { look.theme.dim } else { Style::new() };
            if let Some((_, marked)) = self.marked.as_ref().filter(|(part, _)| part.contains(&cell.at)) {
                own = own.patch(*marked);
            }
            if own != style && !open.is_empty() {
                spans.push(Span::styled(std::mem::take(&mut open), style));
            }
            style = own;
            let columns = wrap.columns(&cell, column);
            column += columns;
            if cell.shown == "\t" {
                open.push_str(&blank(columns));
            } else {
                open.push_str(&cell.shown);
            }
        }
        if !open.is_empty() {
            spans.push(Span::styled(open, style));
        }
        Line::from(spans)
    }
}

/// The row that says how many lines are not shown.
fn hidden(lines: usize, indent: usize, look: &Look) -> Line<'static> {
    let number = u64::try_from(lines).unwrap_or(u64::MAX);
    let words = format!("{} {}", look.glyphs.ellipsis, numbers::count(number, "more line"));
    let words = width::head(&words, look.width.saturating_sub(indent)).to_owned();
    Line::from(vec![Span::raw(blank(indent)), Span::styled(words, look.theme.dim)])
}

fn lines_above(text: &str, at: usize) -> usize {
    let whole = memchr::memchr_iter(b'\n', segment::before(text, at).as_bytes()).count();
    whole + usize::from(segment::line_start(text, at) != at)
}

fn lines_below(text: &str, at: usize) -> usize {
    let whole = memchr::memchr_iter(b'\n', segment::after(text, at).as_bytes()).count();
    whole + usize::from(segment::line_end(text, at) != at)
}

fn blank(columns: usize) -> String {
    " ".repeat(columns)
}

fn small(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
