//! A session taken out: a transcript to read, or its records to go on with, in one file that needs nothing else.
//!
//! What was said never becomes markup or script, and known secrets never leave. Sessions are only read, and nothing is
//! fetched from anywhere.

mod html;
mod markdown;
mod record;
mod said;

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::base::jsonl::{BUFFER_BYTES, Picker, Reader};
use crate::base::text::mask::Mask;
use crate::model::message::{Message, Origin};
use crate::product::error::Error;
use crate::product::session::convert::{self, Place};
use crate::product::session::entry::{Header, Kind, Link, Outline, VERSION};
use crate::product::session::load::Loaded;
use record::cleared;

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A transcript in Markdown; pictures are named.
    Markdown,
    /// A transcript as one page of HTML; pictures are in it.
    Html,
    /// One JSON object.
    Json,
    /// A session file.
    JsonLines,
}

impl Format {
    /// The format that the ending of a file's name says.
    pub fn of(path: &Path) -> Option<Self> {
        Self::named(path.extension()?.to_str()?)
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" => Some(Self::Html),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }

    /// How the names of such files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::JsonLines => "jsonl",
        }
    }
}

/// How much of a session is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// From the beginning to where the conversation stands, also what a summary stands for.
    Path,
    /// All branches.
    AllBranches,
}

/// What happens to everything on its way out.
#[derive(Clone, Copy)]
pub struct Filter<'a> {
    /// Hides secrets.
    pub mask: &'a Mask,
    /// What is kept outside of the session's file, by its hash.
    pub resolve: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

/// Whether a file that is there is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is an error.
    Kept,
    /// It is.
    Replaced,
}

/// A session to be taken out. Only what is being written is in memory.
#[derive(Debug)]
pub struct Transcript {
    id: String,
    name: Option<String>,
    header: Header,
    /// Where the conversation stands.
    leaf_id: Option<u64>,
    /// The notes on messages, by their ids.
    labels: BTreeMap<u64, String>,
    extent: Extent,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// What kinds of lines there are, and where they begin.
    File {
        file: File,
        lines: Vec<(Kind, u64)>,
    },
    Memory(Vec<Value>),
}

impl Transcript {
    /// Reads how the lines of a session's file hang together.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no session, or was written by a later version.
    pub fn read(path: &Path, extent: Extent) -> Result<Self, Error> {
        let cannot = |error: io::Error| Error::failed(format!("cannot read {}", path.display())).caused_by(error);
        // A pipe would be waited for without end.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).map_err(cannot)?;
        if !file.metadata().map_err(cannot)?.is_file() {
            return Err(Error::usage(format!("{} is not a file", path.display())));
        }
        let loaded = Loaded::read(&file, path)?;
        let numbers = loaded.tree.path();
        let on_path = OnPath {
            ids: numbers.iter().filter_map(|number| loaded.tree.id(*number)).collect(),
            offsets: loaded.offsets(&numbers).map_err(cannot)?.1.into_iter().collect(),
        };
        let lines = lines(&file, extent, &on_path).map_err(cannot)?;
        let (id, leaf_id) = (loaded.id(path), loaded.tree.leaf_id());
        let Loaded { header, name, labels, .. } = loaded;
        Ok(Self { id, name, header, leaf_id, labels, extent, source: Source::File { file, lines } })
    }

