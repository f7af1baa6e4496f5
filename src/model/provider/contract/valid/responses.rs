//! The rules of `OpenAI`'s responses, where nothing is stored.

use serde_json::Value;

use super::Complaints;
use crate::model::provider::compat::{Compat, ReasoningBack};

/// What a strict server of such a vendor says about a body.
pub fn check(body: &Value, compat: &Compat) -> Vec<String> {
    let mut complaints = Complaints::default();
    let settings = [
        "instructions",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "reasoning",
        "include",
        "max_output_tokens",
        "temperature",
        "prompt_cache_key",
        "text",
    ];
    complaints.fields(body, "body", &["model", "input", "stream", "store"], &settings);
    complaints.texts(body, "body");
    complaints.words(&body["model"], "model");
    complaints.check(body["stream"] == true, "stream", "it has to be true");
    complaints.check(body["store"] == false, "store", "nothing is to be stored");
    if let Some(instructions) = body.get("instructions") {
        complaints.words(instructions, "instructions");
    }
    tools(body, &mut complaints);
    let items = complaints.list(&body["input"], "input");
    for (number, item) in items.iter().enumerate() {
        let place = &format!("input[{number}]");
        let kind = item["type"].as_str().unwrap_or("message");
        if !matches!(kind, "function_call" | "function_call_output" | "reasoning") {
            complaints.settled(place);
        }
        match kind {
            "message" => message(item, place, &mut complaints),
            "reasoning" => reasoning(item, items.get(number + 1), place, compat, &mut complaints),
            "function_call" => call(item, place, &mut complaints),
            "function_call_output" => output(item, place, &mut complaints),
            other => complaints.say(place, &format!("{other:?} is no kind of item")),
        }
    }
    complaints.settled("the end");
    let last = items.last().unwrap_or(&Value::Null);
    let answerable = last["type"] == "function_call_output" || last["role"] == "user";
    complaints.check(answerable, "the end", "nothing to answer");
    complaints.said
}

fn tools(body: &Value, complaints: &mut Complaints) {
    let Some(tools) = body.get("tools") else {
        return complaints.check(body.get("tool_choice").is_none(), "tool_choice", "a choice without tools");
    };
    for tool in complaints.list(tools, "tools") {
        complaints.fields(tool, "tools", &["type", "name", "description", "parameters"], &["strict"]);
        complaints.check(tool["type"] == "function", "tools", "a tool that is no function");
        // What is strict has to have all parameters required, which ours do not.
        complaints.check(tool["strict"] != true, "tools", "no schema of ours is strict");
        complaints.name(&tool["name"], "tools");
        complaints.schema(&tool["parameters"], "tools");
    }
    let choice = body.get("tool_choice").and_then(Value::as_str).unwrap_or("auto");
    complaints.check(matches!(choice, "auto" | "none" | "required"), "tool_choice", "no choice");
}

/// The id of an item, where it has one.
fn item_id(item: &Value, prefix: &str, place: &str, complaints: &mut Complaints) {
    if let Some(id) = item.get("id") {
        let fits = id.as_str().is_some_and(|id| id.starts_with(prefix) && id.len() <= 64);
        complaints.check(fits, place, &format!("{id} is no id of such an item"));
    }
}

fn message(item: &Value, place: &str, complaints: &mut Complaints) {
    let text = match item["role"].as_str() {
        Some("user") => {
            complaints.fields(item, place, &["role", "content"], &["type"]);
            "input_text"
        }
        Some("assistant") => {
            complaints.fields(item, place, &["role", "content"], &["type", "id", "status", "phase"]);
            item_id(item, "msg_", place, complaints);
            "output_text"
        }
        other => return complaints.say(place, &format!("{other:?} is no role within the conversation")),
    };
    if item["content"].is_string() {
        complaints.words(&item["content"], place);
        return;
    }
    for part in complaints.list(&item["content"], place) {
        content(part, text, place, complaints);
    }
}

fn content(part: &Value, text: &str, place: &str, complaints: &mut Complaints) {
    match part["type"].as_str() {
        Some("input_image") if text == "input_text" => {
            complaints.fields(part, place, &["type", "image_url"], &["detail"]);
            let url = part["image_url"].as_str().and_then(|url| url.strip_prefix("data:"));
            match url.and_then(|url| url.split_once(";base64,")) {
                Some((media_type, data)) => complaints.picture(&media_type.into(), &data.into(), place),
                None => complaints.say(place, "a picture without its data"),
            }
        }
        Some("refusal") if text == "output_text" => {
            complaints.fields(part, place, &["type", "refusal"], &[]);
            complaints.words(&part["refusal"], place);
        }
        Some(kind) if kind == text => {
            complaints.fields(part, place, &["type", "text"], &["annotations", "logprobs"]);
            complaints.words(&part["text"], place);
        }
        other => complaints.say(place, &format!("a part {other:?} where {text} is due")),
    }
}

/// Reasoning is sealed, and what it led to comes right behind it.
fn reasoning(item: &Value, next: Option<&Value>, place: &str, compat: &Compat, complaints: &mut Complaints) {
    complaints.settled(place);
    complaints.fields(item, place, &["type", "summary"], &["id", "encrypted_content", "content", "status"]);
    item_id(item, "rs_", place, complaints);
    complaints.check(item["summary"].is_array(), place, "a summary that is no list");
    let readable = compat.reasoning_back == ReasoningBack::Content && item["content"].is_array();
    if !readable {
        complaints.words(&item["encrypted_content"], place);
    }
    let led_to = next.is_some_and(|next| {
        next["type"] == "function_call" || next["type"] == "reasoning" || next["role"] == "assistant"
    });
    complaints.check(led_to, place, "reasoning without the item it led to");
}

fn call(item: &Value, place: &str, complaints: &mut Complaints) {
    complaints.fields(item, place, &["type", "call_id", "name", "arguments"], &["id", "status"]);
    item_id(item, "fc_", place, complaints);
    let id = complaints.new_id(&item["call_id"], 64, place);
    let name = complaints.name(&item["name"], place);
    let arguments = item["arguments"].as_str().unwrap_or_default();
    let parsed = serde_json::from_str::<Value>(arguments).unwrap_or_default();
    complaints.check(parsed.is_object(), place, &format!("arguments that are no object: {arguments}"));
    complaints.open.push((id, name));
}

fn output(item: &Value, place: &str, complaints: &mut Complaints) {
    complaints.fields(item, place, &["type", "call_id", "output"], &["status"]);
    complaints.result(&item["call_id"], place);
    if item["output"].is_string() {
        return;
    }
    for part in complaints.list(&item["output"], place) {
        content(part, "input_text", place, complaints);
    }
}
