//! What ends a task from outside: signals, heard on a thread of their own, whatever the others are stuck in.
//!
//! The first one stops the task in order. Another one ends the process at once. Other signals are heard here for those
//! who ask.

use std::fmt;
use std::fs;
use std::future::pending;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

use crate::base::cancel::Cancel;
use crate::product::agent::report::Interruption;
use crate::product::error::Error;

/// A second signal sooner than this is the first one again: timeout(1) sends each to the process and to its group.
const ECHO: Duration = Duration::from_millis(300);

/// The switch that ends a task, and who has thrown it. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    cancel: Cancel,
    heard: Arc<Mutex<Option<(Interruption, Instant)>>>,
    deadline: Arc<Mutex<Option<Instant>>>,
    /// Where signals are heard, once they are.
    ears: Arc<OnceLock<Ears>>,
    last_act: Arc<Mutex<Option<LastAct>>>,
    taker: Arc<Mutex<Option<Taker>>>,
    terminal: Arc<Mutex<Terminal>>,
}

/// Whose the terminal is, and with it an INT typed there.
#[derive(Clone, Copy, Debug, Default)]
enum Terminal {
    /// Ours.
    #[default]
    Ours,
    /// Another program's.
    Lent,
    /// Ours again since then: the INT that ended the other program may still be on its way to us.
    Back(Instant),
}

#[derive(Debug)]
struct Ears {
    thread: Handle,
    /// The signals nobody is to hear, the lowest bit being signal 1.
    ignored: u64,
}

/// Done before the process ends at once.
struct LastAct(Box<dyn Fn() + Send>);

impl fmt::Debug for LastAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastAct")
    }
}

/// Takes an INT; false: it is one that ends us after all.
struct Taker(Box<dyn Fn() -> bool + Send>);

impl fmt::Debug for Taker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Taker")
    }
}

impl Stop {
    /// Thrown when the task is to end.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The signal that came first.
    pub fn interruption(&self) -> Option<Interruption> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).map(|(interruption, _)| interruption)
    }

    /// When the task ends at the latest; from then on, too, no reader is waited for.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    /// See [`Stop::set_deadline`].
    pub fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to hear INT, TERM and HUP. Those that whoever started us has closed our ears to stay unheard: HUP under
    /// nohup(1), INT behind a script's `&`.
    ///
    /// # Errors
    ///
    /// When the system has no thread or descriptor left.
    pub fn listen(&self) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(cannot)?;
        let ears = Ears { thread: runtime.handle().clone(), ignored: ignored() };
        for (kind, interruption) in [
            (SignalKind::interrupt(), Interruption::Interrupt),
            (SignalKind::terminate(), Interruption::Terminate),
            (SignalKind::hangup(), Interruption::HangUp),
        ] {
            let stop = self.clone();
            ears.hear(kind, move || stop.hear(interruption)).map_err(cannot)?;
        }
        let thread = thread::Builder::new().name("signals".to_owned());
        thread.spawn(move || runtime.block_on(pending::<()>())).map_err(cannot)?;
        // Whoever listens twice is heard twice; the second thread changes nothing.
        let _ = self.ears.set(ears);
        Ok(())
    }

    /// Runs `action`, which must not block, whenever a signal of another kind comes. Returns whether it ever will: not
    /// before [`Stop::listen`], nor when whoever started us has closed our ears to it.
    ///
    /// # Errors
    ///
    /// When the system refuses it.
    pub fn also_hear(&self, kind: SignalKind, action: impl Fn() + Send + 'static) -> Result<bool, Error> {
        self.ears.get().map_or(Ok(false), |ears| ears.hear(kind, action)).map_err(cannot)
    }

    /// Sets what is done, on the thread of the signals, before a second signal ends the process at once; `None` when
    /// there is nothing left to be done. It must come to an end whatever the other threads are stuck in.
    pub fn set_last_act(&self, act: Option<Box<dyn Fn() + Send>>) {
        *self.last_act.lock().unwrap_or_else(PoisonError::into_inner) = act.map(LastAct);
    }

    /// Sets who takes an INT, on the thread of the signals; one that is taken, for which `true` is said, ends nothing.
    /// For who reads lines from a terminal that makes signals of keys: there an INT stops what runs, not us.
    pub fn set_taker(&self, taker: Option<Box<dyn Fn() -> bool + Send>>) {
        *self.taker.lock().unwrap_or_else(PoisonError::into_inner) = taker.map(Taker);
    }

    fn is_taken(&self) -> bool {
        let taker = self.taker.lock().unwrap_or_else(PoisonError::into_inner);
        taker.as_ref().is_some_and(|Taker(take)| take())
    }

    /// While `lent`, another program has the terminal, and an INT typed there is meant for that program.
    pub fn set_lent(&self, lent: bool) {
        let terminal = if lent { Terminal::Lent } else { Terminal::Back(Instant::now()) };
        *self.terminal.lock().unwrap_or_else(PoisonError::into_inner) = terminal;
    }

    /// Whether an INT that comes now is meant for another program.
    fn is_lent(&self) -> bool {
        match *self.terminal.lock().unwrap_or_else(PoisonError::into_inner) {
            Terminal::Ours => false,
            Terminal::Lent => true,
            Terminal::Back(since) => since.elapsed() < ECHO,
        }
    }

    fn hear(&self, interruption: Interruption) {
        if interruption == Interruption::Interrupt && (self.is_lent() || self.is_taken()) {
            return;
        }
        let before = {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            let before = *heard;
            heard.get_or_insert((interruption, Instant::now()));
            before
        };
        match before {
            None => self.cancel.cancel(),
            Some((_, since)) if since.elapsed() < ECHO => {}
            Some(_) => self.end_now(interruption),
        }
    }

    /// Ends the process, and the groups of the commands it has started.
    #[expect(clippy::disallowed_methods, reason = "main is stuck, or was not waited for: it cannot return the code")]
    fn end_now(&self, interruption: Interruption) -> ! {
        for child in children() {
            // One that has ended meanwhile is no concern of ours.
            let _ = kill_process_group(child, Signal::KILL);
        }
        if let Some(LastAct(act)) = self.last_act.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            act();
        }
        std::process::exit(i32::from(interruption.exit_code()))
    }
}

