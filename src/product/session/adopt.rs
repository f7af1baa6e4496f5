//! Writing a whole session at once, as it was kept elsewhere, and finding it again: nothing is adopted twice.
//!
//! The file comes into being whole or not at all. Nothing is allowed in it, whatever was allowed where it is from.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::blob::INLINE_BYTES;
use super::convert::{self, Keep, Place};
use super::entry::{Header, Imported, LabelLine, LeafLine, ModelLine, NameLine, SummaryLine, VERSION};
use super::log::{Birth, Log};
use super::name;
use super::store::Store;
use crate::model::message::{Assistant, Origin, Part, ToolResult};
use crate::product::error::Error;

/// How much of a file is read for its first line, in bytes; ours are far shorter.
const HEADER_BYTES: u64 = 64 * 1024;

/// A session as it was kept elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// Where it is from.
    pub imported: Imported,
    /// The folder it worked in; empty where nobody knows.
    pub cwd: String,
    /// When it began, in milliseconds since 1970.
    pub begun: i64,
    /// What it is called.
    pub name: Option<String>,
    /// What was said, each behind what it follows.
    pub lines: Vec<Line>,
    /// Notes, by the places of lines.
    pub labels: Vec<(usize, String)>,
    /// The place of the line where the conversation stands.
    pub leaf: Option<usize>,
    /// Who would have answered next, if it is another one than answered last.
    pub next: Option<Origin>,
}

/// Something that was said.
#[derive(Clone, Debug)]
pub struct Line {
    /// The place of the line that it follows.
    pub parent: Option<usize>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What.
    pub said: Said,
}

/// What was said.
#[derive(Clone, Debug)]
pub enum Said {
    /// By a person.
    User(Vec<Part>),
    /// By a model, and what it cost in US dollars.
    Answer(Assistant, Option<f64>),
    /// By a tool.
    Result(ToolResult),
    /// A summary of what came before.
    Summary {
        /// The summary.
        text: String,
        /// The place of the first line that is still sent to the model.
        first_kept: Option<usize>,
        /// How much the context held before.
        tokens_before: u64,
    },
}

/// The sessions that were adopted before, by where they are from.
#[derive(Debug, Default)]
pub struct Adopted(HashMap<(String, String), String>);

impl Adopted {
    /// The session that was made of that one.
    pub fn of(&self, imported: &Imported) -> Option<&str> {
        self.0.get(&(imported.from.clone(), imported.id.clone())).map(String::as_str)
    }

    /// Remembers one more.
    pub fn add(&mut self, imported: &Imported, id: String) {
        self.0.insert((imported.from.clone(), imported.id.clone()), id);
    }
}

impl Store {
    /// The sessions that were adopted before. Of every file only the first line is read.
    pub fn adopted(&self) -> Adopted {
        let mut adopted = Adopted::default();
        for info in self.list_all().infos {
            let header = first_line(&info.path).ok().and_then(|line| serde_json::from_slice::<Header>(&line).ok());
            if let Some(imported) = header.and_then(|header| header.imported) {
                adopted.add(&imported, info.id);
            }
        }
        adopted
    }

    /// Writes a session; one without a folder becomes one of `cwd`. Returns its id and its file.
    ///
    /// # Errors
    ///
    /// When there is nothing in it, or it cannot be written; nothing is left of it then.
    pub fn adopt(&self, whole: &Whole, cwd: &Path) -> Result<(String, PathBuf), Error> {
        let cannot = |error: io::Error| Error::failed("the session cannot be written").caused_by(error);
        let cwd = if whole.cwd.is_empty() { cwd.to_owned() } else { PathBuf::from(&whole.cwd) };
        let mut log = Log::unborn(Birth { folder: self.folder(&cwd), header: header(whole, &cwd), copy: None });
        // As a session keeps what is said: long content first, then the line that names it.
        let mut keep = |content: &[u8]| {
            let kept = (content.len() > INLINE_BYTES).then(|| self.blobs().put(content).ok()).flatten()?;
            let hash = kept.hash.clone();
            log.names(kept);
            Some(hash)
        };
        let mut records = records(whole, &mut keep).map_err(cannot)?;
        let Some(last) = records.pop() else { return Err(Error::failed("nothing was said in it")) };
        for record in records {
            log.append_aside(record).map_err(cannot)?;
        }
        // With this one the file is made, by one write.
        log.append(last).map_err(cannot)?;
        log.sync().run().map_err(cannot)?;
        let path = log.path().map(Path::to_owned).unwrap_or_default();
        Ok((log.id().to_owned(), path))
    }
}

