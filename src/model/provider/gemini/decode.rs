//! Puts an answer together from the chunks of Google's stream.
//!
//! Parts come whole or as pieces of one text; a part with a seal is never joined with another, because the seal is good for
//! that part alone. Kinds of parts it does not know are passed over.

use std::mem;

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::base::json::Object;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::{AssistantPart, Reasoning, ToolCall, ToolInput};
use crate::model::provider::borrowed::text;
use crate::model::provider::failure::{self, Complaint};
use crate::model::provider::{Deltas, PART_BYTES, Progress};
use crate::model::reply::{Delta, Reply, StopReason};
use crate::model::usage::Usage;

use super::chunk::{Call, Chunk, Feedback, Part, Tokens};
use super::{ID, KEPT, PLACE, SEAL};

/// The state of one answer.
#[derive(Debug, Default)]
pub struct Decoder {
    parts: Vec<Piece>,
    end: Option<End>,
    tokens: Tokens,
    /// The bytes of all texts and calls so far.
    bytes: usize,
}

/// A part of the answer.
#[derive(Debug)]
struct Piece {
    body: Body,
    seal: Option<String>,
}

#[derive(Debug)]
enum Body {
    Thought(String),
    Text(String),
    /// The id is empty where the server gives none.
    Call(ToolCall),
}

/// How an answer ended.
#[derive(Debug)]
enum End {
    Stopped(StopReason),
    /// A filter stopped it, for this reason.
    Filtered(String),
    /// It holds something that is no answer; asked again, the model most likely does better.
    Garbled(String),
    /// A call in the request had no seal.
    Unsealed(String),
}

impl Decoder {
    /// How far the stream has come.
    pub fn progress(&self) -> Progress {
        match (&self.end, self.parts.is_empty()) {
            // No word says that the stream is over: it ends.
            (Some(_), _) => Progress::Complete,
            (None, false) => Progress::Begun,
            (None, true) => Progress::Waiting,
        }
    }

    /// About how many bytes the answer takes so far.
    pub fn held(&self) -> usize {
        self.bytes + self.parts.len().saturating_mul(PART_BYTES)
    }

