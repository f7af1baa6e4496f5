//! Judges a request as the strictest server would, and as the program's own promises do: the prefix never changes, the
//! key is in its header and nowhere else.
//!
//! Nothing here knows a wire; what only one wire demands is checked where it is read.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::request::{Conversation, Request, Role, Turn};

/// What is wrong with the conversation by itself, a sentence each.
pub fn conversation(conversation: &Conversation, problems: &mut Vec<String>) {
    tools(conversation, problems);
    let mut due: Vec<&str> = Vec::new();
    for (place, turn) in conversation.turns.iter().enumerate() {
        if turn.role == Role::Tool {
            for result in &turn.results {
                if due.first() == Some(&result.id.as_str()) {
                    due.remove(0);
                } else {
                    problems.push(format!("turn {place}: a result for {}, but due are {due:?}", result.id));
                }
            }
            continue;
        }
        if !due.is_empty() {
            problems.push(format!("turn {place}: calls {due:?} have no result before it"));
        }
        if turn.text.is_empty() && turn.calls.is_empty() {
            problems.push(format!("turn {place}: an empty message of {:?}", turn.role));
        }
        due = calls(place, turn, problems);
    }
    if !due.is_empty() {
        problems.push(format!("calls {due:?} have no result at the end"));
    }
    match conversation.turns.first().map(|turn| turn.role) {
        Some(Role::User) => {}
        first @ (Some(Role::Assistant | Role::Tool) | None) => problems.push(format!("the talk begins with {first:?}")),
    }
}

/// Checks a message's calls and returns their ids.
fn calls<'a>(place: usize, turn: &'a Turn, problems: &mut Vec<String>) -> Vec<&'a str> {
    let ids: Vec<&str> = turn.calls.iter().map(|call| call.id.as_str()).collect();
    if ids.iter().collect::<HashSet<_>>().len() != ids.len() {
        problems.push(format!("turn {place}: a call id occurs twice in {ids:?}"));
    }
    for call in &turn.calls {
        if !is_word(&call.id) || !is_word(&call.name) {
            problems.push(format!("turn {place}: an illegal id or name: {:?} {:?}", call.id, call.name));
        }
        if !call.arguments.is_object() {
            problems.push(format!("turn {place}: the arguments of {} are no object", call.id));
        }
    }
    ids
}

fn tools(conversation: &Conversation, problems: &mut Vec<String>) {
    let mut names = HashSet::new();
    for tool in &conversation.tools {
        if !names.insert(&tool.name) {
            problems.push(format!("tool {} is offered twice", tool.name));
        }
        if !is_word(&tool.name) || tool.schema["type"] != "object" {
            problems.push(format!("tool {:?}: an illegal name, or the root of its schema is no object", tool.name));
        }
        let known = |name: &Value| name.as_str().is_some_and(|name| tool.schema["properties"].get(name).is_some());
        if !tool.schema["required"].as_array().is_none_or(|required| required.iter().all(known)) {
            problems.push(format!("tool {}: it requires what it does not describe", tool.name));
        }
    }
}

/// The letters providers take in ids and names, and how many.
fn is_word(word: &str) -> bool {
    (1..=64).contains(&word.len()) && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Whether a request goes on where the one before it, of the same talk, stood. A talk is known by its first message and
/// its model; a request without an answer in it begins a new one.
pub fn prefix(earlier: &[impl AsRef<Request>], request: &Request, problems: &mut Vec<String>) {
    let now = &request.conversation;
    let same_talk = |other: &&Request| {
        let opening = |request: &Request| request.conversation.turns.first().map(|turn| spelled(&turn.wire));
        other.wire == request.wire && other.model() == request.model() && opening(other) == opening(request)
    };
    if !now.turns.iter().any(|turn| turn.role == Role::Assistant) {
        return;
    }
    let Some(before) = earlier.iter().map(AsRef::as_ref).rev().find(same_talk).map(|request| &request.conversation)
    else {
        return;
    };
    if spelled(&before.system) != spelled(&now.system) {
        problems.push("the system prompt is not that of the request before".into());
    }
    // The last request of a loop offers no tools at all.
    if !now.tools.is_empty() && schemas(before) != schemas(now) {
        problems.push("the tools are not those of the request before".into());
    }
    let last = before.turns.len().saturating_sub(1);
    let same =
        |(place, (before, now)): (usize, (&Turn, &Turn))| equal(before, now) || place == last && extends(before, now);
    let kept = before.turns.iter().zip(&now.turns).enumerate().all(same);
    if !kept || before.turns.len() > now.turns.len() {
        let shown = |turns: &[Turn]| turns.iter().map(|turn| spelled(&turn.wire)).collect::<Vec<_>>().join("\n  ");
        let (before, now) = (shown(&before.turns), shown(&now.turns));
        problems.push(format!("the history was changed; before:\n  {before}\nnow:\n  {now}"));
    }
}

fn equal(before: &Turn, now: &Turn) -> bool {
    before.role == now.role && spelled(&before.wire) == spelled(&now.wire)
}

/// Whether a message is the same with more behind it: some wires put what the user says next into the same message, as a
/// part of its own or under a blank line.
fn extends(before: &Turn, now: &Turn) -> bool {
    let (before_wire, now_wire) = (canonical(&before.wire), canonical(&now.wire));
    let pieces = ["content", "parts"]
        .into_iter()
        .find_map(|key| Some((before_wire[key].as_array()?, now_wire[key].as_array()?)));
    let longer = |one: &[Value], two: &[Value]| match (one, two) {
        ([one], [two]) => two["text"]
            .as_str()
            .zip(one["text"].as_str())
            .is_some_and(|(two, one)| two.strip_prefix(one).is_some_and(|more| more.starts_with("\n\n"))),
        _ => false,
    };
    before.role == now.role && pieces.is_some_and(|(one, two)| two.starts_with(one) || longer(one, two))
}

fn schemas(conversation: &Conversation) -> Vec<(&str, String)> {
    conversation.tools.iter().map(|tool| (tool.name.as_str(), tool.schema.to_string())).collect()
}

/// The exact spelling of what [`canonical`] keeps; two orders of the same keys are two prefixes.
fn spelled(value: &Value) -> String {
    canonical(value).to_string()
}

/// A value without cache marks, which move along as a talk grows, and with texts as lists of one part.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(object) => {
            let entries = object.iter().filter(|(key, _)| *key != "cache_control");
            let entries = entries.map(|(key, value)| match value.as_str().filter(|_| key == "content") {
                Some(text) => (key.clone(), json!([{"type": "text", "text": text}])),
                None => (key.clone(), canonical(value)),
            });
            Value::Object(entries.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
