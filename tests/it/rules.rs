//! Standing instructions through the whole program: what the model is told of them, when, and what a person sees of it.

use serde_json::json;

use crate::support::{Call, Host, Wire, call, calls, say};

fn read(id: &str, path: &str) -> Call {
    Call::new(id, "read_file", json!({"path": path}))
}

#[test]
fn rules_stand_at_the_end_of_the_system_prompt_on_every_wire() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.file(host.config_dir().join("AGENTS.md"), "RULE-USER\n");
        host.file(".git/HEAD", "ref: refs/heads/main\n");
        host.file("AGENTS.md", "RULE-ROOT\n@docs/style.md\n");
        host.file("docs/style.md", "RULE-STYLE\n");
        host.file("a/CLAUDE.md", "RULE-A\n");
        host.script([calls([Call::new("c1", "list_files", json!({}))]), say("ok")]);
        host.print("hi").with(&["--append-system-prompt", "THE-END"]).cwd("a").run().ok();
        let system = host.request(0).system().to_owned();
        let order = ["RULE-USER", "RULE-STYLE", "RULE-ROOT", "RULE-A", "THE-END"];
        let places: Vec<_> = order.iter().map(|rule| system.find(rule)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{system}");
        assert!(system.contains(&format!("<rules path=\"{}/a/CLAUDE.md\">", host.work().display())), "{system}");
        assert_eq!(host.request(1).system(), system);
    }
}

#[test]
fn deeper_rules_come_with_the_first_call_that_reaches_them() {
    for options in [&["--no-session"][..], &[]] {
        let host = Host::new();
        host.file("AGENTS.md", "RULE-ROOT\n");
        host.file("a/AGENTS.md", "RULE-A\n");
        host.file("a/b/AGENTS.md", "RULE-B\n");
        host.file("a/b/f.txt", "content");
        host.file("a/b/g.txt", "content");
        host.script([
            calls([read("c1", "a/b/f.txt"), read("c2", "a/b/g.txt")]),
            calls([read("c3", "a/b/f.txt")]),
            say("ok"),
        ]);
        host.task("go").with(options).run().ok();
        let request = host.request(2);
        let told: String = request.results().into_iter().map(|(_, text)| text).collect();
        assert_eq!(["RULE-ROOT", "RULE-A", "RULE-B"].map(|rule| told.matches(rule).count()), [0, 1, 1], "{told}");
        assert!(told.find("RULE-A") < told.find("RULE-B"));
        assert!(!request.result("c3").contains("RULE-"));
        if options.is_empty() {
            host.script([calls([read("c4", "a/b/f.txt")]), say("ok")]);
            host.task("more").with(&["-c"]).run().ok();
            assert!(!host.request(4).result("c4").contains("RULE-"), "the session knows what it was told");
        }
    }
}

#[test]
fn a_command_reaches_the_folders_it_names() {
    let host = Host::new();
    host.file("a/AGENTS.md", "RULE-A\n");
    assert!(!host.tool("execute_bash", json!({"command": "ls"})).contains("RULE-A"));
    let told = host.tool("execute_bash", json!({"command": "cd a && ls"}));
    assert!(told.contains("exit code: 0") && told.find("exit code") < told.find("RULE-A"), "{told}");
}

#[test]
fn what_does_not_fit_or_is_not_there_is_told() {
    let host = Host::new();
    host.file(".git/HEAD", "ref: refs/heads/main\n");
    host.file("AGENTS.md", &format!("@gone.md\n{}", "a rule of the root\n".repeat(3000)));
    host.file("a/AGENTS.md", "RULE-A\n");
    host.script([say("ok")]);
    let run = host.task("hi").cwd("a").run().ok();
    let notices: Vec<_> =
        run.notices("rules").iter().map(|notice| notice["text"].as_str().unwrap().to_owned()).collect();
    assert!(notices.len() == 2 && notices[0].contains("imports @gone.md, which is not there"), "{notices:?}");
    assert!(notices[1].contains("AGENTS.md are left out: all rules together may take 32,768 bytes"), "{notices:?}");
    let system = host.request(0).system().to_owned();
    assert!(system.contains("RULE-A") && system.contains("bytes left out; read the file if you need them"));
    assert!(system.lines().filter(|line| line.contains("a rule of")).all(|line| line == "a rule of the root"));
}

