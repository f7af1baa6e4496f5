//! What a model is shown of a conversation that it is to summarise: labelled text, cut down until it fits.

use std::fmt::Write as _;
use std::sync::Arc;

use super::summary_of;
use crate::base::json;
use crate::base::text::cut;
use crate::model::message::{AssistantPart, Message, Part, ToolInput};

/// The part of a conversation that is to be summarised.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    entries: Vec<Entry>,
    wishes: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    kind: Kind,
    heading: String,
    text: String,
}

/// What an entry is, in the order in which entries give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Result,
    Call,
    Said,
    /// An earlier summary: it stands for everything before it.
    Summary,
}

/// How entries give way, step by step, the oldest first: those of a kind are cut to so many characters.
const STEPS: [(Kind, usize); 6] = [
    (Kind::Result, 400),
    (Kind::Result, 80),
    (Kind::Call, 200),
    (Kind::Said, 2_000),
    (Kind::Call, 60),
    (Kind::Said, 200),
];
/// What a result or a call's arguments show at most, in characters: nobody needs a whole file to say what was in it.
const SHOWN: usize = 2_000;
/// What stands in a gap, in characters.
const GAP: usize = 40;
/// Headings and line breaks around an entry, in characters.
const FRAME: usize = 8;

impl Material {
    /// What these messages say. `wishes`: what the person wants the summary to heed.
    pub fn of(messages: &[Arc<Message>], wishes: Option<String>) -> Self {
        let mut entries = Vec::new();
        for message in messages {
            match message.as_ref() {
                Message::User(parts) => match summary_of(message) {
                    Some(summary) => entries.push(Entry::new(Kind::Summary, "Earlier handover", summary)),
                    None => entries.push(Entry::new(Kind::Said, "Person", &words(parts))),
                },
                Message::Assistant(answer) => {
                    for part in &answer.content {
                        match part {
                            AssistantPart::Text(text) => entries.push(Entry::new(Kind::Said, "Agent", text)),
                            // What was thought led to what was said and done.
                            AssistantPart::Reasoning(_) => {}
                            AssistantPart::ToolUse(call) => {
                                let input = match &call.input {
                                    ToolInput::Object(object) => json::canonical(object),
                                    ToolInput::Invalid { raw, .. } => raw.clone(),
                                };
                                let heading = format!("Agent calls {}", call.name);
                                entries.push(Entry::new(Kind::Call, &heading, &ends(&input, SHOWN)));
                            }
                        }
                    }
                }
                Message::Tool(results) => entries.extend(results.iter().map(|result| {
                    let heading = if result.is_error { "Failed result" } else { "Result" };
                    Entry::new(Kind::Result, heading, &ends(&words(&result.content), SHOWN))
                })),
            }
        }
        entries.retain(|entry| !entry.text.trim().is_empty());
        Self { entries, wishes }
    }

    /// The material in at most about `budget` characters: results give way first, then arguments, then what was said, and
    /// at last the oldest entries but for the earlier summary.
    pub fn text(&self, budget: usize) -> String {
        let mut entries = self.entries.clone();
        let mut size: usize = entries.iter().map(Entry::size).sum();
        for (kind, chars) in STEPS {
            for entry in entries.iter_mut().filter(|entry| entry.kind == kind) {
                if size <= budget {
                    break;
                }
                // No further than has to be.
                let enough = entry.text.len().saturating_sub(size - budget + GAP);
                size -= entry.size();
                entry.text = ends(&entry.text, chars.max(enough));
                size += entry.size();
            }
        }
        let mut dropped = 0_u64;
        entries.retain(|entry| {
            let goes = size > budget && entry.kind != Kind::Summary;
            if goes {
                size -= entry.size();
                dropped += 1;
            }
            !goes
        });
        for entry in entries.iter_mut().filter(|_| size > budget) {
            entry.text = ends(&entry.text, budget);
        }
        let mut text = String::from("<conversation>\n");
        let first = entries.iter().take_while(|entry| entry.kind == Kind::Summary).count();
        for (place, Entry { kind: _, heading, text: said }) in entries.iter().enumerate() {
            // What is left out stood behind an earlier summary.
            if dropped > 0 && place == first {
                let _ = write!(text, "[{dropped} older messages are left out]\n\n");
            }
            let _ = write!(text, "[{heading}]\n{said}\n\n");
        }
        text.push_str("</conversation>\n\nWrite the handover.");
        if let Some(wishes) = &self.wishes {
            let _ = write!(text, " The person asks of it: {wishes}");
        }
        text
    }
}

impl Entry {
    fn new(kind: Kind, heading: &str, text: &str) -> Self {
        Self { kind, heading: heading.to_owned(), text: text.to_owned() }
    }

    /// In bytes, which is no less than in characters.
    fn size(&self) -> usize {
        self.heading.len() + self.text.len() + FRAME
    }
}

fn words(parts: &[Part]) -> String {
    let texts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Image(image) => format!("[picture: {}]", image.label()),
        })
        .collect();
    texts.join("\n")
}

/// A text of at most `chars` characters: what is longer keeps its two ends.
fn ends(text: &str, chars: usize) -> String {
    let count = text.chars().count();
    if count <= chars {
        return text.to_owned();
    }
    let half = chars / 2;
    format!("{}\n[… {} characters …]\n{}", cut::head(text, half), count - 2 * half, cut::tail(text, half))
}
