//! The money that a task and all who work for it have spent: one purse for several conversations.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was spent so far, in US dollars. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Pot(Arc<Mutex<f64>>);

impl Pot {
    /// Adds to it.
    pub fn spend(&self, dollars: f64) {
        *self.sum() += dollars;
    }

    /// What was spent since it was emptied last.
    pub fn spent(&self) -> f64 {
        *self.sum()
    }

    /// A new task begins.
    pub fn empty(&self) {
        *self.sum() = 0.0;
    }

    fn sum(&self) -> MutexGuard<'_, f64> {
        // A number is whole whatever happened to its writer.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
