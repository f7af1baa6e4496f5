//! The journal of a session's checkpoints: what each turn changed, and what was taken back since.
//!
//! Append only, one object a line. What was about to be done is written before it is done, so that a crash in the middle
//! leaves something to go on from. What the lines come to is a [`History`]; nothing here looks at the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::index::Stamp;
use super::plan::Direction;
use super::pulse::Pulse;
use super::scan::Change;
use super::state::{Name, State};
use crate::base::jsonl::Reader;
use crate::base::lock;

/// Only the user may read or write.
const FILE_MODE: u32 = 0o600;
/// The same for folders.
const FOLDER_MODE: u32 = 0o700;
/// How long somebody else may take files back before a turn goes on without a checkpoint; and a turn may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Line {
    /// A turn is about to change something for the first time.
    Turn {
        /// Its name.
        #[serde(rename = "ref")]
        reference: String,
        /// The message that asked for it.
        entry_id: u64,
        /// The root of the workspace.
        root: Name,
        /// The beginning of that message.
        title: Option<String>,
        /// When, in milliseconds since 1970.
        timestamp: i64,
    },
    /// What stood at a path before a tool wrote there.
    Before {
        /// The path.
        path: Name,
        /// What stood there.
        state: State,
    },
    /// What a tool left at a path.
    After {
        /// The path.
        path: Name,
        /// What stands there.
        state: State,
    },
    /// The index holds what there was before the turn's first command.
    Looked {
        /// When that was, in nanoseconds since 1970.
        at: i64,
    },
    /// A turn has ended.
    End {
        /// What it changed.
        changes: Vec<Change>,
        /// The last message of the turn, where that is known.
        last_id: Option<u64>,
        /// Whether it was cut off, so that what stood there when that was noticed counts as what it left.
        cut_off: bool,
        /// Paths that were changed after the program had ended, by whomever; they are in no change.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        late: BTreeSet<Name>,
    },
    /// Something was said: what was taken back is not restored any more.
    Said {},
    /// These turns are about to be taken back or restored.
    Intent {
        /// Which way.
        undo: bool,
        /// Their names.
        refs: Vec<String>,
        /// By path: what stands there now, and what is to stand there.
        steps: Vec<Change>,
    },
    /// It was done.
    Done {
        /// The places of the steps that were.
        done: Vec<usize>,
    },
    /// Something a later version knows.
    #[serde(other)]
    Unknown,
}

/// One or more turns that are taken back together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unit {
    /// The root of the workspace.
    pub root: PathBuf,
    /// The turns' names, oldest first.
    pub references: Vec<String>,
    /// The first message that asked for it.
    pub entry_id: u64,
    /// The last message of the last turn, where that is known.
    pub last_id: Option<u64>,
    /// The beginning of that message.
    pub title: Option<String>,
    /// What stood and stands at each path.
    pub changes: BTreeMap<Name, (State, State)>,
    /// The paths that were taken back, if it was.
    pub undone: BTreeSet<Name>,
    /// Whether a turn in it was cut off.
    pub cut_off: bool,
    /// Paths that were changed after the program had ended, and may be anybody's.
    pub late: BTreeSet<Name>,
}

/// A turn that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The root of the workspace.
    pub root: PathBuf,
    /// Its name.
    pub reference: String,
    /// The message that asked for it.
    pub entry_id: u64,
    /// The beginning of that message.
    pub title: Option<String>,
    /// What tools did to paths: what stood there first, and what they left.
    pub touched: BTreeMap<Name, Touched>,
    /// When the index was brought up to date, if it was.
    pub looked: Option<i64>,
}

/// What tools did to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// What stood there before.
    pub before: State,
    /// What they left.
    pub after: Option<State>,
    /// Whether a command had run before, which may have changed it already.
    pub is_late: bool,
}

/// What a journal comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// What can be taken back, oldest first.
    pub units: Vec<Unit>,
    /// What can be restored; the last one first.
    pub undone: Vec<Unit>,
    /// A turn that has not ended, or was cut off.
    pub open: Option<Open>,
    /// The names of all turns that have ended, whatever became of them.
    pub ended: BTreeSet<String>,
    /// What was about to be done when the program ended.
    pub intent: Option<(Direction, Vec<String>, Vec<Change>)>,
}

