//! The terminal while it is ours: entering and leaving, waiting for whatever comes next, reading, writing.
//!
//! One thread has it. It never waits but in [`Tty::wait`] (and, where there is nobody to wait for, in [`Tty::suspend`] and
//! [`Tty::lend`]); it decides nothing about what is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use tokio::signal::unix::SignalKind;

use super::guard::Guard;
use super::job;
use super::line::{Line, Moved, ready};
use super::mailbox::{Wake, Waker};
use super::modes::{Caret, Modes};
use rustix::termios::SpecialCodeIndex;

use crate::base::cancel::Registration;
use crate::base::env::Env;
use crate::front::stop::Stop;
use crate::product::error::Error;

/// Read at a time: 64 KB.
const INPUT_BYTES: usize = 64 * 1024;
/// A read that gave less has emptied the terminal's own buffer, of 4 KB on Linux.
const MORE_BYTES: usize = 1024;
/// While the terminal is left, what waits to be written is given up when none of it moves for so long.
const LEAVING: Duration = Duration::from_millis(500);
/// After a continuation, so long the shell may take to give us the terminal, or a signal to end us to be heard.
const SHELL: Duration = Duration::from_millis(100);
/// Where neither the terminal nor the environment knows (DEC VT100).
const NO_SIZE: Size = Size { columns: 80, rows: 24 };

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Cells in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// Why the wait is over. One reason at a time, the first of this list that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The task is to end. Told once.
    Stop,
    /// The terminal is no more. Told by every wait from then on.
    Gone,
    /// Somebody wants us to stop for a while: leave the screen as it should stay, and call [`Tty::suspend`].
    Suspend,
    /// The terminal is ours again and may show anything: read the size, paint all.
    Resumed,
    /// The size may have changed.
    Resized,
    /// Bytes came: [`Tty::input`].
    Input,
    /// All that had waited has been written; painting makes sense again.
    Written,
    /// The mailbox has something, until it is drained.
    Mail,
    /// The deadline is there.
    Due,
}

/// Whether mail wakes.
#[derive(Clone, Copy, Debug)]
pub enum Mail<'a> {
    /// It does, at once.
    Wakes(&'a Wake),
    /// It can wait until the deadline, or until something else comes.
    Rests,
}

/// What came of a wish to stop for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspended {
    /// It was done; the next wait says what is now.
    Done,
    /// No shell would ever wake us. Nothing was done.
    NoShell,
}

/// What the signals have left.
#[derive(Debug, Default)]
struct Heard {
    resized: AtomicBool,
    suspend: AtomicBool,
    continued: AtomicBool,
    /// Whether another program has the terminal.
    lent: AtomicBool,
}

/// The terminal on standard input and output. Dropping it leaves it as it was found.
pub struct Tty {
    guard: Arc<Guard>,
    heard: Arc<Heard>,
    /// For signals, and the switch that stops the task.
    wake: Wake,
    stop: Stop,
    _on_cancel: Registration,
    /// Whether continuations are heard: else nobody must stop.
    hears: bool,
    told_stop: bool,
    gone: bool,
    resumed: bool,
    input: Box<[u8]>,
    filled: usize,
    /// What the terminal had no room for, and how much of it has gone.
    backlog: Vec<u8>,
    sent: usize,
    /// Where the terminal does not know its size.
    size: Size,
    #[cfg(test)]
    polls: usize,
}

impl Tty {
    /// The terminal on standard input and output, untouched yet; the caller has seen that both are one. Signals are heard
    /// if `stop` listens.
    ///
    /// # Errors
    ///
    /// When the system has no descriptor left.
    pub fn open(env: &Env, stop: &Stop) -> Result<Self, Error> {
        let line = Line::stdio().map_err(|error| Error::failed("the terminal cannot be opened").caused_by(error))?;
        Self::on(line, env, stop)
    }

