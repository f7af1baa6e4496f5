//! `search_files` in folders of its own.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::product::tool::fixture::{Fixture, all};

fn run(fixture: &Fixture, arguments: Value) -> Output {
    fixture.run(&SearchFiles::new(fixture.workspace(), LIMITS), arguments)
}

fn search(fixture: &Fixture, arguments: Value) -> String {
    let output = run(fixture, arguments);
    assert!(!output.is_error, "{}", all(&output));
    all(&output)
}

#[test]
fn matches_are_lines_with_path_and_number() {
    let fixture = Fixture::with(&[
        ("src/a.rs", "fn alpha() {}\nfn beta() {}\n// ALPHA again\n"),
        ("src/b.rs", "alpha\n"),
        ("notes.md", "alpha in notes\n"),
    ]);
    assert_eq!(
        search(&fixture, json!({"pattern": r"fn \w+\(", "glob": "*.rs"})),
        "src/a.rs:1: fn alpha() {}\nsrc/a.rs:2: fn beta() {}\n2 matches in 1 file"
    );
    assert_eq!(
        search(&fixture, json!({"pattern": "alpha", "ignore_case": true, "path": "src"})),
        "src/a.rs:1: fn alpha() {}\nsrc/a.rs:3: // ALPHA again\nsrc/b.rs:1: alpha\n3 matches in 2 files"
    );
    assert_eq!(
        search(&fixture, json!({"pattern": "beta", "context": 1, "path": null, "glob": null})),
        "src/a.rs-1- fn alpha() {}\nsrc/a.rs:2: fn beta() {}\nsrc/a.rs-3- // ALPHA again\n1 match in 1 file"
    );
    assert_eq!(
        search(&fixture, json!({"pattern": "notes", "path": "notes.md"})),
        "notes.md:1: alpha in notes\n1 match in 1 file"
    );
}

#[test]
fn gaps_between_contexts_are_marked() {
    let fixture = Fixture::with(&[("a", "x\n1\n2\n3\n4\nx\n"), ("b", "x\n")]);
    assert_eq!(
        search(&fixture, json!({"pattern": "x", "context": 1})),
        "a:1: x\na-2- 1\n--\na-5- 4\na:6: x\nb:1: x\n3 matches in 2 files"
    );
    // What stands before a match that is not shown is not shown either.
    for path in ["a", "."] {
        let first = search(&fixture, json!({"pattern": "x", "context": 1, "max_results": 1, "path": path}));
        assert!(first.starts_with("a:1: x\na-2- 1\nthe first 1 match in 1 file"), "{first}");
    }
}

#[test]
fn nothing_found_says_how_much_was_looked_at() {
    let fixture = Fixture::with(&[
        (".git/", ""),
        (".gitignore", "/target\n*.log\n"),
        (".env", "needle"),
        ("a.txt", "text"),
        ("blob", "nul\0needle"),
        ("target/x", "needle"),
        ("deep/b.log", "needle"),
    ]);
    fixture.link("link", "a.txt");
    assert_eq!(
        search(&fixture, json!({"pattern": "needle"})),
        "no match in 1 file under .\nnot searched: 2 hidden (.env, .gitignore), 2 ignored (target, …), 1 binary, 1 link\n\
         to search something hidden or ignored, name it as path"
    );
    // Named, each of them is searched.
    for path in [".env", "target", "target/x", "deep/b.log"] {
        let found = search(&fixture, json!({"pattern": "needle", "path": path}));
        assert!(found.contains(":1: needle\n1 match in 1 file"), "{path}: {found}");
    }
    // A glob that names something finds ignored and hidden files, as in ripgrep, but does not open ignored folders.
    assert!(search(&fixture, json!({"pattern": "needle", "glob": "*.log"})).contains("deep/b.log:1: needle"));
    assert!(search(&fixture, json!({"pattern": "needle", "glob": ".env*"})).contains(".env:1: needle"));
    assert!(search(&fixture, json!({"pattern": "needle", "glob": "*"})).contains("no match in 1 file"));
    assert!(
        search(&fixture, json!({"pattern": "needle", "glob": "*.zzz"})).contains("no file under . fits the glob *.zzz")
    );
    assert!(search(&fixture, json!({"pattern": "text", "glob": "!*.txt"})).contains("no match"));
    let wrong = search(&fixture, json!({"pattern": "text", "glob": "sources/**/*.txt"}));
    assert!(wrong.contains("no file fits the glob; no such file or folder: sources"), "{wrong}");
}

