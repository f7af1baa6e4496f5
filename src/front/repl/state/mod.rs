//! Everything the chat knows: what is written, what runs, what is asked, what is open. Changed by `update` alone, shown by
//! [`frame`]; neither a clock nor the terminal is known here, the time comes with each message.

pub mod checklist;
pub mod frame;
pub mod paper;
#[cfg(test)]
pub(super) mod tests;
mod turn;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::base::cancel::Cancel;
use crate::kernel::inbox::Inbox;
use crate::model::ModelInfo;
use crate::model::message::Origin;
use crate::model::request::Effort;
use crate::product::checkpoint::plan::{FileChange, Plan};
use crate::product::permission::Rights;
use crate::product::session::outline::Outline;
use crate::product::session::spent::{Spent, Tally};
use crate::product::tool::workspace::Workspace;

use super::complete::Completion;
use super::complete::picker::Picker;
use super::complete::shelf::Shelf;
use super::complete::tree::Tree;
use super::editor::draft::Draft;
use super::editor::search::Search;
use super::editor::walk::Walk;
use super::editor::{Editing, Editor};
use super::key::keymap::Keymap;
use super::link::Jobs;
use super::message::{Answering, Offer, Reach, Reply};
use super::models::Offered;
use super::view::ask::Question;
use super::view::confirm::Confirm;
use super::view::notice::Banner;
use super::view::status::{Status, StatusEvent};
use super::view::theme::{Background, Depth, Theme};
use super::view::{Block, Look};
use checklist::Checklist;
use paper::Paper;
pub use turn::{Done, Paid, Turn, innermost};

/// Everything the chat knows.
pub struct State {
    /// The time since the start.
    pub now: Duration,
    /// How things look.
    pub look: Look,
    /// Rows of the screen.
    pub rows: usize,
    /// The draft.
    pub editor: Editor,
    /// What keys mean.
    pub keymap: Keymap,
    /// What is finished and not painted yet.
    pub paper: Paper,
    /// What the agent is saying and doing.
    pub turn: Turn,
    /// What runs.
    pub task: Option<Task>,
    /// What the agent means to do.
    pub checklist: Checklist,
    /// What a person has to answer.
    pub asked: Option<Asked>,
    /// What they have to answer after that.
    pub questions: VecDeque<Asked>,
    /// A plan that a person changes before it is carried out.
    pub proposal: Option<Proposal>,
    /// The commands that are not built in, as they were when somebody looked last.
    pub offers: Vec<Offer>,
    /// Lines that ended in a backslash, on a terminal without a screen: the beginning of the next one.
    pub begun: String,
    /// What was written while something ran.
    pub waiting: Vec<Waiting>,
    /// What lies over the prompt.
    pub overlay: Overlay,
    /// Earlier drafts, oldest first.
    pub earlier: Vec<Draft>,
    /// Where Up has come to among them.
    pub walk: Walk,
    /// The status line.
    pub status: Status,
    /// What was asked in this run, and what it took.
    pub spending: Spending,
    /// How hard the model is to think, where that is said.
    pub effort: Option<Effort>,
    /// How much of what was pasted is still looked at; a message waits for that.
    pub looks: u32,
    /// What is to be done with the draft then.
    pub after_looks: Option<Sending>,
    /// Whether another model was chosen that has not been asked yet.
    pub changing: bool,
    /// The models there are to choose from, once somebody has asked.
    pub models: Option<Vec<Offered>>,
    /// The open session.
    pub session: Option<Open>,
    /// How many sessions are still to be opened; a message waits for the last of them.
    pub opening: u32,
    /// What is switched on.
    pub switches: Switches,
    /// What the colours are made of.
    pub palette: Palette,
    /// The first line of a session, but for the model.
    pub banner: Banner,
    /// The last answer, as it was written.
    pub answer: String,
    /// When things happened that the next key depends on.
    pub times: Times,
    /// What is kept of what has been written; to know when there is something new.
    pub kept_draft: Draft,
    /// The number of the last message that waited.
    pub letters: u64,
    /// The number of the last question to the file index.
    pub generation: u64,
    /// What cannot be taken back, or restored, as the plan that was shown last has said.
    pub refused: Vec<FileChange>,
    /// A way out that was chosen.
    pub leaving: Option<u8>,
}

/// What can be switched while the chat runs.
#[derive(Clone, Debug)]
pub struct Switches {
    /// Whether reasoning is shown as it comes, or folded into a line.
    pub reasoning: bool,
    /// Whether the window has the focus; `None` where the terminal has not told.
    pub focused: Option<bool>,
    /// What runs by itself, and ends the chat when it is over: a demo.
    pub performance: Option<Performance>,
    /// Whether it only plans.
    pub planning: bool,
    /// Whether there is a live region, where things can be seen that are not printed.
    pub live: bool,
}

