//! Where an edit's old text stands in a file: a ladder of ways to compare, each looser than the one before.
//!
//! A looser way is tried only where all stricter ones found nothing; what it finds is never a guess between several.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem;

use super::fold::{Fold, Folded};
use super::numbers;

/// Places of one text that are told apart; each takes about 100 bytes while it is replaced.
pub const MOST_PLACES: usize = 1_000_000;

/// A file's content, and its folded forms where they were needed.
pub struct Source<'a> {
    /// The bytes as they are.
    pub content: &'a [u8],
    /// Whether any of its lines ends with `\r\n`.
    pub has_crlf: bool,
    line_ends: OnceCell<Folded>,
    blanks: OnceCell<Folded>,
}

/// How the old text was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Byte for byte.
    Exact,
    /// `\r\n` and `\n` are equal, and the end of the file ends a line.
    LineEnds,
    /// Also, runs of blanks are equal.
    Blanks,
}

/// Where an edit applies.
#[derive(Debug)]
pub struct Found<'a> {
    /// The bytes to replace, in order, not overlapping; at least one range.
    pub spans: Vec<Range<usize>>,
    /// How they were found.
    pub rung: Rung,
    /// Whether line numbers were taken off.
    pub numbered: bool,
    /// The old text, as it was compared.
    pub old: Cow<'a, str>,
    /// The new text that belongs to it.
    pub new: Cow<'a, str>,
}

/// Why an edit does not apply.
#[derive(Debug, PartialEq, Eq)]
pub enum Miss {
    /// Nothing is like it.
    Nowhere,
    /// It is there more than [`MOST_PLACES`] times.
    TooMany,
    /// It could be any of these; the starts of the matches.
    Several {
        /// How they were found.
        rung: Rung,
        /// First bytes of the matches.
        starts: Vec<usize>,
    },
}

/// How many places an edit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One; several are an error.
    One,
    /// All there are.
    All,
}

impl<'a> Source<'a> {
    /// The content of a file.
    pub fn new(content: &'a [u8]) -> Self {
        let has_crlf = memmem::find(content, b"\r\n").is_some();
        Self { content, has_crlf, line_ends: OnceCell::new(), blanks: OnceCell::new() }
    }

    fn folded(&self, fold: Fold) -> &Folded {
        let cell = match fold {
            Fold::LineEnds => &self.line_ends,
            Fold::Blanks => &self.blanks,
        };
        cell.get_or_init(|| Folded::new(self.content, fold))
    }

    fn folded_hits(&self, text: &str, fold: Fold) -> Vec<Range<usize>> {
        self.folded(fold).hits(&Folded::new(text.as_bytes(), fold), MOST_PLACES + 1)
    }
}

/// Finds the places where `old`, which is not empty, is to become `new`.
///
/// # Errors
///
/// Where no rung of the ladder gives the one place, or for [`Scope::All`] the exact places.
pub fn find<'e>(source: &Source<'_>, old: &'e str, new: &'e str, scope: Scope) -> Result<Found<'e>, Miss> {
    let stripped = numbers::strip(old, new);
    let plain = (Cow::Borrowed(old), Cow::Borrowed(new), false);
    let stripped = stripped.map(|(old, new)| (Cow::Owned(old), Cow::Owned(new), true));
    let spellings: Vec<_> = std::iter::once(plain).chain(stripped).collect();
    for (old, new, numbered) in &spellings {
        if let Some((spans, rung, trimmed)) = strict(source, old) {
            if spans.len() > MOST_PLACES {
                return Err(Miss::TooMany);
            }
            if spans.len() > 1 && scope == Scope::One {
                return Err(several(&spans, rung));
            }
            let (mut old, mut new) = (old.clone(), new.clone());
            if trimmed {
                (old, new) = (without_line_end(&old), without_line_end(&new));
            }
            return Ok(Found { spans, rung, numbered: *numbered, old, new });
        }
    }
    for (old, new, numbered) in spellings {
        if old.trim().is_empty() {
            continue;
        }
        let spans = source.folded_hits(&old, Fold::Blanks);
        match spans.len() {
            0 => {}
            1 => return Ok(Found { spans, rung: Rung::Blanks, numbered, old, new }),
            too_many if too_many > MOST_PLACES => return Err(Miss::TooMany),
            _ => return Err(several(&spans, Rung::Blanks)),
        }
    }
    Err(Miss::Nowhere)
}

