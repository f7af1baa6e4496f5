//! What goes on where a model fails: the next in line, asked with its own key.

use serde_json::{Value, json};

use crate::support::{Call, Host, KEY, MODEL, PROVIDER, Request, Wire, call, calls, fail, say};

/// Two providers at one server: the usual one, and `other`, with a key of its own; these models in line.
fn in_line(host: &Host, models: &[&str]) {
    let mut other = host.provider("other-model");
    other["api_key"] = json!("other-key-4471a0");
    host.server.accept_key("other-key-4471a0");
    host.config(json!({"model": models, "providers": {"other": other}, "http": {"max_retries": 0}}));
}

#[test]
fn the_next_model_goes_on_within_the_task_and_after_it() {
    let host = Host::new();
    in_line(&host, &[&format!("{PROVIDER}/{MODEL}"), "other/other-model"]);
    host.file("a.txt", "data");
    host.script([call("read_file", json!({"path": "a.txt"})), fail(503, "busy"), say("done")]);
    let run = host.task("go").with(&["--api-key", KEY]).run().ok();
    assert_eq!(run.result()["text"], "done");
    let asked: Vec<_> = (0..3).map(|number| host.request(number)).collect();
    let models: Vec<_> = asked.iter().map(|request| request.model()).collect();
    assert_eq!(models, [MODEL, MODEL, "other-model"]);
    assert_eq!(asked[2].header("authorization"), "Bearer other-key-4471a0");
    let told = run.notices("fallback");
    assert_eq!(told.len(), 1, "{told:?}");
    let text = told[0]["text"].as_str().unwrap();
    assert!(text.contains("other/other-model goes on") && text.contains("busy"), "{text}");
    let turns: Vec<_> = run.events("turn_start").iter().map(|event| event["model"]["id"].clone()).collect();
    assert_eq!(turns, [MODEL, MODEL, "other-model"]);
    let session = host.session();
    assert!(session.records.iter().any(|record| record["type"] == "model" && record["model"] == "other-model"));
}

#[test]
fn what_cannot_go_on_is_passed_over_and_the_first_failure_stands() {
    let host = Host::new();
    in_line(&host, &[&format!("{PROVIDER}/{MODEL}"), "other/other-model", "anthropic/claude-x"]);
    host.script([fail(503, "first trouble"), fail(503, "second trouble")]);
    let run = host.task("go").run().exits(4);
    let told: Vec<_> = run.notices("fallback").iter().map(|notice| notice["text"].to_string()).collect();
    assert!(told.len() == 2 && told[1].contains("anthropic/claude-x cannot go on"), "{told:?}");
    assert!(run.events("error")[0]["msg"].as_str().unwrap().contains("second trouble"));
}

#[test]
fn a_budget_is_not_left_to_a_model_of_unknown_price() {
    let host = Host::new();
    let line = [format!("{PROVIDER}/{MODEL}"), "other/other-model".to_owned()];
    let mut first = host.provider(MODEL);
    first["models"][0]["cost"] = json!({"input": 1, "output": 1});
    let other = host.provider("other-model");
    host.config(json!({"model": line, "providers": {PROVIDER: first, "other": other}, "http": {"max_retries": 0}}));
    host.script([fail(503, "busy")]);
    let run = host.task("go").with(&["--max-cost", "1"]).run().exits(4);
    assert!(run.notices("fallback")[0]["text"].as_str().unwrap().contains("price"), "{:?}", run.notices("fallback"));
}

#[test]
fn what_holds_for_the_first_model_holds_for_the_next() {
    let run = |window: u64, asked: bool| {
        let host = Host::new();
        let mut other = host.provider("other-model");
        other["models"][0]["contextWindow"] = json!(window);
        let line = json!([format!("{PROVIDER}/{MODEL}"), "other/other-model"]);
        host.config(json!({"model": line, "providers": {"other": other}, "http": {"max_retries": 0}}));
        host.script([Some(fail(503, "busy")), asked.then(|| say("done"))].into_iter().flatten());
        host.task("go").run()
    };
    let none = run(2_000, false).exits(4);
    let told = none.notices("fallback")[0]["text"].to_string();
    assert!(told.contains("other/other-model cannot go on") && told.contains("holds 2,000"), "{told}");
    let little = run(4_000, true).ok();
    let told = little.notices("config")[0]["text"].to_string();
    assert!(told.contains("4,000 tokens in the window of other-model"), "{told}");
}

