//! What terminals do to the rows on the screen when their width changes, and how to tell which does what.
//!
//! All terminals agree that nothing happens to a row that still fits, and that the cursor stays on its character. With
//! fewer rows some drop what is below the cursor and some do not, with more rows some bring lines back from the
//! scrollback and some do not; but what was above the cursor is above it afterwards. So the live region is found by
//! going up from the cursor, and the one thing to know is how many rows there are now between its top and the cursor.

/// What a terminal does to rows that no longer fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflow {
    /// Cuts them off: xterm, rxvt, st, GNU screen, the Linux console. Also right for a terminal nobody knows: with it too
    /// little is erased where another answer would have been better, with the others too much where this one would.
    Never,
    /// Wraps all but the line with the cursor: xterm.js, and what is built on it.
    AboveCaret,
    /// Wraps all: VTE, kitty, foot, Alacritty, WezTerm, Ghostty, iTerm2, Konsole, tmux.
    Always,
}

/// First Konsole that wraps anew, 21.12.0, as it says it in `KONSOLE_VERSION`.
const KONSOLE_REFLOWS: u32 = 211_200;

/// First VTE that wraps anew, 0.36.0, as it says it in `VTE_VERSION`.
const VTE_REFLOWS: u32 = 3600;

impl Reflow {
    /// Tells by the environment. A variable may come from a terminal further out, so `TERM`, which every terminal sets, is
    /// asked first.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name| variable(name).and_then(|value| value.parse::<u32>().ok());
        let term = variable("TERM").unwrap_or_default();
        if term.starts_with("tmux") || term.starts_with("screen") && variable("TMUX").is_some() {
            return Self::Always;
        }
        if let Some(reflow) = Self::named(term.strip_prefix("xterm-").unwrap_or(&term)) {
            return reflow;
        }
        if !term.starts_with("xterm") || variable("XTERM_VERSION").is_some() {
            return Self::Never;
        }
        if let Some(reflow) = variable("TERM_PROGRAM").and_then(|program| Self::named(&program)) {
            return reflow;
        }
        let vte = number("VTE_VERSION").is_some_and(|version| version >= VTE_REFLOWS);
        let konsole = number("KONSOLE_VERSION").is_some_and(|version| version >= KONSOLE_REFLOWS);
        if vte || konsole { Self::Always } else { Self::Never }
    }

    /// Tells by a terminal's name: a value of `TERM` or `TERM_PROGRAM`, or what it answers to `CSI > q`, such as
    /// `kitty(0.35.2)`; `None` for one that is not known. Case and what follows the name are ignored.
    pub fn named(name: &str) -> Option<Self> {
        const NAMES: [(&str, Reflow); 20] = [
            ("tmux", Reflow::Always),
            ("kitty", Reflow::Always),
            ("foot", Reflow::Always),
            ("alacritty", Reflow::Always),
            ("wezterm", Reflow::Always),
            ("ghostty", Reflow::Always),
            ("iterm", Reflow::Always),
            ("vte", Reflow::Always),
            ("konsole", Reflow::Always),
            ("vscode", Reflow::AboveCaret),
            ("hyper", Reflow::AboveCaret),
            ("tabby", Reflow::AboveCaret),
            // `xterm.js` before `xterm(`.
            ("xterm.js", Reflow::AboveCaret),
            ("xterm(", Reflow::Never),
            // What this one does to the cursor's own line is not known.
            ("apple_terminal", Reflow::AboveCaret),
            ("rxvt", Reflow::Never),
            ("st-", Reflow::Never),
            ("linux", Reflow::Never),
            ("screen", Reflow::Never),
            ("mlterm", Reflow::Never),
        ];
        let name = name.to_ascii_lowercase();
        NAMES.iter().find(|(known, _)| name.starts_with(known)).map(|(_, reflow)| *reflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_told_by_their_variables() {
        for (variables, reflow) in [
            (&[][..], Reflow::Never),
            (&[("TERM", "xterm-256color")], Reflow::Never),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], Reflow::Always),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "3409")], Reflow::Never),
            (&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "230800")], Reflow::Always),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], Reflow::AboveCaret),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], Reflow::Always),
            (&[("TERM", "xterm-kitty")], Reflow::Always),
            (&[("TERM", "xterm-ghostty")], Reflow::Always),
            (&[("TERM", "foot")], Reflow::Always),
            (&[("TERM", "alacritty"), ("TERM_PROGRAM", "vscode")], Reflow::Always),
            (&[("TERM", "screen-256color"), ("TMUX", "/tmp/t")], Reflow::Always),
            (&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "vscode")], Reflow::Always),
            (&[("TERM", "screen-256color"), ("VTE_VERSION", "7600")], Reflow::Never),
            // An xterm that was started from within another terminal.
            (&[("TERM", "xterm-256color"), ("XTERM_VERSION", "390"), ("VTE_VERSION", "7600")], Reflow::Never),
            (&[("TERM", "linux"), ("TMUX", "/tmp/t")], Reflow::Never),
        ] {
            let of =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(Reflow::of(of), reflow, "{variables:?}");
        }
    }

    #[test]
    fn terminals_are_told_by_their_answers() {
        for (answer, reflow) in [
            ("tmux 3.4", Some(Reflow::Always)),
            ("XTerm(390)", Some(Reflow::Never)),
            ("xterm.js(5.6.0)", Some(Reflow::AboveCaret)),
            ("WezTerm 20240203-110809-5046fc22", Some(Reflow::Always)),
            ("VTE(7600)", Some(Reflow::Always)),
            ("something new", None),
        ] {
            assert_eq!(Reflow::named(answer), reflow, "{answer}");
        }
    }
}
