//! One conversation: what is said goes to the node, what comes of it to the session and to whoever watches.
//!
//! Knows no front end and no configuration; `product::app` puts it together.

pub mod attach;
mod conceal;
pub mod goal;
mod hooks;
mod recorder;
pub mod redact;
pub mod report;
mod undo;

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::cancel::Cancel;
use crate::kernel::driver::Driver;
use crate::kernel::effect::{End, Outcome};
use crate::kernel::event::Event;
use crate::kernel::inbox::Inbox;
use crate::kernel::node::Node;
use crate::kernel::port::{Gate, Hooks};
use crate::kernel::succession::{Chosen, Successors, Summariser};
use crate::kernel::toolbox::Toolbox;
use crate::model::Model;
use crate::model::message::{Message, Part};
use crate::model::request::Options;

use super::checkpoint::record::Checkpoints;
use super::journal::Journal;
use super::permission::Rights;
use super::rules::touched::Touched;
use super::session::Session;
use super::session::recording::Results;
use super::skill::Found;
use goal::{Goal, Pursuit, Step};
pub use hooks::Watching;
use recorder::Around;
pub use recorder::Recorder;
use redact::Redactor;

/// One conversation, with everything it needs.
pub struct Agent {
    /// The state machine, with the conversation so far.
    pub node: Node,
    /// Who is asked.
    pub model: Arc<dyn Model>,
    /// Who goes on where it fails.
    pub successors: Box<dyn Successors>,
    /// Who summarises.
    pub summariser: Summariser,
    /// Who is to answer from the next request on, if somebody chooses while a task runs.
    pub chosen: Chosen,
    /// What can be called.
    pub tools: Toolbox,
    /// What could be called if nothing but the settings held.
    pub reserve: Toolbox,
    /// The skills that the system prompt speaks of.
    pub skills: Arc<Found>,
    /// Who permits calls.
    pub gate: Box<dyn Gate>,
    /// What the gate goes by, where it may change while a task runs; the session keeps what is granted.
    pub rights: Option<Arc<Rights>>,
    /// Who may change outputs.
    pub hooks: Arc<dyn Hooks>,
    /// Hides known secrets in what is kept and shown, whoever wrote them.
    pub redactor: Arc<Redactor>,
    /// What turns change of files, where that is kept.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// Which rules were told, and which are told when work reaches their folders.
    pub touched: Arc<Touched>,
    /// Where it is kept.
    pub session: Session,
    /// The system prompt.
    pub system: Arc<str>,
    /// How answers are to be made.
    pub options: Options,
    /// What is said to the agent while a task runs.
    pub inbox: Inbox,
    /// How long a task may take.
    pub timeout: Option<Duration>,
    /// What the first message begins with: the moving facts, which must not be part of the system prompt.
    pub opening: Option<String>,
    /// What a replayed session's calls came to when it was recorded.
    pub recorded: Option<Results>,
    /// What is said when a command first runs.
    pub on_first_command: Option<String>,
    /// What is noted for later.
    pub journal: Journal,
}

/// A task that is over.
#[derive(Debug)]
pub struct Finished {
    /// What it came to.
    pub outcome: Outcome,
    /// From the submission to the end.
    pub duration_ms: u64,
}

/// What there is to do.
enum Work {
    Say(Message),
    Compact(Option<String>),
}

impl Agent {
    /// Gives the agent something to do and returns when it is over, or soon after `cancel` is thrown. `watch` sees every
    /// event, after the session has kept what it shows.
    pub async fn run(&mut self, said: Vec<Part>, cancel: &Cancel, watch: &mut dyn FnMut(&Event)) -> Finished {
        let work = Work::Say(self.opened(said));
        self.drive(work, None, cancel, watch).await
    }

    /// The same, and goes on until a check succeeds, within the limits of one task. It counts as answered only then.
    pub async fn pursue(
        &mut self,
        said: Vec<Part>,
        goal: &Goal,
        cancel: &Cancel,
        watch: &mut dyn FnMut(&Event),
    ) -> Finished {
        let work = Work::Say(self.opened(said));
        self.drive(work, Some(goal), cancel, watch).await
    }

    /// What is said, behind the moving facts where it comes first.
    fn opened(&mut self, said: Vec<Part>) -> Message {
        let opening = self.opening.take().map(Part::Text);
        Message::User(opening.into_iter().chain(said).collect())
    }

    /// Has the conversation summarised, as far as it is not needed word for word. `wishes`: what the summary is to heed.
    pub async fn compact(
        &mut self,
        wishes: Option<String>,
        cancel: &Cancel,
        watch: &mut dyn FnMut(&Event),
    ) -> Finished {
        self.drive(Work::Compact(wishes), None, cancel, watch).await
    }

    /// Keeps and shows a task that is not the node's to do, message by message. The node does not hear of it: who goes on
    /// with the conversation opens the session anew.
    pub fn recorder<'a>(&'a mut self, watch: &'a mut dyn FnMut(&Event)) -> Recorder<'a> {
        Recorder::new(
            &mut self.session,
            &self.redactor,
            watch,
            self.recorded.as_mut(),
            &mut self.on_first_command,
            Around::new(self.rights.as_ref(), self.checkpoints.as_ref(), &self.touched, &self.journal),
        )
    }

    async fn drive(
        &mut self,
        work: Work,
        goal: Option<&Goal>,
        cancel: &Cancel,
        watch: &mut dyn FnMut(&Event),
    ) -> Finished {
        let begun = Instant::now();
        let calls = Cell::new(0);
        let mut counting = |event: &Event| {
            if let Event::ToolStarted { .. } = event {
                calls.set(calls.get() + 1);
            }
            watch(event);
        };
        let mut recorder = Recorder::new(
            &mut self.session,
            &self.redactor,
            &mut counting,
            self.recorded.as_mut(),
            &mut self.on_first_command,
            Around::new(self.rights.as_ref(), self.checkpoints.as_ref(), &self.touched, &self.journal),
        );
        let mut driver = Driver {
            model: Arc::clone(&self.model),
            successors: self.successors.as_mut(),
            summariser: &mut self.summariser,
            chosen: self.chosen.clone(),
            tools: &self.tools,
            gate: self.gate.as_ref(),
            hooks: Arc::clone(&self.hooks),
            sink: &mut recorder,
            system: Arc::clone(&self.system),
            options: self.options.clone(),
            inbox: self.inbox.clone(),
            cancel: cancel.clone(),
            timeout: self.timeout,
        };
        let mut outcome = match work {
            Work::Say(message) => driver.run(&mut self.node, message).await,
            Work::Compact(wishes) => driver.compact(&mut self.node, wishes).await,
        };
        let mut pursuit = goal.map(|goal| Pursuit::new(goal, Arc::clone(&self.hooks), cancel));
        while let (End::Answered, Some(pursuit)) = (&outcome.end, &mut pursuit) {
            let left = || self.timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
            // A call that was denied has done nothing.
            let done = calls.replace(0) > pursuit.newly_denied(outcome.denied.len());
            let (step, told) = pursuit.check(done, left()).await;
            driver.sink.event(&Event::Notice(told));
            match step {
                Step::Reached => break,
                Step::Ended(end) => outcome.end = end,
                Step::Missed(message) => {
                    driver.timeout = left();
                    outcome = driver.go_on(&mut self.node, message).await;
                }
            }
        }
        self.model = driver.model;
        recorder.finish();
        self.redactor.outcome(&mut outcome);
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Finished { outcome, duration_ms }
    }
}
