//! The models there are: the user's own, the catalogue's of providers that have a key, those of servers on this machine.
//!
//! Runs no command for a key, shows none, and asks nobody but servers on this machine. What is wrong is told, not mended.

use std::collections::BTreeMap;

use super::choose::wanted_with;
use super::facts::Facts;
use super::key::{self, Found, RunKeys};
use super::probe::{self, Server};
use super::{Wanted, base_url, unknown, wire};
use crate::base::env::Env;
use crate::model::provider::compat::Compat;
use crate::model::{Api, ModelInfo};
use crate::product::auth::secret::Secret;
use crate::product::catalogue;
use crate::product::config::layer::Values;
use crate::product::config::naming::{REPLAY, id_of, is_known, models, own_providers, provider_named};
use crate::product::config::presets::{PRESETS, Preset, preset};
use crate::product::config::{Loaded, mask};
use crate::product::error::Error;

/// A model that can be asked for.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its provider.
    pub provider: String,
    /// Its id there.
    pub id: String,
    /// Its name for people; the id where nothing better is known.
    pub label: String,
    /// What those who ask it go by.
    pub info: ModelInfo,
    /// What is known, and what is not.
    pub facts: Facts,
    /// Who said that there is such a model.
    pub from: Place,
    /// Whether it would be asked if a task began now.
    pub is_current: bool,
}

/// Who says that there is a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The user's settings, or an option.
    Config,
    /// What is built in about its provider.
    Preset,
    /// The catalogue.
    Catalogue,
    /// A server on this machine that was asked just now.
    Server,
}

impl Place {
    /// The name in lists, for people and programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Preset => "preset",
            Self::Catalogue => "catalogue",
            Self::Server => "server",
        }
    }
}

/// Whether servers on this machine are asked what they have; that takes up to [`probe::PROBE_BUDGET`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servers {
    /// They are.
    Asked,
    /// They are not.
    Left,
}

/// Which providers' catalogues are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those of providers that have a key.
    #[default]
    Usable,
    /// All.
    All,
}

/// A provider without a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// Its name.
    pub provider: &'static str,
    /// The variable that would unlock it.
    pub variable: &'static str,
    /// How many of its models the catalogue has.
    pub models: usize,
}

/// The models there are, and what stands in the way of others.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// By provider, in the order in which one is chosen; the user's own models first.
    pub models: Vec<Listed>,
    /// Providers that have no key.
    pub locked: Vec<Locked>,
    /// What is wrong with providers: one line each, lower case, no full stop.
    pub problems: Vec<String>,
    /// Why no model would be asked if a task began now.
    pub nobody: Option<String>,
    /// How far was looked.
    pub scope: Scope,
}

/// The models that can be asked, as [`listing`] finds them.
pub fn listed(loaded: &Loaded, env: &Env, servers: Servers) -> Vec<Listed> {
    listing(loaded, env, servers, Scope::Usable).models
}

/// Looks everywhere.
pub fn listing(loaded: &Loaded, env: &Env, servers: Servers, scope: Scope) -> Listing {
    let values = &loaded.values;
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).chain(own_providers(values)).collect();
    let mut listing = Listing { scope, ..Listing::default() };
    let mut addresses = BTreeMap::new();
    for name in &names {
        match base_url(values, &plain(name)) {
            Ok(address) => drop(addresses.insert(*name, address)),
            Err(error) => listing.problems.push(error.to_string()),
        }
        listing.problems.extend(problems(values, name));
    }
    let asked: Vec<(&str, &str, Option<Secret>)> = match servers {
        Servers::Left => Vec::new(),
        Servers::Asked => {
            let here = addresses.iter().filter(|(_, address)| probe::is_here(address));
            here.map(|(name, address)| (*name, address.as_str(), key_of(loaded, env, name))).collect()
        }
    };
    let with_keys: Vec<_> =
        asked.iter().map(|(_, address, key)| (*address, key.as_ref().map(Secret::expose))).collect();
    let answers = probe::list_all(&with_keys, probe::PROBE_BUDGET);
    let mut live = BTreeMap::new();
    for ((name, address, _), answer) in asked.iter().zip(answers) {
        match answer {
            Ok(ids) => drop(live.insert(*name, ids)),
            // That nobody has started a server of the usual places is not worth a word.
            Err(_) if values.below(&["providers", name]).next().is_none() => {}
            Err(why) => {
                let address = mask::without_secrets(address);
                listing.problems.push(format!("{name} at {address} lists no models: {why}"));
            }
        }
    }
    let current = match wanted_with(loaded, env, || first(&live)) {
        Ok(wanted) if !is_known(&wanted.provider, values) => {
            listing.nobody = Some(unknown(&wanted.provider, values).to_string());
            None
        }
        Ok(wanted) => {
            let key = asked.iter().find(|(name, ..)| *name == wanted.provider).and_then(|(.., key)| key.as_ref());
            model_of(values, wanted, &live, &addresses, key.map(Secret::expose))
        }
        Err(error) => {
            listing.nobody = Some(error.to_string());
            None
        }
    };
    for name in names {
        listing.provider(loaded, env, name, live.get(name), current.as_ref());
    }
    listing
}

