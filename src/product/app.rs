//! The composition root: settings and surroundings in, an agent out. The only place that builds everything.

mod asking;
mod fit;
mod line;
mod names;
mod noted;
mod request;
mod rights;
pub mod title;

use std::fmt::Display;
use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::path::canonical;
use crate::base::text::mask::Mask;
use crate::base::text::visible;
use crate::kernel::event::{Notice, NoticeCode};
use crate::kernel::inbox::Inbox;
use crate::kernel::node::Node;
use crate::kernel::port::{Gate, Hooks};
use crate::kernel::succession::Chosen;
use crate::kernel::tool::{Limits, Tool, echo};
use crate::kernel::toolbox::Toolbox;
use crate::model::message::Message;
use crate::model::request::Options;

use super::agent::redact::Redactor;
use super::agent::{Agent, Watching};
use super::auth::secret::Secret;
use super::checkpoint::depot::Depot;
use super::checkpoint::record::Checkpoints;
use super::config::Loaded;
use super::config::presets::PRESETS;
use super::config::settings::Mode;
use super::error::Error;
use super::journal::Journal;
use super::permission::{Ask, Grant, Headless, Remembered, Rights, Rule, Watched};
use super::prompt::{self, Facts};
use super::provider::Choice;
use super::provider::key::known_secrets;
use super::session::Session;
use super::session::load::Handled;
use super::session::name;
use super::session::store::{Opened, Selector, Store};
use super::tool::bash::{self, ExecuteBash, Shell};
use super::tool::edit::{self, EditFile};
use super::tool::find::{self, FindFiles};
use super::tool::lean;
use super::tool::list::{self, ListFiles};
use super::tool::read::{self, ReadFile};
use super::tool::search::{self, SearchFiles};
use super::tool::seen::Seen;
use super::tool::workspace::Workspace;
use super::tool::write::{self, WriteFile};
use asking::Asked;
use request::{load, node_settings, system};

pub use asking::{answering, switch};

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
}

