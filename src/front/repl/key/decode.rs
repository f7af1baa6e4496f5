//! Bytes of a terminal as keys, pastes and answers, however they were cut into reads.
//!
//! Keeps what is unfinished, within bounds but for a paste, and says how long to wait for the rest; it knows no clock.
//! What a key does is not decided here.

mod answer;
mod extended;
mod paste;
mod sequence;

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::layout::Pressed;
use super::{Code, Input, Key, Mods};
use paste::Paste;
use sequence::Meaning;

/// How long the rest of a sequence may take after an ESC that may be the Esc key. A sequence is sent as one packet;
/// nobody notices this pause.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);
/// The same for what no single key can have begun: over a slow line it may come in two packets.
const SEQUENCE_WAIT: Duration = Duration::from_millis(250);
/// How long a paste or an answer may be silent. After that its end is not waited for.
const SILENCE: Duration = Duration::from_secs(1);
/// The most that is kept of a sequence, in bytes: far above any that means something. More is passed over.
const KEPT_BYTES: usize = 4096;
/// The byte a Backspace key sends on terminals that were told so.
const BACKSPACE: u8 = 8;

/// Decodes what a terminal sends. The result does not depend on how the bytes are cut, as long as nothing is flushed.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    state: State,
    /// The unfinished sequence, without what began it.
    kept: Vec<u8>,
    /// Whether more came than is kept.
    overlong: bool,
    paste: Paste,
    cursors_awaited: usize,
    erase: u8,
}

/// What has been begun. `alt`: after another ESC, which is how old terminals write Alt, or the Esc key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing.
    #[default]
    Ground,
    /// A character of several bytes.
    Letter { alt: bool },
    /// ESC, or two of them.
    Escape { twice: bool },
    /// `ESC [`
    Csi { alt: bool },
    /// `ESC O`
    Ss3 { alt: bool },
    /// `ESC [ [`
    Linux,
    /// `ESC [ M` and three bytes: a mouse.
    Mouse { left: u8 },
    /// A control string, up to its terminator; `inside`: how many bytes its last character still lacks.
    Text { opener: u8, inside: u8 },
    /// An ESC in a control string: with a backslash it ends.
    TextEnding { opener: u8 },
    /// A paste. `stalled`: it was silent for so long that its first part has been given out.
    Paste { stalled: bool },
}

impl Decoder {
    /// A decoder for a terminal whose settings name `erase` as the byte of its Backspace key (`VERASE`): where that is
    /// 0x08, Ctrl-H is that key. 0x7f always is.
    pub fn new(erase: u8) -> Self {
        Self { erase, ..Self::default() }
    }

    /// The cursor's place has been asked for: the next `CSI row ; column R` is the answer, and not F3 with modifiers.
    pub fn expect_cursor(&mut self) {
        self.cursors_awaited += 1;
    }

