//! Which skills are found, which counts, and what is said of the others, in a small world of files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::kernel::toolbox::Toolbox;
use crate::product::config::{self, Flags};
use crate::product::skill::tool::{LIMITS, LoadSkill};
use tempfile::TempDir;

/// A repository with a folder in it that is worked in, a home, and the user's settings.
struct World {
    folder: TempDir,
    env: Env,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["repo/.git", "repo/sub", "home", "config", "bin"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let vars = [("VIOLA_CONFIG_DIR", "config"), ("VIOLA_DATA_DIR", "data"), ("PATH", "bin")];
        let vars = vars.map(|(name, path)| (name.into(), root.join(path).into_os_string()));
        let env = Env { vars: BTreeMap::from(vars), cwd: root.join("repo/sub"), home: Some(root.join("home")) };
        Self { folder, env }
    }

    fn file(&self, path: &str, content: &str) -> PathBuf {
        let path = self.folder.path().canonicalize().unwrap().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn skill(&self, folder: &str, name: &str, more: &str) -> PathBuf {
        let text = format!("---\nname: {name}\ndescription: of {folder}\n{more}---\nBody of {name}.\n");
        self.file(&format!("{folder}/{name}/SKILL.md"), &text)
    }

    fn skills(&self) -> Skills {
        let loaded = config::load(&self.env, &Flags::default()).unwrap();
        let workspace = Workspace::new(self.env.cwd.clone(), self.env.home.clone(), &["closed/**".into()]).unwrap();
        Skills::new(&self.env, &loaded, Arc::new(workspace))
    }

    /// Those that are not built in.
    fn found(&self) -> Found {
        let mut found = self.skills().find();
        found.skills.retain(|skill| skill.source.origin() != Origin::BuiltIn);
        found
    }
}

fn names(found: &Found) -> Vec<&str> {
    found.skills.iter().map(|skill| skill.name.as_str()).collect()
}

#[test]
fn the_nearest_comes_first_and_hides_the_others() {
    let world = World::new();
    let places = [
        "repo/sub/.claude/skills",
        "repo/.viola/skills",
        "repo/.agents/skills",
        "config/skills",
        "home/.agents/skills",
    ];
    for (number, place) in places.iter().enumerate() {
        world.skill(place, "one", "");
        world.skill(place, &format!("own-{number}"), "");
    }
    world.skill(".agents/skills", "outside", "");
    let found = world.found();
    assert_eq!(names(&found), ["one", "own-0", "own-1", "own-2", "own-3", "own-4"]);
    assert_eq!(found.skills[0].description, "of repo/sub/.claude/skills");
    assert_eq!(found.hidden.len(), 4);
    assert!(found.hidden.iter().all(|hidden| hidden.by == found.skills[0].source));
    assert_eq!(found.problems, []);
    let told = found.notices();
    assert!(told.len() == 1 && told[0].text.ends_with("same name: one, one."), "{told:?}");
}

#[test]
fn built_in_skills_are_in_order_and_short() {
    for BuiltIn { name: told, description, programs, text } in builtin::SKILLS {
        let document = front_matter::read(text).unwrap();
        let name = document.fields["name"].as_str().unwrap();
        let (head, odd) = head::read(&document.fields, name).unwrap();
        assert!(odd.is_empty() && head.description.len() <= 90, "{name}: {odd:?}");
        assert_eq!((head.name.as_str(), head.description.as_str()), (told, description));
        assert_eq!(
            (head.programs.as_slice(), head.always, head.people_only),
            (&programs.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()[..], false, false)
        );
        assert!(text.lines().count() < 120, "{name}");
    }
    let world = World::new();
    let found = world.skills().find();
    assert_eq!(names(&found), ["commit", "extend-viola", "review-diff"]);
    let tool: Arc<dyn crate::kernel::tool::Tool> = Arc::new(LoadSkill::new(world.skills(), LIMITS));
    let spec = tool.spec();
    let offer = serde_json::json!({"name": spec.name, "description": spec.description, "parameters": spec.parameters});
    assert!(offer.to_string().len() < 300, "{}", offer.to_string().len());
    let (list, notices) = found.catalogue(&Toolbox::new(vec![tool]));
    assert!(list.len() < 700 && notices.is_empty(), "{}", list.len());
    assert_eq!(found.catalogue(&Toolbox::new(Vec::new())).0, "");
    // One of the user's own goes before.
    world.skill("config/skills", "commit", "");
    assert_eq!(world.skills().find().get("commit").unwrap().description, "of config/skills");
    assert_eq!(world.skills().find().notices(), []);
}

#[test]
fn what_is_required_is_looked_for() {
    let world = World::new();
    let requires = "requires:\n  bins: [here, plain, none]\n  env: [PATH, EMPTY, NONE_OF_IT]\n";
    world.skill("repo/.viola/skills", "needy", requires);
    for (name, mode) in [("here", 0o755), ("plain", 0o644)] {
        let path = world.file(&format!("bin/{name}"), "");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let found = world.found();
    let missing = &found.skills[0].missing;
    assert_eq!(
        (&missing.programs[..], &missing.variables[..]),
        (&["plain".to_owned(), "none".to_owned()][..], &["EMPTY".to_owned(), "NONE_OF_IT".to_owned()][..])
    );
    assert_eq!(missing.told().unwrap(), "missing here: the programs plain, none, the variables EMPTY, NONE_OF_IT");
    let content = world.skills().content(&found.skills[0]).unwrap();
    assert!(content.ends_with("the variables EMPTY, NONE_OF_IT."), "{content}");
}

#[test]
fn broken_ones_are_told_with_their_line_and_the_rest_is_read() {
    let world = World::new();
    for (name, text) in [
        ("a", "---\nname: a\n---\nx"),
        ("b", "---\nname: [unclosed\n---\nx"),
        ("c", "no head at all"),
        ("d", "---\nname: d\ndescription: it never ends\n"),
        ("e", "---\r\nname: Odd\r\ndescription: Use it: when\r\nallowed-tools: Bash(*)\r\n---\r\nx"),
    ] {
        world.file(&format!("repo/.viola/skills/{name}/SKILL.md"), text);
    }
    world.file("repo/.viola/skills/g/skill.md", "---\n{\"name\": \"g\", \"description\": \"in JSON: yes\"}\n---\nx");
    world.file("repo/.viola/skills/group/deep/f/SKILL.md", "---\ndescription: d\n---\nx");
    world.file("repo/.viola/skills/g/inner/SKILL.md", "---\ndescription: none of it\n---\nx");
    world.file("repo/.viola/skills/node_modules/h/SKILL.md", "---\ndescription: none of it\n---\nx");
    let found = world.found();
    assert_eq!(names(&found), ["Odd", "g", "f"]);
    let told = |name: &str| {
        let problem = found.problems.iter().find(|problem| problem.path.parent().unwrap().ends_with(name)).unwrap();
        (problem.line, problem.text.as_str(), problem.is_used)
    };
    assert_eq!(told("a"), (Some(1), "there is no description", false));
    assert!(told("b").1.contains("no YAML") && told("b").0.is_some() && told("d").1.contains("not closed"));
    assert!(!told("c").2 && told("e").2 && told("e").0 == Some(2), "{:?}", told("e"));
    assert_eq!(found.notices()[0].text, "4 skills cannot be used; `agent skills` says why.");
}

#[test]
fn links_are_followed_once_and_a_projects_not_outside() {
    let world = World::new();
    let real = world.skill("repo/shared", "linked", "");
    world.skill("elsewhere", "outer", "");
    world.skill("repo/sub/closed", "shut", "");
    let root = world.folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("repo/.viola/skills")).unwrap();
    fs::create_dir_all(root.join("config/skills")).unwrap();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, root.join(name)).unwrap();
    link(real.parent().unwrap(), "repo/.viola/skills/linked");
    link(&root.join("repo/.viola/skills"), "repo/.claude");
    link(&root.join("repo/.viola/skills"), "repo/.agents");
    link(&root.join("repo/.viola"), "repo/.viola/skills/round");
    link(&root.join("elsewhere/outer"), "repo/.viola/skills/outer");
    link(&root.join("elsewhere/outer"), "config/skills/mine");
    link(&root.join("repo/sub/closed/shut"), "repo/.viola/skills/shut");
    let found = world.found();
    assert_eq!((names(&found), found.hidden.len()), (vec!["linked", "outer"], 0));
    let texts: Vec<_> = found.problems.iter().map(|problem| problem.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("out of the repository")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("sandbox.deny_read")), "{texts:?}");
}

