//! Reading a session's file: once over all lines for the tree, then again for the few that matter.
//!
//! Memory grows with the number of lines and with the active conversation, not with the file. Nothing is changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::jsonl::{self, Picker, Reader};
use crate::kernel::compact;
use crate::model::message::{Message, Origin, ToolInput};
use crate::product::error::Error;

use super::blob::Blobs;
use super::convert;
use super::entry::{
    CheckpointLine, Content, GrantLine, Header, Kind, LabelLine, LeafLine, Link, MessageLine, ModelLine, NameLine,
    Outline, PruneLine, RefusedLine, Role, SummaryLine, VERSION,
};
use super::name;
use super::skim::Skim;
use super::tree::{NodeKind, Tree};
use crate::product::permission::{Decision, Grant};

/// A session's file, understood.
#[derive(Debug)]
pub struct Loaded {
    /// The first line; made up as far as it was lost.
    pub header: Header,
    /// How the lines hang together.
    pub tree: Tree,
    /// The name it was given last.
    pub name: Option<String>,
    /// The notes on messages, by their ids.
    pub labels: BTreeMap<u64, String>,
    /// The snapshots of files, by the ids of the messages they belong to.
    pub checkpoints: BTreeMap<u64, String>,
    /// Where it stood before a turn was taken back, as long as nothing was said since.
    pub undone: Option<u64>,
    /// The last grant that was not withdrawn, of whatever worth it is here.
    pub grant: Option<Grant>,
    /// The model that answers next.
    pub origin: Origin,
    /// The ids of pictures that a provider refused.
    pub refused: BTreeSet<String>,
    /// The messages before which long results are not sent.
    pub pruned: Vec<u64>,
    /// Damaged lines; a first line that is missing is one.
    pub broken: usize,
    /// Whether the last line has no line break.
    pub midline: bool,
    file: File,
    /// Where the lines of the tree begin, by number.
    offsets: Vec<u64>,
}

/// What a session goes on from.
#[derive(Debug)]
pub struct Conversation {
    /// What is sent to the model.
    pub messages: Vec<Arc<Message>>,
    /// Calls that succeeded on a file or folder, in order.
    pub handled: Vec<Handled>,
    /// The lines of people and models among `messages`; a summary is none of them.
    pub lines: Lines,
    /// How many of `messages` come from before the summary: what their answers counted says nothing about what is sent.
    pub stale: usize,
    /// Lines that could not be read, and what they name that is not there.
    pub broken: usize,
}

/// The lines of people and models in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Their ids, in order.
    pub ids: Vec<u64>,
    /// How many of them, at the beginning, stand by themselves: a summary kept them, but not what followed them.
    pub pinned: usize,
}

/// A call that succeeded on something with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handled {
    /// The tool.
    pub tool: String,
    /// The path as the model wrote it, but relative to no folder.
    pub path: String,
    /// When its result was kept, in milliseconds since 1970.
    pub at_ms: i64,
}

/// Calls with a path, waiting for their results, and those that were done.
struct Handling<'a> {
    cwd: &'a str,
    calls: HashMap<String, (String, String)>,
    done: Vec<Handled>,
}

impl<'a> Handling<'a> {
    fn new(cwd: &'a str) -> Self {
        Self { cwd, calls: HashMap::new(), done: Vec::new() }
    }

    fn extend(&mut self, message: Option<&Message>, at_ms: i64) {
        match message {
            Some(Message::Assistant(answer)) => {
                let calls = answer.calls().filter_map(|call| {
                    let ToolInput::Object(arguments) = &call.input else { return None };
                    let path = arguments.get("path")?.as_str()?;
                    let path = if path.starts_with('~') { path.into() } else { Path::new(self.cwd).join(path) };
                    Some((call.id.clone(), (call.name.clone(), path.to_str()?.to_owned())))
                });
                self.calls.extend(calls);
            }
            Some(Message::Tool(results)) => {
                for result in results.iter().filter(|result| !result.is_error) {
                    if let Some((tool, path)) = self.calls.remove(&result.call_id) {
                        self.done.push(Handled { tool, path, at_ms });
                    }
                }
            }
            Some(Message::User(_)) | None => {}
        }
    }
}

