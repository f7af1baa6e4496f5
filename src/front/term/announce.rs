//! Words to the window around the text: its title, a notification, the clipboard. Pure: text in, bytes out.
//!
//! Whatever the text holds, it cannot end the sequence it is in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::base::text::{visible, width};

/// Longer titles are cut: more does not fit on a tab.
const TITLE_COLUMNS: usize = 80;
/// Longer notifications are cut: desktops show about three lines.
const BODY_COLUMNS: usize = 240;
/// More is not put on the clipboard: terminals drop longer sequences, xterm and tmux somewhere above 100 KB.
pub const CLIPBOARD_BYTES: usize = 100 * 1024;
/// GNU screen passes on so much in one piece; its own limit is 256.
const SCREEN_PIECE: usize = 240;

/// How something is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notifier {
    /// Not at all.
    Off,
    /// By the bell.
    Bell,
    /// By `OSC 9` (iTerm2).
    Osc9,
    /// By `OSC 777` (urxvt).
    Osc777,
    /// By `OSC 99` (kitty).
    Osc99,
}

/// What a sequence is wrapped in to get through to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Nothing.
    None,
    /// tmux lets it through if `allow-passthrough` is on.
    Tmux,
    /// GNU screen lets pieces through.
    Screen,
}

/// Sets the title of the window or, under tmux, of the pane.
pub fn title(text: &str) -> String {
    format!("\x1b]2;{}\x1b\\", harmless(text, TITLE_COLUMNS))
}

/// Announces something. Through tmux the bell comes along: it marks the window there, and tmux may be set to let nothing
/// else through.
pub fn notification(notifier: Notifier, wrap: Wrap, title: &str, body: &str) -> String {
    let (title, body) = (harmless(title, TITLE_COLUMNS), harmless(body, BODY_COLUMNS));
    let sequence = match notifier {
        Notifier::Off => return String::new(),
        Notifier::Bell => return "\x07".to_owned(),
        // A number in front would be one of ConEmu's commands.
        Notifier::Osc9 if title.starts_with(|first: char| first.is_ascii_digit()) => {
            format!("\x1b]9; {title}: {body}\x07")
        }
        Notifier::Osc9 => format!("\x1b]9;{title}: {body}\x07"),
        // What is behind the first semicolon is the body.
        Notifier::Osc777 => format!("\x1b]777;notify;{};{body}\x07", title.replace(';', ",")),
        Notifier::Osc99 => format!("\x1b]99;i=viola:d=0;{title}\x1b\\\x1b]99;i=viola:p=body;{body}\x1b\\"),
    };
    match wrap {
        Wrap::None => sequence,
        Wrap::Tmux | Wrap::Screen => format!("{}\x07", wrapped(&sequence, wrap)),
    }
}

/// Puts `text` on the clipboard (`OSC 52`), also at the other end of an ssh. Whether it got there is not told. `None` when
/// it is more than [`CLIPBOARD_BYTES`].
pub fn clipboard(text: &str, wrap: Wrap) -> Option<String> {
    if text.len() > CLIPBOARD_BYTES {
        return None;
    }
    let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    Some(match wrap {
        Wrap::None => sequence,
        // tmux takes it itself with `set-clipboard on`, and lets it through with `allow-passthrough on`.
        Wrap::Tmux => format!("{sequence}{}", wrapped(&sequence, wrap)),
        Wrap::Screen => wrapped(&sequence, wrap),
    })
}

/// As a string for the device around (DCS). Sequences inside are ASCII but for their text, and hold no `ESC \` under
/// screen, where it would end the string.
fn wrapped(sequence: &str, wrap: Wrap) -> String {
    match wrap {
        Wrap::None => sequence.to_owned(),
        Wrap::Tmux => format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")),
        Wrap::Screen => {
            let mut wrapped = String::with_capacity(sequence.len() + sequence.len() / 48 + 8);
            let mut size = 0;
            for letter in sequence.replace("\x1b\\", "\x07").chars() {
                if size == 0 {
                    wrapped.push_str("\x1bP");
                }
                wrapped.push(letter);
                size += letter.len_utf8();
                if size >= SCREEN_PIECE {
                    wrapped.push_str("\x1b\\");
                    size = 0;
                }
            }
            wrapped.push_str(if size == 0 { "" } else { "\x1b\\" });
            wrapped
        }
    }
}

