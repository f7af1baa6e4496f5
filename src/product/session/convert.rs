//! Between what was said and how it is written on disk. The only place that knows both.
//!
//! Every field is taken apart by name, so that a new one does not compile until it is kept. Nothing is read or written.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use crate::base::json::{self, Object};
use crate::model::message::{
    Assistant, AssistantPart, Image, Message, Origin, Part, Reasoning, ToolCall, ToolInput, ToolResult,
};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;

use super::entry::{Content, MessageLine, Role, SummaryLine, UsageLine};
use crate::kernel::compact::Folded;

/// Keeps content outside of the file and says under which hash; `None` where it belongs into the line.
pub type Keep<'a> = dyn FnMut(&[u8]) -> Option<String> + 'a;
/// Finds content that is kept outside of the file by its hash; `None` where it is not there.
pub type Find<'a> = dyn FnMut(&str) -> Option<Vec<u8>> + 'a;

/// Stands for something that is kept outside of the file and is not there.
const MISSING: &str = "[this was kept outside of the session's file and could not be found]";
/// How deep an object may be nested to be written as one. The parser takes 128 levels; the line around it needs a few.
const MAX_DEPTH: usize = 100;

/// Where a line stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its id.
    pub id: u64,
    /// What it follows.
    pub parent_id: Option<u64>,
    /// Milliseconds since 1970.
    pub timestamp: i64,
}

/// The line for what a person said.
pub fn user_line(parts: &[Part], place: Place, keep: &mut Keep<'_>) -> MessageLine {
    line(place, Role::User, parts.iter().map(|part| part_to_disk(part, keep)).collect())
}

/// The line for an answer. `cost` is in US dollars.
pub fn assistant_line(answer: &Assistant, cost: Option<f64>, place: Place, keep: &mut Keep<'_>) -> MessageLine {
    let Assistant { content, origin, stop, usage } = answer;
    let Origin { provider, model } = origin.as_ref();
    MessageLine {
        model: Some(model.clone()),
        provider: Some(provider.clone()),
        usage: Some(usage_to_disk(*usage, cost)),
        stop_reason: Some(stop.as_str().to_owned()),
        ..line(place, Role::Assistant, content.iter().map(|part| assistant_part_to_disk(part, keep)).collect())
    }
}

/// The line for the result of one call.
pub fn result_line(result: &ToolResult, place: Place, keep: &mut Keep<'_>) -> MessageLine {
    let ToolResult { call_id, content, is_error } = result;
    let content = content.iter().map(|part| part_to_disk(part, keep)).collect();
    let result = Content::ToolResult { tool_use_id: call_id.clone(), content, is_error: *is_error };
    line(place, Role::Tool, vec![result])
}

/// What a line says; `None` where a later version's role said it.
pub fn message(line: MessageLine, find: &mut Find<'_>) -> Option<Message> {
    let MessageLine { id: _, parent_id: _, timestamp: _, role, model, provider, usage, stop_reason, content } = line;
    match role {
        Role::User => Some(Message::User(content.into_iter().filter_map(|content| part(content, find)).collect())),
        Role::Assistant => Some(Message::Assistant(Assistant {
            content: content.into_iter().filter_map(|content| assistant_part(content, find)).collect(),
            origin: Arc::new(Origin { provider: provider.unwrap_or_default(), model: model.unwrap_or_default() }),
            stop: StopReason::from_word(stop_reason.as_deref().unwrap_or("stop")),
            usage: usage.map(usage_from_disk).unwrap_or_default(),
        })),
        Role::Tool => Some(Message::Tool(content.into_iter().filter_map(|content| result(content, find)).collect())),
        Role::Unknown => None,
    }
}

/// The line for a summary of what stands before `first_kept_id`, but for what is pinned.
pub fn summary_line(folded: &Folded, first_kept_id: Option<u64>, pinned_ids: Vec<u64>, place: Place) -> SummaryLine {
    let Folded { opening, text, pinned: _, kept: _, tokens_before, tokens_after: _, origin, usage, cost } = folded;
    let Place { id, parent_id, timestamp } = place;
    let Origin { provider, model } = origin.as_ref();
    SummaryLine {
        id,
        parent_id,
        timestamp,
        text: text.clone(),
        first_kept_id,
        tokens_before: *tokens_before,
        opening: opening.clone(),
        pinned_ids,
        model: Some(model.clone()),
        provider: Some(provider.clone()),
        usage: Some(usage_to_disk(*usage, *cost)),
    }
}

/// Joins results that were written one by one, and puts them in the order of the calls they answer.
pub fn grouped(messages: impl IntoIterator<Item = Message>) -> Vec<Arc<Message>> {
    let mut grouped: Vec<Message> = Vec::new();
    for message in messages {
        match (grouped.last_mut(), message) {
            (Some(Message::Tool(results)), Message::Tool(more)) => results.extend(more),
            (_, message) => grouped.push(message),
        }
    }
    for place in 1..grouped.len() {
        if let Some([Message::Assistant(answer), Message::Tool(results)]) = grouped.get_mut(place - 1..=place) {
            // Results without a call go last; whether they go at all is decided before each request.
            results
                .sort_by_key(|result| answer.calls().position(|call| call.id == result.call_id).unwrap_or(usize::MAX));
        }
    }
    grouped.into_iter().map(Arc::new).collect()
}

