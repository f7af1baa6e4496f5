//! A program in a real pseudo-terminal with an emulator behind it: what it shows, what it scrolled away, and how it leaves
//! the terminal. The emulator answers what terminals are asked and does not wrap anew; `tmux` in its own file does.
//!
//! Nothing here knows which program it is, and nothing waits for luck: each wait has a condition and a deadline.

use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::termios::{LocalModes, tcgetattr};

use super::keys;
use super::process::PATIENCE;

/// Rows the emulator keeps after they have scrolled away.
const SCROLLBACK: usize = 100_000;

/// How often something is looked at that does not say when it changes.
const TICK: Duration = Duration::from_millis(2);

/// What the terminal says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keyboard {
    /// Keys as terminals have always sent them.
    #[default]
    Legacy,
    /// The kitty protocol is there when it is asked for.
    Kitty,
}

/// A program in its terminal. It is killed when it is dropped.
pub struct Pty {
    child: std::process::Child,
    master: Box<dyn MasterPty + Send>,
    writer: Sender<Vec<u8>>,
    shown: Arc<Shown>,
}

/// What has come out so far.
struct Shown {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    emulator: vt100::Parser<Answers>,
    raw: Vec<u8>,
    /// When something came out, or went in.
    last: Instant,
    /// Whether the program and all its children have closed the terminal.
    closed: bool,
}

/// Answers to what a program asks its terminal.
struct Answers {
    keyboard: Keyboard,
    pending: Vec<u8>,
}

impl vt100::Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        last: char,
    ) {
        let number = parameters.first().and_then(|group| group.first()).copied().unwrap_or(0);
        match (first, number, last) {
            (None, 0, 'c') => self.pending.extend(b"\x1b[?62;22c"),
            (Some(b'?'), _, 'u') if self.keyboard == Keyboard::Kitty => self.pending.extend(b"\x1b[?0u"),
            (None, 5, 'n') => self.pending.extend(b"\x1b[0n"),
            (None, 6, 'n') => {
                let (row, column) = screen.cursor_position();
                self.pending.extend(format!("\x1b[{};{}R", row + 1, column + 1).into_bytes());
            }
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, parameters: &[&[u8]]) {
        match parameters {
            [b"10", b"?"] => self.pending.extend(b"\x1b]10;rgb:cccc/cccc/cccc\x1b\\"),
            [b"11", b"?"] => self.pending.extend(b"\x1b]11;rgb:1111/1111/1111\x1b\\"),
            _ => {}
        }
    }
}

impl Pty {
    /// Starts a program in a terminal of this size.
    pub fn start(command: &Command, (columns, rows): (u16, u16), keyboard: Keyboard) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let mut builder = CommandBuilder::new(command.get_program());
        builder.args(command.get_args());
        builder.env_clear();
        for (name, value) in command.get_envs() {
            builder.env(name, value.unwrap_or_default());
        }
        builder.cwd(command.get_current_dir().unwrap());
        let child: Box<dyn portable_pty::Child> = pair.slave.spawn_command(builder).unwrap();
        let child = child.downcast::<std::process::Child>().unwrap_or_else(|_| panic!("a child of another kind"));
        drop(pair.slave);

