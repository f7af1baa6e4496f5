//! The catalogue can be read, holds what the presets ask, and finds a model by the names people use.

use super::*;
use crate::product::config::presets::{PRESETS, preset};

/// Default models that the list does not have, each with the reason.
const UNLISTED: &[(&str, &str)] = &[("openrouter", "the list has no models of OpenRouter")];

#[test]
fn it_says_what_it_was_made_from_and_when() {
    let Catalogue { source, date, providers } = serde_json::from_str(TEXT).unwrap();
    assert!(source.starts_with("PyPI litellm 1."), "{source}");
    assert_eq!((date.len(), date.matches('-').count()), (10, 2), "{date}");
    assert!(providers.keys().all(|name| preset(name).is_some_and(|preset| !preset.is_local())));
    assert!(TEXT.len() <= 100 << 10, "{} bytes are a burden for every download", TEXT.len());
}

#[test]
fn every_default_model_is_known_and_calls_tools() {
    for preset in PRESETS {
        let Some(model) = preset.model else { continue };
        let known = all(preset.name).find(|known| known.id == model);
        match UNLISTED.iter().find(|(name, _)| *name == preset.name) {
            Some((_, reason)) => assert!(known.is_none(), "{}: {reason} no longer holds", preset.name),
            None => assert_eq!(known.and_then(|known| known.tools), Some(true), "{} {model}", preset.name),
        }
    }
}

#[test]
fn prices_and_windows_are_plausible() {
    let models = || PRESETS.iter().flat_map(|preset| all(preset.name));
    assert!(models().count() > 200);
    for known in models() {
        let Cost { input, output, cache_read, cache_write } = known.cost;
        assert_eq!(input.is_some(), output.is_some(), "{known:?}");
        assert_eq!(input == Some(0.0), output == Some(0.0), "free is free: {known:?}");
        for dollars in [input, output, cache_read, cache_write].into_iter().flatten() {
            assert!((0.0..=1000.0).contains(&dollars), "dollars for a million tokens: {known:?}");
        }
        assert!(known.window.is_none_or(|window| (1 << 10..=1 << 24).contains(&window)), "{known:?}");
        assert!(known.max_output.zip(known.window).is_none_or(|(output, window)| output < window), "{known:?}");
    }
}

#[test]
fn only_defaults_are_listed_beyond_their_end() {
    for preset in PRESETS {
        for known in all(preset.name) {
            assert!(known.until.is_none_or(|until| until > date()) || preset.model == Some(known.id), "{known:?}");
        }
    }
}

#[test]
fn a_model_is_found_by_the_names_people_use() {
    let id = |provider: &str, model: &str| find(provider, model).map(|known| known.id);
    assert_eq!(id("openai", "gpt-5"), Some("gpt-5"));
    assert_eq!(id("openai", "gpt-5-2025-08-07"), Some("gpt-5"));
    assert_eq!(id("anthropic", "claude-sonnet-4-5-20250929"), Some("claude-sonnet-4-5"));
    assert_eq!(id("anthropic", "claude-sonnet-4-5-latest"), Some("claude-sonnet-4-5"));
    assert_eq!(id("groq", "openai/gpt-oss-120b"), Some("openai/gpt-oss-120b"));
    assert_eq!(id("groq", "gpt-oss-120b"), Some("openai/gpt-oss-120b"));
    assert_eq!(id("mistral", "devstral-medium-latest"), Some("devstral-medium-latest"));
}

#[test]
fn nothing_is_guessed() {
    let none = |provider: &str, model: &str| assert_eq!(find(provider, model), None, "{provider} {model}");
    none("anthropic", "gpt-5");
    none("mine", "gpt-5");
    none("openrouter", "gpt-5");
    none("groq", "vendor/gpt-oss-120b");
    for odd in
        ["", "-", "-latest", "-2025-08-07", "gpt-5-", "gpt-5-2025", "gpt-5-2025-08-0x", "GPT-5", "gpt-5-ä0250807", "/"]
    {
        none("openai", odd);
    }
}

#[test]
fn of_two_vendors_neither_is_meant() {
    let entry = || serde_json::from_str::<Entry>("{}").unwrap();
    let models: Models = [("a/m", entry()), ("b/m", entry()), ("b/n", entry())].into();
    assert!(bare(&models, "m").is_none());
    assert_eq!(bare(&models, "n").map(|(id, _)| *id), Some("b/n"));
}
