//! `list_files` in folders of its own.

use serde_json::{Value, json};

use super::*;
use crate::product::tool::fixture::{Fixture, all};

fn run(fixture: &Fixture, arguments: Value) -> Output {
    fixture.run(&ListFiles::new(fixture.workspace(), LIMITS), arguments)
}

fn list(fixture: &Fixture, arguments: Value) -> String {
    let output = run(fixture, arguments);
    assert!(!output.is_error, "{output:?}");
    all(&output)
}

#[test]
fn a_folder_is_a_tree_to_the_depth_asked_for() {
    let fixture =
        Fixture::with(&[("b/c/d/deep.txt", "12345"), ("b/a.txt", ""), ("z.txt", &"x".repeat(1500)), (".env", "k=v")]);
    fixture.link("link", "b/a.txt");
    assert_eq!(list(&fixture, json!({})), "b/\n.env  3 B\nlink -> b/a.txt\nz.txt  1.5 KB");
    assert_eq!(list(&fixture, json!({"path": "b", "depth": 1})), "c/\na.txt  0 B");
    assert_eq!(list(&fixture, json!({"path": "b", "depth": 3})), "c/\n  d/\n    deep.txt  5 B\na.txt  0 B");
    assert_eq!(list(&fixture, json!({"path": "b/c/d", "depth": null})), "deep.txt  5 B");
}

#[test]
fn ignored_entries_are_marked_and_not_opened() {
    let fixture = Fixture::with(&[
        (".git/config", ""),
        (".gitignore", "target\n*.log"),
        ("target/debug/x", ""),
        ("a.log", ""),
        ("src/b.log", ""),
    ]);
    assert_eq!(
        list(&fixture, json!({"depth": 3})),
        ".git/\nsrc/\n  b.log  0 B  (ignored)\ntarget/  (ignored)\n.gitignore  12 B\na.log  0 B  (ignored)"
    );
    assert_eq!(list(&fixture, json!({"path": "target", "depth": 2})), "debug/\n  x  0 B");
    assert_eq!(list(&fixture, json!({"path": ".git"})), "config  0 B");
}

#[test]
fn a_big_folder_is_bounded_and_hides_nothing_beside_it() {
    let fixture = Fixture::empty();
    for number in 0..700 {
        fixture.file(format!("many/file{number:03}.txt"), "");
    }
    fixture.file("next/to/it.txt", "");
    let listed = list(&fixture, json!({"path": "many"}));
    assert_eq!(listed.matches("file").count(), 500);
    assert!(listed.ends_with("(500 of 700 entries are shown; name a folder below)"), "{listed}");
    let both = list(&fixture, json!({"depth": 4}));
    assert!(both.contains("next/"), "{both}");
    assert!(
        both.contains("of 702 entries") && both.contains("1 folder not opened"),
        "{}",
        both.lines().last().unwrap()
    );
}

#[test]
fn what_is_no_folder_is_explained() {
    let fixture = Fixture::with(&[("file.txt", "12345"), ("empty/", "")]);
    assert_eq!(list(&fixture, json!({"path": "empty"})), "empty is empty");
    for (arguments, words) in [
        (json!({"path": "file.txt"}), "file.txt is a file of 5 B, not a folder"),
        (json!({"path": "fil.txt"}), "did you mean file.txt?"),
        (json!({"path": "FILE.TXT"}), "did you mean file.txt?"),
        (json!({"path": "a/b"}), "no such file or folder: a/b; there is no folder a; "),
        (json!({"depth": 0}), "at least 1"),
        (json!({"depth": -1}), "-1"),
    ] {
        let output = run(&fixture, arguments);
        assert!(output.is_error && output.text.head.contains(words), "{words}: {output:?}");
    }
}

#[test]
fn what_is_closed_is_counted() {
    let mut fixture = Fixture::with(&[("secret/plan.txt", ""), ("open.txt", "")]);
    fixture.deny_read = vec!["secret/**".into(), "*.pem".into()];
    assert_eq!(list(&fixture, json!({"depth": 2})), "secret/\nopen.txt  0 B\n(1 closed by sandbox.deny_read)");
    fixture.deny_read = vec!["secret".into()];
    assert_eq!(list(&fixture, json!({"depth": 2})), "open.txt  0 B\n(1 closed by sandbox.deny_read)");
    let closed = run(&fixture, json!({"path": "secret"}));
    assert!(closed.is_error && closed.text.head.contains("closed"), "{closed:?}");
    let near = run(&fixture, json!({"path": "secret"}));
    assert!(!near.text.head.contains("did you mean"), "{near:?}");
}

#[test]
fn odd_names_keep_to_their_line_and_loops_end() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::with(&[("new\nline", ""), ("ünï/x", "")]);
    fixture.file(std::ffi::OsStr::from_bytes(b"bad\xff"), "");
    fixture.link("ünï/up", "..");
    assert_eq!(list(&fixture, json!({"depth": 9})), "ünï/\n  up -> ..\n  x  0 B\nbad\u{fffd}  0 B\nnew␊line  0 B");
}
