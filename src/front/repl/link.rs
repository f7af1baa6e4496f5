//! Where the chat reaches what the product knows besides the conversation: instructions, skills, prompts, chains, jobs,
//! goals and plan mode. A small function for each.
//!
//! Decides nothing and shows nothing.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::cancel::Cancel;
use crate::kernel::event::Event;
use crate::model::message::Part;
use crate::product::agent::{Agent, Finished};
use crate::product::app::Assembled;
use crate::product::app::plan::{Mode, set_mode};
use crate::product::error::Error;

use super::message::{Offer, Report, Scope};
use super::worker::Setup;

/// What goes on beside the conversation.
#[derive(Clone)]
pub struct Jobs {
    /// The jobs and services of this run, a line each.
    pub list: Arc<dyn Fn() -> String + Send + Sync>,
    /// Stops one by its id, and says so.
    pub stop: StopJob,
    /// Lets the commands that run go on as jobs; says how many those are.
    pub to_background: Arc<dyn Fn() -> usize + Send + Sync>,
    /// How many run.
    pub running: Arc<dyn Fn() -> usize + Send + Sync>,
}

impl Default for Jobs {
    fn default() -> Self {
        let none = |id: &str| Err(Error::failed(format!("there is no job {id:?}")));
        Self {
            list: Arc::new(String::new),
            stop: Arc::new(none),
            to_background: Arc::new(|| 0),
            running: Arc::new(|| 0),
        }
    }
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jobs")
    }
}

/// Stops a job by its id, and says so.
pub type StopJob = Arc<dyn Fn(&str) -> Result<String, Error> + Send + Sync>;

/// The jobs of a session that is open.
pub fn jobs(_assembled: &Assembled) -> Jobs {
    Jobs::default()
}

/// The commands that are not built in, as they are on disk now: `skill:NAME` for each skill, then prompts.
pub fn offers(_setup: &Setup) -> Vec<Offer> {
    Vec::new()
}

/// What the model is told for a command that is not built in, or for `init`.
///
/// # Errors
///
/// When it cannot be read any more.
pub fn invoked(name: &str, _arguments: &str, _setup: &Setup, _assembled: &Assembled) -> Result<Vec<Part>, Error> {
    Err(Error::failed(format!("there is no command /{name}")))
}

/// A report about what the product knows: skills, chains, instructions.
///
/// # Errors
///
/// What the command behind it says.
pub fn report(what: &Report, _setup: &Setup) -> Result<String, Error> {
    Err(Error::failed(format!("nothing is known of {what:?}")))
}

/// Keeps something for later sessions, and says where.
///
/// # Errors
///
/// When it cannot be written.
pub fn note(_scope: Scope, _text: &str, _setup: &Setup) -> Result<String, Error> {
    Err(Error::failed("nothing can be remembered"))
}

/// The file that holds what is remembered; it need not be there yet.
pub fn memory(scope: Scope, setup: &Setup) -> PathBuf {
    match scope {
        Scope::Project => setup.env.cwd.join("MEMORY.md"),
        Scope::User => setup.loaded.paths.config_dir.join("MEMORY.md"),
    }
}

/// Lets an agent only plan, or work again.
pub fn plan(on: bool, assembled: &mut Assembled, setup: &Setup) {
    set_mode(&mut assembled.agent, mode(on), &setup.loaded);
}

/// What a task is for.
pub fn mode(planning: bool) -> Mode {
    if planning { Mode::Plan } else { Mode::Work }
}

/// Gives an agent something to do until a check succeeds.
pub async fn pursue(
    agent: &mut Agent,
    _until: &str,
    said: Vec<Part>,
    cancel: &Cancel,
    watch: &mut dyn FnMut(&Event),
) -> Finished {
    agent.run(said, cancel, watch).await
}

/// Runs a chain and tells what happens; the answer of its last step is told as [`Event::Text`].
///
/// # Errors
///
/// When there is no such chain, or it cannot be used as it is written.
pub async fn chain(
    name: &str,
    _task: &str,
    _assembled: &mut Assembled,
    _cancel: &Cancel,
    _watch: &mut dyn FnMut(&Event),
) -> Result<Finished, Error> {
    Err(Error::usage(format!("there is no chain {name:?}")))
}