/// What the colours are made of.
#[derive(Clone, Debug)]
pub struct Palette {
    /// The theme's name.
    pub name: String,
    /// All there are.
    pub names: Vec<String>,
    /// How many colours the terminal has.
    pub depth: Depth,
    /// What it said of its background.
    pub background: Option<Background>,
    /// Whether there are colours at all.
    pub colour: bool,
}

impl Palette {
    /// The colours of a theme that is built in, or of `own`.
    pub fn theme(&self, own: Option<Theme>) -> Theme {
        let built_in = || Theme::named(&self.name, self.depth, self.background);
        let theme = own.or_else(built_in).unwrap_or_else(Theme::ansi);
        if self.colour { theme } else { theme.without_colour() }
    }
}

/// A chat that plays by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performance {
    /// Whether the last command succeeded.
    pub green: bool,
}

/// Something that runs and can be stopped.
#[derive(Debug)]
pub struct Task {
    /// What kind it is.
    pub kind: TaskKind,
    /// Since when.
    pub since: Duration,
    /// Thrown to stop it.
    pub cancel: Cancel,
    /// When a person stopped it.
    pub stopped: Option<Duration>,
}

/// What kind of task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// The agent works.
    Agent,
    /// A shell line of the person's own.
    Shell,
}

/// A question that is open.
#[derive(Debug)]
pub struct Asked {
    /// What is shown, and who gets the keys.
    pub question: Question,
    /// Where the answer goes.
    pub reply: Reply,
    /// Whether it has been on the screen: what was pressed before cannot answer it.
    pub shown: bool,
    /// The id of the call that asks, where a tool does.
    pub id: Option<String>,
    /// From when on it can be answered: it has come up right behind another.
    pub ripe: Duration,
}

/// A plan that a person changes before it is carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// It is in the draft.
    Written,
    /// As it is to be carried out.
    Ready(Draft),
}

/// Something that was written while something ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Its number; letters in the inbox have the same.
    pub id: u64,
    /// What was written.
    pub draft: Draft,
    /// When it is delivered.
    pub way: Way,
}

/// How a draft is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// As Enter does.
    Submit,
    /// As Tab does.
    Queue,
}

/// When something is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Between two turns of the running task.
    Steers,
    /// After the running task.
    Follows,
}

/// What answers took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spending {
    /// The last one.
    pub last: Option<(Origin, Tally)>,
    /// All since the session was opened.
    pub here: Spent,
}

/// What lies over the prompt and gets keys first.
#[derive(Debug)]
pub enum Overlay {
    /// Nothing.
    None,
    /// Ways to go on with the word before the caret.
    Completion(Completion),
    /// A list to choose from.
    Picker(Picker, Choice),
    /// A search through earlier drafts.
    Search(Search),
    /// The tree of the session; the texts of its entries have gone over to what is shown.
    Tree(Box<Tree>, Box<Outline>),
    /// Sessions to choose from, and which they are.
    Shelf(Box<Shelf>, Reach),
    /// Whether a turn is taken back, or restored, as planned.
    Confirm(Confirm, Box<Plan>),
}

/// What a list is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A message of a person to go back before: the tree, and the places of the messages in the order of the list.
    Rollback(Box<Outline>, Vec<usize>),
    /// A model, as `provider/id`, in the order of the list.
    Models(Vec<String>),
    /// A theme.
    Themes,
    /// What may run.
    Grants,
    /// A sub-agent, by where its conversation is kept.
    Helpers(Vec<PathBuf>),
}

/// The session that is open.
#[derive(Debug)]
pub struct Open {
    /// Its id.
    pub id: String,
    /// Whether it is kept on disk.
    pub kept: bool,
    /// Who answers.
    pub info: ModelInfo,
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
    /// Whether anything was said in it.
    pub begun: bool,
}

/// When things happened that the next key depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// The last key that was pressed.
    pub key: Option<Duration>,
    /// The last Ctrl-C.
    pub interrupt: Option<Duration>,
    /// When the sessions to choose from were asked for, if no key came since.
    pub listed: Option<Duration>,
    /// When the models to choose from were asked for, if no key came since.
    pub models: Option<Duration>,
    /// When the tree was asked for, if no key came since.
    pub outlined: Option<Duration>,
    /// When it was asked what taking a turn back would do, if no key came since.
    pub planned: Option<Duration>,
    /// When it was ordered to go to another place, if no key came since.
    pub going: Option<Duration>,
    /// When a text to be said anew was put into the draft, until somebody who looks can have seen it.
    pub restored: Option<Duration>,
    /// The last Esc that had nothing to stop or close.
    pub escape: Option<Duration>,
    /// The last change of the draft.
    pub draft: Option<Duration>,
}

