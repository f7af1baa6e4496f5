//! What happens to sub-agents and in the steps of a chain: their lines count it, their notices name them, and what their
//! answers cost is paid.

use crate::base::text::visible;
use crate::front::repl::state::{Paid, State, innermost};
use crate::front::repl::view::status::StatusEvent;
use crate::kernel::event::{Event, Worker};

use super::news::tell;

/// Something happens within the running task.
pub(super) fn happened(state: &mut State, worker: &Worker, event: &Event) {
    let State { now, look, paper, turn, .. } = state;
    if let Some(Paid { origin, usage, cost }) = turn.within(worker, event, *now, look, paper) {
        state.spending.here.add(&origin, &usage, cost);
        state.status.emit(StatusEvent::Paid(cost));
    }
    let (inner, event) = innermost(worker, event);
    match event {
        Event::Notice(notice) => {
            state.turn.fall_silent(state.now, &state.look, &mut state.paper);
            let who = state.turn.who(inner, &state.look);
            tell(state, &format!("{who}: {}", visible::line(&notice.text)));
        }
        Event::Question { id, .. } => named(state, id),
        Event::TurnStarted { .. }
        | Event::Text(_)
        | Event::Reasoning(_)
        | Event::ToolStarted { .. }
        | Event::ToolProgress { .. }
        | Event::ToolFinished { .. }
        | Event::Steered { .. }
        | Event::TurnFinished { .. }
        | Event::Within(..)
        | Event::Failed { .. } => {}
    }
}

/// It is known now who puts a question.
fn named(state: &mut State, id: &str) {
    let Some(worker) = state.turn.asker(id) else { return };
    let who = state.turn.who(worker, &state.look);
    let open = state.asked.iter_mut().chain(&mut state.questions);
    if let Some(asked) = open.into_iter().find(|asked| asked.id.as_deref() == Some(id)) {
        asked.question.who = Some(who);
    }
}
