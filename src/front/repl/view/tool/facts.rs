//! How much a call found or changed, how it ended and how long it took: read from what the tools say.
//!
//! The words are those of `product::tool`; what is not understood gives no fact.

use std::time::Duration;

use super::super::diff::Diff;
use super::verb::{Doing, Kind};
use super::{Finish, Inner};
use crate::base::text::cut;
use crate::base::text::numbers::{count, dollars, elapsed, took};
use crate::front::repl::view::Look;
use crate::front::repl::view::row::plain;

/// A call that runs for less has nothing to say about time.
const TIMED: Duration = Duration::from_secs(1);
/// Characters of a fact; the words of a status are few.
const FACT_CHARS: usize = 40;

/// What stands at the right edge of a call's line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Where there is room; may be empty.
    pub long: String,
    /// Where there is less.
    pub short: String,
    /// Whether it says that something went wrong.
    pub is_failure: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It did what it was meant to.
    Done,
    /// It failed.
    Failed,
    /// It was not allowed.
    Denied,
    /// It was interrupted.
    Stopped,
}

impl Ending {
    /// How a call ended that came to this.
    pub(super) fn of(finish: &Finish) -> Self {
        let output = &finish.output;
        let last = output.trim_end().lines().next_back().unwrap_or_default();
        match () {
            () if finish.ok => Self::Done,
            () if output.starts_with("denied") => Self::Denied,
            () if output.starts_with("interrupted") || last.starts_with("interrupted: ") => Self::Stopped,
            () => Self::Failed,
        }
    }
}

impl Facts {
    /// Of a call that has been running for so long.
    pub(super) fn running(inner: Option<Inner>, since: Duration, look: &Look) -> Self {
        if since < TIMED && inner.is_none_or(|inner| inner.tools == 0) {
            return Self::default();
        }
        let short = elapsed(since);
        let long = inner.map_or_else(|| short.clone(), |inner| worked(inner, Some(&short), look));
        Self { long, short, is_failure: false }
    }

    /// Of a call that is done.
    pub(super) fn of(
        doing: &Doing,
        inner: Option<Inner>,
        finish: &Finish,
        diff: Option<&Diff<'_>>,
        look: &Look,
    ) -> Self {
        let ending = Ending::of(finish);
        let time = finish.duration.map(took);
        let (fact, short) = match ending {
            Ending::Denied => ("denied".to_owned(), None),
            Ending::Stopped => ("stopped".to_owned(), None),
            Ending::Failed if doing.kind.is_command() => (status(&finish.output).unwrap_or_default(), None),
            Ending::Failed => ("failed".to_owned(), None),
            Ending::Done => done(doing, inner, finish, diff, look),
        };
        let is_timed = match (doing.kind, ending) {
            (_, Ending::Denied) => false,
            (Kind::Command, Ending::Done | Ending::Failed | Ending::Stopped) => true,
            (Kind::Agent, Ending::Done) => false,
            (Kind::Agent | Kind::Unknown | Kind::Quiet | Kind::Edit | Kind::Write | Kind::Plan, _) => {
                fact.is_empty() && finish.duration.is_some_and(|duration| duration >= TIMED)
            }
        };
        let time = time.filter(|_| is_timed);
        let short = short.unwrap_or_else(|| fact.clone());
        let long = match (fact.is_empty(), time) {
            (false, Some(time)) => format!("{fact} {} {time}", look.glyphs.dot),
            (true, Some(time)) => time,
            (_, None) => fact,
        };
        Self { long, short, is_failure: matches!(ending, Ending::Failed | Ending::Denied) }
    }
}

