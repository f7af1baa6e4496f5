//! Names of keys, as they are written in the configuration and shown in help: `ctrl-x`, `alt-enter`, `f2`.

use crate::base::text::likeness;
use crate::front::repl::key::layout::Pressed;
use crate::front::repl::key::{Code, Key, Mods};

/// Keys with names of their own; the first name of each is the one that is shown.
const NAMES: [(&str, Code); 23] = [
    ("enter", Code::Enter),
    ("return", Code::Enter),
    ("tab", Code::Tab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("del", Code::Delete),
    ("insert", Code::Insert),
    ("ins", Code::Insert),
    ("esc", Code::Esc),
    ("escape", Code::Esc),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pageup", Code::PageUp),
    ("page-up", Code::PageUp),
    ("pgup", Code::PageUp),
    ("pagedown", Code::PageDown),
    ("page-down", Code::PageDown),
    ("pgdn", Code::PageDown),
    ("space", Code::Char(' ')),
];

/// What stands before a key's name. `+` is as good as `-`.
const MODIFIERS: [(&str, Mods); 8] = [
    ("ctrl", Mods::CTRL),
    ("control", Mods::CTRL),
    ("alt", Mods::ALT),
    ("meta", Mods::ALT),
    ("option", Mods::ALT),
    ("opt", Mods::ALT),
    ("shift", Mods::SHIFT),
    ("c", Mods::CTRL),
];

/// The highest function key any protocol knows.
const LAST_FUNCTION: u8 = 35;

/// What a key is called.
pub fn name(key: Key) -> String {
    let Key { code, mods: Mods { ctrl, alt, shift } } = key;
    let mut text = String::new();
    for (held, name) in [(ctrl, "ctrl-"), (alt, "alt-"), (shift, "shift-")] {
        text.push_str(if held { name } else { "" });
    }
    let named = NAMES.iter().find(|(_, other)| *other == code).map(|(name, _)| *name);
    match (named, code) {
        (Some(named), _) => text.push_str(named),
        (None, Code::Char(letter)) => text.push(letter),
        (None, Code::Function(number)) => text.push_str(&format!("f{number}")),
        (
            None,
            Code::Enter
            | Code::Tab
            | Code::Backspace
            | Code::Delete
            | Code::Insert
            | Code::Esc
            | Code::Up
            | Code::Down
            | Code::Left
            | Code::Right
            | Code::Home
            | Code::End
            | Code::PageUp
            | Code::PageDown,
        ) => {}
    }
    text
}

/// The key of this name; else what is wrong with it. Case does not count.
pub(super) fn read(written: &str) -> Result<Key, String> {
    let lower = written.trim().to_lowercase();
    let (mods, last) = modifiers(&lower);
    let combined = mods.ctrl || mods.alt;
    let mut letters = last.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if combined && !letter.is_control() => Ok(Pressed::new(letter, mods).key()),
        (Some(_), None) => {
            Err(format!("`{written}` is typed; expected a key with ctrl or alt, or one such as f2 or shift-tab"))
        }
        _ => match code(last) {
            Some(Code::Char(_)) if !combined => {
                Err(format!("`{written}` is typed; expected ctrl-{last} or alt-{last}"))
            }
            Some(code) => Ok(Key { code, mods }),
            None => Err(unknown(written, last)),
        },
    }
}

fn modifiers(mut name: &str) -> (Mods, &str) {
    let mut mods = Mods::NONE;
    'next: loop {
        for (modifier, Mods { ctrl, alt, shift }) in MODIFIERS {
            let rest = name.strip_prefix(modifier).and_then(|rest| rest.strip_prefix(['-', '+']));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                mods = Mods { ctrl: mods.ctrl || ctrl, alt: mods.alt || alt, shift: mods.shift || shift };
                name = rest;
                continue 'next;
            }
        }
        return (mods, name);
    }
}

fn code(name: &str) -> Option<Code> {
    let function = || {
        let number = name.strip_prefix('f')?.parse().ok()?;
        (1..=LAST_FUNCTION).contains(&number).then_some(Code::Function(number))
    };
    NAMES.iter().find(|(other, _)| *other == name).map(|(_, code)| *code).or_else(function)
}

fn unknown(written: &str, last: &str) -> String {
    let known = NAMES.iter().map(|(name, _)| *name).chain(MODIFIERS.iter().map(|(name, _)| *name));
    match likeness::closest(last, known.clone()).or_else(|| likeness::closest(last.split(['-', '+']).next()?, known)) {
        Some(near) => format!("no key is called `{written}`; did you mean {near}"),
        None => format!("no key is called `{written}`; expected one such as ctrl-x, alt-enter, f2, pageup"),
    }
}
