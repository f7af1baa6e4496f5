//! Pictures that are pasted: chips in the draft, pictures in the request.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{begun, chat, leave};
use crate::support::{Host, MODEL, PROVIDER, Pty, environment, say};

/// 5×5 pixels.
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/pictures/palette.png");

/// A host whose model sees pictures.
fn with_eyes() -> Host {
    with_input(&["text", "image"])
}

fn with_input(input: &[&str]) -> Host {
    let host = Host::new();
    let model = json!({"id": MODEL, "contextWindow": 128_000, "input": input});
    host.config(json!({"providers": {PROVIDER: {"models": [model]}}}));
    host
}

fn shot(host: &Host, name: &str) -> PathBuf {
    let file = host.home().join(name);
    fs::copy(PICTURE, &file).unwrap();
    file
}

/// A chat that finds this `wl-paste` first.
fn with_clipboard(host: &Host, script: &str) -> Pty {
    let folder = host.root().join("bin");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("wl-paste");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), environment("PATH").unwrap_or_default());
    begun(host.agent(&[]).env("PATH", &path))
}

/// The kinds of parts of the last message, with the texts.
fn parts(host: &Host, request: usize) -> Vec<String> {
    let body = &host.request(request).body;
    let messages = body["messages"].as_array().unwrap();
    let content = &messages.last().unwrap()["content"];
    let part = |part: &Value| part["text"].as_str().unwrap_or(part["type"].as_str().unwrap_or_default()).to_owned();
    content.as_array().unwrap().iter().map(part).collect()
}

#[test]
fn a_pasted_path_is_a_picture_between_the_words() {
    let host = with_eyes();
    let file = shot(&host, "my shot.png");
    host.script([say("it is a palette")]);
    let pty = chat(&host);
    pty.send("what is ");
    pty.wait_screen("› what is");
    pty.paste(&format!("'{}'", file.display()));
    pty.wait_screen("› what is [picture 1: my shot.png 5×5]");
    pty.send("?");
    pty.wait_screen("5×5]?");
    pty.keys(&["enter"]);
    pty.wait_for("it is a palette");
    assert_eq!(pty.count("[picture 1: my shot.png 5×5]?"), 1);
    leave(pty);
    let parts = parts(&host, 0);
    let last = parts.len() - 3;
    assert_eq!(parts[last..], ["what is [picture 1: my shot.png 5×5]", "image_url", "?"]);
    // What was sent is found again by its path, and its bytes are in no history.
    let history = fs::read_to_string(host.data_dir().join("history.jsonl")).unwrap();
    assert!(history.contains("my shot.png") && history.len() < 1_000, "{history}");
    host.script([say("still a palette")]);
    let pty = chat(&host);
    pty.wait_idle(super::SETTLED);
    pty.keys(&["up", "up"]);
    pty.wait_screen("› what is [picture 1: my shot.png]?");
    pty.keys(&["enter"]);
    pty.wait_for("still a palette");
    leave(pty);
    assert!(host.request(1).body.to_string().contains("image_url"));
}

#[test]
fn a_fast_enter_waits_for_the_picture() {
    let host = with_eyes();
    let file = shot(&host, "fast.png");
    host.script([say("seen")]);
    let pty = chat(&host);
    pty.send(&format!("\x1b[200~file://{}\x1b[201~\r", file.display()));
    pty.wait_for("seen");
    leave(pty);
    assert!(parts(&host, 0).contains(&"image_url".to_owned()));
}

#[test]
fn the_clipboard_gives_a_picture_or_text_and_cannot_hold_up_the_screen() {
    let host = with_eyes();
    let mode = host.root().join("mode");
    fs::write(&mode, "picture").unwrap();
    let pty = with_clipboard(
        &host,
        &format!(
            r#"mode=$(cat '{}')
case "$mode $*" in
    'hang '*) sleep 300;;
    'picture --list-types') echo image/png;;
    picture*) cat '{PICTURE}';;
    *--list-types) echo text/plain;;
    *) printf 'copied words';;
esac"#,
            mode.display()
        ),
    );
    pty.keys(&["ctrl-v"]);
    pty.wait_screen("› [picture 1: clipboard 5×5]");
    fs::write(&mode, "text").unwrap();
    pty.keys(&["alt-v"]);
    pty.wait_screen("5×5]copied words");
    fs::write(&mode, "hang").unwrap();
    pty.keys(&["ctrl-v"]);
    pty.send(" and more");
    pty.wait_screen("copied words and more");
    pty.wait_for("did not answer within a second");
    pty.keys(&["ctrl-c"]);
    pty.wait_gone("copied words");
    leave(pty);
    host.assert_no_leftovers();
}

#[test]
fn a_model_without_eyes_is_told_of_at_once() {
    let host = with_input(&["text"]);
    let file = shot(&host, "a.png");
    let pty = chat(&host);
    pty.paste(&file.display().to_string());
    pty.wait_screen("› [picture 1: a.png 5×5]");
    pty.wait_for("test-model sees no pictures, as far as is known");
    pty.keys(&["backspace"]);
    pty.wait_gone("[picture 1");
    pty.keys(&["ctrl-_"]);
    pty.wait_screen("[picture 1: a.png 5×5]");
    pty.keys(&["ctrl-c"]);
    pty.wait_gone("[picture 1");
    leave(pty);
}

#[test]
fn a_draft_with_a_picture_survives_a_kill() {
    let host = with_eyes();
    let file = shot(&host, "kept.png");
    let mut pty = chat(&host);
    pty.paste(&file.display().to_string());
    pty.wait_screen("[picture 1: kept.png 5×5]");
    let folder = host.data_dir().join("drafts");
    let kept = || {
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut files = files.map(|file| file.path()).filter(|path| path.extension() == Some("json".as_ref()));
        files.any(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("\"picture\"")))
    };
    pty.wait(|_| kept(), "the draft to be kept");
    pty.signal(Signal::KILL);
    assert_eq!(pty.exit_code(), 137);
    let pty = chat(&host);
    pty.wait_screen("› [picture 1: kept.png]");
    fs::remove_file(&file).unwrap();
    pty.send(" gone?");
    pty.wait_screen("kept.png] gone?");
    host.script([say("a pity")]);
    pty.keys(&["enter"]);
    pty.wait_for("The picture kept.png is lost: its file is gone.");
    pty.wait_for("a pity");
    leave(pty);
}
