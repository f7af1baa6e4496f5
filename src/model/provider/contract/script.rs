//! What a model does, in words of no wire, and what has to come of it.
//!
//! Knows no wire: how a script is written as frames is for the dialects.

use crate::model::error::ModelError;
use crate::model::message::{AssistantPart, Reasoning, ToolCall, ToolInput};
use crate::model::reply::{Reply, StopReason};
use crate::model::usage::Usage;

/// An answer, as the model gives it.
#[derive(Clone, Debug)]
pub struct Script {
    pub parts: Vec<Part>,
    pub stop: StopReason,
    /// `None` where the server tells nothing.
    pub usage: Option<Usage>,
    /// The pieces of calls come in turns, where the wire has pieces.
    pub interleaved: bool,
}

/// A part of an answer; texts and arguments come in these pieces.
#[derive(Clone, Debug)]
pub enum Part {
    Reasoning { pieces: Vec<String>, seal: Option<String> },
    Text(Vec<String>),
    Call { id: String, name: String, pieces: Vec<String> },
}

/// Every kind of token; what was read from and written to a cache is not part of `input`.
pub const USAGE: Usage = Usage { input: 700, output: 50, cache_read: 250, cache_write: 40, reasoning: 20 };

impl Script {
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        let parts: Vec<Part> = parts.into_iter().collect();
        let calls = parts.iter().any(|part| matches!(part, Part::Call { .. }));
        let stop = if calls { StopReason::ToolUse } else { StopReason::Stop };
        Self { parts, stop, usage: Some(USAGE), interleaved: false }
    }

    pub fn stop(self, stop: StopReason) -> Self {
        Self { stop, ..self }
    }

    pub fn usage(self, usage: Option<Usage>) -> Self {
        Self { usage, ..self }
    }

    pub fn interleaved(self) -> Self {
        Self { interleaved: true, ..self }
    }

    /// The seals of its reasoning.
    pub fn seals(&self) -> Vec<&str> {
        let seals = self.parts.iter().filter_map(|part| match part {
            Part::Reasoning { seal, .. } => seal.as_deref(),
            Part::Text(_) | Part::Call { .. } => None,
        });
        seals.collect()
    }

    /// What has to come of it, in the plain form of [`Seen`].
    pub fn expected(&self) -> Seen {
        let mut deltas = Vec::new();
        let content = self.parts.iter().map(|part| match part {
            Part::Reasoning { pieces, .. } => {
                deltas.extend(pieces.iter().map(|piece| (Kind::Reasoning, piece.clone())));
                AssistantPart::Reasoning(Reasoning { text: pieces.concat(), ..Reasoning::default() })
            }
            Part::Text(pieces) => {
                deltas.extend(pieces.iter().map(|piece| (Kind::Text, piece.clone())));
                AssistantPart::Text(pieces.concat())
            }
            Part::Call { id, name, pieces } => {
                let input = ToolInput::parse(&pieces.concat());
                AssistantPart::ToolUse(ToolCall { id: id.clone(), name: name.clone(), input })
            }
        });
        let content = plain(content.collect());
        let usage = self.usage.unwrap_or_default();
        let reply = Reply { content, stop: self.stop.clone(), usage, written: false };
        Seen { reply: Ok(reply), deltas: joined(&deltas) }
    }
}

pub fn say(text: &str) -> Part {
    say_in([text])
}

pub fn say_in<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Part {
    Part::Text(pieces.into_iter().map(str::to_owned).collect())
}

pub fn think(text: &str, seal: Option<&str>) -> Part {
    Part::Reasoning { pieces: vec![text.to_owned()], seal: seal.map(str::to_owned) }
}

/// A call whose arguments come in pieces of so many characters.
pub fn call(id: &str, name: &str, arguments: &str, size: usize) -> Part {
    let letters: Vec<char> = arguments.chars().collect();
    let pieces = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
    Part::Call { id: id.to_owned(), name: name.to_owned(), pieces }
}

/// Which half of the answer a delta belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Reasoning,
}

/// What came of a stream, in the form that all wires share: without seals, which each wire writes in its own way.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub reply: Result<Reply, ModelError>,
    /// What was handed out on the way; neighbours of one kind are joined.
    pub deltas: Vec<(Kind, String)>,
}

/// Content without seals; neighbouring texts are one, for some wires have to keep pieces apart.
pub fn plain(content: Vec<AssistantPart>) -> Vec<AssistantPart> {
    let mut kept: Vec<AssistantPart> = Vec::new();
    for part in content {
        match (kept.last_mut(), part) {
            (_, AssistantPart::Reasoning(reasoning)) if reasoning.text.is_empty() => {}
            (_, AssistantPart::Reasoning(Reasoning { text, .. })) => {
                kept.push(AssistantPart::Reasoning(Reasoning { text, ..Reasoning::default() }));
            }
            (Some(AssistantPart::Text(before)), AssistantPart::Text(text)) => before.push_str(&text),
            (_, part) => kept.push(part),
        }
    }
    kept
}

pub fn joined(deltas: &[(Kind, String)]) -> Vec<(Kind, String)> {
    let mut joined: Vec<(Kind, String)> = Vec::new();
    for (kind, text) in deltas {
        match joined.last_mut() {
            Some((last, whole)) if last == kind => whole.push_str(text),
            Some(_) | None => joined.push((*kind, text.clone())),
        }
    }
    joined
}
