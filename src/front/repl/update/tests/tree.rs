//! The tree of a session, places in it, copies, names, and what is taken back.

use std::sync::Arc;

use super::*;
use crate::front::repl::message::{Arrival, Opened, Wanted};
use crate::front::repl::state::tests::chat::opened;
use crate::front::repl::view::testing::text;
use crate::kernel::event::Context;
use crate::model::message::Message;
use crate::model::usage::Usage;
use crate::product::checkpoint::plan::{ChangeKind, FileChange};
use crate::product::session::outline::{Entry, Outline, Who};
use crate::product::session::spent::Tally;

fn entry(id: u64, parent: Option<usize>, who: Who, text: &str, is_present: bool) -> Entry {
    let (before, tools, label) = (id.checked_sub(1).filter(|id| *id > 0), Vec::new(), None);
    Entry { id, before, end: id, parent, who, text: text.into(), tools, label, at: 0, is_present }
}

/// A question and an answer, and a second question with an answer, after which another one was left behind.
fn outline() -> Outline {
    let mut entries = vec![
        entry(1, None, Who::Person, "first", true),
        entry(2, Some(0), Who::Agent, "one", true),
        entry(4, Some(1), Who::Person, "left", false),
        entry(5, Some(1), Who::Person, "second", true),
        entry(6, Some(3), Who::Agent, "two", true),
    ];
    entries[1].tools = vec![("read_file".into(), 2)];
    // With a result behind it.
    entries[1].end = 3;
    entries[3].before = Some(3);
    Outline { entries, here: Some(4) }
}

fn came(chat: &mut Chat, outline: Outline, wanted: Wanted) -> Vec<Cmd> {
    chat.msg(Msg::News(News::Outlined { outline: Box::new(outline), now: 0, wanted }))
}

fn begun() -> Chat {
    let mut chat = Chat::unopened(80, 24);
    chat.open(vec![Arc::new(Message::user("first"))], Authority::Unasked);
    chat.printed.clear();
    chat
}

fn arrives(chat: &mut Chat, arrival: Arrival) -> Vec<Cmd> {
    let News::Opened(opened) = opened(vec![Arc::new(Message::user("first"))], Authority::Unasked) else { panic!() };
    chat.msg(Msg::News(News::Opened(Box::new(Opened { arrival, ..*opened }))))
}

fn moved(left: usize, again: &str, is_elsewhere: bool) -> Arrival {
    Arrival::Moved { left, again: Draft::typed(again), is_elsewhere, files: Vec::new() }
}

#[test]
fn the_tree_opens_and_leads_to_any_place() {
    let mut chat = begun();
    assert_eq!(acts(&chat.line("/tree")), ["outline Tree"]);
    assert_eq!(acts(&came(&mut chat, outline(), Wanted::Tree)), none());
    insta::assert_snapshot!(chat.shows());
    // Up from where it stands: what a person said is to be said anew.
    chat.key(Code::Up);
    assert_eq!(acts(&chat.key(Code::Enter)), ["go Some(3) again Some(5) left 2 elsewhere false"]);
    assert!(matches!(chat.state.overlay, Overlay::None));
    assert_eq!(acts(&chat.line("typed meanwhile")), none(), "it waits for the other place");
    assert_eq!(acts(&arrives(&mut chat, moved(2, "second", false))), ["say typed meanwhile"]);
    assert_eq!(chat.draft(), "", "somebody writes");
    assert_eq!(chat.state.earlier.last().map(Draft::text).as_deref(), Some("second"));
    assert!(text(&chat.printed).contains("It goes on from here; 2 messages left behind, /tree leads back."));

    let mut chat = begun();
    chat.line("/tree");
    came(&mut chat, outline(), Wanted::Tree);
    chat.typed("left");
    assert_eq!(acts(&chat.ctrl('f')), ["fork Some(3) again Some(4) left 2 elsewhere false"]);
    chat.typed("mine");
    arrives(&mut chat, Arrival::Forked { of: "0123".to_owned(), again: Draft::typed("left") });
    assert_eq!(chat.draft(), "mine", "what is written stays");
    assert_eq!(chat.state.earlier.last().map(Draft::text).as_deref(), Some("left"));
    assert!(text(&chat.printed).contains("a copy of session 0123"), "{}", text(&chat.printed));
}

