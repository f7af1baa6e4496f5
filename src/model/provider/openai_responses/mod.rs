//! `OpenAI`'s responses, the wire of its reasoning models.
//!
//! Bodies are made in `encode`, what is particular to reasoning in `effort`; events are read in `decode` and put together
//! in `items`. What goes back of an answer besides its words is in `kept`. Nothing is left to the server's memory.

mod decode;
mod effort;
mod encode;
mod items;
mod kept;

use super::Header;

pub use decode::Decoder;
pub use encode::encode;

/// What follows the base address.
pub const PATH: &str = "/responses";

/// The headers that carry the key.
pub fn headers(key: Option<&str>) -> Vec<Header> {
    key.map(|key| Header::secret("authorization", format!("Bearer {key}"))).into_iter().collect()
}

#[cfg(test)]
mod tests;
