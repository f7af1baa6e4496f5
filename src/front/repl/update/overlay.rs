//! What lies over the prompt: completion, lists to choose from, a search.

use std::sync::Arc;

use crate::base::text::width::width;
use crate::front::command::slash::{self, Arguments};
use crate::front::repl::complete::index::Found;
use crate::front::repl::complete::picker::{Item, Picker, PickerOutcome};
use crate::front::repl::complete::word::{self, Kind, Word};
use crate::front::repl::complete::{Accepted, By, Candidate, Completion, Next, Then};
use crate::front::repl::editor::search::Search;
use crate::front::repl::key::action::{Action, Edit};
use crate::front::repl::key::{Code, Key};
use crate::front::repl::message::{Cmd, Offer};
use crate::front::repl::models::Offered;
use crate::front::repl::state::{Choice, Overlay, State};
use crate::model::message::Origin;

use super::{command, helpers, model, send, shelf, tree, undo};

/// A key while something lies over the prompt. `None`: it is not for that.
pub(super) fn pressed(state: &mut State, key: Key) -> Option<Vec<Cmd>> {
    if matches!(state.keymap.action(key), Some(Action::Suspend | Action::Redraw)) {
        return None;
    }
    match &mut state.overlay {
        Overlay::None => None,
        Overlay::Completion(_) => completion_key(state, key),
        Overlay::Picker(picker, _) => match picker.key(key) {
            PickerOutcome::Open => Some(Vec::new()),
            PickerOutcome::Closed => {
                state.overlay = Overlay::None;
                Some(Vec::new())
            }
            PickerOutcome::Chosen(number) => Some(chosen(state, number)),
        },
        Overlay::Search(_) => search_key(state, key),
        Overlay::Tree(..) => Some(tree::pressed(state, key)),
        Overlay::Shelf(..) => Some(shelf::pressed(state, key)),
        Overlay::Confirm(..) => Some(undo::pressed(state, key)),
    }
}

/// A key during a search: what is no part of it takes what was found, and does what it always does.
fn search_key(state: &mut State, key: Key) -> Option<Vec<Cmd>> {
    let Overlay::Search(search) = &mut state.overlay else { return None };
    match (state.keymap.action(key), key.code) {
        (Some(Action::Search), _) => search.older(&state.earlier),
        (Some(Action::Stop | Action::Interrupt | Action::External | Action::Leave), _) | (_, Code::Esc) => {
            state.overlay = Overlay::None;
        }
        (Some(Action::Edit(Edit::DeleteLeft)), _) | (_, Code::Backspace) => search.pop(&state.earlier),
        (_, code) => match key.typed() {
            Some(letter) => search.push(letter.encode_utf8(&mut [0; 4]), &state.earlier),
            None => {
                take_found(state);
                return if code == Code::Enter { Some(Vec::new()) } else { None };
            }
        },
    }
    Some(Vec::new())
}

/// Ends the search; what was found is the draft now.
fn take_found(state: &mut State) {
    if let Overlay::Search(search) = std::mem::replace(&mut state.overlay, Overlay::None)
        && search.take(&mut state.editor, &state.earlier)
    {
        state.times.draft = Some(state.now);
    }
}

fn completion_key(state: &mut State, key: Key) -> Option<Vec<Cmd>> {
    let Overlay::Completion(completion) = &mut state.overlay else { return None };
    if completion.rows().is_empty() {
        return None;
    }
    if [Key::plain(Code::Up), Key::ctrl('p')].contains(&key) {
        completion.up();
    } else if [Key::plain(Code::Down), Key::ctrl('n')].contains(&key) {
        completion.down();
    } else if key == Key::plain(Code::Tab) {
        let accepted = completion.accept(By::Tab);
        return Some(accepted.map_or_else(Vec::new, |accepted| accept(state, &accepted)));
    } else if key == Key::plain(Code::Enter) {
        let accepted = completion.accept(By::Enter)?;
        return Some(accept(state, &accepted));
    } else if key == Key::plain(Code::Esc) {
        return Some(close(state));
    } else {
        return None;
    }
    Some(Vec::new())
}

