//! `agent sessions list` over a thousand sessions, twenty of them large: with its index, and without.
//!
//! `make bench B=shelf`. The program runs as a user runs it; the sessions are made once, in the target folder.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use divan::Bencher;

/// Folders of sessions, each with [`SESSIONS`].
const FOLDERS: usize = 20;
const SESSIONS: usize = 50;
/// Exchanges of a session, of about 2 KB each: 20 MB in all.
const EXCHANGES: u64 = 10;
/// Those of the one large session of each folder, 5 MB: 100 MB in all.
const MANY_EXCHANGES: u64 = 2_500;

/// The forms of the list.
const FORMS: [&[&str]; 3] = [&[], &["--all"], &["--all", "--json"]];

fn main() {
    divan::main();
}

#[divan::bench(args = FORMS)]
fn list_with_index(bencher: Bencher<'_, '_>, form: &[&str]) {
    list(form);
    bencher.bench(|| list(form));
}

#[divan::bench(sample_count = 10, args = FORMS)]
fn list_without_index(bencher: Bencher<'_, '_>, form: &[&str]) {
    bencher.with_inputs(forget).bench_values(|()| list(form));
}

/// One large session has gone on since the last list.
#[divan::bench]
fn list_after_an_exchange(bencher: Bencher<'_, '_>) {
    let path = write_session(&data().join("sessions/folder-0"), 0, 0);
    list(FORMS[1]);
    let mut id = MANY_EXCHANGES * 2;
    let say = || {
        OpenOptions::new().append(true).open(&path).unwrap().write_all(exchange(id).as_bytes()).unwrap();
        id += 2;
    };
    bencher.with_inputs(say).bench_local_values(|()| list(FORMS[1]));
}

fn forget() {
    let _ = fs::remove_file(data().join("sessions/index"));
}

fn list(form: &[&str]) {
    let home = data();
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_agent")));
    command.args(["sessions", "list"]).args(form).env_clear().current_dir(home).stdin(Stdio::null());
    command.env("PATH", "/usr/bin:/bin").env("HOME", home);
    command.env("VIOLA_CONFIG_DIR", home).env("VIOLA_DATA_DIR", home);
    let done = command.output().unwrap();
    assert!(done.status.success() && (!form.contains(&"--all") || done.stdout.len() > 100 * FOLDERS * SESSIONS));
}

/// The data folder, filled when first asked for.
fn data() -> &'static Path {
    static DATA: OnceLock<PathBuf> = OnceLock::new();
    DATA.get_or_init(|| {
        let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shelf");
        for folder in 0..FOLDERS {
            let path = data.join(format!("sessions/folder-{folder}"));
            fs::create_dir_all(&path).unwrap();
            (0..SESSIONS).for_each(|session| drop(write_session(&path, folder, session)));
        }
        data
    })
}

fn write_session(path: &Path, folder: usize, session: usize) -> PathBuf {
    let id = format!("20260101-{folder:06}-{session:04x}");
    let exchanges = if session == 0 { MANY_EXCHANGES } else { EXCHANGES };
    let mut text = format!(
        r#"{{"type":"session","version":1,"id":"{id}","created_at":1796028350123,"cwd":"/srv/project-{folder}","provider":"p","model":"m","parent":null}}"#
    );
    text.push('\n');
    (0..exchanges).for_each(|number| text.push_str(&exchange(number * 2)));
    let path = path.join(format!("{id}.jsonl"));
    fs::write(&path, text).unwrap();
    path
}

/// The lines of a question and its answer behind the line with this id.
fn exchange(id: u64) -> String {
    let (question, answer) = ("Why does the test fail? ".repeat(10), "Because of that. ".repeat(90));
    let (first, second) = (id + 1, id + 2);
    let parent = if id == 0 { "null".to_owned() } else { id.to_string() };
    let mut text = String::new();
    writeln!(
        text,
        r#"{{"type":"message","id":{first},"parent_id":{parent},"timestamp":1796028350123,"role":"user","content":[{{"type":"text","text":"{question}"}}]}}"#
    )
    .unwrap();
    writeln!(
        text,
        r#"{{"type":"message","id":{second},"parent_id":{first},"timestamp":1796028351123,"role":"assistant","model":"m","provider":"p","usage":{{"input_tokens":1200,"output_tokens":340,"cache_read_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0,"cost_usd":0.01}},"stop_reason":"stop","content":[{{"type":"text","text":"{answer}"}}]}}"#
    )
    .unwrap();
    text
}
