//! The agent's state machine: one conversation, one task at a time. Same inputs, same effects.
//!
//! Nothing is done here: what is to be done is returned as [`Effect`]s, and comes back as [`Input`]s.

mod batch;
mod calls;
mod fold;
mod mend;
mod said;
mod size;
mod standing;
mod task;
#[cfg(test)]
mod tests;
mod trouble;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::ModelInfo;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::{Assistant, Message, ToolCall};
use crate::model::reply::{Reply, StopReason};
use crate::model::request::ToolChoice;
use crate::model::usage::Usage;

use super::compact;
use super::effect::{Effect, End, Outcome};
use super::event::{Context, Event, Notice, NoticeCode};
use super::input::{Input, Stop};
use super::loop_guard::{Alarm, signature};
use super::port::PendingCall;
use super::pot::Pot;
use super::retry::{Policy, Retries};
use super::tool::Risk;
use batch::Batch;
use calls::started;
use fold::Fold;
pub use size::CHARS_PER_TOKEN;
use size::Gauge;
use task::Task;
use words::{CUT_ANSWER, CUT_BY_LIMIT, FULL_WINDOW, NO_MORE_TOOLS, WRITTEN, end_of, interrupted_output, interruption};

/// Limits and switches of a node.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Model calls a task may take; `None` for no limit.
    pub max_turns: Option<u32>,
    /// Whether a task that has taken them is asked once more, without tools, for what it has.
    pub last_words: bool,
    /// US dollars a task may take.
    pub max_cost: Option<f64>,
    /// How failed attempts are repeated.
    pub retry: Policy,
    /// Whether loops are looked for.
    pub loop_detection: bool,
    /// Tokens that every request holds besides the conversation: system prompt and tools.
    pub overhead_tokens: u64,
    /// When and how the conversation is compacted.
    pub compaction: compact::Settings,
}

/// One conversation and the task at hand.
#[derive(Debug)]
pub struct Node {
    settings: Settings,
    info: ModelInfo,
    history: Vec<Arc<Message>>,
    /// The ids of pictures that a provider has refused.
    refused: BTreeSet<String>,
    /// Whether the model's provider has refused to take its reasoning back.
    unsealed: bool,
    phase: Phase,
    task: Task,
    gauge: Gauge,
    /// What a compacted conversation is opened with anew.
    opening: Option<String>,
    /// What the task has spent, by the budget's count, with all who work for it.
    pot: Pot,
    /// Whether the pot is somebody else's.
    works_for_another: bool,
}

#[derive(Debug)]
enum Phase {
    Idle,
    /// The model is being asked, or a wait precedes the next attempt.
    Asking {
        choice: ToolChoice,
        retries: Retries,
    },
    /// The model has failed, and the next one in line is looked for.
    Changing {
        choice: ToolChoice,
        error: ModelError,
        /// Whether some of an answer was shown.
        shown: bool,
    },
    /// The calls are being checked.
    Preparing(Batch),
    /// The gate judges the calls at these places.
    Deciding(Batch, Vec<(usize, PendingCall)>),
    /// Permitted calls run, or wait for each other.
    Running(Batch),
    /// The last calls are running out.
    Stopping(Batch, Stop),
    /// The beginning of the conversation is being summarised.
    Folding(Box<Fold>),
}

/// What providers count is compared with the guess once in so many turns: it means weighing the whole conversation.
const LEARNED_EVERY: u32 = 8;

/// Effects in the making.
type Effects = Vec<Effect>;

impl Node {
    /// A node that goes on from this conversation.
    pub fn new(settings: Settings, info: ModelInfo, history: Vec<Arc<Message>>) -> Self {
        Self {
            settings,
            info,
            history,
            refused: BTreeSet::new(),
            unsealed: false,
            phase: Phase::Idle,
            task: Task::default(),
            gauge: Gauge::default(),
            opening: None,
            pot: Pot::default(),
            works_for_another: false,
        }
    }

