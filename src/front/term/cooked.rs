//! A terminal that keeps its own line editing and echo: lines in, plain text out, nothing switched and nothing to undo.
//!
//! Like [`super::tty`] it waits in one place and never for its reader. What a line means is not known here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::line::{Line, Moved, ready};
use super::mailbox::Wake;
use crate::base::cancel::Registration;
use crate::front::stop::Stop;
use crate::product::error::Error;

/// Read at a time: a line of a terminal has at most 4 KB (termios(3)).
const INPUT_BYTES: usize = 8 * 1024;
/// While the terminal is left, what waits to be written is given up when none of it moves for so long.
const LEAVING: Duration = Duration::from_millis(500);

/// Why the wait is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The program is to end. Told once.
    Stop,
    /// An INT came.
    Interrupt,
    /// A line came.
    Line {
        /// The line, without its end.
        text: String,
        /// Whether it was there, or begun, at the last [`Cooked::mark`].
        ahead: bool,
    },
    /// There will be no more lines. Told by every wait from then on.
    End,
    /// The mailbox has something, until it is drained.
    Mail,
    /// The deadline is there.
    Due,
}

/// The terminal on standard input and output.
pub struct Cooked {
    line: Line,
    /// For signals.
    wake: Wake,
    stop: Stop,
    _on_cancel: Registration,
    interrupted: Arc<AtomicBool>,
    told_stop: bool,
    ended: bool,
    /// Lines that were read, and whether they were there at the last mark.
    lines: VecDeque<(Vec<u8>, bool)>,
    /// A line without its end, and whether it was begun at the last mark.
    begun: (Vec<u8>, bool),
    /// What the terminal had no room for.
    backlog: Vec<u8>,
}

impl Cooked {
    /// The terminal on standard input and output. From now on an INT is told by [`Cooked::wait`], and ends the program
    /// only if the one before has not been looked at.
    ///
    /// # Errors
    ///
    /// When the system has no descriptor left.
    pub fn open(stop: &Stop) -> Result<Self, Error> {
        let cannot = |error| Error::failed("the terminal cannot be opened").caused_by(error);
        let line = Line::stdio().map_err(cannot)?;
        let wake = Wake::new().map_err(cannot)?;
        let waker = wake.waker();
        let on_cancel = stop.cancel().on_cancel(move || waker.wake());
        let interrupted = Arc::new(AtomicBool::new(false));
        let (waker, pending) = (wake.waker(), Arc::clone(&interrupted));
        stop.set_taker(Some(Box::new(move || {
            let taken = !pending.swap(true, Ordering::SeqCst);
            waker.wake();
            taken
        })));
        let (lines, begun, backlog) = (VecDeque::new(), (Vec::new(), false), Vec::new());
        let stop = stop.clone();
        let (told_stop, ended) = (false, false);
        Ok(Self { line, wake, stop, _on_cancel: on_cancel, interrupted, told_stop, ended, lines, begun, backlog })
    }

    /// Columns of the terminal, where it knows.
    pub fn columns(&self) -> Option<u16> {
        self.line.size().map(|(columns, _)| columns)
    }

    /// Writes text; what there is no room for is written while the caller waits.
    pub fn write(&mut self, text: &str) {
        self.backlog.extend_from_slice(text.as_bytes());
        self.send();
    }

    /// From now on what has been typed so far is told to have been typed ahead.
    pub fn mark(&mut self) {
        while !self.ended
            && ready(&mut [PollFd::from_borrowed_fd(self.line.input(), PollFlags::IN)], Some(Instant::now()))
        {
            if !self.read() {
                break;
            }
        }
        self.lines.iter_mut().for_each(|(_, ahead)| *ahead = true);
        self.begun.1 = !self.begun.0.is_empty();
    }

    /// Waits until something happens; costs nothing until then.
    pub fn wait(&mut self, mail: &Wake, deadline: Option<Instant>) -> Woken {
        loop {
            if self.stop.cancel().is_cancelled() && !self.told_stop {
                self.told_stop = true;
                return Woken::Stop;
            }
            if self.interrupted.swap(false, Ordering::SeqCst) {
                return Woken::Interrupt;
            }
            if let Some((line, ahead)) = self.lines.pop_front() {
                let text = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
                return Woken::Line { text, ahead };
            }
            if self.ended {
                return Woken::End;
            }
            let mut polled = [
                PollFd::new(&self.wake, PollFlags::IN),
                PollFd::from_borrowed_fd(self.line.input(), PollFlags::IN),
                PollFd::new(mail, PollFlags::IN),
                PollFd::from_borrowed_fd(self.line.output(), PollFlags::OUT),
            ];
            let count = polled.len() - usize::from(self.backlog.is_empty());
            let some = polled.get_mut(..count).is_some_and(|polled| ready(polled, deadline));
            let [wake, input, letters, output] = polled.map(|one| some && !one.revents().is_empty());
            if wake {
                self.wake.clear();
                continue;
            }
            if output && !self.backlog.is_empty() {
                self.send();
            }
            if input {
                self.read();
            } else if letters {
                return Woken::Mail;
            } else if !some && deadline.is_some() {
                return Woken::Due;
            }
        }
    }

    /// Writes what still waits, as far as the terminal takes it, and lets INT be what it was.
    pub fn leave(mut self) {
        let backlog = std::mem::take(&mut self.backlog);
        self.line.write_patiently(&backlog, LEAVING);
        self.stop.set_taker(None);
    }

    /// Reads once. Returns whether there was anything.
    fn read(&mut self) -> bool {
        let mut buffer = [0; INPUT_BYTES];
        match self.line.read(&mut buffer) {
            Moved::Bytes(count) => {
                let mut rest = buffer.get(..count).unwrap_or_default();
                while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                    let (line, after) = rest.split_at(end);
                    let (mut whole, ahead) = std::mem::take(&mut self.begun);
                    whole.extend_from_slice(line);
                    self.lines.push_back((whole, ahead));
                    rest = after.get(1..).unwrap_or_default();
                }
                self.begun.0.extend_from_slice(rest);
                true
            }
            Moved::Nothing => false,
            Moved::Gone => {
                self.ended = true;
                false
            }
        }
    }

    fn send(&mut self) {
        let mut sent = 0;
        while let Some(rest) = self.backlog.get(sent..).filter(|rest| !rest.is_empty()) {
            match self.line.write(rest) {
                Moved::Bytes(count) => sent += count,
                Moved::Nothing => break,
                Moved::Gone => {
                    self.ended = true;
                    sent = self.backlog.len();
                }
            }
        }
        self.backlog.drain(..sent);
    }
}