#[test]
fn other_places_stand_behind_the_results_of_their_calls_and_show_where_they_are() {
    let mut chat = begun();
    chat.line("/tree");
    came(&mut chat, outline(), Wanted::Tree);
    assert_eq!(acts(&chat.key(Code::Enter)), none());
    assert!(text(&chat.printed).contains("stands there already"));
    assert_eq!(acts(&chat.line("/tree 2")), ["outline Going(2)"]);
    assert_eq!(acts(&came(&mut chat, outline(), Wanted::Going(2))), ["go Some(3) again None left 2 elsewhere false"]);
    chat.printed.clear();
    arrives(&mut chat, moved(0, "", true));
    assert!(text(&chat.printed).contains("first\n"), "{}", text(&chat.printed));
    assert_eq!(acts(&chat.line("/fork 9")), ["outline Forking(9)"]);
    assert_eq!(acts(&came(&mut chat, outline(), Wanted::Forking(9))), none());
    assert_eq!(acts(&chat.line("/tree x")), none());
    assert_eq!(acts(&chat.line("/fork")), ["fork "]);
    assert!(text(&chat.printed).contains("There is no message 9;"), "{}", text(&chat.printed));
}

#[test]
fn esc_twice_in_an_idle_chat_goes_back_and_once_or_with_a_draft_it_does_not() {
    let mut chat = begun();
    assert_eq!(acts(&chat.key(Code::Esc)), none());
    assert!(chat.shows().contains("esc again goes back"), "{}", chat.shows());
    chat.later(1100);
    assert!(!chat.shows().contains("esc again"));
    chat.key(Code::Esc);
    chat.key(Code::Left);
    assert_eq!(acts(&chat.key(Code::Esc)), none(), "not in a row");
    assert_eq!(acts(&chat.key(Code::Esc)), ["outline Rollback"]);
    came(&mut chat, outline(), Wanted::Rollback);
    insta::assert_snapshot!(chat.shows());
    assert_eq!(acts(&chat.press(Key::plain(Code::Down))), none());
    assert_eq!(acts(&chat.key(Code::Enter)), ["go None again Some(1) left 4 elsewhere false"]);

    let mut chat = begun();
    chat.typed("draft");
    assert_eq!((acts(&chat.key(Code::Esc)), acts(&chat.key(Code::Esc))), (none(), none()));
    let mut chat = idle();
    assert_eq!((acts(&chat.key(Code::Esc)), acts(&chat.key(Code::Esc))), (none(), none()), "nothing was said");
}

#[test]
fn a_summary_says_that_it_is_one() {
    let mut chat = begun();
    chat.line("/tree");
    let entries = vec![entry(1, None, Who::Summary, "sum0", true), entry(2, Some(0), Who::Person, "next", true)];
    came(&mut chat, Outline { entries, here: Some(1) }, Wanted::Tree);
    assert!(chat.shows().contains("! summary: sum0"), "{}", chat.shows());
}

#[test]
fn what_comes_while_somebody_writes_takes_no_key() {
    let mut chat = begun();
    chat.line("/tree");
    chat.typed("x");
    came(&mut chat, outline(), Wanted::Tree);
    assert!(matches!(chat.state.overlay, Overlay::None));
    chat.line("/undo");
    chat.typed("y");
    chat.msg(Msg::News(News::Planned(Box::new(plan()))));
    assert!(matches!(chat.state.overlay, Overlay::None));
    assert!(text(&chat.printed).contains("/undo asks for it again"), "{}", text(&chat.printed));
}

#[test]
fn what_was_typed_ahead_is_never_sent_with_what_is_to_be_said_anew() {
    let going = || {
        let mut chat = begun();
        chat.line("/tree 5");
        came(&mut chat, outline(), Wanted::Going(5));
        chat
    };
    let mut chat = going();
    chat.line("/undo");
    arrives(&mut chat, moved(2, "second", false));
    assert_eq!(chat.draft(), "", "keys came since");
    assert_eq!(acts(&chat.line("/undo")), ["plan Both Undo"]);
    assert!(text(&chat.printed).contains("up brings it"), "{}", text(&chat.printed));

    let mut chat = going();
    arrives(&mut chat, moved(2, "second", false));
    assert_eq!(chat.draft(), "second");
    assert_eq!(acts(&chat.line("/redo")), ["plan Both Redo"], "nobody can have seen it");
    assert!(chat.state.earlier.iter().any(|draft| draft.text() == "second"));

    let mut chat = going();
    arrives(&mut chat, moved(2, "second", false));
    chat.later(300);
    assert_eq!(acts(&chat.line(" time")), ["say second time"]);
}

#[test]
fn the_status_line_tells_what_the_next_request_holds_and_what_the_session_cost() {
    let mut chat = begun();
    let News::Opened(opened) = opened(Vec::new(), Authority::Unasked) else { panic!() };
    let usage = Usage { input: 5_000, ..Usage::default() };
    let spent = Tally { answers: 2, usage, dollars: 0.5, unpriced: 0 };
    let context = Context { tokens: 700, window: Some(200_000) };
    chat.msg(Msg::News(News::Opened(Box::new(Opened { arrival: moved(2, "", false), spent, context, ..*opened }))));
    assert_eq!((chat.state.status.tokens(), chat.state.status.money()), (700, Some(0.5)));
    assert_eq!(chat.state.status.spent(), usage);
}