fn accept(state: &mut State, accepted: &Accepted) -> Vec<Cmd> {
    let Accepted { range, text, caret, next } = accepted;
    let is_path = matches!(&state.overlay, Overlay::Completion(completion) if completion.word().kind == Kind::Path);
    state.editor.replace(range.clone(), text, *caret);
    state.times.draft = Some(state.now);
    let mut cmds = Vec::new();
    if is_path {
        cmds.push(Cmd::Found(text.trim().to_owned()));
    }
    cmds.extend(match next {
        Next::Close => close(state),
        Next::Complete => look(state),
        Next::Submit => {
            let mut cmds = close(state);
            cmds.extend(send::submit(state));
            cmds
        }
    });
    cmds
}

/// Nothing is completed any more.
#[must_use]
pub(super) fn close(state: &mut State) -> Vec<Cmd> {
    let rests = matches!(&state.overlay, Overlay::Completion(completion) if completion.word().kind == Kind::Path);
    match state.overlay {
        Overlay::Completion(_) => state.overlay = Overlay::None,
        Overlay::None
        | Overlay::Picker(..)
        | Overlay::Search(_)
        | Overlay::Tree(..)
        | Overlay::Shelf(..)
        | Overlay::Confirm(..) => {}
    }
    if rests { vec![Cmd::FindNothing] } else { Vec::new() }
}

/// The draft has changed, or the caret has moved: what is open follows, and what can be completed opens.
pub(super) fn look(state: &mut State) -> Vec<Cmd> {
    match &state.overlay {
        Overlay::Picker(..) | Overlay::Search(_) | Overlay::Tree(..) | Overlay::Shelf(..) | Overlay::Confirm(..) => {
            return Vec::new();
        }
        Overlay::None | Overlay::Completion(_) => {}
    }
    match word::at(&state.editor.draft(), state.editor.caret()) {
        Some(word) => complete(state, word),
        None => close(state),
    }
}

/// Tab asks for a completion that did not open by itself.
pub(super) fn ask_for(state: &mut State) -> Vec<Cmd> {
    look(state)
}

fn complete(state: &mut State, word: Word) -> Vec<Cmd> {
    let query = word.query.clone();
    let is_path = word.kind == Kind::Path;
    let is_command = word.kind == Kind::Command;
    let mut opens = false;
    let asks = is_model(&word);
    match &mut state.overlay {
        Overlay::Completion(completion) if completion.is_for(&word) => completion.retype(word),
        Overlay::None
        | Overlay::Completion(_)
        | Overlay::Picker(..)
        | Overlay::Search(_)
        | Overlay::Tree(..)
        | Overlay::Shelf(..)
        | Overlay::Confirm(..) => {
            let completion = match candidates(state, &word.kind) {
                Some(candidates) => Completion::of(word, candidates),
                None => Completion::paths(word),
            };
            state.overlay = Overlay::Completion(completion);
            opens = true;
        }
    }
    if asks && opens {
        return vec![Cmd::ListModels];
    }
    if is_command && opens {
        return vec![Cmd::ListOffers];
    }
    if !is_path {
        return Vec::new();
    }
    state.generation += 1;
    vec![Cmd::Find { generation: state.generation, query }]
}

/// What a word may become; `None` for what is looked for on the disk.
fn candidates(state: &State, kind: &Kind) -> Option<Vec<Candidate>> {
    Some(match kind {
        Kind::Path => return None,
        Kind::Command => {
            let built_in = slash::COMMANDS.iter().map(|command| described(state, command));
            built_in.chain(state.offers.iter().map(called)).collect()
        }
        Kind::Argument(name) => match slash::find(name).map(|command| command.arguments) {
            Some(Arguments::Words { words, .. }) => {
                words.iter().map(|word| Candidate::new(*word, Then::Whole)).collect()
            }
            Some(Arguments::Themes) => {
                state.palette.names.iter().map(|name| Candidate::new(name.clone(), Then::Whole)).collect()
            }
            Some(Arguments::Models) => offered(state),
            Some(Arguments::None | Arguments::Text { .. } | Arguments::Sessions) | None => Vec::new(),
        },
    })
}

