//! Orders that give the agent something else to do than a message: a command that is not built in, a chain; and plan mode.

use std::time::Duration;

use super::telling::tell_event;
use super::{Worker, link, no_session};
use crate::base::cancel::Cancel;
use crate::front::repl::message::{Finished, News};
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
        let agent = &mut desk.assembled.agent;
        let began = agent.node.history().is_empty();
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
        let finished = match self.until.take() {
            Some(until) => self.runtime.block_on(link::pursue(agent, &until, said, cancel, &mut watch)),
            None => self.runtime.block_on(agent.run(said, cancel, &mut watch)),
        };
        let duration = Duration::from_millis(finished.duration_ms);
        self.tell(News::Finished(Box::new(Finished { outcome: finished.outcome, duration, context: None })));
        self.ask_title(began);
    }

    /// Gives the agent what a command that is not built in comes to.
    pub(super) fn invoke(&mut self, name: &str, arguments: &str, cancel: &Cancel) {
        let Some(desk) = &self.desk else { return self.not_begun(no_session()) };
        match link::invoked(name, arguments, self.setup, &desk.assembled) {
            Ok(said) => self.give(said, cancel),
            Err(error) => self.not_begun(error),
        }
    }

    /// Runs a chain.
    pub(super) fn chain(&mut self, name: &str, task: &str, cancel: &Cancel) {
        let Some(desk) = &mut self.desk else { return self.not_begun(no_session()) };
        let news = self.news;
        let mut watch = |event: &Event| tell_event(news, event);
        let ran = self.runtime.block_on(link::chain(name, task, &mut desk.assembled, cancel, &mut watch));
        match ran {
            Ok(finished) => {
                let duration = Duration::from_millis(finished.duration_ms);
                self.tell(News::Finished(Box::new(Finished { outcome: finished.outcome, duration, context: None })));
            }
            Err(error) => self.not_begun(error),
        }
    }

    /// Only plans from here on, or works again; in later sessions, too.
    pub(super) fn plan_only(&mut self, on: bool) {
        self.planning = on;
        if let Some(desk) = &mut self.desk {
            link::plan(on, &mut desk.assembled, self.setup);
        }
    }

    fn not_begun(&self, error: Error) {
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
