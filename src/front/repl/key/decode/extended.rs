//! Keys as numbers: the kitty keyboard protocol (`CSI … u`) and xterm's modifyOtherKeys (`CSI 27;…~`).
//!
//! <https://sw.kovidgoyal.net/kitty/keyboard-protocol/> has the numbers.

use super::sequence::{Meaning, Parameters};
use crate::front::repl::key::layout::Pressed;
use crate::front::repl::key::{Code, Key, Mods};

/// Held down with a key, in the encoding all protocols share: the sum of these, and one.
const SHIFT: u32 = 1;
const ALT: u32 = 2;
const CTRL: u32 = 4;
/// Super and Hyper belong to the window manager, and what a terminal lets through of them types nothing.
const FOREIGN: u32 = 8 | 16;
const META: u32 = 32;
const CAPS_LOCK: u32 = 64;
/// A key was let go.
const RELEASE: u32 = 3;

/// What was held down, and whether Caps Lock was on. Num Lock does not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub mods: Mods,
    pub caps: bool,
}

impl Held {
    /// The modifiers in the given field; `None` for a key that was let go, or is not ours.
    pub(super) fn read(parameters: Parameters<'_>, field: usize) -> Option<Self> {
        if parameters.number(field, 1) == Some(RELEASE) {
            return None;
        }
        Self::decoded(parameters.number(field, 0).unwrap_or(1))
    }

    /// The modifiers of a number.
    pub(super) fn decoded(number: u32) -> Option<Self> {
        let bits = number.saturating_sub(1);
        let has = |bit| bits & bit != 0;
        let mods = Mods { ctrl: has(CTRL), alt: has(ALT | META), shift: has(SHIFT) };
        (!has(FOREIGN)).then_some(Self { mods, caps: has(CAPS_LOCK) })
    }
}

/// `CSI code:shifted:base ; modifiers:event ; text u`.
pub(super) fn kitty(parameters: Parameters<'_>) -> Meaning {
    let Some(held) = Held::read(parameters, 1) else { return Meaning::Nothing };
    let letter = |part| parameters.number(0, part).and_then(printable);
    let Some(code) = parameters.number(0, 0) else { return Meaning::Nothing };
    if let Some(code) = functional(code) {
        return Meaning::Key(Key { code, mods: held.mods });
    }
    let text: String = parameters.numbers(2).filter_map(printable).collect();
    if !text.is_empty() && !held.mods.ctrl && !held.mods.alt {
        return Meaning::Typed(text);
    }
    pressed(code, letter(1), letter(2), held)
}

/// `CSI 27 ; modifiers ; code ~`.
pub(super) fn other_key(parameters: Parameters<'_>) -> Meaning {
    let Some((held, code)) = Held::read(parameters, 1).zip(parameters.number(2, 0)) else { return Meaning::Nothing };
    match functional(code) {
        Some(code) => Meaning::Key(Key { code, mods: held.mods }),
        None => pressed(code, None, None, held),
    }
}

fn pressed(code: u32, shifted: Option<char>, base: Option<char>, held: Held) -> Meaning {
    let Held { mods, caps } = held;
    match keypad(code).or_else(|| printable(code)) {
        Some(letter) => Meaning::Key(Pressed { letter, shifted, base, mods, caps }.key()),
        None => Meaning::Nothing,
    }
}

/// A character that can be typed: no control character, none of the numbers the protocol uses for keys.
fn printable(code: u32) -> Option<char> {
    char::from_u32(code).filter(|letter| !letter.is_control() && !('\u{e000}'..='\u{f8ff}').contains(letter))
}

/// Keys that type nothing.
fn functional(code: u32) -> Option<Code> {
    Some(match code {
        27 | 57344 => Code::Esc,
        13 | 57345 | 57414 => Code::Enter,
        9 | 57346 => Code::Tab,
        8 | 127 | 57347 => Code::Backspace,
        57348 | 57425 => Code::Insert,
        57349 | 57426 => Code::Delete,
        57350 | 57417 => Code::Left,
        57351 | 57418 => Code::Right,
        57352 | 57419 => Code::Up,
        57353 | 57420 => Code::Down,
        57354 | 57421 => Code::PageUp,
        57355 | 57422 => Code::PageDown,
        57356 | 57423 => Code::Home,
        57357 | 57424 => Code::End,
        57364..=57398 => Code::Function(u8::try_from(code - 57363).ok()?),
        _ => return None,
    })
}

/// Keys of the keypad that type something.
fn keypad(code: u32) -> Option<char> {
    let place = usize::try_from(code.checked_sub(57399)?).ok()?;
    // The 16th is Enter, which types nothing.
    "0123456789./*-+\r=,".chars().nth(place).filter(|letter| *letter != '\r')
}
