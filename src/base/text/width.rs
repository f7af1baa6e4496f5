//! How many terminal columns a text takes, and cutting it by columns. Counts grapheme clusters (UAX #29) with the widths
//! of UAX #11, as most terminals do; what a particular terminal does with a rare emoji is not known here.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of a text without line breaks. Control characters count as none.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !byte.is_ascii_control()).count();
    }
    clusters(text).map(|(_, columns)| columns).sum()
}

/// The grapheme clusters of a text, with the columns of each.
pub fn clusters(text: &str) -> Clusters<'_> {
    Clusters { rest: text }
}

/// The iterator of [`clusters`].
#[derive(Clone, Debug)]
pub struct Clusters<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Clusters<'a> {
    type Item = (&'a str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        // What ASCII prints is a cluster of its own where ASCII follows (UAX #29 joins CR and LF alone): nearly all text,
        // ten times as fast.
        let is_plain = match self.rest.as_bytes() {
            [b' '..=b'~'] => true,
            [b' '..=b'~', next, ..] => next.is_ascii(),
            _ => false,
        };
        let end = if is_plain { 1 } else { self.rest.graphemes(true).next()?.len() };
        let (cluster, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some((cluster, if is_plain { 1 } else { grapheme_width(cluster) }))
    }
}

/// Columns of one grapheme cluster: 0, 1 or 2.
pub fn grapheme_width(grapheme: &str) -> usize {
    let controls = grapheme.chars().all(char::is_control);
    if controls { 0 } else { grapheme.width().min(2) }
}

/// The longest beginning that takes at most `columns`, cut between grapheme clusters.
pub fn head(text: &str, columns: usize) -> &str {
    split(text, columns).0
}

/// The longest beginning that takes at most `columns`, and the rest.
pub fn split(text: &str, columns: usize) -> (&str, &str) {
    let (mut taken, mut at) = (0, 0);
    for (cluster, width) in clusters(text) {
        taken += width;
        if taken > columns {
            return text.split_at(at);
        }
        at += cluster.len();
    }
    (text, "")
}

/// The longest end that takes at most `columns`.
pub fn tail(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        taken += grapheme_width(grapheme);
        if taken > columns {
            return text.get(at + grapheme.len()..).unwrap_or_default();
        }
    }
    text
}

/// The text if it takes at most `columns`, else its beginning and `mark`, which together do.
pub fn cut(text: &str, columns: usize, mark: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    format!("{}{}", head(text, columns.saturating_sub(width(mark))), head(mark, columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_are_counted_by_grapheme() {
        for (text, columns) in [
            ("", 0),
            ("abc", 3),
            ("天天", 4),
            ("한", 2),
            ("e\u{301}", 1),
            ("👩‍💻", 2),
            ("⚠️", 2),
            ("a\tb", 2),
            ("\u{200b}", 0),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn cuts_do_not_split_a_wide_character() {
        assert_eq!(split("a天b", 2), ("a", "天b"));
        assert_eq!(tail("a天b", 2), "b");
        assert_eq!(cut("a天天b", 4, "…"), "a天…");
        assert_eq!(cut("abc", 3, "…"), "abc");
        assert_eq!(cut("abc", 0, "…"), "");
    }

    proptest! {
        #[test]
        fn clusters_are_those_of_the_standard(text in "([ -~]|[\r\n\t]|[e\u{301}\u{200d}👩💻🇩🇪한天\u{fe0f}]|\\PC){0,40}") {
            let expected: Vec<_> = text.graphemes(true).map(|cluster| (cluster, grapheme_width(cluster))).collect();
            prop_assert_eq!(clusters(&text).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn a_cut_fits_and_loses_nothing(text in "\\PC{0,40}", columns in 0usize..30) {
            let (head, rest) = split(&text, columns);
            prop_assert!(width(head) <= columns);
            prop_assert_eq!(format!("{head}{rest}"), text.clone());
            prop_assert!(width(tail(&text, columns)) <= columns);
            prop_assert!(width(&cut(&text, columns, "…")) <= columns.max(width(&text).min(columns)));
        }
    }
}
