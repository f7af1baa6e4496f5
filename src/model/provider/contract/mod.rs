//! One contract for all wires: the same scripts over each, the same answers out of each; the same conversations into
//! each, and no complaint of a strict server.
//!
//! Each dialect writes scripts as its wire's frames, [`valid`] holds bodies against its wire's rules. What one wire alone
//! knows is in [`quirks`], and in the tests beside its adapter.

mod answers;
mod anthropic;
mod chat;
mod gemini;
mod histories;
mod prefixes;
mod quirks;
mod responses;
mod script;
mod valid;

use serde_json::Value;

use super::Wire;
use super::compat::Compat;
use super::tests::decoded;
use crate::model::error::ErrorKind;
use crate::model::reply::{Delta, Reply};
use crate::model::sse::Reader;
use script::{Kind, Script, Seen, joined, plain};

/// How a script is written; `None` if the wire has no words for it.
type Writer = fn(&Script) -> Option<Stream>;

/// A wire, as its servers speak it.
struct Dialect {
    wire: Wire,
    /// A script as a stream.
    stream: Writer,
    /// A script as servers answer that do not stream.
    whole: fn(&Script) -> Vec<Value>,
    /// The places in which the usage may stand.
    usages: &'static [(&'static str, Writer)],
    /// Whether it tells what was written to a cache.
    counts_cache_writes: bool,
    /// A fault reported within the stream, in all its forms.
    fault: fn(Fault) -> Vec<Vec<Frame>>,
    /// Frames that an adapter has never heard of, or that say nothing.
    noise: fn() -> Vec<Frame>,
    /// Where bodies hold the seals of reasoning.
    seal_keys: &'static [&'static str],
    /// The differences between its vendors that show in bodies.
    compats: fn() -> Vec<Compat>,
    /// What a strict server of such a vendor says about a body.
    check: fn(&Value, &Compat) -> Vec<String>,
    /// The part of a body that grows with the conversation.
    conversation: &'static str,
    /// The parts of a body that stay as they are.
    fixed: &'static [&'static str],
}

const DIALECTS: &[Dialect] = &[chat::DIALECT, responses::DIALECT, anthropic::DIALECT, gemini::DIALECT];

/// A fault that a provider reports.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Overload,
    RateLimit,
    Context,
    Auth,
}

impl Fault {
    const ALL: [Self; 4] = [Self::Overload, Self::RateLimit, Self::Context, Self::Auth];

    fn kind(self) -> ErrorKind {
        match self {
            Self::Overload => ErrorKind::Overload,
            Self::RateLimit => ErrorKind::RateLimit,
            Self::Context => ErrorKind::Context,
            Self::Auth => ErrorKind::Auth,
        }
    }
}

/// An event of a stream.
#[derive(Clone, Debug)]
struct Frame {
    event: Option<String>,
    data: String,
}

impl Frame {
    fn data(value: &Value) -> Self {
        Self { event: None, data: value.to_string() }
    }

    /// A frame whose event has the name that its data has.
    fn named(value: &Value) -> Self {
        Self { event: value["type"].as_str().map(str::to_owned), data: value.to_string() }
    }
}

/// The frames of an answer.
#[derive(Clone, Debug)]
struct Stream {
    frames: Vec<Frame>,
    /// Where those begin that say that the answer is whole.
    end: usize,
}

impl Stream {
    /// The bytes, every line ended by `newline`.
    fn bytes(&self, newline: &str) -> Vec<u8> {
        let mut text = String::new();
        for frame in &self.frames {
            if let Some(event) = &frame.event {
                text += &format!("event: {event}{newline}");
            }
            text += &format!("data: {}{newline}{newline}", frame.data);
        }
        text.into_bytes()
    }
}

/// The events of calls one call after the other, or in turns.
fn in_turns<T>(calls: Vec<Vec<T>>, interleaved: bool) -> Vec<T> {
    if !interleaved {
        return calls.into_iter().flatten().collect();
    }
    let mut waiting: Vec<_> = calls.into_iter().map(Vec::into_iter).collect();
    let mut events = Vec::new();
    while !waiting.is_empty() {
        waiting.retain_mut(|call| call.next().map(|event| events.push(event)).is_some());
    }
    events
}

impl Dialect {
    /// Decodes bytes that come in these pieces.
    fn read<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>) -> Seen {
        let (seen, _) = self.read_whole(pieces, &Compat::default());
        seen
    }

    /// As [`Dialect::read`], and the answer as it is.
    fn read_whole<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>, compat: &Compat) -> (Seen, Option<Reply>) {
        let mut reader = Reader::default();
        let mut datas: Vec<String> = Vec::new();
        let mut drain = |reader: &mut Reader| {
            while let Some(frame) = reader.frame().unwrap() {
                datas.push(frame.data.to_owned());
            }
        };
        for piece in pieces {
            reader.feed(piece);
            drain(&mut reader);
        }
        reader.end();
        drain(&mut reader);
        self.decode(datas.iter().map(String::as_str), compat)
    }

    fn decode<'a>(&self, datas: impl Iterator<Item = &'a str>, compat: &Compat) -> (Seen, Option<Reply>) {
        let mut heard = Vec::new();
        let mut deltas = |delta: Delta<'_>| match delta {
            Delta::Text(text) => heard.push((Kind::Text, text.to_owned())),
            Delta::Reasoning(text) => heard.push((Kind::Reasoning, text.to_owned())),
        };
        let reply = decoded(self.wire, compat, datas, &mut deltas);
        assert!(heard.iter().all(|(_, text)| !text.is_empty()), "an empty delta");
        let whole = reply.as_ref().ok().cloned();
        let reply = reply.map(|reply| Reply { content: plain(reply.content), ..reply });
        (Seen { reply, deltas: joined(&heard) }, whole)
    }

    /// Decodes a stream that comes in one piece.
    fn run(&self, stream: &Stream) -> Seen {
        self.read([stream.bytes("\n").as_slice()])
    }

    /// What has to come of a script on this wire.
    fn expected(&self, script: &Script) -> Seen {
        let mut seen = script.expected();
        if let Ok(reply) = &mut seen.reply
            && !self.counts_cache_writes
        {
            reply.usage.cache_write = 0;
        }
        seen
    }
}
