//! Writes a request as the body of a streamed generateContent.
//!
//! Roles alternate as far as the model bears it, results come in one turn in the order of their calls, and what was sealed
//! goes back in its place, to the model that sealed it alone. Contents come last, so that a longer conversation begins with
//! the bytes of a shorter one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use crate::base::json::Object;
use crate::model::ModelInfo;
use crate::model::message::{Assistant, AssistantPart, Image, Message, Part as Said, Reasoning, ToolCall, ToolResult};
use crate::model::provider::compat::Compat;
use crate::model::provider::{NO_PICTURE, clean, ids, is_blank, paragraphs};
use crate::model::request::{Offer, Request, ToolChoice};

use super::generation::Generation;
use super::thinking::{self, Config};
use super::{ID, KEPT, PLACE, SEAL, schema};

/// What stands for the seal of a call that another model made, or of which none was kept:
/// <https://ai.google.dev/gemini-api/docs/thought-signatures>.
const NO_SEAL: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig>,
    #[serde(skip_serializing_if = "Settings::is_empty")]
    generation_config: Settings,
    contents: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: [Known<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig {
    function_calling_config: Mode,
}

#[derive(Serialize)]
struct Mode {
    mode: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Config>,
}

impl Settings {
    fn is_empty(&self) -> bool {
        let Self { max_output_tokens, temperature, thinking_config } = self;
        max_output_tokens.is_none() && temperature.is_none() && thinking_config.is_none()
    }
}

#[derive(Serialize)]
struct Turn<'a> {
    role: Role,
    parts: Vec<Part<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Model,
}

#[derive(Serialize)]
struct Part<'a> {
    #[serde(flatten)]
    body: Known<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(rename = "thoughtSignature", skip_serializing_if = "Option::is_none")]
    seal: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Known<'a> {
    Text(Cow<'a, str>),
    InlineData(Blob<'a>),
    FunctionCall(Call<'a>),
    FunctionResponse(Outcome<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'a str,
    data: String,
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    args: Arguments<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Given(&'a Object),
    Nothing {},
}

#[derive(Serialize)]
struct Outcome<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Known<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Response<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

impl<'a> From<Known<'a>> for Part<'a> {
    fn from(body: Known<'a>) -> Self {
        Self { body, thought: false, seal: None }
    }
}

/// The body of a request.
///
/// # Errors
///
/// When a value cannot be written as JSON.
pub fn encode(request: &Request, info: &ModelInfo, compat: &Compat) -> serde_json::Result<Vec<u8>> {
    let generation = Generation::of(&info.origin.model, compat);
    let mut history = History { info, generation, turns: Vec::new(), calls: HashMap::new() };
    for message in &request.messages {
        history.message(message);
    }
    let mut contents = history.turns;
    if contents.first().is_none_or(|turn| turn.role == Role::Model) {
        let begin = Known::Text(Cow::Borrowed("(The beginning of the conversation is left out.)"));
        contents.insert(0, Turn { role: Role::User, parts: vec![begin.into()] });
    }
    let declarations: Vec<_> = request.tools.iter().map(|offer| declaration(offer, compat)).collect();
    let tool_config = match request.tool_choice {
        // The tools stay, so that the cached prefix stays.
        ToolChoice::None if !declarations.is_empty() => {
            Some(ToolConfig { function_calling_config: Mode { mode: "NONE" } })
        }
        ToolChoice::None | ToolChoice::Auto => None,
    };
    let says_something = !is_blank(&request.system);
    let body = Body {
        system_instruction: says_something.then(|| Instruction { parts: [Known::Text(clean(&request.system))] }),
        tools: if declarations.is_empty() { Vec::new() } else { vec![Tools { function_declarations: declarations }] },
        tool_config,
        generation_config: Settings {
            max_output_tokens: request.options.max_tokens,
            temperature: request.options.temperature,
            thinking_config: thinking::config(&request.options, info, generation),
        },
        contents,
    };
    serde_json::to_vec(&body)
}

fn declaration<'a>(offer: &'a Offer, compat: &Compat) -> Declaration<'a> {
    let Offer { name, description, parameters } = offer;
    let (full, subset) = match compat.json_schema {
        true => (schema::full(parameters), None),
        false => (None, schema::subset(parameters)),
    };
    Declaration { name, description, parameters_json_schema: full, parameters: subset }
}

/// The conversation as it grows.
struct History<'a> {
    info: &'a ModelInfo,
    generation: Generation,
    turns: Vec<Turn<'a>>,
    /// What results have to repeat of their calls, by the calls' ids.
    calls: HashMap<&'a str, Asked<'a>>,
}

