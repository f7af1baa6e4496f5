//! What the chat keeps on disk and looks up there, on a thread of its own: earlier drafts, the draft at hand, the list of
//! sessions, themes, reports. A slow disk holds up no key.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::base::panic::caught;
use crate::base::text::mask::Mask;
use crate::base::text::visible;
use crate::front::term::mailbox::Sender;
use crate::product::auth::secret::Secret;
use crate::product::error::Error;
use crate::product::files::FileError;
use crate::product::history::drafts::{Drafts, Piece as Kept};
use crate::product::history::{self, History};
use crate::product::provider::key::known_secrets;
use crate::product::session::picks::picks;
use crate::product::session::shelf::Meant;
use crate::product::session::spent::Spent;
use crate::product::session::store::Store;

use super::editor::draft::{Draft, Piece};
use super::helpers;
use super::link;
use super::message::{Msg, News, Reach, Report, Scope};
use super::models;
use super::pictures;
use super::report;
use super::view::theme::{Depth, Theme};
use super::worker::Setup;

/// Something to be kept or looked up.
#[derive(Debug)]
pub enum Job {
    /// Keep what was sent.
    Remember(Draft),
    /// Keep what has been written so far.
    KeepDraft(Draft),
    /// List sessions.
    ListSessions(Reach),
    /// See what the session with this id was about.
    Preview(String),
    /// Call a session by another name, and list them anew.
    Rename {
        /// Its id.
        id: String,
        /// The name.
        name: String,
        /// Which are listed.
        reach: Reach,
    },
    /// Take a session away, and list them anew.
    Remove {
        /// Its id.
        id: String,
        /// Which are listed.
        reach: Reach,
    },
    /// List the models that can be used.
    ListModels,
    /// Add up what answers took: in the session of this id, and today.
    AddUp(Option<String>),
    /// Read a theme.
    Theme {
        /// Its name.
        name: String,
        /// How many colours there are.
        depth: Depth,
    },
    /// Report something that needs no session.
    Tell(Report),
    /// List the commands that are not built in.
    ListOffers,
    /// List the sub-agents of the session with this id.
    ListHelpers(String),
    /// Keep this for later sessions.
    Note {
        /// For whom.
        scope: Scope,
        /// What.
        text: String,
    },
}

/// Works until nobody has jobs any more. Tells first what is there from earlier runs.
pub fn run(setup: &Setup, jobs: &Receiver<Job>, news: &Sender<Msg>) {
    let secrets = known_secrets(&setup.loaded, &setup.env, None);
    let data = &setup.loaded.paths.data_dir;
    let mask = Mask::new(secrets.iter().map(Secret::expose));
    let history = History::new(data.join(history::FILE), &setup.env.cwd, mask.clone());
    let drafts = Drafts::new(data.join("drafts"), &setup.env.cwd, mask);
    let mut keeper = Keeper { setup, news, history, drafts, complained: false };
    if let Err(defect) = caught(|| keeper.begin()) {
        keeper.tell(News::Refused(Error::failed(format!("internal error: {defect}"))));
    }
    while let Ok(job) = jobs.recv() {
        // A defect in one job must not lose the drafts that come after it.
        if let Err(defect) = caught(|| keeper.carry_out(job)) {
            keeper.tell(News::Refused(Error::failed(format!("internal error: {defect}"))));
        }
    }
}

struct Keeper<'a> {
    setup: &'a Setup,
    news: &'a Sender<Msg>,
    history: History,
    drafts: Drafts,
    /// Whether it was told that something cannot be kept: once is enough.
    complained: bool,
}

