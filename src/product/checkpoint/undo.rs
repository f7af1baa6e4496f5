//! Taking back what turns did, and restoring it: first a plan that can be shown, then the deed.
//!
//! Nothing that somebody changed since is overwritten: it is merged, or left alone with a reason. What stands there is kept
//! before it is touched, and what is to be done is written down before it is done. Nothing is asked or printed here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::chat::Chat;
use super::decide::Decider;
use super::depot::Depot;
use super::index::{Index, Stamp};
use super::journal::{self, History, Journal, Line, Unit};
use super::place::Place;
use super::plan::{ChangeKind, ChatMove, Direction, FileChange, Plan, Report, Step, What};
use super::scan::Change;
use super::state::{Name, State};
use crate::kernel::tool::CHANGE_BYTES;
use crate::product::error::Error;

/// Only the user may read or write.
const FILE_MODE: u32 = 0o600;

/// Texts of a plan together, in bytes, beyond which the rest is not shown: nobody reads as much.
const TEXT_BYTES: usize = 16 << 20;

/// A session whose turns are taken back.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Where checkpoints are.
    pub depot: &'a Depot,
    /// The session's id.
    pub session: &'a str,
    /// Its file, if it has one.
    pub file: Option<&'a Path>,
}

/// The file that says that what was taken back can be restored.
pub(super) fn redo_mark(folder: &Path) -> PathBuf {
    folder.join("redo")
}

/// Ends a turn that was cut off. What stands there now is what it left, but for what was changed after the program had ended:
/// nobody knows by whom.
pub(super) fn close(depot: &Depot, session: &str, journal: &mut Journal) -> io::Result<()> {
    let Some(open) = History::read(&depot.session(session))?.open else { return Ok(()) };
    let mut index = open.looked.and_then(|_| Index::read(&depot.index(session), &open.root));
    // Where the workspace cannot be looked at any more, what tools did is known all the same.
    let (mut changes, _) = depot.changes(&open, index.as_mut());
    let mut late = BTreeSet::new();
    changes.retain_mut(|change| {
        let found = open.root.join(&change.path).symlink_metadata();
        // What is gone is made again, which overwrites nothing.
        let is_late =
            change.after != State::Absent && found.is_ok_and(|found| Stamp::new(&found).changed > journal.alive);
        let left = open.touched.get(&change.path).and_then(|touched| touched.after.clone());
        match (is_late, left) {
            (false, _) => true,
            // What a tool left is known, and compared with what stands there.
            (true, Some(left)) => {
                change.after = left;
                !change.before.is_like(&change.after)
            }
            (true, None) => {
                late.insert(change.path.clone());
                false
            }
        }
    });
    journal.append(&Line::End { changes, last_id: None, cut_off: true, late })
}

