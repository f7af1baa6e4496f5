//! The painter against terminals: a model that can behave like each of them, and a real emulator.

mod terminal;

use std::num::NonZeroU16;

use proptest::prelude::*;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::*;
use crate::front::repl::view::{Block, Caret, Frame};
use crate::front::term::reflow::Reflow;
use terminal::{Kind, Terminal};

/// xterm, an emulator that keeps what is below the cursor, VTE, kitty, tmux, xterm.js.
const KINDS: [Kind; 6] = [
    Kind { reflow: Reflow::Never, drops_text: true, pulls: false },
    Kind { reflow: Reflow::Never, drops_text: false, pulls: false },
    Kind { reflow: Reflow::Always, drops_text: false, pulls: true },
    Kind { reflow: Reflow::Always, drops_text: false, pulls: false },
    Kind { reflow: Reflow::Always, drops_text: true, pulls: true },
    Kind { reflow: Reflow::AboveCaret, drops_text: true, pulls: true },
];
const XTERM: Kind = KINDS[0];

fn frame(rows: &[&str], row: u16, column: u16) -> Frame {
    let rows = rows.iter().map(|row| Line::raw((*row).to_owned())).collect();
    Frame { rows, caret: Some(Caret { row, column }) }
}

fn block(lines: &[&str]) -> Block {
    lines.iter().map(|line| Line::raw((*line).to_owned())).collect()
}

/// A painter and its terminal.
struct Pair {
    painter: Painter,
    terminal: Terminal,
    reflow: Reflow,
}

impl Pair {
    fn new(kind: Kind, columns: u16, rows: u16) -> Self {
        let painter = Painter::new(columns, rows, Colours::Shown);
        Self { painter, terminal: Terminal::new(kind, columns.into(), rows.into()), reflow: kind.reflow }
    }

    /// Paints, and returns the bytes.
    fn paint(&mut self, finished: &[Block], frame: &Frame) -> String {
        let mut bytes = String::new();
        self.painter.paint(finished, frame, &mut bytes);
        self.terminal.feed(&bytes);
        bytes
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.resize(columns.into(), rows.into());
        self.painter.resized(columns, rows, self.reflow);
    }

    /// The terminal shows this at the end of what it has, the cursor at its place.
    #[track_caller]
    fn assert_shows(&self, frame: &Frame) {
        let all = self.terminal.all();
        let top = match frame.caret {
            Some(caret) => {
                assert!(self.terminal.visible);
                assert_eq!(self.terminal.cursor.1, usize::from(caret.column), "the caret's column");
                self.terminal.cursor.0 - usize::from(caret.row)
            }
            None => {
                assert!(!self.terminal.visible);
                self.terminal.cursor.0 + 1 - frame.rows.len().max(1)
            }
        };
        let mut rows: Vec<_> = frame.rows.iter().map(|row| text(row).trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        assert_eq!(all.get(top..).unwrap_or_default(), rows, "of {all:#?}");
    }
}

fn text(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| span.content.as_ref()).collect()
}

#[test]
fn a_picture_is_a_few_bytes_and_the_same_picture_none() {
    let mut pair = Pair::new(XTERM, 10, 5);
    let first = pair.paint(&[block(&["hello"])], &frame(&["› ab", "status"], 0, 4));
    let fresh = " ".repeat(10);
    assert_eq!(
        first,
        format!(
            "\x1b[?2026h\x1b[?25l{fresh}\r\x1b[K\x1b[2G\x1b[J\rhello\r\n› ab\r\nstatus\x1b[1A\x1b[5G\x1b[?25h\x1b[?2026l"
        )
    );
    assert_eq!(pair.paint(&[], &frame(&["› ab", "status"], 0, 4)), "");
    assert_eq!(pair.paint(&[vec![]], &frame(&["› ab  ", "status"], 0, 4)), "", "blanks at the end are nothing");
    let typed = pair.paint(&[], &frame(&["› abc", "status"], 0, 5));
    assert_eq!(typed, "\x1b[?2026hc\x1b[?2026l", "the cursor is not hidden while somebody types");
    let moved = pair.paint(&[], &frame(&["› abc", "status"], 0, 3));
    assert_eq!(moved, "\x1b[?2026h\x1b[4G\x1b[?2026l");
    let below = pair.paint(&[], &frame(&["› abc", "status 2"], 0, 3));
    assert_eq!(below, "\x1b[?2026h\x1b[?25l\x1b[1B\x1b[7G 2\x1b[1A\x1b[4G\x1b[?25h\x1b[?2026l");
    let shorter = pair.paint(&[], &frame(&["› a", "status 2"], 0, 3));
    assert_eq!(shorter, "\x1b[?2026h\x1b[?25l\r\x1b[K› a\x1b[4G\x1b[?25h\x1b[?2026l");
    pair.assert_shows(&frame(&["› a", "status 2"], 0, 3));
}

