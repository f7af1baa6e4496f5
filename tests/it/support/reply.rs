//! What the scripted model answers: words, thoughts and calls, and all the ways in which an answer can go wrong.
//!
//! Nothing here knows how an answer looks on a wire.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

/// One answer. Made by [`say`], [`think`], [`call`], [`calls`], [`fail`] and `Reply::…`, refined by its methods.
#[derive(Clone, Default)]
pub struct Reply {
    pub reasoning: Vec<String>,
    /// The seal of the reasoning, on wires that have one.
    pub signature: String,
    /// The answer's text, one delta for each piece.
    pub text: Vec<String>,
    pub calls: Vec<Call>,
    stop: Option<Stop>,
    pub usage: Usage,
    /// What is sent in place of an answer.
    pub instead: Option<Instead>,
    /// Headers in addition to the wire's own.
    pub headers: Vec<(String, String)>,
    /// Before the first byte, the headers included.
    pub wait: Duration,
    /// Behind each event.
    pub pace: Duration,
    /// Bytes that travel together; `None` sends event by event.
    pub split: Option<usize>,
    /// Deltas that are sent before `ending`; all, if it is `None`.
    pub after: Option<usize>,
    pub ending: Ending,
}

/// What is sent in place of an answer.
#[derive(Clone)]
pub enum Instead {
    /// An HTTP error, in the wire's own shape.
    Failure(u16, Failure, String),
    /// Any body under any status.
    Body { status: u16, content_type: String, bytes: Vec<u8> },
    /// A stream, verbatim, one write for each piece.
    Raw(Vec<Vec<u8>>),
}

/// How a stream ends.
#[derive(Clone, Default)]
pub enum Ending {
    /// With the wire's own mark.
    #[default]
    Whole,
    /// The body ends in order, without the mark.
    Cut,
    /// The connection is reset.
    Reset,
    /// Nothing more comes, and the connection stays.
    Stall,
    /// An error object within the stream.
    Failure(Failure, String),
}

/// What kind of error a server reports.
#[derive(Clone, Copy)]
pub enum Failure {
    InvalidRequest,
    Auth,
    NotFound,
    RateLimit,
    Server,
    Overload,
}

/// Why an answer ends.
#[derive(Clone, Copy)]
pub enum Stop {
    Done,
    ToolUse,
    Length,
}

/// Tokens: `input` without the cached ones, `output` with the reasoning.
#[derive(Clone, Copy)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 10, cache_read: 0 }
    }
}

/// A tool call.
#[derive(Clone)]
pub struct Call {
    pub id: String,
    pub name: String,
    /// The arguments as they are sent, JSON or not.
    pub arguments: String,
    /// Characters of the arguments that travel together.
    pub piece: usize,
}

impl Call {
    pub fn new(id: &str, name: &str, arguments: Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.to_string(), piece: usize::MAX }
    }

    /// A call whose arguments are sent as this text.
    pub fn raw(id: &str, name: &str, arguments: &str) -> Self {
        Self { arguments: arguments.into(), ..Self::new(id, name, Value::Null) }
    }

    /// Sends the arguments in pieces of so many characters.
    pub fn in_pieces_of(self, piece: usize) -> Self {
        Self { piece, ..self }
    }

    /// The arguments as they travel.
    pub fn pieces(&self) -> Vec<String> {
        let characters: Vec<char> = self.arguments.chars().collect();
        characters.chunks(self.piece).map(|piece| piece.iter().collect()).collect()
    }
}

/// A final answer in one piece.
pub fn say(text: &str) -> Reply {
    Reply { text: vec![text.into()], ..Reply::default() }
}

/// A final answer that was thought about.
pub fn think(reasoning: &str, text: &str) -> Reply {
    Reply { reasoning: vec![reasoning.into()], ..say(text) }
}

/// One tool call, with an id of its own.
pub fn call(name: &str, arguments: Value) -> Reply {
    static SERIAL: AtomicUsize = AtomicUsize::new(1);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    calls([Call::new(&format!("call_{serial}"), name, arguments)])
}

/// Several tool calls in one answer.
pub fn calls(calls: impl IntoIterator<Item = Call>) -> Reply {
    Reply { calls: calls.into_iter().collect(), ..Reply::default() }
}

/// An HTTP error.
pub fn fail(status: u16, message: &str) -> Reply {
    let kind = match status {
        401 | 403 => Failure::Auth,
        404 => Failure::NotFound,
        429 => Failure::RateLimit,
        503 | 529 => Failure::Overload,
        400..=499 => Failure::InvalidRequest,
        _ => Failure::Server,
    };
    Reply { instead: Some(Instead::Failure(status, kind, message.into())), ..Reply::default() }
}

impl Reply {
    /// An answer in several deltas.
    pub fn pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self { text: pieces.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    /// An answer of nothing.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Any body under any status.
    pub fn body(status: u16, content_type: &str, body: &str) -> Self {
        let bytes = body.as_bytes().to_vec();
        let instead = Some(Instead::Body { status, content_type: content_type.into(), bytes });
        Self { instead, ..Self::default() }
    }

    /// A stream, verbatim.
    pub fn raw<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let pieces = pieces.into_iter().map(|piece| piece.as_bytes().to_vec()).collect();
        Self { instead: Some(Instead::Raw(pieces)), ..Self::default() }
    }

    /// The answer with a text before its calls.
    pub fn text(self, text: &str) -> Self {
        Self { text: vec![text.into()], ..self }
    }

    /// The answer with sealed reasoning before it.
    pub fn thought(self, reasoning: &str, signature: &str) -> Self {
        Self { reasoning: vec![reasoning.into()], signature: signature.into(), ..self }
    }

    pub fn stop(self, stop: Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    pub fn usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Waits before the first byte.
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Waits behind each event, or piece of a raw stream.
    pub fn pace(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    /// Sends so many bytes at a time.
    pub fn split(self, bytes: usize) -> Self {
        Self { split: Some(bytes), ..self }
    }

    /// Ends the body after so many deltas, as a proxy that gave up would.
    pub fn cut_after(self, deltas: usize) -> Self {
        self.ends_after(deltas, Ending::Cut)
    }

    /// Resets the connection after so many deltas.
    pub fn reset_after(self, deltas: usize) -> Self {
        self.ends_after(deltas, Ending::Reset)
    }

    /// Falls silent after so many deltas.
    pub fn stall_after(self, deltas: usize) -> Self {
        self.ends_after(deltas, Ending::Stall)
    }

    /// Reports an error within the stream after so many deltas.
    pub fn fail_after(self, deltas: usize, failure: Failure, message: &str) -> Self {
        self.ends_after(deltas, Ending::Failure(failure, message.into()))
    }

    fn ends_after(self, deltas: usize, ending: Ending) -> Self {
        Self { after: Some(deltas), ending, ..self }
    }

    /// Why the answer ends: as told, else by what it holds.
    pub fn stop_reason(&self) -> Stop {
        self.stop.unwrap_or(if self.calls.is_empty() { Stop::Done } else { Stop::ToolUse })
    }

    /// Which of so many deltas are sent.
    pub fn sent(&self, deltas: usize) -> Range<usize> {
        0..self.after.map_or(deltas, |after| after.min(deltas))
    }
}
