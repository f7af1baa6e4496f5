//! State files that several processes share: read as JSON objects, replaced whole, changed only under a lock.
//!
//! Knows nothing of what the files mean, and never overwrites one that does not parse.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::base::json::Object;
use crate::base::lock;

/// The largest state or configuration file that is read, in bytes: a hundred times what anybody writes by hand.
pub(super) const MAX_BYTES: u64 = 4 << 20;
/// How long another writer is waited for: writing takes milliseconds, so that many may stand in line before us.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// Only the user may read or write: these files hold keys and what was said.
const FILE_MODE: u32 = 0o600;
/// The same for folders.
const FOLDER_MODE: u32 = 0o700;

/// Why a state file could not be used. One line that begins with its path.
#[derive(Debug, Error)]
pub enum FileError {
    /// It is not JSON.
    #[error("{}:{line}:{column}: {what}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// What the parser met.
        what: String,
    },
    /// It is something other than a file with one JSON object.
    #[error("{}: {what}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Somebody else holds its lock, and does not let go.
    #[error("{}: another process has held this lock for {} s", lock.display(), patience.as_secs_f64())]
    Locked {
        /// The lock's own file.
        lock: PathBuf,
        /// How long it was waited for.
        patience: Duration,
    },
    /// The system said no.
    #[error("{}: {source}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// A file's text and the object it spells.
#[derive(Debug, Default)]
pub struct Document {
    /// As it stands in the file.
    pub text: String,
    /// What it says.
    pub object: Object,
}

/// Reads a file with one JSON object. `None` where there is no such file; an empty file is an empty object.
///
/// # Errors
///
/// What does not parse, is no regular file (a pipe would wait for ever), is larger than 4 MiB or cannot be read.
pub fn read(path: &Path) -> Result<Option<Document>, FileError> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    let object = parse(path, &text)?;
    Ok(Some(Document { text, object }))
}

/// Reads a file's text under the same rules as [`read`].
///
/// # Errors
///
/// As [`read`], but for the syntax; text that is not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>, FileError> {
    let system = |source| FileError::System { path: path.to_owned(), source };
    let shape = |what| FileError::Shape { path: path.to_owned(), what };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(system(error)),
    };
    if !metadata.is_file() {
        return Err(shape("expected a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(system)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(shape("larger than 4 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| shape("expected UTF-8 text"))?;
    // Editors on some systems put a byte order mark in front.
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

fn parse(path: &Path, text: &str) -> Result<Object, FileError> {
    if text.trim().is_empty() {
        return Ok(Object::new());
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(object)) => Ok(object),
        Ok(_) => Err(FileError::Shape { path: path.to_owned(), what: "expected a JSON object" }),
        Err(error) => {
            let full = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let what = full.strip_suffix(&place).unwrap_or(&full).to_owned();
            Err(FileError::Syntax { path: path.to_owned(), line: error.line(), column: error.column(), what })
        }
    }
}

/// Changes a file: takes its lock, reads what it says now, lets `change` alter the object, and replaces the file.
/// A missing file is made, and the folder it belongs in; one behind a link is replaced where it lies.
///
/// The lock is the file `NAME.lock` beside it, which stays.
///
/// # Errors
///
/// As [`read`], with the file left as it was; that its lock is held for longer than ten seconds; or that it cannot be
/// written.
pub fn update<T>(path: &Path, change: impl FnOnce(&mut Object) -> T) -> Result<T, FileError> {
    update_within(path, LOCK_PATIENCE, change)
}

fn update_within<T>(path: &Path, patience: Duration, change: impl FnOnce(&mut Object) -> T) -> Result<T, FileError> {
    let target = target(path);
    let system = |source| FileError::System { path: target.clone(), source };
    // Held until the end of this function.
    let _lock = locked(&target, patience)?;
    let before = read(&target)?;
    let is_new = before.is_none();
    let Document { text, mut object } = before.unwrap_or_default();
    let outcome = change(&mut object);
    let mut written = serde_json::to_string_pretty(&object).map_err(|error| system(error.into()))?;
    written.push('\n');
    if is_new || written != text {
        replace(&target, written.as_bytes()).map_err(system)?;
    }
    Ok(outcome)
}

/// Where a file lies: behind a link it is that one's file which is replaced.
pub(super) fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Takes the lock of a file, which need not exist; its folder is made. It is held as long as what comes back is kept.
///
/// # Errors
///
/// That somebody else still holds it after `patience`, or what the system said.
pub(super) fn locked(target: &Path, patience: Duration) -> Result<File, FileError> {
    let system = |source| FileError::System { path: target.to_owned(), source };
    if let Some(folder) = target.parent() {
        create_folder(folder).map_err(system)?;
    }
    let beside_it = beside(target, "", ".lock");
    let lock = private().open(&beside_it).map_err(system)?;
    if lock::exclusive(&lock, patience).map_err(system)? {
        Ok(lock)
    } else {
        Err(FileError::Locked { lock: beside_it, patience })
    }
}

/// Makes a folder and its parents, open to this user only; one that exists is left as it is.
///
/// # Errors
///
/// What the system said.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)
}

