//! Skills: instructions for a kind of task, a folder each with a `SKILL.md` (the Agent Skills specification). Where they are
//! looked for, which one counts, what the model is told of them, and how one is loaded.
//!
//! Runs nothing, allows nothing, and reads of a skill that nobody loads its head alone.

mod builtin;
mod catalogue;
mod content;
mod head;
pub mod reach;
pub mod tool;
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::env::Env;
use crate::base::path::canonical;
use crate::base::text::likeness::alike;
use crate::base::text::numbers::count;
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::config::Loaded;
use crate::product::error::Error;
use crate::product::front_matter;
use crate::product::tool::workspace::Workspace;

use builtin::BuiltIn;
use head::Head;
use reach::{Origin, Place, Reach};

/// What a message begins with that loads a skill by hand.
pub const COMMAND: &str = "/skill:";

/// The folders of a project that hold skills, in the order in which they count: our own, and those that other programs
/// have agreed on or use.
const PROJECT: [&str; 4] = [".viola/skills", ".agents/skills", ".agent/skills", ".claude/skills"];
/// The folder with the user's own, in that of the settings.
const USER: &str = "skills";
/// The user's own for all programs, from home.
const SHARED: &str = ".agents/skills";
/// Skills that are read at most; the cap on what the model is told of them holds for far fewer.
const MAX_SKILLS: usize = 500;
/// Names that are told where one was not found.
const MAX_NAMED: usize = 60;
/// Names like the one that was not found.
const MAX_MEANT: usize = 3;

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What it is called; one line.
    pub name: String,
    /// What it is for, and when; one line of at most 1024 characters.
    pub description: String,
    /// Where its text is.
    pub source: Source,
    /// Whether it is to stand in the system prompt in full.
    pub always: bool,
    /// Whether only people may load it, with [`COMMAND`].
    pub people_only: bool,
    /// What it needs and this machine lacks.
    pub missing: Missing,
}

/// Where a skill's text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In this file.
    File {
        /// Absolute.
        path: PathBuf,
        /// Who put it there.
        origin: Origin,
    },
    /// In the program.
    BuiltIn(&'static str),
}

/// What a skill needs and this machine lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Programs that `PATH` does not lead to.
    pub programs: Vec<String>,
    /// Variables of the environment that are not set.
    pub variables: Vec<String>,
}

/// A skill that another one of the same name goes before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The skill.
    pub skill: Skill,
    /// What goes before it.
    pub by: Source,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: Option<usize>,
    /// What is wrong there.
    pub text: String,
    /// Whether it is used all the same.
    pub is_used: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// One of each name, the nearest first.
    pub skills: Vec<Skill>,
    /// Those that another one goes before.
    pub hidden: Vec<Hidden>,
    /// What is odd or broken.
    pub problems: Vec<Problem>,
}

/// Where skills are looked for. Looking is done anew each time, so that what is written meanwhile counts.
#[derive(Clone, Debug)]
pub struct Skills {
    places: Vec<Place>,
    reach: Reach,
    env: Env,
}

impl Source {
    /// Who put it there.
    pub fn origin(&self) -> Origin {
        match self {
            Self::File { origin, .. } => *origin,
            Self::BuiltIn(_) => Origin::BuiltIn,
        }
    }

    /// Where it is, as models are told: the absolute path.
    pub fn location(&self) -> String {
        match self {
            Self::File { path, .. } => path.display().to_string(),
            Self::BuiltIn(_) => Origin::BuiltIn.as_str().to_owned(),
        }
    }
}

impl Missing {
    /// Whether nothing is.
    pub fn is_nothing(&self) -> bool {
        self.programs.is_empty() && self.variables.is_empty()
    }

