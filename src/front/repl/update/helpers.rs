//! The commands about what works beside the conversation or stays after it: sub-agents, chains, jobs, memory.

use std::path::Path;

use crate::base::text::numbers::{count, dollars};
use crate::front::repl::complete::picker::{Item, Picker};
use crate::front::repl::editor::draft::Draft;
use crate::front::repl::message::{Cmd, Helper, Order, Scope};
use crate::front::repl::state::{Choice, Overlay, State};
use crate::front::repl::view::plain;

use super::{command, send};

/// `/init`: has instructions for the project written.
pub(super) fn init(state: &mut State, wishes: &str) -> Vec<Cmd> {
    let said = Draft::typed(format!("/init {wishes}").trim_end().to_owned());
    let arguments = wishes.to_owned();
    send::begin_with(state, &said, |cancel| Order::Invoke { name: "init".to_owned(), arguments, cancel })
}

/// `/chain NAME TASK`.
pub(super) fn chain(state: &mut State, argument: &str) -> Vec<Cmd> {
    let (name, task) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    if name.is_empty() {
        command::say(state, "/chain NAME TASK runs one; /chains lists them.");
        return Vec::new();
    }
    let said = Draft::typed(format!("/chain {argument}"));
    let (name, task) = (name.to_owned(), task.trim().to_owned());
    send::begin_with(state, &said, |cancel| Order::Chain { name, task, cancel })
}

/// `/jobs`: lists them, or stops one.
pub(super) fn jobs(state: &mut State, argument: &str) -> Vec<Cmd> {
    if argument.is_empty() {
        return vec![Cmd::ListJobs];
    }
    match argument.split_once(char::is_whitespace) {
        Some(("stop", id)) if !id.trim().is_empty() => vec![Cmd::StopJob(id.trim().to_owned())],
        Some(_) | None => {
            command::say(state, "/jobs lists jobs and services, /jobs stop ID stops one.");
            Vec::new()
        }
    }
}

/// `/remember TEXT`, for the project; `/remember user: TEXT` or `--user TEXT` for the person.
pub(super) fn remember(state: &mut State, argument: &str) -> Vec<Cmd> {
    let users = ["user:", "--user "].iter().find_map(|mark| argument.strip_prefix(mark));
    let (scope, text) = users.map_or((Scope::Project, argument), |text| (Scope::User, text));
    let text = text.trim();
    if text.is_empty() || text == "--user" {
        command::say(state, "/remember TEXT keeps it for this project, /remember user: TEXT for all.");
        return Vec::new();
    }
    vec![Cmd::Note { scope, text: text.to_owned() }]
}

/// `/agents`: asks the disk for them.
pub(super) fn ask(state: &mut State) -> Vec<Cmd> {
    match &state.session {
        Some(session) if session.kept => vec![Cmd::ListHelpers(session.id.clone())],
        Some(_) => {
            command::say(state, "This session is not kept, and neither is what its sub-agents said.");
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// They are known: a list to choose from, or lines where there is no screen for one.
pub(super) fn listed(state: &mut State, helpers: Vec<Helper>) -> Vec<Cmd> {
    if helpers.is_empty() {
        command::say(state, "No sub-agent has worked in this session.");
        return Vec::new();
    }
    if !state.switches.live {
        let line = |helper: &Helper| format!("{}  {}\n  {}", took(helper), task(helper), helper.transcript.display());
        let lines: Vec<String> = helpers.iter().map(line).collect();
        return command::report(state, &lines.join("\n"));
    }
    let item = |helper: &Helper| Item {
        label: task(helper),
        detail: String::new(),
        right: took(helper),
        key: helper.transcript.display().to_string(),
    };
    let picker = Picker::new("sub-agents; enter says where one's words are", helpers.iter().map(item).collect());
    let places = helpers.into_iter().map(|helper| helper.transcript).collect();
    state.overlay = Overlay::Picker(picker, Choice::Helpers(places));
    Vec::new()
}

/// One was chosen: where its conversation is.
pub(super) fn chosen(state: &mut State, transcript: &Path) -> Vec<Cmd> {
    command::say(state, &format!("Its conversation: {}", transcript.display()));
    Vec::new()
}

fn task(helper: &Helper) -> String {
    let first = helper.task.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    plain(first.trim())
}

fn took(helper: &Helper) -> String {
    let turns = count(helper.spent.answers, "turn");
    let cost = helper.spent.cost().filter(|_| helper.spent.answers > 0);
    cost.map_or(turns.clone(), |cost| format!("{turns}, {}", dollars(cost)))
}
