//! Makes a conversation fit to be sent: every call has exactly one result, right after its message, in call order.
//!
//! Pure, and run before every request: an interrupted or crashed call, a damaged session or a foreign one never bricks
//! a conversation. What the wires want beyond that, such as alternating roles, is theirs.

use std::sync::Arc;

use crate::model::message::{Assistant, AssistantPart, Message, Part, ToolCall, ToolResult};

/// What the model is told where a result is missing. It must not depend on what follows, or the prefix that providers
/// cache would change when the conversation goes on.
pub const INTERRUPTED: &str = "interrupted: this call was stopped before it finished, or its result was lost in a crash; \
     it may have had some of its effects, so look before you repeat it";

/// What a conversation begins with whose beginning is lost: a person always speaks first.
const HEADLESS: &str = "(The beginning of the conversation is left out.)";

/// The conversation as it may be sent.
///
/// It begins with a person: an answer that comes first gets `HEADLESS` before it.
/// A result belongs to the last answer before it. Missing results become [`INTERRUPTED`]; results without a call and
/// second results are dropped, and so are messages without content. Calls without an id, or with the id of another call
/// of the same message, are renamed together with their results. What needs no change is shared, not copied.
pub fn legal(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let mut legal = Vec::with_capacity(messages.len() + 1);
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        if legal.is_empty() && is_answer(message) {
            legal.push(Arc::new(Message::User(vec![Part::Text(HEADLESS.to_owned())])));
        }
        match message.as_ref() {
            Message::User(parts) if has_content(parts) => legal.push(Arc::clone(message)),
            // A result that no answer has claimed.
            Message::User(_) | Message::Tool(_) => {}
            Message::Assistant(answer) if answer.calls().next().is_some() => {
                let (segment, later) = rest.split_at(segment_length(rest));
                push_answered(message, answer, segment, &mut legal);
                rest = later;
            }
            Message::Assistant(answer) if says_something(answer) => legal.push(Arc::clone(message)),
            Message::Assistant(_) => {}
        }
    }
    legal
}

/// How many messages follow an answer until the next one that counts.
fn segment_length(messages: &[Arc<Message>]) -> usize {
    messages.iter().position(|message| is_answer(message)).unwrap_or(messages.len())
}

/// Whether a message is an answer that counts.
fn is_answer(message: &Message) -> bool {
    match message {
        Message::Assistant(answer) => says_something(answer) || answer.calls().next().is_some(),
        Message::User(_) | Message::Tool(_) => false,
    }
}

/// Adds an answer with its results and what people said before the next answer.
fn push_answered(message: &Arc<Message>, answer: &Assistant, segment: &[Arc<Message>], legal: &mut Vec<Arc<Message>>) {
    let place = legal.len();
    let renamed = renamed_calls(answer, place);
    legal.push(
        renamed.as_ref().map_or_else(|| Arc::clone(message), |answer| Arc::new(Message::Assistant(answer.clone()))),
    );

    let users = match segment.split_first() {
        Some((tool, users)) if renamed.is_none() && answers_exactly(tool, answer) => {
            legal.push(Arc::clone(tool));
            users
        }
        _ => {
            legal.push(Arc::new(Message::Tool(results(answer, renamed.as_ref().unwrap_or(answer), segment))));
            segment
        }
    };
    let said = users.iter().filter(|message| match message.as_ref() {
        Message::User(parts) => has_content(parts),
        Message::Assistant(_) | Message::Tool(_) => false,
    });
    legal.extend(said.cloned());
}

/// One result for each call of `answer`, under the ids of `renamed`.
fn results(answer: &Assistant, renamed: &Assistant, segment: &[Arc<Message>]) -> Vec<ToolResult> {
    let mut found: Vec<&ToolResult> = Vec::new();
    for message in segment {
        match message.as_ref() {
            Message::Tool(results) => found.extend(results),
            Message::User(_) | Message::Assistant(_) => {}
        }
    }
    let one = |(call, id): (&ToolCall, &str)| {
        let place = found.iter().position(|result| result.call_id == call.id);
        match place.map(|place| found.remove(place)) {
            Some(result) => ToolResult { call_id: id.to_owned(), ..result.clone() },
            None => ToolResult::text(id, INTERRUPTED, true),
        }
    };
    answer.calls().zip(renamed.calls().map(|call| call.id.as_str())).map(one).collect()
}

fn answers_exactly(message: &Message, answer: &Assistant) -> bool {
    match message {
        Message::Tool(results) => {
            results.iter().map(|result| result.call_id.as_str()).eq(answer.calls().map(|call| call.id.as_str()))
        }
        Message::User(_) | Message::Assistant(_) => false,
    }
}

/// The answer with ids that tell its calls apart; `None` if they already do.
///
/// New ids are made of the message's place, which never changes as the conversation grows.
fn renamed_calls(answer: &Assistant, place: usize) -> Option<Assistant> {
    let ids: Vec<&str> = answer.calls().map(|call| call.id.as_str()).collect();
    let is_first =
        |number: usize, id: &str| !id.is_empty() && ids.iter().position(|other| *other == id) == Some(number);
    if ids.iter().enumerate().all(|(number, id)| is_first(number, id)) {
        return None;
    }
    let mut number = 0;
    let content = answer.content.iter().map(|part| match part {
        AssistantPart::ToolUse(call) => {
            let id = if is_first(number, &call.id) { call.id.clone() } else { free_id(&ids, place, number) };
            number += 1;
            AssistantPart::ToolUse(ToolCall { id, ..call.clone() })
        }
        AssistantPart::Reasoning(_) | AssistantPart::Text(_) => part.clone(),
    });
    Some(Assistant { content: content.collect(), ..answer.clone() })
}

fn free_id(taken: &[&str], place: usize, number: usize) -> String {
    let mut id = format!("call_{place}_{number}");
    while taken.contains(&id.as_str()) {
        id.push('_');
    }
    id
}

fn has_content(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Image(_) => true,
    })
}

/// Whether an answer has words; thoughts alone do not count, because most providers do not take them back alone.
fn says_something(answer: &Assistant) -> bool {
    answer.content.iter().any(|part| match part {
        AssistantPart::Text(text) => !text.trim().is_empty(),
        AssistantPart::Reasoning(_) | AssistantPart::ToolUse(_) => false,
    })
}

#[cfg(test)]
mod tests;
