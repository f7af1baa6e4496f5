//! What a whole control sequence means: the forms of VT terminals, xterm, rxvt and the Linux console.

use super::extended::{self, Held};
use crate::front::repl::key::layout::Pressed;
use crate::front::repl::key::{Code, Input, Key, Mods, Report};

/// What a sequence means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A key was pressed.
    Key(Key),
    /// A key typed this.
    Typed(String),
    /// The terminal says something.
    Said(Input),
    /// A paste begins.
    PasteBegins,
    /// Nothing that concerns us.
    Nothing,
}

/// The parameters of a sequence: numbers between `;`, each with parts between `:`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters<'a>(&'a [u8]);

impl<'a> Parameters<'a> {
    /// A number, by field and part from 0. `None` where there is none.
    pub(super) fn number(self, field: usize, part: usize) -> Option<u32> {
        digits(self.field(field)?.split(|byte| *byte == b':').nth(part)?)
    }

    /// The numbers of a field.
    pub(super) fn numbers(self, field: usize) -> impl Iterator<Item = u32> + 'a {
        self.field(field).unwrap_or_default().split(|byte| *byte == b':').filter_map(digits)
    }

    fn field(self, field: usize) -> Option<&'a [u8]> {
        self.0.split(|byte| *byte == b';').nth(field)
    }

    /// A field that is a number from 1, where nothing stands for 1.
    fn ordinal(self, field: usize) -> u32 {
        self.number(field, 0).unwrap_or(1)
    }
}

/// Digits as a number; too many of them, or something else, are a number that means nothing.
fn digits(bytes: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or(u32::MAX))
}

/// `CSI parameters last`. `cursor_awaited`: a report of the cursor's place is on its way, which looks like F3 with
/// modifiers.
pub(super) fn csi(parameters: &[u8], last: u8, cursor_awaited: bool) -> Meaning {
    if let Some((prefix @ b'<'..=b'?', rest)) = parameters.split_first() {
        return answer(*prefix, Parameters(rest), last, cursor_awaited);
    }
    if parameters.iter().any(|byte| (b' '..=b'/').contains(byte)) {
        return Meaning::Nothing;
    }
    let bare = parameters.is_empty();
    let parameters = Parameters(parameters);
    match last {
        b'I' if bare => Meaning::Said(Input::Focus(true)),
        b'O' if bare => Meaning::Said(Input::Focus(false)),
        b'Z' => held(parameters, Code::Tab, Mods::SHIFT),
        b'R' if cursor_awaited && !bare => cursor(parameters),
        b'a'..=b'd' => held(parameters, arrow(last - b'a'), Mods::SHIFT),
        b'~' => match parameters.ordinal(0) {
            200 => Meaning::PasteBegins,
            27 => extended::other_key(parameters),
            number => numbered(number, parameters, Mods::NONE),
        },
        // How rxvt writes modifiers.
        b'^' => numbered(parameters.ordinal(0), parameters, Mods::CTRL),
        b'$' => numbered(parameters.ordinal(0), parameters, Mods::SHIFT),
        b'@' => numbered(parameters.ordinal(0), parameters, Mods { shift: true, ..Mods::CTRL }),
        b'u' => extended::kitty(parameters),
        _ => match lettered(last) {
            Some(code) if parameters.ordinal(0) == 1 => held(parameters, code, Mods::NONE),
            // Older terminals leave the first number out: `CSI 5 C`.
            Some(code) if parameters.field(1).is_none() && is_arrow(code) => {
                Held::decoded(parameters.ordinal(0)).map_or(Meaning::Nothing, |Held { mods, caps: _ }| key(code, mods))
            }
            Some(_) | None => Meaning::Nothing,
        },
    }
}

