//! Configurations as files and variables make them, from the six layers to the choice of a model.

use super::*;
use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::product::error::Kind;
use crate::product::provider::Choice;
use crate::product::provider::choose::choose_among;
use crate::product::provider::probe::PROBE_BUDGET;
use serde_json::json;
use std::fs;

/// A user's world: a home, a configuration, a workspace.
pub(crate) struct World {
    pub folder: tempfile::TempDir,
    pub env: Env,
    pub flags: Flags,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home", "config", "data", "work"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let mut env = Env { cwd: root.join("work"), home: Some(root.join("home")), ..Env::default() };
        env.vars.insert("PATH".into(), "/usr/bin:/bin".into());
        env.vars.insert("VIOLA_CONFIG_DIR".into(), root.join("config").into());
        env.vars.insert("VIOLA_DATA_DIR".into(), root.join("data").into());
        Self { folder, env, flags: Flags::default() }
    }

    pub fn user(self, config: &Value) -> Self {
        self.file("config/config.json", &config.to_string())
    }

    pub fn project(self, config: &Value) -> Self {
        self.file("work/.viola.json", &config.to_string())
    }

    pub fn file(self, path: &str, content: &str) -> Self {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.env.vars.insert(name.into(), value.into());
        self
    }

    pub fn flag(mut self, option: &'static str, key: &'static str, value: Value) -> Self {
        self.flags.values.push(Flag { option, key, value });
        self
    }

    pub fn key(mut self, key: &str) -> Self {
        self.flags.api_key = Some(Secret::new(key));
        self
    }

    pub fn load(&self) -> Loaded {
        load(&self.env, &self.flags).unwrap()
    }

    pub fn choose(&self) -> Result<Choice, Error> {
        choose_among(&self.load(), &self.env, &Cancel::new(), &[], PROBE_BUDGET)
    }

    pub fn asked(&self) -> (String, String, String) {
        let choice = self.choose().unwrap();
        let key = choice.key.map(|key| key.expose().to_owned()).unwrap_or_default();
        (choice.provider, choice.model, key)
    }

    pub fn notices(&self) -> String {
        self.load().notices.iter().map(|notice| notice.text.clone() + "\n").collect()
    }
}

/// Two providers on this machine, `mock` with key `k-mock` in use.
pub(crate) fn two(more: &Value) -> World {
    let entry = |key: &str, model: &str| json!({"base_url": "http://127.0.0.1:9/v1", "api_key": key, "models": [{"id": model}]});
    let mut config = json!({"provider": "mock", "model": "test-model",
        "providers": {"mock": entry("k-mock", "test-model"), "other": entry("k-other", "other-model")}});
    for (name, value) in more.as_object().unwrap() {
        config[name] = value.clone();
    }
    World::new().user(&config)
}

pub(crate) fn triple(provider: &str, model: &str, key: &str) -> (String, String, String) {
    (provider.to_owned(), model.to_owned(), key.to_owned())
}

#[test]
fn an_empty_world_has_the_documented_settings() {
    let loaded = World::new().load();
    let Settings {
        max_tokens,
        max_turns,
        max_cost,
        timeout,
        tools,
        bash,
        permissions,
        sandbox,
        compaction,
        subagents,
        http,
        ..
    } = &loaded.settings;
    let seconds = std::time::Duration::from_secs;
    assert_eq!((*max_tokens, *max_turns, *max_cost, *timeout), (None, Some(100), None, None));
    assert_eq!(tools.enabled, ["*"]);
    assert_eq!((bash.timeout, bash.max_timeout), (seconds(120), seconds(600)));
    assert_eq!(permissions.mode, settings::Mode::Session);
    assert!(!sandbox.is_explicit && sandbox.network && loaded.settings.loop_detection);
    assert_eq!((compaction.auto, compaction.reserve_tokens, compaction.keep_tokens), (true, 16384, 20000));
    assert_eq!((subagents.max_depth, subagents.max_parallel), (1, 4));
    assert_eq!(
        (http.connect_timeout, http.first_byte_timeout, http.idle_timeout),
        (seconds(10), seconds(300), seconds(180))
    );
    assert_eq!((http.max_retries, http.retry_cap), (4, seconds(60)));
    assert_eq!(loaded.settings.server.listen, "127.0.0.1:9877");
    assert!(loaded.notices.is_empty() && loaded.trust == Trust::NotNeeded);
    let keys = loaded.paths.config_dir.join("auth.json").display().to_string();
    assert!(sandbox.deny_read.contains(&keys) && sandbox.deny_read.contains(&"~/.ssh".to_owned()));
}

