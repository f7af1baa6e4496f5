//! The wires: each turns a request into a body, and the frames of a stream into an answer.
//!
//! Pure: no network, no files, no clock. What differs between vendors on one wire is in [`compat`]; what a reported
//! error means, in [`failure`].

pub mod anthropic;
mod borrowed;
pub mod compat;
pub mod failure;
pub mod gemini;
pub mod halves;
pub mod ids;
pub mod openai_chat;
pub mod openai_responses;
pub mod think;
mod vendors;
pub mod written;

use std::borrow::Cow;

use super::error::{ErrorKind, ModelError};
use super::message::AssistantPart;
use super::reply::{Delta, Reply, StopReason};
use super::request::Request;
use super::{Api, ModelInfo};
use crate::base::json::Object;
use compat::Compat;
use halves::Halves;

/// A wire that is spoken over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Chat completions.
    Chat,
    /// `OpenAI`'s responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's generateContent.
    Gemini,
}

impl Wire {
    /// The wire of an API; `None` for one without an adapter.
    pub fn of(api: Api) -> Option<Self> {
        match api {
            Api::OpenaiCompletions => Some(Self::Chat),
            Api::OpenaiResponses => Some(Self::Responses),
            Api::AnthropicMessages => Some(Self::Anthropic),
            Api::GoogleGenerativeAi => Some(Self::Gemini),
            Api::Replay => None,
        }
    }

    /// The path that requests to a model go to, made of that of the base address: slashes at its end do not matter, nor
    /// whether the wire's own part is already there.
    pub fn path(self, base: &str, model: &str) -> String {
        let (end, optional) = match self {
            Self::Chat => (openai_chat::PATH, ""),
            Self::Responses => (openai_responses::PATH, ""),
            Self::Anthropic => (anthropic::PATH, anthropic::OPTIONAL_PATH),
            Self::Gemini => return gemini::path(base, model),
        };
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix(end).unwrap_or(base);
        let base = base.strip_suffix(optional).unwrap_or(base).trim_end_matches('/');
        format!("{base}{end}")
    }

    /// What the query of the address has to hold.
    pub fn query(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Chat | Self::Responses | Self::Anthropic => None,
            Self::Gemini => Some(gemini::QUERY),
        }
    }

    /// The headers of a request besides the content's type.
    pub fn headers(self, key: Option<&str>) -> Vec<Header> {
        match self {
            Self::Chat => openai_chat::headers(key),
            Self::Responses => openai_responses::headers(key),
            Self::Anthropic => anthropic::headers(key),
            Self::Gemini => gemini::headers(key),
        }
    }

    /// The body of a request, as JSON.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`] if it cannot be written as JSON.
    pub fn encode(self, request: &Request, info: &ModelInfo, compat: &Compat) -> Result<Vec<u8>, ModelError> {
        let body = match self {
            Self::Chat => openai_chat::encode(request, info, compat),
            Self::Responses => openai_responses::encode(request, info, compat),
            Self::Anthropic => anthropic::encode(request, info, compat),
            Self::Gemini => gemini::encode(request, info, compat),
        };
        body.map_err(|error| ModelError::new(ErrorKind::Internal, format!("the request cannot be written: {error}")))
    }

    /// Something that reads the answer to one request.
    pub fn decoder(self, compat: &Compat) -> Decoder {
        let wire = match self {
            Self::Chat => Reading::Chat(Box::new(openai_chat::Decoder::new(compat))),
            Self::Responses => Reading::Responses(Box::default()),
            Self::Anthropic => Reading::Anthropic(Box::default()),
            Self::Gemini => Reading::Gemini(Box::default()),
        };
        Decoder { wire, halves: Halves::default() }
    }
}

/// A header of a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// Lower case.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Whether the value holds the key, and must not be shown.
    pub is_secret: bool,
}

impl Header {
    pub(in crate::model) fn plain(name: &'static str, value: &str) -> Self {
        Self { name, value: value.to_owned(), is_secret: false }
    }

    pub(in crate::model) fn secret(name: &'static str, value: String) -> Self {
        Self { name, value, is_secret: true }
    }
}

/// Where a decoder hands out pieces of the answer.
pub type Deltas<'a> = &'a mut dyn FnMut(Delta<'_>);

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing of the answer yet.
    Waiting,
    /// Some of it.
    Begun,
    /// All of it; the stream may still tell the usage.
    Complete,
    /// All there is to read.
    Over,
}

/// How much an answer may hold, in bytes: no model writes as much, and a server gone wild cannot fill the memory.
pub const REPLY_BYTES: usize = 32 << 20;
/// What a part of an answer counts besides its text, in bytes: more than it takes, for among more than some ten thousand
/// parts finding the right one takes too long.
const PART_BYTES: usize = 1 << 10;
/// More parts than this are no answer. One frame may hold millions, so it is asked before they are looked at.
const MOST_PARTS: usize = REPLY_BYTES / PART_BYTES;

