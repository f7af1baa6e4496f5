//! What counts as a call, what stays text, and that nothing of a call is shown however the answer is cut.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::message::ToolInput;
use crate::model::provider::compat::Compat;
use crate::model::provider::tests as shared;
use crate::model::usage::Usage;

const BASE: &str = r#"{"name": "read_file", "arguments": {"path": "a.txt"}}"#;

fn offers() -> Vec<Offer> {
    let offer = |name: &str, properties: Value| Offer {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": properties}),
    };
    vec![
        offer("read_file", json!({"path": {"type": "string"}, "limit": {"type": "integer"}})),
        offer("edit_file", json!({"path": {"type": "string"}, "edits": {"type": "array"}})),
        offer("list_files", json!({})),
    ]
}

/// Names and arguments of the calls in `text`.
fn found(text: &str) -> Vec<(String, Value)> {
    let calls = calls(text, &offers()).unwrap_or_default();
    calls.into_iter().map(|call| (call.name, Value::Object(call.input.object().unwrap().clone()))).collect()
}

fn notations() -> Vec<(String, usize)> {
    let more = BASE.replace("a.txt", "b.txt");
    let one = |text: &str| (text.to_owned(), 1);
    vec![
        one(BASE),
        one(&format!("\n {BASE}\n")),
        one(&BASE.replace("arguments", "parameters")),
        one(
            r#"{"type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a.txt\"}"}, "id": "x"}"#,
        ),
        one(r#"{"function": "read_file", "parameters": {"path": "a.txt"}}"#),
        one(r#"{"type": "function", "name": "read_file", "parameters": {"path": "a.txt"}}"#),
        (format!("{BASE}\n{more}"), 2),
        (format!("[{BASE}, {more}]"), 2),
        one(&format!("<tool_call>\n{BASE}\n</tool_call>")),
        one(&format!("<tool_call>{BASE}")),
        (format!("<tool_call>{BASE}</tool_call>\n<tool_call>\n{more}\n</tool_call>"), 2),
        one(r#"<function=read_file>{"path": "a.txt"}</function>"#),
        one("<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>"),
        one("<function=read_file>\n<parameter=path>a.txt</parameter>\n</function>"),
        one(&format!("[TOOL_CALLS][{BASE}]")),
        one(&format!("[TOOL_CALLS] {BASE}")),
        one(r#"[TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}"#),
        (format!("<|python_tag|>{BASE}; {more}"), 2),
    ]
}

fn prose() -> Vec<String> {
    [
        "",
        " ",
        "Hello.",
        "null",
        "{}",
        "[]",
        "[1, 2]",
        r#"{"title": "x"}"#,
        r#"{"name": "read_file"}"#,
        r#"{"name": "read_file", "arguments": {"path": "a.txt"}, "why": "x"}"#,
        r#"{"name": "read_file", "arguments": [1]}"#,
        r#"{"name": "read_file", "arguments": "no"}"#,
        r#"{"name": "viola", "version": "0.1.0"}"#,
        r#"{"name": "rm", "arguments": {}}"#,
        r#"{"name": "read_file", "arguments": {"path": "a.txt"}"#,
        "<tool_call>",
        "<tool_call>hm</tool_call>",
        "<function=read_file>",
        "<function=rm>{}</function>",
        "<function=list files>",
        "<b>bold</b>",
        "[TOOL_CALLS] none",
        "[TOO",
        "```json\n{\"name\": \"read_file\", \"arguments\": {}}\n```",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([
        format!("{BASE} is how it looks."),
        format!("I would call {BASE}"),
        format!("<tool_call>{BASE}</tool_call> is how it looks."),
        format!("[{BASE}, {{\"name\": \"rm\", \"arguments\": {{}}}}]"),
    ])
    .collect()
}

#[test]
fn every_notation_is_read() {
    for (text, count) in notations() {
        let found = found(&text);
        assert_eq!(found.len(), count, "{text}");
        assert_eq!(found[0], ("read_file".to_owned(), json!({"path": "a.txt"})), "{text}");
    }
}

#[test]
fn what_is_more_or_less_than_calls_stays_text() {
    for text in prose() {
        assert_eq!(found(&text), [], "{text}");
    }
}

#[test]
fn tagged_arguments_have_the_types_of_the_schema() {
    let text = "<function=edit_file>\n<parameter=path>\n7\n</parameter>\n<parameter=edits>\n[{\"old_text\": \"a\"}]\n</parameter>\n</function>";
    assert_eq!(found(text), [("edit_file".to_owned(), json!({"path": "7", "edits": [{"old_text": "a"}]}))]);
    let text = "<function=read_file><parameter=limit>5</parameter><parameter=path>\n a </parameter> b\n\n</parameter></function>";
    assert_eq!(found(text), [("read_file".to_owned(), json!({"limit": 5, "path": " a </parameter> b\n"}))]);
    assert_eq!(found("<function=list_files></function>"), [("list_files".to_owned(), json!({}))]);
}

#[test]
fn data_is_shown_as_soon_as_it_cannot_be_a_call() {
    for text in [r#"{"title":"#, r#"[{"id": 1,"#, "[1", "<html>", "[TA", "Hm", r#"{"name": "viola", "version":"#, "```"]
    {
        assert!(!may_become_calls(text, &offers()), "{text}");
    }
    for text in ["", "\n", "{", "[", "[TOO", "<", "<tool_c", "<function=read", r#"{"name": "read_file", "argum"#] {
        assert!(may_become_calls(text, &offers()), "{text}");
    }
}

fn reply(text: &str, stop: StopReason) -> Reply {
    Reply { content: shared::answer(text), stop, usage: Usage::default(), written: false }
}

/// What is shown of an answer that comes in these pieces, and what becomes of it.
fn show(pieces: &[&str], request: &Request, compat: &Compat, mut reply: Reply) -> (String, Reply) {
    let mut shown = String::new();
    let mut deltas = |delta: Delta<'_>| match delta {
        Delta::Text(more) => shown.push_str(more),
        Delta::Reasoning(_) => {}
    };
    let mut hold = Hold::new(request, compat);
    for piece in pieces {
        hold.pass(Delta::Text(piece), &mut deltas);
    }
    hold.settle(&mut reply, &mut deltas);
    (shown, reply)
}

fn request() -> Request {
    Request { tools: offers().into(), ..shared::request(Vec::new()) }
}

fn own() -> Compat {
    Compat { text_calls: true, ..Compat::default() }
}

#[test]
fn calls_replace_the_text_and_are_marked() {
    let mut answer = reply(BASE, StopReason::Stop);
    answer.content.insert(0, AssistantPart::Reasoning(Default::default()));
    let (shown, reply) = show(&[BASE], &request(), &own(), answer);
    assert_eq!((shown.as_str(), reply.stop, reply.written), ("", StopReason::ToolUse, true));
    assert!(matches!(&reply.content[..], [AssistantPart::Reasoning(_), AssistantPart::ToolUse(_)]));
}

#[test]
fn text_stays_text_where_it_may_not_be_calls() {
    let silenced = Request { tool_choice: ToolChoice::None, ..request() };
    let bare = Request { tools: [].into(), ..request() };
    for (request, compat) in [(&request(), Compat::default()), (&silenced, own()), (&bare, own())] {
        let whole = reply(BASE, StopReason::Stop);
        assert_eq!(show(&[BASE], request, &compat, whole.clone()), (BASE.to_owned(), whole));
    }
    let cut = reply(BASE, StopReason::Length);
    assert_eq!(show(&[BASE], &request(), &own(), cut.clone()), (BASE.to_owned(), cut));
    let mut native = reply(BASE, StopReason::ToolUse);
    let call = ToolCall { id: "c".into(), name: "list_files".into(), input: ToolInput::parse("{}") };
    native.content.push(AssistantPart::ToolUse(call));
    assert_eq!(show(&[BASE], &request(), &own(), native.clone()), (BASE.to_owned(), native));
}

#[test]
fn a_long_call_is_not_read_anew_with_every_piece() {
    let text = json!({"name": "read_file", "arguments": {"path": "x".repeat(200_000)}}).to_string();
    let pieces: Vec<&str> = text.as_bytes().chunks(4).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    let (shown, settled) = show(&pieces, &request(), &own(), reply(&text, StopReason::Stop));
    assert!(shown.is_empty() && settled.written);
    let text = text + " or so";
    let pieces: Vec<&str> = text.as_bytes().chunks(4).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    assert_eq!(show(&pieces, &request(), &own(), reply(&text, StopReason::Stop)).0, text);
}

proptest! {
    #[test]
    fn of_calls_nothing_is_shown_and_of_text_everything(
        text in prop::sample::select(notations().into_iter().map(|(text, _)| text).chain(prose()).collect::<Vec<_>>()),
        size in 1usize..9,
    ) {
        let letters: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = letters.chunks(size).map(|chunk| chunk.iter().collect()).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let (shown, settled) = show(&pieces, &request(), &own(), reply(&text, StopReason::Stop));
        let are_calls = calls(&text, &offers()).is_some();
        prop_assert_eq!(settled.written, are_calls);
        prop_assert_eq!(shown, if are_calls { String::new() } else { text });
    }

    #[test]
    fn what_is_calls_in_the_end_may_become_so_all_along(at in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {
        let notations = notations();
        let (text, _) = at.get(&notations);
        let cut = cut.index(text.len() + 1);
        prop_assert!(may_become_calls(&text[..cut], &offers()), "{}", &text[..cut]);
    }

    #[test]
    fn any_text_is_read_to_an_end(text in "[<>{}\\[\\]\"=:,;a-z|/\n ]{0,40}|\\PC{0,40}") {
        let _ = (calls(&text, &offers()), may_become_calls(&text, &offers()));
    }
}
