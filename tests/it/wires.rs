//! All wires behave alike: what arrives, what goes back, and what is done when the provider fails.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Call, Failure, Host, KEY, MODEL, PROVIDER, Reply, Role, Usage, Wire, call, calls, fail, say, side_by_side, think,
};

/// Limits that make a silent server's tests short.
fn impatient(host: &Host) {
    host.config(json!({"http": {"idle_timeout": 1, "first_byte_timeout": 1, "max_retries": 2}}));
}

#[test]
fn streams_may_be_cut_anywhere() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        let pieces = ["Grüß ", "天天向上 ", "👩‍💻", "\n\nEnd."];
        for size in [1, 3, 7] {
            host.script([Reply::pieces(pieces).split(size)]);
            host.print(&format!("{size} bytes")).run().is(0, &(pieces.concat() + "\n"), &[]);
        }
        assert!(!host.request(0).system().is_empty());
    }
}

#[test]
fn parallel_calls_survive_any_cut_and_keep_their_order() {
    for wire in Wire::ALL {
        for piece in [1, 4, usize::MAX] {
            let host = Host::on(wire);
            let read = |name: &str| {
                host.file(format!("{name} ä🎻\".txt"), &format!("content of {name}"));
                Call::new(&format!("c_{name}"), "read_file", json!({"path": format!("{name} ä🎻\".txt")}))
                    .in_pieces_of(piece)
            };
            host.script([calls(["z", "a", "m"].map(read)).text("Reading."), say("ok")]);
            host.task("go").run().ok();
            let request = host.request(1);
            assert_eq!(request.answered(), ["c_z", "c_a", "c_m"]);
            assert!(
                ["z", "a", "m"]
                    .iter()
                    .all(|name| request.result(&format!("c_{name}")).contains(&format!("content of {name}")))
            );
            assert_eq!(request.said(Role::Assistant), ["Reading."]);
        }
    }
}

#[test]
fn reasoning_is_kept_apart_from_the_answer() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.script([think("I wonder.", "The answer.").thought("I wonder.", "SEAL")]);
        let run = host.task("hi").with(&["--reasoning-effort", "high"]).run().ok();
        assert_eq!((run.streamed(), &run.result()["text"]), ("The answer.".into(), &json!("The answer.")));
        assert_eq!(run.events("reasoning")[0]["text"], "I wonder.");
        let session = host.session();
        let content = session.messages()[1]["content"].as_array().unwrap();
        let kinds: Vec<&Value> = content.iter().map(|part| &part["type"]).collect();
        assert_eq!(kinds, ["reasoning", "text"]);
    }
}

#[test]
fn signed_reasoning_goes_back_to_its_model_and_to_no_other() {
    let host = Host::on(Wire::Anthropic);
    let models = json!([{"id": MODEL, "reasoning": true}, {"id": "other", "reasoning": true}]);
    host.config(json!({"providers": {"mock": {"models": models}}, "reasoning_effort": "high"}));
    host.script([call("list_files", json!({})).thought("Plan.", "SEAL-1"), say("one"), say("two")]);
    host.task("first").run().ok();
    assert_eq!(host.request(1).reasoning(), [("Plan.", Some("SEAL-1"))]);
    host.print("second").with(&["-c", "-m", "mock/other"]).run().ok();
    assert_eq!((host.request(2).model(), host.request(2).reasoning()), ("other", vec![]));
    assert_eq!(host.request(2).said(Role::Assistant), ["one"]);
}

