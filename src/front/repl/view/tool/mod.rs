//! What the agent did: a line for each call, while it runs and when it is done, and below it what one wants to know.
//!
//! Facts are read from the texts the tools return; one that is not understood is not shown. Nothing is decided here.

mod facts;
mod head;
mod verb;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui::text::{Line, Span};

use super::diff::{Diff, Fold, Numbers};
use super::row::{first_line, fitted, indented, plain};
use super::{Block, Look, plan};
use crate::base::json::Object;
use crate::base::text::{numbers, width};
use crate::kernel::event::{Change, Event};
use facts::{Ending, Facts};
use verb::{Doing, Kind};

/// Columns before what stands below a call, on a roomy screen and on a narrow one.
const BELOW: (usize, usize) = (6, 4);
/// Lines of a command's output that are shown while it runs.
const RUNNING_LINES: usize = 2;
/// Lines of output that are shown of a command that succeeded, and of one that failed.
const DONE_LINES: (usize, usize) = (3, 10);
/// Rows a line of a failed command may take; of one that succeeded, a line takes one row.
const FAILED_ROWS: usize = 3;
/// Lines of an error that is not a command's.
const ERROR_LINES: usize = 3;
/// Between two steps of the breathing mark; four a second are calm.
const BREATH_MS: u128 = 250;
/// Lines of an expanded output; what is longer is read in the file that holds it.
const EXPANDED_LINES: usize = 2_000;
/// Columns of an expanded line.
const EXPANDED_LINE_COLUMNS: usize = 4_000;

/// What runs a command.
const COMMAND: &str = "execute_bash";
/// What writes the plan: it has a place of its own on the screen.
pub const PLAN: &str = "update_plan";
/// What asks a person: the question and its answer are there already.
pub const ASK: &str = "ask_user";

/// A call that was begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// Its arguments.
    pub arguments: Object,
    /// When it began, since the program did.
    pub started: Duration,
    /// The last lines it had to show; see [`Call::say`].
    pub progress: Vec<String>,
    /// What it did itself, if it is a sub-agent.
    pub inner: Option<Inner>,
    /// What it does at the moment, if it is one.
    pub doing: Option<String>,
    /// How many answers it got, if it is one.
    pub answers: u32,
}

/// What a sub-agent, or a step of a chain, has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inner {
    /// Calls it has made.
    pub tools: u32,
    /// In US dollars; `None` where the price is unknown.
    pub cost: Option<f64>,
}

/// What a call came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finish {
    /// Whether it succeeded.
    pub ok: bool,
    /// What the model sees.
    pub output: String,
    /// How long it ran; `None` where that is not known any more.
    pub duration: Option<Duration>,
    /// What it did to a file.
    pub change: Option<Arc<Change>>,
    /// Where the whole of a cut output was kept.
    pub full_output: Option<PathBuf>,
}

impl Finish {
    /// What the end of a call says; `None` for any other event.
    pub fn of(event: &Event) -> Option<Self> {
        let Event::ToolFinished { id: _, name: _, ok, output, duration_ms, truncated: _, full_output, change } = event
        else {
            return None;
        };
        Some(Self {
            ok: *ok,
            output: output.clone(),
            duration: Some(Duration::from_millis(*duration_ms)),
            change: change.clone(),
            full_output: full_output.clone(),
        })
    }
}

impl Call {
    /// A call that begins.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Object, started: Duration) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments,
            started,
            progress: Vec::new(),
            inner: None,
            doing: None,
            answers: 0,
        }
    }

    /// Whether it runs a command, which can go on in the background.
    pub fn is_command(&self) -> bool {
        self.name == COMMAND
    }

    /// A step of a chain, which is shown as a call is.
    pub fn step(name: &str, started: Duration) -> Self {
        let arguments = Object::from_iter([("name".to_owned(), name.into())]);
        let inner = Some(Inner::default());
        Self { inner, ..Self::new(step_id(name), verb::STEP, arguments, started) }
    }

    /// Takes what the running call has to show; only the last lines are kept.
    pub fn say(&mut self, text: &str) {
        let lines = text.lines().rev().filter(|line| !line.trim().is_empty()).take(RUNNING_LINES);
        let new: Vec<String> = lines.map(|line| plain(line.trim_end())).collect();
        self.progress.extend(new.into_iter().rev());
        let old = self.progress.len().saturating_sub(RUNNING_LINES);
        self.progress.drain(..old);
    }
}

