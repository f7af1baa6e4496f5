//! The quirks of Google's wire, and bodies as the API wants them.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::model::ModelInfo;
use crate::model::error::ErrorKind;
use crate::model::message::{Assistant, AssistantPart, Image, Message, Origin, Part, Reasoning, ToolResult};
use crate::model::provider::Wire;
use crate::model::provider::compat::Compat;
use crate::model::provider::tests::{Outcome, answer, assistant, call, info, read, request};
use crate::model::reply::StopReason;
use crate::model::request::{Effort, Request, ToolChoice};
use crate::model::usage::Usage;

fn run(chunks: &[Value]) -> Outcome {
    let frames: Vec<String> = chunks.iter().map(Value::to_string).collect();
    read(Wire::Gemini, &Compat::default(), &frames)
}

/// A chunk with these parts.
fn parts(parts: &Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "m"})
}

fn end(word: &str) -> Value {
    json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": word, "index": 0}]})
}

fn content(chunks: &[Value]) -> Vec<AssistantPart> {
    run(chunks).reply.unwrap().content
}

fn thought(text: &str, seal: Option<&str>) -> AssistantPart {
    AssistantPart::Reasoning(Reasoning { text: text.to_owned(), signature: seal.map(str::to_owned), opaque: None })
}

fn kept(parts: &Value) -> AssistantPart {
    opaque(json!({ "parts": parts }))
}

fn opaque(opaque: Value) -> AssistantPart {
    AssistantPart::Reasoning(Reasoning { opaque: Some(opaque), ..Reasoning::default() })
}

// ---------------------------------------------------------------- streams

#[test]
fn many_calls_in_one_chunk_are_counted_once() {
    let write = json!({"functionCall": {"name": "write_file", "args": {"content": "x".repeat(10_000)}}});
    let chunk = parts(&json!(vec![write; 60])).to_string();
    let mut decoder = super::Decoder::default();
    decoder.frame(&chunk, &mut |_| {}).unwrap();
    assert!((chunk.len()..2 * chunk.len()).contains(&decoder.held()), "{} of {}", decoder.held(), chunk.len());
}

