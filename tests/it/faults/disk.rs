//! The disk is full, or closed, or a file vanishes, before or during a task: one notice, the task goes on, nothing is
//! half-written, and what was missing is written once there is room.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{Call, Host, Role, Run, Running, calls, say};

/// A task of three commands, each of which waits until the test has removed its file.
fn gated(host: &Host) -> Running {
    for gate in ["gate1", "gate2", "gate3"] {
        host.file(gate, "");
    }
    let gated = |id: &str, gate: &str| {
        let command = format!("while test -e {gate}; do sleep 0.005; done; echo {id} passed");
        calls([Call::new(id, "execute_bash", json!({"command": command}))])
    };
    host.script([gated("c1", "gate1"), gated("c2", "gate2"), gated("c3", "gate3"), say("over")]);
    let running = host.task("first").start();
    running.wait_stdout("\"tool_start\"");
    running
}

fn open(host: &Host, gates: &[&str]) {
    gates.iter().for_each(|gate| fs::remove_file(host.work().join(gate)).unwrap());
}

/// The only notice about the session, which says that it goes on in memory.
fn told_once(run: &Run) -> String {
    let notices = run.notices("session");
    assert_eq!(notices.len(), 1, "{notices:?}");
    let text = notices[0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("goes on in memory"), "{text}");
    text
}

#[test]
fn what_found_no_room_is_written_once_there_is_some() {
    let host = Host::new();
    let running = gated(&host);
    // A few bytes of the next record still fit.
    running.limit_files(Some(host.session().path.metadata().unwrap().len() + 10));
    open(&host, &["gate1"]);
    running.wait_stdout("\"turn\":1");
    host.server.wait_requests(2);
    running.wait_stdout("\"id\":\"c2\"");
    let session = host.session();
    assert_eq!((session.broken, session.messages().len()), (0, 2), "nothing is half-written");
    running.limit_files(None);
    open(&host, &["gate2"]);
    running.wait_stdout("\"id\":\"c3\"");
    let session = host.session();
    assert_eq!((session.broken, session.messages().len()), (0, 6));
    open(&host, &["gate3"]);
    let run = running.wait().ok();
    assert!(told_once(&run).contains("too large"));
    let session = host.session();
    assert_eq!((session.broken, session.messages().len()), (0, 8));
    host.script([say("seen")]);
    host.print("second").with(&["-c"]).run().ok();
    assert_eq!(host.request(4).answered(), ["c1", "c2", "c3"]);
}

#[test]
fn where_no_room_comes_the_file_stays_as_it_was() {
    let host = Host::new();
    let running = gated(&host);
    let path = host.session().path;
    let before = fs::read(&path).unwrap();
    running.limit_files(Some(before.len() as u64 + 10));
    open(&host, &["gate1", "gate2", "gate3"]);
    let run = running.wait().ok();
    assert_eq!(run.result()["text"], "over");
    told_once(&run);
    assert_eq!(fs::read(&path).unwrap(), before);
    host.script([say("seen")]);
    // What was only in memory is gone.
    host.server.allow_changed_prefix();
    let run = host.task("second").with(&["-c"]).run().ok();
    assert!(run.notices("session").is_empty(), "nothing was damaged");
    assert!(host.request(4).result("c1").contains("lost"), "{}", host.request(4).result("c1"));
    assert_eq!(host.request(4).said(Role::User).last(), Some(&"second"));
}

#[test]
fn a_session_that_is_removed_while_it_runs_goes_on_in_memory() {
    for folder_too in [false, true] {
        let host = Host::new();
        let running = gated(&host);
        let path = host.session().path;
        if folder_too {
            fs::remove_dir_all(host.data_dir().join("sessions")).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        open(&host, &["gate1", "gate2", "gate3"]);
        let run = running.wait().ok();
        assert_eq!(run.result()["text"], "over");
        assert!(told_once(&run).contains("removed"));
        assert!(!path.exists());
        host.script([say("anew")]);
        host.print("second").with(&["-c"]).run().is(0, "anew\n", &["no session of this directory yet"]);
    }
}

/// A folder closed to writing, opened again when this is dropped.
struct Unwritable(PathBuf);

impl Unwritable {
    fn new(folder: PathBuf) -> Self {
        fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
        Self(folder)
    }
}

impl Drop for Unwritable {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, Permissions::from_mode(0o700));
    }
}

#[test]
fn a_folder_that_is_closed_while_a_task_runs_hinders_nothing() {
    let host = Host::new();
    let Some(program) = host.powerless() else { return };
    let long = "while test -e gate; do sleep 0.005; done; seq 1 20000";
    host.file("gate", "");
    host.script([calls([Call::new("c1", "execute_bash", json!({"command": long}))]), say("over")]);
    let running = host.task("first").start_program(&program);
    running.wait_stdout("\"tool_start\"");
    let folders = [host.session().path.parent().unwrap().to_owned(), host.data_dir().join("sessions"), host.data_dir()];
    let closed = folders.map(Unwritable::new);
    open(&host, &["gate"]);
    let run = running.wait().ok();
    assert_eq!(run.result()["text"], "over");
    drop(closed);
    let session = host.session();
    assert_eq!((session.broken, session.messages().len()), (0, 4), "its file was open");
    assert!(host.request(1).result("c1").contains("exit code: 0"));
}

#[test]
fn without_a_place_for_data_a_task_is_done_all_the_same() {
    let host = Host::new();
    let Some(program) = host.powerless() else { return };
    let closed = Unwritable::new(host.data_dir());
    let below = host.data_dir().join("not/there");
    let file = host.file("file", "");
    for data in [host.data_dir(), below, file.clone(), file.join("below"), "/proc/none".into()] {
        host.script([calls([Call::new("c1", "execute_bash", json!({"command": "seq 1 20000"}))]), say("done")]);
        let first = host.server.requests().len();
        let run = host.task("go").env("VIOLA_DATA_DIR", data.to_str().unwrap()).start_program(&program).wait().ok();
        told_once(&run);
        assert_eq!(run.result()["text"], "done", "{}", data.display());
        assert!(host.request(first + 1).result("c1").contains("20000"));
        host.script([say("plain")]);
        let print = host.print("go").env("VIOLA_DATA_DIR", data.to_str().unwrap());
        print.start_program(&program).wait().is(0, "plain\n", &["goes on in memory"]);
    }
    drop(closed);
    assert_eq!(host.sessions().len(), 0);
    assert_eq!(host.read("file"), "");
}