/// The fact of a call that succeeded, and a shorter one.
fn done(
    doing: &Doing,
    inner: Option<Inner>,
    finish: &Finish,
    diff: Option<&Diff<'_>>,
    look: &Look,
) -> (String, Option<String>) {
    let output = finish.output.as_str();
    let whole = |fact: Option<String>| (fact.unwrap_or_default(), None);
    match doing.kind {
        Kind::Command => whole(status(output)),
        Kind::Edit | Kind::Write => whole(written(finish, diff, look)),
        Kind::Agent => {
            let time = finish.duration.map(elapsed);
            let long = inner.map(|inner| worked(inner, time.as_deref(), look));
            (long.or_else(|| time.clone()).unwrap_or_default(), time)
        }
        Kind::Quiet => match doing.verb.as_str() {
            "read" => whole(read(output)),
            "list" => whole(listed(output)),
            "find" => whole(found(output)),
            "search" => {
                let fact = searched(output);
                let short =
                    fact.as_ref().and_then(|fact| fact.split_once(" in ")).map(|(matches, _)| matches.to_owned());
                (fact.unwrap_or_default(), short)
            }
            _ => whole(None),
        },
        Kind::Plan | Kind::Unknown => whole(None),
    }
}

/// What a sub-agent did: `4 tools · 9 s · $0.01`.
fn worked(inner: Inner, time: Option<&str>, look: &Look) -> String {
    let tools = (inner.tools > 0).then(|| count(u64::from(inner.tools), "tool"));
    let cost = inner.cost.map(dollars);
    let parts: Vec<String> = tools.into_iter().chain(time.map(str::to_owned)).chain(cost).collect();
    parts.join(&format!(" {} ", look.glyphs.dot))
}

/// The lines of a command's output without what says how it ended.
pub(super) fn output(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let mut lines: Vec<&str> = text.trim_end().lines().collect();
    if lines.last().is_some_and(|last| status_of(last).is_some()) {
        lines.pop();
        // Only a status has the time before it.
        let time = |line: &str| line.strip_prefix("took ")?.strip_suffix(" s")?.parse::<f64>().ok();
        if lines.last().is_some_and(|last| time(last).is_some()) {
            lines.pop();
        }
    }
    lines.into_iter().filter(|line| !(line.starts_with("[... ") && line.ends_with(" ...]")))
}

/// How a command ended: `exit 0`.
fn status(output: &str) -> Option<String> {
    output.trim_end().lines().next_back().and_then(status_of)
}

fn status_of(line: &str) -> Option<String> {
    if let Some(code) = line.strip_prefix("exit code: ") {
        return code.parse::<i32>().is_ok().then(|| format!("exit {code}"));
    }
    if let Some(signal) = line.strip_prefix("killed by signal ") {
        let name = signal.split_once(" (").map_or(signal, |(_, name)| name.trim_end_matches(')'));
        return Some(shortened(&format!("killed by {name}")));
    }
    if line.starts_with("timed out after ") {
        let (told, _) = line.split_once([';', ',']).unwrap_or((line, ""));
        return Some(shortened(told));
    }
    let is_stopped = line.starts_with("interrupted: ") || line.starts_with("interrupted by the user");
    is_stopped.then(|| "stopped".to_owned())
}

fn shortened(fact: &str) -> String {
    cut::ellipsis(&plain(fact), FACT_CHARS)
}

/// What was written: `+2 −1`, `new, 12 lines`.
fn written(finish: &Finish, diff: Option<&Diff<'_>>, look: &Look) -> Option<String> {
    let minus = look.glyphs.minus;
    if let Some(change) = &finish.change {
        return match &change.before {
            Some(_) => diff.map(|diff| diff.counts(minus)),
            None => Some(format!("new, {}", count(change.after.split_inclusive('\n').count() as u64, "line"))),
        };
    }
    let first = finish.output.lines().next()?;
    if first.contains(" already has exactly this content ") {
        return Some("unchanged".to_owned());
    }
    let (told, rest) = first.split_once(": ")?;
    if told.starts_with("edited ") {
        // `edited PATH: 2 edits, +3 −2`, and a path may hold a colon.
        let (_, counts) = first.rsplit_once(", +")?;
        let (added, removed) = counts.split_once(" −")?;
        let (added, removed): (u64, u64) = (added.parse().ok()?, removed.parse().ok()?);
        return Some(format!("+{added} {minus}{removed}"));
    }
    let lines = leading(rest).or_else(|| first.rsplit(": ").find_map(leading))?;
    Some(if told.starts_with("created ") { format!("new, {lines}") } else { lines })
}

