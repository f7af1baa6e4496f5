//! The rules of Gemini's `streamGenerateContent`.

use serde_json::Value;

use super::Complaints;
use crate::model::provider::compat::Compat;

/// What a strict server of such a vendor says about a body.
pub fn check(body: &Value, compat: &Compat) -> Vec<String> {
    let third = compat.gemini_3 == Some(true);
    let mut complaints = Complaints::default();
    complaints.fields(body, "body", &["contents"], &["systemInstruction", "tools", "toolConfig", "generationConfig"]);
    complaints.texts(body, "body");
    if let Some(system) = body.get("systemInstruction") {
        complaints.fields(system, "systemInstruction", &["parts"], &["role"]);
        for part in complaints.list(&system["parts"], "systemInstruction") {
            complaints.fields(part, "systemInstruction", &["text"], &[]);
            complaints.words(&part["text"], "systemInstruction");
        }
    }
    tools(body, &mut complaints);
    if let Some(config) = body.get("generationConfig") {
        complaints.fields(config, "generationConfig", &[], &["maxOutputTokens", "temperature", "thinkingConfig"]);
        if let Some(thinking) = config.get("thinkingConfig") {
            let known = ["includeThoughts", "thinkingBudget", "thinkingLevel"];
            complaints.fields(thinking, "thinkingConfig", &[], &known);
            let both = thinking.get("thinkingBudget").is_some() && thinking.get("thinkingLevel").is_some();
            complaints.check(!both, "thinkingConfig", "a budget and a level");
        }
    }
    let turns = complaints.list(&body["contents"], "contents");
    let answers = |turn: &Value| turn["parts"].as_array().into_iter().flatten().any(is_response);
    let mut before: Option<&Value> = None;
    for (number, turn) in turns.iter().enumerate() {
        let place = &format!("contents[{number}]");
        complaints.fields(turn, place, &["role", "parts"], &[]);
        let parts = complaints.list(&turn["parts"], place);
        let behind_user = before.is_some_and(|before| before["role"] == "user");
        match turn["role"].as_str() {
            Some("user") => {
                // What a person says while tools run is a turn of its own from the third generation on.
                let allowed = !behind_user || third && before.is_some_and(answers);
                complaints.check(allowed, place, "two turns of the user in a row");
                let mixed = third && parts.iter().any(is_response) && !parts.iter().all(is_response);
                complaints.check(!mixed, place, "responses among other parts");
                user(parts, place, &mut complaints);
            }
            Some("model") => {
                complaints.check(behind_user, place, "a turn of the model behind none of the user");
                model(parts, place, third, &mut complaints);
            }
            other => complaints.say(place, &format!("{other:?} is no role")),
        }
        before = Some(turn);
    }
    complaints.settled("the end");
    complaints.check(before.is_some_and(|turn| turn["role"] == "user"), "the end", "nothing to answer");
    complaints.said
}

fn tools(body: &Value, complaints: &mut Complaints) {
    let Some(tools) = body.get("tools") else {
        return complaints.check(body.get("toolConfig").is_none(), "toolConfig", "a choice without tools");
    };
    for tool in complaints.list(tools, "tools") {
        complaints.fields(tool, "tools", &["functionDeclarations"], &[]);
        for function in complaints.list(&tool["functionDeclarations"], "tools") {
            let schema = ["parameters", "parametersJsonSchema"];
            complaints.fields(function, "tools", &["name", "description"], &schema);
            complaints.name(&function["name"], "tools");
            let given = schema.iter().filter_map(|name| function.get(*name)).collect::<Vec<_>>();
            complaints.check(given.len() <= 1, "tools", "two schemas");
            given.iter().for_each(|schema| complaints.schema(schema, "tools"));
        }
    }
    if let Some(config) = body.get("toolConfig") {
        let mode = config["functionCallingConfig"]["mode"].as_str().unwrap_or_default();
        complaints.check(matches!(mode, "AUTO" | "ANY" | "NONE" | "VALIDATED"), "toolConfig", "no mode");
    }
}

fn is_response(part: &Value) -> bool {
    part.get("functionResponse").is_some()
}

fn user(parts: &[Value], place: &str, complaints: &mut Complaints) {
    for part in parts {
        if let Some(response) = part.get("functionResponse") {
            complaints.fields(part, place, &["functionResponse"], &[]);
            complaints.fields(response, place, &["name", "response"], &["id", "parts"]);
            complaints.check(response["response"].is_object(), place, "a response that is no object");
            for inner in response["parts"].as_array().into_iter().flatten() {
                data(inner, place, complaints);
            }
            answered(response, place, complaints);
            continue;
        }
        complaints.settled(place);
        if part.get("text").is_some() {
            complaints.fields(part, place, &["text"], &[]);
            complaints.words(&part["text"], place);
        } else {
            data(part, place, complaints);
        }
    }
    complaints.settled(place);
}

fn data(part: &Value, place: &str, complaints: &mut Complaints) {
    complaints.fields(part, place, &["inlineData"], &[]);
    let inline = &part["inlineData"];
    complaints.fields(inline, place, &["mimeType", "data"], &["displayName"]);
    complaints.picture(&inline["mimeType"], &inline["data"], place);
}

/// Responses come in the order of their calls, with the same name and, where the call has one, the same id.
fn answered(response: &Value, place: &str, complaints: &mut Complaints) {
    if complaints.open.is_empty() {
        return complaints.say(place, &format!("a response nobody waits for: {response}"));
    }
    let (id, name) = complaints.open.remove(0);
    complaints.check(
        response["name"] == *name,
        place,
        &format!("a response of {} where {name} is due", response["name"]),
    );
    let same = response.get("id").map_or(id.is_empty(), |found| *found == *id);
    complaints.check(same, place, &format!("a response of another call than {id:?}: {response}"));
}

fn model(parts: &[Value], place: &str, third: bool, complaints: &mut Complaints) {
    for part in parts {
        if let Some(seal) = part.get("thoughtSignature") {
            complaints.words(seal, place);
        }
        if let Some(call) = part.get("functionCall") {
            complaints.fields(part, place, &["functionCall"], &["thoughtSignature"]);
            complaints.fields(call, place, &["name"], &["args", "id"]);
            complaints.check(call.get("args").is_none_or(Value::is_object), place, "arguments that are no object");
            let name = complaints.name(&call["name"], place);
            // The server's own, whatever it is; it may well give the same one twice.
            let id = call.get("id").map_or("", |id| id.as_str().unwrap_or_default());
            complaints.open.push((id.to_owned(), name));
        } else {
            complaints.fields(part, place, &["text"], &["thought", "thoughtSignature"]);
            // What has no words may carry a seal.
            if part.get("thoughtSignature").is_none() {
                complaints.words(&part["text"], place);
            }
        }
    }
    // The first call of a turn has the seal of the reasoning behind it, or the word that stands for one.
    let first = parts.iter().find(|part| part.get("functionCall").is_some());
    let sealed = first.is_none_or(|part| part.get("thoughtSignature").is_some());
    complaints.check(sealed || !third, place, "the first call has no seal");
}