        let (writer, input) = channel::<Vec<u8>>();
        let mut keyboard_end = pair.master.take_writer().unwrap();
        thread::spawn(move || {
            // A program that does not read its input, or has ended, is no concern of ours.
            input.iter().all(|bytes| keyboard_end.write_all(&bytes).and_then(|()| keyboard_end.flush()).is_ok())
        });
        let answers = Answers { keyboard, pending: Vec::new() };
        let emulator = vt100::Parser::new_with_callbacks(one(rows), one(columns), SCROLLBACK, answers);
        let state = State { emulator, raw: Vec::new(), last: Instant::now(), closed: false };
        let shown = Arc::new(Shown { state: Mutex::new(state), changed: Condvar::new() });
        let mut output = pair.master.try_clone_reader().unwrap();
        let (filled, answer) = (Arc::clone(&shown), writer.clone());
        thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            loop {
                let count = output.read(&mut buffer).unwrap_or(0);
                filled.take(&buffer[..count], &answer);
                if count == 0 {
                    break;
                }
            }
        });
        Self { child: *child, master: pair.master, writer, shown }
    }

    // What goes in

    /// Types a text; a line feed in it is a line feed, not Enter.
    pub fn send(&self, text: &str) {
        self.lock().last = Instant::now();
        self.writer.send(text.as_bytes().to_vec()).unwrap();
    }

    /// Presses keys, by their names: `enter`, `ctrl-c`, `alt-b`, `shift-tab`, `up`, …
    pub fn keys(&self, names: &[&str]) {
        for name in names {
            self.send(&keys::bytes(name));
        }
    }

    /// Types a text, and presses Enter when it is seen.
    #[track_caller]
    pub fn line(&self, text: &str) {
        self.send(text);
        self.wait_screen(text);
        self.keys(&["enter"]);
    }

    /// Pastes a text, as a terminal does that has been asked to mark it.
    pub fn paste(&self, text: &str) {
        self.send(&format!("\x1b[200~{text}\x1b[201~"));
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        // Under the lock, so that no byte the program writes for the new size comes before it.
        let mut state = self.lock();
        state.last = Instant::now();
        state.emulator.set_size(one(rows), one(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    // What comes out

    /// Waits until a text shows on the screen or in the scrollback.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_state(|state| state.history().join("\n").contains(text), &format!("{text:?}"));
    }

    /// Waits until a text shows on the screen.
    #[track_caller]
    pub fn wait_screen(&self, text: &str) {
        self.wait_state(|state| state.screen().contains(text), &format!("{text:?} on the screen"));
    }

    /// Waits until a text is on the screen no more.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) {
        self.wait_state(|state| !state.screen().contains(text), &format!("{text:?} to go from the screen"));
    }

    /// Waits for a condition.
    #[track_caller]
    pub fn wait(&self, condition: impl Fn(&Self) -> bool, what: &str) {
        let until = Instant::now() + PATIENCE;
        while !condition(self) {
            assert!(Instant::now() < until, "waited in vain for {what}\n{}", self.everything());
            thread::sleep(TICK);
        }
    }

    /// Waits until these bytes have come out.
    #[track_caller]
    pub fn wait_raw(&self, bytes: &str) {
        self.wait_state(|state| String::from_utf8_lossy(&state.raw).contains(bytes), &format!("{bytes:?}"));
    }

    /// Waits until nothing has gone in or come out for so long.
    #[track_caller]
    pub fn wait_idle(&self, time: Duration) {
        let until = Instant::now() + PATIENCE;
        while let Some(left) = time.checked_sub(self.lock().last.elapsed()) {
            assert!(Instant::now() < until, "it never stops\n{}", self.everything());
            thread::sleep(left.max(TICK));
        }
    }

    /// Waits until the program reads keys itself.
    #[track_caller]
    pub fn wait_ready(&self) {
        let until = Instant::now() + PATIENCE;
        while !self.is_raw() {
            assert!(Instant::now() < until && !self.lock().closed, "it never reads keys\n{}", self.everything());
            thread::sleep(TICK);
        }
    }

    /// The screen's rows, without blanks at their ends.
    pub fn screen(&self) -> String {
        self.lock().screen()
    }

    /// Scrollback and screen, a row each.
    pub fn history(&self) -> Vec<String> {
        self.lock().history()
    }

    /// How often a text occurs in scrollback and screen.
    pub fn count(&self, text: &str) -> usize {
        self.history().join("\n").matches(text).count()
    }

    /// Row and column of the cursor, from 0; `None` while it is hidden.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let state = self.lock();
        let screen = state.emulator.screen();
        (!screen.hide_cursor()).then(|| screen.cursor_position())
    }

    /// How often the program got the processor and gave it back by itself, all its threads together, and the ticks of
    /// 10 ms that it worked.
    pub fn work_done(&self) -> (u64, u64) {
        let pid = self.child.id();
        let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
        let switches = threads.map(|thread| {
            let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            line.map_or(0, |count| count.trim().parse().unwrap())
        });
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        // Behind the name, which may hold anything, user and system time are the 12th and 13th field.
        let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
        (switches.sum(), fields.map(|field| field.parse::<u64>().unwrap()).sum())
    }

    /// Every byte that has come out.
    pub fn raw(&self) -> Vec<u8> {
        self.lock().raw.clone()
    }

    // How the terminal is left

    /// Waits for the end, and for all that was written until then: 128 + N, if signal N ended it.
    #[track_caller]
    pub fn exit_code(&mut self) -> i32 {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.wait_state(|state| state.closed, "the terminal to be closed");
                return status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
            }
            assert!(Instant::now() < until, "still running\n{}", self.everything());
            thread::sleep(TICK);
        }
    }

    /// Whether the program reads keys as they come.
    pub fn is_raw(&self) -> bool {
        let modes = tcgetattr(self.line_end()).unwrap().local_modes;
        !modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// The settings of the terminal line, to be compared.
    pub fn settings(&self) -> String {
        let settings = tcgetattr(self.line_end()).unwrap();
        let (input, output) = (settings.input_modes, settings.output_modes);
        format!("{input:?} {output:?} {:?} {:?}", settings.control_modes, settings.local_modes)
    }

    /// What the program has switched on and not off again, such as `?2004h`.
    pub fn left_on(&self) -> Vec<String> {
        keys::left_on(&String::from_utf8_lossy(&self.lock().raw))
    }

    // Inside

    #[track_caller]
    fn wait_state(&self, condition: impl Fn(&mut State) -> bool, what: &str) {
        let until = Instant::now() + PATIENCE;
        let mut state = self.lock();
        while !condition(&mut state) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || state.closed {
                let why = if state.closed { "the program has ended" } else { "the program still runs" };
                let all = state.history().join("\n");
                drop(state);
                panic!("waited in vain for {what}: {why}\n{all}");
            }
            (state, _) = self.shown.changed.wait_timeout(state, left).unwrap();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shown.state.lock().unwrap()
    }

    fn everything(&self) -> String {
        self.history().join("\n")
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The program's end of the line; opened for a moment only, since its end is seen when all have closed it.
    fn line_end(&self) -> OwnedFd {
        let name = self.master.tty_name().unwrap();
        rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process_group(self.pid(), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

impl Shown {
    /// Takes what has come out; nothing at its end.
    fn take(&self, bytes: &[u8], answer: &Sender<Vec<u8>>) {
        let mut state = self.state.lock().unwrap();
        state.raw.extend_from_slice(bytes);
        state.emulator.process(bytes);
        state.last = Instant::now();
        state.closed = bytes.is_empty();
        let answers = std::mem::take(&mut state.emulator.callbacks_mut().pending);
        if !answers.is_empty() {
            // Nobody is there to hear it if the test is over.
            let _ = answer.send(answers);
        }
        self.changed.notify_all();
    }
}

impl State {
    fn screen(&self) -> String {
        rows(self.emulator.screen()).join("\n")
    }

    fn history(&mut self) -> Vec<String> {
        let screen = self.emulator.screen_mut();
        screen.set_scrollback(usize::MAX);
        let (mut left, height) = (screen.scrollback(), usize::from(screen.size().0.get()));
        let mut all = Vec::new();
        while left > 0 {
            screen.set_scrollback(left);
            all.extend(rows(screen).into_iter().take(left));
            left = left.saturating_sub(height);
        }
        screen.set_scrollback(0);
        all.extend(rows(screen));
        all
    }
}

fn rows(screen: &vt100::Screen) -> Vec<String> {
    screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned()).collect()
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn one(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}
