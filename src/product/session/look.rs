//! What one session's file says of itself: from all of it, from its ends, or from what it has grown by.
//!
//! Files that are no sessions say nothing; none is changed. Where what is known is kept, and when it still holds, is for
//! `super::index`.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};

use twox_hash::XxHash3_64;

use crate::base::jsonl::{BUFFER_BYTES, Reader};
use crate::model::message::{Message, Origin};

use super::blob::Blobs;
use super::entry::{Header, Kind, Link, MessageLine, ModelLine, NameLine, Outline, Role, SummaryLine};
use super::list::{Candidate, END_BYTES, Info};
use super::spent::{Line, Seen, Spent};
use super::{convert, load, name, title};

/// A file up to this size is read whole for a list that tells no costs: names lie anywhere. It takes about 5 ms, once.
const MOST_BYTES: u64 = 4 << 20;
/// So many bytes before the end say whether a file has only grown: the end of its last record, which has an id of its own.
const SEAM_BYTES: u64 = 64;

/// How closely files are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Their ends: what they cost is not known then, nor how they are called if that was said between.
    Ends,
    /// All of most files, the ends of very large ones.
    Most,
    /// All of all files.
    Whole,
}

impl Depth {
    /// The largest file that is read whole.
    fn whole_bytes(self) -> u64 {
        match self {
            Self::Ends => 2 * END_BYTES,
            Self::Most => MOST_BYTES,
            Self::Whole => u64::MAX,
        }
    }
}

/// By what a file is told from what it was, or from another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Its number in the file system.
    pub inode: u64,
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        let modified_ns = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
        Self { size: metadata.len(), modified_ns, inode: metadata.ino() }
    }
}

/// What was seen of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Look {
    /// What there is to say.
    pub(super) info: Info,
    /// The file as it was then.
    pub(super) stamp: Stamp,
    /// Where one can read on, if it was seen whole and ended with a line.
    pub(super) seam: Option<Seam>,
}

/// The end of what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seam {
    /// The hash of the last bytes.
    pub(super) hash: u64,
    /// The highest id of a line.
    pub(super) last_id: u64,
}

impl Look {
    /// Whether it is still what a look of that depth would find.
    pub(super) fn holds(&self, stamp: Stamp, depth: Depth) -> bool {
        self.stamp == stamp && (self.info.spent.is_some() || stamp.size > depth.whole_bytes())
    }
}

/// Looks into a file; `None` where it does not begin like a session. `known` is what an earlier look saw.
pub(super) fn look(candidate: &Candidate, depth: Depth, known: Option<&Look>) -> io::Result<Option<Look>> {
    let file = File::open(&candidate.path)?;
    let stamp = Stamp::from(&file.metadata()?);
    if let Some(known) = known
        && let Some(grown) = grown(&file, stamp, known)?
    {
        return Ok(Some(grown));
    }
    // As `store` lays them out: the folder of all sessions lies beside that of the blobs.
    let blobs = candidate.path.ancestors().nth(3).map(Blobs::new);
    let mut gathered = Gathered { blobs, ..Gathered::default() };
    let mut seam = None;
    if stamp.size <= depth.whole_bytes() {
        gathered.spent = Some((Spent::default(), Seen::default()));
        if gathered.read_span(&file, 0..stamp.size)? {
            seam = gathered.seam(&file, stamp.size)?;
        }
    } else {
        gathered.read_ends(&file, stamp.size)?;
    }
    Ok(gathered.info(candidate).map(|info| Look { info, stamp, seam }))
}

