//! Another model goes on with the conversation.

use std::fs;

use serde_json::json;

use super::{SETTLED, begun, chat, leave};
use crate::support::{Host, KEY, MODEL, PROVIDER, Usage, call, say};

/// A command that runs until the file `go` is there.
const WAITS: &str = "echo waiting; while [ ! -e go ]; do sleep 0.02; done; echo went";

/// A second provider beside the first, with a key of its own and one model.
fn two(host: &Host) {
    let mut other = host.provider("other-model");
    other["api_key"] = json!("other-key-8871");
    host.server.accept_key("other-key-8871");
    host.config(json!({"providers": {"other": other}}));
}

#[test]
fn a_model_is_found_in_the_list_and_answers_with_its_own_key() {
    let host = Host::new();
    two(&host);
    host.script([say("first answer"), say("second answer")]);
    let pty = begun(host.agent(&["--api-key", KEY]));
    pty.line("one");
    pty.wait_for("first answer");
    pty.line("/model");
    pty.wait_screen("who answers");
    pty.wait_screen("in use");
    pty.send("othr");
    // The server at the second address lists the first model, too.
    pty.wait_screen("2 of 3");
    pty.keys(&["enter"]);
    pty.wait_for("other-model answers from now on");
    pty.line("two");
    pty.wait_for("second answer");
    pty.wait_screen("other-model");
    leave(pty);
    let (first, second) = (host.request(0), host.request(1));
    assert_eq!((first.model(), second.model()), (MODEL, "other-model"));
    assert_eq!(second.header("authorization"), "Bearer other-key-8871");
    assert!(second.mentions("first answer"));
    let session = host.session();
    let switches: Vec<_> = session.records.iter().filter(|record| record["type"] == "model").collect();
    assert_eq!(switches, [&json!({"type": "model", "provider": "other", "model": "other-model"})]);
}

#[test]
fn a_new_session_keeps_the_model_and_what_cannot_be_used_says_why() {
    let host = Host::new();
    two(&host);
    host.script([say("an answer")]);
    let pty = chat(&host);
    pty.line("/model othermodel2");
    pty.wait_for("did you mean `other-model`?");
    pty.line("/model openai/gpt-5");
    pty.wait_for("OPENAI_API_KEY");
    pty.line("/model other/other-model");
    pty.wait_for("other-model answers from now on");
    pty.line("/new");
    pty.wait(|pty| pty.count("viola 0") == 2, "a second banner");
    pty.line("hello");
    pty.wait_for("an answer");
    leave(pty);
    assert_eq!(host.request(0).model(), "other-model");
}

#[test]
fn while_a_task_runs_its_next_request_goes_to_the_other_model() {
    let host = Host::new();
    two(&host);
    host.script([call("execute_bash", json!({"command": WAITS})), say("from the other")]);
    let pty = begun(host.agent(&["--yolo"]));
    pty.line("begin");
    pty.wait_screen("waiting");
    pty.line("/model other/other-model");
    pty.wait_for("other-model answers from its next call on");
    pty.wait_screen("test-model, then other-model");
    fs::write(host.work().join("go"), "").unwrap();
    pty.wait_for("from the other");
    pty.wait_gone("then other-model");
    leave(pty);
    let models: Vec<String> = host.server.requests().iter().map(|request| request.model().to_owned()).collect();
    assert_eq!(models, [MODEL, "other-model"]);
}

#[test]
fn costs_are_added_up_for_the_turn_the_session_and_the_day() {
    let host = Host::new();
    let cost = json!({"input": 1.0, "output": 10.0, "cacheRead": 0.1, "cacheWrite": 1.0});
    host.config(json!({"providers": {PROVIDER: {"models": [{"id": MODEL, "cost": cost}]}}}));
    let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 0 };
    host.script([say("one").usage(usage), say("two").usage(usage)]);
    let pty = chat(&host);
    pty.line("first");
    pty.wait_for("one");
    leave(pty);
    let pty = chat(&host);
    pty.line("second");
    pty.wait_for("two");
    pty.wait_idle(SETTLED);
    pty.line("/cost");
    pty.wait_for("$4.00");
    let shown = pty.screen();
    assert_eq!(shown.matches("$2.00").count(), 3, "last turn, session, status line\n{shown}");
    leave(pty);
    let listed = host.agent(&["sessions", "list"]).run().ok();
    assert_eq!(listed.stdout.matches("$2.00").count(), 2, "{}", listed.stdout);
}
