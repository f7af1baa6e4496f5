//! What can be said of a language, as far as six colours need it: comments, strings, words.
//!
//! The languages are in [`super::languages`]; how a line is read is in [`super::lexer`].

/// A language, or a family that reads alike.
#[derive(Debug)]
pub struct Grammar {
    /// Fence words and endings of file names, in lower case, apart by spaces.
    pub names: &'static str,
    /// How its lines are read.
    pub shape: Shape,
    /// What begins a comment that ends with the line.
    pub comment: &'static [&'static str],
    /// What begins and ends a comment that may go over lines.
    pub block: Option<(&'static str, &'static str)>,
    /// Its strings; of those that begin alike the longest comes first.
    pub strings: &'static [Quote],
    /// Letters of its names besides letters, digits and `_`.
    pub letters: &'static str,
    /// Its reserved words, apart by spaces.
    pub keywords: &'static str,
    /// Values that have a name.
    pub constants: &'static str,
    /// Types that do not begin with a capital.
    pub kinds: &'static str,
    /// What only some languages have.
    pub ways: &'static [Way],
}

/// How the lines of a language are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Words, strings, numbers, comments.
    Code,
    /// The same after `name:` or `name =` at the beginning of a line, and sections in brackets.
    Keys,
    /// Tags with attributes between text.
    Markup,
    /// Lines that were added and removed.
    Diff,
    /// Commands after a prompt, and what they print.
    Console,
}

/// A kind of string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// What begins it.
    pub open: &'static str,
    /// What ends it.
    pub close: &'static str,
    /// Whether a backslash takes the next letter's meaning.
    pub escapes: bool,
    /// Whether it goes on over the end of a line.
    pub lines: bool,
}

/// What only some languages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Comments within comments.
    Nested,
    /// `'a` is a lifetime unless a `'` follows, `r#"…"#` a string, `name!` a call.
    Rust,
    /// `/…/` is a pattern where a value may stand.
    Patterns,
    /// `#word` and `@word` at the beginning of a word are reserved words.
    Marks,
    /// `$name` and `${name}` are variables; the first word is a command; `<<WORD` begins a document.
    Shell,
    /// `$name` is a variable.
    Dollar,
    /// Names that begin with a capital are types.
    Capitals,
    /// Upper and lower case are the same in reserved words.
    AnyCase,
    /// A comment begins only where a word could.
    ApartComment,
    /// A line in brackets is a title.
    Sections,
}
