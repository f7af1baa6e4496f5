//! Asks providers whether they can be asked: the way there, the key, the model. All at once, in bounded time, and without
//! a token being spent.
//!
//! Words for people are the front's; what a request takes is decided where requests are made.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinSet, spawn_blocking};

use super::facts::Facts;
use super::key::{self, Found, RunKeys};
use super::network::{Network, network, proxy};
use super::{Preset, Server, Wanted, choose, command, server};
use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::http::{Endpoint, Failure, HttpOptions, Route, Stage, probe, route};
use crate::model::provider::compat::Compat;
use crate::product::auth::secret::Secret;
use crate::product::config::naming::{REPLAY, id_of, models, own_providers};
use crate::product::config::presets::{PRESETS, preset};
use crate::product::config::{Loaded, mask};
use crate::product::error::Error;

/// How long all providers together may take. Whoever waits for an answer to "what is wrong?" waits no longer than 5 s.
const BUDGET: Duration = Duration::from_millis(4500);
/// How long one server may take to judge a key that was just typed.
const KEY_BUDGET: Duration = Duration::from_secs(5);

/// What came of asking a provider.
#[derive(Debug)]
pub struct Checked {
    /// Its name.
    pub provider: String,
    /// Whether it is the one that the settings ask for.
    pub is_chosen: bool,
    /// The model that the settings ask for, with the one that is chosen; else the provider's own default.
    pub model: Option<String>,
    /// Its address, without anything secret; empty where there is none.
    pub address: String,
    /// The way there.
    pub route: Option<Route>,
    /// Where the key is from that it was asked with.
    pub key: Option<String>,
    /// How that went.
    pub verdict: Verdict,
    /// How long it took.
    pub elapsed: Duration,
}

/// How it went.
#[derive(Debug)]
pub enum Verdict {
    /// It lists these models.
    Lists(Vec<String>),
    /// It answers, but has no list.
    NoList(Failure),
    /// It cannot be asked.
    Failed(Failure),
    /// It was not asked: something is missing before.
    Unasked(Error),
    /// There is nobody to be asked: answers come from a record.
    Record,
}

impl Checked {
    /// Whether a task could be done with it, as far as that can be known without one.
    pub fn works(&self) -> bool {
        match self.verdict {
            Verdict::Lists(_) | Verdict::NoList(_) | Verdict::Record => true,
            Verdict::Failed(_) | Verdict::Unasked(_) => false,
        }
    }

    /// Whether the model is in the list; `None` where there is no list or no model.
    pub fn has_model(&self) -> Option<bool> {
        match (&self.verdict, &self.model) {
            (Verdict::Lists(listed), Some(model)) => Some(listed.iter().any(|id| is_meant(id, model))),
            _ => None,
        }
    }
}

/// Whether a listed id is what a shorter one stands for: Anthropic lists `claude-sonnet-4-5-20250929`, Ollama
/// `llama3:latest`.
fn is_meant(id: &str, model: &str) -> bool {
    id.strip_prefix(model).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@']))
}

/// Asks the provider in use, the user's own, those with a key, and servers found on this machine.
///
/// # Errors
///
/// When there is no runtime to do it with; second, why no provider is chosen, if none is.
pub fn check(loaded: &Loaded, env: &Env, cancel: &Cancel) -> Result<(Vec<Checked>, Option<Error>), Error> {
    let started = Instant::now();
    let (chosen, nobody) = match choose::wanted(loaded, env) {
        Ok(wanted) => (Some(wanted), None),
        Err(error) => (None, Some(error)),
    };
    let runtime = runtime()?;
    let deadline = started + BUDGET;
    let mut checked = runtime.block_on(async {
        let mut asked = JoinSet::new();
        for (place, wanted) in subjects(loaded, env, chosen.as_ref()).into_iter().enumerate() {
            let is_chosen = chosen.as_ref() == Some(&wanted);
            let plan = Plan::new(loaded, env, &wanted, is_chosen);
            let (env, cancel) = (env.clone(), cancel.clone());
            asked.spawn(async move { (place, plan.carry_out(env, deadline, cancel).await) });
        }
        let mut checked = Vec::new();
        while let Some(one) = asked.join_next().await {
            checked.extend(one.ok());
        }
        checked
    });
    // A command that does not end must not hold us.
    runtime.shutdown_background();
    checked.sort_by_key(|(place, _)| *place);
    let shown = checked.into_iter().map(|(_, checked)| checked).filter(|one| one.is_chosen || !is_absent(one));
    Ok((shown.collect(), nobody))
}

