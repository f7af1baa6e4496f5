//! The files of the workspace, for `@`: found by a walk, searched on a thread, so that nobody waits at the prompt.
//!
//! The walk begins with the first `@`, follows the rules of the tools' own walk, and is never made of the home folder,
//! of what is above it, or of `/`: there, and wherever a path is written out, folders are listed one by one.

mod listing;
mod paths;

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::base::cancel::{Cancel, Registration};
use crate::base::path::canonical;
use crate::front::repl::complete::rank::{Of, Ranker};
use crate::front::repl::complete::{Candidate, Extent, Row, Then};
use crate::product::tool::walk::{End, Kind, Step, Walk};
use crate::product::tool::workspace::Workspace;
use listing::{Listing, Place, finished};
use paths::{Best, Paths, Scored, compare, score};

/// Entries after which a walk gives up: twice the largest repositories that people search by name.
pub const MOST_ENTRIES: usize = 200_000;
/// How long a walk may take; on a slow disk there are then fewer files to choose from.
const LONGEST_WALK: Duration = Duration::from_secs(10);
/// After this a walk is made anew with the next `@`: files come and go while the agent works.
#[cfg(not(test))]
const STALE: Duration = Duration::from_secs(5);
#[cfg(test)]
const STALE: Duration = Duration::from_millis(100);
/// Rows that are handed over: more than anybody goes through.
const MOST_ROWS: usize = 100;
/// Time between two answers while the walk goes on.
const PACE: Duration = Duration::from_millis(60);
/// Paths that are handed over at once by a walking thread.
const BATCH: usize = 512;
/// Paths that were chosen and come first among those that fit alike.
const MOST_USED: usize = 50;

/// What was found for a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which query: the number it was asked with.
    pub generation: u64,
    /// Best first, at most 100.
    pub rows: Vec<Row>,
    /// How many fit.
    pub total: usize,
    /// How much has been looked at; where it is still growing, another answer follows.
    pub extent: Extent,
}

/// The index. It starts no thread before it is asked, and its threads end when it is dropped.
pub struct FileIndex {
    sender: Option<Sender<Message>>,
    latest: Arc<AtomicU64>,
    cancel: Cancel,
    born: Option<Born>,
}

/// What the thread will need.
struct Born {
    workspace: Arc<Workspace>,
    home: Option<PathBuf>,
    found: Box<dyn Fn(Found) + Send>,
}

enum Message {
    Ask { generation: u64, query: String },
    Used(String),
    Rest,
    Walked(Vec<String>),
    End(Extent),
    Stop,
}

impl FileIndex {
    /// An index of the workspace's working directory. `found` is called on a thread of the index and must not block.
    pub fn new(workspace: Arc<Workspace>, home: Option<PathBuf>, found: impl Fn(Found) + Send + 'static) -> Self {
        let born = Some(Born { workspace, home, found: Box::new(found) });
        Self { sender: None, latest: Arc::default(), cancel: Cancel::new(), born }
    }

    /// Asks for paths. `generation` grows with each question; an answer to an earlier one no longer comes once the
    /// index has seen this one. Returns at once.
    pub fn ask(&mut self, generation: u64, query: &str) {
        self.latest.store(generation, Ordering::Release);
        self.start();
        self.send(Message::Ask { generation, query: query.to_owned() });
    }

    /// No answer is wanted any more; the next question is the first one of another `@`.
    pub fn rest(&mut self) {
        self.latest.fetch_add(1, Ordering::AcqRel);
        self.send(Message::Rest);
    }

    /// A path was chosen.
    pub fn used(&mut self, path: &str) {
        self.start();
        self.send(Message::Used(path.to_owned()));
    }

    fn send(&self, message: Message) {
        if let Some(sender) = &self.sender {
            // Without its thread there are no completions; everything else works.
            let _ = sender.send(message);
        }
    }

    fn start(&mut self) {
        let Some(Born { workspace, home, found }) = self.born.take() else { return };
        let (sender, receiver) = channel();
        let is_wide = is_wide(workspace.cwd(), home.as_deref());
        let searcher = Searcher {
            workspace,
            sender: sender.clone(),
            found,
            latest: Arc::clone(&self.latest),
            cancel: self.cancel.clone(),
            paths: Paths::default(),
            walking: None,
            walked: if is_wide { Walked::Never } else { Walked::NotYet },
            listing: Listing::default(),
            used: VecDeque::new(),
            asked: None,
            answered: None,
        };
        let thread = std::thread::Builder::new().name("files".to_owned());
        if thread.spawn(move || searcher.run(&receiver)).is_ok() {
            self.sender = Some(sender);
        }
    }
}

