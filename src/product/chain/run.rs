//! A chain, run: each step is an order of its own, and what it comes to goes into the prompts of later ones and into the
//! session.
//!
//! Asks no model and permits nothing; who works on a step is the caller's to say.

mod deadline;
mod step;

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::Chain;
use super::past::{self, Earlier, Resumed};
use super::prompt::{Answer, join};
use crate::base::cancel::Cancel;
use crate::base::panic;
use crate::base::text::visible;
use crate::kernel::effect::{End, Outcome};
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::kernel::port::Sink as _;
use crate::kernel::tool::{Ledger, Risk};
use crate::kernel::toolbox::Toolbox;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::{Message, Origin, Part};
use crate::product::agent::{Agent, Recorder};
use crate::product::crew::{Done, Order, Send};
use crate::product::session::title;

use deadline::Deadline;

/// A chain that is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The chain.
    pub chain: &'a Chain,
    /// What the person wrote.
    pub task: &'a Task,
    /// Where it begins, and what came before; the default is the whole chain.
    pub resumed: &'a Resumed,
    /// What all steps together may cost, in US dollars.
    pub max_cost: Option<f64>,
}

/// What a person wants of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// What is put in for `{task}`.
    pub text: String,
    /// Files that go along: they stand before each prompt that has the task in it. Empty where there are none.
    pub attached: String,
}

/// A chain that was run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// What it came to. The text is that of the last step, or of the one that failed.
    pub outcome: Outcome,
    /// The step that failed, or that could not begin any more.
    pub failed: Option<String>,
    /// From the beginning to the end.
    pub duration_ms: u64,
}

impl Ran {
    /// An error, with the step that it is about.
    pub fn about(&self, error: &str) -> String {
        match &self.failed {
            Some(step) => format!("step {}: {error}", visible::line(step)),
            None => error.to_owned(),
        }
    }
}

/// Runs a chain in the session of `agent` and returns when it is over, or soon after `cancel` is thrown. `send` has the
/// steps done, several at once where they may run beside each other, each on a thread of its own; `watch` sees every
/// event, on this thread, after the session has kept what it shows. All of it ends with the agent's own limit of time.
///
/// The agent's node does not hear of what was said: who goes on with the conversation opens the session anew.
pub fn run(agent: &mut Agent, job: &Job<'_>, send: &Send<'_>, cancel: &Cancel, watch: &mut dyn FnMut(&Event)) -> Ran {
    let begun = Instant::now();
    let deadline = Deadline::new(cancel, agent.timeout);
    // A new task begins, and what it costs is counted anew.
    agent.node.pot().empty();
    let toolbox = agent.tools.clone();
    let origin = Arc::clone(&agent.model.info().origin);
    let opening = agent.opening.take();
    let mut answers = job.resumed.answers.clone();
    answers.resize(job.chain.steps.len(), None);
    let mut running = Running {
        job,
        toolbox: &toolbox,
        send,
        cancel: deadline.cancel(),
        recorder: agent.recorder(watch),
        answers,
        origins: BTreeMap::new(),
        origin,
        opening,
        has_said: false,
        total: Ledger { cost: Some(0.0), ..Ledger::default() },
    };
    let stopped = running.groups().err();
    let text = running.text(stopped.as_ref());
    let Ledger { turns, usage, cost, denied } = running.total;
    let (failed, end) = match stopped {
        None => (None, End::Answered),
        Some(Stopped { step, end: End::Cancelled, .. }) if deadline.has_passed() => (Some(step), End::TimedOut),
        Some(Stopped { step, end, .. }) => (Some(step), end),
    };
    if let (End::Failed(error), Some(step)) = (&end, &failed) {
        let message = format!("step {}: {}", visible::line(step), error.message);
        running.recorder.event(&Event::Failed { kind: error.kind, message, retryable: error.retryable });
    }
    running.recorder.finish();
    // Where nobody was asked, nothing is known of a price.
    let cost = cost.filter(|_| turns > 0);
    let outcome = Outcome { text, turns, end, usage, cost, denied };
    let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ran { outcome, failed, duration_ms }
}

