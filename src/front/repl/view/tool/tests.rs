//! Tests of calls on the screen: the pictures, and that facts are read from what the tools really say.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::front::repl::view::testing::{assert_committed, assert_live, look, object, picture, styled};
use crate::front::repl::view::theme::Glyphs;
use crate::model::message::{ToolCall, ToolInput};

const WIDTHS: [usize; 3] = [40, 80, 120];

fn call(name: &str, arguments: Value) -> Call {
    Call::new("c1", name, object(arguments), Duration::ZERO)
}

fn done(output: &str, ms: u64) -> Finish {
    Finish { ok: true, output: output.to_owned(), duration: Some(Duration::from_millis(ms)), ..Finish::default() }
}

fn failed(output: &str, ms: u64) -> Finish {
    Finish { ok: false, ..done(output, ms) }
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|number| format!("{number}\tline {number}\n")).collect()
}

/// The calls of the picture of one turn.
fn turn() -> Vec<(Call, Finish)> {
    let before = "x\n".repeat(11) + "divide() {\necho $(( $1 / $2 ))\n}\n";
    let after = before.replace(
        "echo $(( $1 / $2 ))",
        "[ \"$2\" -ne 0 ] || { echo \"division by zero\" >&2; return 1; }\necho $(( $1 / $2 ))",
    );
    let change = Change::of("src/calc.sh", Some(before.replace("echo", "echo  ").as_bytes()), after.as_bytes());
    vec![
        (call("read_file", json!({"path": "tests/calc.sh"})), done(&numbered(41), 3)),
        (
            call("search_files", json!({"pattern": "divide", "path": "src"})),
            done("src/calc.sh:12: divide() {\nsrc/a:1: divide\nsrc/a:2: divide\n3 matches in 2 files", 3),
        ),
        (
            call("edit_file", json!({"path": "src/calc.sh", "edits": []})),
            Finish { change, ..done("edited src/calc.sh: 1 edit, +2 −1\n@@ …", 3) },
        ),
        (call("execute_bash", json!({"command": "sh tests/calc.sh"})), done("ok 1 of 3\nok 3 of 3\nexit code: 0", 120)),
    ]
}

fn pictured(calls: &[(Call, Finish)], width: usize) -> String {
    let blocks = calls.iter().flat_map(|(call, finish)| finished(call, finish, &look(width)));
    let lines: Vec<_> = blocks.collect();
    assert_committed(&lines);
    picture(&lines)
}

