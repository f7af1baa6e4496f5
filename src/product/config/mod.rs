//! Configuration: six layers, read, checked, laid over each other, and turned into [`Settings`] once.
//!
//! Later layers win: defaults, a provider's preset, the user's file, the project's file, the environment, the command
//! line. Asks nobody anything and writes nothing.

pub mod keys;
pub mod kind;
pub mod layer;
pub mod mask;
pub mod naming;
pub mod paths;
pub mod presets;
pub mod project;
pub mod settings;
mod text;
pub mod trust;

use std::path::PathBuf;

use serde_json::Value;

use crate::base::env::Env;
use crate::base::text::visible;
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::auth::secret::Secret;
use crate::product::auth::{self, RunKey};
use crate::product::error::Error;
use crate::product::files;

use keys::Place;
use layer::{Entry, Problem, Source, Values};
use paths::Paths;
use project::Project;
use settings::Settings;
use trust::{Trust, Withheld};

/// The user's settings, in the configuration folder.
pub const FILE: &str = "config.json";

/// The sixth layer: what the command line sets.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Settings, each with the option it came from.
    pub values: Vec<Flag>,
    /// `--api-key`.
    pub api_key: Option<Secret>,
    /// `--config`: in place of the user's file.
    pub config_file: Option<PathBuf>,
    /// `--trust-project`.
    pub project: ProjectTrust,
}

/// A setting of the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// The option, such as `--max-turns`.
    pub option: &'static str,
    /// The key it sets, such as `max_turns`.
    pub key: &'static str,
    /// Its value.
    pub value: Value,
}

/// Whether the project is trusted for this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectTrust {
    /// If the record says so.
    #[default]
    AsRecorded,
    /// Whatever the record says.
    ThisRun,
}

/// So many settings are named in a notice.
const MAX_NAMED: usize = 20;

/// Everything that was read, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What the program uses.
    pub settings: Settings,
    /// Every value with its origin.
    pub values: Values,
    /// What the user should know.
    pub notices: Vec<Notice>,
    /// What must be mended before a task is run.
    pub problems: Vec<Problem>,
    /// The program's folders.
    pub paths: Paths,
    /// The user's file, whether it exists or not.
    pub user_file: PathBuf,
    /// The project.
    pub project: Project,
    /// Whether the project is trusted.
    pub trust: Trust,
    /// What the project would bring in that needs trust.
    pub withheld: Withheld,
    /// A key for this run.
    pub run_key: Option<RunKey>,
    /// Keys that were stored.
    pub auth: auth::store::Store,
}

/// Loads the configuration.
///
/// # Errors
///
/// Usage, with the first of what [`inspect`] calls problems; the others are hints.
pub fn load(env: &Env, flags: &Flags) -> Result<Loaded, Error> {
    let mut loaded = inspect(env, flags);
    let mut problems = std::mem::take(&mut loaded.problems).into_iter();
    let Some(first) = problems.next() else { return Ok(loaded) };
    let mut error = Error::usage(first.message);
    error.hints.extend(first.hint);
    error.hints.extend(problems.map(|Problem { message, hint }| match hint {
        Some(hint) => format!("also: {message}; {hint}"),
        None => format!("also: {message}"),
    }));
    Err(error)
}

/// Loads the configuration as far as it can be used, for commands that show or mend it.
pub fn inspect(env: &Env, flags: &Flags) -> Loaded {
    let paths = Paths::new(env);
    let user_file = flags.config_file.as_ref().map_or_else(|| paths.config_dir.join(FILE), |file| env.absolute(file));
    let mut loaded = Loaded {
        project: project::find(&env.cwd),
        run_key: RunKey::new(flags.api_key.as_ref(), env),
        auth: auth::store::Store::open(&paths.config_dir),
        user_file,
        paths,
        ..Loaded::default()
    };
    loaded.note_auth();
    let user = loaded.read_user(flags.config_file.is_some());
    let outer = loaded.read_outer(env, flags);
    let inner = loaded.read_project(env, flags.project, &user, &outer);
    let told = || user.iter().chain(&inner).chain(&outer);
    let named = told().rev().find(|entry| entry.key.name == "provider").and_then(|entry| entry.value.as_str());
    let preset = named.and_then(presets::preset).map(preset_entries).unwrap_or_default();
    loaded.values = Values::merge(defaults().chain(preset).chain(told().cloned()));
    loaded.settings = Settings::new(&loaded.values, &loaded.paths);
    loaded.settings.system_prompt = loaded.read_text(env, "system_prompt");
    loaded.settings.append_system_prompt = loaded.read_text(env, "append_system_prompt");
    loaded.note_sandbox();
    loaded.note_unbuilt();
    loaded.note_timeout();
    loaded
}