impl Keeper<'_> {
    fn tell(&self, news: News) {
        // Nobody listens any more once the chat is left.
        let _ = self.news.send(Msg::News(news));
    }

    fn begin(&mut self) {
        let earlier = self.history.load(history::USUAL_LIMIT).unwrap_or_else(|error| {
            self.complain(error);
            Vec::new()
        });
        let draft = self.drafts.recover().unwrap_or_else(|error| {
            self.complain(error);
            Vec::new()
        });
        let earlier = earlier.into_iter().map(recalled).collect();
        let _ = self.news.send(Msg::Recalled { earlier, draft: recalled(draft) });
    }

    fn complain(&mut self, error: FileError) {
        if !self.complained {
            self.complained = true;
            self.tell(News::Refused(Error::failed("what is written here is not kept").caused_by(error)));
        }
    }

    fn store(&self) -> Store {
        Store::new(&self.setup.loaded.paths.data_dir, self.setup.clock)
    }

    fn list(&self, reach: Reach, now: i64) {
        let listed = match reach {
            Reach::Here => self.store().list(&self.setup.env.cwd),
            Reach::Everywhere => self.store().list_all(),
        };
        let _ = self.news.send(Msg::Sessions { picks: picks(&listed.infos, now), reach });
    }

    fn carry_out(&mut self, job: Job) {
        let now = self.setup.clock.now_ms();
        match job {
            Job::Remember(draft) => {
                if let Err(error) = self.history.add(&kept(draft), now) {
                    self.complain(error);
                }
            }
            Job::KeepDraft(draft) => {
                if let Err(error) = self.drafts.save(&kept(draft), now) {
                    self.complain(error);
                }
            }
            Job::ListSessions(reach) => self.list(reach, now),
            Job::Preview(id) => {
                let preview = self.store().preview(&id).ok().map(Box::new);
                let _ = self.news.send(Msg::Preview { id, preview });
            }
            Job::Rename { id, name, reach } => {
                if let Err(error) = self.store().rename(&id, &name) {
                    self.tell(News::Refused(error));
                }
                self.list(reach, now);
            }
            Job::Remove { id, reach } => {
                match self.store().remove(&id) {
                    Ok(Meant { title, .. }) => {
                        self.tell(News::Noted(format!("The session \"{}\" is gone for good.", visible::line(&title))));
                    }
                    Err(error) => self.tell(News::Refused(error)),
                }
                self.list(reach, now);
            }
            Job::ListModels => {
                let offered = models::offered(&self.setup.loaded, &self.setup.env);
                let _ = self.news.send(Msg::Models(offered));
            }
            Job::AddUp(id) => {
                let store = self.store();
                let session = id.map_or_else(Spent::default, |id| store.spent(&id));
                let _ = self.news.send(Msg::Spent { session, today: store.spent_today() });
            }
            Job::Theme { name, depth } => match theme(&name, depth, &self.setup.loaded.paths.config_dir) {
                Ok(theme) => {
                    let _ = self.news.send(Msg::Theme { name, theme: theme.map(Box::new) });
                }
                Err(error) => self.tell(News::Refused(error)),
            },
            Job::ListOffers => {
                let _ = self.news.send(Msg::Offers(link::offers(self.setup)));
            }
            Job::ListHelpers(id) => {
                let _ = self.news.send(Msg::Helpers(helpers::of(&id, &self.store(), self.setup)));
            }
            Job::Note { scope, text } => match link::note(scope, &text, self.setup) {
                Ok(text) => self.tell(News::Noted(text)),
                Err(error) => self.tell(News::Refused(error)),
            },
            Job::Tell(what) => match report::of_program(what, self.setup) {
                Ok(text) => self.tell(News::Reported(text)),
                Err(error) => self.tell(News::Refused(error)),
            },
        }
    }
}

/// A draft as it is kept.
fn kept(draft: Draft) -> Vec<Kept> {
    let pieces = draft.pieces.into_iter().map(|piece| match piece {
        Piece::Typed(text) => Kept::Typed(text),
        Piece::Pasted(text) => Kept::Pasted(text),
        Piece::Picture(picture) => Kept::Picture(pictures::kept(&picture)),
    });
    pieces.collect()
}

/// A draft that was kept.
fn recalled(pieces: Vec<Kept>) -> Draft {
    let pieces = pieces.into_iter().map(|piece| match piece {
        Kept::Typed(text) => Piece::Typed(text),
        Kept::Pasted(text) => Piece::Pasted(text),
        Kept::Picture(text) => Piece::Picture(Arc::new(pictures::recalled(&text))),
    });
    Draft { pieces: pieces.collect() }
}

/// A theme of the user's own, or `None` for one that is built in.
///
/// # Errors
///
/// Usage: there is none of that name, or it says something that is no theme.
pub fn theme(name: &str, depth: Depth, config_dir: &Path) -> Result<Option<Theme>, Error> {
    if Theme::NAMES.contains(&name) {
        return Ok(None);
    }
    let path = theme_file(config_dir, name);
    let text = fs::read_to_string(&path).map_err(|error| {
        let known = names(config_dir).join(", ");
        Error::usage(format!("there is no theme {name:?}: cannot read {}", path.display()))
            .caused_by(error)
            .hint(format!("themes: {known}"))
    })?;
    let wrong = |problem| Error::usage(format!("{}: {problem}", path.display()));
    Theme::parse(&text, depth).map(Some).map_err(wrong)
}

/// The names of all themes: those built in, then the user's own.
pub fn names(config_dir: &Path) -> Vec<String> {
    let own = fs::read_dir(config_dir.join(THEMES)).into_iter().flatten().flatten().map(|entry| entry.path());
    let json = own.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let mut own: Vec<String> = json
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| !Theme::NAMES.contains(&name.as_str()))
        .collect();
    own.sort_unstable();
    Theme::NAMES.iter().map(|name| (*name).to_owned()).chain(own).collect()
}

/// Where the user's own themes are, in the configuration folder.
const THEMES: &str = "themes";

fn theme_file(config_dir: &Path, name: &str) -> PathBuf {
    // A name is no way out of the folder.
    let name: String = name.chars().filter(|letter| *letter != '/').collect();
    config_dir.join(THEMES).join(format!("{name}.json"))
}
