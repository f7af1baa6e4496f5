//! A list to choose from, with a line to search it: sessions, themes, what may be done.
//!
//! Stands in the live region in place of the input line. Knows nothing of what is chosen.

use ratatui::text::{Line, Span};

use crate::base::text::visible;
use crate::base::text::width::{cut, width};
use crate::front::repl::complete::field::{Field, hints};
use crate::front::repl::complete::rank::{Of, Ranker};
use crate::front::repl::complete::view::{Keep, margin as margin_of, marked, window};
use crate::front::repl::key::{Code, Key};
use crate::front::repl::view::{Caret, Frame, Look};

/// Columns between label, detail and the right side.
const GAP: usize = 2;
/// Columns before a row.
const MARGIN: usize = 2;
/// Columns of a label beyond which a detail has no room beside it.
const LEAST_DETAIL: usize = 12;
/// Rows that Page Up and Page Down go.
const PAGE: usize = 10;
/// With fewer rows no row says what keys do.
const LEAST_HINTED: usize = 6;

/// Something to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// What it is called.
    pub label: String,
    /// What there is to know of it; searched as well.
    pub detail: String,
    /// A fact for the right edge.
    pub right: String,
    /// Another text that finds it, which is not shown: an id.
    pub key: String,
}

/// A list to choose from.
#[derive(Clone, Debug)]
pub struct Picker {
    title: String,
    items: Vec<Item>,
    query: Field,
    /// What keys do, for the last row; nothing where the usual ones are all.
    hints: &'static [&'static str],
    /// Which items fit the query, best first, by their numbers.
    fitting: Vec<usize>,
    /// A number among those that fit.
    selected: usize,
}

/// What a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickerOutcome {
    /// The list stays.
    Open,
    /// The item with this number was chosen.
    Chosen(usize),
    /// Nothing was chosen.
    Closed,
}

impl Picker {
    /// A list of items, in the order in which they are shown until somebody searches.
    pub fn new(title: impl Into<String>, items: Vec<Item>) -> Self {
        let fitting = (0..items.len()).collect();
        Self { title: title.into(), items, query: Field::default(), hints: &[], fitting, selected: 0 }
    }

