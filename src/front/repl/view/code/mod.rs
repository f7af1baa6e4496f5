//! Code in colours, line by line.
//!
//! A small reader of its own: it knows of each language its comments, strings, numbers and words, keeps what a line
//! leaves open for the next, and takes microseconds a line. Full grammars were measured and cost too much for six
//! colours: syntect with its own regular expressions takes 20 to 50 ms for the first line of a language, 4 s for 1 MB of
//! Rust, and 5 to 25 MB of memory for every language met.
//!
//! Never wraps or changes a line, but for what [`visible`] spells and tabs, which become spaces.

pub mod grammar;
pub mod languages;
pub mod lexer;
pub mod scan;
pub mod words;

use super::Look;
use super::theme::Theme;
use crate::base::text::{visible, width};
use lexer::{Lexer, Role};
use ratatui::style::Style;
use ratatui::text::Span;

/// Columns from one tab stop to the next: what most editors show code with, and narrow enough for 40 columns.
const TAB_COLUMNS: usize = 4;
/// A line longer than this, in bytes, is left plain: it was made by a program, and nobody reads its colours.
const COLOURED_LINE_BYTES: usize = 2_000;

/// Where the highlighting of a text stands.
#[derive(Clone, Debug)]
pub struct Highlighter {
    lexer: Option<Lexer>,
}

impl Highlighter {
    /// At the beginning of a text in `language`: a fence word (`rs`, `TypeScript`), an ending, or the path of a file. What
    /// is not known is left plain.
    pub fn new(language: &str) -> Self {
        Self { lexer: Lexer::new(language) }
    }

    /// The next line, without its line end. Without trailing blanks and control characters.
    pub fn line(&mut self, line: &str, theme: &Theme) -> Vec<Span<'static>> {
        let line = expand(line.trim_end());
        let Some(lexer) = &mut self.lexer else { return plain(&line, theme) };
        let pieces = lexer.line(&line);
        if line.len() > COLOURED_LINE_BYTES {
            return plain(&line, theme);
        }
        let mut spans: Vec<Span<'static>> = Vec::with_capacity(pieces.len());
        for (role, piece) in pieces {
            let style = style(role, theme);
            match spans.last_mut() {
                // Blanks join what stands before them: fewer changes of colour.
                Some(last) if last.style == style || (piece.trim().is_empty() && is_bare(last.style)) => {
                    last.content.to_mut().push_str(piece);
                }
                Some(_) | None => spans.push(Span::styled(piece.to_owned(), style)),
            }
        }
        spans
    }
}

/// A whole text, line by line, as [`Highlighter::line`] shows it.
pub fn lines(language_or_path: &str, text: &str, look: &Look) -> Vec<Vec<Span<'static>>> {
    let mut highlighter = Highlighter::new(language_or_path);
    text.lines().map(|line| highlighter.line(line, &look.theme)).collect()
}

/// A line as it is shown: tabs as spaces, what would not be seen spelt.
pub fn expand(line: &str) -> String {
    let line = visible::line(line);
    if !line.contains('\t') {
        return line.into_owned();
    }
    let mut shown = String::with_capacity(line.len() + 16);
    let mut column = 0;
    for (at, piece) in line.split('\t').enumerate() {
        if at > 0 {
            let blanks = TAB_COLUMNS - column % TAB_COLUMNS;
            shown.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        }
        shown.push_str(piece);
        column += width::width(piece);
    }
    shown
}

fn plain(line: &str, theme: &Theme) -> Vec<Span<'static>> {
    if line.is_empty() { Vec::new() } else { vec![Span::styled(line.to_owned(), theme.agent)] }
}

/// Whether blanks in this style look like blanks.
fn is_bare(style: Style) -> bool {
    style.bg.is_none() && style.add_modifier.is_empty()
}

fn style(role: Role, theme: &Theme) -> Style {
    match role {
        Role::Plain => theme.agent,
        Role::Keyword => theme.keyword,
        Role::String => theme.string,
        Role::Number => theme.number,
        Role::Comment => theme.comment,
        Role::Function => theme.function,
        Role::Kind => theme.kind,
        Role::Added => theme.added,
        Role::Removed => theme.removed,
    }
}

#[cfg(test)]
mod tests;