/// A server of this machine that nobody has started is no trouble.
fn is_absent(checked: &Checked) -> bool {
    let is_local = preset(&checked.provider).is_some_and(Preset::is_local);
    is_local && matches!(&checked.verdict, Verdict::Failed(failure) if failure.stage == Stage::Connect)
}

fn subjects(loaded: &Loaded, env: &Env, chosen: Option<&Wanted>) -> Vec<Wanted> {
    let is_chosen = |name: &str| chosen.is_some_and(|wanted| wanted.provider == name);
    let with_key = PRESETS.iter().filter(|preset| preset.is_local() || key::is_there(loaded, env, preset.name));
    let others = own_providers(&loaded.values).into_iter().chain(with_key.map(|preset| preset.name));
    let others = others.filter(|name| !is_chosen(name));
    let plain = |name: &str| Wanted { provider: name.to_owned(), model: None, run_keys: RunKeys::No };
    chosen.cloned().into_iter().chain(others.map(plain)).collect()
}

/// All that is needed to ask one provider, and to tell of it.
struct Plan {
    checked: Checked,
    /// `None` if it is not to be asked.
    question: Option<(Endpoint, HttpOptions)>,
    /// A command that has to print the key first.
    command: Option<KeyCommand>,
}

/// A command that prints a key.
struct KeyCommand {
    text: String,
    /// The setting.
    place: String,
    /// The file it stands in.
    file: PathBuf,
}

impl Plan {
    fn new(loaded: &Loaded, env: &Env, wanted: &Wanted, is_chosen: bool) -> Self {
        let name = wanted.provider.as_str();
        let known = preset(name).and_then(|preset| preset.model).map(str::to_owned);
        let first = || models(&loaded.values, name).find_map(id_of).map(str::to_owned);
        let mut checked = Checked {
            provider: name.to_owned(),
            is_chosen,
            model: wanted.model.clone().or(known).or_else(first),
            address: String::new(),
            route: None,
            key: None,
            verdict: Verdict::Record,
            elapsed: Duration::ZERO,
        };
        if name == REPLAY {
            return Self { checked, question: None, command: None };
        }
        match Self::prepare(loaded, env, wanted, &mut checked) {
            Ok((question, command)) => Self { checked, question: Some(question), command },
            Err(error) => {
                checked.verdict = Verdict::Unasked(error);
                Self { checked, question: None, command: None }
            }
        }
    }

    fn prepare(
        loaded: &Loaded,
        env: &Env,
        wanted: &Wanted,
        checked: &mut Checked,
    ) -> Result<((Endpoint, HttpOptions), Option<KeyCommand>), Error> {
        let name = wanted.provider.as_str();
        let server = server(&loaded.values, wanted)?;
        checked.address = shown(&server.base_url);
        let (key, command) = match key::look(loaded, env, name, wanted.run_keys) {
            Found::Key { key: None, place } if checked.is_chosen => {
                let text = key::command_for(loaded, name).to_owned();
                checked.key = Some(place.clone());
                (None, Some(KeyCommand { text, place, file: loaded.user_file.clone() }))
            }
            Found::Key { key: None, place } => {
                let why = format!("its key is printed by a command ({place}), which runs only for the provider in use");
                return Err(Error::provider(why).hint(format!("`agent --provider {name}` uses it")));
            }
            Found::Key { key: Some(_), place } => {
                checked.key = Some(place);
                (key::find(loaded, env, wanted, server.wants_key, &Cancel::new())?, None)
            }
            Found::Nowhere { .. } => (key::find(loaded, env, wanted, server.wants_key, &Cancel::new())?, None),
        };
        checked.route = route(&server.base_url, &proxy(loaded, env));
        let question = question(loaded, env, name, server, key, BUDGET)?;
        Ok((question, command))
    }