/// Reads the frames of one answer.
#[derive(Debug)]
pub struct Decoder {
    wire: Reading,
    halves: Halves,
}

#[derive(Debug)]
enum Reading {
    Chat(Box<openai_chat::Decoder>),
    Responses(Box<openai_responses::Decoder>),
    Anthropic(Box<anthropic::Decoder>),
    Gemini(Box<gemini::Decoder>),
}

impl Decoder {
    /// Takes the next frame's data; pieces of text and reasoning in it go to `deltas`. A whole answer in one JSON object,
    /// as a server sends it that does not stream, is taken like a frame.
    ///
    /// # Errors
    ///
    /// What the server reports inside the stream, data that is no JSON, and an answer of more than [`REPLY_BYTES`].
    pub fn frame(&mut self, data: &str, deltas: Deltas<'_>) -> Result<Progress, ModelError> {
        if data.trim().is_empty() {
            return Ok(self.progress());
        }
        let data = &self.halves.join(data);
        let (progress, held) = match &mut self.wire {
            Reading::Chat(decoder) => (decoder.frame(data, deltas)?, decoder.held()),
            Reading::Responses(decoder) => (decoder.frame(data, deltas)?, decoder.held()),
            Reading::Anthropic(decoder) => (decoder.frame(data, deltas)?, decoder.held()),
            Reading::Gemini(decoder) => (decoder.frame(data, deltas)?, decoder.held()),
        };
        if held > REPLY_BYTES { Err(failure::too_long()) } else { Ok(progress) }
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        match &self.wire {
            Reading::Chat(decoder) => decoder.progress(),
            Reading::Responses(decoder) => decoder.progress(),
            Reading::Anthropic(decoder) => decoder.progress(),
            Reading::Gemini(decoder) => decoder.progress(),
        }
    }

    /// The whole answer. Ids of calls are as they came: missing, or several times the same; see [`ids::settle`].
    ///
    /// # Errors
    ///
    /// A stream that has not come to its end, and an answer for which the context had no room.
    pub fn finish(self, deltas: Deltas<'_>) -> Result<Reply, ModelError> {
        match self.progress() {
            Progress::Waiting | Progress::Begun => return Err(failure::broke_off()),
            Progress::Complete | Progress::Over => {}
        }
        let mut reply = match self.wire {
            Reading::Chat(decoder) => decoder.finish(deltas)?,
            Reading::Responses(decoder) => decoder.finish(),
            Reading::Anthropic(decoder) => decoder.finish(),
            Reading::Gemini(decoder) => decoder.finish()?,
        };
        reply.content.retain(|part| !is_blank_call(part));
        // Some servers say so, some do not, whatever the calls are: only an answer that was cut stays one.
        let calls = reply.content.iter().any(|part| matches!(part, AssistantPart::ToolUse(_)));
        match (&reply.stop, calls) {
            (StopReason::Stop | StopReason::Refusal | StopReason::Other(_), true) => reply.stop = StopReason::ToolUse,
            (StopReason::ToolUse, false) => reply.stop = StopReason::Stop,
            _ => {}
        }
        // LM Studio and others cut an overlong conversation to nothing instead of refusing it.
        if reply.stop == StopReason::Length && reply.content.is_empty() && reply.usage.output == 0 {
            return Err(ModelError::new(ErrorKind::Context, "the conversation leaves the model no room for an answer"));
        }
        Ok(reply)
    }
}

/// Some servers put a call of nothing, all of it null, beside what they say.
fn is_blank_call(part: &AssistantPart) -> bool {
    match part {
        AssistantPart::ToolUse(call) => call.name.is_empty() && call.input.object().is_some_and(Object::is_empty),
        AssistantPart::Text(_) | AssistantPart::Reasoning(_) => false,
    }
}

/// Text without NUL characters, which several servers refuse or cut at.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "")) } else { Cow::Borrowed(text) }
}

/// Whether nothing is left of a text once it is [`clean`] but blanks.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim_end_matches(blank).is_empty()
}

/// A character that is of no use at the end of a text.
pub(super) fn blank(character: char) -> bool {
    character == '\0' || character.is_whitespace()
}

/// Joins the pieces that are more than blanks with empty lines; borrowed where there is only one.
pub(super) fn paragraphs<'a>(pieces: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let mut whole = Cow::Borrowed("");
    for piece in pieces.filter(|piece| !is_blank(piece)) {
        let piece = clean(piece);
        if whole.is_empty() {
            whole = piece;
        } else {
            let whole = whole.to_mut();
            whole.push_str("\n\n");
            whole.push_str(&piece);
        }
    }
    whole
}

/// What stands for a picture before a model that sees none.
pub(super) const NO_PICTURE: &str = "[a picture was here; this model does not see pictures]";

#[cfg(test)]
mod contract;
#[cfg(test)]
pub(crate) mod tests;
