//! A check that a task goes on for: a person's own command, which a rule of theirs may forbid all the same.
//!
//! Runs nothing.

use std::sync::Arc;

use super::Assembled;
use crate::product::agent::goal::Goal;
use crate::product::error::Error;

/// The goal of going on until `command` succeeds.
///
/// # Errors
///
/// Usage: it is no shell line, or a deny rule forbids it.
pub fn goal(command: &str, assembled: &Assembled) -> Result<Goal, Error> {
    let goal = Goal::new(command, Arc::clone(&assembled.shell))?;
    match assembled.crew.forbidden(&goal.call("check".to_owned())) {
        None => Ok(goal),
        Some(rule) => Err(Error::usage(format!("--until: the rule {rule:?} forbids this command"))
            .hint("the rule stands in permissions.deny: `agent config show permissions.deny`")),
    }
}
