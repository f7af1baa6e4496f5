//! Plan mode: it is switched, and when a task has ended with a plan, a person accepts it, changes it, or goes on planning.

use crate::front::repl::editor::draft::Draft;
use crate::front::repl::message::{Cmd, Order, Reply};
use crate::front::repl::state::{Proposal, State};
use crate::front::repl::view::ask::{Focus, Kind, Question};
use crate::front::repl::view::status::StatusEvent;
use crate::product::permission::{Answer, Grant};

use super::{ask, command, keys, send};

/// What the agent is told when its plan is accepted.
const ACCEPTED: &str = "The plan is accepted. Carry it out.";
/// The same where a person has changed it, before and after the plan.
const CHANGED: (&str, &str) = ("The plan is accepted with changes. This is the plan now:\n\n", "\n\nCarry it out.");

/// `/plan`: only plans from now on, or works again.
pub(super) fn switch(state: &mut State) -> Vec<Cmd> {
    if command::busy(state) {
        return Vec::new();
    }
    let planning = !state.switches.planning;
    command::say(
        state,
        if planning {
            "Plan mode: the agent looks and plans, and changes nothing; /plan leaves it."
        } else {
            "Plan mode is over."
        },
    );
    state.proposal = None;
    set(state, planning)
}

fn set(state: &mut State, planning: bool) -> Vec<Cmd> {
    state.switches.planning = planning;
    state.status.emit(StatusEvent::Plan(planning));
    vec![Cmd::Order(Order::Plan(planning))]
}

/// A task has ended with an answer: it is asked whether that is carried out.
pub(super) fn offer(state: &mut State) -> Vec<Cmd> {
    if !state.switches.planning || state.answer.trim().is_empty() || state.task.is_some() {
        return Vec::new();
    }
    state.proposal = None;
    put(state, false)
}

fn put(state: &mut State, edited: bool) -> Vec<Cmd> {
    let question = Question { kind: Kind::Plan { edited }, calls: Vec::new(), focus: Focus::Question(None), who: None };
    ask::put(state, question, Reply::Plan, None)
}

/// A letter answers the question about the plan.
pub(super) fn answered(state: &mut State, letter: char) -> Vec<Cmd> {
    match letter {
        'y' => carry_out(state, Cmd::Grant(Grant::All), Grant::All.as_str()),
        'w' => carry_out(state, Cmd::Grant(Grant::Write), Grant::Write.as_str()),
        'a' => carry_out(state, Cmd::AskEach, "asks each"),
        'e' => edit(state),
        _ => keep(state),
    }
}

/// Something else than a letter does: it is said, or nothing is.
pub(super) fn said(state: &mut State, answer: Answer) -> Vec<Cmd> {
    match answer {
        Answer::Say(text) => {
            ask::void(state);
            send::begin(state, &Draft::typed(text))
        }
        Answer::Grant(_) | Answer::Once | Answer::Always | Answer::Reject { .. } => keep(state),
    }
}

fn carry_out(state: &mut State, grant: Cmd, word: &'static str) -> Vec<Cmd> {
    ask::void(state);
    let text = match state.proposal.take() {
        Some(Proposal::Ready(plan)) => format!("{}{}{}", CHANGED.0, plan.text().trim(), CHANGED.1),
        Some(Proposal::Written) | None => ACCEPTED.to_owned(),
    };
    let mut cmds = set(state, false);
    state.status.emit(StatusEvent::Grant(word));
    cmds.push(grant);
    cmds.extend(send::begin(state, &Draft::typed(text)));
    cmds
}

/// The plan becomes the draft. What was being written there is the newest of the earlier drafts.
fn edit(state: &mut State) -> Vec<Cmd> {
    ask::void(state);
    let written = state.editor.take();
    let mut cmds = Vec::new();
    if !written.is_blank() {
        state.earlier.push(written.clone());
        cmds.push(Cmd::Remember(written));
    }
    let key = state.keymap.keys_of(crate::front::repl::key::action::Action::External).into_iter().next();
    let hint = key.map(|key| format!(", {key} opens your editor")).unwrap_or_default();
    command::say(state, &format!("The plan is the draft now: enter goes on{hint}."));
    state.editor.set(&Draft::typed(state.answer.trim().to_owned()));
    state.proposal = Some(Proposal::Written);
    cmds.extend(keys::written(state));
    cmds
}

/// The draft is the plan as it is to be carried out: it is asked about again.
pub(super) fn submitted(state: &mut State) -> Vec<Cmd> {
    let plan = state.editor.take();
    let mut cmds = keys::written(state);
    state.proposal = Some(Proposal::Ready(plan));
    cmds.extend(put(state, true));
    // The key that has sent it was meant for it.
    if let Some(asked) = &mut state.asked {
        asked.question.focus = Focus::Question(None);
        asked.ripe = state.now + ask::AHEAD;
    }
    cmds
}

/// The plan stays one. A changed one goes back into the draft, to be said.
fn keep(state: &mut State) -> Vec<Cmd> {
    ask::void(state);
    let Some(Proposal::Ready(plan)) = state.proposal.take() else { return Vec::new() };
    let mut draft = plan;
    draft.join(state.editor.draft());
    state.editor.set(&draft);
    keys::written(state)
}
