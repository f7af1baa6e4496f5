//! Loop detection: what counts as going round in circles, what does not, and how it ends.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::support::{Host, Reply, Request, Role, Run, call, calls, say};

/// Shell calls, one a turn, by their number; words, once no tools are offered.
fn calling(host: &Host, command: impl Fn(usize) -> String + Send + Sync + 'static) {
    let number = AtomicUsize::new(0);
    host.server.answer(move |request| {
        if request.tools().is_empty() {
            return say("I went round in circles.");
        }
        call("execute_bash", json!({"command": command(number.fetch_add(1, Ordering::Relaxed))}))
    });
}

/// So many shell calls, one a turn, then a final word.
fn calls_then_done(host: &Host, commands: impl IntoIterator<Item = String>) -> Run {
    let replies: Vec<Reply> =
        commands.into_iter().map(|command| call("execute_bash", json!({"command": command}))).collect();
    host.script(replies.into_iter().chain([say("done")]));
    host.task("go").run().ok()
}

/// What the agent said by itself in a request: user messages after the first, and results with more than the output.
fn remarks(request: &Request) -> String {
    let results = request.results().into_iter().map(|(_, text)| text).filter(|text| text.lines().count() > 2);
    request.said(Role::User).into_iter().skip(1).chain(results).collect::<Vec<_>>().join("\n")
}

#[test]
fn loops_of_one_to_three_are_noted_warned_and_ended() {
    for (period, calls) in [(1, 5), (2, 8), (3, 11)] {
        let host = Host::new();
        calling(&host, move |number| format!("echo {}", number % period));
        let run = host.task("go").run().exits(5);
        let requests = host.server.requests();
        assert_eq!(requests.len(), calls + 1, "period {period}: a note, a warning, and one last request");
        assert!(
            requests[calls].tools().is_empty() && requests[..calls].iter().all(|request| !request.tools().is_empty())
        );
        assert_eq!(
            (&run.result()["stop_reason"], &run.result()["text"]),
            (&json!("loop"), &json!("I went round in circles."))
        );
        assert!(run.notices("loop").len() >= 2);
        let [before, noted, warned] = [calls - 3, calls - 2, calls - 1].map(|number| remarks(&requests[number]));
        assert!(noted.len() > before.len() && warned.len() > noted.len(), "{before:?} {noted:?} {warned:?}");
    }
}

#[test]
fn the_spelling_of_arguments_makes_no_difference() {
    let host = Host::new();
    host.file("a.txt", "x");
    let number = AtomicUsize::new(0);
    host.server.answer(move |request| match number.fetch_add(1, Ordering::Relaxed) {
        _ if request.tools().is_empty() => say("stuck"),
        n if n % 2 == 0 => call("read_file", json!({"path": "a.txt", "limit": 3})),
        _ => call("read_file", json!({"limit": 3, "path": "a.txt"})),
    });
    host.task("go").run().exits(5);
    assert_eq!(host.server.requests().len(), 6);
}

#[test]
fn polling_is_no_loop() {
    let host = Host::new();
    let run = calls_then_done(&host, std::iter::repeat_n("date +%s%N".to_owned(), 9));
    assert!(run.notices("loop").is_empty());
}

#[test]
fn one_tool_over_many_files_and_pairs_of_calls_are_no_loop() {
    let host = Host::new();
    let reads = (0..12).map(|number| {
        host.file(format!("f{number}.txt"), "the same in each\n");
        call("read_file", json!({"path": format!("f{number}.txt")}))
    });
    let replies: Vec<Reply> = reads.collect();
    host.script(replies.into_iter().chain([say("read")]));
    assert!(host.task("read them").run().ok().notices("loop").is_empty());
    let pairs = ["a", "a", "b", "b", "c", "c"].map(|word| format!("echo {word}"));
    assert!(calls_then_done(&host, pairs).notices("loop").is_empty());
}

#[test]
fn long_outputs_that_differ_only_where_they_are_cut_are_no_loop() {
    let host = Host::new();
    let run = calls_then_done(&host, std::iter::repeat_n("seq 1 9000; date +%s%N; seq 1 9000".to_owned(), 4));
    assert!(run.notices("loop").is_empty());
}

#[test]
fn equal_calls_within_one_round_count_once() {
    let host = Host::new();
    let same = |id: &str| crate::support::Call::new(id, "list_files", json!({}));
    host.script([calls([same("c1"), same("c2"), same("c3")]), say("done")]);
    assert!(host.task("go").run().ok().notices("loop").is_empty());
}

#[test]
fn five_good_calls_lower_the_level() {
    let host = Host::new();
    calling(&host, |number| match number {
        0..3 => "echo same".into(),
        3..8 => format!("echo other {number}"),
        8.. => "echo same".into(),
    });
    host.task("go").run().exits(5);
    assert_eq!(host.server.requests().len(), 3 + 5 + 5 + 1);
}

#[test]
fn detection_can_be_switched_off() {
    let host = Host::new();
    host.config(json!({"loop_detection": false}));
    calls_then_done(&host, std::iter::repeat_n("echo same".to_owned(), 7));
}
