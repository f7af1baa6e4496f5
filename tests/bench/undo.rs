//! What checkpoints cost in a tree of about 100 MB in 10,000 files: the look before a session's first command, with and
//! without git, and those after.
//!
//! `cargo bench --bench undo`; the trees are made once, in the folder for temporary files.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

use divan::Bencher;
use tempfile::TempDir;
use viola::base::clock::Clock;
use viola::base::env::Env;
use viola::base::json::Object;
use viola::kernel::port::PendingCall;
use viola::kernel::tool::{Limits, Risk, Subject};
use viola::model::message::{ToolCall, ToolInput};
use viola::product::checkpoint::depot::Depot;
use viola::product::checkpoint::record::Checkpoints;

/// Folders of the tree, each with [`FILES`] files of [`BYTES`] bytes: 100 MB in 10,000 files.
const FOLDERS: usize = 200;
const FILES: usize = 50;
const BYTES: usize = 10_000;

/// What sessions kept. Removing ten thousand files makes it slow to make others for some seconds, so it waits for the end.
static KEPT: Mutex<Vec<TempDir>> = Mutex::new(Vec::new());

fn main() {
    divan::main();
    KEPT.lock().unwrap().clear();
}

/// A session's first command in an empty folder.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn first_command_in_an_empty_folder(bencher: Bencher<'_, '_>) {
    bencher.with_inputs(|| Session::begin(None, "make")).bench_local_refs(|session| session.command());
}

/// A command that only reads: no look at all.
#[divan::bench]
fn command_that_reads(bencher: Bencher<'_, '_>) {
    let session = Session::begin(Some(tree()), "git status | head");
    bencher.bench_local(|| session.command());
}

/// A session's first command where nothing of the tree is kept yet: 1 s at most.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn first_command(bencher: Bencher<'_, '_>) {
    bencher.with_inputs(|| Session::begin(Some(tree()), "make")).bench_local_refs(|session| session.command());
}

/// The same where git has all of it.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn first_command_with_git(bencher: Bencher<'_, '_>) {
    bencher.with_inputs(|| Session::begin(Some(repository()), "make")).bench_local_refs(|session| session.command());
}

/// The end of a turn in which a command changed ten files: 100 ms at most.
#[divan::bench(sample_count = 20, sample_size = 1, args = [false, true])]
fn end_of_a_turn(bencher: Bencher<'_, '_>, with_git: bool) {
    let root = if with_git { repository() } else { tree() };
    let session = Session::begin(Some(root), "make");
    let mut turn = 0;
    bencher
        .with_inputs(|| {
            turn += 1;
            session.checkpoints.said("s", turn, None);
            session.command();
            for file in 0..10 {
                std::fs::write(root.join(format!("module3/f{file}.rs")), format!("turn {turn}\n")).unwrap();
            }
        })
        .bench_local_values(|()| session.checkpoints.end(None));
    restore(root);
}

/// The look before the first command of a later turn: 100 ms at most.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn later_command(bencher: Bencher<'_, '_>) {
    let session = Session::begin(Some(tree()), "make");
    session.command();
    let mut turn = 1;
    bencher
        .with_inputs(|| {
            session.checkpoints.end(None);
            turn += 1;
            session.checkpoints.said("s", turn, None);
        })
        .bench_local_values(|()| session.command());
}

struct Session {
    checkpoints: Checkpoints,
    call: PendingCall,
}

impl Session {
    /// A session in a folder, or an empty one, with checkpoints of its own.
    fn begin(root: Option<&Path>, line: &str) -> Self {
        // What earlier samples wrote is not waited for in the middle of this one.
        rustix::fs::sync();
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        let path = std::env::join_paths(["/usr/bin", "/bin", "/usr/local/bin"]).unwrap();
        let cwd = root.map_or(empty, Path::to_owned);
        let env = Env { vars: [("PATH".into(), path)].into(), cwd, home: None };
        let checkpoints = Checkpoints::new(Depot::new(&folder.path().join("data"), &env, Clock::System));
        checkpoints.said("s", 1, None);
        let call = ToolCall { id: "c".into(), name: "execute_bash".into(), input: ToolInput::Object(Object::new()) };
        let subject = Subject::Command(line.to_owned());
        let call = PendingCall { call, risk: Risk::Dangerous, subject, limits: Limits { chars: 1, lines: 1 } };
        KEPT.lock().unwrap().push(folder);
        Self { checkpoints, call }
    }

    fn command(&self) {
        self.checkpoints.starting(&self.call);
    }
}

fn tree() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| made("undo-tree"))
}

fn repository() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| {
        let root = made("undo-repository");
        if !root.join(".git").exists() {
            git(&root, &["init", "-q"]);
            git(&root, &["add", "-A"]);
            git(&root, &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "all"]);
            git(&root, &["gc", "-q"]);
        }
        git(&root, &["update-index", "-q", "--refresh"]);
        root
    })
}

fn git(root: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(root).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(git.status().unwrap().success());
}

fn made(name: &str) -> PathBuf {
    // Outside of the repository of this program, which would be the workspace otherwise.
    let root = std::env::temp_dir().join("viola-bench").join(name);
    // The last file written says that the tree is whole.
    if !root.join(format!("module{}/f{}.rs", FOLDERS - 1, FILES - 1)).exists() {
        (0..FOLDERS).for_each(|folder| (0..FILES).for_each(|file| write(&root, folder, file)));
    }
    root
}

fn write(root: &Path, folder: usize, file: usize) {
    let line = format!("    let value_{file} = handler(request, {folder}).await?; // fast path\n");
    let mut text = line.repeat(BYTES / line.len());
    text.truncate(BYTES);
    let folder = root.join(format!("module{folder}"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("f{file}.rs")), text).unwrap();
}

fn restore(root: &Path) {
    (0..10).for_each(|file| write(root, 3, file));
}
