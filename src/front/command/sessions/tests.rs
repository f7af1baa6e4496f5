//! What people and scripts get to see of sessions.

use super::*;
use crate::base::clock::Clock;
use crate::base::json::Object;
use crate::model::message::{Assistant, AssistantPart, Message, Origin, ToolCall, ToolInput, ToolResult};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use std::sync::Arc;

fn printed(print: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> String {
    let mut out = Vec::new();
    print(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn sessions_are_listed_and_shown() {
    let data = tempfile::tempdir().unwrap();
    let (cwd, elsewhere) = (Path::new("/srv/project"), Path::new("/srv/other"));
    let origin = Origin { provider: "p".into(), model: "m".into() };
    let store = Store::new(data.path(), Clock::Fixed(1_796_028_350_123));
    assert_eq!(printed(|out| list(&store, cwd, Scope::All, Form::Json, out)), "[]\n");
    assert!(printed(|out| list(&store, cwd, Scope::Here, Form::Text, out)).starts_with("No sessions"));

    let mut session = store.create(cwd, &origin);
    session.append(&Message::user("first\nquestion \u{1b}[2J\u{202e}")).unwrap();
    let call = ToolCall { id: "c1".into(), name: "read_file".into(), input: ToolInput::Object(Object::new()) };
    let content = vec![AssistantPart::Text("Reading.".into()), AssistantPart::ToolUse(call)];
    let origin = Arc::new(origin);
    let answer = Assistant { content, origin: Arc::clone(&origin), stop: StopReason::ToolUse, usage: Usage::default() };
    session.append(&Message::Assistant(answer)).unwrap();
    session.append_result(&ToolResult::text("c1", "line\n".repeat(30), true)).unwrap();
    let stop = StopReason::Other("aborted".to_owned());
    let content = vec![AssistantPart::Text("long ".repeat(5000))];
    let aborted = Assistant { content, origin: Arc::clone(&origin), stop, usage: Usage::default() };
    session.append(&Message::Assistant(aborted)).unwrap();
    let id = session.id().to_owned();

    let listed: Value = serde_json::from_str(&printed(|out| list(&store, cwd, Scope::Here, Form::Json, out))).unwrap();
    assert_eq!(
        listed,
        json!([{"id": id, "name": null, "title": "first question \u{1b}[2J\u{202e}", "parent": null, "cwd": "/srv/project", "created_at": 1_796_028_350_123_i64,
            "updated_at": 1_796_028_350_123_i64, "model": "p/m", "messages": 4, "cost_usd": null}])
    );
    let text = printed(|out| list(&store, elsewhere, Scope::All, Form::Text, out));
    assert!(text.starts_with(&id) && text.contains("4 messages") && text.contains("first question"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    assert!(printed(|out| list(&store, elsewhere, Scope::Here, Form::Text, out)).starts_with("No sessions"));

    let selector = Selector::Id(id.clone());
    let text = printed(|out| show(&store, &selector, cwd, Form::Text, out));
    for part in [
        "── user ──",
        "question ␛[2J⟨RLO⟩",
        "> read_file {}",
        "  (failed)",
        "  … 10 more lines",
        "long long \n(interrupted)\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let shown: Value = serde_json::from_str(&printed(|out| show(&store, &selector, cwd, Form::Json, out))).unwrap();
    assert_eq!(shown["messages"].as_array().map(Vec::len), Some(4));
    assert!(show(&store, &Selector::Id("x".into()), cwd, Form::Text, &mut Vec::new()).is_err());
}

/// A store with two sessions, and their ids.
fn shelf(data: &tempfile::TempDir) -> (Store, [String; 2]) {
    let store = Store::new(data.path(), Clock::Fixed(1_796_028_350_123));
    let origin = Origin { provider: "p".into(), model: "m".into() };
    let ids = ["one", "two"].map(|question| {
        let mut session = store.create(Path::new("/srv/project"), &origin);
        session.append(&Message::user(question)).unwrap();
        session.id().to_owned()
    });
    (store, ids)
}

#[test]
fn sessions_are_deleted_only_with_a_clear_yes() {
    let data = tempfile::tempdir().unwrap();
    let (store, ids) = shelf(&data);
    let left = || store.list_all().infos.len();
    let removed = |ids: &[String], sure, mut answer: &[u8]| {
        let mut out = Vec::new();
        let code = remove(&store, ids, sure, &mut answer, &mut out);
        (code.map_err(|error| error.to_string()), String::from_utf8(out).unwrap())
    };
    for answer in ["", "n\n", "\n", "yess\n"] {
        let (code, text) = removed(&ids, Sure::Asked, answer.as_bytes());
        assert_eq!((code, left()), (Ok(1), 2), "{text}");
        assert!(
            text.contains("delete 2 sessions for good? [y/N] ") && text.ends_with("nothing was deleted\n"),
            "{text}"
        );
    }
    let unknown = [ids[0].clone(), "nobody".to_owned()];
    assert!(removed(&unknown, Sure::Said, b"").0.unwrap_err().contains("nobody"));
    assert_eq!(left(), 2, "an id that is wrong deletes none");
    let (code, text) = removed(&ids[..1], Sure::Asked, b"y\n");
    assert_eq!((code, left()), (Ok(0), 1));
    assert!(text.starts_with(&ids[0]) && text.contains("one\ndelete this session for good?"), "{text}");
    let twice = [ids[1].clone(), ids[1].clone()];
    assert_eq!(removed(&twice, Sure::Said, b""), (Ok(0), format!("deleted {}\n", ids[1])));
    assert_eq!(left(), 0);
}

#[test]
fn one_that_is_open_stays_and_the_others_go() {
    let data = tempfile::tempdir().unwrap();
    let (store, ids) = shelf(&data);
    let open = store.open(&Selector::Id(ids[0].clone()), Path::new("/srv/project")).unwrap().unwrap();
    let error = remove(&store, &ids, Sure::Said, &mut &b""[..], &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("is open in another process"), "{error}");
    drop(open);
    assert_eq!(store.list_all().infos[0].id, ids[0]);
}

#[test]
fn names_labels_and_branches_are_shown() {
    let data = tempfile::tempdir().unwrap();
    let (store, ids) = shelf(&data);
    let cwd = Path::new("/srv/project");
    let mut named = Vec::new();
    name(&store, &ids[0], "my name", &mut named).unwrap();
    assert_eq!(String::from_utf8(named).unwrap(), format!("named {}\n", ids[0]));
    let selector = Selector::Id(ids[0].clone());
    let mut session = store.open(&selector, cwd).unwrap().unwrap().session;
    session.append_label(1, Some("here\u{1b}[2J".to_owned())).unwrap();
    session.append_leaf(None, None).unwrap();
    session.append(&Message::user("another beginning")).unwrap();
    drop(session);
    let mut session = store.open(&selector, cwd).unwrap().unwrap().session;
    session.append_leaf(Some(1), None).unwrap();
    drop(session);
    let text = printed(|out| show(&store, &selector, cwd, Form::Text, out));
    for part in ["name     my name", "branches 2; ", "── user ── [here␛[2J]\none\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let shown: Value = serde_json::from_str(&printed(|out| show(&store, &selector, cwd, Form::Json, out))).unwrap();
    assert_eq!(
        (&shown["labels"][0]["target_id"], &shown["branches"], &shown["name"]),
        (&json!(1), &json!(2), &json!("my name"))
    );
}

#[test]
fn statistics_are_for_people_and_programs() {
    let data = tempfile::tempdir().unwrap();
    let (store, ids) = shelf(&data);
    let origin = Arc::new(Origin { provider: "p".into(), model: "m\u{1b}".into() });
    let usage = Usage { input: 1_200_000, output: 40_000, cache_read: 900, ..Usage::default() };
    let mut session = store.open(&Selector::Id(ids[0].clone()), Path::new("/x")).unwrap().unwrap().session;
    let content = vec![AssistantPart::Text("answer".into())];
    session.append(&Message::Assistant(Assistant { content, origin, stop: StopReason::Stop, usage })).unwrap();
    drop(session);
    let mut text = Vec::new();
    stats(&store, Form::Text, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("2 sessions, 3 messages\n") && text.contains("p/m␛ ") && text.contains("\n20"), "{text}");
    assert!(text.contains("unknown") && text.contains("\nsessions "), "{text}");
    let mut json = Vec::new();
    stats(&store, Form::Json, &mut json).unwrap();
    let value: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!((&value["sessions"], &value["total"]["input_tokens"]), (&json!(2), &json!(1_200_000)));
    assert_eq!((&value["models"][0]["unpriced"], &value["total"]["cost_usd"]), (&json!(1), &Value::Null));
    assert!(value["disk"]["sessions"]["bytes"].as_u64().unwrap() > 0 && value["days"][0]["day"].is_string());
}
