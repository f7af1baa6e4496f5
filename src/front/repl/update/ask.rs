//! A question is open: which keys answer it, and which do not.
//!
//! No letter outside the Latin ones grants, a paste never answers, and neither does a key that was meant for something
//! else because it came within half a second before the question.

use std::collections::VecDeque;
use std::time::Duration;

use crate::front::repl::key::{Code, Key, Mods};
use crate::front::repl::message::{Cmd, Reply};
use crate::front::repl::state::paper::Kind;
use crate::front::repl::state::{Asked, State};
use crate::front::repl::view::ask::{self, Focus, Kind as Answers};
use crate::front::repl::view::notice;
use crate::front::repl::view::status::{Phase, StatusEvent};
use crate::kernel::port::PendingCall;
use crate::product::permission::{Answer, Grant, Question, Scope};
use crate::product::tool::ask::Inquiry;
use crate::product::tool::bash;

use super::{accept, keys, overlay};

/// A key this short before the question was not meant for it.
pub(super) const AHEAD: Duration = Duration::from_millis(500);

/// Calls wait for permission.
pub(super) fn asked(state: &mut State, question: &Question, reply: Reply) -> Vec<Cmd> {
    let kind = match &question.scope {
        Scope::Session => Answers::Session,
        Scope::Call { always } => Answers::Each { prefix: always.as_deref().map(shown_rule) },
    };
    let calls = question.calls.iter().map(shown_call).collect();
    let who = question.worker.as_ref().map(|worker| state.turn.who(worker, &state.look));
    put(state, ask::Question { kind, calls, focus: Focus::Question(None), who }, reply, None)
}

/// A tool asks.
pub(super) fn inquired(state: &mut State, inquiry: Inquiry, reply: Reply) -> Vec<Cmd> {
    let Inquiry { id, question, options } = inquiry;
    let who = state.turn.asker(&id).map(|worker| state.turn.who(worker, &state.look));
    let kind = Answers::Words { question, options };
    put(state, ask::Question { kind, calls: Vec::new(), focus: Focus::Question(None), who }, reply, Some(id))
}

/// A question comes up; behind the one that is open, if there is one. `id`: the call that asks.
pub(super) fn put(state: &mut State, question: ask::Question, reply: Reply, id: Option<String>) -> Vec<Cmd> {
    // It has crossed with Esc, or with the end of the task.
    if reply.is_closed() || state.task.as_ref().is_some_and(|task| task.stopped.is_some()) {
        return Vec::new();
    }
    let asked = Asked { question, reply, shown: false, id, ripe: state.now };
    if state.asked.is_some() {
        state.questions.push_back(asked);
        return Vec::new();
    }
    let typing = state.times.key.is_some_and(|pressed| state.now < pressed + AHEAD);
    open(state, asked, typing)
}

fn open(state: &mut State, mut asked: Asked, typing: bool) -> Vec<Cmd> {
    let is_free = matches!(&asked.question.kind, Answers::Words { options, .. } if options.is_empty());
    asked.question.focus = match (typing || !state.editor.is_empty(), is_free) {
        (true, _) => Focus::Draft,
        (false, true) => Focus::Instead,
        (false, false) => Focus::Question(None),
    };
    let mut cmds = overlay::close(state);
    state.turn.fall_silent(state.now, &state.look, &mut state.paper);
    state.asked = Some(asked);
    if state.task.is_some() {
        state.status.emit(StatusEvent::Phase(Phase::Asking));
    }
    if state.switches.focused == Some(false) {
        cmds.push(Cmd::Announce("waits for your answer".to_owned()));
    }
    cmds
}

/// The question that has waited longest comes up. What is pressed right behind the answer to another is not for it.
fn next(state: &mut State) -> Vec<Cmd> {
    while let Some(asked) = state.questions.pop_front() {
        if !asked.reply.is_closed() {
            let ripe = state.now + AHEAD;
            return open(state, Asked { ripe, ..asked }, false);
        }
    }
    if state.task.is_some() {
        state.status.emit(StatusEvent::Phase(Phase::Running));
    }
    Vec::new()
}

