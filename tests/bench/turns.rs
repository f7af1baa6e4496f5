//! What the loop itself takes: a turn with a tool call, and an answer of many pieces.
//!
//! `make bench B=turns`. In process; nothing is kept or shown.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

mod server;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use serde_json::json;
use viola::base::cancel::Cancel;
use viola::kernel::compact;
use viola::kernel::driver::Driver;
use viola::kernel::effect::{End, Outcome};
use viola::kernel::event::Event;
use viola::kernel::inbox::Inbox;
use viola::kernel::node::{Node, Settings};
use viola::kernel::port::{Gate, Hooks, PendingCall, Sink, Verdict, Verdicts};
use viola::kernel::retry::Policy;
use viola::kernel::succession::{Chosen, Nobody, Summariser};
use viola::kernel::tool::Output;
use viola::kernel::toolbox::Toolbox;
use viola::model::http::{Endpoint, HttpOptions, connect};
use viola::model::message::{AssistantPart, Message, Origin, ToolCall, ToolInput, ToolResult};
use viola::model::provider::compat::Compat;
use viola::model::replay::Replay;
use viola::model::reply::{Reply, StopReason};
use viola::model::request::Options;
use viola::model::usage::Usage;
use viola::model::{Api, Model, ModelInfo};
use viola::product::tool::read::{self, ReadFile};
use viola::product::tool::seen::Seen;
use viola::product::tool::workspace::Workspace;

/// Pieces of the long answer; a model's longest answers have about as many.
const DELTAS: usize = 20_000;
/// Lines of the file that is read.
const LINES: usize = 1_000;

fn main() {
    divan::main();
}

/// Two answers with a call of `read_file` between them, from the submission to the end.
#[divan::bench]
fn tool_turn(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.rs"), "    let value = handler(request).await?;\n".repeat(LINES)).unwrap();
    let tools = tools(folder.path());
    let replies = [
        reply(AssistantPart::ToolUse(ToolCall {
            id: "c".into(),
            name: "read_file".into(),
            input: ToolInput::Object(json!({"path": "f.rs"}).as_object().unwrap().clone()),
        })),
        reply(AssistantPart::Text("done".into())),
    ];
    bencher.with_inputs(|| Arc::new(Replay::new(info(), replies.to_vec()))).bench_local_refs(|model| {
        let mut watch = Watch::default();
        run(Arc::<Replay>::clone(model), &tools, &mut watch);
        assert!(watch.results == 1);
    });
}

/// An answer that comes over loopback in many events: HTTP, frames, JSON, the loop.
#[divan::bench]
fn deltas(bencher: Bencher<'_, '_>) {
    let answer = [server::deltas(DELTAS).as_slice(), server::end()].concat();
    let base_url = server::start(move |stream| stream.write_all(&answer).unwrap());
    let endpoint = Endpoint {
        info: info(),
        api: Api::OpenaiCompletions,
        base_url,
        key: None,
        headers: Vec::new(),
        compat: Compat::default(),
    };
    let model = connect(endpoint, &HttpOptions::default()).unwrap();
    bencher.counter(ItemsCount::new(DELTAS)).bench_local(|| {
        let mut watch = Watch::default();
        run(Arc::clone(&model), &Toolbox::new(Vec::new()), &mut watch);
        assert_eq!(watch.bytes, "word ".len() * DELTAS);
    });
}

/// Gives a task to an agent that knows nothing yet.
fn run(model: Arc<dyn Model>, tools: &Toolbox, watch: &mut Watch) {
    let retry = Policy { max_retries: 0, cap: Duration::from_secs(1) };
    let compaction = compact::Settings {
        auto: true,
        reserve_tokens: 16_384,
        keep_tokens: 20_000,
        system: "Summarise.".into(),
        plan_tool: None,
    };
    let settings = Settings {
        max_turns: None,
        last_words: false,
        max_cost: None,
        retry,
        loop_detection: true,
        overhead_tokens: 0,
        compaction,
    };
    let mut node = Node::new(settings, model.info().clone(), Vec::new());
    let mut driver = Driver {
        model,
        successors: &mut Nobody,
        summariser: &mut Summariser::default(),
        chosen: Chosen::default(),
        tools,
        gate: &AllowAll,
        hooks: Arc::new(NoHooks),
        sink: watch,
        system: "You are measured.".into(),
        options: Options::default(),
        inbox: Inbox::default(),
        cancel: Cancel::new(),
        timeout: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Outcome { end, .. } = runtime.block_on(driver.run(&mut node, Message::user("go")));
    assert!(matches!(end, End::Answered), "{end:?}");
}

/// Counts what it hears.
#[derive(Default)]
struct Watch {
    results: usize,
    bytes: usize,
}

impl Sink for Watch {
    fn message(&mut self, _: &Arc<Message>) {}

    fn result(&mut self, _: &ToolResult) {
        self.results += 1;
    }

    fn pruned(&mut self, _: usize) {}

    fn folded(&mut self, _: &compact::Folded) {}

    fn refused(&mut self, _: &[String]) {}

    fn model(&mut self, _: &ModelInfo) {}

    fn event(&mut self, event: &Event) {
        if let Event::Text(text) = event {
            self.bytes += text.len();
        }
    }
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

fn tools(folder: &Path) -> Toolbox {
    let workspace = Arc::new(Workspace::new(folder.to_owned(), None, &[]).unwrap());
    Toolbox::new(vec![Arc::new(ReadFile::new(workspace, Arc::new(Seen::new()), read::LIMITS))])
}

fn reply(part: AssistantPart) -> Reply {
    let stop = if matches!(part, AssistantPart::ToolUse(_)) { StopReason::ToolUse } else { StopReason::Stop };
    Reply { content: vec![part], stop, usage: Usage::default(), written: false }
}

fn info() -> ModelInfo {
    ModelInfo {
        origin: Arc::new(Origin { provider: "bench".into(), model: "m".into() }),
        label: "m".into(),
        window: None,
        max_output: None,
        price: None,
        reasoning: false,
        images: false,
    }
}
