//! The demo: a small broken project, and a recorded session that mends it with real tools. No key, no network.
//!
//! Unpacks it, and says with which settings and surroundings it plays; front ends play it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use similar::TextDiff;
use tempfile::TempDir;

use crate::base::env::Env;
use crate::product::config::{Flag, Flags};
use crate::product::error::Error;

/// The broken project: path and content of each file.
const PROJECT: [(&str, &str); 5] = [
    ("README.md", include_str!("../../assets/demo/README.md")),
    ("tea.sh", include_str!("../../assets/demo/tea.sh")),
    ("teas.txt", include_str!("../../assets/demo/teas.txt")),
    ("lib/duration.sh", include_str!("../../assets/demo/lib/duration.sh")),
    ("tests/run.sh", include_str!("../../assets/demo/tests/run.sh")),
];
/// The repair, as this program once recorded it.
const RECORDING: &str = include_str!("../../assets/demo/session.jsonl");
/// What the recorded session was asked.
pub const PROMPT: &str = "The tests fail. Find out why and fix it.";
/// What to do after it.
pub const NEXT: &str = "On a project of your own: set a key, such as ANTHROPIC_API_KEY, and run `agent`.";
/// What the demo keeps of the environment: enough to run programs, nothing that configures the agent.
const KEPT: [&str; 10] = ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ", "USER", "COLORTERM", "NO_COLOR"];

/// The project, unpacked. What it needs besides goes away with it.
#[derive(Debug)]
pub struct Demo {
    /// The project's folder.
    pub project: PathBuf,
    recording: PathBuf,
    scratch: TempDir,
}

impl Demo {
    /// Unpacks the project: into `keep`, which must be new or empty, else into a folder that goes away.
    ///
    /// # Errors
    ///
    /// Usage where `keep` is not empty; failed where it cannot be written.
    pub fn unpack(keep: Option<&Path>) -> Result<Self, Error> {
        let cannot = |error: io::Error| Error::failed("the demo's project cannot be unpacked").caused_by(error);
        let scratch = tempfile::Builder::new().prefix("viola-demo-").tempdir().map_err(cannot)?;
        let project = match keep {
            Some(folder) => new_folder(folder)?,
            None => scratch.path().join("tea"),
        };
        write(&project).map_err(cannot)?;
        let recording = scratch.path().join("recording.jsonl");
        fs::write(&recording, RECORDING).map_err(cannot)?;
        Ok(Self { project, recording, scratch })
    }

    /// The user's surroundings without what configures the agent: the demo is the same everywhere.
    pub fn surroundings(&self, env: &Env) -> Env {
        let is_kept = |name: &std::ffi::OsString| KEPT.iter().any(|kept| *name == *kept);
        let kept = env.vars.iter().filter(|(name, _)| is_kept(name));
        let mut vars: std::collections::BTreeMap<_, _> =
            kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, folder) in [("VIOLA_CONFIG_DIR", "config"), ("VIOLA_DATA_DIR", "data")] {
            vars.insert(name.into(), self.scratch.path().join(folder).into());
        }
        Env { vars, cwd: self.project.clone(), home: env.home.clone() }
    }

    /// The settings it plays with.
    pub fn flags(&self) -> Flags {
        let flag = |option, key, value: String| Flag { option, key, value: Value::String(value) };
        Flags {
            values: vec![
                flag("--provider", "provider", "replay".to_owned()),
                flag("--model", "model", self.recording.display().to_string()),
                // Everything inside its own folder; the file tools cannot leave it.
                flag("--permissions", "permissions.mode", "all".to_owned()),
            ],
            ..Flags::default()
        }
    }

    /// What the repair changed, as a unified diff.
    pub fn changes(&self) -> String {
        let diffs = PROJECT.iter().map(|(path, before)| {
            let after = fs::read_to_string(self.project.join(path)).unwrap_or_default();
            let (old, new) = (format!("a/{path}"), format!("b/{path}"));
            let diff = TextDiff::from_lines(*before, after.as_str());
            diff.unified_diff().context_radius(3).header(&old, &new).to_string()
        });
        diffs.collect()
    }
}

fn new_folder(folder: &Path) -> Result<PathBuf, Error> {
    let is_free = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_free || folder.is_file() {
        return Err(Error::usage(format!("{} is not empty", folder.display())).hint("--keep wants a new folder"));
    }
    Ok(folder.to_owned())
}

fn write(project: &Path) -> io::Result<()> {
    for (path, content) in PROJECT {
        let path = project.join(path);
        fs::create_dir_all(path.parent().unwrap_or(project))?;
        fs::write(path, content)?;
    }
    Ok(())
}