    async fn carry_out(self, env: Env, deadline: Instant, cancel: Cancel) -> Checked {
        let Self { mut checked, question, command } = self;
        let Some((mut endpoint, options)) = question else { return checked };
        let started = Instant::now();
        if let Some(KeyCommand { text, place, file }) = command {
            match printed(text, env, deadline, &cancel).await {
                Ok(key) => endpoint.key = Some(key.expose().to_owned()),
                Err(problem) => {
                    checked.elapsed = started.elapsed();
                    checked.verdict = Verdict::Unasked(key::command_failed(&file, &checked.provider, &place, &problem));
                    return checked;
                }
            }
        }
        let asked = tokio::time::timeout_at(deadline.into(), probe::probe(&endpoint, &options, &cancel)).await;
        checked.verdict = match asked {
            Ok(Ok(models)) => Verdict::Lists(models),
            Ok(Err(failure)) if matches!(failure.status, Some(404 | 405 | 501)) => Verdict::NoList(failure),
            Ok(Err(failure)) => Verdict::Failed(failure),
            Err(_) => {
                let message = format!("no answer within {} s", BUDGET.as_secs_f64());
                let error = ModelError::new(ErrorKind::Timeout, message);
                Verdict::Failed(Failure { stage: Stage::Http, status: None, error })
            }
        };
        checked.elapsed = started.elapsed();
        checked
    }
}

/// What a command prints, if it does so in time.
async fn printed(text: String, env: Env, deadline: Instant, cancel: &Cancel) -> Result<Secret, String> {
    let (child, _registration) = cancel.child();
    let thrown = child.clone();
    let running = spawn_blocking(move || command::run(&text, &env, &child));
    match tokio::time::timeout_at(deadline.into(), running).await {
        Ok(printed) => printed.unwrap_or_else(|_| Err("the command could not be run".to_owned())),
        Err(_) => {
            thrown.cancel();
            Err(format!("the command did not end within {} s", BUDGET.as_secs_f64()))
        }
    }
}

/// What is asked of a provider, by the options of its requests but for their patience.
fn question(
    loaded: &Loaded,
    env: &Env,
    name: &str,
    server: Server,
    key: Option<Secret>,
    budget: Duration,
) -> Result<(Endpoint, HttpOptions), Error> {
    let Network { mut options, notice: _ } = network(loaded, env, name, &server.base_url)?;
    options.connect = options.connect.min(budget);
    options.first_byte = budget;
    let Server { api, base_url, headers, .. } = server;
    let key = key.map(|key| key.expose().to_owned());
    let compat = Compat::for_provider(name, &base_url);
    Ok((
        Endpoint { info: Facts::of(&Default::default(), name, "").info(name, ""), api, base_url, key, headers, compat },
        options,
    ))
}

/// What a server makes of a key.
#[derive(Debug)]
pub enum Judged {
    /// It takes it, and lists so many models.
    Accepted(usize),
    /// It does not.
    Refused(ModelError),
    /// It could not be asked, or says nothing about keys.
    Unknown(String),
}

/// Has a provider's server judge a key, or whether it takes none.
///
/// # Errors
///
/// When there is no runtime to do it with.
pub fn judge(loaded: &Loaded, env: &Env, name: &str, key: Option<Secret>, cancel: &Cancel) -> Result<Judged, Error> {
    let wanted = Wanted { provider: name.to_owned(), model: None, run_keys: RunKeys::No };
    let asked = server(&loaded.values, &wanted).and_then(|server| question(loaded, env, name, server, key, KEY_BUDGET));
    let (endpoint, options) = match asked {
        Ok(question) => question,
        Err(error) => return Ok(Judged::Unknown(error.to_string())),
    };
    let runtime = runtime()?;
    let outcome = runtime.block_on(probe::probe(&endpoint, &options, cancel));
    runtime.shutdown_background();
    Ok(match outcome {
        Ok(models) => Judged::Accepted(models.len()),
        // Some say so with 400. An account without credit is no wrong key.
        Err(Failure { status: Some(400 | 401 | 403), error, .. }) if error.kind == ErrorKind::Auth => {
            Judged::Refused(error)
        }
        Err(Failure { error, .. }) => Judged::Unknown(error.message),
    })
}

fn runtime() -> Result<Runtime, Error> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Error::failed("the runtime cannot start").caused_by(error))
}

/// An address without a password, and without a query, where some keep keys.
fn shown(base_url: &str) -> String {
    let address = mask::without_secrets(base_url);
    address.split(['?', '#']).next().unwrap_or_default().to_owned()
}
