//! Making room: old outputs are left out, then the beginning of the conversation is summarised, by whoever is asked.
//!
//! Every compaction makes the conversation smaller by a fifth or counts as failed, and two that fail in a row end the
//! task: nothing goes on for ever. What is folded stays on disk.

use std::sync::Arc;

use super::words::{self, trouble};
use super::{Effects, Node, Phase, notice};
use crate::base::text::numbers;
use crate::kernel::compact::place::cut;
use crate::kernel::compact::{Folded, Material, Summons, is_line, pruned, stand_in, summary_of, trimmed};
use crate::kernel::effect::{Effect, End};
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::kernel::retry::{self, Decision, Retries};
use crate::model::ModelInfo;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::{AssistantPart, Message};
use crate::model::reply::{Reply, StopReason};
use crate::model::request::ToolChoice;

/// So often an overflow that the provider reports is answered by making room, before the next answer.
const OVERFLOWS: u32 = 2;
/// So many compactions in a row may fail.
const FAILURES: u32 = 2;
/// So often a summary is asked for with less material, when it does not fit itself.
const SHRINKS: u32 = 1;
/// So many tokens are worth a summary that a person wants: fewer are hardly longer than it.
const WORTH_ASKING: u64 = 500;
/// However little room there is, a result keeps so many characters.
const SHORTEST: usize = 400;
/// A summary has at least and at most so many tokens of room.
const ANSWER: std::ops::RangeInclusive<u64> = 2_048..=8_192;

/// Why room is made, and so what comes after it.
#[derive(Clone, Debug)]
pub(super) enum Why {
    /// The next request would leave too little room for its answer.
    Full(ToolChoice),
    /// The provider did not take the last one; it is made again.
    Overflow { error: ModelError, choice: ToolChoice, retries: Retries, shown: bool },
    /// A person wants it.
    Wanted(Option<String>),
}

/// A compaction under way.
#[derive(Debug)]
pub(super) struct Fold {
    why: Why,
    material: Arc<Material>,
    /// From here on messages stay as they are.
    from: usize,
    /// Messages before it that are said again behind the summary.
    pinned: Vec<usize>,
    /// The most tokens of the material.
    most: Option<u64>,
    shrinks: u32,
    retries: Retries,
}

impl Node {
    /// The most tokens of a request: the rest of the window is for its answer.
    fn room(&self) -> Option<u64> {
        let window = self.info.window?;
        // In a small window a reserve made for large ones would leave nothing.
        Some(window - self.settings.compaction.reserve_tokens.min(window / 2))
    }

    /// Makes room before a request that would leave too little for its answer; `None` if there is enough, or if there is
    /// nothing that could be left out.
    pub(super) fn make_room(&mut self, choice: ToolChoice, effects: &mut Effects) -> Option<Phase> {
        let room = self.room().filter(|_| self.settings.compaction.auto)?;
        let tokens = self.context_tokens();
        if tokens <= room {
            return None;
        }
        if self.trim(room, effects) && self.context_tokens() <= room {
            return None;
        }
        let tokens = self.context_tokens();
        let enough = |saved: u64| saved >= tokens / 5 && tokens - saved <= room / 10 * 9;
        if self.prune(room / 3, enough, effects) {
            return None;
        }
        self.fold(Why::Full(choice), effects).ok()
    }

    /// The provider says that the request does not fit.
    pub(super) fn overflowed(
        &mut self,
        error: ModelError,
        choice: ToolChoice,
        retries: Retries,
        shown: bool,
        effects: &mut Effects,
    ) -> Phase {
        if !self.settings.compaction.auto || self.task.overflows == OVERFLOWS {
            return self.fail(error, effects);
        }
        self.task.overflows += 1;
        let tokens = self.guess(self.history.iter().map(Arc::as_ref));
        if self.trim(tokens / 2, effects) || self.prune(tokens / 4, |saved| saved >= tokens / 5 * 2, effects) {
            return self.ask_again(choice, retries, shown, effects);
        }
        self.fold(Why::Overflow { error, choice, retries, shown }, effects)
            .unwrap_or_else(|why| self.without_room(why, None, effects))
    }

    /// A person wants the conversation summarised.
    pub(super) fn compact(&mut self, wishes: Option<String>, effects: &mut Effects) -> Phase {
        self.fold(Why::Wanted(wishes), effects).unwrap_or_else(|_| {
            notice(NoticeCode::Compaction, words::NOTHING_TO_FOLD, effects);
            self.finish(End::Answered, effects)
        })
    }

