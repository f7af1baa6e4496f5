//! A program while it runs: its pipes, signals to it, and a deadline after which it is killed.
//!
//! Nothing here knows which program it is.

use std::fs::{File, read_to_string};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, kill_process_group, prlimit};

use super::run::Run;

/// How long output is waited for, and a run may take; far above what a loaded machine needs.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How often an ended child is looked for.
const TICK: Duration = Duration::from_millis(2);
/// How often a moment is looked for at which something is to happen: it should not be missed by more.
const MOMENT: Duration = Duration::from_micros(100);
/// How often a signal is sent that a program seems not to hear.
const INSISTENCE: Duration = Duration::from_millis(100);
/// An output that does not grow for so long is stuck.
const STILL: Duration = Duration::from_millis(300);
/// How long after its end a program's pipes may stay open, for the sake of a child that holds them.
const DRAIN: Duration = Duration::from_secs(1);

/// What a program reads.
#[derive(Clone, Default)]
pub enum Stdin {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe with this content, then closed.
    Bytes(Vec<u8>),
    /// A pipe that stays open; see [`Running::write`].
    Pipe,
    /// A regular file.
    File(PathBuf),
    /// No file descriptor 0 at all; only [`super::Host`] can arrange that.
    Closed,
}

/// How the program's stdout is read.
#[derive(Clone, Copy, Debug, Default)]
pub enum Reader {
    /// To its end.
    #[default]
    Patient,
    /// After so many bytes it is closed.
    Leaves(usize),
    /// After so many bytes it is read no more, but stays open.
    Stops(usize),
}

impl From<&str> for Stdin {
    fn from(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }
}

/// A running program. It is killed when it is dropped.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Arc<Captured>,
    stderr: Arc<Captured>,
    started: Instant,
    deadline: Duration,
}

impl Running {
    /// Starts a program in a process group of its own.
    pub fn start(mut command: Command, stdin: Stdin, deadline: Duration, reader: Reader) -> Self {
        let (source, content) = match stdin {
            Stdin::Null | Stdin::Closed => (Stdio::null(), None),
            Stdin::Bytes(content) => (Stdio::piped(), Some(content)),
            Stdin::Pipe => (Stdio::piped(), None),
            Stdin::File(path) => (File::open(path).unwrap().into(), None),
        };
        command.stdin(source).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take();
        if let Some((content, mut pipe)) = content.and_then(|content| Some((content, stdin.take()?))) {
            // A program that does not read its input is no concern of ours.
            thread::spawn(move || pipe.write_all(&content));
        }
        let stdout = Captured::from(child.stdout.take().unwrap(), reader);
        let stderr = Captured::from(child.stderr.take().unwrap(), Reader::Patient);
        Self { child, stdin, stdout, stderr, started: Instant::now(), deadline }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes to an open stdin.
    pub fn write(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Limits how large a file may become that the program writes, in bytes, as a full disk would.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let maximum = getrlimit(Resource::Fsize).maximum;
        prlimit(Some(self.pid()), Resource::Fsize, Rlimit { current: bytes, maximum }).unwrap();
    }

    /// Sends a signal again and again until the program ends.
    pub fn insist(&mut self, signal: Signal) {
        while self.child.try_wait().unwrap().is_none() && self.started.elapsed() < self.deadline {
            self.signal(signal);
            thread::sleep(INSISTENCE);
        }
    }

    /// Waits until the program catches TERM (proc(5)).
    #[track_caller]
    pub fn wait_listening(&self) {
        let until = Instant::now() + PATIENCE;
        let caught = || {
            let status = read_to_string(format!("/proc/{}/status", self.id())).unwrap();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (Signal::TERM.as_raw() - 1)) != 0
        };
        while !caught() {
            assert!(Instant::now() < until, "TERM is never caught");
            thread::sleep(TICK);
        }
    }

