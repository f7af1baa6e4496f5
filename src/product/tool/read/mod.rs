//! The `read_file` tool: a text file's lines, numbered, all of them or a range; a picture as a picture.
//!
//! It refuses what is neither and what is closed to reading; it never cuts the middle out of a text, which is the loop's work.

use std::io::{BufRead, BufReader, Cursor, Read as _};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::base::json::Object;
use crate::base::text::numbers::{count, size};
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};
use crate::product::picture::{self, Kind, MOST_FILE_BYTES, Unfit};

use super::seen::{self, Seen};
use super::target::Target;
use super::workspace::{self, Workspace};
use super::{arguments, save};

pub(super) mod page;
pub mod sniff;

use page::{Page, Room, Scan, Wanted};
use sniff::Content;

/// What reaches the model by default: a tenth of a usual window.
pub const LIMITS: Limits = Limits { chars: 50_000, lines: 2_000 };
/// Bytes of a file that is read without saying which part.
const WHOLE_BYTES: u64 = 10_000_000;
/// Bytes that are read at once; the first of them are enough to judge the content.
const CHUNK: usize = 64 * 1024;
/// Lines the error about a huge file proposes to read.
const PROPOSED_LINES: u64 = 500;
/// Endings of names that promise a picture.
const PICTURES: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// Reads text files and pictures.
pub struct ReadFile {
    workspace: Arc<Workspace>,
    seen: Arc<Seen>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[serde(default, deserialize_with = "arguments::whole")]
    offset: Option<u64>,
    #[serde(default, deserialize_with = "arguments::whole")]
    limit: Option<u64>,
}

impl ReadFile {
    /// A reader of the workspace's files that remembers in `seen` what it read.
    pub fn new(workspace: Arc<Workspace>, seen: Arc<Seen>, limits: Limits) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "offset": {"type": "integer", "description": "first line, from 1"},
                "limit": {"type": "integer", "description": "number of lines"},
            },
            "required": ["path"],
        });
        let description = include_str!("../../../../assets/tools/read_file.md").trim_ascii_end();
        Self {
            workspace,
            seen,
            spec: ToolSpec { name: "read_file", description, parameters, risk: Risk::Safe, limits },
        }
    }

    fn read(&self, arguments: &Arguments, context: &ToolContext<'_>) -> Result<Output, String> {
        let target = Target::new(&self.workspace, &arguments.path)?;
        let bytes = target.existing(&self.workspace)?.len();
        let failed = |error: std::io::Error| format!("{}: {}", target.shown, save::words(&error));
        let file = target.open().map_err(failed)?;
        let mut source = BufReader::with_capacity(CHUNK, file);
        let content = sniff::sniff(source.fill_buf().map_err(failed)?);
        let wanted = self.wanted(arguments);
        let found = match content {
            Content::Picture(kind) => return self.picture(source, &target, kind),
            Content::Binary(kind) => return Err(binary(&target.shown, kind, bytes)),
            Content::Text | Content::Utf16(_) if bytes > WHOLE_BYTES && !arguments.is_range() => {
                return Err(huge(arguments, &target.shown, bytes));
            }
            Content::Text => page::read(&mut source, wanted, context.cancel).map_err(failed)?,
            Content::Utf16(_) if bytes > WHOLE_BYTES => {
                return Err(format!("{} is UTF-16 of {}; too large to be decoded", target.shown, size(bytes)));
            }
            Content::Utf16(order) => {
                let mut raw = Vec::new();
                // One more than there was room for: it has grown, or never says how large it is.
                source.by_ref().take(WHOLE_BYTES + 1).read_to_end(&mut raw).map_err(failed)?;
                if raw.len() as u64 > WHOLE_BYTES {
                    return Err(format!(
                        "{} is UTF-16 of more than {}; too large to be decoded",
                        target.shown,
                        size(WHOLE_BYTES)
                    ));
                }
                let text = sniff::decode_utf16(&raw, order);
                let found = page::read(&mut Cursor::new(text.as_bytes()), wanted, context.cancel).map_err(failed)?;
                found.map(|(page, scan)| (page, Scan { hash: seen::hash(&raw), ..scan }))
            }
        };
        let Some((page, scan)) = found else {
            return Err(format!("stopped before {} was read to its end", target.shown));
        };
        if source.get_ref().ran_dry() && scan.bytes == 0 {
            return Err(format!("{} is a stream, and there is nothing to read from it now", target.shown));
        }
        self.seen.record(&target.path, scan.hash);
        self.output(arguments, &target, content, page, &scan)
    }

    /// A picture, whole: a part of one says nothing. Whether the model sees it is the wire's business.
    fn picture(&self, source: impl std::io::Read, target: &Target, kind: Kind) -> Result<Output, String> {
        let unfit = |unfit: Unfit| format!("{}: {unfit}", target.shown);
        if !kind.is_taken() {
            return Err(unfit(Unfit::Kind(kind)));
        }
        let mut bytes = Vec::new();
        let read = source.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("{}: {}", target.shown, save::words(&error)))?;
        let taken = picture::take(&bytes).map_err(unfit)?;
        let hash = seen::hash(&bytes);
        self.seen.record(&target.path, hash);
        let text = format!("{}: {}", target.shown, taken.describe());
        Ok(Output { images: vec![taken.image], fingerprint: Some(hash), ..Output::ok(text) })
    }

    fn wanted(&self, arguments: &Arguments) -> Wanted {
        let first = arguments.offset.unwrap_or(1).max(1);
        let count = arguments.limit.unwrap_or(u64::MAX);
        // A range is cut at a line, and the next call goes on there; of a whole file the loop shows both ends.
        let limits = self.spec.limits;
        Wanted { first, count, room: if arguments.is_range() { Room::Start(limits) } else { Room::Ends(limits.chars) } }
    }

    fn output(
        &self,
        arguments: &Arguments,
        target: &Target,
        content: Content,
        page: Page,
        scan: &Scan,
    ) -> Result<Output, String> {
        let shown = &target.shown;
        let first = arguments.offset.unwrap_or(1).max(1);
        if scan.lines == 0 {
            return Ok(Output::ok(format!("{shown} is empty")));
        }
        if first > scan.lines {
            return Err(format!("offset {first} is past the end: {shown} has {}", count(scan.lines, "line")));
        }
        let mut notes = Vec::new();
        let last = first + page.lines - 1;
        if page.lines < scan.lines {
            notes.push(format!("lines {first}–{last} of {}; {}", scan.lines, arguments.next(last, scan.lines)));
        }
        if page.clipped {
            notes.push("a line of more than 10 MB is shown without its rest".to_owned());
        }
        match content {
            Content::Utf16(_) => notes.push("decoded from UTF-16, which edit_file does not change".to_owned()),
            Content::Text if page.lossy => {
                notes.push("not UTF-8: bytes that could not be decoded are shown as \u{fffd}".to_owned());
            }
            Content::Text | Content::Picture(_) | Content::Binary(_) => {}
        }
        let ending = target.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if PICTURES.iter().any(|picture| ending.eq_ignore_ascii_case(picture)) {
            notes.push("text, in spite of a picture's name".to_owned());
        }
        let footer = (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")));
        let Limits { chars, lines } = self.spec.limits;
        let full_output = (page.chars() > chars || page.lines > lines as u64).then(|| target.path.clone());
        let text = page.into_text();
        let fingerprint = text.gap.map(|_| scan.hash);
        Ok(Output { text, footer, full_output, fingerprint, ..Output::default() })
    }
}

