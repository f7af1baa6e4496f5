//! The two lines at several widths, what follows from what, and hostile text.

use proptest::prelude::*;

use super::*;
use crate::base::text::width::width;
use crate::front::repl::view::theme::{Glyphs, Theme};
use crate::kernel::event::Notice;
use crate::model::message::Origin;

fn look(width: usize) -> Look {
    Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width }
}

fn text(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| &*span.content).collect()
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

fn status(events: impl IntoIterator<Item = StatusEvent>) -> Status {
    let mut status = Status::new();
    events.into_iter().for_each(|event| status.emit(event));
    status
}

/// The status of the pictures: one turn is done.
fn calc() -> Vec<StatusEvent> {
    vec![
        StatusEvent::Model { label: "claude-sonnet-4-5".into(), window: Some(200_000) },
        StatusEvent::Grant("write"),
        StatusEvent::Place { cwd: "~/src/calc".into(), branch: Some("main".into()) },
        StatusEvent::TurnFinished { usage: usage(13_000, 400), cost: Some(0.0242) },
    ]
}

/// Lines at the four widths, with a mark where the screen ends.
fn at_widths(show: impl Fn(&Look) -> Vec<Line<'static>>) -> String {
    let mut shown = String::new();
    for width in [40, 60, 80, 120] {
        for line in show(&look(width)) {
            shown += &format!("{:width$}|\n", text(&line));
        }
    }
    shown
}

#[test]
fn facts_go_first_where_room_is_short() {
    let status = status(calc());
    insta::assert_snapshot!(at_widths(|look| vec![status.line(look)]));
}

#[test]
fn everything_there_is_to_tell() {
    let mut events = calc();
    events.extend([
        StatusEvent::Editing(Some("normal")),
        StatusEvent::Plan(true),
        StatusEvent::Effort(Some(Effort::High)),
        StatusEvent::TurnStarted(Context { tokens: 170_000, window: Some(200_000) }),
        StatusEvent::Jobs(2),
        StatusEvent::Queue(1),
    ]);
    let status = status(events);
    insta::assert_snapshot!(at_widths(|look| vec![status.line(look)]));
}

#[test]
fn what_is_not_known_is_not_told() {
    let shown = |events: Vec<StatusEvent>| text(&status(events).line(&look(80)));
    assert_eq!(shown(vec![]), "");
    assert_eq!(shown(vec![StatusEvent::Grant("asks")]), "  asks");
    let turn = |tokens, cost| StatusEvent::TurnFinished { usage: usage(tokens, 0), cost };
    assert_eq!(shown(vec![turn(1_200, None)]), "  1.2k tokens");
    assert_eq!(shown(vec![turn(1_200, Some(0.0))]), "  1.2k tokens · $0.00");
    assert_eq!(shown(vec![turn(0, Some(0.5)), turn(0, None), turn(0, Some(0.5))]), "", "a part is not the sum");
    let window = StatusEvent::Model { label: "m".into(), window: Some(1_000_000) };
    assert_eq!(shown(vec![window.clone(), turn(100, None)]), "  m · <1 % of 1M");
    assert_eq!(shown(vec![window, turn(100, None), StatusEvent::Session]), "  m · 0 % of 1M");
    let nothing = StatusEvent::Model { label: "m".into(), window: Some(0) };
    assert_eq!(shown(vec![nothing, turn(100, None)]), "  m · 100 tokens");
}