fn line(place: Place, role: Role, content: Vec<Content>) -> MessageLine {
    let Place { id, parent_id, timestamp } = place;
    let (model, provider, usage, stop_reason) = (None, None, None, None);
    MessageLine { id, parent_id, timestamp, role, model, provider, usage, stop_reason, content }
}

fn part_to_disk(part: &Part, keep: &mut Keep<'_>) -> Content {
    match part {
        Part::Text(text) => text_to_disk(text, keep),
        Part::Image(Image { media_type, data }) => {
            let blob = keep(data);
            let inline = blob.is_none().then(|| BASE64.encode(data));
            Content::Image { media_type: media_type.clone(), data: inline, blob }
        }
    }
}

fn part(content: Content, find: &mut Find<'_>) -> Option<Part> {
    match content {
        Content::Text { text, blob } => text_from_disk(text, blob, find).map(Part::Text),
        Content::Image { media_type, data, blob } => {
            let data = match data {
                Some(data) => BASE64.decode(data).ok(),
                None => blob.and_then(|hash| find(&hash)),
            };
            Some(data.map_or_else(
                || Part::Text(MISSING.to_owned()),
                |data| Part::Image(Image { media_type, data: data.into() }),
            ))
        }
        Content::Reasoning { .. } | Content::ToolUse { .. } | Content::ToolResult { .. } | Content::Unknown => None,
    }
}

fn assistant_part_to_disk(part: &AssistantPart, keep: &mut Keep<'_>) -> Content {
    match part {
        AssistantPart::Text(text) => text_to_disk(text, keep),
        AssistantPart::Reasoning(Reasoning { text, signature, opaque }) => {
            Content::Reasoning { text: text.clone(), signature: signature.clone(), data: opaque.clone() }
        }
        AssistantPart::ToolUse(ToolCall { id, name, input }) => {
            let (input, raw, problem) = input_to_disk(input);
            Content::ToolUse { id: id.clone(), name: name.clone(), input: Value::Object(input), raw, problem }
        }
    }
}

fn assistant_part(content: Content, find: &mut Find<'_>) -> Option<AssistantPart> {
    match content {
        Content::Text { text, blob } => text_from_disk(text, blob, find).map(AssistantPart::Text),
        Content::Reasoning { text, signature, data } => {
            Some(AssistantPart::Reasoning(Reasoning { text, signature, opaque: data }))
        }
        Content::ToolUse { id, name, input, raw, problem } => {
            let input = input_from_disk(input, raw, problem);
            Some(AssistantPart::ToolUse(ToolCall { id, name, input }))
        }
        Content::Image { .. } | Content::ToolResult { .. } | Content::Unknown => None,
    }
}

fn result(content: Content, find: &mut Find<'_>) -> Option<ToolResult> {
    match content {
        Content::ToolResult { tool_use_id, content, is_error } => {
            let content = content.into_iter().filter_map(|content| part(content, find)).collect();
            Some(ToolResult { call_id: tool_use_id, content, is_error })
        }
        Content::Text { .. }
        | Content::Image { .. }
        | Content::Reasoning { .. }
        | Content::ToolUse { .. }
        | Content::Unknown => None,
    }
}

fn text_to_disk(text: &str, keep: &mut Keep<'_>) -> Content {
    let blob = keep(text.as_bytes());
    Content::Text { text: blob.is_none().then(|| text.to_owned()), blob }
}

fn text_from_disk(text: Option<String>, blob: Option<String>, find: &mut Find<'_>) -> Option<String> {
    let mut found = |hash: String| find(&hash).and_then(|content| String::from_utf8(content).ok());
    text.or_else(|| blob.map(|hash| found(hash).unwrap_or_else(|| MISSING.to_owned())))
}

fn input_to_disk(input: &ToolInput) -> (Object, Option<String>, Option<String>) {
    match input {
        ToolInput::Object(object) if object.values().any(|value| is_deeper(value, MAX_DEPTH)) => {
            (Object::new(), Some(json::canonical(object)), None)
        }
        ToolInput::Object(object) => (object.clone(), None, None),
        ToolInput::Invalid { raw, problem } => (Object::new(), Some(raw.clone()), Some(problem.clone())),
    }
}

