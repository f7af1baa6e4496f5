//! What the environment says of the terminal, and the questions that find out the rest. Pure.
//!
//! Never waits for an answer: what holds before one comes is right, only plainer.

use super::announce::{Notifier, Wrap};
use super::modes::Modes;
use super::reflow::Reflow;
use crate::base::env::Env;
use crate::front::out::Colour;

/// What a terminal is able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// How much it understands.
    pub grade: Grade,
    /// How many colours are to be used.
    pub colours: Colours,
    /// Whether it shows Unicode; else ASCII has to do.
    pub unicode: Unicode,
    /// Whose it is, if that is known: of the one that draws, under tmux the one around it as far as it shows.
    pub brand: Option<Brand>,
    /// What stands between it and us.
    pub within: Within,
    /// Whether it is at the other end of an ssh connection.
    pub remote: bool,
    /// What it does to long lines when the width changes.
    pub reflow: Reflow,
}

/// How much of the control sequences (ECMA-48, xterm) is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing: `TERM` is `dumb` or not set.
    Dumb,
    /// Cursor and colours; what is unknown may show as text. A console, a serial line.
    Basic,
    /// All that is known, and what is not is ignored.
    Full,
}

/// How many colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colours {
    /// None are wanted, or there are none.
    None,
    /// The 16 of the user's palette.
    Ansi,
    /// 256.
    Indexed,
    /// 24 bits.
    True,
}

/// What the locale says of the character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unicode {
    /// It is UTF-8.
    Yes,
    /// There is no locale; on this terminal it will be UTF-8.
    Assumed,
    /// It is another one, or a terminal without Unicode.
    No,
}

impl Unicode {
    /// Whether characters beyond ASCII are shown.
    pub fn is_shown(self) -> bool {
        match self {
            Self::Yes | Self::Assumed => true,
            Self::No => false,
        }
    }
}

/// What stands between a terminal and us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Nothing that is known.
    Nothing,
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

/// Terminals that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brand {
    /// alacritty.
    Alacritty,
    /// Terminal.app of macOS.
    Apple,
    /// Foot.
    Foot,
    /// Ghostty.
    Ghostty,
    /// iTerm2.
    Iterm,
    /// The terminal of JetBrains.
    JetBrains,
    /// kitty.
    Kitty,
    /// Konsole.
    Konsole,
    /// mintty.
    Mintty,
    /// GNOME's library, in many terminals.
    Vte,
    /// xterm.js, in VS Code and its kin.
    VsCode,
    /// WezTerm.
    WezTerm,
    /// Windows Terminal.
    WindowsTerminal,
    /// xterm.
    Xterm,
}

/// Konsole wraps anew since 21.04.
const KONSOLE_REFLOWS: u32 = 210_400;

