//! A text that must not be shown: a type, so that forgetting takes effort.

use std::fmt;
use std::sync::Arc;

/// A secret. `Debug` and `Display` show only that there is one.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Takes a text in, without the blanks and line ends around it, and without the mark that some editors put before a
    /// text: pasted keys often carry some.
    pub fn new(text: &str) -> Self {
        Self(text.trim_start_matches('\u{feff}').trim().into())
    }

    /// The secret itself, for whoever has to send it or to look for it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_shown_to_nobody() {
        let secret = Secret::new("\u{feff} sk-1\n");
        assert_eq!(secret.expose(), "sk-1");
        assert!(!format!("{secret} {secret:?} {:?}", Some(&secret)).contains("sk-1"));
    }
}
