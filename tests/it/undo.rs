//! Taking back what turns did, from the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Host, Role, call, say};

/// A session with one turn, in which a command changed one file and made another.
fn changed() -> Host {
    let host = Host::new();
    host.file("f.txt", "before\n");
    host.file("mine.txt", "mine\n");
    let line = json!({"command": "echo after > f.txt; echo new > g.txt"});
    host.script([call("execute_bash", line), say("changed")]);
    host.task("change it").run().ok();
    host
}

#[test]
fn files_go_back_and_forth_and_the_users_own_stay() {
    let host = changed();
    host.file("mine.txt", "mine, later\n");
    let run = host.agent(&["undo", "--files"]).run().ok();
    let expected = "undo: change it\n--- f.txt\n+++ f.txt\n@@ -1 +1 @@\n-after\n+before\n--- g.txt\n+++ g.txt\n@@ -1 +0,0 @@\n-new\n\
                    restored    f.txt\nremoved     g.txt\n2 files: 1 restored, 1 removed\n";
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), (expected, ""));
    assert_eq!((host.read("f.txt").as_str(), host.exists("g.txt")), ("before\n", false));
    assert_eq!(host.read("mine.txt"), "mine, later\n");
    host.agent(&["undo", "--files"]).run().is(1, "", &["error: no turn of this session changed files"]);
    host.agent(&["redo"]).run().ok();
    assert_eq!((host.read("f.txt").as_str(), host.read("g.txt").as_str()), ("after\n", "new\n"));
    host.agent(&["redo"]).run().is(1, "", &["error: there is nothing to redo"]);
    host.script([say("on we go")]);
    host.print("on").with(&["-c"]).run().ok();
    assert!(host.request(2).said(Role::User).join("\n").contains("change it"));
}

#[test]
fn a_checkpoint_belongs_to_what_was_asked() {
    let host = changed();
    let session = fs::read_to_string(host.session().path).unwrap();
    let lines: Vec<Value> = session.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let checkpoints: Vec<_> = lines.iter().filter(|line| line["type"] == "checkpoint").collect();
    assert_eq!(checkpoints.len(), 1);
    assert_eq!(checkpoints[0]["entry_id"], 1);
    assert!(checkpoints[0]["id"].is_u64() && checkpoints[0]["ref"].is_string(), "{checkpoints:?}");
    assert!(host.data_dir().join("checkpoints").join(host.session().id()).join("journal.jsonl").exists());
    assert_eq!(host.open_to_others(), Vec::<std::path::PathBuf>::new());
    host.script([call("execute_bash", json!({"command": "echo x > h.txt"})), say("changed")]);
    host.task("on").with(&["--no-session"]).run().ok();
    let folders = fs::read_dir(host.data_dir().join("checkpoints")).unwrap().map(Result::unwrap);
    assert_eq!(folders.filter(|folder| folder.path().join("journal.jsonl").exists()).count(), 1);
}

#[test]
fn the_conversation_goes_back_alone_or_with_the_files() {
    let host = changed();
    host.script([say("hello")]);
    let run = host.agent(&["undo", "--chat"]).run().ok();
    assert_eq!(run.stdout, "undo: change it\nthe conversation goes on before that turn\n");
    assert_eq!(host.read("f.txt"), "after\n");
    host.agent(&["redo", "--chat"]).run().ok();
    host.agent(&["undo"]).run().ok();
    assert_eq!(host.read("f.txt"), "before\n");
    host.agent(&["redo"]).run().ok();
    assert_eq!(host.read("f.txt"), "after\n");
    host.agent(&["undo"]).run().ok();
    host.print("hello").with(&["-c"]).run().ok();
    let said = host.request(2).said(Role::User).join("\n");
    assert!(said.contains("hello") && !said.contains("change it"), "{said}");
    assert!(host.session().texts("user").join("\n").contains("change it"), "nothing is deleted");
    // Something was said: there is no way forward any more.
    for what in ["--files", "--chat"] {
        host.agent(&["redo", what]).run().exits(1);
    }
}

