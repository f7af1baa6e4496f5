//! The quirks of Anthropic's wire, and bodies as the API wants them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::model::error::ErrorKind;
use crate::model::message::{AssistantPart, Image, Message, Part, Reasoning, ToolResult};
use crate::model::provider::Wire;
use crate::model::provider::compat::Compat;
use crate::model::provider::tests::{Outcome, answer, assistant, call, encoded, info, read, request};
use crate::model::reply::StopReason;
use crate::model::request::{Effort, Request, ToolChoice};
use crate::model::usage::Usage;

fn run(events: &[Value]) -> Outcome {
    let frames: Vec<String> = events.iter().map(Value::to_string).collect();
    read(Wire::Anthropic, &Compat::default(), &frames)
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "m1", "content": [], "usage": {
        "input_tokens": 9, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 1}}})
}

fn open(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn piece(index: u64, kind: &str, field: &str, text: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, field: text}})
}

fn stop(word: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": word}, "usage": {"output_tokens": 48}}),
        json!({"type": "message_stop"}),
    ]
}

fn text(said: &str) -> Vec<Value> {
    vec![open(0, &json!({"type": "text", "text": ""})), piece(0, "text_delta", "text", said)]
}

#[test]
fn all_that_grows_is_counted() {
    let long = "x".repeat(1000);
    let block = |kind: &str| open(0, &json!({"type": kind}));
    for (first, more) in [
        (block("text"), piece(0, "text_delta", "text", &long)),
        (block("thinking"), piece(0, "thinking_delta", "thinking", &long)),
        (block("thinking"), piece(0, "signature_delta", "signature", &long)),
        (block("tool_use"), piece(0, "input_json_delta", "partial_json", &long)),
        (block("text"), open(1, &json!({"type": "redacted_thinking", "data": long}))),
    ] {
        let mut decoder = super::Decoder::default();
        for event in [start(), first, more] {
            decoder.frame(&event.to_string(), &mut |_| {}).unwrap();
        }
        assert!(decoder.held() > long.len());
    }
}

#[test]
fn a_call_of_nothing_is_none() {
    let blank = open(1, &json!({"type": "tool_use", "id": "", "name": "", "input": {}}));
    let events = [vec![start()], text("Hi"), vec![blank], stop("tool_use").to_vec()].concat();
    let reply = run(&events).reply.unwrap();
    assert_eq!((reply.content, reply.stop), (answer("Hi"), StopReason::Stop));
}

#[test]
fn a_whole_stream_is_understood() {
    let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
    let tool = json!({"type": "tool_use", "id": "t1", "name": "f", "input": {}});
    let redacted = json!({"type": "redacted_thinking", "data": "XYZ"});
    let mut events = vec![
        start(),
        json!({"type": "ping"}),
        open(0, &thinking),
        piece(0, "thinking_delta", "thinking", "Pl"),
        piece(0, "thinking_delta", "thinking", "an"),
        piece(0, "signature_delta", "signature", "S"),
        json!({"type": "content_block_stop", "index": 0}),
        open(1, &redacted),
        open(2, &json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        piece(2, "text_delta", "text", "H\"i"),
        open(3, &json!({"type": "server_tool_use", "id": "x"})),
        piece(3, "input_json_delta", "partial_json", "{}"),
        json!({"type": "something_new", "index": 3}),
        piece(2, "citations_delta", "citation", "x"),
        // An index is left out, and no block is ever stopped.
        open(5, &tool),
        piece(5, "input_json_delta", "partial_json", ""),
        piece(5, "input_json_delta", "partial_json", "{\"x\":"),
        piece(5, "input_json_delta", "partial_json", "1}"),
    ];
    events.extend(stop("tool_use"));
    let outcome = run(&events);
    assert_eq!((outcome.text.as_str(), outcome.reasoning.as_str()), ("H\"i", "Plan"));
    let reply = outcome.reply.unwrap();
    let signed = Reasoning { text: "Plan".to_owned(), signature: Some("S".to_owned()), opaque: None };
    let sealed = Reasoning { opaque: Some(redacted.clone()), ..Reasoning::default() };
    assert_eq!(
        reply.content,
        [
            vec![AssistantPart::Reasoning(signed), AssistantPart::Reasoning(sealed)],
            answer("H\"i"),
            vec![call("t1", "f", r#"{"x":1}"#)]
        ]
        .concat()
    );
    assert_eq!(reply.stop, StopReason::ToolUse);
    assert_eq!(reply.usage, Usage { input: 9, output: 48, cache_read: 3, cache_write: 2, reasoning: 0 });
    // And back it goes, verbatim.
    let results = Message::Tool(vec![ToolResult::text("t1", "done", false)]);
    let body = encoded(
        Wire::Anthropic,
        &request(vec![Message::user("q"), assistant(reply.content), results]),
        &Compat::default(),
    );
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type": "thinking", "thinking": "Plan", "signature": "S"}, redacted, {"type": "text", "text": "H\"i"},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}}])
    );
}

