//! What is known of many sessions, kept so that a list need not open their files: `sessions/index`.
//!
//! It may be lost, damaged or deleted at any time: what does not match a file, by size, time and number, is read anew from
//! that file, which alone is right. Used for showing and for nothing else; no trouble with it is anybody's error.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::base::lock;
use crate::model::message::Origin;
use crate::model::usage::Usage;

use super::list::{self, Candidate, Info, Unread};
use super::look::{Depth, Look, Seam, Stamp};
use super::name;
use super::spent::{Spent, Tally};

/// The file, in the folder of all sessions. Not named like a session.
const FILE: &str = "index";
/// The lock for replacing it.
const LOCK: &str = "index.lock";
/// What is written next to it before it takes its place.
const FRESH: &str = "index.new";
/// Only the user may read or write: it holds what was asked.
const FILE_MODE: u32 = 0o600;
/// The largest index that is read: a hundred thousand sessions.
const MAX_BYTES: u64 = 64 << 20;
/// What the rows mean; whoever changes what is gathered counts up, and every index is made anew.
const VERSION: u64 = 1;

/// An index at work.
#[derive(Debug)]
pub(super) struct Index {
    root: PathBuf,
    known: BTreeMap<PathBuf, Look>,
    /// Held by the one process that may replace the file. The others read it.
    lock: Option<File>,
    is_changed: bool,
}

impl Index {
    /// What is known of the sessions under `root`; nothing where there is no index that can be used.
    pub(super) fn open(root: &Path) -> Self {
        // First the lock: what is read under it is what will be replaced.
        let lock = locked(root);
        Self { known: read(root).unwrap_or_default(), root: root.to_owned(), lock, is_changed: false }
    }

    /// As [`Index::open`], only to look something up.
    pub(super) fn peek(root: &Path) -> Self {
        Self { known: read(root).unwrap_or_default(), root: root.to_owned(), lock: None, is_changed: false }
    }

    /// What is known of these files, those without a session left out. The first that cannot be read is put into
    /// `unread`.
    pub(super) fn infos(
        &mut self,
        files: impl IntoIterator<Item = Candidate>,
        depth: Depth,
        unread: &mut Option<Unread>,
    ) -> Vec<Info> {
        files.into_iter().filter_map(|file| self.info(&file, depth, unread)).collect()
    }

    /// Forgets files that are gone.
    pub(super) fn forget(&mut self, is_gone: impl Fn(&Path) -> bool) {
        let before = self.known.len();
        self.known.retain(|path, _| !is_gone(path));
        self.is_changed |= self.known.len() != before;
    }

    fn info(&mut self, file: &Candidate, depth: Depth, unread: &mut Option<Unread>) -> Option<Info> {
        let known = self.known.get(&file.path);
        if let Some(known) = known.filter(|known| known.holds(file.stamp, depth)) {
            return Some(known.info.clone());
        }
        let look = list::read(file, depth, known, unread);
        self.is_changed |= look.is_some() || known.is_some();
        match look {
            Some(look) => {
                let info = look.info.clone();
                self.known.insert(file.path.clone(), look);
                Some(info)
            }
            None => {
                self.known.remove(&file.path);
                None
            }
        }
    }

    /// Replaces the file by what is known now, if that is something else and nobody else is about to.
    pub(super) fn close(self) {
        if self.lock.is_some() && self.is_changed {
            // The next list is as slow as this one; it says the same.
            let _ = self.write();
        }
    }

    fn write(&self) -> io::Result<()> {
        let mut body = Vec::new();
        for (path, look) in &self.known {
            let Some(row) = path.strip_prefix(&self.root).ok().and_then(Path::to_str).map(|path| row(path, look))
            else {
                continue;
            };
            serde_json::to_writer(&mut body, &row)?;
            body.push(b'\n');
        }
        let fresh = self.root.join(FRESH);
        let head = serde_json::to_vec(&Head { kind: Kind::Index, version: VERSION, hash: XxHash3_64::oneshot(&body) })?;
        let mut file = options().write(true).create(true).truncate(true).open(&fresh)?;
        file.write_all(&head).and_then(|()| file.write_all(b"\n")).and_then(|()| file.write_all(&body))?;
        fs::rename(&fresh, self.root.join(FILE))
    }
}

