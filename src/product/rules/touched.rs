//! Rules of folders that work reaches while a session goes on: told once, with the result of the call that reaches them
//! first.
//!
//! Changes no call and stops none; what is told is decided by the paths of a call alone.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::find::Finder;
use super::{BUDGET_BYTES, Cut, Loaded, NAMES, Place, Told, Why, cut, text};
use crate::base::path::{canonical, fold, open_home};
use crate::kernel::tool::Subject;
use crate::model::message::{Message, Part};

/// No longer path exists, in bytes: `PATH_MAX` of Linux, four times that of macOS.
const LONGEST_PATH: usize = 4096;

/// How many words of a shell line are looked at: more paths than anybody names by hand, and a fraction of a millisecond.
const MOST_WORDS: usize = 64;

/// Knows which rules a conversation has been told.
#[derive(Debug)]
pub struct Touched {
    place: Place,
    /// Folders whose rules the system prompt holds.
    way: HashSet<PathBuf>,
    /// What the system prompt holds.
    at_start: Loaded,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What running calls touch, by their ids.
    running: HashMap<String, Subject>,
    /// Files that have been told since, links followed.
    told: HashSet<PathBuf>,
    /// The same by their labels, where they were told before this process began.
    labels: HashSet<String>,
    /// Those told by this process.
    files: Vec<Told>,
    notices: Vec<String>,
}

impl Touched {
    /// For a conversation whose system prompt holds `loaded`.
    pub fn new(place: Place, loaded: Loaded) -> Self {
        let way = place.way().into_iter().map(Path::to_owned).collect();
        Self { place, way, at_start: loaded, state: Mutex::default() }
    }

    /// What the system prompt holds.
    pub fn at_start(&self) -> &Loaded {
        &self.at_start
    }

    /// What was told since this process began, and not forgotten.
    pub fn since(&self) -> Vec<Told> {
        self.state().files.clone()
    }

    /// Learns from a conversation that goes on what was told in it.
    pub fn recall(&self, messages: &[Arc<Message>]) {
        let results = messages.iter().filter_map(|message| match message.as_ref() {
            Message::Tool(results) => Some(results),
            Message::User(_) | Message::Assistant(_) => None,
        });
        let texts = results.flatten().flat_map(|result| &result.content).filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) => None,
        });
        let labels = texts.flat_map(text::labels).map(str::to_owned);
        self.state().labels.extend(labels);
    }

    /// Forgets what was told: the conversation has been shortened, and when work gets there again it is told again.
    pub fn forget(&self) {
        let mut state = self.state();
        state.told.clear();
        state.files.clear();
        state.labels.clear();
    }

    /// Hears that a call begins.
    pub fn starting(&self, id: &str, subject: &Subject) {
        match subject {
            Subject::Command(_) | Subject::Read(_) | Subject::Write(_) => {
                self.state().running.insert(id.to_owned(), subject.clone());
            }
            Subject::Url(_) | Subject::Task(_) | Subject::Other => {}
        }
    }

    /// What the model is to be told with the result of a call that has ended: the rules of folders that it reached and
    /// no call before it, general to near. Of calls that end at the same time one brings them along.
    pub fn finished(&self, id: &str) -> Option<String> {
        let mut state = self.state();
        let paths = match state.running.remove(id)? {
            Subject::Read(paths) | Subject::Write(paths) => paths,
            Subject::Command(line) => named_in(&line, &self.place.cwd, self.place.home.as_deref()),
            Subject::Url(_) | Subject::Task(_) | Subject::Other => return None,
        };
        let may_exist = paths.iter().filter(|path| path.as_os_str().len() <= LONGEST_PATH);
        let paths: Vec<PathBuf> = may_exist.map(|path| canonical(path)).collect();
        // Locked until they are told: who comes next finds them known.
        let state = &mut *state;
        let known = self.at_start.known.union(&state.told).cloned().collect();
        let mut finder = Finder::new(&self.place, known, &state.labels);
        for folder in self.reached(&paths) {
            // The result of a call that reads or writes the rules themselves need not show them twice.
            if !NAMES.iter().any(|name| paths.contains(&canonical(&folder.join(name)))) {
                finder.rules_of(&folder, Why::Reached);
            }
        }
        let (found, known) = finder.finish();
        // One budget for all that is told in this way, however many calls bring it.
        let left = BUDGET_BYTES.saturating_sub(state.files.iter().map(|file| file.kept).sum());
        state.told = known;
        let Cut { text, files, notices } = cut(&self.place, &found.files, text::REACHED, left);
        state.files.extend(files);
        state.notices.extend(found.notices.into_iter().chain(notices));
        (!text.is_empty()).then_some(text)
    }

    /// What a person should know of rules that were told since the last time, a sentence each.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.state().notices)
    }

    /// The folders above these paths that the system prompt knows nothing of, general to near.
    fn reached(&self, paths: &[PathBuf]) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::new();
        for path in paths.iter().filter(|path| path.starts_with(&self.place.root)) {
            let lowest = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
            let up = lowest.into_iter().flat_map(Path::ancestors).take_while(|folder| !self.way.contains(*folder));
            folders.extend(up.take_while(|folder| folder.starts_with(&self.place.root)).map(Path::to_owned));
        }
        folders
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The paths that a shell line names and that exist, absolute. A guess that costs little: what the line makes of them is
/// not known.
fn named_in(line: &str, cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let breaks = |letter: char| letter.is_whitespace() || "\"'`;&|<>(){}$=,:".contains(letter);
    let words = line.split(breaks).filter(|word| !word.is_empty() && !word.starts_with('-'));
    let mut folders = vec![cwd.to_owned()];
    let mut found = Vec::new();
    let mut is_change = false;
    for word in words.take(MOST_WORDS) {
        // Behind a change of folder, words count from there too.
        let places = folders.iter().map(|folder| fold(&open_home(Path::new(word), folder, home)));
        let existing: Vec<PathBuf> = places.filter(|path| path.symlink_metadata().is_ok()).collect();
        if is_change {
            folders.extend(existing.iter().filter(|path| path.is_dir()).take(1).cloned());
        }
        is_change = matches!(word, "cd" | "pushd");
        found.extend(existing);
    }
    found
}

#[cfg(test)]
mod tests;
