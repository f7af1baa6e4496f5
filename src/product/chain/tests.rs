//! Files of chains: what is read, what is refused and where, and which one of a name is taken.

use std::fs::{create_dir_all, write};
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::find::{Places, Source, all, hidden};
use super::parse::parse;
use super::prompt::{Answer, Prompt};
use super::*;
use crate::base::env::Env;
use crate::product::config::{self, Flag, Flags, Loaded};
use crate::product::skill::reach::Reach;
use crate::product::tool::workspace::Workspace;

const TOOLS: [&str; 7] =
    ["read_file", "list_files", "find_files", "search_files", "write_file", "edit_file", "execute_bash"];

/// Settings as if `top` were all there is: the configuration is in `config`, `**/secret*` closed, the provider openai.
fn world(top: &Path, cwd: &Path) -> (Loaded, Reach) {
    let vars = [("VIOLA_CONFIG_DIR", "config"), ("VIOLA_DATA_DIR", "data")];
    let vars = vars.map(|(name, folder)| (name.into(), top.join(folder).into()));
    let env = Env { vars: vars.into(), cwd: cwd.to_owned(), home: None };
    let flag = |key, value: &str| Flag { option: "--x", key, value: serde_json::Value::from(value) };
    let flags = Flags { values: vec![flag("provider", "openai"), flag("model", "m")], ..Flags::default() };
    let loaded = config::load(&env, &flags).unwrap();
    let workspace = Workspace::new(env.cwd.clone(), None, &["**/secret*".to_owned()]).unwrap();
    let reach = Reach::new(&env, &loaded, Arc::new(workspace));
    (loaded, reach)
}

fn read(text: &str) -> Result<Chain, Vec<Problem>> {
    parse(text, "stem", &TOOLS)
}

/// What is wrong with a text, as `line: text`, and whether a hint holds what stands behind `?`.
fn problems(text: &str) -> Vec<String> {
    let told = |Problem { line, text, hint }: Problem| match hint {
        Some(hint) => format!("{line}: {text} ({hint})"),
        None => format!("{line}: {text}"),
    };
    read(text).unwrap_err().into_iter().map(told).collect()
}

fn filled(chain: &Chain, place: usize, answers: &[&str]) -> String {
    let answers: Vec<_> =
        answers.iter().map(|text| Some(Answer { text: (*text).to_owned(), transcript: None })).collect();
    chain.steps[place].prompt.fill("TASK", chain, place, &answers)
}

const WHOLE: &str = "---\nname: tea\ndescription: Makes\n  tea\n---\n# Notes for people\n\n## boil\ntools: read_file, `search_*`\n\
                     max_iterations: 3\nmodel: m/1\nprovider: p\n\nBoil {task}.\n\n```\n## no step\n```\n\n## pour\nparallel: true\n\n\
                     Pour {previous}.\n## sip\nparallel: true\nSip?\n\n{steps.boil}\n## end\n\nAll: {previous} {steps.sip}";

#[test]
fn a_chain_is_read() {
    let text = WHOLE.replace('`', "").replace("```", "");
    let text = text.replace("\n\n## no step\n", "\n\n~~~ md\n## no step\n~~~\n").replace("\nSip?", "\n\nSip?");
    let chain = read(&text).unwrap();
    assert_eq!((chain.name.as_str(), chain.description.as_str()), ("tea", "Makes tea"));
    let names: Vec<_> = chain.steps.iter().map(|step| (step.name.as_str(), step.line)).collect();
    assert_eq!(names.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["boil", "pour", "sip", "end"]);
    assert_eq!(names[0].1, 8);
    let boil = &chain.steps[0];
    assert_eq!(boil.tools.as_deref().unwrap(), ["read_file", "search_*"]);
    assert_eq!((boil.max_iterations, boil.who().as_deref(), boil.is_parallel), (Some(3), Some("p/m/1"), false));
    assert!(filled(&chain, 0, &[]).contains("## no step"), "{}", filled(&chain, 0, &[]));
    assert_eq!(chain.groups(), [0..1, 1..3, 3..4]);
    assert_eq!(filled(&chain, 1, &["A"]), "Pour A.");
    assert_eq!(filled(&chain, 3, &["A", "B", "C"]), "All: ## pour\n\nB\n\n## sip\n\nC C");
}

