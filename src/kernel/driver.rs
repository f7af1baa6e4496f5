//! Carries out what the node asks for, and tells it what came of it: the only impure file of the kernel.
//!
//! The model's stream, waits and the gate run on the caller's current-thread runtime; each tool call runs on a
//! blocking thread of its own. Nothing is decided here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::base::cancel::Cancel;
use crate::base::json::Object;
use crate::base::panic::caught;
use crate::model::Model;
use crate::model::message::{Message, ToolCall};
use crate::model::reply::Delta;
use crate::model::request::{Options, Request, ToolChoice};

use super::compact::Summons;
use super::effect::{Effect, Outcome};
use super::event::{Event, Notice, NoticeCode};
use super::history::legal;
use super::inbox::Inbox;
use super::input::{Input, Stop};
use super::node::Node;
use super::port::{Gate, Hooks, PendingCall, Sink};
use super::succession::{Chosen, Successor, Successors, Summariser};
use super::tool::{Output, Subject, Tool, ToolContext};
use super::toolbox::Toolbox;

/// How long a stopped call may take to end before it is left to itself; what [`Tool::run`] promises.
const STOPPING: Duration = Duration::from_millis(200);
/// The same for a shell line, which needs 2 s between TERM and KILL, and a moment to sweep.
pub const STOPPING_SHELL: Duration = Duration::from_secs(5);
/// What is said of a stopped call that was left to itself.
pub const LEFT: &str = "interrupted; the call did not end in time and was left to itself";

/// Everything a node needs to act.
pub struct Driver<'a> {
    /// Who is asked; another one, once it has been succeeded.
    pub model: Arc<dyn Model>,
    /// Who goes on where it fails.
    pub successors: &'a mut dyn Successors,
    /// Who summarises.
    pub summariser: &'a mut Summariser,
    /// Who is to answer from the next request on, if somebody chooses meanwhile.
    pub chosen: Chosen,
    /// What can be called.
    pub tools: &'a Toolbox,
    /// Who permits calls.
    pub gate: &'a dyn Gate,
    /// Who may change outputs.
    pub hooks: Arc<dyn Hooks>,
    /// Who keeps and shows what happens.
    pub sink: &'a mut dyn Sink,
    /// The system prompt.
    pub system: Arc<str>,
    /// How answers are to be made.
    pub options: Options,
    /// What is said to the task while it runs.
    pub inbox: Inbox,
    /// Thrown when the task is to end.
    pub cancel: Cancel,
    /// When the task is to end at the latest.
    pub timeout: Option<Duration>,
}

/// What a tool's thread reports.
enum Report {
    Progress { id: String, text: String },
    Told(Event),
    Finished { place: usize, output: Box<Output>, duration: Duration },
}

/// The calls that run at the moment.
struct Running {
    /// Their places in the answer, and how long each may take to end once it is stopped.
    places: BTreeMap<usize, Duration>,
    sender: UnboundedSender<Report>,
    receiver: UnboundedReceiver<Report>,
    cancel: Cancel,
    /// When they were stopped.
    stopped: Option<Instant>,
}

impl Running {
    /// The call that is given up next, and when.
    fn give_up(&self) -> Option<(usize, Instant)> {
        let stopped = self.stopped?;
        let (place, patience) = self.places.iter().min_by_key(|(_, patience)| **patience)?;
        Some((*place, stopped + *patience))
    }
}

