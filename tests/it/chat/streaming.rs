//! Answers arrive: each line is there once, nothing that scrolled away is touched, and sizes may change meanwhile.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{SETTLED, chat, free, leave, raw};
use crate::support::{Host, Reply, call, say};

/// A long answer, a paragraph a line.
fn paragraphs(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("paragraph-{number}-\n\n")).collect()
}

fn in_order(history: &[String]) -> Vec<String> {
    let lines = history.iter().map(|line| line.trim().to_owned());
    lines.filter(|line| line.starts_with("paragraph-")).collect()
}

#[test]
fn the_prompt_is_there_and_keys_that_came_before_it_are_kept() {
    let host = Host::new();
    let pty = host.agent(&[]).pty(80, 24);
    pty.send("early words");
    pty.wait_screen("› early words");
    pty.send(" and later ones");
    pty.wait_screen("› early words and later ones");
    pty.keys(&["ctrl-u"]);
    pty.wait_gone("› early words");
    pty.wait_for("viola 0");
    let pty = leave(pty);
    assert_eq!(pty.count("viola 0"), 1, "the banner stays");
}

#[test]
fn an_answer_of_120_lines_stands_in_the_history_once_also_while_it_streams() {
    let host = Host::new();
    let text = paragraphs(120);
    host.script([Reply::pieces(text.iter().map(String::as_str)).pace(Duration::from_millis(3))]);
    let pty = chat(&host);
    pty.line("tell me all");
    for seen in [5, 30, 60, 90, 119] {
        pty.wait_for(&format!("paragraph-{seen}-"));
        let lines = in_order(&pty.history());
        let expected: Vec<_> = (0..lines.len()).map(|number| format!("paragraph-{number}-")).collect();
        assert_eq!(lines, expected);
    }
    pty.wait_idle(SETTLED);
    let pty = leave(pty);
    let expected: Vec<_> = (0..120).map(|number| format!("paragraph-{number}-")).collect();
    assert_eq!(in_order(&pty.history()), expected);
    assert_eq!(pty.count("tell me all"), 1, "{}", pty.history().join("\n"));
    let raw = raw(&pty);
    for never in ["\x1b[2J", "\x1b[3J", "\x1b[?1049h", "\x1b[?47h", "\x1bc"] {
        assert!(!raw.contains(never), "{never:?}");
    }
}

#[test]
fn in_tmux_sizes_and_zoom_change_while_it_streams_and_every_line_is_there_once() {
    let host = Host::new();
    let text = paragraphs(60);
    host.script([Reply::pieces(text.iter().map(String::as_str)).pace(Duration::from_millis(15))]);
    let tmux = host.agent(&[]).tmux(80, 24);
    tmux.wait_screen("›");
    tmux.send("tell me all");
    tmux.wait_screen("› tell me all");
    tmux.keys(&["enter"]);
    tmux.wait_for("paragraph-2-");
    tmux.split();
    for (columns, rows) in [(60, 24), (90, 30), (44, 20), (80, 24)] {
        tmux.zoom();
        tmux.resize(columns, rows);
        tmux.zoom();
    }
    tmux.wait_for("paragraph-59-");
    tmux.zoom();
    tmux.wait(|tmux| in_order(&tmux.copied()).len() == 60, "all lines");
    tmux.send("/exit");
    tmux.wait_screen("› /exit");
    tmux.keys(&["enter"]);
    tmux.wait_end();
    let expected: Vec<_> = (0..60).map(|number| format!("paragraph-{number}-")).collect();
    let all = tmux.copied();
    assert_eq!(in_order(&all), expected);
    let count = |text: &str| all.iter().filter(|line| line.contains(text)).count();
    assert_eq!((count("viola 0"), count("tell me all")), (1, 1), "{all:#?}");
}

#[test]
fn esc_stops_a_silent_model_at_once_and_what_was_said_is_kept() {
    let host = Host::new();
    host.script([Reply::pieces(["partial words"]).stall_after(1), say("welcome back")]);
    let pty = chat(&host);
    pty.line("go on");
    pty.wait_screen("partial words");
    let pressed = Instant::now();
    pty.keys(&["esc"]);
    pty.wait_for("Stopped.");
    let took = pressed.elapsed();
    // 200 ms are promised; a loaded machine gets some more to be fair.
    assert!(took < Duration::from_millis(600), "{took:?}");
    pty.line("and now");
    pty.wait_for("welcome back");
    assert_eq!(pty.count("partial words"), 1);
    leave(pty);
}

#[test]
fn parallel_calls_stand_in_their_order_and_once() {
    let host = Host::new();
    host.script([
        call("execute_bash", json!({"command": "echo first-out"})).text("I look."),
        call("execute_bash", json!({"command": "echo second-out; exit 3"})),
        say("All done here."),
    ]);
    let pty = free(&host);
    pty.line("do both");
    pty.wait_for("All done here.");
    pty.wait_idle(SETTLED);
    for once in ["I look.", "echo first-out", "echo second-out", "All done here."] {
        assert_eq!(pty.count(once), 1, "{once}:\n{}", pty.history().join("\n"));
    }
    leave(pty);
}