#[test]
fn a_foreign_repository_shows_nothing_of_the_rest_of_the_machine() {
    let host = Host::new();
    host.file(host.home().join("secret.txt"), "PRECIOUS\n");
    host.file(".git/HEAD", "ref: refs/heads/main\n");
    host.file("AGENTS.md", "@link.md @~/secret.txt @../config/config.json\n");
    std::os::unix::fs::symlink(host.home().join("secret.txt"), host.work().join("link.md")).unwrap();
    std::os::unix::fs::symlink(host.home().join("secret.txt"), host.work().join("CLAUDE.md")).unwrap();
    host.file("a/f.txt", "x");
    std::os::unix::fs::symlink(host.home().join("secret.txt"), host.work().join("a/AGENTS.md")).unwrap();
    host.script([call("read_file", json!({"path": "a/f.txt"})), say("ok")]);
    let run = host.task("hi").run().ok();
    assert!(!host.request(0).mentions("PRECIOUS") && !host.request(1).mentions("PRECIOUS"));
    assert_eq!(run.notices("rules").len(), 4, "{:?}", run.notices("rules"));
}

#[test]
fn what_is_remembered_begins_the_next_session() {
    let host = Host::new();
    host.file(".git/HEAD", "ref: refs/heads/main\n");
    host.file("src/main.rs", "");
    let wish = json!({"text": "Answer in\nC major.", "scope": "user"});
    host.script([
        calls([Call::new("c1", "remember", json!({"text": "Tests need make db."})), Call::new("c2", "remember", wish)]),
        say("noted"),
    ]);
    host.task("remember").cwd("src").run().ok();
    assert!(host.request(1).result("c1").contains(".viola/MEMORY.md"), "{}", host.request(1).result("c1"));
    assert!(host.read(".viola/MEMORY.md").contains(": Tests need make db.\n"));
    host.script([say("ok")]);
    host.print("hi").run().ok();
    let system = host.request(2).system().to_owned();
    assert!(system.find(": Answer in C major.").unwrap() < system.find(": Tests need make db.").unwrap(), "{system}");
}

#[test]
fn nothing_is_remembered_without_a_permission() {
    let host = Host::new();
    host.script([call("remember", json!({"text": "x"})), say("ok")]);
    host.print("go").run().exits(3);
    assert!(!host.exists(".viola"));
}

#[test]
fn the_rules_can_be_looked_at() {
    let host = Host::new();
    assert!(host.agent(&["config", "show", "--rules"]).run().ok().stdout.contains("no rules are sent here"));
    host.file(host.config_dir().join("AGENTS.md"), "RULE-USER\n");
    host.file(".git/HEAD", "ref: refs/heads/main\n");
    host.file("AGENTS.md", "RULE-ROOT \u{202e}\n@docs/style.md @gone.md\n");
    host.file("docs/style.md", "RULE-STYLE\n");
    let shown = host.agent(&["config", "show", "--rules"]).run().ok().says(&["imports @gone.md, which is not there"]);
    for text in ["  user\n", "  repository root\n", "  imported by ", "of at most 32,768 bytes", "RULE-ROOT ⟨RLO⟩\n"]
    {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    let told = host.agent(&["config", "show", "--rules", "--json"]).run().ok().json();
    host.script([say("ok")]);
    host.print("hi").run().ok();
    assert!(host.request(0).system().contains(told["text"].as_str().unwrap()), "it is what is sent");
    let files: Vec<_> = told["files"].as_array().unwrap().iter().map(|file| file["why"].as_str().unwrap()).collect();
    assert_eq!(files, ["user", "import", "repository root"]);
    assert_eq!((&told["files"][0]["bytes"], &told["budget"]), (&json!(10), &json!(32_768)));
}

#[test]
fn a_broken_configuration_does_not_hide_the_rules() {
    let host = Host::new();
    host.config(json!({"no_such_key": 1}));
    host.file("AGENTS.md", "RULE-ROOT\n");
    let shown = host.agent(&["config", "show", "--rules"]).run().ok().says(&["no_such_key"]);
    assert!(shown.stdout.contains("RULE-ROOT"));
}
