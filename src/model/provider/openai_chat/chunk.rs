//! One chunk of a chat completion: the usual shape straight into structs that borrow, any odd one by way of a value.
//!
//! Reads only; what the chunks amount to is put together in `decode`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::base::json::whole;
use crate::model::provider::borrowed::{Text, text};

/// One chunk.
#[derive(Debug, Default, Deserialize)]
pub struct Chunk<'a> {
    #[serde(borrow, default)]
    pub choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    pub usage: Option<Tokens>,
    /// Groq's own place for usage.
    #[serde(default)]
    pub x_groq: Option<Groq>,
    #[serde(default)]
    pub error: Option<Value>,
}

/// One of the answers; only one is ever asked for.
#[derive(Debug, Default, Deserialize)]
pub struct Choice<'a> {
    #[serde(default)]
    pub index: Option<u64>,
    /// A server that does not stream calls it `message`.
    #[serde(borrow, default, alias = "message")]
    pub delta: Option<Piece<'a>>,
    #[serde(borrow, default)]
    pub finish_reason: Option<Text<'a>>,
    /// Moonshot's place for usage.
    #[serde(default)]
    pub usage: Option<Tokens>,
}

/// What a chunk adds.
#[derive(Debug, Default, Deserialize)]
pub struct Piece<'a> {
    #[serde(borrow, default)]
    pub content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub refusal: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub reasoning_content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub reasoning: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub reasoning_text: Option<Text<'a>>,
    #[serde(default)]
    pub reasoning_details: Option<Vec<Value>>,
    #[serde(borrow, default)]
    pub tool_calls: Option<Vec<CallPiece<'a>>>,
    /// What came before `tool_calls`.
    #[serde(borrow, default)]
    pub function_call: Option<Function<'a>>,
}

impl Piece<'_> {
    /// How many bytes it may add to the answer.
    pub fn bytes(&self) -> usize {
        let words = [&self.content, &self.refusal, &self.reasoning_content, &self.reasoning, &self.reasoning_text];
        let words: usize = words.iter().map(|field| text(field.as_ref()).len()).sum();
        let verbatim = |value: &Value| value.to_string().len();
        let details: usize = self.reasoning_details.iter().flatten().map(verbatim).sum();
        let function = |function: Option<&Function<'_>>| {
            let field = |field: Option<&Text<'_>>| text(field).len();
            function.map_or(0, |function| field(function.name.as_ref()) + field(function.arguments.as_ref()))
        };
        let calls = self.tool_calls.iter().flatten().map(|call| {
            let extra = call.extra_content.as_ref().map_or(0, verbatim);
            text(call.id.as_ref()).len() + function(call.function.as_ref()) + extra
        });
        words + details + calls.sum::<usize>() + function(self.function_call.as_ref())
    }
}

/// What a chunk adds to a call.
#[derive(Debug, Default, Deserialize)]
pub struct CallPiece<'a> {
    #[serde(default)]
    pub index: Option<u64>,
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub function: Option<Function<'a>>,
    /// Gemini's chat layer keeps its signature in here, and wants it back.
    #[serde(default)]
    pub extra_content: Option<Value>,
}

/// The function of a call.
#[derive(Debug, Default, Deserialize)]
pub struct Function<'a> {
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub arguments: Option<Text<'a>>,
}

/// Usage, as far as the wire tells.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Tokens {
    #[serde(default)]
    pub prompt_tokens: Option<u64>,
    #[serde(default)]
    pub completion_tokens: Option<u64>,
    #[serde(default)]
    pub prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    pub completion_tokens_details: Option<CompletionDetails>,
    /// `DeepSeek`'s name for cached tokens.
    #[serde(default)]
    pub prompt_cache_hit_tokens: Option<u64>,
    /// Moonshot's name for cached tokens.
    #[serde(default)]
    pub cached_tokens: Option<u64>,
}

/// Parts of the prompt's tokens.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct PromptDetails {
    #[serde(default)]
    pub cached_tokens: Option<u64>,
    #[serde(default)]
    pub cache_write_tokens: Option<u64>,
}

/// Parts of the answer's tokens.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CompletionDetails {
    #[serde(default)]
    pub reasoning_tokens: Option<u64>,
}

/// Groq's extras.
#[derive(Debug, Default, Deserialize)]
pub struct Groq {
    #[serde(default)]
    pub usage: Option<Tokens>,
}

