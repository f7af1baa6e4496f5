//! One connection of a client to the scripted server: HTTP/1.1, just enough of it.
//!
//! Nothing here knows what is asked or answered.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A request as it came.
pub struct Incoming {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// A connection. Whatever is sent to a client that has left is an error, which ends the connection's thread.
pub struct Connection<'stream> {
    stream: &'stream TcpStream,
    reader: BufReader<&'stream TcpStream>,
}

impl<'stream> Connection<'stream> {
    pub fn new(stream: &'stream TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, reader: BufReader::new(stream) })
    }

    /// The next request; `None` when the client has closed the connection.
    pub fn receive(&mut self) -> io::Result<Option<Incoming>> {
        let first = self.line()?;
        let mut words = first.split(' ').map(str::to_owned);
        let (Some(method), Some(path)) = (words.next().filter(|word| !word.is_empty()), words.next()) else {
            return Ok(None);
        };
        let mut headers = BTreeMap::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        let body = match length {
            Some(length) => self.exactly(length)?,
            None if headers.contains_key("transfer-encoding") => self.chunks()?,
            None => Vec::new(),
        };
        Ok(Some(Incoming { method, path, headers, body }))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line)?;
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&self.line()?, 16).map_err(|_| ErrorKind::InvalidData)?;
            body.extend(self.exactly(size)?);
            self.line()?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    /// A status and a whole body.
    pub fn whole(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        content_type: &str,
        body: &[u8],
    ) -> io::Result<()> {
        self.head(status, headers, content_type, &format!("content-length: {}", body.len()))?;
        self.send(body)
    }

    /// The head of a stream, whose pieces follow with [`Self::chunk`].
    pub fn begin_stream(&mut self, headers: &[(String, String)]) -> io::Result<()> {
        self.head(200, headers, "text/event-stream", "transfer-encoding: chunked")
    }

    fn head(&mut self, status: u16, headers: &[(String, String)], content_type: &str, framing: &str) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\n{framing}\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.send((head + "\r\n").as_bytes())
    }

    /// A piece of a stream, cut into chunks of `split` bytes.
    pub fn chunk(&mut self, content: &[u8], split: Option<usize>) -> io::Result<()> {
        for piece in content.chunks(split.unwrap_or(content.len()).max(1)) {
            let framed = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
            self.send(&framed)?;
        }
        Ok(())
    }

    /// The orderly end of a stream.
    pub fn end_stream(&mut self) -> io::Result<()> {
        self.send(b"0\r\n\r\n")
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Waits, but no longer than the client does.
    pub fn pause(&mut self, time: Duration) -> io::Result<()> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return self.stream.set_read_timeout(None);
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.peek(&mut [0]) {
                Ok(0) => return Err(ErrorKind::ConnectionAborted.into()),
                Ok(_) => return Err(io::Error::other("a second request before the first was answered")),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Says nothing until the client, or the server's end, closes the connection.
    pub fn stall(&mut self) -> io::Result<()> {
        self.reader.read(&mut [0]).map(drop)
    }

    /// Lets the connection end in a TCP reset when its thread lets go of it.
    pub fn reset(&mut self) -> io::Result<()> {
        socket2::SockRef::from(self.stream).set_linger(Some(Duration::ZERO))
    }
}
