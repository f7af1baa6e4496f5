//! What the steps of an earlier run came to, found again in its session by the notes on their answers.
//!
//! Reads sessions and changes none.

use std::path::Path;

use super::Chain;
use super::prompt::{Answer, Value};
use crate::base::text::cut::ellipsis;
use crate::base::text::likeness::closest;
use crate::base::text::visible;
use crate::model::message::Message;
use crate::product::error::Error;
use crate::product::session::notes;
use crate::product::session::store::{Looked, Selector, Store};

/// Where a chain begins, and what came before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resumed {
    /// The place of the step that it begins with.
    pub from: usize,
    /// The answers of earlier steps, by their places, as far as they are needed.
    pub answers: Vec<Option<Answer>>,
    /// The session that they stand in, and that is gone on with; `None` where nothing was needed.
    pub session: Option<Selector>,
    /// What is known of the runs that gave the answers which are needed.
    pub earlier: Option<Earlier>,
}

/// Earlier runs of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The id of their session.
    pub session: String,
    /// What they were to do, as [`task`] has it.
    pub tasks: Vec<String>,
}

/// So much of a task is kept to compare it with another one, in characters.
const TASK_CHARS: usize = 200;

/// A task as it is compared and shown: on one line, and not all of a long one.
pub fn task(text: &str) -> String {
    ellipsis(&visible::line(&text.split_whitespace().collect::<Vec<_>>().join(" ")), TASK_CHARS)
}

/// The note on the first message of a run.
pub fn task_label(chain: &str, text: &str) -> String {
    format!("{}{}", task_prefix(chain), task(text))
}

fn task_prefix(chain: &str) -> String {
    format!("chain {chain}, task: ")
}

/// The note on the answer of a step.
pub fn label(chain: &str, step: &str) -> String {
    format!("{}{step}", prefix(chain))
}

fn prefix(chain: &str) -> String {
    format!("chain {chain}: ")
}

/// Finds what has to be known to begin `chain` at the step `from`: in the session that is named, else in the newest one of
/// the working directory in which the chain has run.
///
/// # Errors
///
/// Usage: there is no such step, no such session, or an answer that later steps need is missing.
pub fn resume(
    chain: &Chain,
    from: &str,
    session: Option<&Selector>,
    store: &Store,
    cwd: &Path,
) -> Result<Resumed, Error> {
    let from = place(chain, from)?;
    let needed = needed(chain, from);
    let Some(selector) = session.cloned().or_else(|| newest(chain, store, cwd)) else {
        return match needed.is_empty() {
            true => Ok(Resumed { from, ..Resumed::default() }),
            false => Err(missing(chain, &needed, "no session of this folder holds")),
        };
    };
    let Some(looked) = store.look(&selector, cwd)? else {
        return Err(missing(chain, &needed, "no session of this folder holds"));
    };
    let Past { mut answers, tasks } = answers(chain, &looked, store)?;
    answers.truncate(from);
    let mut tasks: Vec<_> = needed.iter().filter_map(|place| tasks.get(*place).cloned().flatten()).collect();
    tasks.dedup();
    let lost: Vec<_> = needed.into_iter().filter(|place| answers.get(*place).is_none_or(Option::is_none)).collect();
    if lost.is_empty() {
        let earlier = (!tasks.is_empty()).then(|| Earlier { session: looked.id.clone(), tasks });
        return Ok(Resumed { from, answers, session: Some(selector), earlier });
    }
    Err(missing(chain, &lost, &format!("session {} does not hold", looked.id)))
}

fn place(chain: &Chain, name: &str) -> Result<usize, Error> {
    chain.place(name.trim()).ok_or_else(|| {
        let names = || chain.steps.iter().map(|step| step.name.as_str());
        let (chain, shown) = (visible::line(&chain.name), visible::line(name));
        let error = Error::usage(format!("--from: the chain {chain} has no step `{shown}`"));
        match closest(name, names()) {
            Some(meant) => error.hint(format!("did you mean `{}`?", visible::line(meant))),
            None => error.hint(format!("its steps are {}", visible::line(&names().collect::<Vec<_>>().join(", ")))),
        }
    })
}

/// The places of the steps before `from` whose answers are put into the prompts of later ones.
fn needed(chain: &Chain, from: usize) -> Vec<usize> {
    let mut needed = Vec::new();
    for (place, step) in chain.steps.iter().enumerate().skip(from) {
        for wanted in step.prompt.wanted() {
            match wanted.what {
                Value::Task | Value::Misspelt(..) => {}
                Value::Previous => needed.extend(chain.before(place).into_iter().flatten()),
                Value::Step(name) => needed.extend(chain.place(&name)),
            }
        }
    }
    needed.retain(|place| *place < from);
    needed.sort_unstable();
    needed.dedup();
    needed
}

fn newest(chain: &Chain, store: &Store, cwd: &Path) -> Option<Selector> {
    let begin = prefix(&chain.name);
    let has_run =
        |path: &Path| notes::read(path).is_ok_and(|notes| notes.labels.values().any(|label| label.starts_with(&begin)));
    store.list(cwd).infos.into_iter().find(|info| has_run(&info.path)).map(|info| Selector::Id(info.id))
}

/// What is known of steps, by their places.
struct Past {
    answers: Vec<Option<Answer>>,
    /// What the answers were for.
    tasks: Vec<Option<String>>,
}

/// What the steps came to in the last run, and for which task, by their places: a step that was done again makes those
/// behind it old.
fn answers(chain: &Chain, looked: &Looked, store: &Store) -> Result<Past, Error> {
    let loaded = &looked.loaded;
    let (begin, of_task) = (prefix(&chain.name), task_prefix(&chain.name));
    let mut lines = vec![None; chain.steps.len()];
    let (mut tasks, mut task) = (vec![None; chain.steps.len()], None);
    for number in loaded.tree.path() {
        let label = loaded.tree.id(number).and_then(|id| loaded.labels.get(&id));
        if let Some(text) = label.and_then(|label| label.strip_prefix(&of_task)) {
            task = Some(text.to_owned());
        }
        let step = label.and_then(|label| label.strip_prefix(&begin)).and_then(|name| chain.place(name));
        if let Some(place) = step {
            lines.iter_mut().skip(place).for_each(|later| *later = None);
            lines[place] = Some(number);
            tasks[place] = task.clone();
        }
    }
    let answer = |number: Option<usize>| {
        let Some(number) = number else { return Ok(None) };
        let read = loaded
            .all_messages(&[number], store.blobs())
            .map_err(|error| Error::failed(format!("cannot read {}", looked.path.display())).caused_by(error))?;
        Ok(read.into_iter().find_map(|message| match message {
            Message::Assistant(answer) => Some(Answer { text: answer.text(), transcript: None }),
            Message::User(_) | Message::Tool(_) => None,
        }))
    };
    let answers = lines.into_iter().map(answer).collect::<Result<_, Error>>()?;
    Ok(Past { answers, tasks })
}

fn missing(chain: &Chain, places: &[usize], wherever: &str) -> Error {
    let names = places.iter().filter_map(|place| chain.steps.get(*place)).map(|step| step.name.as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    let (chain, names) = (visible::line(&chain.name), visible::line(&names));
    Error::usage(format!("--from: {wherever} what these steps of the chain {chain} came to: {names}"))
        .hint("run the chain from an earlier step, or name another session with --session ID")
}
