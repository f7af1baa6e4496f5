//! Skills and prompt templates, through the whole program: what the model is told, loads, and is sent in their place.

use std::path::Path;

use serde_json::json;

use crate::support::{Call, Host, call, calls, say};

fn skill(host: &Host, folder: impl AsRef<Path>, name: &str, head: &str, body: &str) {
    let text = format!("---\nname: {name}\n{head}\n---\n\n{body}\n");
    host.file(folder.as_ref().join(name).join("SKILL.md"), &text);
}

#[test]
fn the_model_loads_a_skill_and_sees_its_folder_and_files() {
    let host = Host::new();
    skill(&host, ".agents/skills", "tuning", "description: Tunes a <violin>", "Turn the peg gently.");
    host.file(".agents/skills/tuning/scripts/peg.sh", "true");
    let told = host.tool("load_skill", json!({"name": "tuning"}));
    let folder = host.work().join(".agents/skills/tuning");
    assert!(told.contains("<skill name=\"tuning\">\nTurn the peg gently.\n</skill>"), "{told}");
    assert!(told.contains(folder.to_str().unwrap()) && told.contains("Files there: scripts/peg.sh"), "{told}");
    let system = host.request(0).system().to_owned();
    assert!(
        system.contains("<name>tuning</name><description>Tunes a &lt;violin&gt;</description><location>"),
        "{system}"
    );
    assert!(!system.contains("Turn the peg"));
    let told = host.tool("load_skill", json!({"name": "tunning"}));
    assert!(told.contains("did you mean tuning?") && told.contains("review-diff"), "{told}");
}

#[test]
fn a_skill_is_sent_in_place_of_its_command() {
    let host = Host::new();
    skill(&host, ".claude/skills", "tuning", "description: Tunes", "Turn the peg gently.");
    host.file("peg.txt", "a peg");
    host.script([say("tuned")]);
    host.print("/skill:tuning all of @peg.txt").run().ok();
    let said = host.request(0).prompt().to_owned();
    assert!(said.contains("Turn the peg gently.") && said.ends_with("all of @peg.txt"), "{said}");
    assert!(said.contains("a peg"), "what was typed names files: {said}");
    let run = host.print("/skill:tunning x").run().exits(2);
    assert!(run.stderr.contains("there is no skill `tunning`") && run.stderr.contains("did you mean tuning?"));
}

#[test]
fn a_skill_that_was_written_meanwhile_can_be_loaded() {
    let host = Host::new();
    let path = ".viola/skills/fresh/SKILL.md";
    let text = |body: &str| format!("---\nname: fresh\ndescription: d\n---\n{body}\n");
    let write = |id, body: &str| Call::new(id, "write_file", json!({"path": path, "content": text(body)}));
    let load = |id| Call::new(id, "load_skill", json!({"name": "fresh"}));
    host.script([
        calls([load("c0")]),
        // Of one answer: the reader waits for the writer.
        calls([write("c1", "first"), load("c2")]),
        calls([write("c3", "second"), load("c4")]),
        calls([load("c5")]),
        say("done"),
    ]);
    host.task("go").run().ok();
    assert!(host.request(1).result("c0").contains("there is no skill fresh"));
    assert!(host.request(2).result("c2").contains("first"), "{}", host.request(2).result("c2"));
    assert!(host.request(3).result("c4").contains("second"));
    assert!(host.request(4).result("c5").contains("second"));
}

#[test]
fn what_hides_what_and_what_is_broken_is_told() {
    let host = Host::new();
    skill(&host, ".viola/skills", "tuning", "description: from here", "x");
    skill(&host, ".claude/skills", "tuning", "description: from there", "x");
    skill(&host, host.config_dir().join("skills"), "tuning", "description: from the user", "x");
    host.file(".viola/skills/broken/SKILL.md", "---\nname: x\ndescription: [unclosed\n---\nx");
    host.file(".viola/prompts/help.md", "never");
    let run = host.agent(&["skills"]).run().ok();
    let told = &run.stdout;
    assert!(told.contains(".claude/skills/tuning/SKILL.md is hidden by"), "{told}");
    assert!(told.contains("/help.md is hidden by the command /help"), "{told}");
    assert!(told.lines().any(|line| line.contains("broken/SKILL.md:") && line.ends_with("; not used")), "{told}");
    let value = host.agent(&["skills", "--json"]).run().ok().json();
    assert_eq!(value["skills"][0]["description"], "from here");
    assert_eq!((value["hidden"].as_array().unwrap().len(), value["problems"].as_array().unwrap().len()), (2, 1));
    host.script([say("ok")]);
    let run = host.print("hi").run().ok();
    assert!(
        run.stderr.contains("1 skill cannot be used") && run.stderr.contains("before yours of the same name: tuning")
    );
}