#[test]
fn a_whole_stream_is_understood() {
    let outcome = run(&[
        json!({"candidates": [{"content": {"parts": [{"text": "Pl", "thought": true}]}}], "usageMetadata": {"promptTokenCount": 9}}),
        parts(&json!([{"text": "an", "thought": true}])),
        parts(&json!([{"text": "H\"i"}])),
        parts(
            &json!([{"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "SIG"}, {"functionCall": {"name": "f"}}]),
        ),
        json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 5, "thoughtsTokenCount": 3}}),
    ]);
    assert_eq!((outcome.text.as_str(), outcome.reasoning.as_str()), ("H\"i", "Plan"));
    let reply = outcome.reply.unwrap();
    let plan = Reasoning {
        text: "Plan".to_owned(),
        signature: None,
        opaque: Some(json!({"parts": [{"place": 1, "thoughtSignature": "SIG"}]})),
    };
    let calls = vec![call("", "f", r#"{"x":1}"#), call("", "f", "{}")];
    assert_eq!(reply.content, [vec![AssistantPart::Reasoning(plan)], answer("H\"i"), calls].concat());
    assert_eq!(reply.stop, StopReason::ToolUse);
    assert_eq!(reply.usage, Usage { input: 5, output: 8, cache_read: 4, cache_write: 0, reasoning: 3 });
}

#[test]
fn a_seal_stays_with_its_part() {
    let sealed = |parts_of: Value| content(&[parts(&parts_of), end("STOP")]);
    // A call: what the server numbered keeps its number.
    assert_eq!(
        sealed(json!([{"functionCall": {"id": "fc1", "name": "f", "args": null}, "thoughtSignature": "S"}])),
        [kept(&json!([{"place": 0, "id": "fc1", "thoughtSignature": "S"}])), call("fc1", "f", "{}")]
    );
    // Text: never joined with what has no seal, before or behind it.
    assert_eq!(
        sealed(
            json!([{"text": "a"}, {"text": "b"}, {"text": "c", "thoughtSignature": "S"}, {"text": "d"}, {"text": "e"}])
        ),
        [vec![kept(&json!([{"place": 1, "thoughtSignature": "S"}]))], answer("ab"), answer("c"), answer("de")].concat()
    );
    // An empty text, also where a call stands behind it.
    let alone = [vec![kept(&json!([{"place": 1, "text": "", "thoughtSignature": "S"}]))], answer("a")].concat();
    assert_eq!(
        sealed(json!([{"text": "a"}, {"text": "", "thoughtSignature": "S"}, {"functionCall": {"name": "f"}}])),
        [alone.clone(), vec![call("", "f", "{}")]].concat()
    );
    for empty in [json!({"thoughtSignature": "S"}), json!({"functionCall": {}, "thoughtSignature": "S"})] {
        assert_eq!(sealed(json!([{"text": "a"}, empty])), alone);
    }
    // A thought.
    let thoughts = json!([{"text": "x", "thought": true}, {"text": "y", "thought": true, "thoughtSignature": "S"},
        {"text": "z", "thought": true}, {"text": "a"}]);
    assert_eq!(
        sealed(thoughts),
        [vec![thought("x", None), thought("y", Some("S")), thought("z", None)], answer("a")].concat()
    );
}

#[test]
fn ends_are_told_apart() {
    let said = |word: &str| run(&[parts(&json!([{"text": "Hi"}])), end(word)]).reply;
    let silent = |word: &str| run(&[end(word)]).reply;
    for (word, expected) in [
        ("STOP", StopReason::Stop),
        ("MAX_TOKENS", StopReason::Length),
        ("OTHER", StopReason::Other("OTHER".to_owned())),
        ("LANGUAGE", StopReason::Other("LANGUAGE".to_owned())),
        ("TOO_MANY_TOOL_CALLS", StopReason::Other("TOO_MANY_TOOL_CALLS".to_owned())),
    ] {
        assert_eq!(said(word).unwrap().stop, expected, "{word}");
    }
    for word in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_OTHER"] {
        assert_eq!(said(word).unwrap().stop, StopReason::Refusal, "{word}");
        let error = silent(word).unwrap_err();
        assert_eq!((error.kind, error.retryable), (ErrorKind::Refused, false));
        assert_eq!(error.message, format!("the provider's filter stopped the answer: {word}"));
    }
    for word in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"] {
        for error in [said(word).unwrap_err(), silent(word).unwrap_err()] {
            assert_eq!((error.kind, error.retryable), (ErrorKind::Empty, true), "{word}");
            assert!(error.message.contains(word));
        }
    }
    assert_eq!(silent("MISSING_THOUGHT_SIGNATURE").unwrap_err().kind, ErrorKind::Seal);
    assert_eq!(said("FINISH_REASON_UNSPECIFIED").unwrap_err().kind, ErrorKind::Network, "no end at all");
    for broken in [vec![], vec![parts(&json!([{"text": "Hi"}]))], vec![json!({"usageMetadata": {}})]] {
        assert_eq!(run(&broken).reply.unwrap_err().kind, ErrorKind::Network);
    }
    let cut = run(&[parts(&json!([{"functionCall": {"name": "f"}}])), end("MAX_TOKENS")]).reply.unwrap();
    assert_eq!(cut.stop, StopReason::Length, "a call that was cut is not run");
    let room = run(&[end("MAX_TOKENS")]).reply.unwrap_err();
    assert_eq!(room.kind, ErrorKind::Context);
}

