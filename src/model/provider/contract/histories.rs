//! Whatever a legal conversation holds, no wire's strict server complains about the request made of it.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::script::{Script, call, say, think};
use super::{DIALECTS, Dialect};
use crate::model::ModelInfo;
use crate::model::message::{Assistant, AssistantPart, Image, Message, Origin, Part, ToolCall, ToolInput, ToolResult};
use crate::model::provider::compat::Compat;
use crate::model::provider::ids;
use crate::model::provider::tests::info;
use crate::model::request::{Effort, Offer, Options, Request, ToolChoice};

/// Where an answer of the conversation came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The model that is asked, over the wire on which it is asked.
    Own,
    /// The model that is asked, over another wire: the configuration has changed.
    OtherWire(usize),
    /// Another model, over some wire.
    Other(usize),
}

pub fn system() -> &'static str {
    "Be good. 🎻\n\"Always\"."
}

pub fn request(messages: Vec<Message>) -> Request {
    let offer = |name: &str| Offer {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    };
    Request {
        system: Arc::from(system()),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([offer("read_file"), offer("f-2")]),
        tool_choice: ToolChoice::Auto,
        options: Options::default(),
    }
}

/// The answer that a script gives on a wire, as it gets into the history.
pub fn answer(dialect: &Dialect, script: &Script, from: Writer) -> Message {
    let (writer, foreign) = match from {
        Writer::Own => (dialect, false),
        Writer::OtherWire(number) => (&DIALECTS[number % DIALECTS.len()], false),
        Writer::Other(number) => (&DIALECTS[number % DIALECTS.len()], true),
    };
    let bytes = (writer.stream)(script).unwrap().bytes("\n");
    let (_, reply) = writer.read_whole([bytes.as_slice()], &Compat::default());
    let mut reply = reply.unwrap();
    ids::settle(&mut reply.content, &request(Vec::new()), 7);
    let other = Origin { provider: "other".to_owned(), model: "n".to_owned() };
    let origin = if foreign { Arc::new(other) } else { info().origin };
    Message::Assistant(Assistant { content: reply.content, origin, stop: reply.stop, usage: reply.usage })
}

fn calls(message: &Message) -> Vec<ToolCall> {
    match message {
        Message::Assistant(assistant) => assistant.calls().cloned().collect(),
        Message::User(_) | Message::Tool(_) => Vec::new(),
    }
}

/// An answer and results for all of its calls.
fn answered(answer: Message, content: &[Part], is_error: bool) -> Vec<Message> {
    let result = |call: ToolCall| ToolResult { call_id: call.id, content: content.to_vec(), is_error };
    let results: Vec<ToolResult> = calls(&answer).into_iter().map(result).collect();
    let results = (!results.is_empty()).then_some(Message::Tool(results));
    std::iter::once(answer).chain(results).collect()
}

