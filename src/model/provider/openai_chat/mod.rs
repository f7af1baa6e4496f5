//! Chat completions, as `OpenAI` defined them and most others speak them.
//!
//! Bodies are made in `encode`, chunks are read in `chunk` and put together in `decode` and `calls`.

mod calls;
mod chunk;
mod decode;
mod encode;

pub use decode::Decoder;
pub use encode::encode;

#[cfg(test)]
mod tests;
