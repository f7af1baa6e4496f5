//! A chat for tests: a state, a clock that is told, messages in, and what came of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::base::json::Object;
use crate::front::repl::editor::Editing;
use crate::front::repl::editor::draft::Draft;
use crate::front::repl::key::keymap::{Enter, Keymap};
use crate::front::repl::key::{Code, Input, Key};
use crate::front::repl::message::{Answering, Arrival, Cmd, Finished, Msg, News, Opened, Order, Place, Reply};
use crate::front::repl::state::frame::view;
use crate::front::repl::state::{Palette, Start, State, Switches};
use crate::front::repl::update::update;
use crate::front::repl::view::notice::Banner;
use crate::front::repl::view::testing::{look, object, picture};
use crate::front::repl::view::theme::Depth;
use crate::kernel::effect::{End, Outcome};
use crate::kernel::event::{Context, Event, Risk, Worker};
use crate::kernel::inbox::Inbox;
use crate::kernel::port::PendingCall;
use crate::kernel::succession::Chosen;
use crate::kernel::tool::{Limits, Subject};
use crate::model::message::{Message, Origin, ToolCall, ToolInput};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use crate::model::{Api, ModelInfo};
use crate::product::permission::Writable;
use crate::product::permission::{Answer, Authority, Judge, Question, Rights, Scope};
use crate::product::provider::Choice;
use crate::product::provider::key::RunKeys;
use crate::product::session::spent::Tally;
use crate::product::tool::ask::Inquiry;
use crate::product::tool::workspace::Workspace;

/// A chat whose time is told, and everything it has finished so far.
pub struct Chat {
    pub state: State,
    pub now: Duration,
    pub printed: Vec<ratatui::text::Line<'static>>,
    answers: Vec<oneshot::Receiver<Answer>>,
    words: Vec<oneshot::Receiver<String>>,
}

impl Chat {
    /// A chat without a session yet.
    pub fn unopened(width: usize, rows: usize) -> Self {
        let palette = Palette {
            name: "ansi".to_owned(),
            names: vec!["ansi".to_owned(), "dark".to_owned()],
            depth: Depth::Ansi,
            background: None,
            colour: true,
        };
        let banner = Banner {
            version: "0.1".to_owned(),
            model: String::new(),
            folder: "~/src/calc".to_owned(),
            branch: Some("main".to_owned()),
        };
        let state = State::new(Start {
            look: look(width),
            rows,
            palette,
            keymap: Keymap::new(Enter::Submits, &Object::new()).unwrap(),
            editing: Editing::Emacs,
            banner,
            switches: Switches { reasoning: true, focused: None, performance: None, planning: false, live: true },
        });
        // Long after the start, so that nothing is "just before".
        Self { state, now: Duration::from_secs(10), printed: Vec::new(), answers: Vec::new(), words: Vec::new() }
    }

    /// A chat whose session is open.
    pub fn new(width: usize, rows: usize) -> Self {
        let mut chat = Self::unopened(width, rows);
        chat.open(Vec::new(), Authority::Unasked);
        chat
    }

    pub fn open(&mut self, messages: Vec<Arc<Message>>, authority: Authority) -> Vec<Cmd> {
        self.msg(Msg::News(opened(messages, authority)))
    }

    pub fn msg(&mut self, msg: Msg) -> Vec<Cmd> {
        let cmds = update(&mut self.state, self.now, msg);
        self.printed.extend(self.state.take_finished().into_iter().flatten());
        cmds
    }

    /// Lets time pass.
    pub fn later(&mut self, milliseconds: u64) -> Vec<Cmd> {
        self.now += Duration::from_millis(milliseconds);
        self.msg(Msg::Tick)
    }

    pub fn key(&mut self, code: Code) -> Vec<Cmd> {
        self.press(Key::plain(code))
    }

    pub fn ctrl(&mut self, letter: char) -> Vec<Cmd> {
        self.press(Key::ctrl(letter))
    }

    pub fn press(&mut self, key: Key) -> Vec<Cmd> {
        self.msg(Msg::Input(Input::Key(key)))
    }

    /// Types a text, a key a letter.
    pub fn typed(&mut self, text: &str) -> Vec<Cmd> {
        text.chars().flat_map(|letter| self.key(Code::Char(letter))).collect()
    }

    /// Types a text and presses Enter.
    pub fn line(&mut self, text: &str) -> Vec<Cmd> {
        self.typed(text);
        self.key(Code::Enter)
    }

    pub fn paste(&mut self, text: &str) -> Vec<Cmd> {
        self.msg(Msg::Input(Input::Paste(text.to_owned())))
    }

    pub fn event(&mut self, event: Event) -> Vec<Cmd> {
        self.msg(Msg::News(News::Event(event)))
    }

    pub fn says(&mut self, text: &str) -> Vec<Cmd> {
        self.event(Event::Text(text.to_owned()))
    }

