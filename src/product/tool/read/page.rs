//! Collecting the lines of a file that were asked for, while all of it streams by.
//!
//! Memory is bounded by what is kept and one line; it never seeks, and knows no paths.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::Hasher as _;
use std::io::{BufRead, ErrorKind, Result};

use twox_hash::XxHash3_64;

use crate::base::cancel::Cancel;
use crate::base::text::visible;
use crate::kernel::tool::{Captured, Gap, Limits};

/// Bytes of one line that are kept; the rest of a longer one is dropped and said to be.
const LINE_BYTES: usize = 10_000_000;
/// The mark that says that what follows is UTF-8; not part of the first line.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Which lines are wanted, and how much of them.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The first line, from 1.
    pub first: u64,
    /// How many at most.
    pub count: u64,
    /// What is kept of them.
    pub room: Room,
}

/// How much of the wanted lines is kept.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// As many whole lines from the first as this holds; one in any case.
    Start(Limits),
    /// Both ends, of so many characters and the rest of a line each.
    Ends(usize),
}

/// The lines that were wanted, numbered: `12<tab>text`, without the last line end.
#[derive(Debug, Default)]
pub struct Page {
    /// Their beginning; all of them, where the room sufficed.
    head: String,
    head_chars: usize,
    dropped: Gap,
    /// The end of them: pieces of one line break and one line each.
    tail: VecDeque<Piece>,
    tail_chars: usize,
    /// Lines, those in the gap as well.
    pub lines: u64,
    /// Whether the room ended it.
    pub full: bool,
    /// Whether something in it was not UTF-8.
    pub lossy: bool,
    /// Whether a line was so long that its rest was dropped.
    pub clipped: bool,
}

#[derive(Debug)]
struct Piece {
    text: String,
    chars: usize,
}

impl Page {
    /// Characters, those in the gap as well.
    pub fn chars(&self) -> usize {
        self.head_chars + self.tail_chars + usize::try_from(self.dropped.chars).unwrap_or(usize::MAX)
    }

    /// The text, with a gap where the middle was dropped.
    pub fn into_text(self) -> Captured {
        let tail = self.tail.into_iter().map(|piece| piece.text);
        let mut head = self.head;
        if self.dropped.chars == 0 {
            head.extend(tail);
            return Captured::whole(head);
        }
        Captured { head, gap: Some(self.dropped), tail: tail.collect() }
    }

    fn push(&mut self, line: &str, chars: usize, room: Room) {
        let is_head = match room {
            Room::Start(_) => true,
            Room::Ends(keep) => self.lines == 0 || self.head_chars < keep,
        };
        if is_head {
            self.head.push_str(line);
            self.head_chars += chars;
            return;
        }
        self.tail.push_back(Piece { text: line.to_owned(), chars });
        self.tail_chars += chars;
        let Room::Ends(keep) = room else {
            return;
        };
        while self.tail.front().is_some_and(|first| self.tail_chars - first.chars >= keep)
            && let Some(first) = self.tail.pop_front()
        {
            self.tail_chars -= first.chars;
            self.dropped.chars += first.chars as u64;
            self.dropped.line_breaks += 1;
        }
    }
}

/// What is known of a whole file after it streamed by.
#[derive(Debug)]
pub struct Scan {
    /// As [`crate::product::tool::seen::hash`] of its bytes.
    pub hash: u64,
    /// Its lines; a last one without a line end counts.
    pub lines: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Reads `source` to its end. `None` where the call was cancelled before.
///
/// # Errors
///
/// The source's own.
pub fn read(source: &mut dyn BufRead, wanted: Wanted, cancel: &Cancel) -> Result<Option<(Page, Scan)>> {
    let mut reader = Reader { wanted, page: Page::default(), line: Vec::new(), number: 1, open: false };
    let mut hasher = XxHash3_64::with_seed(0);
    let mut bytes = 0;
    loop {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let chunk = match source.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            break;
        }
        hasher.write(chunk);
        reader.feed(chunk);
        let length = chunk.len();
        bytes += length as u64;
        source.consume(length);
    }
    if reader.open {
        reader.end_line();
    }
    Ok(Some((reader.page, Scan { hash: hasher.finish(), lines: reader.number - 1, bytes })))
}

/// Reads `source` to its end, and shows nothing of it.
///
/// # Errors
///
/// The source's own.
pub fn scan(source: &mut dyn BufRead) -> Result<Scan> {
    let nothing = Wanted { first: 1, count: 0, room: Room::Ends(0) };
    // Nobody can cancel it.
    let found = read(source, nothing, &Cancel::new())?;
    found.map(|(_, scan)| scan).ok_or_else(|| ErrorKind::Interrupted.into())
}

struct Reader {
    wanted: Wanted,
    page: Page,
    /// The beginning of the current line, where it is wanted.
    line: Vec<u8>,
    /// The current line, from 1.
    number: u64,
    /// Whether the current line has begun.
    open: bool,
}

