//! The chat's loop: waits for whatever comes first, has it decided, does it, and paints, at most thirty times a second.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::path;
use crate::front::out::Colour;
use crate::front::stop::Stop;
use crate::front::term::announce;
use crate::front::term::caps::{Caps, Colours as Depths};
use crate::front::term::mailbox::{self, Mailbox, Sender};
use crate::front::term::modes::Caret;
use crate::front::term::tty::{Mail, Size, Suspended, Tty, Woken};
use crate::model::replay::Pace;
use crate::product::agent::report::Interruption;
use crate::product::app::Which;
use crate::product::config::{Flags, Loaded};
use crate::product::error::Error;
use crate::product::repository;

use super::editor::Editing;
use super::editor::draft::Draft;
use super::host::{Act, Host};
use super::keeper::{self, Job};
use super::key::burst::Burst;
use super::key::decode::Decoder;
use super::key::keymap::{Enter, Keymap};
use super::key::{Code, Input, Key, Report};
use super::message::{Msg, News, Order};
use super::screen::{Colours, Leave, Painter};
use super::state::frame::view;
use super::state::{Palette, Performance, Start, State, Switches, Waiting, Way};
use super::update::update;
use super::view::Look;
use super::view::notice::Banner;
use super::view::theme::{Depth, Glyphs, Theme};
use super::worker::{self, Setup};

/// The shortest time between two pictures that nobody asked for by a key (issue: at most 30 a second).
const FRAME: Duration = Duration::from_millis(33);
/// How long leaving waits for what still runs: a command has 2 s between TERM and KILL.
pub(super) const LEAVING: Duration = Duration::from_secs(3);

/// A demo lasts about eight seconds: so fast one can read along.
const PACE: Pace = Pace { answer: Duration::from_millis(700), word: Duration::from_millis(50) };

/// What a chat is begun with.
pub struct Chat {
    /// The settings.
    pub loaded: Loaded,
    /// What the command line says.
    pub flags: Flags,
    /// The surroundings.
    pub env: Env,
    /// The time.
    pub clock: Clock,
    /// Which session comes first.
    pub session: Which,
    /// The first message.
    pub first: Option<String>,
    /// When there are colours.
    pub colour: Colour,
    /// Whether it plays by itself and ends with the first task.
    pub performs: bool,
}

/// Runs a chat on the terminal and returns the exit code.
///
/// # Errors
///
/// Before anything is shown: settings of the screen that cannot be used, a terminal that cannot be opened.
pub fn run(chat: Chat, stop: &Stop) -> Result<u8, Error> {
    let caps = Caps::of(&chat.env, chat.colour);
    let mut tty = Tty::open(&chat.env, stop)?;
    let size = tty.size();
    let mut state = State::new(start(&chat, &caps, size)?);
    if let Some(text) = chat.first {
        state.letters += 1;
        state.waiting.push(Waiting { id: state.letters, draft: Draft::typed(text), way: Way::Follows });
    }
    let no_pipe = |error| Error::failed("no descriptor is left").caused_by(error);
    let (news, mail) = mailbox::mailbox().map_err(no_pipe)?;
    let pace = chat.performs.then_some(PACE);
    let Chat { loaded, flags, env, clock, session, .. } = chat;
    let setup = Arc::new(Setup { loaded, flags, env, clock, session, cancel: stop.cancel().clone(), pace });
    let (orders, inbox) = tokio::sync::mpsc::unbounded_channel();
    let (jobs, work) = mpsc::channel();
    tty.enter(caps.modes())?;
    let colours = if state.palette.colour { Colours::Shown } else { Colours::Dropped };
    let painter = Painter::new(size.columns, size.rows, colours);
    let decoder = Decoder::new(tty.erase());
    let host = Host::new(setup, orders, jobs, news, caps);
    let burst = if caps.marks_pastes() { Burst::off() } else { Burst::default() };
    let keys = Keys { decoder, burst, fed: Duration::ZERO };
    let screen = Screen { tty, mail, painter, bytes: String::new() };
    let threads = Threads::default();
    let mut desk = Desk { begun: Instant::now(), state, host, keys, screen, painted: None, dirty: true, threads };
    desk.greet();
    // Only now: what they read from the disk would hold up the first picture.
    desk.start(work, inbox)?;
    let code = desk.run(stop);
    desk.leave();
    Ok(code)
}

/// What the state begins with, from settings and terminal.
///
/// # Errors
///
/// Settings of the screen that cannot be used.
pub(super) fn start(chat: &Chat, caps: &Caps, size: Size) -> Result<Start, Error> {
    let ui = &chat.loaded.settings.ui;
    let enter = if ui.enter == "newline" { Enter::BreaksLines } else { Enter::Submits };
    let keymap = Keymap::new(enter, &ui.keys).map_err(|error| Error::usage(error.to_string()))?;
    let depth = match caps.colours {
        Depths::None | Depths::Ansi => Depth::Ansi,
        Depths::Indexed => Depth::Indexed,
        Depths::True => Depth::True,
    };
    let config_dir = &chat.loaded.paths.config_dir;
    let own = keeper::theme(&ui.theme, depth, config_dir)?;
    let palette = Palette {
        name: ui.theme.clone(),
        names: keeper::names(config_dir),
        depth,
        background: None,
        colour: caps.colours != Depths::None,
    };
    let glyphs = if caps.unicode.is_shown() { Glyphs::UNICODE } else { Glyphs::ASCII };
    let theme: Theme = palette.theme(own);
    let cwd = &chat.env.cwd;
    let branch = repository::root(cwd).and_then(repository::head).map(|head| head.name().to_owned());
    let version = env!("CARGO_PKG_VERSION");
    Ok(Start {
        look: Look { theme, glyphs, width: usize::from(size.columns) },
        rows: usize::from(size.rows),
        palette,
        keymap,
        editing: if ui.editing == "vi" { Editing::Vi } else { Editing::Emacs },
        banner: Banner {
            version: version.strip_suffix(".0").unwrap_or(version).to_owned(),
            model: String::new(),
            folder: path::shown(cwd, chat.env.home.as_deref()),
            branch,
        },
        switches: Switches {
            reasoning: ui.show_reasoning,
            focused: None,
            performance: chat.performs.then_some(Performance { green: false }),
        },
    })
}

