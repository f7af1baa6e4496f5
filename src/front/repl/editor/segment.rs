//! Where a caret can stand in a text, and where the next grapheme cluster, word and line begin.
//!
//! Positions are bytes and come back between grapheme clusters (UAX #29). It changes nothing and knows no columns.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::text::CHIP;
use crate::base::text::cut;

/// The boundary after `at`, or the end.
pub fn next(text: &str, at: usize) -> usize {
    let at = inside(text, at);
    // With the whole text at hand the cursor asks for no more context.
    GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0).ok().flatten().unwrap_or(text.len())
}

/// The boundary before `at`, or the beginning.
pub fn previous(text: &str, at: usize) -> usize {
    let at = inside(text, at);
    GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0).ok().flatten().unwrap_or(0)
}

/// `at` itself if it is a boundary, else the next one.
pub fn snap(text: &str, at: usize) -> usize {
    let at = inside(text, at);
    match GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0) {
        Ok(false) => next(text, at),
        Ok(true) | Err(_) => at,
    }
}

/// The grapheme cluster that begins at `at`; empty at the end.
pub fn grapheme(text: &str, at: usize) -> &str {
    text.get(at..next(text, at)).unwrap_or_default()
}

/// The beginning of the line that holds `at`.
pub fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', before(text, at).as_bytes()).map_or(0, |at| at + 1)
}

/// The end of the line that holds `at`, before its line break.
pub fn line_end(text: &str, at: usize) -> usize {
    let at = inside(text, at);
    memchr::memchr(b'\n', after(text, at).as_bytes()).map_or(text.len(), |length| at + length)
}

/// The first cluster of the line that holds `at` and is no blank, or the line's end.
pub fn first_filled(text: &str, at: usize) -> usize {
    let start = line_start(text, at);
    let line = text.get(start..line_end(text, at)).unwrap_or_default();
    floor(text, start + line.len() - line.trim_start().len())
}

/// The text before `at`.
pub fn before(text: &str, at: usize) -> &str {
    cut::head_bytes(text, at)
}

/// The text from `at` on.
pub fn after(text: &str, at: usize) -> &str {
    text.get(inside(text, at)..).unwrap_or_default()
}

/// The beginning of the word at or before `at`; words are letters and digits.
pub fn word_left(text: &str, at: usize) -> usize {
    let mut found = false;
    let mut clusters = before(text, at).grapheme_indices(true).rev();
    let stop = clusters.find(|(_, cluster)| {
        let inside = is_word(cluster);
        let left = found && !inside;
        found |= inside;
        left
    });
    stop.map_or(0, |(at, cluster)| at + cluster.len())
}

/// The end of the word at or after `at`.
pub fn word_right(text: &str, at: usize) -> usize {
    let at = inside(text, at);
    let mut found = false;
    let mut clusters = after(text, at).grapheme_indices(true);
    let stop = clusters.find(|(_, cluster)| {
        let inside = is_word(cluster);
        let left = found && !inside;
        found |= inside;
        left
    });
    stop.map_or(text.len(), |(length, _)| at + length)
}

/// The beginning of what stands between blanks at or before `at`; a chip is a word of its own.
pub fn blank_word_left(text: &str, at: usize) -> usize {
    let mut start = inside(text, at);
    let mut found = false;
    for (at, cluster) in before(text, at).grapheme_indices(true).rev() {
        let blank = cluster.chars().all(char::is_whitespace);
        let chip = cluster.starts_with(CHIP);
        if found && (blank || chip) {
            break;
        }
        start = at;
        found |= !blank;
        if chip {
            break;
        }
    }
    start
}

fn is_word(cluster: &str) -> bool {
    cluster.starts_with(char::is_alphanumeric)
}

/// `at` itself if it is a boundary, else the one before.
pub fn floor(text: &str, at: usize) -> usize {
    if snap(text, at) == at { at } else { previous(text, at) }
}

fn inside(text: &str, at: usize) -> usize {
    before(text, at).len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_letters_or_what_stands_between_blanks() {
        let text = "let naïve_x = 天天 + \u{fff0}e\u{301}!";
        let stops = |step: fn(&str, usize) -> usize, from: usize| {
            let mut at = from;
            let walk = std::iter::from_fn(|| {
                let to = step(text, at);
                (to != at).then(|| {
                    at = to;
                    text.split_at(at).1
                })
            });
            walk.collect::<Vec<_>>().join("|")
        };
        let right = " naïve_x = 天天 + \u{fff0}e\u{301}!|_x = 天天 + \u{fff0}e\u{301}!| = 天天 + \u{fff0}e\u{301}!";
        assert!(stops(word_right, 0).starts_with(right));
        assert!(stops(word_left, text.len()).starts_with("e\u{301}!|天天"));
        let blanks = stops(blank_word_left, text.len());
        assert!(blanks.starts_with("e\u{301}!|\u{fff0}e\u{301}!|+ \u{fff0}"), "{blanks}");
    }

    #[test]
    fn a_chip_joins_no_cluster() {
        let text = "👩\u{200d}\u{fff0}\u{301}x";
        assert_eq!(text.graphemes(true).collect::<Vec<_>>(), ["👩\u{200d}", "\u{fff0}", "\u{301}", "x"]);
    }

    proptest! {
        #[test]
        fn positions_are_boundaries(text in "(\\PC|\n|\t|👩‍💻|e\u{301}|🇩🇪|🇩|\u{200d}|\u{fff0}| ){0,20}", at in 0usize..90) {
            let mut boundaries: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
            boundaries.push(text.len());
            let reached = inside(&text, at);
            prop_assert_eq!(next(&text, at), boundaries.iter().copied().find(|to| *to > reached).unwrap_or(text.len()));
            prop_assert_eq!(previous(&text, at), boundaries.iter().copied().rfind(|to| *to < reached).unwrap_or(0));
            let legal = snap(&text, at);
            prop_assert!(boundaries.contains(&legal) && legal >= reached);
            for step in [word_left, word_right, blank_word_left, line_start, line_end, first_filled] {
                prop_assert!(boundaries.contains(&step(&text, legal)), "{:?} {}", text, legal);
            }
        }
    }
}
