//! What is told when, and that it is told once.

use super::*;
use crate::model::message::ToolResult;
use crate::product::rules::load;
use crate::product::rules::tests::place;
use crate::product::tool::fixture::Fixture;

fn project() -> Fixture {
    Fixture::with(&[
        ("repo/.git/", ""),
        ("repo/AGENTS.md", "RULE-ROOT\n"),
        ("repo/a/AGENTS.md", "RULE-A @style.md\n"),
        ("repo/a/style.md", "STYLE\n"),
        ("repo/a/b/CLAUDE.md", "RULE-B\n"),
        ("repo/a/b/f.txt", "content"),
        ("repo/c d/AGENTS.md", "RULE-C\n"),
        ("outside/AGENTS.md", "RULE-OUTSIDE\n"),
    ])
}

fn touched(fixture: &Fixture, cwd: &str) -> Touched {
    let place = place(fixture, cwd);
    let loaded = load(&place);
    Touched::new(place, loaded)
}

fn told(touched: &Touched, subject: &Subject) -> String {
    touched.starting("c1", subject);
    touched.finished("c1").unwrap_or_default()
}

fn read(fixture: &Fixture, path: &str) -> Subject {
    Subject::Read(vec![fixture.cwd.join(path)])
}

#[test]
fn deeper_rules_come_once_general_to_near() {
    let fixture = project();
    let touched = touched(&fixture, "repo");
    assert_eq!(told(&touched, &read(&fixture, "repo/top.txt")), "");
    let text = told(&touched, &read(&fixture, "repo/a/b/f.txt"));
    let places: Vec<_> = ["of the folders", "STYLE", "RULE-A", "RULE-B"].iter().map(|rule| text.find(rule)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted() && !text.contains("RULE-ROOT"), "{text}");
    assert_eq!(told(&touched, &read(&fixture, "repo/a/b/f.txt")), "");
    assert_eq!(touched.since().len(), 3);
    touched.forget();
    assert!(told(&touched, &read(&fixture, "repo/a")).contains("RULE-A"), "a folder that is listed is reached");
    assert_eq!(told(&touched, &read(&fixture, "outside/x")), "");
    assert_eq!(touched.finished("never began"), None);
}

#[test]
fn what_comes_with_calls_has_one_budget() {
    let line = "a rule of some length, one of many\n";
    let rules = line.repeat(20_000 / line.len());
    let files: Vec<(String, String)> =
        (0..4).map(|folder| (format!("repo/d{folder}/AGENTS.md"), rules.clone())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let fixture = Fixture::with(&[&[("repo/.git/", "")], files.as_slice()].concat());
    let touched = touched(&fixture, "repo");
    let all: usize = (0..4).map(|folder| told(&touched, &read(&fixture, &format!("repo/d{folder}/x"))).len()).sum();
    assert!((BUDGET_BYTES - line.len()..BUDGET_BYTES + 4_000).contains(&all), "{all}");
    let notices = touched.take_notices();
    assert!(notices.len() == 3 && notices[0].contains("until the conversation is summarised"), "{notices:?}");
    touched.forget();
    assert!(told(&touched, &read(&fixture, "repo/d3/x")).len() >= rules.len());
}

#[test]
fn folders_beside_the_way_are_reached_too() {
    let fixture = project();
    let touched = touched(&fixture, "repo/a/b");
    let text = told(&touched, &Subject::Write(vec![fixture.cwd.join("repo/c d/new.txt")]));
    assert!(text.contains("RULE-C") && !text.contains("RULE-A"), "{text}");
    assert_eq!(told(&touched, &read(&fixture, "repo/a/x")), "", "the system prompt has it");
}

#[test]
fn the_rules_themselves_are_not_shown_twice() {
    let fixture = project();
    let touched = touched(&fixture, "repo");
    let text = told(&touched, &read(&fixture, "repo/a/b/CLAUDE.md"));
    assert!(text.contains("RULE-A") && !text.contains("RULE-B"), "{text}");
    assert!(told(&touched, &read(&fixture, "repo/a/b/f.txt")).contains("RULE-B"), "as rules they come with other work");
}

#[test]
fn commands_reach_what_they_name() {
    let fixture = project();
    let cases = [
        ("cat a/b/f.txt", "RULE-B"),
        ("cd a && cat <b/f.txt|wc", "RULE-B"),
        ("grep -r x --include=*.md \"./a/b\"", "RULE-B"),
        ("make VAR=a/b/f.txt", "RULE-B"),
        ("ls a", "RULE-A"),
        ("echo hello; ls", ""),
        ("cat ../outside/AGENTS.md nowhere/x", ""),
    ];
    for (line, expected) in cases {
        let touched = touched(&fixture, "repo");
        let text = told(&touched, &Subject::Command(line.into()));
        assert!(text.contains(expected) && text.is_empty() == expected.is_empty(), "{line}: {text}");
    }
}

#[test]
fn a_conversation_that_goes_on_knows_what_it_was_told() {
    let fixture = project();
    let text = told(&touched(&fixture, "repo"), &read(&fixture, "repo/a/b/f.txt"));
    let touched = touched(&fixture, "repo");
    let result = ToolResult::text("c1", format!("content\n\n{text}"), false);
    touched.recall(&[Arc::new(Message::user("<rules path=\"x\">")), Arc::new(Message::Tool(vec![result]))]);
    assert_eq!(told(&touched, &read(&fixture, "repo/a/b/f.txt")), "");
    touched.forget();
    assert_eq!(told(&touched, &read(&fixture, "repo/a/b/f.txt")), text);
}

#[test]
fn calls_side_by_side_tell_a_folder_once() {
    let fixture = project();
    let touched = touched(&fixture, "repo");
    let ids: Vec<String> = (0..8).map(|number| format!("c{number}")).collect();
    for id in &ids {
        touched.starting(id, &read(&fixture, "repo/a/b/f.txt"));
    }
    let texts: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = ids.iter().map(|id| scope.spawn(|| touched.finished(id))).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(texts.len(), 1);
    assert_eq!(texts[0].matches("RULE-B").count(), 1);
}

#[test]
fn what_is_wrong_with_reached_rules_is_told_to_the_person() {
    let fixture = project();
    fixture.file("repo/a/AGENTS.md", "x @gone.md\n".repeat(5000));
    let touched = touched(&fixture, "repo");
    assert!(told(&touched, &read(&fixture, "repo/a/x")).contains("bytes left out"));
    let notices = touched.take_notices();
    assert!(notices.len() == 2 && notices[0].contains("gone.md") && notices[1].contains("left out"), "{notices:?}");
    assert!(touched.take_notices().is_empty());
}
