//! What happens to the chat, and what it wants done: the two lists that everything goes through.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::base::cancel::Cancel;
use crate::kernel::effect::Outcome;
use crate::kernel::event::{Event, Notice};
use crate::kernel::inbox::Inbox;
use crate::model::ModelInfo;
use crate::model::message::Message;
use crate::model::request::Effort;
use crate::product::agent::report::Interruption;
use crate::product::error::Error;
use crate::product::permission::{Answer, Grant, Question, Rights};
use crate::product::session::picks::Pick;
use crate::product::session::spent::Spent;
use crate::product::session::store::Selector;
use crate::product::tool::workspace::Workspace;

use super::complete::index::Found;
use super::editor::draft::Draft;
use super::key::Input;
use super::models::Offered;
use super::view::theme::Theme;

/// Something that happened.
#[derive(Debug)]
pub enum Msg {
    /// Something came from the terminal.
    Input(Input),
    /// A line came from a terminal without a screen.
    Line(Line),
    /// An INT came from one.
    Interrupt,
    /// The terminal has another size now.
    Resized {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// The moment that the state was waiting for has come.
    Tick,
    /// The agent has something to say.
    News(News),
    /// Files were found for a completion.
    Found(Found),
    /// Nothing more can be written.
    End,
    /// A signal ends the program.
    Signal(Interruption),
    /// The terminal is ours again, after a suspension or another program.
    Resumed,
    /// A draft comes back from an editor of one's own; an error leaves it as it is.
    Edited(Result<String, Error>),
    /// What was kept by earlier runs: what was sent, oldest first, and a draft that was not.
    Recalled {
        /// What was sent.
        earlier: Vec<Draft>,
        /// What was not.
        draft: Draft,
    },
    /// The sessions to choose from.
    Sessions(Vec<Pick>),
    /// The models to choose from.
    Models(Vec<Offered>),
    /// What answers took, as the disk knows it.
    Spent {
        /// In the open session; nothing where it is not kept.
        session: Spent,
        /// In all sessions, today.
        today: Spent,
    },
    /// A theme was read.
    Theme {
        /// Its name.
        name: String,
        /// Its colours; `None`: the name says it all.
        theme: Option<Box<Theme>>,
    },
    /// Whether the clipboard took it, and what to tell.
    Told(String),
}

/// A line from a terminal without a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What was written, without the line break.
    pub text: String,
    /// Whether it was written before what is asked now could be seen.
    pub ahead: bool,
}

/// What the agent's thread tells.
#[derive(Debug)]
pub enum News {
    /// A session is open.
    Opened(Box<Opened>),
    /// A session could not be opened.
    NotOpened(Error),
    /// A step of the running task.
    Event(Event),
    /// A person has to answer before the task goes on.
    Asked {
        /// What is asked.
        question: Question,
        /// Where the answer goes.
        reply: Reply,
    },
    /// The task is over.
    Finished(Box<Finished>),
    /// Another model answers from now on.
    Switched {
        /// What is known of it.
        info: ModelInfo,
        /// What a person should know.
        notices: Vec<Notice>,
    },
    /// The model stays the one it was.
    NotSwitched(Error),
    /// A shell line of the person's own has run.
    Ran,
    /// A report that was asked for, in columns.
    Reported(String),
    /// A text that was asked for, word for word.
    Told(String),
    /// Something could not be done.
    Refused(Error),
    /// A thread has ended.
    Ended,
}

/// Where the answer to a question goes.
#[derive(Debug)]
pub struct Reply(pub oneshot::Sender<Answer>);

/// What can be reported about the open session and the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// How much of the model's window each part of the next request takes.
    Context,
    /// The next request, word for word.
    WholeContext,
    /// The tools on offer.
    Tools,
    /// The settings, or one of them.
    Config(Option<String>),
    /// What works and what does not.
    Doctor,
    /// The sessions of this directory.
    Sessions,
    /// The models that can be used.
    Models,
}

/// A session that is open.
#[derive(Debug)]
pub struct Opened {
    /// Its id.
    pub id: String,
    /// Whether it is kept.
    pub kept: bool,
    /// What was said so far.
    pub messages: Vec<Arc<Message>>,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// Who answers.
    pub info: ModelInfo,
    /// How hard it is to think, where that is said.
    pub effort: Option<Effort>,
    /// What may run.
    pub rights: Arc<Rights>,
    /// Where messages for a running task go.
    pub inbox: Inbox,
    /// Where it works.
    pub workspace: Arc<Workspace>,
}

/// A task that is over.
#[derive(Debug)]
pub struct Finished {
    /// What it came to.
    pub outcome: Outcome,
    /// From the submission to the end.
    pub duration: Duration,
}

/// What the agent's thread is asked to do, in order.
#[derive(Debug)]
pub enum Order {
    /// Give the agent something to do.
    Say {
        /// What was written.
        draft: Draft,
        /// Thrown to stop it.
        cancel: Cancel,
    },
    /// Run a shell line of the person's own.
    Shell {
        /// The line.
        line: String,
        /// Whether the model hears of it.
        share: bool,
        /// Thrown to stop it.
        cancel: Cancel,
    },
    /// Go on in another session.
    Open(Session),
    /// Have this model answer from the next message on.
    Model(String),
    /// How hard the model is to think from the next message on.
    Effort(Effort),
    /// Report something about the open session.
    Tell(Report),
}

/// Which session to go on in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Session {
    /// A new one.
    New,
    /// One that is there.
    Stored(Selector),
}

/// Something to be done about what happened, in the order of the list it comes in.
#[derive(Debug)]
pub enum Cmd {
    /// For the agent's thread.
    Order(Order),
    /// Put this where the running task hears it. Files that it names are added on the way.
    Steer {
        /// Its number.
        id: u64,
        /// What was written.
        draft: Draft,
    },
    /// Take the waiting message with this id back.
    TakeBack(u64),
    /// Answer the question.
    Answer(Reply, Answer),
    /// Allow this from now on.
    Grant(Grant),
    /// Ask about every call from now on.
    AskEach,
    /// Look for files.
    Find {
        /// The number of the question.
        generation: u64,
        /// What is looked for.
        query: String,
    },
    /// No files are looked for any more.
    FindNothing,
    /// A file was chosen.
    Found(String),
    /// Report something.
    Tell(Report),
    /// Read a theme.
    Theme(String),
    /// Keep what was sent for later runs.
    Remember(Draft),
    /// Keep what has been written so far; nothing, if it is empty.
    KeepDraft(Draft),
    /// Put this on the clipboard.
    Copy(String),
    /// Call for attention.
    Announce(String),
    /// Have the text edited in an editor of the person's own.
    Edit(String),
    /// Hand the terminal back to the shell for a while.
    Suspend,
    /// Paint everything anew.
    Redraw,
    /// Ask the disk for the sessions to choose from.
    ListSessions,
    /// Ask who can be asked.
    ListModels,
    /// Ask the disk what answers took in the session of this id, if it is kept, and today.
    AddUp(Option<String>),
    /// Leave, with this exit code.
    Leave(u8),
}
