//! The agent works, and a person goes on writing.

use std::fs;

use serde_json::json;

use super::{SETTLED, free, leave};
use crate::support::{Host, call, say};

/// A command that runs until the file `go` is there.
const WAITS: &str = "echo waiting; while [ ! -e go ]; do sleep 0.02; done; echo went";

#[test]
fn enter_steers_between_two_rounds() {
    let host = Host::new();
    host.script([call("execute_bash", json!({"command": WAITS})), say("heard you")]);
    let pty = free(&host);
    pty.line("begin");
    pty.wait_screen("waiting");
    pty.line("also run clippy");
    pty.wait_idle(SETTLED);
    assert!(pty.screen().contains("also run clippy"), "it is shown while it waits:\n{}", pty.screen());
    fs::write(host.work().join("go"), "").unwrap();
    pty.wait_for("heard you");
    assert!(host.request(1).prompt().contains("also run clippy"));
    pty.wait_idle(SETTLED);
    assert_eq!(pty.count("also run clippy"), 1, "{}", pty.history().join("\n"));
    leave(pty);
    assert_eq!(host.session().texts("user").iter().filter(|text| text.contains("also run clippy")).count(), 1);
}

#[test]
fn tab_queues_and_up_takes_back() {
    let host = Host::new();
    host.script([call("execute_bash", json!({"command": WAITS})), say("the first is done"), say("the second, too")]);
    let pty = free(&host);
    pty.line("begin");
    pty.wait_screen("waiting");
    pty.send("follow me");
    pty.wait_screen("› follow me");
    pty.keys(&["tab"]);
    pty.wait_gone("› follow me");
    pty.line("not this");
    pty.wait_gone("› not this");
    // Both come back, and what is sent again is a choice.
    pty.keys(&["up"]);
    pty.wait_screen("› not this");
    pty.keys(&["ctrl-c"]);
    pty.wait_gone("not this");
    pty.send("follow me");
    pty.wait_screen("› follow me");
    pty.keys(&["tab"]);
    pty.wait_gone("› follow me");
    fs::write(host.work().join("go"), "").unwrap();
    pty.wait_for("the second, too");
    let (second, third) = (host.request(1), host.request(2));
    assert!(!second.mentions("follow me") && !third.mentions("not this"));
    assert!(third.prompt().ends_with("follow me"));
    leave(pty);
}

#[test]
fn what_was_not_heard_comes_back_into_the_draft_when_it_is_stopped() {
    let host = Host::new();
    host.script([call("execute_bash", json!({"command": WAITS}))]);
    let pty = free(&host);
    pty.line("begin");
    pty.wait_screen("waiting");
    pty.line("too late");
    pty.wait_gone("› too late");
    pty.keys(&["esc"]);
    pty.wait_for("Stopped.");
    pty.wait_screen("› too late");
    pty.keys(&["ctrl-u"]);
    pty.wait_gone("› too late");
    leave(pty);
    host.assert_no_leftovers();
}
