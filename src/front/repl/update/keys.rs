//! What a key does: whoever is open gets it first, then the keymap, then the draft.

use std::time::Duration;

use crate::front::repl::editor::draft::Draft;
use crate::front::repl::editor::vi::Outcome;
use crate::front::repl::key::Key;
use crate::front::repl::key::action::{Action, Edit};
use crate::front::repl::message::{Cmd, Reply, Wanted};
use crate::front::repl::state::paper::Kind;
use crate::front::repl::state::{Done, Overlay, Proposal, State, TaskKind};
use crate::front::repl::view::ask;
use crate::front::repl::view::ask::Focus;
use crate::front::repl::view::status::{Phase, StatusEvent};
use crate::front::repl::view::{Look, markdown, notice, tool};

use super::{ask as question, leave, overlay, picture, send, shelf, tree};

/// A key was pressed.
pub fn pressed(state: &mut State, key: Key) -> Vec<Cmd> {
    if let Some(cmds) = overlay::pressed(state, key) {
        return cmds;
    }
    if let Some(cmds) = question::pressed(state, key) {
        return cmds;
    }
    match state.editor.vi_key(key) {
        Outcome::Handled => return written(state),
        Outcome::Earlier => return up(state),
        Outcome::Later => return down(state),
        Outcome::Search => {
            overlay::search(state);
            return Vec::new();
        }
        Outcome::PassOn => {}
    }
    match state.keymap.action(key) {
        Some(action) => act(state, action),
        None => match key.typed() {
            Some(letter) => {
                state.editor.insert(letter.encode_utf8(&mut [0; 4]));
                written(state)
            }
            None => Vec::new(),
        },
    }
}

/// A text was pasted.
pub fn pasted(state: &mut State, text: &str) -> Vec<Cmd> {
    match &mut state.overlay {
        Overlay::Search(search) => {
            search.push(text, &state.earlier);
            return Vec::new();
        }
        Overlay::Picker(picker, _) => {
            picker.paste(text);
            return Vec::new();
        }
        Overlay::Tree(tree, _) => {
            tree.paste(text);
            return Vec::new();
        }
        Overlay::Shelf(shelf, _) => {
            shelf.paste(text);
            return shelf::wanted(state);
        }
        // A paste never answers.
        Overlay::Confirm(..) => return Vec::new(),
        Overlay::None | Overlay::Completion(_) => {}
    }
    if let Some(asked) = &mut state.asked
        && matches!(asked.question.focus, Focus::Question(_))
    {
        // A paste never answers. One that is to be sent does.
        let takes_words = matches!(asked.question.kind, ask::Kind::Words { .. });
        asked.question.focus = if takes_words { Focus::Instead } else { Focus::Draft };
    }
    picture::pasted(state, text)
}

/// The draft has changed, or the caret has moved.
pub(super) fn written(state: &mut State) -> Vec<Cmd> {
    state.times.draft = Some(state.now);
    state.times.interrupt = None;
    if state.proposal == Some(Proposal::Written) && state.editor.is_blank() {
        // Whoever has deleted it says something else.
        state.proposal = None;
    }
    overlay::look(state)
}

fn act(state: &mut State, action: Action) -> Vec<Cmd> {
    match action {
        Action::Edit(edit) => {
            state.editor.edit(edit);
            written(state)
        }
        Action::Submit => send::submit(state),
        Action::Queue => send::queue(state),
        Action::Up => up(state),
        Action::Down => down(state),
        Action::Stop => stop(state),
        Action::Interrupt => interrupt(state),
        Action::Leave if state.editor.is_empty() => leave(state, 0),
        Action::Leave => {
            state.editor.edit(Edit::DeleteRight);
            written(state)
        }
        Action::Suspend => vec![Cmd::Suspend],
        Action::Expand => expand(state),
        Action::Reasoning => reasoning(state),
        Action::Paste => picture::ask(state),
        Action::External => vec![Cmd::Edit(state.editor.draft().text())],
        Action::Search => {
            overlay::search(state);
            Vec::new()
        }
        Action::Redraw => vec![Cmd::Redraw],
        Action::Background if state.turn.has_command(state.now, Duration::ZERO) => vec![Cmd::Background],
        Action::Background => {
            state.editor.edit(Edit::Left);
            written(state)
        }
    }
}

