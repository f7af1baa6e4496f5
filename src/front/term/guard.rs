//! What the terminal was like before, and bringing that back: once, from whichever thread it has to be.
//!
//! Waits for nobody longer than it says.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::termios::Termios;

use super::line::Line;
use super::modes::{Caret, Modes, raw};
use crate::product::error::Error;

/// A terminal that takes nothing for so long while it is left is given up.
const LEAVING: Duration = Duration::from_millis(500);
/// So long answers to questions are waited for while it is left, lest they are typed into the shell; a terminal at the
/// other end of an ssh takes about that.
const ANSWERS: Duration = Duration::from_millis(150);
/// So long the thread of the signals waits for one that is leaving already.
const OTHERS: Duration = Duration::from_secs(1);

/// The terminal and what is to be undone in it.
#[derive(Debug)]
pub struct Guard {
    line: Line,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Before we came, and what was switched on; `None` while the terminal is not ours.
    entered: Option<(Saved, Modes)>,
    caret: Caret,
    /// Whether what was written last may have ended in the middle.
    cut: bool,
    /// Whether it still owes us answers.
    asked: bool,
    /// Whether the process is about to end: nobody enters any more.
    over: bool,
}

struct Saved(Termios);

impl std::fmt::Debug for Saved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Saved")
    }
}

impl Guard {
    /// Of a terminal that is left alone for now.
    pub fn new(line: Line) -> Arc<Self> {
        Arc::new(Self { line, state: Mutex::default() })
    }

    /// The line to the terminal.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Makes it ours. Does nothing where it is already.
    ///
    /// # Errors
    ///
    /// When its settings cannot be read or set.
    pub fn enter(&self, modes: Modes) -> Result<(), Error> {
        let mut state = self.lock();
        if state.entered.is_some() || state.over {
            return Ok(());
        }
        let cannot = |error| Error::failed("the terminal cannot be set").caused_by(error);
        let saved = self.line.settings().map_err(cannot)?;
        self.line.set(&raw(&saved)).map_err(cannot)?;
        *state = State { entered: Some((Saved(saved), modes)), ..State::default() };
        let bytes = modes.on();
        state.cut = self.line.write_patiently(bytes.as_bytes(), LEAVING) < bytes.len();
        Ok(())
    }

    /// Sets it once more, after somebody else may have had it without our having left.
    pub fn enter_again(&self) {
        let state = self.lock();
        if let Some((Saved(saved), modes)) = &state.entered {
            // A terminal that cannot be set is gone, which reading will tell.
            let _ = self.line.set(&raw(saved));
            self.line.write_patiently(modes.again().as_bytes(), LEAVING);
        }
    }

    /// Whether it is ours, and will stay so for now.
    pub fn is_ours(&self) -> bool {
        let state = self.lock();
        state.entered.is_some() && !state.over
    }

    /// What the terminal looks like after all that was written, and whether some of that still waits.
    pub fn set_caret(&self, caret: Caret, cut: bool) {
        let mut state = self.lock();
        (state.caret, state.cut) = (caret, cut);
    }

    /// Whether what was written last may have ended in the middle.
    pub fn set_cut(&self, cut: bool) {
        self.lock().cut = cut;
    }

    /// Whether it owes us answers.
    pub fn set_asked(&self, asked: bool) {
        self.lock().asked = asked;
    }

    /// Brings back what was before. Does nothing where that has been done. Returns what had been switched on.
    pub fn leave(&self) -> Option<Modes> {
        self.restore(&mut self.lock())
    }

    /// The same, for the thread of the signals, just before the process ends.
    pub fn leave_for_good(&self) {
        let deadline = Instant::now() + OTHERS;
        loop {
            match self.state.try_lock() {
                Ok(mut state) => {
                    state.over = true;
                    self.restore(&mut state);
                    return;
                }
                Err(TryLockError::Poisoned(poisoned)) => {
                    self.restore(&mut poisoned.into_inner());
                    return;
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                Err(TryLockError::WouldBlock) => return,
            }
        }
    }

    fn restore(&self, state: &mut State) -> Option<Modes> {
        let (Saved(saved), modes) = state.entered.take()?;
        self.line.write_patiently(modes.off(state.caret, state.cut).as_bytes(), LEAVING);
        // From the background the shell's own settings are none of our business, and touching them would stop us.
        if self.line.is_in_front() {
            if state.asked {
                self.line.discard_until(holds_last_answer, ANSWERS);
            }
            // One that is gone needs no settings.
            let _ = self.line.set(&saved);
            self.line.forget_input();
        }
        (state.caret, state.cut, state.asked) = (Caret::FreshLine, false, false);
        Some(modes)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Whether the answer to the question that is asked last, device attributes, is there: `CSI ? … c`.
fn holds_last_answer(bytes: &[u8]) -> bool {
    let answers = bytes.windows(3).enumerate().filter(|(_, window)| *window == b"\x1b[?");
    answers.map(|(at, _)| bytes.get(at + 3..).unwrap_or_default()).any(|rest| {
        let mut behind = rest.iter().skip_while(|byte| byte.is_ascii_digit() || **byte == b';');
        behind.next() == Some(&b'c')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_is_known() {
        assert!(holds_last_answer(b"\x1b[?5u\x1b]11;rgb:0/0/0\x1b\\\x1b[?62;22c"));
        assert!(!holds_last_answer(b"\x1b[?5u\x1b[?62;22"));
        assert!(!holds_last_answer(b""));
    }
}
