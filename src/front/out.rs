//! The one way to standard output and standard error: stdout is data, stderr is talk.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};

use crate::base::env::Env;
use crate::base::text::clean::clean;
use crate::base::text::visible;
use crate::product::error::Error;

/// Both streams of the process, or of a test.
pub struct Out<'a> {
    stdout: &'a mut dyn Write,
    stderr: &'a mut dyn Write,
    colour: bool,
    terminal: bool,
}

/// Whether anybody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Somebody reads, as far as is known.
    Listens,
    /// The reader has left; that is its right, and no error.
    Left,
    /// The reader stopped reading, and the task has ended meanwhile.
    GivenUp,
}

/// When talk is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal that has colours, unless `NO_COLOR` is set (no-color.org).
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

impl Colour {
    /// Whether it is, on a stream that is a terminal or not.
    pub fn holds(self, env: &Env, terminal: bool) -> bool {
        let able = !matches!(env.var("TERM"), None | Some("dumb"));
        match self {
            Self::Auto => terminal && able && env.var("NO_COLOR").is_none(),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// How a piece of talk looks where there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// What passes by.
    Dim,
    /// What failed.
    Red,
    /// What a person should know.
    Yellow,
}

impl Ink {
    /// The parameter of SGR (ECMA-48).
    fn code(self) -> u8 {
        match self {
            Self::Dim => 2,
            Self::Red => 31,
            Self::Yellow => 33,
        }
    }
}

impl<'a> Out<'a> {
    /// Both streams, without colours.
    pub fn new(stdout: &'a mut dyn Write, stderr: &'a mut dyn Write) -> Self {
        Self { stdout, stderr, colour: false, terminal: false }
    }

    /// Colours talk from now on, or does not.
    pub fn set_colour(&mut self, colour: bool) {
        self.colour = colour;
    }

    /// Says whether stdout is a terminal.
    pub fn set_terminal(&mut self, terminal: bool) {
        self.terminal = terminal;
    }

    /// Text from outside as stdout may carry it: unchanged, but for a terminal without what would drive it.
    pub fn harmless<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.terminal { clean(text).into() } else { text.into() }
    }

    /// Gives data to stdout. Whether it arrived is known after [`Out::settle`].
    ///
    /// # Errors
    ///
    /// When stdout cannot be written, for another reason than its reader.
    pub fn data(&mut self, bytes: &[u8]) -> Result<Reader, Error> {
        // On a terminal both streams are one.
        let _ = self.stderr.flush();
        judged(self.stdout.write_all(bytes))
    }

    /// Waits until stdout has been written.
    ///
    /// # Errors
    ///
    /// As [`Out::data`].
    pub fn settle(&mut self) -> Result<Reader, Error> {
        judged(self.stdout.flush())
    }

    /// Lets a command write to both itself.
    pub fn both<T>(&mut self, write: impl FnOnce(&mut dyn Write, &mut dyn Write) -> T) -> T {
        write(self.stdout, self.stderr)
    }

    /// Writes a line for people to stderr. Nobody is told when that fails: there is nowhere left to say it.
    pub fn talk(&mut self, line: &str) {
        let _ = self.stdout.flush();
        let _ = self.stderr.write_all(format!("{line}\n").as_bytes());
    }

    /// Text that is to be talked, in a colour where there are some.
    pub fn inked(&self, ink: Ink, text: &str) -> String {
        if self.colour { format!("\x1b[{}m{text}\x1b[0m", ink.code()) } else { text.to_owned() }
    }

    /// Writes an error and its hints to stderr.
    pub fn error(&mut self, error: &Error) {
        // They quote what others wrote.
        self.talk(&format!("error: {}", visible::lines(&error.to_string())));
        for hint in &error.hints {
            self.talk(&format!("hint: {}", visible::lines(hint)));
        }
    }

    /// Waits until both streams have been written. Failures have been told before, or cannot be.
    pub fn close(&mut self) {
        let _ = self.stdout.flush();
        let _ = self.stderr.flush();
    }
}

fn judged(written: io::Result<()>) -> Result<Reader, Error> {
    match written {
        Ok(()) => Ok(Reader::Listens),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Left),
        Err(error) if error.kind() == ErrorKind::TimedOut => Ok(Reader::GivenUp),
        Err(error) => Err(Error::failed("standard output cannot be written").caused_by(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_unless_somebody_says_otherwise() {
        let env = |vars: &[(&str, &str)]| Env {
            vars: vars.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            ..Env::default()
        };
        let able = env(&[("TERM", "xterm")]);
        assert!(Colour::Auto.holds(&able, true) && !Colour::Auto.holds(&able, false));
        assert!(Colour::Always.holds(&able, false) && !Colour::Never.holds(&able, true));
        for unable in [env(&[]), env(&[("TERM", "dumb")]), env(&[("TERM", "xterm"), ("NO_COLOR", "1")])] {
            assert!(!Colour::Auto.holds(&unable, true) && Colour::Always.holds(&unable, true));
        }
    }
}