/// Reads on where an earlier look ended, if nothing but growth happened to the file since.
fn grown(file: &File, stamp: Stamp, known: &Look) -> io::Result<Option<Look>> {
    let Look { info, stamp: before, seam } = known;
    let Some(seam) = seam else { return Ok(None) };
    if stamp.inode != before.inode || stamp.size <= before.size || hash(file, before.size)? != Some(seam.hash) {
        return Ok(None);
    }
    let mut gathered = Gathered {
        name: info.name.clone(),
        title: info.title.clone(),
        model: Some(info.model.clone()),
        updated_at: Some(info.updated_at),
        counted: info.messages,
        last_id: seam.last_id,
        spent: info.spent.clone().map(|spent| (spent, Seen::default())),
        ..Gathered::default()
    };
    let ended = gathered.read_span(file, before.size..stamp.size)?;
    // An id of before once more: what was counted for it may be counted again.
    if gathered.repeated.is_some_and(|id| id <= seam.last_id) {
        return Ok(None);
    }
    let seam = if ended { gathered.seam(file, stamp.size)? } else { None };
    let Gathered { name, title, model, updated_at, counted, spent, .. } = gathered;
    let info = Info {
        name,
        title,
        updated_at: updated_at.unwrap_or(info.updated_at),
        model: model.unwrap_or_else(|| info.model.clone()),
        messages: counted,
        spent: spent.map(|(spent, _)| spent),
        ..info.clone()
    };
    Ok(Some(Look { info, stamp, seam }))
}

