//! What belongs to a task besides its own conversation: work that was given away, last words, and the plan.

use super::*;
use crate::kernel::compact::summary_of;
use crate::kernel::compact::tests::answer;
use crate::kernel::pot::Pot;
use crate::kernel::tool::Ledger;
use crate::model::message::ToolResult;

fn finished(output: Output) -> Input {
    Input::ToolFinished { place: 0, output, duration_ms: 1 }
}

/// Asks for one call, and lets it run.
fn running(node: &mut Node, name: &str) {
    node.step(reply("", vec![call("c0", name)], StopReason::ToolUse));
    node.step(Input::Prepared(vec![Ok(pending(call("c0", name), Subject::Other))]));
    node.step(Input::Decided(vec![Verdict::Allow]));
}

#[test]
fn what_others_took_is_part_of_the_task() {
    let price = Price { input: 1.0, output: 1.0, cache_read: 0.0, cache_write: 0.0 };
    let mut node = Node::new(settings(), ModelInfo { price: Some(price), ..info() }, vec![]);
    node.step(Input::Submitted(Message::user("go")));
    running(&mut node, "dispatch_agent");
    let denied = DeniedCall {
        name: "write_file".into(),
        summary: "x".into(),
        rule: None,
        nobody_asked: true,
        agent: Some("c0".into()),
    };
    let usage = Usage { input: 7, ..Usage::default() };
    let ledger = Ledger { turns: 3, usage, cost: Some(0.5), denied: vec![denied.clone()] };
    node.step(finished(Output { ledger: Some(ledger), ..Output::ok("done") }));
    let effects = node.step(reply("so", vec![], StopReason::Stop));
    let outcome = outcome(&effects).unwrap();
    assert_eq!((outcome.turns, outcome.usage, outcome.denied.as_slice()), (2, usage, &[denied][..]));
}

#[test]
fn a_budget_is_shared_and_a_new_task_has_a_new_one() {
    let price = Price { input: 1.0, output: 1.0, cache_read: 0.0, cache_write: 0.0 };
    let priced = || ModelInfo { price: Some(price), ..info() };
    let limited = || Settings { max_cost: Some(1.0), ..settings() };
    let pot = Pot::default();
    let mut worker = Node::new(limited(), priced(), vec![]).sharing(pot.clone());
    pot.spend(2.0);
    let effects = worker.step(Input::Submitted(Message::user("go")));
    assert_eq!(outcome(&effects).unwrap().end, End::Cost, "others have spent it");

    let mut own = Node::new(limited(), priced(), vec![]);
    own.pot().spend(2.0);
    assert_eq!(asks(&own.step(Input::Submitted(Message::user("go")))), [ToolChoice::Auto]);
}

#[test]
fn who_has_last_words_is_asked_for_them_without_tools() {
    let mut node = node(Settings { max_turns: Some(1), last_words: true, ..settings() });
    node.step(Input::Submitted(Message::user("look")));
    let effects = round(&mut node, &["read_file"], "seven");
    assert_eq!(asks(&effects), [ToolChoice::None]);
    let effects = node.step(reply("it is seven", vec![], StopReason::Stop));
    let outcome = outcome(&effects).unwrap();
    assert_eq!((outcome.text.as_str(), outcome.turns, &outcome.end), ("it is seven", 2, &End::MaxTurns));
}

#[test]
fn what_stands_behind_an_output_is_not_cut_with_it() {
    let mut node = node(settings());
    node.step(Input::Submitted(Message::user("go")));
    running(&mut node, "read_file");
    let output = Output { appendix: Some("and this".into()), ..Output::ok("x".repeat(5_000)) };
    node.step(finished(output));
    let Message::Tool(results) = node.history().last().unwrap().as_ref() else { panic!("no result") };
    let [Part::Text(text), Part::Text(behind)] = &results[0].content[..] else { panic!("{results:?}") };
    assert!(text.len() < 1_500 && behind == "and this", "{text}");
    // It stays when the output itself is shortened or left out.
    for shorter in [compact::trimmed(node.history().last().unwrap(), 100), None] {
        let shorter = shorter.unwrap_or_else(|| {
            let long = ToolResult {
                content: vec![Part::Text("x".repeat(9_000)), Part::Text(behind.clone())],
                ..results[0].clone()
            };
            compact::pruned(&Message::Tool(vec![long])).unwrap()
        });
        let Message::Tool(results) = &shorter else { panic!("{shorter:?}") };
        assert!(
            matches!(&results[0].content[..], [Part::Text(text), Part::Text(kept)] if text.len() < 400 && kept == behind)
        );
    }
}

/// A conversation in a window of 10,000 tokens, which is summarised on demand.
fn talkative() -> Node {
    let info = ModelInfo { window: Some(10_000), ..info() };
    let long = "word".repeat(1_000);
    let history = (0..4).flat_map(|_| [Message::user(long.clone()), answer(&long, &[])]).map(Arc::new).collect();
    let compaction = compact::Settings { keep_tokens: 100, reserve_tokens: 100, ..compaction() };
    Node::new(Settings { compaction, ..settings() }, info, history).opening("the time".into())
}

fn fold(node: &mut Node) -> String {
    node.step(Input::Compact(None));
    let content = vec![AssistantPart::Text("we talked".into())];
    let reply = Reply { content, stop: StopReason::Stop, usage: Usage::default(), written: false };
    let effects = node.step(Input::Summarised { info: info(), result: Ok(reply), dice: 0.5 });
    let folded = effects.iter().find_map(|effect| match effect {
        Effect::Fold(folded) => folded.opening.clone(),
        _ => None,
    });
    assert_eq!(summary_of(&node.history()[0]), Some("we talked"));
    folded.expect("a summary")
}

fn plan(node: &mut Node, text: &str) {
    node.step(Input::Submitted(Message::user("plan it")));
    round(node, &["update_plan"], text);
    node.step(reply(&"word".repeat(1_500), vec![], StopReason::Stop));
}

#[test]
fn the_plan_outlives_every_summary() {
    let mut node = talkative();
    plan(&mut node, "[ ] old");
    plan(&mut node, "[x] one\n[ ] two");
    for _ in 0..3 {
        node.step(Input::Submitted(Message::user("on")));
        node.step(reply(&"word".repeat(2_000), vec![], StopReason::Stop));
        let opening = fold(&mut node);
        assert_eq!(opening, "the time\n\nThe plan as it stands:\n\n<plan>\n[x] one\n[ ] two\n</plan>");
    }
    plan(&mut node, "[x] three");
    let opening = fold(&mut node);
    assert!(opening.contains("[x] three") && !opening.contains("two"), "{opening}");
    // Who goes on with the conversation tomorrow has the plan as well.
    let history = node.history().to_vec();
    let mut node = Node::new(node.settings.clone(), node.info.clone(), history).opening("tomorrow".into());
    node.step(Input::Submitted(Message::user("on")));
    node.step(reply(&"word".repeat(2_000), vec![], StopReason::Stop));
    assert!(fold(&mut node).starts_with("tomorrow\n\nThe plan as it stands:\n\n<plan>\n[x] three"));
}
