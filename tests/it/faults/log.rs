//! The program's log: what is in it, what never is, and that nothing depends on it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::{Call, Host, KEY, calls, fail, say, side_by_side};

fn lines(host: &Host) -> Vec<Value> {
    let text = fs::read_to_string(host.data_dir().join("logs/agent.log")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn column<'a>(lines: &'a [Value], key: &str) -> Vec<&'a Value> {
    lines.iter().map(|line| &line[key]).collect()
}

#[test]
fn it_tells_what_happened_and_not_what_was_said() {
    let host = Host::new();
    host.config(json!({"http": {"retry_cap": 1}}));
    let hidden = ["the-prompt", "the-argument", "the-output", "the-answer", "the-thought", "the-refusal", KEY];
    let shell = |id: &str, command: &str| Call::new(id, "execute_bash", json!({"command": command}));
    host.script([
        calls([shell("c1", "echo the-output; echo the-argument >/dev/null"), shell("c2", "exit 3")])
            .thought("the-thought", "SEAL"),
        fail(429, "slow down, the-refusal").header("retry-after", "0"),
        say("the-answer"),
        fail(400, "the-refusal"),
    ]);
    host.task("the-prompt").run().ok();
    host.task("the-prompt").with(&["--no-session"]).run().exits(4);
    let lines = lines(&host);
    let events = ["start", "tool", "tool", "model", "notice", "model", "end"];
    let first = &lines[..events.len()];
    let mut seen = column(first, "event").into_iter().filter_map(Value::as_str).collect::<Vec<_>>();
    seen.sort_unstable();
    let mut expected = events.to_vec();
    expected.sort_unstable();
    assert_eq!(seen, expected, "{first:#?}");
    assert_eq!((&first[0]["mode"], &first[0]["cwd"]), (&json!("one-shot"), &json!(host.work())));
    assert_eq!(
        (&first[0]["session"], &first[0]["version"]),
        (&json!(host.session().id()), &json!(env!("CARGO_PKG_VERSION")))
    );
    let tools: Vec<_> = first.iter().filter(|line| line["event"] == "tool").collect();
    assert!(tools.iter().all(|tool| tool["name"] == "execute_bash" && tool["duration_ms"].is_u64()));
    let retry = first.iter().find(|line| line["event"] == "notice").unwrap();
    assert!(retry["code"] == "retry" && retry["text"].as_str().unwrap().contains("trying again"), "{retry}");
    assert_eq!((&first[6]["exit_code"], &first[6]["level"]), (&json!(0), &json!("info")));
    assert!(column(first, "pid").windows(2).all(|pair| pair[0] == pair[1]));
    let second = &lines[events.len()..];
    assert_eq!(column(second, "event"), ["start", "model", "end"]);
    assert_eq!((&second[1]["ok"], &second[1]["kind"]), (&json!(false), &json!("invalid_request")));
    assert_eq!((&second[2]["exit_code"], &second[0]["session"]), (&json!(4), &Value::Null));
    let text = fs::read_to_string(host.data_dir().join("logs/agent.log")).unwrap();
    for hidden in hidden {
        assert!(!text.contains(hidden), "{hidden} is in the log:\n{text}");
    }
    assert!(host.open_to_others().is_empty());
}

#[test]
fn it_rolls_over_and_processes_share_it() {
    let host = Host::new();
    let logs = host.data_dir().join("logs");
    fs::create_dir(&logs).unwrap();
    fs::set_permissions(&logs, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(logs.join("agent.log"), "x".repeat(4_999_999) + "\n").unwrap();
    host.server.answer(|_| say("ok"));
    side_by_side(0..5, |_| (0..4).for_each(|_| drop(host.print("hi").run().ok())));
    assert_eq!(fs::read_dir(&logs).unwrap().count(), 2);
    let mut old = fs::read_to_string(logs.join("agent.1.log")).unwrap();
    // Whoever had the full one open may have added to it.
    let added = old.split_off(5_000_000);
    let new = fs::read_to_string(logs.join("agent.log")).unwrap();
    let lines: Vec<Value> = added.lines().chain(new.lines()).map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in ["start", "model", "end"] {
        assert_eq!(lines.iter().filter(|line| line["event"] == event).count(), 20, "{event}");
    }
}

#[test]
fn nothing_depends_on_it() {
    let host = Host::new();
    host.file(host.data_dir().join("logs"), "in the way");
    host.script([say("one"), say("two")]);
    host.print("first").run().is(0, "one\n", &[]);
    fs::remove_file(host.data_dir().join("logs")).unwrap();
    fs::create_dir(host.data_dir().join("logs")).unwrap();
    std::os::unix::fs::symlink("/dev/full", host.data_dir().join("logs/agent.log")).unwrap();
    let run = host.print("second").run();
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "two\n", ""));
}