/// Who can be asked.
enum Watch {
    Nobody,
    Person(Ask),
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

/// Puts an agent together for a run that a person watches: `ask` puts questions to them.
///
/// # Errors
///
/// As [`headless`], but that nobody knows a price is only told.
pub fn watched(parts: Parts<'_>, ask: Ask) -> Result<Assembled, Error> {
    assemble(parts, Watch::Person(ask))
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
    let Parts { loaded, choice, env, clock, session, journal } = parts;
    let settings = &loaded.settings;
    let workspace = Arc::new(workspace(loaded, env)?);
    let secrets = known_secrets(loaded, env, choice.key.as_ref());
    let (seen, mask) = (Arc::new(Seen::new()), Mask::new(secrets.iter().map(Secret::expose)));
    let mut notices = Vec::new();
    let rules = rights::rules(loaded, env, &mut notices)?;
    let tools = tools(loaded, env, &workspace, &rules.deny, &seen, mask.clone())?;
    let Tools { toolbox: tools, shell, withheld: hidden, notice: misspelt } = tools;
    let system = system(settings, &tools);
    let node_settings = node_settings(settings, &system, &tools);
    let load = load(settings, &node_settings, &tools);
    let Asked { model, recorded, notices: of_model } = asking::asked(&choice, loaded, env, load, &mask)?;
    let opened = open(&Store::new(&loaded.paths.data_dir, clock), &session, &choice, env, clock)?;
    let Opening { mut session, messages, stale, handled, grant, notices: of_session } = opened;
    notices.extend(of_session);
    notices.extend(grant.and_then(|grant| resumed(grant, &watch, settings.permissions.mode)));
    for Handled { tool, path, at_ms } in &handled {
        seen.recall(tool, &canonical(&workspace.resolve(path)), *at_ms);
    }
    session.set_price(choice.info.price);
    let mode = match watch {
        Watch::Nobody => prompt::Mode::OneShot,
        Watch::Person(_) => prompt::Mode::Interactive,
    };
    let by_price = matches!(watch, Watch::Nobody) && settings.max_cost.is_some();
    let Gated { gate, rights } = gate(watch, loaded, env, rules, grant, &mut notices)?;
    let environment = prompt::environment(&Facts::gather(env, clock, mode));
    let opening = messages.is_empty().then(|| environment.clone());
    let cache_key = Some(session.id().to_owned());
    notices.extend(misspelt.into_iter().chain(of_model));
    let redactor = Arc::new(Redactor::new(mask));
    noted::beginning(&journal, loaded, env, clock, mode, &session, &redactor);
    noted::notices(&journal, &redactor, &notices);
    let checkpoints = session.is_kept().then(|| Depot::new(&loaded.paths.data_dir, env, clock));
    let checkpoints = checkpoints.map(|depot| Arc::new(Checkpoints::new(depot)));
    let agent = Agent {
        node: Node::new(node_settings, model.info().clone(), messages)
            .stale(stale)
            .opening(environment)
            .refusing(session.refused().cloned()),
        summariser: line::summariser(&choice, loaded, env, redactor.mask()),
        successors: line::behind(&choice, loaded, env, load, by_price, redactor.mask()),
        chosen: Chosen::default(),
        model,
        on_first_command: withheld(&hidden),
        journal,
        tools,
        gate,
        rights: rights.clone(),
        hooks: hooks(&redactor, checkpoints.as_ref()),
        redactor,
        checkpoints,
        session,
        system: system.into(),
        options: Options {
            max_tokens: settings.max_tokens,
            temperature: settings.temperature,
            effort: settings.reasoning_effort,
            cache_key,
        },
        inbox: Inbox::default(),
        timeout: settings.timeout,
        opening,
        recorded,
    };
    Ok(Assembled { agent, notices, workspace, shell, rights })
}

/// Who hears of calls.
fn hooks(redactor: &Arc<Redactor>, checkpoints: Option<&Arc<Checkpoints>>) -> Arc<dyn Hooks> {
    let redactor = Arc::clone(redactor);
    match checkpoints.map(Arc::clone) {
        Some(checkpoints) => Arc::new(Watching { redactor, checkpoints }),
        None => redactor,
    }
}

/// A gate, and what it goes by where that may change.
struct Gated {
    gate: Box<dyn Gate>,
    rights: Option<Arc<Rights>>,
}

fn gate(
    watch: Watch,
    loaded: &Loaded,
    env: &Env,
    rules: rights::Rules,
    grant: Option<Grant>,
    notices: &mut Vec<Notice>,
) -> Result<Gated, Error> {
    let Watch::Person(ask) = watch else {
        let judge = rights::judge(loaded, env, rules, grant.map(rights::unwatched))?;
        return Ok(Gated { gate: Box::new(Headless(judge)), rights: None });
    };
    let mut judge = rights::judge(loaded, env, rules, grant)?;
    let root = judge.writable.root().to_owned();
    let file = loaded.paths.data_dir.join("permissions").join(format!("{}.json", name::folder(&root)));
    let remembered = Remembered::new(file, root);
    let (known, problems) = remembered.load();
    judge.remembered = known;
    notices.extend(problems);
    let rights = Arc::new(Rights::new(judge));
    let gate = Watched { rights: Arc::clone(&rights), ask, worker: None, remembered: Some(remembered) };
    Ok(Gated { gate: Box::new(gate), rights: Some(rights) })
}

/// What to say of a grant that the session holds.
fn resumed(grant: Grant, watch: &Watch, mode: Mode) -> Option<Notice> {
    let text = match watch {
        Watch::Nobody => {
            let counts = rights::unwatched(grant).as_str();
            format!("The session goes on with what was allowed in it, here up to {counts}.")
        }
        Watch::Person(_) if mode != Mode::Session => return None,
        Watch::Person(_) => format!("The session goes on with what was allowed in it: {}.", grant.as_str()),
    };
    Some(Notice::new(NoticeCode::Session, text))
}

/// The tools of these settings, to be looked at. They know files from `seen`, and show nothing that `mask` hides.
///
/// # Errors
///
/// Usage for a pattern of `tools.enabled` or `tools.disabled` that is no glob, and for a tool on the command line that
/// there is not.
pub fn toolbox(
    loaded: &Loaded,
    env: &Env,
    workspace: &Arc<Workspace>,
    seen: &Arc<Seen>,
    mask: Mask,
) -> Result<Toolbox, Error> {
    tools(loaded, env, workspace, &[], seen, mask).map(|tools| tools.toolbox)
}

/// The tools of these settings, and what belongs to them.
struct Tools {
    toolbox: Toolbox,
    shell: Arc<dyn Tool>,
    /// The names of the variables that are kept from commands.
    withheld: Vec<String>,
    /// What a person should know.
    notice: Option<Notice>,
}

fn tools(
    loaded: &Loaded,
    env: &Env,
    workspace: &Arc<Workspace>,
    deny: &[Rule],
    seen: &Arc<Seen>,
    mask: Mask,
) -> Result<Tools, Error> {
    let settings = &loaded.settings;
    let enabled = globs(loaded, "tools.enabled", &lean::spelt_out(&settings.tools.enabled))?;
    let disabled = globs(loaded, "tools.disabled", &settings.tools.disabled)?;
    let limits = |name: &str, default: Limits| match settings.tools.limits.get(name) {
        Some(own) => Limits { chars: own.chars.unwrap_or(default.chars), lines: own.lines.unwrap_or(default.lines) },
        None => default,
    };
    let space = || Arc::clone(workspace);
    // For a tool that walks: without the paths that rules deny to a tool which shows as much.
    let closed = |names: &[&str]| {
        let globs: Vec<_> = deny.iter().filter_map(|rule| rule.closes(names)).cloned().collect();
        if globs.is_empty() {
            return Ok(space());
        }
        workspace.with_rules(globs).map(Arc::new).map_err(|problem| wrong(loaded, "permissions.deny", None, problem))
    };
    let shell = Shell {
        cwd: env.cwd.clone(),
        env: env.clone(),
        allow_env: settings.bash.env.clone(),
        key_names: key_names(),
        timeout: settings.bash.timeout,
        max_timeout: settings.bash.max_timeout,
        limits: limits(bash::NAME, bash::LIMITS),
        output_dir: loaded.paths.data_dir.join("output"),
        mask,
    };
    let shell = ExecuteBash::new(shell).map_err(|problem| wrong(loaded, "bash.env", None, problem))?;
    let withheld = shell.withheld().to_vec();
    let shell: Arc<dyn Tool> = Arc::new(shell);
    let all: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ReadFile::new(space(), Arc::clone(seen), limits("read_file", read::LIMITS))),
        Arc::new(ListFiles::new(closed(&["list_files"])?, limits("list_files", list::LIMITS))),
        Arc::new(FindFiles::new(closed(&["find_files"])?, limits("find_files", find::LIMITS))),
        Arc::new(SearchFiles::new(closed(&["search_files", "read_file"])?, limits("search_files", search::LIMITS))),
        Arc::new(WriteFile::new(space(), Arc::clone(seen), limits("write_file", write::LIMITS))),
        Arc::new(EditFile::new(space(), Arc::clone(seen), limits("edit_file", edit::LIMITS))),
        Arc::clone(&shell),
    ];
    let names: Vec<&str> = all.iter().map(|tool| tool.spec().name).collect();
    let notice = names::check(loaded, &names)?;
    let wanted = |tool: &Arc<dyn Tool>| {
        let name = tool.spec().name;
        (enabled.is_empty() || enabled.is_match(name)) && !disabled.is_match(name)
    };
    let offered = all.into_iter().filter(wanted);
    let offered = match lean::is_in(&settings.tools.enabled) {
        true => offered.map(lean::short).collect(),
        false => offered.collect(),
    };
    Ok(Tools { toolbox: Toolbox::new(offered), shell, withheld, notice })
}

fn globs(loaded: &Loaded, key: &str, patterns: &[String]) -> Result<GlobSet, Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let shown = || visible::line(&echo(pattern)).into_owned();
        let broken =
            |error: globset::Error| wrong(loaded, key, Some(pattern), format!("{}: {}", shown(), error.kind()));
        set.add(Glob::new(pattern).map_err(broken)?);
    }
    set.build().map_err(|error| wrong(loaded, key, None, error))
}

/// A setting that cannot be used, or one item of it: the error begins with who wrote it.
fn wrong(loaded: &Loaded, key: &str, item: Option<&str>, problem: impl Display) -> Error {
    Error::usage(format!("{}: {problem}", loaded.values.blamed(key, item)))
}

/// The variables that hold providers' keys.
fn key_names() -> Vec<String> {
    PRESETS.iter().filter_map(|preset| preset.variable).map(str::to_owned).collect()
}

/// What to say when a command first runs, if names are kept from it.
fn withheld(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| {
        format!(
            "Commands do not see these variables, which look like secrets: {}. bash.env lets names through.",
            names.join(", ")
        )
    })
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
