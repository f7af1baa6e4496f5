//! What "always" stands for: which rules a call suggests, and the file in which a project's are kept.
//!
//! A rule suggested here is only an offer: it counts as far as the judge says, which lets `deny`, `ask` and the guards win.

use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use crate::base::path::fold;
use crate::base::text::visible;
use crate::kernel::event::{Notice, NoticeCode};
use crate::kernel::port::PendingCall;
use crate::kernel::tool::Subject;
use crate::product::files::{self, FileError};

use super::Rule;

/// Programs whose first word says what they do. Of those that run a script by its name the third word is needed too.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt", "brew", "bun", "cargo", "conda", "deno", "docker", "dotnet", "flutter", "gh", "git", "go", "gradle", "helm",
    "jj", "just", "kubectl", "make", "mix", "mvn", "ninja", "npm", "pip", "pip3", "pnpm", "podman", "poetry", "rake",
    "rustup", "swift", "uv", "yarn",
];

/// Programs that run scripts of the project by name: `npm run build`.
const WITH_SCRIPTS: &[&str] = &["bun", "deno", "npm", "pnpm", "yarn"];

/// Subcommands that run what their arguments say, make later commands run something else, or throw work away.
const OPEN_SUBCOMMANDS: &[&str] = &[
    "alias",
    "api",
    "bisect",
    "clean",
    "compose",
    "config",
    "debug",
    "dlx",
    "eval",
    "exec",
    "extension",
    "filter-branch",
    "push",
    "rebase",
    "remote",
    "repl",
    "reset",
    "run",
    "shell",
    "submodule",
    "submit",
    "tool",
    "x",
];

/// Programs that run what their arguments say.
const INTERPRETERS: &[&str] = &[
    ".",
    "awk",
    "ansible",
    "at",
    "bash",
    "bunx",
    "builtin",
    "busybox",
    "bundle",
    "bwrap",
    "chroot",
    "chrt",
    "command",
    "csh",
    "dash",
    "doas",
    "ed",
    "elvish",
    "emacs",
    "entr",
    "env",
    "eval",
    "ex",
    "exec",
    "expect",
    "fd",
    "find",
    "fish",
    "flock",
    "gawk",
    "gdb",
    "ionice",
    "irb",
    "java",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "mawk",
    "mysql",
    "nice",
    "nix",
    "nohup",
    "node",
    "npx",
    "nsenter",
    "nvim",
    "osascript",
    "parallel",
    "perl",
    "php",
    "pipx",
    "psql",
    "pwsh",
    "python",
    "rscript",
    "ruby",
    "run-parts",
    "script",
    "sed",
    "setsid",
    "sh",
    "source",
    "sqlite",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "tclsh",
    "time",
    "timeout",
    "unshare",
    "uvx",
    "vi",
    "vim",
    "watch",
    "xargs",
];

/// Programs that destroy or overwrite what their arguments name, or send it away.
const DESTROYERS: &[&str] = &[
    "chgrp",
    "chmod",
    "chown",
    "cp",
    "crontab",
    "curl",
    "dd",
    "ftp",
    "install",
    "kill",
    "killall",
    "ln",
    "mkfs",
    "mount",
    "mv",
    "nc",
    "pkill",
    "reboot",
    "rm",
    "rmdir",
    "rsync",
    "scp",
    "sftp",
    "shred",
    "shutdown",
    "systemctl",
    "tar",
    "tee",
    "truncate",
    "unlink",
    "wget",
];

/// The rules that "always" could mean for a call, widest first; none where nothing fits. Relative paths are from `root`.
pub fn rules(call: &PendingCall, root: &Path) -> Vec<Rule> {
    let tool = &call.call.name;
    let patterns: Vec<String> = match &call.subject {
        Subject::Command(line) => of_command(line.trim()),
        Subject::Read(paths) | Subject::Write(paths) => of_paths(paths, root),
        Subject::Url(url) => of_url(url).into_iter().collect(),
        Subject::Task(_) | Subject::Other => return Rule::parse(&globset::escape(tool), root).into_iter().collect(),
    };
    patterns.iter().filter_map(|pattern| Rule::parse(&format!("{tool}({pattern})"), root).ok()).collect()
}

/// Everything of the address's host, by the same scheme.
fn of_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())?;
    Some(format!("{}://{}/*", globset::escape(scheme), globset::escape(host)))
}

/// A prefix of the command, if it may have one, then the command as it is.
fn of_command(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let prefix = prefix_words(&words).and_then(|count| words.get(..count));
    prefix.map(|prefix| format!("{} *", prefix.join(" "))).into_iter().chain([line.to_owned()]).collect()
}

