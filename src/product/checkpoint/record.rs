//! Watching a turn: what stood there is kept before a tool or a command changes it, and compared when the turn ends.
//!
//! Nothing is looked at before the first call that may change something, and nothing here ever stops one: what cannot be
//! kept is told in one notice.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::command::{self, Reach};
use super::depot::Depot;
use super::git::Tracked;
use super::index::Index;
use super::journal::{Journal, Line, Open, Touched};
use super::named;
use super::prune;
use super::pulse::Pulse;
use super::scan::{Change, MAX_BYTES, MAX_ENTRIES, Stopped};
use super::scope;
use super::state::{Content, Name, State};
use super::undo::{close, redo_mark};
use crate::base::path::canonical;
use crate::base::text::numbers::grouped;
use crate::kernel::port::PendingCall;
use crate::kernel::tool::{Risk, Subject};
use crate::product::repository;

/// Large files that are named in a notice.
const NAMED_LARGE: usize = 3;

/// The checkpoints of one conversation.
#[derive(Debug)]
pub struct Checkpoints {
    depot: Depot,
    recording: Mutex<Recording>,
    /// What running calls write.
    calls: Mutex<HashMap<String, Vec<Name>>>,
}

/// A checkpoint that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The message that asked for it.
    pub entry_id: u64,
    /// Its name.
    pub reference: String,
}

#[derive(Debug, Default)]
struct Recording {
    /// The session, and the message that is worked on.
    said: Option<Said>,
    active: Option<Active>,
    /// The workspace as it was looked at last.
    index: Option<Index>,
    /// Whether the workspace is too large to be looked at, or cannot be.
    tools_only: bool,
    told_large: bool,
    /// Whether a turn of this session that was cut off has been ended.
    closed: bool,
    notices: Vec<String>,
    /// What was told already.
    told: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    session: String,
    entry_id: u64,
    title: Option<String>,
}

/// A turn that may change something.
#[derive(Debug)]
struct Active {
    session: String,
    /// Ends before the journal is let go.
    _pulse: Pulse,
    journal: Journal,
    open: Open,
}

impl Checkpoints {
    /// Checkpoints that are kept in `depot`. Nothing is looked at yet.
    pub fn new(depot: Depot) -> Self {
        Self { depot, recording: Mutex::default(), calls: Mutex::default() }
    }

    /// Where they are.
    pub fn depot(&self) -> &Depot {
        &self.depot
    }

    /// Hears that something was said, which the next calls are about: what was taken back before is not restored any more.
    /// `title` is its beginning, without known secrets.
    pub fn said(&self, session: &str, entry_id: u64, title: Option<String>) {
        let folder = self.depot.session(session);
        if fs::remove_file(redo_mark(&folder)).is_ok()
            && let Ok(Some(mut journal)) = Journal::open(&folder)
        {
            let _ = journal.append(&Line::Said {});
        }
        // A turn that nobody ended.
        let _ = self.end(None);
        let mut recording = self.lock();
        if recording.said.as_ref().is_some_and(|said| said.session != session) {
            (recording.index, recording.tools_only, recording.closed) = (None, false, false);
        }
        recording.said = Some(Said { session: session.to_owned(), entry_id, title });
    }

    /// Hears that a permitted call is about to run. Returns once what it may change is kept.
    pub fn starting(&self, call: &PendingCall) {
        let reach = match &call.subject {
            Subject::Write(paths) => return self.write_starting(&call.call.id, paths),
            Subject::Command(line) => command::reach(line),
            // What changes files in some other way.
            Subject::Other if call.risk > Risk::Safe => Reach::default(),
            Subject::Other | Subject::Read(_) | Subject::Url(_) | Subject::Task(_) => return,
        };
        if !reach.reads_only {
            let mut recording = self.lock();
            let kept = recording.command_starting(&self.depot, &reach);
            recording.tell(kept);
        }
    }

    /// Keeps the whole workspace as it is now, as before a command that may change anything.
    pub fn snapshot(&self) {
        let mut recording = self.lock();
        let kept = recording.command_starting(&self.depot, &Reach::default());
        recording.tell(kept);
    }