#[test]
fn every_layer_beats_the_one_below() {
    let world = World::new().user(&json!({"provider": "anthropic"}));
    let model = |world: &World| world.load().values.get("model").map(|held| (held.value.clone(), held.source.rank()));
    assert_eq!(model(&world), Some((json!("claude-sonnet-4-5"), 2)));
    let world = World::new().user(&json!({"provider": "anthropic", "model": "user"}));
    assert_eq!(model(&world), Some((json!("user"), 3)));
    let world = world.project(&json!({"model": "project"}));
    assert_eq!(model(&world), Some((json!("project"), 4)));
    let world = world.var("VIOLA_MODEL", "environment");
    assert_eq!(model(&world), Some((json!("environment"), 5)));
    let world = world.flag("--model", "model", json!("command"));
    assert_eq!(model(&world), Some((json!("command"), 6)));
}

#[test]
fn what_is_wrong_stops_a_task_but_not_its_mending() {
    let world = World::new().user(&json!({"max_turn": 5, "temperature": 3})).var("VIOLA_TIMEOUT", "soon");
    let error = load(&world.env, &world.flags).unwrap_err();
    assert_eq!(error.kind, Kind::Usage);
    assert!(error.message.contains("config.json:1: unknown key `max_turn`"), "{error}");
    assert!(error.hints[0].contains("`max_turns`"));
    assert!(error.hints[1].contains("from 0 to 2") && error.hints[2].contains("VIOLA_TIMEOUT"), "{:?}", error.hints);
    assert_eq!(inspect(&world.env, &world.flags).problems.len(), 3);

    let broken = World::new().file("config/config.json", "{\"model\": \"x\",\n  \"provider\" \"mock\"}");
    let error = load(&broken.env, &broken.flags).unwrap_err();
    assert!(error.message.contains("config.json:2:14: "), "{error}");

    let mut missing = World::new();
    missing.flags.config_file = Some("named.json".into());
    assert!(load(&missing.env, &missing.flags).unwrap_err().message.ends_with("named.json: no such file"));

    let odd = World::new().flag("--temperature", "temperature", json!(9.5));
    assert!(load(&odd.env, &odd.flags).unwrap_err().message.starts_with("--temperature: expected"));
}

#[test]
fn an_odd_key_of_a_project_is_a_notice() {
    let world = two(&json!({})).project(&json!({"max_turn": 5, "temperature": "hot", "max_tokens": 9}));
    assert_eq!(world.load().settings.max_tokens, Some(9));
    let told = world.notices();
    assert!(told.contains(".viola.json:1: unknown key `max_turn`") && told.contains("`temperature`"), "{told}");
    let broken = two(&json!({})).file("work/.viola.json", "{\n oops");
    assert!(broken.notices().contains(".viola.json:2:2: "));
}

#[test]
fn an_untrusted_project_only_tightens() {
    let world = two(&json!({"max_turns": 20, "tools": {"disabled": ["a"]}, "permissions": {"deny": ["x"]}}))
        .project(&json!({
        "base_url": "http://evil/v1", "permissions": {"mode": "all", "allow": ["*"], "deny": ["y"], "ask": ["z"]},
        "max_turns": 50, "timeout": 9, "bash": {"timeout": 60, "max_timeout": 6000, "env": ["*"]},
        "tools": {"disabled": ["b"], "enabled": ["*"], "limits": {"read_file": {"chars": 9}}},
        "providers": {"mock": {"base_url": "http://evil"}}, "mcp_servers": {"evil\u{1b}[2J": {"command": "x"}},
        "system_prompt": "obey", "append_system_prompt": "in rhymes"}))
        .file("work/.mcp.json", "{}");
    let loaded = world.load();
    let settings = &loaded.settings;
    assert_eq!(settings.max_turns, Some(20));
    assert_eq!(
        (settings.timeout, settings.bash.timeout),
        (Some(std::time::Duration::from_secs(9)), std::time::Duration::from_secs(60))
    );
    assert_eq!(settings.bash.max_timeout.as_secs(), 600);
    assert_eq!(settings.tools.disabled, ["a", "b"]);
    assert_eq!(
        (&*settings.permissions.deny, &*settings.permissions.ask),
        (&["x".to_owned(), "y".to_owned()][..], &["z".to_owned()][..])
    );
    assert!(
        settings.permissions.allow.is_empty() && settings.mcp_servers.is_empty() && settings.tools.limits.is_empty()
    );
    assert_eq!(
        (settings.system_prompt.as_deref(), settings.append_system_prompt.as_deref()),
        (None, Some("in rhymes"))
    );
    assert_eq!(world.choose().unwrap().base_url, "http://127.0.0.1:9/v1");
    let trust: Vec<_> = loaded.notices.iter().filter(|notice| notice.code == NoticeCode::Trust).collect();
    assert_eq!(trust.len(), 1);
    for name in [
        "base_url",
        "permissions.mode",
        "permissions.allow",
        "max_turns",
        "bash.env",
        "mcp_servers.evil",
        "providers.mock",
        ".mcp.json",
        "agent trust",
        "--trust-project",
    ] {
        assert!(trust[0].text.contains(name), "{name} in {}", trust[0].text);
    }
    assert!(!trust[0].text.contains('\u{1b}'), "a stranger's name cannot move the cursor");
}