/// How many words of a command say what it does; `None` where only all of them do.
fn prefix_words(words: &[&str]) -> Option<usize> {
    let first = *words.first()?;
    let name = first.rsplit('/').next().unwrap_or(first).to_ascii_lowercase();
    // `python3.12` is `python`.
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-');
    let is_one_of = |list: &[&str]| list.contains(&name.as_str()) || list.contains(&plain);
    if is_one_of(INTERPRETERS) || is_one_of(DESTROYERS) {
        return None;
    }
    if !WITH_SUBCOMMANDS.contains(&name.as_str()) {
        return Some(1);
    }
    // Options before the subcommand may change what it does: `git -c alias.x=!sh x`.
    let second = words.get(1).filter(|word| is_name(word))?;
    if WITH_SCRIPTS.contains(&name.as_str()) && ["run", "run-script", "task"].contains(second) {
        return words.get(2).filter(|word| is_name(word)).map(|_| 3);
    }
    // `cargo run` runs the project, as `cargo test` does.
    let is_open = OPEN_SUBCOMMANDS.contains(second) && (name.as_str(), *second) != ("cargo", "run");
    (!is_open).then_some(2)
}

fn is_name(word: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':' | '.');
    word.starts_with(|letter: char| letter.is_ascii_alphabetic()) && word.chars().all(letters)
}

/// The folder of the only path, then the path itself; of the root only what lies in it without a folder. Several paths,
/// and one outside, suggest nothing.
fn of_paths(paths: &[PathBuf], root: &Path) -> Vec<String> {
    let [path] = paths else { return Vec::new() };
    let path = fold(path);
    let Ok(inside) = path.strip_prefix(root) else { return Vec::new() };
    let spelt = |path: &Path| path.to_str().map(globset::escape);
    let folder = inside.parent().and_then(spelt).map(|folder| match folder.as_str() {
        "" => "*".to_owned(),
        folder => format!("{folder}/**"),
    });
    folder.into_iter().chain(spelt(inside)).collect()
}

/// The file in which a project's rules for "always" are kept, in the user's own data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    file: PathBuf,
    root: PathBuf,
}

/// Why a rule could not be kept.
#[derive(Debug, Error)]
pub enum RememberError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// It says something else than rules.
    #[error("{}: \"{ALLOW}\" is no list of texts", .0.display())]
    Shape(PathBuf),
}

/// The key under which the rules stand.
const ALLOW: &str = "allow";
/// The key that says for which project they are, for who reads the file.
const ROOT: &str = "root";

impl Remembered {
    /// The rules of the project at `root`, which are in `file`, or will be.
    pub fn new(file: PathBuf, root: PathBuf) -> Self {
        Self { file, root }
    }

    /// The rules. A file, or a rule in it, that cannot be used is left as it is and told about.
    pub fn load(&self) -> (Vec<Rule>, Vec<Notice>) {
        let left_out = |problem: &str| {
            let text = format!("{problem}; what was always allowed here is asked about again.");
            Notice::new(NoticeCode::Config, visible::line(&text).into_owned())
        };
        let texts = match files::read(&self.file) {
            Ok(None) => return (Vec::new(), Vec::new()),
            Ok(Some(document)) => match document.object.get(ALLOW).map_or(Some(Vec::new()), texts) {
                Some(texts) => texts,
                None => {
                    let problem = RememberError::Shape(self.file.clone()).to_string();
                    return (Vec::new(), vec![left_out(&problem)]);
                }
            },
            Err(problem) => return (Vec::new(), vec![left_out(&problem.to_string())]),
        };
        let (mut rules, mut notices) = (Vec::new(), Vec::new());
        for text in texts {
            match Rule::parse(&text, &self.root) {
                Ok(rule) => rules.push(rule),
                Err(error) => notices.push(left_out(&format!("{}: {error}", self.file.display()))),
            }
        }
        (rules, notices)
    }

    /// Adds a rule to what is in the file by now.
    ///
    /// # Errors
    ///
    /// A file that is broken, which is left as it is, or cannot be written.
    pub fn add(&self, rule: &str) -> Result<(), RememberError> {
        // Looked at before the update, which would write a file of another shape anew.
        if let Some(document) = files::read(&self.file)?
            && document.object.get(ALLOW).is_some_and(|value| texts(value).is_none())
        {
            return Err(RememberError::Shape(self.file.clone()));
        }
        files::update(&self.file, |object| {
            object.entry(ROOT).or_insert_with(|| self.root.to_string_lossy().into());
            let list = object.entry(ALLOW).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(rules) = list
                && !rules.iter().any(|known| known == rule)
            {
                rules.push(rule.into());
            }
        })?;
        Ok(())
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests;