    /// `missing here: the program jq, the variable TOKEN`; nothing where nothing is.
    pub fn told(&self) -> Option<String> {
        let list = |names: &[String], noun: &str| match names {
            [] => None,
            [one] => Some(format!("the {noun} {one}")),
            many => Some(format!("the {noun}s {}", many.join(", "))),
        };
        let parts: Vec<_> =
            [list(&self.programs, "program"), list(&self.variables, "variable")].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("missing here: {}", parts.join(", ")))
    }
}

impl Found {
    /// The skill of this name.
    ///
    /// # Errors
    ///
    /// The names there are, and those it may have been meant for.
    pub fn get(&self, name: &str) -> Result<&Skill, Unknown> {
        let found = self.skills.iter().find(|skill| skill.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self.skills.iter().map(|skill| skill.name.clone()).collect();
            let meant = alike(name, &names, MAX_MEANT).into_iter().map(str::to_owned).collect();
            Unknown { meant, names }
        })
    }

    /// What a person should know before a task begins: that a file cannot be used, and that a project's skill goes before
    /// one of the user's own.
    pub fn notices(&self) -> Vec<Notice> {
        let broken = self.problems.iter().filter(|problem| !problem.is_used).count();
        let broken =
            (broken > 0).then(|| format!("{} cannot be used; `agent skills` says why.", count(broken as u64, "skill")));
        let taken = self
            .hidden
            .iter()
            .filter(|hidden| (hidden.skill.source.origin(), hidden.by.origin()) == (Origin::User, Origin::Project));
        let names: Vec<_> = taken.take(MAX_NAMED).map(|hidden| hidden.skill.name.as_str()).collect();
        let taken = (!names.is_empty())
            .then(|| format!("The project's own skills go before yours of the same name: {}.", names.join(", ")));
        broken.into_iter().chain(taken).map(|text| Notice::new(NoticeCode::Skills, text)).collect()
    }
}

/// There is no skill of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    meant: Vec<String>,
    names: Vec<String>,
}

impl Unknown {
    /// `did you mean tuning?`, where one is near.
    pub fn meant(&self) -> Option<String> {
        (!self.meant.is_empty()).then(|| format!("did you mean {}?", self.meant.join(" or ")))
    }

    /// The names there are.
    pub fn names(&self) -> String {
        let more = if self.names.len() > MAX_NAMED { ", …" } else { "" };
        let some: Vec<_> = self.names.iter().take(MAX_NAMED).map(String::as_str).collect();
        format!("the skills are: {}{more}", some.join(", "))
    }
}

impl Skills {
    /// The skills of a program that runs in `env`. What is closed in `workspace` is no skill.
    pub fn new(env: &Env, loaded: &Loaded, workspace: Arc<Workspace>) -> Self {
        let reach = Reach::new(env, loaded, workspace);
        let shared = env.home.iter().map(|home| home.join(SHARED));
        let user = [loaded.paths.config_dir.join(USER)].into_iter().chain(shared).collect();
        Self { places: reach.places(&PROJECT, user), reach, env: env.clone() }
    }

    /// Looks for them.
    pub fn find(&self) -> Found {
        let mut found = Found::default();
        let mut seen = BTreeSet::new();
        for place in &self.places {
            for path in walk::skills(place, &self.reach, &mut found.problems) {
                if seen.len() == MAX_SKILLS {
                    let text = format!("there are more than {MAX_SKILLS} skills; what is left is not read");
                    found.problems.push(Problem { path: place.folder.clone(), line: None, text, is_used: true });
                    return self.with_built_in(found);
                }
                // One folder may be linked from several places.
                if seen.insert(canonical(&path)) {
                    self.add(&path, place.origin, &mut found);
                }
            }
        }
        self.with_built_in(found)
    }

    fn with_built_in(&self, mut found: Found) -> Found {
        for BuiltIn { name, description, programs, text } in builtin::SKILLS {
            let head = Head {
                name: name.to_owned(),
                description: description.to_owned(),
                programs: programs.iter().map(|&name| name.to_owned()).collect(),
                ..Head::default()
            };
            found.push(self.skill(head, Source::BuiltIn(text)));
        }
        found
    }

