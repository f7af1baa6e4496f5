//! Request n+1 begins with request n, byte for byte: what the provider has cached is found again.
//!
//! On Anthropic's wire the marks of the cache move; all else stays, and a mark stands where one stood before.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::histories::{Step, Writer, answer, any_step, conversation, request};
use super::script::{Script, call, say, think};
use super::{DIALECTS, Dialect};
use crate::model::message::{Image, Message, Part, ToolResult};
use crate::model::provider::Wire;
use crate::model::provider::compat::Compat;
use crate::model::provider::tests::info;
use crate::model::request::{Effort, Options, Request, ToolChoice};

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// A body as it is sent.
fn body(dialect: &Dialect, compat: &Compat, request: &Request) -> String {
    String::from_utf8(dialect.wire.encode(request, &info(), compat).unwrap()).unwrap()
}

/// The fields of a JSON object, as they are written, and where each value begins.
fn fields(text: &str) -> Vec<(&str, &str, usize)> {
    let mut fields = Vec::new();
    let (mut depth, mut inside, mut escaped, mut start, mut name) = (0, false, false, 1, "");
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => inside = !inside,
            _ if inside => {}
            b':' if depth == 1 => (name, start) = (text[start..at].trim_matches('"'), at + 1),
            b',' | b'}' if depth == 1 => {
                fields.push((name, &text[start..at], start));
                start = at + 1;
                depth -= i32::from(byte == b'}');
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    fields
}

fn field<'a>(body: &'a str, name: &str) -> (&'a str, usize) {
    let (_, value, start) = *fields(body).iter().find(|(field, ..)| *field == name).unwrap_or(&("", "", 0));
    (value, start)
}

/// The parts of a body that no request of a session changes.
fn fixed<'a>(dialect: &Dialect, body: &'a str) -> Vec<&'a str> {
    dialect.fixed.iter().map(|name| field(body, name).0).collect()
}

/// All of a body up to the end of its last message.
fn prefix<'a>(dialect: &Dialect, body: &'a str) -> &'a str {
    let (conversation, start) = field(body, dialect.conversation);
    &body[..start + conversation.len() - "]".len()]
}

/// The later request begins with the earlier one.
fn assert_grows(dialect: &Dialect, compat: &Compat, before: &Request, after: &Request) {
    let (before, after) = (body(dialect, compat, before), body(dialect, compat, after));
    assert_eq!(fixed(dialect, &before), fixed(dialect, &after), "{:?}", dialect.wire);
    let marked = dialect.wire == Wire::Anthropic && compat.cache_marks;
    assert_eq!(before.contains(MARK), marked, "{:?}: {before}", dialect.wire);
    assert_marks_are_found(&before, &after);
    let (before, after) = (before.replace(MARK, ""), after.replace(MARK, ""));
    let known = prefix(dialect, &before);
    assert!(after.starts_with(known), "{:?}:\n{known}\n{after}", dialect.wire);
    let next = after[known.len()..].chars().next();
    assert!(matches!(next, Some(',')), "{:?}: {next:?} behind\n{known}\n{after}", dialect.wire);
}

/// The last block that was marked is marked again: only up to a mark is anything kept, and looked for.
fn assert_marks_are_found(before: &str, after: &str) {
    let marks = |body: &str| {
        let body: Value = serde_json::from_str(body).unwrap();
        let mut found = Vec::new();
        for (turn, message) in body["messages"].as_array().into_iter().flatten().enumerate() {
            for (place, block) in message["content"].as_array().into_iter().flatten().enumerate() {
                if block.get("cache_control").is_some() {
                    found.push((turn, place));
                }
            }
        }
        found
    };
    if let Some(last) = marks(before).last() {
        assert!(marks(after).contains(last), "the mark at {last:?} is gone:\n{after}");
    }
}

