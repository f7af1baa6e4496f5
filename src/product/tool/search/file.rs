//! Searching one file: opening it safely, reading it, and turning matches into lines.
//!
//! Small files are read whole into a buffer that a thread keeps, which saves the library's two extra reads; bigger ones
//! stream through its line buffer. Memory maps are not used: they need unsafe code, and a file that shrinks under one
//! kills the process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, SearcherBuilder, Sink, SinkContext, SinkMatch};
use rustix::fs::OFlags;

use super::excerpt::around;
use super::found::{FileHits, Line, LineKind};
use super::pattern::Pattern;
use crate::base::cancel::Cancel;
use crate::base::text::numbers::count;
use crate::product::tool::save;

/// Files up to this size are read whole, in bytes: nearly all source files, and short enough to search between two
/// looks at the cancel switch.
const WHOLE_FILE_BYTES: u64 = 1 << 20;

/// Larger files are searched only where they are named, in bytes: data, not source.
const MAX_FILE_BYTES: u64 = 100_000_000;

/// The longest line, or the largest file where matches span lines, that is held in memory, in bytes.
const HEAP_LIMIT_BYTES: usize = 64 << 20;

/// Characters of a line that are shown.
const MAX_LINE_CHARS: usize = 500;

/// Lines of a match that spans lines that are shown.
const MAX_MATCH_LINES: usize = 20;

/// How a file came to be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// It lies in a folder that is searched: links are not followed, data is passed over.
    ByFolder,
    /// It was named: all of it is searched, whatever it is.
    Itself,
}

/// Why a file was not searched.
#[derive(Debug)]
pub enum Unsearched {
    /// It, or a line of it, is too large.
    TooLarge,
    /// The reason, in words.
    Unreadable(String),
    /// The call was cancelled.
    Cancelled,
}

/// Searches files one after another; each thread has its own.
pub struct Searcher<'a> {
    matcher: RegexMatcher,
    searcher: grep_searcher::Searcher,
    max: usize,
    named: Named,
    cancel: &'a Cancel,
    buffer: Vec<u8>,
}

impl<'a> Searcher<'a> {
    /// A searcher that reports at most `max` matches of a file, with `context` lines on both sides.
    pub fn new(pattern: &Pattern, context: usize, max: usize, named: Named, cancel: &'a Cancel) -> Self {
        let binary = match named {
            Named::ByFolder => BinaryDetection::quit(0),
            Named::Itself => BinaryDetection::convert(0),
        };
        let searcher = SearcherBuilder::new()
            .line_terminator(pattern.line_terminator())
            .multi_line(pattern.spans_lines)
            .before_context(context)
            .after_context(context)
            .heap_limit(Some(HEAP_LIMIT_BYTES))
            .binary_detection(binary)
            .build();
        // A clone has caches of its own, so that threads do not wait for each other.
        Self { matcher: pattern.matcher.clone(), searcher, max, named, cancel, buffer: Vec::new() }
    }

    /// Searches a file.
    ///
    /// # Errors
    ///
    /// Why it could not be searched.
    pub fn search(&mut self, path: &Path) -> Result<FileHits, Unsearched> {
        let unreadable = |error: io::Error| Unsearched::Unreadable(save::words(&error));
        let file = self.open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(Unsearched::Unreadable("it is a device or pipe, not a regular file".to_owned()));
        }
        let mut collect = Collect { matcher: &self.matcher, max: self.max, hits: FileHits::default() };
        let result = match (self.named, metadata.len()) {
            (Named::ByFolder, MAX_FILE_BYTES..) => return Err(Unsearched::TooLarge),
            (Named::ByFolder, length @ ..=WHOLE_FILE_BYTES) => {
                let length = read(&file, length, &mut self.buffer).map_err(unreadable)?;
                let bytes = self.buffer.get(..length).unwrap_or_default();
                self.searcher.search_slice(&self.matcher, bytes, &mut collect)
            }
            (Named::ByFolder | Named::Itself, _) => {
                let reader = Cancellable { file, cancel: self.cancel };
                self.searcher.search_reader(&self.matcher, reader, &mut collect)
            }
        };
        match result {
            Ok(()) => {
                let mut hits = collect.hits;
                hits.trim();
                Ok(hits)
            }
            Err(_) if self.cancel.is_cancelled() => Err(Unsearched::Cancelled),
            // The library's complaint about its heap limit; the system's errors have a code.
            Err(error) if error.raw_os_error().is_none() => Err(Unsearched::TooLarge),
            Err(error) => Err(unreadable(error)),
        }
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        // A pipe that took the place of a file must not make the call wait.
        let flags = match self.named {
            Named::ByFolder => OFlags::NONBLOCK | OFlags::NOFOLLOW,
            Named::Itself => OFlags::NONBLOCK,
        };
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
    }
}

