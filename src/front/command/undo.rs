//! `agent undo` and `agent redo`: shows what would be done, asks, does it, and says what was done.
//!
//! What is done is decided by `product::checkpoint`; the terminal is reached only through what it is given.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::Path;

use similar::{ChangeTag, TextDiff};

use super::{DONE, NO, written};
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::text::clean::clean;
use crate::base::text::numbers::count;
use crate::base::text::visible;
use crate::product::checkpoint::depot::Depot;
use crate::product::checkpoint::plan::{ChangeKind, Direction, FileChange, Plan, Report, What};
use crate::product::checkpoint::undo::Target;
use crate::product::error::Error;
use crate::product::session::Session;
use crate::product::session::name;
use crate::product::session::store::{Selector, Store};

/// An answer longer than this, in bytes, is no yes.
const MAX_ANSWER: u64 = 4096;
/// Lines of one file's diff that are shown.
const DIFF_LINES: usize = 500;
/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Whether it may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// It is.
    Given,
    /// A person is asked.
    Asked,
    /// It is only shown.
    Withheld,
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which way.
    pub direction: Direction,
    /// Of what.
    pub what: What,
    /// In which session.
    pub selector: Selector,
    /// Whether it may be done.
    pub consent: Consent,
    /// Whether the diff has colours.
    pub is_coloured: bool,
}

