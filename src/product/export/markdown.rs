//! A transcript in Markdown: headings by who spoke and when, calls and results in fences that nothing inside can close.
//!
//! Words of people and models stay as they wrote them, unless they would swallow what follows.

use std::fmt::Write as _;
use std::io::{self, Write};

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::said::{self, Argument, Entry, Tools};
use super::{Filter, Transcript};
use crate::product::session::entry::{Content, MessageLine, Role};

/// Writes the whole transcript.
pub fn write(transcript: &Transcript, filter: &Filter<'_>, out: &mut dyn Write) -> io::Result<()> {
    let head = transcript.head(filter);
    let mut page = format!("# {}\n\n", heading(&said::title(transcript, &head, filter)));
    for (key, value) in [
        ("session", head.id.as_str()),
        ("directory", &head.cwd),
        ("begun", &said::time(head.begun)),
        ("model", &head.model),
        ("copy of", head.parent.as_deref().unwrap_or_default()),
    ] {
        if !value.is_empty() {
            let _ = writeln!(page, "- {key}: {}", code(value));
        }
    }
    out.write_all(page.as_bytes())?;
    let mut tools = Tools::default();
    transcript.each(filter, &mut |kind, record| {
        let mut page = String::new();
        match said::entry(kind, record) {
            Some(Entry::Message(id, line)) => {
                tools.learn(&line.content);
                message(&line, head.labels.get(&id), &tools, &mut page);
            }
            Some(Entry::Summary(line)) => {
                head_line("Summary of what came before", line.timestamp, None, &mut page);
                quote(&line.text, &mut page);
            }
            None => {}
        }
        out.write_all(page.as_bytes())
    })
}

fn head_line(who: &str, moment: i64, label: Option<&String>, page: &mut String) {
    let _ = write!(page, "\n## {}", heading(who));
    match said::time(moment) {
        time if time.is_empty() => {}
        time => {
            let _ = write!(page, " · {time}");
        }
    }
    if let Some(label) = label {
        let _ = write!(page, " · {}", code(label));
    }
    page.push('\n');
}

fn message(line: &MessageLine, label: Option<&String>, tools: &Tools, page: &mut String) {
    // Results follow their calls, under a heading of their own kind.
    if line.role != Role::Tool {
        head_line(&said::speaker(line), line.timestamp, label, page);
    }
    said::parts(line).iter().for_each(|part| content(part, tools, page));
}

fn content(part: &Content, tools: &Tools, page: &mut String) {
    match part {
        Content::Text { text, .. } => words(&said::shown(text.as_deref().unwrap_or_default()), page),
        Content::Image { media_type, data, .. } => {
            let _ = writeln!(page, "\nPicture: {}", code(&said::picture(media_type, data.as_deref()).label()));
        }
        Content::Reasoning { text, .. } if text.trim().is_empty() => {}
        Content::Reasoning { text, .. } => {
            page.push_str("\n> **Reasoning**\n>");
            quote(text, page);
        }
        Content::ToolUse { id: _, name, input, raw, problem: _ } => {
            let _ = writeln!(page, "\n### Call of {}", code(name));
            for Argument { name, text } in said::arguments(input, raw.as_deref()) {
                if let Some(name) = &name {
                    let _ = writeln!(page, "\n{}:", code(name));
                }
                fence(&text, if name.is_none() && raw.is_none() { "json" } else { "" }, page);
            }
        }
        Content::ToolResult { tool_use_id, content, is_error } => {
            let failed = if *is_error { " (failed)" } else { "" };
            let _ = writeln!(page, "\n### Result of {}{failed}", code(tools.name(tool_use_id)));
            for part in content {
                match part {
                    Content::Text { text, .. } => {
                        fence(&said::shown(text.as_deref().unwrap_or_default()), "", page);
                    }
                    Content::Image { .. }
                    | Content::Reasoning { .. }
                    | Content::ToolUse { .. }
                    | Content::ToolResult { .. }
                    | Content::Unknown => self::content(part, tools, page),
                }
            }
        }
        Content::Unknown => {}
    }
}

/// What somebody wrote, as it is; in a fence, where something that is left open in it would swallow what follows.
fn words(text: &str, page: &mut String) {
    let text = text.trim_matches('\n');
    if text.trim().is_empty() {
        return;
    }
    let closings = ["", "\n```", "\n~~~", "\n````", "\n-->"];
    match closings.into_iter().find(|closing| is_closed(&format!("{text}{closing}"))) {
        Some(closing) => {
            let _ = writeln!(page, "\n{text}{closing}");
        }
        None => fence(text, "", page),
    }
}

/// Whether a heading behind this text is one.
fn is_closed(text: &str) -> bool {
    let probe = format!("{text}\n\n## probe\n");
    let heading = Parser::new_ext(&probe, Options::empty())
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Start(Tag::Heading { level: HeadingLevel::H2, .. })));
    heading.last().is_some_and(|(_, range)| range.start == text.len() + 2)
}

/// A block of code around anything.
fn fence(text: &str, language: &str, page: &mut String) {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    let _ = writeln!(page, "\n{fence}{language}\n{text}{end}{fence}");
}

/// A span of code around anything.
fn code(text: &str) -> String {
    let text = said::shown_line(text);
    let marks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty() { " " } else { "" };
    format!("{marks}{pad}{text}{pad}{marks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default()
}

fn quote(text: &str, page: &mut String) {
    page.push('\n');
    for line in said::shown(text).lines() {
        let _ = writeln!(page, "> {line}");
    }
}

/// Words inside of a heading: nothing in them is Markdown.
fn heading(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in said::shown_line(text).chars() {
        if letter.is_ascii_punctuation() && !matches!(letter, '.' | ',' | ':' | '/' | '-' | '(' | ')' | '?' | '\'') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
