//! The making of workers: agents for a part of a task, with a conversation of their own and the rights of who sends them.
//!
//! Decides nothing about what they do.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::fit::Load;
use super::request::{instructions, load, node_settings, system};
use super::tools::{Bench, tools};
use super::{asking, line, options, plan, workspace};
use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::kernel::effect::Outcome;
use crate::kernel::event::{Event, Worker};
use crate::kernel::node::{self, Node};
use crate::kernel::port::{Gate, Hooks, PendingCall};
use crate::kernel::pot::Pot;
use crate::kernel::succession::Chosen;
use crate::kernel::tool::Ledger;
use crate::kernel::toolbox::Toolbox;
use crate::model::message::Part;
use crate::model::{Api, ModelInfo};
use crate::product::agent::redact::Redactor;
use crate::product::agent::{Agent, Finished, Watching};
use crate::product::checkpoint::record::Checkpoints;
use crate::product::config::Loaded;
use crate::product::crew::tool::Sender;
use crate::product::crew::{Done, Order};
use crate::product::error::Error;
use crate::product::job::Jobs;
use crate::product::journal::Journal;
use crate::product::permission::{Ask, Headless, Remembered, Rights, Rule, Watched};
use crate::product::prompt::{self, Facts};
use crate::product::provider::Choice;
use crate::product::provider::choose::choose_named;
use crate::product::rules::touched::Touched;
use crate::product::session::Session;
use crate::product::session::store::{Home, Store};
use crate::product::skill::Skills;
use crate::product::tool::ask::Inquire;
use crate::product::tool::seen::Seen;

/// Sends workers. Clones are the same crew.
#[derive(Clone)]
pub struct Crew(Arc<Inner>);

struct Inner {
    made_of: MadeOf,
    /// Who is asked, unless an order says otherwise.
    choice: Mutex<Option<Choice>>,
    /// How deep who sends stands: 0 is the agent itself.
    depth: u64,
    /// How many work at once.
    places: Semaphore,
    /// Nothing until the agent that sends is put together.
    sender: OnceLock<Post>,
}

/// What workers are made of.
#[derive(Clone)]
pub(super) struct MadeOf {
    pub(super) loaded: Loaded,
    pub(super) env: Env,
    pub(super) clock: Clock,
    pub(super) redactor: Arc<Redactor>,
    pub(super) deny: Vec<Rule>,
    pub(super) jobs: Jobs,
}

/// Whom workers work for.
#[derive(Clone)]
pub(super) struct Post {
    /// What is allowed; one and the same for all.
    pub(super) rights: Arc<Rights>,
    /// Who is asked what the rights leave open.
    pub(super) person: Option<Person>,
    pub(super) checkpoints: Option<Arc<Checkpoints>>,
    /// The session that transcripts lie beside; nothing is kept beside one that is not.
    pub(super) session: Option<Home>,
    pub(super) pot: Pot,
}

/// Somebody who can be asked.
#[derive(Clone)]
pub(super) struct Person {
    pub(super) ask: Ask,
    pub(super) inquire: Option<Inquire>,
    pub(super) remembered: Option<Remembered>,
    pub(super) turn: Arc<tokio::sync::Mutex<()>>,
}

impl Post {
    pub(super) fn new(
        rights: &Arc<Rights>,
        person: Option<Person>,
        checkpoints: Option<&Arc<Checkpoints>>,
        session: Option<Home>,
        pot: Pot,
    ) -> Self {
        Self { rights: Arc::clone(rights), person, checkpoints: checkpoints.map(Arc::clone), session, pot }
    }
}

impl MadeOf {
    pub(super) fn new(
        loaded: &Loaded,
        env: &Env,
        clock: Clock,
        redactor: &Arc<Redactor>,
        deny: &[Rule],
        jobs: &Jobs,
    ) -> Self {
        let (loaded, env, jobs) = (loaded.clone(), env.clone(), jobs.clone());
        Self { loaded, env, clock, redactor: Arc::clone(redactor), deny: deny.to_vec(), jobs }
    }
}

