//! Which entries of a walk are closed by `sandbox.deny_read`.
//!
//! A walk follows no link below its root, so an entry's true path is the root's true path and the rest: no entry is
//! asked for its canonical form, and globs that cannot match below the root are dropped before the walk.

use std::path::{Path, PathBuf};

use globset::GlobSet;

use crate::base::path::canonical;
use crate::product::tool::workspace::{Workspace, set};

/// The globs that can match below one root.
pub struct Closed {
    globs: Option<GlobSet>,
    root: PathBuf,
    /// The root with its links followed, where that differs.
    canonical: Option<PathBuf>,
}

impl Closed {
    /// What is closed below `root`, an absolute path.
    pub fn below(workspace: &Workspace, root: &Path) -> Self {
        let canonical = Some(canonical(root)).filter(|canonical| canonical != root);
        let relevant: Vec<_> = workspace
            .closed_globs()
            .iter()
            .filter(|glob| {
                let prefix = literal_prefix(glob.glob());
                [Some(root), canonical.as_deref()]
                    .into_iter()
                    .flatten()
                    .any(|root| prefix.starts_with(root) || root.starts_with(prefix))
            })
            .collect();
        // Together these globs compiled when the workspace was made, so a part of them does.
        let globs = if relevant.is_empty() { None } else { set(relevant).ok() };
        Self { globs, root: root.to_owned(), canonical }
    }

    /// Whether an entry below the root is closed. `path` begins with the root as it was given.
    pub fn contains(&self, path: &Path) -> bool {
        let Some(globs) = &self.globs else { return false };
        if globs.is_match(path) {
            return true;
        }
        let (Some(canonical), Ok(below)) = (&self.canonical, path.strip_prefix(&self.root)) else { return false };
        globs.is_match(canonical.join(below))
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
