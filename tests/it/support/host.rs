//! A hermetic machine for one test: folders, configuration, a scripted model, and ways to run the program in it.
//!
//! The program sees nothing of the real home, environment or network. When the host is dropped, what is left running is
//! killed, and a problem the server saw, or a reply it never got to, fails the test; the folders stay if it failed.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::{PATIENCE, Reader, Running, Stdin};
use super::pty::{Keyboard, Pty};
use super::reply::Reply;
use super::request::Request;
use super::run::Run;
use super::server::Server;
use super::session::Session;
use super::tmux::Tmux;
use super::wire::Wire;

/// The configured provider, its one model, and its key.
pub const PROVIDER: &str = "mock";
pub const MODEL: &str = "test-model";
pub const KEY: &str = "mock-key-51b9c2e07d";

/// A variable that all processes of a host inherit, and no others.
const MARK: &str = "HOST_MARK";

/// The world of one test.
pub struct Host {
    pub server: Server,
    folder: TempDir,
    /// The folder's path, with no links in it.
    root: PathBuf,
    wire: Wire,
}

impl Host {
    /// A host whose configured provider speaks Chat Completions.
    pub fn new() -> Self {
        Self::on(Wire::Chat)
    }

    /// A host whose configured provider speaks this wire.
    pub fn on(wire: Wire) -> Self {
        let folder = tempfile::Builder::new().prefix("viola-it-").tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let host = Self { server: Server::start(KEY), folder, root, wire };
        for folder in [host.home(), host.config_dir(), host.data_dir(), host.work(), host.tmp()] {
            fs::create_dir(folder).unwrap();
        }
        host.config(json!({}));
        host
    }

    // Folders and files

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub fn config_dir(&self) -> PathBuf {
        self.root.join("config")
    }

    pub fn data_dir(&self) -> PathBuf {
        self.root.join("data")
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// A program that starts the agent without what sets root apart, or nothing where that cannot be done.
    pub fn powerless(&self) -> Option<PathBuf> {
        let program = env!("CARGO_BIN_EXE_agent");
        let without = if !rustix::process::geteuid().is_root() {
            ""
        } else if Path::new("/usr/bin/setpriv").exists() {
            "setpriv --bounding-set -all --inh-caps -all "
        } else {
            eprintln!("not tested: there is no setpriv, and root reads everything");
            return None;
        };
        let script = self.root().join("start");
        fs::write(&script, format!("#!/bin/sh\nexec {without}{program} \"$@\"\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        Some(script)
    }

    /// Writes a file; a relative path is in the working directory.
    pub fn file(&self, path: impl AsRef<Path>, content: &str) -> PathBuf {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(self.work().join(path)).unwrap()
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.work().join(path).exists()
    }

    /// Writes the user's `config.json`: provider and model of the scripted server, with these changes merged in.
    pub fn config(&self, changes: Value) -> PathBuf {
        let mut config = json!({"provider": PROVIDER, "model": MODEL, "providers": {PROVIDER: self.provider(MODEL)}});
        merge(&mut config, &changes);
        self.file(self.config_dir().join("config.json"), &config.to_string())
    }

    /// A `providers` entry that leads to the scripted server, with one model.
    pub fn provider(&self, model: &str) -> Value {
        let model = json!({"id": model, "contextWindow": 128_000, "maxTokens": 8192, "reasoning": true});
        let base_url = self.server.base_url(self.wire);
        json!({"base_url": base_url, "api": self.wire.api(), "api_key": KEY, "models": [model]})
    }

    // The model's side

    /// Sets the answers to the coming requests.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.server.script(replies);
    }

    /// The request of this number.
    #[track_caller]
    pub fn request(&self, number: usize) -> Arc<Request> {
        let requests = self.server.requests();
        requests.get(number).cloned().unwrap_or_else(|| panic!("{} requests, none of number {number}", requests.len()))
    }

    // Runs

    /// A run of the program with these arguments.
    pub fn agent(&self, arguments: &[&str]) -> Agent<'_> {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let (stdin, cwd, reader) = (Stdin::Null, self.work(), Reader::Patient);
        Agent {
            host: self,
            arguments,
            env: BTreeMap::new(),
            stdin,
            cwd,
            deadline: PATIENCE,
            reader,
            ignored: "",
            keyboard: Keyboard::Legacy,
        }
    }

    /// One-shot with a text answer.
    pub fn print(&self, prompt: &str) -> Agent<'_> {
        self.agent(&["-p", prompt])
    }

