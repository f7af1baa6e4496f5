//! `agent skills`, `agent chains`, `agent jobs` and `agent config show --rules`: from the words of the command line to what
//! the commands take.
//!
//! Decides nothing.

use std::sync::Arc;

use crate::base::zone;

use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::cli::Task;
use crate::cli::command::JobsAction;
use crate::front::command::{self, Form};
use crate::front::out::Out;
use crate::front::print::one_shot::Asked;
use crate::front::print::{self, Printer};
use crate::front::stdin::Reading;
use crate::front::stop::Stop;
use crate::kernel::event::Event;
use crate::model::message::Origin;
use crate::product::app::{self, Parts, Which};
use crate::product::chain::find::{self, Places};
use crate::product::chain::past::{self, Resumed};
use crate::product::chain::{Chain, Step};
use crate::product::config::paths::Paths;
use crate::product::config::{self, Flags, Loaded};
use crate::product::error::Error;
use crate::product::job::Jobs;
use crate::product::journal::Journal;
use crate::product::provider::Choice;
use crate::product::provider::choose::{choose, choose_exactly, choose_named};
use crate::product::rules::{self, Place};
use crate::product::session::store::Store;
use crate::product::skill::reach::Reach;
use crate::product::template::{self, Knowledge};

/// What a task has around it.
pub(super) struct Around<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) env: &'a Env,
    pub(super) clock: Clock,
    pub(super) journal: Journal,
}

pub(super) fn skills(form: Form, env: &Env, flags: &Flags, out: &mut Out<'_>) -> Result<u8, Error> {
    let loaded = config::load(env, flags)?;
    let knowledge = knowledge(&loaded, env)?;
    out.both(|stdout, _| command::skills::run(&knowledge, env.home.as_deref(), form, stdout))
}

/// Puts what the prompt stands for into its place, and returns the settings for it.
pub(super) fn expand(asked: &mut Asked, loaded: Loaded, env: &Env, flags: &Flags) -> Result<Loaded, Error> {
    let Some(prompt) = asked.prompt.as_deref().filter(|prompt| prompt.trim_start().starts_with('/')) else {
        return Ok(loaded);
    };
    let Some(expanded) = template::expand(prompt, &knowledge(&loaded, env)?)? else { return Ok(loaded) };
    let loaded = template::apply::apply(&expanded, loaded, env, flags)?;
    asked.expanded = Some(expanded.text);
    Ok(loaded)
}

fn knowledge(loaded: &Loaded, env: &Env) -> Result<Knowledge, Error> {
    let workspace = Arc::new(app::workspace(loaded, env)?);
    Ok(Knowledge::new(env, loaded, workspace, command::skills::reserved()))
}

fn reach(loaded: &Loaded, env: &Env) -> Result<Reach, Error> {
    Ok(Reach::new(env, loaded, Arc::new(app::workspace(loaded, env)?)))
}

pub(super) fn chains(form: Form, env: &Env, flags: &Flags, out: &mut Out<'_>) -> Result<u8, Error> {
    let loaded = config::load(env, flags)?;
    let tools = app::all_tools(&loaded, env)?;
    let reach = reach(&loaded, env)?;
    let found = find::all(&Places { cwd: &env.cwd, loaded: &loaded, reach: &reach, tools: &tools });
    out.both(|stdout, _| command::chains::run(&found, &env.cwd, form, stdout))
}

