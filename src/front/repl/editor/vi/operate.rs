//! What vi's commands change: operators on motions, objects and selections, and the commands of one letter.

use std::ops::Range;

use super::motion::{Class, Extent, Reach, class, line_end_below, run_end, steps, word_end, word_forward};
use super::parse::{Command, Motion, Operator, Place, Spelling, Target, Verb, Words};
use super::{MOST_REPEATED, Mode, object};
use crate::front::repl::editor::text::Text;
use crate::front::repl::editor::undo::Join;
use crate::front::repl::editor::{Editor, segment};

/// What an operator works on.
#[derive(Clone, Debug)]
struct Span {
    /// Without the line break at the end of whole lines.
    range: Range<usize>,
    /// Whether it is whole lines.
    lines: bool,
}

impl Editor {
    pub(super) fn operate(&mut self, operator: Operator, target: Target, count: Option<usize>) {
        let Some(span) = self.span(operator, target, count) else { return };
        // What was selected is as much text again when it is repeated.
        let text = self.text.slice(&span.range);
        let command = match target {
            Target::Selection if span.lines => {
                let lines = text.as_str().split('\n').count();
                Command { count: Some(lines), verb: Verb::Operate(operator, Target::Lines) }
            }
            Target::Selection => {
                let length = steps_within(text.as_str());
                Command { count: None, verb: Verb::Operate(operator, Target::Characters(length)) }
            }
            Target::Motion(_) | Target::Object(_) | Target::Lines | Target::Characters(_) => {
                Command { count, verb: Verb::Operate(operator, target) }
            }
        };
        let selected = target == Target::Selection;
        if selected {
            self.set_mode(Mode::Normal);
        }
        self.register(&span);
        match operator {
            Operator::Yank if span.lines && !selected => {
                if span.range.start < segment::line_start(self.text.as_str(), self.caret) {
                    self.go(span.range.start);
                }
            }
            Operator::Yank => self.go(span.range.start),
            Operator::Delete => {
                self.remove(&span);
                self.note(command, Text::default());
            }
            Operator::Change => {
                self.undo.begin();
                self.caret = span.range.start;
                self.change(span.range, &Text::default(), Join::Alone);
                self.enter_insert(command);
            }
        }
    }

    /// Opens a place for text.
    pub(super) fn open(&mut self, place: Place, command: Command) {
        let text = self.text.as_str();
        let (start, end) = (segment::line_start(text, self.caret), segment::line_end(text, self.caret));
        let broken = Text::typed("\n");
        self.undo.begin();
        match place {
            Place::Before => {}
            Place::After => self.caret = segment::next(text, self.caret).min(end),
            Place::LineFilled => self.caret = segment::first_filled(text, self.caret),
            Place::LineEnd => self.caret = end,
            Place::Below => self.change(end..end, &broken, Join::Alone),
            Place::Above => {
                self.change(start..start, &broken, Join::Alone);
                self.caret = start;
            }
        }
        self.enter_insert(command);
    }

    pub(super) fn replace_letters(&mut self, letter: char, command: Command) {
        let count = command.count.unwrap_or(1);
        let Some(range) = self.letters(count) else { return };
        if self.selection().is_none() && steps_within(self.text.slice(&range).as_str()) < count {
            return;
        }
        let start = range.start;
        let old = self.text.slice(&range);
        let mut new = String::with_capacity(old.len());
        let mut at = 0;
        while at < old.len() {
            let next = segment::next(old.as_str(), at);
            new.push(if segment::after(old.as_str(), at).starts_with('\n') { '\n' } else { letter });
            at = next;
        }
        let selected = self.selection().is_some();
        self.set_mode(Mode::Normal);
        self.change(range, &Text::typed(&new), Join::Alone);
        self.caret = if selected { start } else { segment::previous(self.text.as_str(), self.caret) };
        self.note(command, Text::default());
    }

