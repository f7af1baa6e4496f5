//! A script as Anthropic's messages stream it.

use serde_json::{Value, json};

use super::script::{Part, Script};
use super::{Dialect, Fault, Frame, Stream, in_turns, valid};
use crate::model::provider::Wire;
use crate::model::provider::compat::Compat;
use crate::model::reply::StopReason;
use crate::model::usage::Usage;

pub const DIALECT: Dialect = Dialect {
    wire: Wire::Anthropic,
    stream,
    whole,
    usages: &[
        ("the prompt's at the start, the answer's at the end", |script| written(script, Place::Both)),
        ("the end", |script| written(script, Place::End)),
        ("the start, and less at the end", |script| written(script, Place::Start)),
    ],
    counts_cache_writes: true,
    fault,
    noise,
    seal_keys: &["signature"],
    compats,
    check: valid::anthropic,
    conversation: "messages",
    fixed: &["tools", "system"],
};

fn compats() -> Vec<Compat> {
    let base = Compat::default;
    vec![base(), Compat { adaptive: Some(true), ..base() }, Compat { cache_marks: false, ..base() }]
}

/// Where the usage stands.
#[derive(Clone, Copy)]
enum Place {
    Both,
    End,
    Start,
}

fn stream(script: &Script) -> Option<Stream> {
    written(script, Place::Both)
}

fn written(script: &Script, place: Place) -> Option<Stream> {
    let stop = stop(&script.stop)?;
    let usage = script.usage.map(|usage| (prompt(usage), answer(usage)));
    let all = |(prompt, answer): (Value, Value)| {
        let mut all = prompt;
        all.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        all
    };
    let (at_start, at_end) = match (usage, place) {
        (None, _) => (Value::Null, Value::Null),
        (Some((mut prompt, answer)), Place::Both) => {
            // What is told at the start is provisional.
            prompt["output_tokens"] = 1.into();
            (prompt, answer)
        }
        (Some(usage), Place::End) => (json!({"input_tokens": 0, "output_tokens": 0}), all(usage)),
        (Some(usage), Place::Start) => (all(usage), json!({"output_tokens": null, "input_tokens": 0})),
    };
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": at_start});
    let mut events = vec![json!({"type": "message_start", "message": message}), json!({"type": "ping"})];
    events.extend(blocks(script));
    let end = events.len();
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": at_end}));
    events.push(json!({"type": "message_stop"}));
    Some(Stream { frames: events.iter().map(Frame::named).collect(), end })
}

fn blocks(script: &Script) -> Vec<Value> {
    let mut events = Vec::new();
    let mut calls = Vec::new();
    for (index, part) in script.parts.iter().enumerate() {
        let block = |opening: Value, deltas: &mut dyn Iterator<Item = Value>| {
            let mut events = vec![json!({"type": "content_block_start", "index": index, "content_block": opening})];
            events.extend(deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
            events.push(json!({"type": "content_block_stop", "index": index}));
            events
        };
        match part {
            Part::Reasoning { pieces, seal } => {
                let thoughts = pieces.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
                let seal = seal.iter().map(|seal| json!({"type": "signature_delta", "signature": seal}));
                let opening = json!({"type": "thinking", "thinking": "", "signature": ""});
                events.extend(block(opening, &mut thoughts.chain(seal)));
            }
            Part::Text(pieces) => {
                let mut texts = pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece}));
                events.extend(block(json!({"type": "text", "text": ""}), &mut texts));
            }
            Part::Call { id, name, pieces } => {
                let pieces = std::iter::once("").chain(pieces.iter().map(String::as_str));
                let mut pieces = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                let opening = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                calls.push(block(opening, &mut pieces));
            }
        }
    }
    events.extend(in_turns(calls, script.interleaved));
    events
}

fn stop(stop: &StopReason) -> Option<&str> {
    Some(match stop {
        StopReason::Stop => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::Length => "max_tokens",
        StopReason::Window => "model_context_window_exceeded",
        StopReason::Refusal => "refusal",
        StopReason::Pause => "pause_turn",
        StopReason::Other(word) => word,
    })
}

fn prompt(usage: Usage) -> Value {
    json!({"input_tokens": usage.input, "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read})
}

fn answer(usage: Usage) -> Value {
    json!({"output_tokens": usage.output, "output_tokens_details": {"thinking_tokens": usage.reasoning}})
}

fn whole(script: &Script) -> Vec<Value> {
    let block = |part: &Part| match part {
        Part::Reasoning { pieces, seal } => json!({"type": "thinking", "thinking": pieces.concat(), "signature": seal}),
        Part::Text(pieces) => json!({"type": "text", "text": pieces.concat()}),
        Part::Call { id, name, pieces } => {
            let arguments = pieces.concat();
            let input: Value = if arguments.is_empty() { json!({}) } else { serde_json::from_str(&arguments).unwrap() };
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    };
    let content: Vec<Value> = script.parts.iter().map(block).collect();
    let usage = script.usage.map(|usage| {
        let mut all = prompt(usage);
        all.as_object_mut().unwrap().extend(answer(usage).as_object().unwrap().clone());
        all
    });
    vec![json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": stop(&script.stop), "stop_sequence": null, "usage": usage})]
}

fn fault(fault: Fault) -> Vec<Vec<Frame>> {
    let (kind, message) = match fault {
        Fault::Overload => ("overloaded_error", "Overloaded"),
        Fault::RateLimit => ("rate_limit_error", "This request would exceed your organization's rate limit"),
        Fault::Context => ("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
        Fault::Auth => ("authentication_error", "invalid x-api-key"),
    };
    vec![vec![Frame::named(&json!({"type": "error", "error": {"type": kind, "message": message}}))]]
}

fn noise() -> Vec<Frame> {
    let events = [
        json!({"type": "ping"}),
        json!({"type": "content_block_progress", "index": 0, "percent": 5}),
        json!({"type": "content_block_start", "index": 99, "content_block": {"type": "hologram", "beam": 1}}),
        json!({"type": "content_block_delta", "index": 99, "delta": {"type": "hologram_delta", "beam": 2}}),
    ];
    events.iter().map(Frame::named).collect()
}
