//! Puts an answer together from the events of Anthropic's stream.
//!
//! Goes by the data's own `type`, never by the event's name; events, blocks and deltas it does not know are passed over.

use serde::Deserialize;
use serde_json::Value;

use crate::model::error::ModelError;
use crate::model::message::{AssistantPart, Reasoning, ToolCall, ToolInput};
use crate::model::provider::borrowed::{Text, text};
use crate::model::provider::failure::{self, Complaint};
use crate::model::provider::{Deltas, PART_BYTES, Progress};
use crate::model::reply::{Delta, Reply, StopReason};
use crate::model::usage::Usage;

/// The kind of block whose reasoning nobody can read; it goes back as it came.
pub const REDACTED: &str = "redacted_thinking";

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Option<Text<'a>>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<Piece<'a>>,
    #[serde(default)]
    content_block: Option<Value>,
    #[serde(default)]
    message: Option<Value>,
    #[serde(default)]
    usage: Option<Value>,
}

#[derive(Default, Deserialize)]
struct Piece<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    partial_json: Option<Text<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'a>>,
}

/// The state of one answer.
#[derive(Debug, Default)]
pub struct Decoder {
    message_id: Option<String>,
    blocks: Vec<Block>,
    stop: Option<StopReason>,
    usage: Usage,
    over: bool,
    /// The bytes of all texts so far.
    bytes: usize,
}

#[derive(Debug)]
struct Block {
    index: Option<u64>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Text(String),
    Thinking { text: String, signature: String },
    Verbatim(Value),
    Call { id: String, name: String, given: Option<Value>, arguments: String },
    Unknown,
}

impl Decoder {
    /// How far the stream has come.
    pub fn progress(&self) -> Progress {
        match (&self.stop, self.blocks.is_empty()) {
            _ if self.over => Progress::Over,
            (Some(_), _) => Progress::Complete,
            (None, false) => Progress::Begun,
            (None, true) => Progress::Waiting,
        }
    }