    fn write_starting(&self, id: &str, paths: &[PathBuf]) {
        let mut recording = self.lock();
        let mut names = Vec::new();
        let kept = recording.write_starting(&self.depot, paths, &mut names);
        recording.tell(kept);
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), names);
    }

    /// Hears that a call has ended.
    pub fn finished(&self, id: &str) {
        let written = self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let Some(names) = written else { return };
        let mut recording = self.lock();
        let kept = recording.write_finished(&self.depot, names);
        recording.tell(kept);
    }

    /// Ends the turn. The checkpoint, if it changed anything; it is on disk when this returns. `last_id` is the turn's last
    /// message.
    pub fn end(&self, last_id: Option<u64>) -> Option<Checkpoint> {
        // A call that was left behind may still be looking.
        self.depot.give_up(true);
        let mut recording = self.lock();
        self.depot.give_up(false);
        let ended = recording.end(&self.depot, last_id);
        let checkpoint = ended.unwrap_or_else(|error| {
            recording.tell(Err(error));
            None
        });
        drop(recording);
        if checkpoint.is_some() {
            prune::soon(self.depot.folder(), self.depot.now_ms());
        }
        checkpoint
    }

    /// What a person should know since the last time, a sentence each.
    ///
    /// Does not wait: while something is looked at, there are none.
    pub fn take_notices(&self) -> Vec<String> {
        self.recording.try_lock().map(|mut recording| std::mem::take(&mut recording.notices)).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    /// Tells that this turn is not covered, once.
    fn tell(&mut self, kept: io::Result<()>) {
        if let Err(error) = kept {
            let text = format!("Undo does not cover all of this turn: {error}.");
            if !self.told.contains(&text) {
                self.told.push(text.clone());
                self.notices.push(text);
            }
        }
    }

    /// The turn that is recorded; it begins here. `None` where nobody has said anything yet.
    fn begin(&mut self, depot: &Depot) -> io::Result<Option<&mut Active>> {
        let Some(Said { session, entry_id, title }) = &self.said else { return Ok(None) };
        if self.active.is_none() {
            let folder = depot.session(session);
            let Some(mut journal) = Journal::open(&folder)? else {
                return Err(io::Error::other("files of this session are being taken back in another process"));
            };
            let cwd = canonical(depot.cwd());
            let root = repository::root(&cwd).unwrap_or(&cwd).to_owned();
            if !std::mem::replace(&mut self.closed, true) {
                close(depot, session, &mut journal)?;
            }
            let reference = format!("{entry_id}-{:08x}", fastrand::u32(..));
            let (entry_id, title) = (*entry_id, title.clone());
            journal.append(&Line::Turn {
                reference: reference.clone(),
                entry_id,
                root: Name(root.clone()),
                title: title.clone(),
                timestamp: depot.now_ms(),
            })?;
            let open = Open { root, reference, entry_id, title, touched: BTreeMap::new(), looked: None };
            let pulse = journal.pulse()?;
            self.active = Some(Active { session: session.clone(), _pulse: pulse, journal, open });
        }
        Ok(self.active.as_mut())
    }

    /// Keeps what stands at these paths; `names` become those that are covered.
    fn write_starting(&mut self, depot: &Depot, paths: &[PathBuf], names: &mut Vec<Name>) -> io::Result<()> {
        let Some(active) = self.begin(depot)? else { return Ok(()) };
        let root = active.open.root.clone();
        let scanner = depot.scanner(&root);
        for path in paths {
            let Some(name) = inside(&root, path) else { continue };
            // The folders that it makes are taken back with it.
            for folder in name.0.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
                let state = scanner.look(&folder.into())?;
                if state != State::Absent {
                    break;
                }
                active.touch(folder.into(), state)?;
                names.push(folder.into());
            }
            if !active.open.touched.contains_key(&name) {
                let state = scanner.look(&name)?;
                active.touch(name.clone(), state)?;
            }
            names.push(name);
        }
        Ok(())
    }

    fn write_finished(&mut self, depot: &Depot, names: Vec<Name>) -> io::Result<()> {
        let Some(active) = self.active.as_mut() else { return Ok(()) };
        for path in names {
            let state = depot.scanner(&active.open.root).look(&path)?;
            if let Some(touched) = active.open.touched.get_mut(&path) {
                touched.after = Some(state.clone());
            }
            active.journal.append(&Line::After { path, state })?;
        }
        Ok(())
    }

    fn command_starting(&mut self, depot: &Depot, reach: &Reach) -> io::Result<()> {
        let mut index = self.index.take();
        let tools_only = self.tools_only;
        let Some(active) = self.begin(depot)? else { return Ok(()) };
        let before = active.open.looked;
        let looked = if tools_only || before.is_some() { Ok(()) } else { active.look(depot, &mut index) };
        let named = active.name(depot, reach, index.as_ref(), before);
        self.index = index;
        match looked {
            Ok(()) => {}
            Err(Stopped::TooLarge) => self.give_up(),
            Err(Stopped::System(error)) => return Err(error),
        }
        named
    }

    /// Covers only what tools do from here on.
    fn give_up(&mut self) {
        (self.index, self.tools_only) = (None, true);
        self.notices.push(format!(
            "Undo covers what tools write, but not what commands change: there are more than {} files here, or {} MB to keep.",
            grouped(MAX_ENTRIES as u64),
            MAX_BYTES >> 20
        ));
    }

    fn end(&mut self, depot: &Depot, last_id: Option<u64>) -> io::Result<Option<Checkpoint>> {
        let Some(Active { session: _, _pulse: pulse, mut journal, open }) = self.active.take() else { return Ok(None) };
        drop(pulse);
        let (changes, stopped) = depot.changes(&open, self.index.as_mut());
        match stopped {
            Ok(()) => {}
            Err(Stopped::TooLarge) => self.give_up(),
            Err(Stopped::System(error)) => {
                self.index = None;
                self.tell(Err(error));
            }
        }
        self.tell_large(&changes);
        let is_empty = changes.is_empty();
        journal.append(&Line::End { changes, last_id, cut_off: false, late: BTreeSet::new() })?;
        let Open { reference, entry_id, .. } = open;
        Ok((!is_empty).then_some(Checkpoint { entry_id, reference }))
    }

    fn tell_large(&mut self, changes: &[Change]) {
        let is_large = |state: &State| matches!(state, State::File { content: Content::Large { .. }, .. });
        let large = changes.iter().filter(|change| is_large(&change.before) || is_large(&change.after));
        let mut names: Vec<String> = large.map(|change| change.path.shown()).collect();
        if names.is_empty() || std::mem::replace(&mut self.told_large, true) {
            return;
        }
        let more = names.len() > NAMED_LARGE;
        names.truncate(NAMED_LARGE);
        let more = if more { ", …" } else { "" };
        self.notices.push(format!("Undo does not cover files over 10 MB: {}{more}.", names.join(", ")));
    }
}