#[test]
fn reasoning_whose_seal_is_refused_is_left_out_and_told_once() {
    let google =
        json!({"error": {"code": 400, "message": "Thought signature is not valid", "status": "INVALID_ARGUMENT"}});
    let anthropic = json!({"type": "invalid_request_error", "message": "messages.1.content.0: Invalid `signature` in `thinking` block"});
    let openai = json!({"code": "invalid_encrypted_content", "message": "The encrypted content for item rs_1 could not be verified."});
    let refusals = [
        (Wire::Responses, json!({ "error": openai })),
        (Wire::Anthropic, json!({"type": "error", "error": anthropic})),
        (Wire::Gemini, google),
    ];
    for (wire, refusal) in refusals {
        let host = Host::on(wire);
        host.server.allow_changed_prefix();
        let thought = call("list_files", json!({})).thought("Plan.", "SEAL-1");
        host.script([thought, Reply::body(400, "application/json", &refusal.to_string()), say("done")]);
        let run = host.task("first").with(&["--reasoning-effort", "high"]).run().ok();
        let told = run.notices("retry");
        assert!(told.len() == 1 && told[0]["text"].as_str().unwrap().contains("without it"), "{told:?}");
        assert!(host.request(1).mentions("SEAL-1") && !host.request(2).mentions("SEAL-1"), "{wire:?}");
        assert_eq!((host.request(2).reasoning(), host.request(2).answered().len()), (vec![], 1), "{wire:?}");
    }
}

#[test]
fn a_summary_of_reasoning_that_is_not_granted_is_done_without() {
    let refused = "Your organization must be verified to generate reasoning summaries. Please go to: https://x.";
    let body = json!({"error": {"message": refused, "type": "invalid_request_error", "param": "reasoning.summary", "code": "unsupported_value"}});
    let host = Host::on(Wire::Responses);
    let refusal = Reply::body(400, "application/json", &body.to_string());
    host.script([refusal, call("list_files", json!({})), say("done")]);
    let run = host.task("hi").with(&["--reasoning-effort", "high"]).run().ok();
    let summaries: Vec<Value> = (0..3).map(|number| host.request(number).body["reasoning"].clone()).collect();
    let without = || json!({"effort": "high"});
    assert_eq!(summaries, [json!({"effort": "high", "summary": "auto"}), without(), without()]);
    let told = run.notices("retry");
    assert!(told.len() == 1 && told[0]["text"].as_str().unwrap().contains("must be verified"), "{told:?}");
}

#[test]
fn usage_is_counted_alike() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        let usage = Usage { input: 1000, output: 50, cache_read: 300 };
        host.script([call("list_files", json!({})).usage(usage), say("ok").usage(usage)]);
        let run = host.task("hi").run().ok();
        let counted = |usage: &Value| {
            ["input_tokens", "output_tokens", "cache_read_tokens"].map(|key| usage[key].as_u64().unwrap())
        };
        assert_eq!(counted(&run.events("turn_end")[0]["usage"]), [1000, 50, 300]);
        assert_eq!(counted(&run.result()["usage_total"]), [2000, 100, 600]);
        assert_eq!(run.result()["usage_total"]["cost_usd"], Value::Null, "the price is unknown, not nothing");
    }
}

#[test]
fn limits_and_the_key_stand_where_the_wire_wants_them() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        // One that reasons takes no temperature on some wires.
        host.config(json!({"providers": {PROVIDER: {"models": [{"id": MODEL}]}}}));
        host.script([say("ok")]);
        host.print("hi").with(&["--max-tokens", "1234", "--temperature", "0.5"]).run().ok();
        let request = host.request(0);
        let settings = if wire == Wire::Gemini { &request.body["generationConfig"] } else { &request.body };
        assert_eq!(settings["temperature"], 0.5, "{wire:?}");
        let names = ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"];
        assert!(names.iter().any(|name| settings[*name] == 1234), "{wire:?}");
        let (header, value) = wire.key_header(KEY);
        assert_eq!(host.request(0).header(header), value);
    }
}

#[test]
fn a_named_wait_is_waited() {
    side_by_side(Wire::ALL, |wire| {
        let host = Host::on(wire);
        host.script([fail(429, "slow down").header("retry-after", "1"), say("made it")]);
        let run = host.task("hi").run().ok();
        assert_eq!((&run.result()["text"], run.notices("retry").len()), (&json!("made it"), 1));
        assert!(host.server.gaps()[0] >= Duration::from_secs(1), "{:?}", host.server.gaps());
    });
}

