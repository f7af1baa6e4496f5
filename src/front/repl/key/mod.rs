//! What a person does at the keyboard: keys, pastes, and what the terminal itself has to say.
//!
//! Pure; bytes come in from `front::term`.

pub mod action;
pub mod burst;
pub mod decode;
pub mod keymap;
mod layout;

/// Something that came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed, or repeated.
    Key(Key),
    /// A text was pasted, whole, with `\n` for every line end.
    Paste(String),
    /// The window got the focus, or lost it.
    Focus(bool),
    /// The terminal answers a question.
    Report(Report),
}

/// What a terminal answers when it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Device attributes (DA1): sent by every terminal, so the last answer there will be.
    Attributes,
    /// The flags of the kitty keyboard protocol that hold.
    Keyboard(u8),
    /// The colour of the background, 8 bits each.
    Background {
        /// Red.
        red: u8,
        /// Green.
        green: u8,
        /// Blue.
        blue: u8,
    },
    /// Where the cursor stands, from 0.
    Cursor {
        /// Rows from the top of the screen.
        row: u16,
        /// Columns from the left.
        column: u16,
    },
    /// The terminal's name and version (XTVERSION).
    Version(String),
}

/// A key with its modifiers, independent of the protocol it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// Held down with it. Shift is part of a [`Code::Char`] only where Ctrl or Alt is held and the character is a
    /// letter: otherwise the character says it.
    pub mods: Mods,
}

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// A character. Together with Ctrl or Alt it is the Latin one of that key, lower case, whatever the layout.
    Char(char),
    /// Enter.
    Enter,
    /// Tab; Shift+Tab is `Tab` with Shift.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Escape.
    Esc,
    /// The arrow.
    Up,
    /// The arrow.
    Down,
    /// The arrow.
    Left,
    /// The arrow.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// F1 and so on.
    Function(u8),
}

/// Keys held down with another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mods {
    /// Ctrl.
    pub ctrl: bool,
    /// Alt, Option or Meta.
    pub alt: bool,
    /// Shift.
    pub shift: bool,
}

impl Mods {
    /// None.
    pub const NONE: Self = Self { ctrl: false, alt: false, shift: false };
    /// Ctrl alone.
    pub const CTRL: Self = Self { ctrl: true, alt: false, shift: false };
    /// Alt alone.
    pub const ALT: Self = Self { ctrl: false, alt: true, shift: false };
    /// Shift alone.
    pub const SHIFT: Self = Self { ctrl: false, alt: false, shift: true };
}

impl Key {
    /// A key without modifiers.
    pub const fn plain(code: Code) -> Self {
        Self { code, mods: Mods::NONE }
    }

    /// A letter with Ctrl.
    pub const fn ctrl(letter: char) -> Self {
        Self { code: Code::Char(letter), mods: Mods::CTRL }
    }

    /// A letter with Alt.
    pub const fn alt(letter: char) -> Self {
        Self { code: Code::Char(letter), mods: Mods::ALT }
    }

    /// The character it types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            Code::Char(letter) if !self.mods.ctrl && !self.mods.alt => Some(letter),
            Code::Char(_)
            | Code::Enter
            | Code::Tab
            | Code::Backspace
            | Code::Delete
            | Code::Insert
            | Code::Esc
            | Code::Up
            | Code::Down
            | Code::Left
            | Code::Right
            | Code::Home
            | Code::End
            | Code::PageUp
            | Code::PageDown
            | Code::Function(_) => None,
        }
    }
}
