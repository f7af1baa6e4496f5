//! From a draft to something done: what it means, and when it is delivered.

use crate::base::cancel::Cancel;
use crate::front::command::slash::{self, Meaning, Shell, classify};
use crate::front::repl::complete::word;
use crate::front::repl::editor::draft::Draft;
use crate::front::repl::message::{Cmd, Offer, Order, Reply};
use crate::front::repl::state::paper::Kind;
use crate::front::repl::state::{Proposal, Sending, State, Task, TaskKind, Waiting, Way};
use crate::front::repl::view::ask::Focus;
use crate::front::repl::view::notice;
use crate::front::repl::view::status::{Phase, StatusEvent};
use crate::product::permission::Answer;

use super::keys::{works, written};
use super::{accept, ask, command, overlay};

/// Enter: does what the draft says; while the agent works, steers it.
pub(super) fn submit(state: &mut State) -> Vec<Cmd> {
    if waits_for_looks(state, Sending::Submit) {
        return Vec::new();
    }
    if state.editor.break_at_backslash() {
        return written(state);
    }
    if state.editor.is_blank() {
        return Vec::new();
    }
    if state.proposal == Some(Proposal::Written) {
        return accept::submitted(state);
    }
    if state.asked.as_ref().is_some_and(|asked| asked.question.focus == Focus::Instead) {
        let draft = state.editor.draft();
        let text = draft.text();
        if draft.pictures().next().is_some() {
            command::say(state, "A picture does not go along with an answer; only its name does.");
        }
        let mut cmds = take(state);
        cmds.extend(ask::answer(state, Answer::Say(text)));
        return cmds;
    }
    let way = if works(state) { Way::Steers } else { Way::Follows };
    send(state, way)
}

/// Tab: after the running task; without one, completes.
pub(super) fn queue(state: &mut State) -> Vec<Cmd> {
    if state.task.is_none() || state.editor.is_blank() {
        return overlay::ask_for(state);
    }
    if waits_for_looks(state, Sending::Queue) {
        return Vec::new();
    }
    send(state, Way::Follows)
}

/// Whether a draft waits until it is known if what was pasted is a picture. Who asks twice waits no longer: a disk may not
/// answer.
fn waits_for_looks(state: &mut State, sending: Sending) -> bool {
    let waits = state.looks > 0 && state.after_looks.is_none();
    state.after_looks = Some(sending).filter(|_| waits);
    if !waits {
        state.looks = 0;
    }
    waits
}

fn send(state: &mut State, way: Way) -> Vec<Cmd> {
    let draft = state.editor.draft();
    let text = draft.text();
    match classify(&text, word::typed(&draft)) {
        Meaning::Command(command, argument) => {
            let mut cmds = take(state);
            cmds.push(Cmd::Remember(draft.clone()));
            cmds.extend(command::run(state, command, argument));
            cmds
        }
        // The draft stays: a letter mends it.
        Meaning::Unknown { name, .. } if offered(state, name).is_some() => say_or_wait(state, draft, way),
        Meaning::Unknown { name, suggestion } => complain(state, &slash::unknown(name, suggestion)),
        Meaning::Wrong(problem) => complain(state, &problem),
        Meaning::Shell(_) | Meaning::Say => say_or_wait(state, draft, way),
    }
}

fn say_or_wait(state: &mut State, draft: Draft, way: Way) -> Vec<Cmd> {
    let mut cmds = take(state);
    cmds.push(Cmd::Remember(draft.clone()));
    // Before the session is open nobody hears it, or the one before would, and the banner comes first.
    if state.task.is_some() || state.session.is_none() || state.opening > 0 {
        cmds.extend(wait(state, draft, way));
    } else {
        cmds.extend(begin(state, &draft));
    }
    cmds
}

/// The command of this name that is not built in.
fn offered<'a>(state: &'a State, name: &str) -> Option<&'a Offer> {
    let name = name.to_lowercase();
    state.offers.iter().find(|offer| offer.name.to_lowercase() == name)
}

/// What a draft calls that is not built in: the name, and what follows it.
fn invocation(state: &State, draft: &Draft) -> Option<(String, String)> {
    let text = draft.text();
    match classify(&text, word::typed(draft)) {
        Meaning::Unknown { name, .. } => {
            let (_, arguments) = slash::split(&text)?;
            Some((offered(state, name)?.name.clone(), arguments.to_owned()))
        }
        Meaning::Say | Meaning::Command(..) | Meaning::Wrong(_) | Meaning::Shell(_) => None,
    }
}

fn complain(state: &mut State, problem: &str) -> Vec<Cmd> {
    let block = notice::failure(problem, &[], &state.look);
    state.paper.print(Kind::Notice, block);
    Vec::new()
}

/// The line for the shell that a draft is.
fn shell_line(draft: &Draft) -> Option<(String, bool)> {
    match classify(&draft.text(), word::typed(draft)) {
        Meaning::Shell(Shell { line, share }) => Some((line.to_owned(), share)),
        Meaning::Say | Meaning::Command(..) | Meaning::Wrong(_) | Meaning::Unknown { .. } => None,
    }
}

