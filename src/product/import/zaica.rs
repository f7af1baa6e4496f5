//! zaica: a line for each text, batch of calls, and result; no tree, no times, no folder.

use std::sync::Arc;

use serde_json::Value;

use super::draft::{Draft, answer, moment, string, text_parts};
use crate::model::message::{AssistantPart, Origin, ToolCall, ToolInput, ToolResult};
use crate::model::usage::Usage;
use crate::product::session::adopt::Said;

/// Whether zaica wrote a record: its first line says so.
pub fn wrote(record: &Value) -> bool {
    string(record, "type") == "meta" && record.get("id").is_some() && record.get("provider").is_some()
}

/// Reads all records.
pub fn read(records: &[Value], draft: &mut Draft) {
    let mut origin = Arc::new(Origin { provider: String::new(), model: String::new() });
    for record in records {
        let begun = draft.whole.begun;
        match string(record, "type") {
            "meta" => {
                origin = Arc::new(Origin {
                    provider: string(record, "provider").to_owned(),
                    model: string(record, "model").to_owned(),
                });
                draft.whole.imported.id = string(record, "id").to_owned();
                draft.whole.begun = moment(record.get("created_at"));
            }
            "text" => match (string(record, "role"), text_parts(string(record, "content"))) {
                (_, parts) if parts.is_empty() => draft.leave_out("empty text"),
                ("user", parts) => {
                    draft.add(begun, Said::User(parts));
                }
                ("assistant", _) => {
                    let content = vec![AssistantPart::Text(string(record, "content").to_owned())];
                    draft.add(begun, Said::Answer(answer(content, &origin, None, Usage::default()), None));
                }
                // Ours takes its place.
                ("system", _) => draft.leave_out("system prompt"),
                (other, _) => draft.leave_out(other),
            },
            "tool_use" => {
                let calls = record.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
                let content: Vec<_> = calls.map(call).collect();
                if content.is_empty() {
                    draft.leave_out("empty tool_use");
                } else {
                    draft.add(begun, Said::Answer(answer(content, &origin, None, Usage::default()), None));
                }
            }
            "tool_result" => {
                let result = ToolResult::text(string(record, "tool_call_id"), string(record, "content"), false);
                draft.add(begun, Said::Result(result));
            }
            "summary" => {
                let text = string(record, "text").to_owned();
                draft.add(begun, Said::Summary { text, first_kept: None, tokens_before: 0 });
            }
            other => draft.leave_out(other),
        }
    }
}

fn call(call: &Value) -> AssistantPart {
    let function = call.get("function").unwrap_or(&Value::Null);
    let input = ToolInput::parse(string(function, "arguments"));
    AssistantPart::ToolUse(ToolCall {
        id: string(call, "id").to_owned(),
        name: string(function, "name").to_owned(),
        input,
    })
}
