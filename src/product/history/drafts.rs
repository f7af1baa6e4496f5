//! What was written in a directory and not sent, so that it outlives a crash.
//!
//! Each process has a file of its own, and holds its lock for as long as it lives: what lies there unlocked was left by
//! one that is gone. When to save is for others to decide, who may lose what was written since.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::text::mask::Mask;
use crate::product::files::{self, FileError};
use crate::product::session::name;

/// The folder's name in the data folder.
pub const FOLDER: &str = "drafts";

/// How many chats in one directory can each keep a draft.
const MOST_AT_ONCE: usize = 16;

/// A piece of a draft; neighbours are of different kinds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "lowercase")]
pub enum Piece {
    /// Written by hand.
    Typed(String),
    /// Pasted.
    Pasted(String),
    /// A picture: its file, absolute, or where it came from if it never was one. Its bytes are not kept.
    Picture(String),
}

/// A file as it stands.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    /// For people who look into the folder.
    cwd: String,
    /// Milliseconds since 1970.
    timestamp: i64,
    pieces: Vec<Piece>,
}

/// The draft of one chat. Making it touches no disk.
#[derive(Debug)]
pub struct Drafts {
    folder: PathBuf,
    cwd: PathBuf,
    mask: Mask,
    own: Option<Own>,
}

/// The file of this chat, and its lock.
#[derive(Debug)]
struct Own {
    path: PathBuf,
    _lock: File,
}

impl Drafts {
    /// A draft that is kept in `folder`, for a chat in `cwd`; what `mask` hides is never written.
    pub fn new(folder: PathBuf, cwd: &Path, mask: Mask) -> Self {
        Self { folder, cwd: cwd.to_owned(), mask, own: None }
    }

    /// What a chat in this directory that is gone has left, if one has; from now on it is this one's draft.
    ///
    /// # Errors
    ///
    /// That there is something which cannot be read; it stays there.
    pub fn recover(&mut self) -> Result<Vec<Piece>, FileError> {
        for path in self.places().filter(|path| path.exists()) {
            if let Some(lock) = free(&path)?
                && let Some(stored) = read(&path)?
            {
                self.own = Some(Own { path, _lock: lock });
                return Ok(stored.pieces);
            }
        }
        Ok(Vec::new())
    }

    /// Keeps the draft as it is at `moment` (milliseconds since 1970), in place of what was kept before; nothing is
    /// kept of an empty one.
    ///
    /// Waits for the disk: nothing for a thread that answers keys.
    ///
    /// # Errors
    ///
    /// That it is larger than 4 MiB, or what the system said. What was kept before stays.
    pub fn save(&mut self, pieces: &[Piece], moment: i64) -> Result<(), FileError> {
        if pieces.is_empty() {
            return self.clear();
        }
        let mask = |text: &String| {
            let mut text = text.clone();
            self.mask.apply(&mut text);
            text
        };
        let pieces = pieces.iter().map(|piece| match piece {
            Piece::Typed(text) => Piece::Typed(mask(text)),
            Piece::Pasted(text) => Piece::Pasted(mask(text)),
            Piece::Picture(text) => Piece::Picture(mask(text)),
        });
        let stored =
            Stored { cwd: self.cwd.to_string_lossy().into_owned(), timestamp: moment, pieces: pieces.collect() };
        let Some(path) = self.place()? else { return Ok(()) };
        let system = |source| FileError::System { path: path.clone(), source };
        let content = serde_json::to_vec(&stored).map_err(|error| system(error.into()))?;
        if content.len() as u64 > files::MAX_BYTES {
            return Err(FileError::Shape { path, what: "a draft above 4 MiB is not kept" });
        }
        files::replace(&path, &content).map_err(system)
    }

    /// Forgets the draft: it was sent, or deleted.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn clear(&mut self) -> Result<(), FileError> {
        let Some(Own { path, _lock }) = &self.own else { return Ok(()) };
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(FileError::System { path: path.clone(), source })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Where this chat keeps its draft. `None` where too many others do.
    fn place(&mut self) -> Result<Option<PathBuf>, FileError> {
        if self.own.is_none() {
            for path in self.places() {
                // What another one has left is for a chat that asks for it.
                if let Some(lock) = free(&path)?
                    && !path.exists()
                {
                    self.own = Some(Own { path, _lock: lock });
                    break;
                }
            }
        }
        Ok(self.own.as_ref().map(|own| own.path.clone()))
    }

    fn places(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let (folder, name) = (self.folder.clone(), name::folder(&self.cwd));
        (1..=MOST_AT_ONCE).map(move |number| match number {
            1 => folder.join(format!("{name}.json")),
            _ => folder.join(format!("{name}.{number}.json")),
        })
    }
}

/// The lock of a draft, unless another process has it.
fn free(path: &Path) -> Result<Option<File>, FileError> {
    match files::locked(path, Duration::ZERO) {
        Ok(lock) => Ok(Some(lock)),
        Err(FileError::Locked { .. }) => Ok(None),
        Err(error @ (FileError::Syntax { .. } | FileError::Shape { .. } | FileError::System { .. })) => Err(error),
    }
}

fn read(path: &Path) -> Result<Option<Stored>, FileError> {
    let Some(document) = files::read(path)? else { return Ok(None) };
    let stored = serde_json::from_value(Value::Object(document.object));
    stored.map(Some).map_err(|_| FileError::Shape { path: path.to_owned(), what: "expected a draft" })
}