impl Drop for FileIndex {
    fn drop(&mut self) {
        self.latest.fetch_add(1, Ordering::AcqRel);
        self.cancel.cancel();
        self.send(Message::Stop);
    }
}

/// Whether a folder is the home folder, above it, or the root.
fn is_wide(cwd: &Path, home: Option<&Path>) -> bool {
    let cwd = canonical(cwd);
    cwd.parent().is_none() || home.is_some_and(|home| canonical(home).starts_with(&cwd))
}

/// The thread's own state.
struct Searcher {
    workspace: Arc<Workspace>,
    sender: Sender<Message>,
    found: Box<dyn Fn(Found) + Send>,
    latest: Arc<AtomicU64>,
    cancel: Cancel,
    paths: Paths,
    /// What the walk that goes on has found so far.
    walking: Option<Walking>,
    walked: Walked,
    listing: Listing,
    /// The last one chosen first.
    used: VecDeque<String>,
    /// The question that stands.
    asked: Option<(u64, String)>,
    answered: Option<Instant>,
}

struct Walking {
    paths: Paths,
    /// Throws the walk's own switch.
    _cancel: Registration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walked {
    /// The folder is too wide for it.
    Never,
    NotYet,
    At(Instant, Extent),
}

impl Searcher {
    fn run(mut self, receiver: &Receiver<Message>) {
        while let Ok(message) = receiver.recv() {
            let mut is_due = false;
            for message in std::iter::once(message).chain(receiver.try_iter()) {
                match message {
                    Message::Stop => return,
                    Message::Ask { generation, query } => {
                        if self.asked.is_none() {
                            self.walk_if_stale();
                        }
                        self.asked = Some((generation, query));
                        is_due = true;
                    }
                    Message::Used(path) => {
                        self.used.retain(|known| *known != path);
                        self.used.push_front(path);
                        self.used.truncate(MOST_USED);
                    }
                    Message::Rest => {
                        self.asked = None;
                        self.listing = Listing::default();
                    }
                    Message::Walked(paths) => {
                        if let Some(walking) = &mut self.walking {
                            paths.iter().for_each(|path| walking.paths.push(path));
                        }
                        is_due |= self.paths.is_empty() && self.answered.is_none_or(|last| last.elapsed() >= PACE);
                    }
                    Message::End(extent) => {
                        if let Some(walking) = self.walking.take() {
                            self.paths = walking.paths;
                        }
                        self.walked = Walked::At(Instant::now(), extent);
                        is_due = true;
                    }
                }
            }
            if is_due {
                self.answer();
            }
        }
    }

    fn walk_if_stale(&mut self) {
        let is_stale = match self.walked {
            Walked::Never => false,
            Walked::NotYet => true,
            Walked::At(moment, _) => moment.elapsed() >= STALE,
        };
        if is_stale && self.walking.is_none() {
            let (cancel, registration) = self.cancel.child();
            let (workspace, sender) = (Arc::clone(&self.workspace), self.sender.clone());
            let thread = std::thread::Builder::new().name("walk".to_owned());
            if thread.spawn(move || walk(&workspace, &cancel, &sender)).is_ok() {
                self.walking = Some(Walking { paths: Paths::default(), _cancel: registration });
            }
        }
    }

    /// Answers the question that stands, unless another one has come meanwhile.
    fn answer(&mut self) {
        let Some((generation, query)) = self.asked.clone() else { return };
        let latest = Arc::clone(&self.latest);
        let is_wanted = move || latest.load(Ordering::Acquire) == generation;
        let place = Place::of(&query);
        let is_listed = place.is_outside() || self.walked == Walked::Never;
        if is_listed || !place.folder.is_empty() || place.is_hidden() {
            if !self.listing.is_of(place.folder) {
                self.listing = Listing::read(place.folder, &self.workspace);
            }
        } else {
            self.listing = Listing::default();
        }
        let (listed, listed_total) = self.listed(place, &query);
        let is_first = self.paths.is_empty();
        let paths = match &mut self.walking {
            Some(walking) if is_first => &mut walking.paths,
            Some(_) | None => &mut self.paths,
        };
        let best = if is_listed {
            Best { paths: Vec::new(), total: 0 }
        } else {
            match paths.best(&query, &self.used, MOST_ROWS, is_wanted) {
                Some(best) => best,
                None => return,
            }
        };
        let capped = if self.listing.is_capped { Extent::Capped } else { Extent::All };
        let extent = match self.walked {
            _ if is_listed => capped,
            Walked::At(_, extent) => extent,
            Walked::NotYet | Walked::Never => Extent::Growing,
        };
        let total = best.total.max(listed_total);
        let rows = merged(&best, &listed, &query, &self.used, &self.workspace);
        let total = if rows.len() < MOST_ROWS { rows.len() } else { total };
        self.answered = Some(Instant::now());
        (self.found)(Found { generation, rows, total, extent });
    }

