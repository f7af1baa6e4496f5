//! Sessions: what is written, what is taken up again, and what survives a crash.

use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::SystemTime;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Call, Host, MODEL, PROVIDER, Role, Wire, calls, say};

/// A host with a session of one question and its answer.
fn begun() -> Host {
    let host = Host::new();
    host.script([say("one")]);
    host.print("first").run().ok();
    host
}

/// The last lines of what the user said: the agent may put context before them.
fn asked(host: &Host, request: usize) -> Vec<String> {
    let request = host.request(request);
    request.said(Role::User).iter().filter_map(|text| text.lines().last()).map(str::to_owned).collect()
}

#[test]
fn records_have_the_documented_shape() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.file("a.txt", "data");
        let read = Call::new("c1", "read_file", json!({"path": "a.txt"}));
        host.script([calls([read]).text("Reading.").thought("Hm.", "SEAL"), say("It says data.")]);
        let run = host.task("look").with(&["--reasoning-effort", "high"]).run().ok();
        let session = host.session();
        let header = session.header();
        assert_eq!((&header["id"], &run.result()["session_id"]), (&json!(session.id()), &json!(session.id())));
        assert_eq!(
            (&header["version"], &header["cwd"], &header["parent"]),
            (&json!(1), &json!(host.work()), &Value::Null)
        );
        assert_eq!((&header["provider"], &header["model"]), (&json!(PROVIDER), &json!(MODEL)));

        let messages = session.messages();
        let ids: Vec<&Value> = messages.iter().map(|message| &message["id"]).collect();
        let parents: Vec<&Value> = messages.iter().map(|message| &message["parent_id"]).collect();
        assert_eq!((parents[0], &parents[1..]), (&Value::Null, &ids[..3]));
        let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
        let parts = messages[1]["content"].as_array().unwrap();
        assert_eq!((&parts[0]["type"], &parts[0]["text"]), (&json!("reasoning"), &json!("Hm.")));
        assert_eq!(parts[2], json!({"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.txt"}}));
        assert_eq!(
            (&messages[1]["stop_reason"], &messages[1]["usage"]["output_tokens"]),
            (&json!("tool_use"), &json!(10))
        );
        let result = &messages[2]["content"][0];
        assert_eq!(
            (&result["type"], &result["tool_use_id"], &result["is_error"]),
            (&json!("tool_result"), &json!("c1"), &json!(false))
        );
        assert!(result["content"][0]["text"].as_str().unwrap().contains("data"));
    }
}

#[test]
fn continuing_sends_the_same_history() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.script([calls([Call::new("c1", "list_files", json!({}))]), say("one"), say("two"), say("three")]);
        host.task("first").run().ok();
        host.print("second").with(&["-c"]).run().is(0, "two\n", &[]);
        let id = host.session().id();
        host.print("third").with(&["--session", &id]).run().is(0, "three\n", &[]);
        assert_eq!(asked(&host, 3), ["first", "second", "third"]);
        assert_eq!(host.session().texts("assistant"), ["", "one", "two", "three"]);
    }
}

#[test]
fn a_fork_goes_another_way_and_leaves_the_other_alone() {
    let host = begun();
    host.script([say("two"), say("other two")]);
    host.print("second").with(&["-c"]).run().ok();
    let parent = host.session();
    let before = std::fs::read(&parent.path).unwrap();
    let (id, at) = (parent.id(), parent.messages()[1]["id"].to_string());
    host.server.allow_changed_prefix();
    host.print("second, differently").with(&["--fork", &id, "--at", &at]).run().ok();
    assert_eq!(asked(&host, 2), ["first", "second, differently"]);
    assert_eq!(std::fs::read(&parent.path).unwrap(), before);
    let unknown = host.print("x").with(&["--fork", &id, "--at", "99"]).run();
    assert!(unknown.stderr.contains("has no message 99") && unknown.stderr.contains("1-4"), "{}", unknown.stderr);
    for wrong in [&["--fork", "x", "-c"][..], &["--fork", "x", "--session", "y"], &["--at", "1"]] {
        assert_eq!(host.print("x").with(wrong).run().code, 2, "{wrong:?}");
    }
}

#[test]
fn continuing_stays_in_its_directory_and_says_when_there_is_nothing() {
    let host = begun();
    host.file("elsewhere/x", "");
    host.script([say("two"), say("three")]);
    host.print("there").with(&["-c"]).cwd("elsewhere").run().ok().says(&["session"]);
    assert_eq!(asked(&host, 1), ["there"]);
    host.print("here").with(&["-c"]).run().ok();
    assert_eq!(asked(&host, 2), ["first", "here"]);
}