#[test]
fn a_template_is_filled_in_and_takes_tools_away() {
    let host = Host::new();
    let head = "---\ndescription: d\nargument-hint: [who]\ntools: read_file, load_skill\n---\n";
    host.file(".viola/prompts/greet.md", &format!("{head}Greet $1, then $2. $$1 is $ARGUMENTS\n"));
    host.script([say("hello"), say("ok"), say("ok")]);
    host.print("/greet \"Ada $2\" loudly").run().ok();
    let request = host.request(0);
    let said = request.prompt().to_owned();
    assert!(said.ends_with("Greet Ada $2, then loudly. $1 is \"Ada $2\" loudly"), "{said}");
    assert_eq!(request.tools(), ["read_file", "load_skill"]);
    for unknown in ["/usr/bin/env is what?", "/nothing here"] {
        host.print(unknown).run().ok();
    }
    assert!(host.request(1).prompt().ends_with("/usr/bin/env is what?"));
    assert!(host.request(2).prompt().ends_with("/nothing here"));
}

#[test]
fn a_template_names_who_answers_but_a_strangers_no_other_provider() {
    let host = Host::new();
    host.config(
        json!({"providers": {"mock": {"models": [{"id": "test-model"}, {"id": "other", "contextWindow": 64_000}]}}}),
    );
    host.file(".viola/prompts/one.md", "---\nmodel: other\n---\nSay one.\n");
    host.file(".viola/prompts/two.md", "---\nmodel: openai/gpt-5\n---\nSay two.\n");
    host.script([say("1"), say("2"), say("3")]);
    host.print("/one").run().ok();
    assert_eq!(host.request(0).model(), "other");
    let run = host.print("/two").run().ok();
    assert!(host.request(1).model() == "test-model" && run.stderr.contains("openai/gpt-5"), "{}", run.stderr);
    host.agent(&["-p", "-m", "test-model", "/one"]).run().ok();
    assert_eq!(host.request(2).model(), "test-model");
}

#[test]
fn skills_do_not_reach_out_of_the_repository_or_into_what_is_closed() {
    let host = Host::new();
    host.config(json!({"sandbox": {"deny_read": ["closed/**"]}}));
    let outside = host.home().join("elsewhere");
    skill(&host, &outside, "outer", "description: d", "x");
    skill(&host, "closed", "shut", "description: d", "x");
    std::fs::create_dir_all(host.work().join(".viola/skills")).unwrap();
    for (target, name) in [(outside.join("outer"), "outer"), (host.work().join("closed/shut"), "shut")] {
        std::os::unix::fs::symlink(target, host.work().join(".viola/skills").join(name)).unwrap();
    }
    // Round and round.
    std::os::unix::fs::symlink(".", host.work().join(".viola/skills/again")).unwrap();
    let value = host.agent(&["skills", "--json"]).run().ok().json();
    let problems = value["problems"].as_array().unwrap();
    assert!(problems.len() == 2 && value["skills"].as_array().unwrap().len() == 3, "{value}");
    host.script([call("load_skill", json!({"name": "outer"})), say("ok")]);
    host.task("go").run().ok();
    assert!(host.request(1).told().contains("there is no skill outer"));
}

#[test]
fn without_the_tool_there_is_no_list_and_always_is_always() {
    let host = Host::new();
    skill(&host, ".viola/skills", "manners", "description: d\nalways: true", "Be kind.");
    host.script([say("ok"), say("ok")]);
    host.agent(&["-p", "--tools", "read_file", "hi"]).run().ok();
    let system = host.request(0).system().to_owned();
    assert!(!system.contains("<available_skills>") && system.matches("Be kind.").count() == 1, "{system}");
    host.print("hi").run().ok();
    let system = host.request(1).system().to_owned();
    assert!(system.contains("<name>commit</name>") && !system.contains("<name>manners</name>"), "{system}");
}