impl Driver<'_> {
    /// Gives `node` something to do and runs until the task is over.
    pub async fn run(&mut self, node: &mut Node, message: Message) -> Outcome {
        self.drive(node, Input::Submitted(message)).await
    }

    /// Goes on with the task that `node` has just ended: it was not done.
    pub async fn go_on(&mut self, node: &mut Node, message: Message) -> Outcome {
        self.drive(node, Input::Continued(message)).await
    }

    /// Has the conversation of `node` summarised. `wishes`: what the summary is to heed.
    pub async fn compact(&mut self, node: &mut Node, wishes: Option<String>) -> Outcome {
        self.drive(node, Input::Compact(wishes)).await
    }

    async fn drive(&mut self, node: &mut Node, first: Input) -> Outcome {
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        let (sender, receiver) = unbounded_channel();
        let mut running = Running { places: BTreeMap::new(), sender, receiver, cancel: Cancel::new(), stopped: None };
        let mut inputs = VecDeque::from([first]);
        loop {
            let input = match inputs.pop_front() {
                Some(input) => input,
                None => self.next_report(&mut running, deadline).await,
            };
            for effect in node.step(input) {
                match effect {
                    Effect::Keep(message) => self.sink.message(&message),
                    Effect::KeepResult(result) => self.sink.result(&result),
                    Effect::Refuse(pictures) => self.sink.refused(&pictures),
                    Effect::Prune(kept) => self.sink.pruned(kept),
                    Effect::Fold(folded) => self.sink.folded(&folded),
                    Effect::Summarise(summons) => inputs.push_back(self.summarise(&summons, deadline).await),
                    Effect::Emit(event) => self.sink.event(&event),
                    Effect::NextModel => inputs.push_back(self.next_model(deadline).await),
                    Effect::Ask(choice) => inputs.push_back(self.ask(node, choice, deadline).await),
                    Effect::Wait(wait) => inputs.push_back(self.wait(wait, deadline).await),
                    Effect::Prepare(calls) => inputs.push_back(self.prepare(calls, deadline).await),
                    Effect::Decide(calls) => inputs.push_back(self.decide(&calls, deadline).await),
                    Effect::Run { place, pending } => self.start(place, pending, &mut running),
                    Effect::StopTools => {
                        running.cancel.cancel();
                        running.stopped = Some(Instant::now());
                    }
                    Effect::Finish(outcome) => return outcome,
                }
            }
        }
    }

    async fn ask(&mut self, node: &mut Node, choice: ToolChoice, deadline: Option<Instant>) -> Input {
        self.listen(node);
        let request = Request {
            system: Arc::clone(&self.system),
            messages: legal(node.history()),
            tools: self.tools.offers(),
            tool_choice: choice,
            options: self.options.clone(),
        };
        let (attempt, _link) = self.cancel.child();
        let sink = &mut *self.sink;
        let mut partial = String::new();
        let mut shown = false;
        let mut show = |delta: Delta<'_>| {
            shown = true;
            match delta {
                Delta::Text(text) => {
                    partial.push_str(text);
                    sink.event(&Event::Text(text.to_owned()));
                }
                Delta::Reasoning(text) => sink.event(&Event::Reasoning(text.to_owned())),
            }
        };
        let answer = tokio::select! {
            biased;
            why = stopped(&self.cancel, deadline) => Err(why),
            answer = self.model.reply(&request, &mut show, &attempt) => Ok(answer),
        };
        let dice = fastrand::f64();
        match answer {
            Ok(Ok(reply)) => Input::Replied { reply, shown, dice },
            Ok(Err(error)) => Input::ReplyFailed { error, shown, dice },
            Err(why) => Input::Stopped { why, partial },
        }
    }

    /// Asks for a summary; nobody sees it come.
    async fn summarise(&mut self, summons: &Summons, deadline: Option<Instant>) -> Input {
        let asked = async {
            let (attempt, _link) = self.cancel.child();
            loop {
                let model = self.summariser.model(&self.model, self.sink).await;
                let info = model.info().clone();
                let request = summons.request(info.window, info.max_output);
                let result = model.reply(&request, &mut |_| {}, &attempt).await;
                match &result {
                    // The model in use takes over from one that is there for summaries alone.
                    Err(error) if self.summariser.give_up() => {
                        let text = format!("{} does not summarise: {}", info.label, error.message);
                        self.sink.event(&Event::Notice(Notice::new(NoticeCode::Fallback, text)));
                    }
                    Ok(_) | Err(_) => return Input::Summarised { info, result, dice: fastrand::f64() },
                }
            }
        };
        tokio::select! {
            biased;
            why = stopped(&self.cancel, deadline) => Input::Stopped { why, partial: String::new() },
            summarised = asked => summarised,
        }
    }

    /// Gives the node what was said and chosen meanwhile, so that the next request goes by it.
    fn listen(&mut self, node: &mut Node) {
        let letters = self.inbox.drain();
        let heard = (!letters.is_empty()).then_some(Input::Heard(letters));
        let changed = self.chosen.take().map(|model| {
            self.change(model);
            Input::ModelChanged(self.model.info().clone())
        });
        for effect in heard.into_iter().chain(changed).flat_map(|input| node.step(input)) {
            match effect {
                Effect::Keep(message) => self.sink.message(&message),
                Effect::Emit(event) => self.sink.event(&event),
                // Hearing something asks for nothing else.
                Effect::KeepResult(_)
                | Effect::Refuse(_)
                | Effect::Prune(_)
                | Effect::Fold(_)
                | Effect::Summarise(_)
                | Effect::NextModel
                | Effect::Ask(_)
                | Effect::Wait(_)
                | Effect::Prepare(_)
                | Effect::Decide(_)
                | Effect::Run { .. }
                | Effect::StopTools
                | Effect::Finish(_) => {}
            }
        }
    }

    fn change(&mut self, model: Arc<dyn Model>) {
        self.sink.model(model.info());
        self.model = model;
    }

    /// Looks for the next model in line that can be asked.
    async fn next_model(&mut self, deadline: Option<Instant>) -> Input {
        let mut passed_over = Vec::new();
        loop {
            let next = tokio::select! {
                biased;
                why = stopped(&self.cancel, deadline) => return Input::Stopped { why, partial: String::new() },
                next = self.successors.next() => next,
            };
            match next {
                Some(Ok(Successor { model, notices })) => {
                    let info = Some(model.info().clone());
                    self.change(model);
                    return Input::NextModel { info, passed_over, notices };
                }
                Some(Err(why)) => passed_over.push(why),
                None => return Input::NextModel { info: None, passed_over, notices: Vec::new() },
            }
        }
    }

    /// Checks calls on a thread of its own: what a call would touch is looked up on disks that may not answer.
    async fn prepare(&self, calls: Vec<ToolCall>, deadline: Option<Instant>) -> Input {
        let tools = self.tools.clone();
        let checks = tokio::task::spawn_blocking(move || {
            let check = |call| {
                let checked = caught(|| tools.prepare(call));
                checked.unwrap_or_else(|defect| Err(format!("the tool failed with an internal error: {defect}")))
            };
            calls.iter().map(check).collect()
        });
        tokio::select! {
            biased;
            checked = checks => Input::Prepared(checked.unwrap_or_default()),
            why = stopped(&self.cancel, deadline) => Input::Stopped { why, partial: String::new() },
        }
    }

    async fn wait(&self, wait: Duration, deadline: Option<Instant>) -> Input {
        tokio::select! {
            why = stopped(&self.cancel, deadline) => Input::Stopped { why, partial: String::new() },
            () = tokio::time::sleep(wait) => Input::WaitOver,
        }
    }

    async fn decide(&self, calls: &[PendingCall], deadline: Option<Instant>) -> Input {
        tokio::select! {
            biased;
            // First: who is asked lets go of the question when the task is stopped, and that is no verdict.
            why = stopped(&self.cancel, deadline) => Input::Stopped { why, partial: String::new() },
            verdicts = self.gate.decide(calls) => Input::Decided(verdicts),
        }
    }

    fn start(&self, place: usize, pending: PendingCall, running: &mut Running) {
        let patience = match pending.subject {
            // A sub-agent may be running one.
            Subject::Command(_) | Subject::Task(_) => STOPPING_SHELL,
            Subject::Read(_) | Subject::Write(_) | Subject::Url(_) | Subject::Other => STOPPING,
        };
        running.places.insert(place, patience);
        let sender = running.sender.clone();
        let cancel = running.cancel.clone();
        let hooks = Arc::clone(&self.hooks);
        let tool = self.tools.get(&pending.call.name).cloned();
        tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            let output = match tool {
                Some(tool) => guarded(tool.as_ref(), &pending, &cancel, hooks.as_ref(), &sender),
                None => Output::error("the tool is gone"),
            };
            // Nobody listens any more once the task has been given up.
            let output = Box::new(output);
            let _ = sender.send(Report::Finished { place, output, duration: begun.elapsed() });
        });
    }

    /// The next thing a running call reports, progress aside.
    async fn next_report(&mut self, running: &mut Running, deadline: Option<Instant>) -> Input {
        loop {
            let report = if let Some((place, at)) = running.give_up() {
                tokio::select! {
                    report = running.receiver.recv() => report,
                    () = tokio::time::sleep_until(at.into()) => {
                        running.places.remove(&place);
                        let output = Output::error(LEFT);
                        return Input::ToolFinished { place, output, duration_ms: 0 };
                    }
                }
            } else {
                tokio::select! {
                    biased;
                    why = stopped(&self.cancel, deadline) => return Input::Stopped { why, partial: String::new() },
                    report = running.receiver.recv() => report,
                }
            };
            match report {
                Some(Report::Progress { id, text }) => self.sink.event(&Event::ToolProgress { id, text }),
                Some(Report::Told(event)) => self.sink.event(&event),
                Some(Report::Finished { place, output, duration }) if running.places.remove(&place).is_some() => {
                    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
                    return Input::ToolFinished { place, output: *output, duration_ms };
                }
                // A call that was given up; the channel itself stays open, since a sender is held beside it.
                Some(Report::Finished { .. }) | None => {}
            }
        }
    }
}

