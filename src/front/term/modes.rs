//! What is switched on in a terminal, and the bytes that switch it back. Pure.
//!
//! Output processing stays on: a line feed also returns to the first column, so that a line of some library on standard
//! error stays a line. Whoever paints writes `\r\n`, and never a bare `\n` to go straight down.

use rustix::termios::{ControlModes, InputModes, LocalModes, SpecialCodeIndex, Termios};

/// Cancels a control sequence that was cut (ECMA-48 CAN).
const CANCEL: &str = "\x18";

/// What a terminal is asked to do differently while it is ours. All of it is on or off together with raw mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Pastes come in brackets (`?2004`).
    pub paste: bool,
    /// Focus is reported (`?1004`).
    pub focus: bool,
    /// Keys that legacy encodings cannot tell apart are told apart.
    pub keys: bool,
    /// The title is kept aside, to be put back.
    pub title: bool,
    /// Whether it knows control sequences at all.
    pub sequences: bool,
}

/// Where the cursor stands after what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caret {
    /// In the first column of an empty line, with nothing below.
    #[default]
    FreshLine,
    /// Anywhere in a line, with so many rows of ours below.
    Above(u16),
}

impl Modes {
    /// The bytes that switch them on.
    pub fn on(self) -> String {
        let title = if self.title { "\x1b[22;2t" } else { "" };
        format!("{title}{}", self.switch_on())
    }

    /// The bytes that bring them back after somebody else may have had the terminal, who has left them on.
    pub fn again(self) -> String {
        format!("{}{}", self.switch_off(), self.switch_on())
    }

    /// The bytes that undo everything, and leave the cursor in the first column of a line of its own. `cut` when the
    /// last thing written may have ended in the middle.
    pub fn off(self, caret: Caret, cut: bool) -> String {
        let mut bytes = String::new();
        if self.sequences {
            if cut {
                bytes.push_str(CANCEL);
            }
            bytes.push_str(&self.switch_off());
            // Synchronised update over, autowrap, cursor shown, no colours.
            bytes.push_str("\x1b[?2026l\x1b[?7h\x1b[?25h\x1b[m");
            if self.title {
                bytes.push_str("\x1b[23;2t");
            }
        }
        match caret {
            Caret::FreshLine if !cut => {}
            Caret::Above(rows) if rows > 0 && self.sequences => bytes.push_str(&format!("\x1b[{rows}B\r\n")),
            Caret::FreshLine | Caret::Above(_) => bytes.push_str("\r\n"),
        }
        bytes
    }

    /// Keys: xterm's modifyOtherKeys first, then the kitty protocol, which holds where both are known. Of that, codes
    /// that are not ambiguous (1) and the key of the Latin layout (4); no releases of keys.
    fn switch_on(self) -> String {
        let on = |wanted: bool, bytes| if wanted { bytes } else { "" };
        [on(self.paste, "\x1b[?2004h"), on(self.focus, "\x1b[?1004h"), on(self.keys, "\x1b[>4;2m\x1b[>5u")].concat()
    }

    fn switch_off(self) -> String {
        let off = |wanted: bool, bytes| if wanted { bytes } else { "" };
        // `>4m` is what the user had configured, not 0.
        [off(self.keys, "\x1b[<u\x1b[>4m"), off(self.focus, "\x1b[?1004l"), off(self.paste, "\x1b[?2004l")].concat()
    }
}

/// `saved` changed so that every byte comes as it was typed, at once, unseen. Output stays as it is.
pub fn raw(saved: &Termios) -> Termios {
    let mut raw = saved.clone();
    raw.input_modes.remove(
        InputModes::IGNBRK
            | InputModes::BRKINT
            | InputModes::PARMRK
            | InputModes::ISTRIP
            | InputModes::INLCR
            | InputModes::IGNCR
            | InputModes::ICRNL
            | InputModes::IXON,
    );
    raw.local_modes
        .remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
    raw.control_modes.remove(ControlModes::CSIZE | ControlModes::PARENB);
    raw.control_modes.insert(ControlModes::CS8);
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    raw
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_is_switched_off_in_reverse() {
        let all = Modes { paste: true, focus: true, keys: true, title: true, sequences: true };
        assert_eq!(all.on(), "\x1b[22;2t\x1b[?2004h\x1b[?1004h\x1b[>4;2m\x1b[>5u");
        assert_eq!(
            all.off(Caret::Above(2), false),
            "\x1b[<u\x1b[>4m\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[?7h\x1b[?25h\x1b[m\x1b[23;2t\x1b[2B\r\n"
        );
        assert_eq!(all.again().matches('u').count(), 2, "one popped, one pushed: {:?}", all.again());
        assert!(!all.again().contains('t'), "the title is not pushed twice");
    }

    #[test]
    fn a_terminal_without_sequences_gets_none() {
        let none = Modes::default();
        assert_eq!((none.on().as_str(), none.off(Caret::Above(3), true).as_str()), ("", "\r\n"));
        assert_eq!(none.off(Caret::FreshLine, false), "");
    }

    #[test]
    fn what_was_cut_is_cancelled() {
        let plain = Modes { sequences: true, ..Modes::default() };
        assert!(plain.off(Caret::FreshLine, true).starts_with("\x18\x1b["));
        assert!(plain.off(Caret::FreshLine, true).ends_with("\r\n"));
        assert_eq!(plain.off(Caret::FreshLine, false), "\x1b[?2026l\x1b[?7h\x1b[?25h\x1b[m");
    }
}
