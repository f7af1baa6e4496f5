//! The driver with a scripted model and tools that wait for each other.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one kind of event among many")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

use serde_json::json;

use super::*;
use crate::kernel::compact::tests::settings as compaction;
use crate::kernel::effect::End;
use crate::kernel::event::{Notice, NoticeCode};
use crate::kernel::inbox::Letter;
use crate::kernel::node::Settings;
use crate::kernel::port::{Verdict, Verdicts};
use crate::kernel::retry::Policy;
use crate::kernel::succession::{Next, Nobody, Successor, Summariser};
use crate::kernel::tool::{Limits, Risk, Subject, ToolSpec};
use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::{AssistantPart, Origin, Part, ToolCall, ToolInput, ToolResult};
use crate::model::reply::{Reply, StopReason};
use crate::model::{ModelInfo, ReplyFuture};

/// Answers from a list; an empty list never answers.
struct Scripted {
    info: ModelInfo,
    replies: Mutex<VecDeque<Reply>>,
}

impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn reply<'a>(&'a self, _: &'a Request, deltas: &'a mut dyn FnMut(Delta<'_>), _: &'a Cancel) -> ReplyFuture<'a> {
        let next = self.replies.lock().unwrap().pop_front();
        Box::pin(async move {
            deltas(Delta::Text("some "));
            match next {
                Some(reply) => Ok(reply),
                None => std::future::pending().await,
            }
        })
    }
}

/// A tool made of a function.
struct Function<F> {
    spec: ToolSpec,
    subject: Subject,
    run: F,
}

impl<F: Fn(&ToolContext<'_>) -> Output + Send + Sync> Tool for Function<F> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, _: &Object) -> Result<Subject, String> {
        Ok(self.subject.clone())
    }

    fn run(&self, _: &Object, context: &ToolContext<'_>) -> Output {
        (self.run)(context)
    }
}

