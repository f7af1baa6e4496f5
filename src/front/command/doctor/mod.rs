//! `agent doctor`: what is there, what is missing, and the fix.
//!
//! Starts with anything broken, shows no secret, and spends no tokens: providers are asked for their lists of models, all at
//! once and for 5 s at most.

mod network;
mod screen;
pub mod storage;

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::{DONE, Form, NO, config::complain, written};
use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::base::json::Object;
use crate::base::path::is_absent;
use crate::base::text::visible;
use crate::product::config::layer::Problem;
use crate::product::config::naming::own_providers;
use crate::product::config::presets::PRESETS;
use crate::product::config::trust::Trust;
use crate::product::config::{Flags, Loaded, inspect};
use crate::product::error::Error;
use crate::product::files;
use crate::product::provider::check::{Checked, check};
use crate::product::provider::key::{self, Found, RunKeys};
use crate::product::tool::save;
use crate::product::upkeep::size::{Size, sizes};

pub use screen::Terminal;

/// Looks at everything. Returns 0 when a task could be done: the configuration is in order, and the provider that it asks
/// for answers and takes the key; else 1.
///
/// # Errors
///
/// When it cannot be written.
pub fn run(
    env: &Env,
    flags: &Flags,
    terminal: Terminal,
    form: Form,
    cancel: &Cancel,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let loaded = inspect(env, flags);
    let sizes = sizes(&loaded.paths.data_dir);
    let sections = [
        paths(&loaded),
        storage::section(&sizes),
        screen::section(env, terminal),
        configuration(&loaded),
        keys(&loaded, env),
        sandbox(),
        network::proxies(&loaded, env),
        network::certificates(&loaded, env),
    ];
    if form == Form::Text {
        // The rest may take seconds.
        let shown = sections.iter().try_for_each(|section| {
            section.print(out)?;
            writeln!(out)
        });
        let shown = shown.and_then(|()| out.flush());
        if shown.is_err() {
            return written(shown.map(|()| DONE));
        }
    }
    let (checked, nobody) = check(&loaded, env, cancel)?;
    let works = loaded.problems.is_empty() && checked.iter().any(|one| one.is_chosen && one.works());
    written((|| {
        match form {
            Form::Text => {
                network::section(&checked, nobody.as_ref()).print(out)?;
                out.flush()?;
                complain(&loaded, err)?;
            }
            Form::Json => {
                writeln!(out, "{}", as_json(&loaded, &sections, &sizes, &checked, nobody.as_ref(), works))?;
                out.flush()?;
            }
        }
        Ok(if works { DONE } else { NO })
    })())
}

/// What is told about one subject.
struct Section {
    title: &'static str,
    /// Names and what is told; without a name it is a remark on what is above.
    rows: Vec<(String, String)>,
}

impl Section {
    fn new(title: &'static str) -> Self {
        Self { title, rows: Vec::new() }
    }

    fn line(&mut self, name: &str, text: impl Into<String>) {
        self.rows.push((name.to_owned(), text.into()));
    }

    fn remark(&mut self, text: impl Into<String>) {
        self.line("", text);
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.title)?;
        for (name, text) in &self.rows {
            // Some quote what others wrote.
            writeln!(out, "  {:<12} {}", visible::line(name), visible::line(text))?;
        }
        Ok(())
    }

    /// An object; remarks are a list in it.
    fn json(&self) -> Value {
        let (remarks, rows): (Vec<_>, Vec<_>) = self.rows.iter().partition(|(name, _)| name.is_empty());
        let mut object: Object = rows.into_iter().map(|(name, text)| (name.clone(), json!(text))).collect();
        if !remarks.is_empty() {
            object.insert("remarks".to_owned(), remarks.into_iter().map(|(_, text)| json!(text)).collect());
        }
        Value::Object(object)
    }
}

fn as_json(
    loaded: &Loaded,
    sections: &[Section],
    sizes: &[Size],
    checked: &[Checked],
    nobody: Option<&Error>,
    works: bool,
) -> Value {
    let problem = |Problem { message, hint }: &Problem| json!({"message": message, "hint": hint});
    let mut whole = Object::new();
    whole.insert("works".to_owned(), json!(works));
    whole.insert("problems".to_owned(), loaded.problems.iter().map(problem).collect());
    whole.insert("notices".to_owned(), loaded.notices.iter().map(|notice| json!(notice.text)).collect());
    whole.extend(sections.iter().map(|section| (section.title.to_owned(), section.json())));
    whole.insert(storage::TITLE.to_owned(), storage::as_json(sizes));
    whole.insert("providers".to_owned(), checked.iter().map(network::as_json).collect());
    whole.insert("nobody".to_owned(), json!(nobody.map(ToString::to_string)));
    Value::Object(whole)
}

fn paths(loaded: &Loaded) -> Section {
    let mut section = Section::new("paths");
    let state = |path: &Path| match path.metadata() {
        Ok(_) => String::new(),
        Err(error) if is_absent(&error) => " (not there yet)".to_owned(),
        Err(error) => format!(" (cannot be looked at: {})", save::words(&error)),
    };
    let all = [
        ("settings", loaded.user_file.as_path()),
        ("keys", loaded.auth.path()),
        ("data", loaded.paths.data_dir.as_path()),
    ];
    for (name, path) in all {
        section.line(name, format!("{}{}", path.display(), state(path)));
    }
    if loaded.paths.data_dir.exists() && files::is_open_to_others(&loaded.paths.data_dir) {
        section.remark("the data folder can be read by other users; `chmod 700` closes it");
    }
    section
}

fn configuration(loaded: &Loaded) -> Section {
    let mut section = Section::new("configuration");
    let state = match loaded.problems.len() {
        0 => "in order".to_owned(),
        1 => "1 problem, named below".to_owned(),
        count => format!("{count} problems, named below"),
    };
    section.line("settings", state);
    section.line("project", project(loaded));
    section
}

fn sandbox() -> Section {
    let mut section = Section::new("sandbox");
    section.line("mode", "off (not built): shell commands run with your own rights");
    section
}

fn project(loaded: &Loaded) -> String {
    let root = loaded.project.root.display();
    match loaded.trust {
        Trust::NotNeeded => format!("{root}: nothing that needs trust"),
        Trust::Given => format!("{root}: trusted"),
        Trust::ThisRun => format!("{root}: trusted for this run"),
        Trust::Missing | Trust::Changed => format!("{root}: not trusted; withheld: {}", loaded.withheld.named()),
    }
}

/// Where each provider's key was found. A key shows itself to nobody.
fn keys(loaded: &Loaded, env: &Env) -> Section {
    let mut section = Section::new("keys");
    if let Some(run) = &loaded.run_key {
        section.line("this run", format!("{} from {}, for the provider that is named", run.key, run.place));
    }
    let clouds = PRESETS.iter().filter(|preset| !preset.is_local()).map(|preset| preset.name);
    let mut missing = Vec::new();
    for name in clouds.chain(own_providers(&loaded.values)) {
        match key::look(loaded, env, name, RunKeys::No) {
            Found::Key { key: Some(key), place } => section.line(name, format!("{key} from {place}")),
            Found::Key { key: None, place } => section.line(name, format!("from the command of {place}")),
            Found::Nowhere { .. } => missing.push(name),
        }
    }
    if !missing.is_empty() {
        section.line("none for", missing.join(", "));
    }
    section
}