#[test]
fn one_turn() {
    insta::assert_snapshot!(pictured(&turn(), 80), @r#"
    |  ∙ read    tests/calc.sh                                             41 lines
    |  ∙ search  divide   in src                               3 matches in 2 files
    |  ∙ edit    src/calc.sh                                                  +2 −1
    |      10    x
    |      11    x
    |      12    divide() {
    |      13  - echo   $(( $1 / $2 ))
    |      13  + [ "$2" -ne 0 ] || { echo "division by zero" >&2; return 1; }
    |      14  + echo $(( $1 / $2 ))
    |      15    }
    |  ∙ bash    sh tests/calc.sh                                    exit 0 · 0.1 s
    |      ok 1 of 3
    |      ok 3 of 3
    "#);
    insta::assert_snapshot!(pictured(&turn(), 40), @r#"
    |  ∙ read tests/calc.sh        41 lines
    |  ∙ search divide in src     3 matches
    |  ∙ edit src/calc.sh             +2 −1
    |    13 - echo   $(( $1 / $2 ))
    |    13 + [ "$2" -ne 0 ] || { echo "division by zero" >&2; return 1; }
    |    14 + echo $(( $1 / $2 ))
    |  ∙ bash sh tests/calc.sh       exit 0
    |    ok 1 of 3
    |    ok 3 of 3
    "#);
    insta::assert_snapshot!(pictured(&turn(), 120), @r#"
    |  ∙ read    tests/calc.sh                                                                                     41 lines
    |  ∙ search  divide   in src                                                                       3 matches in 2 files
    |  ∙ edit    src/calc.sh                                                                                          +2 −1
    |      10    x
    |      11    x
    |      12    divide() {
    |      13  - echo   $(( $1 / $2 ))
    |      13  + [ "$2" -ne 0 ] || { echo "division by zero" >&2; return 1; }
    |      14  + echo $(( $1 / $2 ))
    |      15    }
    |  ∙ bash    sh tests/calc.sh                                                                            exit 0 · 0.1 s
    |      ok 1 of 3
    |      ok 3 of 3
    "#);
}

#[test]
fn only_verbs_changes_and_failures_have_colour() {
    let (call, finish) = turn().remove(3);
    insta::assert_snapshot!(styled(&finished(&call, &finish, &look(80))), @r"
    {cyan:∙} {cyan:bash   } sh tests/calc.sh                                    {dim:exit 0 · 0.1 s}
        {dim:ok 1 of 3}
        {dim:ok 3 of 3}
    ");
    insta::assert_snapshot!(styled(&finished(&call, &failed("no\nexit code: 1", 9), &look(80))), @r"
    {red:✗} {cyan:bash   } sh tests/calc.sh                                    {red:exit 1 · 0.0 s}
        no
    ");
}

#[test]
fn a_failed_command_shows_more() {
    let call = call("execute_bash", json!({"command": "cmake -B build"}));
    insta::assert_snapshot!(pictured(&[(call.clone(), failed("sh: cmake: not found\nexit code: 127", 3))], 80), @r"
    |  ✗ bash    cmake -B build                                    exit 127 · 0.0 s
    |      sh: cmake: not found
    ");
    let long: String = (1..=40).map(|number| format!("line {number}\n\n")).collect();
    let block = finished(&call, &failed(&format!("{long}exit code: 1"), 3), &look(80));
    assert_eq!(block.len(), 11);
    assert_eq!(finished(&call, &done(&format!("{long}exit code: 0"), 3), &look(80)).len(), 4);
}

#[test]
fn a_picture_says_what_it_is() {
    for (told, fact) in [
        (
            "a b: a JPEG picture, 4,000×3,000 px, 3.4 MB; scaled to 1568×1176 px (image/jpeg)",
            "JPEG, 4,000×3,000 px, 3.4 MB",
        ),
        ("a: a PNG picture, 640×480 px, 12 KB", "PNG, 640×480 px, 12 KB"),
        ("a: a big picture, of something", ""),
        ("1\tx: a PNG picture, 640×480 px, 12 KB\n2\ty", "2 lines"),
    ] {
        let block = finished(&call("read_file", json!({"path": "a"})), &done(told, 1), &look(80));
        let row = block[0].to_string();
        assert_eq!(row.trim_start().strip_prefix("∙ read    a").unwrap().trim(), fact, "{row}");
    }
}

#[test]
fn results_say_how_much() {
    let cut =
        "1\ta\n[... 41,213 of 71,213 characters omitted (lines 812–2,640 of 3,106); full output: /x ...]\n3106\tb";
    let new = Change::of("a", None, "x\n".repeat(12).as_bytes());
    for (name, arguments, finish, fact) in [
        ("read_file", json!({"path": "a"}), done("a is empty", 1), "empty"),
        ("read_file", json!({"path": "a"}), done("1\tx", 1), "1 line"),
        ("read_file", json!({"path": "a"}), done(cut, 1), "3,106 lines"),
        ("read_file", json!({"path": "a"}), done("5\ta\n6\tb\n[lines 5–6 of 812; go on with {}]", 1), "2 of 812 lines"),
        ("read_file", json!({"path": "a"}), done("what?", 1), ""),
        ("list_files", json!({}), done("src/\n  a  3 B\nb  4 B", 1), "3 entries"),
        ("list_files", json!({}), done("a\n(500 of 1,234 entries are shown; name a folder below)", 1), "1,234 entries"),
        ("list_files", json!({}), done("a\n(1 closed by sandbox.deny_read)", 1), "1 entry"),
        ("find_files", json!({"pattern": "*.rs"}), done("a.rs\nb.rs", 1), "2 files"),
        (
            "find_files",
            json!({"pattern": "*.rs"}),
            done("a\n(the first 500 of 1,234 files, by path; narrow)", 1),
            "1,234 files",
        ),
        ("find_files", json!({"pattern": "*.rs"}), done("no file matches under .", 1), "no file"),
        ("search_files", json!({"pattern": "x"}), done("no match in 12 files under .", 1), "no match"),
        (
            "search_files",
            json!({"pattern": "x"}),
            done("a:1: x\nthe first 1,100 matches in 12 files, by path; there are more: narrow", 1),
            "first 1,100 matches in 12 files",
        ),
        (
            "search_files",
            json!({"pattern": "x"}),
            done("a:1: x\n1 match in 1 file; 2 binary files left out", 1),
            "1 match in 1 file",
        ),
        (
            "write_file",
            json!({"path": "a"}),
            Finish { change: new, ..done("created a: 12 lines, 24 B", 1) },
            "new, 12 lines",
        ),
        ("write_file", json!({"path": "a"}), done("created a: 1 line, 6 B", 1), "new, 1 line"),
        ("write_file", json!({"path": "a"}), done("replaced a: 2 lines, 3 B, before 1 line, 6 B", 1), "2 lines"),
        (
            "write_file",
            json!({"path": "a"}),
            done("a already has exactly this content (1 line, 2 B); nothing", 1),
            "unchanged",
        ),
        ("edit_file", json!({"path": "a"}), done("edited a: b: 2 edits, +3 −2\n", 1), "+3 −2"),
        ("edit_file", json!({"path": "a"}), failed("edits[0] is not in the file", 1), "failed"),
        (
            "execute_bash",
            json!({"command": "a"}),
            failed("killed by signal 9 (SIGKILL)", 200_000),
            "killed by SIGKILL · 3 m 20 s",
        ),
        (
            "execute_bash",
            json!({"command": "a"}),
            failed("x\ntimed out after 60 s; raise it", 60_000),
            "timed out after 60 s · 1 m 0 s",
        ),
        (
            "execute_bash",
            json!({"command": "a"}),
            failed("x\ninterrupted: the command and all", 3_000),
            "stopped · 3.0 s",
        ),
        ("execute_bash", json!({"command": "a"}), failed("denied by the user: no", 0), "denied"),
        ("mcp__git__log", json!({"n": 3, "path": "a"}), done("x", 2_000), "2.0 s"),
    ] {
        let block = finished(&call(name, arguments), &finish, &look(100));
        let line: String = block[0].spans.iter().map(|span| span.content.as_ref()).collect();
        let shown = line.split("  ").last().unwrap().trim();
        assert!(if fact.is_empty() { line.ends_with(" a") } else { shown == fact }, "{line:?} {fact:?}");
    }
}

#[test]
fn denials_failures_and_the_plan() {
    let plan = json!({"steps": [
        {"text": "find the crash", "status": "completed"},
        {"text": "fix divide", "status": "in_progress"},
        {"text": "add a test", "status": "pending"},
    ]});
    let denied = "denied: ../x is outside the workspace /home/ada/calc; work inside it";
    let calls = [
        (call("write_file", json!({"path": "../x", "content": ""})), failed(denied, 0)),
        (call("execute_bash", json!({"command": "rm -rf /"})), failed("denied by the user: nothing may run", 0)),
        (
            call("read_file", json!({"path": "src/man.rs"})),
            failed("no such file: src/man.rs; did you mean src/main.rs?", 0),
        ),
        (call("mcp__github__create_issue", json!({"title": "It\nbreaks"})), done("#12", 10)),
        (call("update_plan", plan), done("noted", 0)),
    ];
    insta::assert_snapshot!(pictured(&calls, 80), @r"
    |  ∙ write   ../x                                                        denied
    |      ../x is outside the workspace /home/ada/calc
    |  ∙ bash    rm -rf /                                                    denied
    |  ✗ read    src/man.rs                                                  failed
    |      no such file: src/man.rs; did you mean src/main.rs?
    |  ∙ mcp__github__create_issue It …
    |  plan  ☑ find the crash   ▸ fix divide   ☐ add a test
    ");
    insta::assert_snapshot!(pictured(&calls, 40), @r"
    |  ∙ write ../x                  denied
    |    ../x is outside the workspace /home/ada/calc
    |  ∙ bash rm -rf /               denied
    |  ✗ read src/man.rs             failed
    |    no such file: src/man.rs; did you mean src/main.rs?
    |  ∙ mcp__github__creat… It …
    |  plan
    |    ☑ find the crash
    |    ▸ fix divide
    |    ☐ add a test
    ");
}

#[test]
fn a_new_file_shows_its_beginning() {
    let content: String = (1..=30).map(|number| format!("{number}\n")).collect();
    let change = Change::of("new.txt", None, content.as_bytes());
    let finish = Finish { change, ..done("created new.txt: 30 lines, 81 B", 1) };
    let call = call("write_file", json!({"path": "new.txt", "content": content}));
    let shown = pictured(&[(call.clone(), finish.clone())], 80);
    assert!(shown.contains("new, 30 lines") && shown.ends_with("… 20 more lines, ctrl-o shows all"), "{shown}");
    assert_eq!(expanded(&call, &finish, &look(80)).len(), 31);
}

#[test]
fn a_stored_edit_shows_the_diff_it_was_told() {
    let told = "edited a.sh: 1 edit, +1 −1\n@@ -1,2 +1,2 @@\n one\n-two\n+2";
    let finish = Finish { duration: None, ..done(told, 0) };
    insta::assert_snapshot!(pictured(&[(call("edit_file", json!({"path": "a.sh"})), finish)], 80), @r"
    |  ∙ edit    a.sh                                                         +1 −1
    |       1    one
    |       2  - two
    |       2  + 2
    ");
}

fn live() -> Vec<Call> {
    let mut bash = call("execute_bash", json!({"command": "cargo test --workspace"}));
    bash.say("   Compiling other v0.1.0\nCompiling viola v0.1.0\n\n");
    bash.say("test kernel::node::cancel ... ok");
    let read =
        Call { started: Duration::from_millis(11_500), ..call("read_file", json!({"path": "src/kernel/node.rs"})) };
    let agent = Call {
        started: Duration::from_millis(3_000),
        inner: Some(Inner { tools: 4, cost: Some(0.012) }),
        ..call("dispatch_agent", json!({"task": "find all callers of step()"}))
    };
    vec![bash, read, agent]
}

#[test]
fn while_it_works() {
    let shown = |width: usize| {
        let rows: Vec<_> =
            live().iter().flat_map(|call| running(call, Duration::from_secs(12), &look(width))).collect();
        assert_live(&rows, width);
        picture(&rows)
    };
    insta::assert_snapshot!(shown(80), @r"
    |  ∙ bash    cargo test --workspace                                        12 s
    |      Compiling viola v0.1.0
    |      test kernel::node::cancel ... ok
    |  ∙ read    src/kernel/node.rs
    |  ∙ agent   find all callers of step()                   4 tools · 9 s · $0.01
    ");
    insta::assert_snapshot!(shown(40), @r"
    |  ∙ bash cargo test --workspace   12 s
    |    Compiling viola v0.1.0
    |    test kernel::node::cancel ... ok
    |  ∙ read src/kernel/node.rs
    |  ∙ agent find all callers of st…  9 s
    ");
    insta::assert_snapshot!(shown(120), @r"
    |  ∙ bash    cargo test --workspace                                                                                12 s
    |      Compiling viola v0.1.0
    |      test kernel::node::cancel ... ok
    |  ∙ read    src/kernel/node.rs
    |  ∙ agent   find all callers of step()                                                           4 tools · 9 s · $0.01
    ");
}

#[test]
fn the_mark_breathes_four_times_a_second_at_most() {
    let call = call("read_file", json!({"path": "a"}));
    let mut rows: Vec<_> = (0..1_000).map(|ms| running(&call, Duration::from_millis(ms), &look(80))).collect();
    rows.dedup();
    assert_eq!(rows.len(), 4);
}

#[test]
fn all_of_it_is_shown_when_asked_for() {
    let command = "cat <<EOF\nhello\nEOF\n";
    let finish = Finish {
        full_output: Some("/data/output/c1".into()),
        ..done(&format!("{}exit code: 0", "y\n".repeat(2_500)), 1)
    };
    let block = expanded(&call("execute_bash", json!({"command": command})), &finish, &look(80));
    let shown = picture(&block);
    let start = "|  ∙ bash    cat <<EOF …                                         exit 0 · 0.0 s\n|      › cat <<EOF\n|        hello\n|        EOF\n|      y\n";
    assert!(shown.starts_with(start), "{shown}");
    assert!(shown.ends_with("|      … 501 more lines, full output: /data/output/c1"), "{shown}");
}

#[test]
fn the_name_of_a_file_survives() {
    let call =
        call("read_file", json!({"path": "/home/ada/projects/calculator/source/backend/operations/division.sh"}));
    insta::assert_snapshot!(pictured(&[(call.clone(), done(&numbered(41), 0))], 80), @"|  ∙ read    …/calculator/source/backend/operations/division.sh        41 lines");
    insta::assert_snapshot!(pictured(&[(call, done(&numbered(41), 0))], 40), @"|  ∙ read …/division.sh        41 lines");
}

#[test]
fn ascii_is_enough() {
    let look = Look { glyphs: Glyphs::ASCII, ..look(80) };
    let (call, finish) = turn().remove(2);
    let shown = picture(&finished(&call, &finish, &look));
    assert!(shown.is_ascii(), "{shown}");
}

/// The words of the tools, so that a change there is noticed here.
mod told {
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::kernel::tool::ToolContext;
    use crate::kernel::toolbox::Toolbox;
    use crate::kernel::truncate::fit;
    use crate::product::tool::edit::EditFile;
    use crate::product::tool::list::ListFiles;
    use crate::product::tool::read::ReadFile;
    use crate::product::tool::seen::Seen;
    use crate::product::tool::workspace::Workspace;
    use crate::product::tool::write::WriteFile;
    use crate::product::tool::{edit, find::FindFiles, list, read, search::SearchFiles, write};

    #[test]
    fn facts_are_those_of_the_tools() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "one\ntwo\n").unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/b.txt"), "one\n").unwrap();
        let workspace = Arc::new(Workspace::new(folder.path().to_owned(), None, &[]).unwrap());
        let seen = Arc::new(Seen::new());
        let tools = Toolbox::new(vec![
            Arc::new(ReadFile::new(Arc::clone(&workspace), Arc::clone(&seen), read::LIMITS)),
            Arc::new(ListFiles::new(Arc::clone(&workspace), list::LIMITS)),
            Arc::new(FindFiles::new(Arc::clone(&workspace), crate::product::tool::find::LIMITS)),
            Arc::new(SearchFiles::new(Arc::clone(&workspace), crate::product::tool::search::LIMITS)),
            Arc::new(WriteFile::new(Arc::clone(&workspace), Arc::clone(&seen), write::LIMITS)),
            Arc::new(EditFile::new(workspace, seen, edit::LIMITS)),
        ]);
        let fact = |name: &str, arguments: Value, keeps_change: bool| {
            let made =
                ToolCall { id: "c1".into(), name: name.into(), input: ToolInput::Object(object(arguments.clone())) };
            let pending = tools.prepare(&made).unwrap();
            let cancel = Cancel::new();
            let context = ToolContext {
                call_id: "c1",
                subject: &pending.subject,
                cancel: &cancel,
                progress: &|_| {},
                events: &|_| {},
            };
            let output = tools.get(name).unwrap().run(made.input.object().unwrap(), &context);
            let text = fit(&output, pending.limits).text;
            let change = output.change.clone().filter(|_| keeps_change);
            let finish = Finish { ok: !output.is_error, output: text, change, ..Finish::default() };
            let doing = Doing::of(name, &object(arguments), &look(80));
            Facts::of(&doing, None, &finish, difference(&doing, &finish).as_ref(), &look(80)).long
        };
        assert_eq!(fact("read_file", json!({"path": "a.txt"}), true), "2 lines");
        assert_eq!(fact("read_file", json!({"path": "a.txt", "limit": 1}), true), "1 of 2 lines");
        assert_eq!(fact("list_files", json!({}), true), "2 entries");
        assert_eq!(fact("find_files", json!({"pattern": "*.txt"}), true), "2 files");
        assert_eq!(fact("search_files", json!({"pattern": "one"}), true), "2 matches in 2 files");
        assert_eq!(fact("search_files", json!({"pattern": "three"}), true), "no match");
        assert_eq!(fact("write_file", json!({"path": "c", "content": "x"}), false), "new, 1 line");
        assert_eq!(fact("write_file", json!({"path": "c", "content": "y\nz"}), true), "+2 −1");
        let edits = |old: &str, new: &str| json!({"path": "a.txt", "edits": [{"old_text": old, "new_text": new}]});
        assert_eq!(fact("edit_file", edits("two", "2\n3"), true), "+2 −1");
        assert_eq!(fact("edit_file", edits("one", "1"), false), "+1 −1");
    }
}

proptest! {
    #[test]
    fn any_call_can_be_shown(
        name in "(execute_bash|edit_file|read_file|search_files|write_file|update_plan|\\PC{0,60}|\\pC{0,5})",
        target in "(\\PC|\\pC|[\n\t /]){0,120}",
        output in "(\\PC|\\pC|[\n\t]|exit code: 1|@@ -1,2 \\+1,2 @@\n){0,60}",
        ok in any::<bool>(),
        ms in 0u64..100_000_000,
        width in 0usize..130,
    ) {
        let arguments = json!({"command": target, "path": target, "pattern": target, "steps": [{"text": target}]});
        let mut call = call(&name, arguments);
        call.say(&output);
        call.progress.push(output.clone());
        let look = look(width);
        assert_live(&running(&call, Duration::from_millis(ms), &look), width);
        let change = Change::of(&target, Some(target.as_bytes()), output.as_bytes());
        let finish = Finish { ok, change, full_output: Some(target.clone().into()), ..done(&output, ms) };
        let block = finished(&call, &finish, &look);
        assert_committed(&block);
        prop_assert!(!block.is_empty() && block.len() < 120);
        assert_committed(&expanded(&call, &finish, &look));
        for width in WIDTHS {
            assert_live(&running(&call, Duration::from_millis(ms), &Look { width, ..look.clone() }), width);
        }
    }
}
