//! Going about in a session: its tree, back before something that was said, copies, names, the list of sessions, files.

use std::time::Duration;

use serde_json::{Value, json};

use super::{SETTLED, begun, chat, leave};
use crate::support::{Host, Pty, call, say};

/// A chat in which two questions were answered.
fn talked(host: &Host) -> Pty {
    host.script([say("answer one"), say("answer two")]);
    // Another place has another past.
    host.server.allow_changed_prefix();
    let pty = chat(host);
    pty.line("question one");
    pty.wait_for("answer one");
    pty.wait_idle(SETTLED);
    pty.line("question two");
    pty.wait_for("answer two");
    pty.wait_idle(SETTLED);
    pty
}

/// A text that was put into the draft has been there long enough to be seen.
const SEEN: Duration = Duration::from_millis(300);

/// The lines of this kind in the only session there is.
fn records(host: &Host, kind: &str) -> Vec<Value> {
    host.session().records.into_iter().filter(|record| record["type"] == kind).collect()
}

#[test]
fn esc_twice_goes_back_and_the_tree_leads_forth_again() {
    let host = Host::new();
    let pty = talked(&host);
    pty.keys(&["esc"]);
    pty.wait_screen("esc again goes back");
    pty.keys(&["esc"]);
    pty.wait_screen("go back before");
    pty.keys(&["enter"]);
    pty.wait_for("2 messages left behind, /tree leads back.");
    // What was said there is to be said anew.
    pty.wait_screen("› question two\n");
    pty.wait_idle(SEEN);
    pty.keys(&["backspace", "backspace", "backspace"]);
    host.script([say("answer three")]);
    pty.send("2b");
    pty.keys(&["enter"]);
    pty.wait_for("answer three");
    let request = host.request(2);
    assert!(request.mentions("answer one") && !request.mentions("answer two"));
    assert!(request.mentions("question 2b") && !request.mentions("question two"));
    pty.wait_idle(SETTLED);

    pty.line("/tree");
    pty.wait_screen("├─ › question two");
    pty.send("answer two");
    pty.wait_screen("1 of 6");
    pty.keys(&["enter"]);
    pty.wait_for("2 messages left behind, /tree leads back.");
    host.script([say("answer four")]);
    pty.wait_idle(SETTLED);
    pty.line("question three");
    pty.wait_for("answer four");
    let request = host.request(3);
    assert!(request.mentions("answer two") && !request.mentions("question 2b"));
    pty.wait_idle(SETTLED);
    leave(pty);
    assert_eq!(records(&host, "leaf").len(), 2);
    assert_eq!(records(&host, "message").len(), 8, "nothing is deleted");

    // It goes on there after the end of the program, too.
    host.script([say("answer five")]);
    host.print("question four").with(&["--continue"]).run().ok();
    assert!(host.request(4).mentions("answer four"));
}

#[test]
fn what_was_allowed_and_shared_before_stays_so_at_another_place() {
    let host = Host::new();
    host.server.allow_changed_prefix();
    host.script([
        call("write_file", json!({"path": "a", "content": "a"})),
        say("written"),
        call("write_file", json!({"path": "b", "content": "b"})),
        say("written, too"),
    ]);
    let pty = chat(&host);
    pty.line("write a");
    pty.wait_screen("[w]rite only");
    // It came within half a second of the last key.
    pty.keys(&["tab"]);
    pty.send("w");
    pty.wait_for("written");
    pty.wait_idle(SETTLED);
    pty.line("!echo my own command");
    pty.wait_for("my own command");
    pty.wait_idle(SETTLED);
    pty.line("/tree 1");
    pty.wait_for("left behind");
    pty.wait_screen("› write a\n");
    pty.wait_idle(SEEN);
    pty.keys(&["enter"]);
    pty.wait_for("written, too");
    assert!(host.exists("b"));
    assert!(host.request(2).mentions("my own command"));
    leave(pty);
}

#[test]
fn a_copy_goes_on_by_itself_and_shows_its_own_tree() {
    let host = Host::new();
    let pty = talked(&host);
    let first = host.session();
    pty.line("/fork");
    pty.wait_for("which stays as it is.");
    pty.wait_idle(SETTLED);
    pty.line("/tree");
    pty.wait_screen("answer two");
    pty.wait_screen("here");
    pty.keys(&["esc"]);
    pty.wait_idle(SETTLED);
    host.script([say("answer three")]);
    pty.line("question three");
    pty.wait_for("answer three");
    pty.wait_idle(SETTLED);
    assert!(host.request(2).mentions("answer two"));
    leave(pty);
    let sessions = host.sessions();
    assert_eq!(sessions.len(), 2);
    for session in sessions {
        if session.id() == first.id() {
            assert_eq!(session.messages().len(), 4);
        } else {
            assert_eq!((session.messages().len(), &session.header()["parent"]), (6, &json!(first.id())));
        }
    }
}

