//! A stream that a thread of its own writes, so that a reader who stops reading stops nobody else for ever.
//!
//! Bounded: whoever writes faster than is read waits. Once the task has been told to end, only a reader who still reads
//! is waited for. Nothing is dropped before.

use std::io::{self, ErrorKind, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::base::cancel::Registration;

use super::stop::Stop;

/// So many bytes may wait to be written: what a pipe holds on Linux.
const BOUND: usize = 64 * 1024;
/// After the end of the task, a reader who takes nothing for so long is given up.
const GRACE: Duration = Duration::from_secs(1);

/// A stream behind a thread. A write returns once its bytes wait in line, and tells what went wrong with earlier ones;
/// `TimedOut` is a reader who has been given up. A flush returns once everything is written.
pub struct Queue {
    shared: Arc<Shared>,
    /// Where the thread will write; taken when it starts.
    target: Option<Box<dyn Write + Send>>,
    stop: Stop,
    _on_cancel: Registration,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What waits to be written.
    waiting: Vec<u8>,
    /// Whether the thread is writing.
    busy: bool,
    /// Whether nothing more will come.
    closed: bool,
    /// When the reader last took something, or last had nothing to take.
    moved: Option<Instant>,
    /// When the task was told to end.
    cancelled: Option<Instant>,
    /// Why nothing is written any more; the system's number, where there is one.
    failed: Option<(ErrorKind, Option<i32>)>,
}

impl Queue {
    /// A queue in front of `target`; its thread starts with the first byte.
    pub fn new(target: impl Write + Send + 'static, stop: &Stop) -> Self {
        let shared = Arc::new(Shared::default());
        let woken = Arc::clone(&shared);
        let on_cancel = stop.cancel().on_cancel(move || {
            woken.lock().cancelled = Some(Instant::now());
            woken.changed.notify_all();
        });
        Self { shared, target: Some(Box::new(target)), stop: stop.clone(), _on_cancel: on_cancel }
    }

    fn start(&mut self) -> io::Result<()> {
        if let Some(target) = self.target.take() {
            let shared = Arc::clone(&self.shared);
            thread::Builder::new().name("output".to_owned()).spawn(move || shared.work(target))?;
        }
        Ok(())
    }

    /// Waits until `done`, or until there is no use in waiting any more.
    fn wait_until(&self, done: impl Fn(&State) -> bool) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.shared.lock();
        loop {
            match state.failed {
                Some((_, Some(number))) => return Err(io::Error::from_raw_os_error(number)),
                Some((kind, None)) => return Err(kind.into()),
                None if done(&state) => return Ok(state),
                None => {}
            }
            let ended = [state.cancelled, self.stop.deadline()].into_iter().flatten().min();
            let Some(ended) = ended else {
                state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let until = state.moved.map_or(ended, |moved| moved.max(ended)) + GRACE;
            let patience = until.saturating_duration_since(Instant::now());
            if patience.is_zero() {
                state.failed = Some((ErrorKind::TimedOut, None));
            } else {
                let waited = self.shared.changed.wait_timeout(state, patience);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

impl Write for Queue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.start()?;
        let mut state = self.wait_until(|state| state.waiting.len() < BOUND)?;
        if state.is_idle() {
            state.moved = Some(Instant::now());
        }
        state.waiting.extend_from_slice(bytes);
        drop(state);
        self.shared.changed.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.wait_until(State::is_idle).map(drop)
    }
}

impl Drop for Queue {
    /// Lets the thread end with what it has to write; it is not waited for.
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

impl State {
    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.busy
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes whatever comes, until nothing more will, or writing fails.
    fn work(&self, mut target: Box<dyn Write + Send>) {
        let mut bytes = Vec::new();
        loop {
            let idle = |state: &mut State| state.waiting.is_empty() && !state.closed;
            let mut state = self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
            if state.waiting.is_empty() {
                return;
            }
            mem::swap(&mut bytes, &mut state.waiting);
            state.busy = true;
            drop(state);
            // Those who wait for room have some now.
            self.changed.notify_all();
            let written = target.write_all(&bytes).and_then(|()| target.flush());
            bytes.clear();
            let mut state = self.lock();
            state.busy = false;
            state.moved = Some(Instant::now());
            if let Err(error) = &written {
                state.failed.get_or_insert((error.kind(), error.raw_os_error()));
            }
            drop(state);
            self.changed.notify_all();
            if written.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Read, pipe};

    fn queue(stop: &Stop) -> (Queue, PipeReader) {
        let (reader, writer) = pipe().unwrap();
        (Queue::new(writer, stop), reader)
    }

    #[test]
    fn nothing_is_lost_and_the_order_is_kept() {
        let (mut queue, mut reader) = queue(&Stop::default());
        let reading = thread::spawn(move || {
            let mut all = String::new();
            reader.read_to_string(&mut all).unwrap();
            all
        });
        let expected: String = (0..50_000).map(|number| format!("line {number}\n")).collect();
        for line in expected.split_inclusive('\n') {
            queue.write_all(line.as_bytes()).unwrap();
        }
        queue.flush().unwrap();
        assert!(queue.shared.lock().is_idle());
        // Ends the thread, and with it the pipe.
        drop(queue);
        assert_eq!(reading.join().unwrap(), expected);
    }

    #[test]
    fn a_stuck_reader_is_waited_for_until_the_task_ends() {
        let stop = Stop::default();
        let (mut queue, _reader) = queue(&stop);
        let ending = {
            let shared = Arc::clone(&queue.shared);
            thread::spawn(move || {
                // Full: the thread is stuck in the pipe, and the line behind it is as long as it may be.
                while shared.lock().waiting.len() < BOUND {
                    thread::yield_now();
                }
                stop.cancel().cancel();
            })
        };
        let begun = Instant::now();
        let error = (0..).find_map(|_| queue.write_all(&[b'x'; 1024]).err()).unwrap();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(begun.elapsed() >= GRACE);
        ending.join().unwrap();
        let begun = Instant::now();
        assert!(queue.write_all(b"x").is_err() && queue.flush().is_err());
        assert!(begun.elapsed() < GRACE, "given up once and for all");
    }

    #[test]
    fn a_deadline_ends_the_waiting_too() {
        let stop = Stop::default();
        let (mut queue, _reader) = queue(&stop);
        stop.set_deadline(Some(Instant::now()));
        let error = (0..).find_map(|_| queue.write_all(&[b'x'; 1024]).err()).unwrap();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn a_reader_who_reads_is_waited_for_after_the_end_too() {
        let stop = Stop::default();
        let (mut queue, mut reader) = queue(&stop);
        stop.cancel().cancel();
        let reading = thread::spawn(move || {
            let mut bytes = vec![0; 4 * BOUND];
            reader.read_exact(&mut bytes).unwrap();
        });
        queue.write_all(&vec![b'x'; 4 * BOUND]).unwrap();
        queue.flush().unwrap();
        reading.join().unwrap();
    }

    #[test]
    fn a_reader_who_has_left_is_told() {
        let (mut queue, reader) = queue(&Stop::default());
        drop(reader);
        queue.write_all(b"x").unwrap();
        assert_eq!(queue.flush().unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(queue.write_all(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}
