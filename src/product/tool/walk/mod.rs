//! Walking a folder for the tools that list, find and search: ripgrep's rules, on several threads, with an account of
//! what was left out.
//!
//! Never follows links, leaves the file system it started on, or enters what is closed; never reads a file's contents.

pub mod closed;
pub mod glob;
mod tally;

use std::path::Path;
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::base::cancel::Cancel;
use crate::base::text::numbers;
use crate::product::tool::workspace::Workspace;
use closed::Closed;
use glob::Glob;
use tally::Tally;
pub use tally::{LeftOut, Names};

/// Entries after which a walk gives up: far more than a project has, some seconds of a home folder or `/`.
pub const MAX_ENTRIES: u64 = 2_000_000;

/// More threads gain nothing: beyond this a walk waits for the disk and for locks.
const MAX_THREADS: usize = 6;

/// Whether hidden and ignored entries are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// As ripgrep does it: `.gitignore` (inside a repository), `.ignore`, `.rgignore`, git's excludes, hidden names.
    Followed,
    /// Everything but `.git` is visited.
    Off,
}

/// What a visited entry is. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A symbolic link, to whatever.
    Link,
    /// A pipe, socket or device.
    Special,
}

impl Kind {
    /// The kind of a file type that was read without following links.
    pub fn of(file_type: std::fs::FileType) -> Self {
        if file_type.is_dir() {
            Self::Folder
        } else if file_type.is_file() {
            Self::File
        } else if file_type.is_symlink() {
            Self::Link
        } else {
            Self::Special
        }
    }
}

/// How a walk goes on after an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// As normal.
    Continue,
    /// Without entering this folder.
    Prune,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything there was has been visited.
    Complete,
    /// It was cancelled.
    Cancelled,
    /// It met more than [`MAX_ENTRIES`] entries.
    Capped,
}

impl End {
    /// What to tell the model about a walk that did not see everything.
    pub fn note(self) -> Option<String> {
        match self {
            Self::Complete => None,
            Self::Cancelled => Some("stopped before the end".to_owned()),
            Self::Capped => {
                let entries = numbers::grouped(MAX_ENTRIES);
                Some(format!("gave up after {entries} entries: name a folder further down as path"))
            }
        }
    }
}

/// What a walk came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub end: End,
    /// What was not visited, and why.
    pub left_out: LeftOut,
}

/// A walk to be made.
pub struct Walk<'a> {
    /// Whose working directory and closed paths hold.
    pub workspace: &'a Workspace,
    /// The folder to walk, absolute. A link here is followed: it was named.
    pub root: &'a Path,
    /// Leaves out the files that do not match; made for this root.
    pub glob: Option<&'a Glob>,
    /// Ends the walk.
    pub cancel: &'a Cancel,
}

impl Walk<'_> {
    /// Visits everything below the root, in no order, with one visitor for each thread.
    ///
    /// A root other than the working directory was named, so it is walked even where it is itself hidden or ignored;
    /// the rules are then off below it, and also where they would leave out all there is directly in it.
    pub fn run<V>(&self, mut visitor: impl FnMut() -> V) -> Report
    where
        V: FnMut(&Path, Kind) -> Step + Send,
    {
        if self.is_left_out() {
            return self.run_with(Rules::Off, &mut visitor);
        }
        let report = self.run_with(Rules::Followed, &mut visitor);
        let named = !self.workspace.cwd().starts_with(self.root);
        if named && report.left_out.is_everything && report.end == End::Complete {
            return self.run_with(Rules::Off, &mut visitor);
        }
        report
    }

    /// Whether the rules would leave out the root itself on a walk that came from above.
    pub fn is_left_out(&self) -> bool {
        let cwd = self.workspace.cwd();
        if cwd.starts_with(self.root) {
            return false;
        }
        let above = if self.root.starts_with(cwd) { Some(cwd) } else { self.root.parent() };
        let Some((above, below)) = above.and_then(|above| Some((above, self.root.strip_prefix(above).ok()?))) else {
            return false;
        };
        let mut matchers = self.builder(above, Rules::Followed).build_matchers();
        matchers.first_mut().is_some_and(|matcher| matcher.matched(below, true).is_ignore())
    }

    fn run_with<V>(&self, rules: Rules, visitor: &mut impl FnMut() -> V) -> Report
    where
        V: FnMut(&Path, Kind) -> Step + Send,
    {
        let closed = Closed::below(self.workspace, self.root);
        let tally = Arc::new(Tally::new(self.root, rules, closed, self.glob, self.cancel));
        let mut builder = self.builder(self.root, rules);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        builder.threads(threads.min(MAX_THREADS));
        if let Some(glob) = self.glob {
            builder.max_depth(glob.depth());
            if let Some(overrides) = glob.overrides() {
                builder.overrides(overrides.clone());
            }
        }
        let filter = Arc::clone(&tally);
        builder.filter_entry(move |entry| filter.admits(entry));
        builder.build_parallel().run(|| {
            let mut visit = visitor();
            let tally = &*tally;
            Box::new(move |entry| step(tally, &mut visit, entry))
        });
        tally.report()
    }

    fn builder(&self, root: &Path, rules: Rules) -> WalkBuilder {
        let mut builder = WalkBuilder::new(root);
        builder.current_dir(self.workspace.cwd());
        match rules {
            Rules::Followed => builder.add_custom_ignore_filename(".rgignore"),
            Rules::Off => builder.standard_filters(false),
        };
        builder
    }
}

fn step<V>(tally: &Tally, visit: &mut V, entry: Result<DirEntry, ignore::Error>) -> WalkState
where
    V: FnMut(&Path, Kind) -> Step,
{
    if tally.is_over() {
        return WalkState::Quit;
    }
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => {
            tally.failed(&error);
            return WalkState::Continue;
        }
    };
    let Some(kind) = entry.file_type().map(Kind::of) else { return WalkState::Continue };
    if entry.depth() == 0 {
        tally.survey(&entry);
        return WalkState::Continue;
    }
    match (kind, visit(entry.path(), kind)) {
        (Kind::Folder, Step::Continue) => {
            tally.survey(&entry);
            WalkState::Continue
        }
        (Kind::Folder, Step::Prune) => WalkState::Skip,
        (Kind::File | Kind::Link | Kind::Special, Step::Continue | Step::Prune) => WalkState::Continue,
    }
}

#[cfg(test)]
mod tests;
