//! The modes of vi: which keys are commands, and what a command does to the draft.
//!
//! Only a part of vi: one register, the kill ring; no marks, macros, or ex commands. While text is inserted, and for
//! everything with Ctrl, the keymap of the prompt holds.

mod motion;
mod object;
mod operate;
mod parse;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::text::Text;
use super::undo::{Join, Undo};
use super::{Editor, segment};
use crate::front::repl::key::{Code, Key};
use parse::{Command, Find, Motion, Place, Selection, Stuck, Verb};

/// Longer rows of keys are no command.
const LONGEST_COMMAND: usize = 32;

/// Bytes that a count can make of a text: enough for every table and ruler, too little to fill the memory.
const MOST_REPEATED: usize = 1024 * 1024;

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was a command, or a part of one.
    Handled,
    /// The keymap says what it means.
    PassOn,
    /// Up from the first line: the earlier draft.
    Earlier,
    /// Down from the last line: the later draft.
    Later,
    /// Earlier drafts are to be searched.
    Search,
}

/// What keys mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Text.
    #[default]
    Insert,
    /// Commands.
    Normal,
    /// Commands for selected characters.
    Visual,
    /// Commands for selected lines.
    VisualLines,
}

/// What vi remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct Vi {
    mode: Mode,
    /// Keys of a command that is not complete.
    keys: String,
    /// Where the selection began.
    anchor: usize,
    find: Option<Find>,
    insertion: Insertion,
    /// The last change, and what was inserted with it.
    repeat: Option<(Command, Text)>,
}

/// Text being inserted.
#[derive(Clone, Debug, Default)]
struct Insertion {
    start: usize,
    /// What began it.
    command: Option<Command>,
    /// Whether the caret went elsewhere meanwhile.
    moved: bool,
}

impl Mode {
    /// For the status line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Normal => "normal",
            Self::Visual => "visual",
            Self::VisualLines => "visual line",
        }
    }
}

impl Vi {
    /// For the next draft.
    pub fn anew(&self) -> Self {
        Self { find: self.find, repeat: self.repeat.clone(), ..Self::default() }
    }

    /// The text has changed at `at`.
    pub fn changed(&mut self, at: usize) {
        self.insertion.start = self.insertion.start.min(at);
        match self.mode {
            Mode::Visual | Mode::VisualLines => self.mode = Mode::Normal,
            Mode::Insert | Mode::Normal => {}
        }
    }

    /// The caret has moved.
    pub fn moved(&mut self, caret: usize) {
        self.insertion.start = caret;
        self.insertion.moved = true;
    }
}

impl Editor {
    /// Takes a key, before the keymap does. Without the modes of vi it passes every key on.
    pub fn vi_key(&mut self, key: Key) -> Outcome {
        let Some(vi) = &mut self.vi else { return Outcome::PassOn };
        let pending = !vi.keys.is_empty();
        let selecting = match vi.mode {
            Mode::Insert if key == Key::plain(Code::Esc) => {
                self.leave_insert();
                return Outcome::Handled;
            }
            Mode::Insert => return Outcome::PassOn,
            Mode::Normal => false,
            Mode::Visual | Mode::VisualLines => true,
        };
        if key == Key::plain(Code::Esc) {
            vi.keys.clear();
            vi.mode = Mode::Normal;
            return if pending || selecting { Outcome::Handled } else { Outcome::PassOn };
        }
        if key == Key::ctrl('r') {
            vi.keys.clear();
            self.fresh();
            self.travel(Undo::redo);
            self.settle();
            return Outcome::Handled;
        }
        let Some(letter) = key.typed() else {
            vi.keys.clear();
            return Outcome::PassOn;
        };
        vi.keys.push(letter);
        match parse::parse(&vi.keys, selecting) {
            Err(Stuck::More) if vi.keys.len() < LONGEST_COMMAND => Outcome::Handled,
            Err(Stuck::More | Stuck::Unknown) => {
                vi.keys.clear();
                Outcome::Handled
            }
            Ok(command) => {
                vi.keys.clear();
                let outcome = self.run(command);
                self.settle();
                outcome
            }
        }
    }

    /// What keys mean now; `None` without the modes of vi.
    pub fn mode(&self) -> Option<Mode> {
        self.vi.as_ref().map(|vi| vi.mode)
    }

    /// What is selected.
    pub(super) fn selection(&self) -> Option<Range<usize>> {
        let vi = self.vi.as_ref()?;
        let text = self.text.as_str();
        let (first, last) = (vi.anchor.min(self.caret), vi.anchor.max(self.caret));
        match vi.mode {
            Mode::Insert | Mode::Normal => None,
            Mode::Visual => Some(first..segment::next(text, last)),
            Mode::VisualLines => Some(segment::line_start(text, first)..segment::line_end(text, last)),
        }
    }

    /// A draft begins: text is inserted.
    pub(super) fn begin(&mut self) {
        if self.vi.is_some() {
            self.undo.begin();
        }
    }

    /// Between commands the caret stands on a character, not behind the last one of its line.
    pub(super) fn settle(&mut self) {
        let text = self.text.as_str();
        match self.mode() {
            None | Some(Mode::Insert) => {}
            Some(Mode::Normal | Mode::Visual | Mode::VisualLines) => {
                let line = motion::line(text, self.caret);
                if self.caret == line.end && !line.is_empty() {
                    self.caret = segment::previous(text, self.caret);
                }
            }
        }
    }

