//! Starting one shell line in a session of its own, and holding what was started.
//!
//! Follows nothing and ends nothing, but for what is dropped before anybody attends to it.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal};

use super::env::CommandEnv;
use super::process::StartError;
use super::wait;

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
}

/// A started shell. Dropping it kills what is left of it.
#[derive(Debug)]
pub struct Started {
    child: Child,
    /// Its number, and that of its session and group.
    pub(super) leader: Pid,
    /// What it prints, until the end of that was read; none where it goes to a file.
    pub(super) output: Option<PipeReader>,
    /// Ready once the shell has ended.
    pub(super) exit: OwnedFd,
    reaped: bool,
}

impl Started {
    /// Starts a shell whose output is read from a pipe.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn piped(line: &CommandLine<'_>) -> Result<Self, StartError> {
        let (output, writer) = io::pipe()?;
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE_BYTES);
        Self::of(spawn(line, writer.try_clone()?.into(), writer.into())?, Some(output))
    }

    /// Starts a shell that prints into a file.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn printing_to(file: File, line: &CommandLine<'_>) -> Result<Self, StartError> {
        Self::of(spawn(line, file.try_clone()?.into(), file.into())?, None)
    }

    fn of(mut child: Child, output: Option<PipeReader>) -> Result<Self, StartError> {
        let leader = Pid::from_child(&child);
        let exit = wait::on_exit(leader).inspect_err(|_| {
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
            let _ = child.wait();
        })?;
        Ok(Self { child, leader, output, exit, reaped: false })
    }

    /// The shell's number, which is also that of its session.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The shell's status. One that could not be killed has none and is left to the system.
    pub(super) fn reap(&mut self) -> io::Result<ExitStatus> {
        self.reaped = true;
        Ok(self.child.try_wait()?.unwrap_or_default())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = rustix::process::kill_process_group(self.leader, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn spawn(line: &CommandLine<'_>, stdout: Stdio, stderr: Stdio) -> Result<Child, StartError> {
    let mut command = Command::new(line.env.shell().ok_or(StartError::NoShell)?);
    // `--`, because a shell takes a command that begins with a dash for an option.
    command.args(["-c", "--", line.command]).current_dir(line.cwd);
    command.env_clear().envs(line.env.vars()).env("PWD", line.cwd);
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
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
