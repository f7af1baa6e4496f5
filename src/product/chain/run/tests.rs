//! Whole chains over somebody who only pretends to work: order, overlap, ends, limits, and what the session keeps.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::kernel::effect::DeniedCall;
use crate::kernel::event::Worker;
use crate::model::usage::Usage;
use crate::product::app::{self, Parts, Which};
use crate::product::chain::parse::parse;
use crate::product::chain::past::resume;
use crate::product::config::{self, Flag, Flags, Loaded};
use crate::product::journal::Journal;
use crate::product::provider::choose::choose;
use crate::product::session::store::{Selector, Store};

/// A home and a project; the model is never asked.
struct World {
    folder: TempDir,
    env: Env,
    loaded: Loaded,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["config", "data", "work"] {
            std::fs::create_dir(top.join(name)).unwrap();
        }
        let header = json!({"type": "session", "version": 1, "id": "r", "created_at": 0, "cwd": "/", "provider": "p", "model": "m"});
        let said = json!({"type": "message", "id": 1, "parent_id": null, "role": "assistant", "content": [{"type": "text", "text": "x"}]});
        std::fs::write(top.join("record.jsonl"), format!("{header}\n{said}\n")).unwrap();
        let var = |name: &str, folder: &str| (name.into(), top.join(folder).into());
        let vars = [var("VIOLA_CONFIG_DIR", "config"), var("VIOLA_DATA_DIR", "data")];
        let env = Env { vars: vars.into(), cwd: top.join("work"), home: None };
        let flag = |option, key, value: String| Flag { option, key, value: Value::String(value) };
        let record = top.join("record.jsonl").display().to_string();
        let values = vec![flag("--provider", "provider", "replay".into()), flag("--model", "model", record)];
        let loaded = config::load(&env, &Flags { values, ..Flags::default() }).unwrap();
        Self { folder, env, loaded }
    }

    fn agent(&self, session: Which) -> Agent {
        let choice = choose(&self.loaded, &self.env, &Cancel::new()).unwrap();
        let (env, clock, journal) = (&self.env, Clock::System, Journal::default());
        let jobs = crate::product::job::Jobs::new(&self.loaded.paths.data_dir, clock);
        app::headless(Parts {
            loaded: &self.loaded,
            choice,
            env,
            clock,
            session,
            journal,
            mode: app::plan::Mode::Work,
            jobs,
        })
        .unwrap()
        .agent
    }

    fn store(&self) -> Store {
        Store::new(&self.folder.path().join("data"), Clock::System)
    }

    /// The texts of the session, each with its role.
    fn said(&self) -> Vec<String> {
        let history = self.store().history(&Selector::Newest, &self.env.cwd).unwrap().unwrap();
        let text = |record: &Value| {
            let parts = record["content"].as_array().unwrap();
            format!("{}: {}", record["role"].as_str().unwrap(), parts.last().unwrap()["text"].as_str().unwrap())
        };
        history.records.iter().map(text).collect()
    }

    fn resume(&self, chain: &Chain, from: &str, session: Option<&Selector>) -> Result<Resumed, String> {
        let resumed = resume(chain, from, session, &self.store(), &self.env.cwd);
        resumed.map_err(|error| error.to_string())
    }
}

fn chain(text: &str) -> Chain {
    parse(text, "tea", &["read_file", "execute_bash", "find_files"]).unwrap()
}

const THREE: &str = "## look\ntools: read_file\nmax_iterations: 2\n\nLook at {task}.\n## say\nmodel: other\n\nSaid: {previous}.\n\
                     ## end\ntools: none\n\nEnd {steps.look} {steps.say}.";

fn done(text: &str) -> Done {
    let usage = Usage { input: 10, output: 2, ..Usage::default() };
    let ledger = Ledger { turns: 2, usage, cost: Some(0.25), denied: Vec::new() };
    Done { text: text.to_owned(), end: End::Answered, ledger, duration_ms: 1_500, transcript: None }
}

fn name_of(order: &Order) -> String {
    match &order.worker {
        Worker::Step(name) => name.clone(),
        Worker::Agent(_) => panic!("a step is none"),
    }
}

/// Runs a chain over `send`; what came of it, and the notices.
fn run_with(
    agent: &mut Agent,
    chain: &Chain,
    resumed: &Resumed,
    max_cost: Option<f64>,
    cancel: &Cancel,
    send: &Send<'_>,
) -> (Ran, Vec<String>) {
    let task = Task { text: "green tea".into(), attached: String::new() };
    let mut notices = Vec::new();
    let mut watch = |event: &Event| {
        if let Event::Notice(notice) = event {
            notices.push(notice.text.clone());
        }
    };
    let ran = run(agent, &Job { chain, task: &task, resumed, max_cost }, send, cancel, &mut watch);
    (ran, notices)
}

