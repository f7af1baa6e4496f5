//! Why an old text was not found: the lines that are most like it, and what differs, in visible words.
//!
//! It looks at lines without their blanks and case; its work is bounded by the file's size, not by its square.

use std::collections::{HashMap, HashSet};

use crate::base::text::{cut, visible};

/// Bytes of a file that are searched, so that an answer takes about 0.1 s at most.
pub const SEARCHED_BYTES: usize = 2_000_000;
/// Lines that are shown.
const SHOWN_LINES: usize = 12;
/// Lines that are shown around the nearest ones.
const AROUND: usize = 1;
/// Characters that are shown of a line.
const SHOWN_CHARS: usize = 300;
/// Lines of the old text that equal a line of the file, of which each is followed: `}` equals too many.
const MOST_EQUAL: usize = 16;
/// How alike the nearest line has to be to be shown, from 0 to 1.
const NEAR: f64 = 0.4;

/// The region of `content` most like `old`, numbered, and the first difference. `None` where nothing is like it.
pub fn explain(content: &[u8], old: &str) -> Option<String> {
    let searched = content.get(..SEARCHED_BYTES).unwrap_or(content);
    let lines: Vec<&[u8]> = searched.split(|byte| *byte == b'\n').collect();
    let old: Vec<&str> =
        old.strip_suffix('\n').unwrap_or(old).split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let start = by_equal_lines(&lines, &old).or_else(|| by_like_line(&lines, &old))?;
    let shown = |line: usize| lines.get(line).map(|line| text_of(line));
    let different = (0..old.len()).find(|at| shown(start + at).as_deref() != old.get(*at).copied());
    let at = different.unwrap_or(0);
    let first = (start + at.saturating_sub(SHOWN_LINES / 2)).saturating_sub(AROUND);
    let last = (start + old.len() + AROUND).min(first + SHOWN_LINES);
    let mut text = String::new();
    for number in first..last.min(lines.len()) {
        // What follows the last line end is no line.
        if let Some(line) = shown(number).filter(|line| number + 1 < lines.len() || !line.is_empty()) {
            text.push_str(&format!("{}\t", number + 1));
            visible::push(&cut::ellipsis(&line, SHOWN_CHARS), &mut text);
            text.push('\n');
        }
    }
    let wanted = old.get(at).copied().unwrap_or_default();
    let reason = match (different, shown(start + at)) {
        (Some(_), Some(line)) => format!("line {}: {}", start + at + 1, difference(&line, wanted)),
        (Some(_), None) => format!("the file ends after line {}, before old_text does", lines.len()),
        (None, _) => "the lines are equal; what comes before or after them is not".to_owned(),
    };
    Some(format!("{text}{reason}"))
}

fn text_of(line: &[u8]) -> String {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned()
}

/// A line without its blanks and case.
fn essence(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Where the old text would begin so that most of its lines, weighed by length, meet an equal one.
fn by_equal_lines(lines: &[&[u8]], old: &[&str]) -> Option<usize> {
    let mut wanted: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, line) in old.iter().enumerate() {
        let places = wanted.entry(essence(line)).or_default();
        if places.len() < MOST_EQUAL {
            places.push(number);
        }
    }
    wanted.remove("");
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        let essence = essence(&String::from_utf8_lossy(line));
        for place in wanted.get(&essence).into_iter().flatten() {
            if let Some(start) = number.checked_sub(*place) {
                *votes.entry(start).or_default() += essence.len();
            }
        }
    }
    votes.into_iter().max_by_key(|(start, weight)| (*weight, std::cmp::Reverse(*start))).map(|(start, _)| start)
}

/// Where the old text would begin so that its longest line meets the one most like it.
fn by_like_line(lines: &[&[u8]], old: &[&str]) -> Option<usize> {
    let essences: Vec<String> = old.iter().map(|line| essence(line)).collect();
    let (place, longest) = essences.iter().enumerate().max_by_key(|(_, essence)| essence.len())?;
    let pairs = |text: &str| text.as_bytes().windows(2).map(|pair| (pair[0], pair[1])).collect::<HashSet<_>>();
    let wanted = pairs(longest);
    let mut best = (NEAR, None);
    for (number, line) in lines.iter().enumerate() {
        let found = pairs(&essence(&String::from_utf8_lossy(line)));
        let all = wanted.len() + found.len();
        // Sorensen and Dice: twice what both have, over what there is.
        let likeness = if all == 0 { 0.0 } else { 2.0 * wanted.intersection(&found).count() as f64 / all as f64 };
        if likeness > best.0 {
            best = (likeness, Some(number.saturating_sub(place)));
        }
    }
    best.1
}

