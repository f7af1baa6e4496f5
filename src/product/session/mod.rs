//! Sessions: what was said, kept on disk as it is said, found again, and gone on with.
//!
//! A [`store::Store`] finds and makes [`Session`]s; a [`Session`] appends. [`entry`] is the format, [`convert`] translates,
//! [`tree`] resolves branches, [`outline`] shows them, [`load`] reads (`skim` most of it), [`log`] writes, [`blob`] keeps
//! what is too long for a line (`named` says what is needed), `fork` copies, `adopt` writes what was kept elsewhere,
//! [`spent`] adds up what answers cost, and [`recording`] turns a session into answers for a replay. Nothing here decides
//! what is said, allowed, or sent to a model.
//!
//! The [`shelf`] is for people who look for a session: [`list`] finds files, [`look`] looks into one, `index` remembers what
//! was seen, [`search`] finds words, [`title`] and [`picks`] put it into words, a [`preview`] shows more of one, [`notes`]
//! what is noted beside it, and [`stats`] adds up all of them.

pub mod adopt;
pub mod blob;
pub mod convert;
pub mod entry;
mod fork;
pub mod given;
mod index;
pub mod list;
pub mod load;
pub mod log;
pub mod look;
pub mod name;
mod named;
pub mod notes;
pub mod outline;
pub mod picks;
pub mod preview;
pub mod recording;
pub mod search;
pub mod shelf;
mod skim;
pub mod spent;
pub mod stats;
pub mod store;
pub mod title;
pub mod tree;

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::base::clock::Clock;
use crate::kernel::compact::Folded;
use crate::model::message::{Assistant, Message, Origin, ToolResult};
use crate::model::usage::{Price, Usage};
use crate::product::error::Error;

use crate::product::permission::Decision;
use blob::{Blobs, INLINE_BYTES};
use convert::{Keep, Place};
use entry::MessageLine;
use entry::{CheckpointLine, GrantLine, LabelLine, LeafLine, ModelLine, NameLine, PruneLine, RefusedLine};
use load::Lines;
use log::{Log, Sync};

/// One conversation, as far as keeping it goes.
///
/// What is appended is in the file, in order, when the call returns; it survives the end of this process, and after
/// [`Session::sync`] that of the machine. Where it cannot be written, the session goes on in memory: the first failure
/// is returned, later ones are not, and everything missing is written as soon as something can be.
#[derive(Debug)]
pub struct Session {
    log: Log,
    /// Where long content goes; none for what is kept in memory alone.
    blobs: Option<Blobs>,
    clock: Clock,
    last: Option<u64>,
    next_id: u64,
    origin: Option<Origin>,
    price: Option<Price>,
    answered: HashSet<String>,
    /// The ids of the lines of people and models in the conversation as it is sent, oldest first.
    lines: Vec<u64>,
    /// How many of `lines`, at their beginning, stand by themselves: a summary kept them, but not what followed them.
    pinned: usize,
    refused: BTreeSet<String>,
    name: Option<String>,
}

/// A name that a model thought of.
#[derive(Clone, Debug, PartialEq)]
pub struct Titled {
    /// The name.
    pub name: String,
    /// The model.
    pub origin: Origin,
    /// What it took.
    pub usage: Usage,
    /// US dollars; nothing where the price is unknown.
    pub cost: Option<f64>,
}

impl Session {
    fn new(log: Log, blobs: Option<Blobs>, clock: Clock) -> Self {
        Self {
            log,
            blobs,
            clock,
            last: None,
            next_id: 1,
            origin: None,
            price: None,
            answered: HashSet::new(),
            lines: Vec::new(),
            pinned: 0,
            refused: BTreeSet::new(),
            name: None,
        }
    }

    /// A session that is never written, with an id like any other.
    pub fn in_memory(clock: Clock) -> Self {
        Self::new(Log::memory(name::session_id(clock.now_ms(), fastrand::u16(..))), None, clock)
    }

    /// The session's id. Before the first message it may still change, if another process takes the same name.
    pub fn id(&self) -> &str {
        self.log.id()
    }

    /// The session's file, once there is one.
    pub fn path(&self) -> Option<&Path> {
        self.log.path()
    }

    /// Whether it is written, now or with its first message.
    pub fn is_kept(&self) -> bool {
        self.log.is_kept()
    }

    /// What the answers from here on cost; kept with each.
    pub fn set_price(&mut self, price: Option<Price>) {
        self.price = price;
    }

