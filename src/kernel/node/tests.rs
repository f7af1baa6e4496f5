//! The node: single rules one by one; random worlds and compaction are below.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one kind of effect among many")]

use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

mod fold;
mod workers;
mod world;

use super::*;
use crate::kernel::compact::Summons;
use crate::kernel::compact::tests::settings as compaction;
use crate::kernel::effect::DeniedCall;
use crate::kernel::port::{Denial, DeniedBy, Verdict};
use crate::kernel::tool::{Limits, Output, Subject};
use crate::model::message::{AssistantPart, Image, Origin, Part, Reasoning, ToolInput};
use crate::model::usage::{Price, Usage};

fn settings() -> Settings {
    Settings {
        last_words: false,
        max_turns: Some(100),
        max_cost: None,
        retry: Policy { max_retries: 4, cap: Duration::from_secs(60) },
        loop_detection: true,
        overhead_tokens: 0,
        compaction: compaction(),
    }
}

fn info() -> ModelInfo {
    ModelInfo {
        origin: Arc::new(Origin { provider: "p".into(), model: "m".into() }),
        label: "m".into(),
        window: None,
        max_output: None,
        price: None,
        reasoning: false,
        images: false,
    }
}

fn node(settings: Settings) -> Node {
    Node::new(settings, info(), Vec::new())
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), input: ToolInput::Object(Default::default()) }
}

fn reply(text: &str, calls: Vec<ToolCall>, stop: StopReason) -> Input {
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(AssistantPart::Text(text.into()));
    }
    content.extend(calls.into_iter().map(AssistantPart::ToolUse));
    Input::Replied { reply: Reply { content, stop, usage: Usage::default(), written: false }, shown: true, dice: 0.5 }
}

fn pending(call: ToolCall, subject: Subject) -> PendingCall {
    PendingCall { call, risk: Risk::Write, subject, limits: Limits { chars: 1_000, lines: 100 } }
}

fn outcome(effects: &[Effect]) -> Option<&Outcome> {
    effects.iter().find_map(|effect| match effect {
        Effect::Finish(outcome) => Some(outcome),
        _ => None,
    })
}

fn asks(effects: &[Effect]) -> Vec<ToolChoice> {
    let asks = effects.iter().filter_map(|effect| match effect {
        Effect::Ask(choice) => Some(*choice),
        _ => None,
    });
    asks.collect()
}

/// Runs one answer with these calls, all permitted and all successful with `text`.
fn round(node: &mut Node, names: &[&str], text: &str) -> Vec<Effect> {
    let calls: Vec<_> = names.iter().enumerate().map(|(place, name)| call(&format!("c{place}"), name)).collect();
    node.step(reply("", calls.clone(), StopReason::ToolUse));
    let checked = calls.into_iter().map(|call| Ok(pending(call, Subject::Other))).collect();
    node.step(Input::Prepared(checked));
    node.step(Input::Decided(vec![Verdict::Allow; names.len()]));
    let mut last = Vec::new();
    for place in 0..names.len() {
        last = node.step(Input::ToolFinished { place, output: Output::ok(text), duration_ms: 1 });
    }
    last
}

#[test]
fn a_task_without_calls_is_one_turn() {
    let mut node = node(settings());
    let effects = node.step(Input::Submitted(Message::user("hi")));
    assert_eq!(asks(&effects), [ToolChoice::Auto]);
    let effects = node.step(reply("hello", vec![], StopReason::Stop));
    let outcome = outcome(&effects).expect("the end");
    assert_eq!((outcome.text.as_str(), outcome.turns, &outcome.end), ("hello", 1, &End::Answered));
    assert!(node.is_idle() && node.history().len() == 2);
}

#[test]
fn a_call_cut_by_the_limit_is_answered_and_not_run() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("write")));
    let effects = node.step(reply("", vec![call("c", "write_file")], StopReason::Length));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Prepare(_) | Effect::Run { .. })));
    assert_eq!(asks(&effects), [ToolChoice::Auto], "the model may try again");
    let Message::Tool(results) = &**node.history().last().expect("results") else { panic!("no results") };
    assert!(results[0].is_error && format!("{:?}", results[0].content).contains("output limit"));
}

#[test]
fn a_cut_answer_without_calls_is_no_success() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("tell")));
    let effects = node.step(reply("once upon a ti", vec![], StopReason::Length));
    let outcome = outcome(&effects).expect("the end");
    assert_eq!(outcome.text, "once upon a ti");
    assert!(matches!(&outcome.end, End::Failed(error) if error.kind == ErrorKind::Length));
}

#[test]
fn a_full_window_is_told_as_such() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("tell")));
    let effects = node.step(reply("once upon", vec![], StopReason::Window));
    assert!(matches!(&outcome(&effects).expect("the end").end, End::Failed(error) if error.kind == ErrorKind::Context));
}

