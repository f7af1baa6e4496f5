//! One line of Markdown: what it begins with, by columns. The rules are those of CommonMark 0.31, section 4 and 5.
//!
//! Knows nothing of the lines before it.

use crate::base::text::width;

/// Columns from one tab stop to the next (CommonMark 2.2).
const TAB_COLUMNS: usize = 4;
/// From this indentation on, text is code (CommonMark 4.4).
pub const CODE_COLUMNS: usize = 4;

/// A line that is being read from its left, tabs by the columns they stand for.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    /// What is left; the line has no line end.
    rest: &'a str,
    column: usize,
    /// Columns of a tab that was read in part.
    spare: usize,
}

impl<'a> Cursor<'a> {
    /// At the left of a line.
    pub fn new(line: &'a str) -> Self {
        Self { rest: line, column: 0, spare: 0 }
    }

    /// Columns of the blanks to come.
    pub fn indent(&self) -> usize {
        let mut column = self.column + self.spare;
        for letter in self.rest.bytes() {
            match letter {
                b' ' => column += 1,
                b'\t' => column = stop_after(column),
                _ => break,
            }
        }
        column - self.column
    }

    /// Whether only blanks are left.
    pub fn is_blank(&self) -> bool {
        self.rest.bytes().all(|letter| matches!(letter, b' ' | b'\t'))
    }

    /// The line without the blanks at its left.
    pub fn text(&self) -> &'a str {
        self.rest.trim_start_matches([' ', '\t'])
    }

    /// Everything that is left, with its indentation.
    pub fn content(&self) -> String {
        format!("{}{}", " ".repeat(self.spare), self.rest)
    }

    /// Goes over at most so many columns of blanks.
    pub fn skip(&mut self, columns: usize) {
        let mut left = columns;
        while left > 0 {
            if self.spare > 0 {
                let taken = self.spare.min(left);
                self.spare -= taken;
                self.column += taken;
                left -= taken;
            } else if let Some(rest) = self.rest.strip_prefix(' ') {
                self.rest = rest;
                self.column += 1;
                left -= 1;
            } else if let Some(rest) = self.rest.strip_prefix('\t') {
                self.rest = rest;
                self.spare = stop_after(self.column) - self.column;
            } else {
                break;
            }
        }
    }

    /// Goes over what begins the rest of the line.
    fn pass(&mut self, mark: &str) {
        if let Some(rest) = self.rest.strip_prefix(mark) {
            self.rest = rest;
            self.column += width::width(mark);
        }
    }

    /// Goes over `>` and the blank after it, if there is one.
    pub fn quote(&mut self) -> bool {
        if self.indent() >= CODE_COLUMNS || !self.text().starts_with('>') {
            return false;
        }
        self.skip(self.indent());
        self.pass(">");
        self.skip(1);
        true
    }

    /// Goes over `[ ]` or `[x]` at the beginning of a list item: whether it is done.
    pub fn task(&mut self) -> Option<bool> {
        let done = match self.rest.get(..4)? {
            "[ ] " => false,
            "[x] " | "[X] " => true,
            _ => return None,
        };
        self.rest = self.rest.get(4..)?;
        self.column += 4;
        Some(done)
    }

    /// Goes over the mark of a list item.
    pub fn item(&mut self, within_paragraph: bool) -> Option<Item> {
        let indent = self.indent();
        if indent >= CODE_COLUMNS {
            return None;
        }
        let text = self.text();
        let number: &str = text.get(..digits(text)).unwrap_or_default();
        let mark = text.strip_prefix(number).and_then(|rest| rest.chars().next())?;
        let kind = match (mark, number.is_empty()) {
            ('-' | '*' | '+', true) => Mark::Bullet(mark),
            ('.' | ')', false) => Mark::Number(number.parse().ok()?, mark),
            _ => return None,
        };
        let after = text.strip_prefix(number)?.strip_prefix(mark)?;
        let empty = after.trim_matches([' ', '\t']).is_empty();
        let interrupts = !empty && matches!(kind, Mark::Bullet(_) | Mark::Number(1, _));
        if !(empty || after.starts_with([' ', '\t'])) || (within_paragraph && !interrupts) || is_rule(text) {
            return None;
        }
        let width = number.len() + mark.len_utf8();
        self.skip(indent);
        self.pass(text.get(..width)?);
        // Five blanks and more: one of them belongs to the mark, the others to code.
        let blanks = self.indent();
        let gap = if empty || blanks > CODE_COLUMNS { 1 } else { blanks };
        self.skip(gap);
        Some(Item { kind, columns: indent + width + gap })
    }
}

/// The mark of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Which mark it is.
    pub kind: Mark,
    /// Columns from the left of the mark's container to the left of the item's content.
    pub columns: usize,
}

/// What a list item begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `-`, `*` or `+`.
    Bullet(char),
    /// A number with `.` or `)`.
    Number(u64, char),
}

impl Mark {
    /// Whether an item of this mark goes on with a list of that one.
    pub fn continues(self, other: Self) -> bool {
        match (self, other) {
            (Self::Bullet(mark), Self::Bullet(other)) | (Self::Number(_, mark), Self::Number(_, other)) => {
                mark == other
            }
            (Self::Bullet(_), Self::Number(..)) | (Self::Number(..), Self::Bullet(_)) => false,
        }
    }
}

/// Nine digits at most (CommonMark 5.2); 0 for more.
fn digits(text: &str) -> usize {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    if count <= 9 { count } else { 0 }
}

fn stop_after(column: usize) -> usize {
    (column / TAB_COLUMNS + 1) * TAB_COLUMNS
}

/// What encloses a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// `` ` `` or `~`.
    pub mark: char,
    /// How many of them, at least 3.
    pub length: usize,
    /// Columns before it, which are taken off the code too.
    pub indent: usize,
}

/// A fence that opens a code block, and what is said of the code.
pub fn fence<'a>(cursor: &Cursor<'a>) -> Option<(Fence, &'a str)> {
    let (indent, text) = (cursor.indent(), cursor.text());
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    let is_fence = indent < CODE_COLUMNS && length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then_some((Fence { mark, length, indent }, info.trim()))
}

/// Whether a line closes `fence`.
pub fn closes(cursor: &Cursor<'_>, fence: Fence) -> bool {
    let text = cursor.text();
    let rest = text.trim_start_matches(fence.mark);
    cursor.indent() < CODE_COLUMNS && text.len() - rest.len() >= fence.length && rest.trim().is_empty()
}

/// The text of a heading with `#`.
pub fn heading(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim();
    let open = rest.trim_end_matches('#');
    let closed = open.is_empty() || open.ends_with([' ', '\t']);
    Some(if closed { open.trim_end() } else { rest })
}

/// Whether a line makes a heading of the paragraph above it.
pub fn is_underline(text: &str) -> bool {
    let text = text.trim_end();
    let all = |mark: char| text.chars().all(|letter| letter == mark);
    !text.is_empty() && (all('=') || all('-'))
}

/// Whether a line is a thematic break.
pub fn is_rule(text: &str) -> bool {
    let mut marks = text.chars().filter(|letter| !matches!(letter, ' ' | '\t'));
    let Some(mark @ ('-' | '*' | '_')) = marks.next() else { return false };
    let (mut count, mut same) = (1, true);
    for letter in marks {
        count += 1;
        same &= letter == mark;
    }
    same && count >= 3
}
