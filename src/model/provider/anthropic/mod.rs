//! Anthropic's messages.
//!
//! Bodies are made in `encode`, what is particular to thinking in `thinking`; events are put together in `decode`.

mod decode;
mod encode;
mod thinking;

use super::Header;

pub use decode::Decoder;
pub use encode::encode;

/// What follows the base address.
pub const PATH: &str = "/v1/messages";
/// What of it a base address may already hold.
pub const OPTIONAL_PATH: &str = "/v1";
/// The version of the interface that is spoken: <https://docs.anthropic.com/en/api/versioning>.
const VERSION: &str = "2023-06-01";

/// The headers that carry the version and the key.
pub fn headers(key: Option<&str>) -> Vec<Header> {
    let version = Header::plain("anthropic-version", VERSION);
    let key = key.map(|key| Header::secret("x-api-key", key.to_owned()));
    [Some(version), key].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
