//! Colours as numbers: how bright they are, and which of fewer colours comes nearest.
//!
//! It knows nothing of what colours are for.

use ratatui::style::Color;

use super::Depth;

/// Red, green and blue, 8 bits each.
pub(super) type Rgb = (u8, u8, u8);

/// The luminance on which black and white text are equally readable: 1.05 / (l + 0.05) = (l + 0.05) / 0.05.
pub(super) const MIDDLE: f64 = 0.179;

/// The steps of xterm's colour cube, 16 to 231.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];
/// The sixteen colours as xterm has them by default; a user's own are not known.
const ANSI: [Rgb; 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];
/// Channels that differ by less make a grey.
const GREY_SPREAD: u8 = 40;
/// A colour whose strongest channel is above this is a bright one.
const BRIGHT: u8 = 190;

/// The relative luminance of WCAG 2, from 0 to 1.
pub(super) fn luminance((red, green, blue): Rgb) -> f64 {
    let linear = |channel: u8| {
        let channel = f64::from(channel) / 255.0;
        if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

/// The colour as a terminal of this depth can show it.
pub(super) fn shown(rgb: Rgb, depth: Depth) -> Color {
    match depth {
        Depth::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
        Depth::Indexed => Color::Indexed(indexed(rgb)),
        Depth::Ansi => basic(rgb),
    }
}

/// What xterm shows for one of the colours above the sixteen.
pub(super) fn of_index(index: u8) -> Rgb {
    let step = |at: u8| CUBE.get(usize::from(at)).copied().unwrap_or(255);
    match index {
        0..16 => ANSI.get(usize::from(index)).copied().unwrap_or_default(),
        16..232 => {
            let at = index - 16;
            (step(at / 36), step(at / 6 % 6), step(at % 6))
        }
        232.. => {
            let grey = 8 + (index - 232) * 10;
            (grey, grey, grey)
        }
    }
}

/// The nearest of xterm's colours that no user changes.
fn indexed(rgb: Rgb) -> u8 {
    (16..=255).min_by_key(|index| distance(of_index(*index), rgb)).unwrap_or(16)
}

/// Of the sixteen colours that of the same hue; how bright it is in earnest is the user's affair.
fn basic((red, green, blue): Rgb) -> Color {
    let (least, most) = (red.min(green).min(blue), red.max(green).max(blue));
    if most - least < GREY_SPREAD {
        return match most {
            0..64 => Color::Black,
            64..144 => Color::DarkGray,
            144..224 => Color::Gray,
            224.. => Color::White,
        };
    }
    let middle = least + (most - least) / 2;
    match (red > middle, green > middle, blue > middle, most > BRIGHT) {
        (true, true, _, false) => Color::Yellow,
        (true, true, _, true) => Color::LightYellow,
        (true, false, true, false) => Color::Magenta,
        (true, false, true, true) => Color::LightMagenta,
        (true, false, false, false) => Color::Red,
        (true, false, false, true) => Color::LightRed,
        (false, true, true, false) => Color::Cyan,
        (false, true, true, true) => Color::LightCyan,
        (false, true, false, false) => Color::Green,
        (false, true, false, true) => Color::LightGreen,
        (false, false, _, false) => Color::Blue,
        (false, false, _, true) => Color::LightBlue,
    }
}

/// How different two colours look: the "redmean" approximation, near enough for picking neighbours.
fn distance(one: Rgb, other: Rgb) -> i64 {
    let mean = (i64::from(one.0) + i64::from(other.0)) / 2;
    let [red, green, blue] = [(one.0, other.0), (one.1, other.1), (one.2, other.2)].map(|(one, other)| {
        let difference = i64::from(one) - i64::from(other);
        difference * difference
    });
    (((512 + mean) * red) >> 8) + 4 * green + (((767 - mean) * blue) >> 8)
}