#[test]
fn line_ends_blanks_and_marks_do_no_harm() {
    let plain = "---\nname: a\n---\n\n## look\ntools: read_file\nmax_iterations: 2\n\nLook at {task}.\n\n## tell\n\nSo: {previous}";
    let expected = read(plain).unwrap();
    let odd = [
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}\n\n\n"),
        plain.replace("read_file\n", "read_file  \t\n").replace("## look", "##   look  "),
        plain.replace("## look", " ## look\t").replace(": 2\n\n", ": 2\n \t \n"),
        plain.replace("---\n\n##", "---\n\n\n\n##").replace("## look", "   ## look"),
        plain
            .replace("tools: read_file", "- tools: [\"read_file\",]")
            .replace("max_iterations: 2", "* `max_iterations: 2`"),
        // Formatters put a blank line behind a heading.
        plain.replace("## look\n", "## look\n\n"),
    ];
    for text in odd {
        let mut chain = read(&text).unwrap_or_else(|problems| panic!("{text:?}: {problems:?}"));
        for (step, expected) in chain.steps.iter_mut().zip(&expected.steps) {
            step.line = expected.line;
        }
        assert_eq!(chain, expected, "{text:?}");
    }
}

#[test]
fn a_prompt_may_follow_its_heading_and_hold_what_looks_like_an_option() {
    let chain = read("## a\nLook, and say: what?\n\n## b\n\nNote: a thing\n\n## c\n### Part\nx: y\n").unwrap();
    assert_eq!(chain.name, "stem");
    let texts: Vec<_> = (0..3).map(|place| filled(&chain, place, &[])).collect();
    assert_eq!(texts, ["Look, and say: what?", "Note: a thing", "### Part\nx: y"]);
    assert!(chain.steps.iter().all(|step| step.tools.is_none() && step.max_iterations.is_none()));
    let none = read("## a\ntools: none\n\nThink.").unwrap();
    assert_eq!(none.steps[0].tools.as_deref(), Some(&[][..]));
}

#[test]
fn everything_wrong_is_told_with_its_line() {
    let text = "---\nname: a\n---\n## one\ntool: read_file\nmax_iterations: 0\ntools: read_fil, mcp__x__y, web_*, {a\n\n\
                {previous} {steps.two} {steps.nope}\n{steps.one}\n\n## two\n\n## one\nparallel: maybe\nprovider: p\nwhat is this\n\n\
                x {steps.oen}\n";
    assert_eq!(
        problems(text),
        [
            "5: there is no option `tool` (did you mean `tools`?)",
            "6: max_iterations: `0` is no number from 1 on",
            "7: tools: there is no tool `read_fil` (did you mean `read_file`?)",
            "7: tools: no tool is meant by `web_*`",
            "7: tools: `{a` is no pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
            "9: {previous}: no step comes before this one",
            "9: {steps.two}: that step comes later",
            "9: {steps.nope}: there is no such step",
            "10: {steps.one}: that is this step itself",
            "12: step `two` is empty: it has no prompt",
            "14: a second step `one`; the first is in line 4",
            "15: parallel: `maybe` is neither `true` nor `false`",
            "16: provider: names no model (add `model: ID`)",
            "17: `what is this` is no option (a blank line ends the options and begins the prompt)",
            "19: {steps.oen}: there is no such step (did you mean {steps.one}?)",
        ]
    );
}

#[test]
fn what_would_lose_a_filter_or_a_step_is_refused() {
    for (text, expected) in [
        ("## a\nMax-Iterations: 3\n\nx", "2: there is no option `Max-Iterations` (did you mean `max_iterations`?)"),
        ("## a\ncolour: red\n\nx", "2: there is no option `colour` (the options are tools, max_iterations, model"),
        ("## a\ntools: read_file\ntools: write_file\n\nx", "3: tools: stands here twice"),
        ("## a\ntools:\n\nx", "2: tools: has no value (`tools: none` is a step without tools)"),
        ("## a\nmax_iterations: many\n\nx", "2: max_iterations: `many` is no number"),
        ("## a\n```\nx\n\n## b\n\ny", "2: the fenced code that begins here does not end"),
        ("---\ntools: read_file\n---\n## a\n\nx", "1: `tools` is an option of steps"),
        ("---\nname: [a]\n---\n## a\n\nx", "1: name: is no text"),
        // YAML 1.1 has more words for truth than one would think.
        ("---\nname: on\n---\n## a\n\nx", "1: name: is no text (quotes make text of it)"),
        ("---\nname: a\n---\njust text\n", "4: there are no steps"),
        ("---\nname: a\n", "1: the front matter is not closed"),
        ("## \n\nx", "1: the step has no name"),
        (
            "## a\n\nx\n## b\nparallel: true\n\nx\n## c\nparallel: true\n\n{steps.b}",
            "11: {steps.b}: that step runs beside",
        ),
        (
            "## a\n\nx\n## b\nparallel: true\n\n{steps.c}\n## c\nparallel: true\n\nx",
            "7: {steps.c}: that step runs beside",
        ),
        ("## a\nparallel: true\n\nx\n## b\nparallel: true\n\n{previous}", "8: {previous}: no step comes before"),
    ] {
        let found = problems(text);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{text:?}: {found:?}");
    }
}

