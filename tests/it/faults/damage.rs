//! Session files as crashes, file systems and foreign hands leave them. What is whole goes on, in a legal request; what
//! this version does not know is left alone.

use std::fs;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::support::{Call, Host, Role, Wire, calls, environment, say, side_by_side};

/// How many damaged files are gone on with.
const FILES: u64 = 40;

/// A host with a session of two tasks, and its lines.
fn begun(wire: Wire) -> (Host, Vec<String>) {
    let host = Host::on(wire);
    let shell = |id: &str, command: &str| Call::new(id, "execute_bash", json!({"command": command}));
    host.script([
        calls([shell("c1", "echo one"), shell("c2", "echo two")]).text("Both."),
        calls([shell("c3", "seq 1 50")]).thought("Hm.", "SEAL"),
        say("first answer"),
        say("second answer"),
    ]);
    host.task("first question").run().ok();
    host.task("second question").with(&["-c"]).run().ok();
    let text = fs::read_to_string(host.session().path).unwrap();
    (host, text.lines().map(str::to_owned).collect())
}

/// Does one thing to a file's lines, and tells whether the lines that were there are all whole and linked as before.
fn damage(lines: &mut Vec<String>, rng: &mut Rng) -> bool {
    let place = rng.usize(1..=lines.len());
    let garbage =
        ["not json", "{\"type\":\"message\",\"id\":", "{}", "[1,2]", "\"\"", "{\"type\":\"message\"}", "\u{fffd}\u{1}"];
    let nul = "\0".repeat(rng.usize(1..9000));
    let line = |lines: &[String], rng: &mut Rng| rng.usize(1..lines.len());
    match rng.u8(..8) {
        0 => lines.insert(place, garbage[rng.usize(..garbage.len())].to_owned()),
        1 => lines.insert(place, nul),
        // What follows on the same line as damage.
        2 => {
            let at = line(lines, rng);
            lines[at].insert_str(0, &nul);
        }
        3 => {
            let at = line(lines, rng);
            let torn: String = lines[at].chars().take(lines[at].len() / 2).collect();
            lines[at].insert_str(0, &torn);
        }
        4 => lines.push(lines[line(lines, rng)].chars().take(20).collect()),
        // From here on something is lost, or says something else.
        5 => {
            let at = line(lines, rng);
            lines.remove(at);
            return false;
        }
        6 => {
            let (at, id) = (line(lines, rng), rng.u64(..12));
            relink(&mut lines[at], "id", &json!(id));
            return false;
        }
        _ => {
            let (at, parent) = (line(lines, rng), [json!(4711), json!(null), json!("x"), json!(3), json!(9)]);
            relink(&mut lines[at], "parent_id", &parent[rng.usize(..parent.len())]);
            return false;
        }
    }
    true
}

/// Changes a link of a line, if it is one that has links.
fn relink(line: &mut String, key: &str, to: &Value) {
    if let Ok(mut value) = serde_json::from_str::<Value>(line)
        && value.get(key).is_some()
    {
        value[key] = to.clone();
        *line = value.to_string();
    }
}

#[test]
fn whatever_a_file_looks_like_the_request_is_legal() {
    let seed = environment("VIOLA_FAULTS_SEED").and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    side_by_side(Wire::ALL, |wire| {
        let (host, whole) = begun(wire);
        // What is left of the talk may be another one.
        host.server.allow_changed_prefix();
        host.server.answer(|_| say("on we go"));
        let path = host.session().path;
        for number in 0..FILES / Wire::ALL.len() as u64 {
            let mut rng = Rng::with_seed(seed.wrapping_add(number));
            let mut lines = whole.clone();
            let times = rng.usize(1..5);
            let all = (0..times).fold(true, |all, _| damage(&mut lines, &mut rng) && all);
            let end = ["", "\n", "\0\0\0"][rng.usize(..3)];
            let text = lines.join("\n") + end;
            fs::write(&path, &text).unwrap();
            let case = format!("VIOLA_FAULTS_SEED={seed}, {wire:?}, number {number}:\n{}", text.replace('\0', "␀"));
            host.task("check").with(&["-c"]).run().ok();
            assert_eq!(host.server.take_problems(), Vec::<String>::new(), "{case}");
            let requests = host.server.requests();
            let request = requests.last().unwrap();
            assert!(request.prompt().ends_with("check"), "{case}");
            if all {
                assert_eq!(request.answered(), ["c1", "c2", "c3"], "{case}");
                let said = [Role::User, Role::Assistant].map(|role| request.said(role).join("\n"));
                for text in ["first question", "second question"] {
                    assert!(said[0].contains(text), "{text} is lost; {case}");
                }
                for text in ["Both.", "first answer", "second answer"] {
                    assert!(said[1].contains(text), "{text} is lost; {case}");
                }
            }
            // Nothing that was there is changed.
            assert!(fs::read(&path).unwrap().starts_with(text.as_bytes()), "{case}");
        }
    });
}

#[test]
fn a_session_of_a_later_version_is_refused_and_untouched() {
    let (host, mut lines) = begun(Wire::Chat);
    let session = host.session();
    lines[0] = lines[0].replace("\"version\":1", "\"version\":2");
    // Not even what looks like damage to this version is touched.
    let text = lines.join("\n") + "\n{\"type\":\"message\",\"id\":99,\0\0";
    fs::write(&session.path, &text).unwrap();
    let (id, path) = (session.id(), session.path.to_str().unwrap().to_owned());
    let before = session.path.metadata().unwrap().modified().unwrap();
    for arguments in [
        &["-p", "-c", "go on"][..],
        &["-p", "--session", &id, "go on"],
        &["-p", "--session", &path, "go on"],
        &["sessions", "show", &id],
    ] {
        let run = host.agent(arguments).run().is(1, "", &["later version", "hint: update"]);
        assert!(run.stderr.contains(&id), "{}", run.stderr);
    }
    host.agent(&["sessions", "list"]).run().ok();
    assert_eq!(fs::read_to_string(&session.path).unwrap(), text);
    assert_eq!(session.path.metadata().unwrap().modified().unwrap(), before);
    assert_eq!(host.server.requests().len(), 4);
    host.script([say("anew")]);
    host.print("something else").run().is(0, "anew\n", &[]);
}
