//! Code in colours: what is read in which language, and that no letter is lost.

use super::*;
use crate::front::repl::view::theme::Glyphs;
use languages::GRAMMARS;
use proptest::prelude::*;

/// The pieces that are not plain, as `role:text`.
fn coloured(language: &str, text: &str) -> String {
    let mut lexer = Lexer::new(language).unwrap();
    let lines = text.lines().map(|line| {
        let pieces = lexer.line(line).into_iter().filter(|(role, _)| *role != Role::Plain);
        pieces.map(|(role, piece)| format!("{role:?}:{piece}").to_lowercase()).collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn languages_are_read_as_they_are_written() {
    for (language, text, shown) in [
        ("rs", "let c = 'x'; fn f<'a>(s: &'a str)", "keyword:let string:'x' keyword:fn kind:str"),
        (
            "rust",
            "r#\"a\" b\"#; x.match(1.5) /* /* */ */ 1",
            "string:r#\" string:a\" b\"# function:match number:1.5 comment:/* comment: /* */ */ number:1",
        ),
        ("rust", "let s = \"a\nb\"; MAX", "keyword:let string:\" string:a\nstring:b\" number:max"),
        (
            "ts",
            "const r = /[/\"]/; // c\nlet t = `a\nb`",
            "keyword:const string:/[/\"]/ comment:// c\nkeyword:let string:` string:a\nstring:b`",
        ),
        ("js", "a / b / c", ""),
        (
            "python",
            "@wraps\ndef f(x=None): # c\n    \"\"\"doc\n    it's\"\"\"; it's",
            "function:@wraps\nkeyword:def function:f number:none comment:# c\nstring:\"\"\" string:doc\nstring:    it's\"\"\"",
        ),
        (
            "sh",
            "cat <<'EOF' > \"$f\"\nif x\nEOF\nA=1 make all # c",
            "function:cat string:' string:eof' string:\" string:$f\"\nstring:if x\nstring:eof\nnumber:1 comment:# c",
        ),
        (
            "sh",
            "if grep -q a#b ${x}; then ls | wc",
            "keyword:if function:grep kind:${x} keyword:then function:ls function:wc",
        ),
        ("console", "$ ls -l\ntotal 3", "comment:$  function:ls\n"),
        ("diff", "--- a\n+b\n-c\n@@ d\ne", "keyword:--- a\nadded:+b\nremoved:-c\nkind:@@ d\n"),
        (
            "json",
            "{\"a\": \"b\", \"c\": [1, true]}",
            "kind:\" kind:a\" string:\" string:b\" kind:\" kind:c\" number:1 number:true",
        ),
        ("yaml", "- name: it's # c\n  n: 3", "kind:name comment:# c\nkind:n number:3"),
        ("Cargo.toml", "[a.b]\nx-y = \"z\" # c", "kind:[a.b]\nkind:x-y string:\" string:z\" comment:# c"),
        (
            "html",
            "<!-- a\n--><a href=\"b\"\n c>d &amp; e</a>",
            "comment:<!-- comment: a\ncomment:--> keyword:<a kind:href string:\" string:b\"\nkind:c keyword:> number:&amp; keyword:</a keyword:>",
        ),
        ("sql", "SELECT a FROM b -- c", "keyword:select keyword:from comment:-- c"),
        ("lua", "--[[ a\n]] x = [[b]] -- c", "comment:--[[ comment: a\ncomment:]] string:[[ string:b]] comment:-- c"),
        ("C", "#include <a.h>\nint x = 0x1F;", "keyword:#include\nkind:int number:0x1f"),
        ("Dockerfile", "FROM a AS b", "keyword:from keyword:as"),
    ] {
        assert_eq!(coloured(language, text), shown, "{language}: {text}");
    }
}

#[test]
fn languages_are_found_by_word_ending_and_path() {
    for name in ["rs", "Rust", "TSX", "src/main.rs", "a\\b.PY", "Makefile", "x/Dockerfile", ".bashrc", "tsconfig.json"]
    {
        assert!(Lexer::new(name).is_some(), "{name}");
    }
    for name in ["", "text", "brainfuck", ".", "/", "a.unknown"] {
        assert!(Lexer::new(name).is_none(), "{name}");
    }
}

#[test]
fn lines_are_shown_clean() {
    let look = Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width: 80 };
    let shown = lines("x.rs", "a\tb \n\tfn\r\n\u{1b}[2J 天\tc\n\n", &look);
    let shown: Vec<String> = shown.iter().map(|line| line.iter().map(|span| span.content.as_ref()).collect()).collect();
    assert_eq!(shown, ["a   b", "    fn", "␛[2J 天 c", ""]);
    let long = "a(1) ".repeat(1000);
    assert_eq!(lines("rs", &long, &look).first().map(Vec::len), Some(1));
}

proptest! {
    #[test]
    fn no_letter_is_lost(at in 0..GRAMMARS.len(), text in "([\\PC]|[a-z'\"`#/*<>\\[\\]{}$@=:&;.\\\\ -]|\n|<<A|\"\"\"|/\\*|--\\[\\[|r#\"|&a;){0,60}") {
        let names = GRAMMARS[at].names.split(' ').next().unwrap();
        let mut lexer = Lexer::new(names).unwrap();
        for line in text.split('\n') {
            let pieces: String = lexer.line(line).into_iter().map(|(_, piece)| piece).collect();
            prop_assert_eq!(pieces, line);
        }
    }
}
