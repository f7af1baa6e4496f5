//! How well a text fits what is looked for, and which of its letters do.
//!
//! Letters have to come in order, not side by side; words of a query count each for itself. Case counts where the query
//! has an upper case letter.

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::base::text::cut;

/// Longer queries and texts are no names: what is beyond is not looked at.
const LONGEST: usize = 4096;

/// Compares texts with one query.
pub struct Ranker {
    matcher: Matcher,
    pattern: Pattern,
    letters: Vec<char>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Names and sentences.
    Words,
    /// Paths: what follows a slash begins a name.
    Paths,
}

impl Ranker {
    /// For one query.
    pub fn new(query: &str, of: Of) -> Self {
        let config = match of {
            Of::Words => Config::DEFAULT,
            Of::Paths => Config::DEFAULT.match_paths(),
        };
        let mut ranker = Self { matcher: Matcher::new(config), pattern: Pattern::default(), letters: Vec::new() };
        ranker.look_for(query);
        ranker
    }

    /// Goes on with another query.
    pub fn look_for(&mut self, query: &str) {
        let query = cut::head_bytes(query, LONGEST);
        // Decided for all words of the query, so that both ways of comparing decide alike.
        let is_exact = query.chars().any(char::is_uppercase);
        let (case, folding) = (
            if is_exact { CaseMatching::Respect } else { CaseMatching::Ignore },
            if query.is_ascii() { Normalization::Smart } else { Normalization::Never },
        );
        self.pattern = Pattern::new(query, case, folding, AtomKind::Fuzzy);
        self.matcher.config.ignore_case = !is_exact;
        self.matcher.config.normalize = query.is_ascii();
    }

    /// As [`Self::score`], several times as fast, and less where the best letters are not the first ones.
    pub fn quick(&mut self, text: &str) -> Option<u32> {
        let text = hay(text, &mut self.letters);
        let matcher = &mut self.matcher;
        let score = |atom: &Atom| matcher.fuzzy_match_greedy(text, atom.needle_text()).map(u32::from);
        self.pattern.atoms.iter().map(score).sum()
    }

    /// How well a text fits: more is better; `None` where it does not. An empty query fits everything alike.
    pub fn score(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(hay(text, &mut self.letters), &mut self.matcher)
    }

    /// Where the letters that fit stand, in bytes, ascending; nothing where the text does not fit.
    pub fn matched(&mut self, text: &str) -> Vec<usize> {
        let mut places = Vec::new();
        if self.pattern.indices(hay(text, &mut self.letters), &mut self.matcher, &mut places).is_none() {
            return Vec::new();
        }
        places.sort_unstable();
        places.dedup();
        let mut offsets = text.char_indices().map(|(offset, _)| offset).enumerate();
        let offset = |place: u32| offsets.find(|(at, _)| u32::try_from(*at) == Ok(place)).map(|(_, offset)| offset);
        places.into_iter().filter_map(offset).collect()
    }
}

/// A text as the matcher takes it, one element a character.
fn hay<'a>(text: &'a str, letters: &'a mut Vec<char>) -> Utf32Str<'a> {
    let text = cut::head_bytes(text, LONGEST);
    if text.is_ascii() {
        return Utf32Str::Ascii(text.as_bytes());
    }
    letters.clear();
    letters.extend(text.chars());
    Utf32Str::Unicode(letters)
}

/// The letters a text has, as bits: one that lacks a bit of the query cannot fit it. A text that is not ASCII has them
/// all, since `ä` fits `a`.
pub fn bits_of(text: &str) -> u64 {
    if text.is_ascii() { bits(text) } else { u64::MAX }
}

/// The letters and digits of a query as bits, lower case. Characters other than ASCII letters and digits, `/`, `.`, `_`
/// and `-` have no bit.
pub fn bits(text: &str) -> u64 {
    text.bytes().fold(0, |bits, byte| {
        let bit = match byte.to_ascii_lowercase() {
            letter @ b'a'..=b'z' => letter - b'a',
            digit @ b'0'..=b'9' => 26 + digit - b'0',
            b'/' => 36,
            b'.' => 37,
            b'_' => 38,
            b'-' => 39,
            _ => return bits,
        };
        bits | 1 << bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn letters_in_order_fit() {
        let mut ranker = Ranker::new("mai", Of::Paths);
        assert!(ranker.score("src/main.rs") > ranker.score("src/moraig"));
        assert_eq!(ranker.score("iam"), None);
        assert_eq!(ranker.matched("src/main.rs"), [4, 5, 6]);
        ranker.look_for("ß 天");
        assert_eq!(ranker.matched("a天bß"), [1, 5]);
        ranker.look_for("MAI");
        assert_eq!(ranker.score("main"), None, "an upper case letter means it");
        ranker.look_for("");
        assert_eq!((ranker.score("x"), ranker.matched("x")), (Some(0), vec![]));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(query in "\\PC{0,8}|[a\u{301}ß天👩‍💻 ]{0,8}", text in "\\PC{0,20}|[a\u{301}ß天👩‍💻 ]{0,12}") {
            let mut ranker = Ranker::new(&query, Of::Words);
            let places = ranker.matched(&text);
            prop_assert!(places.iter().all(|place| text.is_char_boundary(*place) && *place < text.len()));
            prop_assert!(places.is_sorted());
            let (score, quick) = (ranker.score(&text), ranker.quick(&text));
            prop_assert!(score.is_some() || places.is_empty());
            prop_assert_eq!(score.is_some(), quick.is_some());
        }

        #[test]
        fn what_fits_has_the_bits(query in "[a-cA-C0/._ -]{0,4}", text in "[a-eA-E01/._ ä-]{0,16}") {
            if Ranker::new(&query, Of::Paths).score(&text).is_some() {
                prop_assert_eq!(bits(&query) & !bits_of(&text), 0);
            }
        }

        #[test]
        fn a_text_fits_itself(text in "\\PC{1,12}") {
            // One grapheme of the query is one letter to the matcher, so only plain letters are sure to be found.
            let plain: String = text.chars().filter(|letter| letter.is_alphanumeric() && *letter < '\u{300}').collect();
            prop_assert!(Ranker::new(&plain, Of::Words).score(&plain).is_some());
        }
    }
}