/// Why a chain does not go on.
struct Stopped {
    step: String,
    end: End,
    text: String,
}

/// What comes from the threads of steps.
enum News {
    Event(usize, Event),
    Done(usize, Result<Done, String>),
}

/// A chain that is being run.
struct Running<'a> {
    job: &'a Job<'a>,
    toolbox: &'a Toolbox,
    send: &'a Send<'a>,
    cancel: &'a Cancel,
    recorder: Recorder<'a>,
    answers: Vec<Option<Answer>>,
    /// Who answered last, by the places of steps.
    origins: BTreeMap<usize, Arc<Origin>>,
    /// Who answers where nothing else is said.
    origin: Arc<Origin>,
    /// What the first message of the session begins with.
    opening: Option<String>,
    /// Whether the session knows the task.
    has_said: bool,
    total: Ledger,
}

impl Running<'_> {
    /// All steps, group by group.
    fn groups(&mut self) -> Result<(), Stopped> {
        let chain = self.job.chain;
        for text in &chain.withheld {
            self.recorder.event(&Event::Notice(Notice::new(NoticeCode::Trust, text.clone())));
        }
        self.tell_missing();
        self.tell_earlier();
        for group in chain.groups() {
            let places: Vec<usize> = group.filter(|place| *place >= self.job.resumed.from).collect();
            if self.may_overlap(&places) {
                self.batch(&places)?;
            } else {
                places.iter().try_for_each(|place| self.batch(std::slice::from_ref(place)))?;
            }
        }
        Ok(())
    }

    /// Says which tools are not there although a step names them.
    fn tell_missing(&mut self) {
        for step in self.job.chain.steps.iter().skip(self.job.resumed.from) {
            let missing = step.missing_tools(self.toolbox);
            if !missing.is_empty() {
                self.notice(format!(
                    "Step {} goes without tools that are not on offer here: {}.",
                    step.name,
                    missing.join(", ")
                ));
            }
        }
    }

    /// Whether these steps may run beside each other: they do if all they can do is look.
    fn may_overlap(&mut self, places: &[usize]) -> bool {
        let steps: Vec<_> = places.iter().filter_map(|place| self.job.chain.steps.get(*place)).collect();
        let [_, _, ..] = steps.as_slice() else { return false };
        let Some(more) = steps.iter().find(|step| step.highest_risk(self.toolbox) > Risk::Safe) else { return true };
        self.notice(format!(
            "Steps that are marked parallel run one after the other: {} has tools that do more than look.",
            more.name
        ));
        false
    }

    /// Steps that run at the same time.
    fn batch(&mut self, places: &[usize]) -> Result<(), Stopped> {
        let orders: Vec<(usize, Order)> = places.iter().map(|place| (*place, self.order(*place))).collect();
        let Some((first, _)) = orders.first() else { return Ok(()) };
        if let Some(end) = self.over() {
            let step = self.job.chain.steps[*first].name.clone();
            return Err(Stopped { step, end, text: String::new() });
        }
        let (sender, receiver) = mpsc::channel();
        let (send, cancel) = (self.send, self.cancel);
        for (at, (place, order)) in orders.iter().enumerate() {
            self.begins(*place);
            if at == 0 {
                // The session has a file before anybody works for it.
                self.said(order);
            }
        }
        thread::scope(|scope| {
            for (place, order) in &orders {
                let (sender, place) = (sender.clone(), *place);
                scope.spawn(move || {
                    // Nobody listens only where this thread's caller is gone.
                    let tell = |event| drop(sender.send(News::Event(place, event)));
                    let done = panic::caught(|| send(order, cancel, &tell));
                    let done = done.unwrap_or_else(|defect| Err(format!("internal error: {defect}")));
                    drop(sender.send(News::Done(place, done)));
                });
            }
            drop(sender);
            self.listen(&orders, &receiver)
        })
    }

    /// Takes what the threads tell, until all are done. Answers are kept in the order of the steps.
    fn listen(&mut self, orders: &[(usize, Order)], receiver: &mpsc::Receiver<News>) -> Result<(), Stopped> {
        let mut waiting = BTreeMap::new();
        let mut due = orders.iter().enumerate().peekable();
        let mut result = Ok(());
        for news in receiver {
            match news {
                News::Event(place, event) => self.heard(place, &event),
                News::Done(place, done) => drop(waiting.insert(place, done)),
            }
            while let Some((at, (place, order))) = due.next_if(|(_, (place, _))| waiting.contains_key(place)) {
                let Some(done) = waiting.remove(place) else { continue };
                if at > 0 {
                    self.said(order);
                }
                result = result.and(self.ended(*place, done));
            }
        }
        result
    }

    fn heard(&mut self, place: usize, event: &Event) {
        if let Event::Within(_, within) = event
            && let Event::TurnStarted { origin, .. } = within.as_ref()
        {
            self.origins.insert(place, Arc::clone(origin));
        }
        self.recorder.event(event);
    }

    /// Why no further step may begin.
    fn over(&self) -> Option<End> {
        if self.cancel.is_cancelled() {
            return Some(End::Cancelled);
        }
        let is_spent =
            self.job.max_cost.zip(self.total.cost).is_some_and(|(most, cost)| cost >= most && self.total.turns > 0);
        is_spent.then_some(End::Cost)
    }

    /// Keeps what a step was told.
    fn said(&mut self, order: &Order) {
        let opening = self.opening.take();
        let is_first = opening.is_some();
        let head = format!("[chain {}, step {}]\n\n{}", self.job.chain.name, step::name(order), order.task);
        let parts = opening.into_iter().chain([head]).map(Part::Text);
        self.recorder.message(&Arc::new(Message::User(parts.collect())));
        if is_first {
            let task = title::of_text(&self.job.task.text);
            self.recorder.name(format!("{}: {}", self.job.chain.name, task.as_deref().unwrap_or("…")));
        }
        if !std::mem::replace(&mut self.has_said, true) {
            self.recorder.note(past::task_label(&self.job.chain.name, &self.job.task.text));
        }
    }

    /// Tells how far the chain is.
    fn progress(&mut self, text: String) {
        self.recorder.event(&Event::Notice(Notice::new(NoticeCode::Chain, text)));
    }

    /// Tells what is done another way than somebody may think.
    fn notice(&mut self, text: String) {
        self.recorder.event(&Event::Notice(Notice::new(NoticeCode::Fallback, text)));
    }

    /// Says whose answers are taken over, if they were given for another task.
    fn tell_earlier(&mut self) {
        let own = past::task(&self.job.task.text);
        let Some(Earlier { session, tasks }) = &self.job.resumed.earlier else { return };
        let others: Vec<_> = tasks.iter().filter(|task| **task != own).map(|task| format!("\"{task}\"")).collect();
        if !others.is_empty() {
            self.notice(format!(
                "The steps before are not done again: their answers are those of session {session}, for another task: {}.",
                others.join(", ")
            ));
        }
    }

    /// The text of the whole: what the last group came to.
    fn text(&self, stopped: Option<&Stopped>) -> String {
        let whole = |place: usize| self.answers.get(place)?.as_ref().map(|answer| answer.text.clone());
        match stopped {
            Some(stopped) => stopped.text.clone(),
            None => {
                let last = self.job.chain.groups().pop().unwrap_or_default();
                join(self.job.chain, last, |place| whole(place).unwrap_or_default())
            }
        }
    }
}

/// How long something took, for people.
fn seconds(duration_ms: u64) -> String {
    let time = Duration::from_millis(duration_ms);
    format!("{:.1} s", time.as_secs_f64())
}

/// An end for what could not even begin.
fn could_not(problem: String) -> End {
    End::Failed(ModelError::new(ErrorKind::Internal, problem))
}

#[cfg(test)]
mod tests;
