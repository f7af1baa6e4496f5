//! Files of one JSON object a line, read although they may be damaged.
//!
//! A crash can tear the last line, a file system can leave a run of NUL bytes where data should be, and a writer that
//! knew nothing of it can go on behind either on the same line. Whatever still is a whole object is found; the rest is
//! counted. Memory is bounded by the longest line. Nothing here writes.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::ops::Range;

use serde::de::{DeserializeOwned, IgnoredAny};

/// How every object begins that is looked for behind damage. A key that all records share and that comes first tells a
/// record from an object inside of one, together with what follows its end.
const START: &[u8] = br#"{"type":"#;
/// How often a damaged line may be gone over in search of whole objects. Every torn object costs one pass to its end at
/// most and they do not lie deep, so real damage stays far below; a hostile line still costs linear time.
const MAX_PASSES: usize = 16;

/// One object that could be read.
#[derive(Debug)]
pub struct Record<'a, T> {
    /// The object.
    pub value: T,
    /// Its text.
    pub text: &'a str,
    /// How many bytes stand before it in the file.
    pub offset: u64,
    /// Whether it was found next to damage. It may then be an object from inside of a torn record, and nothing that
    /// needs trust should rest on it.
    pub recovered: bool,
}

/// Reads the objects of a file in order.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    line: Vec<u8>,
    line_offset: u64,
    salvaged: VecDeque<Range<usize>>,
    end: u64,
    midline: bool,
    broken: usize,
}

impl<R: BufRead> Reader<R> {
    /// Reads from the source's position on, which counts as offset `offset`.
    pub fn new(source: R, offset: u64) -> Self {
        let (line, salvaged) = (Vec::new(), VecDeque::new());
        Self { source, line, line_offset: offset, salvaged, end: offset, midline: false, broken: 0 }
    }

    /// The next object that `T` accepts, which should be any object: what it refuses counts as damage.
    ///
    /// # Errors
    ///
    /// When the source cannot be read.
    pub fn read<T: DeserializeOwned>(&mut self) -> io::Result<Option<Record<'_, T>>> {
        self.read_by(|_| None)
    }

    /// As [`Reader::read`], but asks `short` first, which may say what `T` would make of a text without parsing it.
    ///
    /// # Errors
    ///
    /// As [`Reader::read`].
    pub fn read_by<T: DeserializeOwned>(
        &mut self,
        short: impl Fn(&str) -> Option<T>,
    ) -> io::Result<Option<Record<'_, T>>> {
        let parse = |line: &[u8], range: &Range<usize>| {
            let text = std::str::from_utf8(line.get(range.clone())?).ok()?;
            short(text).or_else(|| serde_json::from_str(text).ok())
        };
        let (value, range, recovered) = loop {
            if let Some(range) = self.salvaged.pop_front() {
                if let Some(value) = parse(&self.line, &range) {
                    break (value, range, true);
                }
                continue;
            }
            if !self.next_line()? {
                return Ok(None);
            }
            let range = trimmed(&self.line);
            if range.is_empty() {
                // A line of blanks is nothing; a line of NUL bytes was something.
                self.broken += usize::from(self.line.contains(&0));
                continue;
            }
            if let Some(value) = parse(&self.line, &range) {
                let padded = self.line.contains(&0);
                self.broken += usize::from(padded);
                break (value, range, padded);
            }
            self.broken += 1;
            // Without its line break, so that the parser counts no second line.
            self.salvaged = salvage(self.line.get(..range.end).unwrap_or_default());
        };
        let offset = self.line_offset + range.start as u64;
        let text = self.line.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        Ok(Some(Record { value, text, offset, recovered }))
    }

    /// How many damaged lines there were so far.
    pub fn broken(&self) -> usize {
        self.broken
    }

    /// Whether the last line read has no line break: what is appended must begin with one.
    pub fn midline(&self) -> bool {
        self.midline
    }

    fn next_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.line_offset = self.end;
        let read = self.source.read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(false);
        }
        self.end += read as u64;
        self.midline = !self.line.ends_with(b"\n");
        Ok(true)
    }
}

