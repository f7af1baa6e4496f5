//! The tools of an agent, made by the settings.
//!
//! Runs none of them.

use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::crew::{Crew, MadeOf};
use super::{names, web, wrong};
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::text::mask::Mask;
use crate::base::text::visible;
use crate::kernel::event::Notice;
use crate::kernel::tool::{Limits, Tool, echo};
use crate::kernel::toolbox::Toolbox;
use crate::product::agent::redact::Redactor;
use crate::product::config::Loaded;
use crate::product::config::presets::PRESETS;
use crate::product::crew::named::{self, Found};
use crate::product::crew::tool::{self as dispatch, DispatchAgent};
use crate::product::error::Error;
use crate::product::job::Jobs;
use crate::product::permission::Rule;
use crate::product::rules::memory::Memory;
use crate::product::rules::remember::{self, Remember};
use crate::product::skill::Skills;
use crate::product::skill::reach::Reach;
use crate::product::skill::tool::{self as load_skill, LoadSkill};
use crate::product::tool::ask::{self, AskUser, Inquire};
use crate::product::tool::bash::{self, ExecuteBash, Shell};
use crate::product::tool::edit::{self, EditFile};
use crate::product::tool::fetch;
use crate::product::tool::find::{self, FindFiles};
use crate::product::tool::job::{self, JobOutput, JobStop};
use crate::product::tool::lean;
use crate::product::tool::list::{self, ListFiles};
use crate::product::tool::plan::{self as update_plan, UpdatePlan};
use crate::product::tool::read::{self, ReadFile};
use crate::product::tool::search::{self, SearchFiles};
use crate::product::tool::seen::Seen;
use crate::product::tool::workspace::Workspace;
use crate::product::tool::write::{self, WriteFile};

/// The tools of these settings, to be looked at. They know files from `seen`, and show nothing that `mask` hides.
///
/// # Errors
///
/// As for an agent's.
pub fn toolbox(
    loaded: &Loaded,
    env: &Env,
    workspace: &Arc<Workspace>,
    seen: &Arc<Seen>,
    mask: &Mask,
) -> Result<Toolbox, Error> {
    let redactor = Arc::new(Redactor::new(mask.clone()));
    let jobs = Jobs::new(&loaded.paths.data_dir, Clock::System);
    let crew = Crew::new(MadeOf::new(loaded, env, Clock::System, &redactor, &[], &jobs), None, 0);
    tools(Bench {
        loaded,
        env,
        workspace,
        deny: &[],
        seen,
        mask,
        crew: &crew,
        inquire: None,
        jobs: &jobs,
        of_worker: false,
    })
    .map(|tools| tools.toolbox)
}

/// The names of all tools there are, whatever is switched off in these settings, and of those that come with other parts.
///
/// # Errors
///
/// As for an agent's.
pub fn all_tools(loaded: &Loaded, env: &Env) -> Result<Vec<&'static str>, Error> {
    let mut loaded = loaded.clone();
    loaded.settings.tools.enabled.clear();
    loaded.settings.tools.disabled.clear();
    let workspace = Workspace::new(env.cwd.clone(), env.home.clone(), &[]).map_err(Error::usage)?;
    let tools = toolbox(&loaded, env, &Arc::new(workspace), &Arc::default(), &Mask::default())?;
    let mut names: Vec<_> = tools.names().collect();
    names.extend(names::LATER.iter().filter(|later| tools.get(later).is_none()));
    Ok(names)
}

/// What tools are made of.
#[derive(Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) env: &'a Env,
    pub(super) workspace: &'a Arc<Workspace>,
    /// Rules that close paths to the tools that walk.
    pub(super) deny: &'a [Rule],
    /// What is known of files.
    pub(super) seen: &'a Arc<Seen>,
    /// What no tool shows.
    pub(super) mask: &'a Mask,
    /// Who sends sub-agents.
    pub(super) crew: &'a Crew,
    /// Who can be asked something.
    pub(super) inquire: Option<&'a Inquire>,
    /// What runs in the background.
    pub(super) jobs: &'a Jobs,
    /// Whether they are for somebody who is sent: the names in the settings were looked at where the session began, and
    /// not all tools go along.
    pub(super) of_worker: bool,
}

