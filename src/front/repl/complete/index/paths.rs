//! Many paths in little memory, and the search among them. No files, no threads.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::front::repl::complete::rank::{Of, Ranker, bits, bits_of};

/// Paths between two looks at whether the answer is still wanted.
const BREATH: usize = 2048;
/// How many of the best by a quick look are compared more closely.
const CLOSER: usize = 1024;
/// Letters in a file's own name count for more than letters in its folders: by one in this many.
const NAME_SHARE: u32 = 4;
/// Bytes of all paths together: beyond, no more are kept.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// A set of paths, relative to the same folder, those of folders with a slash at the end.
#[derive(Debug, Default)]
pub struct Paths {
    text: String,
    /// Where each ends in `text`.
    ends: Vec<u32>,
    /// [`bits_of`] each.
    bits: Vec<u64>,
    /// [`bits_of`] the last part of each.
    names: Vec<u64>,
    /// How deep each lies: 255 is deeper than anybody looks.
    depths: Vec<u8>,
    narrowed: Narrowed,
}

/// What fitted the last query: whoever types on needs to look at no more.
#[derive(Debug, Default)]
struct Narrowed {
    query: String,
    /// Numbers of the paths that fitted, of the first `seen` ones.
    fitting: Vec<u32>,
    seen: usize,
}

/// A path that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored<'a> {
    /// The path.
    pub path: &'a str,
    /// How well it fits.
    pub score: u32,
}

/// The best paths, and how many fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best<'a> {
    /// Best first.
    pub paths: Vec<Scored<'a>>,
    /// All that fit.
    pub total: usize,
}

impl Paths {
    /// Adds a path, as long as there is room.
    pub fn push(&mut self, path: &str) {
        let end = self.text.len() + path.len();
        if let (true, Ok(end)) = (end <= MOST_BYTES, u32::try_from(end)) {
            self.text.push_str(path);
            self.ends.push(end);
            self.bits.push(bits_of(path));
            self.names.push(bits_of(name(path)));
            self.depths.push(u8::try_from(depth(path)).unwrap_or(u8::MAX));
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let begin = number.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        let end = self.ends.get(number).map_or(begin, |end| *end as usize);
        self.text.get(begin..end).unwrap_or_default()
    }

    /// The best `most` for a query; `None` where the answer is no longer wanted. Of those that fit alike, the ones used
    /// last come first, then the ones that lie higher.
    pub fn best(
        &mut self,
        query: &str,
        used: &VecDeque<String>,
        most: usize,
        is_wanted: impl Fn() -> bool,
    ) -> Option<Best<'_>> {
        let mut ranker = Ranker::new(query, Of::Paths);
        let mut fitting = self.fitting(query, &mut ranker, is_wanted)?;
        let total = fitting.len();
        let closer = CLOSER.max(most);
        let mut known = Vec::new();
        if total > closer {
            // What was used is compared in any case: it may come first among very many that fit alike.
            known = fitting.iter().map(|(_, number)| *number).filter(|number| self.is_used(*number, used)).collect();
            fitting.select_nth_unstable_by(closer, |(one, number), (other, next)| {
                one.cmp(other).then_with(|| self.get(*number).cmp(self.get(*next)))
            });
            fitting.truncate(closer);
        }
        let mut numbers: Vec<_> = fitting.into_iter().map(|(_, number)| number).chain(known).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let scored = numbers.into_iter().filter_map(|number| {
            let path = self.get(number);
            Some(Scored { path, score: score(path, &mut ranker)? })
        });
        let mut paths: Vec<_> = scored.collect();
        paths.sort_unstable_by(|one, other| compare(*one, *other, query, used));
        paths.truncate(most);
        Some(Best { paths, total })
    }

    fn is_used(&self, number: u32, used: &VecDeque<String>) -> bool {
        !used.is_empty() && used.iter().any(|known| known == self.get(number))
    }

