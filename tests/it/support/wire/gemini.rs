//! Google's Generative Language.

use serde_json::{Value, json};

use super::{Frames, data, flat, items, text};
use crate::support::reply::{Failure, Reply, Stop};
use crate::support::request::{Conversation, MadeCall, Offered, Outcome, Role, Turn};

pub fn frames(reply: &Reply, serial: usize) -> Frames {
    let chunk = |parts: Value| {
        let candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        json!({"candidates": [candidate], "modelVersion": "m", "responseId": format!("r{serial}")})
    };
    let mut deltas: Vec<Value> = Vec::new();
    deltas.extend(reply.reasoning.iter().map(|piece| chunk(json!([{"text": piece, "thought": true}]))));
    deltas.extend(reply.text.iter().map(|piece| chunk(json!([{"text": piece}]))));
    for (place, call) in reply.calls.iter().enumerate() {
        // Calls are whole here; what does not parse cannot be said at all.
        let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
        let mut part = json!({"functionCall": {"id": call.id, "name": call.name, "args": arguments}});
        if place == 0 && !reply.signature.is_empty() {
            part["thoughtSignature"] = reply.signature.clone().into();
        }
        deltas.push(chunk(json!([part])));
    }
    let mut end = chunk(json!([{"text": ""}]));
    if reply.calls.is_empty() && !reply.signature.is_empty() {
        end["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = reply.signature.clone().into();
    }
    end["candidates"][0]["finishReason"] = match reply.stop_reason() {
        Stop::Done | Stop::ToolUse => "STOP".into(),
        Stop::Length => "MAX_TOKENS".into(),
    };
    let usage = &reply.usage;
    let prompt = usage.input + usage.cache_read;
    end["usageMetadata"] = json!({"promptTokenCount": prompt, "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output, "totalTokenCount": prompt + usage.output});
    Frames { start: Vec::new(), deltas: deltas.iter().map(data).collect(), end: vec![data(&end)] }
}

pub fn failure(failure: Failure, message: &str) -> Value {
    let (code, status) = match failure {
        Failure::InvalidRequest => (400, "INVALID_ARGUMENT"),
        Failure::Auth => (401, "UNAUTHENTICATED"),
        Failure::NotFound => (404, "NOT_FOUND"),
        Failure::RateLimit => (429, "RESOURCE_EXHAUSTED"),
        Failure::Server => (500, "INTERNAL"),
        Failure::Overload => (503, "UNAVAILABLE"),
    };
    json!({"error": {"code": code, "message": message, "status": status}})
}

pub fn read(body: &Value, problems: &mut Vec<String>) -> Conversation {
    let mut conversation = Conversation {
        system_text: flat(&body["systemInstruction"]["parts"]),
        system: body["systemInstruction"].clone(),
        tools: offered(body),
        tools_forbidden: body["toolConfig"]["functionCallingConfig"]["mode"] == "NONE",
        ..Conversation::default()
    };
    for (place, content) in items(&body["contents"]).iter().enumerate() {
        let expected = if place % 2 == 0 { "user" } else { "model" };
        if content["role"] != expected {
            problems.push(format!("contents[{place}]: {} where {expected} is due", content["role"]));
        }
        let role = if content["role"] == "model" { Role::Assistant } else { Role::User };
        let (results, said) = turns(role, content, problems);
        conversation.turns.extend(results);
        conversation.turns.extend(said);
    }
    if items(&body["contents"]).last().is_none_or(|content| content["role"] != "user") {
        problems.push("the conversation does not end with the user".into());
    }
    number(&mut conversation.turns);
    conversation
}

/// Calls and results may come without an id; they belong together by their order.
fn number(turns: &mut [Turn]) {
    fn name<'a>(ids: impl Iterator<Item = &'a mut String>) {
        for (number, id) in ids.filter(|id| id.is_empty()).enumerate() {
            *id = format!("unnamed_{number}");
        }
    }
    name(turns.iter_mut().flat_map(|turn| &mut turn.calls).map(|call| &mut call.id));
    name(turns.iter_mut().flat_map(|turn| &mut turn.results).map(|result| &mut result.id));
}

/// A content as what tools returned, and what was said.
fn turns(role: Role, content: &Value, problems: &mut Vec<String>) -> (Option<Turn>, Option<Turn>) {
    let mut results = Turn::new(Role::Tool, content);
    let mut said = Turn::new(role, content);
    for part in items(&content["parts"]) {
        let seal = part["thoughtSignature"].as_str().map(str::to_owned);
        if let Some(seal) = seal {
            said.reasoning.push((String::new(), Some(seal)));
        }
        if let Some(call) = part.get("functionCall").filter(|_| role == Role::Assistant) {
            let (id, name) = (text(&call["id"]), text(&call["name"]));
            said.calls.push(MadeCall { id, name, arguments: call["args"].clone() });
        } else if let Some(result) = part.get("functionResponse").filter(|_| role == Role::User) {
            if !said.is_empty() {
                problems.push(format!("result {}: it stands behind other content", result["id"]));
            }
            let response = &result["response"];
            let told = if response["error"].is_null() { &response["output"] } else { &response["error"] };
            results.results.push(Outcome { id: text(&result["id"]), text: text(told) });
        } else if part.get("inlineData").is_some() && role == Role::User {
            said.text += "[image]";
        } else if part["thought"] == true {
            problems.push("a thought that is sent back".into());
        } else if part["text"].is_string() {
            if text(&part["text"]).trim().is_empty() && part.get("thoughtSignature").is_none() {
                problems.push("an empty text".into());
            }
            let separator = if said.text.is_empty() { "" } else { "\n" };
            said.text += &format!("{separator}{}", text(&part["text"]));
        } else {
            problems.push(format!("a part {part} in a content of {role:?}"));
        }
    }
    let results = Some(results).filter(|turn| !turn.results.is_empty());
    let said = Some(said).filter(|turn| results.is_none() || !turn.is_empty());
    (results, said)
}

fn offered(body: &Value) -> Vec<Offered> {
    let tool = |tool: &Value| {
        let schema = tool.get("parametersJsonSchema").or(tool.get("parameters")).cloned();
        Offered { name: text(&tool["name"]), schema: schema.unwrap_or_else(|| json!({"type": "object"})) }
    };
    items(&body["tools"]).iter().flat_map(|set| items(&set["functionDeclarations"])).map(tool).collect()
}