    fn on(line: Line, env: &Env, stop: &Stop) -> Result<Self, Error> {
        let wake = Wake::new().map_err(|error| Error::failed("no descriptor is left").caused_by(error))?;
        let heard = Arc::new(Heard::default());
        let hears = listen(stop, &heard, &wake.waker())?;
        let waker = wake.waker();
        let on_cancel = stop.cancel().on_cancel(move || waker.wake());
        let guard = Guard::new(line);
        let last = Arc::clone(&guard);
        stop.set_last_act(Some(Box::new(move || last.leave_for_good())));
        let number =
            |name, other| env.var(name).and_then(|value| value.parse().ok()).filter(|n| *n > 0).unwrap_or(other);
        let size = Size { columns: number("COLUMNS", NO_SIZE.columns), rows: number("LINES", NO_SIZE.rows) };
        Ok(Self {
            guard,
            heard,
            wake,
            stop: stop.clone(),
            _on_cancel: on_cancel,
            hears,
            told_stop: false,
            gone: false,
            resumed: false,
            input: vec![0; INPUT_BYTES].into_boxed_slice(),
            filled: 0,
            backlog: Vec::new(),
            sent: 0,
            size,
            #[cfg(test)]
            polls: 0,
        })
    }

    /// Raw mode, and `modes`. What was typed before stays to be read.
    ///
    /// # Errors
    ///
    /// When the terminal's settings cannot be read or set.
    pub fn enter(&mut self, modes: Modes) -> Result<(), Error> {
        self.guard.enter(modes)
    }

    /// Brings back what was before, with the cursor in the first column of a line of its own. What waits to be written
    /// is, as long as the terminal takes it; what was typed and not read is forgotten. Returns what was switched on, if
    /// the terminal was ours.
    pub fn leave(&mut self) -> Option<Modes> {
        if !self.gone {
            let rest = self.backlog.get(self.sent..).unwrap_or_default();
            if !rest.is_empty() && self.guard.line().write_patiently(rest, LEAVING) == rest.len() {
                self.guard.set_cut(false);
            }
        }
        (self.sent, self.filled) = (0, 0);
        self.backlog.clear();
        self.guard.leave()
    }

    /// Columns and rows, now. From `COLUMNS` and `LINES` where the terminal does not know, else 80 and 24.
    pub fn size(&self) -> Size {
        self.guard.line().size().map_or(self.size, |(columns, rows)| Size { columns, rows })
    }

    /// The byte that the Backspace key sends here, as the terminal's settings have it; DEL where they cannot be read.
    pub fn erase(&self) -> u8 {
        let settings = self.guard.line().settings();
        settings.map_or(0x7f, |settings| settings.special_codes[SpecialCodeIndex::VERASE])
    }

    /// The bytes of [`Woken::Input`], until the next wait.
    pub fn input(&self) -> &[u8] {
        self.input.get(..self.filled).unwrap_or_default()
    }

    /// Writes `bytes`, after which the cursor stands at `caret`: a whole frame at a time, so that it is one write. Never
    /// waits: what a slow terminal has no room for is written while the caller waits. Better paint nothing while
    /// [`Tty::is_behind`]. While the terminal is not ours, nothing is written; [`Woken::Resumed`] asks for all of it.
    pub fn write(&mut self, bytes: &[u8], caret: Caret) {
        if self.gone || !self.guard.is_ours() {
            return;
        }
        if self.is_behind() {
            self.backlog.extend_from_slice(bytes);
            self.send_backlog();
        } else {
            let sent = self.send(bytes);
            self.backlog.extend_from_slice(bytes.get(sent..).unwrap_or_default());
        }
        self.guard.set_caret(caret, self.is_behind());
    }

    /// Whether something waits to be written.
    pub fn is_behind(&self) -> bool {
        self.sent < self.backlog.len()
    }

    /// Asks the terminal something it will answer, device attributes (`CSI c`) last: until [`Tty::answered`], leaving
    /// gives it a moment, so that no answer ends in the shell.
    pub fn ask(&mut self, questions: &[u8], caret: Caret) {
        if !questions.is_empty() {
            self.guard.set_asked(true);
            self.write(questions, caret);
        }
    }

    /// The last answer is there.
    pub fn answered(&mut self) {
        self.guard.set_asked(false);
    }

