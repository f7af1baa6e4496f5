//! The tree of a session as a person looks at it: who said what on every branch, in a few words, and where it stands.
//!
//! Streams the file once and keeps a line of text for each message: memory grows with their number, not with what was
//! said. Nothing is changed, and nothing is decided about how it is shown.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::base::jsonl::{self, Reader};
use crate::base::text::cut;
use crate::model::message::Message;
use crate::product::error::Error;

use super::blob::Blobs;
use super::convert;
use super::entry::{Kind, LabelLine, Link, MessageLine, Outline as Links, Role, SummaryLine};
use super::tree::{NodeKind, Tree};

/// Characters of a message that are kept: more than a row of any screen shows.
const TEXT_CHARS: usize = 200;
/// Messages that are kept so; of later ones less, so that a session of 100,000 takes some 30 MB at the most.
const AMPLE: usize = 20_000;
/// Characters that are kept of those.
const LEAN_CHARS: usize = 60;
/// Bytes of a message in which its first words are looked for.
const LOOKED_AT_BYTES: usize = 4 * 1024;

/// The tree of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// What was said, in the order of the file; whatever follows something stands behind it.
    pub entries: Vec<Entry>,
    /// Where the conversation stands, by its place among the entries; nothing is the beginning.
    pub here: Option<usize>,
}

/// A message, together with the results of its calls; or a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The id of its line.
    pub id: u64,
    /// The id of the line before it: where the conversation stands just before this was said. Nothing is the beginning.
    pub before: Option<u64>,
    /// The id of the last line that belongs to it: its own, or that of the last result of its calls.
    pub end: u64,
    /// What it follows, by its place among the entries.
    pub parent: Option<usize>,
    /// Who said it.
    pub who: Who,
    /// Its first words, on one line; empty where there are none.
    pub text: Box<str>,
    /// The tools that it calls, each with how often, in the order of their first calls.
    pub tools: Vec<(Arc<str>, u32)>,
    /// A note on it.
    pub label: Option<Box<str>>,
    /// When it was said, in milliseconds since 1970.
    pub at: i64,
    /// Whether it is part of the present conversation.
    pub is_present: bool,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A person, or the program in the person's place.
    Person,
    /// A model.
    Agent,
    /// Nobody: it stands for what came before it.
    Summary,
}

/// Reads the tree of a session's file. Long texts are looked for in `blobs`.
///
/// # Errors
///
/// When it cannot be read.
pub fn of(path: &Path, blobs: &Blobs) -> Result<Outline, Error> {
    let find = |hash: &str| blobs.get(hash);
    let mut scan = Scan::new(&find);
    each(path, |links, text| scan.add(links, text))?;
    Ok(scan.outline())
}

/// The message with this id, whole; `None` where there is none. What is kept outside of the file is looked for in `blobs`.
///
/// # Errors
///
/// When the file cannot be read.
pub fn message(path: &Path, id: u64, blobs: &Blobs) -> Result<Option<Message>, Error> {
    let mut found = None;
    each(path, |links, text| {
        if links.kind == Kind::Message && links.id == Link::Id(id) {
            found = parsed::<MessageLine>(text);
        }
    })?;
    Ok(found.and_then(|line| convert::message(line, &mut |hash| blobs.get(hash))))
}

/// Shows the lines of a file in order.
fn each(path: &Path, mut show: impl FnMut(Links, &str)) -> Result<(), Error> {
    let cannot = |error: io::Error| Error::failed(format!("cannot read {}", path.display())).caused_by(error);
    let file = File::open(path).map_err(cannot)?;
    let mut reader = Reader::new(BufReader::with_capacity(jsonl::BUFFER_BYTES, file), 0);
    while let Some(record) = reader.read::<Links>().map_err(cannot)? {
        show(record.value, record.text);
    }
    Ok(())
}

