//! Makes JSON readable whose escapes hold half a character: a surrogate without its other half.
//!
//! Servers that cut an answer between UTF-16 units send an emoji's halves in two frames. It changes nothing else, and
//! does not look whether the rest is JSON.

use std::borrow::Cow;

/// The bytes of an escape such as `\ud83d`.
const ESCAPE: usize = 6;
/// What stands where half a character stood.
const LOST: &str = "\u{fffd}";

/// Mends frames one after the other.
#[derive(Debug, Default)]
pub struct Halves {
    /// The first half that ended a text of the last frame.
    first: Option<u16>,
}

impl Halves {
    /// The frame without halves. One that ends a text is kept: with the other at the beginning of a text of the next
    /// frame it makes a character there, without it it is gone. Any other becomes U+FFFD.
    pub fn join<'a>(&mut self, data: &'a str) -> Cow<'a, str> {
        let before = self.first.take();
        replace(data, |half, place| match (half, place, before) {
            (First(first), Place::End, _) => {
                self.first = Some(first);
                Cow::Borrowed("")
            }
            (Second(second), Place::Start, Some(first)) => Cow::Owned(format!("\\u{first:04x}\\u{second:04x}")),
            (First(_) | Second(_), Place::Start | Place::Inside | Place::End, _) => Cow::Borrowed(LOST),
        })
    }
}

/// `data` with every half replaced by U+FFFD: for an answer in one piece, which has no other frame.
pub fn without(data: &str) -> Cow<'_, str> {
    replace(data, |_, _| Cow::Borrowed(LOST))
}

/// Half a character.
#[derive(Clone, Copy)]
enum Half {
    First(u16),
    Second(u16),
}

use Half::{First, Second};

/// Where in its text a half stands. A first half that is the whole text stands at its end.
#[derive(Clone, Copy)]
enum Place {
    Start,
    Inside,
    End,
}

fn replace<'a>(data: &'a str, mut by: impl FnMut(Half, Place) -> Cow<'static, str>) -> Cow<'a, str> {
    let bytes = data.as_bytes();
    let mut mended = String::new();
    // Up to here the data is in `mended`; where the last escape ended.
    let (mut taken, mut at) = (0, 0);
    while let Some(step) = bytes.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let escape = at + step;
        // Behind an escape a quotation mark may be part of it.
        let opened = step > 0 && bytes.get(escape - 1) == Some(&b'"');
        let Some(unit) = unit(data, escape) else {
            at = escape + 2;
            continue;
        };
        at = escape + ESCAPE;
        let half = match unit {
            0xd800..=0xdbff if unit_is_second(data, at) => {
                at += ESCAPE;
                continue;
            }
            0xd800..=0xdbff => First(unit),
            0xdc00..=0xdfff => Second(unit),
            _ => continue,
        };
        let place = match (half, bytes.get(at) == Some(&b'"')) {
            (First(_), true) => Place::End,
            (First(_), false) => Place::Inside,
            (Second(_), _) => {
                if opened {
                    Place::Start
                } else {
                    Place::Inside
                }
            }
        };
        mended.push_str(data.get(taken..escape).unwrap_or_default());
        mended.push_str(&by(half, place));
        taken = at;
    }
    if taken == 0 {
        return Cow::Borrowed(data);
    }
    mended.push_str(data.get(taken..).unwrap_or_default());
    Cow::Owned(mended)
}

fn unit_is_second(data: &str, at: usize) -> bool {
    unit(data, at).is_some_and(|unit| (0xdc00..=0xdfff).contains(&unit))
}

/// The UTF-16 unit of the escape that begins at `at`, if it is one of four digits.
fn unit(data: &str, at: usize) -> Option<u16> {
    let digits = data.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_are_joined_or_replaced() {
        let read = |frames: &[&str]| {
            let mut halves = Halves::default();
            frames.iter().map(|frame| serde_json::from_str::<String>(&halves.join(frame)).unwrap()).collect::<String>()
        };
        assert_eq!(read(&[r#""\ud800 x""#]), "\u{fffd} x");
        assert_eq!(read(&[r#""a\uD83D""#, r#""\uDE00b""#]), "a😀b");
        assert_eq!(read(&[r#""a\"\ud83d""#, r#""\"\ude00b""#]), "a\"\"\u{fffd}b", "not the beginning");
        assert_eq!(read(&[r#""a\ud83d""#, r#""b""#, r#""\ude00c""#]), "ab\u{fffd}c");
        assert_eq!(read(&[r#""\ud83d\ud83d\ude00\ude00""#]), "\u{fffd}😀\u{fffd}");
        assert_eq!(without(r#"{"a":"\ud83d","b":"\ude00"}"#), "{\"a\":\"\u{fffd}\",\"b\":\"\u{fffd}\"}");
    }

    #[test]
    fn what_is_whole_stays() {
        for data in [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\u00e9\n""#, r"\u12", r"\ud83é9", "\\", "[DONE]", ""] {
            assert!(matches!(Halves::default().join(data), Cow::Borrowed(same) if same == data), "{data}");
        }
    }

    proptest! {
        #[test]
        fn units_cut_anywhere_give_the_same_text(text in "[a\"\\\\😀🎻é]{0,12}", cut in any::<prop::sample::Index>()) {
            let escaped: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let (one, two) = escaped.split_at(cut.index(escaped.len() + 1));
            let mut halves = Halves::default();
            let read: String = [one, two]
                .iter()
                .map(|units| serde_json::from_str::<String>(&halves.join(&format!("\"{}\"", units.concat()))).unwrap())
                .collect();
            prop_assert_eq!(read, text);
        }

        #[test]
        fn it_is_json_afterwards_if_only_halves_were_wrong(units in prop::collection::vec(0xd7ffu16..0xe001, 0..8)) {
            let data = format!("\"{}\"", units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>());
            let expected = String::from_utf16_lossy(&units);
            prop_assert_eq!(serde_json::from_str::<String>(&without(&data)).unwrap(), expected);
        }
    }
}
