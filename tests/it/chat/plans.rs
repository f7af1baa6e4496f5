//! Plan mode in the chat: nothing is written until a person accepts the plan, with the grant they pick.

use std::time::Duration;

use serde_json::json;

use super::{begun, leave};
use crate::support::{Host, call, say};

#[test]
fn a_plan_is_made_accepted_and_carried_out() {
    let host = Host::new();
    host.script([
        call("write_file", json!({"path": "early.txt", "content": "x"})),
        // After a time that no key before it was meant for.
        say("1. Write the file.").wait(Duration::from_millis(700)),
        call("write_file", json!({"path": "late.txt", "content": "x"})),
        say("It is written."),
    ]);
    // Other tools are on offer afterwards, and the prompt is another.
    host.server.allow_changed_prefix();
    let pty = begun(host.agent(&["--plan"]));
    pty.line("what would you do?");
    pty.wait_screen("Carry out this plan?");
    assert!(!host.exists("early.txt"));
    pty.send("w");
    pty.wait_for("It is written.");
    assert!(host.exists("late.txt") && !host.exists("early.txt"));
    assert!(host.request(2).mentions("The plan is accepted. Carry it out."));
    leave(pty);
}
