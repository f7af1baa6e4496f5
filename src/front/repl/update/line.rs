//! A line from a terminal without a screen: an answer, a command, or something to say.
//!
//! Only what differs from a draft on the screen is here: there are no lists to choose from and no keys, and the draft is
//! the terminal's own business.

use crate::front::command::slash::{self, Action, Meaning, Slash, classify};
use crate::front::repl::complete::word;
use crate::front::repl::editor::draft::Draft;
use crate::front::repl::message::{Cmd, Line, Report, Wanted};
use crate::front::repl::state::{Overlay, State};
use crate::front::repl::view::ask::Kind as Answers;
use crate::front::repl::view::confirm::Answer;
use crate::product::permission::Answer as Words;

use super::{ask, command, keys, leave, send, tree, undo};

/// What `/help` says of keys here.
const KEYS: [(&str, &str); 4] = [
    ("enter", "send; while the agent works, steer it"),
    ("\\ at the end", "the message goes on in the next line"),
    ("ctrl-c", "stop what runs; at the prompt, leave"),
    ("ctrl-d", "leave"),
];

/// A line came.
pub(super) fn came(state: &mut State, line: &Line) -> Vec<Cmd> {
    if matches!(state.overlay, Overlay::Confirm(..)) {
        return undo::answered(state, confirmed(line));
    }
    if let Some(letter) = answer(state, line) {
        return ask::answer_letter(state, letter);
    }
    if let Some(words) = in_words(state, line) {
        return ask::answer(state, words);
    }
    // A line before it may have ended in a backslash.
    let begun = std::mem::take(&mut state.begun);
    state.editor.set(&Draft::typed(begun + &line.text));
    let draft = state.editor.draft();
    let text = draft.text();
    if let Meaning::Command(command, argument) = classify(&text, word::typed(&draft))
        && let Some(mut cmds) = instead(state, command, argument)
    {
        cmds.push(Cmd::Remember(draft.clone()));
        cmds.extend(send::take(state));
        return cmds;
    }
    let asked = state.asked.is_some();
    let waiting = state.waiting.len();
    let cmds = send::submit(state);
    if asked && state.waiting.len() > waiting {
        command::say(state, "That is kept for the agent; the question is still open.");
    }
    let rest = state.editor.take();
    if line.text.ends_with('\\') {
        // Out of the way of what may be given back meanwhile.
        state.begun = rest.text();
    }
    // Else it was wrong; that has been said, and cannot be mended here.
    cmds
}

/// What a line answers to a question that can be said yes to: only a word that was written when it could be seen does.
fn confirmed(line: &Line) -> Answer {
    match line.text.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" if !line.ahead => Answer::Yes,
        _ => Answer::No,
    }
}

/// The answer that a line is: the exact letter or word, written when the question could be seen.
fn answer(state: &State, line: &Line) -> Option<char> {
    let asked = state.asked.as_ref().filter(|asked| !line.ahead && state.now >= asked.ripe)?;
    let word = line.text.trim().to_ascii_lowercase();
    let words: &[(char, &[&str])] = match &asked.question.kind {
        Answers::Words { options, .. } => {
            let place = word.parse::<usize>().ok()?.checked_sub(1)?;
            return options.get(place).and_then(|_| word.chars().next());
        }
        Answers::Plan { .. } => {
            &[('y', &["y", "yes", "all"]), ('w', &["w", "write"]), ('a', &["a", "ask"]), ('n', &["n", "no"])]
        }
        Answers::Session => {
            &[('y', &["y", "yes", "all"]), ('w', &["w", "write"]), ('s', &["s", "safe"]), ('n', &["n", "no", "none"])]
        }
        Answers::Each { prefix: Some(_) } => {
            &[('y', &["y", "yes", "once"]), ('a', &["a", "always"]), ('n', &["n", "no"])]
        }
        Answers::Each { prefix: None } => &[('y', &["y", "yes", "once"]), ('n', &["n", "no"])],
    };
    words.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(letter, _)| *letter)
}

/// The answer in other words that a line is to a tool that asks: any line but a command, written when the question could
/// be seen.
fn in_words(state: &State, line: &Line) -> Option<Words> {
    let asked =
        state.asked.as_ref().filter(|asked| !line.ahead && state.now >= asked.ripe && state.begun.is_empty())?;
    let text = line.text.trim();
    let is_command = text.starts_with('/') || text.starts_with('!') || text.ends_with('\\');
    match asked.question.kind {
        Answers::Words { .. } if text.is_empty() => Some(Words::Reject { reason: None }),
        Answers::Words { .. } if !is_command => Some(Words::Say(text.to_owned())),
        Answers::Words { .. } | Answers::Session | Answers::Each { .. } | Answers::Plan { .. } => None,
    }
}

/// What a command does that elsewhere needs a screen.
fn instead(state: &mut State, command: &Slash, argument: &str) -> Option<Vec<Cmd>> {
    match command.action {
        Action::Theme | Action::Clear | Action::Copy => {
            let text = format!("/{} needs a screen, and this terminal is a dumb one (TERM).", command.name);
            command::say(state, &text);
            Some(Vec::new())
        }
        Action::Help => Some(command::report(state, &slash::help(&KEYS).join("\n"))),
        Action::Keys => {
            command::say(
                state,
                "Lines are edited with the terminal's own keys; /help has the few that are the chat's.",
            );
            Some(Vec::new())
        }
        Action::Permissions if argument.is_empty() => {
            let now = state.session.as_ref().map_or("ask", |session| session.rights.word());
            let text = format!("Permissions: {now}. {} changes that.", command.usage());
            command::say(state, &text);
            Some(Vec::new())
        }
        Action::Model if argument.is_empty() => {
            command::say(state, "/model ID has one of these answer, /model PROVIDER/ID any other:");
            Some(vec![Cmd::Tell(Report::Models)])
        }
        Action::Resume if argument.is_empty() => {
            command::say(state, "/resume ID goes on with one of these:");
            Some(vec![Cmd::Tell(Report::Sessions)])
        }
        Action::Tree if argument.is_empty() => Some(tree::ask(state, "", Wanted::Lines, Wanted::Going)),
        Action::Permissions
        | Action::Resume
        | Action::Tree
        | Action::Fork
        | Action::Name
        | Action::Label
        | Action::Undo
        | Action::Redo
        | Action::Export
        | Action::Model
        | Action::Tools
        | Action::New
        | Action::Sessions
        | Action::Context
        | Action::Compact
        | Action::Cost
        | Action::Config
        | Action::Doctor
        | Action::Effort
        | Action::Plan
        | Action::Init
        | Action::Rules
        | Action::Skills
        | Action::Chains
        | Action::Chain
        | Action::Agents
        | Action::Jobs
        | Action::Remember
        | Action::Memory
        | Action::Exit => None,
    }
}

/// An INT came: it stops what runs; where nothing does, or it has been stopped, it leaves.
pub(super) fn interrupted(state: &mut State) -> Vec<Cmd> {
    state.editor.take();
    state.begun.clear();
    if state.task.as_ref().is_some_and(|task| task.stopped.is_none()) {
        return keys::stop(state);
    }
    leave(state, super::interrupted())
}

/// What was given back because the task it was meant for was stopped.
pub fn unsent(state: &mut State) -> Option<Draft> {
    let draft = state.editor.take();
    (!draft.is_blank()).then_some(draft)
}
