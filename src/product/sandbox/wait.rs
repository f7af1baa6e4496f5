//! Waiting for several things of a running command at once, without a clock that ticks.
//!
//! Only tells what is ready; it reads nothing and ends nothing.

use std::io::{self, PipeReader};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, WaitId, WaitIdOptions};

use crate::base::cancel::{Cancel, Registration};

/// Waits until one of `fds` is ready or the moment has come; tells which are ready.
pub(super) fn ready(fds: &[Option<BorrowedFd<'_>>], until: Option<Instant>) -> io::Result<Vec<bool>> {
    let mut polled: Vec<PollFd<'_>> =
        fds.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // A time too long for the system's type is as good as none.
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match rustix::event::poll(&mut polled, left.as_ref()) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut events = polled.iter().map(|fd| !fd.revents().is_empty());
    Ok(fds.iter().map(|fd| fd.is_some() && events.next().unwrap_or(false)).collect())
}

/// A descriptor that is ready once the process, a child of ours, has ended. It is still there to be waited for.
pub(super) fn on_exit(pid: Pid) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if let Ok(process) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        return Ok(process);
    }
    // Where the kernel has no descriptors for processes, a thread sleeps until the end and hangs up.
    let (reader, writer) = io::pipe()?;
    thread::Builder::new().name("exit".to_owned()).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(pid), options));
        drop(writer);
    })?;
    Ok(reader.into())
}

/// A descriptor that is ready once `cancel` is thrown, as long as the registration lives.
pub(super) fn on_cancel(cancel: &Cancel) -> io::Result<(PipeReader, Registration)> {
    let (reader, writer) = io::pipe()?;
    // Hanging up is what makes the other end ready.
    let registration = cancel.on_cancel(move || drop(writer));
    Ok((reader, registration))
}