/// Runs a tool; a panic in it becomes a failed output.
fn guarded(
    tool: &dyn Tool,
    pending: &PendingCall,
    cancel: &Cancel,
    hooks: &dyn Hooks,
    sender: &UnboundedSender<Report>,
) -> Output {
    let id = &pending.call.id;
    let progress = |text: &str| {
        let mut text = text.to_owned();
        hooks.tool_progress(&mut text);
        let _ = sender.send(Report::Progress { id: id.clone(), text });
    };
    let events = |event: Event| {
        let _ = sender.send(Report::Told(event));
    };
    let context = ToolContext { call_id: id, subject: &pending.subject, cancel, progress: &progress, events: &events };
    let none = Object::new();
    let arguments = pending.call.input.object().unwrap_or(&none);
    let run = || {
        hooks.tool_starting(pending);
        let mut output = tool.run(arguments, &context);
        hooks.tool_finished(&pending.call, &mut output);
        output
    };
    caught(run).unwrap_or_else(|defect| {
        Output::error(format!("the tool failed with an internal error: {defect}; try another way"))
    })
}

/// Completes when the task is to end.
async fn stopped(cancel: &Cancel, deadline: Option<Instant>) -> Stop {
    let Some(deadline) = deadline else {
        cancel.cancelled().await;
        return Stop::Cancelled;
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Stop::Cancelled,
        () = tokio::time::sleep_until(deadline.into()) => Stop::TimedOut,
    }
}

#[cfg(test)]
mod tests;
