//! What replacing pieces of a file changed, as a unified diff that any reader of diffs understands.
//!
//! It compares only the lines that the pieces touch, so its cost is that of the edit, not of the file.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;
use std::ops::Range;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag};

use crate::base::text::{cut, visible};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Pairs of lines or words a comparison may take at most; beyond, all of the old is taken as replaced. About 0.1 s.
const MOST_PAIRS: usize = 4_000_000;
/// Characters of a line that are shown; a line of a minified file would hide the others.
const LINE_CHARS: usize = 2_000;

/// Bytes after which a diff ends; far more than any model is shown.
const DIFF_BYTES: usize = 200_000;

/// A piece of a file to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice<'t> {
    /// The bytes that go.
    pub span: Range<usize>,
    /// The bytes that come.
    pub text: std::borrow::Cow<'t, [u8]>,
    /// Which edit it is of, from 0.
    pub edit: usize,
}

/// A change, for a reader.
#[derive(Debug, PartialEq, Eq)]
pub struct Changes {
    /// Hunks of a unified diff; no header with file names.
    pub diff: String,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
}

/// `content` with all pieces replaced. They are in order and do not overlap.
pub fn apply(content: &[u8], splices: &[Splice<'_>]) -> Vec<u8> {
    let went: usize = splices.iter().map(|splice| splice.span.len()).sum();
    let came: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut result = Vec::with_capacity((content.len() + came).saturating_sub(went));
    let mut at = 0;
    for Splice { span, text, edit: _ } in splices {
        result.extend_from_slice(content.get(at..span.start).unwrap_or_default());
        result.extend_from_slice(text);
        at = span.end;
    }
    result.extend_from_slice(content.get(at..).unwrap_or_default());
    result
}

/// The diff between `old` and `new`, where `new` is what [`apply`] made of `old`.
pub fn describe(old: &[u8], new: &[u8], splices: &[Splice<'_>]) -> Changes {
    let old = Lines::new(old);
    let new = Lines::new(new);
    let operations = line_operations(&old, &new, splices);
    let mut changes = Changes { diff: String::new(), added: 0, removed: 0 };
    for operation in &operations {
        if operation.tag() != DiffTag::Equal {
            changes.removed += operation.old_range().len();
            changes.added += operation.new_range().len();
        }
    }
    for hunk in similar::group_diff_ops(operations, CONTEXT) {
        if changes.is_long() {
            break;
        }
        changes.hunk(&old, &new, &hunk);
    }
    if changes.is_long() {
        changes.diff.push_str("(the rest of the diff is not shown)\n");
    }
    changes
}

/// The shortest way from `old` to `new`, or where that takes too long to find, a plain one.
pub fn operations<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_len, new_len) = (old_rest.len() - end, new_rest.len() - end);
    let mut operations = Vec::new();
    push(&mut operations, DiffOp::Equal { old_index: 0, new_index: 0, len: start });
    if old_len > 0 && new_len > 0 && old_len.saturating_mul(new_len) <= MOST_PAIRS {
        let (old, new) = (old_rest.get(..old_len).unwrap_or_default(), new_rest.get(..new_len).unwrap_or_default());
        for operation in compared(old, new) {
            push(&mut operations, shifted(operation, start, start));
        }
    } else if old_len > 0 || new_len > 0 {
        operations.push(DiffOp::Replace { old_index: start, old_len, new_index: start, new_len });
    }
    push(&mut operations, DiffOp::Equal { old_index: start + old_len, new_index: start + new_len, len: end });
    operations
}

/// What Myers' algorithm finds. Pieces are numbered first, so that the comparison is the same code whatever they are: it is
/// inlined into itself, and each kind of piece would make the program a tenth of a megabyte larger.
fn compared<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let mut numbers = HashMap::new();
    let mut number = |piece| {
        let next = numbers.len();
        *numbers.entry(piece).or_insert(next)
    };
    let old: Vec<usize> = old.iter().map(&mut number).collect();
    let new: Vec<usize> = new.iter().map(&mut number).collect();
    let mut found = Compact::new(Replace::new(Capture::new()), old.as_slice(), new.as_slice());
    // Nothing that is only kept can fail.
    let _ = myers::diff(&mut found, old.as_slice(), 0..old.len(), new.as_slice(), 0..new.len());
    found.into_inner().into_inner().into_ops()
}

