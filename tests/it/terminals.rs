//! The terminals of the harness themselves: what they show, answer, and notice. Shell programs stand for the agent.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Host, Keyboard, Pty, Tmux};

fn shell(host: &Host, script: &str) -> Pty {
    host.agent(&["-c", script]).pty_program(Path::new("/bin/sh"), 40, 6)
}

fn shell_in_tmux(host: &Host, script: &str) -> Tmux {
    host.agent(&["-c", script]).tmux_program(Path::new("/bin/sh"), 40, 6)
}

#[test]
fn a_terminal_keeps_what_scrolls_away() {
    let host = Host::new();
    let mut pty =
        shell(&host, "i=0; while [ $i -lt 50 ]; do echo line-$i-; i=$((i+1)); done; printf 'the end'; exit 3");
    assert_eq!(pty.exit_code(), 3);
    let history = pty.history();
    let lines: Vec<_> = history.iter().filter(|line| line.starts_with("line-")).cloned().collect();
    assert_eq!(lines, (0..50).map(|number| format!("line-{number}-")).collect::<Vec<_>>());
    assert_eq!(pty.count("line-7-"), 1);
    assert_eq!(pty.screen().lines().last(), Some("the end"));
    assert_eq!(pty.cursor(), Some((5, 7)));
}

#[test]
fn keys_reach_the_program_and_its_settings_are_seen() {
    let host = Host::new();
    let mut pty = shell(
        &host,
        r#"before=$(stty -g); printf '\033[?2004h\033[?25l'; stty raw -echo; echo ready
        dd bs=1 count=32 2>/dev/null | od -An -c -w40; printf '\033[?25h\033[?2004l'; stty "$before""#,
    );
    pty.wait_ready();
    pty.wait_screen("ready");
    assert_eq!(pty.left_on(), ["?2004h", "?25l"]);
    assert_eq!(pty.cursor(), None);
    pty.keys(&["ctrl-a", "up", "alt-b", "esc", "shift-tab", "enter", "backspace", "ctrl-j"]);
    pty.send("ж");
    pty.paste("12345");
    assert_eq!(pty.exit_code(), 0);
    let all: String = pty.history().concat().split_whitespace().collect();
    assert!(all.contains(r"001033[A033b033033[Z\r177\n320266033[200~12345033[201~"), "{all}");
    assert_eq!(pty.left_on(), [""; 0]);
    assert!(!pty.is_raw(), "its settings are seen after its end");
    assert!(pty.settings().contains("ECHO"));
}

#[test]
fn a_terminal_answers_what_it_is_asked() {
    let script =
        r"stty raw -echo; printf '\033[?u\033]11;?\007ab\033[6n\033[c'; dd bs=1 count=$0 2>/dev/null | od -An -c -w80";
    let host = Host::new();
    for (keyboard, count, answers) in [
        (Keyboard::Legacy, "40", r"033]11;rgb:1111/1111/1111033\033[1;3R033[?62;22c"),
        (Keyboard::Kitty, "5", "033[?0u"),
    ] {
        let agent = host.agent(&["-c", script, count]).keyboard(keyboard);
        let mut pty = agent.pty_program(Path::new("/bin/sh"), 200, 6);
        assert_eq!(pty.exit_code(), 0);
        let all: String = pty.history().concat().split_whitespace().collect();
        assert!(all.contains(answers), "{all}");
    }
}

#[test]
fn sizes_signals_and_silence_are_noticed() {
    let host = Host::new();
    let mut pty =
        shell(&host, "trap 'stty size' WINCH; trap 'echo bye; exit 7' TERM; echo hello; while :; do sleep 0.01; done");
    pty.wait_raw("hello\r\n");
    pty.resize(70, 9);
    pty.wait_screen("9 70");
    pty.wait_idle(Duration::from_millis(50));
    pty.signal(Signal::TERM);
    assert_eq!(pty.exit_code(), 7);
    assert!(pty.raw().ends_with(b"bye\r\n"));

    let mut pty = shell(&host, "kill -9 $$");
    assert_eq!(pty.exit_code(), 128 + 9);
}

#[test]
fn typed_lines_are_waited_for_until_they_are_seen_and_gone() {
    let host = Host::new();
    let mut pty = shell(&host, r"read -r line; printf '\033[A\r\033[Kgot %s\n' $line; read -r line");
    pty.line("hello");
    pty.wait_for("got hello");
    pty.line("more");
    assert_eq!(pty.exit_code(), 0);

    let pty = shell(&host, r"printf first; read -r line; printf '\033[A\r\033[Ksecond'; cat");
    pty.wait_screen("first");
    pty.keys(&["enter"]);
    pty.wait_gone("first");
}

#[test]
fn the_agent_runs_in_both_terminals() {
    let host = Host::new();
    let mut pty = host.agent(&["--version"]).pty(80, 24);
    pty.wait_for("agent 0.");
    assert_eq!(pty.exit_code(), 0);
    let tmux = shell_in_tmux(&host, &format!("'{}' --version; read -r line", env!("CARGO_BIN_EXE_agent")));
    tmux.wait_for("agent 0.");
    tmux.keys(&["enter"]);
    tmux.wait_end();
}

#[test]
fn tmux_wraps_anew_and_keeps_what_scrolls_away() {
    let host = Host::new();
    let long = "0123456789".repeat(5);
    let script = format!("echo {long}; seq 20; printf 'a prompt> '; read -r line; echo got $line; read -r line");
    let tmux = shell_in_tmux(&host, &script);
    tmux.wait_screen("a prompt>");
    assert_eq!(tmux.cursor(), Some((5, 10)));
    assert_eq!(tmux.history()[..2], [&long[..40], &long[40..]]);
    tmux.resize(30, 8);
    assert_eq!(tmux.history()[..2], [&long[..30], &long[30..]]);
    assert_eq!(tmux.copied()[0], long);
    tmux.send("some-text");
    tmux.keys(&["backspace", "enter"]);
    // What a program says with its last breath tmux may lose under load, so this one lives until it has been read.
    tmux.wait_for("got some-tex");
    tmux.keys(&["enter"]);
    tmux.wait_end();
}
