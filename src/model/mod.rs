//! Who to ask: one vocabulary, many wires.
//!
//! [`message`], [`request`], [`reply`], [`usage`] and [`error`] are the vocabulary that every layer above shares.
//! Adapters under `provider` translate between it and a wire; they neither open files nor read clocks.
//! A [`Model`] makes exactly one attempt: whether to try again is decided in `kernel::retry`.

pub mod error;
pub mod http;
pub mod message;
pub mod provider;
pub mod replay;
pub mod reply;
pub mod request;
pub mod sse;
pub mod usage;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::base::cancel::Cancel;
use error::ModelError;
use message::Origin;
use reply::{Delta, Reply};
use request::Request;
use usage::Price;

/// What is known about a model before it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    /// Which provider and model; kept with every answer.
    pub origin: Arc<Origin>,
    /// A name for people; the id where nothing better is known.
    pub label: String,
    /// How many tokens fit into a request and its answer together.
    pub window: Option<u64>,
    /// How many tokens an answer may have at most.
    pub max_output: Option<u64>,
    /// What tokens cost; unknown for most models.
    pub price: Option<Price>,
    /// Whether the model reasons before it answers.
    pub reasoning: bool,
    /// Whether the model sees pictures.
    pub images: bool,
}

/// The future that [`Model::reply`] returns.
pub type ReplyFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + 'a>>;

/// Something that answers a request.
pub trait Model: Send + Sync {
    /// What is known about it.
    fn info(&self) -> &ModelInfo;

    /// Makes one attempt. Pieces of text and reasoning go to `deltas` as they arrive; the whole answer is returned.
    ///
    /// When `cancel` is thrown the attempt ends within 200 ms, with an error of kind [`error::ErrorKind::Cancelled`].
    fn reply<'a>(
        &'a self,
        request: &'a Request,
        deltas: &'a mut dyn FnMut(Delta<'_>),
        cancel: &'a Cancel,
    ) -> ReplyFuture<'a>;
}

/// The wire a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// `POST {base}/chat/completions`, as OpenAI defined it and most others speak it.
    OpenaiCompletions,
    /// `POST {base}/responses`.
    OpenaiResponses,
    /// `POST {base}/v1/messages`.
    AnthropicMessages,
    /// `POST {base}/models/{model}:streamGenerateContent`.
    GoogleGenerativeAi,
    /// No wire: answers come from a recorded session.
    Replay,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::OpenaiCompletions,
        Self::OpenaiResponses,
        Self::AnthropicMessages,
        Self::GoogleGenerativeAi,
        Self::Replay,
    ];

    /// The name in configuration files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiCompletions => "openai-completions",
            Self::OpenaiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GoogleGenerativeAi => "google-generative-ai",
            Self::Replay => "replay",
        }
    }

    /// The reverse of [`Api::as_str`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.as_str() == name)
    }
}
