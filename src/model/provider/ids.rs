//! Names and ids as the wires allow them: deterministic, so that a call and its result agree and prefixes stay stable.
//!
//! Never changes what history holds, except that ids of a new reply are made unique before it becomes history.

use std::borrow::Cow;
use std::collections::HashSet;

use twox_hash::XxHash3_64;

use crate::model::message::{AssistantPart, Message, ToolCall};
use crate::model::request::Request;

/// What a wire takes as the id of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdStyle {
    /// At most 40 characters (chat completions refuses longer ones), of letters, digits, `_` and `-`.
    Short,
    /// Exactly 9 letters and digits (Mistral).
    Nine,
    /// At most 64 characters of letters, digits, `_` and `-` (Anthropic).
    Long,
}

impl IdStyle {
    fn allows(self, id: &str) -> bool {
        let plain = |extra: &[u8]| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || extra.contains(&byte));
        match self {
            Self::Short => (1..=40).contains(&id.len()) && plain(b"_-"),
            Self::Nine => id.len() == 9 && plain(b""),
            Self::Long => (1..=64).contains(&id.len()) && plain(b"_-"),
        }
    }

    /// The id itself where the wire allows it, else one made from its hash.
    pub fn on_wire(self, id: &str) -> Cow<'_, str> {
        if self.allows(id) {
            return Cow::Borrowed(id);
        }
        let hash = XxHash3_64::oneshot(id.as_bytes());
        match self {
            Self::Short | Self::Long => Cow::Owned(format!("call_{}", letters(hash, 11))),
            Self::Nine => Cow::Owned(letters(hash, 9)),
        }
    }
}

/// `count` letters and digits made from `number`; 11 hold all of it.
fn letters(mut number: u64, count: usize) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut text = String::with_capacity(count);
    for _ in 0..count {
        let place = usize::try_from(number % 62).unwrap_or(0);
        text.push(char::from(ALPHABET.get(place).copied().unwrap_or(b'0')));
        number /= 62;
    }
    text
}

/// A tool's name as every wire takes it: a letter or `_`, then letters, digits, `_` and `-`, at most 64. A model may
/// have called a tool that does not exist by a name that must not be sent back.
pub fn tool_name(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if begins && name.len() <= LONGEST && name.bytes().all(fits) {
        return Cow::Borrowed(name);
    }
    let mut clean = String::new();
    if !begins {
        clean.push('_');
    }
    clean.extend(name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }));
    clean.truncate(LONGEST);
    Cow::Owned(clean)
}

/// Gives every call of a new reply an id that no other call of the conversation has. Some servers give none, one for
/// all, or begin with the same one in every reply. `seed` is a random number; the rest is deterministic.
pub fn settle(content: &mut [AssistantPart], request: &Request, seed: u64) {
    let fresh: Vec<&mut ToolCall> = content
        .iter_mut()
        .filter_map(|part| match part {
            AssistantPart::ToolUse(call) => Some(call),
            AssistantPart::Reasoning(_) | AssistantPart::Text(_) => None,
        })
        .collect();
    if fresh.is_empty() {
        return;
    }
    let mut taken: HashSet<String> = HashSet::new();
    for message in &request.messages {
        match message.as_ref() {
            Message::Assistant(assistant) => taken.extend(assistant.calls().map(|call| call.id.clone())),
            Message::User(_) | Message::Tool(_) => {}
        }
    }
    for (number, call) in fresh.into_iter().enumerate() {
        if call.id.is_empty() {
            call.id = format!("call_{}_{number}", letters(seed, 11));
        }
        let mut id = call.id.clone();
        let mut suffix = 2;
        while taken.contains(&id) {
            id = format!("{}_{suffix}", call.id);
            suffix += 1;
        }
        taken.insert(id.clone());
        call.id = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_that_fit_stay() {
        for style in [IdStyle::Short, IdStyle::Long] {
            assert_eq!(style.on_wire("call_1-a"), "call_1-a");
        }
        assert_eq!(IdStyle::Nine.on_wire("abcDEF123"), "abcDEF123");
        assert_eq!(IdStyle::Long.on_wire(&"x".repeat(64)), "x".repeat(64));
        assert_ne!(IdStyle::Short.on_wire(&"x".repeat(64)), "x".repeat(64));
    }

    #[test]
    fn names_are_cleaned() {
        assert_eq!(tool_name("read_file"), "read_file");
        assert_eq!(tool_name("functions.read"), "functions_read");
        assert_eq!(tool_name("1é"), "_1_");
        assert_eq!(tool_name(""), "_");
        assert_eq!(tool_name(&"a".repeat(100)).len(), 64);
    }

    proptest! {
        #[test]
        fn every_id_becomes_legal(id in "\\PC{0,80}") {
            for style in [IdStyle::Short, IdStyle::Nine, IdStyle::Long] {
                let wire = style.on_wire(&id);
                prop_assert!(style.allows(&wire), "{}", wire);
                prop_assert_eq!(&wire, &style.on_wire(&id));
            }
        }
    }
}
