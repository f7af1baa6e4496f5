//! Agents with a name: Markdown files that say what one is for, with which tools, and how it works.
//!
//! Reads the files; sends nobody. Those of a project lie in its repository, and choose no other provider.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::path::canonical;
use crate::base::text::{cut, visible};
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::config::{Loaded, naming};
use crate::product::front_matter;
use crate::product::skill::reach::{self, Origin, Reach};

/// Where a project keeps its agents.
const PROJECT: &str = ".viola/agents";
/// Where the user keeps them, in the folder of the configuration.
const USER: &str = "agents";
/// The largest file, in bytes; a brief of that length is longer than anybody reads.
const MAX_BYTES: usize = 64 * 1024;
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
pub fn find(reach: &Reach, loaded: &Loaded) -> Found {
    let mut found = Found::default();
    for place in reach.places(&[PROJECT], vec![loaded.paths.config_dir.join(USER)]) {
        for path in files(&place.folder) {
            let Some(name) = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
            if found.agents.iter().any(|agent| agent.name == name) {
                continue;
            }
            let shown = reach.shown(&path);
            let agent = match reach.refuses(&canonical(&path), place.origin) {
                Some(why) => Err(why.to_owned()),
                None => read(&path, name),
            };
            match agent {
                Ok(agent) if found.agents.len() < MOST => found.add(agent, place.origin, loaded),
                Ok(agent) => found.tell(format!("{shown}: more than {MOST} agents, {} is left out", agent.name)),
                Err(problem) => found.tell(format!("{shown}: {problem}")),
            }
        }
    }
    found
}

impl Found {
    fn add(&mut self, mut agent: Named, origin: Origin, loaded: &Loaded) {
        let goes = |model: &mut String| !naming::stays(model, &loaded.values);
        if origin == Origin::Project
            && let Some(model) = agent.model.take_if(goes)
        {
            let text = format!(
                "The project's agent {} asks for the model {}, of another provider, and is not heeded: it works with the model in use.",
                visible::line(&agent.name),
                visible::line(&model)
            );
            self.notices.push(Notice::new(NoticeCode::Trust, text));
        }
        self.agents.push(agent);
    }

    fn tell(&mut self, text: String) {
        self.notices.push(Notice::new(NoticeCode::Skills, text));
    }
}

/// The Markdown files of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    files.sort();
    files
}

fn read(path: &Path, name: String) -> Result<Named, String> {
    let text = reach::whole(path)?;
    if text.len() > MAX_BYTES {
        return Err(format!("it is larger than {} KiB", MAX_BYTES / 1024));
    }
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
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use super::*;
    use crate::base::env::Env;
    use crate::product::config::{self, Flag, Flags};
    use crate::product::tool::workspace::Workspace;

    /// What is found in `repo/deep` of a folder whose configuration is in `config`; what ends in `closed.md` is.
    fn found(top: &Path) -> Found {
        let vars = [("VIOLA_CONFIG_DIR", "config"), ("VIOLA_DATA_DIR", "data")];
        let vars = vars.map(|(name, folder)| (name.into(), top.join(folder).into()));
        let env = Env { vars: vars.into(), cwd: top.join("repo/deep"), home: None };
        let flag = |key, value: &str| Flag { option: "--x", key, value: Value::from(value) };
        let flags = Flags { values: vec![flag("provider", "openai"), flag("model", "m")], ..Flags::default() };
        let loaded = config::load(&env, &flags).unwrap();
        let workspace = Workspace::new(env.cwd.clone(), None, &["**/closed.md".to_owned()]).unwrap();
        find(&Reach::new(&env, &loaded, Arc::new(workspace)), &loaded)
    }

    #[test]
    fn a_project_reaches_no_further_than_its_repository_and_the_provider_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let top = &folder.path().canonicalize().unwrap();
        for folder in ["repo/.git", "repo/deep/.viola/agents", "config/agents", "secret"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        let agents = top.join("repo/deep/.viola/agents");
        fs::write(top.join("secret/key.md"), "---\ndescription: key\n---\nKEY").unwrap();
        symlink(top.join("secret/key.md"), agents.join("a.md")).unwrap();
        symlink(top.join("secret"), top.join("repo/.viola")).unwrap();
        fs::write(agents.join("closed.md"), "---\ndescription: closed\n---\n").unwrap();
        fs::write(agents.join("dear.md"), "---\ndescription: d\nmodel: anthropic/best\n---\n").unwrap();
        fs::write(agents.join("near.md"), "---\ndescription: d\nmodel: openai/small\n---\n").unwrap();
        fs::write(top.join("config/agents/own.md"), "---\ndescription: d\nmodel: anthropic/best\n---\n").unwrap();
        let Found { agents, notices } = found(top);
        let who: Vec<_> = agents.iter().map(|agent| (agent.name.as_str(), agent.model.as_deref())).collect();
        assert_eq!(who, [("dear", None), ("near", Some("openai/small")), ("own", Some("anthropic/best"))]);
        let told: Vec<_> = notices.iter().map(|notice| notice.text.as_str()).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        for (told, expected) in
            told.iter().zip(["leads out of the repository", "closed by sandbox.deny_read", "dear asks"])
        {
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn the_nearest_of_a_name_wins_and_broken_ones_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let top = &folder.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        fs::create_dir_all(top.join("repo/.git")).unwrap();
        fs::create_dir_all(top.join("repo/deep")).unwrap();
        write(
            "repo/deep/.viola/agents/scout.md",
            "---\ndescription: near\ntools: read_file, list_files\nmodel: small\n---\nLook.\n",
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
        let Found { agents, notices } = found(top);
        let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["scout", "writer", "mine"]);
        let expected = Named {
            name: "scout".into(),
            description: "near".into(),
            tools: Some(vec!["read_file".into(), "list_files".into()]),
            model: Some("small".into()),
            prompt: "Look.".into(),
        };
        assert_eq!(agents[0], expected);
        assert_eq!((agents[1].prompt.as_str(), &agents[1].model), ("Write.", &None));
        let told: Vec<_> = notices.iter().map(|notice| notice.text.as_str()).collect();
        assert!(told.len() == 2 && told[0].contains("mute.md: `description` is missing"), "{told:?}");
        assert!(told[1].contains("odd.md: `tools` must be a list"), "{told:?}");
    }
}