    /// Takes the next bytes and appends what they mean.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Input>) {
        // A line break that comes by itself after a paste without an end is the Enter key.
        if self.state == (State::Paste { stalled: true }) && bytes == b"\r" {
            self.abandon(out);
        }
        let mut rest = bytes;
        while let Some((first, after)) = rest.split_first() {
            if let State::Paste { stalled } = self.state {
                rest = self.pasted(rest, stalled, out);
            } else if self.takes(*first, out) {
                rest = after;
            }
        }
    }

    /// How long to wait for more before [`flush`](Self::flush). `None`: as long as it takes.
    pub fn pending(&self) -> Option<Duration> {
        match self.state {
            State::Ground => None,
            State::Escape { .. } | State::TextEnding { .. } => Some(ESCAPE_WAIT),
            State::Csi { .. } | State::Ss3 { .. } | State::Text { .. } if self.is_bare() => Some(ESCAPE_WAIT),
            State::Letter { .. } | State::Csi { .. } | State::Ss3 { .. } | State::Linux | State::Mouse { .. } => {
                Some(SEQUENCE_WAIT)
            }
            State::Text { .. } | State::Paste { stalled: false } => Some(SILENCE),
            State::Paste { stalled: true } => self.paste_wait(),
        }
    }

    /// Nothing more has come: what could be a key becomes it, a sequence without its end is dropped, and a paste is
    /// given out as far as it has come.
    pub fn flush(&mut self, out: &mut Vec<Input>) {
        match self.state {
            State::Paste { stalled } if !stalled || self.paste_wait().is_some() => {
                // An ESC that stays alone after all that silence was pressed.
                let escape = stalled && self.paste.len() == 1 && self.paste.marker_begun() == 1;
                if escape {
                    self.abandon(out);
                    out.push(plain(Code::Esc));
                } else {
                    self.give_paste(out);
                    self.state = State::Paste { stalled: true };
                }
            }
            State::Paste { .. } => {}
            State::Ground
            | State::Letter { .. }
            | State::Escape { .. }
            | State::Csi { .. }
            | State::Ss3 { .. }
            | State::Linux
            | State::Mouse { .. }
            | State::Text { .. }
            | State::TextEnding { .. } => self.abandon(out),
        }
    }

    /// Whether nothing followed the introducer of a sequence.
    fn is_bare(&self) -> bool {
        self.kept.is_empty() && !self.overlong
    }

    /// Takes a byte. `false`: it ended what was unfinished, and is to be looked at again.
    fn takes(&mut self, byte: u8, out: &mut Vec<Input>) -> bool {
        match self.state {
            State::Ground => self.begun(byte, false, out),
            State::Letter { alt } => return self.letter(byte, alt, out),
            State::Escape { twice } => self.escaped(byte, twice, out),
            State::Csi { alt } => return self.csi(byte, alt, out),
            State::Ss3 { alt } => return self.ss3(byte, alt, out),
            State::Linux => self.means(&sequence::linux(byte), false, out),
            State::Mouse { left: 1 } => self.reset(State::Ground),
            State::Mouse { left } => self.state = State::Mouse { left: left - 1 },
            State::Text { opener, inside } => return self.text(byte, opener, inside, out),
            State::TextEnding { opener } if byte == b'\\' => self.text_ended(opener, out),
            State::TextEnding { .. } => {
                self.reset(State::Escape { twice: false });
                return false;
            }
            // A paste takes its bytes itself.
            State::Paste { .. } => {}
        }
        true
    }

    /// A byte that begins something.
    fn begun(&mut self, byte: u8, alt: bool, out: &mut Vec<Input>) {
        self.reset(State::Ground);
        match byte {
            0x1b if !alt => self.reset(State::Escape { twice: false }),
            0..0x80 => out.push(Input::Key(single(byte, alt, self.erase))),
            0xc2..=0xf4 => {
                self.reset(State::Letter { alt });
                self.keep(byte);
            }
            0x80..=0xff => out.push(plain(Code::Char(char::REPLACEMENT_CHARACTER))),
        }
    }

    fn letter(&mut self, byte: u8, alt: bool, out: &mut Vec<Input>) -> bool {
        self.keep(byte);
        match std::str::from_utf8(&self.kept) {
            Ok(text) => {
                let mods = if alt { Mods::ALT } else { Mods::NONE };
                // The second half of the control characters types nothing.
                let letters = text.chars().filter(|letter| !letter.is_control());
                out.extend(letters.map(|letter| Input::Key(Pressed::new(letter, mods).key())));
                self.reset(State::Ground);
                true
            }
            Err(error) if error.error_len().is_none() => true,
            Err(_) => {
                self.abandon(out);
                false
            }
        }
    }

    fn escaped(&mut self, byte: u8, twice: bool, out: &mut Vec<Input>) {
        match byte {
            b'[' => return self.reset(State::Csi { alt: twice }),
            b'O' => return self.reset(State::Ss3 { alt: twice }),
            0x1b if !twice => return self.reset(State::Escape { twice: true }),
            _ => {}
        }
        if twice {
            out.push(plain(Code::Esc));
        }
        match byte {
            0x1b => {}
            b']' | b'P' | b'X' | b'^' | b'_' => self.reset(State::Text { opener: byte, inside: 0 }),
            _ => self.begun(byte, true, out),
        }
    }

    fn csi(&mut self, byte: u8, alt: bool, out: &mut Vec<Input>) -> bool {
        match byte {
            b'[' if self.is_bare() => self.reset(State::Linux),
            b'M' if self.is_bare() => self.reset(State::Mouse { left: 3 }),
            // To rxvt `$` is the end of a key with Shift, to everybody else it stands before the end of an answer.
            b'$' if !self.is_bare() && self.kept.iter().all(u8::is_ascii_digit) => self.csi_ended(byte, alt, out),
            b' '..=b'?' => self.keep(byte),
            b'@'..=b'~' => self.csi_ended(byte, alt, out),
            0..b' ' | 0x7f.. => {
                self.abandon(out);
                return false;
            }
        }
        true
    }

    fn csi_ended(&mut self, last: u8, alt: bool, out: &mut Vec<Input>) {
        let meaning =
            if self.overlong { Meaning::Nothing } else { sequence::csi(&self.kept, last, self.cursors_awaited > 0) };
        self.means(&meaning, alt, out);
    }

    fn ss3(&mut self, byte: u8, alt: bool, out: &mut Vec<Input>) -> bool {
        match byte {
            b'0'..=b';' => self.keep(byte),
            b' ' | b'@'..=b'~' => {
                let meaning = if self.overlong { Meaning::Nothing } else { sequence::ss3(&self.kept, byte) };
                self.means(&meaning, alt, out);
            }
            0..b' ' | b'!'..=b'/' | b'<'..=b'?' | 0x7f.. => {
                self.abandon(out);
                return false;
            }
        }
        true
    }

    /// A byte of a control string. Its terminator in one byte, 0x9c, is also part of many characters.
    fn text(&mut self, byte: u8, opener: u8, inside: u8, out: &mut Vec<Input>) -> bool {
        let inside = if (0x80..0xc0).contains(&byte) { inside } else { 0 };
        match byte {
            7 => self.text_ended(opener, out),
            0x9c if inside == 0 => self.text_ended(opener, out),
            0x1b => self.state = State::TextEnding { opener },
            // No string has control characters: this is a key, and the string has lost its end.
            0..b' ' => {
                self.abandon(out);
                return false;
            }
            b' '.. => {
                self.keep(byte);
                let inside = match byte {
                    0xc2..0xe0 => 1,
                    0xe0..0xf0 => 2,
                    0xf0..0xf5 => 3,
                    0..0xc2 | 0xf5.. => inside.saturating_sub(1),
                };
                self.state = State::Text { opener, inside };
            }
        }
        true
    }

    fn text_ended(&mut self, opener: u8, out: &mut Vec<Input>) {
        let report = if self.overlong { None } else { answer::text(opener, &self.kept) };
        out.extend(report.map(Input::Report));
        self.reset(State::Ground);
    }

    /// Bytes of a paste; what is left of them comes after it.
    fn pasted<'a>(&mut self, bytes: &'a [u8], stalled: bool, out: &mut Vec<Input>) -> &'a [u8] {
        // After a silence a person may be typing: a key that writes nothing shows that the paste has no end.
        let key = if stalled { bytes.iter().position(|byte| is_key(*byte)) } else { None };
        let (ours, after) = bytes.split_at(key.unwrap_or(bytes.len()));
        if let Some(rest) = self.paste.take(ours) {
            self.abandon(out);
            return bytes.get(ours.len() - rest.len()..).unwrap_or_default();
        }
        if key.is_some() {
            self.abandon(out);
        }
        after
    }

    /// How long a paste is waited for that has been silent before.
    fn paste_wait(&self) -> Option<Duration> {
        // What may be the beginning of its end is no reason to hurry, but for an ESC, which may be a key.
        let begun = self.paste.marker_begun();
        (self.paste.len() > begun || begun == 1).then_some(ESCAPE_WAIT)
    }

    fn give_paste(&mut self, out: &mut Vec<Input>) {
        let text = self.paste.give();
        if !text.is_empty() {
            out.push(Input::Paste(text));
        }
    }

    fn means(&mut self, meaning: &Meaning, alt: bool, out: &mut Vec<Input>) {
        self.reset(State::Ground);
        match meaning {
            Meaning::Key(key) => {
                out.push(Input::Key(Key { mods: Mods { alt: key.mods.alt || alt, ..key.mods }, ..*key }));
            }
            Meaning::Typed(text) => out.extend(text.chars().map(|letter| plain(Code::Char(letter)))),
            Meaning::Said(input) => {
                // Terminals say nothing with Alt: somebody pressed Esc just before.
                out.extend(alt.then_some(plain(Code::Esc)));
                if let Input::Report(super::Report::Cursor { .. }) = input {
                    self.cursors_awaited = self.cursors_awaited.saturating_sub(1);
                }
                out.push(input.clone());
            }
            Meaning::PasteBegins => {
                out.extend(alt.then_some(plain(Code::Esc)));
                self.state = State::Paste { stalled: false };
            }
            Meaning::Nothing => {}
        }
    }

    /// Ends what is unfinished: what could be a key becomes it, the rest is dropped.
    fn abandon(&mut self, out: &mut Vec<Input>) {
        let bare = self.is_bare();
        let escape = plain(Code::Esc);
        match self.state {
            State::Letter { .. } => out.push(plain(Code::Char(char::REPLACEMENT_CHARACTER))),
            State::Escape { twice } => {
                out.extend(twice.then(|| escape.clone()));
                out.push(escape);
            }
            State::Csi { alt } | State::Ss3 { alt } if bare => {
                out.extend(alt.then_some(escape));
                let opener = if matches!(self.state, State::Csi { .. }) { b'[' } else { b'O' };
                out.push(Input::Key(single(opener, true, self.erase)));
            }
            State::Text { opener, .. } if bare => out.push(Input::Key(single(opener, true, self.erase))),
            State::TextEnding { .. } => out.push(escape),
            State::Paste { .. } => {
                self.give_paste(out);
                self.paste = Paste::default();
            }
            State::Ground
            | State::Csi { .. }
            | State::Ss3 { .. }
            | State::Linux
            | State::Mouse { .. }
            | State::Text { .. } => {}
        }
        self.reset(State::Ground);
    }

    fn reset(&mut self, state: State) {
        self.state = state;
        self.kept.clear();
        self.overlong = false;
    }

    fn keep(&mut self, byte: u8) {
        if self.kept.len() < KEPT_BYTES {
            self.kept.push(byte);
        } else {
            self.overlong = true;
        }
    }
}

