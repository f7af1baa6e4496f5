//! One line of code, cut into pieces that are coloured alike.
//!
//! Knows no grammar but what the table says, never looks back at an earlier line, and never fails: what it does not
//! understand is plain. Linear in the length of the line.

use super::grammar::{Grammar, Quote, Shape, Way};
use super::scan::{self, Scan, Word};
use super::words::{self, Words};

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing in particular.
    Plain,
    /// A reserved word.
    Keyword,
    /// A string.
    String,
    /// A number, or a value that has a name.
    Number,
    /// A comment, a prompt.
    Comment,
    /// The name of a function or a command.
    Function,
    /// A type, a key, a variable.
    Kind,
    /// A line that was added.
    Added,
    /// A line that was removed.
    Removed,
}

/// A piece of a line.
pub type Piece<'a> = (Role, &'a str);

/// What the end of a line was inside of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Inside {
    /// Code.
    #[default]
    Nothing,
    /// So many comments, one in the other.
    Comment(usize),
    /// A string, up to its close.
    Text { close: String, escapes: bool },
    /// A document in a shell script, up to a line of this word.
    Document(String),
    /// A tag.
    Tag,
}

/// Where the reading of a text stands.
#[derive(Clone, Debug)]
pub struct Lexer {
    grammar: &'static Grammar,
    words: &'static Words,
    inside: Inside,
}

impl Lexer {
    /// At the beginning of a text. `None` for a language that is not known.
    pub fn new(language: &str) -> Option<Self> {
        let (grammar, words) = words::find(language)?;
        Some(Self { grammar, words, inside: Inside::Nothing })
    }

