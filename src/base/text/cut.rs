//! Cutting on grapheme boundaries: a prefix or a suffix of at most so many characters.

use std::borrow::Cow;

use unicode_segmentation::GraphemeCursor;

/// The longest prefix of `text` of at most `chars` characters (Unicode scalar values) that ends on a grapheme boundary.
///
/// One grapheme longer than `chars` yields the empty string. Only the surroundings of the cut are segmented.
pub fn head(text: &str, chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars) else { return text };
    let mut cursor = GraphemeCursor::new(end, text.len(), true);
    let end = match cursor.is_boundary(text, 0) {
        Ok(true) => end,
        // With the whole text at hand the cursor asks for no more context.
        Ok(false) | Err(_) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    };
    text.get(..end).unwrap_or_default()
}

/// The longest suffix of `text` of at most `chars` characters that begins on a grapheme boundary.
pub fn tail(text: &str, chars: usize) -> &str {
    let Some(last) = chars.checked_sub(1) else { return "" };
    let start = text.char_indices().rev().nth(last).map_or(0, |(start, _)| start);
    let mut cursor = GraphemeCursor::new(start, text.len(), true);
    let start = match cursor.is_boundary(text, 0) {
        Ok(true) => start,
        Ok(false) | Err(_) => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
    };
    text.get(start..).unwrap_or_default()
}

/// The longest prefix of `text` of at most `bytes` bytes; it may end inside a grapheme cluster, not inside a character.
pub fn head_bytes(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// The longest suffix of `text` of at most `bytes` bytes; it may begin inside a grapheme cluster, not inside a character.
pub fn tail_bytes(text: &str, bytes: usize) -> &str {
    let start = text.len().saturating_sub(bytes);
    let start = (start..=text.len()).find(|start| text.is_char_boundary(*start)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

/// The first `count` lines of `text`, with their line breaks.
pub fn head_lines(text: &str, count: usize) -> &str {
    let end = text.split_inclusive('\n').take(count).map(str::len).sum();
    text.get(..end).unwrap_or_default()
}

/// The last `count` lines of `text`. A line break at its end belongs to the last line.
pub fn tail_lines(text: &str, count: usize) -> &str {
    let length: usize = text.split_inclusive('\n').rev().take(count).map(str::len).sum();
    text.get(text.len() - length..).unwrap_or_default()
}

/// `text` in two parts, the first of which has `chars` characters where there are as many; it may end inside a grapheme
/// cluster.
pub fn split_chars(text: &str, chars: usize) -> (&str, &str) {
    text.split_at(text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at))
}

/// `text` itself, or its first `chars - 1` characters and an ellipsis.
pub fn ellipsis(text: &str, chars: usize) -> String {
    if text.len() <= chars || text.chars().count() <= chars {
        return text.to_owned();
    }
    format!("{}…", head(text, chars.saturating_sub(1)))
}

/// `text` itself, or its head and its tail, `chars` characters with the ellipsis between them.
pub fn middle(text: &str, chars: usize) -> Cow<'_, str> {
    if text.len() <= chars || text.chars().count() <= chars {
        return Cow::Borrowed(text);
    }
    let kept = chars.saturating_sub(1);
    Cow::Owned(format!("{}…{}", head(text, kept - kept / 2), tail(text, kept / 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    #[test]
    fn a_family_of_emoji_is_never_split() {
        let text = "x👩‍👩‍👧‍👦y";
        assert_eq!(head(text, 3), "x");
        assert_eq!(head(text, 8), "x👩‍👩‍👧‍👦");
        assert_eq!(tail(text, 4), "y");
        assert_eq!(ellipsis(text, 4), "x…");
        assert_eq!([middle(text, 9), middle(text, 8), middle(text, 4)], [text, "x…y", "x…y"]);
        assert_eq!([middle("abcdef", 6), middle("abcdef", 5), middle("abcdef", 0)], ["abcdef", "ab…ef", "…"]);
    }

    #[test]
    fn lines_keep_their_breaks() {
        let text = "a\nb\n\nd";
        assert_eq!([head_lines(text, 0), head_lines(text, 2), head_lines(text, 9)], ["", "a\nb\n", text]);
        assert_eq!([tail_lines(text, 0), tail_lines(text, 2), tail_lines(text, 9)], ["", "\nd", text]);
        assert_eq!(tail_lines("a\nb\n", 1), "b\n");
        assert_eq!([split_chars("éü", 1), split_chars("éü", 9)], [("é", "ü"), ("éü", "")]);
    }

    /// What `head` and `tail` are by definition.
    fn by_segmenting(text: &str, chars: usize) -> (String, String) {
        fn kept<'a>(graphemes: impl Iterator<Item = &'a str>, chars: usize) -> Vec<&'a str> {
            let mut left = chars;
            graphemes
                .map_while(|grapheme| {
                    left.checked_sub(grapheme.chars().count()).map(|rest| {
                        left = rest;
                        grapheme
                    })
                })
                .collect()
        }
        let mut tail = kept(text.graphemes(true).rev(), chars);
        tail.reverse();
        (kept(text.graphemes(true), chars).concat(), tail.concat())
    }

    proptest! {
        #[test]
        fn cuts_are_where_segmenting_says(text in "(\\PC|\r\n|👩‍👩‍👧‍👦|e\u{301}|🇩🇪|🇩|\u{200d}){0,40}", chars in 0usize..60) {
            let (by_head, by_tail) = by_segmenting(&text, chars);
            prop_assert_eq!(head(&text, chars), by_head);
            prop_assert_eq!(tail(&text, chars), by_tail);
        }

        #[test]
        fn head_and_tail_keep_their_budget(text in "\\PC*", chars in 0usize..40) {
            prop_assert!(head(&text, chars).chars().count() <= chars);
            prop_assert!(tail(&text, chars).chars().count() <= chars);
            prop_assert!(text.starts_with(head(&text, chars)) && text.ends_with(tail(&text, chars)));
        }

        #[test]
        fn bytes_are_cut_between_characters(text in "\\PC*", bytes in 0usize..80) {
            let (head, tail) = (head_bytes(&text, bytes), tail_bytes(&text, bytes));
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            for kept in [head, tail] {
                prop_assert!(kept.len() <= bytes && kept.len() + 3 >= bytes.min(text.len()));
            }
        }
    }
}
