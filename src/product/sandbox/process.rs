//! Running one shell line: started in a session of its own, followed until it ends, and ended with all its descendants
//! when it takes too long or is no longer wanted.
//!
//! It ends when the shell ends, however long a process in the background holds the pipe. What is shown of its output
//! is decided elsewhere.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::capture::Capture;
use super::env::CommandEnv;
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
const GRACE: Duration = Duration::from_secs(2);

/// How long a killed process may take to go. The kernel needs microseconds; one that waits for a dead disk may stay.
const KILL_WAIT: Duration = Duration::from_secs(1);

/// How often processes born meanwhile are looked for while others are being killed.
const KILL_ROUND: Duration = Duration::from_millis(50);

/// Between two lines of progress: ten a second are as many as a reader can follow.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The most of a line that is told as progress, in characters; a screen has room for one row.
const PROGRESS_CHARS: usize = 400;

/// One read of the pipe, in bytes; the size of a pipe unless it is asked for more.
const READ_BYTES: usize = 64 * 1024;

/// The pipe, in bytes: a noisy command fills it while we look at the read before.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 256 * 1024;

/// A shell line and where it runs.
#[derive(Clone, Copy, Debug)]
pub struct CommandLine<'a> {
    /// What the shell is given; no NUL inside.
    pub command: &'a str,
    /// Where it starts, absolute.
    pub cwd: &'a Path,
    /// What it knows, and where the shell is.
    pub env: &'a CommandEnv,
    /// When it is ended, from its start.
    pub timeout: Duration,
}

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

/// Runs a shell line and blocks until it is over. Its output goes to `capture`; `progress` hears the last line of it.
///
/// # Errors
///
/// When it could not be started. A command that fails is no error.
pub fn run(
    line: &CommandLine<'_>,
    capture: &mut Capture,
    progress: &(dyn Fn(&str) + Sync),
    cancel: &Cancel,
) -> Result<Finished, StartError> {
    let started = Instant::now();
    if cancel.is_cancelled() {
        return Ok(Finished { ending: Ending::Interrupted, running: Vec::new(), took: Duration::ZERO });
    }
    let follower = Follower { capture, progress, next: started + PROGRESS_INTERVAL, news: false, told: String::new() };
    let mut running = Running::start(line, follower, cancel)?;
    let over = running.follow(started.checked_add(line.timeout))?;
    let (ending, left) = match over {
        Over::Exited => {
            running.drain()?;
            let left = if running.cancelled { running.end()? } else { running.left_behind()? };
            (None, left)
        }
        Over::TimedOut => (Some(Ending::TimedOut), running.end()?),
        Over::Cancelled => (Some(Ending::Interrupted), running.end()?),
    };
    let status = running.reap()?;
    let ending = ending.unwrap_or_else(|| match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signalled(signal.unwrap_or_default()),
    });
    Ok(Finished { ending, running: left, took: started.elapsed() })
}

/// Why following has stopped.
enum Over {
    Exited,
    TimedOut,
    Cancelled,
}

/// A started shell. Dropping it kills what is left of it.
struct Running<'a> {
    child: Child,
    leader: Pid,
    /// Until its end was read.
    output: Option<PipeReader>,
    exit: OwnedFd,
    exited: bool,
    cancel: PipeReader,
    cancelled: bool,
    _registration: Registration,
    reaped: bool,
    buffer: Vec<u8>,
    follower: Follower<'a>,
}

impl<'a> Running<'a> {
    fn start(line: &CommandLine<'_>, follower: Follower<'a>, cancel: &Cancel) -> Result<Self, StartError> {
        let shell = line.env.shell().ok_or(StartError::NoShell)?;
        let (cancel, registration) = wait::on_cancel(cancel)?;
        let (output, writer) = io::pipe()?;
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE_BYTES);
        let mut child = spawn(line, &shell, writer)?;
        let leader = Pid::from_child(&child);
        let exit = wait::on_exit(leader).inspect_err(|_| {
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
            let _ = child.wait();
        })?;
        Ok(Self {
            child,
            leader,
            output: Some(output),
            exit,
            exited: false,
            cancel,
            cancelled: false,
            _registration: registration,
            reaped: false,
            buffer: vec![0; READ_BYTES],
            follower,
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
        }
    }

