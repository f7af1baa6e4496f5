//! Orders that give the agent something else to do than a message: a command that is not built in, a chain; and plan mode.

use std::time::Duration;

use super::telling::tell_event;
use super::{Worker, link, no_session};
use crate::base::cancel::Cancel;
use crate::front::repl::message::{Arrival, Finished, News};
use crate::kernel::event::{Event, NoticeCode};
use crate::model::message::Part;
use crate::product::error::Error;
use crate::product::tool::bash;

impl Worker<'_> {
    /// Gives the agent something to do and tells when it is over. The first thing is worked on until its check succeeds,
    /// if there is one.
    pub(super) fn give(&mut self, said: Vec<Part>, cancel: &Cancel) {
        let Some(desk) = &mut self.desk else { return self.not_begun(no_session()) };
        let jobs = link::jobs(&desk.assembled);
        let began = desk.assembled.agent.node.history().is_empty();
        let news = self.news;
        let mut running = 0;
        let mut watch = |event: &Event| {
            tell_event(news, event);
            if may_change_jobs(event) {
                let now = (jobs.running)();
                if now != std::mem::replace(&mut running, now) {
                    super::tell(news, News::Jobs(now));
                }
            }
        };
        let assembled = &mut desk.assembled;
        let finished = match self.until.take() {
            Some(until) => self.runtime.block_on(link::pursue(assembled, &until, said, cancel, &mut watch)),
            None => Ok(self.runtime.block_on(assembled.agent.run(said, cancel, &mut watch))),
        };
        let finished = match finished {
            Ok(finished) => finished,
            Err(error) => return self.not_begun(error),
        };
        let duration = Duration::from_millis(finished.duration_ms);
        self.tell(News::Finished(Box::new(Finished { outcome: finished.outcome, duration, context: None })));
        self.ask_title(began);
    }

    /// Gives the agent what a command that is not built in comes to.
    pub(super) fn invoke(&mut self, name: &str, arguments: &str, cancel: &Cancel) {
        match link::invoked(name, arguments, self.setup) {
            Ok(said) => self.give(said, cancel),
            Err(error) => self.not_begun(error),
        }
    }

    /// Runs a chain.
    pub(super) fn chain(&mut self, name: &str, task: &str, cancel: &Cancel) {
        let Some(desk) = &mut self.desk else { return self.not_begun(no_session()) };
        let news = self.news;
        let mut watch = |event: &Event| tell_event(news, event);
        let setup = self.setup;
        let looked = async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(Error::failed("interrupted before the chain began")),
                chain = link::chain(name, &desk.assembled, setup) => chain,
            }
        };
        let chain = match self.runtime.block_on(looked) {
            Ok(chain) => chain,
            Err(error) => return self.not_begun(error),
        };
        let finished = link::run_chain(&chain, task, &mut desk.assembled, setup, cancel, &mut watch);
        let duration = Duration::from_millis(finished.duration_ms);
        self.tell(News::Finished(Box::new(Finished { outcome: finished.outcome, duration, context: None })));
        // The conversation has to hear of what its session holds now.
        if self.desk.as_ref().is_some_and(|desk| desk.assembled.agent.session.path().is_some()) {
            self.reopen(Arrival::Written);
        }
    }

    /// Only plans from here on, or works again; in later sessions, too.
    pub(super) fn plan_only(&mut self, on: bool) {
        self.planning = on;
        if let Some(desk) = &mut self.desk {
            link::plan(on, &mut desk.assembled, self.setup);
        }
    }

    pub(super) fn not_begun(&self, error: Error) {
        self.tell(News::Refused(error));
        self.tell(News::Ran);
    }
}

/// Whether a job may have begun or ended with it.
fn may_change_jobs(event: &Event) -> bool {
    match event {
        Event::ToolFinished { name, .. } => name == bash::NAME || name.starts_with("job_"),
        Event::Notice(notice) => notice.code == NoticeCode::Job,
        Event::Within(_, event) => may_change_jobs(event),
        Event::TurnStarted { .. } | Event::TurnFinished { .. } => true,
        Event::Text(_)
        | Event::Reasoning(_)
        | Event::ToolStarted { .. }
        | Event::ToolProgress { .. }
        | Event::Steered { .. }
        | Event::Question { .. }
        | Event::Failed { .. } => false,
    }
}
