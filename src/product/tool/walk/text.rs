//! How names, lines and sizes from the disk are written for a model.

use crate::base::text::cut;

/// Replaces what could break a line or drive a terminal: controls become their pictures (`␊`, `␛`), marks that turn the
/// writing direction the replacement character. Tabs stay.
pub fn clean(text: &str) -> String {
    if text.bytes().all(|byte| byte == b'\t' || (b' '..0x7f).contains(&byte)) {
        return text.to_owned();
    }
    text.chars().map(picture).collect()
}

fn picture(letter: char) -> char {
    match letter {
        '\t' => '\t',
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => {
            char::REPLACEMENT_CHARACTER
        }
        other => other,
    }
}

/// A line of at most `chars` characters, cleaned: all of it, or the part around byte `focus` between ellipses.
///
/// The line may be of any length and need not be UTF-8; only the part that is shown is looked at.
pub fn line(bytes: &[u8], focus: usize, chars: usize) -> String {
    let end = bytes.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let bytes = bytes.get(..bytes.len() - end).unwrap_or(bytes);
    // No more characters than bytes.
    if bytes.len() <= chars {
        return clean(&String::from_utf8_lossy(bytes));
    }
    let focus = boundary(bytes, focus.min(bytes.len()));
    let start = boundary(bytes, focus.saturating_sub(BYTES_A_CHARACTER * chars));
    let stop = boundary(bytes, (focus + BYTES_A_CHARACTER * chars).min(bytes.len()));
    let decode = |from: usize, to: usize| clean(&String::from_utf8_lossy(bytes.get(from..to).unwrap_or_default()));
    let (before, after) = (decode(start, focus), decode(focus, stop));
    let is_whole = start == 0 && stop == bytes.len();
    if is_whole && before.chars().count() + after.chars().count() <= chars {
        return before + &after;
    }
    // A third of the room for what stands before the match, more where less follows; two characters for the ellipses.
    let room = chars.saturating_sub(2);
    let left = cut::tail(&before, (room / 3).max(room.saturating_sub(after.chars().count())));
    let right = cut::head(&after, room.saturating_sub(left.chars().count()));
    let opening = if start > 0 || left.len() < before.len() { "…" } else { "" };
    let closing = if stop < bytes.len() || right.len() < after.len() { "…" } else { "" };
    format!("{opening}{left}{right}{closing}")
}

/// The longest encoding of one character in UTF-8.
const BYTES_A_CHARACTER: usize = 4;

/// The beginning of the character that byte `at` belongs to, as far as there are characters.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(BYTES_A_CHARACTER - 1)..=at).rev().find(|at| !is_inside(*at)).unwrap_or(at)
}

/// A size in bytes as people write it: `12 B`, `3.4 KB`, `11 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // Tenths of the unit, so that no float is needed.
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    let name = UNITS.get(unit).unwrap_or(&"TB");
    if tenths >= 100 { format!("{} {name}", tenths / 10) } else { format!("{}.{} {name}", tenths / 10, tenths % 10) }
}

/// A number with its thousands apart: `2,000,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `2,345 files`.
pub fn count(number: u64, noun: &str) -> String {
    let ending = match (number, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    if let (false, Some(stem)) = (number == 1, noun.strip_suffix('y')) {
        return format!("{} {stem}ies", grouped(number));
    }
    format!("{} {noun}{ending}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 999, 1000, 9_999, 10_400, 1_000_000, 11_534_336].map(size),
            ["0 B", "999 B", "1.0 KB", "9.9 KB", "10 KB", "1.0 MB", "11 MB"]
        );
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(1, "match") + " " + &count(2, "match"), "1 match 2 matches");
        assert_eq!(count(1, "entry") + " " + &count(1200, "entry"), "1 entry 1,200 entries");
    }

    #[test]
    fn controls_are_made_visible() {
        assert_eq!(clean("a\nb\u{1b}[31m\tc\u{202e}d\u{9b}"), "a␊b␛[31m\tc\u{fffd}d\u{fffd}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let text = format!("{}needle{}", "x".repeat(3000), "y".repeat(3000));
        let shown = line(text.as_bytes(), 3000, 500);
        assert!(shown.starts_with("…x") && shown.contains("needle") && shown.ends_with("y…"));
        assert_eq!(shown.chars().count(), 500);
        let end = line(format!("{}needle\r\n", "é".repeat(3000)).as_bytes(), 6000, 500);
        assert!(end.ends_with("éneedle") && end.chars().count() == 499, "{end}");
        assert_eq!(line("é".repeat(300).as_bytes(), 0, 500), "é".repeat(300));
    }

    proptest! {
        #[test]
        fn any_bytes_make_a_clean_short_line(bytes in proptest::collection::vec(any::<u8>(), 0..3000), focus in 0usize..4000, chars in 3usize..600) {
            let shown = line(&bytes, focus, chars);
            prop_assert!(shown.chars().count() <= chars);
            prop_assert!(!shown.contains(|letter: char| letter.is_control() && letter != '\t'));
        }
    }
}
