//! Carries out what `update` wants done: hands it to the agent's thread, the keeper, the file index, or the terminal.
//!
//! Decides nothing. What takes time goes to a thread; only an editor of the person's own is waited for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc as jobs;
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use crate::base::env::Env;
use crate::base::panic::caught;
use crate::front::term::announce;
use crate::front::term::caps::Caps;
use crate::front::term::mailbox::Sender;
use crate::kernel::inbox::{Inbox, Letter};
use crate::product::app;
use crate::product::error::Error;
use crate::product::provider::key::known_secrets;
use crate::product::tool::workspace::Workspace;

use super::clipboard;
use super::complete::index::FileIndex;
use super::editor::draft::{Draft, Piece};
use super::keeper::Job;
use super::link;
use super::message::{Answering, Asked, Clip, Cmd, Msg, Named, News, Order, Report};
use super::models;
use super::pictures::{self, Said};
use super::state::State;
use super::worker::Setup;

/// What the terminal has to do itself.
#[derive(Debug)]
pub enum Act {
    /// Write these bytes; they move no cursor.
    Write(String),
    /// Hand the terminal back to the shell.
    Suspend,
    /// Have this text edited.
    Edit(String),
    /// Have this file edited.
    EditFile(PathBuf),
    /// Paint everything anew.
    Redraw,
    /// Leave.
    Leave(u8),
}

/// Everybody who does something.
pub struct Host {
    /// What everything is made of.
    pub setup: Arc<Setup>,
    /// The agent's thread.
    pub orders: UnboundedSender<Order>,
    /// The keeper's thread.
    pub jobs: jobs::Sender<Job>,
    /// Where answers go.
    pub news: Sender<Msg>,
    /// What is known of the terminal.
    pub caps: Caps,
    /// What comes of a command at once. The thread that drains the mailbox must not wait for room in it, so that these
    /// come back to it here.
    pub at_once: Vec<Msg>,
    index: Option<FileIndex>,
}

impl Host {
    /// A host of these.
    pub fn new(
        setup: Arc<Setup>,
        orders: UnboundedSender<Order>,
        jobs: jobs::Sender<Job>,
        news: Sender<Msg>,
        caps: Caps,
    ) -> Self {
        Self { setup, orders, jobs, news, caps, at_once: Vec::new(), index: None }
    }

    /// Does what can be done without the terminal, and returns what cannot.
    pub fn carry_out(&mut self, cmd: Cmd, state: &State) -> Option<Act> {
        match cmd {
            Cmd::Order(order) => self.order(order),
            Cmd::Steer { id, draft } => {
                if let Some(session) = &state.session {
                    self.steer(id, draft, session.inbox.clone(), Arc::clone(&session.workspace));
                }
            }
            Cmd::TakeBack(id) => {
                if let Some(session) = &state.session {
                    session.inbox.take_back(id);
                }
            }
            Cmd::Answer(reply, answer) => reply.give(answer),
            Cmd::Grant(grant) => {
                if let Some(session) = &state.session {
                    session.rights.set_grant(grant);
                }
            }
            Cmd::AskEach => {
                if let Some(session) = &state.session {
                    session.rights.ask_each();
                }
            }
            Cmd::Find { generation, query } => {
                if let Some(index) = self.index(state) {
                    index.ask(generation, &query);
                }
            }
            Cmd::FindNothing => {
                if let Some(index) = &mut self.index {
                    index.rest();
                }
            }
            Cmd::Found(path) => {
                if let Some(index) = &mut self.index {
                    index.used(&path);
                }
            }
            Cmd::Remember(draft) => self.job(Job::Remember(draft)),
            Cmd::KeepDraft(draft) => self.job(Job::KeepDraft(draft)),
            Cmd::ListSessions(reach) => self.job(Job::ListSessions(reach)),
            Cmd::Preview(id) => self.job(Job::Preview(id)),
            Cmd::Rename { id, name, reach } => self.job(Job::Rename { id, name, reach }),
            Cmd::Remove { id, reach } => self.job(Job::Remove { id, reach }),
            Cmd::ListModels => self.job(Job::ListModels),
            Cmd::Change(spec) => self.change(spec, state),
            Cmd::AddUp(id) => self.job(Job::AddUp(id)),
            Cmd::ListOffers => self.job(Job::ListOffers),
            Cmd::ListHelpers(id) => self.job(Job::ListHelpers(id)),
            Cmd::Note { scope, text } => self.job(Job::Note { scope, text }),
            Cmd::EditMemory(scope) => return Some(Act::EditFile(link::memory(scope, &self.setup))),
            Cmd::Background => self.background(state),
            Cmd::ListJobs => self.list_jobs(state),
            Cmd::StopJob(id) => self.stop_job(id, state),
            Cmd::Theme(name) => self.job(Job::Theme { name, depth: state.palette.depth }),
            Cmd::Tell(report) => self.report(report),
            Cmd::Copy(text) => return self.copy(&text),
            Cmd::Look(text) => self.look(text, state),
            Cmd::Paste(asked) => self.paste(asked),
            Cmd::Announce(text) => {
                let notifier = self.caps.notifier(&self.setup.loaded.settings.ui.notify);
                let bytes = announce::notification(notifier, self.caps.wrap(), "viola", &text);
                return Some(Act::Write(bytes)).filter(|_| !matches!(notifier, announce::Notifier::Off));
            }
            Cmd::Edit(text) => return Some(Act::Edit(text)),
            Cmd::Suspend => return Some(Act::Suspend),
            Cmd::Redraw => return Some(Act::Redraw),
            Cmd::Leave(code) => return Some(Act::Leave(code)),
        }
        None
    }