impl Reader {
    fn feed(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            if self.number >= self.wanted.first && !self.is_wanted() {
                // Nothing more is shown: only counted.
                self.number += memchr::memchr_iter(b'\n', chunk).count() as u64;
                self.open = chunk.last() != Some(&b'\n');
                return;
            }
            let end = memchr::memchr(b'\n', chunk);
            let (piece, rest) = chunk.split_at(end.unwrap_or(chunk.len()));
            self.open = true;
            if self.is_wanted() {
                let room = LINE_BYTES - self.line.len();
                self.page.clipped |= piece.len() > room;
                self.line.extend_from_slice(piece.get(..room).unwrap_or(piece));
            }
            if end.is_some() {
                self.end_line();
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
    }

    fn is_wanted(&self) -> bool {
        let Wanted { first, count, room: _ } = self.wanted;
        !self.page.full && self.number >= first && self.number - first < count
    }

    fn end_line(&mut self) {
        if self.is_wanted() {
            self.take_line();
            self.line.clear();
        }
        self.number += 1;
        self.open = false;
    }

    fn take_line(&mut self) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let line = if self.number == 1 { line.strip_prefix(MARK).unwrap_or(line) } else { line };
        let text = String::from_utf8_lossy(line);
        let mut shown = if self.page.lines > 0 { "\n".to_owned() } else { String::new() };
        shown.push_str(&self.number.to_string());
        shown.push('\t');
        visible::push(&text, &mut shown);
        let chars = shown.chars().count();
        let page = &mut self.page;
        if let Room::Start(Limits { chars: most_chars, lines: most_lines }) = self.wanted.room
            && page.lines > 0
            && (page.head_chars + chars > most_chars || page.lines >= most_lines as u64)
        {
            page.full = true;
            return;
        }
        page.lossy |= matches!(text, Cow::Owned(_));
        page.push(&shown, chars, self.wanted.room);
        page.lines += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::tool::seen;
    use proptest::prelude::*;
    use std::io::BufReader;

    const ALL: Wanted = Wanted { first: 1, count: u64::MAX, room: Room::Ends(usize::MAX) };

    fn page(content: &[u8], capacity: usize, wanted: Wanted) -> (Page, Scan) {
        read(&mut BufReader::with_capacity(capacity, content), wanted, &Cancel::new()).unwrap().unwrap()
    }

    #[test]
    fn line_ends_and_marks_are_not_shown() {
        let (page, scan) = page(b"\xef\xbb\xbfone\r\n\n\xfftwo", 3, ALL);
        assert!(page.lossy && !page.full && !page.clipped);
        assert_eq!((page.lines, page.chars(), scan.lines, scan.bytes), (3, 15, 3, 13));
        assert_eq!(page.into_text(), Captured::whole("1\tone\n2\t\n3\t\u{fffd}two"));
    }

    #[test]
    fn the_first_line_is_shown_whatever_its_length() {
        let content = format!("{}\nb\n", "a".repeat(100));
        let room = Room::Start(Limits { chars: 10, lines: 10 });
        let (page, scan) = page(content.as_bytes(), 7, Wanted { room, ..ALL });
        assert!(page.full);
        assert_eq!(page.into_text(), Captured::whole(format!("1\t{}", "a".repeat(100))));
        assert_eq!(scan.lines, 2);
    }

    #[test]
    fn a_cancelled_call_reads_no_further() {
        let cancel = Cancel::new();
        cancel.cancel();
        let mut endless = BufReader::new(std::io::repeat(b'a'));
        assert!(read(&mut endless, ALL, &cancel).unwrap().is_none());
    }

    proptest! {
        #[test]
        fn a_range_is_what_the_lines_say(
            content in "[ab\r\n]{0,60}", capacity in 1usize..9, first in 1u64..8, count in 1u64..5,
            chars in 1usize..40, lines in 1usize..6,
        ) {
            let room = Room::Start(Limits { chars, lines });
            let (page, scan) = page(content.as_bytes(), capacity, Wanted { first, count, room });
            let all: Vec<&str> = content.split_terminator('\n').collect();
            prop_assert_eq!(scan.lines, all.len() as u64);
            prop_assert_eq!(scan.hash, seen::hash(content.as_bytes()));
            prop_assert!(page.lines <= 1 || page.chars() <= chars && page.lines as usize <= lines);
            let expected: Vec<String> = all.iter().enumerate().skip(first as usize - 1).take(page.lines as usize)
                .map(|(number, line)| format!("{}\t{}", number + 1, visible::line(line.strip_suffix('\r').unwrap_or(line))))
                .collect();
            let available = (all.len() as u64).saturating_sub(first - 1).min(count);
            prop_assert_eq!(page.full, page.lines < available);
            prop_assert_eq!(page.chars(), page.head.chars().count());
            prop_assert_eq!(page.into_text(), Captured::whole(expected.join("\n")));
        }

        #[test]
        fn both_ends_and_the_gap_are_the_whole(content in "[abß\n]{0,120}", keep in 0usize..60) {
            let (whole, _) = page(content.as_bytes(), 8, ALL);
            let (page, _) = page(content.as_bytes(), 8, Wanted { room: Room::Ends(keep), ..ALL });
            let (all, chars) = (whole.into_text().head, page.chars());
            prop_assert_eq!(chars, all.chars().count());
            let Captured { head, gap, tail } = page.into_text();
            let Gap { chars, line_breaks } = gap.unwrap_or_default();
            prop_assert!(all.starts_with(&head) && all.ends_with(&tail));
            let middle = &all[head.len()..all.len() - tail.len()];
            prop_assert_eq!(chars, middle.chars().count() as u64);
            prop_assert_eq!(line_breaks, middle.matches('\n').count() as u64);
            if gap.is_some() {
                prop_assert!(head.chars().count() >= keep && tail.chars().count() >= keep);
            }
        }
    }
}
