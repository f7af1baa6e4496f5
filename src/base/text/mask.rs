//! Puts a mark in the place of texts that must not be shown, also where they arrive in pieces.
//!
//! Knows only the texts it was given; what they are and why they are hidden is decided elsewhere.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use memchr::memmem::Finder;

use crate::base::secret::SHORTEST_BYTES;

/// What stands in a hidden text's place.
const MARK: &str = "[secret]";

/// Texts to hide. Cheap to clone; clones share what is added.
#[derive(Clone, Default)]
pub struct Mask(Arc<RwLock<Hidden>>);

/// The texts as they are at one moment: longest first, so that of several that begin at one place the longest is found.
#[derive(Clone, Default)]
struct Hidden(Arc<[Finder<'static>]>);

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask of {}", self.hidden().0.len())
    }
}

impl Mask {
    /// A mask for these texts; those of fewer than 8 bytes are left alone.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(Arc::new(RwLock::new(Hidden::of(texts.into_iter().collect()))))
    }

    /// Hides one more text from now on, in all clones.
    pub fn add(&self, text: &str) {
        let mut hidden = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let known: Vec<String> =
            hidden.0.iter().map(|finder| String::from_utf8_lossy(finder.needle()).into_owned()).collect();
        *hidden = Hidden::of(known.iter().map(String::as_str).chain([text]).collect());
    }

    /// Whether nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.hidden().0.is_empty()
    }

    /// Hides every known text in `text`.
    pub fn apply(&self, text: &mut String) {
        self.hidden().apply(text);
    }

    fn hidden(&self) -> Hidden {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Hidden {
    fn of(mut texts: Vec<&str>) -> Self {
        texts.retain(|text| text.len() >= SHORTEST_BYTES);
        texts.sort_unstable_by_key(|text| (std::cmp::Reverse(text.len()), *text));
        texts.dedup();
        Self(texts.into_iter().map(|text| Finder::new(text).into_owned()).collect())
    }

    fn apply(&self, text: &mut String) {
        if self.0.iter().any(|finder| finder.find(text.as_bytes()).is_some()) {
            let mut shown = String::with_capacity(text.len());
            self.hide(text, 0, &mut |piece| shown.push_str(piece));
            *text = shown;
        }
    }

    /// Gives out `text` but for its last `held` bytes, with marks; returns what was not given out. Of several hidden texts
    /// the one that begins first counts, then the longest.
    fn hide<'a>(&self, text: &'a str, mut held: usize, give: &mut dyn FnMut(&str)) -> &'a str {
        let find = |finder: &Finder<'static>, from: usize| {
            text.as_bytes().get(from..).and_then(|rest| finder.find(rest)).map(|start| from + start)
        };
        // Where each is found next: looked for again only once it was passed, so that the whole takes linear time.
        let mut next: Vec<Option<usize>> = self.0.iter().map(|finder| find(finder, 0)).collect();
        let mut given = 0;
        loop {
            let first = next.iter().zip(self.0.iter()).filter_map(|(next, finder)| Some(((*next)?, finder)));
            // Of equal ones the first: the longest.
            let Some((start, finder)) = first.min_by_key(|(start, _)| *start) else { break };
            if start >= text.len() - held {
                break;
            }
            give(text.get(given..start).unwrap_or_default());
            give(MARK);
            given = start + finder.needle().len();
            if held > 0 {
                held = self.unfinished(text.get(given..).unwrap_or_default());
            }
            for (next, finder) in next.iter_mut().zip(self.0.iter()) {
                if next.is_some_and(|next| next < given) {
                    *next = find(finder, given);
                }
            }
        }
        let (shown, rest) = text.split_at(text.len() - held);
        give(shown.get(given..).unwrap_or_default());
        rest
    }

    /// How many bytes at the end of `text` may be the beginning of a hidden text.
    fn unfinished(&self, text: &str) -> usize {
        let text = text.as_bytes();
        let of_one = |finder: &Finder<'static>| {
            let needle = finder.needle();
            let longest = text.len().min(needle.len() - 1);
            (1..=longest).rev().find(|length| needle.get(..*length).is_some_and(|start| text.ends_with(start)))
        };
        self.0.iter().filter_map(of_one).max().unwrap_or_default()
    }
}