    /// Waits until a stdout that nobody reads any more has been full for a while: nothing more comes.
    #[track_caller]
    pub fn wait_stuck(&self) {
        let until = Instant::now() + PATIENCE;
        let filled = || self.stdout.unread.lock().unwrap().as_ref().map_or(0, |pipe| ioctl_fionread(pipe).unwrap());
        let (mut before, mut since) = (0, Instant::now());
        while before == 0 || since.elapsed() < STILL {
            assert!(Instant::now() < until, "stdout never filled up\n--- stderr\n{}", self.stderr.text());
            thread::sleep(TICK);
            let now = filled();
            if now != before {
                (before, since) = (now, Instant::now());
            }
        }
    }

    /// Waits until a text has appeared on stdout.
    #[track_caller]
    pub fn wait_stdout(&self, text: &str) {
        let seen = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text);
        let stdout = self.stdout.wait(PATIENCE, seen);
        assert!(stdout.contains(text), "{text:?} never came\n--- stdout\n{stdout}\n--- stderr\n{}", self.stderr.text());
    }

    /// Waits for a condition, and tells whether it came before the program ended.
    #[track_caller]
    pub fn reaches(&mut self, mut condition: impl FnMut(&Self) -> bool) -> bool {
        while !condition(self) {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(self.started.elapsed() < self.deadline, "waited in vain\n--- stderr\n{}", self.stderr.text());
            thread::sleep(MOMENT);
        }
        true
    }

    /// Waits for so many lines on stdout, and tells whether they came before the program ended.
    pub fn prints(&self, lines: usize) -> bool {
        let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        count(self.stdout.wait(PATIENCE, |bytes| count(bytes) >= lines).as_bytes()) >= lines
    }

    /// How long it has been running.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for the end.
    #[track_caller]
    pub fn wait(mut self) -> Run {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if self.started.elapsed() > self.deadline {
                let _ = kill_process_group(self.pid(), Signal::KILL);
                let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
                panic!("still running after {:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", self.deadline);
            }
            thread::sleep(TICK);
        };
        let time = self.started.elapsed();
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        let never = |_: &[u8]| false;
        Run { code, stdout: self.stdout.wait(DRAIN, never), stderr: self.stderr.wait(DRAIN, never), time }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process_group(self.pid(), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// What a pipe has brought so far.
#[derive(Default)]
struct Captured {
    state: Mutex<(Vec<u8>, Closed)>,
    changed: Condvar,
    /// A pipe that is no more read, kept open.
    unread: Mutex<Option<OwnedFd>>,
}

/// Whether a pipe has been closed at its other end.
type Closed = bool;

impl Captured {
    fn from(mut pipe: impl Read + Into<OwnedFd> + Send + 'static, reader: Reader) -> Arc<Self> {
        let captured = Arc::new(Self::default());
        let filled = Arc::clone(&captured);
        thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            let room = match reader {
                Reader::Patient => usize::MAX,
                Reader::Leaves(room) | Reader::Stops(room) => room,
            };
            loop {
                let left = room.saturating_sub(filled.state.lock().unwrap().0.len()).min(buffer.len());
                let count = pipe.read(&mut buffer[..left]).unwrap_or(0);
                let mut state = filled.state.lock().unwrap();
                state.0.extend_from_slice(&buffer[..count]);
                state.1 = count == 0;
                filled.changed.notify_all();
                if count == 0 {
                    break;
                }
                drop(state);
            }
            if matches!(reader, Reader::Stops(_)) {
                *filled.unread.lock().unwrap() = Some(pipe.into());
            }
        });
        captured
    }

    /// Waits until `enough`, or the end of the pipe, and returns what came.
    fn wait(&self, time: Duration, enough: impl Fn(&[u8]) -> bool) -> String {
        let waiting = |state: &mut (Vec<u8>, Closed)| !state.1 && !enough(&state.0);
        let (state, _) = self.changed.wait_timeout_while(self.state.lock().unwrap(), time, waiting).unwrap();
        String::from_utf8_lossy(&state.0).into_owned()
    }

    fn text(&self) -> String {
        self.wait(Duration::ZERO, |_| true)
    }
}