fn simply(agent: &mut Agent, chain: &Chain, send: &Send<'_>) -> (Ran, Vec<String>) {
    run_with(agent, chain, &Resumed::default(), None, &Cancel::new(), send)
}

#[test]
fn steps_are_orders_of_their_own_and_the_session_keeps_what_they_came_to() {
    let world = World::new();
    let chain = chain(THREE);
    let orders = Mutex::new(Vec::new());
    let mut agent = world.agent(Which::New);
    let (ran, notices) = simply(&mut agent, &chain, &|order, _, tell| {
        orders.lock().unwrap().push(order.clone());
        tell(Event::Within(order.worker.clone(), Box::new(Event::Text("…".into()))));
        Ok(done(&format!("<{} {{task}}>", name_of(order))))
    });
    let orders = orders.into_inner().unwrap();
    let facts: Vec<_> =
        orders.iter().map(|order| (order.task.as_str(), order.model.as_deref(), order.max_turns)).collect();
    assert_eq!(
        facts,
        [
            ("Look at green tea.", None, Some(2)),
            ("Said: <look {task}>.", Some("other"), None),
            ("End <look {task}> <say {task}>.", None, None),
        ]
    );
    assert_eq!(orders[0].tools.as_deref().unwrap(), ["read_file"]);
    assert_eq!((&orders[1].tools, orders[2].tools.as_deref()), (&None, Some(&[][..])));
    assert!(orders[2].brief.as_ref().unwrap().contains("step `end`"), "{:?}", orders[2].brief);
    let Ran { outcome, failed, .. } = ran;
    assert_eq!((outcome.text.as_str(), outcome.turns, &outcome.end, failed), ("<end {task}>", 6, &End::Answered, None));
    assert_eq!((outcome.usage.input, outcome.cost), (30, Some(0.75)));
    assert_eq!(notices[0], "Step 1 of 3: look.");
    assert_eq!(notices[1], "Step 1 of 3 is done: look (2 turns, 1.5 s).");
    assert_eq!(notices.len(), 6);
    assert_eq!(
        world.said(),
        [
            "user: [chain tea, step look]\n\nLook at green tea.",
            "assistant: <look {task}>",
            "user: [chain tea, step say]\n\nSaid: <look {task}>.",
            "assistant: <say {task}>",
            "user: [chain tea, step end]\n\nEnd <look {task}> <say {task}>.",
            "assistant: <end {task}>",
        ]
    );
    assert_eq!(agent.session.name(), Some("tea: green tea"));
    let looked = world.store().look(&Selector::Newest, &world.env.cwd).unwrap().unwrap();
    let labels: Vec<_> = looked.loaded.labels.values().map(String::as_str).collect();
    let task = "chain tea, task: green tea";
    assert_eq!(labels, [task, "chain tea: look", "chain tea: say", "chain tea: end"]);
    let list = world.store().list(&world.env.cwd);
    assert_eq!(list.infos[0].spent.as_ref().unwrap().total().answers, 0, "they are counted in the transcripts");
}

/// Waits until `count` is `most`, and says whether that came before the deadline.
fn reaches(count: &AtomicUsize, most: usize) -> bool {
    let begun = Instant::now();
    while count.load(SeqCst) < most {
        if begun.elapsed() > Duration::from_secs(5) {
            return false;
        }
        thread::yield_now();
    }
    true
}

#[test]
fn steps_that_only_look_overlap_and_others_do_not() {
    let world = World::new();
    let text = |tools: &str| {
        format!(
            "## a\n\nx\n## b\nparallel: true\ntools: read_file\n\nx\n## c\nparallel: true\ntools: {tools}\n\nx\n## d\n\n{{previous}}"
        )
    };
    let looks = chain(&text("find_files"));
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (ran, _) = simply(&mut world.agent(Which::New), &looks, &|order, _, _| {
        inside.fetch_add(1, SeqCst);
        match name_of(order).as_str() {
            // The later one of the two is done first.
            "b" => assert!(reaches(&inside, 3) && reaches(&most, 1)),
            "c" => assert!(reaches(&inside, 3)),
            _ => {}
        }
        if name_of(order) == "c" {
            most.fetch_add(1, SeqCst);
        }
        Ok(done(&if name_of(order) == "d" { order.task.clone() } else { name_of(order) }))
    });
    assert_eq!((ran.outcome.end, ran.outcome.text.as_str()), (End::Answered, "## b\n\nb\n\n## c\n\nc"));
    let said = world.said();
    assert_eq!((said[3].as_str(), said[5].as_str()), ("assistant: b", "assistant: c"));

    let risky = chain(&text("execute_bash"));
    let running = AtomicUsize::new(0);
    let (ran, notices) = simply(&mut world.agent(Which::New), &risky, &|order, _, _| {
        assert_eq!(running.fetch_add(1, SeqCst), 0, "alone");
        running.fetch_sub(1, SeqCst);
        Ok(done(&name_of(order)))
    });
    assert_eq!(ran.outcome.end, End::Answered);
    let told = "Steps that are marked parallel run one after the other: c has tools that do more than look.";
    assert!(notices.iter().any(|notice| notice == told), "{notices:?}");
}

