//! What the agent's thread tells: steps of the task, questions, the end.

use std::sync::Arc;
use std::time::Duration;

use crate::base::text::numbers;
use crate::front::repl::editor::draft::Draft;
use crate::front::repl::message::{Arrival, Cmd, Finished, News, Opened};
use crate::front::repl::state::checklist::Checklist;
use crate::front::repl::state::paper::Kind;
use crate::front::repl::state::{Open, Overlay, Spending, State, Way};
use crate::front::repl::view::notice;
use crate::front::repl::view::notice::Banner;
use crate::front::repl::view::plan::Plan;
use crate::front::repl::view::status::{Phase, StatusEvent};
use crate::front::repl::view::tool::{Call, Finish, PLAN};
use crate::kernel::effect::End;
use crate::kernel::event::{Context, Event};
use crate::model::message::{Message, Origin};
use crate::product::agent::report::hints;
use crate::product::error::{Error, Kind as ErrorKind};
use crate::product::provider::choose::FIRST_STEPS;
use crate::product::session::spent::Tally;
use crate::product::tool::bash;

use super::{accept, ask, interrupted, leave, model, send, tree, undo, within};

/// A task that took longer than this is announced even if the terminal does not tell whether somebody looks.
const LONG: Duration = Duration::from_secs(30);
/// How many lines of an earlier conversation are shown again.
const TAIL_LINES: usize = 200;

/// The agent's thread tells something.
pub(super) fn came(state: &mut State, news: News) -> Vec<Cmd> {
    if state.leaving.is_some() {
        return Vec::new();
    }
    match news {
        News::Opened(opened) => open(state, *opened),
        News::NotOpened(error) => not_opened(state, &error),
        News::Event(event) => {
            happened(state, event);
            Vec::new()
        }
        News::Asked { question, reply } => ask::asked(state, &question, reply),
        News::Inquired { inquiry, reply } => ask::inquired(state, inquiry, reply),
        News::Jobs(count) => {
            state.status.emit(StatusEvent::Jobs(count));
            Vec::new()
        }
        News::Finished(finished) => end(state, &finished),
        News::Switched { info, notices } => {
            model::switched(state, info, &notices);
            Vec::new()
        }
        News::NotSwitched(error) => {
            model::not_switched(state, &error);
            Vec::new()
        }
        News::Ran => {
            let task = state.task.take();
            model::settled(state);
            // Without a task it was a session, which a defect has kept from opening.
            let opened = task.is_none() && state.opening > 0;
            state.opening -= u32::from(opened);
            let stopped = opened || task.is_some_and(|task| task.stopped.is_some());
            state.turn.end(state.now, &state.look, &mut state.paper);
            state.status.emit(StatusEvent::Phase(Phase::Idle));
            send::next(state, stopped)
        }
        News::Reported(text) => {
            state.paper.print(Kind::Report, notice::report(&text, &state.look));
            Vec::new()
        }
        News::Told(text) => {
            state.paper.print(Kind::Report, notice::report(&text, &state.look));
            Vec::new()
        }
        News::Refused(error) => {
            fail(state, &error);
            Vec::new()
        }
        News::Outlined { outline, now, wanted } => tree::came(state, *outline, now, wanted),
        News::Planned(plan) => {
            undo::planned(state, *plan);
            Vec::new()
        }
        News::Undone(files) => {
            undo::done(state, &files);
            Vec::new()
        }
        News::Noted(text) => {
            tell(state, &text);
            // It may have another name now.
            if let Overlay::Shelf(_, reach) = state.overlay { vec![Cmd::ListSessions(reach)] } else { Vec::new() }
        }
        News::Ended => Vec::new(),
    }
}

pub(super) fn fail(state: &mut State, error: &Error) {
    let block = notice::failure(&error.to_string(), &error.hints, &state.look);
    state.paper.print(Kind::Notice, block);
}

fn not_opened(state: &mut State, error: &Error) -> Vec<Cmd> {
    match error.kind {
        ErrorKind::Nobody if state.session.is_none() => {
            state.paper.print(Kind::Report, notice::first_start(&state.look));
            for hint in error.hints.iter().skip(FIRST_STEPS) {
                tell(state, hint);
            }
        }
        ErrorKind::Nobody | ErrorKind::Failed | ErrorKind::Usage | ErrorKind::Provider => fail(state, error),
    }
    if state.session.is_none() {
        return leave(state, error.kind.exit_code());
    }
    state.opening = state.opening.saturating_sub(1);
    // It was meant for the other session.
    if state.task.is_none() { send::next(state, true) } else { Vec::new() }
}

