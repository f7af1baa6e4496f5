//! What the program itself says between the talk: the banner, notices, failures, the first steps; and what the person
//! said.
//!
//! It finds no words of its own for what went wrong: they come from where it did.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::row::{indented, plain, spread, trimmed};
use super::{Block, Look};
use crate::base::text::width;
use crate::front::repl::editor::draft::{Draft, Piece, chip};

/// Columns before a mark.
const INDENT: usize = 2;

/// Who is there, at the top of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Banner {
    /// Such as `0.1`.
    pub version: String,
    /// The model's name for people.
    pub model: String,
    /// The working directory, `~` for the home folder.
    pub folder: String,
    /// The git branch.
    pub branch: Option<String>,
}

/// The first line of a session.
pub fn banner(banner: &Banner, look: &Look) -> Block {
    let Banner { version, model, folder, branch } = banner;
    let place = match branch {
        Some(branch) => format!("{} ({})", plain(folder), plain(branch)),
        None => plain(folder),
    };
    let parts = [format!("viola {}", plain(version)), plain(model), place];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let joined = |count: usize| {
        let parts: Vec<&str> = parts.iter().take(count).map(String::as_str).collect();
        parts.join(&format!(" {} ", look.glyphs.dot))
    };
    let help = format!("/help {} ctrl-d", look.glyphs.dot);
    let room = look.edge().saturating_sub(INDENT);
    let text = (1..=parts.len()).rev().map(joined).find(|text| width::width(text) <= room);
    let text = text.unwrap_or_else(|| width::cut(&joined(1), room, look.glyphs.ellipsis));
    let fits = width::width(&text) + INDENT + width::width(&help) <= room;
    let left = vec![Span::raw(" ".repeat(INDENT)), Span::styled(text, look.theme.dim)];
    vec![spread(left, Span::styled(if fits { help } else { String::new() }, look.theme.dim), look)]
}

/// Something a person should know: a mark and a sentence.
pub fn notice(text: &str, look: &Look) -> Block {
    marked(text, (look.glyphs.notice, look.theme.notice), look.theme.dim)
}

/// Something that failed, and what to do about it.
pub fn failure(message: &str, hints: &[String], look: &Look) -> Block {
    let mut block = marked(message, (look.glyphs.failure, look.theme.failure), look.theme.failure);
    block.extend(hints.iter().map(|hint| indented(INDENT + 2, format!("hint: {}", plain(hint)), look.theme.dim)));
    block
}

/// A dim line without a mark.
pub fn remark(text: &str, look: &Look) -> Block {
    text.trim_end().lines().map(|line| indented(INDENT, plain(line.trim_end()), look.theme.dim)).collect()
}

/// A report of several lines, dim. Where a line of columns does not fit, its last one goes on below itself; where there is
/// no room for that, all but the first go below that one.
pub fn report(text: &str, look: &Look) -> Block {
    let room = look.width.saturating_sub(INDENT);
    let mut block = Block::new();
    for line in text.trim_end().lines().map(|line| plain(line.trim_end())) {
        let fits = width::width(&line) <= room;
        let columns = line.find("  ").filter(|at| *at > 0).map(|at| line.split_at(at));
        match columns.map(|(first, second)| (first.trim_end(), second.trim_start())) {
            Some((first, second)) if !fits && !first.trim().is_empty() && !second.is_empty() => {
                let rows = match last_column(&line, room / 2) {
                    Some(column) => hung(&line, column, room),
                    None => [vec![first.to_owned()], hung(&format!("{}{second}", " ".repeat(INDENT)), INDENT, room)]
                        .concat(),
                };
                block.extend(rows.into_iter().map(|row| indented(INDENT, row, look.theme.dim)));
            }
            Some(_) | None => block.push(indented(INDENT, line, look.theme.dim)),
        }
    }
    block
}

/// Where the last column begins, if it begins within the first `most` columns of the screen.
fn last_column(line: &str, most: usize) -> Option<usize> {
    let (before, last) = line.rsplit_once("  ")?;
    Some(width::width(before) + 2 + last.len() - last.trim_start().len()).filter(|column| *column <= most)
}

