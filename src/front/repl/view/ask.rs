//! The question whether calls may run, and other questions: exactly what would run, and the answers there are.
//!
//! It shows a question and decides nothing: which key means what, and when one counts, is the state's.

use std::sync::Arc;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::diff::{Diff, Fold, Numbers};
use super::inquiry::Inquiry;
use super::row::{columns, first_line, fitted, indented, plain, trimmed, wrapped};
use super::tool::asked;
use super::{Block, Look};
use crate::base::json::{Object, canonical};
use crate::base::text::numbers::{count, size};
use crate::base::text::width;
use crate::kernel::event::{Change, Risk};

/// Columns before the question and its answers.
const INDENT: usize = 2;
/// Columns before what would run.
const DETAIL: (usize, usize) = (6, 4);
/// Columns before the rest of a changed line that is too long for a row.
const BROKEN: (usize, usize) = (12, 8);
/// Between two answers.
const GAP: usize = 3;
/// Between the answers and the hint, where there is room for more than a gap.
const HINT_GAP: usize = 6;
/// Columns of the prefix that "always" names; a longer one is cut, and the command itself stands above.
const PREFIX_COLUMNS: usize = 24;
/// Rows of what would run, below which the answers are said in short: what is answered matters more than the words for it.
const FEWEST_DETAILS: usize = 3;

/// With fewer columns for what was asked, only the answer is repeated.
const FEWEST_COLUMNS: usize = 8;

/// A question, about calls or something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What can be answered.
    pub kind: Kind,
    /// What is asked about, in order.
    pub calls: Vec<Asked>,
    /// Where keys go.
    pub focus: Focus,
    /// Who asks, where it is not the agent itself.
    pub who: Option<String>,
}

/// What can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// For the rest of the session: all, write, safe, none.
    Session,
    /// For these calls: once, always, no.
    Each {
        /// What "always" would allow, such as `cmake`; `None` where it cannot be offered.
        prefix: Option<String>,
    },
    /// One of some words, or any others.
    Words {
        /// What is asked.
        question: String,
        /// Answers to choose from.
        options: Vec<String>,
    },
    /// Whether a plan is carried out, and with what grant.
    Plan {
        /// Whether a person has changed it.
        edited: bool,
    },
}

/// A call that waits for permission.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub arguments: Object,
    /// The tool's risk.
    pub risk: Risk,
    /// What it would do to a file, where that is known.
    pub change: Option<Arc<Change>>,
}

/// Where keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// To the question; the answer at this place, from 0, is selected.
    Question(Option<usize>),
    /// To the draft, because something was being typed.
    Draft,
    /// To the draft, which will be the answer.
    Instead,
}

impl Kind {
    /// The answers in order: the key and the words. Digits from 1 stand for the same.
    pub fn answers(&self, look: &Look) -> Vec<(char, String)> {
        let fixed = |answers: &[(char, &str)]| answers.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        match self {
            Self::Session => {
                fixed(&[('y', "[y]es all"), ('w', "[w]rite only"), ('s', "[s]afe only"), ('n', "[n]o tools")])
            }
            Self::Words { options, .. } => {
                let digit =
                    |number: usize| u32::try_from(number + 1).ok().and_then(|digit| char::from_digit(digit, 10));
                let answer = |(number, option): (usize, &String)| Some((digit(number)?, plain(option)));
                options.iter().enumerate().filter_map(answer).collect()
            }
            Self::Plan { edited } => {
                let edit = (!edited).then_some(('e', "[e]dit"));
                let all = [('y', "[y]es all"), ('w', "[w]rite only"), ('a', "[a]sk each")].into_iter().chain(edit);
                fixed(&all.chain([('n', "[n]o, keep planning")]).collect::<Vec<_>>())
            }
            Self::Each { prefix: None } => fixed(&[('y', "[y] once"), ('n', "[n]o")]),
            Self::Each { prefix: Some(prefix) } => {
                let mark = look.glyphs.ellipsis;
                let prefix = width::cut(&plain(prefix.trim()), PREFIX_COLUMNS, mark);
                let always = format!("[a]lways `{prefix} {mark}` here");
                vec![('y', "[y] once".to_owned()), ('a', always), ('n', "[n]o".to_owned())]
            }
        }
    }
}

