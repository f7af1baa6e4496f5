//! What a conversation becomes when it no longer fits its window: a summary of the beginning, and the rest as it was.
//!
//! Pure decisions and words. Who is asked for the summary, and where it is kept, is decided elsewhere; nothing here
//! deletes anything but from what is sent.

use std::sync::Arc;

use crate::model::message::{Message, Origin, Part, ToolResult};
use crate::model::usage::Usage;

/// What a compaction came to, for whoever keeps it.
///
/// Messages are named by their place among those of people and models that hold something ([`is_line`]), counted from
/// the end of the conversation as it stood: 1 is the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// What the conversation is opened with anew: the moving facts.
    pub opening: Option<String>,
    /// The summary.
    pub text: String,
    /// Messages that are sent word for word right behind the summary, although they stand before what is kept.
    pub pinned: Vec<usize>,
    /// How many of the last messages are kept as they are.
    pub kept: usize,
    /// Tokens of the conversation before.
    pub tokens_before: u64,
    /// An estimate of what is left.
    pub tokens_after: u64,
    /// Who wrote the summary.
    pub origin: Arc<Origin>,
    /// What that took.
    pub usage: Usage,
    /// What it cost, in US dollars; nothing where the price is unknown.
    pub cost: Option<f64>,
}

/// Whether a message counts in [`Folded`]: one of a person or a model, with content.
pub fn is_line(message: &Message) -> bool {
    match message {
        Message::User(parts) => !parts.is_empty(),
        Message::Assistant(answer) => !answer.content.is_empty(),
        Message::Tool(_) => false,
    }
}

/// How the model is told what a summary says.
pub fn stand_in(opening: Option<&str>, text: &str) -> Message {
    let summary = format!(
        "The conversation so far was summarised to save space; the summary stands for what is no longer here.\n\n\
         <summary>\n{text}\n</summary>"
    );
    Message::User(opening.map(str::to_owned).into_iter().chain([summary]).map(Part::Text).collect())
}

/// A result of fewer characters (Unicode scalar values) is left as it is: its stub would save little.
const PRUNED_CHARS: usize = 2_000;

/// A message of results without the long ones; `None` if it has none. Changing this changes what resumed sessions send.
pub fn pruned(message: &Message) -> Option<Message> {
    let Message::Tool(results) = message else { return None };
    let is_long = |result: &ToolResult| chars(&result.content) > PRUNED_CHARS;
    if !results.iter().any(is_long) {
        return None;
    }
    let shorter = results.iter().map(|result| match is_long(result) {
        true => {
            let stub = format!(
                "[{} characters of output were left out to save space; repeat the call if they are needed]",
                crate::base::text::numbers::grouped(chars(&result.content) as u64)
            );
            ToolResult { content: vec![Part::Text(stub)], ..result.clone() }
        }
        false => result.clone(),
    });
    Some(Message::Tool(shorter.collect()))
}

/// Text alone counts: pictures in results are few, and what they show cannot be had again by reading.
fn chars(parts: &[Part]) -> usize {
    let lengths = parts.iter().map(|part| match part {
        Part::Text(text) => text.chars().count(),
        Part::Image(_) => 0,
    });
    lengths.sum()
}
