//! How much a model of Anthropic is to think, in the words its generation understands.
//!
//! Source: the API's documents on extended and adaptive thinking. Models up to 4.6 take a budget; later ones refuse it,
//! and refuse sampling parameters as well.

use serde::Serialize;

use crate::model::ModelInfo;
use crate::model::provider::compat::Compat;
use crate::model::request::{Effort, Options};

/// The output limit where neither the configuration nor the model names one: every model allows as much.
const DEFAULT_MAX_TOKENS: u64 = 8192;
/// The least budget the API takes, in tokens.
const LEAST_BUDGET: u64 = 1024;

/// What a request says about thinking, and what depends on it.
#[derive(Debug, Serialize)]
pub struct Plan {
    /// The output limit, thinking included.
    pub max_tokens: u64,
    /// From 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_config: Option<OutputConfig>,
}

/// The `thinking` parameter.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Thinking {
    Enabled { budget_tokens: u64 },
    Adaptive { display: &'static str },
}

/// The `output_config` parameter.
#[derive(Debug, Serialize)]
pub struct OutputConfig {
    effort: &'static str,
}

/// Decides for one request. `allowed` is false where the history forbids thinking.
pub fn plan(options: &Options, info: &ModelInfo, compat: &Compat, allowed: bool) -> Plan {
    let max_tokens = options.max_tokens.or(info.max_output).unwrap_or(DEFAULT_MAX_TOKENS).max(1);
    let adaptive = compat.adaptive.unwrap_or_else(|| is_adaptive(&info.origin.model));
    let mut plan = Plan {
        max_tokens,
        temperature: options.temperature.filter(|_| !adaptive).map(|temperature| temperature.min(1.0)),
        thinking: None,
        output_config: None,
    };
    let Some((effort, budget)) = options.effort.and_then(wishes) else { return plan };
    if adaptive {
        plan.thinking = Some(Thinking::Adaptive { display: "summarized" });
        plan.output_config = Some(OutputConfig { effort });
    } else if allowed {
        // A quarter of the limit stays for the answer.
        let room = max_tokens.saturating_sub((max_tokens / 4).max(LEAST_BUDGET));
        let budget_tokens = budget.min(room).max(LEAST_BUDGET);
        plan.thinking = (budget_tokens < max_tokens).then_some(Thinking::Enabled { budget_tokens });
    }
    if plan.thinking.is_some() {
        plan.temperature = None;
    }
    plan
}

/// The effort's word and its budget in tokens; nothing for no thinking.
fn wishes(effort: Effort) -> Option<(&'static str, u64)> {
    match effort {
        Effort::Off => None,
        Effort::Minimal => Some(("low", LEAST_BUDGET)),
        Effort::Low => Some(("low", 2048)),
        Effort::Medium => Some(("medium", 8192)),
        Effort::High => Some(("high", 16_384)),
    }
}

/// Whether a model's name says that it is later than 4.6: `claude-opus-4-7`, `claude-sonnet-5`, `claude-mythos`.
fn is_adaptive(model: &str) -> bool {
    const LAST_WITH_BUDGET: (u64, u64) = (4, 6);
    let Some((_, name)) = model.split_once("claude") else { return false };
    // Dates are longer than version numbers.
    let mut numbers = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() <= 2)
        .filter_map(|word| word.parse::<u64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), minor) => (major, minor.unwrap_or(0)) > LAST_WITH_BUDGET,
        (None, _) => !matches!(name, "" | "-instant") && !name.contains("latest"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_are_told_by_name() {
        let old = [
            "claude-3-5-sonnet-20241022",
            "claude-3-7-sonnet-latest",
            "claude-sonnet-4-20250514",
            "claude-opus-4-1-20250805",
            "anthropic/claude-sonnet-4.5",
            "us.anthropic.claude-haiku-4-5-20251001-v1:0",
            "claude-opus-4-6",
            "test-model",
            "MiniMax-M2",
        ];
        for model in old {
            assert!(!is_adaptive(model), "{model}");
        }
        for model in ["claude-opus-4-7", "claude-sonnet-5", "claude-opus-5-20270101", "claude-mythos-preview"] {
            assert!(is_adaptive(model), "{model}");
        }
    }
}
