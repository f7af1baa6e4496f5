//! Five processes change the same files at once, and nothing is lost; two open the same session, and both keep theirs.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Call, Host, Role, calls, say, side_by_side};

const WRITERS: usize = 5;
const CHANGES: usize = 20;

/// Five at once do something twenty times, each time with another name.
fn at_once(work: impl Fn(&str) + Sync) -> Vec<String> {
    let names = |writer| (0..CHANGES).map(move |change| format!("w{writer}-{change}"));
    side_by_side(0..WRITERS, |writer| names(writer).for_each(|name| work(&name)));
    (0..WRITERS).flat_map(names).collect()
}

fn read(path: impl AsRef<std::path::Path>) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn settings_of_five_are_all_kept() {
    let host = Host::new();
    let url = |name: &str| format!("http://{name}.invalid/v1");
    let names = at_once(|name| {
        host.agent(&["config", "set", &format!("providers.{name}.base_url"), &url(name)]).run().ok();
    });
    let config = read(host.config_dir().join("config.json"));
    for name in names {
        assert_eq!(config["providers"][&name]["base_url"], url(&name));
    }
    assert_eq!(config["provider"], "mock", "what was there before");
}

#[test]
fn keys_of_five_are_all_kept() {
    let host = Host::new();
    let entry = json!({"base_url": "http://127.0.0.1:9/v1", "api": "openai-completions"});
    let names: Vec<_> = (0..WRITERS).flat_map(|one| (0..CHANGES).map(move |two| format!("w{one}-{two}"))).collect();
    let providers: serde_json::Map<_, _> = names.iter().map(|name| (name.clone(), entry.clone())).collect();
    host.config(json!({"providers": providers}));
    at_once(|name| {
        let login = host.agent(&["auth", "login", "--no-check", name]);
        login.stdin(format!("key-of-{name}\n").as_str()).run().ok();
    });
    let kept = fs::read_to_string(host.config_dir().join("auth.json")).unwrap();
    for name in names {
        assert!(kept.contains(&format!("\"key-of-{name}\"")), "{name}: {kept}");
    }
}

#[test]
fn trust_of_five_is_all_kept() {
    let host = Host::new();
    let names = at_once(|name| {
        host.file(format!("{name}/.viola.json"), r#"{"base_url": "http://127.0.0.1:9/v1"}"#);
        host.agent(&["trust"]).cwd(name).stdin("yes\n").run().ok();
    });
    let kept = read(host.data_dir().join("trust.json"));
    for name in names {
        assert!(kept[host.work().join(&name).to_str().unwrap()]["sha256"].is_string(), "{name}: {kept}");
    }
}

#[test]
fn the_second_to_open_a_session_goes_on_in_a_copy() {
    let host = Host::new();
    host.file("gate", "");
    let wait = "while test -e gate; do sleep 0.01; done; echo passed";
    host.server.answer(move |request| match request.prompt().lines().last() {
        Some("first") => say("one"),
        Some("second") if request.answered().is_empty() => {
            calls([Call::new("c1", "execute_bash", json!({"command": wait}))])
        }
        Some("second") => say("two"),
        _ => say("three"),
    });
    host.task("first").run().ok();
    let first = host.task("second").with(&["-c"]).start();
    first.wait_stdout("\"tool_start\"");
    // What the other one has begun is not in the copy: two talks with one beginning.
    host.server.allow_changed_prefix();
    let second = host.task("third").with(&["-c"]).run().ok();
    let ids: Vec<_> = host.sessions().iter().map(crate::support::Session::id).collect();
    let copy = second.result()["session_id"].as_str().unwrap().to_owned();
    let notices = second.notices("session");
    let told = notices[0]["text"].as_str().unwrap();
    let original = ids.iter().find(|id| **id != copy).unwrap();
    assert!(notices.len() == 1 && told.contains("another process") && told.contains(&copy), "{notices:?}");
    assert!(told.contains(original.as_str()));
    fs::remove_file(host.work().join("gate")).unwrap();
    let first = first.wait().ok();
    assert_eq!(first.result()["session_id"], **original);
    let sessions = host.sessions();
    assert_eq!((ids.len(), sessions.len()), (2, 2));
    for session in &sessions {
        assert_eq!(session.broken, 0);
        let is_copy = session.id() == copy;
        assert_eq!(session.header()["parent"], if is_copy { json!(original) } else { Value::Null });
        let (said, last) = if is_copy { ("third", "three") } else { ("second", "two") };
        assert!(
            session.texts("user").last().unwrap().ends_with(said) && session.texts("assistant").last().unwrap() == last
        );
    }
}

#[test]
fn a_copy_that_was_never_finished_is_not_gone_on_with() {
    let host = Host::new();
    host.script([calls([Call::new("c1", "execute_bash", json!({"command": "sleep 60"}))])]);
    let first = host.task("first").start();
    host.wait_process("sleep 60");
    // As one that was killed while it copied has left it: the name is taken, the lines are elsewhere.
    let session = host.session();
    fs::write(session.path.with_file_name("20991231-235959-0000.jsonl"), "").unwrap();
    let half = fs::read_to_string(&session.path).unwrap();
    fs::write(session.path.with_file_name("20991231-235959-0000.new"), &half[..half.len() / 2]).unwrap();
    first.signal(Signal::KILL);
    first.wait().exits(137);
    host.script([say("on we go")]);
    let run = host.task("second").with(&["-c"]).run().ok();
    assert_eq!(run.result()["session_id"], session.id());
    assert!(host.request(1).said(Role::User).join("\n").contains("first"));
}