impl Loaded {
    fn read_user(&mut self, is_named: bool) -> Vec<Entry> {
        match files::read(&self.user_file) {
            Ok(Some(document)) => {
                let source = Source::User(self.user_file.clone());
                let (entries, problems) = layer::flatten(&document.object, &document.text, &source);
                self.problems.extend(problems);
                entries
            }
            Ok(None) => {
                if is_named {
                    let message = format!("{}: no such file", self.user_file.display());
                    self.problems.push(Problem { message, hint: None });
                }
                Vec::new()
            }
            Err(error) => {
                self.problems.push(Problem { message: error.to_string(), hint: None });
                Vec::new()
            }
        }
    }

    /// The environment's layer and the command line's.
    fn read_outer(&mut self, env: &Env, flags: &Flags) -> Vec<Entry> {
        let (mut entries, problems, unknown) = layer::environment(env);
        self.problems.extend(problems);
        self.notices.extend(unknown.into_iter().map(|problem| notice(&problem)));
        for Flag { option, key, value } in &flags.values {
            let path = keys::path(key);
            let Place::Key(key) = keys::place(&path) else { continue };
            match key.kind.check(value) {
                Ok(()) => {
                    let source = Source::Option((*option).to_owned());
                    entries.push(Entry { path, key, value: value.clone(), source });
                }
                Err(expected) => {
                    let message = format!("{option}: expected {expected}");
                    self.problems.push(Problem { message, hint: None });
                }
            }
        }
        entries
    }

    /// The project's layer: what of it counts. Everything odd in it is a notice.
    fn read_project(&mut self, env: &Env, trust: ProjectTrust, user: &[Entry], outer: &[Entry]) -> Vec<Entry> {
        let entries = self.read_project_file();
        // What holds without the project is what it is measured against.
        let own = match entries.as_slice() {
            [] => Values::default(),
            _ => Values::merge(defaults().chain(user.iter().chain(outer).cloned())),
        };
        let entries = self.readable(entries, env, &own);
        let (free, needy) = project::part(entries, &own);
        self.withheld = Withheld::new(&needy, &self.project);
        self.trust = match trust {
            ProjectTrust::ThisRun if !self.withheld.is_empty() => Trust::ThisRun,
            ProjectTrust::ThisRun | ProjectTrust::AsRecorded => {
                trust::look_up(&self.paths.data_dir, &self.project.root, &self.withheld).unwrap_or_else(|error| {
                    self.notices.push(notice(&Problem { message: error.to_string(), hint: None }));
                    Trust::Missing
                })
            }
        };
        if self.trust.is_given() {
            return free.into_iter().chain(needy).collect();
        }
        self.note_trust();
        free
    }

    fn read_project_file(&mut self) -> Vec<Entry> {
        let Some(file) = self.project.file.clone() else { return Vec::new() };
        match files::read(&file) {
            Ok(Some(document)) => {
                let (entries, problems) = layer::flatten(&document.object, &document.text, &Source::Project(file));
                self.notices.extend(problems.iter().map(notice));
                entries
            }
            Ok(None) => Vec::new(),
            Err(error) => {
                self.notices.push(notice(&Problem { message: error.to_string(), hint: None }));
                Vec::new()
            }
        }
    }

    /// The entries but for texts in files that must not or cannot be read.
    fn readable(&mut self, mut entries: Vec<Entry>, env: &Env, own: &Values) -> Vec<Entry> {
        entries.retain(|entry| {
            let text = match entry.key.name {
                "system_prompt" | "append_system_prompt" => entry.value.as_str().unwrap_or_default(),
                _ => return true,
            };
            let opened = text::open(text, &entry.source, &self.reach(env, own));
            self.notices.extend(opened.as_ref().err().map(notice));
            opened.is_ok()
        });
        entries
    }

