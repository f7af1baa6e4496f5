//! File content and names as text that shows what it holds and drives nothing: control characters become pictures.
//!
//! It removes nothing, so that what is shown has as many characters as what is there.

/// One line, shown plainly.
pub fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    push(text, &mut shown);
    shown
}

/// Appends one line, shown plainly: tabs stay, other control characters become their pictures (U+2400 and on).
pub fn push(text: &str, shown: &mut String) {
    let odd = |c: char| c.is_control() && c != '\t';
    if !text.contains(odd) {
        shown.push_str(text);
        return;
    }
    shown.extend(text.chars().map(|c| if odd(c) { picture(c) } else { c }));
}

fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_can_drive_a_terminal() {
        assert_eq!(line("a\tb\x1b[2J\u{9b}2J\r\x7f\0"), "a\tb␛[2J\u{fffd}2J␍␡␀");
    }
}
