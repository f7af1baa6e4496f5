//! Puts an answer together from the chunks of a chat completion.
//!
//! Knows the quirks of the servers that speak this wire; what a call's pieces belong to is decided in `calls`.

use serde_json::{Value, json};

use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::{AssistantPart, Reasoning};
use crate::model::provider::borrowed::{Text, text};
use crate::model::provider::compat::Compat;
use crate::model::provider::failure::{self, Complaint};
use crate::model::provider::think::{self, Splitter};
use crate::model::provider::{Deltas, MOST_PARTS, PART_BYTES, Progress};
use crate::model::reply::{Delta, Reply, StopReason};
use crate::model::usage::Usage;

use super::calls::Calls;
use super::chunk::{self, Choice, Chunk, Piece, Tokens};

/// The state of one answer.
#[derive(Debug)]
pub struct Decoder {
    blocks: Blocks,
    calls: Calls,
    splitter: Splitter,
    think_tags: bool,
    /// `OpenRouter`'s reasoning, which goes back verbatim.
    details: Vec<Value>,
    /// Reasoning came in a field of its own.
    reasoned: bool,
    refused: bool,
    stop: Option<StopReason>,
    tokens: Option<Tokens>,
    over: bool,
    /// The bytes of all texts so far.
    bytes: usize,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new(compat: &Compat) -> Self {
        Self {
            blocks: Blocks::default(),
            calls: Calls::default(),
            splitter: Splitter::new(compat.think_tags),
            think_tags: compat.think_tags,
            details: Vec::new(),
            reasoned: false,
            refused: false,
            stop: None,
            tokens: None,
            over: false,
            bytes: 0,
        }
    }

    /// How far the stream has come.
    pub fn progress(&self) -> Progress {
        let begun = !self.blocks.parts.is_empty() || self.calls.len() > 0;
        match (&self.stop, begun) {
            _ if self.over => Progress::Over,
            (Some(_), _) => Progress::Complete,
            (None, true) => Progress::Begun,
            (None, false) => Progress::Waiting,
        }
    }

    /// About how many bytes the answer takes so far.
    pub fn held(&self) -> usize {
        self.bytes + self.blocks.parts.len().saturating_mul(PART_BYTES)
    }

