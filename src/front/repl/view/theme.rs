//! Colours and marks by what they are for.

use ratatui::style::{Color, Modifier, Style};

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
        ellipsis: "...",
        minus: "-",
        dot: "-",
        steps: ["[x]", "[>]", "[ ]"],
        breath: ["*", "+", "*", "+"],
    };
}