impl Loaded {
    /// Reads `file`; `path` is for its name.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no session, or was written by a later version.
    pub fn read(file: &File, path: &Path) -> Result<Self, Error> {
        let cannot = |error: io::Error| Error::failed(format!("cannot read {}", path.display())).caused_by(error);
        let file = file.try_clone().map_err(cannot)?;
        let (mut scan, skim) = (Scan::default(), Skim::new());
        let mut rewound = &file;
        io::Seek::rewind(&mut rewound).map_err(cannot)?;
        let mut reader = Reader::new(BufReader::with_capacity(jsonl::BUFFER_BYTES, rewound), 0);
        let (mut first, mut missing) = (true, false);
        while let Some(record) = reader.read_by(|line| skim.outline(line)).map_err(cannot)? {
            let (outline, offset, recovered) = (record.value, record.offset, record.recovered);
            let text = record.text;
            let is_first = std::mem::take(&mut first);
            if is_first {
                scan.first(outline.kind, text, path)?;
            }
            scan.add(outline, offset, text, recovered);
            if is_first && scan.header.is_none() && reader.broken() == 0 {
                if !is_named_like_one(path) || outline.kind == Kind::Unknown {
                    return Err(foreign(path));
                }
                missing = true;
            }
        }
        let (broken, midline) = (reader.broken() + usize::from(missing), reader.midline());
        drop(reader);
        let Scan { header, tree, offsets, name, labels, checkpoints, undone, grant, origin, refused, pruned } = scan;
        let header = match header {
            Some(header) => header,
            // The first line is damaged or missing, and what follows is nothing but ours.
            None if !offsets.is_empty() && is_named_like_one(path) => lost_header(path),
            None => return Err(foreign(path)),
        };
        let origin =
            origin.unwrap_or_else(|| Origin { provider: header.provider.clone(), model: header.model.clone() });
        Ok(Self {
            header,
            tree,
            name,
            labels,
            checkpoints,
            undone,
            grant,
            origin,
            refused,
            pruned,
            broken,
            midline,
            file,
            offsets,
        })
    }

    /// The id: that of the file's name, which a copy keeps unique, else that of the header.
    pub fn id(&self, path: &Path) -> String {
        name::id_of(path).unwrap_or(&self.header.id).to_owned()
    }

    /// What is sent to the model, what it did to files, and how much could not be read. What is kept outside of the file
    /// is looked for in `blobs`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read any more.
    pub fn conversation(&self, path: &[usize], blobs: &Blobs) -> io::Result<Conversation> {
        let active = self.tree.active(path);
        let mut picker = Picker::new(&self.file)?;
        let mut broken = 0;
        let mut handled = Handling::new(&self.header.cwd);
        let mut messages = Vec::with_capacity(active.messages.len() + 1);
        let (mut lines, mut pinned) = (Lines::default(), Vec::new());
        if let Some(number) = active.summary {
            match self.line::<SummaryLine>(&mut picker, number)? {
                Some(SummaryLine { opening, text, pinned_ids, .. }) => {
                    messages.push(compact::stand_in(opening.as_deref(), &text));
                    let place = |id: &u64| self.tree.place(path, *id).and_then(|place| path.get(place).copied());
                    pinned = pinned_ids.iter().filter_map(place).collect();
                    pinned.retain(|number| active.messages.binary_search(number).is_err());
                }
                None => broken += 1,
            }
        }
        let pruned = self.pruned.iter().filter_map(|id| self.tree.place(path, *id)).max();
        let pruned = pruned.and_then(|place| path.get(place).copied()).unwrap_or_default();
        let (mut stale, mut missing) = (0, 0);
        let first_kept = active.messages.first().copied();
        for number in pinned.into_iter().chain(active.messages) {
            let Some(line) = self.line::<MessageLine>(&mut picker, number)? else {
                broken += 1;
                continue;
            };
            let at_ms = line.timestamp;
            let mut find = |hash: &str| {
                let content = blobs.get(hash);
                missing += usize::from(content.is_none());
                content
            };
            let Some(message) = convert::message(line, &mut find) else { continue };
            handled.extend(Some(&message), at_ms);
            if compact::is_line(&message) {
                lines.ids.extend(self.tree.id(number));
                lines.pinned += usize::from(first_kept.is_none_or(|first| number < first));
            }
            let shorter = if number < pruned { compact::pruned(&message) } else { None };
            messages.push(shorter.unwrap_or(message));
            if active.summary.is_some_and(|summary| number < summary) || number < pruned {
                stale = messages.len();
            }
        }
        broken += missing;
        // Joining results only ever makes the count smaller, and what it stands for a little staler.
        Ok(Conversation { messages: convert::grouped(messages), handled: handled.done, lines, stale, broken })
    }

