//! One line typed where nobody sees it: a key. The terminal is set for that, and set back however it ends.
//!
//! Keeps nothing of it, and does not know what it is for.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::guard::Guard;
use super::line::{Line, Moved, ready};
use super::mailbox::Wake;
use super::modes::Modes;
use crate::front::stop::Stop;
use crate::product::auth::secret::Secret;
use crate::product::error::Error;

/// Read at a time.
const INPUT_BYTES: usize = 4096;
/// No line that is meant is longer, in bytes.
const LINE_BYTES: usize = 64 << 10;
/// A terminal that takes nothing for so long is not waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// How the line ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// With Enter.
    Line(Secret),
    /// There was none: Ctrl-D, the end of the input.
    Nothing,
    /// Ctrl-C, or a signal.
    Stopped,
}

/// Asks on the terminal of standard input. Nothing that is typed is shown, nor can it be suspended half-way: the terminal
/// would show it afterwards.
///
/// # Errors
///
/// When the terminal cannot be had or set.
pub fn read(question: &str, stop: &Stop) -> Result<Typed, Error> {
    let cannot = |error| Error::failed("the terminal cannot be opened").caused_by(error);
    // Where it is typed it is asked, wherever the output goes.
    let line = Line::of(rustix::stdio::stdin(), rustix::stdio::stdin()).map_err(cannot)?;
    let wake = Wake::new().map_err(cannot)?;
    let waker = wake.waker();
    let _on_cancel = stop.cancel().on_cancel(move || waker.wake());
    let guard = Guard::new(line);
    let last = std::sync::Arc::clone(&guard);
    stop.set_last_act(Some(Box::new(move || last.leave_for_good())));
    guard.enter(Modes::default())?;
    let leaving = Leaving { guard: &guard, stop };
    guard.line().write_patiently(question.as_bytes(), PATIENCE);
    let typed = follow(guard.line(), &wake, stop);
    guard.line().write_patiently(b"\r\n", PATIENCE);
    drop(leaving);
    Ok(typed)
}

/// Sets the terminal back.
struct Leaving<'a> {
    guard: &'a Guard,
    stop: &'a Stop,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.guard.leave();
        self.stop.set_last_act(None);
    }
}

fn follow(line: &Line, wake: &Wake, stop: &Stop) -> Typed {
    let mut entry = Entry::default();
    let mut buffer = [0; INPUT_BYTES];
    loop {
        let mut polled = [PollFd::new(wake, PollFlags::IN), PollFd::from_borrowed_fd(line.input(), PollFlags::IN)];
        ready(&mut polled, None);
        if stop.cancel().is_cancelled() {
            return Typed::Stopped;
        }
        match line.read(&mut buffer) {
            Moved::Bytes(count) => {
                if let Some(typed) = entry.take(buffer.get(..count).unwrap_or_default()) {
                    return typed;
                }
            }
            Moved::Nothing => {}
            Moved::Gone => return Typed::Nothing,
        }
    }
}

/// What has been typed so far.
#[derive(Default)]
struct Entry {
    bytes: Vec<u8>,
    escape: Escape,
}

/// How much of a control sequence has come: arrows, and the brackets that a terminal may still put around a paste.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    Inside,
}

impl Entry {
    /// Takes bytes in; what they end in, if they do. An Enter before anything else is one that a paste began with.
    fn take(&mut self, bytes: &[u8]) -> Option<Typed> {
        for (place, byte) in bytes.iter().enumerate() {
            match (self.escape, byte) {
                (_, 0x03) => return Some(Typed::Stopped),
                (Escape::Begun, b'[' | b'O') => self.escape = Escape::Inside,
                (Escape::Begun, _) => self.escape = Escape::None,
                (Escape::Inside, 0x40..=0x7e) => self.escape = Escape::None,
                (Escape::Inside, 0x20..=0x3f) => {}
                (Escape::None, 0x1b) => self.escape = Escape::Begun,
                (Escape::Inside | Escape::None, 0x04) if self.bytes.is_empty() => return Some(Typed::Nothing),
                (Escape::Inside | Escape::None, b'\r' | b'\n') => {
                    let is_led = self.bytes.iter().all(u8::is_ascii_whitespace) && place + 1 < bytes.len();
                    if !is_led {
                        let text = String::from_utf8_lossy(&self.bytes).into_owned();
                        return Some(Typed::Line(Secret::new(&text)));
                    }
                }
                (Escape::Inside | Escape::None, 0x08 | 0x7f) => self.erase(),
                // Ctrl-U and Ctrl-W: whoever cannot see the words begins anew.
                (Escape::Inside | Escape::None, 0x15 | 0x17) => self.bytes.clear(),
                (Escape::Inside | Escape::None, byte) => {
                    if self.bytes.len() < LINE_BYTES {
                        self.bytes.push(*byte);
                    }
                }
            }
        }
        None
    }

    /// Takes the last character out, of however many bytes.
    fn erase(&mut self) {
        while self.bytes.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What pieces of input end in.
    fn typed(pieces: &[&str]) -> Option<Typed> {
        let mut entry = Entry::default();
        pieces.iter().find_map(|piece| entry.take(piece.as_bytes()))
    }

    fn line(text: &str) -> Option<Typed> {
        Some(Typed::Line(Secret::new(text)))
    }

    #[test]
    fn a_line_is_what_was_typed_or_pasted() {
        assert_eq!(typed(&["k", "-1", "\r"]), line("k-1"));
        assert_eq!(typed(&["  k-1 \n"]), line("k-1"));
        assert_eq!(typed(&["\n\r\nk-1\nmore"]), line("k-1"), "a paste begins where it begins");
        assert_eq!(typed(&["\u{1b}[200~k-1\u{1b}[201~", "\r"]), line("k-1"));
        assert_eq!(typed(&["\u{1b}", "[A", "\u{1b}OBk\r"]), line("k"));
        assert_eq!(typed(&["\r"]), line(""));
        assert_eq!(typed(&["k-1"]), None);
    }

    #[test]
    fn keys_that_mend_and_end() {
        assert_eq!(typed(&["kä\u{7f}x\u{7f}\u{7f}-\r"]), line("-"));
        assert_eq!(typed(&["\u{7f}\u{8}k\r"]), line("k"));
        assert_eq!(typed(&["wrong\u{15}k\r"]), line("k"));
        assert_eq!(typed(&["k\u{3}"]), Some(Typed::Stopped));
        assert_eq!(typed(&["\u{4}"]), Some(Typed::Nothing));
        assert_eq!(typed(&["k\u{4}\r"]), line("k\u{4}"), "no key, which is said afterwards");
        assert_eq!(typed(&[&"k".repeat(LINE_BYTES * 2), "\r"]), line(&"k".repeat(LINE_BYTES)));
    }
}
