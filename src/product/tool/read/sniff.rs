//! What kind of content a file holds, judged by its first bytes; a name is never believed.

use crate::product::picture::{self, Kind};

/// Bytes that are looked at: as many as git looks at.
pub const SAMPLE: usize = 8_000;

/// One control character in this many bytes, and a file is not text; escape sequences of a log stay far below.
const CONTROLS_ONE_IN: usize = 10;

/// The beginnings of files that are no text, even where they look like it.
const MAGIC: [(&[u8], &str); 15] = [
    (b"\x7fELF", "an ELF program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\xca\xfe\xba\xbe", "a Mach-O program or a Java class"),
    (b"\0asm", "a WebAssembly module"),
    (b"PK\x03\x04", "a zip archive (or a format built on it)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"BZh", "bzip2 data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "Ogg audio or video"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
];

/// A kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text of which ASCII is a part: UTF-8, or an encoding that has to be guessed.
    Text,
    /// UTF-16 with its byte order mark.
    Utf16(Order),
    /// A picture, or a document that shows some.
    Picture(Kind),
    /// No text; what it is, as far as its first bytes tell.
    Binary(Option<&'static str>),
}

/// Which byte of two comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The low one.
    Little,
    /// The high one.
    Big,
}

/// Judges content by its beginning.
pub fn sniff(beginning: &[u8]) -> Content {
    let sample = beginning.get(..SAMPLE).unwrap_or(beginning);
    if let Some(kind) = picture::kind_of(sample).filter(|kind| !kind.is_text()) {
        return Content::Picture(kind);
    }
    if let Some((_, name)) = MAGIC.iter().find(|(magic, name)| sample.starts_with(magic) && is_really(name, sample)) {
        return Content::Binary(Some(name));
    }
    if sample.starts_with(b"RIFF") && sample.contains(&0) {
        return Content::Binary(Some("audio or video (RIFF)"));
    }
    match sample {
        [0xff, 0xfe, ..] => return Content::Utf16(Order::Little),
        [0xfe, 0xff, ..] => return Content::Utf16(Order::Big),
        _ => {}
    }
    let controls = sample.iter().filter(|&&byte| is_odd(byte)).count();
    if sample.contains(&0) || controls * CONTROLS_ONE_IN > sample.len() {
        return Content::Binary(None);
    }
    Content::Text
}

/// Text from UTF-16 without its mark; what is no character becomes U+FFFD.
pub fn decode_utf16(content: &[u8], order: Order) -> String {
    let units = content.chunks(2).skip(1).map(|pair| match (pair, order) {
        ([first, second], Order::Little) => u16::from_le_bytes([*first, *second]),
        ([first, second], Order::Big) => u16::from_be_bytes([*first, *second]),
        // Half a unit at the end: a lone surrogate, which is decoded to U+FFFD.
        _ => 0xd800,
    });
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Beginnings of three letters are too easily a word.
fn is_really(name: &str, sample: &[u8]) -> bool {
    name != "bzip2 data" || sample.get(3).is_some_and(u8::is_ascii_digit) && sample.get(4..7) == Some(b"1AY")
}

/// Controls that text has no use for; tab, line ends, form feed, escape and backspace do occur in sources and logs.
fn is_odd(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x08) || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_judged_by_its_bytes() {
        assert_eq!(sniff(b""), Content::Text);
        assert_eq!(sniff("fn main() {}\n ünï \x1b[31mred".as_bytes()), Content::Text);
        assert_eq!(sniff(b"Stra\xdfe caf\xe9\n"), Content::Text);
        assert_eq!(sniff(b"<html>"), Content::Text);
        assert_eq!(sniff(b"BZh is a word"), Content::Text);
        assert_eq!(sniff(b"\x89PNG\r\n\x1a\n..."), Content::Picture(Kind::Png));
        assert_eq!(sniff(b"RIFF\x10\0\0\0WEBPVP8 "), Content::Picture(Kind::Webp));
        assert_eq!(sniff(b"RIFF\x10\0\0\0WAVEfmt "), Content::Binary(Some("audio or video (RIFF)")));
        assert_eq!(sniff(b"<svg>"), Content::Text);
        assert_eq!(sniff(b"text\0text"), Content::Binary(None));
        assert_eq!(sniff(b"\x01\x02\x03 abc"), Content::Binary(None));
        assert_eq!(sniff(b"\xff\xfea\0"), Content::Utf16(Order::Little));
        assert_eq!(sniff(b"\xff\xfe\0\0a\0\0\0"), Content::Binary(Some("UTF-32 text")));
    }

    #[test]
    fn utf16_is_decoded_with_what_is_broken_in_it() {
        let mut content = vec![0xfe, 0xff];
        content.extend("aß🎻\n".encode_utf16().flat_map(u16::to_be_bytes));
        content.push(0);
        assert_eq!(decode_utf16(&content, Order::Big), "aß🎻\n\u{fffd}");
    }
}
