//! What the live region looks like now, and the bytes that make it look otherwise.
//!
//! The region is always found from the cursor: its top is so many rows further up. What is above it is finished and never
//! touched again, whatever happens: where it is not certain how many rows to go up, it is the smaller number, since a row
//! left behind is a blemish and a line erased is lost.
//!
//! # When the size changes
//!
//! Between two pictures a terminal may have had any number of sizes. What that did to the region depends on the last width
//! only, since a terminal that wraps anew also joins again what fits again; [`Reflow`] has the rest.
//!
//! * Fewer rows: the terminal drops what is below the cursor, or moves lines into the scrollback until the rest fits; most
//!   do the first, then the second. Going up ends at the screen's top row, so that at most all of the screen is erased,
//!   which then is all region. Rows of a region that no longer fitted have gone into the scrollback and stay there.
//! * More rows: lines may come back from the scrollback above, or empty rows below. The region has moved as a whole.
//! * Fewer columns: rows above the cursor take as many rows as they need where the terminal wraps anew, one where it does
//!   not. Where the text of the cursor's own row ends exactly at the edge, terminals differ by a row; see
//!   [`Row::fold_at`].
//! * A picture that was made for a width which the terminal no longer has: rows wrap that should not, and take at least as
//!   many rows as they are thought to. That is why wrapping is left on for rows that fit.

use ratatui::text::Line;

use super::pen::Colours;
use super::row::Row;
use super::writer::Writer;
use crate::front::repl::view::{Block, Caret, Frame};
use crate::front::term::reflow::Reflow;

/// Paints frames onto a terminal, as bytes.
#[derive(Clone, Debug)]
pub struct Painter {
    columns: usize,
    rows: usize,
    colours: Colours,
    /// What is on the screen; `None` if that is not ours.
    shown: Option<Region>,
    /// What the terminal did to `shown`, if it must be painted anew.
    displaced: Option<Reflow>,
    /// Whether, at one of the sizes since, it may have reached into the scrollback with half a row.
    torn: bool,
    /// At least so many rows of the screen are above the region.
    above: usize,
}

/// What becomes of the live region when the terminal is left to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It stays where it is.
    Standing,
    /// It vanishes; what is finished stays.
    Erased,
}

/// A picture of the live region: at least one row.
#[derive(Clone, Debug, Default, PartialEq)]
struct Region {
    rows: Vec<Row>,
    cursor: Caret,
    visible: bool,
}

/// A row that looks otherwise now.
struct Change {
    row: usize,
    /// The first character to be written.
    first: usize,
    /// Whether the row is emptied before.
    wipes: bool,
}

impl Painter {
    /// A painter for a screen of this size on which nothing is ours yet, whatever stands there.
    pub fn new(columns: u16, rows: u16, colours: Colours) -> Self {
        let mut painter = Self { columns: 1, rows: 1, colours, shown: None, displaced: None, torn: false, above: 0 };
        painter.measure(columns, rows);
        painter
    }

    /// Appends what makes the terminal show `finished` above the live region, once and for ever, and the live region as
    /// `frame`; nothing, if it does already. Rows that do not fit are left out, those at the top first.
    pub fn paint(&mut self, finished: &[Block], frame: &Frame, out: &mut String) {
        let next = self.lay_out(frame);
        self.above = self.above.saturating_add(finished.iter().map(Vec::len).sum());
        self.above = self.above.min(self.rows - next.rows.len());
        let is_new = finished.iter().any(|block| !block.is_empty()) || self.displaced.is_some();
        match self.shown.take() {
            Some(shown) if !is_new => self.repaint(&shown, &next, out),
            shown => self.paint_anew(shown.as_ref(), finished, &next, out),
        }
        self.settle(Some(next));
    }

    /// The terminal has another size, and this is how it treats what was shown. Nothing is written before the next picture.
    pub fn resized(&mut self, columns: u16, rows: u16, reflow: Reflow) {
        let before = self.rows;
        self.measure(columns, rows);
        self.displaced = Some(reflow);
        let Some(shown) = &self.shown else {
            return;
        };
        // Terminals change columns and rows one after the other, and some (tmux) move a row into the scrollback for each
        // that they make by wrapping, blank rows at the bottom or not.
        let (height, rows) = (self.height(shown), before.min(self.rows));
        let made = height - shown.rows.len();
        self.torn |= reflow != Reflow::Never && (height > rows || made > self.above);
        self.above = self.above.min(rows.saturating_sub(height)).saturating_sub(made);
    }

    /// The next picture is painted as a whole, over the last one: for a screen that somebody else has written to, and for
    /// Ctrl-L.
    pub fn redraw(&mut self) {
        self.displaced.get_or_insert(Reflow::Never);
    }

    /// What is on the screen is not ours any more, wherever the cursor is: after a stop that left no time for
    /// [`Self::release`].
    pub fn forget(&mut self) {
        self.settle(None);
    }

    /// Appends what leaves the terminal to others: the cursor shown, in the first column of the row below what stays.
    /// The next picture starts on a row of its own.
    pub fn release(&mut self, leave: Leave, out: &mut String) {
        let Some(shown) = self.shown.take() else {
            return;
        };
        let (above, height) = (self.rows_above(&shown), self.height(&shown));
        self.settle(None);
        let mut writer = Writer::new(out, above, None);
        writer.begin();
        match leave {
            Leave::Standing => {
                writer.go(height - 1, 0);
                writer.new_row();
                writer.erase_below();
            }
            Leave::Erased => writer.erase_region(),
        }
        if !shown.visible {
            writer.show();
        }
        writer.end();
    }

    fn settle(&mut self, shown: Option<Region>) {
        if shown.is_none() {
            self.above = 0;
        }
        self.shown = shown;
        self.displaced = None;
        self.torn = false;
    }

