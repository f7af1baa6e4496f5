//! Keys, their names, and what they do.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn map(own: Value) -> Result<Keymap, String> {
    let Value::Object(own) = own else { panic!("an object") };
    Keymap::new(Enter::Submits, &own).map_err(|error| error.to_string())
}

fn key(name: &str) -> Key {
    name::read(name).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn no_key_and_no_name_is_given_twice() {
    let mut keys = HashSet::new();
    let mut names = HashSet::new();
    for action in ACTIONS {
        let Described { name, help, keys: defaults } = described(*action);
        assert!(names.insert(name) && name != NOTHING);
        assert!(help.len() <= 60 && !help.ends_with('.'), "{help}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
        assert!(!defaults.is_empty(), "{name}");
        for default in defaults {
            assert!(keys.insert(key(default)), "{default}");
            assert_eq!(self::name(key(default)), *default);
            assert_eq!(Keymap::default().action(key(default)), Some(*action));
        }
    }
}

#[test]
fn the_user_has_the_last_word() {
    let map = map(
        json!({"ctrl-x": "stop", "Alt+Enter": "Submit", "f2": "none", "ctrl-t": "reasoning", "shift-left": "none"}),
    );
    let map = map.unwrap();
    assert_eq!(map.action(key("ctrl-x")), Some(Action::Stop));
    assert_eq!(map.action(key("alt-enter")), Some(Action::Submit));
    assert_eq!(map.action(key("f2")), None);
    assert_eq!(map.action(key("shift-left")), None, "no guess about a key that was named");
    assert_eq!(map.keys_of(Action::Stop), ["ctrl-x", "esc"]);
    assert_eq!(map.keys_of(Action::Edit(Edit::Transpose)), [""; 0]);
    assert_eq!(map.keys_of(Action::Edit(Edit::Newline)), ["shift-enter", "ctrl-j", "ctrl-alt-j"]);
    assert_eq!(map.table().len(), ACTIONS.len());
}

#[test]
fn enter_can_break_lines() {
    let map = Keymap::new(Enter::BreaksLines, &Object::new()).unwrap();
    for (name, action) in [
        ("enter", Action::Edit(Edit::Newline)),
        ("shift-enter", Action::Edit(Edit::Newline)),
        ("ctrl-j", Action::Edit(Edit::Newline)),
        ("alt-enter", Action::Submit),
        ("ctrl-enter", Action::Submit),
    ] {
        assert_eq!(map.action(key(name)), Some(action), "{name}");
    }
    assert_eq!(map.keys_of(Action::Submit), ["alt-enter", "ctrl-enter"]);
}

#[test]
fn shift_is_forgiven_where_it_means_no_harm() {
    let map = Keymap::default();
    assert_eq!(map.action(key("shift-backspace")), Some(Action::Edit(Edit::DeleteLeft)));
    assert_eq!(map.action(key("alt-shift-b")), Some(Action::Edit(Edit::WordLeft)));
    assert_eq!(map.action(key("ctrl-shift-left")), Some(Action::Edit(Edit::WordLeft)));
    for name in ["shift-tab", "ctrl-shift-c", "ctrl-shift-d", "ctrl-shift-enter"] {
        assert_eq!(map.action(key(name)), None, "{name}");
    }
    assert_eq!(map.action(Key::plain(Code::Char('x'))), None);
}

#[test]
fn mistakes_are_named() {
    for (own, says) in [
        (json!({"ctrl-x": "stpo"}), "`ctrl-x`: no action is called `stpo`; did you mean stop"),
        (json!({"ctrl-x": "qqqqqqq"}), "expected one of submit, newline,"),
        (json!({"ctrl-x": 5}), "`ctrl-x`: expected the name of an action, or \"none\""),
        (json!({"ctrl-entr": "stop"}), "no key is called `ctrl-entr`; did you mean enter"),
        (json!({"ctlr-x": "stop"}), "no key is called `ctlr-x`; did you mean ctrl"),
        (json!({"f99": "stop"}), "no key is called `f99`; expected one such as ctrl-x"),
        (json!({"x": "stop"}), "`x` is typed; expected a key with ctrl or alt"),
        (json!({"shift-x": "stop"}), "`shift-x` is typed"),
        (json!({"space": "stop"}), "`space` is typed; expected ctrl-space or alt-space"),
        (json!({"": "stop"}), "no key is called ``"),
    ] {
        let error = map(own.clone()).unwrap_err();
        assert!(error.contains(says), "{own}: {error}");
    }
}

#[test]
fn names_are_read_in_the_usual_spellings() {
    for (written, name) in [
        ("CTRL+X", "ctrl-x"),
        ("c-x", "ctrl-x"),
        ("Meta-Return", "alt-enter"),
        ("ctrl--", "ctrl--"),
        ("ctrl-+", "ctrl-+"),
        ("shift-ctrl-z", "ctrl-shift-z"),
        ("ctrl-shift--", "ctrl-_"),
        ("ctrl-ф", "ctrl-a"),
        ("ctrl-space", "ctrl-space"),
        ("page-up", "pageup"),
        ("f12", "f12"),
    ] {
        assert_eq!(self::name(key(written)), name, "{written}");
    }
}

proptest! {
    #[test]
    fn any_name_is_answered(written in "\\PC{0,20}|(ctrl|alt|shift|[-+]|[a-z]|é){0,8}") {
        if let Ok(key) = name::read(&written) {
            prop_assert_eq!(name::read(&name(key)), Ok(key));
        }
    }
}
