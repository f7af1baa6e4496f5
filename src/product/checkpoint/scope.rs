//! Which paths of a workspace are covered: not dependencies, builds and caches, and nothing of a repository's own.
//!
//! By name alone; what is ignored is for the walk to say.

use std::ffi::OsStr;
use std::path::Path;

/// Folders of dependencies and caches, whoever made them; never covered.
const NEVER: [&str; 32] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "node_modules",
    "bower_components",
    "jspm_packages",
    ".yarn",
    ".pnpm-store",
    ".venv",
    "venv",
    "__pycache__",
    ".eggs",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".cache",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".terraform",
    ".direnv",
    ".dart_tool",
    ".zig-cache",
    "DerivedData",
];

/// Folders of builds by custom; covered only where git tracks what is in them.
const BUILDS: [&str; 3] = ["target", "dist", "build"];

/// What a folder's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// It is covered.
    Covered,
    /// It is one of builds, unless git tracks files in it.
    Build,
    /// It is not covered.
    Never,
}

/// What a folder's name says.
pub fn folder(name: &OsStr) -> Folder {
    if NEVER.iter().any(|never| name == *never) {
        Folder::Never
    } else if BUILDS.iter().any(|build| name == *build) {
        Folder::Build
    } else {
        Folder::Covered
    }
}

/// Whether a path below the root of a workspace, folder or file, can be covered. `tracked` says of a folder whether git
/// tracks something in it.
pub fn covers(path: &Path, tracked: impl Fn(&Path) -> bool) -> bool {
    let mut so_far = std::path::PathBuf::new();
    path.parent().into_iter().flat_map(Path::components).all(|part| {
        so_far.push(part);
        match folder(part.as_os_str()) {
            Folder::Covered => true,
            Folder::Build => tracked(&so_far),
            Folder::Never => false,
        }
    }) && path.file_name().is_none_or(|name| name != ".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_builds_and_caches_are_not_covered() {
        let covered = |path: &str| covers(path.as_ref(), |folder| folder == Path::new("src/build"));
        for path in ["a", "src/a.rs", ".env", "docs/target.md", "target", "src/build/x.sh", ".github/workflows/ci.yml"]
        {
            assert!(covered(path), "{path}");
        }
        for path in ["node_modules/x.js", "web/node_modules/a/b", "target/debug/x", "build/x", "a/.git/HEAD", ".git"] {
            assert!(!covered(path), "{path}");
        }
    }
}
