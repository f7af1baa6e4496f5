//! Files that git keeps already.

use super::*;

#[test]
fn clean_files_of_git_are_not_copied_and_come_back_all_the_same() {
    let lab = Lab::new();
    for number in 0..50 {
        lab.write(&format!("src/f{number}"), &format!("content {number}\n"));
    }
    lab.write("build/tracked", "in git\n");
    lab.write("dirty", "committed\n");
    lab.write("f7", "x\n");
    lab.committed();
    lab.write("dirty", "mine, not committed\n");
    lab.write("untracked", "mine\n");
    lab.settle();
    let before = lab.tree();
    let checkpoints = lab.checkpoints();
    let objects = || walk(&lab.folder.path().join("data/checkpoints/objects")).len();
    checkpoints.said(SESSION, 1, None);
    checkpoints.starting(&command("git checkout . && make"));
    assert_eq!(objects(), 2, "the dirty and the untracked one");
    lab.write("dirty", "committed\n");
    lab.remove("untracked");
    lab.remove("src/f3");
    lab.write("src/f4", "changed\n");
    lab.write("build/tracked", "changed\n");
    // Touched, but the same: no change.
    lab.write("src/f5", "content 5\n");
    checkpoints.end(None);
    assert_eq!(
        lab.undo(),
        ["restore build/tracked", "restore dirty", "create src/f3", "restore src/f4", "create untracked"]
    );
    assert_eq!(lab.tree(), before);
}

#[test]
fn what_git_changes_on_the_way_to_the_disk_is_copied() {
    let lab = Lab::new();
    lab.write(".gitattributes", "*.txt text\n");
    lab.write("crlf.txt", "one\r\ntwo\r\n");
    lab.committed();
    let checkpoints = lab.checkpoints();
    lab.command(&checkpoints, 1, "make", |lab| lab.write("crlf.txt", "changed\n"));
    assert_eq!(lab.undo(), ["restore crlf.txt"]);
    assert_eq!(lab.read("crlf.txt").unwrap(), "one\r\ntwo\r\n");
}
