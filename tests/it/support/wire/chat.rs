//! OpenAI Chat Completions, and the many servers that speak it.

use serde_json::{Value, json};

use super::{Frames, data, flat, items, text};
use crate::support::reply::{Failure, Reply, Stop};
use crate::support::request::{Conversation, MadeCall, Offered, Outcome, Role, Turn};

pub fn frames(reply: &Reply, serial: usize) -> Frames {
    let chunk = |delta: Value, finish: Value| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        data(&json!({"id": format!("chatcmpl-{serial}"), "object": "chat.completion.chunk", "choices": choices}))
    };
    let delta = |delta: Value| chunk(delta, Value::Null);
    let mut deltas: Vec<String> = Vec::new();
    deltas.extend(reply.reasoning.iter().map(|piece| delta(json!({"reasoning_content": piece}))));
    deltas.extend(reply.text.iter().map(|piece| delta(json!({"content": piece}))));
    // The pieces of parallel calls travel in turns, as some servers send them.
    let made: Vec<_> = reply.calls.iter().map(|call| (call, call.pieces())).collect();
    for (index, (call, _)) in made.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        deltas.push(delta(
            json!({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}),
        ));
    }
    for round in 0..made.iter().map(|(_, pieces)| pieces.len()).max().unwrap_or(0) {
        for (index, (_, pieces)) in made.iter().enumerate() {
            if let Some(piece) = pieces.get(round) {
                deltas.push(delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})));
            }
        }
    }
    let finish = match reply.stop_reason() {
        Stop::Done => "stop",
        Stop::ToolUse => "tool_calls",
        Stop::Length => "length",
    };
    let usage = &reply.usage;
    let prompt = usage.input + usage.cache_read;
    let usage = json!({"prompt_tokens": prompt, "completion_tokens": usage.output, "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read}});
    let end =
        vec![chunk(json!({}), finish.into()), data(&json!({"choices": [], "usage": usage})), "data: [DONE]\n\n".into()];
    Frames { start: vec![delta(json!({"role": "assistant", "content": ""}))], deltas, end }
}

pub fn failure_type(failure: Failure) -> &'static str {
    match failure {
        Failure::InvalidRequest | Failure::NotFound | Failure::Auth => "invalid_request_error",
        Failure::RateLimit => "rate_limit_error",
        Failure::Server | Failure::Overload => "server_error",
    }
}

pub fn read(body: &Value, problems: &mut Vec<String>) -> Conversation {
    let mut conversation =
        Conversation { system: Value::Array(Vec::new()), tools: offered(body), ..Conversation::default() };
    conversation.tools_forbidden = body["tool_choice"] == "none";
    if body.get("tools").is_some_and(|tools| items(tools).is_empty()) {
        problems.push("an empty list of tools".into());
    }
    for (place, message) in items(&body["messages"]).iter().enumerate() {
        match message["role"].as_str() {
            Some("system" | "developer") => {
                if !conversation.turns.is_empty() {
                    problems.push(format!("messages[{place}]: a system message after the talk has begun"));
                }
                conversation.system_text += &flat(&message["content"]);
                if let Value::Array(system) = &mut conversation.system {
                    system.push(message.clone());
                }
            }
            Some("user") => {
                conversation.turns.push(Turn { text: flat(&message["content"]), ..Turn::new(Role::User, message) });
            }
            Some("assistant") => conversation.turns.push(assistant(message, problems)),
            Some("tool") => {
                conversation.turns.push(Turn { results: vec![outcome(message)], ..Turn::new(Role::Tool, message) });
            }
            role => problems.push(format!("messages[{place}]: {role:?} is no role")),
        }
    }
    conversation
}

fn assistant(message: &Value, problems: &mut Vec<String>) -> Turn {
    let calls = items(&message["tool_calls"]).iter().map(|call| {
        let raw = text(&call["function"]["arguments"]);
        let arguments = serde_json::from_str(&raw).unwrap_or_else(|error| {
            problems.push(format!("call {}: its arguments do not parse: {error}", call["id"]));
            Value::Null
        });
        if call["type"] != "function" {
            problems.push(format!("call {}: its type is {}", call["id"], call["type"]));
        }
        MadeCall { id: text(&call["id"]), name: text(&call["function"]["name"]), arguments }
    });
    let calls = calls.collect();
    let reasoning =
        message["reasoning_content"].as_str().map(|reasoning| (reasoning.to_owned(), None)).into_iter().collect();
    Turn { text: flat(&message["content"]), calls, reasoning, ..Turn::new(Role::Assistant, message) }
}

fn outcome(message: &Value) -> Outcome {
    Outcome { id: text(&message["tool_call_id"]), text: flat(&message["content"]) }
}

fn offered(body: &Value) -> Vec<Offered> {
    let tool = |tool: &Value| Offered {
        name: text(&tool["function"]["name"]),
        schema: tool["function"]["parameters"].clone(),
    };
    items(&body["tools"]).iter().map(tool).collect()
}
