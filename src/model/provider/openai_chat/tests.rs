//! The quirks of the chat wire, one line each, and bodies as a strict server wants them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::model::ModelInfo;
use crate::model::error::ErrorKind;
use crate::model::message::{AssistantPart, Image, Message, Part, Reasoning, ToolCall, ToolInput, ToolResult};
use crate::model::provider::compat::Compat;
use crate::model::provider::tests::{Outcome, answer, assistant, call, encoded, info, read, request};
use crate::model::provider::{REPLY_BYTES, Wire, ids};
use crate::model::reply::StopReason;
use crate::model::request::{Effort, Request, ToolChoice};
use crate::model::usage::Usage;

fn delta(delta: &Value) -> String {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string()
}

fn finish(word: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]}).to_string()
}

fn run(frames: &[String]) -> Outcome {
    read(Wire::Chat, &Compat::default(), frames)
}

/// The calls that come of these `tool_calls` lists, one a chunk: id, name, arguments.
fn calls(lists: &[Value]) -> Vec<(String, String, String)> {
    let mut frames: Vec<String> = lists.iter().map(|list| delta(&json!({ "tool_calls": list }))).collect();
    frames.push(finish("stop"));
    let reply = run(&frames).reply.unwrap();
    assert_eq!(reply.stop, StopReason::ToolUse);
    let parts = reply.content.into_iter().filter_map(|part| match part {
        AssistantPart::ToolUse(call) => Some(call),
        AssistantPart::Reasoning(_) | AssistantPart::Text(_) => None,
    });
    let written = |input: ToolInput| match input {
        ToolInput::Object(object) => Value::Object(object).to_string(),
        ToolInput::Invalid { raw, .. } => format!("invalid {raw}"),
    };
    parts.map(|call| (call.id, call.name, written(call.input))).collect()
}

fn expect(lists: &[Value], expected: &[(&str, &str, &str)]) {
    let expected: Vec<_> =
        expected.iter().map(|(id, name, input)| ((*id).to_owned(), (*name).to_owned(), (*input).to_owned())).collect();
    assert_eq!(calls(lists), expected, "{lists:?}");
}