    /// About how many bytes the answer takes so far.
    pub fn held(&self) -> usize {
        self.bytes + self.blocks.len().saturating_mul(PART_BYTES)
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
        let event = match serde_json::from_str::<Event<'_>>(data) {
            Ok(event) => event,
            Err(_) => {
                let value: Value = serde_json::from_str(data).map_err(|_| failure::unreadable(data))?;
                // An event of an unknown shape is passed over, unless it reports an error.
                return Complaint::find(&value).map_or_else(|| Ok(self.progress()), |complaint| Err(complaint.error()));
            }
        };
        match text(event.r#type.as_ref()) {
            "message_start" => self.start(event.message.as_ref(), deltas),
            "content_block_start" => self.open(event.index, event.content_block.as_ref(), deltas),
            "content_block_delta" => {
                if let Some(piece) = &event.delta {
                    self.piece(event.index, piece, deltas);
                }
            }
            "message_delta" => {
                self.count(event.usage.as_ref());
                let word = text(event.delta.as_ref().and_then(|delta| delta.stop_reason.as_ref()));
                self.stopped(word);
            }
            "message_stop" => {
                // Without a reason before it, what has come is the answer.
                self.stop.get_or_insert(StopReason::Stop);
                self.over = true;
            }
            "ping" | "content_block_stop" => {}
            _ => self.other(data, deltas)?,
        }
        Ok(self.progress())
    }

    /// A whole message, an error, or something that may be passed over.
    fn other(&mut self, data: &str, deltas: Deltas<'_>) -> Result<(), ModelError> {
        let value: Value = serde_json::from_str(data).map_err(|_| failure::unreadable(data))?;
        if let Some(complaint) = Complaint::find(&value) {
            return Err(complaint.error());
        }
        if value.get("type").and_then(Value::as_str) == Some("message") {
            self.start(Some(&value), deltas);
            self.stopped(value.get("stop_reason").and_then(Value::as_str).unwrap_or_default());
            self.over = self.stop.is_some();
        }
        Ok(())
    }

    fn start(&mut self, message: Option<&Value>, deltas: Deltas<'_>) {
        let Some(message) = message else { return };
        let id = message.get("id").and_then(Value::as_str);
        // Proxies send it twice, or begin another message within the stream; only then does what came before not count.
        if self.message_id.is_some() && self.message_id.as_deref() != id {
            *self = Self::default();
        }
        self.message_id = id.map(str::to_owned).or(self.message_id.take());
        self.count(message.get("usage"));
        if self.blocks.is_empty() {
            for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
                self.open(None, Some(block), deltas);
            }
        }
    }

    fn open(&mut self, index: Option<u64>, block: Option<&Value>, deltas: Deltas<'_>) {
        let field = |name: &str| block.and_then(|block| block.get(name)).and_then(Value::as_str).unwrap_or_default();
        let body = match field("type") {
            "text" => Body::Text(field("text").to_owned()),
            "thinking" => {
                Body::Thinking { text: field("thinking").to_owned(), signature: field("signature").to_owned() }
            }
            REDACTED => Body::Verbatim(block.cloned().unwrap_or_default()),
            "tool_use" => Body::Call {
                id: field("id").to_owned(),
                name: field("name").to_owned(),
                given: block.and_then(|block| block.get("input")).cloned(),
                arguments: String::new(),
            },
            _ => Body::Unknown,
        };
        self.bytes += block.map_or(0, |block| block.to_string().len());
        match &body {
            Body::Text(text) if !text.is_empty() => deltas(Delta::Text(text)),
            Body::Thinking { text, .. } if !text.is_empty() => deltas(Delta::Reasoning(text)),
            Body::Text(_) | Body::Thinking { .. } | Body::Verbatim(_) | Body::Call { .. } | Body::Unknown => {}
        }
        self.blocks.push(Block { index, body });
    }

    fn piece(&mut self, index: Option<u64>, piece: &Piece<'_>, deltas: Deltas<'_>) {
        let [said, thought, seal, arguments] =
            [&piece.text, &piece.thinking, &piece.signature, &piece.partial_json].map(|field| text(field.as_ref()));
        self.bytes += said.len() + thought.len() + seal.len() + arguments.len();
        // The last one: a proxy may count from 0 again. Where the start of the block is missing, its piece shows its kind.
        let known = match index {
            Some(_) => self.blocks.iter().rposition(|block| block.index == index),
            None => self.blocks.len().checked_sub(1),
        };
        let place = known.unwrap_or_else(|| {
            let body = match (&piece.text, &piece.thinking) {
                (Some(_), _) => Body::Text(String::new()),
                (None, Some(_)) => Body::Thinking { text: String::new(), signature: String::new() },
                (None, None) => Body::Unknown,
            };
            self.blocks.push(Block { index, body });
            self.blocks.len() - 1
        });
        let Some(block) = self.blocks.get_mut(place) else { return };
        match &mut block.body {
            Body::Text(whole) if !said.is_empty() => {
                whole.push_str(said);
                deltas(Delta::Text(said));
            }
            Body::Thinking { text, signature } => {
                text.push_str(thought);
                signature.push_str(seal);
                if !thought.is_empty() {
                    deltas(Delta::Reasoning(thought));
                }
            }
            Body::Call { arguments: whole, .. } => whole.push_str(arguments),
            Body::Text(_) | Body::Verbatim(_) | Body::Unknown => {}
        }
    }

    fn stopped(&mut self, word: &str) {
        self.stop = match word {
            "" => return,
            "end_turn" | "stop_sequence" => Some(StopReason::Stop),
            "tool_use" => Some(StopReason::ToolUse),
            "max_tokens" => Some(StopReason::Length),
            "model_context_window_exceeded" => Some(StopReason::Window),
            "pause_turn" => Some(StopReason::Pause),
            "refusal" => Some(StopReason::Refusal),
            other => Some(StopReason::Other(other.to_owned())),
        };
    }

    /// Takes over what is told: counts are running totals, and a proxy may leave any of them out or say 0.
    fn count(&mut self, usage: Option<&Value>) {
        let told =
            |name: &str| usage.and_then(|usage| usage.get(name)).and_then(Value::as_u64).filter(|count| *count > 0);
        let Usage { input, output, cache_read, cache_write, reasoning } = &mut self.usage;
        *input = told("input_tokens").unwrap_or(*input);
        *output = told("output_tokens").unwrap_or(*output);
        *cache_read = told("cache_read_input_tokens").unwrap_or(*cache_read);
        *cache_write = told("cache_creation_input_tokens").unwrap_or(*cache_write);
        let details = usage.and_then(|usage| usage.get("output_tokens_details"));
        let thought = details.and_then(|details| details.get("thinking_tokens")).and_then(Value::as_u64);
        *reasoning = thought.unwrap_or(*reasoning);
    }

    /// The whole answer.
    pub fn finish(self) -> Reply {
        let content = self.blocks.into_iter().filter_map(|block| finished(block.body)).collect();
        Reply { content, stop: self.stop.unwrap_or(StopReason::Stop), usage: self.usage, written: false }
    }
}

fn finished(body: Body) -> Option<AssistantPart> {
    match body {
        Body::Text(text) => (!text.is_empty()).then_some(AssistantPart::Text(text)),
        Body::Thinking { text, signature } => {
            let signature = (!signature.is_empty()).then_some(signature);
            let some = !text.is_empty() || signature.is_some();
            some.then_some(AssistantPart::Reasoning(Reasoning { text, signature, opaque: None }))
        }
        Body::Verbatim(block) => {
            Some(AssistantPart::Reasoning(Reasoning { opaque: Some(block), ..Reasoning::default() }))
        }
        Body::Call { id, name, given, arguments } => {
            let input = match given {
                Some(Value::Object(object)) if arguments.trim().is_empty() => ToolInput::Object(object),
                Some(Value::String(raw)) if arguments.trim().is_empty() => ToolInput::parse(&raw),
                Some(_) | None => ToolInput::parse(&arguments),
            };
            Some(AssistantPart::ToolUse(ToolCall { id, name, input }))
        }
        Body::Unknown => None,
    }
}
