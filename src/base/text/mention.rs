//! `@path` in typed text: where it stands, what it names, how it is written. Whether the path exists is not known here.
//!
//! A mention begins with an `@` at the beginning of a word and goes on to the next white space. In `@"my file"` it goes on
//! to the closing quote on the same line, and `\"`, `\\` and `\n` stand for a quote, a backslash and a line break. A quote
//! that nothing closes is a letter.

use std::ops::Range;

/// A path in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Where it stands, in bytes, with the `@` and the quotes.
    pub range: Range<usize>,
    /// What it names, exactly; may be empty.
    pub path: String,
    /// How it is written.
    pub form: Form,
}

/// How a path is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Bare,
    /// In quotes.
    Quoted,
}

/// All mentions of a text, in order.
pub fn all(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = next(text, at) {
        let mention = read(text, begin);
        at = mention.range.end;
        found.push(mention);
    }
    found
}

/// The mention that holds `place` (in bytes), or ends there. A quote that is still open goes up to `place`.
pub fn at(text: &str, place: usize) -> Option<Mention> {
    let before = text.get(..place)?;
    let mut at = 0;
    while let Some(begin) = next(before, at) {
        let mention = read(text, begin);
        if mention.range.end >= place {
            // An open quote reads as a letter, up to the next white space; here it is one that is being written.
            let open = mention.form == Form::Bare && before.get(begin + 1..).is_some_and(|rest| rest.starts_with('"'));
            return Some(if open { opened(before, begin) } else { mention });
        }
        at = mention.range.end;
    }
    // The white space after the first word of an open quote is part of it.
    let begin = last_open(text, before)?;
    Some(opened(before, begin))
}

/// The mention of a path, so that [`all`] reads exactly this path.
pub fn write(path: &str) -> String {
    if !path.is_empty() && !path.starts_with('"') && !path.contains(char::is_whitespace) {
        return format!("@{path}");
    }
    let mut text = String::with_capacity(path.len() + 3);
    text.push_str("@\"");
    for letter in path.chars() {
        match letter {
            '\n' => text.push_str("\\n"),
            '"' | '\\' => text.extend(['\\', letter]),
            _ => text.push(letter),
        }
    }
    text.push('"');
    text
}

/// The first `@` from `at` on that begins a word.
fn next(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    rest.match_indices('@').map(|(found, _)| at + found).find(|found| {
        let before = text.get(..*found).and_then(|before| before.chars().next_back());
        before.is_none_or(char::is_whitespace)
    })
}

/// The mention that begins with the `@` at `begin`.
fn read(text: &str, begin: usize) -> Mention {
    let rest = text.get(begin + 1..).unwrap_or_default();
    if let Some((path, length)) = rest.strip_prefix('"').and_then(quoted) {
        // The `@` and the first quote.
        return Mention { range: begin..begin + 2 + length, path, form: Form::Quoted };
    }
    let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let path = rest.get(..length).unwrap_or_default().to_owned();
    Mention { range: begin..begin + 1 + length, path, form: Form::Bare }
}

/// What stands in the quotes whose first one is before `text`, and the bytes up to the closing one, which is counted.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut path = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((path, at + 1)),
            '\n' => return None,
            '\\' => match letters.next() {
                Some((_, 'n')) => path.push('\n'),
                Some((_, escaped @ ('"' | '\\'))) => path.push(escaped),
                Some((_, other)) => path.extend(['\\', other]),
                None => return None,
            },
            _ => path.push(letter),
        }
    }
    None
}

/// The mention with an open quote that begins at `begin` and ends with `text`.
fn opened(text: &str, begin: usize) -> Mention {
    let rest = text.get(begin + 2..).unwrap_or_default();
    let path = quoted(&format!("{rest}\"")).map_or_else(|| rest.to_owned(), |(path, _)| path);
    Mention { range: begin..text.len(), path, form: Form::Quoted }
}

/// The last `@"` of `before` that no quote of the whole text closes, on the same line.
fn last_open(text: &str, before: &str) -> Option<usize> {
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let begin =
        all(before).into_iter().map(|mention| mention.range.start).next_back().filter(|begin| *begin >= line)?;
    let is_open = before.get(begin + 1..)?.starts_with('"') && read(text, begin).form == Form::Bare;
    is_open.then_some(begin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paths(text: &str) -> Vec<String> {
        all(text).into_iter().map(|mention| mention.path).collect()
    }

    #[test]
    fn mentions_begin_words() {
        assert_eq!(paths("see @a.rs, (@b) me@c @ @\u{a0}@d\n@\"e f\".g @x@y"), ["a.rs,", "", "", "d", "e f", "x@y"]);
        assert_eq!(paths(r#"@"a \"b\" \\ \c" @"open quote"#), [r#"a "b" \ \c"#, "\"open"]);
    }

    #[test]
    fn the_mention_at_a_place_is_found() {
        let found = |text: &str, place| at(text, place).map(|mention| (mention.range, mention.path));
        assert_eq!(found("a @b/c d", 4), Some((2..6, "b/c".to_owned())));
        assert_eq!(found("a @b/c d", 2), None, "before the @");
        assert_eq!(found("a @b/c d", 3), Some((2..6, "b/c".to_owned())));
        assert_eq!(found("a @b/c d", 7), None);
        assert_eq!(found("@\"a b\" c", 4), Some((0..6, "a b".to_owned())));
        assert_eq!(found("@\"a b c", 5), Some((0..5, "a b".to_owned())), "an open quote ends at the place");
        assert_eq!(found("@\"a", 3), Some((0..3, "a".to_owned())));
        assert_eq!(found("@\"", 2), Some((0..2, String::new())));
        assert_eq!(found("@\"a\nb c", 6), None, "an open quote ends with its line");
        assert_eq!(found("ä@b", 4), None);
        assert_eq!(found("ä", 1), None, "not within a letter");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(path in "\\PC{0,12}|[ \"\\\\@a\n\t]{0,8}", before in "([a-z]+ )?") {
            let text = format!("{before}{} and more \"", write(&path));
            let found = all(&text);
            prop_assert_eq!(&found[0].path, &path);
            prop_assert_eq!(found[0].range.start, before.len());
            let end = found[0].range.end;
            prop_assert_eq!(at(&text, end).map(|mention| mention.path), Some(path));
        }

        #[test]
        fn no_text_is_too_strange(text in "[ \"\\\\@a\nä👩‍💻]{0,20}", place in 0usize..40) {
            for mention in all(&text) {
                prop_assert!(text[mention.range].starts_with('@'));
            }
            if let Some(mention) = at(&text, place) {
                prop_assert!(mention.range.start < place && mention.range.end >= place);
                prop_assert!(text[mention.range].starts_with('@'));
            }
        }
    }
}
