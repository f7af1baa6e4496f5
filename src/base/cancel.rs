//! Cancellation that both futures and plain threads can wait for.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll, Waker};

type Listener = Box<dyn FnOnce() + Send>;

/// A switch that is thrown once. Clones share it.
#[derive(Clone, Default)]
pub struct Cancel {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    cancelled: AtomicBool,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    next: u64,
    waiting: Vec<(u64, Listener)>,
}

impl Cancel {
    /// A switch that nobody has thrown yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Throws the switch; listeners run on this thread, before the call returns. Later calls do nothing.
    pub fn cancel(&self) {
        if self.inner.cancelled.swap(true, Ordering::SeqCst) {
            return;
        }
        let waiting = std::mem::take(&mut self.lock().waiting);
        for (_, listener) in waiting {
            listener();
        }
    }

    /// Whether the switch has been thrown.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.load(Ordering::SeqCst)
    }

    /// Runs `listener` when the switch is thrown: at once if it already is, never if the registration is dropped before.
    ///
    /// The listener must not block; it typically wakes a thread or a future.
    pub fn on_cancel(&self, listener: impl FnOnce() + Send + 'static) -> Registration {
        let mut listeners = self.lock();
        // Checked under the lock: `cancel` sets the flag before it takes the lock.
        if self.is_cancelled() {
            drop(listeners);
            listener();
            return Registration { cancel: self.clone(), id: None };
        }
        let id = listeners.next;
        listeners.next += 1;
        listeners.waiting.push((id, Box::new(listener)));
        Registration { cancel: self.clone(), id: Some(id) }
    }

    /// Completes when the switch is thrown.
    pub fn cancelled(&self) -> Cancelled<'_> {
        Cancelled { cancel: self, registration: None }
    }

    /// A switch of its own that this one throws too.
    pub fn child(&self) -> (Self, Registration) {
        let child = Self::new();
        let thrown = child.clone();
        let registration = self.on_cancel(move || thrown.cancel());
        (child, registration)
    }

    /// What `work` returns, done on a thread of its own; `None` where the switch is thrown before. Nobody waits for the
    /// work then, which is to be harmless and to end by itself. For what blocks and hears nothing.
    pub fn unless_thrown<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, ended) = mpsc::channel();
        let thrown = done.clone();
        // Nobody listens any more once the other has been heard.
        let _registration = self.on_cancel(move || drop(thrown.send(None)));
        std::thread::spawn(move || drop(done.send(Some(work()))));
        ended.recv().ok().flatten()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Listeners> {
        self.inner.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

/// Keeps a listener registered; dropping it takes the listener off.
#[must_use = "the listener is gone when this is dropped"]
pub struct Registration {
    cancel: Cancel,
    id: Option<u64>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.cancel.lock().waiting.retain(|(other, _)| *other != id);
        }
    }
}

/// The future of [`Cancel::cancelled`].
pub struct Cancelled<'a> {
    cancel: &'a Cancel,
    /// Who is woken, and the registration that does it.
    registration: Option<(Waker, Registration)>,
}

impl Future for Cancelled<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.cancel.is_cancelled() {
            return Poll::Ready(());
        }
        // Polled for every piece of a stream: a registration that still wakes the right task is kept.
        if self.registration.as_ref().is_some_and(|(waker, _)| waker.will_wake(context.waker())) {
            return Poll::Pending;
        }
        let waker = context.waker().clone();
        let woken = waker.clone();
        self.registration = Some((waker, self.cancel.on_cancel(move || woken.wake())));
        if self.cancel.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn futures_and_listeners_hear_it() {
        let cancel = Cancel::new();
        let (child, _link) = cancel.child();
        let heard = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&heard);
        let _registration = cancel.on_cancel(move || flag.store(true, Ordering::SeqCst));
        let remote = cancel.clone();
        std::thread::spawn(move || remote.cancel());
        child.cancelled().await;
        cancel.cancelled().await;
        assert!(child.is_cancelled());
        // The listener registered last may still be running on the other thread when the first future wakes.
        while !heard.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn work_is_not_waited_for_once_the_switch_is_thrown() {
        let cancel = Cancel::new();
        assert_eq!(cancel.unless_thrown(|| 7), Some(7));
        let (end, ended) = mpsc::channel::<()>();
        let thrower = cancel.clone();
        let work = move || {
            thrower.cancel();
            ended.recv()
        };
        assert_eq!(cancel.unless_thrown(work), None);
        drop(end);
    }

    #[test]
    fn a_dropped_registration_is_silent() {
        let cancel = Cancel::new();
        let heard = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&heard);
        drop(cancel.on_cancel(move || flag.store(true, Ordering::SeqCst)));
        cancel.cancel();
        assert!(!heard.load(Ordering::SeqCst));
        let flag = Arc::clone(&heard);
        drop(cancel.on_cancel(move || flag.store(true, Ordering::SeqCst)));
        assert!(heard.load(Ordering::SeqCst), "a late listener runs at once");
    }
}