/// The rows of a question, at most `most_rows` and never fewer than the answers take. What does not fit says how much
/// it is.
pub fn rows(question: &Question, most_rows: usize, look: &Look) -> Vec<Line<'static>> {
    if let Some(inquiry) = question.inquiry() {
        return inquiry.rows(question.focus, most_rows, look);
    }
    let title = vec![Span::raw(" ".repeat(INDENT)), Span::raw(title(question, look))];
    let details = details(question, look);
    let mut answers = answers(question, look);
    if most_rows < 1 + details.len().min(FEWEST_DETAILS) + answers.len() {
        answers = vec![short_answers(question, look)];
    }
    let room = most_rows.saturating_sub(1 + answers.len());
    // Blank rows go before anything that would run does.
    let has_air = !details.is_empty() && room >= details.len() + 2;
    let mut rows = Vec::with_capacity(details.len() + answers.len() + 3);
    rows.push(Line::from(title));
    rows.extend(has_air.then(Line::default));
    rows.extend(within(details, if has_air { room - 2 } else { room }, look));
    rows.extend(has_air.then(Line::default));
    rows.extend(answers);
    rows.into_iter().map(|row| fitted(row, look)).collect()
}

/// Everything that would run, as a block for the scrollback.
pub fn expanded(question: &Question, look: &Look) -> Block {
    if let Some(inquiry) = question.inquiry() {
        return inquiry.block(look);
    }
    let mut block = vec![indented(INDENT, title(question, look), Style::new()), Line::default()];
    block.extend(details(question, look).into_iter().map(|line| trimmed(line.spans)));
    block
}

fn title(question: &Question, look: &Look) -> String {
    match &question.kind {
        Kind::Plan { edited: false } => return "Carry out this plan?".to_owned(),
        Kind::Plan { edited: true } => return "Carry out the plan as it is now?".to_owned(),
        Kind::Session | Kind::Each { .. } | Kind::Words { .. } => {}
    }
    let of = question.who.as_ref().map(|who| format!(" {} {who}", look.glyphs.dot)).unwrap_or_default();
    let verbs: Vec<String> = question.calls.iter().map(|call| asked(&call.name, &call.arguments, look).0).collect();
    let wants = |call: &Asked| match (call.name.as_str(), call.risk) {
        ("execute_bash", _) => "wants to run",
        ("write_file" | "edit_file", _) => "wants to change a file",
        (_, Risk::Write) => "wants to write",
        (_, Risk::Safe | Risk::Dangerous) => "wants to run",
    };
    match (question.calls.as_slice(), verbs.as_slice()) {
        ([call], [verb]) => format!("{verb} {}{of}", wants(call)),
        _ => format!("{} want to run{of}", count(question.calls.len() as u64, "call")),
    }
}

impl Question {
    /// It as a question that a tool puts, if it is one.
    fn inquiry(&self) -> Option<Inquiry<'_>> {
        match &self.kind {
            Kind::Words { question, options } => Some(Inquiry { question, options, who: self.who.as_deref() }),
            Kind::Session | Kind::Each { .. } | Kind::Plan { .. } => None,
        }
    }
}

/// What would run, in rows as wide as there is room.
fn details(question: &Question, look: &Look) -> Vec<Line<'static>> {
    let indent = if look.is_roomy() { DETAIL.0 } else { DETAIL.1 };
    let mut rows = Vec::new();
    for call in &question.calls {
        let (verb, target) = asked(&call.name, &call.arguments, look);
        let lead = if question.calls.len() > 1 { format!("{verb:<7} ") } else { String::new() };
        let (head, body) = detail(call, target);
        let room = look.edge().saturating_sub(indent + width::width(&lead));
        let mut first = true;
        for line in head.lines().flat_map(|line| wrapped(&plain(line), room)) {
            let lead = if first { lead.clone() } else { " ".repeat(width::width(&lead)) };
            first = false;
            let lead = Span::styled(format!("{}{lead}", " ".repeat(indent)), look.theme.verb);
            rows.push(Line::from(vec![lead, Span::raw(line)]));
        }
        rows.extend(body.into_iter().flat_map(|diff| {
            let lines = diff.between(look);
            lines.into_iter().flat_map(|line| broken(line, look))
        }));
    }
    rows
}

/// Texts whose difference is shown.
struct Texts<'c> {
    before: Option<&'c str>,
    after: &'c str,
    numbers: Numbers,
}

impl Texts<'_> {
    fn between(&self, look: &Look) -> Block {
        let fold = if self.before.is_none() { Fold::New } else { Fold::Whole };
        Diff::between(self.before, self.after).lines(fold, self.numbers, look)
    }
}

