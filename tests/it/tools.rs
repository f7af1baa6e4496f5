//! Tool calls as the model lives them: order within a reply, failures as results, and what it is told.

use serde_json::json;

use crate::support::{Call, Host, Stop, Wire, calls, say};

fn shell(id: &str, command: &str) -> Call {
    Call::new(id, "execute_bash", json!({"command": command}))
}

fn write(id: &str, path: &str, content: &str) -> Call {
    Call::new(id, "write_file", json!({"path": path, "content": content}))
}

#[test]
fn neighbouring_commands_run_side_by_side() {
    let host = Host::new();
    let meet =
        |mine: &str, other: &str| format!("touch {mine}; until [ -e {other} ]; do sleep 0.01; done; echo met {other}");
    host.script([calls([shell("c1", &meet("a", "b")), shell("c2", &meet("b", "a"))]), say("done")]);
    host.task("go").run().ok();
    assert_eq!(host.request(1).answered(), ["c1", "c2"]);
    assert!(host.request(1).result("c1").contains("met b") && host.request(1).result("c2").contains("met a"));
}

#[test]
fn commands_and_writes_of_one_reply_see_each_other_in_order() {
    let host = Host::new();
    host.file("f.txt", "old\n");
    let batch = [shell("c1", "sleep 0.3; cat f.txt"), write("c2", "f.txt", "new\n"), shell("c3", "cat f.txt")];
    host.script([calls(batch), say("done")]);
    host.task("go").run().ok();
    let request = host.request(1);
    assert!(request.result("c1").contains("old"), "a write waits for the command before it");
    assert!(request.result("c3").contains("new"), "a command waits for the write before it");
}

#[test]
fn two_edits_of_one_file_both_survive() {
    let host = Host::new();
    host.file("f.txt", "one\ntwo\nthree\n");
    let edit = |id, old: &str, new: &str| {
        Call::new(id, "edit_file", json!({"path": "f.txt", "edits": [{"old_text": old, "new_text": new}]}))
    };
    host.script([calls([edit("c1", "one", "1"), edit("c2", "three", "3")]), say("done")]);
    host.task("go").run().ok();
    assert_eq!(host.read("f.txt"), "1\ntwo\n3\n");
}

#[test]
fn one_failure_leaves_its_siblings_alone() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.file("a.txt", "content a");
        let read = |id, path: &str| Call::new(id, "read_file", json!({"path": path}));
        host.script([
            calls([read("c1", "missing.txt"), Call::new("c2", "no_such_tool", json!({})), read("c3", "a.txt")]),
            say("done"),
        ]);
        let run = host.task("go").run().ok();
        assert!(host.request(1).result("c3").contains("content a"));
        let mut ends: Vec<_> =
            run.events("tool_end").iter().map(|end| (end["id"].to_string(), end["ok"] == true)).collect();
        ends.sort();
        assert_eq!(ends, [("\"c1\"".into(), false), ("\"c2\"".into(), false), ("\"c3\"".into(), true)]);
    }
}

#[test]
fn faulty_calls_are_told_what_is_wrong() {
    let host = Host::new();
    let faulty = [
        Call::new("c1", "no_such_tool", json!({"x": 1})),
        Call::new("c2", "read_file", json!({})),
        Call::raw("c3", "read_file", "[1, 2]"),
        Call::raw("c4", "list_files", ""),
    ];
    host.script([calls(faulty), say("made it")]);
    host.task("go").run().ok();
    let request = host.request(1);
    assert!(
        request.result("c1").contains("no_such_tool") && request.result("c1").contains("read_file"),
        "the tools are named"
    );
    assert!(request.result("c2").contains("path") && request.result("c3").contains("object"));
    assert!(!request.result("c4").is_empty(), "no arguments are the empty object");
}

#[test]
fn a_call_cut_by_the_output_limit_is_never_executed() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.file("good.txt", "precious\n");
        let whole = write("c1", "good.txt", "half");
        let cut = Call::raw("c2", "write_file", r#"{"path": "good.txt", "content": "only the beg"#);
        host.script([calls([whole, cut]).stop(Stop::Length), say("ok")]);
        host.task("go").run().ok();
        assert!(host.read("good.txt") == "precious\n" || host.read("good.txt") == "half");
        let told = host.request(1).result("c2").to_lowercase();
        assert!(["limit", "cut", "length", "truncat"].iter().any(|word| told.contains(word)), "{told}");
    }
}

