//! Everything that can be observed of a running task, as data.
//!
//! Front ends turn these into JSON or pixels; the words of the JSON form are theirs (`front::wire`).

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::json::Object;
use crate::model::error::ErrorKind;
use crate::model::message::Origin;
use crate::model::reply::StopReason;
use crate::model::usage::Usage;

pub use super::tool::{Change, Risk};

/// One observable step of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The model is about to be asked.
    TurnStarted {
        /// Model calls of this task so far; the first is 0.
        turn: u32,
        /// Who is asked.
        origin: Arc<Origin>,
        /// The model's name for people.
        label: String,
        /// How full the model's window is.
        context: Context,
    },
    /// More of the answer.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// A call begins, or is answered without being run.
    ToolStarted {
        /// The call's id.
        id: String,
        /// The tool's name, as the model wrote it.
        name: String,
        /// Its arguments; empty where they were not an object.
        arguments: Object,
        /// The tool's risk; safe for tools that do not exist.
        risk: Risk,
    },
    /// A running call has something to show.
    ToolProgress {
        /// The call's id.
        id: String,
        /// A line or more of output.
        text: String,
    },
    /// A call has its result.
    ToolFinished {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Whether it succeeded.
        ok: bool,
        /// What the model sees.
        output: String,
        /// How long it ran.
        duration_ms: u64,
        /// Whether `output` was cut.
        truncated: bool,
        /// Where the whole of it was kept.
        full_output: Option<PathBuf>,
        /// What it did to a file; for people alone.
        change: Option<Arc<Change>>,
    },
    /// What somebody said to the running task reaches the model with the next request.
    Steered {
        /// Its id in the inbox.
        id: u64,
        /// Its text.
        text: String,
    },
    /// Something a person should know.
    Notice(Notice),
    /// The model has answered.
    TurnFinished {
        /// As in `TurnStarted`.
        turn: u32,
        /// Why the answer ended.
        stop: StopReason,
        /// What it took.
        usage: Usage,
        /// In US dollars; `None` where the price is unknown.
        cost: Option<f64>,
    },
    /// Somebody is asked something; who answers is a front end's to say.
    Question {
        /// Its id.
        id: String,
        /// What is asked.
        text: String,
        /// Answers to choose from; any other will do as well.
        options: Vec<String>,
    },
    /// Something that happens within the task: to a sub-agent, or in a step of a chain.
    Within(Worker, Box<Event>),
    /// The task cannot go on.
    Failed {
        /// What kind of failure it is.
        kind: ErrorKind,
        /// One line.
        message: String,
        /// Whether it may pass by itself.
        retryable: bool,
    },
}

/// Who works on a part of a task, with a conversation of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Worker {
    /// A sub-agent, by the id of the call that dispatched it.
    Agent(String),
    /// A step of a chain, by its name.
    Step(String),
}

/// How full the model's window is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Context {
    /// Tokens of the request: counted where the last answer's usage is known, else estimated.
    pub tokens: u64,
    /// Tokens that fit.
    pub window: Option<u64>,
}

/// Something a person should know: a code for programs, a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about.
    pub code: NoticeCode,
    /// One sentence.
    pub text: String,
    /// Whether readers drop the deltas of this turn, because the answer starts again.
    pub restart: bool,
}

impl Notice {
    /// A notice without a restart.
    pub fn new(code: NoticeCode, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), restart: false }
    }
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoticeCode {
    /// An attempt failed and is repeated.
    Retry,
    /// The model repeats itself.
    Loop,
    /// A project's settings were withheld.
    Trust,
    /// A setting could not be used.
    Config,
    /// A session was repaired, begun or left.
    Session,
    /// A call was refused by a rule of the sandbox.
    Sandbox,
    /// The conversation has grown too long for the model.
    Compaction,
    /// Something was done another way than asked: calls taken from text, another model.
    Fallback,
    /// Names that were kept from commands.
    Secrets,
    /// A replay and the world have drifted apart.
    Replay,
    /// Standard input was given up.
    Stdin,
    /// Instructions were left out, or cannot be read.
    Rules,
    /// A skill, a chain, a prompt or an agent cannot be used as it is written.
    Skills,
    /// A step of a chain begins or ends.
    Chain,
    /// A job began, ended, or was left running.
    Job,
    /// The check of `--until` was run.
    Goal,
}

impl NoticeCode {
    /// The word of the event vocabulary.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Loop => "loop",
            Self::Trust => "trust",
            Self::Config => "config",
            Self::Session => "session",
            Self::Sandbox => "sandbox",
            Self::Compaction => "compaction",
            Self::Fallback => "fallback",
            Self::Secrets => "secrets",
            Self::Replay => "replay",
            Self::Stdin => "stdin",
            Self::Rules => "rules",
            Self::Skills => "skills",
            Self::Chain => "chain",
            Self::Job => "job",
            Self::Goal => "goal",
        }
    }
}
