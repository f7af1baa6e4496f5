//! Cutting an output down to what the model gets to see: by characters first, then by lines. The head and the tail keep
//! half each, and one line between them says what is missing and where all of it is.
//!
//! Changes nothing else about a text and knows no tool.

#[cfg(test)]
mod tests;

use super::tool::{Captured, Gap, Limits, Output};
use crate::base::text::{cut, numbers};

/// What the model gets to see of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The text, the line that says what was left out, and the footer.
    pub text: String,
    /// Whether anything was left out.
    pub truncated: bool,
}

/// Cuts `output` to `limits`. The line about what was left out and the footer come on top of them.
pub fn fit(output: &Output, limits: Limits) -> Fitted {
    let cut = Cut::new(&output.text, limits);
    let mut text = String::with_capacity(cut.head.len() + cut.tail.len() + 256);
    text.push_str(cut.head);
    if let Some(omitted) = &cut.omitted {
        on_own_line(&mut text, &omitted.line(output));
        if !cut.tail.is_empty() {
            text.push('\n');
        }
    }
    text.push_str(cut.tail);
    if let Some(footer) = &output.footer {
        on_own_line(&mut text, footer);
    }
    Fitted { text, truncated: cut.omitted.is_some() }
}

fn on_own_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

/// The two ends of a text that are kept.
#[derive(Debug)]
struct Cut<'a> {
    /// A prefix of the text; all of it where nothing is omitted and it had no gap.
    head: &'a str,
    /// A suffix of the text that does not overlap the head.
    tail: &'a str,
    omitted: Option<Omitted>,
}

impl<'a> Cut<'a> {
    fn new(text: &'a Captured, limits: Limits) -> Self {
        let gap = text.gap.unwrap_or(Gap { chars: 0, line_breaks: 0 });
        let whole = text.gap.is_none() && text.tail.is_empty();
        let (head_chars, tail_chars) = (chars(&text.head), chars(&text.tail));
        let all_chars = head_chars + gap.chars + tail_chars;
        let all_breaks = breaks(&text.head) + gap.line_breaks + breaks(&text.tail);

        let (mut head, mut tail) = (text.head.as_str(), if whole { text.head.as_str() } else { text.tail.as_str() });
        // A whole text is its own head and tail; its two cuts meet only where it was not too long after all.
        let mut is_cut = text.gap.is_some();
        if all_chars > as_count(limits.chars) {
            head = cut::head(head, limits.chars / 2);
            tail = cut::tail(tail, limits.chars - limits.chars / 2);
            is_cut = true;
        }
        let shown_lines = if whole && !is_cut { lines(head) } else { lines(head) + lines(tail) };
        if shown_lines > as_count(limits.lines) {
            head = cut::head_lines(head, limits.lines / 2);
            tail = cut::tail_lines(tail, limits.lines - limits.lines / 2);
            is_cut = true;
        }
        if !is_cut {
            return Self { head, tail: if whole { "" } else { tail }, omitted: None };
        }

        let source = if whole { &text.head } else { &text.tail };
        let ends_with_break = source.ends_with('\n');
        let begins_line = source.strip_suffix(tail).is_some_and(|before| before.ends_with('\n'));
        let tail_line = all_breaks - breaks(tail) + 1;
        let omitted = Omitted {
            chars: all_chars - chars(head) - chars(tail),
            all_chars,
            first_line: breaks(head) + 1,
            last_line: (tail_line - u64::from(begins_line)).max(breaks(head) + 1),
            all_lines: all_breaks + u64::from(!ends_with_break),
        };
        Self { head, tail, omitted: Some(omitted) }
    }
}

/// What is not shown, counted in the text as it was before any cut.
#[derive(Debug)]
struct Omitted {
    chars: u64,
    all_chars: u64,
    /// The first and the last line, from 1, of which at least a part is missing.
    first_line: u64,
    last_line: u64,
    all_lines: u64,
}

impl Omitted {
    fn line(&self, output: &Output) -> String {
        let [chars, all_chars, first, last, all_lines] =
            [self.chars, self.all_chars, self.first_line, self.last_line, self.all_lines].map(numbers::grouped);
        let rest = match (&output.full_output, &output.not_kept) {
            (Some(path), _) => format!("; full output: {}", path.display()),
            (None, Some(reason)) => format!("; the full output could not be kept: {reason}"),
            (None, None) => String::new(),
        };
        format!("[... {chars} of {all_chars} characters omitted (lines {first}–{last} of {all_lines}){rest} ...]")
    }
}

fn chars(text: &str) -> u64 {
    as_count(text.chars().count())
}

fn breaks(text: &str) -> u64 {
    as_count(text.bytes().filter(|byte| *byte == b'\n').count())
}

/// Lines as a reader counts them: what follows the last line break counts if it is not empty.
fn lines(text: &str) -> u64 {
    breaks(text) + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

fn as_count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
