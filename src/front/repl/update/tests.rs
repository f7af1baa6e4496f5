//! What a key, a paste or a step of the agent leads to, as tables.

mod compact;
mod found;
mod knowledge;
mod models;
mod pictures;
mod shelf;
mod tree;

use std::time::Duration;

use crate::front::repl::editor::draft::{Draft, Piece};
use crate::front::repl::key::{Code, Input, Key, Mods};
use crate::front::repl::message::{Cmd, Line, Msg, News, Reach};
use crate::front::repl::state::tests::chat::{Chat, words};
use crate::front::repl::state::{Overlay, Way};
use crate::front::repl::update::unsent;
use crate::kernel::effect::End;
use crate::kernel::event::Event;
use crate::product::checkpoint::plan::{ChatMove, Direction, Plan};
use crate::product::error::Error;
use crate::product::permission::{Authority, Grant, Scope};
use crate::product::session::picks::Pick;

fn none() -> Vec<String> {
    Vec::new()
}

/// The commands but for those that keep the draft.
fn acts(cmds: &[Cmd]) -> Vec<String> {
    words(cmds).into_iter().filter(|word| !word.starts_with("keep")).collect()
}

fn idle() -> Chat {
    Chat::new(80, 24)
}

fn working() -> Chat {
    let mut chat = idle();
    chat.line("work");
    chat.later(2000);
    chat
}

#[test]
fn enter_says_and_while_the_agent_works_it_steers_and_tab_queues() {
    let mut chat = idle();
    assert_eq!(acts(&chat.line("hello")), ["say hello"]);
    assert_eq!(acts(&chat.line("also this")), ["steer 1 also this"]);
    chat.typed("and then");
    assert_eq!(acts(&chat.key(Code::Tab)), none());
    let ways: Vec<_> = chat.state.waiting.iter().map(|waiting| (waiting.way, waiting.draft.text())).collect();
    assert_eq!(ways, [(Way::Steers, "also this".to_owned()), (Way::Follows, "and then".to_owned())]);
    assert_eq!(acts(&chat.event(Event::Steered { id: 1, text: "also this".to_owned() })), none());
    assert_eq!(chat.state.waiting.len(), 1);
    assert_eq!(acts(&chat.over(End::Answered)), ["say and then"]);
    assert_eq!(acts(&chat.over(End::Answered)), none());
    assert!(chat.state.task.is_none() && chat.state.waiting.is_empty());
    assert_eq!(acts(&chat.key(Code::Enter)), none(), "nothing is no message");
}

#[test]
fn before_the_session_is_open_a_message_waits_and_the_banner_comes_first() {
    let mut chat = Chat::unopened(80, 24);
    assert_eq!(acts(&chat.line("quick")), none());
    assert_eq!(acts(&chat.open(Vec::new(), Authority::Unasked)), ["say quick"]);
    let printed = crate::front::repl::view::testing::text(&chat.printed);
    assert!(printed.find("viola").unwrap() < printed.find("quick").unwrap(), "{printed}");
}

#[test]
fn what_steered_too_late_is_said_next_and_comes_back_when_it_was_stopped() {
    let mut chat = working();
    chat.line("one");
    chat.line("two");
    assert_eq!(acts(&chat.over(End::Answered)), ["take back 1", "take back 2", "say one||two"]);

    let mut chat = working();
    chat.line("one");
    chat.typed("queued");
    chat.key(Code::Tab);
    chat.typed("half");
    assert_eq!(acts(&chat.key(Code::Esc)), none());
    assert!(chat.state.task.as_ref().unwrap().cancel.is_cancelled());
    let stopped = chat.state.task.as_ref().unwrap().stopped;
    chat.later(100);
    chat.key(Code::Esc);
    assert_eq!(chat.state.task.as_ref().unwrap().stopped, stopped, "one press stops once");
    assert_eq!(acts(&chat.over(End::Cancelled)), ["take back 1"]);
    assert_eq!(chat.draft(), "one\n\nqueued\n\nhalf");
}