#[test]
fn a_paused_answer_is_gone_on_with() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("tell")));
    let effects = node.step(reply("part one, ", vec![], StopReason::Pause));
    assert_eq!(asks(&effects), [ToolChoice::Auto]);
    let effects = node.step(reply("part two", vec![], StopReason::Stop));
    let outcome = outcome(&effects).expect("the end");
    assert_eq!((outcome.text.as_str(), outcome.turns), ("part one, part two", 2));
}

#[test]
fn an_empty_answer_is_asked_for_twice_more_and_never_kept() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("hi")));
    for _ in 0..2 {
        let effects = node.step(reply(" \n", vec![], StopReason::Stop));
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Wait(_))));
        node.step(Input::WaitOver);
    }
    let effects = node.step(reply("", vec![], StopReason::Stop));
    assert!(matches!(&outcome(&effects).expect("the end").end, End::Failed(error) if error.kind == ErrorKind::Empty));
    assert_eq!(node.history().len(), 1);
}

#[test]
fn a_retry_after_deltas_announces_the_restart() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("hi")));
    let error = ModelError::new(ErrorKind::Network, "the stream broke off");
    let effects = node.step(Input::ReplyFailed { error, shown: true, dice: 0.0 });
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Emit(Event::Notice(Notice { code: NoticeCode::Retry, restart: true, .. }))
    )));
    let effects = node.step(Input::WaitOver);
    assert_eq!(asks(&effects), [ToolChoice::Auto]);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Emit(Event::TurnStarted { .. }))), "the same turn");
}

#[test]
fn turns_and_money_end_a_task_before_the_next_request() {
    let mut limited = node(Settings { max_turns: Some(2), ..settings() });
    limited.step(Input::Submitted(Message::user("go")));
    assert!(outcome(&round(&mut limited, &["a"], "one")).is_none());
    let effects = round(&mut limited, &["a"], "two");
    assert_eq!(outcome(&effects).expect("the end").end, End::MaxTurns);
    assert_eq!(outcome(&effects).expect("the end").turns, 2);

    let price = Price { input: 1.0, output: 1.0, cache_read: 0.0, cache_write: 0.0 };
    let mut paid =
        Node::new(Settings { max_cost: Some(1.5), ..settings() }, ModelInfo { price: Some(price), ..info() }, vec![]);
    paid.step(Input::Submitted(Message::user("go")));
    let usage = Usage { input: 2_000_000, ..Usage::default() };
    let answer = Reply {
        content: vec![AssistantPart::ToolUse(call("c", "a"))],
        stop: StopReason::ToolUse,
        usage,
        written: false,
    };
    paid.step(Input::Replied { reply: answer, shown: false, dice: 0.0 });
    let effects = paid.step(Input::Prepared(vec![Err("no".into())]));
    assert_eq!(outcome(&effects).expect("the end").end, End::Cost);
    assert_eq!(outcome(&effects).expect("the end").cost, Some(2.0));

    paid.step(Input::Submitted(Message::user("go")));
    let effects = paid.step(answered(vec![], usage));
    assert_eq!(outcome(&effects).expect("an empty answer is paid, too").end, End::Cost);
}

fn answered(content: Vec<AssistantPart>, usage: Usage) -> Input {
    Input::Replied { reply: Reply { content, stop: StopReason::Stop, usage, written: false }, shown: true, dice: 0.5 }
}

fn refused(node: &mut Node, kind: ErrorKind) -> Vec<Effect> {
    node.step(Input::ReplyFailed { error: ModelError::new(kind, "HTTP 400: no"), shown: false, dice: 0.5 })
}

fn picture(byte: u8) -> Part {
    Part::Image(Image { media_type: "image/png".into(), data: [byte].into() })
}

fn sent(node: &Node) -> String {
    node.history().iter().map(|message| format!("{message:?}\n")).collect()
}

