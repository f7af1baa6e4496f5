//! Pictures on their way into the draft, as chips.

use std::path::PathBuf;
use std::sync::Arc;

use super::{acts, none, working};
use crate::front::repl::editor::draft::{Picture, Piece};
use crate::front::repl::key::{Code, Key, Mods};
use crate::front::repl::message::{Asked, Clip, Cmd, Msg, Named};
use crate::front::repl::state::tests::chat::Chat;
use crate::front::repl::view::testing::text;
use crate::model::message::Image;

fn picture(name: &str) -> Arc<Picture> {
    let image = Image { media_type: "image/png".to_owned(), data: vec![1, 2, 3].into() };
    let path = Some(PathBuf::from("/shots").join(name));
    Arc::new(Picture { name: name.to_owned(), path, size: Some((640, 480)), image: Some(image) })
}

fn seen(chat: &mut Chat, text: &str, names: &[&str]) -> Vec<Cmd> {
    let named = Named::Pictures(names.iter().map(|name| picture(name)).collect());
    chat.msg(Msg::Seen { text: text.to_owned(), named })
}

fn with_eyes(columns: usize) -> Chat {
    let mut chat = Chat::new(columns, 24);
    chat.state.session.as_mut().unwrap().info.images = true;
    chat
}

#[test]
fn a_pasted_path_becomes_a_chip_and_is_deleted_and_brought_back_whole() {
    let mut chat = with_eyes(80);
    chat.typed("why is ");
    assert_eq!(acts(&chat.paste("/shots/a.png")), ["look /shots/a.png"]);
    chat.typed(" red");
    assert!(chat.shows().contains("› why is /shots/a.png red"), "{}", chat.shows());
    seen(&mut chat, "/shots/a.png", &["a.png"]);
    assert!(chat.shows().contains("› why is [picture 1: a.png 640×480] red"), "{}", chat.shows());
    chat.typed("!");
    assert_eq!(chat.draft(), "why is [picture: a.png 640×480] red!", "the caret stays where it was");
    for _ in 0.." red!".len() {
        chat.key(Code::Left);
    }
    chat.key(Code::Backspace);
    assert_eq!(chat.draft(), "why is  red!");
    chat.ctrl('_');
    assert_eq!(chat.draft(), "why is [picture: a.png 640×480] red!");
    assert_eq!(acts(&chat.key(Code::Enter)), ["say why is [picture: a.png 640×480] red!"]);
    assert!(text(&chat.printed).contains("› why is [picture 1: a.png 640×480] red!"));
}

#[test]
fn a_message_waits_until_what_was_pasted_was_looked_at() {
    let mut chat = with_eyes(80);
    chat.paste("/shots/a.png");
    assert_eq!(acts(&chat.key(Code::Enter)), none());
    let cmds = seen(&mut chat, "/shots/a.png", &["a.png"]);
    assert_eq!(acts(&cmds), ["say [picture: a.png 640×480]"]);

    // Who asks twice waits no longer, and what is known then comes too late.
    let mut chat = with_eyes(80);
    chat.paste("/shots/a.png");
    assert_eq!(acts(&chat.key(Code::Enter)), none());
    assert_eq!(acts(&chat.key(Code::Enter)), ["say /shots/a.png"]);
    assert_eq!(acts(&seen(&mut chat, "/shots/a.png", &["a.png"])), none());
    assert_eq!(chat.draft(), "");

    let mut chat = working();
    chat.paste("/shots/a b.png");
    assert_eq!(acts(&chat.key(Code::Tab)), none());
    let cmds = chat.msg(Msg::Seen { text: "/shots/a b.png".to_owned(), named: Named::Nothing });
    assert_eq!(acts(&cmds), none());
    assert_eq!(chat.state.waiting[0].draft.pieces, [Piece::Pasted("/shots/a b.png".to_owned())]);
}

#[test]
fn several_pictures_are_numbered_and_a_model_without_eyes_is_told_of() {
    for columns in [120, 80, 40] {
        let mut chat = Chat::new(columns, 24);
        chat.typed("compare ");
        chat.paste("a.png b.png");
        seen(&mut chat, "a.png b.png", &["a.png", "a longer name of a screenshot.png"]);
        insta::assert_snapshot!(format!("pictures_{columns}"), chat.all());
    }
}

#[test]
fn a_key_asks_the_clipboard_and_text_is_pasted_as_usual() {
    let mut chat = with_eyes(80);
    assert_eq!(acts(&chat.ctrl('v')), ["paste ByKey"]);
    chat.msg(Msg::Clipboard(Clip::Picture(picture("clipboard"))));
    assert_eq!(chat.draft(), "[picture: clipboard 640×480]");
    let alt = Key { code: Code::Char('v'), mods: Mods::ALT };
    assert_eq!(acts(&chat.press(alt)), ["paste ByKey"]);
    chat.msg(Msg::Clipboard(Clip::Text(" is\nred".to_owned())));
    assert_eq!(chat.draft(), "[picture: clipboard 640×480] is\nred");
    chat.ctrl('v');
    chat.msg(Msg::Clipboard(Clip::Nothing(Some("The clipboard cannot be asked here.".to_owned()))));
    assert!(text(&chat.printed).contains("! The clipboard cannot be asked here."));
    // A terminal that has nothing to paste may have a picture in its clipboard.
    let cmds = chat.paste("");
    assert!(matches!(cmds.last(), Some(Cmd::Paste(Asked::ByTerminal))), "{cmds:?}");
    assert_eq!(acts(&chat.key(Code::Enter)), none());
    let cmds = chat.msg(Msg::Clipboard(Clip::Nothing(None)));
    assert_eq!(acts(&cmds), ["say [picture: clipboard 640×480] is|red"]);
}

#[test]
fn a_picture_alone_is_something_to_say_and_a_lost_one_is_called_that() {
    let mut chat = with_eyes(80);
    let lost = Picture { name: "clipboard".to_owned(), path: None, size: None, image: None };
    let draft = crate::front::repl::editor::draft::Draft { pieces: vec![Piece::Picture(Arc::new(lost))] };
    chat.msg(Msg::Recalled { earlier: Vec::new(), draft });
    assert!(chat.shows().contains("› [picture 1 lost: clipboard]"), "{}", chat.shows());
    assert_eq!(acts(&chat.key(Code::Enter)), ["say [picture lost: clipboard]"]);
    // An editor of one's own shows what stands for it, and leaves it there.
    chat.msg(Msg::Clipboard(Clip::Picture(picture("clipboard"))));
    assert_eq!(acts(&chat.ctrl('g')), ["edit [picture: clipboard 640×480]"]);
    chat.msg(Msg::Edited(Ok("see [picture: clipboard 640×480]!".to_owned())));
    assert!(matches!(&chat.state.editor.draft().pieces[1], Piece::Picture(_)));
}
