//! Pi: a tree of entries like ours. Versions 1 (a list, no ids) to 3 are read.
//!
//! Source: `session-manager.ts` and `messages.ts` of `badlogic/pi-mono`, packages/coding-agent; `types.ts` of packages/ai.

use std::sync::Arc;

use serde_json::Value;

use super::draft::{self, Draft, answer, moment, number, picture, string, thought};
use crate::base::json::Object;
use crate::model::message::{AssistantPart, Origin, Part, ToolCall, ToolInput, ToolResult};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use crate::product::session::adopt::Said;

/// Whether Pi wrote a record: its first line is like ours, but for how it tells the time.
pub fn wrote(record: &Value) -> bool {
    let time = |key| record.get(key).is_some_and(Value::is_string);
    string(record, "type") == "session" && time("timestamp") && time("id") && record.get("created_at").is_none()
}

/// Reads all records.
pub fn read(records: &[Value], draft: &mut Draft) {
    let mut ordinals = Vec::with_capacity(records.len());
    for record in records {
        let next = draft.whole.lines.len();
        ordinals.push(next);
        let id = string(record, "id");
        if string(record, "type") != "session" && record.get("parentId").is_some() {
            draft.follow(record.get("parentId").and_then(Value::as_str));
        }
        entry(record, &ordinals, draft);
        if !id.is_empty() {
            draft.call(id, next);
        }
    }
}

fn entry(record: &Value, ordinals: &[usize], draft: &mut Draft) {
    let at_ms = moment(record.get("timestamp"));
    match string(record, "type") {
        "session" => {
            draft.whole.imported.id = string(record, "id").to_owned();
            draft.whole.cwd = string(record, "cwd").to_owned();
            draft.whole.begun = at_ms;
        }
        "message" => match record.get("message") {
            Some(message) => self::message(message, at_ms, draft),
            None => draft.leave_out("empty message"),
        },
        "compaction" => {
            let named = draft.spot(string(record, "firstKeptEntryId")).map(|spot| spot.next);
            // Version 1 counted lines, the first one among them.
            let counted = || ordinals.get(usize::try_from(record.get("firstKeptEntryIndex")?.as_u64()?).ok()?).copied();
            let first_kept = named.or_else(counted).filter(|place| *place < draft.whole.lines.len());
            let text = string(record, "summary").to_owned();
            draft.add(at_ms, Said::Summary { text, first_kept, tokens_before: number(record, "tokensBefore") });
        }
        "branch_summary" => branch_summary(string(record, "summary"), at_ms, draft),
        "custom_message" => said(record, at_ms, draft),
        "label" => {
            let target = draft.spot(string(record, "targetId")).and_then(|spot| spot.line);
            match target {
                Some(target) => {
                    draft.whole.labels.retain(|(place, _)| *place != target);
                    let label = string(record, "label");
                    if !label.is_empty() {
                        draft.whole.labels.push((target, label.to_owned()));
                    }
                }
                None => draft.leave_out("label of nothing"),
            }
        }
        "session_info" => {
            draft.whole.name = Some(string(record, "name").to_owned()).filter(|name| !name.is_empty());
        }
        "model_change" => {
            let provider = string(record, "provider").to_owned();
            draft.whole.next = Some(Origin { provider, model: string(record, "modelId").to_owned() });
        }
        other => draft.leave_out(other),
    }
}