#[test]
fn placeholders_are_filled_in_once_and_other_braces_stay() {
    let chain = read(
        "## a\n\nx\n## b b\n\nx\n## c\n\n{task}|{previous}|{steps.a}|{steps.b b}|{ task }|{Task}|{{task}}|{x}|{|}",
    )
    .unwrap();
    assert_eq!(
        filled(&chain, 2, &["{task} {steps.b b}", "{previous}"]),
        "TASK|{previous}|{task} {steps.b b}|{previous}|{ task }|{Task}|{TASK}|{x}|{|}"
    );
    let long = "y".repeat(50_000);
    let text = filled(&chain, 2, &["", &long]);
    assert!(text.matches('y').count() == 40_000 && text.contains("30,000 of"), "{}", text.len());
    assert!(Prompt::new("{task}").has_task() && !Prompt::new("task").has_task());
}

#[test]
fn risks_are_those_of_the_tools_that_are_there() {
    let chain = read("## a\ntools: *_file*\n\nx\n## b\ntools: read_file\n\nx\n## c\n\nx").unwrap();
    let toolbox = Toolbox::new(Vec::new());
    assert_eq!((chain.highest_risk(&toolbox), chain.steps[0].tools_of(&toolbox).len()), (Risk::Safe, 0));
    assert_eq!(chain.steps[1].missing_tools(&toolbox), ["read_file"]);
    assert!(chain.steps[0].missing_tools(&toolbox).is_empty());
}

#[test]
fn the_nearest_of_a_name_is_taken_be_it_broken() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (repo, config) = (top.join("repo"), top.join("config"));
    let cwd = repo.join("deep");
    for folder in [&repo.join(".git"), &repo.join(".viola/chains"), &cwd.join(".viola/chains"), &config.join("chains")]
    {
        create_dir_all(folder).unwrap();
    }
    create_dir_all(top.join(".viola/chains")).unwrap();
    let chain = |name: &str| format!("---\nname: {name}\n---\n## only\n\nx\n");
    write(top.join(".viola/chains/outside.chain.md"), chain("outside")).unwrap();
    write(repo.join(".viola/chains/near.chain.md"), chain("near")).unwrap();
    write(cwd.join(".viola/chains/near.chain.md"), "## only\n\n{steps.x}\n").unwrap();
    write(cwd.join(".viola/chains/other.md"), "no chain").unwrap();
    write(config.join("chains/review.chain.md"), chain("review")).unwrap();
    write(config.join("chains/b.chain.md"), chain("called")).unwrap();
    write(cwd.join("mine.chain.md"), chain("mine")).unwrap();
    std::os::unix::fs::symlink(top.join(".viola/chains/outside.chain.md"), repo.join(".viola/chains/link.chain.md"))
        .unwrap();
    let (loaded, reach) = world(&top, &cwd);
    let places = Places { cwd: &cwd, loaded: &loaded, reach: &reach, tools: &TOOLS };
    let found = all(&places);
    let listed: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.source, found.chain.is_ok())).collect();
    assert_eq!(
        listed,
        [
            ("near", Source::Project, false),
            ("link", Source::Project, false),
            ("near", Source::Project, true),
            ("called", Source::User, true),
            ("review", Source::User, true),
            ("review", Source::BuiltIn, true),
            ("refactor", Source::BuiltIn, true),
        ]
    );
    assert_eq!(hidden(&found), [None, None, Some(0), None, None, Some(4), None]);

    let find = |wanted: &str| Chain::find(wanted, &places);
    for (wanted, name) in [("review", "review"), ("called", "called"), ("b", "called"), ("mine.chain.md", "mine")] {
        assert_eq!(find(wanted).unwrap().name, name);
    }
    assert_eq!(find("../.viola/chains/near.chain.md").unwrap().name, "near");
    assert_eq!(find(&top.join(".viola/chains/outside.chain.md").display().to_string()).unwrap().name, "outside");
    let told = |wanted: &str| {
        let error = find(wanted).unwrap_err();
        (error.kind.exit_code(), error.to_string(), error.hints.join("; "))
    };
    assert_eq!(told("near").1, ".viola/chains/near.chain.md:3: {steps.x}: there is no such step");
    assert!(
        told("link").1.ends_with("link.chain.md: it leads out of the repository, and is not read"),
        "{:?}",
        told("link")
    );
    let (code, text, hints) = told("reviw");
    assert_eq!((code, text.as_str()), (2, "there is no chain `reviw`"));
    assert!(
        hints.contains("did you mean `review`?") && hints.contains("called, link, near, refactor, review"),
        "{hints}"
    );
    assert!(told("./none.chain.md").1.contains("none.chain.md: no such file"), "{:?}", told("./none.chain.md"));
    assert!(told("gone.chain.md").1.contains("there is no chain"));
}

