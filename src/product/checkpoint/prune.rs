//! What is kept of checkpoints: the newest, up to a size and an age.
//!
//! Sessions go as a whole, oldest first; contents go when no session refers to them. Nobody waits for it.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::objects::Objects;
use super::state::Digest;
use crate::base::lock;

/// All checkpoints together, in bytes: what a large project takes a few times over.
pub const MAX_BYTES: u64 = 1 << 30;
/// How long a session's checkpoints are kept after its last turn: nobody takes back what is a month old.
pub const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
/// How often it is looked whether something can go.
const INTERVAL: Duration = Duration::from_secs(24 * 3600);
/// What was written so shortly before may belong to a turn that is running.
const YOUNG: Duration = Duration::from_secs(3600);

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Sessions that can no longer be taken back.
    pub sessions: usize,
    /// Bytes of contents.
    pub bytes: u64,
}

/// How much there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In bytes.
    pub bytes: u64,
    /// Since the last turn.
    pub age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: MAX_BYTES, age: MAX_AGE }
    }
}

/// Looks on a thread of its own whether something can go, once a day. Ends with the program if that ends before.
pub(super) fn soon(folder: &Path, now_ms: i64) {
    let mark = folder.join("pruned");
    let age = |found: &fs::Metadata| now_ms.saturating_sub(found.mtime().saturating_mul(1000));
    let is_due = fs::metadata(&mark).map_or(true, |found| age(&found) > millis(INTERVAL));
    if is_due {
        let folder = folder.to_owned();
        std::thread::spawn(move || {
            let _ =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&mark).and_then(|file| {
                    file.set_modified(std::time::UNIX_EPOCH + Duration::from_millis(now_ms.unsigned_abs()))
                });
            let _ = in_folder(&folder, now_ms, Limits::default());
        });
    }
}

/// Removes what is too old or too much of the checkpoints below a data folder. `now_ms` counts from 1970.
///
/// # Errors
///
/// What the system said first.
pub fn prune(data_dir: &Path, now_ms: i64, limits: Limits) -> io::Result<Pruned> {
    in_folder(&data_dir.join("checkpoints"), now_ms, limits)
}

/// How many bytes the checkpoints below a data folder take.
pub fn size(data_dir: &Path) -> u64 {
    let mut folders = vec![data_dir.join("checkpoints")];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => bytes += found.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// A session's checkpoints.
struct Session {
    folder: PathBuf,
    /// In milliseconds since 1970.
    used: i64,
    digests: HashSet<Digest>,
}

fn in_folder(folder: &Path, now_ms: i64, limits: Limits) -> io::Result<Pruned> {
    let objects = Objects::new(folder);
    let kept = contents(&objects, now_ms)?;
    let mut sessions: Vec<Session> = Vec::new();
    for entry in list(folder)? {
        let path = entry.path();
        let is_ours = path.file_name().is_some_and(|name| name != "objects" && name != "trees");
        if let (true, Ok(found)) = (is_ours, fs::metadata(super::journal::journal(&path))) {
            let used = found.mtime().saturating_mul(1000);
            let mut digests = HashSet::new();
            for file in [super::journal::journal(&path), path.join("index.jsonl")] {
                gather(&file, &kept, &mut digests);
            }
            sessions.push(Session { folder: path, used, digests });
        }
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.used));
    let mut pruned = Pruned::default();
    let (mut wanted, mut bytes): (HashSet<Digest>, u64) = (HashSet::new(), 0);
    for session in sessions {
        let new: Vec<&Digest> = session.digests.iter().filter(|digest| !wanted.contains(*digest)).collect();
        let more: u64 = new.iter().filter_map(|digest| kept.get(*digest)).map(|object| object.bytes).sum();
        let age = now_ms.saturating_sub(session.used);
        let is_wanted = bytes + more <= limits.bytes && age <= millis(limits.age);
        if is_wanted || age <= millis(YOUNG) || !is_idle(&session.folder) {
            bytes += more;
            wanted.extend(session.digests);
        } else {
            fs::remove_dir_all(&session.folder)?;
            pruned.sessions += 1;
        }
    }
    for (digest, object) in &kept {
        if !wanted.contains(digest) && object.age > millis(YOUNG) && fs::remove_file(objects.path(digest)).is_ok() {
            pruned.bytes += object.bytes;
        }
    }
    forget_old(&folder.join("trees"), now_ms, limits)?;
    Ok(pruned)
}