    pub fn starts(&mut self, id: &str, name: &str, arguments: Value) -> Vec<Cmd> {
        let arguments = object(arguments);
        self.event(Event::ToolStarted { id: id.to_owned(), name: name.to_owned(), arguments, risk: Risk::Safe })
    }

    pub fn ends(&mut self, id: &str, name: &str, output: &str) -> Vec<Cmd> {
        self.event(Event::ToolFinished {
            id: id.to_owned(),
            name: name.to_owned(),
            ok: true,
            output: output.to_owned(),
            duration_ms: 100,
            truncated: false,
            full_output: None,
            change: None,
        })
    }

    /// The task is over.
    pub fn over(&mut self, end: End) -> Vec<Cmd> {
        let outcome =
            Outcome { text: String::new(), turns: 1, end, usage: Usage::default(), cost: None, denied: Vec::new() };
        self.msg(Msg::News(News::Finished(Box::new(Finished {
            outcome,
            duration: Duration::from_secs(3),
            context: None,
        }))))
    }

    /// Asks about a command.
    pub fn asks(&mut self, scope: Scope, command: &str) -> Vec<Cmd> {
        let (reply, answer) = oneshot::channel();
        self.answers.push(answer);
        let question = Question { scope, calls: vec![pending(command)], worker: None };
        let cmds = self.msg(Msg::News(News::Asked { question, reply: Reply::Verdict(reply) }));
        self.state.painted();
        cmds
    }

    /// A tool asks.
    pub fn inquires(&mut self, id: &str, question: &str, options: &[&str]) -> Vec<Cmd> {
        let (reply, answer) = oneshot::channel();
        self.words.push(answer);
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let inquiry = Inquiry { id: id.to_owned(), question: question.to_owned(), options };
        let cmds = self.msg(Msg::News(News::Inquired { inquiry, reply: Reply::Words(reply) }));
        self.state.painted();
        cmds
    }

    /// Something happens to a worker.
    pub fn within(&mut self, worker: &Worker, event: Event) -> Vec<Cmd> {
        self.event(Event::Within(worker.clone(), Box::new(event)))
    }

    /// A worker is answered.
    pub fn answered(&mut self, worker: &Worker, stop: StopReason, cost: Option<f64>) -> Vec<Cmd> {
        let usage = Usage { input: 1000, ..Usage::default() };
        self.within(worker, Event::TurnFinished { turn: 0, stop, usage, cost })
    }

    /// A worker's model is asked.
    pub fn asks_within(&mut self, worker: &Worker) -> Vec<Cmd> {
        let origin = Arc::new(Origin { provider: "anthropic".to_owned(), model: "haiku".to_owned() });
        let context = Context { tokens: 90_000, window: Some(100_000) };
        self.within(worker, Event::TurnStarted { turn: 0, origin, label: "haiku".to_owned(), context })
    }

    /// What the screen shows, behind a bar that stands for the left edge.
    pub fn shows(&self) -> String {
        picture(&view(&self.state).rows)
    }

    /// What is finished, and then what the screen shows.
    pub fn all(&self) -> String {
        format!("{}\n{}\n{}", picture(&self.printed), "-".repeat(self.state.look.width), self.shows())
    }

    pub fn draft(&self) -> String {
        self.state.editor.draft().text()
    }
}

/// A session that is open.
pub fn opened(messages: Vec<Arc<Message>>, authority: Authority) -> News {
    let root = PathBuf::from("/src/calc");
    let judge = Judge {
        allow: Vec::new(),
        remembered: Vec::new(),
        ask: Vec::new(),
        deny: Vec::new(),
        authority,
        writable: Writable::anywhere(root.clone()),
        is_planning: false,
    };
    News::Opened(Box::new(Opened {
        arrival: Arrival::Opened,
        id: "0123".to_owned(),
        kept: true,
        messages,
        spent: Tally::default(),
        context: Context { tokens: 0, window: None },
        notices: Vec::new(),
        info: info(),
        effort: None,
        rights: Arc::new(Rights::new(judge)),
        inbox: Inbox::default(),
        workspace: Arc::new(Workspace::new(root, None, &[]).unwrap()),
        answering: Answering { start: Arc::new(choice()), chosen: Chosen::default(), mask: Default::default() },
        jobs: Default::default(),
    }))
}

/// Who answers at the beginning.
fn choice() -> Choice {
    Choice {
        provider: "anthropic".to_owned(),
        model: "sonnet".to_owned(),
        api: Api::AnthropicMessages,
        base_url: String::new(),
        headers: Vec::new(),
        compat: Object::new(),
        key: None,
        info: info(),
        local: false,
        own: false,
        served: None,
        fallbacks: Vec::new(),
        pace: None,
        run_keys: RunKeys::No,
        notices: Vec::new(),
    }
}

fn info() -> ModelInfo {
    ModelInfo {
        origin: Arc::new(Origin { provider: "anthropic".to_owned(), model: "sonnet".to_owned() }),
        label: "sonnet-4-5".to_owned(),
        window: Some(200_000),
        max_output: None,
        price: None,
        reasoning: true,
        images: false,
    }
}

