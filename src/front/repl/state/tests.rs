//! Frames at three widths and on screens that are too small, and what holds of each whatever happens.

pub mod chat;
mod rest;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::frame::view;
use crate::front::repl::key::{Code, Input, Key, Mods};
use crate::front::repl::message::{Msg, News, Reach, Reply};
use crate::front::repl::view::testing::{assert_committed, assert_live, line_text};
use crate::kernel::effect::End;
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::model::error::ErrorKind;
use crate::model::message::Message;
use crate::product::error::Error;
use crate::product::permission::{Answer, Authority, Question, Scope};
use crate::product::session::picks::Pick;
use chat::{Chat, opened, pending};

/// Each moment at three widths, in one picture.
fn moments(name: &str, play: impl Fn(&mut Chat)) {
    for width in [40, 80, 120] {
        let mut chat = Chat::new(width, 24);
        play(&mut chat);
        insta::assert_snapshot!(format!("{name}_{width}"), chat.all());
    }
}

#[test]
fn it_begins_with_a_prompt_and_then_a_banner() {
    for width in [40, 80, 120] {
        let mut chat = Chat::unopened(width, 24);
        let before = chat.shows();
        chat.open(Vec::new(), Authority::Unasked);
        insta::assert_snapshot!(format!("begins_{width}"), format!("{before}\n\n{}", chat.all()));
    }
}

#[test]
fn several_lines_are_typed() {
    moments("typing", |chat| {
        chat.typed("the first line of something that goes on for so long that it has to be broken somewhere");
        chat.ctrl('j');
        chat.typed("  and 日本語");
        chat.paste(&"pasted\n".repeat(20));
    });
}

#[test]
fn commands_are_completed() {
    moments("completion", |chat| {
        chat.typed("/co");
    });
}

#[test]
fn calls_run_side_by_side() {
    moments("calls", |chat| {
        chat.line("look around");
        chat.says("I look.");
        chat.starts("c1", "execute_bash", json!({"command": "cargo test --workspace"}));
        chat.starts("c2", "read_file", json!({"path": "src/kernel/node.rs"}));
        chat.later(5000);
        chat.event(Event::ToolProgress { id: "c1".to_owned(), text: "test kernel::node::cancel ... ok\n".to_owned() });
        chat.ends("c2", "read_file", "1\tone\n2\ttwo\n");
        chat.later(7000);
    });
}

#[test]
fn an_answer_streams() {
    moments("streaming", |chat| {
        chat.line("explain");
        chat.event(Event::Reasoning("It is a question of **style**.".to_owned()));
        chat.says("# Findings\n\nDivision by zero now fails with a message instead of a crash:\n`divide` checks ");
        chat.later(14_000);
        chat.says("its second argument and\n\n- returns 1\n- says");
    });
}

#[test]
fn a_question_is_open() {
    let command = "rm -rf build && cmake -B build \u{202e}\x1b[31m";
    moments("question", |chat| {
        chat.line("build it");
        chat.later(2000);
        chat.asks(Scope::Session, command);
    });
    moments("question_each_ahead", |chat| {
        chat.line("build it");
        chat.typed("and te");
        chat.asks(Scope::Call { always: Some("execute_bash(cmake *)".to_owned()) }, "cmake --build build");
    });
    moments("question_instead", |chat| {
        chat.line("build it");
        chat.later(2000);
        chat.asks(Scope::Call { always: None }, "cmake --build build");
        chat.key(Code::Tab);
        chat.typed("use make");
    });
}

#[test]
fn what_waits_is_shown() {
    moments("waiting", |chat| {
        chat.line("work");
        chat.later(14_000);
        chat.line("also run clippy");
        chat.typed("then commit everything with a good message\nand push");
        chat.key(Code::Tab);
        chat.typed("half");
    });
}

#[test]
fn something_lies_over_the_prompt() {
    let picks = || {
        let pick = |number: u64| Pick {
            id: format!("id{number}"),
            title: format!("question number {number}"),
            age: format!("{number} h ago"),
            messages: number * 3,
            ..Pick::default()
        };
        (1..=3).map(pick).collect()
    };
    moments("picker", |chat| {
        chat.line("/resume");
        chat.msg(Msg::Sessions { picks: picks(), reach: Reach::Here });
    });
    moments("search", |chat| {
        chat.msg(Msg::Recalled {
            earlier: vec![super::Draft::typed("fix the test"), super::Draft::typed("explain")],
            draft: super::Draft::default(),
        });
        chat.ctrl('r');
        chat.typed("test");
    });
}

#[test]
fn failures_and_notices_are_told() {
    moments("failures", |chat| {
        chat.line("go");
        chat.event(Event::Notice(Notice::new(NoticeCode::Retry, "overloaded, trying again in 4 s (2 of 4)")));
        chat.event(Event::Failed {
            kind: ErrorKind::Auth,
            message: "authentication failed: the key was refused".to_owned(),
            retryable: false,
        });
        chat.over(End::Cancelled);
        chat.msg(Msg::News(News::Refused(Error::failed("no session is open"))));
    });
}

