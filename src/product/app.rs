//! The composition root: settings and surroundings in, an agent out. The only place that builds everything.

mod asking;
pub mod crew;
mod fit;
mod goal;
mod line;
mod names;
mod noted;
pub mod plan;
mod request;
mod rights;
pub mod title;
mod tools;
mod web;

use std::fmt::Display;
use std::sync::Arc;

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::path::canonical;
use crate::base::text::mask::Mask;
use crate::kernel::event::{Notice, NoticeCode};
use crate::kernel::inbox::Inbox;
use crate::kernel::node::Node;
use crate::kernel::port::Gate;
use crate::kernel::succession::Chosen;
use crate::kernel::tool::Tool;
use crate::kernel::toolbox::Toolbox;
use crate::model::message::Message;
use crate::model::request::Options;

use super::agent::Agent;
use super::agent::redact::Redactor;
use super::auth::secret::Secret;
use super::checkpoint::depot::Depot;
use super::checkpoint::record::Checkpoints;
use super::config::Loaded;
use super::config::settings::{Mode, Settings};
use super::error::Error;
use super::job::Jobs;
use super::journal::Journal;
use super::permission::{Ask, Grant, Headless, Remembered, Rights, Watched};
use super::prompt::{self, Facts};
use super::provider::Choice;
use super::provider::key::known_secrets;
use super::rules::touched::Touched;
use super::session::Session;
use super::session::load::Handled;
use super::session::name;
use super::session::store::{Opened, Selector, Store};
use super::skill::{Found, Skills};
use super::tool::ask::Inquire;
use super::tool::seen::Seen;
use super::tool::workspace::Workspace;
use asking::Asked;
use crew::{Crew, MadeOf, Person, Post, hooks};
use request::{instructions, load, node_settings, system};
use tools::{Bench, Tools, tools, withheld};

pub use asking::{answering, switch};
pub use goal::goal;
pub use names::LATER;
pub use tools::{all_tools, toolbox};

/// What an agent is put together from.
pub struct Parts<'a> {
    /// The settings.
    pub loaded: &'a Loaded,
    /// Who is asked.
    pub choice: Choice,
    /// The process's surroundings.
    pub env: &'a Env,
    /// The time.
    pub clock: Clock,
    /// Which session.
    pub session: Which,
    /// What is noted of it for later.
    pub journal: Journal,
    /// What it is to be done for.
    pub mode: plan::Mode,
    /// What runs in the background, of all sessions of the process.
    pub jobs: Jobs,
}

/// Which session a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// A new one.
    New,
    /// One that is there, or a new one where the newest is wanted and there is none.
    Open(Selector),
    /// A new one that is a copy of another.
    Fork {
        /// The other.
        of: Selector,
        /// The message up to which it is copied; nothing is where it stands.
        at: Option<u64>,
    },
    /// One that is not kept.
    Unkept,
}

/// An agent, and what a person should know before it begins.
pub struct Assembled {
    /// The agent.
    pub agent: Agent,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// Where it works; front ends attach files by it.
    pub workspace: Arc<Workspace>,
    /// Runs a person's own commands, whatever tools are on offer.
    pub shell: Arc<dyn Tool>,
    /// What is allowed, where a person can change that while it runs.
    pub rights: Option<Arc<Rights>>,
    /// Who does parts of a task.
    pub crew: Crew,
    /// What runs in the background; whoever runs the agent ends it.
    pub jobs: Jobs,
}

/// Who can be asked.
enum Watch {
    Nobody,
    Person(Ask, Option<Inquire>),
}

impl Watch {
    /// Who can be asked something by a tool.
    fn inquire(&self) -> Option<&Inquire> {
        match self {
            Self::Nobody => None,
            Self::Person(_, inquire) => inquire.as_ref(),
        }
    }
}

/// Puts an agent together for a run in which nobody can be asked.
///
/// # Errors
///
/// Usage for what is wrong with the settings or the session; provider for what is wrong with the model.
pub fn headless(parts: Parts<'_>) -> Result<Assembled, Error> {
    if parts.loaded.settings.max_cost.is_some() && parts.choice.info.price.is_none() {
        let Choice { model, provider, .. } = &parts.choice;
        return Err(Error::usage(format!("max_cost is set, but the price of {model} is unknown"))
            .hint(format!("give it in providers.{provider}.models as \"cost\"")));
    }
    assemble(parts, Watch::Nobody)
}

/// Puts an agent together for a run that a person watches: `ask` puts questions about calls to them, `inquire` those of
/// the model, which can ask them nothing without.
///
/// # Errors
///
/// As [`headless`], but that nobody knows a price is only told.
pub fn watched(parts: Parts<'_>, ask: Ask, inquire: Option<Inquire>) -> Result<Assembled, Error> {
    assemble(parts, Watch::Person(ask, inquire))
}