/// Line operations over both files: equal between the blocks of lines that pieces touch, compared within them.
fn line_operations(old: &Lines<'_>, new: &Lines<'_>, splices: &[Splice<'_>]) -> Vec<DiffOp> {
    let mut operations = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for (old_block, new_block) in blocks(old, new, splices) {
        let len = old_block.start - old_at;
        push(&mut operations, DiffOp::Equal { old_index: old_at, new_index: new_at, len });
        let (old_lines, new_lines) = (old.slices(&old_block), new.slices(&new_block));
        let inner = self::operations(&old_lines, &new_lines);
        for operation in inner {
            push(&mut operations, shifted(operation, old_block.start, new_block.start));
        }
        (old_at, new_at) = (old_block.end, new_block.end);
    }
    push(&mut operations, DiffOp::Equal { old_index: old_at, new_index: new_at, len: old.count() - old_at });
    operations
}

/// Appends an operation; equal stretches that meet become one, which is what grouping into hunks expects.
fn push(operations: &mut Vec<DiffOp>, operation: DiffOp) {
    match (operations.last_mut(), operation) {
        (_, DiffOp::Equal { len: 0, .. }) => {}
        (Some(DiffOp::Equal { len: before, .. }), DiffOp::Equal { len, .. }) => *before += len,
        (_, operation) => operations.push(operation),
    }
}

/// The lines that pieces touch, before and after; blocks that meet are one.
fn blocks(old: &Lines<'_>, new: &Lines<'_>, splices: &[Splice<'_>]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut blocks: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut went, mut came) = (0, 0);
    for Splice { span, text, edit: _ } in splices {
        let start = span.start - went + came;
        went += span.len();
        came += text.len();
        let old_block = old.touched(span);
        let new_block = new.touched(&(start..start + text.len()));
        match blocks.last_mut() {
            Some((last_old, last_new)) if last_old.end >= old_block.start => {
                last_old.end = last_old.end.max(old_block.end);
                last_new.end = last_new.end.max(new_block.end);
            }
            _ => blocks.push((old_block, new_block)),
        }
    }
    blocks
}

fn shifted(operation: DiffOp, old_by: usize, new_by: usize) -> DiffOp {
    match operation {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + old_by, new_index: new_index + new_by, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + old_by, old_len, new_index: new_index + new_by }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + old_by, new_index: new_index + new_by, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            DiffOp::Replace { old_index: old_index + old_by, old_len, new_index: new_index + new_by, new_len }
        }
    }
}

impl Changes {
    fn is_long(&self) -> bool {
        self.diff.len() > DIFF_BYTES
    }

    fn hunk(&mut self, old: &Lines<'_>, new: &Lines<'_>, operations: &[DiffOp]) {
        let (Some(first), Some(last)) = (operations.first(), operations.last()) else {
            return;
        };
        let olds = first.old_range().start..last.old_range().end;
        let news = first.new_range().start..last.new_range().end;
        // Writing to a String cannot fail.
        let _ = writeln!(self.diff, "@@ -{} +{} @@", extent(&olds), extent(&news));
        for operation in operations {
            match operation.tag() {
                DiffTag::Equal => self.lines(' ', old, operation.old_range()),
                DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                    self.lines('-', old, operation.old_range());
                    self.lines('+', new, operation.new_range());
                }
            }
        }
    }

    fn lines(&mut self, sign: char, lines: &Lines<'_>, range: Range<usize>) {
        for line in lines.slices(&range) {
            if self.is_long() {
                return;
            }
            self.diff.push(sign);
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text));
            visible::push(&cut::ellipsis(&text, LINE_CHARS), &mut self.diff);
            self.diff.push('\n');
            if !line.ends_with(b"\n") {
                self.diff.push_str("\\ No newline at end of file\n");
            }
        }
    }
}

/// A range of lines as hunks spell it: from 1, or the line before an empty range.
fn extent(range: &Range<usize>) -> String {
    if range.is_empty() { format!("{},0", range.start) } else { format!("{},{}", range.start + 1, range.len()) }
}

/// Where the lines of a text begin.
struct Lines<'c> {
    content: &'c [u8],
    /// After a last line end, one more line begins, which has nothing in it and does not count.
    starts: Vec<usize>,
}