impl Arguments {
    fn is_range(&self) -> bool {
        self.offset.is_some() || self.limit.is_some()
    }

    /// The call that shows what comes after line `last` of `lines`.
    fn next(&self, last: u64, lines: u64) -> String {
        if last >= lines {
            return "the end of the file".to_owned();
        }
        let mut call = json!({"path": self.path, "offset": last + 1});
        if let (Some(limit), Some(call)) = (self.limit, call.as_object_mut()) {
            call.insert("limit".to_owned(), limit.into());
        }
        format!("go on with {call}")
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        let arguments: Arguments = arguments::parse(arguments)?;
        if arguments.limit == Some(0) {
            return Err("limit: expected at least 1 line".to_owned());
        }
        Ok(workspace::reads(&self.workspace.resolve(&arguments.path)))
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        arguments::parse(arguments).and_then(|arguments| self.read(&arguments, context)).unwrap_or_else(Output::error)
    }
}

fn binary(shown: &str, kind: Option<&str>, bytes: u64) -> String {
    let kind = kind.map(|kind| format!(": {kind}")).unwrap_or_default();
    format!("{shown} is a binary file{kind}, {}; it is not shown as text", size(bytes))
}

fn huge(arguments: &Arguments, shown: &str, bytes: u64) -> String {
    let call = json!({"path": arguments.path, "offset": 1, "limit": PROPOSED_LINES});
    let (size, most) = (size(bytes), size(WHOLE_BYTES));
    format!(
        "{shown} has {size}, more than the {most} that are read at once; read a part of it with {call}, or use search_files"
    )
}

#[cfg(test)]
mod tests;
