//! The list of sessions, and what becomes of the chosen one.

use super::*;
use crate::front::repl::view::testing::text;
use crate::model::message::Origin;
use crate::product::session::preview::{Exchange, Preview};

fn pick(id: &str, title: &str) -> Pick {
    Pick {
        id: id.to_owned(),
        title: title.to_owned(),
        age: "1 h ago".to_owned(),
        messages: 4,
        cwd: "/src/calc".to_owned(),
        ..Pick::default()
    }
}

fn preview(id: &str) -> Preview {
    let exchange = |question: &str, answer: &str| Exchange { question: question.to_owned(), answer: answer.to_owned() };
    Preview {
        id: id.to_owned(),
        title: "title".to_owned(),
        question: Some("how it began\nwith\nthree lines".to_owned()),
        last: vec![exchange("and then?", ""), exchange("why?", "Because.\n\nSo.")],
        model: Origin { provider: "p".to_owned(), model: "sonnet".to_owned() },
        spent: None,
        cwd: "/src/calc".to_owned(),
        parent: None,
        created_at: 0,
        updated_at: 0,
        messages: 4,
    }
}

fn listed(chat: &mut Chat, reach: Reach) -> Vec<Cmd> {
    // The open session is 0123.
    chat.msg(Msg::Sessions { picks: vec![pick("a1", "one"), pick("0123", "open"), pick("b2", "two")], reach })
}

#[test]
fn a_session_is_looked_at_and_chosen() {
    let mut chat = Chat::new(120, 40);
    assert_eq!(acts(&chat.line("/resume")), ["list sessions Here"]);
    assert_eq!(acts(&listed(&mut chat, Reach::Here)), ["preview a1"]);
    assert_eq!(acts(&chat.key(Code::Down)), none(), "the first one has not come yet");
    assert_eq!(
        acts(&chat.msg(Msg::Preview { id: "a1".to_owned(), preview: Some(Box::new(preview("a1"))) })),
        ["preview 0123"]
    );
    assert_eq!(acts(&chat.msg(Msg::Preview { id: "0123".to_owned(), preview: None })), none());
    chat.key(Code::Up);
    insta::assert_snapshot!(chat.shows());
    assert_eq!(acts(&chat.key(Code::Enter)), ["open Stored(Id(\"a1\"))"]);
    assert!(matches!(chat.state.overlay, Overlay::None));
    assert_eq!(acts(&chat.line("/resume all")), ["list sessions Everywhere"]);
}

#[test]
fn sessions_are_named_and_taken_away_and_others_are_listed() {
    let mut chat = idle();
    chat.line("/resume");
    listed(&mut chat, Reach::Here);
    chat.ctrl('r');
    chat.typed("name");
    assert_eq!(acts(&chat.key(Code::Enter)), ["rename a1 name Here"]);
    chat.ctrl('x');
    chat.key(Code::Char('y'));
    chat.state.painted();
    assert_eq!(acts(&chat.key(Code::Char('y'))), ["remove a1 Here"]);
    assert_eq!(acts(&chat.ctrl('a')), ["list sessions Everywhere"]);
    listed(&mut chat, Reach::Everywhere);
    assert!(
        chat.shows().contains("in any folder") && chat.shows().contains("open, calc, 4 messages"),
        "{}",
        chat.shows()
    );
    chat.key(Code::Down);
    chat.ctrl('x');
    assert!(text(&chat.printed).contains("The open session cannot be deleted"), "{}", text(&chat.printed));
    chat.ctrl('r');
    chat.typed("mine");
    assert_eq!(acts(&chat.key(Code::Enter)), ["name Some(\"mine\")"], "its file is held by somebody else");
    assert_eq!(acts(&chat.msg(Msg::News(News::Noted("Called mine.".to_owned())))), ["list sessions Everywhere"]);
    assert_eq!(acts(&chat.ctrl('a')), ["list sessions Here"]);
    chat.msg(Msg::Sessions { picks: Vec::new(), reach: Reach::Here });
    assert!(chat.shows().contains("nothing fits"), "an open list stays open\n{}", chat.shows());
}
