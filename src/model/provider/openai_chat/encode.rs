//! Writes a request as the body of a chat completion.
//!
//! Structs that borrow from the request are handed to serde: the history, which is most of it, is copied once.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use crate::model::ModelInfo;
use crate::model::message::{Assistant, AssistantPart, Image, Message, Part, ToolInput, ToolResult};
use crate::model::provider::compat::{Compat, EffortStyle, MaxTokensField, ReasoningBack};
use crate::model::provider::{NO_PICTURE, clean, ids, is_blank, paragraphs};
use crate::model::request::{Effort, Options, Request, ToolChoice};

use super::decode::{DETAILS, EXTRA};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    settings: Settings<'a>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Default, Serialize)]
struct Settings<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningWish>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Kind>,
}

#[derive(Serialize)]
struct Kind {
    r#type: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ReasoningWish {
    Effort { effort: &'static str },
    Enabled { enabled: bool },
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: ToolFunction<'a>,
}

#[derive(Serialize)]
struct ToolFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Entry<'a> {
    System {
        content: Cow<'a, str>,
    },
    Developer {
        content: Cow<'a, str>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<&'a Value>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Cow<'a, str>>,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: Url },
}

#[derive(Serialize)]
struct Url {
    url: String,
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: Function<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: String,
}

/// The body of a request.
///
/// # Errors
///
/// When a value cannot be written as JSON.
pub fn encode(request: &Request, info: &ModelInfo, compat: &Compat) -> serde_json::Result<Vec<u8>> {
    let mut history = History { info, compat, entries: Vec::new(), user: Vec::new(), names: HashMap::new() };
    history.system(&request.system);
    for message in &request.messages {
        history.message(message);
    }
    history.flush();
    let tools: Vec<Tool<'_>> = request
        .tools
        .iter()
        .map(|offer| Tool {
            r#type: "function",
            function: ToolFunction {
                name: &offer.name,
                description: &offer.description,
                parameters: &offer.parameters,
            },
        })
        .collect();
    let tool_choice = match request.tool_choice {
        // The tools stay, so that the cached prefix stays.
        ToolChoice::None if !tools.is_empty() => Some("none"),
        ToolChoice::None | ToolChoice::Auto => None,
    };
    let has_calls = || history.entries.iter().any(|entry| matches!(entry, Entry::Tool { .. }));
    let says_tools = !tools.is_empty() || (compat.empty_tools && has_calls());
    let body = Body {
        model: &info.origin.model,
        tools: says_tools.then_some(tools),
        messages: history.entries,
        tool_choice,
        stream: true,
        stream_options: compat.stream_usage.then_some(StreamOptions { include_usage: true }),
        settings: settings(&request.options, compat, info),
    };
    serde_json::to_vec(&body)
}

fn settings<'a>(options: &'a Options, compat: &Compat, info: &ModelInfo) -> Settings<'a> {
    let mut settings = Settings { temperature: options.temperature, ..Settings::default() };
    match compat.max_tokens_field {
        MaxTokensField::MaxTokens => settings.max_tokens = options.max_tokens,
        MaxTokensField::MaxCompletionTokens => settings.max_completion_tokens = options.max_tokens,
    }
    if compat.prompt_cache_key {
        settings.prompt_cache_key = options.cache_key.as_deref();
    }
    // Other families on OpenRouter cache by themselves.
    if compat.cache_top && info.origin.model.contains("claude") {
        settings.cache_control = Some(Kind { r#type: "ephemeral" });
    }
    let Some(effort) = options.effort else { return settings };
    let word = match effort {
        Effort::Off => None,
        Effort::Minimal => Some("minimal"),
        Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High => Some("high"),
    };
    match compat.effort {
        EffortStyle::Nothing => {}
        EffortStyle::Word => settings.reasoning_effort = word,
        EffortStyle::WordIfReasoning => settings.reasoning_effort = word.filter(|_| info.reasoning),
        EffortStyle::WordOrNone => settings.reasoning_effort = Some(word.unwrap_or("none")),
        EffortStyle::Switch => {
            settings.thinking = Some(Kind { r#type: if word.is_some() { "enabled" } else { "disabled" } });
        }
        EffortStyle::Flag => settings.enable_thinking = Some(word.is_some()),
        EffortStyle::Object => {
            settings.reasoning = Some(match word {
                Some(effort) => ReasoningWish::Effort { effort },
                None => ReasoningWish::Enabled { enabled: false },
            });
        }
    }
    settings
}

/// The messages as they grow.
struct History<'a> {
    info: &'a ModelInfo,
    compat: &'a Compat,
    entries: Vec<Entry<'a>>,
    /// Parts of user messages that are not written yet: two in a row become one, which strict templates demand.
    user: Vec<UserPart<'a>>,
    /// The tools' names by the calls' ids, where results have to repeat them.
    names: HashMap<&'a str, &'a str>,
}

#[derive(Clone, Copy)]
enum UserPart<'a> {
    Text(&'a str),
    Image(&'a Image),
}

impl<'a> History<'a> {
    fn system(&mut self, system: &'a str) {
        if is_blank(system) {
            return;
        }
        let content = clean(system);
        self.entries.push(match self.compat.developer_role {
            true => Entry::Developer { content },
            false => Entry::System { content },
        });
    }

    fn message(&mut self, message: &'a Message) {
        match message {
            Message::User(parts) => self.parts(parts),
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::Tool(results) => self.results(results),
        }
    }

    fn parts(&mut self, parts: &'a [Part]) {
        self.user.extend(parts.iter().filter_map(|part| match part {
            Part::Text(text) if is_blank(text) => None,
            Part::Text(text) => Some(UserPart::Text(text)),
            Part::Image(image) if self.info.images => Some(UserPart::Image(image)),
            Part::Image(_) => Some(UserPart::Text(NO_PICTURE)),
        }));
    }

    /// Writes the user message that has gathered.
    fn flush(&mut self) {
        if self.user.is_empty() {
            return;
        }
        if self.compat.assistant_after_tool && matches!(self.entries.last(), Some(Entry::Tool { .. })) {
            self.entries.push(Entry::Assistant {
                content: Some(Cow::Borrowed("I have read the results.")),
                reasoning_content: None,
                reasoning_details: None,
                tool_calls: Vec::new(),
            });
        }
        let user = std::mem::take(&mut self.user);
        let content = if user.iter().any(|part| matches!(part, UserPart::Image(_))) {
            Content::Parts(user.into_iter().map(piece).collect())
        } else {
            Content::Text(paragraphs(user.iter().filter_map(|part| match part {
                UserPart::Text(text) => Some(*text),
                UserPart::Image(_) => None,
            })))
        };
        self.entries.push(Entry::User { content });
    }

    fn assistant(&mut self, assistant: &'a Assistant) {
        let own = *assistant.origin == *self.info.origin;
        let mut tool_calls = Vec::new();
        let mut extra = None;
        let mut details = None;
        for part in &assistant.content {
            match part {
                AssistantPart::Text(_) => {}
                AssistantPart::Reasoning(reasoning) => {
                    let kept = reasoning.opaque.as_ref().filter(|_| own);
                    extra = kept.and_then(|opaque| opaque.get(EXTRA));
                    details = kept.and_then(|opaque| opaque.get(DETAILS)).or(details);
                }
                AssistantPart::ToolUse(call) => {
                    if self.compat.tool_result_name {
                        self.names.insert(&call.id, &call.name);
                    }
                    let arguments = match &call.input {
                        ToolInput::Object(object) => serde_json::to_string(object).unwrap_or_else(|_| "{}".to_owned()),
                        ToolInput::Invalid { .. } => "{}".to_owned(),
                    };
                    tool_calls.push(Call {
                        id: self.compat.call_ids.on_wire(&call.id),
                        r#type: "function",
                        function: Function { name: ids::tool_name(&call.name), arguments },
                        extra_content: extra.take(),
                    });
                }
            }
        }
        let text = words(assistant);
        if text.is_empty() && tool_calls.is_empty() {
            return;
        }
        self.flush();
        let back = match self.compat.reasoning_back {
            ReasoningBack::Nothing => (None, None),
            // Demanded of every message with calls, be it empty; of others it is ignored or even refused.
            ReasoningBack::Content => ((!tool_calls.is_empty()).then(|| thoughts(assistant, own)), None),
            ReasoningBack::Details => (None, details),
        };
        self.push_assistant(text, back, tool_calls);
    }

    fn push_assistant(
        &mut self,
        text: Cow<'a, str>,
        (reasoning_content, reasoning_details): (Option<Cow<'a, str>>, Option<&'a Value>),
        tool_calls: Vec<Call<'a>>,
    ) {
        // Two in a row, the first without calls, are one: a template may refuse them, and no model can tell.
        let mut text = text;
        if let Some(Entry::Assistant { content: Some(before), tool_calls: calls, .. }) = self.entries.last()
            && calls.is_empty()
        {
            text = Cow::Owned(paragraphs([before.as_ref(), text.as_ref()].into_iter()).into_owned());
            self.entries.pop();
        }
        let content = (!text.is_empty() || !self.compat.null_content).then_some(text);
        self.entries.push(Entry::Assistant { content, reasoning_content, reasoning_details, tool_calls });
    }

    fn results(&mut self, results: &'a [ToolResult]) {
        self.flush();
        for result in results {
            let mut content = paragraphs(result.content.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Image(_) => None,
            }));
            let pictures = result.content.iter().any(|part| matches!(part, Part::Image(_)));
            if pictures && !self.info.images {
                content = Cow::Owned(paragraphs([content.as_ref(), NO_PICTURE].into_iter()).into_owned());
            } else if content.is_empty() {
                // Some templates refuse a message without text.
                content = Cow::Borrowed(if pictures { "[see the picture below]" } else { "[nothing]" });
            }
            self.entries.push(Entry::Tool {
                tool_call_id: self.compat.call_ids.on_wire(&result.call_id),
                name: self.names.get(result.call_id.as_str()).map(|name| ids::tool_name(name)),
                content,
            });
        }
        // A result holds text only; pictures follow as if the user had shown them.
        let pictures = results.iter().flat_map(|result| &result.content).filter_map(|part| match part {
            Part::Image(image) if self.info.images => Some(UserPart::Image(image)),
            Part::Image(_) | Part::Text(_) => None,
        });
        self.user.extend(pictures);
        if !self.user.is_empty() {
            self.user.insert(0, UserPart::Text("What the tools showed:"));
        }
    }
}

/// What was said. Texts next to each other are pieces of one, as Google's wire parts them where a seal stands; those before
/// and behind something else are paragraphs.
fn words(assistant: &Assistant) -> Cow<'_, str> {
    let mut said: Vec<Cow<'_, str>> = Vec::new();
    let mut goes_on = false;
    for part in &assistant.content {
        match (part, said.last_mut().filter(|_| goes_on)) {
            (AssistantPart::Text(text), Some(before)) => before.to_mut().push_str(text),
            (AssistantPart::Text(text), None) => said.push(Cow::Borrowed(text)),
            (AssistantPart::Reasoning(_) | AssistantPart::ToolUse(_), _) => {}
        }
        goes_on = matches!(part, AssistantPart::Text(_));
    }
    match said.as_slice() {
        [Cow::Borrowed(only)] => paragraphs([*only].into_iter()),
        several => Cow::Owned(paragraphs(several.iter().map(Cow::as_ref)).into_owned()),
    }
}

fn thoughts(assistant: &Assistant, own: bool) -> Cow<'_, str> {
    let texts = assistant.content.iter().filter_map(|part| match part {
        AssistantPart::Reasoning(reasoning) if own => Some(reasoning.text.as_str()),
        AssistantPart::Reasoning(_) | AssistantPart::Text(_) | AssistantPart::ToolUse(_) => None,
    });
    paragraphs(texts)
}

fn piece(part: UserPart<'_>) -> Piece<'_> {
    match part {
        UserPart::Text(text) => Piece::Text { text: clean(text) },
        UserPart::Image(image) => {
            let mut url = format!("data:{};base64,", image.media_type);
            STANDARD.encode_string(&image.data, &mut url);
            Piece::ImageUrl { image_url: Url { url } }
        }
    }
}
