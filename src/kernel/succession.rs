//! Who answers after the model that answers now: the next in line where it fails, or the one somebody chose meanwhile.
//!
//! Builds no model, and decides nothing.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::{Event, Notice, NoticeCode};
use super::port::Sink;
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

/// Who summarises: a model of its own, built when it is first wanted, else the one in use.
#[derive(Default)]
pub struct Summariser {
    wanted: Option<Box<dyn Successors>>,
    built: Option<Arc<dyn Model>>,
}

impl Summariser {
    /// The first of `line` that can be asked, or the model in use where there is none.
    pub fn of(line: Box<dyn Successors>) -> Self {
        Self { wanted: Some(line), built: None }
    }

    /// The model of its own failed; from now on the one in use is asked. False if it was that one already.
    pub fn give_up(&mut self) -> bool {
        self.built.take().is_some()
    }

    /// Whom to ask; `current` is in use. What a person should know goes to `sink`.
    pub async fn model(&mut self, current: &Arc<dyn Model>, sink: &mut dyn Sink) -> Arc<dyn Model> {
        if let Some(line) = &mut self.wanted {
            match line.next().await {
                Some(Ok(Successor { model, notices })) => {
                    notices.into_iter().for_each(|notice| sink.event(&Event::Notice(notice)));
                    self.built = Some(model);
                }
                Some(Err(why)) => sink.event(&Event::Notice(Notice::new(NoticeCode::Compaction, why))),
                None => {}
            }
            self.wanted = None;
        }
        self.built.as_ref().map_or_else(|| Arc::clone(current), Arc::clone)
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
