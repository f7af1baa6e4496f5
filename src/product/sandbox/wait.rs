//! Waiting for several things of a running command at once, without a clock that ticks.
//!
//! Only tells what is ready; it reads nothing and ends nothing.

use std::io::{self, PipeReader, PipeWriter, Write};
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
    on_exit_by_thread(pid)
}

/// The same where the kernel has no descriptors for processes: a thread sleeps until the end.
fn on_exit_by_thread(pid: Pid) -> io::Result<OwnedFd> {
    let (reader, writer) = io::pipe()?;
    thread::Builder::new().name("exit".to_owned()).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(pid), options));
        wake(&writer);
    })?;
    Ok(reader.into())
}

/// Makes the other end ready. Hanging up would not be enough: a process that is just being forked elsewhere holds a copy
/// of this end until it becomes its program.
fn wake(mut writer: &PipeWriter) {
    // An empty pipe takes a byte at once; without a reader nobody waits.
    let _ = writer.write(&[0]);
}

/// A descriptor that is ready once `cancel` is thrown, as long as the registration lives.
pub(super) fn on_cancel(cancel: &Cancel) -> io::Result<(PipeReader, Registration)> {
    let (reader, writer) = io::pipe()?;
    let registration = cancel.on_cancel(move || wake(&writer));
    Ok((reader, registration))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    #[test]
    fn an_exit_is_noticed_and_the_status_is_left() {
        for watch in [on_exit, on_exit_by_thread] {
            let mut child = Command::new("sh").args(["-c", "read x; exit 7"]).stdin(Stdio::piped()).spawn().unwrap();
            let exit = watch(Pid::from_child(&child)).unwrap();
            let is_over = |until| ready(&[None, Some(exit.as_fd())], Some(until)).unwrap();
            assert_eq!(is_over(Instant::now()), [false, false]);
            drop(child.stdin.take());
            assert_eq!(is_over(Instant::now() + Duration::from_secs(30)), [false, true]);
            assert_eq!(child.wait().unwrap().code(), Some(7));
        }
    }

    #[test]
    fn cancelling_is_noticed_early_and_late() {
        let cancel = Cancel::new();
        let (early, _early) = on_cancel(&cancel).unwrap();
        let is_ready = |pipe: &PipeReader| ready(&[Some(pipe.as_fd())], Some(Instant::now())).unwrap() == [true];
        assert!(!is_ready(&early));
        cancel.cancel();
        let (late, _late) = on_cancel(&cancel).unwrap();
        assert!(is_ready(&early) && is_ready(&late));
    }
}
