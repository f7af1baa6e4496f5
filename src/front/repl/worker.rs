//! The agent's thread: carries out orders one after the other and tells what comes of them.
//!
//! Owns the agent and its runtime. It never touches the terminal, and nobody waits for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::json::Object;
use crate::base::panic::caught;
use crate::front::term::mailbox::Sender;
use crate::kernel::driver::{LEFT, STOPPING_SHELL};
use crate::kernel::event::{Context, Event, Notice, NoticeCode};
use crate::kernel::tool::{Output, Risk, Subject, ToolContext};
use crate::kernel::truncate::fit;
use crate::model::ModelInfo;
use crate::model::message::{Part, ToolCall, ToolInput};
use crate::model::replay::Pace;
use crate::model::request::Effort;
use crate::product::agent::Agent;
use crate::product::agent::attach::unseen;
use crate::product::app::{self, Assembled, Parts, Which};
use crate::product::config::{Flags, Loaded};
use crate::product::error::Error;
use crate::product::job::Jobs;
use crate::product::journal::Journal;
use crate::product::provider::Choice;
use crate::product::provider::choose::choose;
use crate::product::session::spent;
use crate::product::session::store::{Selector, Store};
use crate::product::tool::bash;

use super::editor::draft::Draft;
use super::link;
use super::message::{Answering, Arrival, Finished, Msg, News, Opened, Order, Reply, Session};
use super::models;
use super::pictures::{self, Said};
use super::report;
use super::view::transcript::OWN_COMMAND;
use telling::{tell, tell_event};
use titles::Titles;

/// What an agent is made of, again for each session.
pub struct Setup {
    /// The settings.
    pub loaded: Loaded,
    /// What the command line says.
    pub flags: Flags,
    /// The surroundings.
    pub env: Env,
    /// The time.
    pub clock: Clock,
    /// Which session comes first.
    pub session: Which,
    /// Pictures that go with the first message, each behind a line that names it.
    pub pictures: Vec<Part>,
    /// Thrown when the program ends.
    pub cancel: Cancel,
    /// How fast a record answers.
    pub pace: Option<Pace>,
    /// What is noted for later.
    pub journal: Journal,
    /// Until which check succeeds the first message is worked on.
    pub until: Option<String>,
    /// Whether it begins with planning only.
    pub plan: bool,
    /// What runs in the background, whichever session is open; the chat's end ends it.
    pub jobs: Jobs,
}

/// Runs until nobody gives orders any more.
pub fn run(setup: &Setup, mut orders: UnboundedReceiver<Order>, news: &Sender<Msg>) {
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let error = Error::failed("the runtime cannot start").caused_by(error);
            tell(news, News::NotOpened(error));
            return;
        }
    };
    let pictures = setup.pictures.clone();
    let mut worker = Worker {
        setup,
        news,
        runtime,
        desk: None,
        pictures,
        effort: None,
        start: None,
        chosen: None,
        titles: Titles::default(),
        until: setup.until.clone(),
        planning: setup.plan,
    };
    if let Err(defect) = caught(|| worker.open(setup.session.clone())) {
        worker.tell(News::NotOpened(internal(&defect)));
    }
    while let Some(order) = worker.next(&mut orders) {
        worker.carry_out(order);
    }
    worker.finish();
    // A thread that is stuck in a tool must not hold the exit.
    worker.runtime.shutdown_timeout(Duration::ZERO);
}

struct Worker<'a> {
    setup: &'a Setup,
    news: &'a Sender<Msg>,
    runtime: Runtime,
    desk: Option<Desk>,
    /// What goes with the next message, whichever session it is said in.
    pictures: Vec<Part>,
    /// How hard the model is to think, once the person has said so.
    effort: Option<Effort>,
    /// Who was to answer at the beginning: keys that came with the command belong to that provider.
    start: Option<Arc<Choice>>,
    /// Who answers, once the person has said so.
    chosen: Option<Choice>,
    titles: Titles,
    /// Until which check succeeds the next message is worked on.
    until: Option<String>,
    /// Whether it only plans.
    planning: bool,
}

/// An open session.
struct Desk {
    assembled: Assembled,
    /// What the person's own commands came to; the next message begins with it.
    shared: Vec<Part>,
    /// Commands of the person's own so far.
    commands: u64,
}

