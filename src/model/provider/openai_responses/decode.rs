//! Reads the events of a response, or a whole response, until its end.
//!
//! Events it does not know are passed over; what the items amount to is put together in `items`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::base::json::whole;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::provider::borrowed::{Text, text};
use crate::model::provider::failure::{self, Complaint};
use crate::model::provider::{Deltas, MOST_PARTS, PART_BYTES, Progress};
use crate::model::reply::{Reply, StopReason};
use crate::model::usage::Usage;

use super::items::{Items, ThoughtPart};

/// What of an event is needed to go on: all of it for a piece, which most events are.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    r#type: Option<Text<'a>>,
    #[serde(default)]
    output_index: Option<u64>,
    #[serde(default)]
    summary_index: Option<u64>,
    #[serde(default)]
    content_index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<Text<'a>>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

/// The state of one answer.
#[derive(Debug, Default)]
pub struct Decoder {
    items: Items,
    stop: Option<StopReason>,
    usage: Usage,
    /// The bytes of all texts and items so far.
    bytes: usize,
}

impl Decoder {
    /// How far the stream has come.
    pub fn progress(&self) -> Progress {
        match (&self.stop, self.items.len()) {
            (Some(_), _) => Progress::Over,
            (None, 0) => Progress::Waiting,
            (None, _) => Progress::Begun,
        }
    }

    /// About how many bytes the answer takes so far.
    pub fn held(&self) -> usize {
        self.bytes + self.items.len().saturating_mul(PART_BYTES)
    }

    /// Takes the data of one frame.
    ///
    /// # Errors
    ///
    /// What the server reports, and data that is no JSON.
    pub fn frame(&mut self, data: &str, deltas: Deltas<'_>) -> Result<Progress, ModelError> {
        if data.trim() == "[DONE]" {
            // Some proxies end every stream with the other wire's word.
            return Ok(self.progress());
        }
        match serde_json::from_str::<Head<'_>>(data) {
            Ok(head) if head.error.is_none() => self.event(&head, data, deltas)?,
            // An error, or an odd shape.
            Ok(_) | Err(_) => self.other(data, deltas)?,
        }
        Ok(self.progress())
    }

    fn event(&mut self, head: &Head<'_>, data: &str, deltas: Deltas<'_>) -> Result<(), ModelError> {
        let (index, piece) = (head.output_index, text(head.delta.as_ref()));
        match text(head.r#type.as_ref()) {
            "response.output_text.delta" => self.items.text(index, piece, deltas),
            "response.refusal.delta" => {
                self.items.refused |= !piece.is_empty();
                self.items.text(index, piece, deltas);
            }
            "response.reasoning_summary_text.delta" => {
                self.items.thought(index, ThoughtPart::Summary(head.summary_index), piece, deltas);
            }
            "response.reasoning_text.delta" => {
                self.items.thought(index, ThoughtPart::Content(head.content_index), piece, deltas);
            }
            "response.function_call_arguments.delta" => self.items.arguments(index, piece),
            word @ ("response.function_call_arguments.done"
            | "response.output_item.added"
            | "response.output_item.done") => {
                let value = parsed(data)?;
                self.bytes += data.len();
                match (word, value.get("item")) {
                    ("response.output_item.added", Some(item)) => self.items.open(index, item),
                    ("response.output_item.done", Some(item)) => self.items.close(index, item, deltas),
                    (_, Some(_) | None) => self.items.settle(index, value.get("arguments")),
                }
            }
            word @ ("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled") => {
                let value = parsed(data)?;
                let status = word.strip_prefix("response.").unwrap_or_default();
                self.end(value.get("response").unwrap_or(&Value::Null), status, deltas)?;
            }
            "" | "error" => self.other(data, deltas)?,
            _ => {}
        }
        self.bytes += piece.len();
        Ok(())
    }

    /// A whole response, an error, or something that may be passed over.
    fn other(&mut self, data: &str, deltas: Deltas<'_>) -> Result<(), ModelError> {
        let value = parsed(data)?;
        if let Some(complaint) = Complaint::find(&value) {
            return Err(complaint.error());
        }
        if value.get("type").is_none() && value.get("output").is_some_and(Value::is_array) {
            self.bytes += data.len();
            self.end(&value, "", deltas)?;
        }
        Ok(())
    }

    /// A response has come to its end; `status` is what the event says about it.
    fn end(&mut self, response: &Value, status: &str, deltas: Deltas<'_>) -> Result<(), ModelError> {
        if let Some(complaint) = Complaint::find(response) {
            return Err(complaint.error());
        }
        let told = response.get("status").and_then(Value::as_str).unwrap_or_default();
        let status = match (status, told) {
            // Some servers name what happened in one of the two places only.
            ("" | "completed", "incomplete" | "failed" | "cancelled") => told,
            ("", "") => "completed",
            ("", told) => told,
            (status, _) => status,
        };
        let stop = match status {
            "completed" => StopReason::Stop,
            "incomplete" => cut_off(response),
            "failed" | "cancelled" => {
                let message = format!("the provider broke the answer off: {status}");
                return Err(ModelError::new(ErrorKind::Network, message));
            }
            // Of an answer that is being made elsewhere.
            "in_progress" | "queued" => return Ok(()),
            other => StopReason::Other(other.to_owned()),
        };
        let output = response.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if output.len() > MOST_PARTS {
            return Err(failure::too_long());
        }
        self.items.complete(output, deltas);
        self.usage = usage(response.get("usage"));
        self.stop = Some(stop);
        Ok(())
    }

    /// The whole answer.
    pub fn finish(self) -> Reply {
        let stop = match self.stop {
            Some(StopReason::Stop) | None if self.items.refused => StopReason::Refusal,
            stop => stop.unwrap_or(StopReason::Stop),
        };
        Reply { content: self.items.finish(), stop, usage: self.usage, written: false }
    }
}

fn parsed(data: &str) -> Result<Value, ModelError> {
    serde_json::from_str(data).map_err(|_| failure::unreadable(data))
}

fn cut_off(response: &Value) -> StopReason {
    let reason = response.get("incomplete_details").and_then(|details| details.get("reason")).and_then(Value::as_str);
    match reason {
        Some("max_output_tokens" | "max_tokens" | "length") => StopReason::Length,
        Some("content_filter") => StopReason::Refusal,
        Some(other) => StopReason::Other(other.to_owned()),
        None => StopReason::Other("incomplete".to_owned()),
    }
}

fn usage(told: Option<&Value>) -> Usage {
    let count = |of: Option<&Value>, name: &str| of.and_then(|of| of.get(name)).and_then(whole).unwrap_or(0);
    let details = |name: &str| told.and_then(|told| told.get(name));
    let cache_read = count(details("input_tokens_details"), "cached_tokens");
    let cache_write = count(details("input_tokens_details"), "cache_write_tokens");
    Usage {
        // On this wire the input includes what was cached.
        input: count(told, "input_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
        output: count(told, "output_tokens"),
        cache_read,
        cache_write,
        reasoning: count(details("output_tokens_details"), "reasoning_tokens"),
    }
}
