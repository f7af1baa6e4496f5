//! A script as chat completions stream it, in every way the servers of this wire know.

use serde_json::{Value, json};

use super::script::{Part, Script};
use super::{Dialect, Fault, Frame, Stream, in_turns, valid};
use crate::model::provider::Wire;
use crate::model::provider::compat::Compat;
use crate::model::reply::StopReason;
use crate::model::usage::Usage;

pub const DIALECT: Dialect = Dialect {
    wire: Wire::Chat,
    stream,
    whole,
    usages: &[
        ("a chunk of its own", |script| written(script, Place::Own)),
        ("a chunk of its own without choices", |script| written(script, Place::Null)),
        ("the last chunk", |script| written(script, Place::Finish)),
        ("the choice", |script| written(script, Place::Choice)),
        ("every chunk, as a running total", |script| written(script, Place::Every)),
        ("x_groq", |script| written(script, Place::Groq)),
    ],
    counts_cache_writes: true,
    fault,
    noise,
    seal_keys: &["signature"],
    compats,
    check: valid::chat,
    conversation: "messages",
    fixed: &["tools"],
};

/// Vendors by name, and a template with every wish.
fn compats() -> Vec<Compat> {
    let vendors = ["own", "openai", "openrouter", "deepseek", "mistral", "qwen", "ollama", "groq"];
    let wishes = Compat {
        developer_role: true,
        tool_result_name: true,
        assistant_after_tool: true,
        null_content: false,
        ..Compat::default()
    };
    vendors.into_iter().map(|vendor| Compat::for_provider(vendor, "")).chain([wishes]).collect()
}

/// Where the usage stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Own,
    Null,
    Finish,
    Choice,
    Every,
    Groq,
}

fn stream(script: &Script) -> Option<Stream> {
    written(script, Place::Own)
}

fn written(script: &Script, place: Place) -> Option<Stream> {
    let finish = finish(&script.stop)?;
    let usage = script.usage.map(usage);
    let mut chunks = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
    chunks.extend(deltas(script).iter().map(|delta| chunk(delta, None)));
    let end = chunks.len();
    chunks.push(chunk(&json!({}), Some(finish)));
    if let Some(usage) = usage {
        let last = &mut chunks[end];
        match place {
            Place::Own => chunks.push(json!({"choices": [], "usage": usage})),
            Place::Null => chunks.push(json!({"choices": null, "usage": usage})),
            Place::Finish => last["usage"] = usage,
            Place::Choice => last["choices"][0]["usage"] = usage,
            Place::Groq => last["x_groq"] = json!({"id": "r", "usage": usage}),
            Place::Every => {
                for (number, chunk) in chunks.iter_mut().enumerate() {
                    chunk["usage"] = json!({"prompt_tokens": 990, "completion_tokens": number});
                }
                chunks[end]["usage"] = usage;
            }
        }
    }
    let mut frames: Vec<Frame> = chunks.iter().map(Frame::data).collect();
    frames.push(Frame { event: None, data: "[DONE]".to_owned() });
    Some(Stream { frames, end })
}

/// What the chunks add, one after the other.
fn deltas(script: &Script) -> Vec<Value> {
    let mut deltas = Vec::new();
    let mut calls = Vec::new();
    for part in &script.parts {
        match part {
            Part::Reasoning { pieces, seal: None } => {
                deltas.extend(pieces.iter().map(|piece| json!({ "reasoning_content": piece })));
            }
            // As OpenRouter does.
            Part::Reasoning { pieces, seal: Some(seal) } => {
                let detail = |name: &str, value: &str| json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, name: value}]});
                deltas.extend(pieces.iter().map(|piece| detail("text", piece)));
                deltas.push(detail("signature", seal));
            }
            Part::Text(pieces) => deltas.extend(pieces.iter().map(|piece| json!({ "content": piece }))),
            Part::Call { id, name, pieces } => {
                let index = calls.len();
                let piece = |call: Value| json!({ "tool_calls": [call] });
                let function = json!({"name": name, "arguments": ""});
                let mut call = vec![piece(json!({"index": index, "id": id, "type": "function", "function": function}))];
                let arguments = pieces.iter().map(|text| json!({"index": index, "function": {"arguments": text}}));
                call.extend(arguments.map(piece));
                calls.push(call);
            }
        }
    }
    deltas.extend(in_turns(calls, script.interleaved));
    deltas
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
}

fn finish(stop: &StopReason) -> Option<&str> {
    Some(match stop {
        StopReason::Stop => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::Length => "length",
        StopReason::Window => "model_context_window_exceeded",
        StopReason::Refusal => "content_filter",
        StopReason::Pause => return None,
        StopReason::Other(word) => word,
    })
}

fn usage(usage: Usage) -> Value {
    let Usage { input, output, cache_read, cache_write, reasoning } = usage;
    let prompt = input + cache_read + cache_write;
    json!({"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cache_read, "cache_write_tokens": cache_write},
        "completion_tokens_details": {"reasoning_tokens": reasoning}})
}

fn whole(script: &Script) -> Vec<Value> {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls = Vec::new();
    for part in &script.parts {
        match part {
            Part::Reasoning { pieces, .. } => message["reasoning_content"] = pieces.concat().into(),
            Part::Text(pieces) => message["content"] = pieces.concat().into(),
            Part::Call { id, name, pieces } => {
                let function = json!({"name": name, "arguments": pieces.concat()});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish(&script.stop)});
    vec![json!({"object": "chat.completion", "choices": [choice], "usage": script.usage.map(usage)})]
}

fn fault(fault: Fault) -> Vec<Vec<Frame>> {
    let (kind, code, message) = match fault {
        Fault::Overload => ("server_error", None, "The server had an error"),
        Fault::RateLimit => ("requests", Some("rate_limit_exceeded"), "Rate limit reached for m"),
        Fault::Context => ("invalid_request_error", Some("context_length_exceeded"), "too long"),
        Fault::Auth => ("invalid_request_error", Some("invalid_api_key"), "Incorrect API key provided"),
    };
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    let chunk = json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}], "error": error});
    vec![vec![Frame::data(&json!({ "error": error }))], vec![Frame::data(&chunk)]]
}

fn noise() -> Vec<Frame> {
    let filtered = json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]});
    let silent = json!({"choices": [{"index": 0, "delta": null, "logprobs": null}]});
    let other = json!({"object": "chat.completion.progress", "progress": 0.5});
    [filtered, silent, other].iter().map(Frame::data).collect()
}
