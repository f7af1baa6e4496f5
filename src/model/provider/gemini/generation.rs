//! What the name of a model of Google tells of it.
//!
//! Sources: Google's pages on thinking, on thought signatures and on multimodal function responses, and what the API
//! answered to others: `minimal` is refused by 3.7 and later (litellm's price map: `supports_minimal_reasoning_effort`).

use crate::model::provider::compat::{Compat, ThinkingStyle};

/// What matters about a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// How it is told to think.
    pub thinking: Thinking,
    /// From 3 on: a call has to have a seal, results may hold pictures, and a turn with results may hold nothing else.
    pub third: bool,
}

/// How a model is told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// It does not, and refuses to be asked.
    Never,
    /// By a number of tokens.
    Budget {
        /// The least it takes besides what switches thinking off, in tokens.
        least: u64,
        /// What comes closest to no thinking, in tokens.
        off: u64,
        /// Whether it thinks unless told otherwise.
        by_itself: bool,
    },
    /// By a word.
    Level {
        /// What comes closest to no thinking.
        least: &'static str,
        /// The word for some thinking.
        some: &'static str,
        /// Whether it is known to think unless told otherwise.
        by_itself: bool,
    },
}

/// The versions from which on words replace budgets, and `MINIMAL` is no longer among them.
const WORDS: (u64, u64) = (3, 0);
const NO_MINIMAL: (u64, u64) = (3, 7);
/// The first version that thinks.
const BUDGETS: (u64, u64) = (2, 5);

impl Generation {
    /// What is known about a model by its name, unless the configuration says otherwise.
    pub fn of(model: &str, compat: &Compat) -> Self {
        let name = model.to_ascii_lowercase();
        let version = version(&name);
        let known = version.map(|version| match version {
            _ if version >= WORDS => level(version, &name),
            _ if version >= BUDGETS => budget(&name),
            _ => Thinking::Never,
        });
        let thinking = match (compat.thinking, known) {
            (Some(ThinkingStyle::Nothing), _) => Thinking::Never,
            (None, Some(known)) => known,
            (Some(ThinkingStyle::Budget), Some(known @ Thinking::Budget { .. })) => known,
            (Some(ThinkingStyle::Level), Some(known @ Thinking::Level { .. })) => known,
            (Some(ThinkingStyle::Level), _) => Thinking::Level { least: "LOW", some: "MEDIUM", by_itself: false },
            // Of an unknown name: the older way, and only on demand.
            (Some(ThinkingStyle::Budget) | None, _) => Thinking::Budget { least: 512, off: 0, by_itself: false },
        };
        Self { thinking, third: compat.gemini_3.unwrap_or(version >= Some(WORDS)) }
    }
}

/// <https://ai.google.dev/gemini-api/docs/thinking>: Pro from 128 on, Flash from 1 on, Flash-Lite from 512 on and not by
/// itself; all but Pro take 0.
fn budget(name: &str) -> Thinking {
    let is = |word: &str| name.contains(word);
    match (is("pro"), is("lite")) {
        (true, _) => Thinking::Budget { least: 128, off: 128, by_itself: true },
        (false, true) => Thinking::Budget { least: 512, off: 0, by_itself: false },
        (false, false) => Thinking::Budget { least: 1, off: 0, by_itself: true },
    }
}

/// 3 Pro knows `LOW` and `HIGH` alone, later ones of the Pro line `MEDIUM` too; only Flash up to 3.6 knows `MINIMAL`.
fn level(version: (u64, u64), name: &str) -> Thinking {
    let is_pro = name.contains("pro");
    let least = if is_pro || version >= NO_MINIMAL { "LOW" } else { "MINIMAL" };
    let some = if is_pro && version == WORDS { "HIGH" } else { "MEDIUM" };
    Thinking::Level { least, some, by_itself: true }
}

/// The version in a name such as `gemini-2.5-flash-lite`; that of the newest for `gemini-pro-latest`.
fn version(name: &str) -> Option<(u64, u64)> {
    let (_, rest) = name.split_once("gemini-")?;
    let word = rest.split(['-', '@', ':']).next().unwrap_or_default();
    let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => Some((major, minor)),
        _ if rest.ends_with("-latest") => Some((u64::MAX, 0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str) -> Generation {
        Generation::of(model, &Compat::default())
    }

    #[test]
    fn names_tell_the_generation() {
        let budget = |least, off, by_itself| Thinking::Budget { least, off, by_itself };
        let level = |least, some| Thinking::Level { least, some, by_itself: true };
        let table = [
            ("gemini-1.5-pro", Thinking::Never, false),
            ("gemini-2.0-flash", Thinking::Never, false),
            ("gemini-2.5-pro", budget(128, 128, true), false),
            ("models/gemini-2.5-flash", budget(1, 0, true), false),
            ("gemini-2.5-flash-lite-preview-09-2025", budget(512, 0, false), false),
            ("gemini-3-pro-preview", level("LOW", "HIGH"), true),
            ("gemini-3.1-pro-preview-customtools", level("LOW", "MEDIUM"), true),
            ("google/gemini-3-flash-preview", level("MINIMAL", "MEDIUM"), true),
            ("gemini-3.5-flash-lite", level("MINIMAL", "MEDIUM"), true),
            ("gemini-3.8-flash", level("LOW", "MEDIUM"), true),
            ("gemini-4-hydrogen", level("LOW", "MEDIUM"), true),
            ("gemini-flash-latest", level("LOW", "MEDIUM"), true),
            ("gemini-exp-1206", budget(512, 0, false), false),
            ("tunedModels/mine", budget(512, 0, false), false),
            ("test-model", budget(512, 0, false), false),
        ];
        for (model, thinking, third) in table {
            assert_eq!(of(model), Generation { thinking, third }, "{model}");
        }
    }

    #[test]
    fn the_configuration_knows_better() {
        let with = |thinking, gemini_3, model: &str| {
            Generation::of(model, &Compat { thinking, gemini_3, ..Compat::default() })
        };
        assert_eq!(with(Some(ThinkingStyle::Nothing), None, "gemini-3-pro").thinking, Thinking::Never);
        assert_eq!(with(Some(ThinkingStyle::Level), None, "gemini-3.5-flash"), of("gemini-3.5-flash"));
        let custom = with(Some(ThinkingStyle::Level), Some(true), "tunedModels/mine");
        assert!(matches!(custom, Generation { thinking: Thinking::Level { least: "LOW", .. }, third: true }));
        assert!(matches!(with(Some(ThinkingStyle::Budget), None, "gemini-4").thinking, Thinking::Budget { .. }));
        assert!(!with(None, Some(false), "gemini-3-pro").third);
    }
}