#[test]
fn models_are_called_by_their_own_name() {
    for (label, expected) in [
        ("claude-sonnet-4-5", "sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "sonnet-4.5"),
        ("Claude Opus", "Opus"),
        ("gpt-5", "gpt-5"),
        ("claude-", "claude-"),
        ("odd/", "odd/"),
        ("qwen3:8b", "qwen3:8b"),
    ] {
        assert_eq!(facts::short_model(label), expected);
    }
}

#[test]
fn a_task_is_followed_by_its_events() {
    let mut status = Status::new();
    let now = Duration::from_secs(3);
    let started = Event::TurnStarted {
        turn: 0,
        origin: std::sync::Arc::new(Origin { provider: "p".into(), model: "m".into() }),
        label: "m".into(),
        context: Context { tokens: 50, window: Some(100) },
    };
    assert!(status.take_changed() && !status.take_changed(), "the first line has to be painted");
    let retry = Event::Notice(Notice::new(NoticeCode::Retry, "again"));
    for (event, phase) in [
        (&started, Phase::Waiting),
        (&Event::Text("x".into()), Phase::Streaming),
        (&retry, Phase::Retrying { at: now }),
        (&Event::Reasoning("x".into()), Phase::Streaming),
    ] {
        status.hear(event, now);
        assert_eq!(status.phase(), phase);
    }
    assert_eq!((status.share(), status.take_changed()), (Some(50), true));
    status.hear(&Event::Text("more".into()), now);
    assert!(!status.take_changed(), "more of the same paints nothing");
    let stop = crate::model::reply::StopReason::Stop;
    status.hear(&Event::TurnFinished { turn: 0, stop, usage: usage(60, 10), cost: Some(0.5) }, now);
    assert_eq!((status.share(), status.spent(), status.money()), (Some(70), usage(60, 10), Some(0.5)));
    status.emit(StatusEvent::Phase(Phase::Stopping));
    status.hear(&Event::Text("late".into()), now);
    status.emit(StatusEvent::Phase(Phase::Asking));
    assert_eq!(status.phase(), Phase::Stopping, "what comes late does not make it go on");
    status.emit(StatusEvent::Phase(Phase::Idle));
    assert_eq!(status.phase(), Phase::Idle);
}

fn working(phase: Phase, millis: u64, width: usize) -> String {
    let status = status([StatusEvent::Phase(phase)]);
    status
        .working(&look(width), Duration::from_millis(millis), None)
        .map_or_else(|| "nothing".into(), |line| text(&line))
}

#[test]
fn what_goes_on_is_said_after_a_while() {
    for (phase, millis, expected) in [
        (Phase::Idle, 9_000, "nothing"),
        (Phase::Waiting, 299, "nothing"),
        (Phase::Waiting, 300, "  working 0 s · esc stops · enter steers · tab queues"),
        (Phase::Running, 14_900, "  working 14 s · esc stops · enter steers · tab queues"),
        (Phase::Streaming, 200_000, "  working 3 m 20 s · esc stops · enter steers · tab queues"),
        (Phase::Stopping, 100, "  stopping 0 s · ctrl-c twice leaves"),
        (Phase::Asking, 14_000, "  waiting for your answer · esc stops"),
        (
            Phase::Retrying { at: Duration::from_secs(6) },
            2_000,
            "  trying again in 4 s · esc stops · enter steers · tab queues",
        ),
        (
            Phase::Retrying { at: Duration::from_secs(6) },
            7_000,
            "  trying again · 7 s · esc stops · enter steers · tab queues",
        ),
    ] {
        assert_eq!(working(phase, millis, 80), expected);
    }
    assert_eq!(working(Phase::Running, 14_000, 40), "  working 14 s · esc stops");
    assert_eq!(working(Phase::Running, 14_000, 20), "  working 14 s");
}

#[test]
fn nothing_that_stands_still_needs_a_timer() {
    let stays = |phase, millis| status([StatusEvent::Phase(phase)]).stays(Duration::from_millis(millis));
    let millis = |millis| Some(Duration::from_millis(millis));
    assert_eq!([stays(Phase::Idle, 5), stays(Phase::Asking, 5)], [None, None]);
    assert_eq!([stays(Phase::Waiting, 100), stays(Phase::Waiting, 300)], [millis(200), millis(700)]);
    assert_eq!([stays(Phase::Running, 3_000), stays(Phase::Stopping, 3_250)], [millis(1_000), millis(750)]);
    let retry = Phase::Retrying { at: Duration::from_millis(5_500) };
    assert_eq!(
        [stays(retry, 3_000), stays(retry, 3_500), stays(retry, 5_500)],
        [millis(500), millis(1_000), millis(500)]
    );
}

#[test]
fn what_was_said_for_later_stands_in_rows() {
    let look = |width| Look { glyphs: Glyphs::ASCII, ..look(width) };
    let shown = |width: usize, steering: &[&str], queued: &[&str]| -> Vec<String> {
        waiting(&look(width), steering, queued).iter().map(text).collect()
    };
    assert_eq!(shown(80, &[], &[]), [""; 0]);
    assert_eq!(
        shown(50, &["also run clippy"], &["\n  then commit\nand push\x1b[2J"]),
        ["  steering: also run clippy", "  queued: then commit ...               up edits"]
    );
    assert_eq!(shown(30, &[], &["one two three four five six"]), ["  queued: one two three f..."]);
    assert_eq!(
        shown(40, &["a", "b"], &["c", "d", "\u{202e}e"]),
        ["  ... 2 more", "  queued: c", "  queued: d", "  queued: ⟨RLO⟩e              up edits"]
    );
}

fn events() -> impl Strategy<Value = StatusEvent> {
    let words = prop_oneof!["\\PC{0,60}", "[\\x00-\\x7f]{0,20}", "(/[a-z天]{1,9}){0,20}"];
    let usage = (any::<u32>(), any::<u32>()).prop_map(|(input, output)| usage(input.into(), output.into()));
    prop_oneof![
        Just(StatusEvent::Session),
        (words.clone(), prop::option::of(any::<u64>()))
            .prop_map(|(label, window)| StatusEvent::Model { label, window }),
        Just(StatusEvent::Effort(Some(Effort::Minimal))),
        prop::sample::select(vec!["write", "asks each", ""]).prop_map(StatusEvent::Grant),
        any::<bool>().prop_map(StatusEvent::Plan),
        (words.clone(), prop::option::of(words)).prop_map(|(cwd, branch)| StatusEvent::Place { cwd, branch }),
        any::<u64>().prop_map(|tokens| StatusEvent::TurnStarted(Context { tokens, window: None })),
        (usage, prop::option::of(0.0..1e9)).prop_map(|(usage, cost)| StatusEvent::TurnFinished { usage, cost }),
        any::<usize>().prop_map(StatusEvent::Queue),
        any::<usize>().prop_map(StatusEvent::Jobs),
        prop::option::of(Just("normal")).prop_map(StatusEvent::Editing),
        Just(StatusEvent::Phase(Phase::Running)),
        any::<u32>().prop_map(|at| StatusEvent::Phase(Phase::Retrying { at: Duration::from_millis(at.into()) })),
    ]
}

#[test]
fn a_folder_whose_name_ends_with_a_blank_drives_no_row() {
    let cwd = format!("/home/{}/odd /", "x".repeat(80));
    let place = StatusEvent::Place { cwd, branch: None };
    let status = status(vec![place, StatusEvent::Queue(usize::MAX)]);
    for columns in 0..60 {
        let line = text(&status.line(&look(columns)));
        assert!(!line.ends_with(' '), "{line:?} on {columns}");
    }
}

proptest! {
    #[test]
    fn no_row_is_wider_than_the_screen_or_drives_it(
        events in prop::collection::vec(events(), 0..16),
        columns in 0usize..140,
        millis in any::<u32>(),
        ascii in any::<bool>(),
        said in prop::collection::vec("\\PC{0,60}|[\\x00-\\x7f]{0,60}", 0..6),
    ) {
        let glyphs = if ascii { Glyphs::ASCII } else { Glyphs::UNICODE };
        let look = Look { glyphs, ..look(columns) };
        let status = status(events);
        let elapsed = Duration::from_millis(millis.into());
        let half = said.len() / 2;
        let rows = waiting(&look, &said[..half], &said[half..]);
        for line in [status.line(&look)].iter().chain(&status.working(&look, elapsed, None)).chain(&rows) {
            let text = text(line);
            prop_assert!(width(&text) <= columns, "{text:?} on {columns}");
            prop_assert!(!text.chars().any(char::is_control), "{text:?}");
            prop_assert!(text.is_empty() || !text.ends_with(' '), "{text:?}");
        }
        // The line says what it said until it is time to look again.
        if let Some(stays) = status.stays(elapsed).filter(|stays| *stays > Duration::from_millis(1)) {
            let just_before = elapsed + stays - Duration::from_millis(1);
            prop_assert_eq!(status.working(&look, elapsed, None), status.working(&look, just_before, None));
        }
    }

    #[test]
    fn more_room_never_tells_less(events in prop::collection::vec(events(), 0..16), columns in 20usize..140) {
        let status = status(events);
        let told = |columns: usize| text(&status.line(&look(columns))).split_whitespace().count();
        prop_assert!(told(columns) <= told(columns + 1));
    }
}