#[test]
fn a_step_that_fails_stops_the_chain_and_is_named() {
    let refused = || End::Failed(ModelError::new(ErrorKind::Auth, "no key"));
    let cases: [(Result<Done, String>, Option<End>); 7] = [
        (Ok(Done { end: End::MaxTurns, ..done("so far") }), None),
        (Ok(Done { end: End::MaxTurns, ..done(" ") }), None),
        (Ok(Done { end: End::Loop, ..done("going round") }), Some(End::Loop)),
        (Ok(Done { end: refused(), ..done("") }), Some(refused())),
        (Ok(Done { end: End::Cancelled, ..done("") }), Some(End::Cancelled)),
        (Ok(done("\n")), Some(End::Failed(ModelError::new(ErrorKind::Empty, "the answer is empty")))),
        (Err("there is no such model".into()), Some(could_not("there is no such model".into()))),
    ];
    for (second, end) in cases {
        let world = World::new();
        let (ran, notices) =
            simply(&mut world.agent(Which::New), &chain(THREE), &|order, _, _| match name_of(order).as_str() {
                "say" => second.clone(),
                name => Ok(done(name)),
            });
        let Ran { outcome, failed, .. } = ran;
        assert_eq!(outcome.end, end.clone().unwrap_or(End::Answered));
        assert_eq!((failed.as_deref(), world.said().len()), if end.is_some() { (Some("say"), 4) } else { (None, 6) });
        assert_eq!(
            notices.iter().any(|text| text == "Step 2 of 3 stops the chain: say."),
            end.is_some(),
            "{notices:?}"
        );
    }
}

#[test]
fn a_session_says_what_became_of_a_step_that_came_to_nothing() {
    let world = World::new();
    let chain = chain(THREE);
    let (ran, _) = simply(&mut world.agent(Which::New), &chain, &|order, _, _| match name_of(order).as_str() {
        "look" => Ok(Done { end: End::MaxTurns, ..done("") }),
        _ => Ok(Done { end: End::Loop, transcript: Some("/t/x.jsonl".into()), ..done("half") }),
    });
    assert_eq!(ran.outcome.end, End::Loop);
    let said = world.said();
    assert_eq!(said[1], "assistant: (step look gave no answer within 2 model calls)");
    let told = "assistant: half\n\n(step say of the chain tea was not finished: it went round in circles. What it did";
    assert!(said[3].starts_with(told) && said[3].ends_with("transcript: /t/x.jsonl)"), "{said:?}");
    // Another task than that of the answers is told.
    let mut resumed = world.resume(&chain, "say", None).unwrap();
    let (_, notices) =
        run_with(&mut world.agent(Which::Unkept), &chain, &resumed, None, &Cancel::new(), &|_, _, _| Ok(done("x")));
    assert!(!notices.iter().any(|text| text.contains("another task")), "{notices:?}");
    resumed.earlier.as_mut().unwrap().tasks = vec!["black tea".into()];
    let (_, notices) =
        run_with(&mut world.agent(Which::Unkept), &chain, &resumed, None, &Cancel::new(), &|_, _, _| Ok(done("x")));
    assert!(notices.iter().any(|text| text.ends_with("for another task: \"black tea\".")), "{notices:?}");
}

#[test]
fn a_panic_of_a_worker_is_an_end_like_any_other() {
    let world = World::new();
    let (ran, _) = simply(&mut world.agent(Which::New), &chain(THREE), &|_, _, _| panic!("broken"));
    assert!(matches!(&ran.outcome.end, End::Failed(error) if error.message.starts_with("internal error: broken")));
    assert_eq!((ran.failed.as_deref(), ran.outcome.cost), (Some("look"), None));
}