impl Caps {
    /// What `env` says; `colour` is what the command line says.
    pub fn of(env: &Env, colour: Colour) -> Self {
        let term = env.var("TERM").unwrap_or("dumb");
        let within = within(env, term);
        let brand = brand(env, term);
        let grade = match term {
            "dumb" | "unknown" => Grade::Dumb,
            "linux" | "cons25" | "ansi" | "sun" | "wsvt25" => Grade::Basic,
            _ if term.starts_with("vt") || term.starts_with("eterm") => Grade::Basic,
            _ => Grade::Full,
        };
        let reflow = match within {
            Within::Tmux => Reflow::Always,
            Within::Nothing if !is_old_konsole(env) => brand.map_or(Reflow::Never, Brand::reflow),
            Within::Screen | Within::Nothing => Reflow::Never,
        };
        Self {
            grade,
            colours: colours(env, term, within, brand, colour),
            unicode: unicode(env, grade),
            brand,
            within,
            remote: ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].iter().any(|name| env.var(name).is_some()),
            reflow,
        }
    }

    /// Corrects what was guessed by how the terminal names itself (XTVERSION). What answers is what wraps the lines, under
    /// tmux that is tmux.
    pub fn correct(&mut self, version: &str) {
        let version = version.trim().to_ascii_lowercase();
        if version.starts_with("tmux") {
            (self.within, self.reflow) = (Within::Tmux, Reflow::Always);
        } else if let Some((_, brand)) = NAMES.iter().find(|(name, _)| version.starts_with(name)) {
            (self.brand, self.reflow) = (Some(*brand), brand.reflow());
        }
    }

    /// What can be switched on without harm.
    pub fn modes(&self) -> Modes {
        let full = self.grade == Grade::Full;
        Modes {
            paste: full,
            focus: full,
            keys: full && self.keys_are_harmless(),
            title: full,
            sequences: self.grade != Grade::Dumb,
        }
    }

    /// Whether it certainly marks pastes (`?2004`): tmux does, and all that are known by name.
    pub fn marks_pastes(&self) -> bool {
        match self.within {
            Within::Tmux => self.grade == Grade::Full,
            Within::Screen => false,
            Within::Nothing => self.grade == Grade::Full && self.brand.is_some(),
        }
    }

    /// All questions in one piece, device attributes last, so that its answer says that no other will come; empty where
    /// asking could do harm.
    pub fn questions(&self) -> &'static str {
        let unnamed = self.brand.is_none() || self.within == Within::Screen;
        match (self.grade, self.keys_are_harmless(), unnamed) {
            (Grade::Dumb | Grade::Basic, _, _) => "",
            // Background and attributes.
            (Grade::Full, false, _) => "\x1b]11;?\x1b\\\x1b[c",
            // The keyboard protocol besides; and the version of what has no name yet.
            (Grade::Full, true, false) => "\x1b[?u\x1b]11;?\x1b\\\x1b[c",
            (Grade::Full, true, true) => "\x1b[?u\x1b]11;?\x1b\\\x1b[>q\x1b[c",
        }
    }

    /// How the end of something is announced, by the setting `ui.notify`; a word it does not know is `auto`.
    pub fn notifier(&self, setting: &str) -> Notifier {
        match setting {
            "off" => Notifier::Off,
            _ if self.grade == Grade::Dumb => Notifier::Bell,
            "bell" => Notifier::Bell,
            "osc9" => Notifier::Osc9,
            "osc777" => Notifier::Osc777,
            _ => match self.brand {
                Some(Brand::Kitty) => Notifier::Osc99,
                Some(Brand::Iterm) => Notifier::Osc9,
                Some(Brand::WezTerm | Brand::Foot | Brand::Ghostty) => Notifier::Osc777,
                Some(
                    Brand::Alacritty
                    | Brand::Apple
                    | Brand::JetBrains
                    | Brand::Konsole
                    | Brand::Mintty
                    | Brand::Vte
                    | Brand::VsCode
                    | Brand::WindowsTerminal
                    | Brand::Xterm,
                )
                | None => Notifier::Bell,
            },
        }
    }

    /// How a sequence gets to the terminal itself.
    pub fn wrap(&self) -> Wrap {
        match self.within {
            Within::Nothing => Wrap::None,
            Within::Tmux => Wrap::Tmux,
            Within::Screen => Wrap::Screen,
        }
    }

    /// Terminals that know neither keyboard protocol and have shown their sequences as text, or moved the cursor.
    fn keys_are_harmless(&self) -> bool {
        !matches!(self.brand, Some(Brand::Apple | Brand::JetBrains))
    }
}

