//! What happens to the chat, and what it wants done: the two lists that everything goes through.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::base::cancel::Cancel;
use crate::base::text::mask::Mask;
use crate::kernel::effect::Outcome;
use crate::kernel::event::{Context, Event, Notice};
use crate::kernel::inbox::Inbox;
use crate::kernel::succession::Chosen;
use crate::model::ModelInfo;
use crate::model::message::Message;
use crate::model::request::Effort;
use crate::product::agent::report::Interruption;
use crate::product::checkpoint::plan::{Direction, FileChange, Plan, What};
use crate::product::error::Error;
use crate::product::permission::{Answer, Grant, Question, Rights};
use crate::product::provider::Choice;
use crate::product::session::outline::Outline;
use crate::product::session::picks::Pick;
use crate::product::session::preview::Preview;
use crate::product::session::spent::{Spent, Tally};
use crate::product::session::store::Selector;
use crate::product::tool::ask::Inquiry;
use crate::product::tool::workspace::Workspace;

use super::complete::index::Found;
use super::editor::draft::{Draft, Picture};
use super::key::Input;
use super::link::Jobs;
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
    Sessions {
        /// The sessions.
        picks: Vec<Pick>,
        /// Which they are.
        reach: Reach,
    },
    /// What a session was about, for somebody who chooses; `None` where it cannot be read.
    Preview {
        /// Its id.
        id: String,
        /// What it was about.
        preview: Option<Box<Preview>>,
    },
    /// The models to choose from.
    Models(Vec<Offered>),
    /// The commands that are not built in.
    Offers(Vec<Offer>),
    /// The sub-agents of the open session.
    Helpers(Vec<Helper>),
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
    /// A pasted text was looked at.
    Seen {
        /// The text.
        text: String,
        /// What it names.
        named: Named,
    },
    /// The clipboard was looked into.
    Clipboard(Clip),
    /// Whether the clipboard took it, and what to tell.
    Told(String),
}

/// What a pasted text names.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// Pictures, in the order in which they are named.
    Pictures(Vec<Arc<Picture>>),
    /// Something that was meant as a picture and is none; why.
    Unfit(String),
    /// No file.
    Nothing,
}

/// What the clipboard holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Clip {
    /// A picture.
    Picture(Arc<Picture>),
    /// Text.
    Text(String),
    /// Nothing that can be pasted; why, unless nobody asked in so many words.
    Nothing(Option<String>),
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
    /// A person is asked something by a tool.
    Inquired {
        /// What is asked.
        inquiry: Inquiry,
        /// Where the answer goes.
        reply: Reply,
    },
    /// So many jobs and services run.
    Jobs(usize),
    /// The task is over.
    Finished(Box<Finished>),
    /// The tree of the open session.
    Outlined {
        /// The tree.
        outline: Box<Outline>,
        /// The time, in milliseconds since 1970.
        now: i64,
        /// What it is for.
        wanted: Wanted,
    },
    /// What taking a turn back, or restoring it, would do.
    Planned(Box<Plan>),
    /// Files were taken back or restored; the conversation stays where it is.
    Undone(Vec<FileChange>),
    /// Something was done that was asked for; a sentence.
    Noted(String),
    /// Another model answers from now on; while something runs, from the next request on.
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
pub enum Reply {
    /// To a gate that holds calls back.
    Verdict(oneshot::Sender<Answer>),
    /// To a tool that asks; what is no [`Answer::Say`] is no answer.
    Words(oneshot::Sender<String>),
    /// Nowhere: it is the chat that wants to know whether a plan is carried out.
    Plan,
}

impl Reply {
    /// Whether nobody waits for it any more.
    pub fn is_closed(&self) -> bool {
        match self {
            Self::Verdict(sender) => sender.is_closed(),
            Self::Words(sender) => sender.is_closed(),
            Self::Plan => false,
        }
    }

