//! Standing instructions: `AGENTS.md`, `CLAUDE.md` and `MEMORY.md` of the user and of the project, as the model is told them.
//!
//! Reads files and changes none but `MEMORY.md` (`memory`). What is sent is put together once, when a session begins; what
//! deeper folders say is told when work first reaches them (`touched`). Nothing here grants anything.

mod budget;
mod find;
mod import;
pub mod memory;
pub mod remember;
mod text;
pub mod touched;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::path::canonical;
use crate::kernel::event::{Notice, NoticeCode};

use super::repository;
use super::tool::workspace::Workspace;
use budget::Claim;
use find::{File, Finder};

/// What a model is asked for that is to write a project's first rules, or to better those there are.
pub const INIT: &str = include_str!("../../../assets/prompts/init.md");

/// The most bytes of rules in a system prompt, and in what one call brings along: Codex's `project_doc_max_bytes`, for which
/// people write these files. About 8,000 tokens.
pub const BUDGET_BYTES: usize = 32 * 1024;

/// The files that a folder's rules may be in; the first that holds some counts.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Where rules are looked for, and how far they may reach.
#[derive(Clone, Debug)]
pub struct Place {
    workspace: Arc<Workspace>,
    home: Option<PathBuf>,
    config_dir: PathBuf,
    /// Links followed, as with `root`.
    cwd: PathBuf,
    /// The root of the repository, else the working directory.
    root: PathBuf,
    has_repository: bool,
}

impl Place {
    /// The place of a session: `workspace` says where it works and what is closed to it, `config_dir` is the user's folder.
    pub fn new(workspace: Arc<Workspace>, home: Option<PathBuf>, config_dir: PathBuf) -> Self {
        let cwd = canonical(workspace.cwd());
        let repository = repository::root(&cwd).map(Path::to_owned);
        let has_repository = repository.is_some();
        let root = repository.unwrap_or_else(|| cwd.clone());
        Self { workspace, home, config_dir, cwd, root, has_repository }
    }

    /// The folders from the root to the working directory.
    fn way(&self) -> Vec<&Path> {
        let mut folders: Vec<_> = self.cwd.ancestors().take_while(|folder| folder.starts_with(&self.root)).collect();
        folders.reverse();
        folders
    }
}

/// Why a file is among the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The user's own rules.
    User,
    /// What the user wanted remembered everywhere.
    UserMemory,
    /// The rules of the repository's root.
    Root,
    /// What was to be remembered in this project.
    ProjectMemory,
    /// The rules of a folder between the root and the working directory.
    Between,
    /// The rules of the working directory.
    WorkingDirectory,
    /// The rules of a folder that work has reached.
    Reached,
    /// Another one names it.
    Import,
}

impl Why {
    /// As people and programs are told.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::UserMemory => "user's memory",
            Self::Root => "repository root",
            Self::ProjectMemory => "project's memory",
            Self::Between => "above the working directory",
            Self::WorkingDirectory => "working directory",
            Self::Reached => "folder that work has reached",
            Self::Import => "import",
        }
    }
}

/// A file of which the model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes of its text that are sent. Line ends and invisible characters may count otherwise than in the file.
    pub kept: usize,
    /// Whether some of it is left out.
    pub is_cut: bool,
    /// Why it is among the rules.
    pub why: Why,
    /// The file that imports it.
    pub imported_by: Option<PathBuf>,
}

/// The rules a session begins with.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What stands at the end of the system prompt; empty where there are no rules.
    pub text: String,
    /// The files it is made of, in its order: general to near.
    pub files: Vec<Told>,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// The files with links followed: none of them is told a second time.
    known: HashSet<PathBuf>,
}

/// Reads the rules that hold at a place: the user's, then those from the root of the repository down to the working
/// directory, nearest last. What a file imports stands before it.
pub fn load(place: &Place) -> Loaded {
    let none = HashSet::new();
    let mut finder = Finder::new(place, HashSet::new(), &none);
    let user = place.config_dir.as_path();
    finder.memory(&memory::user_path(user), Why::UserMemory);
    finder.rules_of(user, Why::User);
    finder.memory(&memory::project_path(&place.root), Why::ProjectMemory);
    for folder in place.way() {
        let why = match (folder == place.root, folder == place.cwd) {
            (true, _) if place.has_repository => Why::Root,
            (_, true) => Why::WorkingDirectory,
            (_, false) => Why::Between,
        };
        finder.rules_of(folder, why);
    }
    let (found, known) = finder.finish();
    let Cut { text, files, notices } = cut(place, &found.files, text::HEAD, BUDGET_BYTES);
    let notices = found.notices.into_iter().chain(notices).map(|text| Notice::new(NoticeCode::Rules, text)).collect();
    Loaded { text, files, notices, known }
}

/// Rules made to fit.
struct Cut {
    text: String,
    files: Vec<Told>,
    notices: Vec<String>,
}

/// Makes a text of files, under a heading, within `budget` bytes.
fn cut(place: &Place, files: &[File], head: &str, budget: usize) -> Cut {
    let claims: Vec<_> = files.iter().map(|file| Claim { text: &file.text, is_whole: file.is_whole }).collect();
    let kept = budget::kept(&claims, budget);
    let mut made = Cut { text: String::new(), files: Vec::new(), notices: Vec::new() };
    for (file, kept) in files.iter().zip(kept) {
        let is_cut = kept < file.text.len() || !file.is_whole;
        if made.text.is_empty() {
            made.text.push_str(head);
        }
        made.text.push_str("\n\n");
        let left_out = is_cut.then(|| file.left_out(kept));
        let label = text::label(&file.path, place.home.as_deref());
        made.text.push_str(&text::block(&label, file.text.get(..kept).unwrap_or_default(), left_out));
        made.notices.extend(left_out.map(|bytes| text::shortened(file, place.home.as_deref(), bytes)));
        made.files.push(Told {
            path: file.path.clone(),
            bytes: file.bytes,
            kept,
            is_cut,
            why: file.why,
            imported_by: file.imported_by.clone(),
        });
    }
    made
}

#[cfg(test)]
pub(super) mod tests;