#[test]
fn arguments_come_in_many_forms() {
    let of = |input: Value, pieces: &[&str]| {
        let mut events = vec![start(), open(0, &json!({"type": "tool_use", "id": "t", "name": "f", "input": input}))];
        events.extend(pieces.iter().map(|more| piece(0, "input_json_delta", "partial_json", more)));
        events.extend(stop("end_turn"));
        let reply = run(&events).reply.unwrap();
        assert_eq!(reply.stop, StopReason::ToolUse, "whatever the server says");
        reply.content
    };
    assert_eq!(of(json!({}), &[""]), [call("t", "f", "{}")]);
    assert_eq!(of(json!(null), &[]), [call("t", "f", "{}")]);
    assert_eq!(of(json!({"x": 1}), &[]), [call("t", "f", "{\"x\":1}")]);
    assert_eq!(of(json!({}), &["{\"x\"", ":1", "}"]), [call("t", "f", "{\"x\":1}")]);
    assert_eq!(of(json!({}), &["{\"x\""]), [call("t", "f", "{\"x\"")]);
}

#[test]
fn proxies_may_repeat_or_replace_the_message() {
    let again = [vec![start(), start()], text("Hi"), vec![start()], stop("end_turn").to_vec()].concat();
    assert_eq!(run(&again).reply.unwrap().content, answer("Hi"));
    let mut other = start();
    other["message"]["id"] = json!("m2");
    let spliced = [vec![start()], text("Lost"), vec![other], text("Hi"), stop("end_turn").to_vec()].concat();
    assert_eq!(run(&spliced).reply.unwrap().content, answer("Hi"));
    // The index begins anew without a stop; a piece without its start.
    let tool = |id: &str| open(0, &json!({"type": "tool_use", "id": id, "name": "f", "input": {}}));
    let args = |text: &str| piece(0, "input_json_delta", "partial_json", text);
    let anew = [vec![start(), tool("a"), args("{}"), tool("b"), args("{\"x\":1}")], stop("tool_use").to_vec()].concat();
    assert_eq!(run(&anew).reply.unwrap().content, [call("a", "f", "{}"), call("b", "f", "{\"x\":1}")]);
    let headless = [vec![start(), piece(7, "text_delta", "text", "Hi")], stop("end_turn").to_vec()].concat();
    assert_eq!(run(&headless).reply.unwrap().content, answer("Hi"));
}

#[test]
fn usage_fields_may_be_missing_null_or_late() {
    let usage = |begin: Value, end: Value| {
        let begin = json!({"type": "message_start", "message": {"id": "m", "usage": begin}});
        let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": end});
        run(&[vec![begin], text("Hi"), vec![end]].concat()).reply.unwrap().usage
    };
    let of = |input, output, cache_read| Usage { input, output, cache_read, ..Usage::default() };
    assert_eq!(usage(json!(null), json!(null)), Usage::default());
    assert_eq!(
        usage(json!({"input_tokens": null, "output_tokens": 1}), json!({"input_tokens": 7, "output_tokens": 5})),
        of(7, 5, 0)
    );
    assert_eq!(
        usage(
            json!({"input_tokens": 7}),
            json!({"input_tokens": 0, "output_tokens": 5, "cache_read_input_tokens": null})
        ),
        of(7, 5, 0)
    );
    assert_eq!(
        usage(json!({"input_tokens": 7, "cache_read_input_tokens": 3}), json!({"output_tokens": 5})),
        of(7, 5, 3)
    );
}

