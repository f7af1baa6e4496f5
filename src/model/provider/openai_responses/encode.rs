//! Writes a request as the body of a response to be made.
//!
//! The history is a flat list of items that only ever grows at its end; nothing refers to what the server may have stored.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use crate::model::ModelInfo;
use crate::model::message::{Assistant, AssistantPart, Image, Message, Part, ToolCall, ToolInput, ToolResult};
use crate::model::provider::compat::{Compat, ReasoningBack};
use crate::model::provider::ids::{self, IdStyle};
use crate::model::provider::{NO_PICTURE, blank, clean, is_blank, paragraphs};
use crate::model::request::{Request, ToolChoice};

use super::effort;
use super::kept::{self, Kind};

/// The least output limit the API takes, in tokens.
const LEAST_OUTPUT: u64 = 16;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<Cow<'a, str>>,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Wish>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// The API's own default would have every parameter required.
    strict: bool,
}

#[derive(Serialize)]
struct Wish {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        role: &'static str,
        /// Demanded of a message with an id.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<&'static str>,
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a str>,
    },
    Reasoning {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        summary: &'a [Value],
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        content: &'a [Value],
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<&'a str>,
    },
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Content<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Pieces(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece<'a> {
    InputText { text: Cow<'a, str> },
    InputImage { image_url: String, detail: &'static str },
    OutputText { text: Cow<'a, str>, annotations: [(); 0] },
}

/// The body of a request.
///
/// # Errors
///
/// When a value cannot be written as JSON.
pub fn encode(request: &Request, info: &ModelInfo, compat: &Compat) -> serde_json::Result<Vec<u8>> {
    let mut history = History { info, compat, items: Vec::new() };
    for message in &request.messages {
        history.message(message);
    }
    let tools: Vec<Tool<'_>> = request
        .tools
        .iter()
        .map(|offer| Tool {
            r#type: "function",
            name: &offer.name,
            description: &offer.description,
            parameters: &offer.parameters,
            strict: false,
        })
        .collect();
    let tool_choice = match request.tool_choice {
        // The tools stay, so that the cached prefix stays.
        ToolChoice::None if !tools.is_empty() => Some("none"),
        ToolChoice::None | ToolChoice::Auto => None,
    };
    let options = &request.options;
    let effort::Plan { reasons, effort } = effort::plan(options.effort, info, compat);
    let summary = (reasons && compat.reasoning_summary).then_some("auto");
    let body = Body {
        model: &info.origin.model,
        instructions: (!is_blank(&request.system)).then(|| clean(&request.system)),
        input: history.items,
        tools,
        // Calls in parallel are the default, and some models refuse to hear of it.
        tool_choice,
        stream: true,
        store: false,
        // Other models refuse to be asked for it.
        include: if reasons { &["reasoning.encrypted_content"] } else { &[] },
        reasoning: (effort.is_some() || summary.is_some()).then_some(Wish { effort, summary }),
        max_output_tokens: options.max_tokens.map(|limit| limit.max(LEAST_OUTPUT)),
        temperature: options.temperature.filter(|_| !reasons),
        prompt_cache_key: options.cache_key.as_deref().filter(|_| compat.prompt_cache_key),
    };
    serde_json::to_vec(&body)
}

/// The items as they grow.
struct History<'a> {
    info: &'a ModelInfo,
    compat: &'a Compat,
    items: Vec<Item<'a>>,
}

impl<'a> History<'a> {
    fn message(&mut self, message: &'a Message) {
        match message {
            Message::User(parts) => {
                let pieces: Vec<Piece<'a>> = parts.iter().filter_map(|part| self.piece(part)).collect();
                if !pieces.is_empty() {
                    let content = Content::Pieces(pieces);
                    self.items.push(Item::Message { id: None, role: "user", status: None, content, phase: None });
                }
            }
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::Tool(results) => {
                let outputs: Vec<Item<'a>> = results.iter().map(|result| self.output(result)).collect();
                self.items.extend(outputs);
            }
        }
    }

    fn piece(&self, part: &'a Part) -> Option<Piece<'a>> {
        match part {
            Part::Text(text) if is_blank(text) => None,
            Part::Text(text) => Some(Piece::InputText { text: clean(text) }),
            Part::Image(Image { media_type, data }) if self.info.images => {
                let mut image_url = format!("data:{media_type};base64,");
                STANDARD.encode_string(data, &mut image_url);
                Some(Piece::InputImage { image_url, detail: "auto" })
            }
            Part::Image(_) => Some(Piece::InputText { text: Cow::Borrowed(NO_PICTURE) }),
        }
    }

    fn output(&self, result: &'a ToolResult) -> Item<'a> {
        let sees = self.info.images && result.content.iter().any(|part| matches!(part, Part::Image(_)));
        let output = if sees {
            Content::Pieces(result.content.iter().filter_map(|part| self.piece(part)).collect())
        } else {
            // As one text, since not every server takes a list.
            Content::Text(paragraphs(result.content.iter().map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Image(_) => NO_PICTURE,
            })))
        };
        Item::FunctionCallOutput { call_id: IdStyle::Long.on_wire(&result.call_id), output }
    }

    fn assistant(&mut self, assistant: &'a Assistant) {
        let own = *assistant.origin == *self.info.origin;
        let mut lead = Lead::default();
        for part in &assistant.content {
            match part {
                AssistantPart::Reasoning(reasoning) => match reasoning.opaque.as_ref().filter(|_| own) {
                    Some(opaque) => lead.read(opaque, self.compat),
                    None => lead = Lead::default(),
                },
                // The item it led to was empty, and cannot be sent.
                AssistantPart::Text(text) if is_blank(text) => lead = Lead::default(),
                AssistantPart::Text(text) => {
                    let (items, next) = std::mem::take(&mut lead).to(Kind::Message);
                    self.items.extend(items);
                    self.items.push(said(text, next));
                }
                AssistantPart::ToolUse(call) => {
                    let (items, next) = std::mem::take(&mut lead).to(Kind::Call);
                    self.items.extend(items);
                    self.items.push(called(call, next));
                }
            }
        }
    }
}

/// What is known of an item from the part before it.
#[derive(Clone, Copy, Default)]
struct Next<'a> {
    id: Option<&'a str>,
    phase: Option<&'a str>,
}

fn said<'a>(text: &'a str, Next { id, phase }: Next<'a>) -> Item<'a> {
    let text = clean(text.trim_end_matches(blank));
    let (status, content) = match id {
        Some(_) => (Some("completed"), Content::Pieces(vec![Piece::OutputText { text, annotations: [] }])),
        // A message without an id is taken in its short form only.
        None => (None, Content::Text(text)),
    };
    Item::Message { id, role: "assistant", status, content, phase }
}

fn called<'a>(call: &'a ToolCall, Next { id, .. }: Next<'a>) -> Item<'a> {
    let arguments = match &call.input {
        ToolInput::Object(object) => serde_json::to_string(object).unwrap_or_else(|_| "{}".to_owned()),
        ToolInput::Invalid { .. } => "{}".to_owned(),
    };
    Item::FunctionCall { id, call_id: IdStyle::Long.on_wire(&call.id), name: ids::tool_name(&call.name), arguments }
}

/// Reasoning that waits for the item it led to: without that it is refused.
#[derive(Default)]
struct Lead<'a> {
    items: Vec<Item<'a>>,
    next: Option<&'a Value>,
}

