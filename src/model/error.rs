//! Why an attempt to get an answer failed.

use std::time::Duration;

use thiserror::Error;

/// A failed attempt. `Display` is one line for a person: what failed and where, lower case, no full stop.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// One line, without secrets: the provider's own words where it gave any.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long the server asked to wait.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// A failure of this kind, retryable as its kind usually is.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: kind.usually_passes(), retry_after: None }
    }
}

/// The kinds of failure a caller can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The key is missing, wrong, or not allowed to do this; also billing and exhausted credit.
    Auth,
    /// Too many requests; passes.
    RateLimit,
    /// The server has too much to do; passes.
    Overload,
    /// The server could not be reached, or the stream broke off.
    Network,
    /// Nothing came for too long.
    Timeout,
    /// The request does not fit the model's window.
    Context,
    /// The model or a filter refused to answer.
    Refused,
    /// A picture in the request cannot be taken.
    Picture,
    /// The seal of earlier reasoning is not accepted.
    Seal,
    /// The request is not understood, or what it names does not exist.
    InvalidRequest,
    /// The answer held neither words nor calls.
    Empty,
    /// The answer was cut by the output limit.
    Length,
    /// The caller threw the switch.
    Cancelled,
    /// A defect of this program.
    Internal,
}

impl ErrorKind {
    /// The code of the event vocabulary.
    pub fn code(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimit => "rate_limit",
            Self::Overload => "overload",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::Context => "context",
            Self::Refused => "refused",
            Self::Picture | Self::Seal | Self::InvalidRequest => "invalid_request",
            Self::Empty => "empty",
            Self::Length => "length",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }

    /// Whether another provider may well answer the same request: this one cannot at the moment, or is not reached.
    pub fn is_outage(self) -> bool {
        self.usually_passes()
    }

    fn usually_passes(self) -> bool {
        match self {
            Self::RateLimit | Self::Overload | Self::Network | Self::Timeout => true,
            Self::Auth
            | Self::Context
            | Self::Refused
            | Self::Picture
            | Self::Seal
            | Self::InvalidRequest
            | Self::Empty
            | Self::Length
            | Self::Cancelled
            | Self::Internal => false,
        }
    }
}
