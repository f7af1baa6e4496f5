//! What the node wants done: the only things it ever does.

use std::sync::Arc;
use std::time::Duration;

use crate::model::error::ModelError;
use crate::model::message::{Message, ToolCall, ToolResult};
use crate::model::request::ToolChoice;
use crate::model::usage::Usage;

use super::compact::{Folded, Summons};
use super::event::Event;
use super::port::PendingCall;

/// Something to be done, in the order of the list it comes in.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Write this message down.
    Keep(Arc<Message>),
    /// Write this result down; results are kept as they come, the history holds them in call order.
    KeepResult(ToolResult),
    /// Show this.
    Emit(Event),
    /// Write down that these pictures, by their ids, are not sent again.
    Refuse(Vec<String>),
    /// Let the next model in line answer. Answered by `NextModel` or `Stopped`.
    NextModel,
    /// Write down that long results before the last so many messages are not sent any more.
    Prune(usize),
    /// Have the beginning of the conversation summarised. Answered by `Summarised` or `Stopped`.
    Summarise(Summons),
    /// Write down that a summary stands for the beginning of the conversation.
    Fold(Folded),
    /// Ask the model, with the history as it stands. Answered by `Replied`, `ReplyFailed` or `Stopped`.
    Ask(ToolChoice),
    /// Wait. Answered by `WaitOver` or `Stopped`.
    Wait(Duration),
    /// Check these calls. Answered by `Prepared`.
    Prepare(Vec<ToolCall>),
    /// Let the gate judge these calls. Answered by `Decided` or `Stopped`.
    Decide(Vec<PendingCall>),
    /// Run this call on a thread of its own. Answered by `ToolFinished`, always.
    Run {
        /// Its place in the answer.
        place: usize,
        /// The call.
        pending: PendingCall,
    },
    /// Make the running calls end.
    StopTools,
    /// The task is over.
    Finish(Outcome),
}

/// What a task came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The last answer's text.
    pub text: String,
    /// How many times the model was asked, retries not counted.
    pub turns: u32,
    /// How it ended.
    pub end: End,
    /// What all answers took together.
    pub usage: Usage,
    /// In US dollars; `None` where the price is unknown.
    pub cost: Option<f64>,
    /// The calls that were not permitted.
    pub denied: Vec<DeniedCall>,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The model had said what it wanted to say.
    Answered,
    /// The limit of model calls was reached.
    MaxTurns,
    /// The model went round in circles.
    Loop,
    /// The time was over.
    TimedOut,
    /// The money was spent.
    Cost,
    /// Somebody stopped it.
    Cancelled,
    /// It could not go on.
    Failed(ModelError),
}

/// A call that was not permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedCall {
    /// The tool.
    pub name: String,
    /// What it would have done, in short.
    pub summary: String,
    /// The rule that forbade it; `None` where a person did, or nobody could be asked.
    pub rule: Option<String>,
    /// Whether it was denied only because nobody could be asked.
    pub nobody_asked: bool,
    /// The call that dispatched the sub-agent whose call it was.
    pub agent: Option<String>,
}