#[test]
fn what_would_be_done_can_be_looked_at() {
    let host = changed();
    let run = host.agent(&["undo", "--dry-run", "--color", "always"]).run().ok();
    assert!(run.stdout.contains("\x1b[31m-after\x1b[0m\n\x1b[32m+before\x1b[0m\n"), "{}", run.stdout);
    assert_eq!(host.read("f.txt"), "after\n");
    let id = host.session().id();
    host.agent(&["undo", "--files", &id[..18]]).run().ok();
    assert_eq!(host.read("f.txt"), "before\n");
    host.agent(&["undo", "--session", &id])
        .run()
        .exits(2)
        .says(&["with --session no word is a command", "agent undo ID"]);
    host.agent(&["undo", "nope"]).run().exits(2).says(&["no session has the id"]);
    let help = host.agent(&["--help"]).run().ok().stdout;
    assert!(help.contains("undo ") && help.contains("redo "), "{help}");
}

#[test]
fn where_there_is_nothing_it_says_so() {
    let host = Host::new();
    host.agent(&["undo"]).run().is(1, "", &["error: there is no session of this directory"]);
    host.script([say("hello")]);
    host.print("hi").run().ok();
    host.agent(&["undo", "--files"]).run().is(1, "", &["error: no turn of this session changed files"]);
    assert!(!host.data_dir().join("checkpoints").exists());
    host.agent(&["undo"]).run().ok();
    host.agent(&["undo"]).run().is(1, "", &["error: there is nothing to undo"]);
}

#[test]
fn a_file_that_was_changed_since_is_left_alone() {
    let host = changed();
    host.file("f.txt", "mine by now\n");
    let run = host.agent(&["undo", "--files"]).run().ok();
    assert!(run.stdout.contains("left alone  f.txt: it was changed in the same lines since\n"), "{}", run.stdout);
    assert!(run.stdout.ends_with("1 file: 1 removed; 1 left alone\n"), "{}", run.stdout);
    assert_eq!(host.read("f.txt"), "mine by now\n");
}

#[test]
fn a_session_that_is_open_elsewhere_keeps_its_conversation() {
    let host = changed();
    let session = fs::File::open(host.session().path).unwrap();
    rustix::fs::flock(&session, rustix::fs::FlockOperation::LockExclusive).unwrap();
    host.agent(&["undo"]).run().exits(1).says(&["open in another process", "--files"]);
    assert_eq!(host.read("f.txt"), "after\n");
    host.agent(&["undo", "--files"]).run().ok();
    assert_eq!(host.read("f.txt"), "before\n");
    assert_eq!(host.sessions().len(), 1, "no copy was made");
}

#[test]
fn a_turn_that_was_killed_is_taken_back() {
    let host = Host::new();
    host.file("f.txt", "before\n");
    host.script([call("execute_bash", json!({"command": "echo after > f.txt; echo x > g.txt; sleep 60"}))]);
    let running = host.task("change it").start();
    host.wait_process("sleep 60");
    // Until the program has said that it lived when that was written.
    let lock = || {
        let folder = fs::read_dir(host.data_dir().join("checkpoints")).unwrap().map(|entry| entry.unwrap().path());
        folder.map(|folder| folder.join("lock")).find(|lock| lock.exists()).unwrap()
    };
    let time = |path: std::path::PathBuf| fs::metadata(path).and_then(|found| found.modified()).ok();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while time(host.work().join("g.txt")).is_none_or(|written| time(lock()).is_none_or(|alive| alive <= written)) {
        assert!(std::time::Instant::now() < deadline, "no sign of life");
        std::thread::yield_now();
    }
    running.signal(Signal::KILL);
    running.wait();
    assert_eq!(host.read("f.txt"), "after\n");
    // The clock of file systems ticks a few hundred times a second: what is written in the tick of the last sign of life
    // might as well have been written before it.
    while time(host.work().join("mine.txt")).is_none_or(|written| time(lock()).is_none_or(|alive| written <= alive)) {
        assert!(std::time::Instant::now() < deadline, "the clock stands still");
        host.file("mine.txt", "mine\n");
    }
    let run = host.agent(&["undo", "--files"]).run().ok();
    assert!(run.stdout.contains("The turn was cut off"), "{}", run.stdout);
    assert!(run.stdout.contains("left alone  mine.txt: it was changed after the program had ended"), "{}", run.stdout);
    assert_eq!((host.read("f.txt").as_str(), host.exists("g.txt")), ("before\n", false));
    assert_eq!(host.read("mine.txt"), "mine\n");
}

