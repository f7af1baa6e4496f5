//! A script as `OpenAI`'s responses stream it.

use serde_json::{Value, json};

use super::script::{Part, Script};
use super::{Dialect, Fault, Frame, Stream, in_turns, valid};
use crate::model::provider::Wire;
use crate::model::provider::compat::{Compat, ReasoningBack};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;

pub const DIALECT: Dialect = Dialect {
    wire: Wire::Responses,
    stream,
    whole,
    usages: &[("the response at the end", stream)],
    counts_cache_writes: true,
    fault,
    noise,
    seal_keys: &["encrypted_content"],
    compats,
    check: valid::responses,
    conversation: "input",
    fixed: &["tools", "instructions"],
};

fn compats() -> Vec<Compat> {
    let readable = Compat { reasoning_back: ReasoningBack::Content, ..Compat::default() };
    vec![Compat::default(), Compat::for_provider("openai", ""), readable]
}

fn stream(script: &Script) -> Option<Stream> {
    let (end, response) = ending(script)?;
    let begun = json!({"id": "resp_1", "object": "response", "status": "in_progress", "model": "m", "output": [], "usage": null, "error": null});
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    let mut calls = Vec::new();
    for (index, part) in script.parts.iter().enumerate() {
        let part_events = item_events(part, index);
        match part {
            Part::Call { .. } => calls.push(part_events),
            Part::Reasoning { .. } | Part::Text(_) => events.extend(part_events),
        }
    }
    events.extend(in_turns(calls, script.interleaved));
    let place = events.len();
    events.push(json!({"type": end, "response": response}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    Some(Stream { frames: events.iter().map(Frame::named).collect(), end: place })
}

/// The word of the last event, and the response in it.
fn ending(script: &Script) -> Option<(&'static str, Value)> {
    let (status, reason) = match &script.stop {
        StopReason::Stop | StopReason::ToolUse => ("completed", None),
        StopReason::Length => ("incomplete", Some("max_output_tokens")),
        StopReason::Refusal => ("incomplete", Some("content_filter")),
        StopReason::Window | StopReason::Pause | StopReason::Other(_) => return None,
    };
    let output: Vec<Value> = script.parts.iter().enumerate().map(|(index, part)| item(part, index, "late-")).collect();
    let details = reason.map(|reason| json!({ "reason": reason }));
    let response = json!({"id": "resp_1", "object": "response", "status": status, "model": "m", "error": null,
        "incomplete_details": details, "output": output, "usage": script.usage.map(usage)});
    Some((if status == "completed" { "response.completed" } else { "response.incomplete" }, response))
}

/// An item as it is when it is whole. The seal differs from event to event; only that of the item's end counts.
fn item(part: &Part, index: usize, before_seal: &str) -> Value {
    match part {
        Part::Reasoning { pieces, seal } => {
            let seal = seal.as_ref().map(|seal| format!("{before_seal}{seal}"));
            json!({"id": format!("rs_{index}"), "type": "reasoning",
                "summary": [{"type": "summary_text", "text": pieces.concat()}], "encrypted_content": seal})
        }
        Part::Text(pieces) => json!({"id": format!("msg_{index}"), "type": "message", "role": "assistant",
            "status": "completed", "content": [{"type": "output_text", "text": pieces.concat(), "annotations": []}]}),
        Part::Call { id, name, pieces } => json!({"id": format!("fc_{index}"), "type": "function_call",
            "status": "completed", "call_id": id, "name": name, "arguments": pieces.concat()}),
    }
}

fn item_events(part: &Part, index: usize) -> Vec<Value> {
    let whole = item(part, index, "");
    let id = whole["id"].clone();
    let event = |kind: &str, more: Value| {
        let mut event = json!({"type": kind, "item_id": id, "output_index": index});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let mut opening = item(part, index, "early-");
    let mut events = Vec::new();
    match part {
        Part::Reasoning { pieces, .. } => {
            opening["summary"] = json!([]);
            let place = |kind: &str, key: &str, value: Value| {
                let mut event = event(kind, json!({"summary_index": 0}));
                event[key] = value;
                event
            };
            let summary = |text: &str| json!({"type": "summary_text", "text": text});
            events.push(place("response.reasoning_summary_part.added", "part", summary("")));
            for piece in pieces {
                events.push(place("response.reasoning_summary_text.delta", "delta", piece.as_str().into()));
            }
            events.push(place("response.reasoning_summary_text.done", "text", pieces.concat().into()));
            events.push(place("response.reasoning_summary_part.done", "part", summary(&pieces.concat())));
        }
        Part::Text(pieces) => {
            (opening["content"], opening["status"]) = (json!([]), "in_progress".into());
            let place = |kind: &str, key: &str, value: Value| {
                let mut event = event(kind, json!({"content_index": 0}));
                event[key] = value;
                event
            };
            let content = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
            events.push(place("response.content_part.added", "part", content("")));
            for piece in pieces {
                events.push(place("response.output_text.delta", "delta", piece.as_str().into()));
            }
            events.push(place("response.output_text.done", "text", pieces.concat().into()));
            events.push(place("response.content_part.done", "part", content(&pieces.concat())));
        }
        Part::Call { pieces, .. } => {
            (opening["arguments"], opening["status"]) = ("".into(), "in_progress".into());
            for piece in pieces {
                events.push(event("response.function_call_arguments.delta", json!({ "delta": piece })));
            }
            events.push(event("response.function_call_arguments.done", json!({"arguments": pieces.concat()})));
        }
    }
    events.insert(0, json!({"type": "response.output_item.added", "output_index": index, "item": opening}));
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": whole}));
    events
}

fn usage(usage: Usage) -> Value {
    let Usage { input, output, cache_read, cache_write, reasoning } = usage;
    let all = input + cache_read + cache_write;
    json!({"input_tokens": all, "output_tokens": output, "total_tokens": all + output,
        "input_tokens_details": {"cached_tokens": cache_read, "cache_write_tokens": cache_write},
        "output_tokens_details": {"reasoning_tokens": reasoning}})
}

fn whole(script: &Script) -> Vec<Value> {
    let (_, mut response) = ending(script).unwrap();
    response["output"] = script.parts.iter().enumerate().map(|(index, part)| item(part, index, "")).collect();
    vec![response]
}

fn fault(fault: Fault) -> Vec<Vec<Frame>> {
    let (kind, code, message) = match fault {
        Fault::Overload => ("server_error", "server_is_overloaded", "Our servers are currently overloaded"),
        Fault::RateLimit => ("tokens", "rate_limit_exceeded", "Rate limit reached for m"),
        Fault::Context => ("invalid_request_error", "context_length_exceeded", "too long"),
        Fault::Auth => ("invalid_request_error", "invalid_api_key", "Incorrect API key provided"),
    };
    let failed = json!({"type": "response.failed", "response": {"id": "resp_1", "object": "response", "status": "failed",
        "output": [], "usage": null, "error": {"code": code, "message": message}}});
    let flat = json!({"type": "error", "code": code, "message": message, "param": null, "sequence_number": 9});
    let nested = json!({"type": "error", "error": {"type": kind, "code": code, "message": message, "param": null}});
    vec![vec![Frame::named(&failed)], vec![Frame::named(&flat)], vec![Frame::named(&nested), Frame::named(&failed)]]
}

fn noise() -> Vec<Frame> {
    let events = [
        json!({"type": "response.queued", "response": {"id": "resp_1", "status": "queued", "output": []}}),
        json!({"type": "response.web_search_call.searching", "item_id": "ws_1", "output_index": 99}),
        json!({"type": "response.output_item.added", "output_index": 98, "item": {"id": "ws_1", "type": "web_search_call", "status": "in_progress"}}),
        json!({"type": "response.hologram.delta", "output_index": 97, "delta": "x"}),
        json!({"type": "keepalive", "sequence_number": 1}),
    ];
    events.iter().map(Frame::named).collect()
}