#[test]
fn up_takes_back_what_waits_before_it_looks_at_what_was_sent() {
    let mut chat = working();
    chat.line("steer");
    chat.typed("queue");
    chat.key(Code::Tab);
    assert_eq!(acts(&chat.key(Code::Up)), ["take back 1"]);
    assert_eq!(chat.draft(), "steer\n\nqueue");
    assert!(chat.state.waiting.is_empty());
}

#[test]
fn what_was_taken_back_too_late_is_shown_as_said_and_not_said_again() {
    for (typed, left) in [("", ""), (" and more", "steer and more")] {
        let mut chat = working();
        chat.line("steer");
        assert_eq!(acts(&chat.key(Code::Up)), ["take back 1"]);
        chat.typed(typed);
        assert_eq!(acts(&chat.event(Event::Steered { id: 1, text: "steer".to_owned() })), none());
        assert_eq!(chat.draft(), left);
        let printed = crate::front::repl::view::testing::text(&chat.printed);
        assert_eq!(printed.matches("steer").count(), 1, "{printed}");
        assert_eq!(acts(&chat.over(End::Answered)), none());
    }
}

#[test]
fn ctrl_c_clears_then_stops_then_leaves_and_only_twice_within_a_second() {
    let mut chat = working();
    chat.typed("draft");
    assert_eq!(acts(&chat.ctrl('c')), none());
    assert_eq!((chat.draft(), chat.state.task.as_ref().unwrap().stopped), (String::new(), None));
    assert_eq!(acts(&chat.ctrl('c')), none());
    assert!(chat.state.task.as_ref().unwrap().stopped.is_some());
    assert_eq!(acts(&chat.ctrl('c')), ["leave 130"]);

    let mut chat = idle();
    assert_eq!(acts(&chat.ctrl('c')), none());
    assert!(chat.shows().contains("ctrl-c again leaves"));
    chat.later(1000);
    assert!(!chat.shows().contains("ctrl-c again leaves"));
    assert_eq!(acts(&chat.ctrl('c')), none());
    chat.later(999);
    assert_eq!(acts(&chat.ctrl('c')), ["leave 0"]);

    let mut chat = idle();
    chat.ctrl('c');
    chat.typed("x");
    assert_eq!(acts(&chat.ctrl('c')), none(), "what was written meanwhile is cleared first");
    chat.key(Code::Up);
    assert_eq!(chat.draft(), "x", "and comes back");
}

#[test]
fn ctrl_d_leaves_an_empty_line_only() {
    let mut chat = idle();
    chat.typed("ab");
    chat.ctrl('a');
    assert_eq!(acts(&chat.ctrl('d')), none());
    assert_eq!(chat.draft(), "b");
    chat.ctrl('d');
    assert_eq!(words(&chat.ctrl('d')), ["leave 0"]);
}

#[test]
fn latin_letters_digits_and_arrows_answer_the_session_question() {
    let cases: [(&[Code], &str); 9] = [
        (&[Code::Char('y')], "Grant(All)"),
        (&[Code::Char('W')], "Grant(Write)"),
        (&[Code::Char('s')], "Grant(Safe)"),
        (&[Code::Char('n')], "Grant(None)"),
        (&[Code::Char('1')], "Grant(All)"),
        (&[Code::Char('4')], "Grant(None)"),
        (&[Code::Right, Code::Enter], "Grant(All)"),
        (&[Code::Right, Code::Right, Code::Enter], "Grant(Write)"),
        (&[Code::Left, Code::Enter], "Grant(None)"),
    ];
    for (keys, answer) in cases {
        let mut chat = working();
        chat.asks(Scope::Session, "make");
        let cmds: Vec<_> = keys.iter().flat_map(|key| chat.key(*key)).collect();
        assert_eq!(acts(&cmds), [format!("answer {answer}")], "{keys:?}");
        assert!(chat.state.asked.is_none());
    }
}

#[test]
fn each_call_is_answered_once_always_or_not() {
    let scope = || Scope::Call { always: Some("execute_bash(make *)".to_owned()) };
    for (key, answer) in [
        (Code::Char('y'), "Once"),
        (Code::Char('a'), "Always"),
        (Code::Char('n'), "Reject { reason: None }"),
        (Code::Esc, "Reject { reason: None }"),
        (Code::Char('2'), "Always"),
    ] {
        let mut chat = working();
        chat.asks(scope(), "make all");
        assert_eq!(acts(&chat.key(key)), [format!("answer {answer}")], "{key:?}");
        assert!(chat.state.task.as_ref().unwrap().stopped.is_none());
    }
    let mut chat = working();
    chat.asks(Scope::Call { always: None }, "make all");
    assert_eq!(acts(&chat.key(Code::Char('a'))), none(), "there is nothing to be always allowed");
    assert_eq!(chat.draft(), "a");
}

