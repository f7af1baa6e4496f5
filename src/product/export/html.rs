//! A transcript as one page of HTML that fetches nothing and runs nothing, readable in a light and a dark room.
//!
//! Every text goes through one of two doors: [`escape`], or Markdown without raw HTML in `words`. Should something slip
//! past both, the page's own policy still forbids scripts and the network.

mod words;

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::digest::{SHA256, digest};

use super::said::{self, Argument, Entry, Tools, shown};
use super::{Filter, Head, Transcript};
use crate::base::text::numbers::count;
use crate::base::text::{cut, visible};
use crate::product::session::entry::{Content, MessageLine, Role};

/// The page's look.
const STYLE: &str = include_str!("../../../assets/export.css");
/// A result of more lines is folded: about half a screen.
const OPEN_LINES: usize = 20;
/// How much of a call's first argument stands beside its name, in characters: what fits on a line.
const HINT_CHARS: usize = 100;
/// Pictures that every browser shows and that are nothing but pictures; SVG can hold more than that.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Writes the whole page.
pub fn write(transcript: &Transcript, filter: &Filter<'_>, out: &mut dyn Write) -> io::Result<()> {
    let head = transcript.head(filter);
    out.write_all(opening(&said::title(transcript, &head, filter), &head).as_bytes())?;
    let mut tools = Tools::default();
    transcript.each(filter, &mut |kind, record| {
        let mut page = String::new();
        match said::entry(kind, record) {
            Some(Entry::Message(id, line)) => {
                tools.learn(&line.content);
                message(id, &line, head.labels.get(&id), &tools, &mut page);
            }
            Some(Entry::Summary(line)) => {
                page.push_str("<article class=\"summary\">\n");
                heading("Summary of what came before", line.timestamp, None, &mut page);
                page.push_str("<details><summary>What it says</summary>\n");
                words::push(&shown(&line.text), &mut page);
                page.push_str("</details>\n</article>\n");
            }
            None => {}
        }
        out.write_all(page.as_bytes())
    })?;
    out.write_all(b"</main>\n</body>\n</html>\n")
}

fn opening(title: &str, head: &Head) -> String {
    let title = escape(title);
    // The policy names this very style, so that no other applies either.
    let style = BASE64.encode(digest(&SHA256, STYLE.as_bytes()));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n<dl>\n"
    );
    for (key, value) in [
        ("session", head.id.as_str()),
        ("directory", &head.cwd),
        ("begun", &said::time(head.begun)),
        ("model", &head.model),
        ("copy of", head.parent.as_deref().unwrap_or_default()),
    ] {
        if !value.is_empty() {
            let _ = writeln!(page, "<dt>{key}</dt><dd>{}</dd>", escape(value));
        }
    }
    page.push_str("</dl>\n</header>\n<main>\n");
    page
}

fn heading(who: &str, moment: i64, label: Option<&String>, page: &mut String) {
    let _ = write!(page, "<h2>{}", escape(who));
    match said::time(moment) {
        time if time.is_empty() => {}
        time => {
            let _ = write!(page, " <time>{time}</time>");
        }
    }
    if let Some(label) = label {
        let _ = write!(page, " <mark>{}</mark>", escape(label));
    }
    page.push_str("</h2>\n");
}

fn message(id: u64, line: &MessageLine, label: Option<&String>, tools: &Tools, page: &mut String) {
    let class = match line.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Unknown => "other",
    };
    let _ = writeln!(page, "<article id=\"m{id}\" class=\"{class}\">");
    // Results follow their calls without a heading of their own.
    if line.role != Role::Tool {
        heading(&said::speaker(line), line.timestamp, label, page);
    }
    for part in said::parts(line) {
        content(part, line.role, tools, page);
    }
    page.push_str("</article>\n");
}

fn content(part: &Content, role: Role, tools: &Tools, page: &mut String) {
    match part {
        Content::Text { text, .. } => {
            let text = shown(text.as_deref().unwrap_or_default());
            match role {
                Role::Assistant => words::push(&text, page),
                // As they were typed.
                Role::User | Role::Tool | Role::Unknown => {
                    let _ = writeln!(page, "<div class=\"typed\">{}</div>", escape(&text));
                }
            }
        }
        Content::Image { media_type, data, .. } => picture(media_type, data.as_deref(), page),
        Content::Reasoning { text, .. } if text.trim().is_empty() => {}
        Content::Reasoning { text, .. } => {
            let text = escape(&shown(text));
            let _ = writeln!(
                page,
                "<details class=\"reasoning\"><summary>Reasoning</summary><div class=\"typed\">{text}</div></details>"
            );
        }
        Content::ToolUse { id: _, name, input, raw, problem: _ } => {
            let _ = write!(page, "<details class=\"call\"><summary>Call of <code>{}</code>", escape(name));
            let hint = input.as_object().and_then(|fields| fields.values().find_map(|value| value.as_str()));
            if let Some(first) = hint.and_then(|text| text.lines().find(|line| !line.trim().is_empty())) {
                let _ = write!(page, " <span>{}</span>", escape(&cut::ellipsis(first, HINT_CHARS)));
            }
            page.push_str("</summary>\n");
            for Argument { name, text } in said::arguments(input, raw.as_deref()) {
                if let Some(name) = name {
                    let _ = writeln!(page, "<p><code>{}</code></p>", escape(&name));
                }
                let _ = writeln!(page, "<pre>{}</pre>", escape(&text));
            }
            page.push_str("</details>\n");
        }
        Content::ToolResult { tool_use_id, content, is_error } => {
            result(tools.name(tool_use_id), content, *is_error, tools, page);
        }
        Content::Unknown => {}
    }
}

fn result(tool: &str, content: &[Content], is_error: bool, tools: &Tools, page: &mut String) {
    let mut body = String::new();
    let mut lines = 0;
    for part in content {
        match part {
            Content::Text { text, .. } => {
                let text = shown(text.as_deref().unwrap_or_default());
                lines += text.lines().count();
                // A line break right behind the tag would not be shown.
                let _ = writeln!(body, "<pre>\n{}</pre>", escape(&text));
            }
            Content::Image { .. }
            | Content::Reasoning { .. }
            | Content::ToolUse { .. }
            | Content::ToolResult { .. }
            | Content::Unknown => self::content(part, Role::Tool, tools, &mut body),
        }
    }
    let (class, failed) = if is_error { ("result failed", " (failed)") } else { ("result", "") };
    let open = if lines <= OPEN_LINES { " open" } else { "" };
    let _ = writeln!(
        page,
        "<details class=\"{class}\"{open}><summary>Result of <code>{}</code>{failed}, {}</summary>\n{body}</details>",
        escape(tool),
        count(lines as u64, "line")
    );
}

fn picture(media_type: &str, data: Option<&str>, page: &mut String) {
    let image = said::picture(media_type, data);
    let label = escape(&image.label());
    match PICTURES.iter().find(|known| **known == media_type && !image.data.is_empty()) {
        // Written anew, so that it is nothing but what such data is made of.
        Some(known) => {
            let data = BASE64.encode(&image.data);
            let _ = writeln!(page, "<p><img alt=\"{label}\" src=\"data:{known};base64,{data}\"></p>");
        }
        None => {
            let _ = writeln!(page, "<p class=\"absent\">[picture: {label}]</p>");
        }
    }
}

/// Text as it may stand between tags and inside of quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let text = visible::lines(text);
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
