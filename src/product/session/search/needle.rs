//! The words that are looked for: as they are, and as JSON may spell them. Pure.

use std::fmt::Write as _;
use std::ops::Range;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::product::error::Error;

/// Whether capitals tell words apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Where the words have some.
    Smart,
    /// They do.
    Sensitive,
}

/// Words to look for, literally.
#[derive(Debug)]
pub struct Needle {
    /// What between them let through every line of a session's file that may have them. One matcher for both would
    /// take twice as long as the two.
    pub(super) lines: [RegexMatcher; 2],
    plain: RegexMatcher,
}

/// Spellings that our own files do not have but JSON allows, after which anything may follow; and what is kept outside
/// of the file. Such lines are rare.
const ELSEWHERE: &str = r#"\\u(?:[1-9a-fA-F]|0[1-9a-fA-F]|00[2-9a-fA-F])|\\/|"blob""#;

impl Needle {
    /// Words as somebody typed them.
    ///
    /// # Errors
    ///
    /// Usage where there are none, or too many.
    pub fn new(words: &str, case: Case) -> Result<Self, Error> {
        if words.trim().is_empty() {
            return Err(Error::usage("there is nothing to search for").hint("`agent sessions search TEXT`"));
        }
        let ignore = match case {
            Case::Smart => !words.chars().any(char::is_uppercase),
            Case::Sensitive => false,
        };
        let too_long = |error| Error::usage("the text to search for is too long").caused_by(error);
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(ignore);
        let plain = builder.build(&literal(words)).map_err(too_long)?;
        // Lines are what the searcher reads; in JSON none goes on behind its break.
        builder.line_terminator(Some(b'\n'));
        let spelt = builder.build(&spelt(words)).map_err(too_long)?;
        let elsewhere = builder.case_insensitive(false).build(ELSEWHERE).map_err(too_long)?;
        Ok(Self { lines: [spelt, elsewhere], plain })
    }

    /// Where they first are in a text, in bytes.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        // This matcher never fails.
        let found = self.plain.find(text.as_bytes()).unwrap_or_default();
        found.map(|found| found.start()..found.end())
    }
}

/// A pattern for the words alone.
fn literal(words: &str) -> String {
    let mut pattern = String::with_capacity(words.len() * 2);
    words.chars().for_each(|letter| push(letter, &mut pattern));
    pattern
}

/// A pattern for the words inside of a JSON string.
fn spelt(words: &str) -> String {
    let mut pattern = String::with_capacity(words.len() * 2);
    for letter in words.chars() {
        let short = match letter {
            '"' => Some('"'),
            '\\' => Some('\\'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            _ => None,
        };
        match (short, letter) {
            (Some(short), '"' | '\\') => {
                pattern.push_str(r"\\");
                push(short, &mut pattern);
            }
            (Some(short), _) => {
                let _ = write!(pattern, r"(?:\\{short}|\\u(?i:{:04x}))", u32::from(letter));
            }
            (None, '\0'..='\x1f') => {
                let _ = write!(pattern, r"\\u(?i:{:04x})", u32::from(letter));
            }
            (None, _) => push(letter, &mut pattern),
        }
    }
    pattern
}

/// Appends a letter as a pattern for itself.
fn push(letter: char, pattern: &mut String) {
    if letter.is_ascii_punctuation() || letter.is_control() {
        let _ = write!(pattern, r"\x{{{:x}}}", u32::from(letter));
    } else {
        pattern.push(letter);
    }
}
