//! What turns did to the files of a workspace, kept so that it can be taken back: checkpoints, undo, redo.
//!
//! The workspace is the repository around the working directory, or that directory itself; git is not needed. A turn's
//! checkpoint is a list of paths with what stood there before and after. [`record`] watches a turn and makes it: what a
//! tool writes is kept before, exactly; what a `command` may change is not known before, so the workspace is looked at
//! (`scan`) before the first command that may change something, and again at the turn's end, by an `index` of time
//! stamps. [`undo`] plans and does the way back and forth. Contents are `objects` under their hash, facts lines of a
//! `journal` for each session, places of files reached only by `place`; `git` saves copies, `prune` removes what is
//! old. `checkpoints/` of the data folder: `objects/`, `trees/` (the last index of each workspace), and a folder for each
//! session with `journal.jsonl`, `index.jsonl` and `redo`.
//!
//! Never covered: what `scope` names, ignored files that no tool or command named, files over 10 MB, and anything outside
//! of the workspace. Nothing here is shown or asked, and nothing here stops a tool.

pub mod chat;
mod command;
mod decide;
pub mod depot;
mod git;
mod index;
mod journal;
mod merge;
mod named;
mod objects;
mod place;
pub mod plan;
pub mod prune;
mod pulse;
pub mod record;
mod scan;
mod scope;
mod state;
pub mod undo;
mod walk;

pub use prune::{prune, size};

#[cfg(test)]
mod tests;
