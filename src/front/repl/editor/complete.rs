//! Which word of a draft could be completed: the name of a command or what follows it, or a file after `@`.
//!
//! Knows neither commands nor files; those who do ask for the word and put another one in its place.

use std::ops::Range;

use super::text::{CHIP, Text};
use super::undo::Join;
use super::{Editor, segment};

/// A word that ends at the caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// All of it, with `/`, `@` and quotes, for [`Editor::replace`]; good as long as the draft does not change.
    pub range: Range<usize>,
    /// What has been written of it, without these.
    pub text: String,
    /// What it could be.
    pub kind: Kind,
}

/// What a word could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The name of a command: `/mo`.
    Command,
    /// What follows a command on its line, all of it.
    Argument {
        /// The command's name, without `/`.
        command: String,
    },
    /// A file: `@src/ma`, or `@"my do`, which may hold blanks.
    File {
        /// Whether it began with a quotation mark.
        quoted: bool,
    },
}

impl Editor {
    /// The word before the caret, if it is one that could be completed. What was pasted names no file and no command.
    pub fn word_before_caret(&self) -> Option<Word> {
        let before = segment::before(self.text.as_str(), self.caret);
        self.file(before).or_else(|| self.command(before))
    }

    /// Puts a word in the place of another; the caret stands behind it.
    pub fn replace(&mut self, range: Range<usize>, word: &str) {
        self.fresh();
        self.change(range, &Text::typed(word), Join::Alone);
        self.undo.seal();
        self.settle();
    }

    fn file(&self, before: &str) -> Option<Word> {
        let line = segment::line_start(before, before.len());
        let begins = |at: usize| {
            let first = segment::before(before, at).chars().next_back().is_none_or(char::is_whitespace);
            first && self.text.is_typed(at)
        };
        let word = |at: usize, text: &str, quoted| {
            let kind = Kind::File { quoted };
            (!text.contains(CHIP)).then(|| Word { range: at..before.len(), text: text.to_owned(), kind })
        };
        if let Some((head, text)) = segment::after(before, line).rsplit_once("@\"") {
            let at = line + head.len();
            if begins(at) && !text.contains('"') {
                return word(at, text, true);
            }
        }
        let text = before.rsplit(char::is_whitespace).next()?.strip_prefix('@')?;
        let at = before.len() - text.len() - 1;
        if begins(at) && !text.starts_with('"') { word(at, text, false) } else { None }
    }

    fn command(&self, before: &str) -> Option<Word> {
        let line = before.strip_prefix('/').filter(|line| self.text.is_typed(0) && !line.contains(['\n', CHIP]))?;
        let (name, argument) = match line.split_once(char::is_whitespace) {
            Some((name, argument)) => (name, Some(argument)),
            None => (line, None),
        };
        // A second slash makes a path of it: `/usr/bin/x crashes` is text.
        if name.contains('/') {
            return None;
        }
        Some(match argument.map(str::trim_start) {
            None => Word { range: 0..before.len(), text: name.to_owned(), kind: Kind::Command },
            Some(argument) => Word {
                range: before.len() - argument.len()..before.len(),
                text: argument.to_owned(),
                kind: Kind::Argument { command: name.to_owned() },
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::editor::Editing;
    use crate::front::repl::key::action::Edit;

    fn word(text: &str) -> Option<(String, Kind)> {
        let mut editor = Editor::new(Editing::Emacs);
        let (before, after) = text.split_once('|').unwrap_or((text, ""));
        editor.insert(before);
        editor.insert(after);
        after.chars().for_each(|_| editor.edit(Edit::Left));
        editor.word_before_caret().map(|word| (word.text, word.kind))
    }

    #[test]
    fn words_that_could_be_completed() {
        let file = |text: &str| Some((text.to_owned(), Kind::File { quoted: false }));
        let quoted = |text: &str| Some((text.to_owned(), Kind::File { quoted: true }));
        let command = |text: &str| Some((text.to_owned(), Kind::Command));
        let argument = |text: &str| Some((text.to_owned(), Kind::Argument { command: "model".to_owned() }));
        for (text, expected) in [
            ("", None),
            ("/", command("")),
            ("/mo", command("mo")),
            ("/m|odel", command("m")),
            ("/model ", argument("")),
            ("/model  son 4", argument("son 4")),
            ("/model son\n", None),
            ("/usr/bin/x crashes", None),
            (" /mo", None),
            ("see /mo", None),
            ("@", file("")),
            ("see @src/ma", file("src/ma")),
            ("see\n@天", file("天")),
            ("me@example", None),
            ("@a b", None),
            ("see @\"my do", quoted("my do")),
            ("see @\"my do\" and", None),
            ("see @\"my do\" @x", file("x")),
            ("/model @x", file("x")),
        ] {
            assert_eq!(word(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_was_pasted_names_nothing() {
        let mut editor = Editor::new(Editing::Emacs);
        editor.paste("/he @fi");
        assert_eq!(editor.word_before_caret(), None);
    }

    #[test]
    fn a_word_is_replaced_in_one_step() {
        let mut editor = Editor::new(Editing::Emacs);
        editor.insert("see @sr");
        let word = editor.word_before_caret().unwrap();
        editor.replace(word.range, "@src/main.rs ");
        editor.insert("please");
        assert_eq!(editor.draft().text(), "see @src/main.rs please");
        editor.edit(Edit::Undo);
        editor.edit(Edit::Undo);
        assert_eq!(editor.draft().text(), "see @sr");
    }
}
