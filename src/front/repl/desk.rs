//! The loop at work: bytes become keys, what is decided is done, and what is shown is painted.
//!
//! Begun by `run`; what happens and what is wanted is decided in `update`.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use crate::front::stop::Stop;
use crate::front::term::announce;
use crate::front::term::mailbox::Mailbox;
use crate::front::term::modes::Caret;
use crate::front::term::tty::{Mail, Size, Suspended, Tty, Woken};
use crate::product::agent::report::Interruption;
use crate::product::error::Error;

use super::host::{Act, Host};
use super::keeper::{self, Job};
use super::key::burst::Burst;
use super::key::decode::Decoder;
use super::key::{Code, Input, Key, Report};
use super::message::{Msg, News, Order};
use super::run::{LEAVING, Threads};
use super::screen::{Leave, Painter};
use super::state::State;
use super::state::frame::view;
use super::update::update;
use super::worker;

/// The shortest time between two pictures that nobody asked for by a key: thirty a second.
const FRAME: Duration = Duration::from_millis(33);

/// From bytes to keys.
pub(super) struct Keys {
    pub(super) decoder: Decoder,
    pub(super) burst: Burst,
    /// When the last bytes came.
    pub(super) fed: Duration,
}

impl Keys {
    fn feed(&mut self, bytes: &[u8], now: Duration) -> Vec<Input> {
        let (mut decoded, mut inputs) = (Vec::new(), Vec::new());
        self.fed = now;
        self.decoder.feed(bytes, &mut decoded);
        self.burst.feed(now, decoded, &mut inputs);
        inputs
    }

    /// When what is held back is to be let go.
    fn deadline(&self) -> Option<Duration> {
        let patience = [self.decoder.pending(), self.burst.pending()].into_iter().flatten().min()?;
        Some(self.fed + patience)
    }

    fn let_go(&mut self, now: Duration) -> Vec<Input> {
        let (mut decoded, mut inputs) = (Vec::new(), Vec::new());
        let is_due = |patience: Option<Duration>| patience.is_some_and(|patience| now >= self.fed + patience);
        let burst_is_due = is_due(self.burst.pending());
        if is_due(self.decoder.pending()) {
            self.decoder.flush(&mut decoded);
            self.burst.feed(now, decoded, &mut inputs);
        }
        if burst_is_due {
            self.burst.flush(&mut inputs);
        }
        inputs
    }
}

/// The terminal, and what it shows.
pub(super) struct Screen {
    pub(super) tty: Tty,
    pub(super) mail: Mailbox<Msg>,
    pub(super) painter: Painter,
    pub(super) bytes: String,
    /// Rows of ours below the cursor.
    pub(super) below: u16,
}

impl Screen {
    fn paint(&mut self, state: &mut State) {
        let finished = state.take_finished();
        let frame = view(state);
        let below = frame.caret.map_or(0, |caret| frame.rows.len().saturating_sub(usize::from(caret.row) + 1));
        self.below = u16::try_from(below).unwrap_or(u16::MAX);
        self.painter.paint(&finished, &frame, &mut self.bytes);
        self.write();
    }

    /// Writes what moves no cursor but the painter's.
    fn write(&mut self) {
        self.flush(Caret::Above(self.below));
    }

    fn flush(&mut self, caret: Caret) {
        if !self.bytes.is_empty() {
            self.tty.write(self.bytes.as_bytes(), caret);
            self.bytes.clear();
        }
    }

    /// Takes the live region away, so that somebody else can have the terminal.
    fn release(&mut self) {
        self.painter.release(Leave::Erased, &mut self.bytes);
        self.flush(Caret::FreshLine);
    }
}

/// Everything together.
pub(super) struct Desk {
    pub(super) begun: Instant,
    pub(super) state: State,
    pub(super) host: Host,
    pub(super) keys: Keys,
    pub(super) screen: Screen,
    /// The last picture that nobody asked for by a key.
    pub(super) painted: Option<Duration>,
    pub(super) dirty: bool,
    pub(super) threads: Threads,
}

