//! What taking back or restoring would do, to be shown before it is done.
//!
//! Only the types; `undo` makes plans and carries them out.

use super::state::{Name, State};

/// What is taken back or restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// Files and conversation.
    #[default]
    Both,
    /// Files alone.
    Files,
    /// The conversation alone.
    Chat,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Takes the last turn back; again, the one before it.
    Undo,
    /// Restores what was taken back last, as long as nothing was said since.
    Redo,
}

/// What would be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which way.
    pub direction: Direction,
    /// The beginning of what the user had said, without known secrets; one line, not cleaned for a terminal.
    pub title: Option<String>,
    /// What becomes of files, by path. Empty where none is touched.
    pub files: Vec<FileChange>,
    /// Where the conversation goes.
    pub chat: Option<ChatMove>,
    /// What a person should know besides, a sentence each.
    pub notes: Vec<String>,
    /// Whether what was kept of a turn that is taken back is damaged.
    pub is_damaged: bool,
    /// The turns it is about; empty where it is not about files.
    pub(super) references: Vec<String>,
    /// What is done, by path: as it is now, and as it is to be.
    pub(super) steps: Vec<Step>,
    /// How much text `files` hold.
    pub(super) text_bytes: usize,
}

/// What becomes of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the workspace, for people; a folder ends in `/`. Not cleaned for a terminal.
    pub path: String,
    /// What is done.
    pub kind: ChangeKind,
    /// The text as it is now; `None` where nothing is there, or no text, or a very long one.
    pub before: Option<String>,
    /// The text as it will be; `None` likewise.
    pub after: Option<String>,
}

/// What is done to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It gets back the content or mode it had.
    Restore,
    /// It is made again.
    Create,
    /// It is removed: the turn had made it.
    Delete,
    /// It was changed since; those changes stay, and only the turn's own go.
    Merge,
    /// Nothing, for this reason.
    Refused(String),
}

/// A move of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatMove {
    /// Where it will stand; nothing is the beginning.
    pub target_id: Option<u64>,
    /// Where it stood, if this takes back a turn.
    pub undone_id: Option<u64>,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which way.
    pub direction: Direction,
    /// By path, as in the plan, with what came of it: a refusal may have been added.
    pub files: Vec<FileChange>,
    /// Where the conversation went.
    pub chat: Option<ChatMove>,
    /// As in the plan.
    pub is_damaged: bool,
}

/// One path, as it is and as it is to be.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) path: Name,
    pub(super) now: State,
    pub(super) then: State,
    /// The place of its [`FileChange`], if people hear of it.
    pub(super) shown: Option<usize>,
}

#[cfg(test)]
impl Plan {
    /// A plan as it is shown, which does nothing.
    pub fn shown(direction: Direction, title: Option<String>, files: Vec<FileChange>, chat: Option<ChatMove>) -> Self {
        Self {
            direction,
            title,
            files,
            chat,
            notes: Vec::new(),
            is_damaged: false,
            references: Vec::new(),
            steps: Vec::new(),
            text_bytes: 0,
        }
    }
}
