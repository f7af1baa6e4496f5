//! What a person allowed for a whole session.
//!
//! Only the words are here; what a grant covers is for `product::permission` to say.

use serde::{Deserialize, Serialize};

/// The answer to the question that is asked once per session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// Everything.
    All,
    /// What looks, and what changes files of the workspace.
    Write,
    /// What only looks.
    Safe,
    /// Nothing, not even what only looks.
    None,
}

impl Grant {
    /// The word of session files and of the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Write => "write",
            Self::Safe => "safe",
            Self::None => "none",
        }
    }

    /// The reverse of [`Grant::as_str`].
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::All, Self::Write, Self::Safe, Self::None].into_iter().find(|grant| grant.as_str() == word)
    }
}