    /// Leaves out the middle of results that nobody has seen yet, if they alone take more than half of the room: a summary
    /// would say less of them, and the calls would be made again.
    fn trim(&mut self, room: u64, effects: &mut Effects) -> bool {
        let unseen = self.unseen();
        let fresh = || self.history.iter().skip(unseen).filter(|message| matches!(***message, Message::Tool(_)));
        let tokens: u64 = fresh().map(|message| self.tokens_of(message)).sum();
        let results: usize = fresh()
            .map(|message| match message.as_ref() {
                Message::Tool(results) => results.len(),
                Message::User(_) | Message::Assistant(_) => 0,
            })
            .sum();
        if tokens <= room / 2 {
            return false;
        }
        let chars = (room / 2).saturating_mul(self.gauge.token_chars()) / 1000;
        let most = usize::try_from(chars).unwrap_or(usize::MAX) / results.max(1);
        let mut changed = false;
        for message in self.history.iter_mut().skip(unseen) {
            if let Some(shorter) = trimmed(message, most.max(SHORTEST)) {
                *message = Arc::new(shorter);
                changed = true;
            }
        }
        if changed {
            notice(NoticeCode::Compaction, words::TRIMMED, effects);
        }
        changed
    }

    /// Leaves out long results before the last `keep` tokens, if what that saves is `enough`.
    fn prune(&mut self, keep: u64, enough: impl Fn(u64) -> bool, effects: &mut Effects) -> bool {
        let keep = keep.min(self.settings.compaction.keep_tokens);
        let from = cut(&self.history, |message| self.tokens_of(message), keep, u64::MAX);
        let old = self.history.iter().take(from).enumerate();
        let shorter: Vec<_> = old.filter_map(|(place, message)| Some((place, pruned(message)?))).collect();
        let weight = |message: &Message| self.tokens_of(message);
        let before: u64 = shorter.iter().filter_map(|(place, _)| self.history.get(*place)).map(|m| weight(m)).sum();
        let after: u64 = shorter.iter().map(|(_, message)| weight(message)).sum();
        if shorter.is_empty() || !enough(before.saturating_sub(after)) {
            return false;
        }
        let count = shorter.len() as u64;
        for (place, message) in shorter {
            if let Some(slot) = self.history.get_mut(place) {
                *slot = Arc::new(message);
            }
        }
        self.gauge.stale(self.history.len());
        effects.push(Effect::Prune(self.lines_from(from)));
        notice(NoticeCode::Compaction, words::pruned(count, before - after), effects);
        true
    }

    /// Begins to summarise; gives `why` back where there is too little to summarise.
    fn fold(&mut self, why: Why, effects: &mut Effects) -> Result<Phase, Why> {
        let tokens = self.guess(self.history.iter().map(Arc::as_ref));
        let most = match &why {
            Why::Full(_) => self.room().map_or(tokens / 3, |room| room / 3),
            Why::Overflow { .. } | Why::Wanted(_) => tokens / 4,
        };
        let keep = if self.task.failed_folds > 0 { 0 } else { self.settings.compaction.keep_tokens.min(most) };
        let tried = [keep, 0].into_iter().find_map(|keep| self.foldable(&why, keep, most, tokens));
        let Some((from, pinned)) = tried else { return Err(why) };
        let folded = self.history.iter().take(from).enumerate().filter(|(place, _)| !pinned.contains(place));
        let folded: Vec<_> = folded.map(|(_, message)| Arc::clone(message)).collect();
        let wishes = match &why {
            Why::Wanted(wishes) => wishes.clone(),
            Why::Full(_) | Why::Overflow { .. } => None,
        };
        let most = match &why {
            // What the provider takes is less than what it was sent, whatever its window is said to be.
            Why::Overflow { .. } => Some(self.context_tokens().min(tokens) / 2),
            Why::Full(_) | Why::Wanted(_) => self.info.window.map(|window| window / 10 * 9),
        };
        let material = Arc::new(Material::of(&folded, wishes));
        notice(NoticeCode::Compaction, words::folding(self.context_tokens(), self.info.window), effects);
        let fold = Fold { why, material, from, pinned, most, shrinks: 0, retries: Retries::default() };
        effects.push(Effect::Summarise(self.summons(&fold)));
        Ok(Phase::Folding(Box::new(fold)))
    }