    /// A conversation that is kept in no file. `begun` is in milliseconds since 1970.
    pub fn of<'a>(
        id: &str,
        cwd: &Path,
        origin: &Origin,
        begun: i64,
        messages: impl IntoIterator<Item = &'a Message>,
    ) -> Self {
        let mut records = Vec::new();
        let mut place = Place { id: 0, parent_id: None, timestamp: begun };
        let mut add = |line: &dyn Fn(Place) -> Option<Value>| {
            place = Place { id: place.id + 1, parent_id: Some(place.id).filter(|id| *id > 0), ..place };
            records.extend(line(place));
        };
        for message in messages {
            match message {
                Message::User(parts) => {
                    add(&|place| serde_json::to_value(convert::user_line(parts, place, &mut |_| None)).ok());
                }
                Message::Assistant(answer) => {
                    add(&|place| {
                        serde_json::to_value(convert::assistant_line(answer, None, place, &mut |_| None)).ok()
                    });
                }
                Message::Tool(results) => results.iter().for_each(|result| {
                    add(&|place| serde_json::to_value(convert::result_line(result, place, &mut |_| None)).ok());
                }),
            }
        }
        let header = Header {
            version: VERSION,
            id: id.to_owned(),
            created_at: begun,
            cwd: cwd.display().to_string(),
            provider: origin.provider.clone(),
            model: origin.model.clone(),
            parent: None,
            imported: None,
        };
        let leaf_id = Some(place.id).filter(|id| *id > 0);
        let (labels, extent, source) = (BTreeMap::new(), Extent::Path, Source::Memory(records));
        Self { id: id.to_owned(), name: None, header, leaf_id, labels, extent, source }
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The first line and what is known from elsewhere, without secrets.
    fn head(&self, filter: &Filter<'_>) -> Head {
        let hidden = |text: &str| {
            let mut text = text.to_owned();
            filter.mask.apply(&mut text);
            text
        };
        let Header { version: _, id: _, created_at, cwd, provider, model, parent, imported: _ } = &self.header;
        Head {
            id: hidden(&self.id),
            name: self.name.as_deref().map(hidden),
            cwd: hidden(cwd),
            begun: *created_at,
            model: hidden(format!("{provider}/{model}").trim_matches('/')),
            parent: parent.as_deref().map(hidden),
            labels: self.labels.iter().map(|(id, label)| (*id, hidden(label))).collect(),
        }
    }

    /// Goes through the lines in their order, without secrets and with all that is kept elsewhere.
    fn each(&self, filter: &Filter<'_>, take: &mut dyn FnMut(Kind, Value) -> io::Result<()>) -> io::Result<()> {
        match &self.source {
            Source::File { file, lines } => {
                let mut picker = Picker::new(file)?;
                for (kind, offset) in lines {
                    if let Some(record) = picker.pick(*offset)? {
                        take(*kind, cleared(record, filter))?;
                    }
                }
                Ok(())
            }
            Source::Memory(records) => {
                records.iter().try_for_each(|record| take(Kind::Message, cleared(record.clone(), filter)))
            }
        }
    }
}

/// What stands above a transcript.
struct Head {
    id: String,
    name: Option<String>,
    cwd: String,
    begun: i64,
    model: String,
    parent: Option<String>,
    labels: BTreeMap<u64, String>,
}

/// What belongs to the conversation as it stands.
struct OnPath {
    ids: HashSet<u64>,
    offsets: HashSet<u64>,
}

impl OnPath {
    fn has(&self, link: Link) -> bool {
        match link {
            Link::Id(id) => self.ids.contains(&id),
            Link::Absent | Link::Root => false,
        }
    }
}

/// The lines of a file that are taken. What was allowed, and snapshots of files, are worth something on this machine
/// alone and stay here.
fn lines(file: &File, extent: Extent, on_path: &OnPath) -> io::Result<Vec<(Kind, u64)>> {
    let mut rewound = file;
    io::Seek::rewind(&mut rewound)?;
    let mut reader = Reader::new(BufReader::with_capacity(BUFFER_BYTES, rewound), 0);
    let mut lines = Vec::new();
    while let Some(record) = reader.read::<Outline>()? {
        let Outline { kind, target_id, first_kept_id, .. } = record.value;
        let is_taken = match kind {
            Kind::Session | Kind::Grant | Kind::Checkpoint => false,
            _ if extent == Extent::AllBranches => true,
            Kind::Message | Kind::Summary | Kind::Unknown => on_path.offsets.contains(&record.offset),
            Kind::Name | Kind::Model | Kind::Refused => true,
            Kind::Label => on_path.has(target_id),
            Kind::Prune => on_path.has(first_kept_id),
            Kind::Leaf => false,
        };
        if is_taken {
            lines.push((kind, record.offset));
        }
    }
    Ok(lines)
}

