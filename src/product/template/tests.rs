//! Which templates are found, and what becomes of a message that names one.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::product::config::{self, Flags};
use tempfile::TempDir;

struct World {
    folder: TempDir,
    knowledge: Knowledge,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("repo/.git")).unwrap();
    fs::create_dir_all(root.join("repo/sub")).unwrap();
    let vars = [("VIOLA_CONFIG_DIR", "config"), ("VIOLA_DATA_DIR", "data")];
    let vars = vars.map(|(name, path)| (name.into(), root.join(path).into_os_string()));
    let env = Env { vars: BTreeMap::from(vars), cwd: root.join("repo/sub"), home: Some(root.join("home")) };
    let loaded = config::load(&env, &Flags::default()).unwrap();
    let workspace = Workspace::new(env.cwd.clone(), env.home.clone(), &[]).unwrap();
    World { knowledge: Knowledge::new(&env, &loaded, Arc::new(workspace), vec!["help", "q"]), folder }
}

impl World {
    fn file(&self, path: &str, content: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn expanded(&self, text: &str) -> Option<String> {
        expand(text, &self.knowledge).unwrap().map(|expanded| expanded.text)
    }
}

#[test]
fn the_nearest_wins_and_commands_are_taken() {
    let world = world();
    for (path, text) in [
        (
            "repo/sub/.viola/prompts/greet.md",
            "---\ndescription: near\nargument-hint: [who]\ntools: [a, b]\nmodel: m\n---\nx",
        ),
        ("repo/.viola/prompts/greet.md", "---\ndescription: far\n---\nx"),
        ("config/prompts/greet.md", "x"),
        ("config/prompts/mine.md", "no head"),
        ("config/prompts/help.md", "x"),
        ("config/prompts/bad.md", "---\ndescription: [\n---\nx"),
        ("config/prompts/two words.md", "x"),
        ("config/prompts/not.txt", "x"),
    ] {
        world.file(path, text);
    }
    let found = world.knowledge.templates.find();
    let names: Vec<_> = found.templates.iter().map(|template| template.name.as_str()).collect();
    assert_eq!(names, ["greet", "mine"]);
    let Template { description, hint, model, tools, origin, .. } = &found.templates[0];
    assert_eq!((description.as_str(), hint.as_deref(), model.as_deref()), ("near", Some("[who]"), Some("m")));
    assert_eq!((tools.as_deref(), *origin), (Some(&["a".to_owned(), "b".to_owned()][..]), Origin::Project));
    let hidden: Vec<_> =
        found.hidden.iter().map(|hidden| (hidden.template.name.as_str(), hidden.by.is_some())).collect();
    assert_eq!(hidden, [("greet", true), ("greet", true), ("help", false)]);
    assert_eq!(found.problems.len(), 2);
    let error = expand("/bad x", &world.knowledge).unwrap_err().to_string();
    assert!(error.contains("bad.md:") && error.contains("no YAML"), "{error}");
}

#[test]
fn only_what_names_one_is_expanded() {
    let world = world();
    world.file("config/prompts/greet.md", "---\ndescription: d\n---\n\nGreet $1.\n");
    world.file("config/prompts/help.md", "never");
    assert_eq!(world.expanded("/greet Ada").unwrap(), "Greet Ada.");
    assert_eq!(world.expanded(" /greet\nAda").unwrap(), "Greet Ada.");
    assert_eq!(world.expanded("/greet").unwrap(), "Greet .");
    for text in ["/help", "greet Ada", "/greets Ada", "/../greet", "/", "", "//greet", "/greet/x"] {
        assert_eq!(world.expanded(text), None, "{text}");
    }
    // What is changed meanwhile counts.
    world.file("config/prompts/greet.md", "Hello");
    assert_eq!(world.expanded("/greet Ada").unwrap(), "Hello\n\nAda");
    assert!(world.expanded("/skill:commit now").unwrap().ends_with("\n\nnow"));
    assert!(expand("/skill:none", &world.knowledge).is_err());
}

#[test]
fn what_is_sent_has_a_cap() {
    let world = world();
    world.file("config/prompts/long.md", &"$1".repeat(1_000));
    let text = world.expanded(&format!("/long {}", "x".repeat(1_000))).unwrap();
    assert!(text.len() < MAX_CHARS + 100 && text.ends_with("characters]"));
}

#[test]
fn what_is_no_template_is_told_and_not_sent() {
    let world = world();
    world.file("config/prompts/two.md", "---\ndescription: d\nmodel: [a]\n---\nx");
    let pipe = world.folder.path().join("config/prompts/pipe.md");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    let problems = world.knowledge.templates.find().problems;
    let told: Vec<_> = problems.iter().map(|problem| (problem.line, problem.text.as_str())).collect();
    assert_eq!(told, [(None, "it is no regular file"), (Some(3), "`model` should be the name of one model")]);
    let error = expand("/pipe x", &world.knowledge).unwrap_err().to_string();
    assert!(error.contains("pipe.md: it is no regular file"), "{error}");
}
