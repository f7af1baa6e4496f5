//! The chat on a terminal that can do nothing but show lines (`TERM=dumb`): lines in, lines out, no escape sequence ever.
//!
//! It decides nothing: state, decisions, and the threads that work are those of the screen. Line editing and echo stay
//! the terminal's own.

mod page;

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::front::out::Colour;
use crate::front::stop::Stop;
use crate::front::term::caps::Caps;
use crate::front::term::cooked::{Cooked, Woken};
use crate::front::term::mailbox::{self, Mailbox};
use crate::front::term::tty::Size;
use crate::product::agent::report::Interruption;
use crate::product::error::Error;
use crate::product::job::Jobs;

use super::editor::draft::Draft;
use super::host::{Act, Host};
use super::keeper;
use super::message::{Cmd, Line, Msg, News, Order};
use super::run::{Chat, LEAVING, Threads, start};
use super::state::{State, Waiting, Way};
use super::update::{unsent, update};
use super::view::theme::Glyphs;
use super::worker::{self, Setup};
use page::Page;

/// Columns where the terminal does not know how many it has.
const COLUMNS: u16 = 80;

/// Runs a chat line by line and returns the exit code.
///
/// # Errors
///
/// Before anything is shown: settings that cannot be used, a terminal that cannot be opened.
pub fn run(chat: Chat, stop: &Stop) -> Result<u8, Error> {
    let caps = Caps::of(&chat.env, Colour::Never);
    let mut term = Cooked::open(stop)?;
    let columns = term.columns().unwrap_or(COLUMNS);
    let mut begun = start(&chat, &caps, Size { columns, rows: u16::MAX })?;
    begun.look.glyphs = Glyphs::ASCII;
    // What was thought would drown what was said.
    begun.switches.reasoning = false;
    begun.switches.live = false;
    let mut state = State::new(begun);
    if let Some(text) = chat.first {
        state.letters += 1;
        state.waiting.push(Waiting { id: state.letters, draft: Draft::typed(text), way: Way::Follows });
    }
    let no_pipe = |error| Error::failed("no descriptor is left").caused_by(error);
    let (news, mail) = mailbox::mailbox().map_err(no_pipe)?;
    let Chat { loaded, flags, env, clock, session, pictures, journal, until, plan, .. } = chat;
    let jobs = Jobs::new(&loaded.paths.data_dir, clock);
    let setup = Arc::new(Setup {
        loaded,
        flags,
        env,
        clock,
        session,
        pictures,
        cancel: stop.cancel().clone(),
        pace: None,
        journal,
        until,
        plan,
        jobs,
    });
    let (orders, inbox) = tokio::sync::mpsc::unbounded_channel();
    let (jobs, work) = mpsc::channel();
    let threads = Threads::default();
    threads.spawn("keeper", &setup, &news, move |setup, news| keeper::run(setup, &work, news))?;
    threads.spawn("agent", &setup, &news, move |setup, news| worker::run(setup, inbox, news))?;

    term.mark();
    let host = Host::new(setup, orders, jobs, news, caps);
    let mut desk = Desk { begun: Instant::now(), state, host, term, mail, page: Page::default(), threads };
    let code = desk.run(stop);
    let running = desk.host.setup.jobs.clone();
    desk.leave();
    running.end_all();
    Ok(code)
}

/// Everything together.
struct Desk {
    begun: Instant,
    state: State,
    host: Host,
    term: Cooked,
    mail: Mailbox<Msg>,
    page: Page,
    threads: Threads,
}

impl Desk {
    fn run(&mut self, stop: &Stop) -> u8 {
        let mut messages = Vec::new();
        loop {
            let message = match self.term.wait(self.mail.wake(), None) {
                Woken::Stop => Some(Msg::Signal(stop.interruption().unwrap_or(Interruption::Terminate))),
                Woken::Interrupt => {
                    // The terminal has shown the key and forgotten the line.
                    self.page.disturbed();
                    Some(Msg::Interrupt)
                }
                Woken::Line { text, ahead } => {
                    self.page.entered();
                    Some(Msg::Line(Line { text, ahead }))
                }
                // The terminal may be gone, and HUP be on its way.
                Woken::End => Some(stop.interruption().map_or(Msg::End, Msg::Signal)),
                Woken::Mail | Woken::Due => None,
            };
            if let Some(code) = message.and_then(|message| self.step(message)) {
                return code;
            }
            self.mail.drain(&mut messages);
            for message in messages.drain(..) {
                if let Some(code) = self.step(message) {
                    return code;
                }
            }
            self.page.prompt(&self.state);
            self.flush();
        }
    }

