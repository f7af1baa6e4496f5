//! What a provider can do differently on the wire it speaks, and overrides of that from the configuration.
//!
//! Which vendor does what differently is in `vendors`; the encoders and decoders only ask for the facts.

use serde_json::Value;

use crate::base::json::Object;
use crate::base::text::likeness::closest;

use super::ids::IdStyle;
use super::vendors;

/// The differences, as facts. Chat completions has most of them; the responses wire reads `effort`, `reasoning_back`,
/// `prompt_cache_key` and `reasoning_summary`, Anthropic's `cache_marks` and `adaptive`, Google's `json_schema`, `thinking`
/// and `gemini_3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compat {
    /// Calls written as text are taken as calls.
    pub text_calls: bool,
    /// What the output limit is called.
    pub max_tokens_field: MaxTokensField,
    /// Usage has to be asked for with `stream_options`.
    pub stream_usage: bool,
    /// How the wish for more or less reasoning is written.
    pub effort: EffortStyle,
    /// What part of its own reasoning a model wants back, and where.
    pub reasoning_back: ReasoningBack,
    /// What ids of calls look like.
    pub call_ids: IdStyle,
    /// The system prompt's role is `developer`.
    pub developer_role: bool,
    /// A tool's result repeats the tool's name.
    pub tool_result_name: bool,
    /// A user message may not follow a tool's result.
    pub assistant_after_tool: bool,
    /// An assistant message without text has `content: null`, else `""`.
    pub null_content: bool,
    /// A list of tools that is empty is sent where the history has calls, else never.
    pub empty_tools: bool,
    /// `prompt_cache_key` is understood.
    pub prompt_cache_key: bool,
    /// Anthropic's wire: caching is asked for with `cache_control` on blocks.
    pub cache_marks: bool,
    /// The chat wire: caching is asked for with `cache_control` at the top of the body.
    pub cache_top: bool,
    /// Reasoning may come inline, between `<think>` and `</think>` at the start of the answer.
    pub think_tags: bool,
    /// The responses wire: a summary of the reasoning is asked for, which `OpenAI` grants verified organizations only.
    pub reasoning_summary: bool,
    /// Anthropic's wire: whether the model reasons adaptively instead of by budget; by the model's name if not given.
    pub adaptive: Option<bool>,
    /// Google's wire: tools are described in JSON Schema, else in the older subset of `OpenAPI`'s.
    pub json_schema: bool,
    /// Google's wire: how a model is told to think; by its name if not given.
    pub thinking: Option<ThinkingStyle>,
    /// Google's wire: whether the model wants a seal on every call, takes pictures in results, and wants these in a turn of
    /// their own; by its name if not given.
    pub gemini_3: Option<bool>,
}

/// How a model of Google is told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingStyle {
    /// Not at all: it does not think.
    Nothing,
    /// `thinkingBudget`, a number of tokens.
    Budget,
    /// `thinkingLevel`, a word.
    Level,
}

/// What the output limit is called on the chat wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxTokensField {
    /// The name most servers know.
    MaxTokens,
    /// `OpenAI`'s newer name, which its reasoning models demand.
    MaxCompletionTokens,
}

/// How the wish for more or less reasoning is written on the chat wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortStyle {
    /// Not at all.
    Nothing,
    /// `reasoning_effort: "high"`; nothing for `off`.
    Word,
    /// As `Word`, and `"none"` for `off`.
    WordOrNone,
    /// As `Word`, to models known to reason: others refuse the parameter.
    WordIfReasoning,
    /// `thinking: {"type": "enabled"}` or `"disabled"`.
    Switch,
    /// `enable_thinking: true` or `false`.
    Flag,
    /// `reasoning: {"effort": "high"}` or `{"enabled": false}`.
    Object,
}

/// What part of its own reasoning a model wants back on the chat wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningBack {
    /// Nothing.
    Nothing,
    /// `reasoning_content` of every message with calls, empty if there was none.
    Content,
    /// `reasoning_details`, verbatim.
    Details,
}

