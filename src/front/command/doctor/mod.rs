//! `agent doctor`: what is there, what is missing, and the fix.
//!
//! Starts with anything broken; shows no secret; contacts nobody.

use std::io::{self, Write};
use std::path::Path;

use super::{DONE, NO, config::complain, written};
use crate::base::env::Env;
use crate::base::path::is_absent;
use crate::base::text::visible;
use crate::front::out::Colour;
use crate::front::term::caps::{Caps, Colours, Grade, Unicode, Within};
use crate::front::term::reflow::Reflow;
use crate::product::config::mask::without_password;
use crate::product::config::naming::own_providers;
use crate::product::config::presets::PRESETS;
use crate::product::config::trust::Trust;
use crate::product::config::{Flags, Loaded, inspect};
use crate::product::error::Error;
use crate::product::files;
use crate::product::provider::key::{self, Found, RunKeys};
use crate::product::tool::save;

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

/// The variables that send requests through a proxy.
const PROXIES: [&str; 8] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"];

/// Looks at everything. Returns 1 when something keeps a task from being run.
///
/// # Errors
///
/// When it cannot be written.
pub fn run(
    env: &Env,
    flags: &Flags,
    terminal: Terminal,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let loaded = inspect(env, flags);
    written(report(&loaded, env, terminal, out).and_then(|()| {
        out.flush()?;
        complain(&loaded, err)?;
        Ok(if loaded.problems.is_empty() { DONE } else { NO })
    }))
}

fn report(loaded: &Loaded, env: &Env, terminal: Terminal, out: &mut dyn Write) -> io::Result<()> {
    paths(loaded, out)?;
    screen(env, terminal, out)?;
    writeln!(out, "\nconfiguration")?;
    let count = loaded.problems.len();
    let state = match count {
        0 => "in order".to_owned(),
        1 => "1 problem, named below".to_owned(),
        count => format!("{count} problems, named below"),
    };
    line(out, "settings", &state)?;
    line(out, "project", &project(loaded))?;
    keys(loaded, env, out)?;
    writeln!(out, "\nsandbox")?;
    line(out, "mode", "off (not built): shell commands run with your own rights")?;
    proxies(loaded, env, out)
}

fn paths(loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "paths")?;
    let state = |path: &Path| match path.metadata() {
        Ok(_) => String::new(),
        Err(error) if is_absent(&error) => " (not there yet)".to_owned(),
        Err(error) => format!(" (cannot be looked at: {})", save::words(&error)),
    };
    let all = [
        ("settings", loaded.user_file.as_path()),
        ("keys", loaded.auth.path()),
        ("data", loaded.paths.data_dir.as_path()),
    ];
    for (name, path) in all {
        line(out, name, &format!("{}{}", path.display(), state(path)))?;
    }
    if loaded.paths.data_dir.exists() && files::is_open_to_others(&loaded.paths.data_dir) {
        line(out, "", "the data folder can be read by other users; `chmod 700` closes it")?;
    }
    Ok(())
}

/// The terminal as the environment describes it: nothing is asked of it here.
fn screen(env: &Env, terminal: Terminal, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nterminal")?;
    let yes_no = |value: bool| if value { "yes" } else { "no" };
    line(out, "input", &format!("a terminal: {}", yes_no(terminal.input)))?;
    line(out, "output", &format!("a terminal: {}", yes_no(terminal.output)))?;
    let caps = Caps::of(env, Colour::Auto);
    let name = caps.brand.map(|brand| format!(" ({})", brand.name())).unwrap_or_default();
    line(out, "TERM", &format!("{}{name}", visible::line(env.var("TERM").unwrap_or("not set"))))?;
    let around = match (caps.within, caps.remote) {
        (Within::Nothing, false) => None,
        (Within::Nothing, true) => Some("over ssh"),
        (Within::Tmux, false) => Some("in tmux"),
        (Within::Tmux, true) => Some("in tmux, over ssh"),
        (Within::Screen, false) => Some("in GNU screen"),
        (Within::Screen, true) => Some("in GNU screen, over ssh"),
    };
    if let Some(around) = around {
        line(out, "reached", around)?;
    }
    match terminal.size {
        Some((columns, rows)) => line(out, "size", &format!("{columns} columns, {rows} rows"))?,
        None => line(out, "size", "unknown")?,
    }
    let colour = match (caps.colours, env.var("NO_COLOR")) {
        (Colours::None, Some(_)) => "none (NO_COLOR is set)",
        (Colours::None, None) => "none",
        (Colours::Ansi, _) => "16 colours",
        (Colours::Indexed, _) => "256 colours",
        (Colours::True, _) => "true colour",
    };
    line(out, "colour", colour)?;
    let characters = match caps.unicode {
        Unicode::Yes => "UTF-8",
        Unicode::Assumed => "UTF-8 is assumed: no locale is set",
        Unicode::No => "ASCII",
    };
    line(out, "characters", characters)?;
    let lines = match caps.reflow {
        Reflow::Always | Reflow::AboveCaret => "wrapped anew when the width changes",
        Reflow::Never => "taken not to be wrapped anew when the width changes",
    };
    line(out, "long lines", lines)?;
    for lack in lacks(&caps, env, terminal) {
        line(out, "", lack)?;
    }
    Ok(())
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

fn project(loaded: &Loaded) -> String {
    let root = loaded.project.root.display();
    match loaded.trust {
        Trust::NotNeeded => format!("{root}: nothing that needs trust"),
        Trust::Given => format!("{root}: trusted"),
        Trust::ThisRun => format!("{root}: trusted for this run"),
        Trust::Missing | Trust::Changed => format!("{root}: not trusted; withheld: {}", loaded.withheld.named()),
    }
}

/// Where each provider's key was found. A key shows itself to nobody.
fn keys(loaded: &Loaded, env: &Env, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nkeys")?;
    if let Some(run) = &loaded.run_key {
        line(out, "this run", &format!("{} from {}, for the provider that is named", run.key, run.place))?;
    }
    let clouds = PRESETS.iter().filter(|preset| !preset.is_local()).map(|preset| preset.name);
    let mut missing = Vec::new();
    for name in clouds.chain(own_providers(&loaded.values)) {
        match key::look(loaded, env, name, RunKeys::No) {
            Found::Key { key: Some(key), place } => line(out, name, &format!("{key} from {place}"))?,
            Found::Key { key: None, place } => line(out, name, &format!("from the command of {place}"))?,
            Found::Nowhere { .. } => missing.push(name),
        }
    }
    if !missing.is_empty() {
        line(out, "none for", &missing.join(", "))?;
    }
    Ok(())
}

fn proxies(loaded: &Loaded, env: &Env, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nproxy")?;
    let configured = loaded.settings.http.proxy.as_deref().map(|address| ("http.proxy", address));
    let set: Vec<_> =
        configured.into_iter().chain(PROXIES.iter().filter_map(|name| Some((*name, env.var(name)?)))).collect();
    for (name, address) in &set {
        line(out, name, &without_password(address))?;
    }
    if set.is_empty() {
        line(out, "none", "requests go straight to the provider")?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {name:<12} {text}")
}
