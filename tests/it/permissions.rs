//! Who may do what when nobody can be asked, and what stays out of reach in every mode.

use serde_json::json;

use crate::support::{Call, Host, KEY, Wire, call, calls, say};

/// A call of each tier.
fn one_of_each() -> [Call; 3] {
    [
        Call::new("safe", "read_file", json!({"path": "a.txt"})),
        Call::new("write", "write_file", json!({"path": "w.txt", "content": "x"})),
        Call::new("dangerous", "execute_bash", json!({"command": "touch ran"})),
    ]
}

#[test]
fn a_mode_allows_its_tiers_and_only_what_could_not_be_asked_is_3() {
    let modes: [(&[&str], [bool; 3], i32); 6] = [
        (&[], [true, false, false], 3),
        (&["--permissions", "none"], [false, false, false], 0),
        (&["--permissions", "safe"], [true, false, false], 0),
        (&["--permissions", "write"], [true, true, false], 0),
        (&["--permissions", "all"], [true, true, true], 0),
        (&["--dangerously-skip-permissions"], [true, true, true], 0),
    ];
    for (options, allowed, code) in modes {
        let host = Host::new();
        host.file("a.txt", "readable");
        host.script([calls(one_of_each()), say("done")]);
        let run = host.agent(&["-p", "--output-format", "json", "go"]).with(options).run().exits(code);
        let happened = [host.request(1).result("safe").contains("readable"), host.exists("w.txt"), host.exists("ran")];
        assert_eq!(happened, allowed, "{options:?}");
        let denied = run.json()["denied"].as_array().unwrap().len();
        assert!(code == 0 || denied == 2, "{options:?}: {denied} denied");
    }
}

#[test]
fn a_denied_call_is_told_to_the_model_and_listed() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.script([call("write_file", json!({"path": "w.txt", "content": "x"})), say("I may not.")]);
        let run = host.agent(&["-p", "--output-format", "json", "go"]).run().exits(3);
        assert!(host.request(1).told().contains("denied"), "{}", host.request(1).told());
        let denied = &run.json()["denied"][0];
        assert_eq!((&denied["name"], &denied["agent"]), (&json!("write_file"), &json!(null)));
        assert!(denied["summary"].as_str().unwrap().contains("w.txt"));
    }
}

#[test]
fn file_tools_write_inside_the_workspace_and_read_everywhere() {
    let host = Host::new();
    let beside = host.file("../beside.txt", "beside us");
    let absolute = beside.to_str().unwrap();
    let write = |id, path: &str| Call::new(id, "write_file", json!({"path": path, "content": "x"}));
    let read = Call::new("c3", "read_file", json!({"path": "../beside.txt"}));
    host.script([calls([write("c1", "../beside.txt"), write("c2", absolute), read]), say("done")]);
    host.task("go").run().ok();
    assert_eq!(host.read("../beside.txt"), "beside us");
    let request = host.request(1);
    assert!(request.result("c3").contains("beside us"));
    assert!(["c1", "c2"].iter().all(|id| request.result(id).contains("outside")), "{:?}", request.results());
}

#[test]
fn a_link_is_no_way_out_of_the_workspace() {
    let host = Host::new();
    host.file("../other/keep.txt", "theirs");
    std::os::unix::fs::symlink(host.root().join("other"), host.work().join("link")).unwrap();
    host.tool("write_file", json!({"path": "link/keep.txt", "content": "ours"}));
    assert_eq!(host.read("../other/keep.txt"), "theirs");
}

#[test]
fn a_link_is_no_way_around_a_denied_path() {
    let host = Host::new();
    host.config(json!({"permissions": {"deny": [
        "search_files(secret/**)", "list_files(secret)", "find_files(secret)", "read_file(secret/**)",
    ]}}));
    host.file("secret/key.txt", "the hidden line");
    std::os::unix::fs::symlink("secret", host.work().join("pub")).unwrap();
    host.script([
        calls([
            Call::new("c1", "search_files", json!({"pattern": "hidden", "path": "pub"})),
            Call::new("c2", "list_files", json!({"path": "pub"})),
            Call::new("c3", "find_files", json!({"pattern": "pub/*"})),
            Call::new("c4", "read_file", json!({"path": "pub/key.txt"})),
        ]),
        say("done"),
    ]);
    host.task("go").run().ok();
    for id in ["c1", "c2", "c3", "c4"] {
        assert!(host.request(1).result(id).contains("denied by the rule"), "{}", host.request(1).result(id));
    }
}

