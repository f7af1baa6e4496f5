//! The system prompt: short capped fragments from `assets/prompts`, chosen by the tools on offer.
//!
//! Holds nothing that moves: date, directory and git state are in [`environment()`], which opens the first user message,
//! so that every request of a session begins with the same bytes. What a tool does is told by its own description.

pub mod environment;
mod fragment;

use std::borrow::Cow;

use crate::base::text::cut;
use fragment::{FRAGMENTS, LEAN};

pub use environment::{Facts, Mode, environment};

/// What is told besides while a plan is being made.
pub const PLAN: &str = include_str!("../../../assets/prompts/plan.md");

/// What a model is told that summarises a conversation.
pub const SUMMARY: &str = include_str!("../../../assets/prompts/summary.md");

/// The most bytes of the built-in text. Together with the descriptions of all tools it keeps a first request at 11 KB,
/// about 2,700 tokens, so that a local model with a small window has room to work.
pub const BUILT_IN_BYTES: usize = 3_200;

/// The most characters of a text that a user puts in place of the built-in one or adds to it; as much as reading a file.
pub const OWN_TEXT_CHARS: usize = 50_000;

/// How much the built-in text may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// All there is to say about the tools on offer.
    Full,
    /// A few sentences, for a model with a small window.
    Lean,
}

/// The system prompt for a session that offers the tools `offered`.
///
/// `override_text` stands in place of all built-in text, `append` follows at the end. Both are cut, visibly, at
/// [`OWN_TEXT_CHARS`]. Between them stand the texts `added`, which are there whatever the built-in text is and have caps of
/// their own. The result depends on the set of names only, not on their order.
pub fn system(
    offered: &[&str],
    size: Size,
    override_text: Option<&str>,
    added: &[&str],
    append: Option<&str>,
) -> String {
    let mut text = match override_text {
        Some(own) => capped(own.trim()).into_owned(),
        None => match size {
            Size::Full => built_in(offered),
            Size::Lean => LEAN.text.trim_ascii_end().to_owned(),
        },
    };
    for added in added.iter().filter(|added| !added.is_empty()) {
        separate(&mut text);
        text.push_str(added);
    }
    if let Some(own) = append.map(str::trim).filter(|own| !own.is_empty()) {
        separate(&mut text);
        text.push_str(&capped(own));
    }
    text
}

fn built_in(offered: &[&str]) -> String {
    let mut text = String::with_capacity(BUILT_IN_BYTES);
    for fragment in FRAGMENTS.iter().filter(|fragment| fragment.needs.are_met(offered)) {
        if fragment.text.starts_with("# ") {
            separate(&mut text);
        }
        text.push_str(fragment.text);
    }
    text.truncate(text.trim_end().len());
    text
}

/// A blank line, unless the text is empty.
fn separate(text: &mut String) {
    text.truncate(text.trim_end().len());
    if !text.is_empty() {
        text.push_str("\n\n");
    }
}

fn capped(own: &str) -> Cow<'_, str> {
    let kept = cut::head(own, OWN_TEXT_CHARS);
    if kept.len() == own.len() {
        return Cow::Borrowed(own);
    }
    Cow::Owned(format!("{kept}\n[... cut after {} characters]", kept.chars().count()))
}

#[cfg(test)]
mod tests;