#[test]
fn ends_are_told_apart() {
    for (word, expected) in [
        ("end_turn", StopReason::Stop),
        ("stop_sequence", StopReason::Stop),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Window),
        ("refusal", StopReason::Refusal),
        ("pause_turn", StopReason::Pause),
    ] {
        let events = [vec![start()], text("Hi"), stop(word).to_vec()].concat();
        assert_eq!(run(&events).reply.unwrap().stop, expected, "{word}");
        assert_eq!(run(&events[..events.len() - 1]).reply.unwrap().stop, expected, "{word} without message_stop");
    }
    let silent = [vec![start()], stop("refusal").to_vec()].concat();
    assert_eq!(run(&silent).reply.unwrap().stop, StopReason::Refusal, "without a word");
    for broken in [vec![], vec![start()], [vec![start()], text("Hi")].concat()] {
        assert_eq!(run(&broken).reply.unwrap_err().kind, ErrorKind::Network);
    }
    for (kind, expected) in [
        ("overloaded_error", ErrorKind::Overload),
        ("api_error", ErrorKind::Overload),
        ("rate_limit_error", ErrorKind::RateLimit),
    ] {
        let error = json!({"type": "error", "error": {"type": kind, "message": "x"}});
        let error = run(&[vec![start()], text("Hi"), vec![error]].concat()).reply.unwrap_err();
        assert_eq!((error.kind, error.retryable), (expected, true));
    }
}

#[test]
fn an_answer_in_one_piece_is_read_too() {
    let whole = json!({"type": "message", "id": "m", "content": [{"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}], "stop_reason": "tool_use", "usage": {"input_tokens": 5}});
    let outcome = run(&[whole]);
    assert_eq!(outcome.text, "Hi");
    assert_eq!(outcome.reply.unwrap().content, [answer("Hi"), vec![call("t", "f", "{\"x\":1}")]].concat());
}

// ---------------------------------------------------------------- bodies

fn roles(body: &Value) -> Vec<&str> {
    body["messages"].as_array().unwrap().iter().map(|turn| turn["role"].as_str().unwrap()).collect()
}

#[test]
fn a_body_is_as_the_api_wants_it() {
    let picture = Part::Image(Image { media_type: "image/png".to_owned(), data: Arc::from(b"\x89PNG".as_slice()) });
    let unsigned = AssistantPart::Reasoning(Reasoning { text: "Hm".to_owned(), ..Reasoning::default() });
    let history = vec![
        Message::user("one"),
        Message::User(vec![Part::Text("\n".to_owned()), Part::Text("two".to_owned())]),
        assistant(vec![unsigned.clone(), call("functions.f:0", "no such", "{oops"), call("c2", "f", "{}")]),
        Message::Tool(vec![
            ToolResult {
                call_id: "functions.f:0".to_owned(),
                content: vec![Part::Text(String::new()), picture],
                is_error: false,
            },
            ToolResult::text("c2", "", true),
        ]),
        Message::user("three"),
        assistant(vec![unsigned, AssistantPart::Text(" \n".to_owned())]),
        Message::user("four"),
    ];
    let mut asked = request(history);
    asked.tool_choice = ToolChoice::None;
    let body = encoded(Wire::Anthropic, &asked, &Compat::default());
    let mark = json!({"type": "ephemeral"});
    let id = body["messages"][1]["content"][0]["id"].clone();
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two", "cache_control": mark}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "no_such", "input": {}},
                {"type": "tool_use", "id": "c2", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": [image]},
                {"type": "tool_result", "tool_use_id": "c2", "is_error": true},
                {"type": "text", "text": "three"}, {"type": "text", "text": "four", "cache_control": mark}]},
        ])
    );
    assert_eq!(body["system"], json!([{"type": "text", "text": "Be good.", "cache_control": mark}]));
    assert_eq!(body["tools"][0]["cache_control"], mark);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["max_tokens"], 8192);
    assert_eq!((body.get("thinking"), body.get("temperature")), (None, None));
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
    let unmarked = Compat { cache_marks: false, ..Compat::default() };
    assert!(!encoded(Wire::Anthropic, &asked, &unmarked).to_string().contains("cache_control"));
}

