//! Who answers after the model that answers now: the next in line where it fails, or the one somebody chose meanwhile.
//!
//! Builds no model, and decides nothing.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::Notice;
use crate::model::Model;

/// The future of [`Successors::next`].
pub type Next<'a> = Pin<Box<dyn Future<Output = Option<Result<Successor, String>>> + 'a>>;

/// A model that goes on.
pub struct Successor {
    /// It.
    pub model: Arc<dyn Model>,
    /// What a person should know of it.
    pub notices: Vec<Notice>,
}

/// The models that go on when one fails.
pub trait Successors {
    /// The next of them, ready to be asked, or why it cannot be; `None` if none is left. Dropped when the task is stopped.
    fn next(&mut self) -> Next<'_>;
}

/// A line without anybody in it.
#[derive(Debug)]
pub struct Nobody;

impl Successors for Nobody {
    fn next(&mut self) -> Next<'_> {
        Box::pin(async { None })
    }
}

/// The model that is to answer from the next request on, put here from any thread. Clones share it.
#[derive(Clone, Default)]
pub struct Chosen(Arc<Mutex<Option<Arc<dyn Model>>>>);

impl Chosen {
    /// Leaves a model, in the place of one that was not yet taken.
    pub fn put(&self, model: Arc<dyn Model>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(model);
    }

    /// Takes what was left.
    pub fn take(&self) -> Option<Arc<dyn Model>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_tuple("Chosen").field(&model.as_ref().map(|model| &model.info().origin)).finish()
    }
}
