//! From a frame to bytes: a key typed into a live region of eight rows, and a megabyte of finished text. And from a message
//! to bytes, through the whole chat: keys with a long transcript behind them, and a megabyte of Markdown in small pieces.
//!
//! `make bench B=screen` prints the median and the 99th percentile of each.

use std::time::{Duration, Instant};

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use viola::base::json::Object;
use viola::front::repl::editor::Editing;
use viola::front::repl::key::keymap::{Enter, KeyError, Keymap};
use viola::front::repl::key::{Code, Input, Key};
use viola::front::repl::message::{Msg, News};
use viola::front::repl::screen::{Colours, Painter};
use viola::front::repl::state::frame::view;
use viola::front::repl::state::{Palette, Start, State, Switches};
use viola::front::repl::update::update;
use viola::front::repl::view::notice::Banner;
use viola::front::repl::view::theme::{Depth, Glyphs};
use viola::front::repl::view::{Block, Caret, Frame, Look};
use viola::kernel::event::Event;

/// Keys that are typed.
const KEYS: usize = 10_000;

/// Pictures in which the megabyte comes, each with so many lines of about this many bytes.
const PICTURES: usize = 1_000;
const LINES: usize = 12;
const LINE: &str = "the quick brown fox jumps over the lazy dog, and then it jumps over the next one, too";

/// Lines of the answer that keys are typed behind.
const TRANSCRIPT_LINES: usize = 100_000;

/// Bytes of Markdown, and of each piece of it; a fast model sends 4,000 bytes a second, a thousand times slower than this.
const MARKDOWN_BYTES: usize = 1_000_000;
const PIECE_BYTES: usize = 24;
/// Pieces between two pictures: 30 a second at 120 kB a second.
const PIECES: usize = 166;
/// What the Markdown repeats.
const MARKDOWN: &str = "\
Some *words* of an answer with `code` and **bold** things that go on for a while, as prose does.

- an item with [a link](https://example.org/x)
- another

```rust
fn main() {
    println!(\"{}\", 1 + 2);
}
```

| name | what it is |
|---|---|
| one | the first of them |
| two | another |

## A heading

";

#[expect(clippy::print_stdout, reason = "the figures are what the program is for")]
fn main() -> Result<(), KeyError> {
    let (keys, key_bytes) = keys();
    println!("a key, 8 rows                 p50 {:?}  p99 {:?}  {key_bytes} bytes a key", at(&keys, 50), at(&keys, 99));
    let (pictures, text, bytes) = stream();
    let whole: Duration = pictures.iter().sum();
    println!("a picture with {LINES} new lines    p50 {:?}  p99 {:?}", at(&pictures, 50), at(&pictures, 99));
    println!("{text} bytes of text         {whole:?} in all, {:.2} bytes a byte", ratio(bytes, text));

    let mut chat = Chat::new()?;
    for _ in 0..TRANSCRIPT_LINES / LINES {
        chat.say(&(LINE.to_owned() + "\n").repeat(LINES));
        chat.paint();
    }
    let keys = chat.keys();
    println!("a key, {TRANSCRIPT_LINES} lines behind it  p50 {:?}  p99 {:?}", at(&keys, 50), at(&keys, 99));
    for part in [4, 2, 1] {
        let text = MARKDOWN.repeat(MARKDOWN_BYTES / MARKDOWN.len() / part);
        let (times, bytes) = Chat::new()?.stream(&text);
        let whole: Duration = times.iter().sum();
        let (p50, p99) = (at(&times, 50), at(&times, 99));
        let ratio = ratio(bytes, text.len());
        println!(
            "{:>7} bytes of Markdown      {whole:?} in all, a picture p50 {p50:?}  p99 {p99:?}, {ratio:.2} bytes a byte",
            text.len()
        );
    }
    Ok(())
}

/// The chat without its terminal.
struct Chat {
    state: State,
    painter: Painter,
    out: String,
    now: Duration,
}

impl Chat {
    fn new() -> Result<Self, KeyError> {
        let palette = Palette {
            name: "dark".to_owned(),
            names: Vec::new(),
            depth: Depth::Indexed,
            background: None,
            colour: true,
        };
        let folder = "~/src/calc".to_owned();
        let state = State::new(Start {
            look: Look { theme: palette.theme(None), glyphs: Glyphs::UNICODE, width: 80 },
            rows: 24,
            palette,
            keymap: Keymap::new(Enter::Submits, &Object::new())?,
            editing: Editing::Emacs,
            banner: Banner { version: "0.1".to_owned(), model: String::new(), folder, branch: None },
            switches: Switches { reasoning: true, focused: None, performance: None, planning: false, live: true },
        });
        let painter = Painter::new(80, 24, Colours::Shown);
        Ok(Self { state, painter, out: String::new(), now: Duration::ZERO })
    }

    fn say(&mut self, text: &str) {
        update(&mut self.state, self.now, Msg::News(News::Event(Event::Text(text.to_owned()))));
    }

    /// Paints, and returns how many bytes that took.
    fn paint(&mut self) -> usize {
        self.out.clear();
        let finished = self.state.take_finished();
        self.painter.paint(&finished, &view(&self.state), &mut self.out);
        self.out.len()
    }

    /// Types. Returns times in order.
    fn keys(&mut self) -> Vec<Duration> {
        let mut times = Vec::with_capacity(KEYS);
        for key in 0..KEYS {
            self.now += Duration::from_millis(80);
            let letter = char::from(b'a' + u8::try_from(key % 26).unwrap_or(0));
            let code = if key % 300 == 299 { Code::Enter } else { Code::Char(letter) };
            let key = if code == Code::Enter { Key::ctrl('u') } else { Key::plain(code) };
            let start = Instant::now();
            update(&mut self.state, self.now, Msg::Input(Input::Key(key)));
            self.paint();
            times.push(start.elapsed());
        }
        times.sort();
        times
    }

    /// Has a text come in pieces, and paints at times. Returns times in order, each of the pieces of a picture and the
    /// picture itself, and the bytes written.
    fn stream(&mut self, text: &str) -> (Vec<Duration>, usize) {
        let pieces: Vec<&str> =
            text.as_bytes().chunks(PIECE_BYTES).filter_map(|piece| str::from_utf8(piece).ok()).collect();
        let (mut times, mut bytes) = (Vec::new(), 0);
        for pieces in pieces.chunks(PIECES) {
            self.now += Duration::from_millis(33);
            let start = Instant::now();
            for piece in pieces {
                self.say(piece);
            }
            bytes += self.paint();
            times.push(start.elapsed());
        }
        times.sort();
        (times, bytes)
    }
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