#[test]
fn a_project_chooses_no_other_provider_and_opens_nothing_that_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let top = &folder.path().canonicalize().unwrap();
    for folder in [".git", ".viola/chains", "config/chains"] {
        create_dir_all(top.join(folder)).unwrap();
    }
    let text =
        "## a\nmodel: anthropic/best\n\nx\n## b\nprovider: anthropic\nmodel: best\n\nx\n## c\nmodel: small\n\nx\n";
    write(top.join(".viola/chains/theirs.chain.md"), text).unwrap();
    write(top.join(".viola/chains/secret.chain.md"), text).unwrap();
    write(top.join("config/chains/own.chain.md"), text).unwrap();
    let (loaded, reach) = world(top, top);
    let places = Places { cwd: top, loaded: &loaded, reach: &reach, tools: &TOOLS };
    let who = |name: &str| {
        let chain = Chain::find(name, &places).unwrap();
        let who: Vec<_> = chain.steps.iter().map(|step| step.who().unwrap_or_default()).collect();
        (who.join(" "), chain.withheld)
    };
    let (models, withheld) = who("theirs");
    assert_eq!((models.as_str(), withheld.len()), ("  small", 2));
    assert!(withheld[1].contains("anthropic/best in step b"), "{withheld:?}");
    assert_eq!(who("own"), ("anthropic/best anthropic/best small".to_owned(), Vec::new()));
    let error = Chain::find("secret", &places).unwrap_err().to_string();
    assert!(error.ends_with("it is closed by sandbox.deny_read"), "{error}");
}

#[test]
fn a_line_that_is_no_option_is_the_only_fault() {
    let told = problems("## a\ntools: read_file\nDo {task}\n");
    assert!(told.len() == 1 && told[0].starts_with("3: `Do {task}` is no option"), "{told:?}");
}

#[test]
fn near_misses_are_told_and_braces_of_code_are_not() {
    for near in ["{tsak}", "{tasks}", "{previuos}"] {
        let told = problems(&format!("## a\n\nx {{task}}\n## b\n\nOne\n{near}"));
        assert!(
            told.len() == 1 && told[0].starts_with(&format!("7: {near}: there is no such placeholder")),
            "{told:?}"
        );
    }
    for text in ["{ tsak }", "{}", "{name}", "{x: task}", "{{task}}"] {
        read(&format!("## a\n\n{text} {{task}}")).unwrap();
    }
    let warned = |text: &str| read(text).unwrap().warnings.iter().map(|problem| problem.line).collect::<Vec<_>>();
    assert_eq!(warned("# Title\n\nBe kind.\n\n## a\n\nx"), [3]);
    assert_eq!(warned("---\nname: a\n---\n# Title\n\n## a\n\nx\n\n## b\n\ny"), Vec::<usize>::new());
}

#[test]
fn what_is_no_text_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    write(top.join("a.chain.md"), [0xff, 0xfe]).unwrap();
    write(top.join("b.chain.md"), "x".repeat(2_000_000)).unwrap();
    create_dir_all(top.join("c.chain.md")).unwrap();
    let (loaded, reach) = world(top, top);
    let places = Places { cwd: top, loaded: &loaded, reach: &reach, tools: &TOOLS };
    for (file, problem) in [("a", "no UTF-8 text"), ("b", "larger than 1 MiB"), ("c", "no regular file")] {
        let error = Chain::find(&format!("{file}.chain.md"), &places).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn the_built_in_chains_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (loaded, reach) = world(folder.path(), folder.path());
    let places = Places { cwd: folder.path(), loaded: &loaded, reach: &reach, tools: &TOOLS };
    let review = Chain::find("review", &places).unwrap();
    assert_eq!(review.groups(), [0..1, 1..3, 3..4]);
    let refactor = Chain::find("refactor", &places).unwrap();
    for chain in [&review, &refactor] {
        assert!(!chain.description.is_empty() && chain.steps.iter().all(|step| step.max_iterations.is_some()));
        assert!(chain.steps[0].prompt.has_task());
    }
    // Those that run beside each other only look.
    assert!(review.steps[1..3].iter().all(|step| step.tools.iter().flatten().all(|tool| tool != "execute_bash")));
}