#[test]
fn what_runs_at_home_finds_the_users_own_once() {
    let mut world = World::new();
    world.skill("home/.agents/skills", "mine", "");
    world.env.cwd = world.env.home.clone().unwrap();
    let found = world.found();
    assert_eq!((names(&found), found.skills[0].source.origin(), found.hidden.len()), (vec!["mine"], Origin::User, 0));
}

#[test]
fn a_skill_is_invoked_with_what_was_said_to_it() {
    let world = World::new();
    world.skill("repo/.viola/skills", "tuning", "disable-model-invocation: true\n");
    world.file("repo/.viola/skills/odd/SKILL.md", "---\nname: two words\ndescription: d\n---\nTwo.\n");
    let skills = world.skills();
    let (text, origin) = skills.invoke("tuning  all\nof it ").unwrap();
    assert!(
        text.starts_with("<skill name=\"tuning\">\nBody of tuning.\n</skill>") && text.ends_with("\n\nall\nof it"),
        "{text}"
    );
    assert_eq!(origin, Origin::Project);
    assert!(skills.invoke("two words and more").unwrap().0.ends_with("\n\nand more"));
    let error = skills.invoke("tunin x").unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.hints[0].as_str()),
        ("there is no skill `tunin`", "did you mean tuning?")
    );
    assert!(skills.invoke("").is_err());
    let tool: Arc<dyn crate::kernel::tool::Tool> = Arc::new(LoadSkill::new(world.skills(), LIMITS));
    let list = skills.find().catalogue(&Toolbox::new(vec![tool])).0;
    assert!(!list.contains("tuning") && list.contains("two words"), "{list}");
}

