//! Text that shows all it holds and drives nothing: what moves a cursor, hides, or turns the reading direction is spelt.
//!
//! Takes nothing away; what a program printed for a terminal loses its escape sequences in [`super::clean`].

use std::borrow::Cow;

/// One line: line breaks are spelt too, tabs stay.
///
/// C0 controls and DEL become their pictures (`␛`, `␊`), the directional controls their names in UAX #9 (`⟨RLO⟩`). C1
/// controls, the separators of lines and paragraphs, and characters of no width become `\u{feff}` and the like. Joiners and spaces of no width
/// stay after a letter that is not ASCII: scripts and emoji need them there.
pub fn line(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    spell(text, &mut shown);
    Cow::Owned(shown)
}

/// Several lines: as [`line()`], but line breaks stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for piece in text.split_inclusive('\n') {
        let body = piece.strip_suffix('\n');
        push(body.unwrap_or(piece), &mut shown);
        if body.is_some() {
            shown.push('\n');
        }
    }
    Cow::Owned(shown)
}

/// Appends one line, as [`line()`] shows it.
pub fn push(text: &str, shown: &mut String) {
    if is_plain(text) {
        shown.push_str(text);
    } else {
        spell(text, shown);
    }
}

/// Nearly all text: tabs and what ASCII prints.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\t' || (b' '..0x7f).contains(&byte))
}

fn spell(text: &str, shown: &mut String) {
    let mut before = ' ';
    for letter in text.chars() {
        match letter {
            '\t' => shown.push('\t'),
            '\0'..='\x1f' => shown.extend(char::from_u32(PICTURES + u32::from(letter))),
            '\x7f' => shown.push('␡'),
            '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{feff}' => {
                shown.extend(letter.escape_unicode());
            }
            '\u{61c}' => shown.push_str("⟨ALM⟩"),
            '\u{200e}' => shown.push_str("⟨LRM⟩"),
            '\u{200f}' => shown.push_str("⟨RLM⟩"),
            '\u{202a}' => shown.push_str("⟨LRE⟩"),
            '\u{202b}' => shown.push_str("⟨RLE⟩"),
            '\u{202c}' => shown.push_str("⟨PDF⟩"),
            '\u{202d}' => shown.push_str("⟨LRO⟩"),
            '\u{202e}' => shown.push_str("⟨RLO⟩"),
            '\u{2066}' => shown.push_str("⟨LRI⟩"),
            '\u{2067}' => shown.push_str("⟨RLI⟩"),
            '\u{2068}' => shown.push_str("⟨FSI⟩"),
            '\u{2069}' => shown.push_str("⟨PDI⟩"),
            '\u{200b}'..='\u{200d}' if before.is_ascii() => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
        before = letter;
    }
}

/// The block of Unicode with a picture for each C0 control, in their order.
const PICTURES: u32 = 0x2400;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_would_not_be_seen_is_spelt() {
        assert_eq!(line("a\tb\x1b[2J\u{9b}2J\r\x7f\0\n"), "a\tb␛[2J\\u{9b}2J␍␡␀␊");
        assert_eq!(line("if \u{202e}x\u{2066} a\u{200b}b\u{2028}"), "if ⟨RLO⟩x⟨LRI⟩ a\\u{200b}b\\u{2028}");
        assert_eq!(lines("one\r\n\u{1b}two\n"), "one␍\n␛two\n");
    }

    #[test]
    fn what_people_write_stays() {
        for text in ["naïve 天\ttab", "👩‍👩‍👧‍👦", "می‌خواهم", "ខ្មែរ\u{200b}អក្សរ"]
        {
            assert_eq!(line(text), text);
        }
        assert_eq!(lines("naïve\n天\n"), "naïve\n天\n");
    }

    proptest! {
        #[test]
        fn nothing_drives_a_terminal(text in ".{0,100}|[\\PC\\pC]{0,100}") {
            let (one, many) = (line(&text), lines(&text));
            prop_assert!(one.chars().all(|letter| !letter.is_control() || letter == '\t'));
            prop_assert!(many.chars().all(|letter| !letter.is_control() || letter == '\t' || letter == '\n'));
            prop_assert_eq!(many.replace('\n', "␊"), one.as_ref());
            prop_assert_eq!(line(&one), one.as_ref());
        }
    }
}
