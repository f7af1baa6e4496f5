//! Cleaning what a program prints for a terminal: bytes in any pieces become text without escape sequences, redraws
//! and control characters.
//!
//! Everything from outside that a model or a screen gets to see goes through here. It never keeps more than one line,
//! and of a long line nothing; it does not know colours, cursor movements or the width of a screen.

mod escape;

#[cfg(test)]
mod tests;

use unicode_segmentation::UnicodeSegmentation;

use super::visible;
use escape::Escape;

/// The longest line that is held back until it ends, in bytes. A progress bar is far shorter; what is longer is given
/// out as it comes, and a later redraw begins a new line.
const LINE_HELD: usize = 64 * 1024;

/// How many bytes the search for the next special character looks at in one step: a wide vector register, and not much
/// more than the text between two colours.
const SCAN_STEP: usize = 32;

/// Cleans bytes as they arrive. The text that comes out does not depend on how the bytes were cut into pieces.
///
/// * Invalid UTF-8 becomes U+FFFD.
/// * Escape sequences disappear; a string (a title, a picture) without its end disappears up to the end of its line.
/// * A carriage return lets the text after it replace the line, unless there is none; CRLF is a line break.
/// * A backspace takes a character off the line.
/// * Other control characters, except the tab, disappear.
#[derive(Debug, Default)]
pub struct Cleaner {
    /// The first bytes of a character whose rest has not come yet; at most 3.
    torn: Vec<u8>,
    escape: Escape,
    /// The line so far, which a redraw may still replace; empty while `long`.
    line: String,
    /// Whether the cursor stands at the beginning of the line: the next character replaces it.
    returned: bool,
    /// Whether the line was too long to hold and its beginning has been given out.
    long: bool,
}

impl Cleaner {
    /// Takes the next bytes and gives what is certain to `out`, in pieces of any length.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&str)) {
        let mut rest = self.mend(bytes, out);
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.text(text, out),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.text(std::str::from_utf8(valid).unwrap_or_default(), out);
                    let Some(length) = error.error_len() else {
                        self.torn.extend_from_slice(after);
                        return;
                    };
                    self.text("\u{fffd}", out);
                    rest = after.get(length..).unwrap_or_default();
                }
            }
        }
    }

    /// Gives out what is left. The cleaner is as new afterwards.
    pub fn finish(&mut self, out: &mut impl FnMut(&str)) {
        if !self.torn.is_empty() {
            self.text("\u{fffd}", out);
        }
        if !self.line.is_empty() {
            out(&self.line);
        }
        *self = Self::default();
    }

    /// The line that has not ended yet; empty where it is too long to hold.
    pub fn pending(&self) -> &str {
        &self.line
    }

    /// Completes the torn character with the first of `bytes`, and returns the others.
    fn mend<'a>(&mut self, mut bytes: &'a [u8], out: &mut impl FnMut(&str)) -> &'a [u8] {
        while !self.torn.is_empty() {
            let Some((first, rest)) = bytes.split_first() else { break };
            let mut torn = std::mem::take(&mut self.torn);
            torn.push(*first);
            match std::str::from_utf8(&torn) {
                Ok(text) => self.text(text, out),
                Err(error) if error.error_len().is_none() => self.torn = torn,
                Err(_) => {
                    // The new byte does not belong to the character; it is looked at again by itself.
                    self.text("\u{fffd}", out);
                    break;
                }
            }
            bytes = rest;
        }
        bytes
    }

    fn text(&mut self, mut text: &str, out: &mut impl FnMut(&str)) {
        while !text.is_empty() {
            if self.escape == Escape::None {
                let (plain, rest) = text.split_at(plain_prefix(text.as_bytes()));
                self.print(plain, out);
                text = rest;
            }
            let mut rest = text.chars();
            let Some(next) = rest.next() else { break };
            if self.escape == Escape::None {
                self.control(next);
                text = rest.as_str();
            } else if self.escape.takes(next) {
                text = rest.as_str();
            }
        }
    }

    /// Text without control characters other than line breaks and tabs.
    fn print(&mut self, plain: &str, out: &mut impl FnMut(&str)) {
        if plain.is_empty() {
            return;
        }
        if std::mem::take(&mut self.returned) && !plain.starts_with('\n') {
            self.line.clear();
            if std::mem::take(&mut self.long) {
                out("\n");
            }
        }
        let (ended, open) = plain.split_at(plain.rfind('\n').map_or(0, |at| at + 1));
        if !ended.is_empty() {
            self.give_line(out);
            out(ended);
            self.long = false;
        }
        if self.long || self.line.len() + open.len() > LINE_HELD {
            self.give_line(out);
            out(open);
            self.long = true;
        } else {
            self.line.push_str(open);
        }
    }

    fn give_line(&mut self, out: &mut impl FnMut(&str)) {
        if !self.line.is_empty() {
            out(&self.line);
            self.line.clear();
        }
    }

    fn control(&mut self, control: char) {
        match control {
            '\r' => self.returned = true,
            '\u{8}' if !self.returned => {
                let last = self.line.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
                self.line.truncate(last);
            }
            _ => self.escape = Escape::begun_by(control),
        }
    }
}

/// Cleans a whole text or its bytes.
pub fn clean(raw: impl AsRef<[u8]>) -> String {
    let raw = raw.as_ref();
    let mut text = String::with_capacity(raw.len());
    let mut cleaner = Cleaner::default();
    cleaner.push(raw, &mut |piece| text.push_str(piece));
    cleaner.finish(&mut |piece| text.push_str(piece));
    text
}

/// A whole text, cleaned, as one line: every run of blanks and line breaks is one blank, and what would still hide or turn
/// the reading direction is spelt. A carriage return is a blank too: a message replaces nothing of itself.
pub fn line(raw: &str) -> String {
    let text = clean(raw.replace('\r', "\n"));
    let words: Vec<&str> = text.split_whitespace().collect();
    visible::line(&words.join(" ")).into_owned()
}

/// How many bytes at the beginning of a valid UTF-8 text hold no control character but line breaks and tabs.
fn plain_prefix(text: &[u8]) -> usize {
    let mut start = 0;
    for step in text.chunks(SCAN_STEP) {
        // Without a way out in the middle the compiler makes vector code of it.
        let suspicious = step.iter().fold(false, |found, byte| found | may_begin_control(*byte));
        if suspicious {
            let found = step.iter().zip(start..).find(|(byte, at)| {
                may_begin_control(**byte) && (**byte != C1_LEAD || text.get(at + 1).is_some_and(|next| *next < 0xa0))
            });
            if let Some((_, at)) = found {
                return at;
            }
        }
        start += step.len();
    }
    text.len()
}

/// The first byte of U+0080 to U+00BF, the first half of which are the 8-bit control characters.
const C1_LEAD: u8 = 0xc2;

fn may_begin_control(byte: u8) -> bool {
    (byte < b' ') & (byte != b'\n') & (byte != b'\t') | (byte == 0x7f) | (byte == C1_LEAD)
}
