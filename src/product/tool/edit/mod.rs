//! The `edit_file` tool: pieces of a file replaced by others, all of them or none.
//!
//! Bytes outside the pieces stay as they are. Where a piece is, the ladder in `matching` decides; it never guesses.

use std::io::Read as _;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::base::cancel::Cancel;
use crate::base::json::Object;
use crate::base::text::numbers::{count, size};
use crate::base::text::{cut, visible};
use crate::kernel::tool::{Change, Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};

use super::read::sniff::{self, Content};
use super::save::{Problem, Stamp};
use super::seen::{self, Seen, Standing};
use super::target::Target;
use super::workspace::{self, Workspace};
use super::{arguments, save};

mod adapt;
mod changes;
mod fold;
mod matching;
mod nearest;
mod numbers;

use changes::{Changes, Splice};
use matching::{Found, MOST_PLACES, Miss, Rung, Scope, Source};

/// What reaches the model by default: a diff of about 200 lines.
pub const LIMITS: Limits = Limits { chars: 10_000, lines: usize::MAX };
/// Bytes of a file that is edited, before and after; it is held three times while that is done.
const MOST_BYTES: u64 = 32_000_000;
/// Failed edits that are explained in one error.
const MOST_EXPLAINED: usize = 3;
/// Line numbers that are listed where a text stands more often.
const MOST_LISTED: usize = 20;
/// Characters of an old text that an error repeats.
const QUOTED_CHARS: usize = 80;

/// Edits text files.
pub struct EditFile {
    workspace: Arc<Workspace>,
    seen: Arc<Seen>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[serde(deserialize_with = "arguments::list")]
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    old_text: String,
    new_text: String,
    #[serde(default, deserialize_with = "arguments::flag")]
    replace_all: Option<bool>,
}

