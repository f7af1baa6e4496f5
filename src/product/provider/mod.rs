//! Who answers: a provider made of its preset and the user's settings, with address, wire, headers, key and model.
//!
//! The settings are read elsewhere; here is what has to run a command or ask a server of this machine for it.

pub mod check;
pub mod choose;
mod command;
pub mod facts;
pub mod key;
pub mod listing;
pub mod named;
pub mod network;
pub mod probe;
pub mod served;

use serde_json::Value;

use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::base::json::Object;
use crate::base::secret::is_secret_field;
use crate::base::text::likeness::closest;
use crate::base::text::visible;
use crate::kernel::event::{Notice, NoticeCode};
use crate::model::replay::Pace;
use crate::model::{Api, ModelInfo};
use crate::product::auth::secret::Secret;
use crate::product::catalogue;
use crate::product::config::layer::Values;
use crate::product::config::naming::{REPLAY, id_of, is_known, models, own_providers, provider_at};
use crate::product::config::presets::{PRESETS, Preset, preset};
use crate::product::config::{Loaded, mask};
use crate::product::error::Error;
use facts::Facts;
use key::RunKeys;
use served::Served;

pub use listing::{Listed, Place, Servers, listed};

/// Everything needed to ask a model.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The provider's name.
    pub provider: String,
    /// The model's id there; with [`Api::Replay`] the absolute path of the record.
    pub model: String,
    /// The wire.
    pub api: Api,
    /// The address before the wire's own path, without a slash at its end; empty with [`Api::Replay`].
    pub base_url: String,
    /// Headers sent with every request: the user's own, and what is built in about the provider.
    pub headers: Vec<(String, String)>,
    /// How the provider differs from its wire, as configured.
    pub compat: Object,
    /// The key; `None` where none is wanted.
    pub key: Option<Secret>,
    /// What is known about the model.
    pub info: ModelInfo,
    /// What a server on this machine says about the model; `None` of any other, and where nothing was learnt.
    pub served: Option<Served>,
    /// Whether it is a server on this machine that is known by name; such ones may write calls as text.
    pub local: bool,
    /// Whether it is a provider of the user's own, known by no name; the same holds for it.
    pub own: bool,
    /// Models to go on with when this one fails, as `model` spells them; for [`choose::choose_named`].
    pub fallbacks: Vec<String>,
    /// How fast a record answers; `None` is as fast as it goes.
    pub pace: Option<Pace>,
    /// Whether the keys that came with the command belong to it.
    pub run_keys: RunKeys,
    /// What the user should know about the choice.
    pub notices: Vec<Notice>,
}

/// A provider and perhaps a model that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The provider's name.
    pub provider: String,
    /// The model's id; `None`: the provider's own default.
    pub model: Option<String>,
    /// Whether the keys that came with the command belong to it.
    pub run_keys: RunKeys,
}

/// Puts a provider together.
///
/// # Errors
///
/// As [`choose::choose`].
pub fn build(loaded: &Loaded, env: &Env, wanted: &Wanted, cancel: &Cancel) -> Result<Choice, Error> {
    let values = &loaded.values;
    let name = wanted.provider.as_str();
    if name == REPLAY {
        return replay(env, wanted);
    }
    let Server { api, base_url, headers, compat, wants_key, local, own } = server(values, wanted)?;
    let key = key::find(loaded, env, wanted, wants_key, cancel)?;
    let shown = key.as_ref().map(Secret::expose);
    let model = match &wanted.model {
        Some(model) => model.clone(),
        None => default_model(loaded, name, &base_url, shown, cancel)?,
    };
    let facts = Facts::for_start(values, name, &model);
    let notices = ended(&facts, &model).into_iter().chain(toolless(&facts, &model)).collect();
    let mut info = facts.info(name, &model);
    let served = asks_server(local, api, &info)
        .then(|| served::ask(name, &base_url, &model, shown, served::ASK_BUDGET))
        .flatten();
    if let Some(served) = &served {
        complete(&mut info, served, models(values, name).find(|entry| id_of(entry) == Some(&model)));
    }
    Ok(Choice {
        provider: name.to_owned(),
        notices,
        info,
        served,
        model,
        api,
        base_url,
        headers,
        compat,
        key,
        local,
        own,
        fallbacks: Vec::new(),
        pace: None,
        run_keys: wanted.run_keys,
    })
}