    /// Gives the answer. Whoever asked may have been stopped meanwhile.
    pub fn give(self, answer: Answer) {
        match (self, answer) {
            (Self::Verdict(sender), answer) => drop(sender.send(answer)),
            (Self::Words(sender), Answer::Say(text)) => drop(sender.send(text)),
            (Self::Words(_), Answer::Grant(_) | Answer::Once | Answer::Always | Answer::Reject { .. })
            | (Self::Plan, _) => {}
        }
    }
}

/// A command that is not built in: a skill, or a prompt somebody has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// What is typed after the slash: `skill:commit`, `review`.
    pub name: String,
    /// What it does.
    pub help: String,
    /// What may follow it; empty where nothing is said of that.
    pub hint: String,
}

/// A sub-agent that has worked in a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Helper {
    /// What it was to do.
    pub task: String,
    /// What its answers took.
    pub spent: Tally,
    /// Where its conversation is kept.
    pub transcript: PathBuf,
}

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
    /// The skills.
    Skills,
    /// The chains.
    Chains,
    /// The instructions that are sent, and why.
    Rules,
}

/// What the tree of a session is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// To be shown.
    Tree,
    /// To be shown on a terminal without a screen.
    Lines,
    /// To go back before something that a person said.
    Rollback,
    /// To go on at the message with this id.
    Going(u64),
    /// To begin a copy up to the message with this id.
    Forking(u64),
}

/// A place in the open session to go on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line that the conversation will stand at; nothing is the beginning.
    pub target: Option<u64>,
    /// The message of a person that is to be said anew, and becomes a draft.
    pub again: Option<u64>,
    /// How many messages are no part of the conversation any more.
    pub left: usize,
    /// Whether the conversation up to there was not the present one.
    pub is_elsewhere: bool,
}

/// How a session came to be open.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// It was begun, or is gone on with.
    Opened,
    /// A chain has written to it; all of that was shown.
    Written,
    /// The open one goes on from another place.
    Moved {
        /// How many messages are no part of the conversation any more.
        left: usize,
        /// What is to be said anew.
        again: Draft,
        /// Whether the conversation up to there was not the present one.
        is_elsewhere: bool,
        /// What was done to files on the way.
        files: Vec<FileChange>,
    },
    /// It is a copy of the session with this id.
    Forked {
        /// The id.
        of: String,
        /// What is to be said anew.
        again: Draft,
    },
}

/// A session that is open.
#[derive(Debug)]
pub struct Opened {
    /// How that came.
    pub arrival: Arrival,
    /// Its id.
    pub id: String,
    /// Whether it is kept.
    pub kept: bool,
    /// What was said so far.
    pub messages: Vec<Arc<Message>>,
    /// What its answers took, on all branches.
    pub spent: Tally,
    /// What the next request will hold.
    pub context: Context,
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
    /// Who answers, and how that is changed while a task runs.
    pub answering: Answering,
    /// What goes on beside the conversation.
    pub jobs: Jobs,
}

/// Who answers, and how that is changed while a task runs.
#[derive(Clone, Debug)]
pub struct Answering {
    /// Who was to answer at the beginning: keys that came with the command belong to that provider.
    pub start: Arc<Choice>,
    /// Where the running task finds another one.
    pub chosen: Chosen,
    /// Hides its key.
    pub mask: Mask,
}

