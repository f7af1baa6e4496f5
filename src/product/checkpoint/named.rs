//! The paths that a command names as plain words or globs: those are kept although they are ignored.
//!
//! Caps everywhere: a command line may name a whole disk.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::command::Reach;
use super::git::Tracked;
use super::objects::FILE_BYTES;
use super::scope;
use super::state::Name;
use crate::base::path::fold;

/// Paths of one command that are kept at most.
const MAX_PATHS: usize = 1_000;
/// Bytes of them, likewise.
const MAX_BYTES: u64 = 50 << 20;
/// Entries that are looked at for a glob or below a folder, likewise.
const MAX_ENTRIES: usize = 10_000;

/// The covered paths that a command names, relative to the root: files and links that are there, what is in the folders it
/// may remove, and files that it may make.
pub fn paths(reach: &Reach, root: &Path, cwd: &Path) -> BTreeSet<Name> {
    let mut gathered = Gathered { root, tracked: None, paths: BTreeSet::new(), bytes: 0, entries: 0 };
    for word in &reach.words {
        let path = fold(&cwd.join(word));
        if word.contains(['*', '?', '[']) && path.symlink_metadata().is_err() {
            gathered.glob(&path, reach.removes);
        } else {
            gathered.add(&path, reach.removes);
            // A word without dot or slash that is no file is hardly ever one to be.
            if word.contains(['.', '/']) && path.symlink_metadata().is_err() && path.parent().is_some_and(Path::is_dir)
            {
                gathered.insert(&path, 0);
            }
        }
    }
    if reach.cleans_ignored {
        gathered.below(root);
    }
    gathered.paths
}

struct Gathered<'a> {
    root: &'a Path,
    tracked: Option<Tracked>,
    paths: BTreeSet<Name>,
    bytes: u64,
    entries: usize,
}

impl Gathered<'_> {
    fn is_full(&self) -> bool {
        self.paths.len() >= MAX_PATHS || self.bytes >= MAX_BYTES || self.entries >= MAX_ENTRIES
    }

    fn covers(&mut self, path: &Path) -> Option<Name> {
        let name = Name(path.strip_prefix(self.root).ok()?.to_owned());
        let root = self.root;
        // Not by way of a link.
        let folder = path.parent()?;
        if folder != self.root && folder.canonicalize().ok().as_deref() != Some(folder) {
            return None;
        }
        let tracked = self.tracked.get_or_insert_with(|| Tracked::read(root));
        (name.is_inner() && scope::covers(&name.0, |folder| scope::holds_sources(self.root, folder, tracked)))
            .then_some(name)
    }

    fn insert(&mut self, path: &Path, bytes: u64) {
        if !self.is_full()
            && let Some(name) = self.covers(path)
        {
            self.bytes += bytes.min(FILE_BYTES);
            self.paths.insert(name);
        }
    }

    /// Adds a file, or what is in a folder that may be removed.
    fn add(&mut self, path: &Path, removes: bool) {
        let Ok(found) = path.symlink_metadata() else { return };
        if found.is_dir() {
            if removes && path != self.root && path.starts_with(self.root) {
                self.below(path);
            }
        } else {
            self.insert(path, found.len());
        }
    }

    fn below(&mut self, folder: &Path) {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            if folder != self.root && self.covers(&folder.join("x")).is_none() {
                continue;
            }
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                self.entries += 1;
                if self.is_full() {
                    return;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(_) => self.insert(&entry.path(), entry.metadata().map_or(0, |found| found.len())),
                    Err(_) => {}
                }
            }
        }
    }

    /// Adds what a glob means to a shell: `*` and `?` stop at slashes.
    fn glob(&mut self, pattern: &Path, removes: bool) {
        let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
        let base: PathBuf = pattern.components().take_while(is_plain).collect();
        let depth = pattern.components().count().saturating_sub(base.components().count());
        let glob = pattern.to_str().and_then(|text| GlobBuilder::new(text).literal_separator(true).build().ok());
        if let Some(glob) = glob {
            self.matching(&base, depth, &glob.compile_matcher(), removes);
        }
    }

    fn matching(&mut self, folder: &Path, depth: usize, glob: &GlobMatcher, removes: bool) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            self.entries += 1;
            if self.is_full() {
                return;
            }
            if depth > 1 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.matching(&entry.path(), depth - 1, glob, removes);
            } else if depth == 1 && glob.is_match(entry.path()) {
                self.add(&entry.path(), removes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::reach;
    use super::*;

    #[test]
    fn words_globs_and_removed_folders_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["a.log", "b.log", "sub/c.log", "sub/deep/d.txt", "node_modules/x.js", ".env"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "x").unwrap();
        }
        let named = |line: &str| {
            let paths = paths(&reach(line), &root, &root);
            paths.iter().map(Name::shown).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(named("rm *.log"), "a.log b.log");
        assert_eq!(named("rm s*/*.log"), "sub/c.log");
        assert_eq!(named("rm -rf sub node_modules"), "sub/c.log sub/deep/d.txt");
        assert_eq!(named("touch sub .env new.txt new nowhere/x"), ".env new.txt");
        assert_eq!(named("rm -rf ../ / .git/x ."), "");
        assert_eq!(named("git clean -fdX"), ".env a.log b.log sub/c.log sub/deep/d.txt");
        assert_eq!(paths(&reach("echo x > c.log"), &root, &root.join("sub")), [Name("sub/c.log".into())].into());
    }
}
