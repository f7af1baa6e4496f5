//! Where checkpoints are, and with what they are made: folders, contents, git, the time.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::git::Git;
use super::index::Index;
use super::journal::{Open, Touched};
use super::objects::Objects;
use super::scan::{Change, MAX_ENTRIES, Scanner, Stopped};
use super::state::{Content, Name, State};
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::product::session::name;

/// Only the user may look in.
const FOLDER_MODE: u32 = 0o700;

/// The checkpoints of one user.
#[derive(Debug)]
pub struct Depot {
    folder: PathBuf,
    objects: Objects,
    env: Env,
    clock: Clock,
    git: OnceLock<Option<Git>>,
    given_up: AtomicBool,
    max_entries: usize,
}

impl Depot {
    /// The checkpoints below a data folder. Nothing is looked at yet.
    pub fn new(data_dir: &Path, env: &Env, clock: Clock) -> Self {
        let folder = data_dir.join("checkpoints");
        Self {
            objects: Objects::new(&folder),
            folder,
            env: env.clone(),
            clock,
            git: OnceLock::new(),
            given_up: AtomicBool::new(false),
            max_entries: MAX_ENTRIES,
        }
    }

    /// The same, but for workspaces of a few entries only.
    #[cfg(test)]
    pub(super) fn limited(mut self, max_entries: usize) -> Self {
        self.max_entries = max_entries;
        self
    }

    /// The contents.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The folder of all.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of a session.
    pub fn session(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    /// The index of a session.
    pub fn index(&self, id: &str) -> PathBuf {
        self.session(id).join("index.jsonl")
    }

    /// The folder the agent works in.
    pub fn cwd(&self) -> &Path {
        &self.env.cwd
    }

    /// A look at a workspace.
    pub fn scanner<'a>(&'a self, root: &'a Path) -> Scanner<'a> {
        let git = self.git.get_or_init(|| Git::find(&self.env)).as_ref();
        let now = self.clock.now_ms().saturating_mul(1_000_000);
        Scanner { root, objects: &self.objects, git, now, max_entries: self.max_entries, given_up: &self.given_up }
    }

    /// Ends a look that is under way, or lets looks be made again.
    pub fn give_up(&self, given_up: bool) {
        self.given_up.store(given_up, Ordering::Relaxed);
    }

    /// What some session found last in a workspace, which spares the next one to read the same files.
    pub fn last_index(&self, root: &Path) -> Option<Index> {
        Index::read(&self.last_index_path(root), root)
    }

    /// Writes the index of a session, also for the next one of the same workspace.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn write_index(&self, id: &str, root: &Path, index: &Index) -> std::io::Result<()> {
        let path = self.index(id);
        index.write(&path)?;
        let shared = self.last_index_path(root);
        // Only spares time; the session has its own.
        let linked = fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(self.trees()).and_then(|()| {
            let fresh = shared.with_extension(format!("{:08x}.new", fastrand::u32(..)));
            fs::hard_link(&path, &fresh)?;
            fs::rename(&fresh, &shared).inspect_err(|_| {
                let _ = fs::remove_file(&fresh);
            })
        });
        drop(linked);
        Ok(())
    }

    /// The folder of what sessions found last.
    pub fn trees(&self) -> PathBuf {
        self.folder.join("trees")
    }

    fn last_index_path(&self, root: &Path) -> PathBuf {
        self.trees().join(format!("{}.jsonl", name::folder(root)))
    }

    /// What a turn changed: what tools did, and what commands did where the workspace was looked at before the first one.
    /// The index is brought up to date. Contents that only git has are kept from here on.
    ///
    /// # Errors
    ///
    /// Why commands are not covered; what tools did is told all the same.
    pub fn changes(&self, open: &Open, index: Option<&mut Index>) -> (Vec<Change>, Result<(), Stopped>) {
        let root = &open.root;
        let scanner = self.scanner(root);
        let (looked, stopped, index) = match (index, open.looked) {
            (Some(index), Some(at)) => match scanner.again(index, at) {
                Ok(changes) => (changes, Ok(()), Some(index)),
                Err(stopped) => (Vec::new(), Err(stopped), None),
            },
            (_, _) => (Vec::new(), Ok(()), None),
        };
        let mut by_path: HashMap<Name, Change> =
            looked.into_iter().map(|change| (change.path.clone(), change)).collect();
        let mut changes = Vec::new();
        for (path, touched) in &open.touched {
            let Touched { before, after, is_late } = touched;
            let looked = by_path.remove(path);
            let known = index.as_ref().and_then(|index| index.known.get(path)).map(|known| &known.state);
            let before = match (&looked, known) {
                (Some(looked), _) if *is_late => looked.before.clone(),
                // As it was before the first command.
                (None, Some(known)) if *is_late => known.clone(),
                (_, _) => before.clone(),
            };
            let after = match (looked, known, after) {
                (Some(looked), _, _) => looked.after,
                (None, Some(known), _) => known.clone(),
                (None, None, Some(after)) if open.looked.is_none() => after.clone(),
                (None, None, _) => scanner.look(path).unwrap_or(State::Special),
            };
            changes.push(Change { path: path.clone(), before, after });
        }
        changes.extend(by_path.into_values());
        self.keep_from_git(root, &mut changes);
        changes.retain(|change| !change.before.is_like(&change.after));
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        (changes, stopped)
    }

    /// Keeps what until now only git has.
    fn keep_from_git(&self, root: &Path, changes: &mut [Change]) {
        let states = || changes.iter().flat_map(|change| [&change.before, &change.after]);
        let mut ids: Vec<String> = states().filter_map(git_id).cloned().collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return;
        }
        let git = self.git.get_or_init(|| Git::find(&self.env)).as_ref();
        let found = git.and_then(|git| git.objects(root, &ids).ok()).unwrap_or_default();
        for state in changes.iter_mut().flat_map(|change| [&mut change.before, &mut change.after]) {
            let Some(id) = git_id(state).cloned() else { continue };
            let State::File { content, .. } = state else { continue };
            let kept = found.get(&id).and_then(|bytes| self.objects.put(bytes).ok());
            *content = kept.map_or(Content::Lost, Content::Kept);
        }
    }
}

fn git_id(state: &State) -> Option<&String> {
    match state {
        State::File { content: Content::Git(id), .. } => Some(id),
        State::File { .. } | State::Absent | State::Folder | State::Link { .. } | State::Special => None,
    }
}
