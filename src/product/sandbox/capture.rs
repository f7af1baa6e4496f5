//! What is kept of a command's output: both ends in memory, counts and a fingerprint of all of it, the whole in a file
//! once the model will not see the whole.
//!
//! Memory stays the same however much is printed. What is cut for the model is decided in `kernel::truncate`.

#[cfg(test)]
mod tests;

use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use super::spill::Spill;
use crate::base::text::clean::Cleaner;
use crate::base::text::cut;
use crate::base::text::mask::{Mask, Masking};
use crate::kernel::tool::{Captured, Gap, Limits};

/// Characters kept at either end beyond what the model gets, so that the cut sees whole grapheme clusters around it.
const SLACK: usize = 256;

/// Pieces shorter than this, in bytes, are joined before they are looked at: coloured output comes in very small ones.
const JOINED_BELOW: usize = 4096;

/// Takes the raw output of a command as it comes.
pub struct Capture {
    cleaner: Cleaner,
    masking: Masking,
    /// Small pieces of the bytes being taken; empty in between.
    joined: String,
    kept: Kept,
    /// The unfinished line, as the last look showed it.
    shown: String,
}

/// What a capture came to.
#[derive(Debug)]
pub struct Outcome {
    /// The cleaned text, its middle missing where it was long.
    pub text: Captured,
    /// The file with all of it, where it exceeds the limits; else what the disk said.
    pub full_output: io::Result<Option<PathBuf>>,
    /// Of the whole cleaned text and the status.
    pub fingerprint: u64,
}

impl Capture {
    /// A capture that keeps what is needed to cut it to `limits`, and the whole in `folder` if it exceeds them;
    /// neither with what `mask` hides.
    pub fn new(limits: Limits, folder: &Path, mask: Mask) -> Self {
        Self::over(limits, Spill::new(folder), mask)
    }

    /// A capture of what is kept elsewhere already.
    pub fn of_kept(limits: Limits, mask: Mask) -> Self {
        Self::over(limits, Spill::never(), mask)
    }

    fn over(limits: Limits, spill: Spill, mask: Mask) -> Self {
        Self {
            cleaner: Cleaner::default(),
            masking: Masking::new(mask),
            joined: String::new(),
            kept: Kept::new(limits, spill),
            shown: String::new(),
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { cleaner, masking, joined, kept, shown: _ } = self;
        cleaner.push(bytes, &mut |piece| {
            if piece.len() < JOINED_BELOW {
                joined.push_str(piece);
            } else {
                take_joined(joined, masking, kept);
                masking.push(piece, &mut |shown| kept.add(shown));
            }
        });
        take_joined(joined, masking, kept);
    }

    /// The last line with something in it, as far as it is known.
    pub fn last_line(&self) -> &str {
        [self.cleaner.pending(), &self.kept.tail, &self.kept.head]
            .into_iter()
            .find_map(|text| text.lines().rev().map(str::trim).find(|line| !line.is_empty()))
            .unwrap_or_default()
    }

    /// Whether a look would show anything new.
    pub fn has_news(&self) -> bool {
        self.kept.bytes > 0 || self.unfinished() != self.shown
    }

    /// What came since the last look. A line that has not ended is shown as it stands, and again when it goes on.
    pub fn look(&mut self, status: &str) -> Outcome {
        let fresh = Kept::new(self.kept.limits, self.kept.spill.another());
        let mut kept = std::mem::replace(&mut self.kept, fresh);
        let unfinished = self.unfinished();
        if unfinished != self.shown {
            kept.add(&unfinished);
            self.shown = unfinished;
        }
        kept.fingerprint.write(status.as_bytes());
        kept.finish()
    }

    /// What the next look would show, and will.
    pub fn glance(&self) -> Captured {
        let mut text = self.kept.text();
        let end = if text.gap.is_some() { &mut text.tail } else { &mut text.head };
        end.push_str(&self.unfinished());
        text
    }

    /// The line that has not ended, as it can be shown; empty while something before it is held back.
    fn unfinished(&self) -> String {
        if self.masking.is_holding() {
            return String::new();
        }
        let mut line = self.cleaner.pending().to_owned();
        self.masking.mask().apply(&mut line);
        line
    }

    /// Ends the output. `status` tells how the command ended; it goes into the fingerprint.
    pub fn finish(self, status: &str) -> Outcome {
        let Self { mut cleaner, mut masking, joined: _, mut kept, shown: _ } = self;
        cleaner.finish(&mut |piece| masking.push(piece, &mut |shown| kept.add(shown)));
        masking.finish(&mut |shown| kept.add(shown));
        kept.fingerprint.write(status.as_bytes());
        kept.finish()
    }
}

fn take_joined(joined: &mut String, masking: &mut Masking, kept: &mut Kept) {
    masking.push(joined, &mut |shown| kept.add(shown));
    joined.clear();
}

/// The cleaned text.
struct Kept {
    limits: Limits,
    head: String,
    /// How many characters still go into the head.
    head_room: usize,
    /// What came last; up to twice `tail_bytes` before its beginning is dropped.
    tail: String,
    tail_bytes: usize,
    bytes: u64,
    chars: u64,
    line_breaks: u64,
    spill: Spill,
    fingerprint: XxHash3_64,
}

impl Kept {
    fn new(limits: Limits, spill: Spill) -> Self {
        let ends = limits.chars.div_ceil(2).saturating_add(SLACK);
        Self {
            limits,
            head: String::new(),
            head_room: ends,
            tail: String::new(),
            // Counted in bytes, of which a character has at most four: enough without counting.
            tail_bytes: ends.saturating_mul(4),
            bytes: 0,
            chars: 0,
            line_breaks: 0,
            spill,
            fingerprint: XxHash3_64::new(),
        }
    }

