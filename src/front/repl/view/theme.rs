//! Colours and marks by what they are for.
//!
//! What the terminal is and can do is asked elsewhere; a theme is chosen of the answers.

mod file;
mod palette;

#[cfg(test)]
mod tests;

use ratatui::style::{Color, Modifier, Style};

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The 16 of the user's palette.
    Ansi,
    /// The 256 of xterm.
    Indexed,
    /// Any.
    True,
}

/// What is behind the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Text is light.
    Dark,
    /// Text is dark.
    Light,
}

impl Background {
    /// Of a colour, 8 bits each.
    pub fn of(red: u8, green: u8, blue: u8) -> Self {
        if palette::luminance((red, green, blue)) < palette::MIDDLE { Self::Dark } else { Self::Light }
    }
}

const DARK: &str = include_str!("../../../../assets/themes/dark.json");
const LIGHT: &str = include_str!("../../../../assets/themes/light.json");

/// The colours, by role. Without colours all styles keep their modifiers: nothing relies on colour alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// What the person said.
    pub person: Style,
    /// What the agent says.
    pub agent: Style,
    /// The verb of a tool line.
    pub verb: Style,
    /// A line that was added.
    pub added: Style,
    /// What is new within such a line.
    pub added_word: Style,
    /// A line that was removed.
    pub removed: Style,
    /// What is gone within such a line.
    pub removed_word: Style,
    /// What failed.
    pub failure: Style,
    /// The mark of a notice.
    pub notice: Style,
    /// Facts, reasoning, line numbers.
    pub dim: Style,
    /// Links.
    pub link: Style,
    /// Headings.
    pub heading: Style,
    /// Code within prose.
    pub code: Style,
    /// The selected row of a list.
    pub selected: Style,
    /// What a fuzzy search has matched.
    pub matched: Style,
    /// Highlighting: keywords.
    pub keyword: Style,
    /// Highlighting: strings.
    pub string: Style,
    /// Highlighting: numbers and constants.
    pub number: Style,
    /// Highlighting: comments.
    pub comment: Style,
    /// Highlighting: functions.
    pub function: Style,
    /// Highlighting: types.
    pub kind: Style,
}

impl Theme {
    /// The theme of that name: `ansi`, `dark`, `light`, or `auto`, which is one of those.
    pub fn named(name: &str, depth: Depth, background: Option<Background>) -> Option<Self> {
        match name {
            "ansi" => Some(Self::ansi()),
            "dark" => Some(Self::dark(depth)),
            "light" => Some(Self::light(depth)),
            "auto" => Some(Self::auto(depth, background)),
            _ => None,
        }
    }