fn described(state: &State, command: &slash::Slash) -> Candidate {
    let value = match command.action {
        slash::Action::Permissions => state.session.as_ref().map(|session| session.rights.word().to_owned()),
        slash::Action::Theme => Some(state.palette.name.clone()),
        slash::Action::Model => state.session.as_ref().map(|session| session.info.label.clone()),
        slash::Action::Help
        | slash::Action::Tools
        | slash::Action::New
        | slash::Action::Resume
        | slash::Action::Sessions
        | slash::Action::Tree
        | slash::Action::Fork
        | slash::Action::Name
        | slash::Action::Label
        | slash::Action::Undo
        | slash::Action::Redo
        | slash::Action::Export
        | slash::Action::Context
        | slash::Action::Compact
        | slash::Action::Cost
        | slash::Action::Copy
        | slash::Action::Config
        | slash::Action::Keys
        | slash::Action::Doctor
        | slash::Action::Clear
        | slash::Action::Effort
        | slash::Action::Plan
        | slash::Action::Init
        | slash::Action::Rules
        | slash::Action::Skills
        | slash::Action::Chains
        | slash::Action::Chain
        | slash::Action::Agents
        | slash::Action::Jobs
        | slash::Action::Remember
        | slash::Action::Memory
        | slash::Action::Exit => None,
    };
    let then = if command.arguments == Arguments::None { Then::Whole } else { Then::Words };
    Candidate {
        aliases: command.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        help: command.help.to_owned(),
        value: value.unwrap_or_default(),
        ..Candidate::new(command.name, then)
    }
}

/// A command that is not built in.
fn called(offer: &Offer) -> Candidate {
    let then = if offer.hint.is_empty() { Then::Whole } else { Then::Words };
    // Skills are found by their own name, too.
    let aliases = offer.name.strip_prefix("skill:").map(str::to_owned).into_iter().collect();
    Candidate {
        aliases,
        help: offer.help.clone(),
        value: offer.hint.clone(),
        ..Candidate::new(offer.name.clone(), then)
    }
}

/// The commands that are not built in have come; a list that is open has them, too.
pub(super) fn offers(state: &mut State, offers: Vec<Offer>) -> Vec<Cmd> {
    if state.offers == offers {
        return Vec::new();
    }
    state.offers = offers;
    if let Overlay::Completion(completion) = &state.overlay
        && completion.word().kind == Kind::Command
        && completion.is_untouched()
    {
        // With the candidates it has now; they are not asked for again.
        state.overlay = Overlay::None;
        let mut cmds = look(state);
        cmds.retain(|cmd| !matches!(cmd, Cmd::ListOffers));
        return cmds;
    }
    Vec::new()
}

/// Files were found.
pub(super) fn found(state: &mut State, found: Found) -> Vec<Cmd> {
    if let Overlay::Completion(completion) = &mut state.overlay
        && completion.word().kind == Kind::Path
        && found.generation == state.generation
    {
        completion.found(found.rows, found.total, found.extent);
    }
    Vec::new()
}

/// Opens the search through earlier drafts.
pub(super) fn search(state: &mut State) {
    state.overlay = Overlay::Search(Search::default());
}

/// Whether a word that is being written names a model.
fn is_model(word: &Word) -> bool {
    match &word.kind {
        Kind::Argument(name) => slash::find(name).is_some_and(|command| command.arguments == Arguments::Models),
        Kind::Command | Kind::Path => false,
    }
}

/// The models that can be used, as a word may become one.
fn offered(state: &State) -> Vec<Candidate> {
    let current = state.session.as_ref().map(|session| &session.info.origin);
    let candidate = |offered: &Offered| {
        let Origin { provider, model } = offered.info.origin.as_ref();
        let whole = format!("{provider}/{model}");
        let is_own = current.is_some_and(|current| current.provider == *provider);
        let (text, alias) = if is_own { (model.clone(), whole) } else { (whole, model.clone()) };
        let value = offered.price();
        Candidate { aliases: vec![alias], help: offered.window(), value, ..Candidate::new(text, Then::Whole) }
    };
    state.models.iter().flatten().map(candidate).collect()
}