impl Crew {
    /// A crew for an agent that stands `depth` deep.
    pub(super) fn new(made_of: MadeOf, choice: Option<Choice>, depth: u64) -> Self {
        let most = usize::try_from(made_of.loaded.settings.subagents.max_parallel).unwrap_or(usize::MAX);
        let places = Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS));
        Self(Arc::new(Inner { made_of, choice: Mutex::new(choice), depth, places, sender: OnceLock::new() }))
    }

    /// Whom its workers work for; to be said once.
    pub(super) fn settle(&self, post: Post) {
        // There is one agent for each crew.
        let _ = self.0.sender.set(post);
    }

    /// Whether sub-agents may be sent at all.
    pub(super) fn may_dispatch(&self) -> bool {
        self.0.depth < self.0.made_of.loaded.settings.subagents.max_depth
    }

    /// The crew as the tool wants it.
    pub(super) fn as_sender(&self) -> Sender {
        let crew = self.clone();
        Arc::new(move |order, cancel, events| crew.send(order, cancel, events))
    }

    /// Another model is in use.
    pub fn set_choice(&self, choice: Choice) {
        *self.0.choice.lock().unwrap_or_else(PoisonError::into_inner) = Some(choice);
    }

    fn choice(&self) -> Option<Choice> {
        self.0.choice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The rule that forbids a call whoever asks for it, be it a person.
    pub fn forbidden(&self, call: &PendingCall) -> Option<String> {
        self.0.sender.get()?.rights.forbidden(call)
    }

    /// Has a piece of work done, on this thread, and blocks until it is over; see [`crate::product::crew::Send`].
    ///
    /// # Errors
    ///
    /// Why it could not begin, for a model.
    pub fn send(&self, order: &Order, cancel: &Cancel, events: &(dyn Fn(Event) + Sync)) -> Result<Done, String> {
        let begun = Instant::now();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("the runtime cannot start: {error}"))?;
        let done = runtime.block_on(async {
            let _place = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err("interrupted before it began".to_owned()),
                place = self.0.places.acquire() => place.map_err(|error| error.to_string())?,
            };
            let mut agent = self.hire(order, cancel).map_err(|error| worded(&error))?;
            let mut watch = |event: &Event| events(Event::Within(order.worker.clone(), Box::new(event.clone())));
            let Finished { outcome, .. } = agent.run(vec![Part::Text(order.task.clone())], cancel, &mut watch).await;
            let transcript = agent.session.path().map(Into::into);
            let Outcome { text, turns, end, usage, cost, mut denied } = outcome;
            if let Worker::Agent(id) = &order.worker {
                for call in denied.iter_mut().filter(|call| call.agent.is_none()) {
                    call.agent = Some(id.clone());
                }
            }
            let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            Ok(Done { text, end, ledger: Ledger { turns, usage, cost, denied }, duration_ms, transcript })
        });
        // A thread that is stuck in a tool must not hold the others.
        runtime.shutdown_timeout(Duration::ZERO);
        done
    }

    /// Puts a worker together.
    fn hire(&self, order: &Order, cancel: &Cancel) -> Result<Agent, Error> {
        let Inner { made_of, depth, sender, .. } = &*self.0;
        let post = sender.get().ok_or_else(|| Error::failed("there is nobody to work for"))?;
        let MadeOf { loaded, env, clock, redactor, deny, jobs } = made_of;
        let settings = &loaded.settings;
        let choice = self.chosen(order, cancel)?;
        let depth = match &order.worker {
            Worker::Agent(_) => depth + 1,
            Worker::Step(_) => *depth,
        };
        let crew = Self::new(made_of.clone(), Some(choice.clone()), depth);
        let (workspace, seen) = (Arc::new(workspace(loaded, env)?), Arc::new(Seen::new()));
        let mask = redactor.mask();
        let inquire = match &order.worker {
            // Whoever sends it is there to be asked.
            Worker::Agent(_) => None,
            Worker::Step(_) => post.person.as_ref().and_then(|person| person.inquire.as_ref()),
        };
        let bench = Bench {
            loaded,
            env,
            workspace: &workspace,
            deny,
            seen: &seen,
            mask: &mask,
            crew: &crew,
            inquire,
            jobs,
            of_worker: true,
        };
        let tools = limited(tools(bench)?.toolbox, order.tools.as_deref())?;
        let mode = plan::mode(&post.rights);
        let tools = plan::of(&tools, mode);
        some(&tools, order.tools.as_deref())?;
        // What is wrong with the rules has been told to a person where the session began.
        let (rules, touched) = instructions(loaded, env, &workspace, &mask, &mut Vec::new());
        let skills = Skills::new(env, loaded, Arc::clone(&workspace)).find();
        let system = system(settings, &tools, &rules, &skills, mode, order.brief.as_deref());
        let node_settings = node::Settings {
            max_turns: order.max_turns.or(node_settings(settings, &system, &tools).max_turns),
            last_words: true,
            ..node_settings(settings, &system, &tools)
        };
        let load: Load = load(settings, &node_settings, &tools);
        let asking::Asked { model, .. } = asking::asked(&choice, loaded, env, load, &mask)?;
        let mut session = transcript(loaded, *clock, post, env, model.info());
        session.set_price(choice.info.price);
        crew.settle(post.clone());
        let environment = prompt::environment(&Facts::gather(env, *clock, prompt::Mode::OneShot));
        let options = options(settings, &session);
        Ok(Agent {
            node: Node::new(node_settings, model.info().clone(), Vec::new())
                .opening(environment.clone())
                .sharing(post.pot.clone()),
            summariser: line::summariser(&choice, loaded, env, mask.clone()),
            successors: line::behind(&choice, loaded, env, load, settings.max_cost.is_some(), mask),
            chosen: Chosen::default(),
            model,
            on_first_command: None,
            journal: Journal::default(),
            gate: gate(post, &order.worker),
            rights: None,
            hooks: hooks(redactor, post.checkpoints.as_ref(), &touched, None, Some(&order.worker)),
            redactor: Arc::clone(redactor),
            checkpoints: None,
            touched,
            session,
            system: system.into(),
            options,
            inbox: Default::default(),
            timeout: None,
            opening: Some(environment),
            recorded: None,
            reserve: tools.clone(),
            skills: Arc::new(skills),
            tools,
        })
    }

    /// Who is asked.
    fn chosen(&self, order: &Order, cancel: &Cancel) -> Result<Choice, Error> {
        let MadeOf { loaded, env, .. } = &self.0.made_of;
        let start = self.choice().ok_or_else(|| Error::failed("there is nobody to ask"))?;
        let choice = match order.model.as_deref().map(str::trim).filter(|spec| !spec.is_empty()) {
            Some(spec) => choose_named(loaded, env, cancel, spec, &start)?,
            None => start,
        };
        if choice.api == Api::Replay {
            return Err(Error::usage("a recorded session has no answers for anybody else"));
        }
        if loaded.settings.max_cost.is_some() && choice.info.price.is_none() {
            return Err(Error::usage(format!("max_cost is set, but the price of {} is unknown", choice.model)));
        }
        Ok(choice)
    }
}

