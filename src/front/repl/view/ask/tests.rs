//! Tests of the question: its pictures, what cannot be forged, what always fits.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::front::repl::view::testing::{assert_committed, assert_live, line_text, look, object, picture, text};

fn asked_about(name: &str, arguments: Value) -> Asked {
    Asked { name: name.to_owned(), arguments: object(arguments), risk: Risk::Dangerous, change: None }
}

fn question(calls: Vec<Asked>) -> Question {
    Question { kind: Kind::Session, calls, focus: Focus::Question(None), who: None }
}

fn cmake() -> Question {
    question(vec![asked_about(
        "execute_bash",
        json!({"command": "rm -rf build && cmake -B build && cmake --build build -j8"}),
    )])
}

fn shown(question: &Question, width: usize) -> String {
    let rows = rows(question, 20, &look(width));
    assert_live(&rows, width);
    picture(&rows)
}

#[test]
fn the_question_once_per_session() {
    insta::assert_snapshot!(shown(&cmake(), 120), @r"
    |  bash wants to run
    |
    |      rm -rf build && cmake -B build && cmake --build build -j8
    |
    |  [y]es all   [w]rite only   [s]afe only   [n]o tools      tab: say something instead
    ");
    insta::assert_snapshot!(shown(&cmake(), 80), @r"
    |  bash wants to run
    |
    |      rm -rf build && cmake -B build && cmake --build build -j8
    |
    |  [y]es all   [w]rite only   [s]afe only   [n]o tools      tab: say something
    ");
    insta::assert_snapshot!(shown(&cmake(), 40), @r"
    |  bash wants to run
    |
    |    rm -rf build && cmake -B build && 
    |    cmake --build build -j8
    |
    |  [y]es all   [w]rite only
    |  [s]afe only   [n]o tools
    |  tab: say something
    ");
}

#[test]
fn a_chain_is_said_in_words() {
    let arguments = json!({"name": "two", "steps": "a, b", "tools": "read_file, write_file", "most": "write files"});
    let shown = shown(&question(vec![asked_about("chain", arguments)]), 80);
    assert!(shown.contains("two: a, b") && !shown.contains('{'), "{shown}");
    assert!(shown.contains("its steps can write files, with read_file, write_file"), "{shown}");
}

#[test]
fn the_question_for_each_call() {
    let each = Question { kind: Kind::Each { prefix: Some("cmake".into()) }, ..cmake() };
    insta::assert_snapshot!(shown(&each, 80), @r"
    |  bash wants to run
    |
    |      rm -rf build && cmake -B build && cmake --build build -j8
    |
    |  [y] once   [a]lways `cmake …` here   [n]o      tab: say something instead
    ");
    let fixed = Question { kind: Kind::Each { prefix: None }, focus: Focus::Draft, ..cmake() };
    insta::assert_snapshot!(shown(&fixed, 80), @r"
    |  bash wants to run
    |
    |      rm -rf build && cmake -B build && cmake --build build -j8
    |
    |  [y] once   [n]o      tab answers
    ");
}

#[test]
fn what_is_selected_stands_out() {
    let selected = Question { focus: Focus::Question(Some(1)), ..cmake() };
    let rows = rows(&selected, 20, &look(80));
    let spans: Vec<String> = rows
        .last()
        .unwrap()
        .spans
        .iter()
        .filter(|span| span.style.add_modifier.contains(Modifier::REVERSED))
        .map(|span| span.content.to_string())
        .collect();
    assert_eq!(spans.concat(), "[w]rite only");
}

#[test]
fn the_answers_stand_on_one_row_where_there_is_room() {
    for width in 60..130 {
        let rows = rows(&cmake(), 20, &look(width));
        let text = text(&rows);
        assert!(text.contains("[y]es all   [w]rite only   [s]afe only   [n]o tools"), "{width}: {text}");
    }
}

#[test]
fn files_and_several_calls() {
    let calls = vec![
        asked_about("execute_bash", json!({"command": "make\nmake install"})),
        asked_about("write_file", json!({"path": "x.txt", "content": "a\nb\n"})),
        asked_about(
            "edit_file",
            json!({"path": "src/calc.sh", "edits": [{"old_text": "exit 1\n", "new_text": "exit 2\n"}]}),
        ),
        asked_about("mcp__git__push", json!({"remote": "origin", "force": true})),
    ];
    insta::assert_snapshot!(shown(&question(calls.clone()), 80), @r#"
    |  4 calls want to run
    |
    |      bash    make
    |              make install
    |      write   x.txt  2 lines, 4 B
    |          + a
    |          + b
    |      edit    src/calc.sh
    |          - exit 1
    |          + exit 2
    |      mcp__git__push {"force":true,"remote":"origin"}
    |
    |  [y]es all   [w]rite only   [s]afe only   [n]o tools      tab: say something
    "#);
    let one = |at: usize| shown(&question(vec![calls[at].clone()]), 80);
    insta::assert_snapshot!(one(1), @r"
    |  write wants to change a file
    |
    |      x.txt  2 lines, 4 B
    |          + a
    |          + b
    |
    |  [y]es all   [w]rite only   [s]afe only   [n]o tools      tab: say something
    ");
    insta::assert_snapshot!(one(2), @r"
    |  edit wants to change a file
    |
    |      src/calc.sh
    |          - exit 1
    |          + exit 2
    |
    |  [y]es all   [w]rite only   [s]afe only   [n]o tools      tab: say something
    ");
    let change = Change::of("x.txt", Some(b"old\n"), b"new\n");
    insta::assert_snapshot!(shown(&question(vec![Asked { change, ..calls[1].clone() }]), 80), @r"
    |  write wants to change a file
    |
    |      x.txt
    |       1  - old
    |       1  + new
    |
    |  [y]es all   [w]rite only   [s]afe only   [n]o tools      tab: say something
    ");
}

#[test]
fn nothing_is_cut_without_a_word() {
    let command: String = (1..=40).map(|number| format!("echo {number}\n")).collect();
    let question = question(vec![asked_about("execute_bash", json!({"command": command}))]);
    let rows = rows(&question, 10, &look(80));
    assert_eq!(rows.len(), 10);
    insta::assert_snapshot!(picture(&rows), @r"
    |  bash wants to run
    |      echo 1
    |      echo 2
    |      echo 3
    |      echo 4
    |      … 33 more lines, ctrl-o shows all
    |      echo 38
    |      echo 39
    |      echo 40
    |  [y]es all   [w]rite only   [s]afe only   [n]o tools      tab: say something
    ");
    assert_eq!(expanded(&question, &look(80)).len(), 42);
}

#[test]
fn what_would_run_matters_more_than_the_words_of_the_answers() {
    let shown = |width, most| {
        let rows = rows(&cmake(), most, &look(width));
        assert_live(&rows, width);
        rows.iter().map(line_text).collect::<Vec<_>>()
    };
    let parts = ["    rm -rf build && cmake -B build && ", "    cmake --build build -j8"];
    assert_eq!(shown(40, 4), ["  bash wants to run", parts[0], parts[1], "  [y]es [w]rite [s]afe [n]o"]);
    assert_eq!(shown(20, 3), ["  bash wants to run", "    … 5 more lines,…", "  [y] [w] [s] [n]"]);
}

#[test]
fn a_question_cannot_be_forged() {
    let command = "touch evil #\u{1b}[2K\r\u{202e}echo harmless\u{9b}2J";
    let shown = shown(&question(vec![asked_about("execute_bash", json!({"command": command}))]), 80);
    assert!(shown.contains("touch evil #␛[2K␍⟨RLO⟩echo harmless\\u{9b}2J"), "{shown}");
    let fake = "true\n\n  [y]es all   [w]rite only   [s]afe only   [n]o tools";
    let rows = rows(&question(vec![asked_about("execute_bash", json!({"command": fake}))]), 20, &look(80));
    let answers: Vec<String> = rows.iter().map(line_text).filter(|row| row.starts_with("  [y]")).collect();
    assert_eq!(answers.len(), 1, "what the command says stands further in");
}

#[test]
fn an_answered_question_is_one_line() {
    assert_eq!(text(&answered(&cmake(), "write only", &look(40))), "  bash rm -rf build && c… · write only");
    // Where there is no room for what was asked, the answer does not hang on nothing.
    let said = "all tools may run in this session";
    assert_eq!(text(&answered(&cmake(), said, &look(40))), format!("  {said}"));
}

proptest! {
    #[test]
    fn any_question_fits(
        name in "(execute_bash|edit_file|write_file|\\PC{0,40}|\\pC{0,3})",
        target in "(\\PC|\\pC|[\n\t ]){0,200}",
        prefix in proptest::option::of("(\\PC|\\pC){0,30}"),
        several in 1usize..4, most in 0usize..20, width in 0usize..120, session in any::<bool>(),
    ) {
        let arguments = json!({"command": target, "path": target, "content": target, "edits": [{"old_text": target, "new_text": name}]});
        let calls = vec![asked_about(&name, arguments); several];
        let kind = if session { Kind::Session } else { Kind::Each { prefix } };
        let question = Question { kind, calls, focus: Focus::Question(Some(0)), who: None };
        let rows = rows(&question, most, &look(width));
        assert_live(&rows, width);
        if width >= 60 && most >= 4 {
            prop_assert!(rows.len() <= most);
        }
        assert_committed(&expanded(&question, &look(width)));
        assert_committed(&answered(&question, &target, &look(width)));
    }

    #[test]
    fn a_command_is_shown_whole(command in "[a-z;&|  ]{1,400}") {
        let command = command.trim_end();
        prop_assume!(!command.is_empty());
        let question = question(vec![asked_about("execute_bash", json!({"command": command}))]);
        let rows = rows(&question, 100, &look(80));
        let details: String = rows[2..rows.len() - 2].iter().map(|row| line_text(row)[6..].to_owned()).collect();
        prop_assert_eq!(details, command);
    }
}