/// Hides texts in a stream; holds back only what may be the beginning of one.
#[derive(Debug, Default)]
pub struct Masking {
    mask: Mask,
    held: String,
}

impl Masking {
    /// A stream under this mask.
    pub fn new(mask: Mask) -> Self {
        Self { mask, held: String::new() }
    }

    /// Takes the next piece and gives out what can be shown.
    pub fn push(&mut self, piece: &str, give: &mut dyn FnMut(&str)) {
        let hidden = self.mask.hidden();
        if hidden.0.is_empty() {
            return give(piece);
        }
        let joined;
        let text = if self.held.is_empty() {
            piece
        } else {
            self.held.push_str(piece);
            joined = std::mem::take(&mut self.held);
            &joined
        };
        let rest = hidden.hide(text, hidden.unfinished(text), give);
        self.held.push_str(rest);
    }

    /// Whether the last piece ended with what may be the beginning of a hidden text.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// What it hides.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Gives out what was held back.
    pub fn finish(&mut self, give: &mut dyn FnMut(&str)) {
        let mut held = std::mem::take(&mut self.held);
        self.mask.apply(&mut held);
        if !held.is_empty() {
            give(&held);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn streamed(mask: &Mask, pieces: &[&str]) -> String {
        let (mut masking, mut shown) = (Masking::new(mask.clone()), String::new());
        pieces.iter().for_each(|piece| masking.push(piece, &mut |piece| shown.push_str(piece)));
        masking.finish(&mut |piece| shown.push_str(piece));
        shown
    }

    #[test]
    fn known_texts_are_hidden_and_short_ones_are_not() {
        let mask = Mask::new(["sk-12345678", "sk-12345678-more", "abc"]);
        let mut text = "abc sk-12345678-more sk-12345678".to_owned();
        mask.apply(&mut text);
        assert_eq!(text, "abc [secret] [secret]");
        assert_eq!(format!("{mask:?}"), "Mask of 2");
    }

    #[test]
    fn what_is_added_later_is_hidden_in_every_clone() {
        let mask = Mask::default();
        let clone = mask.clone();
        mask.add("sk-12345678");
        clone.add("sk-12345678-more");
        mask.add("short");
        for mask in [&mask, &clone] {
            let mut text = "short sk-12345678-more sk-12345678".to_owned();
            mask.apply(&mut text);
            assert_eq!(text, "short [secret] [secret]");
        }
    }

    #[test]
    fn a_text_that_comes_in_pieces_is_hidden() {
        let mask = Mask::new(["sk-12345678", "sk-12345678-more"]);
        for (pieces, shown) in [
            (&["a sk-1234", "5678 b"][..], "a [secret] b"),
            (&["a sk-12345678", "-more b"], "a [secret] b"),
            (&["a sk-12345678-mo", "on b"], "a [secret]-moon b"),
            (&["a sk-12345678-mo"], "a [secret]-mo"),
            (&["s", "k", "-", "1", "2345", "678"], "[secret]"),
            (&["sk-sk-123", "45678"], "sk-[secret]"),
            (&["sk-12", "é"], "sk-12é"),
        ] {
            assert_eq!(streamed(&mask, pieces), shown, "{pieces:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_are_hidden_as_the_whole(
            hidden in prop::collection::vec("[ab]{8,12}", 0..4), pieces in prop::collection::vec("[abé]{0,20}", 0..8),
        ) {
            let mask = Mask::new(hidden.iter().map(String::as_str));
            let mut whole = pieces.concat();
            mask.apply(&mut whole);
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(streamed(&mask, &pieces), whole);
        }
    }
}