#[test]
fn an_earlier_conversation_stands_above_the_prompt() {
    for width in [40, 80, 120] {
        let mut chat = Chat::unopened(width, 24);
        let said = Message::user("the division test fails");
        chat.open(vec![Arc::new(said)], Authority::Unasked);
        insta::assert_snapshot!(format!("resumed_{width}"), chat.all());
    }
}

#[test]
fn a_second_ctrl_c_is_offered() {
    let mut chat = Chat::new(40, 24);
    chat.ctrl('c');
    insta::assert_snapshot!(chat.shows());
}

#[test]
fn small_screens() {
    for (width, rows) in [(40, 10), (20, 5), (19, 5), (3, 10), (1, 1)] {
        let mut chat = Chat::new(width, rows);
        chat.line("work");
        chat.starts("c1", "execute_bash", json!({"command": "cargo test --workspace"}));
        chat.later(3000);
        chat.typed("a draft");
        insta::assert_snapshot!(format!("small_{width}x{rows}"), chat.shows());
    }
}

/// What may happen, chosen by numbers.
#[derive(Clone, Debug)]
enum Step {
    Key(Key),
    Paste(String),
    Resize(u16, u16),
    Wait(u64),
    Open,
    Says(String),
    Thinks(String),
    Starts(u8),
    Progress(u8, String),
    Ends(u8),
    Steered(u64),
    Notice(String, bool),
    Fails,
    TurnOver,
    Over(bool),
    Ran,
    Asks(bool, String),
    Recalled(String),
    Sessions,
    Focus(bool),
    Edited(String),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z `*#|\\n-]{0,40}",
        "\\PC{0,30}",
        ".{0,20}",
        Just("\x1b[2J\x1b]0;x\x07\u{9b}31m\u{202e}a\tb\rc".to_owned()),
        Just("👩‍👩‍👧 日本語 e\u{301}\u{200d}".to_owned()),
        Just("long ".repeat(60)),
        Just("line\n".repeat(30)),
    ]
}

fn key() -> impl Strategy<Value = Key> {
    let code = prop_oneof![
        3 => prop::char::range(' ', '~').prop_map(Code::Char),
        1 => any::<char>().prop_filter("no control", |letter| !letter.is_control()).prop_map(Code::Char),
        1 => prop::sample::select(vec!['/', '@', '!', '\\', 'y', '日']).prop_map(Code::Char),
        4 => prop::sample::select(vec![
            Code::Enter, Code::Enter, Code::Tab, Code::Backspace, Code::Delete, Code::Esc, Code::Up, Code::Down,
            Code::Left, Code::Right, Code::Home, Code::End, Code::PageUp, Code::PageDown, Code::Function(1),
        ]),
        2 => prop::sample::select("acdefhjkloprtuwyzg".chars().collect::<Vec<_>>()).prop_map(Code::Char),
    ];
    (code, 0_u8..8).prop_map(|(code, mods)| {
        let mods = match (mods, code) {
            (0, _) => Mods::CTRL,
            (1, _) => Mods::ALT,
            (2, Code::Char(_)) => Mods::NONE,
            (2, _) => Mods::SHIFT,
            (_, Code::Char(letter)) if mods > 5 && letter.is_ascii_lowercase() => Mods::CTRL,
            _ => Mods::NONE,
        };
        Key { code, mods }
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => key().prop_map(Step::Key),
        2 => text().prop_map(Step::Paste),
        2 => (1_u16..130, 1_u16..40).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        2 => (0_u64..2000).prop_map(Step::Wait),
        1 => Just(Step::Open),
        6 => text().prop_map(Step::Says),
        2 => text().prop_map(Step::Thinks),
        2 => (0_u8..4).prop_map(Step::Starts),
        2 => (0_u8..4, text()).prop_map(|(id, text)| Step::Progress(id, text)),
        2 => (0_u8..4).prop_map(Step::Ends),
        1 => (0_u64..6).prop_map(Step::Steered),
        1 => (text(), any::<bool>()).prop_map(|(text, restart)| Step::Notice(text, restart)),
        1 => Just(Step::Fails),
        1 => Just(Step::TurnOver),
        1 => any::<bool>().prop_map(Step::Over),
        1 => Just(Step::Ran),
        2 => (any::<bool>(), text()).prop_map(|(each, text)| Step::Asks(each, text)),
        1 => text().prop_map(Step::Recalled),
        1 => Just(Step::Sessions),
        1 => any::<bool>().prop_map(Step::Focus),
        1 => text().prop_map(Step::Edited),
    ]
}

fn play(chat: &mut Chat, step: Step) {
    match step {
        Step::Key(key) => drop(chat.press(key)),
        Step::Paste(text) => drop(chat.paste(&text)),
        Step::Resize(columns, rows) => drop(chat.msg(Msg::Resized { columns, rows })),
        Step::Wait(time) => drop(chat.later(time)),
        Step::Open => drop(chat.msg(Msg::News(opened(Vec::new(), Authority::Unasked)))),
        Step::Says(text) => drop(chat.says(&text)),
        Step::Thinks(text) => drop(chat.event(Event::Reasoning(text))),
        Step::Starts(id) => drop(chat.starts(&id.to_string(), "execute_bash", json!({"command": "make\nall"}))),
        Step::Progress(id, text) => drop(chat.event(Event::ToolProgress { id: id.to_string(), text })),
        Step::Ends(id) => drop(chat.ends(&id.to_string(), "execute_bash", "out\n")),
        Step::Steered(id) => drop(chat.event(Event::Steered { id, text: "x".to_owned() })),
        Step::Notice(text, restart) => {
            drop(chat.event(Event::Notice(Notice { code: NoticeCode::Retry, text, restart })));
        }
        Step::Fails => {
            let kind = ErrorKind::Auth;
            drop(chat.event(Event::Failed { kind, message: "failed".to_owned(), retryable: false }));
        }
        Step::TurnOver => drop(chat.event(Event::TurnFinished {
            turn: 0,
            stop: crate::model::reply::StopReason::Stop,
            usage: crate::model::usage::Usage::default(),
            cost: Some(0.01),
        })),
        Step::Over(stopped) => drop(chat.over(if stopped { End::Cancelled } else { End::Answered })),
        Step::Ran => drop(chat.msg(Msg::News(News::Ran))),
        Step::Asks(each, command) => {
            let scope =
                if each { Scope::Call { always: Some("execute_bash(x *)".to_owned()) } } else { Scope::Session };
            let (reply, _) = tokio::sync::oneshot::channel::<Answer>();
            let question = Question { scope, calls: vec![pending(&command)], worker: None };
            drop(chat.msg(Msg::News(News::Asked { question, reply: Reply::Verdict(reply) })));
        }
        Step::Recalled(text) => {
            drop(chat.msg(Msg::Recalled {
                earlier: vec![super::Draft::typed(text.clone())],
                draft: super::Draft::typed(text),
            }));
        }
        Step::Sessions => {
            let pick = Pick {
                id: "id".to_owned(),
                title: "title".to_owned(),
                age: "now".to_owned(),
                messages: 1,
                ..Pick::default()
            };
            drop(chat.msg(Msg::Sessions { picks: vec![pick], reach: Reach::Here }));
        }
        Step::Focus(focused) => drop(chat.msg(Msg::Input(Input::Focus(focused)))),
        Step::Edited(text) => drop(chat.msg(Msg::Edited(Ok(text)))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_frame_fits_and_nothing_drives_the_terminal(
        opens in any::<bool>(),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut chat = if opens { Chat::new(80, 24) } else { Chat::unopened(80, 24) };
        for step in steps {
            let shown = format!("{step:?}");
            let before = chat.printed.len();
            play(&mut chat, step);
            assert_committed(&chat.printed[before..]);
            let frame = view(&chat.state);
            let (width, rows) = (chat.state.look.width, chat.state.rows);
            assert!(frame.rows.len() <= rows, "{} rows on {rows} after {shown}", frame.rows.len());
            assert_live(&frame.rows, width);
            if let Some(caret) = frame.caret {
                assert!(usize::from(caret.row) < frame.rows.len(), "{caret:?} of {} rows after {shown}", frame.rows.len());
                assert!(usize::from(caret.column) < width, "{caret:?} on {width} columns after {shown}");
            } else {
                assert!(chat.state.leaving.is_some(), "no caret after {shown}");
            }
            if let Some(deadline) = chat.state.deadline() {
                let overdue = chat.now.saturating_sub(deadline);
                assert!(overdue < Duration::from_secs(2), "a deadline that never comes after {shown}");
            }
        }
    }

    #[test]
    fn every_line_is_finished_once_and_in_order(
        steps in prop::collection::vec(prop_oneof![
            3 => key().prop_filter("stays", |key| key.mods == Mods::NONE && !matches!(key.code, Code::Enter | Code::Tab)).prop_map(Step::Key),
            2 => (1_u16..130, 1_u16..40).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
            2 => (0_u64..2000).prop_map(Step::Wait),
        ], 1..40),
        cuts in prop::collection::vec(1_usize..12, 40),
    ) {
        let mut chat = Chat::new(80, 24);
        chat.line("go");
        let text: String = (0..20).map(|number| format!("<{number}>\n\n")).collect();
        let mut rest = text.as_str();
        let mut cuts = cuts.into_iter().cycle();
        let mut steps = steps.into_iter();
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
            chat.says(piece);
            rest = more;
            if let Some(step) = steps.next() {
                play(&mut chat, step);
            }
        }
        chat.over(End::Answered);
        let lines: Vec<String> = chat.printed.iter().map(|line| line_text(line).trim().to_owned()).collect();
        let said: Vec<&String> = lines.iter().filter(|line| line.starts_with('<')).collect();
        let expected: Vec<String> = (0..20).map(|number| format!("<{number}>")).collect();
        prop_assert_eq!(said, expected.iter().collect::<Vec<_>>());
        let mut counts = BTreeMap::new();
        for line in lines.iter().filter(|line| !line.is_empty()) {
            *counts.entry(line).or_insert(0) += 1;
        }
        prop_assert!(counts.values().all(|count| *count == 1), "{:?}", counts);
    }
}
