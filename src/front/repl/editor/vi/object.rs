//! What vi's text objects hold: words, quotes, brackets around the caret.

use std::ops::Range;

use super::motion::{Class, class, line, run_end, run_start};
use super::parse::{Object, ObjectKind, Words};
use crate::front::repl::editor::segment;

/// The object around `caret`; nothing if there is none.
pub fn range(text: &str, caret: usize, object: Object, count: usize) -> Option<Range<usize>> {
    match object.kind {
        ObjectKind::Word(words) => word(text, caret, words, object.around, count),
        ObjectKind::Quote(quote) => quoted(text, caret, quote, object.around),
        ObjectKind::Pair(open, close) => enclosed(text, caret, (open, close), object.around, count),
    }
}

/// So many words, or the blanks between them; around one there are the blanks behind it, or else before it.
fn word(text: &str, caret: usize, words: Words, around: bool, count: usize) -> Option<Range<usize>> {
    let line = line(text, caret);
    if line.is_empty() {
        return None;
    }
    let run_after = |at| segment::next(text, run_end(text, at, words)).min(line.end);
    let is_blank = |at| class(text, at, words) == Class::Blank;
    let mut start = run_start(text, caret, words).max(line.start);
    let mut end = start;
    let begins_blank = is_blank(start);
    for _ in 0..count.max(1) {
        if end >= line.end {
            break;
        }
        end = run_after(end);
        if around && end < line.end && (begins_blank || is_blank(end)) {
            end = run_after(end);
        }
    }
    let blank_behind = end > start && is_blank(segment::previous(text, end));
    if around && !begins_blank && !blank_behind && start > line.start {
        let before = segment::previous(text, start);
        start = if is_blank(before) { run_start(text, before, words).max(line.start) } else { start };
    }
    Some(start..end)
}

/// Between the quotes of the caret's line that are around it, or the first after it. A backslash hides a quote.
fn quoted(text: &str, caret: usize, quote: char, around: bool) -> Option<Range<usize>> {
    let line = line(text, caret);
    let mut hidden = false;
    let letters = text.get(line.clone())?.char_indices();
    let quotes = letters.filter_map(|(offset, letter)| {
        let counts = letter == quote && !hidden;
        hidden = letter == '\\' && !hidden;
        counts.then_some(line.start + offset)
    });
    let quotes: Vec<usize> = quotes.collect();
    let pairs = quotes.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
    let (open, close) = pairs.into_iter().find(|(_, close)| caret <= *close)?;
    if !around {
        return Some(open + quote.len_utf8()..close);
    }
    let behind = segment::after(text, close + quote.len_utf8());
    let rest = behind.trim_start_matches([' ', '\t']);
    let end = text.len() - rest.len();
    if rest.len() < behind.len() {
        return Some(open..end);
    }
    let head = text.get(line.start..open)?.trim_end_matches([' ', '\t']);
    Some(line.start + head.len()..end)
}

/// Between the brackets around the caret, the `count`th pair from within.
fn enclosed(text: &str, caret: usize, (open, close): (char, char), around: bool, count: usize) -> Option<Range<usize>> {
    let on_close = segment::after(text, caret).starts_with(close);
    let head = segment::before(text, if on_close { caret } else { segment::next(text, caret) });
    let start = unmatched(head.char_indices().rev(), close, open, count)?;
    let inner = start + open.len_utf8();
    let behind = segment::after(text, inner).char_indices();
    let end = inner + unmatched(behind, open, close, 1)?;
    Some(if around { start..end + close.len_utf8() } else { inner..end })
}

/// The `count`th bracket `wanted` that no bracket `other` before it belongs to.
fn unmatched(letters: impl Iterator<Item = (usize, char)>, other: char, wanted: char, count: usize) -> Option<usize> {
    let mut depth = count;
    for (at, letter) in letters {
        if letter == other {
            depth += 1;
        } else if letter == wanted {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}
