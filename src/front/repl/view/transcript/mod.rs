//! The end of a stored conversation, as it looked when it was said.
//!
//! It goes backwards from the newest message and stops when there is enough, so that the length of a session costs
//! nothing. Prose is made elsewhere.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use ratatui::text::Line;

use super::notice::{notice, remark, said};
use super::row::plain;
use super::tool::{Call, Finish, finished};
use super::{Block, Look};
use crate::base::json::Object;
use crate::base::text::numbers::count;
use crate::model::message::{Assistant, AssistantPart, Message, Part, ToolCall, ToolInput, ToolResult};

/// How the notes begin that the loop writes to a model that repeats itself; nobody said them.
const LOOP_NOTES: [&str; 3] = [
    "Note: the last calls repeat earlier ones",
    "Stop. You are repeating the same calls",
    "You keep repeating the same calls, so no more tools",
];

/// How a command begins that a person ran and shared with the model.
pub const OWN_COMMAND: &str = "I ran this command myself:\n$ ";

/// The last `most_lines` lines of a conversation, oldest first. Blocks that are to stand apart begin with a blank line;
/// nothing but that separates them. Where something is left out, the first line says so.
///
/// `prose` makes blocks of what the agent said, `thought` of what it reasoned.
pub fn tail(
    messages: &[Arc<Message>],
    most_lines: usize,
    look: &Look,
    prose: &dyn Fn(&str) -> Vec<Block>,
    thought: &dyn Fn(&str) -> Vec<Block>,
) -> Vec<Block> {
    let mut newest_first: Vec<Said> = Vec::new();
    let (mut lines, mut shown) = (0, messages.len());
    while let Some(before) = shown.checked_sub(1).filter(|_| lines < most_lines) {
        shown = before;
        let after = messages.get(shown + 1..).unwrap_or_default();
        let Some(message) = messages.get(shown) else { break };
        let said = said_in(message, after, look, prose, thought);
        lines += said.iter().map(|said| said.block.len() + 1).sum::<usize>();
        newest_first.extend(said.into_iter().rev());
    }
    let mut blocks = joined(newest_first);
    let rest = cut_to(&mut blocks, most_lines);
    let left_out = match (shown, rest) {
        (0, false) => None,
        (0, true) => Some(look.glyphs.ellipsis.to_owned()),
        (more, _) => Some(format!("{} {}", look.glyphs.ellipsis, count(more as u64, "earlier message"))),
    };
    if let Some(text) = left_out {
        // What follows stands apart from it.
        if let Some(first) = blocks.first_mut().filter(|first| first.first().is_some_and(|line| !line.spans.is_empty()))
        {
            first.insert(0, Line::default());
        }
        blocks.insert(0, remark(&text, look));
    }
    blocks
}

/// A block and who it is of.
struct Said {
    block: Block,
    speaker: Speaker,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Person,
    Agent,
    Thought,
    Tools,
}

/// The blocks in their order, with blank lines where one speaker ends.
fn joined(newest_first: Vec<Said>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::with_capacity(newest_first.len());
    let mut last: Option<Speaker> = None;
    for Said { mut block, speaker } in newest_first.into_iter().rev() {
        let stands_apart = match last {
            None => false,
            Some(before) => before != speaker || speaker != Speaker::Tools,
        };
        if stands_apart && block.first().is_some_and(|line| !line.spans.is_empty()) {
            block.insert(0, Line::default());
        }
        last = Some(speaker);
        blocks.push(block);
    }
    blocks
}

/// Takes lines off the beginning until at most so many are left; says whether any were.
fn cut_to(blocks: &mut Vec<Block>, most_lines: usize) -> bool {
    let mut over = blocks.iter().map(Vec::len).sum::<usize>().saturating_sub(most_lines);
    let is_cut = over > 0;
    while over > 0 {
        let Some(first) = blocks.first_mut() else { break };
        if first.len() <= over {
            over -= first.len();
            blocks.remove(0);
        } else {
            first.drain(..over);
            over = 0;
        }
    }
    is_cut
}

fn said_in(
    message: &Message,
    after: &[Arc<Message>],
    look: &Look,
    prose: &dyn Fn(&str) -> Vec<Block>,
    thought: &dyn Fn(&str) -> Vec<Block>,
) -> Vec<Said> {
    match message {
        Message::User(parts) => {
            let text = person(parts);
            if is_note(&text) {
                let block = notice("the model repeats itself, and was told so", look);
                return vec![Said { block, speaker: Speaker::Tools }];
            }
            if text.is_empty() { Vec::new() } else { vec![Said { block: said(&text, look), speaker: Speaker::Person }] }
        }
        Message::Assistant(Assistant { content, origin: _, stop: _, usage: _ }) => {
            let parts = content.iter().flat_map(|part| match part {
                AssistantPart::Reasoning(reasoning) => {
                    let block = thought(&reasoning.text).concat();
                    if block.is_empty() { Vec::new() } else { vec![Said { block, speaker: Speaker::Thought }] }
                }
                AssistantPart::Text(text) => {
                    // The blocks of one text know themselves where a blank line stands between them.
                    let block = prose(text).concat();
                    if block.is_empty() { Vec::new() } else { vec![Said { block, speaker: Speaker::Agent }] }
                }
                AssistantPart::ToolUse(call) => {
                    vec![Said { block: called(call, after, look), speaker: Speaker::Tools }]
                }
            });
            parts.collect()
        }
        // Shown with the calls.
        Message::Tool(_) => Vec::new(),
    }
}

