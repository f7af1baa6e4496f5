//! Pastes on terminals that cannot mark them: keys that come faster than anybody types, with line ends among them, are
//! one paste, and Enter in it submits nothing.
//!
//! Time comes in as a number. An ordinary key is never held back, only text with a line end in it that came at machine
//! speed; and nothing at all once the terminal has marked a paste.

use std::time::Duration;

use super::{Code, Input, Key};

/// The longest pause between two reads of one burst. Keys held down repeat every 30 ms, fast typists need 50; other
/// agents use the same number.
const GAP: Duration = Duration::from_millis(8);
/// The same once it is sure that a burst is under way: over a slow line the rest of a paste may come late, and its line
/// ends must not submit. Still faster than a person who pastes and presses Enter.
const SURE_GAP: Duration = Duration::from_millis(30);
/// Fewer characters are no burst: input methods send a word at once, and a busy moment may hand over a few keys
/// together.
const FEWEST_CHARS: usize = 6;

/// Turns bursts of keys into pastes.
#[derive(Clone, Debug, Default)]
pub struct Burst {
    /// The terminal marks pastes itself.
    off: bool,
    /// Characters since the last pause.
    run: usize,
    /// When the last read came.
    last: Option<Duration>,
    /// What is held back, because it may be a paste.
    held: Vec<Input>,
}

impl Burst {
    /// For a terminal that is known to mark pastes: nothing is ever held back.
    pub fn off() -> Self {
        Self { off: true, ..Self::default() }
    }

    /// Takes what one read brought at `now`, counted from any fixed moment, and appends what it means.
    pub fn feed(&mut self, now: Duration, inputs: Vec<Input>, out: &mut Vec<Input>) {
        let pause = self.last.map(|last| now.saturating_sub(last));
        if pause.is_none_or(|pause| pause > self.gap()) {
            self.flush(out);
        }
        self.last = Some(now);
        self.off |= inputs.iter().any(|input| matches!(input, Input::Paste(_)));
        if self.off {
            self.flush(out);
            return out.extend(inputs);
        }
        let mut text = Vec::new();
        for input in inputs {
            if letter(&input).is_some() {
                text.push(input);
                continue;
            }
            self.text(std::mem::take(&mut text), out);
            match input {
                // What the terminal says by itself is no pause.
                Input::Focus(_) | Input::Report(_) => out.push(input),
                Input::Key(_) | Input::Paste(_) => {
                    self.flush(out);
                    out.push(input);
                }
            }
        }
        self.text(text, out);
    }

    /// How long to wait for more before [`flush`](Self::flush), counted from the last read. `None`: nothing is held.
    pub fn pending(&self) -> Option<Duration> {
        (!self.held.is_empty()).then(|| self.gap())
    }

    /// Nothing more has come: what was held is a paste, or it was keys.
    pub fn flush(&mut self, out: &mut Vec<Input>) {
        self.run = 0;
        let held = std::mem::take(&mut self.held);
        if is_paste(&held) {
            out.push(Input::Paste(held.iter().filter_map(letter).collect()));
        } else {
            out.extend(held);
        }
    }

    fn gap(&self) -> Duration {
        if is_paste(&self.held) { SURE_GAP } else { GAP }
    }

    /// Text that came in one piece.
    fn text(&mut self, text: Vec<Input>, out: &mut Vec<Input>) {
        self.run += text.iter().filter(|input| !acts(input)).count();
        let suspicious = self.run >= FEWEST_CHARS && text.iter().any(acts);
        if suspicious || !self.held.is_empty() {
            self.held.extend(text);
        } else {
            out.extend(text);
        }
    }
}

/// Whether text was pasted: something follows a key in it that acts. One line with Enter at its end was typed, by a
/// person ahead of the program or by another program.
fn is_paste(text: &[Input]) -> bool {
    text.iter().position(acts).is_some_and(|first| first + 1 < text.len())
}

/// What a key writes when it is part of a pasted text.
fn letter(input: &Input) -> Option<char> {
    let Input::Key(key) = input else { return None };
    match *key {
        key if acts(input) => Some(if key.code == Code::Tab { '\t' } else { '\n' }),
        key if key == Key::ctrl('j') => Some('\n'),
        key => key.typed(),
    }
}

