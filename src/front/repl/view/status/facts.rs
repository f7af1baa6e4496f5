//! Facts in a row, and which of them go first where room is short. Knows nothing of where they come from.

use ratatui::text::{Line, Span};

use crate::base::text::numbers::{dollars, tokens};
use crate::base::text::width::{cut, width};
use crate::model::request::Effort;
use crate::model::usage::Usage;

use super::super::Look;

/// Columns left free on both sides.
const INDENT: usize = 2;
/// Columns between the facts and the place, at least.
const GAP: usize = 2;
/// Columns from which on tokens are told too: below, the line is to stay calm.
const WIDE: usize = 100;
/// Columns below which only what is watched is told: what is allowed, how full, how dear.
const NARROW: usize = 48;
/// From here on, in per cent, the window is full enough to be worth a look.
const NEARLY_FULL: u64 = 80;
/// The most columns of one text from outside; what is longer is cut.
const MOST: usize = 40;

/// Everything the status line tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// In the order in which they stand.
    facts: Vec<Fact>,
    place: Option<Place>,
}

/// Where the agent works.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) cwd: String,
    pub(super) branch: Option<String>,
}

/// One fact.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fact {
    kind: Kind,
    text: String,
    is_loud: bool,
}

/// What a fact is about, in the order in which facts give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Tokens,
    Effort,
    Window,
    Model,
    Jobs,
    Queue,
    Editing,
    Money,
    Share,
    Grant,
}

fn fact(kind: Kind, text: impl Into<String>) -> Fact {
    Fact { kind, text: text.into(), is_loud: false }
}

/// A model's name without whose it is: `anthropic/claude-sonnet-4-5` is `sonnet-4-5`.
pub(super) fn short_model(label: &str) -> String {
    let name = label.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(label);
    let own = ["claude-", "Claude "].iter().find_map(|maker| name.strip_prefix(maker)).filter(|own| !own.is_empty());
    own.unwrap_or(name).to_owned()
}

/// Who answers, and what it may do.
pub(super) fn who(editing: Option<&str>, grant: &str, plan: bool, model: &str, effort: Option<Effort>) -> Vec<Fact> {
    let mut facts = Vec::new();
    facts.extend(editing.map(|word| fact(Kind::Editing, word)));
    match plan {
        // Nothing is changed, whatever is allowed.
        true => facts.push(Fact { is_loud: true, ..fact(Kind::Grant, "plan") }),
        false if grant.is_empty() => {}
        false => facts.push(fact(Kind::Grant, grant)),
    }
    if !model.is_empty() {
        facts.push(fact(Kind::Model, model));
    }
    facts.extend(effort.map(|effort| fact(Kind::Effort, format!("effort {}", effort_word(effort)))));
    facts
}

fn effort_word(effort: Effort) -> &'static str {
    match effort {
        Effort::Off => "off",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

/// What was used and paid. What is not known is not told.
pub(super) fn used(
    context: u64,
    window: Option<u64>,
    share: Option<u64>,
    money: Option<f64>,
    spent: &Usage,
) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let (Some(share), Some(window)) = (share, window) {
        let told = if share == 0 && context > 0 { "<1 %".to_owned() } else { format!("{share} %") };
        facts.push(Fact { is_loud: share >= NEARLY_FULL, ..fact(Kind::Share, told) });
        facts.push(fact(Kind::Window, format!("of {}", tokens(window))));
    } else if context > 0 {
        facts.push(fact(Kind::Share, format!("{} tokens", tokens(context))));
    }
    facts.extend(money.map(|money| fact(Kind::Money, dollars(money))));
    let Usage { input, output, cache_read, cache_write, reasoning: _ } = *spent;
    let read = input.saturating_add(cache_read).saturating_add(cache_write);
    if read > 0 || output > 0 {
        facts.push(fact(Kind::Tokens, format!("{} in, {} out", tokens(read), tokens(output))));
    }
    facts
}

/// What goes on beside the conversation.
pub(super) fn beside(jobs: usize, queue: usize) -> Vec<Fact> {
    let mut facts = Vec::new();
    match jobs {
        0 => {}
        1 => facts.push(fact(Kind::Jobs, "1 job")),
        _ => facts.push(fact(Kind::Jobs, format!("{jobs} jobs"))),
    }
    if queue > 0 {
        facts.push(fact(Kind::Queue, format!("{queue} queued")));
    }
    facts
}