impl History {
    /// Reads a journal. One that does not exist is empty; damaged lines are passed over.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut history = Self::default();
        let file = match File::open(journal(folder)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(history),
            Err(error) => return Err(error),
        };
        let mut reader = Reader::new(BufReader::with_capacity(256 << 10, file), 0);
        while let Some(record) = reader.read::<Line>()? {
            history.add(record.value);
        }
        Ok(history)
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Turn { reference, entry_id, root, title, timestamp: _ } => {
                let root = root.0;
                self.open = Some(Open { root, reference, entry_id, title, touched: BTreeMap::new(), looked: None });
            }
            Line::Before { path, state } => {
                if let Some(open) = &mut self.open {
                    let is_late = open.looked.is_some();
                    open.touched.entry(path).or_insert(Touched { before: state, after: None, is_late });
                }
            }
            Line::After { path, state } => {
                if let Some(touched) = self.open.as_mut().and_then(|open| open.touched.get_mut(&path)) {
                    touched.after = Some(state);
                }
            }
            Line::Looked { at } => {
                if let Some(open) = &mut self.open {
                    open.looked.get_or_insert(at);
                }
            }
            Line::End { changes, last_id, cut_off, late } => self.end(changes, last_id, cut_off, late),
            Line::Said {} => self.undone.clear(),
            Line::Intent { undo, refs, steps } => {
                let direction = if undo { Direction::Undo } else { Direction::Redo };
                self.intent = Some((direction, refs, steps));
            }
            Line::Done { done } => {
                if let Some((direction, refs, steps)) = self.intent.take() {
                    let steps = done.iter().filter_map(|place| steps.get(*place));
                    match direction {
                        Direction::Undo => self.undo(&refs, steps),
                        Direction::Redo => self.redo(&refs, steps),
                    }
                }
            }
            Line::Unknown => {}
        }
    }

    fn end(&mut self, changes: Vec<Change>, last_id: Option<u64>, cut_off: bool, late: BTreeSet<Name>) {
        let Some(Open { root, reference, entry_id, title, .. }) = self.open.take() else { return };
        self.ended.insert(reference.clone());
        if changes.is_empty() && late.is_empty() {
            return;
        }
        self.undone.clear();
        let changes = changes.into_iter().map(|Change { path, before, after }| (path, (before, after))).collect();
        let (references, undone) = (vec![reference], BTreeSet::new());
        self.units.push(Unit { root, references, entry_id, last_id, title, changes, undone, cut_off, late });
    }

    /// The turns of these names become one that has been taken back.
    fn undo<'s>(&mut self, refs: &[String], steps: impl Iterator<Item = &'s Change>) {
        let is_meant = |unit: &Unit| unit.references.iter().any(|reference| refs.contains(reference));
        let (meant, others) = std::mem::take(&mut self.units).into_iter().partition(is_meant);
        self.units = others;
        let mut unit = joined(meant);
        for Change { path, before: now, after: then } in steps {
            unit.undone.insert(path.clone());
            unit.changes.insert(path.clone(), (then.clone(), now.clone()));
        }
        self.undone.push(unit);
    }

    fn redo<'s>(&mut self, refs: &[String], steps: impl Iterator<Item = &'s Change>) {
        let Some(mut unit) = self.undone.pop_if(|unit| unit.references == refs) else { return };
        for Change { path, before: now, after: then } in steps {
            unit.changes.insert(path.clone(), (now.clone(), then.clone()));
        }
        unit.undone.clear();
        self.units.push(unit);
    }
}

/// Several turns as one: what stood at a path before the first, and what the last one left.
fn joined(units: Vec<Unit>) -> Unit {
    let mut joined = Unit::default();
    for unit in units {
        if joined.references.is_empty() {
            (joined.root, joined.entry_id, joined.title) = (unit.root, unit.entry_id, unit.title);
        }
        joined.references.extend(unit.references);
        joined.last_id = unit.last_id;
        joined.cut_off |= unit.cut_off;
        joined.late.extend(unit.late);
        for (path, (before, after)) in unit.changes {
            let earliest = joined.changes.remove(&path).map_or(before, |(earliest, _)| earliest);
            joined.changes.insert(path, (earliest, after));
        }
    }
    joined
}

/// A journal that is written to. It is held alone: nobody takes files back in the middle of a turn.
#[derive(Debug)]
pub struct Journal {
    file: File,
    lock: File,
    /// When the one who held it last was known to live, in nanoseconds since 1970 by the clock of the file system.
    pub alive: i64,
}