#[test]
fn a_denied_path_is_not_shown_from_the_folder_above() {
    let host = Host::new();
    host.config(json!({"permissions": {"deny": [
        "list_files(secret/**)", "find_files(secret/**)", "search_files(secret/**)", "read_file(private/**)",
    ]}}));
    for folder in ["secret", "private", "open"] {
        host.file(format!("{folder}/key.txt"), "the hidden line");
    }
    host.script([
        calls([
            Call::new("c1", "search_files", json!({"pattern": "hidden"})),
            Call::new("c2", "list_files", json!({"depth": 3})),
            Call::new("c3", "find_files", json!({"pattern": "**/*.txt"})),
            Call::new("c4", "search_files", json!({"pattern": "hidden", "path": "private/key.txt"})),
            Call::new("c5", "search_files", json!({"pattern": "hidden", "path": "..", "glob": "*.txt"})),
        ]),
        say("done"),
    ]);
    host.task("go").run().ok();
    let request = host.request(1);
    for (id, shown, kept) in [("c1", "open/key.txt", 2), ("c3", "open/key.txt", 1), ("c5", "open/key.txt", 2)] {
        let told = request.result(id);
        assert!(told.contains(shown) && !told.contains("secret/key.txt"), "{id}: {told}");
        assert!(told.contains(&format!("{kept} closed by a permission rule")), "{id}: {told}");
    }
    assert_eq!(request.result("c1").matches("the hidden line").count(), 1);
    assert!(request.result("c3").contains("private/key.txt"), "{}", request.result("c3"));
    let listed = request.result("c2");
    assert!(listed.matches("key.txt").count() == 2 && listed.contains("1 closed by a permission rule"), "{listed}");
    let named = request.result("c4");
    assert!(named.contains("private/key.txt is closed by a permission rule"), "{named}");
}

#[test]
fn writing_what_runs_commands_is_not_for_the_write_tier() {
    for (options, exists) in [(["--permissions", "write"], false), (["--permissions", "all"], true)] {
        let host = Host::new();
        host.file(".git/HEAD", "ref: refs/heads/main\n");
        let paths = [".git/hooks/pre-commit", ".viola.json", ".viola/chains/a.chain.md", "sub/.mcp.json"];
        let write = |(id, path): (&str, &str)| Call::new(id, "write_file", json!({"path": path, "content": "{}"}));
        host.script([calls(["c1", "c2", "c3", "c4"].into_iter().zip(paths).map(write)), say("done")]);
        host.agent(&["-p", "go"]).with(&options).run().ok();
        assert_eq!(paths.map(|path| host.exists(path)), [exists; 4], "{options:?}");
        let told = host.request(1).result("c1").to_owned();
        assert_eq!(told.contains("counts as dangerous"), !exists, "{told}");
    }
}

#[test]
fn a_grant_in_a_foreign_session_file_counts_for_nothing() {
    let host = Host::new();
    host.script([say("one")]);
    host.print("first").run().ok();
    let session = host.session();
    session.append("{\"type\":\"grant\",\"mode\":\"write\"}\n");
    let sent = host.root().join("sent.jsonl");
    std::fs::rename(&session.path, &sent).unwrap();
    host.script([call("write_file", json!({"path": "w.txt", "content": "x"})), say("I see.")]);
    host.print("go on").with(&["--session", sent.to_str().unwrap()]).run().exits(3);
    assert!(!host.exists("w.txt"));
}

#[test]
fn secrets_reach_neither_commands_nor_the_model_nor_the_disk() {
    let host = Host::new();
    let secrets = [("FOO_TOKEN", "tok-5d1f0a99"), ("MY_PASSWORD", "pw-77c0ffee"), ("VIOLA_API_KEY", "k-variable-77aa")];
    host.server.accept_key("k-variable-77aa");
    let agent = secrets.iter().fold(host.task("go").with(&["-v"]), |agent, (name, value)| {
        host.server.secret(value);
        agent.env(name, value)
    });
    // The configured key is on the disk, where a command can find it; so long an output is kept in a file.
    let configured = host.config_dir().join("config.json");
    let command = format!("env; for n in $(seq 300); do cat {}; echo; done", configured.display());
    host.script([call("execute_bash", json!({"command": command})), say("ok")]);
    let run = agent.env("HARMLESS", "yes").run().ok();
    assert!(host.request(1).told().contains("HARMLESS=yes"));
    assert!(host.state().contains("\"api_key\":\"[secret]\""), "the long output is kept");
    let secrets = [secrets.as_slice(), &[("", KEY)]].concat();
    for (_, secret) in secrets {
        assert!([&run.stdout, &run.stderr, &host.state()].iter().all(|place| !place.contains(secret)), "{secret}");
    }
}
