//! What the system prompt says about skills: one entry for each that the model may load, and those in full that are always
//! there. Both have a cap.
//!
//! Pure but for reading the texts that are always there.

use super::content::{body, capped};
use super::tool::NAME;
use super::{Found, Skill};
use crate::base::text::cut;
use crate::base::text::numbers::{count, grouped};
use crate::kernel::event::{Notice, NoticeCode};
use crate::kernel::toolbox::Toolbox;

/// The most characters of the list; Codex's own bound.
pub const CATALOGUE_CHARS: usize = 8_000;
/// The most characters of the skills that are always there, together: 5,000 tokens.
pub const ALWAYS_CHARS: usize = 20_000;
/// A description is not shortened below this; a whole entry is worth less then.
const SHORTEST: usize = 60;
/// What is left of the room for skills in full with which none is begun, in characters.
const TOO_LITTLE: usize = 200;
/// The most characters of what is missing.
const MISSING_CHARS: usize = 300;
/// Names that a notice tells.
const MAX_NAMED: usize = 12;

/// What stands before the list.
const INTRODUCTION: &str =
    "Skills tell how a kind of task is done well. Before you do what one is about, load it with load_skill.";
const BEGIN: &str = "<available_skills>\n";
const END: &str = "</available_skills>";

impl Found {
    /// What the system prompt says about them, nothing where there is nothing to say; and what a person should know of it.
    /// Without the tool that loads one there is no list.
    pub fn catalogue(&self, tools: &Toolbox) -> (String, Vec<Notice>) {
        let mut notices = Vec::new();
        let (full, listed) = self.in_full(&mut notices);
        let list = match tools.get(NAME) {
            Some(_) => list(&listed, CATALOGUE_CHARS, &mut notices),
            None => String::new(),
        };
        let parts: Vec<_> = [list, full].into_iter().filter(|part| !part.is_empty()).collect();
        (parts.join("\n\n"), notices)
    }

    /// The texts that are always there, and the skills that are to be listed.
    fn in_full(&self, notices: &mut Vec<Notice>) -> (String, Vec<&Skill>) {
        let mut room = ALWAYS_CHARS;
        let mut full = Vec::new();
        let mut listed = Vec::new();
        let mut is_cut = Vec::new();
        for skill in self.skills.iter().filter(|skill| !skill.people_only) {
            if !skill.always || !skill.missing.is_nothing() {
                listed.push(skill);
                continue;
            }
            match body(skill) {
                Ok(body) if room >= TOO_LITTLE => {
                    let kept = capped(&body, room);
                    if kept.len() < body.len() {
                        is_cut.push(skill.name.as_str());
                    }
                    room = room.saturating_sub(kept.chars().count());
                    full.push(format!("<skill name=\"{}\">\n{kept}\n</skill>", escape(&skill.name)));
                }
                Ok(_) | Err(_) => {
                    is_cut.push(skill.name.as_str());
                    listed.push(skill);
                }
            }
        }
        if !is_cut.is_empty() {
            let text = format!(
                "Skills that are always there have room for {} characters; not or not wholly there: {}.",
                grouped(ALWAYS_CHARS as u64),
                some(&is_cut)
            );
            notices.push(Notice::new(NoticeCode::Skills, text));
        }
        (full.join("\n\n"), listed)
    }
}

/// The list in at most `most` characters: descriptions become shorter first, then the least specific are left out.
fn list(skills: &[&Skill], most: usize, notices: &mut Vec<Notice>) -> String {
    if skills.is_empty() {
        return String::new();
    }
    let frame = (INTRODUCTION.len() + 1 + BEGIN.len() + END.len()).min(most);
    let room = most - frame;
    let taken = |chars: usize| skills.iter().map(|skill| entry(skill, chars).chars().count()).sum::<usize>();
    let longest = super::head::DESCRIPTION_CHARS;
    let chars = if taken(longest) <= room { longest } else { fitting(SHORTEST, longest, |chars| taken(chars) <= room) };
    let mut text = format!("{INTRODUCTION}\n{BEGIN}");
    let mut left = room;
    let mut missing = Vec::new();
    for skill in skills {
        let entry = entry(skill, chars);
        let length = entry.chars().count();
        if length <= left && missing.is_empty() {
            left -= length;
            text.push_str(&entry);
        } else {
            missing.push(skill.name.as_str());
        }
    }
    text.push_str(END);
    if chars < longest {
        notices.push(Notice::new(NoticeCode::Skills, shortened(chars, most, &missing)));
    }
    text
}

fn shortened(chars: usize, most: usize, missing: &[&str]) -> String {
    let most = grouped(most as u64);
    let text = format!("The list of skills has room for {most} characters; descriptions are cut at {chars}");
    if missing.is_empty() {
        return format!("{text}.");
    }
    format!(
        "{text}, and {} left out: {}. They can be loaded all the same.",
        match missing.len() {
            1 => "1 skill is".to_owned(),
            many => format!("{} are", count(many as u64, "skill")),
        },
        some(missing)
    )
}

fn some(names: &[&str]) -> String {
    let more = if names.len() > MAX_NAMED { ", …" } else { "" };
    format!("{}{more}", names.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", "))
}

/// The largest number from `least` to below `most` for which `fits` holds, which holds for all below one for which it
/// does; `least` where there is none.
fn fitting(least: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (least, most);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// One line of the list, with at most `chars` characters of the description; what is missing is said behind it.
fn entry(skill: &Skill, chars: usize) -> String {
    let missing = skill.missing.told().map(|told| format!(" ({})", cut::ellipsis(&told, MISSING_CHARS)));
    let description = cut::ellipsis(&skill.description, chars) + missing.as_deref().unwrap_or_default();
    format!(
        "<skill><name>{}</name><description>{}</description><location>{}</location></skill>\n",
        escape(&skill.name),
        escape(&description),
        escape(&crate::base::text::visible::line(&skill.source.location()))
    )
}

/// A text as the content or a quoted attribute of an element.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