#[test]
fn nothing_but_a_key_meant_for_it_answers() {
    for foreign in ['у', 'н', 'υ', 'ט', 'ㅛ', 'ｙ', 'ý', 'Υ', '１', '0', '5', 'x'] {
        let mut chat = working();
        chat.asks(Scope::Session, "make");
        assert_eq!(acts(&chat.key(Code::Char(foreign))), none(), "{foreign}");
        assert_eq!(chat.draft(), foreign.to_string());
        assert!(chat.state.asked.is_some());
        assert_eq!(acts(&chat.key(Code::Char('y'))), none(), "a word goes on");
    }
    let mut chat = working();
    chat.asks(Scope::Session, "make");
    assert_eq!(acts(&chat.paste("y")), none());
    assert_eq!(acts(&chat.key(Code::Enter)), ["steer 1 y"], "and steers");

    for mods in [Mods::CTRL, Mods::ALT] {
        let mut chat = working();
        chat.asks(Scope::Session, "make");
        assert_eq!(acts(&chat.press(Key { code: Code::Char('y'), mods })), none());
        assert!(chat.state.asked.is_some());
    }

    let mut chat = working();
    chat.asks(Scope::Session, "make");
    assert_eq!(acts(&chat.key(Code::Enter)), none(), "Enter without a choice is no answer");
}

#[test]
fn keys_typed_ahead_do_not_answer_and_tab_goes_to_the_question() {
    let mut chat = working();
    chat.key(Code::Left);
    chat.later(499);
    chat.asks(Scope::Session, "make");
    assert_eq!(acts(&chat.key(Code::Char('y'))), none());
    assert_eq!(chat.draft(), "y");
    assert_eq!(acts(&chat.key(Code::Tab)), none());
    assert_eq!(acts(&chat.key(Code::Char('y'))), ["answer Grant(All)"]);
    assert_eq!(chat.draft(), "y", "the draft is still there");

    let mut chat = working();
    chat.key(Code::Left);
    chat.later(500);
    chat.asks(Scope::Session, "make");
    assert_eq!(acts(&chat.key(Code::Char('y'))), ["answer Grant(All)"]);

    let mut chat = working();
    chat.typed("half a thought");
    chat.later(5000);
    chat.asks(Scope::Session, "make");
    assert_eq!(acts(&chat.typed("y")), none());
}

#[test]
fn a_question_that_does_not_show_is_not_answered() {
    let mut chat = working();
    chat.asks(Scope::Session, "make");
    chat.msg(Msg::Resized { columns: 12, rows: 4 });
    assert_eq!(acts(&chat.key(Code::Char('y'))), none());
    chat.ctrl('u');
    chat.msg(Msg::Resized { columns: 80, rows: 24 });
    assert_eq!(acts(&chat.key(Code::Char('n'))), ["answer Grant(None)"]);
}

#[test]
fn tab_twice_says_something_instead() {
    let mut chat = working();
    chat.asks(Scope::Call { always: None }, "make");
    chat.key(Code::Tab);
    assert_eq!(acts(&chat.line("why not ninja")), ["answer Say(\"why not ninja\")"]);
    assert_eq!(chat.draft(), "");
}

#[test]
fn esc_at_the_session_question_stops_the_task() {
    let mut chat = working();
    chat.asks(Scope::Session, "make");
    assert_eq!(acts(&chat.key(Code::Esc)), none());
    assert!(chat.state.asked.is_none() && chat.state.task.as_ref().unwrap().cancel.is_cancelled());
}