/// The words of a call and what it would change.
fn detail(call: &Asked, target: String) -> (String, Vec<Texts<'_>>) {
    let text = |key: &str| call.arguments.get(key).and_then(Value::as_str);
    if let Some(change) = &call.change {
        let texts = Texts { before: change.before.as_deref(), after: &change.after, numbers: Numbers::Shown };
        return (target, vec![texts]);
    }
    match call.name.as_str() {
        "execute_bash" => (text("command").unwrap_or_default().trim_end().to_owned(), Vec::new()),
        "write_file" => {
            let content = text("content").unwrap_or_default();
            let lines = count(content.split_inclusive('\n').count() as u64, "line");
            let texts = Texts { before: None, after: content, numbers: Numbers::Hidden };
            (format!("{target}  {lines}, {}", size(content.len() as u64)), vec![texts])
        }
        "edit_file" => {
            let edits = call.arguments.get("edits").and_then(Value::as_array);
            let texts = edits.into_iter().flatten().filter_map(|edit| {
                let text = |key: &str| edit.get(key).and_then(Value::as_str);
                Some(Texts { before: Some(text("old_text")?), after: text("new_text")?, numbers: Numbers::Hidden })
            });
            (target, texts.collect())
        }
        "dispatch_agent" => (text("task").unwrap_or_default().trim_end().to_owned(), Vec::new()),
        "chain" => (chain(&text), Vec::new()),
        // What another tool makes of its arguments is not known here: all of them are shown.
        _ => (canonical(&call.arguments), Vec::new()),
    }
}

/// What a chain is, from its arguments: its steps, the most they can do, and with which tools.
fn chain<'a>(text: &impl Fn(&str) -> Option<&'a str>) -> String {
    let text = |key: &str| text(key).unwrap_or_default();
    let tools = if text("tools").is_empty() { "no tools" } else { text("tools") };
    format!("{}: {}\nits steps can {}, with {tools}", text("name"), text("steps"), text("most"))
}

