//! What a session is called while nobody has named it: made of the first question, with no model's help; and what becomes
//! of a name that a model thought of.
//!
//! Pure: texts in, one short line out.

use crate::base::text::{clean, cut, mention, width};
use crate::model::message::Part;

/// How wide a title is at most, in columns: lists have room for as much beside the other columns.
pub const COLUMNS: usize = 60;
/// So much of a line is looked at: many times what a title holds.
const LINE_CHARS: usize = 400;
/// How long a name that a person gives may be: whoever wants more than two titles' worth wants no name.
const NAME_CHARS: usize = 120;
/// A sentence that ends earlier is a greeting or an abbreviation, and what follows it belongs to the title.
const SENTENCE_COLUMNS: usize = 16;
/// What a model writes beyond this is no title but an answer.
const ODD_CHARS: usize = 200;

/// What the agent puts around texts: how a block begins, and the line that ends it.
const BLOCKS: [(&str, &str); 2] = [("<environment>", "</environment>"), ("<file path=\"", "</file>")];
/// How fenced code begins and ends.
const FENCES: [&str; 2] = ["```", "~~~"];

/// Whether a text is what the agent tells of the surroundings, ahead of what a person says.
pub fn is_surroundings(text: &str) -> bool {
    let [(begin, end), _] = BLOCKS;
    text.starts_with(begin) && text.trim_end().ends_with(end)
}

/// A title for what a person said first; `None` where they said nothing that could be read.
pub fn of_message(parts: &[Part]) -> Option<String> {
    words(parts).and_then(of_text)
}

/// A title for a text: its first sentence or line, without code and what the agent put around it, paths shortened.
pub fn of_text(text: &str) -> Option<String> {
    let prose = opening(lines(text).filter(|line| line.kind == Kind::Prose));
    let opening = prose.or_else(|| opening(lines(text).filter(|line| line.kind == Kind::Code)))?;
    let opening = shortened(&opening);
    let sentence = opening.get(..sentence_end(&opening)).unwrap_or(&opening);
    let title = fitted(sentence.trim_end_matches([' ', '.', ':', ',', ';', '。']));
    (!title.is_empty()).then_some(title)
}

/// What a person typed, of a message: its last text, or the first of those that pictures stand between.
///
/// Files, context and the output of own commands come before it.
pub fn words(parts: &[Part]) -> Option<&str> {
    let text = |place: usize| match parts.get(place) {
        Some(Part::Text(text)) => Some(text.as_str()),
        Some(Part::Image(_)) | None => None,
    };
    let mut place = parts.iter().rposition(|part| matches!(part, Part::Text(_)))?;
    while let Some(before) = place.checked_sub(2)
        && text(place - 1).is_none()
        && text(before).is_some_and(|text| !is_block(text))
    {
        place = before;
    }
    text(place).filter(|text| !is_block(text))
}

/// A name that a model thought of; `None` where it is none.
pub fn of_answer(answer: &str) -> Option<String> {
    let mut lines = answer.lines().map(str::trim).filter(|line| !line.is_empty());
    let (line, more) = (lines.next()?, lines.next());
    if more.is_some() || line.chars().count() > ODD_CHARS || line.chars().any(char::is_control) {
        return None;
    }
    let quotes = ['"', '\'', '`', '*', '_', '#', '“', '”', '„', '‘', '’', '«', '»', ' '];
    let bare = line.trim_matches(quotes);
    let bare = ["title:", "Title:"].iter().find_map(|label| bare.strip_prefix(label)).unwrap_or(bare);
    let bare = bare.trim_matches(quotes).trim_end_matches(['.', '!', ':', ',', ';', '…', '。']).trim_matches(quotes);
    let is_odd = bare.starts_with(['<', '{', '[']) || !has_words(bare);
    (!is_odd).then(|| fitted(bare))
}

/// A name that a person gave, on one line of at most 120 characters; `None` where it has neither a letter nor a digit.
pub fn given(name: &str) -> Option<String> {
    let name = cut::ellipsis(&clean::line(name), NAME_CHARS);
    has_words(&name).then_some(name)
}

