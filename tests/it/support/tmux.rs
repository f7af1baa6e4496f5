//! A program in a tmux of its own: a terminal that wraps anew when its width changes, and that many people live in.
//!
//! The server belongs to the test, reads nobody's configuration, and goes with it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::keys;
use super::process::PATIENCE;

/// How often the screen is looked at.
const TICK: Duration = Duration::from_millis(10);

/// A pane with a program in it.
pub struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// Starts a program in a pane of this size; the socket is made.
    pub fn start(command: &Command, (columns, rows): (u16, u16), socket: PathBuf) -> Self {
        let mut tmux = Self::command(&socket);
        // The pane gets the environment of the server, and the server ours.
        tmux.env_clear().current_dir(command.get_current_dir().unwrap());
        tmux.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let (columns, rows) = (columns.to_string(), rows.to_string());
        for option in [
            &["start-server", ";"][..],
            &["set-option", "-g", "history-limit", "100000", ";"],
            &["set-option", "-g", "default-terminal", "tmux-256color", ";"],
            &["set-option", "-g", "remain-on-exit", "on", ";"],
            &["set-option", "-s", "escape-time", "0", ";"],
            &["new-session", "-d", "-x", &columns, "-y", &rows, "--"],
        ] {
            tmux.args(option);
        }
        // With one word alone tmux would ask a shell; with `env` before it there are always two.
        tmux.arg("env").arg(command.get_program()).args(command.get_args());
        let status = tmux.stdin(Stdio::null()).stdout(Stdio::null()).status();
        let status = status.unwrap_or_else(|error| panic!("tmux is needed, `make setup` installs it: {error}"));
        assert!(status.success(), "tmux does not start");
        Self { socket }
    }

    // What goes in

    /// Types a text.
    pub fn send(&self, text: &str) {
        self.run(&["send-keys", "-l", "--", text]);
    }

    /// Presses keys, by the names that `Pty` knows them by.
    pub fn keys(&self, names: &[&str]) {
        for name in names {
            self.run(&["send-keys", &keys::tmux_name(name)]);
        }
    }

    /// Changes the size; the program is told a moment later.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.run(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// Gives half of the window to another pane, beside the program's.
    pub fn split(&self) {
        self.run(&["split-window", "-d", "-h", "cat"]);
    }

    /// Gives the program's pane the whole window, or what it had before.
    pub fn zoom(&self) {
        self.run(&["resize-pane", "-Z"]);
    }

    // What comes out

    /// The screen's rows.
    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// Scrollback and screen, a row each, without blank ones at the end.
    pub fn history(&self) -> Vec<String> {
        lines(&self.run(&["capture-pane", "-p", "-S", "-"]))
    }

    /// The same with rows joined that tmux has wrapped, as somebody gets it who copies it.
    pub fn copied(&self) -> Vec<String> {
        lines(&self.run(&["capture-pane", "-p", "-J", "-S", "-"]))
    }

    /// Row and column of the cursor, from 0; `None` while it is hidden.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let told = self.told("#{cursor_flag} #{cursor_y} #{cursor_x}");
        let numbers: Vec<u16> = told.split(' ').map(|number| number.parse().unwrap()).collect();
        (numbers[0] == 1).then(|| (numbers[1], numbers[2]))
    }

    /// Waits until a text shows on the screen or in the scrollback.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait(|tmux| tmux.copied().join("\n").contains(text), &format!("{text:?}"));
    }

    /// Waits until a text shows on the screen.
    #[track_caller]
    pub fn wait_screen(&self, text: &str) {
        self.wait(|tmux| tmux.screen().contains(text), &format!("{text:?} on the screen"));
    }

    /// Waits for a condition.
    #[track_caller]
    pub fn wait(&self, condition: impl Fn(&Self) -> bool, what: &str) {
        let until = Instant::now() + PATIENCE;
        while !condition(self) {
            assert!(Instant::now() < until, "waited in vain for {what}\n{}", self.history().join("\n"));
            thread::sleep(TICK);
        }
    }

    /// Waits for the program's end, however it ended: under load tmux at times never learns that.
    #[track_caller]
    pub fn wait_end(&self) {
        self.wait(|tmux| tmux.told("#{pane_dead}") == "1", "the end");
    }

    fn told(&self, format: &str) -> String {
        self.run(&["display-message", "-p", format]).trim_end_matches('\n').to_owned()
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = Self::command(&self.socket).args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(socket: &PathBuf) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-u", "-f", "/dev/null", "-S"]).arg(socket).env("LC_ALL", "C.UTF-8").env_remove("TMUX");
        command
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Self::command(&self.socket).arg("kill-server").stderr(Stdio::null()).status();
    }
}

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
