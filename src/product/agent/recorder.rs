//! The first to hear what happens: the session keeps it, then the watcher sees it, both without known secrets.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::redact::Redactor;
use crate::kernel::compact::Folded;
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::kernel::port::Sink;
use crate::model::ModelInfo;
use crate::model::message::{Assistant, Message, Part, ToolResult};
use crate::product::checkpoint::chat::title;
use crate::product::checkpoint::record::{Checkpoint, Checkpoints};
use crate::product::error::Error;
use crate::product::journal::Journal;
use crate::product::permission::Rights;
use crate::product::rules::touched::Touched;
use crate::product::session::Session;
use crate::product::session::recording::Results;
use crate::product::tool::bash;

/// What goes on beside a task.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) rights: Option<&'a Rights>,
    pub(super) checkpoints: Option<&'a Checkpoints>,
    pub(super) touched: &'a Touched,
    pub(super) journal: &'a Journal,
}

impl<'a> Around<'a> {
    pub(super) fn new(
        rights: Option<&'a Arc<Rights>>,
        checkpoints: Option<&'a Arc<Checkpoints>>,
        touched: &'a Touched,
        journal: &'a Journal,
    ) -> Self {
        Self { rights: rights.map(Arc::as_ref), checkpoints: checkpoints.map(Arc::as_ref), touched, journal }
    }
}

/// Keeps a task in its session and shows it to a watcher. What was allowed meanwhile is kept before anything else.
pub struct Recorder<'a> {
    session: &'a mut Session,
    redactor: &'a Redactor,
    watch: &'a mut dyn FnMut(&Event),
    recorded: Option<&'a mut Results>,
    on_first_command: &'a mut Option<String>,
    around: Around<'a>,
    /// Whether the message that the task began with is kept.
    has_begun: bool,
    /// The first failure of a sync beside the task; the system reports each only once.
    unsynced: Arc<Mutex<Option<io::Error>>>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        redactor: &'a Redactor,
        watch: &'a mut dyn FnMut(&Event),
        recorded: Option<&'a mut Results>,
        on_first_command: &'a mut Option<String>,
        around: Around<'a>,
    ) -> Self {
        let (has_begun, unsynced) = (false, Arc::default());
        Self { session, redactor, watch, recorded, on_first_command, around, has_begun, unsynced }
    }

    /// Keeps a note on the message that was kept last.
    pub fn note(&mut self, label: String) {
        if let Some(id) = self.session.last_id() {
            let kept = self.session.append_label(id, Some(label));
            self.kept(kept);
        }
    }

    /// Keeps an answer that is told again, as that of a step.
    pub fn told(&mut self, answer: Assistant) {
        self.catch_up();
        if let Message::Assistant(answer) = self.redactor.message(&Arc::new(Message::Assistant(answer))).as_ref() {
            let kept = self.session.append_told(answer);
            self.kept(kept);
        }
    }

    /// Keeps what the session is called, if it has no name yet.
    pub fn name(&mut self, mut name: String) {
        if self.session.name().is_none() {
            self.redactor.redact(&mut name);
            let kept = self.session.append_name(name);
            self.kept(kept);
        }
    }

    /// Brings everything to the disk; a task that is shown as done is synced.
    pub fn finish(mut self) {
        if let Some(checkpoints) = self.around.checkpoints
            && let Some(Checkpoint { entry_id, reference }) = checkpoints.end(self.session.last_id())
        {
            let kept = self.session.append_checkpoint(entry_id, reference);
            self.kept(kept);
        }
        self.catch_up();
        let synced = self.session.sync().run();
        let earlier = self.unsynced.lock().unwrap_or_else(PoisonError::into_inner).take();
        let synced = earlier.map_or(synced, Err);
        let lost = |error| Error::failed("the session may not survive a power cut").caused_by(error);
        self.kept(synced.map_err(lost));
        self.around.journal.write();
    }

    /// Keeps and tells what came of rights, checkpoints and rules since the last time.
    fn catch_up(&mut self) {
        for text in self.around.touched.take_notices() {
            self.notice(NoticeCode::Rules, text);
        }
        for text in self.around.checkpoints.map(Checkpoints::take_notices).unwrap_or_default() {
            self.notice(NoticeCode::Session, text);
        }
        let Some(rights) = self.around.rights else { return };
        if let Some(grant) = rights.take_unsaved() {
            let kept = self.session.append_grant(grant);
            self.kept(kept);
        }
        for Notice { code, text, restart: _ } in rights.take_notices() {
            self.notice(code, text);
        }
    }

    /// Tells the checkpoints what the task is, once: it is the first message.
    fn begun(&mut self, message: &Message) {
        let (Message::User(parts), Some(checkpoints)) = (message, self.around.checkpoints) else { return };
        if !std::mem::replace(&mut self.has_begun, true)
            && let (true, Some(entry_id)) = (self.session.is_kept(), self.session.last_id())
        {
            let text = parts.iter().rev().find_map(|part| match part {
                Part::Text(text) => title(text),
                Part::Image(_) => None,
            });
            checkpoints.said(self.session.id(), entry_id, text);
        }
    }

    fn kept(&mut self, kept: Result<(), Error>) {
        if let Err(error) = kept {
            self.notice(NoticeCode::Session, error.to_string());
        }
    }

    fn notice(&mut self, code: NoticeCode, text: String) {
        self.show(&Event::Notice(Notice::new(code, text)));
    }

    fn show(&mut self, event: &Event) {
        let event = self.redactor.event(event);
        self.around.journal.event(&event);
        (self.watch)(&event);
    }
}

