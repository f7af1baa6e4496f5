//! The status line and the working line, as values that follow from what has happened.
//!
//! [`Status`] is a reactive graph: facts come in as [`StatusEvent`]s, what is shown is derived from them, and whoever
//! paints asks whether anything has changed. `facts` lays facts out, `working` says what goes on. Text from outside is
//! made visible here.

mod facts;
mod working;

#[cfg(test)]
mod tests;

use std::cell::Cell as Flag;
use std::rc::Rc;
use std::time::Duration;

use ratatui::text::Line;

use crate::base::reactive::{Derived, Graph, Store, set};
use crate::base::text::visible;
use crate::kernel::event::{Context, Event, NoticeCode};
use crate::model::request::Effort;
use crate::model::usage::Usage;

use super::Look;
use facts::{Facts, Place};

pub use working::{PATIENCE, waiting};

/// Something that the status line or the working line tells.
#[derive(Clone, Debug, PartialEq)]
pub enum StatusEvent {
    /// Another session: what was used and paid is counted anew.
    Session,
    /// Who is asked from here on.
    Model {
        /// Its name for people.
        label: String,
        /// Tokens that fit.
        window: Option<u64>,
    },
    /// Who is asked from the next message on, if that is another one.
    NextModel(Option<String>),
    /// How much it is to reason; `None` leaves it to the provider.
    Effort(Option<Effort>),
    /// What is allowed, in a word.
    Grant(&'static str),
    /// Whether it only plans.
    Plan(bool),
    /// Where it works.
    Place {
        /// The folder, as people read it: `~/src/calc`.
        cwd: String,
        /// The branch, or what stands for it.
        branch: Option<String>,
    },
    /// A request is on its way.
    TurnStarted(Context),
    /// An answer is there.
    TurnFinished {
        /// What it took.
        usage: Usage,
        /// In US dollars; `None` where the price is unknown.
        cost: Option<f64>,
    },
    /// A sub-agent got an answer, at this price in US dollars; `None` where it is unknown.
    Paid(Option<f64>),
    /// So many messages wait for the end of the task.
    Queue(usize),
    /// So many jobs run.
    Jobs(usize),
    /// The mode of a modal editor, in a word.
    Editing(Option<&'static str>),
    /// What goes on.
    Phase(Phase),
}

/// What goes on. Times are on the clock of the task, from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// The model has been asked and is silent.
    Waiting,
    /// It answers.
    Streaming,
    /// Tools run.
    Running,
    /// It will be asked again.
    Retrying {
        /// When.
        at: Duration,
    },
    /// The task has been told to end.
    Stopping,
    /// A person is asked.
    Asking,
}

/// What was paid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Cost {
    /// Nothing yet.
    #[default]
    None,
    /// US dollars.
    Known(f64),
    /// Some of it nobody knows, and therefore not the sum either.
    Unknown,
}

/// What the two lines tell.
pub struct Status {
    graph: Graph<StatusEvent>,
    phase: Store<Phase>,
    tokens: Store<u64>,
    share: Derived<Option<u64>>,
    spent: Derived<Usage>,
    money: Derived<Option<f64>>,
    facts: Derived<Facts>,
    changed: Rc<Flag<bool>>,
}

impl Default for Status {
    fn default() -> Self {
        Self::new()
    }
}