#[test]
fn a_person_is_asked_first() {
    for (answer, code, content) in [("n\r", 1, "after\n"), ("y\r", 0, "before\n")] {
        let host = changed();
        let mut pty = host.agent(&["undo"]).pty(80, 24);
        pty.wait_for("Take this back? [y/N]");
        pty.send(answer);
        assert_eq!(pty.exit_code(), code);
        assert_eq!(host.read("f.txt"), content);
    }
}

#[test]
fn damage_to_what_was_kept_is_said() {
    let host = changed();
    let journal = host.data_dir().join("checkpoints").join(host.session().id()).join("journal.jsonl");
    fs::write(&journal, "no journal\n").unwrap();
    host.agent(&["undo", "--files"]).run().exits(1).says(&["files of this turn is damaged"]);
    let run = host.agent(&["undo"]).run().exits(1);
    assert!(run.stdout.contains("files of this turn is damaged or gone; they stay as they are"), "{}", run.stdout);
    assert!(run.stdout.contains("the conversation goes on before that turn"), "{}", run.stdout);
    assert_eq!(host.read("f.txt"), "after\n");
}

#[test]
fn a_copy_names_the_session_whose_turn_it_was() {
    let host = changed();
    let parent = host.session().id();
    host.script([say("on")]);
    host.print("on").with(&["--fork", &parent]).run().ok();
    let copy = host.sessions().into_iter().map(|session| session.id()).find(|id| *id != parent).unwrap();
    host.agent(&["undo", &copy]).run().ok();
    let run = host.agent(&["undo", &copy]).run().ok();
    assert!(run.stdout.contains(&format!("belong to session {parent}, which this one is a copy of")), "{}", run.stdout);
    assert_eq!(host.read("f.txt"), "after\n");
    host.agent(&["undo", "--files", &parent]).run().ok();
    assert_eq!(host.read("f.txt"), "before\n");
}

#[test]
fn what_is_restored_is_called_by_its_own_name() {
    let host = changed();
    host.script([say("hello")]);
    host.print("hi").with(&["-c"]).run().ok();
    let first_line = |arguments: &[&str]| host.agent(arguments).run().ok().stdout.lines().next().map(str::to_owned);
    assert_eq!(first_line(&["undo"]).as_deref(), Some("undo: hi"));
    assert_eq!(first_line(&["redo", "--dry-run"]).as_deref(), Some("redo: hi"));
    assert_eq!(first_line(&["undo"]).as_deref(), Some("undo: change it"));
    assert_eq!(first_line(&["redo"]).as_deref(), Some("redo: change it"));
    assert_eq!(host.read("f.txt"), "after\n");
    assert_eq!(first_line(&["redo"]).as_deref(), Some("redo: hi"));
    // Files of an earlier turn that went back alone are not restored with a later one.
    host.agent(&["undo", "--chat"]).run().ok();
    host.agent(&["undo", "--files"]).run().ok();
    assert_eq!(first_line(&["redo", "--chat"]).as_deref(), Some("redo: hi"));
    assert_eq!(host.read("f.txt"), "before\n");
}

#[test]
fn a_session_that_cannot_be_written_is_not_open_elsewhere() {
    let host = changed();
    let Some(program) = host.powerless() else { return };
    let path = host.session().path;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let run = host.agent(&["undo"]).start_program(&program).wait().exits(1).says(&["cannot be written"]);
    assert!(!run.stderr.contains("another process"), "{}", run.stderr);
    assert_eq!(host.read("f.txt"), "after\n");
}

#[test]
fn what_a_turn_made_and_removed_is_not_made_by_undo() {
    let host = Host::new();
    host.file("f.txt", "before\n");
    let bash = |line: &str| call("execute_bash", json!({"command": line}));
    // File systems count time in ticks of some milliseconds: the folder has to be younger than the turn's first look, and
    // there is nothing to see that says so.
    host.script([bash("echo 1 > f.txt; sleep 0.05; mkdir -p d/x; echo 1 > d/x/y"), bash("rm -rf d"), say("done")]);
    host.task("make and remove").run().ok();
    host.agent(&["undo", "--files"]).run().ok();
    assert_eq!((host.read("f.txt").as_str(), host.exists("d")), ("before\n", false));
}
