//! Where a line of the answer goes on the page: the margin, the marks of lists and quotes, and the blank lines between.
//!
//! Never two blank lines, and none at the beginning: the first thing said has nothing to be kept apart from.

use super::super::{Block, Look};
use super::inline::{self, Spans};
use super::line::Item;
use crate::base::text::width;
use ratatui::text::{Line, Span};

/// Columns before everything the agent says, and between its code and its prose.
const MARGIN: &str = "  ";
/// Columns of the longest name of a language that is shown.
const MOST_LABEL_COLUMNS: usize = 20;

/// What something stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Container {
    /// A quote.
    Quote,
    /// An item of a list.
    Item {
        /// Its mark.
        sign: Sign,
        /// Whether the mark is on the page.
        shown: bool,
        /// Its mark in the source, and how far its content is indented there.
        item: Item,
        /// Its number, as it is shown; 0 if it has none.
        number: u64,
    },
}

/// The mark of an item, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Of a list without numbers.
    Bullet,
    /// A number with what follows it.
    Number(String),
    /// Something to be done, and whether it is.
    Task(bool),
}

/// What a block is, as far as the blank lines around it depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A paragraph, or the mark of an empty item.
    Text,
    /// A heading: always with a blank line before it.
    Heading,
    /// Code, tables and rules: with a blank line on both sides.
    Apart,
}

/// The page, as far as what comes next depends on what there is.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// What the next line stands in, from the outside in.
    pub containers: Vec<Container>,
    /// What was put down last.
    last: Option<Kind>,
    /// Whether the source had a blank line since.
    blank: bool,
    /// How many containers have been open ever since.
    shared: usize,
}

impl Page {
    /// Notes a blank line of the source.
    pub fn blank(&mut self) {
        self.blank = true;
    }

    /// Leaves all containers but so many. The mark of an item that stayed empty is shown.
    pub fn leave(&mut self, depth: usize, look: &Look, blocks: &mut Vec<Block>) {
        let unshown = |container: &Container| matches!(container, Container::Item { shown: false, .. });
        if self.containers.iter().skip(depth).any(unshown) {
            self.put(Kind::Text, vec![Vec::new()], look, blocks);
        }
        self.containers.truncate(depth);
        self.shared = self.shared.min(depth);
    }

    /// Puts a block on the page.
    pub fn put(&mut self, kind: Kind, lines: Vec<Spans>, look: &Look, blocks: &mut Vec<Block>) {
        let mut block = Block::new();
        if self.is_gap_due(kind) {
            block.push(self.gap(look));
        }
        self.add(lines, look, &mut block);
        self.settle(kind);
        blocks.push(block);
    }

    /// Puts the first line of a code block on the page; the name of its language takes the place of the blank line.
    pub fn put_code(&mut self, label: &str, line: Spans, look: &Look, blocks: &mut Vec<Block>) {
        let mut block = Block::new();
        let beside_mark =
            self.containers.iter().any(|container| matches!(container, Container::Item { shown: false, .. }));
        let label = if beside_mark { None } else { self.label(label, look) };
        if label.is_some() {
            block.extend(label);
        } else if self.is_gap_due(Kind::Apart) {
            block.push(self.gap(look));
        }
        self.add(vec![code_line(line)], look, &mut block);
        self.settle(Kind::Apart);
        blocks.push(block);
    }

    /// Goes on with the block put down last.
    pub fn put_more(&mut self, lines: Vec<Spans>, look: &Look, blocks: &mut Vec<Block>) {
        let mut block = Block::new();
        self.add(lines, look, &mut block);
        blocks.push(block);
    }

    /// Goes on with a code block.
    pub fn put_more_code(&mut self, line: Spans, look: &Look, blocks: &mut Vec<Block>) {
        self.put_more(vec![code_line(line)], look, blocks);
    }

    /// Columns before the text of a line.
    pub fn indent(&self, look: &Look) -> usize {
        let each = |container: &Container| match container {
            Container::Quote => width::width(look.glyphs.quote) + 1,
            Container::Item { sign, .. } => width::width(&sign.text(look)) + 1,
        };
        MARGIN.len() + self.containers.iter().map(each).sum::<usize>()
    }

    fn is_gap_due(&self, kind: Kind) -> bool {
        let first_of_item = matches!(self.containers.last(), Some(Container::Item { shown: false, .. }));
        let apart = match (self.last, kind) {
            (None, _) => return false,
            (Some(Kind::Apart), _) => true,
            (Some(_), Kind::Heading | Kind::Apart) => !first_of_item,
            (Some(_), Kind::Text) => false,
        };
        apart || self.blank
    }

    fn settle(&mut self, kind: Kind) {
        self.last = Some(kind);
        self.blank = false;
        self.shared = self.containers.len();
    }

    /// A blank line; a quote goes on through it.
    fn gap(&self, look: &Look) -> Line<'static> {
        let mut spans = self.margin(self.shared, look);
        inline::trim_end(&mut spans);
        Line::from(spans)
    }

    /// The name of a language at the right, if there is one and room for it.
    fn label(&self, label: &str, look: &Look) -> Option<Line<'static>> {
        let mut spans = self.margin(self.shared, look);
        let left = look.width.saturating_sub(inline::columns(&spans) + MARGIN.len());
        let label = width::cut(label, left.min(MOST_LABEL_COLUMNS), look.glyphs.ellipsis);
        if width::width(&label) == 0 {
            return None;
        }
        spans.push(Span::raw(" ".repeat(left.saturating_sub(width::width(&label)))));
        spans.push(Span::styled(label, look.theme.dim));
        Some(Line::from(spans))
    }

    /// The margin and the marks of the outermost containers, those of items as blanks.
    fn margin(&self, depth: usize, look: &Look) -> Spans {
        let mut spans = vec![Span::raw(MARGIN)];
        for container in self.containers.iter().take(depth) {
            match container {
                Container::Quote => {
                    spans.push(Span::styled(look.glyphs.quote, look.theme.dim));
                    spans.push(Span::raw(" "));
                }
                Container::Item { sign, .. } => {
                    spans.push(Span::raw(" ".repeat(width::width(&sign.text(look)) + 1)));
                }
            }
        }
        spans
    }

    fn add(&mut self, lines: Vec<Spans>, look: &Look, block: &mut Block) {
        for line in lines {
            let mut spans = self.margin_with_marks(look);
            spans.extend(line);
            inline::trim_end(&mut spans);
            block.push(Line::from(spans));
        }
    }

    fn margin_with_marks(&mut self, look: &Look) -> Spans {
        let mut spans = vec![Span::raw(MARGIN)];
        for container in &mut self.containers {
            match container {
                Container::Quote => {
                    spans.push(Span::styled(look.glyphs.quote, look.theme.dim));
                    spans.push(Span::raw(" "));
                }
                Container::Item { sign, shown, .. } => {
                    let mark = sign.text(look);
                    let blanks = if *shown { width::width(&mark) + 1 } else { 1 };
                    if !*shown {
                        spans.push(Span::styled(mark, look.theme.agent));
                    }
                    spans.push(Span::raw(" ".repeat(blanks)));
                    *shown = true;
                }
            }
        }
        spans
    }
}

impl Sign {
    fn text(&self, look: &Look) -> String {
        let [done, _, open] = look.glyphs.steps;
        match self {
            Self::Bullet => look.glyphs.bullet.to_owned(),
            Self::Number(number) => number.clone(),
            Self::Task(true) => done.to_owned(),
            Self::Task(false) => open.to_owned(),
        }
    }
}

fn code_line(mut line: Spans) -> Spans {
    line.insert(0, Span::raw(MARGIN));
    line
}