/// Reads a file of known length into the buffer's beginning. Returns how much there was: files can shrink, and those of
/// `/proc` have no length.
fn read(mut file: &File, length: u64, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let wanted = if length == 0 { WHOLE_FILE_BYTES } else { length };
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    if length == 0 {
        // Most files without a length are just empty.
        let mut first = [0];
        if file.read(&mut first)? == 0 {
            return Ok(0);
        }
        buffer.resize(buffer.len().max(wanted), 0);
        let rest = fill(file, buffer.get_mut(1..wanted).unwrap_or_default())?;
        if let (Some(to), [from]) = (buffer.first_mut(), first) {
            *to = from;
        }
        return Ok(rest + 1);
    }
    // Grows only: nothing is zeroed twice.
    if buffer.len() < wanted {
        buffer.resize(wanted, 0);
    }
    fill(file, buffer.get_mut(..wanted).unwrap_or_default())
}

fn fill(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
        match file.read(room) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A file whose reading ends with an error once the call is cancelled.
struct Cancellable<'a> {
    file: File,
    cancel: &'a Cancel,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}

/// Takes what the library finds.
struct Collect<'m> {
    matcher: &'m RegexMatcher,
    max: usize,
    hits: FileHits,
}

impl Collect<'_> {
    fn push(&mut self, kind: LineKind, number: u64, text: String) {
        self.hits.lines.push(Line { kind, number, text });
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &grep_searcher::Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.hits.matches == self.max {
            self.hits.more = true;
            return Ok(false);
        }
        self.hits.matches += 1;
        let first_number = found.line_number().unwrap_or(0);
        for (index, bytes) in found.lines().enumerate() {
            let number = first_number + index as u64;
            if index == MAX_MATCH_LINES {
                let more = found.lines().count() - index;
                self.push(LineKind::Rest, number, format!("… {}", count(more as u64, "more line")));
                break;
            }
            let is_first = index == 0;
            // Where the match is matters only in a line that is cut.
            let focus = if is_first && bytes.len() > MAX_LINE_CHARS {
                self.matcher.find(found.bytes()).ok().flatten().map_or(0, |place| place.start())
            } else {
                0
            };
            let kind = if is_first { LineKind::Match } else { LineKind::Rest };
            self.push(kind, number, around(bytes, focus, MAX_LINE_CHARS));
        }
        Ok(true)
    }

    fn context(&mut self, _: &grep_searcher::Searcher, near: &SinkContext<'_>) -> Result<bool, io::Error> {
        let text = around(near.bytes(), 0, MAX_LINE_CHARS);
        self.push(LineKind::Context, near.line_number().unwrap_or(0), text);
        Ok(true)
    }

    fn context_break(&mut self, _: &grep_searcher::Searcher) -> Result<bool, io::Error> {
        self.push(LineKind::Gap, 0, String::new());
        Ok(true)
    }

    fn binary_data(&mut self, _: &grep_searcher::Searcher, _: u64) -> Result<bool, io::Error> {
        self.hits.is_binary = true;
        Ok(true)
    }
}
