//! What people have typed: texts that were sent, in one file for all directories, and [`drafts`] that were not.
//!
//! A line is one object, `{"timestamp":…,"cwd":"…","text":"…"}`, with `"pasted":[[from,to],…]` (bytes of the text) where
//! something in it was pasted, and `"pictures"` alike where something stands for a picture. Several processes append to the file; a line that a
//! crash has torn is passed over. Known secrets never get into it. What an editor makes of it is not decided here.

pub mod drafts;

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::jsonl::{BUFFER_BYTES, Reader};
use crate::base::text::mask::Mask;
use crate::product::files::{self, FileError};

use drafts::Piece;

/// The file's name in the data folder.
pub const FILE: &str = "history.jsonl";
/// How many texts are worth loading when a chat begins: more than anybody goes back by hand.
pub const USUAL_LIMIT: usize = 2_000;

/// The file is cut back when it has more entries than this, or more bytes: some years of work, read in an instant.
const MOST_ENTRIES: usize = 10_000;
const MOST_BYTES: u64 = 4 << 20;
/// What is left then, in percent of either, so that it does not happen with every line.
const LEFT_PERCENT: usize = 80;
/// A longer text, in bytes, is a file rather than something typed; the session keeps it.
const LONGEST_TEXT: usize = 256 << 10;
/// How long another writer is waited for; one line takes far less than a millisecond, cutting back some ten.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// Only the user may read what was typed.
const FILE_MODE: u32 = 0o600;

/// The history of a directory. Making one touches no disk.
#[derive(Clone, Debug)]
pub struct History {
    path: PathBuf,
    cwd: String,
    mask: Mask,
    /// How many lines the file has, as far as this process knows.
    lines: Option<usize>,
}

/// A line of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Entry {
    /// Milliseconds since 1970.
    timestamp: i64,
    cwd: String,
    text: String,
    /// What of the text was pasted, in bytes from its beginning, in order. Lines of earlier versions have none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pasted: Vec<(usize, usize)>,
    /// What of the text stands for a picture: its file, absolute, or where it came from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<(usize, usize)>,
}

impl Entry {
    fn new(pieces: &[Piece], moment: i64, cwd: &str, mask: &Mask) -> Self {
        let (mut text, mut whole) = (String::new(), String::new());
        let (mut pasted, mut pictures) = (Vec::new(), Vec::new());
        for piece in pieces {
            let (Piece::Typed(part) | Piece::Pasted(part) | Piece::Picture(part)) = piece;
            whole.push_str(part);
            let (mut part, begin) = (part.clone(), text.len());
            mask.apply(&mut part);
            text.push_str(&part);
            match piece {
                Piece::Typed(_) => {}
                Piece::Pasted(_) => pasted.push((begin, text.len())),
                Piece::Picture(_) => pictures.push((begin, text.len())),
            }
        }
        mask.apply(&mut whole);
        if whole != text {
            // A secret lies across two pieces; of a text that was pasted, nothing is taken for a command.
            pasted = if pasted.is_empty() { pasted } else { vec![(0, whole.len())] };
            pictures.clear();
        }
        Self { timestamp: moment, cwd: cwd.to_owned(), text: whole, pasted, pictures }
    }

    /// The text in pieces. A span that is none of the text says nothing.
    fn pieces(&self) -> Vec<Piece> {
        let (mut pieces, mut taken) = (Vec::new(), 0);
        let pasted = self.pasted.iter().map(|span| (*span, false));
        let mut spans: Vec<_> = pasted.chain(self.pictures.iter().map(|span| (*span, true))).collect();
        spans.retain(|((begin, end), _)| begin < end);
        if !self.pictures.is_empty() {
            spans.sort_by_key(|((begin, _), _)| *begin);
        }
        for ((begin, end), is_picture) in spans {
            if let (Some(typed), Some(part)) = (self.text.get(taken..begin), self.text.get(begin..end)) {
                if !typed.is_empty() {
                    pieces.push(Piece::Typed(typed.to_owned()));
                }
                match pieces.last_mut() {
                    _ if is_picture => pieces.push(Piece::Picture(part.to_owned())),
                    Some(Piece::Pasted(last)) => last.push_str(part),
                    Some(Piece::Typed(_) | Piece::Picture(_)) | None => pieces.push(Piece::Pasted(part.to_owned())),
                }
                taken = end;
            }
        }
        if let Some(rest) = self.text.get(taken..).filter(|rest| !rest.is_empty()) {
            pieces.push(Piece::Typed(rest.to_owned()));
        }
        pieces
    }
}

impl History {
    /// The history in the file at `path`, for the directory `cwd`; what `mask` hides is never written.
    pub fn new(path: PathBuf, cwd: &Path, mask: Mask) -> Self {
        Self { path, cwd: cwd.to_string_lossy().into_owned(), mask, lines: None }
    }

    /// The newest `limit` texts, those of this directory behind those of all others, each group oldest first: who goes
    /// back from the end meets what was typed here, then everything else. None is equal to its neighbour.
    ///
    /// # Errors
    ///
    /// What the system said; a file that is not there is an empty one.
    pub fn load(&self, limit: usize) -> Result<Vec<Vec<Piece>>, FileError> {
        let Some(file) = self.regular()? else { return Ok(Vec::new()) };
        let (mut here, mut texts) = (Vec::new(), Vec::new());
        for entry in entries(&tail(&file, limit).map_err(|source| self.system(source))?) {
            if entry.cwd == self.cwd { here.push(entry.pieces()) } else { texts.push(entry.pieces()) }
        }
        texts.append(&mut here);
        texts.dedup();
        texts.drain(..texts.len().saturating_sub(limit));
        Ok(texts)
    }