    /// One-shot with everything allowed, told as `stream-json`.
    pub fn task(&self, prompt: &str) -> Agent<'_> {
        self.agent(&["-p", "--yolo", "--output-format", "stream-json", prompt])
    }

    /// Runs one call in a session of its own, everything allowed, and returns what the model is told.
    #[track_caller]
    pub fn tool(&self, name: &str, arguments: Value) -> String {
        let first = self.server.requests().len();
        self.script([super::call(name, arguments), super::say("done")]);
        self.task(&format!("use {name}, number {first}")).run().ok();
        self.request(first + 1).told().to_owned()
    }

    // What is left behind

    /// All sessions, in the order of their names, but for what was kept of work that they gave away.
    pub fn sessions(&self) -> Vec<Session> {
        let files = files(&self.data_dir().join("sessions"));
        let logs = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        let own = logs.filter(|path| !path.iter().any(|folder| folder.to_string_lossy().ends_with(".agents")));
        own.map(|path| Session::read(path)).collect()
    }

    /// The only session.
    #[track_caller]
    pub fn session(&self) -> Session {
        let mut sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "sessions");
        sessions.remove(0)
    }

    /// Every byte the program keeps in its data folder.
    pub fn state(&self) -> String {
        files(&self.data_dir())
            .iter()
            .map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned())
            .collect()
    }

    /// Files and folders of the data folder that others may read.
    pub fn open_to_others(&self) -> Vec<PathBuf> {
        let open = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o077 != 0;
        everything(&self.data_dir()).into_iter().filter(open).collect()
    }

    /// The command lines of all living processes of this host, the program's own included.
    pub fn processes(&self) -> Vec<(Pid, String)> {
        let mark = format!("{MARK}={}", self.root.display());
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let living = entries.filter_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let marked = environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
            let inside = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.root));
            let line = fs::read(entry.path().join("cmdline")).ok().filter(|line| !line.is_empty())?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (marked || inside).then_some((pid, line))
        });
        living.collect()
    }

    /// Waits until a process with this text in its command line runs.
    #[track_caller]
    pub fn wait_process(&self, text: &str) {
        wait_until(|| self.processes().iter().any(|(_, line)| line.contains(text)), text);
    }

    /// All processes must be gone, or go at once.
    #[track_caller]
    pub fn assert_no_leftovers(&self) {
        let until = Instant::now() + Duration::from_millis(500);
        while Instant::now() < until && !self.processes().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(self.processes(), [], "processes left behind");
    }

    /// Leaves the folders where they are, with all requests beside them, and says where.
    fn keep(&mut self) {
        self.folder.disable_cleanup(true);
        let lines: Vec<String> = self.server.requests().iter().map(|request| request.body.to_string()).collect();
        self.file(self.root.join("requests.jsonl"), &lines.join("\n"));
        eprintln!("folders and requests are kept in {}", self.root.display());
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            // One that has ended meanwhile is no concern of ours.
            let _ = kill_process(pid, Signal::KILL);
        }
        let mut problems = self.server.take_problems();
        if self.server.left() > 0 {
            problems.push(format!("{} replies of the script were never asked for", self.server.left()));
        }
        if thread::panicking() || !problems.is_empty() {
            self.keep();
        }
        if !thread::panicking() {
            assert!(problems.is_empty(), "what the model was asked is wrong:\n{}", problems.join("\n"));
        } else if !problems.is_empty() {
            eprintln!("what the model was asked is wrong, too:\n{}", problems.join("\n"));
        }
    }
}

/// A run that is being prepared.
#[must_use]
pub struct Agent<'host> {
    host: &'host Host,
    arguments: Vec<String>,
    env: BTreeMap<String, String>,
    stdin: Stdin,
    cwd: PathBuf,
    deadline: Duration,
    reader: Reader,
    ignored: &'static str,
    keyboard: Keyboard,
}

