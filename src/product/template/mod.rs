//! Prompt templates: a text for a task that comes again, a Markdown file each, used as a command of its name. And what a
//! message becomes that begins with one, or with a skill.
//!
//! Sends nothing; the names of built-in commands are told to it.

pub mod apply;
pub mod expand;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::base::env::Env;
use crate::base::path::canonical;
use crate::base::text::clean;
use crate::base::text::cut::head;
use crate::product::config::Loaded;
use crate::product::error::Error;
use crate::product::front_matter;
use crate::product::skill::reach::{self, Origin, Place, Reach};
use crate::product::skill::{COMMAND, Problem, Skills};
use crate::product::tool::workspace::Workspace;

/// The folder of a project that holds them.
const PROJECT: &str = ".viola/prompts";
/// The folder of the user's, in that of the settings.
const USER: &str = "prompts";
/// What their files end with.
const ENDING: &str = "md";
/// Templates that are read of one folder.
const MAX_FILES: usize = 500;
/// The longest description, hint or name of a model, in characters; they are shown on one line.
const FIELD_CHARS: usize = 200;
/// The most that is sent of an expanded template, in characters; as much as reading a file.
const MAX_CHARS: usize = 50_000;

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// What is typed after the slash: the file's name without its ending.
    pub name: String,
    /// What it is for; empty where it does not say.
    pub description: String,
    /// What may follow its name.
    pub hint: Option<String>,
    /// Who is to answer, as `provider/id` or an id.
    pub model: Option<String>,
    /// The tools on offer for it, by names or globs, of those that are; `None` for all of them.
    pub tools: Option<Vec<String>>,
    /// Its file, absolute.
    pub path: PathBuf,
    /// Who put it there.
    pub origin: Origin,
}

/// A template that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The template.
    pub template: Template,
    /// What goes before it: another file, or a command of the program where there is none.
    pub by: Option<PathBuf>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// One of each name, by name.
    pub templates: Vec<Template>,
    /// Those that something else goes before.
    pub hidden: Vec<Hidden>,
    /// What is odd or broken.
    pub problems: Vec<Problem>,
}

/// Where templates are looked for. Looking is done anew each time.
#[derive(Clone, Debug)]
pub struct Templates {
    places: Vec<Place>,
    reach: Reach,
    reserved: Vec<&'static str>,
}

/// What a message stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// What is said in its place.
    pub text: String,
    /// Who wrote it.
    pub origin: Origin,
    /// Who is to answer it, where that is not whoever answers anyway.
    pub model: Option<String>,
    /// The tools on offer while it is answered, by names or globs, of those that are.
    pub tools: Option<Vec<String>>,
}

/// What messages can stand for.
#[derive(Clone, Debug)]
pub struct Knowledge {
    /// The skills.
    pub skills: Skills,
    /// The templates.
    pub templates: Templates,
}

impl Knowledge {
    /// What there is for a program that runs in `env`. A template that is called like one of the commands `reserved` does
    /// not count.
    pub fn new(env: &Env, loaded: &Loaded, workspace: Arc<Workspace>, reserved: Vec<&'static str>) -> Self {
        Self {
            skills: Skills::new(env, loaded, Arc::clone(&workspace)),
            templates: Templates::new(env, loaded, workspace, reserved),
        }
    }
}

/// What a message becomes that begins with `/skill:name` or the `/name` of a template; `None` for any other.
///
/// # Errors
///
/// Usage: there is no such skill, or a file cannot be read.
pub fn expand(text: &str, knowledge: &Knowledge) -> Result<Option<Expanded>, Error> {
    let text = text.trim_start();
    if let Some(said) = text.strip_prefix(COMMAND) {
        let (text, origin) = knowledge.skills.invoke(said)?;
        return Ok(Some(Expanded { text, origin, model: None, tools: None }));
    }
    let Some(said) = text.strip_prefix('/') else { return Ok(None) };
    let (name, arguments) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    knowledge.templates.expand(name, arguments)
}

impl Templates {
    /// The templates of a program that runs in `env`, but for those called like one of `reserved`.
    pub fn new(env: &Env, loaded: &Loaded, workspace: Arc<Workspace>, reserved: Vec<&'static str>) -> Self {
        let reach = Reach::new(env, loaded, workspace);
        let places = reach.places(&[PROJECT], vec![loaded.paths.config_dir.join(USER)]);
        Self { places, reach, reserved }
    }

    /// The templates that count, by name.
    pub fn list(&self) -> Vec<Template> {
        self.find().templates
    }

