//! Claude Code: records that follow each other by `parentUuid`. One answer may stand on several lines, one for each of its
//! parts, and each result on one of its own; results of calls made together follow different lines.
//!
//! Sources: the descriptions of the format in `microsoft/amplifier` (ai_working/claude_code_logging),
//! `DRMacIver/claude-reliability` (notes) and `jeremedia/claude-code-log-format` (source-docs).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::draft::{self, Draft, answer, moment, number, picture, string, text_parts, thought};
use crate::base::json::Object;
use crate::model::message::{Assistant, AssistantPart, Origin, Part, ToolCall, ToolInput, ToolResult};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use crate::product::session::adopt::Said;

/// The provider behind all of its models.
const PROVIDER: &str = "anthropic";
/// The model of messages that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

/// Whether Claude Code wrote a record.
pub fn wrote(record: &Value) -> bool {
    let is_message = matches!(string(record, "type"), "user" | "assistant" | "system") && record.get("uuid").is_some();
    (is_message && record.get("sessionId").is_some()) || record.get("leafUuid").is_some_and(Value::is_string)
}

/// Reads all records.
pub fn read(records: &[Value], draft: &mut Draft) {
    let mut reading =
        Reading { seen: HashSet::new(), answers: answers(records), tails: HashMap::new(), titles: Vec::new() };
    for record in records {
        reading.record(record, draft);
    }
    let known = |leaf: &str| draft.spot(leaf).is_some();
    let title = reading.titles.iter().rev().find(|(leaf, _)| known(leaf)).map(|(_, title)| title.clone());
    draft.whole.name = draft.whole.name.take().or(title);
}

/// One answer, of all its lines.
struct Gathered {
    parts: Vec<Value>,
    usage: Value,
    stop: String,
    cost: Option<f64>,
}

/// The answers of a file by their ids: parts that stand on several lines belong together.
fn answers(records: &[Value]) -> HashMap<String, Gathered> {
    let mut answers: HashMap<String, Gathered> = HashMap::new();
    let mut seen = HashSet::new();
    for record in records.iter().filter(|record| string(record, "type") == "assistant" && !is_aside(record)) {
        let message = record.get("message").unwrap_or(&Value::Null);
        if !seen.insert(string(record, "uuid")) {
            continue;
        }
        let all = answers.entry(answer_id(record)).or_insert_with(|| Gathered {
            parts: Vec::new(),
            usage: Value::Null,
            stop: String::new(),
            cost: None,
        });
        match message.get("content") {
            Some(Value::Array(parts)) => all.parts.extend(parts.iter().cloned()),
            Some(Value::String(text)) => all.parts.push(serde_json::json!({"type": "text", "text": text})),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
        }
        // Counted up while the answer came: the last line has it all.
        if let Some(usage) = message.get("usage") {
            all.usage = usage.clone();
        }
        if let Some(stop) = message.get("stop_reason").and_then(Value::as_str) {
            all.stop = stop.to_owned();
        }
        all.cost = record.get("costUSD").and_then(Value::as_f64).or(all.cost);
    }
    answers
}

/// What tells one answer from another: the provider's id, or that of the record where there is none.
fn answer_id(record: &Value) -> String {
    let id = record.get("message").map(|message| string(message, "id")).unwrap_or_default();
    if id.is_empty() { string(record, "uuid").to_owned() } else { id.to_owned() }
}

/// Whether a record belongs to another conversation: that of a sub-agent.
fn is_aside(record: &Value) -> bool {
    record.get("isSidechain").and_then(Value::as_bool) == Some(true)
}

struct Reading {
    seen: HashSet<String>,
    answers: HashMap<String, Gathered>,
    /// Of an answer's line and the results behind it: the last of them.
    tails: HashMap<usize, usize>,
    titles: Vec<(String, String)>,
}

impl Reading {
    fn record(&mut self, record: &Value, draft: &mut Draft) {
        match string(record, "type") {
            "summary" => {
                self.titles.push((string(record, "leafUuid").to_owned(), string(record, "summary").to_owned()));
                return;
            }
            "custom-title" => {
                draft.whole.name = Some(string(record, "customTitle").to_owned()).filter(|name| !name.is_empty());
                return;
            }
            "user" | "assistant" | "system" => {}
            "" => return draft.leave_out("record without a type"),
            other => return draft.leave_out(other),
        }
        let uuid = string(record, "uuid");
        if is_aside(record) {
            return draft.leave_out("message of a sub-agent");
        }
        if !uuid.is_empty() && !self.seen.insert(uuid.to_owned()) {
            return draft.leave_out("repeated record");
        }
        if draft.whole.imported.id.is_empty() {
            draft.whole.imported.id = string(record, "sessionId").to_owned();
            draft.whole.begun = moment(record.get("timestamp"));
        }
        if draft.whole.cwd.is_empty() {
            draft.whole.cwd = string(record, "cwd").to_owned();
        }
        let next = draft.whole.lines.len();
        self.follow(record, draft);
        match string(record, "type") {
            "user" => self.user(record, draft),
            "assistant" => self.assistant(record, draft),
            // Where it was compacted; the summary is the next message.
            _ if string(record, "subtype") == "compact_boundary" => {}
            _ => draft.leave_out("system message"),
        }
        draft.call(uuid, next);
    }