    pub(super) fn spell_letters(&mut self, spelling: Spelling, command: Command) {
        let Some(range) = self.letters(command.count.unwrap_or(1)) else { return };
        let (start, selected) = (range.start, self.selection().is_some());
        self.set_mode(Mode::Normal);
        self.respell_range(range, |letter, text| match spelling {
            Spelling::Toggled if letter.is_lowercase() => text.extend(letter.to_uppercase()),
            Spelling::Toggled | Spelling::Lower => text.extend(letter.to_lowercase()),
            Spelling::Upper => text.extend(letter.to_uppercase()),
        });
        if selected {
            self.caret = start;
        }
        self.note(command, Text::default());
    }

    /// Makes one line of as many as are counted or selected, with a blank between them.
    pub(super) fn join(&mut self, command: Command) {
        let mut joints = command.count.unwrap_or(2).max(2) - 1;
        if let Some(range) = self.selection() {
            self.caret = range.start;
            joints = self.text.slice(&range).as_str().matches('\n').count().max(1);
        }
        self.set_mode(Mode::Normal);
        self.undo.begin();
        let mut at = segment::line_end(self.text.as_str(), self.caret);
        for _ in 0..joints {
            let text = self.text.as_str();
            at = segment::line_end(text, at);
            if at == text.len() {
                break;
            }
            let next = segment::first_filled(text, at + 1);
            let beside = segment::before(text, at).ends_with([' ', '\t', '\n']) || at == 0;
            let alone = segment::after(text, next).starts_with([')', '\n']) || next == text.len();
            let between = if beside || alone { Text::default() } else { Text::typed(" ") };
            self.change(at..next, &between, Join::Alone);
            self.caret = at;
        }
        self.undo.end();
        self.note(command, Text::default());
    }

    /// Puts in what was cut out last, or in the place of what is selected.
    pub(super) fn put(&mut self, place: Place, command: Command) {
        let Some(kill) = self.kills.get(0).cloned() else { return };
        let mut text = kill.text.repeated(command.count.unwrap_or(1), MOST_REPEATED);
        self.undo.begin();
        if let Some(range) = self.selection() {
            let lines = self.mode() == Some(Mode::VisualLines);
            self.register(&Span { range: range.clone(), lines });
            if kill.lines && lines {
                text = without_break(&text);
            }
            self.change(range, &text, Join::Alone);
            self.caret = segment::previous(self.text.as_str(), self.caret);
        } else if kill.lines {
            self.put_lines(place, &text);
        } else {
            let string = self.text.as_str();
            let line_end = segment::line_end(string, self.caret);
            let at = match place {
                Place::After => segment::next(string, self.caret).min(line_end).max(self.caret),
                Place::Before | Place::LineFilled | Place::LineEnd | Place::Below | Place::Above => self.caret,
            };
            self.change(at..at, &text, Join::Alone);
            let last = segment::previous(self.text.as_str(), self.caret);
            self.caret = if text.as_str().contains('\n') { at } else { last };
        }
        self.undo.end();
        self.note(command, Text::default());
    }

    fn put_lines(&mut self, place: Place, text: &Text) {
        let string = self.text.as_str();
        let below = segment::line_end(string, self.caret);
        let at = match place {
            Place::After if below == string.len() => {
                let mut lines = without_break(text);
                lines.push_front(&Text::typed("\n"));
                self.change(below..below, &lines, Join::Alone);
                self.caret = segment::first_filled(self.text.as_str(), below + 1);
                return;
            }
            Place::After => below + 1,
            Place::Before | Place::LineFilled | Place::LineEnd | Place::Below | Place::Above => {
                segment::line_start(string, self.caret)
            }
        };
        self.change(at..at, text, Join::Alone);
        self.caret = segment::first_filled(self.text.as_str(), at);
    }