    /// The pieces of the next line, which together are the line.
    pub fn line<'a>(&mut self, line: &'a str) -> Vec<Piece<'a>> {
        let mut scan = Scan::new(line);
        match self.grammar.shape {
            Shape::Code => self.code(&mut scan),
            Shape::Keys => self.keys(&mut scan),
            Shape::Markup => self.markup(&mut scan),
            Shape::Diff => scan.take(line.len(), diff_role(line)),
            Shape::Console => console(&mut scan),
        }
        scan.pieces
    }

    fn has(&self, way: Way) -> bool {
        self.grammar.ways.contains(&way)
    }

    fn is_name(&self, letter: char) -> bool {
        letter.is_alphanumeric() || letter == '_' || self.grammar.letters.contains(letter)
    }

    /// How many bytes of `text` are a name.
    fn name(&self, text: &str) -> usize {
        text.find(|letter| !self.is_name(letter)).unwrap_or(text.len())
    }

    fn code(&mut self, scan: &mut Scan<'_>) {
        if let Inside::Document(word) = &self.inside {
            if scan.rest.trim() == word {
                self.inside = Inside::Nothing;
            }
            return scan.take(scan.rest.len(), Role::String);
        }
        let mut document = None;
        let mut command = self.has(Way::Shell) && self.inside == Inside::Nothing;
        while let Some(letter) = scan.rest.chars().next() {
            if self.resume(scan) {
                continue;
            }
            if letter.is_whitespace() {
                scan.take_while(char::is_whitespace, Role::Plain);
            } else if self.comment(scan) || self.string(scan) {
                command = false;
            } else if letter.is_ascii_digit() {
                self.number(scan);
                command = false;
            } else if letter == '$' && (self.has(Way::Shell) || self.has(Way::Dollar)) {
                self.variable(scan);
                command = command && scan.before == '$';
            } else if self.is_name(letter) {
                self.word(scan, &mut command);
            } else {
                if document.is_none() && self.has(Way::Shell) {
                    document = scan::document_word(scan.rest);
                }
                self.mark(scan, letter);
                command = self.has(Way::Shell) && matches!(letter, '|' | '&' | ';' | '(' | '{' | '!' | '`');
            }
        }
        if let (Some(word), Inside::Nothing) = (document, &self.inside) {
            self.inside = Inside::Document(word);
        }
    }

    /// Goes on with what began earlier, on this line or another. Whether there was anything.
    fn resume(&mut self, scan: &mut Scan<'_>) -> bool {
        match std::mem::take(&mut self.inside) {
            Inside::Comment(depth) => self.rest_of_comment(scan, depth),
            Inside::Text { close, escapes } => {
                if !scan.text(&close, escapes, Role::String) {
                    self.inside = Inside::Text { close, escapes };
                }
            }
            Inside::Tag => self.tag(scan),
            Inside::Nothing | Inside::Document(_) => return false,
        }
        true
    }

    fn rest_of_comment(&mut self, scan: &mut Scan<'_>, mut depth: usize) {
        let Some((open, close)) = self.grammar.block else { return };
        let mut taken = 0;
        while let Some(rest) = scan.rest.get(taken..).filter(|rest| !rest.is_empty() && depth > 0) {
            if rest.starts_with(close) {
                taken += close.len();
                depth -= 1;
            } else if self.has(Way::Nested) && rest.starts_with(open) {
                taken += open.len();
                depth += 1;
            } else {
                taken += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        scan.take(taken, Role::Comment);
        if depth > 0 {
            self.inside = Inside::Comment(depth);
        }
    }

    fn comment(&mut self, scan: &mut Scan<'_>) -> bool {
        if let Some((open, _)) = self.grammar.block
            && scan.rest.starts_with(open)
        {
            scan.take(open.len(), Role::Comment);
            self.rest_of_comment(scan, 1);
            return true;
        }
        let apart = !self.has(Way::ApartComment) || scan.before.is_whitespace() || scan.before == ';';
        let begins = apart && self.grammar.comment.iter().any(|mark| scan.rest.starts_with(mark));
        if begins {
            scan.take(scan.rest.len(), Role::Comment);
        }
        begins
    }

    fn string(&mut self, scan: &mut Scan<'_>) -> bool {
        if self.has(Way::Rust) && (scan::rust_letter(scan) || self.rust_raw(scan)) {
            return true;
        }
        let found = self.grammar.strings.iter().find(|quote| scan.rest.starts_with(quote.open));
        let Some(quote) = found else { return false };
        // An apostrophe: `don't`, `1'000`.
        if quote.open == "'" && scan.before.is_alphanumeric() && scan.word != Word::Prefix {
            return false;
        }
        self.begin(scan, *quote);
        true
    }

    fn begin(&mut self, scan: &mut Scan<'_>, quote: Quote) {
        let role =
            if self.grammar.shape == Shape::Keys && scan::is_key(scan.rest, quote) { Role::Kind } else { Role::String };
        scan.take(quote.open.len(), role);
        if !scan.text(quote.close, quote.escapes, role) && quote.lines {
            self.inside = Inside::Text { close: quote.close.to_owned(), escapes: quote.escapes };
        }
    }

    /// `r"…"`, `br#"…"#`
    fn rust_raw(&mut self, scan: &mut Scan<'_>) -> bool {
        let body = scan.rest.strip_prefix('b').or(scan.rest.strip_prefix('c')).unwrap_or(scan.rest);
        let Some(body) = body.strip_prefix('r') else { return false };
        let hashes = body.len() - body.trim_start_matches('#').len();
        if !body.trim_start_matches('#').starts_with('"') {
            return false;
        }
        let close = format!("\"{}", "#".repeat(hashes));
        scan.take(scan.rest.len() - body.len() + hashes + 1, Role::String);
        if !scan.text(&close, false, Role::String) {
            self.inside = Inside::Text { close, escapes: false };
        }
        true
    }

    fn number(&self, scan: &mut Scan<'_>) {
        let mut letters = scan.rest.char_indices().peekable();
        let mut taken = 0;
        while let Some((at, letter)) = letters.next() {
            let point = letter == '.' && letters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
            if !letter.is_alphanumeric() && letter != '_' && letter != '%' && !point {
                break;
            }
            taken = at + letter.len_utf8();
        }
        // Text that only begins with a digit: `2nd-level`, a hash, a path.
        let role = if self.name(scan.rest) > taken { Role::Plain } else { Role::Number };
        scan.take(taken, role);
        scan.word = Word::Other;
    }

    fn variable(&self, scan: &mut Scan<'_>) {
        let name = scan.rest.strip_prefix('$').unwrap_or_default();
        let taken = match name.chars().next() {
            Some('{') => name.find('}').map_or(0, |end| end + 1),
            Some('@' | '#' | '?' | '!' | '*' | '$') if self.has(Way::Shell) => 1,
            Some(_) | None => {
                name.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(name.len())
            }
        };
        scan.take(1 + taken, if taken == 0 { Role::Plain } else { Role::Kind });
    }

    fn word(&self, scan: &mut Scan<'_>, command: &mut bool) {
        let length = self.name(scan.rest);
        let (word, after) = scan.rest.split_at_checked(length).unwrap_or((scan.rest, ""));
        let macros = self.has(Way::Rust) && after.starts_with('!') && !after.starts_with("!=");
        let calls = after.starts_with('(') && self.grammar.shape == Shape::Code;
        let known = match self.words.role(word, self.has(Way::AnyCase)) {
            // A field or a method that is called like a reserved word.
            Some(_) if scan.before == '.' && word != "await" => None,
            known => known,
        };
        let role = if let Some(role) = known {
            role
        } else if (*command && !after.starts_with('=')) || calls || macros {
            Role::Function
        } else if self.has(Way::Capitals) && word.starts_with(char::is_uppercase) {
            let constant = word.len() > 1 && !word.chars().any(char::is_lowercase);
            if constant { Role::Number } else { Role::Kind }
        } else {
            Role::Plain
        };
        *command = *command && scan::leads_to_command(word);
        scan.take(length + usize::from(macros), role);
        scan.word = if scan::is_prefix(word) { Word::Prefix } else { Word::Other };
    }

    /// A letter that is no part of a word.
    fn mark(&self, scan: &mut Scan<'_>, letter: char) {
        let after = scan.rest.get(letter.len_utf8()..).unwrap_or_default();
        if matches!(letter, '#' | '@') && self.has(Way::Marks) {
            let name = self.name(after);
            let role = if letter == '@' { Role::Function } else { Role::Keyword };
            let begins = letter == '@' || scan.last == '\0';
            return scan.take(1 + name, if name > 0 && begins { role } else { Role::Plain });
        }
        if letter == '/' && self.has(Way::Patterns) && "\0(,=:[!&|?{};+~>".contains(scan.last) {
            let taken = scan::pattern(after);
            return scan.take(1 + taken, if taken > 0 { Role::String } else { Role::Plain });
        }
        scan.take(letter.len_utf8(), Role::Plain);
    }

    fn keys(&mut self, scan: &mut Scan<'_>) {
        if self.inside == Inside::Nothing {
            scan.take_while(char::is_whitespace, Role::Plain);
            while scan.rest.starts_with("- ") {
                scan.take(1, Role::Plain);
                scan.take_while(char::is_whitespace, Role::Plain);
            }
            if self.has(Way::Sections) && scan.rest.starts_with('[') && scan.rest.trim_end().ends_with(']') {
                return scan.take(scan.rest.len(), Role::Kind);
            }
            let name = self.name(scan.rest);
            let after = scan.rest.get(name..).unwrap_or_default().trim_start();
            let colon =
                after.strip_prefix(':').is_some_and(|after| after.is_empty() || after.starts_with([' ', '=', ':']));
            if name > 0 && (colon || after.starts_with('=') || after.starts_with("?=") || after.starts_with("+=")) {
                scan.take(name, Role::Kind);
            }
        }
        self.code(scan);
    }

    fn markup(&mut self, scan: &mut Scan<'_>) {
        while !scan.rest.is_empty() {
            if self.resume(scan) || self.comment(scan) {
                continue;
            }
            let plain = scan.rest.find(['<', '&']).unwrap_or(scan.rest.len());
            if plain > 0 {
                scan.take(plain, Role::Plain);
                continue;
            }
            let after = scan.rest.get(1..).unwrap_or_default();
            if scan.rest.starts_with('&') {
                let length = after.find(|letter: char| !letter.is_alphanumeric() && letter != '#').unwrap_or(0);
                let ends = length > 0 && after.get(length..).is_some_and(|rest| rest.starts_with(';'));
                scan.take(if ends { length + 2 } else { 1 }, if ends { Role::Number } else { Role::Plain });
            } else {
                let name = after.trim_start_matches(['/', '!', '?']);
                let length = self.name(name);
                scan.take(1 + after.len() - name.len() + length, if length > 0 { Role::Keyword } else { Role::Plain });
                if length > 0 {
                    self.tag(scan);
                }
            }
        }
    }

    /// The rest of a tag.
    fn tag(&mut self, scan: &mut Scan<'_>) {
        self.inside = Inside::Tag;
        while let Some(letter) = scan.rest.chars().next() {
            if letter == '>' || scan.rest.starts_with("/>") || scan.rest.starts_with("?>") {
                self.inside = Inside::Nothing;
                return scan.take(if letter == '>' { 1 } else { 2 }, Role::Keyword);
            }
            if let Some(quote) = self.grammar.strings.iter().find(|quote| scan.rest.starts_with(quote.open)) {
                // A string over lines would forget that it is in a tag.
                self.begin(scan, Quote { lines: false, ..*quote });
            } else {
                let length = self.name(scan.rest);
                let role = if length > 0 { Role::Kind } else { Role::Plain };
                scan.take(length.max(letter.len_utf8()), role);
            }
        }
    }
}

fn diff_role(line: &str) -> Role {
    if ["+++", "---", "diff ", "index "].iter().any(|mark| line.starts_with(mark)) {
        Role::Keyword
    } else if line.starts_with('+') {
        Role::Added
    } else if line.starts_with('-') {
        Role::Removed
    } else if line.starts_with("@@") {
        Role::Kind
    } else {
        Role::Plain
    }
}

/// What was typed after a prompt is read as shell.
fn console(scan: &mut Scan<'_>) {
    scan.take_while(char::is_whitespace, Role::Plain);
    let prompt = ["$ ", "# ", "% ", "> ", ">>> "].iter().find(|prompt| scan.rest.starts_with(**prompt));
    if let Some(prompt) = prompt {
        scan.take(prompt.len(), Role::Comment);
        if let Some(mut shell) = Lexer::new("sh") {
            scan.pieces.extend(shell.line(scan.rest));
            return;
        }
    }
    scan.take(scan.rest.len(), Role::Plain);
}
