//! What is offered for a call, and what becomes of the file.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;

use super::*;
use crate::kernel::tool::Risk;
use crate::product::permission::tests::{bash, call, judge, read, write};
use crate::product::permission::{Authority, Rights};

/// The rule that is offered for a call in a workspace at `/w`.
fn offer(call: &PendingCall) -> String {
    let rights = Rights::new(judge(Authority::AskEach));
    let rule = rights.first_that_helps(rules(call, "/w".as_ref()), call);
    rule.map_or_else(|| "nothing".to_owned(), |rule| rule.text().to_owned())
}

#[test]
fn a_command_is_offered_by_what_it_does() {
    for (line, expected) in [
        ("touch one", "touch *"),
        ("cmake -B build", "cmake *"),
        ("ls", "ls *"),
        ("./configure --prefix=/x", "./configure *"),
        ("git diff x", "git diff *"),
        ("git status", "git status *"),
        ("cargo test --workspace", "cargo test *"),
        ("cargo run", "cargo run *"),
        ("npm run build", "npm run build *"),
        ("npm run build:css -- --watch", "npm run build:css *"),
        ("npm test", "npm test *"),
        ("make test", "make test *"),
        ("make", "make"),
        // What could run, or lose, anything is offered as it stands.
        ("npm run", "npm run"),
        ("npm exec tsc", "npm exec tsc"),
        ("git", "git"),
        ("git -C x push", "git -C x push"),
        ("git -c alias.x=y x", "git -c alias.x=y x"),
        ("git reset --hard", "git reset --hard"),
        ("docker run x", "docker run x"),
        ("sh x.sh", "sh x.sh"),
        ("/bin/bash -c ls", "/bin/bash -c ls"),
        ("python3.12 -m pytest", "python3.12 -m pytest"),
        ("python -c 1", "python -c 1"),
        ("sudo ls", "sudo ls"),
        ("env ls", "env ls"),
        ("xargs ls", "xargs ls"),
        ("find . -exec rm", "find . -exec rm"),
        ("rm -rf build", "rm -rf build"),
        ("curl -s http://x", "curl -s http://x"),
        // Spaces of another kind do not match a prefix.
        ("touch\tone", "touch\tone"),
    ] {
        assert_eq!(offer(&bash(line)), format!("execute_bash({expected})"), "{line}");
    }
}

#[test]
fn nothing_is_offered_for_more_than_one_plain_command() {
    for line in [
        "ls; rm x",
        "ls && ls",
        "ls | wc",
        "ls > x",
        "echo $(ls)",
        "echo `ls`",
        "A=1 ls",
        "ls *",
        "ls 'a b'",
        "(ls)",
        "ls\nls",
        "ls &",
        "!!",
        "",
        " ",
    ] {
        assert_eq!(offer(&bash(line)), "nothing", "{line}");
    }
}

#[test]
fn a_file_is_offered_with_its_folder() {
    for (path, expected) in [
        ("/w/src/deep/a.rs", "write_file(src/deep/**)"),
        ("/w/a.rs", "write_file(*)"),
        ("/w/o [x]/{a}", "write_file(o [[]x[]]/**)"),
        // Outside of the workspace, what makes programs run, and paths that nobody has followed.
        ("/w/src/../lib/a.rs", "nothing"),
        ("/tmp/t/x", "nothing"),
        ("/w/../x", "nothing"),
        ("/w/.git/config", "nothing"),
        ("/w/.viola.json", "nothing"),
    ] {
        assert_eq!(offer(&write(path)), expected, "{path}");
    }
    let two = call("write_file", Risk::Write, Subject::Write(vec!["/w/a/a".into(), "/w/a/b".into()]));
    assert_eq!(offer(&two), "nothing");
    assert_eq!(offer(&call("mcp__tea__brew", Risk::Dangerous, Subject::Other)), "mcp__tea__brew");
}

#[test]
fn what_is_remembered_opens_no_place() {
    let mut judge = judge(Authority::AskEach);
    judge.remembered = ["write_file(*)", "write_file(/etc/**)", "write_file(.git/**)"]
        .map(|rule| Rule::parse(rule, "/w".as_ref()).unwrap())
        .into();
    let judged = |path: &str| format!("{:?}", judge.judge(&write(path)));
    assert_eq!([judged("/w/a"), judged("/w/.viola.json"), judged("/w/.git/x")], ["Allow", "Ask", "Ask"]);
    assert!(judged("/etc/x").contains("outside the workspace"));
}

fn remembered(folder: &Path) -> Remembered {
    Remembered::new(folder.join("permissions/w-1.json"), "/w".into())
}

#[test]
fn rules_are_kept_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (remembered(folder.path()), remembered(folder.path()));
    assert!(one.load().0.is_empty() && !one.file.exists());
    one.add("execute_bash(touch *)").unwrap();
    two.add("write_file(src/**)").unwrap();
    one.add("execute_bash(touch *)").unwrap();
    let (rules, notices) = two.load();
    let texts: Vec<_> = rules.iter().map(Rule::text).collect();
    assert_eq!(texts, ["execute_bash(touch *)", "write_file(src/**)"]);
    assert!(notices.is_empty() && rules[1].allows(&write("/w/src/a")) && !rules[1].allows(&read("/w/src/a")));
    assert_eq!(files::read(&one.file).unwrap().unwrap().object["root"], "/w");
    assert_eq!(fs::metadata(&one.file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_broken_is_told_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let remembered = remembered(folder.path());
    fs::create_dir(remembered.file.parent().unwrap()).unwrap();
    for broken in ["{\"allow\":", "[]", "{\"allow\":\"execute_bash\"}", "{\"allow\":[1]}", "{\"allow\":[\"ls\",null]}"]
    {
        fs::write(&remembered.file, broken).unwrap();
        let (rules, notices) = remembered.load();
        assert!(rules.is_empty() && notices.len() == 1, "{broken}");
        assert!(notices[0].text.contains("w-1.json") && notices[0].text.ends_with("asked about again."), "{notices:?}");
        remembered.add("execute_bash(ls)").unwrap_err();
        assert_eq!(fs::read_to_string(&remembered.file).unwrap(), broken);
    }
    fs::write(&remembered.file, r#"{"allow":["no rule","execute_bash(ls)"]}"#).unwrap();
    let (rules, notices) = remembered.load();
    assert_eq!((rules.len(), notices.len()), (1, 1), "{notices:?}");
}

proptest! {
    #[test]
    fn an_offer_allows_the_call_it_was_made_for(line in "[a-z\\-/ .=*;'$]{0,20}|(git|npm|make|\\./x) [a-z\\- ]{0,12}") {
        let call = bash(&line);
        let rights = Rights::new(judge(Authority::AskEach));
        if let Some(rule) = rights.first_that_helps(rules(&call, "/w".as_ref()), &call) {
            prop_assert!(rule.allows(&call));
            let kept = Rule::parse(rule.text(), "/w".as_ref()).unwrap();
            prop_assert!(kept.allows(&call), "what is kept is what was offered");
        }
    }
}

#[test]
fn many_processes_add_rules_and_lose_none() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..5 {
            let remembered = Remembered::new(folder.path().join("p.json"), "/w".into());
            scope.spawn(move || (0..20).for_each(|rule| remembered.add(&format!("tool{writer} {rule}")).unwrap()));
        }
    });
    let document = files::read(&folder.path().join("p.json")).unwrap().unwrap();
    assert_eq!(document.object[ALLOW].as_array().unwrap().len(), 100);
}
