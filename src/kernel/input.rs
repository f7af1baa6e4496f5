//! What happens to the node: the only things it ever hears of.

use crate::model::ModelInfo;
use crate::model::error::ModelError;
use crate::model::message::Message;
use crate::model::reply::Reply;

use super::event::Notice;
use super::inbox::Letter;
use super::port::{PendingCall, Verdict};
use super::tool::Output;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// Somebody gave the agent something to do.
    Submitted(Message),
    /// The task that was over goes on with this: it was not done. What it took, and its limits, go on as well.
    Continued(Message),
    /// The model has answered.
    Replied {
        /// The whole answer.
        reply: Reply,
        /// Whether any of it was shown while it arrived.
        shown: bool,
        /// Random, from 0 to 1.
        dice: f64,
    },
    /// The attempt failed.
    ReplyFailed {
        /// Why.
        error: ModelError,
        /// Whether any of the answer was shown before.
        shown: bool,
        /// Random, from 0 to 1.
        dice: f64,
    },
    /// Another model answers from now on: somebody chose it.
    ModelChanged(ModelInfo),
    /// The next model in line was looked for.
    NextModel {
        /// What is known about it; nothing if none is left.
        info: Option<ModelInfo>,
        /// Why those before it in the line cannot be asked.
        passed_over: Vec<String>,
        /// What a person should know of it.
        notices: Vec<Notice>,
    },
    /// Somebody wants the conversation summarised, and what the summary is to heed.
    Compact(Option<String>),
    /// A summary was asked for.
    Summarised {
        /// Who was asked.
        info: ModelInfo,
        /// What came of it.
        result: Result<Reply, ModelError>,
        /// Random, from 0 to 1.
        dice: f64,
    },
    /// The wait that was asked for is over.
    WaitOver,
    /// The calls have been checked, in order; what is wrong with a call is in words for the model.
    Prepared(Vec<Result<PendingCall, String>>),
    /// The gate has judged the pending calls, in order.
    Decided(Vec<Verdict>),
    /// A call has run.
    ToolFinished {
        /// Its place in the answer.
        place: usize,
        /// What it came to.
        output: Output,
        /// How long it ran.
        duration_ms: u64,
    },
    /// Somebody said something while the task ran; it is about to be sent.
    Heard(Vec<Letter>),
    /// The task is to end now.
    Stopped {
        /// Who wants it.
        why: Stop,
        /// What was shown of an answer that had begun.
        partial: String,
    },
}

/// Why a task is to end before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A person or a signal.
    Cancelled,
    /// The task's time limit.
    TimedOut,
}
