//! What is to be remembered beyond a session: lines of `MEMORY.md`, the user's and the project's.
//!
//! Adds lines and nothing else; taking some out is for people and their editor.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::path::{canonical, shown};
use crate::base::text::mask::Mask;
use crate::base::text::numbers::grouped;
use crate::base::text::visible;
use crate::base::zone;
use crate::product::error::Error;
use crate::product::files::{self, FileError};
use crate::product::repository;

/// The largest file of what is remembered, in bytes: half of what all rules together may take.
pub const MOST_BYTES: usize = 16 * 1024;
/// The longest text that is remembered at once, in characters: a paragraph. What is longer is a document.
pub const MOST_CHARS: usize = 1_000;

/// The file's name, wherever it is.
const NAME: &str = "MEMORY.md";
/// Where a project's file is, below the root of its repository.
const FOLDER: &str = ".viola";
/// What a new file begins with.
const TITLE: &str = "# Memory\n\n";
/// The name beside which the lock for all writers of this user lies: a lock in the project would be seen by git.
const LOCK: &str = "memory";
/// How long another writer is waited for: writing takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// For whom something is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The user, in every project.
    User,
    /// Whoever works on this project.
    #[default]
    Project,
}

/// Where the user's file is; it need not exist.
pub(super) fn user_path(config_dir: &Path) -> PathBuf {
    config_dir.join(NAME)
}

/// Where a project's file is; it need not exist.
pub(super) fn project_path(root: &Path) -> PathBuf {
    root.join(FOLDER).join(NAME)
}

/// Both files, and what is needed to add to them.
#[derive(Clone, Debug)]
pub struct Memory {
    config_dir: PathBuf,
    /// The root of the repository, else the working directory; links followed.
    root: PathBuf,
    home: Option<PathBuf>,
    clock: Clock,
    zone: TimeZone,
    mask: Mask,
}

impl Memory {
    /// The memory of a session in `env.cwd`. What `mask` hides is not written.
    pub fn new(env: &Env, config_dir: PathBuf, clock: Clock, mask: Mask) -> Self {
        let cwd = canonical(&env.cwd);
        let root = repository::root(&cwd).unwrap_or(&cwd).to_owned();
        Self { config_dir, root, home: env.home.clone(), clock, zone: zone::local(env), mask }
    }

    /// The file; it need not exist.
    pub fn path(&self, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => user_path(&self.config_dir),
            Scope::Project => project_path(&self.root),
        }
    }

    /// The user's home folder, for showing paths.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Adds a line with today's date, and returns the file. What is there already is not added again.
    ///
    /// # Errors
    ///
    /// Usage: nothing to remember, or too much. Failed: the file is full, leads out of the project, or cannot be written.
    pub fn remember(&self, scope: Scope, text: &str) -> Result<PathBuf, Error> {
        let line = self.line(text)?;
        let path = self.path(scope);
        let name = shown(&path, self.home.as_deref());
        let real = canonical(&path);
        if scope == Scope::Project && !real.starts_with(&self.root) {
            return Err(Error::failed(format!("{name} leads out of the project")).hint("remove the link"));
        }
        let failed = |error: FileError| Error::failed("nothing was remembered").caused_by(error);
        let _lock = files::locked(&self.config_dir.join(LOCK), PATIENCE).map_err(failed)?;
        let mut content = files::read_text(&real).map_err(failed)?.unwrap_or_default();
        if content.lines().any(|known| without_date(known) == Some(line.as_str())) {
            return Ok(path);
        }
        if content.is_empty() {
            content.push_str(TITLE);
        } else if !content.ends_with('\n') {
            content.push('\n');
        }
        content.push_str(&format!("- {}: {line}\n", self.today()));
        if content.len() > MOST_BYTES {
            let most = grouped(MOST_BYTES as u64);
            return Err(Error::failed(format!("{name} is full: it may have {most} bytes"))
                .hint("take out of it what no longer holds, or move it to AGENTS.md"));
        }
        let folder = real.parent().map_or(Ok(()), files::create_folder);
        folder
            .and_then(|()| files::replace(&real, content.as_bytes()))
            .map_err(|source| Error::failed(format!("{name} cannot be written")).caused_by(source))?;
        Ok(path)
    }

    /// One line that holds all of a text.
    fn line(&self, text: &str) -> Result<String, Error> {
        let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.mask.apply(&mut line);
        let line = visible::line(line.strip_prefix("- ").unwrap_or(&line)).into_owned();
        if !line.contains(char::is_alphanumeric) {
            return Err(Error::usage("there is nothing to remember").hint("say it in one sentence"));
        }
        let chars = line.chars().count();
        if chars > MOST_CHARS {
            let (chars, most) = (grouped(chars as u64), grouped(MOST_CHARS as u64));
            return Err(Error::usage(format!("that is too long to remember: {chars} of at most {most} characters"))
                .hint("say it in a sentence or two, or write it into a file of its own"));
        }
        Ok(line)
    }

    fn today(&self) -> String {
        let now = Timestamp::from_millisecond(self.clock.now_ms()).unwrap_or_default();
        self.zone.to_datetime(now).strftime("%Y-%m-%d").to_string()
    }
}