    /// Takes what still comes after the end.
    fn drain(&mut self) -> io::Result<()> {
        let until = Instant::now() + DRAIN;
        while self.output.is_some() && !is_past(until) {
            self.step(Some(until), None)?;
        }
        Ok(())
    }

    /// What runs on in the shell's session, which has ended.
    fn left_behind(&mut self) -> io::Result<Vec<Process>> {
        // Nearly always nothing does, and then the process table need not be read. The group's number is not given away
        // while anything is in it, so it is safe to ask for it after the shell was reaped.
        self.reap()?;
        if rustix::process::test_kill_process_group(self.leader).is_err() {
            return Ok(Vec::new());
        }
        let mut tree = Tree::of(self.leader);
        tree.look_at_younger();
        self.until_gone(&mut tree, Instant::now() + SETTLE)?;
        Ok(tree.members())
    }

    /// Ends the whole tree: asks, waits, kills. Returns what would not go.
    fn end(&mut self) -> io::Result<Vec<Process>> {
        let mut tree = Tree::of(self.leader);
        tree.look();
        tree.signal(Signal::TERM);
        self.until_gone(&mut tree, Instant::now() + GRACE)?;
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
        let _ = rustix::process::kill_process_group(self.leader, Signal::KILL);
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
        let until = self.follower.due().into_iter().chain(until).min();
        let mut fds = vec![
            self.output.as_ref().map(AsFd::as_fd),
            (!self.exited).then(|| self.exit.as_fd()),
            (!self.cancelled).then(|| self.cancel.as_fd()),
        ];
        fds.extend(tree.into_iter().flat_map(Tree::ends).map(Some));
        let ready = wait::ready(&fds, until)?;
        let is_ready = |at: usize| ready.get(at).copied().unwrap_or(false);
        self.exited |= is_ready(1);
        self.cancelled |= is_ready(2);
        if is_ready(0) {
            self.read()?;
        }
        self.follower.tell();
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        match output.read(&mut self.buffer) {
            Ok(0) => self.output = None,
            Ok(length) => self.follower.take(self.buffer.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The shell's status. One that could not be killed has none and is left to the system.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        self.reaped = true;
        Ok(self.child.try_wait()?.unwrap_or_default())
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = rustix::process::kill_process_group(self.leader, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn is_past(moment: Instant) -> bool {
    Instant::now() >= moment
}

fn spawn(line: &CommandLine<'_>, shell: &Path, output: io::PipeWriter) -> Result<Child, StartError> {
    let mut command = Command::new(shell);
    // `--`, because a shell takes a command that begins with a dash for an option.
    command.args(["-c", "--", line.command]).current_dir(line.cwd);
    command.env_clear().envs(line.env.vars()).env("PWD", line.cwd);
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    #[expect(unsafe_code, reason = "std has no stable way to begin a session; setsid and prctl are async-signal-safe")]
    // SAFETY: between fork and exec the closure makes two system calls; it takes no lock and no memory.
    unsafe {
        command.pre_exec(begin_session);
    }
    command.spawn().map_err(|error| {
        if error.kind() == io::ErrorKind::ArgumentListTooLong {
            StartError::TooLong(line.command.len())
        } else if line.cwd.is_dir() {
            StartError::Io(error)
        } else {
            StartError::NoFolder(line.cwd.to_owned())
        }
    })
}

/// Takes the new process away from our terminal and lets it adopt the daemons among its descendants.
fn begin_session() -> io::Result<()> {
    rustix::process::setsid()?;
    // The attribute outlives exec and is not inherited, so that lineage finds even what has left the session. A kernel
    // that refuses costs only that.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    Ok(())
}

/// Where output goes.
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