    /// A node that works for another one, out of its pot.
    #[must_use]
    pub fn sharing(mut self, pot: Pot) -> Self {
        self.pot = pot;
        self.works_for_another = true;
        self
    }

    /// What the task at hand has spent, with all who work for it.
    pub fn pot(&self) -> Pot {
        self.pot.clone()
    }

    /// What a compacted conversation is opened with anew: the moving facts that its first message began with.
    #[must_use]
    pub fn opening(mut self, opening: String) -> Self {
        self.opening = Some(opening);
        self
    }

    /// So many messages at the beginning are of a conversation that was longer: what their answers counted is not what
    /// is sent.
    #[must_use]
    pub fn stale(mut self, messages: usize) -> Self {
        self.gauge.stale(messages);
        self.learn_from_history();
        self
    }

    /// Pictures, by their ids, that were refused before: they are not sent again, whoever brings them.
    #[must_use]
    pub fn refusing(mut self, pictures: impl IntoIterator<Item = String>) -> Self {
        self.refused.extend(pictures);
        self.mend_refused();
        self
    }

    /// The conversation so far. While calls run their results are not yet part of it.
    pub fn history(&self) -> &[Arc<Message>] {
        &self.history
    }

    /// Another model answers from now on.
    pub fn set_model(&mut self, info: ModelInfo) {
        if self.task.usage == Usage::default() && !self.task.uncounted {
            self.task.cost = info.price.map(|_| 0.0);
        }
        self.info = info;
        self.unsealed = false;
    }

