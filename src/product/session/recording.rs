//! A session as a recording: the model's side to be answered from, the tools' side to be compared with.
//!
//! Reads any session file, wherever it lies; never writes, and never runs anything.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::path::Path;

use crate::base::text::cut;
use crate::model::message::{Assistant, Message, Origin, Part, ToolResult};
use crate::model::reply::Reply;
use crate::product::error::Error;

use super::blob::Blobs;
use super::load::Loaded;

/// How much of a text a notice quotes.
const QUOTED_CHARS: usize = 80;
/// What stands before the path of a spilled output, and after it.
const SPILL: (&str, &str) = ("full output: ", " ...]");
/// Units of time after a number, longest first where one begins another.
const UNITS: [&str; 12] =
    ["seconds", "second", "secs", "sec", "minutes", "minute", "mins", "min", "ms", "µs", "ns", "s"];

/// What a session says about a model and about tools.
#[derive(Debug)]
pub struct Recording {
    /// Who answered.
    pub origin: Origin,
    /// The answers, in order.
    pub replies: Vec<Reply>,
    /// What the calls came to.
    pub results: Results,
}

/// Recorded results, to be compared with live ones as they come.
#[derive(Clone, Debug, Default)]
pub struct Results {
    by_call: HashMap<String, VecDeque<Recorded>>,
}

#[derive(Clone, Debug)]
struct Recorded {
    tool: String,
    text: String,
}

impl Recording {
    /// Reads the conversation at which the session in `path` stands, also what a summary stands for. What is kept
    /// outside of the file is looked for in `blobs`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no session, or was written by a later version.
    pub fn read(path: &Path, blobs: &Blobs) -> Result<Self, Error> {
        let cannot = |error: std::io::Error| Error::usage(format!("cannot read {}", path.display())).caused_by(error);
        if !path.metadata().map_err(cannot)?.is_file() {
            return Err(Error::usage(format!("{} is not a file", path.display())));
        }
        let loaded = Loaded::read(&File::open(path).map_err(cannot)?, path)?;
        let messages = loaded.all_messages(&loaded.tree.path(), blobs).map_err(cannot)?;
        let mut origin = loaded.origin;
        let (mut replies, mut results) = (Vec::new(), Results::default());
        let mut names: HashMap<String, String> = HashMap::new();
        for message in messages {
            match message {
                Message::User(_) => {}
                Message::Assistant(answer) => {
                    names.extend(answer.calls().map(|call| (call.id.clone(), call.name.clone())));
                    let Assistant { content, origin: by, stop, usage } = answer;
                    origin = by.as_ref().clone();
                    replies.push(Reply { content, stop, usage, written: false });
                }
                Message::Tool(recorded) => recorded.into_iter().for_each(|result| results.add(&result, &names)),
            }
        }
        Ok(Self { origin, replies, results })
    }
}

impl Results {
    fn add(&mut self, result: &ToolResult, names: &HashMap<String, String>) {
        let tool = names.get(&result.call_id).cloned().unwrap_or_default();
        let recorded = Recorded { tool, text: text(result) };
        self.by_call.entry(result.call_id.clone()).or_default().push_back(recorded);
    }

    /// Compares a live result with the recorded one of the same call, and says where they differ.
    ///
    /// The calls are the recorded ones, so only results can drift. Of several calls with one id the results are compared
    /// in order. A call that was never answered in the recording cannot drift.
    pub fn compare(&mut self, live: &ToolResult) -> Option<String> {
        let recorded = self.by_call.get_mut(&live.call_id)?.pop_front()?;
        let drift = drift(&recorded.text, &text(live))?;
        Some(format!("The result of {} is not the recorded one: {drift}.", recorded.tool))
    }
}

