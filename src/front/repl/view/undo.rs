//! What taking a turn back would do, and what was done: files, what is refused and why, and where the conversation goes.
//!
//! Finds words for a plan and decides nothing.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::diff::{Diff, Fold, Numbers};
use super::row::{cut_path, indented, plain, room, spread};
use super::{Block, Look};
use crate::base::text::numbers::count;
use crate::base::text::width::{cut, width};

/// Columns before the line of a file.
const INDENT: usize = 2;
/// Columns of the word for what is done: the longest has eight, and a gap of two.
const WORD_COLUMNS: usize = 10;
/// Files that are shown; more are counted.
const MOST_FILES: usize = 40;
/// Files whose changes are shown line by line; of more, nobody reads them.
const MOST_DIFFS: usize = 12;

/// What would become of a file, or became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File<'a> {
    /// Its path, relative to the workspace.
    pub path: &'a str,
    /// What is done.
    pub change: Change<'a>,
    /// The text as it is now, where it is one.
    pub before: Option<&'a str>,
    /// The text as it will be, likewise.
    pub after: Option<&'a str>,
}

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// It gets back what it had.
    Restore,
    /// It is made again.
    Create,
    /// It is removed.
    Delete,
    /// It was changed since, and those changes stay.
    Merge,
    /// Nothing, for this reason.
    Refused(&'a str),
}

/// The files of a plan, each with what is done and how its text changes.
pub fn files(files: &[File<'_>], look: &Look) -> Block {
    let mut block = Block::new();
    for (number, file) in files.iter().take(MOST_FILES).enumerate() {
        block.extend(one(file, number < MOST_DIFFS, look));
    }
    if let Some(more) = files.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
        let text = format!("{} and {} more", look.glyphs.ellipsis, count(more as u64, "file"));
        block.push(indented(INDENT, text, look.theme.dim));
    }
    block
}

fn one(file: &File<'_>, shows_diff: bool, look: &Look) -> Block {
    let File { path, change, before, after } = file;
    let (word, style) = word(*change, look);
    let diff = Diff::between(*before, after.unwrap_or_default());
    let is_refused = matches!(change, Change::Refused(_));
    let fact = match is_refused || diff.is_empty() {
        true => String::new(),
        false => diff.counts(look.glyphs.minus),
    };
    let mut left = vec![Span::raw(" ".repeat(INDENT)), Span::styled(format!("{word:<WORD_COLUMNS$}"), style)];
    let path = cut_path(&plain(path), room(INDENT + WORD_COLUMNS, &fact, look), look.glyphs.ellipsis);
    left.push(Span::raw(path));
    let mut block = vec![spread(left, Span::styled(fact, look.theme.dim), look)];
    match change {
        Change::Refused(reason) => block.push(indented(INDENT * 2, plain(reason), look.theme.dim)),
        Change::Restore | Change::Create | Change::Delete | Change::Merge if shows_diff && !diff.is_empty() => {
            block.extend(diff.lines(Fold::Folded, Numbers::Shown, look));
        }
        Change::Restore | Change::Create | Change::Delete | Change::Merge => {}
    }
    block
}

fn word(change: Change<'_>, look: &Look) -> (&'static str, Style) {
    match change {
        Change::Restore => ("restore", look.theme.verb),
        Change::Create => ("create", look.theme.verb),
        Change::Delete => ("delete", look.theme.verb),
        Change::Merge => ("merge", look.theme.verb),
        Change::Refused(_) => ("refused", look.theme.failure),
    }
}

/// A line that says what is taken back: its beginning in the person's words.
pub fn title(words: &str, said: Option<&str>, look: &Look) -> Line<'static> {
    let said = said.map(|said| format!(": {}", plain(said))).unwrap_or_default();
    indented(
        INDENT,
        cut(&format!("{words}{said}"), look.width.saturating_sub(INDENT).max(width(words)), look.glyphs.ellipsis),
        Style::new(),
    )
}

/// Whether something is still to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tense {
    /// It will be done.
    Planned,
    /// It was.
    Done,
}

/// How many files meet each fate, in words: `2 files restored, 1 merged, 1 refused`.
pub fn summary(changes: &[Change<'_>], tense: Tense) -> String {
    let of = |fate: fn(&Change<'_>) -> bool| changes.iter().filter(|change| fate(change)).count() as u64;
    let [restored, created, deleted, merged] = match tense {
        Tense::Planned => ["to restore", "to create", "to delete", "to merge"],
        Tense::Done => ["restored", "created", "deleted", "merged"],
    };
    let counts = [
        (of(|change| matches!(change, Change::Restore)), restored),
        (of(|change| matches!(change, Change::Create)), created),
        (of(|change| matches!(change, Change::Delete)), deleted),
        (of(|change| matches!(change, Change::Merge)), merged),
        (of(|change| matches!(change, Change::Refused(_))), "refused"),
    ];
    let mut parts = Vec::new();
    for (number, fate) in counts.into_iter().filter(|(number, _)| *number > 0) {
        parts.push(if parts.is_empty() {
            format!("{} {fate}", count(number, "file"))
        } else {
            format!("{number} {fate}")
        });
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::view::testing::{assert_committed, look, picture};

    fn plan() -> [File<'static>; 5] {
        let file = |path, change, before, after| File { path, change, before, after };
        [
            file("src/calc.sh", Change::Restore, Some("a\nb\nc\n"), Some("a\nB\nc\n")),
            file("notes.md", Change::Merge, Some("mine\nx\n"), Some("mine\n")),
            file("new.txt", Change::Delete, Some("one\ntwo\n"), None),
            file("gone \u{1b}[2J.bin", Change::Create, None, None),
            file("src/other.rs", Change::Refused("it was changed since, and in the same lines"), None, None),
        ]
    }

    #[test]
    fn a_plan_at_three_widths() {
        for width in [40, 80, 120] {
            let block = files(&plan(), &look(width));
            assert_committed(&block);
            insta::assert_snapshot!(format!("plan_{width}"), picture(&block));
        }
        let title = title("the last turn", Some("fix\u{1b} it"), &look(80));
        assert_eq!(title.to_string(), "  the last turn: fix␛ it");
    }

    #[test]
    fn fates_are_counted() {
        let changes: Vec<Change<'_>> = plan().into_iter().map(|file| file.change).chain([Change::Restore]).collect();
        assert_eq!(summary(&changes, Tense::Done), "2 files restored, 1 created, 1 deleted, 1 merged, 1 refused");
        assert_eq!(summary(&[Change::Merge], Tense::Planned), "1 file to merge");
        assert_eq!(summary(&[], Tense::Done), "");
        let many = vec![File { path: "x", change: Change::Restore, before: None, after: None }; MOST_FILES + 2];
        assert!(picture(&files(&many, &look(80))).contains("and 2 files more"));
    }
}
