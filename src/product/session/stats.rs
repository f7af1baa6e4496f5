//! What all sessions come to: how many, what was answered and paid by model and by day, what they take on disk.
//!
//! Every file is read, so that an answer which copies of a session share counts once. Nothing is changed, and nothing is
//! put into words.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::product::error::Error;

use super::given;
use super::look::Depth;
use super::name;
use super::shelf::{Listed, Scope};
use super::spent::{Answer, Spent, Sum, Tally};
use super::store::Store;

/// Folders that hold what belongs to sessions, in the data folder. What is not there takes nothing.
const FOLDERS: [&str; 5] = ["sessions", "blobs", "checkpoints", "output", "logs"];

/// What all sessions come to.
#[derive(Debug)]
pub struct Stats {
    /// How many there are.
    pub sessions: u64,
    /// How many messages they hold, those that a copy shares with its original counted in both.
    pub messages: u64,
    /// What answers took, by model; each once.
    pub spent: Spent,
    /// The same by local day, as `2026-12-31`, the first one first.
    pub days: BTreeMap<String, Tally>,
    /// What the folders take.
    pub folders: Vec<Folder>,
    /// Why there may be more.
    pub unread: Option<Error>,
}

/// A folder on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Its name.
    pub name: &'static str,
    /// It.
    pub path: PathBuf,
    /// How many files are in it, at whatever depth.
    pub files: u64,
    /// The bytes of all of them.
    pub bytes: u64,
}

impl Store {
    /// Adds up everything.
    pub fn stats(&self) -> Stats {
        let Listed { infos, unread } = self.listed(Scope::All, Depth::Whole);
        let mut sum = Sum::since(i64::MIN);
        let mut days: BTreeMap<String, Tally> = BTreeMap::new();
        for info in &infos {
            // What was read until then was paid.
            let mut each = |answer: &Answer| {
                let moment = if answer.timestamp == 0 { info.created_at } else { answer.timestamp };
                let day = name::readable(moment).split(' ').next().unwrap_or_default().to_owned();
                days.entry(day).or_default().add(&answer.usage, answer.cost);
            };
            for file in [info.path.clone()].into_iter().chain(given::files(&info.path)) {
                let _ = sum.add_each(&file, &mut each);
            }
        }
        let data = self.root.parent().unwrap_or(&self.root);
        let folders = FOLDERS.map(|name| {
            let path = data.join(name);
            let (files, bytes) = size(&path);
            Folder { name, path, files, bytes }
        });
        Stats {
            sessions: infos.len() as u64,
            messages: infos.iter().map(|info| info.messages).sum(),
            spent: sum.spent,
            days,
            folders: folders.into(),
            unread,
        }
    }
}

/// Files and bytes below a folder, links not followed; as far as it can be looked into.
fn size(folder: &Path) -> (u64, u64) {
    let mut waiting = vec![folder.to_owned()];
    let (mut files, mut bytes) = (0, 0);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => waiting.push(entry.path()),
                Ok(metadata) => {
                    files += 1;
                    bytes += metadata.len();
                }
                Err(_) => {}
            }
        }
    }
    (files, bytes)
}
