//! Verdicts in a table, and the property that a deny never allows more.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::kernel::tool::Limits;
use crate::model::message::{ToolCall, ToolInput};

pub(super) fn call(name: &str, risk: Risk, subject: Subject) -> PendingCall {
    let call = ToolCall { id: "c".into(), name: name.into(), input: ToolInput::Object(Default::default()) };
    PendingCall { call, risk, subject, limits: Limits { chars: 1, lines: 1 } }
}

pub(super) fn bash(line: &str) -> PendingCall {
    call("execute_bash", Risk::Dangerous, Subject::Command(line.into()))
}

pub(super) fn write(path: &str) -> PendingCall {
    call("write_file", Risk::Write, Subject::Write(vec![path.into()]))
}

pub(super) fn read(path: &str) -> PendingCall {
    call("read_file", Risk::Safe, Subject::Read(vec![path.into()]))
}

pub(super) fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| Rule::parse(text, "/w".as_ref()).unwrap()).collect()
}

pub(super) fn judge(authority: Authority) -> Judge {
    let writable = Writable::only("/w".into(), vec!["/tmp/t".into()], &["/home/u/.cache".into()]).unwrap();
    Judge { allow: vec![], remembered: vec![], ask: vec![], deny: vec![], authority, writable, is_planning: false }
}

fn word(judgement: &Judgement) -> &'static str {
    match judgement {
        Judgement::Allow => "allow",
        Judgement::Deny(Denial { by: DeniedBy::Rule(_), .. }) => "rule",
        Judgement::Deny(_) => "user",
        Judgement::Ask => "ask",
    }
}

#[test]
fn each_grant_covers_its_tiers() {
    for (authority, reads, writes, runs) in [
        (Authority::Unasked, "allow", "ask", "ask"),
        (Authority::AskEach, "allow", "ask", "ask"),
        (Authority::Chosen(Grant::All), "allow", "allow", "allow"),
        (Authority::Chosen(Grant::Write), "allow", "allow", "rule"),
        (Authority::Chosen(Grant::Safe), "allow", "rule", "rule"),
        (Authority::Chosen(Grant::None), "rule", "rule", "rule"),
        (Authority::Session(Grant::Write), "allow", "allow", "user"),
        (Authority::Session(Grant::Safe), "allow", "user", "user"),
        (Authority::Session(Grant::None), "user", "user", "user"),
    ] {
        let judge = judge(authority);
        let said = [read("/etc/x"), write("/w/a"), bash("ls")].map(|call| word(&judge.judge(&call)));
        assert_eq!(said, [reads, writes, runs], "{authority:?}");
    }
}

#[test]
fn a_rule_closes_paths_to_tools_that_show_as_much() {
    let closed = |rule: &str, names: &[&str]| {
        let rule = Rule::parse(rule, "/w/[x]".as_ref()).unwrap();
        rule.closes(names).map(|glob| glob.glob().to_owned())
    };
    let searching: &[&str] = &["search_files", "read_file"];
    assert_eq!(closed("read_file(secret/**)", searching).unwrap(), "/w/[[]x[]]/secret/**");
    assert_eq!(closed("*_files(/etc/*)", searching).unwrap(), "/etc/*");
    assert_eq!(closed("read_file(secret/**)", &["find_files"]), None);
    assert_eq!(closed("search_files", searching), None);
}

#[test]
fn files_are_written_inside_only() {
    let mut judge = judge(Authority::Chosen(Grant::All));
    judge.allow = rules(&["write_file(/open/**)"]);
    for (path, expected) in [
        ("/w/a/b", "allow"),
        ("/wa", "rule"),
        ("/etc/passwd", "rule"),
        ("/tmp/t/x", "allow"),
        ("/tmp/x", "rule"),
        ("/home/u/.cache/x/y", "allow"),
        ("/open/x", "allow"),
    ] {
        assert_eq!(word(&judge.judge(&write(path))), expected, "{path}");
    }
    judge.writable = Writable::anywhere("/w".into());
    assert_eq!(word(&judge.judge(&write("/etc/passwd"))), "allow");
}

#[test]
fn a_write_that_makes_commands_run_is_as_dangerous_as_a_command() {
    let mut judge = judge(Authority::Chosen(Grant::Write));
    for path in ["/w/.git/hooks/pre-commit", "/w/sub/.git", "/w/.viola/x/y", "/w/a/.viola.json", "/w/.MCP.json"] {
        judge.authority = Authority::Chosen(Grant::Write);
        let Judgement::Deny(denial) = judge.judge(&write(path)) else { panic!("{path} is written") };
        assert!(denial.reason.contains("counts as dangerous") && denial.reason.contains(path), "{denial:?}");
        judge.authority = Authority::Chosen(Grant::All);
        assert_eq!(word(&judge.judge(&write(path))), "allow", "{path}");
        assert_eq!(word(&judge.judge(&read(path))), "allow", "{path}");
    }
    judge.authority = Authority::Chosen(Grant::Write);
    for path in ["/w/.gitignore", "/w/.github/workflows/ci.yml", "/w/git/x", "/w/viola.json"] {
        assert_eq!(word(&judge.judge(&write(path))), "allow", "{path}");
    }
    judge.writable = Writable::only("/h/.viola/w".into(), vec![], &[]).unwrap();
    assert_eq!(word(&judge.judge(&write("/h/.viola/w/a"))), "allow");
    judge.allow = rules(&["write_file(/h/.viola/w/.git/description)"]);
    assert_eq!(word(&judge.judge(&write("/h/.viola/w/.git/description"))), "allow");
}

