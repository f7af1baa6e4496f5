//! Which provider and model are asked: what is named wins, else the first with a key, else a server on this machine.
//!
//! Builds no client; what a provider is made of is in [`super::provider`].

use std::time::Duration;

use serde_json::Value;

use super::layer::{Held, Source, Values};
use super::presets::{PRESETS, preset};
use super::provider::{self, Choice, Wanted};
use super::{Loaded, probe};
use crate::base::env::Env;
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::auth::{self, RunKeys};
use crate::product::error::Error;

/// The provider that answers from a recorded session; its model is the record's path.
pub const REPLAY: &str = "replay";

/// Chooses who answers, as the settings say.
///
/// # Errors
///
/// Usage: a provider nobody knows, or one without an address or a model. Provider: no key, or nobody to ask at all.
pub fn choose(loaded: &Loaded, env: &Env) -> Result<Choice, Error> {
    let servers = local_servers(&loaded.values);
    let servers: Vec<_> = servers.iter().map(|(name, address)| (*name, address.as_str())).collect();
    choose_among(loaded, env, &servers, probe::PROBE_BUDGET)
}

/// [`choose`], with the servers of this machine that are looked for if nothing else can be asked.
///
/// # Errors
///
/// As [`choose`].
pub fn choose_among(loaded: &Loaded, env: &Env, servers: &[(&str, &str)], budget: Duration) -> Result<Choice, Error> {
    let model = model_in_force(&loaded.values);
    let spec = model.and_then(|held| specs(&held.value).next());
    let wanted = match (provider_named(&loaded.values), spec) {
        (Some((provider, rank)), Some(spec)) => with_both(&loaded.values, provider, rank, spec),
        (Some((provider, _)), None) => named(provider, None),
        (None, spec) => {
            if let Some(held) = loaded.values.get("base_url") {
                return Err(Error::usage(format!("{}: `base_url` is set, but no provider is named", held.source))
                    .hint("name the provider whose wire the server speaks, such as `--provider openai`"));
            }
            without_provider(loaded, env, spec, servers, budget)?
        }
    };
    let fallbacks = model.map(|held| specs(&held.value).skip(1).map(str::to_owned).collect()).unwrap_or_default();
    let mut choice = provider::build(loaded, env, &wanted)?;
    choice.fallbacks = fallbacks;
    if let (Some(run), RunKeys::No) = (&loaded.run_key, wanted.run_keys) {
        let text = format!(
            "{} is not used: it belongs to a provider that is named, and {} was found by its own key or address. Name one with --provider.",
            run.place, choice.provider
        );
        choice.notices.push(Notice::new(NoticeCode::Config, text));
    }
    Ok(choice)
}

/// Another model for a session that began with `start`: an id that provider lists, `provider/id`, or any id of it. The
/// keys that came with the command stay with the provider named at start.
///
/// # Errors
///
/// As [`choose`].
pub fn choose_named(loaded: &Loaded, env: &Env, spec: &str, start: &Choice) -> Result<Choice, Error> {
    let (provider, id) = split(spec, Some(&start.provider), &loaded.values);
    let provider = provider.unwrap_or(&start.provider).to_owned();
    let run_keys = if provider == start.provider { start.run_keys } else { RunKeys::No };
    provider::build(loaded, env, &Wanted { provider, model: Some(id.to_owned()), run_keys })
}

/// The models a value of `model` names, in order.
pub fn specs(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    value.as_str().into_iter().chain(list.iter().filter_map(Value::as_str))
}

/// Whether a model is one of the provider in use, as far as `values` say who that is.
pub fn stays(spec: &str, values: &Values) -> bool {
    let current = provider_named(values).map(|(provider, _)| provider);
    split(spec, current, values).0 == current
}

/// Whether a provider of this name is known.
pub fn is_known(name: &str, values: &Values) -> bool {
    name == REPLAY || preset(name).is_some() || is_configured(name, values)
}

/// The providers of the user's own that are no presets, sorted by name.
pub fn own_providers(values: &Values) -> Vec<&str> {
    let paths = values.below(&["providers"]).filter_map(|(path, _)| path.get(1));
    let mut names: Vec<_> = paths.map(String::as_str).collect();
    names.dedup();
    names.retain(|name| preset(name).is_none());
    names
}

fn is_configured(name: &str, values: &Values) -> bool {
    values.below(&["providers", name]).next().is_some()
}

/// Parts `provider/id` from an id with a slash in it.
fn split<'a>(spec: &'a str, current: Option<&'a str>, values: &Values) -> (Option<&'a str>, &'a str) {
    if current.is_some_and(|provider| provider::lists(values, provider, spec)) {
        return (current, spec);
    }
    match spec.split_once('/') {
        Some((provider, id)) if !id.is_empty() && is_known(provider, values) => (Some(provider), id),
        Some(_) | None => (current, spec),
    }
}