/// Nobody waits for an answer any more: of the open question, or of any.
pub(super) fn go_away(state: &mut State) -> Vec<Cmd> {
    match &state.asked {
        Some(asked) if asked.reply.is_closed() => {
            state.asked = None;
            next(state)
        }
        Some(_) | None => Vec::new(),
    }
}

/// All questions fall away.
pub(super) fn void(state: &mut State) {
    state.asked = None;
    state.questions.clear();
}

/// What "always" would allow, as the dialog names it: the command's words, else the tool and what it may touch.
fn shown_rule(rule: &str) -> String {
    let Some((tool, pattern)) = rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) else {
        return rule.to_owned();
    };
    let pattern = pattern.strip_suffix('*').unwrap_or(pattern).trim_end_matches('*').trim_end();
    match (tool, pattern) {
        (bash::NAME, command) => command.to_owned(),
        (tool, "") => tool.to_owned(),
        (tool, pattern) => format!("{tool} {pattern}"),
    }
}

fn shown_call(pending: &PendingCall) -> ask::Asked {
    let arguments = pending.call.input.object().cloned().unwrap_or_default();
    ask::Asked { name: pending.call.name.clone(), arguments, risk: pending.risk, change: None }
}

/// A key while a question is open. `None`: it is not for the question.
pub(super) fn pressed(state: &mut State, key: Key) -> Option<Vec<Cmd>> {
    state.asked.as_ref()?;
    // What cannot be seen is not answered either.
    if state.is_tiny() || (key.mods != Mods::NONE && key.mods != Mods::SHIFT) {
        return None;
    }
    let question = &state.asked.as_ref()?.question;
    let leaves = match &question.kind {
        Answers::Session => false,
        Answers::Each { .. } | Answers::Plan { .. } => question.focus != Focus::Instead,
        Answers::Words { .. } => question.focus != Focus::Instead || state.editor.is_blank(),
    };
    if key.code == Code::Esc && leaves {
        // No is never too early.
        return Some(answer(state, Answer::Reject { reason: None }));
    }
    let now = state.now;
    if let Some(asked) = state.asked.as_mut().filter(|asked| !asked.shown || now < asked.ripe) {
        // Pressed by somebody who has not seen it yet: that goes on in the draft.
        asked.question.focus = Focus::Draft;
        return None;
    }
    let question = &state.asked.as_ref()?.question;
    let answers = question.kind.answers(&state.look);
    let count = answers.len().max(1);
    let focus = match (question.focus, key.code) {
        (Focus::Draft | Focus::Instead, Code::Tab)
        | (Focus::Draft, Code::Up | Code::Down)
        | (Focus::Instead, Code::Esc) => Focus::Question(None),
        (Focus::Draft | Focus::Instead, _) => return None,
        (Focus::Question(_), Code::Tab) => Focus::Instead,
        (Focus::Question(at), Code::Left | Code::Up) => Focus::Question(Some((at.unwrap_or(0) + count - 1) % count)),
        (Focus::Question(at), Code::Right | Code::Down) => Focus::Question(Some(at.map_or(0, |at| at + 1) % count)),
        (Focus::Question(at), Code::Enter) => {
            let letter = at.and_then(|at| answers.get(at)).map(|(letter, _)| *letter);
            return Some(letter.map_or_else(Vec::new, |letter| answer_letter(state, letter)));
        }
        (Focus::Question(_), Code::Esc) => {
            return Some(match question.kind {
                Answers::Session => keys::stop(state),
                Answers::Each { .. } | Answers::Words { .. } | Answers::Plan { .. } => {
                    answer(state, Answer::Reject { reason: None })
                }
            });
        }
        (Focus::Question(_), Code::Char(typed)) => match letter_of(typed, &answers) {
            Some(letter) => return Some(answer_letter(state, letter)),
            // Somebody writes: the letter and what follows is for the draft, which a tool that asks has as its answer.
            None if matches!(question.kind, Answers::Words { .. }) => Focus::Instead,
            None => Focus::Draft,
        },
        (Focus::Question(_), _) => return None,
    };
    let wrote = matches!(key.code, Code::Char(_));
    if let Some(asked) = &mut state.asked {
        asked.question.focus = focus;
    }
    if wrote { None } else { Some(Vec::new()) }
}

