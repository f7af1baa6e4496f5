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