impl EditFile {
    /// An editor of files that knows from `seen` what this session read or wrote.
    pub fn new(workspace: Arc<Workspace>, seen: Arc<Seen>, limits: Limits) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "edits": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "old_text": {"type": "string", "description": "text in the file, exactly"},
                        "new_text": {"type": "string", "description": "what takes its place"},
                        "replace_all": {"type": "boolean", "description": "every occurrence"},
                    },
                    "required": ["old_text", "new_text"],
                }},
            },
            "required": ["path", "edits"],
        });
        let description = include_str!("../../../../assets/tools/edit_file.md").trim_ascii_end();
        let spec = ToolSpec { name: "edit_file", description, parameters, risk: Risk::Write, limits };
        Self { workspace, seen, spec }
    }

    fn edit(&self, arguments: &Arguments, context: &ToolContext<'_>) -> Result<Output, String> {
        for _ in 0..save::ATTEMPTS {
            if let Some(told) = self.attempt(arguments, context)? {
                return Ok(told);
            }
        }
        let shown = self.workspace.named(&self.workspace.resolve(&arguments.path));
        Err(format!("{shown} is changed by somebody else all the time, and was not edited; use a shell command"))
    }

    /// `None` where somebody else changed the file meanwhile.
    fn attempt(&self, arguments: &Arguments, context: &ToolContext<'_>) -> Result<Option<Output>, String> {
        let ToolContext { cancel, subject, .. } = *context;
        let target = Target::permitted(&self.workspace, &arguments.path, subject)?;
        let (before, content) = self.load(&target)?;
        let shown = &target.shown;
        let hash = seen::hash(&content);
        let standing = self.seen.standing(&target.path, hash);
        let source = Source::new(&content);
        let found = find_all(&source, &arguments.edits, shown, standing, cancel).inspect_err(|_| {
            // The error shows what the file holds there now, so that a corrected edit is no longer out of date.
            self.seen.glimpse(&target.path, hash);
        })?;
        if let Some(problem) = mixed(&content, &found, shown) {
            return Err(problem);
        }
        let splices = splices(&source, &found, shown, cancel)?;
        let new = changes::apply(&content, &splices);
        if new == content {
            return Err(format!("the edits would leave {shown} as it is"));
        }
        match save::save(&target.path, &new, Some(before)) {
            Ok(()) => {}
            Err(Problem::Changed) => return Ok(None),
            Err(Problem::System(error)) => {
                return Err(format!("could not write {shown}: {}; its old content is kept", save::words(&error)));
            }
        }
        match standing {
            Standing::Unknown | Standing::Current => self.seen.record(&target.path, seen::hash(&new)),
            // What else has changed was not shown: enough to edit on, not to replace the whole file.
            Standing::Glimpsed | Standing::Changed => self.seen.glimpse(&target.path, seen::hash(&new)),
        }
        let told = report(shown, standing, &found, &changes::describe(&content, &new, &splices));
        Ok(Some(Output { change: Change::of(shown, Some(&content), &new), ..Output::ok(told) }))
    }

    fn load(&self, target: &Target) -> Result<(Stamp, Vec<u8>), String> {
        let shown = &target.shown;
        let bytes = target.existing(&self.workspace)?.len();
        let too_large = |bytes: u64| {
            let (bytes, most) = (size(bytes), size(MOST_BYTES));
            format!("{shown} has {bytes}, more than the {most} that can be edited; use a shell command")
        };
        if bytes > MOST_BYTES {
            return Err(too_large(bytes));
        }
        let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
        let read = target.open().and_then(|mut file| {
            let before = file.stamp()?;
            // One more than there is room for: it may have grown.
            file.by_ref().take(MOST_BYTES + 1).read_to_end(&mut content)?;
            Ok(before)
        });
        let before = read.map_err(|error| format!("{shown}: {}", save::words(&error)))?;
        if content.len() as u64 > MOST_BYTES {
            return Err(too_large(content.len() as u64));
        }
        match sniff::sniff(&content) {
            Content::Text => Ok((before, content)),
            Content::Utf16(_) => {
                Err(format!("{shown} is UTF-16, which cannot be edited; convert it with a shell command"))
            }
            Content::Picture(kind) => Err(format!("{shown} is {}, and cannot be edited as text", kind.name())),
            Content::Binary(kind) => {
                let kind = kind.map(|kind| format!(": {kind}")).unwrap_or_default();
                Err(format!("{shown} is a binary file{kind}, and cannot be edited as text"))
            }
        }
    }
}

impl Tool for EditFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        let arguments: Arguments = arguments::parse(arguments)?;
        if arguments.edits.is_empty() {
            return Err("edits: expected at least one".to_owned());
        }
        for (number, edit) in arguments.edits.iter().enumerate() {
            if edit.old_text.is_empty() {
                return Err(format!(
                    "edits[{number}].old_text is empty: write_file makes a file or replaces a whole one"
                ));
            }
            if edit.old_text == edit.new_text {
                return Err(format!("edits[{number}]: old_text and new_text are equal"));
            }
        }
        Ok(workspace::writes(&self.workspace.resolve(&arguments.path)))
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        arguments::parse(arguments).and_then(|arguments| self.edit(&arguments, context)).unwrap_or_else(Output::error)
    }
}

fn find_all<'e>(
    source: &Source<'_>,
    edits: &'e [Edit],
    shown: &str,
    standing: Standing,
    cancel: &Cancel,
) -> Result<Vec<Found<'e>>, String> {
    let content = source.content;
    let mut found = Vec::new();
    let mut problems = Vec::new();
    let mut more = 0;
    for (number, edit) in edits.iter().enumerate() {
        if cancel.is_cancelled() {
            return Err(stopped(shown));
        }
        let scope = if edit.replace_all == Some(true) { Scope::All } else { Scope::One };
        let place = matching::find(source, &edit.old_text, &edit.new_text, scope);
        // An explanation may search the whole file.
        let is_explained = problems.len() < MOST_EXPLAINED;
        match place {
            Ok(place) if is_certain(&place, standing) => found.push(place),
            Ok(_) | Err(_) if !is_explained => more += 1,
            Ok(place) => problems.push(uncertain(content, &named(number, edit), &place)),
            Err(Miss::TooMany) => problems.push(format!(
                "{} is there more than {}, too often to be edited: use a shell command",
                named(number, edit),
                count(MOST_PLACES as u64, "time")
            )),
            Err(Miss::Several { rung, starts }) => problems.push(several(content, &named(number, edit), rung, &starts)),
            Err(Miss::Nowhere) => problems.push(nowhere(content, edits, number, edit)),
        }
    }
    if problems.is_empty() {
        return Ok(found);
    }
    let changed = match standing {
        Standing::Changed => format!("{shown} has changed since it was last read or written here. "),
        Standing::Unknown | Standing::Current | Standing::Glimpsed => String::new(),
    };
    if more > 0 {
        problems.push(format!("({more} more edits do not match either)"));
    }
    Err(format!("{changed}{shown} was not edited.\n{}", problems.join("\n\n")))
}