    /// Takes the data of one frame: a chunk, or a list of them as it comes where no stream of events was asked for.
    ///
    /// # Errors
    ///
    /// What the server reports, a prompt that was blocked, and data that is no JSON.
    pub fn frame(&mut self, data: &str, deltas: Deltas<'_>) -> Result<Progress, ModelError> {
        if let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) {
            self.chunk(&chunk, data.len(), deltas)?;
        } else if data.trim() != "[DONE]" {
            // Some proxies end every stream with the word of another wire.
            let value = serde_json::from_str(data).map_err(|_| failure::unreadable(data))?;
            self.value(&value, data.len(), deltas)?;
        }
        Ok(self.progress())
    }

    /// Takes an odd frame: a list, or a chunk with something of another shape in it.
    fn value(&mut self, value: &Value, size: usize, deltas: Deltas<'_>) -> Result<(), ModelError> {
        if let Value::Array(chunks) = value {
            for chunk in chunks.iter().filter(|chunk| !chunk.is_array()) {
                self.value(chunk, size / chunks.len().max(1), deltas)?;
            }
            return Ok(());
        }
        if let Some(complaint) = Complaint::find(value) {
            return Err(complaint.error());
        }
        match Chunk::deserialize(value) {
            Ok(chunk) => self.chunk(&chunk, size, deltas),
            // The answer counts for more than what it took.
            Err(_) => match value.as_object().cloned().and_then(without_usage) {
                Some(rest) => self.value(&rest, size, deltas),
                None => Ok(()),
            },
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, size: usize, deltas: Deltas<'_>) -> Result<(), ModelError> {
        if let Some(complaint) = chunk.error.as_ref().and_then(|error| Complaint::find(&json!({ "error": error }))) {
            return Err(complaint.error());
        }
        if let Some(tokens) = chunk.usage_metadata {
            self.tokens.update(tokens);
        }
        if let Some(reason) = chunk.prompt_feedback.as_ref().and_then(blocked) {
            return Err(ModelError::new(ErrorKind::Refused, format!("the prompt was blocked: {reason}")));
        }
        // Counted once, however many calls are in it.
        let mut size = size;
        let candidates = chunk.candidates.iter().flatten();
        for candidate in candidates.filter(|candidate| candidate.index.unwrap_or(0) == 0) {
            for part in candidate.content.iter().flat_map(|content| content.parts.iter().flatten()) {
                self.part(part, &mut size, deltas);
            }
            let (word, said) = (text(candidate.finish_reason.as_ref()), text(candidate.finish_message.as_ref()));
            if let Some(end) = end(word, said) {
                self.end = Some(end);
            }
        }
        Ok(())
    }

    /// Takes a part; `size` is what is left of the chunk to be counted.
    fn part(&mut self, part: &Part<'_>, size: &mut usize, deltas: Deltas<'_>) {
        let said = text(part.text.as_ref());
        let seal = text(part.thought_signature.as_ref());
        let seal = (!seal.is_empty()).then(|| seal.to_owned());
        self.bytes += said.len() + seal.as_ref().map_or(0, String::len);
        if let Some(call) = part.function_call.as_ref().filter(|call| !is_blank(call)) {
            // Calls are about as long as all of the chunk, for that is what they are.
            self.bytes += mem::take(size);
            return self.parts.push(Piece { body: Body::Call(finished(call)), seal });
        }
        if said.is_empty() && seal.is_none() {
            return;
        }
        let thought = part.thought == Some(true);
        if !said.is_empty() {
            deltas(if thought { Delta::Reasoning(said) } else { Delta::Text(said) });
        }
        match (self.parts.last_mut(), thought, &seal) {
            (Some(Piece { body: Body::Thought(whole), seal: None }), true, None)
            | (Some(Piece { body: Body::Text(whole), seal: None }), false, None) => whole.push_str(said),
            (_, true, _) => self.parts.push(Piece { body: Body::Thought(said.to_owned()), seal }),
            (_, false, _) => self.parts.push(Piece { body: Body::Text(said.to_owned()), seal }),
        }
    }

    /// The whole answer.
    ///
    /// # Errors
    ///
    /// A stream without an end, an answer of which a filter let nothing through, and one that is none.
    pub fn finish(self) -> Result<Reply, ModelError> {
        let says_something = self.parts.iter().any(|part| match &part.body {
            Body::Text(said) => !said.trim().is_empty(),
            Body::Call(_) => true,
            Body::Thought(_) => false,
        });
        let stop = match self.end {
            None => return Err(failure::broke_off()),
            Some(End::Stopped(stop)) => stop,
            Some(End::Filtered(_)) if says_something => StopReason::Refusal,
            Some(End::Filtered(reason)) => {
                let message = format!("the provider's filter stopped the answer: {reason}");
                return Err(ModelError::new(ErrorKind::Refused, message));
            }
            Some(End::Garbled(reason)) => {
                let message = format!("the model's answer cannot be used: {reason}");
                return Err(ModelError { retryable: true, ..ModelError::new(ErrorKind::Empty, message) });
            }
            Some(End::Unsealed(reason)) => {
                let message = format!("the provider misses the seal of earlier reasoning: {reason}");
                return Err(ModelError::new(ErrorKind::Seal, message));
            }
        };
        Ok(Reply { content: content(self.parts), stop, usage: usage(self.tokens), written: false })
    }
}