#[test]
fn a_draft_is_kept_when_it_rests_and_forgotten_when_it_is_sent() {
    let mut chat = idle();
    assert_eq!(words(&chat.typed("ab")), none());
    assert_eq!(words(&chat.later(300)), none());
    assert_eq!(words(&chat.typed("c")), none());
    assert_eq!(words(&chat.later(399)), none());
    assert_eq!(chat.state.deadline(), Some(chat.now + Duration::from_millis(1)));
    assert_eq!(words(&chat.later(1)), ["keep \"abc\""]);
    assert_eq!(words(&chat.later(5000)), none());
    assert_eq!(chat.state.deadline(), None);
    assert_eq!(words(&chat.key(Code::Enter)), ["keep \"\"", "say abc"]);

    let mut chat = idle();
    chat.typed("unfinished");
    assert_eq!(
        words(&chat.msg(Msg::Signal(crate::product::agent::report::Interruption::HangUp))),
        ["keep \"unfinished\"", "leave 129"]
    );
}

#[test]
fn a_recovered_draft_that_is_sent_just_before_leaving_is_forgotten() {
    let mut chat = idle();
    let draft = Draft { pieces: vec![Piece::Typed("see ".to_owned()), Piece::Pasted("this".to_owned())] };
    assert_eq!(words(&chat.msg(Msg::Recalled { earlier: Vec::new(), draft })), none());
    assert_eq!(chat.draft(), "see this");
    assert_eq!(words(&chat.key(Code::Enter)), ["keep \"\"", "say see this"]);
    chat.over(End::Answered);
    assert_eq!(words(&chat.line("/exit")).last().unwrap(), "leave 0");
}

#[test]
fn a_recovered_draft_does_not_replace_what_was_typed_meanwhile() {
    let mut chat = idle();
    chat.typed("new");
    let cmds = chat.msg(Msg::Recalled { earlier: vec![Draft::typed("old")], draft: Draft::typed("lost") });
    assert!(matches!(&cmds[..], [Cmd::Remember(draft)] if draft.text() == "lost"), "{cmds:?}");
    assert_eq!(chat.draft(), "new");
}

#[test]
fn what_was_being_written_survives_that_an_earlier_draft_is_sent_or_cleared() {
    let mut chat = idle();
    chat.line("first");
    chat.over(End::Answered);
    chat.typed("half");
    chat.key(Code::Up);
    assert_eq!(acts(&chat.key(Code::Enter)), ["say first"]);
    assert_eq!(chat.draft(), "half");
    assert_eq!(words(&chat.later(1000)), ["keep \"half\""]);
    chat.key(Code::Up);
    assert_eq!(chat.draft(), "first");
    assert!(chat.ctrl('c').iter().any(|cmd| matches!(cmd, Cmd::Remember(draft) if draft.text() == "half")));
    assert_eq!(chat.draft(), "");
    chat.key(Code::Up);
    assert_eq!(chat.draft(), "half");
}

#[test]
fn what_waits_is_kept_until_it_is_heard() {
    let mut chat = working();
    chat.line("steer");
    chat.typed("queue");
    chat.key(Code::Tab);
    chat.typed("half");
    assert_eq!(words(&chat.later(1000)), ["keep \"steer||queue||half\""]);
    chat.event(Event::Steered { id: 1, text: "steer".to_owned() });
    assert_eq!(words(&chat.later(1000)), ["keep \"queue||half\""]);
    let signal = Msg::Signal(crate::product::agent::report::Interruption::HangUp);
    chat.typed(" more");
    assert_eq!(words(&chat.msg(signal)), ["keep \"queue||half more\"", "leave 129"]);

    let mut chat = working();
    assert_eq!(words(&chat.line("steer")).last().unwrap(), "steer 1 steer");
    assert_eq!(words(&chat.over(End::Answered)), ["keep \"\"", "take back 1", "say steer"]);
}