impl Target<'_> {
    /// What taking back the last turn would do, or restoring what was taken back last.
    ///
    /// # Errors
    ///
    /// That there is nothing to take back or restore; that a turn is running elsewhere; what the system said.
    pub fn plan(&self, what: What, direction: Direction) -> Result<Plan, Error> {
        let chat = match (what, self.file) {
            (What::Both | What::Chat, Some(file)) => Chat::read(file).map_err(|error| unreadable(file, error))?,
            (What::Files, Some(file)) => Chat::read(file).unwrap_or_default(),
            (_, None) => Chat::default(),
        };
        let files = match what {
            What::Both | What::Files => self.history()?,
            What::Chat => None,
        };
        let (history, known) = match files {
            Some(history) => (history, true),
            None => (History::default(), false),
        };
        // For a turn's beginning the journal is asked too: what is said meanwhile is part of the turn.
        let journal = if known { history.units.clone() } else { self.peek() };
        let begun = beginning(&chat, &journal).filter(|_| what != What::Files);
        let moved = match direction {
            Direction::Undo => begun.map(|said| ChatMove { target_id: said.parent_id, undone_id: chat.leaf_id }),
            Direction::Redo if what == What::Files => None,
            Direction::Redo => chat.undone.last().map(|id| ChatMove { target_id: Some(*id), undone_id: None }),
        };
        let units = match (direction, what, begun) {
            (Direction::Undo, What::Both, Some(begun)) => since(&history.units, begun.id),
            (Direction::Undo, _, _) => history.units.iter().rev().take(1).collect(),
            (Direction::Redo, _, _) if redo_mark(&self.folder()).exists() => {
                // Not those of a turn that the conversation does not go forward to.
                let is_meant = |unit: &&Unit| match &moved {
                    Some(ChatMove { target_id: Some(id), .. }) => unit.entry_id <= *id,
                    Some(_) | None => true,
                };
                history.undone.last().filter(is_meant).into_iter().collect()
            }
            (Direction::Redo, _, _) => Vec::new(),
        };
        let lost = match (direction, what) {
            (Direction::Undo, What::Both | What::Files) => {
                let first = begun.map(|said| said.id).or_else(|| Some(units.first()?.entry_id)).unwrap_or_default();
                self.lost(&chat, first, &history)
            }
            (Direction::Undo, What::Chat) | (Direction::Redo, _) => None,
        };
        if units.is_empty() && moved.is_none() {
            let error = nothing(what, direction);
            return Err(match lost {
                Some(Lost { said, .. }) => error.hint(said),
                None => error,
            });
        }
        let mut plan = self.files(direction, &units, &history);
        if let Some(Lost { said, is_damaged }) = lost {
            plan.notes.push(said);
            plan.is_damaged = is_damaged;
        }
        let titled = match direction {
            Direction::Undo => begun,
            Direction::Redo => chat.again.as_ref().filter(|_| moved.is_some()),
        };
        // The turn's own words, unless the files are those of this very turn, whose title is kept without secrets.
        let is_other = titled.is_some_and(|said| units.last().is_none_or(|unit| unit.entry_id != said.id));
        let said = if is_other || plan.title.is_none() { titled } else { None };
        plan.title = said.and_then(|said| said.title(self.file?)).or(plan.title);
        plan.chat = moved;
        Ok(plan)
    }

    /// What it would take to bring the files back to before what a message asked for; the conversation stays.
    ///
    /// # Errors
    ///
    /// That no file was changed since; that a turn is running elsewhere; what the system said.
    pub fn plan_back_to(&self, entry_id: u64) -> Result<Plan, Error> {
        let history = self.history()?.unwrap_or_default();
        let units = since(&history.units, entry_id);
        if units.is_empty() {
            return Err(nothing(What::Files, Direction::Undo));
        }
        Ok(self.files(Direction::Undo, &units, &history))
    }

    /// Does to the files what a plan says. The conversation is for the caller to move.
    ///
    /// # Errors
    ///
    /// That nothing could be done; what could not be done of one path is in the report.
    pub fn apply(&self, plan: Plan) -> Result<Report, Error> {
        let Plan { direction, title: _, mut files, chat, notes: _, is_damaged, references, steps, text_bytes: _ } =
            plan;
        if references.is_empty() {
            return Ok(Report { direction, files, chat, is_damaged });
        }
        let folder = self.folder();
        let mut journal = Journal::open(&folder).map_err(unkept)?.ok_or_else(busy)?;
        let history = History::read(&folder).map_err(unkept)?;
        if !is_current(&history, direction, &references) {
            return Err(Error::failed("something else was done in this session meanwhile").hint("look again"));
        }
        let units = match direction {
            Direction::Undo => &history.units,
            Direction::Redo => &history.undone,
        };
        let root = units.last().map(|unit| unit.root.clone()).unwrap_or_default();
        let paths: BTreeSet<Name> = steps.iter().map(|step| step.path.clone()).collect();
        let (due, changed): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| {
            let now = self.look(&root, &step.path, |folder| paths.contains(&Name::from(folder)));
            now.is_ok_and(|now| now.is_like(&step.now) || now.is_like(&step.then))
        });
        changed.iter().for_each(|step| refuse(&mut files, step, "it was changed a moment ago".to_owned()));
        if due.is_empty() && files.iter().any(is_refused) {
            return Ok(Report { direction, files, chat, is_damaged });
        }
        let recorded =
            |step: &Step| Change { path: step.path.clone(), before: step.now.clone(), after: step.then.clone() };
        let intent = Line::Intent {
            undo: direction == Direction::Undo,
            refs: references,
            steps: due.iter().map(recorded).collect(),
        };
        let mut mark = OpenOptions::new();
        mark.write(true).create(true).truncate(false).mode(FILE_MODE);
        mark.open(redo_mark(&folder)).map_err(unkept)?;
        journal.append(&intent).and_then(|()| journal.sync()).map_err(unkept)?;
        let done = carry_out(&root, self.depot, &due, &mut |step, reason| refuse(&mut files, step, reason));
        let written = done.and_then(|done| journal.append(&Line::Done { done }).and_then(|()| journal.sync()));
        written.map_err(unkept)?;
        Ok(Report { direction, files, chat, is_damaged })
    }

    fn folder(&self) -> PathBuf {
        self.depot.session(self.session)
    }

    /// What the journal comes to, with a turn that was cut off ended. `None` where there is none.
    fn history(&self) -> Result<Option<History>, Error> {
        let folder = self.folder();
        if !journal::journal(&folder).exists() {
            return Ok(None);
        }
        let mut journal = Journal::open(&folder).map_err(unkept)?.ok_or_else(busy)?;
        close(self.depot, self.session, &mut journal).map_err(unkept)?;
        History::read(&folder).map(Some).map_err(unkept)
    }

    /// What to say of the turns from a message on that changed files and are not in the journal.
    fn lost(&self, chat: &Chat, first: u64, history: &History) -> Option<Lost> {
        let is_lost = |(id, reference): &&(u64, String)| *id >= first && !history.ended.contains(reference);
        let (_, reference) = chat.checkpoints.iter().rfind(is_lost)?;
        let is_of = |parent: &&String| {
            History::read(&self.depot.session(parent)).is_ok_and(|history| history.ended.contains(reference))
        };
        Some(match chat.parent.as_ref().filter(is_of) {
            Some(parent) => Lost {
                said: format!(
                    "The files of this turn belong to session {parent}, which this one is a copy of; they stay as they are."
                ),
                is_damaged: false,
            },
            None => Lost {
                said: "What was kept of the files of this turn is damaged or gone; they stay as they are.".to_owned(),
                is_damaged: true,
            },
        })
    }

    /// The turns of the journal as far as it can be read just so.
    fn peek(&self) -> Vec<Unit> {
        History::read(&self.folder()).map(|history| history.units).unwrap_or_default()
    }

    /// What stands at a path, if no link leads there; nothing stands behind one that goes itself.
    fn look(&self, root: &Path, path: &Name, goes: impl Fn(&Path) -> bool) -> Result<State, String> {
        let folders: Vec<&Path> = path.0.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()).collect();
        for folder in folders.into_iter().rev() {
            match root.join(folder).symlink_metadata() {
                Ok(found) if found.is_symlink() && goes(folder) => return Ok(State::Absent),
                Ok(found) if found.is_symlink() => return Err("its folder leads elsewhere by now".to_owned()),
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Ok(State::Absent),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Absent),
                Err(error) => return Err(error.to_string()),
            }
        }
        self.depot.scanner(root).look(path).map_err(|error| error.to_string())
    }

    /// The part of a plan that is about files: these units, the last one first.
    fn files(&self, direction: Direction, units: &[&Unit], history: &History) -> Plan {
        let root = units.first().map(|unit| unit.root.clone()).unwrap_or_default();
        let paths: BTreeSet<&Name> = units
            .iter()
            .flat_map(|unit| match direction {
                Direction::Undo => unit.changes.keys().chain(&unit.late).collect::<Vec<_>>(),
                Direction::Redo => unit.undone.iter().collect(),
            })
            .collect();
        let references: Vec<String> = units.iter().rev().flat_map(|unit| unit.references.clone()).collect();
        let begun = half_done(history, direction, &references);
        let decider = Decider { objects: self.depot.objects() };
        let is_late = |path: &Name| direction == Direction::Undo && units.iter().any(|unit| unit.late.contains(path));
        let decided = paths.iter().map(|path| {
            if is_late(path) {
                return ((*path).clone(), Err("it was changed after the program had ended, perhaps by you".to_owned()));
            }
            let decision = self.look(&root, path, |folder| paths.contains(&Name::from(folder))).and_then(|now| {
                if let Some((was, _)) = begun.get(path).filter(|(_, then)| now.is_like(then)) {
                    // Done before the program ended in the middle.
                    return Ok(Decision { now: (*was).clone(), then: now, how: How::Before });
                }
                let changes = units.iter().filter_map(|unit| unit.changes.get(path));
                let (then, merged) = decider.turned(direction, &now, changes)?;
                Ok(Decision { now, then, how: if merged { How::Merged } else { How::Plain } })
            });
            ((*path).clone(), decision)
        });
        let mut decided: BTreeMap<Name, Result<Decision, String>> = decided.collect();
        leave_full_folders(&root, &mut decided);
        let mut plan = Plan {
            direction,
            title: units.last().and_then(|unit| unit.title.clone()),
            files: Vec::new(),
            chat: None,
            notes: Vec::new(),
            is_damaged: false,
            references,
            steps: Vec::new(),
            text_bytes: 0,
        };
        if units.iter().any(|unit| unit.cut_off) && direction == Direction::Undo {
            plan.notes.push(
                "The turn was cut off: whatever changed until then counts as its own, and nothing later.".to_owned(),
            );
        }
        decided.into_iter().for_each(|(path, decision)| self.add(&mut plan, path, decision));
        plan
    }

    /// Adds one path to a plan.
    fn add(&self, plan: &mut Plan, path: Name, decision: Result<Decision, String>) {
        let file = |kind, before, after| FileChange { path: path.shown(), kind, before, after };
        let Decision { now, then, how } = match decision {
            Ok(decision) => decision,
            Err(reason) => return plan.files.push(file(ChangeKind::Refused(reason), None, None)),
        };
        let kind = match (how, &now, &then) {
            (How::Before, _, _) => return plan.steps.push(Step { path, now, then, shown: None }),
            (How::Plain | How::Merged, now, then) if now == then => return,
            (How::Plain | How::Merged, _, State::Absent) => ChangeKind::Delete,
            (How::Plain | How::Merged, State::Absent, _) => ChangeKind::Create,
            (How::Merged, _, _) => ChangeKind::Merge,
            (How::Plain, _, _) => ChangeKind::Restore,
        };
        let mut file = file(kind, self.text(&now, plan), self.text(&then, plan));
        if matches!(now, State::Folder) || matches!(then, State::Folder) {
            file.path.push('/');
        }
        let shown = Some(plan.files.len());
        plan.files.push(file);
        plan.steps.push(Step { path, now, then, shown });
    }

    /// A state as text, as far as it is one and not too long to show.
    fn text(&self, state: &State, plan: &mut Plan) -> Option<String> {
        if plan.text_bytes > TEXT_BYTES {
            return None;
        }
        let content = self.depot.objects().get(state.digest()?).ok()?;
        let text = String::from_utf8(content).ok()?;
        plan.text_bytes += text.len();
        (text.len() <= CHANGE_BYTES && !text.contains('\0')).then_some(text)
    }
}

