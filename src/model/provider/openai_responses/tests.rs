//! The quirks of the responses wire, one line each, and bodies as a strict server wants them.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::model::error::ErrorKind;
use crate::model::message::{Assistant, AssistantPart, Image, Message, Origin, Part, Reasoning, ToolInput, ToolResult};
use crate::model::provider::compat::{Compat, ReasoningBack};
use crate::model::provider::tests::{Outcome, answer, assistant, call, encoded, info, read, request};
use crate::model::provider::{Progress, REPLY_BYTES, Wire};
use crate::model::reply::StopReason;
use crate::model::request::{Effort, Options, Request, ToolChoice};
use crate::model::usage::Usage;
use crate::model::{Api, ModelInfo};

fn event(kind: &str, more: &Value) -> String {
    let mut whole = json!({"type": format!("response.{kind}"), "sequence_number": 1});
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    whole.to_string()
}

fn added(index: u64, item: &Value) -> String {
    event("output_item.added", &json!({"output_index": index, "item": item}))
}

fn done(index: u64, item: &Value) -> String {
    event("output_item.done", &json!({"output_index": index, "item": item}))
}

fn text(index: u64, piece: &str) -> String {
    event("output_text.delta", &json!({"output_index": index, "item_id": "msg_1", "content_index": 0, "delta": piece}))
}

fn summary(index: u64, part: u64, piece: &str) -> String {
    event("reasoning_summary_text.delta", &json!({"output_index": index, "summary_index": part, "delta": piece}))
}

fn completed() -> String {
    event("completed", &json!({"response": {"status": "completed", "output": []}}))
}

fn message(id: &str, said: &str) -> Value {
    json!({"id": id, "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": said, "annotations": []}]})
}

fn thought(id: &str, seal: &str) -> Value {
    let parts = json!([{"type": "summary_text", "text": "Plan"}]);
    json!({"id": id, "type": "reasoning", "summary": parts, "encrypted_content": seal, "status": null})
}

fn calling(id: &str, call_id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function_call", "status": "completed", "call_id": call_id, "name": "f", "arguments": arguments})
}

fn run(frames: &[String]) -> Outcome {
    read(Wire::Responses, &Compat::default(), frames)
}

fn content(frames: &[String]) -> Vec<AssistantPart> {
    run(&[frames, &[completed()]].concat()).reply.unwrap().content
}

fn input(messages: Vec<Message>) -> Value {
    encoded(Wire::Responses, &request(messages), &Compat::default())["input"].clone()
}

// ---------------------------------------------------------------- answers

