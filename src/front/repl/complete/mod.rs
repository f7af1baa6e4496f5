//! Completion at the prompt: what a word may become, best first, and what a choice does to the draft.
//!
//! [`word`] finds the word, [`rank`] compares, [`view`] shows the list; [`picker`] is a list of its own with a line to
//! search it, [`shelf`] one of sessions, [`tree`] one with branches. All of that is pure. [`index`] finds files, on threads.

pub mod field;
pub mod index;
pub mod picker;
pub mod rank;
pub mod shelf;
pub mod tree;
pub mod view;
pub mod word;

use std::ops::Range;

use crate::base::text::mention;
use rank::{Of, Ranker};
use word::{After, Kind, Word};

/// Something a word may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// A command without its slash, an argument, or a path; exactly.
    pub text: String,
    /// Other texts that find it.
    pub aliases: Vec<String>,
    /// What it is, in a few words.
    pub help: String,
    /// How it stands at present.
    pub value: String,
    /// What comes after it.
    pub then: Then,
    /// How long ago it was chosen last, as a rank: 0 is the last one chosen.
    pub used: Option<u32>,
}

/// What comes after a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The draft is whole.
    Whole,
    /// More words.
    Words,
    /// More of the same word: it is a folder.
    Inside,
}

impl Candidate {
    /// One with a text and no more.
    pub fn new(text: impl Into<String>, then: Then) -> Self {
        let (aliases, help, value) = (Vec::new(), String::new(), String::new());
        Self { text: text.into(), aliases, help, value, then, used: None }
    }
}

/// A candidate that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub candidate: Candidate,
    /// Which letters of its text were looked for, in bytes, ascending.
    pub matched: Vec<usize>,
}

/// A list of what a word may become, and which row is chosen.
#[derive(Clone, Debug)]
pub struct Completion {
    word: Word,
    /// Everything there is, where it is known beforehand: not for paths.
    candidates: Vec<Candidate>,
    rows: Vec<Row>,
    /// How many fit, with those that are not among the rows.
    total: usize,
    extent: Extent,
    selected: usize,
    moved: Moved,
}

/// Whether a person has gone to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moved {
    No,
    Yes,
}

/// How much of what there is has been looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Everything.
    #[default]
    All,
    /// It is still being looked for.
    Growing,
    /// There is more than is looked at.
    Capped,
}

/// How a choice is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Tab: it only completes.
    Tab,
    /// Enter: it sends what is whole.
    Enter,
}

/// What a choice does to the draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What is replaced, in bytes of the draft's text.
    pub range: Range<usize>,
    /// By what.
    pub text: String,
    /// Where the caret stands then, in bytes of the new text.
    pub caret: usize,
    /// What follows.
    pub next: Next,
}

/// What follows a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The list closes.
    Close,
    /// The next word can be completed: look for it.
    Complete,
    /// The draft is sent.
    Submit,
}

impl Completion {
    /// What `word` may become, out of `candidates`.
    pub fn of(word: Word, candidates: Vec<Candidate>) -> Self {
        let mut completion = Self { candidates, ..Self::paths(word) };
        completion.extent = Extent::All;
        completion.rank();
        completion
    }

    /// A list for a path, still empty: [`Self::found`] fills it.
    pub fn paths(word: Word) -> Self {
        let (candidates, rows) = (Vec::new(), Vec::new());
        Self { word, candidates, rows, total: 0, extent: Extent::Growing, selected: 0, moved: Moved::No }
    }

    /// The word that is being completed.
    pub fn word(&self) -> &Word {
        &self.word
    }

    /// The rows, best first.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How many candidates fit; at least the number of rows.
    pub fn total(&self) -> usize {
        self.total.max(self.rows.len())
    }

    /// How much has been looked at.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// The number of the chosen row.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Whether `word` is the one that is being completed, perhaps written further: else a new list is due.
    pub fn is_for(&self, word: &Word) -> bool {
        word.kind == self.word.kind && word.range.start == self.word.range.start
    }

    /// The word was written further, or less of it. The rows that still fit stay, until new ones are found.
    pub fn retype(&mut self, word: Word) {
        if word.query == self.word.query {
            self.word = word;
            return;
        }
        self.word = word;
        self.moved = Moved::No;
        self.selected = 0;
        match self.word.kind {
            Kind::Command | Kind::Argument(_) => self.rank(),
            Kind::Path => {
                let mut ranker = Ranker::new(&self.word.query, Of::Paths);
                self.rows.retain(|row| ranker.score(&row.candidate.text).is_some());
                for row in &mut self.rows {
                    row.matched = ranker.matched(&row.candidate.text);
                }
                self.total = self.rows.len();
                self.extent = Extent::Growing;
            }
        }
    }