/// What to say where the files of a turn cannot be taken back, since nothing is known of them here.
struct Lost {
    said: String,
    is_damaged: bool,
}

/// What is to become of a path.
struct Decision {
    now: State,
    then: State,
    how: How,
}

/// How it was decided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// What stands there is replaced.
    Plain,
    /// What somebody changed since is in it.
    Merged,
    /// It was done before the program ended in the middle.
    Before,
}

/// Folders that would go stay as long as there is something in them that does not.
fn leave_full_folders(root: &Path, decided: &mut BTreeMap<Name, Result<Decision, String>>) {
    let goes = |decision: &Result<Decision, String>| matches!(decision, Ok(Decision { then: State::Absent, .. }));
    let is_folder = |decision: &Result<Decision, String>| matches!(decision, Ok(Decision { now: State::Folder, then, .. }) if *then != State::Folder);
    let folders: Vec<Name> =
        decided.iter().filter(|(_, decision)| is_folder(decision)).map(|(path, _)| path.clone()).collect();
    // The deepest first: whether one goes decides about those around it.
    for folder in folders.into_iter().rev() {
        let entries = std::fs::read_dir(root.join(&folder)).into_iter().flatten().flatten();
        let is_emptied = entries
            .map(|entry| Name(folder.0.join(entry.file_name())))
            .all(|path| decided.get(&path).is_some_and(goes));
        if !is_emptied && decided.get(&folder).is_some_and(goes) {
            decided.remove(&folder);
        } else if !is_emptied {
            decided.insert(folder, Err("there is something else in the folder that stands in its place".to_owned()));
        }
    }
}