/// A long talk: what is new before each request.
fn talk(dialect: &Dialect) -> Vec<Vec<Message>> {
    let picture = Part::Image(Image { media_type: "image/png".into(), data: Arc::from(*b"png") });
    let results = |ids: &[&str], parts: &[Part]| {
        Message::Tool(
            ids.iter()
                .map(|id| ToolResult { call_id: (*id).to_owned(), content: parts.to_vec(), is_error: false })
                .collect(),
        )
    };
    let own = |script: &Script| answer(dialect, script, Writer::Own);
    let sealed = || think("Plan.", Some("SEAL"));
    vec![
        vec![Message::User(vec![Part::Text("<environment>".into()), Part::Text("fix it".into())])],
        vec![
            own(&Script::new([
                sealed(),
                say("Look."),
                call("c1", "read_file", r#"{"path":"ü"}"#, 3),
                call("c2", "f-2", "{}", 3),
            ])),
            results(&["c1", "c2"], &[Part::Text("x\u{1b}\"\n".into())]),
        ],
        vec![
            own(&Script::new([sealed(), call("c3", "read_file", r#"{"path":"p"}"#, 3)])),
            results(&["c3"], &[Part::Text("see".into()), picture]),
        ],
        vec![
            own(&Script::new([say("Wait."), call("c4", "nope", "{}", 3)])),
            results(&["c4"], &[]),
            Message::user("hurry"),
        ],
        vec![own(&Script::new([sealed(), say("Done. \n")])), Message::user("thanks")],
        vec![own(&Script::new([say("Welcome.")])), Message::user("bye"), Message::user("or not")],
        vec![answer(dialect, &Script::new([sealed(), say("Other.")]), Writer::Other(1)), Message::user("again")],
    ]
}

/// Requests that grow by one of these parts after the other.
fn requests(parts: &[Vec<Message>]) -> Vec<Request> {
    (1..=parts.len()).map(|end| request(parts[..end].concat())).collect()
}

/// Every wire with every vendor on it.
fn everywhere() -> Vec<(&'static Dialect, Compat)> {
    let vendors = |dialect: &'static Dialect| (dialect.compats)().into_iter().map(move |compat| (dialect, compat));
    DIALECTS.iter().flat_map(vendors).collect()
}

#[test]
fn every_request_begins_with_the_one_before() {
    for (dialect, compat) in everywhere() {
        let options = Options { max_tokens: Some(4096), cache_key: Some("s".into()), ..Options::default() };
        for pair in requests(&talk(dialect)).windows(2) {
            assert_grows(dialect, &compat, &pair[0], &pair[1]);
            let [before, after] =
                [0, 1].map(|place: usize| Request { options: options.clone(), ..pair[place].clone() });
            assert_grows(dialect, &compat, &before, &after);
        }
    }
}

#[test]
fn the_same_request_is_the_same_bytes() {
    for (dialect, compat) in everywhere() {
        for request in requests(&talk(dialect)) {
            assert_eq!(body(dialect, &compat, &request), body(dialect, &compat, &request.clone()));
        }
    }
}

#[test]
fn neither_effort_nor_choice_moves_what_is_cached() {
    for (dialect, compat) in everywhere() {
        for request in requests(&talk(dialect)) {
            let plain = body(dialect, &compat, &request);
            let same = |other: &Request| {
                let other = body(dialect, &compat, other);
                assert_eq!(fixed(dialect, &plain), fixed(dialect, &other), "{:?}", dialect.wire);
                assert_eq!(
                    field(&plain, dialect.conversation).0,
                    field(&other, dialect.conversation).0,
                    "{:?}",
                    dialect.wire
                );
                assert!(!field(&other, dialect.conversation).0.is_empty());
            };
            same(&Request { tool_choice: ToolChoice::None, ..request.clone() });
            for effort in [Effort::Off, Effort::Minimal, Effort::Low, Effort::Medium, Effort::High] {
                let options =
                    Options { effort: Some(effort), max_tokens: Some(30_000), temperature: Some(1.0), cache_key: None };
                same(&Request { options, ..request.clone() });
            }
        }
    }
}

#[test]
fn what_was_thought_last_moves_nothing_before_it() {
    for (dialect, compat) in everywhere() {
        let asked = vec![Message::user("hi")];
        let before = body(dialect, &compat, &request(asked.clone())).replace(MARK, "");
        for thought in [
            Some(think("One.", Some("SEAL-1"))),
            Some(think("Two.", Some("SEAL-2"))),
            Some(think("Three.", None)),
            None,
        ] {
            let script = Script::new(thought.into_iter().chain([say("Done.")]));
            let messages = [asked.clone(), vec![answer(dialect, &script, Writer::Own), Message::user("more")]].concat();
            let after = body(dialect, &compat, &request(messages)).replace(MARK, "");
            assert!(after.starts_with(prefix(dialect, &before)), "{:?}: {after}", dialect.wire);
        }
    }
}

#[test]
fn the_tools_of_a_session_are_all_there_and_in_order() {
    for (dialect, compat) in everywhere() {
        let body = body(dialect, &compat, &request(vec![Message::user("hi")]));
        let (tools, _) = field(&body, "tools");
        let places = ["read_file", "f-2"].map(|name| tools.find(&format!("\"name\":\"{name}\"")));
        assert!(places[0].is_some() && places[0] < places[1], "{:?}: {tools}", dialect.wire);
        assert!(fixed(dialect, &body).iter().all(|part| !part.is_empty()), "{:?}: {body}", dialect.wire);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_conversation_grows_at_its_end(steps in prop::collection::vec(any_step(), 1..6), compat in any::<prop::sample::Index>()) {
        for dialect in DIALECTS {
            let compat = compat.get(&(dialect.compats)()).clone();
            check_growth(dialect, &compat, &steps);
        }
    }
}

/// Every request that is made in the course of these steps begins with the one before.
fn check_growth(dialect: &Dialect, compat: &Compat, steps: &[Step]) {
    let parts = conversation(dialect, steps);
    // What was asked, what was answered, and so on: a request behind each answer with calls, and behind each question.
    let mut asked: Vec<Request> = Vec::new();
    for end in 1..=parts.len() {
        let messages = parts[..end].concat();
        let answerable = matches!(messages.last(), Some(Message::User(_) | Message::Tool(_)));
        // Where somebody has said something since the results, one request is made of both.
        let goes_on = parts.get(end).and_then(|part| part.first()).is_some_and(|next| matches!(next, Message::User(_)));
        if answerable && !goes_on && !parts[end - 1].is_empty() {
            asked.push(request(messages));
        }
    }
    for pair in asked.windows(2) {
        assert_grows(dialect, compat, &pair[0], &pair[1]);
    }
}
