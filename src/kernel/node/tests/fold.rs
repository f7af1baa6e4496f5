//! Compaction: when it comes, what it keeps, and that it ends.

use super::*;
use crate::kernel::compact::tests::{answer, results};
use crate::kernel::compact::{Folded, stand_in, summary_of};

/// A node whose window holds 10,000 tokens, of which 8,000 may be sent, and about 1,000 are kept.
fn small(history: Vec<Message>) -> Node {
    with(compact::Settings { reserve_tokens: 2_000, keep_tokens: 1_000, ..compaction() }, history)
}

fn with(compaction: compact::Settings, history: Vec<Message>) -> Node {
    let info = ModelInfo { window: Some(10_000), ..info() };
    Node::new(Settings { compaction, ..settings() }, info, history.into_iter().map(Arc::new).collect())
        .opening("the time".into())
}

/// Text of so many tokens, as long as nobody counts.
fn tokens(count: usize) -> String {
    "word".repeat(count)
}

/// Questions and answers of a thousand tokens each.
fn talk(rounds: usize) -> Vec<Message> {
    (0..rounds)
        .flat_map(|round| {
            let (asked, answered) = (format!("question {round} {}", tokens(1_000)), tokens(1_000));
            [Message::user(asked), answer(&answered, &[])]
        })
        .collect()
}

fn summons(effects: &[Effect]) -> Option<&Summons> {
    effects.iter().find_map(|effect| match effect {
        Effect::Summarise(summons) => Some(summons),
        _ => None,
    })
}

fn folded(effects: &[Effect]) -> &Folded {
    let folded = effects.iter().find_map(|effect| match effect {
        Effect::Fold(folded) => Some(folded),
        _ => None,
    });
    folded.unwrap_or_else(|| panic!("nothing was folded: {effects:?}"))
}

fn failure(effects: &[Effect]) -> &ModelError {
    let failure = effects.iter().find_map(|effect| match effect {
        Effect::Finish(Outcome { end: End::Failed(error), .. }) => Some(error),
        _ => None,
    });
    failure.unwrap_or_else(|| panic!("it did not fail: {effects:?}"))
}

fn summary(text: &str) -> Input {
    Input::Summarised { info: info(), result: Ok(plain_reply(text)), dice: 0.5 }
}

fn no_summary(kind: ErrorKind) -> Input {
    Input::Summarised { info: info(), result: Err(ModelError::new(kind, "no summary")), dice: 0.5 }
}

fn overflow() -> Input {
    Input::ReplyFailed { error: ModelError::new(ErrorKind::Context, "too long"), shown: false, dice: 0.5 }
}

