//! Anthropic's messages.
//!
//! Bodies are made in `encode`, what is particular to thinking in `thinking`; events are put together in `decode`.

mod decode;
mod encode;
mod thinking;

pub use decode::Decoder;
pub use encode::encode;

#[cfg(test)]
mod tests;