fn open(state: &mut State, opened: Opened) -> Vec<Cmd> {
    let Opened {
        arrival,
        id,
        kept,
        messages,
        spent,
        context,
        notices,
        info,
        effort,
        rights,
        inbox,
        workspace,
        answering,
        jobs,
    } = opened;
    state.status.emit(StatusEvent::Session);
    state.status.emit(StatusEvent::Model { label: info.label.clone(), window: info.window });
    state.status.emit(StatusEvent::Effort(effort));
    state.effort = effort;
    state.status.emit(StatusEvent::Grant(rights.word()));
    let again = arrived(state, arrival, &info.label, &messages);
    for told in notices {
        tell(state, &told.text);
    }
    if spent.answers > 0 || !messages.is_empty() {
        count(state, &spent, context);
    }
    let begun = !messages.is_empty();
    state.answer = last_answer(&messages);
    state.session = Some(Open { id, kept, info, rights, inbox, workspace, answering, jobs, begun });
    state.status.emit(StatusEvent::Plan(state.switches.planning));
    state.checklist = Checklist::default();
    state.opening = state.opening.saturating_sub(1);
    let mut cmds = tree::again(state, again);
    cmds.push(Cmd::ListOffers);
    if state.task.is_none() && state.opening == 0 {
        cmds.extend(send::next(state, false));
    }
    cmds
}

/// Says which session is open now, and where it stands. Returns what is to be said anew.
fn arrived(state: &mut State, arrival: Arrival, label: &str, messages: &[Arc<Message>]) -> Draft {
    match arrival {
        Arrival::Opened => {
            state.spending = Spending::default();
            let banner = notice::banner(&Banner { model: label.to_owned(), ..state.banner.clone() }, &state.look);
            state.paper.print(Kind::Banner, banner);
            tree::shows(state, messages, TAIL_LINES);
            Draft::default()
        }
        Arrival::Written => Draft::default(),
        Arrival::Moved { left, again, is_elsewhere, files } => {
            undo::done(state, &files);
            tree::moved(state, messages, left, is_elsewhere);
            again
        }
        Arrival::Forked { of, again } => {
            state.spending = Spending::default();
            tell(state, &format!("This is a copy of session {of}, which stays as it is."));
            again
        }
    }
}

/// What the session has taken so far, and how full the window is.
fn count(state: &mut State, spent: &Tally, context: Context) {
    if spent.answers > 0 {
        state.status.emit(StatusEvent::TurnFinished { usage: spent.usage, cost: spent.cost() });
    }
    // Last: what all answers took together says nothing of the next request.
    state.status.emit(StatusEvent::TurnStarted(context));
}

fn last_answer(messages: &[Arc<Message>]) -> String {
    let answers = messages.iter().rev().filter_map(|message| match &**message {
        Message::Assistant(answer) => Some(answer.text()),
        Message::User(_) | Message::Tool(_) => None,
    });
    answers.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
}

pub(super) fn tell(state: &mut State, text: &str) {
    let block = notice::notice(text, &state.look);
    state.paper.print(Kind::Notice, block);
}

