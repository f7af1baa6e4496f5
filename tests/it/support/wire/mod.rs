//! How answers and requests look on each wire. The script, the checks and the tests know none of it.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use super::reply::{Failure, Reply};
use super::request::{Conversation, Headers};

/// A wire format, as `providers.NAME.api` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

/// The server-sent events of one answer.
pub struct Frames {
    pub start: Vec<String>,
    pub deltas: Vec<String>,
    /// What an answer that breaks off never gets to.
    pub end: Vec<String>,
}

impl Wire {
    pub const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini];

    /// The wire that a request's path belongs to.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        // A proxy is asked for the whole address.
        let path = path.strip_prefix("http://").and_then(|rest| rest.find('/').map(|at| &rest[at..])).unwrap_or(path);
        match path {
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/responses" => Some(Self::Responses),
            "/v1/messages" => Some(Self::Anthropic),
            _ => gemini_model(path).map(|_| Self::Gemini),
        }
    }

    /// Where a request for a model goes.
    pub fn path(self, model: &str) -> String {
        match self {
            Self::Chat => "/v1/chat/completions".to_owned(),
            Self::Responses => "/v1/responses".to_owned(),
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::Gemini => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        }
    }

    /// The model that a request is for.
    pub fn model(self, path: &str, body: &Value) -> String {
        match self {
            Self::Chat | Self::Responses | Self::Anthropic => text(&body["model"]),
            Self::Gemini => gemini_model(path).unwrap_or_default().to_owned(),
        }
    }

    /// The `api` word of the configuration.
    pub fn api(self) -> &'static str {
        match self {
            Self::Chat => "openai-completions",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic-messages",
            Self::Gemini => "google-generative-ai",
        }
    }

    pub fn base_url(self, port: u16) -> String {
        match self {
            Self::Chat | Self::Responses => format!("http://127.0.0.1:{port}/v1"),
            Self::Gemini => format!("http://127.0.0.1:{port}/v1beta"),
            Self::Anthropic => format!("http://127.0.0.1:{port}"),
        }
    }

    /// The header a key belongs into, and what stands there.
    pub fn key_header(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Chat | Self::Responses => ("authorization", format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// The answer as a stream. `serial` keeps ids apart.
    pub fn frames(self, reply: &Reply, serial: usize) -> Frames {
        match self {
            Self::Chat => chat::frames(reply, serial),
            Self::Responses => responses::frames(reply, serial),
            Self::Anthropic => anthropic::frames(reply, serial),
            Self::Gemini => gemini::frames(reply, serial),
        }
    }

    /// The body of an HTTP error.
    pub fn failure(self, failure: Failure, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => {
                json!({"error": {"message": message, "type": chat::failure_type(failure), "code": null}})
            }
            Self::Gemini => gemini::failure(failure, message),
            Self::Anthropic => {
                json!({"type": "error", "error": {"type": anthropic::failure_type(failure), "message": message}})
            }
        }
    }

    /// An error within a stream.
    pub fn failure_frame(self, failure: Failure, message: &str) -> String {
        match self {
            Self::Chat | Self::Gemini => data(&self.failure(failure, message)),
            Self::Responses => responses::failure_frame(failure, message),
            Self::Anthropic => anthropic::event(&self.failure(failure, message)),
        }
    }

    /// Reads a request's conversation; `problems` takes what a strict server would refuse.
    pub fn read(self, headers: &Headers, body: &Value, problems: &mut Vec<String>) -> Conversation {
        match self {
            Self::Chat => chat::read(body, problems),
            Self::Responses => responses::read(body, problems),
            Self::Anthropic => anthropic::read(headers, body, problems),
            Self::Gemini => gemini::read(body, problems),
        }
    }
}

/// The model in the path of a request to Google.
fn gemini_model(path: &str) -> Option<&str> {
    let path = path.split('?').next().unwrap_or(path);
    path.strip_prefix("/v1beta/models/")?.strip_suffix(":streamGenerateContent")
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// The text of a content that is a string or a list of parts.
fn flat(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// The items of a list, or none.
fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a string, or nothing.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
