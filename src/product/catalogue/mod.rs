//! What is known about models before anybody configures one: windows, limits, prices, abilities, by provider and id.
//!
//! Made by `make models` from somebody else's list, whose name and date are inside; nothing is written here by hand.
//! Nothing is parsed before the first question. Absent: settings, keys, guesses from one provider to another.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// The catalogue as `assets/models.py` writes it.
const TEXT: &str = include_str!("../../../assets/models.json");

/// What is known about a model; `None` and an empty price are what nobody told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// Its id at the provider, as a request names it.
    pub id: &'static str,
    /// Tokens a request may have. Most providers count the answer into it; where one grants the answer room of its own, a
    /// conversation that keeps within this fits all the more.
    pub window: Option<u64>,
    /// Tokens an answer may have, where that is less than the window.
    pub max_output: Option<u64>,
    /// Whether it sees pictures.
    pub images: Option<bool>,
    /// Whether it reasons.
    pub reasoning: Option<bool>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// What it costs.
    pub cost: Cost,
    /// The day, as `2026-12-31`, on which its provider ends it.
    pub until: Option<&'static str>,
    /// The model its provider names in its place.
    pub next: Option<&'static str>,
}

/// US dollars for a million tokens of each kind. A provider that asks more for long requests asks this for short ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Uncached input.
    pub input: Option<f64>,
    /// Output.
    pub output: Option<f64>,
    /// Input read from a cache.
    pub cache_read: Option<f64>,
    /// Input written to a cache.
    pub cache_write: Option<f64>,
}

/// Whose list the catalogue was made from, with its version: `PyPI litellm 1.2.3`.
pub fn source() -> &'static str {
    catalogue().source
}

/// The day the catalogue was made, as `2026-12-31`. What ends on that day or before has ended.
pub fn date() -> &'static str {
    catalogue().date
}

/// All models of a provider, sorted by id.
pub fn all(provider: &str) -> impl Iterator<Item = Known> {
    let models = catalogue().providers.get(provider);
    models.into_iter().flatten().map(|(id, entry)| known(id, entry))
}

/// A provider's model: by its id, by that of a snapshot (`gpt-5-2025-08-07` is `gpt-5`) or the newest of its name
/// (`gpt-5-latest`), and where ids begin with a vendor also by what follows it, if only one model ends so.
pub fn find(provider: &str, model: &str) -> Option<Known> {
    let models = catalogue().providers.get(provider)?;
    let spellings = [Some(model), without_snapshot(model)];
    let mut spellings = spellings.into_iter().flatten();
    spellings
        .clone()
        .find_map(|id| models.get_key_value(id))
        .or_else(|| spellings.find_map(|id| bare(models, id)))
        .map(|(id, entry)| known(id, entry))
}

type Models = BTreeMap<&'static str, Entry>;

/// The file.
#[derive(Default, Deserialize)]
struct Catalogue {
    #[serde(borrow)]
    source: &'static str,
    date: &'static str,
    providers: BTreeMap<&'static str, Models>,
}

/// A model as the file spells it: as in the list of models in a user's settings.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    context_window: Option<u64>,
    max_tokens: Option<u64>,
    #[serde(borrow)]
    input: Option<Vec<&'static str>>,
    reasoning: Option<bool>,
    tools: Option<bool>,
    #[serde(default)]
    cost: Cost,
    until: Option<&'static str>,
    next: Option<&'static str>,
}

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    // A test holds that it can be read.
    CATALOGUE.get_or_init(|| serde_json::from_str(TEXT).unwrap_or_default())
}

fn known(id: &'static str, entry: &Entry) -> Known {
    let Entry { context_window, max_tokens, input, reasoning, tools, cost, until, next } = entry;
    Known {
        id,
        window: *context_window,
        max_output: *max_tokens,
        images: input.as_ref().map(|input| input.contains(&"image")),
        reasoning: *reasoning,
        tools: *tools,
        cost: *cost,
        until: *until,
        next: *next,
    }
}

/// The id without a snapshot's date (`-2025-08-07`, `-20250807`) or `-latest`, if it ends so. Shorter dates are left: a
/// `-2407` may be another generation with another price.
fn without_snapshot(id: &str) -> Option<&str> {
    if let Some(base) = id.strip_suffix("-latest") {
        return Some(base);
    }
    ["-dddddddd", "-dddd-dd-dd"].into_iter().find_map(|shape| {
        let (base, end) = id.split_at_checked(id.len().checked_sub(shape.len())?)?;
        let fits = |(is, wanted): (u8, u8)| if wanted == b'd' { is.is_ascii_digit() } else { is == wanted };
        (!base.is_empty() && end.bytes().zip(shape.bytes()).all(fits)).then_some(base)
    })
}

/// The only model whose id is `vendor/bare`.
fn bare<'a>(models: &'a Models, bare: &str) -> Option<(&'a &'static str, &'a Entry)> {
    let mut fitting = models.iter().filter(|(id, _)| id.split_once('/').is_some_and(|(_, rest)| rest == bare));
    fitting.next().filter(|_| fitting.next().is_none())
}

#[cfg(test)]
mod tests;
