//! The results of a search, gathered from its threads: the first matches by path, and no more of them than are shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What was found in one file.
#[derive(Debug, Default)]
pub struct FileHits {
    /// Matches, context and gaps, in the order of the file.
    pub lines: Vec<Line>,
    /// Matches among the lines.
    pub matches: usize,
    /// Whether the file has further matches.
    pub more: bool,
    /// Whether a NUL byte was met. Lines found before it stand.
    pub is_binary: bool,
}

/// A line to show.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: LineKind,
    /// Its number, from 1; 0 for a gap.
    pub number: u64,
    /// Clean, without its end, cut.
    pub text: String,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The first line of a match.
    Match,
    /// A further line of a match that spans lines.
    Rest,
    /// Near a match.
    Context,
    /// Stands for lines between two matches.
    Gap,
}

/// All results, by path.
#[derive(Debug)]
pub struct Results {
    /// Files with matches.
    pub files: Vec<(PathBuf, FileHits)>,
    /// Whether there are more matches than these.
    pub more: bool,
}

/// Gathers the first `max` matches by path.
pub struct Found {
    max: usize,
    inner: Mutex<Inner>,
    /// Set once there is a cut, so that the many files before that need no lock.
    has_cut: AtomicBool,
}

#[derive(Default)]
struct Inner {
    files: BTreeMap<PathBuf, FileHits>,
    matches: usize,
    more: bool,
    /// Nothing after this path can be among the results.
    cut: Option<PathBuf>,
}

impl Found {
    /// An empty collection of at most `max` matches.
    pub fn new(max: usize) -> Self {
        Self { max, inner: Mutex::default(), has_cut: AtomicBool::new(false) }
    }

    /// Whether neither the path nor anything below it can be among the results.
    pub fn is_beyond(&self, path: &Path) -> bool {
        self.has_cut.load(Ordering::Relaxed)
            && self.inner.lock().unwrap_or_else(PoisonError::into_inner).cut.as_deref().is_some_and(|cut| path > cut)
    }

    /// Takes what was found in a file. A file has at most `max` matches and says whether it has more.
    pub fn add(&self, path: &Path, file: FileHits) {
        if file.matches == 0 {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.matches += file.matches;
        inner.more |= file.more;
        inner.files.insert(path.to_owned(), file);
        // Files that the ones before them leave no room for. What they held makes "more" true.
        while let Some((last, hits)) = inner.files.last_key_value() {
            let (before, last) = (inner.matches - hits.matches, last.clone());
            if before < self.max {
                if inner.matches > self.max || hits.more {
                    inner.cut = Some(last);
                }
                break;
            }
            inner.matches = before;
            inner.more = true;
            inner.files.remove(&last);
            inner.cut = Some(last);
        }
        self.has_cut.store(inner.cut.is_some(), Ordering::Relaxed);
    }

    /// The results, cut to `max` matches. Leaves the collection empty.
    pub fn results(&self) -> Results {
        let inner = std::mem::take(&mut *self.inner.lock().unwrap_or_else(PoisonError::into_inner));
        let mut left = self.max;
        let mut more = inner.more;
        let mut files = Vec::with_capacity(inner.files.len());
        for (path, mut hits) in inner.files {
            if hits.matches > left {
                more = true;
                hits.keep(left);
            }
            left -= hits.matches;
            files.push((path, hits));
        }
        Results { files, more }
    }
}

impl FileHits {
    /// Drops all after the first `matches` matches.
    fn keep(&mut self, matches: usize) {
        let mut starts = self.lines.iter().enumerate().filter(|(_, line)| line.kind == LineKind::Match);
        if let Some((next, _)) = starts.nth(matches) {
            self.lines.truncate(next);
        }
        self.matches = self.matches.min(matches);
        self.more = true;
        self.trim();
    }

    /// Drops context at the end that belonged to a match which is not among the lines.
    pub fn trim(&mut self) {
        let is_near = |line: &&Line| matches!(line.kind, LineKind::Context | LineKind::Gap);
        let tail = self.lines.iter().rev().take_while(is_near).count();
        let start = self.lines.len() - tail;
        if let Some(gap) = self.lines.iter().skip(start).position(|line| line.kind == LineKind::Gap) {
            self.lines.truncate(start + gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hits(matches: usize, max: usize) -> FileHits {
        let line = |number| Line { kind: LineKind::Match, number, text: String::new() };
        let kept = matches.min(max);
        FileHits { lines: (1..=kept as u64).map(line).collect(), matches: kept, more: matches > max, is_binary: false }
    }

    proptest! {
        /// In whatever order files arrive, and with those beyond the cut passed over, the results are the same.
        #[test]
        fn the_first_matches_by_path_win(counts in proptest::collection::vec(0usize..9, 0..40), order in any::<u64>(), max in 1usize..30) {
            let mut left = max;
            let mut expected = Vec::new();
            for (number, count) in counts.iter().enumerate() {
                let kept = (*count).min(left);
                if kept > 0 {
                    expected.push((PathBuf::from(format!("d{number:02}/f")), kept));
                }
                left -= kept;
            }
            let found = Found::new(max);
            let mut files: Vec<_> = counts.iter().copied().enumerate().collect();
            fastrand::Rng::with_seed(order).shuffle(&mut files);
            for (number, count) in files {
                let path = PathBuf::from(format!("d{number:02}/f"));
                if !found.is_beyond(&path) && !found.is_beyond(path.parent().unwrap()) {
                    found.add(&path, hits(count, max));
                }
            }
            let results = found.results();
            prop_assert_eq!(results.more, counts.iter().sum::<usize>() > max);
            for (_, hits) in &results.files {
                prop_assert_eq!(hits.lines.len(), hits.matches);
            }
            let got: Vec<_> = results.files.into_iter().map(|(path, hits)| (path, hits.matches)).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
