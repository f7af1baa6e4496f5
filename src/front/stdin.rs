//! Reading standard input for a one-shot run: never from a terminal, never for ever unless asked to.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::product::error::Error;

/// How long a silent pipe is waited for, where nobody said that something will come.
const SILENCE: Duration = Duration::from_secs(3);
/// More than this is no prompt any more.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

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

/// What became of standard input.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// It was read to its end.
    Read(String),
    /// It stayed silent and was given up.
    Skipped,
    /// There was nothing to read, or it was not to be read.
    Nothing,
}

impl Input {
    /// The word of the `result` event.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Skipped => "skipped",
            Self::Nothing => "none",
        }
    }
}

/// Reads the process's standard input.
///
/// # Errors
///
/// When reading fails, or there is more than 16 MiB.
pub fn read(reading: Reading) -> Result<Input, Error> {
    let stdin = io::stdin();
    if reading == Reading::Never || stdin.is_terminal() {
        return Ok(Input::Nothing);
    }
    let Ok(handle) = stdin.as_fd().try_clone_to_owned() else { return Ok(Input::Nothing) };
    read_from(File::from(handle), reading, SILENCE)
}

fn read_from(source: File, reading: Reading, silence: Duration) -> Result<Input, Error> {
    let waits = source.metadata().is_ok_and(|metadata| !metadata.is_file());
    if reading == Reading::Auto && waits && !speaks_within(&source, silence) {
        return Ok(Input::Skipped);
    }
    let mut bytes = Vec::new();
    let read = source.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::failed("standard input cannot be read").caused_by(error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::usage("standard input holds more than 16 MB")
            .hint("save it to a file and name the file in the prompt; the agent can search in it"));
    }
    Ok(if bytes.is_empty() { Input::Nothing } else { Input::Read(String::from_utf8_lossy(&bytes).into_owned()) })
}

/// Whether there is a first byte, or the end, within that time.
fn speaks_within(source: &File, silence: Duration) -> bool {
    let timeout = Timespec::try_from(silence).ok();
    let mut polled = [PollFd::new(source, PollFlags::IN)];
    loop {
        match poll(&mut polled, timeout.as_ref()) {
            Ok(ready) => return ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            // What cannot be polled can be read.
            Err(_) => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const SHORT: Duration = Duration::from_millis(20);

    fn pipe() -> (File, File) {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        (File::from(reader), File::from(writer))
    }

    #[test]
    fn a_silent_pipe_is_given_up() {
        let (reader, _writer) = pipe();
        assert_eq!(read_from(reader, Reading::Auto, SHORT).unwrap(), Input::Skipped);
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
        assert_eq!(read_from(reader, Reading::Auto, SHORT).unwrap(), Input::Read("beü end\u{fffd}".into()));
        later.join().unwrap();
    }

    #[test]
    fn an_empty_pipe_and_an_empty_file_are_nothing() {
        let (reader, writer) = pipe();
        drop(writer);
        assert_eq!(read_from(reader, Reading::Auto, SHORT).unwrap(), Input::Nothing);
        assert_eq!(read_from(tempfile::tempfile().unwrap(), Reading::Wait, SHORT).unwrap(), Input::Nothing);
    }

    #[test]
    fn too_much_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(MOST_BYTES + 1).unwrap();
        assert!(read_from(file, Reading::Auto, SHORT).unwrap_err().to_string().contains("16 MB"));
    }
}
