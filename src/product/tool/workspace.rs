//! Where the file tools work, and what they must not read there.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::base::path::{canonical, fold, open_home};
use crate::base::text::visible;
use crate::kernel::tool::{Subject, echo};

/// The folder a session works in, and the paths that are closed to our own tools.
#[derive(Debug)]
pub struct Workspace {
    cwd: PathBuf,
    home: Option<PathBuf>,
    closed: GlobSet,
    closed_globs: Vec<Glob>,
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
        let closed = set(&closed_globs)?;
        Ok(Self { cwd, home, closed, closed_globs })
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

    /// The globs of `deny_read`, absolute; a walk picks those that can match below it instead of asking
    /// [`Workspace::may_read`] about every entry.
    pub fn closed_globs(&self) -> &[Glob] {
        &self.closed_globs
    }

    /// Whether our tools may read the path: neither it nor what it links to is closed.
    pub fn may_read(&self, path: &Path) -> bool {
        if self.closed.is_empty() {
            return true;
        }
        !self.closed.is_match(path) && !self.closed.is_match(canonical(path))
    }
}

/// One set of several globs.
///
/// # Errors
///
/// When together they are too big to compile.
pub fn set<'a>(globs: impl IntoIterator<Item = &'a Glob>) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob.clone());
    }
    set.build().map_err(|error| error.to_string())
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
