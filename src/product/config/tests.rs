//! Configurations as files and variables make them, from the six layers to the choice of a model.

use super::*;
use crate::base::clock::Clock;
use crate::model::Api;
use crate::product::auth::known_secrets;
use crate::product::config::choose::{choose_among, choose_named};
use crate::product::config::probe::PROBE_BUDGET;
use crate::product::config::provider::Choice;
use crate::product::error::Kind;
use serde_json::json;
use std::fs;
use std::net::TcpListener;

/// A user's world: a home, a configuration, a workspace.
struct World {
    folder: tempfile::TempDir,
    env: Env,
    flags: Flags,
}

impl World {
    fn new() -> Self {
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

    fn user(self, config: &Value) -> Self {
        self.file("config/config.json", &config.to_string())
    }

    fn project(self, config: &Value) -> Self {
        self.file("work/.viola.json", &config.to_string())
    }

    fn file(self, path: &str, content: &str) -> Self {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn var(mut self, name: &str, value: &str) -> Self {
        self.env.vars.insert(name.into(), value.into());
        self
    }

    fn flag(mut self, option: &'static str, key: &'static str, value: Value) -> Self {
        self.flags.values.push(Flag { option, key, value });
        self
    }

    fn key(mut self, key: &str) -> Self {
        self.flags.api_key = Some(Secret::new(key));
        self
    }

    fn load(&self) -> Loaded {
        load(&self.env, &self.flags).unwrap()
    }

    fn choose(&self) -> Result<Choice, Error> {
        choose_among(&self.load(), &self.env, &[], PROBE_BUDGET)
    }

    fn asked(&self) -> (String, String, String) {
        let choice = self.choose().unwrap();
        let key = choice.key.map(|key| key.expose().to_owned()).unwrap_or_default();
        (choice.provider, choice.model, key)
    }

    fn notices(&self) -> String {
        self.load().notices.iter().map(|notice| notice.text.clone() + "\n").collect()
    }
}

/// Two providers on this machine, `mock` with key `k-mock` in use.
fn two(more: &Value) -> World {
    let entry = |key: &str, model: &str| json!({"base_url": "http://127.0.0.1:9/v1", "api_key": key, "models": [{"id": model}]});
    let mut config = json!({"provider": "mock", "model": "test-model",
        "providers": {"mock": entry("k-mock", "test-model"), "other": entry("k-other", "other-model")}});
    for (name, value) in more.as_object().unwrap() {
        config[name] = value.clone();
    }
    World::new().user(&config)
}

fn triple(provider: &str, model: &str, key: &str) -> (String, String, String) {
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
    assert!(!permissions.is_explicit && !sandbox.is_explicit && sandbox.network && loaded.settings.loop_detection);
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
fn keys_are_looked_up_in_order() {
    let entry = json!({"base_url": "http://127.0.0.1:9/v1", "api_key": "$FROM_FILE"});
    let world = World::new()
        .user(&json!({"provider": "deepseek", "model": "m", "providers": {"deepseek": entry}}))
        .var("FROM_FILE", "k-file");
    assert_eq!(world.asked().2, "k-file");
    let world =
        world.file("config/auth.json", r#"{"deepseek": {"type": "api_key", "key": "k-auth"}, "x": {"key": "k-x"}}"#);
    assert_eq!(world.asked().2, "k-auth");
    assert!(world.notices().contains("chmod 600"));
    let world = world.var("DEEPSEEK_API_KEY", "k-preset");
    assert_eq!(world.asked().2, "k-preset");
    let world = world.var("VIOLA_API_KEY", "k-viola");
    assert_eq!(world.asked().2, "k-viola");
    let world = world.key("k-option");
    assert_eq!(world.asked().2, "k-option");
    let secrets = known_secrets(&world.load(), &world.env);
    let secrets: Vec<_> = secrets.iter().map(Secret::expose).collect();
    assert_eq!(secrets, ["k-auth", "k-file", "k-option", "k-preset", "k-viola", "k-x"]);
    assert!(!format!("{:?}", world.load().run_key).contains("k-option"));
}

#[test]
fn keys_of_the_command_stay_with_the_provider_named() {
    let world = two(&json!({})).key("k-option").flag("--model", "model", json!("other/other-model"));
    assert_eq!(world.asked(), triple("other", "other-model", "k-option"));
    let start = world.choose().unwrap();
    let key =
        |spec: &str| choose_named(&world.load(), &world.env, spec, &start).unwrap().key.unwrap().expose().to_owned();
    assert_eq!(
        (key("mock/test-model"), key("other/x"), key("other-model")),
        ("k-mock".into(), "k-option".into(), "k-option".into())
    );

    let alone = World::new().var("VIOLA_API_KEY", "k-alone");
    let error = alone.choose().unwrap_err();
    assert_eq!(error.kind, Kind::Provider);
    assert!(error.hints.iter().any(|hint| hint.contains("VIOLA_API_KEY")), "{:?}", error.hints);
    let other = alone.var("OPENAI_API_KEY", "k-openai");
    assert_eq!(other.asked(), triple("openai", "gpt-5", "k-openai"));
    assert!(other.choose().unwrap().notices[0].text.contains("VIOLA_API_KEY is not used"));
}

#[test]
fn a_command_may_give_the_users_key_alone() {
    let provider = |key: &str| json!({"providers": {"mock": {"base_url": "http://127.0.0.1:9/v1", "api_key": key}}});
    let world = two(&provider("!printf k-command"));
    assert_eq!(world.asked().2, "k-command");
    let failing = two(&provider("!exit 3"));
    assert_eq!(failing.choose().unwrap_err().kind, Kind::Provider);
    let mut theirs = two(&json!({})).project(&provider("!touch ran; echo k-project"));
    theirs.flags.project = ProjectTrust::ThisRun;
    assert!(theirs.choose().unwrap_err().message.contains("only the user's own file may name a command"));
    assert!(!theirs.env.cwd.join("ran").exists());
    let missing = two(&provider("$NOT_THERE"));
    assert!(missing.choose().unwrap_err().message.contains("$NOT_THERE is not set"));
}

#[test]
fn a_missing_key_says_where_it_was_looked_for() {
    let error = World::new().user(&json!({"provider": "deepseek"})).choose().unwrap_err();
    assert_eq!(error.kind, Kind::Provider);
    for place in ["--api-key", "VIOLA_API_KEY", "DEEPSEEK_API_KEY", "auth.json", "providers.deepseek.api_key"] {
        assert!(error.message.contains(place), "{place} in {error}");
    }
    let nobody = World::new().choose().unwrap_err();
    assert_eq!((nobody.kind, nobody.hints.len()), (Kind::Provider, 3));
    assert!(nobody.hints[0].contains("ANTHROPIC_API_KEY") && nobody.hints[2].contains("agent demo"));
}

#[test]
fn a_model_may_name_its_provider() {
    let with = |spec: &str| {
        two(&json!({"providers": {
        "mock": {"base_url": "http://127.0.0.1:9/v1", "api_key": "k-mock", "models": [{"id": "vendor/other:free"}, {"id": "other/listed"}]},
        "other": {"base_url": "http://127.0.0.1:9/v1", "api_key": "k-other"}}}))
        .flag("--model", "model", json!(spec))
    };
    assert_eq!(with("mock/vendor/other:free").asked(), triple("mock", "vendor/other:free", "k-mock"));
    assert_eq!(with("vendor/other:free").asked(), triple("mock", "vendor/other:free", "k-mock"));
    assert_eq!(with("other/listed").asked(), triple("mock", "other/listed", "k-mock"));
    assert_eq!(with("other/unlisted").asked(), triple("other", "unlisted", "k-other"));
    let whole = with("other/unlisted").flag("--provider", "provider", json!("mock"));
    assert_eq!(whole.asked(), triple("mock", "other/unlisted", "k-mock"));
    let list = two(&json!({"model": ["mock/test-model", "other/other-model"]}));
    assert_eq!(list.asked(), triple("mock", "test-model", "k-mock"));
    assert_eq!(list.choose().unwrap().fallbacks, ["other/other-model"]);
}

#[test]
fn a_later_provider_leaves_the_earlier_ones_model_and_address_behind() {
    let config = json!({"provider": "openai", "model": "gpt-5-mini", "base_url": "http://127.0.0.1:7/v1"});
    let world = World::new().user(&config).var("OPENAI_API_KEY", "k-openai").var("ANTHROPIC_API_KEY", "k-anthropic");
    assert_eq!(world.choose().unwrap().base_url, "http://127.0.0.1:7/v1");
    assert_eq!(world.asked(), triple("openai", "gpt-5-mini", "k-openai"));
    let world = world.flag("--provider", "provider", json!("anthropic"));
    assert_eq!(world.asked(), triple("anthropic", "claude-sonnet-4-5", "k-anthropic"));
    assert_eq!(world.choose().unwrap().base_url, "https://api.anthropic.com");
    let both = two(&json!({})).flag("--model", "model", json!("other/x")).flag(
        "--base-url",
        "base_url",
        json!("http://127.0.0.1:8/"),
    );
    assert_eq!((both.asked().0.as_str(), both.choose().unwrap().base_url.as_str()), ("other", "http://127.0.0.1:8"));
    let nobody = World::new().flag("--base-url", "base_url", json!("http://127.0.0.1:8/"));
    assert_eq!(nobody.choose().unwrap_err().kind, Kind::Usage);
}

#[test]
fn presets_stand_below_the_user() {
    let world = World::new()
        .user(&json!({"provider": "anthropic", "providers": {"anthropic": {"base_url": "http://127.0.0.1:9/"}}}));
    let choice = world.var("ANTHROPIC_API_KEY", "k").choose().unwrap();
    assert_eq!(
        (choice.api, choice.base_url.as_str(), choice.model.as_str()),
        (Api::AnthropicMessages, "http://127.0.0.1:9", "claude-sonnet-4-5")
    );
    assert!(!choice.local && !choice.own);
    let wire = |api: &str| {
        World::new()
            .user(&json!({"provider": "x", "model": "m", "providers": {"x": {"base_url": "http://h", "api": api}}}))
            .choose()
    };
    assert!(wire("openai-responses").unwrap_err().message.contains("not built yet"));
    assert_eq!(wire("google-generative-ai").unwrap_err().kind, Kind::Usage);
    assert!(wire("openai-completions").unwrap().key.is_none(), "an own provider may want none");
    let near = World::new().user(&json!({"provider": "antropic"})).choose().unwrap_err();
    assert!(near.hints[0].contains("anthropic") && near.kind == Kind::Usage);
    let bad = World::new()
        .user(&json!({"provider": "x", "model": "m", "providers": {"x": {"base_url": "ftp://h"}}}))
        .choose();
    assert!(bad.unwrap_err().message.contains("no address"));
}

#[test]
fn what_is_known_of_a_model_is_passed_on() {
    let model = json!({"id": "m", "name": "Model", "contextWindow": 128_000, "maxTokens": 8192, "input": ["text", "image"],
        "reasoning": true, "cost": {"input": 2, "output": 10, "cacheRead": 0.2, "cacheWrite": 2.5}});
    let entry = json!({"base_url": "http://h/v1", "models": [model], "headers": {"X-Team": "violins"}, "compat": {"text_calls": false}});
    let choice = World::new().user(&json!({"provider": "x", "providers": {"x": entry}})).choose().unwrap();
    let info = &choice.info;
    assert_eq!(
        (info.label.as_str(), info.window, info.max_output, info.reasoning, info.images),
        ("Model", Some(128_000), Some(8192), true, true)
    );
    assert_eq!(info.price.unwrap().cache_write, 2.5);
    assert_eq!(
        (choice.model.as_str(), choice.headers, choice.own),
        ("m", vec![("X-Team".to_owned(), "violins".to_owned())], true)
    );
    assert_eq!(choice.compat["text_calls"], false);
}

#[test]
fn a_replay_needs_a_record_and_nothing_else() {
    let world = two(&json!({})).key("k").flag("--provider", "provider", json!("replay"));
    assert_eq!(world.choose().unwrap_err().kind, Kind::Usage, "the other provider's model is no record");
    let world = world.flag("--model", "model", json!("rec.jsonl"));
    let choice = world.choose().unwrap();
    assert_eq!((choice.api, choice.key), (Api::Replay, None));
    assert_eq!(choice.model, world.env.cwd.join("rec.jsonl").display().to_string());
}

#[test]
fn a_local_server_needs_neither_key_nor_model() {
    use std::io::{Read, Write};
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://127.0.0.1:{}/v1", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"data\": [{\"id\": \"some-local-model\"}]}");
        }
    });
    let local = json!({"providers": {"llamacpp": {"base_url": address}}});
    let mut named = local.clone();
    named["provider"] = json!("llamacpp");
    assert_eq!(World::new().user(&named).asked(), triple("llamacpp", "some-local-model", ""));
    let world = World::new().user(&local);
    let found =
        choose_among(&world.load(), &world.env, &[("llamacpp", &address)], std::time::Duration::from_secs(5)).unwrap();
    assert_eq!((found.provider.as_str(), found.model.as_str(), found.local), ("llamacpp", "some-local-model", true));
}