    /// Takes the data of one frame.
    ///
    /// # Errors
    ///
    /// What the server reports, and data that is no JSON.
    pub fn frame(&mut self, data: &str, deltas: Deltas<'_>) -> Result<Progress, ModelError> {
        if data.trim() == "[DONE]" {
            // A few servers never name a reason; this word says at least that the answer was not cut.
            match self.progress() {
                Progress::Begun => self.stop = Some(StopReason::Stop),
                Progress::Waiting | Progress::Complete | Progress::Over => {}
            }
            self.over = self.stop.is_some();
            return if self.over { Ok(Progress::Over) } else { Err(failure::broke_off()) };
        }
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) if chunk.error.is_none() && chunk.choices.as_ref().is_some_and(|all| !all.is_empty()) => {
                self.chunk(&chunk, deltas)?;
            }
            // An error, a chunk without choices, or an odd shape.
            Ok(_) | Err(_) => {
                let value = serde_json::from_str(data).map_err(|_| failure::unreadable(data))?;
                if let Some(complaint) = Complaint::find(&value) {
                    return Err(complaint.error());
                }
                self.chunk(&chunk::from_value(&value), deltas)?;
            }
        }
        Ok(self.progress())
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, deltas: Deltas<'_>) -> Result<(), ModelError> {
        let groq = chunk.x_groq.as_ref().and_then(|groq| groq.usage.as_ref());
        // Wherever it stands, the last one counts: some servers send a running total.
        if let Some(tokens) = chunk.usage.as_ref().or(groq) {
            self.tokens = Some(tokens.clone());
        }
        for choice in chunk.choices.iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.choice(choice, deltas)?;
        }
        Ok(())
    }

    fn choice(&mut self, choice: &Choice<'_>, deltas: Deltas<'_>) -> Result<(), ModelError> {
        if let Some(tokens) = &choice.usage {
            self.tokens = Some(tokens.clone());
        }
        if let Some(piece) = &choice.delta {
            let more = piece.tool_calls.as_ref().map_or(0, Vec::len);
            if self.calls.len() + more > MOST_PARTS {
                return Err(failure::too_long());
            }
            self.piece(piece, deltas);
        }
        match text(choice.finish_reason.as_ref()) {
            "" => {}
            word => self.stop = Some(stop_reason(word)?),
        }
        Ok(())
    }

    fn piece(&mut self, piece: &Piece<'_>, deltas: Deltas<'_>) {
        self.bytes += piece.bytes();
        // Several fields may carry the same text.
        let fields = [&piece.reasoning_content, &piece.reasoning, &piece.reasoning_text];
        let thought = fields.into_iter().map(|field| text(field.as_ref())).find(|field| !field.is_empty());
        if let Some(details) = &piece.reasoning_details {
            self.reasoned = true;
            for detail in details {
                if let (None, Some(thought)) = (thought, words_of(detail)) {
                    self.blocks.reasoning(thought, deltas);
                }
                merge_detail(&mut self.details, detail);
            }
        }
        if let Some(thought) = thought {
            self.reasoned = true;
            self.blocks.reasoning(thought, deltas);
        }
        let said = text(piece.content.as_ref());
        if !said.is_empty() {
            let blocks = &mut self.blocks;
            self.splitter.push(said, &mut |sorted| blocks.sorted(sorted, deltas));
        }
        let refusal = text(piece.refusal.as_ref());
        if !refusal.is_empty() {
            self.refused = true;
            self.blocks.text(refusal, deltas);
        }
        match (&piece.tool_calls, &piece.function_call) {
            (Some(pieces), _) if !pieces.is_empty() => self.call(pieces, deltas),
            (_, Some(function)) => {
                let (name, arguments) = (function.name.as_ref(), function.arguments.as_ref());
                let again = |found: Option<&Text<'_>>| Some(Text(text(found).to_owned().into()));
                let function = chunk::Function { name: again(name), arguments: again(arguments) };
                let call = chunk::CallPiece { index: Some(0), function: Some(function), ..Default::default() };
                self.call(&[call], deltas);
            }
            _ => {}
        }
    }

    fn call(&mut self, pieces: &[chunk::CallPiece<'_>], deltas: Deltas<'_>) {
        // What was held back came before the call.
        let blocks = &mut self.blocks;
        self.splitter.end(&mut |sorted| blocks.sorted(sorted, deltas));
        self.calls.push(pieces);
        self.blocks.calls(self.calls.len());
    }

    /// The whole answer.
    ///
    /// # Errors
    ///
    /// When the stream has not come to its end.
    pub fn finish(mut self, deltas: Deltas<'_>) -> Result<Reply, ModelError> {
        let blocks = &mut self.blocks;
        self.splitter.end(&mut |sorted| blocks.sorted(sorted, deltas));
        let mut stop = self.stop.ok_or_else(failure::broke_off)?;
        if self.refused && stop == StopReason::Stop {
            stop = StopReason::Refusal;
        }
        let may_split = self.think_tags && !self.reasoned;
        let mut calls = self.calls.finish().into_iter();
        let mut content = Vec::new();
        if !self.details.is_empty() {
            // One part holds all of it, ahead of the answer; its text is that of the reasoning blocks.
            let text = self.blocks.take_reasoning();
            let opaque = Some(json!({ DETAILS: self.details }));
            content.push(AssistantPart::Reasoning(Reasoning { text, signature: None, opaque }));
        }
        for block in self.blocks.parts {
            match block {
                Block::Reasoning(text) => {
                    content.push(AssistantPart::Reasoning(Reasoning { text, ..Reasoning::default() }));
                }
                Block::Text(text) => match think::split_unopened(&text).filter(|_| may_split && content.is_empty()) {
                    Some((thought, said)) => {
                        let reasoning = Reasoning { text: thought.to_owned(), ..Reasoning::default() };
                        content.push(AssistantPart::Reasoning(reasoning));
                        if !said.is_empty() {
                            content.push(AssistantPart::Text(said.to_owned()));
                        }
                    }
                    None => content.push(AssistantPart::Text(text)),
                },
                Block::Call => {
                    for (call, extra) in calls.next().unwrap_or_default() {
                        if let Some(extra) = extra {
                            let opaque = Some(json!({ EXTRA: extra }));
                            content.push(AssistantPart::Reasoning(Reasoning { opaque, ..Reasoning::default() }));
                        }
                        content.push(AssistantPart::ToolUse(call));
                    }
                }
            }
        }
        Ok(Reply { content, stop, usage: self.tokens.map(|tokens| usage(&tokens)).unwrap_or_default(), written: false })
    }
}

/// The key of [`Reasoning::opaque`] under which `OpenRouter`'s reasoning is kept.
pub const DETAILS: &str = "reasoning_details";
/// The key of [`Reasoning::opaque`] under which what belongs to the call after it is kept.
pub const EXTRA: &str = "extra_content";

