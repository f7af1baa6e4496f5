//! What is found, read, imported and sent, on real files.

use super::*;
use crate::product::tool::fixture::Fixture;
use proptest::prelude::*;

/// A repository in `repo` below the fixture, and the user's folder in `config`.
pub(super) fn place(fixture: &Fixture, cwd: &str) -> Place {
    let cwd = fixture.cwd.join(cwd);
    std::fs::create_dir_all(&cwd).unwrap();
    let workspace = Workspace::new(cwd, Some(fixture.cwd.join("own")), &["**/closed*".to_owned()]).unwrap();
    Place::new(Arc::new(workspace), Some(fixture.cwd.join("own")), fixture.cwd.join("config"))
}

fn names(fixture: &Fixture, loaded: &Loaded) -> Vec<(String, &'static str)> {
    let name = |path: &Path| path.strip_prefix(&fixture.cwd).unwrap().display().to_string();
    loaded.files.iter().map(|file| (name(&file.path), file.why.as_str())).collect()
}

fn notices(loaded: &Loaded) -> Vec<&str> {
    loaded.notices.iter().map(|notice| notice.text.as_str()).collect()
}

#[test]
fn rules_come_from_general_to_near() {
    let fixture = Fixture::with(&[
        ("config/CLAUDE.md", "user\n"),
        ("config/MEMORY.md", "- 2026-01-01: remembered\n"),
        ("repo/.git/", ""),
        ("repo/AGENTS.md", "root\r\n"),
        ("repo/CLAUDE.md", "hidden by AGENTS.md\n"),
        ("repo/.viola/MEMORY.md", "- project\n"),
        ("repo/a/CLAUDE.md", "a"),
        ("repo/a/b/AGENTS.md", "\u{feff}b\n\n\n"),
        ("repo/other/AGENTS.md", "other\n"),
        ("AGENTS.md", "above the repository\n"),
    ]);
    let loaded = load(&place(&fixture, "repo/a/b"));
    assert_eq!(
        names(&fixture, &loaded),
        [
            ("config/MEMORY.md".into(), "user's memory"),
            ("config/CLAUDE.md".into(), "user"),
            ("repo/.viola/MEMORY.md".into(), "project's memory"),
            ("repo/AGENTS.md".into(), "repository root"),
            ("repo/a/CLAUDE.md".into(), "above the working directory"),
            ("repo/a/b/AGENTS.md".into(), "working directory"),
        ]
    );
    assert_eq!(notices(&loaded), [""; 0]);
    let end = loaded.text.split("repo/AGENTS.md").nth(1).unwrap();
    let label = |name: &str| fixture.cwd.join("repo/a").join(name).display().to_string();
    assert_eq!(
        end,
        format!(
            "\">\nroot\n</rules>\n\n<rules path=\"{}\">\na\n</rules>\n\n<rules path=\"{}\">\nb\n</rules>",
            label("CLAUDE.md"),
            label("b/AGENTS.md")
        )
    );
    assert!(loaded.text.starts_with("# Rules\nStanding instructions"));
}

#[test]
fn without_a_repository_only_the_working_directory_counts() {
    let fixture = Fixture::with(&[("AGENTS.md", "above\n"), ("x/AGENTS.md", "here\n")]);
    let loaded = load(&place(&fixture, "x"));
    assert_eq!(names(&fixture, &loaded), [("x/AGENTS.md".into(), "working directory")]);
    let none = load(&place(&fixture, "y"));
    assert_eq!((none.text.as_str(), none.files.len()), ("", 0));
}

#[test]
fn every_file_is_told_once_whatever_its_names() {
    let fixture = Fixture::with(&[("repo/.git/", ""), ("repo/a/", ""), ("repo/AGENTS.md", "@CLAUDE.md\nroot\n")]);
    fixture.link("repo/CLAUDE.md", "AGENTS.md");
    fixture.link("repo/a/AGENTS.md", "../AGENTS.md");
    fixture.file("config/", "");
    fixture.link("config/AGENTS.md", "../repo/AGENTS.md");
    let loaded = load(&place(&fixture, "repo/a"));
    assert_eq!(names(&fixture, &loaded), [("config/AGENTS.md".into(), "user")]);
    assert_eq!(notices(&loaded), [""; 0]);
}