impl Outline {
    /// The place of an entry by the id of its line, or of one that belongs to it.
    pub fn place(&self, id: u64) -> Option<usize> {
        let exact = self.entries.iter().rposition(|entry| entry.id == id);
        exact.or_else(|| self.entries.iter().rposition(|entry| entry.end == id))
    }

    /// The place of what a person said right after the line with this id in the present conversation; nothing is the
    /// beginning.
    pub fn said_after(&self, before: Option<u64>) -> Option<usize> {
        let is_it = |entry: &Entry| entry.is_present && entry.who == Who::Person && entry.before == before;
        self.entries.iter().rposition(is_it)
    }

    /// The places of what `of` follows, and of itself, the newest first.
    pub fn ancestors(&self, of: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(of, |place| self.entries.get(*place).and_then(|entry| entry.parent))
    }

    /// How many messages of the present conversation are no part of it any more once it stands at `at`.
    pub fn left_behind(&self, at: Option<usize>) -> usize {
        let kept = self.ancestors(at).find(|place| self.entries.get(*place).is_some_and(|entry| entry.is_present));
        self.ancestors(self.here).take_while(|place| Some(*place) != kept).count()
    }
}

/// What is gathered while the lines go by.
struct Scan<'a> {
    /// What is kept outside of the file, by its hash.
    find: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    tree: Tree,
    /// Of each line of the tree, the entry that it is or belongs to.
    entry_of: Vec<Option<usize>>,
    /// Of each entry, the number of the line that it is.
    line_of: Vec<usize>,
    entries: Vec<Entry>,
    labels: HashMap<u64, Option<String>>,
    names: HashMap<String, Arc<str>>,
}

impl<'a> Scan<'a> {
    fn new(find: &'a dyn Fn(&str) -> Option<Vec<u8>>) -> Self {
        let (tree, labels, names) = (Tree::default(), HashMap::new(), HashMap::new());
        Self { find, tree, entry_of: Vec::new(), line_of: Vec::new(), entries: Vec::new(), labels, names }
    }

    fn add(&mut self, links: Links, text: &str) {
        let Links { kind, id, parent_id, target_id, first_kept_id } = links;
        match kind {
            Kind::Message => {
                let number = self.tree.add(id, parent_id, NodeKind::Message);
                let said = parsed::<Said<'_>>(text).and_then(|said| self.said(&said));
                self.place(number, said);
            }
            Kind::Summary => {
                let number = self.tree.add(id, parent_id, NodeKind::Summary { first_kept: first_kept_id });
                let most = self.most();
                let line = serde_json::from_str::<SummaryLine>(text).ok();
                let summary = line.map(|line| entry(Who::Summary, first_words(&line.text, most), line.timestamp));
                self.place(number, summary);
            }
            Kind::Leaf => {
                self.tree.stand_at(target_id);
            }
            Kind::Label => {
                if let Ok(LabelLine { target_id, label }) = serde_json::from_str(text) {
                    self.labels.insert(target_id, label);
                }
            }
            Kind::Unknown if id != Link::Absent && parent_id != Link::Absent => {
                let number = self.tree.add(id, parent_id, NodeKind::Other);
                self.place(number, None);
            }
            Kind::Session
            | Kind::Name
            | Kind::Model
            | Kind::Grant
            | Kind::Refused
            | Kind::Prune
            | Kind::Checkpoint
            | Kind::Unknown => {
                if let Link::Id(id) = id {
                    self.tree.reserve(id);
                }
            }
        }
    }

    /// How much is kept of the next message.
    fn most(&self) -> usize {
        if self.entries.len() < AMPLE { TEXT_CHARS } else { LEAN_CHARS }
    }

