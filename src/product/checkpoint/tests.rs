//! Turns that change files in every way, what the user does meanwhile, and the way back and forth.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use tempfile::TempDir;

use super::depot::Depot;
use super::plan::{ChangeKind, Direction, FileChange, What};
use super::record::Checkpoints;
use super::undo::Target;
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::kernel::port::PendingCall;
use crate::kernel::tool::{Limits, Risk, Subject};
use crate::model::message::{ToolCall, ToolInput};

const SESSION: &str = "20260101-120000-abcd";

/// A workspace, and a data folder beside it.
struct Lab {
    folder: TempDir,
    work: PathBuf,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&work).unwrap();
        Self { folder, work }
    }

    /// A new process that goes on with the session.
    fn checkpoints(&self) -> Checkpoints {
        Checkpoints::new(self.depot())
    }

    fn depot(&self) -> Depot {
        let path = std::env::split_paths("/usr/bin:/bin:/usr/local/bin").collect::<Vec<_>>();
        let path = std::env::join_paths(path).unwrap();
        let env = Env { vars: [("PATH".into(), path)].into(), cwd: self.work.clone(), home: None };
        Depot::new(&self.folder.path().join("data"), &env, Clock::System)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.work.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Waits until what is changed from now on has another time stamp than what was changed before.
    fn settle(&self) {
        use std::os::unix::fs::MetadataExt as _;
        let probe = self.folder.path().join("probe");
        let stamp = || {
            fs::write(&probe, "").unwrap();
            let found = fs::metadata(&probe).unwrap();
            found.ctime() * 1_000_000_000 + found.ctime_nsec()
        };
        let (begun, deadline) = (stamp(), std::time::Instant::now() + std::time::Duration::from_secs(10));
        while stamp() < begun + 50_000_000 {
            assert!(std::time::Instant::now() < deadline, "time stands still");
            std::thread::yield_now();
        }
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.work.join(path)).ok()
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.work.join(path)).unwrap();
    }

    /// A turn in which a command does something.
    fn command(&self, checkpoints: &Checkpoints, entry_id: u64, line: &str, act: impl FnOnce(&Self)) -> bool {
        checkpoints.said(SESSION, entry_id, Some(format!("turn {entry_id}")));
        checkpoints.starting(&command(line));
        act(self);
        checkpoints.end(None).is_some()
    }

    /// A tool writes a file.
    fn tool(&self, checkpoints: &Checkpoints, path: &str, content: &str) {
        let call = call(Risk::Write, Subject::Write(vec![self.work.join(path)]));
        checkpoints.starting(&call);
        self.write(path, content);
        checkpoints.finished(&call.call.id);
    }

    fn go(&self, direction: Direction) -> Result<Vec<FileChange>, String> {
        let depot = self.depot();
        let target = Target { depot: &depot, session: SESSION, file: None };
        let plan = target.plan(What::Files, direction).map_err(|error| error.to_string())?;
        let report = target.apply(plan).map_err(|error| error.to_string())?;
        Ok(report.files)
    }

    fn undo(&self) -> Vec<String> {
        words(&self.go(Direction::Undo).unwrap())
    }

    fn redo(&self) -> Vec<String> {
        words(&self.go(Direction::Redo).unwrap())
    }

    /// Everything in the workspace but `.git`: contents and modes, links, folders.
    fn tree(&self) -> BTreeMap<PathBuf, String> {
        let mut tree = BTreeMap::new();
        let mut folders = vec![self.work.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let (path, found) = (entry.path(), entry.metadata().unwrap());
                let said = if found.is_symlink() {
                    format!("-> {}", path.read_link().unwrap().display())
                } else if found.is_dir() {
                    if entry.file_name() != ".git" {
                        folders.push(path.clone());
                    }
                    "/".to_owned()
                } else {
                    let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                    format!("{:o} {content}", found.permissions().mode() & 0o100)
                };
                tree.insert(path.strip_prefix(&self.work).unwrap().to_owned(), said);
            }
        }
        tree
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(&self.work).args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "core.hooksPath=/dev/null",
        ]);
        git.env_clear().env("PATH", "/usr/bin:/bin:/usr/local/bin").env("HOME", self.folder.path());
        assert!(git.args(arguments).output().unwrap().status.success(), "git {arguments:?}");
    }

    /// Everything in the workspace is in a commit whose time stamps have settled.
    fn committed(&self) {
        self.git(&["init", "-q"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "x"]);
        for path in self.tree().into_keys().filter(|path| self.work.join(path).is_file()) {
            let file = fs::File::options().write(true).open(self.work.join(path)).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
        }
        self.git(&["update-index", "-q", "--refresh"]);
    }
}

