//! The live region: what goes on, a question, the draft, and one line of facts, in as many rows as there are.

use ratatui::text::Line;

use ratatui::text::Span;

use crate::base::text::width::head;
use crate::front::repl::complete::view as list;
use crate::front::repl::view::{Caret, Frame, ask, notice, status};

use super::paper::Kind;
use super::{Asked, Overlay, State, Way};

/// Below this many columns, or rows, the screen says so (issue: works at 40×10, below 20×5 it says so).
const FEWEST_COLUMNS: usize = 20;
/// See [`FEWEST_COLUMNS`].
const FEWEST_ROWS: usize = 5;
/// With fewer rows than this no row is spent on distance.
const ROOMY: usize = 9;

/// What the screen shows below the finished text.
pub fn view(state: &State) -> Frame {
    if state.leaving.is_some() {
        return Frame::default();
    }
    if state.look.width < FEWEST_COLUMNS || state.rows < FEWEST_ROWS {
        return tiny(state);
    }
    let roomy = state.rows >= ROOMY;
    let mut left = state.rows;
    let input = Input::new(state, (state.rows / 2).max(1));
    left = left.saturating_sub(input.rows.len());
    let below = below(state, left.min(state.rows / 2));
    left = left.saturating_sub(below.len());
    let asks = ask_rows(state, left.saturating_sub(usize::from(roomy)));
    left = left.saturating_sub(asks.len());
    let mut middle = if asks.is_empty() { working(state) } else { Vec::new() };
    middle.truncate(left);
    left -= middle.len();
    if roomy && (state.paper.last().is_some() || state.turn.has_calls() || state.turn.speaks().is_some()) && left > 0 {
        middle.insert(0, Line::default());
        left -= 1;
    }
    if !asks.is_empty() && roomy && left > 0 {
        middle.push(Line::default());
        left -= 1;
    }
    let mut rows = going_on(state, left.min(state.rows / 2));
    if asks.is_empty() {
        rows.append(&mut middle);
    } else {
        // A question stands between what led to it and the draft.
        let gap = middle.len().saturating_sub(1);
        let rest = middle.split_off(gap.min(middle.len()));
        rows.append(&mut middle);
        rows.extend(asks);
        rows.extend(rest);
    }
    let above = rows.len();
    rows.extend(input.rows);
    rows.extend(below);
    let caret = input.caret.map(|caret| Caret { row: caret.row + row_number(above), column: caret.column });
    Frame { rows, caret }
}

/// What fits where nothing fits: a word, and the end of the draft.
fn tiny(state: &State) -> Frame {
    let text = format!("{FEWEST_COLUMNS}x{FEWEST_ROWS} or more, please");
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
            Overlay::None | Overlay::Completion(_) => {
                let laid = state.editor.layout(&state.look, &prompt(state), most);
                Self { rows: laid.rows, caret: Some(laid.caret) }
            }
        }
    }
}

/// What stands under the draft: ways to complete it, else the facts.
fn below(state: &State, most: usize) -> Vec<Line<'static>> {
    let mut rows = match &state.overlay {
        Overlay::Completion(completion) if !completion.rows().is_empty() => list::rows(completion, &state.look),
        Overlay::None | Overlay::Completion(_) | Overlay::Picker(..) | Overlay::Search(_) => {
            let armed = state.is_armed() && state.editor.is_blank();
            if armed {
                notice::remark("ctrl-c again leaves", &state.look)
            } else {
                vec![state.status.line(&state.look)]
            }
        }
    };
    rows.truncate(most);
    rows
}

/// The mark before the draft.
fn prompt(state: &State) -> Span<'static> {
    Span::styled(format!("{} ", state.look.glyphs.person), state.look.theme.person)
}

fn ask_rows(state: &State, most: usize) -> Vec<Line<'static>> {
    let Some(Asked { question, .. }) = &state.asked else { return Vec::new() };
    ask::rows(question, most, &state.look)
}

/// The line that says that something runs, and what waits.
fn working(state: &State) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = Vec::new();
    if let Some(task) = &state.task {
        let elapsed = state.now.saturating_sub(task.since);
        rows.extend(state.status.working(&state.look, elapsed));
    }
    let texts = |way: Way| -> Vec<String> {
        state.waiting.iter().filter(|waiting| waiting.way == way).map(|waiting| waiting.draft.text()).collect()
    };
    rows.extend(status::waiting(&state.look, &texts(Way::Steers), &texts(Way::Follows)));
    rows
}

/// The end of what is being said, or the calls that run.
fn going_on(state: &State, most: usize) -> Vec<Line<'static>> {
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