#[test]
fn what_was_pasted_comes_back_pasted_from_an_editor_and_from_earlier() {
    let mut chat = idle();
    chat.paste("!rm @secret");
    chat.msg(Msg::Edited(Ok("!rm @secret".to_owned())));
    let pasted = vec![Piece::Pasted("!rm @secret".to_owned())];
    assert_eq!(chat.state.editor.draft().pieces, pasted);
    chat.msg(Msg::Edited(Ok("!rm @secret?".to_owned())));
    assert_eq!(chat.state.editor.draft().pieces[0], pasted[0]);
    let cmds = chat.key(Code::Enter);
    assert_eq!(acts(&cmds), ["say !rm @secret?"]);
    let remembered =
        cmds.iter().find_map(|cmd| if let Cmd::Remember(draft) = cmd { Some(draft.clone()) } else { None });
    let mut chat = idle();
    chat.msg(Msg::Recalled { earlier: vec![remembered.unwrap()], draft: Draft::default() });
    chat.key(Code::Up);
    assert_eq!(acts(&chat.key(Code::Enter)), ["say !rm @secret?"]);
}

#[test]
fn a_completion_follows_what_comes_back_from_an_editor() {
    let mut chat = idle();
    chat.typed("/he");
    chat.msg(Msg::Edited(Ok("say hello".to_owned())));
    assert!(matches!(chat.state.overlay, Overlay::None));
    chat.key(Code::Tab);
    assert_eq!(chat.draft(), "say hello");
}

#[test]
fn a_message_for_another_session_waits_until_that_is_open() {
    let mut chat = idle();
    assert_eq!(acts(&chat.line("/new")), ["open New"]);
    assert_eq!(acts(&chat.line("for the new one")), none());
    assert_eq!(acts(&chat.line("/new")), ["open New"]);
    assert_eq!(acts(&chat.open(Vec::new(), Authority::Unasked)), none(), "one more is on its way");
    assert_eq!(acts(&chat.open(Vec::new(), Authority::Unasked)), ["say for the new one"]);
    assert_eq!(acts(&chat.line("steer")), ["steer 2 steer"]);

    for defect in [false, true] {
        let mut chat = idle();
        chat.line("/new");
        chat.line("for the new one");
        chat.typed("half");
        let error = Error::failed("no such session");
        let news = if defect { News::Ran } else { News::NotOpened(error) };
        assert_eq!(acts(&chat.msg(Msg::News(news))), none());
        assert_eq!(chat.draft(), "for the new one\n\nhalf");
        assert_eq!(acts(&chat.key(Code::Enter)), ["say for the new one||half"]);
    }
}

#[test]
fn a_list_of_sessions_takes_no_keys_from_somebody_who_writes() {
    let picks = || {
        vec![Pick {
            id: "id".to_owned(),
            title: "title".to_owned(),
            age: "now".to_owned(),
            messages: 1,
            ..Pick::default()
        }]
    };
    let mut chat = idle();
    assert_eq!(acts(&chat.line("/resume")), ["list sessions Here"]);
    chat.later(100);
    chat.msg(Msg::Sessions { picks: picks(), reach: Reach::Here });
    assert!(matches!(chat.state.overlay, Overlay::Shelf(..)));
    for paste in [false, true] {
        let mut chat = idle();
        chat.line("/resume");
        if paste {
            chat.paste("x")
        } else {
            chat.typed("x")
        };
        chat.msg(Msg::Sessions { picks: picks(), reach: Reach::Here });
        assert!(matches!(chat.state.overlay, Overlay::None));
        assert!(chat.all().contains("/resume asks for it again"), "{}", chat.all());
        assert_eq!(chat.draft(), "x");
    }
}

#[test]
fn what_comes_back_is_not_sent_with_the_rest_of_a_line() {
    let mut chat = working();
    let line = |text: &str| Msg::Line(Line { text: text.to_owned(), ahead: false });
    assert_eq!(acts(&chat.msg(line("steer"))), ["steer 1 steer"]);
    assert_eq!(acts(&chat.msg(line("half \\"))), none());
    assert_eq!(acts(&chat.over(End::MaxTurns)), ["take back 1"]);
    assert_eq!(unsent(&mut chat.state), Some(Draft::typed("steer")));
    assert_eq!(acts(&chat.msg(line("more\\"))), none());
    assert_eq!(acts(&chat.msg(line("rest"))), ["say half |more|rest"]);
    assert_eq!(unsent(&mut chat.state), None);
}

#[test]
fn nothing_is_looked_for_once_the_draft_is_sent() {
    let mut chat = idle();
    chat.typed("see @ma");
    assert!(chat.key(Code::Enter).iter().any(|cmd| matches!(cmd, Cmd::FindNothing)));
}