#[test]
fn a_folder_that_ignores_itself_is_searched_when_named() {
    let fixture =
        Fixture::with(&[(".git/", ""), ("venv/.gitignore", "*\n"), ("venv/lib/x.py", "needle\n"), ("a.py", "")]);
    let everywhere = search(&fixture, json!({"pattern": "needle"}));
    assert!(everywhere.contains("no match in 1 file") && everywhere.contains("ignored"), "{everywhere}");
    assert!(search(&fixture, json!({"pattern": "needle", "path": "venv"})).contains("venv/lib/x.py:1: needle"));
}

#[test]
fn a_hidden_folder_named_in_the_glob_is_searched() {
    let fixture = Fixture::with(&[(".github/workflows/ci.yml", "needle\n"), ("src/[id]/page.tsx", "needle\n")]);
    assert!(search(&fixture, json!({"pattern": "needle", "glob": ".github/**/*.yml"})).contains("ci.yml:1:"));
    assert!(search(&fixture, json!({"pattern": "needle", "glob": "src/[id]/page.tsx"})).contains("page.tsx:1:"));
    assert!(search(&fixture, json!({"pattern": "needle", "path": "src", "glob": "**/*.tsx"})).contains("page.tsx:1:"));
}

#[test]
fn results_are_the_first_by_path_and_bounded() {
    let fixture = Fixture::with(&[("many.txt", &"needle here\n".repeat(400))]);
    let few = search(&fixture, json!({"pattern": "needle", "max_results": 7}));
    assert_eq!(few.matches("needle here").count(), 7);
    assert!(
        few.ends_with("the first 7 matches in 1 file, by path; there are more: narrow path, glob or pattern"),
        "{few}"
    );
    assert_eq!(search(&fixture, json!({"pattern": "needle", "max_results": 5000})).matches("needle here").count(), 100);

    for number in 0..300 {
        fixture.file(format!("d{:02}/f{number:03}", number / 10), "needle a\nneedle b\n");
    }
    std::fs::remove_file(fixture.cwd.join("many.txt")).unwrap();
    let first = search(&fixture, json!({"pattern": "needle"}));
    let expected: Vec<String> = (0..50).map(|number| format!("d{:02}/f{number:03}", number / 10)).collect();
    let got: Vec<&str> = first.lines().filter_map(|line| line.split_once(":1:")).map(|(path, _)| path).collect();
    assert_eq!(got, expected);
    for _ in 0..5 {
        assert_eq!(search(&fixture, json!({"pattern": "needle"})), first, "the same question has the same answer");
    }
}

#[test]
fn exactly_as_many_as_wanted_is_not_more() {
    let fixture = Fixture::with(&[("a", "x\nx\n"), ("b", "x\n")]);
    assert!(search(&fixture, json!({"pattern": "x", "max_results": 3})).ends_with("\n3 matches in 2 files"));
    assert!(search(&fixture, json!({"pattern": "x", "max_results": 2})).contains("the first 2 matches in 1 file"));
    assert!(search(&fixture, json!({"pattern": "x", "max_results": 1, "path": "a"})).contains("the first 1 match in"));
}

#[test]
fn long_lines_and_long_answers_are_cut() {
    let fixture = Fixture::with(&[("min.js", &format!("{}needle{}", "x".repeat(3000), "y".repeat(3000)))]);
    let found = search(&fixture, json!({"pattern": "needle"}));
    assert!(found.contains("needle") && found.lines().all(|line| line.chars().count() < 520), "{found}");
    fixture.file("long", format!("{} needle\n", "z".repeat(450)).repeat(100));
    let output = run(&fixture, json!({"pattern": "needle", "path": "long"}));
    assert!(output.text.head.chars().count() <= LIMITS.chars);
    assert!(all(&output).contains("there are more"), "{:?}", output.footer);
}