    /// Paths were found for the word as it stands. A row that a person went to stays chosen.
    pub fn found(&mut self, rows: Vec<Row>, total: usize, extent: Extent) {
        let chosen = self.rows.get(self.selected).filter(|_| self.moved == Moved::Yes);
        let place = chosen.and_then(|chosen| rows.iter().position(|row| row.candidate.text == chosen.candidate.text));
        self.selected = place.unwrap_or(0);
        if place.is_none() {
            self.moved = Moved::No;
        }
        (self.rows, self.total, self.extent) = (rows, total, extent);
    }

    /// To the row above; from the first one to the last.
    pub fn up(&mut self) {
        self.select(self.selected.checked_sub(1).unwrap_or(self.rows.len().saturating_sub(1)));
    }

    /// To the row below; from the last one to the first.
    pub fn down(&mut self) {
        self.select(if self.selected + 1 < self.rows.len() { self.selected + 1 } else { 0 });
    }

    /// Whether nobody has gone to a row of it.
    pub fn is_untouched(&self) -> bool {
        self.moved == Moved::No
    }

    fn select(&mut self, row: usize) {
        self.selected = row;
        self.moved = Moved::Yes;
    }

    /// What the choice of the selected row does to the draft; `None` where there is nothing to choose, or where Enter
    /// finds a word that is whole as it stands: then the draft is meant.
    pub fn accept(&self, by: By) -> Option<Accepted> {
        let Row { candidate, .. } = self.rows.get(self.selected)?;
        if by == By::Enter && self.moved == Moved::No && self.is_whole(candidate) {
            return None;
        }
        let Word { kind, range, query, after } = &self.word;
        let text = match kind {
            Kind::Command => format!("/{}", candidate.text),
            Kind::Argument(_) => candidate.text.clone(),
            Kind::Path => mention::write(&candidate.text),
        };
        let end = range.start + text.len();
        // Before the quote that closes it: what is in the folder goes there.
        let inside = end - usize::from(text.ends_with('"') && text.starts_with("@\""));
        let spaced = |text| match after {
            After::Blank(width) => (text, end + width),
            After::Other => (format!("{text} "), end + 1),
        };
        let is_begun = !query.is_empty() && candidate.names().any(|name| begins(name, query));
        let is_meant = self.moved == Moved::Yes || is_begun;
        let ((text, caret), next) = match (candidate.then, by) {
            (Then::Inside, By::Tab | By::Enter) => ((text, inside), Next::Complete),
            (Then::Words, By::Tab | By::Enter) => {
                (spaced(text), if *kind == Kind::Path { Next::Close } else { Next::Complete })
            }
            (Then::Whole, By::Enter) if is_meant => ((text, end), Next::Submit),
            (Then::Whole, By::Tab | By::Enter) => ((text, end), Next::Close),
        };
        Some(Accepted { range: range.clone(), text, caret, next })
    }

    /// Whether the word needs no completion, although one is on offer.
    fn is_whole(&self, selected: &Candidate) -> bool {
        let query = &self.word.query;
        match self.word.kind {
            Kind::Command => self.candidates.iter().any(|candidate| candidate.names().any(|name| same(name, query))),
            Kind::Argument(_) => query.is_empty() || self.candidates.iter().any(|one| same(&one.text, query)),
            Kind::Path => selected.text == *query,
        }
    }

    /// Ranks what is known beforehand: the name that is the query, then names that begin with it. Only where none does,
    /// the ones that have its letters in order.
    fn rank(&mut self) {
        let query = self.word.query.as_str();
        let mut ranker = Ranker::new(query, Of::Words);
        let class = |candidate: &Candidate| {
            if candidate.names().any(|name| same(name, query)) {
                Some(0)
            } else if begins(&candidate.text, query) {
                Some(1)
            } else {
                candidate.names().any(|name| begins(name, query)).then_some(2)
            }
        };
        let key = |class: u32, candidate: &Candidate| (class, candidate.used.unwrap_or(u32::MAX));
        let begun = self.candidates.iter().filter_map(|one| Some((key(class(one)?, one), one)));
        let mut ranked: Vec<_> = begun.collect();
        if ranked.is_empty() {
            let mut score = |candidate: &Candidate| candidate.names().filter_map(|name| ranker.score(name)).max();
            let fitting = self.candidates.iter().filter_map(|one| Some((key(u32::MAX - score(one)?, one), one)));
            ranked = fitting.collect();
        }
        ranked.sort_by_key(|(key, _)| *key);
        let mut row =
            |candidate: &Candidate| Row { matched: ranker.matched(&candidate.text), candidate: candidate.clone() };
        self.rows = ranked.into_iter().map(|(_, candidate)| row(candidate)).collect();
        self.total = self.rows.len();
    }
}

impl Candidate {
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.text).chain(&self.aliases).map(String::as_str)
    }
}

/// Whether two names are the same but for case.
fn same(name: &str, query: &str) -> bool {
    name.to_lowercase() == query.to_lowercase()
}

/// Whether a name begins with the query, but for case.
fn begins(name: &str, query: &str) -> bool {
    name.to_lowercase().starts_with(&query.to_lowercase())
}

#[cfg(test)]
mod tests;
