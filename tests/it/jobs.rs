//! Commands in the background: what the model is told of them, what ends with the agent, and what stays.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Call, Host, KEY, calls, say};

fn background(id: &str, command: &str, kind: &str) -> Call {
    Call::new(id, "execute_bash", json!({"command": command, "background": kind}))
}

/// Longer than a test takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The services that run, as `agent jobs --json` has them.
fn services(host: &Host) -> Vec<Value> {
    let listed = host.agent(&["jobs", "--json"]).run().ok();
    let Value::Array(services) = serde_json::from_str(&listed.stdout).unwrap() else { panic!("{}", listed.stdout) };
    services
}

fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn a_job_ends_with_the_task_and_is_in_the_result() {
    let host = Host::new();
    host.script([calls([background("c1", "echo $$ >pid; echo up; exec sleep 600", "job")]), say("done")]);
    let run = host.task("go").run().ok();
    assert!(host.request(1).result("c1").contains("up\nstarted job j1"));
    let jobs =
        json!([{"id": "j1", "command": "echo $$ >pid; echo up; exec sleep 600", "kind": "job", "status": "stopped"}]);
    assert_eq!(run.result()["jobs"], jobs);
    assert!(!is_running(&host.read("pid")));
}

#[test]
fn a_service_stays_until_it_is_stopped_and_hides_the_key() {
    let host = Host::new();
    host.file("key.txt", &format!("{KEY}\n"));
    let command = "echo $$ >pid; cat key.txt; exec sleep 600";
    host.script([calls([background("c1", command, "service")]), say("done")]);
    let run = host.print("go").with(&["--yolo"]).run().ok();
    assert!(host.request(1).result("c1").starts_with("[secret]\nstarted service, id s-"));
    let pid = host.read("pid");
    assert!(is_running(&pid));
    let listed = services(&host);
    let id = listed[0]["id"].as_str().unwrap();
    assert!(
        run.stderr.contains(&format!("still running: {id}")) && run.stderr.contains(&format!("agent jobs stop {id}"))
    );
    assert_eq!(listed[0]["command"], command);
    assert!(PathBuf::from(listed[0]["log"].as_str().unwrap()).exists());
    assert!(host.agent(&["jobs"]).run().ok().stdout.starts_with(&format!("{id}  echo")));
    let unknown = host.agent(&["jobs", "stop", "s-none"]).run().exits(2);
    assert!(unknown.stderr.contains(&format!("no job s-none; there are: {id} (running)")), "{}", unknown.stderr);
    assert!(host.agent(&["jobs", "stop", id]).run().ok().stdout.starts_with(&format!("stopped {id}")));
    assert!(!is_running(&pid) && services(&host).is_empty());
}

#[test]
fn a_killed_agents_jobs_are_ended_by_the_next() {
    let host = Host::new();
    host.script([calls([background("c1", "echo $$ >pid; exec sleep 600", "job")]), say("done").wait(PATIENCE)]);
    let running = host.task("go").start();
    host.server.wait_requests(2);
    let pid = host.read("pid");
    running.signal(Signal::KILL);
    drop(running);
    assert!(is_running(&pid));
    assert!(services(&host).is_empty());
    assert!(!is_running(&pid));
}

#[test]
fn a_signal_ends_the_jobs_too() {
    let host = Host::new();
    host.script([calls([background("c1", "echo $$ >pid; exec sleep 600", "job")]), say("done").wait(PATIENCE)]);
    let running = host.task("go").start();
    host.server.wait_requests(2);
    running.signal(Signal::TERM);
    let run = running.wait().exits(143);
    assert_eq!(run.result()["jobs"][0]["status"], "stopped");
    assert!(!is_running(&host.read("pid")));
}
