//! Finds sessions and opens them for going on; the only place that knows the folders.
//!
//! One writer a session: who comes second gets a copy of its own. Files are never changed by looking at them.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::base::clock::Clock;
use crate::base::lock;
use crate::base::path::canonical;
use crate::base::text::numbers::count;
use crate::kernel::event::{Notice, NoticeCode};
use crate::model::message::{Message, Origin};
use crate::product::error::Error;

use super::blob::Blobs;
use super::entry::{Header, Link, VERSION};
use super::given;
use super::list::{self, Candidate, Unread};
use super::load::{Conversation, Handled, Loaded};
use super::log::{Birth, Copied, Log};
use super::name;
use super::shelf;
use super::spent::{self, Spent, Sum};
use super::{Session, fork, named};
use crate::product::permission::Grant;

/// How long a lock is waited for: a process that was just killed lets go of its own within a few milliseconds.
pub(super) const LOCK_PATIENCE: Duration = Duration::from_millis(150);
/// How many candidates an error about an ambiguous id shows.
const CANDIDATES_SHOWN: usize = 5;

/// All sessions of one user.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) root: PathBuf,
    pub(super) blobs: Blobs,
    pub(super) clock: Clock,
}

/// Which session is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// The one of this directory with the last activity.
    Newest,
    /// The one whose id is this or begins with it, of any directory.
    Id(String),
    /// That file.
    Path(PathBuf),
}

impl Selector {
    /// Reads what a person wrote: what looks like a path is one, relative to `cwd`.
    pub fn parse(text: &str, cwd: &Path) -> Self {
        let is_path = text.contains('/') || Path::new(text).extension().is_some_and(|ending| ending == name::EXTENSION);
        if is_path { Self::Path(cwd.join(text)) } else { Self::Id(text.to_owned()) }
    }
}

/// A session that goes on.
#[derive(Debug)]
pub struct Opened {
    /// Where it goes on.
    pub session: Session,
    /// What was said so far, as far as the model is to see it.
    pub messages: Vec<Arc<Message>>,
    /// How many of `messages` come from before a summary: what their answers counted says nothing about what is sent.
    pub stale: usize,
    /// What was done to files, as far as the model is to see it.
    pub handled: Vec<Handled>,
    /// What was allowed in it; only of files this user wrote here, and not of those named by a path.
    pub grant: Option<Grant>,
    /// Who answers next, as far as the file says so.
    pub model: Option<Origin>,
    /// What a person should know.
    pub notices: Vec<Notice>,
}

/// A session to look at.
#[derive(Debug)]
pub struct History {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// Its name.
    pub name: Option<String>,
    /// The first line.
    pub header: Header,
    /// Messages and summaries from the beginning to where it stands, as they are on disk.
    pub records: Vec<Value>,
    /// Damaged lines.
    pub broken: usize,
    /// Where that lies which the records name by its hash.
    pub blobs: Blobs,
}

/// A session's file to look into.
#[derive(Debug)]
pub struct Looked {
    /// The session's id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// What is in it.
    pub loaded: Loaded,
}

/// Whether a session goes on where it is.
enum Writer {
    /// In this file, which nobody else writes.
    Ours(File),
    /// In a copy; why, and of what.
    Copy(&'static str),
    /// In a copy, as was asked for.
    Fork,
}

/// Where the sessions lie that are made for another one.
#[derive(Clone, Debug)]
pub struct Home {
    folder: PathBuf,
    /// The other one.
    id: String,
}

impl Store {
    /// The sessions under `data_dir`, which need not exist yet.
    pub fn new(data_dir: &Path, clock: Clock) -> Self {
        Self { root: data_dir.join("sessions"), blobs: Blobs::new(data_dir), clock }
    }

    /// Where content lies that is too long for a line.
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// A new session of `cwd`. Its file is made with its first message.
    pub fn create(&self, cwd: &Path, origin: &Origin) -> Session {
        let header = self.header(cwd, origin, None);
        let log = Log::unborn(Birth { folder: self.folder(cwd), header, copy: None });
        Session { origin: Some(origin.clone()), ..self.session(log) }
    }

    /// A new session for work that is done for another one; its file lies beside that one's.
    pub fn create_beside(&self, home: &Home, cwd: &Path, origin: &Origin) -> Session {
        let header = self.header(cwd, origin, Some(home.id.clone()));
        let log = Log::unborn(Birth { folder: home.folder.clone(), header, copy: None });
        Session { origin: Some(origin.clone()), ..self.session(log) }
    }