/// Reads single objects again whose place is known; cheap when they are asked for in the order of the file.
#[derive(Debug)]
pub struct Picker<R> {
    source: BufReader<R>,
    position: u64,
    line: Vec<u8>,
}

impl<R: Read + Seek> Picker<R> {
    /// Reads from `source`, whose position does not matter.
    ///
    /// # Errors
    ///
    /// When the source cannot be positioned.
    pub fn new(mut source: R) -> io::Result<Self> {
        source.rewind()?;
        Ok(Self { source: BufReader::with_capacity(BUFFER_BYTES, source), position: 0, line: Vec::new() })
    }

    /// The object that begins at `offset`; `None` where `T` does not accept it.
    ///
    /// # Errors
    ///
    /// When the source cannot be read.
    pub fn pick<T: DeserializeOwned>(&mut self, offset: u64) -> io::Result<Option<T>> {
        self.seek(offset)?;
        Ok(serde_json::Deserializer::from_slice(&self.line).into_iter().next().and_then(Result::ok))
    }

    /// The bytes of the object that begins at `offset`; none where there is no whole one.
    ///
    /// # Errors
    ///
    /// When the source cannot be read.
    pub fn bytes(&mut self, offset: u64) -> io::Result<&[u8]> {
        self.seek(offset)?;
        let mut objects = serde_json::Deserializer::from_slice(&self.line).into_iter::<IgnoredAny>();
        let length = match objects.next() {
            Some(Ok(_)) => objects.byte_offset(),
            Some(Err(_)) | None => 0,
        };
        Ok(self.line.get(..length).unwrap_or_default())
    }

    /// What stands from there to the end of its line.
    fn seek(&mut self, offset: u64) -> io::Result<()> {
        self.line.clear();
        self.source.seek_relative(offset.wrapping_sub(self.position).cast_signed())?;
        self.position = offset;
        self.position += self.source.read_until(b'\n', &mut self.line)? as u64;
        Ok(())
    }
}

/// A buffer that makes system calls rare and still fits into the processor's cache.
pub const BUFFER_BYTES: usize = 64 * 1024;