/// `ESC O parameters last`: what the keypad and the arrows send in application mode.
pub(super) fn ss3(parameters: &[u8], last: u8) -> Meaning {
    let parameters = Parameters(parameters);
    let mods = parameters.number(1, 0).or_else(|| parameters.number(0, 0)).unwrap_or(1);
    let Some(Held { mods, caps: _ }) = Held::decoded(mods) else { return Meaning::Nothing };
    match last {
        b'I' => key(Code::Tab, mods),
        b'M' => key(Code::Enter, mods),
        b' ' | b'X' | b'j'..=b'y' => keypad(last).map_or(Meaning::Nothing, |letter| {
            // The number block knows no Shift: it would change what the keys are.
            Meaning::Key(Pressed::new(letter, Mods { shift: false, ..mods }).key())
        }),
        b'a'..=b'd' => key(arrow(last - b'a'), Mods { ctrl: true, ..mods }),
        _ => lettered(last).map_or(Meaning::Nothing, |code| key(code, mods)),
    }
}

/// `CSI [ last`: the function keys of the Linux console.
pub(super) fn linux(last: u8) -> Meaning {
    match last {
        b'A'..=b'E' => key(Code::Function(last - b'A' + 1), Mods::NONE),
        _ => Meaning::Nothing,
    }
}

fn answer(prefix: u8, parameters: Parameters<'_>, last: u8, cursor_awaited: bool) -> Meaning {
    match (prefix, last) {
        (b'?', b'c') => Meaning::Said(Input::Report(Report::Attributes)),
        (b'?', b'u') => {
            let flags = parameters.number(0, 0).and_then(|flags| u8::try_from(flags).ok());
            flags.map_or(Meaning::Nothing, |flags| Meaning::Said(Input::Report(Report::Keyboard(flags))))
        }
        (b'?', b'R') if cursor_awaited => cursor(parameters),
        _ => Meaning::Nothing,
    }
}

fn cursor(parameters: Parameters<'_>) -> Meaning {
    let from_zero = |field| u16::try_from(parameters.ordinal(field).saturating_sub(1)).unwrap_or(u16::MAX);
    Meaning::Said(Input::Report(Report::Cursor { row: from_zero(0), column: from_zero(1) }))
}

fn numbered(number: u32, parameters: Parameters<'_>, mods: Mods) -> Meaning {
    let code = match number {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        // VT220 left gaps between its rows of keys.
        11..=15 => Code::Function(row(number, 10)),
        17..=21 => Code::Function(row(number, 11)),
        23..=26 => Code::Function(row(number, 12)),
        28 | 29 => Code::Function(row(number, 13)),
        31..=34 => Code::Function(row(number, 14)),
        _ => return Meaning::Nothing,
    };
    held(parameters, code, mods)
}

fn row(number: u32, gap: u32) -> u8 {
    u8::try_from(number.saturating_sub(gap)).unwrap_or_default()
}

/// A key with the modifiers of the second field, and those its form says.
fn held(parameters: Parameters<'_>, code: Code, own: Mods) -> Meaning {
    match Held::read(parameters, 1) {
        Some(Held { mods: Mods { ctrl, alt, shift }, caps: _ }) => {
            key(code, Mods { ctrl: ctrl || own.ctrl, alt: alt || own.alt, shift: shift || own.shift })
        }
        None => Meaning::Nothing,
    }
}

fn key(code: Code, mods: Mods) -> Meaning {
    Meaning::Key(Key { code, mods })
}

fn arrow(place: u8) -> Code {
    match place {
        0 => Code::Up,
        1 => Code::Down,
        2 => Code::Right,
        _ => Code::Left,
    }
}

fn is_arrow(code: Code) -> bool {
    matches!(code, Code::Up | Code::Down | Code::Left | Code::Right)
}

fn lettered(last: u8) -> Option<Code> {
    match last {
        b'A'..=b'D' => Some(arrow(last - b'A')),
        b'F' => Some(Code::End),
        b'H' => Some(Code::Home),
        b'P'..=b'S' => Some(Code::Function(last - b'P' + 1)),
        _ => None,
    }
}

/// What the keys of the number block type.
fn keypad(last: u8) -> Option<char> {
    match last {
        b' ' => Some(' '),
        b'X' => Some('='),
        // The keypad's letters are the ASCII characters from `*` on, moved by 64.
        b'j'..=b'y' => Some(char::from(last - 0x40)),
        _ => None,
    }
}