/// The tools of these settings, and what belongs to them.
pub(super) struct Tools {
    pub(super) toolbox: Toolbox,
    pub(super) shell: Arc<dyn Tool>,
    /// The names of the variables that are kept from commands.
    pub(super) withheld: Vec<String>,
    /// What a person should know.
    pub(super) notices: Vec<Notice>,
}

/// Makes them.
///
/// # Errors
///
/// Usage for a pattern of `tools.enabled` or `tools.disabled` that is no glob, and for a tool on the command line that
/// there is not.
pub(super) fn tools(bench: Bench<'_>) -> Result<Tools, Error> {
    let Bench { loaded, env, workspace, deny, seen, mask, crew, inquire, jobs, of_worker } = bench;
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
        mask: mask.clone(),
        jobs: jobs.clone(),
    };
    let (printed, output_dir) = (limits(job::OUTPUT, bash::LIMITS), shell.output_dir.clone());
    let shell = ExecuteBash::new(shell).map_err(|problem| wrong(loaded, "bash.env", None, problem))?;
    let withheld = shell.withheld().to_vec();
    let shell: Arc<dyn Tool> = Arc::new(shell);
    let memory = Memory::new(env, loaded.paths.config_dir.clone(), Clock::System, mask.clone());
    let mut all: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ReadFile::new(space(), Arc::clone(seen), limits("read_file", read::LIMITS))),
        Arc::new(ListFiles::new(closed(&["list_files"])?, limits("list_files", list::LIMITS))),
        Arc::new(FindFiles::new(closed(&["find_files"])?, limits("find_files", find::LIMITS))),
        Arc::new(SearchFiles::new(closed(&["search_files", "read_file"])?, limits("search_files", search::LIMITS))),
        Arc::new(WriteFile::new(space(), Arc::clone(seen), limits("write_file", write::LIMITS))),
        Arc::new(EditFile::new(space(), Arc::clone(seen), limits("edit_file", edit::LIMITS))),
        Arc::clone(&shell),
        Arc::new(JobOutput::new(jobs.clone(), printed, output_dir, mask.clone())),
        Arc::new(JobStop::new(jobs.clone())),
        Arc::new(UpdatePlan::new(limits(update_plan::NAME, update_plan::LIMITS))),
        Arc::new(web::fetcher(loaded, env, limits(fetch::NAME, fetch::LIMITS))?),
        Arc::new(Remember::new(memory, limits(remember::NAME, remember::LIMITS))),
        Arc::new(LoadSkill::new(
            Skills::new(env, loaded, closed(&[load_skill::NAME, "read_file"])?),
            limits(load_skill::NAME, load_skill::LIMITS),
        )),
    ];
    if let Some(inquire) = inquire {
        all.push(Arc::new(AskUser::new(Arc::clone(inquire), limits(ask::NAME, ask::LIMITS))));
    }
    let mut notices = Vec::new();
    if crew.may_dispatch() {
        let Found { agents, notices: of_agents } =
            named::find(&Reach::new(env, loaded, closed(&["read_file"])?), loaded);
        notices.extend(of_agents);
        let limits = limits(dispatch::NAME, dispatch::LIMITS);
        all.push(Arc::new(DispatchAgent::new(crew.as_sender(), agents, limits)));
    }
    if !of_worker {
        let names: Vec<&str> = all.iter().map(|tool| tool.spec().name).collect();
        notices.extend(names::check(loaded, &names)?);
    }
    let wanted = |tool: &Arc<dyn Tool>| {
        let name = tool.spec().name;
        (enabled.is_empty() || enabled.is_match(name)) && !disabled.is_match(name)
    };
    let offered = all.into_iter().filter(wanted);
    let offered = match lean::is_in(&settings.tools.enabled) {
        true => offered.map(lean::short).collect(),
        false => offered.collect(),
    };
    Ok(Tools { toolbox: Toolbox::new(offered), shell, withheld, notices })
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

/// The variables that hold providers' keys.
fn key_names() -> Vec<String> {
    PRESETS.iter().filter_map(|preset| preset.variable).map(str::to_owned).collect()
}

/// What to say when a command first runs, if names are kept from it.
pub(super) fn withheld(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| {
        format!(
            "Commands do not see these variables, which look like secrets: {}. bash.env lets names through.",
            names.join(", ")
        )
    })
}
