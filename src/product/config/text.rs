//! Settings whose text may be in a file: `@path`.
//!
//! A project's file stays inside its repository and away from what is never read, whoever trusts the project.

use std::path::{Path, PathBuf};

use super::layer::{Problem, Source};
use super::project::Project;
use crate::base::env::Env;
use crate::base::path::canonical;
use crate::product::files;
use crate::product::tool::workspace::Workspace;

/// What a text's path is relative to, and how far it may lead.
pub struct Reach<'a> {
    /// For `~` and the working directory.
    pub env: &'a Env,
    /// For texts a project names.
    pub project: &'a Project,
    /// What is never read.
    pub deny_read: Vec<String>,
}

/// The text itself, or that of the file it names.
///
/// # Errors
///
/// A file that is missing, is no text, or is out of reach.
pub fn open(text: &str, source: &Source, reach: &Reach<'_>) -> Result<String, Problem> {
    let Some(name) = text.strip_prefix('@').filter(|name| !name.is_empty() && !name.contains('\n')) else {
        return Ok(text.to_owned());
    };
    let problem = |what: &str| Problem { message: format!("{source}: @{name}: {what}"), hint: None };
    let path = match source {
        Source::User(file) => below(file, name, reach.env),
        Source::Project(_) => confined(name, reach).map_err(problem)?,
        Source::Default | Source::Preset(_) | Source::Variable(_) | Source::Option(_) => {
            reach.env.absolute(Path::new(name))
        }
    };
    match files::read_text(&path) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(problem("no such file")),
        Err(error) => Err(problem(&error.to_string())),
    }
}

/// Relative to the folder of the file that names it.
fn below(file: &Path, name: &str, env: &Env) -> PathBuf {
    if name.starts_with('~') {
        return env.absolute(Path::new(name));
    }
    file.parent().unwrap_or(Path::new("")).join(name)
}

/// A path of the project's, links followed.
fn confined(name: &str, reach: &Reach<'_>) -> Result<PathBuf, &'static str> {
    let path = canonical(&reach.project.root.join(name));
    if !path.starts_with(&reach.project.reach) {
        return Err("outside the project, so it is not read");
    }
    let workspace = Workspace::new(reach.env.cwd.clone(), reach.env.home.clone(), &reach.deny_read);
    // A rule that cannot be understood must not open anything.
    if !workspace.is_ok_and(|workspace| workspace.may_read(&path)) {
        return Err("closed by sandbox.deny_read");
    }
    Ok(path)
}