impl Worker<'_> {
    fn tell(&self, news: News) {
        tell(self.news, news);
    }

    fn open(&mut self, which: Which) {
        self.open_as(which, Arrival::Opened);
    }

    fn open_as(&mut self, which: Which, arrival: Arrival) {
        match self.assembled(which) {
            Ok(mut assembled) => {
                if self.desk.is_none() {
                    // What the settings had to say, once.
                    let told = self.setup.loaded.notices.iter().cloned();
                    assembled.notices = told.chain(std::mem::take(&mut assembled.notices)).collect();
                    assembled.notices.extend(going_along(&self.pictures));
                }
                if self.effort.is_some() {
                    assembled.agent.options.effort = self.effort;
                }
                self.finish();
                self.desk = Some(Desk { assembled, shared: Vec::new(), commands: 0 });
                self.opened(arrival);
            }
            Err(error) => self.tell(News::NotOpened(error)),
        }
    }

    /// Goes on in a stored session, unless that would end in a copy of the open one, or in writing what is not to be kept.
    fn resume(&mut self, selector: Selector) {
        let Setup { loaded, env, clock, session, .. } = self.setup;
        if *session == Which::Unkept {
            let why =
                "sessions are not kept here, and a stored one would be written to; start again without --no-session";
            return self.tell(News::NotOpened(Error::usage(why)));
        }
        let file = self.desk.as_ref().and_then(|desk| desk.assembled.agent.session.path());
        if file.is_some_and(|file| Store::new(&loaded.paths.data_dir, *clock).is(&selector, &env.cwd, file)) {
            self.tell(News::Told("This session is open already.".to_owned()));
            // Messages wait for a session.
            return self.tell(News::Ran);
        }
        self.open(Which::Open(selector));
    }

    fn assembled(&mut self, session: Which) -> Result<Assembled, Error> {
        let Setup { loaded, env, clock, cancel, journal, jobs, .. } = self.setup;
        let choice = match &self.chosen {
            Some(chosen) => chosen.clone(),
            None => Choice { pace: self.setup.pace, ..choose(loaded, env, cancel)? },
        };
        self.start.get_or_insert_with(|| Arc::new(choice.clone()));
        let news = self.news.clone();
        let ask = move |question, answer| tell(&news, News::Asked { question, reply: Reply::Verdict(answer) });
        let news = self.news.clone();
        let inquire = move |inquiry, answer| tell(&news, News::Inquired { inquiry, reply: Reply::Words(answer) });
        let (journal, jobs, mode) = (journal.clone(), jobs.clone(), link::mode(self.planning));
        let parts = Parts { loaded, choice, env, clock: *clock, session, journal, mode, jobs };
        app::watched(parts, Arc::new(ask), Some(Arc::new(inquire)))
    }

    fn opened(&mut self, arrival: Arrival) {
        let Some(desk) = &mut self.desk else { return };
        let jobs = link::jobs(&desk.assembled);
        let Assembled { agent, notices, rights, workspace, .. } = &mut desk.assembled;
        let (Some(rights), Some(start)) = (rights.clone(), self.start.clone()) else { return };
        let opened = Opened {
            id: agent.session.id().to_owned(),
            kept: agent.session.is_kept(),
            messages: agent.node.history().to_vec(),
            // Each answer had its own price.
            spent: agent.session.path().map(|path| spent::of(path).total()).unwrap_or_default(),
            context: context(agent),
            // After a chain all of that has been told before.
            notices: Some(std::mem::take(notices)).filter(|_| arrival != Arrival::Written).unwrap_or_default(),
            arrival,
            info: agent.model.info().clone(),
            effort: agent.options.effort,
            rights,
            inbox: agent.inbox.clone(),
            workspace: Arc::clone(workspace),
            answering: Answering { start, chosen: agent.chosen.clone(), mask: agent.redactor.mask() },
            jobs,
        };
        self.tell(News::Opened(Box::new(opened)));
    }

    /// A grant that came after the last message is kept, too.
    fn finish(&mut self) {
        let Some(Desk { assembled: Assembled { agent, rights: Some(rights), .. }, .. }) = &mut self.desk else {
            return;
        };
        if agent.session.path().is_some()
            && let Some(decision) = rights.take_unsaved()
            && let Err(error) = agent.session.append_grant(decision)
        {
            tell(self.news, News::Refused(error));
        }
    }

    fn carry_out(&mut self, order: Order) {
        let is_work = is_work(&order);
        let opens = matches!(&order, Order::Open(_) | Order::Go(_) | Order::Fork(_))
            || matches!(&order, Order::CarryOut(plan) if plan.chat.is_some());
        let done = caught(|| match order {
            Order::Say { draft, cancel } => self.say(&draft, &cancel),
            Order::Invoke { name, arguments, cancel } => self.invoke(&name, &arguments, &cancel),
            Order::Chain { name, task, cancel } => self.chain(&name, &task, &cancel),
            Order::Plan(on) => self.plan_only(on),
            Order::Compact { wishes, cancel } => self.compact(wishes, &cancel),
            Order::Shell { line, share, cancel } => self.shell(line, share, &cancel),
            Order::Open(Session::New) if self.setup.session == Which::Unkept => self.open(Which::Unkept),
            Order::Open(Session::New) => self.open(Which::New),
            Order::Open(Session::Stored(selector)) => self.resume(selector),
            Order::Model(spec) => match self.switch(&spec) {
                Ok((info, notices)) => self.tell(News::Switched { info, notices }),
                Err(error) => self.tell(News::NotSwitched(error)),
            },
            Order::Chosen(choice) => {
                if let Some(desk) = &self.desk {
                    desk.assembled.crew.set_choice(Choice::clone(&choice));
                }
                self.chosen = Some(*choice);
            }
            Order::Effort(effort) => {
                self.effort = Some(effort);
                if let Some(desk) = &mut self.desk {
                    desk.assembled.agent.options.effort = Some(effort);
                }
            }
            Order::Tell(what) => match self.desk.as_ref().and_then(|desk| report::of_session(&what, &desk.assembled)) {
                Some(text) => self.tell(News::Told(text)),
                None => self.tell(News::Refused(no_session())),
            },
            Order::Outline(wanted) => self.outline(wanted),
            Order::Go(place) => self.or_not(opens, |worker| worker.go(&place)),
            Order::Fork(place) => self.or_not(opens, |worker| worker.fork(place.as_ref())),
            Order::Name(name) => self.or_not(opens, |worker| worker.name(name)),
            Order::Label { target, label } => self.or_not(opens, |worker| worker.label(target, label)),
            Order::PlanUndo(what, direction) => self.or_not(opens, |worker| worker.plan(what, direction)),
            Order::CarryOut(plan) => self.or_not(opens, |worker| worker.apply(*plan)),
            Order::Export(file) => self.or_not(opens, |worker| worker.export(file.as_deref())),
        });
        if let Err(defect) = done {
            let error = internal(&defect);
            self.tell(if opens { News::NotOpened(error) } else { News::Refused(error) });
            if is_work {
                self.tell(News::Ran);
            }
        }
    }

    /// Does something, or tells why it was not done; `opens`: somebody waits for a session that is opened by it.
    fn or_not(&mut self, opens: bool, act: impl FnOnce(&mut Self) -> Result<(), Error>) {
        if let Err(error) = act(self) {
            self.tell(if opens { News::NotOpened(error) } else { News::Refused(error) });
        }
    }

    /// Lets another model answer. What was said stays, and so does how hard it is to think.
    fn switch(&mut self, spec: &str) -> Result<(ModelInfo, Vec<Notice>), Error> {
        let Setup { loaded, env, .. } = self.setup;
        let (Some(desk), Some(start)) = (&mut self.desk, &self.start) else { return Err(no_session()) };
        let agent = &mut desk.assembled.agent;
        let choice = models::choice(self.setup, spec, &agent.model.info().origin, start)?;
        // One that a task did not come to take is no more wanted.
        drop(agent.chosen.take());
        let notices = match app::switch(agent, &choice, loaded, env) {
            Ok(notices) => notices,
            // It answers all the same; only the file does not know.
            Err(error) if agent.model.info().origin == choice.info.origin => {
                vec![Notice::new(NoticeCode::Session, error.to_string())]
            }
            Err(error) => return Err(error),
        };
        let info = choice.info.clone();
        desk.assembled.crew.set_choice(choice.clone());
        self.chosen = Some(choice);
        Ok((info, notices))
    }

    fn say(&mut self, draft: &Draft, cancel: &Cancel) {
        let Some(desk) = &mut self.desk else {
            self.tell(News::Refused(no_session()));
            return self.tell(News::Ran);
        };
        let Assembled { agent, workspace, .. } = &mut desk.assembled;
        let news = self.news;
        let Said { files, words, problems } = pictures::said(draft, workspace);
        for problem in problems {
            tell(news, News::Event(Event::Notice(Notice::new(NoticeCode::Config, problem))));
        }
        let mut said = std::mem::take(&mut self.pictures);
        said.extend(files);
        // Of what is in the draft this was told when it came there.
        if let Some(text) = unseen(&said, agent.model.info()) {
            tell(news, News::Event(Event::Notice(Notice::new(NoticeCode::Fallback, text))));
        }
        said.append(&mut desk.shared);
        match link::unfolded(words, self.setup) {
            Ok(mut words) => said.append(&mut words),
            Err(error) => return self.not_begun(error),
        }
        if said.is_empty() {
            self.tell(News::Refused(Error::failed("nothing is left to send")));
            return self.tell(News::Ran);
        }
        self.give(said, cancel);
    }

    /// Has the beginning of the conversation summarised.
    fn compact(&mut self, wishes: Option<String>, cancel: &Cancel) {
        let Some(desk) = &mut self.desk else {
            self.tell(News::Refused(no_session()));
            return self.tell(News::Ran);
        };
        let agent = &mut desk.assembled.agent;
        let news = self.news;
        let mut watch = |event: &Event| tell_event(news, event);
        let finished = self.runtime.block_on(agent.compact(wishes, cancel, &mut watch));
        let context = context(agent);
        let duration = Duration::from_millis(finished.duration_ms);
        self.tell(News::Finished(Box::new(Finished { outcome: finished.outcome, duration, context: Some(context) })));
    }

    /// Runs a line as the model's own would run, but unasked: it is the person's.
    fn shell(&mut self, line: String, share: bool, cancel: &Cancel) {
        let Some(desk) = &mut self.desk else {
            self.tell(News::Refused(no_session()));
            return self.tell(News::Ran);
        };
        desk.commands += 1;
        let call = own_call(desk.commands, &line);
        let Assembled { agent, shell, .. } = &desk.assembled;
        let arguments = call.input.object().cloned().unwrap_or_default();
        let (id, name) = (call.id.clone(), call.name.clone());
        let started = Event::ToolStarted { id: id.clone(), name, arguments, risk: Risk::Dangerous };
        tell(self.news, News::Event(started));
        let begun = Instant::now();
        let running = self.runtime.spawn_blocking({
            let (shell, hooks, news) = (Arc::clone(shell), Arc::clone(&agent.hooks), self.news.clone());
            let (call, cancel) = (call.clone(), cancel.clone());
            move || {
                let progress = |text: &str| {
                    let mut text = text.to_owned();
                    hooks.tool_progress(&mut text);
                    tell_event(&news, &Event::ToolProgress { id: call.id.clone(), text });
                };
                let subject = Subject::Command(line);
                let events = |_| {};
                let context = ToolContext {
                    call_id: &call.id,
                    subject: &subject,
                    cancel: &cancel,
                    progress: &progress,
                    events: &events,
                };
                let mut output = shell.run(call.input.object().unwrap_or(&Object::new()), &context);
                hooks.tool_finished(&call, &mut output);
                output
            }
        });
        let output = self.runtime.block_on(ended(running, cancel, STOPPING_SHELL));
        let fitted = fit(&output, shell.spec().limits);
        if share {
            let line = call.input.object().and_then(|input| input.get("command")?.as_str()).unwrap_or_default();
            let text = format!("{OWN_COMMAND}{line}\n\n{}", fitted.text);
            desk.shared.push(Part::Text(text));
        }
        self.tell(News::Event(Event::ToolFinished {
            id,
            name: call.name,
            ok: !output.is_error,
            output: fitted.text,
            duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            truncated: fitted.truncated,
            full_output: output.full_output.clone(),
            change: None,
        }));
        self.tell(News::Ran);
    }
}