#[test]
fn items_are_told_apart_by_their_place_not_their_id() {
    let frames = [
        added(0, &json!({"id": "a", "type": "message", "content": []})),
        added(1, &json!({"id": "b", "type": "function_call", "call_id": "c1", "name": "f", "arguments": ""})),
        added(2, &json!({"id": "c", "type": "function_call", "call_id": "c2", "name": "f", "arguments": ""})),
        event("function_call_arguments.delta", &json!({"item_id": "x", "output_index": 2, "delta": "{\"y\""})),
        text(0, "H"),
        event("function_call_arguments.delta", &json!({"item_id": "y", "output_index": 1, "delta": "{\"x\":1}"})),
        event("function_call_arguments.delta", &json!({"item_id": "z", "output_index": 2, "delta": ":2}"})),
        text(0, "i"),
        done(2, &calling("q", "c2", "")),
        done(0, &message("r", "Hi")),
        done(1, &calling("s", "c1", "")),
    ];
    let expected = [answer("Hi"), vec![call("c1", "f", r#"{"x":1}"#), call("c2", "f", r#"{"y":2}"#)]].concat();
    assert_eq!(content(&frames), expected);
}

#[test]
fn arguments_are_found_wherever_they_are() {
    let begun = |arguments: Value| {
        added(0, &json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": arguments}))
    };
    let delta = |piece: &str| event("function_call_arguments.delta", &json!({"output_index": 0, "delta": piece}));
    let settled =
        |arguments: Value| event("function_call_arguments.done", &json!({"output_index": 0, "arguments": arguments}));
    let one = vec![call("a", "f", r#"{"x":1}"#)];
    for frames in [
        vec![begun(json!("")), delta("{\"x\":"), delta("1}")],
        vec![begun(json!("")), settled(json!(r#"{"x":1}"#))],
        vec![begun(json!("")), settled(json!({"x": 1}))],
        vec![begun(json!("")), done(0, &calling("fc_1", "a", r#"{"x":1}"#))],
        vec![done(0, &calling("fc_1", "a", r#"{"x":1}"#))],
        vec![begun(json!(r#"{"x":1}"#))],
        vec![begun(json!(r#"{"x":1}"#)), delta("{\"x\":"), delta("1}")],
        vec![begun(json!("")), delta("{\"lost"), settled(json!(r#"{"x":1}"#)), done(0, &calling("fc_1", "a", ""))],
        vec![delta("{\"x\":1}"), done(0, &calling("fc_1", "a", ""))],
        vec![begun(json!("")), begun(json!("")), delta("{\"x\":1}")],
    ] {
        assert_eq!(content(&frames), one, "{frames:?}");
    }
    assert_eq!(content(&[begun(json!(""))]), [call("a", "f", "{}")]);
    assert!(matches!(&content(&[begun(json!("")), delta("{\"x")])[0],
        AssistantPart::ToolUse(call) if matches!(call.input, ToolInput::Invalid { .. })));
}

#[test]
fn numbers_may_be_missing_or_all_the_same() {
    let two = [answer("Hi"), vec![call("a", "f", r#"{"x":1}"#), call("b", "f", r#"{"y":2}"#)]].concat();
    let begun = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": ""});
    for index in [json!(null), json!(0)] {
        let numbered = |kind: &str, mut more: Value| {
            more["output_index"] = index.clone();
            event(kind, &more)
        };
        let frames = [
            numbered("output_item.added", json!({"item": {"type": "message"}})),
            numbered("output_text.delta", json!({"delta": "Hi"})),
            numbered("output_item.done", json!({"item": message("m", "Hi")})),
            numbered("output_item.added", json!({"item": begun("a")})),
            numbered("function_call_arguments.delta", json!({"delta": "{\"x\":1}"})),
            numbered("output_item.done", json!({"item": calling("f", "a", "")})),
            numbered("output_item.added", json!({"item": begun("b")})),
            numbered("function_call_arguments.delta", json!({"delta": "{\"y\":"})),
            numbered("function_call_arguments.delta", json!({"delta": "2}"})),
            numbered("output_item.done", json!({"item": calling("f", "b", "")})),
        ];
        assert_eq!(content(&frames), two, "{index}");
    }
    let same = [done(0, &calling("f", "a", "{}")), done(1, &calling("f", "a", r#"{"x":1}"#))];
    assert_eq!(content(&same), [call("a", "f", "{}"), call("a", "f", r#"{"x":1}"#)]);
}

#[test]
fn parts_of_a_summary_are_paragraphs() {
    let item = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "E",
        "summary": [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]});
    let streamed = [
        added(0, &json!({"type": "reasoning", "summary": []})),
        summary(0, 0, "On"),
        summary(0, 0, "e."),
        summary(0, 1, "Two."),
    ];
    for frames in [
        [streamed.to_vec(), vec![done(0, &item)]].concat(),
        vec![done(0, &item)],
        vec![summary(0, 0, "One."), done(0, &item)],
    ] {
        let outcome = run(&[frames, vec![text(1, "Hi"), completed()]].concat());
        assert_eq!((outcome.reasoning.as_str(), outcome.text.as_str()), ("One.\n\nTwo.", "Hi"));
        let AssistantPart::Reasoning(kept) = &outcome.reply.unwrap().content[0] else { panic!("no reasoning") };
        assert_eq!(kept.text, "One.\n\nTwo.");
        assert_eq!(kept.opaque.as_ref().unwrap()["reasoning"], item);
    }
    let raw = event("reasoning_text.delta", &json!({"output_index": 0, "content_index": 0, "delta": "Hm"}));
    let both = run(&[raw.clone(), summary(0, 0, "Hm"), raw, completed()]);
    assert_eq!(both.reasoning, "HmHm", "the same in other words is left out");
}

#[test]
fn messages_of_one_answer_are_paragraphs() {
    let frames = [
        text(0, "Let me "),
        text(0, "see."),
        done(0, &message("msg_1", "Let me see.")),
        text(1, "Done."),
        done(1, &message("msg_2", "Done.")),
    ];
    let outcome = run(&[&frames[..], &[completed()]].concat());
    assert_eq!(outcome.text, "Let me see.\n\nDone.");
    let reply = outcome.reply.unwrap();
    assert_eq!(reply.content, [answer("Let me see.\n\n"), answer("Done.")].concat());
    let said = |text: &str| json!({"type": "message", "role": "assistant", "content": text});
    assert_eq!(input(vec![assistant(reply.content)]), json!([said("Let me see."), said("Done.")]));
}

#[test]
fn what_was_not_streamed_comes_with_the_done_item() {
    for frames in [
        vec![done(0, &message("m", "Hi there"))],
        vec![text(0, "Hi"), done(0, &message("m", "Hi there"))],
        vec![text(0, "Hi there"), done(0, &message("m", ""))],
        vec![event("completed", &json!({"response": {"output": [message("m", "Hi there")]}}))],
        vec![text(0, "Hi"), event("completed", &json!({"response": {"output": [message("m", "Hi there")]}}))],
        vec![
            json!({"object": "response", "status": "completed", "error": null, "output": [message("m", "Hi there")]})
                .to_string(),
        ],
        vec![json!({"output": [{"type": "message", "content": "Hi there"}]}).to_string()],
    ] {
        let outcome = run(&[frames.clone(), vec![completed()]].concat());
        assert_eq!(outcome.text, "Hi there", "{frames:?}");
        assert_eq!(outcome.reply.unwrap().content, answer("Hi there"), "{frames:?}");
    }
    // What differs from what was shown is not shown again.
    assert_eq!(content(&[text(0, "Hi"), done(0, &message("m", "Ho"))]), answer("Hi"));
}

#[test]
fn what_is_said_twice_counts_once() {
    let input = r#"{"x":1}"#;
    let begun = added(1, &calling("fc_1", "a", ""));
    let piece = event("function_call_arguments.delta", &json!({"output_index": 1, "delta": input}));
    let (said, called) = (done(0, &message("msg_1", "Hi")), done(1, &calling("fc_1", "a", input)));
    let one = [answer("Hi"), vec![call("a", "f", input)]].concat();
    for frames in [
        vec![said.clone(), called.clone(), called.clone()],
        vec![said.clone(), called.clone(), done(1, &calling("fc_2", "a", input))],
        vec![said.clone(), begun, piece, done(1, &calling("fc_1", "a", "")), called.clone()],
        vec![text(0, "Hi"), said.clone(), said.clone(), called.clone(), said.clone(), called.clone()],
    ] {
        let outcome = run(&[frames.clone(), vec![completed()]].concat());
        assert_eq!(outcome.text, "Hi");
        assert_eq!(outcome.reply.unwrap().content, one, "{frames:?}");
    }
    let rs = done(0, &thought("rs_1", "E"));
    assert_eq!(content(&[rs.clone(), rs.clone()]).len(), 1);
    // What differs is another one.
    let other = done(1, &calling("fc_1", "a", r#"{"x":2}"#));
    assert_eq!(content(&[called.clone(), other]).len(), 2);
    assert_eq!(content(&[called, done(1, &calling("fc_2", "b", input))]).len(), 2);
}

#[test]
fn what_only_the_end_tells_is_not_lost() {
    let input = r#"{"x":1}"#;
    let end = |output: Value| event("completed", &json!({"response": {"output": output}}));
    let (said, called) = (message("msg_1", "Hi"), calling("fc_1", "a", input));
    let both = [answer("Hi"), vec![call("a", "f", input)]].concat();
    for frames in [
        vec![text(0, "Hi"), done(0, &said), end(json!([said, called]))],
        vec![text(0, "Hi"), end(json!([said, called]))],
        vec![done(1, &called), end(json!([said, called]))],
        // All there already, though elsewhere or called otherwise.
        vec![text(1, "Hi"), done(1, &said), done(2, &called), end(json!([said, called]))],
        vec![done(3, &said), done(7, &calling("fc_1", "a", input)), end(json!([said, calling("fc_1", "z", input)]))],
        vec![
            event("output_text.delta", &json!({"delta": "Hi"})),
            done(1, &called),
            end(json!([message("msg_1", "H"), message("msg_2", "i"), called])),
        ],
    ] {
        let outcome = run(&frames);
        assert_eq!(outcome.text, "Hi", "{frames:?}");
        assert_eq!(outcome.reply.unwrap().content, both, "{frames:?}");
    }
}

#[test]
fn a_refusal_is_said_and_told() {
    let refused = json!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
    let delta = event("refusal.delta", &json!({"output_index": 0, "delta": "No."}));
    for frames in [vec![delta], vec![done(0, &refused)]] {
        let outcome = run(&[frames, vec![completed()]].concat());
        assert_eq!((outcome.text.as_str(), outcome.reply.unwrap().stop), ("No.", StopReason::Refusal));
    }
}

#[test]
fn ends_are_translated() {
    let end = |kind: &str, response: Value| run(&[text(0, "Hi"), event(kind, &json!({ "response": response }))]).reply;
    let cut = |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}});
    for (kind, response, stop) in [
        ("completed", json!({"status": "completed"}), StopReason::Stop),
        ("completed", json!(null), StopReason::Stop),
        ("incomplete", cut("max_output_tokens"), StopReason::Length),
        ("completed", cut("max_output_tokens"), StopReason::Length),
        ("incomplete", cut("content_filter"), StopReason::Refusal),
        ("incomplete", cut("odd"), StopReason::Other("odd".to_owned())),
        ("incomplete", json!({"incomplete_details": null}), StopReason::Other("incomplete".to_owned())),
    ] {
        assert_eq!(end(kind, response.clone()).unwrap().stop, stop, "{kind} {response}");
    }
    for (kind, response, expected, retryable) in [
        ("failed", json!({"error": {"code": "server_error", "message": "x"}}), ErrorKind::Overload, true),
        ("failed", json!({"error": {"code": "rate_limit_exceeded", "message": "x"}}), ErrorKind::RateLimit, true),
        ("failed", json!({"error": {"code": "insufficient_quota", "message": "x"}}), ErrorKind::Auth, false),
        ("failed", json!({"error": {"code": "context_length_exceeded", "message": "x"}}), ErrorKind::Context, false),
        ("failed", json!({"error": {"code": "invalid_prompt", "message": "x"}}), ErrorKind::InvalidRequest, false),
        ("failed", json!({"error": {"code": "image_too_small", "message": "x"}}), ErrorKind::Picture, false),
        ("failed", json!({"error": null}), ErrorKind::Network, true),
        ("completed", json!({"status": "failed"}), ErrorKind::Network, true),
        ("completed", json!({"status": "cancelled"}), ErrorKind::Network, true),
        ("cancelled", json!({}), ErrorKind::Network, true),
    ] {
        let error = end(kind, response.clone()).unwrap_err();
        assert_eq!((error.kind, error.retryable), (expected, retryable), "{kind} {response}");
    }
    let nothing = event("incomplete", &json!({ "response": cut("max_output_tokens") }));
    assert_eq!(run(&[nothing]).reply.unwrap_err().kind, ErrorKind::Context);
}

#[test]
fn errors_inside_the_stream_are_reported() {
    for (error, kind, retryable) in [
        (
            json!({"type": "error", "code": "server_is_overloaded", "message": "busy", "param": null}),
            ErrorKind::Overload,
            true,
        ),
        (json!({"type": "error", "code": null, "message": "Our servers are overloaded"}), ErrorKind::Overload, true),
        (
            json!({"type": "error", "error": {"type": "x", "code": "insufficient_quota", "message": "x"}}),
            ErrorKind::Auth,
            false,
        ),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "x"}}),
            ErrorKind::Context,
            false,
        ),
        (json!({"type": "error", "code": "invalid_encrypted_content", "message": "x"}), ErrorKind::Seal, false),
        (json!({"error": {"message": "x", "code": 429}}), ErrorKind::RateLimit, true),
        (
            json!({"type": "response.odd", "error": {"message": "x", "code": "bad_request"}}),
            ErrorKind::InvalidRequest,
            false,
        ),
    ] {
        for frames in [vec![error.to_string()], vec![text(0, "Hi"), error.to_string(), completed()]] {
            let failure = run(&frames).reply.unwrap_err();
            assert_eq!((failure.kind, failure.retryable), (kind, retryable), "{error}");
        }
    }
}

#[test]
fn a_stream_without_its_end_is_no_answer() {
    let started = event("created", &json!({"response": {"status": "in_progress", "output": []}}));
    let running = json!({"object": "response", "status": "in_progress", "output": []}).to_string();
    for frames in [vec![], vec![started], vec![text(0, "Hi")], vec![text(0, "Hi"), "[DONE]".to_owned()], vec![running]]
    {
        let error = run(&frames).reply.unwrap_err();
        assert_eq!((error.kind, error.retryable), (ErrorKind::Network, true), "{frames:?}");
    }
    assert_eq!(run(&[text(0, "Hi"), "{oops".to_owned()]).reply.unwrap_err().kind, ErrorKind::Network);
    assert!(run(&[text(0, "Hi"), completed(), "never read".to_owned()]).reply.is_ok());
}

#[test]
fn odd_events_are_passed_over() {
    for odd in [
        json!({"type": "response.output_text.annotation.added", "output_index": 0, "annotation": {}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": {"odd": 1}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": null}),
        json!({"type": "response.output_item.added", "output_index": 7}),
        json!({"type": "response.output_item.done", "output_index": 7, "item": null}),
        json!({"type": "keepalive"}),
        json!({"type": 3}),
        json!({}),
        json!([]),
    ] {
        let outcome = run(&[odd.to_string(), text(0, "H"), odd.to_string(), text(0, "i"), completed()]);
        assert_eq!((outcome.text.as_str(), outcome.reply.unwrap().content), ("Hi", answer("Hi")), "{odd}");
    }
}

#[test]
fn usage_is_normalised() {
    let usage = |usage: Value| {
        let response = json!({"response": {"usage": usage}});
        run(&[text(0, "Hi"), event("completed", &response)]).reply.unwrap().usage
    };
    let told = json!({"input_tokens": 1300, "input_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 100},
        "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 7}, "total_tokens": 1350});
    assert_eq!(usage(told), Usage { input: 900, output: 50, cache_read: 300, cache_write: 100, reasoning: 7 });
    let odd = json!({"input_tokens": "10", "input_tokens_details": null, "output_tokens": 2.0});
    assert_eq!(usage(odd), Usage { input: 10, output: 2, ..Usage::default() });
    assert_eq!(usage(json!(null)), Usage::default());
}

#[test]
fn an_answer_without_end_is_left() {
    let long = text(0, &"x".repeat(REPLY_BYTES / 4));
    let thoughts = done(0, &thought("rs_1", &"x".repeat(REPLY_BYTES / 4)));
    let items = event("completed", &json!({"response": {"output": vec![json!({}); 200_000]}}));
    for frames in [vec![long; 5], vec![thoughts; 5], vec![items]] {
        let error = run(&frames).reply.unwrap_err();
        assert!(!error.retryable && error.message.contains("longer than any"), "{error}");
    }
    let mut decoder = super::Decoder::default();
    for index in 0..3 {
        let before = decoder.held();
        assert_eq!(decoder.frame(&added(index, &json!({"type": "odd"})), &mut |_| {}), Ok(Progress::Begun));
        assert!(decoder.held() > before + 1000);
    }
}

// ---------------------------------------------------------------- what goes back

/// The items that are sent of an answer made of these frames.
fn back(frames: &[String]) -> Value {
    input(vec![assistant(content(frames))])
}

#[test]
fn reasoning_goes_back_with_the_item_it_led_to() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Plan"}], "encrypted_content": "E1"});
    let frames = [
        added(0, &thought("rs_1", "E0")),
        done(0, &thought("rs_1", "E1")),
        done(1, &calling("fc_1", "a", r#"{"x":1}"#)),
        done(2, &calling("fc_2", "b", "{}")),
        event("completed", &json!({"response": {"output": [thought("rs_1", "E2")]}})),
    ];
    let expected = json!([
        reasoning,
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{\"x\":1}"},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
    ]);
    assert_eq!(back(&frames), expected);
    let mut commented = message("msg_1", "Hi");
    commented["phase"] = json!("commentary");
    let said = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
        "content": [{"type": "output_text", "text": "Hi", "annotations": []}]});
    assert_eq!(back(&[done(0, &thought("rs_1", "E1")), done(1, &commented)]), json!([reasoning, said]));
    // Two in a row lead to the same item.
    let two =
        back(&[done(0, &thought("rs_0", "E0")), done(1, &thought("rs_1", "E1")), done(2, &message("msg_1", "Hi"))]);
    assert_eq!((two[0]["id"].as_str(), &two[1], two[2]["id"].as_str()), (Some("rs_0"), &reasoning, Some("msg_1")));
}

#[test]
fn a_phase_goes_back_without_reasoning_too() {
    let mut last = message("msg_1", "Hi");
    last["phase"] = json!("final_answer");
    let parts = content(&[done(0, &last)]);
    assert_eq!(parts.len(), 2);
    let said = json!([{"type": "message", "role": "assistant", "content": "Hi", "phase": "final_answer"}]);
    assert_eq!(input(vec![assistant(parts.clone())]), said);
    assert_eq!(content(&[done(0, &message("msg_1", "Hi"))]), answer("Hi"), "without a phase nothing is kept");
    let origin = Arc::new(Origin { provider: "p".to_owned(), model: "other".to_owned() });
    let foreign = Assistant { content: parts, origin, stop: StopReason::Stop, usage: Usage::default() };
    assert_eq!(input(vec![Message::Assistant(foreign)])[0].get("phase"), None);
}

#[test]
fn ids_that_would_be_refused_are_dropped() {
    let long = format!("rs_{}", "x".repeat(62));
    for id in [long.as_str(), "opaque+/=", "rs_a b", ""] {
        let sent = back(&[done(0, &thought(id, "E")), done(1, &calling("fc_1", "a", "{}"))]);
        assert_eq!((sent[0].get("id"), sent[0]["encrypted_content"].as_str()), (None, Some("E")), "{id}");
        assert_eq!(sent[1].get("id"), None, "{id}: it would be looked up together with that of the reasoning");
    }
    let sent = back(&[done(0, &thought("rs_1", "E")), done(1, &calling("item_1", "a", "{}"))]);
    assert_eq!((sent[0]["id"].as_str(), sent[1].get("id")), (Some("rs_1"), None));
}

#[test]
fn reasoning_that_cannot_be_read_back_stays_behind() {
    let called = done(1, &calling("fc_1", "a", "{}"));
    let plain = json!([{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]);
    // Unsealed, unfinished, or with nothing behind it.
    assert_eq!(back(&[done(0, &thought("rs_1", "")), called.clone()]), plain);
    assert_eq!(back(&[added(0, &thought("rs_1", "E")), summary(0, 0, "Plan"), called.clone()]), plain);
    assert_eq!(back(&[done(0, &thought("rs_1", "E"))]), json!([]));
    assert_eq!(back(&[called.clone(), done(2, &thought("rs_1", "E"))]), plain);
    // What it led to is not sent.
    let search = done(0, &json!({"id": "ws_1", "type": "web_search_call"}));
    let empty = done(0, &message("msg_0", ""));
    let blank = done(0, &message("msg_0", " \n"));
    for gone in [search, empty, blank] {
        let sealed = done(0, &thought("rs_1", "E"));
        assert_eq!(back(&[sealed, gone.clone(), called.clone()]), plain, "{gone}");
    }
    // Of another model, or made by another wire.
    let mut parts = content(&[done(0, &thought("rs_1", "E")), called.clone()]);
    let origin = Arc::new(Origin { provider: "q".to_owned(), model: "m".to_owned() });
    let foreign = Assistant { content: parts.clone(), origin, stop: StopReason::ToolUse, usage: Usage::default() };
    assert_eq!(input(vec![Message::Assistant(foreign)]), plain);
    let opaque = Some(json!({"reasoning_details": [{"text": "Hm"}]}));
    parts[0] = AssistantPart::Reasoning(Reasoning { text: "Hm".to_owned(), signature: Some("S".to_owned()), opaque });
    assert_eq!(input(vec![assistant(parts)]), plain);
    // A server that wants its reasoning back unsealed.
    let raw = json!({"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]});
    let history = request(vec![assistant(content(&[done(0, &raw), called]))]);
    let compat = Compat { reasoning_back: ReasoningBack::Content, ..Compat::default() };
    assert_eq!(encoded(Wire::Responses, &history, &compat)["input"][0], raw);
    assert_eq!(encoded(Wire::Responses, &history, &Compat::default())["input"], plain);
}

// ---------------------------------------------------------------- bodies

#[test]
fn a_body_is_as_a_strict_server_wants_it() {
    let picture = Part::Image(Image { media_type: "image/png".to_owned(), data: Arc::from(b"\x89PNG".as_slice()) });
    let history = vec![
        Message::User(vec![Part::Text("one".to_owned()), Part::Text(" ".to_owned()), Part::Text("two\0".to_owned())]),
        Message::user(" "),
        assistant(vec![
            AssistantPart::Reasoning(Reasoning { text: "Hm".to_owned(), ..Reasoning::default() }),
            call("id with blanks", "no such tool", r#"{"b":1,"a":2}"#),
            call("c2", "f", "{oops"),
        ]),
        Message::Tool(vec![
            ToolResult {
                call_id: "id with blanks".to_owned(),
                content: vec![Part::Text("see".to_owned()), picture.clone()],
                is_error: false,
            },
            ToolResult::text("c2", "", true),
        ]),
        assistant(answer("One.")),
        Message::User(vec![picture, Part::Text("what".to_owned())]),
    ];
    let body = encoded(Wire::Responses, &request(history.clone()), &Compat::default());
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,iVBORw==", "detail": "auto"});
    let id = body["input"][1]["call_id"].clone();
    assert!(id.as_str().unwrap().starts_with("call_"));
    let written = |text: &str| json!({"type": "input_text", "text": text});
    let expected = json!({
        "model": "m",
        "instructions": "Be good.",
        "input": [
            {"type": "message", "role": "user", "content": [written("one"), written("two")]},
            {"type": "function_call", "call_id": id, "name": "no_such_tool", "arguments": r#"{"b":1,"a":2}"#},
            {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": id, "output": [written("see"), image]},
            {"type": "function_call_output", "call_id": "c2", "output": ""},
            {"type": "message", "role": "assistant", "content": "One."},
            {"type": "message", "role": "user", "content": [image, written("what")]},
        ],
        "tools": [{"type": "function", "name": "f", "description": "Does f.",
            "parameters": {"type": "object", "properties": {}}, "strict": false}],
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
    });
    assert_eq!(body, expected);
    let blind = ModelInfo { images: false, ..info() };
    let body = Wire::Responses.encode(&request(history), &blind, &Compat::default()).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(body["input"][3]["output"].as_str().unwrap().starts_with("see\n\n[a picture was here"));
    assert_eq!(body["input"][6]["content"][0]["type"], "input_text");
}

#[test]
fn options_are_mapped() {
    let options = Options {
        max_tokens: Some(5),
        temperature: Some(0.5),
        effort: Some(Effort::High),
        cache_key: Some("session".to_owned()),
    };
    let asked = Request { options, tool_choice: ToolChoice::None, ..request(vec![Message::user("q")]) };
    let openai = Compat::for_provider("openai", "https://api.openai.com/v1");
    let body = |asked: &Request, reasoning: bool, compat: &Compat| -> Value {
        let info = ModelInfo { reasoning, ..info() };
        serde_json::from_slice(&Wire::Responses.encode(asked, &info, compat).unwrap()).unwrap()
    };
    let reasons = body(&asked, true, &openai);
    assert_eq!(reasons["reasoning"], json!({"effort": "high", "summary": "auto"}));
    assert_eq!(
        (reasons["max_output_tokens"].as_u64(), reasons["prompt_cache_key"].as_str()),
        (Some(16), Some("session"))
    );
    assert_eq!((reasons.get("temperature"), reasons["tool_choice"].as_str()), (None, Some("none")));
    assert_eq!(reasons["tools"].as_array().unwrap().len(), 1);
    assert_eq!(body(&asked, false, &openai)["reasoning"]["effort"], "high", "whoever is asked for effort reasons");
    let plain = Request { options: Options { effort: None, ..asked.options.clone() }, ..asked.clone() };
    let plain = body(&plain, false, &Compat { reasoning_summary: false, ..Compat::default() });
    assert_eq!(plain["temperature"], 0.5);
    for absent in ["reasoning", "include", "prompt_cache_key"] {
        assert_eq!(plain.get(absent), None);
    }
    let silent = body(&asked, true, &Compat { reasoning_summary: false, ..Compat::default() });
    assert_eq!(silent["reasoning"], json!({"effort": "high"}));
    let bare = Request { tools: Arc::new([]), system: Arc::from(" "), ..asked };
    let bare = body(&bare, true, &openai);
    for absent in ["tools", "tool_choice", "instructions"] {
        assert_eq!(bare.get(absent), None);
    }
}

#[test]
fn requests_go_to_one_path() {
    let wire = Wire::of(Api::OpenaiResponses).unwrap();
    for base in ["/v1", "/v1/", "/v1/responses", "/v1/responses/"] {
        assert_eq!(wire.path(base, "m"), "/v1/responses");
    }
    let [key] = &wire.headers(Some("k"))[..] else { panic!("one header") };
    assert_eq!((key.name, key.value.as_str(), key.is_secret), ("authorization", "Bearer k", true));
    assert!(wire.headers(None).is_empty());
}

/// An item, its place, and the pieces it is streamed in.
fn streamed(kind: u8, index: u64, pieces: &[String]) -> (Vec<String>, Vec<AssistantPart>) {
    let whole = pieces.concat();
    let numbered =
        |kind: &str, piece: &String| event(kind, &json!({"output_index": index, "summary_index": 0, "delta": piece}));
    match kind {
        0 => {
            let mut frames = vec![added(index, &json!({"type": "message"}))];
            frames.extend(pieces.iter().map(|piece| numbered("output_text.delta", piece)));
            frames.push(done(index, &message("msg_1", &whole)));
            (frames, answer(&whole))
        }
        1 => {
            let item =
                json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "E", "summary": [{"text": whole}]});
            let mut frames = vec![added(index, &json!({"type": "reasoning"}))];
            frames.extend(pieces.iter().map(|piece| numbered("reasoning_summary_text.delta", piece)));
            frames.push(done(index, &item));
            let opaque = Some(json!({"reasoning": item}));
            (frames, vec![AssistantPart::Reasoning(Reasoning { text: whole, signature: None, opaque })])
        }
        _ => {
            let id = format!("call_{index}");
            let arguments = json!({ "x": whole }).to_string();
            let (one, two) = arguments.split_at(3);
            let begun = json!({"type": "function_call", "call_id": id, "name": "f", "arguments": ""});
            let delta = |piece: &str| numbered("function_call_arguments.delta", &piece.to_owned());
            let frames = vec![added(index, &begun), delta(one), delta(two), done(index, &calling("fc_1", &id, ""))];
            (frames, vec![call(&id, "f", &arguments)])
        }
    }
}

/// What is said, without what is kept beside it.
fn bare(content: Vec<AssistantPart>) -> Vec<AssistantPart> {
    let stripped = content.into_iter().map(|part| match part {
        AssistantPart::Reasoning(reasoning) => AssistantPart::Reasoning(Reasoning { opaque: None, ..reasoning }),
        // The break before the next message.
        AssistantPart::Text(text) => AssistantPart::Text(text.trim_end_matches("\n\n").to_owned()),
        call @ AssistantPart::ToolUse(_) => call,
    });
    stripped.collect()
}

fn any_message() -> impl Strategy<Value = Message> {
    let word = "[a-zé🎻\\\\\" ]{0,6}";
    let kept =
        prop::option::of(Just(json!({"reasoning": thought("rs_1", "E"), "next": {"type": "message", "id": "msg_1"}})));
    let part = prop_oneof![
        word.prop_map(AssistantPart::Text),
        (word, kept).prop_map(|(text, opaque)| AssistantPart::Reasoning(Reasoning { text, signature: None, opaque })),
        word.prop_map(|id| call(&id, "f", "{}")),
    ];
    prop_oneof![
        word.prop_map(Message::user),
        prop::collection::vec(part, 0..5).prop_map(assistant),
        prop::collection::vec(word, 0..3)
            .prop_map(|ids| { Message::Tool(ids.into_iter().map(|id| ToolResult::text(id, "done", false)).collect()) }),
    ]
}

proptest! {
    #[test]
    fn items_may_come_in_any_interleaving(
        items in prop::collection::vec((0u8..3, prop::collection::vec("[a-z🎻\"\\\\]{1,4}", 1..4)), 1..5),
        turns in prop::collection::vec(0usize..5, 0..60),
    ) {
        let made: Vec<_> = items.iter().zip(0u64..).map(|((kind, pieces), index)| streamed(*kind, index, pieces)).collect();
        let expected: Vec<AssistantPart> = made.iter().flat_map(|(_, parts)| parts.clone()).collect();
        let mut queues: Vec<_> = made.into_iter().map(|(frames, _)| frames.into_iter()).collect();
        let mut frames: Vec<String> = Vec::new();
        for turn in turns {
            let place = turn % queues.len();
            frames.extend(queues[place].next());
        }
        frames.extend(queues.into_iter().flatten());
        prop_assert_eq!(bare(content(&frames)), bare(expected));
    }

    #[test]
    fn a_request_begins_with_the_one_before(messages in prop::collection::vec(any_message(), 1..8)) {
        let body = |count: usize| {
            let body = Wire::Responses.encode(&request(messages[..count].to_vec()), &info(), &Compat::default()).unwrap();
            String::from_utf8(body).unwrap()
        };
        for count in 1..messages.len() {
            let before = body(count);
            let (history, _) = before.rsplit_once("],\"tools\"").unwrap();
            prop_assert!(body(count + 1).starts_with(history), "{}", history);
        }
    }

    #[test]
    fn reasoning_is_always_followed_by_what_it_led_to(messages in prop::collection::vec(any_message(), 1..8)) {
        let items = input(messages);
        let kinds: Vec<(&str, &str)> = items.as_array().unwrap().iter()
            .map(|item| (item["type"].as_str().unwrap(), item["role"].as_str().unwrap_or_default())).collect();
        prop_assert!(kinds.last().is_none_or(|(kind, _)| *kind != "reasoning"));
        for pair in kinds.windows(2).filter(|pair| pair[0].0 == "reasoning") {
            prop_assert!(matches!(pair[1], ("reasoning" | "function_call", _) | ("message", "assistant")), "{pair:?}");
        }
    }
}
