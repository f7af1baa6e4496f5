//! What is finished and goes into the scrollback: once, in order, with blank lines between speakers and never two.

use ratatui::text::Line;

use crate::front::repl::view::Block;

/// Who or what a piece of finished text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first line of the program.
    Banner,
    /// The person.
    Person,
    /// The agent, speaking.
    Prose,
    /// The agent, thinking.
    Reasoning,
    /// What a call came to.
    Tool,
    /// A sentence of the program.
    Notice,
    /// Something that was asked for: help, a list.
    Report,
}

/// Finished text on its way to the screen.
#[derive(Debug, Default)]
pub struct Paper {
    blocks: Vec<(Kind, Block)>,
    last: Option<Kind>,
}

impl Paper {
    /// Adds a piece.
    pub fn print(&mut self, kind: Kind, block: Block) {
        if block.is_empty() {
            return;
        }
        if self.gap_before(kind) && !is_blank(&block[0]) {
            self.blocks.push((kind, vec![Line::default()]));
        }
        self.blocks.push((kind, block));
        self.last = Some(kind);
    }

    /// Goes on with the piece before: no blank line comes between.
    pub fn go_on(&mut self, kind: Kind, block: Block) {
        self.last = Some(kind);
        self.blocks.push((kind, block));
    }

    /// Whether a blank line stands between what was printed last and a piece of this kind.
    pub fn gap_before(&self, kind: Kind) -> bool {
        match (self.last, kind) {
            (None, _) => false,
            (Some(Kind::Tool | Kind::Notice), Kind::Tool | Kind::Notice) => false,
            (Some(_), _) => true,
        }
    }

    /// Pushes everything up, out of sight and into the scrollback.
    pub fn clear(&mut self, rows: usize) {
        self.blocks.push((Kind::Report, vec![Line::default(); rows]));
        self.last = None;
    }

    /// What was printed last.
    pub fn last(&self) -> Option<Kind> {
        self.last
    }

    /// Takes what has not been painted yet.
    pub fn take(&mut self) -> Vec<Block> {
        self.blocks.drain(..).map(|(_, block)| block).collect()
    }

    /// The same, with what each piece is; a blank line belongs to the piece after it.
    pub fn take_pieces(&mut self) -> Vec<(Kind, Block)> {
        std::mem::take(&mut self.blocks)
    }

    /// Whether there is something to be painted.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

fn is_blank(line: &Line<'_>) -> bool {
    line.spans.iter().all(|span| span.content.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(paper: &mut Paper) -> Vec<String> {
        paper.take().into_iter().flatten().map(|line| line.to_string()).collect()
    }

    fn block(text: &str) -> Block {
        vec![Line::raw(text.to_owned())]
    }

    #[test]
    fn blank_lines_part_speakers_and_not_tools() {
        let mut paper = Paper::default();
        paper.print(Kind::Person, block("hi"));
        paper.print(Kind::Prose, block("hello"));
        paper.print(Kind::Prose, vec![Line::default(), Line::raw("again")]);
        paper.print(Kind::Tool, block("read"));
        paper.print(Kind::Tool, block("edit"));
        paper.print(Kind::Notice, block("slow"));
        paper.print(Kind::Report, Vec::new());
        assert_eq!(texts(&mut paper), ["hi", "", "hello", "", "again", "", "read", "edit", "slow"]);
        assert!(paper.is_empty() && paper.gap_before(Kind::Person));
    }
}
