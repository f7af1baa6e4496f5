//! What the wires take: events into frames, frames into an answer, a long history into a body.
//!
//! `make bench B=wires`. Pure functions on one core; what is written per second is what is divided by the bytes of the
//! stream. Marks: 200 MB/s for frames, 5 ms for the history.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde_json::{Value, json};
use viola::model::ModelInfo;
use viola::model::message::{Assistant, AssistantPart, Message, Origin, Reasoning, ToolCall, ToolInput, ToolResult};
use viola::model::provider::Wire;
use viola::model::provider::compat::Compat;
use viola::model::reply::{Delta, StopReason};
use viola::model::request::{Offer, Options, Request, ToolChoice};
use viola::model::sse::Reader;
use viola::model::usage::Usage;

/// Deltas of an answer; a model's longest answers have about as many.
const DELTAS: usize = 20_000;
/// How much of a stream comes at once, in bytes: a TLS record.
const PIECE: usize = 16 << 10;
/// Messages of the history, a call or its result in most of them.
const MESSAGES: usize = 1_000;
/// Tools on offer.
const TOOLS: usize = 12;

const WIRES: [Wire; 4] = [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini];

fn main() {
    divan::main();
}

/// Bytes into frames.
#[divan::bench(args = WIRES)]
fn frames(bencher: Bencher<'_, '_>, wire: Wire) {
    let bytes = text(wire);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| {
        let mut reader = Reader::default();
        let mut count = 0;
        for piece in bytes.chunks(PIECE) {
            reader.feed(piece);
            while let Some(frame) = reader.frame().unwrap() {
                count += usize::from(!black_box(frame).data.is_empty());
            }
        }
        assert!(count >= DELTAS);
    });
}

/// Bytes into an answer of text.
#[divan::bench(args = WIRES)]
fn answer(bencher: Bencher<'_, '_>, wire: Wire) {
    let bytes = text(wire);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| read(wire, &bytes));
}

/// Bytes into a call with long arguments, in pieces where the wire has them.
#[divan::bench(args = WIRES)]
fn call(bencher: Bencher<'_, '_>, wire: Wire) {
    let bytes = arguments(wire);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| read(wire, &bytes));
}

/// A long history into a body.
#[divan::bench(args = WIRES)]
fn history(bencher: Bencher<'_, '_>, wire: Wire) {
    let (request, info, compat) = (request(), info(), Compat::default());
    let body = wire.encode(&request, &info, &compat).unwrap();
    bencher.counter(BytesCount::of_slice(&body)).bench(|| wire.encode(&request, &info, &compat).unwrap());
}

fn read(wire: Wire, bytes: &[u8]) -> usize {
    let mut reader = Reader::default();
    let mut decoder = wire.decoder(&Compat::default());
    let mut heard = 0;
    let mut deltas = |delta: Delta<'_>| {
        black_box(delta);
        heard += 1;
    };
    for piece in bytes.chunks(PIECE) {
        reader.feed(piece);
        while let Some(frame) = reader.frame().unwrap() {
            decoder.frame(frame.data, &mut deltas).unwrap();
        }
    }
    assert!(!decoder.finish(&mut deltas).unwrap().content.is_empty());
    heard
}

/// The events of a wire, with all the fields its first vendor sends: what comes before, one for each of these pieces,
/// and what comes behind.
fn events(before: &[Value], piece: impl Fn(&str) -> Value, pieces: &[String], behind: &[Value]) -> Vec<u8> {
    let pieces: Vec<Value> = pieces.iter().map(|text| piece(text)).collect();
    let mut bytes = String::new();
    for event in before.iter().chain(&pieces).chain(behind) {
        if let Some(name) = event["type"].as_str() {
            bytes += &format!("event: {name}\n");
        }
        bytes += &format!("data: {event}\n\n");
    }
    bytes.into_bytes()
}

fn words() -> Vec<String> {
    ["word ", "quoted\" ", "line\n", "fürs "].iter().cycle().take(DELTAS).map(|word| (*word).to_owned()).collect()
}

fn text(wire: Wire) -> Vec<u8> {
    match wire {
        Wire::Chat => events(&[], |text| chunk(&json!({"content": text})), &words(), &[finish()]),
        Wire::Anthropic => {
            let piece = |text: &str| block(&json!({"type": "text_delta", "text": text}));
            events(&opening(&json!({"type": "text", "text": ""})), piece, &words(), &closing())
        }
        Wire::Responses => {
            let piece = |text: &str| item("response.output_text.delta", &json!({"content_index": 0, "delta": text}));
            let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
            events(&[added(&message)], piece, &words(), &[completed()])
        }
        Wire::Gemini => events(&[], |text| candidate(&json!({"text": text})), &words(), &[stopped()]),
    }
}

