//! Looking into many sessions cheaply: of each file only its head and its tail are read.
//!
//! Files that are no sessions are passed over in silence; nothing is changed.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::base::jsonl::Reader;
use crate::base::path::is_absent;
use crate::base::text::cut;
use crate::model::message::{Message, Origin, Part};
use crate::product::error::Error;

use super::blob::Blobs;
use super::entry::{Header, Kind, Link, MessageLine, ModelLine, NameLine, Outline, Role, SummaryLine};
use super::name;
use super::{convert, load};

/// How much is read of each end; nearly every record is smaller.
const END_BYTES: u64 = 64 * 1024;
/// How much of the first question stands for a name.
const TITLE_CHARS: usize = 80;

/// A file that may be a session.
#[derive(Debug)]
pub struct Candidate {
    /// The file.
    pub path: PathBuf,
    /// When it was last written, in milliseconds since 1970.
    pub modified: i64,
}

/// What a list says about a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// The name a person gave, as far as it stands near either end of the file.
    pub name: Option<String>,
    /// The beginning of the first question, on one line.
    pub title: Option<String>,
    /// The folder it works in.
    pub cwd: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// When something was last said, in milliseconds since 1970.
    pub updated_at: i64,
    /// Who answered last, or will answer first.
    pub model: Origin,
    /// How many messages there are, on all branches. Counted by their ids, which count up.
    pub messages: u64,
}

/// The entries of a folder; none where there is no folder.
///
/// # Errors
///
/// When it is there, or may be, and cannot be looked into.
pub fn entries(folder: &Path) -> Result<impl Iterator<Item = fs::DirEntry>, Unread> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => Some(entries),
        Err(error) if is_absent(&error) => None,
        Err(error) => return Err(Unread { path: folder.to_owned(), error }),
    };
    Ok(entries.into_iter().flatten().flatten())
}

/// A place where sessions may be that nobody could look into.
#[derive(Debug)]
pub struct Unread {
    /// The folder or file.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
}

impl From<Unread> for Error {
    fn from(Unread { path, error }: Unread) -> Self {
        Self::failed(format!("cannot look for sessions in {}", path.display())).caused_by(error)
    }
}

/// The files of a folder that are named like sessions.
///
/// # Errors
///
/// As [`entries`].
pub fn files(folder: &Path) -> Result<Vec<Candidate>, Unread> {
    let named = entries(folder)?.filter(|entry| name::id_of(&entry.path()).is_some());
    let candidate = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Candidate { path: entry.path(), modified: i64::try_from(modified.as_millis()).unwrap_or(i64::MAX) })
    };
    Ok(named.filter_map(candidate).collect())
}

/// What is known of each session, the one with the last activity first. The first file that cannot be read is put into
/// `unread`.
pub fn sorted(files: impl IntoIterator<Item = Candidate>, unread: &mut Option<Unread>) -> Vec<Info> {
    let mut infos: Vec<_> = files.into_iter().filter_map(|file| read(&file, unread)).collect();
    infos.sort_by(|one, other| (other.updated_at, &other.id).cmp(&(one.updated_at, &one.id)));
    infos
}

/// The session of a folder in which something was said last.
///
/// A file is written when something is said, so files that were written earlier need not be looked into.
///
/// # Errors
///
/// As [`entries`]; also where there is no other session than one that cannot be read.
pub fn newest(folder: &Path) -> Result<Option<PathBuf>, Unread> {
    let mut files = files(folder)?;
    let mut unread = None;
    files.sort_by(|one, other| (other.modified, &other.path).cmp(&(one.modified, &one.path)));
    let mut newest: Option<Info> = None;
    for file in files {
        if newest.as_ref().is_some_and(|info| info.updated_at >= file.modified) {
            break;
        }
        let Some(info) = read(&file, &mut unread) else {
            continue;
        };
        if newest.as_ref().is_none_or(|newest| info.updated_at > newest.updated_at) {
            newest = Some(info);
        }
    }
    match (newest, unread) {
        (None, Some(unread)) => Err(unread),
        (newest, _) => Ok(newest.map(|info| info.path)),
    }
}

fn read(file: &Candidate, unread: &mut Option<Unread>) -> Option<Info> {
    info(file).unwrap_or_else(|error| {
        // One that was removed meanwhile is missed by nobody.
        if !is_absent(&error) {
            unread.get_or_insert(Unread { path: file.path.clone(), error });
        }
        None
    })
}

