//! How other threads reach the one that waits for the terminal: a queue, and a descriptor that becomes readable.
//!
//! The waiting itself is done in [`super::tty`].

use std::io::{self, Read, Write};
use std::mem;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// So many messages may wait: seconds of the fastest stream. Whoever sends more waits, as a full pipe would have it.
const BOUND: usize = 65_536;

/// So many of the last messages are looked at by who has something to add: as many calls as a model usually has run at once.
const LOOKED_AT: usize = 16;

/// What becomes readable when it is woken, and stays so until it is cleared.
#[derive(Debug)]
pub struct Wake {
    reader: UnixStream,
    shared: Arc<Waking>,
}

#[derive(Debug)]
struct Waking {
    /// Whether a byte is on its way: no second one is sent.
    pending: AtomicBool,
    writer: UnixStream,
}

/// Wakes a [`Wake`], from any thread. Clones share it.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Waking>);

impl Wake {
    /// One that sleeps.
    ///
    /// # Errors
    ///
    /// When the system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { reader, shared: Arc::new(Waking { pending: AtomicBool::new(false), writer }) })
    }

    /// What wakes it.
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.shared))
    }

    /// Lets it sleep again. Whatever was to be seen before a wake can be seen afterwards.
    pub fn clear(&self) {
        // The byte first: one that came after the mark is gone would be taken without being seen. It may still be on its
        // way, after a mark that has been seen; then it wakes once more for nothing, and is taken then.
        let _ = (&self.reader).read(&mut [0; 8]);
        self.shared.pending.swap(false, Ordering::AcqRel);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

impl Waker {
    /// Wakes, unless that has been done and nobody has woken yet. Never blocks.
    pub fn wake(&self) {
        if !self.0.pending.swap(true, Ordering::AcqRel) {
            // A full socket wakes as well, and one without a reader has nobody to wake.
            let _ = (&self.0.writer).write(&[0]);
        }
    }
}

/// A new queue with its two ends.
///
/// # Errors
///
/// When the system has no descriptor left.
pub fn mailbox<T>() -> io::Result<(Sender<T>, Mailbox<T>)> {
    let wake = Wake::new()?;
    let queue =
        Arc::new(Queue { state: Mutex::new(State { waiting: Vec::new(), closed: false }), room: Condvar::new() });
    Ok((Sender { queue: Arc::clone(&queue), waker: wake.waker() }, Mailbox { queue, wake }))
}

struct Queue<T> {
    state: Mutex<State<T>>,
    /// Told when there is room again, or nobody reads any more.
    room: Condvar,
}

struct State<T> {
    waiting: Vec<T>,
    closed: bool,
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that other threads hold. Clones send to the same mailbox.
pub struct Sender<T> {
    queue: Arc<Queue<T>>,
    waker: Waker,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { queue: Arc::clone(&self.queue), waker: self.waker.clone() }
    }
}

impl<T> Sender<T> {
    /// Sends a message; whoever waits for the mailbox is woken once until it has been drained. Waits while 65,536 are
    /// there, so the thread that drains must not wait for one that sends.
    ///
    /// # Errors
    ///
    /// The message itself, when the mailbox is gone.
    pub fn send(&self, message: T) -> Result<(), T> {
        self.put(self.queue.lock(), message)
    }

    /// Lets `join` add what is to be sent to one of the last messages that wait. It is shown them from the newest on and
    /// breaks off with whether it has added it; where it has not, what `message` makes is sent. Many small messages are
    /// few for a reader who is slower, and cost it little.
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
    pub fn send_joined(
        &self,
        join: impl FnMut(&mut T) -> ControlFlow<bool>,
        message: impl FnOnce() -> T,
    ) -> Result<(), T> {
        let mut state = self.queue.lock();
        let met = state.waiting.iter_mut().rev().take(LOOKED_AT).try_for_each(join);
        // Whoever waits has been woken for the one it was added to.
        if met == ControlFlow::Break(true) { Ok(()) } else { self.put(state, message()) }
    }

    fn put(&self, state: MutexGuard<'_, State<T>>, message: T) -> Result<(), T> {
        let full = |state: &mut State<T>| state.waiting.len() >= BOUND && !state.closed;
        let state = self.queue.room.wait_while(state, full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Err(message);
        }
        state.waiting.push(message);
        drop(state);
        self.waker.wake();
        Ok(())
    }
}

/// The end that one thread drains.
pub struct Mailbox<T> {
    queue: Arc<Queue<T>>,
    wake: Wake,
}

impl<T> Mailbox<T> {
    /// Appends all that waits, oldest first, to `messages`.
    pub fn drain(&self, messages: &mut Vec<T>) {
        self.wake.clear();
        let mut state = self.queue.lock();
        let was_full = state.waiting.len() >= BOUND;
        if messages.is_empty() {
            mem::swap(&mut state.waiting, messages);
        } else {
            messages.append(&mut state.waiting);
        }
        drop(state);
        if was_full {
            self.queue.room.notify_all();
        }
    }

    /// What is readable while something waits.
    pub fn wake(&self) -> &Wake {
        &self.wake
    }
}

impl<T> Drop for Mailbox<T> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.closed = true;
        let unread = mem::take(&mut state.waiting);
        drop(state);
        self.queue.room.notify_all();
        // Only now: a message may hold a sender.
        drop(unread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::thread;

    fn is_awake(wake: &Wake) -> bool {
        poll(&mut [PollFd::new(wake, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
    }

    #[test]
    fn many_messages_are_one_wake() {
        let (sender, mailbox) = mailbox().unwrap();
        assert!(!is_awake(mailbox.wake()));
        for number in 0..1000 {
            sender.clone().send(number).unwrap();
        }
        let mut bytes = [0; 16];
        assert_eq!((&mailbox.wake.reader).read(&mut bytes).unwrap(), 1);
        let mut messages = vec![-1];
        mailbox.drain(&mut messages);
        assert!(messages.into_iter().eq(-1..1000) && !is_awake(mailbox.wake()));
        sender.send(1000).unwrap();
        assert!(is_awake(mailbox.wake()));
    }

    #[test]
    fn what_can_be_joined_is_one_message() {
        let (sender, mailbox) = mailbox().unwrap();
        let send = |number: u32| {
            let join = |last: &mut Vec<u32>| {
                let joins = last.len() < 3;
                last.extend(Some(number).filter(|_| joins));
                ControlFlow::Break(joins)
            };
            sender.send_joined(join, || vec![number])
        };
        (0..5).for_each(|number| send(number).unwrap());
        assert!(is_awake(mailbox.wake()));
        let mut messages = Vec::new();
        mailbox.drain(&mut messages);
        send(5).unwrap();
        assert!(is_awake(mailbox.wake()));
        mailbox.drain(&mut messages);
        assert_eq!(messages, [vec![0, 1, 2], vec![3, 4], vec![5]]);
        drop(mailbox);
        assert_eq!(send(6), Err(vec![6]));
    }

    #[test]
    fn what_is_in_between_can_be_passed_over() {
        let (sender, mailbox) = mailbox().unwrap();
        for letter in "abab!ab".chars() {
            let join = |last: &mut (char, u32)| {
                if last.0 == letter {
                    last.1 += 1;
                    return ControlFlow::Break(true);
                }
                if last.0 == '!' { ControlFlow::Break(false) } else { ControlFlow::Continue(()) }
            };
            sender.send_joined(join, || (letter, 1)).unwrap();
        }
        let mut messages = Vec::new();
        mailbox.drain(&mut messages);
        assert_eq!(messages, [('a', 2), ('b', 2), ('!', 1), ('a', 1), ('b', 1)]);
    }

    #[test]
    fn none_is_lost_or_overtakes_and_a_sleeper_is_always_woken() {
        const EACH: usize = 100_000;
        let (sender, mailbox) = mailbox().unwrap();
        let senders: Vec<_> = (0..2)
            .map(|name| {
                let sender = sender.clone();
                thread::spawn(move || (0..EACH).for_each(|number| sender.send((name, number)).unwrap()))
            })
            .collect();
        let (mut next, mut messages) = ([0, 0], Vec::new());
        while next != [EACH, EACH] {
            // Without a timeout: a lost wake hangs here.
            poll(&mut [PollFd::new(mailbox.wake(), PollFlags::IN)], None).unwrap();
            mailbox.drain(&mut messages);
            for (name, number) in messages.drain(..) {
                assert_eq!(number, next[name]);
                next[name] += 1;
            }
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    }

    #[test]
    fn who_sends_too_much_waits_until_it_is_read_or_nobody_will() {
        let (sender, mailbox) = mailbox().unwrap();
        (0..BOUND).for_each(|_| sender.send(()).unwrap());
        let late = thread::spawn(move || (sender.send(()), sender));
        let mut messages = Vec::new();
        mailbox.drain(&mut messages);
        let (sent, sender) = late.join().unwrap();
        assert_eq!((messages.len(), sent), (BOUND, Ok(())));
        (1..BOUND).for_each(|_| sender.send(()).unwrap());
        let late = thread::spawn(move || sender.send(()));
        drop(mailbox);
        assert_eq!(late.join().unwrap(), Err(()));
    }
}
