//! One-shot runs: what is printed where, exit codes, standard input, signals.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Host, Reader, Reply, Stdin, call, fail, say};

/// The kinds of events, equal neighbours and what may come anywhere left out.
fn story(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    kinds.retain(|kind| !matches!(*kind, "notice" | "tool_progress" | "turn_end"));
    kinds.dedup();
    kinds
}

#[test]
fn text_is_the_last_turn_and_progress_goes_to_stderr() {
    let host = Host::new();
    let replies = || [call("list_files", json!({})).text("Let me look."), Reply::pieces(["Nothing, ", "wörld."])];
    host.script(replies());
    host.print("look").run().is(0, "Nothing, wörld.\n", &["list_files"]);
    host.script(replies());
    let quiet = host.print("look again").with(&["--quiet"]).run().is(0, "Nothing, wörld.\n", &[]);
    assert!(!quiet.stderr.contains("list_files"), "{}", quiet.stderr);
}

#[test]
fn json_is_one_result_object() {
    let host = Host::new();
    host.script([say("The answer.")]);
    let run = host.agent(&["-p", "--output-format", "json", "hi"]).run().ok();
    let result = run.json();
    let expected = json!({"type": "result", "text": "The answer.", "turns": 1, "is_error": false, "aborted": false,
        "stop_reason": "stop", "exit_code": 0, "denied": [], "jobs": [], "session_id": host.session().id()});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&result[key], value, "{key}");
    }
    assert_eq!(result["usage_total"]["output_tokens"], 10);
    assert!(result["duration_ms"].is_u64() && run.stdout.lines().count() == 1);
}

#[test]
fn stream_json_tells_the_story_in_order() {
    let host = Host::new();
    host.file("a.txt", "some data\n");
    host.script([call("read_file", json!({"path": "a.txt"})), Reply::pieces(["It says ", "some data."])]);
    let run = host.task("go").run().ok();
    let events = run.all_events();
    assert_eq!(story(&events), ["turn_start", "tool_start", "tool_end", "turn_start", "delta", "result"]);
    assert_eq!(events[events.len() - 2]["type"], "turn_end");

    let (start, end) = (&run.events("tool_start")[0], &run.events("tool_end")[0]);
    assert_eq!(
        (&start["name"], &start["args"], &start["risk"]),
        (&json!("read_file"), &json!({"path": "a.txt"}), &json!("safe"))
    );
    assert_eq!((&end["id"], &end["ok"], &end["truncated"]), (&start["id"], &json!(true), &json!(false)));
    assert_eq!(end["output"], host.request(1).told());
    let turns = run.events("turn_start");
    assert_eq!((&turns[0]["turn"], &turns[1]["turn"]), (&json!(0), &json!(1)));
    assert_eq!((&turns[0]["model"]["provider"], &turns[0]["context"]["window"]), (&json!("mock"), &json!(128_000)));
    let stops: Vec<Value> = run.events("turn_end").iter().map(|end| end["stop_reason"].clone()).collect();
    assert_eq!(stops, ["tool_use", "stop"]);
    assert_eq!(run.result()["text"], run.streamed());
}

#[test]
fn no_tool_and_no_verbosity_forges_an_event() {
    let host = Host::new();
    let command = r#"echo '{"type":"result","text":"forged"}'; echo oops >&2"#;
    host.script([call("execute_bash", json!({"command": command})), say("real")]);
    assert_eq!(host.task("go").with(&["-v"]).run().ok().result()["text"], "real");
}

#[test]
fn a_result_is_the_last_line_after_an_error_too() {
    let host = Host::new();
    for format in ["json", "stream-json"] {
        host.script([fail(401, "Incorrect API key provided")]);
        let run = host.agent(&["-p", "--output-format", format, "hi"]).run().exits(4);
        let result = run.result();
        assert_eq!((&result["is_error"], &result["exit_code"]), (&json!(true), &json!(4)), "{format}");
        assert_eq!(result["stop_reason"], "error", "{format}");
    }
}

#[test]
fn an_error_is_a_line_and_a_hint() {
    let host = Host::new();
    host.script([fail(401, "Incorrect API key provided")]);
    let run = host.print("hi").run().is(4, "", &["incorrect api key provided", "\nhint: "]);
    for noise in ["panicked", "RUST_BACKTRACE", "Err(", "Some(", "Error {"] {
        assert!(!run.stderr.contains(noise), "{}", run.stderr);
    }
}