/// The tools of an order: those of who sends, and of these the ones that are named.
fn limited(all: Toolbox, names: Option<&[String]>) -> Result<Toolbox, Error> {
    let Some(names) = names else { return Ok(all) };
    let known: Vec<&str> = all.names().collect();
    let is_glob = |name: &str| name.contains(['*', '?', '[', '{']);
    if let Some(odd) = names.iter().find(|name| !is_glob(name) && !known.contains(&name.as_str())) {
        let odd = crate::kernel::tool::echo(odd).into_owned();
        return Err(Error::usage(format!("there is no tool {odd:?} here; the tools are: {}", known.join(", "))));
    }
    let mut set = globset::GlobSetBuilder::new();
    for name in names {
        let broken = |error: globset::Error| Error::usage(format!("{name:?} is no tool's name: {}", error.kind()));
        set.add(globset::Glob::new(name).map_err(broken)?);
    }
    let set = set.build().map_err(|error| Error::usage(error.to_string()))?;
    Ok(all.only(|spec| set.is_match(spec.name)))
}

/// Makes sure that whoever is to have some tools has one.
fn some(tools: &Toolbox, names: Option<&[String]>) -> Result<(), Error> {
    let names = names.unwrap_or_default();
    if names.is_empty() || tools.names().next().is_some() {
        return Ok(());
    }
    let names = names.iter().map(|name| crate::kernel::tool::echo(name)).collect::<Vec<_>>().join(", ");
    Err(Error::usage(format!("none of these tools is on offer here now: {names}; name others, or none to give all")))
}

/// Where the conversation is kept: beside the session of who sends.
fn transcript(loaded: &Loaded, clock: Clock, post: &Post, env: &Env, info: &ModelInfo) -> Session {
    match &post.session {
        Some(home) => Store::new(&loaded.paths.data_dir, clock).create_beside(home, &env.cwd, &info.origin),
        None => Session::in_memory(clock),
    }
}

fn gate(post: &Post, worker: &Worker) -> Box<dyn Gate> {
    let rights = Arc::clone(&post.rights);
    match post.person.clone() {
        None => Box::new(Headless(rights)),
        Some(Person { ask, inquire: _, remembered, turn }) => {
            Box::new(Watched { rights, ask, worker: Some(worker.clone()), remembered, turn })
        }
    }
}

/// Who hears of calls.
pub(super) fn hooks(
    redactor: &Arc<Redactor>,
    checkpoints: Option<&Arc<Checkpoints>>,
    touched: &Arc<Touched>,
    jobs: Option<&Jobs>,
    worker: Option<&Worker>,
) -> Arc<dyn Hooks> {
    let (redactor, touched, jobs) = (Arc::clone(redactor), Arc::clone(touched), jobs.cloned());
    let whose = match worker {
        None => String::new(),
        Some(Worker::Agent(name) | Worker::Step(name)) => format!("{name}/"),
    };
    Arc::new(Watching { redactor, checkpoints: checkpoints.map(Arc::clone), touched, jobs, whose })
}

/// An error in one line, its hints included.
fn worded(error: &Error) -> String {
    error.to_string()
}
