//! Going over one line of code from its left, and the few things that need a look ahead.
//!
//! Knows no grammar.

use super::grammar::Quote;
use super::lexer::{Piece, Role};

/// A line that is being read.
pub struct Scan<'a> {
    /// What is not read yet.
    pub rest: &'a str,
    /// What is read.
    pub pieces: Vec<Piece<'a>>,
    /// The letter just before; a space at the beginning.
    pub before: char,
    /// The last letter that is no blank; `\0` at the beginning.
    pub last: char,
    /// What kind of word was the last one.
    pub word: Word,
}

/// A word, by whether a string may follow it at once, as in `rb'…'`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// It may.
    Prefix,
    /// It may not.
    Other,
}

impl<'a> Scan<'a> {
    /// At the beginning of a line.
    pub fn new(line: &'a str) -> Self {
        Self { rest: line, pieces: Vec::new(), before: ' ', last: '\0', word: Word::Other }
    }

    /// The next `bytes` are of `role`; all, if they would cut a letter.
    pub fn take(&mut self, bytes: usize, role: Role) {
        let (piece, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        let Some(before) = piece.chars().next_back() else { return };
        self.before = before;
        self.last = piece.trim_end().chars().next_back().unwrap_or(self.last);
        self.pieces.push((role, piece));
    }

    /// All that `holds` is of `role`.
    pub fn take_while(&mut self, holds: fn(char) -> bool, role: Role) {
        self.take(self.rest.find(|letter| !holds(letter)).unwrap_or(self.rest.len()), role);
    }

    /// A string up to and with its close, or to the end of the line. Whether it was closed.
    pub fn text(&mut self, close: &str, escapes: bool, role: Role) -> bool {
        let mut taken = 0;
        while let Some(rest) = self.rest.get(taken..).filter(|rest| !rest.is_empty()) {
            if rest.starts_with(close) {
                self.take(taken + close.len(), role);
                return true;
            }
            let mut letters = rest.chars();
            let letter = letters.next().map_or(1, char::len_utf8);
            let escaped = if escapes && rest.starts_with('\\') { letters.next().map_or(0, char::len_utf8) } else { 0 };
            taken += letter + escaped;
        }
        self.take(taken, role);
        false
    }
}

/// Whether a word may stand before a string that it belongs to: `rb'…'`, `L'…'`, but not `it's`.
pub fn is_prefix(word: &str) -> bool {
    word.len() <= 2 && word.chars().all(|letter| "bcflru8".contains(letter.to_ascii_lowercase()))
}

/// Whether a command follows this reserved word of a shell.
pub fn leads_to_command(word: &str) -> bool {
    matches!(word, "if" | "then" | "else" | "elif" | "do" | "while" | "until" | "exec" | "eval" | "sudo")
}

/// `'x'` and `'\n'`, but no lifetime.
pub fn rust_letter(scan: &mut Scan<'_>) -> bool {
    let Some(body) = scan.rest.strip_prefix('\'') else { return false };
    let mut letters = body.chars();
    let length = match letters.next() {
        Some('\\') => body.char_indices().skip(2).find(|(_, letter)| *letter == '\'').map(|(at, _)| at),
        Some(letter) => letters.next().filter(|next| *next == '\'').map(|_| letter.len_utf8()),
        None => None,
    };
    match length {
        Some(length) => scan.take(length + 2, Role::String),
        None => scan.take(1, Role::Plain),
    }
    true
}

/// How many bytes a pattern and its `/` take; 0 if it does not end on this line.
pub fn pattern(text: &str) -> usize {
    let (mut class, mut escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return if at == 0 { 0 } else { at + 1 },
            _ => {}
        }
    }
    0
}

/// Whether the string that begins `text` is followed by a colon.
pub fn is_key(text: &str, quote: Quote) -> bool {
    let mut scan = Scan::new(text.strip_prefix(quote.open).unwrap_or_default());
    scan.text(quote.close, quote.escapes, Role::Plain) && scan.rest.trim_start().starts_with(':')
}

/// The word that ends the document announced by `<<`.
pub fn document_word(text: &str) -> Option<String> {
    let word = text.strip_prefix("<<")?;
    let word = word.strip_prefix('-').unwrap_or(word).trim_start_matches([' ', '\'', '"', '\\']);
    let name: String = word.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    (!name.is_empty() && !name.starts_with(|letter: char| letter.is_ascii_digit())).then_some(name)
}
