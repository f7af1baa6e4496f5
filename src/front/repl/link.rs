//! Where the chat reaches what the product knows besides the conversation: instructions, skills, prompts, chains, jobs,
//! goals and plan mode. A small function for each.
//!
//! Decides nothing and shows nothing.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::cancel::Cancel;
use crate::base::text::cut::ellipsis;
use crate::base::text::mask::Mask;
use crate::base::text::visible;
use crate::front::command::{self, Form};
use crate::kernel::effect::End;
use crate::kernel::event::Event;
use crate::model::message::Part;
use crate::product::agent::Finished;
use crate::product::app::plan::{Mode, set_mode};
use crate::product::app::{self, Assembled};
use crate::product::auth::secret::Secret;
use crate::product::chain::Chain;
use crate::product::chain::consent::consent;
use crate::product::chain::find::{self, Places};
use crate::product::chain::past::Resumed;
use crate::product::chain::run;
use crate::product::error::Error;
use crate::product::job::{JobFacts, Status};
use crate::product::provider::key::known_secrets;
use crate::product::rules::memory::{self, Memory};
use crate::product::rules::{self, Place};
use crate::product::skill;
use crate::product::skill::reach::Reach;
use crate::product::template::{self, Knowledge};

use super::message::{Offer, Report, Scope};
use super::worker::Setup;

/// A command in a list, in characters.
const COMMAND_CHARS: usize = 200;

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

/// What runs beside the conversation.
pub fn jobs(assembled: &Assembled) -> Jobs {
    let jobs = || assembled.jobs.clone();
    let (list, stop, background, running) = (jobs(), jobs(), jobs(), jobs());
    Jobs {
        list: Arc::new(move || list.facts().iter().map(described).collect::<Vec<_>>().join("\n")),
        stop: Arc::new(move |id| match stop.stop(id, &Cancel::new()) {
            Ok((facts, left)) if left.is_empty() => Ok(described(&facts)),
            Ok((facts, left)) => Ok(format!("{}; {} processes would not go", described(&facts), left.len())),
            Err(problem) => Err(Error::usage(problem)),
        }),
        to_background: Arc::new(move || background.to_background()),
        running: Arc::new(move || running.facts().iter().filter(|facts| facts.status == Status::Running).count()),
    }
}

/// A job in one line.
fn described(facts: &JobFacts) -> String {
    let command = visible::line(&ellipsis(&facts.command, COMMAND_CHARS)).into_owned();
    format!("{}  {}  {}  {command}", facts.id, facts.kind.as_str(), facts.status)
}

/// What can be named after a slash.
fn knowledge(setup: &Setup) -> Result<Knowledge, Error> {
    let Setup { loaded, env, .. } = setup;
    let workspace = Arc::new(app::workspace(loaded, env)?);
    Ok(Knowledge::new(env, loaded, workspace, command::skills::reserved()))
}

/// The commands that are not built in, as they are on disk now: `skill:NAME` for each skill, then prompts.
pub fn offers(setup: &Setup) -> Vec<Offer> {
    // What is wrong with the settings is told elsewhere.
    let Ok(Knowledge { skills, templates }) = knowledge(setup) else { return Vec::new() };
    let skills = skills.find().skills.into_iter().map(|skill| Offer {
        name: format!("{}{}", skill::COMMAND.trim_start_matches('/'), skill.name),
        help: skill.description,
        hint: String::new(),
    });
    let templates = templates.list().into_iter().map(|template| Offer {
        name: template.name,
        help: template.description,
        hint: template.hint.unwrap_or_default(),
    });
    skills.chain(templates).collect()
}

/// What the model is told for a command that is not built in, or for `init`.
///
/// # Errors
///
/// When it cannot be read any more.
pub fn invoked(name: &str, arguments: &str, setup: &Setup) -> Result<Vec<Part>, Error> {
    let arguments = arguments.trim();
    if name == "init" {
        let wishes = if arguments.is_empty() { String::new() } else { format!("\n\n{arguments}") };
        return Ok(vec![Part::Text(format!("{}{wishes}", rules::INIT.trim_end()))]);
    }
    let expanded = template::expand(format!("/{name} {arguments}").trim_end(), &knowledge(setup)?)?;
    let expanded = expanded.ok_or_else(|| Error::failed(format!("there is no command /{name}")))?;
    Ok(vec![Part::Text(expanded.text)])
}

/// What a message says where it is a command that is not built in, such as the first one on the command line; else the
/// message.
///
/// # Errors
///
/// When the command cannot be used.
pub fn unfolded(words: Vec<Part>, setup: &Setup) -> Result<Vec<Part>, Error> {
    let [Part::Text(text)] = words.as_slice() else { return Ok(words) };
    if !text.trim_start().starts_with('/') {
        return Ok(words);
    }
    let expanded = template::expand(text.trim(), &knowledge(setup)?)?;
    Ok(expanded.map_or(words, |expanded| vec![Part::Text(expanded.text)]))
}

