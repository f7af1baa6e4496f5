//! Everything a key can mean at the prompt. Which key means what is in the keymap.

/// What a key is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The draft changes, or the caret moves.
    Edit(Edit),
    /// Send the draft; while the agent works, steer it.
    Submit,
    /// Send the draft after the running task; without one, complete.
    Queue,
    /// Go to the earlier draft, or the caret up a line.
    Up,
    /// Go to the later draft, or the caret down a line.
    Down,
    /// Stop the running task; close what is open.
    Stop,
    /// Clear the draft, then stop, then leave.
    Interrupt,
    /// Leave on an empty draft, else delete to the right.
    Leave,
    /// Hand the terminal back to the shell for a while.
    Suspend,
    /// Show the last result, or the chip at the caret, whole.
    Expand,
    /// Show reasoning, or fold it.
    Reasoning,
    /// Paste what the clipboard has: a picture, else text.
    Paste,
    /// Write the draft in an editor of one's own.
    External,
    /// Search earlier drafts.
    Search,
    /// Let the commands that run go on in the background; where none does, the caret goes to the left.
    Background,
    /// Paint everything anew.
    Redraw,
}

/// What an edit does to the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edit {
    /// A line break.
    Newline,
    /// One grapheme to the left.
    Left,
    /// One grapheme to the right.
    Right,
    /// To the beginning of the word.
    WordLeft,
    /// To the end of the word.
    WordRight,
    /// To the beginning of the line.
    LineStart,
    /// To the end of the line.
    LineEnd,
    /// To the beginning of the draft.
    DraftStart,
    /// To the end of the draft.
    DraftEnd,
    /// Delete the grapheme to the left.
    DeleteLeft,
    /// Delete the grapheme to the right.
    DeleteRight,
    /// Kill the word to the left, as far as letters and digits go.
    KillWordLeft,
    /// Kill the word to the left, as far as the next space.
    KillBlankWordLeft,
    /// Kill the word to the right.
    KillWordRight,
    /// Kill to the end of the line, or the line break.
    KillToEnd,
    /// Kill to the beginning of the line.
    KillToStart,
    /// Insert what was killed last.
    Yank,
    /// Replace what was just inserted by what was killed before it.
    YankPop,
    /// Take the last change back.
    Undo,
    /// Make it again.
    Redo,
    /// Swap the graphemes around the caret.
    Transpose,
    /// Upper case up to the end of the word.
    Upper,
    /// Lower case up to the end of the word.
    Lower,
    /// Upper case for the first letter of the word.
    Capitalize,
}