/// Removes what only spared time, once it is old.
fn forget_old(trees: &Path, now_ms: i64, limits: Limits) -> io::Result<()> {
    for entry in list(trees)? {
        let found = entry.metadata()?;
        if now_ms.saturating_sub(found.mtime().saturating_mul(1000)) > millis(limits.age) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

struct Object {
    bytes: u64,
    /// In milliseconds.
    age: i64,
}

/// All contents; what writers that were killed left behind is removed.
fn contents(objects: &Objects, now_ms: i64) -> io::Result<HashMap<Digest, Object>> {
    let mut found = HashMap::new();
    for shelf in list(objects.folder())? {
        let first = shelf.file_name();
        for entry in list(&shelf.path())? {
            let Ok(metadata) = entry.metadata() else { continue };
            let age = now_ms.saturating_sub(metadata.mtime().saturating_mul(1000));
            let name = format!("{}{}", first.to_string_lossy(), entry.file_name().to_string_lossy());
            match Digest::parse(&name) {
                Some(digest) => {
                    found.insert(digest, Object { bytes: metadata.len(), age });
                }
                None if age > millis(YOUNG) => {
                    let _ = fs::remove_file(entry.path());
                }
                None => {}
            }
        }
    }
    Ok(found)
}

/// Finds the hashes that a file names: every run of 64 hexadecimal digits that is one of a content.
fn gather(path: &Path, kept: &HashMap<Digest, Object>, digests: &mut HashSet<Digest>) {
    const DIGITS: usize = 64;
    let Ok(file) = File::open(path) else { return };
    let (mut run, mut buffer) = (String::new(), vec![0; 64 << 10]);
    let mut reader = BufReader::new(file);
    loop {
        let read = reader.read(&mut buffer).unwrap_or_default();
        for byte in buffer.get(..read).unwrap_or_default() {
            if byte.is_ascii_hexdigit() {
                run.push(char::from(*byte));
                continue;
            }
            if run.len() == DIGITS {
                digests.extend(Digest::parse(&run).filter(|digest| kept.contains_key(digest)));
            }
            run.clear();
        }
        if read == 0 {
            return;
        }
    }
}

/// Whether no turn of a session is running.
fn is_idle(folder: &Path) -> bool {
    File::open(folder.join("lock")).map_or(true, |file| lock::exclusive(&file, Duration::ZERO).unwrap_or(false))
}

/// The entries of a folder, which need not exist.
fn list(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data folder with sessions, oldest first, each with a journal that names its contents.
    fn data(sessions: &[&[&[u8]]]) -> tempfile::TempDir {
        let data = tempfile::tempdir().unwrap();
        let checkpoints = data.path().join("checkpoints");
        let objects = Objects::new(&checkpoints);
        for (number, contents) in sessions.iter().enumerate() {
            let folder = checkpoints.join(format!("s{number}"));
            fs::create_dir_all(&folder).unwrap();
            let names: Vec<_> = contents.iter().map(|content| objects.put(content).unwrap().to_string()).collect();
            let journal = super::super::journal::journal(&folder);
            fs::write(&journal, names.join("\n") + "\n").unwrap();
            let used = std::time::UNIX_EPOCH + Duration::from_secs(24 * 3600 * number as u64);
            File::options().write(true).open(journal).unwrap().set_modified(used).unwrap();
        }
        for shelf in list(objects.folder()).unwrap() {
            for object in list(&shelf.path()).unwrap() {
                File::options().write(true).open(object.path()).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
            }
        }
        data
    }

    fn sessions(data: &Path) -> Vec<String> {
        let mut names: Vec<_> = list(&data.join("checkpoints"))
            .unwrap()
            .iter()
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name.starts_with('s'));
        names.sort();
        names
    }

    const DAY_MS: i64 = 24 * 3_600_000;

    #[test]
    fn old_sessions_go_with_what_only_they_have() {
        let data = data(&[&[b"shared", b"old"], &[b"shared", b"new"]]);
        let objects = Objects::new(&data.path().join("checkpoints"));
        let lost = objects.put(b"nobody's").unwrap();
        let limits = Limits { bytes: 1000, age: Duration::from_secs(36 * 3600) };
        let pruned = prune(data.path(), 2 * DAY_MS, limits).unwrap();
        assert_eq!(pruned, Pruned { sessions: 1, bytes: 3 });
        assert_eq!(sessions(data.path()), ["s1"]);
        assert!(objects.has(&super::super::objects::hash(b"shared")) && objects.has(&lost), "it is young");
        assert!(!objects.has(&super::super::objects::hash(b"old")));
        assert!(size(data.path()) > 0 && size(&data.path().join("nowhere")) == 0);
    }

    #[test]
    fn beyond_the_cap_the_oldest_go() {
        let data = data(&[&[b"0123456789"], &[b"abcdefghij"], &[b"ABCDEFGHIJ"]]);
        let limits = Limits { bytes: 20, age: MAX_AGE };
        assert_eq!(prune(data.path(), 4 * DAY_MS, limits).unwrap(), Pruned { sessions: 1, bytes: 10 });
        assert_eq!(sessions(data.path()), ["s1", "s2"]);
        // A session in which a turn is running stays.
        let held = File::create(data.path().join("checkpoints/s1/lock")).unwrap();
        assert!(lock::exclusive(&held, Duration::ZERO).unwrap());
        assert_eq!(prune(data.path(), 4 * DAY_MS, Limits { bytes: 0, ..limits }).unwrap().sessions, 1);
        assert_eq!(sessions(data.path()), ["s1"]);
    }
}
