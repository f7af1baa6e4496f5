//! The regex of a search, compiled: line by line where it can be, across lines where the pattern asks for it.

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::kernel::tool::echo;

/// The most a compiled regex may take, in bytes: a pattern of some thousand words fits, a repetition gone wild does not.
const SIZE_LIMIT_BYTES: usize = 16 << 20;

/// The most that a thread's cache of the lazy automaton may take, in bytes.
const CACHE_LIMIT_BYTES: usize = 32 << 20;

/// A compiled pattern and how files are to be read for it.
pub struct Pattern {
    /// The regex.
    pub matcher: RegexMatcher,
    /// Whether a match may span lines, so that a file has to be in memory as a whole.
    pub spans_lines: bool,
}

impl Pattern {
    /// Compiles a pattern. One that can only match with a line break in it, or sets the flag `s`, spans lines.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in one line.
    pub fn new(pattern: &str, ignore_case: bool) -> Result<Self, String> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(ignore_case)
            .multi_line(true)
            .size_limit(SIZE_LIMIT_BYTES)
            .dfa_size_limit(CACHE_LIMIT_BYTES)
            .crlf(true);
        if !lets_dot_match_line_breaks(pattern) {
            // Fails where the pattern asks for a line break.
            if let Ok(matcher) = builder.build(pattern) {
                return Ok(Self { matcher, spans_lines: false });
            }
        }
        // Where a carriage return is asked for, it is part of the line.
        builder.crlf(!pattern.contains("\\r") && !pattern.contains('\r')).line_terminator(None);
        match builder.build(pattern) {
            Ok(matcher) => Ok(Self { matcher, spans_lines: true }),
            Err(error) => Err(complaint(pattern, &error.to_string())),
        }
    }

    /// How lines end for the searcher: as the regex was told.
    pub fn line_terminator(&self) -> LineTerminator {
        if self.spans_lines { LineTerminator::byte(b'\n') } else { LineTerminator::crlf() }
    }
}

/// Whether the pattern has a group of flags with `s` in it, such as `(?s)` or `(?is:`.
fn lets_dot_match_line_breaks(pattern: &str) -> bool {
    pattern.split("(?").skip(1).any(|group| {
        let flags = group.chars().take_while(char::is_ascii_alphabetic);
        let flags: String = flags.collect();
        flags.contains('s') && group[flags.len()..].starts_with([')', ':', '-'])
    })
}

/// The last line of what the parser says; the lines before it draw arrows under the pattern.
fn complaint(pattern: &str, error: &str) -> String {
    let last = error.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(error);
    let reason = echo(last.trim().trim_start_matches("error: "));
    let pattern = echo(pattern);
    format!(
        "bad pattern {pattern:?}: {reason}; it is a regex in Rust's syntax, so to search for . * + ? ( ) [ ] {{ }} | ^ $ or \\ put \\ before them"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_patterns_that_ask_for_it_span_lines() {
        for (pattern, spans) in [
            ("fn main", false),
            (r"a\s+b", false),
            ("[^x]+", false),
            ("(?i)abc", false),
            (r"a\nb", true),
            ("a\nb", true),
            (r"\r$", true),
            ("(?s)a.*b", true),
            ("x(?is:a.b)", true),
        ] {
            assert_eq!(Pattern::new(pattern, false).unwrap().spans_lines, spans, "{pattern}");
        }
    }

    #[test]
    fn a_bad_pattern_is_explained_in_one_line() {
        for (pattern, words) in [
            ("(unclosed", "unclosed group"),
            ("a(?=b)", "look-around"),
            (r"(a)\1", "backreferences"),
            (r"\w{9999}{999}", "limit"),
        ] {
            let complaint = Pattern::new(pattern, false).err().unwrap();
            assert!(complaint.contains(words) && !complaint.contains('\n'), "{complaint}");
        }
    }
}