    /// Writes what there is room for; gives how much that was.
    fn send(&mut self, bytes: &[u8]) -> usize {
        let mut sent = 0;
        while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
            match self.guard.line().write(rest) {
                Moved::Bytes(count) => sent += count,
                Moved::Nothing => break,
                Moved::Gone => {
                    self.gone = true;
                    break;
                }
            }
        }
        sent
    }

    fn send_backlog(&mut self) {
        let backlog = std::mem::take(&mut self.backlog);
        self.sent += self.send(backlog.get(self.sent..).unwrap_or_default());
        self.backlog = backlog;
        if !self.is_behind() {
            self.backlog.clear();
            self.sent = 0;
            self.guard.set_cut(false);
        }
    }

    /// Whether somebody else had the terminal since the last wait, which the next one tells with [`Woken::Resumed`]: until
    /// then nobody knows what is on the screen.
    pub fn was_away(&self) -> bool {
        self.resumed
    }

    /// Waits until something happens; costs nothing until then.
    pub fn wait(&mut self, mail: Mail<'_>, deadline: Option<Instant>) -> Woken {
        self.filled = 0;
        loop {
            if let Some(told) = self.told() {
                return told;
            }
            let turned = self.poll(mail, deadline);
            if turned.wake {
                self.wake.clear();
                continue;
            }
            if turned.input && self.read() {
                return Woken::Input;
            }
            if turned.output {
                self.send_backlog();
                if !self.gone && !self.is_behind() {
                    return Woken::Written;
                }
            }
            if turned.mail && !self.gone {
                return Woken::Mail;
            }
            if turned.nothing && deadline.is_some() {
                return Woken::Due;
            }
        }
    }

    /// What is to be told before anything is waited for.
    fn told(&mut self) -> Option<Woken> {
        let taken = |flag: &AtomicBool| flag.swap(false, Ordering::SeqCst);
        if self.stop.cancel().is_cancelled() && !self.told_stop {
            self.told_stop = true;
            return Some(Woken::Stop);
        }
        if self.gone {
            return Some(Woken::Gone);
        }
        if taken(&self.heard.continued) && self.guard.is_ours() {
            // Stopped without having been asked.
            self.regain();
            self.resumed = true;
            return self.told();
        }
        if taken(&self.heard.suspend) {
            return Some(Woken::Suspend);
        }
        if self.resumed {
            self.resumed = false;
            self.heard.resized.store(false, Ordering::SeqCst);
            return Some(Woken::Resumed);
        }
        taken(&self.heard.resized).then_some(Woken::Resized)
    }

    fn poll(&mut self, mail: Mail<'_>, deadline: Option<Instant>) -> Turned {
        #[cfg(test)]
        {
            self.polls += 1;
        }
        let line = self.guard.line();
        let (letters, wakes) = match mail {
            Mail::Wakes(letters) => (letters, true),
            Mail::Rests => (&self.wake, false),
        };
        // To read what is somebody else's would stop us.
        let keys = if self.guard.is_ours() { PollFlags::IN } else { PollFlags::empty() };
        let mut polled = [
            PollFd::new(&self.wake, PollFlags::IN),
            PollFd::from_borrowed_fd(line.input(), keys),
            PollFd::new(letters, PollFlags::IN),
            PollFd::from_borrowed_fd(line.output(), PollFlags::OUT),
        ];
        // A terminal that is read from and gone says so at its other end.
        let count = polled.len() - usize::from(!self.is_behind());
        let some = polled.get_mut(..count).is_some_and(|polled| ready(polled, deadline));
        let [wake, input, letters, output] = polled.map(|one| some && !one.revents().is_empty());
        Turned { wake, input, mail: wakes && letters, output: output && self.is_behind(), nothing: !some }
    }

    /// Reads what there is. Returns whether there was anything.
    fn read(&mut self) -> bool {
        while let Some(room) = self.input.get_mut(self.filled..).filter(|room| !room.is_empty()) {
            match self.guard.line().read(room) {
                Moved::Bytes(count) => {
                    self.filled += count;
                    if count < MORE_BYTES || !is_readable(self.guard.line()) {
                        break;
                    }
                }
                Moved::Nothing => break,
                Moved::Gone => {
                    self.gone = true;
                    break;
                }
            }
        }
        self.filled > 0
    }

    /// Gives the terminal back to the shell and stops, until the shell says to go on. Then the next wait says
    /// [`Woken::Resumed`], or [`Woken::Stop`] where that is why we were woken.
    pub fn suspend(&mut self) -> Suspended {
        let company = if self.hears { job::company() } else { None };
        let (Some(company), false) = (company, self.gone) else { return Suspended::NoShell };
        let modes = self.leave();
        self.heard.suspend.store(false, Ordering::SeqCst);
        self.sleep(&company);
        self.come_back(modes);
        Suspended::Done
    }

    /// Runs `work` while another program, such as an editor, may have the terminal. The next wait says
    /// [`Woken::Resumed`]. Meanwhile INT is not for us, and when that program is stopped, so are we.
    pub fn lend<R>(&mut self, work: impl FnOnce() -> R) -> R {
        // Before the terminal is left and until it is ours again: in between, keys are signals.
        let _lent = Lent::new(&self.stop, &self.heard);
        let modes = self.leave();
        let result = work();
        self.heard.continued.store(false, Ordering::SeqCst);
        self.come_back(modes);
        result
    }

    /// Enters as before. Where that fails, there is no terminal any more.
    fn come_back(&mut self, modes: Option<Modes>) {
        let Some(modes) = modes else { return };
        if self.stop.cancel().is_cancelled() && !self.guard.line().is_in_front() {
            return;
        }
        self.gone |= self.enter(modes).is_err();
        self.resumed = true;
    }

    /// Stops, again and again, until the terminal is ours or the task is to end.
    fn sleep(&self, company: &[rustix::process::Pid]) {
        loop {
            self.heard.continued.store(false, Ordering::SeqCst);
            job::stop(company);
            while !self.heard.continued.load(Ordering::SeqCst) && !self.stop.cancel().is_cancelled() {
                ready(&mut [PollFd::new(&self.wake, PollFlags::IN)], None);
                self.wake.clear();
            }
            self.heard.continued.store(false, Ordering::SeqCst);
            if self.may_go_on() {
                return;
            }
        }
    }

    /// Whether, after a continuation, the terminal is ours or the task is to end. A shell that goes on with us in the
    /// background says the same as one that ends us.
    fn may_go_on(&self) -> bool {
        let deadline = Instant::now() + SHELL;
        loop {
            if self.guard.line().is_in_front() || self.stop.cancel().is_cancelled() {
                return true;
            }
            if !ready(&mut [PollFd::new(&self.wake, PollFlags::IN)], Some(deadline)) {
                return self.guard.line().is_in_front();
            }
            self.wake.clear();
        }
    }

    /// After a stop nobody told us of: the modes once more, as soon as the terminal is ours.
    fn regain(&mut self) {
        if !self.may_go_on() {
            match job::company() {
                Some(company) => self.sleep(&company),
                None => {
                    self.gone = true;
                    return;
                }
            }
        }
        if self.guard.line().is_in_front() {
            self.guard.enter_again();
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.leave();
        self.stop.set_last_act(None);
    }
}

