//! Choosing from a list.

use super::*;
use crate::front::repl::complete::view::line_width;
use crate::front::repl::view::theme::{Glyphs, Theme};
use proptest::prelude::*;

fn look(width: usize) -> Look {
    Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width }
}

fn picker() -> Picker {
    let item = |label: &str, detail: &str, right: &str, key: &str| Item {
        label: label.to_owned(),
        detail: detail.to_owned(),
        right: right.to_owned(),
        key: key.to_owned(),
    };
    Picker::new(
        "go on with",
        vec![
            item("fix the division", "20261130-1405", "3 h ago · 12", "20261130-140501-ab12"),
            item("why is the test slow", "20261129-0900", "1 day ago · 3", "20261129-090000-cd34"),
            item("天 port to Windows \u{1b}[2J", "20261101-0000", "2026-11-01 · 200", "20261101-000000-ef56"),
        ],
    )
}

fn text(frame: &Frame) -> String {
    let line = |line: &Line<'_>| line.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
    frame.rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn press(picker: &mut Picker, keys: &[Key]) -> PickerOutcome {
    keys.iter().map(|key| picker.key(*key)).last().unwrap_or(PickerOutcome::Open)
}

fn type_in(picker: &mut Picker, text: &str) {
    text.chars().for_each(|letter| assert_eq!(picker.key(Key::plain(Code::Char(letter))), PickerOutcome::Open));
}

#[test]
fn keys_choose_and_typing_narrows() {
    let (up, down, enter) = (Key::plain(Code::Up), Key::plain(Code::Down), Key::plain(Code::Enter));
    assert_eq!(press(&mut picker(), &[enter]), PickerOutcome::Chosen(0));
    assert_eq!(press(&mut picker(), &[down, Key::ctrl('n'), Key::ctrl('p'), enter]), PickerOutcome::Chosen(1));
    assert_eq!(press(&mut picker(), &[up, enter]), PickerOutcome::Chosen(2));
    assert_eq!(press(&mut picker(), &[Key::plain(Code::PageDown), enter]), PickerOutcome::Chosen(2));
    assert_eq!(press(&mut picker().at(2), &[Key::plain(Code::PageUp), enter]), PickerOutcome::Chosen(0));
    assert_eq!(press(&mut picker(), &[Key::plain(Code::Esc)]), PickerOutcome::Closed);
    assert_eq!(press(&mut picker(), &[Key::ctrl('c')]), PickerOutcome::Closed);
    let mut list = picker();
    type_in(&mut list, "slow");
    assert_eq!(list.selected(), Some(1));
    type_in(&mut list, "x");
    assert_eq!((list.selected(), press(&mut list, &[enter])), (None, PickerOutcome::Open));
    assert_eq!(press(&mut list, &[Key::plain(Code::Backspace), enter]), PickerOutcome::Chosen(1));
    press(&mut list, &[Key::ctrl('u')]);
    list.paste("20261101-000000-e\nmore");
    assert_eq!(list.selected(), Some(2), "an id finds it");
    type_in(&mut list, " 天");
    press(&mut list, &[Key::ctrl('w'), Key::ctrl('w')]);
    assert_eq!(list.selected(), Some(0));
}

#[test]
fn a_picker_at_three_widths() {
    let mut list = picker();
    type_in(&mut list, "i");
    insta::assert_snapshot!(text(&list.rows(&look(40), 8)), @"
      go on with                           3
      i
    ▸ why is the test slow     1 day ago · 3
      fix the division          3 h ago · 12
      天 port to Windows …  2026-11-01 · 200
    ");
    insta::assert_snapshot!(text(&list.rows(&look(80), 8)), @"
      go on with                                                                   3
      i
    ▸ why is the test slow     20261129-0900                           1 day ago · 3
      fix the division         20261130-1405                            3 h ago · 12
      天 port to Windows ␛[2J  20261101-0000                        2026-11-01 · 200
    ");
    insta::assert_snapshot!(text(&list.rows(&look(120), 8)), @"
      go on with                                                                                                           3
      i
    ▸ why is the test slow     20261129-0900                                                                   1 day ago · 3
      fix the division         20261130-1405                                                                    3 h ago · 12
      天 port to Windows ␛[2J  20261101-0000                                                                2026-11-01 · 200
    ");
    assert_eq!(list.rows(&look(80), 8).caret, Some(Caret { row: 1, column: 3 }));
    type_in(&mut list, "qqq");
    insta::assert_snapshot!(text(&list.rows(&look(80), 8)), @"
    go on with                                                              0 of 3
    iqqq
    nothing fits
    ");
}

proptest! {
    #[test]
    fn any_key_leaves_a_frame_that_fits(
        labels in prop::collection::vec(("[\\PC\\pC]{0,20}", "\\PC{0,20}", "\\PC{0,9}"), 0..8),
        keys in prop::collection::vec((prop::sample::select(vec![
            Code::Char('a'), Code::Char('天'), Code::Char(' '), Code::Char('w'), Code::Char('p'), Code::Backspace, Code::Up,
            Code::Down, Code::PageDown, Code::End, Code::Tab,
        ]), any::<bool>()), 0..12),
        width in 0usize..60,
        most in 0usize..9,
    ) {
        let item = |(label, detail, right): &(String, String, String)| Item {
            label: label.clone(), detail: detail.clone(), right: right.clone(), key: String::new(),
        };
        let mut list = Picker::new("title", labels.iter().map(item).collect());
        for (code, ctrl) in keys {
            list.key(Key { code, mods: crate::front::repl::key::Mods { ctrl, ..Default::default() } });
        }
        let frame = list.rows(&look(width), most);
        prop_assert!(frame.rows.len() <= most);
        for line in &frame.rows {
            prop_assert!(line_width(line) <= width, "{line:?}");
            prop_assert!(line.spans.iter().all(|span| !span.content.contains(char::is_control)));
        }
        prop_assert!(frame.caret.is_none_or(|caret| usize::from(caret.row) < most && usize::from(caret.column) < width.max(1)));
        prop_assert!(list.selected().is_none_or(|item| item < labels.len()));
    }
}