fn words(files: &[FileChange]) -> Vec<String> {
    let word = |kind: &ChangeKind| match kind {
        ChangeKind::Restore => "restore",
        ChangeKind::Create => "create",
        ChangeKind::Delete => "delete",
        ChangeKind::Merge => "merge",
        ChangeKind::Refused(_) => "refuse",
    };
    files.iter().map(|file| format!("{} {}", word(&file.kind), file.path)).collect()
}

fn call(risk: Risk, subject: Subject) -> PendingCall {
    let call = ToolCall {
        id: format!("call-{}", fastrand::u64(..)),
        name: "some_tool".into(),
        input: ToolInput::Object(serde_json::Map::new()),
    };
    PendingCall { call, risk, subject, limits: Limits { chars: 1, lines: 1 } }
}

fn command(line: &str) -> PendingCall {
    call(Risk::Dangerous, Subject::Command(line.to_owned()))
}

#[test]
fn what_a_command_did_is_taken_back_and_restored() {
    let lab = Lab::new();
    lab.write("f.txt", "before\n");
    lab.write("mine.txt", "mine\n");
    lab.write("gone/deep/x", "x");
    let before = lab.tree();
    let checkpoints = lab.checkpoints();
    let changed = lab.command(&checkpoints, 1, "make", |lab| {
        lab.write("f.txt", "after\n");
        lab.write("new/g.txt", "new\n");
        fs::remove_dir_all(lab.work.join("gone")).unwrap();
    });
    assert!(changed && checkpoints.take_notices().is_empty());
    let after = lab.tree();
    assert_eq!(
        lab.undo(),
        ["restore f.txt", "create gone/", "create gone/deep/", "create gone/deep/x", "delete new/", "delete new/g.txt"]
    );
    assert_eq!(lab.tree(), before);
    assert_eq!(lab.redo().len(), 6);
    assert_eq!(lab.tree(), after);
    assert_eq!(
        lab.go(Direction::Redo).unwrap_err(),
        "no files of this session were taken back since something was last said"
    );
}

#[test]
fn a_command_that_only_reads_costs_nothing() {
    let lab = Lab::new();
    let checkpoints = lab.checkpoints();
    for line in ["true", "ls -l | head", "git status"] {
        assert!(!lab.command(&checkpoints, 1, line, |_| {}));
    }
    checkpoints.starting(&call(Risk::Safe, Subject::Other));
    checkpoints.starting(&call(Risk::Safe, Subject::Read(vec![lab.work.join("x")])));
    assert!(!lab.folder.path().join("data").exists());
    assert_eq!(lab.go(Direction::Undo).unwrap_err(), "no turn of this session changed files that could be taken back");
    assert!(!lab.folder.path().join("data").exists());
}

#[test]
fn what_the_user_changed_since_is_never_lost() {
    let lab = Lab::new();
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n";
    for path in ["merged", "conflict", "deleted", "untouched"] {
        lab.write(path, text);
    }
    let checkpoints = lab.checkpoints();
    lab.command(&checkpoints, 1, "make", |lab| {
        for path in ["merged", "conflict", "deleted", "untouched"] {
            lab.write(path, &text.replace('1', "agent"));
        }
        lab.write("made", "agent\n");
        lab.write("made-and-edited", "agent\n");
    });
    lab.write("merged", "agent\n2\n3\n4\n5\n6\n7\n8\nmine\n");
    lab.write("conflict", &text.replace('1', "mine"));
    lab.remove("deleted");
    lab.write("made-and-edited", "agent\nmine\n");
    lab.write("own", "mine\n");
    let now = lab.tree();
    let done = lab.undo();
    assert_eq!(
        done,
        [
            "refuse conflict",
            "refuse deleted",
            "delete made",
            "refuse made-and-edited",
            "merge merged",
            "restore untouched"
        ]
    );
    assert_eq!(lab.read("merged").unwrap(), format!("{text}mine\n"));
    assert_eq!(lab.read("conflict").unwrap(), text.replace('1', "mine"));
    assert_eq!((lab.read("deleted"), lab.read("made")), (None, None));
    assert_eq!(lab.read("made-and-edited").unwrap(), "agent\nmine\n");
    lab.redo();
    assert_eq!(lab.tree(), now, "restoring is exact");
    // Once more: what was left alone the first time is looked at again.
    lab.write("conflict", &text.replace('1', "agent"));
    assert_eq!(lab.undo()[0], "restore conflict");
}

