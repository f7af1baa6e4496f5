//! Sessions of other programs, read so that they can be gone on with here: what maps, maps; the rest is counted.
//!
//! Their files are only read. What was allowed in them is not taken over, nor are the seals of providers.

mod claude;
mod codex;
mod draft;
mod pi;
mod zaica;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use crate::base::jsonl::{BUFFER_BYTES, Reader};
use crate::product::error::Error;
use crate::product::session::adopt::{Adopted, Whole};
use crate::product::session::entry::Imported;
use crate::product::session::store::Store;
use draft::Draft;

/// How many records are looked at to tell whose file it is; some programs put other things first.
const LOOKED_AT: usize = 50;
/// How deep folders are looked into: all known programs nest less.
const MAX_DEPTH: usize = 8;

/// A program whose sessions are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Pi: `~/.pi/agent/sessions`.
    Pi,
    /// zaica: `~/.config/zaica/sessions`.
    Zaica,
    /// Claude Code: `~/.claude/projects`.
    Claude,
    /// Codex: `~/.codex/sessions`.
    Codex,
}

impl Program {
    const ALL: [Self; 4] = [Self::Pi, Self::Zaica, Self::Claude, Self::Codex];

    /// Its name in options and session files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Zaica => "zaica",
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Whether a record can only be of this program.
    fn wrote(self, record: &Value) -> bool {
        match self {
            Self::Pi => pi::wrote(record),
            Self::Zaica => zaica::wrote(record),
            Self::Claude => claude::wrote(record),
            Self::Codex => codex::wrote(record),
        }
    }

    fn read(self, records: &[Value], draft: &mut Draft) {
        match self {
            Self::Pi => pi::read(records, draft),
            Self::Zaica => zaica::read(records, draft),
            Self::Claude => claude::read(records, draft),
            Self::Codex => codex::read(records, draft),
        }
    }
}

/// A session of another program, understood.
#[derive(Clone, Debug)]
pub struct Taken {
    /// What was understood.
    pub whole: Whole,
    /// How many records of each kind were not.
    pub left_out: BTreeMap<String, u64>,
    /// How many lines are damaged.
    pub broken: usize,
}

/// What became of a file.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A new session.
    Made {
        /// Its id.
        id: String,
        /// Its file.
        path: PathBuf,
        /// What was read.
        taken: Box<Taken>,
    },
    /// It had become one before.
    There {
        /// That one's id.
        id: String,
    },
    /// Nothing was said in it.
    Empty,
}

/// Whether a session may be taken in a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It is left as it is.
    No,
    /// It becomes one more.
    Yes,
}

/// Takes in one file after another, and remembers which.
#[derive(Debug)]
pub struct Importer<'a> {
    store: &'a Store,
    /// For sessions that do not say where they worked.
    cwd: &'a Path,
    again: Again,
    adopted: Adopted,
}

impl<'a> Importer<'a> {
    /// An importer into `store`. Sessions that do not say in which folder they worked become ones of `cwd`.
    pub fn new(store: &'a Store, cwd: &'a Path, again: Again) -> Self {
        Self { store, cwd, again, adopted: store.adopted() }
    }

    /// Takes in a file. `from` is who wrote it, where that is known.
    ///
    /// # Errors
    ///
    /// Usage where it is no session of a known program; when it cannot be read, or the new one cannot be written.
    pub fn import(&mut self, path: &Path, from: Option<Program>) -> Result<Outcome, Error> {
        let taken = read(path, from)?;
        if let (Some(id), Again::No) = (self.adopted.of(&taken.whole.imported), self.again) {
            return Ok(Outcome::There { id: id.to_owned() });
        }
        if taken.whole.lines.is_empty() {
            return Ok(Outcome::Empty);
        }
        let (id, path) = self.store.adopt(&taken.whole, self.cwd)?;
        self.adopted.add(&taken.whole.imported, id.clone());
        Ok(Outcome::Made { id, path, taken: Box::new(taken) })
    }
}

/// Reads a session of another program.
///
/// # Errors
///
/// Usage where it is no session of a known program; when it cannot be read.
pub fn read(path: &Path, from: Option<Program>) -> Result<Taken, Error> {
    let cannot = |error: io::Error| Error::failed(format!("cannot read {}", path.display())).caused_by(error);
    // A pipe would be waited for without end.
    let metadata = fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(Error::usage(format!("{} is not a file", path.display())));
    }
    let mut reader = Reader::new(BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(cannot)?), 0);
    let mut records = Vec::new();
    let mut program = from;
    while let Some(record) = reader.read::<Value>().map_err(cannot)? {
        records.push(record.value);
        if program.is_none() {
            program = records.last().and_then(|record| Program::ALL.into_iter().find(|known| known.wrote(record)));
            if program.is_none() && records.len() >= LOOKED_AT {
                break;
            }
        }
    }
    let Some(program) = program else { return Err(unknown(path, records.first())) };
    let broken = reader.broken();
    let mut draft = Draft::default();
    program.read(&records, &mut draft);
    let (mut whole, left_out) = draft.finish();
    if whole.begun == 0 {
        // Where nobody says when: when the file was last written.
        let since = metadata.modified().ok().and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
        whole.begun = since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_default();
        whole.lines.iter_mut().for_each(|line| line.at_ms = line.at_ms.max(whole.begun));
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let id = if whole.imported.id.is_empty() { stem() } else { whole.imported.id };
    whole.imported = Imported { from: program.as_str().to_owned(), id, path: path.display().to_string() };
    Ok(Taken { whole, left_out, broken })
}

fn unknown(path: &Path, first: Option<&Value>) -> Error {
    let error = Error::usage(format!("{} is no session of a known program", path.display()));
    match first.is_some_and(|record| record.get("created_at").is_some() && record.get("cwd").is_some()) {
        true => error.hint(format!("it is one of ours: `agent --session {}` goes on with it", path.display())),
        false => error.hint("known are Pi, zaica, Claude Code and Codex; --from says which one it is"),
    }
}

/// The files that may be sessions: `path` itself, or all of that folder and those in it. Links are not followed.
///
/// # Errors
///
/// When the folder cannot be looked into.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let looked = gather(path, MAX_DEPTH, &mut files);
    looked.map_err(|error| Error::failed(format!("cannot look into {}", path.display())).caused_by(error))?;
    files.sort();
    Ok(files)
}

fn gather(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && depth > 0 {
            gather(&path, depth - 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
