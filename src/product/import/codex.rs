//! Codex: a list of what went over the wire of OpenAI's Responses, with marks between. An answer is all items up to the
//! next that is not the model's; rollbacks and compactions become a branch and a summary.
//!
//! Sources: `codex-rs/rollout/src/policy.rs` and `codex-rs/protocol/src/models.rs` of `openai/codex`.

use std::sync::Arc;

use serde_json::Value;

use super::draft::{self, Draft, answer, moment, number, picture, string, text_parts, thought};
use crate::base::json::Object;
use crate::model::message::{AssistantPart, Origin, Part, ToolCall, ToolInput, ToolResult};
use crate::model::usage::Usage;
use crate::product::session::adopt::Said;

/// What the program itself puts where people speak: true there and then, and of no use here.
const CONTEXT: [&str; 7] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<personality_spec>",
    "<realtime_conversation>",
];
/// Events that tell again what other records hold, or only mark where something began and ended.
const ECHOES: [&str; 12] = [
    "user_message",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "turn_aborted",
    "context_compacted",
    "patch_apply_end",
    "exec_command_end",
];

/// Whether Codex wrote a record.
pub fn wrote(record: &Value) -> bool {
    string(record, "type") == "session_meta" && record.get("payload").is_some_and(Value::is_object)
}

/// Reads all records.
pub fn read(records: &[Value], draft: &mut Draft) {
    let mut reading = Reading {
        origin: Arc::new(Origin { provider: "openai".to_owned(), model: String::new() }),
        pending: Vec::new(),
        pending_at: 0,
        last_answer: None,
        has_header: false,
    };
    for record in records {
        let at_ms = moment(record.get("timestamp"));
        let payload = record.get("payload").unwrap_or(&Value::Null);
        match string(record, "type") {
            "session_meta" => reading.header(payload, at_ms, draft),
            "turn_context" => {
                if let Some(model) = payload.get("model").and_then(Value::as_str) {
                    reading.flush(draft);
                    reading.origin = Arc::new(Origin { model: model.to_owned(), ..reading.origin.as_ref().clone() });
                }
            }
            "response_item" => reading.item(payload, at_ms, draft),
            "compacted" => {
                reading.flush(draft);
                match string(payload, "message") {
                    // Kept by the provider, for nobody else to read: what came before is still here.
                    "" => draft.leave_out("summary that only the provider can read"),
                    text => {
                        let text = text.to_owned();
                        draft.add(at_ms, Said::Summary { text, first_kept: None, tokens_before: 0 });
                    }
                }
            }
            "event_msg" => reading.event(payload, draft),
            "" => draft.leave_out("record without a type"),
            other => draft.leave_out(other),
        }
    }
    reading.flush(draft);
    if !reading.origin.model.is_empty() {
        draft.whole.next = Some(reading.origin.as_ref().clone());
    }
}

struct Reading {
    origin: Arc<Origin>,
    /// The answer that is being gathered.
    pending: Vec<AssistantPart>,
    pending_at: i64,
    /// The last answer, until somebody says what it took.
    last_answer: Option<usize>,
    has_header: bool,
}

impl Reading {
    fn header(&mut self, payload: &Value, at_ms: i64, draft: &mut Draft) {
        // A fork has that of what it was copied from behind its own.
        if std::mem::replace(&mut self.has_header, true) {
            return draft.leave_out("header of a session it was copied from");
        }
        draft.whole.imported.id = string(payload, "id").to_owned();
        draft.whole.cwd = string(payload, "cwd").to_owned();
        draft.whole.begun = match moment(payload.get("timestamp")) {
            0 => at_ms,
            own => own,
        };
        if let Some(provider) = payload.get("model_provider").and_then(Value::as_str) {
            self.origin = Arc::new(Origin { provider: provider.to_owned(), model: String::new() });
        }
    }

    fn item(&mut self, item: &Value, at_ms: i64, draft: &mut Draft) {
        let kind = string(item, "type");
        match kind {
            "message" => match string(item, "role") {
                "assistant" => {
                    let texts = parts(item.get("content"), draft).into_iter().filter_map(|part| match part {
                        Part::Text(text) => Some(AssistantPart::Text(text)),
                        Part::Image(_) => None,
                    });
                    self.gather(texts, at_ms);
                }
                "user" => {
                    self.flush(draft);
                    let parts = parts(item.get("content"), draft);
                    if parts.is_empty() || parts.iter().all(is_context) {
                        draft.leave_out("context that the program put there");
                    } else {
                        draft.add(at_ms, Said::User(parts));
                    }
                }
                // Ours take their place.
                _ => draft.leave_out("instructions"),
            },
            "reasoning" => {
                let mut texts = thoughts(item.get("content"));
                if texts.is_empty() {
                    texts = thoughts(item.get("summary"));
                }
                match thought(&texts) {
                    Some(thought) => self.gather([thought], at_ms),
                    None => draft.leave_out("reasoning that only the provider can read"),
                }
            }
            "function_call" => {
                let input = ToolInput::parse(string(item, "arguments"));
                self.gather([call(item, string(item, "name"), input)], at_ms);
            }
            "custom_tool_call" => {
                let mut input = Object::new();
                input.insert("input".to_owned(), string(item, "input").into());
                self.gather([call(item, string(item, "name"), ToolInput::Object(input))], at_ms);
            }
            "local_shell_call" => {
                let command = item.get("action").and_then(|action| action.get("command")).cloned();
                let mut input = Object::new();
                input.insert("command".to_owned(), command.unwrap_or_default());
                self.gather([call(item, "local_shell", ToolInput::Object(input))], at_ms);
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.flush(draft);
                let result = result(item, draft);
                draft.add(at_ms, Said::Result(result));
            }
            other => draft.leave_out(other),
        }
    }

