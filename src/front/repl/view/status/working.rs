//! What goes on, how long already, and what a person can do meanwhile; below it what they have said for later.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::base::text::numbers::{elapsed as told, wait};
use crate::base::text::width::{cut, width};

use super::super::Look;
use super::{Phase, plain};

/// How long something may take before it is worth a line.
pub const PATIENCE: Duration = Duration::from_millis(300);

/// Columns left free on both sides.
const INDENT: usize = 2;

/// Messages that are shown; of more only the number is.
const SHOWN: usize = 3;

/// What is said while a task goes on, the most important first: what does not fit goes from the end.
pub(super) fn line(look: &Look, phase: Phase, elapsed: Duration, also: Option<&str>) -> Option<Line<'static>> {
    const STEER: [&str; 3] = ["esc stops", "enter steers", "tab queues"];
    let (first, more): (String, &[&str]) = match phase {
        Phase::Idle => return None,
        Phase::Waiting | Phase::Streaming | Phase::Running if elapsed < PATIENCE => return None,
        Phase::Waiting | Phase::Streaming | Phase::Running => (format!("working {}", told(elapsed)), &STEER),
        Phase::Retrying { at } => match at.checked_sub(elapsed).filter(|left| !left.is_zero()) {
            Some(left) => (format!("trying again in {}", wait(left)), &STEER),
            None => (format!("trying again {} {}", look.glyphs.dot, told(elapsed)), &STEER),
        },
        Phase::Stopping => (format!("stopping {}", told(elapsed)), &["ctrl-c twice leaves"]),
        Phase::Asking => ("waiting for your answer".to_owned(), &["esc stops"]),
    };
    let room = look.width.saturating_sub(2 * INDENT);
    let mut text = cut(&first, room, look.glyphs.ellipsis);
    let (stops, rest) = more.split_at(more.len().min(1));
    for fact in stops.iter().copied().chain(also).chain(rest.iter().copied()) {
        let longer = format!("{text} {} {fact}", look.glyphs.dot);
        if width(&longer) > room {
            break;
        }
        text = longer;
    }
    Some(indented(look, vec![Span::styled(text, look.theme.dim)]))
}

/// How long the line stays as it is, where it counts at all.
pub(super) fn stays(phase: Phase, elapsed: Duration) -> Option<Duration> {
    let second = || Duration::from_secs(1) - Duration::from_nanos(elapsed.subsec_nanos().into());
    match phase {
        Phase::Idle | Phase::Asking => None,
        Phase::Waiting | Phase::Streaming | Phase::Running if elapsed < PATIENCE => Some(PATIENCE - elapsed),
        Phase::Waiting | Phase::Streaming | Phase::Running | Phase::Stopping => Some(second()),
        Phase::Retrying { at } => Some(match at.checked_sub(elapsed).filter(|left| !left.is_zero()) {
            // It counts down: the next change is where the rest is whole seconds.
            Some(left) => match left.subsec_nanos() {
                0 => Duration::from_secs(1).min(left),
                rest => Duration::from_nanos(rest.into()),
            },
            None => second(),
        }),
    }
}

/// What a person has said while the task goes on: what steers it soon, then what waits for its end; a row each, its first
/// line, and how to take the last one back.
pub fn waiting<S: AsRef<str>>(look: &Look, steering: &[S], queued: &[S]) -> Vec<Line<'static>> {
    let all: Vec<(&str, &str)> = steering
        .iter()
        .map(|text| ("steering: ", text.as_ref()))
        .chain(queued.iter().map(|text| ("queued: ", text.as_ref())))
        .filter(|(_, text)| !text.trim().is_empty())
        .collect();
    let hidden = all.len().saturating_sub(SHOWN);
    let mut rows = Vec::new();
    if hidden > 0 {
        let text = cut(&format!("{} {hidden} more", look.glyphs.ellipsis), room(look), "");
        rows.push(indented(look, vec![Span::styled(text.trim_end().to_owned(), look.theme.dim)]));
    }
    // The last one is the one that Up takes back, so the first ones give way.
    let last = all.len().saturating_sub(1);
    for (at, (label, text)) in all.iter().enumerate().skip(hidden) {
        rows.push(message(look, label, text, if at == last { "up edits" } else { "" }));
    }
    rows
}

fn room(look: &Look) -> usize {
    look.width.saturating_sub(2 * INDENT)
}

/// One message: a label, its first line that says something, and a hint at the right if there is room for it.
fn message(look: &Look, label: &'static str, text: &str, hint: &'static str) -> Line<'static> {
    /// Columns of a message below which a hint would only stand in the way.
    const ENOUGH: usize = 20;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().map(plain).unwrap_or_default();
    let ellipsis = look.glyphs.ellipsis;
    let first = if lines.next().is_some() { format!("{first} {ellipsis}") } else { first };
    let room = room(look);
    if room <= width(label) {
        return indented(look, vec![Span::styled(cut(&first, room, ellipsis), Style::new())]);
    }
    let for_text = room - width(label);
    let aside = if hint.is_empty() { 0 } else { width(hint) + INDENT };
    let has_hint = aside > 0 && for_text >= aside + ENOUGH.min(width(&first));
    let shown = cut(&first, if has_hint { for_text - aside } else { for_text }, ellipsis);
    let free = for_text.saturating_sub(width(&shown));
    let mut spans = vec![Span::styled(label, look.theme.dim), Span::styled(shown, look.theme.agent)];
    if has_hint {
        spans.push(Span::raw(" ".repeat(free - width(hint))));
        spans.push(Span::styled(hint, look.theme.dim));
    }
    indented(look, spans)
}

/// The spans behind the indentation, where the screen is wide enough for both.
fn indented(look: &Look, mut spans: Vec<Span<'static>>) -> Line<'static> {
    if room(look) > 0 && !spans.is_empty() {
        spans.insert(0, Span::raw(" ".repeat(INDENT)));
    }
    Line::from(spans)
}
