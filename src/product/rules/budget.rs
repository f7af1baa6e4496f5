//! How much of each text there is room for. Pure.

/// A text that wants room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim<'a> {
    /// The text; of one that is larger than all room as many whole lines as could have any.
    pub(super) text: &'a str,
    /// Whether that is all of it.
    pub(super) is_whole: bool,
}

impl Claim<'_> {
    fn length(&self, budget: usize) -> usize {
        if self.is_whole { self.text.len() } else { self.text.len().max(budget + 1) }
    }
}

/// How many bytes of each text are kept, so that all of them take at most `budget`: the first are shortened first, at the
/// end of a line.
pub(super) fn kept(claims: &[Claim<'_>], budget: usize) -> Vec<usize> {
    let mut excess = claims.iter().map(|claim| claim.length(budget)).sum::<usize>().saturating_sub(budget);
    let shorten = |claim: &Claim<'_>| {
        let length = claim.length(budget);
        let kept = whole_lines(claim.text, length.saturating_sub(excess));
        excess = excess.saturating_sub(length - kept);
        kept
    };
    claims.iter().map(shorten).collect()
}

/// The length of the longest part of `text` of at most `most` bytes that ends with a line.
pub(super) fn whole_lines(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    let before = text.as_bytes().get(..most).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(texts: &[&str], budget: usize) -> Vec<usize> {
        super::kept(&texts.iter().map(|text| Claim { text, is_whole: true }).collect::<Vec<_>>(), budget)
    }

    #[test]
    fn a_text_larger_than_all_room_takes_what_nearer_ones_leave() {
        let claims = [("user\n", true), ("a\nb\n", false), ("near\n", true)];
        let claims = claims.map(|(text, is_whole)| Claim { text, is_whole });
        assert_eq!(super::kept(&claims, 8), [0, 2, 5]);
        assert_eq!(super::kept(&claims, 20), [0, 4, 5], "the user's comes first to go");
    }

    #[test]
    fn the_first_are_shortened_first() {
        let texts = ["aa\nbb\n", "cc\ndd\n", "ee\n"];
        assert_eq!(kept(&texts, 15), [6, 6, 3]);
        assert_eq!(kept(&texts, 14), [3, 6, 3], "never within a line");
        assert_eq!(kept(&texts, 9), [0, 6, 3]);
        assert_eq!(kept(&texts, 8), [0, 3, 3]);
        assert_eq!(kept(&texts, 2), [0, 0, 0]);
        assert_eq!(kept(&["one long line"], 5), [0]);
        assert_eq!(kept(&["ß\nß"], 4), [3], "the last line has no end, and is whole or not there");
    }

    proptest! {
        #[test]
        fn whole_lines_within_the_budget(texts in prop::collection::vec("[aß\n]{0,40}", 0..6), budget in 0usize..120) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let kept = kept(&texts, budget);
            prop_assert!(kept.iter().sum::<usize>() <= budget);
            for (text, kept) in texts.iter().zip(&kept) {
                prop_assert!(*kept == 0 || *kept == text.len() || text[..*kept].ends_with('\n'));
            }
            // Nothing is shortened while something before it has room to give.
            if let Some(first_whole) = kept.iter().zip(&texts).position(|(kept, text)| *kept == text.len() && *kept > 0) {
                prop_assert!(kept[first_whole..].iter().zip(&texts[first_whole..]).all(|(kept, text)| *kept == text.len()));
            }
        }
    }
}
