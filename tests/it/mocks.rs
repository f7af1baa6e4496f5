//! Somebody else's idea of the wires: an independent mock server plays providers, and our program gets its answers.
//!
//! `make test-mocks` installs the mock and names it; without it there is nothing to agree with.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Host, environment};

/// Names the mock's program.
const MOCK: &str = "VIOLA_MOCK";
/// The `api` words of all wires the mock speaks, and where their base address ends.
const WIRES: [(&str, &str); 4] = [
    ("openai-completions", "/v1"),
    ("openai-responses", "/v1"),
    ("anthropic-messages", ""),
    ("google-generative-ai", "/v1beta"),
];

/// A mock on a free port; it ends with the test.
struct Mock {
    child: Child,
    url: String,
}

impl Mock {
    fn start(program: &str, host: &Host, fixtures: &Value) -> Self {
        let path = host.file("../fixtures.json", &fixtures.to_string());
        let mut command = Command::new(program);
        command.args(["--port", "0", "--strict", "--chunk-size", "3", "--fixtures"]).arg(path);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let url = |line: String| line.split_once("http://").map(|(_, address)| format!("http://{address}"));
        let url = { lines }.find_map(url).unwrap();
        Self { child, url }
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "needs a mock server from a registry: make test-mocks"]
fn an_independent_server_agrees() {
    let program = environment(MOCK).unwrap();
    let host = Host::new();
    let calls = json!([{"id": "call_1", "name": "list_files", "arguments": "{}"},
        {"id": "call_2", "name": "read_file", "arguments": r#"{"path":"a.txt"}"#}]);
    let looked = json!({"toolCallId": "call_2", "toolResultContains": "content of a"});
    let mock = Mock::start(
        &program,
        &host,
        &json!({"fixtures": [
            {"match": {"userMessage": "look around", "hasToolResult": false},
                "response": {"reasoning": "Plan first.", "content": "I look.", "toolCalls": calls}},
            {"match": looked, "response": {"content": "I saw a.txt."}},
            {"match": {"userMessage": "say hello"}, "response": {"reasoning": "Politely.", "content": "Hello, wörld! 🎻\n\nBye."}},
        ]}),
    );
    host.file("a.txt", "content of a");
    let mut complaints = Vec::new();
    for (api, end) in WIRES {
        let models = json!([{"id": "test-model", "reasoning": true}]);
        let provider = json!({"base_url": format!("{}{end}", mock.url), "api": api, "api_key": "k", "models": models});
        host.config(json!({"providers": {"mock": provider}}));
        let mut expect = |what: &str, found: &Value, due: Value| {
            if *found != due {
                complaints.push(format!("{api}: {what} is {found}, expected {due}"));
            }
        };
        let run = host.task("say hello").run();
        expect("the exit code", &run.code.into(), json!(0));
        expect("the answer", &run.result()["text"], json!("Hello, wörld! 🎻\n\nBye."));
        let reasoning: String = run.events("reasoning").iter().filter_map(|event| event["text"].as_str()).collect();
        expect("the reasoning", &reasoning.into(), json!("Politely."));
        let run = host.task("look around").run();
        expect("the exit code", &run.code.into(), json!(0));
        let mut called: Vec<Value> = run.events("tool_end").iter().map(|event| event["name"].clone()).collect();
        // Which of the two is done first is chance.
        called.sort_by_key(Value::to_string);
        expect("what was called", &json!(called), json!(["list_files", "read_file"]));
        expect("the answer to results", &run.result()["text"], json!("I saw a.txt."));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
