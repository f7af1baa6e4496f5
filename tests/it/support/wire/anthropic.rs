//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Frames, data, flat, items, text};
use crate::support::reply::{Failure, Reply, Stop};
use crate::support::request::{Conversation, Headers, MadeCall, Offered, Outcome, Role, Turn};

pub fn frames(reply: &Reply, serial: usize) -> Frames {
    let usage = json!({"input_tokens": reply.usage.input, "cache_read_input_tokens": reply.usage.cache_read,
        "cache_creation_input_tokens": 0, "output_tokens": 1});
    let message =
        json!({"id": format!("msg_{serial}"), "type": "message", "role": "assistant", "content": [], "usage": usage});
    let start = vec![event(&json!({"type": "message_start", "message": message})), event(&json!({"type": "ping"}))];

    let mut blocks = Blocks::default();
    if !reply.reasoning.is_empty() {
        let thoughts = reply.reasoning.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
        let seal = json!({"type": "signature_delta", "signature": reply.signature});
        blocks.add(&json!({"type": "thinking", "thinking": "", "signature": ""}), thoughts.chain([seal]));
    }
    if !reply.text.is_empty() {
        let pieces = reply.text.iter().map(|piece| json!({"type": "text_delta", "text": piece}));
        blocks.add(&json!({"type": "text", "text": ""}), pieces);
    }
    for call in &reply.calls {
        let pieces = call.pieces().into_iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        blocks.add(&json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}), pieces);
    }
    let stop = match reply.stop_reason() {
        Stop::Done => "end_turn",
        Stop::ToolUse => "tool_use",
        Stop::Length => "max_tokens",
    };
    let usage = json!({"output_tokens": reply.usage.output});
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage});
    Frames { start, deltas: blocks.frames, end: vec![event(&delta), event(&json!({"type": "message_stop"}))] }
}

/// Content blocks. A block's opening travels with its first delta, so that deltas are counted alike on every wire.
#[derive(Default)]
struct Blocks {
    frames: Vec<String>,
    index: usize,
}

impl Blocks {
    fn add(&mut self, opening: &Value, deltas: impl IntoIterator<Item = Value>) {
        let index = self.index;
        let mut lead = event(&json!({"type": "content_block_start", "index": index, "content_block": opening}));
        for delta in deltas {
            lead += &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
            self.frames.push(std::mem::take(&mut lead));
        }
        self.frames.push(lead + &event(&json!({"type": "content_block_stop", "index": index})));
        self.index += 1;
    }
}

pub fn event(value: &Value) -> String {
    format!("event: {}\n{}", text(&value["type"]), data(value))
}

pub fn failure_type(failure: Failure) -> &'static str {
    match failure {
        Failure::InvalidRequest => "invalid_request_error",
        Failure::Auth => "authentication_error",
        Failure::NotFound => "not_found_error",
        Failure::RateLimit => "rate_limit_error",
        Failure::Server => "api_error",
        Failure::Overload => "overloaded_error",
    }
}

pub fn read(headers: &Headers, body: &Value, problems: &mut Vec<String>) -> Conversation {
    if !headers.contains_key("anthropic-version") {
        problems.push("no anthropic-version header".into());
    }
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        problems.push(format!("max_tokens is {}", body["max_tokens"]));
    }
    let mut conversation =
        Conversation { system_text: flat(&body["system"]), tools: offered(body), ..Conversation::default() };
    conversation.system = body["system"].clone();
    conversation.tools_forbidden = body["tool_choice"]["type"] == "none";
    for (place, message) in items(&body["messages"]).iter().enumerate() {
        let expected = if place % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            problems.push(format!("messages[{place}]: {} where {expected} is due", message["role"]));
        }
        let role = if message["role"] == "assistant" { Role::Assistant } else { Role::User };
        let (results, said) = turns(role, message, problems);
        conversation.turns.extend(results);
        conversation.turns.extend(said);
    }
    if items(&body["messages"]).last().is_none_or(|message| message["role"] != "user") {
        problems.push("the conversation does not end with the user".into());
    }
    conversation
}

/// A message as what tools returned, and what was said.
fn turns(role: Role, message: &Value, problems: &mut Vec<String>) -> (Option<Turn>, Option<Turn>) {
    let mut results = Turn::new(Role::Tool, message);
    let mut said = Turn::new(role, message);
    let text_block = [json!({"type": "text", "text": message["content"]})];
    let blocks = if message["content"].is_string() { &text_block } else { items(&message["content"]) };
    for block in blocks {
        match (block["type"].as_str(), role) {
            (Some("text"), _) if text(&block["text"]).trim().is_empty() => problems.push("an empty text block".into()),
            (Some("text"), _) => {
                let separator = if said.text.is_empty() { "" } else { "\n" };
                said.text += &format!("{separator}{}", text(&block["text"]));
            }
            (Some("image"), Role::User) => said.text += "[image]",
            (Some("tool_result"), Role::User) => {
                if !said.is_empty() {
                    problems.push(format!("result {}: it stands behind other content", block["tool_use_id"]));
                }
                results.results.push(Outcome { id: text(&block["tool_use_id"]), text: flat(&block["content"]) });
            }
            (Some("tool_use"), Role::Assistant) => {
                let (id, name) = (text(&block["id"]), text(&block["name"]));
                said.calls.push(MadeCall { id, name, arguments: block["input"].clone() });
            }
            (Some("thinking"), Role::Assistant) => {
                if text(&block["signature"]).is_empty() {
                    problems.push("a thinking block without its signature".into());
                }
                said.reasoning.push((text(&block["thinking"]), block["signature"].as_str().map(str::to_owned)));
            }
            (kind, role) => problems.push(format!("a block {kind:?} in a message of {role:?}")),
        }
    }
    let results = Some(results).filter(|turn| !turn.results.is_empty());
    let said = Some(said).filter(|turn| results.is_none() || !turn.is_empty());
    (results, said)
}

fn offered(body: &Value) -> Vec<Offered> {
    let tool = |tool: &Value| Offered { name: text(&tool["name"]), schema: tool["input_schema"].clone() };
    items(&body["tools"]).iter().map(tool).collect()
}