/// What a person wrote, without what the program put before and behind it; what went along is named below it.
fn person(parts: &[Part]) -> String {
    let (mut texts, mut attached) = (Vec::<String>::new(), Vec::new());
    // Whether a text is one with the next, since only a picture stands between them.
    let mut goes_on = false;
    for part in parts {
        match part {
            Part::Text(text) if text.starts_with(OWN_COMMAND) => {
                let line = text.get(OWN_COMMAND.len()..).and_then(|rest| rest.lines().next()).unwrap_or_default();
                attached.push(format!("[ran {}]", plain(line)));
            }
            Part::Text(text) => {
                let (text, files) = without_surroundings(text);
                match texts.last_mut().filter(|_| goes_on) {
                    Some(last) => last.push_str(&text),
                    None => texts.extend(Some(text).filter(|text| !text.is_empty())),
                }
                goes_on = false;
                attached.extend(files);
            }
            // It is named where it stands.
            Part::Image(_) if texts.last().is_some_and(|text| ends_in_picture(text)) => goes_on = true,
            Part::Image(image) => attached.push(format!("[picture: {}]", plain(&image.label()))),
        }
    }
    texts.append(&mut attached);
    texts.join("\n").trim_matches('\n').to_owned()
}

/// Whether the last thing in a text is what stands for a picture of a draft: `[picture 1: shot.png 640×480]`.
fn ends_in_picture(text: &str) -> bool {
    let label = text.strip_suffix(']').and_then(|text| text.rsplit_once("[picture "));
    let number = label.and_then(|(_, label)| label.split_once(": ")).map(|(number, _)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A text of a message without what the program put there: surroundings, attached files, commands of a person's own.
pub fn own_words(text: &str) -> String {
    if text.starts_with(OWN_COMMAND) { String::new() } else { without_surroundings(text).0 }
}

/// Whether a text is one that the loop writes to a model that repeats itself.
pub fn is_note(text: &str) -> bool {
    LOOP_NOTES.iter().any(|note| text.starts_with(note))
}

/// A text without the block about the surroundings that opens a session and without attached files; and their names.
fn without_surroundings(text: &str) -> (String, Vec<String>) {
    /// What `product::prompt` puts around its block.
    const SURROUNDINGS: (&str, &str) = ("<environment>\n", "\n</environment>");
    /// What it puts around an attached file, after the path.
    const FILE: (&str, &str, &str) = ("<file path=\"", "\">\n", "\n</file>");
    let mut rest = text;
    if let Some((_, after)) = rest.strip_prefix(SURROUNDINGS.0).and_then(|inner| inner.split_once(SURROUNDINGS.1)) {
        rest = after;
    }
    let mut kept = String::new();
    let mut names = Vec::new();
    while let Some((before, inner)) = rest.split_once(FILE.0) {
        let begins_line = before.is_empty() || before.ends_with('\n');
        let file = inner.split_once(FILE.1).filter(|(path, _)| begins_line && !path.contains('\n'));
        let Some((path, after)) = file.and_then(|(path, body)| Some((path, body.split_once(FILE.2)?.1))) else { break };
        kept.push_str(before);
        names.push(format!("[attached {}]", plain(path)));
        rest = after;
    }
    kept.push_str(rest);
    (kept.trim_matches('\n').to_owned(), names)
}

/// A call with its result, which follows in one of the next messages.
fn called(call: &ToolCall, after: &[Arc<Message>], look: &Look) -> Block {
    let arguments = match &call.input {
        ToolInput::Object(arguments) => arguments.clone(),
        ToolInput::Invalid { raw, problem: _ } => Object::from_iter([("arguments".to_owned(), raw.as_str().into())]),
    };
    let results = after.iter().map_while(|message| match message.as_ref() {
        Message::Tool(results) => Some(results),
        Message::User(_) | Message::Assistant(_) => None,
    });
    let result = results.flatten().find(|result| result.call_id == call.id);
    let finish = match result {
        Some(ToolResult { call_id: _, content, is_error }) => {
            let texts = content.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Image(_) => None,
            });
            Finish { ok: !is_error, output: texts.collect(), ..Finish::default() }
        }
        None => Finish { output: "interrupted: its result is not there".to_owned(), ..Finish::default() },
    };
    let call = Call::new(call.id.clone(), call.name.clone(), arguments, Duration::ZERO);
    finished(&call, &finish, look)
}