/// Does the steps: first what goes, the deepest first, then what comes. The places of those that were done.
fn carry_out(
    root: &Path,
    depot: &Depot,
    steps: &[Step],
    refuse: &mut dyn FnMut(&Step, String),
) -> io::Result<Vec<usize>> {
    let place = Place::open(root, depot.objects())?;
    let mut done = BTreeMap::new();
    let kind = |state: &State| std::mem::discriminant(state);
    for (number, step) in steps.iter().enumerate().rev() {
        let goes = step.then == State::Absent || step.now != State::Absent && kind(&step.now) != kind(&step.then);
        if goes {
            done.insert(number, place.remove(&step.path, &step.now));
        }
    }
    for (number, step) in steps.iter().enumerate() {
        let is_clear = done.get(&number).is_none_or(Result::is_ok);
        if is_clear && step.then != State::Absent {
            done.insert(number, place.put(&step.path, &step.then));
        }
    }
    Ok(done
        .into_iter()
        .filter_map(|(number, outcome)| match outcome {
            Ok(()) => Some(number),
            Err(error) => {
                let step = steps.get(number)?;
                refuse(step, reason(step, &error));
                None
            }
        })
        .collect())
}

fn reason(step: &Step, error: &io::Error) -> String {
    let kind = error.kind();
    if kind == io::ErrorKind::DirectoryNotEmpty {
        "there is something else in it".to_owned()
    } else if kind == io::ErrorKind::IsADirectory && step.now != State::Folder {
        "a folder stands in its place by now".to_owned()
    } else {
        error.to_string()
    }
}