#[test]
fn a_first_picture_leaves_what_stands_before_the_cursor() {
    for before in ["", "$ ", "a prompt of exactly.", "12345678901234567890 and more"] {
        let mut pair = Pair::new(XTERM, 20, 3);
        pair.terminal.feed(before);
        let frame = frame(&["› ", "status"], 0, 2);
        pair.paint(&[], &frame);
        let rows = pair.terminal.all();
        assert_eq!(rows[..rows.len() - 2].concat().trim_end(), before.trim_end());
        assert_eq!(rows.len(), before.len().div_ceil(20) + 2, "{before:?} {rows:?}");
        pair.assert_shows(&frame);
    }
}

#[test]
fn lines_of_exactly_one_width_make_no_empty_row() {
    let mut pair = Pair::new(XTERM, 10, 4);
    let ten = "0123456789";
    let lines = [ten, "x", &ten.repeat(2), &ten.repeat(3), "天天天天天", "last"];
    pair.paint(&[block(&lines)], &frame(&[ten, ten], 1, 9));
    let mut wanted: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
    wanted.extend([ten, ten].map(str::to_owned));
    assert_eq!(pair.terminal.joined()[..wanted.len()], wanted);
    assert_eq!(pair.terminal.all().len(), 11);
}

#[test]
fn wide_characters_are_followed_by_an_absolute_column() {
    let mut pair = Pair::new(XTERM, 20, 4);
    let bytes = pair.paint(&[], &frame(&["› 天天ab👩‍💻"], 0, 10));
    assert!(bytes.contains("› 天天\x1b[7Gab👩‍💻\x1b[11G"), "{bytes:?}");
    // As many columns as there are, if each part of the family took its own.
    let bytes = pair.paint(&[], &frame(&["12345678901234567👩‍💻"], 0, 19));
    assert!(bytes.contains("\x1b[?7l12345678901234567👩‍💻\x1b[?7h\x1b[20G"), "{bytes:?}");
}

#[test]
fn a_frame_that_does_not_fit_is_clipped_around_the_caret() {
    let rows = ["one", "two", "three", "a row too wide", "five"];
    for (row, shown, caret) in [
        (4, ["three", "a row too ", "five"], 2),
        (2, ["three", "a row too ", "five"], 0),
        (0, ["one", "two", "three"], 0),
    ] {
        let mut pair = Pair::new(XTERM, 10, 3);
        pair.paint(&[], &frame(&rows, row, 99));
        pair.assert_shows(&frame(&shown, caret, 9));
    }
    let mut pair = Pair::new(XTERM, 1, 1);
    pair.painter.resized(0, 0, Reflow::Never);
    pair.paint(&[block(&["ab"])], &frame(&rows, 0, 0));
    pair.assert_shows(&frame(&["o"], 0, 0));
}

#[test]
fn control_characters_do_not_get_through() {
    let mut pair = Pair::new(XTERM, 40, 4);
    let evil = "a\x1b[2J\u{9b}2J\r\n\x07b\tc\x1b]0;x\x1b\\";
    let bytes = pair.paint(&[block(&[evil])], &frame(&[evil], 0, 0));
    assert!(!bytes.contains('\u{9b}') && !bytes.contains('\x07') && !bytes.contains("\x1b]"));
    assert_eq!(pair.terminal.all(), ["a[2J2Jb c]0;x\\"; 2]);
}

#[test]
fn without_a_caret_the_cursor_is_hidden_and_comes_back() {
    let mut pair = Pair::new(XTERM, 20, 4);
    let hidden = Frame { rows: vec![Line::raw("busy")], caret: None };
    pair.paint(&[], &hidden);
    pair.assert_shows(&hidden);
    assert_eq!(pair.terminal.flickers, 1);
    pair.paint(&[], &Frame { rows: vec![Line::raw("busier"), Line::raw("x")], caret: None });
    assert_eq!(pair.terminal.flickers, 1);
    pair.paint(&[], &frame(&["›"], 0, 2));
    pair.assert_shows(&frame(&["›"], 0, 2));
    assert_eq!(pair.terminal.flickers, 2);
}

