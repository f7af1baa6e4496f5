//! Turns that change files in every way, what the user does meanwhile, and the way back and forth.

mod crash;
mod git;
mod ignored;
mod large;
mod random;

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

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
