//! What is shown: reports, colours or none, and text from outside, which never drives the terminal.

use std::time::Duration;

use serde_json::json;

use super::{SETTLED, begun, chat, free, leave, raw};
use crate::support::{Host, call, say, side_by_side};

/// The sequences that choose a colour.
fn colours(output: &str) -> Vec<&str> {
    let sequences = output.split("\x1b[").skip(1).filter_map(|sequence| {
        let (parameters, _) = sequence.split_once('m')?;
        parameters.chars().all(|letter| matches!(letter, '0'..='9' | ';' | ':')).then_some(parameters)
    });
    let is_colour = |parameter: &str| matches!(parameter.parse(), Ok(30..=38 | 40..=48 | 90..=97 | 100..=107));
    sequences.filter(|parameters| parameters.split(';').any(is_colour)).collect()
}

#[test]
fn without_colours_there_are_none() {
    let cases = [(vec![], Some("1"), false), (vec!["--color", "never"], None, false), (vec![], None, true)];
    side_by_side(cases, |(arguments, no_colour, any)| {
        let host = Host::new();
        host.script([call("execute_bash", json!({"command": "exit 1"})), say("see `code` and\n\n```sh\necho\n```\n")]);
        let agent = host.agent(&["--yolo"]).with(&arguments);
        let pty = begun(match no_colour {
            Some(value) => agent.env("NO_COLOR", value),
            None => agent,
        });
        pty.line("go");
        pty.wait_for("see `code` and");
        let pty = leave(pty);
        let raw = raw(&pty);
        assert_eq!(!colours(&raw).is_empty(), any, "{:?}", colours(&raw));
    });
}

#[test]
fn hostile_text_never_drives_the_terminal() {
    const EVIL: &str =
        "\x1b]0;evil title\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[?1049h\x1b[31;8mgone\u{9b}5m\u{202e}rtl\x08\x7f";
    let host = Host::new();
    host.file(format!("name{}", EVIL.replace('/', "")), "x");
    host.script([
        call(
            "execute_bash",
            json!({"command": format!("printf '%b' '{}'; ls", r"\033]0;evil title\007\033[2J\033[?1049h out")}),
        )
        .text(EVIL),
        call(EVIL, json!({EVIL: EVIL})),
        say(&format!("# {EVIL}\n\n```{EVIL}\n{EVIL}\n```\n\n| {EVIL} | b |\n|--|--|\n| {EVIL} | d |\n\nthe end of it")),
    ]);
    let pty = free(&host);
    pty.line("show me");
    pty.wait_for("the end of it");
    pty.wait_idle(SETTLED);
    pty.keys(&["ctrl-o"]);
    pty.paste(EVIL);
    pty.wait_idle(Duration::from_millis(100));
    pty.keys(&["ctrl-c"]);
    pty.wait_idle(SETTLED);
    let pty = leave(pty);
    let raw = raw(&pty);
    for never in ["\x1b]0;evil", "\x1b]52", "\x1b[2J", "\x1b[?1049h", "\x1b[31;8m", "\u{9b}", "\u{202e}", "\x07gone"] {
        assert!(!raw.contains(never), "{never:?} came through:\n{}", raw.escape_debug());
    }
}

#[test]
fn commands_report() {
    let host = Host::new();
    host.script([say("a **bold** answer — with `code`")]);
    let pty = chat(&host);
    pty.line("/help");
    pty.wait_for("/context");
    pty.line("/tools");
    pty.wait_for("execute_bash");
    pty.line("/copy");
    pty.wait_for("There is no answer to copy yet.");
    pty.line("say it");
    pty.wait_for("a bold answer");
    pty.wait_idle(SETTLED);
    pty.line("/context");
    pty.wait_for("system prompt");
    pty.line("/copy");
    pty.wait_for("was given to the terminal's clipboard");
    // base64 of the source text, not of what is shown
    pty.wait_raw("\x1b]52;c;YSAqKmJvbGQqKiBhbnN3ZXIg4oCUIHdpdGggYGNvZGVg");
    leave(pty);
}

#[test]
fn a_screen_that_is_too_small_says_so_and_comes_back() {
    let host = Host::new();
    let pty = chat(&host);
    pty.send("words");
    pty.wait_screen("› words");
    pty.resize(12, 4);
    pty.wait_screen("20x5");
    pty.resize(80, 24);
    pty.wait_gone("20x5");
    pty.wait_screen("› words");
    pty.keys(&["ctrl-u"]);
    pty.wait_gone("› words");
    leave(pty);
}
