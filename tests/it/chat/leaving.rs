//! All the ways out: the terminal is left as it was found, and nothing runs on.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::{SETTLED, assert_restored, chat, free, leave};
use crate::support::{Host, Reply, call, side_by_side};

#[test]
fn keys_lead_out() {
    let host = Host::new();
    let mut pty = chat(&host);
    pty.keys(&["ctrl-d"]);
    assert_eq!(pty.exit_code(), 0);
    assert_restored(&pty);

    let mut pty = chat(&host);
    pty.send("some words");
    pty.wait_screen("› some words");
    pty.keys(&["ctrl-d", "ctrl-c"]);
    pty.wait_gone("some words");
    pty.wait_idle(Duration::from_millis(1100));
    pty.keys(&["ctrl-c"]);
    pty.wait_screen("ctrl-c again leaves");
    pty.keys(&["ctrl-c"]);
    assert_eq!(pty.exit_code(), 0);
    assert_restored(&pty);

    let pty = leave(chat(&host));
    assert!(!pty.screen().contains('›'), "the prompt stays:\n{}", pty.screen());
    host.assert_no_leftovers();
}

#[test]
fn leaving_takes_no_time() {
    let host = Host::new();
    // Whether the threads are done before or after somebody looks is chance.
    for _ in 0..8 {
        let mut pty = chat(&host);
        let pressed = Instant::now();
        pty.keys(&["ctrl-d"]);
        assert_eq!(pty.exit_code(), 0);
        assert!(pressed.elapsed() < Duration::from_secs(2), "{:?}", pressed.elapsed());
    }
}

#[test]
fn every_way_out_gives_the_terminal_back() {
    side_by_side([(Signal::TERM, false), (Signal::HUP, false), (Signal::TERM, true), (Signal::INT, true)], |way| {
        let (signal, streaming) = way;
        let host = Host::new();
        let mut pty = chat(&host);
        if streaming {
            let text: Vec<_> = (0..2000).map(|number| format!("words {number} ")).collect();
            host.script([Reply::pieces(text.iter().map(String::as_str)).pace(Duration::from_millis(5))]);
            pty.line("go on");
            pty.wait_screen("words 9");
        } else {
            pty.send("a draft");
            pty.wait_screen("› a draft");
        }
        pty.signal(signal);
        assert_eq!(pty.exit_code(), 128 + signal.as_raw(), "{way:?}");
        assert_restored(&pty);
        host.assert_no_leftovers();
    });
}

#[test]
fn a_running_command_ends_with_the_chat() {
    let host = Host::new();
    host.script([call("execute_bash", json!({"command": "echo begun; sleep 1000"}))]);
    let mut pty = free(&host);
    pty.line("wait for it");
    pty.wait_screen("begun");
    host.wait_process("sleep 1000");
    pty.keys(&["ctrl-c", "ctrl-c"]);
    // The first stops the task, and if it is over by then the second only warns.
    pty.keys(&["ctrl-d"]);
    pty.exit_code();
    assert_restored(&pty);
    host.assert_no_leftovers();

    let mut pty = free(&host);
    pty.line("!sleep 2000");
    host.wait_process("sleep 2000");
    pty.signal(Signal::HUP);
    assert_eq!(pty.exit_code(), 129);
    assert_restored(&pty);
    host.assert_no_leftovers();
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_brings_everything_back() {
    let host = Host::new();
    let agent = host.agent(&["-i"]).env("PS1", "shell: ").env("ENV", "");
    let pty = agent.pty_program(Path::new("/bin/sh"), 80, 24);
    pty.wait_screen("shell:");
    pty.send(&format!("{}\r", env!("CARGO_BIN_EXE_agent")));
    pty.wait_for("viola 0");
    pty.send("half a thou");
    pty.wait_screen("› half a thou");
    pty.keys(&["ctrl-z"]);
    pty.wait_for("Stopped");
    pty.wait_idle(SETTLED);
    assert_eq!(pty.left_on(), [""; 0]);
    pty.send("echo bet''ween\r");
    pty.wait_for("between");
    pty.send("fg\r");
    pty.wait_screen("› half a thou");
    pty.wait_ready();
    pty.send("ght");
    pty.wait_screen("› half a thought");
    assert_eq!(pty.count("between"), 1);
    pty.keys(&["ctrl-u"]);
    pty.wait_gone("half a thought");
    pty.line("/exit");
    pty.wait(|pty| pty.screen().trim_end().ends_with("shell:"), "the shell");
    assert_eq!(pty.left_on(), [""; 0]);
}

#[test]
fn idle_it_writes_nothing_and_does_not_wake() {
    let host = Host::new();
    let pty = chat(&host);
    pty.send("a draft");
    pty.wait_screen("› a draft");
    // The draft is kept once, and what the terminal was asked is answered.
    pty.wait_idle(Duration::from_millis(1000));
    let (written, (woken, worked)) = (pty.raw().len(), pty.work_done());
    // The measured thing is this time, in which nothing is to happen.
    std::thread::sleep(Duration::from_secs(2));
    let (later, (woken_later, worked_later)) = (pty.raw().len(), pty.work_done());
    assert_eq!(later, written, "bytes while idle");
    assert!(woken_later - woken <= 2, "woken {} times in 2 s", woken_later - woken);
    assert!(worked_later - worked <= 1, "{} ticks in 2 s", worked_later - worked);
}
