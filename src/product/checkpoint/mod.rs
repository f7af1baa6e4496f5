//! What turns did to the files of a workspace, kept so that it can be taken back: checkpoints, undo, redo.

pub mod plan;
pub mod state;