    fn span(&mut self, operator: Operator, target: Target, count: Option<usize>) -> Option<Span> {
        let times = count.unwrap_or(1);
        let characters = |range| Some(Span { range, lines: false });
        match target {
            Target::Motion(motion) => self.span_of_motion(operator, motion, count),
            Target::Object(object) => characters(object::range(self.text.as_str(), self.caret, object, times)?),
            Target::Lines => {
                let text = self.text.as_str();
                let end = line_end_below(text, self.caret, times.saturating_sub(1));
                Some(Span { range: segment::line_start(text, self.caret)..end, lines: true })
            }
            Target::Characters(length) => {
                let end = steps(self.caret, length, |at| segment::next(self.text.as_str(), at));
                characters(self.caret..end)
            }
            Target::Selection => Some(Span { range: self.selection()?, lines: self.mode() == Some(Mode::VisualLines) }),
        }
    }

    fn span_of_motion(&mut self, operator: Operator, motion: Motion, count: Option<usize>) -> Option<Span> {
        if let (Motion::Find(find), Some(vi)) = (motion, &mut self.vi) {
            vi.find = Some(find);
        }
        let (text, caret, times) = (self.text.as_str(), self.caret, count.unwrap_or(1));
        let reach = match self.reach(motion, count, self.line_column()) {
            // On an empty line there is nothing to change, but room for text.
            None if (operator, motion) == (Operator::Change, Motion::Right) => {
                Reach { to: caret, extent: Extent::Exclusive }
            }
            reach => reach?,
        };
        let (first, last) = (caret.min(reach.to), caret.max(reach.to));
        let range = match (reach.extent, motion) {
            (Extent::Lines, _) => {
                let range = segment::line_start(text, first)..segment::line_end(text, last);
                return Some(Span { range, lines: true });
            }
            (Extent::Inclusive, _) => first..segment::next(text, last),
            (Extent::Exclusive, Motion::WordForward(words)) => caret..self.words_end(operator, words, times, reach.to),
            // What ends at the beginning of a line leaves the line break before it.
            (Extent::Exclusive, _) if first < last && segment::line_start(text, last) == last => first..last - 1,
            (Extent::Exclusive, _) => first..last,
        };
        Some(Span { range, lines: false })
    }

    /// Where words end for an operator: not in another line, and, when they are changed, before the blanks.
    fn words_end(&self, operator: Operator, words: Words, times: usize, to: usize) -> usize {
        let text = self.text.as_str();
        let blank = matches!(class(text, self.caret, words), Class::Blank | Class::Break);
        if operator == Operator::Change && !blank {
            let own = run_end(text, self.caret, words);
            let last = steps(own, times.saturating_sub(1), |at| word_end(text, at, words));
            return segment::next(text, last);
        }
        let last = steps(self.caret, times.saturating_sub(1), |at| word_forward(text, at, words));
        to.min(segment::line_end(text, last))
    }

    /// Cuts lines out with one of their line breaks, anything else as it is.
    fn remove(&mut self, span: &Span) {
        if !span.lines {
            self.change(span.range.clone(), &Text::default(), Join::Alone);
            return;
        }
        let Range { start, end } = span.range;
        let range = if end < self.text.len() { start..end + 1 } else { start.saturating_sub(1)..end };
        self.change(range, &Text::default(), Join::Alone);
        self.caret = segment::first_filled(self.text.as_str(), self.caret);
    }

    fn register(&mut self, span: &Span) {
        let mut text = self.text.slice(&span.range);
        if span.lines {
            text.push(&Text::typed("\n"));
        }
        if !text.is_empty() {
            self.kills.push(text, span.lines);
        }
    }

    /// The selection, or as many characters from the caret on as the line has, up to `count`.
    fn letters(&self, count: usize) -> Option<Range<usize>> {
        let text = self.text.as_str();
        let end = segment::line_end(text, self.caret);
        let here = self.caret..steps(self.caret, count, |at| segment::next(text, at).min(end));
        Some(self.selection().unwrap_or(here)).filter(|range| !range.is_empty())
    }
}

/// Grapheme clusters of a text.
fn steps_within(text: &str) -> usize {
    std::iter::successors(Some(0), |at| (*at < text.len()).then(|| segment::next(text, *at))).count() - 1
}

/// Whole lines without their last line break.
fn without_break(text: &Text) -> Text {
    text.slice(&(0..text.len().saturating_sub(1)))
}
