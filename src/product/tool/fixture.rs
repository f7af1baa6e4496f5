//! A temporary folder with a workspace in it, for the tests of the tools that work on files.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;

use crate::base::cancel::Cancel;
use crate::base::json::Object;
use crate::kernel::tool::{Output, Subject, Tool, ToolContext};
use crate::product::tool::seen::Seen;
use crate::product::tool::workspace::Workspace;

/// A working directory of its own, removed at the end.
pub struct Fixture {
    _folder: TempDir,
    /// The working directory, without links in its path.
    pub cwd: PathBuf,
    /// What `deny_read` says.
    pub deny_read: Vec<String>,
    /// Given to every call.
    pub cancel: Cancel,
}

impl Fixture {
    /// An empty working directory.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&cwd).unwrap();
        Self { _folder: folder, cwd, deny_read: Vec::new(), cancel: Cancel::new() }
    }

    /// The files given, with their contents; a name that ends in a slash is a folder.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let fixture = Self::empty();
        for (name, contents) in files {
            fixture.file(name, contents);
        }
        fixture
    }

    /// Adds a file and the folders above it.
    pub fn file(&self, name: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.cwd.join(&name);
        if name.as_ref().as_os_str().to_string_lossy().ends_with('/') {
            std::fs::create_dir_all(&path).unwrap();
        } else {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, contents).unwrap();
        }
        path
    }

    /// Adds a symbolic link.
    pub fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.cwd.join(name)).unwrap();
    }

    /// The workspace of the tools.
    pub fn workspace(&self) -> Arc<Workspace> {
        Arc::new(Workspace::new(self.cwd.clone(), None, &self.deny_read).unwrap())
    }

    /// Runs a call whose arguments the tool accepts, or answers with its complaint.
    pub fn run(&self, tool: &dyn Tool, arguments: Value) -> Output {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        match tool.subject(&arguments) {
            Ok(subject) => self.run_as(tool, &arguments, &subject),
            Err(complaint) => Output::error(complaint),
        }
    }

    /// Runs a call that was permitted for this subject.
    pub fn run_as(&self, tool: &dyn Tool, arguments: &Object, subject: &Subject) -> Output {
        let lines = Mutex::new(Vec::new());
        let progress = |line: &str| lines.lock().unwrap().push(line.to_owned());
        let context =
            ToolContext { call_id: "c1", subject, cancel: &self.cancel, progress: &progress, events: &|_| {} };
        tool.run(arguments, &context)
    }
}

/// A tool that remembers what it saw, and the folder it works in; `closed` there may not be read.
pub struct Bench<T> {
    fixture: Fixture,
    /// What the tool has seen.
    pub seen: Arc<Seen>,
    /// The tool itself.
    pub tool: T,
}

impl<T: Tool> Bench<T> {
    /// The tool that `make` returns, in an empty working directory.
    pub fn new(make: impl FnOnce(Arc<Workspace>, Arc<Seen>) -> T) -> Self {
        let fixture = Fixture { deny_read: vec!["closed".into()], ..Fixture::empty() };
        let seen = Arc::new(Seen::new());
        let tool = make(fixture.workspace(), Arc::clone(&seen));
        Self { fixture, seen, tool }
    }

    /// Runs a call, as [`Fixture::run`].
    pub fn call(&self, arguments: Value) -> Output {
        self.fixture.run(&self.tool, arguments)
    }
}

impl<T> Deref for Bench<T> {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.fixture
    }
}

/// An output's text with its footer below.
pub fn all(output: &Output) -> String {
    let mut text = output.text.head.clone();
    if let Some(footer) = &output.footer {
        text.push('\n');
        text.push_str(footer);
    }
    text
}

/// How long the tool's offer is as JSON: its name, its description and its parameters.
pub fn offer_bytes(tool: &dyn Tool) -> usize {
    let spec = tool.spec();
    serde_json::json!({"name": spec.name, "description": spec.description, "parameters": spec.parameters})
        .to_string()
        .len()
}
