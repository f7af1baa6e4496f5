//! Reading the hunks of a unified diff, as `edit_file` returns it.
//!
//! What does not look like a diff is passed over: the text may have been cut, or be something else.

use super::{Diff, Hunk, Row, Sign};

/// The hunks in `text`.
pub(super) fn parse(text: &str) -> Diff<'_> {
    let mut diff = Diff::default();
    let mut open: Option<Open<'_>> = None;
    for line in text.lines() {
        if let Some(begun) = Open::begin(line) {
            diff.hunks.extend(open.replace(begun).map(|open| open.hunk));
            continue;
        }
        let Some(hunk) = &mut open else { continue };
        if line.starts_with('\\') {
            if let Some(last) = hunk.hunk.rows.last_mut() {
                last.is_ended = false;
            }
        } else if let Some(sign) = hunk.take(line) {
            diff.count(sign);
        } else {
            diff.hunks.extend(open.take().map(|open| open.hunk));
        }
    }
    diff.hunks.extend(open.map(|open| open.hunk));
    diff.hunks.retain(|hunk| !hunk.rows.is_empty());
    diff
}

/// A hunk whose lines are being read.
struct Open<'t> {
    hunk: Hunk<'t>,
    /// The numbers of the next old and new line.
    next: (usize, usize),
    /// How many old and new lines are still to come.
    left: (usize, usize),
}

impl<'t> Open<'t> {
    /// Of a header such as `@@ -12,5 +12,6 @@`.
    fn begin(header: &str) -> Option<Self> {
        let (old, rest) = header.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let extent = |text: &str| -> Option<(usize, usize)> {
            match text.split_once(',') {
                Some((start, length)) => Some((start.parse().ok()?, length.parse().ok()?)),
                None => Some((text.parse().ok()?, 1)),
            }
        };
        let ((old_start, old_length), (new_start, new_length)) = (extent(old)?, extent(new)?);
        // An empty stretch is named by the line before it.
        let first = |start: usize, length: usize| if length == 0 { start.saturating_add(1) } else { start };
        let next = (first(old_start, old_length), first(new_start, new_length));
        let hunk = Hunk { old_start: next.0.saturating_sub(1), rows: Vec::new() };
        Some(Self { hunk, next, left: (old_length, new_length) })
    }

    /// Takes the next line, or says that it does not belong to the hunk.
    fn take(&mut self, line: &'t str) -> Option<Sign> {
        let (sign, text) = match line.split_at_checked(1) {
            Some((" ", text)) => (Sign::Same, text),
            Some(("-", text)) => (Sign::Removed, text),
            Some(("+", text)) => (Sign::Added, text),
            // A blank line whose only space was taken off on the way.
            None => (Sign::Same, ""),
            Some(_) => return None,
        };
        let (old, new) = match sign {
            Sign::Same => (1, 1),
            Sign::Removed => (1, 0),
            Sign::Added => (0, 1),
        };
        self.left = (self.left.0.checked_sub(old)?, self.left.1.checked_sub(new)?);
        let number = if sign == Sign::Removed { self.next.0 } else { self.next.1 };
        self.next = (self.next.0.saturating_add(old), self.next.1.saturating_add(new));
        self.hunk.rows.push(Row { sign, number, text, is_ended: true });
        Some(sign)
    }
}
