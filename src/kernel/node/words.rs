//! What the node tells models and people, in words.

use crate::kernel::effect::End;
use crate::kernel::input::Stop;
use crate::kernel::tool::Output;
use crate::model::error::ErrorKind;

pub(super) const CUT_BY_LIMIT: &str = "not run: the answer was cut off by the output limit, so the arguments may be incomplete. \
                            Write less at a time: make the file in several smaller edits.";
pub(super) const CUT_ANSWER: &str = "the answer was cut off by the output limit (max_tokens)";
pub(super) const FULL_WINDOW: &str = "the answer was cut off: the model's context window is full";
pub(super) const NO_MORE_TOOLS: &str = "not run: no more tools run in this task";
pub(super) const WRITTEN: &str = "the model wrote its calls as text; they were taken for calls";
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
