//! Rows as a terminal would make of a long line: cut at the last column, wherever that is.
//!
//! The same as what the terminal does to a committed line, so that text stays where it is when it is committed.

use super::inline;
use crate::base::text::width;
use ratatui::text::{Line, Span};

/// Appends a line as rows of at most `columns`; a letter that is wider than a row is a row of its own.
pub fn rows(line: &Line<'static>, columns: usize, rows: &mut Vec<Line<'static>>) {
    if inline::columns(&line.spans) <= columns {
        return rows.push(line.clone());
    }
    let mut row: Vec<Span<'static>> = Vec::new();
    let mut taken = 0;
    for span in &line.spans {
        let mut text = String::new();
        for (cluster, more) in width::clusters(&span.content) {
            if taken + more > columns && taken > 0 {
                push(&mut row, &mut text, span);
                rows.push(Line::from(std::mem::take(&mut row)));
                taken = 0;
            }
            text.push_str(cluster);
            taken += more;
        }
        push(&mut row, &mut text, span);
    }
    rows.push(Line::from(row));
}

fn push(row: &mut Vec<Span<'static>>, text: &mut String, span: &Span<'static>) {
    if !text.is_empty() {
        row.push(Span::styled(std::mem::take(text), span.style));
    }
}
