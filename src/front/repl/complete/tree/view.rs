//! How a tree looks: a title, the line to search with, and rows with light lines, what is present bright.
//!
//! Each row fits the width; what is short of room gives up ages first, then tools, then lines, then its own end.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::shape::{Line as Branch, Row};
use super::{Node, Tree, Who, searched};
use crate::base::text::visible;
use crate::base::text::width::{cut, head, width};
use crate::front::repl::complete::field::hints;
use crate::front::repl::complete::rank::{Of, Ranker};
use crate::front::repl::complete::view::{Keep, margin as margin_of, marked, window};
use crate::front::repl::view::{Caret, Frame, Look};

/// Columns before a row.
const MARGIN: usize = 2;
/// Columns between a text and what follows it.
const GAP: usize = 2;
/// Columns that a text keeps, whatever stands beside it.
const LEAST_TEXT: usize = 24;
/// With fewer rows no row says what keys do.
const LEAST_HINTED: usize = 6;
/// What stands at the right edge of where the conversation stands.
const HERE: &str = "here";
/// What keys do, the most needed first.
const HINTS: [&str; 6] = ["enter go there", "tab filter", "ctrl-t label", "ctrl-f fork", "left fold", "esc close"];
/// The same while a label is written.
const LABEL_HINTS: [&str; 2] = ["enter keep the label", "esc leave it"];

impl Tree {
    /// The list in at most `most` rows, none wider than the screen.
    pub fn rows(&self, look: &Look, most: usize) -> Frame {
        let inner = look.width.saturating_sub(MARGIN);
        let margin = Span::raw(" ".repeat(MARGIN.min(look.width)));
        let mut rows = Vec::new();
        if most > 2 {
            rows.push(Line::from(vec![margin.clone(), Span::styled(self.title(inner, look), look.theme.dim)]));
        }
        let (field, empty) = match &self.labelling {
            Some(label) => (label, "the label; an empty one takes it away"),
            None => (&self.query, "type to search"),
        };
        let query_row = rows.len();
        let (row, column) = field.row(margin.clone(), empty, look);
        rows.push(row);
        let keys = if self.labelling.is_some() { LABEL_HINTS.as_slice() } else { HINTS.as_slice() };
        let hint = (most >= LEAST_HINTED).then(|| hints(keys, inner, look)).filter(|hint| !hint.is_empty());
        let room = most.saturating_sub(rows.len() + usize::from(hint.is_some()));
        let all = &self.shape.rows;
        // Around the selected one: what follows it says as much as what is before.
        let begin = window(self.selected + room / 2, all.len(), room.max(1)).min(self.selected);
        let mut ranker = (!self.query.is_blank()).then(|| Ranker::new(self.query.text(), Of::Words));
        for (at, row) in all.iter().enumerate().skip(begin).take(room) {
            rows.push(self.row(at, row, ranker.as_mut(), look));
        }
        if all.is_empty() && room > 0 {
            let text = cut("nothing fits", inner, look.glyphs.ellipsis);
            rows.push(Line::from(vec![margin.clone(), Span::styled(text, look.theme.dim)]));
        }
        rows.extend(hint.map(|hint| Line::from(vec![margin, Span::styled(hint, look.theme.dim)])));
        rows.truncate(most);
        let caret = (query_row < most).then(|| Caret {
            row: u16::try_from(query_row).unwrap_or(u16::MAX),
            column: u16::try_from(column).unwrap_or(u16::MAX),
        });
        Frame { rows, caret }
    }

    /// The last `most` rows as plain lines, each behind what `name` calls its node.
    pub fn lines(&self, most: usize, look: &Look, name: &dyn Fn(usize) -> String) -> Vec<String> {
        let rows = &self.shape.rows;
        let names: Vec<String> = rows.iter().map(|row| name(row.node)).collect();
        let columns = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let wide = Look { width: look.width.saturating_sub(columns + GAP).max(LEAST_TEXT), ..look.clone() };
        let line = |row: &Row| {
            let row = self.row(usize::MAX, row, None, &wide);
            row.spans.iter().skip(1).map(|span| span.content.as_ref()).collect::<String>().trim_end().to_owned()
        };
        let shown = rows.iter().zip(names).skip(rows.len().saturating_sub(most));
        shown.map(|(row, name)| format!("{name:>columns$}  {}", line(row))).collect()
    }

    /// `tree · people only`, and how many rows there are at the right edge.
    fn title(&self, inner: usize, look: &Look) -> String {
        let title = format!("tree {} {}", look.glyphs.dot, self.filter.name());
        let (shown, nodes) = (self.shape.rows.len(), self.nodes.len());
        let count = if shown == nodes { format!("{nodes}") } else { format!("{shown} of {nodes}") };
        match inner.checked_sub(width(&title) + width(&count)) {
            Some(gap) if gap >= GAP => format!("{title}{}{count}", " ".repeat(gap)),
            Some(_) | None => cut(&title, inner, look.glyphs.ellipsis),
        }
    }

