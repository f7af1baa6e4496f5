//! The tree of the open session: looking at it, going to another place in it, going on in a copy.
//!
//! Nothing is ever deleted: what is left behind stays in the tree.

use std::sync::Arc;

use crate::base::text::numbers::count;
use crate::front::repl::complete::picker::{Item, Picker};
use crate::front::repl::complete::tree::{Node, Outcome, Tree, Who as Speaker};
use crate::front::repl::editor::draft::Draft;
use crate::front::repl::key::Key;
use crate::front::repl::message::{Cmd, Order, Place, Wanted};
use crate::front::repl::state::paper::Kind;
use crate::front::repl::state::{Choice, Overlay, SEEN, State};
use crate::front::repl::view::{Look, markdown, notice, tool, transcript};
use crate::model::message::Message;
use crate::product::session::outline::{Entry, Outline, Who};
use crate::product::session::picks::ago;

use super::command::{busy, say};
use super::{keys, news};

/// Rows of the tree that a terminal without a screen is shown; the newest ones.
const MOST_LINES: usize = 200;
/// How many lines are shown of a conversation that was not the present one: enough to know it again.
const TAIL_LINES: usize = 12;

/// Asks for the tree. `argument`: the number of a message to go to.
pub(super) fn ask(state: &mut State, argument: &str, wanted: Wanted, named: fn(u64) -> Wanted) -> Vec<Cmd> {
    let wanted = match argument.parse() {
        Ok(id) => named(id),
        Err(_) if argument.is_empty() => wanted,
        Err(_) => {
            say(state, &format!("`{argument}` is no number of a message; /tree shows what there is."));
            return Vec::new();
        }
    };
    if busy(state) {
        return Vec::new();
    }
    state.times.outlined = Some(state.now);
    vec![Cmd::Order(Order::Outline(wanted))]
}

/// The tree is there.
pub(super) fn came(state: &mut State, mut outline: Outline, now: i64, wanted: Wanted) -> Vec<Cmd> {
    let in_time = state.times.outlined.take().is_some();
    match wanted {
        Wanted::Tree | Wanted::Rollback if !in_time => {
            // It would take keys that were meant for the draft.
            say(state, "The tree came while you were writing; /tree asks for it again.");
        }
        _ if outline.entries.is_empty() => say(state, "Nothing has been said in this session yet."),
        Wanted::Tree => {
            let tree = Tree::new(nodes(&mut outline, now, &state.look), outline.here);
            state.overlay = Overlay::Tree(Box::new(tree), Box::new(outline));
        }
        Wanted::Lines => {
            let tree = Tree::new(nodes(&mut outline, now, &state.look), outline.here);
            let id = |node: usize| outline.entries.get(node).map_or(0, |entry| entry.id).to_string();
            let lines = tree.lines(MOST_LINES, &state.look, &id);
            say(state, "/tree ID goes on from one of these, /fork ID does so in a copy:");
            state.paper.print(Kind::Report, notice::remark(&lines.join("\n"), &state.look));
        }
        Wanted::Rollback => rollback(state, outline, now),
        Wanted::Going(id) => match outline.place(id) {
            Some(entry) => return go(state, &outline, entry),
            None => say(state, &format!("There is no message {id}; /tree shows what there is.")),
        },
        Wanted::Forking(id) => match outline.place(id) {
            Some(entry) => return fork(state, Some(place(&outline, entry))),
            None => say(state, &format!("There is no message {id}; /tree shows what there is.")),
        },
    }
    Vec::new()
}

/// The entries as they are shown. Their texts go over to the nodes.
fn nodes(outline: &mut Outline, now: i64, look: &Look) -> Vec<Node> {
    let node = |entry: &mut Entry| {
        let Entry { parent, who, text, tools, label, at, is_present, .. } = entry;
        let said_by = match who {
            Who::Person if transcript::is_note(text) => Speaker::Program,
            Who::Person => Speaker::Person,
            Who::Agent => Speaker::Agent,
            Who::Summary => Speaker::Program,
        };
        let text = match who {
            Who::Summary => format!("summary: {text}").into(),
            Who::Person | Who::Agent => std::mem::take(text),
        };
        let tools: Vec<String> = tools
            .iter()
            .map(|(name, times)| match times {
                1 => tool::verb(name, look),
                times => format!("{} {times}", tool::verb(name, look)),
            })
            .collect();
        Node {
            parent: *parent,
            who: said_by,
            text,
            tools: tools.join(", ").into(),
            label: label.take(),
            age: ago(*at, now).into(),
            is_present: *is_present,
        }
    };
    outline.entries.iter_mut().map(node).collect()
}

/// Opens the list of what a person said in the present conversation, the last first.
fn rollback(state: &mut State, outline: Outline, now: i64) {
    let is_said = |entry: &&Entry| entry.is_present && entry.who == Who::Person && !transcript::is_note(&entry.text);
    let said = outline.entries.iter().enumerate().rev().filter(|(_, entry)| is_said(entry));
    let (places, items): (Vec<usize>, Vec<Item>) = said
        .map(|(place, entry)| {
            let left = count(outline.left_behind(entry.parent) as u64, "message");
            let key = entry.id.to_string();
            (place, Item { label: entry.text.to_string(), detail: left, right: ago(entry.at, now), key })
        })
        .unzip();
    if places.is_empty() {
        return say(state, "There is nothing of yours to go back to; /tree shows all branches.");
    }
    let picker = Picker::new("go back before", items).hinting(&["enter go back", "esc close"]);
    state.overlay = Overlay::Picker(picker, Choice::Rollback(Box::new(outline), places));
}