#[test]
fn unnamed_waits_grow_and_no_tool_runs_twice() {
    let host = Host::new();
    host.script([
        call("execute_bash", json!({"command": "echo run >> runs.txt"})),
        fail(503, "busy"),
        fail(503, "busy"),
        say("made it"),
    ]);
    let run = host.task("hi").run().ok();
    let gaps = &host.server.gaps()[1..];
    assert!(gaps[0] >= Duration::from_millis(200) && gaps[1] > gaps[0], "{gaps:?}");
    assert_eq!((host.read("runs.txt").as_str(), run.notices("retry").len()), ("run\n", 2));
}

#[test]
fn a_named_wait_above_the_cap_fails_at_once_and_is_told() {
    let host = Host::new();
    host.script([fail(429, "quota exhausted").header("retry-after", "86400")]);
    let run = host.task("hi").run().exits(4);
    assert!(run.time < Duration::from_secs(2) && run.notices("retry").is_empty());
    let told = run.events("error")[0]["msg"].as_str().unwrap().to_lowercase();
    assert!(["86400", "86,400", "24 h", "24h", "1 d", "1d", "1440 m"].iter().any(|time| told.contains(time)), "{told}");
}

#[test]
fn passing_troubles_are_ridden_out() {
    let troubles = [
        fail(500, "broken"),
        say("x").reset_after(0),
        say("x").fail_after(0, Failure::Overload, "busy"),
        say("late").wait(Duration::from_secs(60)),
        say("x").stall_after(0),
    ];
    side_by_side(troubles.into_iter().enumerate(), |(number, trouble)| {
        let host = Host::new();
        impatient(&host);
        host.script([trouble, say("made it")]);
        let run = host.task("hi").run().ok();
        assert_eq!((&run.result()["text"], run.notices("retry").len()), (&json!("made it"), 1), "trouble {number}");
    });
}

#[test]
fn nothing_is_doubled_after_a_broken_answer() {
    let story = || Reply::pieces(["Once ", "upon ", "a time"]);
    let broken = [story().cut_after(2), story().reset_after(2), story().fail_after(2, Failure::Overload, "busy")];
    let cases = broken.into_iter().flat_map(|reply| Wire::ALL.map(|wire| (wire, reply.clone())));
    side_by_side(cases, |(wire, reply)| {
        let host = Host::on(wire);
        impatient(&host);
        host.script([reply, story()]);
        host.print("tell").run().is(0, "Once upon a time\n", &[]);
        assert_eq!(host.session().texts("assistant"), ["Once upon a time"]);
        assert!(host.request(1).said(Role::Assistant).is_empty());
    });
}

#[test]
fn a_restart_is_announced_after_the_lost_deltas() {
    let host = Host::new();
    impatient(&host);
    host.script([Reply::pieces(["Once ", "upon "]).stall_after(1), Reply::pieces(["Once ", "more"])]);
    let run = host.task("tell").run().ok();
    let events = run.all_events();
    let restart = events.iter().position(|event| event["code"] == "retry" && event["restart"] == true).unwrap();
    let text = |events: &[Value]| {
        events.iter().filter(|event| event["type"] == "delta").filter_map(|event| event["text"].as_str()).collect()
    };
    let (before, after): (String, String) = (text(&events[..restart]), text(&events[restart..]));
    assert_eq!((before.as_str(), after.as_str()), ("Once ", "Once more"));
    assert_eq!(run.result()["text"], "Once more");
}

#[test]
fn signs_of_life_keep_a_slow_server_but_not_for_ever() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "slow but sure"}, "finish_reason": "stop"}]});
    let answer = format!("data: {chunk}\n\ndata: [DONE]\n\n");
    let working = |times| std::iter::repeat_n(": working\n\n", times);
    let slow = (vec![Reply::raw(working(5).chain([answer.as_str()]))], "slow but sure");
    let endless = (vec![Reply::raw(working(60)), say("made it")], "made it");
    side_by_side([slow, endless], |(replies, text)| {
        let host = Host::new();
        host.config(json!({"http": {"idle_timeout": 1, "first_byte_timeout": 2, "max_retries": 1}}));
        host.script(replies.into_iter().map(|reply| reply.pace(Duration::from_millis(300))));
        host.print("patience").run().is(0, &format!("{text}\n"), &[]);
    });
}