    /// Goes on behind what a record follows: behind all results of an answer, whichever it names.
    fn follow(&self, record: &Value, draft: &mut Draft) {
        let parent = record.get("parentUuid").and_then(Value::as_str);
        let parent = parent.or_else(|| record.get("logicalParentUuid").and_then(Value::as_str));
        draft.follow(parent);
        while let Some(tail) = draft.at.and_then(|place| self.tails.get(&place)) {
            draft.at = Some(*tail);
        }
    }

    fn user(&mut self, record: &Value, draft: &mut Draft) {
        let at_ms = moment(record.get("timestamp"));
        let content = record.get("message").and_then(|message| message.get("content"));
        if record.get("isCompactSummary").and_then(Value::as_bool) == Some(true) {
            let text: Vec<_> = parts(content, draft).into_iter().filter_map(text_of).collect();
            draft.add(at_ms, Said::Summary { text: text.join("\n"), first_kept: None, tokens_before: 0 });
            return;
        }
        let results = content.and_then(Value::as_array).into_iter().flatten();
        for item in results.filter(|item| string(item, "type") == "tool_result") {
            let before = draft.at;
            let result = ToolResult {
                call_id: string(item, "tool_use_id").to_owned(),
                content: parts(item.get("content"), draft),
                is_error: item.get("is_error").and_then(Value::as_bool).unwrap_or_default(),
            };
            let place = draft.add(at_ms, Said::Result(result));
            self.tails.extend(before.map(|before| (before, place)));
        }
        let parts = parts(content, draft);
        if !parts.is_empty() {
            draft.add(at_ms, Said::User(parts));
        }
    }

    fn assistant(&mut self, record: &Value, draft: &mut Draft) {
        let message = record.get("message").unwrap_or(&Value::Null);
        if string(message, "model") == SYNTHETIC {
            return draft.leave_out("message that no model wrote");
        }
        // The other lines of an answer were taken together with its first.
        let Some(Gathered { parts, usage, stop, cost }) = self.answers.remove(&answer_id(record)) else { return };
        let content: Vec<_> = parts.iter().filter_map(|part| answer_part(part, draft)).collect();
        if content.is_empty() {
            return draft.leave_out("answer without content");
        }
        let stop = match stop.as_str() {
            "" => None,
            "end_turn" | "stop_sequence" => Some(StopReason::Stop),
            "max_tokens" => Some(StopReason::Length),
            // Ours for the rest are the API's own.
            other => Some(StopReason::from_word(other)),
        };
        let counted = Usage {
            input: number(&usage, "input_tokens"),
            output: number(&usage, "output_tokens"),
            cache_read: number(&usage, "cache_read_input_tokens"),
            cache_write: number(&usage, "cache_creation_input_tokens"),
            reasoning: 0,
        };
        let origin = Arc::new(Origin { provider: PROVIDER.to_owned(), model: string(message, "model").to_owned() });
        let said: Assistant = answer(content, &origin, stop, counted);
        draft.add(moment(record.get("timestamp")), Said::Answer(said, cost));
    }
}

fn text_of(part: Part) -> Option<String> {
    match part {
        Part::Text(text) => Some(text),
        Part::Image(_) => None,
    }
}

/// What a person said, or what is in a result; results themselves are taken elsewhere.
fn parts(content: Option<&Value>, draft: &mut Draft) -> Vec<Part> {
    draft::parts(content, |item| match string(item, "type") {
        "text" => text_parts(string(item, "text")),
        "image" => {
            let source = item.get("source").unwrap_or(&Value::Null);
            draft.seen(picture(string(source, "media_type"), string(source, "data")), "picture that is not in the file")
        }
        "tool_result" => Vec::new(),
        other => draft.unknown(other),
    })
}

fn answer_part(part: &Value, draft: &mut Draft) -> Option<AssistantPart> {
    match string(part, "type") {
        "text" => Some(AssistantPart::Text(string(part, "text").to_owned())),
        "thinking" => thought(string(part, "thinking")),
        "tool_use" => Some(AssistantPart::ToolUse(ToolCall {
            id: string(part, "id").to_owned(),
            name: string(part, "name").to_owned(),
            input: match part.get("input") {
                Some(Value::Object(input)) => ToolInput::Object(input.clone()),
                Some(other) => ToolInput::parse(&other.to_string()),
                None => ToolInput::Object(Object::new()),
            },
        })),
        other => {
            draft.leave_out(&format!("part of type {other}"));
            None
        }
    }
}
