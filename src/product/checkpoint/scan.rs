//! Looking at a workspace: what there is, what of it has changed since it was looked at last, and keeping that.
//!
//! Reads only what may have changed, and gives up at its caps. It changes nothing but the objects.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::git::{Git, Tracked};
use super::index::{Index, Known, Stamp};
use super::objects::{Ids, Objects};
use super::scope;
use super::state::{Content, Name, State};
use super::walk::{Found, Kind, Walked, threads};
use crate::product::repository;

/// Entries of a workspace beyond which only tools' own edits are covered: five times a large project.
pub const MAX_ENTRIES: usize = 50_000;
/// Bytes that are copied at one time at most, likewise.
pub const MAX_BYTES: u64 = 500 << 20;
/// How long a command waits for it at most; ten thousand files take a fifth of it.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// What was changed so shortly before it was looked at may change once more within the same tick of the clock.
const COARSE_NANOS: i64 = 20_000_000;
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
        let files = found.iter().filter(is_new).map(|found| (&found.path, &found.stamp));
        let clean = self.git.map(|git| tracked.clean(git, self.root, files)).unwrap_or_default();
        self.update(&mut index, &found, &clean, deadline)?;
        Ok(index)
    }

    /// Looks again: the index is brought up to date, and what has changed is told. On an error the index is as it was.
    ///
    /// What is older than `since` (nanoseconds since 1970) without being known had only not been looked at, because it was
    /// ignored, and is no change; unless it came in a folder that was put there since, whose contents keep their times.
    ///
    /// # Errors
    ///
    /// Why it cannot be covered.
    pub fn again(&self, index: &mut Index, since: i64) -> Result<Vec<Change>, Stopped> {
        let deadline = Instant::now() + PATIENCE;
        let Walked { found, .. } = self.walk(index, Tracked::read(self.root), deadline)?;
        let moved = self.moved(index, &found, since);
        let older: Vec<Name> = found
            .iter()
            .filter(|found| found.kind != Kind::Folder && !index.known.contains_key(&found.path))
            .filter(|found| found.stamp.changed < since - COARSE_NANOS)
            .filter(|found| !found.path.0.ancestors().any(|folder| moved.contains(folder)))
            .map(|found| found.path.clone())
            .collect();
        let mut changes = self.update(index, &found, &HashMap::new(), deadline)?;
        changes.retain(|change| older.binary_search(&change.path).is_err());
        Ok(changes)
    }

    /// The outermost folders that were put here since: they are not known, were changed since, and no rule by which they could
    /// have been ignored before was.
    fn moved<'f>(&self, index: &Index, found: &'f [Found], since: i64) -> HashSet<&'f Path> {
        let is_recent = |changed: i64| changed >= since - COARSE_NANOS;
        let is_changed = |path: &Path| path.symlink_metadata().is_ok_and(|found| is_recent(Stamp::new(&found).changed));
        let is_gone = |path: &Path| !self.root.join(path).exists() && index.known.contains_key(&Name::from(path));
        let of_git = repository::git_folder(self.root);
        let is_as_before = |folder: &Path| {
            let rules = folder.ancestors().skip(1).map(|above| above.join(".gitignore"));
            rules.into_iter().all(|rule| !is_changed(&self.root.join(&rule)) && !is_gone(&rule))
        };
        let mut moved: HashSet<&Path> = HashSet::new();
        let new = found.iter().filter(|found| found.kind == Kind::Folder && !index.known.contains_key(&found.path));
        // Outer folders are met first.
        for Found { path, .. } in new.filter(|found| is_recent(found.stamp.changed)) {
            let is_inner = path
                .0
                .parent()
                .is_some_and(|above| !above.as_os_str().is_empty() && !index.known.contains_key(&Name::from(above)));
            let is_build = path.0.components().any(|part| scope::folder(part.as_os_str()) != scope::Folder::Covered);
            if !is_inner && !is_build && is_as_before(&path.0) {
                moved.insert(&path.0);
            }
        }
        let general = of_git.iter().flat_map(|git| ["info/exclude", "config"].map(|name| git.join(name)));
        if !moved.is_empty() && general.into_iter().any(|rule| is_changed(&rule)) {
            moved.clear();
        }
        moved
    }

    /// Why it is to end early, if it is.
    pub(super) fn over(&self, deadline: Instant) -> Option<Stopped> {
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

    /// Brings an index up to date with what was met, which is sorted.
    fn update(
        &self,
        index: &mut Index,
        found: &[Found],
        clean: &HashMap<Name, String>,
        deadline: Instant,
    ) -> Result<Vec<Change>, Stopped> {
        let other: Vec<&Found> = found.iter().filter(|found| !is_as_known(index, found)).collect();
        let of_git = |found: &&Found| if found.kind == Kind::File { clean.get(&found.path) } else { None };
        let (ready, unread): (Vec<_>, Vec<_>) = other.into_iter().partition(|found| of_git(found).is_some());
        let sizes = unread.iter().filter(|found| found.kind == Kind::File).map(|found| found.stamp.bytes);
        if sizes.filter(|bytes| *bytes <= super::objects::FILE_BYTES).sum::<u64>() > MAX_BYTES {
            return Err(Stopped::TooLarge);
        }
        let mut states = self.states(index, &unread, deadline)?;
        let gone = missing(index, found, &unread, &states);
        states.extend(ready.into_iter().map(|found| {
            let id = of_git(&found).cloned().unwrap_or_default();
            (found, State::File { content: Content::Git(id), mode: found.stamp.mode })
        }));
        let mut changes = Vec::new();
        for path in gone {
            if let Some(Known { state: before, .. }) = index.known.remove(&path) {
                changes.push(Change { path, before, after: State::Absent });
            }
        }
        for (Found { path, stamp, .. }, state) in states {
            let is_settled = stamp.changed < self.now - COARSE_NANOS;
            let known = Known { stamp: *stamp, state: state.clone(), is_settled };
            let before = index.known.insert(path.clone(), known).map_or(State::Absent, |known| known.state);
            if !state.is_like(&before) {
                changes.push(Change { path: path.clone(), before, after: state });
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
        found: &[&'f Found],
        deadline: Instant,
    ) -> Result<Vec<(&'f Found, State)>, Stopped> {
        let most = found.len().div_ceil(FILES_PER_THREAD).max(1);
        let threads = if most == 1 { 1 } else { threads().min(most) };
        let failed: Mutex<Option<Stopped>> = Mutex::new(None);
        let read = |share: &[&'f Found]| -> Vec<(&'f Found, State)> {
            let mut states = Vec::with_capacity(share.len());
            for found in share.iter().copied() {
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
        let shares: Vec<&[&Found]> = found.chunks(found.len().div_ceil(threads).max(1)).collect();
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
}

/// Paths of the index where nothing was met, or nothing was left by the time it was read.
fn missing(index: &Index, found: &[Found], unread: &[&Found], read: &[(&Found, State)]) -> Vec<Name> {
    // Both are sorted.
    let mut met = found.iter().map(|found| &found.path).peekable();
    let is_met = |path: &&Name| {
        while met.next_if(|met| met < path).is_some() {}
        met.peek() == Some(path)
    };
    let unmet: Vec<&Name> = index.known.keys().filter(not(is_met)).collect();
    let left: HashSet<&Name> = read.iter().map(|(found, _)| &found.path).collect();
    let vanished = unread.iter().map(|found| &found.path).filter(|path| !left.contains(path));
    unmet.into_iter().chain(vanished).cloned().collect()
}

fn not<T>(mut holds: impl FnMut(&T) -> bool) -> impl FnMut(&T) -> bool {
    move |item| !holds(item)
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