#[test]
fn lines_mean_what_they_look_like() {
    for (line, act) in [
        ("/usr/bin/x crashes", "say /usr/bin/x crashes"),
        ("//comment", "say //comment"),
        ("!cargo test", "shell cargo test true"),
        ("!!env", "shell env false"),
        ("/tools", "tell Tools"),
        ("/context", "tell Context"),
        ("/new", "open New"),
        ("/effort high", "effort High"),
        ("/permissions write", "grant Write"),
        ("/permissions ask", "ask each"),
        ("/exit", "leave 0"),
        ("/q", "leave 0"),
    ] {
        let mut chat = idle();
        chat.msg(Msg::Input(Input::Focus(true)));
        chat.typed(line);
        // What completes the line takes it as it stands.
        chat.key(Code::Esc);
        assert_eq!(acts(&chat.key(Code::Enter)), [act], "{line}");
        assert_eq!(chat.draft(), "", "{line}");
    }
    for line in ["/toolz", "/effort much"] {
        let mut chat = idle();
        chat.typed(line);
        chat.key(Code::Esc);
        assert_eq!(acts(&chat.key(Code::Enter)), none(), "{line}");
        chat.later(1);
        assert!(chat.draft() == line || line.starts_with("/effort"), "{line}: {}", chat.draft());
    }
    let mut chat = idle();
    chat.paste("/exit");
    assert_eq!(acts(&chat.key(Code::Enter)), ["say /exit"], "what is pasted is no command");
}

#[test]
fn a_command_of_ones_own_waits_while_the_agent_works() {
    let mut chat = working();
    assert_eq!(acts(&chat.line("!ls")), none());
    assert_eq!(acts(&chat.over(End::Answered)), ["shell ls true"]);
    assert_eq!(acts(&chat.line("and now")), none(), "a command runs: nothing steers it");
    assert_eq!(acts(&chat.msg(Msg::News(News::Ran))), ["say and now"]);
}

#[test]
fn up_and_down_go_through_what_was_sent_and_back_to_what_was_not() {
    let mut chat = idle();
    chat.msg(Msg::Recalled { earlier: vec![Draft::typed("first"), Draft::typed("second")], draft: Draft::default() });
    chat.typed("unsent");
    chat.later(1000);
    let steps = [(Code::Up, "second"), (Code::Up, "first"), (Code::Up, "first"), (Code::Down, "second")];
    for (key, text) in steps {
        chat.key(key);
        assert_eq!(chat.draft(), text);
        assert_eq!(words(&chat.later(1000)), none(), "what was being written is what is kept");
    }
    chat.key(Code::Down);
    assert_eq!(chat.draft(), "unsent");
}

#[test]
fn attention_is_called_for_only_when_nobody_looks() {
    for (focused, announces) in [(Some(true), false), (Some(false), true), (None, false)] {
        let mut chat = working();
        if let Some(focused) = focused {
            chat.msg(Msg::Input(Input::Focus(focused)));
        }
        let mut acted = acts(&chat.asks(Scope::Session, "make"));
        chat.key(Code::Char('y'));
        acted.extend(acts(&chat.over(End::Answered)));
        let announced = acted.iter().filter(|word| word.starts_with("announce")).count();
        assert_eq!(announced, if announces { 2 } else { 0 }, "{focused:?}: {acted:?}");
    }
}

#[test]
fn a_resumed_session_brings_its_grant() {
    let mut chat = Chat::unopened(80, 24);
    chat.open(Vec::new(), Authority::Session(Grant::Write));
    assert!(chat.shows().contains("write"), "{}", chat.shows());
}

#[test]
fn tab_completes_when_nothing_runs_and_esc_closes_what_it_opened() {
    let mut chat = idle();
    chat.typed("/he");
    assert!(matches!(chat.state.overlay, Overlay::Completion(_)));
    chat.key(Code::Tab);
    assert_eq!(chat.draft().trim_end(), "/help");
    chat.ctrl('u');
    chat.typed("see @ma");
    assert!(matches!(chat.state.overlay, Overlay::Completion(_)));
    chat.ctrl('u');
    assert!(matches!(chat.state.overlay, Overlay::None));
}