impl Ears {
    fn hear(&self, kind: SignalKind, action: impl Fn() + Send + 'static) -> std::io::Result<bool> {
        if self.ignored & (1 << (kind.as_raw_value() - 1)) != 0 {
            return Ok(false);
        }
        let inside = self.thread.enter();
        let mut signals = signal(kind)?;
        drop(inside);
        self.thread.spawn(async move {
            while signals.recv().await.is_some() {
                action();
            }
        });
        Ok(true)
    }
}

fn cannot(error: std::io::Error) -> Error {
    Error::failed("signals cannot be caught").caused_by(error)
}

/// The processes that our threads have started (proc(5)); none where there is no `/proc`.
fn children() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let numbers = lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    numbers.filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect()
}

/// The signals this process ignores, the lowest bit being signal 1; none where there is no `/proc`.
fn ignored() -> u64 {
    fs::read_to_string("/proc/self/status").map_or(0, |status| ignored_in(&status))
}

fn ignored_in(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        assert_eq!(ignored_in("Name:\tagent\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored_in("Name:\tagent\n"), 0);
    }

    #[test]
    fn the_first_signal_throws_the_switch_and_its_echo_does_nothing() {
        let stop = Stop::default();
        assert_eq!(stop.interruption(), None);
        stop.hear(Interruption::Terminate);
        stop.hear(Interruption::Interrupt);
        assert!(stop.cancel().is_cancelled());
        assert_eq!(stop.interruption(), Some(Interruption::Terminate));
    }

    #[test]
    fn an_interrupt_that_is_taken_ends_nothing() {
        let stop = Stop::default();
        let pending = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let taken = Arc::clone(&pending);
        stop.set_taker(Some(Box::new(move || !taken.swap(true, std::sync::atomic::Ordering::SeqCst))));
        stop.hear(Interruption::Interrupt);
        assert!(!stop.cancel().is_cancelled() && pending.load(std::sync::atomic::Ordering::SeqCst));
        stop.hear(Interruption::Interrupt);
        assert_eq!(stop.interruption(), Some(Interruption::Interrupt), "nobody took the first one");
    }

    #[test]
    fn an_interrupt_is_not_for_us_while_the_terminal_is_lent() {
        let stop = Stop::default();
        stop.set_lent(true);
        stop.hear(Interruption::Interrupt);
        stop.set_lent(false);
        stop.hear(Interruption::Interrupt);
        assert_eq!(stop.interruption(), None, "the second is the first one, heard late");
        stop.hear(Interruption::Terminate);
        assert_eq!(stop.interruption(), Some(Interruption::Terminate));
    }
}
