//! The harness itself: what its server catches, and how its processes end. A raw client and the shell stand for the
//! program, so that a fault here is not mistaken for one there.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Call, Failure, Host, KEY, Reply, Server, Stop, Wire, call, calls, fail, say, think};

/// Sends the only request of a connection and returns all that comes back.
fn post(server: &Server, wire: Wire, key: &str, body: &Value) -> String {
    let mut stream = begin(server, wire, key, body);
    stream.shutdown(Shutdown::Write).unwrap();
    read(&mut stream)
}

/// Sends a request, stays, and returns all that comes back until there is silence.
fn listen(server: &Server, body: &Value) -> String {
    let mut stream = begin(server, Wire::Chat, KEY, body);
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    read(&mut stream)
}

fn begin(server: &Server, wire: Wire, key: &str, body: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let (body, path) = (body.to_string(), wire.path("m"));
    let (header, value) = wire.key_header(key);
    let head = format!(
        "POST {path} HTTP/1.1\r\n{header}: {value}\r\nAnthropic-Version: 1\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    stream
}

/// All that comes, and at the end the error that ended it.
fn read(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        answer.extend(format!("[{:?}]", error.kind()).bytes());
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// A conversation on the Chat Completions wire.
fn chat(messages: Value) -> Value {
    json!({"model": "m", "messages": messages})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn made(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": "{}"}});
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "x"})
}

/// What the server finds wrong with requests that come one after the other.
fn problems(wire: Wire, bodies: &[Value]) -> String {
    let server = Server::start(KEY);
    server.answer(|_| say("ok"));
    for body in bodies {
        post(&server, wire, KEY, body);
    }
    assert_eq!(server.requests().len(), bodies.len());
    server.take_problems().join("\n")
}

#[test]
fn legal_conversations_are_no_problem() {
    let talk = json!([user("hi"), made(&["a", "b"]), result("a"), result("b"), {"role": "assistant", "content": "yes"}, user("on")]);
    assert_eq!(problems(Wire::Chat, &[chat(talk)]), "");
    let blocks = json!([{"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "tool_use", "id": "a", "name": "x", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}, {"type": "text", "text": "and"}]}]);
    assert_eq!(problems(Wire::Anthropic, &[json!({"model": "m", "max_tokens": 9, "messages": blocks})]), "");
    let input = json!([{"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "s"},
        {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"}]);
    assert_eq!(problems(Wire::Responses, &[json!({"model": "m", "store": false, "input": input})]), "");
    let contents = json!([{"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "x", "args": {}}, "thoughtSignature": "s"}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "a", "name": "x", "response": {"output": "x"}}}]}]);
    assert_eq!(problems(Wire::Gemini, &[json!({"contents": contents})]), "");
}

#[test]
fn illegal_conversations_are_caught() {
    let illegal = [
        (json!([user("hi"), made(&["a", "b"]), result("b"), result("a")]), "due are"),
        (json!([user("hi"), made(&["a", "b"]), result("a")]), "have no result at the end"),
        (json!([user("hi"), made(&["a"]), user("on"), result("a")]), "have no result before it"),
        (json!([user("hi"), made(&["a", "a"]), result("a"), result("a")]), "occurs twice"),
        (json!([user("hi"), result("a")]), "a result for a"),
        (json!([user("")]), "an empty message"),
        (json!([{"role": "human", "content": "hi"}]), "is no role"),
        (json!([]), "begins with"),
        (json!([user(&format!("my key is {KEY}"))]), "stands in the body"),
    ];
    for (messages, expected) in illegal {
        let found = problems(Wire::Chat, &[chat(messages)]);
        assert!(found.contains(expected), "{expected:?} is not in {found:?}");
    }
    let input = json!([{"role": "user", "content": "hi"}, {"type": "reasoning", "id": "rs_1"}]);
    let found = problems(
        Wire::Responses,
        &[json!({"model": "m", "input": input, "tools": [{"type": "function", "function": {}}]})],
    );
    let expected = ["would be stored", "nobody can read", "without what followed", "not flat"];
    assert!(expected.iter().all(|text| found.contains(text)), "{found}");
    let contents =
        json!([{"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": " "}, {"inlineData": {}}]}]);
    let found = problems(Wire::Gemini, &[json!({"contents": contents})]);
    let expected = ["where user is due", "end with the user", "is sent back", "an empty text", "a part"];
    assert!(expected.iter().all(|text| found.contains(text)), "{found}");
    let orphan = json!({"model": "m", "messages": [{"role": "assistant", "content": "yes"}]});
    let found = problems(Wire::Anthropic, &[orphan]);
    assert!(
        ["max_tokens", "where user is due", "end with the user"].iter().all(|text| found.contains(text)),
        "{found}"
    );
}

#[test]
fn illegal_tools_and_arguments_are_caught() {
    let mut body = chat(json!([user("hi")]));
    let tool =
        |name: &str, schema: Value| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    let object = json!({"type": "object", "properties": {}});
    body["tools"] = json!([tool("a", object.clone()), tool("a", object), tool("b", json!({"type": "string"}))]);
    let found = problems(Wire::Chat, &[body]);
    assert!(found.contains("offered twice") && found.contains("its schema is no object"), "{found}");
    let mut call = made(&["a"]);
    call["tool_calls"][0]["function"]["arguments"] = "{\"cut".into();
    let found = problems(Wire::Chat, &[chat(json!([user("hi"), call, result("a")]))]);
    assert!(found.contains("do not parse") && found.contains("no object"), "{found}");
}

#[test]
fn a_changed_prefix_is_caught() {
    let yes = json!({"role": "assistant", "content": "yes"});
    let first = json!([user("hi"), yes, user("one")]);
    let on = |changed: &Value| json!([user("hi"), changed, user("one"), yes, user("two")]);
    assert_eq!(problems(Wire::Chat, &[chat(first.clone()), chat(on(&yes))]), "");
    let found = problems(Wire::Chat, &[chat(first.clone()), chat(on(&json!({"role": "assistant", "content": "no"})))]);
    assert!(found.contains("the history was changed"), "{found}");

    let server = Server::start(KEY);
    server.allow_changed_prefix();
    server.answer(|_| say("ok"));
    for body in [chat(first.clone()), chat(json!([user("hi"), {"role": "assistant", "content": "no"}, user("one")]))] {
        post(&server, Wire::Chat, KEY, &body);
    }
    assert_eq!(server.take_problems(), [""; 0]);

    let system = json!([{"role": "system", "content": "at noon"}, user("hi"), yes, user("one")]);
    let found = problems(Wire::Chat, &[chat(first), chat(system)]);
    assert!(found.contains("the system prompt is not that"), "{found}");
}

#[test]
fn cache_marks_may_move() {
    let block = |text: &str, mark: bool| {
        let mut block = json!({"type": "text", "text": text});
        if mark {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        json!([block])
    };
    let body =
        |messages: Value| json!({"model": "m", "max_tokens": 9, "system": block("s", true), "messages": messages});
    let (hi, yes) =
        (|mark| json!({"role": "user", "content": block("hi", mark)}), json!({"role": "assistant", "content": "yes"}));
    let later = json!([hi(false), yes, {"role": "user", "content": block("on", true)}]);
    assert_eq!(problems(Wire::Anthropic, &[body(json!([hi(true)])), body(later)]), "");
}

#[test]
fn a_key_must_be_known_and_in_its_header() {
    let server = Server::start(KEY);
    server.answer(|_| say("ok"));
    post(&server, Wire::Chat, "another", &chat(json!([user("hi")])));
    assert!(server.take_problems()[0].contains("no known key"));
    server.accept_key("another");
    post(&server, Wire::Chat, "another", &chat(json!([user("hi")])));
    assert_eq!(server.take_problems(), [""; 0]);
}

/// What a failing piece of a test says.
fn complaint(fails: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(fails)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn a_problem_fails_the_test_when_the_host_is_dropped() {
    let host = Host::new();
    host.script([]);
    post(&host.server, Wire::Chat, KEY, &chat(json!([user("hi")])));
    let root = host.root().to_owned();
    assert!(complaint(|| drop(host)).contains("the script has no reply for it"));
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn the_wires_carry_all_parts_of_an_answer() {
    let reply = || think("Hm.", "So.").stop(Stop::Length);
    let split = calls([Call::new("c1", "write_file", json!({"path": "ä"})).in_pieces_of(4)]).thought("Why?", "SEAL");
    let expected = [
        (Wire::Chat, ["reasoning_content", "\"length\"", "[DONE]", "{\\\"pa"]),
        (Wire::Responses, ["reasoning_summary_text.delta", "max_output_tokens", "response.incomplete", "SEAL"]),
        (Wire::Anthropic, ["thinking_delta", "max_tokens", "message_stop", "SEAL"]),
        (Wire::Gemini, ["\"thought\":true", "MAX_TOKENS", "usageMetadata", "SEAL"]),
    ];
    for (wire, texts) in expected {
        let server = Server::start(KEY);
        server.script([reply(), split.clone()]);
        let got: String = (0..2).map(|_| post(&server, wire, KEY, &chat(json!([user("hi")])))).collect();
        for text in texts {
            assert!(got.contains(text), "{wire:?}: {text} is not in {got}");
        }
    }
}

#[test]
fn faults_are_faults() {
    let server = Server::start(KEY);
    let long = || Reply::pieces(["one", "two", "three"]);
    let ask = |reply: Reply| {
        server.script([reply]);
        post(&server, Wire::Chat, KEY, &chat(json!([user("hi")])))
    };
    let cut = ask(long().cut_after(2));
    assert!(
        cut.contains("two") && !cut.contains("three") && !cut.contains("DONE") && cut.contains("\r\n0\r\n"),
        "{cut}"
    );
    let reset = ask(long().reset_after(1));
    assert!(reset.ends_with("[ConnectionReset]") && !reset.contains("two"), "{reset}");
    server.script([long().stall_after(1), say("late").wait(Duration::from_secs(9))]);
    let [stalled, late] = [(); 2].map(|()| listen(&server, &chat(json!([user("hi")]))));
    assert!(stalled.ends_with("[WouldBlock]") && stalled.contains("one") && !stalled.contains("two"), "{stalled}");
    assert_eq!(late, "[WouldBlock]");
    assert!(ask(long().fail_after(1, Failure::Overload, "busy")).contains(r#"{"error":{"message":"busy"#));
    let limited = ask(fail(429, "slow down").header("retry-after", "7"));
    assert!(
        limited.starts_with("HTTP/1.1 429")
            && limited.contains("retry-after: 7")
            && limited.contains("rate_limit_error")
    );
    assert!(ask(Reply::body(200, "text/html", "<p>")).ends_with("\r\n\r\n<p>"));
    assert!(ask(Reply::raw([": ping\n\n"]).split(1)).contains("1\r\n:\r\n1\r\n \r\n"));
}

#[test]
fn a_function_may_answer() {
    let host = Host::on(Wire::Anthropic);
    host.server.answer(|request| if request.results().is_empty() { call("read_file", json!({})) } else { say("done") });
    let body = json!({"model": "m", "max_tokens": 1, "messages": [user("hi")]});
    assert!(post(&host.server, Wire::Anthropic, KEY, &body).contains("read_file"));
    host.server.wait_requests(1);
    assert_eq!((host.request(0).prompt(), host.request(0).model()), ("hi", "m"));
}

#[test]
fn a_run_is_hermetic_and_its_end_is_told() {
    let host = Host::new();
    let shell = |script: &str| host.agent(&["-c", script]);
    let bash = Path::new("/bin/sh");
    let run = shell("pwd; echo $HOME >&2; env; cat; exit 3").stdin("input").start_program(bash).wait().exits(3);
    assert_eq!(run.stderr.trim(), host.home().to_str().unwrap());
    assert!(run.stdout.starts_with(host.work().to_str().unwrap()) && run.stdout.ends_with("input"));
    assert!(!run.stdout.contains("CARGO"), "the environment of the test run leaks in");

    let mut running = shell("read line; echo got $line; sleep 60 >/dev/null 2>&1")
        .stdin(crate::support::Stdin::Pipe)
        .start_program(bash);
    running.write("this\n");
    running.wait_stdout("got this");
    host.wait_process("sleep 60");
    running.signal(Signal::TERM);
    assert_eq!(running.wait().code, 143);
}

#[test]
fn a_run_past_its_deadline_is_killed() {
    let host = Host::new();
    let shell = host.agent(&["-c", "sleep 60"]).deadline(Duration::from_millis(50));
    let running = shell.start_program(Path::new("/bin/sh"));
    assert!(complaint(|| drop(running.wait())).contains("still running after 50ms"));
    host.assert_no_leftovers();
}

#[test]
fn leftovers_are_seen_and_killed_with_the_host() {
    let host = Host::new();
    let started = Instant::now();
    let script = "(setsid env -i sleep 61 >/dev/null 2>&1 &) ; (setsid sleep 62 >/dev/null 2>&1 &)";
    host.agent(&["-c", script]).start_program(Path::new("/bin/sh")).wait().ok();
    host.wait_process("sleep 61");
    host.wait_process("sleep 62");
    drop(host);
    assert!(started.elapsed() < Duration::from_secs(20));
}