    fn measure(&mut self, columns: u16, rows: u16) {
        // A terminal that does not know its size says that it has none.
        (self.columns, self.rows) = (usize::from(columns.max(1)), usize::from(rows.max(1)));
    }

    fn lay_out(&self, frame: &Frame) -> Region {
        let surplus = frame.rows.len().saturating_sub(self.rows);
        let first = frame.caret.map_or(surplus, |caret| surplus.min(caret.row.into()));
        let kept = frame.rows.iter().skip(first).take(self.rows);
        let mut rows: Vec<_> = kept.map(|line| Row::new(line, self.columns, self.colours)).collect();
        if rows.is_empty() {
            rows.push(Row::default());
        }
        let last = |length: usize| u16::try_from(length - 1).unwrap_or(u16::MAX);
        let at = |caret: Caret| Caret {
            row: caret.row.saturating_sub(u16::try_from(first).unwrap_or(u16::MAX)).min(last(rows.len())),
            column: caret.column.min(last(self.columns)),
        };
        // Hidden, it waits where the least can happen to it: below all that matters, in the first column.
        let cursor = frame.caret.map_or(Caret { row: last(rows.len()), column: 0 }, at);
        Region { rows, cursor, visible: frame.caret.is_some() }
    }

    /// How many rows of the screen there are now between the region's top and the cursor.
    fn rows_above(&self, shown: &Region) -> usize {
        let row = usize::from(shown.cursor.row);
        let folds = || shown.rows.iter().take(row).map(|row| row.folds(self.columns)).sum::<usize>();
        match self.displaced {
            None | Some(Reflow::Never) => row,
            Some(Reflow::AboveCaret) => folds(),
            Some(Reflow::Always) => {
                let own = shown.rows.get(row).map_or(0, |own| own.fold_at(shown.cursor.column.into(), self.columns));
                folds() + own
            }
        }
    }

    /// How many rows of the screen the region takes now.
    fn height(&self, shown: &Region) -> usize {
        match self.displaced {
            None | Some(Reflow::Never) => shown.rows.len(),
            Some(Reflow::AboveCaret | Reflow::Always) => shown.rows.iter().map(|row| row.folds(self.columns)).sum(),
        }
    }

    /// Finished text over the old region, and the new one below.
    fn paint_anew(&self, shown: Option<&Region>, finished: &[Block], next: &Region, out: &mut String) {
        let above = shown.map_or(0, |shown| self.rows_above(shown));
        let mut writer = Writer::new(out, above, None);
        writer.begin();
        if shown.is_none_or(|shown| shown.visible) {
            writer.hide();
        }
        match shown {
            Some(_) => writer.erase_region(),
            None => writer.fresh_row(self.columns),
        }
        if self.torn {
            // The screen's first row may belong to a row that begins in the scrollback: what is written there would be
            // joined to it when the screen is made wider.
            writer.finished(&Line::default(), self.colours);
        }
        for line in finished.iter().flatten() {
            writer.finished(line, self.colours);
        }
        for (at, row) in next.rows.iter().enumerate() {
            if at > 0 {
                writer.new_row();
            }
            writer.row(row, 0, self.columns);
        }
        writer.go(next.cursor.row.into(), next.cursor.column.into());
        if next.visible {
            writer.show();
        }
        writer.end();
    }

    /// The rows that have changed.
    fn repaint(&self, shown: &Region, next: &Region, out: &mut String) {
        if shown == next {
            return;
        }
        let changes: Vec<_> = shown.rows.iter().zip(&next.rows).enumerate().filter_map(change).collect();
        let hides = shown.visible && (!next.visible || self.is_seen_moving(shown, next, &changes));
        let mut writer = Writer::new(out, shown.cursor.row.into(), Some(shown.cursor.column.into()));
        writer.begin();
        if hides {
            writer.hide();
        }
        for change in &changes {
            let Some(row) = next.rows.get(change.row) else {
                continue;
            };
            if change.wipes {
                writer.wipe(change.row);
            }
            writer.go(change.row, row.column_after(change.first));
            writer.row(row, change.first, self.columns);
        }
        if next.rows.len() < shown.rows.len() {
            writer.go(next.rows.len(), 0);
            writer.erase_below();
        }
        for (at, row) in next.rows.iter().enumerate().skip(shown.rows.len()) {
            writer.go(at - 1, 0);
            writer.new_row();
            writer.row(row, 0, self.columns);
        }
        writer.go(next.cursor.row.into(), next.cursor.column.into());
        if next.visible && (hides || !shown.visible) {
            writer.show();
        }
        writer.end();
    }

    /// Whether the cursor leaves the way from its old place to the new one. It does not while somebody types at the end of
    /// the line, and there it should not flicker.
    fn is_seen_moving(&self, shown: &Region, next: &Region, changes: &[Change]) -> bool {
        let own = usize::from(shown.cursor.row);
        let starts_here = |change: &Change| {
            let column = next.rows.get(change.row).map(|row| row.column_after(change.first));
            change.row == own && !change.wipes && column == Some(shown.cursor.column.into())
        };
        next.rows.len() != shown.rows.len()
            || !changes.is_empty() && (next.cursor.row != shown.cursor.row || !changes.iter().all(starts_here))
    }
}

/// What it takes to turn the first of these rows into the second.
fn change((row, (old, new)): (usize, (&Row, &Row))) -> Option<Change> {
    if old == new {
        return None;
    }
    // Where terminals disagree on what stands where, half a row would not fit the other half.
    let wipes = new.width() < old.width() || !old.is_certain() || !new.is_certain();
    let first = if wipes { 0 } else { old.common(new) };
    Some(Change { row, first, wipes })
}