    /// Where the sessions lie that are made for `session`, a session of `cwd`. `None` where it is not kept.
    pub fn home(&self, session: &Session, cwd: &Path) -> Option<Home> {
        let id = session.id().to_owned();
        let folder = match session.path().and_then(Path::parent) {
            Some(folder) => folder.to_owned(),
            None => self.folder(cwd),
        };
        session.is_kept().then(|| Home { folder: given::folder(&folder.join(&id)), id })
    }

    /// Opens a session for going on in `cwd`. `None` where the newest one is wanted and there is none.
    ///
    /// # Errors
    ///
    /// When it does not exist, is not the only one meant, cannot be read, is no session, or is of a later version.
    pub fn open(&self, selector: &Selector, cwd: &Path) -> Result<Option<Opened>, Error> {
        let Some(path) = self.find(selector, cwd)? else {
            return Ok(None);
        };
        let (file, writable) = open_file(&path)?;
        let locked = writable && lock::exclusive(&file, LOCK_PATIENCE).map_err(|error| unreadable(&path, error))?;
        if shelf::is_gone(&file) {
            return Err(shelf::gone(name::id_of(&path).unwrap_or_default()));
        }
        let mut loaded = Loaded::read(&file, &path)?;
        let writer = match (locked, writable) {
            (true, _) => Writer::Ours(file),
            (false, true) => Self::beside(&mut loaded).map_err(|error| unreadable(&path, error))?,
            (false, false) => Writer::Copy("cannot be written; this goes on in a copy"),
        };
        self.go_on(&loaded, &path, writer, selector, cwd).map(Some)
    }

    /// Begins a session of `cwd` as a copy of another one, which stays as it is: of what leads to `at`, the id of a
    /// message, else to where the other one stands. Its file is made when something is said in it. `None` where the
    /// newest one is wanted and there is none.
    ///
    /// # Errors
    ///
    /// As [`Store::open`]; usage where there is no such message.
    pub fn fork(&self, selector: &Selector, at: Option<u64>, cwd: &Path) -> Result<Option<Opened>, Error> {
        let Some(Looked { id, path, mut loaded }) = self.look(selector, cwd)? else {
            return Ok(None);
        };
        if let Some(at) = at
            && !loaded.tree.stand_at(Link::Id(at))
        {
            return Err(Error::usage(format!("session {id} has no message {at}")).hint(format!(
                "Its messages are {}; `agent sessions show --json {id}` shows them.",
                fork::ids(&loaded.tree)
            )));
        }
        self.go_on(&loaded, &path, Writer::Fork, selector, cwd).map(Some)
    }

    /// Reads a session without opening it for going on, with all its branches.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn look(&self, selector: &Selector, cwd: &Path) -> Result<Option<Looked>, Error> {
        let Some(path) = self.find(selector, cwd)? else {
            return Ok(None);
        };
        let loaded = Loaded::read(&plain_file(&path)?, &path)?;
        Ok(Some(Looked { id: loaded.id(&path), path, loaded }))
    }

    /// Makes `loaded` stand where a copy begins beside another process: what that one is at is not ours to do, too.
    fn beside(loaded: &mut Loaded) -> io::Result<Writer> {
        let path = loaded.tree.path();
        let finished = loaded.finished(&path)?;
        if finished == path.len() {
            return Ok(Writer::Copy("is open in another process; this goes on in a copy"));
        }
        loaded.tree.stand_on(finished.checked_sub(1).and_then(|last| path.get(last)).copied());
        Ok(Writer::Copy(
            "is open in another process, and its last turn has not ended; this goes on in a copy of what came before",
        ))
    }