/// The parts of a message; what goes back with them is kept in the first thought, or ahead of them all.
fn content(pieces: Vec<Piece>) -> Vec<AssistantPart> {
    let mut content = Vec::new();
    let mut kept: Vec<Value> = Vec::new();
    let mut place = 0;
    for Piece { body, seal } in pieces {
        let mut own = Object::new();
        own.insert(PLACE.to_owned(), Value::from(place));
        let bare = own.len();
        let part = match body {
            Body::Thought(text) => {
                content.push(AssistantPart::Reasoning(Reasoning { text, signature: seal, opaque: None }));
                continue;
            }
            Body::Text(said) if said.is_empty() => {
                own.insert("text".to_owned(), Value::from(said));
                None
            }
            Body::Text(said) => Some(AssistantPart::Text(said)),
            Body::Call(call) => {
                if !call.id.is_empty() {
                    own.insert(ID.to_owned(), Value::from(call.id.as_str()));
                }
                Some(AssistantPart::ToolUse(call))
            }
        };
        if let Some(seal) = seal {
            own.insert(SEAL.to_owned(), Value::from(seal));
        }
        if own.len() > bare {
            kept.push(Value::Object(own));
        }
        place += usize::from(part.is_some());
        content.extend(part);
    }
    if !kept.is_empty() {
        let opaque = Some(json!({ KEPT: kept }));
        let thought = content.iter_mut().find_map(|part| match part {
            AssistantPart::Reasoning(thought) => Some(thought),
            AssistantPart::Text(_) | AssistantPart::ToolUse(_) => None,
        });
        match thought {
            Some(thought) => thought.opaque = opaque,
            None => content.insert(0, AssistantPart::Reasoning(Reasoning { opaque, ..Reasoning::default() })),
        }
    }
    content
}

fn without_usage(mut chunk: Object) -> Option<Value> {
    chunk.remove("usageMetadata").map(|_| Value::Object(chunk))
}

/// A call of nothing, as it ends calls that come in pieces; its seal is that of an empty part.
fn is_blank(call: &Call<'_>) -> bool {
    text(call.name.as_ref()).is_empty() && call.args.as_ref().and_then(Value::as_object).is_none_or(Object::is_empty)
}

fn finished(call: &Call<'_>) -> ToolCall {
    let input = match &call.args {
        None | Some(Value::Null) => ToolInput::Object(Object::new()),
        Some(Value::Object(object)) => ToolInput::Object(object.clone()),
        Some(Value::String(raw)) => ToolInput::parse(raw),
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_))) => ToolInput::parse(&other.to_string()),
    };
    ToolCall { id: text(call.id.as_ref()).to_owned(), name: text(call.name.as_ref()).to_owned(), input }
}

/// Why a prompt was blocked, if it was.
fn blocked(feedback: &Feedback<'_>) -> Option<String> {
    match text(feedback.block_reason.as_ref()) {
        "" | "BLOCKED_REASON_UNSPECIFIED" => None,
        reason => Some(named(reason, text(feedback.block_reason_message.as_ref()))),
    }
}

/// A reason's name, with what is said about it.
fn named(reason: &str, said: &str) -> String {
    failure::one_line(&if said.trim().is_empty() { reason.to_owned() } else { format!("{reason}, {said}") })
}

/// The meaning of a finish reason: <https://ai.google.dev/api/generate-content#FinishReason>.
fn end(word: &str, said: &str) -> Option<End> {
    Some(match word {
        "" | "FINISH_REASON_UNSPECIFIED" => return None,
        "STOP" => End::Stopped(StopReason::Stop),
        "MAX_TOKENS" | "CONTINUATION" => End::Stopped(StopReason::Length),
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "ESCALATION"
        | "PUP_LIMITED_DISABLED" => End::Filtered(named(word, said)),
        image if image.starts_with("IMAGE_") => End::Filtered(named(image, said)),
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => End::Garbled(named(word, said)),
        "MISSING_THOUGHT_SIGNATURE" => End::Unsealed(named(word, said)),
        other => End::Stopped(StopReason::Other(other.to_owned())),
    })
}

fn usage(tokens: Tokens) -> Usage {
    let Tokens {
        prompt_token_count,
        cached_content_token_count,
        tool_use_prompt_token_count,
        candidates_token_count,
        thoughts_token_count,
    } = tokens;
    let cache_read = cached_content_token_count.unwrap_or(0);
    let reasoning = thoughts_token_count.unwrap_or(0);
    let own = prompt_token_count.unwrap_or(0).saturating_sub(cache_read);
    Usage {
        input: own.saturating_add(tool_use_prompt_token_count.unwrap_or(0)),
        output: candidates_token_count.unwrap_or(0).saturating_add(reasoning),
        cache_read,
        cache_write: 0,
        reasoning,
    }
}
