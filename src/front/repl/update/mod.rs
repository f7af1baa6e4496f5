//! The chat's decisions: something happened, and this is to be done about it. Same state, same message, same answer.

mod accept;
mod ask;
mod command;
mod cost;
mod helpers;
mod keys;
mod line;
mod model;
mod news;
mod overlay;
mod picture;
mod send;
mod shelf;
#[cfg(test)]
mod tests;
mod tree;
mod undo;
mod within;

use std::time::Duration;

use crate::product::agent::report::Interruption;

use crate::product::error::Error;

use super::editor::draft::Draft;
use super::key::action::Action;
use super::key::{Input, Report};
use super::message::{Cmd, Msg};
use super::state::paper::Kind;
use super::state::{DRAFT_PAUSE, State, TWICE};
use super::view::notice;
use super::view::status::StatusEvent;
use super::view::theme::{Background, Theme};

pub use line::unsent;

/// Takes in what happened at `now`, and returns what is to be done about it, in order.
pub fn update(state: &mut State, now: Duration, msg: Msg) -> Vec<Cmd> {
    state.now = now;
    let mut before = ask::go_away(state);
    let mut cmds = match msg {
        Msg::Input(input) => input_came(state, input),
        Msg::Line(line) => line::came(state, &line),
        Msg::Interrupt => line::interrupted(state),
        Msg::Resized { columns, rows } => {
            state.look.width = usize::from(columns);
            state.rows = usize::from(rows);
            Vec::new()
        }
        Msg::Tick => Vec::new(),
        Msg::News(news) => news::came(state, news),
        Msg::Found(found) => overlay::found(state, found),
        Msg::End => leave(state, 0),
        Msg::Signal(interruption) => leave(state, interruption.exit_code()),
        Msg::Resumed => vec![Cmd::Redraw],
        Msg::Edited(text) => edited(state, text),
        Msg::Recalled { earlier, draft } => recalled(state, earlier, draft),
        Msg::Sessions { picks, reach } => shelf::came(state, &picks, reach),
        Msg::Preview { id, preview } => shelf::looked(state, &id, preview.as_deref()),
        Msg::Models(models) => model::listed(state, models),
        Msg::Offers(offers) => overlay::offers(state, offers),
        Msg::Helpers(helpers) => helpers::listed(state, helpers),
        Msg::Spent { session, today } => cost::shown(state, session, today),
        Msg::Theme { name, theme } => {
            let text = format!("Colours: {name}. To keep them: agent config set ui.theme {name}");
            state.paper.print(Kind::Notice, notice::notice(&text, &state.look));
            state.palette.name = name;
            state.look.theme = state.palette.theme(theme.map(|theme| *theme));
            Vec::new()
        }
        Msg::Seen { text, named } => picture::seen(state, &text, named),
        Msg::Clipboard(clip) => picture::clipped(state, clip),
        Msg::Told(text) => {
            let block = notice::notice(&text, &state.look);
            state.paper.print(Kind::Notice, block);
            Vec::new()
        }
    };
    if state.times.interrupt.is_some_and(|pressed| now >= pressed + TWICE) {
        state.times.interrupt = None;
    }
    if state.times.escape.is_some_and(|pressed| now >= pressed + TWICE) {
        state.times.escape = None;
    }
    if let Some(mode) = state.editor.mode() {
        state.status.emit(StatusEvent::Editing(Some(mode.word())));
    }
    // Nothing is carried out behind the order to leave.
    before.extend(keep_draft(state));
    cmds.splice(0..0, before);
    cmds
}

