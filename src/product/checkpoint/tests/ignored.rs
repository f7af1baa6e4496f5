//! What ignore rules leave out, and folders that move.

use super::*;

#[test]
fn ignored_files_count_only_where_they_are_named() {
    let lab = Lab::new();
    lab.write("Cargo.toml", "");
    lab.write(".gitignore", "*.log\n/out/\n");
    for path in ["a.log", "b.log", "c.log", "out/x", "node_modules/m.js", "target/t", "sub/.cache/c"] {
        lab.write(path, "old");
    }
    let checkpoints = lab.checkpoints();
    lab.command(&checkpoints, 1, "rm a.log c.* && rm -r out; echo x > new.log; make", |lab| {
        for path in ["a.log", "c.log", "out/x"] {
            lab.remove(path);
        }
        fs::remove_dir(lab.work.join("out")).unwrap();
        for path in ["b.log", "new.log", "node_modules/m.js", "node_modules/n.js", "target/t", "sub/.cache/c"] {
            lab.write(path, "new");
        }
    });
    assert_eq!(lab.undo(), ["create a.log", "create c.log", "delete new.log", "create out/x"]);
    assert_eq!((lab.read("b.log").unwrap(), lab.read("node_modules/m.js").unwrap()), ("new".into(), "new".into()));
    assert_eq!(lab.read("out/x").unwrap(), "old");
}

#[test]
fn what_is_ignored_no_more_was_not_made() {
    let lab = Lab::new();
    lab.write(".gitignore", "data/\n");
    lab.write("data/precious", "mine");
    lab.settle();
    let checkpoints = lab.checkpoints();
    lab.command(&checkpoints, 1, "make", |lab| lab.write(".gitignore", ""));
    assert_eq!(lab.undo(), ["restore .gitignore"]);
    assert_eq!(lab.read("data/precious").unwrap(), "mine");
    // And the other way: what is ignored by now was not deleted.
    lab.write("seen", "mine");
    lab.command(&checkpoints, 2, "make", |lab| lab.write(".gitignore", "seen\n"));
    assert_eq!(lab.undo(), ["restore .gitignore"]);
    assert_eq!(lab.read("seen").unwrap(), "mine");
}

#[test]
fn a_folder_that_was_moved_goes_back_with_all_that_is_in_it() {
    let lab = Lab::new();
    lab.write("d/x", "x");
    lab.write("d/deep/y", "y");
    lab.write("ignored/z", "z");
    lab.write(".gitignore", "ignored\n");
    let elsewhere = lab.folder.path().join("elsewhere");
    fs::create_dir_all(elsewhere.join("in")).unwrap();
    fs::write(elsewhere.join("in/f"), "f").unwrap();
    lab.settle();
    let before = lab.tree();
    lab.command(&lab.checkpoints(), 1, "mv d dd; mv /elsewhere dir", |lab| {
        fs::rename(lab.work.join("d"), lab.work.join("dd")).unwrap();
        fs::rename(&elsewhere, lab.work.join("dir")).unwrap();
    });
    let after = lab.tree();
    lab.undo();
    assert_eq!(lab.tree(), before);
    lab.redo();
    assert_eq!(lab.tree(), after);
    // What was there and is ignored no more was not made, although something is made beside it.
    lab.command(&lab.checkpoints(), 3, "make", |lab| {
        lab.write(".gitignore", "");
        lab.write("ignored/new", "new");
    });
    lab.undo();
    assert_eq!(lab.read("ignored/z").as_deref(), Some("z"));
}

#[test]
fn sources_that_are_called_as_a_build_are_covered() {
    let lab = Lab::new();
    for path in
        ["src/build/mod.rs", "target/x", "made/Cargo.toml", "made/target/x", "cache/dist/CACHEDIR.TAG", "cache/dist/x"]
    {
        lab.write(path, "before");
    }
    lab.command(&lab.checkpoints(), 1, "make", |lab| {
        ["src/build/mod.rs", "target/x", "made/target/x", "cache/dist/x"]
            .iter()
            .for_each(|path| lab.write(path, "after"));
    });
    assert_eq!(lab.undo(), ["restore src/build/mod.rs", "restore target/x"]);
    let checkpoints = lab.checkpoints();
    checkpoints.said(SESSION, 3, None);
    lab.tool(&checkpoints, "src/build/mod.rs", "after");
    checkpoints.end(None);
    assert_eq!(lab.undo(), ["restore src/build/mod.rs"]);
}
