//! What one wire alone knows: its faults and odd frames, a row each. More are beside each adapter.

use serde_json::{Value, json};

use super::script::{Script, call, say, say_in, think};
use super::{Dialect, Frame, Stream, anthropic, chat, gemini, responses};
use crate::model::error::ErrorKind;
use crate::model::reply::StopReason;

/// A row: what is odd, the frames, and what has to come of them.
type Row = (&'static str, Vec<Value>, Result<Script, ErrorKind>);

fn check(dialect: &Dialect, rows: Vec<Row>) {
    for (name, events, expected) in rows {
        // The one frame that is no JSON.
        let data = |event: &Value| event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        let frames: Vec<Frame> = events.iter().map(|event| Frame { event: None, data: data(event) }).collect();
        let stream = Stream { end: frames.len(), frames };
        for newline in ["\n", "\r\n"] {
            let bytes = stream.bytes(newline);
            let seen = dialect.read(bytes.chunks(5));
            match &expected {
                Ok(script) => assert_eq!(seen, dialect.expected(&script.clone().usage(None)), "{name}"),
                Err(kind) => assert_eq!(seen.reply.unwrap_err().kind, *kind, "{name}"),
            }
        }
    }
}

/// An answer whose whole content is this.
fn says(text: &str) -> Result<Script, ErrorKind> {
    Ok(Script::new([say(text)]))
}

/// Two calls, as every server means them.
fn two_calls() -> Result<Script, ErrorKind> {
    Ok(Script::new([call("call_a", "f", r#"{"x":1}"#, 9), call("call_b", "g", r#"{"y":2}"#, 9)]))
}

fn chunk(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(word: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]})
}

#[test]
fn calls_of_chat_completions() {
    let piece = |call: Value| chunk(&json!({ "tool_calls": [call] }));
    let f = |id: Value, arguments: &str| json!({"id": id, "function": {"name": "f", "arguments": arguments}});
    let g = |id: Value, arguments: &str| json!({"id": id, "function": {"name": "g", "arguments": arguments}});
    let at = |index: u64, mut call: Value| {
        call["index"] = index.into();
        piece(call)
    };
    let more = |arguments: &str| json!({"id": "", "function": {"name": "", "arguments": arguments}});
    let (one, two) = (r#"{"x":1}"#, r#"{"y":2}"#);
    let unnamed = Ok(Script::new([call("", "f", one, 9)]));
    check(
        &chat::DIALECT,
        vec![
            (
                "same index 0 twice",
                vec![at(0, f("call_a".into(), one)), at(0, g("call_b".into(), two)), finish("tool_calls")],
                two_calls(),
            ),
            (
                "no index",
                vec![piece(f("call_a".into(), one)), piece(g("call_b".into(), two)), finish("tool_calls")],
                two_calls(),
            ),
            (
                "no id",
                vec![
                    at(0, f(Value::Null, "{\"x\":")),
                    at(0, json!({"function": {"arguments": "1}"}})),
                    finish("tool_calls"),
                ],
                unnamed,
            ),
            (
                "empty id and name in what follows",
                vec![
                    at(0, f("call_a".into(), "")),
                    at(0, more(one)),
                    at(1, g("call_b".into(), "")),
                    at(1, more(two)),
                    finish("tool_calls"),
                ],
                two_calls(),
            ),
            (
                "whole arguments, the end in the same chunk",
                vec![
                    json!({"choices": [{"delta": {"tool_calls": [f("call_a".into(), one), g("call_b".into(), two)]}, "finish_reason": "tool_calls"}]}),
                ],
                two_calls(),
            ),
            (
                "arguments that are objects",
                vec![
                    piece(json!({"id": "call_a", "function": {"name": "f", "arguments": {"x": 1}}})),
                    piece(g("call_b".into(), two)),
                    finish("stop"),
                ],
                two_calls(),
            ),
            (
                "the end says stop",
                vec![at(0, f("call_a".into(), one)), at(1, g("call_b".into(), two)), finish("stop"), "[DONE]".into()],
                two_calls(),
            ),
        ],
    );
}

#[test]
fn texts_and_ends_of_chat_completions() {
    let hi = || chunk(&json!({"content": "Hi"}));
    let thought = || Ok(Script::new([think("Hm.", None), say("Hi")]));
    let refused = Ok(Script::new([say("I cannot.")]).stop(StopReason::Refusal));
    let think_in = |field: &str| vec![chunk(&json!({ field: "Hm." })), hi(), finish("stop")];
    check(
        &chat::DIALECT,
        vec![
            ("no [DONE]", vec![hi(), finish("stop")], says("Hi")),
            ("[DONE] and no reason", vec![hi(), "[DONE] ".into()], says("Hi")),
            ("[DONE] and nothing else", vec!["[DONE]".into()], Err(ErrorKind::Network)),
            ("reasoning_content", think_in("reasoning_content"), thought()),
            ("reasoning", think_in("reasoning"), thought()),
            ("reasoning_text", think_in("reasoning_text"), thought()),
            (
                "reasoning_details",
                vec![
                    chunk(&json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "Hm."}]})),
                    hi(),
                    finish("stop"),
                ],
                thought(),
            ),
            (
                "the same reasoning in two fields",
                vec![chunk(&json!({"reasoning": "Hm.", "reasoning_content": "Hm."})), hi(), finish("stop")],
                thought(),
            ),
            (
                "<think> inline",
                vec![
                    chunk(&json!({"content": "<thi"})),
                    chunk(&json!({"content": "nk>Hm.</think>"})),
                    hi(),
                    finish("stop"),
                ],
                thought(),
            ),
            ("a refusal of its own", vec![chunk(&json!({"refusal": "I cannot."})), finish("stop")], refused),
            ("an error as the reason", vec![hi(), finish("error")], Err(ErrorKind::Network)),
            ("an error that is a text", vec![hi(), json!({"error": "overloaded"})], Err(ErrorKind::Overload)),
            ("no room for an answer", vec![finish("length"), "[DONE]".into()], Err(ErrorKind::Context)),
            ("the end twice", vec![hi(), finish("stop"), finish("stop"), "[DONE]".into()], says("Hi")),
            (
                "half an emoji in each of two chunks",
                vec![
                    Value::String(r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#.to_owned()),
                    Value::String(r#"{"choices":[{"delta":{"content":"\ude00"}}]}"#.to_owned()),
                    finish("stop"),
                ],
                says("😀"),
            ),
        ],
    );
}

#[test]
fn blocks_of_anthropic() {
    let start =
        |id: &str| json!({"type": "message_start", "message": {"id": id, "content": [], "usage": {"input_tokens": 0}}});
    let open =
        |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let text = |index: u64, text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}});
    let block = || json!({"type": "text", "text": ""});
    let end =
        |word: &str| json!({"type": "message_delta", "delta": {"stop_reason": word}, "usage": {"output_tokens": 0}});
    let stop = || json!({"type": "message_stop"});
    let tool = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let redacted = || json!({"type": "redacted_thinking", "data": "SEAL"});
    check(
        &anthropic::DIALECT,
        vec![
            (
                "message_start twice",
                vec![start("a"), start("a"), open(0, block()), text(0, "Hi"), end("end_turn"), stop()],
                says("Hi"),
            ),
            (
                "another message spliced in",
                vec![
                    start("a"),
                    open(0, block()),
                    start("b"),
                    open(0, block()),
                    text(0, "Hi"),
                    end("end_turn"),
                    stop(),
                ],
                says("Hi"),
            ),
            (
                "no content_block_stop, gaps between indices",
                vec![
                    start("a"),
                    open(3, block()),
                    text(3, "A"),
                    open(7, block()),
                    text(7, "B"),
                    end("end_turn"),
                    stop(),
                ],
                Ok(Script::new([say_in(["A", "B"])])),
            ),
            ("no message_delta", vec![start("a"), open(0, block()), text(0, "Hi"), stop()], says("Hi")),
            ("no message_stop", vec![start("a"), open(0, block()), text(0, "Hi"), end("end_turn")], says("Hi")),
            (
                "arguments in the block's start",
                vec![
                    start("a"),
                    open(0, tool("call_a", "f", json!({"x": 1}))),
                    open(1, tool("call_b", "g", json!({"y": 2}))),
                    end("tool_use"),
                    stop(),
                ],
                two_calls(),
            ),
            (
                "redacted thinking",
                vec![start("a"), open(0, redacted()), open(1, block()), text(1, "Hi"), end("end_turn"), stop()],
                says("Hi"),
            ),
            (
                "paused",
                vec![start("a"), open(0, block()), text(0, "Hi"), end("pause_turn"), stop()],
                Ok(Script::new([say("Hi")]).stop(StopReason::Pause)),
            ),
            (
                "an error of the proxy",
                vec![start("a"), json!({"error": {"message": "bad gateway"}})],
                Err(ErrorKind::Overload),
            ),
        ],
    );
}

