//! Reading standard input for a one-shot run: never from a terminal, never for ever unless asked to.

use std::fs::File;
use std::io::{self, IsTerminal, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::base::cancel::Cancel;
use crate::product::error::Error;

/// How long a silent pipe is waited for, where nobody said that something will come.
const SILENCE: Duration = Duration::from_secs(3);
/// More than this is no prompt any more.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Read at a time: what a pipe holds on Linux.
const PIECE_BYTES: usize = 64 * 1024;

/// When standard input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A file is read; a pipe is given up after a time of silence.
    Auto,
    /// A file or pipe is read to its end, however long it takes.
    Wait,
    /// It is left alone.
    Never,
}

/// What to say where it was given up.
pub const SKIPPED: &str =
    "Standard input was open but silent and is left unread; --stdin wait waits for it, --stdin none does not look.";

/// What became of standard input.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// It was read to its end.
    Read(String),
    /// It stayed silent and was given up.
    Skipped,
    /// There was nothing to read, or it was not to be read.
    Nothing,
    /// The task was to end before the input did.
    Interrupted,
}

impl Input {
    /// The word of the `result` event.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Skipped => "skipped",
            Self::Nothing | Self::Interrupted => "none",
        }
    }
}

/// Reads the process's standard input, until `cancel` is thrown.
///
/// # Errors
///
/// When reading fails, or there is more than 16 MiB.
pub fn read(reading: Reading, cancel: &Cancel) -> Result<Input, Error> {
    let stdin = io::stdin();
    if reading == Reading::Never || stdin.is_terminal() {
        return Ok(Input::Nothing);
    }
    let Ok(handle) = stdin.as_fd().try_clone_to_owned() else { return Ok(Input::Nothing) };
    read_from(File::from(handle), reading, SILENCE, cancel)
}

fn read_from(mut source: File, reading: Reading, silence: Duration, cancel: &Cancel) -> Result<Input, Error> {
    let cannot = |error: io::Error| Error::failed("standard input cannot be read").caused_by(error);
    // A file is there; anything else is waited for.
    let waits = source.metadata().is_ok_and(|metadata| !metadata.is_file());
    let (woken, mut wake) = io::pipe().map_err(cannot)?;
    let _on_cancel = cancel.on_cancel(move || {
        // A full pipe wakes as well.
        let _ = wake.write_all(&[0]);
    });
    let mut patience = (reading == Reading::Auto).then_some(silence);
    let mut bytes = Vec::new();
    let mut piece = [0; PIECE_BYTES];
    loop {
        match if waits { ready(&source, &woken, patience) } else { Ready::Source } {
            Ready::Source => {}
            Ready::Cancelled => return Ok(Input::Interrupted),
            Ready::Nobody => return Ok(Input::Skipped),
        }
        patience = None;
        let count = match source.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(cannot(error)),
        };
        bytes.extend_from_slice(&piece[..count]);
        if bytes.len() > MOST_BYTES {
            return Err(Error::usage("standard input holds more than 16 MB")
                .hint("save it to a file and name the file in the prompt; the agent can search in it"));
        }
    }
    Ok(if bytes.is_empty() { Input::Nothing } else { Input::Read(String::from_utf8_lossy(&bytes).into_owned()) })
}

/// The first line of standard input, without its end; `None` if there is nothing, or `cancel` is thrown before it has come.
///
/// # Errors
///
/// Failed: it cannot be read. Usage: it is longer than any line that is meant.
pub fn line(cancel: &Cancel) -> Result<Option<String>, Error> {
    let Ok(handle) = io::stdin().as_fd().try_clone_to_owned() else { return Ok(None) };
    line_from(File::from(handle), cancel)
}

fn line_from(mut source: File, cancel: &Cancel) -> Result<Option<String>, Error> {
    let cannot = |error: io::Error| Error::failed("standard input cannot be read").caused_by(error);
    let (woken, mut wake) = io::pipe().map_err(cannot)?;
    let _on_cancel = cancel.on_cancel(move || {
        // A full pipe wakes as well.
        let _ = wake.write_all(&[0]);
    });
    let (mut bytes, mut piece) = (Vec::new(), [0; PIECE_BYTES]);
    loop {
        match ready(&source, &woken, None) {
            Ready::Source => {}
            Ready::Cancelled | Ready::Nobody => return Ok(None),
        }
        let count = match source.read(&mut piece) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(cannot(error)),
        };
        bytes.extend_from_slice(&piece[..count]);
        let line = bytes.iter().position(|byte| *byte == b'\n');
        match line.map(|end| &bytes[..end]) {
            Some(line) => return Ok(Some(String::from_utf8_lossy(line).into_owned())),
            None if count == 0 && bytes.is_empty() => return Ok(None),
            None if count == 0 => return Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            None if bytes.len() > PIECE_BYTES => {
                return Err(Error::usage("standard input begins with a line of more than 64 KB"));
            }
            None => {}
        }
    }
}

