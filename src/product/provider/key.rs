//! Where the key of a provider is looked for, in which order, and which values are secrets.
//!
//! Shows no key to anyone, and does not decide which provider is asked.

use std::path::Path;

use super::{Wanted, command};
use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::base::secret::{is_secret_field, of_header};
use crate::product::auth::secret::Secret;
use crate::product::auth::{RUN_OPTION, RUN_VARIABLE, RunKey};
use crate::product::config::Loaded;
use crate::product::config::layer::Source;
use crate::product::config::presets::{PRESETS, preset};
use crate::product::error::Error;

/// Whether the keys that came with the command belong to the provider in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKeys {
    /// It is the one named at start.
    Apply,
    /// It is another, or none was named.
    No,
}

/// Where a key was found, or all the places where it was not.
#[derive(Debug)]
pub enum Found {
    /// The key, and where it was.
    Key {
        /// The key; `None` where a command of the user would have to be run first.
        key: Option<Secret>,
        /// Such as `DEEPSEEK_API_KEY` or `auth.json`.
        place: String,
    },
    /// Nowhere.
    Nowhere {
        /// The places that were looked at, each with what was wrong if it was there.
        places: Vec<String>,
    },
}

/// Looks for a provider's key without running anything.
pub fn look(loaded: &Loaded, env: &Env, provider: &str, run_keys: RunKeys) -> Found {
    let mut places = Vec::new();
    let found = |key: Secret, place: &str| Found::Key { key: Some(key), place: place.to_owned() };
    if run_keys == RunKeys::Apply {
        if let Some(RunKey { key, place }) = &loaded.run_key {
            return found(key.clone(), place);
        }
        places.extend([RUN_OPTION.to_owned(), RUN_VARIABLE.to_owned()]);
    }
    if let Some(variable) = preset(provider).and_then(|preset| preset.variable) {
        if let Some(key) = env.var(variable) {
            return found(Secret::new(key), variable);
        }
        places.push(variable.to_owned());
    }
    if let Some(key) = loaded.auth.key(provider) {
        return found(key, "auth.json");
    }
    places.push(match loaded.auth.problem() {
        Some(problem) => format!("auth.json ({problem})"),
        None => "auth.json".to_owned(),
    });
    let setting = format!("providers.{provider}.api_key");
    let Some(held) = loaded.values.at(&["providers", provider, "api_key"]) else {
        places.push(setting);
        return Found::Nowhere { places };
    };
    let text = held.value.as_str().unwrap_or_default();
    match (text.strip_prefix('$'), text.strip_prefix('!')) {
        (Some(name), _) => match env.var(name) {
            Some(key) => return found(Secret::new(key), &format!("{setting} (${name})")),
            None => places.push(format!("{setting} (${name} is not set)")),
        },
        (None, Some(_)) => match held.source {
            Source::User(_) => return Found::Key { key: None, place: setting },
            Source::Default | Source::Preset(_) | Source::Project(_) | Source::Variable(_) | Source::Option(_) => {
                places.push(format!("{setting} (only the user's own file may name a command)"));
            }
        },
        (None, None) if text.is_empty() => places.push(format!("{setting} (empty)")),
        (None, None) => return found(Secret::new(text), &setting),
    }
    Found::Nowhere { places }
}

/// Whether a text can be a key: any server's is sent in a header.
pub fn is_key(key: &Secret) -> bool {
    !key.expose().is_empty() && key.expose().chars().all(|letter| letter.is_ascii_graphic() || letter == ' ')
}

/// What a key is, for whoever has something else.
pub const KEYS_ARE: &str = "a key is one line of letters, digits and signs";

/// The command that prints a provider's key, where one is configured.
pub(super) fn command_for<'a>(loaded: &'a Loaded, provider: &str) -> &'a str {
    let held = loaded.values.at(&["providers", provider, "api_key"]);
    held.and_then(|held| held.value.as_str()?.strip_prefix('!')).unwrap_or_default()
}

/// A command that printed no key. What it printed is not told, but what it said on standard error the user has seen.
pub(super) fn command_failed(file: &Path, provider: &str, place: &str, problem: &str) -> Error {
    Error::provider(format!("no key for {provider}: {place}: {problem}"))
        .hint(format!("run what stands there in a shell, without the `!`, to see why: {}", file.display()))
        .hint(format!("or keep a key of your own: `agent auth login {provider}`"))
}

/// Whether a provider has a key of its own; nothing is run to find out.
pub fn is_there(loaded: &Loaded, env: &Env, provider: &str) -> bool {
    matches!(look(loaded, env, provider, RunKeys::No), Found::Key { .. })
}

/// Every secret value that is known: what must never leave the process. `in_use` is the key of who is asked; one that a
/// command printed is known from nowhere else.
pub fn known_secrets(loaded: &Loaded, env: &Env, in_use: Option<&Secret>) -> Vec<Secret> {
    let mut secrets: Vec<Secret> = loaded.run_key.iter().map(|run| run.key.clone()).collect();
    secrets.extend(in_use.cloned());
    // A key in the environment is a secret whether or not it is the one in use.
    secrets.extend(env.var(RUN_VARIABLE).map(Secret::new));
    let variables = PRESETS.iter().filter_map(|preset| preset.variable);
    secrets.extend(variables.filter_map(|name| env.var(name)).map(Secret::new));
    secrets.extend(loaded.auth.keys());
    for (path, held) in loaded.values.in_order() {
        let Some(text) = held.value.as_str() else { continue };
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["providers", _, "api_key"] => match text.strip_prefix('$') {
                Some(name) => secrets.extend(env.var(name).map(Secret::new)),
                None if text.starts_with('!') => {}
                None => secrets.push(Secret::new(text)),
            },
            ["server", "token"] => secrets.push(Secret::new(text)),
            ["providers", _, "headers", name] if is_secret_field(name) => {
                secrets.extend(of_header(text).map(Secret::new));
            }
            _ => {}
        }
    }
    secrets.retain(|secret| !secret.expose().is_empty());
    secrets.sort_unstable_by(|one, other| one.expose().cmp(other.expose()));
    secrets.dedup();
    secrets
}

/// The key of a provider, as the first of the places that has one gives it; a command of the user is run for it.
///
/// # Errors
///
/// Provider: there is none although one is wanted, or what is there is no key.
pub fn find(
    loaded: &Loaded,
    env: &Env,
    wanted: &Wanted,
    wants_key: bool,
    cancel: &Cancel,
) -> Result<Option<Secret>, Error> {
    let name = &wanted.provider;
    match look(loaded, env, name, wanted.run_keys) {
        Found::Key { key: Some(key), place } => {
            if !is_key(&key) {
                return Err(Error::provider(format!("the key for {name} in {place} is no key")).hint(KEYS_ARE));
            }
            Ok(Some(key))
        }
        Found::Key { key: None, place } => {
            let key = command::run(command_for(loaded, name), env, cancel);
            key.map(Some).map_err(|error| command_failed(&loaded.user_file, name, &place, &error))
        }
        Found::Nowhere { places } if wants_key => {
            let error = Error::provider(format!("no key for {name}: looked at {}", places.join(", ")));
            let error = match preset(name).and_then(|preset| preset.variable) {
                Some(variable) => error.hint(format!("set one: `export {variable}=…`")),
                None => error,
            };
            let path = loaded.auth.path().display();
            Err(error
                .hint(format!("or keep it: `agent auth login {name}` asks for it and writes {path}"))
                .hint("`agent demo` needs no key"))
        }
        Found::Nowhere { .. } => Ok(None),
    }
}
