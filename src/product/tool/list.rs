//! The tool `list_files`: a folder as a tree.
//!
//! Shows what is there: hidden and ignored entries too, the latter marked and not opened. Goes level by level, so that
//! a big folder deep down does not hide what is beside it. Never follows a link below the folder it was given, never
//! reads a file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{IncrementalIgnore, WalkBuilder};
use serde::Deserialize;
use serde_json::json;

use crate::base::json::Object;
use crate::base::text::numbers::{count, grouped, size};
use crate::base::text::visible;
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};
use crate::product::tool::arguments;
use crate::product::tool::missing::{Wanted, explain};
use crate::product::tool::save;
use crate::product::tool::walk::closed::Closed;
use crate::product::tool::walk::{Kind, MAX_ENTRIES, Walk};
use crate::product::tool::workspace::{self, By, Workspace};

/// What the model gets at most: room for 500 entries of the usual length.
pub const LIMITS: Limits = Limits { chars: 40_000, lines: MAX_ENTRIES_SHOWN + 20 };

/// Entries in one answer.
const MAX_ENTRIES_SHOWN: usize = 500;

/// Levels that are listed where nothing is said.
const DEFAULT_DEPTH: usize = 1;

/// Lists folders.
pub struct ListFiles {
    workspace: Arc<Workspace>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
    #[serde(default, deserialize_with = "arguments::whole")]
    depth: Option<usize>,
}

impl ListFiles {
    /// The tool in a workspace.
    pub fn new(workspace: Arc<Workspace>, limits: Limits) -> Self {
        let spec = ToolSpec {
            name: "list_files",
            description: include_str!("../../../assets/tools/list_files.md").trim_ascii(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "folder, default ."},
                    "depth": {"type": "integer", "description": "levels, default 1"}
                }
            }),
            risk: Risk::Safe,
            limits,
        };
        Self { workspace, spec }
    }

    fn request(&self, arguments: &Object) -> Result<(PathBuf, usize), String> {
        let Arguments { path, depth } = arguments::parse(arguments)?;
        let depth = depth.unwrap_or(DEFAULT_DEPTH);
        if depth == 0 {
            return Err("depth: must be at least 1".to_owned());
        }
        Ok((self.workspace.resolve(path.as_deref().unwrap_or(".")), depth))
    }

    fn list(&self, root: &Path, depth: usize, context: &ToolContext<'_>) -> Output {
        let shown = self.workspace.named(root);
        if let Some(by) = self.workspace.closed_by(root) {
            return Output::error(format!("{shown} is closed by {} and cannot be listed", by.as_str()));
        }
        match std::fs::metadata(root) {
            Err(_) => return Output::error(explain(&self.workspace, root, Wanted::Any)),
            Ok(metadata) if metadata.is_file() => {
                return Output::error(format!("{shown} is a file of {}, not a folder", size(metadata.len())));
            }
            Ok(metadata) if !metadata.is_dir() => return Output::error(format!("{shown} is not a folder")),
            Ok(_) => {}
        }
        let mut listing = Listing::new(&self.workspace, root, context);
        if let Err(error) = listing.gather(depth) {
            return Output::error(format!("cannot list {shown}: {}", save::words(&error)));
        }
        listing.answer(&shown)
    }
}

impl Tool for ListFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        self.request(arguments).map(|(root, _)| workspace::reads(&root))
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        match self.request(arguments) {
            Ok((root, depth)) => self.list(&root, depth, context),
            Err(complaint) => Output::error(complaint),
        }
    }
}

/// An entry's place among its siblings: folders first, then by name.
type Place = (Reverse<bool>, OsString);

struct Entry {
    path: PathBuf,
    kind: Kind,
    is_ignored: bool,
    /// Why a folder's entries are missing, where its listing failed.
    failure: Option<String>,
}

/// A listing being made.
struct Listing<'a> {
    root: &'a Path,
    context: &'a ToolContext<'a>,
    closed: Closed,
    rules: Option<IncrementalIgnore>,
    /// Kept entries by their folder, each in order.
    folders: BTreeMap<PathBuf, Vec<Entry>>,
    kept: usize,
    total: u64,
    closed_count: u64,
    denied_count: u64,
    /// Folders of the wanted depth whose entries were not even counted.
    unopened: u64,
}

impl<'a> Listing<'a> {
    fn new(workspace: &'a Workspace, root: &'a Path, context: &'a ToolContext<'a>) -> Self {
        let walk = Walk { workspace, root, glob: None, cancel: context.cancel };
        // Where the folder itself is ignored the mark would say nothing.
        let rules = if walk.is_left_out() {
            None
        } else {
            WalkBuilder::new(root).hidden(false).current_dir(workspace.cwd()).build_matchers().pop()
        };
        Self {
            root,
            context,
            closed: Closed::below(workspace, root),
            rules,
            folders: BTreeMap::new(),
            kept: 0,
            total: 0,
            closed_count: 0,
            denied_count: 0,
            unopened: 0,
        }
    }

