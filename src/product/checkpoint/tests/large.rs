//! What is too large, and which folder is the workspace.

use super::*;

#[test]
fn large_files_are_told_once_and_left_alone() {
    let lab = Lab::new();
    let large = "x".repeat(usize::try_from(crate::product::checkpoint::objects::FILE_BYTES).unwrap() + 1);
    lab.write("large", &large);
    let checkpoints = lab.checkpoints();
    for entry_id in [1, 3] {
        lab.command(&checkpoints, entry_id, "make", |lab| lab.write("large", &format!("{large}{entry_id}")));
    }
    assert_eq!(checkpoints.take_notices(), ["Undo does not cover files over 10 MB: large."]);
    assert_eq!(lab.undo(), ["refuse large"]);
    assert_eq!(lab.undo(), ["refuse large"], "it is still the last turn");
}

#[test]
fn a_large_file_that_git_has_comes_back() {
    let lab = Lab::new();
    let large = "x".repeat(usize::try_from(crate::product::checkpoint::objects::FILE_BYTES).unwrap() + 1);
    lab.write("large", &large);
    lab.committed();
    lab.command(&lab.checkpoints(), 1, "rm large", |lab| lab.remove("large"));
    assert_eq!(lab.undo(), ["create large"]);
    assert!(lab.read("large").unwrap() == large);
}

#[test]
fn a_workspace_that_is_too_large_is_told_once_and_tools_are_still_covered() {
    let lab = Lab::new();
    (0..20).for_each(|number| lab.write(&format!("many/{number}"), ""));
    lab.write("named", "old");
    let checkpoints = Checkpoints::new(lab.depot().limited(20));
    for entry_id in [1, 3] {
        checkpoints.said(SESSION, entry_id, None);
        checkpoints.starting(&command("sed -i s/x/y/ named"));
        lab.write("named", &format!("new {entry_id}"));
        lab.write("unseen", &format!("new {entry_id}"));
        lab.tool(&checkpoints, "by-tool", &entry_id.to_string());
        checkpoints.end(None);
    }
    let notices = checkpoints.take_notices();
    assert!(notices.len() == 1 && notices[0].contains("more than 50,000 files"), "{notices:?}");
    assert_eq!(lab.undo(), ["restore by-tool", "restore named"]);
    assert_eq!(lab.undo(), ["delete by-tool", "restore named"]);
    assert_eq!(lab.read("named").unwrap(), "old");
}

#[test]
fn the_next_session_reads_nothing_twice() {
    let lab = Lab::new();
    lab.write("f", "content");
    lab.settle();
    lab.command(&lab.checkpoints(), 1, "make", |_| {});
    let object = walk(&lab.folder.path().join("data/checkpoints/objects")).remove(0);
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(5);
    fs::File::options().write(true).open(&object).unwrap().set_modified(old).unwrap();
    let other = lab.checkpoints();
    other.said("20260101-120000-0002", 1, None);
    other.starting(&command("make"));
    lab.write("f", "changed");
    assert!(other.end(None).is_some());
    // Keeping it again would have touched it.
    assert_eq!(fs::metadata(&object).unwrap().modified().unwrap(), old);
    let (depot, session) = (lab.depot(), "20260101-120000-0002");
    let target = Target { depot: &depot, session, file: None };
    target.apply(target.plan(What::Files, Direction::Undo).unwrap()).unwrap();
    assert_eq!(lab.read("f").unwrap(), "content");
}

#[test]
fn a_repository_around_is_the_workspace() {
    let lab = Lab::new();
    lab.write("top", "before");
    lab.write("sub/f", "before");
    lab.git(&["init", "-q"]);
    let inner = Lab { work: lab.work.join("sub"), folder: lab.folder };
    inner.command(&inner.checkpoints(), 1, "make", |inner| {
        fs::write(inner.work.join("../top"), "after").unwrap();
        inner.write("f", "after");
    });
    assert_eq!(inner.undo(), ["restore sub/f", "restore top"]);
    assert_eq!(fs::read_to_string(inner.work.join("../top")).unwrap(), "before");
}

#[test]
fn a_small_corner_of_a_large_repository_is_covered() {
    let lab = Lab::new();
    (0..20).for_each(|number| lab.write(&format!("many/{number}"), ""));
    lab.write("sub/f", "before");
    lab.git(&["init", "-q"]);
    let inner = Lab { work: lab.work.join("sub"), folder: lab.folder };
    let checkpoints = Checkpoints::new(inner.depot().limited(10));
    inner.command(&checkpoints, 1, "make", |inner| {
        inner.write("f", "after");
        fs::write(inner.work.join("../many/3"), "unseen").unwrap();
    });
    assert_eq!((checkpoints.take_notices(), inner.undo()), (vec![], vec!["restore sub/f".to_owned()]));
}
