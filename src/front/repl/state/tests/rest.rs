//! When the state wants to be looked at again: how often, that is, something moves by itself.

use std::time::Duration;

use super::super::*;
use crate::base::json::Object;
use crate::front::repl::key::Input;
use crate::front::repl::key::keymap::Enter;
use crate::front::repl::message::{Msg, News};
use crate::front::repl::update::update;
use crate::front::repl::view::status::Phase;
use crate::front::repl::view::theme::Glyphs;
use crate::kernel::event::Event;
use crate::kernel::tool::Risk;

/// A chat in which the agent has worked since a moment that no step of the mark falls on.
fn working() -> State {
    let mut state = State::new(Start {
        look: Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width: 80 },
        rows: 24,
        palette: Palette {
            name: "ansi".to_owned(),
            names: Vec::new(),
            depth: Depth::Ansi,
            background: None,
            colour: true,
        },
        keymap: Keymap::new(Enter::Submits, &Object::new()).unwrap(),
        editing: Editing::Emacs,
        banner: Banner { version: String::new(), model: String::new(), folder: String::new(), branch: None },
        switches: Switches { reasoning: true, focused: None, performance: None, planning: false, live: true },
    });
    assert_eq!(state.deadline(), None);
    let since = Duration::from_millis(1_110);
    state.now = since;
    state.task = Some(Task { kind: TaskKind::Agent, since, cancel: Cancel::new(), stopped: None });
    state.status.emit(StatusEvent::Phase(Phase::Waiting));
    state
}

fn call(state: &mut State) {
    let (id, name) = ("c1".to_owned(), "execute_bash".to_owned());
    let started = Event::ToolStarted { id, name, arguments: Object::new(), risk: Risk::Dangerous };
    let now = state.now;
    update(state, now, Msg::News(News::Event(started)));
}

/// How often it wants to be looked at in eight seconds.
fn looks(state: &mut State) -> usize {
    let end = state.now + Duration::from_secs(8);
    let mut looks = 0;
    while let Some(next) = state.deadline().filter(|next| *next < end) {
        assert!(next > state.now);
        update(state, next, Msg::Tick);
        looks += 1;
    }
    looks
}

#[test]
fn what_moves_by_itself_moves_four_times_a_second_at_most() {
    let mut state = working();
    let waiting = looks(&mut state);
    assert!((8..=9).contains(&waiting), "{waiting}: the first look shows the line, the others its seconds");
    call(&mut state);
    let running = looks(&mut state);
    assert!((31..=32).contains(&running), "{running}");
}

#[test]
fn nothing_moves_where_nobody_looks() {
    let mut state = working();
    call(&mut state);
    let now = state.now;
    update(&mut state, now, Msg::Input(Input::Focus(false)));
    assert_eq!(looks(&mut state), 0);
    update(&mut state, now, Msg::Input(Input::Focus(true)));
    assert!(looks(&mut state) > 0);
}
