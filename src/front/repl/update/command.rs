//! What a slash command does.

use std::fmt::Write as _;

use crate::front::command::slash::{self, Action, Slash};
use crate::front::repl::key::action::{Action as KeyAction, Edit};
use crate::front::repl::message::{Cmd, Order, Reach, Report, Scope, Session, Wanted};
use crate::front::repl::state::State;
use crate::front::repl::state::paper::Kind;
use crate::front::repl::view::notice;
use crate::front::repl::view::status::StatusEvent;
use crate::product::checkpoint::plan::Direction;
use crate::product::permission::Grant;
use crate::product::session::store::Selector;

use super::{accept, cost, helpers, leave, model, overlay, send, tree, undo};

/// Runs a command whose argument has been checked.
pub(super) fn run(state: &mut State, command: &Slash, argument: &str) -> Vec<Cmd> {
    match command.action {
        Action::Help => report(state, &help(state)),
        Action::Keys => report(state, &keys(state)),
        Action::Cost => cost::ask(state),
        Action::Tools => vec![Cmd::Tell(Report::Tools)],
        Action::Config => {
            let key = Some(argument.to_owned()).filter(|key| !key.is_empty());
            vec![Cmd::Tell(Report::Config(key))]
        }
        Action::Doctor => vec![Cmd::Tell(Report::Doctor)],
        Action::Sessions => vec![Cmd::Tell(Report::Sessions)],
        Action::Context if state.task.is_some() => {
            say(state, "The agent works; the context is shown when it is done.");
            context(argument)
        }
        Action::Context => context(argument),
        Action::Compact => send::compact(state, argument),
        Action::Permissions => permissions(state, argument),
        Action::Effort => model::effort(state, argument),
        Action::Model => model::model(state, argument),
        Action::New => open(state, Session::New),
        Action::Resume if argument.is_empty() || argument == "all" => {
            state.times.listed = Some(state.now);
            vec![Cmd::ListSessions(if argument.is_empty() { Reach::Here } else { Reach::Everywhere })]
        }
        Action::Tree => tree::ask(state, argument, Wanted::Tree, Wanted::Going),
        Action::Fork if argument.is_empty() => tree::fork(state, None),
        Action::Fork => tree::ask(state, argument, Wanted::Tree, Wanted::Forking),
        Action::Name => name(state, argument),
        Action::Label if argument.is_empty() => {
            say(state, "/label TEXT marks the last answer; in /tree, ctrl-t marks any other.");
            Vec::new()
        }
        Action::Label if busy(state) => Vec::new(),
        Action::Label => vec![Cmd::Order(Order::Label { target: None, label: argument.to_owned() })],
        Action::Undo => undo::ask(state, argument, Direction::Undo),
        Action::Redo => undo::ask(state, argument, Direction::Redo),
        Action::Export if busy(state) => Vec::new(),
        Action::Export => {
            let file = Some(argument.to_owned()).filter(|file| !file.is_empty());
            vec![Cmd::Order(Order::Export(file))]
        }
        Action::Resume => resume(state, argument),
        Action::Copy if state.answer.trim().is_empty() => {
            say(state, "There is no answer to copy yet.");
            Vec::new()
        }
        Action::Copy => vec![Cmd::Copy(state.answer.clone())],
        Action::Theme if argument.is_empty() => {
            overlay::themes(state);
            Vec::new()
        }
        Action::Theme => vec![Cmd::Theme(argument.to_owned())],
        Action::Clear => {
            state.paper.clear(state.rows);
            Vec::new()
        }
        Action::Plan => accept::switch(state),
        Action::Skills => vec![Cmd::Tell(Report::Skills)],
        Action::Chains => vec![Cmd::Tell(Report::Chains)],
        Action::Rules => vec![Cmd::Tell(Report::Rules)],
        Action::Init => helpers::init(state, argument),
        Action::Chain => helpers::chain(state, argument),
        Action::Agents => helpers::ask(state),
        Action::Jobs => helpers::jobs(state, argument),
        Action::Remember => helpers::remember(state, argument),
        Action::Memory => {
            vec![Cmd::EditMemory(if argument == "user" { Scope::User } else { Scope::Project })]
        }
        Action::Exit => leave(state, 0),
    }
}

pub(super) fn say(state: &mut State, text: &str) {
    let block = notice::notice(text, &state.look);
    state.paper.print(Kind::Notice, block);
}

