//! Looking at a workspace: what there is, what of it has changed since it was looked at last, and keeping that.
//!
//! Reads only what may have changed, never follows links, stays on one file system, and gives up at its caps. It changes
//! nothing but the objects.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::{WalkBuilder, WalkState};
use rustix::fs::OFlags;

use super::git::{Git, Tracked};
use super::index::{Index, Known, Stamp};
use super::objects::{Ids, Objects};
use super::scope;
use super::state::{Content, Name, State};

/// Entries of a workspace beyond which only tools' own edits are covered: five times a large project.
pub const MAX_ENTRIES: usize = 50_000;
/// Bytes that are copied at one time at most, likewise.
pub const MAX_BYTES: u64 = 500 << 20;
/// How long a command waits for it at most; ten thousand files take a fifth of it.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// What was changed so shortly before it was looked at may change once more within the same tick of the clock.
const COARSE_NANOS: i64 = 20_000_000;
/// More threads gain nothing: beyond this they wait for the disk and for locks.
const MAX_THREADS: usize = 6;
/// Files each thread is worth starting for.
const FILES_PER_THREAD: usize = 32;

/// Where and with what a workspace is looked at.
#[derive(Debug)]
pub struct Scanner<'a> {
    /// The root of the workspace, links followed.
    pub root: &'a Path,
    /// Where contents go.
    pub objects: &'a Objects,
    /// Git, where there is one.
    pub git: Option<&'a Git>,
    /// What time it is, in nanoseconds since 1970.
    pub now: i64,
    /// How many entries it may have, [`MAX_ENTRIES`] but in tests.
    pub max_entries: usize,
    /// Whether nobody waits for it any more.
    pub given_up: &'a AtomicBool,
}

/// What became of a path between two looks.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Change {
    /// Relative to the root.
    pub path: Name,
    /// What stood there.
    pub before: State,
    /// What stands there.
    pub after: State,
}