fn input_from_disk(input: Value, raw: Option<String>, problem: Option<String>) -> ToolInput {
    match (raw, problem, input) {
        (Some(raw), Some(problem), _) => ToolInput::Invalid { raw, problem },
        (Some(raw), None, _) => ToolInput::parse(&raw),
        (None, _, Value::Object(object)) => ToolInput::Object(object),
        (None, _, input @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_))) => {
            ToolInput::parse(&input.to_string())
        }
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|item| is_deeper(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

pub(super) fn usage_to_disk(usage: Usage, cost_usd: Option<f64>) -> UsageLine {
    let Usage { input, output, cache_read, cache_write, reasoning } = usage;
    UsageLine {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        reasoning_tokens: reasoning,
        cost_usd,
    }
}

fn usage_from_disk(line: UsageLine) -> Usage {
    let UsageLine { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd: _ } =
        line;
    Usage {
        input: input_tokens,
        output: output_tokens,
        cache_read: cache_read_tokens,
        cache_write: cache_write_tokens,
        reasoning: reasoning_tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACE: Place = Place { id: 1, parent_id: None, timestamp: 0 };

    /// Everything stays in the line, or nothing does.
    fn through_disk(inline: bool, written: impl Fn(&mut Keep<'_>) -> MessageLine) -> Message {
        let mut kept = Vec::new();
        let line = written(&mut |content| {
            kept.push(content.to_vec());
            (!inline).then(|| (kept.len() - 1).to_string())
        });
        let line = serde_json::to_string(&line).unwrap();
        assert_eq!(line.contains("blob"), !inline, "{line}");
        let mut find = |hash: &str| kept.get(hash.parse::<usize>().unwrap()).cloned();
        message(serde_json::from_str(&line).unwrap(), &mut find).unwrap()
    }

    #[test]
    fn what_was_said_comes_back() {
        comes_back(true);
        comes_back(false);
    }

    fn comes_back(inline: bool) {
        let image = Part::Image(Image { media_type: "image/png".into(), data: vec![0, 255, 7].into() });
        let parts = vec![Part::Text("a\n\u{0}é".into()), image.clone()];
        assert_eq!(through_disk(inline, |keep| user_line(&parts, PLACE, keep)), Message::User(parts));

        let call = |id: &str, input| AssistantPart::ToolUse(ToolCall { id: id.into(), name: "t".into(), input });
        let deep = format!("{}1{}", r#"{"a":["#.repeat(55), "]}".repeat(55));
        let answer = Assistant {
            content: vec![
                AssistantPart::Reasoning(Reasoning {
                    text: "hm".into(),
                    signature: Some("s".into()),
                    opaque: Some(json!({"x": [1]})),
                }),
                AssistantPart::Text("so".into()),
                call("1", ToolInput::parse(r#"{"z": 1, "a": {"b": []}}"#)),
                call("2", ToolInput::parse("{broken")),
                call("3", ToolInput::parse(&deep)),
            ],
            origin: Arc::new(Origin { provider: "p".into(), model: "m".into() }),
            stop: StopReason::Other("odd".into()),
            usage: Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, reasoning: 5 },
        };
        let written = through_disk(inline, |keep| assistant_line(&answer, Some(0.5), PLACE, keep));
        assert_eq!(written, Message::Assistant(answer));

        let result = ToolResult { call_id: "1".into(), content: vec![image], is_error: true };
        assert_eq!(through_disk(inline, |keep| result_line(&result, PLACE, keep)), Message::Tool(vec![result]));
    }

    #[test]
    fn what_is_kept_elsewhere_is_named() {
        let line = r#"{"role":"user","content":[{"type":"text","blob":"ab"},{"type":"image","media_type":"image/png","blob":"cd"},
            {"type":"image","media_type":"image/png","data":"not base64!"},{"type":"text"},{"type":"new"}]}"#;
        let parts = vec![Part::Text(MISSING.into()); 3];
        let mut find = |_: &str| None;
        assert_eq!(message(serde_json::from_str(line).unwrap(), &mut find), Some(Message::User(parts)));
        // What was a text and is none any more.
        let line = r#"{"role":"assistant","content":[{"type":"text","blob":"ab"}]}"#;
        let read = message(serde_json::from_str(line).unwrap(), &mut |_: &str| Some(vec![0xff]));
        assert!(matches!(read, Some(Message::Assistant(answer)) if answer.text() == MISSING));
    }

    #[test]
    fn results_are_joined_in_the_order_of_the_calls() {
        let calls = ["a", "b"].map(|id| {
            let input = ToolInput::Object(Object::new());
            AssistantPart::ToolUse(ToolCall { id: id.into(), name: "t".into(), input })
        });
        let answer = Message::Assistant(Assistant {
            content: calls.into(),
            origin: Arc::new(Origin { provider: String::new(), model: String::new() }),
            stop: StopReason::ToolUse,
            usage: Usage::default(),
        });
        let result = |id: &str| ToolResult::text(id, "x", false);
        let [x, b, a] = ["x", "b", "a"].map(|id| Message::Tool(vec![result(id)]));
        let joined = grouped([answer.clone(), x, b, a, Message::user("next")]);
        let expected = [answer, Message::Tool(vec![result("a"), result("b"), result("x")]), Message::user("next")];
        assert!(joined.iter().map(Arc::as_ref).eq(&expected));
    }
}