#[test]
fn a_file_that_changed_between_two_runs_is_not_replaced() {
    let host = Host::new();
    host.file("read.txt", "as it was\n");
    host.file("changed.txt", "as it was\n");
    let read = |id, path: &str| Call::new(id, "read_file", json!({"path": path}));
    let write =
        |id, path: &str| Call::new(id, "write_file", json!({"path": host.work().join(path), "content": "ours\n"}));
    host.script([calls([read("c1", "read.txt"), read("c2", "changed.txt")]), say("seen")]);
    host.task("first").run().ok();
    // The system's clock of files is coarse: a change is one only once it is later than what was kept.
    let kept = host.session().messages().last().unwrap()["timestamp"].as_i64().unwrap();
    let changed = || host.file("changed.txt", "somebody else's\n").metadata().unwrap().modified().unwrap();
    let since = |moment: SystemTime| moment.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    while since(changed()) <= kept as u128 {
        thread::yield_now();
    }
    host.file("new.txt", "never read\n");
    host.script([calls([write("c3", "read.txt"), write("c4", "changed.txt"), write("c5", "new.txt")]), say("done")]);
    host.task("second").with(&["-c"]).run().ok();
    let contents = ["read.txt", "changed.txt", "new.txt"].map(|path| host.read(path));
    assert_eq!(contents, ["ours\n", "somebody else's\n", "ours\n"]);
    let request = host.request(3);
    assert!(!request.result("c3").contains("not been read"), "{}", request.result("c3"));
    assert!(request.result("c4").contains("has changed since"), "{}", request.result("c4"));
    assert!(request.result("c5").contains("had not been read"), "{}", request.result("c5"));
}

#[test]
fn a_session_without_its_first_line_goes_on() {
    let host = begun();
    let session = host.session();
    let path = host.data_dir().join("sessions");
    let folder = path.read_dir().unwrap().next().unwrap().unwrap().path();
    let path = folder.join(session.id()).with_extension("jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.split_once('\n').unwrap().1).unwrap();
    let listed = host.agent(&["sessions", "list", "--json"]).run().ok().json();
    assert_eq!((&listed[0]["id"], &listed[0]["cwd"]), (&json!(session.id()), &json!(host.work())));
    let shown = host.agent(&["sessions", "show", &session.id()]).run().ok();
    assert!(shown.stdout.contains("first") && shown.stdout.contains("1 line could not be read"), "{}", shown.stdout);
    host.script([say("two")]);
    let run = host.task("second").with(&["-c"]).run().ok();
    assert_eq!((run.notices("session").len(), run.result()["session_id"].as_str()), (1, Some(session.id().as_str())));
    assert_eq!(asked(&host, 1), ["first", "second"]);
}

#[test]
fn a_session_that_may_not_be_written_goes_on_in_memory() {
    let host = Host::new();
    let program = env!("CARGO_BIN_EXE_agent");
    let script = host.file("start", &format!("#!/bin/sh\nulimit -f 0\nexec {program} \"$@\"\n"));
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    host.script([say("one")]);
    let run = host.task("first").start_program(&script).wait().ok();
    assert_eq!(run.result()["text"], "one");
    let notices = run.notices("session");
    assert!(notices[0]["text"].as_str().unwrap().contains("goes on in memory"), "{notices:?}");
}

#[test]
fn after_a_kill_in_mid_batch_the_talk_goes_on() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        let shell = |id, command: &str| Call::new(id, "execute_bash", json!({"command": command}));
        host.script([calls([shell("c1", "echo quick"), shell("c2", "sleep 60")]), say("on we go")]);
        let running = host.task("first").start();
        running.wait_stdout("\"tool_end\"");
        host.wait_process("sleep 60");
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code, 137);
        host.print("second").with(&["-c"]).run().is(0, "on we go\n", &[]);
        let request = host.request(1);
        assert_eq!(request.answered(), ["c1", "c2"]);
        assert!(request.result("c1").contains("quick"), "what was shown as done is kept");
        assert!(
            ["lost", "interrupted"].iter().any(|word| request.result("c2").contains(word)),
            "{}",
            request.result("c2")
        );
    }
}