    fn go_on(
        &self,
        loaded: &Loaded,
        path: &Path,
        writer: Writer,
        selector: &Selector,
        cwd: &Path,
    ) -> Result<Opened, Error> {
        let cannot = |error: io::Error| unreadable(path, error);
        let line = loaded.tree.path();
        let Conversation { messages, handled, lines, stale, broken } =
            loaded.conversation(&line, &self.blobs).map_err(cannot)?;
        let grant = match selector {
            Selector::Newest | Selector::Id(_) if self.is_own(path) => loaded.grant,
            Selector::Newest | Selector::Id(_) | Selector::Path(_) => None,
        };
        let id = loaded.id(path);
        let mut notices = Vec::new();
        let broken = loaded.broken + broken;
        if broken > 0 {
            let lines = count(broken as u64, "damaged line");
            let text = format!("{lines} of session {id} could not be read in full; the rest goes on.");
            notices.push(Notice::new(NoticeCode::Session, text));
        }
        let copy = || -> Result<Session, Error> {
            let copy = self.copy(loaded, &id, &line, cwd).map_err(cannot)?;
            let mut copy = copy.follow(loaded, &messages, lines.clone());
            copy.carry(loaded, &line, grant)?;
            Ok(copy)
        };
        let session = match writer {
            Writer::Ours(file) => {
                let log = Log::open(file, path.to_owned(), id, loaded.midline);
                let session = Session { refused: loaded.refused.clone(), ..self.session(log) };
                session.follow(loaded, &messages, lines)
            }
            Writer::Fork => copy()?,
            Writer::Copy(reason) => {
                let copy = copy()?;
                let text = format!("Session {id} {reason}, {}.", copy.id());
                notices.push(Notice::new(NoticeCode::Session, text));
                copy
            }
        };
        let known = !loaded.origin.model.is_empty();
        let model = known.then(|| loaded.origin.clone());
        Ok(Opened { session, messages, stale, handled, grant, model, notices })
    }

    /// The file of a session; `None` where the newest one is wanted and there is none.
    ///
    /// # Errors
    ///
    /// When it does not exist, or is not the only one meant.
    pub fn locate(&self, selector: &Selector, cwd: &Path) -> Result<Option<PathBuf>, Error> {
        self.find(selector, cwd)
    }

    /// Whether `selector` means the session of that file.
    pub fn is(&self, selector: &Selector, cwd: &Path, file: &Path) -> bool {
        let found = self.find(selector, cwd).ok().flatten();
        found.is_some_and(|found| canonical(&found) == canonical(file))
    }