    /// Each path that fits, with a key by which the best come first: how well it fits at a quick look, then how high it
    /// lies, then its length.
    fn fitting(&mut self, query: &str, ranker: &mut Ranker, is_wanted: impl Fn() -> bool) -> Option<Vec<(u64, u32)>> {
        let wanted = bits(query);
        let Narrowed { query: before, fitting, seen } = std::mem::take(&mut self.narrowed);
        // A backslash may mean the space that follows it.
        let narrower = query.starts_with(&before) && !query.contains('\\');
        let (known, from) = if narrower { (fitting, seen) } else { (Vec::new(), 0) };
        let new = u32::try_from(from).unwrap_or(u32::MAX)..u32::try_from(self.len()).unwrap_or(u32::MAX);
        let mut found = Vec::with_capacity(known.len());
        for (count, number) in known.into_iter().chain(new).enumerate() {
            if count.is_multiple_of(BREATH) && !is_wanted() {
                return None;
            }
            let at = number as usize;
            if self.bits.get(at).is_none_or(|bits| wanted & !bits != 0) {
                continue;
            }
            let path = self.get(number);
            let may_be_name = self.names.get(at).is_some_and(|bits| wanted & !bits == 0);
            let of_name = if may_be_name { ranker.quick(name(path)) } else { None };
            // A name that fits makes for more than letters from all over the path.
            let score = of_name.map(|score| score + score / NAME_SHARE).or_else(|| ranker.quick(path));
            let Some(score) = score else { continue };
            let length = if query.is_empty() { 0 } else { path.len().min(0xff_ffff) as u64 };
            let depth = u64::from(self.depths.get(at).copied().unwrap_or(u8::MAX));
            found.push((u64::from(u32::MAX - score) << 32 | depth << 24 | length, number));
        }
        let fitting = found.iter().map(|(_, number)| *number).collect();
        self.narrowed = Narrowed { query: query.to_owned(), fitting, seen: self.len() };
        Some(found)
    }
}

/// How well a path fits: better where its own name does, which stands behind the last slash.
pub fn score(path: &str, ranker: &mut Ranker) -> Option<u32> {
    let of_path = ranker.score(path)?;
    let of_name = ranker.score(name(path)).map_or(0, |score| score + score / NAME_SHARE);
    Some(of_path.max(of_name))
}

fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

fn depth(path: &str) -> usize {
    path.trim_end_matches('/').bytes().filter(|byte| *byte == b'/').count()
}

/// Which of two paths comes first.
pub fn compare(one: Scored<'_>, other: Scored<'_>, query: &str, used: &VecDeque<String>) -> Ordering {
    let last = |path: &str| used.iter().position(|known| known == path).unwrap_or(usize::MAX);
    // Without a query the paths are a listing.
    let length = |path: &str| if query.is_empty() { 0 } else { path.len() };
    other
        .score
        .cmp(&one.score)
        .then_with(|| last(one.path).cmp(&last(other.path)))
        .then_with(|| depth(one.path).cmp(&depth(other.path)))
        .then_with(|| length(one.path).cmp(&length(other.path)))
        .then_with(|| one.path.cmp(other.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(paths: &[&str]) -> Paths {
        let mut all = Paths::default();
        paths.iter().for_each(|path| all.push(path));
        all
    }

    fn best(paths: &mut Paths, query: &str) -> Vec<String> {
        let best = paths.best(query, &VecDeque::new(), 10, || true).unwrap();
        best.paths.iter().map(|scored| scored.path.to_owned()).collect()
    }

    #[test]
    fn the_best_come_first() {
        let mut paths = of(&["main/a.rs", "src/domain.rs", "src/main.rs", "src/x/main.rs", "src/", "docs/readme.md"]);
        assert_eq!(best(&mut paths, "main"), ["src/main.rs", "src/x/main.rs", "main/a.rs", "src/domain.rs"]);
        assert_eq!(best(&mut paths, "sxma"), ["src/x/main.rs"]);
        assert_eq!(
            best(&mut paths, ""),
            ["src/", "docs/readme.md", "main/a.rs", "src/domain.rs", "src/main.rs", "src/x/main.rs"]
        );
        let used = VecDeque::from(["src/x/main.rs".to_owned(), "src/main.rs".to_owned()]);
        let best = paths.best("main", &used, 1, || true).unwrap();
        assert_eq!((best.paths[0].path, best.total), ("src/x/main.rs", 4));
        assert_eq!(paths.best("main", &used, 1, || false), None);
    }

    proptest! {
        #[test]
        fn typing_on_finds_what_a_fresh_search_finds(
            paths in prop::collection::vec("[a-cA-B/.ä ]{1,8}", 0..30),
            more in prop::collection::vec("[a-c/]{1,8}", 0..10),
            query in "[a-cA/ä\\\\ ]{0,4}",
        ) {
            let mut slow = of(&paths.iter().chain(&more).map(String::as_str).collect::<Vec<_>>());
            let mut fast = of(&paths.iter().map(String::as_str).collect::<Vec<_>>());
            let halfway: String = query.chars().take(query.chars().count() / 2).collect();
            best(&mut fast, &halfway);
            more.iter().for_each(|path| fast.push(path));
            prop_assert_eq!(best(&mut fast, &query), best(&mut slow, &query));
        }
    }
}
