//! The terminal, as the environment describes it, and what it lacks.

use super::Section;
use crate::base::env::Env;
use crate::base::text::visible;
use crate::front::out::Colour;
use crate::front::term::caps::{Caps, Colours, Grade, Unicode, Within};
use crate::front::term::reflow::Reflow;

/// The terminal, as the caller found it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Whether input comes from one.
    pub input: bool,
    /// Whether output goes to one.
    pub output: bool,
    /// Columns and rows of the one output goes to.
    pub size: Option<(u16, u16)>,
}

impl Terminal {
    /// Looks at the process's own streams.
    pub fn real() -> Self {
        let (input, output) = (rustix::stdio::stdin(), rustix::stdio::stdout());
        let size = rustix::termios::tcgetwinsize(output).ok().map(|size| (size.ws_col, size.ws_row));
        Self { input: rustix::termios::isatty(input), output: rustix::termios::isatty(output), size }
    }
}

/// The terminal as the environment describes it: nothing is asked of it here.
pub(super) fn section(env: &Env, terminal: Terminal) -> Section {
    let mut section = Section::new("terminal");
    let yes_no = |value: bool| if value { "yes" } else { "no" };
    section.line("input", format!("a terminal: {}", yes_no(terminal.input)));
    section.line("output", format!("a terminal: {}", yes_no(terminal.output)));
    let caps = Caps::of(env, Colour::Auto);
    let name = caps.brand.map(|brand| format!(" ({})", brand.name())).unwrap_or_default();
    section.line("TERM", format!("{}{name}", visible::line(env.var("TERM").unwrap_or("not set"))));
    let around = match (caps.within, caps.remote) {
        (Within::Nothing, false) => None,
        (Within::Nothing, true) => Some("over ssh"),
        (Within::Tmux, false) => Some("in tmux"),
        (Within::Tmux, true) => Some("in tmux, over ssh"),
        (Within::Screen, false) => Some("in GNU screen"),
        (Within::Screen, true) => Some("in GNU screen, over ssh"),
    };
    if let Some(around) = around {
        section.line("reached", around);
    }
    match terminal.size {
        Some((columns, rows)) => section.line("size", format!("{columns} columns, {rows} rows")),
        None => section.line("size", "unknown"),
    }
    let colour = match (caps.colours, env.var("NO_COLOR")) {
        (Colours::None, Some(_)) => "none (NO_COLOR is set)",
        (Colours::None, None) => "none",
        (Colours::Ansi, _) => "16 colours",
        (Colours::Indexed, _) => "256 colours",
        (Colours::True, _) => "true colour",
    };
    section.line("colour", colour);
    let characters = match caps.unicode {
        Unicode::Yes => "UTF-8",
        Unicode::Assumed => "UTF-8 is assumed: no locale is set",
        Unicode::No => "ASCII",
    };
    section.line("characters", characters);
    let lines = match caps.reflow {
        Reflow::Always | Reflow::AboveCaret => "wrapped anew when the width changes",
        Reflow::Never => "taken not to be wrapped anew when the width changes",
    };
    section.line("long lines", lines);
    for lack in lacks(&caps, env, terminal) {
        section.remark(lack);
    }
    section
}

/// What a terminal lacks that the chat would use, each with what helps.
fn lacks(caps: &Caps, env: &Env, terminal: Terminal) -> Vec<&'static str> {
    let mut lacks = Vec::new();
    let mut lack = |lacking: bool, words| {
        if lacking {
            lacks.push(words);
        }
    };
    lack(!terminal.input || !terminal.output, "the chat needs a terminal on both ends; `agent \"a task\"` does not");
    lack(
        env.var("TERM").is_none(),
        "TERM is not set, so no colours and no keys but plain ones; `export TERM=xterm-256color` where that is true",
    );
    lack(env.var("TERM") == Some("dumb"), "TERM=dumb promises nothing: no colours, no editing beyond plain keys");
    lack(
        caps.unicode == Unicode::No && caps.grade == Grade::Full,
        "the locale is not UTF-8: marks are drawn in ASCII; `export LC_ALL=C.UTF-8` if the terminal shows UTF-8",
    );
    lack(
        caps.unicode == Unicode::Assumed,
        "if letters beyond ASCII come out wrong, or to be sure: `export LANG=C.UTF-8`",
    );
    lack(
        caps.grade == Grade::Full && matches!(caps.colours, Colours::Ansi | Colours::Indexed),
        "themes of one's own need true colour; `export COLORTERM=truecolor` if the terminal has it",
    );
    let small = |(columns, rows): (u16, u16)| columns < LEAST_SIZE.0 || rows < LEAST_SIZE.1;
    lack(terminal.size.is_some_and(small), "the window is too small for the chat; it needs 20 columns and 5 rows");
    if caps.within == Within::Tmux {
        lacks.extend(TMUX);
    }
    if caps.within == Within::Screen {
        lacks.push("GNU screen tells Shift+Enter from Enter nowhere; Alt+Enter and Ctrl-J begin a new line everywhere");
    }
    lacks
}

/// The chat needs so many columns and rows.
const LEAST_SIZE: (u16, u16) = (20, 5);

/// What tmux keeps to itself unless it is told not to; it has no variable that would say whether it was.
const TMUX: [&str; 4] = [
    "tmux: `set -s extended-keys on` lets Shift+Enter through",
    "tmux: `set -g focus-events on` lets the chat know when nobody looks",
    "tmux: `set -g allow-passthrough on` lets notifications and the clipboard through",
    "tmux: `set -as terminal-features \",*:RGB\"` keeps true colour, where the terminal has it",
];
