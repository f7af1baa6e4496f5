//! The chat on a terminal that can do nothing (`TERM=dumb`): lines in, lines out, no escape sequence ever.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Host, Pty, call, say};

/// Long enough for a line to be there before what comes next.
const QUIET: Duration = Duration::from_millis(150);

fn chat(agent: Agent<'_>) -> Pty {
    let pty = agent.env("TERM", "dumb").pty(80, 40);
    pty.wait_for("viola");
    pty.wait_for("\n>");
    pty
}

/// Waits for the end and looks at how the terminal was left.
#[track_caller]
fn left(mut pty: Pty, code: i32) {
    assert_eq!(pty.exit_code(), code, "{}", pty.history().join("\n"));
    assert!(!pty.raw().contains(&b'\x1b'), "{:?}", String::from_utf8_lossy(&pty.raw()));
    assert!(!pty.is_raw() && pty.settings().contains("ECHO"));
    assert_eq!(pty.cursor().map(|(_, column)| column), Some(0), "{}", pty.history().join("\n"));
}

#[test]
fn a_talk_with_a_command_and_the_ways_out() {
    let host = Host::new();
    host.script([
        say("The first answer, \x1b[31mred."),
        call("execute_bash", json!({"command": "echo hi; exit 3"})),
        say("It failed."),
    ]);
    let pty = chat(host.agent(&["--yolo", "the first question"]));
    pty.wait_for("The first answer, ␛[31mred.");
    pty.line("run something");
    pty.wait_for("It failed.\n>");
    let all = pty.history().join("\n");
    assert!(all.contains("  x bash    echo hi; exit 3  exit 3"), "{all}");
    assert!(all.contains("> the first question"), "{all}");
    pty.line("/theme light");
    pty.wait_for("/theme needs a screen");
    pty.line("/hepl");
    pty.wait_for("did you mean /help?");
    pty.line("/help");
    pty.wait_for("ctrl-c               stop what runs");
    pty.line("/tools");
    pty.wait_for("execute_bash");
    pty.line("!echo $((6 * 7)) of my own");
    pty.wait_for("\n42 of my own");
    pty.wait_idle(QUIET);
    pty.line("/exit");
    left(pty, 0);
    host.assert_no_leftovers();

    let pty = chat(host.agent(&["--continue"]));
    pty.wait_for("The first answer");
    pty.wait_for("It failed.");
    pty.keys(&["ctrl-d"]);
    left(pty, 0);
}

#[test]
fn lines_that_were_there_before_a_question_do_not_answer_it() {
    let host = Host::new();
    host.script([
        // Time to type.
        call("write_file", json!({"path": "a.txt", "content": "a"})).text("Well. ").pace(Duration::from_millis(300)),
        say("Done."),
    ]);
    let pty = chat(host.agent(&[]));
    pty.line("write it");
    pty.wait_for("Well.");
    pty.line("y");
    pty.wait_for("y/w/s/n>");
    pty.wait_idle(QUIET);
    assert!(!host.exists("a.txt"));
    pty.line("н");
    pty.wait_for("the question is still open");
    pty.line("Yes");
    pty.wait_for("Done.\n>");
    assert!(host.exists("a.txt"));
    pty.keys(&["ctrl-d"]);
    left(pty, 0);
}

#[test]
fn an_interrupt_stops_the_task_and_at_the_prompt_it_leaves() {
    let host = Host::new();
    host.script([call("execute_bash", json!({"command": "sleep 100"})), say("Again.")]);
    let pty = chat(host.agent(&["--yolo"]));
    pty.line("go");
    host.wait_process("sleep 100");
    pty.line("and this");
    // The terminal forgets with the key what nobody has read.
    pty.wait_idle(QUIET);
    pty.keys(&["ctrl-c"]);
    pty.wait_for("Stopped.");
    pty.wait_for("Not sent: and this\n>");
    pty.line("again");
    pty.wait_for("Again.\n>");
    pty.keys(&["ctrl-c"]);
    left(pty, 130);
    host.assert_no_leftovers();
}

#[test]
fn signals_end_it() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let host = Host::new();
        let pty = chat(host.agent(&[]));
        pty.signal(signal);
        left(pty, code);
    }
}

#[test]
fn without_anybody_to_ask_a_first_start_says_how_to_go_on() {
    let host = Host::new();
    // Nothing is set up, and no server of this machine is where one would be looked for.
    let nowhere = json!({"base_url": "http://127.0.0.1:9/v1"});
    let locals = ["ollama", "llamacpp", "lmstudio", "vllm"].map(|name| (name.to_owned(), nowhere.clone()));
    let config = json!({"providers": serde_json::Map::from_iter(locals)});
    host.file(host.config_dir().join("config.json"), &config.to_string());
    for term in ["dumb", "xterm-256color"] {
        let mut pty = host.agent(&[]).env("TERM", term).env("VIOLA_API_KEY", "k").pty(80, 24);
        assert_eq!(pty.exit_code(), 4);
        let all = pty.history().join("\n");
        for line in [
            "  viola works on the code in this folder, with a model of your choice.",
            "    agent demo                     watch a small repair; no key, no network",
            "    export ANTHROPIC_API_KEY=...   use a key; openai, gemini and others too",
            "    ollama serve                   use a model on this machine; it is found",
            "VIOLA_API_KEY is set, but chooses no provider",
        ] {
            assert!(all.contains(line), "{all}");
        }
        assert!(!all.contains("error:"), "{all}");
        assert_eq!((pty.left_on(), pty.is_raw()), (Vec::new(), false));
        assert_eq!(pty.cursor().map(|(_, column)| column), Some(0));
    }
    host.agent(&["-p", "hi"]).run().is(4, "", &["error: there is no model to ask", "hint:", "agent demo"]);
}

#[test]
fn the_tree_is_a_list_and_a_number_leads_there() {
    let host = Host::new();
    host.server.allow_changed_prefix();
    host.script([say("answer one"), say("answer two"), say("answer three")]);
    let pty = chat(host.agent(&[]));
    pty.line("question one");
    pty.wait_for("answer one\n>");
    pty.line("question two");
    pty.wait_for("answer two\n>");
    pty.line("/tree");
    pty.wait_for("> /tree\n\n  ! /tree ID goes on");
    pty.wait_for("  3  > question two");
    pty.line("/resume");
    pty.wait_for("/resume ID goes on with one of these:");
    pty.wait_idle(QUIET);
    assert!(!pty.screen().contains("these:\n>"), "{}", pty.screen());
    pty.line("/tree 3");
    pty.wait_for("2 messages left behind");
    pty.wait_for("Not sent: question two\n>");
    pty.line("another question");
    pty.wait_for("answer three\n>");
    assert!(!host.request(2).mentions("question two"));
    pty.line("/tree");
    pty.wait_for("|- > question two");
    pty.line("/fork 3");
    pty.wait_for("This is a copy of session");
    pty.wait_idle(QUIET);
    pty.keys(&["ctrl-d"]);
    left(pty, 0);
}