/// How much of the place is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    Whole,
    Name,
    None,
}

impl Facts {
    pub(super) fn new(parts: [&Vec<Fact>; 3], place: Option<Place>) -> Self {
        Self { facts: parts.into_iter().flatten().cloned().collect(), place }
    }

    /// One row, no wider than the screen. What does not fit goes in a fixed order: tokens, the folders above, the effort,
    /// the place, the size of the window, the model, and so on; what is allowed stays longest.
    pub(super) fn line(&self, look: &Look) -> Line<'static> {
        let room = look.width.saturating_sub(2 * INDENT);
        let (mut lowest, mut place) = match look.width {
            ..NARROW => (Kind::Jobs, Room::None),
            NARROW..WIDE => (Kind::Effort, Room::Whole),
            WIDE.. => (Kind::Tokens, Room::Whole),
        };
        loop {
            let (left, right) = (self.left(lowest, look), self.right(place, look));
            let (columns, beside) = (row_width(&left), width(&right));
            let gap = if beside == 0 { 0 } else { GAP };
            if columns + gap + beside <= room {
                return row(left, &right, room - columns - beside, look);
            }
            match (lowest, place) {
                (Kind::Tokens, _) => lowest = Kind::Effort,
                (_, Room::Whole) => place = Room::Name,
                (Kind::Effort, _) => lowest = Kind::Window,
                (_, Room::Name) => place = Room::None,
                (Kind::Window, Room::None) => lowest = Kind::Model,
                (Kind::Model, Room::None) => lowest = Kind::Jobs,
                (Kind::Jobs, Room::None) => lowest = Kind::Queue,
                (Kind::Queue, Room::None) => lowest = Kind::Editing,
                (Kind::Editing, Room::None) => lowest = Kind::Money,
                (Kind::Money, Room::None) => lowest = Kind::Share,
                (Kind::Share, Room::None) => lowest = Kind::Grant,
                // The screen is narrower than a word.
                (Kind::Grant, Room::None) => return self.word(look),
            }
        }
    }

    /// The facts from `lowest` up, as spans.
    fn left(&self, lowest: Kind, look: &Look) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        for Fact { kind, text, is_loud } in self.facts.iter().filter(|fact| fact.kind >= lowest) {
            if !spans.is_empty() {
                // The window's size goes on from the share.
                let between = if *kind == Kind::Window { " ".to_owned() } else { format!(" {} ", look.glyphs.dot) };
                spans.push(Span::styled(between, look.theme.dim));
            }
            let text = cut(text, MOST, look.glyphs.ellipsis);
            spans.push(Span::styled(text, if *is_loud { look.theme.notice } else { look.theme.dim }));
        }
        spans
    }

    fn right(&self, room: Room, look: &Look) -> String {
        let mark = look.glyphs.ellipsis;
        let Some(Place { cwd, branch }) = &self.place else { return String::new() };
        let folder = match room {
            Room::Whole => cwd.as_str(),
            // A folder's name may end with a blank; a row does not.
            Room::Name => cwd.rsplit('/').map(str::trim_end).find(|name| !name.is_empty()).unwrap_or(cwd),
            Room::None => return String::new(),
        };
        let folder = cut(folder, if room == Room::Whole { usize::MAX } else { MOST }, mark);
        match branch {
            Some(branch) => format!("{folder} {}", cut(branch, MOST, mark)),
            None => folder,
        }
    }

    /// The most important fact, as far as it goes.
    fn word(&self, look: &Look) -> Line<'static> {
        let first = self.facts.iter().max_by_key(|fact| fact.kind);
        let text = first.map(|fact| cut(&fact.text, look.width, look.glyphs.ellipsis)).unwrap_or_default();
        Line::from(Span::styled(text, look.theme.dim))
    }
}

fn row_width(spans: &[Span<'static>]) -> usize {
    spans.iter().map(|span| width(&span.content)).sum()
}

/// Facts at the left, the place at the right, `free` columns between them; no spaces at the end.
fn row(left: Vec<Span<'static>>, right: &str, free: usize, look: &Look) -> Line<'static> {
    let mut spans = left;
    if !right.is_empty() {
        spans.push(Span::raw(" ".repeat(free)));
        spans.push(Span::styled(right.to_owned(), look.theme.dim));
    }
    if !spans.is_empty() {
        spans.insert(0, Span::raw(" ".repeat(INDENT)));
    }
    Line::from(spans)
}