/// A line in rows that fit; what goes over begins below the text.
fn broken(line: Line<'static>, look: &Look) -> Vec<Line<'static>> {
    if columns(&line.spans) <= look.width {
        return vec![line];
    }
    let indent = if look.is_roomy() { BROKEN.0 } else { BROKEN.1 }.min(look.width / 2);
    let mut rows = Vec::new();
    let (mut row, mut left): (Vec<Span<'static>>, usize) = (Vec::new(), look.width);
    for span in line.spans {
        let mut rest = span.content.as_ref();
        loop {
            let (head, more) = width::split(rest, left);
            row.push(Span::styled(head.to_owned(), span.style));
            left -= width::width(head);
            if more.is_empty() {
                break;
            }
            rows.push(Line::from(std::mem::replace(&mut row, vec![Span::raw(" ".repeat(indent))])));
            left = look.width.saturating_sub(indent);
            if head.is_empty() && left < 2 {
                return rows;
            }
            rest = more;
        }
    }
    rows.push(Line::from(row));
    rows
}

/// The beginning and the end of what would run, and between them how much is hidden.
fn within(details: Vec<Line<'static>>, room: usize, look: &Look) -> Vec<Line<'static>> {
    if details.len() <= room {
        return details;
    }
    let kept = room.saturating_sub(1);
    let hidden = details.len() - kept;
    let (head, tail) = (kept - kept / 2, kept / 2);
    let text = format!("{} {}, ctrl-o shows all", look.glyphs.ellipsis, count(hidden as u64, "more line"));
    let indent = if look.is_roomy() { DETAIL.0 } else { DETAIL.1 };
    let mark = Line::from(vec![Span::raw(" ".repeat(indent)), Span::styled(text, look.theme.notice)]);
    let end = details.len() - tail;
    let mut rows: Vec<Line<'static>> = Vec::with_capacity(room);
    let mut mark = Some(mark);
    for (number, line) in details.into_iter().enumerate() {
        if number < head || number >= end {
            rows.push(line);
        } else {
            rows.extend(mark.take());
        }
    }
    rows
}

/// The answers and the hint, in as many rows as they take.
fn answers(question: &Question, look: &Look) -> Vec<Line<'static>> {
    let (selected, hints) = match question.focus {
        Focus::Question(selected) => (selected, ["tab: say something instead", "tab: say something"]),
        Focus::Draft => (None, ["tab answers", "tab answers"]),
        Focus::Instead => (None, ["enter: no, and say this", "enter says it"]),
    };
    let base = match question.focus {
        Focus::Question(_) => Style::new(),
        Focus::Draft | Focus::Instead => look.theme.dim,
    };
    // Where letters go to the draft, that must be seen.
    let quiet = match question.focus {
        Focus::Question(_) | Focus::Instead => look.theme.dim,
        Focus::Draft => look.theme.notice,
    };
    let mut rows = Vec::new();
    let mut row = vec![Span::raw(" ".repeat(INDENT))];
    for (number, (_, text)) in question.kind.answers(look).into_iter().enumerate() {
        let gap = if row.len() > 1 { GAP } else { 0 };
        if gap > 0 && columns(&row) + gap + width::width(&text) > look.edge() {
            rows.push(Line::from(std::mem::replace(&mut row, vec![Span::raw(" ".repeat(INDENT))])));
        } else if gap > 0 {
            row.push(Span::raw(" ".repeat(gap)));
        }
        let style = if selected == Some(number) { look.theme.selected.add_modifier(Modifier::REVERSED) } else { base };
        row.extend(lettered(&text, style));
    }
    let fits = |gap: usize| hints.into_iter().find(|hint| columns(&row) + gap + hint.len() <= look.edge());
    let beside = fits(HINT_GAP).map(|hint| (HINT_GAP, hint)).or_else(|| fits(GAP).map(|hint| (GAP, hint)));
    match beside {
        Some((gap, hint)) => {
            row.push(Span::raw(" ".repeat(gap)));
            row.push(Span::styled(hint, quiet));
            rows.push(Line::from(row));
        }
        None => {
            rows.push(Line::from(row));
            let [_, short] = hints;
            rows.push(Line::from(vec![Span::raw(" ".repeat(INDENT)), Span::styled(short, quiet)]));
        }
    }
    rows
}

/// The answers and the hint on one row, with as few words as it takes.
fn short_answers(question: &Question, look: &Look) -> Line<'static> {
    let (selected, hint) = match question.focus {
        Focus::Question(selected) => (selected, "tab: say something"),
        Focus::Draft => (None, "tab answers"),
        Focus::Instead => (None, "enter says it"),
    };
    let base = if matches!(question.focus, Focus::Question(_)) { Style::new() } else { look.theme.dim };
    let answers = question.kind.answers(look);
    let row = |word: fn(&str) -> &str| {
        let mut row = vec![Span::raw(" ".repeat(INDENT))];
        for (number, (_, text)) in answers.iter().enumerate() {
            if number > 0 {
                row.push(Span::raw(" "));
            }
            let style =
                if selected == Some(number) { look.theme.selected.add_modifier(Modifier::REVERSED) } else { base };
            row.extend(lettered(word(text), style));
        }
        row
    };
    let mut row = [row(first_word), row(key_alone)]
        .into_iter()
        .find(|row| columns(row) <= look.edge())
        .unwrap_or_else(|| row(key_alone));
    if columns(&row) + GAP + hint.len() <= look.edge() {
        row.push(Span::raw(" ".repeat(GAP)));
        row.push(Span::styled(hint, look.theme.dim));
    }
    Line::from(row)
}

fn first_word(answer: &str) -> &str {
    answer.split(' ').next().unwrap_or(answer)
}

fn key_alone(answer: &str) -> &str {
    answer.get(.."[y]".len()).unwrap_or(answer)
}

/// An answer, its key in bold.
fn lettered(text: &str, style: Style) -> Vec<Span<'static>> {
    let Some((key, rest)) = text.split_at_checked("[y]".len()) else {
        return vec![Span::styled(text.to_owned(), style)];
    };
    vec![Span::styled(key.to_owned(), style.add_modifier(Modifier::BOLD)), Span::styled(rest.to_owned(), style)]
}

/// The line that stays of a question in the scrollback: what was asked, and what was answered.
pub fn answered(question: &Question, answer: &str, look: &Look) -> Block {
    let what = match question.calls.as_slice() {
        [] => match &question.kind {
            Kind::Words { question, .. } => first_line(question, look.glyphs.ellipsis),
            Kind::Plan { .. } | Kind::Session | Kind::Each { .. } => "plan".to_owned(),
        },
        [call] => {
            let (verb, target) = asked(&call.name, &call.arguments, look);
            format!("{verb} {}", first_line(&target, look.glyphs.ellipsis))
        }
        calls => count(calls.len() as u64, "call"),
    };
    let room = look.edge().saturating_sub(INDENT + width::width(answer) + GAP);
    let answer = plain(answer);
    let text = if room < FEWEST_COLUMNS {
        answer
    } else {
        format!("{} {} {answer}", width::cut(&what, room, look.glyphs.ellipsis), look.glyphs.dot)
    };
    vec![indented(INDENT, text, look.theme.dim)]
}

#[cfg(test)]
mod tests;