#[test]
fn what_is_no_text_is_named_and_the_next_name_counts() {
    let fixture = Fixture::with(&[
        ("repo/.git/", ""),
        ("repo/AGENTS.md/", ""),
        ("repo/CLAUDE.md", "root\n"),
        ("repo/a/AGENTS.md", "\n \n"),
        ("repo/a/CLAUDE.md", "a\n"),
    ]);
    fixture.file("repo/a/b/AGENTS.md", b"caf\xe9 \x1b[31mred\n");
    fixture.file("repo/a/b/c/AGENTS.md", b"a\0b");
    let pipe = fixture.file("repo/a/b/c/d/", "").join("AGENTS.md");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let loaded = load(&place(&fixture, "repo/a/b/c/d"));
    let files: Vec<_> = names(&fixture, &loaded).into_iter().map(|(name, _)| name).collect();
    assert_eq!(files, ["repo/CLAUDE.md", "repo/a/CLAUDE.md", "repo/a/b/AGENTS.md"]);
    assert!(loaded.text.contains("\ncaf\u{fffd} ␛[31mred\n"), "{}", loaded.text);
    let told = notices(&loaded);
    assert!(
        told[0].ends_with("repo/AGENTS.md is a folder, not a regular file; it is not among the rules."),
        "{told:?}"
    );
    assert!(told[1].contains("c/AGENTS.md is no text") && told[2].contains("d/AGENTS.md is a pipe"), "{told:?}");
}

#[test]
fn a_project_does_not_reach_out_of_its_repository() {
    let fixture = Fixture::with(&[
        ("own/key", "KEY\n"),
        ("repo/.git/", ""),
        ("repo/CLAUDE.md", "root\n@a/secret.md @a/../../own/key.txt\n@~/key @closed.md @/etc/hostname\n"),
        ("repo/closed.md", "CLOSED\n"),
        ("repo/a/", ""),
        ("own/key.txt", "KEY\n"),
    ]);
    fixture.link("repo/AGENTS.md", "../own/key");
    fixture.link("repo/a/secret.md", "../../own/key");
    let loaded = load(&place(&fixture, "repo"));
    assert_eq!(names(&fixture, &loaded), [("repo/CLAUDE.md".into(), "repository root")]);
    assert!(!loaded.text.contains("KEY") && !loaded.text.contains("CLOSED"));
    let told = notices(&loaded);
    assert!(told[0].ends_with("repo/AGENTS.md leads out of the project; it is not among the rules."), "{told:?}");
    assert!(told[1].ends_with("imports @a/secret.md, which leads out of the project."), "{told:?}");
    assert!(
        told[3].ends_with("imports @~/key: only the user's own rules may name files of the home folder."),
        "{told:?}"
    );
    assert!(told[4].ends_with("imports @closed.md, which is closed by sandbox.deny_read."), "{told:?}");
    assert_eq!(told.len(), 6, "{told:?}");
}

#[test]
fn imports_stand_before_the_file_that_names_them() {
    let fixture = Fixture::with(&[
        ("own/mine.md", "mine\n"),
        ("config/AGENTS.md", "user: @~/mine.md\n"),
        ("repo/.git/", ""),
        ("repo/AGENTS.md", "root\n@docs/style.md.\nask @alice about @org/package, read @docs/gone.md and `@no.md`\n"),
        ("repo/docs/style.md", "style\n@deeper/more.md and @../AGENTS.md\n"),
        ("repo/docs/deeper/more.md", "more\n"),
    ]);
    let loaded = load(&place(&fixture, "repo"));
    let files: Vec<_> = names(&fixture, &loaded).into_iter().map(|(name, _)| name).collect();
    let order = ["own/mine.md", "config/AGENTS.md", "repo/docs/deeper/more.md", "repo/docs/style.md", "repo/AGENTS.md"];
    assert_eq!(files, order);
    assert_eq!(loaded.files[2].imported_by, Some(fixture.cwd.join("repo/docs/style.md")));
    let told = notices(&loaded);
    assert!(
        told.len() == 1 && told[0].ends_with("repo/AGENTS.md imports @docs/gone.md, which is not there."),
        "{told:?}"
    );
}