#[test]
fn always_is_in_full_until_there_is_no_room() {
    let world = World::new();
    let long = format!("---\ndescription: d\nalways: true\n---\n{}", "a line of it\n".repeat(1_600));
    for name in ["a", "b"] {
        world.file(&format!("repo/.viola/skills/{name}/SKILL.md"), &long);
    }
    world.skill("repo/.viola/skills", "lacking", "always: true\nrequires: {bins: [none]}\n");
    let found = world.found();
    let tool: Arc<dyn crate::kernel::tool::Tool> = Arc::new(LoadSkill::new(world.skills(), LIMITS));
    let (text, notices) = found.catalogue(&Toolbox::new(vec![tool]));
    assert!(text.contains("<skill name=\"a\">\na line of it\n") && text.contains("it\n[... cut after"), "{text:.600}");
    assert!(text.contains("<name>b</name>") && text.contains("<name>lacking</name>"));
    assert!(text.chars().count() < catalogue::ALWAYS_CHARS + 1_500);
    assert!(notices.len() == 1 && notices[0].text.ends_with("not or not wholly there: a, b."), "{notices:?}");
}

#[test]
fn what_is_no_file_is_told() {
    let world = World::new();
    let pipe = world.skill("config/skills", "pipe", "");
    let gone = world.skill("config/skills", "gone", "");
    for path in [&pipe, &gone] {
        fs::remove_file(path).unwrap();
    }
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    std::os::unix::fs::symlink("nowhere", &gone).unwrap();
    let problems = world.found().problems;
    let of =
        |path: &PathBuf| problems.iter().find(|problem| problem.path == *path).map(|problem| problem.text.as_str());
    assert_eq!(of(&pipe), Some("it is no regular file"));
    assert!(of(&gone).is_some() && problems.iter().all(|problem| !problem.is_used), "{problems:?}");
}
