//! Which paths of a workspace are covered: not dependencies, builds and caches, and nothing of a repository's own.
//!
//! By names alone, its own and of what stands beside it; what is ignored is for the walk to say.

use std::ffi::OsStr;
use std::path::Path;

use super::git::Tracked;
use crate::product::repository;

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

/// Folders of builds by custom; covered only where they hold sources, see [`holds_sources`].
const BUILDS: [&str; 3] = ["target", "dist", "build"];

/// What stands beside a folder of builds: the files that the common build programs begin with.
const MANIFESTS: [&str; 17] = [
    "Cargo.toml",
    "package.json",
    "CMakeLists.txt",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "configure",
    "meson.build",
    "build.gradle",
    "build.gradle.kts",
    "pom.xml",
    "build.sbt",
    "build.xml",
    "pyproject.toml",
    "setup.py",
    "pubspec.yaml",
    "composer.json",
];
/// What stands in one: the mark of a cache (bford.info/cachedir), and what CMake leaves where it builds.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "CMakeCache.txt"];

/// What a folder's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// It is covered.
    Covered,
    /// It is one of builds, unless it holds sources.
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

/// Whether a folder that is called as one of builds holds sources all the same: git tracks something in it, or there is no git
/// and nothing in it or beside it says that something is built there.
pub fn holds_sources(root: &Path, folder: &Path, tracked: &Tracked) -> bool {
    let full = root.join(folder);
    let is_there = |folder: &Path, name: &&str| folder.join(name).symlink_metadata().is_ok();
    let is_built = || {
        MARKS.iter().any(|name| is_there(&full, name))
            || full.parent().is_none_or(|beside| MANIFESTS.iter().any(|name| is_there(beside, name)))
    };
    tracked.has_below(folder) || repository::root(root) != Some(root) && !is_built()
}

/// Whether a path below the root of a workspace, folder or file, can be covered. `sources` says of a folder of builds whether
/// it holds sources.
pub fn covers(path: &Path, sources: impl Fn(&Path) -> bool) -> bool {
    let mut so_far = std::path::PathBuf::new();
    path.parent().into_iter().flat_map(Path::components).all(|part| {
        so_far.push(part);
        match folder(part.as_os_str()) {
            Folder::Covered => true,
            Folder::Build => sources(&so_far),
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
