//! Which key of a Latin keyboard a character stands on: shortcuts are places under the fingers, whatever the layout
//! types.
//!
//! Asked only for keys held down with Ctrl or Alt; plain typing never comes here. Latin layouts that move letters,
//! Dvorak and AZERTY among them, are followed: their letters name the key.

use super::{Code, Key, Mods};

/// Layouts whose letters are no Latin ones, each with the Latin letters at the same places: Russian and what Ukrainian
/// has in addition, Greek, Hebrew.
const LAYOUTS: [(&str, &str); 4] = [
    ("йцукенгшщзхъфывапролджэячсмитьбюё", "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"),
    ("ії'єґў", "s]\\'`o"),
    ("ςερτυθιοπασδφγηξκλζχψωβνμ", "wertyuiopasdfghjklzxcvbnm"),
    ("קראטוןםפשדגכעיחלךףזסבהנמצתץ", "ertyuiopasdfghjkl;zxcvbnm,."),
];

/// What Shift makes of digits and marks on the keyboard most shortcuts were made for; asked where the terminal does not
/// say.
const SHIFTED: (&str, &str) = ("`1234567890-=[]\\;',./", "~!@#$%^&*()_+{}|:\"<>?");

/// A character key as it was pressed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed {
    /// The character without Shift, or with it where that is all the terminal says.
    pub letter: char,
    /// With Shift, where the terminal says so.
    pub shifted: Option<char>,
    /// The Latin character at this place, where the terminal says so.
    pub base: Option<char>,
    /// What was held down.
    pub mods: Mods,
    /// Whether Caps Lock was on.
    pub caps: bool,
}

impl Pressed {
    /// A character of which nothing more is known.
    pub(super) fn new(letter: char, mods: Mods) -> Self {
        Self { letter, shifted: None, base: None, mods, caps: false }
    }

    /// The key: what it types, or with Ctrl or Alt the Latin character at its place, lower case.
    pub(super) fn key(self) -> Key {
        if self.mods.ctrl || self.mods.alt { self.combined() } else { Key::plain(Code::Char(self.types())) }
    }

    fn types(self) -> char {
        let Self { letter, shifted, base: _, mods, caps } = self;
        let upper =
            if mods.shift { shifted.or_else(|| with_shift(letter)).unwrap_or_else(|| upper(letter)) } else { letter };
        match (caps && letter.is_alphabetic(), mods.shift) {
            (false, _) => upper,
            (true, false) => self::upper(letter),
            (true, true) => lower(upper),
        }
    }

    fn combined(self) -> Key {
        let Self { letter, shifted, base, mut mods, caps: _ } = self;
        let latin = if letter.is_ascii() {
            lower(letter)
        } else {
            base.filter(char::is_ascii).or_else(|| latin(lower(letter))).unwrap_or_else(|| lower(letter))
        };
        // With Shift a letter keeps its name; of a digit or a mark another one comes, and that one says it.
        let mark = if mods.shift && !latin.is_alphabetic() { shifted.or_else(|| with_shift(latin)) } else { None };
        if mark.is_some() {
            mods.shift = false;
        }
        Key { code: Code::Char(mark.unwrap_or(latin)), mods }
    }
}

/// The Latin character at the place of this lower-case one.
fn latin(letter: char) -> Option<char> {
    LAYOUTS.iter().find_map(|(theirs, latin)| beside(letter, theirs, latin))
}

/// What Shift makes of a digit or a mark.
pub(super) fn with_shift(letter: char) -> Option<char> {
    beside(letter, SHIFTED.0, SHIFTED.1)
}

fn beside(letter: char, these: &str, those: &str) -> Option<char> {
    these.chars().zip(those.chars()).find(|(this, _)| *this == letter).map(|(_, that)| that)
}

/// The lower case of a character, if that is one character.
pub(super) fn lower(letter: char) -> char {
    only(letter.to_lowercase(), letter)
}

fn upper(letter: char) -> char {
    only(letter.to_uppercase(), letter)
}

fn only(mut letters: impl Iterator<Item = char>, otherwise: char) -> char {
    match (letters.next(), letters.next()) {
        (Some(letter), None) => letter,
        (Some(_) | None, _) => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layouts_pair_up() {
        for (theirs, latin) in LAYOUTS.into_iter().chain([SHIFTED]) {
            assert_eq!(theirs.chars().count(), latin.chars().count(), "{theirs}");
            assert!(latin.is_ascii());
        }
    }

    #[test]
    fn shortcuts_are_places_and_typing_is_letters() {
        for (letter, name) in
            [('с', 'c'), ('С', 'c'), ('в', 'd'), ('щ', 'o'), ('і', 's'), ('ψ', 'c'), ('ב', 'c'), ('q', 'q')]
        {
            assert_eq!(Pressed::new(letter, Mods::CTRL).key(), Key::ctrl(name), "{letter}");
            assert_eq!(Pressed::new(letter, Mods::ALT).key(), Key::alt(name), "{letter}");
            assert_eq!(Pressed::new(letter, Mods::NONE).key(), Key::plain(Code::Char(letter)));
        }
        // A Latin layout that moves letters names its own: Dvorak's `j` is where QWERTY has `c`.
        let dvorak = Pressed { base: Some('c'), ..Pressed::new('j', Mods::CTRL) };
        assert_eq!(dvorak.key(), Key::ctrl('j'));
    }

    #[test]
    fn shift_and_caps_lock() {
        let with = |letter, mods: Mods, caps| Pressed { caps, ..Pressed::new(letter, mods) }.key();
        let typed = |letter| Key::plain(Code::Char(letter));
        assert_eq!(with('a', Mods::SHIFT, false), typed('A'));
        assert_eq!(with('a', Mods::NONE, true), typed('A'));
        assert_eq!(with('a', Mods::SHIFT, true), typed('a'));
        assert_eq!(with('1', Mods::NONE, true), typed('1'));
        assert_eq!(with('1', Mods::SHIFT, true), typed('!'));
        assert_eq!(with('ß', Mods::SHIFT, false), typed('ß'));
        let both = Mods { shift: true, ..Mods::CTRL };
        assert_eq!(with('-', both, false), Key::ctrl('_'));
        assert_eq!(with('z', both, false), Key { code: Code::Char('z'), mods: both });
        assert_eq!(with('Z', both, true), Key { code: Code::Char('z'), mods: both });
    }
}
