//! From a frame to bytes: a key typed into a live region of eight rows, and a megabyte of finished text.
//!
//! `make bench B=screen` prints the median and the 99th percentile of each.

use std::time::{Duration, Instant};

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use viola::front::repl::screen::{Colours, Painter};
use viola::front::repl::view::{Block, Caret, Frame};

/// Keys that are typed.
const KEYS: usize = 10_000;

/// Pictures in which the megabyte comes, each with so many lines of about this many bytes.
const PICTURES: usize = 1_000;
const LINES: usize = 12;
const LINE: &str = "the quick brown fox jumps over the lazy dog, and then it jumps over the next one, too";

#[expect(clippy::print_stdout, reason = "the figures are what the program is for")]
fn main() {
    let (keys, key_bytes) = keys();
    println!("a key, 8 rows                 p50 {:?}  p99 {:?}  {key_bytes} bytes a key", at(&keys, 50), at(&keys, 99));
    let (pictures, text, bytes) = stream();
    let whole: Duration = pictures.iter().sum();
    println!("a picture with {LINES} new lines    p50 {:?}  p99 {:?}", at(&pictures, 50), at(&pictures, 99));
    println!("{text} bytes of text         {whole:?} in all, {:.2} bytes a byte", ratio(bytes, text));
}

/// Types into the draft, with the frame made anew each time, as the chat does. Returns times in order, and bytes a key.
fn keys() -> (Vec<Duration>, usize) {
    let mut painter = Painter::new(80, 24, Colours::Shown);
    let mut out = String::new();
    painter.paint(&[], &frame("", 0), &mut out);
    let (mut times, mut bytes) = (Vec::with_capacity(KEYS), 0);
    let mut draft = String::new();
    for key in 0..KEYS {
        if draft.len() > 60 {
            draft.clear();
        }
        draft.push(char::from(b'a' + u8::try_from(key % 26).unwrap_or(0)));
        out.clear();
        let start = Instant::now();
        painter.paint(&[], &frame(&draft, key / 300), &mut out);
        times.push(start.elapsed());
        bytes += out.len();
    }
    times.sort();
    (times, bytes / KEYS)
}

/// Prints the megabyte. Returns times in order, bytes of text, and bytes written.
fn stream() -> (Vec<Duration>, usize, usize) {
    let mut painter = Painter::new(80, 24, Colours::Shown);
    let (mut out, mut times, mut text, mut bytes) = (String::new(), Vec::with_capacity(PICTURES), 0, 0);
    for number in 0..PICTURES {
        let block: Block = (0..LINES).map(|_| Line::raw(LINE)).collect();
        text += LINES * (LINE.len() + 1);
        out.clear();
        let start = Instant::now();
        painter.paint(&[block], &frame("a draft", number / 30), &mut out);
        times.push(start.elapsed());
        bytes += out.len();
    }
    times.sort();
    (times, text, bytes)
}

/// A live region of eight rows: running tools, how long it takes, the draft, the status.
fn frame(draft: &str, seconds: usize) -> Frame {
    let dim = Style::new().dim();
    let verb = Style::new().fg(Color::Cyan);
    let tool = |name: &'static str, target: &'static str| {
        Line::from(vec![Span::raw("  ∙ "), Span::styled(name, verb), Span::raw(target)])
    };
    let column = u16::try_from(4 + draft.len()).unwrap_or(u16::MAX);
    let rows = vec![
        tool("bash    ", "cargo test --workspace"),
        Line::styled("      Compiling viola v0.1.0", dim),
        Line::styled("      test kernel::node::cancel ... ok", dim),
        tool("read    ", "src/kernel/node.rs"),
        Line::default(),
        Line::styled(format!("  working {seconds} s · esc stops · enter steers · tab queues"), dim),
        Line::from(vec![Span::styled("  › ", Style::new().bold()), Span::raw(draft.to_owned())]),
        Line::styled("  write · sonnet-4-5 · 11 % of 200k · $0.05           ~/src/calc main", dim),
    ];
    Frame { rows, caret: Some(Caret { row: 6, column }) }
}

fn at(times: &[Duration], percent: usize) -> Duration {
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn ratio(bytes: usize, text: usize) -> f64 {
    bytes as f64 / text as f64
}
