//! The crate's own source: every file with its tokens, its module path and what of it is a test.
//!
//! Reads files and judges nothing.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::lex::{Kind, Token, tokens};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One `.rs` file.
pub struct Source {
    /// From the root of the repository, with `/`.
    pub path: String,
    pub text: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Everything but comments.
    pub fn tokens(&self) -> Vec<Token<'_>> {
        tokens(&self.text).into_iter().filter(|token| token.kind != Kind::Comment).collect()
    }

    /// Everything but comments and what is compiled for tests alone.
    pub fn code(&self) -> Vec<Token<'_>> {
        if self.is_test() {
            return Vec::new();
        }
        let all = self.tokens();
        let mut code = Vec::with_capacity(all.len());
        let mut at = 0;
        while at < all.len() {
            match test_item(&all, at) {
                Some(end) => at = end,
                None => {
                    code.push(all[at]);
                    at += 1;
                }
            }
        }
        code
    }

    pub fn comments(&self) -> Vec<Token<'_>> {
        tokens(&self.text).into_iter().filter(|token| token.kind == Kind::Comment).collect()
    }

    /// Whether the whole file is a test: everything below `tests/`, and `x/tests.rs`.
    pub fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// The names that lead to this module from the root of the crate; empty for the root itself.
    pub fn module(&self) -> Vec<String> {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let names = inside.trim_end_matches(".rs").trim_end_matches("/mod");
        match names {
            "lib" | "main" => Vec::new(),
            _ => names.split('/').map(str::to_owned).collect(),
        }
    }
}

/// All files below `src` and `tests`; folders that are crates of their own are left out.
#[expect(clippy::unwrap_used, reason = "without its own source the test has nothing to say")]
pub fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in ["src", "tests"] {
        walk(&root().join(folder), &mut |path| {
            if path.extension().is_some_and(|extension| extension == "rs") {
                paths.push(path.to_owned());
            }
        });
    }
    paths.sort();
    paths.iter().map(|path| Source { path: shown(path), text: std::fs::read_to_string(path).unwrap() }).collect()
}

/// Calls `each` with every file below `folder`.
#[expect(clippy::unwrap_used, reason = "without its own source the test has nothing to say")]
pub fn walk(folder: &Path, each: &mut dyn FnMut(&Path)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if !path.is_dir() {
            each(&path);
        } else if !path.join("Cargo.toml").exists() {
            walk(&path, each);
        }
    }
}

/// A path from the root of the repository.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string().replace('\\', "/")
}

/// The lines on which there is a token.
pub fn lines_of(tokens: &[Token<'_>]) -> usize {
    tokens.iter().flat_map(|token| token.line..=token.end).collect::<BTreeSet<_>>().len()
}

/// The tokens of the attribute that begins at `at`, its brackets included.
pub fn attribute(tokens: &[Token<'_>], at: usize) -> Option<Range<usize>> {
    if !tokens.get(at)?.is_mark("#") {
        return None;
    }
    let open = if tokens.get(at + 1)?.is_mark("!") { at + 2 } else { at + 1 };
    tokens.get(open)?.is_mark("[").then(|| at..closing(tokens, open))
}

/// The index after the bracket that closes the one at `open`.
pub fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.kind != Kind::Mark {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The index after the item at `at`, if that item is compiled for tests alone.
fn test_item(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let first = attribute(tokens, at)?;
    let inside = &tokens[first.clone()];
    let has = |word: &str| inside.iter().any(|token| token.is_word(word));
    if !(has("cfg") && has("test")) || has("not") {
        return None;
    }
    let mut at = first.end;
    while let Some(more) = attribute(tokens, at) {
        at = more.end;
    }
    let visibility = ["pub", "crate", "super", "in"];
    let mut words = tokens.iter().skip(at).filter(|token| token.kind == Kind::Word);
    let is_use = words.find(|token| !visibility.contains(&token.text)).is_some_and(|word| word.text == "use");
    while let Some(token) = tokens.get(at) {
        at = match token.text {
            ";" => return Some(at + 1),
            "{" if !is_use => return Some(closing(tokens, at)),
            "(" | "[" | "{" => closing(tokens, at),
            _ => at + 1,
        };
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        Source::new("src/x.rs", text).code().iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_compiled_for_tests_is_no_code() {
        assert_eq!(
            code("fn a() {}\n#[cfg(test)]\nmod tests { fn b() { \"}\" } }\nfn c() {}"),
            "fn a ( ) { } fn c ( ) { }"
        );
        assert_eq!(code("#[cfg(test)] mod tests; mod b;"), "mod b ;");
        assert_eq!(code("#[cfg(all(test, unix))] #[expect(x)] use a::{b, c}; d"), "d");
        assert_eq!(code("#[cfg(test)] fn f(x: [u8; 3]) -> u8 { 1 } d"), "d");
        assert_eq!(code("#[cfg(not(test))] mod a;"), "# [ cfg ( not ( test ) ) ] mod a ;");
    }

    #[test]
    fn a_file_knows_its_module() {
        let module = |path: &str| Source::new(path, "").module().join("::");
        assert_eq!(module("src/lib.rs"), "");
        assert_eq!(module("src/base/mod.rs"), "base");
        assert_eq!(module("src/base/text/cut.rs"), "base::text::cut");
        assert!(Source::new("src/base/text/tests.rs", "").is_test());
    }
}
