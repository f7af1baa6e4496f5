//! What becomes of the calls of an answer: checked, judged, run, answered.
//!
//! Which may run at the same time is for [`super::batch`] to say.

use super::batch::Batch;
use super::words::NOT_JUDGED;
use super::{Effects, Node, Phase, mend};
use crate::kernel::effect::{DeniedCall, Effect};
use crate::kernel::event::Event;
use crate::kernel::loop_guard::fingerprint;
use crate::kernel::port::{Denial, DeniedBy, PendingCall, Verdict};
use crate::kernel::tool::{Output, Risk};
use crate::kernel::truncate::{Fitted, fit};
use crate::model::message::{Part, ToolCall, ToolResult};

impl Node {
    pub(super) fn prepared(
        &mut self,
        mut batch: Batch,
        checked: Vec<Result<PendingCall, String>>,
        effects: &mut Effects,
    ) -> Phase {
        let mut pending = Vec::new();
        for (place, checked) in checked.into_iter().enumerate() {
            match checked {
                Ok(call) => pending.push((place, call)),
                Err(problem) => self.answer(&mut batch, place, Risk::Safe, &problem, effects),
            }
        }
        if pending.is_empty() {
            return self.run(batch, effects);
        }
        effects.push(Effect::Decide(pending.iter().map(|(_, call)| call.clone()).collect()));
        Phase::Deciding(batch, pending)
    }

    pub(super) fn decided(
        &mut self,
        mut batch: Batch,
        pending: Vec<(usize, PendingCall)>,
        verdicts: Vec<Verdict>,
        effects: &mut Effects,
    ) -> Phase {
        for ((place, pending), verdict) in pending.into_iter().zip(verdicts) {
            match verdict {
                Verdict::Allow => batch.permit(place, pending),
                Verdict::Deny(Denial { reason, by }) => {
                    self.task.denied.push(DeniedCall {
                        name: pending.call.name.clone(),
                        summary: pending.summary(),
                        nobody_asked: by == DeniedBy::Nobody,
                        rule: match by {
                            DeniedBy::Rule(rule) => Some(rule),
                            DeniedBy::User | DeniedBy::Nobody => None,
                        },
                        agent: None,
                    });
                    self.answer(&mut batch, place, pending.risk, &reason, effects);
                }
            }
        }
        // A gate that gives too few verdicts permits nothing it did not name.
        self.answer_open(&mut batch, NOT_JUDGED, effects);
        self.run(batch, effects)
    }

    pub(super) fn tool_finished(
        &mut self,
        mut batch: Batch,
        place: usize,
        output: &Output,
        duration_ms: u64,
        effects: &mut Effects,
    ) -> Batch {
        let Some(PendingCall { call, limits, .. }) = batch.running(place).cloned() else { return batch };
        let Fitted { mut text, truncated } = fit(output, limits);
        if let Some(ledger) = &output.ledger {
            self.add(ledger);
        }
        let print = output.fingerprint.unwrap_or_else(|| {
            let footer = output.footer.as_deref().unwrap_or_default();
            fingerprint(&[&output.text.head, &output.text.tail, footer], output.is_error)
        });
        let mut content = vec![Part::Text(text.clone())];
        if let Some(appendix) = &output.appendix {
            content.push(Part::Text(appendix.clone()));
            text.push_str("\n\n");
            text.push_str(appendix);
        }
        content.extend(output.images.iter().cloned().map(Part::Image));
        let content = mend::without_refused(content, &self.refused);
        let result = ToolResult { call_id: call.id.clone(), content, is_error: output.is_error };
        effects.push(Effect::KeepResult(result.clone()));
        effects.push(Effect::Emit(Event::ToolFinished {
            id: call.id,
            name: call.name,
            ok: !output.is_error,
            output: text,
            duration_ms,
            truncated,
            full_output: output.full_output.clone(),
            change: output.change.clone(),
        }));
        batch.finish(place, result, print);
        batch
    }

    /// Answers a call that does not run.
    pub(super) fn answer(&mut self, batch: &mut Batch, place: usize, risk: Risk, text: &str, effects: &mut Effects) {
        let Some(call) = batch.call(place).cloned() else { return };
        effects.push(Effect::Emit(started(&call, risk)));
        let result = ToolResult::text(call.id.clone(), text, true);
        effects.push(Effect::KeepResult(result.clone()));
        effects.push(Effect::Emit(Event::ToolFinished {
            id: call.id,
            name: call.name,
            ok: false,
            output: text.to_owned(),
            duration_ms: 0,
            truncated: false,
            full_output: None,
            change: None,
        }));
        batch.finish(place, result, fingerprint(&[text], true));
    }

    /// Answers the calls that are still open alike; none of them runs.
    pub(super) fn answer_open(&mut self, batch: &mut Batch, text: &str, effects: &mut Effects) {
        for place in batch.open() {
            self.answer(batch, place, Risk::Safe, text, effects);
        }
    }
}

pub(super) fn started(call: &ToolCall, risk: Risk) -> Event {
    let arguments = call.input.object().cloned().unwrap_or_default();
    Event::ToolStarted { id: call.id.clone(), name: call.name.clone(), arguments, risk }
}
