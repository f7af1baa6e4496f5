//! Configuration: layers and where a value comes from, errors with their place, keys, and trust in a repository.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Host, KEY, MODEL, call, say};

/// A host whose provider lists these models, the first of them the user's choice; every request is answered "ok".
fn with_models(models: &[&str]) -> Host {
    let host = Host::new();
    let listed: Vec<Value> = models.iter().map(|id| json!({"id": id})).collect();
    host.config(json!({"model": models[0], "providers": {"mock": {"models": listed}}}));
    host.server.answer(|_| say("ok"));
    host
}

fn models_asked(host: &Host) -> Vec<String> {
    host.server.requests().iter().map(|request| request.model().to_owned()).collect()
}

#[test]
fn each_layer_overrides_the_one_below() {
    let host = with_models(&["user", "project", "environment", "command"]);
    host.print("hi").run().ok();
    host.file(".viola.json", r#"{"model": "project"}"#);
    host.print("hi").run().ok();
    host.print("hi").env("VIOLA_MODEL", "environment").run().ok();
    host.print("hi").with(&["-m", "command"]).env("VIOLA_MODEL", "environment").run().ok();
    assert_eq!(models_asked(&host), ["user", "project", "environment", "command"]);
}

#[test]
fn the_project_is_the_nearest_one_within_the_repository() {
    let host = with_models(&[MODEL, "outer", "root"]);
    host.file(".viola.json", r#"{"model": "outer"}"#);
    host.file("repo/.git/HEAD", "ref: refs/heads/main\n");
    host.file("repo/sub/x", "");
    host.print("hi").cwd("repo/sub").run().ok();
    host.file("repo/.viola.json", r#"{"model": "root"}"#);
    host.print("hi").cwd("repo/sub").run().ok();
    assert_eq!(models_asked(&host), [MODEL, "root"]);
}

#[test]
fn show_names_the_origin_of_each_value_and_masks_keys() {
    let host = Host::new();
    host.config(json!({"temperature": 0.25}));
    host.file(".viola.json", r#"{"model": "second"}"#);
    let shown = host.agent(&["config", "show"]).env("VIOLA_TIMEOUT", "77").run().ok().stdout;
    let origins = [
        ("max_turns", "100", ["default", "built"]),
        ("temperature", "0.25", ["user", "config.json"]),
        ("model", "second", ["project", ".viola.json"]),
        ("timeout", "77", ["env", "VIOLA_TIMEOUT"]),
    ];
    for (key, value, origin) in origins {
        let named =
            |line: &str| line.contains(key) && line.contains(value) && origin.iter().any(|word| line.contains(word));
        assert!(shown.lines().any(named), "no line with {key}, {value} and one of {origin:?} in:\n{shown}");
    }
    assert!(!shown.contains(KEY));
}

#[test]
fn a_wrong_key_or_type_is_2_and_names_what_was_expected() {
    let wrong = [
        (json!({"max_turn": 5}), ["max_turn", "max_turns"]),
        (json!({"bash": {"timeot": 5}}), ["timeot", "timeout"]),
        (json!({"max_turns": "many"}), ["max_turns", "number"]),
        (json!({"permissions": {"mode": "sometimes"}}), ["mode", "write"]),
    ];
    for (changes, named) in wrong {
        let host = Host::new();
        host.config(changes);
        host.print("hi").run().is(2, "", &[named[0], named[1], "config.json"]);
    }
    Host::new().print("hi").env("VIOLA_MAX_TURNS", "many").run().is(2, "", &["VIOLA_MAX_TURNS"]);
}

#[test]
fn an_odd_key_of_a_project_is_a_notice() {
    let host = with_models(&[MODEL, "project-model"]);
    host.file(".viola.json", r#"{"max_turn": 5, "temperature": "hot", "model": "project-model"}"#);
    host.print("hi").run().is(0, "ok\n", &["max_turn", "temperature", ".viola.json"]);
    assert_eq!((models_asked(&host), host.request(0).body.get("temperature")), (vec!["project-model".into()], None));
}

#[test]
fn a_broken_file_is_reported_with_its_place_and_kept() {
    let host = Host::new();
    let broken = "{\"model\": \"x\",\n  \"provider\" \"mock\"}\n";
    let path = host.file(host.config_dir().join("config.json"), broken);
    let run = host.print("hi").run().is(2, "", &["config.json"]);
    assert!(run.stderr.contains(":2:1") || run.stderr.contains("line 2"), "{}", run.stderr);
    assert_ne!(host.agent(&["config", "set", "max_turns", "7"]).run().code, 0);
    assert_eq!(host.read(path), broken);
}

#[test]
fn variables_nest_with_two_underscores() {
    let host = Host::new();
    host.script([call("execute_bash", json!({"command": "sleep 60"})), say("ok")]);
    host.task("go").env("VIOLA_BASH__TIMEOUT", "1").run().ok();
    assert!(host.request(1).told().contains("timed out after 1"));
}

#[test]
fn setting_keeps_the_rest_and_many_writers_lose_nothing() {
    let host = Host::new();
    let path = host.config(json!({"temperature": 0.25}));
    let keys = ["max_turns", "max_tokens", "timeout", "bash.timeout"];
    thread::scope(|scope| {
        for key in keys {
            let host = &host;
            scope.spawn(move || {
                for value in 1..=3 {
                    host.agent(&["config", "set", key, &value.to_string()]).run().ok();
                }
            });
        }
    });
    let written: Value = serde_json::from_str(&host.read(path)).unwrap();
    let values = [&written["max_turns"], &written["max_tokens"], &written["timeout"], &written["bash"]["timeout"]];
    assert_eq!(values, [3; 4]);
    assert_eq!((&written["temperature"], &written["provider"]), (&json!(0.25), &json!("mock")));
    assert_eq!(host.agent(&["config", "get", "bash.timeout"]).run().ok().stdout.trim(), "3");
}

#[test]
fn keys_are_looked_up_in_order() {
    let host = Host::new();
    let mut provider = host.provider("m");
    provider["api_key"] = json!("$KEY_FROM_FILE");
    host.config(json!({"provider": "deepseek", "model": "m", "providers": {"deepseek": provider}}));
    host.server.answer(|_| say("ok"));
    let all = [("KEY_FROM_FILE", "k-file"), ("DEEPSEEK_API_KEY", "k-preset"), ("VIOLA_API_KEY", "k-viola")];
    for known in 1..=all.len() {
        host.server.accept_key(all[known - 1].1);
        all[..known].iter().fold(host.print("hi"), |agent, (name, key)| agent.env(name, key)).run().ok();
    }
    host.server.accept_key("k-option");
    let agent = host.print("hi").with(&["--api-key", "k-option"]);
    all.iter().fold(agent, |agent, (name, key)| agent.env(name, key)).run().ok();
    let sent: Vec<String> =
        host.server.requests().iter().map(|request| request.header("authorization").to_owned()).collect();
    assert_eq!(sent, ["k-file", "k-preset", "k-viola", "k-option"].map(|key| format!("Bearer {key}")));
}

#[test]
fn a_missing_key_says_where_it_was_looked_for() {
    let host = Host::new();
    host.file(host.config_dir().join("config.json"), r#"{"provider": "deepseek"}"#);
    host.print("hi").run().is(4, "", &["VIOLA_API_KEY", "DEEPSEEK_API_KEY", "auth.json"]);
}

#[test]
fn an_untrusted_project_may_tune_but_not_redirect() {
    let host = with_models(&[MODEL]);
    let project = json!({"base_url": "http://127.0.0.1:9/v1", "permissions": {"mode": "all"}, "temperature": 0.5,
        "mcp_servers": {"evil": {"command": "touch", "args": ["evil-ran"]}}});
    host.file(".viola.json", &project.to_string());
    let run = host.print("hi").run().is(0, "ok\n", &["base_url", "permissions", "mcp_servers", "trust"]);
    assert!(!host.exists("evil-ran") && !run.stderr.contains(KEY));
    assert_eq!(host.request(0).body["temperature"], 0.5);
}

#[test]
fn trust_lets_the_project_in_until_it_changes() {
    let host = Host::new();
    host.server.answer(|request| {
        if request.results().is_empty() { call("execute_bash", json!({"command": "touch ran"})) } else { say("ok") }
    });
    let ran = |options: &[&str]| {
        host.print("go").with(options).run();
        std::fs::remove_file(host.work().join("ran")).is_ok()
    };
    host.file(".viola.json", r#"{"permissions": {"mode": "all"}}"#);
    assert!(!ran(&[]), "untrusted");
    host.agent(&["trust"]).stdin("y\n").run().ok();
    assert!(ran(&[]), "trusted");
    host.file(".viola.json", r#"{"permissions": {"mode": "all"}, "bash": {"env": ["*"]}}"#);
    assert!(!ran(&[]), "changed since");
    assert!(ran(&["--trust-project"]), "trusted for one run");
}

#[test]
fn a_projects_text_comes_from_the_project() {
    let host = with_models(&[MODEL]);
    host.file(".git/HEAD", "ref: refs/heads/main\n");
    host.file("style.txt", "Speak in rhymes.");
    host.file("../private.txt", "private words");
    std::os::unix::fs::symlink("../private.txt", host.work().join("link.txt")).unwrap();
    for path in ["style.txt", "../private.txt", "link.txt"] {
        host.file(".viola.json", &json!({"append_system_prompt": format!("@{path}")}).to_string());
        host.print(path).run();
    }
    assert!(host.request(0).system().contains("Speak in rhymes."));
    assert!(host.server.requests().iter().all(|request| !request.mentions("private words")));
}

#[test]
fn a_misspelt_tool_is_told_and_on_the_command_line_refused() {
    let host = with_models(&[MODEL]);
    host.config(json!({"permissions": {"deny": ["excute_bash(rm *)", "mcp__x__y", "fetch_url", "edit_*"]},
        "tools": {"limits": {"reed_file": {"chars": 9}}, "disabled": ["unheard_of"]}}));
    let run =
        host.print("hi").run().is(0, "ok\n", &["`excute_bash` in permissions.deny (did you mean `execute_bash`?)"]);
    assert!(
        run.stderr.contains("`reed_file` in tools.limits") && run.stderr.contains("`unheard_of` in tools.disabled")
    );
    for known in ["mcp__x__y", "fetch_url", "edit_"] {
        assert!(!run.stderr.contains(known), "{known}: {}", run.stderr);
    }
    let host = Host::new();
    host.print("hi").with(&["--tools", "reed_file"]).run().is(2, "", &["--tools", "reed_file", "`read_file`"]);
    host.print("hi").with(&["--exclude-tools", "bash,x"]).run().is(2, "", &["--exclude-tools", "`bash`"]);
}

#[test]
fn a_proxy_that_is_none_is_2_and_names_who_said_so() {
    let host = with_models(&[MODEL]);
    for wrong in ["nonsense", "socks5://p:1080"] {
        host.config(json!({"http": {"proxy": wrong}}));
        host.print("hi").run().is(
            2,
            "",
            &["config.json:", "`http.proxy`: expected the address of an http or https proxy"],
        );
    }
    host.config(json!({"http": {"max_retries": 0}}));
    host.print("hi").env("VIOLA_HTTP__PROXY", "nonsense").run().is(2, "", &["VIOLA_HTTP__PROXY: expected"]);
    let set = host.agent(&["config", "set", "http.proxy", "me:s3cret@proxy"]).run();
    assert!(set.code == 2 && set.stderr.contains("http.proxy") && !set.stderr.contains("s3cret"), "{}", set.stderr);
    // Variables count only for the server that is asked.
    let broken = || host.print("hi").env("https_proxy", "socks5://p:1");
    broken().run().ok();
    broken().with(&["--base-url", "https://models.invalid/v1"]).run().is(2, "", &["https_proxy: the proxy's address"]);
}

#[test]
fn a_broken_rule_or_glob_names_who_wrote_it() {
    let host = with_models(&[MODEL]);
    host.config(json!({"permissions": {"allow": ["read_file", "execute_bash(ls"]}}));
    host.print("hi").env("VIOLA_PERMISSIONS__ALLOW", "list_files").run().is(
        2,
        "",
        &["config.json: permissions.allow: \"execute_bash(ls\" is no rule"],
    );
    host.config(json!({"permissions": {}, "sandbox": {"deny_read": ["a[b"]}}));
    host.print("hi").run().is(2, "", &["config.json: sandbox.deny_read: a[b: "]);
    host.config(json!({"sandbox": {}}));
    host.print("hi").env("VIOLA_BASH__ENV", "A[").run().is(2, "", &["VIOLA_BASH__ENV: bash.env: "]);
    host.print("hi").env("VIOLA_SANDBOX__WRITABLE", "/a[").run().is(
        2,
        "",
        &["VIOLA_SANDBOX__WRITABLE: sandbox.writable"],
    );
    host.print("hi").with(&["--tools", "read_[file"]).run().is(2, "", &["--tools: tools.enabled: read_[file: "]);
}

#[test]
fn get_of_a_broken_configuration_is_2() {
    let host = Host::new();
    host.agent(&["config", "get", "max_turns"]).run().is(0, "100\n", &[]);
    host.file(host.config_dir().join("config.json"), "{\"max_turns\" 7}");
    host.agent(&["config", "get", "max_turns"]).run().is(2, "", &["config.json:1:"]);
    host.agent(&["config", "show"]).run().ok();
}

#[test]
fn certificates_are_read_for_those_who_need_them() {
    let host = with_models(&[MODEL]);
    let run = host.print("hi").env("SSL_CERT_FILE", "/nowhere.pem").run().is(0, "ok\n", &[]);
    assert!(!run.stderr.contains("nowhere"), "{}", run.stderr);
    host.config(json!({"http": {"ca_file": "/nowhere.pem"}}));
    host.print("hi").run().ok();
    // Whoever is asked over https: the settings' own file must be there, one of the environment is told about.
    let secure = ["--base-url", "https://127.0.0.1:1/v1"];
    host.print("hi").with(&secure).run().is(2, "", &["http.ca_file", "/nowhere.pem"]);
    host.config(json!({"http": {"max_retries": 0}}));
    let run = host.print("hi").with(&secure).env("SSL_CERT_FILE", "/nowhere.pem").run();
    assert!(run.code == 4 && run.stderr.contains("SSL_CERT_FILE: cannot read /nowhere.pem"), "{}", run.stderr);
}

#[test]
fn the_agents_own_environment_is_not_read() {
    let host = Host::new();
    for path in ["/proc/self/environ", "/proc/thread-self/environ"] {
        let told = host.tool("read_file", json!({"path": path}));
        assert!(!told.contains("HOST_MARK"), "{told}");
    }
}

#[test]
fn a_key_that_a_command_printed_stays_out_of_results() {
    let host = Host::new();
    let mut provider = host.provider(MODEL);
    provider["api_key"] = json!(format!("!printf {KEY}"));
    provider["headers"] = json!({"X-Secret": "header-s3cret-value"});
    host.config(json!({"providers": {"mock": provider}}));
    // The model itself spells neither.
    let command = format!("echo {}''{} header-'s3cret-value'", &KEY[..9], &KEY[9..]);
    let told = host.tool("execute_bash", json!({"command": command}));
    assert_eq!(told, "[secret] [secret]\nexit code: 0");
}

#[test]
fn a_broken_rule_stops_its_writer_but_no_visitor() {
    let host = Host::new();
    host.script([say("ok")]);
    host.file(".viola.json", r#"{"permissions": {"deny": ["write_file(", "execute_bash"]}}"#);
    let run = host.task("go").run().ok().says(&[".viola.json", "write_file(", "left out"]);
    assert_eq!(run.notices("config").len(), 1);
    host.config(json!({"permissions": {"deny": ["edit_file("]}}));
    host.print("go").run().exits(2).says(&["config.json", "edit_file("]);
}

#[test]
fn the_models_are_listed_with_the_one_that_would_be_asked() {
    let host = with_models(&[MODEL, "another"]);
    host.script([]);
    let listed = host.agent(&["models", "--json"]).run().ok().json();
    assert_eq!(listed["default"], json!({"provider": "mock", "id": MODEL}));
    let ids: Vec<&Value> = listed["models"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(ids, [MODEL, "another"]);
    let run = host.agent(&["models", "ANOTHER"]).run().ok();
    assert!(run.stdout.contains("mock/another") && !run.stdout.contains(MODEL), "{}", run.stdout);
    host.agent(&["models", "nobody-has-this"]).run().exits(1).says(&["no model fits"]);
    host.config(json!({"max_turn": 5}));
    host.agent(&["models"]).run().exits(2).says(&["max_turn", "hint: "]);
}
