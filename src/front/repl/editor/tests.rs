//! The editor against a plain model, its history, and what it looks like on the screen.

mod model;
mod screen;

use proptest::prelude::*;

use super::draft::{Draft, Piece};
use super::{Editing, Editor, segment};
use crate::front::repl::key::action::Edit;

/// A text with `|` for the caret becomes a draft.
fn editor(text: &str) -> Editor {
    let (before, after) = text.split_once('|').unwrap();
    let mut editor = Editor::new(Editing::Emacs);
    editor.set(&Draft::typed(format!("{before}{after}")));
    editor.caret = before.len();
    editor
}

fn shown(editor: &Editor) -> String {
    let (before, after) = editor.text.as_str().split_at(editor.caret);
    format!("{before}|{after}")
}

/// Edits after which `text` is `expected`.
fn check(text: &str, edits: &[Edit], expected: &str) {
    let mut editor = editor(text);
    edits.iter().for_each(|edit| editor.edit(*edit));
    assert_eq!(shown(&editor), expected, "{text:?} {edits:?}");
}

#[test]
fn editing_goes_by_whole_characters() {
    let mut editor = Editor::new(Editing::Emacs);
    editor.insert("한글 こんにちは 天天向上 👩‍💻 ⚠️");
    for edit in [Edit::Left, Edit::Left, Edit::DeleteLeft, Edit::KillBlankWordLeft] {
        editor.edit(edit);
    }
    assert_eq!(shown(&editor), "한글 こんにちは | ⚠️");
    check("x🇩🇪🇫🇷|", &[Edit::DeleteLeft], "x🇩🇪|");
    check("🇩🇪|🇫🇷", &[Edit::DeleteRight], "🇩🇪|");
    check("|e\u{301}x", &[Edit::Right], "e\u{301}|x");
}

#[test]
fn what_joins_a_cluster_keeps_the_caret_legal() {
    let mut editor = Editor::new(Editing::Emacs);
    for jamo in ["ᄒ", "ᅡ", "ᆫ"] {
        editor.insert(jamo);
    }
    editor.edit(Edit::DeleteLeft);
    assert_eq!(shown(&editor), "|");
    let mut joined = self::editor("👩|💻");
    joined.insert("\u{200d}");
    assert_eq!(shown(&joined), "👩\u{200d}💻|");
    let mut before = self::editor("|\u{301}x");
    before.insert("e");
    assert_eq!(shown(&before), "e\u{301}|x");
    check("a|\n\u{301}b", &[Edit::DeleteRight], "a\u{301}|b");
}

#[test]
fn words_and_lines() {
    check("one two|", &[Edit::WordLeft, Edit::WordLeft], "|one two");
    check("|one, two", &[Edit::WordRight, Edit::WordRight], "one, two|");
    check("a\nb|c\nd", &[Edit::LineStart], "a\n|bc\nd");
    check("a\nb|c\nd", &[Edit::LineEnd], "a\nbc|\nd");
    check("a\nb|c\nd", &[Edit::DraftStart], "|a\nbc\nd");
    check("a\nb|c\nd", &[Edit::DraftEnd], "a\nbc\nd|");
    check("a|b", &[Edit::Newline], "a\n|b");
}

#[test]
fn what_is_killed_in_a_row_is_one_text() {
    use Edit::{DraftEnd, KillBlankWordLeft, KillToEnd, KillToStart, KillWordLeft, KillWordRight, Left, Yank, YankPop};
    check("one two three|", &[KillWordLeft, KillWordLeft, Yank], "one two three|");
    check("|one two three", &[KillWordRight, KillWordRight, DraftEnd, Yank], " threeone two|");
    check("a|b\nc", &[KillToEnd, KillToEnd, Yank, Yank], "ab\nb\n|c");
    check("a\nb|", &[KillToStart, KillToStart, KillToStart, Yank], "a\nb|");
    check("foo.bar baz|", &[KillBlankWordLeft, KillBlankWordLeft], "|");
    check("one two|", &[KillWordLeft, Left, KillWordLeft, Yank, YankPop], "two| ");
    check("one two|", &[KillWordLeft, Left, KillWordLeft, Yank, YankPop, YankPop], "one| ");
    check("one|", &[KillWordLeft, Yank, Left, YankPop], "on|e");
}

