//! The tool `find_files`: names of files, by glob, sorted by path.
//!
//! By path and not by time, so that the same question has the same answer and no file needs a look at its metadata.
//! Never reads a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::json;

use crate::base::json::Object;
use crate::base::text::numbers::{count, grouped};
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};
use crate::product::tool::arguments;
use crate::product::tool::missing::{Wanted, explain, unreadable};
use crate::product::tool::walk::glob::Glob;
use crate::product::tool::walk::{Kind, Report, Step, Walk};
use crate::product::tool::workspace::{self, Workspace};

/// What the model gets at most: room for 500 paths of the usual length.
pub const LIMITS: Limits = Limits { chars: 40_000, lines: MAX_PATHS + 20 };

/// Paths in one answer.
const MAX_PATHS: usize = 500;

/// Folders named where no file matches.
const MAX_FOLDERS: usize = 10;

/// Files found between two lines of progress.
const PROGRESS_FILES: u64 = 5_000;

/// Finds files by name.
pub struct FindFiles {
    workspace: Arc<Workspace>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
}

/// The first paths of those that were added, and how many there were.
struct First {
    max: usize,
    paths: BTreeSet<PathBuf>,
    total: u64,
}

impl First {
    fn new(max: usize) -> Self {
        Self { max, paths: BTreeSet::new(), total: 0 }
    }

    fn add(&mut self, path: &Path) {
        self.total += 1;
        if self.paths.len() == self.max && self.paths.last().is_some_and(|last| last.as_path() < path) {
            return;
        }
        self.paths.insert(path.to_owned());
        if self.paths.len() > self.max {
            self.paths.pop_last();
        }
    }
}

impl FindFiles {
    /// The tool in a workspace.
    pub fn new(workspace: Arc<Workspace>, limits: Limits) -> Self {
        let spec = ToolSpec {
            name: "find_files",
            description: include_str!("../../../assets/tools/find_files.md").trim_ascii(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "glob"},
                    "path": {"type": "string", "description": "folder to look in, default ."}
                },
                "required": ["pattern"]
            }),
            risk: Risk::Safe,
            limits,
        };
        Self { workspace, spec }
    }

    /// The folder that was named and the glob below it.
    fn request(&self, arguments: &Object) -> Result<(PathBuf, Glob), String> {
        let Arguments { pattern, path } = arguments::parse(arguments)?;
        let base = self.workspace.resolve(path.as_deref().unwrap_or("."));
        let glob = Glob::new(&self.workspace, &base, &pattern)?;
        Ok((base, glob))
    }

    fn find(&self, base: &Path, glob: &Glob, context: &ToolContext<'_>) -> Output {
        let root = glob.root();
        if let Some(by) = self.workspace.closed_by(root) {
            let (shown, by) = (self.workspace.named(root), by.as_str());
            return Output::error(format!("{shown} is closed by {by} and cannot be looked into"));
        }
        if let Some(reason) = unreadable(root).filter(|_| !base.is_file()) {
            return Output::error(format!("cannot look into {}: {reason}", self.workspace.named(root)));
        }
        if !root.is_dir() {
            let is_file = base.is_file();
            let shown = self.workspace.named(base);
            return match (is_file, base.exists()) {
                (true, _) => Output::error(format!("{shown} is a file; path must be a folder")),
                // The glob's own folders do not exist: a true answer, no mistake.
                (false, true) => {
                    Output::ok(format!("no file matches: {}", explain(&self.workspace, root, Wanted::Any)))
                }
                (false, false) => Output::error(explain(&self.workspace, base, Wanted::Any)),
            };
        }
        let files = Mutex::new(First::new(MAX_PATHS));
        let folders = Mutex::new(First::new(MAX_FOLDERS));
        let walk = Walk { workspace: &self.workspace, root, glob: Some(glob), cancel: context.cancel };
        let report = walk.run(|| {
            |path: &Path, kind| {
                match kind {
                    Kind::Folder if glob.matches_folder(path) => {
                        folders.lock().unwrap_or_else(PoisonError::into_inner).add(path);
                    }
                    Kind::File | Kind::Link | Kind::Special if glob.matches_file(path) => {
                        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
                        files.add(path);
                        if files.total.is_multiple_of(PROGRESS_FILES) {
                            (context.progress)(&format!("found {}", count(files.total, "file")));
                        }
                    }
                    Kind::Folder | Kind::File | Kind::Link | Kind::Special => {}
                }
                Step::Continue
            }
        });
        let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
        let folders = folders.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.answer(root, &files, &folders, &report)
    }

    fn answer(&self, root: &Path, files: &First, folders: &First, report: &Report) -> Output {
        let shown = |path: &PathBuf| self.workspace.shown(path);
        let mut notes = Vec::new();
        if files.total > files.paths.len() as u64 {
            let (kept, total) = (files.paths.len(), grouped(files.total));
            notes.push(format!("the first {kept} of {total} files, by path; narrow pattern or path"));
        }
        notes.extend(report.end.note());
        let skipped = report.left_out.reasons();
        if !skipped.is_empty() {
            notes.push(format!("not looked into: {}", skipped.join(", ")));
        }
        if !files.paths.is_empty() {
            let text: Vec<String> = files.paths.iter().map(shown).collect();
            let footer = if notes.is_empty() { None } else { Some(format!("({})", notes.join("; "))) };
            return Output { footer, ..Output::ok(text.join("\n")) };
        }
        let mut text = format!("no file matches under {}", self.workspace.named(root));
        if !folders.paths.is_empty() {
            let names: Vec<String> = folders.paths.iter().map(|path| shown(path) + "/").collect();
            text.push_str(&format!("; folders do: {}", names.join(", ")));
        }
        for note in notes {
            text.push('\n');
            text.push_str(&note);
        }
        if report.left_out.hidden.count + report.left_out.ignored.count > 0 {
            text.push_str("\nto look into something hidden or ignored, name it as path");
        }
        Output::ok(text)
    }
}

impl Tool for FindFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        self.request(arguments).map(|(_, glob)| workspace::reads(glob.root()))
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        match self.request(arguments) {
            Ok((base, glob)) => self.find(&base, &glob, context),
            Err(complaint) => Output::error(complaint),
        }
    }
}

#[cfg(test)]
mod tests;