/// The first difference between a line of the file and one of the old text, which are not equal.
fn difference(line: &str, wanted: &str) -> String {
    if line.trim_end() == wanted.trim_end() {
        let blanks = |text: &str| text.chars().count() - text.trim_end().chars().count();
        return format!("the file's line ends with {} blanks, old_text's with {}", blanks(line), blanks(wanted));
    }
    let mut column = 1;
    let (mut file, mut old) = (line.chars(), wanted.chars());
    let (here, there) = loop {
        let pair = (file.next(), old.next());
        if pair.0 != pair.1 {
            break pair;
        }
        column += 1;
    };
    let named = |c: Option<char>| c.map_or_else(|| "the end of the line".to_owned(), name);
    let (here, there) = (named(here), named(there));
    let case = if line.to_lowercase() == wanted.to_lowercase() { "; they differ only in case" } else { "" };
    format!("at column {column} the file has {here}, old_text has {there}{case}")
}

/// A character by a name that a reader can tell from others: `a tab`, `U+00A0 (no-break space)`, `x`, `é (U+00E9)`.
fn name(c: char) -> String {
    let code = u32::from(c);
    match c {
        '\t' => "a tab".to_owned(),
        ' ' => "a space".to_owned(),
        '\u{a0}' => "U+00A0 (no-break space)".to_owned(),
        '\u{feff}' => "U+FEFF (byte order mark)".to_owned(),
        '\u{200b}' => "U+200B (zero-width space)".to_owned(),
        c if c.is_ascii_graphic() => format!("`{c}`"),
        c if c.is_control() || c.is_whitespace() => format!("U+{code:04X}"),
        c => format!("{c} (U+{code:04X})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "fn one() {\n\treturn 1;\n}\n\nfn two() {\n\tlet a =\u{a0}2;\n\treturn A;  \n}\n";

    #[test]
    fn the_reason_is_visible() {
        let explain = |old| explain(FILE.as_bytes(), old).unwrap();
        let lines = "4\t\n5\tfn two() {\n6\t\tlet a =\u{a0}2;\n7\t\treturn A;  \n";
        let reason = "line 6: at column 9 the file has U+00A0 (no-break space), old_text has a space";
        assert_eq!(explain("fn two() {\n\tlet a = 2;\n"), format!("{lines}{reason}"));
        assert!(
            explain("fn two() {\n    let b").ends_with("line 6: at column 1 the file has a tab, old_text has a space")
        );
        assert!(explain("\treturn A;\n}").ends_with("line 7: the file's line ends with 2 blanks, old_text's with 0"));
        assert!(
            explain("\treturn a;  ").ends_with("column 9 the file has `A`, old_text has `a`; they differ only in case")
        );
        assert!(explain("\treturn 15;").ends_with("line 2: at column 10 the file has `;`, old_text has `5`"));
        assert!(explain("}\n\nfn three() {").contains("5\tfn two() {"));
        assert_eq!(super::explain(b"alpha\n", "0123456789"), None);
        assert_eq!(super::explain(b"", "x"), None);
    }

    #[test]
    fn characters_have_names() {
        assert_eq!(['\u{2009}', 'é', '\u{7}', 'x'].map(name), ["U+2009", "é (U+00E9)", "U+0007", "`x`"]);
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let file = format!("{}\n", "x".repeat(5_000)).repeat(1_000);
        let text = explain(file.as_bytes(), &format!("{}y\n", "x".repeat(5_000)).repeat(1_000)).unwrap();
        assert!(text.len() < 5_000);
    }

    proptest! {
        #[test]
        fn anything_can_be_explained(content in proptest::collection::vec(any::<u8>(), 0..60), old in "[ab }\t\r\n\u{a0}]{1,20}") {
            let _ = explain(&content, &old);
        }
    }
}
