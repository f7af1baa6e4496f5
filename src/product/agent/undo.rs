//! Taking back what turns did, and restoring it, from inside of a running chat.
//!
//! How is for `product::checkpoint` to say; nothing is asked or shown here.

use super::Agent;
use crate::product::checkpoint::plan::{Direction, Plan, Report, What};
use crate::product::checkpoint::undo::Target;
use crate::product::error::Error;

impl Agent {
    /// What taking back the last turn would do, or restoring what was taken back last. May look at many files.
    ///
    /// # Errors
    ///
    /// That there is nothing to take back or restore, in one line for people.
    pub fn undo_plan(&self, what: What, direction: Direction) -> Result<Plan, Error> {
        self.target()?.plan(what, direction)
    }

    /// What it would take to bring the files back to before what the message with this id asked for.
    ///
    /// # Errors
    ///
    /// That no file was changed since.
    pub fn rollback_plan(&self, entry_id: u64) -> Result<Plan, Error> {
        self.target()?.plan_back_to(entry_id)
    }

    /// Does what a plan says: files first, then the conversation's place in the session.
    ///
    /// Where the report has a `chat`, the conversation is another one from here on, and the caller opens the session anew.
    ///
    /// # Errors
    ///
    /// That nothing could be done at all. What could not be done of one file is in the report.
    pub fn apply_plan(&mut self, plan: Plan) -> Result<Report, Error> {
        let report = self.target()?.apply(plan)?;
        if let Some(chat) = report.chat {
            self.session.append_leaf(chat.target_id, chat.undone_id)?;
        }
        Ok(report)
    }

    fn target(&self) -> Result<Target<'_>, Error> {
        let Some(checkpoints) = &self.checkpoints else {
            return Err(Error::failed("this session is not kept, and nothing of it can be taken back"));
        };
        Ok(Target { depot: checkpoints.depot(), session: self.session.id(), file: self.session.path() })
    }
}
