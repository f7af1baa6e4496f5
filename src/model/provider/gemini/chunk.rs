//! One chunk of a streamed answer: structs that borrow from its data.
//!
//! Reads only; what the chunks amount to is put together in `decode`.

use serde::Deserialize;
use serde_json::Value;

use crate::model::provider::borrowed::Text;

/// One chunk.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk<'a> {
    #[serde(borrow, default)]
    pub candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, default)]
    pub prompt_feedback: Option<Feedback<'a>>,
    #[serde(default)]
    pub usage_metadata: Option<Tokens>,
    #[serde(default)]
    pub error: Option<Value>,
}

/// One of the answers; only one is ever asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate<'a> {
    #[serde(default)]
    pub index: Option<u64>,
    #[serde(borrow, default)]
    pub content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub finish_reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub finish_message: Option<Text<'a>>,
}

/// What a chunk adds; without parts in some last chunks.
#[derive(Debug, Default, Deserialize)]
pub struct Content<'a> {
    #[serde(borrow, default)]
    pub parts: Option<Vec<Part<'a>>>,
}

/// A piece of text or thought, or a call.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part<'a> {
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(default)]
    pub thought: Option<bool>,
    #[serde(borrow, default)]
    pub thought_signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub function_call: Option<Call<'a>>,
}

/// A call, always whole.
#[derive(Debug, Default, Deserialize)]
pub struct Call<'a> {
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(default)]
    pub args: Option<Value>,
}

/// What is said about the request.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Feedback<'a> {
    #[serde(borrow, default)]
    pub block_reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub block_reason_message: Option<Text<'a>>,
}

/// Usage so far, not since the last chunk.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Includes what came from a cache.
    #[serde(default)]
    pub prompt_token_count: Option<u64>,
    #[serde(default)]
    pub cached_content_token_count: Option<u64>,
    /// What Google's own tools put into the prompt; not included above.
    #[serde(default)]
    pub tool_use_prompt_token_count: Option<u64>,
    /// Excludes thoughts.
    #[serde(default)]
    pub candidates_token_count: Option<u64>,
    #[serde(default)]
    pub thoughts_token_count: Option<u64>,
}

impl Tokens {
    /// Takes over what a later chunk tells.
    pub fn update(&mut self, later: Self) {
        let Self {
            prompt_token_count,
            cached_content_token_count,
            tool_use_prompt_token_count,
            candidates_token_count,
            thoughts_token_count,
        } = later;
        let fields = [
            (&mut self.prompt_token_count, prompt_token_count),
            (&mut self.cached_content_token_count, cached_content_token_count),
            (&mut self.tool_use_prompt_token_count, tool_use_prompt_token_count),
            (&mut self.candidates_token_count, candidates_token_count),
            (&mut self.thoughts_token_count, thoughts_token_count),
        ];
        for (known, told) in fields {
            *known = told.or(*known);
        }
    }
}