impl Status {
    /// Nothing is known yet, and nothing goes on.
    pub fn new() -> Self {
        let mut graph = Graph::new();
        let sources = Sources::new(&mut graph);
        let Sources {
            model,
            next,
            window,
            effort,
            grant,
            plan,
            place,
            tokens,
            usage,
            cost,
            queue,
            jobs,
            editing,
            phase,
        } = &sources;
        let share = graph.derived("share", (tokens, window), |(tokens, window)| percent(*tokens, *window));
        let spent = graph.derived("spent", (usage,), |(usage,)| *usage);
        let money = graph.derived("money", (cost,), |(cost,)| match cost {
            Cost::Known(dollars) => Some(*dollars),
            Cost::None | Cost::Unknown => None,
        });
        let model = graph.derived("models", (model, next), |(model, next)| match next {
            Some(next) => format!("{model}, then {next}"),
            None => model.clone(),
        });
        let who =
            graph.derived("who", (editing, grant, plan, &model, effort), |(editing, grant, plan, model, effort)| {
                facts::who(*editing, grant, *plan, model, *effort)
            });
        let used =
            graph.derived("used", (tokens, window, &share, &money, &spent), |(tokens, window, share, money, spent)| {
                facts::used(*tokens, *window, *share, *money, spent)
            });
        let beside = graph.derived("beside", (jobs, queue), |(jobs, queue)| facts::beside(*jobs, *queue));
        let facts = graph.derived("facts", (&who, &used, &beside, place), |(who, used, beside, place)| {
            Facts::new([who, used, beside], place.clone())
        });
        let changed = Rc::new(Flag::new(true));
        let seen = Rc::clone(&changed);
        graph.watch("lines", (&facts, phase), move |_, _| seen.set(true));
        Self { graph, phase: sources.phase, tokens: sources.tokens, share, spent, money, facts, changed }
    }

    /// Something has happened.
    pub fn emit(&mut self, event: StatusEvent) {
        // Only watchers that send could go on for ever, and there is none.
        let _ = self.graph.emit(event);
    }

    /// An event of the running task, as far as it is told here. `elapsed` is the time since the task began.
    pub fn hear(&mut self, event: &Event, elapsed: Duration) {
        let told = match event {
            Event::TurnStarted { label, context, .. } => vec![
                StatusEvent::Model { label: label.clone(), window: context.window },
                StatusEvent::TurnStarted(*context),
                StatusEvent::Phase(Phase::Waiting),
            ],
            Event::Text(_) | Event::Reasoning(_) => vec![StatusEvent::Phase(Phase::Streaming)],
            Event::ToolStarted { .. } => vec![StatusEvent::Phase(Phase::Running)],
            Event::TurnFinished { usage, cost, .. } => vec![StatusEvent::TurnFinished { usage: *usage, cost: *cost }],
            Event::Notice(notice) if notice.code == NoticeCode::Retry => {
                vec![StatusEvent::Phase(Phase::Retrying { at: elapsed })]
            }
            Event::ToolProgress { .. }
            | Event::ToolFinished { .. }
            | Event::Steered { .. }
            | Event::Question { .. }
            | Event::Within(..)
            | Event::Notice(_)
            | Event::Failed { .. } => return,
        };
        let _ = self.graph.emit_all(told);
    }

    /// Whether what is shown has changed since this was asked last.
    pub fn take_changed(&self) -> bool {
        self.changed.replace(false)
    }

    /// What goes on.
    pub fn phase(&self) -> Phase {
        *self.graph.get(&self.phase)
    }

    /// How much the context holds, in tokens, as far as it is known.
    pub fn tokens(&self) -> u64 {
        *self.graph.get(&self.tokens)
    }

    /// How full the window is, in per cent; `None` where that is not known.
    pub fn share(&self) -> Option<u64> {
        *self.graph.get(&self.share)
    }

    /// What the session has taken.
    pub fn spent(&self) -> Usage {
        *self.graph.get(&self.spent)
    }

    /// What it has cost, in US dollars; `None` where nothing was paid yet, or a price is unknown.
    pub fn money(&self) -> Option<f64> {
        *self.graph.get(&self.money)
    }

    /// The status line: one row, no wider than the screen.
    pub fn line(&self, look: &Look) -> Line<'static> {
        self.graph.get(&self.facts).line(look)
    }

    /// The working line, while something goes on. `elapsed` is the time since the task began.
    /// `also`: what else a person can do.
    pub fn working(&self, look: &Look, elapsed: Duration, also: Option<&str>) -> Option<Line<'static>> {
        working::line(look, self.phase(), elapsed, also)
    }

    /// How long the working line stays as it is; `None` until something happens. Nothing needs a timer then.
    pub fn stays(&self, elapsed: Duration) -> Option<Duration> {
        working::stays(self.phase(), elapsed)
    }
}

