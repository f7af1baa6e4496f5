//! The word that is being written, as far as something can complete it.
//!
//! Looks only at what was typed: nothing completes a paste.

use std::ops::Range;

use crate::base::text::mention;
use crate::front::repl::editor::draft::{Draft, Piece};

/// A word that can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it names.
    pub kind: Kind,
    /// What a choice replaces, in bytes of the draft's text.
    pub range: Range<usize>,
    /// What is looked for: without slash, `@` and quotes.
    pub query: String,
    /// What stands behind it.
    pub after: After,
}

/// What a word names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A command.
    Command,
    /// What follows the command of this name, up to the end of the draft.
    Argument(String),
    /// A file or a folder.
    Path,
}

/// What stands behind a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// White space of this many bytes, the first of which separates.
    Blank(usize),
    /// Nothing, or something that is not apart from it.
    Other,
}

/// The bytes at the beginning of a draft that were typed, as [`crate::front::command::slash::classify`] wants to know.
pub fn typed(draft: &Draft) -> usize {
    match draft.pieces.first() {
        Some(Piece::Typed(text)) => text.len(),
        Some(Piece::Pasted(_) | Piece::Picture(_)) | None => 0,
    }
}

/// The word that holds the caret, or ends there. `caret` counts bytes of the draft's text.
pub fn at(draft: &Draft, caret: usize) -> Option<Word> {
    let (text, begin) = piece(draft, caret)?;
    let place = caret - begin;
    let command = if begin == 0 { text.strip_prefix('/') } else { None };
    let first = command.map(|rest| rest.split(char::is_whitespace).next().unwrap_or_default());
    if let Some(name) = first.filter(|name| !name.contains('/')) {
        // The slash counts.
        if place <= name.len() + 1 {
            let range = 0..name.len() + 1;
            let after = after(text, range.end);
            return (place > 0).then(|| Word { kind: Kind::Command, range, query: name.to_owned(), after });
        }
    }
    if begin == 0 && text.starts_with('!') {
        return None;
    }
    if let Some(mention) = mention::at(text, place) {
        let after = after(text, mention.range.end);
        let range = begin + mention.range.start..begin + mention.range.end;
        return Some(Word { kind: Kind::Path, range, query: mention.path, after });
    }
    argument(text, first.filter(|name| !name.contains('/'))?, place).filter(|_| draft.pieces.len() == 1)
}

/// The argument of the command `name`, with which `text` begins. One line, and the caret stands at its end.
fn argument(text: &str, name: &str, place: usize) -> Option<Word> {
    let rest = text.get(name.len() + 1..)?;
    let query = rest.trim_start();
    let start = text.len() - query.len();
    let is_one_line = !rest.contains('\n');
    (is_one_line && place == text.len()).then(|| Word {
        kind: Kind::Argument(name.to_owned()),
        range: start..text.len(),
        query: query.to_owned(),
        after: After::Other,
    })
}

fn after(text: &str, end: usize) -> After {
    let next = text.get(end..).and_then(|rest| rest.chars().next());
    next.filter(|letter| letter.is_whitespace()).map_or(After::Other, |letter| After::Blank(letter.len_utf8()))
}

/// The typed piece that holds a place or ends there, and where it begins.
fn piece(draft: &Draft, place: usize) -> Option<(&str, usize)> {
    let mut begin = 0;
    for piece in &draft.pieces {
        let end = begin + piece.text().len();
        if let Piece::Typed(text) = piece
            && (begin..=end).contains(&place)
            && text.is_char_boundary(place - begin)
        {
            return Some((text, begin));
        }
        begin = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The word at the `|`, in short.
    fn word(marked: &str) -> Option<String> {
        let caret = marked.find('|').unwrap();
        let word = at(&Draft::typed(marked.replace('|', "")), caret)?;
        Some(format!("{:?} {:?} {}", word.kind, word.range, word.query))
    }

    #[test]
    fn words_are_found_where_they_can_be_completed() {
        for (marked, expected) in [
            ("/|", "Command 0..1 "),
            ("/he|lp", "Command 0..5 help"),
            ("/help| me", "Command 0..5 help"),
            ("/theme |", "Argument(\"theme\") 7..7 "),
            ("/theme  da|", "Argument(\"theme\") 8..10 da"),
            ("see @sr|c/x now", "Path 4..10 src/x"),
            ("see @|", "Path 4..5 "),
            ("/new @a|", "Path 5..7 a"),
            ("/usr/x @a|", "Path 7..9 a"),
            ("see @\"my fi|", "Path 4..11 my fi"),
            ("see @\"my |dir/\" x", "Path 4..14 my dir/"),
        ] {
            assert_eq!(word(marked).as_deref(), Some(expected), "{marked}");
        }
        let none = ["|", "|/help", "a|", " /he|", "/usr/b|", "!cat @a|", "a@b|", "|@a", "/theme d|a", "/x a\n|"];
        for marked in none {
            assert_eq!(word(marked), None, "{marked}");
        }
    }

    #[test]
    fn a_paste_is_not_completed() {
        let draft = Draft { pieces: vec![Piece::Pasted("/a @b".to_owned()), Piece::Typed("/c @d".to_owned())] };
        assert_eq!(at(&draft, 2), None);
        assert_eq!(at(&draft, 7), None, "a slash is a command's only at the beginning");
        assert_eq!(at(&draft, 10).map(|word| word.range), Some(8..10));
        assert_eq!(typed(&draft), 0);
    }

    proptest! {
        #[test]
        fn a_word_lies_in_the_draft(text in "[/@\"! a\nä天\u{301}]{0,12}", caret in 0usize..30) {
            if let Some(word) = at(&Draft::typed(text.clone()), caret) {
                prop_assert!(text.get(word.range.clone()).is_some());
                prop_assert!(word.range.start <= caret && caret <= word.range.end);
            }
        }
    }
}