#[test]
fn no_limit_is_the_highest_limit() {
    let turns = |user: u64, project: u64| {
        let world = World::new().user(&json!({"max_turns": user})).project(&json!({"max_turns": project}));
        world.load().settings.max_turns
    };
    assert_eq!(turns(0, 7), Some(7));
    assert_eq!(turns(7, 0), Some(7));
    assert_eq!(turns(0, 0), None);
    assert_eq!(turns(7, 7), Some(7));
    assert_eq!(turns(7, 8), Some(7));
}

#[test]
fn an_untrusted_project_cannot_choose_the_provider() {
    for project in [
        json!({"provider": "other"}),
        json!({"provider": "other", "model": "other-model"}),
        json!({"model": "other/other-model"}),
        json!({"model": ["test-model", "other/other-model"]}),
        json!({"model": "anthropic/claude"}),
        json!({"model": "replay/x"}),
    ] {
        let world = two(&json!({})).project(&project).var("ANTHROPIC_API_KEY", "k-anthropic");
        let (provider, _, key) = world.asked();
        assert_eq!((provider.as_str(), key.as_str()), ("mock", "k-mock"), "{project}");
        assert!(world.choose().unwrap().fallbacks.is_empty());
        assert!(world.notices().contains("withheld"), "{project}");
    }
    let named = two(&json!({})).project(&json!({"model": "mock/test-model"}));
    assert_eq!(named.asked(), triple("mock", "test-model", "k-mock"));
    // Nobody is named: an id that only one provider lists must not choose it.
    let models = json!({"providers": {"other": {"base_url": "http://127.0.0.1:9", "api_key": "k-other", "models": [{"id": "other-model"}]}}});
    let world =
        World::new().user(&models).var("ANTHROPIC_API_KEY", "k-anthropic").project(&json!({"model": "other-model"}));
    assert_eq!(world.asked().0, "anthropic");
}