impl<'c> Lines<'c> {
    fn new(content: &'c [u8]) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', content).map(|at| at + 1));
        Self { content, starts: starts.collect() }
    }

    fn count(&self) -> usize {
        self.starts.len() - usize::from(self.starts.last() == Some(&self.content.len()))
    }

    /// The lines from that where `span` starts to that where it ends.
    fn touched(&self, span: &Range<usize>) -> Range<usize> {
        let line_after = |at: usize| self.starts.partition_point(|start| *start <= at);
        line_after(span.start) - 1..line_after(span.end).min(self.count())
    }

    fn slices(&self, range: &Range<usize>) -> Vec<&'c [u8]> {
        let end_of = |line: usize| self.starts.get(line + 1).copied().unwrap_or(self.content.len());
        let starts = self.starts.get(range.clone()).unwrap_or_default().iter().zip(range.clone());
        starts.map(|(start, line)| self.content.get(*start..end_of(line)).unwrap_or_default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn splice(span: Range<usize>, text: &str) -> Splice<'_> {
        Splice { span, text: text.as_bytes().into(), edit: 0 }
    }

    fn change(old: &str, splices: &[Splice<'_>]) -> (String, Changes) {
        let new = apply(old.as_bytes(), splices);
        let changes = describe(old.as_bytes(), &new, splices);
        (String::from_utf8(new).unwrap(), changes)
    }

    /// What a reader of the diff would make of the old text.
    fn patched(old: &str, diff: &str) -> String {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let mut new = String::new();
        let mut at = 0;
        let mut lines = diff.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(header) = line.strip_prefix("@@ -") {
                let (start, rest) = header.split_once(',').unwrap();
                let length: usize = rest.split(' ').next().unwrap().parse().unwrap();
                let start = start.parse::<usize>().unwrap() - usize::from(length > 0);
                new.extend(old[at..start].iter().copied());
                at = start;
                continue;
            }
            let (sign, text) = line.split_at(1);
            let end = if lines.next_if(|next| next.starts_with('\\')).is_some() { "" } else { "\n" };
            if sign != "+" {
                assert_eq!(old[at], format!("{text}{end}"));
                at += 1;
            }
            if sign != "-" {
                new.push_str(text);
                new.push_str(end);
            }
        }
        new.extend(old[at..].iter().copied());
        new
    }

    #[test]
    fn far_changes_are_hunks_of_their_own() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let (_, changes) = change(&old, &[splice(2..4, ""), splice(45..47, "19\nmore")]);
        assert_eq!((changes.added, changes.removed), (1, 1));
        insta::assert_snapshot!(changes.diff, @r"
        @@ -1,5 +1,4 @@
         1
        -2
         3
         4
         5
        @@ -17,4 +16,5 @@
         17
         18
         19
        +more
         20
        ");
    }

    #[test]
    fn a_comparison_that_would_take_too_long_is_not_made() {
        let old: Vec<u32> = (0..3_000).collect();
        let new: Vec<u32> = (10_000..13_000).collect();
        let replace = DiffOp::Replace { old_index: 0, old_len: 3_000, new_index: 0, new_len: 3_000 };
        assert_eq!(operations(&old, &new), [replace]);
    }

    #[test]
    fn an_endless_diff_ends() {
        for between in [".\n.\n.\n.\n.\n.\n.\n", ".\n"] {
            let old = format!("x\n{between}").repeat(30_000);
            let places: Vec<_> = old.match_indices('x').map(|(at, _)| splice(at..at + 1, "y")).collect();
            let (_, changes) = change(&old, &places);
            assert_eq!((changes.added, changes.removed), (30_000, 30_000));
            assert!(changes.diff.len() < DIFF_BYTES + 200 && changes.diff.ends_with(" not shown)\n"));
        }
    }

    proptest! {
        #[test]
        fn a_diff_applied_is_the_edit(old in "[ab\n]{0,40}", cuts in proptest::collection::vec((0usize..41, "[abc\n]{0,6}"), 0..8)) {
            let mut places: Vec<usize> = cuts.iter().map(|(at, _)| (*at).min(old.len())).collect();
            places.sort_unstable();
            places.dedup();
            let splices: Vec<_> = places.chunks_exact(2).zip(&cuts)
                .map(|(pair, (_, text))| splice(pair[0]..pair[1], text)).collect();
            let (new, changes) = change(&old, &splices);
            prop_assert_eq!(patched(&old, &changes.diff), new);
        }
    }
}
