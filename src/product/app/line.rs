//! The models that go on when the one in use fails, in the order of the settings, each built when its turn comes.
//!
//! Decides nothing about when that is.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::asking::{Asked, asked};
use super::fit::Load;
use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::base::text::mask::Mask;
use crate::kernel::succession::{Next, Nobody, Successor, Successors, Summariser};
use crate::product::config::Loaded;
use crate::product::error::Error;
use crate::product::provider::Choice;
use crate::product::provider::choose::choose_named;

/// Models that wait for their turn.
struct Line {
    /// As `model` spells them.
    waiting: VecDeque<String>,
    made_of: Arc<MadeOf>,
}

/// What a model is made of.
struct MadeOf {
    loaded: Loaded,
    env: Env,
    start: Choice,
    /// What each request holds besides the conversation.
    load: Load,
    /// Whether a model without a known price is passed over.
    by_price: bool,
    /// Hides their keys.
    mask: Mask,
}

/// Those behind `start`. With `by_price`, a budget is to be kept that an unknown price would break.
pub(super) fn behind(
    start: &Choice,
    loaded: &Loaded,
    env: &Env,
    load: Load,
    by_price: bool,
    mask: Mask,
) -> Box<dyn Successors> {
    if start.fallbacks.is_empty() {
        return Box::new(Nobody);
    }
    let made_of = MadeOf { loaded: loaded.clone(), env: env.clone(), start: start.clone(), load, by_price, mask };
    let mut seen = HashSet::new();
    let waiting = start.fallbacks.iter().filter(|spec| !spec.trim().is_empty() && seen.insert(spec.as_str()));
    Box::new(Line { waiting: waiting.cloned().collect(), made_of: Arc::new(made_of) })
}

/// Who summarises: the model of `compaction.model`, else the one in use.
pub(super) fn summariser(start: &Choice, loaded: &Loaded, env: &Env, mask: Mask) -> Summariser {
    let Some(spec) = loaded.settings.compaction.model.clone().filter(|spec| !spec.trim().is_empty()) else {
        return Summariser::default();
    };
    // A summary's request is made to fit, and has no tools.
    let load = Load { tokens: 0, tools: 0, is_lean: true };
    let made_of =
        MadeOf { loaded: loaded.clone(), env: env.clone(), start: start.clone(), load, by_price: false, mask };
    Summariser::of(Box::new(Line { waiting: VecDeque::from([spec]), made_of: Arc::new(made_of) }))
}

impl Successors for Line {
    fn next(&mut self) -> Next<'_> {
        Box::pin(async {
            let spec = self.waiting.pop_front()?;
            let (made_of, wanted) = (Arc::clone(&self.made_of), spec.clone());
            let cancel = Cancel::new();
            let _thrown = Thrown(cancel.clone());
            // A key may be a command's to tell, and a server of this machine is asked what it has.
            let built = tokio::task::spawn_blocking(move || made_of.build(&wanted, &cancel)).await;
            Some(match built {
                Ok(Ok(successor)) => Ok(successor),
                Ok(Err(error)) => Err(format!("{spec} cannot go on: {error}")),
                Err(_) => Err(format!("{spec} cannot go on: it could not be built")),
            })
        })
    }
}

impl MadeOf {
    fn build(&self, spec: &str, cancel: &Cancel) -> Result<Successor, Error> {
        let Self { loaded, env, start, load, by_price, mask } = self;
        let choice = choose_named(loaded, env, cancel, spec, start)?;
        if choice.info.origin == start.info.origin {
            return Err(Error::usage("it is the model that the line began with"));
        }
        if *by_price && choice.info.price.is_none() {
            return Err(Error::usage("max_cost is set, and its price is unknown"));
        }
        let Asked { model, recorded: _, notices } = asked(&choice, loaded, env, *load, mask)?;
        Ok(Successor { model, notices })
    }
}

/// Throws its switch when nobody waits any more.
struct Thrown(Cancel);

impl Drop for Thrown {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