fn picture() -> Part {
    Part::Image(Image { media_type: "image/png".to_owned(), data: Arc::from(*b"\x89PNG\r\n\x1a\n") })
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

/// An answer written by hand: what no script can say.
fn written(content: Vec<AssistantPart>) -> Message {
    let script = Script::new([say("x")]);
    let assistant =
        Assistant { content, origin: info().origin, stop: script.stop, usage: script.usage.unwrap_or_default() };
    Message::Assistant(assistant)
}

fn invalid_call(id: &str, name: &str) -> AssistantPart {
    AssistantPart::ToolUse(ToolCall { id: id.to_owned(), name: name.to_owned(), input: ToolInput::parse("{\"a\": ") })
}

/// Nobody complains about a request, in every way of asking, for models with eyes and without.
fn assert_accepted(dialect: &Dialect, request: &Request, compats: &[Compat], name: &str) {
    let way = |effort, tool_choice, tools: &Arc<[Offer]>| {
        let options = match effort {
            Some(_) => Options {
                max_tokens: Some(4096),
                temperature: Some(0.5),
                effort,
                cache_key: Some("session".to_owned()),
            },
            None => Options::default(),
        };
        Request { options, tool_choice, tools: tools.clone(), ..request.clone() }
    };
    let (offered, none) = (&request.tools, &Arc::from([]));
    let ways = [
        way(None, ToolChoice::Auto, offered),
        way(Some(Effort::Off), ToolChoice::None, offered),
        way(Some(Effort::Minimal), ToolChoice::Auto, none),
        way(Some(Effort::High), ToolChoice::Auto, offered),
        way(None, ToolChoice::None, none),
    ];
    for (number, request) in ways.iter().enumerate() {
        for compat in compats {
            let info = ModelInfo { images: number % 2 == 0, ..info() };
            let body = dialect.wire.encode(request, &info, compat).unwrap();
            let said = (dialect.check)(&serde_json::from_slice(&body).unwrap(), compat).join("\n");
            let body = String::from_utf8(body).unwrap();
            assert!(said.is_empty(), "{name} on {:?}, way {number}, {compat:?}:\n{said}\n{body}", dialect.wire);
        }
    }
}

/// Legal conversations: a name, and how it is made for a wire.
fn histories(dialect: &Dialect) -> Vec<(&'static str, Vec<Message>)> {
    let own = |script: &Script| answer(dialect, script, Writer::Own);
    let hi = || Message::user("hi");
    let both = || {
        Script::new([
            think("Plan.", Some("SEAL-1")),
            say("Look."),
            call("call_1", "read_file", r#"{"path":"a"}"#, 3),
            call("call_2", "f-2", "{}", 3),
        ])
    };
    let spoken = || Script::new([think("Plan.", Some("SEAL-2")), say("Done. \n")]);
    let talk = |from: Writer| {
        let first = answered(answer(dialect, &both(), from), &[text("content")], false);
        let second = answer(dialect, &spoken(), from);
        std::iter::once(hi()).chain(first).chain([second, Message::user("more")]).collect::<Vec<_>>()
    };
    let mut rows = vec![
        ("one message", vec![hi()]),
        ("two in a row", vec![hi(), Message::user("and")]),
        ("a picture", vec![Message::User(vec![text("what is this?"), picture()])]),
        ("a picture alone", vec![Message::User(vec![picture()])]),
        (
            "empty texts",
            vec![
                Message::User(vec![text(""), text("hi"), text(" \n")]),
                own(&spoken()),
                Message::User(vec![text("\t"), text("x")]),
            ],
        ),
        (
            "NUL",
            vec![Message::user("a\0b"), written(vec![AssistantPart::Text("\0".repeat(3) + "x")]), Message::user("\0c")],
        ),
        ("its own answers", talk(Writer::Own)),
        ("the beginning is gone", talk(Writer::Own)[1..].to_vec()),
        ("an error for each call", [vec![hi()], answered(own(&both()), &[text("no such file")], true)].concat()),
        ("results of nothing", [vec![hi()], answered(own(&both()), &[], false)].concat()),
        ("results of blanks", [vec![hi()], answered(own(&both()), &[text(" "), text("")], true)].concat()),
        ("pictures from tools", [vec![hi()], answered(own(&both()), &[text("see"), picture()], false)].concat()),
        (
            "a picture and no word from tools",
            [vec![hi()], answered(own(&both()), &[picture()], false), vec![own(&spoken()), hi()]].concat(),
        ),
        (
            "a word while tools ran",
            [vec![hi()], answered(own(&both()), &[text("ok")], false), vec![Message::user("faster")]].concat(),
        ),
        (
            "reasoning and nothing more",
            vec![hi(), own(&Script::new([think("Hm.", Some("SEAL"))])), Message::user("go on")],
        ),
        ("an answer of nothing", vec![hi(), written(vec![]), Message::user("go on")]),
        (
            "an answer of blanks",
            vec![hi(), written(vec![AssistantPart::Text(" \n".to_owned())]), Message::user("go on")],
        ),
        (
            "reasoning without a seal",
            vec![hi(), own(&Script::new([think("Hm.", None), say("yes")])), Message::user("go on")],
        ),
        ("two answers in a row", vec![hi(), own(&spoken()), own(&spoken()), Message::user("go on")]),
    ];
    for number in 0..DIALECTS.len() {
        rows.push(("answers of another model", talk(Writer::Other(number))));
        rows.push(("its own answers over another wire", talk(Writer::OtherWire(number))));
        let mixed = [talk(Writer::Other(number)), talk(Writer::Own)[1..].to_vec()].concat();
        rows.push(("the model was switched", unique(mixed)));
        let back =
            [talk(Writer::Own), talk(Writer::Other(number))[1..].to_vec(), talk(Writer::Own)[1..].to_vec()].concat();
        rows.push(("the model was switched, and back", unique(back)));
        let midway =
            [talk(Writer::Own), answered(answer(dialect, &both(), Writer::Other(number)), &[text("x")], false)]
                .concat();
        rows.push(("switched between a call and its result", unique(midway)));
    }
    rows.extend(odd_calls());
    rows
}

/// Calls as no schema foresees them.
fn odd_calls() -> Vec<(&'static str, Vec<Message>)> {
    let long = "x".repeat(100);
    let odd = [
        "",
        "call 1",
        "ünïcödé",
        "a|b:c/d",
        "\0",
        "call_1\n",
        long.as_str(),
        "1",
        "call_ok-1",
        "0123456789abcdef0123456789abcdef0123456789",
    ];
    let called = |content: Vec<AssistantPart>| {
        [vec![Message::user("hi")], answered(written(content), &[text("result\0")], true)].concat()
    };
    vec![
        ("odd ids", called(odd.iter().map(|id| invalid_call(id, "f")).collect())),
        (
            "odd names",
            called(odd.iter().enumerate().map(|(number, name)| invalid_call(&format!("c{number}"), name)).collect()),
        ),
        ("a call that does not parse", called(vec![AssistantPart::Text("Now.".to_owned()), invalid_call("c", "f")])),
    ]
}

/// The same conversation with ids of calls that differ from turn to turn, as they do in any history.
fn unique(mut messages: Vec<Message>) -> Vec<Message> {
    let mut turn = 0;
    for message in &mut messages {
        match message {
            Message::Assistant(assistant) => {
                turn += 1;
                for part in &mut assistant.content {
                    if let AssistantPart::ToolUse(call) = part {
                        call.id = format!("{}_{turn}", call.id);
                    }
                }
            }
            Message::Tool(results) => {
                results.iter_mut().for_each(|result| result.call_id = format!("{}_{turn}", result.call_id));
            }
            Message::User(_) => {}
        }
    }
    messages
}

#[test]
fn no_server_complains() {
    for dialect in DIALECTS {
        for (name, messages) in histories(dialect) {
            assert_accepted(dialect, &request(messages), &(dialect.compats)(), name);
        }
    }
}

#[test]
fn no_server_complains_of_a_missing_prompt() {
    for dialect in DIALECTS {
        for system in ["", " \n", "a\0b"] {
            let request = Request { system: Arc::from(system), ..request(vec![Message::user("hi")]) };
            assert_accepted(dialect, &request, &(dialect.compats)(), "another system prompt");
        }
    }
}

/// Every value under one of these names.
fn under<'a>(value: &'a Value, names: &[&str], found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| under(item, names, found)),
        Value::Object(object) => {
            for (name, item) in object {
                if names.contains(&name.as_str()) {
                    found.push(item);
                }
                under(item, names, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn seals_go_back_to_their_model_and_to_no_other() {
    let scripts = [
        Script::new([think("Plan.", Some("SEAL-1")), call("call_1", "f", "{}", 3), call("call_2", "f", "{}", 3)]),
        Script::new([think("Plan.", Some("SEAL-1")), say("Look."), call("call_1", "f", "{}", 3)]),
        Script::new([think("Plan.", Some("SEAL-1")), say("Done.")]),
    ];
    for dialect in DIALECTS {
        // The chat wire has seals only where its server asks for them back.
        let compat = Compat::for_provider("openrouter", "");
        let sent = |script: &Script, from| {
            let messages = answered(answer(dialect, script, from), &[text("ok")], false);
            let messages = [vec![Message::user("hi")], messages, vec![Message::user("go on")]].concat();
            let body = dialect.wire.encode(&request(messages), &info(), &compat).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let mut found = Vec::new();
            under(&body, dialect.seal_keys, &mut found);
            found
                .into_iter()
                .filter_map(Value::as_str)
                .filter(|seal| seal.contains("SEAL"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        for script in &scripts {
            assert_eq!(sent(script, Writer::Own), ["SEAL-1"], "{:?}", dialect.wire);
            for number in 0..DIALECTS.len() {
                assert_eq!(sent(script, Writer::Other(number)), [""; 0], "{:?}", dialect.wire);
            }
        }
    }
}

/// What happens between two requests, and where the answer comes from.
#[derive(Clone, Debug)]
pub struct Step {
    asked: Option<Vec<Part>>,
    script: Script,
    from: Writer,
    results: Vec<Part>,
    is_error: bool,
}

/// A part of a message, blanks and NUL included.
fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        6 => "[a-zé🎻\"\\\\ \n\t\u{0}]{0,8}".prop_map(Part::Text),
        1 => Just(picture()),
    ]
}

pub fn any_step() -> impl Strategy<Value = Step> {
    let call = ("[a-zA-Z0-9_:. é-]{1,50}", "[a-zA-Z0-9_.é-]{1,70}", "[a-z]{0,4}")
        .prop_map(|(id, name, value)| call(&id, &name, &json!({ "path": value }).to_string(), 5));
    let parts = (
        prop::option::of(("[a-z ]{1,9}", prop::option::of("SEAL[a-z]{1,4}"))),
        prop::option::of("[a-z][a-z \n]{0,9}"),
        prop::collection::vec(call, 0..4),
    )
        .prop_map(|(thought, said, calls)| {
            let thought = thought.map(|(text, seal)| think(&text, seal.as_deref()));
            let said = said.or_else(|| calls.is_empty().then(|| "ok".to_owned())).map(|text| say(&text));
            Script::new(thought.into_iter().chain(said).chain(calls))
        });
    let from = prop_oneof![
        4 => Just(Writer::Own),
        1 => (0usize..4).prop_map(Writer::OtherWire),
        2 => (0usize..4).prop_map(Writer::Other),
    ];
    let asked = || prop::collection::vec(any_part(), 1..4);
    (prop::option::of(asked()), parts, from, prop::collection::vec(any_part(), 0..3), any::<bool>())
        .prop_map(|(asked, script, from, results, is_error)| Step { asked, script, from, results, is_error })
}

/// A conversation of these steps: what was asked, what was answered and returned, and so on in turn. A part may be empty:
/// nobody had to say anything behind results.
pub fn conversation(dialect: &Dialect, steps: &[Step]) -> Vec<Vec<Message>> {
    let mut asked_before = false;
    let mut taken = HashSet::new();
    let mut parts = Vec::new();
    for step in steps {
        let mut messages = Vec::new();
        // Somebody has to have said something, unless results came.
        let words = step.asked.clone().map(|parts| [parts, vec![text("say")]].concat());
        match (words, asked_before) {
            (Some(words), _) => messages.push(Message::User(words)),
            (None, false) => messages.push(Message::user("go")),
            (None, true) => {}
        }
        parts.push(messages);
        let mut answer = answer(dialect, &step.script, step.from);
        if let Message::Assistant(assistant) = &mut answer {
            for part in &mut assistant.content {
                if let AssistantPart::ToolUse(call) = part {
                    while !taken.insert(call.id.clone()) {
                        call.id.push('+');
                    }
                }
            }
        }
        asked_before = !calls(&answer).is_empty();
        parts.push(answered(answer, &step.results, step.is_error));
    }
    if !asked_before {
        parts.push(vec![Message::user("more")]);
    }
    parts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_server_complains_of_any_conversation(steps in prop::collection::vec(any_step(), 1..6), compat in any::<prop::sample::Index>()) {
        for dialect in DIALECTS {
            let messages = conversation(dialect, &steps).concat();
            let compat = compat.get(&(dialect.compats)()).clone();
            assert_accepted(dialect, &request(messages), &[compat], "a conversation");
        }
    }
}