impl Desk {
    /// The first picture, and what is asked of the terminal.
    pub(super) fn greet(&mut self) {
        self.paint();
        let title = format!("viola: {}", self.state.banner.folder);
        if self.host.caps.modes().title {
            self.screen.bytes.push_str(&announce::title(&title));
        }
        self.screen.write();
        self.screen.tty.ask(self.host.caps.questions().as_bytes(), Caret::Above(self.screen.below));
    }

    /// Starts the threads that work for the chat.
    pub(super) fn start(&mut self, jobs: mpsc::Receiver<Job>, orders: UnboundedReceiver<Order>) -> Result<(), Error> {
        let Self { threads, host: Host { setup, news, .. }, .. } = self;
        threads.spawn("agent", setup, news, move |setup, news| worker::run(setup, orders, news))?;
        threads.spawn("keeper", setup, news, move |setup, news| keeper::run(setup, &jobs, news))
    }

    pub(super) fn run(&mut self, stop: &Stop) -> u8 {
        let mut messages = Vec::new();
        loop {
            let now = self.begun.elapsed();
            let due = self.painted.map_or(Duration::ZERO, |painted| painted + FRAME);
            if self.dirty && now >= due {
                // Only these are counted: what comes right after a key, or an answer of the terminal, need not wait.
                self.painted = Some(now);
                self.paint();
            }
            // While a picture is due, news can wait for it: they come in heaps then.
            let mail = if self.dirty { Mail::Rests } else { Mail::Wakes(self.screen.mail.wake()) };
            // A terminal that takes nothing says itself when it does again.
            let frame = (self.dirty && !self.screen.tty.is_behind()).then_some(due);
            let deadline = [frame, self.state.deadline(), self.keys.deadline()].into_iter().flatten().min();
            let woken = self.screen.tty.wait(mail, deadline.map(|deadline| self.begun + deadline));
            let now = self.begun.elapsed();
            let left = match woken {
                Woken::Stop => {
                    let interruption = stop.interruption().unwrap_or(Interruption::Terminate);
                    self.step(now, Msg::Signal(interruption))
                }
                // HUP is on its way, or it never comes: what is left to do is the same.
                Woken::Gone => self.step(now, Msg::Signal(Interruption::HangUp)),
                Woken::Suspend => {
                    self.suspend();
                    self.come_back()
                }
                Woken::Resumed => {
                    self.screen.painter.forget();
                    self.measure(now);
                    self.step(now, Msg::Resumed)
                }
                Woken::Resized => self.measure(now),
                Woken::Input => {
                    let inputs = self.keys.feed(self.screen.tty.input(), now);
                    let left = self.inputs(now, inputs);
                    self.paint();
                    left
                }
                Woken::Written => None,
                Woken::Mail => None,
                Woken::Due => {
                    let inputs = self.keys.let_go(now);
                    self.inputs(now, inputs).or_else(|| self.step(now, Msg::Tick))
                }
            };
            // News that rested are there by now, too.
            self.screen.mail.drain(&mut messages);
            let left = messages.drain(..).fold(left, |left, message| left.or(self.step(now, message)));
            if let Some(code) = left {
                return code;
            }
        }
    }

    fn inputs(&mut self, now: Duration, inputs: Vec<Input>) -> Option<u8> {
        for input in inputs {
            match &input {
                Input::Report(Report::Attributes) => self.screen.tty.answered(),
                Input::Report(Report::Version(version)) => self.host.caps.correct(version),
                Input::Report(Report::Keyboard(_) | Report::Background { .. } | Report::Cursor { .. })
                | Input::Key(_)
                | Input::Paste(_)
                | Input::Focus(_) => {}
            }
            if let Some(code) = self.step(now, Msg::Input(input)) {
                return Some(code);
            }
        }
        None
    }

    /// Has something decided, and does it. Returns the exit code when that was to leave.
    fn step(&mut self, now: Duration, message: Msg) -> Option<u8> {
        self.decide(now, message).or_else(|| self.come_back())
    }