#[test]
fn a_denied_command_hides_behind_nothing() {
    let mut judge = judge(Authority::Chosen(Grant::All));
    judge.deny = rules(&["execute_bash(rm *)", "mcp__*"]);
    for line in [
        "rm -rf d",
        "timeout 5 rm -rf d",
        "A=1 rm d",
        "echo d | xargs rm -rf",
        "sh -c 'rm -rf d'",
        "true && rm d",
        "(rm d)",
        "echo $(rm d)",
        "\\rm d",
        "/bin/rm d",
        "r''m d",
        "a;rm d",
        "rm",
    ] {
        assert_eq!(word(&judge.judge(&bash(line))), "rule", "{line}");
    }
    for line in ["ls", "rmdir d", "git commit -m farm"] {
        assert_eq!(word(&judge.judge(&bash(line))), "allow", "{line}");
    }
    assert_eq!(word(&judge.judge(&call("mcp__x__y", Risk::Safe, Subject::Other))), "rule");
}

#[test]
fn only_a_plain_command_rides_on_an_allow() {
    let mut judge = judge(Authority::Unasked);
    judge.allow = rules(&["execute_bash(git *)"]);
    for line in ["git", "git status", "git diff --stat HEAD"] {
        assert_eq!(word(&judge.judge(&bash(line))), "allow", "{line}");
    }
    for line in
        ["git log > p", "git status; touch p", "git status $(touch p)", "git status\ntouch p", "X=1 git x", "gitk"]
    {
        assert_eq!(word(&judge.judge(&bash(line))), "ask", "{line}");
    }
}

#[test]
fn asking_stands_above_allowing_and_below_all() {
    let mut judge = judge(Authority::Session(Grant::All));
    judge.allow = rules(&["execute_bash"]);
    judge.ask = rules(&["execute_bash(git push *)"]);
    assert_eq!(word(&judge.judge(&bash("git push origin"))), "ask");
    judge.authority = Authority::Chosen(Grant::All);
    assert_eq!(word(&judge.judge(&bash("git push origin"))), "allow");
}

#[test]
fn a_broken_rule_says_what_is_wrong() {
    for text in ["", "(x)", "execute_bash(ls", "two words(x)", "execute_bash([)"] {
        let error = Rule::parse(text, "/w".as_ref()).unwrap_err().to_string();
        assert!(error.contains("execute_bash(git diff *)"), "{error}");
    }
}

#[tokio::test]
async fn with_nobody_to_ask_the_answer_is_no() {
    let gate = Headless(Arc::new(Rights::new(judge(Authority::Unasked))));
    let verdicts = gate.decide(&[read("/w/a"), bash("ls")]).await;
    assert_eq!(verdicts.first(), Some(&Verdict::Allow));
    assert!(matches!(verdicts.last(), Some(Verdict::Deny(Denial { by: DeniedBy::Nobody, .. }))));
    let gate = Headless(Arc::new(Rights::new(judge(Authority::Session(Grant::Write)))));
    let verdicts = gate.decide(&[write("/w/a"), bash("ls")]).await;
    assert_eq!(verdicts.first(), Some(&Verdict::Allow));
    assert!(matches!(verdicts.last(), Some(Verdict::Deny(Denial { by: DeniedBy::Nobody, .. }))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_deny_never_allows_more(line in "[a-z;&|$() '\"]{0,30}", denied in "[a-z*]{1,4}", path in "/[a-z/]{0,12}") {
        for call in [bash(&line), write(&path), read(&path)] {
            for authority in [Authority::Unasked, Authority::Chosen(Grant::All), Authority::Session(Grant::Write)] {
                let mut judge = judge(authority);
                judge.allow = rules(&["execute_bash(a*)"]);
                let before = judge.judge(&call) == Judgement::Allow;
                judge.deny = rules(&[&format!("execute_bash({denied})"), &format!("write_file({denied}/**)")]);
                prop_assert!(before || judge.judge(&call) != Judgement::Allow);
            }
        }
    }

    #[test]
    fn no_line_breaks_the_matching(line in "\\PC*") {
        let mut judge = judge(Authority::Unasked);
        judge.deny = rules(&["execute_bash(rm *)"]);
        judge.judge(&bash(&line));
    }
}

#[test]
fn paths_are_matched_as_paths() {
    let odd = Rule::parse("write_file(src/**)", "/w/[app]".as_ref()).unwrap();
    assert!(odd.allows(&write("/w/[app]/src/a")) && !odd.allows(&write("/w/a/src/a")));
    let below = &rules(&["read_file(src/**)"])[0];
    assert!(below.forbids(&read("/w/src")) && below.forbids(&read("/w/src/a/b")) && !below.forbids(&read("/w/srcs")));
    assert!(!below.allows(&read("/w/src")));
    let rule = &rules(&["write_file(src/*.rs)"])[0];
    assert!(rule.allows(&write("/w/src/a.rs")) && !rule.allows(&write("/w/src/deep/a.rs")));
    assert!(!rule.allows(&call(
        "write_file",
        Risk::Write,
        Subject::Write(vec![PathBuf::from("/w/src/a.rs"), "/x".into()])
    )));
}