/// The provider that is named, and by which layer.
fn provider_named(values: &Values) -> Option<(&str, u8)> {
    let held = values.get("provider")?;
    Some((held.value.as_str()?, held.source.rank()))
}

/// The provider that was named when the layer of this rank was written.
pub(super) fn provider_at(values: &Values, rank: u8) -> Option<&str> {
    let said = values.get("provider")?.said.iter().rev();
    said.skip_while(|(source, _)| source.rank() > rank).map(|(_, value)| value.as_str()).next()?
}

/// The value of `model`, unless a later layer changed the provider it was written for; what a preset says is a default.
fn model_in_force(values: &Values) -> Option<&Held> {
    let held = values.get("model").filter(|held| !matches!(held.source, Source::Preset(_)))?;
    let Some((provider, rank)) = provider_named(values) else { return Some(held) };
    if rank <= held.source.rank() {
        return Some(held);
    }
    let meant = match provider_at(values, held.source.rank()) {
        Some(before) => before == provider,
        None => specs(&held.value)
            .next()
            .is_some_and(|spec| split(spec, Some(provider), values).0.is_none_or(|named| named == provider)),
    };
    meant.then_some(held)
}

/// With `--provider`, `-m` is taken whole; else it may name another provider.
fn with_both(values: &Values, provider: &str, rank: u8, spec: &str) -> Wanted {
    let is_whole = values.get("model").is_some_and(|held| held.source.rank() <= rank && held.value.is_string());
    if is_whole {
        return named(provider, Some(spec));
    }
    let (chosen, id) = split(spec, Some(provider), values);
    named(chosen.unwrap_or(provider), Some(id))
}

fn named(provider: &str, model: Option<&str>) -> Wanted {
    Wanted { provider: provider.to_owned(), model: model.map(str::to_owned), run_keys: RunKeys::Apply }
}

fn without_provider(
    loaded: &Loaded,
    env: &Env,
    spec: Option<&str>,
    servers: &[(&str, &str)],
    budget: Duration,
) -> Result<Wanted, Error> {
    let values = &loaded.values;
    if let Some(spec) = spec {
        if let (Some(provider), id) = split(spec, None, values) {
            return Ok(named(provider, Some(id)));
        }
        // A project must not choose the provider by an id that only another one lists.
        let is_projects = values.get("model").is_some_and(|held| matches!(held.source, Source::Project(_)));
        let preset_with = PRESETS.iter().find(|preset| preset.model == Some(spec)).map(|preset| preset.name);
        let lists = |name: &&str| provider::lists(values, name, spec);
        let listing = own_providers(values)
            .into_iter()
            .find(lists)
            .or_else(|| PRESETS.iter().map(|preset| preset.name).find(lists).or(preset_with));
        if let Some(provider) = listing.filter(|_| !is_projects) {
            return Ok(named(provider, Some(spec)));
        }
    }
    let clouds = PRESETS.iter().filter(|preset| !preset.is_local()).map(|preset| preset.name);
    let found = |provider: &str, model: Option<&str>| Wanted { run_keys: RunKeys::No, ..named(provider, model) };
    if let Some(provider) = clouds.chain(own_providers(values)).find(|name| auth::has_own_key(loaded, env, name)) {
        return Ok(found(provider, spec));
    }
    match probe::probe(servers, budget) {
        Some(server) => {
            let listed = spec.filter(|spec| server.models.iter().any(|model| model == spec));
            Ok(found(&server.provider, listed))
        }
        None => Err(nobody(loaded)),
    }
}

/// The servers of this machine that are looked for, with the addresses they are configured at.
fn local_servers(values: &Values) -> Vec<(&'static str, String)> {
    let locals = PRESETS.iter().filter(|preset| preset.is_local());
    let address = |name| values.at(&["providers", name, "base_url"]).and_then(|held| held.value.as_str());
    locals.map(|preset| (preset.name, address(preset.name).unwrap_or(preset.base_url).to_owned())).collect()
}

fn nobody(loaded: &Loaded) -> Error {
    let error = Error::provider("there is no model to ask: no provider is named, no key was found, and no server on this machine answers")
        .hint("set a provider's key, such as `export ANTHROPIC_API_KEY=…` (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY), and run this again")
        .hint("or start a server on this machine, such as `ollama serve`: it is found by itself")
        .hint("or run `agent demo` to see a task done, without a key or a network");
    match &loaded.run_key {
        Some(run) => error.hint(format!("{} is set, but chooses no provider: name one with --provider", run.place)),
        None => error,
    }
}
