//! Keys of providers: where they are looked for, in which order, and the file that keeps them.
//!
//! Shows no key to anyone, and does not decide which provider is asked.

pub mod command;
pub mod secret;
pub mod store;

use crate::base::env::Env;
use crate::product::config::Loaded;
use crate::product::config::layer::Source;
use crate::product::config::presets::{PRESETS, preset};
use secret::Secret;

/// The variable with a key for the provider named at start.
pub const RUN_VARIABLE: &str = "VIOLA_API_KEY";
/// The option with the same meaning.
pub const RUN_OPTION: &str = "--api-key";

/// A key for one run, for the provider named at start and no other.
#[derive(Clone, Debug)]
pub struct RunKey {
    /// The key.
    pub key: Secret,
    /// The option or variable it came in.
    pub place: &'static str,
}

impl RunKey {
    /// The option's, else the variable's.
    pub fn new(option: Option<&Secret>, env: &Env) -> Option<Self> {
        let given = option.map(|key| Self { key: key.clone(), place: RUN_OPTION });
        given.or_else(|| env.var(RUN_VARIABLE).map(|key| Self { key: Secret::new(key), place: RUN_VARIABLE }))
    }
}

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

/// Whether a provider has a key of its own; nothing is run to find out.
pub fn has_own_key(loaded: &Loaded, env: &Env, provider: &str) -> bool {
    matches!(look(loaded, env, provider, RunKeys::No), Found::Key { .. })
}

/// Every secret value that is known without running anything: what must never leave the process.
pub fn known_secrets(loaded: &Loaded, env: &Env) -> Vec<Secret> {
    let mut secrets: Vec<Secret> = loaded.run_key.iter().map(|run| run.key.clone()).collect();
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
            ["providers", _, "headers", name] if is_authentication(name) => {
                // `Bearer k`: the key alone must not be shown either.
                secrets.extend(text.rsplit_once(' ').map(|(_, key)| Secret::new(key)));
                secrets.push(Secret::new(text));
            }
            _ => {}
        }
    }
    secrets.retain(|secret| !secret.expose().is_empty());
    secrets.sort_unstable_by(|one, other| one.expose().cmp(other.expose()));
    secrets.dedup();
    secrets
}

/// Whether a header proves who is asking.
pub fn is_authentication(header: &str) -> bool {
    let name = header.to_ascii_lowercase();
    ["authorization", "api-key", "apikey", "token", "cookie"].iter().any(|part| name.contains(part))
}