    /// Looks for them.
    pub fn find(&self) -> Found {
        let mut found = Found::default();
        let mut named: BTreeMap<String, Template> = BTreeMap::new();
        for place in &self.places {
            for path in self.files(place, &mut found.problems) {
                let template = match self.read(&path, place.origin) {
                    Ok(template) => template,
                    Err(problem) => {
                        found.problems.push(problem);
                        continue;
                    }
                };
                if self.reserved.contains(&template.name.as_str()) {
                    found.hidden.push(Hidden { template, by: None });
                    continue;
                }
                match named.get(&template.name) {
                    Some(other) if canonical(&other.path) == canonical(&path) => {}
                    Some(other) => found.hidden.push(Hidden { by: Some(other.path.clone()), template }),
                    None => {
                        named.insert(template.name.clone(), template);
                    }
                }
            }
        }
        found.templates = named.into_values().collect();
        found
    }

    /// The text that `/name arguments` stands for; `None` where there is no such template.
    fn expand(&self, name: &str, arguments: &str) -> Result<Option<Expanded>, Error> {
        let is_file_name = !name.is_empty() && !name.contains('/');
        if !is_file_name || self.reserved.contains(&name) {
            return Ok(None);
        }
        let found = self.find();
        let file = |path: &Path| path.file_stem().is_some_and(|stem| stem.to_string_lossy() == name);
        let Some(template) = found.templates.into_iter().find(|template| template.name == name) else {
            return match found.problems.into_iter().find(|problem| file(&problem.path)) {
                Some(Problem { path, line, text, is_used: _ }) => {
                    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                    Err(Error::usage(format!("the prompt `{name}` cannot be used: {}{line}: {text}", path.display())))
                }
                None => Ok(None),
            };
        };
        let broken = |problem: String| {
            Error::usage(format!("the prompt `{name}` cannot be used: {}: {problem}", template.path.display()))
        };
        let text = reach::whole(&template.path).map_err(broken)?;
        let body = front_matter::read(&text).map_err(|error| broken(error.to_string()))?.body;
        let text = expand::fill(clean::clean(body).trim(), arguments);
        let kept = head(&text, MAX_CHARS);
        let text =
            if kept.len() < text.len() { format!("{kept}\n[... cut after {MAX_CHARS} characters]") } else { text };
        let Template { origin, model, tools, .. } = template;
        Ok(Some(Expanded { text, origin, model, tools }))
    }

    /// The files in a place, by name.
    fn files(&self, place: &Place, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
        let Ok(entries) = place.folder.read_dir() else { return Vec::new() };
        let is_template = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING) && !path.is_dir();
        let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(is_template).collect();
        paths.sort_unstable();
        paths.truncate(MAX_FILES);
        paths.retain(|path| match self.reach.refuses(&canonical(path), place.origin) {
            None => true,
            Some(why) => {
                problems.push(Problem { path: path.clone(), line: None, text: why.to_owned(), is_used: false });
                false
            }
        });
        paths
    }

    fn read(&self, path: &Path, origin: Origin) -> Result<Template, Problem> {
        let problem = |line, text| Problem { path: path.to_owned(), line, text, is_used: false };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name.is_empty() || name.contains(char::is_whitespace) || name.starts_with("skill:") {
            return Err(problem(None, "its name cannot be typed as a command".to_owned()));
        }
        let text = reach::head(path).map_err(|text| problem(None, text))?;
        let document = front_matter::read(&text).map_err(|broken| problem(Some(broken.line), broken.problem))?;
        let field = |name: &str| {
            let text = match document.fields.get(name)? {
                Value::String(text) => text.clone(),
                // `argument-hint: [file]` is a list to YAML.
                Value::Array(items) => {
                    format!("[{}]", items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
                }
                Value::Number(number) => number.to_string(),
                Value::Null | Value::Bool(_) | Value::Object(_) => return None,
            };
            Some(head(clean::line(&text).trim(), FIELD_CHARS).to_owned()).filter(|text| !text.is_empty())
        };
        let tools = match document.fields.get("tools") {
            Some(Value::String(names)) => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
            Some(Value::Array(names)) => Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            None | Some(Value::Null) => None,
            Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
                // Whoever wrote it meant fewer tools than all.
                return Err(problem(None, "`tools` should be a list of names".to_owned()));
            }
        };
        if let Some(Value::Array(_) | Value::Object(_) | Value::Bool(_)) = document.fields.get("model") {
            let line = text.lines().position(|line| line.starts_with("model")).map(|above| above + 1);
            return Err(problem(line, "`model` should be the name of one model".to_owned()));
        }
        Ok(Template {
            name: clean::line(&name),
            description: field("description").unwrap_or_default(),
            hint: field("argument-hint"),
            model: field("model"),
            tools: tools.map(|tools: Vec<String>| tools.into_iter().filter(|name| !name.is_empty()).collect()),
            path: path.to_owned(),
            origin,
        })
    }
}

#[cfg(test)]
mod tests;