#[test]
fn time_money_and_people_stop_a_chain() {
    let world = World::new();
    let waits = |_: &Order, cancel: &Cancel, _: &(dyn Fn(Event) + Sync)| {
        let begun = Instant::now();
        while !cancel.is_cancelled() && begun.elapsed() < Duration::from_secs(5) {
            thread::yield_now();
        }
        Ok(Done { end: End::Cancelled, ..done("half") })
    };
    let mut agent = world.agent(Which::Unkept);
    agent.timeout = Some(Duration::from_millis(30));
    let (ran, _) = simply(&mut agent, &chain(THREE), &waits);
    assert_eq!(
        (ran.outcome.end, ran.failed.as_deref(), ran.outcome.text.as_str()),
        (End::TimedOut, Some("look"), "half")
    );

    let cancel = Cancel::new();
    let thrower = cancel.clone();
    let throws = move |order: &Order, _: &Cancel, _: &(dyn Fn(Event) + Sync)| {
        thrower.cancel();
        Ok(done(&name_of(order)))
    };
    let (ran, _) =
        run_with(&mut world.agent(Which::Unkept), &chain(THREE), &Resumed::default(), None, &cancel, &throws);
    assert_eq!((ran.outcome.end, ran.failed.as_deref()), (End::Cancelled, Some("say")));

    let simple = |order: &Order, _: &Cancel, _: &(dyn Fn(Event) + Sync)| Ok(done(&name_of(order)));
    let spend = |most| {
        let mut agent = world.agent(Which::Unkept);
        run_with(&mut agent, &chain(THREE), &Resumed::default(), Some(most), &Cancel::new(), &simple).0
    };
    assert_eq!((spend(0.5).outcome.end, spend(0.5).failed.as_deref()), (End::Cost, Some("end")));
    assert_eq!(spend(0.75).outcome.end, End::Answered, "nothing is left to do");
}

#[test]
fn denied_calls_and_unknown_prices_are_summed() {
    let world = World::new();
    let denied = DeniedCall { name: "t".into(), summary: "s".into(), rule: None, nobody_asked: true, agent: None };
    let (ran, _) = simply(&mut world.agent(Which::Unkept), &chain(THREE), &|order, _, _| {
        let mut done = done("x");
        done.ledger.denied.push(denied.clone());
        if name_of(order) == "say" {
            done.ledger.cost = None;
        }
        Ok(done)
    });
    assert_eq!((ran.outcome.denied.len(), ran.outcome.cost), (3, None));
}

#[test]
fn a_chain_goes_on_with_what_its_last_run_came_to() {
    let world = World::new();
    let chain = chain(THREE);
    assert_eq!(
        world.resume(&chain, "say", None).unwrap_err(),
        "--from: no session of this folder holds what these steps of the chain tea came to: look"
    );
    assert_eq!(world.resume(&chain, "look", None), Ok(Resumed::default()));
    assert!(world.resume(&chain, "lok", None).unwrap_err().contains("has no step `lok`"));
    let fails = |at: &'static str, text: &'static str| {
        move |order: &Order, _: &Cancel, _: &(dyn Fn(Event) + Sync)| {
            let name = name_of(order);
            let end = if name == at { End::Loop } else { End::Answered };
            Ok(Done { end, ..done(&format!("{text} {name}: {}", order.task)) })
        }
    };
    simply(&mut world.agent(Which::New), &chain, &fails("say", "first"));
    assert!(world.resume(&chain, "end", None).unwrap_err().ends_with("came to: say"));
    let resumed = world.resume(&chain, "say", None).unwrap();
    assert_eq!((resumed.from, resumed.answers.len()), (1, 1));
    let Some(selector) = resumed.session.clone() else { panic!("a session") };
    let mut agent = world.agent(Which::Open(selector));
    let (ran, notices) = run_with(&mut agent, &chain, &resumed, None, &Cancel::new(), &fails("", "second"));
    assert_eq!((ran.outcome.end, notices[0].as_str()), (End::Answered, "Step 2 of 3: say."));
    assert!(ran.outcome.text.contains("End first look: Look at green tea. second say"), "{}", ran.outcome.text);
    drop(agent);
    assert_eq!(world.said().len(), 4 + 4);
    // Begun anew, what came of later steps before is old.
    let mut agent = world.agent(Which::Open(Selector::Newest));
    run_with(&mut agent, &chain, &Resumed::default(), None, &Cancel::new(), &fails("say", "third"));
    drop(agent);
    assert!(world.resume(&chain, "end", Some(&Selector::Newest)).unwrap_err().ends_with("came to: say"));
    let nowhere = Selector::Path(Path::new("/nowhere/x.jsonl").to_owned());
    assert!(world.resume(&chain, "end", Some(&nowhere)).is_err());
}