    fn add(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.bytes += piece.len() as u64;
        self.chars += count_chars(piece);
        self.line_breaks += count_breaks(piece);
        self.fingerprint.write(piece.as_bytes());
        if self.exceeds_limits(piece.ends_with('\n')) {
            // The ends are more than the limits, so that here they still hold everything.
            self.spill.begin(&[&self.head, &self.tail]);
        }
        self.spill.write(piece);

        let (first, rest) = cut::split_chars(piece, self.head_room);
        if !first.is_empty() {
            self.head.push_str(first);
            self.head_room -= first.chars().count();
        }
        if rest.len() >= self.tail_bytes {
            self.tail.clear();
            self.tail.push_str(cut::tail_bytes(rest, self.tail_bytes));
        } else {
            self.tail.push_str(rest);
            if self.tail.len() >= self.tail_bytes.saturating_mul(2) {
                let dropped = self.tail.len() - cut::tail_bytes(&self.tail, self.tail_bytes).len();
                self.tail.drain(..dropped);
            }
        }
    }

    fn exceeds_limits(&self, line_ended: bool) -> bool {
        let lines = self.line_breaks + u64::from(!line_ended);
        self.chars > self.limits.chars as u64 || lines > self.limits.lines as u64
    }

    fn finish(self) -> Outcome {
        Outcome { text: self.text(), full_output: self.spill.finish(), fingerprint: self.fingerprint.finish() }
    }

    fn text(&self) -> Captured {
        let Self { head, tail, .. } = self;
        let kept_bytes = (head.len() + tail.len()) as u64;
        if kept_bytes == self.bytes {
            return Captured::whole(format!("{head}{tail}"));
        }
        let gap = Gap {
            chars: self.chars - count_chars(head) - count_chars(tail),
            line_breaks: self.line_breaks - count_breaks(head) - count_breaks(tail),
        };
        Captured { head: head.clone(), gap: Some(gap), tail: tail.clone() }
    }
}

fn count_chars(text: &str) -> u64 {
    text.chars().count() as u64
}

fn count_breaks(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}