fn told(summons: &Summons) -> String {
    match summons.request(None, None).messages[0].as_ref() {
        Message::User(parts) => match &parts[..] {
            [Part::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_full_conversation_is_summarised_before_the_next_question_is_sent() {
    let mut node = small(talk(4));
    let effects = node.step(Input::Submitted(Message::user("and now?")));
    let told = told(summons(&effects).unwrap());
    assert!(asks(&effects).is_empty() && told.contains("question 0") && !told.contains("and now?"));
    let effects = node.step(summary("we talked"));
    let Folded { opening, text, pinned, kept, tokens_before, tokens_after, .. } = folded(&effects);
    assert_eq!(
        (opening.as_deref(), text.as_str(), pinned.as_slice(), *kept),
        (Some("the time"), "we talked", &[][..], 2)
    );
    assert!(*tokens_before > 8_000 && *tokens_after < 1_200, "{tokens_before} {tokens_after}");
    assert_eq!(asks(&effects), [ToolChoice::Auto]);
    let history: Vec<_> = node.history().iter().map(|message| (**message).clone()).collect();
    assert_eq!(
        history,
        [stand_in(Some("the time"), "we talked"), answer(&tokens(1_000), &[]), Message::user("and now?")]
    );
}

#[test]
fn room_is_made_in_the_middle_of_a_task_and_the_question_stays_word_for_word() {
    let mut node = small(Vec::new());
    let mut effects = node.step(Input::Submitted(Message::user("read them all")));
    let mut rounds = 0;
    while summons(&effects).is_none() {
        assert_eq!(asks(&effects).len(), 1);
        rounds += 1;
        node.step(reply(&tokens(800), vec![call(&format!("c{rounds}"), "read_file")], StopReason::ToolUse));
        let pending = pending(call(&format!("c{rounds}"), "read_file"), Subject::Other);
        node.step(Input::Prepared(vec![Ok(pending)]));
        node.step(Input::Decided(vec![Verdict::Allow]));
        // Each is too short to be left out alone.
        let output = Output::ok(format!("{rounds}{}", tokens(450)));
        effects = node.step(Input::ToolFinished { place: 0, output, duration_ms: 0 });
    }
    assert!((6..9).contains(&rounds), "{rounds}");
    let effects = node.step(summary("six were read"));
    let Folded { pinned, kept, .. } = folded(&effects);
    assert_eq!((pinned.as_slice(), *kept), (&[rounds + 1][..], 1));
    assert_eq!(*node.history()[1], Message::user("read them all"));
    assert!(matches!(*node.history()[2], Message::Assistant(_)) && matches!(*node.history()[3], Message::Tool(_)));
    assert_eq!((node.history().len(), asks(&effects).len()), (4, 1));
    check_history(node.history());
}

#[test]
fn old_outputs_go_first_and_need_nobody() {
    let mut history = Vec::new();
    for round in ["a", "b", "c", "d"] {
        history.extend([answer("looking", &[round]), results(&[(round, &tokens(2_100))])]);
    }
    let mut node = small(history);
    let effects = node.step(Input::Submitted(Message::user("go on")));
    assert!(summons(&effects).is_none() && asks(&effects).len() == 1);
    let kept = effects.iter().find_map(|effect| match effect {
        Effect::Prune(kept) => Some(*kept),
        _ => None,
    });
    assert_eq!(kept, Some(2), "the last answer and the question");
    let lengths: Vec<_> = node.history().iter().map(|message| node.tokens_of(message)).collect();
    assert!(lengths[1] < 50 && lengths[5] < 50 && lengths[7] > 2_000, "{lengths:?}");
    assert!(node.context_tokens() < 3_000);
}

#[test]
fn an_earlier_summary_is_merged() {
    let mut history = talk(4);
    history.insert(0, stand_in(None, "long ago"));
    let mut node = small(history).stale(1);
    let effects = node.step(Input::Submitted(Message::user("and now?")));
    assert!(told(summons(&effects).unwrap()).starts_with("<conversation>\n[Earlier handover]\nlong ago\n"));
    node.step(summary("all of it"));
    assert_eq!(node.history().iter().filter_map(|message| summary_of(message)).collect::<Vec<_>>(), ["all of it"]);
}

#[test]
fn a_summary_that_is_no_shorter_fails_and_the_second_time_ends_the_task() {
    let mut node = small(talk(4));
    node.step(Input::Submitted(Message::user("and now?")));
    let effects = node.step(summary(&tokens(9_000)));
    assert!(summons(&effects).is_some(), "once more, keeping less");
    let effects = node.step(summary(&tokens(9_000)));
    let error = failure(&effects);
    assert!(error.kind == ErrorKind::Context && error.message.contains("could not be summarised"), "{error}");
    assert_eq!(node.history().len(), 9, "nothing is lost");
    // It is usable: a summary that helps, and the talk goes on.
    node.step(Input::Submitted(Message::user("again")));
    let effects = node.step(summary("short"));
    assert_eq!(asks(&effects).len(), 1);
    assert!(matches!(node.step(reply("yes", vec![], StopReason::Stop)).last(), Some(Effect::Finish(_))));
}

#[test]
fn an_overflow_is_answered_by_a_summary_at_most_twice() {
    let history = |rounds| talk(rounds).into_iter().map(Arc::new).collect::<Vec<_>>();
    let mut node = Node::new(Settings { compaction: compaction(), ..settings() }, info(), history(8));
    node.step(Input::Submitted(Message::user("and now?")));
    let effects = node.step(overflow());
    let wanted = summons(&effects).unwrap();
    assert!((20_000..36_000).contains(&told(wanted).len()) && wanted.most.is_some_and(|most| most < 9_000));
    let effects = node.step(summary("we talked"));
    assert_eq!(asks(&effects).len(), 1);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Emit(Event::TurnStarted { turn: 0, .. }))));
    assert!(summons(&node.step(overflow())).is_some());
    node.step(summary("short"));
    let effects = node.step(overflow());
    assert_eq!(failure(&effects).message, "too long");
}

#[test]
fn its_own_request_is_made_smaller() {
    let mut node = small(talk(4));
    node.step(Input::Submitted(Message::user("and now?")));
    let effects = node.step(no_summary(ErrorKind::Context));
    assert_eq!(summons(&effects).and_then(|summons| summons.most), Some(4_500), "half the window");
    assert!(summons(&node.step(no_summary(ErrorKind::Context))).is_some(), "the second compaction");
    node.step(no_summary(ErrorKind::Context));
    assert_eq!(failure(&node.step(no_summary(ErrorKind::Context))).kind, ErrorKind::Context);
}

#[test]
fn a_provider_that_is_down_is_waited_for_and_one_without_a_key_is_not() {
    let mut node = small(talk(4));
    node.step(Input::Submitted(Message::user("and now?")));
    let effects = node.step(no_summary(ErrorKind::Overload));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Wait(_))));
    assert!(summons(&node.step(Input::WaitOver)).is_some());
    assert_eq!(failure(&node.step(no_summary(ErrorKind::Auth))).kind, ErrorKind::Auth);
}