/// The lock, where there is a folder for it and nobody holds it.
fn locked(root: &Path) -> Option<File> {
    let lock = options().write(true).create(true).truncate(false).open(root.join(LOCK)).ok()?;
    lock::exclusive(&lock, Duration::ZERO).ok()?.then_some(lock)
}

/// How files are opened here: a pipe in place of one would be waited for without end.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    options
}

fn read(root: &Path) -> Option<BTreeMap<PathBuf, Look>> {
    let file = options().read(true).open(root.join(FILE)).ok()?;
    let metadata = file.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, body) = bytes.split_at_checked(end + 1)?;
    let Head { kind: Kind::Index, version, hash } = serde_json::from_slice(head).ok()?;
    if version != VERSION || hash != XxHash3_64::oneshot(body) {
        return None;
    }
    let rows = serde_json::Deserializer::from_slice(body).into_iter::<Row>();
    Some(rows.map_while(Result::ok).filter_map(|row| known(root, row)).collect())
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: Kind,
    version: u64,
    /// Of all that follows.
    hash: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Index,
}

/// What is known of one file.
#[derive(Serialize, Deserialize)]
struct Row {
    /// From the folder of all sessions.
    path: PathBuf,
    size: u64,
    modified_ns: i64,
    inode: u64,
    /// The hash and the highest id.
    seam: Option<(u64, u64)>,
    name: Option<String>,
    title: Option<String>,
    cwd: String,
    created_at: i64,
    updated_at: i64,
    provider: String,
    model: String,
    messages: u64,
    parent: Option<String>,
    spent: Option<Vec<SpentRow>>,
}

/// What the answers of one model took.
#[derive(Serialize, Deserialize)]
struct SpentRow {
    provider: String,
    model: String,
    answers: u64,
    /// Input, output, cache read, cache write, reasoning.
    tokens: [u64; 5],
    dollars: f64,
    unpriced: u64,
}

fn row(path: &str, look: &Look) -> Row {
    let Look { info, stamp, seam } = look.clone();
    let Stamp { size, modified_ns, inode } = stamp;
    let Info { id: _, path: _, name, title, cwd, created_at, updated_at, model, messages, parent, spent } = info;
    let Origin { provider, model } = model;
    let seam = seam.map(|Seam { hash, last_id }| (hash, last_id));
    let spent = spent.map(|Spent { models }| models.into_iter().map(spent_row).collect());
    Row {
        path: path.into(),
        size,
        modified_ns,
        inode,
        seam,
        name,
        title,
        cwd,
        created_at,
        updated_at,
        provider,
        model,
        messages,
        parent,
        spent,
    }
}

fn spent_row((origin, tally): (Origin, Tally)) -> SpentRow {
    let Origin { provider, model } = origin;
    let Tally { answers, usage, dollars, unpriced } = tally;
    let Usage { input, output, cache_read, cache_write, reasoning } = usage;
    SpentRow {
        provider,
        model,
        answers,
        tokens: [input, output, cache_read, cache_write, reasoning],
        dollars,
        unpriced,
    }
}

fn known(root: &Path, row: Row) -> Option<(PathBuf, Look)> {
    let Row { path, size, modified_ns, inode, seam, name, title, cwd, created_at, updated_at, .. } = row;
    let path = root.join(path);
    let spent = row.spent.map(|models| Spent { models: models.into_iter().map(tally).collect() });
    let info = Info {
        id: name::id_of(&path)?.to_owned(),
        path: path.clone(),
        name,
        title,
        cwd,
        created_at,
        updated_at,
        model: Origin { provider: row.provider, model: row.model },
        messages: row.messages,
        parent: row.parent,
        spent,
    };
    let seam = seam.map(|(hash, last_id)| Seam { hash, last_id });
    Some((path, Look { info, stamp: Stamp { size, modified_ns, inode }, seam }))
}

fn tally(row: SpentRow) -> (Origin, Tally) {
    let SpentRow { provider, model, answers, tokens, dollars, unpriced } = row;
    let [input, output, cache_read, cache_write, reasoning] = tokens;
    let usage = Usage { input, output, cache_read, cache_write, reasoning };
    (Origin { provider, model }, Tally { answers, usage, dollars, unpriced })
}

#[cfg(test)]
mod tests;