fn message(message: &Value, at_ms: i64, draft: &mut Draft) {
    let at_ms = match moment(message.get("timestamp")) {
        0 => at_ms,
        own => own,
    };
    match string(message, "role") {
        "user" | "custom" | "hookMessage" => said(message, at_ms, draft),
        "assistant" => assistant(message, at_ms, draft),
        "toolResult" => {
            let result = ToolResult {
                call_id: string(message, "toolCallId").to_owned(),
                content: parts(message.get("content"), draft),
                is_error: message.get("isError").and_then(Value::as_bool).unwrap_or_default(),
            };
            draft.add(at_ms, Said::Result(result));
        }
        "bashExecution" if message.get("excludeFromContext").and_then(Value::as_bool) == Some(true) => {
            draft.leave_out("command that the model was not told of");
        }
        "bashExecution" => {
            let exit = message.get("exitCode").and_then(Value::as_i64);
            let exit = exit.map(|code| format!("\nexit code: {code}")).unwrap_or_default();
            let (command, output) = (string(message, "command"), string(message, "output"));
            let text = format!("I ran a command:\n\n$ {command}\n{}{exit}", output.trim_end());
            draft.add(at_ms, Said::User(vec![Part::Text(text)]));
        }
        "branchSummary" => branch_summary(string(message, "summary"), at_ms, draft),
        "compactionSummary" => {
            let text = string(message, "summary").to_owned();
            let tokens_before = number(message, "tokensBefore");
            draft.add(at_ms, Said::Summary { text, first_kept: None, tokens_before });
        }
        other => draft.leave_out(&format!("message of {other}")),
    }
}

fn branch_summary(summary: &str, at_ms: i64, draft: &mut Draft) {
    if summary.trim().is_empty() {
        return draft.leave_out("empty branch_summary");
    }
    let text = format!("What was tried on another branch before:\n\n<summary>\n{summary}\n</summary>");
    draft.add(at_ms, Said::User(vec![Part::Text(text)]));
}

fn said(record: &Value, at_ms: i64, draft: &mut Draft) {
    let parts = parts(record.get("content"), draft);
    if parts.is_empty() {
        draft.leave_out("empty message");
    } else {
        draft.add(at_ms, Said::User(parts));
    }
}

fn parts(content: Option<&Value>, draft: &mut Draft) -> Vec<Part> {
    draft::parts(content, |item| match string(item, "type") {
        "text" => vec![Part::Text(string(item, "text").to_owned())],
        "image" => draft.seen(picture(string(item, "mimeType"), string(item, "data")), "broken picture"),
        other => draft.unknown(other),
    })
}

fn assistant(message: &Value, at_ms: i64, draft: &mut Draft) {
    let mut content = Vec::new();
    for item in message.get("content").and_then(Value::as_array).into_iter().flatten() {
        match string(item, "type") {
            "text" => content.push(AssistantPart::Text(string(item, "text").to_owned())),
            "thinking" => content.extend(thought(string(item, "thinking"))),
            "toolCall" => content.push(AssistantPart::ToolUse(ToolCall {
                id: string(item, "id").to_owned(),
                name: string(item, "name").to_owned(),
                input: match item.get("arguments") {
                    Some(Value::Object(arguments)) => ToolInput::Object(arguments.clone()),
                    Some(other) => ToolInput::parse(&other.to_string()),
                    None => ToolInput::Object(Object::new()),
                },
            })),
            other => draft.leave_out(&format!("part of type {other}")),
        }
    }
    if content.is_empty() {
        return draft.leave_out("answer without content");
    }
    let stop = match string(message, "stopReason") {
        "" => None,
        "stop" => Some(StopReason::Stop),
        "length" => Some(StopReason::Length),
        "toolUse" => Some(StopReason::ToolUse),
        other => Some(StopReason::Other(other.to_owned())),
    };
    let usage = message.get("usage").unwrap_or(&Value::Null);
    let cost = usage.get("cost").and_then(|cost| cost.get("total")).and_then(Value::as_f64);
    let counted = Usage {
        input: number(usage, "input"),
        output: number(usage, "output"),
        cache_read: number(usage, "cacheRead"),
        cache_write: number(usage, "cacheWrite"),
        reasoning: 0,
    };
    let origin =
        Origin { provider: string(message, "provider").to_owned(), model: string(message, "model").to_owned() };
    draft.whole.next = None;
    draft.add(at_ms, Said::Answer(answer(content, &Arc::new(origin), stop, counted), cost));
}
