//! `--until`: a task goes on until a command succeeds, within the limits of one task. And the plan a model makes for it.

use serde_json::json;

use crate::support::{Call, Host, call, calls, say};

fn shell(id: &str, command: &str) -> Call {
    Call::new(id, "execute_bash", json!({"command": command}))
}

#[test]
fn a_task_goes_on_until_its_check_succeeds() {
    let host = Host::new();
    host.script([
        say("All is done."),
        calls([shell("c1", "touch half")]),
        say("Now it is."),
        calls([shell("c2", "touch whole")]),
        say("Finished."),
    ]);
    let check = "echo checked; test -f whole";
    let run = host.task("make it whole").with(&["--until", check]).run().ok();
    let result = run.result();
    assert_eq!(
        (&result["text"], &result["turns"], &result["stop_reason"]),
        (&json!("Finished."), &json!(5), &json!("stop"))
    );
    assert_eq!(result["usage_total"]["output_tokens"], 50, "all rounds are counted");
    let turns: Vec<_> = run.events("turn_start").iter().map(|event| event["turn"].as_u64().unwrap()).collect();
    assert_eq!(turns, [0, 1, 2, 3, 4]);
    for (request, words) in [(1, "checked\nexit code: 1"), (3, "checked\nexit code: 1")] {
        let request = host.request(request);
        assert!(request.prompt().contains(words) && request.prompt().contains(check), "{}", request.prompt());
    }
    let told: Vec<_> = run.notices("goal").iter().map(|notice| notice["text"].as_str().unwrap().to_owned()).collect();
    assert!(told.len() == 3 && told[0].contains("failed (exit code: 1)") && told[2].contains("succeeded"), "{told:?}");
}

#[test]
fn a_limit_ends_what_its_check_would_not() {
    let host = Host::new();
    host.script([say("Done."), calls([shell("c1", "true")])]);
    let run = host.task("try").with(&["--until", "false", "--max-turns", "2"]).run().exits(5);
    assert_eq!((&run.result()["stop_reason"], &run.result()["turns"]), (&json!("max_turns"), &json!(2)));
    let late = Host::new();
    late.script([say("Done.")]);
    let run = late.task("wait").with(&["--until", "sleep 60", "--timeout", "2"]).run().exits(5);
    assert_eq!(run.result()["stop_reason"], "timeout");
    late.assert_no_leftovers();
}

#[test]
fn a_model_that_only_talks_is_stopped() {
    let host = Host::new();
    host.script([say("Done."), say("It is done."), say("Really.")]);
    let run = host.task("try").with(&["--until", "echo red; exit 3"]).run().exits(5);
    assert_eq!((&run.result()["stop_reason"], &run.result()["turns"]), (&json!("loop"), &json!(3)));
    let empty = host.print("try").with(&["--until", " "]).run().exits(2);
    assert!(empty.stderr.contains("--until"), "{}", empty.stderr);
}

#[test]
fn what_a_check_changes_is_taken_back_with_its_task() {
    let host = Host::new();
    host.file("kept.txt", "before\n");
    host.script([say("Done.")]);
    host.task("go").with(&["--until", "echo after > kept.txt"]).run().ok();
    assert_eq!(host.read("kept.txt"), "after\n");
    host.agent(&["undo", "--files", "--yes"]).run().ok();
    assert_eq!(host.read("kept.txt"), "before\n");
}

#[test]
fn a_plan_is_a_checklist() {
    let host = Host::new();
    let steps = json!([{"text": "look", "status": "completed"}, {"text": "mend", "status": "in_progress"},
        {"text": "test", "status": "pending"}]);
    host.script([call("update_plan", json!({"steps": steps})), say("ok")]);
    let run = host.agent(&["-p", "--output-format", "stream-json", "go"]).run().ok();
    assert_eq!(host.request(1).told(), "[x] look\n[>] mend\n[ ] test");
    let start = &run.events("tool_start")[0];
    assert_eq!((&start["risk"], &start["args"]["steps"]), (&json!("safe"), &steps));
    assert!(!host.request(0).tools().contains(&"ask_user"), "nobody can answer");
}

#[test]
fn a_check_that_a_rule_denies_is_refused_before_anything_is_asked() {
    let host = Host::new();
    host.config(json!({"permissions": {"deny": ["execute_bash(rm *)"]}}));
    let run = host.task("go").with(&["--until", "rm -f x"]).run().exits(2);
    run.says(&["--until: the rule \"execute_bash(rm *)\" forbids this command"]);
    host.agent(&["-p", "--plan", "--until", "true", "go"]).run().exits(2).says(&["--plan"]);
}
