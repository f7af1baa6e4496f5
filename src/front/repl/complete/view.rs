//! How a list of candidates looks: five rows under the line, names aligned, what they are beside them.
//!
//! Each row fits the width; what is short of room gives up its help first, then its value, then its own beginning.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::numbers::grouped;
use crate::base::text::visible;
use crate::base::text::width::{cut, grapheme_width, head, width};
use crate::front::repl::complete::word::Kind;
use crate::front::repl::complete::{Completion, Extent, Row};
use crate::front::repl::view::Look;

/// Rows of candidates that are shown at once.
pub const ROWS: usize = 5;
/// Columns before a row: the mark of the chosen one and a blank.
const MARGIN: usize = 2;
/// Columns between name, help and value.
const GAP: usize = 3;
/// Columns below which a help says too little to be shown.
const LEAST_HELP: usize = 24;
/// Columns a name has at least, whatever the value.
const LEAST_NAME: usize = 12;

/// The rows of a completion, none wider than the screen; none at all where nothing fits.
pub fn rows(completion: &Completion, look: &Look) -> Vec<Line<'static>> {
    let all = completion.rows();
    let begin = window(completion.selected(), all.len(), ROWS);
    let shown = all.get(begin..(begin + ROWS).min(all.len())).unwrap_or_default();
    let prefix = match completion.word().kind {
        Kind::Command => "/",
        Kind::Argument(_) | Kind::Path => "",
    };
    let columns = Columns::of(shown, prefix, look.width);
    let mut lines: Vec<_> = (begin..)
        .zip(shown)
        .map(|(at, row)| columns.line(row, margin(at, completion.selected(), look), look))
        .collect();
    lines.extend(more(completion, begin + shown.len(), look));
    lines
}

/// Where the window of `most` rows begins so that the selected one is in it.
pub fn window(selected: usize, all: usize, most: usize) -> usize {
    (selected + 1).saturating_sub(most).min(all.saturating_sub(most))
}

/// What stands before a row, with its style, which is the one of the row.
pub fn margin(row: usize, selected: usize, look: &Look) -> Span<'static> {
    let (mark, style) = if row == selected { (look.glyphs.selected, look.theme.selected) } else { (" ", Style::new()) };
    Span::styled(head(&format!("{mark} "), look.width).to_owned(), style)
}

/// The line that says how many are not shown, if there are any.
fn more(completion: &Completion, shown: usize, look: &Look) -> Option<Line<'static>> {
    let hidden = completion.total().saturating_sub(shown);
    if shown == 0 || hidden == 0 {
        return None;
    }
    let ellipsis = look.glyphs.ellipsis;
    let extent = match completion.extent() {
        Extent::All => "",
        Extent::Growing => " so far",
        Extent::Capped => " of those looked at",
    };
    let text = format!("{ellipsis} {} more{extent}", grouped(hidden as u64));
    let text = cut(&text, look.width.saturating_sub(MARGIN), ellipsis);
    Some(Line::from(vec![Span::raw(" ".repeat(MARGIN.min(look.width))), Span::styled(text, look.theme.dim)]))
}

/// How wide the columns of a list are.
struct Columns {
    /// What is written before each name.
    prefix: &'static str,
    name: usize,
    help: usize,
    value: usize,
}

impl Columns {
    fn of(rows: &[Row], prefix: &'static str, screen: usize) -> Self {
        let widest = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let room = screen.saturating_sub(MARGIN);
        let mut name = widest(&|row| width(&visible::line(&row.candidate.text))) + prefix.len();
        let mut value = widest(&|row| width(&visible::line(&row.candidate.value)));
        let with_gap = |columns: usize| if columns == 0 { 0 } else { columns + GAP };
        if name.min(LEAST_NAME) + with_gap(value) > room {
            value = 0;
        }
        name = name.min(room - with_gap(value).min(room));
        let left = room.saturating_sub(name + with_gap(value)).saturating_sub(GAP);
        let help = widest(&|row| width(&visible::line(&row.candidate.help)));
        let help = if help <= left || left >= LEAST_HELP { help.min(left) } else { 0 };
        Self { prefix, name, help, value }
    }