#[derive(Clone, Copy)]
struct Asked<'a> {
    name: &'a str,
    /// The id the server gave, if it gave one.
    id: Option<&'a str>,
}

/// What was kept of a part.
#[derive(Clone, Copy)]
struct Kept<'a> {
    /// Its number among texts and calls, or that of the part behind it.
    place: u64,
    /// Whether it is a part of its own.
    alone: bool,
    seal: Option<&'a str>,
    id: Option<&'a str>,
}

impl<'a> History<'a> {
    fn message(&mut self, message: &'a Message) {
        match message {
            Message::User(parts) => {
                let parts = parts.iter().filter_map(|part| self.said(part)).map(Part::from).collect();
                self.user(parts);
            }
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::Tool(results) => self.results(results),
        }
    }

    /// Adds to the user's turn, or begins one. From the third generation on, a turn that mixes results with anything else
    /// counts as none: "Requests ending with a model turn are not supported."
    fn user(&mut self, parts: Vec<Part<'a>>) {
        let answers = |turn: &Turn<'_>| turn.parts.iter().any(|part| matches!(part.body, Known::FunctionResponse(_)));
        match self.turns.last_mut() {
            _ if parts.is_empty() => {}
            Some(turn) if turn.role == Role::User && !(self.generation.third && answers(turn)) => {
                turn.parts.extend(parts);
            }
            Some(_) | None => self.turns.push(Turn { role: Role::User, parts }),
        }
    }

    fn assistant(&mut self, assistant: &'a Assistant) {
        let own = *assistant.origin == *self.info.origin;
        let mut keeping = Keeping::of(assistant, own);
        let mut parts = Vec::new();
        let (mut called, mut says_something) = (false, false);
        for part in &assistant.content {
            match part {
                AssistantPart::Reasoning(thought) => parts.extend(sealed(thought).filter(|_| own)),
                AssistantPart::Text(text) => {
                    let (seal, _) = keeping.next(&mut parts);
                    if seal.is_some() || !is_blank(text) {
                        says_something = true;
                        parts.push(Part { body: Known::Text(clean(text)), thought: false, seal });
                    }
                }
                AssistantPart::ToolUse(call) => {
                    let (mut seal, id) = keeping.next(&mut parts);
                    // Of calls made at once the first has the seal.
                    if self.generation.third && !called {
                        seal = seal.or(Some(NO_SEAL));
                    }
                    (called, says_something) = (true, true);
                    parts.push(self.call(call, id, seal));
                }
            }
        }
        keeping.rest(&mut parts);
        if !says_something {
            return;
        }
        match self.turns.last_mut() {
            Some(turn) if turn.role == Role::Model => turn.parts.extend(parts),
            Some(_) | None => self.turns.push(Turn { role: Role::Model, parts }),
        }
    }