#[test]
fn several_turns_go_back_one_by_one() {
    let lab = Lab::new();
    let checkpoints = lab.checkpoints();
    let mut trees = vec![lab.tree()];
    for entry_id in 1..4 {
        lab.command(&checkpoints, entry_id, "make", |lab| lab.write("f", &format!("{entry_id}\n")));
        // The user works in between, on another file.
        lab.write("mine", &format!("{entry_id}\n"));
        trees.push(lab.tree());
    }
    let mine = |lab: &Lab| lab.read("mine").unwrap();
    for entry_id in (0..3).rev() {
        assert_eq!(lab.undo().len(), 1);
        assert_eq!(lab.read("f"), (entry_id > 0).then(|| format!("{entry_id}\n")));
        assert_eq!(mine(&lab), "3\n");
    }
    assert!(lab.go(Direction::Undo).is_err());
    for _ in 0..3 {
        lab.redo();
    }
    assert_eq!(lab.tree(), trees[3]);
    lab.undo();
    // Something said makes an end of it, whatever it was.
    checkpoints.said(SESSION, 9, None);
    assert!(lab.go(Direction::Redo).is_err());
    assert_eq!(lab.undo(), ["restore f"]);
    assert_eq!(lab.read("f").unwrap(), "1\n");
}

#[test]
fn several_turns_go_back_at_once() {
    let lab = Lab::new();
    let checkpoints = lab.checkpoints();
    lab.write("f", "0\n");
    for entry_id in [1, 5, 9] {
        lab.command(&checkpoints, entry_id, "make", |lab| {
            lab.write("f", &format!("{entry_id}\n"));
            lab.write(&format!("made-{entry_id}"), "");
        });
    }
    let after = lab.tree();
    let depot = lab.depot();
    let target = Target { depot: &depot, session: SESSION, file: None };
    let plan = target.plan_back_to(4).unwrap();
    assert_eq!((words(&plan.files).len(), plan.title.as_deref()), (3, Some("turn 5")));
    target.apply(plan).unwrap();
    assert_eq!(
        (lab.read("f").unwrap().as_str(), lab.read("made-1"), lab.read("made-5")),
        ("1\n", Some(String::new()), None)
    );
    lab.redo();
    assert_eq!(lab.tree(), after);
}

#[test]
fn tools_are_covered_exactly() {
    let lab = Lab::new();
    lab.write(".gitignore", "*.secret\n");
    lab.write("f", "1\n2\n3\n");
    lab.write("a.secret", "old");
    let checkpoints = lab.checkpoints();
    checkpoints.said(SESSION, 1, None);
    lab.tool(&checkpoints, "f", "agent\n2\n3\n");
    lab.tool(&checkpoints, "f", "agent\nagent\n3\n");
    lab.tool(&checkpoints, "a.secret", "new");
    lab.tool(&checkpoints, "deep/er/new", "new");
    lab.tool(&checkpoints, "node_modules/x.js", "new");
    // The user is faster than the end of the turn.
    lab.write("f", "agent\nagent\n3\nmine\n");
    assert!(checkpoints.end(None).is_some());
    assert_eq!(lab.undo(), ["restore a.secret", "delete deep/", "delete deep/er/", "delete deep/er/new", "merge f"]);
    assert_eq!((lab.read("f").unwrap().as_str(), lab.read("a.secret").unwrap().as_str()), ("1\n2\n3\nmine\n", "old"));
    assert!(!lab.work.join("deep").exists() && lab.work.join("node_modules/x.js").exists());
}

