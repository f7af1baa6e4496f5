//! Where the open session stands, what it is called, and what becomes of it: its tree, other places in it, copies, undo.
//!
//! Nothing is ever deleted: another place is a line behind the others, and the file is opened anew from there.

use std::path::Path;

use super::{Desk, Setup, Worker, no_session};
use crate::base::path as base_path;
use crate::base::text::visible;
use crate::front::repl::editor::draft::Draft;
use crate::front::repl::message::{Arrival, News, Place, Wanted};
use crate::front::repl::pictures;
use crate::model::message::{Message, Part};
use crate::product::app::Which;
use crate::product::checkpoint::plan::{Direction, Plan, Report, What};
use crate::product::error::Error;
use crate::product::export::{self, Existing, Extent, Filter, Format, Transcript};
use crate::product::permission::{Authority, Rights};
use crate::product::session::outline;
use crate::product::session::store::{Selector, Store};
use crate::product::session::title;

impl Worker<'_> {
    /// Reads the tree of the open session.
    pub(super) fn outline(&self, wanted: Wanted) {
        let told = self.file().and_then(|path| outline::of(path, self.store().blobs())).map(|outline| News::Outlined {
            outline: Box::new(outline),
            now: self.setup.clock.now_ms(),
            wanted,
        });
        self.tell(told.unwrap_or_else(News::Refused));
    }

    /// Goes on from another place of the open session.
    pub(super) fn go(&mut self, place: &Place) -> Result<(), Error> {
        let Place { target, again, left, is_elsewhere } = *place;
        let again = again.map_or_else(|| Ok(Draft::default()), |id| self.said_again(id))?;
        let session = &mut self.desk.as_mut().ok_or_else(no_session)?.assembled.agent.session;
        let stood = session.last_id();
        let written = session.append_leaf(target, None);
        if written.is_err() || !session.is_written() {
            // What the disk does not have would be lost with the session that is closed.
            let _ = session.append_leaf(stood, None);
            return Err(written.err().unwrap_or_else(|| Error::failed("the session cannot be written at the moment")));
        }
        self.reopen(Arrival::Moved { left, again, is_elsewhere, files: Vec::new() });
        Ok(())
    }

    /// Goes on in a copy of the open session.
    pub(super) fn fork(&mut self, place: Option<&Place>) -> Result<(), Error> {
        if self.setup.session == Which::Unkept {
            return Err(Error::usage("sessions are not kept here; start again without --no-session"));
        }
        self.file()?;
        let again = place.and_then(|place| place.again);
        let again = again.map_or_else(|| Ok(Draft::default()), |id| self.said_again(id))?;
        let desk = self.desk.as_ref().ok_or_else(no_session)?;
        let of = desk.assembled.agent.session.id().to_owned();
        let selector = self.selector(desk);
        let which = match place.map(|place| place.target) {
            Some(None) => Which::New,
            Some(at @ Some(_)) => Which::Fork { of: selector, at },
            None => Which::Fork { of: selector, at: None },
        };
        self.open_as(which, Arrival::Forked { of, again });
        let copied = self.desk.as_mut().map(|desk| desk.assembled.agent.session.make_copy());
        if let Some(Err(error)) = copied {
            self.tell(News::Refused(error));
        }
        Ok(())
    }

    /// Keeps what the open session is called, or tells it.
    pub(super) fn name(&mut self, name: Option<String>) -> Result<(), Error> {
        let Some(desk) = &mut self.desk else { return Err(no_session()) };
        let session = &mut desk.assembled.agent.session;
        let Some(name) = name.map(|name| title::given(&name)) else {
            let known = session.name().map(str::to_owned);
            let told = known.map_or_else(
                || "This session has no name yet; /name TEXT gives it one.".to_owned(),
                |name| format!("This session is called \"{}\"; /name TEXT changes that.", visible::line(&name)),
            );
            self.tell(News::Noted(told));
            return Ok(());
        };
        let name = name.ok_or_else(|| Error::usage("a name needs a letter or a digit"))?;
        session.append_name(name.clone())?;
        let told = format!("This session is called \"{}\" from now on.", visible::line(&name));
        self.tell(News::Noted(told));
        Ok(())
    }

    /// Keeps a note on a message.
    pub(super) fn label(&mut self, target: Option<u64>, label: String) -> Result<(), Error> {
        let Some(desk) = &mut self.desk else { return Err(no_session()) };
        let session = &mut desk.assembled.agent.session;
        let Some(target) = target.or_else(|| session.last_id()) else {
            return Err(Error::failed("nothing has been said here that could be labelled"));
        };
        let told = match label.as_str() {
            "" => "The label is gone.".to_owned(),
            label => format!("Labelled \"{}\"; /tree shows it.", visible::line(label)),
        };
        session.append_label(target, Some(label).filter(|label| !label.is_empty()))?;
        self.tell(News::Noted(told));
        Ok(())
    }

    /// Finds out what taking a turn back, or restoring it, would do.
    pub(super) fn plan(&self, what: What, direction: Direction) -> Result<(), Error> {
        let desk = self.desk.as_ref().ok_or_else(no_session)?;
        let plan = desk.assembled.agent.undo_plan(what, direction)?;
        self.tell(News::Planned(Box::new(plan)));
        Ok(())
    }

    /// Does what a plan says.
    pub(super) fn apply(&mut self, plan: Plan) -> Result<(), Error> {
        let before = self.file().ok().and_then(|path| outline::of(path, self.store().blobs()).ok()).unwrap_or_default();
        let undone = plan.chat.filter(|_| plan.direction == Direction::Undo);
        let again = undone.and_then(|chat| before.said_after(chat.target_id));
        let draft = again.map(|place| before.entries.get(place).map_or(0, |entry| entry.id));
        let draft = draft.and_then(|id| self.said_again(id).ok()).unwrap_or_default();
        let Some(desk) = &mut self.desk else { return Err(no_session()) };
        let Report { direction, files, chat, is_damaged: _ } = desk.assembled.agent.apply_plan(plan)?;
        if chat.is_some() && !desk.assembled.agent.session.is_written() {
            return Err(Error::failed("the session cannot be written at the moment; the files are as was asked"));
        }
        if chat.is_some() {
            let left =
                again.and_then(|place| before.entries.get(place)).map_or(0, |entry| before.left_behind(entry.parent));
            let is_elsewhere = direction == Direction::Redo;
            self.reopen(Arrival::Moved { left, again: draft, is_elsewhere, files });
        } else {
            self.tell(News::Undone(files));
        }
        Ok(())
    }

    /// Writes the present conversation to a file, in the form that its ending says; a form alone is a file of its own name.
    pub(super) fn export(&self, file: Option<&str>) -> Result<(), Error> {
        let desk = self.desk.as_ref().ok_or_else(no_session)?;
        let transcript = Transcript::read(self.file()?, Extent::Path)?;
        let Setup { env, .. } = self.setup;
        let named = file.map_or(Some(Format::Markdown), Format::named);
        let (path, format) = match (named, file.unwrap_or_default()) {
            (Some(format), _) => (env.cwd.join(format!("{}.{}", transcript.id(), format.ending())), format),
            (None, file) => {
                let path = desk.assembled.workspace.resolve(file);
                let format = Format::of(&path).ok_or_else(|| {
                    Error::usage(format!("{file} does not say what to write")).hint(
                        "a name that ends in .md, .html, .json or .jsonl does; the last is a session to go on with",
                    )
                })?;
                (path, format)
            }
        };
        if path.symlink_metadata().is_ok() {
            return Err(Error::usage(format!("{} is there already, and stays as it is", path.display()))
                .hint("/export FILE writes to another one"));
        }
        let mask = desk.assembled.agent.redactor.mask();
        let store = self.store();
        let resolve = |hash: &str| store.blobs().get(hash);
        let filter = Filter { mask: &mask, resolve: &resolve };
        let path = export::to_file(&transcript, format, &filter, &path, Existing::Kept)?;
        let shown = base_path::shown(&path, env.home.as_deref());
        self.tell(News::Noted(format!("The conversation was written to {}.", visible::line(&shown))));
        Ok(())
    }

    /// Opens the file of the open session anew, from where it stands now.
    pub(super) fn reopen(&mut self, arrival: Arrival) {
        self.finish();
        let Some(desk) = self.desk.take() else { return };
        let selector = self.selector(&desk);
        let Desk { assembled, shared, commands } = desk;
        let rights = assembled.rights.clone();
        // It holds the lock.
        drop(assembled);
        self.open_as(Which::Open(selector), arrival);
        let Some(desk) = &mut self.desk else { return };
        (desk.shared, desk.commands) = (shared, commands);
        if let (Some(old), Some(new)) = (rights, &desk.assembled.rights) {
            carry(&old, new);
        }
    }

    /// The open session, as it is found again. By its id where that is enough, since what was allowed counts only then.
    fn selector(&self, desk: &Desk) -> Selector {
        let session = &desk.assembled.agent.session;
        let (id, cwd) = (Selector::Id(session.id().to_owned()), &self.setup.env.cwd);
        match session.path() {
            Some(path) if !self.store().is(&id, cwd, path) => Selector::Path(path.to_owned()),
            Some(_) | None => id,
        }
    }

    fn store(&self) -> Store {
        Store::new(&self.setup.loaded.paths.data_dir, self.setup.clock)
    }

    /// The file of the open session.
    fn file(&self) -> Result<&Path, Error> {
        let session = &self.desk.as_ref().ok_or_else(no_session)?.assembled.agent.session;
        session.path().ok_or_else(|| {
            if session.is_kept() {
                Error::failed("nothing has been said in this session yet")
            } else {
                Error::failed("this session is not kept, and cannot be gone back in")
            }
        })
    }

    /// What a person said in the message with this id, as a draft.
    fn said_again(&self, id: u64) -> Result<Draft, Error> {
        let message = outline::message(self.file()?, id, self.store().blobs())?;
        let parts: Vec<Part> = match message {
            Some(Message::User(parts)) => parts,
            Some(Message::Assistant(_) | Message::Tool(_)) | None => Vec::new(),
        };
        Ok(pictures::again(&parts))
    }
}

/// What was allowed stays allowed.
fn carry(old: &Rights, new: &Rights) {
    match old.authority() {
        Authority::Session(grant) if new.grant() != Some(grant) => new.set_grant(grant),
        Authority::AskEach if new.authority() != Authority::AskEach => new.ask_each(),
        Authority::Session(_) | Authority::AskEach | Authority::Chosen(_) | Authority::Unasked => {}
    }
}
