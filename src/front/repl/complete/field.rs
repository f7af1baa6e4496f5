//! A line of text within a list: what is searched for, or a name that is asked for. The caret is always at its end.

use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::visible;
use crate::base::text::width::{cut, tail, width};
use crate::front::repl::key::{Code, Key};
use crate::front::repl::view::Look;

/// Characters it takes; nobody searches for more, and no name is longer.
const MOST_CHARS: usize = 500;

/// A line that is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
}

impl Field {
    /// One that holds a text already.
    pub fn of(text: &str) -> Self {
        let mut field = Self::default();
        field.paste(text);
        field
    }

    /// What is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is nothing to go by.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Takes a key; `false` where it is none that writes or deletes.
    pub fn key(&mut self, key: Key) -> bool {
        if let Some(letter) = key.typed() {
            self.paste(letter.encode_utf8(&mut [0; 4]));
            return true;
        }
        let end = match (key.code, key.mods.ctrl) {
            (Code::Backspace, false) | (Code::Char('h'), true) => {
                self.text.grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
            }
            (Code::Char('w'), true) | (Code::Backspace, true) => {
                let end = self.text.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
                (end..=self.text.len()).find(|end| self.text.is_char_boundary(*end)).unwrap_or(0)
            }
            (Code::Char('u'), true) => 0,
            _ => return false,
        };
        self.text.truncate(end);
        true
    }

    /// Puts the first line of a text behind what is written.
    pub fn paste(&mut self, text: &str) {
        let line = if text.trim().is_empty() { text } else { text.trim_start_matches('\n') };
        let room = MOST_CHARS.saturating_sub(self.text.chars().count());
        self.text.extend(line.lines().next().unwrap_or_default().chars().take(room));
    }

    /// The line after `margin`, its end if it is too long, or `empty` dimmed; and the column of the caret.
    pub fn row(&self, margin: Span<'static>, empty: &str, look: &Look) -> (Line<'static>, usize) {
        let inner = look.width.saturating_sub(width(&margin.content));
        // The caret needs a column behind the text.
        let shown = visible::line(&self.text).replace('\t', " ");
        let shown = tail(&shown, inner.saturating_sub(1)).to_owned();
        let column = (width(&margin.content) + width(&shown)).min(look.width.saturating_sub(1));
        let text = if shown.is_empty() {
            Span::styled(cut(empty, inner, look.glyphs.ellipsis), look.theme.dim)
        } else {
            Span::styled(shown, look.theme.person)
        };
        (Line::from(vec![margin, text]), column)
    }
}

/// What keys do, as many of them as fit into so many columns, the first ones first.
pub fn hints(keys: &[&str], columns: usize, look: &Look) -> String {
    let between = format!(" {} ", look.glyphs.dot);
    let mut text = String::new();
    for key in keys {
        let gap = if text.is_empty() { "" } else { between.as_str() };
        if width(&text) + width(gap) + width(key) > columns {
            break;
        }
        text.push_str(gap);
        text.push_str(key);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::view::testing::look;

    #[test]
    fn what_is_written_and_deleted() {
        let mut field = Field::of("one  two\nthree");
        assert_eq!(field.text(), "one  two");
        assert!(field.key(Key::plain(Code::Char('é'))) && field.key(Key::plain(Code::Backspace)));
        assert!(field.key(Key::ctrl('w')));
        assert_eq!(field.text(), "one  ");
        assert!(!field.key(Key::plain(Code::Up)) && !field.key(Key::ctrl('t')));
        field.key(Key::ctrl('u'));
        assert!(field.is_blank());
        field.paste(&"x".repeat(2 * MOST_CHARS));
        assert_eq!(field.text().len(), MOST_CHARS);
        let (row, column) = field.row(Span::raw("  "), "nothing", &look(10));
        assert_eq!((row.to_string(), column), ("  xxxxxxx".to_owned(), 9));
    }

    #[test]
    fn the_first_hints_that_fit_are_shown() {
        assert_eq!(hints(&["enter go", "esc close"], 40, &look(40)), "enter go · esc close");
        assert_eq!(hints(&["enter go", "esc close"], 12, &look(12)), "enter go");
        assert_eq!(hints(&["enter go"], 3, &look(3)), "");
    }
}