impl Agent<'_> {
    /// Puts more arguments before the others.
    pub fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.splice(0..0, arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    pub fn stdin(self, stdin: impl Into<Stdin>) -> Self {
        Self { stdin: stdin.into(), ..self }
    }

    /// Runs in another folder, relative to the working directory.
    pub fn cwd(self, path: &str) -> Self {
        Self { cwd: self.cwd.join(path), ..self }
    }

    /// Fails the test if the run takes longer.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Reads the program's stdout in this way.
    pub fn reader(self, reader: Reader) -> Self {
        Self { reader, ..self }
    }

    /// Starts the program with this signal ignored, as nohup(1) does.
    pub fn ignoring(self, signal: &'static str) -> Self {
        Self { ignored: signal, ..self }
    }

    /// Puts the program before this keyboard, if it gets a terminal.
    pub fn keyboard(self, keyboard: Keyboard) -> Self {
        Self { keyboard, ..self }
    }

    pub fn start(self) -> Running {
        self.start_program(Path::new(env!("CARGO_BIN_EXE_agent")))
    }

    #[track_caller]
    pub fn run(self) -> Run {
        self.start().wait()
    }

    /// Starts another program in the same world.
    pub fn start_program(self, program: &Path) -> Running {
        let redirection = if matches!(self.stdin, Stdin::Closed) { "<&-" } else { "" };
        let mut command = if redirection.is_empty() && self.ignored.is_empty() {
            Command::new(program)
        } else {
            let trap = if self.ignored.is_empty() { String::new() } else { format!("trap '' {}; ", self.ignored) };
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(format!(r#"{trap}exec "$0" "$@" {redirection}"#)).arg(program);
            shell
        };
        self.furnish(&mut command, "dumb");
        Running::start(command, self.stdin, self.deadline, self.reader)
    }

    /// Starts the program in a terminal of so many columns and rows.
    pub fn pty(self, columns: u16, rows: u16) -> Pty {
        self.pty_program(Path::new(env!("CARGO_BIN_EXE_agent")), columns, rows)
    }

    /// Starts another program in a terminal in the same world.
    pub fn pty_program(self, program: &Path, columns: u16, rows: u16) -> Pty {
        let mut command = Command::new(program);
        self.furnish(&mut command, "xterm-256color");
        Pty::start(&command, (columns, rows), self.keyboard)
    }

    /// Starts the program in a tmux of its own.
    pub fn tmux(self, columns: u16, rows: u16) -> Tmux {
        self.tmux_program(Path::new(env!("CARGO_BIN_EXE_agent")), columns, rows)
    }

    /// Starts another program in a tmux in the same world.
    pub fn tmux_program(self, program: &Path, columns: u16, rows: u16) -> Tmux {
        let mut command = Command::new(program);
        self.furnish(&mut command, "xterm-256color");
        Tmux::start(&command, (columns, rows), self.host.tmp().join("tmux"))
    }

    /// Arguments, folder and environment of the run.
    fn furnish(&self, command: &mut Command, term: &str) {
        let host = self.host;
        command.args(&self.arguments).current_dir(&self.cwd).env_clear();
        command.env("PATH", environment("PATH").unwrap_or_default()).env(MARK, host.root());
        command.env("HOME", host.home()).env("TMPDIR", host.tmp()).env("LC_ALL", "C.UTF-8").env("TERM", term);
        command.env("VIOLA_CONFIG_DIR", host.config_dir()).env("VIOLA_DATA_DIR", host.data_dir()).envs(&self.env);
    }
}

/// Runs a test for each of several cases, side by side, since most of them wait.
pub fn side_by_side<Case: Send>(cases: impl IntoIterator<Item = Case>, test: impl Fn(Case) + Sync) {
    thread::scope(|scope| {
        for case in cases {
            let test = &test;
            scope.spawn(move || test(case));
        }
    });
}

/// Waits for a condition.
#[track_caller]
fn wait_until(condition: impl Fn() -> bool, what: &str) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A variable of the real environment.
#[expect(clippy::disallowed_methods, reason = "the one place where tests look at the real environment")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Lays objects over objects, key by key.
fn merge(base: &mut Value, changes: &Value) {
    match (base, changes) {
        (Value::Object(base), Value::Object(changes)) => {
            for (key, change) in changes {
                merge(base.entry(key).or_insert(Value::Null), change);
            }
        }
        (base, changes) => *base = changes.clone(),
    }
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    everything(folder).into_iter().filter(|path| path.is_file()).collect()
}

/// All files and folders below a folder, sorted.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(everything(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}