/// A task that is over.
#[derive(Debug)]
pub struct Finished {
    /// What it came to.
    pub outcome: Outcome,
    /// From the submission to the end.
    pub duration: Duration,
    /// What the next request will hold, where that is another than what was sent last.
    pub context: Option<Context>,
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
    /// Give the agent what a command that is not built in comes to.
    Invoke {
        /// What is typed after the slash.
        name: String,
        /// What follows it.
        arguments: String,
        /// Thrown to stop it.
        cancel: Cancel,
    },
    /// Run a chain.
    Chain {
        /// Its name.
        name: String,
        /// What it is to do.
        task: String,
        /// Thrown to stop it.
        cancel: Cancel,
    },
    /// Only plan from here on, or work again.
    Plan(bool),
    /// Run a shell line of the person's own.
    Shell {
        /// The line.
        line: String,
        /// Whether the model hears of it.
        share: bool,
        /// Thrown to stop it.
        cancel: Cancel,
    },
    /// Have the beginning of the conversation summarised.
    Compact {
        /// What the summary is to heed.
        wishes: Option<String>,
        /// Thrown to stop it.
        cancel: Cancel,
    },
    /// Go on in another session.
    Open(Session),
    /// Have this model answer from here on.
    Model(String),
    /// This one was chosen while something ran, and waits where the task finds it.
    Chosen(Box<Choice>),
    /// How hard the model is to think from the next message on.
    Effort(Effort),
    /// Report something about the open session.
    Tell(Report),
    /// Read the tree of the open session.
    Outline(Wanted),
    /// Go on from another place of the open session.
    Go(Place),
    /// Go on in a copy of the open session; up to this place, if one is named.
    Fork(Option<Place>),
    /// Call the open session so; without a name, tell what it is called.
    Name(Option<String>),
    /// Put a note on a message of the open session, or on its last one; an empty one takes it away.
    Label {
        /// The message.
        target: Option<u64>,
        /// The note.
        label: String,
    },
    /// Find out what taking a turn back, or restoring it, would do.
    PlanUndo(What, Direction),
    /// Do what a plan says.
    CarryOut(Box<Plan>),
    /// Write the open session to this file; nothing is a file of its own name in the working directory.
    Export(Option<String>),
}

/// Who asks for the clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A person, with a key.
    ByKey,
    /// A terminal that had nothing to paste: where a picture is copied, it may be all there is.
    ByTerminal,
}

/// Which session to go on in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Session {
    /// A new one.
    New,
    /// One that is there.
    Stored(Selector),
}

/// For whom something is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// For whoever works on the project.
    Project,
    /// For the person, everywhere.
    User,
}

/// Which sessions are chosen from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Those of this directory.
    #[default]
    Here,
    /// Those of all directories.
    Everywhere,
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
    /// See whether this pasted text names pictures.
    Look(String),
    /// See what the clipboard holds.
    Paste(Asked),
    /// Call for attention.
    Announce(String),
    /// Have the text edited in an editor of the person's own.
    Edit(String),
    /// Open what is remembered in one, or say where it is.
    EditMemory(Scope),
    /// Keep this for later sessions.
    Note {
        /// For whom.
        scope: Scope,
        /// What.
        text: String,
    },
    /// Let the commands that run go on in the background.
    Background,
    /// List the jobs and services of this run.
    ListJobs,
    /// Stop the job or service of this id.
    StopJob(String),
    /// Ask the disk for the commands that are not built in.
    ListOffers,
    /// Ask the disk for the sub-agents of the session with this id.
    ListHelpers(String),
    /// Hand the terminal back to the shell for a while.
    Suspend,
    /// Paint everything anew.
    Redraw,
    /// Ask the disk for the sessions to choose from.
    ListSessions(Reach),
    /// Ask the disk what the session with this id was about.
    Preview(String),
    /// Call a session by another name, and list them anew.
    Rename {
        /// Its id.
        id: String,
        /// The name.
        name: String,
        /// Which are listed.
        reach: Reach,
    },
    /// Take a session away for good, and list them anew.
    Remove {
        /// Its id.
        id: String,
        /// Which are listed.
        reach: Reach,
    },
    /// Ask who can be asked.
    ListModels,
    /// Have this model answer from the running task's next request on.
    Change(String),
    /// Ask the disk what answers took in the session of this id, if it is kept, and today.
    AddUp(Option<String>),
    /// Leave, with this exit code.
    Leave(u8),
}
