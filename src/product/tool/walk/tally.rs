//! What a walk leaves out, counted by reason. The library that applies the rules does not say what it skipped, so each
//! visited folder is listed once more and compared with what came through.
//!
//! Never decides whether an entry is hidden or ignored.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ignore::DirEntry;

use super::closed::Closed;
use super::glob::Glob;
use super::{End, Kind, MAX_ENTRIES, Report, Rules};
use crate::base::cancel::Cancel;
use crate::base::text::visible;
use crate::product::tool::workspace::By;

/// Names given as examples of what was left out; the rest is a number.
const MAX_NAMES: usize = 4;

/// What a walk left out. A folder counts as one, whatever is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Entries whose name begins with a dot, `.git` not counted.
    pub hidden: Names,
    /// Entries that an ignore file names.
    pub ignored: Names,
    /// Entries closed by `sandbox.deny_read`.
    pub closed: u64,
    /// Entries closed by a permission rule.
    pub denied: u64,
    /// Folders and files that could not be read.
    pub unreadable: u64,
    /// Folders on another file system.
    pub mounts: u64,
    /// Whether nothing at all came through the rules although there was something.
    pub is_everything: bool,
}

/// How many there are, and some of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// All of them.
    pub count: u64,
    /// The first few, if they lie directly in the folder that was walked.
    pub examples: Vec<String>,
}

impl LeftOut {
    /// The reasons with their numbers, such as `2 hidden (.env, .github)`.
    pub fn reasons(&self) -> Vec<String> {
        let Self { hidden, ignored, closed, denied, unreadable, mounts, is_everything: _ } = self;
        let mut reasons = Vec::new();
        for (names, word) in [(hidden, "hidden"), (ignored, "ignored")] {
            if names.count > 0 {
                reasons.push(format!("{} {word}{}", names.count, names.in_brackets()));
            }
        }
        for (count, by) in [(closed, By::Setting), (denied, By::Rule)] {
            if *count > 0 {
                reasons.push(format!("{count} closed by {}", by.as_str()));
            }
        }
        for (count, words) in [(unreadable, "unreadable"), (mounts, "on another file system")] {
            if *count > 0 {
                reasons.push(format!("{count} {words}"));
            }
        }
        reasons
    }
}

impl Names {
    fn in_brackets(&self) -> String {
        if self.examples.is_empty() {
            return String::new();
        }
        let more = if self.count > self.examples.len() as u64 { ", …" } else { "" };
        format!(" ({}{more})", self.examples.join(", "))
    }
}

/// Shared by the threads of one walk.
pub(super) struct Tally {
    root: PathBuf,
    device: Option<u64>,
    rules: Rules,
    closed: Closed,
    glob: Option<Glob>,
    cancel: Cancel,
    entries: AtomicU64,
    found: Pair,
    passed: Pair,
    closed_count: AtomicU64,
    denied_count: AtomicU64,
    unreadable: AtomicU64,
    mounts: AtomicU64,
    /// Names directly in the root that have not come through the rules.
    missing: Mutex<BTreeSet<OsString>>,
}

/// Entries whose name is hidden, and the others.
#[derive(Default)]
struct Pair {
    hidden: AtomicU64,
    plain: AtomicU64,
}

