//! Colours and modifiers as the terminal knows them (SGR, ECMA-48 8.3.117), and the shortest way from one to the next.
//! Which colour a thing has is the theme's business.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};

/// Whether colours reach the terminal; modifiers always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// As the styles have them.
    Shown,
    /// None, because `NO_COLOR` is set (<https://no-color.org>).
    Dropped,
}

/// How the next character will look. The default is how a terminal starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pen {
    foreground: Color,
    background: Color,
    modifiers: Modifier,
}

/// Modifiers and the parameters that switch them on.
const MODIFIERS: [(Modifier, u8); 9] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

/// What can be seen even where nothing is written.
const SEEN_ON_BLANKS: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);

impl Pen {
    /// The pen for a style.
    pub fn new(style: Style, colours: Colours) -> Self {
        let modifiers = style.add_modifier.difference(style.sub_modifier);
        match colours {
            Colours::Shown => {
                Self { foreground: style.fg.unwrap_or_default(), background: style.bg.unwrap_or_default(), modifiers }
            }
            Colours::Dropped => Self { modifiers, ..Self::default() },
        }
    }

    /// Whether a space in this style looks like nothing at all.
    pub fn is_blank(self) -> bool {
        self.background == Color::Reset && !self.modifiers.intersects(SEEN_ON_BLANKS)
    }

    /// Switches to another pen.
    pub fn switch(&mut self, next: Self, out: &mut String) {
        if *self == next {
            return;
        }
        let before = *self;
        *self = next;
        if next == Self::default() {
            out.push_str("\x1b[m");
            return;
        }
        // Bold and dim have one common parameter that ends them: what goes, goes with a reset.
        let from = if next.modifiers.contains(before.modifiers) { before } else { Self::default() };
        out.push_str("\x1b[");
        let start = out.len();
        if from != before {
            out.push('0');
        }
        let mut parameter = |number: u8| {
            let separator = if out.len() > start { ";" } else { "" };
            push(out, format_args!("{separator}{number}"));
        };
        for (modifier, number) in MODIFIERS {
            if next.modifiers.difference(from.modifiers).contains(modifier) {
                parameter(number);
            }
        }
        if next.foreground != from.foreground {
            colour(next.foreground, 30, &mut parameter);
        }
        if next.background != from.background {
            colour(next.background, 40, &mut parameter);
        }
        out.push('m');
    }
}

/// The parameters of a colour; `base` is 30 for the foreground and 40 for the background.
fn colour(colour: Color, base: u8, parameter: &mut impl FnMut(u8)) {
    // The eight bright ones are 60 further on, an extension that every terminal with 16 colours has.
    let bright = base + 60;
    match colour {
        Color::Reset => parameter(base + 9),
        Color::Black => parameter(base),
        Color::Red => parameter(base + 1),
        Color::Green => parameter(base + 2),
        Color::Yellow => parameter(base + 3),
        Color::Blue => parameter(base + 4),
        Color::Magenta => parameter(base + 5),
        Color::Cyan => parameter(base + 6),
        Color::Gray => parameter(base + 7),
        Color::DarkGray => parameter(bright),
        Color::LightRed => parameter(bright + 1),
        Color::LightGreen => parameter(bright + 2),
        Color::LightYellow => parameter(bright + 3),
        Color::LightBlue => parameter(bright + 4),
        Color::LightMagenta => parameter(bright + 5),
        Color::LightCyan => parameter(bright + 6),
        Color::White => parameter(bright + 7),
        Color::Indexed(index) => [base + 8, 5, index].into_iter().for_each(parameter),
        Color::Rgb(red, green, blue) => [base + 8, 2, red, green, blue].into_iter().for_each(parameter),
    }
}

/// Appends formatted text.
pub fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a string cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_says_only_what_changes() {
        let plain = Style::new();
        let pen = |style| Pen::new(style, Colours::Shown);
        for (from, to, bytes) in [
            (plain, plain, ""),
            (plain, plain.bold(), "\x1b[1m"),
            (plain.bold(), plain.bold().fg(Color::Cyan), "\x1b[36m"),
            (plain.bold().fg(Color::Cyan), plain.bold(), "\x1b[39m"),
            (plain.bold().fg(Color::Red), plain.dim().fg(Color::Red), "\x1b[0;2;31m"),
            (plain.fg(Color::Red), plain, "\x1b[m"),
            (plain, plain.fg(Color::DarkGray).bg(Color::White), "\x1b[90;107m"),
            (plain, plain.fg(Color::Indexed(208)), "\x1b[38;5;208m"),
            (plain, plain.bg(Color::Rgb(1, 20, 255)), "\x1b[48;2;1;20;255m"),
            (plain, plain.bold().remove_modifier(Modifier::BOLD), ""),
        ] {
            let mut out = String::new();
            pen(from).switch(pen(to), &mut out);
            assert_eq!(out, bytes, "{from:?} → {to:?}");
        }
    }

    #[test]
    fn without_colours_modifiers_stay() {
        let mut out = String::new();
        let style = Style::new().fg(Color::Red).bg(Color::Blue).bold();
        Pen::default().switch(Pen::new(style, Colours::Dropped), &mut out);
        assert_eq!(out, "\x1b[1m");
    }
}
