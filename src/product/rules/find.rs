//! Finding and reading the files: which of a folder's counts, what it imports, and what must not be read.
//!
//! A project's files stay inside of the repository and off what is closed, wherever links lead. Every file is read once.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::import::{self, Import};
use super::{BUDGET_BYTES, NAMES, Place, Why, budget, text};
use crate::base::path::{fold, is_absent, open_home, shown};
use crate::base::text::visible;
use crate::kernel::tool::echo;

/// How many files may hang one below the other by imports; as many as `CLAUDE.md` is documented to follow.
const MOST_HOPS: usize = 5;
/// How many notices come of one reading: more than anybody will act on at a time.
const MOST_NOTICES: usize = 20;
/// How many files are read at once, so that a text full of names does not become a walk over the disk.
const MOST_FILES: usize = 64;

/// A file with rules.
#[derive(Debug)]
pub(super) struct File {
    /// As it was found, absolute.
    pub(super) path: PathBuf,
    /// Its text as the model may see it, as much as there can be room for; whole lines where it is not all of it.
    pub(super) text: String,
    /// Whether that is all of it.
    pub(super) is_whole: bool,
    /// Its size in bytes.
    pub(super) bytes: u64,
    pub(super) why: Why,
    pub(super) imported_by: Option<PathBuf>,
}

impl File {
    /// How many bytes are left out where `kept` of the text are sent; an estimate where the text differs from the file.
    pub(super) fn left_out(&self, kept: usize) -> u64 {
        let unsent = (self.text.len() - kept) as u64;
        if self.is_whole { unsent } else { unsent.max(self.bytes.saturating_sub(kept as u64)) }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// General to near; what a file imports stands before it.
    pub(super) files: Vec<File>,
    /// What a person should know.
    pub(super) notices: Vec<String>,
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The user's: it may name any file.
    User,
    /// Somebody else's: it stays where it is.
    Project,
}

/// Why a file is not among the rules.
enum Problem {
    Absent,
    Empty,
    Outside,
    Closed,
    Special(&'static str),
    Binary,
    TooMany,
    TooDeep,
    System(io::Error),
}

impl Problem {
    /// As the end of a sentence that begins with the file.
    fn words(&self) -> String {
        match self {
            Self::Absent => "is not there".to_owned(),
            Self::Empty => "is empty".to_owned(),
            Self::Outside => "leads out of the project".to_owned(),
            Self::Closed => "is closed by sandbox.deny_read".to_owned(),
            Self::Special(kind) => format!("is {kind}, not a regular file"),
            Self::Binary => "is no text".to_owned(),
            Self::TooMany => format!("would be one of more than {MOST_FILES} files"),
            Self::TooDeep => format!("is more than {MOST_HOPS} imports deep"),
            Self::System(error) => format!("cannot be read ({error})"),
        }
    }
}

/// Finds and reads.
pub(super) struct Finder<'a> {
    place: &'a Place,
    /// Files that are told already, links followed.
    known: HashSet<PathBuf>,
    /// The same by their labels, where no more than that is known.
    labels: &'a HashSet<String>,
    found: Found,
}

impl<'a> Finder<'a> {
    pub(super) fn new(place: &'a Place, known: HashSet<PathBuf>, labels: &'a HashSet<String>) -> Self {
        Self { place, known, labels, found: Found::default() }
    }

    /// What was found, and all files that are known by now.
    pub(super) fn finish(self) -> (Found, HashSet<PathBuf>) {
        (self.found, self.known)
    }

    /// Reads the rules of a folder.
    pub(super) fn rules_of(&mut self, folder: &Path, why: Why) {
        let owner = if why == Why::User { Owner::User } else { Owner::Project };
        for name in NAMES {
            let path = folder.join(name);
            match self.take(&path, owner, why, &[]) {
                Ok(()) => return,
                Err(Problem::Absent | Problem::Empty) => {}
                Err(problem) => self.complain(&path, &problem),
            }
        }
    }

    /// Reads a file of what is remembered.
    pub(super) fn memory(&mut self, path: &Path, why: Why) {
        let owner = if why == Why::UserMemory { Owner::User } else { Owner::Project };
        match self.take(path, owner, why, &[]) {
            Ok(()) | Err(Problem::Absent | Problem::Empty) => {}
            Err(problem) => self.complain(path, &problem),
        }
    }

    fn complain(&mut self, path: &Path, problem: &Problem) {
        self.note(format!("{} {}; it is not among the rules.", self.shown(path), problem.words()));
    }

    fn note(&mut self, notice: String) {
        let notices = &mut self.found.notices;
        if notices.len() < MOST_NOTICES && !notices.contains(&notice) {
            notices.push(notice);
        }
    }

    fn shown(&self, path: &Path) -> String {
        shown(path, self.place.home.as_deref())
    }

