//! A diff as lines: a number, a sign, the text, and within changed lines the words that differ.
//!
//! Long lines run on; the terminal breaks them.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use similar::{ChangeTag, DiffOp, TextDiff};

use super::{Diff, Row, Sign};
use crate::base::text::{cut, numbers, width};
use crate::front::repl::view::row::{indented, plain, trimmed};
use crate::front::repl::view::{Block, Look};

/// Columns before the number.
const INDENT: usize = 4;
/// Columns of a number on a roomy screen, so that the text stands below the targets of tool lines.
const NUMBER_COLUMNS: usize = 4;
/// More changed lines than these are folded.
const MOST_CHANGED: usize = 40;
/// Changed lines that stay of a folded diff.
const KEPT_CHANGED: usize = 30;
/// Lines that are shown of a file that is new; one knows how files begin.
const MOST_NEW: usize = 10;
/// Lines of a diff that is shown whole; what is longer is read in the file.
const MOST_WHOLE: usize = 2_000;
/// Characters of a line that are shown; a line of a minified file would hide the others.
const LINE_CHARS: usize = 2_000;
/// Bytes of neighbouring changed lines among which words are compared: more is no small change of a line.
const COMPARED_BYTES: usize = 4_000;

/// How much of a diff is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// A long one is folded.
    Folded,
    /// The beginning of a new file.
    New,
    /// All of it, within reason.
    Whole,
}

/// Whether lines have numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Those of the file.
    Shown,
    /// None, but their room: where the lines stand in the file is not known.
    Hidden,
}

impl Diff<'_> {
    /// The diff as it stands below the line of an edit.
    pub fn lines(&self, fold: Fold, numbers: Numbers, look: &Look) -> Block {
        let changed = self.added + self.removed;
        let most = match fold {
            Fold::Folded if changed > MOST_CHANGED => KEPT_CHANGED,
            Fold::New if changed > MOST_NEW + 1 => MOST_NEW,
            Fold::Folded | Fold::New | Fold::Whole => MOST_WHOLE.min(changed),
        };
        let gutter = self.gutter(numbers, look);
        let painter = Painter { look, numbers, gutter, minds_returns: self.minds_returns() };
        let mut block = Block::new();
        let mut left = most;
        for (number, hunk) in self.hunks.iter().enumerate() {
            if left == 0 {
                break;
            }
            if number > 0 {
                block.push(indented(painter.gap_indent(), look.glyphs.ellipsis, look.theme.dim));
            }
            let mut rows = hunk.rows.as_slice();
            // What is around the last change that is shown belongs to it.
            while rows.first().is_some_and(|row| left > 0 || row.sign == Sign::Same) {
                let (stretch, rest) = rows.split_at(stretch_length(rows));
                let stretch = stretch.get(..left.max(unchanged(stretch))).unwrap_or(stretch);
                left = left.saturating_sub(stretch.len() - unchanged(stretch));
                painter.stretch(stretch, &mut block);
                rows = rest;
            }
        }
        if changed > most {
            let more = numbers::count((changed - most) as u64, "more line");
            let how = if fold == Fold::Whole { "" } else { ", ctrl-o shows all" };
            block.push(indented(painter.gap_indent(), format!("{} {more}{how}", look.glyphs.ellipsis), look.theme.dim));
        }
        block
    }

    /// Columns of the numbers.
    fn gutter(&self, numbers: Numbers, look: &Look) -> usize {
        let rows = self.hunks.iter().filter_map(|hunk| hunk.rows.iter().map(|row| row.number).max());
        let digits = rows.max().unwrap_or_default().to_string().len();
        match numbers {
            Numbers::Hidden | Numbers::Shown if look.is_roomy() => digits.max(NUMBER_COLUMNS),
            Numbers::Hidden => 1,
            Numbers::Shown => digits,
        }
    }

    /// Whether changed lines differ in whether a carriage return ends them.
    fn minds_returns(&self) -> bool {
        let rows = || self.hunks.iter().flat_map(|hunk| &hunk.rows);
        let has = |sign, ends: bool| rows().any(|row| row.sign == sign && row.text.ends_with('\r') == ends);
        (has(Sign::Removed, true) && has(Sign::Added, false)) || (has(Sign::Removed, false) && has(Sign::Added, true))
    }
}