    fn note_trust(&mut self) {
        let what = match self.trust {
            Trust::Changed => "changed since you trusted this project, and withheld until you do so again",
            Trust::NotNeeded | Trust::Missing | Trust::ThisRun | Trust::Given => {
                "withheld until you trust this project"
            }
        };
        let text = format!(
            "{what}: {}. `agent trust` shows them and asks; --trust-project lets them in for one run.",
            self.withheld.named()
        );
        self.notices.push(Notice::new(NoticeCode::Trust, text));
    }

    fn note_auth(&mut self) {
        let path = self.auth.path().display();
        if self.auth.is_open_to_others() {
            let text = format!("{path} can be read by other users; `chmod 600` closes it.");
            self.notices.push(Notice::new(NoticeCode::Config, text));
        }
        if let Some(problem) = self.auth.problem() {
            self.notices.push(Notice::new(NoticeCode::Config, problem));
        }
    }

    /// A sandbox that somebody asked for and does not get must be known.
    fn note_sandbox(&mut self) {
        match self.settings.sandbox.mode {
            settings::SandboxMode::Off => {}
            settings::SandboxMode::ReadOnly | settings::SandboxMode::Workspace => self.notices.push(Notice::new(
                NoticeCode::Sandbox,
                "the sandbox is not built yet: shell commands run without one.",
            )),
        }
    }

    /// What somebody has set and nothing reads yet. The sandbox has a notice of its own.
    fn note_unbuilt(&mut self) {
        let mut idle = Vec::new();
        for (path, held) in self.values.in_order() {
            let name = path.join(".");
            if held.source.rank() < Source::USER || name == "sandbox.mode" {
                continue;
            }
            if !held.key.is_built {
                idle.push(name);
            }
        }
        if idle.is_empty() {
            return;
        }
        let more = match idle.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        idle.truncate(MAX_NAMED);
        let text = format!("these settings are not built yet and do nothing: {}{more}", idle.join(", "));
        self.notices.push(notice(&Problem { message: text, hint: None }));
    }

    /// A default above the maximum is lowered to it; who set it must know.
    fn note_timeout(&mut self) {
        let seconds = |name: &str| self.values.get(name).and_then(|held| held.value.as_u64()).unwrap_or_default();
        let (wanted, most) = (seconds("bash.timeout"), seconds("bash.max_timeout"));
        let is_set = self.values.get("bash.timeout").is_some_and(|held| held.source != Source::Default);
        if is_set && wanted > most {
            let text = format!("bash.timeout is {wanted} s, but bash.max_timeout allows {most} s, and that counts");
            self.notices.push(notice(&Problem { message: text, hint: None }));
        }
    }

    /// A prompt, from its file if it names one.
    fn read_text(&mut self, env: &Env, key: &str) -> Option<String> {
        let held = self.values.get(key)?;
        match text::open(held.value.as_str()?, &held.source, &self.reach(env, &self.values)) {
            Ok(text) => Some(text),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    fn reach<'a>(&'a self, env: &'a Env, values: &Values) -> text::Reach<'a> {
        text::Reach { env, project: &self.project, deny_read: settings::deny_read(values, &self.paths) }
    }
}

fn defaults() -> impl Iterator<Item = Entry> {
    keys::KEYS.iter().filter(|key| !key.default.is_empty()).filter_map(|key| {
        // A test holds that every default is JSON.
        let value = serde_json::from_str(key.default).ok()?;
        Some(Entry { path: keys::path(key.name), key, value, source: Source::Default })
    })
}

/// The second layer: what is known about the provider that is named.
fn preset_entries(preset: &presets::Preset) -> Vec<Entry> {
    let below = |field: &str| ["providers", preset.name, field].map(str::to_owned).to_vec();
    let set = [
        (preset.model.map(|_| keys::path("model")), preset.model.unwrap_or_default()),
        (Some(below("base_url")), preset.base_url),
        (Some(below("api")), preset.api.as_str()),
    ];
    let entries = set.into_iter().filter_map(|(path, value)| {
        let path = path?;
        let Place::Key(key) = keys::place(&path) else { return None };
        Some(Entry { path, key, value: Value::from(value), source: Source::Preset(preset.name.to_owned()) })
    });
    entries.collect()
}

/// Strangers may have written what the notice quotes.
fn notice(problem: &Problem) -> Notice {
    let text = match &problem.hint {
        Some(hint) => format!("{}; {hint}", problem.message),
        None => problem.message.clone(),
    };
    Notice::new(NoticeCode::Config, visible::line(&text.replace('\n', " ")).into_owned())
}

#[cfg(test)]
pub(crate) mod tests;