#[test]
fn a_blocked_prompt_names_its_reason() {
    let blocked =
        |feedback: Value| run(&[json!({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 4}})]).reply;
    let error = blocked(json!({"blockReason": "SAFETY", "safetyRatings": []})).unwrap_err();
    assert_eq!((error.kind, error.retryable), (ErrorKind::Refused, false));
    assert_eq!(error.message, "the prompt was blocked: SAFETY");
    let told = blocked(json!({"blockReason": "OTHER", "blockReasonMessage": "not\nhere"})).unwrap_err();
    assert_eq!(told.message, "the prompt was blocked: OTHER, not here");
    let rated = json!({"promptFeedback": {"safetyRatings": [{"category": "x"}]}, "candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]});
    assert_eq!(content(&[rated]), answer("Hi"));
}

#[test]
fn usage_is_that_of_the_last_chunk() {
    let usage = |told: &[Value]| {
        let chunks = told.iter().map(|told| json!({"usageMetadata": told}));
        run(&[parts(&json!([{"text": "Hi"}])), end("STOP")].into_iter().chain(chunks).collect::<Vec<_>>())
            .reply
            .unwrap()
            .usage
    };
    assert_eq!(usage(&[]), Usage::default());
    let growing = [
        json!({"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}),
        json!({"promptTokenCount": 10, "candidatesTokenCount": 7, "thoughtsTokenCount": 2, "toolUsePromptTokenCount": 5, "cachedContentTokenCount": 4}),
        json!({"promptTokenCount": 10, "candidatesTokenCount": 8, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}]}),
    ];
    assert_eq!(usage(&growing), Usage { input: 11, output: 10, cache_read: 4, cache_write: 0, reasoning: 2 });
    assert_eq!(usage(&[json!({"promptTokenCount": 1, "cachedContentTokenCount": 9})]).input, 0);
    assert_eq!(usage(&[json!({"promptTokenCount": "many"}), json!({"candidatesTokenCount": 3})]).output, 3);
}

#[test]
fn odd_chunks_are_read_or_passed_over() {
    let missing = [
        json!({"candidates": [{"index": 0}]}),
        json!({"candidates": [{"content": {"role": "model"}, "index": 0}]}),
        json!({"candidates": [{"content": null}]}),
        json!({"candidates": []}),
        json!({}),
        parts(&json!([{"inlineData": {"mimeType": "image/png", "data": "x"}}, {"executableCode": {"code": "1"}}])),
        json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "index": 0}, {"content": {"parts": [{"text": "no"}]}, "index": 1}]}),
        json!({"candidates": [{"content": {"parts": "?"}}]}),
        json!({"candidates": [{"content": {"parts": [{"functionCall": {}}]}}], "usageMetadata": {"promptTokenCount": "9"}}),
        json!("[DONE]"),
        end("STOP"),
    ];
    assert_eq!(content(&missing), answer("Hi"));
    let counted =
        json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": {"promptTokenCount": "9"}});
    assert_eq!(content(&[counted, end("STOP")]), answer("a"), "the answer counts for more than the usage");
    let odd =
        json!([{"functionCall": {"name": "f", "args": "{\"x\":1}"}}, {"functionCall": {"name": "f", "args": [1]}}]);
    assert_eq!(content(&[parts(&odd), end("STOP")]), [call("", "f", "{\"x\":1}"), call("", "f", "[1]")]);
    assert_eq!(
        read(Wire::Gemini, &Compat::default(), &["<html>".to_owned()]).reply.unwrap_err().kind,
        ErrorKind::Network
    );
}

#[test]
fn an_answer_in_one_list_is_read_too() {
    let outcome = run(&[json!([parts(&json!([{"text": "Hi "}])), parts(&json!([{"text": "you"}])), end("STOP")])]);
    assert_eq!((outcome.text.as_str(), outcome.reply.unwrap().content), ("Hi you", answer("Hi you")));
    let error = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow down"}});
    for chunks in
        [vec![error.clone()], vec![json!([error.clone()])], vec![json!([parts(&json!([{"text": "Hi"}])), error])]]
    {
        let error = run(&chunks).reply.unwrap_err();
        assert_eq!((error.kind, error.retryable), (ErrorKind::RateLimit, true));
    }
}

#[test]
fn all_that_grows_is_counted() {
    let long = "x".repeat(1000);
    for part in [
        json!({"text": long}),
        json!({"text": long, "thought": true}),
        json!({"text": "", "thoughtSignature": long}),
        json!({"functionCall": {"name": "f", "args": {"a": long}}}),
    ] {
        let mut decoder = super::Decoder::default();
        decoder.frame(&parts(&json!([part])).to_string(), &mut |_| {}).unwrap();
        assert!(decoder.held() > long.len());
    }
}

// ---------------------------------------------------------------- bodies

fn model(name: &str) -> ModelInfo {
    ModelInfo { origin: Arc::new(Origin { provider: "p".to_owned(), model: name.to_owned() }), ..info() }
}

fn body(request: &Request, info: &ModelInfo) -> Value {
    serde_json::from_slice(&Wire::Gemini.encode(request, info, &Compat::default()).unwrap()).unwrap()
}

