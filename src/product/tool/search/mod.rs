//! The tool `search_files`: a regex over the contents of files, in process.
//!
//! Results are the first ones by path, whatever the order in which threads reach the files: a shared cut says after
//! which path nothing can be among them any more, and folders and files beyond it are passed over. Never spawns a
//! program, never changes anything.

mod excerpt;
mod file;
mod found;
mod pattern;
mod render;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use serde_json::json;

use crate::base::json::Object;
use crate::base::path::is_absent;
use crate::base::text::numbers::count;
use crate::base::text::visible;
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec, echo};
use crate::product::tool::arguments;
use crate::product::tool::missing::{Wanted, explain, unreadable};
use crate::product::tool::walk::glob::Glob;
use crate::product::tool::walk::{Kind, Report, Step, Walk};
use crate::product::tool::workspace::{self, Workspace};
use file::{Named, Searcher, Unsearched};
use found::Found;
use pattern::Pattern;

/// What the model gets at most: 20,000 characters, which 100 matches seldom need.
pub const LIMITS: Limits = Limits { chars: 20_000, lines: 2_000 };

/// Matches in one answer; a model that needs more narrows the search.
pub const MAX_RESULTS: usize = 100;

/// Lines around a match, before and after it each.
const MAX_CONTEXT: usize = 50;

/// Files between two lines of progress.
const PROGRESS_FILES: u64 = 5_000;

/// Finds lines in files.
pub struct SearchFiles {
    workspace: Arc<Workspace>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    ignore_case: Option<bool>,
    #[serde(default, deserialize_with = "arguments::whole")]
    context: Option<usize>,
    #[serde(default, deserialize_with = "arguments::whole")]
    max_results: Option<usize>,
}

/// What is searched, read from the arguments.
struct Request {
    pattern: String,
    ignore_case: bool,
    context: usize,
    max_results: usize,
    /// What `path` names, absolute.
    base: PathBuf,
    /// Where the search begins: `base`, or the folder that the glob spells out.
    root: PathBuf,
    glob: Option<Glob>,
    glob_text: Option<String>,
}

impl SearchFiles {
    /// The tool in a workspace.
    pub fn new(workspace: Arc<Workspace>, limits: Limits) -> Self {
        let spec = ToolSpec {
            name: "search_files",
            description: include_str!("../../../../assets/tools/search_files.md").trim_ascii(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "regex"},
                    "path": {"type": "string", "description": "file or folder, default ."},
                    "glob": {"type": "string", "description": "only files it matches, as *.rs or src/**/*.ts"},
                    "ignore_case": {"type": "boolean"},
                    "context": {"type": "integer", "description": "lines shown around each match"},
                    "max_results": {"type": "integer", "description": "default and most 100"}
                },
                "required": ["pattern"]
            }),
            risk: Risk::Safe,
            limits,
        };
        Self { workspace, spec }
    }

    fn request(&self, arguments: &Object) -> Result<Request, String> {
        let Arguments { pattern, path, glob, ignore_case, context, max_results } = arguments::parse(arguments)?;
        if pattern.is_empty() {
            return Err("pattern: is empty; give a regex".to_owned());
        }
        if max_results == Some(0) {
            return Err("max_results: must be at least 1".to_owned());
        }
        let path = self.workspace.resolve(path.as_deref().unwrap_or("."));
        let glob_text = glob.filter(|glob| !glob.trim().is_empty());
        // A glob that begins with folders moves the search into them; beside the path of a file it only filters.
        let glob = glob_text.as_deref().filter(|_| !path.is_file());
        let glob = glob.map(|glob| Glob::new(&self.workspace, &path, glob)).transpose()?;
        Ok(Request {
            pattern,
            ignore_case: ignore_case.unwrap_or(false),
            context: context.unwrap_or(0).min(MAX_CONTEXT),
            max_results: max_results.unwrap_or(MAX_RESULTS).min(MAX_RESULTS),
            root: glob.as_ref().map_or_else(|| path.clone(), |glob| glob.root().to_owned()),
            base: path,
            glob,
            glob_text,
        })
    }

    fn search(&self, request: &Request, context: &ToolContext<'_>) -> Output {
        let root = &request.root;
        if let Some(by) = self.workspace.closed_by(root) {
            let (shown, by) = (self.workspace.named(root), by.as_str());
            return Output::error(format!("{shown} is closed by {by} and cannot be searched"));
        }
        if !request.base.exists() {
            return Output::error(explain(&self.workspace, &request.base, Wanted::Any));
        }
        let is_folder = match std::fs::metadata(root) {
            Ok(metadata) => metadata.is_dir(),
            Err(error) if is_absent(&error) => {
                // What the glob spells out is not there: a true answer, no mistake.
                let missing = explain(&self.workspace, root, Wanted::Any);
                return Output::ok(format!("no match: no file fits the glob; {missing}"));
            }
            Err(_) => return Output::error(explain(&self.workspace, root, Wanted::Any)),
        };
        if let Some(reason) = unreadable(root).filter(|_| is_folder) {
            return Output::error(format!("cannot search {}: {reason}", self.workspace.named(root)));
        }
        let pattern = match Pattern::new(&request.pattern, request.ignore_case) {
            Ok(pattern) => pattern,
            Err(complaint) => return Output::error(complaint),
        };
        let search = Search { tool: self, request, pattern, found: Found::new(request.max_results), context };
        if is_folder { search.folder() } else { search.named_file() }
    }
}

impl Tool for SearchFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        self.request(arguments).map(|request| workspace::reads(&request.root))
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        match self.request(arguments) {
            Ok(request) => self.search(&request, context),
            Err(complaint) => Output::error(complaint),
        }
    }
}

