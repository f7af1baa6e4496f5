//! Histories, legal and otherwise.

use super::*;
use crate::base::json::Object;
use crate::model::message::{Origin, Reasoning, ToolInput};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use proptest::prelude::*;

fn answer(text: &str, calls: &[&str]) -> Arc<Message> {
    let mut content = vec![AssistantPart::Reasoning(Reasoning { text: "hm".into(), ..Reasoning::default() })];
    if !text.is_empty() {
        content.push(AssistantPart::Text(text.into()));
    }
    content.extend(calls.iter().map(|id| {
        let input = ToolInput::Object(Object::new());
        AssistantPart::ToolUse(ToolCall { id: (*id).into(), name: "t".into(), input })
    }));
    Arc::new(Message::Assistant(Assistant {
        content,
        origin: Arc::new(Origin { provider: "p".into(), model: "m".into() }),
        stop: StopReason::Stop,
        usage: Usage::default(),
    }))
}

fn results(ids: &[&str]) -> Arc<Message> {
    Arc::new(Message::Tool(ids.iter().map(|id| ToolResult::text(*id, format!("of {id}"), false)).collect()))
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::user(text))
}

/// Roles, and of results what they say.
fn shape(messages: &[Arc<Message>]) -> Vec<String> {
    let one = |message: &Arc<Message>| match message.as_ref() {
        Message::User(parts) => format!("user {parts:?}"),
        Message::Assistant(answer) => {
            format!("assistant {:?}", answer.calls().map(|call| call.id.as_str()).collect::<Vec<_>>())
        }
        Message::Tool(results) => {
            let one = |result: &ToolResult| {
                let lost = result.content == [Part::Text(INTERRUPTED.into())];
                format!("{}{}", result.call_id, if lost { "?" } else { "" })
            };
            format!("tool {:?}", results.iter().map(one).collect::<Vec<_>>())
        }
    };
    messages.iter().map(one).collect()
}

#[test]
fn a_legal_history_is_shared() {
    let history = [user("a"), answer("b", &["1", "2"]), results(&["1", "2"]), user("c"), answer("d", &[])];
    let legal = legal(&history);
    assert!(legal.len() == 5 && legal.iter().zip(&history).all(|(one, other)| Arc::ptr_eq(one, other)));
}

#[test]
fn missing_results_are_interrupted() {
    let history = [user("a"), answer("", &["1", "2"]), results(&["2"])];
    assert_eq!(shape(&legal(&history))[2], r#"tool ["1?", "2"]"#);
    let history = [user("a"), answer("", &["1"]), user("go on")];
    assert_eq!(shape(&legal(&history))[2], r#"tool ["1?"]"#);
}

#[test]
fn results_find_their_calls() {
    let history = [
        results(&["0"]),
        user("a"),
        answer("", &["1", "2"]),
        results(&["2", "9"]),
        user("between"),
        results(&["1", "2"]),
        answer("done", &[]),
        results(&["1"]),
    ];
    let legal = legal(&history);
    assert_eq!(shape(&legal)[2], r#"tool ["1", "2"]"#);
    assert!(Arc::ptr_eq(&legal[3], &history[4]) && Arc::ptr_eq(&legal[4], &history[6]) && legal.len() == 5);
}

#[test]
fn what_is_empty_is_dropped() {
    let blank = Arc::new(Message::User(vec![]));
    let history =
        [blank, user(" "), answer(" \n", &[]), user("a"), answer("", &["1"]), answer("", &[]), results(&["1"])];
    assert_eq!(shape(&legal(&history))[1..], [r#"assistant ["1"]"#, r#"tool ["1"]"#]);
}

#[test]
fn a_person_speaks_first() {
    let history = [results(&["0"]), answer("", &[]), answer("", &["1"]), results(&["1"]), user("b")];
    let once = legal(&history);
    assert!(shape(&once)[0].contains("left out") && once[1..] == history[2..], "{once:?}");
    assert_eq!(legal(&[answer("", &[]), user("a")]), [user("a")]);
}

#[test]
fn ids_that_say_nothing_are_replaced() {
    let history = [user("a"), answer("", &["", "x", "", "x"]), results(&["", "x", "x"])];
    let once = legal(&history);
    assert_eq!(
        shape(&once)[1..],
        [
            r#"assistant ["call_1_0", "x", "call_1_2", "call_1_3"]"#,
            r#"tool ["call_1_0", "x", "call_1_2?", "call_1_3"]"#
        ]
    );
    // The same id in two answers is the wires' business; each has its own result.
    let history = [user("a"), answer("", &["1"]), results(&["1"]), answer("", &["1"]), results(&["1"])];
    assert_eq!(legal(&history), history);
}

fn id() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just(""), Just("call_0_1")]
}

fn message() -> impl Strategy<Value = Arc<Message>> {
    let ids = || proptest::collection::vec(id(), 0..4);
    prop_oneof![
        prop_oneof![Just(""), Just("hello")].prop_map(user),
        (prop_oneof![Just(""), Just(" "), Just("said")], ids()).prop_map(|(text, ids)| answer(text, &ids)),
        ids().prop_map(|ids| results(&ids)),
        Just(Arc::new(Message::User(vec![]))),
    ]
}

fn assert_legal(messages: &[Arc<Message>]) {
    assert!(messages.first().is_none_or(|first| matches!(first.as_ref(), Message::User(_))));
    let mut expected: Option<Vec<String>> = None;
    for message in messages {
        match (message.as_ref(), expected.take()) {
            (Message::Tool(results), Some(ids)) => {
                assert!(results.iter().map(|result| &result.call_id).eq(&ids), "{results:?} for {ids:?}");
            }
            (Message::Assistant(answer), None) => {
                let ids: Vec<_> = answer.calls().map(|call| call.id.clone()).collect();
                assert!(!ids.is_empty() || says_something(answer));
                assert!(ids.iter().enumerate().all(|(number, id)| !id.is_empty() && !ids[..number].contains(id)));
                expected = (!ids.is_empty()).then_some(ids);
            }
            (Message::User(parts), None) => assert!(has_content(parts)),
            other => panic!("{other:?}"),
        }
    }
    assert!(expected.is_none(), "the last calls have no results");
}

proptest! {
    #[test]
    fn any_history_becomes_legal(
        history in proptest::collection::vec(message(), 0..14),
        more in proptest::collection::vec(message(), 0..6),
    ) {
        let once = legal(&history);
        assert_legal(&once);
        prop_assert_eq!(&legal(&once), &once);
        // What was sent stays what is sent, whatever legal history follows.
        let extended: Vec<_> = history.iter().cloned().chain(legal(&more)).collect();
        let longer = legal(&extended);
        prop_assert_eq!(&longer[..once.len()], &once[..]);
    }

    #[test]
    fn nothing_legal_is_copied(history in proptest::collection::vec(message(), 0..14)) {
        let once = legal(&history);
        let twice = legal(&once);
        prop_assert!(once.iter().zip(&twice).all(|(one, other)| Arc::ptr_eq(one, other)));
    }
}
