//! The shelf of all sessions: which there are, what one was about, what it is called; and taking one away.
//!
//! Knows the folders only through the [`Store`]. Says nothing, and asks nobody whether they are sure.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::base::lock;
use crate::base::path::is_absent;
use crate::product::error::Error;

use super::given;
use super::index::Index;
use super::list::{self, Candidate, Info};
use super::load::Loaded;
use super::log::Log;
use super::look::Depth;
use super::picks::called;
use super::preview::{self, Preview, Talk};
use super::spent::Spent;
use super::store::{LOCK_PATIENCE, Store, files, open_file};
use super::{Session, Titled, name, title};

/// The folder of checkpoints, which has one folder for each session that has any.
const CHECKPOINTS: &str = "checkpoints";

/// The sessions there are.
#[derive(Debug)]
pub struct Listed {
    /// What is known of each.
    pub infos: Vec<Info>,
    /// Why there may be more.
    pub unread: Option<Error>,
}

/// Where sessions are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Those of this directory.
    Directory(&'a Path),
    /// Those of all directories.
    All,
}

impl Store {
    /// The sessions of `cwd`, the one with the last activity first; of most of them with what they cost.
    pub fn list(&self, cwd: &Path) -> Listed {
        self.listed(Scope::Directory(cwd), Depth::Most)
    }

    /// The sessions of all directories, likewise.
    pub fn list_all(&self) -> Listed {
        self.listed(Scope::All, Depth::Most)
    }

    /// The sessions there, the one with the last activity first.
    pub fn listed(&self, scope: Scope<'_>, depth: Depth) -> Listed {
        let mut unread = None;
        match scope {
            Scope::Directory(cwd) => {
                let folder = self.folder(cwd);
                let files = files(&folder, &mut unread);
                let mut listed = self.looked(files, depth, unread, |path| path.parent() == Some(&folder));
                for info in listed.infos.iter_mut().filter(|info| info.cwd.is_empty()) {
                    info.cwd = cwd.display().to_string();
                }
                listed
            }
            Scope::All => {
                let files = self.all_files(&mut unread);
                let mut listed = self.looked(files, depth, unread, |_| true);
                at_home(&mut listed.infos);
                listed
            }
        }
    }

    /// What is known of these files, which are all there are of those in `scope`.
    fn looked(
        &self,
        files: Vec<Candidate>,
        depth: Depth,
        mut unread: Option<list::Unread>,
        scope: impl Fn(&Path) -> bool,
    ) -> Listed {
        let mut index = Index::open(&self.root);
        if unread.is_none() {
            let present: HashSet<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
            index.forget(|path| scope(path) && !present.contains(path));
        }
        let mut infos = index.infos(files, depth, &mut unread);
        index.close();
        infos.sort_by(|one, other| (other.updated_at, &other.id).cmp(&(one.updated_at, &one.id)));
        Listed { infos, unread: unread.map(Error::from) }
    }

    /// What the session with this id, or the only one whose id begins with it, was about.
    ///
    /// # Errors
    ///
    /// When there is no such session, several could be meant, or it cannot be read.
    pub fn preview(&self, id: &str) -> Result<Preview, Error> {
        let path = self.find_id(id)?;
        let cannot = |error: io::Error| Error::failed(format!("cannot read {}", path.display())).caused_by(error);
        let (file, _) = open_file(&path)?;
        let candidate = list::candidate(&path).map_err(cannot)?;
        let mut unread = None;
        // What an earlier list saw has the costs, too.
        let info = Index::peek(&self.root).infos([candidate], Depth::Ends, &mut unread).pop();
        let info = match (info, unread) {
            (Some(info), _) => info,
            (None, Some(unread)) => return Err(unread.into()),
            (None, None) => return Err(Error::usage(format!("{} is not a session", path.display()))),
        };
        let Talk { question, last } = preview::talk(&file, &self.blobs).map_err(cannot)?;
        let title = called(&info).to_owned();
        let spent = info.spent.as_ref().map(Spent::total);
        let Info { id, path: _, name: _, title: _, cwd, created_at, updated_at, model, messages, parent, .. } = info;
        Ok(Preview { id, title, question, last, model, spent, cwd, parent, created_at, updated_at, messages })
    }

    /// Calls the session with this id, or the only one whose id begins with it, by another name; returns its id. Its
    /// time, by which sessions are sorted, stays that of the last message.
    ///
    /// # Errors
    ///
    /// A name without a letter; when there is no such session, several could be meant, it is open, or cannot be written.
    pub fn rename(&self, id: &str, name: &str) -> Result<String, Error> {
        let name = title::given(name).ok_or_else(|| Error::usage("a name needs a letter or a digit"))?;
        let mut session = self.reopened(id)?;
        session.append_name(name)?;
        kept(session)
    }

