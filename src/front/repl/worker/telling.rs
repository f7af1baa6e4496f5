//! How events get to the screen: in order, and what nobody has looked at yet as few messages as possible.

use std::ops::ControlFlow::{Break, Continue};

use crate::front::repl::message::{Msg, News};
use crate::front::term::mailbox::Sender;
use crate::kernel::event::Event;

/// Nobody listens any more once the chat is left.
pub(super) fn tell(news: &Sender<Msg>, what: News) {
    let _ = news.send(Msg::News(what));
}

/// So many bytes of text are one message at most: how much waits stays bounded by how many messages do.
pub(super) const JOINED_BYTES: usize = 16 * 1024;

/// Tells a step of the task. Pieces of a text that nobody has looked at yet become one, and so does what one call shows.
pub(super) fn tell_event(news: &Sender<Msg>, event: &Event) {
    let join = |last: &mut Msg| {
        let Msg::News(News::Event(last)) = last else { return Break(false) };
        match (last, event) {
            (Event::Text(text), Event::Text(more)) | (Event::Reasoning(text), Event::Reasoning(more)) => {
                let fits = text.len() + more.len() <= JOINED_BYTES;
                if fits {
                    text.push_str(more);
                }
                Break(fits)
            }
            (Event::ToolProgress { id, text }, Event::ToolProgress { id: same, text: more }) if id == same => {
                // Only the last lines of it are shown.
                if text.len() + more.len() < JOINED_BYTES {
                    text.push('\n');
                    text.push_str(more);
                } else {
                    text.clone_from(more);
                }
                Break(true)
            }
            // Of what a worker says it is told only that it does.
            (Event::Within(worker, last), Event::Within(same, more)) if worker == same => {
                Break(is_murmur(last) && std::mem::discriminant(&**last) == std::mem::discriminant(&**more))
            }
            // What calls beside it show is independent of it.
            (Event::ToolProgress { .. }, Event::ToolProgress { .. }) => Continue(()),
            _ => Break(false),
        }
    };
    let _ = news.send_joined(join, || Msg::News(News::Event(event.clone())));
}

/// Whether a second one like it right behind it says nothing new.
fn is_murmur(event: &Event) -> bool {
    match event {
        Event::Text(_) | Event::Reasoning(_) | Event::ToolProgress { .. } => true,
        Event::TurnStarted { .. }
        | Event::ToolStarted { .. }
        | Event::ToolFinished { .. }
        | Event::Steered { .. }
        | Event::Notice(_)
        | Event::TurnFinished { .. }
        | Event::Question { .. }
        | Event::Within(..)
        | Event::Failed { .. } => false,
    }
}