    /// Keeps a text that was sent at `moment` (milliseconds since 1970). One that is blank, very long, or equal to the
    /// last of this directory is not kept.
    ///
    /// Waits for other writers, and for the disk: nothing for a thread that answers keys.
    ///
    /// # Errors
    ///
    /// What the system said, or that another process holds the lock.
    pub fn add(&mut self, pieces: &[Piece], moment: i64) -> Result<(), FileError> {
        let entry = Entry::new(pieces, moment, &self.cwd, &self.mask);
        if entry.text.trim().is_empty() || entry.text.len() > LONGEST_TEXT {
            return Ok(());
        }
        let target = files::target(&self.path);
        // Held until the end of this function.
        let _lock = files::locked(&target, LOCK_PATIENCE)?;
        // Looked at before it is opened: a pipe would wait for ever.
        self.regular()?;
        let size = self.append(&target, &entry).map_err(|source| self.system(source))?;
        if size > MOST_BYTES || self.lines.is_some_and(|lines| lines > MOST_ENTRIES) {
            self.cut_back(&target).map_err(|source| self.system(source))?;
        }
        Ok(())
    }

    /// Writes a line, unless it says what the last one does, and returns how large the file is.
    fn append(&mut self, target: &Path, entry: &Entry) -> io::Result<u64> {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE).open(target)?;
        let metadata = file.metadata()?;
        if metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
        }
        let before = tail(&file, 1)?;
        let last = entries(&before).pop();
        if last.is_some_and(|last| {
            last.cwd == entry.cwd
                && last.text == entry.text
                && last.pasted == entry.pasted
                && last.pictures == entry.pictures
        }) {
            return Ok(metadata.len());
        }
        let mut line = Vec::with_capacity(entry.text.len() + entry.cwd.len() + 64);
        if before.last().is_some_and(|byte| *byte != b'\n') {
            // What a crash has torn stays alone.
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, entry)?;
        line.push(b'\n');
        let lines = match self.lines {
            Some(lines) => lines,
            None => count(&file)?,
        };
        self.lines = Some(lines + 1);
        // One write, at the end whoever else writes.
        (&file).write_all(&line)?;
        Ok(metadata.len() + line.len() as u64)
    }

    /// Drops the oldest lines, and those that say nothing.
    fn cut_back(&mut self, target: &Path) -> io::Result<()> {
        let most = |all: usize| all / 100 * LEFT_PERCENT;
        let kept = tail(&File::open(target)?, most(MOST_ENTRIES))?;
        let mut lines = Vec::new();
        let mut reader = Reader::new(kept.as_slice(), 0);
        while let Some(record) = reader.read::<Entry>()? {
            lines.push(record.text.to_owned());
        }
        let mut room = usize::try_from(MOST_BYTES).map_or(usize::MAX, most);
        let fits = |line: &&String| {
            let left = room.checked_sub(line.len() + 1);
            room = left.unwrap_or_default();
            left.is_some()
        };
        let count = lines.iter().rev().take_while(fits).count();
        let mut content = lines.get(lines.len() - count..).unwrap_or_default().join("\n");
        content.push('\n');
        files::replace(target, content.as_bytes())?;
        self.lines = Some(count);
        Ok(())
    }

    /// The file, opened for reading.
    fn regular(&self) -> Result<Option<File>, FileError> {
        match fs::metadata(&self.path) {
            Ok(metadata) if metadata.is_file() => {
                File::open(&self.path).map(Some).map_err(|source| self.system(source))
            }
            Ok(_) => Err(FileError::Shape { path: self.path.clone(), what: "expected a regular file" }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.system(source)),
        }
    }

    fn system(&self, source: io::Error) -> FileError {
        FileError::System { path: self.path.clone(), source }
    }
}

/// The last `count` lines of a file, and at most as much as it may have. Reads no more than it must.
fn tail(file: &File, count: usize) -> io::Result<Vec<u8>> {
    let end = file.metadata()?.len();
    let mut start = end;
    let mut blocks = Vec::new();
    // The line break at the very end ends a line and begins none.
    let mut breaks = 0;
    while start > 0 && breaks <= count && end - start < 2 * MOST_BYTES {
        let length = start.min(BUFFER_BYTES as u64);
        start -= length;
        let mut block = vec![0; usize::try_from(length).unwrap_or(BUFFER_BYTES)];
        file.read_exact_at(&mut block, start)?;
        breaks += memchr::memchr_iter(b'\n', &block).count();
        blocks.push(block);
    }
    blocks.reverse();
    let mut bytes = blocks.concat();
    let body = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let first = memchr::memrchr_iter(b'\n', body).nth(count.saturating_sub(1)).map(|at| at + 1);
    // Without a whole line at its beginning it begins behind the first one.
    let torn = || if start > 0 { memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1) } else { 0 };
    let first = first.unwrap_or_else(torn);
    bytes.drain(..first);
    Ok(bytes)
}

/// The texts in these lines; what is no line of ours is passed over.
fn entries(lines: &[u8]) -> Vec<Entry> {
    let mut reader = Reader::new(lines, 0);
    let mut entries = Vec::new();
    // Memory can always be read.
    while let Ok(Some(record)) = reader.read::<Entry>() {
        if !record.value.text.is_empty() {
            entries.push(record.value);
        }
    }
    entries
}

/// How many lines a file has.
fn count(file: &File) -> io::Result<usize> {
    let mut block = vec![0; BUFFER_BYTES];
    let (mut at, mut lines) = (0, 0);
    loop {
        let read = file.read_at(&mut block, at)?;
        let Some(bytes) = block.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(lines) };
        lines += memchr::memchr_iter(b'\n', bytes).count();
        at += read as u64;
    }
}
