//! What outlives a run: drafts, what was sent, the conversation.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use super::{SETTLED, begun, chat, leave};
use crate::support::{Host, say};

#[test]
fn a_draft_survives_a_kill_and_is_offered_again() {
    let host = Host::new();
    let mut pty = chat(&host);
    pty.send("precious words");
    pty.wait_screen("› precious words");
    let folder = host.data_dir().join("drafts");
    let kept = || {
        fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .any(|file| file.path().extension() == Some("json".as_ref()))
    };
    pty.wait(|_| kept(), "the draft to be kept");
    pty.signal(Signal::KILL);
    assert_eq!(pty.exit_code(), 137);

    host.script([say("finally")]);
    let pty = chat(&host);
    pty.wait_screen("› precious words");
    pty.keys(&["enter"]);
    pty.wait_for("finally");
    assert!(host.request(0).prompt().ends_with("precious words"));
    leave(pty);

    let pty = chat(&host);
    pty.wait_idle(SETTLED);
    assert_eq!(pty.count("precious words"), 0, "sent is sent");
    leave(pty);
}

#[test]
fn what_was_sent_is_found_again_in_the_next_run() {
    let host = Host::new();
    host.script([say("an answer"), say("an answer more")]);
    let pty = chat(&host);
    pty.line("the older question");
    pty.wait_for("an answer");
    pty.line("the newer question");
    pty.wait_for("an answer more");
    leave(pty);

    let pty = chat(&host);
    pty.send("unsent");
    pty.wait_screen("› unsent");
    pty.keys(&["ctrl-a", "up"]);
    pty.wait_screen("› /exit");
    pty.keys(&["up"]);
    pty.wait_screen("› the newer question");
    pty.keys(&["up"]);
    pty.wait_screen("› the older question");
    pty.keys(&["down", "down", "down"]);
    pty.wait_screen("› unsent");
    pty.keys(&["ctrl-u", "ctrl-r"]);
    pty.send("older");
    pty.wait_screen("the older question");
    pty.keys(&["enter"]);
    pty.wait_screen("› the older question");
    pty.keys(&["ctrl-u"]);
    pty.wait_gone("the older question");
    leave(pty);
}

#[test]
fn continue_shows_the_end_of_the_conversation_and_then_the_prompt() {
    let host = Host::new();
    host.script([say("the first **answer**"), say("the second answer")]);
    let pty = chat(&host);
    pty.line("what was it?");
    pty.wait_for("the first answer");
    leave(pty);

    let pty = begun(host.agent(&["--continue"]));
    pty.wait_for("the first answer");
    assert_eq!(pty.count("what was it?"), 1);
    pty.line("and then?");
    pty.wait_for("the second answer");
    let history = pty.history().join("\n");
    let places: Vec<_> = ["viola 0", "what was it?", "the first answer", "and then?", "the second answer"]
        .iter()
        .map(|text| history.find(text).unwrap_or_else(|| panic!("{text}\n{history}")))
        .collect();
    assert!(places.is_sorted(), "{history}");
    assert!(host.request(1).mentions("what was it?"));
    leave(pty);
}

#[test]
fn a_conversation_is_summarised_on_request_and_says_so() {
    let host = Host::new();
    host.config(json!({"compaction": {"keep_tokens": 100}}));
    host.server.allow_changed_prefix();
    host.server.answer(|request| match request.tools().is_empty() {
        true => say("SUMMARY: we talked."),
        false => say(&format!("an answer {}", "and more ".repeat(900))),
    });
    let pty = chat(&host);
    for (question, turns) in [("first", 1), ("second", 2)] {
        pty.line(question);
        host.server.wait_requests(turns);
        pty.wait_idle(SETTLED);
    }
    pty.line("/compact mind the names");
    pty.wait_for("was summarised");
    let summons = host.request(2);
    assert!(summons.prompt().ends_with("The person asks of it: mind the names"), "{}", summons.prompt());
    pty.line("third");
    host.server.wait_requests(4);
    pty.wait_idle(SETTLED);
    let request = host.request(3);
    assert!(request.mentions("SUMMARY: we talked.") && request.prompt().ends_with("third"));
    pty.line("/context");
    pty.wait_for("The summary stands for the beginning");
    leave(pty);
}
