//! What is known about a model: field by field what the user's list says, else the catalogue, else nothing.
//!
//! Asks no server and chooses nothing.

use std::sync::Arc;

use serde_json::Value;

use crate::model::ModelInfo;
use crate::model::message::Origin;
use crate::model::usage::Price;
use crate::product::catalogue::{self, Cost, Known};
use crate::product::config::layer::Values;
use crate::product::config::naming::{id_of, models};
use crate::product::config::presets::{Preset, preset};

/// What is known about a model; `None` is what nobody told.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Its name for people; the id where nothing better is known.
    pub label: String,
    /// How many tokens fit into a request and its answer together, at least.
    pub window: Option<u64>,
    /// How many tokens an answer may have at most.
    pub max_output: Option<u64>,
    /// What tokens cost, as far as it is known.
    pub cost: Cost,
    /// Whether it sees pictures.
    pub images: Option<bool>,
    /// Whether it reasons before it answers.
    pub reasoning: Option<bool>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// The day, as `2026-12-31`, on which its provider ends it.
    pub until: Option<&'static str>,
    /// The model its provider names in its place.
    pub next: Option<&'static str>,
}

impl Facts {
    /// Looks a provider's model up.
    pub fn of(values: &Values, provider: &str, model: &str) -> Self {
        Self::laid(configured(values, provider, model), catalogue::find(provider, model).unwrap_or_default(), model)
    }

    /// As [`Facts::of`], for a start: where the user's entry says all that a request needs, or the provider is no preset,
    /// the catalogue is not even opened.
    pub fn for_start(values: &Values, provider: &str, model: &str) -> Self {
        const NEEDED: [&str; 5] = ["contextWindow", "maxTokens", "cost", "input", "reasoning"];
        let entry = configured(values, provider, model);
        let is_whole = NEEDED.iter().all(|field| entry.get(field).is_some());
        if is_whole || preset(provider).is_none_or(Preset::is_local) {
            return Self::laid(entry, Known::default(), model);
        }
        Self::of(values, provider, model)
    }

    /// The user's entry, which may be `null`, laid over what the catalogue has.
    fn laid(entry: &Value, known: Known, model: &str) -> Self {
        let Known { id: _, window, max_output, images, reasoning, tools, cost, until, next } = known;
        let number = |field: &str| entry.get(field).and_then(Value::as_u64);
        let label = entry.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let inputs = entry.get("input").and_then(Value::as_array);
        Self {
            label: label.unwrap_or(model).to_owned(),
            window: number("contextWindow").or(window),
            max_output: number("maxTokens").or(max_output),
            cost: laid_cost(entry.get("cost").unwrap_or(&Value::Null), cost),
            images: inputs.map(|inputs| inputs.iter().any(|input| input == "image")).or(images),
            reasoning: entry.get("reasoning").and_then(Value::as_bool).or(reasoning),
            tools,
            until,
            next,
        }
    }

    /// As those who ask the model need it. One of which nobody says that it is blind is shown pictures: a server that
    /// refuses them is asked again without.
    pub fn info(self, provider: &str, model: &str) -> ModelInfo {
        let Self { label, window, max_output, cost, images, reasoning, tools: _, until: _, next: _ } = self;
        ModelInfo {
            origin: Arc::new(Origin { provider: provider.to_owned(), model: model.to_owned() }),
            label,
            window,
            max_output,
            price: price(cost),
            reasoning: reasoning.unwrap_or(false),
            images: images.unwrap_or(true),
        }
    }
}

/// The user's entry for a model; `null` where there is none.
fn configured<'a>(values: &'a Values, provider: &str, model: &str) -> &'a Value {
    models(values, provider).find(|entry| id_of(entry) == Some(model)).unwrap_or(&Value::Null)
}

/// The user's prices, which may be `null`, laid over those of the catalogue.
fn laid_cost(configured: &Value, known: Cost) -> Cost {
    let Cost { input, output, cache_read, cache_write } = known;
    let dollars = |field: &str, known: Option<f64>| configured.get(field).and_then(Value::as_f64).or(known);
    Cost {
        input: dollars("input", input),
        output: dollars("output", output),
        cache_read: dollars("cacheRead", cache_read),
        cache_write: dollars("cacheWrite", cache_write),
    }
}

/// A price without input and output says nothing. What is read from or written to a cache costs as much as other input
/// unless it is said: better too much than too little.
fn price(cost: Cost) -> Option<Price> {
    let Cost { input, output, cache_read, cache_write } = cost;
    let (input, output) = (input?, output?);
    let (cache_read, cache_write) = (cache_read.unwrap_or(input), cache_write.unwrap_or(input));
    Some(Price { input, output, cache_read, cache_write })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn known() -> Known {
        Known {
            window: Some(1000),
            max_output: Some(100),
            images: Some(false),
            reasoning: Some(true),
            tools: Some(true),
            cost: Cost { input: Some(2.0), output: Some(10.0), cache_read: Some(0.2), cache_write: None },
            ..Known::default()
        }
    }

    #[test]
    fn the_users_word_counts_field_by_field() {
        let entry = json!({"id": "m", "contextWindow": 500, "cost": {"output": 5, "cacheWrite": 1}, "input": ["text", "image"]});
        let facts = Facts::laid(&entry, known(), "m");
        let cost = Price { input: 2.0, output: 5.0, cache_read: 0.2, cache_write: 1.0 };
        assert_eq!((facts.window, facts.max_output, price(facts.cost)), (Some(500), Some(100), Some(cost)));
        assert_eq!((facts.images, facts.reasoning, facts.tools), (Some(true), Some(true), Some(true)));
        let off = Facts::laid(&json!({"reasoning": false, "name": "M"}), known(), "m");
        assert_eq!((off.reasoning, off.images, off.label.as_str()), (Some(false), Some(false), "M"));
    }

    #[test]
    fn what_nobody_says_is_unknown() {
        let facts = Facts::laid(&Value::Null, Known::default(), "m");
        assert_eq!((facts.window, facts.max_output, facts.cost), (None, None, Cost::default()));
        let info = facts.info("p", "m");
        assert!(info.images && !info.reasoning && info.label == "m");
    }

    #[test]
    fn half_a_price_is_none() {
        let of = |configured: Value| price(laid_cost(&configured, Cost::default()));
        assert_eq!((of(json!({"input": 1})), of(json!({"output": 1})), of(Value::Null)), (None, None, None));
        let whole = of(json!({"input": 1, "output": 2})).unwrap();
        assert_eq!((whole.cache_read, whole.cache_write), (1.0, 1.0));
        let free = laid_cost(&json!({"input": 0, "output": 0}), known().cost);
        assert_eq!((free.input, free.output, free.cache_read), (Some(0.0), Some(0.0), Some(0.2)));
    }
}