#[test]
fn a_refused_picture_is_left_out_for_good() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::User(vec![picture(1)])));
    node.step(answered(vec![AssistantPart::Text("seen".into())], Usage::default()));
    node.step(Input::Submitted(Message::User(vec![picture(2), Part::Text("and this".into())])));
    let effects = refused(&mut node, ErrorKind::Picture);
    assert_eq!(asks(&effects), [ToolChoice::Auto], "at once");
    let Some(Effect::Refuse(ids)) = effects.iter().find(|effect| matches!(effect, Effect::Refuse(_))) else {
        panic!("nothing is kept")
    };
    assert_eq!(ids.len(), 1);
    assert_eq!((sent(&node).matches("Image {").count(), sent(&node).matches("[a picture was here").count()), (1, 1));
    node.step(answered(vec![AssistantPart::Text("fine".into())], Usage::default()));
    // Whoever brings it again, and in a session that goes on elsewhere.
    let effects = node.step(Input::Submitted(Message::User(vec![picture(2), picture(3)])));
    let Some(Effect::Keep(kept)) = effects.first() else { panic!("not kept") };
    assert_eq!(format!("{kept:?}").matches("Image {").count(), 1);
    assert!(matches!(&effects[1], Effect::Emit(Event::Notice(notice)) if notice.text.contains("refused before")));
    let resumed = Node::new(settings(), info(), vec![Arc::new(Message::User(vec![picture(2)]))]);
    assert!(!sent(&resumed.refusing(ids.clone())).contains("Image"));
    // A model that takes none at all: all go, then there is nothing left to leave out.
    refused(&mut node, ErrorKind::Picture);
    refused(&mut node, ErrorKind::Picture);
    assert!(!sent(&node).contains("Image"));
    let effects = refused(&mut node, ErrorKind::Picture);
    assert!(matches!(&outcome(&effects).expect("the end").end, End::Failed(error) if error.kind == ErrorKind::Picture));
}

#[test]
fn refused_reasoning_is_left_out_once() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("hi")));
    let thought = Reasoning { text: "hm".into(), signature: Some("seal".into()), opaque: None };
    let content = vec![AssistantPart::Reasoning(thought), AssistantPart::Text("hello".into())];
    node.step(answered(content, Usage::default()));
    node.step(Input::Submitted(Message::user("and")));
    let effects = refused(&mut node, ErrorKind::Seal);
    assert_eq!(asks(&effects), [ToolChoice::Auto]);
    assert!(!sent(&node).contains("seal") && sent(&node).contains("hello"));
    // What comes later is written down, and not sent either.
    let thought = Reasoning { text: "hm".into(), signature: Some("seal".into()), opaque: None };
    let content = vec![AssistantPart::Reasoning(thought), AssistantPart::Text("well".into())];
    let effects = node.step(answered(content, Usage::default()));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Keep(kept) if format!("{kept:?}").contains("seal"))));
    assert!(!sent(&node).contains("seal") && sent(&node).contains("well"));
    node.step(Input::Submitted(Message::user("and on")));
    let effects = refused(&mut node, ErrorKind::Seal);
    assert!(matches!(&outcome(&effects).expect("the end").end, End::Failed(error) if error.kind == ErrorKind::Seal));
}

#[test]
fn each_answer_costs_what_its_own_model_takes() {
    let price = |input| Some(Price { input, output: 0.0, cache_read: 0.0, cache_write: 0.0 });
    let mut node = Node::new(settings(), ModelInfo { price: price(1.0), ..info() }, Vec::new());
    node.step(Input::Submitted(Message::user("go")));
    let million = Usage { input: 1_000_000, ..Usage::default() };
    let content = vec![AssistantPart::ToolUse(call("c", "a"))];
    node.step(Input::Replied {
        reply: Reply { content, stop: StopReason::ToolUse, usage: million, written: false },
        shown: false,
        dice: 0.0,
    });
    node.step(Input::Prepared(vec![Err("no".into())]));
    let give_up = ModelError { retryable: false, ..ModelError::new(ErrorKind::Overload, "busy") };
    let effects = node.step(Input::ReplyFailed { error: give_up, shown: false, dice: 0.0 });
    assert!(matches!(effects.last(), Some(Effect::NextModel)));
    let next = ModelInfo { price: price(3.0), ..info() };
    node.step(Input::NextModel { info: Some(next), passed_over: Vec::new(), notices: Vec::new() });
    let effects = node.step(answered(vec![AssistantPart::Text("done".into())], million));
    assert_eq!(outcome(&effects).expect("the end").cost, Some(4.0));
}

#[test]
fn who_counts_nothing_costs_nobody_knows_what_and_the_budget_goes_by_a_guess() {
    let price = Price { input: 1_000.0, output: 1_000.0, cache_read: 0.0, cache_write: 0.0 };
    let info = ModelInfo { price: Some(price), ..info() };
    let mut node = Node::new(Settings { max_cost: Some(0.5), ..settings() }, info, Vec::new());
    node.step(Input::Submitted(Message::user("x".repeat(2_000))));
    let content = vec![AssistantPart::ToolUse(call("c", "a"))];
    let reply = Reply { content, stop: StopReason::ToolUse, usage: Usage::default(), written: false };
    let effects = node.step(Input::Replied { reply, shown: false, dice: 0.0 });
    let told = |effect: &Effect| matches!(effect, Effect::Emit(Event::Notice(notice)) if notice.text.contains("counts no tokens"));
    assert!(effects.iter().any(told));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Emit(Event::TurnFinished { cost: None, .. }))));
    let effects = node.step(Input::Prepared(vec![Err("no".into())]));
    let outcome = outcome(&effects).expect("the end");
    assert_eq!((&outcome.end, outcome.cost), (&End::Cost, None));
}

