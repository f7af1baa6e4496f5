//! Where chains are: a file that is named, the project's folders, the user's, and those that are built in.
//!
//! The nearest of a name wins, also where it is broken: another chain must not run in its place. Those of a project lie in
//! its repository, and choose no other provider. Nothing is run here.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::parse::{ENDING, parse};
use super::{Chain, Problem};
use crate::base::path::canonical;
use crate::base::text::likeness::closest;
use crate::base::text::visible;
use crate::product::config::{Loaded, naming};
use crate::product::error::Error;
use crate::product::skill::reach::{self, Origin, Reach};

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
#[derive(Clone, Copy)]
pub struct Places<'a> {
    /// The working directory.
    pub cwd: &'a Path,
    /// The settings: the folder of the user's configuration, and the provider in use.
    pub loaded: &'a Loaded,
    /// What may be read.
    pub reach: &'a Reach,
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
            return read(Source::File, &path, places).usable(places.cwd);
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
    let Places { cwd: _, loaded, reach, tools } = *places;
    let folders = reach.places(&[PROJECT_FOLDER], vec![loaded.paths.config_dir.join(USER_FOLDER)]);
    let mut found = Vec::new();
    for reach::Place { folder, origin } in folders {
        let source = if origin == Origin::Project { Source::Project } else { Source::User };
        found.extend(files(&folder).into_iter().map(|path| read(source, &path, places)));
    }
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

/// Reads a file.
fn read(source: Source, path: &Path, places: &Places<'_>) -> Found {
    let Places { cwd: _, loaded, reach, tools } = *places;
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let stem = name.strip_suffix(ENDING).or_else(|| name.strip_suffix(".md")).unwrap_or(&name);
    let origin = match source {
        Source::Project => Origin::Project,
        Source::File | Source::User | Source::BuiltIn => Origin::User,
    };
    let text = match reach.refuses(&canonical(path), origin) {
        Some(why) => Err(why.to_owned()),
        None => reach::whole(path),
    };
    let chain = text.map_err(|problem| vec![Problem::new(0, problem)]).and_then(|text| parse(&text, stem, tools));
    let chain = match source {
        Source::Project => chain.map(|chain| staying(chain, loaded)),
        Source::File | Source::User | Source::BuiltIn => chain,
    };
    Found::new(source, Some(path.to_owned()), stem, chain)
}

/// A chain whose steps ask nobody but the provider in use.
fn staying(mut chain: Chain, loaded: &Loaded) -> Chain {
    for step in &mut chain.steps {
        let Some(model) = step.who().filter(|model| !naming::stays(model, &loaded.values)) else { continue };
        (step.model, step.provider) = (None, None);
        chain.withheld.push(format!(
            "The project's chain {} asks for the model {} in step {}, of another provider, and is not heeded: the step \
             runs with the model in use.",
            visible::line(&chain.name),
            visible::line(&model),
            visible::line(&step.name)
        ));
    }
    chain
}
