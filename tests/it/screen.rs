//! What the chat's painter does to a real terminal: tmux, which wraps anew.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use ratatui::text::Line;
use viola::front::repl::screen::{Colours, Painter};
use viola::front::repl::view::{Caret, Frame};
use viola::front::term::reflow::Reflow;

use crate::support::{Host, Tmux};

/// A painter whose bytes go through a pipe into a pane.
struct Pane {
    tmux: Tmux,
    painter: Painter,
    pipe: std::fs::File,
    finished: usize,
}

impl Pane {
    fn new(host: &Host, columns: u16, rows: u16) -> Self {
        let pipe = host.tmp().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let script = "stty raw -echo; printf 'earlier work\\r\\n'; exec cat \"$0\"";
        let agent = host.agent(&["-c", script, pipe.to_str().unwrap()]);
        let tmux = agent.tmux_program(Path::new("/bin/sh"), columns, rows);
        tmux.wait_for("earlier work");
        let pipe = OpenOptions::new().write(true).open(pipe).unwrap();
        Self { tmux, painter: Painter::new(columns, rows, Colours::Shown), pipe, finished: 0 }
    }

    /// Paints so many more finished lines and a frame, and waits until both are seen.
    fn paint(&mut self, lines: usize, frame: &Frame) {
        let block = (self.finished..self.finished + lines).map(|number| Line::raw(format!("<{number}>"))).collect();
        self.finished += lines;
        let mut bytes = String::new();
        self.painter.paint(&[block], frame, &mut bytes);
        self.pipe.write_all(bytes.as_bytes()).unwrap();
        let last = frame.rows.last().unwrap().to_string();
        self.tmux.wait_screen(&last);
        // The last thing in a picture.
        self.tmux.wait(|tmux| tmux.cursor().is_some(), "the cursor");
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.tmux.resize(columns, rows);
        self.painter.resized(columns, rows, Reflow::Always);
    }
}

/// A frame that differs from all others in each row.
fn frame(number: usize, rows: usize, length: usize, columns: u16) -> Frame {
    let row = |at: usize| {
        let mut text = format!("live {number}.{at} {} .", "x".repeat(length));
        text.truncate(columns.into());
        Line::raw(text.trim_end().to_owned())
    };
    let rows: Vec<_> = (0..rows).map(row).collect();
    let last = rows.len() - 1;
    let column = u16::try_from(rows[last.saturating_sub(1)].width() - 1).unwrap();
    Frame { rows, caret: Some(Caret { row: u16::try_from(last.saturating_sub(1)).unwrap(), column }) }
}

#[test]
fn tmux_keeps_every_line_once_over_fifty_sizes_and_nothing_of_the_live_region() {
    let host = Host::new();
    let mut pane = Pane::new(&host, 80, 24);
    let (mut columns, mut random) = (80, 1_u32);
    pane.paint(30, &frame(0, 4, 60, columns));
    for number in 1..=50 {
        let mut next = |from: u16, to: u16| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            from + u16::try_from(random >> 16).unwrap() % (to - from)
        };
        let (rows, lines) = (next(24, 40), next(0, 3));
        columns = next(30, 90);
        let (height, length) = (next(2, 6), next(0, 60));
        pane.resize(columns, rows);
        let shown = frame(number, height.into(), length.into(), columns);
        pane.paint(lines.into(), &shown);
        let all = pane.tmux.copied();
        let of = |prefix: &str| all.iter().filter(|line| line.starts_with(prefix)).cloned().collect::<Vec<_>>();
        assert_eq!(of("<"), (0..pane.finished).map(|number| format!("<{number}>")).collect::<Vec<_>>());
        assert_eq!(of("earlier work").len(), 1);
        let rows: Vec<_> = shown.rows.iter().map(ToString::to_string).collect();
        assert_eq!(of("live"), rows, "picture {number} in {columns} columns:\n{all:#?}");
        let (row, column) = pane.tmux.cursor().unwrap();
        let caret = shown.caret.unwrap();
        assert_eq!(column, caret.column);
        assert_eq!(pane.tmux.screen().lines().nth(row.into()), rows.get(usize::from(caret.row)).map(String::as_str));
    }
}
