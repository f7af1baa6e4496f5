//! Against a real server with a real model: llama.cpp's own, as a package brings it. Not part of the ordinary run:
//! `make test-real` installs both and runs these, one after the other.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Agent, Host, Run, environment};

const WHY: &str = "VIOLA_REAL is set by `make test-real`";
/// A model without a graphics card reads some fifty tokens in a second, fewer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server with the small model; it ends when this is dropped.
struct Llama {
    child: Child,
    /// Its end is the server's end.
    input: Option<ChildStdin>,
    base_url: String,
}

impl Llama {
    /// With a window of so many tokens, and a chat template as strict as any.
    fn start(window: u32) -> Self {
        let folder = environment("VIOLA_REAL").unwrap_or_else(|| panic!("{WHY}"));
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real");
        let mut child = Command::new(format!("{folder}/venv/bin/python"))
            .arg(here.join("serve.py"))
            .args([format!("{folder}/gemma3-270m.gguf"), window.to_string()])
            .arg(here.join("strict.jinja"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://"), "no address: {address:?}");
        let input = child.stdin.take();
        Self { child, input, base_url: format!("{}/v1", address.trim()) }
    }

    /// Makes it the server of a host, as somebody would who has just started it: without a model's name, or a key.
    fn serve(&self, host: &Host, more: Value) {
        let mut config = json!({"provider": "llamacpp", "max_tokens": 60,
            "providers": {"llamacpp": {"base_url": self.base_url}}});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        host.file(host.config_dir().join("config.json"), &config.to_string());
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        self.input.take();
        let _ = self.child.wait();
    }
}

fn lean() -> Value {
    json!({"tools": {"enabled": ["lean"]}})
}

/// The model may also talk until it is cut off.
fn answered(agent: Agent<'_>) -> Run {
    let run = agent.run();
    let is_cut = run.result()["error"]["code"] == "length";
    if is_cut { run.exits(1) } else { run.ok() }
}

fn task<'host>(host: &'host Host, prompt: &str, more: &[&str]) -> Agent<'host> {
    host.task(prompt).with(more).deadline(PATIENCE)
}

/// What a run took and found, for whoever watches.
fn told(what: &str, run: &Run, took: Duration) {
    let usage = &run.result()["usage_total"];
    eprintln!("{what}: {took:.1?}, {usage}");
}

#[test]
#[ignore = "needs a model: make test-real"]
fn ten_turns_of_one_session() {
    let (host, llama) = (Host::new(), Llama::start(4_096));
    llama.serve(&host, lean());
    for turn in 0..10 {
        let more: &[&str] = if turn == 0 { &[] } else { &["-c"] };
        let started = Instant::now();
        let run = answered(task(&host, &format!("Say something about the number {turn}."), more));
        told(&format!("turn {turn}"), &run, started.elapsed());
        let (begun, result) = (&run.events("turn_start")[0], run.result());
        assert_eq!((&begun["model"]["id"], &begun["context"]["window"]), (&json!("gemma3-270m"), &json!(4_096)));
        assert!(run.events("delta").len() > 1, "it was not streamed");
        assert_eq!(run.streamed(), result["text"].as_str().unwrap());
        let usage = &result["usage_total"];
        assert!(usage["output_tokens"].as_u64().unwrap() > 0, "{usage}");
        if turn == 0 {
            assert!(run.notices("config").iter().any(|notice| notice["text"].as_str().unwrap().contains("-c 32768")));
        } else {
            let (read, cached) = (&usage["input_tokens"], &usage["cache_read_tokens"]);
            assert!(cached.as_u64() > read.as_u64(), "the prefix moved: {usage}");
        }
    }
    assert_eq!(host.session().texts("assistant").len(), 10);
}

#[test]
#[ignore = "needs a model: make test-real"]
fn an_aborted_answer_ends_at_once_and_leaves_the_server_well() {
    let (host, llama) = (Host::new(), Llama::start(4_096));
    llama.serve(&host, lean());
    let running = task(&host, "Tell me a story.", &[]).start();
    running.wait_stdout("\"delta\"");
    let thrown = Instant::now();
    running.signal(Signal::INT);
    let run = running.wait().exits(130);
    let took = thrown.elapsed();
    told("aborted", &run, took);
    assert!(took < Duration::from_secs(1), "{took:?}");
    let started = Instant::now();
    let again = answered(task(&host, "And now?", &["-c"]));
    told("after it", &again, started.elapsed());
}

#[test]
#[ignore = "needs a model: make test-real"]
fn a_window_that_is_too_small_is_told_before_the_first_request() {
    let (host, llama) = (Host::new(), Llama::start(1_536));
    llama.serve(&host, json!({}));
    let started = Instant::now();
    let run = host.print("hi").run().exits(4);
    let took = started.elapsed();
    eprintln!("too small: {took:.1?}");
    let run = run.says(&[
        "the window of gemma3-270m holds 1,536",
        "hint: for a larger window, start llama-server with `-c 32768",
    ]);
    run.says(&["--tools lean"]);
    assert!(took < Duration::from_secs(2), "{took:?}");
    answered(task(&host, "hi", &["--tools", "lean"]));
}

#[test]
#[ignore = "needs a model: make test-real"]
fn a_user_may_speak_after_a_result_whatever_the_template() {
    let (host, llama) = (Host::new(), Llama::start(4_096));
    llama.serve(&host, lean());
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let call = json!([{"type": "tool_use", "id": "call_1234567", "name": "read_file", "input": {"path": "a"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "call_1234567", "content": [], "is_error": false}]);
    let said = [("user", text("Read it.")), ("user", text("Now.")), ("assistant", call), ("tool", result)];
    let mut lines = vec![json!({"type": "session", "version": 1, "id": "s", "created_at": 0, "cwd": host.work(),
        "provider": "p", "model": "m", "parent": null})];
    lines.extend(said.into_iter().enumerate().map(|(at, (role, content))| {
        json!({"type": "message", "id": at + 1, "parent_id": at.checked_sub(1).map(|_| at), "timestamp": 0, "role": role,
            "content": content, "stop_reason": "tool_use", "model": "m", "provider": "p"})
    }));
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = host.file("s.jsonl", &lines);
    answered(task(&host, "What did it say?", &["--session", file.to_str().unwrap()]));
}
