//! `agent demo`: a recorded repair of a small broken project, played back with real tools. No key, no network.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use similar::TextDiff;

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::front::out::Out;
use crate::front::stdin::Reading;
use crate::front::stop::Stop;
use crate::product::app::{Parts, Which, headless};
use crate::product::config::{Flag, Flags, load};
use crate::product::error::Error;
use crate::product::provider::choose::choose;

use super::one_shot::{self, Asked, Goal};
use super::{Printer, Style, Talk};

/// The broken project: path and content of each file.
const PROJECT: [(&str, &str); 5] = [
    ("README.md", include_str!("../../../assets/demo/README.md")),
    ("tea.sh", include_str!("../../../assets/demo/tea.sh")),
    ("teas.txt", include_str!("../../../assets/demo/teas.txt")),
    ("lib/duration.sh", include_str!("../../../assets/demo/lib/duration.sh")),
    ("tests/run.sh", include_str!("../../../assets/demo/tests/run.sh")),
];
/// The repair, as this program once recorded it.
const RECORDING: &str = include_str!("../../../assets/demo/session.jsonl");
/// What the recorded session was asked.
const PROMPT: &str = "The tests fail. Find out why and fix it.";
/// What the demo keeps of the environment: enough to run programs, nothing that configures the agent.
const KEPT: [&str; 8] = ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ", "USER"];

/// Unpacks the project, plays the repair, and shows what it changed. The exit code is 0 only if the project's tests ran
/// green at the end.
///
/// # Errors
///
/// When the project cannot be unpacked, or stdout cannot be written.
pub fn run(
    keep: Option<&Path>,
    style: Style,
    env: &Env,
    clock: Clock,
    stop: &Stop,
    out: &mut Out<'_>,
) -> Result<u8, Error> {
    let cannot = |error: io::Error| Error::failed("the demo's project cannot be unpacked").caused_by(error);
    let scratch = tempfile::Builder::new().prefix("viola-demo-").tempdir().map_err(cannot)?;
    let project = match keep {
        Some(folder) => new_folder(&env.absolute(folder))?,
        None => scratch.path().join("tea"),
    };
    unpack(&project).map_err(cannot)?;
    let recording = scratch.path().join("recording.jsonl");
    fs::write(&recording, RECORDING).map_err(cannot)?;

    let env = surroundings(env, &project, scratch.path());
    let loaded = load(&env, &flags(&recording))?;
    let choice = choose(&loaded, &env, stop.cancel())?;
    let parts = Parts { loaded: &loaded, choice, env: &env, clock, session: Which::Unkept };
    let assembled = headless(parts)?;
    out.talk(&format!("A small project with a failing test lies in {}. Now: {PROMPT}", project.display()));
    let asked = Asked { prompt: Some(PROMPT.to_owned()), reading: Reading::Never };
    let code = one_shot::run(assembled, &asked, Goal::GreenCommand, stop, &mut Printer::new(out, style))?;
    out.talk(changes(&project).trim_end());
    if code == 0 && style.talk != Talk::Quiet {
        out.talk("On a project of your own: set a key, such as ANTHROPIC_API_KEY, and run agent -p \"what to do\".");
    }
    if keep.is_some() {
        out.talk(&format!("The project is kept in {}.", project.display()));
    }
    Ok(code)
}

fn new_folder(folder: &Path) -> Result<PathBuf, Error> {
    let is_free = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_free || folder.is_file() {
        return Err(Error::usage(format!("{} is not empty", folder.display())).hint("--keep wants a new folder"));
    }
    Ok(folder.to_owned())
}

fn unpack(project: &Path) -> io::Result<()> {
    for (path, content) in PROJECT {
        let path = project.join(path);
        fs::create_dir_all(path.parent().unwrap_or(project))?;
        fs::write(path, content)?;
    }
    Ok(())
}

/// The user's surroundings without what configures the agent: the demo is the same everywhere.
fn surroundings(env: &Env, project: &Path, scratch: &Path) -> Env {
    let mut vars: std::collections::BTreeMap<_, _> = env
        .vars
        .iter()
        .filter(|(name, _)| KEPT.iter().any(|kept| *name == *kept))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    for (name, folder) in [("VIOLA_CONFIG_DIR", "config"), ("VIOLA_DATA_DIR", "data")] {
        vars.insert(name.into(), scratch.join(folder).into());
    }
    Env { vars, cwd: project.to_owned(), home: env.home.clone() }
}

fn flags(recording: &Path) -> Flags {
    let flag = |option, key, value: String| Flag { option, key, value: Value::String(value) };
    Flags {
        values: vec![
            flag("--provider", "provider", "replay".to_owned()),
            flag("--model", "model", recording.display().to_string()),
            // Everything inside its own folder; the file tools cannot leave it.
            flag("--permissions", "permissions.mode", "all".to_owned()),
        ],
        ..Flags::default()
    }
}

/// What the repair changed, as a unified diff.
fn changes(project: &Path) -> String {
    let diffs = PROJECT.iter().map(|(path, before)| {
        let after = fs::read_to_string(project.join(path)).unwrap_or_default();
        let (old, new) = (format!("a/{path}"), format!("b/{path}"));
        TextDiff::from_lines(*before, after.as_str()).unified_diff().context_radius(3).header(&old, &new).to_string()
    });
    diffs.collect()
}
