//! The calls of one answer, from the first check to the last result.

use crate::kernel::port::PendingCall;
use crate::kernel::schedule::waits_for;
use crate::model::message::{Message, ToolCall, ToolResult};

/// The calls of one answer. Every slot ends up done, exactly once.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    slots: Vec<Slot>,
}

#[derive(Clone, Debug)]
struct Slot {
    call: ToolCall,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Not checked, or not judged yet.
    Open,
    /// Permitted; waits for others, or runs.
    Permitted { pending: PendingCall, running: bool },
    /// Has its result, and the fingerprint of it.
    Done { result: ToolResult, fingerprint: u64 },
}

impl Batch {
    pub(super) fn new(calls: &[ToolCall]) -> Self {
        Self { slots: calls.iter().map(|call| Slot { call: call.clone(), state: State::Open }).collect() }
    }

    /// The places whose calls are neither permitted nor done.
    pub(super) fn open(&self) -> Vec<usize> {
        self.places(|state| matches!(state, State::Open))
    }

    /// The places whose calls do not run and are not done.
    pub(super) fn unstarted(&self) -> Vec<usize> {
        self.places(|state| matches!(state, State::Open | State::Permitted { running: false, .. }))
    }

    pub(super) fn call(&self, place: usize) -> Option<&ToolCall> {
        self.slots.get(place).map(|slot| &slot.call)
    }

    pub(super) fn permit(&mut self, place: usize, pending: PendingCall) {
        if let Some(slot) = self.slots.get_mut(place) {
            slot.state = State::Permitted { pending, running: false };
        }
    }

    /// Marks the calls that can start now as running, and returns them in order.
    pub(super) fn start(&mut self) -> Vec<(usize, PendingCall)> {
        let mut ready = Vec::new();
        for place in 0..self.slots.len() {
            let (earlier, rest) = self.slots.split_at_mut(place);
            let Some(Slot { state: State::Permitted { pending, running: running @ false }, .. }) = rest.first_mut()
            else {
                continue;
            };
            let blocked = earlier.iter().any(|slot| match &slot.state {
                State::Permitted { pending: before, .. } => waits_for(&pending.subject, &before.subject),
                State::Open | State::Done { .. } => false,
            });
            if !blocked {
                *running = true;
                ready.push((place, pending.clone()));
            }
        }
        ready
    }

    /// The call that runs at this place.
    pub(super) fn running(&self, place: usize) -> Option<&PendingCall> {
        match self.slots.get(place).map(|slot| &slot.state) {
            Some(State::Permitted { pending, running: true }) => Some(pending),
            Some(State::Open | State::Permitted { .. } | State::Done { .. }) | None => None,
        }
    }

    pub(super) fn finish(&mut self, place: usize, result: ToolResult, fingerprint: u64) {
        if let Some(slot) = self.slots.get_mut(place) {
            slot.state = State::Done { result, fingerprint };
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.slots.iter().all(|slot| matches!(slot.state, State::Done { .. }))
    }

    /// The results in call order, once all are there, and each call's fingerprint.
    pub(super) fn close(self) -> (Message, Vec<(ToolCall, u64)>) {
        let mut results = Vec::new();
        let mut fingerprints = Vec::new();
        for slot in self.slots {
            match slot.state {
                State::Done { result, fingerprint } => {
                    results.push(result);
                    fingerprints.push((slot.call, fingerprint));
                }
                State::Open | State::Permitted { .. } => {}
            }
        }
        (Message::Tool(results), fingerprints)
    }

    fn places(&self, wanted: impl Fn(&State) -> bool) -> Vec<usize> {
        (0..self.slots.len()).filter(|&place| self.slots.get(place).is_some_and(|slot| wanted(&slot.state))).collect()
    }
}