/// The answer that a key stands for: its own Latin letter, or the digit of its place.
fn letter_of(typed: char, answers: &[(char, String)]) -> Option<char> {
    if let Some(digit) = typed.to_digit(10) {
        let place = usize::try_from(digit).ok()?.checked_sub(1)?;
        return answers.get(place).map(|(letter, _)| *letter);
    }
    let typed = typed.to_ascii_lowercase();
    answers.iter().map(|(letter, _)| *letter).find(|letter| *letter == typed)
}

/// Gives the answer that a letter stands for.
pub(super) fn answer_letter(state: &mut State, letter: char) -> Vec<Cmd> {
    let Some(asked) = &state.asked else { return Vec::new() };
    let given = match (&asked.question.kind, letter) {
        (Answers::Session, 'y') => Answer::Grant(Grant::All),
        (Answers::Session, 'w') => Answer::Grant(Grant::Write),
        (Answers::Session, 's') => Answer::Grant(Grant::Safe),
        (Answers::Session, _) => Answer::Grant(Grant::None),
        (Answers::Each { .. }, 'y') => Answer::Once,
        (Answers::Each { .. }, 'a') => Answer::Always,
        (Answers::Each { .. }, _) => Answer::Reject { reason: None },
        (Answers::Words { options, .. }, digit) => {
            let place = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
            let Some(option) = place.and_then(|place| options.get(place)) else { return Vec::new() };
            Answer::Say(option.clone())
        }
        (Answers::Plan { .. }, letter) => return accept::answered(state, letter),
    };
    answer(state, given)
}

/// Gives the answer.
pub(super) fn answer(state: &mut State, answer: Answer) -> Vec<Cmd> {
    if matches!(&state.asked, Some(asked) if matches!(asked.reply, Reply::Plan)) {
        return accept::said(state, answer);
    }
    let Some(Asked { question, reply, .. }) = state.asked.take() else { return Vec::new() };
    if reply.is_closed() {
        return next(state);
    }
    let is_inquiry = matches!(question.kind, Answers::Words { .. });
    let told = match &answer {
        Answer::Grant(Grant::All) => "all tools may run in this session",
        Answer::Grant(Grant::Write) => "files may be written in this session, no commands run",
        Answer::Grant(Grant::Safe) => "only what changes nothing runs in this session",
        Answer::Grant(Grant::None) => "no tools run in this session",
        Answer::Once => "this once",
        Answer::Always => "always, in this project",
        Answer::Reject { .. } if is_inquiry => "no answer",
        Answer::Reject { .. } => "no",
        Answer::Say(_) if is_inquiry => "answered",
        Answer::Say(_) => "no; the agent is told why",
    };
    // What was asked in words must still be there when somebody reads the answer.
    let block = if is_inquiry { ask::expanded(&question, &state.look) } else { Vec::new() };
    state.paper.print(Kind::Report, block);
    if !is_inquiry || matches!(answer, Answer::Reject { .. }) {
        state.paper.print(Kind::Notice, ask::answered(&question, told, &state.look));
    }
    if let Answer::Say(text) = &answer {
        let block = notice::said(text, &state.look);
        state.paper.print(Kind::Person, block);
    }
    let mut cmds = Vec::new();
    if let Answer::Grant(grant) = answer {
        state.status.emit(StatusEvent::Grant(grant.as_str()));
        // It is the session's, and was asked for by others, too.
        let is_settled = |asked: &Asked| asked.question.kind == Answers::Session;
        let others: Vec<Asked> = extracted(&mut state.questions, is_settled);
        cmds.extend(others.into_iter().map(|other| Cmd::Answer(other.reply, Answer::Grant(grant))));
    }
    cmds.insert(0, Cmd::Answer(reply, answer));
    cmds.extend(next(state));
    cmds
}

/// Takes those out that `is_meant`; the others keep their order.
fn extracted(questions: &mut VecDeque<Asked>, is_meant: impl Fn(&Asked) -> bool) -> Vec<Asked> {
    let (mut taken, mut kept) = (Vec::new(), VecDeque::new());
    for asked in questions.drain(..) {
        if is_meant(&asked) {
            taken.push(asked);
        } else {
            kept.push_back(asked);
        }
    }
    *questions = kept;
    taken
}
