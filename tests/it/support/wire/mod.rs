//! How answers and requests look on each wire. The script, the checks and the tests know none of it.

mod anthropic;
mod chat;

use serde_json::{Value, json};

use super::reply::{Failure, Reply};
use super::request::{Conversation, Headers};

/// A wire format, as `providers.NAME.api` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Chat,
    Anthropic,
}

/// The server-sent events of one answer.
pub struct Frames {
    pub start: Vec<String>,
    pub deltas: Vec<String>,
    /// What an answer that breaks off never gets to.
    pub end: Vec<String>,
}

impl Wire {
    pub const ALL: [Self; 2] = [Self::Chat, Self::Anthropic];

    /// The wire that a request's path belongs to.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        Self::ALL.into_iter().find(|wire| path == wire.path())
    }

    pub fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Anthropic => "/v1/messages",
        }
    }

    /// The `api` word of the configuration.
    pub fn api(self) -> &'static str {
        match self {
            Self::Chat => "openai-completions",
            Self::Anthropic => "anthropic-messages",
        }
    }

    pub fn base_url(self, port: u16) -> String {
        match self {
            Self::Chat => format!("http://127.0.0.1:{port}/v1"),
            Self::Anthropic => format!("http://127.0.0.1:{port}"),
        }
    }

    /// The header a key belongs into, and what stands there.
    pub fn key_header(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Chat => ("authorization", format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
        }
    }

    /// The answer as a stream. `serial` keeps ids apart.
    pub fn frames(self, reply: &Reply, serial: usize) -> Frames {
        match self {
            Self::Chat => chat::frames(reply, serial),
            Self::Anthropic => anthropic::frames(reply, serial),
        }
    }

    /// The body of an HTTP error.
    pub fn failure(self, failure: Failure, message: &str) -> Value {
        match self {
            Self::Chat => json!({"error": {"message": message, "type": chat::failure_type(failure), "code": null}}),
            Self::Anthropic => {
                json!({"type": "error", "error": {"type": anthropic::failure_type(failure), "message": message}})
            }
        }
    }

    /// An error within a stream.
    pub fn failure_frame(self, failure: Failure, message: &str) -> String {
        match self {
            Self::Chat => data(&self.failure(failure, message)),
            Self::Anthropic => anthropic::event(&self.failure(failure, message)),
        }
    }

    /// Reads a request's conversation; `problems` takes what a strict server would refuse.
    pub fn read(self, headers: &Headers, body: &Value, problems: &mut Vec<String>) -> Conversation {
        match self {
            Self::Chat => chat::read(body, problems),
            Self::Anthropic => anthropic::read(headers, body, problems),
        }
    }
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