fn header(whole: &Whole, cwd: &Path) -> Header {
    let first = whole.lines.iter().find_map(|line| match &line.said {
        Said::Answer(answer, _) => Some(answer.origin.as_ref().clone()),
        Said::User(_) | Said::Result(_) | Said::Summary { .. } => None,
    });
    let Origin { provider, model } = first
        .or_else(|| whole.next.clone())
        .unwrap_or_else(|| Origin { provider: String::new(), model: String::new() });
    Header {
        version: VERSION,
        id: name::session_id(whole.begun, fastrand::u16(..)),
        created_at: whole.begun,
        cwd: cwd.display().to_string(),
        provider,
        model,
        parent: None,
        imported: Some(whole.imported.clone()),
    }
}

/// The lines of the file behind its first; none where nothing was said. Ids are places, counted from 1.
fn records(whole: &Whole, keep: &mut Keep<'_>) -> io::Result<Vec<Vec<u8>>> {
    let id = |place: usize| place as u64 + 1;
    let mut records = Vec::with_capacity(whole.lines.len() + whole.labels.len() + 3);
    let mut last = None;
    for (at, Line { parent, at_ms, said }) in whole.lines.iter().enumerate() {
        let place = Place { id: id(at), parent_id: parent.map(id), timestamp: *at_ms };
        records.push(match said {
            Said::User(parts) => json(&convert::user_line(parts, place, keep))?,
            Said::Answer(answer, cost) => {
                last = Some(answer.origin.as_ref());
                json(&convert::assistant_line(answer, *cost, place, keep))?
            }
            Said::Result(result) => json(&convert::result_line(result, place, keep))?,
            Said::Summary { text, first_kept, tokens_before } => json(&SummaryLine {
                id: place.id,
                parent_id: place.parent_id,
                timestamp: place.timestamp,
                text: text.clone(),
                // Where nothing is kept, nothing stands between this line and itself.
                first_kept_id: Some(first_kept.map_or(place.id, id)),
                tokens_before: *tokens_before,
                opening: None,
                pinned_ids: Vec::new(),
                model: None,
                provider: None,
                usage: None,
            })?,
        });
    }
    if records.is_empty() {
        return Ok(records);
    }
    for (target, label) in &whole.labels {
        records.push(json(&LabelLine { target_id: id(*target), label: Some(label.clone()) })?);
    }
    if let Some(name) = &whole.name {
        records.push(json(&NameLine { name: name.clone(), ..NameLine::default() })?);
    }
    if let Some(next) = whole.next.as_ref().filter(|next| last.is_some_and(|last| last != *next)) {
        records.push(json(&ModelLine { provider: next.provider.clone(), model: next.model.clone() })?);
    }
    if whole.leaf != Some(whole.lines.len() - 1) {
        records.push(json(&LeafLine { target_id: whole.leaf.map(id), undone_id: None })?);
    }
    Ok(records)
}

fn json(line: &impl Serialize) -> io::Result<Vec<u8>> {
    serde_json::to_vec(line).map_err(io::Error::from)
}

fn first_line(path: &Path) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?.take(HEADER_BYTES)).read_until(b'\n', &mut line)?;
    Ok(line)
}
