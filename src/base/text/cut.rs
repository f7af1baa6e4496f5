//! Cutting on grapheme boundaries: a prefix or a suffix of at most so many characters.

use unicode_segmentation::UnicodeSegmentation;

/// The longest prefix of `text` of at most `chars` characters (Unicode scalar values) that ends on a grapheme boundary.
///
/// One grapheme longer than `chars` yields the empty string.
pub fn head(text: &str, chars: usize) -> &str {
    let mut kept = 0;
    let mut bytes = 0;
    for grapheme in text.graphemes(true) {
        kept += grapheme.chars().count();
        if kept > chars {
            break;
        }
        bytes += grapheme.len();
    }
    text.get(..bytes).unwrap_or(text)
}

/// The longest suffix of `text` of at most `chars` characters that begins on a grapheme boundary.
pub fn tail(text: &str, chars: usize) -> &str {
    let mut kept = 0;
    let mut bytes = 0;
    for grapheme in text.graphemes(true).rev() {
        kept += grapheme.chars().count();
        if kept > chars {
            break;
        }
        bytes += grapheme.len();
    }
    text.get(text.len() - bytes..).unwrap_or(text)
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

/// `text` itself, or its first `chars - 1` characters and an ellipsis.
pub fn ellipsis(text: &str, chars: usize) -> String {
    if text.len() <= chars || text.chars().count() <= chars {
        return text.to_owned();
    }
    format!("{}…", head(text, chars.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_family_of_emoji_is_never_split() {
        let text = "x👩‍👩‍👧‍👦y";
        assert_eq!(head(text, 3), "x");
        assert_eq!(head(text, 8), "x👩‍👩‍👧‍👦");
        assert_eq!(tail(text, 4), "y");
        assert_eq!(ellipsis(text, 4), "x…");
    }

    proptest! {
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
