//! README's examples, as they stand there: their files are written, their commands are run.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::{Host, Reply, Role, Run, call, say};

/// One example: files to write, and command lines to run.
#[derive(Default)]
struct Example {
    files: Vec<(String, String)>,
    commands: Vec<Vec<String>>,
}

/// Takes an example from README by its name.
fn example(name: &str) -> Example {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let (_, rest) = readme.split_once(&format!("<!-- example: {name} -->\n")).unwrap();
    let mut example = Example::default();
    let (mut path, mut lines) = (None, rest.lines());
    while let Some(line) = lines.next() {
        if line.starts_with("<!-- ") || line.starts_with('#') {
            break;
        }
        if let Some(named) = line.strip_prefix('`').and_then(|line| line.strip_suffix("`:")) {
            path = Some(named.to_owned());
        }
        if let Some(language) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            match (language, path.take()) {
                ("sh", None) => example.commands.extend(block.iter().map(|line| words(line))),
                ("markdown", Some(path)) => example.files.push((path, block.join("\n") + "\n")),
                other => panic!("{name}: a block that nobody understands: {other:?}"),
            }
        }
    }
    assert!(!example.commands.is_empty(), "{name} has no command");
    example
}

/// The words of a shell line behind `agent`; what follows `#` is for people.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" # ").next().unwrap().trim();
    let mut words = Vec::new();
    for (place, part) in line.strip_prefix("agent ").unwrap_or_else(|| panic!("{line}")).split('"').enumerate() {
        match place % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// Sets an example up and runs all its commands, which succeed.
fn ran(host: &Host, name: &str, replies: impl IntoIterator<Item = Reply>) -> Vec<Run> {
    let Example { files, commands } = example(name);
    for (path, text) in &files {
        host.file(path, text);
    }
    host.script(replies);
    let run = |words: &Vec<String>| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        host.agent(&words).run().ok()
    };
    commands.iter().map(run).collect()
}

#[test]
fn instructions() {
    let host = Host::new();
    let runs = ran(&host, "instructions", [say("Run make check.")]);
    for told in [&runs[0].stdout, &host.request(0).system().to_owned()] {
        assert!(told.contains("Run `make check`") && told.contains("at most 120 characters"), "{told}");
    }
    assert!(runs[0].stdout.contains("docs/style.md"));
}

#[test]
fn skill() {
    let host = Host::new();
    let runs = ran(&host, "skill", [say("Tagged.")]);
    assert!(runs[0].stdout.contains("release") && runs[0].stdout.contains("Makes a release"), "{}", runs[0].stdout);
    let request = host.request(0);
    assert!(
        request.prompt().contains("`git tag vVERSION`") && request.prompt().contains("1.2.0"),
        "{}",
        request.prompt()
    );
    assert!(request.system().contains("<name>release</name>"));
}

#[test]
fn prompt() {
    let host = Host::new();
    ran(&host, "prompt", [say("It is the beginning.")]);
    let asked = host.request(0).prompt().to_owned();
    assert!(asked.ends_with("Explain src/main.rs to somebody who has never seen this project."), "{asked}");
}

#[test]
fn chain() {
    let host = Host::new();
    let runs = ran(&host, "chain", [say("It parses."), say("The parser parses.")]);
    assert!(runs[0].stdout.contains("tell  Looks, then tells"), "{}", runs[0].stdout);
    assert_eq!(runs[1].stdout, "The parser parses.\n");
    let (look, tell) = (host.request(0), host.request(1));
    assert!(look.prompt().contains("Look at the parser."));
    assert_eq!((look.tools(), tell.tools()), (vec!["read_file", "find_files"], vec![]));
    assert!(tell.prompt().contains("What was seen: It parses."), "{}", tell.prompt());
}

#[test]
fn agent() {
    let host = Host::new();
    let sent = call("dispatch_agent", json!({"agent": "scout", "task": "find all callers of step()"}));
    ran(&host, "agent", [sent, say("src/node.rs:12"), say("There is one caller.")]);
    let scout = host.request(1);
    assert!(scout.said(Role::User).first().unwrap().contains("find all callers"));
    assert_eq!(scout.tools(), ["read_file", "list_files", "find_files", "search_files"]);
    assert!(scout.system().ends_with("Answer with paths and line numbers, and nothing else."));
}

#[test]
fn plan() {
    let host = Host::new();
    let runs = ran(&host, "plan", [call("write_file", json!({"path": "x", "content": "x"})), say("In two files.")]);
    assert_eq!(runs[0].stdout, "In two files.\n");
    assert!(!host.exists("x"));
}

#[test]
fn until() {
    let host = Host::new();
    let replies =
        [say("Done, I think."), call("write_file", json!({"path": "done.txt", "content": "x"})), say("Now it is.")];
    let runs = ran(&host, "until", replies);
    assert_eq!(runs[0].stdout, "Now it is.\n");
    assert!(host.request(1).prompt().contains("exit code: 1"), "{}", host.request(1).prompt());
}

#[test]
fn jobs() {
    let host = Host::new();
    let runs = ran(&host, "jobs", []);
    assert!(runs[0].stdout.starts_with("no services are running"), "{}", runs[0].stdout);
}
