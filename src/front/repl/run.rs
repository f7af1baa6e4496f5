//! The chat's loop: waits for whatever comes first, has it decided, does it, and paints, at most thirty times a second.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::path;
use crate::front::out::Colour;
use crate::front::stop::Stop;
use crate::front::term::caps::{Caps, Colours as Depths};
use crate::front::term::mailbox::{self, Sender};
use crate::front::term::tty::{Size, Tty};
use crate::model::message::Part;
use crate::model::replay::Pace;
use crate::product::app::Which;
use crate::product::config::{Flags, Loaded};
use crate::product::error::Error;
use crate::product::job::Jobs;
use crate::product::journal::Journal;
use crate::product::repository;

use super::desk::{Desk, Keys, Screen};
use super::editor::Editing;
use super::editor::draft::Draft;
use super::host::Host;
use super::keeper::{self};
use super::key::burst::Burst;
use super::key::decode::Decoder;
use super::key::keymap::{Enter, KeyError, Keymap};
use super::message::{Msg, News};
use super::screen::{Colours, Painter};
use super::state::{Palette, Performance, Start, State, Switches, Waiting, Way};
use super::view::Look;
use super::view::notice::Banner;
use super::view::theme::{Depth, Glyphs, Theme};
use super::worker::Setup;

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
    /// Until which check succeeds it is worked on.
    pub until: Option<String>,
    /// Whether it only plans, until a person says otherwise.
    pub plan: bool,
    /// Pictures that go with it, each behind a line that names it.
    pub pictures: Vec<Part>,
    /// When there are colours.
    pub colour: Colour,
    /// Whether it plays by itself and ends with the first task.
    pub performs: bool,
    /// What is noted for later.
    pub journal: Journal,
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
    let Chat { loaded, flags, env, clock, session, pictures, journal, until, plan, .. } = chat;
    let jobs = Jobs::new(&loaded.paths.data_dir, clock);
    let cancel = stop.cancel().clone();
    let setup =
        Arc::new(Setup { loaded, flags, env, clock, session, pictures, cancel, pace, journal, until, plan, jobs });
    let (orders, inbox) = tokio::sync::mpsc::unbounded_channel();
    let (jobs, work) = mpsc::channel();
    tty.enter(caps.modes())?;
    let colours = if state.palette.colour { Colours::Shown } else { Colours::Dropped };
    let painter = Painter::new(size.columns, size.rows, colours);
    let decoder = Decoder::new(tty.erase());
    let host = Host::new(setup, orders, jobs, news, caps);
    let burst = if caps.marks_pastes() { Burst::off() } else { Burst::default() };
    let keys = Keys { decoder, burst, fed: Duration::ZERO };
    let screen = Screen { tty, mail, painter, bytes: String::new(), below: 0 };
    let threads = Threads::default();
    let mut desk = Desk { begun: Instant::now(), state, host, keys, screen, painted: None, dirty: true, threads };
    desk.greet();
    // Only now: what they read from the disk would hold up the first picture.
    desk.start(work, inbox)?;
    let code = desk.run(stop);
    let running = desk.host.setup.jobs.clone();
    desk.leave();
    running.end_all();
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
    let blamed = |key: &str| chat.loaded.values.blamed(key, None);
    let wrong_key = |error: KeyError| {
        let problem = error.to_string();
        Error::usage(format!("{}: {}", blamed("ui.keys"), problem.trim_start_matches("ui.keys: ")))
    };
    let keymap = Keymap::new(enter, &ui.keys).map_err(wrong_key)?;
    let depth = match caps.colours {
        Depths::None | Depths::Ansi => Depth::Ansi,
        Depths::Indexed => Depth::Indexed,
        Depths::True => Depth::True,
    };
    let config_dir = &chat.loaded.paths.config_dir;
    let own = keeper::theme(&ui.theme, depth, config_dir).map_err(|mut error| {
        error.message = format!("{}: {}", blamed("ui.theme"), error.message);
        error
    })?;
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
            planning: chat.plan,
            live: true,
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