    /// From where on messages are kept if those of `keep` tokens are, and no more than twice `most`, and what is pinned
    /// before; `None` if that saves too little of `tokens`.
    fn foldable(&self, why: &Why, keep: u64, most: u64, tokens: u64) -> Option<(usize, Vec<usize>)> {
        let weight = |message: &Message| self.tokens_of(message);
        let from = cut(&self.history, weight, keep, 2 * most);
        let (from, least) = match why {
            // As long as it is only a guess that they do not fit, results stay that nobody has seen.
            Why::Full(_) => (from.min(self.unseen()), tokens / 4),
            Why::Overflow { .. } => (from, tokens / 4),
            Why::Wanted(_) => (from, WORTH_ASKING),
        };
        let pinned = self.pinned(from, why);
        let folded = self.history.iter().take(from).enumerate();
        let folded =
            folded.filter(|(place, message)| !pinned.contains(place) && (*place > 0 || summary_of(message).is_none()));
        let saved: u64 = folded.map(|(_, message)| weight(message)).sum();
        (saved >= least).then_some((from, pinned))
    }

    /// Where the last answer with calls stands, if no answer has come since: what its calls came to, nobody has seen.
    fn unseen(&self) -> usize {
        let last = self.history.iter().enumerate().rev().find_map(|(place, message)| match message.as_ref() {
            Message::Assistant(answer) => Some((place, answer.calls().next().is_some())),
            Message::User(_) | Message::Tool(_) => None,
        });
        last.filter(|(_, calls)| *calls).map_or(self.history.len(), |(place, _)| place)
    }

    /// What the person said in this task, as far as it stands before `from`; between tasks, what they said last.
    fn pinned(&self, from: usize, why: &Why) -> Vec<usize> {
        let said = match why {
            Why::Full(_) | Why::Overflow { .. } => self.task.said.clone(),
            Why::Wanted(_) => {
                let is_said = |message: &Message| matches!(message, Message::User(_)) && summary_of(message).is_none();
                self.history.iter().rposition(|message| is_said(message)).into_iter().collect()
            }
        };
        said.into_iter().filter(|place| *place < from).collect()
    }

    fn summons(&self, fold: &Fold) -> Summons {
        let reserve = self.settings.compaction.reserve_tokens / 5 * 4;
        Summons {
            system: Arc::clone(&self.settings.compaction.system),
            material: Arc::clone(&fold.material),
            token_chars: self.gauge.token_chars(),
            most: fold.most,
            answer: reserve.clamp(*ANSWER.start(), *ANSWER.end()),
        }
    }

    /// Asks once more for the same summary, after a wait.
    pub(super) fn summarise_again(&mut self, fold: Box<Fold>, effects: &mut Effects) -> Phase {
        effects.push(Effect::Summarise(self.summons(&fold)));
        Phase::Folding(fold)
    }

    /// A summary came, or did not.
    pub(super) fn summarised(
        &mut self,
        mut fold: Box<Fold>,
        info: &ModelInfo,
        result: Result<Reply, ModelError>,
        dice: f64,
        effects: &mut Effects,
    ) -> Phase {
        let error = match result {
            Ok(reply) => {
                let cost = self.charge_to(info, &reply, effects);
                let mut text = text(&reply);
                if reply.stop == StopReason::Length && !text.trim().is_empty() {
                    text.push_str(words::CUT_SUMMARY);
                }
                match (text.trim(), &reply.stop) {
                    (_, StopReason::Refusal) => ModelError::new(ErrorKind::Refused, words::NO_SUMMARY),
                    ("", _) => ModelError::new(ErrorKind::Empty, words::NO_SUMMARY),
                    (text, _) => return self.folded(*fold, info, text, &reply, cost, effects),
                }
            }
            Err(error) => error,
        };
        if error.kind == ErrorKind::Context && fold.shrinks < SHRINKS {
            fold.shrinks += 1;
            let sent = fold.most.unwrap_or_else(|| self.context_tokens());
            fold.most = Some(sent / 2);
            return self.summarise_again(fold, effects);
        }
        match retry::decide(&self.settings.retry, fold.retries, &error, dice) {
            Decision::Again { wait, number, allowed } => {
                let text = format!(
                    "{}, asking for the summary again in {} ({number} of {allowed}): {}",
                    trouble(error.kind),
                    numbers::wait(wait),
                    error.message
                );
                notice(NoticeCode::Retry, text, effects);
                fold.retries = fold.retries.after(error.kind);
                effects.push(Effect::Wait(wait));
                Phase::Folding(fold)
            }
            Decision::GiveUp(error) => self.not_folded(fold.why, error, effects),
        }
    }

