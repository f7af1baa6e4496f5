//! What goes on where a model fails: the next in line, asked with its own key.

use serde_json::json;

use crate::support::{Host, KEY, MODEL, PROVIDER, call, fail, say};

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