#[test]
fn a_wrong_key_is_no_outage() {
    let host = Host::new();
    in_line(&host, &[&format!("{PROVIDER}/{MODEL}"), "other/other-model"]);
    host.script([fail(401, "no such key")]);
    let run = host.task("go").run().exits(4);
    assert!(run.notices("fallback").is_empty());
}

/// An id of a call as odd as servers of this wire may give it.
fn odd_id(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat | Wire::Responses | Wire::Anthropic => {
            "functions.list_files:0|fc_an-id+longer/than=forty characters, and odd besides"
        }
        // What Google named goes back to it as it came.
        Wire::Gemini => "list_files-0_an-id-that-is-longer-than-forty-characters",
    }
}

/// A provider on each wire, all of them at one server; the usual one is `PROVIDER`, the others are called by their wire.
fn on_all_wires(wire: Wire, model: Value) -> Host {
    let host = Host::on(wire);
    let providers: serde_json::Map<_, _> = Wire::ALL
        .into_iter()
        .map(|wire| {
            let mut provider = host.provider("m");
            provider["api"] = wire.api().into();
            provider["base_url"] = host.server.base_url(wire).into();
            (format!("on-{}", wire.api()), provider)
        })
        .collect();
    host.config(json!({"model": model, "providers": providers, "http": {"max_retries": 0}}));
    host.server.allow_changed_prefix();
    host
}

/// Each call has an id its wire takes, and a result under that id.
fn assert_ids(request: &Request) {
    let made: Vec<&str> =
        request.conversation.turns.iter().flat_map(|turn| &turn.calls).map(|call| call.id.as_str()).collect();
    assert_eq!(made, request.answered(), "{:?}", request.wire);
    let longest = match request.wire {
        Wire::Chat => 40,
        Wire::Responses | Wire::Anthropic | Wire::Gemini => 64,
    };
    let legal = |id: &&str| {
        id.len() <= longest && id.chars().all(|character| character.is_ascii_alphanumeric() || "_-".contains(character))
    };
    assert!(made.iter().all(legal), "{:?}: {made:?}", request.wire);
}

#[test]
fn a_model_on_another_wire_goes_on_without_the_reasoning_of_the_first() {
    for wire in Wire::ALL {
        for next in Wire::ALL {
            let host = on_all_wires(wire, json!([MODEL, format!("on-{}/m", next.api())]));
            let sealed = calls([Call::new(odd_id(wire), "list_files", json!({}))]).thought("Plan.", "SEAL-1");
            host.script([sealed, fail(503, "busy"), say("done")]);
            let run = host.task("go").with(&["--reasoning-effort", "high"]).run().ok();
            assert_eq!((&run.result()["text"], run.notices("fallback").len()), (&json!("done"), 1));
            let last = host.request(2);
            assert_eq!((last.wire, last.model()), (next, "m"));
            assert!(!last.mentions("SEAL-1") && !last.mentions("Plan."), "{wire:?} to {next:?}");
            assert_ids(&last);
        }
    }
}

#[test]
fn a_session_goes_from_wire_to_wire_and_back() {
    for wire in Wire::ALL {
        for other in Wire::ALL.into_iter().filter(|other| *other != wire) {
            let host = on_all_wires(wire, json!(MODEL));
            let step = |id: &str, seal: &str| calls([Call::new(id, "list_files", json!({}))]).thought("Plan.", seal);
            host.script([step(odd_id(wire), "SEAL-A"), say("one"), step("b", "SEAL-B"), say("two"), say("three")]);
            let effort = ["--reasoning-effort", "high"];
            host.task("first").with(&effort).run().ok();
            let model = format!("on-{}/m", other.api());
            host.task("second").with(&["-c", "-m", &model]).with(&effort).run().ok();
            host.task("third").with(&["-c", "-m", &format!("{PROVIDER}/{MODEL}")]).with(&effort).run().ok();
            let wires: Vec<_> = (0..5).map(|number| host.request(number).wire).collect();
            assert_eq!(wires, [wire, wire, other, other, wire]);
            for (number, foreign) in [(2, "SEAL-A"), (3, "SEAL-A"), (4, "SEAL-B")] {
                assert!(!host.request(number).mentions(foreign), "{wire:?}, {other:?}: {foreign} in {number}");
                assert_ids(&host.request(number));
            }
            assert_eq!(host.request(4).prompt(), "third");
        }
    }
}