impl Listing {
    /// Adds what one provider has.
    fn provider(
        &mut self,
        loaded: &Loaded,
        env: &Env,
        name: &str,
        live: Option<&Vec<String>>,
        current: Option<&(String, String)>,
    ) {
        let values = &loaded.values;
        let mut found: Vec<(&str, Place)> =
            models(values, name).filter_map(id_of).map(|id| (id, Place::Config)).collect();
        let known = preset(name);
        let is_open = matches!(look(loaded, env, name), Found::Key { .. });
        if let Some(Preset { name, variable: Some(variable), .. }) = known.filter(|_| !is_open) {
            self.locked.push(Locked { provider: name, variable, models: catalogue::all(name).count() });
        }
        if is_open || self.scope == Scope::All {
            found.extend(catalogue::all(name).map(|known| (known.id, Place::Catalogue)));
            found.extend(known.and_then(|preset| preset.model).map(|id| (id, Place::Preset)));
        }
        found.extend(live.into_iter().flatten().map(|id| (id.as_str(), Place::Server)));
        let chosen = current.filter(|(provider, _)| provider == name).map(|(_, id)| id.as_str());
        found.extend(chosen.map(|id| (id, Place::Config)));
        let mut seen = std::collections::BTreeSet::new();
        for (id, from) in found.into_iter().filter(|(id, _)| seen.insert(*id)) {
            let facts = Facts::of(values, name, id);
            self.models.push(Listed {
                provider: name.to_owned(),
                id: id.to_owned(),
                label: facts.label.clone(),
                info: facts.clone().info(name, id),
                facts,
                from,
                is_current: chosen == Some(id),
            });
        }
    }
}

/// A provider that nobody has named for this run.
fn plain(name: &str) -> Wanted {
    Wanted { provider: name.to_owned(), model: None, run_keys: RunKeys::No }
}

/// Where a provider has a key, one that came with the command for whoever is named included.
fn look(loaded: &Loaded, env: &Env, name: &str) -> Found {
    let is_named = provider_named(&loaded.values).is_some_and(|(named, _)| named == name);
    let run_keys = if is_named { RunKeys::Apply } else { RunKeys::No };
    key::look(loaded, env, name, run_keys)
}

/// A provider's key, where no command has to be run for it.
fn key_of(loaded: &Loaded, env: &Env, name: &str) -> Option<Secret> {
    match look(loaded, env, name) {
        Found::Key { key, place: _ } => key,
        Found::Nowhere { .. } => None,
    }
}

/// What is wrong with a provider's entry.
fn problems(values: &Values, name: &str) -> Vec<String> {
    let at = |field: &str| values.at(&["providers", name, field]);
    let mut found = Vec::new();
    if let Some(held) = at("api") {
        let api = held.value.as_str().and_then(Api::from_name);
        found.extend(wire(api, name, &held.source.to_string()).err().map(|error: Error| error.to_string()));
    }
    if let Some((held, overrides)) = at("compat").and_then(|held| Some((held, held.value.as_object()?))) {
        let applied = Compat::default().apply(overrides);
        found.extend(applied.err().map(|problem| format!("{}: `providers.{name}.compat`: {problem}", held.source)));
    }
    let mut ids: Vec<&str> = models(values, name).filter_map(id_of).collect();
    ids.sort_unstable();
    let mut twice: Vec<&str> = ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    twice.dedup();
    let place = at("models").map(|held| held.source.to_string()).unwrap_or_default();
    let told =
        twice.iter().map(|id| format!("{place}: `providers.{name}.models` has `{id}` twice; the first one counts"));
    found.extend(told);
    found
}

/// The first of the usual servers, in their order, that lists a model.
fn first(live: &BTreeMap<&str, Vec<String>>) -> Option<Server> {
    let mut locals =
        PRESETS.iter().filter(|preset| preset.is_local()).filter_map(|preset| live.get_key_value(preset.name));
    let (provider, models) = locals.find(|(_, models)| !models.is_empty())?;
    Some(Server { provider: (*provider).to_owned(), models: models.clone() })
}

/// Provider and model that would be asked; `None` where only a server that did not answer could say which model.
fn model_of(
    values: &Values,
    wanted: Wanted,
    live: &BTreeMap<&str, Vec<String>>,
    addresses: &BTreeMap<&str, String>,
    key: Option<&str>,
) -> Option<(String, String)> {
    let Wanted { provider, model, run_keys: _ } = wanted;
    if provider == REPLAY {
        return None;
    }
    let name = provider.as_str();
    let told = || {
        let own = models(values, name).find_map(id_of);
        preset(name).and_then(|preset| preset.model).or(own).map(str::to_owned)
    };
    let served = || {
        let models = live.get(name)?;
        let address = addresses.get(name)?;
        if name == "ollama" {
            return probe::first_with_tools(address, key, models, probe::PROBE_BUDGET);
        }
        models.first().cloned()
    };
    let model = model.or_else(told).or_else(served)?;
    Some((provider, model))
}