/// In a file that somebody else changed, only what is unmistakably still there is replaced.
fn is_certain(place: &Found<'_>, standing: Standing) -> bool {
    match (standing, place.rung) {
        (Standing::Unknown | Standing::Current | Standing::Glimpsed, _) => true,
        (Standing::Changed, Rung::Exact | Rung::LineEnds) => place.spans.len() == 1,
        (Standing::Changed, Rung::Blanks) => false,
    }
}

fn named(number: usize, edit: &Edit) -> String {
    let first = edit.old_text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let more = if edit.old_text.trim().contains('\n') { " …" } else { "" };
    format!("edits[{number}].old_text (`{}{more}`)", visible::line(&cut::ellipsis(first, QUOTED_CHARS)))
}

fn several(content: &[u8], named: &str, rung: Rung, starts: &[usize]) -> String {
    let mut lines = Vec::new();
    let (mut at, mut line) = (0, 1);
    for start in starts.iter().take(MOST_LISTED) {
        line += memchr::memchr_iter(b'\n', content.get(at..*start).unwrap_or_default()).count();
        at = *start;
        lines.push(line.to_string());
    }
    let more = if starts.len() > MOST_LISTED { ", …" } else { "" };
    let (times, lines) = (starts.len(), lines.join(", "));
    match rung {
        Rung::Exact | Rung::LineEnds => format!(
            "{named} is there {times} times, on lines {lines}{more}: add lines around the one that is meant, or set replace_all"
        ),
        Rung::Blanks => format!(
            "{named} is not there exactly; with other tabs and spaces it is there {times} times, on lines {lines}{more}: \
             copy the one that is meant from the file"
        ),
    }
}

fn nowhere(content: &[u8], edits: &[Edit], number: usize, edit: &Edit) -> String {
    let named = named(number, edit);
    let maker = edits.iter().enumerate().find(|(_, other)| other.new_text.contains(&edit.old_text));
    if let Some((maker, _)) = maker.filter(|(maker, _)| *maker != number) {
        return format!(
            "{named} is not in the file, but in what edits[{maker}] would make: \
             edits are matched against the file as it is now; put both into one"
        );
    }
    match nearest::explain(content, &edit.old_text) {
        Some(nearest) => format!("{named} is not in the file. Nearest lines:\n{nearest}"),
        None if content.len() > nearest::SEARCHED_BYTES => {
            let searched = size(nearest::SEARCHED_BYTES as u64);
            format!("{named} is not in the file, and no line of its first {searched} is like it: use search_files")
        }
        None => format!("{named} is not in the file, and no line is like it: read the file"),
    }
}

/// A match that would do, had nobody changed the file.
fn uncertain(content: &[u8], named: &str, place: &Found<'_>) -> String {
    let places = place.spans.len();
    if places > 1 {
        return format!("{named} is there {places} times now: look at them, then send the edit again");
    }
    let nearest = nearest::explain(content, &place.old).unwrap_or_default();
    format!("{named} is there only with other tabs and spaces:\n{nearest}")
}

