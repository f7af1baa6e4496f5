//! Writes a request as the body of a message to Anthropic.
//!
//! Roles alternate, results come first in their turn, nothing is empty, and at most four places are marked for the cache.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use crate::base::json::Object;
use crate::model::ModelInfo;
use crate::model::message::{Assistant, AssistantPart, Image, Message, Part, Reasoning, ToolResult};
use crate::model::provider::compat::Compat;
use crate::model::provider::ids::{self, IdStyle};
use crate::model::provider::{NO_PICTURE, blank, clean, is_blank};
use crate::model::request::{Request, ToolChoice};

use super::decode::REDACTED;
use super::thinking::{self, Plan};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(flatten)]
    plan: Plan,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Kind>,
    stream: bool,
}

#[derive(Clone, Copy, Serialize)]
struct Kind {
    r#type: &'static str,
}

const EPHEMERAL: Kind = Kind { r#type: "ephemeral" };

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Kind>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    body: Inner<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Kind>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Inner<'a> {
    Known(Known<'a>),
    /// As it came, such as a redacted block.
    Verbatim(&'a Value),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Known<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: Source<'a>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Input<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Known<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Given(&'a Object),
    Nothing {},
}

impl<'a> From<Known<'a>> for Block<'a> {
    fn from(known: Known<'a>) -> Self {
        Self { body: Inner::Known(known), cache_control: None }
    }
}

/// The body of a request.
///
/// # Errors
///
/// When a value cannot be written as JSON.
pub fn encode(request: &Request, info: &ModelInfo, compat: &Compat) -> serde_json::Result<Vec<u8>> {
    let mut turns = Turns { info, turns: Vec::new() };
    for message in &request.messages {
        turns.message(message);
    }
    let mut messages = turns.turns;
    if messages.first().is_none_or(|turn| turn.role == Role::Assistant) {
        let begin = Known::Text { text: Cow::Borrowed("(The beginning of the conversation is left out.)") };
        messages.insert(0, Turn { role: Role::User, content: vec![begin.into()] });
    }
    let mut system = Vec::new();
    if !is_blank(&request.system) {
        system.push(Block::from(Known::Text { text: clean(&request.system) }));
    }
    let mut tools: Vec<Tool<'_>> = request
        .tools
        .iter()
        .map(|offer| Tool {
            name: &offer.name,
            description: &offer.description,
            input_schema: &offer.parameters,
            cache_control: None,
        })
        .collect();
    if compat.cache_marks {
        if let Some(tool) = tools.last_mut() {
            tool.cache_control = Some(EPHEMERAL);
        }
        if let Some(block) = system.last_mut() {
            block.cache_control = Some(EPHEMERAL);
        }
        mark_users(&mut messages);
    }
    let tool_choice = match request.tool_choice {
        // The tools stay, so that the cached prefix stays.
        ToolChoice::None if !tools.is_empty() => Some(Kind { r#type: "none" }),
        ToolChoice::None | ToolChoice::Auto => None,
    };
    let plan = thinking::plan(&request.options, info, compat, may_think(&messages));
    serde_json::to_vec(&Body { model: &info.origin.model, plan, system, messages, tools, tool_choice, stream: true })
}

/// Marks the ends of the last two user turns: what was written to the cache by the request before is found again even
/// when more blocks have come since than a lookup goes back (20).
fn mark_users(turns: &mut [Turn<'_>]) {
    let users = turns.iter_mut().rev().filter(|turn| turn.role == Role::User);
    for turn in users.take(2) {
        if let Some(block) = turn.content.last_mut() {
            block.cache_control = Some(EPHEMERAL);
        }
    }
}

/// With a budget, the answer under way must begin with thinking, or the API refuses the request. It does not where the
/// model was changed, or thinking switched on, between a call and its result.
fn may_think(turns: &[Turn<'_>]) -> bool {
    let results_only = |turn: &Turn<'_>| {
        turn.role == Role::User
            && turn.content.iter().all(|block| matches!(block.body, Inner::Known(Known::ToolResult { .. })))
    };
    let thinks = |turn: &Turn<'_>| match turn.content.first().map(|block| &block.body) {
        Some(Inner::Known(Known::Thinking { .. }) | Inner::Verbatim(_)) => true,
        Some(Inner::Known(
            Known::Text { .. } | Known::Image { .. } | Known::ToolUse { .. } | Known::ToolResult { .. },
        ))
        | None => false,
    };
    let asked = turns.iter().rposition(|turn| turn.role == Role::User && !results_only(turn));
    let answer = turns.iter().skip(asked.map_or(0, |place| place + 1)).find(|turn| turn.role == Role::Assistant);
    answer.is_none_or(thinks)
}

/// The conversation as it grows.
struct Turns<'a> {
    info: &'a ModelInfo,
    turns: Vec<Turn<'a>>,
}

impl<'a> Turns<'a> {
    fn message(&mut self, message: &'a Message) {
        match message {
            Message::User(parts) => {
                let blocks = parts.iter().filter_map(|part| known(part, self.info)).map(Block::from).collect();
                self.add(Role::User, blocks);
            }
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::Tool(results) => {
                let blocks = results.iter().map(|result| Block::from(self.result(result))).collect();
                self.add(Role::User, blocks);
            }
        }
    }

    /// Adds blocks to the turn of this role, or begins one.
    fn add(&mut self, role: Role, blocks: Vec<Block<'a>>) {
        match self.turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some(turn) if turn.role == role => turn.content.extend(blocks),
            Some(_) | None => self.turns.push(Turn { role, content: blocks }),
        }
    }

    fn assistant(&mut self, assistant: &'a Assistant) {
        let own = *assistant.origin == *self.info.origin;
        let blocks: Vec<Block<'a>> = assistant.content.iter().filter_map(|part| self.answer(part, own)).collect();
        let says_something = blocks.iter().any(|block| match &block.body {
            Inner::Known(Known::Text { .. } | Known::ToolUse { .. }) => true,
            Inner::Known(Known::Image { .. } | Known::Thinking { .. } | Known::ToolResult { .. })
            | Inner::Verbatim(_) => false,
        });
        if says_something {
            self.add(Role::Assistant, blocks);
        }
    }

    fn answer(&self, part: &'a AssistantPart, own: bool) -> Option<Block<'a>> {
        match part {
            AssistantPart::Reasoning(Reasoning { text, signature, opaque }) => match (opaque, signature) {
                _ if !own => None,
                // Something else was kept when the same model was asked over another wire.
                (Some(block), _) if block.get("type").and_then(Value::as_str) != Some(REDACTED) => None,
                (Some(block), _) => Some(Block { body: Inner::Verbatim(block), cache_control: None }),
                (None, Some(signature)) => Some(Known::Thinking { thinking: text, signature }.into()),
                // Without its seal the API refuses it.
                (None, None) => None,
            },
            AssistantPart::Text(text) if is_blank(text) => None,
            AssistantPart::Text(text) => Some(Known::Text { text: clean(text.trim_end_matches(blank)) }.into()),
            AssistantPart::ToolUse(call) => {
                let input = call.input.object().map_or(Input::Nothing {}, Input::Given);
                let id = IdStyle::Long.on_wire(&call.id);
                Some(Known::ToolUse { id, name: ids::tool_name(&call.name), input }.into())
            }
        }
    }

    fn result(&self, result: &'a ToolResult) -> Known<'a> {
        Known::ToolResult {
            tool_use_id: IdStyle::Long.on_wire(&result.call_id),
            content: result.content.iter().filter_map(|part| known(part, self.info)).collect(),
            is_error: result.is_error,
        }
    }
}

fn known<'a>(part: &'a Part, info: &ModelInfo) -> Option<Known<'a>> {
    match part {
        Part::Text(text) if is_blank(text) => None,
        Part::Text(text) => Some(Known::Text { text: clean(text) }),
        Part::Image(Image { media_type, data }) if info.images => {
            let source = Source { r#type: "base64", media_type, data: STANDARD.encode(data) };
            Some(Known::Image { source })
        }
        Part::Image(_) => Some(Known::Text { text: Cow::Borrowed(NO_PICTURE) }),
    }
}
