//! A question that a tool puts to a person: what is asked, answers to choose from, and that any other will do.
//!
//! It shows a question and decides nothing: which key means what is the state's.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::ask::Focus;
use super::row::{fitted, plain, trimmed, wrapped};
use super::{Block, Look};
use crate::base::text::width;

/// Columns before the title and the hint.
const INDENT: usize = 2;
/// Columns before the question, on a roomy screen and on a narrow one.
const DETAIL: (usize, usize) = (6, 4);
/// Rows that one answer may take.
const OPTION_ROWS: usize = 2;

/// What is asked, and by whom.
pub struct Inquiry<'a> {
    /// The question.
    pub question: &'a str,
    /// Answers to choose from.
    pub options: &'a [String],
    /// Who asks, where it is not the agent itself.
    pub who: Option<&'a str>,
}

impl Inquiry<'_> {
    /// The rows of the question, at most `most`, none wider than the screen. Of a long question the end goes first, then
    /// the title; the answers stay.
    pub fn rows(&self, focus: Focus, most: usize, look: &Look) -> Vec<Line<'static>> {
        let selected = match focus {
            Focus::Question(selected) => selected,
            Focus::Draft | Focus::Instead => None,
        };
        let mut answers = self.answers(selected, focus, look);
        answers.push(self.hint(focus, look));
        let mut room = most.saturating_sub(answers.len());
        let question = self.question_rows(look);
        let has_air = room >= question.len() + 3;
        let mut rows = Vec::new();
        if room > 1 {
            rows.push(Line::from(format!("{}{}", " ".repeat(INDENT), self.title())));
            room -= 1;
        }
        rows.extend(has_air.then(Line::default));
        let shown = room.min(question.len());
        let is_cut = shown < question.len();
        rows.extend(question.into_iter().take(shown.saturating_sub(usize::from(is_cut && shown > 1))));
        if is_cut && shown > 1 {
            rows.push(dim(indent(look), look.glyphs.ellipsis, look));
        }
        rows.extend(has_air.then(Line::default));
        rows.extend(answers);
        rows.truncate(most);
        rows.into_iter().map(|row| fitted(row, look)).collect()
    }

    /// The question and its answers, as finished text.
    pub fn block(&self, look: &Look) -> Block {
        let mut block = vec![trimmed(vec![Span::raw(" ".repeat(INDENT)), Span::raw(self.title())]), Line::default()];
        block.extend(self.question_rows(look).into_iter().map(|line| trimmed(line.spans)));
        let options = self.options.iter().enumerate();
        block.extend(options.map(|(number, option)| {
            let text = format!("{}{}  {}", " ".repeat(indent(look)), number + 1, plain(option));
            trimmed(vec![Span::raw(text)])
        }));
        block
    }

    fn title(&self) -> String {
        self.who.map_or_else(|| "a question".to_owned(), |who| format!("a question of {who}"))
    }

    fn question_rows(&self, look: &Look) -> Vec<Line<'static>> {
        let indent = indent(look);
        let room = look.edge().saturating_sub(indent);
        let lines = self.question.trim_end().lines().flat_map(|line| words(&plain(line), room));
        lines.map(|line| Line::from(format!("{}{line}", " ".repeat(indent)))).collect()
    }

    fn answers(&self, selected: Option<usize>, focus: Focus, look: &Look) -> Vec<Line<'static>> {
        let base = match focus {
            Focus::Question(_) => Style::new(),
            Focus::Draft | Focus::Instead => look.theme.dim,
        };
        let indent = indent(look);
        let room = look.edge().saturating_sub(indent + 3);
        let mut rows = Vec::new();
        for (number, option) in self.options.iter().enumerate() {
            let style =
                if selected == Some(number) { look.theme.selected.add_modifier(Modifier::REVERSED) } else { base };
            let mut texts = words(&plain(option), room);
            if texts.len() > OPTION_ROWS {
                texts.truncate(OPTION_ROWS);
                if let Some(last) = texts.last_mut() {
                    *last = width::cut(&format!("{last} {}", look.glyphs.ellipsis), room, look.glyphs.ellipsis);
                }
            }
            for (at, text) in texts.into_iter().enumerate() {
                let lead = if at == 0 { format!("{}  ", number + 1) } else { "   ".to_owned() };
                let lead = Span::styled(format!("{}{lead}", " ".repeat(indent)), base.add_modifier(Modifier::BOLD));
                rows.push(Line::from(vec![lead, Span::styled(text, style)]));
            }
        }
        rows
    }

    fn hint(&self, focus: Focus, look: &Look) -> Line<'static> {
        let dot = look.glyphs.dot;
        let (texts, style) = match (focus, self.options.is_empty()) {
            (Focus::Question(_), false) => (
                [format!("a number, or write another answer {dot} esc: no answer"), "a number, or write".to_owned()],
                look.theme.dim,
            ),
            (Focus::Question(_), true) => {
                ([format!("write an answer {dot} esc: no answer"), "write an answer".to_owned()], look.theme.dim)
            }
            (Focus::Instead, _) => {
                ([format!("enter answers with this {dot} esc: no answer"), "enter answers".to_owned()], look.theme.dim)
            }
            // Where letters go to the draft, that must be seen.
            (Focus::Draft, _) => (["tab answers".to_owned(), "tab answers".to_owned()], look.theme.notice),
        };
        let room = look.edge().saturating_sub(INDENT);
        let [long, short] = texts;
        let text = if width::width(&long) <= room { long } else { short };
        Line::from(vec![Span::raw(" ".repeat(INDENT)), Span::styled(text, style)])
    }
}