/// Why an edit would put UTF-8 into a file of another encoding; what was there as UTF-8 before may come again.
fn mixed(content: &[u8], found: &[Found<'_>], shown: &str) -> Option<String> {
    let foreign = |place: &Found<'_>| {
        let was_there = |c| place.rung != Rung::Blanks && place.old.contains(c);
        place.new.chars().find(|c| !c.is_ascii() && !was_there(*c))
    };
    let (number, letter) =
        found.iter().enumerate().find_map(|(number, place)| foreign(place).map(|letter| (number, letter)))?;
    let valid = std::str::from_utf8(content).err()?.valid_up_to();
    let line = memchr::memchr_iter(b'\n', content.get(..valid).unwrap_or_default()).count() + 1;
    let letter = visible::line(letter.encode_utf8(&mut [0; 4])).into_owned();
    Some(format!(
        "edits[{number}].new_text has `{letter}`, but {shown} is not UTF-8 (see line {line}), and two encodings would be \
         mixed: nothing was edited. Use ASCII, or convert the file with a shell command"
    ))
}

/// What is to be put where, in order. It is known to fit before anything is built of it.
fn splices<'f>(
    source: &Source<'_>,
    found: &'f [Found<'_>],
    shown: &str,
    cancel: &Cancel,
) -> Result<Vec<Splice<'f>>, String> {
    let mut splices: Vec<Splice<'f>> = Vec::new();
    let (mut went, mut came) = (0, 0_u64);
    for (edit, place) in found.iter().enumerate() {
        for span in &place.spans {
            if cancel.is_cancelled() {
                return Err(stopped(shown));
            }
            let text = adapt::adapt(source, span, place);
            went += span.len() as u64;
            came += text.len() as u64;
            if came > MOST_BYTES {
                return Err(too_large(shown));
            }
            splices.push(Splice { span: span.clone(), text, edit });
        }
    }
    splices.sort_by_key(|splice| (splice.span.start, splice.span.end));
    for pair in splices.windows(2) {
        if let [one, two] = pair
            && two.span.start < one.span.end
        {
            let (first, second) = (one.edit.min(two.edit), one.edit.max(two.edit));
            let line = memchr::memchr_iter(b'\n', source.content.get(..two.span.start).unwrap_or_default()).count() + 1;
            return Err(format!(
                "edits[{first}] and edits[{second}] overlap on line {line}: make them one; nothing was edited"
            ));
        }
    }
    if (source.content.len() as u64).saturating_sub(went) + came > MOST_BYTES {
        return Err(too_large(shown));
    }
    Ok(splices)
}

fn stopped(shown: &str) -> String {
    format!("stopped before {shown} was edited")
}

fn too_large(shown: &str) -> String {
    format!(
        "the edits would make {shown} larger than the {} that can be edited, and were not made; use a shell command",
        size(MOST_BYTES)
    )
}

fn report(shown: &str, standing: Standing, found: &[Found<'_>], changes: &Changes) -> String {
    let Changes { diff, added, removed } = changes;
    let edits = count(found.iter().map(|place| place.spans.len() as u64).sum(), "edit");
    let mut text = format!("edited {shown}: {edits}, +{added} −{removed}\n");
    for (number, place) in found.iter().enumerate() {
        let mut ways = Vec::new();
        if place.numbered {
            ways.push("without the line numbers in it");
        }
        match place.rung {
            Rung::Exact => {}
            Rung::LineEnds => ways.push("but for line ends"),
            Rung::Blanks => ways.push("but for tabs and spaces, of which the file's were kept"),
        }
        if !ways.is_empty() {
            text.push_str(&format!("edits[{number}] matched {}\n", ways.join(", ")));
        }
    }
    match standing {
        Standing::Changed => {
            text.push_str("the file had also been changed by somebody else since it was last read here\n");
        }
        Standing::Unknown | Standing::Current | Standing::Glimpsed => {}
    }
    text.push_str(diff);
    text.truncate(text.trim_end_matches('\n').len());
    text
}

#[cfg(test)]
mod tests;
