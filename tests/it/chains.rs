//! Chains through the whole program: what steps are told and may do, what the session keeps, and how an end is told.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Host, Reply, Request, Stdin, call, fail, say};

const TWO: &str = "---\nname: two\ndescription: Looks, then tells\n---\n\n## look\ntools: read_file, find_*\nmax_iterations: 3\n\n\
                   Look at {task}.\n\n## tell\n\nTask {task}; before: {previous}\n";

fn chain(host: &Host, name: &str, text: &str) {
    host.file(format!(".viola/chains/{name}.chain.md"), text);
}

/// The first message of the step that a request is of.
fn told(request: &Request) -> String {
    request.prompt().to_owned()
}

#[test]
fn a_tool_that_a_step_does_not_name_is_not_there() {
    let host = Host::new();
    chain(&host, "two", TWO);
    host.script([call("write_file", json!({"path": "x", "content": "x"})), say("I may not."), say("The end.")]);
    let run =
        host.agent(&["--chain", "two", "--permissions", "all", "--output-format", "stream-json", "tea"]).run().ok();
    let offered = host.request(0);
    assert_eq!(offered.tools(), ["read_file", "find_files"]);
    assert!(host.request(1).told().contains("there is no tool \"write_file\""), "{}", host.request(1).told());
    assert!(!host.exists("x") && host.request(2).tools().contains(&"write_file"));
    assert!(told(&host.request(2)).contains("Task tea; before: I may not."), "{}", told(&host.request(2)));
    // Every event of a step carries its name.
    let events = run.all_events();
    let steps: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "turn_start")
        .filter_map(|event| event["step"].as_str())
        .collect();
    assert_eq!(steps, ["look", "look", "tell"]);
    let notices: Vec<Value> = run.notices("chain").iter().map(|notice| notice["text"].clone()).collect();
    assert_eq!((&notices[0], &notices[2]), (&json!("Step 1 of 2: look."), &json!("Step 2 of 2: tell.")));
    let result = run.result();
    assert_eq!((&result["text"], &result["turns"]), (&json!("The end."), &json!(3)));
    assert_eq!(result["usage_total"]["output_tokens"], 30);
}

#[test]
fn the_session_goes_on_as_an_ordinary_one() {
    let host = Host::new();
    chain(&host, "two", TWO);
    host.script([say("I saw it."), say("The story.")]);
    host.agent(&["--chain", "two", "tea"]).run().is(0, "The story.\n", &["Step 1 of 2: look.", "Step 2 of 2 is done"]);
    let session = host.session();
    assert_eq!(session.texts("assistant"), ["I saw it.", "The story."]);
    host.script([say("As I said.")]);
    host.agent(&["-p", "-c", "and now?"]).run().is(0, "As I said.\n", &[]);
    let request = host.request(2);
    assert!(request.mentions("[chain two, step look]\n\nLook at tea.") && request.mentions("The story."));
    let environment = request.said(crate::support::Role::User)[0].matches("<environment>").count();
    assert_eq!(environment, 1, "the surroundings open the session");
    let listed = host.agent(&["sessions", "list"]).run().ok().stdout;
    assert!(listed.contains("two: tea") && listed.lines().count() <= 3, "{listed}");
}

#[test]
fn a_failed_step_is_named_and_the_chain_goes_on_from_it() {
    let host = Host::new();
    chain(&host, "two", TWO);
    host.script([say("I saw it."), fail(401, "bad key")]);
    let failed = host.agent(&["--chain", "two", "tea"]).run().is(4, "", &["error: step tell: ", "bad key"]);
    assert!(failed.stderr.contains("hint: go on with: agent --chain two --from tell \"...\""), "{}", failed.stderr);
    host.script([say("Told.")]);
    host.agent(&["--chain", "two", "--from", "tell", "tea"]).run().is(0, "Told.\n", &["Step 2 of 2: tell."]);
    assert!(told(&host.request(2)).contains("before: I saw it."), "{}", told(&host.request(2)));
    let said = host.session().texts("assistant");
    assert_eq!((said.len(), said[0].as_str(), said[2].as_str()), (3, "I saw it.", "Told."), "in the same session");
    assert!(said[1].starts_with("(step tell of the chain two was not finished: HTTP 401: bad key."), "{said:?}");

    host.agent(&["--chain", "two", "--from", "tel", "tea"]).run().is(
        2,
        "",
        &["has no step `tel`", "did you mean `tell`?"],
    );
    chain(&host, "other", &TWO.replace("name: two", "name: other"));
    host.agent(&["--chain", "other", "--from", "tell", "tea"]).run().is(2, "", &["came to: look"]);
    host.agent(&["--chain", "other", "-c", "--from", "tell", "tea"]).run().is(
        2,
        "",
        &["does not hold", "came to: look"],
    );
    assert_eq!(host.server.requests().len(), 3, "nobody was asked");
}