#[test]
fn letters_change_places_and_case() {
    check("a|b", &[Edit::Transpose], "ba|");
    check("ab|", &[Edit::Transpose], "ba|");
    check("天👩‍💻|\nx", &[Edit::Transpose], "👩‍💻天|\nx");
    check("|ab", &[Edit::Transpose], "|ab");
    check("x\n|ab", &[Edit::Transpose], "x\n|ab");
    check("x\na|", &[Edit::Transpose], "x\na|");
    check("| straße x", &[Edit::Upper], " STRASSE| x");
    check("A|BC D", &[Edit::Lower], "Abc| D");
    check("|éCOLE x", &[Edit::Capitalize, Edit::Capitalize], "École X|");
    check("a| !", &[Edit::Upper], "a !|");
}

#[test]
fn case_changes_neither_origin_nor_chip() {
    let mut editor = Editor::new(Editing::Emacs);
    editor.paste(&"x\n".repeat(20));
    editor.paste("@pa");
    editor.insert("st");
    editor.edit(Edit::DraftStart);
    editor.edit(Edit::Upper);
    let pieces = editor.draft().pieces;
    assert_eq!(pieces, [Piece::Pasted("x\n".repeat(20) + "@PA"), Piece::Typed("ST".to_owned())]);
}

#[test]
fn a_chip_is_one_character_until_it_is_opened() {
    let long = "天 line\n".repeat(214);
    let mut editor = Editor::new(Editing::Emacs);
    editor.insert("a ");
    editor.paste(&long);
    editor.insert("b");
    assert!(editor.draft().text() == format!("a {long}b"));
    editor.edit(Edit::Left);
    editor.edit(Edit::DeleteLeft);
    assert_eq!(editor.draft(), Draft::typed("a b"));
    editor.edit(Edit::Undo);
    assert!(editor.expand_chip_at_caret() && !editor.expand_chip_at_caret());
    editor.edit(Edit::DeleteLeft);
    editor.insert("!");
    let pieces = [Piece::Typed("a ".into()), Piece::Pasted(long.trim_end().into()), Piece::Typed("!b".into())];
    assert_eq!(editor.draft().pieces, pieces);
    editor.edit(Edit::Undo);
    editor.edit(Edit::Undo);
    editor.edit(Edit::Undo);
    editor.edit(Edit::KillBlankWordLeft);
    editor.edit(Edit::Yank);
    assert!(editor.draft().text() == format!("a {long}b") && editor.text.len() < 10);
    let mut back = Editor::new(Editing::Emacs);
    back.set(&editor.draft());
    assert_eq!((back.draft(), back.text.len()), (editor.draft(), editor.text.len()));
}

#[test]
fn typing_is_taken_back_by_words() {
    let mut editor = Editor::new(Editing::Emacs);
    "one two\nthree".chars().for_each(|letter| editor.insert(letter.encode_utf8(&mut [0; 4])));
    (0..3).for_each(|_| editor.edit(Edit::DeleteLeft));
    editor.edit(Edit::Left);
    editor.insert("x");
    let mut states = Vec::new();
    for _ in 0..6 {
        states.push(editor.draft().text());
        editor.edit(Edit::Undo);
    }
    assert_eq!(states, ["one two\ntxh", "one two\nth", "one two\nthree", "one two\n", "one ", ""]);
    (0..6).for_each(|_| editor.edit(Edit::Redo));
    assert_eq!(shown(&editor), "one two\ntx|h");
    editor.edit(Edit::Undo);
    editor.insert("y");
    editor.edit(Edit::Redo);
    assert_eq!(shown(&editor), "one two\nty|h");
}

#[test]
fn history_is_bounded() {
    let mut editor = Editor::new(Editing::Emacs);
    let big = "x".repeat(1024 * 1024);
    for number in 0..40 {
        editor.set(&Draft::typed(format!("{number}{big}")));
    }
    (0..100).for_each(|_| editor.edit(Edit::Undo));
    // Each step holds a megabyte that came and one that went.
    assert!(editor.draft().text().starts_with("36x"), "{}", &editor.draft().text()[..9]);
}

