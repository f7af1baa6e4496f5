//! One step of a chain: the order that is given for it, and what its end means for the chain.
//!
//! Runs nothing.

use std::path::Path;
use std::sync::Arc;

use super::{Running, Stopped, could_not, seconds};
use crate::base::text::numbers::count;
use crate::kernel::effect::End;
use crate::kernel::event::Worker;
use crate::kernel::tool::Ledger;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::{Assistant, AssistantPart};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use crate::product::chain::past::label;
use crate::product::chain::prompt::Answer;
use crate::product::crew::{Done, Order};

/// The name of the step that an order is for.
pub(super) fn name(order: &Order) -> &str {
    match &order.worker {
        Worker::Step(name) | Worker::Agent(name) => name,
    }
}

impl Running<'_> {
    /// What is to be done in the step at `place`.
    pub(super) fn order(&self, place: usize) -> Order {
        let chain = self.job.chain;
        let step = &chain.steps[place];
        let prompt = step.prompt.fill(&self.job.task.text, chain, place, &self.answers);
        let attached = &self.job.task.attached;
        let has_files = !attached.is_empty() && step.prompt.has_task();
        let is_last = chain.groups().last().is_some_and(|group| group.contains(&place));
        let reader =
            if is_last { "the person who gave the task" } else { "the steps after it, and nothing else of this one" };
        Order {
            worker: Worker::Step(step.name.clone()),
            task: if has_files { format!("{attached}\n\n{prompt}") } else { prompt },
            brief: Some(format!(
                "# Chain\nThis is step `{}` of the chain `{}`. Your final answer goes to {reader}: let it be complete.",
                step.name, chain.name
            )),
            tools: step.tools.as_ref().map(|_| step.tools_of(self.toolbox).into_iter().map(str::to_owned).collect()),
            model: step.who(),
            max_turns: step.max_iterations,
        }
    }

    /// Says that a step begins.
    pub(super) fn begins(&mut self, place: usize) {
        let (number, all) = (place + 1, self.job.chain.steps.len());
        self.progress(format!("Step {number} of {all}: {}.", self.job.chain.steps[place].name));
    }

    /// Keeps what a step came to, and says whether the chain goes on.
    pub(super) fn ended(&mut self, place: usize, done: Result<Done, String>) -> Result<(), Stopped> {
        let step = self.job.chain.steps[place].name.clone();
        let (number, all) = (place + 1, self.job.chain.steps.len());
        let (text, end, transcript) = match done {
            Ok(Done { text, end, ledger, duration_ms, transcript }) => {
                let took = format!("{}, {}", count(u64::from(ledger.turns), "turn"), seconds(duration_ms));
                let is_spent = end == End::MaxTurns && text.trim().is_empty();
                let text = if is_spent { self.no_answer(place, ledger.turns) } else { text };
                self.add(ledger);
                match failed(&text, end) {
                    None => {
                        self.answered(place, Answer { text, transcript });
                        self.progress(format!("Step {number} of {all} is done: {step} ({took})."));
                        return Ok(());
                    }
                    Some(end) => (text, end, transcript),
                }
            }
            Err(_) if self.cancel.is_cancelled() => (String::new(), End::Cancelled, None),
            Err(problem) => (String::new(), could_not(problem), None),
        };
        self.broke_off(place, &text, &end, transcript.as_deref());
        self.progress(format!("Step {number} of {all} stops the chain: {step}."));
        Err(Stopped { step, end, text })
    }

    /// What stands for the answer of a step whose model calls were used up before it gave one.
    fn no_answer(&self, place: usize, turns: u32) -> String {
        let step = &self.job.chain.steps[place];
        let most = step.max_iterations.unwrap_or(turns);
        format!("(step {} gave no answer within {})", step.name, count(u64::from(most), "model call"))
    }

    /// Keeps that a step came to nothing, so that who goes on in the session knows.
    fn broke_off(&mut self, place: usize, text: &str, end: &End, transcript: Option<&Path>) {
        let chain = self.job.chain;
        let why = match end {
            End::Cancelled => "it was interrupted".to_owned(),
            End::TimedOut => "the time was over".to_owned(),
            End::Cost => "the budget was spent".to_owned(),
            End::Loop => "it went round in circles".to_owned(),
            End::Answered | End::MaxTurns => "it gave no answer".to_owned(),
            End::Failed(error) => error.message.clone(),
        };
        let kept = transcript.map_or_else(String::new, |path| {
            format!(" What it did until then, with the files it changed, is in its transcript: {}", path.display())
        });
        let note =
            format!("(step {} of the chain {} was not finished: {why}.{kept})", chain.steps[place].name, chain.name);
        let text = text.trim();
        self.tell(place, if text.is_empty() { note } else { format!("{text}\n\n{note}") });
    }

    fn tell(&mut self, place: usize, text: String) {
        let origin = self.origins.get(&place).unwrap_or(&self.origin);
        self.recorder.told(Assistant {
            content: vec![AssistantPart::Text(text)],
            origin: Arc::clone(origin),
            stop: StopReason::Stop,
            // It is counted where the step's conversation is kept.
            usage: Usage::default(),
        });
    }

    fn answered(&mut self, place: usize, answer: Answer) {
        self.tell(place, answer.text.clone());
        let chain = self.job.chain;
        self.recorder.note(label(&chain.name, &chain.steps[place].name));
        self.answers[place] = Some(answer);
    }

    fn add(&mut self, ledger: Ledger) {
        let Ledger { turns, usage, cost, denied } = ledger;
        let total = &mut self.total;
        total.turns = total.turns.saturating_add(turns);
        total.usage += usage;
        total.cost = match (turns, cost) {
            // Nothing was answered that could have a price.
            (0, None) => total.cost,
            (_, cost) => total.cost.zip(cost).map(|(total, cost)| total + cost),
        };
        total.denied.extend(denied);
    }
}

/// How a step failed; `None` where it came to something: an answer, or what it had when its calls were used up.
fn failed(text: &str, end: End) -> Option<End> {
    match end {
        End::Answered | End::MaxTurns if !text.trim().is_empty() => None,
        End::Answered => Some(End::Failed(ModelError::new(ErrorKind::Empty, "the answer is empty"))),
        End::MaxTurns | End::Loop | End::TimedOut | End::Cost | End::Cancelled | End::Failed(_) => Some(end),
    }
}