impl Brand {
    /// As its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alacritty => "Alacritty",
            Self::Apple => "Terminal.app",
            Self::Foot => "foot",
            Self::Ghostty => "Ghostty",
            Self::Iterm => "iTerm2",
            Self::JetBrains => "JetBrains",
            Self::Kitty => "kitty",
            Self::Konsole => "Konsole",
            Self::Mintty => "mintty",
            Self::Vte => "VTE",
            Self::VsCode => "VS Code",
            Self::WezTerm => "WezTerm",
            Self::WindowsTerminal => "Windows Terminal",
            Self::Xterm => "xterm",
        }
    }

    /// Where it is not known it is [`Reflow::Never`], which erases too little and never too much.
    fn reflow(self) -> Reflow {
        match self {
            Self::Alacritty
            | Self::Foot
            | Self::Ghostty
            | Self::Iterm
            | Self::Kitty
            | Self::Konsole
            | Self::Vte
            | Self::WezTerm
            | Self::WindowsTerminal => Reflow::Always,
            // What the first one does to the line with the cursor is not known.
            Self::Apple | Self::VsCode => Reflow::AboveCaret,
            Self::JetBrains | Self::Mintty | Self::Xterm => Reflow::Never,
        }
    }

    /// Whether it shows 24 bits, whatever `COLORTERM` says: that does not come through ssh.
    fn has_true_colour(self) -> bool {
        match self {
            Self::Alacritty
            | Self::Foot
            | Self::Ghostty
            | Self::Iterm
            | Self::JetBrains
            | Self::Kitty
            | Self::Konsole
            | Self::Mintty
            | Self::Vte
            | Self::VsCode
            | Self::WezTerm
            | Self::WindowsTerminal => true,
            Self::Apple | Self::Xterm => false,
        }
    }
}

/// How terminals begin when they name themselves, in `TERM_PROGRAM` or XTVERSION, lower case.
const NAMES: [(&str, Brand); 16] = [
    ("alacritty", Brand::Alacritty),
    ("apple_terminal", Brand::Apple),
    ("foot", Brand::Foot),
    ("ghostty", Brand::Ghostty),
    ("iterm", Brand::Iterm),
    ("jetbrains", Brand::JetBrains),
    ("kitty", Brand::Kitty),
    ("konsole", Brand::Konsole),
    ("mintty", Brand::Mintty),
    ("vte", Brand::Vte),
    ("vscode", Brand::VsCode),
    ("xterm.js", Brand::VsCode),
    ("wezterm", Brand::WezTerm),
    ("windows terminal", Brand::WindowsTerminal),
    ("xterm(", Brand::Xterm),
    ("cursor", Brand::VsCode),
];

/// Variables that only one terminal sets; the more deeply one can stand in another, the earlier.
const SIGNS: [(&str, Brand); 10] = [
    ("KITTY_WINDOW_ID", Brand::Kitty),
    ("WEZTERM_PANE", Brand::WezTerm),
    ("GHOSTTY_RESOURCES_DIR", Brand::Ghostty),
    ("ALACRITTY_WINDOW_ID", Brand::Alacritty),
    ("ALACRITTY_SOCKET", Brand::Alacritty),
    ("KONSOLE_VERSION", Brand::Konsole),
    ("WT_SESSION", Brand::WindowsTerminal),
    ("ITERM_SESSION_ID", Brand::Iterm),
    ("VTE_VERSION", Brand::Vte),
    ("XTERM_VERSION", Brand::Xterm),
];

fn within(env: &Env, term: &str) -> Within {
    if env.var("TMUX").is_some() || term.starts_with("tmux") {
        Within::Tmux
    } else if env.var("STY").is_some() || term.starts_with("screen") {
        // Or a tmux at the other end of an ssh, which says so when asked.
        Within::Screen
    } else {
        Within::Nothing
    }
}

/// `TERM` is what we talk to and comes through ssh; then the name it gives itself; then variables, which programs that
/// one terminal started keep in another.
fn brand(env: &Env, term: &str) -> Option<Brand> {
    let term = term.strip_prefix("xterm-").unwrap_or(term);
    let by_term = [
        ("kitty", Brand::Kitty),
        ("ghostty", Brand::Ghostty),
        ("alacritty", Brand::Alacritty),
        ("foot", Brand::Foot),
        ("wezterm", Brand::WezTerm),
        ("konsole", Brand::Konsole),
        ("vte", Brand::Vte),
        ("mintty", Brand::Mintty),
    ];
    let begins = |text: &str, names: &[(&str, Brand)]| {
        names.iter().find(|(name, _)| text.starts_with(name)).map(|(_, brand)| *brand)
    };
    let named = |variable| begins(&env.var(variable)?.to_ascii_lowercase(), &NAMES);
    begins(term, &by_term)
        .or_else(|| named("TERM_PROGRAM"))
        .or_else(|| named("TERMINAL_EMULATOR"))
        .or_else(|| named("LC_TERMINAL"))
        .or_else(|| SIGNS.iter().find(|(name, _)| env.var(name).is_some()).map(|(_, brand)| *brand))
}

