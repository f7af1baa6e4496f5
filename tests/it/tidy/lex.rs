//! Cuts Rust source into tokens, so that rules look at code and never at what a string or a comment says.
//!
//! Knows just enough of the language for that: it does not parse, and it never fails; odd input gives odd tokens.

/// A piece of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The line it ends on.
    pub end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A string, a byte string, a character or a number.
    Literal,
    /// `'a`.
    Lifetime,
    /// `::`, or one character of punctuation.
    Mark,
    /// A comment, documentation included.
    Comment,
}

impl Token<'_> {
    pub fn is_word(&self, text: &str) -> bool {
        self.kind == Kind::Word && self.text == text
    }

    pub fn is_mark(&self, text: &str) -> bool {
        self.kind == Kind::Mark && self.text == text
    }
}

/// All tokens of `source`, comments among them.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            line += usize::from(first == '\n');
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (kind, length) = next(rest, first);
        let (text, after) = rest.split_at(length);
        let end = line + text.matches('\n').count();
        found.push(Token { kind, text, line, end });
        (rest, line) = (after, end);
    }
    found
}

/// The kind and the length in bytes of the token that `rest` begins with.
fn next(rest: &str, first: char) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment(rest));
    }
    if let Some(length) = text_literal(rest) {
        return (Kind::Literal, length);
    }
    if rest.starts_with("b'") {
        return (Kind::Literal, 1 + quoted(&rest[1..], b'\''));
    }
    if first == '\'' {
        return quote(rest);
    }
    if first.is_ascii_digit() {
        return (Kind::Literal, number(rest));
    }
    if let Some(raw) = rest.strip_prefix("r#").filter(|raw| raw.starts_with(begins_word)) {
        return (Kind::Word, 2 + word(raw));
    }
    if begins_word(first) {
        return (Kind::Word, word(rest));
    }
    (Kind::Mark, if rest.starts_with("::") { 2 } else { first.len_utf8() })
}

fn begins_word(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn word(rest: &str) -> usize {
    rest.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(rest.len())
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a string with its prefix and its quotes, raw or not; `None` where no string begins.
fn text_literal(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let after = rest.strip_prefix(prefix).unwrap_or_default();
        let hashes = if prefix.ends_with('r') { after.trim_start_matches('#') } else { after };
        hashes.starts_with('"')
    })?;
    let after = &rest[prefix.len()..];
    if !prefix.ends_with('r') {
        return Some(prefix.len() + quoted(after, b'"'));
    }
    let hashes = after.len() - after.trim_start_matches('#').len();
    let close = format!("\"{}", "#".repeat(hashes));
    let body = prefix.len() + hashes + 1;
    Some(rest[body..].find(&close).map_or(rest.len(), |end| body + end + close.len()))
}

/// A character, or a lifetime.
fn quote(rest: &str) -> (Kind, usize) {
    let inner = &rest[1..];
    let mut characters = inner.chars();
    let begins = characters.next().is_some_and(begins_word);
    if begins && !characters.as_str().starts_with('\'') {
        return (Kind::Lifetime, 1 + word(inner));
    }
    (Kind::Literal, quoted(rest, b'\''))
}

/// The length of a text between quotes, escapes skipped.
fn quoted(rest: &str, close: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != close {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    let mut end = (at + 1).min(rest.len());
    while !rest.is_char_boundary(end) {
        end += 1;
    }
    end
}

fn number(rest: &str) -> usize {
    let whole = word(rest);
    match rest[whole..].strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|first: char| first.is_ascii_digit()) => whole + 1 + word(fraction),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    fn kinds(source: &str) -> Vec<Kind> {
        tokens(source).into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn strings_and_comments_are_one_token_each() {
        use Kind::{Comment, Literal, Mark, Word};
        assert_eq!(kinds(r#"a "b { // \" c" d"#), [Word, Literal, Word]);
        assert_eq!(kinds("a // b { \"\nc"), [Word, Comment, Word]);
        assert_eq!(kinds("a /* b /* \" */ { */ c"), [Word, Comment, Word]);
        assert_eq!(kinds("r##\"a \"# { b\"## c"), [Literal, Word]);
        assert_eq!(kinds("br\"a\\\" b"), [Literal, Word], "a backslash in a raw string escapes nothing");
        assert_eq!(kinds(r#"b"\"" c"x" b'{' '}' '"'"#), [Literal; 5]);
        assert_eq!(texts("crate::a :: b"), ["crate", "::", "a", "::", "b"]);
        assert_eq!(kinds("!!"), [Mark, Mark]);
    }

    #[test]
    fn a_lifetime_is_no_character() {
        use Kind::{Lifetime, Literal, Mark, Word};
        assert_eq!(kinds("&'a str"), [Mark, Lifetime, Word]);
        assert_eq!(kinds(r"'a' '\'' '\u{1F600}' 'ß' '_'"), [Literal; 5]);
        assert_eq!(kinds("'static: loop"), [Lifetime, Mark, Word]);
    }

    #[test]
    fn words_and_numbers_end_where_they_should() {
        assert_eq!(texts("r#type raw b r"), ["r#type", "raw", "b", "r"]);
        assert_eq!(texts("1..2 1.5e3 0xff_u8 x.0.1"), ["1", ".", ".", "2", "1.5e3", "0xff_u8", "x", ".", "0.1"]);
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let lines: Vec<_> = tokens("a\n\"x\ny\" b\n/* \n\n */ c").iter().map(|token| (token.line, token.end)).collect();
        assert_eq!(lines, [(1, 1), (2, 3), (3, 3), (4, 6), (6, 6)]);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_loss(source in "[ -~\n]{0,60}|\\PC{0,40}|[\"'r#b\\\\/* \n]{0,40}") {
            let kept: String = texts(&source).concat().split_whitespace().collect();
            let whole: String = source.split_whitespace().collect();
            prop_assert_eq!(kept, whole);
        }
    }
}