fn piece(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[test]
fn a_call_of_nothing_is_none() {
    let blank = json!([{"index": null, "id": null, "function": null}]);
    let said = [delta(&json!({"content": "Hi", "tool_calls": blank})), finish("tool_calls")];
    let reply = run(&said).reply.unwrap();
    assert_eq!((reply.content, reply.stop), (answer("Hi"), StopReason::Stop));
    expect(&[blank, json!([piece(Some(0), Some("a"), Some("f"), "{}")])], &[("a", "f", "{}")]);
}

#[test]
fn all_that_grows_is_counted() {
    let long = "x".repeat(1000);
    for body in [
        json!({"content": long}),
        json!({"reasoning_content": long}),
        json!({"reasoning": long}),
        json!({"refusal": long}),
        json!({"reasoning_details": [{"data": long}]}),
        json!({"tool_calls": [piece(Some(0), Some("a"), Some("f"), &long)]}),
        json!({"tool_calls": [{"id": "a", "function": {"name": "f"}, "extra_content": {"seal": long}}]}),
        json!({"function_call": {"name": "f", "arguments": long}}),
    ] {
        let mut decoder = super::Decoder::new(&Compat::default());
        decoder.frame(&delta(&body), &mut |_| {}).unwrap();
        assert!(decoder.held() > long.len(), "{body}");
    }
}

#[test]
fn an_answer_without_end_is_left() {
    let long = delta(&json!({"content": "x".repeat(REPLY_BYTES / 4)}));
    let two = [json!({"delta": {"content": "a"}}), json!({"delta": {"reasoning": "b"}})];
    let parts = json!({"choices": two.iter().cycle().take(REPLY_BYTES / 1000).collect::<Vec<_>>()}).to_string();
    let calls: Vec<Value> = (0..200_000).map(|index| json!({"index": index})).collect();
    let calls = delta(&json!({"tool_calls": calls}));
    for frames in [vec![long; 5], vec![parts], vec![calls]] {
        let error = run(&[frames, vec![finish("stop")]].concat()).reply.unwrap_err();
        assert!(!error.retryable && error.message.contains("longer than any"), "{error}");
    }
}

#[test]
fn calls_are_put_together_whatever_identifies_the_pieces() {
    let two = [("a", "f", r#"{"x":1}"#), ("b", "g", r#"{"y":2}"#)];
    // As the wire defines it, interleaved.
    expect(
        &[
            json!([piece(Some(0), Some("a"), Some("f"), "")]),
            json!([piece(Some(1), Some("b"), Some("g"), "{\"y\"")]),
            json!([{"index": 0, "function": {"arguments": "{\"x\":"}}, {"index": 1, "function": {"arguments": ":2}"}}]),
            json!([{"index": 0, "function": {"arguments": "1}"}}]),
        ],
        &two,
    );
    // The same index for all.
    expect(
        &[
            json!([piece(Some(0), Some("a"), Some("f"), r#"{"x":1}"#)]),
            json!([piece(Some(0), Some("b"), Some("g"), "{\"y\":")]),
            json!([{"index": 0, "function": {"arguments": "2}"}}]),
        ],
        &two,
    );
    // No index; the second piece without an id belongs to the latest call.
    expect(
        &[
            json!([{"id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}}]),
            json!([{"id": "b", "function": {"name": "g", "arguments": "{\"y\":"}}]),
            json!([{"function": {"arguments": "2}"}}]),
        ],
        &two,
    );
    // Empty ids and names in what follows, type repeated.
    expect(
        &[
            json!([piece(Some(0), Some("a"), Some("f"), "")]),
            json!([piece(Some(0), Some(""), Some(""), r#"{"x":1}"#)]),
            json!([piece(Some(1), Some("b"), Some("g"), "")]),
            json!([piece(Some(1), Some(""), None, r#"{"y":2}"#)]),
        ],
        &two,
    );
    // Id and name with every piece.
    let again = |arguments: &str| json!([piece(Some(0), Some("a"), Some("f"), arguments)]);
    expect(&[again(""), again("{\"x\""), again(":1}"), again("")], &[("a", "f", r#"{"x":1}"#)]);
    // Another id with every piece.
    expect(
        &[
            json!([piece(Some(0), Some("a"), Some("f"), "")]),
            json!([piece(Some(0), Some("a2"), None, "{\"x\"")]),
            json!([piece(Some(0), Some("a3"), None, ":1}")]),
        ],
        &[("a", "f", r#"{"x":1}"#)],
    );
    // Name and id late.
    expect(
        &[json!([piece(Some(0), None, None, "{")]), json!([piece(Some(0), Some("a"), Some("f"), "}")])],
        &[("a", "f", "{}")],
    );
    // One id for all.
    expect(
        &[json!([piece(Some(0), Some("a"), Some("f"), "{}"), piece(Some(1), Some("a"), Some("g"), "{}")])],
        &[("a", "f", "{}"), ("a", "g", "{}")],
    );
    expect(
        &[json!([{"id": "a", "function": {"name": "f"}}, {"id": "a", "function": {"name": "f"}}])],
        &[("a", "f", "{}"), ("a", "f", "{}")],
    );
    // Neither ids nor indices.
    expect(
        &[json!([{"function": {"name": "f", "arguments": ""}}, {"function": {"name": "f", "arguments": "{}"}}])],
        &[("", "f", "{}"), ("", "f", "{}")],
    );
    expect(
        &[
            json!([{"function": {"name": "f", "arguments": {"x": 1}}}]),
            json!([{"function": {"name": "f", "arguments": {"x": 2}}}]),
        ],
        &[("", "f", r#"{"x":1}"#), ("", "f", r#"{"x":2}"#)],
    );
}

#[test]
fn arguments_come_in_many_forms() {
    let one = |arguments: Value| {
        calls(&[json!([{"index": 0, "id": 7, "function": {"name": "f", "arguments": arguments}}])])[0].2.clone()
    };
    assert_eq!(one(json!("")), "{}");
    assert_eq!(one(json!(null)), "{}");
    assert_eq!(one(json!({"x": 1})), r#"{"x":1}"#);
    assert_eq!(one(json!("\"{\\\"x\\\":1}\"")), r#"{"x":1}"#);
    assert_eq!(one(json!("{\"x\":")), "invalid {\"x\":");
    assert_eq!(one(json!([1])), "invalid [1]");
    // What parses in between is not the end.
    expect(
        &[json!([piece(Some(0), Some("a"), Some("f"), "{}")]), json!([{"index": 0, "function": {"arguments": " "}}])],
        &[("a", "f", "{}")],
    );
    // A list is demanded, an object is taken; and the form before tool_calls.
    expect(&[json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}})], &[("a", "f", "{}")]);
    let old = |inner: Value| delta(&json!({ "function_call": inner }));
    let frames =
        [old(json!({"name": "f", "arguments": ""})), old(json!({"arguments": "{\"x\":1}"})), finish("function_call")];
    let input = ToolInput::parse(r#"{"x":1}"#);
    let expected = vec![AssistantPart::ToolUse(ToolCall { id: String::new(), name: "f".to_owned(), input })];
    assert_eq!(run(&frames).reply.unwrap().content, expected);
}

#[test]
fn parallel_calls_in_one_are_taken_apart() {
    let uses = json!({"tool_uses": [
        {"recipient_name": "functions.f", "parameters": {"x": 1}}, {"recipient_name": "g"}]});
    let list = |arguments: &str| json!([piece(Some(0), Some("a"), Some("multi_tool_use.parallel"), arguments)]);
    expect(&[list(&uses.to_string())], &[("a", "f", r#"{"x":1}"#), ("a", "g", "{}")]);
    expect(&[list("{\"y\":1}")], &[("a", "multi_tool_use.parallel", "{\"y\":1}")]);
}

#[test]
fn ids_become_unique_in_the_conversation() {
    let made = |id: &str| {
        let input = ToolInput::parse("");
        AssistantPart::ToolUse(ToolCall { id: id.to_owned(), name: "f".to_owned(), input })
    };
    let mut content = vec![made("a"), made("a"), made(""), made(""), made("old")];
    let history = request(vec![assistant(vec![made("old"), made("a_2")])]);
    ids::settle(&mut content, &history, 5);
    let settled: Vec<String> = content
        .iter()
        .map(|part| match part {
            AssistantPart::ToolUse(call) => call.id.clone(),
            AssistantPart::Reasoning(_) | AssistantPart::Text(_) => String::new(),
        })
        .collect();
    assert_eq!(settled, ["a", "a_3", "call_50000000000_2", "call_50000000000_3", "old_2"]);
}

#[test]
fn shapes_of_chunks_may_be_odd() {
    for odd in [
        json!({"choices": null, "usage": null}),
        json!({"choices": []}),
        json!({}),
        json!({"choices": [{"delta": null}]}),
        json!({"choices": [{}]}),
        json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}], "id": "", "model": ""}),
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": null, "tool_calls": null}, "obfuscation": "x"}]}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": []}, "finish_reason": ""}], "error": null}),
        json!({"choices": [{"index": 1, "delta": {"content": "another answer"}}]}),
    ] {
        let outcome =
            run(&[odd.to_string(), delta(&json!({"content": "Hi"})), odd.to_string(), finish("stop"), odd.to_string()]);
        assert_eq!(outcome.reply.unwrap().content, answer("Hi"), "{odd}");
        assert_eq!(outcome.text, "Hi");
    }
}

#[test]
fn reasoning_is_found_in_every_field() {
    for fields in [
        json!({"reasoning_content": "Hm"}),
        json!({"reasoning": "Hm"}),
        json!({"reasoning_text": "Hm", "content": ""}),
        json!({"reasoning": "Hm", "reasoning_content": "Hm", "content": null}),
        json!({"reasoning_content": "", "reasoning": "Hm"}),
        json!({"content": "<think>Hm</think>"}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]}),
    ] {
        let outcome = run(&[delta(&fields), delta(&json!({"content": "Hi"})), finish("stop")]);
        let hm = AssistantPart::Reasoning(Reasoning { text: "Hm".to_owned(), ..Reasoning::default() });
        assert_eq!(outcome.reply.unwrap().content, [vec![hm], answer("Hi")].concat(), "{fields}");
        assert_eq!((outcome.text.as_str(), outcome.reasoning.as_str()), ("Hi", "Hm"), "{fields}");
    }
}

#[test]
fn reasoning_and_content_may_share_a_chunk() {
    let outcome = run(&[delta(&json!({"content": "Hi", "reasoning_content": "Hm"})), finish("stop")]);
    assert_eq!((outcome.text.as_str(), outcome.reasoning.as_str()), ("Hi", "Hm"));
    let outcome =
        run(&[delta(&json!({"content": [{"type": "text", "text": "H"}, "i", {"type": "reference"}]})), finish("stop")]);
    assert_eq!(outcome.reply.unwrap().content, answer("Hi"));
}

#[test]
fn think_tags_are_sorted_out() {
    let pieces = ["<thi", "nk>H", "m</th", "ink>\n", "\nHi ", "<think>"];
    let mut frames: Vec<String> = pieces.iter().map(|piece| delta(&json!({ "content": piece }))).collect();
    frames.push(finish("stop"));
    let outcome = run(&frames);
    assert_eq!((outcome.text.as_str(), outcome.reasoning.as_str()), ("Hi <think>", "Hm"));
    let unopened = [delta(&json!({"content": "Hm\n</think>\n\nHi"})), finish("stop")];
    let hm = AssistantPart::Reasoning(Reasoning { text: "Hm".to_owned(), ..Reasoning::default() });
    assert_eq!(run(&unopened).reply.unwrap().content, [vec![hm], answer("Hi")].concat());
    let compat = Compat { think_tags: false, ..Compat::default() };
    assert_eq!(read(Wire::Chat, &compat, &frames).text, pieces.concat());
}

#[test]
fn reasoning_details_are_kept_verbatim() {
    let detail = |more: Value| {
        let mut whole = json!({"type": "reasoning.text", "index": 0});
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        delta(&json!({ "reasoning_details": [whole] }))
    };
    let frames = [
        detail(json!({"text": "H", "signature": null})),
        detail(json!({"text": "m"})),
        detail(json!({"signature": "S"})),
        delta(&json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "X"}]})),
        delta(&json!({"content": "Hi"})),
        finish("stop"),
    ];
    let outcome = run(&frames);
    assert_eq!(outcome.reasoning, "Hm");
    let reply = outcome.reply.unwrap();
    let details = json!([
        {"type": "reasoning.text", "index": 0, "text": "Hm", "signature": "S"},
        {"type": "reasoning.encrypted", "index": 1, "data": "X"}]);
    let opaque = Some(json!({ "reasoning_details": details }));
    let kept = AssistantPart::Reasoning(Reasoning { text: "Hm".to_owned(), signature: None, opaque });
    assert_eq!(reply.content, [vec![kept], answer("Hi")].concat());
    let compat = Compat::for_provider("openrouter", "");
    let history = request(vec![Message::user("q"), assistant(reply.content), Message::user("q")]);
    assert_eq!(encoded(Wire::Chat, &history, &compat)["messages"][2]["reasoning_details"], details);
}

#[test]
fn usage_is_found_everywhere_and_normalised() {
    let tokens = json!({"prompt_tokens": 1300, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 300},
        "completion_tokens_details": {"reasoning_tokens": 7}});
    let expected = Usage { input: 1000, output: 50, cache_read: 300, cache_write: 0, reasoning: 7 };
    let hi = delta(&json!({"content": "Hi"}));
    let places = [
        vec![finish("stop"), json!({"choices": [], "usage": tokens}).to_string()],
        vec![
            finish("stop"),
            json!({"choices": null, "usage": tokens}).to_string(),
            json!({"choices": [], "usage": null}).to_string(),
        ],
        vec![json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": tokens}).to_string()],
        vec![json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": tokens}]}).to_string()],
        vec![json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": tokens}}).to_string()],
        vec![
            json!({"choices": [{"delta": {}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).to_string(),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": tokens}).to_string(),
        ],
    ];
    for place in places {
        let frames = [vec![hi.clone()], place].concat();
        assert_eq!(run(&frames).reply.unwrap().usage, expected, "{frames:?}");
    }
    let usage = |tokens: Value| {
        run(&[hi.clone(), finish("stop"), json!({"choices": [], "usage": tokens}).to_string()]).reply.unwrap().usage
    };
    let deepseek = json!({"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6});
    assert_eq!(usage(deepseek), Usage { input: 6, output: 1, cache_read: 4, ..Usage::default() });
    assert_eq!(
        usage(json!({"prompt_tokens": 10.0, "cached_tokens": "3"})),
        Usage { input: 7, cache_read: 3, ..Usage::default() }
    );
    let written = json!({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 5}});
    assert_eq!(usage(written), Usage { input: 3, cache_read: 2, cache_write: 5, ..Usage::default() });
    assert_eq!(usage(json!({"prompt_tokens": null, "prompt_tokens_details": null})), Usage::default());
}

#[test]
fn reasons_to_stop_are_translated() {
    let hi = delta(&json!({"content": "Hi"}));
    for (word, stop) in [
        ("stop", StopReason::Stop),
        ("length", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Window),
        ("content_filter", StopReason::Refusal),
        ("tool_calls", StopReason::Stop),
        ("odd", StopReason::Other("odd".to_owned())),
    ] {
        assert_eq!(run(&[hi.clone(), finish(word)]).reply.unwrap().stop, stop, "{word}");
    }
    let called = delta(&json!({"tool_calls": [piece(Some(0), Some("a"), Some("f"), "{")]}));
    assert_eq!(run(&[called.clone(), finish("length")]).reply.unwrap().stop, StopReason::Length);
    assert_eq!(run(&[called, finish("odd")]).reply.unwrap().stop, StopReason::ToolUse);
    let refused = run(&[delta(&json!({"refusal": "No."})), finish("stop")]);
    assert_eq!((refused.text.as_str(), refused.reply.unwrap().stop), ("No.", StopReason::Refusal));
    for (word, kind) in [("error", ErrorKind::Network), ("insufficient_system_resource", ErrorKind::Overload)] {
        let error = run(&[hi.clone(), finish(word)]).reply.unwrap_err();
        assert_eq!((error.kind, error.retryable), (kind, true), "{word}");
    }
}

#[test]
fn a_stream_without_its_end_is_no_answer() {
    let hi = delta(&json!({"content": "Hi"}));
    let done = "[DONE]".to_owned();
    for frames in [vec![], vec![hi.clone()], vec![done.clone()], vec![String::new()]] {
        let error = run(&frames).reply.unwrap_err();
        assert_eq!((error.kind, error.retryable), (ErrorKind::Network, true), "{frames:?}");
    }
    assert_eq!(run(&[hi.clone(), done.clone()]).reply.unwrap().stop, StopReason::Stop, "the word alone is enough");
    assert!(run(&[hi.clone(), finish("stop"), " [DONE] ".to_owned(), "never read".to_owned()]).reply.is_ok());
    let garbage = run(&[hi, "{oops".to_owned()]).reply.unwrap_err();
    assert_eq!(garbage.kind, ErrorKind::Network);
    let nothing = run(&[finish("length")]).reply.unwrap_err();
    assert_eq!(nothing.kind, ErrorKind::Context);
}

#[test]
fn errors_inside_the_stream_are_reported() {
    let hi = delta(&json!({"content": "Hi"}));
    for (error, kind, retryable) in [
        (
            json!({"error": {"message": "busy", "type": "server_error", "code": "server_is_overloaded"}}),
            ErrorKind::Overload,
            true,
        ),
        (json!({"error": {"message": "x", "code": 429}}), ErrorKind::RateLimit, true),
        (json!({"error": "out of memory"}), ErrorKind::Overload, true),
        (
            json!({"choices": [{"delta": {"content": ""}, "finish_reason": "error"}], "error": {"code": 502, "message": "x"}}),
            ErrorKind::Overload,
            true,
        ),
        (json!({"object": "error", "message": "x", "code": 400}), ErrorKind::InvalidRequest, false),
    ] {
        for frames in [vec![error.to_string()], vec![hi.clone(), error.to_string()]] {
            let failure = run(&frames).reply.unwrap_err();
            assert_eq!((failure.kind, failure.retryable), (kind, retryable), "{error}");
        }
    }
}

#[test]
fn an_answer_in_one_piece_is_read_too() {
    let whole = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let outcome = run(&[whole.to_string()]);
    assert_eq!(outcome.text, "Hi");
    let reply = outcome.reply.unwrap();
    assert_eq!((reply.stop, reply.usage.input, reply.content.len()), (StopReason::ToolUse, 5, 2));
}

#[test]
fn signatures_of_calls_go_back_with_them() {
    let extra = json!({"google": {"thought_signature": "S"}});
    let list = json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra}]);
    let reply = run(&[delta(&json!({ "tool_calls": list })), finish("stop")]).reply.unwrap();
    let results = Message::Tool(vec![ToolResult::text("a", "done", false)]);
    let history = request(vec![Message::user("q"), assistant(reply.content), results]);
    let body = encoded(Wire::Chat, &history, &Compat::default());
    assert_eq!(body["messages"][2]["tool_calls"][0]["extra_content"], extra);
}

// ---------------------------------------------------------------- bodies

#[test]
fn texts_next_to_each_other_are_one() {
    let parts = [answer("It wor"), answer("ks. "), vec![call("c", "f", "{}")], answer("Next.")].concat();
    let result = Message::Tool(vec![ToolResult::text("c", "x", false)]);
    let body = encoded(Wire::Chat, &request(vec![assistant(parts), result]), &Compat::default());
    let said = body["messages"].as_array().unwrap().iter().find(|message| message["role"] == "assistant").unwrap();
    assert_eq!(said["content"], "It works. \n\nNext.");
}

#[test]
fn a_body_is_as_a_strict_server_wants_it() {
    let picture = Part::Image(Image { media_type: "image/png".to_owned(), data: Arc::from(b"\x89PNG".as_slice()) });
    let history = vec![
        Message::User(vec![Part::Text("one".to_owned()), Part::Text(" ".to_owned()), Part::Text("two\0".to_owned())]),
        Message::user("three"),
        assistant(vec![
            AssistantPart::Reasoning(Reasoning { text: "Hm".to_owned(), ..Reasoning::default() }),
            call("id with blanks", "no such tool", r#"{"b":1,"a":2}"#),
            call("c2", "f", "{oops"),
        ]),
        Message::Tool(vec![
            ToolResult { call_id: "id with blanks".to_owned(), content: vec![picture.clone()], is_error: false },
            ToolResult::text("c2", "", true),
        ]),
        Message::user("look"),
        assistant(vec![AssistantPart::Text(String::new())]),
        assistant(answer("One.")),
        assistant(answer("Two.")),
        Message::User(vec![picture, Part::Text("what".to_owned())]),
    ];
    let body = encoded(Wire::Chat, &request(history), &Compat::default());
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}});
    let id = body["messages"][2]["tool_calls"][0]["id"].clone();
    assert!(id.as_str().unwrap().starts_with("call_"));
    let messages = json!([
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "one\n\ntwo\n\nthree"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "no_such_tool", "arguments": r#"{"b":1,"a":2}"#}},
            {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": id, "content": "[see the picture below]"},
        {"role": "tool", "tool_call_id": "c2", "content": "[nothing]"},
        {"role": "user", "content": [{"type": "text", "text": "What the tools showed:"}, url, {"type": "text", "text": "look"}]},
        {"role": "assistant", "content": "One.\n\nTwo."},
        {"role": "user", "content": [url, {"type": "text", "text": "what"}]},
    ]);
    assert_eq!(body["messages"], messages);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(body["tools"][0]["function"]["name"], "f");
    for absent in
        ["tool_choice", "temperature", "max_tokens", "max_completion_tokens", "reasoning_effort", "prompt_cache_key"]
    {
        assert_eq!(body.get(absent), None, "{absent}");
    }
}

#[test]
fn settings_follow_the_compat_flags() {
    let mut asked = request(vec![Message::user("q")]);
    asked.options.max_tokens = Some(9);
    asked.options.temperature = Some(0.5);
    asked.options.effort = Some(Effort::High);
    asked.options.cache_key = Some("s1".to_owned());
    asked.tool_choice = ToolChoice::None;
    let body = |name: &str| encoded(Wire::Chat, &asked, &Compat::for_provider(name, ""));
    let plain = body("mock");
    assert_eq!(
        (&plain["max_tokens"], &plain["temperature"], &plain["reasoning_effort"]),
        (&json!(9), &json!(0.5), &json!("high"))
    );
    assert_eq!((&plain["tool_choice"], plain["tools"].as_array().unwrap().len()), (&json!("none"), 1));
    assert_eq!(plain.get("prompt_cache_key"), None);
    let openai = body("openai");
    assert_eq!((&openai["max_completion_tokens"], &openai["prompt_cache_key"]), (&json!(9), &json!("s1")));
    assert_eq!(openai.get("max_tokens"), None);
    assert_eq!(body("glm")["thinking"], json!({"type": "enabled"}));
    assert_eq!(body("openrouter")["reasoning"], json!({"effort": "high"}));
    assert_eq!(body("qwen")["enable_thinking"], json!(true));
    assert_eq!(body("xai")["reasoning_effort"], json!("high"));
    let thoughtless = ModelInfo { reasoning: false, ..info() };
    let grok = Wire::Chat.encode(&asked, &thoughtless, &Compat::for_provider("xai", "")).unwrap();
    assert!(!String::from_utf8(grok).unwrap().contains("reasoning_effort"), "it would be refused");
    assert_eq!(body("mistral").get("stream_options"), None);
    asked.options.effort = Some(Effort::Off);
    let off = |name: &str| encoded(Wire::Chat, &asked, &Compat::for_provider(name, ""));
    assert_eq!(off("mock").get("reasoning_effort"), None);
    assert_eq!(off("ollama")["reasoning_effort"], json!("none"));
    assert_eq!(off("glm")["thinking"], json!({"type": "disabled"}));
    assert_eq!(off("openrouter")["reasoning"], json!({"enabled": false}));
}

#[test]
fn vendors_get_their_own_back() {
    let thought = AssistantPart::Reasoning(Reasoning { text: "Hm".to_owned(), ..Reasoning::default() });
    let results = || Message::Tool(vec![ToolResult::text("c1", "done", false)]);
    let history = vec![
        Message::user("q"),
        assistant(vec![thought.clone(), call("c1", "f", "{}")]),
        results(),
        assistant(vec![thought.clone(), AssistantPart::Text("Hi".to_owned())]),
        Message::user("q"),
    ];
    let asked = request(history);
    let back = |name: &str, place: usize| {
        encoded(Wire::Chat, &asked, &Compat::for_provider(name, ""))["messages"][place]
            .get("reasoning_content")
            .cloned()
    };
    assert_eq!(back("deepseek", 2), Some(json!("Hm")));
    assert_eq!(back("deepseek", 4), None, "not without calls");
    assert_eq!(back("mock", 2), None);
    let mut foreign = info();
    foreign.origin = Arc::new(crate::model::message::Origin { provider: "p".to_owned(), model: "another".to_owned() });
    let body = Wire::Chat.encode(&asked, &foreign, &Compat::for_provider("deepseek", "")).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["messages"][2]["reasoning_content"], json!(""), "demanded, but not that of another model");
    let mistral = encoded(Wire::Chat, &asked, &Compat::for_provider("mistral", ""));
    let id = mistral["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert_eq!(id.len(), 9);
    assert_eq!((&mistral["messages"][3]["tool_call_id"], &mistral["messages"][3]["name"]), (&json!(id), &json!("f")));
    let strict = Compat { assistant_after_tool: true, null_content: false, developer_role: true, ..Compat::default() };
    let asked =
        request(vec![Message::user("q"), assistant(vec![call("c1", "f", "{}")]), results(), Message::user("q")]);
    let body = encoded(Wire::Chat, &asked, &strict);
    let roles: Vec<&str> = body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["developer", "user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(body["messages"][2]["content"], "");
}

#[test]
fn an_empty_list_of_tools_is_sent_only_where_it_is_demanded() {
    let with = |messages: Vec<Message>, name: &str| {
        let asked = Request { tools: Arc::from([]), ..request(messages) };
        encoded(Wire::Chat, &asked, &Compat::for_provider(name, "")).get("tools").cloned()
    };
    let calls = || {
        let results = Message::Tool(vec![ToolResult::text("c1", "done", false)]);
        vec![Message::user("q"), assistant(vec![call("c1", "f", "{}")]), results]
    };
    assert_eq!(with(calls(), "litellm"), Some(json!([])));
    assert_eq!(with(vec![Message::user("q")], "litellm"), None);
    assert_eq!(with(calls(), "mock"), None);
}

#[test]
fn pictures_are_left_out_for_models_that_see_none() {
    let picture = Part::Image(Image { media_type: "image/png".to_owned(), data: Arc::from(b"x".as_slice()) });
    let result = ToolResult { call_id: "c1".to_owned(), content: vec![picture.clone()], is_error: false };
    let asked = request(vec![
        Message::User(vec![picture]),
        assistant(vec![call("c1", "f", "{}")]),
        Message::Tool(vec![result]),
    ]);
    let mut blind = info();
    blind.images = false;
    let body: Value = serde_json::from_slice(&Wire::Chat.encode(&asked, &blind, &Compat::default()).unwrap()).unwrap();
    let body = body["messages"].as_array().unwrap();
    assert!(
        body[1]["content"].as_str().unwrap().contains("picture")
            && body[3]["content"].as_str().unwrap().contains("picture")
    );
    assert_eq!(body.len(), 4);
}
