//! From frames to bytes: what is finished goes into the terminal's scrollback once, the live region below it is painted
//! over. Pure: bytes come out, `front::term` writes them.
//!
//! [`Painter`] keeps what is on the screen and writes the difference, `row` knows where each character stands, `pen`
//! how colours are switched.

mod painter;
mod pen;
mod row;
mod writer;

#[cfg(test)]
mod tests;

pub use painter::{Leave, Painter};
pub use pen::Colours;