    /// How many lines of `path` lead to where a turn has ended; what comes behind belongs to one that has not.
    ///
    /// # Errors
    ///
    /// When the file cannot be read any more.
    pub fn finished(&self, path: &[usize]) -> io::Result<usize> {
        let mut picker = Picker::new(&self.file)?;
        let mut finished = path.len();
        for (place, number) in path.iter().enumerate().rev() {
            let Some(line) = self.line::<MessageLine>(&mut picker, *number)? else { continue };
            let calls = |content: &Content| matches!(content, Content::ToolUse { .. });
            if line.role == Role::Assistant && !line.content.iter().any(calls) {
                return Ok(finished);
            }
            finished = place;
        }
        Ok(0)
    }

    /// Every message of `path`, also those that a summary stands for; unreadable ones are left out. What is kept outside
    /// of the file is looked for in `blobs`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read any more.
    pub fn all_messages(&self, path: &[usize], blobs: &Blobs) -> io::Result<Vec<Message>> {
        let mut picker = Picker::new(&self.file)?;
        let mut messages = Vec::with_capacity(path.len());
        for number in path {
            // Anything but a message has no role and does not parse.
            let line = self.line::<MessageLine>(&mut picker, *number)?;
            messages.extend(line.and_then(|line| convert::message(line, &mut |hash| blobs.get(hash))));
        }
        Ok(messages)
    }

    /// The lines of `path` as they stand in the file, but for those that are no JSON any more.
    ///
    /// # Errors
    ///
    /// When the file cannot be read any more.
    pub fn records(&self, path: &[usize]) -> io::Result<Vec<Value>> {
        let mut picker = Picker::new(&self.file)?;
        let mut records = Vec::with_capacity(path.len());
        for number in path {
            records.extend(self.line::<Value>(&mut picker, *number)?);
        }
        Ok(records)
    }

    /// The file and where the lines of `path` begin in it, for copying.
    ///
    /// # Errors
    ///
    /// When the system has no handle left.
    pub fn offsets(&self, path: &[usize]) -> io::Result<(File, Vec<u64>)> {
        let offsets = path.iter().filter_map(|number| self.offsets.get(*number).copied()).collect();
        Ok((self.file.try_clone()?, offsets))
    }

    fn line<T: DeserializeOwned>(&self, picker: &mut Picker<&File>, number: usize) -> io::Result<Option<T>> {
        match self.offsets.get(number) {
            Some(offset) => picker.pick(*offset),
            None => Ok(None),
        }
    }
}

/// What is gathered while the lines go by.
#[derive(Default)]
struct Scan {
    header: Option<Header>,
    tree: Tree,
    offsets: Vec<u64>,
    name: Option<String>,
    labels: BTreeMap<u64, String>,
    checkpoints: BTreeMap<u64, String>,
    undone: Option<u64>,
    grant: Option<Grant>,
    origin: Option<Origin>,
    refused: BTreeSet<String>,
    pruned: Vec<u64>,
}

