//! Where a conversation may be cut: never between a call and its result.

use std::sync::Arc;

use crate::model::message::Message;

/// From which place on messages are kept: so many that they take at least `keep` tokens, but no more than `most`. All
/// places from 0 to the number of messages are possible; the last keeps nothing.
///
/// `tokens` weighs a message. A place is one where an answer stands, or something a person said that no result follows
/// before the next answer.
pub fn cut(messages: &[Arc<Message>], tokens: impl Fn(&Message) -> u64, keep: u64, most: u64) -> usize {
    let (mut best, mut kept) = (messages.len(), 0_u64);
    if keep == 0 {
        return best;
    }
    for (place, message) in messages.iter().enumerate().rev() {
        kept = kept.saturating_add(tokens(message));
        if kept > most {
            break;
        }
        if is_possible(messages, place) {
            best = place;
            if kept >= keep {
                break;
            }
        }
    }
    best
}

/// Whether messages may be kept from this place on.
fn is_possible(messages: &[Arc<Message>], place: usize) -> bool {
    let mut rest = messages.iter().skip(place).map(Arc::as_ref);
    match rest.next() {
        Some(Message::Assistant(_)) | None => true,
        Some(Message::Tool(_)) => false,
        Some(Message::User(_)) => {
            !rest.take_while(|message| !matches!(message, Message::Assistant(_))).any(|m| matches!(m, Message::Tool(_)))
        }
    }
}