/// A report about what the product knows: skills, chains, instructions.
///
/// # Errors
///
/// What the command behind it says.
pub fn report(what: &Report, setup: &Setup) -> Result<String, Error> {
    let Setup { loaded, env, .. } = setup;
    let (home, form) = (env.home.as_deref(), Form::Text);
    let (mut out, mut talk) = (Vec::new(), Vec::new());
    match what {
        Report::Skills => command::skills::run(&knowledge(setup)?, home, form, &mut out)?,
        Report::Chains => {
            let tools = app::all_tools(loaded, env)?;
            let reach = reach(setup)?;
            let found = find::all(&Places { cwd: &env.cwd, loaded, reach: &reach, tools: &tools });
            command::chains::run(&found, &env.cwd, form, &mut out)?
        }
        Report::Rules => command::rules::run(&rules::load(&place(setup)?), home, form, &mut out, &mut talk)?,
        Report::Context
        | Report::WholeContext
        | Report::Tools
        | Report::Config(_)
        | Report::Doctor
        | Report::Sessions
        | Report::Models => 0,
    };
    talk.append(&mut out);
    Ok(String::from_utf8_lossy(&talk).trim_end().to_owned())
}

/// What may be read of chains.
fn reach(setup: &Setup) -> Result<Reach, Error> {
    let Setup { loaded, env, .. } = setup;
    Ok(Reach::new(env, loaded, Arc::new(app::workspace(loaded, env)?)))
}

/// Where rules are looked for.
fn place(setup: &Setup) -> Result<Place, Error> {
    let Setup { loaded, env, .. } = setup;
    let workspace = Arc::new(app::workspace(loaded, env)?);
    Ok(Place::new(workspace, env.home.clone(), loaded.paths.config_dir.clone()))
}

/// The memory of the folder at work.
fn memories(setup: &Setup) -> Memory {
    let Setup { loaded, env, clock, .. } = setup;
    let mask = Mask::new(known_secrets(loaded, env, None).iter().map(Secret::expose));
    Memory::new(env, loaded.paths.config_dir.clone(), *clock, mask)
}

fn scope_of(scope: Scope) -> memory::Scope {
    match scope {
        Scope::Project => memory::Scope::Project,
        Scope::User => memory::Scope::User,
    }
}

/// Keeps something for later sessions, and says where.
///
/// # Errors
///
/// When it cannot be written.
pub fn note(scope: Scope, text: &str, setup: &Setup) -> Result<String, Error> {
    let path = memories(setup).remember(scope_of(scope), text)?;
    Ok(format!("Kept in {}; sessions that begin from now on know it.", path.display()))
}

/// The file that holds what is remembered; it need not be there yet.
pub fn memory(scope: Scope, setup: &Setup) -> PathBuf {
    memories(setup).path(scope_of(scope))
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
///
/// # Errors
///
/// Usage: the check is no shell line.
pub async fn pursue(
    assembled: &mut Assembled,
    until: &str,
    said: Vec<Part>,
    cancel: &Cancel,
    watch: &mut dyn FnMut(&Event),
) -> Result<Finished, Error> {
    let goal = app::goal(until, assembled)?;
    Ok(assembled.agent.pursue(said, &goal, cancel, watch).await)
}

/// Looks for a chain, and asks once about what it does, where nothing has been said of that yet.
///
/// # Errors
///
/// When there is no such chain, it cannot be used as it is written, or it may not run.
pub async fn chain(name: &str, assembled: &Assembled, setup: &Setup) -> Result<Chain, Error> {
    let Setup { loaded, env, .. } = setup;
    let tools = app::all_tools(loaded, env)?;
    let reach = reach(setup)?;
    let chain = Chain::find(name, &Places { cwd: &env.cwd, loaded, reach: &reach, tools: &tools })?;
    consent(&chain, &assembled.agent.tools, assembled.agent.gate.as_ref()).await?;
    Ok(chain)
}

/// Runs a chain and blocks until it is over; the answer of its last step is told as [`Event::Text`].
pub fn run_chain(
    chain: &Chain,
    task: &str,
    assembled: &mut Assembled,
    setup: &Setup,
    cancel: &Cancel,
    watch: &mut dyn FnMut(&Event),
) -> Finished {
    let crew = assembled.crew.clone();
    let task = run::Task { text: task.to_owned(), ..run::Task::default() };
    let max_cost = setup.loaded.settings.max_cost;
    let job = run::Job { chain, task: &task, resumed: &Resumed::default(), max_cost };
    let send = |order: &_, cancel: &Cancel, events: &(dyn Fn(Event) + Sync)| crew.send(order, cancel, events);
    let mut ran = run::run(&mut assembled.agent, &job, &send, cancel, watch);
    if !ran.outcome.text.is_empty() {
        watch(&Event::Text(ran.outcome.text.clone()));
    }
    if let End::Failed(error) = &ran.outcome.end {
        let message = ran.about(&error.message);
        if let End::Failed(error) = &mut ran.outcome.end {
            error.message = message;
        }
    }
    Finished { outcome: ran.outcome, duration_ms: ran.duration_ms }
}