impl Scan {
    /// Looks at the first line that can be read.
    fn first(&mut self, kind: Kind, text: &str, path: &Path) -> Result<(), Error> {
        if kind != Kind::Session {
            return Ok(());
        }
        let header: Header = serde_json::from_str(text).map_err(|_| foreign(path))?;
        if header.version > VERSION {
            let message = format!("{} was written by a later version (format {})", path.display(), header.version);
            return Err(Error::failed(message).hint("Update this program to go on with that session."));
        }
        self.header = Some(header);
        Ok(())
    }

    fn add(&mut self, outline: Outline, offset: u64, text: &str, recovered: bool) {
        let Outline { kind, id, parent_id, target_id, first_kept_id } = outline;
        if let Link::Id(id) = id {
            self.tree.reserve(id);
        }
        let node = match kind {
            Kind::Message => NodeKind::Message,
            Kind::Summary => NodeKind::Summary { first_kept: first_kept_id },
            Kind::Unknown if id != Link::Absent && parent_id != Link::Absent => NodeKind::Other,
            Kind::Leaf => {
                if self.tree.stand_at(target_id) {
                    let undone = parsed(text).and_then(|LeafLine { undone_id, .. }| undone_id);
                    self.undone = undone.filter(|id| self.tree.number(*id).is_some());
                }
                return;
            }
            Kind::Label => return self.label(text),
            Kind::Checkpoint => {
                let line = parsed(text);
                self.checkpoints
                    .extend(line.map(|CheckpointLine { id: _, entry_id, reference }| (entry_id, reference)));
                return;
            }
            Kind::Name => return replace(&mut self.name, parsed(text).map(|NameLine { name, .. }| name)),
            // What was found next to damage may come from inside of something a model wrote.
            Kind::Grant if recovered => return,
            Kind::Grant => {
                self.grant = match parsed(text) {
                    Some(GrantLine { mode: Decision::Allow(grant) }) => Some(grant),
                    Some(GrantLine { mode: Decision::Ask }) => None,
                    None => self.grant,
                };
                return;
            }
            Kind::Refused => {
                self.refused.extend(parsed(text).map(|RefusedLine { pictures }| pictures).unwrap_or_default());
                return;
            }
            Kind::Prune => {
                self.pruned.extend(parsed(text).map(|PruneLine { first_kept_id }| first_kept_id));
                return;
            }
            Kind::Model => {
                let origin = parsed(text).map(|ModelLine { provider, model }| Origin { provider, model });
                return replace(&mut self.origin, origin);
            }
            Kind::Session | Kind::Unknown => return,
        };
        match node {
            NodeKind::Message | NodeKind::Summary { .. } => self.undone = None,
            NodeKind::Other => {}
        }
        self.tree.add(id, parent_id, node);
        self.offsets.push(offset);
    }

    fn label(&mut self, text: &str) {
        match parsed(text) {
            Some(LabelLine { target_id, label: Some(label) }) => {
                self.labels.insert(target_id, label);
            }
            Some(LabelLine { target_id, label: None }) => {
                self.labels.remove(&target_id);
            }
            None => {}
        }
    }
}

fn replace<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

fn parsed<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

fn foreign(path: &Path) -> Error {
    Error::usage(format!("{} is not a session", path.display()))
        .hint("`agent sessions list --all` shows the sessions there are.")
}

fn is_named_like_one(path: &Path) -> bool {
    name::id_of(path).is_some_and(name::is_id)
}

/// What a file's name says of the first line that it lost.
pub(super) fn lost_header(path: &Path) -> Header {
    let id = name::id_of(path).unwrap_or_default().to_owned();
    let (cwd, provider, model) = (String::new(), String::new(), String::new());
    Header { version: VERSION, created_at: name::moment(&id), id, cwd, provider, model, parent: None, imported: None }
}
