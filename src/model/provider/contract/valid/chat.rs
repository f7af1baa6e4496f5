//! The rules of chat completions, and those of the strictest among the templates behind it.

use serde_json::Value;

use super::Complaints;
use crate::model::provider::compat::{Compat, MaxTokensField, ReasoningBack};
use crate::model::provider::ids::IdStyle;

/// What a strict server of such a vendor says about a body.
pub fn check(body: &Value, compat: &Compat) -> Vec<String> {
    let mut complaints = Complaints::default();
    let limit = match compat.max_tokens_field {
        MaxTokensField::MaxTokens => "max_tokens",
        MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
    };
    let settings = [
        "tools",
        "tool_choice",
        "stream_options",
        limit,
        "temperature",
        "reasoning_effort",
        "thinking",
        "enable_thinking",
        "reasoning",
        "prompt_cache_key",
        "cache_control",
    ];
    complaints.fields(body, "body", &["model", "messages", "stream"], &settings);
    complaints.texts(body, "body");
    complaints.words(&body["model"], "model");
    complaints.check(body["stream"] == true, "stream", "it has to be true");
    tools(body, &mut complaints);
    let mut before = "";
    let messages = complaints.list(&body["messages"], "messages");
    for (number, message) in messages.iter().enumerate() {
        let place = &format!("messages[{number}]");
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            complaints.settled(place);
        }
        match role {
            "system" | "developer" => {
                complaints.check(number == 0, place, "the system message is the first and the only one");
                complaints.check((role == "developer") == compat.developer_role, place, "the wrong role");
                complaints.fields(message, place, &["role", "content"], &[]);
                complaints.words(&message["content"], place);
            }
            "user" => {
                complaints.check(before != "user", place, "two messages of the user in a row");
                let behind_result = before == "tool" && compat.assistant_after_tool;
                complaints.check(!behind_result, place, "a message of the user right behind a result");
                complaints.fields(message, place, &["role", "content"], &[]);
                user(&message["content"], place, &mut complaints);
            }
            "assistant" => {
                // Behind calls come results; what is not behind calls is one message.
                complaints.check(before != "assistant", place, "two messages of the assistant in a row");
                assistant(message, place, compat, &mut complaints);
            }
            "tool" => {
                complaints.fields(message, place, &["role", "tool_call_id", "content"], &["name"]);
                complaints.check(message["content"].is_string(), place, "a result that is no text");
                let due = complaints.open.first().map(|(_, name)| name.clone());
                let named = message.get("name").and_then(Value::as_str).map(str::to_owned);
                complaints.check(named == due.filter(|_| compat.tool_result_name), place, "the wrong name");
                complaints.result(&message["tool_call_id"], place);
            }
            other => complaints.say(place, &format!("{other:?} is no role")),
        }
        before = role;
    }
    complaints.settled("the end");
    complaints.check(matches!(before, "user" | "tool"), "the end", "nothing to answer");
    complaints.said
}

fn tools(body: &Value, complaints: &mut Complaints) {
    let Some(tools) = body.get("tools") else {
        return complaints.check(body.get("tool_choice").is_none(), "tool_choice", "a choice without tools");
    };
    for tool in complaints.list(tools, "tools") {
        complaints.fields(tool, "tools", &["type", "function"], &[]);
        complaints.check(tool["type"] == "function", "tools", "a tool that is no function");
        let function = &tool["function"];
        complaints.fields(function, "tools", &["name", "description", "parameters"], &[]);
        complaints.name(&function["name"], "tools");
        complaints.schema(&function["parameters"], "tools");
    }
    let choice = body.get("tool_choice").and_then(Value::as_str).unwrap_or("auto");
    complaints.check(matches!(choice, "auto" | "none" | "required"), "tool_choice", "no choice");
}

fn user(content: &Value, place: &str, complaints: &mut Complaints) {
    if content.is_string() {
        complaints.words(content, place);
        return;
    }
    for part in complaints.list(content, place) {
        match part["type"].as_str() {
            Some("text") => {
                complaints.fields(part, place, &["type", "text"], &[]);
                complaints.words(&part["text"], place);
            }
            Some("image_url") => {
                complaints.fields(part, place, &["type", "image_url"], &[]);
                complaints.fields(&part["image_url"], place, &["url"], &["detail"]);
                let url = part["image_url"]["url"].as_str().and_then(|url| url.strip_prefix("data:"));
                match url.and_then(|url| url.split_once(";base64,")) {
                    Some((media_type, data)) => complaints.picture(&media_type.into(), &data.into(), place),
                    None => complaints.say(place, "a picture without its data"),
                }
            }
            other => complaints.say(place, &format!("{other:?} is no kind of part")),
        }
    }
}

fn assistant(message: &Value, place: &str, compat: &Compat, complaints: &mut Complaints) {
    let called = message.get("tool_calls").is_some();
    let thoughts = match compat.reasoning_back {
        ReasoningBack::Nothing => None,
        ReasoningBack::Content => called.then_some("reasoning_content"),
        ReasoningBack::Details => Some("reasoning_details"),
    };
    let may: Vec<&str> = thoughts.into_iter().chain(["tool_calls"]).collect();
    complaints.fields(message, place, &["role", "content"], &may);
    if compat.reasoning_back == ReasoningBack::Content && called {
        complaints.check(message["reasoning_content"].is_string(), place, "calls without what was thought");
    }
    // Arrays are mirrored by several servers.
    let content = &message["content"];
    let may_be_null = content.is_null() && compat.null_content;
    complaints.check(may_be_null || content.is_string(), place, "content of an assistant that is no text");
    if !called {
        complaints.words(content, place);
        return;
    }
    for call in complaints.list(&message["tool_calls"], place) {
        complaints.fields(call, place, &["id", "type", "function"], &["extra_content"]);
        complaints.check(call["type"] == "function", place, "a call of no function");
        complaints.fields(&call["function"], place, &["name", "arguments"], &[]);
        let id = complaints.new_id(&call["id"], 40, place);
        let nine = id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric());
        complaints.check(nine || compat.call_ids != IdStyle::Nine, place, "an id that has not nine characters");
        let name = complaints.name(&call["function"]["name"], place);
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let parsed = serde_json::from_str::<Value>(arguments).unwrap_or_default();
        complaints.check(parsed.is_object(), place, &format!("arguments that are no object: {arguments}"));
        complaints.open.push((id, name));
    }
}
