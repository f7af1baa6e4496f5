//! What the tests of all wires share; and: however a stream is cut, the answer is the same.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::compat::Compat;
use super::{Deltas, Progress, Wire};
use crate::model::ModelInfo;
use crate::model::error::ModelError;
use crate::model::message::{Assistant, AssistantPart, Message, Origin, ToolCall, ToolInput};
use crate::model::reply::{Delta, Reply, StopReason};
use crate::model::request::{Offer, Options, Request, ToolChoice};
use crate::model::sse::Reader;
use crate::model::usage::Usage;

/// What came of a stream: the answer, and what was handed out on the way.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub reply: Result<Reply, ModelError>,
    pub text: String,
    pub reasoning: String,
}

/// The reply that frames come to; reading ends with the first failure.
pub fn decoded<'a>(
    wire: Wire,
    compat: &Compat,
    frames: impl Iterator<Item = &'a str>,
    deltas: Deltas<'_>,
) -> Result<Reply, ModelError> {
    let mut decoder = wire.decoder(compat);
    for frame in frames {
        if decoder.frame(frame, deltas)? == Progress::Over {
            break;
        }
    }
    decoder.finish(deltas)
}

/// Decodes frames.
pub fn read(wire: Wire, compat: &Compat, frames: &[String]) -> Outcome {
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut deltas = |delta: Delta<'_>| match delta {
        Delta::Text(more) => text.push_str(more),
        Delta::Reasoning(more) => reasoning.push_str(more),
    };
    let reply = decoded(wire, compat, frames.iter().map(String::as_str), &mut deltas);
    Outcome { reply, text, reasoning }
}

/// Decodes bytes that arrive in these pieces.
fn stream<'a>(wire: Wire, pieces: impl Iterator<Item = &'a [u8]>) -> Outcome {
    let mut reader = Reader::default();
    let mut frames = Vec::new();
    let mut drain = |reader: &mut Reader| {
        while let Some(frame) = reader.frame().unwrap() {
            frames.push(frame.data.to_owned());
        }
    };
    for piece in pieces {
        reader.feed(piece);
        drain(&mut reader);
    }
    reader.end();
    drain(&mut reader);
    read(wire, &Compat::default(), &frames)
}

pub fn info() -> ModelInfo {
    ModelInfo {
        origin: Arc::new(Origin { provider: "p".to_owned(), model: "m".to_owned() }),
        label: "m".to_owned(),
        window: None,
        max_output: None,
        price: None,
        reasoning: true,
        images: true,
    }
}

pub fn request(messages: Vec<Message>) -> Request {
    let offer = Offer {
        name: "f".to_owned(),
        description: "Does f.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    Request {
        system: Arc::from("Be good."),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([offer]),
        tool_choice: ToolChoice::Auto,
        options: Options::default(),
    }
}

pub fn assistant(content: Vec<AssistantPart>) -> Message {
    Message::Assistant(Assistant { content, origin: info().origin, stop: StopReason::Stop, usage: Usage::default() })
}

pub fn answer(text: &str) -> Vec<AssistantPart> {
    vec![AssistantPart::Text(text.to_owned())]
}

pub fn call(id: &str, name: &str, arguments: &str) -> AssistantPart {
    let input = ToolInput::parse(arguments);
    AssistantPart::ToolUse(ToolCall { id: id.to_owned(), name: name.to_owned(), input })
}

pub fn encoded(wire: Wire, request: &Request, compat: &Compat) -> Value {
    serde_json::from_slice(&wire.encode(request, &info(), compat).unwrap()).unwrap()
}

/// The recorded streams: name, wire, bytes. The first part of a file's name is its wire.
fn corpus() -> Vec<(String, Wire, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sse");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let wire = match name.split('-').next() {
                Some("chat") => Wire::Chat,
                Some("responses") => Wire::Responses,
                Some("anthropic") => Wire::Anthropic,
                Some("gemini") => Wire::Gemini,
                other => panic!("no wire is named {other:?}"),
            };
            (name, wire, std::fs::read(path).unwrap())
        })
        .collect();
    found.sort_by(|(one, ..), (two, ..)| one.cmp(two));
    found
}

