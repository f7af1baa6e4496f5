//! What a conversation becomes when it no longer fits its window: a summary of the beginning, and the rest as it was.
//!
//! Pure decisions and words. Who is asked for the summary, and where it is kept, is decided elsewhere; nothing here
//! deletes anything but from what is sent.

mod material;
pub mod place;
#[cfg(test)]
pub mod tests;

use std::sync::Arc;

use crate::base::text::cut;
use crate::base::text::numbers::grouped;
use crate::model::message::{Message, Origin, Part, ToolResult};
use crate::model::request::{Options, Request, ToolChoice};
use crate::model::usage::Usage;

pub use material::Material;

/// When and how conversations are compacted.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether it happens unasked.
    pub auto: bool,
    /// Tokens of the window that are kept free for the answer.
    pub reserve_tokens: u64,
    /// Tokens of recent talk that are kept word for word.
    pub keep_tokens: u64,
    /// What whoever summarises is told.
    pub system: Arc<str>,
    /// The tool whose last result is told word for word behind every summary: a plan.
    pub plan_tool: Option<&'static str>,
}

/// A summary that is wanted.
#[derive(Clone, Debug)]
pub struct Summons {
    /// What whoever summarises is told.
    pub system: Arc<str>,
    /// What is summarised.
    pub material: Arc<Material>,
    /// Characters for a token, in thousandths, as far as they are known.
    pub token_chars: u64,
    /// The most tokens of the material, whatever the window of whoever summarises.
    pub most: Option<u64>,
    /// The most tokens of the summary.
    pub answer: u64,
}

/// What a summary's request holds besides the material and has to spare, in tokens.
const OVERHEAD: u64 = 1_000;
/// The least material that is worth asking about, in tokens.
const LEAST: u64 = 500;

impl Summons {
    /// The request, for a model with this window and this longest answer.
    pub fn request(&self, window: Option<u64>, max_output: Option<u64>) -> Request {
        let answer = self.answer.min(max_output.unwrap_or(u64::MAX));
        let room = window.map(|window| window.saturating_sub(answer + OVERHEAD));
        let most = self.most.into_iter().chain(room).min().map(|most| most.max(LEAST));
        let chars = most.map_or(usize::MAX, |most| {
            usize::try_from(most.saturating_mul(self.token_chars) / 1000).unwrap_or(usize::MAX)
        });
        Request {
            system: Arc::clone(&self.system),
            messages: vec![Arc::new(Message::user(self.material.text(chars)))],
            tools: Arc::default(),
            tool_choice: ToolChoice::None,
            options: Options { max_tokens: Some(answer), ..Options::default() },
        }
    }
}

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

/// What stands before and behind a summary.
const STAND_IN: &str = "The conversation so far was summarised to save space; the summary stands for what is no longer here.\n\n\
     <summary>\n";
const STAND_IN_END: &str = "\n</summary>";

/// The summary that a message tells of, if it is one of [`stand_in`].
pub fn summary_of(message: &Message) -> Option<&str> {
    match message {
        Message::User(parts) => match parts.last()? {
            Part::Text(text) => text.strip_prefix(STAND_IN)?.strip_suffix(STAND_IN_END),
            Part::Image(_) => None,
        },
        Message::Assistant(_) | Message::Tool(_) => None,
    }
}

/// How the model is told what a summary says.
pub fn stand_in(opening: Option<&str>, text: &str) -> Message {
    let summary = format!("{STAND_IN}{text}{STAND_IN_END}");
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
                grouped(chars(&result.content) as u64)
            );
            let behind = result.content.iter().filter(|part| matches!(part, Part::Text(_))).skip(1).cloned();
            ToolResult { content: std::iter::once(Part::Text(stub)).chain(behind).collect(), ..result.clone() }
        }
        false => result.clone(),
    });
    Some(Message::Tool(shorter.collect()))
}

/// A message of results without the middle of those longer than `most` characters; `None` if it has none.
pub fn trimmed(message: &Message, most: usize) -> Option<Message> {
    let Message::Tool(results) = message else { return None };
    let is_long = |result: &ToolResult| chars(&result.content) > most;
    if !results.iter().any(is_long) {
        return None;
    }
    let shorter = results.iter().map(|result| {
        let first = result.content.iter().position(|part| matches!(part, Part::Text(_)));
        let parts = result.content.iter().enumerate().map(|(place, part)| match part {
            Part::Text(text) if is_long(result) && first == Some(place) => Part::Text(without_middle(text, most)),
            Part::Text(_) | Part::Image(_) => part.clone(),
        });
        ToolResult { content: parts.collect(), ..result.clone() }
    });
    Some(Message::Tool(shorter.collect()))
}

fn without_middle(text: &str, most: usize) -> String {
    let left_out = text.chars().count().saturating_sub(most);
    if left_out == 0 {
        return text.to_owned();
    }
    format!(
        "{}\n[... {} characters do not fit into the model's window and were left out; ask for less at a time ...]\n{}",
        cut::head(text, most / 2),
        grouped(left_out as u64),
        cut::tail(text, most / 2)
    )
}

/// The first text alone counts: pictures in results are few, and what they show cannot be had again by reading; what stands
/// behind an output (rules of a folder that was reached) is not part of it, and has a budget of its own.
fn chars(parts: &[Part]) -> usize {
    let mut lengths = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.chars().count()),
        Part::Image(_) => None,
    });
    lengths.next().unwrap_or(0)
}
