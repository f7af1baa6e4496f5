//! What stands within a paragraph, a heading or a cell: emphasis, code, links.
//!
//! Every text passes [`visible`] here, also after entities were decoded. Blocks are not known here.

use super::super::Look;
use crate::base::text::{visible, width};
use pulldown_cmark::{Event, Options, Parser, Tag};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use std::borrow::Cow;

/// Stands for a line break that is kept, in the source of [`lines`]: it counts as a blank, and cannot come from outside,
/// since every source is [`visible`].
pub const BREAK: char = '\u{c}';

/// What a line of text consists of. It does not end in blanks.
pub type Spans = Vec<Span<'static>>;

/// The lines of a text, in `style`. At least one.
pub fn lines(source: &str, style: Style, look: &Look) -> Vec<Spans> {
    let mut text = Text { lines: vec![Vec::new()], style, look, open: Vec::new() };
    if is_plain(source) {
        text.push(source);
    } else {
        // As the text of a heading, which can hold nothing but inline elements. A `#` at its end would close it.
        let kept = source.strip_suffix('#').filter(|start| (start.len() - start.trim_end_matches('\\').len()) % 2 == 0);
        let heading = kept.map_or_else(|| format!("# {source}"), |start| format!("# {start}\\#"));
        for (event, range) in Parser::new_ext(&heading, Options::ENABLE_STRIKETHROUGH).into_offset_iter() {
            text.event(event, heading.get(range).unwrap_or_default());
        }
    }
    text.lines.iter_mut().for_each(trim_end);
    text.lines
}

/// The text of a cell or a name: one line.
pub fn line(source: &str, style: Style, look: &Look) -> Spans {
    lines(source, style, look).into_iter().flatten().collect()
}

/// How many columns they take.
pub fn columns(spans: &Spans) -> usize {
    spans.iter().map(|span| width::width(&span.content)).sum()
}

/// Takes the blanks off the end of a line.
pub fn trim_end(line: &mut Spans) {
    while let Some(last) = line.last_mut() {
        let kept = last.content.trim_end().len();
        if kept == last.content.len() && kept > 0 {
            break;
        }
        if kept == 0 {
            line.pop();
        } else {
            last.content.to_mut().truncate(kept);
        }
    }
}

/// Whether a source holds nothing that Markdown would change.
fn is_plain(source: &str) -> bool {
    !source.bytes().any(|byte| matches!(byte, b'*' | b'_' | b'`' | b'[' | b']' | b'<' | b'&' | b'\\' | b'~' | b'!'))
}

/// Lines that are being made.
struct Text<'a> {
    lines: Vec<Spans>,
    style: Style,
    look: &'a Look,
    /// The elements that are open, with the style outside of each.
    open: Vec<(Element, Style)>,
}

/// An element that is open.
enum Element {
    /// One that only changes the style.
    Styled,
    /// One tilde, which stands before a number or a home folder far more often than before text to be struck out.
    Tilde,
    /// A link or a picture: where it goes, and what it says so far, to compare.
    Link { target: String, says: String },
}

impl Text<'_> {
    /// Takes one event, and the source it was made from.
    fn event(&mut self, event: Event<'_>, source: &str) {
        match event {
            Event::Start(tag) => self.start(tag, source),
            Event::End(_) => self.end(),
            Event::Text(text) => self.say(&text),
            // With its marks, as it was written: without colours they are all that shows it.
            Event::Code(code) => {
                let outside = self.style;
                self.style = outside.patch(self.look.theme.code);
                self.note(&code);
                self.push(&source.replace(BREAK, " "));
                self.style = outside;
            }
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.say(&text),
            Event::SoftBreak | Event::HardBreak => self.lines.push(Vec::new()),
            Event::Rule | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, source: &str) {
        let outside = self.style;
        let mut element = Element::Styled;
        if matches!(tag, Tag::Emphasis) {
            self.style = outside.add_modifier(Modifier::ITALIC);
        } else if matches!(tag, Tag::Strong) {
            self.style = outside.add_modifier(Modifier::BOLD);
        } else if matches!(tag, Tag::Strikethrough) && source.starts_with("~~") {
            self.style = outside.add_modifier(Modifier::CROSSED_OUT);
        } else if matches!(tag, Tag::Strikethrough) {
            self.push("~");
            element = Element::Tilde;
        } else if let Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } = tag {
            self.style = outside.patch(self.look.theme.link);
            element = Element::Link { target: dest_url.into_string(), says: String::new() };
        }
        self.open.push((element, outside));
    }

    fn end(&mut self) {
        let Some((element, outside)) = self.open.pop() else { return };
        self.style = outside;
        match element {
            Element::Styled => {}
            Element::Tilde => self.push("~"),
            Element::Link { target, says } => {
                self.note(&says);
                if says.is_empty() {
                    self.style = outside.patch(self.look.theme.link);
                    self.push(&target);
                } else if !target.is_empty() && target != says {
                    self.style = outside.patch(self.look.theme.dim);
                    self.push(&format!(" ({target})"));
                }
                self.style = outside;
            }
        }
    }

    /// Text that is shown as it is, and remembered by the link it stands in.
    fn say(&mut self, text: &str) {
        self.note(text);
        self.push(text);
    }

    fn note(&mut self, text: &str) {
        let link = self.open.iter_mut().rev().find_map(|(element, _)| match element {
            Element::Link { says, .. } => Some(says),
            Element::Styled | Element::Tilde => None,
        });
        if let Some(says) = link {
            says.push_str(text);
        }
    }

    /// Appends text in the style of now; where a break was kept, another line begins.
    fn push(&mut self, text: &str) {
        for (at, piece) in text.split(BREAK).enumerate() {
            if at > 0 {
                self.lines.push(Vec::new());
            }
            let shown = visible::line(piece);
            let shown = if shown.contains('\t') { Cow::Owned(shown.replace('\t', " ")) } else { shown };
            let Some(line) = self.lines.last_mut() else { return };
            match line.last_mut() {
                _ if shown.is_empty() => {}
                Some(last) if last.style == self.style => last.content.to_mut().push_str(&shown),
                Some(_) | None => line.push(Span::styled(shown.into_owned(), self.style)),
            }
        }
    }
}
