//! What a person says to a running task: kept until the task can hear it, between two turns.
//!
//! Whoever put a message in can take it back as long as it has not been delivered. Nothing is decided here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::message::Part;

/// So many messages that were taken back before they came are remembered: many more than a person takes back while their
/// files are read.
const REMEMBERED: usize = 256;

/// Messages that wait for a running task, oldest first. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Inbox(Arc<Mutex<Letters>>);

#[derive(Debug, Default)]
struct Letters {
    waiting: VecDeque<Letter>,
    /// The ids of those that were taken back and may be yet to come, oldest first.
    taken_back: VecDeque<u64>,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// Chosen by whoever put it in, who alone needs it.
    pub id: u64,
    /// What is said.
    pub said: Vec<Part>,
}

impl Inbox {
    /// Puts a message in, unless it was taken back before it came.
    pub fn put(&self, letter: Letter) {
        let mut letters = self.lock();
        match letters.taken_back.iter().position(|id| *id == letter.id) {
            Some(place) => drop(letters.taken_back.remove(place)),
            None => letters.waiting.push_back(letter),
        }
    }

    /// Takes one message back, also one that is yet to come. False if it does not wait here: it has been delivered
    /// meanwhile, or comes later and is dropped then.
    pub fn take_back(&self, id: u64) -> bool {
        let mut letters = self.lock();
        let before = letters.waiting.len();
        letters.waiting.retain(|letter| letter.id != id);
        let waited = letters.waiting.len() < before;
        if !waited {
            if letters.taken_back.len() == REMEMBERED {
                letters.taken_back.pop_front();
            }
            letters.taken_back.push_back(id);
        }
        waited
    }

    /// Empties it: what is returned counts as delivered.
    pub fn drain(&self) -> Vec<Letter> {
        self.lock().waiting.drain(..).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Letters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(id: u64) -> Letter {
        Letter { id, said: vec![Part::Text(format!("letter {id}"))] }
    }

    fn ids(inbox: &Inbox) -> Vec<u64> {
        inbox.drain().into_iter().map(|letter| letter.id).collect()
    }

    #[test]
    fn what_was_taken_back_before_it_came_is_dropped() {
        let inbox = Inbox::default();
        assert!(!inbox.take_back(7));
        inbox.put(letter(8));
        inbox.put(letter(7));
        assert_eq!(ids(&inbox), [8]);
        // What is remembered has an end, and the newest is what counts.
        for id in 0..10_000 {
            inbox.take_back(id);
        }
        inbox.put(letter(9_999));
        assert!(ids(&inbox).is_empty());
        assert_eq!(inbox.lock().taken_back.len(), REMEMBERED - 1);
    }

    #[test]
    fn what_was_delivered_cannot_be_taken_back() {
        let inbox = Inbox::default();
        for id in 1..=3 {
            inbox.clone().put(letter(id));
        }
        assert!(inbox.take_back(2) && !inbox.take_back(2));
        assert_eq!(ids(&inbox), [1, 3]);
        assert!(!inbox.take_back(1) && inbox.drain().is_empty());
    }
}
