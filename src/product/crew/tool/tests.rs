//! What is ordered, and what the model hears of it.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::*;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::usage::Usage;

fn object(value: &Value) -> Object {
    value.as_object().cloned().unwrap()
}

fn scout() -> Named {
    Named {
        name: "scout".into(),
        description: "looks".into(),
        tools: Some(vec!["read_file".into(), "list_files".into()]),
        model: Some("p/small".into()),
        prompt: "Only look.".into(),
    }
}

/// Runs a call whose worker comes to `done`; returns what was ordered and what came of it.
fn ran(arguments: &Value, done: Result<Done, String>) -> (Option<Order>, Output) {
    let ordered: Arc<Mutex<Option<Order>>> = Arc::default();
    let own = Arc::clone(&ordered);
    let send: Sender = Arc::new(move |order, _, _| {
        *own.lock().unwrap() = Some(order.clone());
        done.clone()
    });
    let tool = DispatchAgent::new(send, vec![scout()], LIMITS);
    let arguments = object(arguments);
    let cancel = Cancel::new();
    let context =
        ToolContext { call_id: "c1", subject: &Subject::Other, cancel: &cancel, progress: &|_| {}, events: &|_| {} };
    let output = tool.run(&arguments, &context);
    let ordered = ordered.lock().unwrap().clone();
    (ordered, output)
}

fn done(text: &str, end: End) -> Result<Done, String> {
    let usage = Usage { input: 1_200, output: 30, ..Usage::default() };
    let ledger = Ledger { turns: 2, usage, cost: Some(0.01), denied: Vec::new() };
    Ok(Done { text: text.into(), end, ledger, duration_ms: 5, transcript: None })
}

#[test]
fn an_order_says_what_was_asked_for() {
    let (order, output) =
        ran(&json!({"task": "count", "tools": ["read_file"], "model": "x"}), done("seven\n", End::Answered));
    let order = order.unwrap();
    assert_eq!((order.task.as_str(), order.worker), ("count", Worker::Agent("c1".into())));
    assert_eq!((order.tools, order.model.as_deref()), (Some(vec!["read_file".to_owned()]), Some("x")));
    assert_eq!((output.text.head.as_str(), output.is_error), ("seven", false));
    assert_eq!(output.footer.as_deref(), Some("[2 model calls, 1,200 tokens read, 30 written, $0.0100]"));
}

#[test]
fn a_named_agent_gets_at_most_its_own_tools() {
    let asked = json!({"task": "look", "agent": "scout", "tools": ["read_file", "write_file"]});
    let order = ran(&asked, done("ok", End::Answered)).0.unwrap();
    assert_eq!(order.tools, Some(vec!["read_file".to_owned()]));
    assert_eq!((order.model.as_deref(), order.brief.as_deref()), (Some("p/small"), Some("Only look.")));
    let asked = json!({"task": "look", "agent": "scout", "tools": ["write_file"]});
    let (order, output) = ran(&asked, done("ok", End::Answered));
    assert!(order.is_none() && output.text.head.contains("has none of these tools; it has: read_file, list_files"));
    let (order, output) = ran(&json!({"task": "look", "agent": "scuot"}), done("ok", End::Answered));
    assert!(order.is_none() && output.text.head.contains("did you mean scout?"), "{output:?}");
}

#[test]
fn every_end_is_told() {
    let failed = End::Failed(ModelError::new(ErrorKind::Auth, "the key was refused"));
    for (text, end, is_error, told) in [
        ("part", End::MaxTurns, false, "limit of model calls"),
        ("", End::MaxTurns, true, "limit of model calls"),
        ("", End::Answered, true, "model calls"),
        ("so far", End::Loop, true, "circles"),
        ("", failed, true, "the key was refused"),
    ] {
        let (_, output) = ran(&json!({"task": "x"}), done(text, end));
        assert_eq!(output.is_error, is_error, "{text} {told}");
        assert!(output.footer.unwrap().contains(told), "{told}");
    }
    let (_, output) = ran(&json!({"task": "x"}), Err("too deep".into()));
    assert!(output.is_error && output.text.head == "no sub-agent was sent: too deep");
}

#[test]
fn a_long_answer_says_where_the_whole_of_it_is() {
    let whole = Done { transcript: Some("/t/a.jsonl".into()), ..done(&"word ".repeat(10_000), End::Answered).unwrap() };
    let (_, output) = ran(&json!({"task": "x"}), Ok(whole));
    assert!(output.footer.as_deref().unwrap().ends_with("; transcript: /t/a.jsonl]"), "{:?}", output.footer);
    assert!(crate::kernel::truncate::fit(&output, LIMITS).text.contains("full output: /t/a.jsonl"));
}

#[test]
fn the_agents_there_are_are_offered() {
    let send: Sender = Arc::new(|_, _, _| Err(String::new()));
    let with = DispatchAgent::new(Arc::clone(&send), vec![scout()], LIMITS);
    let names = |tool: &DispatchAgent| tool.spec().parameters.pointer("/properties/agent/enum").cloned();
    assert_eq!(names(&with), Some(json!(["scout"])));
    assert_eq!(names(&DispatchAgent::new(send, Vec::new(), LIMITS)), None);
    assert!(with.subject(&object(&json!({"task": " "}))).is_err());
    let without = DispatchAgent::new(Arc::new(|_, _, _| Err(String::new())), Vec::new(), LIMITS);
    let problem = without.subject(&object(&json!({"task": "go", "agent": "x"}))).unwrap_err();
    assert!(problem.contains("there are none with a name"), "{problem}");
    assert_eq!(with.subject(&object(&json!({"task": "go"}))), Ok(Subject::Task("go".into())));
}
