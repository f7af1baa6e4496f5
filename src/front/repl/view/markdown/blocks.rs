//! The blocks of a text that arrives line by line (CommonMark 0.31, the appendix on parsing), each put on the page as soon
//! as nothing that follows can change it.
//!
//! Keeps at most one leaf: a few kilobytes of a paragraph, or a table. What stands within a leaf is read elsewhere.

use super::super::code::{self, Highlighter};
use super::super::{Block, Look};
use super::inline::{self, Spans};
use super::line::{self, CODE_COLUMNS, Cursor, Fence, Item, Mark};
use super::page::{Container, Kind, Page, Sign};
use super::paragraph::Paragraph;
use super::table::Table;
use crate::base::text::visible;
use ratatui::text::Span;

/// Bytes of a paragraph, and of a line, after which they are put on the page in parts: what is kept back is shown again
/// with every frame, so it has to stay small.
pub const MOST_BYTES: usize = 8 * 1024;
/// Quotes and lists within each other; deeper ones are text. Every line is compared with all that are open.
const MOST_DEPTH: usize = 24;

/// A text, as far as it is read.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    page: Page,
    leaf: Leaf,
}

/// The block that may go on.
#[derive(Clone, Debug, Default)]
enum Leaf {
    #[default]
    Nothing,
    Paragraph(Paragraph),
    Table(Table),
    Code(Code),
}

/// A code block.
#[derive(Clone, Debug)]
struct Code {
    /// What closes it; indented code has none.
    fence: Option<Fence>,
    label: String,
    highlighter: Highlighter,
    /// Whether a line of it is on the page.
    begun: bool,
    /// Blank lines that are shown when another line follows.
    blanks: usize,
}

impl Blocks {
    /// Reads a line, without its line end.
    pub fn line(&mut self, text: &str, look: &Look, blocks: &mut Vec<Block>) {
        let shown = visible::line(text.strip_suffix('\r').unwrap_or(text));
        let mut cursor = Cursor::new(&shown);
        let matched = self.matched(&mut cursor);
        let all = matched == self.page.containers.len();
        if all && let Leaf::Code(Code { fence: Some(fence), .. }) = &self.leaf {
            let fence = *fence;
            if line::closes(&cursor, fence) {
                return self.close_leaf(look, blocks);
            }
            cursor.skip(fence.indent);
            return self.code(&cursor.content(), look, blocks);
        }
        if cursor.is_blank() {
            return self.blank(matched, look, blocks);
        }
        let depth = self.open(&mut cursor, matched, look, blocks);
        self.leaf(&cursor, depth, look, blocks);
    }

    /// Reads more of a line that is too long to be kept, and whose beginning was read.
    pub fn more(&mut self, text: &str, look: &Look, blocks: &mut Vec<Block>) {
        let shown = visible::line(text);
        match &mut self.leaf {
            Leaf::Code(_) => self.code(&shown, look, blocks),
            Leaf::Paragraph(paragraph) => paragraph.push(&shown),
            Leaf::Table(_) | Leaf::Nothing => {
                self.close_leaf(look, blocks);
                if !shown.trim().is_empty() {
                    self.leaf = Leaf::Paragraph(Paragraph::new(&shown));
                }
            }
        }
    }

    /// Puts on the page what cannot be kept: the beginning of a line that is too long.
    pub fn cut(&mut self, look: &Look, blocks: &mut Vec<Block>) {
        if !matches!(self.leaf, Leaf::Code(_)) {
            self.close_leaf(look, blocks);
        }
    }

    /// Ends the text.
    pub fn finish(&mut self, look: &Look, blocks: &mut Vec<Block>) {
        self.close_leaf(look, blocks);
        self.page.leave(0, look, blocks);
    }

    /// Whether the next line is code, and what would close it.
    pub fn fence(&self) -> Option<Fence> {
        match &self.leaf {
            Leaf::Code(code) => code.fence,
            Leaf::Nothing | Leaf::Paragraph(_) | Leaf::Table(_) => None,
        }
    }

    /// How many of the open containers a line goes on with, and goes over what marks them.
    fn matched(&self, cursor: &mut Cursor<'_>) -> usize {
        let blank = |cursor: &Cursor<'_>| cursor.is_blank();
        let goes_on = |container: &&Container| match container {
            Container::Quote => cursor.quote(),
            // An item may begin with one blank line, not with two.
            Container::Item { shown, .. } if blank(cursor) => *shown || !matches!(self.leaf, Leaf::Nothing),
            Container::Item { item, .. } => {
                let inside = cursor.indent() >= item.columns;
                if inside {
                    cursor.skip(item.columns);
                }
                inside
            }
        };
        self.page.containers.iter().take_while(goes_on).count()
    }

