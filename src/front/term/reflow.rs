//! What terminals do to lines when their width changes. Which does what is in `caps`, what follows from it in
//! `repl::screen`.

/// What a terminal does to rows that no longer fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reflow {
    /// Cuts them off: xterm, rxvt, st, GNU screen, the Linux console. Also right for a terminal nobody knows: with it too
    /// little is erased where another answer would have been better, with the others too much where this one would.
    #[default]
    Never,
    /// Wraps all but the line with the cursor: xterm.js, and what is built on it.
    AboveCaret,
    /// Wraps all: VTE, kitty, foot, Alacritty, WezTerm, Ghostty, iTerm2, Konsole, tmux.
    Always,
}
