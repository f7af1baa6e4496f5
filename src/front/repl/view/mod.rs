//! What the screen shows, as styled text. Pure: state in, lines out.
//!
//! Text from outside comes in clean: `base::text::clean` and `base::text::visible` have been over it.

pub mod ask;
pub mod code;
pub mod confirm;
pub mod diff;
pub mod inquiry;
pub mod markdown;
pub mod notice;
pub mod plan;
mod row;
pub mod status;
pub mod theme;
pub mod tool;
pub mod transcript;
pub mod undo;

pub use row::plain;

#[cfg(test)]
pub(super) mod testing;

use ratatui::text::Line;

/// Finished text, as logical lines: the terminal wraps them, and they are never touched again. No line ends in spaces.
pub type Block = Vec<Line<'static>>;

/// The live region, from its top row to its bottom row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Rows, none wider than the screen; never more than the screen has.
    pub rows: Vec<Line<'static>>,
    /// Where the cursor stands; `None` hides it.
    pub caret: Option<Caret>,
}

/// A place within a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caret {
    /// From the frame's top, from 0.
    pub row: u16,
    /// Columns from the left, from 0; less than the screen's width.
    pub column: u16,
}

/// How things look: what every view is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The colours.
    pub theme: theme::Theme,
    /// The marks.
    pub glyphs: theme::Glyphs,
    /// Columns of the screen.
    pub width: usize,
}
