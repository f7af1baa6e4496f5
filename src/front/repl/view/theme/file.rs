//! Themes as people write them: roles and styles in a JSON object.
//!
//! Files are read elsewhere; here is only their text.

use ratatui::style::{Color, Modifier, Style};
use serde_json::Value;

use super::palette::{self, Rgb};
use super::{Depth, Theme};
use crate::base::json::Object;
use crate::base::text::likeness::closest;
use crate::base::text::{cut, visible};

/// Characters of a wrong value that an error repeats.
const ECHOED_CHARS: usize = 60;

const NAMES: [(&str, Color); 18] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("gray", Color::DarkGray),
    ("grey", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];
const MODIFIERS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underline", Modifier::UNDERLINED),
    ("reverse", Modifier::REVERSED),
    ("strike", Modifier::CROSSED_OUT),
];
const EXPECTED: &str = "a colour (#rrggbb, 0 to 255, a name such as red or bright-red, default), `on` and a colour, \
                        bold, dim, italic, underline, reverse, strike";

/// Reads a theme; see [`Theme::parse`].
pub(super) fn parse(text: &str, depth: Depth) -> Result<Theme, String> {
    let object: Object = serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))?;
    let mut theme = match object.get("base") {
        None => Theme::ansi(),
        Some(base) => {
            let named = base.as_str().and_then(|name| Theme::named(name, depth, None));
            named.ok_or_else(|| format!("base: expected one of {}, not {}", Theme::NAMES.join(", "), echo(base)))?
        }
    };
    for (key, value) in &object {
        if key == "base" {
            continue;
        }
        let mut roles = theme.roles();
        let names = roles.each_ref().map(|(name, _)| *name);
        let Some((_, style)) = roles.iter_mut().find(|(name, _)| name == key) else {
            let key = visible::line(&cut::ellipsis(key, ECHOED_CHARS)).into_owned();
            return Err(match closest(&key, names) {
                Some(near) => format!("{key}: there is no such role; did you mean {near}?"),
                None => format!("{key}: there is no such role; the roles are {}", names.join(", ")),
            });
        };
        let words = value.as_str().ok_or_else(|| format!("{key}: expected a style in quotes, not {}", echo(value)))?;
        **style = read(words, depth).map_err(|word| format!("{key}: {word}; expected {EXPECTED}"))?;
    }
    Ok(theme)
}

/// The style these words describe, or what is wrong with them.
fn read(words: &str, depth: Depth) -> Result<Style, String> {
    let mut style = Style::new();
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        if word == "on" {
            let named = words.next().ok_or("`on` has no colour behind it")?;
            let behind = colour(named, depth).ok_or_else(|| unknown(named))?;
            // A user's sixteen colours are for text; what is near them may be anything.
            let is_shown = depth > Depth::Ansi || !named.starts_with('#');
            style = if is_shown { style.bg(behind) } else { style };
        } else if let Some((_, modifier)) = MODIFIERS.iter().find(|(name, _)| *name == word) {
            style = style.add_modifier(*modifier);
        } else {
            let named = colour(word, depth).ok_or_else(|| unknown(word))?;
            if style.fg.is_some() {
                return Err(format!("{} is a second colour", echo(&word.into())));
            }
            style = style.fg(named);
        }
    }
    // The terminal's own colour is what a style without one has.
    style.fg = style.fg.filter(|colour| *colour != Color::Reset);
    style.bg = style.bg.filter(|colour| *colour != Color::Reset);
    Ok(style)
}

fn unknown(word: &str) -> String {
    format!("{} is no word that is known", echo(&word.into()))
}

fn colour(word: &str, depth: Depth) -> Option<Color> {
    if let Some(digits) = word.strip_prefix('#') {
        return hex(digits).map(|rgb| palette::shown(rgb, depth));
    }
    if let Ok(index) = word.parse::<u8>() {
        let is_shown = depth > Depth::Ansi || index < 16;
        return Some(if is_shown { Color::Indexed(index) } else { palette::shown(palette::of_index(index), depth) });
    }
    NAMES.iter().find(|(name, _)| *name == word).map(|(_, colour)| *colour)
}

/// Three or six hexadecimal digits.
fn hex(digits: &str) -> Option<Rgb> {
    let values: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    match *values? {
        [red, green, blue] => Some((red * 17, green * 17, blue * 17)),
        [a, b, c, d, e, f] => Some((a * 16 + b, c * 16 + d, e * 16 + f)),
        _ => None,
    }
}

fn echo(value: &Value) -> String {
    visible::line(&cut::ellipsis(&value.to_string(), ECHOED_CHARS)).into_owned()
}
