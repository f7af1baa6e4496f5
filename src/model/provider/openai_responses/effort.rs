//! How much a model is to reason, in words that this model takes: each generation refuses some.
//!
//! Sources: the API's reference of `reasoning.effort`, the efforts that were tried on each model
//! (<https://community.openai.com/t/1371738>), and the price map of `litellm`, which lists them for later models.

use crate::model::ModelInfo;
use crate::model::provider::compat::{Compat, EffortStyle};
use crate::model::request::Effort;

/// What a request says about reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether the model reasons at all: then it is asked for seals and summaries, and takes no temperature.
    pub reasons: bool,
    /// The word for how much.
    pub effort: Option<&'static str>,
}

/// Decides for one request.
pub fn plan(asked: Option<Effort>, info: &ModelInfo, compat: &Compat) -> Plan {
    let takes = takes(&info.origin.model);
    let reasons = match takes {
        Some(efforts) => !efforts.is_empty(),
        None => info.reasoning || asked.is_some_and(|effort| effort != Effort::Off),
    };
    let effort = asked.and_then(|asked| match (compat.effort, takes) {
        (EffortStyle::Nothing, _) => None,
        (_, Some(efforts)) => nearest(asked, efforts),
        // Nobody knows whether it can be switched off, unless the configuration says so.
        (style, None) if asked == Effort::Off => (style == EffortStyle::WordOrNone).then_some(Effort::Off),
        (_, None) => nearest(asked, USUAL),
    });
    Plan { reasons, effort: effort.map(word) }
}

fn word(effort: Effort) -> &'static str {
    match effort {
        Effort::Off => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

/// The least of these that is not less than what is asked for, else the greatest.
fn nearest(asked: Effort, efforts: &[Effort]) -> Option<Effort> {
    let rank = |effort: Effort| match effort {
        Effort::Off => 0,
        Effort::Minimal => 1,
        Effort::Low => 2,
        Effort::Medium => 3,
        Effort::High => 4,
    };
    efforts.iter().copied().find(|effort| rank(*effort) >= rank(asked)).or(efforts.last().copied())
}

// From the least to the greatest.
const NONE: &[Effort] = &[];
const USUAL: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];
const FROM_MINIMAL: &[Effort] = &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];
const FROM_OFF: &[Effort] = &[Effort::Off, Effort::Low, Effort::Medium, Effort::High];
const FROM_MEDIUM: &[Effort] = &[Effort::Medium, Effort::High];
const ONLY_MEDIUM: &[Effort] = &[Effort::Medium];
const ONLY_HIGH: &[Effort] = &[Effort::High];

/// What models take whose names begin and go on like this; the first row that fits counts.
const FAMILIES: &[(&str, &str, &[Effort])] = &[
    ("gpt-3", "", NONE),
    ("gpt-4", "", NONE),
    ("chatgpt-4o", "", NONE),
    ("gpt-5-chat", "", NONE),
    ("gpt-5-search", "", NONE),
    ("gpt-5", "chat-latest", ONLY_MEDIUM),
    ("chat-latest", "", ONLY_MEDIUM),
    ("gpt-5-pro", "", ONLY_HIGH),
    ("gpt-5", "-pro", FROM_MEDIUM),
    ("gpt-5.3-codex", "", FROM_OFF),
    ("gpt-5", "codex", USUAL),
    ("codex", "", USUAL),
    ("gpt-5.", "", FROM_OFF),
    ("gpt-5", "", FROM_MINIMAL),
    ("gpt-6-sol", "", FROM_OFF),
    ("gpt-6-luna", "", FROM_OFF),
    ("gpt-6.1-terra", "", FROM_OFF),
    ("gpt-6", "", USUAL),
    ("o1", "", USUAL),
    ("o3", "", USUAL),
    ("o4", "", USUAL),
];

/// The efforts a model takes, from the least to the greatest; none for one that does not reason, `None` for a stranger.
fn takes(model: &str) -> Option<&'static [Effort]> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let fits = |begin: &str, then: &str| name.strip_prefix(begin).is_some_and(|rest| rest.contains(then));
    // "o1" and the like are short enough to begin another name.
    let whole = |begin: &str| {
        let after = name.strip_prefix(begin).and_then(|rest| rest.bytes().next());
        !begin.starts_with('o') || matches!(after, None | Some(b'-' | b':'))
    };
    let found = FAMILIES.iter().find(|(begin, then, _)| fits(begin, then) && whole(begin));
    found.map(|(_, _, efforts)| *efforts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Origin;
    use crate::model::provider::tests::info;
    use std::sync::Arc;

    const ALL: [Effort; 5] = [Effort::Off, Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];

    fn words(model: &str) -> [&'static str; 5] {
        let origin = Arc::new(Origin { provider: "p".to_owned(), model: model.to_owned() });
        let info = ModelInfo { origin, reasoning: false, ..info() };
        ALL.map(|asked| plan(Some(asked), &info, &Compat::default()).effort.unwrap_or("-"))
    }

    #[test]
    fn every_generation_gets_words_it_takes() {
        for (models, expected) in [
            (&["gpt-5", "gpt-5-mini", "gpt-5-nano-2025-08-07"][..], ["minimal", "minimal", "low", "medium", "high"]),
            (
                &["gpt-5.1", "gpt-5.2-2025-12-11", "openai/gpt-5.6-sol", "gpt-6-sol"],
                ["none", "low", "low", "medium", "high"],
            ),
            (
                &["gpt-5-codex", "gpt-5.1-codex-max", "codex-mini-latest", "o3", "o4-mini", "o1-pro", "gpt-6-astra"],
                ["low", "low", "low", "medium", "high"],
            ),
            (&["gpt-5.2-chat-latest"], ["medium"; 5]),
            (&["gpt-5-pro-2025-10-06"], ["high"; 5]),
            (&["gpt-5.2-pro"], ["medium", "medium", "medium", "medium", "high"]),
            (&["gpt-4o", "gpt-4.1-mini", "gpt-5-chat-latest", "ft:gpt-4.1-2025-04-14:me"], ["-"; 5]),
            (&["qwen3-coder", "o1lama", "gpt-oss-20b"], ["-", "low", "low", "medium", "high"]),
        ] {
            for model in models {
                assert_eq!(words(model), expected, "{model}");
            }
        }
    }

    #[test]
    fn the_configuration_may_know_better() {
        let with = |effort| Compat { effort, ..Compat::default() };
        let asked = |asked, compat: &Compat| plan(Some(asked), &info(), compat).effort;
        assert_eq!(asked(Effort::Off, &with(EffortStyle::WordOrNone)), Some("none"));
        assert_eq!(asked(Effort::High, &with(EffortStyle::Nothing)), None);
        assert_eq!(plan(None, &info(), &Compat::default()), Plan { reasons: true, effort: None });
    }
}