/// Where the tools work, and what is closed to them.
///
/// # Errors
///
/// A setting that is no pattern.
pub fn workspace(loaded: &Loaded, env: &Env) -> Result<Workspace, Error> {
    Workspace::new(env.cwd.clone(), env.home.clone(), &loaded.settings.sandbox.deny_read)
        .map_err(|problem| wrong(loaded, "sandbox.deny_read", None, problem))
}

fn assemble(parts: Parts<'_>, watch: Watch) -> Result<Assembled, Error> {
    let Parts { loaded, choice, env, clock, session, journal, mode: purpose, jobs } = parts;
    let settings = &loaded.settings;
    let workspace = Arc::new(workspace(loaded, env)?);
    let secrets = known_secrets(loaded, env, choice.key.as_ref());
    let (seen, mask) = (Arc::new(Seen::new()), Mask::new(secrets.iter().map(Secret::expose)));
    let mut notices = Vec::new();
    let rules = rights::rules(loaded, env, &mut notices)?;
    let redactor = Arc::new(Redactor::new(mask.clone()));
    let made_of = MadeOf::new(loaded, env, clock, &redactor, &rules.deny, &jobs);
    let crew = Crew::new(made_of, Some(choice.clone()), 0);
    let bench = Bench {
        loaded,
        env,
        workspace: &workspace,
        deny: &rules.deny,
        seen: &seen,
        mask: &mask,
        crew: &crew,
        inquire: watch.inquire(),
        jobs: &jobs,
        of_worker: false,
    };
    let Outfit { reserve, tools, shell, hidden, touched, skills, system } = outfit(bench, purpose, &mut notices)?;
    let node_settings = node_settings(settings, &system, &tools);
    let load = load(settings, &node_settings, &tools);
    let Asked { model, recorded, notices: of_model } = asking::asked(&choice, loaded, env, load, &mask)?;
    let store = Store::new(&loaded.paths.data_dir, clock);
    let opened = open(&store, &session, &choice, env, clock)?;
    let Opening { mut session, messages, stale, handled, grant, notices: of_session } = opened;
    notices.extend(of_session);
    notices.extend(grant.and_then(|grant| resumed(grant, &watch, settings.permissions.mode)));
    recall(&handled, &seen, &workspace);
    touched.recall(&messages);
    session.set_price(choice.info.price);
    jobs.clean_up();
    let is_watched = matches!(watch, Watch::Person(..));
    let mode = if is_watched { prompt::Mode::Interactive } else { prompt::Mode::OneShot };
    let by_price = !is_watched && settings.max_cost.is_some();
    let Gated { gate, rights, person } = gate(watch, loaded, env, rules, grant, &mut notices)?;
    rights.set_planning(purpose == plan::Mode::Plan);
    let environment = prompt::environment(&Facts::gather(env, clock, mode));
    let opening = messages.is_empty().then(|| environment.clone());
    notices.extend(of_model);
    noted::beginning(&journal, loaded, env, clock, mode, &session, &redactor);
    noted::notices(&journal, &redactor, &notices);
    let checkpoints =
        session.is_kept().then(|| Arc::new(Checkpoints::new(Depot::new(&loaded.paths.data_dir, env, clock))));
    let node = Node::new(node_settings, model.info().clone(), messages).stale(stale).opening(environment);
    let node = node.refusing(session.refused().cloned());
    let home = store.home(&session, &env.cwd);
    crew.settle(Post::new(&rights, person, checkpoints.as_ref(), home, node.pot()));
    let rights = is_watched.then_some(rights);
    let agent = Agent {
        node,
        summariser: line::summariser(&choice, loaded, env, redactor.mask()),
        successors: line::behind(&choice, loaded, env, load, by_price, redactor.mask()),
        chosen: Chosen::default(),
        model,
        on_first_command: withheld(&hidden),
        journal,
        tools,
        reserve,
        skills,
        gate,
        rights: rights.clone(),
        hooks: hooks(&redactor, checkpoints.as_ref(), &touched, Some(&jobs), None),
        redactor,
        checkpoints,
        touched,
        options: options(settings, &session),
        session,
        system: system.into(),
        inbox: Inbox::default(),
        timeout: settings.timeout,
        opening,
        recorded,
    };
    Ok(Assembled { agent, notices, workspace, shell, rights, crew, jobs })
}

/// What an agent has at hand, and what it is told of that.
struct Outfit {
    reserve: Toolbox,
    tools: Toolbox,
    shell: Arc<dyn Tool>,
    /// The names of the variables that are kept from commands.
    hidden: Vec<String>,
    touched: Arc<Touched>,
    skills: Arc<Found>,
    system: String,
}

