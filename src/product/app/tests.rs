//! A watched agent from settings to session file: the model is a record, the person a script.

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::base::cancel::Cancel;
use crate::model::message::Part;
use crate::product::config::{self, Flag, Flags};
use crate::product::job::Jobs;
use crate::product::permission::{Answer, Question};
use crate::product::provider::choose::choose;

/// A home, a project, and a record in which a model writes `a.txt`, runs a command, and says so.
struct World {
    folder: TempDir,
    env: Env,
    flags: Flags,
}

fn world(permissions: &Value) -> World {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    for name in ["config", "data", "home", "work", "tmp"] {
        std::fs::create_dir(top.join(name)).unwrap();
    }
    std::fs::write(top.join("config/config.json"), json!({ "permissions": permissions }).to_string()).unwrap();
    let used = |name: &str, input: Value| json!([{"type": "tool_use", "id": name, "name": name, "input": input}]);
    let result = |name: &str| {
        let text = json!([{"type": "text", "text": "done"}]);
        json!([{"type": "tool_result", "tool_use_id": name, "content": text, "is_error": false}])
    };
    let said = [
        ("user", json!([{"type": "text", "text": "go"}])),
        ("assistant", used("write_file", json!({"path": "a.txt", "content": "x"}))),
        ("tool", result("write_file")),
        ("assistant", used("execute_bash", json!({"command": "touch ran"}))),
        ("tool", result("execute_bash")),
        ("assistant", json!([{"type": "text", "text": "all finished"}])),
    ];
    let mut record = json!({"type": "session", "version": 1, "id": "r", "created_at": 0, "cwd": "/", "provider": "p",
                            "model": "m", "parent": null})
    .to_string();
    for (at, (role, content)) in said.into_iter().enumerate() {
        let line = json!({"type": "message", "id": at + 1, "parent_id": at.checked_sub(1).map(|_| at), "timestamp": 0,
                          "role": role, "content": content, "stop_reason": "stop", "model": "m", "provider": "p"});
        record += &format!("\n{line}");
    }
    std::fs::write(top.join("record.jsonl"), record + "\n").unwrap();
    let var = |name: &str, folder: &str| (name.into(), top.join(folder).into());
    let vars = [
        var("VIOLA_CONFIG_DIR", "config"),
        var("VIOLA_DATA_DIR", "data"),
        var("TMPDIR", "tmp"),
        ("PATH".into(), "/usr/bin:/bin".into()),
    ];
    let env = Env { vars: vars.into(), cwd: top.join("work"), home: Some(top.join("home")) };
    let flag = |option, key, value: String| Flag { option, key, value: Value::String(value) };
    let values = vec![
        flag("--provider", "provider", "replay".to_owned()),
        flag("--model", "model", top.join("record.jsonl").display().to_string()),
    ];
    World { folder, env, flags: Flags { values, ..Flags::default() } }
}

impl World {
    fn parts<'a>(&'a self, loaded: &'a Loaded, session: Which) -> Parts<'a> {
        let choice = choose(loaded, &self.env, &Cancel::new()).unwrap();
        Parts {
            loaded,
            choice,
            env: &self.env,
            clock: Clock::System,
            session,
            journal: Journal::default(),
            mode: plan::Mode::Work,
            jobs: Jobs::new(&loaded.paths.data_dir, Clock::System),
        }
    }

    /// Runs the record; returns how often was asked, and what was told before.
    fn run(&self, session: Which, answer: Answer) -> (usize, Vec<String>) {
        let loaded = config::load(&self.env, &self.flags).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&asked);
        let ask = Arc::new(move |_: Question, sender: tokio::sync::oneshot::Sender<Answer>| {
            own.fetch_add(1, Relaxed);
            sender.send(answer.clone()).unwrap();
        });
        let assembled = watched(self.parts(&loaded, session), ask, None).unwrap();
        let Assembled { mut agent, notices, .. } = assembled;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let said = vec![Part::Text("go".to_owned())];
        runtime.block_on(agent.run(said, &Cancel::new(), &mut |_| {}));
        (asked.load(Relaxed), notices.into_iter().map(|notice| notice.text).collect())
    }

    fn made(&self) -> [bool; 2] {
        ["work/a.txt", "work/ran"].map(|path| self.folder.path().join(path).exists())
    }

    fn clear(&self) {
        for path in ["work/a.txt", "work/ran"] {
            let _ = std::fs::remove_file(self.folder.path().join(path));
        }
    }

    /// Files below the data folder with this ending.
    fn files(&self, ending: &str) -> Vec<PathBuf> {
        let mut open = vec![self.folder.path().join("data")];
        let mut found = Vec::new();
        while let Some(path) = open.pop() {
            match path.read_dir() {
                Ok(entries) => open.extend(entries.map(|entry| entry.unwrap().path())),
                Err(_) if path.display().to_string().ends_with(ending) => found.push(path),
                Err(_) => {}
            }
        }
        found
    }
}

#[test]
fn an_answer_is_kept_before_what_it_allowed_and_counts_in_full_later() {
    let world = world(&json!({}));
    assert_eq!(world.run(Which::New, Answer::Grant(Grant::All)).0, 1);
    assert_eq!(world.made(), [true, true]);
    let file =
        world.files(".jsonl").into_iter().find(|path| path.display().to_string().contains("/sessions/")).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("session: interactive"));
    let kinds: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| format!("{} {}", line["type"].as_str().unwrap(), line["role"].as_str().unwrap_or("-")))
        .collect();
    assert_eq!(
        kinds[..5],
        ["session -", "message user", "message assistant", "grant -", "message tool"].map(str::to_owned)
    );
    assert_eq!(text.matches("\"type\":\"grant\"").count(), 1);
    world.clear();
    let (asked, told) = world.run(Which::Open(Selector::Newest), Answer::Reject { reason: None });
    assert_eq!((asked, world.made()), (0, [true, true]));
    assert!(told.contains(&"The session goes on with what was allowed in it: all.".to_owned()), "{told:?}");
}

#[test]
fn always_holds_in_the_next_chat_of_the_project() {
    let world = world(&json!({"mode": "ask"}));
    assert_eq!(world.run(Which::New, Answer::Always).0, 2);
    assert_eq!(world.made(), [true, true]);
    world.clear();
    assert_eq!(world.run(Which::New, Answer::Reject { reason: None }).0, 0);
    assert_eq!(world.made(), [true, true]);
    let file = world.files(".json").pop().unwrap();
    assert!(file.parent().unwrap().ends_with("permissions"), "{file:?}");
    assert!(std::fs::read_to_string(file).unwrap().contains("execute_bash(touch *)"));
}

#[test]
fn a_chosen_mode_asks_nobody() {
    let world = world(&json!({"mode": "write"}));
    assert_eq!(world.run(Which::New, Answer::Grant(Grant::All)), (0, vec![]));
    assert_eq!(world.made(), [true, false]);
}

#[test]
fn a_limit_without_a_price_stops_only_who_cannot_be_told() {
    let mut world = world(&json!({}));
    world.flags.values.push(Flag { option: "--max-cost", key: "max_cost", value: json!(1) });
    let loaded = config::load(&world.env, &world.flags).unwrap();
    let error = headless(world.parts(&loaded, Which::Unkept)).err().unwrap().to_string();
    assert!(error.contains("max_cost is set, but the price of"), "{error}");
    let assembled = watched(world.parts(&loaded, Which::Unkept), Arc::new(|_, _| {}), None).unwrap();
    assert!(assembled.notices.iter().any(|notice| notice.text.contains("max_cost stops nothing")));
    assert_eq!(assembled.rights.unwrap().word(), "asks");
}