#[test]
fn tools_and_commands_of_one_turn_are_one_change() {
    let lab = Lab::new();
    lab.write("early", "0");
    lab.write("late", "0");
    lab.write("back", "0");
    let before = lab.tree();
    let checkpoints = lab.checkpoints();
    checkpoints.said(SESSION, 1, None);
    lab.tool(&checkpoints, "early", "tool");
    lab.tool(&checkpoints, "brief", "tool");
    checkpoints.starting(&command("make"));
    lab.write("early", "command");
    lab.write("late", "command");
    lab.write("back", "command");
    lab.write("made", "command");
    lab.remove("brief");
    lab.tool(&checkpoints, "late", "tool");
    lab.tool(&checkpoints, "made", "tool");
    lab.tool(&checkpoints, "back", "0");
    checkpoints.end(None);
    assert_eq!(lab.undo(), ["restore early", "restore late", "delete made"]);
    assert_eq!(lab.tree(), before);
}

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

#[test]
fn links_modes_and_names_of_any_kind() {
    let lab = Lab::new();
    let odd = PathBuf::from(std::ffi::OsString::from_vec(b"odd \xff\n name".to_vec()));
    fs::write(lab.work.join(&odd), b"\xff\0old").unwrap();
    lab.write("script", "#!/bin/sh\n");
    lab.write("private", "old");
    fs::set_permissions(lab.work.join("private"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("script", lab.work.join("link")).unwrap();
    symlink("nowhere", lab.work.join("file")).unwrap();
    let before = lab.tree();
    let checkpoints = lab.checkpoints();
    lab.command(&checkpoints, 1, "make", |lab| {
        fs::write(lab.work.join(&odd), b"\xff\0new").unwrap();
        fs::set_permissions(lab.work.join("script"), fs::Permissions::from_mode(0o755)).unwrap();
        for path in ["private", "link", "file"] {
            lab.remove(path);
        }
        symlink(&odd, lab.work.join("link")).unwrap();
        lab.write("file/inner", "new");
    });
    let after = lab.tree();
    assert_ne!(before, after);
    assert!(lab.undo().iter().all(|line| !line.starts_with("refuse")));
    assert_eq!(lab.tree(), before);
    assert_eq!(fs::metadata(lab.work.join("private")).unwrap().permissions().mode() & 0o777, 0o600);
    lab.redo();
    assert_eq!(lab.tree(), after);
}

#[test]
fn a_folder_that_became_a_link_leads_nowhere() {
    let lab = Lab::new();
    let outside = lab.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("f"), "after").unwrap();
    lab.write("d/f", "before");
    let checkpoints = lab.checkpoints();
    lab.command(&checkpoints, 1, "make", |lab| lab.write("d/f", "after"));
    fs::remove_dir_all(lab.work.join("d")).unwrap();
    symlink(&outside, lab.work.join("d")).unwrap();
    assert_eq!(lab.undo(), ["refuse d/f"]);
    assert_eq!(fs::read_to_string(outside.join("f")).unwrap(), "after");
}

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

#[test]
fn a_turn_that_was_cut_off_is_taken_back_by_what_is_there() {
    let lab = Lab::new();
    lab.write("f", "before\n");
    lab.write("t", "before\n");
    let before = lab.tree();
    let checkpoints = lab.checkpoints();
    lab.command(&checkpoints, 1, "make", |lab| lab.write("earlier", ""));
    let middle = lab.tree();
    checkpoints.said(SESSION, 3, Some("cut".into()));
    lab.tool(&checkpoints, "t", "tool\n");
    checkpoints.starting(&command("make"));
    lab.write("f", "command\n");
    let busy = lab.go(Direction::Undo).unwrap_err();
    assert_eq!(busy, "a turn of this session is running in another process");
    drop(checkpoints);
    let depot = lab.depot();
    let target = Target { depot: &depot, session: SESSION, file: None };
    let plan = target.plan(What::Files, Direction::Undo).unwrap();
    assert!(plan.notes[0].contains("cut off") && plan.title.as_deref() == Some("cut"), "{plan:?}");
    target.apply(plan).unwrap();
    assert_eq!(lab.tree(), middle);
    lab.undo();
    assert_eq!(lab.tree(), before);
    // The next turn of the session ends one that was cut off, too.
    let checkpoints = lab.checkpoints();
    checkpoints.said(SESSION, 5, None);
    checkpoints.starting(&command("make"));
    lab.write("f", "cut again\n");
    drop(checkpoints);
    lab.command(&lab.checkpoints(), 7, "make", |lab| lab.write("f", "then\n"));
    lab.undo();
    assert_eq!(lab.read("f").unwrap(), "cut again\n");
    lab.undo();
    assert_eq!(lab.read("f").unwrap(), "before\n");
}

#[test]
fn what_was_changed_after_the_program_was_killed_is_left() {
    let lab = Lab::new();
    for path in ["f", "edited", "tooled", "gone"] {
        lab.write(path, "before\n");
    }
    let checkpoints = lab.checkpoints();
    checkpoints.said(SESSION, 1, None);
    lab.tool(&checkpoints, "tooled", "tool\n");
    checkpoints.starting(&command("make"));
    lab.write("f", "command\n");
    lab.write("made", "command\n");
    lab.remove("gone");
    drop(checkpoints);
    lab.settle();
    lab.write("edited", "mine\n");
    lab.write("tooled", "mine\n");
    lab.write("notes/mine", "mine\n");
    let refused = ["refuse edited", "refuse notes", "refuse notes/mine", "refuse tooled"];
    let mut done = lab.undo();
    done.retain(|line| line.starts_with("refuse"));
    assert_eq!(done, refused);
    assert_eq!(
        ["f", "gone", "made"].map(|path| lab.read(path)),
        [Some("before\n".to_owned()), Some("before\n".into()), None]
    );
    assert_eq!(["edited", "tooled", "notes/mine"].map(|path| lab.read(path).unwrap()), ["mine\n"; 3]);
    lab.redo();
    assert_eq!(
        (lab.read("f").unwrap(), lab.read("notes/mine").unwrap()),
        ("command\n".to_owned(), "mine\n".to_owned())
    );
}

#[test]
fn a_crash_while_files_are_taken_back_is_gone_on_from() {
    let lab = Lab::new();
    lab.write("a", "1\n2\n3\n4\n");
    lab.write("b", "before\n");
    lab.command(&lab.checkpoints(), 1, "make", |lab| {
        lab.write("a", "agent\n2\n3\n4\n");
        lab.write("b", "after\n");
    });
    lab.write("a", "agent\n2\n3\n4\nmine\n");
    let now = lab.tree();
    lab.undo();
    let undone = lab.tree();
    // As if the program had ended before the second file was written and the end noted.
    let journal = lab.folder.path().join("data/checkpoints").join(SESSION).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let (kept, _) = text.rsplit_once(r#"{"type":"done""#).unwrap();
    fs::write(&journal, kept).unwrap();
    lab.write("b", "after\n");
    assert_eq!(lab.undo(), ["restore b"]);
    assert_eq!(lab.tree(), undone);
    lab.redo();
    assert_eq!(lab.tree(), now);
}

#[test]
fn large_files_are_told_once_and_left_alone() {
    let lab = Lab::new();
    let large = "x".repeat(usize::try_from(super::objects::FILE_BYTES).unwrap() + 1);
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
    let large = "x".repeat(usize::try_from(super::objects::FILE_BYTES).unwrap() + 1);
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

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// What somebody does to a path.
#[derive(Clone, Debug)]
enum Deed {
    /// Puts a line at the beginning of a text; makes it where there is none.
    First(String),
    /// Puts one at its end.
    Last(String),
    Replace(String),
    Delete,
    Execute(bool),
    Link(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Tool,
    Command,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        "[a-c]{1,3}".prop_map(Deed::First),
        "[a-c]{1,3}".prop_map(Deed::Last),
        "([a-c]\n){0,6}".prop_map(Deed::Replace),
        Just(Deed::Delete),
        any::<bool>().prop_map(Deed::Execute),
        "[x-z]".prop_map(Deed::Link),
    ]
}

fn deeds() -> impl Strategy<Value = Vec<(usize, Deed)>> {
    proptest::collection::vec((0..PATHS.len(), deed()), 0..5)
}

const PATHS: [&str; 6] = ["a", "b", "d/a", "d/b", "d/e/c", "f/g"];

impl Lab {
    fn act(&self, path: &str, deed: &Deed) {
        let full = self.work.join(path);
        let is_link = full.is_symlink();
        let old = if is_link { None } else { self.read(path) };
        match (deed, old) {
            (Deed::First(line), old) if !is_link => self.write(path, &format!("{line}\n{}", old.unwrap_or_default())),
            (Deed::Last(line), old) if !is_link => self.write(path, &format!("{}{line}\n", old.unwrap_or_default())),
            (Deed::Replace(text), _) if !is_link => self.write(path, text),
            (Deed::Execute(on), Some(_)) => {
                let mode = if *on { 0o755 } else { 0o644 };
                fs::set_permissions(full, fs::Permissions::from_mode(mode)).unwrap();
            }
            (Deed::Link(target), None) if !is_link => {
                fs::create_dir_all(full.parent().unwrap()).unwrap();
                symlink(target, full).unwrap();
            }
            (Deed::Delete, old) if is_link || old.is_some() => self.remove(path),
            (_, _) => {}
        }
    }

    fn of(&self, path: &str) -> Option<String> {
        self.tree().remove(Path::new(path))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    /// Turns and the user's own work in between, in any order, then back and forth.
    #[test]
    fn back_and_forth_loses_nothing(
        at_first in deeds(),
        turns in proptest::collection::vec((any::<bool>(), deeds(), deeds()), 1..4),
        back in 1..4usize,
    ) {
        let lab = Lab::new();
        at_first.iter().for_each(|(path, deed)| lab.act(PATHS[*path], deed));
        let mut checkpoints = lab.checkpoints();
        let mut kept = Vec::new();
        for (number, (by_command, deeds, by_user)) in turns.iter().enumerate() {
            let before = lab.tree();
            checkpoints.said(SESSION, number as u64 + 1, None);
            let who = if *by_command { Who::Command } else { Who::Tool };
            if who == Who::Command {
                checkpoints.starting(&command("make"));
            }
            for (path, deed) in deeds {
                let call = call(Risk::Write, Subject::Write(vec![lab.work.join(PATHS[*path])]));
                if who == Who::Tool {
                    checkpoints.starting(&call);
                }
                lab.act(PATHS[*path], deed);
                if who == Who::Tool {
                    checkpoints.finished(&call.call.id);
                }
            }
            if checkpoints.end(None).is_some() {
                kept.push((before, lab.tree()));
            }
            by_user.iter().for_each(|(path, deed)| lab.act(PATHS[*path], deed));
            if number % 2 == 1 {
                checkpoints = lab.checkpoints();
            }
        }
        prop_assert_eq!(checkpoints.take_notices(), Vec::<String>::new());
        let mut seen = Vec::new();
        for (before, after) in kept.iter().rev().take(back) {
            let now = lab.tree();
            let files = lab.go(Direction::Undo).unwrap();
            for path in PATHS {
                let key = Path::new(path);
                let (was, left, is) = (before.get(key), after.get(key), now.get(key));
                let then = lab.of(path);
                if is == left {
                    // Nobody touched it since.
                    prop_assert_eq!(then.as_ref(), was, "{}", path);
                } else if was == left || !files.iter().any(|file| file.path == path && file.kind == ChangeKind::Merge) {
                    // The turn did nothing to it, or it cannot be merged; or it is that way already.
                    prop_assert_eq!(then.as_ref(), is, "{}", path);
                }
            }
            if files.iter().all(|file| matches!(file.kind, ChangeKind::Refused(_))) && !files.is_empty() {
                // It stays the last turn.
                prop_assert_eq!(lab.tree(), now);
                break;
            }
            seen.push(now);
        }
        for now in seen.iter().rev() {
            lab.go(Direction::Redo).unwrap();
            prop_assert_eq!(&lab.tree(), now);
        }
        prop_assert!(lab.go(Direction::Redo).is_err());
    }
}
