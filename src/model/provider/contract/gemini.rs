//! A script as Gemini streams it.

use serde_json::{Value, json};

use super::script::{Part, Script};
use super::{Dialect, Fault, Frame, Stream, valid};
use crate::model::provider::Wire;
use crate::model::provider::compat::Compat;
use crate::model::reply::StopReason;
use crate::model::usage::Usage;

pub const DIALECT: Dialect = Dialect {
    wire: Wire::Gemini,
    stream,
    whole,
    usages: &[
        ("the prompt's at the start, all at the end", |script| written(script, Place::Both)),
        ("the last chunk", |script| written(script, Place::Last)),
        ("every chunk, as a running total", |script| written(script, Place::Every)),
    ],
    counts_cache_writes: false,
    fault,
    noise,
    seal_keys: &["thoughtSignature"],
    compats,
    check: valid::gemini,
    conversation: "contents",
    fixed: &["tools", "systemInstruction"],
};

/// The second generation and the third, and the older way to describe tools.
fn compats() -> Vec<Compat> {
    let base = Compat::default;
    vec![base(), Compat { gemini_3: Some(true), ..base() }, Compat { json_schema: false, ..base() }]
}

/// Where the usage stands.
#[derive(Clone, Copy)]
enum Place {
    Both,
    Last,
    Every,
}

fn stream(script: &Script) -> Option<Stream> {
    written(script, Place::Both)
}

fn written(script: &Script, place: Place) -> Option<Stream> {
    let finish = finish(&script.stop)?;
    let parts = parts(script)?;
    let mut chunks: Vec<Value> = parts.iter().map(|part| chunk(std::slice::from_ref(part), None)).collect();
    let end = chunks.len();
    chunks.push(chunk(&[json!({"text": ""})], Some(finish)));
    if let Some(usage) = script.usage {
        let running = json!({"promptTokenCount": 1, "totalTokenCount": 1});
        match place {
            Place::Both => chunks[0]["usageMetadata"] = running,
            Place::Last => {}
            Place::Every => chunks.iter_mut().for_each(|chunk| chunk["usageMetadata"] = running.clone()),
        }
        chunks[end]["usageMetadata"] = metadata(usage);
    }
    Some(Stream { frames: chunks.iter().map(Frame::data).collect(), end })
}

/// The parts of the answer; a seal of reasoning stands on the part behind it. `None` for arguments that are no object,
/// of which there are none on this wire.
fn parts(script: &Script) -> Option<Vec<Value>> {
    let mut parts = Vec::new();
    let mut seal = None;
    for part in &script.parts {
        let first = parts.len();
        match part {
            Part::Reasoning { pieces, .. } => {
                parts.extend(pieces.iter().map(|piece| json!({"text": piece, "thought": true})));
            }
            Part::Text(pieces) => parts.extend(pieces.iter().map(|piece| json!({ "text": piece }))),
            Part::Call { id, name, pieces } => {
                let arguments = pieces.concat();
                let mut call = json!({"id": id, "name": name});
                if !arguments.is_empty() {
                    call["args"] = serde_json::from_str::<Value>(&arguments).ok().filter(Value::is_object)?;
                }
                parts.push(json!({ "functionCall": call }));
            }
        }
        if let (Some(seal), Some(part)) = (seal.take(), parts.get_mut(first)) {
            part["thoughtSignature"] = Value::String(seal);
        }
        if let Part::Reasoning { seal: own, .. } = part {
            seal.clone_from(own);
        }
    }
    if let Some(seal) = seal {
        parts.push(json!({"text": "", "thoughtSignature": seal}));
    }
    Some(parts)
}

fn chunk(parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({"candidates": [candidate], "modelVersion": "m", "responseId": "r1"})
}

fn finish(stop: &StopReason) -> Option<&'static str> {
    match stop {
        StopReason::Stop | StopReason::ToolUse => Some("STOP"),
        StopReason::Length => Some("MAX_TOKENS"),
        StopReason::Refusal => Some("SAFETY"),
        StopReason::Window | StopReason::Pause | StopReason::Other(_) => None,
    }
}

fn metadata(usage: Usage) -> Value {
    let Usage { input, output, cache_read, cache_write: _, reasoning } = usage;
    let prompt = input + cache_read;
    json!({"promptTokenCount": prompt, "cachedContentTokenCount": cache_read, "candidatesTokenCount": output - reasoning,
        "thoughtsTokenCount": reasoning, "totalTokenCount": prompt + output})
}

fn whole(script: &Script) -> Vec<Value> {
    let mut whole = chunk(&parts(script).unwrap(), finish(&script.stop));
    if let Some(usage) = script.usage {
        whole["usageMetadata"] = metadata(usage);
    }
    let pieces: Vec<Value> =
        stream(script).unwrap().frames.iter().map(|frame| serde_json::from_str(&frame.data).unwrap()).collect();
    // Without `alt=sse` the stream is one list.
    vec![whole, Value::Array(pieces)]
}

fn fault(fault: Fault) -> Vec<Vec<Frame>> {
    let (code, status, message) = match fault {
        Fault::Overload => (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        Fault::RateLimit => (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        Fault::Context => {
            (400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8).")
        }
        Fault::Auth => (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    };
    let error = json!({"error": {"code": code, "message": message, "status": status}});
    vec![vec![Frame::data(&error)], vec![Frame::data(&json!([error]))]]
}

fn noise() -> Vec<Frame> {
    let chunks = [
        json!({"modelVersion": "m", "responseId": "r1"}),
        json!({"candidates": [{"index": 0, "safetyRatings": []}]}),
        json!({"candidates": [{"index": 0, "content": {"role": "model"}}]}),
        json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"hologram": {"beam": 1}}]}}]}),
    ];
    chunks.iter().map(Frame::data).collect()
}
