//! A bracketed paste: everything up to its end marker, of any size, in any pieces, and what becomes of it.

use memchr::memmem;

use crate::base::text::clean;

/// What ends a paste, exactly.
pub(super) const END: &[u8] = b"\x1b[201~";

/// A paste that has not ended yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Paste {
    raw: Vec<u8>,
}

impl Paste {
    /// Takes what belongs to the paste off `bytes`. What is left, with the end marker gone, comes back once that was
    /// there.
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let before = self.raw.len();
        self.raw.extend_from_slice(bytes);
        // The marker may have begun in an earlier piece.
        let from = before.saturating_sub(END.len() - 1);
        let start = from + memmem::find(self.raw.get(from..)?, END)?;
        self.raw.truncate(start);
        bytes.get(start + END.len() - before..)
    }

    /// Everything so far as text; empty afterwards, but for what may be the beginning of the end marker.
    pub(super) fn give(&mut self) -> String {
        let kept = self.marker_begun();
        let rest = self.raw.split_off(self.raw.len() - kept);
        text(&std::mem::replace(&mut self.raw, rest))
    }

    /// How many bytes at its end may be the beginning of the end marker.
    pub(super) fn marker_begun(&self) -> usize {
        (1..END.len())
            .rev()
            .find(|length| END.get(..*length).is_some_and(|begun| self.raw.ends_with(begun)))
            .unwrap_or(0)
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.raw.len()
    }
}

/// What is kept of a paste: `\n` for every line end, no control characters besides it and the tab, no escape sequences.
fn text(raw: &[u8]) -> String {
    let mut plain = Vec::with_capacity(raw.len());
    let mut returned = false;
    for byte in raw {
        match byte {
            b'\n' if returned => {}
            b'\r' => plain.push(b'\n'),
            // In what a program prints it takes a character back; here it is one of the control characters.
            8 => {}
            _ => plain.push(*byte),
        }
        returned = *byte == b'\r';
    }
    clean::clean(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_left() {
        for (raw, kept) in [
            (&b"a\r\nb\rc\nd\r\re"[..], "a\nb\nc\nd\n\ne"),
            (b"x\0\x08\x07\x7fy\tz", "xy\tz"),
            (b"\x1b[31mred\x1b[0m \x1b]0;title\x07end\x1b", "red end"),
            (b"[201~ and \xff\xc3\xbc", "[201~ and \u{fffd}ü"),
            ("\u{9b}31mc1 \u{85}".as_bytes(), "c1 "),
            (b"\x1b[200~nested", "nested"),
        ] {
            assert_eq!(text(raw), kept, "{raw:?}");
        }
    }

    #[test]
    fn a_marker_in_two_pieces_is_found() {
        let mut paste = Paste::default();
        assert_eq!(paste.take(b"ab\x1b[2"), None);
        assert_eq!(paste.marker_begun(), 3);
        assert_eq!(paste.take(b"01~cd"), Some(&b"cd"[..]));
        assert_eq!((paste.give().as_str(), paste.len()), ("ab", 0));
        assert_eq!(paste.take(b"x\x1b[20"), None);
        assert_eq!((paste.give().as_str(), paste.len()), ("x", 4));
    }
}