    fn order(&mut self, order: Order) {
        if self.orders.send(order).is_err() {
            let error = Error::failed("the agent's thread is gone; leave and start again");
            self.at_once.push(Msg::News(News::Refused(error)));
        }
    }

    fn job(&self, job: Job) {
        // Without the keeper nothing is kept; it has said so itself.
        let _ = self.jobs.send(job);
    }

    fn index(&mut self, state: &State) -> Option<&mut FileIndex> {
        if self.index.is_none() {
            let workspace = Arc::clone(&state.session.as_ref()?.workspace);
            let news = self.news.clone();
            let found = move |found| drop(news.send(Msg::Found(found)));
            self.index = Some(FileIndex::new(workspace, self.setup.env.home.clone(), found));
        }
        self.index.as_mut()
    }

    /// Leaves another model where the running task finds it, on a thread: its key may be a command's to tell.
    fn change(&mut self, spec: String, state: &State) {
        let Some(session) = &state.session else { return self.order(Order::Model(spec)) };
        let (setup, news, orders) = (Arc::clone(&self.setup), self.news.clone(), self.orders.clone());
        let (Answering { start, chosen, mask }, current) =
            (session.answering.clone(), Arc::clone(&session.info.origin));
        let change = move || {
            let built = models::choice(&setup, &spec, &current, &start).and_then(|choice| {
                let (model, notices) = app::answering(&choice, &setup.loaded, &setup.env, &mask)?;
                Ok((choice, model, notices))
            });
            let told = match built {
                Ok((choice, model, notices)) => {
                    let info = choice.info.clone();
                    chosen.put(model);
                    // For the sessions after this one; if its thread is gone there are none.
                    let _ = orders.send(Order::Chosen(Box::new(choice)));
                    News::Switched { info, notices }
                }
                Err(error) => News::NotSwitched(error),
            };
            let _ = news.send(Msg::News(told));
        };
        if thread::Builder::new().name("model".to_owned()).spawn(change).is_err() {
            self.at_once.push(Msg::News(News::NotSwitched(Error::failed("no thread is left"))));
        }
    }

    /// Looks on a thread whether a text names pictures: their disk may be slow, and large ones take a moment.
    fn look(&mut self, text: String, state: &State) {
        let workspace = match &state.session {
            Some(session) => Some(Arc::clone(&session.workspace)),
            None => pictures::workspace(&self.setup),
        };
        let (news, looked) = (self.news.clone(), text.clone());
        let look = move || {
            let named = || workspace.map_or(Named::Nothing, |workspace| pictures::named(&looked, &workspace));
            // A message waits for it, whatever happens here.
            let named = caught(named).unwrap_or(Named::Nothing);
            let _ = news.send(Msg::Seen { text: looked, named });
        };
        if thread::Builder::new().name("pictures".to_owned()).spawn(look).is_err() {
            self.at_once.push(Msg::Seen { text, named: Named::Nothing });
        }
    }

    /// Asks the clipboard's programs on a thread: they may hang.
    fn paste(&mut self, asked: Asked) {
        let (news, setup) = (self.news.clone(), Arc::clone(&self.setup));
        let ask = move || {
            let clip = caught(|| clipboard::read(&setup, asked)).unwrap_or(Clip::Nothing(None));
            let _ = news.send(Msg::Clipboard(clip));
        };
        if thread::Builder::new().name("clipboard".to_owned()).spawn(ask).is_err() {
            self.at_once
                .push(Msg::Clipboard(Clip::Nothing(Some("No thread is left to ask the clipboard.".to_owned()))));
        }
    }

    /// Files that the text names are read on a thread: their disk may be slow.
    fn steer(&self, id: u64, draft: Draft, inbox: Inbox, workspace: Arc<Workspace>) {
        let is_plain = draft.pieces.iter().all(|piece| match piece {
            Piece::Typed(text) => !text.contains('@'),
            Piece::Pasted(_) => true,
            Piece::Picture(picture) => picture.image.is_some(),
        });
        if is_plain {
            return inbox.put(Letter { id, said: pictures::said(&draft, &workspace).words });
        }
        let news = self.news.clone();
        let read = move || {
            let Said { files, words, problems } = pictures::said(&draft, &workspace);
            for problem in problems {
                let _ = news.send(Msg::Told(problem));
            }
            let said = [files, words].concat();
            // With nothing left of it, it waits for the end of the task, and that is said then.
            if !said.is_empty() {
                inbox.put(Letter { id, said });
            }
        };
        // Without a thread the message waits for the end of the task.
        let _ = thread::Builder::new().name("attach".to_owned()).spawn(read);
    }