    fn line(&self, row: &Row, margin: Span<'static>, look: &Look) -> Line<'static> {
        let Row { candidate, matched } = row;
        let (base, prefix) = (margin.style, self.prefix);
        let mut spans = vec![margin];
        let room = self.name.saturating_sub(prefix.len());
        let mut taken = prefix.len();
        spans.push(Span::styled(prefix, base));
        for span in marked(&candidate.text, matched, room, Keep::End, base, look) {
            taken += width(&span.content);
            spans.push(span);
        }
        let ellipsis = look.glyphs.ellipsis;
        let mut at = 0;
        for (text, room, right) in [(&candidate.help, self.help, false), (&candidate.value, self.value, true)] {
            if room == 0 {
                continue;
            }
            let text = cut(&visible::line(text).replace('\t', " "), room, ellipsis);
            let lead = if right { room.saturating_sub(width(&text)) } else { 0 };
            let column = if at == 0 { self.name } else { at } + GAP;
            at = column + room;
            if !text.is_empty() {
                spans.push(Span::raw(" ".repeat((column + lead).saturating_sub(taken))));
                taken = column + lead + width(&text);
                spans.push(Span::styled(text, look.theme.dim));
            }
        }
        spans.retain(|span| !span.content.is_empty());
        Line::from(spans)
    }
}

/// Which end of a text that is too long is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    Start,
    /// The end: there stands the name of a file.
    End,
}

/// A text in at most `columns`, with the letters at `matched` (bytes, ascending) set off; what would not be seen is spelt.
pub fn marked(
    text: &str,
    matched: &[usize],
    columns: usize,
    keep: Keep,
    base: Style,
    look: &Look,
) -> Vec<Span<'static>> {
    let mut pieces: Vec<(String, bool)> = Vec::new();
    for (offset, grapheme) in text.grapheme_indices(true) {
        let end = offset + grapheme.len();
        let next = matched.partition_point(|place| *place < offset);
        let is_matched = matched.get(next).is_some_and(|place| *place < end);
        // A joiner is harmless only within the cluster it joins.
        pieces.push((visible::line(grapheme).replace('\t', " "), is_matched));
    }
    let total: usize = pieces.iter().map(|(piece, _)| width(piece)).sum();
    let mut spans: Vec<(String, bool)> = Vec::new();
    let mut push = |piece: &str, is_matched| match spans.last_mut() {
        Some((last, same)) if *same == is_matched => last.push_str(piece),
        Some(_) | None => spans.push((piece.to_owned(), is_matched)),
    };
    if total <= columns {
        pieces.iter().for_each(|(piece, is_matched)| push(piece, *is_matched));
    } else {
        let mark = head(look.glyphs.ellipsis, columns);
        let room = columns - width(mark);
        let order: Box<dyn Iterator<Item = &(String, bool)>> = match keep {
            Keep::Start => Box::new(pieces.iter()),
            Keep::End => Box::new(pieces.iter().rev()),
        };
        let mut taken = 0;
        let mut kept: Vec<_> = order
            .take_while(|(piece, _)| {
                taken += width(piece);
                taken <= room
            })
            .collect();
        match keep {
            Keep::Start => {
                kept.iter().for_each(|(piece, is_matched)| push(piece, *is_matched));
                push(mark, false);
            }
            Keep::End => {
                kept.reverse();
                push(mark, false);
                kept.iter().for_each(|(piece, is_matched)| push(piece, *is_matched));
            }
        }
    }
    let style = |is_matched| if is_matched { base.patch(look.theme.matched) } else { base };
    spans.into_iter().map(|(text, is_matched)| Span::styled(text, style(is_matched))).collect()
}

/// The columns of a line's text.
pub fn line_width(line: &Line<'_>) -> usize {
    line.spans.iter().flat_map(|span| span.content.graphemes(true)).map(grapheme_width).sum()
}

#[cfg(test)]
mod tests;