    /// Puts the summary in the place of what it stands for, if that makes the conversation smaller by a fifth.
    fn folded(
        &mut self,
        fold: Fold,
        info: &ModelInfo,
        text: &str,
        reply: &Reply,
        cost: Option<f64>,
        effects: &mut Effects,
    ) -> Phase {
        let Fold { why, from, pinned, .. } = fold;
        let opening = self.opening_before(from);
        let place = |place: &usize| self.history.get(*place).cloned();
        let mut history = vec![Arc::new(stand_in(opening.as_deref(), text))];
        history.extend(pinned.iter().filter_map(place));
        let kept = history.len();
        history.extend(self.history.iter().skip(from).cloned());
        let before = self.guess(self.history.iter().map(Arc::as_ref));
        let after = self.guess(history.iter().map(Arc::as_ref));
        if after > before / 5 * 4 {
            let error = ModelError::new(ErrorKind::Context, words::no_smaller(before, after));
            return self.not_folded(why, error, effects);
        }
        let tokens_before = self.context_tokens();
        let folded = Folded {
            opening,
            text: text.to_owned(),
            pinned: pinned.iter().map(|place| self.lines_from(*place)).collect(),
            kept: self.lines_from(from),
            tokens_before,
            tokens_after: after,
            origin: Arc::clone(&info.origin),
            usage: reply.usage,
            cost,
        };
        let said = std::mem::take(&mut self.task.said);
        self.task.said = said
            .into_iter()
            .filter_map(|place| match pinned.iter().position(|pinned| *pinned == place) {
                Some(pinned) => Some(1 + pinned),
                None => Some(kept + place.checked_sub(from)?),
            })
            .collect();
        self.history = history;
        self.gauge.stale(self.history.len());
        self.task.failed_folds = 0;
        effects.push(Effect::Fold(folded));
        notice(NoticeCode::Compaction, words::folded(tokens_before, after), effects);
        match why {
            Why::Full(choice) => self.ask(choice, effects),
            Why::Overflow { error: _, choice, retries, shown } => self.ask_again(choice, retries, shown, effects),
            Why::Wanted(_) => self.finish(End::Answered, effects),
        }
    }

    /// A compaction came to nothing: another try that keeps less, or the end.
    fn not_folded(&mut self, why: Why, error: ModelError, effects: &mut Effects) -> Phase {
        self.task.failed_folds += 1;
        let may_help = matches!(error.kind, ErrorKind::Context | ErrorKind::Empty | ErrorKind::Refused);
        if !may_help || self.task.failed_folds >= FAILURES {
            return self.without_room(why, Some(error), effects);
        }
        self.fold(why, effects).unwrap_or_else(|why| self.without_room(why, Some(error), effects))
    }

    /// The task cannot go on; the conversation stays as it is.
    fn without_room(&mut self, why: Why, error: Option<ModelError>, effects: &mut Effects) -> Phase {
        let error = match (why, error) {
            (Why::Overflow { error, .. }, None) => error,
            (Why::Overflow { error, .. }, Some(failure)) if failure.kind == ErrorKind::Context => {
                ModelError { message: words::unmendable(&error.message, &failure.message), ..error }
            }
            (_, Some(failure)) => ModelError { message: words::not_summarised(&failure.message), ..failure },
            (Why::Full(_) | Why::Wanted(_), None) => ModelError::new(ErrorKind::Context, words::NOTHING_TO_FOLD),
        };
        self.fail(error, effects)
    }

    /// Makes the request of this turn again, with the conversation as it is now.
    fn ask_again(&mut self, choice: ToolChoice, retries: Retries, shown: bool, effects: &mut Effects) -> Phase {
        if shown {
            let text = words::AGAIN.to_owned();
            effects.push(Effect::Emit(Event::Notice(Notice { code: NoticeCode::Retry, text, restart: true })));
        }
        // The same turn, announced anew: it takes less of the window.
        effects.push(Effect::Emit(self.turn_started(self.task.turns.saturating_sub(1))));
        effects.push(Effect::Ask(choice));
        Phase::Asking { choice, retries }
    }

    /// How many messages of people and models stand from this place on.
    fn lines_from(&self, from: usize) -> usize {
        self.history.iter().skip(from).filter(|message| is_line(message)).count()
    }
}

fn text(reply: &Reply) -> String {
    let texts = reply.content.iter().filter_map(|part| match part {
        AssistantPart::Text(text) => Some(text.as_str()),
        AssistantPart::Reasoning(_) | AssistantPart::ToolUse(_) => None,
    });
    texts.collect()
}