#[test]
fn what_is_wrong_with_a_chain_is_told_before_anybody_is_asked() {
    let host = Host::new();
    chain(&host, "odd", "## a\ntools: raed_file\nmodel: nobody/x\n\n{previous} {steps.b}\n## b\n");
    let run = host.agent(&["--chain", "odd", "--output-format", "json", "x"]).run().exits(2);
    for (line, problem) in [(2, "there is no tool `raed_file`"), (5, "{previous}: "), (5, "{steps.b}: "), (6, "empty")]
    {
        let told = format!(".viola/chains/odd.chain.md:{line}: ");
        assert!(run.stderr.contains(&told) && run.stderr.contains(problem), "{problem}: {}", run.stderr);
    }
    assert_eq!((run.json()["exit_code"].clone(), run.json()["is_error"].clone()), (json!(2), json!(true)));
    chain(&host, "far", "## a\n\nx\n## b\nmodel: x\nprovider: nobody\n\nx\n");
    host.agent(&["--chain", "far", "x"]).run().is(2, "", &["step b: ", "nobody"]);
    host.agent(&["--chain", "tow", "x"]).run().is(2, "", &["there is no chain `tow`", "far, odd, refactor, review"]);
    host.agent(&["--chain", "./tow.chain.md", "x"]).run().is(2, "", &["tow.chain.md: no such file"]);
    let listed = host.agent(&["chains"]).run().ok().stdout;
    assert!(
        listed.contains("odd  cannot be used") && listed.contains("odd.chain.md:2: tools: there is no tool"),
        "{listed}"
    );
    let chains = host.agent(&["chains", "--json"]).run().ok().json();
    assert_eq!((&chains[1]["name"], &chains[1]["problems"][0]["line"]), (&json!("odd"), &json!(2)));
    assert!(host.server.requests().is_empty() && host.sessions().is_empty());
}

#[test]
fn steps_that_only_look_overlap_in_time() {
    let host = Host::new();
    let step = |name: &str, tools: &str| format!("## {name}\ntools: {tools}\nparallel: true\n\nI am {name}.\n\n");
    let text = |tools: &str| format!("{}{}## sum\n\nAll: {{previous}}\n", step("one", "read_file"), step("two", tools));
    chain(&host, "looks", &text("list_files"));
    chain(&host, "acts", &text("write_file"));
    let wait = Duration::from_millis(400);
    host.server.answer(move |request| match request.prompt() {
        prompt if prompt.contains("I am one.") && !prompt.contains("All:") => say("first").wait(wait),
        prompt if prompt.contains("I am two.") && !prompt.contains("All:") => say("second").wait(wait),
        _ => say("sum"),
    });
    host.agent(&["--chain", "looks", "x"]).run().ok();
    assert!(host.server.gaps()[0] < wait, "{:?}", host.server.gaps());
    assert!(told(&host.request(2)).contains("All: ## one\n\nfirst\n\n## two\n\nsecond"), "{}", told(&host.request(2)));
    let run = host.agent(&["--chain", "acts", "x"]).run().ok();
    assert!(run.stderr.contains("run one after the other: two has tools that do more than look"), "{}", run.stderr);
    assert!(host.server.gaps()[3] >= wait, "{:?}", host.server.gaps());
}

#[test]
fn limits_hold_for_the_whole_chain() {
    let host = Host::new();
    chain(&host, "two", TWO);
    let stalls = || [say("I saw it."), say("never").wait(Duration::from_secs(30))];
    host.script(stalls());
    let late = host.agent(&["--chain", "two", "--timeout", "1", "tea"]).run().is(5, "", &["step tell: the time limit"]);
    assert!(late.stderr.contains("--from tell"), "{}", late.stderr);
    host.script(stalls());
    let running = host.agent(&["--chain", "two", "tea"]).start();
    host.server.wait_requests(4);
    running.signal(Signal::INT);
    running.wait().is(130, "", &["step tell: interrupted"]);
    assert_eq!(host.sessions().iter().filter(|session| session.texts("assistant")[0] == "I saw it.").count(), 2);
    host.assert_no_leftovers();
}

#[test]
fn input_and_files_go_along() {
    let host = Host::new();
    host.file("notes.md", "42 grams");
    chain(&host, "two", TWO);
    host.script([say("seen"), say("told")]);
    host.agent(&["--chain", "two", "the tea of @notes.md"]).stdin(Stdin::from("and milk\n")).run().ok();
    let first = told(&host.request(0));
    assert!(first.contains("42 grams") && first.contains("Look at the tea of @notes.md\n\nand milk"), "{first}");
    chain(&host, "bare", "## a\n\nSay hello.\n");
    host.script([say("hello")]);
    host.agent(&["--chain", "bare"]).run().is(0, "hello\n", &[]);
    host.agent(&["--chain", "two"]).run().is(2, "", &["the chain two has no task", "hint: agent --chain two"]);
    host.agent(&["--chain", "two", "--image", "x.png", "y"]).run().is(2, "", &["pictures do not go along"]);
}

#[test]
fn a_chain_that_is_kept_nowhere_works_too_and_undo_takes_back_what_one_did() {
    let host = Host::new();
    chain(&host, "writes", "## a\n\nx\n## b\ntools: read_file\n\ny\n");
    let replies = || [call("write_file", json!({"path": "x", "content": "x"})), say("written"), say("done")];
    host.script(replies());
    host.agent(&["--chain", "writes", "--no-session", "--permissions", "write"]).run().is(0, "done\n", &[]);
    assert!(host.sessions().is_empty() && host.exists("x"));
    std::fs::remove_file(host.work().join("x")).unwrap();
    host.script(replies());
    host.agent(&["--chain", "writes", "--permissions", "write"]).run().ok();
    assert!(host.exists("x"));
    host.agent(&["undo", "--files"]).run().ok();
    assert!(!host.exists("x"));
}

#[test]
fn a_plan_keeps_steps_from_writing() {
    let host = Host::new();
    chain(&host, "writes", "## a\ntools: write_file, read_file\n\nx\n");
    host.script([call("write_file", json!({"path": "x", "content": "x"})), Reply::pieces(["a ", "plan"])]);
    let run = host.agent(&["--chain", "writes", "--plan"]).run().is(0, "a plan\n", &[]);
    assert!(run.stderr.contains("goes without tools that are not on offer here: write_file"), "{}", run.stderr);
    assert!(host.request(0).tools() == ["read_file"] && !host.exists("x"));
}
