//! Markdown of an answer while it arrives, as styled lines.
//!
//! What can no longer change is handed out once, as logical lines which the terminal wraps; what may still change is shown
//! as rows of the live region, as it will look. Only whole lines are judged, so it does not matter in which pieces the
//! text came, and everything is linear in its length.
//!
//! Nothing reaches a line that would drive a terminal: every text passes `base::text::visible`. No file is opened here, and
//! no link followed.

mod ahead;
mod blocks;
mod inline;
mod line;
mod page;
mod paragraph;
mod table;
mod wrap;

use super::{Block, Look};
use crate::base::text::cut;
use ahead::shown_so_far;
use blocks::{Blocks, MOST_BYTES};
use ratatui::text::Line;

/// An answer that arrives in pieces.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    blocks: Blocks,
    /// The line that has not ended.
    line: String,
    /// Whether the beginning of that line was read already.
    within: bool,
}

impl Stream {
    /// At the beginning of an answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next piece of the answer. What is finished by it is handed out, once; a blank line that belongs above a block
    /// comes with it, and none above the first.
    pub fn push(&mut self, text: &str, look: &Look) -> Vec<Block> {
        let mut blocks = Vec::new();
        for piece in text.split_inclusive('\n') {
            let ends = piece.ends_with('\n');
            self.line.push_str(piece.strip_suffix('\n').unwrap_or(piece));
            if !ends && self.line.len() <= MOST_BYTES {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let rest = self.cut(&line, look, &mut blocks);
            if ends {
                self.end_line(rest, look, &mut blocks);
            } else {
                self.line = rest.to_owned();
            }
        }
        blocks
    }

    /// The unfinished end as it looks so far: rows of at most `look.width` columns, the last `most_rows` of them. Committed,
    /// it will stand in the same places.
    pub fn tail(&self, look: &Look, most_rows: usize) -> Vec<Line<'static>> {
        let mut ahead = self.clone();
        ahead.line = shown_so_far(&self.line, self.blocks.fence().map(|fence| fence.mark)).into_owned();
        let mut rows = Vec::new();
        for line in ahead.finish(look).iter().flatten() {
            wrap::rows(line, look.width.max(1), &mut rows);
        }
        rows.split_off(rows.len().saturating_sub(most_rows))
    }

    /// Ends the answer: what is left. Afterwards a new answer may begin.
    pub fn finish(&mut self, look: &Look) -> Vec<Block> {
        let mut blocks = Vec::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, look, &mut blocks);
        }
        self.blocks.finish(look, &mut blocks);
        self.discard();
        blocks
    }

    /// Forgets what was not handed out: the answer is tried again.
    pub fn discard(&mut self) {
        *self = Self::default();
    }

    /// Hands out the beginning of a line that is too long to be kept. The rest of the line.
    fn cut<'a>(&mut self, line: &'a str, look: &Look, blocks: &mut Vec<Block>) -> &'a str {
        let mut rest = line;
        while rest.len() > MOST_BYTES {
            let window = cut::head_bytes(rest, MOST_BYTES);
            let sentence = window.rfind(". ").map(|at| at + 2);
            let end = sentence.or_else(|| window.rfind(' ').map(|at| at + 1)).unwrap_or(window.len());
            let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.end_line(part, look, blocks);
            self.blocks.cut(look, blocks);
            self.within = true;
            rest = after;
        }
        rest
    }

    fn end_line(&mut self, line: &str, look: &Look, blocks: &mut Vec<Block>) {
        if std::mem::take(&mut self.within) {
            self.blocks.more(line, look, blocks);
        } else {
            self.blocks.line(line, look, blocks);
        }
    }
}

/// A finished answer, as [`Stream`] hands it out.
pub fn render(text: &str, look: &Look) -> Vec<Block> {
    let mut stream = Stream::new();
    let mut blocks = stream.push(text, look);
    blocks.extend(stream.finish(look));
    blocks
}

#[cfg(test)]
mod tests;