/// A key while the tree is open.
pub(super) fn pressed(state: &mut State, key: Key) -> Vec<Cmd> {
    let Overlay::Tree(tree, outline) = &mut state.overlay else { return Vec::new() };
    match tree.key(key) {
        Outcome::Open => Vec::new(),
        Outcome::Closed => {
            state.overlay = Overlay::None;
            Vec::new()
        }
        Outcome::Labelled(number, label) => {
            let target = outline.entries.get(number).map(|entry| entry.id);
            vec![Cmd::Order(Order::Label { target, label })]
        }
        Outcome::Chosen(number) => {
            let outline = std::mem::take(outline.as_mut());
            state.overlay = Overlay::None;
            go(state, &outline, number)
        }
        Outcome::Forked(number) => {
            let place = place(outline, number);
            state.overlay = Overlay::None;
            fork(state, Some(place))
        }
    }
}

/// Where the conversation stands when this entry is chosen: what a person said is to be said anew, anything else goes on.
fn place(outline: &Outline, number: usize) -> Place {
    let Some(entry) = outline.entries.get(number) else {
        return Place { target: None, again: None, left: 0, is_elsewhere: false };
    };
    let (target, again, at) = match entry.who {
        Who::Person => (entry.before, Some(entry.id), entry.parent),
        Who::Agent | Who::Summary => (Some(entry.end), None, Some(number)),
    };
    let is_present = |place: usize| outline.entries.get(place).is_some_and(|entry| entry.is_present);
    Place { target, again, left: outline.left_behind(at), is_elsewhere: at.is_some_and(|at| !is_present(at)) }
}

/// Goes on from this entry.
pub(super) fn go(state: &mut State, outline: &Outline, number: usize) -> Vec<Cmd> {
    if busy(state) {
        return Vec::new();
    }
    let place = place(outline, number);
    if place.again.is_none() && outline.here == Some(number) {
        say(state, "The conversation stands there already.");
        return Vec::new();
    }
    state.opening += 1;
    state.times.going = Some(state.now);
    vec![Cmd::Order(Order::Go(place))]
}

/// Goes on in a copy, of what leads to this place, or to where the conversation stands.
pub(super) fn fork(state: &mut State, place: Option<Place>) -> Vec<Cmd> {
    if busy(state) {
        return Vec::new();
    }
    state.opening += 1;
    state.times.going = Some(state.now);
    vec![Cmd::Order(Order::Fork(place))]
}

/// The conversation goes on from another place: says so, and shows where, unless that stands above.
pub(super) fn moved(state: &mut State, messages: &[Arc<Message>], left: usize, is_elsewhere: bool) {
    if is_elsewhere {
        shows(state, messages, TAIL_LINES);
    }
    let text = match left {
        0 => "It goes on from here.".to_owned(),
        left => format!("It goes on from here; {} left behind, /tree leads back.", count(left as u64, "message")),
    };
    say(state, &text);
}

/// Shows the end of a conversation again.
pub(super) fn shows(state: &mut State, messages: &[Arc<Message>], lines: usize) {
    let prose = |text: &str| markdown::render(text, &state.look);
    let faded = Look { theme: state.look.theme.faded(), ..state.look };
    let shows = state.switches.reasoning;
    let thought = |text: &str| if shows { markdown::render(text, &faded) } else { Vec::new() };
    let tail = transcript::tail(messages, lines, &state.look, &prose, &thought);
    let mut blocks = tail.into_iter();
    if let Some(first) = blocks.next() {
        state.paper.print(Kind::Report, first);
        blocks.for_each(|block| state.paper.go_on(Kind::Report, block));
    }
}

/// What is to be said anew becomes the draft, if there is none and nobody writes; else it is the newest of the earlier ones.
pub(super) fn again(state: &mut State, draft: Draft) -> Vec<Cmd> {
    let waited = state.times.going.take().is_some();
    if draft.is_blank() {
        return Vec::new();
    }
    if waited && state.editor.is_empty() {
        state.editor.set(&draft);
        state.times.restored = Some(state.now);
        return keys::written(state);
    }
    set_aside(state, draft);
    Vec::new()
}

/// A key comes: a text that has just been put into the draft gives way, since nobody can have seen it, and what is typed
/// would be sent with it.
pub(super) fn unseen(state: &mut State) {
    let Some(since) = state.times.restored.take() else { return };
    if state.now < since + SEEN && !state.editor.is_empty() {
        let draft = state.editor.take();
        set_aside(state, draft);
    }
}

fn set_aside(state: &mut State, draft: Draft) {
    state.earlier.push(draft);
    news::tell(state, "What you said there is the newest of your earlier messages: up brings it.");
}
