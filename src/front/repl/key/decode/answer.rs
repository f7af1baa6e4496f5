//! What a terminal answers in control strings: the colour of its background, its name. Everything else it says in them
//! is nothing.

use crate::base::text::{clean, cut};
use crate::front::repl::key::Report;

/// How much of a terminal's name is kept, in characters.
const NAME_CHARS: usize = 100;

/// A control string, by the letter that began it (`ESC ]` is OSC, `ESC P` is DCS), and what stood in it.
pub(super) fn text(opener: u8, content: &[u8]) -> Option<Report> {
    let content = std::str::from_utf8(content).ok()?;
    match opener {
        b']' => background(content.strip_prefix("11;")?),
        b'P' => Some(Report::Version(cut::head(&clean::line(content.strip_prefix(">|")?), NAME_CHARS).to_owned())),
        _ => None,
    }
}

/// `rgb:hhhh/hhhh/hhhh` with one to four digits each, `rgba:` with a fourth part, or `#rrggbb` and its kin
/// (XParseColor).
fn background(colour: &str) -> Option<Report> {
    let parts: Vec<&str> = if let Some(digits) = colour.strip_prefix('#') {
        let each = digits.len() / 3;
        if each == 0 || digits.len() != each * 3 {
            return None;
        }
        (0..3).filter_map(|part| digits.get(part * each..(part + 1) * each)).collect()
    } else {
        colour.strip_prefix("rgb:").or_else(|| colour.strip_prefix("rgba:"))?.split('/').collect()
    };
    let [red, green, blue, ..] = *parts.as_slice() else { return None };
    Some(Report::Background { red: level(red)?, green: level(green)?, blue: level(blue)? })
}

/// One to four hexadecimal digits, scaled to 8 bits: `f`, `ff` and `ffff` are all full.
fn level(digits: &str) -> Option<u8> {
    if !(1..=4).contains(&digits.len()) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let full = (1 << (4 * digits.len())) - 1;
    u8::try_from((value * 255 + full / 2) / full).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_any_depth() {
        for (colour, levels) in [
            ("rgb:ffff/8080/0000", [255, 128, 0]),
            ("rgb:f/8/0", [255, 136, 0]),
            ("rgb:ff/80/00", [255, 128, 0]),
            ("rgb:fff/800/000", [255, 128, 0]),
            ("rgba:1e1e/1e1e/2e2e/ffff", [30, 30, 46]),
            ("#1e1e2e", [30, 30, 46]),
            ("#1e1e1e1e2e2e", [30, 30, 46]),
        ] {
            let [red, green, blue] = levels;
            assert_eq!(background(colour), Some(Report::Background { red, green, blue }), "{colour}");
        }
        for colour in ["", "rgb:", "rgb:1/2", "rgb:+1/2/3", "rgb:12345/0/0", "rgb:é/é/é", "#", "#12345", "#é12", "red"]
        {
            assert_eq!(background(colour), None, "{colour}");
        }
    }

    #[test]
    fn a_name_is_clean_and_short() {
        let version = |content: &str| text(b'P', content.as_bytes());
        assert_eq!(version(">|kitty(0.31.0)"), Some(Report::Version("kitty(0.31.0)".into())));
        let Some(Report::Version(name)) = version(&format!(">|{}", "x".repeat(5000))) else { panic!() };
        assert!(name.len() <= NAME_CHARS);
        assert_eq!(version("1$r0m"), None);
        assert_eq!(text(b'_', b"Gi=1;OK"), None);
        assert_eq!(text(b']', b"11;rgb:\xff"), None);
    }
}
