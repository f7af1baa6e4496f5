//! The list of sessions: which are shown, what a look at one says, and what becomes of the one that is chosen.

use std::path::Path;

use crate::base::text::numbers::{count, dollars};
use crate::front::repl::complete::picker::Item;
use crate::front::repl::complete::shelf::{Glance, Outcome, Shelf, Voice, Volume};
use crate::front::repl::key::Key;
use crate::front::repl::message::{Cmd, Reach};
use crate::front::repl::state::{Overlay, State};
use crate::product::session::picks::Pick;
use crate::product::session::preview::{Exchange, Preview};
use crate::product::session::spent::Tally;

use super::command::{self, say};

/// The sessions to choose from are known: they are shown, or shown anew.
pub(super) fn came(state: &mut State, picks: &[Pick], reach: Reach) -> Vec<Cmd> {
    let is_open = matches!(state.overlay, Overlay::Shelf(..));
    if picks.is_empty() && !is_open {
        let text = match reach {
            Reach::Here => "There is no earlier session in this directory; /resume all shows those of others.",
            Reach::Everywhere => "There is no earlier session.",
        };
        say(state, text);
        return Vec::new();
    }
    if state.times.listed.take().is_none() && !is_open {
        // It would take keys that were meant for the draft.
        say(state, "The list of sessions came while you were writing; /resume asks for it again.");
        return Vec::new();
    }
    let open = state.session.as_ref().map(|session| session.id.as_str());
    let volumes = picks.iter().map(|pick| volume(pick, reach, open == Some(pick.id.as_str()))).collect();
    let title = match reach {
        Reach::Here => "go on with",
        Reach::Everywhere => "go on with, in any folder",
    };
    let before = if let Overlay::Shelf(shelf, _) = &state.overlay { Some(shelf.as_ref()) } else { None };
    let shelf = Shelf::new(title, volumes, before);
    state.overlay = Overlay::Shelf(Box::new(shelf), reach);
    wanted(state)
}

fn volume(pick: &Pick, reach: Reach, is_open: bool) -> Volume {
    let Pick { id, title, name, cwd, age, messages } = pick;
    let folder = match reach {
        Reach::Here => None,
        Reach::Everywhere => Path::new(cwd).file_name().map(|name| name.to_string_lossy().into_owned()),
    };
    let open = is_open.then(|| "open".to_owned());
    let facts: Vec<String> = open.into_iter().chain(folder).chain([count(*messages, "message")]).collect();
    let item = Item { label: title.clone(), detail: facts.join(", "), right: age.clone(), key: id.clone() };
    Volume { item, name: name.clone(), is_open }
}

/// A key while the list is open.
pub(super) fn pressed(state: &mut State, key: Key) -> Vec<Cmd> {
    let Overlay::Shelf(shelf, reach) = &mut state.overlay else { return Vec::new() };
    let reach = *reach;
    let mut cmds = match shelf.key(key) {
        Outcome::Open => Vec::new(),
        Outcome::Closed => {
            state.overlay = Overlay::None;
            Vec::new()
        }
        Outcome::Chosen(number) => {
            let id = shelf.id(number).to_owned();
            state.overlay = Overlay::None;
            command::resume(state, &id)
        }
        Outcome::Turned => vec![Cmd::ListSessions(match reach {
            Reach::Here => Reach::Everywhere,
            Reach::Everywhere => Reach::Here,
        })],
        Outcome::Named(number, name) if !shelf.is_open(number) => {
            vec![Cmd::Rename { id: shelf.id(number).to_owned(), name, reach }]
        }
        Outcome::Named(_, name) => command::name(state, &name),
        Outcome::Removed(number) => vec![Cmd::Remove { id: shelf.id(number).to_owned(), reach }],
        Outcome::IsOpen => {
            say(state, "The open session cannot be deleted; /new begins another one first.");
            Vec::new()
        }
    };
    cmds.extend(wanted(state));
    cmds
}

/// Asks for a look at the selected session, if it is not known.
pub(super) fn wanted(state: &mut State) -> Vec<Cmd> {
    let Overlay::Shelf(shelf, _) = &mut state.overlay else { return Vec::new() };
    shelf.wants().map(Cmd::Preview).into_iter().collect()
}

/// A session was looked at.
pub(super) fn looked(state: &mut State, id: &str, preview: Option<&Preview>) -> Vec<Cmd> {
    let Overlay::Shelf(shelf, _) = &mut state.overlay else { return Vec::new() };
    shelf.looked(id, preview.map_or_else(|| vec![(Voice::Fact, "It cannot be read.".to_owned())], glance));
    wanted(state)
}

/// A look at a session: how it stands, then how it began, then facts.
fn glance(preview: &Preview) -> Glance {
    let Preview { question, last, model, spent, cwd, messages, .. } = preview;
    let mut glance = Glance::new();
    let is_first = |exchange: &Exchange| question.as_deref() == Some(exchange.question.as_str());
    let cost = spent.as_ref().and_then(Tally::cost).filter(|cost| *cost > 0.0).map(dollars);
    let facts = [model.model.clone(), count(*messages, "message"), cost.unwrap_or_default(), cwd.clone()];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    glance.push((Voice::Fact, facts.join(", ")));
    if let Some(question) = question.as_ref().filter(|_| !last.iter().any(is_first)) {
        glance.push((Voice::Person, short(question, FIRST_LINES)));
        glance.push((Voice::Fact, "...".to_owned()));
    }
    for Exchange { question, answer } in last {
        let said = [(Voice::Person, question), (Voice::Agent, answer)].into_iter();
        glance.extend(said.filter(|(_, text)| !text.is_empty()).map(|(voice, text)| (voice, short(text, MOST_LINES))));
    }
    glance
}

/// Lines of the first question, which is there to know the session by.
const FIRST_LINES: usize = 2;
/// Lines of what was said last.
const MOST_LINES: usize = 8;

fn short(text: &str, lines: usize) -> String {
    text.lines().filter(|line| !line.trim().is_empty()).take(lines).collect::<Vec<_>>().join("\n")
}
