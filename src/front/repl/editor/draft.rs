//! What a person has written but not sent, as pieces: what was pasted stays apart, for it is shown as a chip when it is
//! long, and `@path` in it names no file; and so do pictures, which are chips always.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::text::{numbers, visible};
use crate::model::message::Image;

/// A draft, as it will be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its text in order. Neighbours are of different kinds, and none is empty.
    pub pieces: Vec<Piece>,
}

/// A piece of a draft.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Written by hand.
    Typed(String),
    /// Pasted, with `\n` for every line end.
    Pasted(String),
    /// A picture.
    Picture(Arc<Picture>),
}

impl Piece {
    /// Its text; of a picture, what stands for it.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Typed(text) | Self::Pasted(text) => Cow::Borrowed(text),
            Self::Picture(picture) => Cow::Owned(picture.label()),
        }
    }
}

/// A picture in a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What it is called: a file's name, or where it came from.
    pub name: String,
    /// Its file, absolute; `None` if it never was one.
    pub path: Option<PathBuf>,
    /// Columns and rows of pixels, as far as they are known.
    pub size: Option<(u32, u32)>,
    /// What is sent. `None`: it has to be read from its file again.
    pub image: Option<Image>,
}

impl Picture {
    /// What stands for it in a text: `[picture: name.png 640×480]`.
    pub fn label(&self) -> String {
        self.described("picture")
    }

    /// The same with its number among the pictures of a draft.
    pub fn numbered(&self, number: usize) -> String {
        self.described(&format!("picture {number}"))
    }

    fn described(&self, what: &str) -> String {
        let name = visible::line(&self.name);
        match self.size {
            // Only its name was kept.
            _ if self.image.is_none() && self.path.is_none() => format!("[{what} lost: {name}]"),
            Some((width, height)) => format!("[{what}: {name} {width}×{height}]"),
            None => format!("[{what}: {name}]"),
        }
    }
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
        self.pieces.iter().map(Piece::text).collect()
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

    /// Its pictures, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Picture(picture) => Some(picture.as_ref()),
            Piece::Typed(_) | Piece::Pasted(_) => None,
        })
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

    /// What this draft is after something that knows no pieces has made `text` of it: what was pasted, or stands
    /// for a picture, and is still there whole stays that, everything else was typed.
    #[must_use]
    pub fn rewritten(&self, text: &str) -> Self {
        let old = self.text();
        let same = old.bytes().zip(text.bytes()).take_while(|(old, new)| old == new).count();
        let behind = old.bytes().rev().zip(text.bytes().rev()).take_while(|(old, new)| old == new).count();
        let (mut draft, mut taken, mut end) = (Self::default(), 0, 0);
        for piece in &self.pieces {
            let part = piece.text();
            let begin = end;
            end += part.len();
            if matches!(piece, Piece::Typed(_)) {
                continue;
            }
            // Where nothing before it or behind it has changed it is at its old place.
            let from_end = text.len().checked_sub(old.len() - begin).filter(|_| old.len() - begin <= behind);
            let place = if end <= same { Some(begin) } else { from_end };
            let found = || Some(taken + text.get(taken..)?.find(&*part)?);
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
            Piece::Picture(_) => false,
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