/// How many rows at the beginning belong together: unchanged ones, or removed ones with the added ones that follow.
fn stretch_length(rows: &[Row<'_>]) -> usize {
    let run = |rows: &[Row<'_>], sign| rows.iter().take_while(|row| row.sign == sign).count();
    match run(rows, Sign::Same) {
        0 => {
            let removed = run(rows, Sign::Removed);
            removed + run(rows.get(removed..).unwrap_or_default(), Sign::Added)
        }
        same => same,
    }
}

fn unchanged(rows: &[Row<'_>]) -> usize {
    rows.iter().filter(|row| row.sign == Sign::Same).count()
}

struct Painter<'l> {
    look: &'l Look,
    numbers: Numbers,
    gutter: usize,
    minds_returns: bool,
}

impl Painter<'_> {
    /// Where marks between hunks begin: below the last digit of the numbers.
    fn gap_indent(&self) -> usize {
        INDENT + self.gutter.saturating_sub(if self.look.is_roomy() { 2 } else { self.gutter })
    }

    fn stretch(&self, rows: &[Row<'_>], block: &mut Block) {
        if rows.first().is_some_and(|row| row.sign == Sign::Same) {
            // Where room is short, only what changed is shown.
            if self.look.is_roomy() {
                block.extend(rows.iter().map(|row| self.row(row, vec![(false, row.text)])));
            }
            return;
        }
        let pieces = words(rows).unwrap_or_else(|| rows.iter().map(|row| vec![(false, row.text)]).collect());
        block.extend(rows.iter().zip(pieces).map(|(row, pieces)| self.row(row, pieces)));
    }

    fn row(&self, row: &Row<'_>, pieces: Vec<(bool, &str)>) -> Line<'static> {
        let theme = &self.look.theme;
        let (sign, style, word) = match row.sign {
            Sign::Same => (" ", theme.agent, theme.agent),
            Sign::Removed => ("-", theme.removed, theme.removed_word),
            Sign::Added => ("+", theme.added, theme.added_word),
        };
        let mut spans = vec![Span::raw(" ".repeat(INDENT))];
        let gap = if self.look.is_roomy() { 2 } else { 1 };
        let number = match self.numbers {
            Numbers::Shown => row.number.to_string(),
            Numbers::Hidden => String::new(),
        };
        spans.push(Span::styled(format!("{number:>width$}", width = self.gutter), theme.dim));
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(format!("{sign} "), style));
        let text: String = pieces.iter().map(|(_, piece)| *piece).collect();
        let shown = self.shown(row, &text);
        if shown == text {
            spans.extend(
                pieces
                    .into_iter()
                    .map(|(differs, piece)| Span::styled(piece.to_owned(), if differs { word } else { style })),
            );
        } else {
            self.spelt(row, pieces, &mut spans, style, word);
        }
        if !row.is_ended && row.sign != Sign::Same {
            spans.push(Span::styled("  (no line end)", theme.dim));
        }
        trimmed(spans)
    }

    /// The line as it may be shown.
    fn shown(&self, row: &Row<'_>, text: &str) -> String {
        let text = self.without_return(row, text);
        if text.len() > LINE_CHARS || (row.sign != Sign::Same && text.ends_with([' ', '\t'])) {
            return String::new();
        }
        plain(text)
    }

    fn without_return<'t>(&self, row: &Row<'_>, text: &'t str) -> &'t str {
        let is_kept = self.minds_returns && row.sign != Sign::Same;
        if is_kept { text } else { text.strip_suffix('\r').unwrap_or(text) }
    }

    /// Pieces of which some are not shown as they are: cut, spelt, with tabs as spaces, with blanks at the end marked.
    fn spelt(
        &self,
        row: &Row<'_>,
        pieces: Vec<(bool, &str)>,
        spans: &mut Vec<Span<'static>>,
        style: Style,
        word: Style,
    ) {
        let text: String = pieces.iter().map(|(_, piece)| *piece).collect();
        let whole = self.without_return(row, &text);
        let kept = cut::head(whole, LINE_CHARS);
        let body = if row.sign == Sign::Same { kept } else { kept.trim_end_matches([' ', '\t']) };
        let (mut at, mut before) = (0, String::new());
        for (differs, piece) in pieces {
            let end = (at + piece.len()).min(body.len());
            let Some(part) = body.get(at.min(end)..end) else { break };
            // The part's tabs depend on what stands before it.
            let shown = plain(&format!("{before}{part}"));
            let seen = plain(&before);
            let new = shown.strip_prefix(&seen).unwrap_or(&shown).to_owned();
            before.push_str(part);
            spans.push(Span::styled(new, if differs { word } else { style }));
            at = end;
        }
        let blanks = kept.get(body.len()..).unwrap_or_default();
        if !blanks.is_empty() && row.sign != Sign::Same {
            let marks = self.look.glyphs.dot.repeat(width::width(&plain(blanks)));
            spans.push(Span::styled(marks, word));
        }
        if kept.len() < whole.len() {
            spans.push(Span::styled(self.look.glyphs.ellipsis, self.look.theme.dim));
        }
    }
}

/// For each row the pieces of its text, those that differ marked; `None` where no line is a small change of another.
fn words<'t>(rows: &[Row<'t>]) -> Option<Vec<Vec<(bool, &'t str)>>> {
    let bytes: usize = rows.iter().map(|row| row.text.len()).sum();
    let old: Vec<&'t str> = rows.iter().filter(|row| row.sign == Sign::Removed).map(|row| row.text).collect();
    let new: Vec<&'t str> = rows.iter().filter(|row| row.sign == Sign::Added).map(|row| row.text).collect();
    if old.is_empty() || new.is_empty() || bytes > COMPARED_BYTES {
        return None;
    }
    let compared = TextDiff::from_slices(&old, &new);
    let whole = DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() };
    let changes: Vec<_> = compared.iter_inline_changes(&whole).collect();
    let of = |tag| changes.iter().filter(move |change| change.tag() == tag);
    let ordered = of(ChangeTag::Delete).chain(of(ChangeTag::Insert));
    let pieces: Vec<Vec<(bool, &'t str)>> = rows
        .iter()
        .zip(ordered)
        .filter_map(|(row, change)| {
            let mut rest = row.text;
            let pieces = change.values().iter().map(|(differs, piece)| {
                let (piece, after) = rest.split_at_checked(piece.len())?;
                rest = after;
                Some((*differs, piece))
            });
            let pieces: Option<Vec<_>> = pieces.collect();
            pieces.filter(|_| rest.is_empty())
        })
        .collect();
    (pieces.len() == rows.len()).then_some(pieces)
}