    /// Keeps a message. One without content is nothing to keep; of results, those not yet kept are.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append(&mut self, message: &Message) -> Result<(), Error> {
        match message {
            Message::User(parts) if parts.is_empty() => Ok(()),
            Message::User(parts) => {
                let place = self.place();
                self.lines.push(place.id);
                self.append_message(|keep| convert::user_line(parts, place, keep))
            }
            Message::Assistant(answer) if answer.content.is_empty() => Ok(()),
            Message::Assistant(answer) => {
                self.answered.clear();
                // What nobody counted has an unknown cost.
                let counted = answer.usage != Usage::default();
                let cost = self.price.filter(|_| counted).map(|price| price.cost(&answer.usage));
                let place = self.place();
                self.lines.push(place.id);
                self.append_message(|keep| convert::assistant_line(answer, cost, place, keep))
            }
            Message::Tool(results) => {
                // Each is kept, whatever becomes of the others; only the first failure is reported anyway.
                results.iter().map(|result| self.append_result(result)).fold(Ok(()), Result::and)
            }
        }
    }

    /// Keeps an answer that is told again: what it took is counted where it was said.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_told(&mut self, answer: &Assistant) -> Result<(), Error> {
        self.answered.clear();
        let place = self.place();
        self.lines.push(place.id);
        self.append_message(|keep| convert::assistant_line(answer, Some(0.0), place, keep))
    }

    /// Keeps the result of one call the moment it is there, in whatever order calls finish. A second one is not kept.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_result(&mut self, result: &ToolResult) -> Result<(), Error> {
        if !self.answered.insert(result.call_id.clone()) {
            return Ok(());
        }
        let place = self.place();
        self.append_message(|keep| convert::result_line(result, place, keep))
    }

    /// Keeps what a person allowed for this session.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_grant(&mut self, mode: impl Into<Decision>) -> Result<(), Error> {
        self.append_aside(&GrantLine { mode: mode.into() })
    }

    /// Keeps which model answers from here on, if it is another one.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_model(&mut self, origin: &Origin) -> Result<(), Error> {
        if self.origin.as_ref() == Some(origin) {
            return Ok(());
        }
        self.origin = Some(origin.clone());
        let Origin { provider, model } = origin.clone();
        self.append_aside(&ModelLine { provider, model })
    }

    /// Keeps that these pictures, by their ids, are not sent again.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_refused(&mut self, pictures: impl IntoIterator<Item = String>) -> Result<(), Error> {
        let pictures: Vec<_> = pictures.into_iter().filter(|id| self.refused.insert(id.clone())).collect();
        if pictures.is_empty() { Ok(()) } else { self.append_aside(&RefusedLine { pictures }) }
    }

    /// Keeps that long results before the last `kept` messages are not sent any more, see [`Folded`] for the count.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_pruned(&mut self, kept: usize) -> Result<(), Error> {
        match self.nth_last(kept) {
            Some(first_kept_id) => self.append_aside(&PruneLine { first_kept_id }),
            None => Ok(()),
        }
    }

    /// Keeps that a summary stands for the beginning of the conversation.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_summary(&mut self, folded: &Folded) -> Result<(), Error> {
        let mut pinned: Vec<_> = folded.pinned.iter().filter_map(|place| self.nth_last(*place)).collect();
        let kept_from = self.lines.len().saturating_sub(folded.kept);
        // What stands by itself goes on to do so: kept as a beginning, it would bring back what followed it.
        pinned.extend(self.lines.get(kept_from..self.pinned).unwrap_or_default());
        let kept = self.lines.split_off(kept_from.max(self.pinned));
        let place = self.place();
        // Where nothing is kept, nothing stands between this line and itself.
        let first_kept = kept.first().copied().unwrap_or(place.id);
        let written = self.append_line(&convert::summary_line(folded, Some(first_kept), pinned.clone(), place));
        self.pinned = pinned.len();
        pinned.extend(kept);
        self.lines = pinned;
        written
    }

    /// Moves the conversation to another message; nothing is the beginning. What is said next follows that one.
    /// `undone`: where it stood, if this takes back a turn.
    ///
    /// The caller opens the session anew: what is sent from here on is another conversation.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_leaf(&mut self, target_id: Option<u64>, undone_id: Option<u64>) -> Result<(), Error> {
        self.last = target_id;
        self.append_aside(&LeafLine { target_id, undone_id })
    }

    /// Keeps a note on a message, or that there is none any more.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_label(&mut self, target_id: u64, label: Option<String>) -> Result<(), Error> {
        self.append_aside(&LabelLine { target_id, label })
    }

    /// Keeps what the session is called.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_name(&mut self, name: String) -> Result<(), Error> {
        self.name = Some(name.clone());
        let timestamp = Some(self.clock.now_ms());
        self.append_aside(&NameLine { name, timestamp, model: None, provider: None, usage: None })
    }

    /// Keeps the name that a model thought of, and what it took. A name that was given meanwhile stays.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_title(&mut self, title: Titled) -> Result<(), Error> {
        let Titled { name, origin, usage, cost } = title;
        let name = self.name.get_or_insert(name).clone();
        let Origin { provider, model } = origin;
        let (timestamp, usage) = (Some(self.clock.now_ms()), Some(convert::usage_to_disk(usage, cost)));
        self.append_aside(&NameLine { name, timestamp, model: Some(model), provider: Some(provider), usage })
    }

    /// What the session is called, if it has a name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Keeps which snapshot of the files belongs to a message.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub fn append_checkpoint(&mut self, entry_id: u64, reference: String) -> Result<(), Error> {
        let id = self.next_id;
        self.next_id = id.saturating_add(1);
        self.append_aside(&CheckpointLine { id, entry_id, reference })
    }

    /// The id of the last line of the conversation.
    pub fn last_id(&self) -> Option<u64> {
        self.last
    }

    /// The id of the line of a person or model that is the `place`th from the end.
    fn nth_last(&self, place: usize) -> Option<u64> {
        self.lines.get(self.lines.len().checked_sub(place)?).copied()
    }

    /// The ids of the pictures that are not sent again.
    pub fn refused(&self) -> impl Iterator<Item = &String> {
        self.refused.iter()
    }

    /// Whether everything that was appended is in the file, or is to be in none.
    pub fn is_written(&self) -> bool {
        self.log.is_written()
    }

    /// Makes the file of a copy now, although nothing was said in it yet: it can be looked at then.
    ///
    /// # Errors
    ///
    /// When it cannot be made; it is tried again with the first message.
    pub fn make_copy(&mut self) -> Result<(), Error> {
        self.log.make_copy().map_err(|error| self.unwritten(error))
    }

    /// Brings to the disk what was appended: at once by [`Sync::run`], or beside on another thread.
    pub fn sync(&mut self) -> Sync {
        self.log.sync()
    }

    fn place(&mut self) -> Place {
        let place = Place { id: self.next_id, parent_id: self.last, timestamp: self.clock.now_ms() };
        self.last = Some(place.id);
        // At the highest id there is, links still lead to the last line that has it.
        self.next_id = self.next_id.saturating_add(1);
        place
    }

    /// Long content goes before the line that names it, and stays in the line where there is no room for it.
    fn append_message(&mut self, line: impl FnOnce(&mut Keep<'_>) -> MessageLine) -> Result<(), Error> {
        let (blobs, log) = (&self.blobs, &mut self.log);
        let line = line(&mut |content| {
            let blobs = blobs.as_ref().filter(|_| content.len() > INLINE_BYTES)?;
            let kept = blobs.put(content).ok()?;
            let hash = kept.hash.clone();
            log.names(kept);
            Some(hash)
        });
        self.append_line(&line)
    }

    fn append_line(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let written = json(line).and_then(|record| self.log.append(record));
        written.map_err(|error| self.unwritten(error))
    }

    fn append_aside(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let written = json(line).and_then(|record| self.log.append_aside(record));
        written.map_err(|error| self.unwritten(error))
    }

    fn unwritten(&self, error: io::Error) -> Error {
        Error::failed(format!("session {} cannot be written and goes on in memory", self.id())).caused_by(error)
    }

    /// Goes on behind what was loaded.
    fn follow(mut self, loaded: &load::Loaded, messages: &[Arc<Message>], lines: Lines) -> Self {
        self.lines = lines.ids;
        self.pinned = lines.pinned;
        self.last = loaded.tree.leaf_id();
        self.next_id = loaded.tree.last_id().saturating_add(1);
        self.origin = Some(loaded.origin.clone());
        self.name.clone_from(&loaded.name);
        if let Some(Message::Tool(results)) = messages.last().map(Arc::as_ref) {
            self.answered = results.iter().map(|result| result.call_id.clone()).collect();
        }
        self
    }
}

fn json(line: &impl Serialize) -> io::Result<Vec<u8>> {
    serde_json::to_vec(line).map_err(io::Error::from)
}

#[cfg(test)]
mod tests;
