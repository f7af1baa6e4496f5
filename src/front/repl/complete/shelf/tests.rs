//! Sessions on a screen, and what keys do to them.

use proptest::prelude::*;

use super::*;
use crate::front::repl::view::testing::{look, picture};

fn volume(id: &str, label: &str, is_open: bool) -> Volume {
    let item = Item {
        label: label.to_owned(),
        detail: "3 messages".to_owned(),
        right: "3 h ago".to_owned(),
        key: id.to_owned(),
    };
    Volume { item, name: None, is_open }
}

fn shelf() -> Shelf {
    let volumes = vec![
        volume("id1", "fix the division", false),
        volume("id2", "why is \u{1b}[2J the test slow", true),
        volume("id3", "port to Windows", false),
    ];
    let mut shelf = Shelf::new("go on with", volumes, None);
    let said =
        "The test waits for a socket that nobody opens, which takes thirty seconds each time it runs.\n\n  So it is.";
    assert_eq!(shelf.wants().as_deref(), Some("id1"));
    assert_eq!(shelf.wants(), None, "one question at a time");
    shelf.looked(
        "id1",
        vec![
            (Voice::Fact, "sonnet, 3 messages".to_owned()),
            (Voice::Person, "why is the test\u{1b}[31m slow?".to_owned()),
            (Voice::Agent, said.to_owned()),
        ],
    );
    shelf
}

fn shown(shelf: &Shelf, width: usize, most: usize) -> String {
    picture(&shelf.rows(&look(width), most).rows)
}

fn press(shelf: &mut Shelf, keys: &[Key]) -> Outcome {
    keys.iter().map(|key| shelf.key(*key)).last().unwrap_or(Outcome::Open)
}

#[test]
fn a_look_at_a_session_is_beside_the_list_or_below_it_or_nowhere() {
    insta::assert_snapshot!(shown(&shelf(), 120, 12));
    insta::assert_snapshot!(shown(&shelf(), 80, 12));
    insta::assert_snapshot!(shown(&shelf(), 40, 12));
    insta::assert_snapshot!(shown(&shelf(), 40, 6));
    insta::assert_snapshot!(shown(&shelf(), 40, 4));
}

#[test]
fn a_session_is_named_in_the_list() {
    let mut shelf = shelf();
    press(&mut shelf, &[Key::ctrl('r')]);
    "new name".chars().for_each(|letter| assert_eq!(shelf.key(Key::plain(Code::Char(letter))), Outcome::Open));
    insta::assert_snapshot!(shown(&shelf, 40, 12), @r#"
    |  another name for "fix the division"
    |  new name
    |  enter keep the name · esc leave it
    "#);
    assert_eq!(shelf.key(Key::plain(Code::Enter)), Outcome::Named(0, "new name".to_owned()));
    assert_eq!(press(&mut shelf, &[Key::ctrl('r'), Key::plain(Code::Enter)]), Outcome::Open, "no name is none");
    assert_eq!(press(&mut shelf, &[Key::ctrl('r'), Key::plain(Code::Esc)]), Outcome::Open);
    assert_eq!(shelf.key(Key::plain(Code::Enter)), Outcome::Chosen(0));
}

#[test]
fn nothing_but_a_key_that_was_meant_for_it_takes_a_session_away() {
    let (yes, no) = (Key::plain(Code::Char('y')), Key::plain(Code::Char('n')));
    let mut shelf = shelf();
    assert_eq!(press(&mut shelf, &[Key::ctrl('x'), yes, yes]), Outcome::Open, "typed ahead");
    shelf.paste("y\n");
    assert!(shown(&shelf, 80, 12).contains("Delete \"fix the division\" for good?"), "{}", shown(&shelf, 80, 12));
    shelf.painted();
    assert_eq!(press(&mut shelf, &[Key::plain(Code::Char('н')), Key::plain(Code::Enter)]), Outcome::Open);
    assert_eq!(press(&mut shelf, &[no]), Outcome::Open);
    assert_eq!(shelf.key(Key::plain(Code::Down)), Outcome::Open);
    assert_eq!(shelf.key(Key::ctrl('x')), Outcome::IsOpen);
    press(&mut shelf, &[Key::plain(Code::Up), Key::ctrl('x')]);
    shelf.painted();
    assert_eq!(shelf.key(yes), Outcome::Removed(0));
    assert_eq!(shelf.key(Key::ctrl('a')), Outcome::Turned);
}

#[test]
fn a_list_that_comes_anew_stays_where_it_was() {
    let mut before = shelf();
    press(&mut before, &[Key::plain(Code::Char('t')), Key::plain(Code::Down)]);
    let chosen = before.picker.selected();
    let volumes = before.volumes.clone();
    let mut after = Shelf::new("go on with", volumes, Some(&before));
    assert_eq!(after.picker.selected(), chosen);
    press(&mut after, &[Key::plain(Code::Backspace), Key::plain(Code::Home)]);
    assert_eq!((after.picker.selected(), after.wants()), (Some(0), None), "what was looked at is known");
    let mut none = Shelf::new("go on with", Vec::new(), Some(&after));
    assert_eq!(press(&mut none, &[Key::ctrl('r'), Key::ctrl('x'), Key::plain(Code::Enter)]), Outcome::Open);
    assert_eq!(none.wants(), None);
}

proptest! {
    #[test]
    fn every_row_fits(
        labels in prop::collection::vec("[\\PC\\pC]{0,20}", 0..5),
        said in "[\\PC\\pC\n ]{0,200}",
        keys in prop::collection::vec((prop::sample::select(vec![
            Code::Char('a'), Code::Char('r'), Code::Char('x'), Code::Char('y'), Code::Down, Code::Enter, Code::Esc,
        ]), any::<bool>()), 0..8),
        width in 0usize..130,
        most in 0usize..16,
    ) {
        let volumes = labels.iter().enumerate().map(|(number, label)| volume(&number.to_string(), label, number == 1));
        let mut shelf = Shelf::new("title", volumes.collect(), None);
        for (code, ctrl) in keys {
            shelf.key(Key { code, mods: crate::front::repl::key::Mods { ctrl, ..Default::default() } });
            shelf.painted();
            if let Some(id) = shelf.wants() {
                shelf.looked(&id, vec![(Voice::Person, said.clone()), (Voice::Fact, said.clone())]);
            }
        }
        let Frame { rows, caret } = shelf.rows(&look(width), most);
        prop_assert!(rows.len() <= most);
        for row in &rows {
            prop_assert!(line_width(row) <= width, "{row:?}");
            prop_assert!(row.spans.iter().all(|span| !span.content.contains(char::is_control)));
        }
        prop_assert!(caret.is_none_or(|caret| usize::from(caret.row) < most && usize::from(caret.column) < width.max(1)));
    }
}