/// The hash of the bytes that end at `end`; `None` where the file has become shorter.
fn hash(file: &File, end: u64) -> io::Result<Option<u64>> {
    let length = end.min(SEAM_BYTES);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    match file.read_exact_at(&mut bytes, end - length) {
        Ok(()) => Ok(Some(XxHash3_64::oneshot(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the first line that can be read is, if it is no header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum First {
    /// There is none yet.
    #[default]
    Unread,
    /// A session's line, or something behind damage.
    Ours,
    /// Something else.
    Foreign,
}

/// What lines say.
#[derive(Default)]
struct Gathered {
    blobs: Option<Blobs>,
    first: First,
    header: Option<Header>,
    name: Option<String>,
    title: Option<String>,
    model: Option<Origin>,
    updated_at: Option<i64>,
    /// Messages that went by.
    counted: u64,
    last_id: u64,
    /// The lowest id that was not higher than those before it.
    repeated: Option<u64>,
    /// What answers took, where all of them go by.
    spent: Option<(Spent, Seen)>,
    /// Whether something lies between what was read.
    only_ends: bool,
}

impl Gathered {
    /// Reads some of a file, and whether that ended with a line.
    fn read_span(&mut self, mut file: &File, span: Range<u64>) -> io::Result<bool> {
        file.seek(SeekFrom::Start(span.start))?;
        let bytes = BufReader::with_capacity(BUFFER_BYTES, file.take(span.end - span.start));
        self.read(Reader::new(bytes, span.start))
    }

    fn read_ends(&mut self, mut file: &File, length: u64) -> io::Result<()> {
        self.read_span(file, 0..END_BYTES)?;
        // What the tail begins with is not the first question, and what the head ends with is not the last word.
        let (title, _) = (self.title.take(), self.updated_at.take());
        file.seek(SeekFrom::Start(length - END_BYTES))?;
        let mut tail = BufReader::new(file);
        // The first line is a part of one.
        tail.skip_until(b'\n')?;
        self.read(Reader::new(tail, length))?;
        self.title = title;
        self.counted = self.last_id;
        self.only_ends = true;
        Ok(())
    }

    fn read(&mut self, mut reader: Reader<impl BufRead>) -> io::Result<bool> {
        while let Some(record) = reader.read::<Outline>()? {
            let (outline, text, recovered) = (record.value, record.text, record.recovered);
            if self.first == First::Unread {
                let is_foreign = outline.kind == Kind::Unknown && !recovered;
                self.first = if is_foreign { First::Foreign } else { First::Ours };
            }
            self.line(outline, text);
        }
        Ok(!reader.midline())
    }

    fn line(&mut self, outline: Outline, text: &str) {
        match outline.kind {
            Kind::Session if self.header.is_none() => self.header = serde_json::from_str(text).ok(),
            Kind::Message => self.message(outline.id, text),
            Kind::Summary => {
                let moment = serde_json::from_str(text).ok().map(|line: SummaryLine| line.timestamp);
                self.updated_at = moment.or(self.updated_at);
                self.count_id(outline.id);
                self.pay(text);
            }
            Kind::Name => {
                let given = serde_json::from_str(text).ok().map(|NameLine { name, .. }| name);
                self.name = given.or_else(|| self.name.take());
                self.pay(text);
            }
            Kind::Model => {
                let line = serde_json::from_str(text).ok();
                let model = line.map(|ModelLine { provider, model }| Origin { provider, model });
                self.model = model.or_else(|| self.model.take());
            }
            Kind::Checkpoint => self.count_id(outline.id),
            Kind::Session | Kind::Label | Kind::Grant | Kind::Refused | Kind::Prune | Kind::Leaf | Kind::Unknown => {}
        }
    }

    fn message(&mut self, id: Link, text: &str) {
        self.counted += 1;
        self.count_id(id);
        let Ok(line) = serde_json::from_str::<Line>(text) else { return };
        self.updated_at = Some(line.timestamp);
        match line.role {
            Some(Role::User) if self.title.is_none() => self.title = self.asked(text),
            Some(Role::Assistant) => {
                let Some(answer) = line.answer() else { return };
                if !answer.origin.model.is_empty() {
                    self.model = Some(answer.origin.clone());
                }
                if let Some((spent, seen)) = &mut self.spent
                    && seen.is_new(&answer)
                {
                    spent.add(&answer.origin, &answer.usage, answer.cost);
                }
            }
            Some(Role::User | Role::Tool | Role::Unknown) | None => {}
        }
    }

    /// A title for what a person's message says.
    fn asked(&self, text: &str) -> Option<String> {
        let line: MessageLine = serde_json::from_str(text).ok()?;
        let mut find = |hash: &str| self.blobs.as_ref()?.get(hash);
        match convert::message(line, &mut find)? {
            Message::User(parts) => title::of_message(&parts),
            Message::Assistant(_) | Message::Tool(_) => None,
        }
    }

    /// A line that may have cost something besides the answers.
    fn pay(&mut self, text: &str) {
        let Some((spent, seen)) = &mut self.spent else { return };
        let answer = serde_json::from_str::<Line>(text).ok().and_then(Line::answer);
        if let Some(answer) = answer.filter(|answer| seen.is_new(answer)) {
            spent.add(&answer.origin, &answer.usage, answer.cost);
        }
    }

    fn count_id(&mut self, id: Link) {
        let id = match id {
            Link::Id(id) => id,
            Link::Absent | Link::Root => self.last_id.saturating_add(1),
        };
        if id <= self.last_id {
            self.repeated = Some(self.repeated.map_or(id, |lowest| lowest.min(id)));
        }
        self.last_id = self.last_id.max(id);
    }

    fn seam(&self, file: &File, end: u64) -> io::Result<Option<Seam>> {
        Ok(hash(file, end)?.map(|hash| Seam { hash, last_id: self.last_id }))
    }

    fn info(self, candidate: &Candidate) -> Option<Info> {
        let Self { first, header, name, title, model, updated_at, counted, spent, only_ends, .. } = self;
        let id = name::id_of(&candidate.path)?;
        let header = match header {
            Some(header) => header,
            // As `load` has it.
            None if first == First::Ours && counted > 0 && name::is_id(id) => load::lost_header(&candidate.path),
            None => return None,
        };
        let Header { version: _, id: _, created_at, cwd, provider, model: first, parent, imported: _ } = header;
        Some(Info {
            id: id.to_owned(),
            path: candidate.path.clone(),
            name,
            title,
            cwd,
            created_at,
            updated_at: match updated_at {
                Some(moment) => moment,
                None if !only_ends => created_at,
                // A last record that is longer than what was read says nothing; the file's own time does.
                None => candidate.modified,
            },
            model: model.unwrap_or(Origin { provider, model: first }),
            messages: counted,
            parent,
            spent: spent.map(|(spent, _)| spent),
        })
    }
}
