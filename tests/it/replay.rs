//! Playing sessions back: the embedded demo, and any recorded session.

use serde_json::json;

use crate::support::{Host, call, say};

#[test]
fn the_demo_turns_red_into_green_with_real_tools() {
    let host = Host::new();
    let run = host.agent(&["demo", "--output-format", "stream-json"]).run().ok();
    let ended = run.events("tool_end");
    let ran: Vec<_> = ended.iter().filter(|end| end["name"] == "execute_bash").map(|end| &end["ok"]).collect();
    assert_eq!(ran, [&json!(false), &json!(true)], "the tests fail, and then they pass");
    assert_eq!(run.notices("replay"), Vec::<serde_json::Value>::new(), "the record is what the tools still return");
    assert!(run.stderr.contains("+    minutes=$(($1 % 3600 / 60))"), "the diff is shown: {}", run.stderr);
    assert_eq!(run.result()["exit_code"], 0);
    assert!(
        std::fs::read_dir(host.work()).unwrap().next().is_none(),
        "nothing is left in the folder it was called from"
    );
    assert!(host.sessions().is_empty());
}

#[test]
fn the_demo_claims_nothing_that_did_not_run() {
    let host = Host::new();
    let run = host
        .agent(&["demo", "--output-format", "json"])
        .env("PATH", "/nonexistent")
        .run()
        .exits(1)
        .says(&["did not succeed"]);
    let result = run.json();
    assert_eq!((&result["exit_code"], &result["is_error"]), (&json!(1), &json!(true)));
}

#[test]
fn the_demos_project_can_be_kept_and_is_never_unpacked_over_something() {
    let host = Host::new();
    host.agent(&["demo", "--keep", "tea"]).run().ok();
    assert!(host.read("tea/lib/duration.sh").contains("% 3600"));
    host.agent(&["demo", "--keep", "tea"]).run().exits(2).says(&["tea is not empty"]);
}

#[test]
fn a_replay_runs_the_tools_and_says_when_the_world_is_another() {
    let host = Host::new();
    let path = host.file("a.txt", "as it was");
    host.script([call("read_file", json!({"path": "a.txt"})), say("It is as it was.")]);
    host.task("look").run().ok();
    let recorded = host.file("../recorded.jsonl", &std::fs::read_to_string(&host.session().path).unwrap());
    let again = || {
        let replay = ["--provider", "replay", "--model", recorded.to_str().unwrap()];
        host.task("look").with(&replay).run().ok()
    };
    let same = again();
    assert_eq!((same.result()["text"].as_str(), same.notices("replay").len()), (Some("It is as it was."), 0));
    std::fs::write(path, "something else").unwrap();
    let drifted = again().notices("replay");
    assert_eq!(drifted.len(), 1);
    assert!(drifted[0]["text"].as_str().unwrap().contains("read_file"), "{drifted:?}");
}