impl Pair {
    fn count(&self, name: &OsStr) {
        let counter = if is_hidden(name) { &self.hidden } else { &self.plain };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Tally {
    pub(super) fn new(root: &Path, rules: Rules, closed: Closed, glob: Option<&Glob>, cancel: &Cancel) -> Self {
        Self {
            root: root.to_owned(),
            device: std::fs::metadata(root).ok().map(|metadata| metadata.dev()),
            rules,
            closed,
            glob: glob.cloned(),
            cancel: cancel.clone(),
            entries: AtomicU64::new(0),
            found: Pair::default(),
            passed: Pair::default(),
            closed_count: AtomicU64::new(0),
            denied_count: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
            mounts: AtomicU64::new(0),
            missing: Mutex::default(),
        }
    }

    /// Whether the walk is to end now.
    pub(super) fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.is_capped()
    }

    fn is_capped(&self) -> bool {
        self.entries.load(Ordering::Relaxed) > MAX_ENTRIES
    }

    /// Whether an entry that the rules let through is visited. Asked once for each entry below the root.
    pub(super) fn admits(&self, entry: &DirEntry) -> bool {
        if entry.depth() == 0 {
            return true;
        }
        self.entries.fetch_add(1, Ordering::Relaxed);
        if self.is_over() {
            return false;
        }
        let name = entry.file_name();
        if name == ".git" {
            return false;
        }
        let Some(kind) = entry.file_type().map(Kind::of) else { return false };
        if self.counts(entry.path(), kind) {
            self.passed.count(name);
            if entry.depth() == 1 {
                self.missing.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
            }
        }
        if let Some(by) = self.closed.by(entry.path()) {
            let counter = match by {
                By::Setting => &self.closed_count,
                By::Rule => &self.denied_count,
            };
            counter.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        if kind == Kind::Folder && self.is_elsewhere(entry.path()) {
            self.mounts.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// Lists a folder that is about to be entered, to know what the rules hold back.
    pub(super) fn survey(&self, folder: &DirEntry) {
        match self.rules {
            Rules::Off => return,
            Rules::Followed => {}
        }
        if self.glob.as_ref().and_then(Glob::depth).is_some_and(|depth| folder.depth() >= depth) {
            return;
        }
        // What cannot be listed is reported by the walk itself.
        let Ok(entries) = std::fs::read_dir(folder.path()) else { return };
        let mut top = BTreeSet::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name == ".git" {
                continue;
            }
            let Ok(kind) = entry.file_type().map(Kind::of) else { continue };
            if self.glob.is_some() && !self.counts(&entry.path(), kind) {
                continue;
            }
            self.found.count(&name);
            if folder.depth() == 0 {
                top.insert(name);
            }
        }
        if folder.depth() == 0 {
            *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = top;
        }
    }

    /// Counts what the walk could not read; complaints about ignore files are none of it.
    pub(super) fn failed(&self, error: &ignore::Error) {
        if error.io_error().is_some() {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn report(&self) -> Report {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let names = |found: &AtomicU64, passed: &AtomicU64, hidden: bool| {
            // A file made or removed between the two listings may unbalance them.
            let count = found.load(Ordering::Relaxed).saturating_sub(passed.load(Ordering::Relaxed));
            let examples = missing.iter().filter(|name| is_hidden(name) == hidden);
            let examples = examples.take(MAX_NAMES.min(usize::try_from(count).unwrap_or(MAX_NAMES)));
            Names {
                count,
                examples: examples.map(|name| visible::line(&name.to_string_lossy()).into_owned()).collect(),
            }
        };
        let found = self.found.hidden.load(Ordering::Relaxed) + self.found.plain.load(Ordering::Relaxed);
        let left_out = LeftOut {
            hidden: names(&self.found.hidden, &self.passed.hidden, true),
            ignored: names(&self.found.plain, &self.passed.plain, false),
            closed: self.closed_count.load(Ordering::Relaxed),
            denied: self.denied_count.load(Ordering::Relaxed),
            unreadable: self.unreadable.load(Ordering::Relaxed),
            mounts: self.mounts.load(Ordering::Relaxed),
            is_everything: found > 0 && self.entries.load(Ordering::Relaxed) == 0,
        };
        let end = match (self.cancel.is_cancelled(), self.is_capped()) {
            (true, _) => End::Cancelled,
            (false, true) => End::Capped,
            (false, false) => End::Complete,
        };
        Report { end, left_out }
    }

    /// Whether an entry is one that only the rules decide about: the glob neither excludes it nor lets it through.
    fn counts(&self, path: &Path, kind: Kind) -> bool {
        let overrides = self.glob.as_ref().and_then(Glob::overrides);
        overrides.is_none_or(|overrides| overrides.matched(path, kind == Kind::Folder).is_none())
    }

    fn is_elsewhere(&self, folder: &Path) -> bool {
        debug_assert!(folder.starts_with(&self.root));
        let device = std::fs::symlink_metadata(folder).ok().map(|metadata| metadata.dev());
        device.is_some() && device != self.device
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_bytes().first() == Some(&b'.')
}
