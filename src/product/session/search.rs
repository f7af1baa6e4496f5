//! Finding words in everything that was said, in many sessions at once.
//!
//! Whole files go through matchers of bytes that know how JSON spells the words; only the lines they let through are
//! read as what they are. Nothing is changed, and damage is passed over.

mod excerpt;
mod needle;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use serde_json::Value;

use super::entry::{Content, Kind, LabelLine, Link, MessageLine, NameLine, Outline, Role, SummaryLine};
use super::list::{Info, Unread};
use super::shelf::Listed;
use super::store::Store;
use super::title;
use crate::base::jsonl::Reader;
use crate::base::path::is_absent;
use crate::product::error::Error;
pub use excerpt::Excerpt;
pub use needle::{Case, Needle};

/// More threads would wait for the disk rather than for each other.
const MAX_THREADS: usize = 4;

/// Where words were found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The session.
    pub session: Arc<Info>,
    /// The line's id; names and labels have none.
    pub entry_id: Option<u64>,
    /// When it was said, in milliseconds since 1970; of a name or label, when the session began.
    pub at_ms: i64,
    /// Who said it, or what it is.
    pub source: Source,
    /// The words and what stands around them.
    pub excerpt: Excerpt,
}

/// What words were found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// What a person said.
    User,
    /// What a model said.
    Assistant,
    /// What a model thought.
    Reasoning,
    /// The arguments of a call.
    Call,
    /// What a call came to.
    Result,
    /// A summary.
    Summary,
    /// A note on a message.
    Label,
    /// The name of a session.
    Name,
}

impl Source {
    /// A word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Reasoning => "reasoning",
            Self::Call => "call",
            Self::Result => "result",
            Self::Summary => "summary",
            Self::Label => "label",
            Self::Name => "name",
        }
    }
}

/// What a search came to.
#[derive(Debug)]
pub struct Found {
    /// The newest hits, newest first.
    pub hits: Vec<Hit>,
    /// How many there are in all: one for every piece of what was said that has the words.
    pub total: usize,
    /// Why there may be more.
    pub unread: Option<Error>,
}

/// What is kept outside of sessions' files, by its hash.
pub type Resolve<'a> = &'a (dyn Fn(&str) -> Option<Vec<u8>> + Sync);

impl Store {
    /// Looks for words in the sessions of `cwd`, or in all. At most `limit` hits are kept.
    pub fn search(&self, cwd: Option<&Path>, needle: &Needle, limit: usize, resolve: Resolve<'_>) -> Found {
        let Listed { infos, unread } = cwd.map_or_else(|| self.list_all(), |cwd| self.list(cwd));
        let mut found = search(infos, needle, limit, resolve);
        found.unread = unread.or(found.unread);
        found
    }
}

/// Looks for words in some sessions, on a few threads.
fn search(sessions: Vec<Info>, needle: &Needle, limit: usize, resolve: Resolve<'_>) -> Found {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS).min(sessions.len());
    let sessions: Vec<_> = sessions.into_iter().map(Arc::new).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut some = Found { hits: Vec::new(), total: 0, unread: None };
        while let Some(session) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) {
            some.add(look(session, needle, resolve), limit);
        }
        some
    };
    let mut found = Found { hits: Vec::new(), total: 0, unread: None };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        found = work();
        for other in others {
            if let Ok(Found { hits, total, unread }) = other.join() {
                found.hits.extend(hits);
                found.total += total;
                found.unread = found.unread.take().or(unread);
            }
        }
    });
    found.cut(limit);
    found
}

impl Found {
    fn add(&mut self, hits: Result<Vec<Hit>, Unread>, limit: usize) {
        match hits {
            Ok(hits) => {
                self.total += hits.len();
                self.hits.extend(hits);
                // A word that is everywhere does not fill the memory.
                if self.hits.len() > limit.saturating_mul(2).max(1000) {
                    self.cut(limit);
                }
            }
            Err(error) => {
                self.unread.get_or_insert(error.into());
            }
        }
    }

    fn cut(&mut self, limit: usize) {
        self.hits.sort_by(|one, other| {
            let key = |hit: &Hit| (hit.at_ms, hit.entry_id);
            key(other).cmp(&key(one)).then_with(|| other.session.id.cmp(&one.session.id))
        });
        self.hits.truncate(limit);
    }
}

