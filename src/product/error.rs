//! Errors for people: a kind that decides the exit code, one line, its cause, and hints.

use std::fmt;

/// What a command could not do. Printed once, by `main`.
#[derive(Debug)]
pub struct Error {
    /// Decides the exit code.
    pub kind: Kind,
    /// What failed and where; lower case, no full stop.
    pub message: String,
    /// What to do about it, a sentence each.
    pub hints: Vec<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of failure a script can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The task failed.
    Failed,
    /// Bad usage or configuration.
    Usage,
    /// Provider or authentication.
    Provider,
    /// The same: there is no model that could be asked, as on a machine where nothing has been set up yet.
    Nobody,
}

impl Kind {
    /// The code of the event vocabulary.
    pub fn code(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Provider | Self::Nobody => "provider",
        }
    }

    /// The exit code of the command line's contract.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Provider | Self::Nobody => 4,
        }
    }
}

impl Error {
    /// The task failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// Bad usage or configuration.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Provider or authentication.
    pub fn provider(message: impl Into<String>) -> Self {
        Self::new(Kind::Provider, message)
    }

    /// There is no model to ask.
    pub fn nobody(message: impl Into<String>) -> Self {
        Self::new(Kind::Nobody, message)
    }

    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), source: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the cause; it is printed after the message.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Error {
    /// One line: the message and the chain of its causes, each once: some tell their own cause themselves.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = self.message.clone();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let text = without_number(&error.to_string());
            if !line.ends_with(&text) {
                line = format!("{line}: {text}");
            }
            cause = error.source();
        }
        f.write_str(&line)
    }
}

/// What the standard library writes behind the words of the system, around its number.
const NUMBER: (&str, char) = (" (os error ", ')');

/// A cause without the system's number, which says nothing to people that the words do not.
fn without_number(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(NUMBER.0) {
        plain.push_str(before);
        rest = after.split_once(NUMBER.1).map_or("", |(_, rest)| rest);
    }
    plain + rest
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source.as_ref() as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::Error;
    use crate::product::files::FileError;

    #[test]
    fn a_cause_is_told_once_and_in_words() {
        let source = || io::Error::from_raw_os_error(2);
        let error = Error::failed("cannot read x").caused_by(source());
        assert_eq!(error.to_string(), "cannot read x: No such file or directory");
        let file = FileError::System { path: PathBuf::from("/d/a.json"), source: source() };
        let error = Error::failed("what is written here is not kept").caused_by(file);
        assert_eq!(error.to_string(), "what is written here is not kept: /d/a.json: No such file or directory");
    }
}