    /// Reads folders level by level until the depth is reached, or the listing is full, or the call is cancelled.
    fn gather(&mut self, depth: usize) -> std::io::Result<()> {
        let mut queue = VecDeque::from([(self.root.to_owned(), 1)]);
        while let Some((folder, level)) = queue.pop_front() {
            if self.is_over() {
                self.unopened += 1 + queue.len() as u64;
                return Ok(());
            }
            let entries = match self.read(&folder) {
                Ok(entries) => entries,
                Err(error) if level == 1 => return Err(error),
                Err(error) => {
                    self.mark_failure(&folder, &error);
                    continue;
                }
            };
            if level < depth {
                let inner = entries.iter().filter(|entry| entry.kind == Kind::Folder && is_opened(entry));
                queue.extend(inner.map(|entry| (entry.path.clone(), level + 1)));
            }
            self.kept += entries.len();
            self.folders.insert(folder, entries);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.context.cancel.is_cancelled() || self.total > MAX_ENTRIES || self.kept >= MAX_ENTRIES_SHOWN
    }

    /// The first entries of a folder, as many as there is room for; the others are counted.
    fn read(&mut self, folder: &Path) -> std::io::Result<Vec<Entry>> {
        let room = MAX_ENTRIES_SHOWN - self.kept;
        let mut first: BTreeMap<Place, Kind> = BTreeMap::new();
        for entry in std::fs::read_dir(folder)? {
            if self.context.cancel.is_cancelled() {
                break;
            }
            let Ok(entry) = entry else { continue };
            let Ok(kind) = entry.file_type().map(Kind::of) else { continue };
            if let Some(by) = self.closed.by(&entry.path()) {
                match by {
                    By::Setting => self.closed_count += 1,
                    By::Rule => self.denied_count += 1,
                }
                continue;
            }
            self.total += 1;
            first.insert((Reverse(kind == Kind::Folder), entry.file_name()), kind);
            if first.len() > room {
                first.pop_last();
            }
        }
        let entries = first.into_iter().map(|((_, name), kind)| {
            let path = folder.join(name);
            Entry { is_ignored: self.is_ignored(&path, kind), path, kind, failure: None }
        });
        Ok(entries.collect())
    }

    fn is_ignored(&mut self, path: &Path, kind: Kind) -> bool {
        let (Some(rules), Ok(below)) = (&mut self.rules, path.strip_prefix(self.root)) else { return false };
        rules.matched(below, kind == Kind::Folder).is_ignore()
    }

    fn mark_failure(&mut self, folder: &Path, error: &std::io::Error) {
        let siblings = folder.parent().and_then(|parent| self.folders.get_mut(parent));
        if let Some(entry) = siblings.and_then(|entries| entries.iter_mut().find(|entry| entry.path == folder)) {
            entry.failure = Some(save::words(error));
        }
    }

    fn answer(&self, shown: &str) -> Output {
        let mut notes = Vec::new();
        let kept = self.kept as u64;
        if self.total > kept {
            notes.push(format!("{kept} of {} entries are shown; name a folder below", grouped(self.total)));
        }
        if self.unopened > 0 {
            notes.push(format!("{} not opened", count(self.unopened, "folder")));
        }
        if self.context.cancel.is_cancelled() {
            notes.push("stopped before the end".to_owned());
        }
        for (count, by) in [(self.closed_count, By::Setting), (self.denied_count, By::Rule)] {
            if count > 0 {
                notes.push(format!("{} closed by {}", grouped(count), by.as_str()));
            }
        }
        let footer = if notes.is_empty() { None } else { Some(format!("({})", notes.join("; "))) };
        let mut lines = Vec::with_capacity(self.kept);
        self.write(self.root, 0, &mut lines);
        let text = if lines.is_empty() { format!("{shown} is empty") } else { lines.join("\n") };
        Output { footer, ..Output::ok(text) }
    }

    fn write(&self, folder: &Path, level: usize, lines: &mut Vec<String>) {
        for entry in self.folders.get(folder).into_iter().flatten() {
            lines.push(format!("{}{}", "  ".repeat(level), described(entry)));
            if entry.kind == Kind::Folder {
                self.write(&entry.path, level + 1, lines);
            }
        }
    }
}

/// Whether a folder's own entries are listed too.
fn is_opened(folder: &Entry) -> bool {
    !folder.is_ignored && folder.path.file_name().is_some_and(|name| name != ".git")
}

fn described(entry: &Entry) -> String {
    let name = entry.path.file_name().unwrap_or_default();
    let mut text = visible::line(&name.to_string_lossy()).into_owned();
    match entry.kind {
        Kind::Folder => text.push('/'),
        Kind::File => {
            if let Ok(metadata) = std::fs::symlink_metadata(&entry.path) {
                text.push_str(&format!("  {}", size(metadata.len())));
            }
        }
        Kind::Link => {
            let target = std::fs::read_link(&entry.path).unwrap_or_default();
            text.push_str(&format!(" -> {}", visible::line(&target.to_string_lossy())));
        }
        Kind::Special => text.push_str("  (pipe, socket or device)"),
    }
    if entry.is_ignored {
        text.push_str("  (ignored)");
    }
    if let Some(failure) = &entry.failure {
        text.push_str(&format!("  ({failure})"));
    }
    text
}

#[cfg(test)]
mod tests;
