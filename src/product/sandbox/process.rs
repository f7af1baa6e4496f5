//! Following one shell line until it ends, and ending it with all its descendants when it takes too long or is no
//! longer wanted.
//!
//! A call ends when the shell ends, however long a process in the background holds the pipe; a job when nothing of it is
//! left. What is shown of the output is decided elsewhere.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::capture::Capture;
use super::start::{CommandLine, Started};
use super::tree::{Process, Tree};
use super::wait;
use crate::base::cancel::{Cancel, Registration};
use crate::base::text::cut;

/// How long output is still taken after the shell has ended, where something in the background holds the pipe: enough
/// for a server's first lines, too short to be noticed as waiting.
const DRAIN: Duration = Duration::from_millis(250);

/// How long a process left behind may take to end by itself before it is reported: a helper that reads the end of its
/// input ends now, a server does not.
const SETTLE: Duration = Duration::from_millis(50);

/// Between asking processes to end and making them: time to remove a lock file, not to finish the work.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long a killed process may take to go. The kernel needs microseconds; one that waits for a dead disk may stay.
pub(super) const KILL_WAIT: Duration = Duration::from_secs(1);

/// How often processes born meanwhile are looked for while others are being killed.
pub(super) const KILL_ROUND: Duration = Duration::from_millis(50);

/// Between two lines of progress: ten a second are as many as a reader can follow.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The most of a line that is told as progress, in characters; a screen has room for one row.
const PROGRESS_CHARS: usize = 400;

/// Between two looks at a file that a command prints to. The fastest disks take some gigabytes meanwhile.
const FILE_INTERVAL: Duration = Duration::from_secs(5);

/// One read of the pipe, in bytes; the size of a pipe unless it is asked for more.
const READ_BYTES: usize = 64 * 1024;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// We ended it when its time was over.
    TimedOut,
    /// We ended it because it was cancelled.
    Interrupted,
}

/// What is known of a command that has ended.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// What it left running, unless all of that has left its process group; after we ended it, what would not go.
    pub running: Vec<Process>,
    /// From its start until it and its output were over.
    pub took: Duration,
}

/// Why a command was not run, in words for the model.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Neither `bash` nor `sh`.
    #[error("no shell: there is neither bash nor sh in PATH")]
    NoShell,
    /// The working directory went away.
    #[error("the working directory {} is not there any more", .0.display())]
    NoFolder(PathBuf),
    /// More than the system passes to a program.
    #[error(
        "the command is too long to be passed to a shell ({0} bytes): write it to a file with write_file and run that"
    )]
    TooLong(usize),
    /// Anything else.
    #[error("the shell could not be run: {0}")]
    Io(#[from] io::Error),
}

/// How long a call waits for its command.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    /// When the command is ended, from its start.
    pub timeout: Duration,
    /// Ends the command.
    pub cancel: &'a Cancel,
    /// Lets the command run on without the call.
    pub leave: &'a Cancel,
}

/// What came of a call.
#[derive(Debug)]
pub enum Called {
    /// The command is over.
    Finished(Finished),
    /// It was left, and runs on.
    Left(Started),
}