/// One search under way, shared by its threads.
struct Search<'a> {
    tool: &'a SearchFiles,
    request: &'a Request,
    pattern: Pattern,
    found: Found,
    context: &'a ToolContext<'a>,
}

/// Files by what became of them.
#[derive(Default)]
struct Counts {
    searched: AtomicU64,
    binary: AtomicU64,
    too_large: AtomicU64,
    unreadable: AtomicU64,
    links: AtomicU64,
}

impl Search<'_> {
    fn folder(&self) -> Output {
        let mut counts = Counts::default();
        let mut report = self.walk(&counts);
        report.left_out.unreadable += *counts.unreadable.get_mut();
        let results = self.found.results();
        let nothing = results.files.is_empty();
        let mut skipped = report.left_out.reasons();
        for (number, words) in [(counts.binary.get_mut(), "binary"), (counts.too_large.get_mut(), "larger than 100 MB")]
        {
            if *number > 0 {
                skipped.push(format!("{number} {words}"));
            }
        }
        if *counts.links.get_mut() > 0 {
            skipped.push(count(*counts.links.get_mut(), "link"));
        }
        let searched = *counts.searched.get_mut();
        if nothing {
            return self.nothing_found(&report, searched, &skipped);
        }
        let rendered = render::lines(&self.tool.workspace, &results, self.tool.spec.limits);
        let mut footer = rendered.summary;
        if let Some(note) = report.end.note() {
            footer.push_str(&format!("; {note}"));
        } else if !results.more && !skipped.is_empty() {
            // With more results than these, how much lies beyond the cut is a matter of chance.
            footer.push_str(&format!("; not searched: {}", skipped.join(", ")));
        }
        Output { footer: Some(footer), ..Output::ok(rendered.text) }
    }

    fn walk(&self, counts: &Counts) -> Report {
        let walk = Walk {
            workspace: &self.tool.workspace,
            root: &self.request.root,
            glob: self.request.glob.as_ref(),
            cancel: self.context.cancel,
        };
        walk.run(|| {
            let mut searcher = self.searcher(Named::ByFolder);
            move |path: &Path, kind| {
                if self.found.is_beyond(path) {
                    return Step::Prune;
                }
                match kind {
                    Kind::File => self.visit(&mut searcher, path, counts),
                    Kind::Link => {
                        counts.links.fetch_add(1, Ordering::Relaxed);
                    }
                    Kind::Folder | Kind::Special => {}
                }
                Step::Continue
            }
        })
    }

    fn visit(&self, searcher: &mut Searcher<'_>, path: &Path, counts: &Counts) {
        if self.request.glob.as_ref().is_some_and(|glob| !glob.matches_file(path)) {
            return;
        }
        let counter = match searcher.search(path) {
            Ok(file) => {
                let is_binary = file.is_binary;
                self.found.add(path, file);
                if !is_binary {
                    let searched = counts.searched.fetch_add(1, Ordering::Relaxed) + 1;
                    if searched.is_multiple_of(PROGRESS_FILES) {
                        (self.context.progress)(&format!("searched {}", count(searched, "file")));
                    }
                    return;
                }
                &counts.binary
            }
            Err(Unsearched::TooLarge) => &counts.too_large,
            Err(Unsearched::Unreadable(_)) => &counts.unreadable,
            Err(Unsearched::Cancelled) => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn named_file(&self) -> Output {
        let root = &self.request.root;
        let shown = self.tool.workspace.named(root);
        let file = match self.searcher(Named::Itself).search(root) {
            Ok(file) => file,
            Err(Unsearched::TooLarge) => {
                return Output::error(format!("{shown} has a line, or spans of lines, too long to search: over 64 MB"));
            }
            Err(Unsearched::Unreadable(reason)) => return Output::error(format!("cannot search {shown}: {reason}")),
            Err(Unsearched::Cancelled) => return Output::error(format!("the search of {shown} was stopped")),
        };
        let note = if file.is_binary { "; the file is binary" } else { "" };
        self.found.add(root, file);
        let results = self.found.results();
        if results.files.is_empty() {
            return Output::ok(format!("no match in {shown}{note}"));
        }
        let rendered = render::lines(&self.tool.workspace, &results, self.tool.spec.limits);
        Output { footer: Some(rendered.summary + note), ..Output::ok(rendered.text) }
    }

    fn nothing_found(&self, report: &Report, searched: u64, skipped: &[String]) -> Output {
        let shown = self.tool.workspace.named(&self.request.root);
        let mut text = match (searched, &self.request.glob_text) {
            (0, Some(glob)) => format!("no match: no file under {shown} fits the glob {}", visible::line(&echo(glob))),
            (_, Some(glob)) => {
                format!(
                    "no match in {} under {shown} that fit the glob {}",
                    count(searched, "file"),
                    visible::line(&echo(glob))
                )
            }
            (_, None) => format!("no match in {} under {shown}", count(searched, "file")),
        };
        if !skipped.is_empty() {
            text.push_str(&format!("\nnot searched: {}", skipped.join(", ")));
        }
        if report.left_out.hidden.count + report.left_out.ignored.count > 0 {
            text.push_str("\nto search something hidden or ignored, name it as path");
        }
        if let Some(note) = report.end.note() {
            text.push_str(&format!("\n{note}"));
        }
        Output::ok(text)
    }

    fn searcher(&self, named: Named) -> Searcher<'_> {
        Searcher::new(&self.pattern, self.request.context, self.request.max_results, named, self.context.cancel)
    }
}

#[cfg(test)]
mod tests;
