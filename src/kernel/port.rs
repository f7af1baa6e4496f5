//! What a host provides to the loop: a gate that permits, hooks that may interfere, a sink that only listens.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::base::json::canonical;
use crate::base::text::cut::ellipsis;
use crate::model::ModelInfo;
use crate::model::message::{Message, ToolCall, ToolInput, ToolResult};

use super::compact::Folded;
use super::event::Event;
use super::tool::{Limits, Output, Risk, Subject};

/// A call whose arguments have been checked and which waits for permission.
#[derive(Clone, Debug)]
pub struct PendingCall {
    /// The call.
    pub call: ToolCall,
    /// The tool's risk.
    pub risk: Risk,
    /// What it would touch.
    pub subject: Subject,
    /// How much of its output the model gets to see.
    pub limits: Limits,
}

impl PendingCall {
    /// What the call would do, in one line of at most 200 characters.
    pub fn summary(&self) -> String {
        let line = match &self.subject {
            Subject::Command(text) | Subject::Url(text) | Subject::Task(text) => text.clone(),
            Subject::Read(paths) | Subject::Write(paths) => {
                paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
            }
            Subject::Other => match &self.call.input {
                ToolInput::Object(object) => canonical(object),
                ToolInput::Invalid { raw, .. } => raw.clone(),
            },
        };
        ellipsis(&line.split_whitespace().collect::<Vec<_>>().join(" "), SUMMARY_CHARS)
    }
}

const SUMMARY_CHARS: usize = 200;

/// What the gate says to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// It may not.
    Deny(Denial),
}

/// Why a call may not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// What the model is told.
    pub reason: String,
    /// Who or what said no.
    pub by: DeniedBy,
}

/// Who or what said no to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeniedBy {
    /// A rule, a guard, or a mode chosen beforehand; named here.
    Rule(String),
    /// A person.
    User,
    /// Nobody could be asked.
    Nobody,
}

/// The future of [`Gate::decide`].
pub type Verdicts<'a> = Pin<Box<dyn Future<Output = Vec<Verdict>> + 'a>>;

/// Decides which calls may run.
pub trait Gate {
    /// One verdict for each call, in order. May wait for a person.
    fn decide<'a>(&'a self, calls: &'a [PendingCall]) -> Verdicts<'a>;
}

/// May look at what goes on and change it.
pub trait Hooks: Send + Sync {
    /// Hears that a permitted call is about to run, on the thread it runs on; it runs once this returns.
    fn tool_starting(&self, _: &PendingCall) {}

    /// Sees what a running call has to show before anyone else does, and may change it.
    fn tool_progress(&self, text: &mut String);

    /// Sees an output before it is cut and shown to anyone, and may change it.
    fn tool_finished(&self, call: &ToolCall, output: &mut Output);
}

/// Hears of everything, in order, and changes nothing.
pub trait Sink {
    /// Keeps a message. What is kept here survives; it is called before the event that shows it.
    fn message(&mut self, message: &Arc<Message>);

    /// Keeps the result of one call of the last answer, in the order in which calls finish.
    fn result(&mut self, result: &ToolResult);

    /// Keeps that these pictures, by their ids, are not sent again.
    fn refused(&mut self, pictures: &[String]);

    /// Keeps that long results before the last `kept` messages (counted as [`Folded`] does) are not sent any more.
    fn pruned(&mut self, kept: usize);

    /// Keeps that a summary stands for the beginning of the conversation.
    fn folded(&mut self, folded: &Folded);

    /// Keeps that another model answers from now on.
    fn model(&mut self, info: &ModelInfo);

    /// Shows an event.
    fn event(&mut self, event: &Event);
}