fn is_old_konsole(env: &Env) -> bool {
    let version = env.var("KONSOLE_VERSION").and_then(|version| version.parse().ok());
    version.is_some_and(|version: u32| version < KONSOLE_REFLOWS)
}

fn colours(env: &Env, term: &str, within: Within, brand: Option<Brand>, colour: Colour) -> Colours {
    if !colour.holds(env, true) {
        return Colours::None;
    }
    let said = matches!(env.var("COLORTERM"), Some("truecolor" | "24bit"));
    let by_term = term.contains("direct") || term.contains("truecolor");
    match within {
        // What the terminal around it says is not what screen understands.
        Within::Screen if !by_term => indexed(term),
        Within::Tmux if !said && !by_term => indexed(term),
        Within::Nothing if brand.is_some_and(Brand::has_true_colour) => Colours::True,
        Within::Nothing | Within::Tmux | Within::Screen => {
            if said || by_term {
                Colours::True
            } else {
                indexed(term)
            }
        }
    }
}

fn indexed(term: &str) -> Colours {
    if term.contains("256") { Colours::Indexed } else { Colours::Ansi }
}

/// POSIX: the first of these that is set decides. None set means ASCII there; in containers and through ssh it means that
/// nobody has thought of it.
fn unicode(env: &Env, grade: Grade) -> Unicode {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| env.var(name));
    match (locale.map(str::to_ascii_lowercase), grade) {
        (Some(locale), _) if locale.contains("utf-8") || locale.contains("utf8") => Unicode::Yes,
        (Some(_), _) | (None, Grade::Dumb | Grade::Basic) => Unicode::No,
        (None, Grade::Full) => Unicode::Assumed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(vars: &[(&str, &str)]) -> Caps {
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Caps::of(&Env { vars, ..Env::default() }, Colour::Auto)
    }

    #[test]
    fn colours_are_what_the_terminal_shows_and_the_user_wants() {
        for (vars, colours) in [
            (&[][..], Colours::None),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Colours::None),
            (&[("TERM", "xterm")], Colours::Ansi),
            (&[("TERM", "linux")], Colours::Ansi),
            (&[("TERM", "xterm-256color")], Colours::Indexed),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Colours::True),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], Colours::None),
            (&[("TERM", "xterm-kitty")], Colours::True),
            (&[("TERM", "xterm-direct")], Colours::True),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], Colours::Indexed),
            (&[("TERM", "screen-256color"), ("STY", "1"), ("COLORTERM", "truecolor")], Colours::Indexed),
            (&[("TERM", "tmux-256color"), ("TMUX", "/x"), ("KITTY_WINDOW_ID", "1")], Colours::Indexed),
            (&[("TERM", "tmux-256color"), ("TMUX", "/x"), ("COLORTERM", "truecolor")], Colours::True),
        ] {
            assert_eq!(caps(vars).colours, colours, "{vars:?}");
        }
        let env = Env { vars: [("TERM".into(), "xterm".into())].into(), ..Env::default() };
        assert_eq!(Caps::of(&env, Colour::Never).colours, Colours::None);
        assert_eq!(Caps::of(&Env::default(), Colour::Always).colours, Colours::Ansi);
    }

    #[test]
    fn the_locale_says_whether_unicode_is_shown() {
        for (vars, unicode) in [
            (&[("TERM", "xterm"), ("LANG", "de_DE.UTF-8")][..], Unicode::Yes),
            (&[("TERM", "xterm"), ("LANG", "en_US.UTF-8"), ("LC_ALL", "C")], Unicode::No),
            (&[("TERM", "xterm"), ("LC_CTYPE", "C.utf8"), ("LANG", "C")], Unicode::Yes),
            (&[("TERM", "xterm"), ("LANG", "de_DE@euro")], Unicode::No),
            (&[("TERM", "xterm")], Unicode::Assumed),
            (&[("TERM", "linux")], Unicode::No),
        ] {
            assert_eq!(caps(vars).unicode, unicode, "{vars:?}");
        }
    }

    #[test]
    fn reflow_is_assumed_only_where_it_is_known() {
        for (vars, reflow) in [
            (&[("TERM", "xterm-256color")][..], Reflow::Never),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], Reflow::Always),
            (&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "210399")], Reflow::Never),
            (&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "230400")], Reflow::Always),
            (&[("TERM", "xterm-256color"), ("WT_SESSION", "x")], Reflow::Always),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], Reflow::AboveCaret),
            (&[("TERM", "foot"), ("SSH_TTY", "/dev/pts/1")], Reflow::Always),
            (&[("TERM", "xterm-ghostty")], Reflow::Always),
            (&[("TERM", "screen"), ("STY", "1"), ("KITTY_WINDOW_ID", "1")], Reflow::Never),
            (&[("TERM", "screen"), ("TMUX", "/x"), ("XTERM_VERSION", "1")], Reflow::Always),
        ] {
            assert_eq!(caps(vars).reflow, reflow, "{vars:?}");
        }
    }

    #[test]
    fn a_terminal_that_names_itself_is_believed() {
        let mut unknown = caps(&[("TERM", "xterm-256color"), ("SSH_CONNECTION", "x")]);
        assert!(unknown.remote && unknown.reflow == Reflow::Never && unknown.questions().contains("\x1b[>q"));
        for (version, reflow) in [
            ("XTerm(390)", Reflow::Never),
            ("VTE(7600)", Reflow::Always),
            ("tmux 3.4", Reflow::Always),
            ("mystery 1", Reflow::Always),
        ] {
            unknown.correct(version);
            assert_eq!(unknown.reflow, reflow, "{version}");
        }
        assert_eq!((unknown.brand, unknown.within), (Some(Brand::Vte), Within::Tmux));
    }

    #[test]
    fn questions_end_with_the_one_that_all_answer_and_are_not_put_to_those_they_harm() {
        for vars in [
            &[("TERM", "xterm-256color")][..],
            &[("TERM", "xterm-kitty")],
            &[("TERM", "tmux-256color"), ("TMUX", "x")],
            &[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")],
            &[("TERM", "screen"), ("STY", "1")],
        ] {
            assert!(caps(vars).questions().ends_with("\x1b[c"), "{vars:?}");
        }
        for term in ["dumb", "linux", "vt220", "eterm-color"] {
            assert_eq!(caps(&[("TERM", term)]).questions(), "");
        }
        let apple = caps(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")]);
        assert!(!apple.modes().keys && apple.modes().paste && !apple.questions().contains('u'));
        assert_eq!(caps(&[]).modes(), Modes::default());
        assert_eq!(caps(&[("TERM", "linux")]).modes(), Modes { sequences: true, ..Modes::default() });
    }

    #[test]
    fn announcements_go_by_terminal_and_setting() {
        let kitty = caps(&[("TERM", "xterm-kitty")]);
        for (setting, notifier) in [
            ("auto", Notifier::Osc99),
            ("off", Notifier::Off),
            ("bell", Notifier::Bell),
            ("osc9", Notifier::Osc9),
            ("osc777", Notifier::Osc777),
            ("?", Notifier::Osc99),
        ] {
            assert_eq!(kitty.notifier(setting), notifier);
        }
        assert_eq!(caps(&[("TERM", "xterm")]).notifier("auto"), Notifier::Bell);
        assert_eq!(caps(&[("TERM", "foot")]).notifier("auto"), Notifier::Osc777);
        assert_eq!(caps(&[("TERM", "xterm"), ("LC_TERMINAL", "iTerm2")]).notifier("auto"), Notifier::Osc9);
        assert_eq!(caps(&[]).notifier("osc9"), Notifier::Bell);
    }
}