/// What a wait for standard input came to.
enum Ready {
    /// There is something to read, or the end.
    Source,
    /// The task is to end.
    Cancelled,
    /// Neither, within the time.
    Nobody,
}

fn ready(source: &File, woken: &PipeReader, patience: Option<Duration>) -> Ready {
    let timeout = patience.and_then(|patience| Timespec::try_from(patience).ok());
    let mut polled = [PollFd::new(woken, PollFlags::IN), PollFd::new(source, PollFlags::IN)];
    loop {
        match poll(&mut polled, timeout.as_ref()) {
            Ok(0) => return Ready::Nobody,
            Ok(_) if !polled[0].revents().is_empty() => return Ready::Cancelled,
            Err(rustix::io::Errno::INTR) => {}
            // What cannot be polled can be read.
            Ok(_) | Err(_) => return Ready::Source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    fn pipe() -> (File, File) {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        (File::from(reader), File::from(writer))
    }

    #[test]
    fn a_silent_pipe_is_given_up() {
        let (reader, _writer) = pipe();
        assert_eq!(read_from(reader, Reading::Auto, SHORT, &Cancel::new()).unwrap(), Input::Skipped);
    }

    #[test]
    fn a_pipe_that_has_begun_is_read_to_its_end() {
        let (reader, mut writer) = pipe();
        writer.write_all("be\u{fc}".as_bytes()).unwrap();
        let later = std::thread::spawn(move || {
            // Longer than the silence that would have given it up.
            std::thread::park_timeout(SHORT * 3);
            writer.write_all(b" end\xff").unwrap();
        });
        assert_eq!(
            read_from(reader, Reading::Auto, SHORT, &Cancel::new()).unwrap(),
            Input::Read("beü end\u{fffd}".into())
        );
        later.join().unwrap();
    }

    #[test]
    fn an_empty_pipe_and_an_empty_file_are_nothing() {
        let (reader, writer) = pipe();
        drop(writer);
        assert_eq!(read_from(reader, Reading::Auto, SHORT, &Cancel::new()).unwrap(), Input::Nothing);
        assert_eq!(
            read_from(tempfile::tempfile().unwrap(), Reading::Wait, SHORT, &Cancel::new()).unwrap(),
            Input::Nothing
        );
    }

    #[test]
    fn a_line_is_read_without_waiting_for_the_end() {
        let (reader, mut writer) = pipe();
        writer.write_all(b"k-1\r\nmore").unwrap();
        assert_eq!(line_from(reader, &Cancel::new()).unwrap().as_deref(), Some("k-1\r"));
        let (reader, mut last) = pipe();
        last.write_all(b"k-2").unwrap();
        drop(last);
        assert_eq!(line_from(reader, &Cancel::new()).unwrap().as_deref(), Some("k-2"));
        assert_eq!(line_from(tempfile::tempfile().unwrap(), &Cancel::new()).unwrap(), None);
        let endless = tempfile::tempfile().unwrap();
        endless.set_len(MOST_BYTES as u64).unwrap();
        assert!(line_from(endless, &Cancel::new()).is_err());
        let (silent, _writer) = pipe();
        let cancel = Cancel::new();
        cancel.cancel();
        assert_eq!(line_from(silent, &cancel).unwrap(), None);
    }

    #[test]
    fn too_much_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(MOST_BYTES as u64 + 1).unwrap();
        assert!(read_from(file, Reading::Auto, SHORT, &Cancel::new()).unwrap_err().to_string().contains("16 MB"));
    }

    #[test]
    fn a_pipe_that_never_ends_can_be_interrupted() {
        let (reader, mut writer) = pipe();
        writer.write_all(b"a beginning").unwrap();
        let cancel = Cancel::new();
        let remote = cancel.clone();
        let later = std::thread::spawn(move || remote.cancel());
        assert_eq!(read_from(reader, Reading::Wait, SHORT, &cancel).unwrap(), Input::Interrupted);
        later.join().unwrap();
    }
}
