//! The program is killed at random moments of a task. Whatever it had shown as done is in the next request, which is as
//! legal as any, and the session's file has lost a line at most.
//!
//! `VIOLA_FAULTS_KILLS` is how many kills there are, `VIOLA_FAULTS_SEED` replays the choices of a run that failed; what
//! the machine does meanwhile is never the same.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::mem::discriminant;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

use fastrand::Rng;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    Call, Host, MODEL, PROVIDER, Reply, Request, Role, Run, Running, Session, Usage, Wire, calls, environment, say,
    side_by_side,
};

/// How often the program is killed in an ordinary run of the tests.
const KILLS: usize = 200;
/// How many worlds there are at a time: most of them wait.
const WORLDS: usize = 8;
/// How often a session is gone on with after a kill.
const KILLS_A_SESSION: usize = 5;
/// The exit code of a program that was killed.
const KILLED: i32 = 128 + 9;
/// How long a task takes at least, as the model below tells it.
const TASK: Duration = Duration::from_millis(120);
/// How many lines a task prints, about.
const LINES: usize = 70;
/// How many requests a task makes.
const REQUESTS: usize = 4;

/// When the program is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// Right after so many lines of output.
    Line(usize),
    /// So long after the model was asked for the so-manieth time.
    Request(usize, Duration),
    /// Right when this file of the working directory is there.
    Effect(&'static str),
    /// Right when this folder of the data folder has grown so many times.
    Growth(&'static str, usize),
    /// So long after a summary was asked for.
    Folding(Duration),
    /// So long after the start.
    Age(Duration),
}

impl Moment {
    fn any(window: Window, rng: &mut Rng) -> Self {
        let soon = |rng: &mut Rng| Duration::from_micros(rng.u64(..4000));
        match rng.u8(..10) {
            0..5 if window == Window::Narrow => Self::Folding(soon(rng) * 4),
            0..3 => Self::Line(rng.usize(..LINES)),
            3 | 4 => Self::Request(rng.usize(1..=REQUESTS), soon(rng)),
            5 => Self::Effect(["quick", "many/49", "late"][rng.usize(..3)]),
            6 => Self::Growth("sessions", rng.usize(1..12)),
            7 => Self::Growth(["output", "blobs", "checkpoints"][rng.usize(..3)], rng.usize(1..4)),
            _ => Self::Age(Duration::from_micros(rng.u64(..TASK.as_micros() as u64))),
        }
    }

    /// Waits for the moment, and tells whether it came before the end.
    fn comes(self, host: &Host, running: &mut Running) -> bool {
        match self {
            Self::Line(count) => running.prints(count),
            Self::Request(count, after) => {
                let before = host.server.requests().len();
                let asked = running.reaches(|_| host.server.requests().len() >= before + count);
                // Not for luck: whatever has happened by then is what the test is about.
                thread::sleep(after);
                asked
            }
            Self::Folding(after) => {
                let before = host.server.requests().len();
                let asked = running.reaches(|_| host.server.requests().iter().skip(before).any(|it| wants_summary(it)));
                // As above: how far the summary has come by then is left to chance on purpose.
                thread::sleep(after);
                asked
            }
            Self::Effect(name) => running.reaches(|_| host.exists(name)),
            Self::Growth(folder, times) => {
                let folder = host.data_dir().join(folder);
                let (mut size, mut grown) = (size(&folder), 0);
                running.reaches(|_| {
                    let before = std::mem::replace(&mut size, self::size(&folder));
                    grown += usize::from(size > before);
                    grown >= times
                })
            }
            Self::Age(age) => running.reaches(|running| running.age() >= age),
        }
    }
}

/// The bytes of all files below a folder, and one for each of them.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len() + 1,
        Err(_) => 0,
    });
    sizes.sum()
}

/// What runs have shown as done.
#[derive(Default)]
struct Shown {
    /// What each call came to, by its id.
    results: BTreeMap<String, String>,
    answers: Vec<String>,
}