    fn run(&mut self, command: Command) -> Outcome {
        let goal = self.goal.unwrap_or_else(|| self.line_column());
        self.fresh();
        match command.verb {
            Verb::Move(motion) => return self.run_motion(motion, command.count, goal),
            Verb::Search => return Outcome::Search,
            Verb::Operate(operator, target) => self.operate(operator, target, command.count),
            Verb::Insert(place) => self.open(place, command),
            Verb::Replace(letter) => self.replace_letters(letter, command),
            Verb::Spell(spelling) => self.spell_letters(spelling, command),
            Verb::Join => self.join(command),
            Verb::Put(place) => self.put(place, command),
            Verb::Undo => (0..command.count.unwrap_or(1)).for_each(|_| self.travel(Undo::undo)),
            Verb::Repeat => self.repeat(command.count),
            Verb::Select(selection) => self.select(selection),
            Verb::SelectObject(object) => {
                let count = command.count.unwrap_or(1);
                if let Some(range) = object::range(self.text.as_str(), self.caret, object, count) {
                    self.caret = segment::previous(self.text.as_str(), range.end).max(range.start);
                    self.set_anchor(range.start);
                }
            }
            Verb::Swap => {
                let caret = self.caret;
                self.caret = self.set_anchor(caret).unwrap_or(caret);
            }
        }
        Outcome::Handled
    }

    fn run_motion(&mut self, motion: Motion, count: Option<usize>, goal: usize) -> Outcome {
        if let (Motion::Find(find), Some(vi)) = (motion, &mut self.vi) {
            vi.find = Some(find);
        }
        let outside = match motion {
            Motion::Up if self.mode() == Some(Mode::Normal) => Outcome::Earlier,
            Motion::Down if self.mode() == Some(Mode::Normal) => Outcome::Later,
            Motion::Up
            | Motion::Down
            | Motion::Left
            | Motion::Right
            | Motion::WordForward(_)
            | Motion::WordBackward(_)
            | Motion::WordEnd(_)
            | Motion::LineStart
            | Motion::LineFilled
            | Motion::LineEnd
            | Motion::FirstLine
            | Motion::LastLine
            | Motion::Find(_)
            | Motion::FindAgain { .. } => Outcome::Handled,
        };
        let Some(reach) = self.reach(motion, count, goal) else { return outside };
        self.go(reach.to);
        self.goal = match motion {
            Motion::Up | Motion::Down => Some(goal),
            Motion::LineEnd => Some(usize::MAX),
            Motion::Left
            | Motion::Right
            | Motion::WordForward(_)
            | Motion::WordBackward(_)
            | Motion::WordEnd(_)
            | Motion::LineStart
            | Motion::LineFilled
            | Motion::FirstLine
            | Motion::LastLine
            | Motion::Find(_)
            | Motion::FindAgain { .. } => None,
        };
        Outcome::Handled
    }

    fn select(&mut self, selection: Selection) {
        let Some(vi) = &mut self.vi else { return };
        let wanted = match selection {
            Selection::Characters => Mode::Visual,
            Selection::Lines => Mode::VisualLines,
        };
        match vi.mode {
            mode if mode == wanted => vi.mode = Mode::Normal,
            Mode::Visual | Mode::VisualLines => vi.mode = wanted,
            Mode::Insert | Mode::Normal => {
                vi.mode = wanted;
                vi.anchor = self.caret;
            }
        }
    }

    /// The selection begins at `at`; where it began before.
    fn set_anchor(&mut self, at: usize) -> Option<usize> {
        self.vi.as_mut().map(|vi| std::mem::replace(&mut vi.anchor, at))
    }

    fn set_mode(&mut self, mode: Mode) {
        if let Some(vi) = &mut self.vi {
            vi.mode = mode;
        }
    }

    /// Remembers a change that `.` makes again.
    fn note(&mut self, command: Command, inserted: Text) {
        if let Some(vi) = &mut self.vi {
            vi.repeat = Some((command, inserted));
        }
    }

    fn repeat(&mut self, count: Option<usize>) {
        let Some((mut command, inserted)) = self.vi.as_ref().and_then(|vi| vi.repeat.clone()) else { return };
        command.count = count.or(command.count);
        self.run(command);
        if self.mode() == Some(Mode::Insert) {
            self.change(self.caret..self.caret, &inserted, Join::Alone);
            self.leave_insert();
        }
    }

    /// Text is inserted at the caret from now on; it belongs to the step that has begun.
    fn enter_insert(&mut self, command: Command) {
        let start = self.caret;
        if let Some(vi) = &mut self.vi {
            vi.mode = Mode::Insert;
            vi.insertion = Insertion { start, command: Some(command), moved: false };
        }
    }

    fn leave_insert(&mut self) {
        let Some(vi) = &mut self.vi else { return };
        let insertion = std::mem::take(&mut vi.insertion);
        let inserted = self.text.slice(&(insertion.start..self.caret));
        if let Some(command) = insertion.command {
            let more = command.count.unwrap_or(1).saturating_sub(1);
            if let (Verb::Insert(place), false, 1..) = (&command.verb, insertion.moved || inserted.is_empty(), more) {
                let mut copy = inserted.clone();
                if matches!(place, Place::Below | Place::Above) {
                    copy.push_front(&Text::typed("\n"));
                }
                self.change(self.caret..self.caret, &copy.repeated(more, MOST_REPEATED), Join::Alone);
            }
            self.note(command, inserted);
        }
        self.set_mode(Mode::Normal);
        self.fresh();
        self.undo.end();
        let start = segment::line_start(self.text.as_str(), self.caret);
        self.caret = segment::previous(self.text.as_str(), self.caret).max(start);
    }
}
