//! What a person has written but not sent, as pieces: what was pasted stays apart, for it is shown as a chip when it is
//! long, and `@path` in it names no file.

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
