//! What is done about an attempt that failed: the conversation is mended, it is made again, another model takes over, or
//! the task ends. Also the bill of those that did not fail.

use super::task::answer_chars;
use super::words::{self, trouble};
use super::{CHARS_PER_TOKEN, Effects, Node, Phase, notice};
use crate::base::text::numbers;
use crate::kernel::effect::{Effect, End};
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::kernel::retry::{self, Decision, Retries};
use crate::kernel::tool::Ledger;
use crate::model::ModelInfo;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::reply::Reply;
use crate::model::request::ToolChoice;
use crate::model::usage::Usage;

impl Node {
    /// Counts what an answer took. Returns what it cost, in US dollars, as far as that can be known: of a provider that
    /// counts no tokens it cannot, and the budget goes by a guess.
    pub(super) fn charge(&mut self, reply: &Reply, effects: &mut Effects) -> Option<f64> {
        let info = self.info.clone();
        self.charge_to(&info, reply, effects)
    }

    /// [`Node::charge`], where another model may have answered.
    pub(super) fn charge_to(&mut self, info: &ModelInfo, reply: &Reply, effects: &mut Effects) -> Option<f64> {
        let is_counted = reply.usage != Usage::default();
        let cost = info.price.filter(|_| is_counted).map(|price| price.cost(&reply.usage));
        self.task.usage += reply.usage;
        self.task.cost = self.task.cost.zip(cost).map(|(so_far, cost)| so_far + cost);
        if is_counted {
            self.pot.spend(cost.unwrap_or_default());
            return cost;
        }
        let is_news = !std::mem::replace(&mut self.task.uncounted, true);
        if let (Some(price), Some(_)) = (info.price, self.settings.max_cost) {
            let output = answer_chars(&reply.content) / CHARS_PER_TOKEN;
            self.pot.spend(price.cost(&Usage { input: self.context_tokens(), output, ..Usage::default() }));
            if is_news {
                notice(NoticeCode::Config, words::uncounted(&info.label), effects);
            }
        }
        cost
    }

    /// Adds what somebody else took who worked for this task. The pot has it already.
    pub(super) fn add(&mut self, ledger: &Ledger) {
        let Ledger { turns: _, usage, cost, denied } = ledger;
        self.task.usage += *usage;
        self.task.cost = self.task.cost.zip(*cost).map(|(so_far, cost)| so_far + cost);
        self.task.denied.extend(denied.iter().cloned());
    }

    /// Whether the task has cost what it may.
    pub(super) fn is_spent(&self) -> bool {
        self.settings.max_cost.is_some_and(|most| self.info.price.is_some() && self.pot.spent() >= most)
    }

    /// The limit of the task that is reached, if one is.
    pub(super) fn limit(&self) -> Option<End> {
        if self.settings.max_turns.is_some_and(|most| self.task.turns >= most) {
            return Some(End::MaxTurns);
        }
        self.is_spent().then_some(End::Cost)
    }

    /// What to say of a provider that took more than there is room for: it has forgotten something. Said once in a task.
    pub(super) fn overflow(&mut self, usage: &Usage) -> Option<String> {
        let (window, sent) = (self.info.window?, usage.sent());
        if sent <= window || std::mem::replace(&mut self.task.overflown, true) {
            return None;
        }
        Some(words::overflown(&self.info.label, sent, window))
    }

    /// Takes out of the conversation what the provider refused. Returns whether there was anything: then it is worth asking
    /// again at once.
    pub(super) fn mended(&mut self, error: &ModelError, shown: bool, effects: &mut Effects) -> bool {
        let text = match error.kind {
            ErrorKind::Seal if self.drop_reasoning() => words::unsealed(&error.message),
            ErrorKind::Picture => {
                let pictures = self.drop_pictures();
                if pictures.is_empty() {
                    return false;
                }
                let text = words::refused(pictures.len(), &error.message);
                effects.push(Effect::Refuse(pictures));
                text
            }
            ErrorKind::Seal
            | ErrorKind::Auth
            | ErrorKind::RateLimit
            | ErrorKind::Overload
            | ErrorKind::Network
            | ErrorKind::Timeout
            | ErrorKind::Context
            | ErrorKind::Refused
            | ErrorKind::InvalidRequest
            | ErrorKind::Empty
            | ErrorKind::Length
            | ErrorKind::Cancelled
            | ErrorKind::Internal => return false,
        };
        effects.push(Effect::Emit(Event::Notice(Notice { code: NoticeCode::Retry, text, restart: shown })));
        true
    }

    /// Lets the next model in line go on, or gives up where there is none.
    pub(super) fn next_model(
        &mut self,
        next: Option<(ModelInfo, Vec<Notice>)>,
        passed_over: Vec<String>,
        choice: ToolChoice,
        error: ModelError,
        shown: bool,
        effects: &mut Effects,
    ) -> Phase {
        for why in passed_over {
            notice(NoticeCode::Fallback, why, effects);
        }
        let Some((info, notices)) = next else { return self.fail(error, effects) };
        let text = words::succeeded(&self.info.origin, &info.origin, &error);
        effects.push(Effect::Emit(Event::Notice(Notice { code: NoticeCode::Fallback, text, restart: shown })));
        effects.extend(notices.into_iter().map(|notice| Effect::Emit(Event::Notice(notice))));
        self.set_model(info);
        // The same turn, announced anew: another model takes it over.
        effects.push(Effect::Emit(self.turn_started(self.task.turns.saturating_sub(1))));
        effects.push(Effect::Ask(choice));
        Phase::Asking { choice, retries: Retries::default() }
    }

    /// An attempt failed: another one, perhaps after a wait or of another model, or the end.
    pub(super) fn failed(
        &mut self,
        error: &ModelError,
        choice: ToolChoice,
        retries: Retries,
        shown: bool,
        dice: f64,
        effects: &mut Effects,
    ) -> Phase {
        // Empty answers are paid as well.
        if self.is_spent() {
            return self.finish(End::Cost, effects);
        }
        if self.mended(error, shown, effects) {
            effects.push(Effect::Ask(choice));
            return Phase::Asking { choice, retries };
        }
        if error.kind == ErrorKind::Context {
            return self.overflowed(error.clone(), choice, retries, shown, effects);
        }
        match retry::decide(&self.settings.retry, retries, error, dice) {
            Decision::Again { wait, number, allowed } => {
                let text = format!(
                    "{}, trying again in {} ({number} of {allowed}): {}",
                    trouble(error.kind),
                    numbers::wait(wait),
                    error.message
                );
                effects.push(Effect::Emit(Event::Notice(Notice { code: NoticeCode::Retry, text, restart: shown })));
                effects.push(Effect::Wait(wait));
                Phase::Asking { choice, retries: retries.after(error.kind) }
            }
            Decision::GiveUp(error) if error.kind.is_outage() => {
                effects.push(Effect::NextModel);
                Phase::Changing { choice, error, shown }
            }
            Decision::GiveUp(error) => self.fail(error, effects),
        }
    }
}