/// A chain as somebody may write it, and what it says: names, and prompts without placeholders.
fn written() -> impl Strategy<Value = (String, Vec<(String, String)>)> {
    let name = "[a-zA-Zü][a-zA-Z0-9 ._-]{0,12}[a-z0-9]";
    let prompt = "[a-zA-Z\u{e9}{}][a-zA-Z0-9 ,.{}#*_\n-]{0,60}[a-z.]";
    let step = (name, prompt, any::<bool>(), 1u32..50, any::<bool>());
    (proptest::collection::vec(step, 1..6), any::<bool>()).prop_map(|(steps, carriage)| {
        let mut text = String::from("---\nname: chain\n---\n");
        let mut said = Vec::new();
        for (at, (name, prompt, filter, count, blank)) in steps.into_iter().enumerate() {
            let name = format!("{at}{name}");
            // Headings of the second level are steps; that is not what is tested here.
            let lines: Vec<_> =
                prompt.lines().map(str::trim_end).filter(|line| !line.trim_start().starts_with("##")).collect();
            let prompt = format!("x {}", lines.join("\n")).trim().to_owned();
            let options = if filter { format!("tools: read_file\nmax_iterations: {count}\n") } else { String::new() };
            let gap = if blank && filter { "\n\n" } else { "\n" };
            text += &format!("##  {name} {gap}{options}\n{prompt}\n\n");
            said.push((name, prompt));
        }
        if carriage { (text.replace('\n', "\r\n"), said) } else { (text, said) }
    })
}

proptest! {
    #[test]
    fn names_and_prompts_come_back((text, said) in written()) {
        let chain = read(&text).map_err(|problems| TestCaseError::fail(format!("{text}\n{problems:?}")))?;
        let names: Vec<_> = chain.steps.iter().map(|step| step.name.clone()).collect();
        prop_assert_eq!(&names, &said.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        for (place, (_, prompt)) in said.iter().enumerate() {
            prop_assert_eq!(&filled(&chain, place, &[]), prompt);
        }
        prop_assert_eq!(chain.groups().iter().map(ExactSizeIterator::len).sum::<usize>(), chain.steps.len());
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(---\r?\n(name: a\n)?---\n)?((## ?[a-c]?|tools: ?|[a-z_]{1,9}: |read_file|```|~~~~|\\{task\\}|\\{previous\\}|\\{steps\\.[a-c]\\}|[^\0]| |\r|\n){1,3}\r?\n){0,12}") {
        match read(&text) {
            Ok(chain) => {
                prop_assert!(!chain.steps.is_empty());
                let answers: Vec<_> = chain.steps.iter().map(|_| "ANSWER").collect();
                for (place, step) in chain.steps.iter().enumerate() {
                    prop_assert!(!step.name.is_empty());
                    // What every placeholder stands for is there.
                    let filled = filled(&chain, place, &answers);
                    prop_assert!(!filled.contains("{previous}") && !filled.contains("{task}"), "{filled}");
                }
            }
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                let lines = text.matches('\n').count() + 1;
                for problem in problems {
                    prop_assert!((1..=lines).contains(&problem.line), "{problem:?}");
                    prop_assert!(!problem.text.contains(['\n', '\r']), "{problem:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_put_in_is_never_looked_at_again(answer in "(\\{|\\}|task|previous|steps\\.a|x){0,9}", task in "(\\{|\\}|task|previous|steps\\.a| ){0,9}") {
        let chain = read("## a\n\nx\n## b\n\n<{task}>{previous}|{steps.a}").unwrap();
        let answers = [Some(Answer { text: answer.clone(), transcript: None })];
        let filled = chain.steps[1].prompt.fill(&task, &chain, 1, &answers);
        prop_assert_eq!(filled, format!("<{task}>{answer}|{answer}"));
    }
}
