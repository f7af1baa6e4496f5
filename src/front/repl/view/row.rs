//! What all views build lines with: outside text made harmless, cutting that keeps what matters, facts at the right edge.
//!
//! It knows no event and no tool.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Look;
use crate::base::text::{visible, width};

/// Columns left free at the right edge, as many as at the left one.
const MARGIN: usize = 2;
/// Screens of fewer columns have no room for aligned verbs and for lines that did not change.
const ROOMY_COLUMNS: usize = 60;
/// Columns between two tab stops.
const TAB_COLUMNS: usize = 4;
/// Columns that stay between a text and the fact to its right.
const GAP: usize = 2;

impl Look {
    /// Columns up to the right margin.
    pub(super) fn edge(&self) -> usize {
        self.width.saturating_sub(MARGIN)
    }

    /// Whether there is room for more than the text itself.
    pub(super) fn is_roomy(&self) -> bool {
        self.width >= ROOMY_COLUMNS
    }
}

/// One line of outside text as it may be shown: all that drives a terminal or hides is spelt, tabs are spaces.
pub fn plain(text: &str) -> String {
    let shown = visible::line(text);
    if !shown.contains('\t') {
        return shown.into_owned();
    }
    let mut spaced = String::with_capacity(shown.len() + 16);
    let mut column = 0;
    for (number, piece) in shown.split('\t').enumerate() {
        if number > 0 {
            let stop = TAB_COLUMNS - column % TAB_COLUMNS;
            spaced.extend(std::iter::repeat_n(' ', stop));
            column += stop;
        }
        spaced.push_str(piece);
        column += width::width(piece);
    }
    spaced
}

/// The first line of outside text that has something in it, with a mark where there is more.
pub fn first_line(text: &str, mark: &str) -> String {
    let text = text.trim();
    match text.split_once('\n') {
        Some((first, _)) => format!("{} {mark}", plain(first.trim_end())),
        None => plain(text),
    }
}

/// A path that takes at most `columns`: a long one loses its beginning, up to a folder's name where that fits, so that
/// the name of the file stays.
pub fn cut_path(path: &str, columns: usize, mark: &str) -> String {
    if width::width(path) <= columns {
        return path.to_owned();
    }
    let tail = width::tail(path, columns.saturating_sub(width::width(mark)));
    let whole = tail.char_indices().find(|(at, letter)| *letter == '/' && at + 1 < tail.len());
    let tail = whole.and_then(|(at, _)| tail.get(at..)).unwrap_or(tail);
    format!("{}{tail}", width::head(mark, columns))
}

/// Outside text in rows of at most `columns`, two at the least, broken wherever a row is full. Nothing is left out.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut rows = Vec::new();
    let mut rest = text;
    loop {
        let (head, more) = width::split(rest, columns);
        rows.push(head.to_owned());
        // A grapheme wider than two columns does not exist; an empty head would not end.
        if more.is_empty() || head.is_empty() {
            return rows;
        }
        rest = more;
    }
}

/// `left`, and where there is one `fact`, which ends at the right edge.
pub fn spread(mut left: Vec<Span<'static>>, fact: Span<'static>, look: &Look) -> Line<'static> {
    if fact.content.is_empty() {
        return trimmed(left);
    }
    let taken = columns(&left) + width::width(&fact.content);
    let gap = look.edge().saturating_sub(taken).max(GAP);
    left.push(Span::raw(" ".repeat(gap)));
    left.push(fact);
    Line::from(left)
}

/// Columns that are left for a text between `before` columns and a fact.
pub fn room(before: usize, fact: &str, look: &Look) -> usize {
    let fact = if fact.is_empty() { 0 } else { width::width(fact) + GAP };
    look.edge().saturating_sub(before + fact)
}

/// Columns of all spans.
pub fn columns(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| width::width(&span.content)).sum()
}

/// A line without spaces at its end.
pub fn trimmed(mut spans: Vec<Span<'static>>) -> Line<'static> {
    while let Some(last) = spans.last_mut() {
        let kept = last.content.trim_end_matches(' ').len();
        if kept > 0 {
            last.content.to_mut().truncate(kept);
            break;
        }
        spans.pop();
    }
    Line::from(spans)
}

/// A row that fits the screen: what is too much goes from its end, and a mark says so.
pub fn fitted(line: Line<'static>, look: &Look) -> Line<'static> {
    if columns(&line.spans) <= look.width {
        return line;
    }
    let mark = width::head(look.glyphs.ellipsis, look.width);
    let mut left = look.width - width::width(mark);
    let mut spans = Vec::with_capacity(line.spans.len());
    for mut span in line.spans {
        let taken = width::width(&span.content);
        if taken > left {
            let kept = width::head(&span.content, left).len();
            span.content.to_mut().truncate(kept);
            span.content.to_mut().push_str(mark);
            spans.push(span);
            break;
        }
        left -= taken;
        spans.push(span);
    }
    Line::from(spans)
}

/// A line of one style after so many spaces.
pub fn indented(columns: usize, text: impl Into<String>, style: Style) -> Line<'static> {
    trimmed(vec![Span::raw(" ".repeat(columns)), Span::styled(text.into(), style)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::front::repl::view::testing::look;

    #[test]
    fn outside_text_is_made_harmless() {
        assert_eq!(plain("a\tb\u{1b}[2J\u{202e}"), "a   b␛[2J⟨RLO⟩");
        assert_eq!(plain("abcd\te"), "abcd    e");
        assert_eq!(first_line("\n  make \n all", "…"), "make …");
        assert_eq!(first_line("make\n", "…"), "make");
    }

    #[test]
    fn a_long_path_keeps_the_name_of_the_file() {
        for (columns, shown) in [
            (40, "src/front/repl/view/row.rs"),
            (20, "…/repl/view/row.rs"),
            (13, "…/view/row.rs"),
            (12, "…/row.rs"),
            (8, "…/row.rs"),
            (5, "…w.rs"),
            (1, "…"),
            (0, ""),
        ] {
            assert_eq!(cut_path("src/front/repl/view/row.rs", columns, "…"), shown, "{columns}");
        }
        assert_eq!(cut_path("src/folder/", 8, "…"), "…folder/");
    }

    proptest! {
        #[test]
        fn what_is_cut_fits(text in "\\PC{0,40}", columns in 0usize..30) {
            prop_assert!(width::width(&cut_path(&text, columns, "…")) <= columns.max(width::width(&text).min(columns)));
            let rows = wrapped(&text, columns);
            prop_assert_eq!(rows.concat(), text.clone());
            prop_assert!(rows.iter().all(|row| width::width(row) <= columns.max(2)));
            let look = look(columns);
            let line = Line::from(vec![Span::raw("  "), Span::raw(text)]);
            prop_assert!(super::columns(&fitted(line, &look).spans) <= columns);
        }
    }
}
