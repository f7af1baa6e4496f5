//! How a file looks: its length, its functions, its first line, and words that never land.

use super::lex::{Kind, Token};
use super::source::{Source, attribute, closing, lines_of};

/// Lines of code in a file, tests not counted. Above this nobody keeps a file in mind; growth becomes a file beside it.
const FILE_LINES: usize = 450;

/// Lines of code in a function. What is longer is a flat table, and is named in [`LONG_FUNCTIONS`].
const FUNCTION_LINES: usize = 80;

/// Functions that may be longer: the file, the name, and why.
const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[];

/// Names that stand for anybody in the examples of tests; any other folder under `/home` is somebody's own.
const ANYBODY: &[&str] = &["a", "ada", "me", "someone", "u", "user", "x", "you"];

/// Long files and long functions, and exceptions that are needed no more.
pub fn lengths(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    let mut spared = Vec::new();
    for source in sources {
        let lines = lines_of(&source.code());
        if lines > FILE_LINES {
            found.push(format!("{}: {lines} lines of code, at most {FILE_LINES}", source.path));
        }
        for function in functions(&source.tokens()).iter().filter(|function| function.lines > FUNCTION_LINES) {
            let exception = (source.path.as_str(), function.name);
            if LONG_FUNCTIONS.iter().any(|(path, name, _)| (*path, *name) == exception) {
                spared.push((source.path.clone(), function.name.to_owned()));
                continue;
            }
            let Function { name, line, lines } = function;
            found.push(format!("{}:{line}: `{name}` has {lines} lines, at most {FUNCTION_LINES}", source.path));
        }
    }
    for (path, name, _) in LONG_FUNCTIONS {
        if !spared.iter().any(|(file, function)| file == path && function == name) {
            found.push(format!("{path}: `{name}` needs no exception any more"));
        }
    }
    found
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// Every function with a body, nested ones too.
fn functions<'a>(tokens: &[Token<'a>]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if !tokens[at].is_word("fn") || tokens.get(at + 1).is_none_or(|token| token.kind != Kind::Word) {
            continue;
        }
        let mut open = at + 2;
        while let Some(token) = tokens.get(open) {
            match token.text {
                "{" => {
                    let body = &tokens[at..closing(tokens, open)];
                    found.push(Function { name: tokens[at + 1].text, line: tokens[at].line, lines: lines_of(body) });
                    break;
                }
                ";" => break,
                "(" | "[" => open = closing(tokens, open),
                _ => open += 1,
            }
        }
    }
    found
}

/// Files that do not say on their first line what they own.
pub fn first_line(source: &Source) -> Vec<String> {
    let says = source.text.lines().next().is_some_and(|line| line.starts_with("//! ") && line.len() > "//! ".len() + 8);
    if says {
        Vec::new()
    } else {
        vec![format!("{}: the first line is `//!` and says what the file owns", source.path)]
    }
}

/// Macros, words and attributes that never land.
pub fn leftovers(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut say = |line: usize, what: &str| found.push(format!("{}:{line}: {what}", source.path));
    let tokens = source.tokens();
    for (at, token) in tokens.iter().enumerate() {
        let is_macro = tokens.get(at + 1).is_some_and(|next| next.is_mark("!"));
        if is_macro && token.kind == Kind::Word && ["dbg", "todo", "unimplemented"].contains(&token.text) {
            say(token.line, &format!("`{}!` never lands", token.text));
        }
        if let Some(range) = attribute(&tokens, at)
            && tokens[range].windows(2).any(|pair| pair[0].is_word("allow") && pair[1].is_mark("("))
        {
            say(token.line, "an exception is `#[expect(.., reason = \"..\")]`, never `allow`");
        }
    }
    for comment in source.comments() {
        let mut words = comment.text.split(|character: char| !character.is_alphanumeric());
        if let Some(word) = words.find(|word| ["FIXME", "HACK", "TODO", "XXX"].contains(&word.to_uppercase().as_str()))
            && (word.chars().all(char::is_uppercase) || word.eq_ignore_ascii_case("fixme"))
        {
            say(comment.line, &format!("`{word}` in a comment: do it, or write it down elsewhere"));
        }
    }
    found
}

/// Lines of `text` that name a folder of the machine it was written on.
pub fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let here = env!("CARGO_MANIFEST_DIR");
    let is_distinctive = here.matches('/').count() > 1;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let somebody = ["/home/", "/Users/"].iter().any(|homes| {
            line.match_indices(homes).any(|(at, _)| {
                let name = line[at + homes.len()..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                !name.is_empty() && !ANYBODY.contains(&name)
            })
        });
        if somebody || is_distinctive && line.contains(here) {
            found.push(format!("{path}:{}: a path of somebody's machine", number + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_by_their_own_braces() {
        let text = "trait T { fn no(&self); }\nfn a(f: fn(u8) -> [u8; 2]) -> u8\nwhere X: Y,\n{\n// }\n\"}\";\n'}';\n\n\
                    fn b() {}\n}\nfn c() { }";
        let source = Source::new("src/x.rs", text);
        let found: Vec<_> = functions(&source.tokens()).iter().map(|f| (f.name, f.line, f.lines)).collect();
        assert_eq!(found, [("a", 2, 7), ("b", 9, 1), ("c", 11, 1)]);
    }

    #[test]
    fn long_things_are_reported_and_their_tests_are_not() {
        let many = |count: usize| "let x = 1;\n".repeat(count);
        let text = format!("fn f() {{\n{}}}\n", many(79));
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}", many(500));
        assert_eq!(lengths(&[Source::new("src/x.rs", &format!("{text}{tests}"))]).len(), 1, "81 lines");
        let file = format!("{}// a comment\n\n{tests}", many(450));
        assert_eq!(lengths(&[Source::new("src/x.rs", &file)]), [""; 0]);
        assert_eq!(lengths(&[Source::new("src/x.rs", &format!("x;\n{file}"))]).len(), 1);
    }

    #[test]
    fn leftovers_are_found_in_code_and_comments_only() {
        let found = |text: &str| leftovers(&Source::new("src/x.rs", text)).len();
        assert_eq!(found("fn f() { todo!() }"), 1);
        assert_eq!(found("#![allow(dead_code)] #[cfg_attr(a, allow(b))] fn f() {}"), 2);
        assert_eq!(found("// fixme: later\n/* XXX */"), 2);
        assert_eq!(found("let todo = \"dbg!(x) FIXME\"; // a todo list; allow(x)\nlet a = todo != 1 && allow(x);"), 1);
        assert_eq!(found("#[expect(a, reason = \"allow(b)\")] fn f() {}"), 0);
    }

    #[test]
    fn a_machine_is_told_from_an_example() {
        let folder = ["/home", "/user/a"].concat();
        assert_eq!(machine_paths("x", &folder), [""; 0]);
        assert_eq!(machine_paths("x", &["see /Users", "/jane.doe/a"].concat()).len(), 1);
        assert_eq!(machine_paths("x", concat!(env!("CARGO_MANIFEST_DIR"), "/src")).len(), 1);
    }
}
