//! How long it takes to go on with a long session, from the start of the process to the request, and in how much memory.
//!
//! `make bench B=resume`. The program runs as a user runs it, over files of 24 MB and 1 GB, and a server on loopback.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

mod server;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use serde_json::json;
use tempfile::TempDir;
use viola::product::session::name;

/// How often each file is gone on with; the best time counts.
const ROUNDS: usize = 5;

/// A session to go on with.
struct Shape {
    title: &'static str,
    entries: u64,
    /// Characters an entry says.
    length: usize,
    ends_in_summary: bool,
}

const SHAPES: [Shape; 4] = [
    Shape { title: "100,000 entries, all sent", entries: 100_000, length: 100, ends_in_summary: false },
    Shape { title: "100,000 entries, summarised", entries: 100_000, length: 100, ends_in_summary: true },
    Shape { title: "1 GB in 4,000,000 entries, summarised", entries: 4_000_000, length: 110, ends_in_summary: true },
    Shape { title: "1 GB in 1,000 entries, summarised", entries: 1_000, length: 1_000_000, ends_in_summary: true },
];

#[expect(clippy::print_stdout, reason = "the figures are what the program is for")]
fn main() {
    for shape in SHAPES {
        let (arrived, arrivals) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let base_url = server::start(move |stream| {
            arrived.send(Instant::now()).unwrap();
            released.recv().unwrap();
            stream.write_all(&server::deltas(1)).unwrap();
            stream.write_all(server::end()).unwrap();
        });
        let home = home(&base_url);
        write(&home, &shape);
        let (mut best, mut memory) = (f64::INFINITY, String::new());
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let mut running = agent(&home).spawn().unwrap();
            let took = arrivals.recv().unwrap().duration_since(begun).as_secs_f64();
            // Linux alone tells.
            let status = fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap_or_default();
            release.send(()).unwrap();
            assert!(running.wait().unwrap().success());
            best = best.min(took);
            memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim().to_owned();
        }
        println!("{:<40} {:>6.0} ms  {memory}", shape.title, best * 1000.0);
    }
}

/// Writes the session where `agent -c` finds it.
fn write(home: &TempDir, shape: &Shape) {
    let cwd = home.path().canonicalize().unwrap();
    let folder = home.path().join("data/sessions").join(name::folder(&cwd));
    fs::create_dir_all(&folder).unwrap();
    let mut file = BufWriter::new(File::create(folder.join("20260101-120000-abcd.jsonl")).unwrap());
    let header = json!({"type": "session", "version": 1, "id": "20260101-120000-abcd", "created_at": 1, "cwd": cwd,
        "provider": "bench", "model": "m", "parent": null});
    writeln!(file, "{header}").unwrap();
    // Source code, as it stands in JSON.
    let line = r#"    let x = \"code\";\n"#;
    let text = line.repeat(shape.length / line.len());
    for id in 1..=shape.entries {
        let (parent, role) = (id - 1, if id % 2 == 1 { "user" } else { "assistant" });
        let parent = if parent == 0 { "null".to_owned() } else { parent.to_string() };
        writeln!(
            file,
            r#"{{"type":"message","id":{id},"parent_id":{parent},"timestamp":1796028350123,"role":"{role}","content":[{{"type":"text","text":"entry {id} {text}"}}]}}"#
        )
        .unwrap();
    }
    if shape.ends_in_summary {
        let (id, last) = (shape.entries + 1, shape.entries);
        let summary = json!({"type": "summary", "id": id, "parent_id": last, "timestamp": 1_796_028_350_123_i64,
            "text": "All of it.", "first_kept_id": last, "tokens_before": 91_000});
        writeln!(file, "{summary}").unwrap();
    }
    file.flush().unwrap();
}

/// A home with a configuration that leads to the server.
fn home(base_url: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    // What a server of this machine could be asked is said here: one request, and whole files fit.
    let models = json!([{"id": "m", "contextWindow": 1_000_000_000, "maxTokens": 1000}]);
    let provider =
        json!({"base_url": base_url, "api": "openai-completions", "api_key": "k-12345678", "models": models});
    let config = json!({"provider": "bench", "model": "m", "providers": {"bench": provider},
        "compaction": {"auto": false}});
    fs::write(home.path().join("config.json"), config.to_string()).unwrap();
    home
}

fn agent(home: &TempDir) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_agent")));
    command.args(["-p", "-c", "hi"]).env_clear().current_dir(home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("PATH", "/usr/bin:/bin").env("HOME", home.path());
    command.env("VIOLA_CONFIG_DIR", home.path()).env("VIOLA_DATA_DIR", home.path().join("data"));
    command
}