/// Whether a key that may be part of a pasted text does something other than writing.
fn acts(input: &Input) -> bool {
    *input == Input::Key(Key::plain(Code::Enter)) || *input == Input::Key(Key::plain(Code::Tab))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::key::decode::Decoder;
    use proptest::prelude::*;

    fn keys(text: &str) -> Vec<Input> {
        let mut out = Vec::new();
        Decoder::default().feed(text.as_bytes(), &mut out);
        out
    }

    /// Reads at given milliseconds, and what came of them; waiting is done as a host would.
    fn played(burst: &mut Burst, reads: &[(u64, &str)]) -> Vec<Input> {
        let mut out = Vec::new();
        let mut wake = None;
        for (at, text) in reads {
            let now = Duration::from_millis(*at);
            if wake.is_some_and(|wake| wake < now) {
                burst.flush(&mut out);
            }
            burst.feed(now, keys(text), &mut out);
            wake = burst.pending().map(|wait| now + wait);
        }
        burst.flush(&mut out);
        out
    }

    fn paste(text: &str) -> Vec<Input> {
        vec![Input::Paste(text.to_owned())]
    }

    #[test]
    fn lines_at_machine_speed_are_one_paste() {
        for (reads, text) in [
            (&[(0, "first line\rsecond line\r")][..], "first line\nsecond line\n"),
            (&[(0, "first li"), (2, "ne\rsecond"), (9, " line\r"), (35, "third\r")], "ne\nsecond line\nthird\n"),
            (&[(0, "a tab\tin the text\rmore")], "a tab\tin the text\nmore"),
            (&[(0, "lines\n of\n\rboth")], "lines\n of\n\nboth"),
            (&[(0, "a line\r"), (5, "another")], "a line\nanother"),
        ] {
            let out = played(&mut Burst::default(), reads);
            let (typed, pasted) = out.split_at(out.len() - 1);
            assert_eq!(pasted, paste(text), "{reads:?}");
            assert!(typed.iter().all(|input| letter(input).is_some() && !acts(input)));
        }
        let letters: Vec<String> = "one\rtwo\rthree".chars().map(String::from).collect();
        let reads: Vec<(u64, &str)> = (0..).zip(letters.iter().map(String::as_str)).collect();
        let out = played(&mut Burst::default(), &reads);
        assert!(!out[4..].iter().any(acts), "{out:?}");
    }

    #[test]
    fn what_people_and_programs_type_stays_keys() {
        for reads in [
            &[(0, "a whole message"), (50, "\r")][..],
            // A line that another program writes, and one that was typed ahead.
            &[(0, "a whole message\r")],
            &[(0, "/exit\r")],
            &[(0, "こんにちは"), (60, "\r")],
            &[(0, "天\r天\r")],
            &[(0, "one\ntwo"), (1, "\u{1b}\r"), (2, "three"), (3, "\r")],
            &[(0, "\r\r\r\r\r\r\r\r\r")],
            &[(0, "no line end, however long it is")],
            &[(0, "abcdefg"), (9, "\r"), (18, "x")],
        ] {
            let all: String = reads.iter().map(|(_, text)| *text).collect();
            assert_eq!(played(&mut Burst::default(), reads), keys(&all), "{reads:?}");
        }
    }

    #[test]
    fn a_key_is_not_held_back() {
        let mut burst = Burst::default();
        for (at, text) in [(0, "h"), (3, "ello there my friend"), (50, "\r"), (100, "\u{1b}[A")] {
            let mut out = Vec::new();
            burst.feed(Duration::from_millis(at), keys(text), &mut out);
            assert_eq!((out, burst.pending()), (keys(text), None));
        }
    }

    #[test]
    fn a_terminal_that_marks_pastes_is_trusted() {
        let mut burst = Burst::default();
        let mut out = Vec::new();
        burst.feed(Duration::ZERO, paste("x"), &mut out);
        burst.feed(Duration::from_millis(1), keys("one line\rtwo lines\r"), &mut out);
        assert_eq!(out, [paste("x"), keys("one line\rtwo lines\r")].concat());
    }

    proptest! {
        #[test]
        fn nothing_is_lost(reads in prop::collection::vec((0u64..40, "[a-c\r\n\t\u{1b}é]{0,12}"), 0..12)) {
            let mut at = 0;
            let timed: Vec<(u64, &str)> = reads.iter().map(|(pause, text)| { at += pause; (at, text.as_str()) }).collect();
            let out = played(&mut Burst::default(), &timed);
            let written = |inputs: &[Input]| -> String {
                inputs.iter().map(|input| match input {
                    Input::Paste(text) => text.clone(),
                    Input::Key(_) | Input::Focus(_) | Input::Report(_) => {
                        letter(input).map_or_else(|| format!("{input:?}"), String::from)
                    }
                }).collect()
            };
            let all: Vec<Input> = timed.iter().flat_map(|(_, text)| keys(text)).collect();
            prop_assert_eq!(written(&out), written(&all));
        }
    }
}