fn tool(run: impl Fn(&ToolContext<'_>) -> Output + Send + Sync + 'static) -> Toolbox {
    tool_of(Subject::Command("x".into()), run)
}

fn tool_of(subject: Subject, run: impl Fn(&ToolContext<'_>) -> Output + Send + Sync + 'static) -> Toolbox {
    let spec = ToolSpec {
        name: "tool",
        description: "",
        parameters: json!({"type": "object"}),
        risk: Risk::Safe,
        limits: Limits { chars: 1_000, lines: 100 },
    };
    Toolbox::new(vec![Arc::new(Function { spec, subject, run })])
}

struct AllowAll;

impl Gate for AllowAll {
    fn decide<'a>(&'a self, calls: &'a [PendingCall]) -> Verdicts<'a> {
        Box::pin(async move { vec![Verdict::Allow; calls.len()] })
    }
}

struct NoHooks;

impl Hooks for NoHooks {
    fn tool_progress(&self, _: &mut String) {}

    fn tool_finished(&self, _: &ToolCall, _: &mut Output) {}
}

#[derive(Default)]
struct Kept {
    results: Vec<ToolResult>,
    events: Vec<Event>,
    models: Vec<String>,
}

impl Sink for Kept {
    fn message(&mut self, _: &Arc<Message>) {}

    fn result(&mut self, result: &ToolResult) {
        self.results.push(result.clone());
    }

    fn pruned(&mut self, _: usize) {}

    fn folded(&mut self, _: &crate::kernel::compact::Folded) {}

    fn refused(&mut self, _: &[String]) {}

    fn model(&mut self, info: &ModelInfo) {
        self.models.push(info.label.clone());
    }

    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
    }
}

fn calls(count: usize) -> Reply {
    let call = |place| {
        let input = ToolInput::Object(Object::new());
        AssistantPart::ToolUse(ToolCall { id: format!("c{place}"), name: "tool".into(), input })
    };
    Reply {
        content: (0..count).map(call).collect(),
        stop: StopReason::ToolUse,
        usage: Default::default(),
        written: false,
    }
}

fn words(text: &str) -> Reply {
    Reply {
        content: vec![AssistantPart::Text(text.into())],
        stop: StopReason::Stop,
        usage: Default::default(),
        written: false,
    }
}

async fn run(replies: Vec<Reply>, tools: &Toolbox, cancel: Cancel, timeout: Option<Duration>) -> (Outcome, Kept, Node) {
    run_hooked(replies, tools, cancel, timeout, Arc::new(NoHooks)).await
}

async fn run_hooked(
    replies: Vec<Reply>,
    tools: &Toolbox,
    cancel: Cancel,
    timeout: Option<Duration>,
    hooks: Arc<dyn Hooks>,
) -> (Outcome, Kept, Node) {
    run_all(replies, tools, cancel, timeout, hooks, Inbox::default()).await
}

fn info() -> ModelInfo {
    ModelInfo {
        origin: Arc::new(Origin { provider: "p".into(), model: "m".into() }),
        label: "m".into(),
        window: None,
        max_output: None,
        price: None,
        reasoning: false,
        images: false,
    }
}

/// No limits, no second attempts.
fn settings() -> Settings {
    Settings {
        last_words: false,
        max_turns: None,
        max_cost: None,
        retry: Policy { max_retries: 0, cap: Duration::from_secs(1) },
        loop_detection: true,
        overhead_tokens: 0,
        compaction: compaction(),
    }
}

async fn run_all(
    replies: Vec<Reply>,
    tools: &Toolbox,
    cancel: Cancel,
    timeout: Option<Duration>,
    hooks: Arc<dyn Hooks>,
    inbox: Inbox,
) -> (Outcome, Kept, Node) {
    let info = info();
    let model = Arc::new(Scripted { info: info.clone(), replies: Mutex::new(replies.into()) });
    let mut node = Node::new(settings(), info, Vec::new());
    let mut kept = Kept::default();
    let mut driver = Driver {
        model,
        successors: &mut Nobody,
        summariser: &mut Summariser::default(),
        chosen: Chosen::default(),
        tools,
        gate: &AllowAll,
        hooks,
        sink: &mut kept,
        system: "".into(),
        options: Options::default(),
        inbox,
        cancel,
        timeout,
    };
    let outcome = driver.run(&mut node, Message::user("go")).await;
    (outcome, kept, node)
}

#[tokio::test]
async fn calls_overlap_and_results_keep_the_order_of_calls() {
    let barrier = Arc::new(Barrier::new(4));
    // Would wait for ever if the calls did not run at the same time.
    let tools = tool(move |context| {
        barrier.wait();
        Output::ok(context.call_id)
    });
    let (outcome, kept, node) = run(vec![calls(4), words("done")], &tools, Cancel::new(), None).await;
    assert_eq!((outcome.text.as_str(), outcome.end), ("done", End::Answered));
    assert_eq!(kept.results.len(), 4);
    let Message::Tool(results) = &*node.history()[2] else { panic!("no results") };
    for (place, result) in results.iter().enumerate() {
        assert_eq!(result.content, [Part::Text(format!("c{place}"))]);
    }
}

#[tokio::test]
async fn a_panic_in_a_tool_is_a_result() {
    let tools = tool(|_| panic!("oh"));
    let (outcome, kept, _) = run(vec![calls(1), words("done")], &tools, Cancel::new(), None).await;
    assert_eq!(outcome.end, End::Answered);
    assert!(kept.results[0].is_error);
}

/// Fails where it must not.
struct Broken;

impl Hooks for Broken {
    fn tool_progress(&self, _: &mut String) {}

    fn tool_finished(&self, _: &ToolCall, _: &mut Output) {
        panic!("a defect");
    }
}

#[tokio::test]
async fn a_panic_in_a_hook_is_a_result_too() {
    let (outcome, kept, _) =
        run_hooked(vec![calls(1), words("done")], &tool(|_| Output::ok("")), Cancel::new(), None, Arc::new(Broken))
            .await;
    assert_eq!(outcome.end, End::Answered);
    assert!(kept.results[0].is_error && format!("{:?}", kept.results[0].content).contains("a defect"));
}

#[tokio::test]
async fn a_question_that_was_let_go_of_because_somebody_stopped_is_no_verdict() {
    let model = Arc::new(Scripted { info: info(), replies: Mutex::default() });
    let cancel = Cancel::new();
    cancel.cancel();
    let driver = Driver {
        model,
        successors: &mut Nobody,
        summariser: &mut Summariser::default(),
        chosen: Chosen::default(),
        tools: &tool(|_| Output::ok("")),
        gate: &AllowAll,
        hooks: Arc::new(NoHooks),
        sink: &mut Kept::default(),
        system: "".into(),
        options: Options::default(),
        inbox: Inbox::default(),
        cancel,
        timeout: None,
    };
    assert!(matches!(driver.decide(&[], None).await, Input::Stopped { why: Stop::Cancelled, .. }));
}

#[tokio::test]
async fn cancelling_ends_tools_at_once_and_answers_every_call() {
    let cancel = Cancel::new();
    let thrower = cancel.clone();
    let begun = AtomicUsize::new(0);
    let tools = tool(move |context| {
        if begun.fetch_add(1, Ordering::SeqCst) == 1 {
            thrower.cancel();
        }
        while !context.cancel.is_cancelled() {
            std::thread::yield_now();
        }
        Output::error("partial output")
    });
    let started = Instant::now();
    let (outcome, kept, node) = run(vec![calls(2)], &tools, cancel, None).await;
    assert_eq!(outcome.end, End::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(kept.results.len(), 2);
    assert!(kept.results.iter().all(|result| format!("{:?}", result.content).contains("interrupted")));
    assert!(matches!(&*node.history()[2], Message::Tool(results) if results.len() == 2));
}

#[tokio::test]
async fn a_stuck_call_that_is_no_shell_is_left_to_itself_at_once() {
    for subject in [Subject::Read(Vec::new()), Subject::Write(Vec::new()), Subject::Other] {
        let cancel = Cancel::new();
        let thrower = cancel.clone();
        let (release, stuck) = std::sync::mpsc::channel::<()>();
        let stuck = Mutex::new(stuck);
        let tools = tool_of(subject, move |_| {
            thrower.cancel();
            // As long as the test runs.
            let _ = stuck.lock().unwrap().recv();
            Output::ok("too late")
        });
        let started = Instant::now();
        let (outcome, kept, _) = run(vec![calls(1)], &tools, cancel, None).await;
        assert_eq!(outcome.end, End::Cancelled);
        assert!((STOPPING..STOPPING_SHELL / 2).contains(&started.elapsed()), "{:?}", started.elapsed());
        assert!(format!("{:?}", kept.results[0].content).contains("left to itself"));
        drop(release);
    }
}

#[tokio::test]
async fn a_shell_line_has_time_to_end() {
    let cancel = Cancel::new();
    let thrower = cancel.clone();
    let tools = tool(move |_| {
        thrower.cancel();
        // The time a shell needs for its own ending.
        std::thread::sleep(STOPPING * 2);
        Output::error("swept")
    });
    let (_, kept, _) = run(vec![calls(1)], &tools, cancel, None).await;
    assert!(format!("{:?}", kept.results[0].content).contains("swept"));
}

#[tokio::test]
async fn a_silent_model_ends_with_the_time_limit_and_its_words_are_kept() {
    let tools = tool(|_| Output::ok(""));
    let (outcome, _, node) = run(vec![], &tools, Cancel::new(), Some(Duration::from_millis(30))).await;
    assert_eq!(outcome.end, End::TimedOut);
    assert!(matches!(&*node.history()[1], Message::Assistant(answer) if answer.text() == "some "));
}

#[tokio::test]
async fn progress_is_shown_before_the_result() {
    let tools = tool(|context| {
        (context.progress)("half way");
        Output::ok("there")
    });
    let (_, kept, _) = run(vec![calls(1), words("done")], &tools, Cancel::new(), None).await;
    let place = |wanted: fn(&Event) -> bool| kept.events.iter().position(wanted).expect("the event");
    let progress = place(|event| matches!(event, Event::ToolProgress { text, .. } if text == "half way"));
    assert!(progress < place(|event| matches!(event, Event::ToolFinished { .. })));
}

#[tokio::test]
async fn what_is_said_while_calls_run_is_part_of_the_next_request_and_shown_once() {
    let inbox = Inbox::default();
    let say = inbox.clone();
    let tools = tool(move |_| {
        say.put(Letter { id: 1, said: vec![Part::Text("file".into()), Part::Text("and also this".into())] });
        Output::ok("")
    });
    let replies = vec![calls(1), words("done")];
    let (_, kept, node) = run_all(replies, &tools, Cancel::new(), None, Arc::new(NoHooks), inbox.clone()).await;
    let roles: Vec<_> = node.history().iter().map(|message| std::mem::discriminant(&**message)).collect();
    let (user, answer) = (std::mem::discriminant(&Message::user("")), roles[1]);
    assert_eq!([roles[0], roles[3], roles[4]], [user, user, answer], "between the results and the answer");
    let steered = |event: &&Event| matches!(event, Event::Steered { id: 1, text } if text == "and also this");
    assert_eq!(kept.events.iter().filter(steered).count(), 1);
    assert!(inbox.drain().is_empty());
}

/// Fails each time, as a server does that is down.
struct Down(ModelInfo);

impl Model for Down {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    fn reply<'a>(&'a self, _: &'a Request, _: &'a mut dyn FnMut(Delta<'_>), _: &'a Cancel) -> ReplyFuture<'a> {
        Box::pin(async { Err(ModelError::new(ErrorKind::Overload, "busy")) })
    }
}

/// Models, or why there is none, in line.
struct InLine(VecDeque<Result<Successor, String>>);

impl Successors for InLine {
    fn next(&mut self) -> Next<'_> {
        let next = self.0.pop_front();
        Box::pin(async move { next })
    }
}