fn input_came(state: &mut State, input: Input) -> Vec<Cmd> {
    if matches!(input, Input::Key(_) | Input::Paste(_)) {
        state.times.listed = None;
        state.times.models = None;
        state.times.outlined = None;
        state.times.planned = None;
        state.times.going = None;
        tree::unseen(state);
    }
    match input {
        Input::Key(key) => {
            let cmds = keys::pressed(state, key);
            state.times.key = Some(state.now);
            if state.keymap.action(key) != Some(Action::Interrupt) {
                // Twice means twice in a row.
                state.times.interrupt = None;
            }
            if state.keymap.action(key) != Some(Action::Stop) {
                state.times.escape = None;
            }
            cmds
        }
        Input::Paste(text) => keys::pasted(state, &text),
        Input::Focus(focused) => {
            state.switches.focused = Some(focused);
            Vec::new()
        }
        Input::Report(Report::Background { red, green, blue }) => {
            state.palette.background = Some(Background::of(red, green, blue));
            // A theme of the user's own says itself what it is made for.
            if Theme::NAMES.contains(&state.palette.name.as_str()) {
                state.look.theme = state.palette.theme(None);
            }
            Vec::new()
        }
        Input::Report(Report::Attributes | Report::Keyboard(_) | Report::Cursor { .. } | Report::Version(_)) => {
            Vec::new()
        }
    }
}

/// The draft comes back from another editor.
fn edited(state: &mut State, text: Result<String, Error>) -> Vec<Cmd> {
    let mut cmds = vec![Cmd::Redraw];
    match text {
        Ok(text) => {
            let draft = state.editor.draft().rewritten(&text);
            state.editor.set(&draft);
            cmds.extend(keys::written(state));
        }
        Err(error) => news::fail(state, &error),
    }
    cmds
}

/// What earlier runs have kept.
fn recalled(state: &mut State, earlier: Vec<Draft>, draft: Draft) -> Vec<Cmd> {
    // What was sent meanwhile comes after it.
    let sent = std::mem::take(&mut state.earlier);
    state.earlier = earlier.into_iter().chain(sent).collect();
    let mut cmds: Vec<Cmd> = send::end_walk(state).into_iter().collect();
    if !draft.is_blank() && state.editor.is_empty() {
        state.editor.set(&draft);
        state.kept_draft = state.editor.draft();
    } else if !draft.is_blank() {
        // Somebody writes already, and what is written takes its place on the disk; Up brings it back.
        state.earlier.push(draft.clone());
        cmds.push(Cmd::Remember(draft));
    }
    cmds
}

/// Keeps what has been written once it has rested for a moment; what is sent or deleted is forgotten at once.
fn keep_draft(state: &mut State) -> Option<Cmd> {
    let changed = state.times.draft?;
    let rests = state.now >= changed + DRAFT_PAUSE || state.leaving.is_some();
    let gone = state.editor.is_empty() && state.walk.unsent().is_none();
    if !rests && !gone {
        return None;
    }
    state.times.draft = None;
    // While earlier drafts are looked at, the one that was being written is what must not be lost.
    let written = state.walk.unsent().cloned().unwrap_or_else(|| state.editor.draft());
    // What waits has been written too, and nobody has heard it.
    let mut draft = Draft::default();
    for waiting in &state.waiting {
        draft.join(waiting.draft.clone());
    }
    draft.join(written);
    if draft == state.kept_draft {
        return None;
    }
    state.kept_draft = draft.clone();
    Some(Cmd::KeepDraft(draft))
}

/// Stops what runs and leaves.
fn leave(state: &mut State, code: u8) -> Vec<Cmd> {
    if let Some(task) = &state.task {
        task.cancel.cancel();
    }
    state.times.draft.get_or_insert(state.now);
    state.leaving = Some(code);
    // What the agent still says, and what is asked, has no place any more.
    state.turn.end(state.now, &state.look, &mut state.paper);
    ask::void(state);
    if let Some(session) = state.session.as_ref().filter(|session| session.kept && session.begun) {
        let block = notice::remark(&format!("agent -c goes on from here (session {})", session.id), &state.look);
        state.paper.print(Kind::Report, block);
    }
    vec![Cmd::Leave(code)]
}

/// The exit code of who was interrupted by INT.
fn interrupted() -> u8 {
    Interruption::Interrupt.exit_code()
}
