//! Which providers are known, and which provider and model a name means, as far as the settings say.
//!
//! Pure: looks for no key and asks no server.

use serde_json::Value;

use super::layer::{Held, Source, Values};
use super::presets::preset;

/// The provider that answers from a recorded session; its model is the record's path.
pub const REPLAY: &str = "replay";

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
    name == REPLAY || preset(name).is_some() || values.below(&["providers", name]).next().is_some()
}

/// The providers of the user's own that are no presets, sorted by name.
pub fn own_providers(values: &Values) -> Vec<&str> {
    let paths = values.below(&["providers"]).filter_map(|(path, _)| path.get(1));
    let mut names: Vec<_> = paths.map(String::as_str).collect();
    names.dedup();
    names.retain(|name| preset(name).is_none());
    names
}

/// What a provider's configured list says, a model each.
pub fn models<'a>(values: &'a Values, provider: &str) -> impl Iterator<Item = &'a Value> {
    let held = values.at(&["providers", provider, "models"]);
    held.and_then(|held| held.value.as_array()).into_iter().flatten()
}

/// The id of an entry of such a list.
pub fn id_of(entry: &Value) -> Option<&str> {
    entry.get("id").and_then(Value::as_str)
}

/// Whether a provider's configured list has a model with this id.
pub fn lists(values: &Values, provider: &str, id: &str) -> bool {
    models(values, provider).any(|entry| id_of(entry) == Some(id))
}

/// Parts `provider/id` from an id with a slash in it.
pub fn split<'a>(spec: &'a str, current: Option<&'a str>, values: &Values) -> (Option<&'a str>, &'a str) {
    if current.is_some_and(|provider| lists(values, provider, spec)) {
        return (current, spec);
    }
    match spec.split_once('/') {
        Some((provider, id)) if !id.is_empty() && is_known(provider, values) => (Some(provider), id),
        Some(_) | None => (current, spec),
    }
}

/// The provider that is named, and the rank of the layer that names it.
pub fn provider_named(values: &Values) -> Option<(&str, u8)> {
    let held = values.get("provider")?;
    Some((held.value.as_str()?, held.source.rank()))
}

/// The provider that was named when the layer of this rank was written.
pub fn provider_at(values: &Values, rank: u8) -> Option<&str> {
    let said = values.get("provider")?.said.iter().rev();
    said.skip_while(|(source, _)| source.rank() > rank).map(|(_, value)| value.as_str()).next()?
}

/// The value of `model`, unless a later layer changed the provider it was written for; what a preset says is a default.
pub fn model_in_force(values: &Values) -> Option<&Held> {
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