impl Journal {
    /// Opens the journal in the folder of a session, and makes both. `None` while somebody else holds it.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn open(folder: &Path) -> io::Result<Option<Self>> {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(FILE_MODE);
        let own = options.open(folder.join("lock"))?;
        if !lock::exclusive(&own, PATIENCE)? {
            return Ok(None);
        }
        let alive = Stamp::new(&own.metadata()?).modified;
        let mut file = options.open(journal(folder))?;
        // Behind a line that was torn by a crash, the next one begins afresh.
        if !ends_whole(&file)? {
            file.write_all(b"\n")?;
        }
        Ok(Some(Self { file, lock: own, alive }))
    }

    /// Appends a line.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn append(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)
    }

    /// Says from now on that this process lives, until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn pulse(&self) -> io::Result<Pulse> {
        Pulse::start(self.lock.try_clone()?)
    }

    /// Brings what was appended to the disk.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn ends_whole(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::FileExt as _;
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

/// The journal of the session that has this folder.
pub fn journal(folder: &Path) -> PathBuf {
    folder.join("journal.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(path: &str) -> Name {
        Name(path.into())
    }

    fn turn(reference: &str, entry_id: u64) -> Line {
        Line::Turn { reference: reference.into(), entry_id, root: name("/w"), title: None, timestamp: 0 }
    }

    fn made(path: &str) -> Line {
        let change = Change { path: name(path), before: State::Absent, after: State::Folder };
        Line::End { changes: vec![change], last_id: None, cut_off: false, late: BTreeSet::new() }
    }

    fn history(lines: &[Line]) -> History {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path()).unwrap().unwrap();
        lines.iter().for_each(|line| journal.append(line).unwrap());
        History::read(folder.path()).unwrap()
    }

    fn references(units: &[Unit]) -> Vec<String> {
        units.iter().map(|unit| unit.references.join("+")).collect()
    }

    #[test]
    fn turns_are_taken_back_and_restored_in_order() {
        let intent = |undo, refs: &[&str], path: &str| Line::Intent {
            undo,
            refs: refs.iter().map(|reference| (*reference).to_owned()).collect(),
            steps: vec![Change { path: name(path), before: State::Folder, after: State::Absent }],
        };
        let done = || Line::Done { done: vec![0] };
        let mut lines = vec![turn("a", 1), made("x"), turn("b", 3), made("y"), turn("c", 5), made("z")];
        lines.extend([intent(true, &["c"], "z"), done(), intent(true, &["a", "b"], "x"), done()]);
        let both = history(&lines);
        assert_eq!((references(&both.units), references(&both.undone)), (vec![], vec!["c".to_owned(), "a+b".into()]));
        assert_eq!(both.undone[1].undone, [name("x")].into());
        lines.extend([intent(false, &["a", "b"], "x"), done()]);
        let one = history(&lines);
        assert_eq!((references(&one.units), references(&one.undone)), (vec!["a+b".to_owned()], vec!["c".to_owned()]));
        lines.push(Line::Said {});
        assert_eq!(history(&lines).undone, []);
        lines.extend([intent(true, &["a", "b"], "x")]);
        let pending = history(&lines);
        assert!(pending.intent.is_some() && references(&pending.units) == ["a+b"]);
    }

    #[test]
    fn a_torn_line_is_passed_over_and_a_turn_without_end_is_open() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(History::read(folder.path()).unwrap(), History::default());
        let mut journal = Journal::open(folder.path()).unwrap().unwrap();
        journal.append(&turn("a", 1)).unwrap();
        journal.append(&made("x")).unwrap();
        journal.append(&turn("b", 2)).unwrap();
        journal.append(&Line::Before { path: name("f"), state: State::Absent }).unwrap();
        journal.file.write_all(br#"{"type":"after","path":"f","#).unwrap();
        assert!(Journal::open(folder.path()).unwrap().is_none(), "it is held");
        drop(journal);
        let mut journal = Journal::open(folder.path()).unwrap().unwrap();
        journal.append(&Line::Looked { at: 7 }).unwrap();
        let History { units, open, .. } = History::read(folder.path()).unwrap();
        let Open { reference, entry_id, touched, looked, .. } = open.unwrap();
        assert_eq!((references(&units), reference.as_str(), entry_id, looked), (vec!["a".into()], "b", 2, Some(7)));
        assert_eq!(touched[&name("f")], Touched { before: State::Absent, after: None, is_late: false });
    }
}