/// An answer of this model.
fn by(info: &ModelInfo, content: Vec<AssistantPart>) -> Message {
    let origin = Arc::clone(&info.origin);
    Message::Assistant(Assistant { content, origin, stop: StopReason::Stop, usage: Usage::default() })
}

fn picture() -> Part {
    Part::Image(Image { media_type: "image/png".to_owned(), data: Arc::from(b"\x89PNG".as_slice()) })
}

fn shown(call_id: &str, content: Vec<Part>) -> ToolResult {
    ToolResult { call_id: call_id.to_owned(), content, is_error: false }
}

#[test]
fn a_body_is_as_the_api_wants_it() {
    let history = vec![
        Message::user("one"),
        Message::User(vec![Part::Text("\n".to_owned()), Part::Text("t\0wo".to_owned()), picture()]),
        assistant(vec![thought("Hm", None), call("c1", "no such", "{oops"), call("c2", "f", r#"{"x":1}"#)]),
        Message::Tool(vec![shown("c1", vec![Part::Text("a".to_owned()), picture()]), ToolResult::text("c2", "", true)]),
        Message::user("three"),
        assistant(vec![thought("Hm", None), AssistantPart::Text(" \n".to_owned())]),
        Message::user("four"),
    ];
    let mut asked = request(history);
    asked.tool_choice = ToolChoice::None;
    asked.options.max_tokens = Some(1234);
    asked.options.temperature = Some(0.5);
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}});
    assert_eq!(
        body(&asked, &info()),
        json!({
            "systemInstruction": {"parts": [{"text": "Be good."}]},
            "tools": [{"functionDeclarations": [{"name": "f", "description": "Does f."}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
            "generationConfig": {"maxOutputTokens": 1234, "temperature": 0.5},
            "contents": [
                {"role": "user", "parts": [{"text": "one"}, {"text": "two"}, image]},
                {"role": "model", "parts": [
                    {"functionCall": {"name": "no_such", "args": {}}}, {"functionCall": {"name": "f", "args": {"x": 1}}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "no_such", "response": {"output": "a"}}},
                    {"functionResponse": {"name": "f", "response": {"error": ""}}},
                    image, {"text": "three"}, {"text": "four"}]},
            ],
        })
    );
    let mut bare = request(vec![]);
    bare.system = Arc::from(" ");
    bare.tools = Arc::from([]);
    bare.tool_choice = ToolChoice::None;
    let begin = json!([{"role": "user", "parts": [{"text": "(The beginning of the conversation is left out.)"}]}]);
    assert_eq!(body(&bare, &info()), json!({ "contents": begin }));
    let answered = body(&request(vec![assistant(answer("Hi")), Message::user("q")]), &info());
    assert_eq!(answered["contents"][0], begin[0]);
    assert_eq!(answered["contents"][1]["role"], "model");
}

#[test]
fn a_model_without_eyes_is_told_so() {
    let blind = ModelInfo { images: false, ..model("gemini-3-pro") };
    let history = vec![
        Message::User(vec![picture()]),
        by(&blind, vec![call("c", "f", "{}")]),
        Message::Tool(vec![shown("c", vec![Part::Text("x".to_owned()), picture()])]),
    ];
    let contents = body(&request(history), &blind)["contents"].to_string();
    assert!(!contents.contains("inlineData"));
    assert_eq!(contents.matches("does not see pictures").count(), 2);
}

#[test]
fn the_third_generation_takes_pictures_in_results_and_results_alone() {
    let third = model("gemini-3.8-flash");
    let history = vec![
        Message::user("q"),
        by(&third, vec![kept(&json!([{"place": 0, "id": "fc", "thoughtSignature": "S"}])), call("fc_2", "f", "{}")]),
        Message::Tool(vec![shown("fc_2", vec![picture()])]),
        Message::user("and"),
        Message::user("so?"),
    ];
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}});
    assert_eq!(
        body(&request(history), &third)["contents"],
        json!([
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "fc", "name": "f", "args": {}}, "thoughtSignature": "S"}]},
            {"role": "user", "parts": [{"functionResponse": {
                "id": "fc", "name": "f", "response": {"output": "[see the picture]"}, "parts": [image]}}]},
            {"role": "user", "parts": [{"text": "and"}, {"text": "so?"}]},
        ])
    );
}