impl Shown {
    /// Adds the whole lines of an output; the last one may be torn.
    fn add(&mut self, run: &Run) {
        let whole = run.stdout.rfind('\n').map_or("", |end| &run.stdout[..end]);
        let mut said = String::new();
        for line in whole.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| event[key].as_str().unwrap().to_owned();
            match event["type"].as_str().unwrap() {
                "turn_start" => said.clear(),
                "delta" => said += &text("text"),
                "tool_end" => drop(self.results.insert(text("id"), text("output"))),
                "turn_end" if !said.is_empty() => self.answers.push(std::mem::take(&mut said)),
                _ => {}
            }
        }
    }

    /// All of it must be in a session.
    fn check_kept(&self, session: &Session) {
        let messages = session.messages();
        let parts = || messages.iter().flat_map(|message| message["content"].as_array().unwrap());
        for (id, output) in &self.results {
            let kept = parts().find(|part| part["tool_use_id"] == *id).unwrap_or_else(|| panic!("{id} is lost"));
            let content = &kept["content"][0];
            assert!(content["text"] == *output || content["blob"].is_string(), "what {id} came to: {kept}");
        }
        for answer in &self.answers {
            assert!(parts().any(|part| part["text"] == *answer), "{answer:?} was shown and is lost");
        }
    }

    /// All of it must be in a request.
    fn check_sent(&self, request: &Request) {
        for (id, output) in &self.results {
            assert_eq!(request.result(id), output, "what {id} came to");
        }
        // Where reasoning is sealed by a part of its own, that part is an empty line of text.
        let said: Vec<_> = request.said(Role::Assistant).into_iter().map(str::trim).collect();
        for answer in &self.answers {
            assert!(said.contains(&answer.as_str()), "{answer:?} was shown and is lost; there is {said:#?}");
        }
    }
}

/// How much of a talk fits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Window {
    /// More than all of it.
    Wide,
    /// Less than a few tasks, so that it is summarised again and again.
    Narrow,
}

impl Window {
    fn set(self, host: &Host) {
        if self == Self::Narrow {
            let mut provider = host.provider(MODEL);
            provider["models"][0]["contextWindow"] = json!(16_000);
            let compaction = json!({"reserve_tokens": 2000, "keep_tokens": 1500});
            host.config(json!({"compaction": compaction, "providers": {PROVIDER: provider}}));
            // What stands before a summary is no more sent.
            host.server.allow_changed_prefix();
        }
    }

    /// What makes a task long enough.
    fn filler(self) -> String {
        "word ".repeat(if self == Self::Narrow { 80 } else { 0 })
    }
}

/// Whether the agent asks on its own behalf.
fn wants_summary(request: &Request) -> bool {
    request.tools().is_empty()
}

/// As many tokens as a real server would count.
fn counted(request: &Request) -> Usage {
    Usage { input: request.body.to_string().len() as u64 / 4, ..Usage::default() }
}

/// A model that streams, calls tools that leave traces, writes much, and answers; in a task of four turns.
fn model(host: &Host, window: Window, seed: u64) {
    let serial = AtomicUsize::new(0);
    host.server.answer(move |request| {
        if wants_summary(request) {
            return Reply::pieces(["SUMMARY: ", "we ", "did ", "this ", "and ", "that."])
                .pace(Duration::from_millis(1));
        }
        if request.prompt().ends_with("check") {
            return say(&format!("checked {}", serial.fetch_add(1, Ordering::Relaxed))).usage(counted(request));
        }
        let turns = request.conversation.turns.iter().rev().take_while(|turn| turn.role != Role::User);
        let turn = turns.filter(|turn| turn.role == Role::Assistant).count();
        let shell = |command: &str| ("execute_bash", json!({"command": command}));
        let wanted = match turn {
            0 => vec![
                ("write_file", json!({"path": "note.txt", "content": "noted\n"})),
                shell("echo done >quick; seq 1 40"),
            ],
            1 => vec![shell("mkdir -p many; for i in $(seq 0 49); do echo $$ >many/$i; done; rm many/3; seq 1 4000")],
            2 => vec![
                shell("sleep 0.02; echo slow"),
                shell("echo fast"),
                ("read_file", json!({"path": "note.txt"})),
                shell("echo done >late"),
            ],
            _ => Vec::new(),
        };
        let number = serial.fetch_add(1, Ordering::Relaxed);
        let wanted = wanted.into_iter().enumerate();
        let wanted = wanted.map(|(place, (name, arguments))| Call::new(&format!("c{number}-{place}"), name, arguments));
        let mut rng = Rng::with_seed(seed ^ number as u64);
        let micros = |rng: &mut Rng| Duration::from_micros(rng.u64(..2000));
        let mut reply = calls(wanted).thought("Let me see.", "SEAL").pace(micros(&mut rng)).wait(micros(&mut rng));
        reply.usage = counted(request);
        reply.text = (0..10).map(|piece| format!("{number}.{piece};{}", window.filler())).collect();
        reply
    });
}

