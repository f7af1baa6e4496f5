//! What went wrong once in the hands of people, on a state without a terminal.

use serde_json::json;
use tokio::sync::oneshot;

use std::time::Duration;

use super::super::*;
use crate::base::cancel::Cancel;
use crate::front::repl::editor::Editing;
use crate::front::repl::key::keymap::{Enter, Keymap};
use crate::front::repl::key::{Code, Key};
use crate::front::repl::message::{News, Reply};
use crate::front::repl::state::frame::view;
use crate::front::repl::state::{Overlay, Palette, Start, Switches, Task, TaskKind};
use crate::front::repl::view::notice::Banner;
use crate::front::repl::view::testing::{look, object, text};
use crate::front::repl::view::theme::Depth;
use crate::kernel::port::PendingCall;
use crate::kernel::tool::{Limits, Risk, Subject};
use crate::model::message::{ToolCall, ToolInput};
use crate::product::permission::{Answer, Question, Scope};

fn state(width: usize, rows: usize) -> State {
    State::new(Start {
        look: look(width),
        rows,
        palette: Palette {
            name: "ansi".to_owned(),
            names: vec!["ansi".to_owned(), "dark".to_owned()],
            depth: Depth::Ansi,
            background: None,
            colour: true,
        },
        keymap: Keymap::new(Enter::Submits, &crate::base::json::Object::new()).unwrap(),
        editing: Editing::Emacs,
        banner: Banner::default(),
        switches: Switches { reasoning: true, focused: None, performance: None, planning: false, live: true },
    })
}

/// Presses keys, a second after whatever was before.
fn press(state: &mut State, keys: &[Key]) -> Vec<Cmd> {
    let now = state.now + Duration::from_secs(1);
    keys.iter().flat_map(|key| update(state, now, Msg::Input(Input::Key(*key)))).collect()
}

fn write(state: &mut State, text: &str) {
    for letter in text.chars() {
        press(state, &[Key::plain(Code::Char(letter))]);
    }
}

fn draft(state: &State) -> String {
    state.editor.draft().text()
}

fn printed(state: &mut State) -> String {
    let blocks: Vec<_> = state.take_finished().into_iter().flatten().collect();
    text(&blocks)
}

/// The agent wants to run a command, and somebody has to answer.
fn ask(state: &mut State) -> oneshot::Receiver<Answer> {
    let call = PendingCall {
        call: ToolCall {
            id: "1".to_owned(),
            name: "execute_bash".to_owned(),
            input: ToolInput::Object(object(json!({"command": "make"}))),
        },
        risk: Risk::Dangerous,
        subject: Subject::Command("make".to_owned()),
        limits: Limits { chars: 1_000, lines: 100 },
    };
    let (sender, receiver) = oneshot::channel();
    let question = Question { scope: Scope::Session, calls: vec![call], worker: None };
    state.task = Some(Task { kind: TaskKind::Agent, since: state.now, cancel: Cancel::new(), stopped: None });
    let now = state.now + Duration::from_secs(1);
    update(state, now, Msg::News(News::Asked { question, reply: Reply::Verdict(sender) }));
    state.painted();
    receiver
}

#[test]
fn a_question_that_cannot_be_seen_cannot_be_answered() {
    let mut state = state(80, 24);
    let _reply = ask(&mut state);
    update(&mut state, Duration::from_secs(2), Msg::Resized { columns: 18, rows: 24 });
    assert!(!text(&view(&state).rows).contains("make"));
    let cmds = press(&mut state, &[Key::plain(Code::Char('y'))]);
    assert!(!cmds.iter().any(|cmd| matches!(cmd, Cmd::Answer(..))), "{cmds:?}");
    update(&mut state, Duration::from_secs(4), Msg::Resized { columns: 80, rows: 24 });
    assert!(text(&view(&state).rows).contains("make"));
    let cmds = press(&mut state, &[Key::plain(Code::Backspace), Key::plain(Code::Char('y'))]);
    assert!(cmds.iter().any(|cmd| matches!(cmd, Cmd::Answer(..))), "{cmds:?}");
}

#[test]
fn the_smallest_screen_shows_what_would_run() {
    let mut state = state(20, 5);
    let _reply = ask(&mut state);
    let shown = text(&view(&state).rows);
    assert!(shown.contains("bash wants to run") && shown.contains("make") && shown.contains("[n]"), "{shown}");
}