#[test]
fn more_than_the_window_holds_is_told_once() {
    let mut node = Node::new(settings(), ModelInfo { window: Some(1_000), ..info() }, Vec::new());
    let overflown = |effects: &[Effect]| {
        let told = effects.iter().filter(|effect| {
            matches!(effect, Effect::Emit(Event::Notice(Notice { code: NoticeCode::Compaction, .. })))
        });
        told.count()
    };
    node.step(Input::Submitted(Message::user("go")));
    let usage = Usage { input: 400, cache_read: 601, output: 5, ..Usage::default() };
    let effects = node.step(answered(vec![AssistantPart::Text("done".into())], usage));
    assert_eq!((overflown(&effects), &outcome(&effects).expect("the end").end), (1, &End::Answered));
    node.step(Input::Submitted(Message::user("go")));
    let usage = Usage { input: 1_000, output: 500, ..Usage::default() };
    assert_eq!(overflown(&node.step(answered(vec![AssistantPart::Text("done".into())], usage))), 0);
}

#[test]
fn a_loop_is_noted_warned_and_ended_without_tools() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("go")));
    for _ in 0..2 {
        assert_eq!(node.history().len() % 2, 1);
        round(&mut node, &["a"], "same");
    }
    for expected in [ToolChoice::Auto, ToolChoice::Auto, ToolChoice::None] {
        let effects = round(&mut node, &["a"], "same");
        assert!(matches!(&**node.history().last().expect("a note"), Message::User(_)));
        assert_eq!(asks(&effects), [expected]);
    }
    let effects = node.step(reply("I was stuck.", vec![call("x", "a")], StopReason::ToolUse));
    let outcome = outcome(&effects).expect("the end");
    assert_eq!((outcome.text.as_str(), &outcome.end), ("I was stuck.", &End::Loop));
    assert!(matches!(&**node.history().last().expect("results"), Message::Tool(_)), "even that call is answered");
}

#[test]
fn a_denied_call_is_answered_and_listed() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("go")));
    node.step(reply("", vec![call("c", "write_file")], StopReason::ToolUse));
    node.step(Input::Prepared(vec![Ok(pending(call("c", "write_file"), Subject::Write(vec![PathBuf::from("/w/a")])))]));
    let denial = Denial { reason: "denied: nobody could be asked".into(), by: DeniedBy::Nobody };
    let effects = node.step(Input::Decided(vec![Verdict::Deny(denial)]));
    assert_eq!(asks(&effects), [ToolChoice::Auto]);
    let effects = node.step(reply("I could not.", vec![], StopReason::Stop));
    let denied = &outcome(&effects).expect("the end").denied;
    assert_eq!(denied.len(), 1);
    assert_eq!((denied[0].summary.as_str(), denied[0].nobody_asked), ("/w/a", true));
}

#[test]
fn writers_of_one_path_run_in_turn() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("go")));
    let calls = vec![call("c0", "edit"), call("c1", "edit"), call("c2", "read")];
    node.step(reply("", calls.clone(), StopReason::ToolUse));
    let path = vec![PathBuf::from("/w/a")];
    let subjects = [Subject::Write(path.clone()), Subject::Write(path), Subject::Read(vec![PathBuf::from("/w/b")])];
    let checked = calls.into_iter().zip(subjects).map(|(call, subject)| Ok(pending(call, subject))).collect();
    node.step(Input::Prepared(checked));
    let running = |effects: &[Effect]| -> Vec<usize> {
        let places = effects.iter().filter_map(|effect| match effect {
            Effect::Run { place, .. } => Some(*place),
            _ => None,
        });
        places.collect()
    };
    assert_eq!(running(&node.step(Input::Decided(vec![Verdict::Allow; 3]))), [0, 2]);
    let finished = |place| Input::ToolFinished { place, output: Output::ok("done"), duration_ms: 0 };
    assert_eq!(running(&node.step(finished(2))), Vec::<usize>::new());
    assert_eq!(running(&node.step(finished(0))), [1]);
    assert_eq!(asks(&node.step(finished(1))), [ToolChoice::Auto]);
}

fn plain_reply(text: &str) -> Reply {
    let content = vec![AssistantPart::Text(text.into())];
    Reply { content, stop: StopReason::Stop, usage: Usage::default(), written: false }
}

fn check_history(history: &[Arc<Message>]) {
    for (place, message) in history.iter().enumerate() {
        let Message::Assistant(answer) = &**message else { continue };
        let calls: Vec<_> = answer.calls().map(|call| call.id.as_str()).collect();
        if calls.is_empty() {
            continue;
        }
        let Some(Message::Tool(results)) = history.get(place + 1).map(|message| &**message) else {
            panic!("calls without results behind them");
        };
        assert_eq!(calls, results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>());
    }
}