impl Default for Compat {
    /// What most servers understand.
    fn default() -> Self {
        Self {
            text_calls: false,
            max_tokens_field: MaxTokensField::MaxTokens,
            stream_usage: true,
            effort: EffortStyle::Word,
            reasoning_back: ReasoningBack::Nothing,
            call_ids: IdStyle::Short,
            developer_role: false,
            tool_result_name: false,
            assistant_after_tool: false,
            null_content: true,
            empty_tools: false,
            prompt_cache_key: false,
            cache_marks: true,
            cache_top: false,
            think_tags: true,
            reasoning_summary: true,
            adaptive: None,
            json_schema: true,
            thinking: None,
            gemini_3: None,
        }
    }
}

impl Compat {
    /// What is known about a provider: by its host, which says more than a name anyone may give, then by its name.
    pub fn for_provider(name: &str, base_url: &str) -> Self {
        let mut compat = Self::default();
        let differ = vendors::find(name, base_url).map_or(vendors::own as fn(&mut Self), |vendor| vendor.differ);
        differ(&mut compat);
        compat
    }

    /// Sets what `overrides` names.
    ///
    /// # Errors
    ///
    /// An unknown key, with the nearest known one, or a value of the wrong kind.
    pub fn apply(&mut self, overrides: &Object) -> Result<(), String> {
        for (key, value) in overrides {
            self.set(key, value)?;
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        match key {
            "text_calls" => self.text_calls = flag(key, value)?,
            "max_tokens_field" => {
                let words = [
                    ("max_tokens", MaxTokensField::MaxTokens),
                    ("max_completion_tokens", MaxTokensField::MaxCompletionTokens),
                ];
                self.max_tokens_field = choice(key, value, &words)?;
            }
            "stream_usage" => self.stream_usage = flag(key, value)?,
            "effort" => {
                let words = [
                    ("nothing", EffortStyle::Nothing),
                    ("word", EffortStyle::Word),
                    ("word_or_none", EffortStyle::WordOrNone),
                    ("word_if_reasoning", EffortStyle::WordIfReasoning),
                    ("switch", EffortStyle::Switch),
                    ("flag", EffortStyle::Flag),
                    ("object", EffortStyle::Object),
                ];
                self.effort = choice(key, value, &words)?;
            }
            "reasoning_back" => {
                let words = [
                    ("nothing", ReasoningBack::Nothing),
                    ("reasoning_content", ReasoningBack::Content),
                    ("reasoning_details", ReasoningBack::Details),
                ];
                self.reasoning_back = choice(key, value, &words)?;
            }
            "call_ids" => {
                let words = [("short", IdStyle::Short), ("nine", IdStyle::Nine), ("long", IdStyle::Long)];
                self.call_ids = choice(key, value, &words)?;
            }
            "developer_role" => self.developer_role = flag(key, value)?,
            "tool_result_name" => self.tool_result_name = flag(key, value)?,
            "assistant_after_tool" => self.assistant_after_tool = flag(key, value)?,
            "null_content" => self.null_content = flag(key, value)?,
            "empty_tools" => self.empty_tools = flag(key, value)?,
            "prompt_cache_key" => self.prompt_cache_key = flag(key, value)?,
            "cache_marks" => self.cache_marks = flag(key, value)?,
            "cache_top" => self.cache_top = flag(key, value)?,
            "think_tags" => self.think_tags = flag(key, value)?,
            "reasoning_summary" => self.reasoning_summary = flag(key, value)?,
            "adaptive" => self.adaptive = Some(flag(key, value)?),
            "json_schema" => self.json_schema = flag(key, value)?,
            "thinking" => {
                let words = [
                    ("nothing", ThinkingStyle::Nothing),
                    ("budget", ThinkingStyle::Budget),
                    ("level", ThinkingStyle::Level),
                ];
                self.thinking = Some(choice(key, value, &words)?);
            }
            "gemini_3" => self.gemini_3 = Some(flag(key, value)?),
            unknown => return Err(unknown_key(unknown)),
        }
        Ok(())
    }
}

/// The keys [`Compat::apply`] understands.
pub const KEYS: &[&str] = &[
    "text_calls",
    "max_tokens_field",
    "stream_usage",
    "effort",
    "reasoning_back",
    "call_ids",
    "developer_role",
    "tool_result_name",
    "assistant_after_tool",
    "null_content",
    "empty_tools",
    "prompt_cache_key",
    "cache_marks",
    "cache_top",
    "think_tags",
    "reasoning_summary",
    "adaptive",
    "json_schema",
    "thinking",
    "gemini_3",
];

fn flag(key: &str, value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("`{key}` is {value}, expected true or false"))
}

