//! A line of a file as a search shows it: short, around the match.

use std::borrow::Cow;

use crate::base::text::{cut, visible};

/// A line of at most `chars` characters that hides nothing: all of it, or the part around byte `focus` between ellipses.
///
/// The line may be of any length and need not be UTF-8; only the part that is shown is looked at.
pub fn around(bytes: &[u8], focus: usize, chars: usize) -> String {
    let end = bytes.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let bytes = bytes.get(..bytes.len() - end).unwrap_or(bytes);
    if bytes.len() <= chars {
        let shown = spelt(bytes);
        if shown.chars().count() <= chars {
            return shown;
        }
    }
    let focus = boundary(bytes, focus.min(bytes.len()));
    let start = boundary(bytes, focus.saturating_sub(BYTES_A_CHARACTER * chars));
    let stop = boundary(bytes, (focus + BYTES_A_CHARACTER * chars).min(bytes.len()));
    let piece = |from: usize, to: usize| spelt(bytes.get(from..to).unwrap_or_default());
    let (before, after) = (piece(start, focus), piece(focus, stop));
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

fn spelt(bytes: &[u8]) -> String {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => visible::line(text).into_owned(),
        Cow::Owned(text) => visible::line(&text).into_owned(),
    }
}

/// The longest encoding of one character in UTF-8.
const BYTES_A_CHARACTER: usize = 4;

/// The beginning of the character that byte `at` belongs to, as far as there are characters.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(BYTES_A_CHARACTER - 1)..=at).rev().find(|at| !is_inside(*at)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let text = format!("{}needle{}", "x".repeat(3000), "y".repeat(3000));
        let shown = around(text.as_bytes(), 3000, 500);
        assert!(shown.starts_with("…x") && shown.contains("needle") && shown.ends_with("y…"));
        assert_eq!(shown.chars().count(), 500);
        let end = around(format!("{}needle\r\n", "é".repeat(3000)).as_bytes(), 6000, 500);
        assert!(end.ends_with("éneedle") && end.chars().count() == 499, "{end}");
        assert_eq!(around("é".repeat(300).as_bytes(), 0, 500), "é".repeat(300));
    }

    proptest! {
        #[test]
        fn any_bytes_make_a_clean_short_line(bytes in proptest::collection::vec(any::<u8>(), 0..3000), focus in 0usize..4000, chars in 3usize..600) {
            let shown = around(&bytes, focus, chars);
            prop_assert!(shown.chars().count() <= chars);
            prop_assert!(!shown.contains(|letter: char| letter.is_control() && letter != '\t'));
        }
    }
}