/// What a poll has turned up.
struct Turned {
    wake: bool,
    input: bool,
    mail: bool,
    output: bool,
    nothing: bool,
}

/// As long as it lives, another program has the terminal.
struct Lent {
    stop: Stop,
    heard: Arc<Heard>,
}

impl Lent {
    fn new(stop: &Stop, heard: &Arc<Heard>) -> Self {
        stop.set_lent(true);
        heard.lent.store(true, Ordering::SeqCst);
        Self { stop: stop.clone(), heard: Arc::clone(heard) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.heard.lent.store(false, Ordering::SeqCst);
        self.stop.set_lent(false);
    }
}

fn is_readable(line: &Line) -> bool {
    ready(&mut [PollFd::from_borrowed_fd(line.input(), PollFlags::IN)], Some(Instant::now()))
}

/// Hears what concerns the terminal. Returns whether continuations are heard.
fn listen(stop: &Stop, heard: &Arc<Heard>, waker: &Waker) -> Result<bool, Error> {
    let on = |kind: SignalKind, flag: fn(&Heard) -> &AtomicBool| {
        let (heard, waker) = (Arc::clone(heard), waker.clone());
        stop.also_hear(kind, move || {
            flag(&heard).store(true, Ordering::SeqCst);
            waker.wake();
        })
    };
    on(SignalKind::window_change(), |heard| &heard.resized)?;
    let hears = on(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()), |heard| &heard.continued)?;
    let (heard, waker) = (Arc::clone(heard), waker.clone());
    let stops = stop.also_hear(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()), move || {
        if !heard.lent.load(Ordering::SeqCst) {
            heard.suspend.store(true, Ordering::SeqCst);
            waker.wake();
        } else if job::company().is_some() {
            // Those between us and the shell have been told by the terminal.
            job::stop(&[]);
        }
    })?;
    // A shell without job control closes our ears to TSTP, and would never wake us.
    Ok(hears && stops)
}

#[cfg(test)]
mod tests;
