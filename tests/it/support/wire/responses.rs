//! OpenAI Responses.

use serde_json::{Value, json};

use super::{Frames, data, flat, items, text};
use crate::support::reply::{Failure, Reply, Stop};
use crate::support::request::{Conversation, MadeCall, Offered, Outcome, Role, Turn};

pub fn frames(reply: &Reply, serial: usize) -> Frames {
    let id = format!("resp_{serial}");
    let running = json!({"id": id, "object": "response", "status": "in_progress", "output": []});
    let start = ["response.created", "response.in_progress"];
    let start = start.map(|kind| event(&json!({"type": kind, "response": running}))).to_vec();
    let mut output = Output { serial, items: Vec::new(), frames: Vec::new() };
    if !reply.reasoning.is_empty() {
        output.reasoning(reply);
    }
    if !reply.text.is_empty() {
        output.message(&reply.text);
    }
    for call in &reply.calls {
        output.call(&call.id, &call.name, &call.arguments, call.pieces());
    }
    let usage = &reply.usage;
    let input = usage.input + usage.cache_read;
    let usage = json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + usage.output});
    let mut whole = json!({"id": id, "object": "response", "output": output.items, "usage": usage});
    let (kind, status) = match reply.stop_reason() {
        Stop::Done | Stop::ToolUse => ("response.completed", "completed"),
        Stop::Length => {
            whole["incomplete_details"] = json!({"reason": "max_output_tokens"});
            ("response.incomplete", "incomplete")
        }
    };
    whole["status"] = status.into();
    Frames { start, deltas: output.frames, end: vec![event(&json!({"type": kind, "response": whole}))] }
}

/// The items of an answer. An item's opening travels with its first delta, its end with its last.
struct Output {
    serial: usize,
    items: Vec<Value>,
    frames: Vec<String>,
}

impl Output {
    fn reasoning(&mut self, reply: &Reply) {
        let id = format!("rs_{}", self.serial);
        let summary = json!([{"type": "summary_text", "text": reply.reasoning.concat()}]);
        let opening = json!({"id": id, "type": "reasoning", "summary": [], "encrypted_content": "not yet"});
        let done = json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": reply.signature});
        let delta = |piece: &String| json!({"type": "response.reasoning_summary_text.delta", "item_id": id, "summary_index": 0, "delta": piece});
        self.add(&opening, reply.reasoning.iter().map(delta).collect(), done);
    }

    fn message(&mut self, pieces: &[String]) {
        let id = format!("msg_{}", self.serial);
        let whole = json!([{"type": "output_text", "text": pieces.concat(), "annotations": []}]);
        let item = |status: &str, content: Value| json!({"id": id, "type": "message", "role": "assistant", "status": status, "content": content});
        let delta = |piece: &String| json!({"type": "response.output_text.delta", "item_id": id, "content_index": 0, "delta": piece});
        self.add(&item("in_progress", json!([])), pieces.iter().map(delta).collect(), item("completed", whole));
    }

    fn call(&mut self, call_id: &str, name: &str, arguments: &str, pieces: Vec<String>) {
        let id = format!("fc_{}_{}", self.serial, self.items.len());
        let item = |status: &str, arguments: &str| {
            json!({"id": id, "type": "function_call", "status": status, "call_id": call_id, "name": name,
                "arguments": arguments})
        };
        let delta =
            |piece: String| json!({"type": "response.function_call_arguments.delta", "item_id": id, "delta": piece});
        self.add(&item("in_progress", ""), pieces.into_iter().map(delta).collect(), item("completed", arguments));
    }

    fn add(&mut self, opening: &Value, deltas: Vec<Value>, done: Value) {
        let index = self.items.len();
        let mut lead = event(&json!({"type": "response.output_item.added", "output_index": index, "item": opening}));
        for mut delta in deltas {
            delta["output_index"] = index.into();
            lead += &event(&delta);
            self.frames.push(std::mem::take(&mut lead));
        }
        let end = event(&json!({"type": "response.output_item.done", "output_index": index, "item": done}));
        self.frames.push(lead + &end);
        self.items.push(done);
    }
}

pub fn event(value: &Value) -> String {
    format!("event: {}\n{}", text(&value["type"]), data(value))
}

/// An error within a stream, as it was seen: first an event of its own, then the failed response.
pub fn failure_frame(failure: Failure, message: &str) -> String {
    let error = json!({"type": super::chat::failure_type(failure), "code": failure_code(failure), "message": message, "param": null});
    let failed = json!({"status": "failed", "error": {"code": failure_code(failure), "message": message}});
    event(&json!({"type": "error", "error": error})) + &event(&json!({"type": "response.failed", "response": failed}))
}