    /// Has something reported by who knows of it.
    fn report(&mut self, report: Report) {
        match report {
            Report::Context | Report::WholeContext => self.order(Order::Tell(report)),
            Report::Tools
            | Report::Config(_)
            | Report::Doctor
            | Report::Sessions
            | Report::Models
            | Report::Skills
            | Report::Chains
            | Report::Rules => self.job(Job::Tell(report)),
        }
    }

    fn list_jobs(&mut self, state: &State) {
        let list = state.session.as_ref().map(|session| (session.jobs.list)()).unwrap_or_default();
        let told = if list.is_empty() { "No job runs, and no service.".to_owned() } else { list };
        self.at_once.push(Msg::News(News::Reported(told)));
    }

    /// Lets the commands that run go on in the background.
    fn background(&mut self, state: &State) {
        let Some(session) = &state.session else { return };
        if (session.jobs.to_background)() == 0 {
            self.at_once.push(Msg::Told("No command runs that could go on in the background.".to_owned()));
        }
    }

    /// Stops a job on a thread: it has some time to end.
    fn stop_job(&mut self, id: String, state: &State) {
        let Some(session) = &state.session else { return };
        let (jobs, news) = (session.jobs.clone(), self.news.clone());
        let stop = move || {
            let told = match (jobs.stop)(&id) {
                Ok(text) => News::Noted(text),
                Err(error) => News::Refused(error),
            };
            let _ = news.send(Msg::News(News::Jobs((jobs.running)())));
            let _ = news.send(Msg::News(told));
        };
        if thread::Builder::new().name("job".to_owned()).spawn(stop).is_err() {
            self.at_once.push(Msg::News(News::Refused(Error::failed("no thread is left"))));
        }
    }

    fn copy(&mut self, text: &str) -> Option<Act> {
        let bytes = announce::clipboard(text, self.caps.wrap());
        let told = match &bytes {
            Some(_) => "The last answer was given to the terminal's clipboard.",
            None => "The last answer is too long for the terminal's clipboard.",
        };
        self.at_once.push(Msg::Told(told.to_owned()));
        bytes.map(Act::Write)
    }

    /// Has a text edited in the person's own editor, which has the terminal meanwhile.
    ///
    /// # Errors
    ///
    /// When there is none, it failed, or what it wrote cannot be read. The draft is then as it was.
    pub fn edited(&self, text: &str) -> Result<String, Error> {
        let cannot = |error: std::io::Error| Error::failed("the draft cannot be put into a file").caused_by(error);
        let file = tempfile::Builder::new().prefix("viola-").suffix(".md").tempfile().map_err(cannot)?;
        fs::write(file.path(), text).map_err(cannot)?;
        self.run_editor(file.path(), "; the draft is as it was")?;
        let text = fs::read_to_string(file.path()).map_err(cannot)?;
        Ok(text.strip_suffix('\n').unwrap_or(&text).replace("\r\n", "\n"))
    }

    /// Has a file edited in the person's own editor, which has the terminal meanwhile; its folder is made where there is
    /// none.
    ///
    /// # Errors
    ///
    /// When there is no editor, or it failed.
    pub fn edit_file(&self, file: &Path) -> Result<(), Error> {
        if let Some(folder) = file.parent() {
            let cannot = |error| Error::failed(format!("cannot make {}", folder.display())).caused_by(error);
            fs::create_dir_all(folder).map_err(cannot)?;
        }
        self.run_editor(file, "")
    }

    fn run_editor(&self, file: &Path, so: &str) -> Result<(), Error> {
        let env = &self.setup.env;
        let editor = env.var("VISUAL").or_else(|| env.var("EDITOR")).unwrap_or("vi");
        let status = editor_command(env, editor, &self.setup).arg(file).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Error::failed(format!("{editor} ended with {status}{so}"))),
            Err(error) => Err(Error::failed(format!("{editor} cannot be started"))
                .caused_by(error)
                .hint("VISUAL or EDITOR names another one")),
        }
    }
}

/// Gives a program of the person's own the surroundings but for keys.
pub(super) fn without_keys(command: &mut Command, setup: &Setup) {
    let secrets = known_secrets(&setup.loaded, &setup.env, None);
    let is_secret = |value: &std::ffi::OsStr| secrets.iter().any(|secret| value == secret.expose());
    command.env_clear().envs(setup.env.vars.iter().filter(|(_, value)| !is_secret(value)));
}

/// The editor, as a shell would start it: the variable may hold arguments. It sees no keys.
fn editor_command(env: &Env, editor: &str, setup: &Setup) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).current_dir(&env.cwd);
    without_keys(&mut command, setup);
    command
}