    /// Reads a session without opening it for going on.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn history(&self, selector: &Selector, cwd: &Path) -> Result<Option<History>, Error> {
        let Some(Looked { id, path, loaded }) = self.look(selector, cwd)? else {
            return Ok(None);
        };
        let records = loaded.records(&loaded.tree.path()).map_err(|error| unreadable(&path, error))?;
        let Loaded { mut header, name, broken, .. } = loaded;
        if header.cwd.is_empty() && path.parent() == Some(&self.folder(cwd)) {
            header.cwd = cwd.display().to_string();
        }
        Ok(Some(History { id, path, name, header, records, broken, blobs: self.blobs.clone() }))
    }

    /// What the answers of the session with this id took, on all its branches; nothing where there is no such file, or it
    /// cannot be read.
    pub fn spent(&self, id: &str) -> Spent {
        self.find_id(id).map_or_else(|_| Spent::default(), |path| spent::of(&path))
    }

    /// What was answered today took, in the sessions of all directories. Files that cannot be read are passed over.
    pub fn spent_today(&self) -> Spent {
        let midnight = name::midnight(self.clock.now_ms());
        let mut sum = Sum::since(midnight);
        // A file is written when something is said.
        for file in self.all_files(&mut None).into_iter().filter(|file| file.modified >= midnight) {
            sum.add_with_workers(&file.path);
        }
        sum.spent
    }

    /// The hashes of the blobs that sessions name, of all directories: what [`Blobs::sweep`] has to keep.
    ///
    /// # Errors
    ///
    /// That a folder or session cannot be read: nothing may be swept then.
    pub fn named_blobs(&self) -> Result<HashSet<String>, Error> {
        let mut unread = None;
        let files = self.all_files(&mut unread);
        match unread {
            Some(unread) => Err(unread.into()),
            None => {
                let workers: Vec<PathBuf> = files.iter().flat_map(|file| given::files(&file.path)).collect();
                named::in_files(
                    files.iter().map(|file| file.path.as_path()).chain(workers.iter().map(PathBuf::as_path)),
                )
            }
        }
    }

    /// The file of the session that is meant; `None` where the newest one of `cwd` is and there is none.
    ///
    /// # Errors
    ///
    /// When it does not exist or is not the only one meant.
    pub fn find(&self, selector: &Selector, cwd: &Path) -> Result<Option<PathBuf>, Error> {
        match selector {
            Selector::Newest => Ok(list::newest(&self.folder(cwd))?),
            Selector::Id(prefix) => self.find_id(prefix).map(Some),
            Selector::Path(path) => Ok(Some(path.clone())),
        }
    }

    pub(super) fn find_id(&self, prefix: &str) -> Result<PathBuf, Error> {
        let mut unread = None;
        let files = self.all_files(&mut unread).into_iter().map(|file| file.path);
        let mut found: Vec<PathBuf> =
            files.filter(|path| name::id_of(path).is_some_and(|id| id.starts_with(prefix))).collect();
        let is_exact = |path: &PathBuf| name::id_of(path) == Some(prefix);
        if found.iter().filter(|path| is_exact(path)).count() == 1 {
            found.retain(is_exact);
        }
        match (found.as_slice(), unread) {
            ([], Some(unread)) => Err(unread.into()),
            ([], None) => Err(Error::usage(format!("no session has the id {prefix:?} or one that begins with it"))
                .hint("`agent sessions list --all` shows the sessions there are.")),
            ([path], _) => Ok(path.clone()),
            (several, _) => {
                let mut shown: Vec<_> = several.iter().filter_map(|path| name::id_of(path)).collect();
                shown.sort_unstable_by(|one, other| other.cmp(one));
                shown.truncate(CANDIDATES_SHOWN);
                let more = if several.len() > shown.len() { ", …" } else { "" };
                let message = format!("{} sessions have an id that begins with {prefix:?}", several.len());
                Err(Error::usage(message).hint(format!("Say which one: {}{more}.", shown.join(", "))))
            }
        }
    }

    fn copy(&self, loaded: &Loaded, id: &str, line: &[usize], cwd: &Path) -> io::Result<Session> {
        let header = self.header(cwd, &loaded.origin, Some(id.to_owned()));
        let (file, offsets) = loaded.offsets(line)?;
        let birth = Birth { folder: self.folder(cwd), header, copy: Some(Copied { file, offsets }) };
        Ok(self.session(Log::unborn(birth)))
    }

    fn session(&self, log: Log) -> Session {
        Session::new(log, Some(self.blobs.clone()), self.clock)
    }

    fn header(&self, cwd: &Path, origin: &Origin, parent: Option<String>) -> Header {
        let created_at = self.clock.now_ms();
        let Origin { provider, model } = origin.clone();
        let id = name::session_id(created_at, fastrand::u16(..));
        Header {
            version: VERSION,
            id,
            created_at,
            cwd: cwd.display().to_string(),
            provider,
            model,
            parent,
            imported: None,
        }
    }

    pub(super) fn folder(&self, cwd: &Path) -> PathBuf {
        self.root.join(name::folder(cwd))
    }

    pub(super) fn all_files(&self, unread: &mut Option<Unread>) -> Vec<Candidate> {
        let folders: Vec<_> = match list::entries(&self.root) {
            Ok(entries) => entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).collect(),
            Err(error) => {
                unread.get_or_insert(error);
                Vec::new()
            }
        };
        folders.iter().flat_map(|folder| files(&folder.path(), unread)).collect()
    }

    /// Whether a file of our folder is a plain one that belongs to this user and that nobody else may write.
    fn is_own(&self, path: &Path) -> bool {
        let others_write = 0o022;
        path.starts_with(&self.root)
            && fs::symlink_metadata(path).is_ok_and(|file| {
                file.is_file() && file.uid() == rustix::process::geteuid().as_raw() && file.mode() & others_write == 0
            })
    }
}

fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::failed(format!("cannot read {}", path.display())).caused_by(error)
}

/// The files of a folder that may be sessions; the first folder that cannot be looked into is put into `unread`.
pub(super) fn files(folder: &Path, unread: &mut Option<Unread>) -> Vec<Candidate> {
    list::files(folder).unwrap_or_else(|error| {
        unread.get_or_insert(error);
        Vec::new()
    })
}

/// Opens a file for going on, or only for reading where no more is allowed.
pub(super) fn open_file(path: &Path) -> Result<(File, bool), Error> {
    let plain = plain_file(path)?;
    match OpenOptions::new().read(true).append(true).open(path) {
        Ok(file) => Ok((file, true)),
        Err(_) => Ok((plain, false)),
    }
}

/// Opens a file for reading; anything but a plain one is refused, above all a pipe that would never end.
fn plain_file(path: &Path) -> Result<File, Error> {
    let missing = |error: io::Error| {
        Error::usage(format!("cannot open {}", path.display()))
            .caused_by(error)
            .hint("`agent sessions list --all` shows the sessions there are.")
    };
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).map_err(missing)?;
    if !file.metadata().map_err(missing)?.is_file() {
        return Err(Error::usage(format!("{} is not a file", path.display())));
    }
    Ok(file)
}
