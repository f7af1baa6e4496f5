//! The environment of commands: secrets are kept from them, and what would ask a person something is told not to.
//!
//! Decides by names and by the shape of values; it never looks into files and never changes the agent's own environment.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use rustix::fs::Access;

use crate::base::env::Env;
use crate::base::secret::{SHORTEST_BYTES, is_secret_name};

/// What commands get to see of the agent's environment.
#[derive(Clone, Debug)]
pub struct CommandEnv {
    vars: BTreeMap<OsString, OsString>,
    withheld: Vec<String>,
}

/// The key that belongs to whatever provider was named at start.
const OWN_KEY: &str = "VIOLA_API_KEY";

/// Turns off prompts, editors and pagers.
///
/// `NO_COLOR` is not among them: it would change what tests of coloured output see, and colours are cleaned away anyway.
/// Neither is `GIT_SSH_COMMAND`: it would override `core.sshCommand`, and without a terminal ssh cannot ask.
const QUIET: [(&str, &str); 13] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    // Leaves the text as it is: `git commit` without a message ends at once, `git rebase --continue` goes on.
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Set but empty: git then looks no further, neither at `core.askPass` nor at SSH_ASKPASS.
    ("GIT_ASKPASS", ""),
    ("GCM_INTERACTIVE", "never"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// Programs that open a window to ask for a password, and a folder that is no longer the previous one.
const DROPPED: [&str; 3] = ["SSH_ASKPASS", "SUDO_ASKPASS", "OLDPWD"];

impl CommandEnv {
    /// Filters `env`. `key_names` are the variables of providers' keys: those, and others that hold the same value, pass
    /// only if `allow` names them literally. Other secrets also pass if a glob of `allow` matches their name.
    ///
    /// # Errors
    ///
    /// The entry of `allow` that is no glob, and why.
    pub fn new(env: &Env, key_names: &[String], allow: &[String]) -> Result<Self, String> {
        let allowed = globs(allow)?;
        let is_key = |name: &str| name == OWN_KEY || key_names.iter().any(|key| key == name);
        let keys: Vec<&OsStr> = env
            .vars
            .iter()
            .filter(|(name, value)| value.len() >= SHORTEST_BYTES && name.to_str().is_some_and(is_key))
            .map(|(_, value)| value.as_os_str())
            .collect();
        let mut vars = BTreeMap::new();
        let mut withheld = Vec::new();
        for (name, value) in &env.vars {
            let spelled = name.to_string_lossy();
            let literally = allow.iter().any(|entry| *entry == spelled);
            let passes = literally
                || if is_key(&spelled) || keys.contains(&value.as_os_str()) {
                    false
                } else {
                    allowed.is_match(spelled.as_ref()) || !(is_secret_name(&spelled) || is_secret_value(value))
                };
            if passes {
                vars.insert(name.clone(), value.clone());
            } else {
                withheld.push(spelled.into_owned());
            }
        }
        for name in DROPPED {
            vars.remove(OsStr::new(name));
        }
        vars.extend(QUIET.map(|(name, value)| (OsString::from(name), OsString::from(value))));
        Ok(Self { vars, withheld })
    }

    /// The same with one more variable.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut more = self.clone();
        more.vars.insert(name.into(), value.into());
        more
    }

    /// The variables of a command.
    pub fn vars(&self) -> &BTreeMap<OsString, OsString> {
        &self.vars
    }

    /// The names of the variables that were kept from commands, sorted.
    pub fn withheld(&self) -> &[String] {
        &self.withheld
    }

    /// The shell that runs commands: the first `bash` in `PATH`, else the first `sh`.
    pub fn shell(&self) -> Option<PathBuf> {
        // What the C library assumes where there is no PATH.
        let path =
            self.vars.get(OsStr::new("PATH")).map_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"), OsString::as_os_str);
        let folders: Vec<&Path> =
            path.as_bytes().split(|byte| *byte == b':').map(|folder| Path::new(OsStr::from_bytes(folder))).collect();
        ["bash", "sh"].into_iter().find_map(|name| {
            // A relative folder would let the workspace choose the shell.
            folders
                .iter()
                .filter(|folder| folder.is_absolute())
                .map(|folder| folder.join(name))
                .find(|path| is_program(path))
        })
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| format!("{pattern}: {}", error.kind()))?);
    }
    set.build().map_err(|error| error.to_string())
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// Whether a value is a secret by its shape: a private key, or an address with a password in it.
fn is_secret_value(value: &OsStr) -> bool {
    let Some(value) = value.to_str() else { return false };
    value.contains("PRIVATE KEY-----")
        || value.match_indices("://").any(|(at, _)| has_password(value, at + "://".len()))
}

/// Whether the authority that begins at `start` is `user:password@host`.
fn has_password(address: &str, start: usize) -> bool {
    let authority = address.get(start..).and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let password = authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':')).map(|(_, password)| password);
    password.is_some_and(|password| !password.is_empty())
}