/// A step of the running task.
fn happened(state: &mut State, event: Event) {
    let elapsed = state.task.as_ref().map_or(Duration::ZERO, |task| state.now.saturating_sub(task.since));
    state.status.hear(&event, elapsed);
    let State { now, look, paper, turn, spending, .. } = state;
    match event {
        Event::TurnStarted { origin, label, context, .. } => {
            spending.last = Some((Origin::clone(&origin), Tally::default()));
            model::asked(state, &origin, &label, context.window);
        }
        Event::Text(text) => {
            if turn.speaks() != Some(Kind::Prose) {
                state.answer.clear();
            }
            turn.say(Kind::Prose, &text, false, *now, look, paper);
            state.answer.push_str(&text);
        }
        Event::Reasoning(text) => turn.say(Kind::Reasoning, &text, !state.switches.reasoning, *now, look, paper),
        Event::ToolStarted { id, name, arguments, risk: _ } => {
            turn.fall_silent(*now, look, paper);
            turn.start(Call::new(id, name, arguments, *now));
        }
        Event::ToolProgress { id, text } => turn.progress(&id, &text),
        Event::ToolFinished { ref id, ref name, ok, .. } => {
            if let (Some(performance), true) = (&mut state.switches.performance, name == bash::NAME) {
                performance.green = ok;
            }
            if ok && let Some(plan) = turn.arguments(id, PLAN).and_then(Plan::of) {
                state.checklist.set(plan, state.switches.live, look, paper);
            }
            if let Some(finish) = Finish::of(&event) {
                turn.finish(id, finish, look, paper);
            }
        }
        // It is put to the person on its own way.
        Event::Question { .. } => {}
        Event::Within(worker, event) => within::happened(state, &worker, &event),
        Event::Steered { id, text } => {
            turn.end(*now, look, paper);
            let place = state.waiting.iter().position(|waiting| waiting.id == id && waiting.way == Way::Steers);
            if let Some(place) = place {
                let waiting = state.waiting.remove(place);
                send::say(state, &waiting.draft);
                send::show_waiting(state);
            } else {
                // It was taken back too late: it is with the agent, and must not be said twice.
                paper.print(Kind::Person, notice::said(&text, look));
                if state.editor.draft().text() == text {
                    send::take(state);
                }
            }
        }
        Event::Notice(told) => {
            if told.restart {
                turn.start_again();
            } else {
                turn.fall_silent(*now, look, paper);
            }
            tell(state, &told.text);
        }
        Event::TurnFinished { usage, cost, .. } => {
            if let Some((origin, last)) = &mut spending.last {
                last.add(&usage, cost);
                spending.here.add(origin, &usage, cost);
            }
            turn.fall_silent(*now, look, paper);
        }
        Event::Failed { kind, message, retryable: _ } => {
            turn.end(*now, look, paper);
            let origin = state.session.as_ref().map(|session| Arc::clone(&session.info.origin));
            let hints = origin.map(|origin| hints(kind, &origin.provider)).unwrap_or_default();
            let block = notice::failure(&message, &hints, &state.look);
            state.paper.print(Kind::Notice, block);
        }
    }
}

fn end(state: &mut State, finished: &Finished) -> Vec<Cmd> {
    let Finished { outcome, duration, context } = finished;
    state.turn.end(state.now, &state.look, &mut state.paper);
    state.checklist.settle(&state.look, &mut state.paper);
    ask::void(state);
    let task = state.task.take();
    model::settled(state);
    state.status.emit(StatusEvent::Phase(Phase::Idle));
    if let Some(context) = context {
        state.status.emit(StatusEvent::TurnStarted(*context));
    }
    let ended = match &outcome.end {
        End::Answered | End::Failed(_) => None,
        End::Cancelled => Some("Stopped. What was done and said so far is kept.".to_owned()),
        End::MaxTurns => Some(format!("The limit of {} turns was reached; say how to go on.", outcome.turns)),
        End::Loop => Some("The agent went round in circles and was stopped.".to_owned()),
        End::TimedOut => Some("The time limit was reached.".to_owned()),
        End::Cost => Some("The cost limit was reached.".to_owned()),
    };
    if let Some(text) = ended {
        tell(state, &text);
    }
    if let Some(performance) = &state.switches.performance {
        let code = match outcome.end {
            End::Cancelled => interrupted(),
            End::Answered => u8::from(!performance.green),
            End::Failed(_) | End::MaxTurns | End::Loop | End::TimedOut | End::Cost => 1,
        };
        return leave(state, code);
    }
    let stopped = task.is_some_and(|task| task.stopped.is_some()) || !matches!(outcome.end, End::Answered);
    let mut cmds = send::next(state, stopped);
    let offered = if outcome.end == End::Answered && !stopped { accept::offer(state) } else { Vec::new() };
    if !offered.is_empty() || state.asked.is_some() {
        cmds.extend(offered);
        return cmds;
    }
    let away = state.switches.focused.map_or(*duration > LONG, |focused| !focused);
    if state.task.is_none() && away && outcome.end != End::Cancelled {
        cmds.push(Cmd::Announce(format!("done after {}", numbers::took(*duration))));
    }
    cmds
}