    /// Reads a file and what it imports, unless it is known. `chain` are the files that import it, the nearest last.
    fn take(&mut self, path: &Path, owner: Owner, why: Why, chain: &[&Path]) -> Result<(), Problem> {
        let real = path.canonicalize().map_err(|error| match is_absent(&error) {
            true => Problem::Absent,
            false => Problem::System(error),
        })?;
        if owner == Owner::Project && !real.starts_with(&self.place.root) {
            return Err(Problem::Outside);
        }
        // What the user calls rules is for the model, but no other file becomes readable by being named in it.
        if (owner == Owner::Project || !chain.is_empty()) && !self.place.workspace.may_read(path) {
            return Err(Problem::Closed);
        }
        if self.known.contains(&real) {
            return Ok(());
        }
        if self.labels.contains(&text::label(path, self.place.home.as_deref())) {
            self.known.insert(real);
            return Ok(());
        }
        if chain.len() > MOST_HOPS {
            return Err(Problem::TooDeep);
        }
        // Those that wait for what they import are counted, too.
        if self.found.files.len() + chain.len() >= MOST_FILES {
            return Err(Problem::TooMany);
        }
        let mut file = read(path)?;
        file.why = why;
        file.imported_by = chain.last().map(|path| (*path).to_owned());
        self.known.insert(real.clone());
        let mut below = chain.to_vec();
        below.push(path);
        for import in import::all(&file.text) {
            self.follow(&import, owner, &real, &below);
        }
        self.found.files.push(file);
        Ok(())
    }

    /// Reads an import of the last file of `chain`, which is really at `real`.
    fn follow(&mut self, import: &Import, owner: Owner, real: &Path, chain: &[&Path]) {
        let Some(by) = chain.last() else { return };
        let (by, naming) = (self.shown(by), by.parent());
        let path = visible::line(&echo(import.without_marks().unwrap_or(&import.path))).into_owned();
        if owner == Owner::Project && import.path.starts_with("~/") {
            self.note(format!("{by} imports @{path}: only the user's own rules may name files of the home folder."));
            return;
        }
        let folders = [naming, real.parent()].into_iter().flatten();
        let Err(problem) = self.take_any(import, owner, &folders.collect::<Vec<_>>(), chain) else { return };
        let is_silent = match problem {
            Problem::Absent | Problem::Special(_) => !import.is_certain,
            Problem::Empty => true,
            Problem::Outside | Problem::Closed | Problem::Binary => false,
            Problem::TooMany | Problem::TooDeep | Problem::System(_) => false,
        };
        if !is_silent {
            self.note(format!("{by} imports @{path}, which {}.", problem.words()));
        }
    }

    /// Reads the first that is there: as it is written, then without the full stop behind it, in each of the folders.
    fn take_any(&mut self, import: &Import, owner: Owner, folders: &[&Path], chain: &[&Path]) -> Result<(), Problem> {
        let home = self.place.home.as_deref().filter(|_| owner == Owner::User);
        for written in std::iter::once(import.path.as_str()).chain(import.without_marks()) {
            for folder in folders {
                let path = fold(&open_home(Path::new(written), folder, home));
                match self.take(&path, owner, Why::Import, chain) {
                    Err(Problem::Absent) => {}
                    taken => return taken,
                }
            }
        }
        Err(Problem::Absent)
    }
}

/// Reads a file, as far as there can be room for it.
fn read(path: &Path) -> Result<File, Problem> {
    // Somebody may have put a pipe there; opening one would wait.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let kind = path.metadata().map_err(Problem::System)?.file_type();
    if kind.is_dir() {
        return Err(Problem::Special("a folder"));
    }
    if !kind.is_file() {
        return Err(Problem::Special("a pipe, a socket or a device"));
    }
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).map_err(Problem::System)?;
    let metadata = file.metadata().map_err(Problem::System)?;
    let mut content = Vec::new();
    file.take(BUDGET_BYTES as u64 + 1).read_to_end(&mut content).map_err(Problem::System)?;
    if content.contains(&0) {
        return Err(Problem::Binary);
    }
    let is_whole = content.len() <= BUDGET_BYTES;
    let bytes = metadata.len().max(content.len() as u64);
    let text = String::from_utf8_lossy(&content);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    // A character that the end of the reading has cut apart is in a line that is left out.
    let text = if is_whole { text } else { text.get(..budget::whole_lines(text, text.len() - 1)).unwrap_or_default() };
    let text = text.replace("\r\n", "\n");
    // What a person would not see when they look through the file must not be told behind their back.
    let mut text = visible::lines(text.trim_end()).into_owned();
    if text.is_empty() && is_whole {
        return Err(Problem::Empty);
    }
    if !text.is_empty() {
        text.push('\n');
    }
    Ok(File { path: path.to_owned(), text, is_whole, bytes, why: Why::Import, imported_by: None })
}