#[test]
fn a_bad_pattern_is_an_error_and_no_match_is_not() {
    let fixture = Fixture::with(&[("a.txt", "text\n")]);
    let bad = run(&fixture, json!({"pattern": "(unclosed"}));
    assert!(bad.is_error && bad.text.head.contains("unclosed group"), "{bad:?}");
    assert!(!run(&fixture, json!({"pattern": "absent"})).is_error);
    for arguments in [
        json!({}),
        json!({"pattern": ""}),
        json!({"pattern": "x", "max_results": 0}),
        json!({"pattern": "x", "glob": "a[b"}),
        json!({"pattern": "x", "regex": true}),
        json!({"pattern": "x", "path": "tex.txt"}),
    ] {
        assert!(run(&fixture, arguments.clone()).is_error, "{arguments}");
    }
    fixture.file("src/main.rs", "");
    let missing = run(&fixture, json!({"pattern": "x", "path": "src/man.rs"}));
    assert!(missing.text.head.contains("no such file or folder: src/man.rs; did you mean src/main.rs?"), "{missing:?}");
    let far = run(&fixture, json!({"pattern": "x", "path": "src/a/b/c"}));
    assert!(far.text.head.contains("no such file or folder: src/a/b/c; there is no folder src/a; "), "{far:?}");
}

#[test]
fn matches_may_span_lines() {
    let fixture =
        Fixture::with(&[("a", "one\ntwo\nthree\nfour\n"), ("b", &format!("start\n{}end\n", "x\n".repeat(50)))]);
    assert_eq!(search(&fixture, json!({"pattern": r"two\nthr"})), "a:2: two\na:3: three\n1 match in 1 file");
    assert!(
        search(&fixture, json!({"pattern": r"two\n", "path": "a", "context": 1}))
            .starts_with("a-1- one\na:2: two\na-3- three")
    );
    let long = search(&fixture, json!({"pattern": "(?s)start.*end"}));
    assert!(long.contains("b:21: … 32 more lines"), "{long}");
}

#[test]
fn line_ends_and_encodings_do_not_matter() {
    let fixture = Fixture::with(&[("crlf", "one;\r\ntwo;\r\n")]);
    assert_eq!(search(&fixture, json!({"pattern": "two;$"})), "crlf:2: two;\n1 match in 1 file");
    assert!(search(&fixture, json!({"pattern": r"one;\r\n"})).starts_with("crlf:1: one;\n"));
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("wide needle\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    fixture.file("utf16", &utf16);
    fixture.file("latin", b"caf\xe9 needle\x1b[31m\n");
    fixture.file("bom", "\u{feff}needle\n");
    assert_eq!(
        search(&fixture, json!({"pattern": "needle"})),
        "bom:1: needle\nlatin:1: caf\u{fffd} needle␛[31m\nutf16:1: wide needle\n3 matches in 3 files"
    );
}

#[test]
fn odd_names_are_shown_on_one_line() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::with(&[("ünï 漢字", "needle\n"), ("new\nline", "needle\n")]);
    fixture.file(std::ffi::OsStr::from_bytes(b"bad\xff"), "needle\n");
    assert_eq!(
        search(&fixture, json!({"pattern": "needle"})),
        "bad\u{fffd}:1: needle\nnew␊line:1: needle\nünï 漢字:1: needle\n3 matches in 3 files"
    );
}

#[test]
fn a_named_binary_is_searched() {
    let fixture = Fixture::with(&[("blob", "a\0needle\0b\n")]);
    let found = search(&fixture, json!({"pattern": "needle", "path": "blob"}));
    assert!(found.contains("needle") && found.ends_with("the file is binary") && !found.contains('\0'), "{found}");
}

#[test]
fn what_is_closed_is_not_searched() {
    let mut fixture = Fixture::with(&[
        ("open.txt", "PRIVATE things are elsewhere"),
        ("secret/plan.txt", "PRIVATE-WORDS"),
        ("a/key.pem", "PRIVATE-WORDS"),
    ]);
    fixture.link("innocent", "secret");
    fixture.deny_read = vec!["secret/**".into(), "**/*.pem".into()];
    let found = search(&fixture, json!({"pattern": "PRIVATE"}));
    assert!(found.starts_with("open.txt:1:") && found.contains("2 closed by sandbox.deny_read"), "{found}");
    for path in ["secret", "secret/plan.txt", "innocent", "innocent/plan.txt", "a/key.pem"] {
        for glob in [None, Some("*"), Some("plan.txt"), Some("**/*.pem")] {
            let output = run(&fixture, json!({"pattern": "PRIVATE", "path": path, "glob": glob}));
            assert!(!all(&output).contains("PRIVATE-WORDS"), "{path}: {output:?}");
        }
    }
    // The workspace may itself be reached over a link.
    let beside = fixture.cwd.with_file_name("beside");
    std::os::unix::fs::symlink(&fixture.cwd, &beside).unwrap();
    let workspace = Arc::new(Workspace::new(beside, None, &fixture.deny_read).unwrap());
    let found = all(&fixture.run(&SearchFiles::new(workspace, LIMITS), json!({"pattern": "PRIVATE"})));
    assert!(found.contains("open.txt") && !found.contains("WORDS"), "{found}");
}

