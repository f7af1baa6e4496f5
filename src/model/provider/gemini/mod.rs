//! Google's generateContent, streamed.
//!
//! Bodies are made in `encode`, with `schema` for the tools' parameters and `thinking` for how much is thought; `generation`
//! says what a model's name tells of it. Chunks are read in `chunk` and put together in `decode`.

mod chunk;
mod decode;
mod encode;
mod generation;
mod schema;
mod thinking;

use std::fmt::Write as _;

use super::Header;

pub use decode::Decoder;
pub use encode::encode;

/// What asks for a stream of events; without it the answer is one long JSON array.
pub const QUERY: (&str, &str) = ("alt", "sse");
/// What follows the model's name.
const METHOD: &str = ":streamGenerateContent";
/// The key of [`crate::model::message::Reasoning::opaque`] under which is kept what goes back with the parts of an answer: a
/// list of objects in the order of the parts, each with [`PLACE`] and with [`SEAL`], [`ID`] or both. One with `text` is a part
/// of its own, an empty text that holds nothing but a seal.
const KEPT: &str = "parts";
/// Which of the answer's texts and calls, counted from 0, an object belongs to, or stands before if it is a part of its own.
const PLACE: &str = "place";
/// The wire's name for a seal.
const SEAL: &str = "thoughtSignature";
/// The id that the server gave a call.
const ID: &str = "id";

/// The headers that carry the key.
pub fn headers(key: Option<&str>) -> Vec<Header> {
    key.map(|key| Header::secret("x-goog-api-key", key.to_owned())).into_iter().collect()
}

/// The path for a model. A base may hold the whole path already, with whatever model.
pub fn path(base: &str, model: &str) -> String {
    let mut base = base.trim_end_matches('/');
    if let Some((before, last)) = base.rsplit_once('/')
        && (last.ends_with(METHOD) || last.ends_with(":generateContent"))
    {
        base = COLLECTIONS.iter().find_map(|collection| before.strip_suffix(collection)).unwrap_or(before);
    }
    let base = base.strip_suffix("/models").unwrap_or(base).trim_end_matches('/');
    let (collection, model) = COLLECTIONS
        .iter()
        .find_map(|&collection| Some((collection, model.strip_prefix(collection.get(1..)?)?.strip_prefix('/')?)))
        .unwrap_or(("/models", model));
    format!("{base}{collection}/{}{METHOD}", segment(model))
}

/// Where models live; an id may name its own.
const COLLECTIONS: [&str; 2] = ["/models", "/tunedModels"];

/// `text` as one segment of a path.
fn segment(text: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            segment.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(segment, "%{byte:02X}");
        }
    }
    segment
}

#[cfg(test)]
mod tests;