/// Looks for words in one session.
fn look(session: &Arc<Info>, needle: &Needle, resolve: Resolve<'_>) -> Result<Vec<Hit>, Unread> {
    let unread = |error| Unread { path: session.path.clone(), error };
    let opened = match File::open(&session.path) {
        Ok(opened) => opened,
        // One that was removed meanwhile is missed by nobody.
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(unread(error)),
    };
    let mut looking = Looking { needle, resolve, seen: HashSet::new(), found: Vec::new() };
    let mut searcher = SearcherBuilder::new().line_number(false).binary_detection(BinaryDetection::none()).build();
    for lines in &needle.lines {
        (&opened).rewind().map_err(unread)?;
        searcher.search_file(lines, &opened, &mut looking).map_err(unread)?;
    }
    let hit = |Piece { entry_id, at_ms, source, excerpt }| Hit {
        session: Arc::clone(session),
        entry_id,
        at_ms: at_ms.unwrap_or(session.created_at),
        source,
        excerpt,
    };
    Ok(looking.found.into_iter().map(hit).collect())
}

/// Words in one piece of what was said.
struct Piece {
    entry_id: Option<u64>,
    at_ms: Option<i64>,
    source: Source,
    excerpt: Excerpt,
}

/// Takes the lines that may have the words, and looks whether they do.
struct Looking<'a> {
    needle: &'a Needle,
    resolve: Resolve<'a>,
    /// Where the lines began that were looked at, in bytes.
    seen: HashSet<u64>,
    found: Vec<Piece>,
}

impl Sink for Looking<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        if !self.seen.insert(line.absolute_byte_offset()) {
            return Ok(true);
        }
        // Also finds whole objects on a line that is damaged.
        let mut reader = Reader::new(line.bytes(), 0);
        while let Some(record) = reader.read::<Outline>()? {
            let id = match record.value.id {
                Link::Id(id) => Some(id),
                Link::Absent | Link::Root => None,
            };
            self.record(record.value.kind, id, record.text);
        }
        Ok(true)
    }
}

impl Looking<'_> {
    fn record(&mut self, kind: Kind, id: Option<u64>, text: &str) {
        match kind {
            Kind::Message => {
                if let Ok(line) = serde_json::from_str::<MessageLine>(text) {
                    let source = match line.role {
                        Role::User | Role::Unknown => Source::User,
                        Role::Assistant => Source::Assistant,
                        Role::Tool => Source::Result,
                    };
                    line.content.iter().for_each(|part| self.content(part, (id, line.timestamp), source));
                }
            }
            Kind::Summary => {
                if let Ok(SummaryLine { text, timestamp, .. }) = serde_json::from_str(text) {
                    self.text(&text, id, Some(timestamp), Source::Summary);
                }
            }
            Kind::Label => {
                if let Ok(LabelLine { target_id, label: Some(label) }) = serde_json::from_str(text) {
                    self.text(&label, Some(target_id), None, Source::Label);
                }
            }
            Kind::Name => {
                if let Ok(NameLine { name, .. }) = serde_json::from_str(text) {
                    self.text(&name, None, None, Source::Name);
                }
            }
            Kind::Session
            | Kind::Model
            | Kind::Grant
            | Kind::Refused
            | Kind::Prune
            | Kind::Leaf
            | Kind::Checkpoint
            | Kind::Unknown => {}
        }
    }

    fn content(&mut self, part: &Content, place: (Option<u64>, i64), source: Source) {
        let (id, at_ms) = (place.0, Some(place.1));
        match part {
            // Nobody said that, and it would be found in every session.
            Content::Text { text: Some(text), .. } if source == Source::User && title::is_surroundings(text) => {}
            Content::Text { text: Some(text), .. } => self.text(text, id, at_ms, source),
            Content::Text { text: None, blob: Some(hash) } => {
                if let Some(bytes) = (self.resolve)(hash) {
                    self.text(&String::from_utf8_lossy(&bytes), id, at_ms, source);
                }
            }
            Content::Reasoning { text, .. } => self.text(text, id, at_ms, Source::Reasoning),
            Content::ToolUse { input, raw, .. } => {
                if let Some(text) = raw {
                    self.text(text, id, at_ms, Source::Call);
                }
                self.leaves(input, id, at_ms);
            }
            Content::ToolResult { content, .. } => {
                content.iter().for_each(|part| self.content(part, place, Source::Result));
            }
            Content::Text { text: None, blob: None } | Content::Image { .. } | Content::Unknown => {}
        }
    }

    fn leaves(&mut self, value: &Value, id: Option<u64>, at_ms: Option<i64>) {
        match value {
            Value::String(text) => self.text(text, id, at_ms, Source::Call),
            Value::Array(items) => items.iter().for_each(|item| self.leaves(item, id, at_ms)),
            Value::Object(fields) => fields.values().for_each(|field| self.leaves(field, id, at_ms)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str, entry_id: Option<u64>, at_ms: Option<i64>, source: Source) {
        if let Some(range) = self.needle.find(text) {
            self.found.push(Piece { entry_id, at_ms, source, excerpt: Excerpt::new(text, range) });
        }
    }
}

#[cfg(test)]
mod tests;
