//! The live region: what goes on, a question, the draft, and one line of facts, in as many rows as there are.

use std::time::Duration;

use ratatui::text::Line;

use ratatui::text::Span;

use crate::base::text::width::{cut, head};
use crate::front::repl::complete::view as list;
use crate::front::repl::key::action::Action;
use crate::front::repl::view::{Caret, Frame, ask, notice, status};

use super::paper::Kind;
use super::{FEWEST_COLUMNS, FEWEST_ROWS, Overlay, State, TaskKind, Way};

/// Rows of the plan at most: a longer one is told by the step under way.
const PLAN_ROWS: usize = 8;
/// A command that has been running for so long may be meant to go on in the background.
const LONG_COMMAND: Duration = Duration::from_secs(10);
/// With fewer rows than this no row is spent on distance.
const ROOMY: usize = 9;

/// What the screen shows below the finished text. What is nearest to the draft gets its rows first.
pub fn view(state: &State) -> Frame {
    if state.leaving.is_some() {
        return Frame::default();
    }
    if state.is_tiny() {
        return tiny(state);
    }
    let mut room = Room(state.rows);
    let input = Input::new(state, (state.rows / 2).max(1));
    room.take(input.rows.len());
    let below = room.fit(below(state));
    let mut above = match &state.asked {
        Some(asked) => ask::rows(&asked.question, room.0, &state.look),
        None => working(state),
    };
    above = room.fit(above);
    // Distance: above everything, and below a question.
    let is_first = state.paper.last().is_none() && !state.turn.has_calls() && state.turn.speaks().is_none();
    let air = if state.rows >= ROOMY { room.fit(vec![Line::default(); 2]) } else { Vec::new() };
    let mut air = air.into_iter();
    let mut rows = going_on(state, room.0.min(state.rows / 2));
    rows.extend(air.next().filter(|_| !is_first));
    rows.append(&mut above);
    rows.extend(air.next().filter(|_| state.asked.is_some()));
    let caret_row = row_number(rows.len());
    rows.extend(input.rows);
    rows.extend(below);
    let caret = input.caret.map(|caret| Caret { row: caret.row + caret_row, column: caret.column });
    Frame { rows, caret }
}

/// How many rows are left.
struct Room(usize);

impl Room {
    fn take(&mut self, rows: usize) {
        self.0 = self.0.saturating_sub(rows);
    }

    /// As many of `rows` as there is room for.
    fn fit(&mut self, mut rows: Vec<Line<'static>>) -> Vec<Line<'static>> {
        rows.truncate(self.0);
        self.take(rows.len());
        rows
    }
}

/// What fits where nothing fits: a word, and the end of the draft.
fn tiny(state: &State) -> Frame {
    let text = format!("{FEWEST_COLUMNS}x{FEWEST_ROWS} or more");
    let word = head(&text, state.look.width).to_owned();
    let mut rows = vec![Line::styled(word, state.look.theme.dim)];
    let laid = state.editor.layout(&state.look, &prompt(state), 1);
    if state.rows < 2 {
        rows.clear();
    }
    let caret = Caret { row: laid.caret.row + row_number(rows.len()), column: laid.caret.column };
    rows.extend(laid.rows);
    Frame { rows, caret: Some(caret) }
}

/// The prompt, or what stands in its place.
struct Input {
    rows: Vec<Line<'static>>,
    caret: Option<Caret>,
}

impl Input {
    fn new(state: &State, most: usize) -> Self {
        match &state.overlay {
            Overlay::Search(search) => {
                let laid = search.layout(&state.earlier, &state.look, most);
                Self { rows: laid.rows, caret: Some(laid.caret) }
            }
            Overlay::Picker(picker, _) => {
                let Frame { rows, caret } = picker.rows(&state.look, most);
                Self { rows, caret }
            }
            Overlay::Tree(tree, _) => {
                let Frame { rows, caret } = tree.rows(&state.look, most);
                Self { rows, caret }
            }
            Overlay::Shelf(shelf, _) => {
                let Frame { rows, caret } = shelf.rows(&state.look, most);
                Self { rows, caret }
            }
            Overlay::Confirm(confirm, _) => {
                let mut rows = confirm.rows(&state.look);
                // The answers are what may not be missed.
                rows.drain(..rows.len().saturating_sub(most));
                Self { rows, caret: None }
            }
            Overlay::None | Overlay::Completion(_) => {
                let laid = state.editor.layout(&state.look, &prompt(state), most);
                Self { rows: laid.rows, caret: Some(laid.caret) }
            }
        }
    }
}

/// What stands under the draft: ways to complete it, else the facts.
fn below(state: &State) -> Vec<Line<'static>> {
    match &state.overlay {
        Overlay::Completion(completion) if !completion.rows().is_empty() => list::rows(completion, &state.look),
        Overlay::None
        | Overlay::Completion(_)
        | Overlay::Picker(..)
        | Overlay::Search(_)
        | Overlay::Tree(..)
        | Overlay::Shelf(..)
        | Overlay::Confirm(..) => {
            let armed = match state.editor.is_blank() {
                true if state.is_armed() => Some("ctrl-c again leaves"),
                true if state.goes_back() => Some("esc again goes back to an earlier message"),
                true | false => None,
            };
            if let Some(text) = armed {
                // A remark is indented by two columns.
                let text = cut(text, state.look.width.saturating_sub(2), state.look.glyphs.ellipsis);
                notice::remark(&text, &state.look)
            } else {
                vec![state.status.line(&state.look)]
            }
        }
    }
}

/// The mark before the draft.
fn prompt(state: &State) -> Span<'static> {
    Span::styled(format!("{} ", state.look.glyphs.person), state.look.theme.person)
}

/// The line that says that something runs, and what waits.
fn working(state: &State) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = Vec::new();
    if let Some(task) = &state.task {
        let elapsed = state.now.saturating_sub(task.since);
        let plan = state.checklist.shown().filter(|_| task.kind == TaskKind::Agent);
        rows.extend(plan.into_iter().flat_map(|plan| plan.rows((state.rows / 3).min(PLAN_ROWS), &state.look)));
        let is_long = state.turn.has_command(state.now, LONG_COMMAND);
        let key = is_long.then(|| state.keymap.keys_of(Action::Background).into_iter().next()).flatten();
        let also = key.map(|key| format!("{key} to background"));
        rows.extend(state.status.working(&state.look, elapsed, also.as_deref()));
    }
    let texts = |way: Way| -> Vec<String> {
        state.waiting.iter().filter(|waiting| waiting.way == way).map(|waiting| waiting.draft.text()).collect()
    };
    rows.extend(status::waiting(&state.look, &texts(Way::Steers), &texts(Way::Follows)));
    rows
}

/// The end of what is being said, or the calls that run.
fn going_on(state: &State, most: usize) -> Vec<Line<'static>> {
    if most == 0 {
        return Vec::new();
    }
    let gap = |kind: Kind| !state.turn.goes_on() && state.paper.gap_before(kind);
    let Some((kind, mut rows)) = state.turn.rows(state.now, most, &state.look) else { return Vec::new() };
    if gap(kind) && rows.len() < most && rows.first().is_some_and(|row| row.width() > 0) {
        rows.insert(0, Line::default());
    }
    rows
}

fn row_number(rows: usize) -> u16 {
    u16::try_from(rows).unwrap_or(u16::MAX)
}