/// Why a workspace was not looked at to the end.
#[derive(Debug)]
pub enum Stopped {
    /// It is larger than [`MAX_ENTRIES`], [`MAX_BYTES`] or [`PATIENCE`] allow.
    TooLarge,
    /// What the system said.
    System(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// A path that was met.
#[derive(Clone, Debug)]
struct Found {
    path: Name,
    stamp: Stamp,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    Link,
    File,
}

impl Found {
    /// What stat told of a path; `None` for what is never kept.
    fn new(path: Name, found: &Metadata) -> Option<Self> {
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

impl Scanner<'_> {
    /// Looks at everything for the first time. Clean files that git tracks are not read.
    ///
    /// # Errors
    ///
    /// Why it cannot be covered.
    pub fn first(&self, area: &Path, cached: Option<&Index>) -> Result<Index, Stopped> {
        let deadline = Instant::now() + PATIENCE;
        let tracked = Tracked::read(self.root);
        // What another session kept of the same files need not be read again.
        let is_kept = |known: &Known| known.state.digest().is_some_and(|digest| self.objects.has(digest));
        let known = cached.into_iter().flat_map(|cached| &cached.known).filter(|(_, known)| is_kept(known));
        let known = known.map(|(path, known)| (path.clone(), known.clone())).collect();
        let mut index = Index { root: self.root.to_owned(), area: area.to_owned(), known, named: BTreeSet::new() };
        let Walked { found, tracked } = self.walk(&index, tracked, deadline)?;
        let is_new = |found: &&Found| found.kind == Kind::File && !is_as_known(&index, found);
        let new: Vec<&Found> = found.iter().filter(is_new).collect();
        let files = new.iter().map(|found| (found.path.as_ref(), &found.stamp));
        let clean = self.git.map(|git| tracked.clean(git, self.root, files)).unwrap_or_default();
        self.update(&mut index, found, &clean, deadline)?;
        Ok(index)
    }

    /// Looks again: the index is brought up to date, and what has changed is told. On an error the index is as it was.
    ///
    /// What was there before `since` (nanoseconds since 1970) without being known had only not been looked at, because it
    /// was ignored; it is no change.
    ///
    /// # Errors
    ///
    /// Why it cannot be covered.
    pub fn again(&self, index: &mut Index, since: i64) -> Result<Vec<Change>, Stopped> {
        let deadline = Instant::now() + PATIENCE;
        let Walked { found, .. } = self.walk(index, Tracked::read(self.root), deadline)?;
        let older: Vec<Name> = found
            .iter()
            .filter(|found| found.kind != Kind::Folder && !index.known.contains_key(&found.path))
            .filter(|found| found.stamp.changed < since - COARSE_NANOS)
            .map(|found| found.path.clone())
            .collect();
        let mut changes = self.update(index, found, &HashMap::new(), deadline)?;
        changes.retain(|change| older.binary_search(&change.path).is_err());
        Ok(changes)
    }

    /// Why it is to end early, if it is.
    fn over(&self, deadline: Instant) -> Option<Stopped> {
        if self.given_up.load(Ordering::Relaxed) {
            return Some(Stopped::System(io::ErrorKind::Interrupted.into()));
        }
        (Instant::now() > deadline).then_some(Stopped::TooLarge)
    }

    /// What stands at one path now; what a file holds is kept.
    ///
    /// # Errors
    ///
    /// What the system said, but for that nothing is there.
    pub fn look(&self, path: &Name) -> io::Result<State> {
        let found = match self.root.join(path).symlink_metadata() {
            Ok(found) => found,
            Err(error) if crate::base::path::is_absent(&error) => return Ok(State::Absent),
            Err(error) => return Err(error),
        };
        match Found::new(path.clone(), &found) {
            Some(found) => self.state(&found, &State::Absent).map(|state| state.unwrap_or(State::Absent)),
            None => Ok(State::Special),
        }
    }

    /// What stands at a path that was met; `None` where it has gone since.
    fn state(&self, found: &Found, before: &State) -> io::Result<Option<State>> {
        let path = self.root.join(&found.path);
        let read = match found.kind {
            Kind::Folder => Ok(State::Folder),
            Kind::Link => path.read_link().map(|target| State::Link { target: Name(target) }),
            Kind::File => self.file(&path, found, before),
        };
        match read {
            Ok(state) => Ok(Some(state)),
            Err(error) if crate::base::path::is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn file(&self, path: &Path, found: &Found, before: &State) -> io::Result<State> {
        let Stamp { bytes, modified, mode, .. } = found.stamp;
        let large = || State::File { content: Content::Large { bytes, modified }, mode };
        let git = match before {
            State::File { content: Content::Git(id), .. } => Some(id),
            State::File { .. } | State::Absent | State::Folder | State::Link { .. } | State::Special => None,
        };
        if bytes > super::objects::FILE_BYTES {
            return Ok(large());
        }
        // Never a pipe that somebody put there meanwhile, and not through a link.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(large()),
            Err(error) => return Err(error),
        };
        let ids = git.map_or(Ids::Own, |id| Ids::Git(id.len()));
        let Some(put) = self.objects.put_file(&mut file, bytes, ids)? else { return Ok(large()) };
        let content = match git {
            Some(id) if put.git.as_ref() == Some(id) => Content::Git(id.clone()),
            Some(_) | None => Content::Kept(put.digest),
        };
        Ok(State::File { content, mode })
    }

    /// Brings an index up to date with what was met.
    fn update(
        &self,
        index: &mut Index,
        found: Vec<Found>,
        clean: &HashMap<PathBuf, String>,
        deadline: Instant,
    ) -> Result<Vec<Change>, Stopped> {
        let (same, other): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| is_as_known(index, found));
        let (of_git, other): (Vec<_>, Vec<_>) =
            other.into_iter().partition(|found| found.kind == Kind::File && clean.contains_key(&found.path.0));
        let bytes = other.iter().filter(|found| found.stamp.bytes <= super::objects::FILE_BYTES);
        if bytes.filter(|found| found.kind == Kind::File).map(|found| found.stamp.bytes).sum::<u64>() > MAX_BYTES {
            return Err(Stopped::TooLarge);
        }
        let mut known: BTreeMap<Name, Known> = BTreeMap::new();
        let mut add = |found: &Found, state: State| {
            let is_settled = found.stamp.changed < self.now - COARSE_NANOS;
            known.insert(found.path.clone(), Known { stamp: found.stamp, state, is_settled });
        };
        for found in &of_git {
            let id = clean.get(&found.path.0).cloned().unwrap_or_default();
            add(found, State::File { content: Content::Git(id), mode: found.stamp.mode });
        }
        for (found, state) in self.states(index, &other, deadline)? {
            add(found, state);
        }
        for found in same {
            if let Some(kept) = index.known.remove(&found.path) {
                known.insert(found.path, kept);
            }
        }
        // What is left of the old index was changed or is gone.
        let gone = std::mem::replace(&mut index.known, known);
        let mut changes = Vec::new();
        for (path, Known { state: before, .. }) in &gone {
            let after = index.state(path);
            if !after.is_like(before) {
                changes.push(Change { path: path.clone(), before: before.clone(), after });
            }
        }
        let fresh = of_git.iter().chain(&other).filter(|found| !gone.contains_key(&found.path));
        for path in fresh.map(|found| &found.path) {
            let after = index.state(path);
            if after != State::Absent {
                changes.push(Change { path: path.clone(), before: State::Absent, after });
            }
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(changes)
    }

    /// What stands at each of these paths, read on some threads. What has gone or cannot be read is left out, the latter as
    /// if it were ignored.
    fn states<'f>(
        &self,
        index: &Index,
        found: &'f [Found],
        deadline: Instant,
    ) -> Result<Vec<(&'f Found, State)>, Stopped> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_THREADS);
        let threads = threads.min(found.len().div_ceil(FILES_PER_THREAD)).max(1);
        let failed: Mutex<Option<Stopped>> = Mutex::new(None);
        let read = |share: &'f [Found]| -> Vec<(&'f Found, State)> {
            let mut states = Vec::with_capacity(share.len());
            for found in share {
                let problem = match self.state(found, &index.state(&found.path)) {
                    Ok(state) => {
                        states.extend(state.map(|state| (found, state)));
                        self.over(deadline)
                    }
                    // A link by now; the next look will see it.
                    Err(error) if is_loop(&error) => None,
                    Err(error) => Some(Stopped::System(error)),
                };
                if let Some(problem) = problem {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem);
                    break;
                }
            }
            states
        };
        let shares: Vec<&[Found]> = found.chunks(found.len().div_ceil(threads).max(1)).collect();
        let states = match shares.as_slice() {
            [] => Vec::new(),
            [only] => read(only),
            several => std::thread::scope(|scope| {
                let started: Vec<_> = several.iter().map(|share| scope.spawn(|| read(share))).collect();
                started.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
            }),
        };
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(stopped) => Err(stopped),
            None => Ok(states),
        }
    }