fn named(label: &str) -> ModelInfo {
    ModelInfo { label: label.into(), origin: Arc::new(Origin { provider: "p".into(), model: label.into() }), ..info() }
}

fn answering(label: &str, replies: Vec<Reply>) -> Arc<dyn Model> {
    Arc::new(Scripted { info: named(label), replies: Mutex::new(replies.into()) })
}

/// Runs a task with these models, the first of which answers first; returns who answered at the end as well.
async fn run_line(model: Arc<dyn Model>, mut line: InLine, chosen: Chosen, tools: &Toolbox) -> (Outcome, Kept, String) {
    let mut node = Node::new(settings(), model.info().clone(), Vec::new());
    let mut kept = Kept::default();
    let mut driver = Driver {
        model,
        successors: &mut line,
        summariser: &mut Summariser::default(),
        chosen,
        tools,
        gate: &AllowAll,
        hooks: Arc::new(NoHooks),
        sink: &mut kept,
        system: "".into(),
        options: Options::default(),
        inbox: Inbox::default(),
        cancel: Cancel::new(),
        timeout: None,
    };
    let outcome = driver.run(&mut node, Message::user("go")).await;
    let last = driver.model.info().label.clone();
    (outcome, kept, last)
}

fn notices(kept: &Kept) -> Vec<String> {
    let texts = kept.events.iter().filter_map(|event| match event {
        Event::Notice(notice) => Some(format!("{}: {}", notice.code.as_str(), notice.text)),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn the_next_in_line_goes_on_where_one_is_down() {
    let small = Notice::new(NoticeCode::Config, "b is small");
    let line = [
        Err("q/a cannot go on: no key".into()),
        Ok(Successor { model: Arc::new(Down(named("b"))), notices: vec![small] }),
        Ok(Successor { model: answering("c", vec![words("here")]), notices: Vec::new() }),
    ];
    let tools = Toolbox::new(Vec::new());
    let (outcome, kept, last) =
        run_line(Arc::new(Down(named("a"))), InLine(line.into()), Chosen::default(), &tools).await;
    assert_eq!((outcome.text.as_str(), outcome.end, outcome.turns), ("here", End::Answered, 1));
    assert_eq!((kept.models.clone(), last.as_str()), (vec!["b".to_owned(), "c".to_owned()], "c"));
    let expected = [
        "fallback: q/a cannot go on: no key",
        "fallback: p/a failed, p/b goes on: overloaded: busy",
        "config: b is small",
        "fallback: p/b failed, p/c goes on: overloaded: busy",
    ];
    assert_eq!(notices(&kept), expected);

    let (outcome, kept, _) =
        run_line(Arc::new(Down(named("a"))), InLine([Err("none".into())].into()), Chosen::default(), &tools).await;
    assert!(matches!(outcome.end, End::Failed(error) if error.kind == ErrorKind::Overload));
    assert_eq!(notices(&kept), ["fallback: none"]);
}

#[tokio::test]
async fn a_model_chosen_meanwhile_answers_the_next_request() {
    let chosen = Chosen::default();
    let box_of_the_tool = chosen.clone();
    let tools = tool(move |_| {
        box_of_the_tool.put(answering("b", vec![words("from b")]));
        Output::ok("done")
    });
    let first = answering("a", vec![calls(1)]);
    let (outcome, kept, last) = run_line(first, InLine(VecDeque::new()), chosen, &tools).await;
    assert_eq!((outcome.text.as_str(), last.as_str(), kept.models), ("from b", "b", vec!["b".to_owned()]));
    let announced = kept.events.iter().filter_map(|event| match event {
        Event::TurnStarted { turn, label, .. } => Some((*turn, label.as_str())),
        _ => None,
    });
    assert_eq!(announced.collect::<Vec<_>>(), [(0, "a"), (1, "a"), (1, "b")]);
}
