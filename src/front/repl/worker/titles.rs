//! Titles for new chats: asked for on a thread of its own once the first exchange stands, and kept when they come.
//!
//! Nobody waits for one, and that none came is told to nobody.

use std::thread;

use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Order, Setup, Worker, tell};
use crate::front::repl::message::News;
use crate::product::app::title::{Exchange, titler};
use crate::product::session::Titled;
use crate::product::session::store::Store;

/// A title, and the id of the session it is for.
type Arrived = (String, Titled);

/// Titles on their way.
pub(super) struct Titles {
    /// The id of the session whose first exchange is not there yet.
    due: Option<String>,
    sender: UnboundedSender<Arrived>,
    arrived: UnboundedReceiver<Arrived>,
}

impl Default for Titles {
    fn default() -> Self {
        let (sender, arrived) = unbounded_channel();
        Self { due: None, sender, arrived }
    }
}

impl Worker<'_> {
    /// The next order; titles that come before it are kept.
    pub(super) fn next(&mut self, orders: &mut UnboundedReceiver<Order>) -> Option<Order> {
        loop {
            let (runtime, arrived) = (&self.runtime, &mut self.titles.arrived);
            let next = runtime.block_on(async {
                tokio::select! {
                    biased;
                    order = orders.recv() => Ok(order),
                    // One sender is held here: there is always another title to wait for.
                    Some(arrived) = arrived.recv() => Err(arrived),
                }
            });
            match next {
                Ok(Some(order)) => return Some(order),
                Ok(None) => break,
                Err((id, titled)) => self.keep_title(&id, titled),
            }
        }
        while let Ok((id, titled)) = self.titles.arrived.try_recv() {
            self.keep_title(&id, titled);
        }
        None
    }

    /// After a task: asks for a title if the conversation has just begun. `began`: it was empty before the task.
    pub(super) fn ask_title(&mut self, began: bool) {
        let Some(agent) = self.desk.as_ref().map(|desk| &desk.assembled.agent) else { return };
        let id = agent.session.id().to_owned();
        if began {
            self.titles.due = Some(id.clone());
        }
        let is_due = self.titles.due.as_ref() == Some(&id);
        let is_wanted = is_due && agent.session.path().is_some() && agent.session.name().is_none();
        let Some(exchange) = Exchange::first(agent.node.history()).filter(|_| is_wanted) else { return };
        self.titles.due = None;
        let Some(choice) = self.chosen.as_ref().or(self.start.as_deref()) else { return };
        // Where another provider took over, its key is not at hand.
        if choice.provider != agent.model.info().origin.provider {
            return;
        }
        let Setup { loaded, env, cancel, .. } = self.setup;
        let (choice, loaded, env, cancel) = (choice.clone(), loaded.clone(), env.clone(), cancel.clone());
        let (mask, sender) = (agent.redactor.mask(), self.titles.sender.clone());
        let ask = move || {
            let titler = titler(&choice, &loaded, &env)?;
            let runtime = Builder::new_current_thread().enable_all().build().ok()?;
            let mut titled = runtime.block_on(titler.ask(&exchange, &cancel))?;
            mask.apply(&mut titled.name);
            sender.send((id, titled)).ok()
        };
        let _ = thread::Builder::new().name("title".to_owned()).spawn(ask);
    }

    /// In the session it is for, which may not be the open one any more.
    fn keep_title(&mut self, id: &str, titled: Titled) {
        match &mut self.desk {
            Some(desk) if desk.assembled.agent.session.id() == id => {
                if let Err(error) = desk.assembled.agent.session.append_title(titled) {
                    tell(self.news, News::Refused(error));
                }
            }
            Some(_) | None => {
                let Setup { loaded, clock, .. } = self.setup;
                // One that was deleted meanwhile needs none.
                let _ = Store::new(&loaded.paths.data_dir, *clock).entitle(id, titled);
            }
        }
    }
}

#[cfg(test)]
mod tests;