/// An event about a whole item.
fn about(event: &str, index: u64, item: &Value) -> Value {
    json!({"type": format!("response.output_item.{event}"), "output_index": index, "item": item})
}

/// A message of this content.
fn message(content: &Value) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "content": content})
}

/// The last event.
fn response(status: &str, reason: Option<&str>, output: &[Value]) -> Value {
    let response = json!({"status": status, "incomplete_details": {"reason": reason}, "output": output});
    json!({"type": format!("response.{status}"), "response": response})
}

#[test]
fn calls_of_responses() {
    let call = |id: &str, call: &str, name: &str, arguments: &str| json!({"id": id, "type": "function_call", "call_id": call, "name": name, "arguments": arguments});
    let piece = |id: &str, index: u64, text: &str| json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": index, "delta": text});
    let whole = |index: u64, text: &str| json!({"type": "response.function_call_arguments.done", "output_index": index, "arguments": text});
    let completed = || response("completed", None, &[]);
    let (one, two) = (r#"{"x":1}"#, r#"{"y":2}"#);
    let begun =
        [about("added", 0, &call("fc_1", "call_a", "f", "")), about("added", 1, &call("fc_3", "call_b", "g", ""))];
    let done =
        [about("done", 0, &call("fc_6", "call_a", "f", one)), about("done", 1, &call("fc_7", "call_b", "g", two))];
    let pieces = [piece("fc_2", 0, "{\"x\":"), piece("fc_4", 1, two), piece("fc_5", 0, "1}")];
    let join = |events: &[&[Value]]| [events.concat(), vec![completed()]].concat();
    check(
        &responses::DIALECT,
        vec![
            ("another id with every event", join(&[&begun, &pieces, &done]), two_calls()),
            ("no ends of items", join(&[&begun, &pieces]), two_calls()),
            ("arguments at their end alone", join(&[&begun, &[whole(1, two), whole(0, one)]]), two_calls()),
            ("items at their end alone", join(&[&done]), two_calls()),
        ],
    );
}

#[test]
fn texts_of_responses() {
    let part = |kind: &str, name: &str, text: &str| json!([{"type": kind, name: text}]);
    let begun = || about("added", 0, &message(&json!([])));
    let said = |index| about("done", index, &message(&part("output_text", "text", "Hi")));
    let completed = || response("completed", None, &[]);
    let event =
        |kind: &str, name: &str, text: &str| json!({"type": format!("response.{kind}"), "output_index": 0, name: text});
    let refused = || Ok(Script::new([say("I cannot.")]).stop(StopReason::Refusal));
    let reasoning = || about("added", 0, &json!({"id": "rs_1", "type": "reasoning", "summary": []}));
    let thought = Ok(Script::new([think("Hm.", None), say("Hi")]));
    check(
        &responses::DIALECT,
        vec![
            (
                "all in the last event",
                vec![response("completed", None, &[message(&part("output_text", "text", "Hi"))])],
                says("Hi"),
            ),
            (
                "reasoning as it is",
                vec![reasoning(), event("reasoning_text.delta", "delta", "Hm."), said(1), completed()],
                thought,
            ),
            (
                "a refusal of its own",
                vec![
                    begun(),
                    event("refusal.delta", "delta", "I cannot."),
                    event("refusal.done", "refusal", "I cannot."),
                    completed(),
                ],
                refused(),
            ),
            (
                "a refusal in an item",
                vec![about("done", 0, &message(&part("refusal", "refusal", "I cannot."))), completed()],
                refused(),
            ),
            (
                "a filter stopped it",
                vec![
                    begun(),
                    event("output_text.delta", "delta", "Hi"),
                    response("incomplete", Some("content_filter"), &[]),
                ],
                Ok(Script::new([say("Hi")]).stop(StopReason::Refusal)),
            ),
            ("given up by the server", vec![begun(), response("failed", None, &[])], Err(ErrorKind::Network)),
        ],
    );
}

#[test]
fn parts_of_gemini() {
    let chunk = |parts: Value, finish: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}]});
    let f = || json!({"functionCall": {"name": "f", "args": {"x": 1}}});
    let part = |part: Value| chunk(json!([part]), Value::Null);
    let end = |word: &str| json!({"candidates": [{"finishReason": word, "index": 0}]});
    let hi = || part(json!({"text": "Hi"}));
    let f_without_id = call("", "f", r#"{"x":1}"#, 9);
    check(
        &gemini::DIALECT,
        vec![
            (
                "no ids, the same call twice",
                vec![chunk(json!([f(), f()]), "STOP".into())],
                Ok(Script::new([f_without_id.clone(), f_without_id.clone()])),
            ),
            (
                "no arguments",
                vec![part(json!({"functionCall": {"id": "call_a", "name": "now"}})), end("STOP")],
                Ok(Script::new([call("call_a", "now", "", 9)])),
            ),
            ("an end without content", vec![hi(), end("STOP")], says("Hi")),
            (
                "a seal on an empty part at the end",
                vec![hi(), chunk(json!([{"text": "", "thoughtSignature": "SEAL"}]), "STOP".into())],
                says("Hi"),
            ),
            ("a reason of a mock", vec![part(f()), end("FUNCTION_CALL")], Ok(Script::new([f_without_id]))),
            ("a blocked prompt", vec![json!({"promptFeedback": {"blockReason": "SAFETY"}})], Err(ErrorKind::Refused)),
            ("a call that is none", vec![end("MALFORMED_FUNCTION_CALL")], Err(ErrorKind::Empty)),
            ("a seal is missing", vec![end("MISSING_THOUGHT_SIGNATURE")], Err(ErrorKind::Seal)),
            (
                "filtered in the middle",
                vec![hi(), end("RECITATION")],
                Ok(Script::new([say("Hi")]).stop(StopReason::Refusal)),
            ),
            ("no end", vec![hi()], Err(ErrorKind::Network)),
        ],
    );
}
