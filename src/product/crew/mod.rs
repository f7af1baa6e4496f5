//! Parts of a task that somebody else works on, with a conversation of their own: sub-agents, and the steps of a chain.
//!
//! Grants nothing: a worker may do at most what whoever sent it may.

pub mod named;
pub mod tool;

use std::path::PathBuf;

use crate::base::cancel::Cancel;
use crate::kernel::effect::End;
use crate::kernel::event::{Event, Worker};
use crate::kernel::tool::Ledger;

/// A piece of work to give away.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Who works; every event carries it.
    pub worker: Worker,
    /// What is to be done: the first message.
    pub task: String,
    /// What stands at the end of the system prompt.
    pub brief: Option<String>,
    /// The tools on offer, by names or globs, of those that whoever sends has; `None` for all of them.
    pub tools: Option<Vec<String>>,
    /// Who is asked, as `provider/id` or an id of the provider in use; `None` for the model in use.
    pub model: Option<String>,
    /// Model calls it may take. Then it is asked once more, without tools, for what it has.
    pub max_turns: Option<u32>,
}

/// A piece of work that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The last answer.
    pub text: String,
    /// How it ended; [`End::MaxTurns`] with a text is an answer, too.
    pub end: End,
    /// What it took.
    pub ledger: Ledger,
    /// From the order to the end.
    pub duration_ms: u64,
    /// Where the conversation is kept.
    pub transcript: Option<PathBuf>,
}

/// Has a piece of work done and blocks until it is over, or soon after the switch is thrown. What happens meanwhile is
/// told as [`Event::Within`]. Several may run at once, each on a thread of its caller's.
///
/// # Errors
///
/// Why it could not begin, in words a model can act on: a tool or a model there is not, a limit of depth.
pub type Send<'a> = dyn Fn(&Order, &Cancel, &(dyn Fn(Event) + Sync)) -> Result<Done, String> + Sync + 'a;