    fn row(&self, at: usize, row: &Row, ranker: Option<&mut Ranker>, look: &Look) -> Line<'static> {
        let Some(node) = self.nodes.get(row.node) else { return Line::default() };
        let mut margin = margin_of(at, self.selected, look);
        let style = style(node, look).patch(margin.style);
        margin.style = margin.style.patch(Style::new());
        let inner = look.width.saturating_sub(MARGIN);
        let lines = self.leads(row, inner / 2, look);
        let mut left = inner.saturating_sub(width(&lines));
        let right = self.right(row, node, left, look);
        if !right.is_empty() {
            left -= width(&right) + GAP;
        }
        let mut spans = vec![margin, Span::styled(lines, look.theme.dim)];
        let mut taken = 0;
        let mut push = |span: Span<'static>, spans: &mut Vec<Span<'static>>| {
            taken += width(&span.content);
            spans.push(span);
        };
        let mark = head(&mark(node.who, look), left).to_owned();
        left -= width(&mark);
        push(Span::styled(mark, style), &mut spans);
        if let Some(label) = node.label.as_deref().filter(|_| left > GAP) {
            let label = format!("[{}] ", visible::line(label).replace('\t', " "));
            let label = cut(&label, left / 2, look.glyphs.ellipsis);
            left -= width(&label);
            push(Span::styled(label, look.theme.notice), &mut spans);
        }
        let tools = visible::line(&node.tools).into_owned();
        let room = if node.text.is_empty() { 0 } else { left.saturating_sub(width(&tools) + GAP) };
        let has_tools = !tools.is_empty() && (node.text.is_empty() || room >= LEAST_TEXT);
        let room = if has_tools { room } else { left };
        let matched = ranker.map(|ranker| ranker.matched(&searched(node))).unwrap_or_default();
        let of_text = matched.partition_point(|place| *place < node.text.len());
        let text = marked(&node.text, matched.get(..of_text).unwrap_or_default(), room, Keep::Start, style, look);
        text.into_iter().for_each(|span| push(span, &mut spans));
        if has_tools {
            let gap = if node.text.is_empty() { 0 } else { GAP };
            let tools = cut(&tools, left, look.glyphs.ellipsis);
            push(Span::styled(format!("{}{tools}", " ".repeat(gap)), look.theme.dim), &mut spans);
        }
        if !right.is_empty() {
            let before = width(&spans.iter().map(|span| span.content.as_ref()).collect::<String>());
            let gap = look.width.saturating_sub(before + width(&right));
            let style = if self.here == Some(row.node) { look.theme.notice } else { look.theme.dim };
            spans.extend([Span::raw(" ".repeat(gap)), Span::styled(right, style)]);
        }
        spans.retain(|span| !span.content.is_empty());
        Line::from(spans)
    }

    /// The light lines before a row. Where there is no room for them all, the innermost ones stay.
    fn leads(&self, row: &Row, most: usize, look: &Look) -> String {
        let [begins, begins_last, beside, blank] = look.glyphs.branch;
        let lines = self.shape.lines(row);
        let each = width(begins).max(1);
        let hidden = lines.len().saturating_sub(most / each);
        let shown = lines.get(hidden..).unwrap_or_default().iter().enumerate().map(|(number, line)| match line {
            _ if number == 0 && hidden > 0 => look.glyphs.ellipsis,
            Branch::Begins => begins,
            Branch::BeginsLast => begins_last,
            Branch::Beside => beside,
            Branch::Blank => blank,
        });
        shown.map(|line| format!("{line:<each$}")).collect()
    }

    /// What stands at the right edge: where it stands, how much is folded, or how long ago it was.
    fn right(&self, row: &Row, node: &Node, room: usize, look: &Look) -> String {
        let right = match row.folded {
            _ if self.here == Some(row.node) => HERE.to_owned(),
            0 => visible::line(&node.age).into_owned(),
            folded => format!("{} {folded} more", look.glyphs.ellipsis),
        };
        let matters = self.here == Some(row.node) || row.folded > 0;
        let least = if matters { LEAST_TEXT / 2 } else { 2 * LEAST_TEXT };
        if width(&right) + GAP + least <= room { right } else { String::new() }
    }
}

/// What is present is as it was said, the rest is dim.
fn style(node: &Node, look: &Look) -> Style {
    match node.who {
        _ if !node.is_present => look.theme.dim,
        Who::Person => look.theme.person,
        Who::Agent => look.theme.agent,
        Who::Program => look.theme.dim,
    }
}

fn mark(who: Who, look: &Look) -> String {
    match who {
        Who::Person => format!("{} ", look.glyphs.person),
        Who::Agent => "  ".to_owned(),
        Who::Program => format!("{} ", look.glyphs.notice),
    }
}