/// A command that waits for permission.
pub fn pending(command: &str) -> PendingCall {
    let input = ToolInput::Object(object(json!({"command": command})));
    PendingCall {
        call: ToolCall { id: "c1".to_owned(), name: "execute_bash".to_owned(), input },
        risk: Risk::Dangerous,
        subject: Subject::Command(command.to_owned()),
        limits: Limits { chars: 1000, lines: 100 },
    }
}

/// A place: where it is, what is said anew, what is left behind.
fn placed(place: &Place) -> String {
    let Place { target, again, left, is_elsewhere } = place;
    format!("{target:?} again {again:?} left {left} elsewhere {is_elsewhere}")
}

/// The commands in one word each, those that only keep or look for something left out.
pub fn words(cmds: &[Cmd]) -> Vec<String> {
    let said = |draft: &Draft| draft.text().replace('\n', "|");
    let word = |cmd: &Cmd| {
        Some(match cmd {
            Cmd::Order(Order::Say { draft, .. }) => format!("say {}", said(draft)),
            Cmd::Order(Order::Compact { wishes, .. }) => format!("compact {wishes:?}"),
            Cmd::Order(Order::Shell { line, share, .. }) => format!("shell {line} {share}"),
            Cmd::Order(Order::Open(session)) => format!("open {session:?}"),
            Cmd::Order(Order::Model(spec)) => format!("model {spec}"),
            Cmd::Order(Order::Chosen(choice)) => format!("chosen {}", choice.model),
            Cmd::Change(spec) => format!("change {spec}"),
            Cmd::Order(Order::Effort(effort)) => format!("effort {effort:?}"),
            Cmd::Order(Order::Tell(what)) | Cmd::Tell(what) => format!("tell {what:?}"),
            Cmd::Steer { id, draft } => format!("steer {id} {}", said(draft)),
            Cmd::TakeBack(id) => format!("take back {id}"),
            Cmd::Answer(_, answer) => format!("answer {answer:?}"),
            Cmd::Grant(grant) => format!("grant {grant:?}"),
            Cmd::KeepDraft(draft) => format!("keep {:?}", said(draft)),
            Cmd::Look(text) => format!("look {text}"),
            Cmd::Paste(asked) => format!("paste {asked:?}"),
            Cmd::Announce(text) => format!("announce {text}"),
            Cmd::Edit(text) => format!("edit {text}"),
            Cmd::Theme(name) => format!("theme {name}"),
            Cmd::Copy(text) => format!("copy {text}"),
            Cmd::Leave(code) => format!("leave {code}"),
            Cmd::AskEach => "ask each".to_owned(),
            Cmd::Suspend => "suspend".to_owned(),
            Cmd::Redraw => "redraw".to_owned(),
            Cmd::ListModels => "list models".to_owned(),
            Cmd::AddUp(id) => format!("add up {id:?}"),
            Cmd::ListSessions(reach) => format!("list sessions {reach:?}"),
            Cmd::Preview(id) => format!("preview {id}"),
            Cmd::Rename { id, name, reach } => format!("rename {id} {name} {reach:?}"),
            Cmd::Remove { id, reach } => format!("remove {id} {reach:?}"),
            Cmd::Order(Order::Outline(wanted)) => format!("outline {wanted:?}"),
            Cmd::Order(Order::Go(place)) => format!("go {}", placed(place)),
            Cmd::Order(Order::Fork(place)) => format!("fork {}", place.as_ref().map(placed).unwrap_or_default()),
            Cmd::Order(Order::Name(name)) => format!("name {name:?}"),
            Cmd::Order(Order::Label { target, label }) => format!("label {target:?} {label}"),
            Cmd::Order(Order::PlanUndo(what, direction)) => format!("plan {what:?} {direction:?}"),
            Cmd::Order(Order::CarryOut(plan)) => format!("carry out {:?}", plan.direction),
            Cmd::Order(Order::Export(file)) => format!("export {file:?}"),
            Cmd::Order(Order::Invoke { name, arguments, .. }) => format!("invoke {name} {arguments}"),
            Cmd::Order(Order::Chain { name, task, .. }) => format!("chain {name} {task}"),
            Cmd::Order(Order::Plan(on)) => format!("plan only {on}"),
            Cmd::EditMemory(scope) => format!("edit memory {scope:?}"),
            Cmd::Note { scope, text } => format!("note {scope:?} {text}"),
            Cmd::Background => "background".to_owned(),
            Cmd::ListJobs => "list jobs".to_owned(),
            Cmd::StopJob(id) => format!("stop job {id}"),
            Cmd::ListHelpers(id) => format!("list helpers {id}"),
            Cmd::Remember(_) | Cmd::Find { .. } | Cmd::FindNothing | Cmd::Found(_) | Cmd::ListOffers => return None,
        })
    };
    cmds.iter().filter_map(word).collect()
}