#[test]
fn imports_end_somewhere() {
    let fixture = Fixture::with(&[("repo/.git/", ""), ("repo/AGENTS.md", "@1.md\n")]);
    for hop in 1..9 {
        fixture.file(format!("repo/{hop}.md"), format!("hop {hop}\n@{}.md @AGENTS.md\n", hop + 1));
    }
    let loaded = load(&place(&fixture, "repo"));
    assert_eq!(loaded.files.len(), 6, "five hops and where they begin");
    let told = notices(&loaded);
    assert!(told.len() == 1 && told[0].ends_with("5.md imports @6.md, which is more than 5 imports deep."), "{told:?}");
    let many: String = (0..200).map(|number| format!("@many/{number}.md\n")).collect();
    fixture.file("repo/AGENTS.md", many);
    for number in 0..200 {
        fixture.file(format!("repo/many/{number}.md"), "x\n");
    }
    let loaded = load(&place(&fixture, "repo"));
    assert!(loaded.files.len() < 100 && loaded.notices.len() < 30, "{}", loaded.files.len());
}

#[test]
fn too_much_is_cut_from_the_general_end_and_told() {
    let fixture =
        Fixture::with(&[("repo/.git/", ""), ("repo/a/AGENTS.md", "RULE-A\n"), ("config/AGENTS.md", "USER\n")]);
    let long: String =
        (0..3000).map(|line| format!("root rule number {line} with some words to fill the line\n")).collect();
    fixture.file("repo/AGENTS.md", &long);
    let loaded = load(&place(&fixture, "repo/a"));
    let [user, root, near] = loaded.files.as_slice() else { panic!("{:?}", loaded.files) };
    assert!(user.is_cut && user.kept == 0 && root.is_cut && !near.is_cut && near.kept == 7);
    assert_eq!(root.bytes, long.len() as u64);
    assert!(loaded.files.iter().map(|file| file.kept).sum::<usize>() <= BUDGET_BYTES);
    assert!(root.kept > BUDGET_BYTES - 200 && loaded.text.contains(&format!("\n{}[... ", &long[..root.kept])));
    assert!(loaded.text.contains("bytes left out; read the file if you need them ...]\n</rules>"));
    let told = notices(&loaded);
    assert!(
        told.len() == 2 && told[1].contains("repo/AGENTS.md are left out: all rules together may take 32,768 bytes")
    );
    fixture.file("repo/a/AGENTS.md", "x".repeat(BUDGET_BYTES + 1));
    let loaded = load(&place(&fixture, "repo/a"));
    assert!(loaded.files[2].is_cut && loaded.files[2].kept == 0, "one endless line is left out whole");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_line_that_is_sent_is_in_a_file(
        texts in prop::collection::vec(("[a-z@]{1,8}( [a-z]{1,9}){0,6}", 0usize..1500), 3),
    ) {
        let fixture = Fixture::with(&[("repo/.git/", "")]);
        let text = |(line, count): &(String, usize)| format!("{line}\n").repeat(*count);
        let files = ["config/AGENTS.md", "repo/AGENTS.md", "repo/a/AGENTS.md"];
        for (path, lines) in files.iter().zip(&texts) {
            fixture.file(path, text(lines));
        }
        let loaded = load(&place(&fixture, "repo/a"));
        let kept: usize = loaded.files.iter().map(|file| file.kept).sum();
        prop_assert!(kept <= BUDGET_BYTES);
        let is_known = |line: &&str| texts.iter().any(|(known, _)| known == line);
        let strange: Vec<_> = loaded.text.lines().skip(2).filter(|line| !is_known(line)).collect();
        prop_assert!(strange.iter().all(|line| line.is_empty() || line.starts_with('<') || line.starts_with("[... ")));
        // Where something general is whole, so is everything nearer.
        let cut: Vec<_> = loaded.files.iter().map(|file| file.is_cut).collect();
        prop_assert!(cut.windows(2).all(|pair| pair[0] || !pair[1]), "{:?}", cut);
    }
}