/// A provider before a model and a key are known.
#[derive(Clone, Debug)]
pub struct Server {
    /// The wire.
    pub api: Api,
    /// As [`Choice::base_url`].
    pub base_url: String,
    /// As [`Choice::headers`].
    pub headers: Vec<(String, String)>,
    /// As [`Choice::compat`].
    pub compat: Object,
    /// Whether it is to be asked with a key.
    pub wants_key: bool,
    /// As [`Choice::local`].
    pub local: bool,
    /// As [`Choice::own`].
    pub own: bool,
}

/// What the settings say about a provider.
///
/// # Errors
///
/// Usage: a provider nobody knows, or one without an address, or with a wire that is not built.
pub fn server(values: &Values, wanted: &Wanted) -> Result<Server, Error> {
    let name = wanted.provider.as_str();
    if !is_known(name, values) {
        return Err(unknown(name, values));
    }
    let known = preset(name);
    let configured = |field: &str| values.at(&["providers", name, field]);
    let api = match configured("api") {
        Some(held) => wire(held.value.as_str().and_then(Api::from_name), name, &held.source.to_string())?,
        None => known.map_or(Api::OpenaiCompletions, |preset| preset.api),
    };
    let base_url = base_url(values, wanted)?;
    let headers = headers(values, name);
    let local = known.is_some_and(Preset::is_local);
    let wants_key = configured("api_key").is_some()
        || (known.is_some() && !local && !headers.iter().any(|(header, _)| is_secret_field(header)));
    let compat = configured("compat").and_then(|held| held.value.as_object()).cloned().unwrap_or_default();
    Ok(Server { api, base_url, headers, compat, wants_key, local, own: known.is_none() })
}

/// What to say of a model that its provider had ended when the catalogue was made.
fn ended(facts: &Facts, model: &str) -> Option<Notice> {
    let until = facts.until.filter(|until| *until <= catalogue::date())?;
    let next = facts.next.map(|next| format!(", such as `-m {next}`")).unwrap_or_default();
    let text = format!("{model}: its provider was to end it on {until}; if it is gone, name another{next}.");
    Some(Notice::new(NoticeCode::Config, text))
}

/// What to say of a model that is not known to call tools, which is nearly all an agent does.
fn toolless(facts: &Facts, model: &str) -> Option<Notice> {
    let text = format!("{model} calls no tools, as far as is known: it may say what to do, and do nothing.");
    (facts.tools == Some(false)).then(|| Notice::new(NoticeCode::Config, text))
}

fn replay(env: &Env, wanted: &Wanted) -> Result<Choice, Error> {
    let Some(model) = &wanted.model else {
        return Err(Error::usage("the provider replay needs a record to answer from")
            .hint("name a session's file: `--provider replay --model FILE`"));
    };
    let path = env.absolute(std::path::Path::new(model));
    let label = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let path = path.display().to_string();
    Ok(Choice {
        provider: REPLAY.to_owned(),
        info: ModelInfo { label, ..Facts::for_start(&Values::default(), REPLAY, &path).info(REPLAY, &path) },
        served: None,
        model: path,
        api: Api::Replay,
        base_url: String::new(),
        headers: Vec::new(),
        compat: Object::new(),
        key: None,
        local: false,
        own: false,
        fallbacks: Vec::new(),
        pace: None,
        run_keys: RunKeys::No,
        notices: Vec::new(),
    })
}

/// A name that is no provider's.
pub fn unknown(name: &str, values: &Values) -> Error {
    let own = own_providers(values);
    let known = || own.iter().copied().chain(PRESETS.iter().map(|preset| preset.name));
    let shown = visible::line(name);
    let error = Error::usage(format!("unknown provider `{shown}`"));
    match closest(name, known()) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error
            .hint(format!("known are {}", known().collect::<Vec<_>>().join(", ")))
            .hint(format!("one of your own needs `providers.{shown}.base_url` in config.json")),
    }
}

/// The wire of a server.
fn wire(api: Option<Api>, name: &str, place: &str) -> Result<Api, Error> {
    api.filter(|api| *api != Api::Replay).ok_or_else(|| {
        Error::usage(format!("{place}: `providers.{name}.api`: no wire of a server"))
            .hint("to answer from a record, use `--provider replay --model FILE`")
    })
}

