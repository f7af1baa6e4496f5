//! How much a model of Google is to think, in the words or numbers its generation understands.

use serde::Serialize;

use crate::model::ModelInfo;
use crate::model::request::{Effort, Options};

use super::generation::{Generation, Thinking};

/// The `thinkingConfig` parameter.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

/// What a request says about thinking; nothing where the model thinks nothing, or as it likes and unseen.
///
/// Thoughts are asked for only where there are some: models that do not think refuse the question.
pub fn config(options: &Options, info: &ModelInfo, generation: Generation) -> Option<Config> {
    let shown = Config { include_thoughts: true, thinking_budget: None, thinking_level: None };
    match (generation.thinking, options.effort) {
        (Thinking::Never, _) => None,
        (Thinking::Budget { by_itself, .. } | Thinking::Level { by_itself, .. }, None) => by_itself.then_some(shown),
        (Thinking::Budget { off, .. }, Some(Effort::Off)) => {
            Some(Config { include_thoughts: false, thinking_budget: Some(off), thinking_level: None })
        }
        (Thinking::Level { least, .. }, Some(Effort::Off)) => {
            Some(Config { include_thoughts: false, thinking_budget: None, thinking_level: Some(least) })
        }
        (Thinking::Budget { least, .. }, Some(effort)) => {
            let wished = budget(effort);
            // The output limit covers thoughts as well; a quarter of it stays for the answer.
            let limit = options.max_tokens.or(info.max_output);
            let fitting = limit.map_or(wished, |limit| wished.min(limit - limit / 4));
            Some(Config { thinking_budget: Some(fitting.max(least)), ..shown })
        }
        (Thinking::Level { least, some, .. }, Some(effort)) => {
            let word = match effort {
                Effort::Off | Effort::Minimal => least,
                Effort::Low => "LOW",
                Effort::Medium => some,
                Effort::High => "HIGH",
            };
            Some(Config { thinking_level: Some(word), ..shown })
        }
    }
}

/// A budget in tokens. Low, medium and high are what Google itself makes of these words:
/// <https://ai.google.dev/gemini-api/docs/openai>; minimal is the least that every model takes.
fn budget(effort: Effort) -> u64 {
    match effort {
        Effort::Off => 0,
        Effort::Minimal => 512,
        Effort::Low => 1024,
        Effort::Medium => 8192,
        Effort::High => 24_576,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::provider::compat::Compat;
    use crate::model::provider::tests::info;
    use serde_json::{Value, json};

    fn of(model: &str, effort: Option<Effort>, max_tokens: Option<u64>) -> Value {
        let options = Options { effort, max_tokens, ..Options::default() };
        json!(config(&options, &info(), Generation::of(model, &Compat::default())))
    }

    #[test]
    fn every_generation_has_its_own_words() {
        use Effort::{High, Low, Medium, Minimal, Off};
        let budget = |tokens: u64| json!({"includeThoughts": true, "thinkingBudget": tokens});
        let level = |word: &str| json!({"includeThoughts": true, "thinkingLevel": word});
        let table = [
            ("gemini-2.0-flash", Some(High), json!(null)),
            ("gemini-2.5-pro", None, json!({"includeThoughts": true})),
            ("gemini-2.5-pro", Some(Off), json!({"thinkingBudget": 128})),
            ("gemini-2.5-pro", Some(High), budget(24_576)),
            ("gemini-2.5-flash", Some(Off), json!({"thinkingBudget": 0})),
            ("gemini-2.5-flash", Some(Low), budget(1024)),
            ("gemini-2.5-flash-lite", None, json!(null)),
            ("gemini-2.5-flash-lite", Some(Minimal), budget(512)),
            ("gemini-3-pro-preview", Some(Off), json!({"thinkingLevel": "LOW"})),
            ("gemini-3-pro-preview", Some(Medium), level("HIGH")),
            ("gemini-3.1-pro-preview", Some(Medium), level("MEDIUM")),
            ("gemini-3-flash-preview", Some(Minimal), level("MINIMAL")),
            ("gemini-3.8-flash", Some(Minimal), level("LOW")),
            ("gemini-3.8-flash", None, json!({"includeThoughts": true})),
            ("test-model", None, json!(null)),
            ("test-model", Some(High), budget(24_576)),
        ];
        for (model, effort, expected) in table {
            assert_eq!(of(model, effort, None), expected, "{model} {effort:?}");
        }
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        assert_eq!(of("gemini-2.5-flash", Some(Effort::High), Some(1000))["thinkingBudget"], 750);
        assert_eq!(of("gemini-2.5-pro", Some(Effort::High), Some(10))["thinkingBudget"], 128);
    }
}
