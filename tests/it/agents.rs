//! Sub-agents through the whole program: their events, rights, budget and transcripts, and that they work side by side.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Call, Host, Reply, Request, Role, Session, call, calls, say};

/// Whether a request is of a sub-agent: its first message holds the word.
fn is_of(request: &Request, word: &str) -> bool {
    request.said(Role::User).first().is_some_and(|first| first.contains(word))
}

fn dispatch(arguments: Value) -> Reply {
    calls([Call::new("outer", "dispatch_agent", arguments)])
}

/// A parent that sends one sub-agent, whose side is `inner`, and then repeats what it hears.
fn parent(host: &Host, arguments: Value, inner: impl Fn(&Request) -> Reply + Send + Sync + 'static) {
    host.server.answer(move |request| match is_of(request, "inner") {
        true => inner(request),
        false if request.results().is_empty() => dispatch(arguments.clone()),
        false => say("heard"),
    });
}

/// What the parent was told.
fn told(host: &Host) -> String {
    let requests = host.server.requests();
    let last = requests.iter().rev().find(|request| !is_of(request, "inner")).unwrap();
    last.result("outer").to_owned()
}

#[test]
fn a_sub_agent_works_alone_and_reports() {
    let host = Host::new();
    host.file("a.txt", "the number is 7");
    parent(&host, json!({"task": "inner: find the number"}), |request| match request.results().is_empty() {
        true => call("read_file", json!({"path": "a.txt"})),
        false => say("The number is 7."),
    });
    let run = host.task("delegate").run().ok();
    assert_eq!(run.result()["text"], "heard");
    let told = told(&host);
    assert!(told.starts_with("The number is 7.\n[2 model calls, "), "{told}");
    let inner: Vec<Value> = run.all_events().into_iter().filter(|event| event["agent"] == "outer").collect();
    let kinds: Vec<&str> = inner.iter().filter_map(|event| event["type"].as_str()).collect();
    assert!(kinds.contains(&"turn_start") && kinds.contains(&"tool_end") && !kinds.contains(&"result"), "{kinds:?}");
    // The transcript lies beside the session and is opened like one.
    let session = host.session();
    let folder = session.path.with_extension("agents");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let transcript = Session::read(file);
    assert_eq!(transcript.header()["parent"], session.id());
    assert_eq!(transcript.texts("assistant").last().map(String::as_str), Some("The number is 7."));
    let shown = host.agent(&["sessions", "show", file.to_str().unwrap()]).run().ok();
    assert!(shown.stdout.contains("find the number"), "{}", shown.stdout);
    assert_eq!(host.sessions().len(), 1, "it is no session of its own");
}

#[test]
fn a_tool_that_is_not_given_is_not_there() {
    let host = Host::new();
    parent(&host, json!({"task": "inner work", "tools": ["read_file", "list_files"]}), |request| {
        match request.results().is_empty() {
            true => call("write_file", json!({"path": "x", "content": "x"})),
            false => say("I could not."),
        }
    });
    host.task("go").run().ok();
    let requests = host.server.requests();
    let inner: Vec<_> = requests.iter().filter(|request| is_of(request, "inner")).collect();
    assert_eq!(inner[0].tools(), ["read_file", "list_files"]);
    assert!(inner[1].results()[0].1.contains("there is no tool"), "{:?}", inner[1].results());
    assert!(!host.exists("x"));

    parent(&host, json!({"task": "inner work", "tools": ["raed_file"]}), |_| panic!("nobody is sent"));
    host.task("go").run().ok();
    assert!(told(&host).contains("no sub-agent was sent: there is no tool"), "{}", told(&host));
}

#[test]
fn what_is_typed_of_tools_holds_for_workers_that_may_send_nobody() {
    let host = Host::new();
    parent(&host, json!({"task": "inner work"}), |_| say("done"));
    host.agent(&["-p", "--yolo", "--tools", "dispatch_agent,read_file", "go"]).run().ok();
    assert!(told(&host).starts_with("done\n["), "{}", told(&host));
}

#[test]
fn several_work_at_the_same_time_but_no_more_than_allowed() {
    for (most, side_by_side) in [(4, true), (1, false)] {
        let host = Host::new();
        host.config(json!({"subagents": {"max_parallel": most}}));
        let wait = Duration::from_millis(400);
        host.server.answer(move |request| match is_of(request, "inner") {
            true => say("part done").wait(wait),
            false if request.results().is_empty() => calls((0..3).map(|part| {
                Call::new(&format!("c{part}"), "dispatch_agent", json!({"task": format!("inner part {part}")}))
            })),
            false => say("all done"),
        });
        host.task("delegate").run().ok();
        let requests = host.server.requests();
        let arrived: Vec<_> = requests.iter().filter(|r| is_of(r, "inner")).map(|request| request.arrived).collect();
        let between = *arrived.iter().max().unwrap() - *arrived.iter().min().unwrap();
        assert_eq!((arrived.len(), between < wait), (3, side_by_side), "{between:?}");
    }
}