    fn call(&mut self, call: &'a ToolCall, id: Option<&'a str>, seal: Option<&'a str>) -> Part<'a> {
        self.calls.insert(&call.id, Asked { name: &call.name, id });
        let args = call.input.object().map_or(Arguments::Nothing {}, Arguments::Given);
        let body = Known::FunctionCall(Call { id, name: ids::tool_name(&call.name), args });
        Part { body, thought: false, seal }
    }

    fn results(&mut self, results: &'a [ToolResult]) {
        let mut outcomes = Vec::new();
        // Before the third generation results hold no pictures; these follow all of them.
        let mut after = Vec::new();
        for result in results {
            let pictures: Vec<Known<'a>> = result.content.iter().filter_map(|part| self.picture(part)).collect();
            let asked = self.calls.get(result.call_id.as_str()).copied();
            let text = self.outcome(result, !pictures.is_empty());
            let parts = if self.generation.third {
                pictures
            } else {
                after.extend(pictures.into_iter().map(Part::from));
                Vec::new()
            };
            let outcome = Outcome {
                id: asked.and_then(|asked| asked.id),
                name: ids::tool_name(asked.map_or("", |asked| asked.name)),
                response: if result.is_error { Response::Error(text) } else { Response::Output(text) },
                parts,
            };
            outcomes.push(Part::from(Known::FunctionResponse(outcome)));
        }
        outcomes.extend(after);
        self.user(outcomes);
    }

    fn outcome(&self, result: &'a ToolResult, shows: bool) -> Cow<'a, str> {
        let texts = result.content.iter().filter_map(|part| match part {
            Said::Text(text) => Some(text.as_str()),
            Said::Image(_) if self.info.images => None,
            Said::Image(_) => Some(NO_PICTURE),
        });
        let text = paragraphs(texts);
        if text.is_empty() && shows { Cow::Borrowed("[see the picture]") } else { text }
    }

    fn said(&self, part: &'a Said) -> Option<Known<'a>> {
        match part {
            Said::Text(text) if is_blank(text) => None,
            Said::Text(text) => Some(Known::Text(clean(text))),
            Said::Image(_) => Some(self.picture(part).unwrap_or(Known::Text(Cow::Borrowed(NO_PICTURE)))),
        }
    }

    fn picture(&self, part: &'a Said) -> Option<Known<'a>> {
        match part {
            Said::Image(Image { media_type, data }) if self.info.images => {
                Some(Known::InlineData(Blob { mime_type: media_type, data: STANDARD.encode(data) }))
            }
            Said::Image(_) | Said::Text(_) => None,
        }
    }
}

/// A thought that has a seal goes back as it came, for the seal may cover its words; any other stays here.
fn sealed(thought: &Reasoning) -> Option<Part<'_>> {
    let seal = thought.signature.as_deref()?;
    Some(Part { body: Known::Text(Cow::Borrowed(&thought.text)), thought: true, seal: Some(seal) })
}

/// What was kept of an answer, handed out part by part.
struct Keeping<'a> {
    kept: Peekable<IntoIter<Kept<'a>>>,
    place: u64,
}

impl<'a> Keeping<'a> {
    fn of(assistant: &'a Assistant, own: bool) -> Self {
        let lists = assistant.content.iter().filter_map(|part| match part {
            AssistantPart::Reasoning(Reasoning { opaque, .. }) if own => opaque.as_ref()?.get(KEPT)?.as_array(),
            AssistantPart::Reasoning(_) | AssistantPart::Text(_) | AssistantPart::ToolUse(_) => None,
        });
        let mut kept: Vec<Kept<'a>> = lists.flatten().filter_map(Kept::read).collect();
        kept.sort_by_key(|kept| kept.place);
        Self { kept: kept.into_iter().peekable(), place: 0 }
    }

    /// Seal and id of the next text or call; parts of their own that stand before it are added.
    fn next(&mut self, parts: &mut Vec<Part<'a>>) -> (Option<&'a str>, Option<&'a str>) {
        let mut found = (None, None);
        while let Some(kept) = self.kept.next_if(|kept| kept.place <= self.place) {
            if kept.alone {
                parts.extend(kept.part());
            } else {
                found = (kept.seal, kept.id);
            }
        }
        self.place += 1;
        found
    }

    /// Adds what stands behind the last text or call.
    fn rest(self, parts: &mut Vec<Part<'a>>) {
        parts.extend(self.kept.filter(|kept| kept.alone).filter_map(Kept::part));
    }
}

impl<'a> Kept<'a> {
    fn read(value: &'a Value) -> Option<Self> {
        let field = |name: &str| value.get(name).and_then(Value::as_str);
        let place = value.get(PLACE).and_then(Value::as_u64)?;
        Some(Self { place, alone: value.get("text").is_some(), seal: field(SEAL), id: field(ID) })
    }

    /// The empty part that holds the seal.
    fn part(self) -> Option<Part<'a>> {
        let seal = self.seal?;
        Some(Part { body: Known::Text(Cow::Borrowed("")), thought: false, seal: Some(seal) })
    }
}