impl Active {
    /// Keeps what stands at a path before it is changed for the first time.
    fn touch(&mut self, path: Name, state: State) -> io::Result<()> {
        if self.open.touched.contains_key(&path) {
            return Ok(());
        }
        self.journal.append(&Line::Before { path: path.clone(), state: state.clone() })?;
        let is_late = self.open.looked.is_some();
        self.open.touched.insert(path, Touched { before: state, after: None, is_late });
        Ok(())
    }

    /// Looks at the workspace before the turn's first command. What has changed since the last look is the user's.
    fn look(&mut self, depot: &Depot, index: &mut Option<Index>) -> Result<(), Stopped> {
        let Self { session, _pulse: _, journal, open } = self;
        let root = &open.root;
        let scanner = depot.scanner(root);
        let at = scanner.now;
        index.take_if(|index| index.root != *root);
        if index.is_none() {
            *index = Index::read(&depot.index(session), root);
        }
        if let Some(index) = index {
            scanner.again(index, 0)?;
        } else {
            let cached = depot.last_index(root);
            let cwd = canonical(depot.cwd());
            let below = cwd.strip_prefix(root).unwrap_or(Path::new(""));
            *index = Some(match scanner.first(Path::new(""), cached.as_ref()) {
                // A large repository may have a small corner to work in.
                Err(Stopped::TooLarge) if !below.as_os_str().is_empty() => scanner.first(below, cached.as_ref())?,
                first => first?,
            });
        }
        if let Some(index) = index {
            let unknown = open.touched.keys().filter(|path| !index.known.contains_key(path));
            index.named.extend(unknown.cloned().collect::<Vec<_>>());
            depot.write_index(session, root, index)?;
        }
        journal.append(&Line::Looked { at })?;
        open.looked = Some(at);
        Ok(())
    }

    /// Whether something was made or changed since an earlier command's look at the workspace, in nanoseconds since 1970: what
    /// stood there before it, nobody knows.
    fn is_newer(path: &Path, looked: Option<i64>) -> bool {
        let changed =
            |found: fs::Metadata| found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec());
        let changed = fs::symlink_metadata(path).ok().map(changed);
        changed.zip(looked).is_some_and(|(changed, looked)| changed > looked)
    }

    /// Keeps what a command names, where the look at the workspace did not.
    fn name(&mut self, depot: &Depot, reach: &Reach, index: Option<&Index>, looked: Option<i64>) -> io::Result<()> {
        let cwd = canonical(depot.cwd());
        let is_known = |path: &Name| index.is_some_and(|index| index.known.contains_key(path));
        let root = self.open.root.clone();
        for path in named::paths(reach, &root, &cwd) {
            if !is_known(&path)
                && !self.open.touched.contains_key(&path)
                && !Self::is_newer(&root.join(&path.0), looked)
            {
                let state = depot.scanner(&root).look(&path)?;
                self.touch(path, state)?;
            }
        }
        Ok(())
    }
}

/// A path of the workspace by its name, if it is covered.
fn inside(root: &Path, path: &Path) -> Option<Name> {
    let name = Name(path.strip_prefix(root).ok()?.to_owned());
    let in_builds = name.0.components().any(|part| scope::folder(part.as_os_str()) == scope::Folder::Build);
    let tracked = if in_builds { Tracked::read(root) } else { Tracked::default() };
    (name.is_inner() && scope::covers(&name.0, |folder| scope::holds_sources(root, folder, &tracked))).then_some(name)
}