/// The models have come: they complete a word that waits for them, or are a list to choose from.
pub(super) fn models(state: &mut State) -> Vec<Cmd> {
    if let Overlay::Completion(completion) = &state.overlay {
        if is_model(completion.word()) {
            // With the candidates it has now; they are not asked for again.
            state.overlay = Overlay::None;
            let mut cmds = look(state);
            cmds.retain(|cmd| !matches!(cmd, Cmd::ListModels));
            return cmds;
        }
        return Vec::new();
    }
    if state.times.models.take().is_none() {
        return Vec::new();
    }
    let models = state.models.clone().unwrap_or_default();
    if models.is_empty() {
        command::say(
            state,
            "No other model can be used; a provider needs a key, or a server on this machine has to run.",
        );
        return Vec::new();
    }
    let current = state.session.as_ref().map(|session| Arc::clone(&session.info.origin));
    let columns = |text: &dyn Fn(&Offered) -> String| models.iter().map(|one| width(&text(one))).max().unwrap_or(0);
    let (providers, windows) = (columns(&|one| one.info.origin.provider.clone()), columns(&Offered::window));
    let item = |offered: &Offered| {
        let Origin { provider, model } = offered.info.origin.as_ref();
        let in_use = if current.as_ref() == Some(&offered.info.origin) { "in use, " } else { "" };
        let detail = format!("{provider:<providers$}  {:>windows$}  {in_use}{}", offered.window(), offered.from);
        Item { label: model.clone(), detail, right: offered.price(), key: format!("{provider}/{model}") }
    };
    let items: Vec<Item> = models.iter().map(item).collect();
    let specs = items.iter().map(|item| item.key.clone()).collect();
    let place = models.iter().position(|offered| current.as_ref() == Some(&offered.info.origin));
    let picker = Picker::new("who answers", items).at(place.unwrap_or(0));
    state.overlay = Overlay::Picker(picker, Choice::Models(specs));
    Vec::new()
}

/// Opens the list of themes.
pub(super) fn themes(state: &mut State) {
    let items = state.palette.names.iter().map(|name| item(name, ""));
    let place = state.palette.names.iter().position(|name| *name == state.palette.name);
    let picker = Picker::new("colours", items.collect()).at(place.unwrap_or(0));
    state.overlay = Overlay::Picker(picker, Choice::Themes);
}

/// Opens the list of grants.
pub(super) fn grants(state: &mut State) {
    let items = GRANTS.iter().map(|(word, help)| item(word, help));
    let now = state.session.as_ref().map(|session| session.rights.word());
    let place = GRANTS.iter().position(|(word, _)| Some(*word) == now);
    // Where nothing is settled yet, Enter settles the least.
    let picker = Picker::new("what may run unasked", items.collect()).at(place.unwrap_or(GRANTS.len() - 1));
    state.overlay = Overlay::Picker(picker, Choice::Grants);
}

/// Arguments of `/permissions`, and what they mean.
const GRANTS: [(&str, &str); 5] = [
    ("all", "everything"),
    ("write", "reading and writing files, no commands"),
    ("safe", "only what changes nothing"),
    ("none", "no tools at all"),
    ("ask", "only what changes nothing; every other call is asked about"),
];

fn item(label: &str, detail: &str) -> Item {
    Item { label: label.to_owned(), detail: detail.to_owned(), right: String::new(), key: String::new() }
}

fn chosen(state: &mut State, number: usize) -> Vec<Cmd> {
    let overlay = std::mem::replace(&mut state.overlay, Overlay::None);
    let Overlay::Picker(_, choice) = overlay else { return Vec::new() };
    match choice {
        Choice::Rollback(outline, places) => {
            places.get(number).map_or_else(Vec::new, |place| tree::go(state, &outline, *place))
        }
        Choice::Models(specs) => specs.get(number).map_or_else(Vec::new, |spec| model::choose(state, spec)),
        Choice::Themes => state.palette.names.get(number).cloned().map_or_else(Vec::new, |name| vec![Cmd::Theme(name)]),
        Choice::Helpers(places) => places.get(number).map_or_else(Vec::new, |place| helpers::chosen(state, place)),
        Choice::Grants => GRANTS.get(number).map_or_else(Vec::new, |(word, _)| command::permissions(state, word)),
    }
}