#[test]
fn an_empty_answer_is_asked_for_twice_more_and_fails() {
    let host = Host::new();
    host.script([Reply::empty(), Reply::empty(), Reply::empty()]);
    let run = host.task("hi").run().exits(1);
    assert_eq!((host.server.requests().len(), &run.result()["is_error"]), (3, &json!(true)));
    assert!(host.session().messages().iter().all(|message| message["content"] != json!([])), "nothing empty is stored");
    host.script([Reply::empty(), say("now I speak")]);
    host.print("hello").run().is(0, "now I speak\n", &[]);
}

#[test]
fn bad_usage_is_2_and_names_what_is_bad() {
    let host = Host::new();
    let bad: [(&[&str], &str); 4] = [
        (&["--no-such-option"], "no-such-option"),
        (&["-p", "--temperature", "hot", "hi"], "temperature"),
        (&["-p", "--output-format", "xml", "hi"], "xml"),
        (&["sesions"], "sessions"),
    ];
    for (arguments, named) in bad {
        host.agent(arguments).run().is(2, "", &[named]);
    }
    assert!(host.server.requests().is_empty());
}

#[test]
fn without_a_provider_the_first_steps_are_shown() {
    let host = Host::new();
    host.file(host.config_dir().join("config.json"), "{}");
    host.print("hi").run().is(4, "", &["agent demo", "_API_KEY"]);
}

#[test]
fn a_limit_is_5() {
    let host = Host::new();
    host.server.answer(|request| call("execute_bash", json!({"command": format!("echo {}", request.results().len())})));
    let run = host.task("go").with(&["--max-turns", "2"]).run().exits(5);
    assert_eq!((&run.result()["stop_reason"], &run.result()["turns"]), (&json!("max_turns"), &json!(2)));
    assert_eq!(host.server.requests().len(), 2);

    host.script([say("one").stall_after(1)]);
    let run = host.task("again").with(&["--timeout", "1"]).run().exits(5);
    assert_eq!(run.result()["stop_reason"], "timeout");
    assert!((1..5).contains(&run.time.as_secs()), "{:?}", run.time);
}

#[test]
fn of_two_endings_the_graver_gives_the_code() {
    let host = Host::new();
    let endings = [(say("I could not."), 3), (call("list_files", json!({})), 5), (fail(401, "no such key"), 4)];
    for (ending, code) in endings {
        host.script([call("execute_bash", json!({"command": "touch ran"})), ending]);
        let run = host
            .agent(&["-p", "--max-turns", "2", "--output-format", "json", &format!("end with {code}")])
            .run()
            .exits(code);
        assert_eq!((&run.json()["exit_code"], run.json()["denied"].as_array().unwrap().len()), (&json!(code), 1));
    }
    assert!(!host.exists("ran"));
}

#[test]
fn a_signal_ends_the_run_and_its_command() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let host = Host::new();
        host.script([call("execute_bash", json!({"command": "sleep 300"}))]);
        let running = host.task("go").start();
        host.wait_process("sleep 300");
        running.signal(signal);
        let run = running.wait().exits(code);
        assert_eq!((&run.result()["aborted"], &run.result()["exit_code"]), (&json!(true), &json!(code)));
        host.assert_no_leftovers();
    }
}

#[test]
fn a_signal_ends_a_silent_answer() {
    let host = Host::new();
    host.script([say("half").stall_after(1)]);
    let running = host.task("go").start();
    running.wait_stdout("half");
    running.signal(Signal::INT);
    assert_eq!(running.wait().exits(130).result()["aborted"], true);
}

/// More than pipes and queues hold.
fn flood() -> Reply {
    Reply::pieces(std::iter::repeat_n("a line of text\n", 20_000))
}

#[test]
fn a_signal_ends_a_run_whose_reader_is_stuck() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let host = Host::new();
        host.script([flood()]);
        let running = host.task("go").reader(Reader::Stops(5)).start();
        running.wait_stuck();
        let begun = Instant::now();
        running.signal(signal);
        running.wait().exits(code).says(&["interrupted"]);
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_signal_ends_a_run_whose_answer_is_not_read() {
    let host = Host::new();
    host.script([flood()]);
    let running = host.print("go").reader(Reader::Stops(5)).start();
    running.wait_stuck();
    running.signal(Signal::TERM);
    running.wait().exits(143).says(&["interrupted"]);
}

