//! Reads server-sent events out of a stream of bytes, however it is cut: bytes in, frames out.
//!
//! Pure: it knows neither the connection the bytes come from nor what the frames mean. Of the fields it keeps `event`
//! and `data`; `id` and `retry` serve reconnecting, which nobody does here.

/// How long a line, or the data of one event, may be: a model's whole answer in one piece fits many times over, and a
/// server that never ends a line cannot fill the memory.
pub const LIMIT_BYTES: usize = 32 << 20;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The `event` field; empty where the server names none.
    pub event: &'a str,
    /// The `data` lines, joined by line feeds. Bytes that are not UTF-8 are replaced.
    pub data: &'a str,
}

/// A line or an event is longer than [`LIMIT_BYTES`], or than the limit given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Cuts bytes into frames as <https://html.spec.whatwg.org/multipage/server-sent-events.html> says, except that an
/// event is also complete when the stream ends.
#[derive(Debug)]
pub struct Reader {
    limit: usize,
    /// What has not become a line yet begins at `start`.
    buffer: Vec<u8>,
    start: usize,
    /// Up to here there is no line end; so a long line is searched once, not once a piece.
    searched: usize,
    first_line: bool,
    /// A carriage return ended the last line; a line feed right after it belongs to it.
    after_return: bool,
    ended: bool,
    /// The frame handed out last is still in `event` and `data`.
    delivered: bool,
    event: String,
    data: String,
    has_data: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Self::with_limit(LIMIT_BYTES)
    }
}

impl Reader {
    /// A reader that refuses longer lines and events than this many bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            first_line: true,
            after_return: false,
            ended: false,
            delivered: false,
            event: String::new(),
            data: String::new(),
            has_data: false,
        }
    }

    /// Takes more of the stream; [`Reader::frame`] then yields what became complete.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Says that the stream has ended: a last line needs no line end, a last event no blank line.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// The next complete frame, if there is one.
    ///
    /// # Errors
    ///
    /// [`TooLong`]; the stream cannot be read any further.
    pub fn frame(&mut self) -> Result<Option<Frame<'_>>, TooLong> {
        if self.delivered {
            self.delivered = false;
            self.reset();
        }
        while let Some((from, to)) = self.line()? {
            if from < to {
                self.field(from, to)?;
            } else if self.has_data {
                return Ok(Some(self.deliver()));
            } else {
                self.reset();
            }
        }
        if self.ended && self.has_data {
            return Ok(Some(self.deliver()));
        }
        Ok(None)
    }

    fn reset(&mut self) {
        self.event.clear();
        self.data.clear();
        self.has_data = false;
    }

    fn deliver(&mut self) -> Frame<'_> {
        self.delivered = true;
        Frame { event: &self.event, data: &self.data }
    }

    /// Takes the next line off the buffer and says where it lies, without its end.
    fn line(&mut self) -> Result<Option<(usize, usize)>, TooLong> {
        if self.after_return && self.start < self.buffer.len() {
            self.after_return = false;
            if self.buffer.get(self.start) == Some(&b'\n') {
                self.start += 1;
                self.searched = self.searched.max(self.start);
            }
        }
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let end = match unsearched.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(place) => self.searched + place,
            None => {
                self.searched = self.buffer.len();
                if self.searched - self.start > self.limit {
                    return Err(TooLong);
                }
                if !self.ended || self.start == self.searched {
                    return Ok(None);
                }
                self.searched
            }
        };
        self.after_return = self.buffer.get(end) == Some(&b'\r');
        let mut from = self.start;
        self.start = (end + 1).min(self.buffer.len());
        self.searched = self.start;
        if self.first_line {
            self.first_line = false;
            if self.buffer.get(from..end).is_some_and(|line| line.starts_with(BYTE_ORDER_MARK)) {
                from += BYTE_ORDER_MARK.len();
            }
        }
        Ok(Some((from, end)))
    }

    fn field(&mut self, from: usize, to: usize) -> Result<(), TooLong> {
        let line = self.buffer.get(from..to).unwrap_or_default();
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => line.split_at(colon),
            None => (line, &[] as &[u8]),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.data.len() + value.len() > self.limit {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(&String::from_utf8_lossy(value));
            }
            b"event" => {
                self.event.clear();
                self.event.push_str(&String::from_utf8_lossy(value));
            }
            // Comments (an empty name), `id`, `retry`, and whatever else there may be.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut reader = Reader::default();
        let mut frames = Vec::new();
        for piece in pieces {
            reader.feed(piece);
            while let Some(frame) = reader.frame().unwrap() {
                frames.push((frame.event.to_owned(), frame.data.to_owned()));
            }
        }
        reader.end();
        while let Some(frame) = reader.frame().unwrap() {
            frames.push((frame.event.to_owned(), frame.data.to_owned()));
        }
        frames
    }

    fn data(pieces: &[&[u8]]) -> Vec<String> {
        read(pieces).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn lines_may_end_in_three_ways() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "data: a#data:b##: comment#event: e#data#id: 7##".replace('#', end);
            let expected = [(String::new(), "a\nb".to_owned()), ("e".to_owned(), String::new())];
            assert_eq!(read(&[text.as_bytes()]), expected, "{end:?}");
        }
        assert_eq!(data(&[b"data: a\r", b"\n\r", b"\ndata: b\r\n\r\n"]), ["a", "b"]);
    }

    #[test]
    fn oddities_are_taken_as_the_standard_says() {
        assert_eq!(data(&["\u{feff}data: a\n\n".as_bytes()]), ["a"], "a byte order mark");
        assert_eq!(data(&[b"\xef", b"\xbb", b"\xbfdata: a\n\n"]), ["a"], "a byte order mark in pieces");
        assert_eq!(data(&[b"data:  a \n\n"]), [" a "], "one blank belongs to the syntax");
        assert_eq!(data(&[b"event: x\n\ndata: a\n\n"]), ["a"], "an event without data");
        assert_eq!(data(&[b"dat: a\ndata\n\n"]), [""]);
        assert_eq!(data(&[b"data: a\xff\n\n"]), ["a\u{fffd}"]);
        assert_eq!(data(&[b"data: a"]), ["a"], "the end of the stream ends line and event");
        assert_eq!(data(&[b"data: a\r"]), ["a"]);
        assert_eq!(data(&[b"", b"\n\n\n"]), [""; 0]);
        assert_eq!(read(&[b"event: x\n\ndata: a\n\n"])[0].0, "", "a name without data is forgotten");
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut reader = Reader::with_limit(100);
        reader.feed(&[b'x'; 60]);
        assert_eq!(reader.frame(), Ok(None));
        reader.feed(&[b'x'; 60]);
        assert_eq!(reader.frame(), Err(TooLong));
        let mut reader = Reader::with_limit(100);
        reader.feed("data: 0123456789012345678901234567890123456789\n".repeat(4).as_bytes());
        assert_eq!(reader.frame(), Err(TooLong), "nor are lines without a blank one");
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_frames(
            lines in prop::collection::vec("(data: ?[a-zé🎻]{0,6}|: c|event: [a-z]|)(\n|\r|\r\n)", 0..20),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
        ) {
            let text = lines.concat();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            places.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for place in places {
                pieces.push(&text.as_bytes()[from..place]);
                from = place;
            }
            pieces.push(&text.as_bytes()[from..]);
            prop_assert_eq!(read(&pieces), read(&[text.as_bytes()]));
        }

        #[test]
        fn no_bytes_upset_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(read(&single), read(&[&bytes]));
        }
    }
}