impl Sink for Recorder<'_> {
    fn message(&mut self, message: &Arc<Message>) {
        self.catch_up();
        let message = self.redactor.message(message);
        let kept = self.session.append(&message);
        self.kept(kept);
        self.begun(&message);
    }

    fn result(&mut self, result: &ToolResult) {
        self.catch_up();
        let kept = self.session.append_result(&self.redactor.result(result));
        self.kept(kept);
        if let Some(drift) = self.recorded.as_mut().and_then(|recorded| recorded.compare(result)) {
            self.notice(NoticeCode::Replay, drift);
        }
    }

    fn refused(&mut self, pictures: &[String]) {
        let kept = self.session.append_refused(pictures.iter().cloned());
        self.kept(kept);
    }

    fn pruned(&mut self, kept: usize) {
        let written = self.session.append_pruned(kept);
        self.kept(written);
    }

    fn folded(&mut self, folded: &Folded) {
        self.around.touched.forget();
        self.catch_up();
        let mut folded = folded.clone();
        self.redactor.redact(&mut folded.text);
        let kept = self.session.append_summary(&folded);
        self.kept(kept);
    }

    fn model(&mut self, info: &ModelInfo) {
        self.session.set_price(info.price);
        let kept = self.session.append_model(&info.origin);
        self.kept(kept);
    }

    fn event(&mut self, event: &Event) {
        self.catch_up();
        match event {
            // The disk works while the model does.
            Event::TurnStarted { .. } => {
                let sync = self.session.sync();
                let (unsynced, journal) = (Arc::clone(&self.unsynced), self.around.journal.clone());
                tokio::task::spawn_blocking(move || {
                    if let Err(error) = sync.run() {
                        unsynced.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                    journal.write();
                });
            }
            Event::ToolStarted { name, .. } if name == bash::NAME => {
                if let Some(text) = self.on_first_command.take() {
                    self.notice(NoticeCode::Secrets, text);
                }
            }
            Event::Text(_)
            | Event::Reasoning(_)
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolFinished { .. }
            | Event::Steered { .. }
            | Event::Question { .. }
            | Event::Within(..)
            | Event::Notice(_)
            | Event::TurnFinished { .. }
            | Event::Failed { .. } => {}
        }
        self.show(event);
    }
}
