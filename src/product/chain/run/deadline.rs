//! A limit of time for all steps together: a switch that is thrown when it has passed.
//!
//! Knows nothing of steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::base::cancel::{Cancel, Registration};

/// A switch below another one, which time throws too. Dropped, it is let alone.
pub(super) struct Deadline {
    cancel: Cancel,
    passed: Arc<AtomicBool>,
    _link: Registration,
    _running: mpsc::Sender<()>,
}

impl Deadline {
    pub(super) fn new(above: &Cancel, limit: Option<Duration>) -> Self {
        let (cancel, link) = above.child();
        let passed = Arc::new(AtomicBool::new(false));
        let (running, ended) = mpsc::channel();
        if let Some(limit) = limit {
            let (cancel, passed) = (cancel.clone(), Arc::clone(&passed));
            thread::spawn(move || {
                if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) && !cancel.is_cancelled() {
                    passed.store(true, Ordering::SeqCst);
                    cancel.cancel();
                }
            });
        }
        Self { cancel, passed, _link: link, _running: running }
    }

    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Whether it was time that threw the switch.
    pub(super) fn has_passed(&self) -> bool {
        self.passed.load(Ordering::SeqCst)
    }
}