/// Takes back or restores. Returns 0 when something was done, 1 when nothing could be, or the answer was no.
///
/// # Errors
///
/// That there is nothing to take back or restore; a session that is not there, or, where its conversation is to move, open in
/// another process.
pub fn run(
    wanted: &Wanted,
    data_dir: &Path,
    env: &Env,
    clock: Clock,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<u8, Error> {
    let store = Store::new(data_dir, clock);
    let Some(path) = store.locate(&wanted.selector, &env.cwd)? else {
        return Err(Error::failed("there is no session of this directory to take anything back in"));
    };
    let session = match wanted.what {
        What::Files => None,
        What::Both | What::Chat => Some(opened(&store, &path, env)?),
    };
    let depot = Depot::new(data_dir, env, clock);
    let id = name::id_of(&path).unwrap_or_default();
    let target = Target { depot: &depot, session: id, file: Some(&path) };
    let plan = target.plan(wanted.what, wanted.direction)?;
    let mut print = |text: &str| out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = print(&shown(&plan, wanted.is_coloured)) {
        return written(Err(error));
    }
    match wanted.consent {
        Consent::Given => {}
        Consent::Withheld => return Ok(if is_empty(&plan) { NO } else { DONE }),
        Consent::Asked if is_empty(&plan) => {}
        Consent::Asked => {
            let question = match wanted.direction {
                Direction::Undo => "Take this back? [y/N] ",
                Direction::Redo => "Restore this? [y/N] ",
            };
            match print(question).and_then(|()| is_yes(input)) {
                Ok(true) => {}
                Ok(false) => return written(print("nothing was done\n").map(|()| NO)),
                Err(error) => return written(Err(error)),
            }
        }
    }
    let report = target.apply(plan)?;
    if let (Some(mut session), Some(chat)) = (session, report.chat) {
        session.append_leaf(chat.target_id, chat.undone_id)?;
        let lost = |error| Error::failed("the session may not survive a power cut").caused_by(error);
        session.sync().run().map_err(lost)?;
    }
    let has_moved = report.files.iter().any(|file| outcome(file).is_some());
    let is_done = has_moved || !report.is_damaged && (report.chat.is_some() || report.files.is_empty());
    let code = if is_done { DONE } else { NO };
    written(print(&told(&report)).map(|()| code))
}

/// The session, for its conversation to be moved.
fn opened(store: &Store, path: &Path, env: &Env) -> Result<Session, Error> {
    if let Err(error) = OpenOptions::new().append(true).open(path) {
        let problem = format!("{} cannot be written, and the conversation stays where it is", path.display());
        return Err(Error::failed(problem)
            .caused_by(error)
            .hint("give yourself the right to write it, or take back the files alone with `--files`"));
    }
    let session = store.open(&Selector::Path(path.to_owned()), &env.cwd)?.map(|opened| opened.session);
    session.filter(|session| session.path() == Some(path)).ok_or_else(|| {
        Error::failed("the session is open in another process, and its conversation stays where it is")
            .hint("`/undo` there takes back both, `--files` here the files alone")
    })
}

fn is_yes(input: &mut dyn BufRead) -> io::Result<bool> {
    let mut answer = String::new();
    // What is no text is no yes.
    let read = io::Read::take(input, MAX_ANSWER).read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Whether nothing would be done.
fn is_empty(plan: &Plan) -> bool {
    plan.chat.is_none() && plan.files.iter().all(|file| matches!(file.kind, ChangeKind::Refused(_)))
}

/// What would be done: the turn, and a diff of each file.
fn shown(plan: &Plan, is_coloured: bool) -> String {
    let mut text = String::new();
    let verb = match plan.direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    match &plan.title {
        Some(title) => drop(writeln!(text, "{verb}: {}", visible::line(title))),
        None => drop(writeln!(text, "{verb}")),
    }
    for note in &plan.notes {
        let _ = writeln!(text, "{note}");
    }
    for file in &plan.files {
        diff(file, is_coloured, &mut text);
    }
    text
}

/// One file's diff, without what would drive a terminal.
fn diff(file: &FileChange, is_coloured: bool, text: &mut String) {
    let FileChange { path, kind, before, after } = file;
    let inked = |code: u8, line: &str| match is_coloured {
        true => format!("\x1b[{code}m{line}\x1b[0m\n"),
        false => format!("{line}\n"),
    };
    let (before, after) = match (kind, before, after) {
        (ChangeKind::Refused(_), _, _) | (_, None, None) => return,
        (ChangeKind::Restore | ChangeKind::Merge, Some(before), Some(after)) => (before.as_str(), after.as_str()),
        (ChangeKind::Restore | ChangeKind::Merge, _, _) => return,
        (ChangeKind::Create, _, after) => ("", after.as_deref().unwrap_or_default()),
        (ChangeKind::Delete, before, _) => (before.as_deref().unwrap_or_default(), ""),
    };
    if before == after {
        return;
    }
    let shown = visible::line(path);
    text.push_str(&inked(BOLD, &format!("--- {shown}")));
    text.push_str(&inked(BOLD, &format!("+++ {shown}")));
    let compared = TextDiff::from_lines(before, after);
    let mut lines = 0;
    for hunk in compared.unified_diff().context_radius(CONTEXT).iter_hunks() {
        text.push_str(&inked(CYAN, &hunk.header().to_string()));
        for change in hunk.iter_changes() {
            lines += 1;
            if lines > DIFF_LINES {
                text.push_str("(the rest of this file's diff is not shown)\n");
                return;
            }
            let line = clean(change.value());
            let line = line.trim_end_matches('\n');
            text.push_str(&match change.tag() {
                ChangeTag::Equal => format!(" {line}\n"),
                ChangeTag::Delete => inked(RED, &format!("-{line}")),
                ChangeTag::Insert => inked(GREEN, &format!("+{line}")),
            });
            if change.missing_newline() {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
}

/// Parameters of SGR (ECMA-48).
const BOLD: u8 = 1;
const RED: u8 = 31;
const GREEN: u8 = 32;
const CYAN: u8 = 36;

/// What was done: a line for each file, and a sum.
fn told(report: &Report) -> String {
    let mut text = String::new();
    let mut sums: Vec<(&str, u64)> = Vec::new();
    let mut left = 0_u64;
    for file in &report.files {
        let path = visible::line(&file.path);
        match (&file.kind, outcome(file)) {
            (ChangeKind::Refused(reason), _) => {
                left += 1;
                let _ = writeln!(text, "left alone  {path}: {}", visible::line(reason));
            }
            (_, Some(done)) => {
                match sums.iter_mut().find(|(word, _)| *word == done) {
                    Some((_, sum)) => *sum += 1,
                    None => sums.push((done, 1)),
                }
                let _ = writeln!(text, "{done:<11} {path}");
            }
            (_, None) => {}
        }
    }
    let total: u64 = sums.iter().map(|(_, sum)| sum).sum();
    if total > 0 {
        let parts: Vec<String> = sums.iter().map(|(word, sum)| format!("{sum} {word}")).collect();
        let _ = write!(text, "{}: {}", count(total, "file"), parts.join(", "));
        let _ = writeln!(text, "{}", if left > 0 { format!("; {left} left alone") } else { String::new() });
    } else if left > 0 {
        let _ = writeln!(text, "nothing was changed; {} left alone", count(left, "file"));
    } else if report.chat.is_none() {
        text.push_str("the files are that way already\n");
    }
    match (report.chat, report.direction) {
        (Some(_), Direction::Undo) => text.push_str("the conversation goes on before that turn\n"),
        (Some(_), Direction::Redo) => text.push_str("the conversation goes on behind that turn\n"),
        (None, _) => {}
    }
    text
}

/// The word for what was done to a file.
fn outcome(file: &FileChange) -> Option<&'static str> {
    match &file.kind {
        ChangeKind::Restore => Some("restored"),
        ChangeKind::Create => Some("made again"),
        ChangeKind::Delete => Some("removed"),
        ChangeKind::Merge => Some("merged"),
        ChangeKind::Refused(_) => None,
    }
}
