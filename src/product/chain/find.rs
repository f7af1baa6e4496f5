//! Where chains are: a file that is named, the project's folders, the user's, and those that are built in.
//!
//! The nearest of a name wins, also where it is broken: another chain must not run in its place. Nothing is run here.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::parse::{ENDING, parse};
use super::{Chain, Problem};
use crate::base::path::canonical;
use crate::base::text::likeness::closest;
use crate::base::text::visible;
use crate::product::error::Error;
use crate::product::repository;
use crate::product::tool::save::words;

/// The most of a file that is read; a thousand times what the built-in chains have.
const MOST_BYTES: u64 = 1024 * 1024;

/// Where a project keeps its chains.
const PROJECT_FOLDER: &str = ".viola/chains";
/// Where a person keeps theirs, in the folder of the configuration.
const USER_FOLDER: &str = "chains";

/// Chains that are there without anybody writing one.
const BUILT_IN: [(&str, &str); 2] = [
    ("review", include_str!("../../../assets/chains/review.chain.md")),
    ("refactor", include_str!("../../../assets/chains/refactor.chain.md")),
];

/// What chains are looked for with.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The working directory.
    pub cwd: &'a Path,
    /// The folder of the user's configuration.
    pub config_dir: &'a Path,
    /// The names of all tools there are, also of those that are switched off.
    pub tools: &'a [&'a str],
}

/// Who a chain is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file that was named.
    File,
    /// The project around the working directory.
    Project,
    /// The user.
    User,
    /// This program.
    BuiltIn,
}

impl Source {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Project => "project",
            Self::User => "user",
            Self::BuiltIn => "built in",
        }
    }
}

/// A chain that was found, be it broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What it is called; of a broken one what its file is.
    pub name: String,
    /// Who it is from.
    pub source: Source,
    /// Its file; `None` for one that is built in.
    pub path: Option<PathBuf>,
    /// The chain, or all that is wrong with it.
    pub chain: Result<Chain, Vec<Problem>>,
    /// The name of the file without its ending.
    stem: String,
}

impl Found {
    fn new(source: Source, path: Option<PathBuf>, stem: &str, chain: Result<Chain, Vec<Problem>>) -> Self {
        let name = chain.as_ref().map_or(stem, |chain| &chain.name).to_owned();
        Self { name, source, path, chain, stem: stem.to_owned() }
    }

    /// The file as people are told: relative to the working directory where it lies in it.
    pub fn place(&self, cwd: &Path) -> String {
        match &self.path {
            Some(path) => visible::line(&path.strip_prefix(cwd).unwrap_or(path).to_string_lossy()).into_owned(),
            None => Source::BuiltIn.as_str().to_owned(),
        }
    }

    /// The chain, if it can be used.
    ///
    /// # Errors
    ///
    /// Usage: all that is wrong with it, each with its file and line.
    pub fn usable(self, cwd: &Path) -> Result<Chain, Error> {
        let place = self.place(cwd);
        self.chain.map_err(|problems| broken(&place, &problems))
    }
}

fn broken(place: &str, problems: &[Problem]) -> Error {
    let told = problems.iter().map(|Problem { line, text, hint: _ }| match line {
        0 => format!("{place}: {text}"),
        line => format!("{place}:{line}: {text}"),
    });
    let error = Error::usage(told.collect::<Vec<_>>().join("; "));
    let mut hints: Vec<_> = problems.iter().filter_map(|problem| problem.hint.as_deref()).collect();
    hints.dedup();
    hints.into_iter().fold(error, Error::hint)
}

impl Chain {
    /// The chain that is meant: the file, if `wanted` is a path, else the nearest of that name.
    ///
    /// # Errors
    ///
    /// Usage: there is none, with those there are; or it is broken, with all that is wrong.
    pub fn find(wanted: &str, places: &Places<'_>) -> Result<Self, Error> {
        let path = places.cwd.join(wanted);
        if wanted.contains('/') || wanted.ends_with(ENDING) && path.exists() {
            return read(Source::File, &path, None, places.tools).usable(places.cwd);
        }
        let mut all = all(places);
        let meant = |found: &Found| found.name == wanted || found.stem == wanted;
        if let Some(at) = all.iter().position(meant) {
            return all.swap_remove(at).usable(places.cwd);
        }
        let mut names: Vec<&str> = all.iter().map(|found| found.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let error = Error::usage(format!("there is no chain `{}`", visible::line(wanted)));
        let error = match closest(wanted, names.iter().copied()) {
            Some(meant) => error.hint(format!("did you mean `{}`?", visible::line(meant))),
            None => error,
        };
        let names = names.join(", ");
        Err(error.hint(format!("the chains are {}; `agent chains` tells more of them", visible::line(&names))))
    }
}

/// All chains: the project's, the nearest folder first, the user's, and those that are built in. A later one of the same
/// name is hidden by an earlier one.
pub fn all(places: &Places<'_>) -> Vec<Found> {
    let Places { cwd, config_dir, tools } = *places;
    let root = repository::root(cwd).unwrap_or(cwd);
    let near = cwd.ancestors().take_while(|folder| folder.starts_with(root));
    let mut found: Vec<Found> = near
        .flat_map(|folder| files(&folder.join(PROJECT_FOLDER)))
        .map(|path| read(Source::Project, &path, Some(root), tools))
        .collect();
    found.extend(files(&config_dir.join(USER_FOLDER)).into_iter().map(|path| read(Source::User, &path, None, tools)));
    found.extend(BUILT_IN.map(|(stem, text)| Found::new(Source::BuiltIn, None, stem, parse(text, stem, tools))));
    found
}

/// Which of `found` are hidden: for each the place of the one that is taken in its stead.
pub fn hidden(found: &[Found]) -> Vec<Option<usize>> {
    let mut first = HashMap::new();
    found
        .iter()
        .enumerate()
        .map(|(place, chain)| {
            let taken = *first.entry(chain.name.as_str()).or_insert(place);
            (taken != place).then_some(taken)
        })
        .collect()
}

/// The chains of a folder in the order of their names; none where it cannot be read.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|path| path.to_string_lossy().ends_with(ENDING)).collect();
    files.sort();
    files
}

/// Reads a file. `within`: where it has to lie, whatever links there are.
fn read(source: Source, path: &Path, within: Option<&Path>, tools: &[&str]) -> Found {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let stem = name.strip_suffix(ENDING).or_else(|| name.strip_suffix(".md")).unwrap_or(&name);
    let chain = match within {
        Some(root) if !canonical(path).starts_with(canonical(root)) => Err("it leads out of the project".to_owned()),
        Some(_) | None => text(path),
    };
    let chain = chain.map_err(|problem| vec![Problem::new(0, problem)]).and_then(|text| parse(&text, stem, tools));
    Found::new(source, Some(path.to_owned()), stem, chain)
}

fn text(path: &Path) -> Result<String, String> {
    // A pipe or a device would make us wait.
    let metadata = path.metadata().map_err(|error| words(&error))?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let file = File::open(path).map_err(|error| words(&error))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| words(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())
}
