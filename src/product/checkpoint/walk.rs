//! Meeting everything of a workspace that is covered, by ripgrep's walk.
//!
//! Never follows links, stays on one file system, and gives up at its caps. It reads no contents and changes nothing.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::git::Tracked;
use super::index::{Index, Stamp};
use super::scan::{Scanner, Stopped};
use super::scope;
use super::state::Name;

/// Entries that one thread meets in the time it takes to start others.
const FEW: usize = 500;
/// More threads gain nothing: beyond this they wait for the disk and for locks.
const MAX_THREADS: usize = 6;

/// A path that was met.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: Name,
    pub(super) stamp: Stamp,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    Link,
    File,
}

impl Found {
    /// What stat told of a path; `None` for what is never kept.
    pub(super) fn new(path: Name, found: &Metadata) -> Option<Self> {
        let kind = found.file_type();
        let kind = if kind.is_dir() {
            Kind::Folder
        } else if kind.is_symlink() {
            Kind::Link
        } else if kind.is_file() {
            Kind::File
        } else {
            return None;
        };
        Some(Self { path, stamp: Stamp::new(found), kind })
    }
}

/// What a walk met, sorted.
pub(super) struct Walked {
    pub(super) found: Vec<Found>,
    pub(super) tracked: Arc<Tracked>,
}

/// What one thread met; put to the rest when it ends.
struct Share<'a> {
    found: Vec<Found>,
    into: &'a Mutex<Vec<Found>>,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.into.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.found);
    }
}

impl Scanner<'_> {
    /// Meets everything that is covered.
    pub(super) fn walk(&self, index: &Index, tracked: Tracked, deadline: Instant) -> Result<Walked, Stopped> {
        let tracked = Arc::new(tracked);
        let mut builder = self.builder(index, &tracked);
        let few = if index.known.len() < FEW { self.few(&builder, deadline)? } else { None };
        let mut found = match few {
            Some(found) => found,
            None => self.many(&mut builder, deadline)?,
        };
        found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        self.add_unmet(index, &tracked, &mut found);
        Ok(Walked { found, tracked })
    }

    fn builder(&self, index: &Index, tracked: &Arc<Tracked>) -> WalkBuilder {
        let mut builder = WalkBuilder::new(self.root.join(&index.area));
        // Hidden files too. What lies above the workspace has no say in it, and a `.gitignore` counts also without git.
        builder.hidden(false).ignore(false).require_git(false).same_file_system(true);
        builder.parents(!index.area.as_os_str().is_empty()).current_dir(self.root);
        let (root, tracked) = (self.root.to_owned(), Arc::clone(tracked));
        builder.filter_entry(move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return entry.file_name() != ".git";
            }
            match scope::folder(entry.file_name()) {
                scope::Folder::Covered => true,
                scope::Folder::Build => {
                    entry.path().strip_prefix(&root).is_ok_and(|path| scope::holds_sources(&root, path, &tracked))
                }
                scope::Folder::Never => false,
            }
        });
        builder
    }

    /// Meets everything on this thread, in a small fraction of the time that threads take to start; `None` where there is
    /// more than that is good for.
    fn few(&self, builder: &WalkBuilder, deadline: Instant) -> Result<Option<Vec<Found>>, Stopped> {
        let mut found = Vec::new();
        for (count, entry) in builder.build().enumerate() {
            if count > self.max_entries {
                return Err(Stopped::TooLarge);
            }
            if count > FEW {
                return Ok(None);
            }
            self.over(deadline).map_or(Ok(()), Err)?;
            found.extend(entry.ok().and_then(|entry| self.met(&entry)));
        }
        Ok(Some(found))
    }

    fn many(&self, builder: &mut WalkBuilder, deadline: Instant) -> Result<Vec<Found>, Stopped> {
        builder.threads(threads());
        let (count, over) = (AtomicUsize::new(0), Mutex::new(None));
        let gathered = Mutex::new(Vec::new());
        builder.build_parallel().run(|| {
            let mut share = Share { found: Vec::new(), into: &gathered };
            let (count, over) = (&count, &over);
            Box::new(move |entry| {
                let stopped = match count.fetch_add(1, Ordering::Relaxed) > self.max_entries {
                    true => Some(Stopped::TooLarge),
                    false => self.over(deadline),
                };
                if let Some(stopped) = stopped {
                    over.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(stopped);
                    return WalkState::Quit;
                }
                share.found.extend(entry.ok().and_then(|entry| self.met(&entry)));
                WalkState::Continue
            })
        });
        match over.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(stopped) => Err(stopped),
            None => Ok(gathered.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn met(&self, entry: &DirEntry) -> Option<Found> {
        let path = entry.path().strip_prefix(self.root).ok()?;
        if entry.depth() == 0 { None } else { Found::new(path.into(), &entry.metadata().ok()?) }
    }

    /// Adds what is covered although it is ignored: what git tracks all the same, what somebody named, and what was covered
    /// before it was ignored.
    fn add_unmet(&self, index: &Index, tracked: &Tracked, found: &mut Vec<Found>) {
        let met: HashSet<&Name> = found.iter().map(|found| &found.path).collect();
        let tracked_here = tracked.paths().filter(|path| path.0.starts_with(&index.area));
        let others = index.named.iter().chain(index.known.keys());
        let mut unmet: Vec<&Name> = tracked_here.chain(others).filter(|path| !met.contains(path)).collect();
        unmet.sort_unstable();
        unmet.dedup();
        let covered = |path: &&Name| scope::covers(&path.0, |folder| scope::holds_sources(self.root, folder, tracked));
        let more: Vec<Found> = unmet
            .into_iter()
            .filter(covered)
            .filter_map(|path| Found::new(path.clone(), &self.inside(&path.0)?))
            .collect();
        found.extend(more);
        found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    }

    /// What stat tells of a path that does not lead through links.
    fn inside(&self, path: &Path) -> Option<Metadata> {
        let folders = path.parent()?.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let is_plain = |folder: &Path| self.root.join(folder).symlink_metadata().is_ok_and(|found| found.is_dir());
        let found = self.root.join(path).symlink_metadata().ok()?;
        folders.into_iter().all(is_plain).then_some(found)
    }
}

/// How many threads are worth starting for much to do.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_THREADS)
}