/// `12 lines` of `12 lines, 340 B`.
fn leading(text: &str) -> Option<String> {
    let (lines, _) = text.split_once(", ")?;
    let (number, noun) = lines.split_once(' ')?;
    (noun.starts_with("line") && is_number(number)).then(|| lines.to_owned())
}

/// How much of a file was read: `41 lines`, `100 of 812 lines`.
fn read(output: &str) -> Option<String> {
    if let Some(fact) = pictured(output) {
        return Some(fact);
    }
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    if let Some(told) = last.strip_prefix("[lines ") {
        let (range, rest) = told.split_once(" of ")?;
        let (first, end) = range.split_once('–')?;
        let total = rest.split([';', ']']).next()?;
        let (first, end, total): (u64, u64, u64) = (first.parse().ok()?, end.parse().ok()?, total.parse().ok()?);
        let read = end.checked_sub(first)?.checked_add(1)?;
        return Some(format!("{read} of {}", count(total, "line")));
    }
    if let Some(all) = output.lines().find_map(omitted) {
        return Some(format!("{all} lines"));
    }
    let is_line = |line: &&str| line.split_once('\t').is_some_and(|(number, _)| is_number(number));
    match output.lines().filter(is_line).count() {
        0 => output.ends_with(" is empty").then(|| "empty".to_owned()),
        lines => Some(count(lines as u64, "line")),
    }
}

/// What picture was read, of `shot.png: a PNG picture, 640×480 px, 12 KB; …`: `PNG, 640×480 px, 12 KB`.
fn pictured(output: &str) -> Option<String> {
    let (named, told) = output.trim_end().rsplit_once(" picture, ").filter(|_| !output.trim_end().contains('\n'))?;
    let kind = named.rsplit_once(": a ").map(|(_, kind)| kind).filter(|kind| !kind.contains(' '))?;
    let size = told.split(';').next().filter(|size| size.contains(" px, "))?;
    Some(shortened(&format!("{kind}, {size}")))
}

/// How many lines there were, of the line that says what was left out.
fn omitted(line: &str) -> Option<&str> {
    let told = line.strip_prefix("[... ")?.split_once(" characters omitted (lines ")?.1;
    let (_, all) = told.split_once(')')?.0.split_once(" of ")?;
    is_number(all).then_some(all)
}

fn listed(output: &str) -> Option<String> {
    if let Some(all) = note(output).and_then(|note| note.split_once(" of ")?.1.split_once(" entries are shown")) {
        return is_number(all.0).then(|| format!("{} entries", all.0));
    }
    if output.ends_with(" is empty") {
        return Some("empty".to_owned());
    }
    Some(count(body(output) as u64, "entry"))
}

fn found(output: &str) -> Option<String> {
    if output.starts_with("no file matches") {
        return Some("no file".to_owned());
    }
    if let Some(told) = note(output).and_then(|note| note.strip_prefix("the first ")) {
        let (all, _) = told.split_once(" of ")?.1.split_once(" files")?;
        return is_number(all).then(|| format!("{all} files"));
    }
    Some(count(body(output) as u64, "file"))
}

fn searched(output: &str) -> Option<String> {
    if output.starts_with("no match") {
        return Some("no match".to_owned());
    }
    let last = output.trim_end().lines().next_back()?;
    let (told, more) = match last.strip_prefix("the first ") {
        Some(told) => (told, "first "),
        None => (last, ""),
    };
    let mut words = told.split_whitespace();
    let mut counted = |noun: &str| {
        let (number, of) = (words.next()?, words.next()?.trim_end_matches([',', ';']));
        let is_count = is_number(number) && of.starts_with(noun);
        let _in = words.next();
        is_count.then(|| format!("{number} {of}"))
    };
    let (matches, files) = (counted("match")?, counted("file")?);
    Some(shortened(&format!("{more}{matches} in {files}")))
}

/// The note in brackets that ends a list.
fn note(output: &str) -> Option<&str> {
    output.trim_end().lines().next_back()?.strip_prefix('(')?.strip_suffix(')')
}

/// Lines of a list without its note.
fn body(output: &str) -> usize {
    output.trim_end().lines().count() - usize::from(note(output).is_some())
}

/// A number, with or without its thousands apart.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}