#[test]
fn nothing_happens_unasked_where_it_is_switched_off() {
    let off = compact::Settings { auto: false, reserve_tokens: 2_000, keep_tokens: 1_000, ..compaction() };
    let mut node = with(off, talk(4));
    let effects = node.step(Input::Submitted(Message::user("and now?")));
    assert_eq!(asks(&effects).len(), 1);
    assert_eq!(failure(&node.step(overflow())).message, "too long");
    let effects = node.step(Input::Compact(Some("keep the names".into())));
    assert!(told(summons(&effects).unwrap()).ends_with("The person asks of it: keep the names"));
    let effects = node.step(summary("short"));
    assert!(matches!(effects.last(), Some(Effect::Finish(Outcome { end: End::Answered, .. }))));
    assert!(node.history().len() < 4 && node.history().iter().any(|message| **message == Message::user("and now?")));
}

#[test]
fn a_short_conversation_has_nothing_to_summarise() {
    let mut node = small(vec![Message::user("hi"), answer("hello", &[])]);
    let effects = node.step(Input::Compact(None));
    assert!(summons(&effects).is_none() && matches!(effects.last(), Some(Effect::Finish(_))));
    // A first message that fills the window is the provider's to judge.
    let mut node = small(Vec::new());
    assert_eq!(asks(&node.step(Input::Submitted(Message::user(tokens(9_000))))).len(), 1);
    assert_eq!(failure(&node.step(overflow())).message, "too long");
}

#[test]
fn the_size_is_learned_from_what_providers_count() {
    let mut node = small(Vec::new());
    node.step(Input::Submitted(Message::user(tokens(2_000))));
    let usage = Usage { input: 4_000, output: 10, ..Usage::default() };
    let content = vec![AssistantPart::Text("yes".into())];
    let reply = Reply { content, stop: StopReason::Stop, usage, written: false };
    node.step(Input::Replied { reply, shown: false, dice: 0.5 });
    assert_eq!(node.context_tokens(), 4_010);
    // Twice what was guessed: what comes next is weighed alike.
    assert_eq!(node.tokens_of(&Message::user(tokens(500))), 1_000);
    let history = node.history().to_vec();
    let resumed = Node::new(settings(), info(), history.clone()).stale(0);
    assert_eq!((resumed.context_tokens(), resumed.tokens_of(&Message::user(tokens(500)))), (4_010, 1_000));
    let stale = Node::new(settings(), info(), history).stale(2);
    assert_eq!(stale.context_tokens(), 2_000, "what was counted before a summary counts no more");
}

#[test]
fn results_that_nobody_has_seen_are_left_out_only_when_they_do_not_fit() {
    let mut history = talk(2);
    history.extend([answer("reading", &["a"]), results(&[("a", &tokens(4_900))])]);
    let mut node = small(history);
    let effects = node.step(Input::Submitted(Message::user("go on")));
    let told = told(summons(&effects).unwrap());
    assert!(told.contains("question 1") && !told.contains("[Agent calls read_file]"));
    assert_eq!(asks(&node.step(summary("we talked"))).len(), 1, "the provider judges what is left");
    let effects = node.step(overflow());
    assert_eq!(asks(&effects).len(), 1, "then they are shown in part");
}

#[test]
fn a_result_too_long_for_the_window_is_shown_in_part() {
    let mut node = small(Vec::new());
    node.step(Input::Submitted(Message::user("read it")));
    node.step(reply("", vec![call("c", "read_file")], StopReason::ToolUse));
    let limits = Limits { chars: 50_000, lines: 2_000 };
    let pending = PendingCall { limits, ..pending(call("c", "read_file"), Subject::Other) };
    node.step(Input::Prepared(vec![Ok(pending)]));
    node.step(Input::Decided(vec![Verdict::Allow]));
    let effects = node.step(Input::ToolFinished { place: 0, output: Output::ok(tokens(11_000)), duration_ms: 0 });
    assert!(summons(&effects).is_none() && asks(&effects).len() == 1, "nobody has to be asked");
    let Message::Tool(shown) = &*node.history()[2] else { panic!() };
    let Part::Text(text) = &shown[0].content[0] else { panic!() };
    assert!(text.contains("do not fit into the model's window") && text.len() < 17_000, "{}", text.len());
    // The provider's own window is smaller still.
    let effects = node.step(overflow());
    assert_eq!(asks(&effects).len(), 1, "{effects:?}");
    let Message::Tool(shown) = &*node.history()[2] else { panic!() };
    let Part::Text(text) = &shown[0].content[0] else { panic!() };
    assert!(text.len() < 9_000, "{}", text.len());
}
