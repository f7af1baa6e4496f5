//! Tells reasoning between `<think>` and `</think>` from the answer, however the stream cuts the tags.
//!
//! Only tags at the start of an answer count: later ones are what somebody writes about.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// One piece of the answer's text, sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The answer.
    Text(&'a str),
    /// What stood between the tags.
    Reasoning(&'a str),
}

/// The state of sorting one answer.
#[derive(Debug)]
pub struct Splitter {
    state: State,
    /// What cannot be sorted yet: blanks at the start, or the beginning of a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but blanks so far; a tag may come.
    Start,
    Inside,
    /// Just after a closing tag: blank lines here separate, they are no text; another tag may come.
    After,
    Text,
}

impl Splitter {
    /// A splitter, or one that takes all for text.
    pub fn new(tags: bool) -> Self {
        Self { state: if tags { State::Start } else { State::Text }, held: String::new() }
    }

    /// Sorts the next piece of the stream.
    pub fn push(&mut self, text: &str, out: &mut dyn FnMut(Piece<'_>)) {
        if self.state == State::Text {
            return emit(Piece::Text(text), out);
        }
        self.held.push_str(text);
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        loop {
            match self.state {
                State::Start | State::After => {
                    let word = rest.trim_start();
                    if let Some(inner) = word.strip_prefix(OPEN) {
                        self.state = State::Inside;
                        rest = inner;
                    } else if OPEN.starts_with(word) {
                        break;
                    } else {
                        // Blanks before an answer without tags belong to it.
                        rest = if self.state == State::After { word } else { rest };
                        self.state = State::Text;
                    }
                }
                State::Inside => match rest.split_once(CLOSE) {
                    Some((inner, after)) => {
                        emit(Piece::Reasoning(inner), out);
                        self.state = State::After;
                        rest = after;
                    }
                    None => {
                        let (sorted, open) = rest.split_at(rest.len() - begun(rest, CLOSE));
                        emit(Piece::Reasoning(sorted), out);
                        rest = open;
                        break;
                    }
                },
                State::Text => return emit(Piece::Text(rest), out),
            }
        }
        rest.clone_into(&mut self.held);
    }

    /// Gives out what is still held back; the stream has ended.
    pub fn end(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Inside => emit(Piece::Reasoning(&held), out),
            State::After if held.trim().is_empty() => {}
            State::Start | State::After | State::Text => emit(Piece::Text(&held), out),
        }
    }
}

fn emit(piece: Piece<'_>, out: &mut dyn FnMut(Piece<'_>)) {
    match piece {
        Piece::Text("") | Piece::Reasoning("") => {}
        Piece::Text(_) | Piece::Reasoning(_) => out(piece),
    }
}

/// How many bytes at the end of `text` may be the beginning of `tag`.
fn begun(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| tag.get(..*length).is_some_and(|start| text.ends_with(start))).unwrap_or(0)
}

/// Splits a whole answer whose opening tag the server's template swallowed: `reasoning</think>answer`.
///
/// The closing tag must stand alone at the end of a line or fill it, outside code, and be the only one.
pub fn split_unopened(text: &str) -> Option<(&str, &str)> {
    let (reasoning, answer) = text.split_once(CLOSE)?;
    let ends_line = answer.is_empty() || answer.starts_with(['\n', '\r']);
    let begins_line = reasoning.is_empty() || reasoning.ends_with('\n');
    let in_code = reasoning.matches("```").count() % 2 == 1;
    let clean = ends_line && begins_line && !in_code && !answer.contains(CLOSE) && !text.contains(OPEN);
    clean.then(|| (reasoning.trim_end(), answer.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let (mut reasoning, mut text) = (String::new(), String::new());
        let mut splitter = Splitter::new(true);
        let mut sort = |piece: Piece<'_>| match piece {
            Piece::Text(more) => text.push_str(more),
            Piece::Reasoning(more) => reasoning.push_str(more),
        };
        for piece in pieces {
            splitter.push(piece, &mut sort);
        }
        splitter.end(&mut sort);
        (reasoning, text)
    }

    #[test]
    fn tags_at_the_start_hold_reasoning() {
        let table = [
            ("<think>a</think>b", "a", "b"),
            ("\n <think>\na\n</think>\n\nb\n", "\na\n", "b\n"),
            ("<think></think>b", "", "b"),
            ("<think>a</think><think>c</think>b", "ac", "b"),
            ("<think>a", "a", ""),
            ("<think>a</thi", "a</thi", ""),
            ("<think>a</think>\n", "a", ""),
            ("see <think>a</think>", "", "see <think>a</think>"),
            ("  a", "", "  a"),
            ("<thin", "", "<thin"),
            ("  ", "", "  "),
            ("", "", ""),
            ("<b>é", "", "<b>é"),
        ];
        for (whole, reasoning, text) in table {
            let expected = (reasoning.to_owned(), text.to_owned());
            assert_eq!(split(&[whole]), expected, "{whole:?}");
            let letters: Vec<String> = whole.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(split(&letters), expected, "{whole:?} letter by letter");
        }
    }

    #[test]
    fn an_opening_tag_may_be_missing() {
        assert_eq!(split_unopened("a\nb\n</think>\n\nc"), Some(("a\nb", "c")));
        assert_eq!(split_unopened("</think>\nc"), Some(("", "c")));
        for text in [
            "a",
            "a </think> b",
            "`</think>`\n",
            "```\n</think>\n```",
            "<think>a\n</think>\nb",
            "a\n</think>\n</think>\n",
        ] {
            assert_eq!(split_unopened(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same(parts in prop::collection::vec("<think>|</think>|</th|<thi|\n|[a-zé ]{1,3}", 0..8), size in 1usize..5) {
            let whole = parts.concat();
            let letters: Vec<char> = whole.chars().collect();
            let pieces: Vec<String> = letters.chunks(size).map(|chunk| chunk.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(split(&pieces), split(&[&whole]));
        }
    }
}