pub(super) fn report(state: &mut State, text: &str) -> Vec<Cmd> {
    let block = notice::report(text, &state.look);
    state.paper.print(Kind::Report, block);
    Vec::new()
}

/// Whether something runs; if so, that is said.
pub(super) fn busy(state: &mut State) -> bool {
    let runs = state.task.is_some();
    if runs {
        say(state, "Something still runs; esc stops it.");
    }
    runs
}

/// `/name`: gives the open session a name, or tells the one it has. Its file is held by the agent's thread, which hears of
/// nothing else while it works.
pub(super) fn name(state: &mut State, argument: &str) -> Vec<Cmd> {
    if busy(state) {
        return Vec::new();
    }
    vec![Cmd::Order(Order::Name(Some(argument.to_owned()).filter(|name| !name.is_empty())))]
}

fn context(argument: &str) -> Vec<Cmd> {
    let whole = argument == "all";
    vec![Cmd::Tell(if whole { Report::WholeContext } else { Report::Context })]
}

/// Goes on in another session, unless something runs in this one.
fn open(state: &mut State, session: Session) -> Vec<Cmd> {
    if busy(state) {
        return Vec::new();
    }
    state.opening += 1;
    vec![Cmd::Order(Order::Open(session))]
}

/// Goes on with an earlier session.
pub(super) fn resume(state: &mut State, id: &str) -> Vec<Cmd> {
    open(state, Session::Stored(Selector::Id(id.to_owned())))
}

/// Allows what this word says from now on; without one, has it chosen.
pub(super) fn permissions(state: &mut State, word: &str) -> Vec<Cmd> {
    match Grant::from_word(word) {
        Some(grant) => self::grant(state, grant),
        None if word == "ask" => {
            say(state, "Every call above safe is asked about from now on.");
            state.status.emit(StatusEvent::Grant("asks each"));
            vec![Cmd::AskEach]
        }
        None => {
            overlay::grants(state);
            Vec::new()
        }
    }
}

/// Allows this from now on.
fn grant(state: &mut State, grant: Grant) -> Vec<Cmd> {
    let text = match grant {
        Grant::All => "All tools may run in this session.",
        Grant::Write => "Reading and writing tools may run in this session, commands may not.",
        Grant::Safe => "Only tools that change nothing may run in this session.",
        Grant::None => "No tools run in this session.",
    };
    say(state, text);
    state.status.emit(StatusEvent::Grant(grant.as_str()));
    vec![Cmd::Grant(grant)]
}

/// The keys that the help names; `/keys` has all.
const USUAL: [(KeyAction, &str); 10] = [
    (KeyAction::Submit, "send; while the agent works, steer it"),
    (KeyAction::Edit(Edit::Newline), "a new line"),
    (KeyAction::Queue, "send after the running task; else complete"),
    (KeyAction::Stop, "stop what runs"),
    (KeyAction::Background, "send a running command to the background"),
    (KeyAction::Expand, "show the last result whole"),
    (KeyAction::Search, "search earlier messages"),
    (KeyAction::External, "write in an editor of your own"),
    (KeyAction::Interrupt, "clear, then stop, then leave"),
    (KeyAction::Leave, "leave"),
];

fn help(state: &State) -> String {
    let keys: Vec<(String, &str)> = USUAL
        .iter()
        .map(|(action, help)| (state.keymap.keys_of(*action).into_iter().next().unwrap_or_default(), *help))
        .collect();
    let keys: Vec<(&str, &str)> = keys.iter().map(|(key, help)| (key.as_str(), *help)).collect();
    slash::help(&keys).join("\n")
}

/// Room for the keys of an action; an action that has more is wider than the others.
const KEYS_COLUMNS: usize = 28;
/// A screen of fewer columns does without the names of the actions.
const NAMED_COLUMNS: usize = 100;
/// Room for the name that an action has in `ui.keys`.
const NAME_COLUMNS: usize = 20;

fn keys(state: &State) -> String {
    let rows = state.keymap.table();
    let mut text = String::new();
    for row in rows.iter().filter(|row| !row.keys.is_empty()) {
        let keys = row.keys.join(" ");
        let _ = if state.look.width >= NAMED_COLUMNS {
            writeln!(text, "{keys:<KEYS_COLUMNS$}  {:<NAME_COLUMNS$}  {}", row.name, row.help)
        } else {
            writeln!(text, "{keys:<KEYS_COLUMNS$}  {}", row.help)
        };
    }
    text
}
