//! What happens within calls that run: sub-agents, and the steps of a chain, which stand among the calls as one of them.
//!
//! Counts and names; nothing a worker says is shown as the agent's own words.

use std::sync::Arc;
use std::time::Duration;

use crate::base::text::width::cut;
use crate::front::repl::state::paper::Paper;
use crate::front::repl::view::Look;
use crate::front::repl::view::tool::{Call, Finish, Inner, said, step_id};
use crate::kernel::event::{Event, Worker};
use crate::model::message::Origin;
use crate::model::reply::StopReason;
use crate::model::usage::Usage;

use super::Turn;

/// Columns of the task that a sub-agent is named by.
const NAME_COLUMNS: usize = 30;

/// What happens within, by whoever it happens to.
#[derive(Debug, Default)]
pub struct Within {
    /// Who is asked by whom, as far as it was told.
    asked: Vec<(Worker, Arc<Origin>)>,
    /// Questions that were told of, and who puts them.
    questions: Vec<(String, Worker)>,
}

/// What an answer to a worker took.
#[derive(Clone, Debug, PartialEq)]
pub struct Paid {
    /// Who answered.
    pub origin: Arc<Origin>,
    /// What it took.
    pub usage: Usage,
    /// In US dollars; `None` where the price is unknown.
    pub cost: Option<f64>,
}

impl Turn {
    /// Something happens within. Returns what is to be paid for it.
    pub fn within(
        &mut self,
        worker: &Worker,
        event: &Event,
        now: Duration,
        look: &Look,
        paper: &mut Paper,
    ) -> Option<Paid> {
        let (inner, happened) = innermost(worker, event);
        let is_own = inner == worker;
        match happened {
            Event::TurnStarted { origin, .. } => {
                self.within.asked.retain(|(known, _)| known != inner);
                self.within.asked.push((inner.clone(), Arc::clone(origin)));
                if let Worker::Step(name) = worker
                    && is_own
                    && self.open(&step_id(name)).is_none()
                {
                    self.fall_silent(now, look, paper);
                    self.start(Call::step(name, now));
                }
                let call = self.call_of(worker)?;
                call.inner.get_or_insert_default();
            }
            Event::ToolStarted { name, arguments, .. } => {
                let call = self.call_of(worker)?;
                call.inner.get_or_insert_default().tools += 1;
                call.doing = Some(said(name, arguments, look));
            }
            Event::Text(_) if is_own => self.call_of(worker)?.doing = Some("writes its answer".to_owned()),
            Event::Reasoning(_) if is_own => self.call_of(worker)?.doing = Some("thinks".to_owned()),
            Event::TurnFinished { stop, usage, cost, .. } => {
                let asked = self.within.asked.iter().find(|(known, _)| known == inner);
                let paid = asked.map(|(_, origin)| Paid { origin: Arc::clone(origin), usage: *usage, cost: *cost });
                if let Some(call) = self.call_of(worker) {
                    pay(call, *cost);
                }
                if is_own && ends(stop) {
                    self.end_step(worker, None, now, look, paper);
                }
                return paid;
            }
            Event::Failed { message, .. } if is_own => self.end_step(worker, Some(message), now, look, paper),
            Event::Question { id, .. } => self.within.questions.push((id.clone(), inner.clone())),
            Event::Text(_)
            | Event::Reasoning(_)
            | Event::Failed { .. }
            | Event::ToolProgress { .. }
            | Event::ToolFinished { .. }
            | Event::Steered { .. }
            | Event::Notice(_)
            | Event::Within(..) => {}
        }
        None
    }

    /// What a worker is called: a step by its name, a sub-agent by what it is to do.
    pub fn who(&self, worker: &Worker, look: &Look) -> String {
        match worker {
            Worker::Step(name) => format!("step {}", crate::front::repl::view::plain(name)),
            Worker::Agent(id) => {
                let running = self.calls.iter().find(|running| running.call.id == *id);
                let task = running.map(|running| said(&running.call.name, &running.call.arguments, look));
                task.map_or_else(|| "agent".to_owned(), |task| cut(&task, NAME_COLUMNS, look.glyphs.ellipsis))
            }
        }
    }

    /// Who puts the question with this id, where it is not the agent itself.
    pub fn asker(&self, id: &str) -> Option<&Worker> {
        self.within.questions.iter().find(|(known, _)| known == id).map(|(_, worker)| worker)
    }

    /// Whether a command has been running for so long.
    pub fn has_command(&self, now: Duration, least: Duration) -> bool {
        let open = self.calls.iter().filter(|running| running.finish.is_none());
        open.map(|running| &running.call).any(|call| call.is_command() && now >= call.started + least)
    }

    fn call_of(&mut self, worker: &Worker) -> Option<&mut Call> {
        let running = match worker {
            Worker::Agent(id) => self.open(id),
            Worker::Step(name) => self.open(&step_id(name)),
        };
        running.map(|running| &mut running.call)
    }

    fn end_step(&mut self, worker: &Worker, problem: Option<&str>, now: Duration, look: &Look, paper: &mut Paper) {
        let Worker::Step(name) = worker else { return };
        let id = step_id(name);
        let Some(running) = self.open(&id) else { return };
        let duration = Some(now.saturating_sub(running.call.started));
        let output = problem.unwrap_or_default().to_owned();
        let finish = Finish { ok: problem.is_none(), output, duration, ..Finish::default() };
        self.finish(&id, finish, look, paper);
    }
}

/// Who it happens to, and what: a worker's own workers count for it.
pub fn innermost<'a>(worker: &'a Worker, event: &'a Event) -> (&'a Worker, &'a Event) {
    if let Event::Within(inner, event) = event { innermost(inner, event) } else { (worker, event) }
}

/// Adds the price of an answer. The sum is unknown once one of them is.
fn pay(call: &mut Call, cost: Option<f64>) {
    let answers = call.answers;
    call.answers += 1;
    let Inner { tools: _, cost: sum } = call.inner.get_or_insert_default();
    *sum = match (*sum, cost) {
        (None, cost) if answers == 0 => cost,
        (Some(sum), Some(cost)) => Some(sum + cost),
        (None | Some(_), _) => None,
    };
}

/// Whether a turn that stops so is the last one of its task.
fn ends(stop: &StopReason) -> bool {
    match stop {
        StopReason::ToolUse | StopReason::Pause => false,
        StopReason::Stop | StopReason::Length | StopReason::Window | StopReason::Refusal | StopReason::Other(_) => true,
    }
}