/// Whether other users may read or write a file.
pub fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// Replaces a file whole, by one that only this user may read.
///
/// The caller holds the lock, so one fixed name will do; what a killed writer left there is overwritten by the next.
pub(super) fn replace(target: &Path, content: &[u8]) -> io::Result<()> {
    let fresh = beside(target, ".", ".new");
    let written = (|| {
        let mut file = private().truncate(true).open(&fresh)?;
        // A file left by a killed writer keeps its mode when it is opened again.
        file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&fresh, target)
    })();
    if written.is_err() {
        // The content may hold secrets; the first error is the one to report.
        let _ = fs::remove_file(&fresh);
        return written;
    }
    // The new name must survive a power cut too; a file system that cannot sync a folder is no reason to fail.
    if let Some(folder) = target.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(FILE_MODE);
    options
}

fn beside(path: &Path, prefix: &str, suffix: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(prefix);
    name.push(path.file_name().unwrap_or_default());
    name.push(suffix);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn many_writers_lose_nothing() {
        const WRITERS: u64 = 6;
        const ROUNDS: u64 = 20;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/state.json");
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let path = &path;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        update(path, |object| object.insert(format!("w{writer}"), round.into())).unwrap();
                        // What is there is always whole.
                        assert!(read(path).unwrap().is_some());
                    }
                });
            }
        });
        let object = read(&path).unwrap().unwrap().object;
        assert_eq!(object.len(), 6);
        assert!(object.values().all(|value| value == ROUNDS - 1), "{object:?}");
        assert_eq!(names(path.parent().unwrap()), ["state.json", "state.json.lock"]);
        assert!(!is_open_to_others(&path) && !is_open_to_others(path.parent().unwrap()));
    }

    #[test]
    fn a_lock_that_is_never_let_go_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        let patience = Duration::from_millis(50);
        let held = private().open(folder.path().join("c.json.lock")).unwrap();
        assert!(lock::exclusive(&held, Duration::ZERO).unwrap());
        let error = update_within(&path, patience, Object::clear).unwrap_err().to_string();
        assert!(error.contains("c.json.lock: another process has held this lock for 0.05 s"), "{error}");
        assert!(!path.exists());
        drop(held);
        update_within(&path, patience, Object::clear).unwrap();
    }

    #[test]
    fn what_does_not_parse_is_reported_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        for (content, place) in [
            ("{\"model\": \"x\",\n  \"provider\" \"mock\"}\n", ":2:14: expected `:`"),
            ("[1]", ": expected a JSON object"),
            ("{", ":1:1: EOF"),
        ] {
            fs::write(&path, content).unwrap();
            let error = update(&path, Object::clear).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}{place}", path.display())), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
        assert!(read(&path).unwrap_err().to_string().ends_with("expected UTF-8 text"));
        fs::write(&path, "\u{feff}{\"b\": 1}").unwrap();
        assert_eq!(read(&path).unwrap().unwrap().object["b"], 1);
        fs::write(&path, " \n").unwrap();
        assert!(read(&path).unwrap().unwrap().object.is_empty());
        assert!(read(folder.path()).is_err(), "a folder is no file");
        assert!(read(&path.join("below")).unwrap().is_none());
    }

    #[test]
    fn a_pipe_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe.json");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(read(&path).unwrap_err().to_string().ends_with("expected a regular file"));
    }

    #[test]
    fn a_link_stays_a_link_and_order_stays() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("dotfiles/config.json");
        let link = folder.path().join("config.json");
        fs::create_dir(real.parent().unwrap()).unwrap();
        fs::write(&real, r#"{"z": 1, "a": {"y": 2, "b": 3}}"#).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        update(&link, |object| object.insert("m".into(), 4.into())).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let text: String = fs::read_to_string(&real).unwrap().split_whitespace().collect();
        assert_eq!(text, r#"{"z":1,"a":{"y":2,"b":3},"m":4}"#);
    }

    #[test]
    fn what_a_killed_writer_left_is_no_hindrance() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        fs::write(folder.path().join(".s.json.new"), "{\"half").unwrap();
        fs::set_permissions(folder.path().join(".s.json.new"), fs::Permissions::from_mode(0o644)).unwrap();
        update(&path, |object| object.insert("a".into(), 1.into())).unwrap();
        assert_eq!(names(folder.path()), ["s.json", "s.json.lock"]);
        assert!(!is_open_to_others(&path));
    }
}