/// Threads that work for the chat; each tells when its work is done.
#[derive(Default)]
pub(super) struct Threads {
    /// Every thread holds a clone for as long as it works. Its handle would say that it is done only a moment after it
    /// has told so, when nobody looks any more.
    work: Arc<()>,
}

impl Threads {
    /// Begins one.
    ///
    /// # Errors
    ///
    /// When the system has none left.
    pub(super) fn spawn(
        &self,
        name: &str,
        setup: &Arc<Setup>,
        news: &Sender<Msg>,
        work: impl FnOnce(&Setup, &Sender<Msg>) + Send + 'static,
    ) -> Result<(), Error> {
        let (setup, news, works) = (Arc::clone(setup), news.clone(), Arc::clone(&self.work));
        let run = move || {
            work(&setup, &news);
            drop(works);
            let _ = news.send(Msg::News(News::Ended));
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        thread.map(drop).map_err(|error| Error::failed("no thread is left").caused_by(error))
    }

    /// Whether all have.
    pub(super) fn have_ended(&self) -> bool {
        Arc::strong_count(&self.work) == 1
    }
}

/// From bytes to keys.
struct Keys {
    decoder: Decoder,
    burst: Burst,
    /// When the last bytes came.
    fed: Duration,
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
struct Screen {
    tty: Tty,
    mail: Mailbox<Msg>,
    painter: Painter,
    bytes: String,
}

impl Screen {
    fn paint(&mut self, state: &mut State) {
        let finished = state.take_finished();
        let frame = view(state);
        let below = frame.caret.map_or(0, |caret| frame.rows.len().saturating_sub(usize::from(caret.row) + 1));
        let below = u16::try_from(below).unwrap_or(u16::MAX);
        self.painter.paint(&finished, &frame, &mut self.bytes);
        self.flush(Caret::Above(below));
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
struct Desk {
    begun: Instant,
    state: State,
    host: Host,
    keys: Keys,
    screen: Screen,
    painted: Option<Duration>,
    dirty: bool,
    threads: Threads,
}

impl Desk {
    /// The first picture, and what is asked of the terminal.
    fn greet(&mut self) {
        self.paint();
        let title = format!("viola: {}", self.state.banner.folder);
        if self.host.caps.modes().title {
            self.screen.bytes.push_str(&announce::title(&title));
        }
        let below = Caret::Above(1);
        self.screen.flush(below);
        self.screen.tty.ask(self.host.caps.questions().as_bytes(), below);
        // The session that opens now does not wait for the next picture's turn.
        self.painted = None;
    }

    /// Starts the threads that work for the chat.
    fn start(&mut self, jobs: mpsc::Receiver<Job>, orders: UnboundedReceiver<Order>) -> Result<(), Error> {
        let Self { threads, host: Host { setup, news, .. }, .. } = self;
        threads.spawn("agent", setup, news, move |setup, news| worker::run(setup, orders, news))?;
        threads.spawn("keeper", setup, news, move |setup, news| keeper::run(setup, &jobs, news))
    }

    fn run(&mut self, stop: &Stop) -> u8 {
        let mut messages = Vec::new();
        loop {
            let now = self.begun.elapsed();
            let due = self.painted.map_or(Duration::ZERO, |painted| painted + FRAME);
            if self.dirty && now >= due {
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
                Woken::Gone => Some(Interruption::HangUp.exit_code()),
                Woken::Suspend => {
                    self.suspend();
                    None
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
        self.dirty = true;
        for cmd in update(&mut self.state, now, message) {
            match self.host.carry_out(cmd, &self.state) {
                None => {}
                Some(Act::Write(bytes)) => {
                    self.paint();
                    self.screen.bytes.push_str(&bytes);
                    self.screen.flush(Caret::Above(1));
                }
                Some(Act::Suspend) => self.suspend(),
                Some(Act::Edit(text)) => {
                    self.paint();
                    self.screen.release();
                    let host = &self.host;
                    let edited = self.screen.tty.lend(|| host.edited(&text));
                    let _ = host.news.send(Msg::Edited(edited));
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
        self.painted = Some(self.begun.elapsed());
        self.dirty = false;
        self.screen.paint(&mut self.state);
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
                let _ = self.host.news.send(Msg::Told("There is no shell to go back to.".to_owned()));
            }
        }
        self.dirty = true;
    }

    /// Waits a moment for what still runs, and gives the terminal back.
    fn leave(self) {
        let Self { mut state, host, mut screen, mut keys, threads, begun, .. } = self;
        let Host { orders, jobs, news, setup, .. } = host;
        drop((orders, jobs, news));
        setup.cancel.cancel();
        screen.paint(&mut state);
        let deadline = Instant::now() + LEAVING;
        let mut messages = Vec::new();
        while !threads.have_ended() && Instant::now() < deadline {
            match screen.tty.wait(Mail::Wakes(screen.mail.wake()), Some(deadline)) {
                Woken::Gone => break,
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
