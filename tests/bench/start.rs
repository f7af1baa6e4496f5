//! How long the program takes to say something and to ask a model, and how much memory a long answer takes.
//!
//! `make bench B=start`. The program runs as a user runs it, with a configuration of its own and a server on loopback.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

mod server;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use divan::Bencher;
use serde_json::json;
use tempfile::TempDir;

/// Deltas of the answer whose memory is measured; a model's longest answers have about as many.
const DELTAS: usize = 20_000;

fn main() {
    divan::main();
    memory();
}

#[divan::bench]
fn help(bencher: Bencher<'_, '_>) {
    let home = home("http://127.0.0.1:9/v1");
    bencher.bench(|| agent(&home, &["--help"]).stdout(Stdio::null()).status().unwrap());
}

/// From the start of the process until the server has the whole request.
#[divan::bench]
fn first_request(bencher: Bencher<'_, '_>) {
    let (sender, arrived) = mpsc::channel();
    let base_url = server::start(move |stream| {
        sender.send(()).unwrap();
        stream.write_all(&server::deltas(1)).unwrap();
        stream.write_all(server::end()).unwrap();
    });
    let home = home(&base_url);
    bencher.bench_local(|| {
        let child = agent(&home, &["-p", "hello"]).stdout(Stdio::null()).spawn().unwrap();
        let running = Running(child);
        arrived.recv().unwrap();
        // Dropped, and so waited for, outside of what is measured.
        running
    });
}

/// Prints the most memory the program had at the end of a long answer; Linux alone tells.
#[expect(clippy::print_stdout, reason = "the figure is what the program is for")]
fn memory() {
    let (release, released) = mpsc::channel::<()>();
    let base_url = server::start(move |stream| {
        stream.write_all(&server::deltas(DELTAS)).unwrap();
        released.recv().unwrap();
        stream.write_all(server::end()).unwrap();
    });
    let home = home(&base_url);
    let mut command = agent(&home, &["-p", "--output-format", "stream-json", "hello"]);
    let mut running = Running(command.stdout(Stdio::piped()).spawn().unwrap());
    let stdout = BufReader::new(running.0.stdout.take().unwrap());
    let mut lines = stdout.lines().map(Result::unwrap);
    let shown = lines.by_ref().filter(|line| line.contains("\"delta\"")).take(DELTAS).count();
    let status = fs::read_to_string(format!("/proc/{}/status", running.0.id())).unwrap_or_default();
    release.send(()).unwrap();
    assert!(shown > 0 && lines.last().is_some_and(|line| line.contains("\"result\"")));
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    println!("most memory of an answer with {DELTAS} deltas: {most}");
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.wait().unwrap();
    }
}

/// A home with a configuration that leads to the server.
fn home(base_url: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let provider = json!({"base_url": base_url, "api": "openai-completions", "api_key": "k-12345678"});
    let config = json!({"provider": "bench", "model": "m", "providers": {"bench": provider}});
    fs::write(home.path().join("config.json"), config.to_string()).unwrap();
    home
}

fn agent(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_agent")));
    command.args(arguments).env_clear().current_dir(home).stdin(Stdio::null()).stderr(Stdio::null());
    command.env("PATH", "/usr/bin:/bin").env("HOME", home.path());
    command.env("VIOLA_CONFIG_DIR", home.path()).env("VIOLA_DATA_DIR", home.path().join("data"));
    command
}
