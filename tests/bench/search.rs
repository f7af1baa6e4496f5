//! `search_files` and `find_files` over a tree of about 100 MB, beside `rg` where it is installed.
//!
//! `cargo bench --bench search`; the tree is made once, in the target folder.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use divan::{Bencher, black_box};
use serde_json::json;
use viola::base::cancel::Cancel;
use viola::base::json::Object;
use viola::kernel::tool::{Output, Tool, ToolContext};
use viola::product::tool::workspace::Workspace;
use viola::product::tool::{find, search};

/// Folders of the tree, each with [`FILES`] files of [`LINES`] lines: 100 MB in 10,000 files.
const FOLDERS: usize = 200;
const FILES: usize = 50;
const LINES: usize = 150;

/// What the searches look for: rare, in no file, common, and a class of words.
const PATTERNS: [&str; 4] = ["the needle", "not there at all", "fn handle", r"\bneedle_\d+\b"];

fn main() {
    divan::main();
}

#[divan::bench(args = PATTERNS)]
fn search_files(bencher: Bencher<'_, '_>, pattern: &str) {
    let workspace = Arc::new(Workspace::new(tree().to_owned(), None, &[]).unwrap());
    let tool = search::SearchFiles::new(workspace, search::LIMITS);
    let arguments = object(&json!({ "pattern": pattern }));
    bencher.bench(|| run(&tool, &arguments));
}

/// As above, with closed paths elsewhere and a closed name anywhere.
#[divan::bench]
fn search_files_with_closed_paths(bencher: Bencher<'_, '_>) {
    let closed = ["/home/someone/.ssh", "/home/someone/.aws", "/etc/shadow", "**/*.pem"].map(str::to_owned);
    let workspace = Arc::new(Workspace::new(tree().to_owned(), None, &closed).unwrap());
    let tool = search::SearchFiles::new(workspace, search::LIMITS);
    let arguments = object(&json!({ "pattern": "the needle" }));
    bencher.bench(|| run(&tool, &arguments));
}

#[divan::bench]
fn find_files(bencher: Bencher<'_, '_>) {
    let workspace = Arc::new(Workspace::new(tree().to_owned(), None, &[]).unwrap());
    let tool = find::FindFiles::new(workspace, find::LIMITS);
    let arguments = object(&json!({ "pattern": "**/f7.rs" }));
    bencher.bench(|| run(&tool, &arguments));
}

/// The mark to beat, and the cost of starting it.
#[divan::bench(args = PATTERNS)]
fn ripgrep(bencher: Bencher<'_, '_>, pattern: &str) {
    let run = || {
        let mut command = Command::new("rg");
        command.args(["-n", pattern, "."]).current_dir(tree()).stdin(Stdio::null()).stdout(Stdio::null());
        command.status().is_ok()
    };
    if run() {
        bencher.bench(run);
    }
}

fn run(tool: &dyn Tool, arguments: &Object) -> Output {
    let context = ToolContext {
        call_id: "c",
        subject: &viola::kernel::tool::Subject::Other,
        cancel: &Cancel::new(),
        progress: &|_| {},
        events: &|_| {},
    };
    black_box(tool.run(arguments, &context))
}

fn object(value: &serde_json::Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

fn tree() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("search-tree");
        // The last file written says that the tree is whole.
        if !root.join(format!("module{}/f{}.rs", FOLDERS - 1, FILES - 1)).exists() {
            write_tree(&root);
        }
        root
    })
}

fn write_tree(root: &Path) {
    for number in 0..FOLDERS {
        let inner = root.join(format!("module{number}"));
        std::fs::create_dir_all(&inner).unwrap();
        for file in 0..FILES {
            let line = format!("    let value_{file} = handler(request, {number}).await?; // fast path\n");
            let mut text = line.repeat(LINES / 2);
            if file == 9 {
                text.push_str("pub fn handle() {}\n");
            }
            if number == 77 && file == 30 {
                text.push_str("// the needle and needle_42\n");
            }
            text.push_str(&line.repeat(LINES / 2));
            std::fs::write(inner.join(format!("f{file}.rs")), text).unwrap();
        }
    }
}