#[test]
fn a_pipe_is_refused_and_a_folder_with_one_is_searched() {
    let fixture = Fixture::with(&[("a", "needle\n")]);
    let pipe = fixture.cwd.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(search(&fixture, json!({"pattern": "needle"})).starts_with("a:1: needle\n1 match"));
    let refused = run(&fixture, json!({"pattern": "needle", "path": "pipe"}));
    assert!(refused.is_error && refused.text.head.contains("not a regular file"), "{refused:?}");
}

#[test]
fn a_cancelled_search_ends_at_once() {
    let fixture = Fixture::empty();
    let big = fixture.file("big", "");
    // Holes are read as NUL bytes, at the speed of memory: some seconds of work.
    std::fs::File::options().write(true).open(&big).unwrap().set_len(20_000_000_000).unwrap();
    let cancel = fixture.cancel.clone();
    let stopped = std::thread::spawn(move || {
        // Any moment is a fair one; this one is most likely in the midst of the search.
        std::thread::sleep(Duration::from_millis(30));
        let at = Instant::now();
        cancel.cancel();
        at
    });
    let output = run(&fixture, json!({"pattern": "needle", "path": "big"}));
    let late = stopped.join().unwrap().elapsed();
    assert!(output.is_error && late < Duration::from_millis(200), "{late:?} {output:?}");
    let output = run(&fixture, json!({"pattern": "needle"}));
    assert!(all(&output).contains("stopped"), "{output:?}");
}

#[test]
fn the_subject_is_the_folder_that_is_read() {
    let fixture = Fixture::empty();
    let tool = SearchFiles::new(fixture.workspace(), LIMITS);
    for (arguments, root) in [
        (json!({"pattern": "x"}), fixture.cwd.clone()),
        (json!({"pattern": "x", "path": "a/../b"}), fixture.cwd.join("b")),
        (json!({"pattern": "x", "glob": "/etc/*.conf"}), "/etc".into()),
    ] {
        let Value::Object(arguments) = arguments else { panic!() };
        assert_eq!(tool.subject(&arguments), Ok(Subject::Read(vec![root])));
    }
}

#[test]
fn the_offer_is_short() {
    let fixture = Fixture::empty();
    let tool = SearchFiles::new(fixture.workspace(), LIMITS);
    // Every request carries it.
    assert!(tool.spec().description.len() <= 400 && tool.spec().parameters.to_string().len() < 600);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any bytes, searched for anything: an answer of clean, short lines.
    #[test]
    fn no_file_and_no_pattern_breaks_the_answer(
        contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..400), 1..4),
        pattern in r"[a-c.\\n*()\[\]?sx|^$\r]{1,6}",
        context in 0usize..3,
        glob in proptest::option::of(r"[a-b*?{}!/\[\]#]{1,5}"),
    ) {
        let fixture = Fixture::empty();
        for (number, bytes) in contents.iter().enumerate() {
            fixture.file(format!("f{number}"), bytes);
        }
        let output = run(&fixture, json!({"pattern": pattern, "context": context, "glob": glob}));
        let text = all(&output);
        prop_assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n' && letter != '\t'), "{text:?}");
        prop_assert!(text.lines().all(|line| line.chars().count() < 1000));
    }

    /// Line by line, the same lines are found as by looking at each line alone.
    #[test]
    fn every_line_with_the_word_is_found(lines in proptest::collection::vec("[a-d ]{0,12}", 0..60)) {
        let fixture = Fixture::with(&[("f", &lines.join("\n"))]);
        let expected: Vec<String> = lines.iter().enumerate().filter(|(_, line)| line.contains("ab"))
            .map(|(index, line)| format!("f:{}: {line}", index + 1)).collect();
        let output = run(&fixture, json!({"pattern": "ab"}));
        if expected.is_empty() {
            prop_assert!(output.text.head.starts_with("no match"));
        } else {
            prop_assert_eq!(output.text.head, expected.join("\n"));
        }
    }
}