/// The id of the call that stands for a step of a chain; no model writes such a one.
pub fn step_id(name: &str) -> String {
    format!("step:{name}")
}

/// What a call does, in a verb and what it is about: `read src/main.rs`.
pub fn said(name: &str, arguments: &Object, look: &Look) -> String {
    let Doing { verb, target, .. } = Doing::of(name, arguments, look);
    if target.is_empty() { verb } else { format!("{verb} {target}") }
}

/// The word for what a tool does, whatever it is called with.
pub fn verb(name: &str, look: &Look) -> String {
    Doing::of(name, &Object::new(), look).verb
}

/// The rows of a call that runs, `now` since the program began. They change at most four times a second, and none is
/// wider than the screen.
pub fn running(call: &Call, now: Duration, look: &Look) -> Vec<Line<'static>> {
    let doing = Doing::of(&call.name, &call.arguments, look);
    let steps = look.glyphs.breath;
    let step = usize::try_from(now.as_millis() / BREATH_MS % steps.len() as u128).unwrap_or_default();
    let mark = steps.get(step).copied().unwrap_or(look.glyphs.tool);
    let facts = Facts::running(call.inner, now.saturating_sub(call.started), look);
    let mut rows = vec![head::line(Span::styled(mark, look.theme.verb), &doing, &facts, look)];
    if doing.kind.is_command() {
        let below = below(look);
        let room = look.edge().saturating_sub(below);
        let lines = call.progress.iter().map(|line| width::cut(&plain(line), room, look.glyphs.ellipsis));
        rows.extend(lines.map(|line| indented(below, line, look.theme.dim)));
    }
    if let Some(does) = call.doing.as_ref().filter(|_| doing.kind == Kind::Agent) {
        let below = below(look);
        let room = look.edge().saturating_sub(below);
        rows.push(indented(below, width::cut(&plain(does), room, look.glyphs.ellipsis), look.theme.dim));
    }
    rows.into_iter().map(|row| fitted(row, look)).collect()
}

/// A call that is done: its line, and below it what one would ask for.
pub fn finished(call: &Call, finish: &Finish, look: &Look) -> Block {
    let doing = Doing::of(&call.name, &call.arguments, look);
    if doing.kind == Kind::Plan
        && finish.ok
        && let Some(plan) = plan::Plan::of(&call.arguments)
    {
        return plan.lines(look);
    }
    let ending = Ending::of(finish);
    let diff = difference(&doing, finish);
    let mut block = vec![first(&doing, call, finish, diff.as_ref(), look)];
    match ending {
        Ending::Denied => block.extend(reason(&finish.output, look)),
        Ending::Stopped | Ending::Failed | Ending::Done if doing.kind.is_command() => {
            block.extend(output_end(finish, ending, look));
        }
        Ending::Stopped => {}
        Ending::Failed => block.extend(error(&finish.output, look)),
        Ending::Done => {
            let is_new = finish.change.as_ref().is_some_and(|change| change.before.is_none());
            let fold = if is_new { Fold::New } else { Fold::Folded };
            block.extend(diff.into_iter().flat_map(|diff| diff.lines(fold, Numbers::Shown, look)));
        }
    }
    block
}

/// The same with all there is to show: the whole command, the whole output as the model sees it, the whole diff, and
/// where a cut output was kept.
pub fn expanded(call: &Call, finish: &Finish, look: &Look) -> Block {
    let doing = Doing::of(&call.name, &call.arguments, look);
    let below = below(look);
    let diff = difference(&doing, finish);
    let mut block = vec![first(&doing, call, finish, diff.as_ref(), look)];
    if let Some(diff) = diff.filter(|diff| !diff.is_empty()) {
        block.extend(diff.lines(Fold::Whole, Numbers::Shown, look));
        return block;
    }
    if doing.kind.is_command()
        && let Some(command) = call.arguments.get("command").and_then(|command| command.as_str())
    {
        let mark = format!("{} ", look.glyphs.person);
        for (number, line) in command.trim_end().lines().enumerate() {
            let before = if number == 0 { mark.clone() } else { " ".repeat(width::width(&mark)) };
            block.push(indented(below, before + &plain(line), look.theme.agent));
        }
    }
    let mark = look.glyphs.ellipsis;
    let mut lines = finish.output.trim_end().lines();
    let shown = lines.by_ref().take(EXPANDED_LINES).map(|line| width::cut(&plain(line), EXPANDED_LINE_COLUMNS, mark));
    block.extend(shown.map(|line| indented(below, line, look.theme.agent)));
    let more = lines.count();
    let path = finish.full_output.as_ref().map(|path| plain(&path.to_string_lossy()));
    let note = match (more, path) {
        (0, None) => None,
        (0, Some(path)) => Some(format!("full output: {path}")),
        (more, path) => {
            let more = numbers::count(more as u64, "more line");
            Some(path.map_or_else(|| format!("{mark} {more}"), |path| format!("{mark} {more}, full output: {path}")))
        }
    };
    block.extend(note.map(|note| indented(below, note, look.theme.dim)));
    block
}