/// A call that writes a file.
fn arguments(wire: Wire) -> Vec<u8> {
    let whole = json!({"path": "a.txt", "content": words().concat()}).to_string();
    let letters: Vec<char> = whole.chars().collect();
    let pieces: Vec<String> = letters.chunks(8).map(|piece| piece.iter().collect()).collect();
    match wire {
        Wire::Chat => {
            let call = |call: Value| chunk(&json!({"tool_calls": [call]}));
            let function = json!({"name": "write_file", "arguments": ""});
            let before = call(json!({"index": 0, "id": "call_1", "type": "function", "function": function}));
            let piece = |text: &str| call(json!({"index": 0, "function": {"arguments": text}}));
            events(&[before], piece, &pieces, &[finish()])
        }
        Wire::Anthropic => {
            let piece = |text: &str| block(&json!({"type": "input_json_delta", "partial_json": text}));
            let call = json!({"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": {}});
            events(&opening(&call), piece, &pieces, &closing())
        }
        Wire::Responses => {
            let piece = |text: &str| item("response.function_call_arguments.delta", &json!({"delta": text}));
            let call = json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "write_file", "arguments": ""});
            events(&[added(&call)], piece, &pieces, &[completed()])
        }
        // Calls come whole.
        Wire::Gemini => {
            let call =
                candidate(&json!({"functionCall": {"name": "write_file", "args": {"content": words().concat()}}}));
            events(&[call], |_| Value::Null, &[], &[stopped()])
        }
    }
}

fn chunk(delta: &Value) -> Value {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null});
    json!({"id": "chatcmpl-9f2b7c41d8", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "m",
        "service_tier": "default", "system_fingerprint": "fp_1", "choices": [choice], "obfuscation": "aB3dE6"})
}

fn finish() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
}

fn item(kind: &str, more: &Value) -> Value {
    let mut event = json!({"type": kind, "sequence_number": 9, "item_id": "msg_68a1", "output_index": 0});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn added(item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": 0, "item": item})
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": []}})
}

fn candidate(part: &Value) -> Value {
    let candidate = json!({"content": {"role": "model", "parts": [part]}, "index": 0});
    json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 19}, "modelVersion": "m", "responseId": "r1"})
}

fn stopped() -> Value {
    json!({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP", "index": 0}]})
}

fn opening(block: &Value) -> [Value; 2] {
    [
        json!({"type": "message_start", "message": {"id": "msg_1", "content": [], "usage": {"input_tokens": 9}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ]
}

fn block(delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": 0, "delta": delta})
}

fn closing() -> [Value; 2] {
    let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
    [json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}), json!({"type": "message_stop"})]
}

/// A task of many calls: reasoning, a word, a call, and some fifty lines of its result.
fn request() -> Request {
    let line = "    let value = handler(request, \"name\").await?; // fast path\n";
    let mut messages = vec![Message::user("Fix it.")];
    while messages.len() < MESSAGES {
        let id = format!("call_{}", messages.len());
        let input = json!({"path": "src/main.rs", "offset": messages.len()});
        let seal = "EqQBCkYIBxgCKkD".repeat(20);
        let content = vec![
            AssistantPart::Reasoning(Reasoning {
                text: "I look there.".repeat(20),
                signature: Some(seal),
                opaque: None,
            }),
            AssistantPart::Text("Next, the handler.".to_owned()),
            AssistantPart::ToolUse(ToolCall {
                id: id.clone(),
                name: "read_file".to_owned(),
                input: ToolInput::Object(input.as_object().unwrap().clone()),
            }),
        ];
        let (origin, usage) = (info().origin, Usage::default());
        messages.push(Message::Assistant(Assistant { content, origin, stop: StopReason::ToolUse, usage }));
        messages.push(Message::Tool(vec![ToolResult::text(id, line.repeat(50), false)]));
    }
    let offer = |number| Offer {
        name: format!("tool_{number}"),
        description: "Does something, and says how it went.".repeat(10),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    };
    Request {
        system: Arc::from("You are measured.\n".repeat(500)),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: (0..TOOLS).map(offer).collect(),
        tool_choice: ToolChoice::Auto,
        options: Options::default(),
    }
}

fn info() -> ModelInfo {
    ModelInfo {
        origin: Arc::new(Origin { provider: "bench".into(), model: "m".into() }),
        label: "m".into(),
        window: None,
        max_output: None,
        price: None,
        reasoning: true,
        images: true,
    }
}