    /// What came of commands at once happens, too.
    fn come_back(&mut self) -> Option<u8> {
        while !self.host.at_once.is_empty() {
            for message in std::mem::take(&mut self.host.at_once) {
                if let Some(code) = self.decide(self.begun.elapsed(), message) {
                    return Some(code);
                }
            }
        }
        None
    }

    fn decide(&mut self, now: Duration, message: Msg) -> Option<u8> {
        self.dirty = true;
        for cmd in update(&mut self.state, now, message) {
            match self.host.carry_out(cmd, &self.state) {
                None => {}
                Some(Act::Write(bytes)) => {
                    self.paint();
                    self.screen.bytes.push_str(&bytes);
                    self.screen.write();
                }
                Some(Act::Suspend) => self.suspend(),
                Some(Act::Edit(text)) => {
                    self.paint();
                    self.screen.release();
                    let host = &self.host;
                    let edited = self.screen.tty.lend(|| host.edited(&text));
                    self.host.at_once.push(Msg::Edited(edited));
                }
                Some(Act::EditFile(file)) => {
                    self.paint();
                    self.screen.release();
                    let host = &self.host;
                    let told = match self.screen.tty.lend(|| host.edit_file(&file)) {
                        Ok(()) => Msg::Told(format!("What is remembered: {}", file.display())),
                        Err(error) => Msg::News(News::Refused(error)),
                    };
                    self.host.at_once.extend([Msg::Resumed, told]);
                }
                Some(Act::Redraw) => self.screen.painter.redraw(),
                Some(Act::Leave(code)) => return Some(code),
            }
        }
        None
    }

    fn paint(&mut self) {
        // After somebody else had the terminal, a picture painted before the old one is forgotten would stand there twice.
        if self.screen.tty.is_behind() || self.screen.tty.was_away() {
            return;
        }
        self.dirty = false;
        self.screen.paint(&mut self.state);
        self.state.painted();
    }

    fn measure(&mut self, now: Duration) -> Option<u8> {
        let Size { columns, rows } = self.screen.tty.size();
        self.screen.painter.resized(columns, rows, self.host.caps.reflow);
        self.step(now, Msg::Resized { columns, rows })
    }

    fn suspend(&mut self) {
        self.paint();
        self.screen.release();
        match self.screen.tty.suspend() {
            Suspended::Done => {}
            Suspended::NoShell => {
                self.host.at_once.push(Msg::Told("There is no shell to go back to.".to_owned()));
            }
        }
        self.dirty = true;
    }

    /// Waits a moment for what still runs, and gives the terminal back.
    pub(super) fn leave(self) {
        let Self { mut state, host, mut screen, mut keys, threads, begun, .. } = self;
        let Host { orders, jobs, news, setup, .. } = host;
        drop((orders, jobs, news));
        setup.cancel.cancel();
        screen.paint(&mut state);
        let deadline = Instant::now() + LEAVING;
        let mut messages = Vec::new();
        while !threads.have_ended() && Instant::now() < deadline {
            match screen.tty.wait(Mail::Wakes(screen.mail.wake()), Some(deadline)) {
                // Told by every wait from now on; what still runs is waited for all the same.
                Woken::Gone => thread::sleep(Duration::from_millis(5)),
                Woken::Input => {
                    let inputs = keys.feed(screen.tty.input(), begun.elapsed());
                    let impatient = Input::Key(Key::ctrl('c'));
                    if inputs.contains(&impatient) || inputs.contains(&Input::Key(Key::plain(Code::Esc))) {
                        break;
                    }
                }
                Woken::Stop
                | Woken::Suspend
                | Woken::Resumed
                | Woken::Resized
                | Woken::Written
                | Woken::Mail
                | Woken::Due => {}
            }
            screen.mail.drain(&mut messages);
            messages.clear();
        }
        screen.release();
        screen.tty.leave();
    }
}