    fn add(&self, path: &Path, origin: Origin, found: &mut Found) {
        let mut problem = |line: Option<usize>, text: String, is_used: bool| {
            found.problems.push(Problem { path: path.to_owned(), line, text, is_used });
        };
        let text = match reach::head(path) {
            Ok(text) => text,
            Err(text) => return problem(None, text, false),
        };
        let document = match front_matter::read(&text) {
            Ok(document) => document,
            Err(broken) => return problem(Some(broken.line), broken.problem, false),
        };
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        match head::read(&document.fields, &folder) {
            Ok((head, odd)) => {
                for odd in odd {
                    problem(Some(head::line_of(&text, odd.field)), odd.text, true);
                }
                found.push(self.skill(head, Source::File { path: path.to_owned(), origin }));
            }
            Err(odd) => problem(Some(head::line_of(&text, odd.field)), odd.text, false),
        }
    }

    fn skill(&self, head: Head, source: Source) -> Skill {
        let Head { name, description, always, people_only, mut programs, mut variables } = head;
        programs.retain(|program| !self.has_program(program));
        variables.retain(|variable| self.env.var(variable).is_none());
        Skill { name, description, source, always, people_only, missing: Missing { programs, variables } }
    }

    /// Whether `PATH` leads to a program, as a shell would look for it.
    fn has_program(&self, name: &str) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        let can_run = |path: PathBuf| {
            path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        let Some(path) = self.env.var("PATH") else { return false };
        std::env::split_paths(path).any(|folder| can_run(self.env.cwd.join(folder).join(name)))
    }

    /// A skill in full, as a model gets to read it when the tool loads it or a person does.
    ///
    /// # Errors
    ///
    /// Why its file cannot be read, in a few words.
    pub fn content(&self, skill: &Skill) -> Result<String, String> {
        content::content(skill, &self.reach)
    }

    /// The message that `/skill:name args` stands for: the skill in full, and what was said to it; and who wrote the skill.
    /// `said` is what follows [`COMMAND`].
    ///
    /// # Errors
    ///
    /// Usage: there is no such skill, or it cannot be read.
    pub fn invoke(&self, said: &str) -> Result<(String, Origin), Error> {
        let found = self.find();
        let said = said.trim();
        // A name may hold blanks, though it should not.
        let whole = |skill: &&Skill| {
            let rest = said.strip_prefix(skill.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        };
        let first = said.split_whitespace().next().unwrap_or_default();
        let skill = match found.skills.iter().filter(whole).max_by_key(|skill| skill.name.len()) {
            Some(skill) => skill,
            None => found.get(first).map_err(|unknown| {
                let first = clean_name(first);
                let error = Error::usage(format!("there is no skill `{first}`"));
                let error = unknown.meant().into_iter().fold(error, Error::hint);
                error.hint(format!("{}; `agent skills` tells more", unknown.names()))
            })?,
        };
        let arguments = said.get(skill.name.len()..).unwrap_or_default().trim();
        let content = self.content(skill).map_err(|problem| {
            Error::usage(format!("the skill `{}` cannot be read: {}: {problem}", skill.name, skill.source.location()))
        })?;
        let text = if arguments.is_empty() { content } else { format!("{content}\n\n{arguments}") };
        Ok((text, skill.source.origin()))
    }
}

/// What somebody typed, short and on one line.
fn clean_name(name: &str) -> String {
    use crate::base::text::visible;
    use crate::kernel::tool::echo;
    visible::line(&echo(name)).into_owned()
}

impl Found {
    fn push(&mut self, skill: Skill) {
        match self.skills.iter().find(|other| other.name == skill.name) {
            Some(other) => self.hidden.push(Hidden { by: other.source.clone(), skill }),
            None => self.skills.push(skill),
        }
    }
}

#[cfg(test)]
mod tests;