#[test]
fn a_conversation_begins_with_the_user() {
    let body =
        encoded(Wire::Anthropic, &request(vec![assistant(answer("Hi")), Message::user("q")]), &Compat::default());
    assert_eq!(roles(&body), ["user", "assistant", "user"]);
    let body = encoded(Wire::Anthropic, &request(vec![]), &Compat::default());
    assert_eq!(roles(&body), ["user"]);
}

#[test]
fn thinking_fits_the_model_and_the_limits() {
    let settings = |model: &str, max_tokens: Option<u64>, effort: Effort| {
        let mut asked = request(vec![Message::user("q")]);
        asked.options.max_tokens = max_tokens;
        asked.options.effort = Some(effort);
        asked.options.temperature = Some(1.5);
        let mut of = info();
        of.origin = Arc::new(crate::model::message::Origin { provider: "p".to_owned(), model: model.to_owned() });
        let body = Wire::Anthropic.encode(&asked, &of, &Compat::default()).unwrap();
        serde_json::from_slice::<Value>(&body).unwrap()
    };
    let budget = |max_tokens: u64, effort| {
        let body = settings("claude-sonnet-4-5", Some(max_tokens), effort);
        body["thinking"]["budget_tokens"].as_u64().inspect(|_| assert_eq!(body.get("temperature"), None))
    };
    assert_eq!(budget(64_000, Effort::High), Some(16_384));
    assert_eq!(budget(64_000, Effort::Minimal), Some(1024));
    assert_eq!(budget(8192, Effort::High), Some(6144));
    assert_eq!(budget(1234, Effort::High), Some(1024));
    assert_eq!(budget(1024, Effort::High), None, "no room");
    assert_eq!(budget(64_000, Effort::Off), None);
    assert_eq!(settings("claude-sonnet-4-5", Some(100), Effort::Off)["temperature"], json!(1.0));
    let newer = settings("claude-opus-4-7", None, Effort::High);
    assert_eq!(newer["thinking"]["type"], "adaptive");
    assert_eq!(newer["output_config"], json!({"effort": "high"}));
    assert_eq!(newer.get("temperature"), None);
}

/// A history whose last answer is under way.
fn under_way(answer: Vec<AssistantPart>) -> Request {
    let results = Message::Tool(vec![ToolResult::text("c1", "done", false)]);
    let mut asked = request(vec![Message::user("q"), assistant(answer), results]);
    asked.options.effort = Some(Effort::High);
    asked.options.max_tokens = Some(32_000);
    asked
}

#[test]
fn thinking_goes_back_to_its_own_model_only() {
    let signed = Reasoning { text: String::new(), signature: Some("S".to_owned()), opaque: None };
    let asked = under_way(vec![AssistantPart::Reasoning(signed), call("c1", "f", "{}")]);
    let own = encoded(Wire::Anthropic, &asked, &Compat::default());
    assert_eq!(own["messages"][1]["content"][0], json!({"type": "thinking", "thinking": "", "signature": "S"}));
    assert_eq!(own["thinking"]["type"], "enabled");
    let mut other = info();
    other.origin =
        Arc::new(crate::model::message::Origin { provider: "p".to_owned(), model: "claude-haiku-4-5".to_owned() });
    let body: Value =
        serde_json::from_slice(&Wire::Anthropic.encode(&asked, &other, &Compat::default()).unwrap()).unwrap();
    assert_eq!(body["messages"][1]["content"][0]["type"], "tool_use");
    assert_eq!(body.get("thinking"), None, "an answer begun without thinking cannot go on with it");
    let mut asked = asked;
    asked.messages.push(Arc::new(Message::user("next")));
    let body: Value =
        serde_json::from_slice(&Wire::Anthropic.encode(&asked, &other, &Compat::default()).unwrap()).unwrap();
    assert_eq!(body["thinking"]["type"], "enabled", "the next answer may think");
}