    /// What a line says; `None` for results, and for what only a later version understands.
    fn said(&mut self, said: &Said<'_>) -> Option<Entry> {
        let most = self.most();
        let find = self.find;
        let mut texts = said.content.iter().filter(|part| part.kind == "text").map(|part| part.words(find));
        let words = |text: Option<Cow<'_, str>>| text.map_or_else(Box::default, |text| first_words(&text, most));
        match said.role {
            // What stands before the last one is context that the program put there.
            Role::User => {
                let mut texts = texts.filter(|text| !text.trim().is_empty());
                Some(entry(Who::Person, words(texts.next_back()), said.timestamp))
            }
            Role::Assistant => {
                let text = words(texts.find(|text| !text.trim().is_empty()));
                let mut entry = entry(Who::Agent, text, said.timestamp);
                for name in said.content.iter().filter(|part| part.kind == "tool_use").map(|part| &part.name) {
                    let name = self.name(name.as_deref().unwrap_or_default());
                    match entry.tools.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, times)) => *times += 1,
                        None => entry.tools.push((name, 1)),
                    }
                }
                Some(entry)
            }
            Role::Tool | Role::Unknown => None,
        }
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = cut::head(name, LEAN_CHARS).into();
        self.names.insert(name.to_owned(), Arc::clone(&shared));
        shared
    }

    /// Puts the line with this number in its place: as an entry, or as a part of the one it follows.
    fn place(&mut self, number: usize, entry: Option<Entry>) {
        let before = self.tree.parent(number);
        let parent = before.and_then(|line| self.entry_of.get(line).copied().flatten());
        let id = self.tree.id(number).unwrap_or_default();
        let place = match entry {
            Some(entry) => {
                let before = before.and_then(|line| self.tree.id(line));
                self.entries.push(Entry { id, before, end: id, parent, ..entry });
                self.line_of.push(number);
                Some(self.entries.len() - 1)
            }
            None => {
                if let Some(entry) = parent.and_then(|parent| self.entries.get_mut(parent)) {
                    entry.end = id;
                }
                parent
            }
        };
        self.entry_of.push(place);
    }

    fn outline(self) -> Outline {
        let Self { find: _, tree, entry_of, line_of, mut entries, labels, names: _ } = self;
        let path = tree.path();
        for (entry, line) in entries.iter_mut().zip(line_of) {
            entry.is_present = path.binary_search(&line).is_ok();
            let label = labels.get(&entry.id).or_else(|| labels.get(&entry.end));
            entry.label = label.cloned().flatten().map(|label| first_words(&label, LEAN_CHARS));
        }
        let here = path.last().and_then(|line| entry_of.get(*line).copied().flatten());
        Outline { entries, here }
    }
}

/// Of a message, what is shown.
#[derive(Deserialize)]
struct Said<'a> {
    role: Role,
    #[serde(default)]
    timestamp: i64,
    #[serde(default, borrow)]
    content: Vec<Content<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    blob: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

impl Content<'_> {
    /// The text, or the beginning of a long one that is kept outside of the file.
    fn words(&self, find: &dyn Fn(&str) -> Option<Vec<u8>>) -> Cow<'_, str> {
        if let Some(text) = &self.text {
            return Cow::Borrowed(text);
        }
        match self.blob.as_deref().and_then(find) {
            Some(mut bytes) => {
                bytes.truncate(LOOKED_AT_BYTES);
                String::from_utf8_lossy(&bytes).into_owned().into()
            }
            None => Cow::Borrowed("(a text that is lost)"),
        }
    }
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    serde_json::from_str(text).ok()
}

fn entry(who: Who, text: Box<str>, at: i64) -> Entry {
    let (id, before, end, parent) = (0, None, 0, None);
    Entry { id, before, end, parent, who, text, tools: Vec::new(), label: None, at, is_present: false }
}

/// The first words of a text on one line, at most so many characters.
fn first_words(text: &str, chars: usize) -> Box<str> {
    let text = cut::head_bytes(text.trim_start(), LOOKED_AT_BYTES);
    let words: Vec<&str> = text.split_whitespace().take(chars).collect();
    cut::ellipsis(&words.join(" "), chars).into()
}

#[cfg(test)]
mod tests;
