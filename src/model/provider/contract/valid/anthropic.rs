//! The rules of Anthropic's messages.

use serde_json::Value;

use super::Complaints;
use crate::model::provider::compat::Compat;

/// The most places that may be marked for the cache.
const MARKS: usize = 4;

/// What a strict server of such a vendor says about a body.
pub fn check(body: &Value, compat: &Compat) -> Vec<String> {
    let mut complaints = Complaints::default();
    let settings = ["system", "tools", "tool_choice", "temperature", "thinking", "output_config"];
    complaints.fields(body, "body", &["model", "max_tokens", "messages", "stream"], &settings);
    complaints.texts(body, "body");
    complaints.words(&body["model"], "model");
    complaints.check(body["stream"] == true, "stream", "it has to be true");
    complaints.check(body["max_tokens"].as_u64().is_some_and(|most| most > 0), "max_tokens", "no limit");
    if let Some(system) = body.get("system") {
        for block in complaints.list(system, "system") {
            complaints.fields(block, "system", &["type", "text"], &["cache_control"]);
            complaints.words(&block["text"], "system");
        }
    }
    tools(body, &mut complaints);
    thinking(body, &mut complaints);
    let messages = complaints.list(&body["messages"], "messages");
    for (number, message) in messages.iter().enumerate() {
        let place = &format!("messages[{number}]");
        let due = if number % 2 == 0 { "user" } else { "assistant" };
        complaints.fields(message, place, &["role", "content"], &[]);
        complaints.check(message["role"] == due, place, &format!("{} where {due} is due", message["role"]));
        let blocks = complaints.list(&message["content"], place);
        match due {
            "user" => user(blocks, place, &mut complaints),
            _ => assistant(blocks, place, &mut complaints),
        }
    }
    complaints.settled("the end");
    complaints.check(messages.len() % 2 == 1, "the end", "nothing to answer");
    let marks = count_marks(body);
    let most = if compat.cache_marks { MARKS } else { 0 };
    complaints.check(marks <= most, "cache_control", &format!("{marks} marks"));
    if compat.adaptive == Some(true) {
        complaints.check(body.get("temperature").is_none(), "temperature", "newer models allow none");
        let budget = body["thinking"].get("budget_tokens");
        complaints.check(budget.is_none(), "thinking", "newer models have no budget");
    }
    complaints.said
}

fn tools(body: &Value, complaints: &mut Complaints) {
    let Some(tools) = body.get("tools") else {
        return complaints.check(body.get("tool_choice").is_none(), "tool_choice", "a choice without tools");
    };
    for tool in complaints.list(tools, "tools") {
        complaints.fields(tool, "tools", &["name", "description", "input_schema"], &["cache_control"]);
        complaints.name(&tool["name"], "tools");
        complaints.schema(&tool["input_schema"], "tools");
    }
    if let Some(choice) = body.get("tool_choice") {
        complaints.fields(choice, "tool_choice", &["type"], &[]);
        complaints.check(choice["type"] == "auto" || choice["type"] == "none", "tool_choice", "no choice");
    }
}

/// The budget, and that the answer under way began with thinking.
fn thinking(body: &Value, complaints: &mut Complaints) {
    let Some(thinking) = body.get("thinking") else { return };
    complaints.check(body.get("temperature").is_none(), "temperature", "thinking allows none");
    if thinking["type"] != "enabled" {
        return complaints.check(thinking["type"] == "adaptive", "thinking", "no kind of thinking");
    }
    let budget = thinking["budget_tokens"].as_u64().unwrap_or(0);
    let fits = (1024..body["max_tokens"].as_u64().unwrap_or(0)).contains(&budget);
    complaints.check(fits, "thinking", &format!("a budget of {budget}"));
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    let only_results = |message: &Value| blocks(message).iter().all(|block| block["type"] == "tool_result");
    let asked = messages.iter().rposition(|message| message["role"] == "user" && !only_results(message));
    let begun = messages.iter().skip(asked.map_or(0, |place| place + 1)).find(|message| message["role"] == "assistant");
    if let Some(begun) = begun {
        let first = blocks(begun).first().map(|block| block["type"].clone()).unwrap_or_default();
        let thinks = first == "thinking" || first == "redacted_thinking";
        complaints.check(thinks, "thinking", &format!("the answer under way begins with {first}"));
    }
}

fn user(blocks: &[Value], place: &str, complaints: &mut Complaints) {
    for block in blocks {
        if block["type"] == "tool_result" {
            result(block, place, complaints);
            continue;
        }
        complaints.settled(place);
        part(block, place, complaints);
    }
    complaints.settled(place);
}

/// A piece of what a person said or a tool returned.
fn part(block: &Value, place: &str, complaints: &mut Complaints) {
    match block["type"].as_str() {
        Some("text") => {
            complaints.fields(block, place, &["type", "text"], &["cache_control"]);
            complaints.words(&block["text"], place);
        }
        Some("image") => {
            complaints.fields(block, place, &["type", "source"], &["cache_control"]);
            let source = &block["source"];
            complaints.fields(source, place, &["type", "media_type", "data"], &[]);
            complaints.check(source["type"] == "base64", place, "a picture without its data");
            complaints.picture(&source["media_type"], &source["data"], place);
        }
        other => complaints.say(place, &format!("a block {other:?} of the user")),
    }
}

fn result(block: &Value, place: &str, complaints: &mut Complaints) {
    complaints.fields(block, place, &["type", "tool_use_id"], &["content", "is_error", "cache_control"]);
    complaints.result(&block["tool_use_id"], place);
    if let Some(content) = block.get("content") {
        for inner in complaints.list(content, place) {
            part(inner, place, complaints);
        }
    }
    complaints.check(block.get("is_error").is_none_or(Value::is_boolean), place, "is_error is true or false");
}

fn assistant(blocks: &[Value], place: &str, complaints: &mut Complaints) {
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => {
                complaints.fields(block, place, &["type", "text"], &["cache_control"]);
                complaints.words(&block["text"], place);
            }
            Some("thinking") => {
                complaints.fields(block, place, &["type", "thinking", "signature"], &[]);
                complaints.words(&block["signature"], place);
            }
            Some("redacted_thinking") => {
                complaints.fields(block, place, &["type", "data"], &[]);
                complaints.words(&block["data"], place);
            }
            Some("tool_use") => {
                complaints.fields(block, place, &["type", "id", "name", "input"], &["cache_control"]);
                complaints.check(block["input"].is_object(), place, "arguments that are no object");
                let id = complaints.new_id(&block["id"], 64, place);
                let name = complaints.name(&block["name"], place);
                complaints.open.push((id, name));
            }
            other => complaints.say(place, &format!("a block {other:?} of the assistant")),
        }
    }
    let last = blocks.last().map(|block| block["type"].as_str().unwrap_or_default());
    complaints.check(!matches!(last, Some("thinking" | "redacted_thinking")), place, "nothing follows the thinking");
    let trailing =
        blocks.last().and_then(|block| block["text"].as_str()).is_some_and(|text| text.ends_with(char::is_whitespace));
    complaints.check(!trailing, place, "blanks at the end of an answer");
}

fn count_marks(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(count_marks).sum(),
        Value::Object(object) => {
            usize::from(object.contains_key("cache_control")) + object.values().map(count_marks).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