/// The line of a call that is done.
fn first(doing: &Doing, call: &Call, finish: &Finish, diff: Option<&Diff<'_>>, look: &Look) -> Line<'static> {
    let facts = Facts::of(doing, call.inner, finish, diff, look);
    let mark = match Ending::of(finish) {
        Ending::Failed => Span::styled(look.glyphs.failure, look.theme.failure),
        Ending::Denied | Ending::Stopped | Ending::Done => Span::styled(look.glyphs.tool, look.theme.verb),
    };
    head::line(mark, doing, &facts, look)
}

/// Columns before what stands below a call.
fn below(look: &Look) -> usize {
    if look.is_roomy() { BELOW.0 } else { BELOW.1 }
}

/// What was written, compared with what was there.
fn difference<'f>(doing: &Doing, finish: &'f Finish) -> Option<Diff<'f>> {
    if Ending::of(finish) != Ending::Done {
        return None;
    }
    match (doing.kind, &finish.change) {
        (Kind::Edit | Kind::Write, Some(change)) => Some(Diff::between(change.before.as_deref(), &change.after)),
        (Kind::Edit, None) => Some(Diff::parse(&finish.output)),
        (Kind::Write | Kind::Command | Kind::Plan | Kind::Agent | Kind::Quiet | Kind::Unknown, _) => None,
    }
}

/// The last lines of a command's output.
fn output_end(finish: &Finish, ending: Ending, look: &Look) -> Block {
    let below = below(look);
    let (most, rows, style) = match ending {
        Ending::Failed => (DONE_LINES.1, FAILED_ROWS, look.theme.agent),
        Ending::Done | Ending::Denied | Ending::Stopped => (DONE_LINES.0, 1, look.theme.dim),
    };
    let room = look.edge().saturating_sub(below) * rows;
    let lines = facts::output(&finish.output).rev().filter(|line| !line.trim().is_empty()).take(most);
    let lines: Vec<String> =
        lines.map(|line| width::cut(&plain(line.trim_end()), room, look.glyphs.ellipsis)).collect();
    lines.into_iter().rev().map(|line| indented(below, line, style)).collect()
}

/// Why a call was denied, where a rule or a guard has its say; a person knows what they answered.
fn reason(output: &str, look: &Look) -> Option<Line<'static>> {
    let (said, _) = output.split_once(';').unwrap_or((output, ""));
    let said = said.strip_prefix("denied: ").or_else(|| said.strip_prefix("denied "))?;
    let is_asked = said.starts_with("by the user");
    (!is_asked).then(|| indented(below(look), first_line(said, look.glyphs.ellipsis), look.theme.dim))
}

/// What a tool that failed says.
fn error(output: &str, look: &Look) -> Block {
    let below = below(look);
    let room = look.edge().saturating_sub(below) * FAILED_ROWS;
    let lines = output.lines().filter(|line| !line.trim().is_empty()).take(ERROR_LINES);
    let lines = lines.map(|line| width::cut(&plain(line.trim_end()), room, look.glyphs.ellipsis));
    lines.map(|line| indented(below, line, look.theme.agent)).collect()
}

/// The verb of a call and what it is about, for a question about it.
pub(super) fn asked(name: &str, arguments: &Object, look: &Look) -> (String, String) {
    let Doing { verb, target, .. } = Doing::of(name, arguments, look);
    (verb, target)
}
