//! A person is asked: what would run is shown, the answer is kept, and nobody asks twice.

use std::time::Duration;

use serde_json::json;

use super::{SETTLED, begun, chat, leave};
use crate::support::{Host, Reply, call, say};

/// A call of the shell, after a time that no key before it was meant for.
fn bash(command: &str) -> Reply {
    call("execute_bash", json!({"command": command})).wait(Duration::from_millis(600))
}

#[test]
fn yes_runs_it_and_the_session_remembers() {
    let host = Host::new();
    host.script([bash("touch first"), say("done first")]);
    let pty = chat(&host);
    pty.line("go");
    pty.wait_screen("[y]es all");
    pty.wait_screen("touch first");
    assert!(!host.exists("first"));
    pty.send("y");
    pty.wait_for("done first");
    assert!(host.exists("first"));
    leave(pty);
    let grants: Vec<_> =
        host.session().records.into_iter().filter(|record| record.to_string().contains("\"grant\"")).collect();
    assert_eq!(grants.len(), 1, "{grants:?}");

    host.script([bash("touch second"), say("done second")]);
    let pty = begun(host.agent(&["--continue"]));
    pty.line("again");
    pty.wait_for("done second");
    assert!(host.exists("second"));
    assert_eq!(pty.count("[y]es all"), 0, "asked again");
    leave(pty);
}

#[test]
fn no_runs_nothing_and_neither_pastes_nor_foreign_letters_answer() {
    let host = Host::new();
    host.script([bash("touch never"), say("then not")]);
    let pty = chat(&host);
    pty.line("go");
    pty.wait_screen("[y]es all");
    pty.wait_idle(SETTLED);
    pty.paste("y");
    pty.wait_screen("› y");
    pty.keys(&["backspace"]);
    pty.wait_gone("› y");
    for foreign in ["у", "н", "υ", "ט", "ㅛ"] {
        pty.send(foreign);
        pty.wait_screen(&format!("› {foreign}"));
        assert!(pty.screen().contains("[y]es all"), "{foreign} answers");
        pty.keys(&["backspace", "up"]);
        pty.wait_gone(&format!("› {foreign}"));
    }
    assert!(!host.exists("never"));
    pty.send("n");
    pty.wait_for("then not");
    assert!(!host.exists("never"));
    leave(pty);
}

#[test]
fn ask_mode_asks_once_and_always_is_kept_for_the_project() {
    let host = Host::new();
    host.config(json!({"permissions": {"mode": "ask"}}));
    let touch = |name: &str| bash(&format!("touch {name}"));
    host.script([touch("one"), touch("two"), touch("three"), say("three files")]);
    let pty = chat(&host);
    pty.line("go");
    pty.wait_screen("touch one");
    pty.wait_screen("[y] once");
    pty.send("y");
    pty.wait_for("touch two");
    pty.wait_screen("[a]lways");
    assert!(host.exists("one") && !host.exists("two"));
    pty.send("a");
    pty.wait_for("three files");
    assert!(host.exists("two") && host.exists("three"));
    leave(pty);
    assert!(host.state().contains("execute_bash(touch *)"), "{}", host.state());

    host.script([touch("four"), say("the fourth")]);
    let pty = chat(&host);
    pty.line("one more");
    pty.wait_for("the fourth");
    assert!(host.exists("four"));
    leave(pty);
}

#[test]
fn what_is_said_instead_reaches_the_model() {
    let host = Host::new();
    host.config(json!({"permissions": {"mode": "ask"}}));
    host.script([bash("touch no"), say("as you like")]);
    let pty = chat(&host);
    pty.line("go");
    pty.wait_screen("[y] once");
    pty.keys(&["tab"]);
    pty.wait_screen("enter: no, and say this");
    pty.line("use yarrow instead");
    pty.wait_for("as you like");
    assert!(host.request(1).mentions("use yarrow instead") && !host.exists("no"));
    leave(pty);
}