#[test]
fn an_interrupted_call_has_a_result_for_good() {
    let host = Host::new();
    host.script([calls([Call::new("c1", "execute_bash", json!({"command": "sleep 60"}))]), say("two"), say("three")]);
    let running = host.task("first").start();
    host.wait_process("sleep 60");
    running.signal(Signal::INT);
    running.wait().exits(130);
    host.print("second").with(&["-c"]).run().ok();
    assert!(host.request(1).result("c1").to_lowercase().contains("interrupt"));
    host.print("third").with(&["-c"]).run().ok();
    assert_eq!(asked(&host, 2), ["first", "second", "third"]);
}

#[test]
fn damage_is_skipped_counted_and_swallows_nothing() {
    let torn = [r#"{"type":"message","id":3,"parent_id":2,"role":"us"#, "\0\0\0\0", "{broken}\n", "\u{fffd}\n\n"];
    for damage in torn {
        let host = begun();
        host.session().append(damage);
        host.script([say("two"), say("three")]);
        let run = host.task("second").with(&["-c"]).run().ok();
        let counted = run.notices("session").iter().any(|notice| notice["text"].as_str().unwrap().contains('1'));
        assert!(counted, "no notice counts what was skipped: {}", run.stdout);
        host.print("third").with(&["-c"]).run().ok();
        assert_eq!(asked(&host, 2), ["first", "second", "third"], "{damage:?}");
    }
}

#[test]
fn a_foreign_file_is_refused_and_untouched() {
    let host = Host::new();
    for content in ["not a session\n", "{\"some\": \"json\"}\n"] {
        let path = host.file("notes.jsonl", content);
        let run = host.print("hi").with(&["--session", path.to_str().unwrap()]).run();
        assert!(run.code != 0 && run.stderr.contains("notes.jsonl"), "{run:?}");
        assert_eq!(host.read("notes.jsonl"), content);
    }
    assert!(host.server.requests().is_empty());
}

#[test]
fn what_is_kept_is_private() {
    let host = Host::new();
    host.script([calls([Call::new("c1", "execute_bash", json!({"command": "seq 1 20000"}))]), say("ok")]);
    host.task("go").run().ok();
    assert!(host.sessions().len() == 1 && host.open_to_others().is_empty(), "{:?}", host.open_to_others());
}

#[test]
fn no_session_leaves_no_session() {
    let host = Host::new();
    host.script([say("one")]);
    host.print("hi").with(&["--no-session"]).run().is(0, "one\n", &[]);
    let both = host.print("hi").with(&["-c", "--no-session"]).run().exits(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
    assert!(host.sessions().is_empty() && !host.state().contains("\"one\""));
}

#[test]
fn runs_at_the_same_time_have_sessions_of_their_own() {
    let host = Host::new();
    host.server.answer(|_| say("ok"));
    thread::scope(|scope| {
        for number in 0..4 {
            let host = &host;
            scope.spawn(move || host.print(&format!("task {number}")).run().ok());
        }
    });
    assert_eq!(host.sessions().len(), 4);
    assert!(host.sessions().iter().all(|session| session.broken == 0 && session.messages().len() == 2));
}

#[test]
fn a_session_is_listed() {
    let host = begun();
    let listed = host.agent(&["sessions", "list", "--json"]).run().ok().json();
    assert!(listed.to_string().contains(&host.session().id()));
}

/// Who may not look cannot say that nothing is there.
#[test]
fn what_may_not_be_read_is_not_called_absent() {
    let host = Host::new();
    let Some(program) = host.powerless() else { return };
    host.script([say("one")]);
    host.print("first").run().ok();
    let id = host.session().id().to_owned();
    host.file("priv/key.txt", "inside");
    let closed = [host.data_dir().join("sessions"), host.config_dir().join("sub"), host.work().join("priv")];
    std::fs::create_dir(&closed[1]).unwrap();
    let close = |mode| {
        for folder in &closed {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    close(0);
    let run = |arguments: &[&str]| host.agent(arguments).start_program(&program).wait();
    for arguments in [
        &["-p", "-c", "go on"][..],
        &["-p", "--session", &id, "go on"],
        &["sessions", "list"],
        &["sessions", "list", "--all"],
        &["sessions", "show", &id],
    ] {
        run(arguments).is(1, "", &["cannot look for sessions in ", "ermission denied"]);
    }
    let doctor = host.agent(&["doctor"]).env("VIOLA_CONFIG_DIR", closed[1].to_str().unwrap());
    let doctor = doctor.start_program(&program).wait();
    assert!(doctor.stdout.contains("config.json (cannot be looked at: permission denied)"), "{}", doctor.stdout);
    host.script([
        calls([
            Call::new("c1", "search_files", json!({"pattern": "x", "path": "priv"})),
            Call::new("c2", "find_files", json!({"pattern": "*", "path": "priv"})),
            Call::new("c3", "read_file", json!({"path": "priv/key.txt"})),
            Call::new("c4", "search_files", json!({"pattern": "x", "path": "priv/key.txt"})),
            Call::new("c5", "search_files", json!({"pattern": "inside"})),
        ]),
        say("done"),
    ]);
    let attached = run(&["-p", "--no-session", "x @priv/key.txt."]);
    close(0o700);
    assert!(attached.stderr.contains("@priv/key.txt was not attached: permission denied"), "{}", attached.stderr);
    let request = host.request(2);
    for id in ["c1", "c2", "c3", "c4"] {
        let told = request.result(id);
        assert!(told.contains("permission denied") && !told.contains("no such"), "{id}: {told}");
    }
    assert!(request.result("c5").contains("not searched: 1 unreadable"), "{}", request.result("c5"));
}

#[test]
fn a_list_has_an_index_that_may_be_lost_at_any_time() {
    let host = begun();
    let listed = || host.agent(&["sessions", "list", "--all", "--json"]).run().ok().json();
    let first = listed();
    assert_eq!((&first[0]["title"], &first[0]["messages"]), (&json!("first"), &json!(2)));
    let index = host.data_dir().join("sessions/index");
    assert!(index.exists() && host.open_to_others().is_empty());
    assert_eq!(listed(), first);
    for damaged in ["", "garbage", "{\"type\":\"index\",\"version\":1,\"hash\":0}\n{}\n"] {
        host.file(&index, damaged);
        assert_eq!(listed(), first, "{damaged}");
    }
    host.script([say("two")]);
    host.print("second").with(&["-c"]).run().ok();
    let grown = listed();
    assert_eq!((&grown[0]["title"], &grown[0]["messages"]), (&json!("first"), &json!(4)));
}

#[test]
fn sessions_are_named_and_deleted_for_good() {
    let host = begun();
    let id = host.session().id();
    host.agent(&["sessions", "name", &id, "my name"]).run().is(0, &format!("named {id}\n"), &[]);
    assert!(host.agent(&["sessions", "list"]).run().ok().stdout.contains("my name"));
    host.agent(&["sessions", "rm", &id]).stdin("n\n").run().is(
        1,
        &format!("{id}  my name\ndelete this session for good? [y/N] \nnothing was deleted\n"),
        &[],
    );
    host.agent(&["sessions", "rm", "nobody", "--yes"]).run().is(2, "", &["no session has the id", "hint:"]);
    assert_eq!(host.sessions().len(), 1);
    let checkpoints = host.file(host.data_dir().join("checkpoints").join(&id).join("x"), "");
    let run = host.agent(&["sessions", "rm", &id]).stdin("y\n").run().ok();
    assert!(run.stdout.ends_with(&format!("deleted {id}\n")), "{}", run.stdout);
    assert!(host.sessions().is_empty() && !checkpoints.exists());
}

#[test]
fn one_that_is_open_is_neither_named_nor_deleted() {
    let host = Host::new();
    host.script([say("one").stall_after(1)]);
    let mut running = host.print("first").start();
    while host.sessions().is_empty() {
        thread::yield_now();
    }
    let id = host.session().id();
    host.agent(&["sessions", "rm", "--yes", &id]).run().is(1, "", &["is open in another process"]);
    host.agent(&["sessions", "name", &id, "x"]).run().is(1, "", &["is open in another process"]);
    running.insist(Signal::TERM);
    running.wait();
    host.agent(&["sessions", "rm", "--yes", &id]).run().ok();
    assert!(host.sessions().is_empty());
}

#[test]
fn all_sessions_are_added_up() {
    let host = begun();
    let stats = host.agent(&["sessions", "stats", "--json"]).run().ok().json();
    assert_eq!((&stats["sessions"], &stats["messages"], &stats["total"]["answers"]), (&json!(1), &json!(2), &json!(1)));
    assert!(stats["disk"]["sessions"]["bytes"].as_u64().unwrap() > 0);
    let text = host.agent(&["sessions", "stats"]).run().ok().stdout;
    assert!(text.starts_with("1 session, 2 messages\n") && text.contains(MODEL), "{text}");
}
