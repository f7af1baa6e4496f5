//! The lines of a paragraph, and which of their ends are kept.
//!
//! A writer's line end stays: models write poems, addresses and one fact a line without telling Markdown so. Only prose
//! that was evidently wrapped at a margin becomes one line again, for the terminal to wrap at its own.

use super::inline::BREAK;
use crate::base::text::width;

/// Margins at which prose is wrapped, in columns: books have 65, commit messages 72, wide editors 120.
const MARGIN_COLUMNS: std::ops::RangeInclusive<usize> = 60..=120;

/// A paragraph that may go on.
#[derive(Clone, Debug, Default)]
pub struct Paragraph {
    lines: Vec<Row>,
    bytes: usize,
}

/// One of its lines, without blanks around it.
#[derive(Clone, Debug)]
struct Row {
    text: String,
    /// Whether the writer asked for a break after it.
    hard: bool,
}

impl Paragraph {
    /// Of one line.
    pub fn new(line: &str) -> Self {
        let mut paragraph = Self::default();
        paragraph.push(line);
        paragraph
    }

    /// Another line, with the blanks at its end.
    pub fn push(&mut self, line: &str) {
        let text = line.trim_matches([' ', '\t']);
        let bare = text.strip_suffix('\\').filter(|bare| (bare.len() - bare.trim_end_matches('\\').len()) % 2 == 0);
        let hard = bare.is_some() || line.ends_with("  ");
        self.bytes += text.len() + 1;
        self.lines.push(Row { text: text.to_owned(), hard });
    }

    /// Bytes so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its last line.
    pub fn last(&self) -> &str {
        self.lines.last().map_or("", |row| row.text.as_str())
    }

    /// Everything but its last line, if there is more.
    pub fn but_last(mut self) -> Option<Self> {
        self.lines.pop();
        (!self.lines.is_empty()).then_some(self)
    }

    /// As a source for [`super::inline::lines`].
    pub fn source(&self) -> String {
        let prose = self.is_wrapped();
        let mut source = String::with_capacity(self.bytes);
        for (at, row) in self.lines.iter().enumerate() {
            let last = at + 1 == self.lines.len();
            let bare = row.text.strip_suffix('\\').filter(|_| row.hard && !last && !row.text.ends_with("\\\\"));
            source.push_str(bare.map_or(row.text.as_str(), str::trim_end));
            let Some(next) = self.lines.get(at + 1) else { break };
            if row.hard || !prose {
                source.push(BREAK);
            } else if !(row.text.ends_with(is_unspaced) && next.text.starts_with(is_unspaced)) {
                source.push(' ');
            }
        }
        source
    }

    /// Whether each line ends where the next word would have gone over the margin.
    fn is_wrapped(&self) -> bool {
        let widths: Vec<usize> = self.lines.iter().map(|row| width::width(&row.text)).collect();
        let margin = widths.iter().copied().max().unwrap_or(0);
        if !MARGIN_COLUMNS.contains(&margin) {
            return false;
        }
        let (mut breaks, mut within_sentences) = (0, 0);
        for ((row, next), columns) in self.lines.iter().zip(self.lines.iter().skip(1)).zip(&widths) {
            if row.hard {
                continue;
            }
            let word = next.text.split(' ').next().unwrap_or_default();
            let unspaced = next.text.starts_with(is_unspaced);
            if columns + if unspaced { 2 } else { 1 + width::width(word) } <= margin {
                return false;
            }
            breaks += 1;
            within_sentences += usize::from(unspaced || is_within_sentence(word));
        }
        // Logs and lists of paths are of even length too, but do not read like prose.
        breaks > 0 && within_sentences * 2 >= breaks
    }
}

/// Whether a word stands within a sentence: lower case and nothing else, but for what may follow a word.
fn is_within_sentence(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.', ';', ')', '!', '?']);
    !word.is_empty() && word.chars().all(|letter| letter.is_lowercase() || matches!(letter, '-' | '\'' | '’'))
}

/// Whether a letter is of a script that has no blanks between its words: kana and Han.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}
