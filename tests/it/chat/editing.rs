//! What is typed: new lines in every keyboard's tongue, wide letters, pastes, files, an editor of one's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{SETTLED, begun, chat, leave};
use crate::support::{Host, Keyboard, say, side_by_side};

#[test]
fn every_keyboard_has_a_key_for_a_new_line() {
    // How "one", the key and "two" are sent, and the keyboard that sends it so.
    let ways = [
        ("\n", Keyboard::Legacy),
        ("\x1b\r", Keyboard::Legacy),
        ("\\\r", Keyboard::Legacy),
        ("\x1b[27;2;13~", Keyboard::Legacy),
        ("\x1b[27;3;13~", Keyboard::Legacy),
        ("\x1b[13;2u", Keyboard::Kitty),
        ("\x1b[13;3u", Keyboard::Kitty),
        ("\x1b[106;5u", Keyboard::Kitty),
    ];
    side_by_side(ways, |(key, keyboard)| {
        let host = Host::new();
        host.script([say("both lines came")]);
        let pty = begun(host.agent(&[]).keyboard(keyboard));
        pty.send("one");
        pty.wait_screen("› one");
        pty.send(key);
        pty.wait_idle(SETTLED);
        pty.send("two");
        pty.wait_screen("two");
        assert_eq!(host.server.requests().len(), 0, "{key:?} sends");
        pty.keys(&["enter"]);
        pty.wait_for("both lines came");
        assert!(host.request(0).prompt().ends_with("one\ntwo"), "{key:?}: {:?}", host.request(0).prompt());
        leave(pty);
    });
}

#[test]
fn the_cursor_stands_behind_wide_letters_and_moves_over_them() {
    let host = Host::new();
    let pty = chat(&host);
    pty.send("日本語");
    pty.wait_screen("› 日本語");
    let at = |column: u16| pty.wait(|pty| pty.cursor().is_some_and(|at| at.1 == column), &format!("column {column}"));
    at(2 + 6);
    pty.keys(&["left", "left"]);
    at(2 + 2);
    pty.keys(&["backspace"]);
    pty.wait_screen("› 本語");
    at(2);
    pty.keys(&["ctrl-k"]);
    pty.wait_gone("本語");
    leave(pty);
}

#[test]
fn a_paste_of_2000_lines_is_a_chip_and_arrives_as_it_was() {
    let host = Host::new();
    host.script([say("read it all")]);
    let pty = chat(&host);
    pty.wait_idle(SETTLED);
    let before = pty.raw().len();
    let ends = ["\r\n", "\n", "\r"];
    let pasted: String = (0..2000).map(|number| format!("  line {number}\tä{}", ends[number % 3])).collect();
    pty.paste(&pasted);
    pty.wait_screen("[pasted 2,000 lines");
    pty.send(" explain this");
    pty.wait_screen("explain this");
    pty.wait_idle(SETTLED);
    let written = pty.raw().len() - before;
    assert!(written < 8 * 1024, "{written} bytes for a chip");
    pty.keys(&["enter"]);
    pty.wait_for("read it all");
    let expected: String = (0..2000).map(|number| format!("  line {number}\tä\n")).collect();
    let request = host.request(0);
    assert!(request.prompt().ends_with(&(expected + " explain this")), "{:?}", &request.prompt()[..200]);
    leave(pty);
}

#[test]
fn tab_completes_a_file_and_its_text_goes_along() {
    let host = Host::new();
    host.file("src/notes.txt", "the password of the day is heliotrope");
    host.script([say("I have read it.")]);
    let pty = chat(&host);
    pty.send("read @note");
    pty.wait_screen("src/notes.txt");
    pty.keys(&["tab"]);
    pty.wait_screen("› read @src/notes.txt");
    pty.send("please");
    pty.wait_screen("please");
    pty.keys(&["enter"]);
    pty.wait_for("I have read it.");
    assert!(host.request(0).mentions("heliotrope"));
    leave(pty);
}

#[test]
fn an_editor_of_ones_own_gets_the_draft_and_gives_it_back() {
    let host = Host::new();
    host.script([say("thanks")]);
    let script = "#!/bin/sh\n[ \"$1\" = --wait ] || exit 9\ncat \"$2\" >seen\nprintf 'edited\\nby hand\\n' >\"$2\"\n";
    let editor = host.file("editor", script);
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let visual = format!("{} --wait", editor.display());
    let pty = begun(host.agent(&[]).env("VISUAL", &visual));
    pty.send("a rough draft");
    pty.wait_screen("› a rough draft");
    pty.keys(&["ctrl-g"]);
    pty.wait_screen("by hand");
    assert_eq!(host.read("seen"), "a rough draft");
    pty.keys(&["enter"]);
    pty.wait_for("thanks");
    assert!(host.request(0).prompt().ends_with("edited\nby hand"));
    leave(pty);
}

#[test]
fn own_commands_are_shared_with_one_mark_and_kept_with_two() {
    let host = Host::new();
    host.script([say("I see.")]);
    let pty = chat(&host);
    pty.line("!echo hea''rd");
    pty.wait_for("heard");
    pty.line("!!echo whis''pered");
    pty.wait_for("whispered");
    pty.wait_idle(SETTLED);
    pty.line("what did I run?");
    pty.wait_for("I see.");
    let request = host.request(0);
    assert!(request.mentions("heard") && !request.mentions("whispered"), "{}", request.body);
    leave(pty);
}

#[test]
fn a_path_is_no_command_and_an_unknown_command_stays_in_the_draft() {
    let host = Host::new();
    host.script([say("that is a path")]);
    let pty = chat(&host);
    pty.line("/usr/bin/x crashes");
    pty.wait_for("that is a path");
    assert!(host.request(0).prompt().ends_with("/usr/bin/x crashes"));
    pty.line("/toolz");
    pty.wait_for("/tools");
    pty.wait_screen("› /toolz");
    pty.keys(&["ctrl-u"]);
    pty.wait_gone("› /toolz");
    leave(pty);
}
