//! What a person has written but not sent, as pieces: what was pasted stays apart, for it is shown as a chip when it is
//! long, and `@path` in it names no file.

use crate::base::text::numbers;

/// A draft, as it will be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Its text in order. Neighbours are of different kinds, and none is empty.
    pub pieces: Vec<Piece>,
}

/// A piece of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Written by hand.
    Typed(String),
    /// Pasted, with `\n` for every line end.
    Pasted(String),
}

/// A paste of more lines than this is shown as a chip (INTERFACES: above 10 lines).
const CHIP_LINES: usize = 10;
/// So is one of more characters than this: some twelve rows on a usual screen.
const CHIP_CHARS: usize = 1_000;

/// What stands for a pasted text that is too long to be shown: `[pasted 214 lines, 8.1 KB]`; `None` for a short one.
pub fn chip(pasted: &str) -> Option<String> {
    is_long(pasted).then(|| label(pasted))
}

/// Whether a pasted text is shown as a chip.
pub fn is_long(pasted: &str) -> bool {
    lines(pasted) > CHIP_LINES || pasted.chars().nth(CHIP_CHARS).is_some()
}

/// What a chip says: how much was pasted.
pub fn label(pasted: &str) -> String {
    format!("[pasted {}, {}]", numbers::count(lines(pasted) as u64, "line"), numbers::size(pasted.len() as u64))
}

fn lines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(!text.ends_with('\n'))
}

impl Draft {
    /// A draft that was typed.
    pub fn typed(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { pieces: if text.is_empty() { Vec::new() } else { vec![Piece::Typed(text)] } }
    }

    /// Everything as one text, exactly.
    pub fn text(&self) -> String {
        let texts = self.pieces.iter().map(|piece| match piece {
            Piece::Typed(text) | Piece::Pasted(text) => text.as_str(),
        });
        texts.collect()
    }

    /// Whether there is nothing, or nothing but blanks.
    pub fn is_blank(&self) -> bool {
        self.pieces.iter().all(|piece| match piece {
            Piece::Typed(text) | Piece::Pasted(text) => text.trim().is_empty(),
        })
    }
}
