//! Where the file tools work, and what they must not read there.

use std::path::{Component, Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::plain;

/// Dangling links followed in a row before a path is taken as it is; the kernel's own limit.
const MAX_LINKS: u32 = 40;

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
        let folders = [Some(cwd.clone()), cwd.canonicalize().ok()];
        for pattern in deny_read {
            for base in folders.iter().flatten() {
                let absolute = expand(pattern, base, home.as_deref());
                for glob in [absolute.clone(), format!("{}/**", absolute.trim_end_matches('/'))] {
                    let glob = GlobBuilder::new(&glob).literal_separator(true).build();
                    closed_globs.push(glob.map_err(|error| format!("{pattern}: {}", error.kind()))?);
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
        let joined = match (path.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => self.cwd.join(path),
        };
        fold(&joined)
    }

    /// How a path is shown: relative to the working directory where it lies below it, without control characters.
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => plain::line(&inside.to_string_lossy()),
            Err(_) => plain::line(&path.to_string_lossy()),
        }
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

/// `path` with its links followed as far as it exists; a link to nothing yet leads to where the file would be.
pub fn canonical(path: &Path) -> PathBuf {
    follow(path, MAX_LINKS)
}

fn follow(path: &Path, links_left: u32) -> PathBuf {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(found) = existing.canonicalize() {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
            return path.to_owned();
        };
        if let (Ok(target), Some(links_left)) = (existing.read_link(), links_left.checked_sub(1)) {
            let folder = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
            let target = missing.iter().rev().fold(fold(&folder.join(target)), |path, name| path.join(name));
            return follow(&target, links_left);
        }
        missing.push(name);
        existing = parent;
    }
}

fn expand(pattern: &str, base: &Path, home: Option<&Path>) -> String {
    if let (Some(rest), Some(home)) = (pattern.strip_prefix("~/"), home) {
        return literal(home).join(rest).display().to_string();
    }
    fold(&literal(base).join(pattern)).display().to_string()
}

/// A folder's path as a glob that matches nothing else: folders may have brackets in their names.
fn literal(folder: &Path) -> PathBuf {
    globset::escape(&folder.to_string_lossy()).into()
}

fn fold(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                folded.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => folded.push(part),
        }
    }
    folded
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
    fn a_link_to_nothing_leads_to_where_the_file_would_be() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::create_dir(cwd.join("there")).unwrap();
        std::os::unix::fs::symlink("there/../there/new", cwd.join("link")).unwrap();
        std::os::unix::fs::symlink("loop", cwd.join("loop")).unwrap();
        assert_eq!(canonical(&cwd.join("link")), cwd.join("there/new"));
        assert_eq!(canonical(&cwd.join("link/below")), cwd.join("there/new/below"));
        assert_eq!(canonical(&cwd.join("loop")), cwd.join("loop"));
    }

    #[test]
    fn brackets_in_the_working_directory_open_nothing() {
        let cwd = PathBuf::from("/nowhere/[app]");
        let workspace = Workspace::new(cwd.clone(), None, &["secret/**".into()]).unwrap();
        assert!(!workspace.may_read(&cwd.join("secret/key")));
        assert!(workspace.may_read(&cwd.join("secrets")));
    }
}