    /// The same list with a last row that says what keys do.
    #[must_use]
    pub fn hinting(mut self, hints: &'static [&'static str]) -> Self {
        self.hints = hints;
        self
    }

    /// The same list searched for what `other` is searched for, and with the item selected that has the same key.
    #[must_use]
    pub fn like(mut self, other: &Self) -> Self {
        self.query = other.query.clone();
        self.search();
        let key = other.selected().and_then(|number| other.items.get(number)).map(|item| item.key.as_str());
        let same = |number: &usize| self.items.get(*number).map(|item| item.key.as_str()) == key;
        self.selected = self.fitting.iter().position(same).unwrap_or(0);
        self
    }

    /// The same list with another item selected than the first: what holds at present.
    #[must_use]
    pub fn at(mut self, item: usize) -> Self {
        self.selected = self.fitting.iter().position(|fits| *fits == item).unwrap_or(0);
        self
    }

    /// Searches for nothing any more, with the same item selected.
    pub fn search_no_more(&mut self) {
        let selected = self.selected().unwrap_or(0);
        self.query = Field::default();
        self.search();
        self.selected = selected;
    }

    /// The number of the selected item, if any fits.
    pub fn selected(&self) -> Option<usize> {
        self.fitting.get(self.selected).copied()
    }

    /// What a key does.
    pub fn key(&mut self, key: Key) -> PickerOutcome {
        let last = self.fitting.len().saturating_sub(1);
        if self.query.key(key) {
            self.search();
            return PickerOutcome::Open;
        }
        match (key.code, key.mods.ctrl, key.mods.shift) {
            (Code::Enter, _, _) => return self.selected().map_or(PickerOutcome::Open, PickerOutcome::Chosen),
            (Code::Esc, _, _) | (Code::Char('c' | 'g'), true, _) => return PickerOutcome::Closed,
            (Code::Char('d'), true, _) if self.query.text().is_empty() => return PickerOutcome::Closed,
            // Around, since one row further is also how one comes to the other end.
            (Code::Up, _, _) | (Code::Char('p'), true, _) | (Code::Tab, _, true) => {
                self.selected = self.selected.checked_sub(1).unwrap_or(last);
            }
            (Code::Down, _, _) | (Code::Char('n'), true, _) | (Code::Tab, _, false) => {
                self.selected = if self.selected < last { self.selected + 1 } else { 0 };
            }
            (Code::PageUp, _, _) => self.selected = self.selected.saturating_sub(PAGE),
            (Code::PageDown, _, _) => self.selected = (self.selected + PAGE).min(last),
            (Code::Home, _, _) => self.selected = 0,
            (Code::End, _, _) => self.selected = last,
            (
                Code::Char(_)
                | Code::Backspace
                | Code::Delete
                | Code::Insert
                | Code::Left
                | Code::Right
                | Code::Function(_),
                _,
                _,
            ) => {}
        }
        PickerOutcome::Open
    }

    /// Something was pasted: its first line is searched for.
    pub fn paste(&mut self, text: &str) {
        self.query.paste(text.trim_start());
        self.search();
    }

    fn search(&mut self) {
        self.selected = 0;
        if self.query.is_blank() {
            self.fitting = (0..self.items.len()).collect();
            return;
        }
        let query = self.query.text();
        let mut ranker = Ranker::new(query, Of::Words);
        let mut ranked: Vec<_> = self
            .items
            .iter()
            .enumerate()
            .filter_map(|(number, item)| {
                let keyed = (item.key.len() > query.len()).then(|| item.key.starts_with(query));
                let score = if keyed == Some(true) { Some(u32::MAX) } else { ranker.score(&searched(item)) };
                Some((score?, number))
            })
            .collect();
        ranked.sort_by_key(|(score, number)| (std::cmp::Reverse(*score), *number));
        self.fitting = ranked.into_iter().map(|(_, number)| number).collect();
    }

    /// The list in at most `most` rows, none wider than the screen: title, the line to search with, items.
    pub fn rows(&self, look: &Look, most: usize) -> Frame {
        let margin = " ".repeat(MARGIN.min(look.width));
        let inner = look.width.saturating_sub(MARGIN);
        let ellipsis = look.glyphs.ellipsis;
        let mut rows = Vec::new();
        if most >= 3 {
            let title = cut(&visible::line(&self.title), inner, ellipsis);
            let mut line = vec![Span::raw(margin.clone()), Span::styled(title.clone(), look.theme.heading)];
            let count = self.count();
            if width(&title) + GAP + width(&count) <= inner {
                let gap = inner - width(&title) - width(&count);
                line.extend([Span::raw(" ".repeat(gap)), Span::styled(count, look.theme.dim)]);
            }
            rows.push(Line::from(line));
        }
        let query_row = rows.len();
        let (query, column) = self.query.row(Span::raw(margin.clone()), "type to search", look);
        rows.push(query);
        let hint = (most >= LEAST_HINTED).then(|| hints(self.hints, inner, look)).filter(|hint| !hint.is_empty());
        let room = most.saturating_sub(rows.len() + usize::from(hint.is_some()));
        let begin = window(self.selected, self.fitting.len(), room.max(1));
        let shown = self.fitting.get(begin..(begin + room).min(self.fitting.len())).unwrap_or_default();
        let items: Vec<_> = shown.iter().filter_map(|number| self.items.get(*number)).collect();
        let mut ranker = (!self.query.is_blank()).then(|| Ranker::new(self.query.text(), Of::Words));
        let label = items.iter().map(|item| width(&visible::line(&item.label))).max().unwrap_or(0);
        for (at, item) in (begin..).zip(items) {
            let matched = ranker.as_mut().map(|ranker| ranker.matched(&searched(item))).unwrap_or_default();
            rows.push(row(item, &matched, label, margin_of(at, self.selected, look), look));
        }
        if shown.is_empty() && room > 0 {
            let text = cut("nothing fits", inner, ellipsis);
            rows.push(Line::from(vec![Span::raw(margin.clone()), Span::styled(text, look.theme.dim)]));
        }
        rows.extend(hint.map(|hint| Line::from(vec![Span::raw(margin), Span::styled(hint, look.theme.dim)])));
        rows.truncate(most);
        let caret = (query_row < most).then(|| Caret {
            row: u16::try_from(query_row).unwrap_or(u16::MAX),
            column: u16::try_from(column).unwrap_or(u16::MAX),
        });
        Frame { rows, caret }
    }

    fn count(&self) -> String {
        let (fitting, all) = (self.fitting.len(), self.items.len());
        if fitting == all { format!("{all}") } else { format!("{fitting} of {all}") }
    }
}

/// One item. `matched` are places in [`searched`], `label` is the widest label there is.
fn row(item: &Item, matched: &[usize], label: usize, margin: Span<'static>, look: &Look) -> Line<'static> {
    let base = margin.style;
    let inner = look.width.saturating_sub(MARGIN);
    let right = visible::line(&item.right).replace('\t', " ");
    let right = if width(&right) + GAP + LEAST_DETAIL <= inner { right } else { String::new() };
    let room = inner - if right.is_empty() { 0 } else { width(&right) + GAP };
    let (of_label, of_detail) = matched.split_at(matched.partition_point(|place| *place < item.label.len()));
    let mut spans = vec![margin];
    let label = label.min(room);
    let labelled = marked(&item.label, of_label, label, Keep::Start, base, look);
    let mut taken: usize = labelled.iter().map(|span| width(&span.content)).sum();
    spans.extend(labelled);
    let left = room.saturating_sub(label + GAP);
    if left >= LEAST_DETAIL && !item.detail.is_empty() {
        // The blank between label and detail, as it is searched.
        let of_detail: Vec<_> = of_detail.iter().filter_map(|place| place.checked_sub(item.label.len() + 1)).collect();
        spans.push(Span::raw(" ".repeat(label + GAP - taken)));
        let detail = marked(&item.detail, &of_detail, left, Keep::Start, look.theme.dim, look);
        taken = label + GAP + detail.iter().map(|span| width(&span.content)).sum::<usize>();
        spans.extend(detail);
    }
    if !right.is_empty() {
        spans.push(Span::raw(" ".repeat(inner - taken - width(&right))));
        spans.push(Span::styled(right, look.theme.dim));
    }
    spans.retain(|span| !span.content.is_empty());
    Line::from(spans)
}

/// What a query is compared with.
fn searched(item: &Item) -> String {
    format!("{} {}", item.label, item.detail)
}

#[cfg(test)]
mod tests;
