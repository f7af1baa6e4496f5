//! Chat completions, as `OpenAI` defined them and most others speak them.
//!
//! Bodies are made in `encode`, chunks are read in `chunk` and put together in `decode` and `calls`.

mod calls;
mod chunk;
mod decode;
mod encode;

use super::Header;

pub use decode::Decoder;
pub use encode::encode;

/// What follows the base address.
pub const PATH: &str = "/chat/completions";

/// The headers that carry the key.
pub fn headers(key: Option<&str>) -> Vec<Header> {
    key.map(|key| Header::secret("authorization", format!("Bearer {key}"))).into_iter().collect()
}

#[cfg(test)]
mod tests;