/// Up: a line, then what waits, then earlier drafts.
fn up(state: &mut State) -> Vec<Cmd> {
    if state.editor.is_blank() && !state.waiting.is_empty() {
        // All of it: a second Up could not tell what waits from what was sent.
        return send::next(state, true);
    }
    state.walk.up(&mut state.editor, state.look.width, &state.earlier);
    changed_quietly(state)
}

fn down(state: &mut State) -> Vec<Cmd> {
    state.walk.down(&mut state.editor, state.look.width, &state.earlier);
    changed_quietly(state)
}

/// A recalled draft opens no completion.
fn changed_quietly(state: &mut State) -> Vec<Cmd> {
    state.times.draft = Some(state.now);
    overlay::close(state)
}

/// Esc: stops what runs. Where nothing does and nothing is written, a second one goes back in the conversation.
pub(super) fn stop(state: &mut State) -> Vec<Cmd> {
    let Some(task) = &mut state.task else {
        let has_talk = state.session.as_ref().is_some_and(|session| session.begun);
        if !has_talk || !state.editor.is_empty() || state.switches.performance.is_some() {
            return Vec::new();
        }
        if state.goes_back() {
            state.times.escape = None;
            return tree::ask(state, "", Wanted::Rollback, Wanted::Going);
        }
        state.times.escape = Some(state.now);
        return Vec::new();
    };
    if task.stopped.is_none() {
        task.stopped = Some(state.now);
        task.cancel.cancel();
        state.status.emit(StatusEvent::Phase(Phase::Stopping));
        question::void(state);
    }
    Vec::new()
}

/// Ctrl-C: clears the draft, then stops, then leaves.
fn interrupt(state: &mut State) -> Vec<Cmd> {
    let again = state.is_armed();
    let stoppable = state.task.as_ref().is_some_and(|task| task.stopped.is_none());
    if !state.editor.is_blank() && !again {
        // Up, and undo, bring it back.
        state.earlier.push(state.editor.draft());
        let kept = send::end_walk(state);
        state.editor.set(&Draft::default());
        let mut cmds = written(state);
        cmds.extend(kept);
        state.times.interrupt = Some(state.now);
        return cmds;
    }
    if stoppable {
        state.times.interrupt = Some(state.now);
        return stop(state);
    }
    if again {
        return leave(state, if state.task.is_some() { super::interrupted() } else { 0 });
    }
    state.times.interrupt = Some(state.now);
    Vec::new()
}

/// Ctrl-O: opens the chip at the caret, else the last result.
fn expand(state: &mut State) -> Vec<Cmd> {
    if state.editor.expand_chip_at_caret() {
        return written(state);
    }
    if let Some(asked) = state.asked.as_ref().filter(|asked| !matches!(asked.reply, Reply::Plan)) {
        let block = ask::expanded(&asked.question, &state.look);
        state.paper.print(Kind::Report, block);
        return Vec::new();
    }
    match state.turn.open_next() {
        Some(Done { call, finish }) => {
            let block = tool::expanded(call, finish, &state.look);
            state.paper.print(Kind::Report, block);
        }
        None => state.paper.print(Kind::Notice, notice::notice("There is no other result to show.", &state.look)),
    }
    Vec::new()
}

/// Shows reasoning from now on, or folds it; what was folded last is shown.
fn reasoning(state: &mut State) -> Vec<Cmd> {
    state.switches.reasoning = !state.switches.reasoning;
    let thoughts = std::mem::take(&mut state.turn.thoughts);
    if state.switches.reasoning && !thoughts.trim().is_empty() {
        let look = Look { theme: state.look.theme.faded(), ..state.look };
        let block = markdown::render(&thoughts, &look).concat();
        state.paper.print(Kind::Reasoning, block);
        return Vec::new();
    }
    let text = if state.switches.reasoning { "Reasoning is shown." } else { "Reasoning is folded." };
    state.paper.print(Kind::Notice, notice::notice(text, &state.look));
    Vec::new()
}

/// Whether the agent works.
pub(super) fn works(state: &State) -> bool {
    state.task.as_ref().is_some_and(|task| task.kind == TaskKind::Agent)
}