#[test]
fn nothing_of_this_happens_while_something_runs() {
    for command in ["/tree", "/tree 2", "/fork", "/fork 2", "/undo", "/redo", "/name x", "/label x", "/export"] {
        let mut chat = working();
        assert_eq!(acts(&chat.line(command)), none(), "{command}");
        assert!(text(&chat.printed).contains("Something still runs; esc stops it."), "{command}");
    }
}

#[test]
fn names_labels_and_files_are_passed_on() {
    let mut chat = begun();
    assert_eq!(acts(&chat.line("/name The  division ")), ["name Some(\"The  division\")"]);
    assert_eq!(acts(&chat.line("/name")), ["name None"]);
    assert_eq!(acts(&chat.line("/label good")), ["label None good"]);
    assert_eq!(acts(&chat.line("/label")), none());
    assert_eq!(acts(&chat.line("/export")), ["export None"]);
    assert_eq!(acts(&chat.line("/export a b.html")), ["export Some(\"a b.html\")"]);
    chat.line("/tree");
    came(&mut chat, outline(), Wanted::Tree);
    chat.ctrl('t');
    chat.typed("best");
    assert_eq!(acts(&chat.key(Code::Enter)), ["label Some(6) best"]);
    assert!(matches!(chat.state.overlay, Overlay::Tree(..)));
}

fn plan() -> Plan {
    let file = |path: &str, kind| FileChange {
        path: path.to_owned(),
        kind,
        before: Some("a\nb\n".to_owned()),
        after: Some("a\n".to_owned()),
    };
    let files = vec![
        file("calc.sh", ChangeKind::Restore),
        file("other", ChangeKind::Refused("it was changed since".to_owned())),
    ];
    Plan::shown(
        Direction::Undo,
        Some("fix it".to_owned()),
        files,
        Some(ChatMove { target_id: None, undone_id: Some(2) }),
    )
}

#[test]
fn taking_back_shows_first_and_only_a_key_that_was_meant_for_it_does_it() {
    let mut chat = begun();
    assert_eq!(acts(&chat.line("/undo files")), ["plan Files Undo"]);
    chat.msg(Msg::News(News::Planned(Box::new(plan()))));
    insta::assert_snapshot!(chat.all());
    assert_eq!(acts(&chat.key(Code::Char('y'))), none(), "nobody has seen it yet");
    chat.state.painted();
    chat.paste("y");
    assert_eq!(acts(&chat.key(Code::Char('н'))), none());
    assert_eq!(acts(&chat.key(Code::Char('y'))), ["carry out Undo"]);
    chat.printed.clear();
    let mut files = plan().files;
    let late = ChangeKind::Refused("it is a folder".to_owned());
    files.push(FileChange { path: "late".to_owned(), kind: late, before: None, after: None });
    arrives(&mut chat, Arrival::Moved { left: 2, again: Draft::typed("fix it"), is_elsewhere: false, files });
    let told = text(&chat.printed);
    assert!(told.contains("1 file restored, 2 refused.") && told.contains("it is a folder"), "{told}");
    assert!(!told.contains("it was changed since"), "that was said before: {told}");
    assert_eq!(chat.draft(), "fix it");

    chat.ctrl('u');
    chat.line("/redo");
    chat.msg(Msg::News(News::Planned(Box::new(plan()))));
    chat.state.painted();
    assert_eq!(acts(&chat.key(Code::Esc)), none());
    assert!(text(&chat.printed).contains("Nothing was changed."));
    chat.msg(Msg::News(News::Undone(plan().files)));

    chat.line("/undo");
    let refused = plan().files.into_iter().skip(1).collect();
    chat.msg(Msg::News(News::Planned(Box::new(Plan::shown(Direction::Undo, None, refused, None)))));
    assert!(matches!(chat.state.overlay, Overlay::None), "there is nothing to be asked about");
}

#[test]
fn a_line_answers_only_with_the_word_that_was_written_when_it_could_be_seen() {
    for (written, ahead, expected) in
        [("y", false, vec!["carry out Undo"]), ("yes", true, vec![]), ("", false, vec![]), ("н", false, vec![])]
    {
        let mut chat = begun();
        chat.msg(Msg::Line(Line { text: "/undo".to_owned(), ahead: false }));
        chat.msg(Msg::News(News::Planned(Box::new(plan()))));
        let cmds = chat.msg(Msg::Line(Line { text: written.to_owned(), ahead }));
        assert_eq!(acts(&cmds), expected, "{written:?} {ahead}");
        assert!(matches!(chat.state.overlay, Overlay::None));
    }
    let mut chat = begun();
    let cmds = chat.msg(Msg::Line(Line { text: "/tree".to_owned(), ahead: false }));
    assert_eq!(acts(&cmds), ["outline Lines"]);
    came(&mut chat, outline(), Wanted::Lines);
    insta::assert_snapshot!(text(&chat.printed));
}
