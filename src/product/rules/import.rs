//! Where a Markdown file names others to be read with it: `@docs/style.md`. Pure; whether they exist is not known here.

use crate::base::text::mention::{self, Form};

/// The shortest row of backticks or tildes that fences code (CommonMark 0.31, 4.5).
const FENCE_LENGTH: usize = 3;

/// Marks that end a sentence or close what the path stands in, and are rarely part of its name.
const AFTER: [char; 12] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '"', '*'];

/// A file that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// As it is written, without the `@`.
    pub(super) path: String,
    /// Whether it is certainly meant as a file: names of people and packages are written with an `@` too.
    pub(super) is_certain: bool,
}

impl Import {
    fn new(path: &str) -> Self {
        let begins_as_path = ["./", "../", "~/", "/"].iter().any(|begin| path.starts_with(begin));
        let last = path.trim_end_matches(AFTER).rsplit('/').next().unwrap_or_default();
        let has_ending = last.rsplit_once('.').is_some_and(|(_, ending)| ending.starts_with(char::is_alphabetic));
        Self { path: path.to_owned(), is_certain: begins_as_path || has_ending }
    }

    /// The path without marks behind it, where there are some.
    pub(super) fn without_marks(&self) -> Option<&str> {
        let shorter = self.path.trim_end_matches(AFTER);
        (shorter.len() < self.path.len() && !shorter.is_empty()).then_some(shorter)
    }
}

/// The files that a text names, in order, outside of code.
pub(super) fn all(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    for line in text.lines() {
        let (mark, length) = row(line);
        match fence {
            Some((open, least)) => {
                let is_bare = line.trim_start().trim_start_matches(open).trim().is_empty();
                if mark == Some(open) && length >= least && is_bare {
                    fence = None;
                }
            }
            None if length >= FENCE_LENGTH => fence = mark.map(|mark| (mark, length)),
            None => found.extend(in_line(line)),
        }
    }
    found
}

/// The backticks or tildes that a line begins with.
fn row(line: &str) -> (Option<char>, usize) {
    // Within an item of a list a fence may stand behind the item's mark.
    let rest = line.trim_start_matches([' ', '\t', '>', '-', '+', '*']);
    let mark = rest.chars().next().filter(|letter| matches!(letter, '`' | '~'));
    let length = mark.map_or(0, |mark| rest.len() - rest.trim_start_matches(mark).len());
    // What looks like an open fence and holds a backtick is a span of code.
    let is_span = mark == Some('`') && rest.get(length..).is_some_and(|info| info.contains('`'));
    if is_span { (None, 0) } else { (mark, length) }
}

fn in_line(line: &str) -> Vec<Import> {
    if !line.contains('@') {
        return Vec::new();
    }
    let plain = without_spans(line);
    let mentions = mention::all(&plain).into_iter().filter(|mention| !mention.path.is_empty());
    let imports = mentions.map(|mention| match mention.form {
        Form::Bare => Import::new(&mention.path),
        Form::Quoted => Import { path: mention.path, is_certain: true },
    });
    imports.collect()
}

/// A line in which letters stand in place of spans of code, and blanks in place of brackets before an `@`.
fn without_spans(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let ticks = from.len() - from.trim_start_matches('`').len();
        let (row, after) = from.split_at(ticks);
        match closing(after, ticks) {
            Some(end) => {
                // A word, so that what stands right behind it begins none.
                plain.push('x');
                rest = after.get(end + ticks..).unwrap_or_default();
            }
            None => {
                plain.push_str(row);
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    ["(@", "[@", "<@", "*@"].iter().fold(plain, |plain, opened| plain.replace(opened, " @"))
}

/// Where a row of exactly so many backticks begins.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find('`')?;
        let rest = text.get(at..)?;
        let length = rest.len() - rest.trim_start_matches('`').len();
        if length == ticks {
            return Some(at);
        }
        from = at + length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paths(text: &str) -> Vec<String> {
        all(text).into_iter().map(|import| import.path).collect()
    }

    #[test]
    fn words_outside_of_code_are_imports() {
        assert_eq!(paths("@docs/style.md\n- @a.md and\tsee (@b/c.md).\n"), ["docs/style.md", "a.md", "b/c.md)."]);
        assert_eq!(paths("me@example.com `@no.md` ``a ` @no.md`` x@y @\"my notes.md\" `@open"), ["my notes.md"]);
        assert_eq!(paths("```\n@no.md\n~~~\n``\n````\n@yes.md\n"), ["yes.md"]);
        assert_eq!(paths("- ~~~sh\n  @no.md\n  ~~~\n@yes.md"), ["yes.md"]);
        assert_eq!(paths("``` one ` line\n@yes.md"), ["yes.md"], "that is no fence");
        assert_eq!(paths("`code`@no.md ``` @yes.md\n"), ["yes.md"]);
    }

    #[test]
    fn people_and_packages_are_not_certain() {
        let certain = |text: &str| all(text).iter().map(|import| import.is_certain).collect::<Vec<_>>();
        assert_eq!(certain("@alice @org/package @types/node. @docs"), [false; 4]);
        assert_eq!(
            certain("@README.md @./docs @~/x @/etc/x @\"a b\" @docs/style.md."),
            [true, true, true, true, true, true]
        );
        assert_eq!(all("see @a.md).")[0].without_marks(), Some("a.md"));
        assert_eq!(all("@a.md")[0].without_marks(), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[`~@a./ \n>\"ß-]{0,60}") {
            for import in all(&text) {
                prop_assert!(!import.path.is_empty());
            }
        }
    }
}
