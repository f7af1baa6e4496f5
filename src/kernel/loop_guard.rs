//! Notices when a model goes round in circles: the same calls with the same results, again and again.
//!
//! A call's signature covers its result, so polling something that changes, or one tool over many files, is no loop.

use std::collections::VecDeque;
use std::hash::Hasher;

use twox_hash::XxHash3_64;

use crate::base::json::canonical;
use crate::model::message::ToolInput;

/// How many signatures the ring holds: enough for three rounds of the longest period.
const RING: usize = 10;
/// The longest block that is looked for.
const LONGEST_PERIOD: usize = 3;
/// How often a block has to stand in a row at the ring's end.
const REPETITIONS: usize = 3;
/// So many calls without a detection lower the level by one.
const CALM_CALLS: usize = 5;

/// What a detection leads to; each one in a task is graver than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// The model is told.
    Note,
    /// The model is told to change its approach.
    Warning,
    /// The model is asked, without tools, for what went wrong; then the task ends.
    End,
}

impl Alarm {
    /// What the model is told.
    pub fn message(self) -> &'static str {
        match self {
            Self::Note => {
                "Note: the last calls repeat earlier ones and got the same results. Before you call a tool again, \
                 think about what you expect to be different this time."
            }
            Self::Warning => {
                "Stop. You are repeating the same calls with the same results. Change the approach: look at something \
                 else, try another way, or say what blocks you."
            }
            Self::End => {
                "You keep repeating the same calls, so no more tools will run in this task. Answer now, in words: what \
                 was done, what went wrong, and what you would need to go on."
            }
        }
    }
}

/// The ring of one task.
#[derive(Clone, Debug, Default)]
pub struct LoopGuard {
    ring: VecDeque<u64>,
    level: u8,
    calm: usize,
}

impl LoopGuard {
    /// Takes the signatures of one round of calls and looks for a loop.
    pub fn round(&mut self, signatures: &[u64]) -> Option<Alarm> {
        let mut seen = Vec::new();
        for &signature in signatures {
            // Equal calls within one answer are one step of the model, not a repetition.
            if !seen.contains(&signature) {
                seen.push(signature);
                if self.ring.len() == RING {
                    self.ring.pop_front();
                }
                self.ring.push_back(signature);
            }
        }
        if !self.turns_in_circles() {
            self.calm += signatures.len();
            while self.calm >= CALM_CALLS {
                self.calm -= CALM_CALLS;
                self.level = self.level.saturating_sub(1);
            }
            return None;
        }
        self.calm = 0;
        self.level = (self.level + 1).min(3);
        Some(match self.level {
            0 | 1 => Alarm::Note,
            2 => Alarm::Warning,
            _ => Alarm::End,
        })
    }

    fn turns_in_circles(&self) -> bool {
        (1..=LONGEST_PERIOD).any(|period| {
            let span = period * REPETITIONS;
            let Some(start) = self.ring.len().checked_sub(span) else { return false };
            (start + period..self.ring.len()).all(|place| self.ring.get(place) == self.ring.get(place - period))
        })
    }
}

/// The signature of a call and its result. `fingerprint` stands for the whole result, see [`fingerprint`].
pub fn signature(name: &str, input: &ToolInput, fingerprint: u64) -> u64 {
    let arguments = match input {
        ToolInput::Object(object) => canonical(object),
        ToolInput::Invalid { raw, .. } => raw.clone(),
    };
    let mut hasher = XxHash3_64::new();
    for part in [name.as_bytes(), b"\0", arguments.as_bytes(), b"\0", &fingerprint.to_le_bytes()] {
        hasher.write(part);
    }
    hasher.finish()
}

/// The fingerprint of a result that is at hand as a whole.
pub fn fingerprint(parts: &[&str], is_error: bool) -> u64 {
    let mut hasher = XxHash3_64::new();
    for part in parts {
        hasher.write(part.as_bytes());
        hasher.write(b"\0");
    }
    hasher.write(&[u8::from(is_error)]);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn alarms(rounds: impl IntoIterator<Item = u64>) -> Vec<Option<Alarm>> {
        let mut guard = LoopGuard::default();
        rounds.into_iter().map(|signature| guard.round(&[signature])).collect()
    }

    #[test]
    fn each_period_is_noted_warned_and_ended() {
        for (period, first) in [(1u64, 3usize), (2, 6), (3, 9)] {
            let found = alarms((0..first as u64 + 2).map(|number| number % period));
            assert!(found[..first - 1].iter().all(Option::is_none), "period {period}: {found:?}");
            let expected = [Some(Alarm::Note), Some(Alarm::Warning), Some(Alarm::End)];
            assert_eq!(found[first - 1..], expected, "period {period}");
        }
    }

    #[test]
    fn a_loop_after_other_work_is_seen_as_soon() {
        assert_eq!(alarms([1, 2, 3, 4, 5, 9, 9, 9]).last(), Some(&Some(Alarm::Note)));
    }

    #[test]
    fn five_calm_calls_lower_the_level() {
        let found = alarms([7, 7, 7, 1, 2, 3, 4, 5, 7, 7, 7, 7, 7]);
        assert_eq!(found[10..], [Some(Alarm::Note), Some(Alarm::Warning), Some(Alarm::End)]);
        let found = alarms([7, 7, 7, 1, 2, 3, 4, 7, 7, 7]);
        assert_eq!(found[9], Some(Alarm::Note), "six calm calls, the two that led up to it among them");
    }

    #[test]
    fn equal_calls_of_one_round_count_once() {
        let mut guard = LoopGuard::default();
        assert_eq!(guard.round(&[1, 1, 1, 1]), None);
        assert_eq!(guard.round(&[1, 1]), None);
        assert_eq!(guard.round(&[1]), Some(Alarm::Note));
    }

    #[test]
    fn the_spelling_of_arguments_does_not_matter_but_their_value_does() {
        let of = |text: &str| signature("t", &ToolInput::parse(text), 1);
        assert_eq!(of(r#"{"a":1,"b":2}"#), of(r#"{ "b": 2, "a": 1 }"#));
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":2}"#));
        assert_ne!(of("{}"), signature("t", &ToolInput::parse("{}"), 2));
        assert_ne!(fingerprint(&["ab", ""], false), fingerprint(&["a", "b"], false));
    }

    proptest! {
        #[test]
        fn different_calls_never_alarm(count in 0u64..200) {
            prop_assert!(alarms(0..count).iter().all(Option::is_none));
        }
    }
}