impl<'a> Lead<'a> {
    fn read(&mut self, opaque: &'a Value, compat: &Compat) {
        if let Some(item) = kept::reasoning_of(opaque) {
            match reasoning(item, compat) {
                Some(item) => self.items.push(item),
                None => self.items.clear(),
            }
        }
        self.next = kept::next_of(opaque);
    }

    /// The reasoning before an item of this kind, and what is known of that item.
    fn to(self, kind: Kind) -> (Vec<Item<'a>>, Next<'a>) {
        let Some(next) = self.next.filter(|next| Kind::of(next) == kind) else {
            return (self.items, Next::default());
        };
        // An id is looked up together with that of the reasoning: it goes with it or not at all.
        let paired = matches!(self.items.last(), Some(Item::Reasoning { id: Some(_), .. }));
        let id = kept::id_of(next).filter(|_| paired);
        (self.items, Next { id, phase: next.get("phase").and_then(Value::as_str) })
    }
}

/// A reasoning item as it may go back, if the server can read it without having stored it.
fn reasoning<'a>(item: &'a Value, compat: &Compat) -> Option<Item<'a>> {
    let encrypted_content = kept::seal_of(item);
    let content = if compat.reasoning_back == ReasoningBack::Content { kept::list_of(item, "content") } else { &[] };
    let summary = kept::list_of(item, "summary");
    let readable = encrypted_content.is_some() || !content.is_empty();
    readable.then(|| Item::Reasoning { id: kept::id_of(item), summary, content, encrypted_content })
}
