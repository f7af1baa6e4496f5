//! What a person says to a running task: kept until the task can hear it, between two turns.
//!
//! Whoever put a message in can take it back as long as it has not been delivered. Nothing is decided here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::message::Part;

/// Messages that wait for a running task, oldest first. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Inbox(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    letters: VecDeque<Letter>,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// Unique within the inbox.
    pub id: u64,
    /// What is said.
    pub said: Vec<Part>,
}

impl Inbox {
    /// Puts a message in and returns its id.
    pub fn put(&self, said: Vec<Part>) -> u64 {
        let mut waiting = self.lock();
        waiting.last += 1;
        let id = waiting.last;
        waiting.letters.push_back(Letter { id, said });
        id
    }

    /// Takes one message back. False if it has been delivered meanwhile.
    pub fn take_back(&self, id: u64) -> bool {
        let mut waiting = self.lock();
        let before = waiting.letters.len();
        waiting.letters.retain(|letter| letter.id != id);
        waiting.letters.len() < before
    }

    /// Empties it: what is returned counts as delivered.
    pub fn drain(&self) -> Vec<Letter> {
        self.lock().letters.drain(..).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_delivered_cannot_be_taken_back() {
        let inbox = Inbox::default();
        let said = |text: &str| vec![Part::Text(text.to_owned())];
        let (first, second, third) = (inbox.put(said("a")), inbox.put(said("b")), inbox.clone().put(said("c")));
        assert!(inbox.take_back(second) && !inbox.take_back(second));
        let delivered: Vec<_> = inbox.drain().into_iter().map(|letter| (letter.id, letter.said)).collect();
        assert_eq!(delivered, [(first, said("a")), (third, said("c"))]);
        assert!(!inbox.take_back(first) && inbox.drain().is_empty());
        assert!(inbox.put(said("d")) > third);
    }
}