/// Looks into one file; `None` where it does not begin like a session.
fn info(candidate: &Candidate) -> io::Result<Option<Info>> {
    let mut file = File::open(&candidate.path)?;
    let length = file.metadata()?.len();
    let head = if length <= 2 * END_BYTES { length } else { END_BYTES };
    // As `store` lays them out: the folder of all sessions lies beside that of the blobs.
    let blobs = candidate.path.ancestors().nth(3).map(Blobs::new);
    let mut ends = Ends { blobs, ..Ends::default() };
    ends.read(Reader::new(BufReader::new((&file).take(head)), 0))?;
    // What the tail begins with is not the first question.
    let title = ends.title.take();
    if head < length {
        file.seek(SeekFrom::Start(length - END_BYTES))?;
        let mut tail = BufReader::new(&file);
        // The first line is a part of one.
        tail.skip_until(b'\n')?;
        ends.read(Reader::new(tail, length))?;
    }
    let Ends { blobs: _, first, header, name, title: _, model, updated_at, messages } = ends;
    let Some(id) = name::id_of(&candidate.path) else {
        return Ok(None);
    };
    let header = match header {
        Some(header) => header,
        // As `load` has it.
        None if first == First::Ours && messages > 0 && name::is_id(id) => load::lost_header(&candidate.path),
        None => return Ok(None),
    };
    let Header { version: _, id: _, created_at, cwd, provider, model: first, parent: _ } = header;
    Ok(Some(Info {
        id: id.to_owned(),
        path: candidate.path.clone(),
        name,
        title,
        cwd,
        created_at,
        updated_at: match updated_at {
            Some(moment) => moment,
            None if head == length => created_at,
            // A last record that is longer than what was read says nothing; the file's own time does.
            None => candidate.modified,
        },
        model: model.unwrap_or(Origin { provider, model: first }),
        messages,
    }))
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

/// What the ends of a file say.
#[derive(Default)]
struct Ends {
    blobs: Option<Blobs>,
    first: First,
    header: Option<Header>,
    name: Option<String>,
    title: Option<String>,
    model: Option<Origin>,
    updated_at: Option<i64>,
    messages: u64,
}

impl Ends {
    fn read(&mut self, mut reader: Reader<impl BufRead>) -> io::Result<()> {
        self.updated_at = None;
        while let Some(record) = reader.read::<Outline>()? {
            let (outline, text, recovered) = (record.value, record.text, record.recovered);
            if self.first == First::Unread {
                let is_foreign = outline.kind == Kind::Unknown && !recovered;
                self.first = if is_foreign { First::Foreign } else { First::Ours };
            }
            match outline.kind {
                Kind::Session if self.header.is_none() => self.header = serde_json::from_str(text).ok(),
                Kind::Message => self.message(outline.id, text),
                Kind::Summary => {
                    self.updated_at = serde_json::from_str(text).ok().map(|line: SummaryLine| line.timestamp);
                }
                Kind::Name => self.name = serde_json::from_str(text).ok().map(|NameLine { name }| name),
                Kind::Model => {
                    let line = serde_json::from_str(text).ok();
                    self.model = line.map(|ModelLine { provider, model }| Origin { provider, model });
                }
                Kind::Session
                | Kind::Label
                | Kind::Grant
                | Kind::Refused
                | Kind::Prune
                | Kind::Leaf
                | Kind::Checkpoint
                | Kind::Unknown => {}
            }
        }
        Ok(())
    }

    fn message(&mut self, id: Link, text: &str) {
        self.messages = match id {
            Link::Id(id) => self.messages.max(id),
            Link::Absent | Link::Root => self.messages + 1,
        };
        let Ok(line) = serde_json::from_str::<MessageLine>(text) else {
            return;
        };
        self.updated_at = Some(line.timestamp);
        match line.role {
            Role::User if self.title.is_none() => self.title = title(line, self.blobs.as_ref()),
            Role::Assistant => {
                if let (Some(provider), Some(model)) = (line.provider, line.model) {
                    self.model = Some(Origin { provider, model });
                }
            }
            Role::User | Role::Tool | Role::Unknown => {}
        }
    }
}

/// The last text of a message: what stands before it is context the agent put there.
fn title(line: MessageLine, blobs: Option<&Blobs>) -> Option<String> {
    let mut find = |hash: &str| blobs?.get(hash);
    let Some(Message::User(parts)) = convert::message(line, &mut find) else {
        return None;
    };
    let text = parts.iter().rev().find_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Image(_) => None,
    })?;
    let words: Vec<_> = text.split_whitespace().take(TITLE_CHARS).collect();
    (!words.is_empty()).then(|| cut::ellipsis(&words.join(" "), TITLE_CHARS))
}
