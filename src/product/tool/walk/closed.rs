//! Which entries of a walk are closed, by `sandbox.deny_read` or by a permission rule.
//!
//! A walk follows no link below its root, so an entry's true path is the root's true path and the rest: no entry is
//! asked for its canonical form, and globs that cannot match below the root are dropped before the walk.

use std::path::{Path, PathBuf};

use crate::base::path::canonical;
use crate::product::tool::workspace::{By, Globs, Workspace};

/// The globs that can match below one root.
pub struct Closed {
    globs: Vec<(By, Globs)>,
    root: PathBuf,
    /// The root with its links followed, where that differs.
    canonical: Option<PathBuf>,
}

impl Closed {
    /// What is closed below `root`, an absolute path.
    pub fn below(workspace: &Workspace, root: &Path) -> Self {
        let canonical = Some(canonical(root)).filter(|canonical| canonical != root);
        let roots = [Some(root), canonical.as_deref()];
        let may_match = |glob: &globset::Glob| {
            let prefix = literal_prefix(glob.glob());
            roots.iter().flatten().any(|root| prefix.starts_with(root) || root.starts_with(prefix))
        };
        let relevant = workspace.closed().iter().filter_map(|(by, globs)| Some((*by, globs.filtered(may_match)?)));
        Self { globs: relevant.collect(), root: root.to_owned(), canonical }
    }

    /// What closes an entry below the root. `path` begins with the root as it was given.
    pub fn by(&self, path: &Path) -> Option<By> {
        if self.globs.is_empty() {
            return None;
        }
        let closing = |path: &Path| self.globs.iter().find(|(_, globs)| globs.is_match(path)).map(|(by, _)| *by);
        closing(path).or_else(|| {
            let canonical = self.canonical.as_ref()?;
            closing(&canonical.join(path.strip_prefix(&self.root).ok()?))
        })
    }
}

/// The folders at a glob's beginning that hold no wildcard.
fn literal_prefix(glob: &str) -> &Path {
    let end = glob.find(['*', '?', '[', '{', '\\']).unwrap_or(glob.len());
    let literal = glob.get(..end).unwrap_or(glob);
    match literal.rfind('/') {
        Some(slash) if end < glob.len() => Path::new(literal.get(..=slash).unwrap_or(literal)),
        Some(_) | None => Path::new(literal),
    }
}
