//! What the tests of views share: a look, lines as text, and what must hold for every line.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use serde_json::Value;

use super::theme::{Glyphs, Theme};
use super::{Look, row};
use crate::base::json::Object;

/// Sixteen colours and all marks on a screen of this width.
pub fn look(width: usize) -> Look {
    Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width }
}

/// The lines as they would be copied.
pub fn text(lines: &[Line<'_>]) -> String {
    let lines: Vec<String> = lines.iter().map(line_text).collect();
    lines.join("\n")
}

/// The lines behind a bar that stands for the left edge, for a snapshot, which would lose what all lines begin with.
pub fn picture(lines: &[Line<'_>]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("|{}", line_text(line))).collect();
    lines.join("\n")
}

/// The lines with their styles in brackets: `{red:✗}`.
pub fn styled(lines: &[Line<'_>]) -> String {
    let shown = lines.iter().map(|line| {
        let spans = line.spans.iter().map(|span| match describe(span.style) {
            name if name.is_empty() => span.content.to_string(),
            name => format!("{{{name}:{}}}", span.content),
        });
        spans.collect::<String>()
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The text of a line.
pub fn line_text(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| span.content.as_ref()).collect()
}

/// The arguments of a call.
pub fn object(value: Value) -> Object {
    let Value::Object(object) = value else { panic!("arguments are an object") };
    object
}

/// Finished lines end in no space and hold nothing that drives a terminal.
pub fn assert_committed(lines: &[Line<'_>]) {
    for line in lines {
        let shown = line_text(line);
        assert!(!shown.ends_with(' '), "{shown:?}");
        assert_harmless(&shown);
    }
}

/// Live rows fit the screen and hold nothing that drives a terminal.
pub fn assert_live(lines: &[Line<'_>], width: usize) {
    for line in lines {
        let shown = line_text(line);
        assert!(row::columns(&line.spans) <= width, "{shown:?} on {width}");
        assert_harmless(&shown);
    }
}

fn assert_harmless(shown: &str) {
    let drives =
        |letter: char| letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!shown.contains(drives), "{shown:?}");
}

fn describe(style: Style) -> String {
    let mut words: Vec<String> = style.fg.iter().map(|colour| format!("{colour:?}").to_lowercase()).collect();
    words.extend(
        style.bg.filter(|colour| *colour != Color::Reset).map(|colour| format!("on {colour:?}").to_lowercase()),
    );
    let modifiers = style.add_modifier;
    words.extend(modifiers.iter_names().map(|(name, _)| name.to_lowercase()));
    assert!(!modifiers.contains(Modifier::HIDDEN));
    words.join(" ")
}