/// Columns before the question.
fn indent(look: &Look) -> usize {
    if look.is_roomy() { DETAIL.0 } else { DETAIL.1 }
}

fn dim(columns: usize, text: &str, look: &Look) -> Line<'static> {
    Line::from(vec![Span::raw(" ".repeat(columns)), Span::styled(text.to_owned(), look.theme.dim)])
}

/// A line in rows of at most `columns`, broken between words where that is possible.
fn words(text: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        let Some(row) = rows.last_mut() else { return rows };
        let gap = usize::from(!row.is_empty());
        if width::width(row) + gap + width::width(word) <= columns {
            row.push_str(if gap > 0 { " " } else { "" });
            row.push_str(word);
        } else if row.is_empty() {
            rows.pop();
            rows.extend(wrapped(word, columns));
        } else {
            rows.extend(wrapped(word, columns));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::view::testing::{assert_committed, assert_live, look, picture};

    fn options() -> Vec<String> {
        ["sqlite in memory", "a server in a container, which takes a while to start the first time", "none\u{1b}[2J"]
            .map(str::to_owned)
            .to_vec()
    }

    fn shown(focus: Focus, most: usize, columns: usize) -> String {
        let options = options();
        let question = "Which database should the tests use?\nBoth are there.";
        let inquiry = Inquiry { question, options: &options, who: None };
        picture(&inquiry.rows(focus, most, &look(columns)))
    }

    #[test]
    fn answers_are_numbered_and_any_other_will_do() {
        insta::assert_snapshot!(shown(Focus::Question(Some(1)), 20, 80), @"
        |  a question
        |
        |      Which database should the tests use?
        |      Both are there.
        |
        |      1  sqlite in memory
        |      2  a server in a container, which takes a while to start the first time
        |      3  none␛[2J
        |  a number, or write another answer · esc: no answer
        ");
        insta::assert_snapshot!(shown(Focus::Instead, 20, 40), @"
        |  a question
        |
        |    Which database should the tests
        |    use?
        |    Both are there.
        |
        |    1  sqlite in memory
        |    2  a server in a container, which
        |       takes a while to start the …
        |    3  none␛[2J
        |  enter answers
        ");
        insta::assert_snapshot!(shown(Focus::Draft, 6, 40), @"
        |    Which database should the tests
        |    1  sqlite in memory
        |    2  a server in a container, which
        |       takes a while to start the …
        |    3  none␛[2J
        |  tab answers
        ");
        let who = Inquiry { question: "Go on?", options: &[], who: Some("the agent (find all callers)") };
        insta::assert_snapshot!(picture(&who.rows(Focus::Question(None), 9, &look(80))), @"
        |  a question of the agent (find all callers)
        |
        |      Go on?
        |
        |  write an answer · esc: no answer
        ");
        insta::assert_snapshot!(picture(&who.block(&look(80))), @"
        |  a question of the agent (find all callers)
        |
        |      Go on?
        ");
        assert_committed(&who.block(&look(80)));
    }

    #[test]
    fn it_fits_whatever_the_screen() {
        let options = options();
        let question = "日本語日本語日本語日本語日本語日本語日本語 and\u{202e} so on ".repeat(20);
        let inquiry = Inquiry { question: &question, options: &options, who: Some("scout") };
        for columns in 0..70 {
            for most in [0, 1, 4, 9, 40] {
                for focus in [Focus::Question(None), Focus::Draft, Focus::Instead] {
                    let rows = inquiry.rows(focus, most, &look(columns));
                    assert!(rows.len() <= most);
                    assert_live(&rows, columns);
                }
            }
        }
    }
}