/// Every file begins with a comment that says what comes of it: `: expect stop` with a text, or an error's code.
fn summary(outcome: &Outcome) -> String {
    match &outcome.reply {
        Ok(reply) => {
            let calls = reply.content.iter().filter(|part| matches!(part, AssistantPart::ToolUse(_))).count();
            format!("{} calls={calls} text={:?}", reply.stop.as_str(), outcome.text)
        }
        Err(error) => format!("error {}", error.kind.code()),
    }
}

#[test]
fn recorded_streams_are_understood_however_they_are_cut() {
    let corpus = corpus();
    assert!(corpus.len() >= 10);
    for (name, wire, bytes) in corpus {
        let whole = stream(wire, std::iter::once(bytes.as_slice()));
        let first = String::from_utf8_lossy(&bytes);
        let first =
            first.lines().next().unwrap().trim_start_matches('\u{feff}').trim_start_matches(": expect ").to_owned();
        assert_eq!(summary(&whole), first, "{name}");
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(stream(wire, bytes.chunks(size)), whole, "{name} in pieces of {size}");
        }
    }
}

#[test]
fn a_cut_stream_is_never_an_answer() {
    for (name, wire, bytes) in corpus() {
        let whole = stream(wire, std::iter::once(bytes.as_slice()));
        for end in 0..bytes.len() {
            // Either nothing came of it, or the marker of the end was there already, and what comes of it is the same.
            if let Ok(reply) = stream(wire, std::iter::once(&bytes[..end])).reply {
                let whole = whole.reply.as_ref().map(|reply| &reply.content);
                assert!(whole.is_err() || whole == Ok(&reply.content), "{name} cut at {end}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_answer(file in any::<prop::sample::Index>(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let corpus = corpus();
        let (_, wire, bytes) = &corpus[file.index(corpus.len())];
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
        prop_assert_eq!(stream(*wire, pieces), stream(*wire, std::iter::once(bytes.as_slice())));
    }

    #[test]
    fn damage_upsets_nobody(file in any::<prop::sample::Index>(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let corpus = corpus();
        let (_, wire, bytes) = &corpus[file.index(corpus.len())];
        let mut bytes = bytes.clone();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        stream(*wire, std::iter::once(bytes.as_slice()));
    }

    #[test]
    fn calls_survive_any_cut_of_their_arguments(words in prop::collection::vec("[a-z\"\\\\é🎻{}]{0,5}", 1..4), size in 1usize..9) {
        let arguments = json!({ "words": words }).to_string();
        let letters: Vec<char> = arguments.chars().collect();
        let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
        let expected = vec![call("a", "f", &arguments)];
        let chat = |function: Value| json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": function}]}}]}).to_string();
        let mut frames = vec![chat(json!({"name": "f"}))];
        frames.extend(pieces.iter().map(|piece| chat(json!({ "arguments": piece }))));
        frames.push(json!({"choices": [{"finish_reason": "tool_calls"}]}).to_string());
        prop_assert_eq!(read(Wire::Chat, &Compat::default(), &frames).reply.unwrap().content, expected.clone());
        let responses = |kind: &str, more: Value| {
            let mut event = json!({"type": kind, "output_index": 0});
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event.to_string()
        };
        let begun = json!({"item": {"type": "function_call", "call_id": "a", "name": "f", "arguments": ""}});
        let mut frames = vec![responses("response.output_item.added", begun)];
        frames.extend(pieces.iter().map(|piece| responses("response.function_call_arguments.delta", json!({ "delta": piece }))));
        frames.push(responses("response.completed", json!({"response": {"output": []}})));
        prop_assert_eq!(read(Wire::Responses, &Compat::default(), &frames).reply.unwrap().content, expected.clone());
        let mut frames = vec![json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}}).to_string()];
        frames.extend(pieces.iter().map(|piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}).to_string()));
        frames.push(json!({"type": "message_stop"}).to_string());
        prop_assert_eq!(read(Wire::Anthropic, &Compat::default(), &frames).reply.unwrap().content, expected);
    }
}