/// A line in rows of at most `room` columns, broken between words, the later ones from `column` on.
fn hung(line: &str, column: usize, room: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let (mut row, mut rest) = (String::new(), line);
    loop {
        let (head, more) = width::split(rest, room.saturating_sub(width::width(&row)));
        if more.is_empty() || head.is_empty() {
            row.push_str(rest);
            rows.push(row);
            return rows;
        }
        // What stands in the columns before is not broken.
        let begin = if rows.is_empty() { width::head(line, column).len() } else { 0 };
        let space = if more.starts_with(' ') { Some(head.len()) } else { head.rfind(' ').filter(|at| *at > begin) };
        let (head, more) = rest.split_at(space.unwrap_or(head.len()));
        row.push_str(head.trim_end());
        rows.push(row);
        row = " ".repeat(column);
        rest = more.trim_start();
    }
}

/// What the person said; a long paste is a chip, and so is a picture.
pub fn user(draft: &Draft, look: &Look) -> Block {
    let mut text = String::new();
    let mut pictures = 0;
    for piece in &draft.pieces {
        match piece {
            Piece::Typed(typed) => text.push_str(typed),
            Piece::Pasted(pasted) => match chip(pasted) {
                Some(chip) => text.push_str(&chip),
                None => text.push_str(pasted),
            },
            Piece::Picture(picture) => {
                pictures += 1;
                text.push_str(&picture.numbered(pictures));
            }
        }
    }
    said(&text, look)
}

/// What the person said, as a text that is shown whole.
pub fn said(text: &str, look: &Look) -> Block {
    let mark = format!("{} ", look.glyphs.person);
    let hanging = width::width(&mark);
    let mut block = Block::new();
    for line in text.trim_matches('\n').split('\n') {
        let before = if block.is_empty() { mark.clone() } else { " ".repeat(hanging) };
        let line = trimmed(vec![Span::styled(before, look.theme.person), Span::styled(plain(line), look.theme.person)]);
        // One blank line says as much as several.
        if !line.spans.is_empty() || block.last().is_some_and(|last| !last.spans.is_empty()) {
            block.push(line);
        }
    }
    while block.last().is_some_and(|last| last.spans.is_empty()) {
        block.pop();
    }
    block
}

/// What is shown where no model can be asked: what this is, and the three quickest ways to go on.
pub fn first_start(look: &Look) -> Block {
    const WAYS: [(&str, &str); 3] = [
        ("agent demo", "watch a small repair; no key, no network"),
        ("export ANTHROPIC_API_KEY=...", "use a key; openai, gemini and others too"),
        ("ollama serve", "use a model on this machine; it is found"),
    ];
    let column = WAYS.iter().map(|(command, _)| command.len()).max().unwrap_or_default() + 3;
    let mut block = vec![
        indented(INDENT, "viola works on the code in this folder, with a model of your choice.", Style::new()),
        indented(INDENT, "No model can be asked yet. The quickest ways to go on:", Style::new()),
        Line::default(),
    ];
    for (command, what) in WAYS {
        let command = Span::styled(command, look.theme.code);
        let indent = Span::raw(" ".repeat(INDENT * 2));
        if look.is_roomy() {
            let gap = Span::raw(" ".repeat(column - width::width(&command.content)));
            block.push(Line::from(vec![indent, command, gap, Span::styled(what, look.theme.dim)]));
        } else {
            block.push(Line::from(vec![indent, command]));
            block.push(indented(INDENT * 3, what, look.theme.dim));
        }
    }
    block
}

fn marked(text: &str, (mark, mark_style): (&'static str, Style), style: Style) -> Block {
    let hanging = INDENT + width::width(mark) + 1;
    let lines = text.trim().lines().enumerate().map(|(number, line)| {
        let line = plain(line.trim_end());
        if number > 0 {
            return indented(hanging, line, style);
        }
        let spans = vec![
            Span::raw(" ".repeat(INDENT)),
            Span::styled(mark, mark_style),
            Span::raw(" "),
            Span::styled(line, style),
        ];
        trimmed(spans)
    });
    lines.collect()
}

#[cfg(test)]
mod tests;
