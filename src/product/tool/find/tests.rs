//! `find_files` in folders of its own.

use serde_json::{Value, json};

use super::*;
use crate::product::tool::fixture::{Fixture, all};

fn run(fixture: &Fixture, arguments: Value) -> Output {
    fixture.run(&FindFiles::new(fixture.workspace(), LIMITS), arguments)
}

fn found(fixture: &Fixture, pattern: &str) -> Vec<String> {
    let output = run(fixture, json!({"pattern": pattern}));
    assert!(!output.is_error, "{output:?}");
    if output.text.head.starts_with("no file matches") {
        Vec::new()
    } else {
        output.text.head.lines().map(str::to_owned).collect()
    }
}

#[test]
fn globs_match_names_or_paths() {
    let fixture = Fixture::with(&[
        ("src/main.rs", ""),
        ("src/deep/er/lib.rs", ""),
        ("src/readme.md", ""),
        ("x.rs", ""),
        ("app/[id].tsx", ""),
    ]);
    for (pattern, expected) in [
        ("*.rs", vec!["src/deep/er/lib.rs", "src/main.rs", "x.rs"]),
        ("**/*.rs", vec!["src/deep/er/lib.rs", "src/main.rs", "x.rs"]),
        ("src/*.rs", vec!["src/main.rs"]),
        ("./src/**/*.{rs,md}", vec!["src/deep/er/lib.rs", "src/main.rs", "src/readme.md"]),
        ("src/", vec!["src/deep/er/lib.rs", "src/main.rs", "src/readme.md"]),
        ("[w-y].rs", vec!["x.rs"]),
        ("main.rs", vec!["src/main.rs"]),
        ("src/main.rs", vec!["src/main.rs"]),
        ("s*/main.rs", vec!["src/main.rs"]),
        ("app/[id].tsx", vec!["app/[id].tsx"]),
        ("../work/x.*", vec!["x.rs"]),
        ("nothing/*.rs", vec![]),
        ("*.py", vec![]),
    ] {
        assert_eq!(found(&fixture, pattern), expected, "{pattern}");
    }
    let absolute = format!("{}/src/*.rs", fixture.cwd.display());
    assert_eq!(found(&fixture, &absolute), ["src/main.rs"]);
    let inside = all(&run(&fixture, json!({"pattern": "*.rs", "path": "src"})));
    assert_eq!(inside, "src/deep/er/lib.rs\nsrc/main.rs");
}

#[test]
fn the_answer_is_bounded_and_knows_the_rest() {
    let fixture = Fixture::empty();
    for number in 0..620 {
        fixture.file(format!("d{}/f{number:03}.txt", number % 7), "");
    }
    let output = run(&fixture, json!({"pattern": "*.txt"}));
    let lines: Vec<&str> = output.text.head.lines().collect();
    assert_eq!(lines.len(), 500);
    assert!(lines.is_sorted() && lines[0] == "d0/f000.txt");
    assert_eq!(output.footer.as_deref(), Some("(the first 500 of 620 files, by path; narrow pattern or path)"));
}

#[test]
fn what_is_left_out_is_counted_and_can_be_named() {
    let fixture = Fixture::with(&[
        (".git/x.rs", ""),
        (".gitignore", "target/\n*.log\n"),
        ("target/gen.rs", ""),
        (".hidden/h.rs", ""),
        ("a.rs", ""),
        ("deep/b.log", ""),
    ]);
    assert_eq!(
        all(&run(&fixture, json!({"pattern": "*.rs"}))),
        "a.rs\n(not looked into: 1 hidden (.hidden), 1 ignored (target))"
    );
    assert_eq!(found(&fixture, "target/*.rs"), ["target/gen.rs"]);
    assert_eq!(found(&fixture, ".hidden/**"), [".hidden/h.rs"]);
    assert_eq!(found(&fixture, "*.log"), ["deep/b.log"]);
    assert_eq!(found(&fixture, ".gitignore"), [".gitignore"]);
    assert_eq!(found(&fixture, "**"), ["a.rs"]);
    let nothing = all(&run(&fixture, json!({"pattern": "*.py"})));
    assert!(nothing.contains("no file matches under .") && nothing.contains("name it as path"), "{nothing}");
    let folder = all(&run(&fixture, json!({"pattern": "dee*"})));
    assert!(folder.contains("folders do: deep/"), "{folder}");
}

#[test]
fn nothing_is_counted_twice_in_a_folder_that_ignores_itself() {
    let fixture = Fixture::with(&[(".git/", ""), ("venv/.gitignore", "*"), ("venv/a.py", ""), ("venv/lib/b.py", "")]);
    let some = all(&run(&fixture, json!({"pattern": "*.py", "path": "venv"})));
    assert_eq!(some, "venv/a.py\n(not looked into: 1 ignored (lib))");
    assert_eq!(found(&fixture, "venv/lib/*"), ["venv/lib/b.py"]);
    assert_eq!(found(&fixture, "venv/**"), ["venv/.gitignore", "venv/a.py", "venv/lib/b.py"]);
}

#[test]
fn the_offer_is_short() {
    let fixture = Fixture::empty();
    let tool = FindFiles::new(fixture.workspace(), LIMITS);
    // Every request carries it.
    assert!(tool.spec().description.len() <= 400 && tool.spec().parameters.to_string().len() < 300);
}

#[test]
fn mistakes_are_explained() {
    let fixture = Fixture::with(&[("src/main.rs", "")]);
    for (arguments, words) in [
        (json!({"pattern": "a[b"}), "bad glob a[b: unclosed character class"),
        (json!({"pattern": "a{b"}), "bad glob a{b"),
        (json!({"pattern": " "}), "empty"),
        (json!({"pattern": "*", "path": "scr"}), "did you mean src?"),
        (json!({"pattern": "*", "path": "src/main.rs"}), "is a file"),
        (json!({"path": "src"}), "pattern"),
    ] {
        let output = run(&fixture, arguments);
        assert!(output.is_error && output.text.head.contains(words), "{output:?}");
    }
}

#[test]
fn what_is_closed_is_not_found() {
    let mut fixture = Fixture::with(&[("secret/plan.txt", ""), ("open/plan.txt", "")]);
    fixture.deny_read = vec!["secret".into()];
    assert_eq!(
        all(&run(&fixture, json!({"pattern": "plan.txt"}))),
        "open/plan.txt\n(not looked into: 1 closed by sandbox.deny_read)"
    );
    assert!(run(&fixture, json!({"pattern": "secret/*"})).is_error);
}

#[test]
fn links_are_found_and_not_followed() {
    let fixture = Fixture::with(&[("real/a.txt", "")]);
    fixture.link("loop", ".");
    fixture.link("b.txt", "nowhere");
    assert_eq!(found(&fixture, "*.txt"), ["b.txt", "real/a.txt"]);
}