/// Where two results differ, in words; `None` where they are the same but for durations and the paths of spilled
/// outputs, as the detection of loops compares them too.
pub fn drift(recorded: &str, live: &str) -> Option<String> {
    let (recorded, live) = (comparable(recorded), comparable(live));
    if recorded == live {
        return None;
    }
    if recorded.strip_suffix('\n') == Some(&live) {
        return Some("the line break at its end is missing".to_owned());
    }
    if live.strip_suffix('\n') == Some(&recorded) {
        return Some("it ends with a line break that was not there".to_owned());
    }
    // Not by `lines`, which drops carriage returns: texts that differ have to differ in a line.
    let mut lines = (recorded.split('\n'), live.split('\n'));
    let mut number = 0;
    loop {
        number += 1;
        let (before, now) = (lines.0.next(), lines.1.next());
        if before != now || before.is_none() {
            let quoted = |line: Option<&str>| {
                line.map_or("nothing".to_owned(), |line| format!("{:?}", cut::ellipsis(line, QUOTED_CHARS)))
            };
            return Some(format!("line {number} was {} and is {}", quoted(before), quoted(now)));
        }
    }
}

fn text(result: &ToolResult) -> String {
    let texts = result.content.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Image(image) => image.media_type.as_str(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A text without what is never the same twice.
fn comparable(text: &str) -> String {
    without_durations(&without_spills(text))
}

fn without_spills(text: &str) -> String {
    let mut parts = text.split(SPILL.0);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(SPILL.0);
        // The path ends where the marker does, or with its line.
        let line = part.lines().next().unwrap_or_default();
        let path = line.split(SPILL.1).next().unwrap_or_default();
        kept.push_str(part.strip_prefix(path).unwrap_or(part));
    }
    kept
}

/// Replaces every number that a unit of time follows, such as `0.03s` or `12.5 seconds`.
fn without_durations(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, number) = rest.split_at(place);
        kept.push_str(before);
        let inside_a_word = kept.ends_with(|character: char| character.is_alphanumeric() || character == '_');
        let digits =
            number.trim_start_matches(|character: char| character.is_ascii_digit() || matches!(character, '.' | ','));
        let unit = digits.strip_prefix(' ').unwrap_or(digits);
        let after = UNITS.iter().find_map(|word| unit.strip_prefix(word).filter(|after| is_boundary(after)));
        match after {
            Some(after) if !inside_a_word => {
                kept.push_str("<time>");
                rest = after;
            }
            _ => {
                kept.push_str(number.strip_suffix(digits).unwrap_or(number));
                rest = digits;
            }
        }
    }
    kept.push_str(rest);
    kept
}

fn is_boundary(after: &str) -> bool {
    !after.starts_with(|character: char| character.is_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_spill_paths_are_no_drift() {
        for (one, other) in [
            ("test result: ok; finished in 0.03s", "test result: ok; finished in 12.70s"),
            ("took 12 s\nexit code: 0", "took 9.5 s\nexit code: 0"),
            (
                "a [... 3 of 9 characters omitted; full output: /tmp/a.txt ...] b",
                "a [... 3 of 9 characters omitted; full output: /x/b ...] b",
            ),
            ("full output: /a\nrest", "full output: /b c\nrest"),
            ("1 passed in 3 seconds", "1 passed in 1 seconds"),
        ] {
            assert_eq!(drift(one, other), None, "{one}");
        }
    }

    #[test]
    fn anything_else_is() {
        for (one, other) in [
            ("as it was", "something else"),
            ("exit code: 0", "exit code: 1"),
            ("3 sheets", "4 sheets"),
            ("x1s", "x2s"),
            ("a\nb", "a"),
            ("a\n", "a"),
            ("full output: /a\nrest", "full output: /a\nother"),
            ("v1.2.3", "v1.2.4"),
        ] {
            assert!(drift(one, other).is_some(), "{one}");
        }
        for (one, other, told) in [
            ("a\nb\n", "a\nc\n", r#"line 2 was "b" and is "c""#),
            ("a\nb", "a", r#"line 2 was "b" and is nothing"#),
            ("a\n", "a", "the line break at its end is missing"),
            ("a", "a\n", "it ends with a line break that was not there"),
            ("a\r\nb", "a\nb", r#"line 1 was "a\r" and is "a""#),
            ("a", "a\n\n", r#"line 2 was nothing and is """#),
        ] {
            assert_eq!(drift(one, other).unwrap(), told);
        }
    }
}