#[test]
fn names_and_labels_are_kept_and_a_conversation_is_written_to_a_file() {
    let host = Host::new();
    let pty = talked(&host);
    pty.line("/name The two questions");
    pty.wait_for("called \"The two questions\"");
    pty.line("/label the good one");
    pty.wait_for("Labelled \"the good one\";");
    pty.wait_idle(SETTLED);
    pty.line("/tree");
    pty.wait_screen("[the good one]");
    pty.keys(&["up", "ctrl-t"]);
    pty.send("asked");
    pty.keys(&["enter"]);
    pty.wait_screen("[asked]");
    pty.keys(&["esc"]);
    pty.wait_idle(SETTLED);
    pty.line("/export talk.html");
    pty.wait_for("was written to");
    pty.line("/export talk.html");
    pty.wait_for("is there already");
    pty.line("/export talk.doc");
    pty.wait_for("does not say what to write");
    pty.line("/export");
    pty.wait_for(".md.");
    pty.line("/export json");
    pty.wait_for(".json.");
    leave(pty);
    assert!(host.read("talk.html").contains("answer two"));
    let labels: Vec<_> = records(&host, "label").iter().map(|label| label["label"].clone()).collect();
    assert_eq!(labels, ["the good one", "asked"]);
    assert_eq!(records(&host, "name")[0]["name"], "The two questions");
    assert!(host.exists(format!("{}.md", host.session().id())));
    assert!(host.exists(format!("{}.json", host.session().id())));
}

#[test]
fn sessions_are_looked_at_named_and_deleted_in_their_list() {
    let host = Host::new();
    host.script([say("the old answer"), say("the new answer")]);
    host.print("an old question").run().ok();
    let old = host.session().id();
    let pty = begun(host.agent(&[]));
    pty.line("a new question");
    pty.wait_for("the new answer");
    pty.wait_idle(SETTLED);
    pty.line("/resume");
    pty.wait_screen("type to search");
    pty.send("old");
    pty.wait_screen("the old answer");
    pty.keys(&["ctrl-r"]);
    pty.wait_screen("another name for");
    pty.send("Ancient");
    pty.keys(&["enter"]);
    pty.wait_screen("▸ Ancient");
    // Typed ahead: the question has not been on the screen when the letter comes.
    pty.send("\u{18}y");
    pty.wait_screen("Delete \"Ancient\" for good?");
    pty.wait_idle(SETTLED);
    assert_eq!(host.sessions().len(), 2);
    pty.send("н");
    pty.send("y");
    pty.wait_for("The session \"Ancient\" is gone for good.");
    let is_alone = |line: &str| line.contains("go on with") && line.trim_end().ends_with('1');
    pty.wait(|pty| pty.screen().lines().any(is_alone), "a list of one");
    pty.keys(&["ctrl-x"]);
    pty.wait_for("The open session cannot be deleted");
    pty.keys(&["esc"]);
    pty.wait_idle(SETTLED);
    leave(pty);
    assert_ne!(host.session().id(), old);
}

#[test]
fn nothing_is_gone_back_in_while_something_runs_or_where_nothing_is_kept() {
    let host = Host::new();
    host.script([say("answer one")]);
    let pty = begun(host.agent(&["--no-session"]));
    pty.line("question one");
    pty.wait_for("answer one");
    pty.wait_idle(SETTLED);
    pty.line("/tree");
    pty.wait_for("this session is not kept");
    pty.line("/fork");
    pty.wait_for("start again without --no-session");
    pty.line("!echo wait''ing; while [ ! -e go ]; do sleep 0.02; done");
    pty.wait_screen("waiting");
    pty.line("/fork");
    pty.wait_for("Something still runs; esc stops it.");
    host.file("go", "");
    pty.wait_idle(SETTLED);
    leave(pty);
}

#[test]
fn the_lists_fit_into_the_smallest_screen() {
    for (columns, rows) in [(40, 10), (200, 60)] {
        let host = Host::new();
        host.script([say("answer one")]);
        let pty = host.agent(&[]).pty(columns, rows);
        pty.wait_for("viola 0");
        pty.line("question one");
        pty.wait_for("answer one");
        pty.wait_idle(SETTLED);
        pty.line("/tree");
        pty.wait_screen("tree");
        pty.wait_screen("▸   answer one");
        pty.keys(&["esc"]);
        pty.wait_idle(SETTLED);
        pty.line("/resume");
        pty.wait_screen("▸ ");
        pty.keys(&["esc"]);
        pty.wait_idle(SETTLED);
        leave(pty);
    }
}

#[test]
fn a_turn_is_taken_back_with_its_files_and_restored_after_it_was_shown_and_asked_about() {
    let host = Host::new();
    host.server.allow_changed_prefix();
    host.file("a.txt", "before\n");
    let edit = json!({"path": "a.txt", "edits": [{"old_text": "before", "new_text": "after"}]});
    host.script([call("edit_file", edit), say("changed")]);
    let pty = begun(host.agent(&["--yolo"]));
    pty.line("change it");
    pty.wait_for("changed");
    pty.wait_idle(SETTLED);
    pty.line("/undo");
    pty.wait_screen("[y]es, take it back");
    let shown = pty.screen();
    assert!(shown.contains("take back: change it") && shown.contains("restore   a.txt"), "{shown}");
    assert!(shown.contains("- after") && shown.contains("+ before"), "{shown}");
    pty.send("n");
    pty.wait_for("Nothing was changed.");
    assert_eq!(host.read("a.txt"), "after\n");
    pty.line("/undo");
    pty.wait_screen("[y]es, take it back");
    pty.wait_idle(SETTLED);
    pty.send("y");
    pty.wait_for("1 file restored.");
    // What was said there is to be said anew.
    pty.wait_screen("› change it\n");
    assert_eq!(host.read("a.txt"), "before\n");
    pty.keys(&["ctrl-u"]);
    pty.wait_idle(SETTLED);
    pty.line("/redo files");
    pty.wait_screen("[y]es, restore it");
    pty.wait_idle(SETTLED);
    pty.send("y");
    pty.wait(|_| host.read("a.txt") == "after\n", "the file as it was");
    pty.wait_idle(SETTLED);
    leave(pty);
}
