//! Which provider and model are asked: what is named wins, else the first with a key, else a server on this machine.
//!
//! Builds no client; what a provider is made of is in [`super`].

use std::time::Duration;

use super::key::{self, RunKeys};
use super::probe::{self, Server};
use super::{Choice, Wanted, build};
use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::kernel::event::{Notice, NoticeCode};
use crate::model::message::Origin;
use crate::product::config::Loaded;
use crate::product::config::layer::{Source, Values};
use crate::product::config::naming::{lists, model_in_force, own_providers, provider_named, specs, split};
use crate::product::config::presets::PRESETS;
use crate::product::error::Error;

/// Chooses who answers, as the settings say.
///
/// # Errors
///
/// Usage: a provider nobody knows, or one without an address or a model. Provider: no key, or nobody to ask at all.
pub fn choose(loaded: &Loaded, env: &Env, cancel: &Cancel) -> Result<Choice, Error> {
    let servers = local_servers(&loaded.values);
    let servers: Vec<_> = servers.iter().map(|(name, address)| (*name, address.as_str())).collect();
    choose_among(loaded, env, cancel, &servers, probe::PROBE_BUDGET)
}

/// [`choose`], with the servers of this machine that are looked for if nothing else can be asked.
///
/// # Errors
///
/// As [`choose`].
pub fn choose_among(
    loaded: &Loaded,
    env: &Env,
    cancel: &Cancel,
    servers: &[(&str, &str)],
    budget: Duration,
) -> Result<Choice, Error> {
    let wanted = wanted_with(loaded, env, || probe::probe(servers, budget))?;
    let model = model_in_force(&loaded.values);
    let fallbacks = model.map(|held| specs(&held.value).skip(1).map(str::to_owned).collect()).unwrap_or_default();
    let mut choice = build(loaded, env, &wanted, cancel)?;
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

/// The provider, and perhaps the model, that the settings ask for; nothing is asked but servers of this machine, where
/// nobody else can be.
///
/// # Errors
///
/// As [`wanted_with`].
pub fn wanted(loaded: &Loaded, env: &Env) -> Result<Wanted, Error> {
    wanted_with(loaded, env, || {
        let servers = local_servers(&loaded.values);
        let servers: Vec<_> = servers.iter().map(|(name, address)| (*name, address.as_str())).collect();
        probe::probe(&servers, probe::PROBE_BUDGET)
    })
}

/// Who the settings name, or who has a key, or the server that `find` finds on this machine; nothing is run to find out.
///
/// # Errors
///
/// Usage: an address that belongs to nobody. Provider: nobody to ask at all.
pub fn wanted_with(loaded: &Loaded, env: &Env, find: impl FnOnce() -> Option<Server>) -> Result<Wanted, Error> {
    let spec = model_in_force(&loaded.values).and_then(|held| specs(&held.value).next());
    match (provider_named(&loaded.values), spec) {
        (Some((provider, rank)), Some(spec)) => Ok(with_both(&loaded.values, provider, rank, spec)),
        (Some((provider, _)), None) => Ok(named(provider, None)),
        (None, spec) => {
            if let Some(held) = loaded.values.get("base_url") {
                return Err(Error::usage(format!("{}: `base_url` is set, but no provider is named", held.source))
                    .hint("name the provider whose wire the server speaks, such as `--provider openai`"));
            }
            without_provider(loaded, env, spec, find)
        }
    }
}

/// Another model for a session that began with `start`: an id that provider lists, `provider/id`, or any id of it. The
/// keys that came with the command stay with the provider named at start.
///
/// # Errors
///
/// As [`choose`].
pub fn choose_named(loaded: &Loaded, env: &Env, cancel: &Cancel, spec: &str, start: &Choice) -> Result<Choice, Error> {
    let (provider, id) = split(spec, Some(&start.provider), &loaded.values);
    let provider = provider.unwrap_or(&start.provider);
    choose_exactly(loaded, env, cancel, &Origin { provider: provider.to_owned(), model: id.to_owned() }, start)
}

/// [`choose_named`], where provider and id are known.
///
/// # Errors
///
/// As [`choose`].
pub fn choose_exactly(
    loaded: &Loaded,
    env: &Env,
    cancel: &Cancel,
    origin: &Origin,
    start: &Choice,
) -> Result<Choice, Error> {
    let Origin { provider, model } = origin.clone();
    let run_keys = if provider == start.provider { start.run_keys } else { RunKeys::No };
    build(loaded, env, &Wanted { provider, model: Some(model), run_keys }, cancel)
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
    find: impl FnOnce() -> Option<Server>,
) -> Result<Wanted, Error> {
    let values = &loaded.values;
    if let Some(spec) = spec {
        if let (Some(provider), id) = split(spec, None, values) {
            return Ok(named(provider, Some(id)));
        }
        // A project must not choose the provider by an id that only another one lists.
        let is_projects = values.get("model").is_some_and(|held| matches!(held.source, Source::Project(_)));
        let preset_with = PRESETS.iter().find(|preset| preset.model == Some(spec)).map(|preset| preset.name);
        let has = |name: &&str| lists(values, name, spec);
        let listing = own_providers(values)
            .into_iter()
            .find(has)
            .or_else(|| PRESETS.iter().map(|preset| preset.name).find(has).or(preset_with));
        if let Some(provider) = listing.filter(|_| !is_projects) {
            return Ok(named(provider, Some(spec)));
        }
    }
    let clouds = PRESETS.iter().filter(|preset| !preset.is_local()).map(|preset| preset.name);
    let found = |provider: &str, model: Option<&str>| Wanted { run_keys: RunKeys::No, ..named(provider, model) };
    if let Some(provider) = clouds.chain(own_providers(values)).find(|name| key::is_there(loaded, env, name)) {
        return Ok(found(provider, spec));
    }
    match find() {
        Some(server) => {
            let listed = spec.filter(|spec| server.models.iter().any(|model| model == spec));
            Ok(found(&server.provider, listed))
        }
        None => Err(nobody(loaded)),
    }
}

/// The servers of this machine that are looked for, with the addresses they are configured at.
pub fn local_servers(values: &Values) -> Vec<(&'static str, String)> {
    let locals = PRESETS.iter().filter(|preset| preset.is_local());
    let address = |name| values.at(&["providers", name, "base_url"]).and_then(|held| held.value.as_str());
    locals.map(|preset| (preset.name, address(preset.name).unwrap_or(preset.base_url).to_owned())).collect()
}

/// How many hints say how to begin where nobody can be asked; one behind them says what was set in vain.
pub const FIRST_STEPS: usize = 3;

fn nobody(loaded: &Loaded) -> Error {
    let error = Error::nobody("there is no model to ask: no provider is named, no key was found, and no server on this machine answers")
        .hint("set a provider's key, such as `export ANTHROPIC_API_KEY=…` (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY), or keep it with `agent auth login anthropic`, and run this again")
        .hint("or start a server on this machine, such as `ollama serve`: it is found by itself")
        .hint("or run `agent demo` to see a task done, without a key or a network");
    match &loaded.run_key {
        Some(run) => error.hint(format!("{} is set, but chooses no provider: name one with --provider", run.place)),
        None => error,
    }
}