#[test]
fn twice_means_twice_in_a_row() {
    let mut state = state(80, 24);
    write(&mut state, "hello");
    let cmds = press(&mut state, &[Key::ctrl('c'), Key::plain(Code::Up), Key::ctrl('c')]);
    assert!(!cmds.iter().any(|cmd| matches!(cmd, Cmd::Leave(_))), "{cmds:?}");
    let cmds = press(&mut state, &[Key::ctrl('c'), Key::ctrl('c')]);
    assert!(cmds.iter().any(|cmd| matches!(cmd, Cmd::Leave(0))), "{cmds:?}");
}

#[test]
fn a_key_that_is_no_part_of_a_search_takes_what_was_found() {
    let mut state = state(80, 24);
    let earlier = vec![Draft::typed("make test"), Draft::typed("other")];
    update(&mut state, Duration::ZERO, Msg::Recalled { earlier, draft: Draft::default() });
    press(&mut state, &[Key::ctrl('r')]);
    write(&mut state, "test");
    press(&mut state, &[Key::ctrl('a')]);
    assert_eq!(draft(&state), "make test");
    write(&mut state, "re");
    assert_eq!(draft(&state), "remake test");

    press(&mut state, &[Key::ctrl('r')]);
    write(&mut state, "zzz");
    assert!(text(&view(&state).rows).contains("no match: zzz"));
    press(&mut state, &[Key::ctrl('h'), Key::ctrl('h'), Key::ctrl('h')]);
    let cmds = press(&mut state, &[Key::ctrl('z')]);
    assert!(matches!(cmds[..], [Cmd::Suspend]) && matches!(state.overlay, Overlay::Search(_)), "{cmds:?}");
    press(&mut state, &[Key::ctrl('d')]);
    assert!(state.leaving.is_none() && draft(&state) == "remake test");
}

#[test]
fn a_list_of_no_sessions_is_a_sentence() {
    let mut state = state(80, 24);
    update(
        &mut state,
        Duration::ZERO,
        Msg::Sessions { picks: Vec::new(), reach: crate::front::repl::message::Reach::Here },
    );
    assert!(matches!(state.overlay, Overlay::None));
    assert!(printed(&mut state).contains("no earlier session"));
}

#[test]
fn the_whole_context_can_be_asked_for() {
    let mut state = state(80, 24);
    write(&mut state, "/context all");
    let cmds = press(&mut state, &[Key::plain(Code::Enter)]);
    let whole = |cmd: &Cmd| matches!(cmd, Cmd::Tell(crate::front::repl::message::Report::WholeContext));
    assert!(cmds.iter().any(whole), "{cmds:?} {}", printed(&mut state));
}

#[test]
fn what_may_run_can_be_chosen_from_a_list() {
    let mut state = state(80, 24);
    write(&mut state, "/permissions");
    press(&mut state, &[Key::plain(Code::Enter)]);
    assert!(matches!(state.overlay, Overlay::Picker(..)), "{}", printed(&mut state));
    let cmds = press(&mut state, &[Key::plain(Code::Enter)]);
    assert!(cmds.iter().any(|cmd| matches!(cmd, Cmd::AskEach)), "where nothing was chosen, it asks: {cmds:?}");
}

#[test]
fn all_keys_are_shown_in_columns() {
    for width in [120, 80, 44] {
        let mut state = state(width, 24);
        write(&mut state, "/keys");
        press(&mut state, &[Key::plain(Code::Enter)]);
        let shown = printed(&mut state);
        let widest = shown.lines().map(crate::base::text::width::width).max();
        assert!(widest <= Some(width), "{widest:?} on {width}: {shown}");
    }
}

#[test]
fn the_mode_of_vi_is_told_as_it_is() {
    let mut state = state(80, 24);
    state.editor = crate::front::repl::editor::Editor::new(Editing::Vi);
    update(&mut state, Duration::ZERO, Msg::Tick);
    assert!(text(&view(&state).rows).contains("insert"), "before the first key");
    write(&mut state, "hello");
    press(&mut state, &[Key::plain(Code::Esc)]);
    assert!(text(&view(&state).rows).contains("normal"));
    press(&mut state, &[Key::plain(Code::Enter)]);
    assert_eq!(state.editor.mode().map(crate::front::repl::editor::vi::Mode::word), Some("insert"));
    assert!(text(&view(&state).rows).contains("insert"), "after sending");
}

#[test]
fn a_key_that_was_pressed_before_the_question_was_painted_is_for_the_draft() {
    let mut state = state(80, 24);
    let _receiver = ask(&mut state);
    if let Some(asked) = &mut state.asked {
        asked.shown = false;
    }
    let cmds = press(&mut state, &[Key::plain(Code::Char('y'))]);
    assert!(!cmds.iter().any(|cmd| matches!(cmd, Cmd::Answer(..))), "{cmds:?}");
    assert_eq!(draft(&state), "y");
}