#[test]
fn the_terminal_is_left_below_what_stays() {
    for (leave, rows) in [(Leave::Standing, &["done", "› draft", "status", "$"][..]), (Leave::Erased, &["done", "$"])]
    {
        for hidden in [false, true] {
            let mut pair = Pair::new(XTERM, 20, 8);
            let mut shown = frame(&["› draft", "status"], 0, 3);
            shown.caret = shown.caret.filter(|_| !hidden);
            pair.paint(&[block(&["done"])], &shown);
            let mut bytes = String::new();
            pair.painter.release(leave, &mut bytes);
            pair.painter.release(leave, &mut bytes);
            pair.terminal.feed(&(bytes + "$"));
            assert_eq!(pair.terminal.all(), rows);
            assert!(pair.terminal.visible);
            // And back again, after whatever was written meanwhile.
            pair.paint(&[block(&["more"])], &frame(&["›"], 0, 2));
            assert_eq!(pair.terminal.all()[rows.len()..], ["more", "›"]);
        }
    }
}

#[test]
fn a_redrawn_region_stands_where_it_stood() {
    let mut pair = Pair::new(XTERM, 20, 8);
    let shown = frame(&["› draft", "status"], 0, 3);
    pair.paint(&[block(&["done"])], &shown);
    pair.terminal.feed("garbage");
    pair.painter.redraw();
    pair.paint(&[], &shown);
    assert_eq!(pair.terminal.all(), ["done", "› draft", "status"]);
    pair.painter.forget();
    pair.paint(&[], &shown);
    let rows = pair.terminal.all();
    let rows: Vec<_> = rows.iter().map(|row| row.trim_end()).collect();
    assert_eq!(rows, ["done", "› d", "› draft", "status"], "what is before the cursor is not ours any more");
}

#[test]
fn colours_can_be_dropped() {
    let mut painter = Painter::new(20, 5, Colours::Dropped);
    let line =
        Line::from(vec![Span::styled("red", Style::new().fg(Color::Red)), Span::styled("bold", Style::new().bold())]);
    let mut bytes = String::new();
    painter.paint(&[vec![line.clone()]], &Frame { rows: vec![line], caret: None }, &mut bytes);
    assert_eq!(bytes.matches("red\x1b[1mbold\x1b[m").count(), 2, "{bytes:?}");
}

#[test]
fn a_megabyte_of_lines_costs_less_than_three() {
    const FRAMES: usize = 600;
    let (lines, mut text_bytes, mut bytes) = (24, 0, 0);
    let mut pair = Pair::new(XTERM, 80, 24);
    let mut painted = String::new();
    for number in 0..FRAMES {
        let line = |at: usize| {
            format!("{number:04} {at:02} the quick brown fox jumps over the lazy dog, and over the next one, too")
        };
        let finished: Vec<_> = (0..lines).map(line).collect();
        let finished: Block = finished.into_iter().map(Line::raw).collect();
        text_bytes += finished.iter().map(|line| line.width() + 1).sum::<usize>();
        let time = format!("working {} s · esc stops · enter steers · tab queues", number / 30);
        let shown =
            frame(&["the tail of a paragraph that is not yet finished", "", &time, "› a draft", "write · 6 %"], 3, 9);
        painted.clear();
        pair.painter.paint(&[finished], &shown, &mut painted);
        bytes += painted.len();
    }
    assert!(text_bytes > 1 << 20);
    assert!(bytes < 3 * text_bytes / 2, "{bytes} bytes for {text_bytes} of text");
}

// Random pictures

/// What is on the screen in one cell or two; the last one only where clusters are known.
const MARKS: [&str; 4] = ["天", "e\u{301}", "·", "👩‍💻"];

/// Text of narrow, wide, joined and combined characters.
fn any_text(marks: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-z ]{1,12}",
        4 => prop::sample::select(marks).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn any_line(marks: &'static [&'static str]) -> impl Strategy<Value = Line<'static>> {
    let style = prop_oneof![
        3 => Just(Style::new()),
        1 => Just(Style::new().fg(Color::Cyan)),
        1 => Just(Style::new().bold().bg(Color::Rgb(1, 2, 3))),
        1 => Just(Style::new().dim().underlined()),
    ];
    let span = (any_text(marks), style).prop_map(|(text, style)| Span::styled(text, style));
    prop::collection::vec(span, 0..3).prop_map(|mut spans: Vec<Span<'static>>| {
        // The contract: no line ends in spaces.
        if let Some(last) = spans.last_mut() {
            last.content = format!("{}.", last.content).into();
        }
        Line::from(spans)
    })
}