/// One line of at most [`COLUMNS`], cut behind a word where there is one.
pub fn fitted(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width::width(&text) <= COLUMNS {
        return text;
    }
    let (head, rest) = width::split(&text, COLUMNS - 1);
    // A word that fills half of it is cut all the same.
    let behind_word = head.rfind(' ').filter(|at| !rest.starts_with(' ') && *at > head.len() / 2);
    let head = behind_word.and_then(|at| head.get(..at)).unwrap_or(head);
    format!("{}…", head.trim_end_matches([' ', ',', ';', ':', '.', '-']))
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Prose,
    /// Inside of a fence.
    Code,
    /// Fences, and blocks that the agent wrote.
    Around,
}

struct Line<'a> {
    text: &'a str,
    kind: Kind,
}

/// The lines of a text, without blanks around them.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut block: Option<&str> = None;
    let mut fence: Option<&str> = None;
    text.lines().map(move |line| {
        let text = cut::head(line.trim_start(), LINE_CHARS).trim_end();
        let kind = match (block, fence) {
            (Some(end), _) => {
                block = Some(end).filter(|end| text != *end);
                Kind::Around
            }
            (None, Some(mark)) => {
                fence = Some(mark).filter(|mark| !text.starts_with(mark));
                if fence.is_some() { Kind::Code } else { Kind::Around }
            }
            (None, None) => {
                block = BLOCKS.iter().find(|(begin, _)| text.starts_with(begin)).map(|(_, end)| *end);
                fence = FENCES.into_iter().find(|mark| text.starts_with(mark));
                if block.is_some() || fence.is_some() { Kind::Around } else { Kind::Prose }
            }
        };
        Line { text, kind }
    })
}

/// The first paragraph as far as a title may hold it, on one line.
fn opening<'a>(lines: impl Iterator<Item = Line<'a>>) -> Option<String> {
    let mut opening = String::new();
    for Line { text, .. } in lines {
        let (mark, text) = unmarked(text);
        if opening.is_empty() {
            if has_words(text) {
                opening.push_str(text);
            }
            continue;
        }
        if text.is_empty() || mark || sentence_end(&opening) < opening.len() || width::width(&opening) > COLUMNS {
            break;
        }
        opening.push(' ');
        opening.push_str(text);
    }
    (!opening.is_empty()).then_some(opening)
}

/// Whether a line is a heading, a quote or part of a list, and what it says.
fn unmarked(line: &str) -> (bool, &str) {
    let text = line.trim_start_matches(['#', '>', '-', '*', '+']);
    let is_mark = text.len() < line.len() && text.starts_with(' ');
    if is_mark { (true, text.trim_start()) } else { (false, line) }
}

/// Where the first sentence ends, behind its mark; the end of the text where none does.
fn sentence_end(text: &str) -> usize {
    let ends = |(at, mark): (usize, char)| {
        let end = at + mark.len_utf8();
        let rest = text.get(end..).unwrap_or_default();
        let ends = match mark {
            '.' | '?' | '!' => rest.starts_with(char::is_whitespace),
            '。' | '？' | '！' => !rest.is_empty(),
            _ => false,
        };
        (ends && width::width(text.get(..at).unwrap_or_default()) >= SENTENCE_COLUMNS).then_some(end)
    };
    text.char_indices().find_map(ends).unwrap_or(text.len())
}

/// The text with its `@paths` cut down to their last parts.
fn shortened(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut at = 0;
    for mention in mention::all(text) {
        short.push_str(text.get(at..mention.range.start).unwrap_or_default());
        let path = mention.path.trim_end_matches('/');
        short.push_str(&mention::write(path.rsplit('/').next().unwrap_or(path)));
        at = mention.range.end;
    }
    short.push_str(text.get(at..).unwrap_or_default());
    short
}

fn is_block(text: &str) -> bool {
    BLOCKS.iter().any(|(begin, end)| text.starts_with(begin) && text.trim_end().ends_with(end))
}

fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Image;
    use proptest::prelude::*;

    #[test]
    fn the_first_sentence_or_line_is_the_title() {
        for (text, title) in [
            ("why does the test fail?", "why does the test fail?"),
            ("Fix the failing test. Then run the others.", "Fix the failing test"),
            ("Hi! Please look at this", "Hi! Please look at this"),
            ("Is it e.g. broken? Yes.", "Is it e.g. broken?"),
            ("first\nquestion", "first question"),
            ("Please do:\n- one\n- two", "Please do"),
            ("# Plan\n\nMove the store", "Plan"),
            ("- move the store\n- and the shelf", "move the store"),
            ("look into @src/product/session/list.rs and @a.txt", "look into @list.rs and @a.txt"),
            ("see @\"my files/a b.txt\" now", "see @\"a b.txt\" now"),
            ("```rust\nfn main() {}\n```\nWhat does it do?", "What does it do?"),
            ("```\nfn main() {}\n```", "fn main() {}"),
            ("<file path=\"a\">\nx\n</file>\nexplain", "explain"),
            ("<environment>\ndirectory: /x\n</environment>\n\nexplain it", "explain it"),
            ("テストが失敗する理由を調べてください。その後直して", "テストが失敗する理由を調べてください"),
            (
                "please rename the function that reads sessions so that everybody understands it",
                "please rename the function that reads sessions so that…",
            ),
        ] {
            assert_eq!(of_text(text).as_deref(), Some(title), "{text}");
        }
        for text in ["", " \n\n", "---", "```\n```", "<environment>\nx\n</environment>"] {
            assert_eq!(of_text(text), None, "{text}");
        }
        let long = "x".repeat(100_000);
        assert_eq!(of_text(&long), Some(format!("{}…", "x".repeat(COLUMNS - 1))));
    }

    #[test]
    fn what_was_typed_is_told_from_what_goes_along() {
        let text = |text: &str| Part::Text(text.to_owned());
        let image = || Part::Image(Image { media_type: "image/png".into(), data: vec![1].into() });
        let block = || text("<environment>\nx\n</environment>");
        for (parts, expected) in [
            (vec![block(), text("<file path=\"a\">\nx\n</file>"), text("ask")], Some("ask")),
            (vec![text("<file path=\"a\">\nx\n</file>"), image(), text("ask")], Some("ask")),
            (vec![block(), text("see "), image(), text(" and "), image(), text("this")], Some("see ")),
            (vec![block(), text("see "), image()], Some("see ")),
            (vec![block(), image()], None),
            (vec![image()], None),
            (vec![], None),
        ] {
            assert_eq!(words(&parts), expected, "{parts:?}");
        }
    }

    #[test]
    fn a_model_s_answer_is_a_title_or_nothing() {
        for (answer, title) in [
            ("Fix the parser", Some("Fix the parser")),
            ("\"Fix the parser.\"\n", Some("Fix the parser")),
            ("**Title: Fix the parser**", Some("Fix the parser")),
            ("“Fix” the parser!", Some("Fix” the parser")),
            ("", None),
            ("...", None),
            ("One\nTwo", None),
            ("<think>hm</think>", None),
            ("{\"title\": \"x\"}", None),
            ("a\u{1b}[2Jb", None),
            (&"word ".repeat(60), None),
        ] {
            assert_eq!(of_answer(answer).as_deref(), title, "{answer}");
        }
        let long = of_answer(&"word ".repeat(20)).unwrap();
        assert!(long.ends_with("word…") && width::width(&long) <= COLUMNS, "{long}");
    }

    proptest! {
        #[test]
        fn any_text_gives_a_short_line(text in any::<String>(), answer in "\\PC{0,90}") {
            for title in [of_text(&text), of_answer(&answer)].into_iter().flatten() {
                prop_assert!(width::width(&title) <= COLUMNS && !title.contains('\n') && !title.is_empty());
            }
        }
    }
}