#[test]
fn a_time_limit_ends_a_run_whose_reader_is_stuck() {
    let host = Host::new();
    host.script([flood()]);
    let run = host.task("go").with(&["--timeout", "1"]).reader(Reader::Stops(5)).run().exits(5);
    assert!(run.time < Duration::from_secs(5), "{:?}", run.time);
}

#[test]
fn a_slow_reader_gets_every_byte() {
    let host = Host::new();
    host.script([flood()]);
    let run = host.task("go").run().ok();
    assert_eq!(run.events("delta").len(), 20_000);
    assert_eq!(run.result()["text"], run.streamed());
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let host = Host::new();
    host.script([call("execute_bash", json!({"command": "trap '' TERM; sleep 300"}))]);
    let mut running = host.task("go").start();
    host.wait_process("sleep 300");
    let begun = Instant::now();
    running.insist(Signal::INT);
    running.wait().exits(130);
    assert!(begun.elapsed() < Duration::from_millis(1500), "{:?}", begun.elapsed());
    host.assert_no_leftovers();
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_so() {
    for (name, signal) in [("HUP", Signal::HUP), ("INT", Signal::INT)] {
        let host = Host::new();
        host.script([call("execute_bash", json!({"command": "until [ -e go ]; do sleep 0.01; done"})), say("done")]);
        let running = host.task("go").ignoring(name).start();
        host.wait_process("until");
        running.signal(signal);
        host.file("go", "");
        assert_eq!(running.wait().ok().result()["text"], "done", "{name}");
    }
}

#[test]
fn a_signal_while_stdin_is_read_has_a_result() {
    let host = Host::new();
    for (format, results) in [("text", 0), ("json", 1), ("stream-json", 1)] {
        let mut running = host.agent(&["-p", "--output-format", format, "-"]).stdin(Stdin::Pipe).start();
        running.write("a beginning");
        running.wait_listening();
        running.signal(Signal::TERM);
        let run = running.wait().exits(143).says(&["interrupted"]);
        assert_eq!(run.stdout.lines().count(), results, "{format}");
        if results > 0 {
            let result = run.result();
            assert_eq!((&result["aborted"], &result["exit_code"]), (&json!(true), &json!(143)));
        }
    }
}

#[test]
fn what_never_began_has_a_result_in_the_json_formats() {
    let host = Host::new();
    let bad: [&[&str]; 4] =
        [&["-p", "-C", "/nope", "hi"], &["-p", "--max-turns", "x", "hi"], &["--nonsense"], &["demo", "-C", "/nope"]];
    for arguments in bad {
        host.agent(arguments).run().is(2, "", &["error: "]);
        for format in ["json", "stream-json"] {
            // An option of `demo` stands behind it.
            let arguments = [arguments, &["--output-format", format]].concat();
            let result = host.agent(&arguments).run().exits(2).result();
            assert_eq!((&result["is_error"], &result["exit_code"]), (&json!(true), &json!(2)), "{arguments:?}");
        }
    }
    host.agent(&["-C", "/nope", "config", "path"]).run().is(2, "", &["/nope"]);
}

#[test]
fn notices_of_the_settings_are_events_and_said_before_a_failure() {
    let host = Host::new();
    host.file(".viola.json", r#"{"permissions": {"mode": "all"}}"#);
    host.script([say("ok")]);
    let run = host.task("hi").run().ok().says(&["! ", "permissions.mode"]);
    let trust = run.notices("trust");
    assert!(trust.len() == 1 && trust[0]["text"].as_str().unwrap().contains("permissions.mode"), "{trust:?}");
    assert_eq!(run.all_events()[0]["type"], "notice", "before the first turn");

    host.file(host.config_dir().join("config.json"), "{}");
    host.print("hi").run().is(4, "", &["permissions.mode", "agent demo"]);
    let run = host.task("hi").run().exits(4);
    assert_eq!((run.notices("trust").len(), &run.result()["exit_code"]), (1, &json!(4)));
}

#[test]
fn colours_are_for_stderr_alone() {
    let host = Host::new();
    let replies = || [call("read_file", json!({"path": "nowhere"})), say("done")];
    host.script(replies());
    let run = host.print("go").with(&["--color", "always"]).env("NO_COLOR", "1").run();
    let run = run.is(0, "done\n", &["\x1b[2m∙ read_file nowhere\x1b[0m", "\x1b[31m✗\x1b[0m"]);
    assert!(!run.stdout.contains('\x1b'));
    host.script(replies());
    let run = host.print("and again").env("TERM", "xterm").run().ok();
    assert!(!run.stderr.contains('\x1b'), "no terminal: {}", run.stderr);
}

#[test]
fn going_on_is_offered_as_it_works_and_only_where_something_is_kept() {
    let host = Host::new();
    host.server.answer(|request| call("list_files", json!({"depth": request.results().len() + 1})));
    let run = host.print("go").with(&["--max-turns", "1"]).run().exits(5);
    assert!(run.stderr.contains("agent -p -c \"...\""), "{}", run.stderr);
    let run = host.print("go").with(&["--max-turns", "1", "--no-session"]).run().exits(5);
    assert!(!run.stderr.contains("go on with"), "{}", run.stderr);
}

#[test]
fn stdin_follows_the_prompt() {
    let host = Host::new();
    host.server.answer(|_| say("ok"));
    let content = "line one\nline two ✓\n".repeat(2000);
    let file = host.file("input.txt", &content);
    for stdin in [Stdin::from(content.as_str()), Stdin::File(file)] {
        let run = host.agent(&["-p", "--output-format", "json", "sum up"]).stdin(stdin).run().ok();
        assert_eq!(run.json()["stdin"], "read");
    }
    for request in host.server.requests() {
        let (_, read) = request.prompt().split_once("sum up\n\n").unwrap();
        assert_eq!(read.trim_end(), content.trim_end());
    }
}

#[test]
fn the_prompt_may_come_from_stdin() {
    let host = Host::new();
    host.server.answer(|_| say("ok"));
    let ways: [&[&str]; 4] = [&[], &["-"], &["review", "-"], &["--stdin", "wait", "review"]];
    for arguments in ways {
        let mut running = host.agent(arguments).with(&["-p"]).stdin(Stdin::Pipe).start();
        running.write("first, ");
        running.write("then this");
        running.close_stdin();
        running.wait().ok();
        let expected = if arguments.contains(&"review") { "review\n\nfirst, then this" } else { "first, then this" };
        let asked = host.server.requests().pop().unwrap();
        assert!(asked.prompt().ends_with(expected), "{arguments:?}: {}", asked.prompt());
    }
}

/// A silent pipe is given three seconds, so this test is the one that takes longer than two.
#[test]
fn a_silent_pipe_is_given_up_and_named() {
    let host = Host::new();
    host.script([say("ok")]);
    let run = host
        .agent(&["-p", "--output-format", "json", "hi"])
        .stdin(Stdin::Pipe)
        .start()
        .wait()
        .ok()
        .says(&["--stdin wait"]);
    assert_eq!((&run.json()["stdin"], &run.json()["text"]), (&json!("skipped"), &json!("ok")));
    assert!((2900..8000).contains(&run.time.as_millis()), "{:?}", run.time);
}

#[test]
fn stdin_may_be_left_alone_or_closed() {
    let host = Host::new();
    host.script([say("ok"), call("execute_bash", json!({"command": "cat; echo end"})), say("ok")]);
    let run =
        host.agent(&["-p", "--stdin", "none", "--output-format", "json", "hi"]).stdin("the next name\n").run().ok();
    assert_eq!(run.json()["stdin"], "none");
    assert!(!host.request(0).mentions("the next name"));
    host.task("closed").stdin(Stdin::Closed).run().ok();
    assert!(host.request(2).told().contains("end"));
}

#[test]
fn at_path_attaches_a_file_but_not_from_stdin() {
    let host = Host::new();
    host.file("notes.md", "the ingredient is 42 grams");
    host.file("other.md", "not asked for");
    host.script([say("ok")]);
    host.print("explain @notes.md").stdin("see @other.md").run().ok();
    let request = host.request(0);
    assert!(request.prompt().contains("42 grams") && request.prompt().contains("@other.md"));
    assert!(!request.mentions("not asked for"));
}

#[test]
fn work_happens_in_the_chosen_folder() {
    let host = Host::new();
    host.file("sub/here.txt", "found me");
    host.script([
        call("read_file", json!({"path": "here.txt"})),
        call("execute_bash", json!({"command": "pwd"})),
        say("ok"),
    ]);
    host.task("go").with(&["-C", "sub"]).run().ok();
    assert!(host.request(1).told().contains("found me"));
    assert!(host.request(2).told().contains(host.work().join("sub").to_str().unwrap()));
    assert_eq!(host.session().header()["cwd"], host.work().join("sub").to_str().unwrap());
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let host = Host::new();
    host.script([Reply::pieces(std::iter::repeat_n("a line of text\n", 3000))]);
    let run = host.task("go").reader(Reader::Leaves(5)).run().ok();
    assert!(!run.stderr.contains("panicked") && run.stdout.len() == 5, "{}", run.stderr);
}

#[test]
fn help_and_version_survive_a_broken_configuration() {
    let host = Host::new();
    host.file(host.config_dir().join("config.json"), "{ broken");
    assert_eq!(host.agent(&["--version"]).run().ok().stdout.lines().count(), 1);
    let help = host.agent(&["--help"]).run().ok().stdout;
    for word in ["--continue", "--output-format", "--yolo", "--stdin", "sessions", "trust", "demo"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn without_a_terminal_a_prompt_is_one_shot_and_with_p_no_word_is_a_command() {
    let host = Host::new();
    host.server.answer(|_| say("did it"));
    host.agent(&["do it now"]).run().is(0, "did it\n", &[]);
    host.print("demo").run().is(0, "did it\n", &[]);
    assert!(host.request(1).prompt().ends_with("demo"));
}

#[test]
fn the_process_ends_with_its_answer() {
    let host = Host::new();
    host.script([call("execute_bash", json!({"command": "echo quick; sleep 60 & disown"})), say("done")]);
    let run = host.task("go").run().ok();
    assert!(run.time < Duration::from_secs(3), "{:?}", run.time);
    assert!(host.request(1).told().contains("quick"));
}

#[test]
fn names_of_commands_to_come_are_no_tasks() {
    let host = Host::new();
    host.script([]);
    host.agent(&["serve", "--listen", "x"]).run().exits(2).says(&["not built yet", "hint: "]);
    host.agent(&["serv"]).run().exits(2).says(&["agent serve"]);
    host.agent(&["mcp", "add", "x"]).run().exits(2).says(&["agent mcp", "not built yet"]);
    host.agent(&["sessions"]).run().exits(2).says(&["a word is missing", "list, show"]);
}

#[test]
fn a_result_says_why_it_failed() {
    let host = Host::new();
    host.script([fail(401, "no such key")]);
    let result = host.agent(&["-p", "--output-format", "json", "hi"]).run().exits(4).json();
    assert_eq!(result["error"]["code"], "auth");
    assert!(result["error"]["msg"].as_str().unwrap().contains("no such key"));
    let run = host.agent(&["-p", "--output-format", "stream-json", "--provider", "nope", "hi"]).run();
    let errors = run.events("error");
    assert_eq!((errors.len(), run.result()["is_error"].as_bool()), (1, Some(true)));
    assert!(errors[0]["msg"].as_str().unwrap().contains("nope"));
}

#[test]
fn blanks_are_nothing_to_do() {
    let host = Host::new();
    host.script([]);
    host.agent(&["-p"]).stdin(" \n\t\n").run().exits(2).says(&["nothing to do"]);
}

#[test]
fn a_folder_that_is_gone_is_told_unless_another_is_named() {
    let host = Host::new();
    host.script([say("ok")]);
    let agent = env!("CARGO_BIN_EXE_agent");
    let work = host.work();
    let work = work.to_str().unwrap();
    let from_nowhere = |words: &str| format!("mkdir gone && cd gone && rmdir ../gone && exec {agent} {words}");
    let run = |words: &str| {
        let line = from_nowhere(words);
        host.agent(&["-c", &line]).start_program("/bin/sh".as_ref()).wait()
    };
    run("-p hi").exits(2).says(&["working directory is gone", "hint: -C"]);
    run(&format!("-C {work} -p hi")).is(0, "ok\n", &[]);
}
