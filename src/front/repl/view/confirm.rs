//! A question whose answer cannot be taken back: yes or no, and no key that was meant for something else says yes.
//!
//! It decides nothing but which key means what; what is done comes after it.

use ratatui::text::{Line, Span};

use super::Look;
use super::row::{fitted, plain, wrapped};
use crate::base::text::width::width;
use crate::front::repl::key::{Code, Key, Mods};

/// Columns before the question and its answers.
const INDENT: usize = 2;
/// Columns between the answers.
const GAP: usize = 3;
/// Rows of the question that are shown at most.
const MOST_ROWS: usize = 4;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirm {
    question: String,
    /// What yes does, with its letter: `[y]es, delete it`.
    yes: &'static str,
    selected: Option<Answer>,
    /// Whether it has been on the screen: what was pressed before cannot say yes.
    pub shown: bool,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Do it.
    Yes,
    /// Leave it.
    No,
}

impl Confirm {
    /// A question that nobody has seen yet.
    pub fn new(question: impl Into<String>, yes: &'static str) -> Self {
        Self { question: question.into(), yes, selected: None, shown: false }
    }

    /// What is asked.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// What a key answers. Letters are the Latin ones, digits stand for the same, and Enter takes what arrows have gone to.
    pub fn key(&mut self, key: Key) -> Option<Answer> {
        // No is never too early.
        if key.code == Code::Esc || [Key::ctrl('c'), Key::ctrl('g')].contains(&key) {
            return Some(Answer::No);
        }
        if !self.shown || (key.mods != Mods::NONE && key.mods != Mods::SHIFT) {
            return None;
        }
        match key.code {
            Code::Char('y' | 'Y' | '1') => Some(Answer::Yes),
            Code::Char('n' | 'N' | '2') => Some(Answer::No),
            Code::Enter => self.selected,
            Code::Left | Code::Right | Code::Up | Code::Down | Code::Tab => {
                self.selected = Some(match self.selected {
                    Some(Answer::Yes) => Answer::No,
                    Some(Answer::No) | None => Answer::Yes,
                });
                None
            }
            Code::Char(_)
            | Code::Backspace
            | Code::Delete
            | Code::Insert
            | Code::Esc
            | Code::Home
            | Code::End
            | Code::PageUp
            | Code::PageDown
            | Code::Function(_) => None,
        }
    }

    /// The rows: the question, then the answers; none wider than the screen.
    pub fn rows(&self, look: &Look) -> Vec<Line<'static>> {
        let margin = " ".repeat(INDENT);
        let question = plain(&self.question);
        let broken = wrapped(&question, look.width.saturating_sub(INDENT));
        let mut rows: Vec<Line<'static>> =
            broken.into_iter().take(MOST_ROWS).map(|row| Line::from(format!("{margin}{row}"))).collect();
        let mut spans = vec![Span::raw(margin)];
        for (answer, words) in [(Answer::Yes, self.yes), (Answer::No, "[n]o")] {
            if width(&spans.iter().map(|span| span.content.as_ref()).collect::<String>()) > INDENT {
                spans.push(Span::raw(" ".repeat(GAP)));
            }
            let is_selected = self.selected == Some(answer);
            let (mark, style) = if is_selected {
                (format!("{} ", look.glyphs.selected), look.theme.selected)
            } else {
                Default::default()
            };
            spans.push(Span::styled(format!("{mark}{words}"), style));
        }
        rows.push(fitted(Line::from(spans), look));
        rows.into_iter().map(|row| fitted(row, look)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::view::testing::{look, picture};

    #[test]
    fn only_a_latin_letter_a_digit_or_a_chosen_answer_says_yes_and_only_once_it_was_seen() {
        let mut confirm = Confirm::new("delete \u{1b}[2J?", "[y]es, delete it");
        let typed = |letter| Key::plain(Code::Char(letter));
        assert_eq!((confirm.key(typed('y')), confirm.key(Key::plain(Code::Enter))), (None, None));
        assert_eq!(confirm.key(Key::plain(Code::Esc)), Some(Answer::No));
        confirm.shown = true;
        for (key, answer) in [
            (typed('н'), None),
            (typed('d'), None),
            (Key::ctrl('y'), None),
            (Key::plain(Code::Enter), None),
            (typed('y'), Some(Answer::Yes)),
            (typed('1'), Some(Answer::Yes)),
            (typed('N'), Some(Answer::No)),
            (typed('2'), Some(Answer::No)),
            (Key::plain(Code::Right), None),
            (Key::plain(Code::Enter), Some(Answer::Yes)),
            (Key::plain(Code::Right), None),
            (Key::plain(Code::Enter), Some(Answer::No)),
        ] {
            assert_eq!(confirm.key(key), answer, "{key:?}");
        }
        insta::assert_snapshot!(picture(&confirm.rows(&look(40))), @"
        |  delete ␛[2J?
        |  [y]es, delete it   ▸ [n]o
        ");
        assert!(confirm.rows(&look(5)).iter().all(|row| row.width() <= 5));
    }
}