    fn event(&mut self, event: &Value, draft: &mut Draft) {
        match string(event, "type") {
            "token_count" => {
                self.flush(draft);
                if let Some(last) = event.get("info").and_then(|info| info.get("last_token_usage")) {
                    self.count(last, draft);
                }
            }
            "thread_rolled_back" => {
                self.flush(draft);
                roll_back(number(event, "num_turns"), draft);
            }
            echo if ECHOES.contains(&echo) => {}
            other => draft.leave_out(&format!("event {other}")),
        }
    }

    fn gather(&mut self, parts: impl IntoIterator<Item = AssistantPart>, at_ms: i64) {
        if self.pending.is_empty() {
            self.pending_at = at_ms;
        }
        self.pending.extend(parts);
    }

    fn flush(&mut self, draft: &mut Draft) {
        let content = std::mem::take(&mut self.pending);
        if !content.is_empty() {
            let said = answer(content, &self.origin, None, Usage::default());
            self.last_answer = Some(draft.add(self.pending_at, Said::Answer(said, None)));
        }
    }

    /// What the last answer took. Here input counts what was read from the cache.
    fn count(&mut self, usage: &Value, draft: &mut Draft) {
        let line = self.last_answer.take().and_then(|place| draft.whole.lines.get_mut(place));
        if let Some(Said::Answer(answer, _)) = line.map(|line| &mut line.said) {
            let cached = number(usage, "cached_input_tokens");
            answer.usage = Usage {
                input: number(usage, "input_tokens").saturating_sub(cached),
                output: number(usage, "output_tokens"),
                cache_read: cached,
                cache_write: 0,
                reasoning: number(usage, "reasoning_output_tokens"),
            };
        }
    }
}

/// Goes back behind the last turns; what was said in them stays, as a branch.
fn roll_back(turns: u64, draft: &mut Draft) {
    for _ in 0..turns {
        loop {
            let Some(line) = draft.at.and_then(|place| draft.whole.lines.get(place)) else { return };
            let is_turn = match &line.said {
                Said::User(_) => true,
                Said::Answer(..) | Said::Result(_) | Said::Summary { .. } => false,
            };
            draft.at = line.parent;
            if is_turn {
                break;
            }
        }
    }
}

fn is_context(part: &Part) -> bool {
    match part {
        Part::Text(text) => CONTEXT.iter().any(|start| text.trim_start().starts_with(start)),
        Part::Image(_) => false,
    }
}

fn call(item: &Value, name: &str, input: ToolInput) -> AssistantPart {
    let id = match string(item, "call_id") {
        "" => string(item, "id"),
        id => id,
    };
    AssistantPart::ToolUse(ToolCall { id: id.to_owned(), name: name.to_owned(), input })
}

/// The output of a call is a text, a list of parts, or (before those) an object with the text.
fn result(item: &Value, draft: &mut Draft) -> ToolResult {
    let output = item.get("output");
    let success = output.and_then(|output| output.get("success")).and_then(Value::as_bool);
    let inner = output.and_then(|output| output.get("content")).or(output);
    let content = parts(inner, draft);
    ToolResult { call_id: string(item, "call_id").to_owned(), content, is_error: success == Some(false) }
}

fn thoughts(items: Option<&Value>) -> String {
    let items = items.and_then(Value::as_array).into_iter().flatten();
    items.map(|item| string(item, "text")).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn parts(content: Option<&Value>, draft: &mut Draft) -> Vec<Part> {
    draft::parts(content, |item| match string(item, "type") {
        "input_text" | "output_text" | "text" => text_parts(string(item, "text")),
        "input_image" => draft.seen(of_url(string(item, "image_url")), "picture that is not in the file"),
        other => draft.unknown(other),
    })
}

/// The picture in an address like `data:image/png;base64,…`.
fn of_url(url: &str) -> Option<Part> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    picture(media_type, data)
}
