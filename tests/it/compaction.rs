//! Conversations that outgrow their window, on every wire: what is summarised, what stays, and that it survives a restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::{Call, Host, KEY, Reply, Request, Role, Usage, Wire, call, calls, fail, say};

/// A model whose window holds 24,000 tokens, of which 22,000 may be sent and 3,000 are kept.
fn small(host: &Host, changes: Value) {
    let mut settings = json!({"compaction": {"reserve_tokens": 2000, "keep_tokens": 3000}});
    let mut provider = host.provider("test-model");
    provider["models"][0]["contextWindow"] = json!(24_000);
    provider["models"][0]["cost"] = json!({"input": 1, "output": 1});
    settings["providers"] = json!({"mock": provider});
    merge(&mut settings, changes);
    host.config(settings);
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// Whether the agent asks on its own behalf.
fn wants_summary(request: &Request) -> bool {
    request.tools().is_empty()
}

fn overflow() -> Reply {
    fail(400, "This model's maximum context length is 24000 tokens. However, your messages resulted in 30000 tokens.")
}

/// The reply, with as many tokens as a real server would count.
fn counted(request: &Request, reply: Reply) -> Reply {
    reply.usage(Usage { input: request.body.to_string().len() as u64 / 4, ..Usage::default() })
}

/// A question whose answer takes about 2,000 tokens.
fn talkative(request: &Request) -> Reply {
    let reply = if wants_summary(request) { say("SUMMARY: we talked.") } else { say(&"word ".repeat(1_600)) };
    counted(request, reply)
}

fn summaries(host: &Host) -> Vec<Value> {
    host.session().records.into_iter().filter(|record| record["type"] == "summary").collect()
}

#[test]
fn a_long_talk_goes_on_over_restarts_and_nothing_of_it_is_deleted() {
    for wire in Wire::ALL {
        let host = Host::on(wire);
        small(&host, json!({}));
        host.server.allow_changed_prefix();
        host.server.answer(talkative);
        let mut number = 0;
        while summaries_or_none(&host) < 2 {
            assert!(number < 25, "no second summary in {number} long turns");
            let question = format!("question {number}");
            let again = if number > 0 { &["-c"][..] } else { &[] };
            host.task(&question).with(again).with(&["--api-key", KEY]).run().ok();
            number += 1;
        }
        let last = host.server.requests().into_iter().rev().find(|request| !wants_summary(request)).unwrap();
        assert!(last.prompt().ends_with(&format!("question {}", number - 1)) && last.mentions("SUMMARY: we talked."));
        assert!(last.mentions("<environment>") && !last.mentions("question 0"), "{:?}", last.said(Role::User));
        let summary = summaries(&host).pop().unwrap();
        assert!(summary["tokens_before"].as_u64().unwrap() > 20_000 && summary["first_kept_id"].is_u64(), "{summary}");
        assert!(summary["usage"]["input_tokens"].as_u64().unwrap() > 0 && summary["model"] == "test-model");
        let second = host.server.requests().into_iter().filter(|request| wants_summary(request)).nth(1).unwrap();
        assert!(second.prompt().contains("[Earlier handover]\nSUMMARY: we talked."), "the earlier summary is merged");
        assert!(host.session().texts("user").iter().any(|text| text.ends_with("question 0")), "it stays on disk");
        assert_eq!(host.sessions().len(), 1);
    }
}

fn summaries_or_none(host: &Host) -> usize {
    host.sessions().iter().flat_map(|session| &session.records).filter(|record| record["type"] == "summary").count()
}

#[test]
fn room_is_made_between_the_calls_of_one_task() {
    let host = Host::new();
    small(&host, json!({}));
    host.server.allow_changed_prefix();
    let rounds = Arc::new(AtomicUsize::new(0));
    host.server.answer(move |request| {
        if wants_summary(request) {
            return say("SUMMARY: files were listed.");
        }
        let reply = match rounds.fetch_add(1, Ordering::Relaxed) {
            round @ 0..40 => {
                // Arguments cannot be left out, and results of this size are kept: only a summary helps.
                let command = format!("echo {round}; seq 1 380; : {}", "x".repeat(2_600));
                calls([Call::new(&format!("c{round}"), "execute_bash", json!({"command": command}))])
            }
            _ => say("all done"),
        };
        counted(request, reply)
    });
    let run = host.task("list them: MARK").run().ok();
    assert_eq!(run.result()["text"], "all done");
    assert!(summaries(&host).len() >= 2, "{:?}", run.notices("compaction"));
    for request in host.server.requests().iter().filter(|request| !wants_summary(request)) {
        assert_eq!(request.said(Role::User).concat().matches("list them: MARK").count(), 1, "the question stays");
        assert!(request.body.to_string().len() < 24_000 * 4);
    }
    // What was folded in the middle of a task is folded after a restart as well.
    let before = host.server.requests().len();
    host.task("and?").with(&["-c"]).run().ok();
    let resumed = host.request(before);
    assert!(resumed.mentions("list them: MARK") && resumed.mentions("SUMMARY: files were listed."));
}

#[test]
fn long_outputs_go_first_and_stay_gone_after_a_restart() {
    let host = Host::new();
    small(&host, json!({}));
    host.server.allow_changed_prefix();
    let rounds = Arc::new(AtomicUsize::new(0));
    host.server.answer(move |request| {
        assert!(!wants_summary(request), "nobody has to be asked");
        let reply = match rounds.fetch_add(1, Ordering::Relaxed) {
            round @ 0..6 => call("execute_bash", json!({"command": format!("seq -s ' ' {round}00000 {round}02200")})),
            _ => say("all done"),
        };
        counted(request, reply)
    });
    let run = host.task("count").run().ok();
    assert!(run.notices("compaction")[0]["text"].as_str().unwrap().contains("not sent any more"), "{run:?}");
    let requests = host.server.requests();
    let last = requests.last().unwrap();
    assert!(last.results()[0].1.contains("characters of output were left out"));
    assert!(last.results().last().unwrap().1.contains("502200"), "what was not yet seen is whole");
    assert!(host.session().records.iter().any(|record| record["type"] == "prune"));
    host.task("and?").with(&["-c"]).run().ok();
    let resumed = host.request(requests.len());
    assert_eq!(resumed.results()[0], last.results()[0]);
}

#[test]
fn an_overflow_the_provider_reports_is_mended_once_and_told_where_it_cannot_be() {
    let host = Host::new();
    small(&host, json!({"compaction": {"keep_tokens": 500}}));
    host.server.allow_changed_prefix();
    host.server.answer(talkative);
    for number in 0..4 {
        let again = if number > 0 { &["-c"][..] } else { &[] };
        host.print(&format!("question {number}")).with(again).run().ok();
    }
    let refused = Arc::new(AtomicUsize::new(0));
    host.server.answer({
        let refused = Arc::clone(&refused);
        move |request| match wants_summary(request) {
            true => say("SUMMARY: short."),
            false if refused.fetch_add(1, Ordering::Relaxed) == 0 => overflow(),
            false => say("made it"),
        }
    });
    let run = host.task("go on").with(&["-c"]).run().ok();
    assert_eq!((run.result()["text"].as_str(), run.events("turn_end").len()), (Some("made it"), 1));
    host.server.answer(|_| overflow());
    let before = host.server.requests().len();
    let run = host.task("and now").with(&["-c"]).run().exits(4);
    assert_eq!(run.events("error").last().unwrap()["code"], "context");
    assert!(host.server.requests().len() - before <= 6);
    host.config(json!({"compaction": {"auto": false}}));
    let before = host.server.requests().len();
    host.task("once more").with(&["-c"]).run().exits(4);
    assert_eq!(host.server.requests().len() - before, 1, "nothing is asked unasked");
    host.server.answer(|_| say("back again"));
    host.print("hello").with(&["-c"]).run().is(0, "back again\n", &[]);
}

#[test]
fn another_model_summarises_and_the_one_in_use_where_that_one_fails() {
    let host = Host::new();
    let other = host.provider("cheap-model");
    small(&host, json!({"compaction": {"model": "other/cheap-model"}, "providers": {"other": other}}));
    host.server.allow_changed_prefix();
    host.server.answer(talkative);
    let talk = |host: &Host, wanted: usize| {
        for number in 0..25 {
            let again = if host.sessions().is_empty() { &[][..] } else { &["-c"] };
            host.print(&format!("question {number}")).with(again).run().ok();
            if summaries_or_none(host) == wanted {
                return;
            }
        }
        panic!("no summary");
    };
    talk(&host, 1);
    let asked = |host: &Host| {
        let requests = host.server.requests();
        requests
            .iter()
            .filter(|request| wants_summary(request))
            .map(|request| request.model().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(asked(&host), ["cheap-model"]);
    host.server.answer(|request| match request.model() {
        "cheap-model" => fail(401, "no such key"),
        _ => talkative(request),
    });
    talk(&host, 2);
    assert_eq!(asked(&host), ["cheap-model", "cheap-model", "test-model"]);
}
