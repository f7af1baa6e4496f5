//! Filling in what was said to a template: `$1`, `$2`, `$@`, `$ARGUMENTS`.
//!
//! Goes over the template once. What is put in is never looked at again.

use std::borrow::Cow;

/// What stands for the arguments as they were typed.
const ARGUMENTS: &str = "ARGUMENTS";

/// The template with its placeholders filled in.
///
/// `$1` is the first argument, `$@` all of them with a blank between two, `$ARGUMENTS` what was typed, and `$$` a dollar.
/// What was not said is nothing. A dollar before anything else stays. In a template without placeholders the arguments
/// stand at the end, on a line of their own.
pub fn fill(template: &str, arguments: &str) -> String {
    let arguments = arguments.trim();
    let words = words(arguments);
    let mut text = String::with_capacity(template.len() + arguments.len());
    let mut is_filled = false;
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let (filling, length, is_argument) = match placeholder(after) {
            Some((Placeholder::Dollar, length)) => (Cow::Borrowed("$"), length, false),
            Some((Placeholder::All, length)) => (Cow::Owned(words.join(" ")), length, true),
            Some((Placeholder::Typed, length)) => (Cow::Borrowed(arguments), length, true),
            Some((Placeholder::Number(number), length)) => {
                let word = number.checked_sub(1).and_then(|index| words.get(index));
                (Cow::Borrowed(word.map(String::as_str).unwrap_or_default()), length, true)
            }
            None => (Cow::Borrowed("$"), 0, false),
        };
        text.push_str(&filling);
        is_filled |= is_argument;
        rest = after.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    if !is_filled && !arguments.is_empty() {
        let end = text.trim_end().len();
        text.truncate(end);
        text.push_str("\n\n");
        text.push_str(arguments);
    }
    text
}

enum Placeholder {
    Dollar,
    All,
    Typed,
    Number(usize),
}

/// The placeholder that stands behind a dollar, and its length in bytes.
fn placeholder(after: &str) -> Option<(Placeholder, usize)> {
    if after.starts_with('$') {
        return Some((Placeholder::Dollar, 1));
    }
    if after.starts_with('@') {
        return Some((Placeholder::All, 1));
    }
    if let Some(rest) = after.strip_prefix(ARGUMENTS) {
        let goes_on = rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        return (!goes_on).then_some((Placeholder::Typed, ARGUMENTS.len()));
    }
    let digits = after.len() - after.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = after.get(..digits)?.parse().ok()?;
    // `$0` is no argument.
    (number > 0).then_some((Placeholder::Number(number), digits))
}

/// The words of a line as a shell would tell them apart: quotes around a word hold it together, a backslash takes the
/// meaning from a blank, a quote or a backslash. A quote inside of a word is a letter, as in `don't`, and so is one that
/// nothing closes.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, length) = quoted(rest).unwrap_or_else(|| bare(rest));
        words.push(word);
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    words
}

/// A word in quotes at the beginning, and how long it is with them.
fn quoted(text: &str) -> Option<(String, usize)> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    let mut word = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote == '"' => match letters.next() {
                Some((_, escaped @ ('"' | '\\'))) => word.push(escaped),
                Some((_, other)) => word.extend(['\\', other]),
                None => return None,
            },
            _ if letter == quote => {
                let end = at + quote.len_utf8();
                let is_end =
                    text.get(end..).is_none_or(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
                return is_end.then_some((word, end));
            }
            _ => word.push(letter),
        }
    }
    None
}

/// A word up to the next blank, and how long it is.
fn bare(text: &str) -> (String, usize) {
    let mut word = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter.is_whitespace() => return (word, at),
            '\\' => match letters.next_if(|(_, next)| next.is_whitespace() || matches!(next, '"' | '\'' | '\\')) {
                Some((_, escaped)) => word.push(escaped),
                None => word.push('\\'),
            },
            _ => word.push(letter),
        }
    }
    (word, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn placeholders_are_filled_in() {
        for (template, arguments, text) in [
            ("Fix $1 in $2.", "bug main.rs", "Fix bug in main.rs."),
            ("Fix $1 in $2.", "bug", "Fix bug in ."),
            ("[$@] [$ARGUMENTS]", r#""a b"  c"#, r#"[a b c] ["a b"  c]"#),
            ("$2$1$10", "a b", "ba"),
            ("$$1 costs $5 and $$", "a", "$1 costs  and $"),
            ("plain $HOME ${x} $0 $", "", "plain $HOME ${x} $0 $"),
            ("plain\n", "and this", "plain\n\nand this"),
            ("$ARGUMENTSX $ARGUMENTS_ $ARGUMENTS", "a", "$ARGUMENTSX $ARGUMENTS_ a"),
            ("$1 and $2", "$2 $1", "$2 and $1"),
            ("$99999999999999999999999", "a", "$99999999999999999999999\n\na"),
            ("", "a", "\n\na"),
        ] {
            assert_eq!(fill(template, arguments), text, "{template:?} {arguments:?}");
        }
    }

    #[test]
    fn words_are_told_apart_as_in_a_shell() {
        for (line, expected) in [
            ("a b\tc\nd", &["a", "b", "c", "d"][..]),
            (r#""a b" 'c "d"' "e \"f\"""#, &["a b", "c \"d\"", "e \"f\""]),
            (r"a\ b \d+ c\\", &["a b", r"\d+", r"c\"]),
            ("don't do it, don't", &["don't", "do", "it,", "don't"]),
            ("'open and \"too", &["'open", "and", "\"too"]),
            ("\"\" x", &["", "x"]),
            (" \u{a0} ", &[]),
        ] {
            assert_eq!(words(line), expected, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_put_in_is_never_filled_in_again(
            template in "[a-z \n$@0-9A]{0,40}",
            arguments in "([$@1-9\"'\\\\ a]|\\$ARGUMENTS){0,12}",
        ) {
            // The dollars of arguments are marked: all of those come out as they went in.
            let marked = arguments.replace('$', "§");
            prop_assert_eq!(fill(&template, &marked).replace('§', "$"), fill(&template, &arguments));
        }

        #[test]
        fn words_in_quotes_come_back(words in proptest::collection::vec("[a-z \"'\\\\$]{0,8}", 0..5)) {
            let line = words.iter().map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")));
            prop_assert_eq!(super::words(&line.collect::<Vec<_>>().join(" ")), words);
        }
    }
}