/// The line without blanks and NUL bytes at its ends.
fn trimmed(line: &[u8]) -> Range<usize> {
    let padding = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let start = line.iter().position(|byte| !padding(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !padding(byte)).map_or(start, |last| last + 1);
    start..end
}

/// The whole objects of a damaged line, outermost only.
fn salvage(line: &[u8]) -> VecDeque<Range<usize>> {
    let mut found = VecDeque::new();
    let mut at = 0;
    let mut budget = line.len().saturating_mul(MAX_PASSES);
    while budget > 0 {
        let rest = line.get(at..).unwrap_or_default();
        let Some(start) = rest.windows(START.len()).position(|window| window == START) else {
            break;
        };
        let start = at + start;
        let object = line.get(start..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_slice(object).into_iter::<IgnoredAny>();
        let (whole, read) = match stream.next() {
            Some(Ok(_)) => (true, stream.byte_offset()),
            // On the only line, the column is how far the parser came.
            Some(Err(error)) => (false, error.column()),
            None => (false, 0),
        };
        let end = start + read;
        budget = budget.saturating_sub(read.max(1));
        if whole && !is_inside(line.get(end..).unwrap_or_default()) {
            found.push_back(start..end);
            at = end;
        } else {
            at = start + 1;
        }
    }
    found
}

/// Whether what follows an object shows that it was part of a larger one.
fn is_inside(rest: &[u8]) -> bool {
    matches!(rest.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b',' | b']' | b'}' | b':' | b'"'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;
    use std::io::Cursor;

    fn objects(bytes: &[u8]) -> (Vec<i64>, usize, bool) {
        let mut reader = Reader::new(bytes, 0);
        let mut numbers = Vec::new();
        while let Some(record) = reader.read::<serde_json::Map<String, Value>>().unwrap() {
            let place = usize::try_from(record.offset).unwrap();
            assert_eq!(&bytes[place..place + record.text.len()], record.text.as_bytes());
            let mut picker = Picker::new(Cursor::new(bytes)).unwrap();
            assert_eq!(picker.bytes(record.offset).unwrap(), record.text.as_bytes());
            numbers.push(record.value.get("n").and_then(Value::as_i64).unwrap_or(-1));
        }
        (numbers, reader.broken(), reader.midline())
    }

    #[test]
    fn damage_never_swallows_its_neighbours() {
        let one = r#"{"type":"t","n":1,"c":[{"type":"x","y":"z"}]}"#;
        let two = r#"{"type":"t","n":2}"#;
        let torn = r#"{"type":"t","n":9,"c":[{"type":"x","y":"z"},{"type":"x","y":"to"#;
        let cases: [(String, &[i64], usize); 9] = [
            (format!("{one}\n{two}\n"), &[1, 2], 0),
            (format!("{one}\n\n  \n{two}"), &[1, 2], 0),
            (format!("{one}\n{torn}"), &[1], 1),
            (format!("{one}\n{torn}{two}\n"), &[1, 2], 1),
            (format!("\0\0\0{one}\n\0\0\n{two}\n"), &[1, 2], 2),
            (format!("{one}\0\0\0{two}\n"), &[1, 2], 1),
            (format!("{one}{two}\n"), &[1, 2], 1),
            (format!("garbage\n{one}\n[1,2]\n{two} tail\n"), &[1, 2], 3),
            (format!("{one}\n{}\n", r#"{"type":"t","n":"#.repeat(5000)), &[1], 1),
        ];
        for (text, expected, broken) in cases {
            let (numbers, counted, midline) = objects(text.as_bytes());
            assert_eq!((numbers.as_slice(), counted), (expected, broken), "{text:.200}");
            assert_eq!(midline, !text.ends_with('\n'));
        }
        assert_eq!(objects(b"{\"type\":\"\xff\",\"n\":1}\n{\"n\":2}\n").0, [2]);
    }

    #[test]
    fn objects_are_picked_in_any_order() {
        let text = "{\"n\":1}\n\0\0{\"n\":22}{\"n\":3}\n{\"n\":4";
        let mut picker = Picker::new(Cursor::new(text)).unwrap();
        for (offset, expected) in
            [(10, "{\"n\":22}"), (0, "{\"n\":1}"), (18, "{\"n\":3}"), (0, "{\"n\":1}"), (26, ""), (99, ""), (8, "")]
        {
            assert_eq!(picker.bytes(offset).unwrap(), expected.as_bytes());
            assert_eq!(picker.pick::<Value>(offset).unwrap(), serde_json::from_str(expected).ok());
        }
    }

    proptest! {
        #[test]
        fn a_cut_costs_one_record_at_most(count in 1i64..8, cut in 0usize..400) {
            let lines: Vec<_> = (0..count).map(|n| format!(r#"{{"type":"t","n":{n},"c":[{{"type":"text"}}]}}"#)).collect();
            let text = lines.join("\n") + "\n";
            let cut = cut.min(text.len());
            let whole = i64::try_from(text[..cut].matches('\n').count()).unwrap();
            // Torn at `cut`, and written on right there by someone who did not look.
            let (numbers, _, _) = objects(format!("{}{}\n", &text[..cut], r#"{"type":"t","n":77}"#).as_bytes());
            let ours: Vec<_> = numbers.into_iter().filter(|number| *number >= 0).collect();
            prop_assert_eq!(ours.last(), Some(&77));
            prop_assert!((0..whole).all(|n| ours.contains(&n)));
        }

        #[test]
        fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            objects(&bytes);
        }
    }
}