/// Kills the program in one session again and again, and goes on with it each time. Returns at which moments it was
/// killed, since some never come.
fn kill_and_go_on(seed: u64) -> Vec<Moment> {
    let mut rng = Rng::with_seed(seed);
    let host = Host::on(Wire::ALL[rng.usize(..Wire::ALL.len())]);
    let window = if rng.u8(..4) == 0 { Window::Narrow } else { Window::Wide };
    window.set(&host);
    model(&host, window, seed);
    let mut shown = Shown::default();
    let (mut kills, mut asked) = (Vec::new(), Vec::new());
    for round in 0..KILLS_A_SESSION {
        for name in ["quick", "late", "many/49"] {
            let _ = fs::remove_file(host.work().join(name));
        }
        let moment = Moment::any(window, &mut rng);
        let _told = Told(("kill", seed, round, window, moment));
        let prompt = format!("task {round}");
        let requests = host.server.requests().len();
        let mut running = host.task(&prompt).with(&["-c"]).start();
        if moment.comes(&host, &mut running) {
            running.signal(Signal::KILL);
        }
        let run = running.wait();
        assert!([0, KILLED].contains(&run.code), "{run:?}");
        kills.extend((run.code == KILLED).then_some(moment));
        shown.add(&run);
        if host.server.requests().len() > requests {
            asked.push(prompt);
        }

        let run = host.task("check").with(&["-c"]).run().ok();
        asked.push("check".into());
        let requests = host.server.requests();
        let request = requests.last().unwrap();
        assert_eq!(host.server.take_problems(), Vec::<String>::new());
        // A file that was made and not yet written is nobody's session.
        let sessions: Vec<_> = host.sessions().into_iter().filter(|session| !session.records.is_empty()).collect();
        assert_eq!(sessions.len(), 1, "{:?}", run.notices("session"));
        assert!(sessions[0].broken <= kills.len(), "{} torn lines after {kills:?}", sessions[0].broken);
        let said = match window {
            Window::Wide => {
                shown.check_sent(request);
                request.said(Role::User).join("\n")
            }
            Window::Narrow => {
                shown.check_kept(&sessions[0]);
                assert!(request.prompt().ends_with("check"));
                sessions[0].texts("user").join("\n")
            }
        };
        let mut left = said.as_str();
        for prompt in &asked {
            let at = left.find(prompt).unwrap_or_else(|| panic!("{prompt:?} is lost: {said}"));
            left = &left[at + prompt.len()..];
        }
        shown.add(&run);
    }
    kills
}

/// Says what a test was about when it fails.
struct Told<T: Debug>(T);

impl<T: Debug> Drop for Told<T> {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{:?}", self.0);
        }
    }
}

fn number<T: std::str::FromStr>(variable: &str) -> Option<T> {
    environment(variable)?.parse().ok()
}

#[test]
fn what_was_shown_as_done_survives_a_kill() {
    let wanted = number("VIOLA_FAULTS_KILLS").unwrap_or(KILLS);
    let seed: u64 = number("VIOLA_FAULTS_SEED").unwrap_or_else(|| fastrand::u64(..));
    let _told = Told(("VIOLA_FAULTS_SEED", seed));
    let (sessions, kills) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    side_by_side(0..WORLDS, |_| {
        while kills.lock().unwrap().len() < wanted {
            let session = sessions.fetch_add(1, Ordering::SeqCst) as u64;
            let more = kill_and_go_on(seed.wrapping_add(session));
            kills.lock().unwrap().extend(more);
        }
    });
    let kills = kills.into_inner().unwrap();
    let kinds: HashSet<_> = kills.iter().map(discriminant).collect();
    assert!(kinds.len() == 6 || wanted < KILLS, "not all kinds of moments came: {kills:?}");
}
