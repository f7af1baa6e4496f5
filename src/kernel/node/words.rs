//! What the node tells models and people, in words.

use crate::base::text::numbers::{self, grouped};
use crate::kernel::effect::End;
use crate::kernel::input::Stop;
use crate::kernel::tool::Output;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::Origin;

pub(super) const CUT_BY_LIMIT: &str = "not run: the answer was cut off by the output limit, so the arguments may be incomplete. \
                            Write less at a time: make the file in several smaller edits.";
pub(super) const CUT_ANSWER: &str = "the answer was cut off by the output limit (max_tokens)";
pub(super) const FULL_WINDOW: &str = "the answer was cut off: the model's context window is full";
pub(super) const NO_MORE_TOOLS: &str = "not run: no more tools run in this task";
pub(super) const WRITTEN: &str = "the model wrote its calls as text; they were taken for calls";
pub(super) const MISSED: &str = "a picture that was refused before is not sent again";
pub(super) const NOTHING_TO_FOLD: &str =
    "there is too little to summarise: what is left is the last words, the system prompt and the tools";
pub(super) const NO_SUMMARY: &str = "no summary was written";
pub(super) const CUT_SUMMARY: &str =
    "\n\n[The summary was cut off here by the output limit; look again at what is missing.]";
pub(super) const TRIMMED: &str = "the last results do not fit into the window; the model gets their beginning and end";
pub(super) const AGAIN: &str = "the request did not fit; it is made again with a shorter conversation";
pub(super) const LAST_WORDS: &str = "The limit of model calls is reached: no more tools run. Answer now with what you have found out and done, \
     and say what is missing.";
pub(super) const NOT_JUDGED: &str = "denied: no decision was made";

pub(super) fn interruption(why: Stop) -> &'static str {
    match why {
        Stop::Cancelled => "interrupted by the user before it ran",
        Stop::TimedOut => "interrupted before it ran: the task's time limit was reached",
    }
}

/// Says in a failed output that it was interrupted, unless it says so itself.
pub(super) fn interrupted_output(mut output: Output, why: Stop) -> Output {
    let says_so = output.footer.as_deref().unwrap_or(&output.text.head).contains("interrupted");
    if output.is_error && !says_so {
        let line = match why {
            Stop::Cancelled => "interrupted by the user",
            Stop::TimedOut => "interrupted: the task's time limit was reached",
        };
        output.footer = Some(output.footer.map_or_else(|| line.to_owned(), |footer| format!("{footer}\n{line}")));
    }
    output
}

pub(super) fn end_of(why: Stop) -> End {
    match why {
        Stop::Cancelled => End::Cancelled,
        Stop::TimedOut => End::TimedOut,
    }
}

/// A provider that took more than its window holds.
pub(super) fn overflown(model: &str, sent: u64, window: u64) -> String {
    format!(
        "{model} was sent {} tokens, and its window holds {}: the provider may have left out the beginning; \
         start a new session, or choose a model with a larger window",
        grouped(sent),
        grouped(window)
    )
}

/// Room is made.
pub(super) fn folding(tokens: u64, window: Option<u64>) -> String {
    let of = window.map(|window| format!(" of {}", grouped(window))).unwrap_or_default();
    format!("the conversation takes about {}{of} tokens; its beginning is being summarised", grouped(tokens))
}

/// Room was made.
pub(super) fn folded(before: u64, after: u64) -> String {
    format!(
        "the beginning of the conversation was summarised: from about {} to {} tokens; the whole stays in the session",
        grouped(before),
        grouped(after)
    )
}

/// Long results were left out.
pub(super) fn pruned(count: u64, tokens: u64) -> String {
    format!(
        "long outputs of earlier calls ({}) are not sent any more, which saves about {} tokens; they stay in the session",
        numbers::count(count, "round"),
        grouped(tokens)
    )
}

/// A summary that is hardly shorter than what it stands for.
pub(super) fn no_smaller(before: u64, after: u64) -> String {
    format!("the summary would leave about {} of {} tokens", grouped(after), grouped(before))
}

/// Nothing could be summarised.
pub(super) fn not_summarised(why: &str) -> String {
    format!("the conversation does not fit and could not be summarised: {why}")
}

/// A request that did not fit, and no summary either.
pub(super) fn unmendable(overflow: &str, why: &str) -> String {
    format!("{overflow}; the conversation could not be summarised: {why}")
}

/// A provider that counts no tokens, under a budget.
pub(super) fn uncounted(model: &str) -> String {
    format!("{model} counts no tokens, so max_cost goes by a guess of four characters a token")
}

/// Reasoning whose seal was not accepted.
pub(super) fn unsealed(why: &str) -> String {
    format!("the provider does not take earlier reasoning back, asking once more without it: {why}")
}

/// Pictures that were not accepted.
pub(super) fn refused(count: usize, why: &str) -> String {
    let pictures = if count == 1 { "a picture was refused and is" } else { "pictures were refused and are" };
    format!("{pictures} left out from now on, asking once more: {why}")
}

/// A model that goes on where another failed.
pub(super) fn succeeded(failed: &Origin, next: &Origin, error: &ModelError) -> String {
    format!(
        "{}/{} failed, {}/{} goes on: {}: {}",
        failed.provider,
        failed.model,
        next.provider,
        next.model,
        trouble(error.kind),
        error.message
    )
}

/// What to call a failure that is tried again.
pub(super) fn trouble(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::RateLimit => "rate limit reached",
        ErrorKind::Overload => "overloaded",
        ErrorKind::Network => "connection lost",
        ErrorKind::Timeout => "no answer in time",
        ErrorKind::Empty => "empty answer",
        ErrorKind::Auth
        | ErrorKind::Context
        | ErrorKind::Refused
        | ErrorKind::Picture
        | ErrorKind::Seal
        | ErrorKind::InvalidRequest
        | ErrorKind::Length
        | ErrorKind::Cancelled
        | ErrorKind::Internal => "failed",
    }
}