/// The turns from a message on, the last one first, as far back as they were in the same workspace.
fn since(units: &[Unit], entry_id: u64) -> Vec<&Unit> {
    let last = units.last();
    let is_meant = |unit: &&Unit| unit.entry_id >= entry_id && last.is_some_and(|last| last.root == unit.root);
    units.iter().rev().take_while(is_meant).collect()
}

/// What the last turn of a conversation began with.
fn beginning<'c>(chat: &'c Chat, units: &[Unit]) -> Option<&'c super::chat::Said> {
    let last = chat.said.last()?;
    let around = units
        .iter()
        .rev()
        .find(|unit| unit.entry_id <= last.id && unit.last_id.map_or(unit.cut_off, |last_id| last_id >= last.id));
    let first = around.and_then(|unit| chat.said.iter().find(|said| said.id == unit.entry_id));
    Some(first.unwrap_or(last))
}

/// What was about to be done to these turns when the program ended.
fn half_done<'h>(
    history: &'h History,
    direction: Direction,
    references: &[String],
) -> BTreeMap<&'h Name, (&'h State, &'h State)> {
    match &history.intent {
        Some((way, refs, steps)) if *way == direction && refs == references => {
            steps.iter().map(|step| (&step.path, (&step.before, &step.after))).collect()
        }
        Some(_) | None => BTreeMap::new(),
    }
}

/// Whether a plan is still about the turns that would be taken back or restored now.
fn is_current(history: &History, direction: Direction, references: &[String]) -> bool {
    let names = |units: &[Unit]| -> Vec<String> { units.iter().flat_map(|unit| unit.references.clone()).collect() };
    match direction {
        Direction::Undo => names(&history.units).ends_with(references) && history.open.is_none(),
        Direction::Redo => history.undone.last().is_some_and(|unit| unit.references == references),
    }
}

/// Notes that something was not done after all.
fn refuse(files: &mut [FileChange], step: &Step, reason: String) {
    if let Some(file) = step.shown.and_then(|place| files.get_mut(place)) {
        file.kind = ChangeKind::Refused(reason);
    }
}

fn is_refused(file: &FileChange) -> bool {
    matches!(file.kind, ChangeKind::Refused(_))
}

fn nothing(what: What, direction: Direction) -> Error {
    Error::failed(match (direction, what) {
        (Direction::Undo, What::Both) => "there is nothing to undo in this session",
        (Direction::Undo, What::Files) => "no turn of this session changed files that could be taken back",
        (Direction::Undo, What::Chat) => "nothing was said in this session that could be taken back",
        (Direction::Redo, What::Both) => "there is nothing to redo in this session",
        (Direction::Redo, What::Files) => "no files of this session were taken back since something was last said",
        (Direction::Redo, What::Chat) => "nothing that was said here was taken back since",
    })
}

fn busy() -> Error {
    Error::failed("a turn of this session is running in another process")
        .hint("wait until it has ended, or stop it there")
}

fn unkept(error: io::Error) -> Error {
    Error::failed("the checkpoints of this session cannot be used").caused_by(error)
}

fn unreadable(file: &Path, error: io::Error) -> Error {
    Error::failed(format!("cannot read {}", file.display())).caused_by(error)
}
