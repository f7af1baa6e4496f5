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

/// A paste of more lines than this is shown as a chip: it would push the conversation off a small screen.
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

    /// Adds a piece at the end; neighbours of one kind become one.
    pub fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (_, Piece::Typed(text) | Piece::Pasted(text)) if text.is_empty() => {}
            (Some(Piece::Typed(last)), Piece::Typed(text)) | (Some(Piece::Pasted(last)), Piece::Pasted(text)) => {
                last.push_str(&text);
            }
            (_, piece) => self.pieces.push(piece),
        }
    }

    /// Adds a draft as a paragraph of its own.
    pub fn join(&mut self, more: Self) {
        if !self.pieces.is_empty() && !more.pieces.is_empty() {
            self.push(Piece::Typed("\n\n".to_owned()));
        }
        for piece in more.pieces {
            self.push(piece);
        }
    }

    /// What this draft is after something that knows no pieces has made `text` of it: what was pasted and is still there
    /// whole stays pasted, everything else was typed.
    #[must_use]
    pub fn rewritten(&self, text: &str) -> Self {
        let old = self.text();
        let same = old.bytes().zip(text.bytes()).take_while(|(old, new)| old == new).count();
        let behind = old.bytes().rev().zip(text.bytes().rev()).take_while(|(old, new)| old == new).count();
        let (mut draft, mut taken, mut end) = (Self::default(), 0, 0);
        for piece in &self.pieces {
            let (Piece::Typed(part) | Piece::Pasted(part)) = piece;
            let begin = end;
            end += part.len();
            if matches!(piece, Piece::Typed(_)) {
                continue;
            }
            // Where nothing before it or behind it has changed it is at its old place.
            let from_end = text.len().checked_sub(old.len() - begin).filter(|_| old.len() - begin <= behind);
            let place = if end <= same { Some(begin) } else { from_end };
            let found = || Some(taken + text.get(taken..)?.find(part.as_str())?);
            if let Some(place) = place.filter(|place| *place >= taken).or_else(found)
                && let Some(typed) = text.get(taken..place)
            {
                draft.push(Piece::Typed(typed.to_owned()));
                draft.push(piece.clone());
                taken = place + part.len();
            }
        }
        draft.push(Piece::Typed(text.get(taken..).unwrap_or_default().to_owned()));
        draft
    }

    /// Whether there is nothing, or nothing but blanks.
    pub fn is_blank(&self) -> bool {
        self.pieces.iter().all(|piece| match piece {
            Piece::Typed(text) | Piece::Pasted(text) => text.trim().is_empty(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Piece {
        Piece::Typed(text.to_owned())
    }

    fn pasted(text: &str) -> Piece {
        Piece::Pasted(text.to_owned())
    }

    #[test]
    fn what_was_pasted_stays_pasted_where_it_is_still_whole() {
        let draft = Draft { pieces: vec![typed("see @a: "), pasted("@a"), typed(" and "), pasted("!ls")] };
        for (text, pieces) in [
            ("see @a: @a and !ls", draft.pieces.clone()),
            ("", vec![]),
            ("!ls", vec![pasted("!ls")]),
            ("see @a: @a and more", vec![typed("see @a: "), pasted("@a"), typed(" and more")]),
            ("look: @a and !ls", vec![typed("look: "), pasted("@a"), typed(" and "), pasted("!ls")]),
            ("see @a: @a or !ls\n", vec![typed("see @a: "), pasted("@a"), typed(" or "), pasted("!ls"), typed("\n")]),
            ("see ä", vec![typed("see ä")]),
        ] {
            assert_eq!(draft.rewritten(text).pieces, pieces, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_letter_is_lost(parts in proptest::collection::vec("[aä@]{1,3}", 0..5), text in "[aä@]{0,8}") {
            let mut draft = Draft::default();
            for (number, part) in parts.into_iter().enumerate() {
                draft.push(if number % 2 == 0 { Piece::Pasted(part) } else { Piece::Typed(part) });
            }
            proptest::prop_assert_eq!(draft.rewritten(&text).text(), text);
            proptest::prop_assert_eq!(draft.rewritten(&draft.text()), draft);
        }
    }
}