/// One line without anything that drives a terminal, of at most so many columns.
fn harmless(text: &str, columns: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    width::cut(&visible::line(&line), columns, "...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EVIL: &str = "a\x1b\\\x07\u{9c}b;c\nd\u{202e}";

    #[test]
    fn titles_are_one_harmless_line() {
        assert_eq!(title("viola: fix\n the  test"), "\x1b]2;viola: fix the test\x1b\\");
        assert_eq!(title(EVIL), "\x1b]2;a␛\\␇\\u{9c}b;c d⟨RLO⟩\x1b\\");
        assert!(title(&"天".repeat(100)).chars().count() < 50);
    }

    #[test]
    fn each_terminal_is_told_in_its_own_way() {
        let told = |notifier, wrap| notification(notifier, wrap, "viola", "4;done");
        assert_eq!(told(Notifier::Off, Wrap::Tmux), "");
        assert_eq!(told(Notifier::Bell, Wrap::Tmux), "\x07");
        assert_eq!(told(Notifier::Osc9, Wrap::None), "\x1b]9;viola: 4;done\x07");
        assert_eq!(told(Notifier::Osc777, Wrap::None), "\x1b]777;notify;viola;4;done\x07");
        assert_eq!(
            told(Notifier::Osc99, Wrap::None),
            "\x1b]99;i=viola:d=0;viola\x1b\\\x1b]99;i=viola:p=body;4;done\x1b\\"
        );
        assert_eq!(told(Notifier::Osc9, Wrap::Tmux), "\x1bPtmux;\x1b\x1b]9;viola: 4;done\x07\x1b\\\x07");
        assert_eq!(told(Notifier::Osc9, Wrap::Screen), "\x1bP\x1b]9;viola: 4;done\x07\x1b\\\x07");
        assert_eq!(notification(Notifier::Osc777, Wrap::None, "a;b", "c"), "\x1b]777;notify;a,b;c\x07");
        assert_eq!(notification(Notifier::Osc9, Wrap::None, "4;1", "c"), "\x1b]9; 4;1: c\x07");
    }

    #[test]
    fn the_clipboard_gets_the_text_as_it_is_or_not_at_all() {
        assert_eq!(clipboard("ü\x1b", Wrap::None).unwrap(), "\x1b]52;c;w7wb\x07");
        assert_eq!(clipboard("", Wrap::Tmux).unwrap(), "\x1b]52;c;\x07\x1bPtmux;\x1b\x1b]52;c;\x07\x1b\\");
        assert_eq!(clipboard(&"x".repeat(CLIPBOARD_BYTES + 1), Wrap::None), None);
        let long = clipboard(&"x".repeat(CLIPBOARD_BYTES), Wrap::Screen).unwrap();
        let pieces: Vec<_> = long.split("\x1b\\").filter(|piece| !piece.is_empty()).collect();
        assert!(pieces.iter().all(|piece| piece.starts_with("\x1bP") && piece.len() <= SCREEN_PIECE + 2));
        let plain: String = pieces.iter().map(|piece| &piece[2..]).collect();
        assert_eq!(plain, clipboard(&"x".repeat(CLIPBOARD_BYTES), Wrap::None).unwrap());
    }

    proptest! {
        #[test]
        fn no_text_ends_its_sequence(text in "[\\PC\\pC]{0,80}") {
            let controls = |bytes: &str| bytes.chars().filter(|letter| letter.is_control()).count();
            prop_assert_eq!(controls(&title(&text)), 2);
            for (notifier, expected) in [(Notifier::Osc9, 2), (Notifier::Osc777, 2), (Notifier::Osc99, 4)] {
                prop_assert_eq!(controls(&notification(notifier, Wrap::None, &text, &text)), expected);
            }
        }
    }
}