/// The address: `base_url`, if it was written for this provider, else the provider's own, else its preset's.
fn base_url(values: &Values, wanted: &Wanted) -> Result<String, Error> {
    let name = wanted.provider.as_str();
    let rank_of = |key: &str| values.get(key).map_or(0, |held| held.source.rank());
    let direct = values.get("base_url").filter(|held| {
        // `-m other/model --base-url …`: written together with the model that names the provider.
        let with_model = wanted.run_keys == RunKeys::Apply
            && rank_of("model") > rank_of("provider")
            && held.source.rank() >= rank_of("model");
        // Else a later layer may have changed the provider: its key must not go to the address of another.
        let meant = provider_at(values, held.source.rank()).or_else(|| values.get("provider")?.value.as_str());
        with_model || meant == Some(name)
    });
    let held = direct.or_else(|| values.at(&["providers", name, "base_url"]));
    let (address, place) = match (held, preset(name)) {
        (Some(held), _) => (held.value.as_str().unwrap_or_default(), held.source.to_string()),
        (None, Some(preset)) => (preset.base_url, format!("preset {name}")),
        (None, None) => return Err(Error::usage(format!("`providers.{name}.base_url` is not set"))),
    };
    let is_wires = |scheme: &str| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    let host = address.split_once("://").filter(|(scheme, _)| is_wires(scheme)).map(|(_, host)| host);
    if host.is_none_or(|host| host.is_empty() || host.contains(char::is_whitespace)) {
        let (shown, name) = (mask::without_secrets(address), visible::line(name));
        let shown = visible::line(&shown);
        return Err(Error::usage(format!("{place}: the base_url of {name}, `{shown}`, is no address"))
            .hint("it begins with http:// or https://"));
    }
    Ok(address.trim_end_matches('/').to_owned())
}

fn headers(values: &Values, name: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let below = values.below(&["providers", name, "headers"]);
    let mut headers: Vec<_> =
        below.filter_map(|(path, held)| Some((path.get(3)?.clone(), text(&held.value)))).collect();
    for (known, value) in preset(name).map(Preset::headers).unwrap_or_default() {
        if !headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(known)) {
            headers.push(((*known).to_owned(), (*value).to_owned()));
        }
    }
    headers
}

/// `key` is shown to a server of this machine that has to be asked; it has no longer than the task.
fn default_model(
    loaded: &Loaded,
    name: &str,
    base_url: &str,
    key: Option<&str>,
    cancel: &Cancel,
) -> Result<String, Error> {
    let known = preset(name).and_then(|preset| preset.model).map(str::to_owned);
    if let Some(model) = known.or_else(|| models(&loaded.values, name).find_map(id_of).map(str::to_owned)) {
        return Ok(model);
    }
    let budget = loaded.settings.timeout.unwrap_or(probe::LIST_BUDGET).min(probe::LIST_BUDGET);
    let (is_ollama, address, key) = (name == "ollama", base_url.to_owned(), key.map(str::to_owned));
    let asked = cancel.unless_thrown(move || {
        let models = probe::list(&address, key.as_deref(), budget)?;
        let first = match is_ollama {
            true => probe::first_with_tools(&address, key.as_deref(), &models, budget),
            false => models.into_iter().next(),
        };
        first.ok_or_else(|| "it lists none".to_owned())
    });
    let why = match asked {
        Some(Ok(model)) => return Ok(model),
        Some(Err(why)) => why,
        None => return Err(Error::failed(format!("interrupted while {name} was asked for its models"))),
    };
    if probe::is_here(base_url) {
        let address = mask::without_secrets(base_url);
        let (name, address) = (visible::line(name), visible::line(&address));
        return Err(Error::provider(format!("no model of {name} at {address} is known: {why}"))
            .hint(format!("start the server, or name a model: `--provider {name} -m ID`")));
    }
    Err(Error::usage(format!("no model is named for {name}"))
        .hint(format!("name one: `--provider {name} -m ID`, or `model` in config.json")))
}

/// Whether it is worth asking the server about the model: it is one on this machine by name, or speaks as those do and
/// nobody has said how large its window is. That it is on this machine at all, the address tells.
fn asks_server(is_local: bool, api: Api, info: &ModelInfo) -> bool {
    match api {
        Api::OpenaiCompletions | Api::OpenaiResponses => is_local || info.window.is_none(),
        Api::AnthropicMessages | Api::GoogleGenerativeAi | Api::Replay => false,
    }
}

/// Adds what the server says to what is known; what the user configured about the model wins.
fn complete(info: &mut ModelInfo, served: &Served, configured: Option<&Value>) {
    let is_set = |field: &str| configured.is_some_and(|entry| entry.get(field).is_some());
    info.window = info.window.or(served.window);
    if let Some(images) = served.images.filter(|_| !is_set("input")) {
        info.images = images;
    }
    if let Some(reasoning) = served.reasoning.filter(|_| !is_set("reasoning")) {
        info.reasoning = reasoning;
    }
}

#[cfg(test)]
mod tests;