    fn blank(&mut self, matched: usize, look: &Look, blocks: &mut Vec<Block>) {
        if matched == self.page.containers.len()
            && let Leaf::Code(code) = &mut self.leaf
        {
            code.blanks += 1;
            return;
        }
        self.close_leaf(look, blocks);
        self.page.leave(matched, look, blocks);
        self.page.blank();
    }

    /// Opens the quotes and items that a line begins. How many containers there are then.
    fn open(&mut self, cursor: &mut Cursor<'_>, matched: usize, look: &Look, blocks: &mut Vec<Block>) -> usize {
        let mut depth = matched;
        while depth < MOST_DEPTH {
            let in_paragraph = depth == self.page.containers.len() && matches!(self.leaf, Leaf::Paragraph(_));
            if in_paragraph && cursor.indent() < CODE_COLUMNS && line::is_underline(cursor.text()) {
                break;
            }
            let container = if cursor.quote() {
                Container::Quote
            } else if let Some(item) = cursor.item(in_paragraph) {
                let number = self.number(item.kind, depth);
                let sign = match item.kind {
                    Mark::Bullet(_) => cursor.task().map_or(Sign::Bullet, Sign::Task),
                    Mark::Number(_, mark) => Sign::Number(format!("{number}{mark}")),
                };
                Container::Item { sign, shown: false, item, number }
            } else {
                break;
            };
            self.close_leaf(look, blocks);
            self.page.leave(depth, look, blocks);
            self.page.containers.push(container);
            depth += 1;
        }
        depth
    }

    /// The number to show. Lists whose items all have the same number are meant to be counted.
    fn number(&self, mark: Mark, depth: usize) -> u64 {
        let Mark::Number(number, _) = mark else { return 0 };
        match self.page.containers.get(depth) {
            Some(Container::Item {
                item: Item { kind: before @ Mark::Number(same, _), .. }, number: shown, ..
            }) if mark.continues(*before) && *same == number => shown.saturating_add(1),
            Some(Container::Item { .. } | Container::Quote) | None => number,
        }
    }

    /// Reads what is left of a line as the leaf of `depth` containers.
    fn leaf(&mut self, cursor: &Cursor<'_>, depth: usize, look: &Look, blocks: &mut Vec<Block>) {
        let (text, inside) = (cursor.text(), depth == self.page.containers.len());
        let deep = cursor.indent() >= CODE_COLUMNS;
        if cursor.is_blank() {
            return;
        }
        if !deep && self.block(cursor, depth, look, blocks) {
            return;
        }
        match &mut self.leaf {
            Leaf::Paragraph(paragraph) => {
                if inside
                    && !deep
                    && let Some(table) = Table::begin(paragraph.last(), text)
                {
                    return self.begin_table(table, look, blocks);
                }
                // A paragraph also goes on where its quote or item does not.
                paragraph.push(text);
                if paragraph.bytes() > MOST_BYTES {
                    self.close_leaf(look, blocks);
                }
            }
            Leaf::Table(table) if inside && text.contains('|') => {
                if table.push(text) {
                    self.put_table(look, blocks);
                }
            }
            Leaf::Code(code) if inside && deep && code.fence.is_none() => self.indented(*cursor, look, blocks),
            Leaf::Nothing | Leaf::Table(_) | Leaf::Code(_) => {
                self.close_leaf(look, blocks);
                self.page.leave(depth, look, blocks);
                if deep {
                    self.leaf = Leaf::Code(Code::new(None, ""));
                    self.indented(*cursor, look, blocks);
                } else {
                    self.leaf = Leaf::Paragraph(Paragraph::new(text));
                }
            }
        }
    }

