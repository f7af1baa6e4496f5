//! Fitting an edit's new text to the place it goes to: the file's line ends, and where blanks were folded its blanks.
//!
//! Words of the new text are never changed; `$1` and `\n` as characters are words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use similar::{DiffOp, DiffTag};

use super::changes;
use super::fold::{blanks, line_end};
use super::matching::{Found, Rung, Source};

/// What takes the place of `span`.
///
/// A bare `\n` that is new takes its neighbour's line end, unless the old text spells out `\r\n`, which says that the
/// model sees line ends and means what it writes. One that spells them wrongly is not believed. What old and new text have in common stays as it is in the file.
pub fn adapt<'f>(source: &Source<'_>, span: &Range<usize>, found: &'f Found<'_>) -> Cow<'f, [u8]> {
    let Found { rung, ref old, ref new, spans: _, numbered: _ } = *found;
    let is_verbatim = match rung {
        Rung::Exact => !new.contains('\n') || !source.has_crlf || old.contains("\r\n"),
        Rung::LineEnds | Rung::Blanks => false,
    };
    if is_verbatim {
        return Cow::Borrowed(new.as_bytes());
    }
    let old = tokens(old);
    let new = tokens(new);
    let inside = source.content.get(span.clone()).unwrap_or_default();
    let own = own_bytes(inside, &old);
    let indents = match rung {
        Rung::Exact | Rung::LineEnds => Indents::default(),
        Rung::Blanks => Indents::new(&old, &own),
    };
    let mut output = Output {
        old: &old,
        new: &new,
        own,
        indents,
        bytes: Vec::with_capacity(inside.len()),
        line_end: local_line_end(source.content, span),
        means_returns: rung == Rung::Exact,
    };
    output.lines();
    Cow::Owned(output.bytes)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    /// As it is spelled.
    LineEnd(&'t str),
    Blanks(&'t str),
    Word(&'t str),
}

impl<'t> Token<'t> {
    /// What makes two tokens equal.
    fn key(&self) -> &'t str {
        match self {
            Self::LineEnd(_) => "\n",
            Self::Blanks(text) | Self::Word(text) => text,
        }
    }
}

/// What tokens are compared by.
fn keys<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    tokens.iter().map(Token::key).collect()
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let bytes = rest.as_bytes();
        let (kind, length): (fn(_) -> _, usize) = match (line_end(bytes), blanks(bytes)) {
            (0, 0) => (Token::Word, word(bytes)),
            (0, length) => (Token::Blanks, length),
            (length, _) => (Token::LineEnd, length),
        };
        // Lengths are of whole characters; anything else would end the loop, not the program.
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        tokens.push(kind(token));
        rest = after;
    }
    tokens
}

/// The length of what is neither blank nor line end, at least one character.
fn word(bytes: &[u8]) -> usize {
    let ends = |at: &usize| bytes.get(*at..).is_none_or(|rest| blanks(rest) > 0 || line_end(rest) > 0);
    (1..bytes.len()).find(ends).unwrap_or(bytes.len())
}

/// The bytes of the file that each token of the old text was found equal to.
fn own_bytes<'c>(mut inside: &'c [u8], old: &[Token<'_>]) -> Vec<&'c [u8]> {
    old.iter()
        .map(|token| {
            let length = match token {
                Token::Word(text) => text.len(),
                Token::Blanks(_) => blanks(inside),
                Token::LineEnd(_) => {
                    let blanks = blanks(inside);
                    blanks + line_end(inside.get(blanks..).unwrap_or_default())
                }
            };
            let (own, rest) = inside.split_at_checked(length).unwrap_or((inside, &[]));
            inside = rest;
            own
        })
        .collect()
}

struct Output<'a> {
    old: &'a [Token<'a>],
    new: &'a [Token<'a>],
    /// The file's bytes for each token of `old`.
    own: Vec<&'a [u8]>,
    indents: Indents,
    bytes: Vec<u8>,
    /// What a new line ends with: as the line before it.
    line_end: &'static [u8],
    /// Whether `\r\n` in the new text is meant.
    means_returns: bool,
}