/// The answer so far, in the order it came.
#[derive(Debug, Default)]
struct Blocks {
    parts: Vec<Block>,
    calls: usize,
}

#[derive(Debug)]
enum Block {
    Reasoning(String),
    Text(String),
    /// The next of the calls.
    Call,
}

impl Blocks {
    fn sorted(&mut self, piece: think::Piece<'_>, deltas: Deltas<'_>) {
        match piece {
            think::Piece::Text(text) => self.text(text, deltas),
            think::Piece::Reasoning(text) => self.reasoning(text, deltas),
        }
    }

    fn text(&mut self, text: &str, deltas: Deltas<'_>) {
        deltas(Delta::Text(text));
        match self.parts.last_mut() {
            Some(Block::Text(whole)) => whole.push_str(text),
            Some(Block::Reasoning(_) | Block::Call) | None => self.parts.push(Block::Text(text.to_owned())),
        }
    }

    fn reasoning(&mut self, text: &str, deltas: Deltas<'_>) {
        deltas(Delta::Reasoning(text));
        match self.parts.last_mut() {
            Some(Block::Reasoning(whole)) => whole.push_str(text),
            Some(Block::Text(_) | Block::Call) | None => self.parts.push(Block::Reasoning(text.to_owned())),
        }
    }

    fn calls(&mut self, count: usize) {
        while self.calls < count {
            self.parts.push(Block::Call);
            self.calls += 1;
        }
    }

    fn take_reasoning(&mut self) -> String {
        let mut whole = String::new();
        self.parts.retain(|block| match block {
            Block::Reasoning(text) => {
                whole.push_str(text);
                false
            }
            Block::Text(_) | Block::Call => true,
        });
        whole
    }
}

/// What a detail of the reasoning says in words, if anything.
fn words_of(detail: &Value) -> Option<&str> {
    let field = |name: &str| detail.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    field("text").or_else(|| field("summary"))
}

/// Adds a detail: its pieces share type and index, and their texts are one text.
fn merge_detail(details: &mut Vec<Value>, detail: &Value) {
    let same = |other: &&mut Value| {
        detail.get("type") == other.get("type")
            && detail.get("index").is_some()
            && detail.get("index") == other.get("index")
    };
    let Some(known) = details.last_mut().filter(|last| same(last)).and_then(Value::as_object_mut) else {
        details.push(detail.clone());
        return;
    };
    for (name, value) in detail.as_object().into_iter().flatten() {
        match (name.as_str(), known.get_mut(name), value) {
            ("text" | "summary" | "data", Some(Value::String(whole)), Value::String(more)) => whole.push_str(more),
            (_, _, Value::Null) => {}
            (_, _, value) => {
                known.insert(name.clone(), value.clone());
            }
        }
    }
}

fn stop_reason(word: &str) -> Result<StopReason, ModelError> {
    let broken = |kind, said: &str| ModelError::new(kind, format!("the provider broke the answer off: {said}"));
    Ok(match word {
        "stop" | "end_turn" | "eos" | "stop_sequence" => StopReason::Stop,
        "tool_calls" | "function_call" | "tool_use" => StopReason::ToolUse,
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        "model_context_window_exceeded" => StopReason::Window,
        "content_filter" | "refusal" | "sensitive" => StopReason::Refusal,
        // OpenRouter and z.ai name what happened here instead of reporting an error.
        "error" | "network_error" => return Err(broken(ErrorKind::Network, word)),
        // DeepSeek.
        "insufficient_system_resource" => return Err(broken(ErrorKind::Overload, word)),
        other => StopReason::Other(other.to_owned()),
    })
}

fn usage(tokens: &Tokens) -> Usage {
    let details = tokens.prompt_tokens_details.as_ref();
    let cached = details.and_then(|details| details.cached_tokens).filter(|cached| *cached > 0);
    let cache_read = cached.or(tokens.prompt_cache_hit_tokens).or(tokens.cached_tokens).unwrap_or(0);
    let cache_write = details.and_then(|details| details.cache_write_tokens).unwrap_or(0);
    let reasoning = tokens.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    Usage {
        // On this wire the prompt includes what was cached.
        input: tokens.prompt_tokens.unwrap_or(0).saturating_sub(cache_read).saturating_sub(cache_write),
        output: tokens.completion_tokens.unwrap_or(0),
        cache_read,
        cache_write,
        reasoning: reasoning.unwrap_or(0),
    }
}
