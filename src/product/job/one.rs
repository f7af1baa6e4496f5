//! One job or service of this run: the thread that follows it, what it has printed since somebody looked, how it ended.
//!
//! Starts nothing by itself, and writes nothing down.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::log::{self, Place};
use super::{JobFacts, Kind, Look, Status};
use crate::base::cancel::Cancel;
use crate::base::text::mask::Mask;
use crate::kernel::tool::Limits;
use crate::product::sandbox::Process;
use crate::product::sandbox::capture::Capture;
use crate::product::sandbox::process::{self, Ending, Finished, GRACE, Keeper};
use crate::product::sandbox::start::Started;

/// How long a job may take to end when the agent ends.
const LEAVING_GRACE: Duration = Duration::from_millis(500);

/// How often a log is looked at while somebody waits for more of it.
const LOG_INTERVAL: Duration = Duration::from_millis(100);

/// One of them.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) kind: Kind,
    pub(super) log: Option<PathBuf>,
    /// Ends it.
    cancel: Cancel,
    /// Whether it is to end at once.
    hurried: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    status: Status,
    /// What it has printed, where that does not go to a log.
    capture: Capture,
    /// How far the log was read.
    place: Place,
    /// What would not end.
    left: Vec<Process>,
    /// Whether somebody has heard of its end.
    told: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Job {
    /// Follows what was started, on a thread of its own; `ended` runs there once it is over.
    pub(super) fn follow(
        facts: JobFacts,
        log: Option<PathBuf>,
        capture: Capture,
        started: Started,
        ended: impl FnOnce() + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let JobFacts { id, command, kind, status } = facts;
        let state = State { status, capture, place: Place::default(), left: Vec::new(), told: false };
        let job = Arc::new(Self {
            id,
            command,
            kind,
            log,
            cancel: Cancel::new(),
            hurried: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let followed = Arc::clone(&job);
        thread::Builder::new().name("job".to_owned()).spawn(move || {
            let finished = followed.attend(started);
            // First, so that whoever hears of the end finds nothing of it any more.
            ended();
            followed.over(finished);
        })?;
        Ok(job)
    }

    fn attend(&self, started: Started) -> io::Result<Finished> {
        let grace = || if self.hurried.load(Ordering::SeqCst) { LEAVING_GRACE } else { GRACE };
        let mut take = |bytes: &[u8]| {
            self.lock().capture.push(bytes);
            self.changed.notify_all();
        };
        let mut look = || self.log.iter().for_each(|log| log::trim(log));
        let keeper = match self.kind {
            Kind::Job => Keeper::Pipe(&mut take),
            Kind::Service => Keeper::File(&mut look),
        };
        process::attend(started, keeper, &self.cancel, &grace)
    }

    fn over(&self, finished: io::Result<Finished>) {
        let mut state = self.lock();
        (state.status, state.left) = match finished {
            Ok(Finished { ending: Ending::Interrupted | Ending::TimedOut, running, .. }) => (Status::Stopped, running),
            Ok(Finished { ending, running, .. }) => (Status::Exited(Some(ending)), running),
            // It could not be followed any more, and was killed.
            Err(_) => (Status::Stopped, Vec::new()),
        };
        drop(state);
        self.changed.notify_all();
    }

    /// Has it end, with no patience where the agent ends.
    pub(super) fn end(&self, hurry: Hurry) {
        if hurry == Hurry::Leaving {
            self.hurried.store(true, Ordering::SeqCst);
        }
        self.lock().told = true;
        self.cancel.cancel();
    }

    pub(super) fn status(&self) -> Status {
        self.lock().status
    }

    /// What would not end.
    pub(super) fn left(&self) -> Vec<Process> {
        self.lock().left.clone()
    }

    #[cfg(test)]
    pub(super) fn last_line(&self) -> String {
        self.lock().capture.last_line().to_owned()
    }

    pub(super) fn facts(&self) -> JobFacts {
        self.facts_of(self.status())
    }

    /// Whether it has ended, and nobody has heard of it; whoever asks has.
    pub(super) fn is_news(&self) -> bool {
        let mut state = self.lock();
        state.status != Status::Running && !std::mem::replace(&mut state.told, true)
    }

    /// Waits until it is over, or no longer than `until`, or until `cancel` is thrown.
    pub(super) fn wait_for_end(self: &Arc<Self>, until: Instant, cancel: &Cancel) {
        self.wait(until, cancel, |_| false);
    }

    /// The same, or until there is something new to show.
    pub(super) fn wait_for_news(self: &Arc<Self>, until: Instant, cancel: &Cancel) {
        self.wait(until, cancel, |state| match &self.log {
            Some(log) => state.place.has_news(log),
            None => state.capture.has_news(),
        });
    }

    fn wait(self: &Arc<Self>, until: Instant, cancel: &Cancel, is_enough: impl Fn(&State) -> bool) {
        let sleeper = Arc::clone(self);
        let _registration = cancel.on_cancel(move || {
            // Between this one's look at the switch and its sleep nobody gets in.
            drop(sleeper.lock());
            sleeper.changed.notify_all();
        });
        let mut state = self.lock();
        while state.status == Status::Running && !cancel.is_cancelled() && !is_enough(&state) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            // Nobody tells when a log grows.
            let nap = if self.log.is_some() { left.min(LOG_INTERVAL) } else { left };
            state = self.changed.wait_timeout(state, nap).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How it stands a moment after its start. The first look begins at the beginning all the same; but what has ended is
    /// not looked at any more.
    pub(super) fn first_look(&self, limits: Limits, mask: &Mask) -> Look {
        let state = self.lock();
        if state.status != Status::Running {
            drop(state);
            return self.look(limits, mask);
        }
        let facts = self.facts_of(state.status);
        match &self.log {
            None => Look { text: state.capture.glance(), ..Look::empty(facts, None) },
            Some(log) => match log::read(log, Place::default(), limits, mask, "") {
                Ok(page) => Look { text: page.outcome.text, ..Look::empty(facts, Some(log.clone())) },
                Err(error) => Look::unreadable(&error, facts, log),
            },
        }
    }

    /// What is new since the last look, and how it stands.
    pub(super) fn look(&self, limits: Limits, mask: &Mask) -> Look {
        let mut state = self.lock();
        let status = state.status;
        state.told |= status != Status::Running;
        let (outcome, skipped) = match &self.log {
            None => (state.capture.look(&status.to_string()), 0),
            Some(log) => match log::read(log, state.place, limits, mask, &status.to_string()) {
                Ok(page) => {
                    state.place = page.place;
                    (page.outcome, page.skipped)
                }
                Err(error) => return Look::unreadable(&error, self.facts_of(status), log),
            },
        };
        Look::new(outcome, skipped, self.facts_of(status), self.log.clone(), state.left.clone())
    }

    fn facts_of(&self, status: Status) -> JobFacts {
        JobFacts { id: self.id.clone(), command: self.command.clone(), kind: self.kind, status }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much time there is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hurry {
    /// As for any command.
    None,
    /// The agent ends.
    Leaving,
}