    /// The names [`Theme::named`] knows.
    pub const NAMES: [&'static str; 4] = ["auto", "ansi", "dark", "light"];

    /// The user's own colours, unless the terminal has more and says what is behind the text.
    pub fn auto(depth: Depth, background: Option<Background>) -> Self {
        match background {
            Some(Background::Dark) => Self::dark(depth),
            Some(Background::Light) => Self::light(depth),
            None => Self::ansi(),
        }
    }

    /// Quiet colours for a dark background; the user's own where there are only 16.
    pub fn dark(depth: Depth) -> Self {
        Self::embedded(DARK, depth)
    }

    /// Quiet colours for a light background; the user's own where there are only 16.
    pub fn light(depth: Depth) -> Self {
        Self::embedded(LIGHT, depth)
    }

    fn embedded(text: &str, depth: Depth) -> Self {
        match depth {
            Depth::Ansi => Self::ansi(),
            // A test reads both.
            Depth::Indexed | Depth::True => Self::parse(text, depth).unwrap_or_else(|_| Self::ansi()),
        }
    }

    /// A theme as people write it: a JSON object of roles and styles, and `base`, the theme that has the rest.
    ///
    /// A style is made of words: a colour (`#50fa7b`, `0` to `255`, `red`, `bright-red`, `default`), `on` and a colour
    /// for what is behind it, and `bold`, `dim`, `italic`, `underline`, `reverse`, `strike`.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the key and what was expected there, in words for people.
    pub fn parse(text: &str, depth: Depth) -> Result<Self, String> {
        file::parse(text, depth)
    }

    /// The same without any colour; what colours alone would tell apart is told by weight.
    #[must_use]
    pub fn without_colour(mut self) -> Self {
        for (_, style) in self.roles() {
            style.fg = None;
            style.bg = None;
        }
        for style in [&mut self.dim, &mut self.comment] {
            *style = style.add_modifier(Modifier::DIM);
        }
        for style in [&mut self.added_word, &mut self.removed_word] {
            *style = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        self
    }

    /// Everything as quiet as facts are.
    pub fn faded(&self) -> Self {
        let mut faded = self.clone();
        let dim = self.dim;
        for (_, style) in faded.roles() {
            *style = dim.add_modifier(style.add_modifier - Modifier::DIM);
        }
        faded
    }

    /// Every role by the name it has in a file.
    fn roles(&mut self) -> [(&'static str, &mut Style); 21] {
        let Self {
            person,
            agent,
            verb,
            added,
            added_word,
            removed,
            removed_word,
            failure,
            notice,
            dim,
            link,
            heading,
            code,
            selected,
            matched,
            keyword,
            string,
            number,
            comment,
            function,
            kind,
        } = self;
        [
            ("person", person),
            ("agent", agent),
            ("verb", verb),
            ("added", added),
            ("added_word", added_word),
            ("removed", removed),
            ("removed_word", removed_word),
            ("failure", failure),
            ("notice", notice),
            ("dim", dim),
            ("link", link),
            ("heading", heading),
            ("code", code),
            ("selected", selected),
            ("matched", matched),
            ("keyword", keyword),
            ("string", string),
            ("number", number),
            ("comment", comment),
            ("function", function),
            ("kind", kind),
        ]
    }

    /// The 16 colours every terminal has, in the user's own palette: right on dark and light backgrounds.
    pub fn ansi() -> Self {
        let plain = Style::new();
        let of = |colour| Style::new().fg(colour);
        Self {
            person: plain.add_modifier(Modifier::BOLD),
            agent: plain,
            verb: of(Color::Cyan),
            added: of(Color::Green),
            added_word: of(Color::Green).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            removed: of(Color::Red),
            removed_word: of(Color::Red).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            failure: of(Color::Red),
            notice: of(Color::Yellow),
            dim: plain.add_modifier(Modifier::DIM),
            link: plain.add_modifier(Modifier::UNDERLINED),
            heading: plain.add_modifier(Modifier::BOLD),
            code: of(Color::Cyan),
            selected: plain.add_modifier(Modifier::BOLD),
            matched: plain.add_modifier(Modifier::UNDERLINED),
            keyword: of(Color::Magenta),
            string: of(Color::Green),
            number: of(Color::Yellow),
            comment: plain.add_modifier(Modifier::DIM),
            function: of(Color::Blue),
            kind: of(Color::Cyan),
        }
    }
}

/// The marks of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Before what the person says.
    pub person: &'static str,
    /// Before the selected row of a list; one column.
    pub selected: &'static str,
    /// Before what the agent did.
    pub tool: &'static str,
    /// Before a notice.
    pub notice: &'static str,
    /// Before a failure.
    pub failure: &'static str,
    /// Before an item of a list.
    pub bullet: &'static str,
    /// Before a quoted line.
    pub quote: &'static str,
    /// One column of a thin horizontal line.
    pub rule: &'static str,
    /// Before a branch that is followed by something, before the last one, beside the first, and below the last one.
    pub branch: [&'static str; 4],
    /// Where text was left out.
    pub ellipsis: &'static str,
    /// Removed lines.
    pub minus: &'static str,
    /// Between facts.
    pub dot: &'static str,
    /// A step that is done, under way, to come.
    pub steps: [&'static str; 3],
    /// The breathing mark of what runs, one after the other.
    pub breath: [&'static str; 4],
}

impl Glyphs {
    /// For terminals that show Unicode.
    pub const UNICODE: Self = Self {
        person: "›",
        selected: "▸",
        tool: "∙",
        notice: "!",
        failure: "✗",
        bullet: "·",
        quote: "│",
        rule: "─",
        branch: ["├─ ", "└─ ", "│  ", "   "],
        ellipsis: "…",
        minus: "−",
        dot: "·",
        steps: ["☑", "▸", "☐"],
        breath: ["∙", "•", "●", "•"],
    };
    /// For all others.
    pub const ASCII: Self = Self {
        person: ">",
        selected: ">",
        tool: "*",
        notice: "!",
        failure: "x",
        bullet: "-",
        quote: "|",
        rule: "-",
        branch: ["|- ", "`- ", "|  ", "   "],
        ellipsis: "...",
        minus: "-",
        dot: "-",
        steps: ["[x]", "[>]", "[ ]"],
        breath: ["*", "+", "*", "+"],
    };
}