fn outfit(bench: Bench<'_>, purpose: plan::Mode, notices: &mut Vec<Notice>) -> Result<Outfit, Error> {
    let Bench { loaded, env, workspace, mask, .. } = bench;
    let Tools { toolbox: reserve, shell, withheld: hidden, notices: of_tools } = tools(bench)?;
    notices.extend(of_tools);
    let tools = plan::of(&reserve, purpose);
    let (told, touched) = instructions(loaded, env, workspace, mask, notices);
    let skills = Skills::new(env, loaded, Arc::clone(workspace)).find();
    notices.extend(skills.notices().into_iter().chain(skills.catalogue(&tools).1));
    let system = system(&loaded.settings, &tools, &told, &skills, purpose, None);
    Ok(Outfit { reserve, tools, shell, hidden, touched, skills: Arc::new(skills), system })
}

/// How answers are to be made.
fn options(settings: &Settings, session: &Session) -> Options {
    Options {
        max_tokens: settings.max_tokens,
        temperature: settings.temperature,
        effort: settings.reasoning_effort,
        cache_key: Some(session.id().to_owned()),
    }
}

/// What the tools know of files from the conversation so far.
fn recall(handled: &[Handled], seen: &Seen, workspace: &Workspace) {
    for Handled { tool, path, at_ms } in handled {
        seen.recall(tool, &canonical(&workspace.resolve(path)), *at_ms);
    }
}

/// A gate, and what it goes by where that may change.
struct Gated {
    gate: Box<dyn Gate>,
    rights: Arc<Rights>,
    /// Who is asked.
    person: Option<Person>,
}

fn gate(
    watch: Watch,
    loaded: &Loaded,
    env: &Env,
    rules: rights::Rules,
    grant: Option<Grant>,
    notices: &mut Vec<Notice>,
) -> Result<Gated, Error> {
    let Watch::Person(ask, inquire) = watch else {
        let judge = rights::judge(loaded, env, rules, grant.map(rights::unwatched))?;
        let rights = Arc::new(Rights::new(judge));
        return Ok(Gated { gate: Box::new(Headless(Arc::clone(&rights))), rights, person: None });
    };
    let mut judge = rights::judge(loaded, env, rules, grant)?;
    let root = judge.writable.root().to_owned();
    let file = loaded.paths.data_dir.join("permissions").join(format!("{}.json", name::folder(&root)));
    let remembered = Remembered::new(file, root);
    let (known, problems) = remembered.load();
    judge.remembered = known;
    notices.extend(problems);
    let rights = Arc::new(Rights::new(judge));
    let person = Person { ask, inquire, remembered: Some(remembered), turn: Arc::default() };
    let Person { ask, inquire: _, remembered, turn } = person.clone();
    let gate = Watched { rights: Arc::clone(&rights), ask, worker: None, remembered, turn };
    Ok(Gated { gate: Box::new(gate), rights, person: Some(person) })
}

/// What to say of a grant that the session holds.
fn resumed(grant: Grant, watch: &Watch, mode: Mode) -> Option<Notice> {
    let text = match watch {
        Watch::Nobody => {
            let counts = rights::unwatched(grant).as_str();
            format!("The session goes on with what was allowed in it, here up to {counts}.")
        }
        Watch::Person(..) if mode != Mode::Session => return None,
        Watch::Person(..) => format!("The session goes on with what was allowed in it: {}.", grant.as_str()),
    };
    Some(Notice::new(NoticeCode::Session, text))
}

/// A setting that cannot be used, or one item of it: the error begins with who wrote it.
fn wrong(loaded: &Loaded, key: &str, item: Option<&str>, problem: impl Display) -> Error {
    Error::usage(format!("{}: {problem}", loaded.values.blamed(key, item)))
}

/// A session, ready to go on.
struct Opening {
    session: Session,
    messages: Vec<Arc<Message>>,
    stale: usize,
    handled: Vec<Handled>,
    grant: Option<Grant>,
    notices: Vec<Notice>,
}

fn open(store: &Store, which: &Which, choice: &Choice, env: &Env, clock: Clock) -> Result<Opening, Error> {
    let origin = &choice.info.origin;
    let fresh = |session, notices| Opening {
        session,
        messages: Vec::new(),
        stale: 0,
        handled: Vec::new(),
        grant: None,
        notices,
    };
    let opened = match which {
        Which::Unkept => return Ok(fresh(Session::in_memory(clock), Vec::new())),
        Which::New => return Ok(fresh(store.create(&env.cwd, origin), Vec::new())),
        Which::Open(selector) => store.open(selector, &env.cwd)?,
        Which::Fork { of, at } => store.fork(of, *at, &env.cwd)?,
    };
    match opened {
        None => {
            let text = "There is no session of this directory yet; a new one begins.";
            Ok(fresh(store.create(&env.cwd, origin), vec![Notice::new(NoticeCode::Session, text)]))
        }
        Some(Opened { mut session, messages, stale, handled, grant, model: _, notices }) => {
            session.append_model(origin)?;
            Ok(Opening { session, messages, stale, handled, grant, notices })
        }
    }
}

#[cfg(test)]
mod tests;