#[test]
fn a_sub_agent_may_do_no_more_than_its_parent() {
    let host = Host::new();
    let inner = |request: &Request| match request.results().is_empty() {
        true => call("execute_bash", json!({"command": "touch x"})),
        false => say("It was denied."),
    };
    parent(&host, json!({"task": "inner work"}), inner);
    let unattended = ["-p", "--output-format", "stream-json", "go"];
    // Nobody can be asked, so nobody is sent either.
    let run = host.agent(&unattended).run().exits(3);
    assert_eq!(run.result()["denied"][0]["name"], "dispatch_agent");
    // A rule lets them be sent; what they do is judged all the same.
    host.config(json!({"permissions": {"allow": ["dispatch_agent"]}}));
    let run = host.agent(&unattended).run().exits(3);
    let denied = &run.result()["denied"][0];
    assert_eq!((&denied["name"], &denied["agent"]), (&json!("execute_bash"), &json!("outer")));
    assert!(!host.exists("x"));
}

#[test]
fn an_interrupted_task_leaves_nothing_of_its_sub_agents() {
    let host = Host::new();
    parent(&host, json!({"task": "inner work"}), |_| call("execute_bash", json!({"command": "sleep 300"})));
    let running = host.task("go").start();
    host.wait_process("sleep 300");
    running.signal(Signal::INT);
    running.wait().exits(130);
    host.assert_no_leftovers();
}

#[test]
fn how_deep_agents_send_agents_is_limited() {
    for (depth, offered) in [(0, [false, false]), (1, [true, false]), (2, [true, true])] {
        let host = Host::new();
        host.config(json!({"subagents": {"max_depth": depth}}));
        parent(&host, json!({"task": "inner work"}), |_| say("done"));
        if depth == 0 {
            host.script([say("alone")]);
        }
        host.task("go").run().ok();
        let requests = host.server.requests();
        let has = |request: Option<&std::sync::Arc<Request>>| {
            request.is_some_and(|request| request.tools().contains(&"dispatch_agent"))
        };
        let inner = requests.iter().find(|request| is_of(request, "inner"));
        assert_eq!([has(requests.first()), has(inner)], offered, "{depth}");
    }
}

#[test]
fn the_budget_is_one_for_all() {
    let host = Host::new();
    let mut provider = host.provider("test-model");
    provider["models"][0]["cost"] = json!({"input": 1_000_000, "output": 0, "cacheRead": 0, "cacheWrite": 0});
    host.config(json!({"providers": {"mock": provider}}));
    parent(&host, json!({"task": "inner work"}), |request| {
        call("list_files", json!({"path": ".", "depth": request.results().len() + 1}))
    });
    let run = host.task("go").with(&["--max-cost", "50"]).run().exits(5);
    assert_eq!(run.result()["stop_reason"], "cost");
    let spent = run.result()["usage_total"]["cost_usd"].as_f64().unwrap();
    assert!(spent >= 50.0, "what a sub-agent took counts: {spent}");
}

#[test]
fn named_agents_have_tools_a_model_and_a_brief() {
    let host = Host::new();
    host.file(".viola/agents/scout.md", "---\ndescription: looks around\ntools: [read_file]\n---\nYou only look.\n");
    host.file(".viola/agents/broken.md", "---\nname: [\n---\n");
    parent(&host, json!({"task": "inner look", "agent": "scout"}), |_| say("seen"));
    let run = host.task("go").run().ok();
    let requests = host.server.requests();
    let inner = requests.iter().find(|request| is_of(request, "inner")).unwrap();
    assert_eq!(inner.tools(), ["read_file"]);
    assert!(inner.system().ends_with("You only look."), "{}", inner.system());
    assert!(run.notices("skills")[0]["text"].as_str().unwrap().contains("broken.md"));
}

#[test]
fn a_plan_is_made_without_touching_anything() {
    let host = Host::new();
    host.file("f.txt", "original\n");
    host.script([
        calls([
            Call::new("c1", "write_file", json!({"path": "x", "content": "x"})),
            Call::new("c2", "execute_bash", json!({"command": "touch y"})),
            Call::new("c3", "read_file", json!({"path": "f.txt"})),
        ]),
        say("The plan: write x."),
    ]);
    let run = host.task("think").with(&["--plan"]).run().ok();
    assert_eq!(run.result()["text"], "The plan: write x.");
    let offered = host.request(0);
    for closed in ["write_file", "edit_file", "execute_bash"] {
        assert!(!offered.tools().contains(&closed), "{closed}");
    }
    assert!(offered.system().contains("# Plan mode"));
    assert!(host.request(1).result("c1").contains("denied: a plan is being made"));
    assert!(host.request(1).result("c3").contains("original"));
    assert!(!host.exists("x") && !host.exists("y"));
}