    /// Has something decided, does it, and shows what came of it. Returns the exit code when that was to leave.
    fn step(&mut self, message: Msg) -> Option<u8> {
        match &message {
            // An unsent draft is for a screen; it stays where it is kept.
            Msg::Recalled { .. } => return None,
            Msg::News(News::Event(event)) => self.page.hear(event),
            Msg::News(
                News::Outlined { .. }
                | News::Planned(_)
                | News::Undone(_)
                | News::Noted(_)
                | News::Reported(_)
                | News::Told(_)
                | News::Refused(_),
            )
            | Msg::Spent { .. }
            | Msg::Helpers(_) => self.page.answered(),
            Msg::News(_)
            | Msg::Input(_)
            | Msg::Line(_)
            | Msg::Interrupt
            | Msg::End
            | Msg::Resized { .. }
            | Msg::Tick
            | Msg::Found(_)
            | Msg::Signal(_)
            | Msg::Resumed
            | Msg::Edited(_)
            | Msg::Sessions { .. }
            | Msg::Preview { .. }
            | Msg::Models(_)
            | Msg::Offers(_)
            | Msg::Theme { .. }
            | Msg::Seen { .. }
            | Msg::Clipboard(_)
            | Msg::Told(_) => {}
        }
        let is_news = matches!(message, Msg::News(_));
        let is_line = matches!(message, Msg::Line(_));
        let was_asked = self.state.asked.is_some();
        let cmds = update(&mut self.state, self.begun.elapsed(), message);
        if self.state.asked.is_some() && (is_line || !was_asked) {
            // What is there by now was written by somebody who had not seen the question.
            self.term.mark();
            self.page.renew();
        }
        self.page.show(&mut self.state, is_line);
        if let Some(draft) = is_news.then(|| unsent(&mut self.state)).flatten() {
            self.page.tell(&format!("Not sent: {}", draft.text()));
        }
        let left = cmds.into_iter().fold(None, |left, cmd| left.or(self.carry_out(cmd)));
        let at_once = std::mem::take(&mut self.host.at_once);
        at_once.into_iter().fold(left, |left, message| left.or_else(|| self.step(message)))
    }

    fn carry_out(&mut self, cmd: Cmd) -> Option<u8> {
        if matches!(cmd, Cmd::KeepDraft(_)) {
            return None;
        }
        if is_answered(&cmd) {
            self.page.awaits();
        }
        match self.host.carry_out(cmd, &self.state) {
            Some(Act::Leave(code)) => Some(code),
            // All of these speak to a screen.
            Some(Act::Write(_) | Act::Suspend | Act::Edit(_) | Act::Redraw) | None => None,
            Some(Act::EditFile(file)) => {
                self.page.tell(&file.display().to_string());
                None
            }
        }
    }

    fn flush(&mut self) {
        self.term.write(&self.page.take());
    }

    /// Waits a moment for what still runs.
    fn leave(mut self) {
        self.page.end();
        self.flush();
        let Self { host, mut term, mail, threads, .. } = self;
        let Host { orders, jobs, news, setup, .. } = host;
        drop((orders, jobs, news));
        setup.cancel.cancel();
        let deadline = Instant::now() + LEAVING;
        let mut messages = Vec::new();
        while !threads.have_ended() && Instant::now() < deadline {
            match term.wait(mail.wake(), Some(deadline)) {
                Woken::Interrupt => break,
                // Told by every wait from now on.
                Woken::End => std::thread::sleep(Duration::from_millis(5)),
                Woken::Stop | Woken::Line { .. } | Woken::Mail | Woken::Due => {}
            }
            mail.drain(&mut messages);
            messages.clear();
        }
        term.leave();
    }
}

/// Whether something will be told for this, once and soon.
fn is_answered(cmd: &Cmd) -> bool {
    match cmd {
        Cmd::Tell(_) | Cmd::AddUp(_) | Cmd::ListHelpers(_) | Cmd::Note { .. } | Cmd::ListJobs | Cmd::StopJob(_) => true,
        Cmd::Order(order) => match order {
            Order::Tell(_)
            | Order::Outline(_)
            | Order::Name(_)
            | Order::Label { .. }
            | Order::PlanUndo(..)
            | Order::Export(_) => true,
            // Else it is a session that is opened by it.
            Order::CarryOut(plan) => plan.chat.is_none(),
            Order::Say { .. }
            | Order::Invoke { .. }
            | Order::Chain { .. }
            | Order::Plan(_)
            | Order::Shell { .. }
            | Order::Compact { .. }
            | Order::Open(_)
            | Order::Model(_)
            | Order::Chosen(_)
            | Order::Effort(_)
            | Order::Go(_)
            | Order::Fork(_) => false,
        },
        Cmd::Steer { .. }
        | Cmd::TakeBack(_)
        | Cmd::Answer(..)
        | Cmd::Grant(_)
        | Cmd::AskEach
        | Cmd::Find { .. }
        | Cmd::FindNothing
        | Cmd::Found(_)
        | Cmd::Theme(_)
        | Cmd::Remember(_)
        | Cmd::KeepDraft(_)
        | Cmd::Copy(_)
        | Cmd::Look(_)
        | Cmd::Paste(_)
        | Cmd::Announce(_)
        | Cmd::Edit(_)
        | Cmd::EditMemory(_)
        | Cmd::Background
        | Cmd::ListOffers
        | Cmd::Suspend
        | Cmd::Redraw
        | Cmd::ListSessions(_)
        | Cmd::Preview(_)
        | Cmd::Rename { .. }
        | Cmd::Remove { .. }
        | Cmd::ListModels
        | Cmd::Change(_)
        | Cmd::Leave(_) => false,
    }
}
