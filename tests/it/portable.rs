//! Sessions taken out, taken in, and searched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Call, Host, KEY, Role, Wire, calls, say};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import").join(format!("{name}.jsonl"))
}

/// A host with two sessions: one that reads a file, one that says little.
fn talked() -> (Host, String) {
    let host = Host::new();
    host.file("a.txt", &format!("marzipan and {KEY}\n"));
    host.script([calls([Call::new("c1", "read_file", json!({"path": "a.txt"}))]), say("It *mentions* marzipan.")]);
    host.print("first talk").run().ok();
    let first = host.session().id();
    host.script([say("Nothing.")]);
    host.print("second talk").run().ok();
    (host, first)
}

#[test]
fn words_are_found_in_all_sessions() {
    let (host, first) = talked();
    let found = host.agent(&["sessions", "search", "marzipan", "--json"]).run().ok().json();
    let hits = found.as_array().unwrap();
    assert!(hits.iter().all(|hit| hit["session"] == *first));
    let roles: Vec<&Value> = hits.iter().map(|hit| &hit["role"]).collect();
    assert_eq!(roles, ["assistant", "result"]);
    assert_eq!((&hits[0]["match"], &hits[0]["title"]), (&json!("marzipan"), &json!("first talk")));
    host.agent(&["sessions", "search", "<environment>"]).run().exits(1);
    let shown = host.agent(&["sessions", "search", "mentions"]).run().ok().stdout;
    assert!(shown.starts_with(&first) && shown.contains("It *»mentions«* marzipan."), "{shown}");
    let limited = host.agent(&["sessions", "search", "talk", "--limit", "1", "--here"]).run().ok();
    assert_eq!(limited.stdout.lines().count(), 2);
    limited.says(&["1 older hit not shown"]);
    host.agent(&["sessions", "search", "Marzipan"]).run().is(1, "", &["nothing found"]);
    host.agent(&["sessions", "search", "nougat", "--json"]).run().is(1, "[]\n", &["nothing found"]);
    host.file("elsewhere/x", "");
    host.agent(&["sessions", "search", "marzipan", "--here"]).cwd("elsewhere").run().is(1, "", &["nothing found"]);
}

#[test]
fn a_session_is_written_out_in_four_formats_without_secrets() {
    let (host, first) = talked();
    let page = host.agent(&["sessions", "export", &first]).run().ok().stdout;
    for part in ["# first talk", "## User · ", "### Call of `read_file`", "It *mentions* marzipan."] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(KEY));
    host.agent(&["sessions", "export", &first, "-o", "out.html"]).run().is(0, "", &["out.html"]);
    let page = host.read("out.html");
    assert!(page.contains("It <em>mentions</em> marzipan.") && !page.contains(KEY));
    let mode = fs::metadata(host.work().join("out.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    host.agent(&["sessions", "export", &first, "-o", "out.html"]).run().exits(2).says(&["is there already", "--force"]);
    host.agent(&["sessions", "export", &first, "-o", "out.html", "--force"]).run().ok();
    let object = host.agent(&["sessions", "export", &first, "--format", "json"]).run().ok().json();
    assert_eq!((&object["id"], object["messages"].as_array().map(Vec::len)), (&json!(first), Some(4)));
    host.agent(&["sessions", "export", &first, "--format", "html", "--all-branches"]).run().exits(2);
    host.agent(&["sessions", "export", "nobody"]).run().exits(2).says(&["nobody"]);
}

#[test]
fn an_exported_session_is_gone_on_with() {
    let (host, first) = talked();
    host.agent(&["sessions", "export", &first, "-o", "taken/out.jsonl"]).run().exits(2);
    host.file("taken/x", "");
    host.agent(&["sessions", "export", &first, "-o", "taken/out.jsonl"]).run().ok();
    host.script([say("Still there.")]);
    host.print("go on").with(&["--session", "taken/out.jsonl"]).run().is(0, "Still there.\n", &[]);
    let asked = host.request(3);
    assert!(asked.said(Role::User)[0].ends_with("first talk"), "{:?}", asked.said(Role::User));
    assert!(asked.result("c1").contains("marzipan"));
}

#[test]
fn sessions_of_other_programs_are_gone_on_with() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        for (number, (name, said)) in [
            ("pi", "second question"),
            ("pi-v1", "after"),
            ("zaica", "list the files"),
            ("claude", "go on"),
            ("codex", "last question"),
        ]
        .into_iter()
        .enumerate()
        {
            let path = fixture(name);
            let run = host.agent(&["sessions", "import", path.to_str().unwrap(), "--json"]).run().ok();
            let id = run.json()[0]["id"].as_str().unwrap().to_owned();
            host.script([say("Gladly.")]);
            host.print("and then?").with(&["--session", &id]).run().is(0, "Gladly.\n", &[]);
            let request = host.request(number);
            let asked = request.said(Role::User).join("\n");
            assert!(asked.contains(said) && asked.ends_with("and then?"), "{name}: {asked}");
            assert!(!request.mentions("SEAL"));
        }
        let again = host.agent(&["sessions", "import", fixture("pi").to_str().unwrap()]).run().ok();
        assert!(again.stdout.contains("was imported before"), "{}", again.stdout);
    }
}

#[test]
fn a_folder_is_imported_and_what_is_left_out_is_told() {
    let host = Host::new();
    for name in ["pi", "codex"] {
        host.file(format!("from/deep/{name}.jsonl"), &fs::read_to_string(fixture(name)).unwrap());
    }
    host.file("from/other.jsonl", "{\"x\":1}\n");
    let run = host.agent(&["sessions", "import", "from"]).run().ok().says(&["1 other file passed over"]);
    assert!(run.stdout.contains("1 record of kind \"thinking_level_change\" left out"), "{}", run.stdout);
    let listed = host.agent(&["sessions", "list", "--all", "--json"]).run().ok().json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
    host.agent(&["sessions", "import", "from/other.jsonl"]).run().exits(2).says(&["no session of a known program"]);
    host.agent(&["sessions", "import", "from/other.jsonl", "--from", "zaica"]).run().ok();
    host.agent(&["sessions", "import", "none.jsonl"]).run().exits(1).says(&["none.jsonl"]);
}

#[test]
fn long_content_is_found_taken_out_and_taken_in() {
    let host = Host::new();
    let long = format!("{}needle\n", "hay and straw\n".repeat(2000));
    let lines = [
        json!({"type": "session", "version": 3, "id": "long", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": host.work()}),
        json!({"type": "message", "id": "a", "parentId": null, "timestamp": "2026-03-01T10:00:01.000Z",
            "message": {"role": "user", "content": long}}),
    ];
    host.file("long.jsonl", &lines.map(|line| format!("{line}\n")).concat());
    host.agent(&["sessions", "import", "long.jsonl"]).run().ok();
    let session = host.session();
    assert!(session.messages()[0]["content"][0]["blob"].is_string(), "kept beside the session");
    let found = host.agent(&["sessions", "search", "needle", "--json"]).run().ok().json();
    assert_eq!((&found[0]["session"], &found[0]["role"]), (&json!(session.id()), &json!("user")));
    let lines = host.agent(&["sessions", "export", &session.id(), "--format", "jsonl"]).run().ok().stdout;
    let message: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(message["content"], json!([{"type": "text", "text": long}]));
}
