//! Agents with a name: Markdown files that say what one is for, with which tools, and how it works.
//!
//! Reads the files; sends nobody.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::text::cut;
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::front_matter;
use crate::product::repository;

/// A file is read up to here, in bytes; a brief of that length is longer than anybody reads.
const MAX_BYTES: u64 = 64 * 1024;
/// The most characters of a description that the model is told: it stands in every request.
const DESCRIPTION_CHARS: usize = 200;
/// The most agents that are offered.
const MOST: usize = 20;

/// An agent with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The file's name without its ending.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The tools it has, by names or globs; `None` for all.
    pub tools: Option<Vec<String>>,
    /// Who is asked; `None` for the model in use.
    pub model: Option<String>,
    /// How it works: the end of its system prompt.
    pub prompt: String,
}

/// The agents of a place, and what is wrong with the files of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The agents, by name.
    pub agents: Vec<Named>,
    /// What a person should know.
    pub notices: Vec<Notice>,
}

/// Looks in `.viola/agents` of the working directory and each folder above it up to the repository's root, then in
/// `agents` of the user's configuration. The nearest of a name wins.
pub fn find(cwd: &Path, config_dir: &Path) -> Found {
    let root = repository::root(cwd).unwrap_or(cwd);
    let project = cwd.ancestors().take_while(|folder| folder.starts_with(root)).map(|folder| folder.join(".viola"));
    let mut found = Found::default();
    for folder in project.chain([config_dir.to_owned()]) {
        for path in files(&folder.join("agents")) {
            let Some(name) = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
            if found.agents.iter().any(|agent| agent.name == name) {
                continue;
            }
            match read(&path, name) {
                Ok(agent) if found.agents.len() < MOST => found.agents.push(agent),
                Ok(agent) => {
                    found.tell(format!("{}: more than {MOST} agents, {} is left out", path.display(), agent.name));
                }
                Err(problem) => found.tell(format!("{}: {problem}", path.display())),
            }
        }
    }
    found
}

impl Found {
    fn tell(&mut self, text: String) {
        self.notices.push(Notice::new(NoticeCode::Skills, text));
    }
}

/// The Markdown files of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    files.sort();
    files
}

fn read(path: &Path, name: String) -> Result<Named, String> {
    if !fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let document = front_matter::read(&text).map_err(|broken| broken.to_string())?;
    let field =
        |name: &str| document.fields.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let description = field("description").ok_or("`description` is missing: it says when the agent is sent")?;
    let tools = match document.fields.get("tools") {
        None | Some(Value::Null) => None,
        Some(Value::String(names)) => Some(names.split([',', ' ']).map(str::to_owned).collect()),
        Some(Value::Array(names)) => {
            let named = names.iter().map(|name| name.as_str().map(str::to_owned));
            Some(named.collect::<Option<Vec<_>>>().ok_or("`tools` must be a list of names")?)
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            return Err("`tools` must be a list of names".into());
        }
    };
    let tools = tools.map(|tools: Vec<String>| tools.into_iter().filter(|name| !name.is_empty()).collect());
    let body = document.body.trim();
    Ok(Named {
        name,
        description: cut::ellipsis(&description.split_whitespace().collect::<Vec<_>>().join(" "), DESCRIPTION_CHARS),
        tools,
        model: field("model").filter(|model| *model != "inherit").map(str::to_owned),
        prompt: if body.is_empty() { field("prompt").unwrap_or_default().to_owned() } else { body.to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_a_name_wins_and_broken_ones_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        fs::create_dir_all(top.join("repo/.git")).unwrap();
        fs::create_dir_all(top.join("repo/deep")).unwrap();
        write(
            "repo/deep/.viola/agents/scout.md",
            "---\ndescription: near\ntools: read_file, list_files\nmodel: p/m\n---\nLook.\n",
        );
        write("repo/.viola/agents/scout.md", "---\ndescription: far\n---\n");
        write(
            "repo/.viola/agents/writer.md",
            "---\ndescription: writes\ntools: [write_file]\nprompt: Write.\nmodel: inherit\n---\n",
        );
        write("repo/.viola/agents/mute.md", "no front matter");
        write("repo/.viola/agents/odd.md", "---\ndescription: odd\ntools: 5\n---\n");
        write(".viola/agents/outside.md", "---\ndescription: outside\n---\n");
        write("config/agents/mine.md", "---\ndescription: mine\n---\n");
        let Found { agents, notices } = find(&top.join("repo/deep"), &top.join("config"));
        let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["scout", "writer", "mine"]);
        let expected = Named {
            name: "scout".into(),
            description: "near".into(),
            tools: Some(vec!["read_file".into(), "list_files".into()]),
            model: Some("p/m".into()),
            prompt: "Look.".into(),
        };
        assert_eq!(agents[0], expected);
        assert_eq!((agents[1].prompt.as_str(), &agents[1].model), ("Write.", &None));
        let told: Vec<_> = notices.iter().map(|notice| notice.text.as_str()).collect();
        assert!(told.len() == 2 && told[0].contains("mute.md: `description` is missing"), "{told:?}");
        assert!(told[1].contains("odd.md: `tools` must be a list"), "{told:?}");
    }
}