impl Output<'_> {
    /// Compares by lines first, so that a line that stays keeps its own end.
    fn lines(&mut self) {
        let (old_lines, new_lines) = (lines(self.old), lines(self.new));
        let operations = changes::operations(&line_keys(self.old, &old_lines), &line_keys(self.new, &new_lines));
        for operation in operations {
            let (_, old, new) = operation.as_tag_tuple();
            let (old, new) = (joined(&old_lines, old), joined(&new_lines, new));
            match operation {
                DiffOp::Equal { .. } => self.keep(old),
                DiffOp::Delete { .. } => {}
                DiffOp::Insert { .. } => self.insert(new),
                DiffOp::Replace { .. } => self.words(old, new),
            }
        }
    }

    /// Within lines that changed, keeps the words and blanks that did not.
    fn words(&mut self, old: Range<usize>, new: Range<usize>) {
        let old_keys = keys(self.old.get(old.clone()).unwrap_or_default());
        let new_keys = keys(self.new.get(new.clone()).unwrap_or_default());
        for operation in changes::operations(&old_keys, &new_keys) {
            let (tag, old_part, new_part) = operation.as_tag_tuple();
            match tag {
                DiffTag::Equal => self.keep(old.start + old_part.start..old.start + old_part.end),
                DiffTag::Delete => {}
                DiffTag::Insert | DiffTag::Replace => {
                    self.insert(new.start + new_part.start..new.start + new_part.end);
                }
            }
        }
    }

    fn keep(&mut self, old: Range<usize>) {
        for piece in self.own.get(old).unwrap_or_default() {
            if piece.ends_with(b"\r\n") {
                self.line_end = b"\r\n";
            } else if piece.ends_with(b"\n") {
                self.line_end = b"\n";
            }
            self.bytes.extend_from_slice(piece);
        }
    }

    fn insert(&mut self, new: Range<usize>) {
        for index in new {
            let before = index.checked_sub(1).and_then(|before| self.new.get(before));
            let starts_line = matches!(before, None | Some(Token::LineEnd(_)));
            match self.new.get(index) {
                Some(Token::LineEnd(text)) if *text == "\n" || !self.means_returns => {
                    self.bytes.extend_from_slice(self.line_end);
                }
                Some(Token::Blanks(text)) if starts_line => self.bytes.extend_from_slice(&self.indents.of(text)),
                Some(Token::LineEnd(text) | Token::Blanks(text) | Token::Word(text)) => {
                    self.bytes.extend_from_slice(text.as_bytes());
                }
                None => {}
            }
        }
    }
}

/// The tokens of each line, its end among them.
fn lines(tokens: &[Token<'_>]) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (index, token) in tokens.iter().enumerate() {
        if matches!(token, Token::LineEnd(_)) || index + 1 == tokens.len() {
            lines.push(start..index + 1);
            start = index + 1;
        }
    }
    lines
}

fn line_keys<'t>(tokens: &[Token<'t>], lines: &[Range<usize>]) -> Vec<Vec<&'t str>> {
    lines.iter().map(|line| keys(tokens.get(line.clone()).unwrap_or_default())).collect()
}

/// The tokens of a range of lines.
fn joined(lines: &[Range<usize>], range: Range<usize>) -> Range<usize> {
    match lines.get(range).unwrap_or_default() {
        [] => 0..0,
        [only] => only.clone(),
        [first, .., last] => first.start..last.end,
    }
}

/// How the file spells the indentation that the model spelled in its own way.
#[derive(Default)]
struct Indents {
    known: HashMap<Vec<u8>, Vec<u8>>,
    /// Spaces the model writes for each of the file's tabs, where that is the same on all lines.
    spaces_for_tab: Option<usize>,
}

impl Indents {
    fn new(old: &[Token<'_>], own: &[&[u8]]) -> Self {
        let mut known = HashMap::new();
        let mut starts_line = true;
        for (token, own) in old.iter().zip(own) {
            if let (Token::Blanks(text), true) = (token, starts_line) {
                known.insert(text.as_bytes().to_vec(), own.to_vec());
            }
            starts_line = matches!(token, Token::LineEnd(_));
        }
        let mut widths = known.iter().map(|(spaces, tabs)| {
            let is_all = |text: &[u8], byte| !text.is_empty() && text.iter().all(|&other| other == byte);
            let fits = is_all(spaces, b' ') && is_all(tabs, b'\t') && spaces.len() % tabs.len() == 0;
            fits.then(|| spaces.len() / tabs.len())
        });
        let first = widths.next().flatten();
        let spaces_for_tab = first.filter(|_| widths.all(|width| width == first));
        Self { known, spaces_for_tab }
    }

    fn of<'t>(&'t self, text: &'t str) -> Cow<'t, [u8]> {
        if let Some(own) = self.known.get(text.as_bytes()) {
            return Cow::Borrowed(own);
        }
        match self.spaces_for_tab {
            Some(width) if text.len().is_multiple_of(width) && text.bytes().all(|byte| byte == b' ') => {
                Cow::Owned(vec![b'\t'; text.len() / width])
            }
            _ => Cow::Borrowed(text.as_bytes()),
        }
    }
}

/// The line end nearest to a span: of its first line, else of the line it ends in, else of the line before.
fn local_line_end(content: &[u8], span: &Range<usize>) -> &'static [u8] {
    let after = content.get(span.start..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|at| span.start + at);
    let newline = after.or_else(|| content.get(..span.start).and_then(|before| memchr::memrchr(b'\n', before)));
    let before = newline.and_then(|at| at.checked_sub(1)).and_then(|at| content.get(at));
    if before == Some(&b'\r') { b"\r\n" } else { b"\n" }
}