    /// Keeps a title that a model thought of in a session that is not open any more. A name that was given stays.
    ///
    /// # Errors
    ///
    /// As [`Store::rename`].
    pub fn entitle(&self, id: &str, title: Titled) -> Result<String, Error> {
        let mut session = self.reopened(id)?;
        session.append_title(title)?;
        kept(session)
    }

    /// A session for lines beside the conversation.
    fn reopened(&self, id: &str) -> Result<Session, Error> {
        let path = self.find_id(id)?;
        let (file, writable) = open_file(&path)?;
        let id = name::id_of(&path).unwrap_or(id).to_owned();
        if !writable {
            return Err(Error::failed(format!("session {id} cannot be written")));
        }
        let cannot = |error: io::Error| Error::failed(format!("cannot write {}", path.display())).caused_by(error);
        if !lock::exclusive(&file, LOCK_PATIENCE).map_err(cannot)? {
            return Err(is_open(&id).hint("`/name` names the session that is open in a chat."));
        }
        if is_gone(&file) {
            return Err(gone(&id));
        }
        let loaded = Loaded::read(&file, &path)?;
        let mut session = Session::new(Log::open(file, path, id, loaded.midline), Some(self.blobs.clone()), self.clock);
        session.name = loaded.name;
        Ok(session)
    }

    /// The session that is meant by an id or its beginning, as far as a person needs it to know whether that is the one.
    ///
    /// # Errors
    ///
    /// When there is no such session or several could be meant.
    pub fn meant(&self, id: &str) -> Result<Meant, Error> {
        if id.is_empty() {
            return Err(Error::usage("an id is missing"));
        }
        let path = self.find_id(id)?;
        let candidate = list::candidate(&path)
            .map_err(|error| Error::failed(format!("cannot read {}", path.display())).caused_by(error))?;
        let info = Index::peek(&self.root).infos([candidate], Depth::Ends, &mut None).pop();
        let id = name::id_of(&path).unwrap_or(id).to_owned();
        if info.is_none() && !name::is_id(&id) {
            return Err(Error::usage(format!("{} is not a session", path.display())));
        }
        // One that is damaged beyond reading can be taken away, too.
        let title = info.as_ref().map_or_else(|| "(unreadable)".to_owned(), |info| called(info).to_owned());
        Ok(Meant { id, title, path })
    }

    /// Takes a session away, with its checkpoints: for good. What it shares with other sessions stays.
    ///
    /// # Errors
    ///
    /// As [`Store::meant`]; when it is open, or cannot be taken away.
    pub fn remove(&self, id: &str) -> Result<Meant, Error> {
        let meant = self.meant(id)?;
        let (id, path) = (&meant.id, &meant.path);
        let cannot = |error: io::Error| Error::failed(format!("cannot remove {}", path.display())).caused_by(error);
        let (file, _) = open_file(path)?;
        if !lock::exclusive(&file, LOCK_PATIENCE).map_err(cannot)? {
            return Err(is_open(id).hint("Leave it there first."));
        }
        if is_gone(&file) {
            return Err(gone(id));
        }
        fs::remove_file(path).map_err(cannot)?;
        given::remove(path).map_err(cannot)?;
        // A file of another name is no session of ours, and its name might lead out of the folder.
        if name::is_id(id) {
            let checkpoints = self.root.with_file_name(CHECKPOINTS).join(id);
            match fs::remove_dir_all(&checkpoints) {
                Err(error) if !is_absent(&error) => {
                    let text = format!("session {id} is gone, but not its checkpoints in {}", checkpoints.display());
                    return Err(Error::failed(text).caused_by(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(meant)
    }
}

/// A session that somebody means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// Its id.
    pub id: String,
    /// Its name, else a title made of the first question.
    pub title: String,
    /// Its file.
    pub path: PathBuf,
}

/// A session that lost its first line lies beside others of its directory.
fn at_home(infos: &mut [Info]) {
    let known = infos.iter().filter(|info| !info.cwd.is_empty());
    let known: HashMap<_, _> =
        known.filter_map(|info| Some((info.path.parent()?.to_owned(), info.cwd.clone()))).collect();
    for info in infos.iter_mut().filter(|info| info.cwd.is_empty()) {
        info.cwd = info.path.parent().and_then(|folder| known.get(folder)).cloned().unwrap_or_default();
    }
}

/// Brings to the disk what was appended, and lets go of the session.
fn kept(mut session: Session) -> Result<String, Error> {
    let id = session.id().to_owned();
    let cannot = |error| Error::failed(format!("cannot keep the name of session {id}")).caused_by(error);
    session.sync().run().map_err(cannot)?;
    Ok(id)
}

/// Whether a file that was opened has been taken away since: what is written to it now is lost.
pub(super) fn is_gone(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// What to say then.
pub(super) fn gone(id: &str) -> Error {
    Error::failed(format!("session {id} was deleted just now"))
}

fn is_open(id: &str) -> Error {
    Error::failed(format!("session {id} is open in another process"))
}

#[cfg(test)]
mod tests;
