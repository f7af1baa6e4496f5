//! The two ends of the line to a terminal: reading and writing that never wait for longer than asked.
//!
//! What the bytes mean is not known here.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fstat};
use rustix::io::Errno;
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, isatty, tcflush, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr, ttyname,
};

/// Where a write may block, so much is written at a time: little enough to fit where there is any room.
const PIECE_BYTES: usize = 512;

/// A terminal, to read from and to write to.
#[derive(Debug)]
pub struct Line {
    input: OwnedFd,
    output: OwnedFd,
    /// Whether a write waits until all of it has gone.
    blocks: bool,
}

/// What came of reading or writing once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// So many bytes, at least one.
    Bytes(usize),
    /// None for now.
    Nothing,
    /// The terminal is no more.
    Gone,
}

impl Line {
    /// The terminal on standard input and output. Both are opened anew where that is possible: reading and writing must
    /// not wait, and to say so of the shell's own descriptors would outlive us.
    ///
    /// # Errors
    ///
    /// When a descriptor cannot be had.
    pub fn stdio() -> io::Result<Self> {
        Self::of(rustix::stdio::stdin(), rustix::stdio::stdout())
    }

    /// The terminal on two descriptors.
    ///
    /// # Errors
    ///
    /// When a descriptor cannot be had.
    pub fn of(input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> io::Result<Self> {
        let (input, output) = (own(input)?, own(output)?);
        let blocks = fcntl_getfl(&output).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK));
        Ok(Self { input, output, blocks })
    }

    /// What becomes readable.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// What becomes writable.
    pub fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    /// Reads what there is. To be called only when something is there.
    pub fn read(&self, buffer: &mut [u8]) -> Moved {
        loop {
            match rustix::io::read(&self.input, &mut *buffer) {
                Ok(0) => return Moved::Gone,
                Ok(count) => return Moved::Bytes(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Moved::Nothing,
                Err(_) => return Moved::Gone,
            }
        }
    }

    /// Writes what there is room for.
    pub fn write(&self, bytes: &[u8]) -> Moved {
        let piece = if self.blocks { bytes.get(..PIECE_BYTES).unwrap_or(bytes) } else { bytes };
        loop {
            if self.blocks && !self.has_room(Duration::ZERO) {
                return Moved::Nothing;
            }
            match rustix::io::write(&self.output, piece) {
                Ok(0) | Err(Errno::AGAIN) => return Moved::Nothing,
                Ok(count) => return Moved::Bytes(count),
                Err(Errno::INTR) => {}
                Err(_) => return Moved::Gone,
            }
        }
    }

    /// Writes all of it, as long as the terminal takes something at least every `patience`. Returns how much it took.
    pub fn write_patiently(&self, bytes: &[u8], patience: Duration) -> usize {
        let mut sent = 0;
        while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
            match self.write(rest) {
                Moved::Bytes(count) => sent += count,
                Moved::Nothing if self.has_room(patience) => {}
                Moved::Nothing | Moved::Gone => break,
            }
        }
        sent
    }

    fn has_room(&self, patience: Duration) -> bool {
        ready(&mut [PollFd::new(&self.output, PollFlags::OUT)], Some(Instant::now() + patience))
    }

    /// Reads and forgets, until `last` was among it, or `patience` is over.
    pub fn discard_until(&self, last: impl Fn(&[u8]) -> bool, patience: Duration) {
        let deadline = Instant::now() + patience;
        let (mut seen, mut buffer) = (Vec::new(), [0; 1024]);
        while ready(&mut [PollFd::new(&self.input, PollFlags::IN)], Some(deadline)) {
            match self.read(&mut buffer) {
                Moved::Bytes(count) => seen.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Moved::Nothing => {}
                Moved::Gone => return,
            }
            if last(&seen) || Instant::now() >= deadline {
                return;
            }
        }
    }

    /// How it is set.
    ///
    /// # Errors
    ///
    /// When it is no terminal, or gone.
    pub fn settings(&self) -> io::Result<Termios> {
        Ok(tcgetattr(&self.input)?)
    }

    /// Sets it, at once: to wait until all has been shown could be for ever. Not from the background, where it would stop
    /// the process.
    ///
    /// # Errors
    ///
    /// When it is no terminal, or gone.
    pub fn set(&self, settings: &Termios) -> io::Result<()> {
        Ok(tcsetattr(&self.input, OptionalActions::Now, settings)?)
    }

    /// Forgets what was typed and not read. Not from the background.
    pub fn forget_input(&self) {
        // A terminal that is gone has nothing to forget.
        let _ = tcflush(&self.input, QueueSelector::IFlush);
    }

    /// Columns and rows; `None` where the terminal does not know them.
    pub fn size(&self) -> Option<(u16, u16)> {
        let size = tcgetwinsize(&self.output).ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
    }

    /// Whether this process may use it now; a terminal that does not control our session has no background.
    pub fn is_in_front(&self) -> bool {
        tcgetpgrp(&self.input).map_or(true, super::job::is_own)
    }
}

/// Waits until one of `polled` is ready. Returns whether one is; no deadline is for ever.
pub fn ready(polled: &mut [PollFd<'_>], deadline: Option<Instant>) -> bool {
    loop {
        let timeout = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match poll(polled, timeout.as_ref()) {
            Ok(count) => return count > 0,
            Err(Errno::INTR) => {}
            // Nothing there could ever become ready; what reads or writes is told why.
            Err(_) => return false,
        }
    }
}

/// The same terminal in a description of its own that never blocks, else the same one.
fn own(descriptor: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let link = PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd()));
    let name = ttyname(descriptor, Vec::new()).ok();
    let name = name.as_ref().map(|name| Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())));
    let opened = [Some(link.as_path()), name].into_iter().flatten().find_map(|path| open_same(path, descriptor));
    opened.map_or_else(|| descriptor.try_clone_to_owned(), Ok)
}

fn open_same(path: &Path, descriptor: BorrowedFd<'_>) -> Option<OwnedFd> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).ok()?;
    let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).ok()?;
    let same = fstat(&opened).ok()?.st_rdev == fstat(descriptor).ok()?.st_rdev;
    (same && isatty(&opened)).then(|| opened.into())
}