#[test]
fn what_was_sealed_goes_back_as_it_came() {
    let third = model("gemini-3-pro-preview");
    let sent = json!([
        {"text": "Hm", "thought": true, "thoughtSignature": "S1"},
        {"text": "Look: "},
        {"text": "here", "thoughtSignature": "S2"},
        {"text": "", "thoughtSignature": "S3"},
        {"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}, "thoughtSignature": "S4"},
        {"functionCall": {"id": "a", "name": "f", "args": {}}},
        {"text": "", "thoughtSignature": "S5"},
    ]);
    let unsealed = json!({"text": "unsealed", "thought": true});
    let mut answer = content(&[parts(&json!([unsealed])), parts(&sent), end("STOP")]);
    crate::model::provider::ids::settle(&mut answer, &request(vec![]), 7);
    let ids: Vec<String> = answer
        .iter()
        .filter_map(|part| match part {
            AssistantPart::ToolUse(call) => Some(call.id.clone()),
            AssistantPart::Reasoning(_) | AssistantPart::Text(_) => None,
        })
        .collect();
    assert_eq!(ids, ["a", "a_2"], "ours differ");
    let results = Message::Tool(ids.iter().map(|id| ToolResult::text(id, "ok", false)).collect());
    let history = |by: Message| request(vec![Message::user("q"), by, results.clone()]);
    let own = body(&history(by(&third, answer.clone())), &third);
    assert_eq!(own["contents"][1]["parts"], sent);
    let response = json!({"functionResponse": {"id": "a", "name": "f", "response": {"output": "ok"}}});
    assert_eq!(own["contents"][2]["parts"], json!([response, response]));
    // To another model nothing of it goes, and the first call says that it has no seal.
    let foreign = body(&history(by(&model("gemini-3.1-pro"), answer)), &third);
    assert_eq!(
        foreign["contents"][1]["parts"],
        json!([{"text": "Look: "}, {"text": "here"},
            {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "skip_thought_signature_validator"},
            {"functionCall": {"name": "f", "args": {}}}])
    );
    assert_eq!(foreign["contents"][2]["parts"][0]["functionResponse"].get("id"), None);
}

#[test]
fn only_the_third_generation_is_told_of_missing_seals() {
    let asked = |info: &ModelInfo, compat: &Compat| {
        let calls = vec![call("c1", "f", "{}"), call("c2", "f", "{}")];
        let results = Message::Tool(vec![ToolResult::text("c1", "", false), ToolResult::text("c2", "", false)]);
        let asked = request(vec![Message::user("q"), by(info, calls), results]);
        String::from_utf8(Wire::Gemini.encode(&asked, info, compat).unwrap()).unwrap().matches("skip_").count()
    };
    assert_eq!(asked(&model("gemini-2.5-pro"), &Compat::default()), 0);
    assert_eq!(asked(&model("gemini-3-flash-preview"), &Compat::default()), 1);
    assert_eq!(asked(&model("mine"), &Compat { gemini_3: Some(true), ..Compat::default() }), 1);
}

#[test]
fn what_another_wire_kept_is_no_seal() {
    let third = model("gemini-3-pro-preview");
    for odd in [
        json!({"extra_content": {"google": {"thought_signature": "S"}}, "text": "x"}),
        json!({"parts": "S"}),
        json!({"parts": [null, {"thoughtSignature": "S"}, {"place": -1, "thoughtSignature": "S"}]}),
        json!({"parts": [{"place": 9, "thoughtSignature": "S"}, {"place": 0, "thoughtSignature": 5}, {"place": 0, "text": ""}]}),
    ] {
        let said = [vec![opaque(odd)], answer("Hi")].concat();
        let asked = request(vec![Message::user("q"), by(&third, said), Message::user("q")]);
        assert_eq!(body(&asked, &third)["contents"][1]["parts"], json!([{"text": "Hi"}]));
    }
}

#[test]
fn tools_are_described_in_full_or_in_the_older_subset() {
    let mut asked = request(vec![Message::user("q")]);
    let parameters =
        json!({"type": "object", "properties": {"n": {"type": ["integer", "null"]}}, "additionalProperties": false});
    asked.tools = asked
        .tools
        .iter()
        .cloned()
        .map(|mut offer| {
            offer.parameters = parameters.clone();
            offer
        })
        .collect();
    let tool = |compat: &Compat| {
        let body = Wire::Gemini.encode(&asked, &info(), compat).unwrap();
        serde_json::from_slice::<Value>(&body).unwrap()["tools"][0]["functionDeclarations"][0].clone()
    };
    let full = tool(&Compat::default());
    assert_eq!((&full["parametersJsonSchema"], full.get("parameters")), (&parameters, None));
    let subset = tool(&Compat { json_schema: false, ..Compat::default() });
    assert_eq!(
        subset["parameters"],
        json!({"type": "object", "properties": {"n": {"nullable": true, "type": "integer"}}})
    );
    assert_eq!(subset.get("parametersJsonSchema"), None);
}

#[test]
fn thinking_is_asked_for_in_the_models_words() {
    let config = |name: &str, effort| {
        let mut asked = request(vec![Message::user("q")]);
        asked.options.effort = effort;
        body(&asked, &model(name))["generationConfig"]["thinkingConfig"].clone()
    };
    assert_eq!(config("gemini-2.5-pro", Some(Effort::Off)), json!({"thinkingBudget": 128}));
    assert_eq!(config("gemini-3-pro", Some(Effort::High)), json!({"includeThoughts": true, "thinkingLevel": "HIGH"}));
    assert_eq!(config("gemini-2.0-flash", Some(Effort::High)), json!(null));
}

/// One exchange of a conversation: a question, calls of own or foreign making, their results.
fn exchange() -> impl Strategy<Value = Vec<Message>> {
    let answer_of = |own: bool, shape: usize| {
        let info = model(if own { "gemini-3-pro-preview" } else { "other" });
        let seal = kept(&json!([{"place": 1, "thoughtSignature": "S"}, {"place": 2, "thoughtSignature": "T"}]));
        let calls = match shape {
            0 => vec![],
            1 => vec![call("c", "f", r#"{"a":"]}"}"#)],
            _ => vec![thought("t", Some("T")), call("c", "f", "{}"), call("d", "g", "{}")],
        };
        let said = [vec![thought("x", None), seal], answer("Hi"), answer("you"), calls].concat();
        by(&info, said)
    };
    (any::<bool>(), 0usize..3, any::<bool>()).prop_map(move |(own, shape, picture_too)| {
        let mut messages = vec![Message::user("q"), answer_of(own, shape)];
        let shown_of = |id: &str| {
            let mut content = vec![Part::Text("done ]}".to_owned())];
            content.extend(picture_too.then(picture));
            shown(id, content)
        };
        match shape {
            0 => {}
            1 => messages.push(Message::Tool(vec![shown_of("c")])),
            _ => messages.push(Message::Tool(vec![shown_of("c"), shown_of("d")])),
        }
        messages
    })
}

proptest! {
    #[test]
    fn a_longer_conversation_begins_with_the_shorter_one(exchanges in prop::collection::vec(exchange(), 1..5), third in any::<bool>()) {
        let info = model(if third { "gemini-3-pro-preview" } else { "gemini-2.5-pro" });
        let messages: Vec<Message> = exchanges.concat();
        let mut before = String::new();
        for count in 1..=messages.len() {
            // A turn of the user may still grow, and so may the list of turns.
            let whole = Wire::Gemini.encode(&request(messages[..count].to_vec()), &info, &Compat::default()).unwrap();
            let whole = String::from_utf8(whole).unwrap();
            prop_assert!(whole.starts_with(before.trim_end_matches([']', '}'])), "{whole}\ndoes not begin with\n{before}");
            before = whole;
        }
    }

    #[test]
    fn text_survives_any_cut(text in "[a-z\"\\\\é🎻\n]{1,30}", size in 1usize..6, sealed in any::<bool>()) {
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters.chunks(size).map(|piece| json!([{"text": piece.iter().collect::<String>()}]));
        let mut chunks: Vec<Value> = pieces.map(|piece| parts(&piece)).collect();
        if sealed {
            chunks.push(parts(&json!([{"text": "", "thoughtSignature": "S"}])));
        }
        chunks.push(end("STOP"));
        let seal = kept(&json!([{"place": 1, "text": "", "thoughtSignature": "S"}]));
        let expected = if sealed { vec![seal] } else { vec![] };
        prop_assert_eq!(content(&chunks), [expected, answer(&text)].concat());
    }
}