/// The draft is sent and becomes an earlier one. When it had been brought back, what was being written before returns.
pub(super) fn take(state: &mut State) -> Vec<Cmd> {
    let unsent = state.walk.unsent().filter(|draft| !draft.is_blank()).cloned();
    let draft = state.editor.take();
    state.walk.end();
    if let Some(unsent) = unsent {
        state.editor.set(&unsent);
    }
    if state.earlier.last() != Some(&draft) {
        state.earlier.push(draft);
    }
    state.times.draft = Some(state.now);
    state.times.interrupt = None;
    overlay::close(state)
}

/// What is shown is a draft of its own now. What was being written before is the newest of the earlier drafts.
pub(super) fn end_walk(state: &mut State) -> Option<Cmd> {
    let unsent = state.walk.unsent().filter(|draft| !draft.is_blank()).cloned();
    state.walk.end();
    state.earlier.extend(unsent.clone());
    unsent.map(Cmd::Remember)
}

/// Puts a draft where it waits for the running task.
fn wait(state: &mut State, draft: Draft, way: Way) -> Option<Cmd> {
    state.letters += 1;
    let id = state.letters;
    let is_apart = shell_line(&draft).is_some() || invocation(state, &draft).is_some();
    let way = if is_apart || !works(state) { Way::Follows } else { way };
    state.waiting.push(Waiting { id, draft: draft.clone(), way });
    show_waiting(state);
    (way == Way::Steers).then_some(Cmd::Steer { id, draft })
}

/// Does what a draft says, now that nothing runs.
pub(super) fn begin(state: &mut State, draft: &Draft) -> Vec<Cmd> {
    let cancel = Cancel::new();
    let task = |kind| Task { kind, since: state.now, cancel: cancel.clone(), stopped: None };
    if let Some((line, share)) = shell_line(draft) {
        state.task = Some(task(TaskKind::Shell));
        state.status.emit(StatusEvent::Phase(Phase::Running));
        return vec![Cmd::Order(Order::Shell { line, share, cancel })];
    }
    state.task = Some(task(TaskKind::Agent));
    if state.asked.as_ref().is_some_and(|asked| matches!(asked.reply, Reply::Plan)) {
        // Something else is said than whether it is carried out.
        ask::void(state);
    }
    let order = match invocation(state, draft) {
        Some((name, arguments)) => Order::Invoke { name, arguments, cancel },
        None => Order::Say { draft: draft.clone(), cancel },
    };
    start(state, draft, order)
}

/// Begins a task with a cancel of its own.
pub(super) fn begin_with(state: &mut State, said: &Draft, order: impl FnOnce(Cancel) -> Order) -> Vec<Cmd> {
    if command::busy(state) || state.session.is_none() || state.opening > 0 {
        return Vec::new();
    }
    let cancel = Cancel::new();
    state.task = Some(Task { kind: TaskKind::Agent, since: state.now, cancel: cancel.clone(), stopped: None });
    start(state, said, order(cancel))
}

fn start(state: &mut State, said: &Draft, order: Order) -> Vec<Cmd> {
    state.status.emit(StatusEvent::Phase(Phase::Waiting));
    say(state, said);
    vec![Cmd::Order(order)]
}

/// Has the beginning of the conversation summarised.
pub(super) fn compact(state: &mut State, wishes: &str) -> Vec<Cmd> {
    if state.task.is_some() || state.session.is_none() || state.opening > 0 {
        command::say(state, "Something still runs; esc stops it.");
        return Vec::new();
    }
    let cancel = Cancel::new();
    state.task = Some(Task { kind: TaskKind::Agent, since: state.now, cancel: cancel.clone(), stopped: None });
    state.status.emit(StatusEvent::Phase(Phase::Waiting));
    let wishes = Some(wishes.to_owned()).filter(|wishes| !wishes.is_empty());
    vec![Cmd::Order(Order::Compact { wishes, cancel })]
}

/// What the person says, on the screen.
pub(super) fn say(state: &mut State, draft: &Draft) {
    if let Some(session) = &mut state.session {
        session.begun = true;
    }
    let block = notice::user(draft, &state.look);
    state.paper.print(Kind::Person, block);
}

/// The task is over: what waits comes next, or is given back to a person who stopped it.
pub(super) fn next(state: &mut State, stopped: bool) -> Vec<Cmd> {
    if state.waiting.is_empty() {
        return Vec::new();
    }
    let mut cmds = Vec::new();
    // What was to steer and was not heard.
    let mut unheard = Draft::default();
    for waiting in state.waiting.extract_if(.., |waiting| waiting.way == Way::Steers) {
        cmds.push(Cmd::TakeBack(waiting.id));
        unheard.join(waiting.draft);
    }
    if stopped {
        for waiting in state.waiting.drain(..) {
            unheard.join(waiting.draft);
        }
        if !unheard.is_blank() {
            // Given back; what is being written stands behind it.
            unheard.join(state.editor.draft());
            state.editor.set(&unheard);
            cmds.extend(written(state));
        }
    } else if !unheard.is_blank() {
        cmds.extend(begin(state, &unheard));
    } else if !state.waiting.is_empty() {
        let waiting = state.waiting.remove(0);
        cmds.extend(begin(state, &waiting.draft));
    }
    show_waiting(state);
    cmds
}

/// What waits is other than it was: the status line counts it, and it is kept anew.
pub(super) fn show_waiting(state: &mut State) {
    state.times.draft = Some(state.now);
    state.status.emit(StatusEvent::Queue(state.waiting.len()));
}