    /// Reads a line that is a block of its own, or begins code. Whether it was one.
    fn block(&mut self, cursor: &Cursor<'_>, depth: usize, look: &Look, blocks: &mut Vec<Block>) -> bool {
        let text = cursor.text();
        let inside = depth == self.page.containers.len();
        if inside
            && line::is_underline(text)
            && let Leaf::Paragraph(paragraph) = std::mem::take(&mut self.leaf)
        {
            self.heading(&paragraph.source(), look, blocks);
            return true;
        }
        let fence = line::fence(cursor);
        let heading = line::heading(text);
        let rule = line::is_rule(text);
        if fence.is_none() && heading.is_none() && !rule {
            return false;
        }
        self.close_leaf(look, blocks);
        self.page.leave(depth, look, blocks);
        if let Some((fence, info)) = fence {
            self.leaf = Leaf::Code(Code::new(Some(fence), info));
        } else if let Some(heading) = heading {
            self.heading(heading, look, blocks);
        } else {
            let columns = RULE_COLUMNS.min(look.width.saturating_sub(self.page.indent(look))).max(1);
            let line = vec![Span::styled(look.glyphs.rule.repeat(columns), look.theme.dim)];
            self.page.put(Kind::Apart, vec![line], look, blocks);
        }
        true
    }

    fn heading(&mut self, source: &str, look: &Look, blocks: &mut Vec<Block>) {
        let lines = inline::lines(source, look.theme.agent.patch(look.theme.heading), look);
        self.put_text(Kind::Heading, lines, look, blocks);
    }

    /// Puts text on the page, if there is anything to be seen of it.
    fn put_text(&mut self, kind: Kind, mut lines: Vec<Spans>, look: &Look, blocks: &mut Vec<Block>) {
        lines.retain(|line| !line.is_empty());
        if !lines.is_empty() {
            self.page.put(kind, lines, look, blocks);
        }
    }

    fn begin_table(&mut self, table: Table, look: &Look, blocks: &mut Vec<Block>) {
        if let Leaf::Paragraph(paragraph) = std::mem::take(&mut self.leaf)
            && let Some(before) = paragraph.but_last()
        {
            self.leaf = Leaf::Paragraph(before);
            self.close_leaf(look, blocks);
        }
        self.leaf = Leaf::Table(table);
    }

    fn put_table(&mut self, look: &Look, blocks: &mut Vec<Block>) {
        let Leaf::Table(table) = &mut self.leaf else { return };
        let begun = table.is_begun();
        let lines = table.take(look.width.saturating_sub(self.page.indent(look)), look);
        if begun && !lines.is_empty() {
            self.page.put_more(lines, look, blocks);
        } else if !lines.is_empty() {
            self.page.put(Kind::Apart, lines, look, blocks);
        }
    }

    fn indented(&mut self, mut cursor: Cursor<'_>, look: &Look, blocks: &mut Vec<Block>) {
        cursor.skip(CODE_COLUMNS);
        self.code(&cursor.content(), look, blocks);
    }

    /// Puts a line of code on the page; blank ones wait for the next.
    fn code(&mut self, text: &str, look: &Look, blocks: &mut Vec<Block>) {
        let Leaf::Code(code) = &mut self.leaf else { return };
        let line = code.highlighter.line(text, &look.theme);
        if line.is_empty() {
            code.blanks += 1;
        } else if std::mem::replace(&mut code.begun, true) {
            for _ in 0..std::mem::take(&mut code.blanks) {
                self.page.put_more_code(Vec::new(), look, blocks);
            }
            self.page.put_more_code(line, look, blocks);
        } else {
            code.blanks = 0;
            let label = code.label.clone();
            self.page.put_code(&label, line, look, blocks);
        }
    }

    /// Puts the rest of the leaf on the page.
    fn close_leaf(&mut self, look: &Look, blocks: &mut Vec<Block>) {
        match &self.leaf {
            Leaf::Nothing => {}
            Leaf::Paragraph(paragraph) => {
                let lines = inline::lines(&paragraph.source(), look.theme.agent, look);
                self.put_text(Kind::Text, lines, look, blocks);
            }
            Leaf::Table(_) => self.put_table(look, blocks),
            Leaf::Code(code) if code.fence.is_none() && code.blanks > 0 => self.page.blank(),
            Leaf::Code(_) => {}
        }
        self.leaf = Leaf::Nothing;
    }
}

/// Columns of a thematic break.
const RULE_COLUMNS: usize = 8;

impl Code {
    fn new(fence: Option<Fence>, info: &str) -> Self {
        // `rust,ignore`, `{.python}`, `js title="x"`
        let word =
            info.trim_start_matches(['{', '.']).split([' ', '\t', ',', '{', '}', ':']).next().unwrap_or_default();
        Self { fence, label: code::expand(word), highlighter: Highlighter::new(word), begun: false, blanks: 0 }
    }
}