    /// Meets everything that is covered.
    fn walk(&self, index: &Index, tracked: Tracked, deadline: Instant) -> Result<Walked, Stopped> {
        let area = self.root.join(&index.area);
        let tracked = Arc::new(tracked);
        let mut builder = WalkBuilder::new(&area);
        // Hidden files too. What lies above the workspace has no say in it, and a `.gitignore` counts also without git.
        builder.hidden(false).parents(false).ignore(false).require_git(false).same_file_system(true);
        builder.current_dir(self.root);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        builder.threads(threads.min(MAX_THREADS));
        let (root, known) = (self.root.to_owned(), Arc::clone(&tracked));
        builder.filter_entry(move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return entry.file_name() != ".git";
            }
            match scope::folder(entry.file_name()) {
                scope::Folder::Covered => true,
                scope::Folder::Build => entry.path().strip_prefix(&root).is_ok_and(|path| known.has_below(path)),
                scope::Folder::Never => false,
            }
        });
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
                let Ok(entry) = entry else { return WalkState::Continue };
                if let (1.., Ok(path), Ok(found)) =
                    (entry.depth(), entry.path().strip_prefix(self.root), entry.metadata())
                {
                    share.found.extend(Found::new(path.into(), &found));
                }
                WalkState::Continue
            })
        });
        if let Some(stopped) = over.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(stopped);
        }
        let mut found = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        self.add_unmet(index, &tracked, &mut found);
        Ok(Walked { found, tracked })
    }

    /// Adds what is covered although it is ignored: what git tracks all the same, what somebody named, and what was covered
    /// before it was ignored.
    fn add_unmet(&self, index: &Index, tracked: &Tracked, found: &mut Vec<Found>) {
        let is_met = |path: &Path| found.binary_search_by(|found| found.path.as_ref().cmp(path)).is_ok();
        let tracked_here = tracked.paths().filter(|path| path.starts_with(&index.area));
        let others = index.named.iter().chain(index.known.keys()).map(Name::as_ref);
        let mut unmet: Vec<&Path> = tracked_here.chain(others).filter(|path| !is_met(path)).collect();
        unmet.sort_unstable();
        unmet.dedup();
        let covered = |path: &&Path| scope::covers(path, |folder| tracked.has_below(folder));
        let more: Vec<Found> =
            unmet.into_iter().filter(covered).filter_map(|path| Found::new(path.into(), &self.inside(path)?)).collect();
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

struct Walked {
    found: Vec<Found>,
    tracked: Arc<Tracked>,
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

fn is_as_known(index: &Index, found: &Found) -> bool {
    index.known.get(&found.path).is_some_and(|known| match (found.kind, &known.state) {
        (Kind::Folder, State::Folder) => true,
        (Kind::File, State::File { .. }) | (Kind::Link, State::Link { .. }) => {
            known.is_settled && known.stamp == found.stamp
        }
        (Kind::Folder | Kind::File | Kind::Link, _) => false,
    })
}

fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}