/// What a chat begins with.
pub struct Start {
    /// The marks, and the screen's width.
    pub look: Look,
    /// Rows of the screen.
    pub rows: usize,
    /// What the colours are made of.
    pub palette: Palette,
    /// What keys mean.
    pub keymap: Keymap,
    /// How a draft is edited.
    pub editing: Editing,
    /// The first line of a session, but for the model.
    pub banner: Banner,
    /// What is switched on.
    pub switches: Switches,
}

impl State {
    /// A chat that has just begun.
    pub fn new(start: Start) -> Self {
        let Start { look, rows, palette, keymap, editing, banner, switches } = start;
        let mut status = Status::new();
        status.emit(StatusEvent::Place { cwd: banner.folder.clone(), branch: banner.branch.clone() });
        Self {
            now: Duration::ZERO,
            look,
            rows,
            editor: Editor::new(editing),
            keymap,
            paper: Paper::default(),
            turn: Turn::default(),
            task: None,
            checklist: Checklist::default(),
            asked: None,
            questions: VecDeque::new(),
            proposal: None,
            offers: Vec::new(),
            begun: String::new(),
            waiting: Vec::new(),
            overlay: Overlay::None,
            earlier: Vec::new(),
            walk: Walk::default(),
            status,
            spending: Spending::default(),
            effort: None,
            changing: false,
            looks: 0,
            after_looks: None,
            models: None,
            session: None,
            // The first one opens by itself.
            opening: 1,
            switches,
            palette,
            banner,
            answer: String::new(),
            times: Times::default(),
            kept_draft: Draft::default(),
            letters: 0,
            generation: 0,
            refused: Vec::new(),
            leaving: None,
        }
    }

    /// When the state wants to hear of the time again; `None` while nothing moves by itself.
    pub fn deadline(&self) -> Option<Duration> {
        let draft = self.times.draft.map(|changed| changed + DRAFT_PAUSE);
        let looked_at = self.switches.focused != Some(false);
        let motion = self.task.as_ref().filter(|_| looked_at).and_then(|task| {
            let elapsed = self.now.saturating_sub(task.since);
            let stays = self.status.stays(elapsed)?;
            // Seconds are counted with the next breath: a picture of their own would be the fifth in a second.
            let breath = self.turn.has_calls().then(|| BREATH - rest_of(self.now, BREATH));
            Some(self.now + breath.unwrap_or(stays))
        });
        let armed = self.times.interrupt.map(|pressed| pressed + TWICE);
        let back = self.times.escape.map(|pressed| pressed + TWICE);
        [draft, motion, armed, back].into_iter().flatten().min()
    }

    /// Whether the screen is too small to show more than the draft.
    pub fn is_tiny(&self) -> bool {
        self.look.width < FEWEST_COLUMNS || self.rows < FEWEST_ROWS
    }

    /// Whether a second Ctrl-C leaves.
    pub fn is_armed(&self) -> bool {
        self.times.interrupt.is_some_and(|pressed| self.now < pressed + TWICE)
    }

    /// Whether a second Esc goes back in the conversation.
    pub fn goes_back(&self) -> bool {
        self.times.escape.is_some_and(|pressed| self.now < pressed + TWICE)
    }

    /// A picture of all this is on the screen.
    pub fn painted(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.shown = true;
        }
        match &mut self.overlay {
            Overlay::Confirm(confirm, _) => confirm.shown = true,
            Overlay::Shelf(shelf, _) => shelf.painted(),
            Overlay::None | Overlay::Completion(_) | Overlay::Picker(..) | Overlay::Search(_) | Overlay::Tree(..) => {}
        }
    }

    /// Takes what is to be painted for good.
    pub fn take_finished(&mut self) -> Vec<Block> {
        self.paper.take()
    }
}

/// Below this many columns, or rows, the screen says so.
const FEWEST_COLUMNS: usize = 20;
/// See [`FEWEST_COLUMNS`].
const FEWEST_ROWS: usize = 5;
/// How long a draft rests before it is kept.
pub const DRAFT_PAUSE: Duration = Duration::from_millis(400);
/// Two presses of Ctrl-C within this time leave, and two of Esc go back.
pub const TWICE: Duration = Duration::from_secs(1);
/// How long a text that was put into the draft has to be there before a key can be meant for it: as fast as people are.
pub const SEEN: Duration = Duration::from_millis(250);
/// One step of the breathing mark: 4 a second.
const BREATH: Duration = Duration::from_millis(250);

/// How far a time is into its last step.
fn rest_of(time: Duration, step: Duration) -> Duration {
    let (time, step) = (time.as_millis(), step.as_millis().max(1));
    Duration::from_millis(u64::try_from(time % step).unwrap_or_default())
}