#[test]
fn a_whole_looking_last_call_of_a_cut_answer_is_not_executed_either() {
    let host = Host::new();
    host.file("good.txt", "precious\n");
    host.script([calls([write("c1", "good.txt", "")]).stop(Stop::Length), say("ok")]);
    host.task("go").run().ok();
    assert_eq!(host.read("good.txt"), "precious\n");
}

#[test]
fn a_command_tells_its_end_and_leaves_nothing_running() {
    let host = Host::new();
    let told = host.tool("execute_bash", json!({"command": "echo out; echo err >&2; exit 7"}));
    assert!(told.contains("out") && told.contains("err") && told.trim_end().ends_with("exit code: 7"), "{told}");
    let told = host.tool("execute_bash", json!({"command": "echo begun; sleep 60 & sleep 60", "timeout": 1}));
    assert!(told.contains("begun") && told.contains("timed out after 1") && told.contains("timeout"), "{told}");
    host.assert_no_leftovers();
}

#[test]
fn long_output_keeps_head_and_tail_and_says_where_the_rest_is() {
    let host = Host::new();
    let told = host.tool("execute_bash", json!({"command": "seq 1 20000"}));
    assert!(told.starts_with("1\n2\n") && told.contains("\n20000\n") && told.len() < 31_500);
    let line = told.lines().find(|line| line.starts_with("[... ")).unwrap();
    let path = line.split("full output: ").nth(1).unwrap().trim_end_matches(" ...]");
    assert!(std::fs::read_to_string(path).unwrap().contains("\n10000\n"), "{line}");
}

#[test]
fn a_missing_file_gets_a_suggestion() {
    let host = Host::new();
    host.file("src/main.rs", "fn main() {}");
    let told = host.tool("read_file", json!({"path": "src/man.rs"}));
    assert!(told.contains("src/man.rs") && told.contains("src/main.rs"), "{told}");
}

#[test]
fn a_failure_repeats_no_long_value() {
    let host = Host::new();
    let long = "*[".repeat(50_000);
    let path = "ä/".repeat(2_000);
    let failing = [
        Call::new("c1", &long, json!({})),
        Call::new("c2", "find_files", json!({"pattern": long})),
        Call::new("c3", "search_files", json!({"pattern": long})),
        Call::new("c4", "read_file", json!({"path": path})),
        Call::new("c5", "list_files", json!({"path": path})),
        Call::new("c6", "list_files", json!({"depth": long})),
        Call::new("c7", "read_file", json!({ long.as_str(): 1 })),
        Call::new("c8", "search_files", json!({"pattern": "x", "glob": format!("{}x", "*".repeat(50_000))})),
    ];
    let ids: Vec<String> = (1..=failing.len()).map(|number| format!("c{number}")).collect();
    host.script([calls(failing), say("done")]);
    host.task("go").run().ok();
    for id in ids {
        let said = host.request(1).result(&id).to_owned();
        assert!(!said.is_empty() && said.chars().count() < 1_500, "{id}: {said}");
    }
}

#[test]
fn numbers_may_be_texts_and_complaints_are_in_words() {
    let host = Host::new();
    host.file("f.txt", "one\ntwo\nthree\n");
    let read = host.tool("read_file", json!({"path": "f.txt", "offset": "2", "limit": "1"}));
    assert!(read.contains("two") && !read.contains("one") && !read.contains("three"), "{read}");
    let complaint = host.tool("read_file", json!({"path": "f.txt", "offset": "two"}));
    assert!(complaint.contains("offset: expected a whole number from 0, not \"two\""), "{complaint}");
    std::os::unix::fs::symlink("loop", host.work().join("loop")).unwrap();
    let looping = host.tool("list_files", json!({"path": "loop"}));
    assert!(looping.contains("a link to loop") && !looping.contains("did you mean"), "{looping}");
}

#[test]
fn output_that_no_disk_takes_is_told_to_be_lost() {
    let host = Host::new();
    // A file where the folder would be.
    host.file(host.data_dir().join("output"), "");
    let told = host.tool("execute_bash", json!({"command": "seq 20000"}));
    assert!(told.contains("; the full output could not be kept: "), "{told:.300}");
    assert!(told.ends_with("exit code: 0"));
}
