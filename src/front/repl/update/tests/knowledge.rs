//! Workers, plans, questions of tools, plan mode, and the commands for what the product knows.

use serde_json::json;

use super::{acts, idle, none, working};
use crate::front::repl::key::Code;
use crate::front::repl::message::{Msg, Offer};
use crate::front::repl::state::tests::chat::Chat;
use crate::front::repl::view::testing::{object, text};
use crate::kernel::effect::End;
use crate::kernel::event::{Event, Notice, NoticeCode, Risk, Worker};
use crate::model::reply::StopReason;
use crate::product::permission::Scope;

fn calls(chat: &mut Chat, worker: &Worker, name: &str, arguments: serde_json::Value) {
    let (id, arguments) = ("x".to_owned(), object(arguments));
    chat.within(worker, Event::ToolStarted { id, name: name.to_owned(), arguments, risk: Risk::Safe });
}

#[test]
fn a_sub_agent_is_one_line_that_counts_what_it_does() {
    let mut chat = working();
    chat.starts("c1", "dispatch_agent", json!({"task": "find all callers of step()"}));
    let worker = Worker::Agent("c1".to_owned());
    let before = chat.shows();
    chat.asks_within(&worker);
    calls(&mut chat, &worker, "search_files", json!({"pattern": "step(", "path": "src"}));
    chat.within(&worker, Event::Text("never shown".to_owned()));
    chat.answered(&worker, StopReason::ToolUse, Some(0.004));
    calls(&mut chat, &worker, "read_file", json!({"path": "src/a.rs"}));
    let nested = Event::Within(Worker::Agent("c9".to_owned()), Box::new(Event::Text("nor this".to_owned())));
    chat.within(&worker, nested);
    chat.answered(&worker, StopReason::Stop, Some(0.006));
    chat.within(&worker, Event::Notice(Notice::new(NoticeCode::Retry, "overloaded")));
    chat.later(9000);
    insta::assert_snapshot!(chat.shows(), @"
    |  ∙ agent   find all callers of step()                   2 tools · 9 s · $0.01
    |      read src/a.rs
    |
    |  working 11 s · esc stops · enter steers · tab queues
    |› 
    |  asks · sonnet-4-5 · 0 % of 200k · $0.01                      ~/src/calc main
    ");
    chat.ends("c1", "dispatch_agent", "Three callers.");
    insta::assert_snapshot!(text(&chat.printed[chat.printed.len() - 2..]), @"
    ! agent find all callers of ste…: overloaded
    ∙ agent   find all callers of step()                   2 tools · 0 s · $0.01
    ");
    assert!(!text(&chat.printed).contains("never") && before.contains("0 % of 200k"));
    assert!((chat.state.spending.here.total().dollars - 0.01).abs() < 1e-9);
    assert_eq!(chat.state.status.money(), Some(0.01));
}

#[test]
fn steps_of_a_chain_stand_beside_each_other_and_the_answer_is_the_agents_own() {
    let mut chat = working();
    let (scout, second) = (Worker::Step("scout".to_owned()), Worker::Step("second look".to_owned()));
    chat.asks_within(&scout);
    chat.asks_within(&second);
    calls(&mut chat, &scout, "list_files", json!({"path": "src"}));
    chat.answered(&scout, StopReason::ToolUse, None);
    chat.later(12_000);
    insta::assert_snapshot!(chat.shows(), @"
    |
    |  ∙ step    scout                                                1 tool · 12 s
    |      list src
    |  ∙ step    second look                                                   12 s
    |
    |  working 14 s · esc stops · enter steers · tab queues
    |› 
    |  asks · sonnet-4-5 · 0 % of 200k                              ~/src/calc main
    ");
    chat.answered(&scout, StopReason::Stop, None);
    let kind = crate::model::error::ErrorKind::Overload;
    chat.within(&second, Event::Failed { kind, message: "overloaded".to_owned(), retryable: true });
    chat.says("All is well.");
    chat.over(End::Answered);
    insta::assert_snapshot!(text(&chat.printed[chat.printed.len() - 5..]), @"
    ∙ step    scout                                                1 tool · 12 s
    ✗ step    second look                                                 failed
        overloaded

    All is well.
    ");
}

#[test]
fn a_plan_stands_in_the_live_region_until_the_task_ends() {
    let mut chat = working();
    let mut plan = |id: &str, status: &str| {
        let steps = json!([{"text": "find the crash", "status": status}, {"text": "fix divide", "status": "pending"}]);
        chat.starts(id, "update_plan", json!({"steps": steps}));
        chat.ends(id, "update_plan", "ok");
        let shown = chat.shows();
        let line = shown.lines().find(|line| line.contains("plan")).unwrap_or_default().to_owned();
        (line, text(&chat.printed).matches("fix divide").count())
    };
    assert_eq!(plan("p1", "in_progress"), ("|  plan  ▸ find the crash   ☐ fix divide".to_owned(), 0));
    assert_eq!(plan("p2", "completed"), ("|  plan  ☑ find the crash   ☐ fix divide".to_owned(), 0));
    chat.over(End::Answered);
    let printed = text(&chat.printed);
    assert!(printed.ends_with("plan  ☑ find the crash   ☐ fix divide"), "{printed}");
    assert!(!chat.shows().contains("fix divide"));
    chat.line("go on");
    chat.later(1000);
    assert!(chat.shows().contains("☐ fix divide"), "what is left is still meant");
}

#[test]
fn a_question_of_a_tool_is_answered_by_number_or_in_words() {
    let options = ["sqlite", "postgres"];
    let cases: [(&[Code], &str); 5] = [
        (&[Code::Char('2')], "Say(\"postgres\")"),
        (&[Code::Down, Code::Enter], "Say(\"sqlite\")"),
        (&[Code::Char('n'), Code::Char('o'), Code::Enter], "Say(\"no\")"),
        (&[Code::Esc], "Reject { reason: None }"),
        (&[Code::Tab, Code::Char('2'), Code::Char('x'), Code::Enter], "Say(\"2x\")"),
    ];
    for (keys, answer) in cases {
        let mut chat = working();
        chat.inquires("c1", "which?", &options);
        let cmds: Vec<_> = keys.iter().flat_map(|key| chat.key(*key)).collect();
        assert_eq!(acts(&cmds), [format!("answer {answer}")], "{keys:?}");
        assert!(chat.state.asked.is_none() && chat.draft().is_empty() && chat.state.task.is_some());
    }
    let mut chat = working();
    chat.typed("dr");
    chat.inquires("c1", "which?", &options);
    assert_eq!(acts(&chat.typed("2")), none(), "typed ahead");
    assert_eq!(chat.draft(), "dr2");
    let mut chat = working();
    chat.inquires("c1", "what name?", &[]);
    assert_eq!(acts(&chat.line("calc")), ["answer Say(\"calc\")"]);
}

#[test]
fn questions_queue_up_and_a_grant_settles_all_that_wait_for_one() {
    let mut chat = working();
    chat.starts("c1", "dispatch_agent", json!({"task": "look around"}));
    chat.asks(Scope::Session, "make");
    chat.asks(Scope::Session, "make install");
    chat.inquires("q1", "which?", &["a", "b"]);
    chat.within(
        &Worker::Agent("c1".to_owned()),
        Event::Question { id: "q1".to_owned(), text: String::new(), options: Vec::new() },
    );
    assert_eq!(acts(&chat.key(Code::Char('y'))), ["answer Grant(All)", "answer Grant(All)"]);
    chat.state.painted();
    assert!(chat.shows().contains("a question of agent look around"), "{}", chat.shows());
    assert_eq!(acts(&chat.key(Code::Char('1'))), none(), "right behind the answer to another");
    assert_eq!(chat.draft(), "1");
    chat.key(Code::Backspace);
    chat.later(600);
    chat.key(Code::Tab);
    assert_eq!(acts(&chat.key(Code::Char('1'))), ["answer Say(\"a\")"]);
    chat.asks(Scope::Session, "a");
    chat.asks(Scope::Session, "b");
    chat.key(Code::Esc);
    assert!(chat.state.asked.is_none() && chat.state.questions.is_empty());
}

/// A chat whose task has ended with a plan.
fn planned() -> Chat {
    let mut chat = idle();
    assert_eq!(acts(&chat.line("/plan")), ["plan only true"]);
    assert!(chat.shows().contains("  plan · "), "{}", chat.shows());
    chat.line("what would you do?");
    chat.later(2000);
    chat.says("1. Fix it.");
    chat.over(End::Answered);
    chat.state.painted();
    assert!(chat.shows().contains("Carry out this plan?"), "{}", chat.shows());
    chat
}

#[test]
fn a_plan_is_accepted_with_a_grant_or_kept() {
    for (key, grant) in [('y', "grant All"), ('w', "grant Write"), ('a', "ask each")] {
        let mut chat = planned();
        let cmds = chat.key(Code::Char(key));
        assert_eq!(acts(&cmds), ["plan only false", grant, "say The plan is accepted. Carry it out."]);
        assert!(!chat.state.switches.planning && chat.state.task.is_some());
    }
    for key in [Code::Esc, Code::Char('n')] {
        let mut chat = planned();
        assert_eq!(acts(&chat.key(key)), none());
        assert!(chat.state.switches.planning && chat.state.asked.is_none());
        assert_eq!(acts(&chat.line("/plan")), ["plan only false"]);
    }
    let mut chat = planned();
    chat.key(Code::Tab);
    assert_eq!(acts(&chat.line("also a test")), ["say also a test"]);
    assert!(chat.state.switches.planning && chat.state.asked.is_none());
    let mut chat = planned();
    assert_eq!(acts(&chat.paste("y")), none());
    assert!(chat.state.asked.is_some(), "a paste never answers");
}

#[test]
fn a_plan_that_was_changed_is_asked_about_again() {
    let mut chat = planned();
    chat.key(Code::Char('e'));
    assert_eq!(chat.draft(), "1. Fix it.");
    assert_eq!(acts(&chat.line(" Then test.")), none());
    chat.state.painted();
    assert!(chat.shows().contains("Carry out the plan as it is now?"));
    chat.later(600);
    let said = "say The plan is accepted with changes. This is the plan now:||1. Fix it. Then test.||Carry it out.";
    assert_eq!(acts(&chat.key(Code::Char('w'))), ["plan only false", "grant Write", said]);

    let mut chat = planned();
    chat.key(Code::Char('e'));
    chat.key(Code::Enter);
    chat.key(Code::Esc);
    assert_eq!(chat.draft(), "1. Fix it.", "it is not lost");
    assert_eq!(acts(&chat.key(Code::Enter)), ["say 1. Fix it."]);
}

#[test]
fn commands_that_are_not_built_in_are_completed_and_invoked() {
    let mut chat = idle();
    assert!(chat.typed("/skill:c").is_empty() || chat.state.offers.is_empty());
    let offer = |name: &str| Offer { name: name.to_owned(), help: "writes".to_owned(), hint: "what".to_owned() };
    chat.msg(Msg::Offers(vec![offer("skill:commit"), offer("fix")]));
    assert!(chat.shows().contains("/skill:commit"), "{}", chat.shows());
    chat.key(Code::Tab);
    assert_eq!(chat.draft(), "/skill:commit ");
    assert_eq!(acts(&chat.line("all")), ["invoke skill:commit all"]);
    assert_eq!(acts(&chat.line("/fix it")), none(), "it waits for the end of the task");
    assert_eq!(acts(&chat.over(End::Answered)), ["invoke fix it"]);
    chat.over(End::Answered);
    assert_eq!(acts(&chat.line("/fixx it")), none());
    assert_eq!(chat.draft(), "/fixx it");
}

#[test]
fn what_is_remembered_run_and_listed() {
    for (line, act) in [
        ("/remember use tabs", "note Project use tabs"),
        ("/remember user: be brief", "note User be brief"),
        ("/remember --user be brief", "note User be brief"),
        ("/memory", "edit memory Project"),
        ("/memory user", "edit memory User"),
        ("/jobs", "list jobs"),
        ("/jobs stop j1", "stop job j1"),
        ("/agents", "list helpers 0123"),
        ("/skills", "tell Skills"),
        ("/chains", "tell Chains"),
        ("/rules", "tell Rules"),
        ("/init", "invoke init "),
        ("/chain review the last commit", "chain review the last commit"),
    ] {
        assert_eq!(acts(&idle().line(line)), [act], "{line}");
    }
    for line in ["/remember", "/jobs stop", "/chain"] {
        assert_eq!(acts(&idle().line(line)), none(), "{line}");
    }
}

#[test]
fn ctrl_b_is_for_a_command_that_runs_and_else_a_character_left() {
    let mut chat = working();
    chat.typed("ab");
    assert_eq!(acts(&chat.ctrl('b')), none());
    assert_eq!(chat.state.editor.caret(), 1);
    chat.starts("c1", "execute_bash", json!({"command": "make"}));
    assert!(!chat.shows().contains("ctrl-b"));
    assert_eq!(acts(&chat.ctrl('b')), ["background"]);
    assert_eq!(chat.state.editor.caret(), 1);
    chat.later(10_000);
    assert!(chat.shows().contains("ctrl-b to background"));
}