/// Writes a session out.
///
/// # Errors
///
/// When all branches are wanted where only one fits, or something cannot be read or written.
pub fn write(transcript: &Transcript, format: Format, filter: &Filter<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let written = match (format, transcript.extent) {
        (Format::Markdown | Format::Html, Extent::AllBranches) => {
            return Err(Error::usage("a transcript follows one branch")
                .hint("`--format jsonl` and `--format json` can hold all of them"));
        }
        (Format::Markdown, Extent::Path) => markdown::write(transcript, filter, out),
        (Format::Html, Extent::Path) => html::write(transcript, filter, out),
        (Format::Json, Extent::Path | Extent::AllBranches) => object(transcript, filter, out),
        (Format::JsonLines, Extent::Path | Extent::AllBranches) => session_file(transcript, filter, out),
    };
    written
        .and_then(|()| out.flush())
        .map_err(|error| Error::failed(format!("session {} could not be written out", transcript.id)).caused_by(error))
}

/// A session as bytes.
///
/// # Errors
///
/// As [`write()`].
pub fn render(transcript: &Transcript, format: Format, filter: &Filter<'_>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    write(transcript, format, filter, &mut bytes)?;
    Ok(bytes)
}

/// Writes a session to a file that only this user may read, whole or not at all. In a folder it is called by its id.
/// Returns which file it was.
///
/// # Errors
///
/// As [`write()`]; usage where the file is there and is to be kept.
pub fn to_file(
    transcript: &Transcript,
    format: Format,
    filter: &Filter<'_>,
    path: &Path,
    existing: Existing,
) -> Result<PathBuf, Error> {
    let path = match path.is_dir() {
        true => path.join(format!("{}.{}", transcript.id, format.ending())),
        false => path.to_owned(),
    };
    let is_there = || Error::usage(format!("{} is there already", path.display())).hint("--force replaces it");
    if existing == Existing::Kept && path.symlink_metadata().is_ok() {
        return Err(is_there());
    }
    let cannot = |error: io::Error| Error::failed(format!("cannot write {}", path.display())).caused_by(error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let what = if folder.exists() { "is not a folder" } else { "is not there" };
        return Err(Error::usage(format!("cannot write {}: the folder {} {what}", path.display(), folder.display())));
    }
    // Readable by its owner alone: the library sees to that. The name that it chooses says nothing to anybody.
    let fresh = tempfile::Builder::new()
        .prefix(".export-")
        .tempfile_in(folder)
        .map_err(|error| cannot(io::Error::from(error.kind())))?;
    let mut out = BufWriter::new(fresh);
    write(transcript, format, filter, &mut out)?;
    let fresh = out.into_inner().map_err(|error| cannot(error.into_error()))?;
    fresh.as_file().sync_all().map_err(cannot)?;
    let named = match existing {
        Existing::Replaced => fresh.persist(&path),
        Existing::Kept => fresh.persist_noclobber(&path),
    };
    match named {
        Ok(_) => Ok(path),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(is_there()),
        Err(error) => Err(cannot(error.error)),
    }
}

/// One object, shaped as `agent sessions show --json` has it.
fn object(transcript: &Transcript, filter: &Filter<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (mut messages, mut asides) = (Vec::new(), Vec::new());
    transcript.each(filter, &mut |kind, record| {
        match kind {
            Kind::Message | Kind::Summary | Kind::Unknown => messages.push(record),
            Kind::Session
            | Kind::Label
            | Kind::Name
            | Kind::Model
            | Kind::Grant
            | Kind::Refused
            | Kind::Prune
            | Kind::Leaf
            | Kind::Checkpoint => asides.push(record),
        }
        Ok(())
    })?;
    let Head { id, name, cwd, begun, model: _, parent, labels: _ } = transcript.head(filter);
    let header = cleared(serde_json::to_value(&transcript.header)?, filter);
    let mut object = json!({
        "id": id, "name": name, "cwd": cwd, "created_at": begun, "parent": parent,
        "provider": header.get("provider"), "model": header.get("model"), "leaf_id": transcript.leaf_id,
        "messages": messages,
    });
    if let (Extent::AllBranches, Some(object)) = (transcript.extent, object.as_object_mut()) {
        object.insert("asides".to_owned(), asides.into());
    }
    record::write_line(&object, out)
}

/// A file that `agent --session FILE` goes on with.
fn session_file(transcript: &Transcript, filter: &Filter<'_>, out: &mut dyn Write) -> io::Result<()> {
    record::write_line(&cleared(serde_json::to_value(&transcript.header)?, filter), out)?;
    transcript.each(filter, &mut |_, record| record::write_line(&record, out))
}

#[cfg(test)]
mod tests;