/// What a line says, if it is one of ours.
fn without_date(line: &str) -> Option<&str> {
    let (date, text) = line.strip_prefix("- ")?.split_once(": ")?;
    let is_date = date.len() == 10 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_date.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A project below a user's home, one day in 2026.
    fn memory(top: &Path) -> Memory {
        fs::create_dir_all(top.join("home/project/.git")).unwrap();
        fs::create_dir_all(top.join("home/project/src")).unwrap();
        let home = top.join("home");
        let mut env = Env { cwd: home.join("project/src"), home: Some(home), ..Env::default() };
        env.vars.insert("TZ".into(), "UTC0".into());
        Memory::new(&env, top.join("config"), Clock::Fixed(1_796_000_000_000), Mask::new(["secret-key-9"]))
    }

    #[test]
    fn lines_are_added_with_their_date_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let memory = memory(&top);
        let path = memory.remember(Scope::Project, "- Tests need\n  `make db` first; key secret-key-9.").unwrap();
        assert_eq!(path, top.join("home/project/.viola/MEMORY.md"));
        memory.remember(Scope::Project, "Tests need `make db` first; key secret-key-9.").unwrap();
        memory.remember(Scope::Project, "Second\u{202e}.").unwrap();
        let told = "# Memory\n\n- 2026-11-30: Tests need `make db` first; key [secret].\n- 2026-11-30: Second⟨RLO⟩.\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), told);
        let user = memory.remember(Scope::User, "I like tea.").unwrap();
        assert_eq!((&user, user == memory.path(Scope::User)), (&top.join("config/MEMORY.md"), true));
        let beside: Vec<_> =
            fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(beside, ["MEMORY.md"], "git sees no lock and no rest");
    }

    #[test]
    fn what_people_wrote_stays() {
        let folder = tempfile::tempdir().unwrap();
        let memory = memory(&folder.path().canonicalize().unwrap());
        let path = memory.path(Scope::User);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine\r\nno end").unwrap();
        memory.remember(Scope::User, "x").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine\r\nno end\n- 2026-11-30: x\n");
    }

    #[test]
    fn too_much_too_little_and_elsewhere_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let memory = memory(&top);
        let refused = |text: &str| memory.remember(Scope::Project, text).unwrap_err();
        assert_eq!(refused(" \n- ").message, "there is nothing to remember");
        assert!(refused(&"ß".repeat(MOST_CHARS + 1)).message.ends_with("1,001 of at most 1,000 characters"));
        let path = memory.path(Scope::Project);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x".repeat(MOST_BYTES - 10)).unwrap();
        let full = refused("one more");
        assert!(full.message.ends_with("is full: it may have 16,384 bytes") && !full.hints.is_empty(), "{full}");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(top.join("home/.profile"), &path).unwrap();
        assert_eq!(refused("evil").message, "~/project/.viola/MEMORY.md leads out of the project");
        assert!(!top.join("home/.profile").exists());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(refused("x").to_string().starts_with("nothing was remembered: "));
    }
}