#[test]
fn a_backslash_breaks_the_line() {
    for (text, expected) in [
        ("one\\|", Some("one\n|")),
        ("one\\|two", Some("one\n|two")),
        ("\\|", Some("\n|")),
        ("one|\\", None),
        ("C:\\\\|", None),
        ("C:\\\\\\|", Some("C:\\\\\n|")),
        ("|", None),
    ] {
        let mut editor = editor(text);
        assert_eq!(editor.break_at_backslash(), expected.is_some(), "{text}");
        assert_eq!(shown(&editor), expected.unwrap_or(text));
    }
    let mut pasted = Editor::new(Editing::Emacs);
    pasted.paste("one\\");
    assert!(!pasted.break_at_backslash());
}

#[test]
fn up_and_down_go_by_rows_and_keep_their_column() {
    let walk = |text: &str, width, steps: &[(char, bool)]| {
        let mut editor = editor(text);
        for (step, moved) in steps {
            let up = *step == 'u';
            assert_eq!(if up { editor.up(width) } else { editor.down(width) }, *moved, "{steps:?}");
        }
        shown(&editor)
    };
    let text = "0123456789|\nab\n天天天天天";
    assert_eq!(walk(text, 80, &[('d', true), ('d', true), ('d', false)]), "0123456789\nab\n天天天天天|");
    assert_eq!(walk(text, 80, &[('d', true), ('u', true), ('u', false)]), text);
    // Four columns of text: 0123 4567 89 / ab / 天天 天天 天.
    assert_eq!(walk(text, 6, &[('u', true)]), "012345|6789\nab\n天天天天天");
    assert_eq!(walk(text, 6, &[('d', true), ('d', true), ('d', true)]), "0123456789\nab\n天天天|天天");
    let end = "0123456789\nab\n天天天天天|";
    assert_eq!(walk(text, 6, &[('d', true), ('d', true), ('d', true), ('d', true), ('d', false)]), end);
}

#[test]
fn taking_a_draft_leaves_what_was_killed() {
    let mut editor = editor("one two|");
    editor.edit(Edit::KillWordLeft);
    assert_eq!(editor.take(), Draft::typed("one "));
    assert!(editor.is_empty() && editor.is_blank() && editor.is_at_end());
    editor.edit(Edit::Undo);
    assert_eq!(shown(&editor), "|");
    editor.edit(Edit::Yank);
    assert_eq!(shown(&editor), "two|");
}

#[test]
fn a_draft_that_was_cleared_comes_back() {
    let mut editor = editor("one|");
    editor.set(&Draft::default());
    assert!(editor.is_empty());
    editor.insert("two");
    editor.edit(Edit::Undo);
    editor.edit(Edit::Undo);
    assert_eq!(shown(&editor), "one|");
}

#[test]
fn blank_and_beginning() {
    let mut editor = editor(" \n|");
    assert!(editor.is_blank() && !editor.is_empty());
    editor.paste(&"\n".repeat(20));
    assert!(editor.is_blank());
    editor.paste(&"x\n".repeat(20));
    assert!(!editor.is_blank());
    let mut pasted = Editor::new(Editing::Emacs);
    pasted.paste("!ls");
    assert!(!pasted.begins_with("!") && self::editor("!ls|").begins_with("!"));
}

proptest! {
    #[test]
    fn everything_can_be_taken_back_and_made_again(script in prop::collection::vec(model::step(), 0..60)) {
        let mut editor = Editor::new(Editing::Emacs);
        for step in script.iter().filter(|step| !step.travels()) {
            step.apply(&mut editor);
        }
        let end = editor.draft();
        (0..200).for_each(|_| editor.edit(Edit::Undo));
        prop_assert_eq!(shown(&editor), "|");
        (0..200).for_each(|_| editor.edit(Edit::Redo));
        prop_assert_eq!(editor.draft(), end);
        prop_assert_eq!(segment::snap(editor.text.as_str(), editor.caret), editor.caret);
    }
}
