//! Where in an escape sequence of ECMA-48 or xterm a text stands. Decides only what belongs to the sequence; no
//! sequence has a meaning here.

/// The part of a sequence that has been seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Escape {
    /// Outside of any sequence.
    #[default]
    None,
    /// After ESC.
    Begun,
    /// After ESC and intermediate characters: `ESC ( B` chooses a character set.
    Intermediate,
    /// After CSI: parameters, then a final character.
    Parameters,
    /// After OSC, DCS, SOS, PM or APC: any text up to a terminator.
    Text,
    /// After an ESC in such a text: a `\` ends it.
    TextEnding,
}

impl Escape {
    /// What a control character begins; the 8-bit forms stand for ESC and a letter.
    pub(super) fn begun_by(control: char) -> Self {
        match control {
            '\u{1b}' => Self::Begun,
            '\u{9b}' => Self::Parameters,
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => Self::Text,
            _ => Self::None,
        }
    }

    /// Moves on by one character and says whether it belongs to the sequence. One that does not has ended it.
    pub(super) fn takes(&mut self, next: char) -> bool {
        let (state, taken) = self.after(next);
        *self = state;
        taken
    }

    fn after(self, next: char) -> (Self, bool) {
        match (self, next) {
            (Self::Begun | Self::Intermediate | Self::Parameters, '\u{1b}') => (Self::Begun, true),
            (Self::Begun, '[') => (Self::Parameters, true),
            (Self::Begun, ']' | 'P' | 'X' | '^' | '_') => (Self::Text, true),
            (Self::Begun | Self::Intermediate, ' '..='/') => (Self::Intermediate, true),
            (Self::Begun | Self::Intermediate, '0'..='~') => (Self::None, true),
            (Self::Parameters, ' '..='?') => (Self::Parameters, true),
            (Self::Parameters, '@'..='~') => (Self::None, true),
            // BEL, CAN, SUB and ST end a text. A line break does too: a terminal would wait for the terminator and
            // swallow what follows, but here the end of the output matters more than a picture.
            (Self::Text, '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}') => (Self::None, true),
            (Self::Text, '\n' | '\r') => (Self::None, false),
            (Self::Text, '\u{1b}') => (Self::TextEnding, true),
            (Self::Text, _) => (Self::Text, true),
            (Self::TextEnding, '\\') => (Self::None, true),
            (Self::TextEnding, _) => Self::Begun.after(next),
            (Self::None | Self::Begun | Self::Intermediate | Self::Parameters, _) => (Self::None, false),
        }
    }
}