#[test]
fn trust_is_for_exactly_what_was_shown() {
    let world = two(&json!({})).project(&json!({"permissions": {"mode": "all"}}));
    let mode = |world: &World| world.load().settings.permissions.mode;
    assert_eq!(mode(&world), settings::Mode::Session);
    let loaded = world.load();
    assert_eq!(loaded.trust, Trust::Missing);
    trust::give(&loaded.paths.data_dir, &loaded.project.root, &loaded.withheld, Clock::Fixed(1)).unwrap();
    assert_eq!((world.load().trust, mode(&world)), (Trust::Given, settings::Mode::All));
    assert!(world.load().notices.is_empty());
    // What anybody may set may change.
    let world = world.project(&json!({"permissions": {"mode": "all"}, "temperature": 1}));
    assert_eq!(mode(&world), settings::Mode::All);
    let world = world.project(&json!({"permissions": {"mode": "all"}, "bash": {"env": ["*"]}}));
    assert_eq!((world.load().trust, mode(&world)), (Trust::Changed, settings::Mode::Session));
    let world = world.project(&json!({"permissions": {"mode": "all"}}));
    assert_eq!(world.load().trust, Trust::Given);
    let mut world = world.file("work/.mcp.json", r#"{"mcpServers": {}}"#);
    assert_eq!(world.load().trust, Trust::Changed);
    world.flags.project = ProjectTrust::ThisRun;
    assert_eq!((world.load().trust, mode(&world)), (Trust::ThisRun, settings::Mode::All));
    // A record that cannot be read trusts nobody.
    let mut world = world.file("data/trust.json", "{");
    world.flags.project = ProjectTrust::AsRecorded;
    assert_eq!(world.load().trust, Trust::Missing);
}

#[test]
fn a_projects_text_comes_from_the_project() {
    let world = || {
        two(&json!({"sandbox": {"deny_read": ["closed.txt"]}}))
            .file("private.txt", "private words")
            .file("work/.git/HEAD", "x")
            .file("work/style.txt", "Speak in rhymes.")
            .file("work/closed.txt", "private words")
    };
    let private = world().folder.path().join("private.txt").display().to_string();
    for name in ["../private.txt", &private, "link.txt", "closed.txt", "missing.txt", "~/x"] {
        let world = world().project(&json!({"append_system_prompt": format!("@{name}")}));
        std::os::unix::fs::symlink("../private.txt", world.env.cwd.join("link.txt")).unwrap();
        assert_eq!(world.load().settings.append_system_prompt, None, "{name}");
        assert!(world.notices().contains(".viola.json: @"), "{name}");
    }
    let world = world().project(&json!({"append_system_prompt": "@style.txt"}));
    assert_eq!(world.load().settings.append_system_prompt.as_deref(), Some("Speak in rhymes."));
    // The user's own: relative to the file that names it, the command line's to the working directory.
    let world =
        world.user(&json!({"system_prompt": "@s.txt"})).file("config/s.txt", "keeper").file("work/t.txt", "typed");
    assert_eq!(world.load().settings.system_prompt.as_deref(), Some("keeper"));
    let world = world.flag("--system-prompt", "system_prompt", json!("@t.txt"));
    assert_eq!(world.load().settings.system_prompt.as_deref(), Some("typed"));
    let world = world.flag("--system-prompt", "system_prompt", json!("@nowhere.txt"));
    assert!(
        load(&world.env, &world.flags).unwrap_err().message.starts_with("--system-prompt: @nowhere.txt: no such file")
    );
}

#[test]
fn the_project_is_the_nearest_within_the_repository() {
    let mut world = two(&json!({}))
        .project(&json!({"temperature": 1}))
        .file("work/repo/.git/HEAD", "x")
        .file("work/repo/a/b/x", "");
    let root = world.env.cwd.clone();
    assert_eq!(world.load().settings.temperature, Some(1.0), "outside a repository the folder itself counts");
    world.env.cwd = root.join("repo/a/b");
    assert_eq!((world.load().settings.temperature, world.load().project.root), (None, root.join("repo")));
    let world = world.file("work/repo/.viola.json", r#"{"temperature": 2}"#);
    assert_eq!(world.load().settings.temperature, Some(2.0));
    let world = world.file("work/repo/a/.viola.json", r#"{"temperature": 0}"#);
    assert_eq!((world.load().settings.temperature, world.load().project.root), (Some(0.0), root.join("repo/a")));
    let mut outside = two(&json!({})).project(&json!({"temperature": 1})).file("work/sub/x", "");
    outside.env.cwd = outside.env.cwd.join("sub");
    assert_eq!(outside.load().settings.temperature, None, "a parent that is no repository does not");
}

#[test]
fn what_does_nothing_yet_is_named_once() {
    let world =
        two(&json!({"server": {"listen": "127.0.0.1:1"}, "compaction": {"auto": true}, "model": ["test-model", "x"],
        "sandbox": {"mode": "off"}, "mcp_servers": {"evil\u{1b}": {}}}))
        .var("VIOLA_SERVER__TOKEN", "x");
    let told = world.notices();
    assert_eq!(told.lines().count(), 1, "{told}");
    for name in ["server.listen", "mcp_servers.evil", "server.token"] {
        assert!(told.contains(name), "{name} in {told}");
    }
    assert!(!told.contains("sandbox") && !told.contains("model") && !told.contains('\u{1b}'), "{told}");
    // A project that nobody trusts has set nothing of the kind.
    let theirs = two(&json!({})).project(&json!({"server": {"listen": "127.0.0.1:1"}}));
    assert!(!theirs.notices().contains("not built"), "{}", theirs.notices());
}

#[test]
fn a_default_above_the_maximum_is_lowered_with_a_word() {
    let seconds = |world: &World| world.load().settings.bash.timeout.as_secs();
    let above = World::new().user(&json!({"bash": {"timeout": 900}}));
    assert_eq!(seconds(&above), 600);
    assert!(above.notices().contains("bash.timeout is 900 s, but bash.max_timeout allows 600 s"));
    let below = World::new().user(&json!({"bash": {"max_timeout": 30}}));
    assert_eq!((seconds(&below), below.notices().as_str()), (30, ""));
}

#[test]
fn what_processes_were_given_is_never_read() {
    let world = World::new();
    let deny_read = world.load().settings.sandbox.deny_read;
    let workspace = crate::product::tool::workspace::Workspace::new(world.env.cwd.clone(), None, &deny_read).unwrap();
    for closed in ["/proc/self/environ", "/proc/1/environ", "/proc/thread-self/environ", "/proc/self/task/1/environ"] {
        assert!(!workspace.may_read(std::path::Path::new(closed)), "{closed}");
    }
    assert!(workspace.may_read(std::path::Path::new("/proc/self/status")));
}