/// Waits for a command; one that was stopped has so much `patience` to end, and is left to itself then.
async fn ended(running: JoinHandle<Output>, cancel: &Cancel, patience: Duration) -> Output {
    let too_late = async {
        cancel.cancelled().await;
        tokio::time::sleep(patience).await;
    };
    tokio::select! {
        biased;
        output = running => output.unwrap_or_else(|_| Output::error("the command broke")),
        () = too_late => Output::error(LEFT),
    }
}

/// Whether somebody waits for the end of it.
fn is_work(order: &Order) -> bool {
    match order {
        Order::Say { .. }
        | Order::Invoke { .. }
        | Order::Chain { .. }
        | Order::Compact { .. }
        | Order::Shell { .. } => true,
        Order::Plan(_)
        | Order::Open(_)
        | Order::Model(_)
        | Order::Chosen(_)
        | Order::Effort(_)
        | Order::Tell(_)
        | Order::Outline(_)
        | Order::Go(_)
        | Order::Fork(_)
        | Order::Name(_)
        | Order::Label { .. }
        | Order::PlanUndo(..)
        | Order::CarryOut(_)
        | Order::Export(_) => false,
    }
}

/// What the next request will hold.
fn context(agent: &Agent) -> Context {
    Context { tokens: agent.node.context_tokens(), window: agent.model.info().window }
}

fn internal(defect: &str) -> Error {
    Error::failed(format!("internal error: {defect}"))
}

/// What is told about pictures that were given on the command line.
fn going_along(pictures: &[Part]) -> Option<Notice> {
    let text = match pictures.iter().filter(|part| matches!(part, Part::Image(_))).count() {
        0 => return None,
        1 => "One picture goes with the first message.".to_owned(),
        several => format!("{several} pictures go with the first message."),
    };
    Some(Notice::new(NoticeCode::Config, text))
}

fn no_session() -> Error {
    Error::failed("no session is open")
}

/// A shell line of the person's own, in the form of a call.
fn own_call(number: u64, line: &str) -> ToolCall {
    let mut input = Object::new();
    input.insert("command".to_owned(), line.into());
    ToolCall { id: format!("!{number}"), name: bash::NAME.to_owned(), input: ToolInput::Object(input) }
}

mod knowledge;
mod place;
mod telling;
#[cfg(test)]
mod tests;
mod titles;