/// The places of `old` but for line ends; whether its last line end was left out because the file has none there.
fn strict(source: &Source<'_>, old: &str) -> Option<(Vec<Range<usize>>, Rung, bool)> {
    let length = old.len();
    let exact = memmem::find_iter(source.content, old).take(MOST_PLACES + 1);
    let exact: Vec<_> = exact.map(|start| start..start + length).collect();
    let spells_crlf = old.contains("\r\n");
    if spells_crlf && !exact.is_empty() {
        return Some((exact, Rung::Exact, false));
    }
    if spells_crlf || old.contains('\n') && source.has_crlf {
        let loose = source.folded_hits(old, Fold::LineEnds);
        if loose.len() > exact.len() {
            return Some((loose, Rung::LineEnds, false));
        }
    }
    if !exact.is_empty() {
        return Some((exact, Rung::Exact, false));
    }
    let last_line = old.strip_suffix('\n').filter(|line| !line.trim().is_empty())?;
    let last_line = last_line.strip_suffix('\r').unwrap_or(last_line);
    let last = source.folded(Fold::LineEnds).at_end(&Folded::new(last_line.as_bytes(), Fold::LineEnds))?;
    Some((vec![last], Rung::LineEnds, true))
}

fn several(spans: &[Range<usize>], rung: Rung) -> Miss {
    Miss::Several { rung, starts: spans.iter().map(|span| span.start).collect() }
}

fn without_line_end<'e>(text: &Cow<'e, str>) -> Cow<'e, str> {
    let short = |text: &str| text.strip_suffix('\n').map_or(text.len(), |text| text.trim_end_matches('\r').len());
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(..short(text)).unwrap_or(text)),
        Cow::Owned(text) => Cow::Owned(text.get(..short(text)).unwrap_or(text).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Place = (Vec<(usize, usize)>, Rung, bool);

    fn find_one(content: &str, old: &str) -> Result<Place, Miss> {
        let found = find(&Source::new(content.as_bytes()), old, "new", Scope::One)?;
        let spans = found.spans.iter().map(|span| (span.start, span.end)).collect();
        Ok((spans, found.rung, found.numbered))
    }

    #[test]
    fn the_strictest_rung_that_finds_something_decides() {
        assert_eq!(find_one("a b\na\tb\n", "a b"), Ok((vec![(0, 3)], Rung::Exact, false)));
        assert_eq!(find_one("a\r\nb\r\n", "a\nb\n"), Ok((vec![(0, 6)], Rung::LineEnds, false)));
        assert_eq!(find_one("a\nb\n", "a\r\nb"), Ok((vec![(0, 3)], Rung::LineEnds, false)));
        assert_eq!(find_one("aa\nbb\n", "1\taa\n2\tbb"), Ok((vec![(0, 5)], Rung::Exact, true)));
        assert_eq!(find_one("a\tb\n", "a  b"), Ok((vec![(0, 3)], Rung::Blanks, false)));
        assert_eq!(find_one("a\tb\n", "7\ta  b"), Ok((vec![(0, 3)], Rung::Blanks, true)));
        assert_eq!(find_one("a\nlast", "last\n"), Ok((vec![(2, 6)], Rung::LineEnds, false)));
        assert_eq!(find_one("last\nb", "last x\n"), Err(Miss::Nowhere));
    }

    #[test]
    fn several_places_are_no_place() {
        let several = |rung, starts| Err(Miss::Several { rung, starts });
        assert_eq!(find_one("x = 1\ny\nx = 1\n", "x = 1"), several(Rung::Exact, vec![0, 8]));
        assert_eq!(find_one("a\tb\na  b", "a b"), several(Rung::Blanks, vec![0, 4]));
        assert_eq!(find_one("a\nb\r\na\r\nb", "a\nb"), several(Rung::LineEnds, vec![0, 5]), "also where one is exact");
        assert_eq!(find_one("\t\n \n", "  "), Err(Miss::Nowhere), "blanks alone are not folded");
        let source = Source::new(b"a\tb a  b");
        assert!(find(&source, "a b", "x", Scope::All).is_err(), "nor are all of them meant");
    }
}
