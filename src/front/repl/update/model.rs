//! Who answers, and how hard it thinks: what `/model` and `/effort` do.

use std::sync::Arc;

use crate::front::repl::message::{Cmd, Order};
use crate::front::repl::models::{Offered, origins};
use crate::front::repl::state::State;
use crate::front::repl::view::status::StatusEvent;
use crate::kernel::event::Notice;
use crate::model::ModelInfo;
use crate::model::message::Origin;
use crate::model::request::Effort;
use crate::product::error::Error;
use crate::product::provider::named::meant;

use super::command::say;
use super::{news, overlay};

/// `/model`: has a model chosen, or takes the one that is named.
pub(super) fn model(state: &mut State, argument: &str) -> Vec<Cmd> {
    if argument.is_empty() {
        state.times.models = Some(state.now);
        return vec![Cmd::ListModels];
    }
    if let (Some(models), Some(session)) = (&state.models, &state.session)
        // Whether there is such a provider is known where it is built.
        && let Err(error) = meant(argument, &origins(models), &session.info.origin, |_| true)
    {
        news::fail(state, &error);
        return Vec::new();
    }
    choose(state, argument)
}

/// Has this model answer: from here on, or from the next request of what runs.
pub(super) fn choose(state: &mut State, spec: &str) -> Vec<Cmd> {
    change(state, Some(spec));
    let spec = spec.to_owned();
    // The agent's thread hears of nothing else while it works.
    vec![if state.task.is_some() { Cmd::Change(spec) } else { Cmd::Order(Order::Model(spec)) }]
}

/// The models to choose from are known.
pub(super) fn listed(state: &mut State, models: Vec<Offered>) -> Vec<Cmd> {
    state.models = Some(models);
    overlay::models(state)
}

/// Another model answers.
pub(super) fn switched(state: &mut State, info: ModelInfo, notices: &[Notice]) {
    let from = if state.task.is_some() { "its next call" } else { "now" };
    let offered = Offered { info: info.clone(), from: String::new() };
    let facts = [info.origin.provider.clone(), offered.window(), offered.price()];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let mut told = vec![format!("{} answers from {from} on ({}).", info.label, facts.join(", "))];
    let tokens = state.status.tokens();
    if info.window.is_some_and(|window| tokens >= window) {
        told.push(format!("The conversation so far is larger than its window of {}.", offered.window()));
    }
    if let Some(effort) = state.effort.filter(|effort| *effort != Effort::Off && !info.reasoning) {
        told.push(format!(
            "The effort stays {}, but {} is not known to think before it answers.",
            word(effort),
            info.label
        ));
    }
    told.extend(notices.iter().map(|notice| notice.text.clone()));
    if let Some(session) = &mut state.session {
        session.info = info;
    }
    told.iter().for_each(|text| say(state, text));
    if state.task.is_none() {
        settled(state);
    }
}

/// A request goes to a model: the one that was chosen, or one that goes on where that has failed.
pub(super) fn asked(state: &mut State, origin: &Arc<Origin>, label: &str, window: Option<u64>) {
    let Some(session) = state.session.as_mut().filter(|session| session.info.origin == *origin || !state.changing)
    else {
        return;
    };
    if session.info.origin != *origin {
        session.info.origin = Arc::clone(origin);
        (session.info.label, session.info.window) = (label.to_owned(), window);
    }
    change(state, None);
}

/// Nothing runs: who was chosen last answers next.
pub(super) fn settled(state: &mut State) {
    let Some(session) = state.session.as_ref().filter(|_| state.changing) else { return };
    let ModelInfo { label, window, .. } = &session.info;
    state.status.emit(StatusEvent::Model { label: label.clone(), window: *window });
    change(state, None);
}

/// Who is to answer next, if that is another one.
fn change(state: &mut State, next: Option<&str>) {
    state.changing = next.is_some();
    state.status.emit(StatusEvent::NextModel(next.map(str::to_owned)));
}

/// The model stays the one it was.
pub(super) fn not_switched(state: &mut State, error: &Error) {
    change(state, None);
    news::fail(state, error);
}

/// The levels of `/effort`.
const EFFORTS: [(&str, Effort); 5] = [
    ("off", Effort::Off),
    ("minimal", Effort::Minimal),
    ("low", Effort::Low),
    ("medium", Effort::Medium),
    ("high", Effort::High),
];

fn word(effort: Effort) -> &'static str {
    EFFORTS.iter().find(|(_, known)| *known == effort).map_or("", |(word, _)| word)
}

/// `/effort`: how hard the model thinks from the next message on.
pub(super) fn effort(state: &mut State, argument: &str) -> Vec<Cmd> {
    let label = state.session.as_ref().map_or_else(|| "the model".to_owned(), |session| session.info.label.clone());
    let Some((_, effort)) = EFFORTS.iter().find(|(word, _)| *word == argument) else {
        let now = state.effort.map_or("as its provider has it", word);
        say(state, &format!("How hard {label} thinks: {now}. /effort off, minimal, low, medium or high changes that."));
        return Vec::new();
    };
    state.effort = Some(*effort);
    state.status.emit(StatusEvent::Effort(Some(*effort)));
    say(state, &format!("From the next message on the model thinks with effort {argument}."));
    let thinks = state.session.as_ref().is_none_or(|session| session.info.reasoning);
    if !thinks && *effort != Effort::Off {
        say(state, &format!("{label} is not known to think before it answers; it may take no notice, or refuse."));
    }
    vec![Cmd::Order(Order::Effort(*effort))]
}