    /// Whether no task is at hand.
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// Takes in what happened and returns what is to be done about it. An input that does not fit is ignored.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Effects::new();
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        self.phase = match (phase, input) {
            (Phase::Idle, Input::Submitted(message)) => {
                self.begin();
                self.say(message, &mut effects);
                self.ask(ToolChoice::Auto, &mut effects)
            }
            (Phase::Idle, Input::Continued(message)) => self.go_on(message, &mut effects),
            (Phase::Idle, Input::Compact(wishes)) => {
                self.begin();
                self.compact(wishes, &mut effects)
            }
            (Phase::Folding(fold), Input::Summarised { info, result, dice }) => {
                self.summarised(fold, &info, result, dice, &mut effects)
            }
            (Phase::Folding(fold), Input::WaitOver) => self.summarise_again(fold, &mut effects),
            (Phase::Asking { choice, retries }, Input::Replied { reply, shown, dice }) => {
                self.replied(reply, choice, retries, shown, dice, &mut effects)
            }
            (Phase::Asking { choice, retries }, Input::ReplyFailed { error, shown, dice }) => {
                self.failed(&error, choice, retries, shown, dice, &mut effects)
            }
            (Phase::Asking { choice, retries }, Input::WaitOver) => {
                effects.push(Effect::Ask(choice));
                Phase::Asking { choice, retries }
            }
            (Phase::Changing { choice, error, shown }, Input::NextModel { info, passed_over, notices }) => {
                let next = info.map(|info| (info, notices));
                self.next_model(next, passed_over, choice, error, shown, &mut effects)
            }
            (phase @ Phase::Asking { .. }, Input::ModelChanged(info)) => {
                self.set_model(info);
                effects.push(Effect::Emit(self.turn_started(self.task.turns.saturating_sub(1))));
                phase
            }
            (phase @ Phase::Asking { .. }, Input::Heard(letters)) => {
                self.heard(letters, &mut effects);
                phase
            }
            (Phase::Preparing(batch), Input::Prepared(checked)) => self.prepared(batch, checked, &mut effects),
            (Phase::Deciding(batch, pending), Input::Decided(verdicts)) => {
                self.decided(batch, pending, verdicts, &mut effects)
            }
            (Phase::Running(batch), Input::ToolFinished { place, output, duration_ms }) => {
                let batch = self.tool_finished(batch, place, &output, duration_ms, &mut effects);
                self.run(batch, &mut effects)
            }
            (Phase::Stopping(batch, why), Input::ToolFinished { place, output, duration_ms }) => {
                let output = interrupted_output(output, why);
                let batch = self.tool_finished(batch, place, &output, duration_ms, &mut effects);
                self.stop(batch, why, &mut effects)
            }
            (Phase::Asking { .. } | Phase::Changing { .. } | Phase::Folding(_), Input::Stopped { why, partial }) => {
                self.keep_partial(partial, &mut effects);
                self.finish(end_of(why), &mut effects)
            }
            (
                Phase::Preparing(batch) | Phase::Deciding(batch, _) | Phase::Running(batch),
                Input::Stopped { why, .. },
            ) => {
                effects.push(Effect::StopTools);
                self.stop(batch, why, &mut effects)
            }
            (phase, _) => phase,
        };
        effects
    }

    fn begin(&mut self) {
        self.task = Task { cost: self.info.price.map(|_| 0.0), ..Task::default() };
        if !self.works_for_another {
            self.pot.empty();
        }
    }

    /// Begins a turn, unless a limit forbids it.
    fn ask(&mut self, mut choice: ToolChoice, effects: &mut Effects) -> Phase {
        match self.limit() {
            Some(End::MaxTurns) if self.task.closing => {}
            Some(End::MaxTurns) if self.settings.last_words && !self.is_spent() => {
                self.task.closing = true;
                self.keep(Message::user(words::LAST_WORDS), effects);
                choice = ToolChoice::None;
            }
            Some(end) => return self.finish(end, effects),
            None => {}
        }
        if let Some(phase) = self.make_room(choice, effects) {
            return phase;
        }
        effects.push(Effect::Emit(self.turn_started(self.task.turns)));
        self.task.turns += 1;
        effects.push(Effect::Ask(choice));
        Phase::Asking { choice, retries: Retries::default() }
    }

    fn turn_started(&self, turn: u32) -> Event {
        Event::TurnStarted {
            turn,
            origin: Arc::clone(&self.info.origin),
            label: self.info.label.clone(),
            context: Context { tokens: self.context_tokens(), window: self.info.window },
        }
    }

    fn replied(
        &mut self,
        reply: Reply,
        choice: ToolChoice,
        retries: Retries,
        shown: bool,
        dice: f64,
        effects: &mut Effects,
    ) -> Phase {
        let cost = self.charge(&reply, effects);
        if self.task.turns % LEARNED_EVERY == 1 {
            self.learn(self.history.len(), &reply.usage);
        }
        self.task.overflows = 0;
        let Reply { content, stop, usage, written } = reply;
        if written {
            notice(NoticeCode::Fallback, WRITTEN, effects);
        }
        if let Some(text) = self.overflow(&usage) {
            notice(NoticeCode::Compaction, text, effects);
        }
        let answer = Assistant { content, origin: Arc::clone(&self.info.origin), stop, usage };
        let calls: Vec<ToolCall> = answer.calls().cloned().collect();
        let text = answer.text();
        let says_nothing = text.trim().is_empty() && calls.is_empty();
        let summing_up = choice == ToolChoice::None;
        match answer.stop {
            StopReason::Refusal | StopReason::Length | StopReason::Window => {}
            StopReason::Stop | StopReason::ToolUse | StopReason::Pause | StopReason::Other(_)
                if says_nothing && !summing_up =>
            {
                let error = ModelError::new(ErrorKind::Empty, "the model gave an empty answer");
                return self.failed(&error, choice, retries, shown, dice, effects);
            }
            StopReason::Stop | StopReason::ToolUse | StopReason::Pause | StopReason::Other(_) => {}
        }
        let stop = answer.stop.clone();
        self.task.text = std::mem::take(&mut self.task.paused) + &text;
        if !says_nothing {
            self.keep(Message::Assistant(answer), effects);
        }
        effects.push(Effect::Emit(Event::TurnFinished { turn: self.task.turns - 1, stop: stop.clone(), usage, cost }));
        let mut batch = Batch::new(&calls);
        if summing_up {
            self.answer_open(&mut batch, NO_MORE_TOOLS, effects);
            if !calls.is_empty() {
                self.close(batch);
            }
            return self.finish(if self.task.closing { End::MaxTurns } else { End::Loop }, effects);
        }
        if !calls.is_empty() {
            if matches!(stop, StopReason::Length | StopReason::Window) {
                self.answer_open(&mut batch, CUT_BY_LIMIT, effects);
                return self.run(batch, effects);
            }
            effects.push(Effect::Prepare(calls));
            return Phase::Preparing(batch);
        }
        match stop {
            StopReason::Refusal => {
                self.fail(ModelError::new(ErrorKind::Refused, "the model refused to answer"), effects)
            }
            StopReason::Length => self.fail(ModelError::new(ErrorKind::Length, CUT_ANSWER), effects),
            StopReason::Window => self.fail(ModelError::new(ErrorKind::Context, FULL_WINDOW), effects),
            StopReason::Pause => {
                self.task.paused.clone_from(&self.task.text);
                self.ask(choice, effects)
            }
            StopReason::Stop | StopReason::ToolUse | StopReason::Other(_) => self.finish(End::Answered, effects),
        }
    }

    /// Starts what can start; closes the batch once all calls are done.
    fn run(&mut self, mut batch: Batch, effects: &mut Effects) -> Phase {
        for (place, pending) in batch.start() {
            effects.push(Effect::Emit(started(&pending.call, pending.risk)));
            effects.push(Effect::Run { place, pending });
        }
        if !batch.is_done() {
            return Phase::Running(batch);
        }
        let alarm = self.close(batch);
        let Some(alarm) = alarm else { return self.ask(ToolChoice::Auto, effects) };
        let text = match alarm {
            Alarm::Note => "the model repeats the same calls; it was told",
            Alarm::Warning => "the model still repeats the same calls; it was told to change its approach",
            Alarm::End => "the model goes round in circles; it is asked for a summary, and the task ends",
        };
        effects.push(Effect::Emit(Event::Notice(Notice::new(NoticeCode::Loop, text))));
        self.keep(Message::user(alarm.message()), effects);
        self.ask(if alarm == Alarm::End { ToolChoice::None } else { ToolChoice::Auto }, effects)
    }

    /// Puts the results into the history, and looks for a loop.
    fn close(&mut self, batch: Batch) -> Option<Alarm> {
        let (results, fingerprints) = batch.close();
        self.history.push(Arc::new(results));
        if !self.settings.loop_detection {
            return None;
        }
        let signatures: Vec<u64> =
            fingerprints.iter().map(|(call, fingerprint)| signature(&call.name, &call.input, *fingerprint)).collect();
        self.task.guard.round(&signatures)
    }

    /// Ends the task as soon as nothing runs any more.
    fn stop(&mut self, mut batch: Batch, why: Stop, effects: &mut Effects) -> Phase {
        for place in batch.unstarted() {
            self.answer(&mut batch, place, Risk::Safe, interruption(why), effects);
        }
        if !batch.is_done() {
            return Phase::Stopping(batch, why);
        }
        self.close(batch);
        self.finish(end_of(why), effects)
    }

    fn fail(&mut self, error: ModelError, effects: &mut Effects) -> Phase {
        effects.push(Effect::Emit(Event::Failed {
            kind: error.kind,
            message: error.message.clone(),
            retryable: error.retryable,
        }));
        self.finish(End::Failed(error), effects)
    }

    fn finish(&mut self, end: End, effects: &mut Effects) -> Phase {
        // The task stays as it is: it may go on.
        let Task { turns, usage, cost, text, denied, .. } = &self.task;
        let (text, denied) = (text.clone(), denied.clone());
        effects.push(Effect::Finish(Outcome { text, turns: *turns, end, usage: *usage, cost: *cost, denied }));
        Phase::Idle
    }
}

fn notice(code: NoticeCode, text: impl Into<String>, effects: &mut Effects) {
    effects.push(Effect::Emit(Event::Notice(Notice::new(code, text))));
}