    /// The listed paths that fit, with their scores, best first and no more than are shown; and how many fit.
    fn listed(&self, place: Place<'_>, query: &str) -> (Vec<(String, u32)>, usize) {
        let mut ranker = Ranker::new(query, Of::Paths);
        let scored = self.listing.paths(place).filter_map(|path| {
            let score = score(&path, &mut ranker)?;
            Some((path, score))
        });
        let mut scored: Vec<_> = scored.collect();
        let order = |(one, best): &(String, u32), (other, next): &(String, u32)| {
            let (one, other) = (Scored { path: one, score: *best }, Scored { path: other, score: *next });
            compare(one, other, place.name, &self.used)
        };
        scored.sort_unstable_by(order);
        let total = scored.len();
        scored.truncate(MOST_ROWS);
        (scored, total)
    }
}

/// Where a path comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// A walk, which leaves out what is closed.
    Walk,
    /// A listing, which does not look.
    Listing,
}

/// The rows of both, best first, each path once.
fn merged(
    best: &Best<'_>,
    listed: &[(String, u32)],
    query: &str,
    used: &VecDeque<String>,
    workspace: &Workspace,
) -> Vec<Row> {
    let known: HashSet<_> = best.paths.iter().map(|scored| scored.path).collect();
    let listed = listed.iter().filter(|(path, _)| !known.contains(path.as_str()));
    let listed = listed.map(|(path, score)| (Scored { path, score: *score }, From::Listing));
    let mut all: Vec<_> = best.paths.iter().map(|scored| (*scored, From::Walk)).chain(listed).collect();
    all.sort_by(|(one, _), (other, _)| compare(*one, *other, Place::of(query).name, used));
    let mut ranker = Ranker::new(query, Of::Paths);
    let row = |(scored, from): (Scored<'_>, From)| {
        let path = match from {
            From::Walk => scored.path.to_owned(),
            From::Listing => finished(scored.path.to_owned(), workspace)?,
        };
        let matched = ranker.matched(&path);
        let then = if path.ends_with('/') { Then::Inside } else { Then::Words };
        // A folder that is written already is no way further into it.
        (path != query || then != Then::Inside).then(|| Row { candidate: Candidate::new(path, then), matched })
    };
    all.into_iter().filter_map(row).take(MOST_ROWS).collect()
}

/// Walks the working directory and sends what it finds; says at the end how much that is.
fn walk(workspace: &Workspace, cancel: &Cancel, sender: &Sender<Message>) {
    let root = workspace.cwd();
    let (count, begun) = (AtomicUsize::new(0), Instant::now());
    let report = Walk { workspace, root, glob: None, cancel }.run(|| {
        let mut batch = Batch { paths: Vec::new(), sender: sender.clone() };
        let count = &count;
        move |path: &Path, kind| {
            let number = count.fetch_add(1, Ordering::Relaxed);
            // The clock is asked now and then.
            if number >= MOST_ENTRIES || (number.is_multiple_of(BATCH) && begun.elapsed() >= LONGEST_WALK) {
                cancel.cancel();
                return Step::Prune;
            }
            if let Some(path) = path.strip_prefix(root).ok().and_then(Path::to_str) {
                match kind {
                    Kind::Folder => batch.push(format!("{path}/")),
                    Kind::File | Kind::Link => batch.push(path.to_owned()),
                    Kind::Special => {}
                }
            }
            Step::Continue
        }
    });
    let extent = match report.end {
        End::Complete => Extent::All,
        End::Cancelled | End::Capped => Extent::Capped,
    };
    let _ = sender.send(Message::End(extent));
}

/// What one walking thread has found and not handed over yet.
struct Batch {
    paths: Vec<String>,
    sender: Sender<Message>,
}

impl Batch {
    fn push(&mut self, path: String) {
        self.paths.push(path);
        if self.paths.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        // Nobody listens any more where it cannot be sent; the walk has then been cancelled.
        let _ = self.sender.send(Message::Walked(std::mem::take(&mut self.paths)));
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests;