#[cfg(test)]
mod tests {
    use super::super::matching::{Scope, find};
    use super::*;
    use proptest::prelude::*;

    fn edited(content: &str, old: &str, new: &str) -> String {
        let source = Source::new(content.as_bytes());
        let found = find(&source, old, new, Scope::One).unwrap();
        let span = found.spans[0].clone();
        let text = adapt(&source, &span, &found);
        let mut bytes = content.as_bytes().to_vec();
        bytes.splice(span, text.iter().copied());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn new_lines_end_as_their_neighbours_do() {
        assert_eq!(edited("one\r\ntwo\r\nthree\r\n", "one\ntwo\n", "1\n1.5\n2\n"), "1\r\n1.5\r\n2\r\nthree\r\n");
        assert_eq!(edited("a\r\nb\r\nc\nd\ne\r\n", "c\nd", "C\nD"), "a\r\nb\r\nC\nD\ne\r\n");
        assert_eq!(edited("a\r\nb\nc\r\n", "a\nb\nc", "a\nx\nb\ny\nc"), "a\r\nx\r\nb\ny\nc\r\n");
        assert_eq!(edited("a\r\nb", "b", "b\nc"), "a\r\nb\r\nc");
        assert_eq!(edited("a\nb", "b\n", "B\nC\n"), "a\nB\nC", "the file's missing last line end stays missing");
        assert_eq!(edited("a\r\nb\r\n", "a\r\n", "a\n"), "a\nb\r\n", "who spells line ends means them");
        assert_eq!(edited("a\nb\n", "a\r\nb", "a\r\nx\r\nb"), "a\nx\nb\n", "but not who spells them wrongly");
        assert_eq!(edited("a\nb\n", "a\r\nb", "a\r\nc\r\nd"), "a\nc\nd\n");
        assert_eq!(edited("a\nb\n", "a", "a\r"), "a\r\nb\n", "a lone return is a word");
    }

    #[test]
    fn blanks_of_the_file_are_kept() {
        assert_eq!(
            edited("if x:\n\treturn  1\n", "if x:\n    return  1", "if x:\n    return  2"),
            "if x:\n\treturn  2\n"
        );
        assert_eq!(edited("a =\u{a0}5;\n", "a = 5;", "a = 6;"), "a =\u{a0}6;\n");
        assert_eq!(
            edited("f {\n\ta;\n}\n", "f {\n    a;\n}", "f {\n    a;\n    if b {\n        c;\n    }\n}"),
            "f {\n\ta;\n\tif b {\n\t\tc;\n\t}\n}\n"
        );
        assert_eq!(edited("x  \r\n\ty\r\n", "x\n  y\n", "x\n  z\n"), "x  \r\n\tz\r\n");
    }

    #[test]
    fn replacements_are_not_interpreted() {
        let new = r"s.replace(/(a)/, '$1$&\1\n$$0')";
        assert_eq!(edited("v = OLD;\r\n", "OLD", new), format!("v = {new};\r\n"));
    }

    proptest! {
        /// But for line ends the result is the new text, in files of any line ends.
        #[test]
        fn only_line_ends_are_adapted(
            before in "[a\n]{0,6}", old in "[xyz \n]{1,10}", new in "[xyzw \n]{0,12}", after in "[b\n]{0,6}", ends in any::<u64>(),
        ) {
            let old = format!("<{old}>");
            let plain = format!("{before}{old}{after}");
            let mut ends = ends;
            let mut content = String::new();
            for c in plain.chars() {
                if c == '\n' {
                    if ends & 1 == 1 { content.push('\r'); }
                    ends >>= 1;
                }
                content.push(c);
            }
            let result = edited(&content, &old, &new);
            prop_assert_eq!(result.replace("\r\n", "\n"), format!("{before}{new}{after}"));
            if !content.contains('\r') { prop_assert!(!result.contains('\r')); }
            if !content.replace("\r\n", "").contains('\n') && content.contains('\n') {
                prop_assert!(!result.replace("\r\n", "").contains('\n'));
            }
        }
    }
}