#[test]
fn what_cannot_succeed_is_not_tried_again() {
    for (status, code) in [(400, "invalid_request"), (401, "auth"), (404, "")] {
        let host = Host::on(Wire::Anthropic);
        host.script([fail(status, "this will not do")]);
        let run = host.task("hi").run().exits(4);
        let error = &run.events("error")[0];
        assert!(error["retryable"] == false && error["code"].as_str().unwrap().contains(code), "{error}");
    }
}

#[test]
fn retries_end() {
    let host = Host::new();
    host.config(json!({"http": {"max_retries": 1}}));
    host.script([fail(500, "still broken"), fail(500, "still broken")]);
    host.print("hi").run().is(4, "", &["still broken"]);
}

#[test]
fn strange_answers_become_errors() {
    let strange = [
        Reply::body(502, "text/html", "<html><body>Bad gateway</body></html>"),
        Reply::body(200, "text/html", "<html><body>log in here</body></html>"),
        Reply::body(200, "application/json", r#"{"error": {"message": "no credits left", "code": 402}}"#),
    ];
    for reply in strange {
        let host = Host::new();
        host.config(json!({"http": {"max_retries": 0}}));
        host.script([reply]);
        let run = host.print("hi").run().is(4, "", &[]);
        assert!(
            !run.stderr.is_empty() && !run.stderr.contains("<body>") && !run.stderr.contains("panicked"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn what_will_not_get_better_is_said_and_not_tried_again() {
    let cases = [
        (say("x").header("content-encoding", "gzip"), "compressed (gzip)"),
        (Reply::body(204, "text/plain", ""), "HTTP 204"),
        (Reply::body(304, "text/plain", ""), "HTTP 304: Not Modified"),
        (Reply::pieces(["x".repeat(12 << 20).as_str(); 3]), "longer than any"),
    ];
    for (reply, words) in cases {
        let host = Host::new();
        host.script([reply]);
        let run = host.task("hi").run().exits(4);
        let error = &run.events("error")[0];
        assert!(error["retryable"] == false && error["msg"].as_str().unwrap().contains(words), "{error}");
        assert!(run.notices("retry").is_empty());
    }
}

#[test]
fn halves_of_a_character_and_calls_of_nothing_do_not_break_an_answer() {
    let frame = |delta: &str| format!("data: {{\"choices\": [{{\"index\": 0, \"delta\": {delta}}}]}}\n\n");
    let nothing = r#"{"content": "\ud83d", "tool_calls": [{"index": null, "id": null, "function": null}]}"#;
    let halves = [nothing, r#"{"content": "\ude00 \ud800 x"}"#].map(frame).concat();
    let end = r#"data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}"#;
    let host = Host::new();
    host.script([Reply::raw([halves.as_str(), end, "\n\ndata: [DONE]\n\n"])]);
    host.print("hi").run().is(0, "😀 \u{fffd} x\n", &[]);
}

#[test]
fn a_server_that_keeps_the_stream_open_is_not_waited_for() {
    let whole = r#"data: {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}"#;
    let host = Host::new();
    // Comments keep the connection alive for longer than the limit on silence.
    let open = std::iter::repeat_n(": open\n\n", 60);
    host.script([Reply::raw([whole, "\n\n"].into_iter().chain(open)).pace(Duration::from_millis(500))]);
    let run = host.print("hi").run().is(0, "Hi\n", &[]);
    assert!(run.time < Duration::from_secs(10), "{:?}", run.time);
}

#[test]
fn a_key_that_the_provider_repeats_is_masked() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        host.script([fail(401, &format!("Incorrect API key provided: {KEY}"))]);
        let run = host.task("hi").with(&["-v"]).run().exits(4).says(&["incorrect api key"]);
        for place in [&run.stdout, &run.stderr, &host.state()] {
            assert!(!place.contains(KEY), "{place}");
        }
    }
}

#[test]
fn a_dead_address_is_named() {
    let host = Host::new();
    host.config(json!({"providers": {"mock": {"base_url": "http://127.0.0.1:9/v1"}}, "http": {"max_retries": 0}}));
    host.print("hi").run().is(4, "", &["127.0.0.1:9"]);
}