/// The key of one byte.
fn single(byte: u8, alt: bool, erase: u8) -> Key {
    let code = match byte {
        b'\t' => Code::Tab,
        b'\r' => Code::Enter,
        0x1b => Code::Esc,
        0x7f => Code::Backspace,
        BACKSPACE if erase == BACKSPACE => Code::Backspace,
        0 => return Key { code: Code::Char(' '), mods: Mods { ctrl: true, alt, shift: false } },
        // Ctrl takes two bits off a capital letter or its neighbours.
        1..b' ' => {
            let letter = char::from(byte + 0x40).to_ascii_lowercase();
            return Key { code: Code::Char(letter), mods: Mods { ctrl: true, alt, shift: false } };
        }
        b' '.. => {
            let letter = char::from(byte);
            // With Alt a key has its small letter's name, so that Shift must be told.
            return Pressed::new(letter, Mods { ctrl: false, alt, shift: alt && letter.is_ascii_uppercase() }).key();
        }
    };
    Key { code, mods: Mods { ctrl: false, alt, shift: false } }
}

fn plain(code: Code) -> Input {
    Input::Key(Key::plain(code))
}

/// Whether a byte in a paste that has been silent shows that somebody presses keys: control characters that no text
/// has.
fn is_key(byte: u8) -> bool {
    matches!(byte, 1..=8 | 11 | 12 | 14..=26 | 28..=31 | 0x7f)
}
