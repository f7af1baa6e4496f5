//! The one way to standard output and standard error: stdout is data, stderr is talk.

use std::io::{ErrorKind, Write};

use crate::product::error::Error;

/// Both streams of the process, or of a test.
pub struct Out<'a> {
    stdout: &'a mut dyn Write,
    stderr: &'a mut dyn Write,
}

/// Whether anybody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Somebody reads, as far as is known.
    Listens,
    /// The reader has left; that is its right, and no error.
    Left,
}

impl<'a> Out<'a> {
    /// Both streams.
    pub fn new(stdout: &'a mut dyn Write, stderr: &'a mut dyn Write) -> Self {
        Self { stdout, stderr }
    }

    /// Writes data to stdout, at once.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written, for another reason than that its reader has left.
    pub fn data(&mut self, bytes: &[u8]) -> Result<Reader, Error> {
        match self.stdout.write_all(bytes).and_then(|()| self.stdout.flush()) {
            Ok(()) => Ok(Reader::Listens),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Left),
            Err(error) => Err(Error::failed("standard output cannot be written").caused_by(error)),
        }
    }

    /// Lets a command write to both itself.
    pub fn both<T>(&mut self, write: impl FnOnce(&mut dyn Write, &mut dyn Write) -> T) -> T {
        write(self.stdout, self.stderr)
    }

    /// Writes a line for people to stderr. Nobody is told when that fails: there is nowhere left to say it.
    pub fn talk(&mut self, line: &str) {
        let _ = self.stderr.write_all(format!("{line}\n").as_bytes());
    }

    /// Writes an error and its hints to stderr.
    pub fn error(&mut self, error: &Error) {
        self.talk(&format!("error: {error}"));
        for hint in &error.hints {
            self.talk(&format!("hint: {hint}"));
        }
    }
}