fn choice<T: Copy>(key: &str, value: &Value, words: &[(&str, T)]) -> Result<T, String> {
    let found = value.as_str().and_then(|word| words.iter().find(|(known, _)| *known == word));
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("`{key}` is {value}, expected one of {}", known.join(", "))
    })
}

fn unknown_key(key: &str) -> String {
    let hint = closest(key, KEYS.iter().copied()).map(|known| format!(", did you mean `{known}`?")).unwrap_or_default();
    format!("unknown key `{key}`{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn apply(overrides: &Value) -> Result<Compat, String> {
        let mut compat = Compat::default();
        compat.apply(overrides.as_object().unwrap())?;
        Ok(compat)
    }

    #[test]
    fn vendors_are_known_by_host_then_by_name() {
        let ids = |name: &str, url: &str| Compat::for_provider(name, url).call_ids;
        assert_eq!(ids("mistral", "http://gateway.local/v1"), IdStyle::Nine);
        assert_eq!(ids("mine", "https://api.mistral.ai/v1"), IdStyle::Nine);
        assert_eq!(ids("mistral", "https://api.openai.com/v1"), IdStyle::Short);
        assert_eq!(ids("mine", "https://notmistral.ai/v1"), IdStyle::Short);
        assert!(Compat::for_provider("mock", "http://127.0.0.1:1/v1").text_calls);
        assert!(!Compat::for_provider("groq", "https://api.groq.com/openai/v1").text_calls);
        assert_eq!(Compat::for_provider("x", "https://api.together.ai/v1"), Compat::default());
        assert_eq!(Compat::for_provider("x", "https://api.x.ai/v1").effort, EffortStyle::WordIfReasoning);
        assert!(Compat::for_provider("litellm", "http://127.0.0.1:4000").empty_tools);
        assert!(Compat::for_provider("x", "https://me:pw@API.OpenAI.com:443/v1?x").prompt_cache_key);
    }

    #[test]
    fn overrides_are_checked() {
        assert_eq!(apply(&json!({"text_calls": true})).unwrap(), Compat { text_calls: true, ..Compat::default() });
        assert_eq!(apply(&json!({"call_ids": "nine"})).unwrap().call_ids, IdStyle::Nine);
        assert_eq!(
            apply(&json!({"text_cals": true})).unwrap_err(),
            "unknown key `text_cals`, did you mean `text_calls`?"
        );
        assert_eq!(apply(&json!({"think_tags": 1})).unwrap_err(), "`think_tags` is 1, expected true or false");
        assert!(apply(&json!({"call_ids": "x"})).unwrap_err().contains("short, nine, long"));
    }

    #[test]
    fn every_key_is_understood() {
        for key in KEYS {
            let complaint = Compat::default().set(key, &Value::Null).unwrap_err();
            assert!(complaint.contains("expected"), "{complaint}");
        }
        let shown = format!("{:#?}", Compat::default());
        let fields: Vec<&str> = shown
            .lines()
            .filter_map(|line| line.strip_prefix("    ")?.split_once(": "))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(fields, KEYS, "each difference can be overridden");
    }
}
