//! What a person says to a running task: kept until the task can hear it, between two turns.
//!
//! Whoever put a message in can take it back as long as it has not been delivered. Nothing is decided here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::message::Part;

/// Messages that wait for a running task, oldest first. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Inbox(Arc<Mutex<VecDeque<Letter>>>);

/// A message that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// Chosen by whoever put it in, who alone needs it.
    pub id: u64,
    /// What is said.
    pub said: Vec<Part>,
}

impl Inbox {
    /// Puts a message in.
    pub fn put(&self, letter: Letter) {
        self.lock().push_back(letter);
    }

    /// Takes one message back. False if it has been delivered meanwhile.
    pub fn take_back(&self, id: u64) -> bool {
        let mut letters = self.lock();
        let before = letters.len();
        letters.retain(|letter| letter.id != id);
        letters.len() < before
    }

    /// Empties it: what is returned counts as delivered.
    pub fn drain(&self) -> Vec<Letter> {
        self.lock().drain(..).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Letter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_delivered_cannot_be_taken_back() {
        let inbox = Inbox::default();
        for (id, text) in [(1, "a"), (2, "b"), (3, "c")] {
            inbox.clone().put(Letter { id, said: vec![Part::Text(text.to_owned())] });
        }
        assert!(inbox.take_back(2) && !inbox.take_back(2));
        let delivered: Vec<_> = inbox.drain().into_iter().map(|letter| letter.id).collect();
        assert_eq!(delivered, [1, 3]);
        assert!(!inbox.take_back(1) && inbox.drain().is_empty());
    }
}
