//! What changed between two texts, line by line: computed from both, or read from a unified diff.
//!
//! How it looks is decided in `paint`. It changes nothing and knows no files.

mod paint;
mod parse;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::Duration;

use similar::{Algorithm, DiffTag, TextDiff};

pub use paint::{Fold, Numbers};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// How long two texts are compared before what is left counts as replaced. A screen that waits longer is felt to stop;
/// ordinary edits take a hundredth of it.
const DEADLINE: Duration = Duration::from_millis(60);

/// The changes between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff<'t> {
    /// Stretches of changed lines with what is around them, in order.
    pub hunks: Vec<Hunk<'t>>,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
}

/// A stretch of lines, changed ones and those around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk<'t> {
    /// How many lines of the old text are before it.
    pub old_start: usize,
    /// Its lines; of a changed stretch the removed ones come first.
    pub rows: Vec<Row<'t>>,
}

/// A line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'t> {
    /// What happened to it.
    pub sign: Sign,
    /// Its number, from 1: in the old text where it was removed, else in the new one.
    pub number: usize,
    /// The line without its `\n`.
    pub text: &'t str,
    /// Whether a `\n` ends it.
    pub is_ended: bool,
}

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Nothing.
    Same,
    /// It went.
    Removed,
    /// It came.
    Added,
}

impl<'t> Diff<'t> {
    /// Compares two texts; without an old one, all is new. Takes time that grows with the texts, and with many
    /// differences up to a fixed limit, beyond which the rest counts as replaced.
    pub fn between(before: Option<&'t str>, after: &'t str) -> Self {
        let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
        let new: Vec<&str> = after.split_inclusive('\n').collect();
        let compared = TextDiff::configure().algorithm(Algorithm::Myers).timeout(DEADLINE).diff_slices(&old, &new);
        let mut diff = Self::default();
        for operations in compared.grouped_ops(CONTEXT) {
            let old_start = operations.first().map_or(0, |first| first.old_range().start);
            let mut hunk = Hunk { old_start, rows: Vec::new() };
            for operation in operations {
                match operation.tag() {
                    DiffTag::Equal => hunk.take(Sign::Same, &new, operation.new_range()),
                    DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                        hunk.take(Sign::Removed, &old, operation.old_range());
                        hunk.take(Sign::Added, &new, operation.new_range());
                    }
                }
            }
            hunk.rows.iter().for_each(|row| diff.count(row.sign));
            diff.hunks.push(hunk);
        }
        diff
    }

    /// Reads the hunks of a unified diff; text before, between and behind them is passed over. Its line breaks are the
    /// diff's own, so that the last line of a cut diff may be missing, no more.
    pub fn parse(text: &'t str) -> Self {
        parse::parse(text)
    }

    /// How much changed: `+2 −1`.
    pub fn counts(&self, minus: &str) -> String {
        format!("+{} {minus}{}", self.added, self.removed)
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }

    fn count(&mut self, sign: Sign) {
        match sign {
            Sign::Same => {}
            Sign::Removed => self.removed += 1,
            Sign::Added => self.added += 1,
        }
    }
}

impl<'t> Hunk<'t> {
    fn take(&mut self, sign: Sign, lines: &[&'t str], range: Range<usize>) {
        let numbered = lines.get(range.clone()).unwrap_or_default().iter().zip(range.start + 1..);
        self.rows.extend(numbered.map(|(line, number)| {
            let text = line.strip_suffix('\n');
            Row { sign, number, text: text.unwrap_or(line), is_ended: text.is_some() }
        }));
    }
}