fn failure_code(failure: Failure) -> &'static str {
    match failure {
        Failure::InvalidRequest => "invalid_request",
        Failure::Auth => "invalid_api_key",
        Failure::NotFound => "model_not_found",
        Failure::RateLimit => "rate_limit_exceeded",
        Failure::Server => "server_error",
        Failure::Overload => "server_is_overloaded",
    }
}

pub fn read(body: &Value, problems: &mut Vec<String>) -> Conversation {
    let mut conversation = Conversation {
        system_text: text(&body["instructions"]),
        system: body["instructions"].clone(),
        tools: offered(body, problems),
        tools_forbidden: body["tool_choice"] == "none",
        ..Conversation::default()
    };
    if body["store"] != false {
        problems.push("the conversation would be stored".into());
    }
    let mut pending: Option<&Value> = None;
    for (place, item) in items(&body["input"]).iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        if let Some(reasoning) = pending.take() {
            let follows =
                kind == "function_call" || kind == "message" && item["role"] == "assistant" || kind == "reasoning";
            if !follows {
                problems.push(format!("input[{place}]: {} stands without what followed it", reasoning["id"]));
            }
        }
        match kind {
            "message" => conversation.turns.push(message(item, place, problems)),
            "reasoning" => {
                pending = Some(item);
                let seal = item["encrypted_content"].as_str().map(str::to_owned);
                if seal.is_none() || !item["summary"].is_array() {
                    problems.push(format!("input[{place}]: reasoning that nobody can read"));
                }
                let mut turn = Turn::new(Role::Assistant, item);
                turn.reasoning.push((flat(&item["summary"]), seal));
                conversation.turns.push(turn);
            }
            "function_call" => {
                let raw = text(&item["arguments"]);
                let arguments = serde_json::from_str(&raw).unwrap_or_else(|error| {
                    problems.push(format!("input[{place}]: its arguments do not parse: {error}"));
                    Value::Null
                });
                if item.get("id").is_some_and(|id| !text(id).starts_with("fc")) {
                    problems.push(format!("input[{place}]: the id {}", item["id"]));
                }
                let made = MadeCall { id: text(&item["call_id"]), name: text(&item["name"]), arguments };
                conversation.turns.push(Turn { calls: vec![made], ..Turn::new(Role::Assistant, item) });
            }
            "function_call_output" => {
                let result = Outcome { id: text(&item["call_id"]), text: flat(&item["output"]) };
                conversation.turns.push(Turn { results: vec![result], ..Turn::new(Role::Tool, item) });
            }
            kind => problems.push(format!("input[{place}]: {kind} is no kind of item")),
        }
    }
    if let Some(reasoning) = pending {
        problems.push(format!("{} stands without what followed it", reasoning["id"]));
    }
    conversation.turns = joined(conversation.turns);
    conversation
}

fn message(item: &Value, place: usize, problems: &mut Vec<String>) -> Turn {
    let (role, expected): (_, &[&str]) = match item["role"].as_str() {
        Some("assistant") => (Role::Assistant, &["output_text", "refusal"]),
        Some("user") => (Role::User, &["input_text", "input_image"]),
        role => {
            problems.push(format!("input[{place}]: {role:?} is no role"));
            return Turn::new(Role::User, item);
        }
    };
    let mut said = String::new();
    if item["content"].is_string() {
        said = text(&item["content"]);
    }
    for part in items(&item["content"]) {
        let kind = text(&part["type"]);
        if !expected.contains(&kind.as_str()) {
            problems.push(format!("input[{place}]: a part {kind} in a message of {role:?}"));
        }
        match kind.as_str() {
            "input_image" => said += "[image]",
            _ => {
                let separator = if said.is_empty() { "" } else { "\n" };
                said += &format!("{separator}{}", text(&part["text"]));
            }
        }
    }
    if said.trim().is_empty() {
        problems.push(format!("input[{place}]: an empty message"));
    }
    Turn { text: said, ..Turn::new(role, item) }
}

/// The items of one answer as one turn: on the other wires they are one message.
fn joined(turns: Vec<Turn>) -> Vec<Turn> {
    let mut joined: Vec<Turn> = Vec::new();
    for turn in turns {
        match joined.last_mut() {
            Some(last) if last.role == Role::Assistant && turn.role == Role::Assistant => {
                last.text += &turn.text;
                last.calls.extend(turn.calls);
                last.reasoning.extend(turn.reasoning);
                last.wire = json!([last.wire, turn.wire]);
            }
            Some(_) | None => joined.push(turn),
        }
    }
    joined
}

fn offered(body: &Value, problems: &mut Vec<String>) -> Vec<Offered> {
    let mut tools = Vec::new();
    for tool in items(&body["tools"]) {
        if tool["type"] != "function" || tool.get("function").is_some() {
            problems.push(format!("a tool that is not flat: {}", tool["name"]));
        }
        tools.push(Offered { name: text(&tool["name"]), schema: tool["parameters"].clone() });
    }
    tools
}
