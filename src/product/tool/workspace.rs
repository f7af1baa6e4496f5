//! Where the file tools work, and what they must not read there.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::base::path::{canonical, fold, open_home};
use crate::base::text::visible;
use crate::kernel::tool::{Subject, echo};

/// The folder a session works in, and the paths that are closed to our own tools.
#[derive(Clone, Debug)]
pub struct Workspace {
    cwd: PathBuf,
    home: Option<PathBuf>,
    closed: [(By, Globs); 2],
}

/// What closes a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The setting `sandbox.deny_read`, to every tool.
    Setting,
    /// A rule of `permissions.deny`, to the tools it names.
    Rule,
}

impl By {
    /// As the model is told.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Setting => "sandbox.deny_read",
            Self::Rule => "a permission rule",
        }
    }
}

/// Globs of absolute paths, one by one and together.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    each: Vec<Glob>,
    set: GlobSet,
}

impl Globs {
    /// Several globs as one.
    ///
    /// # Errors
    ///
    /// When together they are too big to compile.
    pub fn new(each: Vec<Glob>) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for glob in &each {
            set.add(glob.clone());
        }
        let set = set.build().map_err(|error| error.to_string())?;
        Ok(Self { each, set })
    }

    /// Those that pass, or nothing if none does.
    pub fn filtered(&self, passes: impl Fn(&Glob) -> bool) -> Option<Self> {
        let each: Vec<_> = self.each.iter().filter(|glob| passes(glob)).cloned().collect();
        // Together all of them compiled, so a part of them does.
        if each.is_empty() { None } else { Self::new(each).ok() }
    }

    /// Whether any matches a path.
    pub fn is_match(&self, path: &Path) -> bool {
        self.set.is_match(path)
    }
}

impl Workspace {
    /// A workspace at `cwd` (absolute). `deny_read` are globs, relative to `cwd` unless absolute or under `~`; one that
    /// names a folder closes everything below it.
    ///
    /// # Errors
    ///
    /// The pattern that is no glob, and why.
    pub fn new(cwd: PathBuf, home: Option<PathBuf>, deny_read: &[String]) -> Result<Self, String> {
        let mut closed_globs = Vec::new();
        let folders = [Some(cwd.clone()), cwd.canonicalize().ok().filter(|true_cwd| *true_cwd != cwd)];
        for pattern in deny_read {
            for base in folders.iter().flatten() {
                let absolute = expand(pattern, base, home.as_deref());
                for glob in [absolute.clone(), format!("{}/**", absolute.trim_end_matches('/'))] {
                    let glob = GlobBuilder::new(&glob).literal_separator(true).build();
                    closed_globs
                        .push(glob.map_err(|error| format!("{}: {}", visible::line(&echo(pattern)), error.kind()))?);
                }
            }
        }
        let closed = [(By::Setting, Globs::new(closed_globs)?), (By::Rule, Globs::default())];
        Ok(Self { cwd, home, closed })
    }

    /// The same workspace for a tool from which rules keep what these globs match; they are absolute.
    ///
    /// # Errors
    ///
    /// When together they are too big to compile.
    pub fn with_rules(&self, globs: Vec<Glob>) -> Result<Self, String> {
        let [setting, _] = self.closed.clone();
        Ok(Self { closed: [setting, (By::Rule, Globs::new(globs)?)], ..self.clone() })
    }

    /// The working directory, absolute.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The absolute form of a path the model wrote: `~` opened, `.` and `..` folded away, links not followed.
    pub fn resolve(&self, path: &str) -> PathBuf {
        fold(&open_home(Path::new(path), &self.cwd, self.home.as_deref()))
    }

    /// How a path is shown: relative to the working directory where it lies below it, on one line that hides nothing.
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => visible::line(&inside.to_string_lossy()).into_owned(),
            Err(_) => visible::line(&path.to_string_lossy()).into_owned(),
        }
    }

    /// How a message names a path the model passed: as it is shown, a long one without its middle.
    pub fn named(&self, path: &Path) -> String {
        echo(&self.shown(path)).into_owned()
    }

    /// The globs of what is closed; a walk picks those that can match below it instead of asking
    /// [`Workspace::closed_by`] about every entry.
    pub fn closed(&self) -> &[(By, Globs); 2] {
        &self.closed
    }

    /// What closes the path to our tools: it, or what it links to.
    pub fn closed_by(&self, path: &Path) -> Option<By> {
        let closing = |path: &Path| self.closed.iter().find(|(_, globs)| globs.is_match(path)).map(|(by, _)| *by);
        if self.closed.iter().all(|(_, globs)| globs.each.is_empty()) {
            return None;
        }
        closing(path).or_else(|| closing(&canonical(path)))
    }

    /// Whether our tools may read the path: neither it nor what it links to is closed.
    pub fn may_read(&self, path: &Path) -> bool {
        self.closed_by(path).is_none()
    }
}

/// What a call reads that reads at `path`, absolute. Links are followed, as in [`writes`]: rules, closed paths and the
/// order of calls hold for a file or folder by whichever name it is reached.
pub fn reads(path: &Path) -> Subject {
    Subject::Read(vec![canonical(path)])
}

/// What a call writes that writes at `path`, absolute.
pub fn writes(path: &Path) -> Subject {
    Subject::Write(vec![canonical(path)])
}

fn expand(pattern: &str, base: &Path, home: Option<&Path>) -> String {
    let home = home.map(literal);
    fold(&open_home(Path::new(pattern), &literal(base), home.as_deref())).display().to_string()
}

/// A folder's path as a glob that matches nothing else: folders may have brackets in their names.
fn literal(folder: &Path) -> PathBuf {
    globset::escape(&folder.to_string_lossy()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_folders_are_closed_by_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::create_dir(cwd.join("secret")).unwrap();
        std::fs::write(cwd.join("secret/key"), "k").unwrap();
        std::os::unix::fs::symlink("secret/key", cwd.join("innocent")).unwrap();
        let home = cwd.join("home");
        let workspace =
            Workspace::new(cwd.clone(), Some(home), &["secret".into(), "~/.ssh".into(), "**/*.pem".into()]).unwrap();
        for closed in ["secret", "secret/key", "./x/../secret/key", "innocent", "~/.ssh/id", "a/b.pem", "secret/new"] {
            assert!(!workspace.may_read(&workspace.resolve(closed)), "{closed}");
        }
        for open in [".", "secrets", "home/ssh", "a/b.pe"] {
            assert!(workspace.may_read(&workspace.resolve(open)), "{open}");
        }
        assert_eq!(workspace.shown(&cwd.join("a/b")), "a/b");
    }

    #[test]
    fn brackets_in_the_working_directory_open_nothing() {
        let cwd = PathBuf::from("/nowhere/[app]");
        let workspace = Workspace::new(cwd.clone(), None, &["secret/**".into()]).unwrap();
        assert!(!workspace.may_read(&cwd.join("secret/key")));
        assert!(workspace.may_read(&cwd.join("secrets")));
    }
}
