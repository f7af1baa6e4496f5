//! Keys of providers: where they come from, and whom they never reach.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Call, Host, PROVIDER, Reply, calls, say};

/// A secret of the environment that is not the key in use.
const SECRET: (&str, &str) = ("OPENAI_API_KEY", "k-other-77aa31c9");

/// Long enough for a slow machine, far below any limit of the program's own.
const AT_ONCE: Duration = Duration::from_secs(10);

fn with_command(command: &str) -> Host {
    let host = Host::new();
    host.config(json!({"providers": {PROVIDER: {"api_key": format!("!{command}")}}}));
    host
}

#[test]
fn a_command_for_a_key_ends_with_the_program() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::KILL, 137)] {
        let host = with_command("sleep 4711 & sleep 4712");
        let running = host.print("hi").deadline(AT_ONCE).start();
        host.wait_process("sleep 4711");
        host.wait_process("sleep 4712");
        running.signal(signal);
        running.wait().exits(code);
        host.assert_no_leftovers();
    }
}

#[test]
fn a_command_that_fails_is_named_by_its_key() {
    let host = with_command("echo half-a-secret; exit 3");
    let run = host.print("hi").run().is(4, "", &["providers.mock.api_key", "failed"]);
    assert!(!run.stderr.contains("half-a-secret"));
}

#[test]
fn an_entry_of_the_key_file_that_is_no_key_is_named() {
    for entry in [json!(5), json!({"type": "api_key"}), json!({"type": "x", "key": ""})] {
        let host = Host::new();
        let path = host.file(host.config_dir().join("auth.json"), &json!({PROVIDER: entry}).to_string());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        host.script([say("done")]);
        let run = host.print("hi").run().ok().says(&["auth.json", "`mock`", "api_key"]);
        assert_eq!(run.stderr.lines().filter(|line| line.contains("auth.json")).count(), 1, "{}", run.stderr);
    }
}

#[test]
fn what_a_model_writes_itself_is_neither_kept_nor_shown() {
    let (name, secret) = SECRET;
    for format in ["stream-json", "json", "text"] {
        let host = Host::new();
        let write = Call::new("c1", "write_file", json!({"path": "note", "content": format!("it is {secret}")}));
        let said = format!("The key is {secret}, as you know.");
        host.script([calls([write]).text(&said), Reply::pieces([said.as_str()])]);
        let agent = host.agent(&["-p", "--yolo", "-v", "--output-format", format, "write it down"]);
        let run = agent.env(name, secret).run().ok();
        // What undo would have to restore is the file, word for word.
        let state = host.state().replace(&host.read("note"), "");
        for place in [&run.stdout, &run.stderr, &state] {
            assert!(!place.contains(secret), "{format}: {place}");
        }
        assert!(run.stdout.contains("The key is [secret], as you know."), "{}", run.stdout);
        assert_eq!(host.session().texts("assistant").last().unwrap(), "The key is [secret], as you know.");
        assert_eq!(host.read("note"), format!("it is {secret}"), "what it wants done is done");
    }
}

/// Root may look into every process, unless that is taken from it: in a container, or here by `setpriv`.
#[test]
#[cfg(target_os = "linux")]
fn a_command_cannot_read_the_program_s_environment() {
    let host = Host::new();
    let (name, secret) = SECRET;
    let Some(script) = host.powerless() else { return };
    let read =
        |file: &str| json!({"command": format!("base64 -w0 /proc/$PPID/{file}; echo; base64 -w0 /proc/self/{file}")});
    host.script([calls([Call::new("c1", "execute_bash", read("environ"))]), say("done")]);
    host.task("look").env(name, secret).start_program(&script).wait().ok();
    let told = host.request(1).told().to_owned();
    assert!(told.contains("Permission denied"), "{told}");
    // What the command itself has, it may read: the first half failed for no other reason.
    assert!(told.lines().any(|line| line.len() > 100), "{told}");
}