/// What events change.
struct Sources {
    model: Store<String>,
    next: Store<Option<String>>,
    window: Store<Option<u64>>,
    effort: Store<Option<Effort>>,
    grant: Store<&'static str>,
    plan: Store<bool>,
    place: Store<Option<Place>>,
    tokens: Store<u64>,
    usage: Store<Usage>,
    cost: Store<Cost>,
    queue: Store<usize>,
    jobs: Store<usize>,
    editing: Store<Option<&'static str>>,
    phase: Store<Phase>,
}

/// A store that one kind of event sets.
macro_rules! told {
    ($graph:expr, $name:literal, $initial:expr, $event:pat => $value:expr) => {
        $graph.store($name, $initial, |held, event| if let $event = event { set(held, $value) } else { false })
    };
}

impl Sources {
    fn new(graph: &mut Graph<StatusEvent>) -> Self {
        use StatusEvent as On;
        Self {
            model: told!(graph, "model", String::new(), On::Model { label, .. } => facts::short_model(&plain(label))),
            next: told!(graph, "next", None, On::NextModel(next) => {
                next.as_deref().map(|label| facts::short_model(&plain(label)))
            }),
            window: told!(graph, "window", None, On::Model { window, .. } => *window),
            effort: told!(graph, "effort", None, On::Effort(effort) => *effort),
            grant: told!(graph, "grant", "", On::Grant(word) => word),
            plan: told!(graph, "plan", false, On::Plan(plan) => *plan),
            place: told!(graph, "place", None, On::Place { cwd, branch } => {
                Some(Place { cwd: plain(cwd), branch: branch.as_deref().map(plain).filter(|name| !name.is_empty()) })
            }),
            tokens: graph.store("tokens", 0, |held, event| {
                if let On::TurnStarted(context) = event {
                    set(held, context.tokens)
                } else if let On::TurnFinished { usage, .. } = event {
                    // A server that counts nothing does not empty the window.
                    usage.context() > 0 && set(held, usage.context())
                } else {
                    *event == On::Session && set(held, 0)
                }
            }),
            usage: graph.store("usage", Usage::default(), |held, event| {
                if let On::TurnFinished { usage, .. } = event {
                    *held += *usage;
                    *usage != Usage::default()
                } else {
                    *event == On::Session && set(held, Usage::default())
                }
            }),
            cost: graph.store("cost", Cost::None, |held, event| {
                if let On::TurnFinished { cost, .. } | On::Paid(cost) = event {
                    set(held, held.and(*cost))
                } else {
                    *event == On::Session && set(held, Cost::None)
                }
            }),
            queue: told!(graph, "queue", 0, On::Queue(count) => *count),
            jobs: told!(graph, "jobs", 0, On::Jobs(count) => *count),
            editing: told!(graph, "editing", None, On::Editing(word) => *word),
            phase: graph.store("phase", Phase::Idle, |held, event| {
                if let On::Phase(phase) = event {
                    (*held != Phase::Stopping || phase.ends()) && set(held, *phase)
                } else {
                    false
                }
            }),
        }
    }
}

impl Phase {
    /// Whether it follows a task that was stopped; what still comes from one that is ending does not make it go on.
    fn ends(self) -> bool {
        match self {
            Self::Idle | Self::Stopping => true,
            Self::Waiting | Self::Streaming | Self::Running | Self::Retrying { .. } | Self::Asking => false,
        }
    }
}

impl Cost {
    fn and(self, more: Option<f64>) -> Self {
        match (self, more) {
            (Self::Unknown, _) | (_, None) => Self::Unknown,
            (Self::None, Some(more)) => Self::Known(more),
            (Self::Known(paid), Some(more)) => Self::Known(paid + more),
        }
    }
}

/// How much of the window is used, in whole per cent, cut.
fn percent(tokens: u64, window: Option<u64>) -> Option<u64> {
    window.filter(|window| *window > 0).map(|window| tokens.saturating_mul(100) / window)
}

/// Text from outside on one line, without what moves a cursor.
fn plain(text: &str) -> String {
    visible::line(text.trim()).replace('\t', " ")
}