/// Runs a shell line and blocks until it is over, or left. Its output goes to `capture`; `progress` hears the last line
/// of it.
///
/// # Errors
///
/// When it could not be started. A command that fails is no error.
pub fn run(
    line: &CommandLine<'_>,
    patience: Patience<'_>,
    capture: &mut Capture,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Called, StartError> {
    let begun = Instant::now();
    let Patience { timeout, cancel, leave } = patience;
    if cancel.is_cancelled() {
        let finished = Finished { ending: Ending::Interrupted, running: Vec::new(), took: Duration::ZERO };
        return Ok(Called::Finished(finished));
    }
    let follower = Follower { capture, progress, next: begun + PROGRESS_INTERVAL, news: false, told: String::new() };
    let mut running = Running::of(Started::piped(line)?, Audience::Call(follower), cancel, Some(leave))?;
    let (ending, left) = match running.follow(begun.checked_add(timeout))? {
        Over::Exited => {
            running.drain()?;
            let left = if running.cancelled { running.end(GRACE)? } else { running.left_behind()? };
            (None, left)
        }
        Over::TimedOut => (Some(Ending::TimedOut), running.end(GRACE)?),
        Over::Cancelled => (Some(Ending::Interrupted), running.end(GRACE)?),
        Over::Left => return Ok(Called::Left(running.started)),
    };
    running.finished(ending, left, begun).map(Called::Finished).map_err(StartError::from)
}

/// Who takes what a command prints that nobody waits for.
pub enum Keeper<'a> {
    /// Takes what comes out of the pipe.
    Pipe(&'a mut dyn FnMut(&[u8])),
    /// Looks after the file it goes to, now and then.
    File(&'a mut dyn FnMut()),
}

/// Follows a command that nobody waits for, and blocks until nothing of it is left. Thrown, `cancel` ends it; `grace`
/// says then how long it may take before it is killed.
///
/// # Errors
///
/// What the system said; the command is killed then.
pub fn attend(
    started: Started,
    keeper: Keeper<'_>,
    cancel: &Cancel,
    grace: &dyn Fn() -> Duration,
) -> io::Result<Finished> {
    let begun = Instant::now();
    let audience = match keeper {
        Keeper::Pipe(take) => Audience::Pipe(take),
        Keeper::File(look) => Audience::File { look, next: begun + FILE_INTERVAL },
    };
    let mut running = Running::of(started, audience, cancel, None)?;
    let over = running.follow(None)?;
    let is_over = matches!(over, Over::Exited) && running.outlive()?;
    let (ending, left) = if is_over {
        running.drain()?;
        (None, Vec::new())
    } else {
        (Some(Ending::Interrupted), running.end(grace())?)
    };
    running.finished(ending, left, begun)
}

/// Why following has stopped.
enum Over {
    Exited,
    TimedOut,
    Cancelled,
    Left,
}

/// A shell that is followed.
struct Running<'a> {
    started: Started,
    exited: bool,
    cancel: PipeReader,
    cancelled: bool,
    leave: Option<PipeReader>,
    left: bool,
    _registrations: Vec<Registration>,
    buffer: Vec<u8>,
    audience: Audience<'a>,
}

impl<'a> Running<'a> {
    fn of(started: Started, audience: Audience<'a>, cancel: &Cancel, leave: Option<&Cancel>) -> io::Result<Self> {
        let (cancel, registration) = wait::on_cancel(cancel)?;
        let mut registrations = vec![registration];
        let leave = match leave.map(wait::on_cancel).transpose()? {
            Some((leave, registration)) => {
                registrations.push(registration);
                Some(leave)
            }
            None => None,
        };
        Ok(Self {
            started,
            exited: false,
            cancel,
            cancelled: false,
            leave,
            left: false,
            _registrations: registrations,
            buffer: vec![0; READ_BYTES],
            audience,
        })
    }

    fn follow(&mut self, deadline: Option<Instant>) -> io::Result<Over> {
        loop {
            self.step(deadline, None)?;
            if self.exited {
                return Ok(Over::Exited);
            }
            if self.cancelled {
                return Ok(Over::Cancelled);
            }
            if deadline.is_some_and(is_past) {
                return Ok(Over::TimedOut);
            }
            if self.left {
                return Ok(Over::Left);
            }
        }
    }

    /// Takes what still comes after the end.
    fn drain(&mut self) -> io::Result<()> {
        let until = Instant::now() + DRAIN;
        while self.started.output.is_some() && !is_past(until) {
            self.step(Some(until), None)?;
        }
        Ok(())
    }

    /// What runs on in the shell's session, which has ended.
    fn left_behind(&mut self) -> io::Result<Vec<Process>> {
        // Nearly always nothing does, and then the process table need not be read. The group's number is not given away
        // while anything is in it, so it is safe to ask for it after the shell was reaped.
        self.started.reap()?;
        if rustix::process::test_kill_process_group(self.started.leader).is_err() {
            return Ok(Vec::new());
        }
        let mut tree = Tree::of(self.started.leader);
        tree.look_at_younger();
        self.until_gone(&mut tree, Instant::now() + SETTLE)?;
        Ok(tree.members())
    }

    /// Follows what the shell has left in its session when it ended; false: it was cancelled meanwhile.
    fn outlive(&mut self) -> io::Result<bool> {
        let mut tree = Tree::of(self.started.leader);
        while !self.cancelled {
            tree.look();
            if tree.is_gone()? {
                return Ok(true);
            }
            while !tree.is_gone()? && !self.cancelled {
                self.step(None, Some(&tree))?;
            }
        }
        Ok(false)
    }

    /// Ends the whole tree: asks, waits, kills. Returns what would not go.
    fn end(&mut self, grace: Duration) -> io::Result<Vec<Process>> {
        let mut tree = Tree::of(self.started.leader);
        tree.look();
        tree.signal(Signal::TERM);
        self.until_gone(&mut tree, Instant::now() + grace)?;
        let until = Instant::now() + KILL_WAIT;
        loop {
            // Also those that were started on the way out.
            tree.look();
            if self.is_gone(&mut tree)? || is_past(until) {
                break;
            }
            tree.signal(Signal::KILL);
            self.until_gone(&mut tree, Instant::now() + KILL_ROUND)?;
        }
        // Where only the group is known, others may be left in it.
        let _ = rustix::process::kill_process_group(self.started.leader, Signal::KILL);
        self.drain()?;
        Ok(tree.members())
    }

    /// Takes output until nothing of the tree is left or the moment has come.
    fn until_gone(&mut self, tree: &mut Tree, until: Instant) -> io::Result<()> {
        while !self.is_gone(tree)? && !is_past(until) {
            self.step(Some(until), Some(tree))?;
        }
        Ok(())
    }

    fn is_gone(&self, tree: &mut Tree) -> io::Result<bool> {
        Ok(tree.is_gone()? && self.exited)
    }

    /// Waits for the next thing to happen, and takes output.
    fn step(&mut self, until: Option<Instant>, tree: Option<&Tree>) -> io::Result<()> {
        let until = self.audience.due().into_iter().chain(until).min();
        let mut fds = vec![
            self.started.output.as_ref().map(AsFd::as_fd),
            (!self.exited).then(|| self.started.exit.as_fd()),
            (!self.cancelled).then(|| self.cancel.as_fd()),
            self.leave.as_ref().filter(|_| !self.left).map(AsFd::as_fd),
        ];
        fds.extend(tree.into_iter().flat_map(Tree::ends).map(Some));
        let ready = wait::ready(&fds, until)?;
        let is_ready = |at: usize| ready.get(at).copied().unwrap_or(false);
        self.exited |= is_ready(1);
        self.cancelled |= is_ready(2);
        self.left |= is_ready(3);
        if is_ready(0) {
            self.read()?;
        }
        self.audience.tell();
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let Some(output) = &mut self.started.output else { return Ok(()) };
        match output.read(&mut self.buffer) {
            Ok(0) => self.started.output = None,
            Ok(length) => self.audience.take(self.buffer.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What is known now that it is over; `ending`: how, where that was our doing.
    fn finished(mut self, ending: Option<Ending>, running: Vec<Process>, begun: Instant) -> io::Result<Finished> {
        let status = self.started.reap()?;
        let ending = ending.unwrap_or_else(|| match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Signalled(signal.unwrap_or_default()),
        });
        Ok(Finished { ending, running, took: begun.elapsed() })
    }
}

fn is_past(moment: Instant) -> bool {
    Instant::now() >= moment
}

/// Where output goes.
enum Audience<'a> {
    Call(Follower<'a>),
    Pipe(&'a mut dyn FnMut(&[u8])),
    File { look: &'a mut dyn FnMut(), next: Instant },
}

impl Audience<'_> {
    fn take(&mut self, bytes: &[u8]) {
        match self {
            Self::Call(follower) => follower.take(bytes),
            Self::Pipe(take) => take(bytes),
            // It has no pipe.
            Self::File { .. } => {}
        }
    }

    fn due(&self) -> Option<Instant> {
        match self {
            Self::Call(follower) => follower.due(),
            Self::Pipe(_) => None,
            Self::File { next, .. } => Some(*next),
        }
    }

    fn tell(&mut self) {
        match self {
            Self::Call(follower) => follower.tell(),
            Self::Pipe(_) => {}
            Self::File { look, next } => {
                if is_past(*next) {
                    look();
                    *next = Instant::now() + FILE_INTERVAL;
                }
            }
        }
    }
}

/// A call that waits.
struct Follower<'a> {
    capture: &'a mut Capture,
    progress: &'a (dyn Fn(&str) + Sync),
    /// When progress may be told next.
    next: Instant,
    /// Whether there was output since then.
    news: bool,
    /// What was told last.
    told: String,
}

impl Follower<'_> {
    fn take(&mut self, bytes: &[u8]) {
        self.capture.push(bytes);
        self.news = true;
    }

    fn due(&self) -> Option<Instant> {
        self.news.then_some(self.next)
    }

    fn tell(&mut self) {
        if self.due().is_some_and(is_past) {
            let line = cut::head(self.capture.last_line(), PROGRESS_CHARS);
            if line != self.told {
                (self.progress)(line);
                line.clone_into(&mut self.told);
            }
            self.next = Instant::now() + PROGRESS_INTERVAL;
            self.news = false;
        }
    }
}