fn any_frame(
    marks: &'static [&'static str],
    rows: std::ops::Range<usize>,
    columns: u16,
) -> impl Strategy<Value = Frame> {
    (prop::collection::vec(any_line(marks), rows), prop::option::weighted(0.9, (0..20u16, 0..columns))).prop_map(
        |(rows, caret)| {
            let caret = caret.filter(|_| !rows.is_empty());
            let caret = caret.map(|(row, column)| Caret { row: row % u16::try_from(rows.len()).unwrap(), column });
            Frame { rows, caret }
        },
    )
}

/// What is painted one after the other: some blocks, and a frame.
fn any_pictures(marks: &'static [&'static str], columns: u16) -> impl Strategy<Value = Vec<(Vec<Block>, Frame)>> {
    let blocks = prop::collection::vec(prop::collection::vec(any_line(marks), 0..4), 0..2);
    prop::collection::vec((blocks, any_frame(marks, 0..7, columns)), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn one_picture_after_another_is_like_the_last_one_alone(pictures in any_pictures(&MARKS, 24)) {
        let mut pair = Pair::new(XTERM, 24, 7);
        let mut finished = Vec::new();
        for (blocks, shown) in &pictures {
            pair.paint(blocks, shown);
            prop_assert_eq!(pair.paint(&[], shown), "", "the same again");
            finished.extend(blocks.iter().cloned());
            let mut blank = Pair::new(XTERM, 24, 7);
            blank.paint(&finished, shown);
            prop_assert_eq!(pair.terminal.cells(), blank.terminal.cells());
            prop_assert_eq!(pair.terminal.cursor, blank.terminal.cursor);
            prop_assert_eq!(pair.terminal.visible, shown.caret.is_some());
        }
    }

    #[test]
    fn another_emulator_sees_the_same(pictures in any_pictures(&MARKS[..3], 24)) {
        let mut pair = Pair::new(XTERM, 24, 7);
        let mut other = emulator(24, 7);
        for (blocks, shown) in &pictures {
            other.process(pair.paint(blocks, shown).as_bytes());
            let (row, column) = other.screen().cursor_position();
            prop_assert_eq!((usize::from(row), usize::from(column)), (pair.terminal.cursor_row(), pair.terminal.cursor.1));
            prop_assert_eq!(other.screen().hide_cursor(), !pair.terminal.visible);
            let mut all = pair.terminal.all();
            all.iter_mut().for_each(|row| row.truncate(row.trim_end().len()));
            prop_assert_eq!(everything(&mut other), all);
        }
    }

    #[test]
    fn no_finished_line_is_lost_or_doubled_by_any_sizes(
        kind in prop::sample::select(&KINDS),
        last in prop::option::of((20u16..90, 3u16..30)),
        leave in prop::sample::select(&[Leave::Standing, Leave::Erased]),
        steps in prop::collection::vec((prop::collection::vec((20u16..90, 3u16..30), 0..3), 0usize..5, any_frame(&MARKS, 0..9, 20)), 1..20),
    ) {
        let mut pair = Pair::new(kind, 60, 12);
        let (mut wanted, mut painted) = (Vec::new(), frame(&[], 0, 0));
        for (sizes, count, mut shown) in steps {
            for (columns, rows) in sizes {
                pair.resize(columns, rows);
            }
            // Cut off by a terminal that does not wrap anew, a line of this length stays whole.
            let lines: Vec<_> = (0..count).map(|at| format!("<{}>", wanted.len() + at)).collect();
            wanted.extend(lines.iter().cloned());
            shown.rows.truncate(pair.terminal.rows);
            shown.caret = shown.caret.filter(|caret| usize::from(caret.row) < shown.rows.len());
            pair.paint(&[lines.into_iter().map(Line::raw).collect()], &shown);
            let all = pair.terminal.joined();
            let found: Vec<_> = all.iter().filter(|line| line.starts_with('<')).cloned().collect();
            prop_assert_eq!(&found, &wanted, "{:#?}", all);
            painted = shown;
        }
        prop_assert_eq!(pair.terminal.visible, painted.caret.is_some());
        if let Some((columns, rows)) = last {
            pair.resize(columns, rows);
        }
        let mut bytes = String::new();
        pair.painter.release(leave, &mut bytes);
        pair.terminal.feed(&bytes);
        let found: Vec<_> = pair.terminal.joined().into_iter().filter(|line| line.starts_with('<')).collect();
        prop_assert_eq!(&found, &wanted);
        prop_assert!(pair.terminal.visible && pair.terminal.cursor.1 == 0);
    }

    #[test]
    fn nothing_of_an_old_region_stays_behind(
        kind in prop::sample::select(&KINDS),
        steps in prop::collection::vec((prop::collection::vec((20u16..90, 24u16..40), 0..3), 0usize..3, 1usize..6, 0usize..60, 0u16..5), 1..20),
    ) {
        let mut pair = Pair::new(kind, 80, 30);
        // As many as rows may be needed: some terminals push so many lines into the scrollback, blank rows below or not.
        let mut finished = 30;
        pair.paint(&[(0..finished).map(|at| Line::raw(format!("<{at}>"))).collect()], &frame(&[], 0, 0));
        for (number, (sizes, count, height, length, row)) in steps.into_iter().enumerate() {
            for (columns, rows) in sizes {
                pair.resize(columns, rows);
            }
            let lines: Block = (0..count).map(|at| Line::raw(format!("<{}>", finished + at))).collect();
            finished += count;
            let length = length.min(pair.terminal.columns - 10);
            let rows: Vec<_> = (0..height).map(|at| format!("live {number}.{at} {}", "x".repeat(length))).collect();
            let rows: Vec<_> = rows.iter().map(|row| row.get(..pair.terminal.columns).unwrap_or(row)).collect();
            let row = row % u16::try_from(height).unwrap();
            // Always on a character: where terminals put it behind the text, they differ.
            let column = u16::try_from(rows[usize::from(row)].len() - 1).unwrap();
            let shown = frame(&rows, row, column);
            pair.paint(&[lines], &shown);
            let all = pair.terminal.joined();
            prop_assert_eq!(all.iter().filter(|line| line.starts_with('<')).count(), finished);
            let live: Vec<_> = all.iter().filter(|line| !line.starts_with('<') && !line.is_empty()).collect();
            prop_assert_eq!(live, rows.iter().map(|row| row.trim_end()).collect::<Vec<_>>(), "{:#?}", all);
            pair.assert_shows(&shown);
        }
    }

    #[test]
    fn a_real_emulator_keeps_every_line_over_many_sizes(
        steps in prop::collection::vec(((20u16..90, 6u16..30), 0usize..6, any_frame(&MARKS, 1..6, 20)), 1..50),
    ) {
        let mut painter = Painter::new(80, 24, Colours::Shown);
        let mut other = emulator(80, 24);
        let mut wanted = Vec::new();
        for ((columns, rows), count, shown) in steps {
            other.screen_mut().set_size(NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap());
            painter.resized(columns, rows, Reflow::Never);
            let lines: Vec<_> = (0..count).map(|at| format!("<{}>", wanted.len() + at)).collect();
            wanted.extend(lines.iter().cloned());
            let mut bytes = String::new();
            painter.paint(&[lines.into_iter().map(Line::raw).collect()], &shown, &mut bytes);
            other.process(bytes.as_bytes());
            let all = everything(&mut other);
            let found: Vec<_> = all.iter().filter(|line| line.starts_with('<')).cloned().collect();
            prop_assert_eq!(&found, &wanted, "{:#?}", all);
            if let Some(caret) = shown.caret {
                let (row, column) = other.screen().cursor_position();
                prop_assert_eq!(column, caret.column);
                let below: Vec<_> = other.screen().rows(0, columns).skip((row - caret.row).into()).collect();
                prop_assert!(below[shown.rows.len()..].iter().all(|row| row.trim().is_empty()), "{:?}", below);
            }
        }
    }
}

fn emulator(columns: u16, rows: u16) -> vt100::Parser {
    vt100::Parser::new(NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap(), 10_000)
}

/// Scrollback and screen, without blank rows at the end.
fn everything(emulator: &mut vt100::Parser) -> Vec<String> {
    let screen = emulator.screen_mut();
    let (rows, columns) = screen.size();
    let rows = usize::from(rows.get());
    screen.set_scrollback(usize::MAX);
    let mut left = screen.scrollback();
    let mut all = Vec::new();
    loop {
        screen.set_scrollback(left);
        let fresh = if left == 0 { rows } else { left.min(rows) };
        all.extend(screen.rows(0, columns.get()).take(fresh).map(|row| row.trim_end().to_owned()));
        if left == 0 {
            break;
        }
        left = left.saturating_sub(rows);
    }
    while all.last().is_some_and(String::is_empty) {
        all.pop();
    }
    all
}
