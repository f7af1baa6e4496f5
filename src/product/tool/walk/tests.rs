//! Walks: what they see, what they leave out and account for, and how they end.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::*;
use crate::product::tool::fixture::Fixture;

fn walk(fixture: &Fixture, root: &Path) -> (BTreeSet<String>, Report) {
    let seen = Mutex::new(BTreeSet::new());
    let workspace = fixture.workspace();
    let walk = Walk { workspace: &workspace, root, glob: None, cancel: &fixture.cancel };
    let report = walk.run(|| {
        |path: &Path, _| {
            seen.lock().unwrap().insert(path.strip_prefix(root).unwrap().display().to_string());
            Step::Continue
        }
    });
    (seen.into_inner().unwrap(), report)
}

#[test]
fn what_the_rules_hold_back_is_counted_in_every_folder() {
    let fixture = Fixture::with(&[
        (".git/", ""),
        (".gitignore", "*.o\n!.kept\n"),
        (".kept", ""),
        ("a/x.o", ""),
        ("a/.b", ""),
        ("a/c", ""),
        (".ignore", "d\n"),
        ("d/e", ""),
        (".rgignore", "f\n"),
        ("f", ""),
    ]);
    let (seen, report) = walk(&fixture, &fixture.cwd);
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), [".kept", "a", "a/c"]);
    assert_eq!(report.end, End::Complete);
    assert_eq!(report.left_out.reasons(), ["4 hidden (.gitignore, .ignore, .rgignore, …)", "3 ignored (d, f, …)"]);
}

#[test]
fn outside_a_repository_gitignore_does_not_hold() {
    let fixture = Fixture::with(&[(".gitignore", "a\n"), ("a", "")]);
    assert!(walk(&fixture, &fixture.cwd).0.contains("a"));
}

#[test]
fn a_hidden_folder_above_the_root_turns_the_rules_off() {
    let fixture = Fixture::with(&[(".venv/lib/.gitignore", "*\n"), (".venv/lib/x", ""), (".venv/lib/.y", "")]);
    let (seen, report) = walk(&fixture, &fixture.cwd.join(".venv/lib"));
    assert_eq!(seen.len(), 3);
    assert_eq!(report.left_out, LeftOut::default());
}

#[test]
fn a_root_beside_the_working_directory_is_walked_by_the_rules() {
    let fixture = Fixture::empty();
    let beside = fixture.cwd.with_file_name("beside");
    std::fs::create_dir_all(beside.join(".hidden")).unwrap();
    std::fs::write(beside.join("x"), "").unwrap();
    let (seen, report) = walk(&fixture, &beside);
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["x"]);
    assert_eq!(report.left_out.hidden.count, 1);
}

#[test]
fn closed_folders_are_not_entered_under_any_name() {
    let mut fixture = Fixture::with(&[("a/secret/x", ""), ("a/b", "")]);
    fixture.deny_read = vec!["a/secret".into()];
    fixture.link("way", "a");
    for root in ["a", "way"] {
        let (seen, report) = walk(&fixture, &fixture.cwd.join(root));
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["b"], "{root}");
        assert_eq!(report.left_out.closed, 1);
    }
}

#[test]
fn a_cancelled_walk_says_so() {
    let fixture = Fixture::with(&[("a", "")]);
    fixture.cancel.cancel();
    let (seen, report) = walk(&fixture, &fixture.cwd);
    assert!(seen.is_empty() && report.end == End::Cancelled);
}

#[test]
fn other_file_systems_are_not_entered() {
    let fixture = Fixture::empty();
    let workspace = fixture.workspace();
    let root = Path::new("/");
    let walk = Walk { workspace: &workspace, root, glob: None, cancel: &fixture.cancel };
    let report = walk.run(|| {
        |path: &Path, _| {
            assert!(!path.starts_with("/proc/self"), "/proc is another file system");
            Step::Prune
        }
    });
    assert!(report.left_out.mounts > 0, "{report:?}");
}