/// A task for a chain. All that can be wrong with the chain is found before anybody is asked anything.
pub(super) fn chain(
    named: &str,
    task: &Task,
    reading: Reading,
    around: Around<'_>,
    stop: &Stop,
    printer: &mut Printer<'_, '_>,
) -> Result<u8, Error> {
    let Around { loaded, env, clock, journal } = around;
    if !task.image.is_empty() {
        return Err(Error::usage("--image: pictures do not go along with a chain")
            .hint("name the files in the task: a step whose model sees can look at them with read_file"));
    }
    let tools = app::all_tools(loaded, env)?;
    let reach = reach(loaded, env)?;
    let chain = Chain::find(named, &Places { cwd: &env.cwd, loaded, reach: &reach, tools: &tools })?;
    let session = super::session(task, env);
    let resumed = match &task.from {
        None => Resumed::default(),
        Some(step) => {
            let selector = match &session {
                Which::Open(selector) | Which::Fork { of: selector, at: _ } => Some(selector),
                Which::New | Which::Unkept => None,
            };
            past::resume(&chain, step, selector, &Store::new(&loaded.paths.data_dir, clock), &env.cwd)?
        }
    };
    let session = match (session, &resumed.session) {
        (Which::New, Some(selector)) => Which::Open(selector.clone()),
        (session @ (Which::New | Which::Open(_) | Which::Fork { .. } | Which::Unkept), _) => session,
    };
    for notice in &loaded.notices {
        printer.event(&Event::Notice(notice.clone()));
    }
    let choice = choose(loaded, env, stop.cancel())?;
    let steps = chain.steps.get(resumed.from..).unwrap_or_default();
    check_models(steps, loaded, env, &choice, stop.cancel())?;
    let asked = match task.prompt.is_empty() && !steps.iter().any(|step| step.prompt.has_task()) {
        // Nothing is put in for it; the session is called by it.
        true => {
            Asked { prompt: Some(chain.name.clone()), reading: Reading::Never, pictures: Vec::new(), expanded: None }
        }
        false => Asked::new(task.prompt.clone(), reading),
    };
    let jobs = Jobs::new(&loaded.paths.data_dir, clock);
    let assembled =
        app::headless(Parts { loaded, choice, env, clock, session, journal, mode: super::mode(task), jobs })?;
    let max_cost = loaded.settings.max_cost;
    let wanted = print::chain::Wanted { chain: &chain, named, resumed: &resumed, max_cost };
    let crew = assembled.crew.clone();
    print::chain::run(assembled, wanted, &asked, &|order, cancel, tell| crew.send(order, cancel, tell), stop, printer)
}

/// Makes sure that every step has somebody to ask, and at a price that is known where there is a limit of cost.
fn check_models(steps: &[Step], loaded: &Loaded, env: &Env, start: &Choice, cancel: &Cancel) -> Result<(), Error> {
    for step in steps {
        let chosen = match (&step.provider, &step.model) {
            (_, None) => continue,
            (None, Some(spec)) => choose_named(loaded, env, cancel, spec, start),
            (Some(provider), Some(model)) => {
                let origin = Origin { provider: provider.clone(), model: model.clone() };
                choose_exactly(loaded, env, cancel, &origin, start)
            }
        };
        let choice = chosen.map_err(|mut error| {
            error.message = format!("step {}: {}", step.name, error.message);
            error
        })?;
        if loaded.settings.max_cost.is_some() && choice.info.price.is_none() {
            let Choice { model, provider, .. } = &choice;
            return Err(Error::usage(format!(
                "step {}: max_cost is set, but the price of {model} is unknown",
                step.name
            ))
            .hint(format!("give it in providers.{provider}.models as \"cost\"")));
        }
    }
    Ok(())
}

pub(super) fn jobs(action: Option<JobsAction>, form: Form, env: &Env, out: &mut Out<'_>) -> Result<u8, Error> {
    let data_dir = Paths::new(env).data_dir;
    out.both(|stdout, _| match action {
        None => command::jobs::list(&data_dir, form, &zone::local(env), stdout),
        Some(JobsAction::Stop { id }) => command::jobs::stop(&data_dir, &id, form, stdout),
    })
}

pub(super) fn rules(form: Form, env: &Env, flags: &Flags, out: &mut Out<'_>) -> Result<u8, Error> {
    let loaded = config::inspect(env, flags);
    let workspace = Arc::new(app::workspace(&loaded, env)?);
    let rules = rules::load(&Place::new(workspace, env.home.clone(), loaded.paths.config_dir.clone()));
    out.both(|stdout, stderr| {
        // A broken setting may be the one that closes a file of rules.
        command::written(command::config::complain(&loaded, stderr).map(|()| command::DONE))?;
        command::rules::run(&rules, env.home.as_deref(), form, stdout, stderr)
    })
}
