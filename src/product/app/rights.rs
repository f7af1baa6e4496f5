//! From settings to rights: the rules, the grant, and where files may be written.
//!
//! What they mean for a call is for `product::permission` to say.

use std::path::{Path, PathBuf};

use crate::base::env::Env;
use crate::base::path::canonical;
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::config::Loaded;
use crate::product::config::settings::{Mode, SandboxMode};
use crate::product::error::Error;
use crate::product::permission::{Authority, Grant, Judge, Rule, Writable};
use crate::product::repository;

use super::wrong;

/// The rules of the settings.
pub(super) struct Rules {
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    /// Calls that never run; the tools that walk folders close what is denied to them.
    pub(super) deny: Vec<Rule>,
}

/// Reads the rules.
///
/// # Errors
///
/// Usage for a rule that cannot be used. A project's own is left out, with a notice: somebody else's file must not keep
/// the program from starting.
pub(super) fn rules(loaded: &Loaded, env: &Env, notices: &mut Vec<Notice>) -> Result<Rules, Error> {
    let permissions = &loaded.settings.permissions;
    let mut rules = |key: &str, texts: &[String]| -> Result<Vec<Rule>, Error> {
        let mut rules = Vec::new();
        for text in texts {
            match Rule::parse(text, &env.cwd).map_err(|error| wrong(loaded, key, Some(text), error)) {
                Ok(rule) => rules.push(rule),
                Err(error) if loaded.values.is_of_project(key, text) => {
                    notices.push(Notice::new(NoticeCode::Config, format!("{error}; the rule is left out")));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(rules)
    };
    Ok(Rules {
        allow: rules("permissions.allow", &permissions.allow)?,
        ask: rules("permissions.ask", &permissions.ask)?,
        deny: rules("permissions.deny", &permissions.deny)?,
    })
}

/// The judge of a run that begins with what `grant` says, where the settings leave that to the session.
///
/// # Errors
///
/// Usage for a path that cannot be used.
pub(super) fn judge(loaded: &Loaded, env: &Env, rules: Rules, grant: Option<Grant>) -> Result<Judge, Error> {
    let permissions = &loaded.settings.permissions;
    let authority = match permissions.mode {
        Mode::All => Authority::Chosen(Grant::All),
        Mode::Write => Authority::Chosen(Grant::Write),
        Mode::Safe => Authority::Chosen(Grant::Safe),
        Mode::None => Authority::Chosen(Grant::None),
        Mode::Ask => Authority::AskEach,
        Mode::Session => grant.map_or(Authority::Unasked, Authority::Session),
    };
    let Rules { allow, ask, deny } = rules;
    let remembered = Vec::new();
    Ok(Judge { allow, remembered, ask, deny, authority, writable: writable(loaded, env)?, is_planning: false })
}

/// What a grant counts for where nobody watches: what was allowed under somebody's eyes is no leave to run commands.
pub(super) fn unwatched(grant: Grant) -> Grant {
    match grant {
        Grant::All | Grant::Write => Grant::Write,
        Grant::Safe => Grant::Safe,
        Grant::None => Grant::None,
    }
}

fn writable(loaded: &Loaded, env: &Env) -> Result<Writable, Error> {
    let settings = &loaded.settings;
    let root = workspace_root(env);
    if settings.sandbox.is_explicit && settings.sandbox.mode == SandboxMode::Off {
        return Ok(Writable::anywhere(root));
    }
    let temp = env.var("TMPDIR").unwrap_or("/tmp");
    let temp = canonical(&env.absolute(Path::new(temp)));
    let mut folders = vec![temp];
    let mut globs = Vec::new();
    for path in &settings.sandbox.writable {
        let absolute = env.absolute(Path::new(path));
        if path.contains(['*', '?', '[', '{']) {
            globs.push(absolute.display().to_string());
        } else {
            folders.push(canonical(&absolute));
        }
    }
    Writable::only(root, folders, &globs).map_err(|problem| wrong(loaded, "sandbox.writable", None, problem))
}

/// The repository around the working directory, else the working directory. A home folder that is a repository does not
/// count, nor does one around it: it would open everything.
fn workspace_root(env: &Env) -> PathBuf {
    let cwd = canonical(&env.cwd);
    let home = env.home.as_deref().map(canonical);
    let holds_home = |root: &Path| home.as_ref().is_some_and(|home| home.starts_with(root));
    repository::root(&cwd).filter(|root| !holds_home(root)).unwrap_or(&cwd).to_owned()
}