/// Reads what is usable out of a chunk whose shape is not the usual one.
pub fn from_value(value: &Value) -> Chunk<'_> {
    Chunk {
        choices: value.get("choices").and_then(Value::as_array).map(|all| all.iter().map(choice).collect()),
        usage: value.get("usage").and_then(tokens),
        x_groq: value.get("x_groq").map(|groq| Groq { usage: groq.get("usage").and_then(tokens) }),
        error: value.get("error").cloned(),
    }
}

fn choice(value: &Value) -> Choice<'_> {
    Choice {
        index: value.get("index").and_then(Value::as_u64),
        delta: value.get("delta").filter(|delta| delta.is_object()).or_else(|| value.get("message")).map(piece),
        finish_reason: string(value, "finish_reason"),
        usage: value.get("usage").and_then(tokens),
    }
}

fn piece(value: &Value) -> Piece<'_> {
    let calls = value.get("tool_calls");
    let calls = match calls {
        Some(Value::Array(calls)) => Some(calls.iter().map(call).collect()),
        Some(Value::Object(_)) => calls.map(|one| vec![call(one)]),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => None,
    };
    let (content, thinking) = content(value);
    let reasoning_content = string(value, "reasoning_content");
    Piece {
        content,
        refusal: string(value, "refusal"),
        reasoning_content: reasoning_content.filter(|text| !text.0.is_empty()).or(thinking),
        reasoning: string(value, "reasoning"),
        reasoning_text: string(value, "reasoning_text"),
        reasoning_details: value.get("reasoning_details").and_then(Value::as_array).cloned(),
        tool_calls: calls,
        function_call: value.get("function_call").filter(|call| call.is_object()).map(function),
    }
}

/// Content as a text or as typed chunks (Mistral): the text, and the thinking among the chunks.
fn content(value: &Value) -> (Option<Text<'_>>, Option<Text<'_>>) {
    let Some(Value::Array(chunks)) = value.get("content") else {
        return (string(value, "content"), None);
    };
    let (mut said, mut thought) = (String::new(), String::new());
    for chunk in chunks {
        match (chunk, chunk.get("type").and_then(Value::as_str)) {
            (Value::String(text), _) => said.push_str(text),
            (_, Some("thinking")) => match chunk.get("thinking") {
                Some(Value::Array(inner)) => {
                    thought.extend(inner.iter().filter_map(|part| part.get("text").and_then(Value::as_str)));
                }
                Some(other) => thought.push_str(other.as_str().unwrap_or_default()),
                None => {}
            },
            (_, Some("text" | "output_text")) | (_, None) => {
                said.push_str(chunk.get("text").and_then(Value::as_str).unwrap_or_default());
            }
            // References, pictures and the like are no part of the answer's text.
            (_, Some(_)) => {}
        }
    }
    (Some(Text(Cow::Owned(said))), Some(Text(Cow::Owned(thought))))
}

fn call(value: &Value) -> CallPiece<'_> {
    CallPiece {
        index: value.get("index").and_then(whole),
        id: match value.get("id") {
            Some(Value::Number(id)) => Some(Text(Cow::Owned(id.to_string()))),
            _ => string(value, "id"),
        },
        function: value.get("function").filter(|inner| inner.is_object()).map(function),
        extra_content: value.get("extra_content").cloned(),
    }
}

fn function(value: &Value) -> Function<'_> {
    let arguments = value.get("arguments");
    let arguments = match arguments {
        Some(Value::Object(_) | Value::Array(_)) => arguments.map(|given| Text(Cow::Owned(given.to_string()))),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => string(value, "arguments"),
    };
    Function { name: string(value, "name"), arguments }
}

fn string<'a>(value: &'a Value, name: &str) -> Option<Text<'a>> {
    value.get(name).and_then(Value::as_str).map(|text| Text(Cow::Borrowed(text)))
}

fn tokens(value: &Value) -> Option<Tokens> {
    let given = |of: &Value, name: &str| of.get(name).and_then(whole);
    let inner = |name: &str| value.get(name).filter(|inner| inner.is_object());
    value.is_object().then(|| Tokens {
        prompt_tokens: given(value, "prompt_tokens"),
        completion_tokens: given(value, "completion_tokens"),
        prompt_tokens_details: inner("prompt_tokens_details").map(|details| PromptDetails {
            cached_tokens: given(details, "cached_tokens"),
            cache_write_tokens: given(details, "cache_write_tokens"),
        }),
        completion_tokens_details: inner("completion_tokens_details")
            .map(|details| CompletionDetails { reasoning_tokens: given(details, "reasoning_tokens") }),
        prompt_cache_hit_tokens: given(value, "prompt_cache_hit_tokens"),
        cached_tokens: given(value, "cached_tokens"),
    })
}
